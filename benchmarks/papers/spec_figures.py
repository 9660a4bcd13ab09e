"""[SPEC] Fig. 2, drawn from the computed numbers in the paper's layout."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .spec_runs import COLUMNS, FACES, KERNELS, LS, ON_LABELS, RANDOM, RLF, RLF_AS_GIVEN, TEXTS, Results

# The palette of Okabe and Ito: a colour per ranking function; the line tells r from r⁴, and C from R.
COLOURS = {"φ1": "#0072b2", "φ2": "#d55e00", "φ3": "#009e73"}
MARKERS = {"φ1": "o", "φ2": "s", "φ3": "^"}
BASELINE = {"color": "black", "linewidth": 2.8, "zorder": 1.5}
AS_GIVEN = {"color": "black", "linestyle": "-.", "linewidth": 1.4}
RANDOM_STYLE = {"color": "0.45", "linestyle": ":", "linewidth": 1.8}


def accuracy_against_features(results: Results) -> Figure:
    """One row per set; columns: RBF weights, diffusion kernel, graphs of the labels. Thick: LS and ReliefF."""
    names = results.present((*TEXTS, *FACES))
    figure = Figure(figsize=(9.0, 2.5 * len(names) + 0.9), layout="constrained")
    axes = figure.subplots(len(names), 3, squeeze=False, sharex=True, sharey="row")
    for name, row in zip(names, axes, strict=True):
        for kernel, ax in zip(KERNELS, row, strict=False):
            styles = {f"{kernel} {column}": _style(column[:2], dashed="r⁴" in column) for column in COLUMNS}
            _panel(ax, results, name, {LS: BASELINE} | styles)
            ax.set_title(f"{name}, {'RBF' if kernel == 'RBF' else 'diffusion'}", fontsize=10)
        styles = {method: _style(method[-2:], dashed=method[0] == "R") for method in ON_LABELS[1:]}
        _panel(row[2], results, name, {RLF: BASELINE, RLF_AS_GIVEN: AS_GIVEN} | styles)
        row[2].set_title(f"{name}, supervised", fontsize=10)
        row[0].set_ylabel("accuracy")
    for ax in axes[-1]:
        ax.set_xlabel("number of selected features")
    _legends(figure, axes)
    return figure


def _style(phi: str, dashed: bool) -> dict[str, Any]:
    line = {"linestyle": "--", "markerfacecolor": "white"} if dashed else {"linestyle": "-"}
    return {"color": COLOURS[phi], "marker": MARKERS[phi], "linewidth": 1.2} | line


def _panel(ax: Axes, results: Results, name: str, styles: dict[str, dict[str, Any]]) -> None:
    for method, style in (styles | {RANDOM: RANDOM_STYLE}).items():
        ax.plot(results.plan.sizes, results.curves[name, method].mean(axis=0), label=method, markersize=3.5, **style)
    ax.grid(alpha=0.3, linewidth=0.5)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=8)


def _legends(figure: Figure, axes: Any) -> None:
    """One legend for the two unsupervised columns, one for the supervised column, above the panels."""
    left = axes[0, 0].get_legend_handles_labels()
    right = axes[0, 2].get_legend_handles_labels()
    names = [label.removeprefix("RBF ") for label in left[1]]
    options = {"frameon": False, "fontsize": 9, "title_fontsize": 9}
    figure.legend(left[0], names, loc="outside upper left", ncols=4, title="first two columns", **options)
    figure.legend(right[0], right[1], loc="outside upper right", ncols=4, title="last column", **options)
