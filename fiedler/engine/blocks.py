"""Columns are the unit of work: functions over blocks of columns, and over blocks of rows, on all allowed cores.

Scores are per feature once the graphs stand, so nothing ever needs all of X in float64 at once. A block is a float64
ndarray of shape (n, b), C-ordered or a view of such an array, or a float64 ``csc_array`` when X is sparse.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..data.arrays import Block, Matrix, as_rows, take_columns
from ..data.memory import slab_bytes, working_bytes
from ..data.source import Source
from ..validation import is_sparse
from .hashing import column_hashes
from .threads import for_each, n_threads

_CACHE = 2**17  # float64 values that stay in a core's own cache
_MANY_ROWS = 2**15  # beyond which no useful width would: then columns are read where they are, or few are copied
_COPIED = 2**20  # float64 values copied at once there
_FEW = 8  # rows that tell most columns from constants
_NEARLY = 1e-10  # relative difference of values that may come from the same numbers, summed in another place


def column_spans(X: np.ndarray | sp.csc_array, cost: float = 1.0) -> list[slice]:
    """All columns in blocks: narrow enough for the cache and for sklearn's ``working_memory``, one per thread at least.

    A score keeps up to eight arrays of a block's size alive in every thread.
    """
    n, m = X.shape
    threads = n_threads(cost * n * m)
    affordable = working_bytes() / (8 * 8 * max(n, 1) * threads)
    # Sparse blocks cost what they store, so they may be as wide as memory allows; dense ones should fit the cache.
    best = 4096 if is_sparse(X) else min(512, max(64, _CACHE // max(n, 1)))
    if not is_sparse(X) and n > _MANY_ROWS:
        best = 512 if _in_place(X) else max(4, _COPIED // n)
    width = int(max(1, min(best, affordable, -(-m // threads))))
    return [slice(start, min(start + width, m)) for start in range(0, m, width)]


def _in_place(X: np.ndarray) -> bool:
    """Whether blocks of X need not be copied: there are many rows, in C order and float64."""
    return len(X) > _MANY_ROWS and X.dtype == np.float64 and X.flags.c_contiguous


def read_block(X: np.ndarray | sp.csc_array, columns: slice) -> Block:
    """One block of columns for :func:`map_columns`, which is not written to."""
    if is_sparse(X) or not _in_place(X):
        return take_columns(X, columns)
    block = X[:, columns]
    block.flags.writeable = False
    return block


def map_columns(
    function: Callable[..., np.ndarray], X: Matrix, cost: float = 1.0, numbered: bool = False
) -> np.ndarray:
    """What ``function(block)`` gives for all blocks, on all allowed cores: one value per column, or rows of values.

    ``cost`` is the number of operations per value of X, which tells whether threads pay. With ``numbered`` the function
    gets the slice of columns as well, if X is in memory.
    """
    if isinstance(X, Source):
        return np.concatenate(X.map(partial(map_columns, function, cost=cost)), axis=-1)
    spans = column_spans(X, cost)
    values: list[Any] = [None] * len(spans)

    def work(place: int) -> None:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            block = read_block(X, spans[place])
            values[place] = function(block, spans[place]) if numbered else function(block)

    for_each(work, range(len(spans)), cost * X.shape[0] * X.shape[1])
    return values[0] if len(values) == 1 else np.concatenate(values, axis=-1)


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


def level_copies(values: np.ndarray, X: Matrix) -> np.ndarray:
    """Values of columns in which identical columns have the same: that of the first of them.

    The same numbers summed elsewhere in a block may differ in the last digit. Only columns whose values are that close
    are looked at; of a source no more than fit one slab.
    """
    order = np.argsort(values, kind="stable")
    with np.errstate(invalid="ignore"):
        ascending, scale = values[order], np.nanmax(np.abs(values), initial=0.0, where=np.isfinite(values))
        near = np.diff(ascending) <= _NEARLY * np.abs(ascending[1:]) + _NEARLY * 1e-3 * scale
    if not near.any():
        return values
    run = np.cumsum(np.r_[True, ~near])  # columns of nearly the same value
    alike = np.r_[near, False] | np.r_[False, near]
    columns = order[alike]
    if isinstance(X, Source) and len(columns) * X.bytes_per_row / X.shape[1] * X.shape[0] > slab_bytes():
        return values
    place = np.argsort(columns, kind="stable")
    columns, run = columns[place], run[alike][place]
    hashes = column_hashes(X, columns)
    _, first, group = np.unique(np.column_stack([run, hashes]), axis=0, return_index=True, return_inverse=True)
    levelled = values.copy()
    levelled[columns] = values[columns[first]][group.ravel()]
    return levelled


def is_constant(F: Block, rows: np.ndarray) -> np.ndarray:
    """Which columns of a block take a single value on the rows of a boolean mask (max == min, no tolerance)."""
    if not rows.any():
        return np.ones(F.shape[1], dtype=bool)
    if is_sparse(F):
        F = F if rows.all() else F.tocsr()[rows].tocsc()
        return _is_constant_sparse(F)
    # Hardly any column is: a few rows settle most of them, and only the rest is looked at as a whole.
    some = F[np.flatnonzero(rows)[:_FEW]]
    still = (some == some[0]).all(axis=0)
    left = np.flatnonzero(still)
    if len(left):
        values = F[:, left] if rows.all() else F[np.ix_(rows, left)]
        still[left] = values.max(axis=0) == values.min(axis=0)
    return still


def _is_constant_sparse(F: sp.csc_array) -> np.ndarray:
    stored = np.diff(F.indptr)
    largest, smallest = np.zeros(F.shape[1]), np.zeros(F.shape[1])
    some = np.flatnonzero(stored)
    if len(some):
        starts, data = F.indptr[some], F.data[: F.indptr[-1]]
        largest[some], smallest[some] = np.maximum.reduceat(data, starts), np.minimum.reduceat(data, starts)
    return (largest == smallest) & ((stored == F.shape[0]) | (largest == 0.0))
