"""The energy of a feature on a graph, f'Lf = ½ Σ_ij w_ij (f_i - f_j)², and quotients of energies."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graphs import Graph, Recipe, as_recipe
from ..problem import Problem
from .criterion import Criterion
from .holes import (
    difference_penalty,
    known_energies,
    known_variance,
    quotient_penalty,
    weights_without_loops,
)
from .nulls import FeatureOrders, Null, Quotient
from .scorer import Additive, Scorer


class OnGraph(Criterion):
    """A criterion on one graph; the graph determines its direction and sign."""

    def __init__(self, graph: Recipe):
        self.graph = graph

    @property
    def greater_is_better(self) -> bool:
        return not as_recipe(self.graph).attracts

    @property
    def nonnegative(self) -> bool:
        return not as_recipe(self.graph).signed


class Energy(OnGraph):
    """The energy f'Lf = ½ Σ_ij w_ij (f_i - f_j)²: small is good if edges mean "similar", large if "different".

    Parameters
    ----------
    graph : Recipe
        The graph with weights W.

    Examples
    --------
    >>> from fiedler import Energy, Precomputed
    >>> Energy(Precomputed([[0, 2], [2, 0]])).evaluate([[1.0, 5.0], [4.0, 5.0]])
    array([18., nan])
    """

    reads_scale = accepts_groups = True

    def scorer(self, problem: Problem) -> Scorer:
        graph = problem.graph(as_recipe(self.graph))
        whole = Scorer(graph.rows, graph.energy, graph.cost)
        if problem.groups is None and problem.known is None:
            return whole
        # The energies of both signs, as in ReliefF, read the filled values: these vary less and lower the weights.
        if problem.known is None or as_recipe(self.graph).signed:
            parts: Any = lambda F, columns: graph.energy(F)[None]  # noqa: E731
        else:
            parts = self._parts_with_holes(problem, problem.known, graph)
        return whole._replace(additive=Additive(parts, lambda values, root: values[0], 1))

    def _parts_with_holes(self, problem: Problem, known: np.ndarray, graph: Graph) -> Any:
        """The energy of the known values, as large as that of a complete column, and the penalty for holes."""
        W, sign = weights_without_loops(graph), -1.0 if self.greater_is_better else 1.0
        penalty, total = sign * graph.volume * quotient_penalty(problem, graph), float(W.sum())

        def parts(F: Any, columns: slice) -> np.ndarray:
            energy, weight = known_energies(W, F, known[:, columns])
            spread = known_variance(problem, F, columns, graph.rows)
            return (energy * total / weight + penalty[columns] * spread)[None]

        return parts


class Ratio(Criterion):
    """The quotient f'L_G f / f'L_H f: similar along edges of G, different along edges of H ([KA] eq. 9, 12).

    Small is good.

    Parameters
    ----------
    numerator : Recipe
        The graph G, between whose neighbours a good feature differs little.
    denominator : Recipe
        The graph H, between whose neighbours a good feature differs much.

    Examples
    --------
    >>> from fiedler import CannotLink, MustLink, Ratio
    >>> Ratio(MustLink(), CannotLink()).evaluate([[0.0], [1.0], [5.0]], must_link=[[0, 1]], cannot_link=[[0, 2]])
    array([0.04])
    """

    accepts_groups = True

    def __init__(self, numerator: Recipe, denominator: Recipe):
        self.numerator, self.denominator = numerator, denominator

    @property
    def nonnegative(self) -> bool:
        return not (as_recipe(self.numerator).signed or as_recipe(self.denominator).signed)

    def null(self) -> Null:
        graphs = as_recipe(self.numerator), as_recipe(self.denominator)
        # If a graph reads X, a permuted feature would change the graph itself.
        return Quotient(*graphs) if self.nonnegative and not any(g.reads_X for g in graphs) else FeatureOrders()

    def scorer(self, problem: Problem) -> Scorer:
        above, below = (problem.graph(as_recipe(g)) for g in (self.numerator, self.denominator))
        both = above.cost + below.cost
        whole = Scorer(above.rows | below.rows, lambda F: above.energy(F) / below.energy(F), both)
        if problem.groups is None and problem.known is None:
            return whole
        if problem.known is None:
            return whole._replace(additive=_quotient(lambda F, columns: np.array([above.energy(F), below.energy(F)])))
        return whole._replace(additive=self._with_holes(problem, above, below))

    def _with_holes(self, problem: Problem, above: Graph, below: Graph) -> Additive:
        near, far = (weights_without_loops(graph) for graph in (above, below))
        # A noise column scores near.sum() / far.sum(), the unit of the deviation.
        noise, known = float(near.sum() / far.sum()), problem.known
        assert known is not None
        penalty = noise * per_feature(problem, difference_penalty(problem, near, far))
        if above.weights.csr is not None:  # given pairs
            return _quotient(lambda F, columns: np.array([above.energy(F), below.energy(F)]), 0.5 * penalty)

        def parts(F: Any, columns: slice) -> np.ndarray:
            found = [(W, *known_energies(W, F, known[:, columns])) for W in (near, far)]
            return np.array([energy / weight * W.sum() for W, energy, weight in found])

        return _quotient(parts, penalty)


def _quotient(parts: Any, penalty: Any = 0.0) -> Additive:
    return Additive(parts, lambda values, root: values[0] / values[1] + penalty, 2)


class Rayleigh(OnGraph):
    """The Laplacian score f'Lf / f̃'Df̃ on any graph; equals φ2 of [SPEC] with γ(λ) = λ.

    Parameters
    ----------
    graph : Recipe
        The graph with weights W and degrees D.

    Examples
    --------
    >>> from fiedler import KNN, Rayleigh
    >>> Rayleigh(KNN(1, "binary")).evaluate([[0.0], [1.0], [3.0], [4.0]])
    array([0.2])
    """

    accepts_groups = True

    def null(self) -> Null:
        graph = as_recipe(self.graph)
        return Quotient(graph) if graph.attracts and not graph.signed else FeatureOrders()

    def scorer(self, problem: Problem) -> Scorer:
        graph = problem.graph(as_recipe(self.graph))
        whole = Scorer(graph.rows, lambda F: graph.energy(F) / graph.mass(F), graph.cost)
        if problem.groups is None and problem.known is None:
            return whole
        noise, penalty = noise_value(graph), 0.0
        if problem.known is not None:
            sign = -1.0 if self.greater_is_better else 1.0
            penalty = sign * per_feature(problem, quotient_penalty(problem, graph))

        def parts(F: Any, columns: slice) -> np.ndarray:
            return np.array([graph.energy(F), graph.mass(F)])

        def finish(values: np.ndarray, root: np.ndarray | None) -> np.ndarray:
            quotient = values[0] / values[1]
            return (quotient if root is None else noise - root * (noise - quotient)) + penalty

        return whole._replace(additive=Additive(parts, finish, 2))


def noise_value(graph: Graph) -> float:
    """r₀ = (vol - Σ w_ii) / (vol - Σ d² / vol), the Laplacian score of noise."""
    volume, degree = graph.volume, graph.degree
    return (volume - graph.weights.trace()) / (volume - float(degree @ degree) / volume)


def per_feature(problem: Problem, penalty: np.ndarray) -> Any:
    """Penalties of the columns as penalties of the features: the mean over their columns."""
    return penalty if problem.groups is None else problem.groups.mean(penalty)
