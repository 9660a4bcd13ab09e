"""The ranking functions φ1, φ2, φ3 of SPEC on any graph, with any spectral function γ ([SPEC] eq. 9-11)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from ..data.arrays import dense
from ..engine.permuted import Form
from ..graphs import Graph, Recipe, as_recipe
from ..graphs.spectrum import eigenpairs, quadratic_form, spectral_function
from ..problem import Problem
from ..supervision import Supervision
from ..validation import check_choice, check_integer
from .closed_form import Compared, Piece, without_entries
from .closed_form import Null as ClosedNull
from .criterion import Criterion, Scorer, Traits
from .energy import Rayleigh
from .nulls import ClosedForm, FeatureOrders, Null


class Phi(Criterion):
    """The ranking functions of [SPEC] eq. 9-11 with α_j = <f̂, ξ_j>, f̂ = D^½f / ‖D^½f‖ and (λ_j, ξ_j) of 𝓛.

        φ1 = Σ_j γ(λ_j) α_j²    φ2 = Σ_{j≥1} γ(λ_j) α_j² / Σ_{j≥1} α_j²    φ3 = Σ_{j=1}^{k-1} (γ(2) - γ(λ_j)) α_j²

    Small is good for φ1 and φ2, large for φ3. φ1 and φ3 change if a constant is added to a feature. ξ_0 is always D^½1,
    independently of the solver. An integer power γ is applied by products with 𝓛. Any other γ uses all eigenpairs up to
    3,000 nodes, and a Chebyshev polynomial on larger graphs. On graphs of classes or anchors every γ uses the few
    eigenpairs with λ ≠ 1, which a small matrix gives.

    Parameters
    ----------
    graph : Recipe
        The graph with normalised Laplacian 𝓛.
    kind : {1, 2, 3}, default=2
        Number of the score φ.
    gamma : float or callable, default=1
        A positive power, or a function of an array of eigenvalues in [0, 2].
    n_clusters : int, optional
        Number k in φ3; by default the number of classes in y, or without classes the position of the largest eigengap
        among the first 20 eigenvalues. If λ_{k-1} = λ_k, the score depends on the basis of this eigenspace, and a
        warning is issued. On graphs of classes or anchors, a cut inside λ = 1 takes the mean over all bases.

    Examples
    --------
    >>> from fiedler import KNN, Phi
    >>> X = [[0.0], [1.0], [3.0], [4.0]]
    >>> Phi(KNN(1, "binary"), 2).evaluate(X), Phi(KNN(1, "binary"), 2, gamma=4).evaluate(X)
    (array([0.2]), array([1.6]))
    """

    def __init__(self, graph: Recipe, kind: int = 2, gamma: Any = 1, n_clusters: int | None = None):
        self.graph, self.kind, self.gamma, self.n_clusters = graph, kind, gamma, n_clusters

    @property
    def traits(self) -> Traits:
        plain = self._is_rayleigh
        return Traits(self.kind == 3, not as_recipe(self.graph).signed, groups=plain, one_pass=True, blocks=plain)

    @property
    def _is_rayleigh(self) -> bool:
        """Whether φ is φ2 with γ(λ) = λ, the Laplacian score."""
        return self.kind == 2 and isinstance(self.gamma, Real) and self.gamma == 1

    def null(self) -> Null:
        if self._is_rayleigh:
            return Rayleigh(self.graph).null()
        graph = as_recipe(self.graph)
        if self.kind != 3 or graph.signed or not graph.attracts:
            return FeatureOrders()
        return ClosedForm([graph], lambda problem: self._phi3_null(problem.graph(graph), problem.supervision))

    def scorer(self, problem: Problem) -> Scorer:
        check_choice("kind", self.kind, (1, 2, 3))
        if self._is_rayleigh:
            return Rayleigh(self.graph).scorer(problem)
        graph, gamma = problem.graph(as_recipe(self.graph)), spectral_function(self.gamma)
        if self.kind == 3:
            return Scorer(graph.rows, self._phi3(graph, gamma, problem.supervision))
        quadratic = quadratic_form(graph, self.gamma, gamma)
        at_zero = float(gamma(np.zeros(1))[0])

        def parts(F: Any, columns: Any) -> np.ndarray:
            mean, mass = graph.moments(F)
            if self.kind == 2:
                return quadratic(F) / mass
            ground = graph.volume * mean**2  # the part of the norm along ξ_0
            return (quadratic(F) + at_zero * ground) / (mass + ground)

        return Scorer(graph.rows, parts)

    def _phi3_null(self, graph: Graph, known: Supervision) -> ClosedNull:
        """The null distribution of φ3 with its own mass, Σ_j (γ(2) - γ(λ_j)) α_j² / f̃'D f̃."""
        if graph.small is not None:
            raise ValueError(
                "phi=3 has a closed form on graphs of neighbours and kernels only; use n_permutations=999 to test it "
                "by permutations."
            )
        gamma = spectral_function(self.gamma)
        values, vectors = graph.spectrum(number_of_clusters(graph, known, self.n_clusters))
        return ClosedNull(
            [Piece(None, [LowForm(graph, vectors[:, 1:], gamma(np.full(1, 2.0))[0] - gamma(values[1:]))])]
        )

    def _phi3(self, graph: Graph, gamma: Callable, known: Supervision) -> Callable[[Any, Any], np.ndarray]:
        k = number_of_clusters(graph, known, self.n_clusters)
        pairs = eigenpairs(graph, k + 1)
        values = pairs.first_values(k + 1)
        if len(values) > k and abs(values[k] - values[k - 1]) <= 1e-9:
            warnings.warn(
                f"n_clusters={k} splits a repeated eigenvalue ({values[k]:.3g}), so phi=3 depends on the basis "
                f"the solver chose; the graph has {graph.n_components} components, try another n_clusters.",
                UserWarning,
                stacklevel=2,
            )
        above, used = gamma(np.full(1, 2.0))[0], min(k - 1, len(pairs.values))
        weights = above - gamma(pairs.values[:used])
        # All further pairs have λ = 1. If k takes only some of them, their share is the mean over all bases.
        share = min(k - 1 - used, pairs.n_ones) / max(pairs.n_ones, 1) * (above - gamma(np.ones(1))[0])

        def parts(F: Any, columns: Any) -> np.ndarray:
            (mean, mass), (alpha, ones) = graph.moments(F), pairs.split(F)
            return (weights @ alpha[:used] ** 2 + share * ones) / (mass + graph.volume * mean**2)

        return parts


class LowForm(Compared):
    """-Σ_j s_j (ξ_j'D^½f)² and f̃'D f̃ for some eigenvectors ξ_j of 𝓛: small is good."""

    def __init__(self, graph: Graph, vectors: np.ndarray, s: np.ndarray):
        self.rows, self._graph, self._s, self._basis = graph.active, graph, s, np.sqrt(graph.degree)[:, None] * vectors
        self._d, self._W = graph.degree[self.rows], without_entries(int(self.rows.sum()))

    def values(self, F: Any, standard: Any) -> tuple[np.ndarray, np.ndarray]:
        alpha = self._basis.T @ self._graph.centre(dense(F))
        return -self._s @ alpha**2, self._graph.mass(F)

    def form(self, t: float) -> Form:
        d = self._d
        M = np.column_stack([d, self._basis[self.rows]])
        return Form(self._W, -t * d, M, np.r_[t / d.sum(), -self._s])


def number_of_clusters(graph: Graph, known: Supervision, stated: int | None = None) -> int:
    """The stated number, the number of classes, or without classes the largest eigengap among the first 20."""
    if stated is not None:
        return check_integer("n_clusters", stated, 2)
    try:
        if known.task() == "target":
            raise ValueError("a target has no classes")
        return len(known.classes("n_clusters=None")[1])
    except (ValueError, TypeError):
        gaps = np.diff(eigenpairs(graph, 21).first_values(21))[1:]
        return 2 + int(np.argmax(gaps)) if len(gaps) else 2
