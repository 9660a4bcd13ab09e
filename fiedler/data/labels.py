"""Small files beside a table: labels, names and pairs, which are read, and rankings, which are written."""

from __future__ import annotations

import csv
import io
import json
import math
import warnings
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..validation import check_choice, require
from ..words import did_you_mean
from .columns import Distinct
from .files import open_npy
from .memory import TEXT_BYTES, check_size
from .tables import save_arrow, save_sheet
from .text import MISSING, existing, plain_rows, read_text
from .work import replacing

_LINKS = {"must": 0, "must-link": 0, "must_link": 0, "ml": 0, "1": 0}
_LINKS |= {"cannot": 1, "cannot-link": 1, "cannot_link": 1, "cl": 1, "-1": 1}
RANKING_SUFFIXES = (".csv", ".tsv", ".json", ".xlsx", ".parquet", ".feather")


def read_labels(path: str | Path, row_ids: np.ndarray | None, n_samples: int) -> list[Any]:
    """Labels from a separate file: one per row, or lines ``row id or number, label`` for the labelled rows.

    Parameters
    ----------
    path : str or Path
        Text with one or two columns, or an NPY file. In a file with one column, an empty line is a missing label, and
        the first line is a header if there is one line more than rows.
    row_ids : ndarray of str, optional
        The row ids in the first of two columns; by default row numbers from 0.
    n_samples : int
        Number of rows of the table.

    Returns
    -------
    labels : list
        One label per row; None if the file has none for it.
    """
    path = existing(path)
    if path.suffix.lower() == ".npy":
        stored = open_npy(path)
        check_size(path, f"{stored.size} labels", TEXT_BYTES * stored.size)
        return stored.ravel().tolist()
    rows = plain_rows(path)
    width = max((len(cells) for _, cells in rows), default=0)
    if width <= 1:
        values = [cells[0] if cells else "" for _, cells in rows]
        while len(values) > n_samples and not values[-1]:
            values.pop()
        if len(values) not in (n_samples, n_samples + 1):
            counts = f"{len(values)} labels for {n_samples} rows"
            raise ValueError(f"{path} has {counts}; use lines 'row,label' to label only some rows.")
        if len(values) > n_samples:
            note = f"{path} has one line more than there are rows, so {values[0]!r} is used as a header."
            warnings.warn(note, UserWarning, stacklevel=3)
        return values[len(values) - n_samples :]
    labels: list[Any] = [None] * n_samples
    find, lines = _row_finder(row_ids, n_samples), dict[int, int]()
    for at, (line, cells) in enumerate((line, cells) for line, cells in rows if any(cells)):
        if len(cells) != 2:
            raise ValueError(f"{path}: line {line} has {len(cells)} cells; a label file has one or two columns.")
        row = find(cells[0])
        if row is None and at > 0:
            raise ValueError(f"{path}: line {line}: {_no_row(cells[0], row_ids, n_samples)}")
        if row in lines:
            raise ValueError(f"{path}: row {cells[0]!r} has a label in line {lines[row]} and again in line {line}.")
        if row is not None:
            labels[row], lines[row] = cells[1], line
    return labels


def read_names(path: str | Path) -> list[str]:
    """Names from a file, one per line; they may contain anything except tabs. Quotes around a line are removed.

    Examples
    --------
    >>> import tempfile
    >>> from fiedler.data.labels import read_names
    >>> file = Path(tempfile.mkdtemp()) / "names.txt"
    >>> _ = file.write_text('weight, kg\\n"height, m"\\nG1\\tgene 1\\n')
    >>> read_names(file)
    ['weight, kg', 'height, m', 'G1']
    """
    lines = read_text(existing(path)).splitlines()
    names = [line.partition("\t")[0].strip() for line in lines if line.strip()]
    quoted = [next(csv.reader([name])) if name.startswith('"') else [] for name in names]
    return [cells[0].strip() if len(cells) == 1 else name for name, cells in zip(names, quoted, strict=True)]


def read_pairs(
    path: str | Path, row_ids: np.ndarray | None, n_samples: int, kind: str | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Must-link and cannot-link pairs from a file of two or three columns.

    Parameters
    ----------
    path : str or Path
        Text with two columns of row ids, or of row numbers from 0, and a third column with ``must`` or ``cannot``.
    row_ids : ndarray of str, optional
        The row ids in the first two columns; by default row numbers from 0.
    n_samples : int
        Number of rows of the table.
    kind : {"must", "cannot"}, optional
        The kind of pairs without a third column.

    Returns
    -------
    must_link, cannot_link : ndarray of shape (p, 2)
        Row numbers.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from fiedler.data.labels import read_pairs
    >>> file = Path(tempfile.mkdtemp()) / "pairs.csv"
    >>> _ = file.write_text("first,second,link\\n0,3,must\\n1,2,cannot\\n")
    >>> read_pairs(file, None, 4)
    (array([[0, 3]]), array([[1, 2]]))
    """
    path = existing(path)
    pairs: tuple[list, list] = ([], [])
    find = _row_finder(row_ids, n_samples)
    for at, (line, cells) in enumerate((line, cells) for line, cells in plain_rows(path, blanks=True) if any(cells)):
        if len(cells) not in (2, 3):
            count = f"{len(cells)} cells; a pair has two, and a third for must or cannot"
            raise ValueError(f"{path}: line {line} has {count}.")
        ends = [find(cell) for cell in cells[:2]]
        if at == 0 and ends == [None, None]:
            continue  # a header
        if None in ends:
            raise ValueError(f"{path}: line {line}: {_no_row(cells[ends.index(None)], row_ids, n_samples)}")
        link = cells[2].lower() if len(cells) == 3 else kind
        if link not in _LINKS:
            raise ValueError(f"{path}: line {line}: the third column must say must or cannot, got {link!r}.")
        pairs[_LINKS[link]].append(ends)
    must, cannot = (np.array(p, dtype=np.intp).reshape(-1, 2) for p in pairs)
    return must, cannot


def as_labels(values: Any, unlabeled: Any = None) -> np.ndarray:
    """Labels as integers, floats or objects, as their values require.

    Parameters
    ----------
    values : array-like
        Numbers or text from a file.
    unlabeled : object, optional
        A label that means "unknown", in addition to empty cells, NA, NaN, None and ?.

    Returns
    -------
    labels : ndarray
        The labels; unknown labels are NaN among numbers, and None among words.

    Examples
    --------
    >>> from fiedler.data.labels import as_labels
    >>> as_labels(["1", "2", "NA"]), as_labels(["a", "b", "none"], unlabeled="none")
    (array([ 1.,  2., nan]), array(['a', 'b', None], dtype=object))
    """
    marker = None if unlabeled is None else str(unlabeled)
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        numbers = values.astype(np.float64).ravel()
        with suppress(TypeError, ValueError):
            numbers = np.where(numbers == float(marker), np.nan, numbers)  # type: ignore[arg-type]
    else:
        seen = Distinct(np.asarray(values, dtype=object).ravel().tolist())
        known = [None if _unknown(cell, marker) else cell for cell in seen.values]
        try:
            numbers = seen.spread((np.nan if cell is None else float(cell) for cell in known), np.float64)
        except (TypeError, ValueError, OverflowError):  # OverflowError: an integer that is too large for a float
            return seen.spread(None if cell is None else str(cell) for cell in known)
    whole = np.isfinite(numbers).all() and (numbers == np.round(numbers)).all() and (np.abs(numbers) < 2**53).all()
    return numbers.astype(np.int64) if whole else numbers


def is_known(y: np.ndarray) -> np.ndarray:
    """Mask of the known labels."""
    return ~np.isnan(y) if y.dtype.kind == "f" else Distinct(y.tolist()).where(lambda label: label is not None)


def _unknown(cell: Any, marker: str | None) -> bool:
    text = "" if cell is None or type(cell).__name__ == "NAType" or cell != cell else str(cell).strip()
    if text in MISSING or text == marker:
        return True
    try:
        return marker is not None and float(text) == float(marker)
    except ValueError:
        return False


def _row_finder(row_ids: np.ndarray | None, n_samples: int) -> Any:
    rows = list(map(str, range(n_samples))) if row_ids is None else row_ids.tolist()
    place = {row: i for i, row in enumerate(rows)}
    if len(place) < len(rows):
        repeated, count = Counter(rows).most_common(1)[0]
        raise ValueError(f"row id {repeated!r} occurs {count} times, so it does not identify a row.")
    return place.get


def _no_row(cell: str, row_ids: np.ndarray | None, n_samples: int) -> str:
    if row_ids is None:
        return f"{cell!r} is not a row number from 0 to {n_samples - 1}; to use row ids, name an id column."
    return f"{cell!r} is not a row id; {did_you_mean(cell, row_ids, 0.6)}".rstrip("; ") + "."


# -------------------------------------------------------------------- rankings


def write_ranking(
    path: str | Path,
    columns: dict[str, Any],
    *,
    force: bool = False,
    about: dict[str, Any] | None = None,
    formulas: str = "keep",
) -> Path:
    """Write a ranking as CSV, TSV, JSON, Excel, Parquet or Feather, by suffix.

    Parameters
    ----------
    path : str or Path
        The file; its suffix decides the format.
    columns : dict of str to array
        Columns of equal length, such as ``feature``, ``score``, ``rank``.
    force : bool, default=False
        Whether an existing file is replaced.
    about : dict, optional
        Description of the run, which is included in JSON.
    formulas : {"keep", "escape"}, default="keep"
        Treatment of text in CSV and TSV that a spreadsheet would run as a formula, because it starts with =, +, -, @, a
        tab or a carriage return: keep it unchanged, or put an apostrophe before it. Numbers are never changed. In Excel
        files text is always stored as text, so nothing is escaped, and numbers have 15 digits.

    Returns
    -------
    path : Path
        The file that was written.

    Examples
    --------
    >>> import tempfile
    >>> from fiedler.io import write_ranking
    >>> file = Path(tempfile.mkdtemp()) / "ranking.csv"
    >>> print(write_ranking(file, {"feature": ["a", "b"], "score": [0.25, float("nan")]}).read_text(), end="")
    feature,score
    a,0.25
    b,
    """
    check_choice("formulas", formulas, ("keep", "escape"))
    suffix = Path(path).suffix.lower()
    if suffix not in RANKING_SUFFIXES:
        known = ", ".join(RANKING_SUFFIXES)
        raise ValueError(f"{path}: a ranking is written as {known}, not {suffix or 'no suffix'!r}.")
    with replacing(path, force) as temporary:
        if suffix in (".parquet", ".feather"):
            pa = require("pyarrow", "io", temporary)
            save_arrow(pa.table({name: np.asarray(values).tolist() for name, values in columns.items()}), temporary)
        elif suffix == ".xlsx":
            values = (np.asarray(column).tolist() for column in columns.values())
            save_sheet(temporary, [list(columns), *zip(*values, strict=True)], path)
        else:
            text = ranking_text(columns, suffix, about, formulas == "escape")
            temporary.write_text(text, encoding="utf-8", newline="")
    return Path(path)


def ranking_text(
    columns: dict[str, Any], suffix: str = ".csv", about: dict[str, Any] | None = None, escape: bool = False
) -> str:
    """A ranking as CSV, TSV or JSON; numbers are written with full precision, NaN as an empty cell."""
    rows = zip(*(np.asarray(values).tolist() for values in columns.values()), strict=True)
    if suffix == ".json":  # which has neither NaN nor infinity
        value = lambda v: v if not isinstance(v, float) or math.isfinite(v) else None if v != v else str(v)  # noqa: E731
        records = [{name: value(v) for name, v in zip(columns, row, strict=True)} for row in rows]
        return json.dumps({**(about or {}), "features": records}, indent=1, allow_nan=False, ensure_ascii=False) + "\n"

    def safe(value: Any) -> Any:
        """Text that no spreadsheet interprets as a formula."""
        return f"'{value}" if escape and isinstance(value, str) and value[:1] in tuple("=+-@\t\r") else value

    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t" if suffix == ".tsv" else ",", lineterminator="\n")
    writer.writerow(map(safe, columns))
    writer.writerows(["" if v != v else safe(v) for v in row] for row in rows)
    return text.getvalue()
