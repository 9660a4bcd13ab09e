"""The figures of [ZL] section 4, drawn from the computed numbers in the paper's layout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from fiedler.evaluate.curves import spread

from .sselect_runs import FEW, FISHER, LAPLACIAN, MANY, PAPER_LABELS, RANDOM, SSELECT, VARIANCE, Results, text_set

# The palette of Okabe and Ito for methods; the shades of sSelect's blue for its numbers of labels.
STYLES = {
    SSELECT: {"color": "#0072b2", "marker": "o"},
    FISHER: {"color": "#d55e00", "marker": "s"},
    LAPLACIAN: {"color": "#009e73", "marker": "^"},
    VARIANCE: {"color": "#cc79a7", "marker": "", "linestyle": "--"},
    RANDOM: {"color": "#666666", "marker": "", "linestyle": ":"},
}
LABEL_STYLES = {
    2: {"color": "#8ec6e6", "marker": "o"},
    6: {"color": "#2f86bd", "marker": "s"},
    10: {"color": "#003a5d", "marker": "^"},
}
SET_STYLES = {
    "PCMAC": {"color": "#0072b2", "marker": "o", "linestyle": "-"},
    "BASEHOCK": {"color": "#0072b2", "marker": "s", "linestyle": "--"},
    "MACBASE": {"color": "#0072b2", "marker": "^", "linestyle": ":"},
}


def accuracy_against_features(results: Results) -> Figure:
    """[ZL] Fig. 3: one row per set, one column per number of labels."""
    sets, sizes = results.plan.sets, results.plan.sizes
    figure, axes = _grid(len(sets), len(PAPER_LABELS), height=2.5, sharey="row")
    for name, row in zip(sets, axes, strict=True):
        for l, ax in zip(PAPER_LABELS, row, strict=True):
            for method, style in STYLES.items():
                ax.plot(sizes, results.curves(name, method, l).mean(axis=0), label=method, markersize=4, **style)
            ax.set_title(f"{name}, l = {l}", fontsize=10)
        row[0].set_ylabel("accuracy")
    return _finish(figure, axes, "number of selected features")


def cut_against_lambda(results: Results) -> Figure:
    """[ZL] Fig. 4: two cut values and the accuracy against λ on the first ten features."""
    rows = {"kernel_cut": "cut, full RBF graph", "cut": "cut, kNN graph", "accuracy": "accuracy"}
    return _lambda_figure(results, FEW, rows)


def many_features(results: Results) -> Figure:
    """[ZL] Fig. 7 (a) and (b): accuracy and cut value against λ on the first 200 features."""
    return _lambda_figure(results, MANY, {"accuracy": "accuracy", "cut": "cut, kNN graph"})


def _lambda_figure(results: Results, size: int, rows: dict[str, str]) -> Figure:
    sets, lambdas = results.plan.sets, results.plan.lambdas
    figure, axes = _grid(len(rows), len(sets), height=2.2, sharey="row" if size == MANY else False)
    for (what, label), row in zip(rows.items(), axes, strict=True):
        for name, ax in zip(sets, row, strict=True):
            means = results.sweep(name, size, what).mean(axis=0)
            for (l, style), mean in zip(LABEL_STYLES.items(), means, strict=True):
                ax.plot(lambdas, mean, label=f"l = {l}", markersize=4, **style)
            if what != "accuracy":
                ax.ticklabel_format(axis="y", style="sci", scilimits=(-3, 3))
        row[0].set_ylabel(label)
    for name, ax in zip(sets, axes[0], strict=True):
        ax.set_title(name, fontsize=10, pad=14 if size == FEW else None)
    return _finish(figure, axes, "λ")


def accuracy_against_labels(results: Results) -> Figure:
    """[ZL] Fig. 5: accuracy, averaged over the numbers of features, against the number of labels, with 95 % bands."""
    figure, axes = _grid(1, 1, height=3.2, width=6.0)
    ax, labels = axes[0, 0], results.plan.labels
    for name in results.plan.sets:
        band = spread(np.transpose([results.curves(name, SSELECT, l).mean(axis=1) for l in labels]))
        ax.plot(labels, band["mean"], label=name, markersize=5, **SET_STYLES[name])
        ax.fill_between(labels, band["low"], band["high"], color=SET_STYLES[name]["color"], alpha=0.12, linewidth=0)
    ax.set_ylabel("accuracy")
    ax.set_xticks(labels)
    return _finish(figure, axes, "number of labels l")


def accuracy_surface(results: Results) -> Figure:
    """[ZL] Fig. 6: accuracy against both the number of labels and the number of features, as a map."""
    plan = results.plan
    figure, axes = _grid(1, len(plan.sets), height=3.0, sharey="row")
    for name, ax in zip(plan.sets, axes[0], strict=True):
        surface = np.array([results.curves(name, SSELECT, l).mean(axis=0) for l in plan.labels])
        drawn = ax.pcolormesh(plan.sizes, plan.labels, surface, shading="nearest", cmap="viridis", edgecolors="face")
        bar = figure.colorbar(drawn, ax=ax, location="top", label=f"{name}, accuracy", aspect=30)
        bar.ax.tick_params(labelsize=8)
        ax.set_xlabel("number of selected features")
        ax.grid(False)
        ax.set_yticks(plan.labels)
    axes[0, 0].set_ylabel("number of labels l")
    return figure


def sorted_scores(results: Results) -> Figure:
    """[ZL] Fig. 7 (c) and (d): both terms of eq. 3.8, sorted, for the two labels of the first draw."""
    figure, axes = _grid(1, 2, height=2.8)
    for name in results.plan.sets:
        separability = text_set(name, results.plan.seed).separability
        parts = results.draws[name][0].losses[2], np.sort(separability[~np.isnan(separability)])
        for ax, part in zip(axes[0], parts, strict=True):
            style = {key: value for key, value in SET_STYLES[name].items() if key != "marker"}
            ax.plot(np.arange(1, len(part) + 1), part, label=name, **style)
            ax.set_xscale("log")
    for ax, title in zip(axes[0], ("labelled part, 1 - NMI", "unlabelled part, Laplacian score"), strict=True):
        ax.set_title(title, fontsize=10)
        ax.set_ylim(-0.05, 1.1)
    axes[0, 0].set_ylabel("score")
    return _finish(figure, axes, "rank of the feature")


def _grid(rows: int, columns: int, height: float, width: float = 9.0, **options: Any) -> tuple[Figure, np.ndarray]:
    figure = Figure(figsize=(width, height * rows + 0.5), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    for ax in axes.flat:
        ax.grid(alpha=0.3, linewidth=0.5)
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize=8)
    return figure, axes


def _finish(figure: Figure, axes: Sequence, xlabel: str) -> Figure:
    """One legend above all panels, one name for all horizontal axes."""
    for ax in axes[-1]:
        ax.set_xlabel(xlabel)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False)
    return figure
