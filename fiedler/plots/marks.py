"""One drawing of each kind, on any matplotlib axes: a curve with its band, bars with names, a graph, a map of squares,
many points, a histogram on a line, quartiles.

Displays, the report and the pages of the docs all draw with these, each in its own colours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.container import BarContainer
    from matplotlib.lines import Line2D
    from matplotlib.patches import PathPatch


def curve(ax: Axes, x: Any, mean: Any, low: Any = None, high: Any = None, shade: float = 0.15, **style: Any) -> Line2D:
    """A line, and a band around it in its colour."""
    (line,) = ax.plot(x, mean, **style)
    if low is not None and high is not None:
        ax.fill_between(x, low, high, color=line.get_color(), alpha=shade, linewidth=0)
    return line


def bars(ax: Axes, names: Sequence[str], values: Any, **style: Any) -> BarContainer:
    """Horizontal bars under each other, a name beside each."""
    drawn = ax.barh(np.arange(len(names)), values, **({"height": 0.7} | style))
    list_axis(ax, names)
    return drawn


def list_axis(ax: Axes, names: Sequence[str]) -> None:
    """Names from top to bottom; a dollar sign in one is a dollar sign."""
    ax.set_yticks(np.arange(len(names)), names, parse_math=False)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right"]].set_visible(False)


def whole_ticks(ax: Axes, log: bool = False) -> None:
    """Ticks of x at whole numbers only, written plainly."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

    if log:
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        ax.xaxis.set_minor_formatter(NullFormatter())
    else:
        ax.xaxis.set_major_locator(MaxNLocator(8, integer=True, steps=[1, 2, 5, 10]))


def graph_edges(ax: Axes, x: np.ndarray, y: np.ndarray, edges: Any, **style: Any) -> None:
    """The edges (i, j) of a graph whose nodes lie at (x, y), as one path."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    if len(edges):
        ends = np.asarray(edges).ravel()
        codes = np.tile([Path.MOVETO, Path.LINETO], len(edges))
        lines = Path(np.column_stack([x[ends], y[ends]]), codes)
        ax.add_patch(PathPatch(lines, fill=False, **({"alpha": 0.18, "linewidth": 0.5} | style)))


def squares(ax: Axes, values: np.ndarray, positive: str, negative: str, gap: float = 0.04) -> PolyCollection:
    """A square per cell of a matrix, as strong as its value is large, row by row from the top."""
    from matplotlib.collections import PolyCollection

    n, m = values.shape
    corners = [(gap, gap), (1 - gap, gap), (1 - gap, 1 - gap), (gap, 1 - gap)]
    cells = [[(j + a, i + b) for a, b in corners] for i in range(n) for j in range(m)]
    strength = np.nan_to_num(np.abs(values)).clip(0.03, 1.0).ravel() * 0.6
    paint = np.where(np.nan_to_num(values).ravel() < 0, negative, positive)
    drawn = PolyCollection(cells, facecolors=list(zip(paint, strength, strict=True)), linewidths=0)
    ax.add_collection(drawn)
    ax.set(xlim=(0, m), ylim=(n, 0))
    ax.grid(False)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    return drawn


def points(ax: Axes, x: Any, y: Any, size: float = 3.0, **style: Any) -> PathPatch:
    """Many points as one path, a fraction of the size of as many marks: lines without length and with round ends."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    spots = np.repeat(np.column_stack([x, y]), 2, axis=0)
    path = Path(spots, np.tile([Path.MOVETO, Path.LINETO], len(spots) // 2))
    look = {"fill": False, "linewidth": size, "capstyle": "round"}
    drawn = PathPatch(path, **(look | style))
    ax.add_patch(drawn)
    return drawn


def histogram(
    ax: Axes, counts: Any, low: float, high: float, at: float = 0.0, height: float = 1.0, **style: Any
) -> PathPatch:
    """Counts of equal bins from ``low`` to ``high`` as steps on the line y = at, the largest ``height`` tall.

    A negative height is for axes that run downwards.
    """
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    counts = np.asarray(counts, dtype=np.float64)
    edges = np.linspace(low, high, len(counts) + 1)
    first, last = (int(end) for end in np.flatnonzero(counts)[[0, -1]]) if counts.any() else (0, 0)
    tops = at + height * counts[first : last + 1] / (counts.max() or 1.0)
    turns = np.flatnonzero(np.diff(tops)) + 1  # where the level changes: equal neighbours share a step
    starts = np.concatenate([[0], turns, [len(tops)]])
    x = edges[first : last + 2][np.repeat(starts, 2)]
    y = np.concatenate([[at], np.repeat(tops[starts[:-1]], 2), [at]])
    drawn = PathPatch(Path(np.column_stack([x, y])), **({"linewidth": 0.0} | style))
    ax.add_patch(drawn)
    return drawn


def quartiles(ax: Axes, at: float, values: Sequence[float], **style: Any) -> Line2D:
    """The middle half as a line at y = at, and a tick at the median."""
    low, middle, high = values
    look: dict[str, Any] = {"linewidth": 2.0, "solid_capstyle": "butt"} | style
    (line,) = ax.plot([low, high], [at, at], **look)
    ax.plot([middle], [at], marker="|", markersize=7, markeredgewidth=2.0, color=line.get_color())
    return line
