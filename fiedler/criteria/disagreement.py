"""The label term of sSelect: disagreement between the sign of a feature and the classes ([ZL] eq. 3.8); λ by the cut.

The cut value is the second smallest eigenvalue of 𝓛 of the graph built from the selected features only:

    c = λ_2(𝓛),   𝓛 = D^-½ (D - W) D^-½        [ZL] Algorithm 3

It is small if the samples form two well separated groups. It is 0 for every disconnected graph and then has no meaning,
so every result states the number of components. ``SSelect(lam="auto")`` chooses λ by the cut value.

The paper does not name the graph of the cut. On few columns of counts, as in its text data, most rows are copies of
others, and a kNN graph falls apart. The cut of counts is therefore that of RBF(2) on presence (count > 0). Its rows are
few distinct patterns: with the diagonal, W has the eigenvectors of the graph on the patterns, weighted by their
numbers of rows, and others with λ = 1.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import entr

from ..data.arrays import dense
from ..engine.products import is_integer
from ..graphs import KNN, Graph, Recipe, as_recipe
from ..problem import Problem
from .criterion import Criterion, Scorer, Traits
from .energy import Rayleigh
from .nulls import LabelOrders
from .order import check_scored, rank_features

LAMBDAS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
NEARLY_ZERO = 1e-9  # a graph with a smaller cut value counts as disconnected
_PATTERNS = 2000  # most distinct patterns of presence whose graph is built

Cut = tuple[float, int, int]  # value, number of components, rows on the smaller side


class Disagreement(Criterion):
    """1 - NMI(sign(f̃), y) on the labelled rows, the second term of [ZL] eq. 3.8.

    f̃ is centred by the degrees of the graph over **all** rows; sign(0) = 1. NMI is the mutual information divided by
    the larger of the two entropies; it is 0 if both are 0. y may hold any number of classes.

    Parameters
    ----------
    graph : Recipe
        The graph whose degrees centre the features.

    Examples
    --------
    >>> from fiedler import KNN, Disagreement
    >>> X = [[0.0, 2.0], [1.0, 0.0], [4.0, 1.0], [5.0, 3.0]]
    >>> Disagreement(KNN(1)).evaluate(X, [0, -1, -1, 2]).round(9)
    array([0., 1.])
    """

    traits = Traits(needs="classes")

    def __init__(self, graph: Recipe):
        self.graph = graph

    def null(self) -> LabelOrders:
        return LabelOrders(as_recipe(self.graph))

    def scorer(self, problem: Problem) -> Scorer:
        graph = problem.graph(as_recipe(self.graph))
        codes, names = problem.supervision.classes("Disagreement")
        rows = np.flatnonzero(codes >= 0)
        member = np.equal.outer(np.arange(len(names)), codes[rows]).astype(np.float64)

        def parts(F: Any, columns: Any) -> np.ndarray:
            centred = graph.centred_rows(F, rows)
            return disagreement(member @ (centred >= 0), member.sum(axis=1)[:, None])  # counts for all features at once

        return Scorer(graph.rows, parts)


def disagreement(positive: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """1 - NMI from the counts of positive signs per class and feature (c, b), and the class sizes (c, 1)."""
    joint = np.stack([positive, sizes - positive]) / sizes.sum()
    of_sign, of_class = entr(joint.sum(axis=1)).sum(axis=0), entr(joint.sum(axis=0)).sum(axis=0)
    information = np.maximum(of_sign + of_class - entr(joint).sum(axis=(0, 1)), 0.0)
    entropy = np.maximum(of_sign, of_class)
    return 1.0 - information / np.where(entropy > 0, entropy, 1.0)


# -------------------------------------------------------------------- λ by the cut


class AutoLambda(Criterion):
    """λ Rayleigh(G) + (1 - λ) Disagreement(G) with λ chosen on the data, the formula of ``SSelect(lam="auto")``.

    λ is the choice of :func:`fiedler.evaluate.tune_lambda` with its defaults. It is written to the logger "fiedler".
    """

    def __init__(self, graph: Recipe):
        self.graph = graph

    @property
    def traits(self) -> Traits:
        return Traits(nonnegative=Rayleigh(self.graph).traits.nonnegative, needs="classes")

    def scorer(self, problem: Problem) -> Scorer:
        candidates = [semi_supervised(lam, as_recipe(self.graph)) for lam in LAMBDAS]
        _, best = best_by_cut(problem, candidates, min(10, problem.n_features), None)
        logging.getLogger("fiedler").info("SSelect(lam='auto') uses lam=%g", LAMBDAS[best])
        return candidates[best].scorer(problem)


def semi_supervised(lam: Any, graph: Recipe) -> Criterion:
    """λ Rayleigh(G) + (1 - λ) Disagreement(G) ([ZL] eq. 3.8)."""
    return lam * Rayleigh(graph) + (1.0 - lam) * Disagreement(graph)


def cut_recipe(graph: Any) -> Recipe:
    """The graph of a cut, which must be built from X only; None stands for binary nearest neighbours."""
    graph = KNN(weight="binary") if graph is None else as_recipe(graph)
    if graph.supervised or not graph.reads_X:
        raise ValueError(
            f"graph={graph!r} is not built from the selected features, so its cut cannot judge them; "
            "use a recipe that reads only X, such as KNN(weight='binary')."
        )
    return graph


def cut(X: Any, recipe: Recipe | None) -> Cut:
    """Cut value, number of components (including isolated rows), and number of rows on the smaller side of the cut.

    Without a recipe, counts are cut by presence and other columns by binary nearest neighbours.
    """
    if recipe is None and _are_counts(X):
        patterns, sizes = np.unique(dense(X) > 0, axis=0, return_counts=True)
        if len(patterns) <= _PATTERNS:
            return _presence_cut(patterns.astype(np.float64), sizes)
    graph = Problem(X).graph(cut_recipe(recipe))
    n_components = graph.n_components + graph.n_isolated
    if n_components > 1:
        return 0.0, n_components, int(X.shape[0] - graph.component_sizes.max(initial=0))
    values, vectors = graph.spectrum(2)
    above = int(np.sum(vectors[:, 1] > 0))
    return max(float(values[1]), 0.0), 1, min(above, X.shape[0] - above)


def _are_counts(X: Any) -> bool:
    """Whether X holds whole numbers from 0 on, at least half of them 0."""
    return bool(X.min() >= 0 and is_integer(X)) and 2 * np.count_nonzero(dense(X)) <= np.prod(X.shape)


def _presence_cut(patterns: np.ndarray, sizes: np.ndarray) -> Cut:
    """The cut of RBF(2) on rows that are copies of few patterns."""
    if len(patterns) == 1:
        return 1.0, 1, 0
    values, vectors = Graph.from_weights(
        np.outer(sizes, sizes) * np.exp(-(cdist(patterns, patterns) ** 2) / 8)
    ).spectrum(2)
    above = int(sizes[vectors[:, 1] > 0].sum())
    return min(float(values[1]), 1.0), 1, min(above, int(sizes.sum()) - above)


def best_by_cut(
    problem: Problem, candidates: Sequence[Criterion], k: int, graph: Recipe | None
) -> tuple[dict[str, np.ndarray], int]:
    """Cuts of the first k features of each candidate, and the number of the best candidate (:func:`best_cut`)."""
    graph = graph if graph is None else cut_recipe(graph)
    cuts, without_pairs = [], problem.without_pairs()
    for candidate in candidates:
        resolved, seen = candidate.resolved(), problem if "pairs" in candidate.reads else without_pairs
        resolved.check(seen)
        scores = resolved.score(seen)
        check_scored(candidate, scores, k)
        best = rank_features(scores, candidate.greater_is_better)[:k]
        cuts.append(cut(problem.X[:, problem.columns_of(best)], graph))
    value, pieces, side = (np.array(column) for column in zip(*cuts, strict=True))
    if not ((pieces == 1) & (value > NEARLY_ZERO)).any():
        message = (
            f"the graph on the first {k} features is disconnected for every choice ({pieces.min()} to {pieces.max()} "
            "components), so the choice with the fewest components is taken; use more features or neighbours, "
            "such as n_features=50 or graph=KNN(20, weight='binary')."
        )
        if pieces.min() == 1:
            message = (
                f"graph={graph!r} on the first {k} features is connected, but its weights between far rows vanish: the "
                "cut is 0 for every choice, and the first is taken; use wider weights, such as graph=RBF(scale=2.0)."
            )
        warnings.warn(message, UserWarning, stacklevel=3)
    return {"cut": value, "n_components": pieces, "smaller_side": side}, best_cut(cuts)


def best_cut(cuts: Sequence[Cut]) -> int:
    """Number of the smallest cut among connected graphs; if there are none, of the graph with fewest components."""
    value, pieces, _ = (np.array(column) for column in zip(*cuts, strict=True))
    whole = (pieces == 1) & (value > NEARLY_ZERO)
    return int(np.argmin(np.where(whole, value, np.inf)) if whole.any() else np.argmin(pieces))
