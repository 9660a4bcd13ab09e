"""Eigenpairs of 𝓛 = D^-½ L D^-½, computed per connected component; the trivial vector is always D^½1.

Lanczos silently misses repeated eigenvalues of a disconnected graph, so every component is solved separately. Small
components are solved by LAPACK, large ones by Lanczos, with known eigenvectors shifted to the other end of the
spectrum. If W = Z C Z' with r columns in Z, an r x r matrix is enough: 𝓛 = I - BB' with B = D^-½ Z C^½. Each eigenpair
(σ, v) of B'B gives λ = 1 - σ and ξ = Bv / √σ, and 𝓛 is the identity on the rest.

**Filters.** γ(𝓛) = Σ_j γ(λ_j) ξ_j ξ_j' applied to features, without forming it ([SPEC] section 3.1).
An integer power needs a few products with 𝓛. Any other γ uses all eigenpairs of graphs with up to 3,000 nodes. On
larger graphs it uses a Chebyshev polynomial on [0, 2], the range of the eigenvalues of 𝓛. On graphs of classes or
anchors every γ uses the few eigenpairs with λ ≠ 1, from :class:`SmallSpectrum`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.polynomial import chebyshev
from scipy.linalg import eigh
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from ..data.arrays import Block, dense
from ..engine.threads import one_blas_thread
from ..errors import ParameterError
from ..validation import check_positive, is_sparse

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
            ground = grounds[groups, place]
            # shifts the trivial σ = 1 below all others
            sigma, inside = eigh(small[np.ix_(groups, groups)] - 3.0 * np.outer(ground, ground))
            sigma, inside = sigma[sigma > _NO_EIGENVALUE], inside[:, sigma > _NO_EIGENVALUE]
            vectors.append(np.zeros((len(core), len(sigma))))
            vectors[-1][groups] = inside / np.sqrt(sigma)
            values.append(np.maximum(1.0 - sigma, 0.0))
        order = np.argsort(np.concatenate(values), kind="stable")
        # Every combination of the trivial vectors of the components has λ = 0; the overall trivial one is left out.
        between = grounds @ householder(norms)[:, 1:]
        self.values = np.concatenate([np.zeros(between.shape[1]), np.concatenate(values)[order]])
        self.vectors = np.hstack([between, np.hstack(vectors)[:, order]])
        self.n_ones, self.n_components = n_nodes - 1 - len(self.values), len(components)


def householder(weights: np.ndarray) -> np.ndarray:
    """An orthogonal matrix whose first column is weights / ‖weights‖, for positive weights."""
    unit = weights / np.linalg.norm(weights)
    mirror = unit.copy()
    mirror[0] += 1.0  # weights are positive, so no digits cancel
    H = np.eye(len(unit)) - np.outer(mirror, mirror) / mirror[0]
    return np.column_stack([unit, H[:, 1:]])


# -------------------------------------------------------------------- γ(𝓛) applied


MOST_POWER = 1000  # largest power: eigenvalues reach 2
ALL_PAIRS = 3000  # nodes up to which a general γ uses all eigenpairs


def spectral_function(gamma: Any) -> Callable[[np.ndarray], np.ndarray]:
    """γ as a function of an array of eigenvalues."""
    if not callable(gamma):
        check_positive("gamma", gamma)
        if gamma > MOST_POWER:
            message = f"gamma={gamma!r} is too large a power: eigenvalues reach 2, and 2**gamma overflows beyond"
            raise ParameterError(f"{message} {MOST_POWER}; use a smaller one.", parameter="gamma", value=gamma)
        whole = float(gamma).is_integer()  # a fractional power of a rounding error below zero would be NaN
        return lambda values: (values if whole else np.maximum(values, 0.0)) ** float(gamma)

    def checked(values: np.ndarray) -> np.ndarray:
        result = np.asarray(gamma(values), dtype=np.float64)
        if result.shape != values.shape or not np.isfinite(result).all():
            raise ValueError(f"gamma must map eigenvalues to finite values of the same shape; {gamma!r} does not.")
        return result

    return checked


@dataclass(frozen=True)
class Eigenpairs:
    """The first non-trivial eigenpairs (λ_j, ξ_j) of 𝓛, in the form that scores need.

    ``split(F)`` gives two arrays: α_j = ξ_j'D^½f̃ of shape (p, b), and Σ α_j² of shape (b,) over the ``n_ones`` further
    pairs. These all have λ = 1, so the sum does not depend on the choice of their basis.
    """

    values: np.ndarray
    split: Callable[[Any], tuple[np.ndarray, np.ndarray]]
    n_ones: int = 0

    def first_values(self, k: int) -> np.ndarray:
        """The first k eigenvalues λ_0 = 0 .. λ_{k-1}, or all if there are fewer."""
        return np.r_[0.0, self.values, np.ones(min(self.n_ones, k))][:k]


def eigenpairs(graph: Any, k: int | None = None) -> Eigenpairs:
    """The pairs j = 1 .. k - 1, or all; a graph with a small spectrum always gives all pairs with λ ≠ 1."""
    small = graph.small
    if small is not None:

        def small_split(F: Any) -> tuple[np.ndarray, np.ndarray]:
            energy, between = graph.within_and_between(F)
            alpha = small.vectors.T @ between
            return alpha, np.maximum(energy - small.values @ alpha**2, 0.0)

        return Eigenpairs(small.values, small_split, small.n_ones)
    values, vectors = graph.spectrum(k)
    basis = np.sqrt(graph.degree)[:, None] * vectors[:, 1:]

    def split(F: Block) -> tuple[np.ndarray, np.ndarray]:
        alpha = _sparse_projection(F, basis, graph.moments(F)[0]) if is_sparse(F) else basis.T @ graph.centre(F)
        return alpha, np.zeros(F.shape[1])

    return Eigenpairs(values[1:], split)


def quadratic_form(graph: Any, gamma: Any, function: Callable) -> Callable[[Any], np.ndarray]:
    """v'γ(𝓛)v for v = D^½ f̃, the part of D^½ f without ξ_0, column by column."""
    if not callable(gamma) and gamma == 1:
        return graph.energy
    if graph.small is not None:
        return _by_eigenpairs(eigenpairs(graph), function)
    root = np.sqrt(graph.degree)[:, None]
    if not callable(gamma) and float(gamma).is_integer():

        def by_products(F: Any) -> np.ndarray:
            V = root * graph.centre(dense(F))
            for _ in range(int(gamma) // 2):
                V = graph.normalized_laplacian_dot(V)
            return graph.energy(graph.inverse_root_degree[:, None] * V) if gamma % 2 else np.einsum("ij,ij->j", V, V)

        return by_products

    if graph.n_nodes - graph.n_isolated <= ALL_PAIRS:
        return _by_eigenpairs(eigenpairs(graph), function)
    coefficients = chebyshev_coefficients(function)

    def by_chebyshev(F: Any) -> np.ndarray:
        V = root * graph.centre(dense(F))
        return np.einsum("ij,ij->j", V, polynomial(graph, coefficients, V))

    return by_chebyshev


def polynomial(graph: Any, coefficients: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Σ_p c_p T_p(𝓛 - I) V."""
    before, now = V, graph.normalized_laplacian_dot(V) - V
    total = coefficients[0] * before + coefficients[1] * now
    for c in coefficients[2:]:
        before, now = now, 2.0 * (graph.normalized_laplacian_dot(now) - now) - before
        total += c * now
    return total


def _by_eigenpairs(pairs: Eigenpairs, function: Callable) -> Callable[[Any], np.ndarray]:
    weights, at_one = function(pairs.values), float(function(np.ones(1))[0])

    def quadratic(F: Any) -> np.ndarray:
        alpha, ones = pairs.split(F)
        return weights @ alpha**2 + at_one * ones

    return quadratic


def _sparse_projection(F: sp.csc_array, basis: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """basis'(f - mean 1) for sparse columns and a basis whose columns sum to 0; reads stored values only."""
    columns = np.repeat(np.arange(F.shape[1]), np.diff(F.indptr))
    stored, where = (
        sp.csc_array((d, F.indices, F.indptr), shape=F.shape) for d in (F.data - mean[columns], F.data * 0 + 1)
    )
    full = np.diff(F.indptr) == F.shape[0]
    return (stored.T @ basis).T + np.where(full, 0.0, mean) * (where.T @ basis).T


def chebyshev_coefficients(function: Callable) -> np.ndarray:
    """Coefficients of γ(1 + x) on [-1, 1], to twelve digits, or an error for a γ that is not smooth."""
    coefficients = chebyshev.chebinterpolate(lambda x: function(1.0 + x), 256)
    needed = np.flatnonzero(np.abs(coefficients) > 1e-13 * np.abs(coefficients).max())
    if needed[-1] > 200:
        raise ValueError(
            "gamma is not smooth enough on [0, 2] for a graph of more than "
            f"{ALL_PAIRS} nodes; use an integer power or a smooth function."
        )
    return coefficients[: max(2, needed[-1] + 1)]
