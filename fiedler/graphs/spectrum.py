"""Eigenpairs of 𝓛 = D^-½ L D^-½, computed per connected component; the trivial vector is always D^½1.

Lanczos silently misses repeated eigenvalues of a disconnected graph, so every component is solved separately. Small
components are solved by LAPACK, large ones by Lanczos, with known eigenvectors shifted to the other end of the
spectrum. If W = Z C Z' with r columns in Z, an r x r matrix is enough: 𝓛 = I - BB' with B = D^-½ Z C^½. Each eigenpair
(σ, v) of B'B gives λ = 1 - σ and ξ = Bv / √σ, and 𝓛 is the identity on the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from ..engine.threads import one_blas_thread

_DENSE_EIGEN, _DENSE_EIGEN_OF_KERNELS = 400, 2000  # LAPACK is faster up to these sizes: sparse, dense storage
_DENSE_EIGEN_AT_MOST, _RESTARTS = 8000, 300  # LAPACK replaces Lanczos up to this size if it does not converge
_NO_EIGENVALUE = 1e-12  # a smaller σ is rounding error and counts as λ = 1

ValuesAndVectors = tuple[np.ndarray, np.ndarray]  # eigenvalues, eigenvectors in columns


def spectrum(W: Any, k: int, way_out: str) -> ValuesAndVectors:
    """The k smallest eigenpairs of a graph, trivial pair first; ``way_out`` ends the error message if Lanczos fails."""
    values, vectors, trivial = (list[np.ndarray]() for _ in range(3))
    for component in range(W.n_components):
        nodes = np.flatnonzero(W.components == component)
        found, basis, ground = _component(W, nodes, min(k, len(nodes)) - 1, way_out)
        for part, store in ((basis, vectors), (ground, trivial)):
            placed = np.zeros((W.n_nodes, part.shape[1]))
            placed[nodes] = part
            store.append(placed)
        values.append(found)
    if not trivial:
        return np.empty(0), np.empty((W.n_nodes, 0))
    grounds = np.hstack(trivial) @ householder(np.sqrt([W.degree @ (t[:, 0] != 0) for t in trivial]))
    together = np.concatenate([np.zeros(grounds.shape[1]), *values])
    order = np.argsort(together[grounds.shape[1] :], kind="stable") + grounds.shape[1]
    # Signed graphs may have negative eigenvalues; the trivial pair still comes first.
    order = np.concatenate([np.arange(grounds.shape[1]), order])[:k]
    return together[order], np.hstack([grounds, *vectors])[:, order]


def _component(W: Any, nodes: np.ndarray, k: int, way_out: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The k smallest non-trivial eigenpairs on one component, and its trivial vector."""
    size, root = len(nodes), W.inverse_root_degree[nodes]
    ground = np.sqrt(W.degree[nodes])
    ground /= np.linalg.norm(ground)
    if k == 0:
        return np.empty(0), np.empty((size, 0)), ground[:, None]
    if size > (_DENSE_EIGEN_OF_KERNELS if W.is_full else _DENSE_EIGEN) and k <= size // 10:
        try:
            return *_checked_lanczos(W, nodes, k, ground), ground[:, None]
        except ArpackNoConvergence:  # eigenvalues cluster at 0 if weights span many orders of magnitude
            if size > _DENSE_EIGEN_AT_MOST:
                what = f"the eigenvectors of {size} nodes do not converge: their weights differ too much"
                raise ValueError(f"{what}; {way_out}.") from None
    L = -W.submatrix(nodes)
    L.flat[:: size + 1] += W.row_sums[nodes]
    L *= root[:, None] * root
    # The trivial vector is moved to the top of the spectrum, above every other eigenvalue.
    L += (3.0 + np.abs(L).sum(axis=1).max()) * np.outer(ground, ground)
    with one_blas_thread(float(size) ** 3):
        values, vectors = eigh(L, subset_by_index=[0, k - 1])
    return values, vectors, ground[:, None]


def _checked_lanczos(W: Any, nodes: np.ndarray, k: int, ground: np.ndarray) -> ValuesAndVectors:
    values, vectors = _lanczos(W, nodes, k, ground[:, None])
    while True:
        # Lanczos may miss copies of a repeated eigenvalue: search once more in the complement of the vectors found.
        missed, vector = _lanczos(W, nodes, 1, np.column_stack([ground, vectors]))
        if missed[0] > values[-1] - 1e-10:
            return values, vectors
        order = np.argsort(np.r_[values, missed], kind="stable")[:k]
        values, vectors = np.r_[values, missed][order], np.column_stack([vectors, vector])[:, order]


def _lanczos(W: Any, nodes: np.ndarray, k: int, known: np.ndarray) -> ValuesAndVectors:
    """The k smallest eigenpairs of 𝓛 on one component, in the complement of some known eigenvectors."""
    root, sums, product = W.inverse_root_degree[nodes], W.row_sums[nodes], W.operator(nodes)

    def adjacency(v: np.ndarray) -> np.ndarray:
        v = v.ravel()
        x = root * v
        # I - 𝓛, with the eigenvalues of the known vectors shifted far below the others.
        return v - root * (sums * x - product(x)) - 4.0 * (known @ (known.T @ v))

    operator = LinearOperator((len(nodes), len(nodes)), matvec=adjacency, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(len(nodes))
    start -= known @ (known.T @ start)
    with one_blas_thread(0.0):  # a second thread slows many small products down
        basis = min(len(nodes), max(2 * k + 1, 40))
        values, vectors = eigsh(operator, k=k, which="LA", v0=start, ncv=basis, maxiter=_RESTARTS)
    order = np.argsort(-values, kind="stable")
    return 1.0 - values[order], vectors[:, order]


class SmallSpectrum:
    """The non-trivial eigenpairs of 𝓛 with λ ≠ 1, for a factored W with a diagonal core; λ_1 <= λ_2 <= ...

    Parameters
    ----------
    gram : ndarray of shape (r, r)
        Z'D^-1 Z.
    sizes, core : ndarray of shape (r,)
        Z'1 and the diagonal of C.
    n_nodes : int
        Number of nodes with a positive degree.

    Attributes
    ----------
    values : ndarray of shape (p,)
    vectors : ndarray of shape (r, p)
        ξ_j = B vectors_j, hence α_j = vectors_j' C^½ Z'f̃ for a centred feature.
    n_ones : int
        Number of further pairs, all with λ = 1.
    n_components : int
    """

    def __init__(self, gram: np.ndarray, sizes: np.ndarray, core: np.ndarray, n_nodes: int):
        root = np.sqrt(core)
        small, trivial = root[:, None] * gram * root, root * sizes
        used = np.flatnonzero(trivial > 0)
        labels = connected_components(sp.csr_array(small[np.ix_(used, used)] != 0), directed=False)[1]
        components = [used[labels == label] for label in range(labels.max(initial=-1) + 1)]
        norms = np.array([np.linalg.norm(trivial[groups]) for groups in components])
        grounds, values, vectors = np.zeros((len(core), len(components))), [], []
        for place, groups in enumerate(components):
            grounds[groups, place] = trivial[groups] / norms[place]
            sigma, inside = _nontrivial(small[np.ix_(groups, groups)], grounds[groups, place])
            vectors.append(np.zeros((len(core), len(sigma))))
            vectors[-1][groups] = inside / np.sqrt(sigma)
            values.append(np.maximum(1.0 - sigma, 0.0))
        order = np.argsort(np.concatenate(values), kind="stable")
        # Every combination of the trivial vectors of the components has λ = 0; the overall trivial one is left out.
        between = grounds @ householder(norms)[:, 1:]
        self.values = np.concatenate([np.zeros(between.shape[1]), np.concatenate(values)[order]])
        self.vectors = np.hstack([between, np.hstack(vectors)[:, order]])
        self.n_ones, self.n_components = n_nodes - 1 - len(self.values), len(components)


def _nontrivial(small: np.ndarray, trivial: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenpairs (σ, v) of one component of B'B with σ > 0, its trivial vector left out."""
    sigma, vectors = eigh(small - 3.0 * np.outer(trivial, trivial))  # shifts the trivial σ = 1 below all others
    kept = sigma > _NO_EIGENVALUE
    return sigma[kept], vectors[:, kept]


def householder(weights: np.ndarray) -> np.ndarray:
    """An orthogonal matrix whose first column is weights / ‖weights‖, for positive weights."""
    unit = weights / np.linalg.norm(weights)
    mirror = unit.copy()
    mirror[0] += 1.0  # weights are positive, so no digits cancel
    H = np.eye(len(unit)) - np.outer(mirror, mirror) / mirror[0]
    return np.column_stack([unit, H[:, 1:]])
