"""Hashes of rows and columns: equal values have equal hashes, and different values almost always different ones.

0.0 and -0.0 are equal, and so are a stored zero of a sparse column and one that is not stored.
"""

from __future__ import annotations

import numpy as np

from ..data.arrays import Matrix, Rows, take_columns
from ..data.memory import working_bytes
from ..validation import is_sparse

_AT_ONCE = 2**18  # number of values that are hashed at a time
_SPREAD = np.int64(0x1E3779B97F4A7C15)  # odd, with bits all over


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
    step = max(1, _AT_ONCE // max(X.shape[1], 1))
    for start in range(0, len(X), step):
        hashes[start : start + step] = (_mixed(X[start : start + step]) * factors).sum(axis=1)
    return hashes


def column_hashes(X: Matrix, columns: np.ndarray) -> np.ndarray:
    """A number for each of some columns, in any storage."""
    factors, hashes = _factors(X.shape[0]), np.empty(len(columns), dtype=np.int64)
    step = max(1, int(working_bytes() / (8 * 8 * max(X.shape[0], 1))))
    for start in range(0, len(columns), step):
        block = take_columns(X, columns[start : start + step])
        if is_sparse(block):
            found = _sums(_mixed(block.data) * factors[block.indices], block.indptr)
        else:
            found = np.sum(_mixed(block) * factors[:, None], axis=0)
        hashes[start : start + step] = found
    return hashes


def _sums(values: np.ndarray, indptr: np.ndarray) -> np.ndarray:
    """Sums over the rows of a csr array, or the columns of a csc array."""
    return np.diff(np.insert(np.cumsum(values), 0, 0)[indptr])


def different_rows(X: Rows) -> tuple[np.ndarray, np.ndarray]:
    """First occurrence of every different row, in order, and for each row the number of the one it equals."""
    first, group = first_of_equal(row_hashes(X))
    if not _all_equal(X, first[group]):  # a collision, once in 10^19 pairs
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


def _all_equal(X: Rows, twins: np.ndarray) -> bool:
    """Whether each row equals its twin."""
    other = np.flatnonzero(twins != np.arange(X.shape[0]))
    if is_sparse(X):
        return not (X[other] - X[twins[other]]).count_nonzero()
    step = max(1, _AT_ONCE // max(X.shape[1], 1))
    parts = (other[start : start + step] for start in range(0, len(other), step))
    return all(bool((X[part] == X[twins[part]]).all()) for part in parts)
