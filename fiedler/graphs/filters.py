"""Filters: γ(𝓛) = Σ_j γ(λ_j) ξ_j ξ_j' applied to features, without forming it ([SPEC] section 3.1).

An integer power needs a few products with 𝓛. Any other γ uses all eigenpairs of graphs with up to 3,000 nodes. On
larger graphs it uses a Chebyshev polynomial on [0, 2], the range of the eigenvalues of 𝓛. On graphs of classes or
anchors every γ uses the few eigenpairs with λ ≠ 1, from :class:`fiedler.graphs.spectrum.SmallSpectrum`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.polynomial import chebyshev

from ..data.arrays import Block, dense
from ..errors import ParameterError
from ..validation import check_positive, is_sparse
from .graph import Graph

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


def eigenpairs(graph: Graph, k: int | None = None) -> Eigenpairs:
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


def quadratic_form(graph: Graph, gamma: Any, function: Callable) -> Callable[[Any], np.ndarray]:
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


def polynomial(graph: Graph, coefficients: np.ndarray, V: np.ndarray) -> np.ndarray:
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
