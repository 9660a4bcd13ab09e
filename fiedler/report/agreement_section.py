"""The section on agreement: how similarly the method and other methods rank the same data."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..criteria import Criterion
from ..methods import METHODS, Variance
from ..plots import drawings
from ..plots.svg import SvgFigure
from ..selection.ranking import rank, rank_features
from ..syntax import as_criterion, short_text
from ..words import number, printable
from .case import Case, correlations, mean_ranks, quiet
from .section import Section

SLOW_CELLS = 5e7  # if X has more values, no other methods are scored


def _compute(case: Case) -> dict[str, Any]:
    """Rank correlations and common features of the method and other methods on the same data."""
    m = case.problem.n_features
    if m < 3:
        return {"note": "Agreement between methods needs at least three features."}
    k = min(case.n_selected, m)
    own = case.scores, case.selector.order_, case.criterion.is_set, case.criterion.greater_is_better
    scored = {short_text(case.criterion): own}
    for name, criterion in _others(case).items():
        if repr(criterion) == repr(case.criterion) or name in scored:
            continue
        ranking = _ranked(case, criterion, k)
        if ranking is not None:
            scored[name] = (*ranking, criterion.greater_is_better)
    if len(scored) < 2:
        return {"note": "No other method could be scored on these data."}
    ranks = np.array([_ranks(scores, order, by_order, up) for scores, order, by_order, up in scored.values()])
    chosen = [set(order[:k].tolist()) for _, order, _, _ in scored.values()]
    overlap = [[len(a & b) / k for b in chosen] for a in chosen]
    return {"methods": list(scored), "spearman": correlations(ranks), "overlap": overlap, "k": k}


def _others(case: Case) -> dict[str, Criterion]:
    (n, m), comparison = case.problem.X.shape, case.comparison
    if comparison is not None:
        seconds = {name: about["seconds"] for name, about in comparison.summary()["methods"].items()}
        formulas = {name: formula for name, formula in comparison.criteria.items() if formula and seconds[name] < 5}
        return {name: made for name, formula in formulas.items() if (made := _parsed(name, formula)) is not None}
    names = ["variance"]
    if n * m <= SLOW_CELLS:
        names += ["laplacian"] if case.criterion.is_set else ["subset", "laplacian"]
        names += {"classes": ["fisher", "relieff"], "target": ["correlation", "sls"]}.get(case.labels[0], [])
        names += ["constraint"] * case.problem.supervision.has_pairs
    return {name: METHODS[name]() for name in names}


def _parsed(*texts: str) -> Criterion | None:
    for text in texts:
        try:
            return as_criterion(text)
        except ValueError:
            continue
    return None


def _ranked(case: Case, criterion: Criterion, k: int) -> tuple[np.ndarray, np.ndarray, bool] | None:
    """Scores, order, and whether only the order counts, as for sets; None if the method lacks its labels or pairs."""
    if isinstance(criterion, Variance):
        return case.variance, rank_features(case.variance, True), False
    problem = case.problem if "pairs" in criterion.uses else case.without_pairs
    try:
        ranking = quiet(lambda: rank(criterion, problem, k))
    except (ValueError, TypeError):
        return None
    return ranking.scores, ranking.order, ranking.shares is not None


def _ranks(scores: np.ndarray, order: np.ndarray, by_order: bool, greater_is_better: bool) -> np.ndarray:
    if not by_order:
        return mean_ranks(scores, greater_is_better)
    places = np.empty(len(order))
    places[order] = np.arange(1.0, len(order) + 1)
    return places


def _view(s: dict[str, Any]) -> dict[str, Any]:
    agreement = s["agreement"]
    if "methods" not in agreement:
        return {}
    others = "the methods of the comparison" if s.get("comparison") else "other methods with their default parameters"
    common = f"Common among the first {agreement['k']}"
    return {
        "others": others,
        "spearman": _map(agreement, "spearman", "Rank correlation (Spearman)"),
        "overlap": _map(agreement, "overlap", common),
    }


def _map(agreement: dict[str, Any], key: str, title: str) -> SvgFigure:
    """A map with one number for every two methods."""
    methods, values = agreement["methods"], agreement[key]
    pairs = [(i, j) for i in range(len(methods)) for j in range(i)]
    short = [printable(name, 40) for name in methods]
    about = "; ".join(f"{short[i]} and {short[j]}: {number(values[i][j]):.2f}" for i, j in pairs)
    with SvgFigure(key, title, about, height=min(max(40 * len(methods) + 110, 230), 420)) as figure:
        ax, middle = figure.ax, np.arange(len(methods)) + 0.5
        drawings.squares(ax, values, methods, tell=figure.tell)
        drawings.cell_numbers(ax, values)
        ax.set_xticks(middle, [printable(name, 16) for name in methods])
        ax.set_yticks(middle, [printable(name, 22) for name in methods])
        if len(methods) > 4 or max(map(len, methods)) > 9:
            for label in ax.get_xticklabels():
                label.set(rotation=32, ha="right", rotation_mode="anchor")
    return figure


_TEMPLATE = """
{% if s.agreement.note %}<p class="muted">{{ s.agreement.note }}</p>{% else %}
<p class="lead small">The same data are ranked by {{ others }}. A value of 1 means equal rankings, 0 means unrelated
rankings, and a negative value means opposite rankings.</p>
<div class="two">
{{ figure(spearman, "Rank correlation", "Spearman, over all features") }}
{% set common = "share of the first " ~ s.agreement.k ~ " features that two methods have in common" %}
{{ figure(overlap, "Common selection", common) }}
</div>
{% endif %}
"""
AGREEMENT = Section(
    "agreement", "Agreement between methods", _TEMPLATE, label="Agreement", compute=_compute, view=_view
)
