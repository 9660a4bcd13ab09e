"""Three scales of a graph: its edges, walks on it, and its largest patterns.

    walks     K = exp(-β L / d̄),   d̄: mean degree
    patterns  the eigenvectors u_j of L with the smallest eigenvalues λ_j, without the constant

Both are those of L = D - W itself, not of 𝓛, so that all rows count the same. K is found by a Taylor series and
repeated squaring, with small entries left out; no n x n array is formed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh, expm
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import LinearOperator, eigsh, splu

from ..engine.threads import one_blas_thread
from .graph import Graph
from .recipe import check_dense
from .spectrum import householder

_SMALL_NORM, _TERMS = 1.0, 7  # the Taylor series is used up to this norm; this number of terms gives four digits
_LEFT_OUT, _LEFT_OUT_AT_FIRST = 1e-4, 1e-5  # smaller entries of K, and on the way to it, are left out
_DENSE_EIGEN = 400  # LAPACK is faster up to this size
_BAND, _SMALL = 20.0, 3000  # L is factored if its band is below this multiple of √n, as on a map, or if n is small
_TIED = 1e-8  # eigenvalues with a smaller relative difference are copies of one


def heat_kernel(graph: Graph, beta: float) -> sp.csr_array:
    """exp(-β L / d̄) of a graph, without entries below 1e-4; isolated rows have a 1 on the diagonal."""
    degree = graph.row_sums
    A = _laplacian(graph) * (beta / (degree[degree > 0].mean() if graph.active.any() else 1.0))
    if graph.is_full:
        return _symmetric(_without_small(expm(-A.toarray()), _LEFT_OUT))
    halvings = max(0, int(np.ceil(np.log2(max(abs(A).sum(axis=1).max(initial=0.0), 1e-9) / _SMALL_NORM))))
    A = A * -(0.5**halvings)
    K: Any = sp.eye_array(graph.n_nodes, format="csr")
    term = K
    for order in range(1, _TERMS):
        term = _without_small(term @ A * (1.0 / order), _LEFT_OUT_AT_FIRST)
        K = K + term
    for left in range(halvings, 0, -1):
        K = _without_small(K @ K, _LEFT_OUT if left == 1 else _LEFT_OUT_AT_FIRST)
    return _symmetric(_without_small(K, _LEFT_OUT))


def lowest_patterns(graph: Graph, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k smallest eigenvalues of L without that of the constant, and orthonormal vectors that sum to 0.

    Copies of the last eigenvalue are included; more than a few copies are left out. So the result does not depend on a
    basis. Isolated rows are 0.
    """
    n, grounds = graph.n_nodes, np.zeros((graph.n_nodes, graph.n_components))
    values, vectors = list[np.ndarray](), list[np.ndarray]()
    if graph.n_components - 1 > 3 * k:  # the graph consists of pieces, which are patterns no more
        k = 0
    L = _laplacian(graph)
    for component in range(graph.n_components if k else 0):
        nodes = np.flatnonzero(graph.components == component)
        grounds[nodes, component] = len(nodes) ** -0.5
        found, basis = _component(L[nodes][:, nodes], min(k + 4, len(nodes) - 1))
        placed = np.zeros((n, len(found)))
        placed[nodes] = basis
        values.append(found)
        vectors.append(placed)
    if not values:
        return np.empty(0), np.empty((n, 0))
    between = (grounds @ householder(np.sqrt(np.bincount(graph.components[graph.active]))))[:, 1:]
    together = np.concatenate([np.zeros(between.shape[1]), *values])
    order = np.argsort(together, kind="stable")
    at_most, nearly = together[order[min(k, len(order)) - 1]], 1e-12 * graph.row_sums.max()
    if len(order) < graph.active.sum() - 1 and together[order[-1]] <= at_most * (1.0 + _TIED) + nearly:
        at_most = at_most * (1.0 - 2.0 * _TIED) - 2.0 * nearly  # its copies were not all found
    order = order[together[order] <= at_most * (1.0 + _TIED) + nearly]
    return together[order], np.hstack([between, *vectors])[:, order]


def _component(L: sp.csr_array, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k smallest eigenpairs of the Laplacian of a connected graph, without the constant."""
    n = L.shape[0]
    if k < 1:
        return np.empty(0), np.empty((n, 0))
    if n <= _DENSE_EIGEN or k >= n - 2:
        dense = L.toarray()
        dense += (3.0 * abs(dense).sum(axis=1).max() / n) * np.ones((n, n))  # the constant moves to the top
        values, vectors = eigh(dense, subset_by_index=[0, k - 1])
        return np.maximum(values, 0.0), vectors
    product, value, known = *_sought_first(L), np.full((n, 1), n**-0.5)
    values, vectors = _searched(product, value, k, known)
    while True:  # a search may miss copies of a repeated eigenvalue
        missed, vector = _searched(product, value, 1, np.column_stack([known, vectors]))
        if missed[0] >= values[-1] * (1.0 - _TIED):
            return values, vectors
        order = np.argsort(np.r_[values, missed], kind="stable")[:k]
        values, vectors = np.r_[values, missed][order], np.column_stack([vectors, vector])[:, order]


Function = Callable[[np.ndarray], np.ndarray]


def _sought_first(L: sp.csr_array) -> tuple[Function, Function]:
    """A product with L's eigenvectors, the smallest first, and the eigenvalues of L from its own.

    That is the inverse of L, where rows can be ordered so that its factors stay sparse, as on a map.
    """
    n, diagonal = L.shape[0], L.diagonal()
    order = reverse_cuthill_mckee(sp.csr_array(L), symmetric_mode=True)
    place = np.empty(n, dtype=np.intp)
    place[order] = np.arange(n)
    entries = L.tocoo()
    if n <= _SMALL or np.abs(place[entries.row] - place[entries.col]).max() <= _BAND * np.sqrt(n):
        shift = 1e-8 * float(diagonal.mean())
        shifted = sp.csc_array(L + shift * sp.eye_array(n))
        return splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0).solve, lambda found: 1.0 / found - shift
    top = 2.0 * float(diagonal.max())
    return lambda v: top * v - L @ v, lambda found: top - found


def _searched(product: Function, value: Function, k: int, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The k smallest eigenpairs of L in the complement of known eigenvectors."""
    n = len(known)
    start = np.random.default_rng(0).standard_normal(n)

    def elsewhere(v: np.ndarray) -> np.ndarray:
        x = product(v - known @ (known.T @ v))
        return x - known @ (known.T @ x)

    operator = LinearOperator((n, n), matvec=elsewhere, dtype=np.float64)
    start -= known @ (known.T @ start)
    with one_blas_thread(0.0):  # a second thread slows many small products down
        found, vectors = eigsh(operator, k, which="LA", v0=start)
    values = np.maximum(value(found), 0.0)
    up = np.argsort(values)
    return values[up], vectors[:, up]


def weights(graph: Graph) -> sp.csr_array:
    """W as a csr array, also of small graphs that are stored otherwise."""
    if graph.csr is not None:
        return graph.csr
    check_dense("A test on scales", graph.n_nodes)
    return sp.csr_array(graph.toarray())


def _laplacian(graph: Graph) -> sp.csr_array:
    return sp.csr_array(sp.diags_array(graph.row_sums, format="csr") - weights(graph))


def _without_small(A: Any, least: float) -> sp.csr_array:
    A = sp.csr_array(A)
    A.data[np.abs(A.data) < least] = 0.0
    A.eliminate_zeros()
    return A


def _symmetric(A: sp.csr_array) -> sp.csr_array:
    return sp.csr_array((A + A.T) / 2.0)
