"""Functions over blocks of columns, and over blocks of rows, on all allowed cores.

Once the graphs are built, every score belongs to one feature, so all of X in float64 is never needed at the same time.
A block is a float64 ndarray of shape (n, b), C-ordered or a view of such an array, or a float64 ``csc_array`` if X is
sparse.
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

_CACHE = 2**17  # number of float64 values that fit into the cache of a core
_MANY_ROWS = 2**15  # with more rows no block fits into the cache: columns are read in place, or few are copied
_COPIED = 2**20  # number of float64 values that are then copied at a time
_FEW = 8  # number of rows that show for most columns that they are not constant
_NEARLY = 1e-10  # values with a smaller relative difference may be equal up to the order of summation


def column_spans(X: np.ndarray | sp.csc_array, cost: float = 1.0) -> list[slice]:
    """Blocks of all columns, limited by the cache and by scikit-learn's ``working_memory``; at least one per thread.

    A score uses up to eight arrays of the size of a block in every thread.
    """
    n, m = X.shape
    threads = n_threads(cost * n * m)
    affordable = working_bytes() / (8 * 8 * max(n, 1) * threads)
    # The cost of sparse blocks depends on their stored values, so only memory limits them; dense blocks fit the cache.
    best = 4096 if is_sparse(X) else min(512, max(64, _CACHE // max(n, 1)))
    if not is_sparse(X) and n > _MANY_ROWS:
        best = 512 if _in_place(X) else max(4, _COPIED // n)
    width = int(max(1, min(best, affordable, -(-m // threads))))
    return [slice(start, min(start + width, m)) for start in range(0, m, width)]


def _in_place(X: np.ndarray) -> bool:
    """Whether blocks of X are read without a copy: X has many rows and is C-ordered float64."""
    return len(X) > _MANY_ROWS and X.dtype == np.float64 and X.flags.c_contiguous


def _is_block(X: np.ndarray, columns: slice) -> bool:
    """Whether one block holds all columns, and X already has the form of a block."""
    return columns == slice(0, X.shape[1]) and X.dtype == np.float64 and X.flags.c_contiguous


def read_block(X: np.ndarray | sp.csc_array, columns: slice) -> Block:
    """One block of columns for :func:`map_columns`; it must not be changed."""
    if is_sparse(X) or not (_in_place(X) or _is_block(X, columns)):
        return take_columns(X, columns)
    block = X[:, columns]
    block.flags.writeable = False
    return block


def map_columns(
    function: Callable[..., np.ndarray], X: Matrix, cost: float = 1.0, numbered: bool = False
) -> np.ndarray:
    """The results of ``function(block)`` for all blocks, on all allowed cores: one or several values per column.

    ``cost`` is the number of operations per value of X; it decides whether threads are used. With ``numbered`` the
    function also gets the slice of columns if X is in memory.
    """
    if isinstance(X, Source):
        return np.concatenate(X.map(partial(map_columns, function, cost=cost)), axis=-1)
    spans = column_spans(X, cost)
    values: list[Any] = [None] * len(spans)

    def work(place: int) -> None:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            block = read_block(X, spans[place])
            values[place] = function(block, spans[place]) if numbered else function(block)

    for_each(work, range(len(spans)), cost * X.shape[0] * X.shape[1], "features")
    return values[0] if len(values) == 1 else np.concatenate(values, axis=-1)


def fold_rows(function: Callable[[Any], Any], merge: Callable[[Any, Any], Any], X: Matrix) -> Any:
    """Results of ``function(rows)`` over blocks of rows, merged in the order of the rows, in one pass.

    A block is a float64 ndarray or ``csr_array``. If there is more than one row, there are at least two blocks, so that
    every use tests the merging.
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

    for first in range(0, len(starts), threads):  # only one result per thread is in memory at a time
        batch = starts[first : first + threads]
        for_each(work, batch, float(n) * m)
        for start in batch:
            part = results.pop(start)
            total = part if start == 0 else merge(total, part)
    return total


def level_copies(values: np.ndarray, X: Matrix) -> np.ndarray:
    """Values of columns, in which all identical columns get the value of the first of them.

    Sums of identical columns in different positions of a block may differ in the last digit. Only columns with nearly
    equal values are compared; for a source at most one slab of columns is read.
    """
    order = np.argsort(values, kind="stable")
    with np.errstate(invalid="ignore"):
        ascending, scale = values[order], np.nanmax(np.abs(values), initial=0.0, where=np.isfinite(values))
        near = np.diff(ascending) <= _NEARLY * np.abs(ascending[1:]) + _NEARLY * 1e-3 * scale
    if not near.any():
        return values
    run = np.cumsum(np.r_[True, ~near])  # groups of columns with nearly equal values
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
    """Mask of the columns of a block that are constant on the rows of a mask (max == min, no tolerance)."""
    if not rows.any():
        return np.ones(F.shape[1], dtype=bool)
    if is_sparse(F):
        F = F if rows.all() else F.tocsr()[rows].tocsc()
        return _is_constant_sparse(F)
    # Few columns are constant: a few rows exclude most of them, and only the rest is read completely.
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
