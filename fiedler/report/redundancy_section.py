"""The section on redundancy: selected features that correlate strongly with a better one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.arrays import take_columns, take_rows
from ..plots import drawings
from ..plots.svg import SvgFigure
from ..selection.redundancy import feature_likeness
from ..words import printable
from .case import Case, correlations
from .section import Section

CORRELATED_ROWS = 20_000  # largest number of rows for correlations between features
REDUNDANT = 0.9  # two features with at least this absolute correlation are redundant
# Largest numbers of features compared, of features in the figure, of repeats in the table.
_EXAMINED, _SHOWN, _LISTED = 200, 24, 14
_WRITTEN, _LARGE = 14, 10  # largest numbers of features whose cells have room for numbers, and for large ones


def compute_redundancy(case: Case) -> dict[str, Any]:
    """Correlations among the selected features, and the features that repeat a better one."""
    order = case.selector.order_[: min(case.n_selected, _EXAMINED)]
    order = order[~np.isnan(case.scores[order])]
    if len(order) < 2:
        return {"note": "Fewer than two selected features have a score, so there are no correlations."}
    n = case.problem.n_samples
    rows = np.linspace(0, n - 1, min(n, CORRELATED_ROWS)).astype(np.intp)
    if len(rows) < n:
        case.notes.append(f"Correlations between features are computed from {len(rows):,} of the {n:,} rows.")
    r = _likeness(case, order, rows)
    better = np.triu(np.nan_to_num(np.abs(r)), 1)
    partner, strength = better.argmax(axis=0), better.max(axis=0)
    ranks = {j: rank for rank, j in enumerate(case.selector.order_, 1)}
    return {
        "features": [case.names[j] for j in order[:_SHOWN]],
        "ranks": [ranks[j] for j in order[:_SHOWN]],
        "correlation": r[:_SHOWN, :_SHOWN],
        "examined": len(order),
        "threshold": REDUNDANT,
        "repeats": [
            {"rank": ranks[order[at]], "of": ranks[order[partner[at]]], "correlation": float(r[partner[at], at])}
            for at in np.flatnonzero(strength >= REDUNDANT)
        ],
    }


def _likeness(case: Case, order: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Correlations between features; for features of several columns the root of their RV coefficient."""
    if case.problem.groups is None:
        return correlations(take_rows(take_columns(case.problem.X, order), rows).T)
    return feature_likeness(case.problem.take_rows(rows), order)


def _view(s: dict[str, Any]) -> dict[str, Any]:
    section, names = s["redundancy"], s["features"]["feature"]
    if "repeats" not in section:
        return {}
    found = sorted(section["repeats"], key=lambda item: -abs(item["correlation"]))
    if "gain" not in s["features"]:
        reason = "The method scores every feature separately, so near-duplicates have similar ranks."
    elif found:
        reason = "The features were chosen as a set: each adds something to those before it, although some correlate."
    else:
        reason = "The features were chosen as a set, each for what it adds to those before it."
    words = (
        f"{len(found)} of the {section['examined']} best selected features correlate {section['threshold']} or more "
        f"with a better one. {reason}"
    )
    named = [f"{rank}. {printable(name, 60)}" for rank, name in enumerate(names[: s["run"]["n_selected"]], 1)]
    rows = [(named[i["rank"] - 1], named[i["of"] - 1], f"{i['correlation']:.2f}") for i in found[:_LISTED]]
    return {"words": words, "map": _map(section), "repeats": rows, "more": max(0, len(found) - _LISTED)}


def _map(redundancy: dict[str, Any]) -> SvgFigure:
    """Correlations between the selected features, best first."""
    names, ranks = redundancy["features"], redundancy["ranks"]
    about = f"Correlations between the {len(names)} best selected features; hover over a cell for its value."
    height = 18.0 * len(names) + 60 if len(names) > 8 else 26.0 * len(names) + 60
    with SvgFigure("redundancy", "Correlation between selected features", about, height=height) as figure:
        drawings.squares(figure.ax, redundancy["correlation"], names, tell=figure.tell)
        if len(names) <= _WRITTEN:
            size = 11.0 if len(names) <= _LARGE else 9.0
            drawings.cell_numbers(figure.ax, redundancy["correlation"], diagonal=False, size=size)
        middle, step = np.arange(len(names)) + 0.5, 1 if len(names) <= 12 else 2  # otherwise the numbers overlap
        figure.ax.set_xticks(middle, ["" if at % step else str(rank) for at, rank in enumerate(ranks)])
        figure.ax.set_yticks(middle, [f"{rank}. {printable(n, 24)}" for n, rank in zip(names, ranks, strict=True)])
    return figure


_TEMPLATE = """
{% if s.redundancy.note %}<p class="muted">{{ s.redundancy.note }}</p>{% else %}
<p class="lead small">{{ words }}</p>
<div class="two">
{{ figure(map, "Correlation", "selected features by rank; orange is negative") }}
{% if repeats %}
<div class="scroll">
<table>
<caption>Features that repeat a better one{% if more %}; {{ more }} more are marked in the ranking{% endif %}</caption>
<thead><tr><th scope="col">Feature</th><th scope="col">repeats</th><th scope="col" class="right">Correlation</th></tr>
</thead>
<tbody>
{% for a, b, r in repeats %}
<tr><th scope="row" class="name">{{ a }}</th><td class="name">{{ b }}</td><td class="right">{{ r }}</td></tr>
{% endfor %}
</tbody>
</table>
</div>
{% endif %}
</div>
{% endif %}
"""
REDUNDANCY = Section(
    "redundancy", "Redundancy among the selected", _TEMPLATE, label="Redundancy", compute=compute_redundancy, view=_view
)
