"""Figures of the study: critical differences, curves over budgets, redundancy against gain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .ranks import Ranking
from .words import p_text

# Okabe and Ito's colours, told apart by the colour-blind; one hue per family, baselines grey and black.
_COLORS = {
    "subset": "#d62728",
    "cur": "#9467bd",
    "fps": "#c5a3e0",
    "fastcan": "#7f5f3f",
    "mcfs": "#b8860b",
    "forest": "#6b8e23",
    "mrmr": "#9467bd",
    "mutual information": "#b8860b",
    "l1": "#c5a3e0",
    "random": "#000000",
    "all": "#000000",
    "variance": "#8a8a8a",
    "laplacian": "#009e73",
    "spec φ1": "#8cc9ef",
    "spec φ2 γ=4": "#4a9fd4",
    "spec φ3": "#24669a",
    "evsc": "#a6611a",
    "fisher": "#e69f00",
    "relieff": "#d55e00",
    "sselect": "#0072b2",
    "c1": "#dba6c6",
    "c2": "#cc79a7",
    "c3": "#a94f86",
    "c4": "#75275a",
    "correlation": "#e69f00",
    "sls": "#cc79a7",
    "ssls": "#d55e00",
}
_MARKERS = {"text": "o", "images": "s", "genes": "^", "tables": "D"}
KIND_COLORS = {"text": "#0072b2", "images": "#d55e00", "genes": "#009e73", "tables": "#8a8a8a"}


def color(method: str) -> str:
    """One colour per method, its variants included."""
    base = method.split("[")[0].split(",")[0].removesuffix(" tuned").removesuffix(" pruned")
    return _COLORS.get(base, "#444444")


def critical_differences(rankings: Mapping[str, Ranking]) -> Any:
    """One panel per ranking: methods on an axis of average ranks, bars join those that do not differ."""
    from matplotlib.figure import Figure

    heights = [1.25 + 0.26 * ((len(r.methods) + 1) // 2) + 0.1 * len(r.groups()) for r in rankings.values()]
    figure = Figure(figsize=(8.6, sum(heights)), layout="constrained")
    axes = figure.subplots(len(rankings), 1, height_ratios=heights, squeeze=False)[:, 0]
    for axis, (title, ranking), height in zip(axes, rankings.items(), heights, strict=True):
        _panel(axis, ranking, title, height)
    return figure


def _panel(axis: Any, ranking: Ranking, title: str, height: float) -> None:
    k, inch = len(ranking.methods), 1.0 / height  # y runs from 0 at the bottom to 1 at the top
    line, groups = 1.0 - 0.72 * inch, ranking.groups()
    axis.set(xlim=(1 - 0.42 * (k - 1), k + 0.42 * (k - 1)), ylim=(0, 1))
    axis.axis("off")
    axis.set_title(f"{title}: {ranking.n_sets} sets, Friedman p {p_text(ranking.p_value)}", fontsize=10, loc="left")
    axis.plot([1, k], [line, line], color="black", lw=1, solid_capstyle="butt")
    for rank in range(1, k + 1):
        axis.plot([rank, rank], [line, line + 0.06 * inch], color="black", lw=1)
        axis.text(rank, line + 0.09 * inch, str(rank), ha="center", va="bottom", fontsize=8)
    width = min(ranking.critical_difference, k - 1)
    axis.plot([1, 1 + width], [line + 0.36 * inch] * 2, color="black", lw=2, solid_capstyle="butt")
    label = f"critical difference {ranking.critical_difference:.2f}"
    axis.text(1 + width + 0.02 * k, line + 0.36 * inch, label, ha="left", va="center", fontsize=8)
    for level, (first, last) in enumerate(groups):
        y = line - (0.1 + 0.1 * level) * inch
        ends = ranking.ranks[first] - 0.02 * k / 4, ranking.ranks[last] + 0.02 * k / 4
        axis.plot(ends, [y, y], color="#444444", lw=3, solid_capstyle="butt")
    below = line - (0.22 + 0.1 * len(groups)) * inch
    left = (k + 1) // 2
    for place, (method, rank) in enumerate(zip(ranking.methods, ranking.ranks, strict=True)):
        on_left = place < left
        row = place if on_left else k - 1 - place
        y = below - 0.25 * row * inch
        edge = 1 - 0.04 * k if on_left else k + 0.04 * k
        axis.plot([rank, rank, edge], [line, y, y], color=color(method), lw=1.3)
        side = {"ha": "right"} if on_left else {"ha": "left"}
        text = f"{method} ({rank:.2f})"
        axis.text(edge + (-0.01 if on_left else 0.01) * k, y, text, va="center", fontsize=9, **side)


def curves(
    panels: Mapping[str, Mapping[str, Sequence[float]]],
    budgets: Mapping[str, Sequence[int]],
    x_label: str,
    y_label: str,
    zero: bool = True,
) -> Any:
    """Lines over budgets, one panel each; a dashed line marks zero (random features) where asked."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 3.6), layout="constrained")
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axis, (title, lines) in zip(axes, panels.items(), strict=True):
        places = np.arange(len(budgets[title]))
        for method, values in lines.items():
            axis.plot(places, values, color=color(method), label=method, **_style(method))
        if zero:
            axis.axhline(0.0, color="black", lw=1, ls="--", label="random features")
        axis.set_title(title, fontsize=10)
        axis.set_xticks(places, [str(budget) for budget in budgets[title]])
        axis.set_xlabel(x_label, fontsize=9)
        axis.tick_params(labelsize=8)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel(y_label, fontsize=9)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=min(6, len(labels)) if len(labels) < 7 else (len(labels) + 1) // 2,
        fontsize=9,
        frameon=False,
    )
    return figure


def _style(method: str) -> dict[str, Any]:
    """What reads no labels is thin or broken, baselines have no marks, the advised method is the thickest."""
    if method in ("random", "all"):
        return {"lw": 1.0, "ls": ":" if method == "random" else "--"}
    if method == "subset":
        return {"lw": 2.6, "marker": "o", "ms": 4.5, "zorder": 3}
    if method.endswith("unlabelled"):
        return {"lw": 1.8, "ls": (0, (4, 1.5)), "marker": "o", "ms": 3.5}
    return {"lw": 1.1 if method in ("variance", "laplacian") else 1.8, "marker": "o", "ms": 3.5}


def scatter(points: Mapping[str, tuple[Sequence[float], Sequence[float]]], x_label: str, y_label: str) -> Any:
    """Redundancy against gain, one colour and marker per kind of data."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 4.2), layout="constrained")
    axis = figure.subplots()
    for kind, (x, y) in points.items():
        axis.scatter(x, y, s=26, marker=_MARKERS[kind], color=KIND_COLORS[kind], label=kind, alpha=0.8, lw=0)
    axis.axhline(0.0, color="black", lw=1, ls="--")
    axis.axvline(0.0, color="black", lw=1, ls="--")
    axis.set_xlabel(x_label, fontsize=9)
    axis.set_ylabel(y_label, fontsize=9)
    axis.tick_params(labelsize=8)
    axis.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside right upper", fontsize=9, frameon=False)
    return figure
