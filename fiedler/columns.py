"""Columns are the unit of work: X is read in blocks of columns, each a float64 piece of bounded size.

Scores are per feature once the graphs stand, so nothing ever needs all of X in float64 at once. A block is a C-ordered
float64 ndarray of shape (n, b), or a float64 ``csc_array`` when X is sparse. Validation goes through the same blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import get_config
from sklearn.utils import check_array

from ._threads import for_each, n_threads
from .sources import Source, as_source

_CACHE = 2**17  # float64 values that stay in a core's own cache


def validate_X(X: Any, column_names: Any = None) -> np.ndarray | sp.csc_array | Source:
    """Check a numeric matrix once and return it as an ndarray or a csc array, without changing its dtype.

    What does not live in memory becomes a :class:`fiedler.sources.Source`, whose values are checked as they are read.

    Parameters
    ----------
    X : array-like, frame or sparse matrix of shape (n_samples, n_features)
        Any real dtype. The values are not copied unless the container demands it, and never modified.
    column_names : array-like of str, optional
        Used to name an offending column in the error message; frames bring their own.
    """
    source = as_source(X)  # before anything asks for its values
    if source is not None:
        return _validate_source(source, column_names)
    names = column_names if column_names is not None else getattr(X, "columns", None)
    try:
        checked = check_array(
            X, accept_sparse=("csc", "csr", "coo"), dtype="numeric", ensure_all_finite=False, ensure_min_samples=2
        )
        if checked.dtype.kind not in "biuf":  # lists of objects and dates pass the check above
            checked = checked.astype(np.float64)
    except (ValueError, TypeError) as error:
        culprit = _text_column(X)
        if culprit is None:
            raise
        j, value = culprit
        raise type(error)(
            f"X must be numeric, but column {_name(names, j)} holds {value!r} ({error}); encode or drop that column."
        ) from error
    if sp.issparse(checked):
        checked = sp.csc_array(checked)
        if not checked.has_canonical_format:
            checked = checked.copy()  # the constructor above may share the caller's arrays
            checked.sum_duplicates()
    _check_finite(checked, names)
    return checked


def column_spans(X: np.ndarray | sp.csc_array) -> list[slice]:
    """All columns in blocks: narrow enough for the cache and for sklearn's ``working_memory``, one per thread at least.

    A score keeps up to eight arrays of a block's size alive in every thread.
    """
    n, m = X.shape
    threads = n_threads(float(n) * m)
    affordable = get_config()["working_memory"] * 2**20 / (8 * 8 * max(n, 1) * threads)
    # Sparse blocks cost what they store, so they may be as wide as memory allows; dense ones should fit the cache.
    best = 4096 if sp.issparse(X) else min(512, max(64, _CACHE // max(n, 1)))
    width = int(max(1, min(best, affordable, -(-m // threads))))
    return [slice(start, min(start + width, m)) for start in range(0, m, width)]


def map_columns(function: Callable[[Any], np.ndarray], X: np.ndarray | sp.csc_array | Source) -> np.ndarray:
    """One value per column of X: ``function(block)`` over all blocks, on all allowed cores."""
    if isinstance(X, Source):
        return np.concatenate(X.map(partial(map_columns, function)))
    values = np.empty(X.shape[1])

    def work(columns: slice) -> None:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            values[columns] = function(take_columns(X, columns))

    for_each(work, column_spans(X), float(X.shape[0]) * X.shape[1])
    return values


def fold_rows(
    function: Callable[[Any], Any], merge: Callable[[Any, Any], Any], X: np.ndarray | sp.csc_array | Source
) -> Any:
    """``function(rows)`` over blocks of whole rows, merged pairwise in the order of the rows: one pass, map-reduce.

    A block is a float64 ndarray or ``csr_array``; at least two of them exist for more than one row, so that whatever
    is merged is tested by every use.
    """
    if isinstance(X, Source):
        return X.fold_rows(partial(fold_rows, function, merge), merge)
    n, m = X.shape
    X = sp.csr_array(X) if sp.issparse(X) else X
    step = max(1, min(-(-n // 2), int(get_config()["working_memory"] * 2**20 / (8 * 8 * max(m, 1) * n_threads()))))
    starts, threads, total = range(0, n, step), n_threads(float(n) * m), None
    results: dict[int, Any] = {}

    def work(start: int) -> None:
        rows = X[start : start + step]
        results[start] = function(
            sp.csr_array(rows, dtype=np.float64) if sp.issparse(rows) else np.array(rows, dtype=np.float64, order="C")
        )

    for first in range(0, len(starts), threads):  # as many results as threads are held, however many blocks there are
        batch = starts[first : first + threads]
        for_each(work, batch, float(n) * m)
        for start in batch:
            part = results.pop(start)
            total = part if start == 0 else merge(total, part)
    return total


def rows_of(X: np.ndarray | sp.csc_array | Source, rows: np.ndarray) -> Any:
    """Some rows of X, as the same kind of thing."""
    if isinstance(X, Source):
        return X.take_rows(rows)
    return sp.csc_array(X.tocsr()[rows]) if sp.issparse(X) else X[rows]


def take_columns(X: np.ndarray | sp.csc_array | Source, columns: Any) -> np.ndarray | sp.csc_array:
    """One block of columns in float64."""
    block = X[:, columns]
    return sp.csc_array(block, dtype=np.float64) if sp.issparse(block) else np.array(block, dtype=np.float64, order="C")


def dense(F: np.ndarray | sp.csc_array) -> np.ndarray:
    """A block as an ndarray; blocks are small, X as a whole never comes here."""
    return F.toarray(order="C") if sp.issparse(F) else F


def take_rows(F: np.ndarray | sp.csc_array, rows: np.ndarray) -> np.ndarray:
    """The given rows of a block, as an ndarray."""
    return F.tocsr()[rows].toarray() if sp.issparse(F) else F[rows]


def is_constant(F: np.ndarray | sp.csc_array, rows: np.ndarray) -> np.ndarray:
    """Which columns of a block take a single value on the rows of a boolean mask (max == min, no tolerance)."""
    if not rows.any():
        return np.ones(F.shape[1], dtype=bool)
    if sp.issparse(F):
        F = F if rows.all() else F.tocsr()[rows].tocsc()
        return np.asarray(F.max(axis=0).todense() == F.min(axis=0).todense()).ravel()
    F = F if rows.all() else F[rows]
    return F.max(axis=0) == F.min(axis=0)


def _validate_source(source: Source, column_names: Any) -> Source:
    n, m = source.shape
    if n < 2 or m < 1:
        raise ValueError(f"{source.label} has shape {source.shape}; at least 2 rows and 1 column are required.")
    if column_names is not None:
        source.names = column_names
    return source


def _check_finite(X: np.ndarray | sp.csc_array, names: Any) -> None:
    values = X.data if sp.issparse(X) else X
    if values.dtype.kind != "f":
        return
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(np.sum(values, dtype=np.float64)):  # one pass, no temporary, true for nearly all data
            return
    bad = []
    for columns in column_spans(X):
        finite = ~np.isfinite(dense(take_columns(X, columns)))
        bad += [(columns.start + j, finite[:, j]) for j in np.flatnonzero(finite.any(axis=0))]
    if not bad:  # the sum overflowed, the values are fine
        return
    j, mask = bad[0]
    value = dense(take_columns(X, slice(j, j + 1)))[mask][0, 0]
    kind = "NaN" if np.isnan(value) else "inf"
    more = f" and {len(bad) - 1} other column{'s' * (len(bad) > 2)}" if len(bad) > 1 else ""
    raise ValueError(
        f"X contains {kind} in column {_name(names, j)} ({int(mask.sum())} rows){more}; "
        "impute or drop it first, for example with sklearn.impute.SimpleImputer in a Pipeline."
    )


def _text_column(X: Any) -> tuple[int, Any] | None:
    """The first column that cannot be read as numbers, with the value at fault."""
    columns = getattr(X, "columns", None)
    if columns is not None:
        cells = [np.asarray(X[c], dtype=object) for c in columns]
    else:
        cells = list(np.asarray(X, dtype=object).T) if not sp.issparse(X) and np.ndim(X) == 2 else []
    for j, column in enumerate(cells):
        for value in column:
            if isinstance(value, complex):
                return None  # sklearn's own message about complex data is the right one
            try:
                float(value)
            except (TypeError, ValueError):
                return j, value
    return None


def _name(names: Any, j: int) -> str:
    return f"{names[j]!r}" if names is not None and isinstance(names[j], str) else str(j)
