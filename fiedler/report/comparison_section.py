"""The section that compares methods: curves over the number of features, and the methods by their mean rank."""

from __future__ import annotations

from typing import Any

from ..evaluate.compare import sample_words
from ..plots import drawings
from ..plots.drawings import METRICS, curve_styles
from ..plots.svg import SvgFigure
from ..words import number, printable
from .case import Case
from .section import Section, tile

_BASELINES = {"all": "all features", "random": "random features"}


def _compute(case: Case) -> dict[str, Any] | None:
    return None if case.comparison is None else case.comparison.summary()


def _view(s: dict[str, Any]) -> dict[str, Any]:
    comparison = s["comparison"]
    settings, methods = comparison["settings"], comparison["methods"]
    metrics = [(metric, METRICS.get(metric, metric)) for metric in settings["metrics"]]
    words = f"{len(methods)} methods, {settings['n_draws']} draws, {settings['n_folds']} folds"
    if settings["estimator"]:
        n_labels = settings["n_labels"]
        shown = "labels of the other folds shown" if n_labels is None else f"{n_labels} labels shown in each draw"
        words += f", {shown if n_labels != 0 else 'no labels shown to the methods'}"
        words += f"; predicted by {settings['estimator']}" * (
            "accuracy" in settings["metrics"] or "rmse" in settings["metrics"]
        )
    words += sample_words(settings)
    if settings.get("standardize"):
        words += "; chosen columns standardised"
    order, said = _order(comparison), {name: _method_words(name, about) for name, about in methods.items()}
    styles = curve_styles(methods).items()
    heads = [
        head for _, name in metrics for head in ("Mean rank" if len(metrics) == 1 else f"Rank, {name}", f"Best {name}")
    ]
    return {
        "words": f"{words}.",
        "curves": [(f"{name[0].upper()}{name[1:]}", _curves(comparison, metric)) for metric, name in metrics],
        "legend": [(said[name], colour, "" if style == "-" else "dashed") for name, (colour, style) in styles],
        "heads": ["Method", *heads, "Seconds"],
        "rows": [(said[name], _cells(methods[name], metrics)) for name in order],
        "tables": [_curve_table(methods, order, metric, name, settings["n_features"]) for metric, name in metrics],
    }


def _curves(comparison: dict[str, Any], metric: str) -> SvgFigure:
    """A measure against the number of features: means with 95 % bands; baselines are grey."""
    name, settings, methods = METRICS.get(metric, metric), comparison["settings"], comparison["methods"]
    about = f"Mean {name} of {len(methods)} methods over {settings['n_draws']} draws, by number of features."
    with SvgFigure(f"curve-{metric}", f"{name} by number of features", about, height=320) as figure:
        curves = {method: found["curves"][metric] for method, found in methods.items()}
        drawings.method_curves(figure.ax, curves, metric, figure.tell)
    return figure


def _order(comparison: dict[str, Any]) -> list[str]:
    """Methods and baselines by their mean rank, best first."""
    methods, metric = comparison["methods"], comparison["settings"]["metrics"][0]
    return sorted(methods, key=lambda name: methods[name]["average_rank"][metric])


def _method_words(name: str, about: dict[str, Any]) -> str:
    """The name of a method, and whether it is a baseline."""
    return f"{_BASELINES.get(name, name)} (baseline)" if about["baseline"] else name


def _cells(about: dict[str, Any], metrics: list[tuple[str, str]]) -> list[str]:
    cells = []
    for metric, _ in metrics:
        curve = about["curves"][metric]
        means = [number(value) for value in curve["mean"]]
        best = min(means) if metric == "rmse" else max(means)
        size = curve["n_features"][means.index(best)]
        cells += [f"{about['average_rank'][metric]:.2f}", f"{best:.4g}\u00a0at\u00a0{size:,}"]
    return [*cells, "–" if about["criterion"] is None else f"{about['seconds']:.3f}"]


def _curve_table(methods: dict[str, Any], order: list[str], metric: str, name: str, sizes: list[int]) -> tuple:
    rows = []
    for method in order:
        words, curve = _method_words(method, methods[method]), methods[method]["curves"][metric]
        means = dict(zip(curve["n_features"], curve["mean"], strict=True))
        if method == "all":
            means = dict.fromkeys(sizes, curve["mean"][0])
        rows.append((words, ["–" if means.get(k) is None else f"{means[k]:.4g}" for k in sizes]))
    return f"Mean {name} by number of features", ["Method", *sizes], rows


def _tiles(s: dict[str, Any]) -> list[dict[str, str]]:
    """The best method; if it is a baseline, also the best method that is not a baseline."""
    if not s["comparison"]:
        return []
    methods, metric = s["comparison"]["methods"], s["comparison"]["settings"]["metrics"][0]
    order = _order(s["comparison"])
    full = _method_words(order[0], methods[order[0]])
    words = f"mean rank {methods[order[0]]['average_rank'][metric]:.2f} by {METRICS.get(metric, metric)}"
    place = next((at for at, name in enumerate(order) if not methods[name]["baseline"]), 0)
    if place:
        words += f"; best method: {printable(order[place], 28)}, {ordinal(place + 1)} of {len(order)}"
    return [tile("Best method", printable(full, 28), words, f"{full}, {words}")]


def ordinal(place: int) -> str:
    """A position as an ordinal number.

    Examples
    --------
    >>> [ordinal(place) for place in (1, 2, 3, 4, 11, 22)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd']
    """
    ending = "th" if place % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{ending}"


def _lines(s: dict[str, Any], top: int) -> list[str]:
    lines = []
    for metric, best in s["comparison"]["best"].items() if s["comparison"] else ():
        ranks = {name: about["average_rank"][metric] for name, about in s["comparison"]["methods"].items()}
        order = ", ".join(f"{name} {rank:.2f}" for name, rank in sorted(ranks.items(), key=lambda r: r[1]))
        lines.append(f"comparison by {metric}, best {best}; mean rank: {order}")
    return lines


_TEMPLATE = """
<p class="lead small">{{ words }}</p>
<div class="two">
{% for name, curve in curves %}
{% call figure(curve, name ~ " by number of features", "mean over draws with 95 % bands") %}{{ keys(legend) }}
{% endcall %}
{% endfor %}
{% if curves | length > 1 %}</div>{% endif %}
{{ table("Mean rank, 1 is best", heads, rows, stack=true) }}
{% if curves | length == 1 %}</div>{% endif %}
<details><summary>Curves as tables</summary>
{% for caption, heads, rows in tables %}
{{ table(caption, heads, rows) }}
{% endfor %}
</details>
"""
COMPARISON = Section(
    "comparison",
    "Comparison of methods",
    _TEMPLATE,
    label="Comparison",
    compute=_compute,
    view=_view,
    tiles=_tiles,
    lines=_lines,
)
