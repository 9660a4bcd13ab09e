"""Files in and out: one call reads a table with its labels, whatever the format; one writes a ranking.

    read_table("genes.csv", target="label") -> Table(X, feature_names, row_ids, y, source)

CSV, TSV (also gzipped), Parquet, Feather, ARFF, MATLAB, NPY, NPZ, svmlight, Matrix Market, h5ad, HDF5 and Zarr, by
suffix. Sparse stays sparse, NPY stays on disk, and so does what exceeds the memory it is given; else X is read once
into its own memory. Messages name the file, the line and the column; no file is ever allowed to run code.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..sources import Source
from ..syntax import nearest
from . import matrices, tables
from .delimited import MISSING, plain_rows
from .tables import Request
from .writers import annotate, write_ranking, write_table

__all__ = [
    "Table",
    "annotate",
    "fill_missing",
    "read_labels",
    "read_pairs",
    "read_table",
    "write_ranking",
    "write_table",
]

READERS = {
    "csv": tables.read_csv,
    "parquet": tables.read_arrow,
    "feather": tables.read_arrow,
    "arff": tables.read_arff,
    "npy": matrices.read_npy,
    "npz": matrices.read_npz,
    "mat": matrices.read_mat,
    "svmlight": matrices.read_svmlight,
    "mtx": matrices.read_mtx,
    "h5ad": matrices.read_h5ad,
    "h5": matrices.read_hdf5,
    "zarr": matrices.read_zarr,
}

_ALIASES = {"tsv": "csv", "txt": "csv", "tab": "csv", "data": "csv", "pq": "parquet", "arrow": "feather"}
_ALIASES |= {"svm": "svmlight", "libsvm": "svmlight", "mm": "mtx", "hdf5": "h5"}
_GZIPPED = {"csv", "arff", "svmlight", "mtx"}
_LINKS = {"must": 0, "must-link": 0, "must_link": 0, "ml": 0, "1": 0}
_LINKS |= {"cannot": 1, "cannot-link": 1, "cannot_link": 1, "cl": 1, "-1": 1}


@dataclass(frozen=True)
class Table:
    """What a file holds.

    Attributes
    ----------
    X : ndarray, memmap, sparse array or Source of shape (n_samples, n_features)
        Missing cells are NaN; see :func:`fill_missing`.
    feature_names : ndarray of str, shape (n_features,)
        Unique; ``x0, x1, ...`` where the file has no names.
    row_ids : ndarray of str or None
    y : ndarray or None
        Labels; unknown ones are NaN among numbers, None among words.
    source : Path
    format : str
    layout : dict
        How the file is laid out, for :func:`write_table`.
    """

    X: Any
    feature_names: np.ndarray
    row_ids: np.ndarray | None
    y: np.ndarray | None
    source: Path
    format: str
    layout: dict[str, Any] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape

    def __repr__(self) -> str:
        n, m = self.shape
        labels = "no labels" if self.y is None else f"{int(known(self.y).sum())} of {n} labels known"
        return f"Table({n} rows x {m} features, {labels}, source={str(self.source)!r})"


def read_table(
    path: str | Path,
    *,
    target: str | int | None = None,
    id_column: str | int | Iterable[str | int] | None = None,
    labels: str | Path | None = None,
    names: str | Path | None = None,
    layer: str | None = None,
    unlabeled: Any = None,
    header: bool = True,
    memory: float | None = None,
) -> Table:
    """Read a table of numbers with its labels.

    Parameters
    ----------
    path : str or Path
        The suffix decides the format; ``.gz`` may follow that of a text format.
    target : str or int, optional
        Column of the labels, by name or by number from 0: a column of a CSV, Parquet, Feather, ARFF, NPY or Matrix
        Market file, a variable of a MAT or NPZ file (``y`` or ``Y`` by default), a column of ``obs`` in h5ad.
        svmlight carries its own.
    id_column : str, int or several, optional
        Columns that are no features; the first one names the rows. A column without a name is taken as one.
    labels : str or Path, optional
        Separate file of labels, see :func:`read_labels`.
    names : str or Path, optional
        Separate file of feature names, one per line.
    layer : str, optional
        Layer of an AnnData file to read in place of X.
    unlabeled : object, optional
        Label that means "unknown"; empty cells, NA, NaN, null and ? do in any case.
    header : bool, default=True
        Whether the first line of a CSV holds the names.
    memory : float, optional
        Bytes X may take. A larger X of a Zarr, HDF5, h5ad or Parquet file stays there, and is read block by block as a
        :class:`fiedler.sources.Source`. NPY is always mapped.

    Returns
    -------
    Table

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from fiedler.io import read_table
    >>> file = Path(tempfile.mkdtemp()) / "flowers.csv"
    >>> _ = file.write_text("plant,length,width,kind\\np1,5.1,3.5,rose\\np2,4.9,NA,\\np3,6.3,3.3,lily\\n")
    >>> table = read_table(file, target="kind", id_column="plant")
    >>> table.X
    array([[5.1, 3.5],
           [4.9, nan],
           [6.3, 3.3]])
    >>> table.feature_names.tolist(), table.row_ids.tolist(), table.y.tolist()
    (['length', 'width'], ['p1', 'p2', 'p3'], ['rose', None, 'lily'])
    """
    path, kind = existing(path), file_format(path)
    if target is not None and labels is not None:
        raise ValueError(f"give a target column or a file of labels, not both: target={target!r}, labels={labels}.")
    ids = [] if id_column is None else [id_column] if isinstance(id_column, (str, int)) else list(id_column)
    found = READERS[kind](Request(path, target, ids, layer, header, float("inf") if memory is None else memory))
    n, m = found.X.shape if len(found.X.shape) == 2 else (0, 0)
    if not n or not m:
        raise ValueError(f"{path} holds no numbers: its matrix has shape {found.X.shape}.")
    if found.X.dtype.kind not in "biuf":
        raise ValueError(f"{path} holds {found.X.dtype}, not real numbers.")
    row_ids = None if found.row_ids is None else np.array([str(v) for v in found.row_ids], dtype=object)
    y = found.y if labels is None else read_labels(labels, row_ids, n)
    y = None if y is None else as_labels(y, unlabeled)
    if y is not None and len(y) != n:
        raise ValueError(f"{path} has {n} rows but {len(y)} labels.")
    feature_names = _unique(_read_names(names, m) if names is not None else found.names, m, path)
    if isinstance(found.X, Source):
        found.X.names = feature_names  # for messages about its values, which are checked as they are read
    return Table(found.X, feature_names, row_ids, y, path, kind, found.layout | {"y": found.y})


def file_format(path: str | Path) -> str:
    """The format a file's name stands for.

    Examples
    --------
    >>> from fiedler.io import file_format
    >>> file_format("counts.tsv.gz"), file_format("news.libsvm")
    ('csv', 'svmlight')
    """
    suffixes = [s[1:].lower() for s in Path(path).suffixes]
    zipped = bool(suffixes) and suffixes[-1] == "gz"
    suffix = (suffixes[-2:-1] if zipped else suffixes[-1:]) or [""]
    kind = _ALIASES.get(suffix[0], suffix[0])
    if kind not in READERS or (zipped and kind not in _GZIPPED):
        known_ones = ", ".join(f".{name}" for name in ("csv", "tsv", *list(READERS)[1:]))
        raise ValueError(
            f"{path}: the format {Path(path).suffix or 'without a suffix'!r} is unknown; use {known_ones}."
        )
    return kind


def existing(path: str | Path) -> Path:
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
    hint = nearest(path.name, siblings, 0.7)
    raise FileNotFoundError(f"there is no file {path}" + (f"; {hint.rstrip()}" if hint else "."))


def fill_missing(table: Table, how: str | None = None) -> Any:
    """X of a table without missing cells: as it is, or with each column's median, mean or zero.

    Parameters
    ----------
    table : Table
    how : {"median", "mean", "zero"}, optional
        By default missing cells are an error that counts them and names their columns. A column without any value is
        filled with 0 and so left without a score.

    Returns
    -------
    X : ndarray or sparse array
        ``table.X`` itself where nothing is missing.
    """
    if isinstance(table.X, Source):
        if how is not None:
            raise ValueError(
                f"{table.source} is read block by block, and --impute {how} needs it as a whole; fill its gaps first, "
                "or give more --memory (memory= in Python)."
            )
        return table.X  # a missing cell is reported when its block is read
    gaps, infinite = _gaps(table.X)
    if infinite.any():
        raise ValueError(f"{table.source}: infinite values in {_some(table.feature_names[infinite])}; replace them.")
    if not gaps.any():
        return table.X
    if how is None:
        count, columns = int(gaps.sum()), _some(table.feature_names[gaps > 0])
        raise ValueError(
            f"{table.source}: {count} missing cell{'s' * (count > 1)} in {columns}; fill them with --impute median "
            "(fill_missing(table, 'median') in Python), or drop those columns."
        )
    from sklearn.impute import SimpleImputer

    strategy = {"median": "median", "mean": "mean", "zero": "constant"}.get(how)
    if strategy is None:
        raise ValueError(f"how must be 'median', 'mean' or 'zero', got {how!r}.")
    X = sp.csc_array(table.X) if sp.issparse(table.X) else table.X
    return SimpleImputer(strategy=strategy, fill_value=0, keep_empty_features=True).fit_transform(X)


def read_labels(path: str | Path, row_ids: np.ndarray | None, n_samples: int) -> list[Any]:
    """Labels from a separate file: one per row, or pairs ``row id or number, label`` for the rows that are labelled.

    Parameters
    ----------
    path : str or Path
        Text with one or two columns, a header allowed, or an NPY file.
    row_ids : ndarray of str, optional
        What the first of two columns refers to; by default row numbers from 0.
    n_samples : int

    Returns
    -------
    labels : list
        One per row; None where the file does not say.
    """
    path = existing(path)
    if path.suffix == ".npy":
        return matrices.load_npy(path).ravel().tolist()
    rows = plain_rows(path)
    width = max((len(cells) for _, cells in rows), default=0)
    if width == 1:
        values = [cells[0] for _, cells in rows]
        if len(values) not in (n_samples, n_samples + 1):
            raise ValueError(f"{path} has {len(values)} labels for {n_samples} rows; write 'row,label' to label a few.")
        return values[len(values) - n_samples :]
    labels: list[Any] = [None] * n_samples
    find = _row_finder(row_ids, n_samples)
    for at, (line, cells) in enumerate(rows):
        if len(cells) != 2:
            raise ValueError(f"{path}: line {line} has {len(cells)} cells; a label file has one or two columns.")
        row = find(cells[0])
        if row is None and at > 0:
            raise ValueError(f"{path}: line {line}: {_no_row(cells[0], row_ids, n_samples)}")
        if row is not None:
            labels[row] = cells[1]
    return labels


def read_pairs(
    path: str | Path, row_ids: np.ndarray | None, n_samples: int, kind: str | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Must-link and cannot-link pairs from a file of two or three columns.

    Parameters
    ----------
    path : str or Path
        Text: two columns of row ids, or of row numbers from 0, and a third that says ``must`` or ``cannot``.
    row_ids : ndarray of str, optional
    n_samples : int
    kind : {"must", "cannot"}, optional
        What pairs without a third column are.

    Returns
    -------
    must_link, cannot_link : ndarray of shape (p, 2)

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from fiedler.io import read_pairs
    >>> file = Path(tempfile.mkdtemp()) / "pairs.csv"
    >>> _ = file.write_text("first,second,link\\n0,3,must\\n1,2,cannot\\n")
    >>> read_pairs(file, None, 4)
    (array([[0, 3]]), array([[1, 2]]))
    """
    path = existing(path)
    pairs: tuple[list, list] = ([], [])
    find = _row_finder(row_ids, n_samples)
    for at, (line, cells) in enumerate(plain_rows(path, blanks=True)):
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
    """Labels as integers, floats or objects, whichever holds them; unknown ones NaN or None.

    Examples
    --------
    >>> from fiedler.io import as_labels
    >>> as_labels(["1", "2", "NA"]), as_labels(["a", "b", "none"], unlabeled="none")
    (array([ 1.,  2., nan]), array(['a', 'b', None], dtype=object))
    """
    cells = np.asarray(values, dtype=object).ravel().tolist()
    marker = None if unlabeled is None else str(unlabeled)
    texts = [None if _unknown(cell, marker) else cell for cell in cells]
    try:
        numbers = np.array([np.nan if cell is None else float(cell) for cell in texts])
    except (TypeError, ValueError):
        return np.array([None if cell is None else str(cell) for cell in texts], dtype=object)
    whole = np.isfinite(numbers).all() and (numbers == np.round(numbers)).all() and (np.abs(numbers) < 2**53).all()
    return numbers.astype(np.int64) if whole else numbers


def known(y: np.ndarray) -> np.ndarray:
    """Which labels are known."""
    return ~np.isnan(y) if y.dtype.kind == "f" else np.array([v is not None for v in y.tolist()])


def _unknown(cell: Any, marker: str | None) -> bool:
    text = "" if cell is None or cell != cell or type(cell).__name__ == "NAType" else str(cell).strip()
    return text in MISSING or (marker is not None and _same(text, marker))


def _same(text: str, marker: str) -> bool:
    try:
        return text == marker or float(text) == float(marker)
    except ValueError:
        return False


def _gaps(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Number of NaN, and whether there is an inf, per column."""
    gaps, infinite = np.zeros(X.shape[1], dtype=np.intp), np.zeros(X.shape[1], dtype=bool)
    with np.errstate(over="ignore", invalid="ignore"):
        finite = X.dtype.kind != "f" or np.isfinite(np.sum(X.data if sp.issparse(X) else X, dtype=np.float64))
    for start in range(0, 0 if finite else X.shape[1], 256):
        columns = slice(start, start + 256)
        block = X[:, columns].toarray() if sp.issparse(X) else X[:, columns]
        gaps[columns], infinite[columns] = np.isnan(block).sum(axis=0), np.isinf(block).any(axis=0)
    return gaps, infinite


def _read_names(path: str | Path, n_features: int) -> list[str]:
    path = existing(path)
    names = [cells[0] for _, cells in plain_rows(path)]
    if len(names) != n_features:
        raise ValueError(f"{path} has {len(names)} names for {n_features} features.")
    return names


def _unique(names: Iterable[str] | None, n_features: int, path: Path) -> np.ndarray:
    names = [f"x{j}" for j in range(n_features)] if names is None else list(map(str, names))
    if len(names) != n_features:
        raise ValueError(f"{path} has {len(names)} feature names for {n_features} features.")
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        what = f"{len(repeated)} feature name{'s' * (len(repeated) > 1)}"
        example = f"the second {repeated[0]!r} is now {repeated[0] + '.1'!r}"
        warnings.warn(f"{path} repeats {what}; {example}.", UserWarning, stacklevel=3)
        names = _numbered(names)
    return np.array(names, dtype=object)


def _numbered(names: list[str]) -> list[str]:
    """Names with .1, .2, ... after the second, third, ... of the same."""
    used: Counter = Counter()
    unique: dict[str, None] = {}
    for name in names:
        new = name
        while new in unique:
            used[name] += 1
            new = f"{name}.{used[name]}"
        unique[new] = None
    return list(unique)


def _row_finder(row_ids: np.ndarray | None, n_samples: int) -> Any:
    if row_ids is None:
        rows = {str(i): i for i in range(n_samples)}
        return rows.get
    counts = Counter(row_ids.tolist())
    repeated = next((row for row, count in counts.items() if count > 1), None)
    if repeated is not None:
        raise ValueError(f"row id {repeated!r} occurs {counts[repeated]} times, so it cannot stand for one row.")
    return {row: i for i, row in enumerate(row_ids.tolist())}.get


def _no_row(cell: str, row_ids: np.ndarray | None, n_samples: int) -> str:
    if row_ids is None:
        return f"{cell!r} is not a row number from 0 to {n_samples - 1}; name an id column to use row ids."
    return f"{cell!r} is not a row id; {nearest(cell, row_ids, 0.6)}".rstrip("; ") + "."


def _some(names: np.ndarray) -> str:
    shown = ", ".join(map(repr, names[:5].tolist())) + (", ..." if len(names) > 5 else "")
    return f"{len(names)} column{'s' * (len(names) > 1)} ({shown})"
