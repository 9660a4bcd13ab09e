"""Tables of named columns, including target and ids: CSV, Parquet, Feather, ARFF, Excel.

Each format is read by an established library, once, as :class:`Cells`. The roles of columns and the treatment of
columns without numbers are common to all formats (:func:`fiedler.data.contents.arrange`).
"""

from __future__ import annotations

import csv
import math
import re
import warnings
import zipfile
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..validation import require
from ..words import did_you_mean, first_line
from . import text
from .columns import Column, category_column, coded_column, read_column
from .contents import Cells, Contents, Request, Table, arrange, dropped_columns, read_cells, roles, usable
from .contents import not_a_number as _what
from .files import ParquetFile, arrow_dtype, as_floats, is_arrow_number, named_damage
from .memory import TEXT_BYTES, check_size
from .text import Gathered, gather
from .work import counting

_COLUMNS_AT_ONCE = 512
_TITLES = 10  # rows above the table of a sheet
_NUMBER_BYTES = 40  # bytes of a number in a Python list
_XML_COST = 25  # measured bytes of memory that openpyxl takes per byte of XML
_PIECE = 2**18  # bytes of a sheet that are scanned at a time
_MOST_ROWS = 2**20  # largest number of rows of a sheet in Excel


def _arranged(request: Request, read: Callable[[Request], Cells]) -> Contents:
    """The table of a file whose cells are read now, or were read before."""
    return arrange(request, read(request) if request.kept is None else request.kept.cells(request, read))


def as_number(cell: Any) -> float | None:
    """The number in a cell: NaN if missing, None if it is not a number, inf if it is too large for a float."""
    if cell is None:
        return np.nan
    if isinstance(cell, str):
        return text.to_number(cell, False)
    try:
        return float(cell)
    except OverflowError:  # an integer of more than 308 digits
        return np.inf if cell > 0 else -np.inf
    except (TypeError, ValueError):
        return None


def _transposed(
    request: Request, rows: list[list[Any]], number: Callable[[Any], float | None], shown: Callable[[Any], Any] = str
) -> Cells:
    """The cells of rows that hold one feature each, with its name in the first cell."""
    width = {len(row) for row in rows}
    if len(width) > 1:
        raise ValueError(f"{request.path}: rows have {min(width)} to {max(width)} cells; all need the same number.")
    names = [shown(row[0]).strip() for row in rows]
    columns = list(zip(*rows, strict=True))[1:]
    if not columns:
        raise ValueError(f"{request.path} has one column; a table with one feature per row needs more.")
    rows_ = lambda: enumerate(columns)  # noqa: E731
    gathered = lambda numeric, texts: gather(request.path, rows_, numeric, texts, number)  # noqa: E731
    found = read_cells(request, names, gathered, "column", shown=shown, first_names_rows=True)
    found.layout["transposed"] = True
    return found


# -------------------------------------------------------------------- CSV, TSV


def read_csv(request: Request) -> Contents:
    """Read CSV or TSV; the notes state what was guessed about the file."""
    return _arranged(request, _read_csv)


def _read_csv(request: Request) -> Cells:
    found, said = text.in_some_encoding(request.path, lambda encoding: _in_encoding(request, encoding))
    found.notes += said
    return found


def _in_encoding(request: Request, encoding: str | None) -> Cells:
    path = request.path
    dialect, notes = text.sniff(path, request.header, request.named, encoding, request.skip_rows)

    def gathered(numeric: list[int], texts: list[int]) -> Gathered:
        nonlocal dialect
        found = text.read_delimited(path, dialect, numeric, texts)
        if text.shows_decimal_commas(dialect, found.odd):
            other = replace(dialect, decimal_comma=True)
            again = text.read_delimited(path, other, numeric, texts)
            if again.odd.keys() < found.odd.keys():
                solved = next(cell for j, (_, cell) in found.odd.items() if j not in again.odd)
                notes.append(text.comma_note(path, solved))
                dialect, found = other, again
        return found

    def what(cell: str) -> str:
        return _what(cell) + " (the decimal mark is a comma here)" * (dialect.decimal_comma and "." in cell)

    if request.transpose:
        rows = _all_rows(path, dialect)
        check_size(path, f"{len(rows)} rows of text", TEXT_BYTES * sum(map(len, rows)))
        found = _transposed(request, rows, lambda cell: text.to_number(cell, dialect.decimal_comma))
    else:
        found = read_cells(request, dialect.names, gathered, "line", what)
        if not len(found.X):
            raise ValueError(f"{path} has a header but no rows." if dialect.header else f"{path} has no rows.")
    found.notes, found.layout["dialect"] = notes, dialect
    return found


def _all_rows(path: Path, dialect: text.Dialect) -> list[list[str]]:
    """The rows of a file, also its header."""
    return [dialect.names] * dialect.header + [row for _, row in text.data_rows(path, dialect)]


def write_csv(path: Path, table: Table, selected: np.ndarray) -> None:
    dialect, gone = table.layout["dialect"], dropped_columns(table, selected)
    with text.opener(path)(path, "wt", encoding="utf-8", newline="") as file:
        out = csv.writer(file, delimiter=_delimiter(path, table), lineterminator="\n")
        if table.layout.get("transposed"):
            out.writerows(row for j, row in enumerate(_all_rows(table.source, dialect)) if j not in gone)
            return
        kept = [j for j in range(len(dialect.names)) if j not in gone]
        if dialect.header:
            out.writerow(dialect.names[j] for j in kept)
        out.writerows([row[j] for j in kept] for _, row in text.data_rows(table.source, dialect))


def _delimiter(path: Path, table: Table) -> str:
    """The delimiter of the suffix; .csv keeps the semicolons of its source, and uses them with decimal commas.

    Runs of blanks become tabs, because an empty cell between blanks could not be recognised.
    """
    dialect = table.layout["dialect"]
    suffixes, before = ({suffix.lower() for suffix in file.suffixes} for file in (path, table.source))
    if suffixes & {".tsv", ".tab"}:
        return "\t"
    if ".csv" not in suffixes:
        return "\t" if dialect.delimiter == text.BLANKS else dialect.delimiter
    return ";" if dialect.decimal_comma or (dialect.delimiter == ";" and ".csv" in before) else ","


# -------------------------------------------------------------------- Parquet, Feather


def read_arrow(request: Request) -> Contents:
    """Parquet or Feather, a group of columns at a time into one matrix; a large Parquet file stays where it is."""
    path = request.path
    names, types, n_rows, load = _open_arrow(path)
    role = roles(names, request)
    features, codes = role.features, role.codes
    odd = {j: f"column {names[j]!r} holds {types[j]}, not numbers" for j in features if not is_arrow_number(types[j])}
    if 8.0 * n_rows * len(features) > request.memory:  # a file that is read in blocks has no categories
        usable(request, names, features, odd | dict.fromkeys(codes, ""))
        request, codes = replace(request, categories=[]), []
    numeric = [j for j in features if j not in odd and j not in codes]
    others = [j for j in (*odd, *codes) if j in codes or not request.numeric_only]
    texts = [j for j in (role.target, role.row_ids) if j is not None]
    kind, cells = arrow_dtype([types[j] for j in numeric]), TEXT_BYTES * n_rows * (len(texts) + len(others))
    size = n_rows * len(numeric) * np.dtype(kind).itemsize
    check_size(path, f"{n_rows} labels or ids", cells)
    columns = [Column(name, "cells", odd=odd.get(j, "")) for j, name in enumerate(names)]
    X: Any
    if is_parquet(path) and size > request.memory:
        X = ParquetFile(path, [names[j] for j in numeric])
        columns = [column._replace(kind="number") if j in numeric else column for j, column in enumerate(columns)]
    else:
        check_size(path, f"{n_rows} rows of {len(features)} features", cells + size)
        X = np.empty((n_rows, len(numeric)), dtype=kind, order="F")
        with counting("columns", len(numeric)) as count:
            for start in range(0, len(numeric), _COLUMNS_AT_ONCE):
                part = load(numeric[start : start + _COLUMNS_AT_ONCE])
                for k, column in enumerate(part.columns, start):
                    X[:, k] = as_floats(column, f"{path}: column {names[numeric[k]]!r}")
                    columns[numeric[k]] = Column(names[numeric[k]], "number", X[:, k])
                count.reach(start + len(part.columns))
    for j in texts:
        columns[j] = Column(names[j], "cells", cells=load([j]).column(0).to_pylist())
    for j in others:
        read = arrow_column if j not in codes else lambda name, column: category_column(name, column.to_pylist())
        columns[j] = read(names[j], load([j]).column(0))._replace(odd=odd.get(j, ""))
    return arrange(request, Cells(columns, X, lambda _: {}))


def arrow_column(name: str, column: Any) -> Column:
    """An Arrow column of any type; an ordered dictionary is an ordered category."""
    if getattr(column.type, "ordered", False):
        coded = column.unify_dictionaries().combine_chunks()
        codes = coded.indices.to_numpy(zero_copy_only=False).astype(np.float64)
        return coded_column(name, codes, coded.dictionary.to_pylist(), ordered=True)
    return read_column(name, column.to_pylist())


def write_arrow(path: Path, table: Table, selected: np.ndarray) -> None:
    names, _, _, load = _open_arrow(table.source)
    gone = dropped_columns(table, selected)
    save_arrow(load([j for j in range(len(names)) if j not in gone]), path)


def save_arrow(table: Any, path: Path) -> None:
    """An Arrow table as Parquet or Feather, by suffix."""
    if is_parquet(path):
        require("pyarrow.parquet", "io", path).write_table(table, path)
    else:
        require("pyarrow.feather", "io", path).write_feather(table, str(path))


def is_parquet(path: Path) -> bool:
    """Whether the file name means Parquet; otherwise it is Feather."""
    return path.suffix.lower() in (".parquet", ".pq")


def _open_arrow(path: Path) -> tuple[list[str], list[Any], int, Callable[[list[int]], Any]]:
    """Column names, column types, the number of rows, and a function that loads the columns at given positions."""
    require("pyarrow", "io", path)
    with named_damage(path, f"a {path.suffix[1:].lower()} file"):
        if is_parquet(path):
            file = require("pyarrow.parquet", "io", path).ParquetFile(path, memory_map=True)
            schema, n_rows = file.schema_arrow, file.metadata.num_rows
            load = lambda columns: file.read(columns=[schema.names[j] for j in columns])  # noqa: E731
        else:
            table = require("pyarrow.feather", "io", path).read_table(path, memory_map=True)
            schema, n_rows, load = table.schema, table.num_rows, table.select
    if len(set(schema.names)) < len(schema.names):
        raise ValueError(f"{path} has several columns with the same name; rename them first.")
    return schema.names, schema.types, n_rows, load


# -------------------------------------------------------------------- ARFF


def read_arff(request: Request) -> Contents:
    """Dense or sparse ARFF through liac-arff."""
    with _open_arff(request.path) as (content, sparse):
        names = [name for name, _ in content["attributes"]]
        if sparse:
            return _read_sparse_arff(request, names, content)

    def rows() -> Iterator[tuple[int, list[Any]]]:
        with _open_arff(request.path) as (content, _):
            yield from enumerate(content["data"])

    gathered = lambda numeric, texts: gather(request.path, rows, numeric, texts, as_number)  # noqa: E731
    return _arranged(request, lambda request: read_cells(request, names, gathered))


def write_arff(path: Path, table: Table, selected: np.ndarray) -> None:
    arff = require("arff", "io", table.source)
    gone = dropped_columns(table, selected)
    with _open_arff(table.source) as (content, sparse):
        kept = [j for j in range(len(content["attributes"])) if j not in gone]
        new = {j: k for k, j in enumerate(kept)}
        content["attributes"] = [content["attributes"][j] for j in kept]
        content["data"] = [
            {new[j]: v for j, v in row.items() if j in new} if sparse else [row[j] for j in kept]
            for row in content["data"]
        ]
    with text.opener(path)(path, "wt", encoding="utf-8") as file:
        arff.dump(content, file)


@contextmanager
def _open_arff(path: Path) -> Iterator[tuple[dict[str, Any], bool]]:
    """The content from liac-arff, with rows as an iterator, and whether rows are sparse; errors name the line."""
    arff = require("arff", "io", path)
    line, sparse, data = 0, False, False
    with text.open_text(path) as file:
        for start in map(str.strip, file):
            if data and start and start[0] != "%":
                sparse = start[0] == "{"
                break
            data = data or start[:5].lower() == "@data"

    def lines(file: Iterable[str]) -> Iterator[str]:
        nonlocal line
        for line, said in enumerate(file, 1):  # noqa: B007
            # liac-arff would truncate 2.7 to 2 if the attribute is declared as integer
            yield re.sub(r"(?i)^(\s*@attribute\s.*\s)integer\s*$", r"\1numeric", said)

    try:
        with text.open_text(path) as file:
            yield arff.load(lines(file), return_type=arff.LOD_GEN if sparse else arff.DENSE_GEN), sparse
    except arff.ArffException as error:
        error.line = line  # liac-arff does not set it for an iterator of rows
        raise ValueError(f"{path}: {first_line(error)[:200]}") from None


def _read_sparse_arff(request: Request, names: list[str], content: dict[str, Any]) -> Contents:
    role = roles(names, request)
    # A cell that is not written is 0, which for a nominal attribute means its first value.
    zero = [kind[0] if isinstance(kind, list) else 0.0 for _, kind in content["attributes"]]
    wanted, bad = set(role.features), dict[int, str]()
    rows, columns, values = array("q"), array("q"), array("d")
    texts: dict[int, list[Any]] = {j: [] for j in (role.target, role.row_ids) if j is not None}
    n_rows = 0
    for i, row in enumerate(content["data"]):
        n_rows = i + 1
        for j, cell in row.items():
            value = as_number(cell) if j in wanted else np.nan
            if value is None:
                bad.setdefault(j, f"row {i}, column {names[j]!r}: {_what(cell)}")
            elif j in wanted:
                rows.append(i)
                columns.append(j)
                values.append(value)
        for j, cells in texts.items():
            cells.append(row.get(j, zero[j]))
        if i % 256 == 0:
            check_size(request.path, f"more than {i} rows with {len(values)} values", 24.0 * len(values))
    features, notes = usable(request, names, role.features, bad)
    X = sp.csr_array(sp.coo_array((values, (rows, columns)), shape=(n_rows, len(names))))[:, features]
    layout = {"features": features, "left_out": sorted([*role.dropped, *bad])}
    y, row_ids = (None if j is None else texts[j] for j in (role.target, role.row_ids))
    return Contents(X, [names[j] for j in features], y, row_ids, layout, notes)


# -------------------------------------------------------------------- Excel


def read_xlsx(request: Request) -> Contents:
    """Read the last computed numbers of a sheet; dates and text are not numbers, and empty rows are skipped."""
    return _arranged(request, _read_sheet)


def _read_sheet(request: Request) -> Cells:
    path, skip, notes = request.path, request.skip_rows or 0, list[str]()
    with _open_sheet(path, request.sheet) as rows:
        kept = [(line, row) for line, row in rows if row and line > skip]
    if not kept:
        raise ValueError(f"{path}: the sheet is empty.")
    width = max(len(row) for _, row in kept)
    if request.skip_rows is None and (titles := _title_rows([row for _, row in kept[: _TITLES + 1]], width)):
        kept, skip = kept[titles:], kept[titles][0] - 1
        notes.append(text.title_note(path, skip))
    padded = lambda rows: ((line, row + [None] * (width - len(row))) for line, row in rows)  # noqa: E731
    first, *others = ([_shown(cell) for cell in row] for _, row in padded(kept[:20]))
    first, header = [cell.strip() for cell in first], request.header
    if header is None and set(request.named) & set(first):
        header = True
    if header is None:
        header, note = text.guess_header(first, others)
        notes += [f"{path}: {note}"] * bool(note)
    if len(kept) == header:
        raise ValueError(f"{path} has a header but no rows.")
    if request.transpose:
        cells = [[_shown(row[0]), *row[1:]] for _, row in padded(kept)]
        found = _transposed(request, cells, as_number, _shown)
    else:
        names = first if header else [f"x{j}" for j in range(width)]
        rows_ = lambda: padded(kept[header:])  # noqa: E731
        gathered = lambda numeric, texts: gather(path, rows_, numeric, texts, as_number)  # noqa: E731
        found = read_cells(request, names, gathered, shown=_shown)
    found.layout |= {"sheet": request.sheet, "skip": skip, "names_in": kept[0][0] if header else None}
    found.notes = notes
    return found


def _title_rows(rows: list[list[Any]], width: int) -> int:
    """The number of rows above a table: those of one cell above a row that fills at least half of the columns."""
    for count, row in enumerate(rows):
        filled = sum(cell is not None and _shown(cell).strip() != "" for cell in row)
        if filled > 1:
            return count if 2 * filled >= width else 0
    return 0


def write_xlsx(path: Path, table: Table, selected: np.ndarray) -> None:
    """Write the kept columns of the sheet to a new workbook."""
    openpyxl = require("openpyxl", "io", path)
    gone = dropped_columns(table, selected)
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Sheet1")
    with _open_sheet(table.source, table.layout["sheet"]) as rows:
        kept: Iterable[list[Any]] = (row for line, row in rows if line > table.layout.get("skip", 0))
        if table.layout.get("transposed"):
            kept = (row for j, row in enumerate(filter(None, kept)) if j not in gone)
        else:
            kept = ([cell for j, cell in enumerate(row) if j not in gone] for row in kept)
        for row in kept:
            sheet.append(row)
    with open(path, "wb") as file:
        book.save(file)


def save_sheet(path: Path, columns: dict[str, Any], named: str | Path) -> None:
    """Write columns to the only sheet of a new workbook; ``named`` is the file that errors name."""
    openpyxl = require("openpyxl", "io", named)
    control = openpyxl.cell.cell.ILLEGAL_CHARACTERS_RE
    values = [np.asarray(column).tolist() for column in columns.values()]
    if values and len(values[0]) >= _MOST_ROWS:
        there = len(values[0]) + 1
        raise ValueError(f"{named}: a sheet has at most {_MOST_ROWS} rows, but there are {there}; use .csv.")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Sheet1")

    def as_cell(value: Any) -> Any:
        if isinstance(value, float) and not math.isfinite(value):
            value = None if math.isnan(value) else str(value)  # a cell holds neither NaN nor infinity
        if not isinstance(value, str):
            return value
        cell = openpyxl.cell.WriteOnlyCell(sheet, control.sub("\ufffd", value))
        cell.data_type = "s"  # otherwise a name such as =A1 would be a formula
        return cell

    for row in chain([list(columns)], zip(*values, strict=True)):
        sheet.append([as_cell(value) for value in row])
    with open(path, "wb") as file:
        book.save(file)


@contextmanager
def _open_sheet(path: Path, wanted: str | int | None) -> Iterator[Iterator[tuple[int, list[Any]]]]:
    """The numbered rows of a sheet, without empty cells at their ends; errors of openpyxl become a ValueError."""
    openpyxl = require("openpyxl", "io", path)
    with named_damage(path, "a readable Excel file", "."), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about styles and extensions, which do not concern the user
        _check_parts(path)
        with closing(openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)) as book:
            sheet = _sheet(book, wanted, path)
            sheet.reset_dimensions()  # the size that a file declares may be wrong
            with closing(sheet.iter_rows(values_only=True)) as rows:  # the iterator keeps the file open
                yield _rows(rows, path)


def _check_parts(path: Path) -> None:
    """Check the declared sizes of the parts of a workbook: sheets are loaded row by row, other parts as a whole."""
    with zipfile.ZipFile(path) as archive:
        for part in archive.infolist():
            declared = f"{part.filename} of {part.file_size} bytes"
            check_size(path, declared, part.file_size, part.compress_size)
            if part.filename.startswith("xl/worksheets/"):
                longest = _longest_row(archive, part)
                check_size(path, f"a row of {longest} bytes in {part.filename}", _XML_COST * longest)
            else:
                check_size(path, declared, _XML_COST * part.file_size)


def _longest_row(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> int:
    """Approximate number of bytes of the longest row of a sheet."""
    longest = length = 0
    with archive.open(part) as file:
        while piece := file.read(_PIECE):
            at = piece.rfind(b"<row")
            length = length + len(piece) if at < 0 else len(piece) - at
            longest = max(longest, length)
    return longest


def _rows(rows: Iterator[tuple[Any, ...]], path: Path) -> Iterator[tuple[int, list[Any]]]:
    """Rows without the empty cells at their ends; raises an error beyond the limits of memory and Excel."""
    held = 0
    for line, row in enumerate(rows, 1):
        if line > _MOST_ROWS:
            raise ValueError(f"{path}: the sheet has a row beyond {_MOST_ROWS}, the largest row number in Excel.")
        width = next((j for j in range(len(row), 0, -1) if row[j - 1] is not None), 0)
        held += width
        if width:
            check_size(path, f"more than {line} rows with {held} cells", _NUMBER_BYTES * held)
        yield line, list(row[:width])


def _sheet(book: Any, wanted: str | int | None, path: Path) -> Any:
    names = [sheet.title for sheet in book.worksheets]
    if wanted in names:
        return book[wanted]
    if isinstance(wanted, str) and not wanted.lstrip("-").isdigit():
        raise ValueError(f"{path} has no sheet {wanted!r}; {did_you_mean(wanted, names)}Sheets: {', '.join(names)}.")
    number = int(wanted or 0)
    if not -len(names) <= number < len(names):
        raise ValueError(f"{path} has no sheet {number}: its {len(names)} sheets are numbered from 0.")
    return book.worksheets[number]


def _shown(cell: Any) -> str:
    """A cell as text; integers without a decimal point, as the sheet shows them."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        cell = int(cell)
    return "" if cell is None else str(cell)
