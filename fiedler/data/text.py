"""Text files: opened, their layout guessed, and their cells read once, as numbers where they are numbers.

If polars is installed, it reads plain UTF-8 in pieces into one buffer, so that the peak memory is X plus a piece of the
file. A reader in plain Python reads all other files: other encodings, decimal commas, runs of blanks, rows of unequal
length, words among numbers, and files so small that importing polars would take longer. Its errors name line and
column. A warning states what was guessed about a file (a header, a decimal comma, an encoding).
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import re
import warnings
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ..words import did_you_mean
from .memory import TEXT_BYTES, allocation_limit, check_size
from .work import counting

_USUAL = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "null", "NULL"})
MISSING = _USUAL | {"None", "n/a", "#N/A", "<NA>"}
COMMA = re.compile(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*")  # a number with a decimal comma

_PIECE = 2**25  # bytes of text parsed at once
_SMALL = 2**20  # smaller files are read in Python, because importing polars takes longer
_COUNTED = 2**20  # characters of lines between two reports of the position
_LINE_COST = 16  # largest number of bytes per character while a line is split into cells
_SAMPLE = 2**16, 20  # characters and lines of the sample from which the layout is guessed
_MOST_TITLES = 10  # lines above a table
_CELLS = 2**14  # cells that are read at a time in Python
BLANKS = " "  # the delimiter for runs of blanks and tabs
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass
class Dialect:
    """How a delimited file is laid out, and notes about what was guessed."""

    names: list[str]
    delimiter: str
    header: bool
    decimal_comma: bool = False
    encoding: str | None = None  # None: UTF-8, or the encoding of its byte order mark
    skip: int = 0  # lines above the table
    words: dict[int, tuple[int, str]] = field(default_factory=dict)  # the first other cell of columns of the sample
    notes: list[str] = field(default_factory=list)


class NotUTF8(ValueError):  # noqa: N818
    """Text in an unknown encoding other than UTF-8."""


def existing(path: str | os.PathLike, folder: bool = False) -> Path:
    """The path of an existing file, or folder if allowed; the error names the most similar file in its folder."""
    path = Path(path)
    if path.exists() and (path.is_file() or folder):
        return path
    if path.is_dir():
        raise ValueError(f"{path} is a folder; give a file.")
    hint = did_you_mean(path.name, (sibling.name for sibling in path.parent.glob("*")), 0.7)
    raise FileNotFoundError(f"there is no file {path}" + (f"; {hint.rstrip()}" if hint else "."))


def opener(path: Path) -> Callable[..., Any]:
    """The function that opens a file: that of gzip for gzipped files."""
    return gzip.open if path.suffix.lower() == ".gz" else open


@contextmanager
def open_text(path: Path, encoding: str | None = None, kept: float = 0) -> Iterator[BoundedLines]:
    """An open text file, unzipped if necessary, in UTF-8, UTF-16 with a mark, or the given encoding; errors name it."""
    try:
        with opener(path)(path, "rb") as stored:
            encoding = encoding or ("utf-16" if stored.peek(2)[:2] in UTF16 else "utf-8-sig")
            with io.TextIOWrapper(stored, encoding, newline="") as file:
                yield BoundedLines(file, path, kept)
    except UnicodeDecodeError as error:
        if error.encoding.startswith("utf-16"):
            raise ValueError(f"{path} is not complete UTF-16 text: {error.reason}.") from None
        raise NotUTF8(
            f"{path} is not UTF-8 text (byte {error.object[error.start]:#04x} at {error.start}); convert it first, "
            "for example with iconv."
        ) from None
    except UnicodeError as error:
        raise ValueError(f"{path} is not text: {error}.") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"{path} is not a complete gzip file: {str(error).rstrip('.')}.") from None


class BoundedLines:
    """The lines of a file, limited by memory, because a gzipped line can have any length.

    ``kept`` is the number of bytes that the reader keeps in memory per byte it reads. The active run is told how many
    bytes of the file have been read.
    """

    def __init__(self, file: Any, path: Path, kept: float = 0):
        self._file, self._path, self._kept, self._read, self._next = file, path, kept, 0, _COUNTED
        self._limit = allocation_limit()
        self._longest = int(self._limit / _LINE_COST)
        # The count is not entered, because a reader may leave a file early, and no other loop counts meanwhile.
        self._count = counting("bytes", path.stat().st_size)

    def readline(self) -> Any:
        """The next line, or an empty line at the end."""
        line = self._file.readline(self._longest + 1)
        if len(line) > self._longest:
            check_size(self._path, f"a line of more than {self._longest} characters", _LINE_COST * len(line))
        self._read += len(line)
        if self._kept * self._read > self._limit:
            check_size(self._path, f"more than {self._read} characters of text", self._kept * self._read)
        if not line or self._read >= self._next:
            self._next = self._read + _COUNTED
            self._tell()
        return line

    def read(self, size: int) -> Any:
        """``size`` bytes or characters, or fewer at the end."""
        self._tell()  # the caller has yet to process the next piece
        return self._file.read(size)

    def _tell(self) -> None:
        """Report the position in the stored file, which may be behind a decoder and a decompressor."""
        stored = getattr(self._file, "buffer", self._file)
        self._count.reach(0)  # reported once, before any other position
        self._count.reach(int(getattr(stored, "fileobj", stored).tell()))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.readline, type(self._file.read(0))())


def in_some_encoding(path: Path, read: Callable[[str | None], Any]) -> tuple[Any, list[str]]:
    """``read(encoding)`` in UTF-8, otherwise in an encoding of Windows or old files, and notes about the encoding."""
    try:
        return read(None), []
    except NotUTF8 as error:
        with opener(path)(path, "rb") as file:
            if b"\0" in file.read(2**12):
                raise ValueError(f"{path} is not text: it holds zero bytes; check its suffix.") from None
        said = f"{str(error).partition(';')[0]}, so it is read as {{}}; convert it if names or labels look wrong."
    try:
        return read("cp1252"), [said.format("Windows-1252")]
    except NotUTF8:
        return read("latin-1"), [said.format("Latin-1")]


def some(names: list[str]) -> str:
    """The number of columns and the names of the first five, as text."""
    shown = ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")
    return f"{len(names)} column{'s' * (len(names) > 1)} ({shown})"


# -------------------------------------------------------------------- what is guessed


def sniff(path: Path, header: bool | None, named: Iterable[str], encoding: str | None, skip: int | None) -> Dialect:
    """Names, delimiter, decimal mark, whether there is a header, and notes about what was guessed.

    A header with one cell fewer than the rows (as R writes it) gets an unnamed first column. ``skip`` is the number of
    lines above the table; by default lines of at most one cell above a table are titles.
    """
    numbered: list[tuple[int, str]] = []  # the first lines that are not empty, and the number of lines before each
    size, quotes, notes = 0, 0, list[str]()
    with open_text(path, encoding) as file:
        for number, line in enumerate(file):
            size, quotes = size + len(line), quotes + line.count('"')
            numbered += [(number, line)] * (line.strip() != "" and number >= (skip or 0))
            # A cell between quotes may have several lines.
            if (len(numbered) >= _SAMPLE[1] and quotes % 2 == 0) or (len(numbered) > 1 and size >= _SAMPLE[0]):
                break
    if not numbered:
        raise ValueError(f"{path} is empty.")
    tabs_first = {".tsv", ".tab"} & {s.lower() for s in path.suffixes} != set()
    if skip is None:
        titles = _titles([line for _, line in numbered], tabs_first)
        skip = numbered[titles][0] if titles else 0
        notes += [title_note(path, skip)] * bool(titles)
        numbered = numbered[titles:]
    lines = [line for _, line in numbered]
    delimiter = _delimiter(lines, tabs_first)
    reader = _split(lines, delimiter)
    try:
        rows = [(numbered[reader.line_num - 1][0] + 1, row) for row in reader if row]
    except csv.Error as error:
        raise ValueError(f"{path}: the first lines cannot be read: {error}.") from None
    first, others = [cell.strip() for cell in rows[0][1]], [row for _, row in rows[1:]]
    comma = next((c for row in others for c in row if COMMA.fullmatch(c)), None) if delimiter != "," else None
    notes += [_comma_note(path, comma)] if comma else []
    if header is None:
        quoted = '"' in lines[0] and len(lines) > 1 and '"' not in lines[1]
        header, note = guess_header(first, others, quoted, comma is not None, named)
        notes += [f"{path}: {note}"] * bool(note)
    if not header:
        first = [f"x{j}" for j in range(len(first))]
    elif others and len(others[0]) == len(first) + 1:
        first = ["", *first]
    words: dict[int, tuple[int, str]] = {}
    for line_number, row in rows[header:]:
        for j, cell in enumerate(row):
            if to_number(cell, comma is not None) is None:
                words.setdefault(j, (line_number, cell))
    return Dialect(first, delimiter, header, comma is not None, encoding, skip, words, notes)


def title_note(path: Path, skip: int) -> str:
    """The note about lines above a table."""
    what = "line is a title and is" if skip == 1 else f"{skip} lines are a title and are"
    return f"{path}: the first {what} skipped; use skip_rows=0 if this belongs to the table."


def _titles(lines: list[str], tabs_first: bool) -> int:
    """The number of lines of a sample above a table, which must be a table of two or more columns without them."""
    for count in range(min(len(lines) - 1, _MOST_TITLES)):
        delimiter = _delimiter(lines[count:], tabs_first)
        starts, rows = _rows(lines[count:], delimiter)
        if delimiter != BLANKS and _is_table(rows):
            if count == 1 and len(rows[0]) == 2 and to_number(rows[0][1], False) is not None:
                return 0  # R writes one name less than there are columns
            if not all(_is_title(row, len(rows[0])) for row in _rows(lines[:count], delimiter)[1]):
                return 0
            return count + starts[title_rows(rows)]
    return 0


def title_rows(rows: list[list[str]]) -> int:
    """The number of rows above the names of the columns.

    The names are the first row without an empty cell, if it holds texts above numbers. Otherwise the rows above them
    fill at most half of the columns.

    Examples
    --------
    >>> title_rows([["Results", "", ""], ["made by", "me", ""], ["a", "b", "c"], ["1", "2", "3"]])
    2
    """
    width, number = max(map(len, rows)), lambda cell: to_number(cell, False) is not None
    full = next((at for at, row in enumerate(rows[: _MOST_TITLES + 1]) if all(map(str.strip, row))), 0)
    if not any(map(number, rows[full])) and any(all(map(number, c)) for c in zip(*rows[full + 1 :], strict=False)):
        return full
    for at, row in enumerate(rows[: _MOST_TITLES + 1]):
        if not _is_title(row, width) or (width < 3 and not row[0].strip()):
            plain = not any(number(cell) for cell in row if cell.strip())
            return at if plain or (width > 2 and all(map(str.strip, row))) else 0
    return 0


def _is_title(row: list[str], width: int) -> bool:
    """Whether a row above a table holds at most one cell, or a text and other cells in at most half of the columns."""
    some = [cell for cell in row if cell.strip()]
    return 2 * len(some) <= max(width, 2) and (len(row) < 2 or not some or to_number(some[0], False) is None)


def guess_header(
    first: list[str],
    others: list[list[str]],
    quoted: bool = False,
    decimal_comma: bool = False,
    named: Iterable[str] = (),
) -> tuple[bool, str]:
    """Whether the first line holds names, and a note; it is data if it holds numbers where the next lines do.

    Increasing integers (0, 1, 2 or years) are names, and so is a first line with quotes above lines without quotes, or
    with a column that the caller ``named``.

    Examples
    --------
    >>> guess_header(["5.1", "3.5", "setosa"], [["4.9", "3.0", "setosa"]])
    (False, 'the first line looks like data, so columns are named x0, x1, ...; use header=True if it holds names.')
    >>> guess_header(["length", "width", "kind"], [["4.9", "3.0", "setosa"]])
    (True, '')
    """
    number = lambda cell: to_number(cell, decimal_comma) is not None  # noqa: E731
    like = {j for j, cell in enumerate(first) if any(map(str.isdigit, cell)) and number(cell)}
    if not like or not others or len(others[0]) != len(first) or set(named) & set(first):
        return True, ""
    below = enumerate(zip(*others, strict=False))
    numeric = [j for j, cells in below if all(map(number, cells)) and not MISSING.issuperset(map(str.strip, cells))]
    heads = [first[j] for j in numeric if j in like]
    whole = [int(cell) for cell in heads if cell.isdecimal()]
    counted = 1 < len(heads) == len(whole) and all(a < b for a, b in pairwise(whole))
    gaps = [j for j in numeric if j not in like and first[j] in MISSING and (first[j] or j > 0)]
    if heads and len(heads) + len(gaps) == len(numeric) and not counted and not quoted:
        note = "the first line looks like data, so columns are named x0, x1, ...; use header=True if it holds names."
        return False, note
    if 2 * len(heads) > len(numeric) and not (counted and first[0] == ""):
        some_of = "is all" if len(like) == len(first) else "has"
        return True, f"the first line {some_of} numbers and is used as names; if it is data, use header=False."
    return True, ""


def _delimiter(lines: list[str], tabs_first: bool) -> str:
    """The delimiter that gives equally many cells in the first rows; otherwise the most frequent one in the first."""
    order = ("\t", ",", ";", "|") if tabs_first else (",", "\t", ";", "|")
    fitting = {d: rows for d in order if _is_table(rows := _rows(lines, d)[1])}
    if (
        "," in fitting
        and ";" in fitting
        and any(COMMA.fullmatch(c) for row in fitting[";"][1:] or fitting[";"] for c in row)
    ):
        return ";"
    if fitting:
        return max(fitting, key=lambda d: len(fitting[d][0]))
    if len(lines) > 1 and not any(d in lines[0] for d in ",;|") and _is_table(_rows(lines, BLANKS)[1]):
        return BLANKS
    return max(order[:3], key=lines[0].count)


def _rows(lines: Iterable[str], delimiter: str) -> tuple[list[int], list[list[str]]]:
    """The numbers of the first lines of rows, and their cells; nothing if they cannot be read."""
    starts, rows, reader = [0], list[list[str]](), _split(lines, delimiter)
    try:
        for row in reader:
            rows.append(row)
            starts.append(reader.line_num)
    except csv.Error:
        return [], []
    return starts, rows


def _is_table(rows: list[list[str]]) -> bool:
    """Whether rows have two or more cells, equally many but for the first one, which may have one less."""
    width = len(rows[0]) if rows else 0
    return width > 1 and ({len(row) for row in rows[1:]} or {width}) in ({width}, {width + 1})


def _split(lines: Iterable[str], delimiter: str) -> Any:
    """A reader of lines; blanks and tabs at the ends of a line are ignored."""
    if delimiter == BLANKS:
        return csv.reader((line.replace("\t", " ").strip() for line in lines), delimiter=" ", skipinitialspace=True)
    return csv.reader(lines, delimiter=delimiter)


# -------------------------------------------------------------------- rows


def data_rows(path: Path, dialect: Dialect, even: bool = False) -> Iterator[tuple[int, list[str]]]:
    """``(line, cells)`` of the rows after the header; empty lines are skipped.

    With ``even`` a row that is longer or shorter than the first line is an error.
    """
    width, skip = len(dialect.names), dialect.header
    with open_text(path, dialect.encoding) as file:
        for _ in range(dialect.skip):
            file.readline()
        reader = _split(file, dialect.delimiter)
        try:
            for row in reader:
                if row and not skip:
                    line = dialect.skip + reader.line_num
                    if len(row) != width and not any(map(str.strip, row)):
                        continue  # delimiters only, as spreadsheets write them below a table
                    if even and len(row) != width:
                        head = f"{'header' if dialect.header else 'first line'} has {width}; correct or remove it"
                        raise ValueError(f"{path}: line {line} has {len(row)} cells, but the {head}.")
                    yield line, row
                skip = skip and not row
        except csv.Error as error:
            raise ValueError(f"{path}: line {dialect.skip + reader.line_num} cannot be read: {error}.") from None


def to_number(cell: str, decimal_comma: bool) -> float | None:
    """The number in a cell: NaN if it is missing, None if it is not a number."""
    cell = cell.strip()
    if cell in MISSING:
        return np.nan
    if decimal_comma:
        cell = "." if "." in cell else cell.replace(",", ".")
    try:
        if "_" not in cell:  # Python reads 1_000, tables do not mean it
            return float(cell)
    except ValueError:
        pass
    return {"true": 1.0, "false": 0.0}.get(cell.lower())


def as_number(cell: Any) -> float | None:
    """The number in a cell: NaN if missing, None if it is not a number, inf if it is too large for a float."""
    if cell is None or isinstance(cell, str):
        return to_number(cell or "", False)
    try:
        return float(cell)
    except OverflowError:  # an integer of more than 308 digits
        return np.inf if cell > 0 else -np.inf
    except (TypeError, ValueError):
        return None


@dataclass
class Cells:
    """The columns of a file, read once: those of numbers as one matrix, the others as they are in the file.

    ``again(places)`` reads the cells of columns of numbers, ``number`` reads a cell, and ``shown`` makes a label or row
    id of a cell.
    """

    X: Any
    numeric: list[int]  # the columns of X
    cells: dict[int, Any]  # lists, or columns whose kind is known
    odd: dict[int, Any]  # for each column that was expected to hold numbers, its first other cell, or what it holds
    names: list[str] = field(default_factory=list)
    again: Callable[[list[int]], dict[int, list[Any]]] = lambda places: {}
    number: Callable[[Any], float | None] = as_number
    shown: Callable[[Any], Any] = lambda cell: cell
    nothing: list[int] = field(default_factory=list)  # columns without a name and without a value
    first_names_rows: bool = False  # whether the first column names the rows, if the request does not say which one
    layout: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def read_delimited(path: Path, dialect: Dialect, numeric: list[int], texts: list[int]) -> Cells:
    """The cells of a CSV file, read by polars if the file is large and plain.

    If cells below the sample have a decimal comma, the dialect is changed and the file is read again.
    """
    comma, found = dialect.decimal_comma, None
    odd = {j: dialect.words[j] for j in numeric if j in dialect.words}
    rest, others = [j for j in numeric if j not in odd], [*texts, *odd]
    plain = not comma and dialect.delimiter != BLANKS and not dialect.encoding
    if plain and path.stat().st_size > _SMALL and len(dialect.names) > 1:
        found = _read_by_polars(path, dialect, rest, others)
    if found is None:
        rows, number = partial(data_rows, path, dialect, even=True), partial(to_number, decimal_comma=comma)
        found = gather(path, rows, number, rest, others, not comma)
    found.odd |= odd
    if comma or dialect.delimiter == "," or not any(COMMA.fullmatch(cell) for _, cell in found.odd.values()):
        return found
    again = read_delimited(path, replace(dialect, decimal_comma=True), numeric, texts)
    if not again.odd.keys() < found.odd.keys():
        return found
    dialect.decimal_comma = True
    dialect.notes.append(_comma_note(path, next(cell for j, (_, cell) in found.odd.items() if j not in again.odd)))
    return again


def _comma_note(path: Path, cell: str) -> str:
    return f"{path}: cells such as {cell.strip()!r} are read as numbers with a decimal comma."


def gather(
    path: Path,
    rows: Callable[[], Iterable[tuple[int, Sequence[Any]]]],
    number: Callable[[Any], float | None],
    numeric: list[int],
    texts: list[int],
    plain: bool = False,
) -> Cells:
    """The numbers of some columns, some rows at a time in one buffer, and the cells of all other wanted columns.

    ``number`` gives None for a cell that is not a number. If some columns hold such cells, the rows are read again for
    the cells of these columns. If the cells are ``plain`` text, ``float`` is first tried on all of them.
    """
    numbers, cells, n_rows = array("d"), {j: list[Any]() for j in texts}, 0
    odd, stream = dict[int, tuple[int, Any]](), iter(rows())

    def floats(picked: list[Any]) -> array | None:
        """The numbers in cells if all of them are plain numbers."""
        try:
            if plain and "_" not in "".join(picked):  # Python reads 1_000, tables do not mean it
                return array("d", map(float, picked))
        except ValueError:
            pass
        return None

    while first := next(stream, None):
        block = [first, *islice(stream, _CELLS // max(len(first[1]), 1))]
        values: Any = floats([row[j] for _, row in block for j in numeric])
        if values is None:
            some_rows = ([row[j] for j in numeric] for _, row in block)
            values = [value for picked in some_rows for value in floats(picked) or map(number, picked)]
        if isinstance(values, list) and None in values:
            for k in (k for k, value in enumerate(values) if value is None):
                (line, row), j = block[k // len(numeric)], numeric[k % len(numeric)]
                odd.setdefault(j, (line, row[j]))
            if not n_rows:
                break
            values = [np.nan if value is None else value for value in values]
        numbers.extend(values)
        for j, column in cells.items():
            column += [row[j] for _, row in block]
        n_rows += len(block)
        size = 8 * len(numbers) + TEXT_BYTES * (len(cells) + len(odd)) * n_rows
        check_size(path, f"more than {n_rows} rows of {len(numeric)} features", size)
    if odd:
        found = gather(path, rows, number, [j for j in numeric if j not in odd], [*texts, *odd], plain)
        return replace(found, odd=odd | found.odd)
    return Cells(np.frombuffer(numbers, dtype=np.float64).reshape(n_rows, len(numeric)), numeric, cells, odd)


def _read_by_polars(path: Path, dialect: Dialect, numeric: list[int], texts: list[int]) -> Cells | None:
    """As :func:`gather`, by polars; None if the file needs the reader in Python."""
    try:
        import polars as pl
    except ImportError:
        return None
    schema: dict[str, Any] = dict.fromkeys(map(str, range(len(dialect.names))), pl.String)
    schema |= {str(j): pl.Float64 for j in numeric}
    options: dict[str, Any] = {"has_header": False, "separator": dialect.delimiter, "schema": schema}
    numbers, cells, n_rows, skip = array("d"), {j: list[Any]() for j in texts}, 0, dialect.header
    try:
        with opener(path)(path, "rb") as opened:
            if opened.peek(2)[:2] in UTF16:
                return None
            file = BoundedLines(opened, path)
            for _ in range(dialect.skip):
                file.readline()
            while skip:
                line = file.readline()
                if b"\r" in line.rstrip(b"\r\n") or line.count(b'"') % 2:
                    return None  # lines end with CR only, or a name contains a line end
                skip = not line.removeprefix(codecs.BOM_UTF8).strip()
            while piece := file.read(_PIECE):
                piece = (piece + file.readline()).rstrip(b"\r\n").removeprefix(codecs.BOM_UTF8)
                if not piece:
                    continue
                try:
                    frame = pl.read_csv(piece, null_values=sorted(_USUAL), **options)
                except pl.exceptions.PolarsError:
                    frame = pl.read_csv(piece, null_values=sorted(MISSING), **options)  # a long list slows polars down
                # Polars silently fills short rows, and the end of the piece may split a quoted cell.
                if b'"' not in piece:
                    ragged = piece.count(dialect.delimiter.encode()) != frame.height * (frame.width - 1)
                else:
                    ragged = piece.count(b'"') % 2 == 1 or frame[:, -1].null_count() > 0
                if ragged:
                    return None
                if numeric:
                    numbers.frombytes(frame.select(map(str, numeric)).to_numpy(order="c").tobytes())
                for j, column in cells.items():
                    column += frame[str(j)].to_list()
                n_rows += frame.height
                size = 8 * len(numbers) + TEXT_BYTES * len(cells) * n_rows
                check_size(path, f"more than {n_rows} rows of {len(numeric)} features", size)
    except (pl.exceptions.PolarsError, gzip.BadGzipFile, EOFError, zlib.error, UnicodeError):
        return None
    return Cells(np.frombuffer(numbers, dtype=np.float64).reshape(n_rows, len(numeric)), numeric, cells, {})


# -------------------------------------------------------------------- small files


def read_text(path: Path) -> str:
    """The text of a small file, in any encoding; a warning says which one if it is not UTF-8."""

    def read(encoding: str | None) -> str:
        with open_text(path, encoding, kept=TEXT_BYTES) as file:
            return "".join(file)

    text, notes = in_some_encoding(path, read)
    for note in notes:
        warnings.warn(note, UserWarning, stacklevel=4)
    return text


def plain_rows(path: Path, blanks: bool = False) -> list[tuple[int, list[str]]]:
    """``(line, cells)`` of a small file of labels or pairs, separated by tabs, commas, semicolons (or blanks)."""
    text = read_text(path)
    first = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = next((d for d in ("\t", ",", ";") if d in first), " " if blanks else "\t")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    try:
        return [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    except csv.Error as error:
        raise ValueError(f"{path}: line {reader.line_num} cannot be read: {error}.") from None
