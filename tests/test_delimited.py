"""Delimited text in: both readers agree, dialects, names, and one clear message for a bad file."""

import gzip
import sys
import tracemalloc
import warnings

import numpy as np
import pytest
from inside import turn
from tables import NAMES, X, Y

from fiedler.data.tables import ReadOnce
from fiedler.io import fill_missing, read_table


def csv_text(separator=","):
    rows = [[f"r{i}", *map(str, x), y] for i, (x, y) in enumerate(zip(X.tolist(), Y, strict=True))]
    return "\n".join(separator.join(row) for row in [["id", *NAMES, "y"], *rows]) + "\n"


@pytest.mark.parametrize(
    ("name", "separator"), [("d.csv", ","), ("d.csv", ";"), ("d.tsv", "\t"), ("d.txt", "\t"), ("d.csv.gz", ",")]
)
def test_csv(write, reader, name, separator):
    table = read_table(write(csv_text(separator), name), target="y", id_column="id")
    np.testing.assert_array_equal(table.X, X)
    assert table.feature_names.tolist() == NAMES
    assert table.row_ids.tolist() == ["r0", "r1", "r2"]
    assert table.y.tolist() == ["yes", "no", None]
    assert repr(table).startswith("Table(3 rows x 4 features, 2 of 3 labels known")


@pytest.mark.parametrize(
    "text", ["\ufeffa,b\n1,2\n3,4\n", "a,b\r\n1,2\r\n3,4\r\n", 'a,b\n"1", 2\n\n3,+4\n\n', "a,b\n1,2\n3,4"]
)
def test_csv_dialects(write, reader, text):
    table = read_table(write(text))
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])
    assert table.feature_names.tolist() == ["a", "b"]


def test_csv_with_quoted_text(write, reader):
    table = read_table(write('name,a,y\n"Smith, J",1,"two\nlines"\n"x ""y""",2,b\n'), target="y", id_column="name")
    assert table.row_ids.tolist() == ["Smith, J", 'x "y"']
    assert table.y.tolist() == ["two\nlines", "b"]


def test_row_names_as_R_and_pandas_write_them(write, reader):
    for text in ('"","a","b"\n"r1",1,2\n"r2",3,4\n', "a\tb\nr1\t1\t2\nr2\t3\t4\n"):
        table = read_table(write(text))
        assert table.row_ids.tolist() == ["r1", "r2"]
        assert table.feature_names.tolist() == ["a", "b"]


def test_no_header(write, reader):
    table = read_table(write("1,2,0\n3,4,1\n"), header=False, target=-1)
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])
    assert (table.feature_names.tolist(), table.y.tolist()) == (["x0", "x1"], [0, 1])
    with pytest.warns(UserWarning, match=r"the first line looks like data, .*header=True if it holds names"):
        assert read_table(table.source).shape == (2, 3)
    with pytest.warns(UserWarning, match=r"the first line is all numbers and is used as names; .*header=False"):
        assert read_table(write("1,2,5\n3,4,1\n")).shape == (1, 3)
    assert read_table(table.source, header=True).shape == (1, 3)


def test_target_and_ids_by_number(write, reader):
    table = read_table(write("a,7,b,c\n1,2,3,4\n5,6,7,8\n"), target="7", id_column=[0, "c"])
    assert (table.feature_names.tolist(), table.y.tolist(), table.row_ids.tolist()) == (["b"], [2, 6], ["1", "5"])
    assert read_table(table.source, target="-1").y.tolist() == [4, 8]


def test_repeated_names_are_numbered_and_said(write, reader):
    with pytest.warns(UserWarning, match=r"repeats 1 feature name; the second 'a' is now 'a\.1'"):
        table = read_table(write("a,a.1,a,a\n1,2,3,4\n5,6,7,8\n"))
    assert len(set(table.feature_names.tolist())) == 4
    assert table.feature_names[1] == "a.1.1" or "a.1" in table.feature_names.tolist()
    with pytest.raises(ValueError, match=r"has 3 columns named 'a'; give its number instead: \[0, 2, 3\]"):
        read_table(table.source, target="a")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"data\.csv is empty"),
        ("\n\n", r"data\.csv is empty"),
        ("a,b\n", "has a header but no rows"),
        ("a,b\n1,2\n3\n", r"data\.csv: line 3 has 1 cells, but the header has 2"),
        ("a,b\n1,2\n3,4,5\n", r"line 3 has 3 cells, but the header has 2"),
        ("a,b\n1,2\n3\n4,5,6\n", r"line 3 has 1 cells"),
        ("a,town\n1,2\n3,Paris\n", r"data\.csv: line 3, column 'town': 'Paris' is not a number.*target or as an id"),
        ("a,b\n1,1_000\n2,3\n", "line 2, column 'b': '1_000' is not a number"),
        ("a,b\n1,0x10\n2,3\n", "line 2, column 'b': '0x10' is not a number"),
        ("a,b\n1,\xe9\n2,3".encode("latin-1"), "line 2, column 'b': 'é' is not a number"),
        ('a,b\n1,"' + "2" * 200_000 + '"\n', "field larger than field limit"),
    ],
)
def test_bad_csv(write, reader, text, message):
    with pytest.raises(ValueError, match=message):
        fill_missing(read_table(write(text)))


def test_bad_names(write):
    path = write("id,a,label\nr1,1,x\nr2,2,y\n")
    with pytest.raises(ValueError, match=r"has no column 'lable'; did you mean 'label'\? Columns: id, a, label"):
        read_table(path, target="lable")
    with pytest.raises(ValueError, match="has no column 9: its 3 columns are numbered from 0"):
        read_table(path, target=9)
    with pytest.raises(ValueError, match="no feature columns except the target and the ids"):
        read_table(path, target="label", id_column=["id", "a"])
    with pytest.raises(FileNotFoundError, match=r"there is no file .*date\.csv; did you mean 'data\.csv'\?"):
        read_table(path.with_name("date.csv"))
    with pytest.raises(ValueError, match=r"the format '\.docx' is unknown; use \.csv, \.tsv, \.xlsx, \.parquet"):
        read_table(write("", "data.docx"))
    with pytest.raises(ValueError, match="is a folder"):
        read_table(path.parent)
    with pytest.raises(ValueError, match="not both"):
        read_table(path, target="label", labels=path)


def test_half_a_gzip_file(write, tmp_path, reader):
    whole = gzip.compress(b"a,b\n" + b"1,2\n" * 9999)
    path = tmp_path / "data.csv.gz"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="is not a complete gzip file"):
        read_table(path)


def test_both_csv_readers_agree_on_many_pieces(tmp_path, monkeypatch, rng):
    pytest.importorskip("polars")
    turn(monkeypatch, "bytes of a piece", 1000)
    turn(monkeypatch, "bytes read in Python", 0)
    values = rng.normal(size=(200, 7))
    path = tmp_path / "data.csv"
    rows = (",".join([*map(repr, row), "x" * (i % 3)]) for i, row in enumerate(values.tolist()))
    path.write_text("\n".join([",".join("abcdefgy"), *rows]))
    fast = read_table(path, target="y")
    monkeypatch.setitem(sys.modules, "polars", None)
    slow = read_table(path, target="y")
    np.testing.assert_array_equal(fast.X, values)
    np.testing.assert_array_equal(slow.X, values)
    assert fast.y.tolist() == slow.y.tolist()


def test_csv_takes_little_more_memory_than_its_matrix(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)  # its memory is not traced
    path = tmp_path / "data.csv"
    path.write_text(",".join(f"x{j}" for j in range(100)) + "\n" + (",".join(["0.12345"] * 100) + "\n") * 5000)
    tracemalloc.start()
    table = read_table(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert table.X.shape == (5000, 100)
    assert peak < 1.5 * table.X.nbytes + 1e6


def test_name_files(write):
    path = write("1,2\n3,4\n")
    table = read_table(path, header=False, names=write("left\nright\n", "n.txt"))
    assert table.feature_names.tolist() == ["left", "right"]
    with pytest.raises(ValueError, match=r"n\.txt has 3 names for 2 features"):
        read_table(path, header=False, names=write("a\nb\nc\n", "n.txt"))


def test_a_word_far_below_the_first_rows(write, reader):
    """Such a column is read once more, as text; what is above the word keeps its level."""
    n = 20_000
    rows = [f"{i}.5,{i % 3},{'b' if i == n - 1 else i % 2},k{i % 2}" for i in range(n)]
    path = write("size,code,late,kind\n" + "\n".join(rows) + "\n")
    with pytest.warns(UserWarning, match=r"Read as categories, each of them one feature: 'late', 'kind'"):
        table = read_table(path, target="code")
    assert table.feature_names.tolist() == ["size", "late", "kind"]
    assert table.groups.levels == {1: ["0", "1", "b"], 2: ["k0", "k1"]}
    assert table.X[:, 1:4].sum(axis=0).tolist() == [n / 2, n / 2 - 1, 1]
    assert table.y.tolist() == [i % 3 for i in range(n)]
    np.testing.assert_array_equal(read_table(path, drop=["late", "kind"]).X[:, 0], np.arange(n) + 0.5)


def test_a_decimal_comma_far_below_the_first_rows(write, reader):
    path = write("a;b\n" + "1;2\n" * 20_000 + "3;4,5\n")
    with pytest.warns(UserWarning, match=r"cells such as '4,5' are read as numbers with a decimal comma"):
        assert read_table(path).X[-1].tolist() == [3.0, 4.5]


@pytest.mark.parametrize("name", ["data.csv", "data.arff", "data.xlsx"])
def test_a_file_that_is_read_once_gives_the_tables_of_a_file_that_is_read_often(write, tmp_path, name):
    rows = [["id", "n", "code", "kind"], *([f"r{i}", i / 4, i % 3, "ab"[i % 2]] for i in range(12))]
    path = write("\n".join(",".join(map(str, row)) for row in rows) + "\n")
    if name == "data.arff":
        head = (
            "@relation r\n@attribute id string\n@attribute n numeric\n@attribute code numeric\n@attribute kind {a,b}\n"
        )
        path = write(head + "@data\n" + "\n".join(",".join(map(str, row)) for row in rows[1:]) + "\n", name)
    elif name == "data.xlsx":
        book = pytest.importorskip("openpyxl").Workbook()
        for row in rows:
            book.active.append(row)
        book.save(path := tmp_path / name)
    once, roles = (
        ReadOnce(path),
        [{}, {"target": "kind", "id_column": "id"}, {"target": "code", "drop": ["id", "kind"]}],
    )
    roles += [{"categories": ["code"], "id_column": "id"}, {"numeric_only": True, "id_column": "n"}]
    for options in roles:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            again, plain = read_table(once, **options), read_table(path, **options)
        np.testing.assert_array_equal(again.X, plain.X)
        assert again.feature_names.tolist() == plain.feature_names.tolist()
        for part in ("y", "row_ids"):
            found, expected = (getattr(table, part) for table in (again, plain))
            assert (None if found is None else found.tolist()) == (None if expected is None else expected.tolist())
        for part in ("features", "left_out"):
            assert again.layout[part] == plain.layout[part]
