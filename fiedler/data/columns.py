"""Tables of named columns, including target and ids: CSV, Parquet, Feather, ARFF, Excel.

Each format is read by an established library. The roles of columns and the treatment of columns without numbers are
common to all formats.
"""

from __future__ import annotations

import csv
import math
import re
import warnings
import zipfile
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import date, time, timedelta
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import ParameterError
from ..validation import require
from ..words import did_you_mean, first_line
from .delimited import (
    BLANKS,
    MISSING,
    Cells,
    Dialect,
    comma_note,
    data_rows,
    guess_header,
    in_some_encoding,
    open_text,
    opener,
    read_cells,
    read_numbers,
    shows_decimal_commas,
    sniff,
    some,
    title_note,
    to_number,
)
from .features import Groups, sentences
from .files import ParquetFile, arrow_dtype, as_floats, is_arrow_number
from .frames import Column, category_column, encode, notes_on, number_column, ordered_column, read_column
from .memory import TEXT_BYTES, check_size
from .progress import counting
from .tables import Contents, Request, Table, codes_among, dropped_columns, left_out, roles

_COLUMNS_AT_ONCE = 512
_REPEATED = 3  # how often a value of a category occurs on average, if it is a number
_TOP = 20  # rows of a text file that show which columns hold words
_TITLES = 10  # rows above the table of a sheet
_LISTED = 10  # columns that an error describes
_NUMBER_BYTES = 40  # bytes of a number in a Python list
_XML_COST = 25  # measured bytes of memory that openpyxl takes per byte of XML
_PIECE = 2**18  # bytes of a sheet that are scanned at a time
_MOST_ROWS = 2**20  # largest number of rows of a sheet in Excel

# -------------------------------------------------------------------- the shared path


def usable(
    request: Request, names: list[str], features: list[int], bad: dict[int, str]
) -> tuple[list[int], list[int], list[str]]:
    """The features without columns that hold no numbers, all columns left out, and notes for the user.

    ``bad`` describes the content of each such column. An error that lists all of them is raised if they must not be
    left out.
    """
    out = sorted([*left_out(names, request), *bad])
    if not bad:
        return features, out, []
    bad_names = [names[j] for j in sorted(bad)]
    if not request.numeric_only or len(bad) == len(features):
        told = [bad[j] for j in sorted(bad)]
        more = f"; and {len(told) - _LISTED} more columns" if len(told) > _LISTED else ""
        raise ParameterError(
            f"{request.path}: {'; '.join(told[:_LISTED])}{more}. {_way_out(bad_names)}.",
            parameter="drop",
            way_out={f"drop={bad_names}": ("drop", bad_names), "numeric_only=True": ("numeric_only", True)},
        )
    note = f"{request.path}: {some(bad_names)} skipped: not numeric."
    return [j for j in features if j not in bad], out, [note]


def _way_out(names: list[str]) -> str:
    """Advice for columns that hold no numbers."""
    which, it = ("this column is no feature", "it") if len(names) == 1 else ("these columns are no features", "them")
    return (
        f"Correct the cells, or, if {which}, name {it} as the target or as an id column, or leave {it} out with "
        f"drop={names} or numeric_only=True"
    )


def _what(cell: Any) -> str:
    a_date = isinstance(cell, (date, time, timedelta))
    return f"{str(cell)[:40]!r} is {'a date, not a number' if a_date else 'not a number'}"


def read_columns(
    request: Request,
    names: list[str],
    read: Callable[[list[int], list[int]], Cells],
    text: Callable[[Any], Any] = lambda cell: cell,
    what: Callable[[Any], str] = _what,
    line: str = "row",
    seen: dict[int, tuple[int, Any]] | None = None,
) -> Contents:
    """A table from ``read(features, wanted)``, which is called again for columns that do not hold numbers.

    ``seen`` are cells of columns that are known to hold no numbers, which saves a call.
    """
    features, target, ids = roles(names, request)
    wanted = [j for j in (target, *ids[:1]) if j is not None]
    declared = codes_among(names, features, request)
    tell = lambda j, at, cell: f"{line} {at}, column {names[j]!r}: {what(cell)}"  # noqa: E731
    out, notes, others = left_out(names, request), list[str](), dict[int, str]()
    if not request.numeric_only:
        others = {j: tell(j, *cell) for j, cell in (seen or {}).items() if j in features}
    others |= dict.fromkeys(declared, "")
    while isinstance(found := read([j for j in features if j not in others], [*wanted, *others]), dict):
        bad = {j: tell(j, *cell) for j, cell in found.items()}
        if request.numeric_only:
            features, out, notes = usable(request, names, features, bad)
        else:
            others |= bad
    numbers, cells = found
    kept = ([text(cell) for cell in column] for column in cells[: len(wanted)])
    texts = dict(zip(wanted, kept, strict=True))
    y, row_ids = None if target is None else texts[target], texts[ids[0]] if ids else None
    numeric = [j for j in features if j not in others]
    X = np.frombuffer(numbers, dtype=np.float64).reshape(-1 if numeric else len(cells[0]), len(numeric))
    if not others:
        return Contents(X, [names[j] for j in features], y, row_ids, {"features": features, "left_out": out}, notes)
    columns = {j: number_column(names[j], X[:, k]) for k, j in enumerate(numeric)}
    for k, j in enumerate(others):
        known = [None if _is_gap(cell) else cell for cell in cells[len(wanted) + k]]
        columns[j] = category_column(names[j], known) if j in declared else read_column(names[j], known)
    return mixed(request, names, columns, others, y, row_ids)


def _is_gap(cell: Any) -> bool:
    return isinstance(cell, str) and cell.strip() in MISSING


def mixed(
    request: Request, names: list[str], columns: dict[int, Column], bad: dict[int, str], y: Any, row_ids: Any
) -> Contents:
    """A table with categories, dates or texts; ``bad`` describes why a column is not numeric.

    A column that holds mostly numbers, and no category, is an error: some of its cells are wrong. The description of a
    column that the caller declares as a category is empty.
    """
    wrong = {j: bad[j] for j in bad if bad[j] and _holds_numbers(columns[j])}
    if request.lenient:
        columns = {j: column._replace(kind="wrong") if j in wrong else column for j, column in columns.items()}
    else:
        usable(request, names, sorted(columns), wrong)
    places = [j for j in sorted(columns) if columns[j].used]
    everything = [columns[j] for j in sorted(columns)]
    said = notes_on(everything)
    if not places and not request.lenient:
        raise ValueError(f"{request.path} has no column that can be used: {'; '.join(said)}.")
    notes = [f"{request.path} is not purely numeric. {sentences(said)}"] * bool(said)
    encoded = encode([columns[j] for j in places])
    groups = Groups(encoded.owner, np.arange(len(places)), levels=encoded.levels)
    layout = {"features": places, "left_out": sorted({*left_out(names, request), *columns} - set(places))}
    found = Contents(encoded.X, [names[j] for j in places], y, row_ids, layout, notes, columns=everything)
    found.wrong = {names[j]: bad[j] for j in wrong}
    if len(encoded.owner) != len(places):
        found.groups = groups
    return found


def _holds_numbers(column: Column) -> bool:
    """Whether a column holds mostly numbers, and is no category: its values are many, or occur hardly three times."""
    if column.kind == "number":  # Python reads 1_000 and decimal points, tables may not mean it
        return True
    numbers = np.array([to_number(level, False) is not None for level in column.levels])
    codes = column.values[column.known].astype(np.intp)
    rare = column.kind == "text" or len(codes) < _REPEATED * len(numbers)
    return column.kind in ("category", "text") and rare and 2 * int(numbers[codes].sum()) >= len(codes)


def read_rows(
    request: Request,
    names: list[str],
    rows: Callable[[], Iterable[tuple[int, Sequence[Any]]]],
    text: Callable[[Any], Any] = lambda cell: cell,
) -> Contents:
    """A table from rows of cells that a library has read."""
    read = lambda features, wanted: read_cells(request.path, rows(), features, wanted, as_number)  # noqa: E731
    return read_columns(request, names, read, text)


def as_number(cell: Any) -> float | None:
    """The number in a cell: NaN if missing, None if it is not a number, inf if it is too large for a float."""
    if cell is None:
        return np.nan
    if isinstance(cell, str):
        return to_number(cell, False)
    try:
        return float(cell)
    except OverflowError:  # an integer of more than 308 digits
        return np.inf if cell > 0 else -np.inf
    except (TypeError, ValueError):
        return None


# -------------------------------------------------------------------- CSV, TSV


def read_csv(request: Request) -> Contents:
    """Read CSV or TSV; the notes state what was guessed about the file."""
    found, said = in_some_encoding(request.path, lambda encoding: _read_csv(request, encoding))
    found.notes += said
    return found


def _read_csv(request: Request, encoding: str | None) -> Contents:
    path = request.path
    dialect, notes = sniff(path, request.header, request.named, encoding, request.skip_rows)
    if request.transpose:
        return _read_transposed_csv(request, dialect, notes)

    def read(features: list[int], wanted: list[int]) -> Cells:
        nonlocal dialect
        found = read_numbers(path, dialect, features, wanted)
        if isinstance(found, dict) and shows_decimal_commas(dialect, found):
            other = replace(dialect, decimal_comma=True)
            again = read_numbers(path, other, features, wanted)
            left = set(again) if isinstance(again, dict) else set()
            if left < set(found):
                solved = next(cell for j, (_, cell) in found.items() if j not in left)
                notes.append(comma_note(path, solved))
                dialect, found = other, again
        return found

    def what(cell: str) -> str:
        return _what(cell) + " (the decimal mark is a comma here)" * (dialect.decimal_comma and "." in cell)

    found = read_columns(request, dialect.names, read, what=what, line="line", seen=_words_at_the_top(path, dialect))
    if not len(found.X):
        raise ValueError(f"{path} has a header but no rows." if dialect.header else f"{path} has no rows.")
    found.layout["dialect"], found.notes = dialect, notes + found.notes
    return found


def _words_at_the_top(path: Path, dialect: Dialect) -> dict[int, tuple[int, str]]:
    """For columns that hold a word in one of the first rows, its line and the word; decimal commas are no words."""
    found: dict[int, tuple[int, str]] = {}
    for line, row in islice(data_rows(path, dialect), _TOP):
        for j, cell in enumerate(row):
            if to_number(cell, dialect.decimal_comma) is None and not any(map(str.isdigit, cell)):
                found.setdefault(j, (line, cell))
    return found


def _read_transposed_csv(request: Request, dialect: Dialect, notes: list[str]) -> Contents:
    """A file with one feature per row: its rows become columns, and its first column holds their names."""
    rows = [row for _, row in data_rows(request.path, dialect)]
    rows = [dialect.names, *rows] if dialect.header else rows
    check_size(request.path, f"{len(rows)} rows of text", TEXT_BYTES * sum(map(len, rows)))
    found = read_transposed(request, rows, lambda cell: to_number(cell, dialect.decimal_comma))
    found.layout["dialect"], found.notes = dialect, notes + found.notes
    return found


def read_transposed(
    request: Request, rows: list[list[Any]], number: Callable[[Any], float | None], text: Callable[[Any], Any] = str
) -> Contents:
    """A table from rows of cells that hold one feature each, with its name in the first cell."""
    width = {len(row) for row in rows}
    if len(width) > 1:
        raise ValueError(f"{request.path}: rows have {min(width)} to {max(width)} cells; all need the same number.")
    names = [text(row[0]).strip() for row in rows]
    cells = [list(column) for column in zip(*rows, strict=True)][1:]
    if not cells:
        raise ValueError(f"{request.path} has one column; a table with one feature per row needs more.")
    if not request.ids:
        request = replace(request, ids=[0])  # what the header holds are the names of the rows

    def read(features: list[int], wanted: list[int]) -> Cells:
        return read_cells(request.path, enumerate(cells), features, wanted, number)

    found = read_columns(request, names, read, text, line="column")
    found.layout["transposed"] = True
    return found


def write_csv(path: Path, table: Table, selected: np.ndarray) -> None:
    dialect, gone = table.layout["dialect"], dropped_columns(table, selected)
    if table.layout.get("transposed"):
        rows = [row for _, row in data_rows(table.source, dialect)]
        rows = [dialect.names, *rows] if dialect.header else rows
        with opener(path)(path, "wt", encoding="utf-8", newline="") as file:
            out = csv.writer(file, delimiter=_delimiter(path, table), lineterminator="\n")
            out.writerows(row for j, row in enumerate(rows) if j not in gone)
        return
    kept = [j for j in range(len(dialect.names)) if j not in gone]
    with opener(path)(path, "wt", encoding="utf-8", newline="") as file:
        out = csv.writer(file, delimiter=_delimiter(path, table), lineterminator="\n")
        if dialect.header:
            out.writerow(dialect.names[j] for j in kept)
        out.writerows([row[j] for j in kept] for _, row in data_rows(table.source, dialect))


def _delimiter(path: Path, table: Table) -> str:
    """The delimiter of the suffix; .csv keeps the semicolons of its source, and uses them with decimal commas.

    Runs of blanks become tabs, because an empty cell between blanks could not be recognised.
    """
    dialect, suffixes = table.layout["dialect"], _suffixes(path)
    if suffixes & {".tsv", ".tab"}:
        return "\t"
    if ".csv" not in suffixes:
        return "\t" if dialect.delimiter == BLANKS else dialect.delimiter
    return ";" if dialect.decimal_comma or (dialect.delimiter == ";" and ".csv" in _suffixes(table.source)) else ","


def _suffixes(path: Path) -> set[str]:
    return {suffix.lower() for suffix in path.suffixes}


# -------------------------------------------------------------------- Parquet, Feather


def read_arrow(request: Request) -> Contents:
    """Parquet or Feather, a group of columns at a time into one matrix."""
    names, types, n_rows, load = _open_arrow(request.path)
    features, target, ids = roles(names, request)
    bad = {j: f"column {names[j]!r} holds {types[j]}, not numbers" for j in features if not is_arrow_number(types[j])}
    bad |= dict.fromkeys(codes_among(names, features, request), "")
    if bad and not request.numeric_only and 8.0 * n_rows * len(features) <= request.memory:
        return _mixed_arrow(request, names, n_rows, load, bad)
    features, out, notes = usable(request, names, features, bad)
    texts = TEXT_BYTES * n_rows * ((target is not None) + bool(ids))
    check_size(request.path, f"{n_rows} labels or ids", texts)
    y = None if target is None else load([target]).column(0).to_pylist()
    row_ids = load(ids[:1]).column(0).to_pylist() if ids else None
    layout = {"features": features, "left_out": out}
    found = Contents(None, [names[j] for j in features], y, row_ids, layout, notes)
    kind = arrow_dtype([types[j] for j in features])
    size = n_rows * len(features) * np.dtype(kind).itemsize
    if is_parquet(request.path) and size > request.memory:
        found.X = ParquetFile(request.path, found.names)
        return found
    check_size(request.path, f"{n_rows} rows of {len(features)} features", texts + size)
    found.X = np.empty((n_rows, len(features)), dtype=kind, order="F")
    with counting("columns", len(features)) as count:
        for start in range(0, len(features), _COLUMNS_AT_ONCE):
            part = load(features[start : start + _COLUMNS_AT_ONCE])
            for j, column in enumerate(part.columns):
                name = f"{request.path}: column {names[features[start + j]]!r}"
                found.X[:, start + j] = as_floats(column, name)
            count.reach(start + len(part.columns))
    return found


def _mixed_arrow(
    request: Request, names: list[str], n_rows: int, load: Callable[[list[int]], Any], bad: dict[int, str]
) -> Contents:
    """A table of Arrow columns of which some hold no numbers."""
    features, target, ids = roles(names, request)
    texts = TEXT_BYTES * n_rows * (len(bad) + (target is not None) + bool(ids))
    check_size(request.path, f"{n_rows} rows of {len(features)} features", texts + 8.0 * n_rows * len(features))
    y = None if target is None else load([target]).column(0).to_pylist()
    row_ids = load(ids[:1]).column(0).to_pylist() if ids else None
    columns = {}
    for j in features:
        column = load([j]).column(0)
        if j in bad:
            read = arrow_column if bad[j] else lambda name, column: category_column(name, column.to_pylist())
            columns[j] = read(names[j], column)
        else:
            values = np.asarray(as_floats(column, f"{request.path}: column {names[j]!r}"), dtype=np.float64)
            columns[j] = number_column(names[j], values)
    return mixed(request, names, columns, bad, y, row_ids)


def arrow_column(name: str, column: Any) -> Column:
    """An Arrow column of any type; an ordered dictionary is an ordered category."""
    if getattr(column.type, "ordered", False):
        coded = column.unify_dictionaries().combine_chunks()
        codes = coded.indices.to_numpy(zero_copy_only=False).astype(np.float64)
        return ordered_column(name, codes, [str(level) for level in coded.dictionary.to_pylist()])
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
    pa = require("pyarrow", "io", path)
    try:
        if is_parquet(path):
            file = require("pyarrow.parquet", "io", path).ParquetFile(path, memory_map=True)
            schema, n_rows = file.schema_arrow, file.metadata.num_rows
            load = lambda columns: file.read(columns=[schema.names[j] for j in columns])  # noqa: E731
        else:
            table = require("pyarrow.feather", "io", path).read_table(path, memory_map=True)
            schema, n_rows, load = table.schema, table.num_rows, table.select
    except (pa.ArrowInvalid, OSError) as error:
        raise ValueError(f"{path} is not a {path.suffix[1:].lower()} file: {first_line(error)}") from None
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
    return read_rows(request, names, lambda: _rows_of_arff(request.path))


def _rows_of_arff(path: Path) -> Iterator[tuple[int, list[Any]]]:
    with _open_arff(path) as (content, _):
        yield from enumerate(content["data"])


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
    with opener(path)(path, "wt", encoding="utf-8") as file:
        arff.dump(content, file)


@contextmanager
def _open_arff(path: Path) -> Iterator[tuple[dict[str, Any], bool]]:
    """The content from liac-arff, with rows as an iterator, and whether rows are sparse; errors name the line."""
    arff = require("arff", "io", path)
    with open_text(path) as file:
        sparse = _is_sparse_arff(file)
    line = 0

    def lines(file: Iterable[str]) -> Iterator[str]:
        nonlocal line
        for line, text in enumerate(file, 1):  # noqa: B007
            # liac-arff would truncate 2.7 to 2 if the attribute is declared as integer
            yield re.sub(r"(?i)^(\s*@attribute\s.*\s)integer\s*$", r"\1numeric", text)

    try:
        with open_text(path) as file:
            yield arff.load(lines(file), return_type=arff.LOD_GEN if sparse else arff.DENSE_GEN), sparse
    except arff.ArffException as error:
        error.line = line  # liac-arff does not set it for an iterator of rows
        raise ValueError(f"{path}: {first_line(error)[:200]}") from None


def _is_sparse_arff(lines: Iterable[str]) -> bool:
    data = False
    for line in lines:
        text = line.strip()
        if data and text and text[0] != "%":
            return text[0] == "{"
        data = data or text[:5].lower() == "@data"
    return False


def _read_sparse_arff(request: Request, names: list[str], content: dict[str, Any]) -> Contents:
    features, target, ids = roles(names, request)
    # A cell that is not written is 0, which for a nominal attribute means its first value.
    zero = [kind[0] if isinstance(kind, list) else 0.0 for _, kind in content["attributes"]]
    wanted, bad = set(features), dict[int, str]()
    rows, columns, values = array("q"), array("q"), array("d")
    texts: dict[int, list[Any]] = {j: [] for j in [*([] if target is None else [target]), *ids[:1]]}
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
    features, out, notes = usable(request, names, features, bad)
    X = sp.csr_array(sp.coo_array((values, (rows, columns)), shape=(n_rows, len(names))))[:, features]
    layout = {"features": features, "left_out": out}
    y, row_ids = None if target is None else texts[target], texts[ids[0]] if ids else None
    return Contents(X, [names[j] for j in features], y, row_ids, layout, notes)


# -------------------------------------------------------------------- Excel


def read_xlsx(request: Request) -> Contents:
    """Read the last computed numbers of a sheet; dates and text are not numbers, and empty rows are skipped."""
    path = request.path
    with _open_sheet(path, request.sheet) as rows:
        kept = [(line, row) for line, row in rows if row and line > (request.skip_rows or 0)]
    if not kept:
        raise ValueError(f"{path}: the sheet is empty.")
    width = max(len(row) for _, row in kept)
    skip, notes = request.skip_rows or 0, list[str]()
    if request.skip_rows is None:
        titles = _title_rows([row for _, row in kept[: _TITLES + 1]], width)
        kept, skip = kept[titles:], kept[titles][0] - 1 if titles else 0
        notes += [title_note(path, skip)] * bool(titles)

    def padded(start: int = 0, stop: int | None = None) -> Iterator[tuple[int, list[Any]]]:
        return ((line, row + [None] * (width - len(row))) for line, row in islice(kept, start, stop))

    first, *others = ([_shown(cell) for cell in row] for _, row in padded(stop=20))
    first, header, note = [cell.strip() for cell in first], request.header, ""
    if header is None and set(request.named) & set(first):
        header = True
    if header is None:
        header, note = guess_header(first, others)
    names = first if header else [f"x{j}" for j in range(width)]
    if len(kept) == header:
        raise ValueError(f"{path} has a header but no rows.")
    if request.transpose:
        cells = [[_shown(cell) if j == 0 else cell for j, cell in enumerate(row)] for _, row in padded()]
        found = read_transposed(request, cells, as_number, _shown)
    else:
        found = read_rows(request, names, partial(padded, int(header)), _shown)
    found.layout |= {"sheet": request.sheet, "skip": skip, "names_in": kept[0][0] if header else None}
    found.notes = notes + [f"{path}: {note}"] * bool(note) + found.notes
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
        kept = (row for line, row in rows if line > table.layout.get("skip", 0))
        if table.layout.get("transposed"):
            for j, row in enumerate(row for row in kept if row):
                if j not in gone:
                    sheet.append(row)
        else:
            for row in kept:
                sheet.append([cell for j, cell in enumerate(row) if j not in gone])
    with open(path, "wb") as file:
        book.save(file)


def save_sheet(path: Path, columns: dict[str, Any], named: str | Path) -> None:
    """Write columns to the only sheet of a new workbook; ``named`` is the file that errors name."""
    openpyxl = require("openpyxl", "io", named)
    control = openpyxl.cell.cell.ILLEGAL_CHARACTERS_RE
    values = [np.asarray(column).tolist() for column in columns.values()]
    if values and len(values[0]) >= _MOST_ROWS:
        raise ValueError(
            f"{named}: a sheet has at most {_MOST_ROWS} rows, but there are {len(values[0]) + 1}; use .csv."
        )
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
    book = None
    try:
        _check_parts(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings about styles and extensions, which do not concern the user
            book = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
            sheet = _sheet(book, wanted, path)
            sheet.reset_dimensions()  # the size that a file declares may be wrong
            with closing(sheet.iter_rows(values_only=True)) as rows:  # the iterator keeps the file open
                yield _rows(rows, path)
    except ImportError:
        raise
    except Exception as error:  # openpyxl raises many kinds of errors for a damaged file
        if str(error).startswith(str(path)):
            raise
        why = first_line(error) or type(error).__name__
        raise ValueError(f"{path} is not a readable Excel file: {why}.") from None
    finally:
        if book is not None:
            book.close()


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
