"""The section on the axis of the features: where the chosen wavelengths or times are, below the mean profiles.

names of the features are numbers in order -> scores over the axis, mean profile of each class, chosen regions
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..plots import drawings
from ..plots.axis import axis_of, mean_profiles, regions
from ..plots.svg import SvgFigure
from ..words import number
from .case import Case
from .section import Section, class_colours, class_key, short

_LISTED, _LONGEST = 12, 20_000  # regions in the table; the longest axis that is drawn


def _compute(case: Case) -> dict[str, Any] | None:
    """The axis, the values over it, the mean profiles, and the chosen features in the order of choice."""
    problem = case.measured or case.problem
    axis = axis_of(case.names) if problem.groups is None and problem.n_features <= _LONGEST else None
    if axis is None:
        return None
    _, codes, classes = case.labels
    n_classes = 0 if classes is None else len(classes)
    profiles = mean_profiles(problem, codes if n_classes else None, n_classes)
    gains = getattr(case.selector, "gains_", None)
    return {
        "axis": axis,
        "value": "score" if gains is None else "gain",
        "values": case.scores if gains is None else gains,
        "profiles": profiles,
        "classes": [str(name) for name in classes] if len(profiles) > 1 and classes is not None else None,
        "chosen": case.selector.order_[: case.n_selected],
        "n_rows": problem.n_samples,
    }


# -------------------------------------------------------------------- words and figure


def _view(s: dict[str, Any]) -> dict[str, Any]:
    about = s["axis"]
    rank = {column: at for at, column in enumerate(about["chosen"], 1)}
    found = [(_span(about["axis"], part), part, min(rank[j] for j in part)) for part in _regions(about)]
    single, heads = len(found) == len(rank), ["Region", "Selected", "Best rank"]
    rows = [(span, [f"{len(part):,}", str(best)]) for span, part, best in sorted(found, key=lambda item: item[2])]
    if single:  # every region is one feature
        rows, heads = [(span, [best]) for span, (_, best) in rows], ["Feature", "Rank"]
    of = "each class" if about["classes"] else f"all {about['n_rows']:,} rows"
    value = "gain" if about["value"] == "gain" else f"score, {s['run']['direction']}"
    return {
        "words": f"The names of the features are numbers in order, so they are drawn as an axis. {_where(about, rows)}",
        "caption": f"above: mean of {of}; below: {value}; grey lines and bands: selected",
        "drawn": _figure(s),
        "legend": [class_key(name, colour) for name, colour in zip(about["classes"] or [], _colours(s), strict=False)],
        "listed": f"Selected {'features' if single else 'regions'}, best first",
        "heads": heads,
        "rows": rows[:_LISTED],
        "more": max(0, len(rows) - _LISTED),
    }


def _regions(about: dict[str, Any]) -> list[list[int]]:
    return [part.tolist() for part in regions(np.array(about["chosen"], dtype=np.intp))]


def _span(axis: list[float], part: list[int]) -> str:
    low, high = sorted((axis[part[0]], axis[part[-1]]))
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _where(about: dict[str, Any], rows: list[Any]) -> str:
    n, m = len(about["chosen"]), len(rows)
    if n == m:
        return f"No two of the {n:,} selected features are neighbours." if n > 1 else "One feature is selected."
    return f"The {n:,} selected features form {m:,} region{'s' * (m > 1)} of neighbouring features."


def _colours(s: dict[str, Any]) -> list[str]:
    return class_colours(s["data"]["labels"]) if s["axis"]["classes"] else ["ink"]


def _figure(s: dict[str, Any]) -> SvgFigure:
    about = s["axis"]
    axis, chosen = np.array(about["axis"]), np.array(about["chosen"], dtype=np.intp)
    values = np.array([number(value) for value in about["values"]])
    texts = [
        f"{axis[j]:g}: rank {rank}, {about['value']} {short(float(values[j]))}" for rank, j in enumerate(chosen, 1)
    ]
    words = f"{len(axis)} features from {axis[0]:g} to {axis[-1]:g}, {len(chosen)} of them selected."
    with SvgFigure("axis", "Features over their axis", words, height=380) as figure:
        above, below = figure.split(2, (3, 2))
        profiles = np.array([[number(value) for value in profile] for profile in about["profiles"]])
        drawings.profiles_over_axis(above, axis, profiles, _colours(s), chosen)
        drawings.scores_over_axis(below, axis, values, chosen, texts, figure.tell)
        below.set(xlabel="feature", ylabel=about["value"])
    return figure


_TEMPLATE = """
<p class="lead small">{{ words }}</p>
<div class="two">
{% call figure(drawn, "Features over their axis", caption) %}{% if legend %}{{ keys(legend) }}{% endif %}
{% endcall %}
<div>
{{ table(listed, heads, rows) }}
{% if more %}<p class="muted small">{{ more }} more are in the figure.</p>{% endif %}
</div>
</div>
"""
AXIS = Section("axis", "Along the axis", _TEMPLATE, label="Axis", compute=_compute, view=_view)
