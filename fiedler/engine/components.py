"""The leading principal components of the rows of X, by a randomised block Krylov method with centred columns.

    A = X̃ X̃',  X̃ = X - 1 mean',   Q = orthonormal basis of [A Y, A² Y, ...],   Q'A Q = V Λ V',   components = Q V Λ^½

(Halko, Martinsson, Tropp, "Finding structure with randomness", SIAM Review 53, 2011; Musco, Musco, "Randomized block
Krylov methods", NIPS 2015.) A Y is a sum over the columns of X, so every block is one pass over X. Sparse columns are
centred by means of their sums and stay sparse. The random start Y is seeded: equal data give equal components.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import scipy.sparse as sp

from ..data.arrays import Matrix
from ..data.source import Part, Source
from ..data.work import counting
from ..validation import is_sparse
from .products import budget, centred_pieces, check_range, scaled_rows
from .threads import for_each, n_threads, one_blas_thread

_SPARE = 10  # columns of Y beyond the wanted components: these converge faster
_PASSES = 16  # largest number of passes over X
_SETTLED = 1e-7  # relative change of the variance in the leading components after which no more passes are made


def leading_components(
    X: Matrix | sp.csr_array, number: int, passes: int = _PASSES, scale: np.ndarray | None = None
) -> np.ndarray:
    """Coordinates (n, number) of the rows in the principal components with the largest variance, in float64.

    There are at most min(n - 1, m) components. If ``number`` is larger, all of them are returned. At most ``passes``
    passes over X are made. The rows of a sparse source may be multiplied by ``scale``.
    """
    n, m = X.shape
    most = min(n - 1, m)
    number = min(number, most)
    width = min(number + _SPARE, most)
    room = max(2, 2 * budget() // (n * width))  # blocks that fit into the memory budget
    with counting("components", passes) as count:
        with np.errstate(over="ignore", invalid="ignore"):
            Z = times_gram(X, np.random.default_rng(0).standard_normal((n, width)), scale)
        if not np.isfinite(Z).all():
            check_range(sp.csc_array(X) if is_sparse(X) else X, np.arange(m))
        Q = block = _orthonormal(Z)
        H, before = np.zeros((0, 0)), 0.0
        for left in reversed(range(passes - 1)):
            count()
            Z = times_gram(X, block, scale)
            with one_blas_thread(float(n) * Q.shape[1] * width):
                border = Q.T @ Z
                H = np.block([[H, border[: len(H)]], [border[: len(H)].T, border[len(H) :]]])
                variance = float(np.linalg.eigvalsh(H)[-number:].sum())
                if variance - before <= _SETTLED * variance or Q.shape[1] == most or not left:
                    break
                before = variance
                if Q.shape[1] >= room * width:  # starts again from the best directions so far
                    Q = block = _orthonormal(Q @ _eigenpairs(H, width)[1])
                    H, before = np.zeros((0, 0)), 0.0
                else:
                    block = _orthonormal(Z, Q, most - Q.shape[1])
                    Q = np.hstack([Q, block])
    values, vectors = _eigenpairs(H, number)
    return Q @ (vectors * np.sqrt(values))


def _eigenpairs(H: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
    """The largest eigenvalues, in descending order, and their eigenvectors."""
    values, vectors = np.linalg.eigh(H)
    return np.maximum(values[::-1][:number], 0.0), vectors[:, ::-1][:, :number]


def _orthonormal(Z: np.ndarray, Q: np.ndarray | None = None, most: int | None = None) -> np.ndarray:
    """An orthonormal basis of the first ``most`` columns, centred and orthogonal to Q."""
    Z = Z[:, :most] - Z[:, :most].mean(axis=0)
    if Q is not None:
        for _ in range(2):  # the second time removes what rounding has left
            Z = np.linalg.qr(Z)[0]
            Z -= Q @ (Q.T @ Z)
    return np.linalg.qr(Z)[0]


def times_gram(X: Matrix | sp.csr_array, Y: np.ndarray, scale: np.ndarray | None = None) -> np.ndarray:
    """X̃ X̃' Y, a sum over the centred columns of X."""
    if isinstance(X, Source):
        return X.sum(partial(_sparse_or_dense, Y=Y, scale=scale))
    return _sparse_or_dense(X, Y)


def _sparse_or_dense(slab: Part, Y: np.ndarray, scale: np.ndarray | None = None) -> np.ndarray:
    if is_sparse(slab):
        return _sparse(slab if scale is None else scaled_rows(slab, scale), Y)
    total = np.zeros(Y.shape)
    for piece in centred_pieces(slab):
        total += piece @ (piece.T @ Y)
    return total


def _sparse(X: sp.csr_array | sp.csc_array, Y: np.ndarray) -> np.ndarray:
    """Columns of Y in threads. Values in single precision are multiplied as they are, which needs no copy of X."""
    X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    mean, total = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel(), np.empty(Y.shape)
    share = -(-Y.shape[1] // n_threads(float(X.nnz) * Y.shape[1]))

    def work(start: int) -> None:
        part = slice(start, start + share)
        some = np.ascontiguousarray(Y[:, part], dtype=X.dtype)
        Z = X.T @ some - np.outer(mean, Y[:, part].sum(axis=0))
        total[:, part] = X @ Z.astype(X.dtype)
        total[:, part] -= mean @ Z

    for_each(work, range(0, Y.shape[1], share), np.inf)
    return total
