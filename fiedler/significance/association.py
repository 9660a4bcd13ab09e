"""Association of features with labels, a target or pairs, by mid-ranks; the test of sets whose gains read them.

    classes   the Rayleigh quotient of the mid-ranks on ClassGraph: a Kruskal-Wallis test, with the moments over all
              orders of the ranks
    target    Spearman's r between the mid-ranks of the feature and of the target; p from Student's t
    pairs     C1 of the mid-ranks: differences in must-link pairs over those in cannot-link pairs

Ranks are taken on the rows with a label, a target or a pair. Fewer rows than a closed form needs are permuted.
Introduced in this library.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtr
from scipy.stats import rankdata

from ..criteria.closed_form import RatioNull, RayleighNull, Verdict, rarer_value
from ..data.arrays import Block, take_rows
from ..engine.permuted import standards
from ..graphs import CannotLink, ClassGraph, Graph, MustLink
from ..problem import Problem
from .permutations import permuted_features

FEWEST_ROWS, FEWEST_PAIRS = 20, 10  # for smaller numbers the closed forms were found to be inaccurate
_ORDERS = 999  # permutations where a closed form is inaccurate
_SURE = 1e-300  # the least p-value of a perfect correlation


class _Ranked(NamedTuple):
    """How the ranks of a feature are scored, small is good, and tested in closed form."""

    rows: np.ndarray
    score: Callable[[Any], np.ndarray]
    closed: Callable[[Any], Verdict] | None


def association(
    problem: Problem, kind: str, n_permutations: int | None
) -> tuple[Callable[[Problem, Any], Callable[[Block], Verdict]], int | None]:
    """The function that builds the test of association with "classes", a "target" or "pairs", and its permutations."""
    if kind == "target":
        ranked = _with_target(problem.supervision.target("the test of association"))
    elif kind == "classes":
        graph = problem.graph(ClassGraph())
        # The statistic is a sum of few squares, so its tail is that of a gamma distribution and never the normal one.
        null = RayleighNull(graph, normal_too=False) if graph.active.sum() >= FEWEST_ROWS else None
        ranked = _Ranked(graph.active, lambda R: graph.energy(R) / graph.mass(R), null)
    else:
        ranked = _with_pairs(problem.graph(MustLink()), problem.graph(CannotLink()))
    orders = _ORDERS if n_permutations is None and ranked.closed is None else n_permutations

    def ranks(F: Block) -> np.ndarray:
        R = np.zeros(F.shape)
        R[ranked.rows] = rankdata(take_rows(F, np.flatnonzero(ranked.rows)), axis=0)
        return R

    def build(problem: Problem, seed: Any) -> Callable[[Block], Verdict]:
        test = ranked.closed
        if orders is not None or test is None:
            test = permuted_features(ranked.rows, ranked.score, orders or _ORDERS, False, True, seed)
        return lambda F: test(ranks(F))

    return build, orders


def _with_pairs(must: Graph, cannot: Graph) -> _Ranked:
    rows = must.active | cannot.active
    enough = min(must.n_edges, cannot.n_edges) >= FEWEST_PAIRS and rows.sum() >= FEWEST_ROWS
    null = RatioNull(must, cannot) if enough else None
    return _Ranked(rows, lambda R: must.energy(R) / cannot.energy(R), null)


def _with_target(target: np.ndarray) -> _Ranked:
    rows = ~np.isnan(target)
    n = int(rows.sum())
    y = rankdata(target[rows]) - (n + 1) / 2.0
    y /= np.linalg.norm(y) or np.nan

    def correlation(R: np.ndarray) -> np.ndarray:
        centred = R[rows] - (n + 1) / 2.0
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.clip((y @ centred) / np.linalg.norm(centred, axis=0), -1.0, 1.0)

    def closed(R: np.ndarray) -> Verdict:
        r = np.abs(correlation(R))
        with np.errstate(divide="ignore", invalid="ignore"):
            p = 2.0 * stdtr(n - 2, -r * np.sqrt((n - 2) / (1.0 - r * r)))
        rarer = rarer_value(*standards(R, rows)[3:5], n)
        effect = 1.0 - (1.0 - r * r) * (n - 1.0) / (n - 2.0)  # 1 - r² beside its mean over all orders
        return Verdict(np.maximum(p, _SURE), -r * np.sqrt(n - 1.0), effect, rarer, np.zeros(len(r)))

    return _Ranked(rows, lambda R: 1.0 - correlation(R) ** 2, closed if n >= FEWEST_ROWS else None)
