"""Spectral functions: γ(𝓛) = Σ_j γ(λ_j) ξ_j ξ_j' applied to features, without forming it ([SPEC] section 3.1).

A whole power is a few products with 𝓛. Any other γ uses all eigenpairs up to 3,000 nodes, and beyond that its
Chebyshev polynomial on [0, 2], where the eigenvalues of 𝓛 lie.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev

from ._validation import check_positive
from .columns import dense
from .graph import Graph

_ALL_PAIRS = 3000  # nodes up to which a general γ uses all eigenpairs


def spectral_function(gamma: Any) -> Callable[[np.ndarray], np.ndarray]:
    """γ as a function of an array of eigenvalues."""
    if not callable(gamma):
        check_positive("gamma", gamma)
        whole = float(gamma).is_integer()  # a fractional power of a rounding error below zero would be NaN
        return lambda values: (values if whole else np.maximum(values, 0.0)) ** float(gamma)

    def checked(values: np.ndarray) -> np.ndarray:
        result = np.asarray(gamma(values), dtype=np.float64)
        if result.shape != values.shape or not np.isfinite(result).all():
            raise ValueError(f"gamma must map eigenvalues to finite values of the same shape; {gamma!r} does not.")
        return result

    return checked


def quadratic_form(graph: Graph, gamma: Any, function: Callable) -> Callable[[Any], np.ndarray]:
    """v'γ(𝓛)v for v = D^½ f̃, the part of D^½ f without ξ_0, column by column."""
    root = np.sqrt(graph.degree)[:, None]
    if not callable(gamma) and float(gamma).is_integer():
        if gamma == 1:
            return graph.energy

        def by_products(F: Any) -> np.ndarray:
            V = root * graph.centre(dense(F))
            for _ in range(int(gamma) // 2):
                V = graph.normalized_laplacian_dot(V)
            return graph.energy(graph.inverse_root_degree[:, None] * V) if gamma % 2 else np.einsum("ij,ij->j", V, V)

        return by_products

    if graph.n_nodes - graph.n_isolated <= _ALL_PAIRS:
        values, vectors = graph.spectrum()
        basis, weights = root * vectors[:, 1:], function(values[1:])
        return lambda F: weights @ (basis.T @ graph.centre(dense(F))) ** 2
    coefficients = _chebyshev_coefficients(function)

    def by_chebyshev(F: Any) -> np.ndarray:
        V = root * graph.centre(dense(F))
        before, now = V, graph.normalized_laplacian_dot(V) - V  # T_0 and T_1 of 𝓛 - I
        total = coefficients[0] * before + coefficients[1] * now
        for c in coefficients[2:]:
            before, now = now, 2.0 * (graph.normalized_laplacian_dot(now) - now) - before
            total += c * now
        return np.einsum("ij,ij->j", V, total)

    return by_chebyshev


def _chebyshev_coefficients(function: Callable) -> np.ndarray:
    """Coefficients of γ(1 + x) on [-1, 1], to twelve digits, or an error for a γ that is not smooth."""
    coefficients = chebyshev.chebinterpolate(lambda x: function(1.0 + x), 256)
    needed = np.flatnonzero(np.abs(coefficients) > 1e-13 * np.abs(coefficients).max())
    if needed[-1] > 200:
        raise ValueError(
            "gamma is not smooth enough on [0, 2] for a graph of more than "
            f"{_ALL_PAIRS} nodes; use a whole power or a smooth function."
        )
    return coefficients[: max(2, needed[-1] + 1)]
