"""CSV and TSV, plain or gzipped, into one float64 matrix in bounded memory.

The matrix grows in one buffer, so the peak is X itself plus a piece of the file. Polars reads the pieces where it is
installed; whatever it will not read goes to the reader in plain Python, which either copes or names line and column.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from ..words import did_you_mean

MISSING = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "null", "NULL"})

_PIECE = 2**25  # bytes of text parsed at once

# name -> positions of the features, of the target or None, of the ids
Roles = Callable[[list[str]], tuple[list[int], int | None, list[int]]]


@dataclass
class Columns:
    """What a delimited file holds: numbers of the features, text of the others, and how the file is laid out."""

    X: np.ndarray
    names: list[str]
    features: list[int]
    target: list[str | None] | None
    ids: list[str | None] | None
    delimiter: str
    header: bool


def existing(path: str | os.PathLike) -> Path:
    """A path that can be read, or an error that names the nearest file in its folder."""
    path = Path(path)
    if path.exists() and (path.is_file() or path.suffix == ".zarr"):
        return path
    if path.is_dir():
        raise ValueError(f"{path} is a folder; give a file.")
    try:
        siblings = [p.name for p in path.parent.iterdir()]
    except OSError:
        siblings = []
    hint = did_you_mean(path.name, siblings, 0.7)
    raise FileNotFoundError(f"there is no file {path}" + (f"; {hint.rstrip()}" if hint else "."))


@contextmanager
def open_text(path: Path) -> Iterator[Any]:
    """A text file, unzipped if need be; what is not UTF-8 is a ValueError that names the file."""
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
            yield file
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path} is not UTF-8 text (byte {error.object[error.start]:#04x} at {error.start}); convert it first, "
            "for example with iconv."
        ) from None
    except (gzip.BadGzipFile, EOFError) as error:
        raise ValueError(f"{path} is not a complete gzip file: {error}.") from None


def read_delimited(path: Path, roles: Roles, header: bool = True) -> Columns:
    """Read a CSV or TSV whose columns ``roles`` divides into features, target and ids."""
    names, delimiter = read_header(path, header)
    features, target, ids = roles(names)
    wanted = ([] if target is None else [target]) + ids[:1]
    read = None
    if len(names) > 1 and features:
        read = _read_by_polars(path, len(names), features, wanted, delimiter, header)
    numbers, texts = read or _read_by_hand(path, names, features, wanted, delimiter, header)
    X = np.frombuffer(numbers, dtype=np.float64).reshape(-1, len(features)) if len(numbers) else None
    if X is None:
        raise ValueError(f"{path} has a header but no rows." if header else f"{path} has no rows.")
    return Columns(
        X, names, features, texts[0] if target is not None else None, texts[-1] if ids else None, delimiter, header
    )


def read_header(path: Path, header: bool = True) -> tuple[list[str], str]:
    """Column names and delimiter; a header one cell short (as R writes it) gets an unnamed first column."""
    with open_text(path) as file:
        first = file.readline()
        while first and not first.strip():
            first = file.readline()
        second = file.readline()
    if not first:
        raise ValueError(f"{path} is empty.")
    counts = {d: first.count(d) for d in (("\t", ",", ";") if ".tsv" in path.suffixes else (",", "\t", ";"))}
    delimiter = max(counts, key=counts.__getitem__)
    try:
        names, *others = csv.reader([first, second], delimiter=delimiter)
    except csv.Error as error:
        raise ValueError(f"{path}: the first lines cannot be read: {error}.") from None
    if not header:
        return [f"x{j}" for j in range(len(names))], delimiter
    if others and len(others[0]) == len(names) + 1:
        names = ["", *names]
    return [name.strip() for name in names], delimiter


def data_rows(path: Path, delimiter: str, header: bool) -> Iterator[tuple[int, list[str]]]:
    """``(line, cells)`` of the rows after the header; empty lines are skipped."""
    with open_text(path) as file:
        reader = csv.reader(file, delimiter=delimiter)
        skip = header
        try:
            for row in reader:
                if row and not skip:
                    yield reader.line_num, row
                skip = skip and not row
        except csv.Error as error:
            raise ValueError(f"{path}: line {reader.line_num} cannot be read: {error}.") from None


def to_number(cell: str, path: Path, line: int, name: str) -> float:
    """The number in a cell, NaN where it is missing."""
    if cell.strip() in MISSING:
        return np.nan
    try:
        if "_" not in cell:  # Python reads 1_000, tables do not mean it
            return float(cell)
    except ValueError:
        pass
    raise ValueError(
        f"{path}: line {line}, column {name!r}: {cell[:40]!r} is not a number; if the column is no feature, name it as "
        "the target or as an id column."
    )


def _read_by_hand(
    path: Path, names: list[str], features: list[int], wanted: list[int], delimiter: str, header: bool
) -> tuple[array, list[list[str | None]]]:
    numbers = array("d")
    texts: list[list[str | None]] = [[] for _ in wanted]
    take = itemgetter(*features) if len(features) > 1 else lambda row: [row[j] for j in features]
    for line, row in data_rows(path, delimiter, header):
        if len(row) != len(names):
            raise ValueError(
                f"{path}: line {line} has {len(row)} cells, but the {'header' if header else 'first line'} has "
                f"{len(names)}."
            )
        cells, start = take(row), len(numbers)
        try:
            if "_" in "".join(cells):
                raise ValueError
            numbers.extend(map(float, cells))
        except ValueError:
            del numbers[start:]
            numbers.extend(to_number(c, path, line, names[j]) for j, c in zip(features, cells, strict=True))
        for text, j in zip(texts, wanted, strict=True):
            text.append(row[j])
    return numbers, texts


def _read_by_polars(
    path: Path, width: int, features: list[int], wanted: list[int], delimiter: str, header: bool
) -> tuple[array, list[list[str | None]]] | None:
    """The same through polars; None where the file needs the careful reader."""
    try:
        import polars as pl
    except ImportError:
        return None
    schema: dict[str, Any] = dict.fromkeys(map(str, range(width)), pl.String)
    schema |= {str(j): pl.Float64 for j in features}
    numbers = array("d")
    texts: list[list[str | None]] = [[] for _ in wanted]
    options: dict[str, Any] = {"has_header": False, "separator": delimiter, "null_values": sorted(MISSING)}
    try:
        for piece in _pieces(path, header):
            frame = pl.read_csv(piece, schema=schema, **options)
            if _may_be_ragged(piece, frame, delimiter):
                return None
            numbers.frombytes(frame.select(map(str, features)).to_numpy(order="c").tobytes())
            for text, j in zip(texts, wanted, strict=True):
                text += frame[str(j)].to_list()
    except (pl.exceptions.PolarsError, gzip.BadGzipFile, EOFError):
        return None
    return numbers, texts


def _pieces(path: Path, header: bool) -> Iterator[bytes]:
    """The file after its header in pieces that end with a line."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rb") as file:
        skip = header
        while skip:
            skip = not file.readline().strip()
        while piece := file.read(_PIECE):
            piece = (piece + file.readline()).rstrip(b"\r\n")
            if piece:
                yield piece.removeprefix(b"\xef\xbb\xbf")


def _may_be_ragged(piece: bytes, frame: Any, delimiter: str) -> bool:
    """Whether a row may be short, or cut in two by the end of the piece: polars fills short rows without a word."""
    if b'"' not in piece:
        return piece.count(delimiter.encode()) != frame.height * (frame.width - 1)
    return piece.count(b'"') % 2 == 1 or frame[:, -1].null_count() > 0


def plain_rows(path: Path, blanks: bool = False) -> list[tuple[int, list[str]]]:
    """``(line, cells)`` of a small file of labels, names or pairs; tabs, commas, semicolons (or blanks) separate."""
    with open_text(path) as file:
        text = file.read()
    first = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = next((d for d in ("\t", ",", ";") if d in first), " " if blanks else "\t")
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
    return [(reader.line_num, [cell.strip() for cell in row]) for row in reader if any(cell.strip() for cell in row)]
