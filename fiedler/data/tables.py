"""Requests to a file, the contents that a reader finds, and the resulting table.

A reader of a format turns a :class:`Request` into :class:`Contents`. The functions below are common to readers and
writers: they find the roles of named columns, and the matrix and the labels among named arrays.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import ParameterError
from ..validation import is_sparse
from ..words import did_you_mean
from .delimited import some
from .features import Groups, Prepared
from .frames import Column
from .label_files import is_known
from .source import Source


@dataclass
class Request:
    """A request to read a file; :func:`read_table` explains the fields.

    Parameters
    ----------
    path : Path
        An existing file.
    target : str or int, optional
        Column, or variable, of the labels.
    ids : list of str or int
        Columns that name the rows.
    layer : str, optional
        Layer of an AnnData.
    header : bool, optional
        Whether the first line holds the names.
    memory : float
        Memory limit for X in bytes; a larger X stays in its file if the format can be read in blocks.
    sheet : str or int, optional
        Sheet of a workbook.
    drop : list of str or int
        Columns to leave out.
    numeric_only : bool
        Whether columns that hold no numbers are left out.
    skip_rows : int, optional
        Number of lines before the table; by default titles above it are found.
    transpose : bool
        Whether the file holds one feature per row.
    lenient : bool
        Whether columns with wrong cells are described instead of being an error.
    categories : list of str or int
        Columns of codes, which are read as categories although they hold numbers; "all" for all features.
    """

    path: Path
    target: str | int | None = None
    ids: list[str | int] = field(default_factory=list)
    layer: str | None = None
    header: bool | None = None
    memory: float = float("inf")
    sheet: str | int | None = None
    drop: list[str | int] = field(default_factory=list)
    numeric_only: bool = False
    skip_rows: int | None = None
    transpose: bool = False
    lenient: bool = False
    categories: list[str | int] = field(default_factory=list)

    @property
    def named(self) -> list[str]:
        """Columns that the caller gave by name; texts that may be numbers are excluded."""
        given = [c for c in (self.target, *self.ids, *self.drop) if isinstance(c, str)]
        return [name for name in given if not name.lstrip("-").isdigit()]


@dataclass
class Contents:
    """The contents of a file, as found by a reader.

    Parameters
    ----------
    X : ndarray, sparse array or Source
        The features; missing cells are NaN.
    names : list of str, optional
        Names of the features.
    y : sequence, optional
        Labels as stored in the file.
    row_ids : sequence, optional
        Names of the rows.
    layout : dict
        Information for the writer of the same format. ``layout["features"]`` are the columns of the file in X, and
        ``layout["left_out"]`` the columns that the caller left out.
    notes : list of str
        Notes for the user about what was guessed.
    groups : Groups, optional
        The features, if some are categories, which have several columns of X.
    columns : list of Column, optional
        All columns that were read as features, also those that are not used, if some hold no numbers.
    wrong : dict
        For each column of numbers with wrong cells a description of the first one.
    """

    X: Any
    names: list[str] | None = None
    y: Any = None
    row_ids: Any = None
    layout: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    groups: Groups | None = None
    columns: list[Column] | None = None
    wrong: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """A table read from a file.

    Parameters
    ----------
    X : ndarray, memmap, sparse array or Source of shape (n_samples, n_columns)
        The features; missing cells are NaN, see :func:`fill_missing`. A category has one 0/1 column per level.
    feature_names : ndarray of str, shape (n_features,)
        Unique names; ``x0, x1, ...`` if the file has no names.
    row_ids : ndarray of str or None
        Names of the rows, if the file has any.
    y : ndarray or None
        Labels; unknown labels are NaN among numbers, and None among words.
    source : Path
        The file.
    format : str
        Name of the format, as returned by :func:`file_format`.
    layout : dict
        Layout of the file for :func:`write_table`.
    groups : Groups or None
        Which columns of X form which feature; None if every feature is one column.
    """

    X: Any
    feature_names: np.ndarray
    row_ids: np.ndarray | None
    y: np.ndarray | None
    source: Path
    format: str
    layout: dict[str, Any] = field(default_factory=dict)
    groups: Groups | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return self.X.shape[0], len(self.feature_names)

    @property
    def prepared(self) -> Prepared:
        """X and its features, as :meth:`fiedler.Problem.read` takes them."""
        return Prepared(self.X, self.groups)

    def names_of_columns(self, mask: np.ndarray) -> list[str]:
        """Names of the features to which some columns of X belong.

        Parameters
        ----------
        mask : ndarray of bool
            Which columns of X.

        Returns
        -------
        names : list of str
            Each name once.
        """
        owner = np.arange(self.X.shape[1]) if self.groups is None else self.groups.owner
        return list(dict.fromkeys(self.feature_names[owner[mask]].tolist()))

    def __repr__(self) -> str:
        n, m = self.shape
        labels = "no labels" if self.y is None else f"{int(is_known(self.y).sum())} of {n} labels known"
        return f"Table({n} rows x {m} features, {labels}, source={str(self.source)!r})"


# -------------------------------------------------------------------- named columns


def roles(names: list[str], request: Request) -> tuple[list[int], int | None, list[int]]:
    """Positions of the features, of the target and of the ids among named columns."""
    target = None if request.target is None else position(request.target, names, request.path)
    ids = [position(column, names, request.path) for column in request.ids]
    # R and pandas write row names in a column without a name.
    ids = ids or [j for j, name in enumerate(names) if name in ("", "__index_level_0__") and j in (0, len(names) - 1)]
    ids = [j for j in ids if j != target]
    others = {target, *ids, *left_out(names, request)}
    features = [j for j in range(len(names)) if j not in others]
    if not features:
        raise ValueError(f"{request.path} has no feature columns except the target and the ids.")
    return features, target, ids


def codes_among(names: list[str], features: list[int], request: Request) -> list[int]:
    """Positions of the features that the caller declares as categories."""
    if request.categories == ["all"] and "all" not in names:
        return features
    places = {position(column, names, request.path) for column in request.categories}
    others = sorted(places - set(features))
    if others:
        raise ValueError(f"{request.path}: column {names[others[0]]!r} is named as a category, but is no feature.")
    return sorted(places)


def left_out(names: list[str], request: Request) -> list[int]:
    """Positions of the columns that the caller leaves out; the target and ids are not allowed."""
    kept = [c for c in (request.target, *request.ids) if c is not None]
    places = {position(column, names, request.path) for column in kept} if request.drop else set()
    dropped = sorted({position(column, names, request.path) for column in request.drop})
    both = next((j for j in dropped if j in places), None)
    if both is not None:
        raise ValueError(f"{request.path}: column {names[both] or both!r} is in drop, and named as target or id.")
    return dropped


def position(column: str | int, names: list[str], path: Path) -> int:
    """The position of a column, by its name or its number (from 0; negative from the end)."""
    if isinstance(column, str):
        where = [j for j, name in enumerate(names) if name == column]
        if len(where) > 1:
            raise ValueError(f"{path} has {len(where)} columns named {column!r}; give its number instead: {where}.")
        if where:
            return where[0]
        if not column.lstrip("-").isdigit():
            some = ", ".join(names[:8]) + (" and others" if len(names) > 8 else "")
            raise ValueError(f"{path} has no column {column!r}; {did_you_mean(column, names, 0.6)}Columns: {some}.")
    number = int(column)
    if not -len(names) <= number < len(names):
        raise ValueError(f"{path} has no column {number}: its {len(names)} columns are numbered from 0.")
    return number % len(names)


# -------------------------------------------------------------------- named arrays


def matrix_name(arrays: dict[str, Any], path: Path) -> str:
    """The name of the matrix: X, x or data, otherwise the only two-dimensional numeric array."""
    matrices = [n for n, a in arrays.items() if getattr(a, "ndim", 0) == 2 and a.dtype.kind in "biuf"]
    named = [n for n in ("X", "x", "data") if n in matrices]
    wide = [n for n in matrices if min(arrays[n].shape) > 1]
    if not named and len(wide) != 1:
        raise ValueError(f"{path} needs one matrix named X; it holds {', '.join(arrays) or 'nothing'}.")
    return (named or wide)[0]


def labels_of(arrays: dict[str, Any], target: str | int | None, path: Path) -> Any:
    """The variable that the caller names as the target; by default y, Y, labels or target."""
    if target is None:
        return next((arrays[name] for name in ("y", "Y", "labels", "target") if name in arrays), None)
    if target not in arrays:
        hint = did_you_mean(str(target), arrays)
        raise ValueError(f"{path} has no variable {target!r}; {hint}Its variables: {', '.join(arrays)}.")
    return arrays[target]


def beside(arrays: dict[str, Any], request: Request) -> tuple[Any, Any, Any]:
    """The labels, the names of the features and the names of the rows, if there are any."""
    return labels_of(arrays, request.target, request.path), arrays.get("feature_names"), arrays.get("row_ids")


def flat(names: Any) -> list[str] | None:
    """Names from an array of text, or from cells of text of MATLAB."""
    if names is None:
        return None
    cells = np.asarray(names).ravel().tolist()
    return [str(c.ravel()[0] if isinstance(c, np.ndarray) and c.size else c).strip() for c in cells]


def without_column(X: Any, request: Request) -> Contents:
    """The contents of a matrix of which one column may be the target."""
    if np.ndim(X) != 2:
        raise ValueError(f"{request.path} holds an array of shape {np.shape(X)}; a table has rows and columns.")
    if request.target is None:
        return Contents(X, layout={"features": list(range(X.shape[1]))})
    target = position(request.target, [str(j) for j in range(X.shape[1])], request.path)
    kept = [j for j in range(X.shape[1]) if j != target]
    names, layout = [f"x{j}" for j in kept], {"features": kept}
    if isinstance(X, Source):
        y = X.unchecked([target])  # an unknown label may be NaN
        y = (y.toarray() if is_sparse(y) else y).ravel()
        return Contents(X.without_column(target), names, y, None, layout)
    y = X[:, [target]].toarray().ravel() if is_sparse(X) else np.array(X[:, target])
    if target in (0, len(kept)):  # a view does not read a memory-mapped file
        return Contents(X[:, 1:] if target == 0 else X[:, :-1], names, y, None, layout)
    return Contents(X[:, kept], names, y, None, layout)


def flipped(found: Contents, path: Path) -> Contents:
    """The contents of a matrix that holds one feature per row, as a table with one row per sample."""
    if isinstance(found.X, Source) or found.groups is not None or found.y is not None:
        raise ParameterError(
            f"{path}: transpose=True needs a matrix of numbers in memory, without a column of labels; give the labels "
            "as a file.",
            parameter="transpose",
            value=True,
        )
    X = sp.csc_array(found.X.T) if is_sparse(found.X) else found.X.T
    names = None if found.row_ids is None else [str(name) for name in found.row_ids]
    return Contents(X, names, None, found.names, {"features": list(range(X.shape[1])), "transposed": True}, found.notes)


def named_arrays(table: Table, selected: np.ndarray) -> dict[str, Any]:
    """The arrays of a reduced table: X, feature_names, and y and row_ids if there are any."""
    arrays = {"X": table.X[:, selected], "feature_names": table.feature_names[selected].astype(str)}
    if table.layout["y"] is not None:  # as in the file, including its marks for unknown labels
        arrays["y"] = np.asarray(table.layout["y"])
    if table.row_ids is not None:
        arrays["row_ids"] = table.row_ids.astype(str)
    return arrays


# -------------------------------------------------------------------- columns that go


def dropped_columns(table: Table, selected: np.ndarray) -> set[int]:
    """Columns of the file that a reduced table leaves out; ids, target and other columns stay."""
    features = table.layout["features"]
    return set(features) - {features[j] for j in selected} | set(table.layout.get("left_out", ()))


def kept_columns(X: Any, table: Table, selected: np.ndarray) -> Any:
    """The columns of the matrix in the file that a reduced table keeps."""
    gone = dropped_columns(table, selected)
    return X[:, [j for j in range(X.shape[1]) if j not in gone]]


# -------------------------------------------------------------------- missing cells


def fill_missing(table: Table, how: str | None = None) -> Any:
    """X of a table without missing cells, filled with the median or mean of each column or with zero if requested.

    Parameters
    ----------
    table : Table
        A table of :func:`read_table`.
    how : {"median", "mean", "zero"}, optional
        How missing cells are filled. By default they raise an error that counts them and names their columns. A column
        without any value is filled with 0 and therefore gets no score. Missing cells of categories stay missing.

    Returns
    -------
    X : ndarray or sparse array
        The filled matrix; ``table.X`` itself if nothing is missing.
    """
    if isinstance(table.X, Source):
        if how is not None:
            raise ParameterError(
                f"{table.source} is read block by block, but how={how!r} needs it in memory; fill missing cells first, "
                "or allow more memory.",
                parameter="how",
                value=how,
                way_out={f"how={how!r}": ("impute", how), "more memory": ("memory", ...)},
            )
        return table.X  # a missing cell is reported when its block is read
    gaps = check_infinite(table)
    if not gaps.any():
        return table.X
    if how is None:
        count, columns = int(gaps.sum()), some(table.names_of_columns(gaps > 0))
        raise ParameterError(
            f"{table.source}: {count} missing cell{'s' * (count > 1)} in {columns}; fill them with "
            "fill_missing(table, 'median'), or drop those columns.",
            parameter="how",
            way_out={"fill_missing(table, 'median')": ("impute", "median")},
        )
    from sklearn.impute import SimpleImputer

    strategy = {"median": "median", "mean": "mean", "zero": "constant"}.get(how)
    if strategy is None:
        raise ValueError(f"how must be 'median', 'mean' or 'zero', got {how!r}.")
    X = sp.csc_array(table.X) if is_sparse(table.X) else table.X
    filled = SimpleImputer(strategy=strategy, fill_value=0, keep_empty_features=True).fit_transform(X)
    return filled if table.groups is None else np.where(table.groups.indicators, table.X, filled)


def check_infinite(table: Table) -> np.ndarray:
    """Raise an error that names the columns with infinite values; otherwise the number of missing cells per column."""
    if isinstance(table.X, Source):
        return np.zeros(table.X.shape[1], dtype=np.intp)
    gaps, infinite = _gaps(table.X)
    if infinite.any():
        columns = some(table.names_of_columns(infinite))
        names = table.names_of_columns(infinite)
        raise ParameterError(
            f"{table.source}: infinite values in {columns}; replace them, or leave them out with drop={names}.",
            parameter="drop",
            way_out={f"drop={names}": ("drop", names)},
        )
    return gaps


def _gaps(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Number of NaN per column, and whether a column contains inf."""
    gaps, infinite = np.zeros(X.shape[1], dtype=np.intp), np.zeros(X.shape[1], dtype=bool)
    with np.errstate(over="ignore", invalid="ignore"):
        finite = X.dtype.kind != "f" or np.isfinite(np.sum(X.data if is_sparse(X) else X, dtype=np.float64))
    for start in range(0, 0 if finite else X.shape[1], 256):
        columns = slice(start, start + 256)
        block = X[:, columns].toarray() if is_sparse(X) else X[:, columns]
        gaps[columns], infinite[columns] = np.isnan(block).sum(axis=0), np.isinf(block).any(axis=0)
    return gaps, infinite
