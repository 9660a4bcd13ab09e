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

from ..data.arrays import Block, Matrix, Rows, as_rows, take_columns
from ..data.memory import slab_bytes, working_bytes
from ..data.source import Source
from ..validation import is_sparse
from .threads import batches, for_each, n_threads

_CACHE = 2**17  # number of float64 values that fit into the cache of a core
_MANY_ROWS = 2**15  # with more rows no block fits into the cache: columns are read in place, or few are copied
_COPIED = 2**20  # number of float64 values that are then copied at a time
_FEW = 8  # number of rows that show for most columns that they are not constant
_HASHED, _SPREAD = 2**18, np.int64(0x1E3779B97F4A7C15)  # values that are hashed at a time; an odd number, bits all over
_NEARLY = 1e-10  # values with a smaller relative difference may be equal up to the order of summation


def read_block(X: np.ndarray | sp.csc_array, columns: slice) -> Block:
    """One block of columns for :func:`map_columns`; it must not be changed.

    It is read without a copy from a C-ordered float64 X with many rows, or if it holds all columns.
    """
    if is_sparse(X) or X.dtype != np.float64 or not X.flags.c_contiguous:
        return take_columns(X, columns)
    if len(X) <= _MANY_ROWS and columns != slice(0, X.shape[1]):
        return take_columns(X, columns)
    block = X[:, columns]
    block.flags.writeable = False
    return block


def map_columns(
    function: Callable[..., np.ndarray], X: Matrix, cost: float = 1.0, numbered: bool = False
) -> np.ndarray:
    """The results of ``function(block)`` for all blocks, on all allowed cores: one or several values per column.

    Blocks are limited by the cache and by scikit-learn's ``working_memory``; there is at least one per thread.
    ``cost`` is the number of operations per value of X; it decides whether threads are used. With ``numbered`` the
    function also gets the slice of columns if X is in memory.
    """
    if isinstance(X, Source):
        return np.concatenate(X.map(partial(map_columns, function, cost=cost)), axis=-1)
    n, m = X.shape
    threads = n_threads(cost * n * m)
    affordable = working_bytes() / (
        8 * 8 * max(n, 1) * threads
    )  # a score uses up to eight arrays of the size of a block
    # The cost of sparse blocks depends on their stored values, so only memory limits them; dense blocks fit the cache.
    best = 4096 if is_sparse(X) else min(512, max(64, _CACHE // max(n, 1)))
    if n > _MANY_ROWS and not is_sparse(X):
        best = 512 if X.dtype == np.float64 and X.flags.c_contiguous else max(4, _COPIED // n)
    spans = batches(m, int(max(1, min(best, affordable, -(-m // threads)))))
    values: list[Any] = [None] * len(spans)

    def work(place: int) -> None:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            block = read_block(X, spans[place])
            values[place] = function(block, spans[place]) if numbered else function(block)

    for_each(work, range(len(spans)), cost * n * m, "features")
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
        stored = np.diff(F.indptr)
        largest, smallest = np.zeros(F.shape[1]), np.zeros(F.shape[1])
        some = np.flatnonzero(stored)
        if len(some):
            starts, data = F.indptr[some], F.data[: F.indptr[-1]]
            largest[some], smallest[some] = np.maximum.reduceat(data, starts), np.minimum.reduceat(data, starts)
        return (largest == smallest) & ((stored == F.shape[0]) | (largest == 0.0))
    # Few columns are constant: a few rows exclude most of them, and only the rest is read completely.
    some = F[np.flatnonzero(rows)[:_FEW]]
    still = (some == some[0]).all(axis=0)
    left = np.flatnonzero(still)
    if len(left):
        values = F[:, left] if rows.all() else F[np.ix_(rows, left)]
        still[left] = values.max(axis=0) == values.min(axis=0)
    return still


# -------------------------------------------------------------------- equal columns, equal rows
# Equal values have equal hashes, and different values almost always different ones. 0.0 and -0.0 are equal, and so
# are a stored zero of a sparse column and one that is not stored.


def _mixed(values: np.ndarray) -> np.ndarray:
    """The mixed bits of float64 values, because integers differ only in the upper bits; 0 stays 0."""
    bits = np.add(values, 0.0, dtype=np.float64, order="C").view(np.int64)  # adding 0 turns -0 into 0
    for shift in (32, 29):
        bits ^= bits >> shift
        bits *= _SPREAD
    return bits


def _factors(number: int) -> np.ndarray:
    """Random odd numbers; products with them lose no bits."""
    return 2 * np.random.default_rng(0).integers(2**62, size=number, dtype=np.int64) + 1


def row_hashes(X: Rows) -> np.ndarray:
    """A number per row of an array in memory, dense or csr."""
    factors, hashes = _factors(X.shape[1]), np.empty(X.shape[0], dtype=np.int64)
    if is_sparse(X):
        return _sums(_mixed(X.data) * factors[X.indices], X.indptr)
    for part in batches(len(X), max(1, _HASHED // max(X.shape[1], 1))):
        hashes[part] = (_mixed(X[part]) * factors).sum(axis=1)
    return hashes


def column_hashes(X: Matrix, columns: np.ndarray) -> np.ndarray:
    """A number for each of some columns, in any storage."""
    factors, hashes = _factors(X.shape[0]), np.empty(len(columns), dtype=np.int64)
    for part in batches(len(columns), max(1, int(working_bytes() / (8 * 8 * max(X.shape[0], 1))))):
        block = take_columns(X, columns[part])
        if is_sparse(block):
            hashes[part] = _sums(_mixed(block.data) * factors[block.indices], block.indptr)
        else:
            hashes[part] = np.sum(_mixed(block) * factors[:, None], axis=0)
    return hashes


def _sums(values: np.ndarray, indptr: np.ndarray) -> np.ndarray:
    """Sums over the rows of a csr array, or the columns of a csc array."""
    return np.diff(np.insert(np.cumsum(values), 0, 0)[indptr])


def different_rows(X: Rows) -> tuple[np.ndarray, np.ndarray]:
    """First occurrence of every different row, in order, and for each row the number of the one it equals."""
    first, group = first_of_equal(row_hashes(X))
    twins = first[group]
    other = np.flatnonzero(twins != np.arange(X.shape[0]))
    if is_sparse(X):
        equal = not (X[other] - X[twins[other]]).count_nonzero()
    else:
        parts = batches(len(other), max(1, _HASHED // max(X.shape[1], 1)))
        equal = all(bool((X[other[part]] == X[twins[other[part]]]).all()) for part in parts)
    if not equal:  # a collision, once in 10^19 pairs
        rows = np.ascontiguousarray((X.toarray() if is_sparse(X) else X) + 0.0)
        return first_of_equal(rows.view(np.dtype((np.void, rows.shape[1] * rows.itemsize))).ravel())
    return first, group


def first_of_equal(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First position of each different value, ascending, and for each entry the number of the value it equals.

    Examples
    --------
    >>> first_of_equal(np.array([7, 3, 7, 9]))
    (array([0, 1, 3]), array([0, 1, 0, 2]))
    """
    _, first, group = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(first), dtype=np.intp)
    rank[order] = np.arange(len(first))
    return first[order], rank[group.ravel()]
