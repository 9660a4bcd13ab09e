"""Which null a formula has: in closed form, by permuted labels, by permuted features, or none.

Rayleigh(G), Phi(G, 2, gamma=1), Fisher      Pearson III, and never below the normal tail
Ratio(G, H)                                  Pearson III
a Rayleigh(G) + b Disagreement(G)            permuted labels, B = 999 unless n_permutations says otherwise
anything else                                permuted features, where n_permutations is given
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..criteria import Criterion, Disagreement, Ratio, Rayleigh, Scaled, Sensitivity, Sum
from ..data.arrays import Block
from ..graphs import as_recipe
from ..problem import Problem
from .crossfit import reads_features
from .permutations import permuted_features, permuted_labels
from .significance import RatioNull, RayleighNull, Verdict

Test = Callable[[Block], Verdict]
Builder = Callable[[Problem, Any], Test]  # a problem whose graphs have not read the columns, a seed -> their test

FEWEST_ROWS, _FEWEST_PAIRS = 20, 10  # below which the closed forms were not found to hold
_LABEL_ORDERS = 999
_FALLBACK = "n_permutations=999 tests it by permutations"


def null_of(criterion: Criterion, n_permutations: int | None) -> tuple[Builder, int | None]:
    """How the test of a criterion is built on its graphs, and how many permutations it makes; or why there is none."""
    core = criterion._tested()
    for part in core.walk():
        if isinstance(part, Sensitivity):
            raise ValueError(
                f"{criterion!r} measures how a graph's own spectrum moves with a feature that is in it, so that no "
                "graph without the feature can test it; test LaplacianScore() instead."
            )
    weight = _label_weight(core)
    if weight is not None:
        orders = _LABEL_ORDERS if n_permutations is None else n_permutations
        return _by_labels(core, weight, orders), orders
    if n_permutations is not None:
        return _by_features(criterion, n_permutations), n_permutations
    if isinstance(core, Rayleigh) and as_recipe(core.graph).attracts and not as_recipe(core.graph).signed:
        return _rayleigh(core), None
    if isinstance(core, Ratio) and core.nonnegative and not reads_features(core):
        return _ratio(core), None
    raise ValueError(
        f"{criterion!r} has no null in closed form, which Rayleigh quotients on graphs of similarities, the Fisher "
        f"score and C1 have; {_FALLBACK}."
    )


def _label_weight(core: Criterion) -> float | None:
    """b of a Rayleigh(G) + b Disagreement(G), a, b > 0, or 1 of the second term alone; None for other formulas."""
    if isinstance(core, Disagreement):
        return 1.0
    if not isinstance(core, Sum):
        return None
    terms = {}
    for term in (core.left, core.right):
        factor, inside = (term.factor, term.criterion) if isinstance(term, Scaled) else (1.0, term)
        if isinstance(inside, (Rayleigh, Disagreement)) and factor > 0:
            terms[type(inside)] = factor, as_recipe(inside.graph)
    if len(terms) < 2 or terms[Rayleigh][1].key != terms[Disagreement][1].key:
        return None
    return terms[Disagreement][0]


def _rayleigh(core: Rayleigh) -> Builder:
    def build(problem: Problem, seed: Any) -> Test:
        null = RayleighNull(problem.graph(as_recipe(core.graph)))
        _check_rows(core, null.n)
        return null

    return build


def _ratio(core: Ratio) -> Builder:
    def build(problem: Problem, seed: Any) -> Test:
        above, below = (problem.graph(as_recipe(g)) for g in (core.numerator, core.denominator))
        if min(above.n_edges, below.n_edges) < _FEWEST_PAIRS:
            raise ValueError(
                f"{core!r} has {above.n_edges} and {below.n_edges} pairs, fewer than the {_FEWEST_PAIRS} + "
                f"{_FEWEST_PAIRS} its null in closed form needs; {_FALLBACK}."
            )
        null = RatioNull(above, below)
        _check_rows(core, null.n)
        return null

    return build


def _check_rows(core: Criterion, n: int) -> None:
    if n < FEWEST_ROWS:
        raise ValueError(
            f"{core!r} reads {n} rows, fewer than the {FEWEST_ROWS} its null in closed form needs; {_FALLBACK}."
        )


def _by_labels(core: Criterion, weight: float, n_permutations: int) -> Builder:
    graph = next(part for part in core.walk() if isinstance(part, Disagreement)).graph

    def build(problem: Problem, seed: Any) -> Test:
        codes = problem.supervision.classes("SSelect")[0]
        return permuted_labels(
            core._scorer(problem), weight, problem.graph(as_recipe(graph)), codes, n_permutations, seed
        )

    return build


def _by_features(criterion: Criterion, n_permutations: int) -> Builder:
    def build(problem: Problem, seed: Any) -> Test:
        good = criterion.greater_is_better, criterion.nonnegative
        return permuted_features(criterion._scorer(problem), n_permutations, *good, seed)

    return build
