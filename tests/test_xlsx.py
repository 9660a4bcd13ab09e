"""Excel sheets: names, labels, missing cells, dates, and one clear message for a bad file."""

from datetime import date

import numpy as np
import pytest
from tables import SHEET, rewrite_book

from fiedler.io import fill_missing, read_table, write_table


@pytest.fixture
def book(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")

    def save(*sheets, name="t.xlsx"):
        book = openpyxl.Workbook()
        book.remove(book.active)
        for k, rows in enumerate(sheets):
            sheet = book.create_sheet(f"sheet {k}")
            for row in rows:
                sheet.append(row)
        book.save(tmp_path / name)
        return tmp_path / name

    return save


ROWS = [["id", "a", "b", "y"], ["r1", 1, 2.5, "u"], ["r2", None, True, "v"], ["r3", "#N/A", "4", None]]


def test_a_sheet(book, tmp_path):
    table = read_table(book(ROWS), target="y", id_column="id")
    np.testing.assert_array_equal(table.X, [[1, 2.5], [np.nan, 1], [np.nan, 4]])
    assert (table.feature_names.tolist(), table.row_ids.tolist()) == (["a", "b"], ["r1", "r2", "r3"])
    assert table.y.tolist() == ["u", "v", None]
    small = read_table(write_table(tmp_path / "s.xlsx", table, [1]), target="y", id_column="id")
    np.testing.assert_array_equal(small.X, [[2.5], [1], [4]])
    assert (small.feature_names.tolist(), small.y.tolist()) == (["b"], ["u", "v", None])


def test_sheets_by_name_and_number(book, write):
    path = book([["a"], [1], [2]], [["b"], [3], [], [4]], name="T.XLSX")
    assert read_table(path).feature_names.tolist() == ["a"]
    for sheet in ("sheet 1", 1, -1, "1"):
        assert read_table(path, sheet=sheet).X.ravel().tolist() == [3, 4]
    with pytest.raises(ValueError, match=r"has no sheet 'shet 1'; did you mean 'sheet 1'\? Sheets: sheet 0, sheet 1"):
        read_table(path, sheet="shet 1")
    with pytest.raises(ValueError, match="has no sheet 2: its 2 sheets are numbered from 0"):
        read_table(path, sheet=2)
    with pytest.raises(ValueError, match=r"data\.csv has no sheets; leave out sheet=1"):
        read_table(write("a\n1\n"), sheet=1)


def test_no_header(book):
    with pytest.warns(UserWarning, match=r"t\.xlsx: the first line looks like data"):
        table = read_table(book([[5.1, 3.5, "rose"], [4.9, 3, "lily"]]), target=-1)
    np.testing.assert_array_equal(table.X, [[5.1, 3.5], [4.9, 3]])
    assert read_table(table.source, target=-1, header=True).shape == (1, 2)
    assert read_table(table.source, target=-1, header=False).shape == (2, 2)


def test_what_is_no_number(book):
    path = book([["a", "day", "town"], [1, date(2020, 1, 2), "Paris"], [2, date(2020, 1, 3), "Rome"]])
    with pytest.warns(
        UserWarning, match=r"not purely numeric\. Read as days since the earliest date: 'day'\. Read as categories"
    ):
        table = read_table(path)
    assert table.feature_names.tolist() == ["a", "day", "town"]
    assert table.groups.sizes.tolist() == [1, 1, 2]
    with pytest.warns(UserWarning, match=r"2 columns \('day', 'town'\) skipped"):
        assert read_table(path, numeric_only=True).X.ravel().tolist() == [1, 2]
    assert read_table(path, drop=["day", "town"]).X.ravel().tolist() == [1, 2]


def test_numbers_that_no_float_holds_are_infinite(tmp_path):
    cells = "".join(f'<row r="{i}"><c r="A{i}"><v>{v}</v></c></row>' for i, v in enumerate((1, 10**400, -(10**400)), 1))
    rewrite_book(tmp_path / "t.xlsx", "xl/worksheets/sheet1.xml", SHEET.format(cells))
    table = read_table(tmp_path / "t.xlsx", header=False)
    assert table.X[:, 0].tolist() == [1, np.inf, -np.inf]
    with pytest.raises(ValueError, match=r"t\.xlsx: infinite values in 1 column \('x0'\)"):
        fill_missing(table)


def test_bad_files(book, write):
    with pytest.raises(ValueError, match="the sheet is empty"):
        read_table(book([]))
    with pytest.raises(ValueError, match="has a header but no rows"):
        read_table(book([["a", "b"]]))
    whole = book(ROWS).read_bytes()
    for content in (b"", b"no zip", whole[: len(whole) // 2]):
        with pytest.raises(ValueError, match=r"d\.xlsx is not a readable Excel file: "):
            read_table(write(content, "d.xlsx"))
