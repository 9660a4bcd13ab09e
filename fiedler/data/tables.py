"""What is asked of a file and what it holds: a request, its columns' roles, and the table that comes out."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..validation import is_sparse
from ..words import did_you_mean
from .labels import is_known
from .source import Source


@dataclass
class Request:
    """What the caller asks of a file."""

    path: Path
    target: str | int | None
    ids: list[str | int]
    layer: str | None
    header: bool | None
    memory: float = float("inf")  # bytes a matrix may take; a larger one stays in its file
    sheet: str | int | None = None
    drop: list[str | int] = field(default_factory=list)
    numeric_only: bool = False

    @property
    def named(self) -> list[str]:
        """Columns the caller names; what may be a number is none of them."""
        given = [c for c in (self.target, *self.ids, *self.drop) if isinstance(c, str)]
        return [name for name in given if not name.lstrip("-").isdigit()]


@dataclass
class Found:
    """What a reader found; ``layout`` is what the writer of the same format needs.

    ``layout["features"]`` and ``layout["left_out"]`` are columns of the file: those X holds, and those that the caller
    left out of the table.
    """

    X: Any
    names: list[str] | None = None
    y: Any = None
    row_ids: Any = None
    layout: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)  # what was guessed, for the user to know


@dataclass(frozen=True)
class Table:
    """What a file holds.

    Parameters
    ----------
    X : ndarray, memmap, sparse array or Source of shape (n_samples, n_features)
        Missing cells are NaN; see :func:`fill_missing`.
    feature_names : ndarray of str, shape (n_features,)
        Unique; ``x0, x1, ...`` where the file has no names.
    row_ids : ndarray of str or None
        Names of the rows, where the file has any.
    y : ndarray or None
        Labels; unknown ones are NaN among numbers, None among words.
    source : Path
        The file.
    format : str
        As :func:`file_format` calls it.
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
        """Rows and features."""
        return self.X.shape

    def __repr__(self) -> str:
        n, m = self.shape
        labels = "no labels" if self.y is None else f"{int(is_known(self.y).sum())} of {n} labels known"
        return f"Table({n} rows x {m} features, {labels}, source={str(self.source)!r})"


def roles(names: list[str], request: Request) -> tuple[list[int], int | None, list[int]]:
    """Positions of the features, of the target and of the ids among named columns."""
    target = None if request.target is None else position(request.target, names, request.path)
    ids = [position(column, names, request.path) for column in request.ids]
    # R and pandas write row names as a column without a name.
    ids = ids or [j for j, name in enumerate(names) if name in ("", "__index_level_0__") and j in (0, len(names) - 1)]
    ids = [j for j in ids if j != target]
    others = {target, *ids, *left_out(names, request)}
    features = [j for j in range(len(names)) if j not in others]
    if not features:
        raise ValueError(f"{request.path} has no feature columns beside the target and the ids.")
    return features, target, ids


def left_out(names: list[str], request: Request) -> list[int]:
    """Positions of the columns the caller leaves out; neither the target nor an id can be."""
    kept = [c for c in (request.target, *request.ids) if c is not None]
    places = {position(column, names, request.path) for column in kept} if request.drop else set()
    dropped = sorted({position(column, names, request.path) for column in request.drop})
    both = next((j for j in dropped if j in places), None)
    if both is not None:
        raise ValueError(f"{request.path}: column {names[both] or both!r} is in drop, and named as target or id.")
    return dropped


def position(column: str | int, names: list[str], path: Path) -> int:
    """Where a column stands, by its name or its number (from 0; negative from the end)."""
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


def fill_missing(table: Table, how: str | None = None) -> Any:
    """X of a table without missing cells: as it is, or with each column's median, mean or zero.

    Parameters
    ----------
    table : Table
        As :func:`read_table` gives it.
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
                f"{table.source} is read block by block, and how={how!r} needs it as a whole; fill its gaps first, or "
                "give more memory."
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
            f"{table.source}: {count} missing cell{'s' * (count > 1)} in {columns}; fill them with "
            "fill_missing(table, 'median'), or drop those columns."
        )
    from sklearn.impute import SimpleImputer

    strategy = {"median": "median", "mean": "mean", "zero": "constant"}.get(how)
    if strategy is None:
        raise ValueError(f"how must be 'median', 'mean' or 'zero', got {how!r}.")
    X = sp.csc_array(table.X) if is_sparse(table.X) else table.X
    return SimpleImputer(strategy=strategy, fill_value=0, keep_empty_features=True).fit_transform(X)


def _gaps(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Number of NaN, and whether there is an inf, per column."""
    gaps, infinite = np.zeros(X.shape[1], dtype=np.intp), np.zeros(X.shape[1], dtype=bool)
    with np.errstate(over="ignore", invalid="ignore"):
        finite = X.dtype.kind != "f" or np.isfinite(np.sum(X.data if is_sparse(X) else X, dtype=np.float64))
    for start in range(0, 0 if finite else X.shape[1], 256):
        columns = slice(start, start + 256)
        block = X[:, columns].toarray() if is_sparse(X) else X[:, columns]
        gaps[columns], infinite[columns] = np.isnan(block).sum(axis=0), np.isinf(block).any(axis=0)
    return gaps, infinite


def _some(names: np.ndarray) -> str:
    shown = ", ".join(map(repr, names[:5].tolist())) + (", ..." if len(names) > 5 else "")
    return f"{len(names)} column{'s' * (len(names) > 1)} ({shown})"
