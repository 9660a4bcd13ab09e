"""The figures of the section on [EV], in the paper's layout; one colour per method throughout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from .evsc_runs import LEADING, METHODS, SETS

# Okabe and Ito's colours, which differ for colour-blind readers too; the line says the same a second time.
STYLES = {
    "Laplacian score": {"color": "#0072B2", "linestyle": "-", "marker": "s"},
    "SPEC": {"color": "#009E73", "linestyle": "-", "marker": "^"},
    "EVSC": {"color": "#D55E00", "linestyle": "-", "marker": "o"},
    "variance": {"color": "#CC79A7", "linestyle": "--", "marker": None},
    "random": {"color": "0.4", "linestyle": ":", "marker": None},
}
MEASURES = ("clustering accuracy", "Jaccard score")
# What is not a method has colours that no method has.
_SCORE, _JACCARD, _ACCURACY, _TURN = "0.2", "#E69F00", "#56B4E9", "0.5"
_CLASSES = ("#56B4E9", "#E69F00", "0.1")
_BAD = {"color": "0.3", "linestyle": "--", "marker": "x", "markersize": 3}
_CLASS_MARKERS = ("o", "s", "^")


def against_features(sizes: np.ndarray, curves: np.ndarray, average: np.ndarray, measure: str) -> Figure:
    """Fig. 2 and 3: a measure on the first features, a panel per set and one for the average; curves (set, method)."""
    figure = Figure(figsize=(9, 5.4), layout="constrained")
    axes = figure.subplots(2, 3, sharex=True).ravel()
    titles = [*_titles(), "average of PIX, ORL, TOX"]
    for ax, panel, title in zip(axes, [*curves, average], titles, strict=False):
        for method, values in zip(METHODS, panel, strict=True):
            ax.plot(sizes, values, label=method, markersize=3, linewidth=1.4, **STYLES[method])
        _finish(ax, title, measure, whole=measure != MEASURES[0])
    _legend_in(axes[-1], *axes[0].get_legend_handles_labels())
    for ax in axes[2:5]:  # the lowest panel of each column
        ax.set_xlabel("number of features")
        ax.tick_params(labelbottom=True)
    return figure


def good_against_bad_panels(sizes: np.ndarray, good: np.ndarray, bad: np.ndarray, measure: str) -> Figure:
    """Fig. 5: the first against the last features, a row per set and a column per method; arrays (set, method)."""
    figure = Figure(figsize=(9, 9), layout="constrained")
    axes = figure.subplots(len(SETS), 3, sharex=True, sharey="row")
    for row, title, firsts, lasts in zip(axes, SETS, good, bad, strict=True):
        for ax, method, first, last in zip(row, METHODS[:3], firsts, lasts, strict=False):
            ax.plot(sizes, first, markersize=3, **STYLES[method])
            ax.plot(sizes, last, **_BAD)
            _finish(ax, f"{title}: {method}", measure if method == METHODS[0] else "", whole=measure != MEASURES[0])
    for ax in axes[-1]:
        ax.set_xlabel("number of features")
    handles = [Line2D([], [], color="0"), Line2D([], [], **_BAD)]
    labels = ["first features ('good'), in the method's colour", "last features ('bad')"]
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    return figure


def turning_points(sizes: np.ndarray, acc: np.ndarray, jas: np.ndarray, found: Sequence[dict[str, Any]]) -> Figure:
    """Fig. 4: the sorted EVSC scores, ACC and JAS on the first features, and where the scores turn."""
    figure = Figure(figsize=(9, 6), layout="constrained")
    axes = figure.subplots(2, 2).ravel()
    for ax, title, accuracy, kept, about in zip(axes, _titles(), acc, jas, found, strict=True):
        ax.plot(np.arange(1, LEADING + 1), about["sorted"], color=_SCORE, label="EVSC, share of the largest")
        ax.plot(sizes, kept, color=_JACCARD, marker="s", markersize=3, label="Jaccard score")
        ax.plot(sizes, accuracy, color=_ACCURACY, marker="o", markersize=3, label="clustering accuracy")
        inside = about["turn"] <= LEADING
        if inside:
            ax.axvline(about["turn"], color=_TURN, linestyle="--", label="turning point")
        where = f"turns after {about['turn']:,}" + ("" if inside else ", outside this figure")
        _finish(ax, f"{title}: {where}", "", whole=True)
        ax.set_xlabel("number of features")
    handles = next(h for ax in axes if len((h := ax.get_legend_handles_labels())[0]) == 4)
    figure.legend(*handles, loc="outside lower center", ncols=4, frameon=False)
    return figure


def iris_panels(X: np.ndarray, y: np.ndarray, vectors: dict[str, np.ndarray]) -> Figure:
    """Fig. 1: F1 and F3 of iris, and the first three eigenvectors of the graphs on subsets of them."""
    figure = Figure(figsize=(9, 8), layout="constrained")
    flat = figure.add_subplot(2, 2, 1)
    panels = [(flat, X)]
    flat.set(xlabel="F1, sepal length (cm)", ylabel="F3, petal length (cm)", title="(a) the two features")
    flat.spines[["top", "right"]].set_visible(False)
    for place, (subset, Q) in enumerate(vectors.items(), start=2):
        ax = figure.add_subplot(2, 2, place, projection="3d")
        ax.set(
            xlabel="$q_1$", ylabel="$q_2$", zlabel="$q_3$", title=f"({'abcd'[place - 1]}) eigenvectors from {subset}"
        )
        ax.ticklabel_format(useOffset=False)
        ax.tick_params(labelsize=7)
        ax.locator_params(nbins=5)
        ax.set_box_aspect(None, zoom=0.85)  # room for the label of the third axis
        # q_1 is constant; an axis of its rounding errors would look like structure.
        middle = float(np.abs(Q[:, 0]).mean())
        ax.set_xlim(0.5 * middle, 1.5 * middle)
        panels.append((ax, np.column_stack([np.abs(Q[:, 0]), Q[:, 1:] * np.sign(Q[-1, 1:])])))
    for ax, points in panels:
        for label, colour, marker in zip(np.unique(y), _CLASSES, _CLASS_MARKERS, strict=True):
            ax.scatter(*points[y == label].T, color=colour, marker=marker, s=14, label=f"class {label}")
    flat.legend(frameon=False)
    return figure


def _titles() -> list[str]:
    return [name if name != "nakayama" else "nakayama (stand-in for GLA)" for name in SETS]


def _finish(ax: Axes, title: str, ylabel: str, whole: bool) -> None:
    """What all panels share; the whole range from 0 to 1, or that of the data: accuracies stay far from 0."""
    ax.set_title(title, fontsize=10)
    ax.set_ylabel(ylabel)
    if whole:
        ax.set_ylim(-0.03, 1.03)
    ax.grid(color="0.9")
    ax.spines[["top", "right"]].set_visible(False)


def _legend_in(ax: Axes, handles: list, labels: list[str]) -> None:
    ax.axis("off")
    ax.legend(handles, labels, loc="center", frameon=False)
