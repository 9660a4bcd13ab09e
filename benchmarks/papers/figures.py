"""The figures of the papers, drawn from the curves in results/papers/curves; the two features of iris from the data."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import data
from ..pages import DOCS, records, results, save_figure

_FEATURES, _CONSTRAINTS, _KENDALL = "number of features", "number of constraints", "Kendall's coefficient"
LAYOUT = {  # panels in a row, names of the axes
    "sselect-accuracy": (3, "number of selected features", "accuracy"),
    "sselect-lambda": (3, "λ", ""),
    "sselect-many": (3, "λ", ""),
    "sselect-labels": (1, "number of labels l", "accuracy"),
    "sselect-surface": (3, "number of selected features", "accuracy"),
    "sselect-scores": (2, "rank of the feature", "score"),
    "spec-accuracy": (3, "number of selected features", "accuracy"),
    **dict.fromkeys(("ssls-fig1", "ssls-further"), (2, _FEATURES, "RMSE")),
    **dict.fromkeys(("constraints-figure-2", "constraints-figure-4"), (2, _CONSTRAINTS, _KENDALL)),
    **dict.fromkeys(("constraints-figure-3", "constraints-figure-5"), (2, _FEATURES, "accuracy")),
    "constraints-figure-6": (2, _CONSTRAINTS, "accuracy"),
    **{f"evsc-{side}acc": (n, _FEATURES, "clustering accuracy") for side, n in (("", 2), ("bad-", 3))},
    **{f"evsc-{side}jas": (n, _FEATURES, "Jaccard score") for side, n in (("", 2), ("bad-", 3))},
    "evsc-turning": (2, _FEATURES, ""),
}
# Okabe and Ito's colours, which differ for colour-blind readers too.
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#8C564B", "#000000")
_BASELINES = {"random": ":", "variance": "-.", "all": "--"}  # grey, each with a line of its own


def draw() -> None:
    """Draw all figures whose curves are there."""
    for name in LAYOUT:
        if results("papers", f"curves/{name}").exists():
            save_figure(lines(name), DOCS / "figures" / f"{name}.svg")
    if data.folder() is not None:
        save_figure(iris(), DOCS / "figures" / "evsc-iris.svg")


def lines(name: str) -> Any:
    """One panel per title with one legend below them."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    columns, x_label, y_label = LAYOUT[name]
    panels: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for row in records(results("papers", f"curves/{name}")):
        panels.setdefault(row["panel"], {}).setdefault(row["line"], []).append((float(row["x"]), float(row["y"])))
    styles = _styles(list(dict.fromkeys(line for of_line in panels.values() for line in of_line)))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(9.0 if columns > 1 else 6.0, 2.5 * rows + 0.7), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False)
    for ax, (title, of_line) in zip(axes.flat, panels.items(), strict=True):
        for line, points in of_line.items():
            ax.plot(*np.transpose(points), label=line, linewidth=1.4, **styles[line])
        ax.set_title(title, fontsize=9)
        if name == "sselect-scores":
            ax.set_xscale("log")
        elif x_label.startswith("number"):
            ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.grid(alpha=0.3, linewidth=0.5)
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize=8)
    for row in axes:
        row[0].set_ylabel(y_label)
    for ax in axes[-1]:
        ax.set_xlabel(x_label)
    shown = {label: handle for ax in axes.flat for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    figure.legend(
        shown.values(), shown, loc="outside lower center", ncols=min(len(shown), 6), frameon=False, fontsize=8
    )
    return figure


def _styles(names: list[str]) -> dict[str, dict[str, Any]]:
    """A colour per line; numbers of labels get lighter and darker shades of one."""
    from matplotlib import colormaps

    if all(name.startswith("l = ") for name in names):
        return {name: {"color": colormaps["viridis_r"](0.2 + 0.8 * i / len(names))} for i, name in enumerate(names)}
    methods = [name for name in names if name not in _BASELINES]
    found = {name: {"color": _COLORS[i % 8], "linestyle": "-" if i < 8 else "--"} for i, name in enumerate(methods)}
    return found | {name: {"color": "0.45", "linestyle": style} for name, style in _BASELINES.items()}


def iris() -> Any:
    """[EV] Fig. 1: F1 and F3 of iris, and the first three eigenvectors of the graphs on subsets of them."""
    from matplotlib.figure import Figure

    from .evsc import iris_eigenvectors

    X, y, vectors, _ = iris_eigenvectors()
    figure = Figure(figsize=(9, 8), layout="constrained")
    flat = figure.add_subplot(2, 2, 1)
    panels = [(flat, X)]
    flat.set(xlabel="F1, sepal length (cm)", ylabel="F3, petal length (cm)", title="the two features")
    flat.spines[["top", "right"]].set_visible(False)
    for place, (subset, Q) in enumerate(vectors.items(), start=2):
        ax = figure.add_subplot(2, 2, place, projection="3d")
        ax.set(xlabel="$q_1$", ylabel="$q_2$", zlabel="$q_3$", title=f"eigenvectors from {subset}")
        ax.ticklabel_format(useOffset=False)
        ax.tick_params(labelsize=7)
        ax.locator_params(nbins=5)
        ax.set_box_aspect(None, zoom=0.85)  # room for the label of the third axis
        # q_1 is constant; an axis of its rounding errors would look like structure.
        middle = float(np.abs(Q[:, 0]).mean())
        ax.set_xlim(0.5 * middle, 1.5 * middle)
        panels.append((ax, np.column_stack([np.abs(Q[:, 0]), Q[:, 1:] * np.sign(Q[-1, 1:])])))
    for ax, points in panels:
        for label, color, marker in zip(np.unique(y), ("#56B4E9", "#E69F00", "0.1"), "os^", strict=True):
            ax.scatter(*points[y == label].T, color=color, marker=marker, s=14, label=f"class {label}")
    flat.legend(frameon=False)
    return figure
