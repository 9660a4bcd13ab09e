"""Columns are the unit of work: functions over blocks of columns, and over blocks of rows, on all allowed cores.

Scores are per feature once the graphs stand, so nothing ever needs all of X in float64 at once. A block is a C-ordered
float64 ndarray of shape (n, b), or a float64 ``csc_array`` when X is sparse.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..data.arrays import Block, Matrix, as_rows, take_columns
from ..data.memory import working_bytes
from ..data.source import Source
from ..validation import is_sparse
from .threads import for_each, n_threads

_CACHE = 2**17  # float64 values that stay in a core's own cache


def column_spans(X: np.ndarray | sp.csc_array) -> list[slice]:
    """All columns in blocks: narrow enough for the cache and for sklearn's ``working_memory``, one per thread at least.

    A score keeps up to eight arrays of a block's size alive in every thread.
    """
    n, m = X.shape
    threads = n_threads(float(n) * m)
    affordable = working_bytes() / (8 * 8 * max(n, 1) * threads)
    # Sparse blocks cost what they store, so they may be as wide as memory allows; dense ones should fit the cache.
    best = 4096 if is_sparse(X) else min(512, max(64, _CACHE // max(n, 1)))
    width = int(max(1, min(best, affordable, -(-m // threads))))
    return [slice(start, min(start + width, m)) for start in range(0, m, width)]


def map_columns(function: Callable[[Any], np.ndarray], X: Matrix) -> np.ndarray:
    """One value per column of X: ``function(block)`` over all blocks, on all allowed cores."""
    if isinstance(X, Source):
        return np.concatenate(X.map(partial(map_columns, function)))
    values = np.empty(X.shape[1])

    def work(columns: slice) -> None:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            values[columns] = function(take_columns(X, columns))

    for_each(work, column_spans(X), float(X.shape[0]) * X.shape[1])
    return values


def fold_rows(function: Callable[[Any], Any], merge: Callable[[Any, Any], Any], X: Matrix) -> Any:
    """``function(rows)`` over blocks of whole rows, merged pairwise in the order of the rows: one pass, map-reduce.

    A block is a float64 ndarray or ``csr_array``; at least two of them exist for more than one row, so that whatever
    is merged is tested by every use.
    """
    if isinstance(X, Source):
        return X.fold_rows(partial(fold_rows, function, merge), merge)
    n, m = X.shape
    by_rows = sp.csr_array(X) if is_sparse(X) else X
    step = max(1, min(-(-n // 2), int(working_bytes() / (8 * 8 * max(m, 1) * n_threads()))))
    starts, threads, total = range(0, n, step), n_threads(float(n) * m), None
    results: dict[int, Any] = {}

    def work(start: int) -> None:
        results[start] = function(as_rows(by_rows[start : start + step]))

    for first in range(0, len(starts), threads):  # as many results as threads are held, however many blocks there are
        batch = starts[first : first + threads]
        for_each(work, batch, float(n) * m)
        for start in batch:
            part = results.pop(start)
            total = part if start == 0 else merge(total, part)
    return total


def is_constant(F: Block, rows: np.ndarray) -> np.ndarray:
    """Which columns of a block take a single value on the rows of a boolean mask (max == min, no tolerance)."""
    if not rows.any():
        return np.ones(F.shape[1], dtype=bool)
    if is_sparse(F):
        F = F if rows.all() else F.tocsr()[rows].tocsc()
        return np.asarray(F.max(axis=0).todense() == F.min(axis=0).todense()).ravel()
    F = F if rows.all() else F[rows]
    return F.max(axis=0) == F.min(axis=0)
