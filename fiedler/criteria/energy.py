"""The energy of a feature on a graph, f'Lf = ½ Σ_ij w_ij (f_i - f_j)², and quotients of energies."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.arrays import dense
from ..engine.threads import batches
from ..graphs import Graph, Recipe, as_recipe
from ..problem import Problem
from .criterion import Criterion, Features, Scorer, Traits, per_feature
from .missing import (
    SHARE,
    SHARE_OF_PAIRS,
    KnownPairs,
    difference_penalty,
    graph_weights,
    known_variance,
    quotient_penalty,
    weights_without_loops,
)
from .nulls import FeatureOrders, Null, Quotient

_EDGES_AT_ONCE = 4096


class OnGraph(Criterion):
    """A criterion on one graph; the graph determines its direction and sign."""

    def __init__(self, graph: Recipe):
        self.graph = graph

    @property
    def traits(self) -> Traits:
        graph = as_recipe(self.graph)
        return Traits(not graph.attracts, not graph.signed, groups=True, one_pass=True, blocks=True)


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

    @property
    def traits(self) -> Traits:
        return super().traits._replace(reads_scale=True)

    def scorer(self, problem: Problem) -> Scorer:
        recipe = as_recipe(self.graph)
        graph, known = problem.graph(recipe), problem.known
        # The energies of both signs, as in ReliefF, read the filled values: these vary less and lower the weights.
        if known is None or recipe.signed:
            return Scorer(graph.rows, lambda F, columns: graph.energy(F), cost=graph.cost)
        W, sign = weights_without_loops(graph), -1.0 if self.greater_is_better else 1.0
        penalty, total = sign * graph.volume * quotient_penalty(problem, graph), float(W.sum())

        def parts(F: Any, columns: slice) -> np.ndarray:
            """The energy of the known values, as large as that of a complete column, and the penalty for holes."""
            pairs = KnownPairs.of(W, F, known[:, columns])
            variance = known_variance(problem, F, columns, graph.rows)
            return pairs.energy * total / pairs.volume + penalty[columns] * variance

        return Scorer(graph.rows, parts, cost=graph.cost)


class RangeDifferences(OnGraph):
    """Absolute differences along the edges, ½ Σ_ij w_ij |f_i - f_j| / (max f - min f); it does not depend on units.

    The range is that of the rows with edges.

    Parameters
    ----------
    graph : Recipe
        The graph with weights W.

    Examples
    --------
    >>> from fiedler import Precomputed, RangeDifferences
    >>> RangeDifferences(Precomputed([[0, 2, 0], [2, 0, 0], [0, 0, 0]])).evaluate([[1.0], [4.0], [7.0]])
    array([2.])
    """

    @property
    def traits(self) -> Traits:
        return super().traits._replace(groups=False, missing=False, one_pass=False, blocks=False)

    def scorer(self, problem: Problem) -> Scorer:
        graph = problem.graph(as_recipe(self.graph))
        i, j, weight = graph.edges
        rows, parts = np.flatnonzero(graph.rows), batches(len(i), _EDGES_AT_ONCE)

        def differences(F: Any, columns: Any) -> np.ndarray:
            F = dense(F)
            total = sum((weight[part] @ np.abs(F[i[part]] - F[j[part]]) for part in parts), np.zeros(F.shape[1]))
            with np.errstate(divide="ignore", invalid="ignore"):  # a constant column has no score
                return total / np.ptp(F[rows], axis=0)

        return Scorer(graph.rows, differences, cost=graph.cost)


class Ratio(Criterion):
    """The quotient f'L_G f / f'L_H f: similar along G, different along H ([KA] eq. 9, 12; [ZCZ], [ZLH]).

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

    def __init__(self, numerator: Recipe, denominator: Recipe):
        self.numerator, self.denominator = numerator, denominator

    @property
    def traits(self) -> Traits:
        signed = as_recipe(self.numerator).signed or as_recipe(self.denominator).signed
        return Traits(nonnegative=not signed, groups=True, one_pass=True, blocks=True)

    def null(self) -> Null:
        graphs = as_recipe(self.numerator), as_recipe(self.denominator)
        # If a graph reads X, a permuted feature would change the graph itself.
        fixed = self.traits.nonnegative and not any(graph.reads_X for graph in graphs)
        return Quotient(*graphs) if fixed else FeatureOrders()

    def scorer(self, problem: Problem) -> Scorer:
        above, below = (problem.graph(as_recipe(g)) for g in (self.numerator, self.denominator))
        known, penalty = problem.known, np.zeros(1)
        parts: Any = lambda F, columns: np.array([above.energy(F), below.energy(F)])  # noqa: E731
        if known is not None:
            near, far = (weights_without_loops(graph) for graph in (above, below))
            # A noise column scores near.sum() / far.sum(), the unit of the deviation.
            noise = float(near.sum() / far.sum())
            penalty = noise * per_feature(problem, difference_penalty(problem, near, far))
            penalty *= SHARE_OF_PAIRS if above.csr is not None else SHARE
            if above.csr is None:  # class labels imply the pairs

                def parts(F: Any, columns: slice) -> np.ndarray:
                    found = [(W.sum(), KnownPairs.of(W, F, known[:, columns])) for W in (near, far)]
                    return np.array([pairs.energy / pairs.volume * total for total, pairs in found])

        rows, cost = above.rows | below.rows, above.cost + below.cost
        return Scorer(rows, parts, lambda values, among: values[0] / values[1] + penalty, cost, 2)


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

    def null(self) -> Null:
        graph = as_recipe(self.graph)
        return Quotient(graph) if graph.attracts and not graph.signed else FeatureOrders()

    def scorer(self, problem: Problem) -> Scorer:
        graph = problem.graph(as_recipe(self.graph))
        noise, penalty = 0.0 if problem.groups is None else noise_value(graph), np.zeros(1)
        parts = lambda F, columns: np.array([graph.energy(F), graph.moments(F)[1]])  # noqa: E731
        if problem.known is not None:
            sign, W, usual, known = -1.0 if self.greater_is_better else 1.0, graph_weights(graph), parts, problem.known
            penalty, ordinary = sign * per_feature(problem, quotient_penalty(problem, graph)), noise_value(graph)

            def parts(F: Any, columns: slice) -> np.ndarray:
                values, some = usual(F, columns), np.flatnonzero(~known[:, columns].all(axis=0))
                pairs = KnownPairs.of(W, F[:, some], known[:, columns][:, some])
                values[:, some] = pairs.energy * ordinary / pairs.noise, pairs.mass
                return values

        def finish(values: np.ndarray, among: Features) -> np.ndarray:
            quotient = values[0] / values[1]
            return (quotient if among.root is None else noise - among.root * (noise - quotient)) + penalty

        return Scorer(graph.active, parts, finish, graph.cost, 2)


def noise_value(graph: Graph) -> float:
    """r₀ = (vol - Σ w_ii) / (vol - Σ d² / vol), the Laplacian score of noise."""
    volume, degree = graph.volume, graph.degree
    return (volume - graph.trace()) / (volume - float(degree @ degree) / volume)
