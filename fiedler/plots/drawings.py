"""Drawing functions on Matplotlib axes, one for each kind of figure, for displays, the report and the gallery.

    draw(ax, values, tell=...) -> what was drawn

A figure uses the current style of Matplotlib: its series colours "C0", "C1", ..., its text and its grid. A display
therefore follows the style of the notebook, and ``svg`` sets the style of a page. ``tell(artist, texts)`` gives every
mark of an artist a text. A page shows the text under the pointer; a display ignores it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..words import printable
from .placing import regions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection, PolyCollection
    from matplotlib.container import BarContainer
    from matplotlib.lines import Line2D
    from matplotlib.patches import PathPatch, StepPatch

    Tell = Callable[[Any, Sequence[str]], None]

METRICS = {
    "accuracy": "accuracy",
    "rmse": "RMSE",
    "clustering_accuracy": "clustering accuracy",
    "nmi": "normalised mutual information",
    "kmeans_accuracy": "accuracy of k-means",
    "kmeans_nmi": "NMI of k-means",
    "jaccard": "Jaccard index of neighbourhoods",
}
SHADES = 8  # of a map
BINS = 20  # number of bins of a histogram of p-values
_LEAST_GAIN = 1e-4  # of the largest one, on a logarithmic scale
MANY = 500  # with more points, a curve over ranks is thinned and its axis is logarithmic
_SETTINGS: dict[str, Any] = {"ink": "text.color", "muted": "axes.labelcolor"}
_SETTINGS |= {"rule": "grid.color", "surface": "axes.facecolor"}
_DASHED: dict[str, Any] = {"color": "C1", "linewidth": 1.4, "linestyle": (0, (4, 3))}
_BASELINES: dict[str, tuple[str, Any]] = {"random": ("muted", (0, (2, 2))), "all": ("ink", (0, (6, 3)))}


def untold(artist: Any, texts: Sequence[str]) -> None:
    """The ``tell`` of a renderer that ignores texts."""


def shade(colour: str, alpha: float) -> tuple[float, ...]:
    """A colour with transparency; Matplotlib 3.8 does not read pairs such as ("C0", 0.5)."""
    from matplotlib.colors import to_rgba

    return to_rgba(colour, alpha)


def paint(name: str) -> str:
    """A colour of the current style: "ink", "muted", "rule" or "surface"; "C0" and so on are returned unchanged."""
    from matplotlib import colors, rcParams

    if name not in _SETTINGS:
        return name
    colour = rcParams[_SETTINGS[name]]
    # A style has only one text colour, so it is mixed with the background.
    if name == "muted" and colour == rcParams["text.color"]:
        return colors.to_hex(np.mean([colors.to_rgb(colour), colors.to_rgb(rcParams["axes.facecolor"])], axis=0))
    return colour


def pale() -> tuple[str, float]:
    """The colour of features that are not selected."""
    return paint("muted"), 0.5


# -------------------------------------------------------------------- a ranking


def named_bars(
    ax: Axes, names: Sequence[str], values: Any, texts: Iterable[str] = (), tell: Tell = untold, **style: Any
) -> BarContainer:
    """A bar for each name, from top to bottom."""
    look: dict[str, Any] = {"height": 0.7, "color": "C0", "longest": None} | style
    longest = look.pop("longest")
    bars = ax.barh(np.arange(len(names)), values, **look)
    for bar, text in zip(bars, texts, strict=False):
        tell(bar, [text])
    list_names(ax, names, longest)
    return bars


def ranking_curve(
    ax: Axes, values: np.ndarray, texts: Sequence[str], n_selected: int, cuts: Iterable[tuple[int, str]], tell: Tell
) -> None:
    """Values by rank; selected features are shaded, and dashed lines show suggested numbers of features."""
    total, shown = len(values), np.flatnonzero(np.isfinite(values))
    many, shown = len(shown) > MANY, thinned(shown)
    ax.axvspan(0.5, min(n_selected, total) + 0.5, color="C0", alpha=0.08, linewidth=0)
    ax.plot(shown + 1, values[shown], color="C0", linewidth=1.6)
    dots = ax.scatter(shown + 1, values[shown], s=14 if len(shown) < 80 else 5, color="C0", linewidths=0)
    tell(dots, [texts[int(at)] for at in shown])
    cuts = list(cuts)
    end = max([total, *(n for n, _ in cuts)])  # a suggested number may be larger than what was drawn
    for line, (n, name) in enumerate(cuts):
        ax.axvline(n + 0.5, **_DASHED)
        left = n > 0.6 * end
        look: dict[str, Any] = {"ha": "right" if left else "left", "va": "top", "color": "C1", "zorder": 5} | small()
        look["bbox"] = {"facecolor": paint("surface"), "alpha": 0.85, "linewidth": 0, "pad": 1.0}
        look |= {"xycoords": ax.get_xaxis_transform(), "textcoords": "offset points"}
        top = 0.99 if values[shown[-1]] < values[shown[0]] else 0.4  # beside the curve
        ax.annotate(f"{n}, {name}", (n + 0.5, top - 0.075 * line), (-5 if left else 5, 0), **look)
    whole_ticks(ax, log=many)
    ax.set_xlim(*((0.9, end * 1.05) if many else (0.5 - 0.01 * end, end + 0.5 + 0.02 * end)))


def thinned(places: np.ndarray) -> np.ndarray:
    """At most 240 of many positions, evenly spaced on a logarithmic axis."""
    return places[np.unique(np.geomspace(1, len(places), 240).astype(int) - 1)] if len(places) > MANY else places


# -------------------------------------------------------------------- features along an axis


def profiles_over_axis(
    ax: Axes, axis: np.ndarray, profiles: np.ndarray, colours: Sequence[str], chosen: np.ndarray
) -> list[Line2D]:
    """Mean profiles over a numeric axis, such as the mean spectrum of each class; chosen features are marked."""
    _mark_chosen(ax, axis, chosen)
    both = zip(profiles, colours, strict=True)
    lines = [ax.plot(axis, profile, color=paint(colour), linewidth=1.5)[0] for profile, colour in both]
    ax.set_ylabel("mean value")
    ax.margins(x=0.02)
    return lines


def scores_over_axis(
    ax: Axes,
    axis: np.ndarray,
    values: np.ndarray,
    chosen: np.ndarray,
    texts: Sequence[str],
    tell: Tell = untold,
    gains: bool = False,
) -> PathCollection:
    """A value of each feature over a numeric axis; the chosen features, in the order of their texts, are dots.

    Gains have a logarithmic scale, on which the smallest ones are drawn at its end.
    """
    _mark_chosen(ax, axis, chosen)
    finite = np.where(np.isfinite(values), values, np.nan)
    if gains:  # the first one is often a hundred times the others
        most = float(np.nanmax(finite, initial=0.0)) or 1.0
        finite = np.clip(finite, _LEAST_GAIN * most, None)
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.plot(axis, finite, color=pale()[0], linewidth=1.2)
    at_bottom = np.nan_to_num(finite[chosen], nan=np.nanmin(finite) if np.isfinite(finite).any() else 0.0)
    size = 26 if len(chosen) <= 40 else 12
    dots = ax.scatter(axis[chosen], at_bottom, s=size, color=paint("ink"), linewidths=0, zorder=3)
    tell(dots, texts)
    ax.margins(x=0.02)
    return dots


def _mark_chosen(ax: Axes, axis: np.ndarray, chosen: np.ndarray) -> None:
    """A vertical line at each chosen feature, and a band where several are neighbours."""
    for part in regions(chosen):
        if len(part) == 1:
            ax.axvline(axis[part[0]], color=paint("ink"), alpha=0.4, linewidth=1.0, zorder=0)
        else:
            ax.axvspan(axis[part[0]], axis[part[-1]], color=paint("ink"), alpha=0.12, linewidth=0, zorder=0)


# -------------------------------------------------------------------- curves of a comparison


def curve_styles(methods: Iterable[str]) -> dict[str, tuple[str, Any]]:
    """A colour name and a line style for each method; baselines come last.

    Examples
    --------
    >>> curve_styles(["random", "fisher"])["fisher"]
    ('C0', '-')
    """
    methods = list(methods)
    coloured = [name for name in methods if name not in _BASELINES]
    styles = {name: (f"C{at % 8}", "-" if at < 8 else ":") for at, name in enumerate(coloured)}
    return styles | {name: style for name, style in _BASELINES.items() if name in methods}


def method_curves(
    ax: Axes,
    curves: dict[str, dict[str, Any]],
    metric: str,
    tell: Tell = untold,
    axis: str = "number of features",
    **style: Any,
) -> dict[str, Line2D]:
    """A measure against a number: a line with a 95 % band for each method; "all" is a horizontal line."""
    lines, words = {}, METRICS.get(metric, metric.replace("_", " "))
    sizes = sorted({size for name, curve in curves.items() if name != "all" for size in curve["n_features"]})
    for name, (colour, dashes) in curve_styles(curves).items():
        curve = {key: np.array(values, dtype=float) for key, values in curves[name].items()}
        x, mean, low, high = (curve[key] for key in ("n_features", "mean", "low", "high"))
        look: dict[str, Any] = {"color": paint(colour), "linestyle": dashes, "linewidth": 1.6, "label": name} | style
        if name == "all":
            lines[name] = ax.axhline(mean[0], **look)
            x, mean, low, high = np.array(sizes[-1:] or x[:1]), mean[:1], low[:1], high[:1]
        else:
            (lines[name],) = ax.plot(x, mean, **look)
            ax.fill_between(x, low, high, color=lines[name].get_color(), alpha=0.13, linewidth=0)
        dots, texts = ax.scatter(x, mean, s=16, color=lines[name].get_color(), linewidths=0), []
        for size, *value in zip(x, mean, low, high, strict=True):
            where = "all features" if name == "all" else f"{size:g} {axis.removeprefix('number of ')}"
            band = f" (95 %: {value[1]:.4g} to {value[2]:.4g})" if np.isfinite(value[1]) else ""
            texts.append(f"{printable(name, 60)}, {where}: {words} {value[0]:.4g}{band}")
        tell(dots, texts)
    ax.set(xlabel=axis, ylabel=words)
    if sizes:
        margin = 0.04 * max(sizes[-1] - sizes[0], 1)
        ax.set_xlim(sizes[0] - margin, sizes[-1] + margin)
    if all(float(size).is_integer() for size in sizes):
        whole_ticks(ax)
    return lines


# -------------------------------------------------------------------- stability


def selection_frequency(
    ax: Axes, names: Sequence[str], frequency: Any, longest: int | None = None, tell: Tell = untold, **style: Any
) -> BarContainer:
    """How often each feature is selected again, as a bar from 0 to 1."""
    rows = zip(names, frequency, strict=True)
    texts = [f"{printable(name, 60)}: selected in {share:.0%} of the draws" for name, share in rows]
    look: dict[str, Any] = {"height": 0.64, "alpha": 0.85, "longest": longest} | style
    bars = named_bars(ax, names, frequency, texts, tell, **look)
    ax.set(xlabel="share of draws", xlim=(0, 1))
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    return bars


def rank_intervals(
    ax: Axes, names: Sequence[str], low: Any, median: Any, high: Any, longest: int | None = None, tell: Tell = untold
) -> PathCollection:
    """The median rank of each feature over the draws as a dot on a line from the 5 % to the 95 % quantile."""
    at, log = np.arange(len(names)), max(high) > 200
    ax.hlines(at, low, high, color="C0", alpha=0.35, linewidth=5)
    dots = ax.scatter(median, at, s=26, color="C0", linewidths=0, zorder=3)
    rows = zip(names, low, median, high, strict=True)
    tell(dots, [f"{printable(n, 60)}: median rank {m:g}, 90 % between {a:g} and {b:g}" for n, a, m, b in rows])
    list_names(ax, names, longest)
    ax.set_xlabel("rank in a draw")
    whole_ticks(ax, log)
    if not log:
        ax.set_xlim(left=0)
    return dots


# -------------------------------------------------------------------- significance


def pvalue_histogram(ax: Axes, counts: Any, tell: Tell = untold, **style: Any) -> BarContainer:
    """A histogram of p-values in equal bins from 0 to 1, with the level expected for noise."""
    counts = np.asarray(counts)
    edges = np.linspace(0.0, 1.0, len(counts) + 1)
    look = {"width": 0.92 * edges[1], "align": "edge", "color": "C0", "alpha": 0.85} | style
    bars = ax.bar(edges[:-1], counts, **look)
    for bar, low, high, count in zip(bars, edges[:-1], edges[1:], counts, strict=True):
        tell(bar, [f"p from {low:.2f} to {high:.2f}: {count:,} features"])
    ax.axhline(counts.sum() / len(counts), label="noise alone", **_DASHED)
    top = 1.18 * max(counts.max(), 1)  # room for the legend
    ax.set(xlabel="p-value", ylabel="features", xlim=(0, 1), ylim=(0, top))
    ax.legend(loc="upper center", frameon=False, **small())
    return bars


def effects_by_rank(
    ax: Axes, names: Sequence[Any], effect: np.ndarray, found: np.ndarray, tell: Tell = untold
) -> PathCollection:
    """The effect size of each tested feature, largest first; features that are not significant are grey."""
    order = np.argsort(-effect, kind="stable")[: np.count_nonzero(~np.isnan(effect))]
    ax.axhline(0.0, linewidth=0.8, color=paint("rule"))
    if found[order].any():
        ax.axhline(effect[order][found[order]].min(), **_DASHED)
    ax.set(xlabel="rank by effect", ylabel="effect")
    return _dots_by_rank(ax, np.arange(len(order)), order, names, effect, found, "effect", tell)


def posterior_by_rank(
    ax: Axes, names: Sequence[str], posterior: np.ndarray, kept: np.ndarray, tell: Tell = untold, **style: Any
) -> PathCollection:
    """How likely each column agrees with others, kept ones first; what was dropped is grey, behind a dashed line."""
    shown, n_kept = np.flatnonzero(~np.isnan(posterior)), int(np.count_nonzero(kept))
    dots = _dots_by_rank(ax, shown, shown, names, posterior, kept, "posterior", tell, **style)
    if n_kept < len(kept):
        ax.axvline(n_kept + 0.5, **_DASHED)
        words = f"{len(kept) - n_kept:,} dropped"
        ax.annotate(words, (n_kept + 0.5, 0.8), (6, 0), textcoords="offset points", **small())
    ax.set(xlabel="rank", ylabel="probability of agreement", ylim=(-0.04, 1.04))
    if len(shown) > MANY:
        ax.set_xlim(0.9, 1.05 * len(kept))
    return dots


def _dots_by_rank(
    ax: Axes, ranks: Any, order: Any, names: Any, values: Any, found: Any, word: str, tell: Tell, **style: Any
) -> PathCollection:
    """A dot for each feature of an order at its rank, counted from 0; features that are not found are grey."""
    shown = thinned(np.arange(len(order)))
    at, chosen = ranks[shown] + 1, order[shown]
    colours = ["C0" if there else pale() for there in found[chosen]]
    look: dict[str, Any] = {"s": 20 if len(at) < 80 else 8, "c": colours, "linewidths": 0, "zorder": 3} | style
    dots, ranked = ax.scatter(at, values[chosen], **look), zip(at, chosen.tolist(), strict=True)
    tell(dots, [f"rank {rank}, {printable(names[j], 60)}: {word} {values[j]:.3g}" for rank, j in ranked])
    whole_ticks(ax, log=len(order) > MANY)
    return dots


# -------------------------------------------------------------------- marks and axes that several figures share


def list_names(ax: Axes, names: Sequence[str], longest: int | None = None) -> None:
    """Write names next to the axes from top to bottom, cut to ``longest`` characters; "$" is plain text."""
    import matplotlib

    ax.set_yticks(np.arange(len(names)), [printable(name, longest) for name in names], parse_math=False)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.grid(False, axis="y")
    ax.grid(matplotlib.rcParams["axes.grid"], axis="x")


def whole_ticks(ax: Axes, log: bool = False) -> None:
    """Put the ticks of the x axis at whole numbers, and write them without an exponent; a long axis is logarithmic."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

    if log:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        ax.xaxis.set_minor_formatter(NullFormatter())
    else:
        ax.xaxis.set_major_locator(MaxNLocator(8, integer=True, steps=[1, 2, 5, 10]))


def small() -> dict[str, Any]:
    """The size of small text, equal to that of the tick labels."""
    import matplotlib

    return {"fontsize": matplotlib.rcParams["xtick.labelsize"]}


def squares(ax: Axes, values: list[list[Any]], names: Sequence[str], tell: Tell = untold) -> PolyCollection:
    """A square for each pair of names; its opacity is the absolute value, its colour the sign."""
    from matplotlib.collections import PolyCollection

    r, gap = np.array(values, dtype=float), 0.04
    n, short = len(names), [printable(name, 60) for name in names]
    corners = [(gap, gap), (1 - gap, gap), (1 - gap, 1 - gap), (gap, 1 - gap)]
    cells = [(i, j) for i in range(n) for j in range(n)]
    strength = np.nan_to_num(np.abs(r)).clip(0.03, 1.0).ravel() * 0.6
    colours = np.where(np.nan_to_num(r).ravel() < 0, "C1", "C0").tolist()
    outlines = [[(j + a, i + b) for a, b in corners] for i, j in cells]
    shades = [shade(colour, alpha) for colour, alpha in zip(colours, strength, strict=True)]
    drawn = PolyCollection(outlines, facecolors=shades, linewidths=0)
    ax.add_collection(drawn)
    written = ["undefined" if np.isnan(value) else f"{value:.2f}" for value in r.ravel()]
    tell(drawn, [f"{short[i]} and {short[j]}: {text}" for (i, j), text in zip(cells, written, strict=True)])
    ax.set(xlim=(0, n), ylim=(n, 0))
    ax.grid(False)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    return drawn


def cell_numbers(ax: Axes, values: list[list[Any]], diagonal: bool = True, size: float | None = None) -> None:
    """Write the numbers of :func:`squares` on their cells; without the diagonal also without the zero before the point.

    A number that is undefined is a dash.
    """
    look: dict[str, Any] = {"ha": "center", "va": "center"} | (small() if size is None else {"fontsize": size})
    for (i, j), value in np.ndenumerate(np.array(values, dtype=float)):
        if diagonal or i != j:
            text = "–" if np.isnan(value) else f"{value:.2f}".replace("-", "−")
            ax.text(j + 0.5, i + 0.5, text if diagonal else text.replace("0.", ".", 1), **look)


def points(ax: Axes, x: Any, y: Any, size: float = 3.0, **style: Any) -> PathPatch:
    """Many points as one path of round dots, which is much smaller in SVG than one mark for each point."""
    from matplotlib.path import Path

    spots = np.repeat(np.column_stack([x, y]), 2, axis=0)
    path = Path(spots, np.tile([Path.MOVETO, Path.LINETO], len(spots) // 2))
    return outline(ax, path, **({"fill": False, "linewidth": size, "capstyle": "round"} | style))


def shades_of(values: np.ndarray) -> np.ndarray:
    """The shade of each value, from 0 for the 2 % smallest to the largest."""
    low, high = np.nanquantile(values, [0.02, 0.98])
    if high <= low:  # rare values, as counts of a gene with few reads
        low, high = np.nanmin(values), np.nanmax(values)
    share = np.clip((values - low) / ((high - low) or 1.0), 0.0, 1.0)
    return np.nan_to_num(np.minimum(share * SHADES, SHADES - 1)).astype(np.intp)


def tissue(
    ax: Axes, places: np.ndarray, shades: np.ndarray, size: float = 3.0, colour: str = "C0", draw: Any = points
) -> list[Any]:
    """Rows at their places, in a darker shade for a larger value; the darkest are drawn last.

    ``draw`` is :func:`points` for pages, or :func:`dots`.
    """
    drawn = []
    for shade in range(SHADES):
        rows = shades == shade
        if rows.any():
            look = (paint("rule"), 0.5) if shade == 0 else (paint(colour), shade / (SHADES - 1))
            drawn.append(draw(ax, places[rows, 0], places[rows, 1], size, edgecolor=look[0], alpha=look[1]))
    low, high = places.min(axis=0), places.max(axis=0)
    margin = 0.04 * (high - low).max() or 0.5
    ax.set_xlim(low[0] - margin, high[0] + margin)
    ax.set_ylim(high[1] + margin, low[1] - margin)  # as images of tissues are shown
    ax.set_aspect("equal")
    ax.set_axis_off()
    return drawn


def dots(ax: Axes, x: Any, y: Any, size: float, edgecolor: str, alpha: float) -> PathCollection:
    """Many points for a display, which draws one mark for each."""
    return ax.scatter(x, y, s=size**2, color=edgecolor, alpha=alpha, linewidths=0)


def histogram(
    ax: Axes, counts: Any, low: float, high: float, at: float = 0.0, height: float = 1.0, **style: Any
) -> StepPatch:
    """Counts of equal bins from ``low`` to ``high`` as steps above the line y = at; the largest has height ``height``.

    A negative height is for axes whose y values increase downwards.
    """
    counts = np.asarray(counts, dtype=np.float64)
    tops = at + height * counts / (counts.max() or 1.0)
    look: dict[str, Any] = {"fill": True, "linewidth": 0.0} | style
    return ax.stairs(tops, np.linspace(low, high, len(counts) + 1), baseline=at, **look)


def outline(ax: Axes, path: Any, **style: Any) -> PathPatch:
    """Add one path to the axes."""
    from matplotlib.patches import PathPatch

    drawn = PathPatch(path, **style)
    ax.add_patch(drawn)
    return drawn
