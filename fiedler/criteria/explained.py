"""Criteria of sets: how much of a kernel over the samples a set explains, and the best ratio of sums over a set."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graphs import Recipe, as_recipe
from ..graphs.smoothing import FILTERS
from ..problem import Problem
from ..sets.formula import SetFormula, Term
from ..validation import check_choice, check_integer, check_share
from .criterion import Criterion, Features, Scorer, Traits
from .energy import Rayleigh
from .nulls import NoTest, Null

_ROUNDING = 1e-12  # a smaller difference, relative to the mass, is rounding error


class Explained(Criterion):
    """J(S) = tr[(C_S'C_S)⁻¹ C_S'K C_S], the share of a kernel K that a set of features explains. Large is good.

    ``evaluate`` scores every feature as if it were chosen first. A selector adds one feature after the other, each time
    the one with the largest num / den^power, with num = c̃'Kc̃ and den = c̃'c̃. Here c̃ is the residual of a column on the
    features chosen so far. A near-duplicate of a chosen feature has almost no residual, so it is not chosen.

    Set forms of other scores are special cases. ``filter="identity"`` is forward selection component analysis.
    ``of="graph"`` with ``filter="walk"`` is the Laplacian score (LS) of sets, which is 1 - LS for one feature; on
    ``ClassGraph()`` it is the Fisher score (F) of sets, which is F / (1 + F) for one feature.

    Parameters
    ----------
    graph : Recipe or None
        The graph; None is allowed only with ``filter="identity"``.
    filter : {"smooth", "steps", "walk", "identity"}, float or callable, default="smooth"
        The filter F, a function of 𝓛; see :mod:`fiedler.graphs.smoothing`. "steps" is a fast alternative to "smooth":
        it needs no eigenvectors. A number is a power γ and means γ(2) - γ(𝓛).
    of : {"features", "graph"}, default="features"
        What is explained. "features": K = F C C' F, all features averaged over neighbours. "graph": K = F, the graph
        itself, with samples weighted by their degrees.
    power : float in [0, 1], default=0.5
        1 takes the largest gain of J; smaller values prefer columns with a larger residual.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fiedler import Explained, KNN, LaplacianScore, SpectralSelector
    >>> X = load_iris(as_frame=True).data
    >>> SpectralSelector(Explained(KNN(5)), n_features_to_select=2).fit(X).get_feature_names_out()
    array(['sepal length (cm)', 'petal length (cm)'], dtype=object)
    >>> (Explained(KNN(5), "walk", of="graph", power=1).evaluate(X) + LaplacianScore(KNN(5)).evaluate(X)).round(9)
    array([1., 1., 1., 1.])
    """

    traits = Traits(greater_is_better=True, reads_scale=True, groups=True, blocks=True)

    def __init__(self, graph: Recipe | None, filter: Any = "smooth", of: str = "features", power: float = 0.5):
        self.graph, self.filter, self.of, self.power = graph, filter, of, power

    def null(self) -> Null:
        # A feature of the set is significant if it is smooth on the graph.
        if self.graph is None:
            return NoTest("has no graph, so features cannot be tested against noise; give it a graph.")
        return Rayleigh(as_recipe(self.graph)).null()

    def set_formula(self) -> SetFormula:
        check_choice("of", self.of, ("features", "graph"))
        check_share("power", self.power)
        graph = None if self.graph is None else as_recipe(self.graph)
        if isinstance(self.filter, str):
            check_choice("filter", self.filter, FILTERS)
        if graph is not None and (graph.signed or not graph.attracts):
            raise ValueError(
                f"graph={graph!r} cannot smooth: its edges may mean 'different'; use edges that mean 'similar', "
                "such as KNN(), ClassGraph() or MustLink()."
            )
        return SetFormula((Term(graph, self.filter, self.of),), (), float(self.power))


class TraceDifference(Criterion):
    """Difference mass_j - λ* energy_j, with the best ratio λ* of their sums over a set ([NIE]). Large is good.

        λ* = max_S Σ_{j in S} f̃_j'Df̃_j / Σ_{j in S} f_j'Lf_j      over all sets S of ``n_features`` features

    The features with the best scores are the set that attains λ*. λ* is found by iteration: select the features with
    the best scores, then set λ to the ratio of their sums. The ratio never decreases, and the iteration ends at the
    best set. Features are not rescaled, so a feature with a larger variance has more weight.

    Parameters
    ----------
    graph : Recipe
        The graph of the energies: ``KNN()`` for the ratio of Laplacian scores, ``ClassGraph()`` for that of Fisher
        scores, where the mass is the total scatter and the energy is the scatter inside the classes.
    n_features : int, optional
        Size of the set; by default the number that is stated for a selection, or half of the features.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fiedler import KNN, TraceDifference
    >>> TraceDifference(KNN(), 2).evaluate(load_iris().data).round(1)
    array([-2293.3, -2429. ,   967.2,  -967.2])
    """

    def __init__(self, graph: Recipe, n_features: int | None = None):
        self.graph, self.n_features = graph, n_features

    traits = Traits(greater_is_better=True, nonnegative=False, reads_scale=True, one_pass=True)

    def null(self) -> Null:
        return Rayleigh(as_recipe(self.graph)).null()

    def scorer(self, problem: Problem) -> Scorer:
        graph = problem.graph(as_recipe(self.graph))
        k = problem.n_wanted if self.n_features is None else check_integer("n_features", self.n_features, 1)

        def finish(values: np.ndarray, among: Features) -> np.ndarray:
            energy, mass = among.values
            ratio = best_ratio(energy, mass, k or max(1, int(np.sum(~np.isnan(mass))) // 2))
            return _difference(values[0], values[1], ratio)

        def parts(F: Any, columns: Any) -> np.ndarray:
            return np.array([graph.energy(F), graph.mass(F)])

        return Scorer(graph.rows, parts, finish, n=2, compares=True)


def best_ratio(energy: np.ndarray, mass: np.ndarray, k: int) -> float:
    """max_S Σ mass / Σ energy over all sets of k features; features without a score (NaN) take no part."""
    scored = np.flatnonzero(~np.isnan(mass))
    k = min(k, len(scored))
    ratio, chosen = 0.0, np.empty(0, dtype=np.intp)
    while k:
        scores = _difference(energy[scored], mass[scored], ratio)
        best = np.sort(np.argsort(-scores, kind="stable")[:k])
        if np.array_equal(best, chosen):
            break
        chosen = best
        below = float(energy[scored[chosen]].sum())
        new = float(mass[scored[chosen]].sum()) / below if below > 0.0 else np.inf
        if new <= ratio:  # rounding
            break
        ratio = new
    return ratio


def _difference(energy: np.ndarray, mass: np.ndarray, ratio: float) -> np.ndarray:
    """mass - ratio · energy; it is 0 if both are equal up to rounding, and mass if there is no energy."""
    with np.errstate(invalid="ignore"):
        difference = mass - ratio * energy
        difference = np.where(np.abs(difference) <= _ROUNDING * mass, 0.0, difference)
        return np.where(energy == 0.0, mass, difference)
