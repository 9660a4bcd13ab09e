"""The section on the number of features: the suggestions of several rules, and the curve of the scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..evaluate.tuning import enough, suggest_n_features, turning_point
from ..plots import drawings
from ..plots.svg import SvgFigure
from ..words import number, printable
from .case import Case, quiet
from .graph_section import compute_graph
from .section import Section

_RULES = {
    "explained": "90 % of what all features explain",
    "turning": "Turning point of the sorted scores",
    "gap": "Clearest clusters in the graph on the first features",
    "cv": "Best held-out prediction",
}


def _compute(case: Case) -> list[dict[str, Any]]:
    """Suggested numbers of features, by the rules of :func:`fiedler.evaluate.suggest_n_features`."""
    found, n_clusters = None, case.once(compute_graph).get("clusters", {}).get("n")
    if case.is_small and not case.is_slow():
        options: dict[str, Any] = {"unlabeled": case.selector.unlabeled, "random_state": case.seed or 0}
        options["n_clusters"] = n_clusters
        try:
            found = quiet(lambda: suggest_n_features(case.criterion, case.problem, **case.supervision(), **options))
        except ValueError as error:
            case.notes.append(f"The number of features is suggested only by the turning point: {error}")
    else:
        case.notes.append(
            "The number of features is suggested only by the turning point of the scores; the other rules of "
            "fiedler.evaluate.suggest_n_features need many fits, which would be slow on these data."
        )
    explained = getattr(case.selector, "explained_", None)
    if found is None and explained is not None:
        rules = [("explained", *enough(explained))]
    elif found is None:
        rules = [("turning", *turning_point(case.scores[case.selector.order_]))]
    else:
        rules = list(zip(found.rules, found.n_features, found.reasons, strict=True))
    return [{"rule": rule, "n_features": n, "reason": reason} for rule, n, reason in rules]


def _view(s: dict[str, Any]) -> dict[str, Any]:
    items = [
        {
            "n": "–" if item["n_features"] is None else f"{item['n_features']:,}",
            "title": _RULES.get(item["rule"], item["rule"]),
            "reason": item["reason"],
        }
        for item in s["suggestions"]
    ]
    title, words = "Scores by rank", s["run"]["direction"]
    if "explained" in s["features"]:
        title, words = "Explained by the first features", "share of what all features together explain"
    return {"items": items, "curve_title": title, "curve_words": words, "curve": _curve(s, title)}


def _curve(s: dict[str, Any], title: str) -> SvgFigure | None:
    """Sorted scores, or the share explained by the first features of a set, with suggested numbers of features."""
    columns, k, is_set = s["features"], s["run"]["n_selected"], "explained" in s["features"]
    values = np.array([number(value) for value in columns["explained" if is_set else "score"]])
    n = int(np.isfinite(values).sum())
    if n < 2:
        return None
    about = f"{n} scores from best to worst, {s['run']['direction']}; the first {k} are selected."
    if is_set:
        values = values[:n]  # only these features were chosen one after the other
        about = (
            f"The first {n} features explain {values[-1]:.0%} of what all features explain; the first {k} are selected."
        )
    ranked = enumerate(zip(columns["feature"], values, strict=False), 1)
    texts = [
        f"rank {rank}, {printable(name, 60)}: {value:{'.1%' if is_set else '.5g'}}" for rank, (name, value) in ranked
    ]
    with SvgFigure("suggestions", title, about) as figure:
        drawings.ranking_curve(figure.ax, values, texts, k, _cuts(s), figure.tell)
        figure.ax.set(xlabel="rank", ylabel="score")
        if is_set:
            figure.ax.axhline(1.0, color=drawings.paint("muted"), linewidth=1.0, linestyle=(0, (2, 2)))
            figure.ax.set(xlabel="number of features", ylabel="share explained", ylim=(0.0, 1.05))
    return figure


def _cuts(s: dict[str, Any]) -> list[tuple[int, str]]:
    """Suggested numbers of features, each once, with the rules that gave it."""
    cuts: dict[int, list[str]] = {}
    for suggestion in s["suggestions"]:
        if suggestion["n_features"] is not None:
            cuts.setdefault(suggestion["n_features"], []).append(suggestion["rule"])
    return [(n, " and ".join(rules)) for n, rules in sorted(cuts.items())]


def _lines(s: dict[str, Any], top: int) -> list[str]:
    sizes = ["-" if item["n_features"] is None else item["n_features"] for item in s["suggestions"]]
    return [
        f"suggested number of features ({item['rule']}): {size}, {item['reason']}"
        for item, size in zip(s["suggestions"], sizes, strict=True)
    ]


_TEMPLATE = """
<div class="two">
{{ figure(curve, curve_title, curve_words ~ "; shaded: selected; dashed: suggested cut") }}
<div>
<h3>Suggested numbers of features</h3>
<ul class="rules">
{% for item in items %}
<li><b>{{ item.n }}</b><div>{{ item.title }}<br><span>{{ item.reason }}</span></div></li>
{% endfor %}
</ul>
</div>
</div>
"""
SUGGESTIONS = Section(
    "suggestions", "How many features?", _TEMPLATE, label="How many", compute=_compute, view=_view, lines=_lines
)
