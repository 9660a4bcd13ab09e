"""Figures of the study: average ranks with critical differences, and curves over numbers of features or labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure

from .ranks import Ranking, Slice

_FAMILIES = ("subset", "laplacian", "spec", "evsc", "variance", "fisher", "relieff", "sselect", "c1", "c2", "c3", "c4")
_FAMILIES += ("correlation", "sls", "ssls", "cur", "forest", "mrmr", "random", "all")


def _color(method: str) -> Any:
    """One colour per method, its variants included; black for baselines."""
    family = next((name for name in _FAMILIES if method.startswith(name)), "all")
    return "black" if family in ("random", "all") else colormaps["tab20"](_FAMILIES.index(family))


def critical_differences(rankings: Mapping[str, Ranking]) -> Any:
    """One panel per ranking: methods on an axis of average ranks, bars join those that do not differ."""
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
    axis.set_title(f"{title}: {ranking.n_sets} sets, Friedman p = {ranking.p_value:.2g}", fontsize=10, loc="left")
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
        axis.plot([rank, rank, edge], [line, y, y], color=_color(method), lw=1.3)
        side = {"ha": "right"} if on_left else {"ha": "left"}
        text = f"{method} ({rank:.2f})"
        axis.text(edge + (-0.01 if on_left else 0.01) * k, y, text, va="center", fontsize=9, **side)


def curves(slices: Sequence[Slice], kinds: Sequence[str], x: Sequence[int], x_label: str, y_label: str) -> Any:
    """Mean values over x, all data sets and by kind, of the data sets that have a value at every x."""
    full = set.intersection(*(set(part.sets) for part in slices))
    parts = [part.take([at for at, name in enumerate(part.sets) if name in full]) for part in slices]
    panels = {"all": parts} | {kind: [part.of(kind) for part in parts] for kind in kinds}
    panels = {title: found for title, found in panels.items() if found[0].n_sets > 1}
    figure = Figure(figsize=(9.0, 3.6), layout="constrained")
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axis, (title, found) in zip(axes, panels.items(), strict=True):
        for method in dict.fromkeys(name for part in found for name in part.values):
            means = [part.mean(method) if method in part.values else np.nan for part in found]
            dashes = "--" if method in ("random", "all") or method.endswith("unlabelled") else "-"
            axis.plot(
                range(len(x)), means, dashes, color=_color(method), label=method, lw=2.5 if method == "subset" else 1.4
            )
        axis.set_title(f"{title}, {found[0].n_sets} sets", fontsize=10)
        axis.set_xticks(range(len(x)), map(str, x))
        axis.set_xlabel(x_label, fontsize=9)
        axis.tick_params(labelsize=8)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel(y_label, fontsize=9)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=9, frameon=False)
    return figure
