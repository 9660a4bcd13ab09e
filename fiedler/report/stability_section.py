"""The section on stability: how often features are selected again on resampled rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..evaluate.stability import Stability
from ..evaluate.stability import stability as measure_stability
from ..plots import drawings
from ..plots.svg import SvgFigure
from ..words import number
from .case import Case, quiet
from .section import Section, always, percent, short, tile

FEW_CELLS, DRAWS, FEW_DRAWS = 2e5, 20, 10  # size limit of X, number of draws below it, and above it
_FEATURES = 20  # number of features in the figures


def stability_of(case: Case) -> Stability | None:
    """The given result; otherwise one that is measured for this report, if this is fast."""
    return case.once(_stability)


def _stability(case: Case) -> Stability | None:
    found = _measured(case) if case.stability is None else case.stability
    if isinstance(found, str):
        case.missing["stability"] = found
        case.notes.append(found)
        return None
    return found


def _measured(case: Case) -> Stability | str:
    """The stability over a few draws of 80 % of the rows, or a sentence that states why it is not measured."""
    n, m = case.problem.n_samples, case.problem.n_features
    draws = DRAWS if n * m <= FEW_CELLS else FEW_DRAWS
    if n < 5 or m < 2:
        return "Stability is not measured: it needs at least five rows and two features."
    if not case.is_small:
        return f"Stability is not measured: ranking {n:,} rows and {m:,} features {draws} times would be slow."
    if case.is_slow(draws):
        return f"Stability is not measured: {draws} fits of {case.criterion!r} on {n:,} rows would take long."
    k = min(case.n_selected, int(np.isfinite(case.scores).sum()))
    options = {"unlabeled": case.selector.unlabeled, "random_state": case.seed or 0, "k": k, "n_draws": draws}
    try:
        return quiet(lambda: measure_stability(case.criterion, case.problem, **case.supervision(), **options))
    except (ValueError, TypeError) as error:
        return f"Stability is not measured: {error}"


def _compute(case: Case) -> dict[str, Any] | None:
    found = stability_of(case)
    if found is None:
        return None
    about = {name: getattr(found, name) for name in ("k", "n_draws", "kendall", "jaccard", "kuncheva")}
    return about | {"given": case.stability is not None}


def _view(s: dict[str, Any]) -> dict[str, Any]:
    if (drawn := s["stability"]) is None:
        return {}
    kendall, chance = (number(drawn[key]) for key in ("kendall", "kuncheva"))
    corrected = "" if chance != chance else f" ({chance:.2f} corrected for chance, Kuncheva)"
    draws = f"{drawn['n_draws']} draws"
    if not drawn.get("given", True):
        draws += " of 80 % of the rows, made for this report,"
    words = (
        f"Over {draws} the first {drawn['k']} features overlap by {percent(drawn['jaccard'])} (Jaccard){corrected}; "
        f"all rankings agree by {kendall:.2f} (Kendall's coefficient; 1 means equal rankings)."
    )
    every = drawn["k"] >= s["data"]["n_features"]  # then every draw selects every feature
    return {"words": words, "frequency": None if every else _frequency(s), "intervals": _intervals(s)}


def _frequency(s: dict[str, Any]) -> SvgFigure:
    drawn, names = s["stability"], s["features"]["feature"][:_FEATURES]
    often = [number(share) for share in s["features"]["frequency"][:_FEATURES]]
    about = f"Share of {drawn['n_draws']} draws in which a feature is among the first {drawn['k']}, {len(names)} best."
    with SvgFigure("frequency", "Selection frequency", about, height=19 * len(names) + 60) as figure:
        drawings.selection_frequency(figure.ax, names, often, longest=24, tell=figure.tell)
    return figure


def _intervals(s: dict[str, Any]) -> SvgFigure:
    columns = s["features"]
    names = columns["feature"][:_FEATURES]
    keys = ("rank_low", "rank_median", "rank_high")
    low, median, high = ([number(value) for value in columns[key][:_FEATURES]] for key in keys)
    about = f"Median rank of each of the {len(names)} best features over the draws, with the middle 90 %."
    with SvgFigure("intervals", "Rank over the draws", about, height=19 * len(names) + 60) as figure:
        drawings.rank_intervals(figure.ax, names, low, median, high, longest=24, tell=figure.tell)
    return figure


def _tiles(s: dict[str, Any]) -> list[dict[str, str]]:
    if (drawn := s["stability"]) is None:
        return []
    words = f"overlap of the first {drawn['k']} over {drawn['n_draws']} draws"
    return [tile("Stability", percent(drawn["jaccard"]), words)]


def _lines(s: dict[str, Any], top: int) -> list[str]:
    if (drawn := s["stability"]) is None:
        return []
    overlap = f"first {drawn['k']} features overlap by {short(drawn['jaccard'])} (Jaccard)"
    return [f"stability over {drawn['n_draws']} draws: {overlap}, Kendall {short(drawn['kendall'])}"]


_TEMPLATE = """
{% if s.stability %}
<p class="lead small">{{ words }}</p>
<div class="two">
{% set share = "share of draws in which the feature was among the first " ~ s.stability.k %}
{{ figure(frequency, "Selected again", share) }}
{{ figure(intervals, "Rank over the draws", "median, and the middle 90 %") }}
</div>
{% else %}
<p class="muted">{{ s.missing.stability or "Stability is not measured." }}
<code>fiedler rank --stability 50 --report report.html</code>,
or <code>stability=fiedler.evaluate.stability(...)</code>, repeats the ranking on parts of the data and compares the
results.</p>
{% endif %}
"""
STABILITY = Section(
    "stability", "Stability", _TEMPLATE, compute=_compute, applies=always, view=_view, tiles=_tiles, lines=_lines
)
