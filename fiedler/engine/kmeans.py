"""Anchors: their choice, the nearest anchors of a row, and their weights.

Candidates come from one matrix product, in single precision if it separates the anchors. The choice among candidates
and the weights are computed from the differences of values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..data.arrays import Rows
from ..data.work import counting
from ..validation import is_sparse
from .blocks import different_rows
from .distances import rounding_error
from .smallest import closest, within_reach

_ROUNDS = 3  # iterations of k-means
_MANY_ROWS_PER_ANCHOR = 4  # with at least this many, an anchor with a single row is an outlier
_DENSE_VALUES = 2**24  # largest dense anchors; otherwise rows of a sparse X are the anchors
_AT_ONCE = 2**20  # number of distances, or values of rows, in memory at a time: 8 MiB
_PIECE, _SINGLE_UP_TO, _MANY_CANDIDATES = 1024, 1e30, 4  # columns, squared norms and candidates in single precision
_SMALLEST_WEIGHT = 1e-280  # 1 / s_a stays finite


def choose_anchors(sample: Rows, wanted: int, least: int, rng: np.random.Generator) -> Rows:
    """Centres of a few k-means iterations that start from different rows of the sample.

    If there are many rows, an anchor with a single row is dropped, as long as ``least`` anchors remain. This row is an
    outlier and would be linked only to itself; features in which it is extreme would then look smooth.
    """
    first, group = different_rows(sample)
    distinct: Any = sample[first]
    count = np.bincount(group).astype(np.float64)
    enough = len(count) > wanted
    U: Any = distinct[np.sort(rng.choice(len(count), wanted, replace=False))] if enough else distinct
    if is_sparse(distinct):
        if U.shape[0] * U.shape[1] > _DENSE_VALUES:
            return U
        U = U.toarray()
    if enough:
        U, size = k_means(distinct, U, lambda V: AnchorMap(V, 1, 0.0).nearest(distinct)[0].ravel(), _ROUNDS, count)
        if sample.shape[0] >= _MANY_ROWS_PER_ANCHOR * wanted:
            largest = np.argsort(-size, kind="stable")
            U = U[largest[: max(least, np.count_nonzero(size > 1))]]
    return np.unique(U, axis=0)


def k_means(
    rows: Rows, centres: np.ndarray, nearest: Callable[[np.ndarray], np.ndarray], n_rounds: int, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """A few iterations of Lloyd's algorithm: the centres, and the number of rows of each in the last iteration.

    ``nearest(centres)`` gives the nearest centre of every row, ``counts`` the multiplicity of each row. A centre
    without rows does not move.
    """
    with counting("rounds of k-means", n_rounds) as count:
        for _ in range(n_rounds):
            near = nearest(centres)
            member = sp.csr_array((counts, near, np.arange(len(near) + 1)), shape=(len(near), len(centres)))
            sizes, total = np.bincount(near, counts, len(centres)), member.T @ rows
            total = total.toarray() if is_sparse(total) else total
            centres = np.where(sizes[:, None] > 0, total / np.maximum(sizes, 1.0)[:, None], centres)
            count()
    return centres, sizes


class AnchorMap:
    """Function from a block of rows to Z: their weights at the anchors, as a csr array whose rows sum to 1.

    Parameters
    ----------
    U : ndarray or csr_array of shape (s, m)
        The anchors.
    k : int
    origin : ndarray of shape (m,)
        A typical row, which is subtracted before sums over rows are taken.
    bandwidth : float, default=1.0
    """

    def __init__(self, U: Rows, k: int, origin: Any, bandwidth: float = 1.0):
        self.n_anchors, self.k = U.shape[0], min(k, U.shape[0])
        self.origin, self.bandwidth = origin, bandwidth
        # Distances come from a product of centred rows, which is accurate at large offsets.
        self._U, self._centre = U, None if is_sparse(U) else U.mean(axis=0)

    def __call__(self, rows: Rows) -> sp.csr_array:
        found, squared = self.nearest(rows)
        squared -= squared.min(axis=1, keepdims=True)  # otherwise the weights of a distant row could underflow to 0 / 0
        z = np.exp(squared / (-2.0 * self.bandwidth**2))
        z /= z.sum(axis=1, keepdims=True)
        z[z < _SMALLEST_WEIGHT] = 0.0
        Z = sp.csr_array(
            (z.ravel(), found.ravel(), np.arange(0, z.size + 1, self.k)), shape=(rows.shape[0], self.n_anchors)
        )
        Z.sort_indices()
        Z.eliminate_zeros()
        return Z

    def nearest(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Indices (n, k) of the nearest anchors, and their squared distances; ties go to the smaller index."""
        n, m = rows.shape
        found, squared = np.empty((n, self.k), dtype=np.int32), np.empty((n, self.k))
        # A sparse block is not centred, because its zeros are close to its other values.
        U = self._U if self._centre is None or is_sparse(rows) else self._U - self._centre
        norms = _row_norms(U)
        step = max(1, min(_AT_ONCE // self.n_anchors, _AT_ONCE // m))
        for start in range(0, n, step):
            part = slice(start, min(start + step, n))
            V = rows[part] if is_sparse(rows) else rows[part] - self._centre
            own = _row_norms(V)
            single = not is_sparse(V) and max(own.max(), norms.max()) < _SINGLE_UP_TO
            i, j = _candidates(V, U, own, norms, self.k, np.float32 if single else np.float64)
            if single and len(i) > _MANY_CANDIDATES * self.k * len(own):  # single precision does not separate anchors
                i, j = _candidates(V, U, own, norms, self.k, np.float64)
            # The choice uses differences of the original values, so that dense and sparse rows give the same result.
            apart = _squared_distances(rows[part], i, self._U, j)
            if len(i) > self.k * V.shape[0]:
                kept = closest(i, j, apart, np.zeros_like(i), self.k)
                j, apart = j[kept], apart[kept]
            found[part], squared[part] = j.reshape(-1, self.k), apart.reshape(-1, self.k)
        return found, squared


def _candidates(V: Any, U: Any, own: np.ndarray, norms: np.ndarray, k: int, dtype: Any) -> tuple[np.ndarray, ...]:
    """(row, anchor) of all candidates for the k nearest anchors, given the error bound of the product."""
    m = U.shape[1]
    if is_sparse(V):
        key = V @ U.T
        key = key.toarray() if is_sparse(key) else key
    else:  # in pieces of columns, which bounds the error in single precision
        key = np.zeros((len(own), len(norms)), dtype=dtype)
        for piece in (slice(start, start + _PIECE) for start in range(0, m, _PIECE)):
            key += V[:, piece].astype(dtype, copy=False) @ U[:, piece].T.astype(dtype, copy=False)
    np.subtract((norms / 2.0).astype(key.dtype), key, out=key)  # half the squared distance minus ‖v_i‖² / 2
    error = rounding_error(m, _PIECE, key.dtype == np.float32) / 2.0
    return within_reach(key, error * own, error * norms, k, False)


def _squared_distances(V: Any, i: np.ndarray, U: Any, j: np.ndarray) -> np.ndarray:
    squared, step = np.empty(len(i)), max(1, 2**18 // V.shape[1])
    for start in range(0, len(i), step):
        part = slice(start, start + step)
        v, u = V[i[part]], U[j[part]]
        squared[part] = _row_norms(v - u if is_sparse(v) == is_sparse(u) else v.toarray() - u)
    return squared


def _row_norms(V: Rows) -> np.ndarray:
    return V.multiply(V).sum(axis=1) if is_sparse(V) else np.einsum("ij,ij->i", V, V)
