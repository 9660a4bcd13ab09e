"""The set of features with the best ratio of sums, mass over energy, and the score that finds it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..graphs import Recipe, as_recipe
from ..problem import Problem
from ..validation import check_integer
from .criterion import Criterion, Scorer
from .energy import Rayleigh
from .nulls import Null

_ROUNDING = 1e-12  # a smaller difference, relative to the mass, is rounding error


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

    reads_scale = True

    @property
    def greater_is_better(self) -> bool:
        return True

    @property
    def nonnegative(self) -> bool:
        return False

    def sized(self, n_features: int) -> Criterion:
        return self if self.n_features is not None else TraceDifference(self.graph, n_features)

    def null(self) -> Null:
        return Rayleigh(as_recipe(self.graph)).null()

    def scorer(self, problem: Problem) -> Scorer:
        graph = problem.graph(as_recipe(self.graph))
        k = self.n_features if self.n_features is None else check_integer("n_features", self.n_features, 1)

        def settle(values: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
            energy, mass = values
            scored = int(np.sum(~np.isnan(mass)))
            ratio = best_ratio(energy, mass, max(1, scored // 2) if k is None else k)
            return lambda some: _difference(some[0], some[1], ratio)

        return Scorer(graph.rows, lambda F: np.array([graph.energy(F), graph.mass(F)]), n_values=2, settle=settle)


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
