"""Reading of labels, names and pairs from separate files."""

from __future__ import annotations

import csv
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from ..distinct import Distinct
from ..words import did_you_mean
from .files import open_npy
from .memory import TEXT_BYTES, check_size
from .text import MISSING, existing, in_some_encoding, open_text, plain_rows

_LINKS = {"must": 0, "must-link": 0, "must_link": 0, "ml": 0, "1": 0}
_LINKS |= {"cannot": 1, "cannot-link": 1, "cannot_link": 1, "cl": 1, "-1": 1}


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
    rows, notes = plain_rows(path, empty=True)
    width = max((len(cells) for _, cells in rows), default=0)
    if width <= 1:
        values = [cells[0] if cells else "" for _, cells in rows]
        while len(values) > n_samples and not values[-1]:
            values.pop()
        if len(values) not in (n_samples, n_samples + 1):
            raise ValueError(
                f"{path} has {len(values)} labels for {n_samples} rows; use lines 'row,label' to label only some rows."
            )
        if len(values) > n_samples:
            notes.append(f"{path} has one line more than there are rows, so {values[0]!r} is used as a header.")
        _say(notes)
        return values[len(values) - n_samples :]
    _say(notes)
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
    >>> from fiedler.data.label_files import read_names
    >>> file = Path(tempfile.mkdtemp()) / "names.txt"
    >>> _ = file.write_text('weight, kg\\n"height, m"\\nG1\\tgene 1\\n')
    >>> read_names(file)
    ['weight, kg', 'height, m', 'G1']
    """
    path = existing(path)

    def read(encoding: str | None) -> list[str]:
        with open_text(path, encoding, kept=TEXT_BYTES) as file:
            return "".join(file).splitlines()

    lines, notes = in_some_encoding(path, read)
    _say(notes)
    names = [line.partition("\t")[0].strip() for line in lines if line.strip()]
    return [_unquoted(name) for name in names]


def _unquoted(name: str) -> str:
    cells = next(csv.reader([name])) if name.startswith('"') else []
    return cells[0].strip() if len(cells) == 1 else name


def _say(notes: list[str]) -> None:
    for note in notes:
        warnings.warn(note, UserWarning, stacklevel=4)


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
    >>> from fiedler.data.label_files import read_pairs
    >>> file = Path(tempfile.mkdtemp()) / "pairs.csv"
    >>> _ = file.write_text("first,second,link\\n0,3,must\\n1,2,cannot\\n")
    >>> read_pairs(file, None, 4)
    (array([[0, 3]]), array([[1, 2]]))
    """
    path = existing(path)
    pairs: tuple[list, list] = ([], [])
    find = _row_finder(row_ids, n_samples)
    rows, notes = plain_rows(path, blanks=True)
    _say(notes)
    for at, (line, cells) in enumerate(rows):
        if len(cells) not in (2, 3):
            raise ValueError(
                f"{path}: line {line} has {len(cells)} cells; a pair has two, and a third for must or cannot."
            )
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
    >>> from fiedler.data.label_files import as_labels
    >>> as_labels(["1", "2", "NA"]), as_labels(["a", "b", "none"], unlabeled="none")
    (array([ 1.,  2., nan]), array(['a', 'b', None], dtype=object))
    """
    marker = None if unlabeled is None else str(unlabeled)
    given = np.asarray(values) if isinstance(values, np.ndarray) else None
    if given is not None and given.dtype.kind in "biuf":
        return _whole_or_real(_without(given.astype(np.float64).ravel(), marker))
    seen = Distinct(np.asarray(values, dtype=object).ravel().tolist())
    known = [None if _unknown(cell, marker) else cell for cell in seen.values]
    try:
        return _whole_or_real(seen.spread((np.nan if cell is None else float(cell) for cell in known), np.float64))
    except (TypeError, ValueError, OverflowError):  # OverflowError: an integer that is too large for a float
        return seen.spread(None if cell is None else str(cell) for cell in known)


def _without(numbers: np.ndarray, marker: str | None) -> np.ndarray:
    """Numbers, with NaN in place of those that mean "unknown"."""
    try:
        return numbers if marker is None else np.where(numbers == float(marker), np.nan, numbers)
    except ValueError:
        return numbers


def _whole_or_real(numbers: np.ndarray) -> np.ndarray:
    whole = np.isfinite(numbers).all() and (numbers == np.round(numbers)).all() and (np.abs(numbers) < 2**53).all()
    return numbers.astype(np.int64) if whole else numbers


def is_known(y: np.ndarray) -> np.ndarray:
    """Mask of the known labels."""
    return ~np.isnan(y) if y.dtype.kind == "f" else Distinct(y.tolist()).where(lambda label: label is not None)


def _unknown(cell: Any, marker: str | None) -> bool:
    text = "" if cell is None or type(cell).__name__ == "NAType" or cell != cell else str(cell).strip()
    return text in MISSING or (marker is not None and _same(text, marker))


def _same(text: str, marker: str) -> bool:
    try:
        return text == marker or float(text) == float(marker)
    except ValueError:
        return False


def _row_finder(row_ids: np.ndarray | None, n_samples: int) -> Any:
    if row_ids is None:
        rows = {str(i): i for i in range(n_samples)}
        return rows.get
    counts = Counter(row_ids.tolist())
    repeated = next((row for row, count in counts.items() if count > 1), None)
    if repeated is not None:
        raise ValueError(f"row id {repeated!r} occurs {counts[repeated]} times, so it does not identify a row.")
    return {row: i for i, row in enumerate(row_ids.tolist())}.get


def _no_row(cell: str, row_ids: np.ndarray | None, n_samples: int) -> str:
    if row_ids is None:
        return f"{cell!r} is not a row number from 0 to {n_samples - 1}; to use row ids, name an id column."
    return f"{cell!r} is not a row id; {did_you_mean(cell, row_ids, 0.6)}".rstrip("; ") + "."
