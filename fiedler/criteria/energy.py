"""The energy of a feature on a graph, f'Lf = ½ Σ_ij w_ij (f_i - f_j)², and quotients of energies."""

from __future__ import annotations

from ..graphs import Recipe, as_recipe
from ..problem import Problem
from .criterion import Criterion, Scorer
from .nulls import FeatureOrders, Null, Quotient


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

    reads_scale = True

    def scorer(self, problem: Problem) -> Scorer:
        graph = problem.graph(as_recipe(self.graph))
        return Scorer(graph.rows, graph.energy, graph.cost)


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
        return Scorer(above.rows | below.rows, lambda F: above.energy(F) / below.energy(F), both)


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
        return Scorer(graph.rows, lambda F: graph.energy(F) / graph.mass(F), graph.cost)
