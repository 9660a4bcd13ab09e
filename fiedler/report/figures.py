"""The figures of a report, each drawn from the summary alone: ``figures(summary) -> {name: Drawing}``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..plots import marks
from ..plots.svg import FONT, N_SERIES, PAINT, Drawing
from ..words import number, printable

_CURVE_POINTS = 240
METRICS = {
    "accuracy": "accuracy",
    "rmse": "RMSE",
    "clustering_accuracy": "clustering accuracy",
    "nmi": "normalised mutual information",
    "jaccard": "Jaccard index of neighbourhoods",
}
_NEUTRAL = {"random": ("muted", (0, (2, 2))), "all": ("ink", (0, (6, 3)))}


def figures(summary: dict[str, Any]) -> dict[str, Drawing]:
    """Every figure the summary has the numbers for."""
    drawn = {"scores": explained_curve(summary) if "explained" in summary["features"] else score_curve(summary)}
    if summary.get("significance"):
        drawn["pvalues"] = pvalues(summary["significance"])
    comparison = summary["comparison"]
    for metric in comparison["settings"]["metrics"] if comparison else ():
        drawn[f"curve-{metric}"] = metric_curve(comparison, metric)
    agreement = summary["agreement"]
    if "methods" in agreement:
        drawn["spearman"] = agreement_map(agreement, "spearman")
        drawn["overlap"] = agreement_map(agreement, "overlap")
    if summary["stability"] is not None:
        if summary["stability"]["k"] < summary["data"]["n_features"]:  # or every draw selects every feature
            drawn["frequency"] = frequency_bars(summary)
        drawn["intervals"] = rank_intervals(summary)
    for feature in summary.get("distributions", {}).get("features", ()):
        drawn[f"values-{feature['rank']}"] = distribution(summary, feature)
    graph = summary["graph"]
    if "embedding" in graph:
        drawn["embedding"] = embedding(graph, class_colours(summary["data"]["labels"]))
    if len(graph.get("eigenvalues", [])) > 2:
        drawn["eigenvalues"] = eigenvalues(graph)
    if "correlation" in summary["redundancy"]:
        drawn["redundancy"] = redundancy_map(summary["redundancy"])
    return {name: drawing for name, drawing in drawn.items() if drawing is not None}


# -------------------------------------------------------------------- curves


def explained_curve(summary: dict[str, Any]) -> Drawing | None:
    """The share of what all features explain that the first ones of a set have, with the suggested cuts."""
    columns, k = summary["features"], summary["run"]["n_selected"]
    shares = [share for share in columns["explained"] if share is not None]
    if len(shares) < 2:
        return None
    x, total = np.arange(1, len(shares) + 1), len(shares)
    about = f"The first {total} features explain {shares[-1]:.0%} of what all do; the first {k} are selected."
    with Drawing("scores", "Explained by the first features", about) as drawing:
        ax = drawing.ax
        ax.axvspan(0.5, min(k, total) + 0.5, color=PAINT["c1"], alpha=0.08, linewidth=0)
        ax.axhline(1.0, color=PAINT["muted"], linewidth=1.0, linestyle=(0, (2, 2)))
        ax.plot(x, shares, color=PAINT["c1"], linewidth=1.6)
        dots = ax.scatter(x, shares, s=14 if total < 80 else 5, color=PAINT["c1"], linewidths=0)
        names = (printable(name, 60) for name in columns["feature"][:total])
        drawing.tell(dots, [f"{at}, {n}: {s:.1%}" for at, n, s in zip(x, names, shares, strict=True)])
        _draw_cuts(ax, summary, total)
        ax.set_xlim(0.5 - 0.01 * total, total + 0.5)
        ax.set_ylim(0.0, 1.05)
        marks.whole_ticks(ax)
        ax.set(xlabel="number of features", ylabel="share explained")
    return drawing


def pvalues(tested: dict[str, Any]) -> Drawing:
    """How many features have which p-value, beside what noise would give."""
    counts = np.array(tested["histogram"])
    edges, even = np.linspace(0.0, 1.0, len(counts) + 1), counts.sum() / max(len(counts), 1)
    about = f"p-values of {tested['n_tested']} features in {len(counts)} steps; the line is what noise would give."
    with Drawing("pvalues", "p-values", about) as drawing:
        ax = drawing.ax
        bars = ax.bar(edges[:-1], counts, width=edges[1] * 0.92, align="edge", color=PAINT["c1"])
        for bar, low, high, count in zip(bars, edges[:-1], edges[1:], counts, strict=True):
            drawing.tell(bar, [f"p from {low:.2f} to {high:.2f}: {count:,} features"])
        ax.axhline(even, color=PAINT["c2"], linewidth=1.4, linestyle=(0, (4, 3)))
        ax.annotate(
            "noise alone", (1.0, even), xytext=(0, 4), textcoords="offset points", ha="right", fontsize=FONT - 1
        )
        ax.set_xlim(0.0, 1.0)
        ax.set(xlabel="p-value", ylabel="features")
    return drawing


def score_curve(summary: dict[str, Any]) -> Drawing | None:
    """Sorted scores with the selection and the suggested cuts."""
    columns, k = summary["features"], summary["run"]["n_selected"]
    scores = np.array([number(score) for score in columns["score"]])
    finite = np.flatnonzero(np.isfinite(scores))
    if len(finite) < 2:
        return None
    shown = (
        finite[np.unique(np.geomspace(1, len(finite), _CURVE_POINTS).astype(int) - 1)] if len(finite) > 500 else finite
    )
    about = f"{len(finite)} scores from best to worst, {summary['run']['direction']}; the first {k} are selected."
    with Drawing("scores", "Scores by rank", about) as drawing:
        ax = drawing.ax
        ax.axvspan(0.5, k + 0.5, color=PAINT["c1"], alpha=0.08, linewidth=0)
        ax.plot(shown + 1, scores[shown], color=PAINT["c1"], linewidth=1.6)
        dots = ax.scatter(shown + 1, scores[shown], s=14 if len(shown) < 80 else 5, color=PAINT["c1"], linewidths=0)
        names = (printable(columns["feature"][at], 60) for at in shown)
        drawing.tell(dots, [f"rank {at + 1}, {n}: {scores[at]:.5g}" for at, n in zip(shown, names, strict=True)])
        _draw_cuts(ax, summary, len(scores))
        if len(finite) > 500:
            ax.set_xscale("log")
            ax.set_xlim(0.9, len(scores) * 1.05)
        else:
            ax.set_xlim(0.5 - 0.01 * len(scores), len(scores) + 0.5)
        marks.whole_ticks(ax, log=len(finite) > 500)
        ax.set(xlabel="rank", ylabel="score")
    return drawing


def _draw_cuts(ax: Any, summary: dict[str, Any], total: int) -> None:
    """Dashed lines after the suggested numbers of features."""
    for at, (n, rules) in enumerate(_cuts(summary)):
        ax.axvline(n + 0.5, color=PAINT["c2"], linewidth=1.4, linestyle=(0, (4, 3)))
        far = n > 0.7 * total
        ax.annotate(
            f"{n}, {rules}",
            (n + 0.5, 0.99 - 0.075 * at),
            xycoords=ax.get_xaxis_transform(),
            xytext=(-5 if far else 5, 0),
            textcoords="offset points",
            ha="right" if far else "left",
            va="top",
            fontsize=FONT - 1,
            color=PAINT["c2"],
            bbox={"facecolor": PAINT["surface"], "alpha": 0.85, "linewidth": 0, "pad": 1.0},
            zorder=5,
        )


def _cuts(summary: dict[str, Any]) -> list[tuple[int, str]]:
    """Suggested numbers of features, each once with the rules that gave it."""
    cuts: dict[int, list[str]] = {}
    for suggestion in summary["suggestions"]:
        if suggestion["n_features"] is not None:
            cuts.setdefault(suggestion["n_features"], []).append(suggestion["rule"])
    return [(n, " and ".join(rules)) for n, rules in sorted(cuts.items())]


def curve_styles(comparison: dict[str, Any]) -> dict[str, tuple[str, Any]]:
    """A colour's name and a line style for each method of a comparison."""
    coloured = [name for name in comparison["methods"] if name not in _NEUTRAL]
    styles = {name: (f"c{at % N_SERIES + 1}", "-" if at < N_SERIES else ":") for at, name in enumerate(coloured)}
    return styles | _NEUTRAL


def metric_curve(comparison: dict[str, Any], metric: str) -> Drawing:
    """A measure against the number of features: means with 95 % bands, baselines in grey."""
    name, settings = METRICS.get(metric, metric), comparison["settings"]
    sizes = settings["n_features"]
    about = f"Mean {name} of {len(comparison['methods'])} methods over {settings['n_draws']} draws, by features kept."
    with Drawing(f"curve-{metric}", f"{name} by number of features", about, height=320) as drawing:
        for method, (colour, style) in curve_styles(comparison).items():
            curve = comparison["methods"][method]["curves"][metric]
            if method == "all":
                level = curve["mean"][0]
                drawing.ax.axhline(level, color=PAINT[colour], linewidth=1.2, linestyle=style)
                curve = {key: [value[0]] for key, value in curve.items() if value} | {"n_features": [sizes[-1]]}
            _banded(drawing, method, name, curve, PAINT[colour], style)
        marks.whole_ticks(drawing.ax)
        drawing.ax.set(xlabel="number of features", ylabel=name)
        span = max(sizes[-1] - sizes[0], 1)
        drawing.ax.set_xlim(sizes[0] - 0.04 * span, sizes[-1] + 0.04 * span)
    return drawing


def _banded(drawing: Drawing, method: str, metric: str, curve: dict[str, list], paint: str, style: Any) -> None:
    x, mean = np.array(curve["n_features"]), np.array([number(v) for v in curve["mean"]])
    low, high = (np.array([number(v) for v in curve[key]]) for key in ("low", "high"))
    if len(x) > 1:
        width = 1.8 if style == "-" else 1.5
        marks.curve(drawing.ax, x, mean, low, high, 0.13, color=paint, linestyle=style, linewidth=width)
    dots = drawing.ax.scatter(x, mean, s=16, color=paint, linewidths=0)
    bands = [f" (95 %: {a:.4g} to {b:.4g})" if np.isfinite(a) else "" for a, b in zip(low, high, strict=True)]
    where = [" all features" if method == "all" else f" {k} features" for k in x]
    texts = [f"{printable(method, 60)},{w}: {metric} {v:.4g}{b}" for w, v, b in zip(where, mean, bands, strict=True)]
    drawing.tell(dots, texts)


# -------------------------------------------------------------------- maps


def agreement_map(agreement: dict[str, Any], what: str) -> Drawing:
    """Rank correlation, or the share of common features, between every two methods."""
    methods, values = agreement["methods"], agreement[what]
    k = agreement["k"]
    title = "Rank correlation (Spearman)" if what == "spearman" else f"Common among the first {k}"
    about = "; ".join(
        f"{printable(a, 40)} and {printable(b, 40)}: {number(values[i][j]):.2f}"
        for i, a in enumerate(methods)
        for j, b in enumerate(methods[:i])
    )
    size = 40 * len(methods) + 110
    with Drawing(what, title, about, height=min(max(size, 230), 420)) as drawing:
        _map(drawing, values, methods)
        for i in range(len(methods)):
            for j in range(len(methods)):
                text = "–" if values[i][j] is None else f"{number(values[i][j]):.2f}".replace("-", "−")
                drawing.ax.text(j + 0.5, i + 0.5, text, ha="center", va="center", fontsize=FONT - 1)
    return drawing


def redundancy_map(redundancy: dict[str, Any]) -> Drawing:
    """Correlations between the selected features, best first."""
    names, ranks = redundancy["features"], redundancy["ranks"]
    about = f"Correlations between the {len(names)} best selected features; hover over a cell for its value."
    height = 18.0 * len(names) + 60 if len(names) > 8 else 26.0 * len(names) + 60
    with Drawing("redundancy", "Correlation between selected features", about, height=height) as drawing:
        step = 1 if len(names) <= 12 else 2  # or their numbers run into each other
        below = ["" if at % step else str(rank) for at, rank in enumerate(ranks)]
        _map(drawing, redundancy["correlation"], names, columns=below)
        drawing.ax.set_yticklabels([f"{rank}. {printable(n, 24)}" for n, rank in zip(names, ranks, strict=True)])
    return drawing


def _map(drawing: Drawing, values: list, rows: list[str], columns: list[str] | None = None) -> None:
    """Squares whose strength is the size of a number; negative ones in another colour."""
    r = np.array([[number(v) for v in row] for row in values])
    n, ax = len(rows), drawing.ax
    cells = [(i, j) for i in range(n) for j in range(n)]
    squares = marks.squares(ax, r, PAINT["c1"], PAINT["c2"])
    short = [printable(name, 60) for name in rows]
    drawing.tell(
        squares,
        [f"{short[i]} and {short[j]}: {'undefined' if np.isnan(r[i, j]) else f'{r[i, j]:.2f}'}" for i, j in cells],
    )
    ax.set_xticks(np.arange(n) + 0.5, columns or [printable(name, 16) for name in rows])
    ax.set_yticks(np.arange(n) + 0.5, [printable(name, 22) for name in rows])
    if columns is None and (n > 4 or max(map(len, rows)) > 9):
        for label in ax.get_xticklabels():
            label.set(rotation=32, ha="right", rotation_mode="anchor")


# -------------------------------------------------------------------- stability


def frequency_bars(summary: dict[str, Any], most: int = 20) -> Drawing:
    """How often the best features are selected again."""
    columns, drawn = summary["features"], summary["stability"]
    names = [printable(name, 24) for name in columns["feature"][:most]]
    often = [number(f) for f in columns["frequency"][:most]]
    about = f"Share of {drawn['n_draws']} draws in which a feature is among the first {drawn['k']}, {len(names)} best."
    with Drawing("frequency", "Selection frequency", about, height=19 * len(names) + 60) as drawing:
        bars = marks.bars(drawing.ax, names, often, height=0.64, color=PAINT["c1"], alpha=0.85)
        for bar, name, share in zip(bars, columns["feature"], often, strict=False):
            drawing.tell(bar, [f"{printable(name, 60)}: selected in {share:.0%} of the draws"])
        _list(drawing.ax, names, "share of draws")
        drawing.ax.set_xlim(0, 1)
        drawing.ax.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    return drawing


def rank_intervals(summary: dict[str, Any], most: int = 20) -> Drawing:
    """Where the ranks of the best features lie in the middle 90 % of the draws."""
    columns = summary["features"]
    names = [printable(name, 24) for name in columns["feature"][:most]]
    low, middle, high = ([number(v) for v in columns[f"rank_{q}"][:most]] for q in ("low", "median", "high"))
    at = np.arange(len(names))
    about = f"Median rank of each of the {len(names)} best features over the draws, with the middle 90 %."
    with Drawing("intervals", "Rank over the draws", about, height=19 * len(names) + 60) as drawing:
        drawing.ax.hlines(at, low, high, color=PAINT["c1"], alpha=0.35, linewidth=5)
        dots = drawing.ax.scatter(middle, at, s=26, color=PAINT["c1"], linewidths=0, zorder=3)
        rows = zip(columns["feature"], low, middle, high, strict=False)
        drawing.tell(
            dots, [f"{printable(n, 60)}: median rank {m:g}, 90 % between {a:g} and {b:g}" for n, a, m, b in rows]
        )
        _list(drawing.ax, names, "rank in a draw")
        if max(high) > 200:
            drawing.ax.set_xscale("log")
        else:
            drawing.ax.set_xlim(left=0)
        marks.whole_ticks(drawing.ax, log=max(high) > 200)
    return drawing


def _list(ax: Any, names: list[str], xlabel: str) -> None:
    marks.list_axis(ax, names)
    ax.spines["left"].set_visible(False)
    ax.grid(False, axis="y")
    ax.grid(True, axis="x")
    ax.set_xlabel(xlabel)


# -------------------------------------------------------------------- the values of the best features


def class_colours(labels: dict[str, Any]) -> list[str]:
    """A colour's name for every class, the same in all figures: the eight largest have one of their own.

    Examples
    --------
    >>> class_colours({"kind": "classes", "classes": [["a", 2], ["b", 5]]})
    ['c1', 'c2']
    """
    sizes = np.array([count for _, count in labels.get("classes", [])])
    kept = np.sort(np.argsort(-sizes, kind="stable")[:N_SERIES])
    colours = ["ink"] * len(sizes)
    for at, code in enumerate(kept):
        colours[code] = f"c{at + 1}"
    return colours


def distribution(summary: dict[str, Any], about: dict[str, Any]) -> Drawing:
    """One feature in a small figure: by class, against the target, or alone."""
    section, name = summary["distributions"], printable(about["feature"], 60)
    draw, height = {
        "classes": (_by_class, 26.0 * len(section.get("groups", [])) + 34),
        "target": (_against_target, 150.0),
        "none": (_alone, 110.0),
    }[section["kind"]]
    what = {"classes": "by class", "target": "against the target", "none": "as a histogram"}[section["kind"]]
    title, words = f"{name} {what}", f"{section['n_rows']} rows."
    with Drawing(f"values-{about['rank']}", title, words, width=230, height=height) as drawing:
        from matplotlib.ticker import MaxNLocator

        low, high = about["low"], about["high"]
        margin = 0.03 * (high - low) or 0.5
        drawing.ax.set_xlim(low - margin, high + margin)
        drawing.ax.xaxis.set_major_locator(MaxNLocator(3))
        drawing.ax.tick_params(labelsize=FONT + 0.5)  # two of them stand side by side on a phone
        draw(drawing, summary, about, name)
    return drawing


def _by_class(drawing: Drawing, summary: dict[str, Any], about: dict[str, Any], name: str) -> None:
    """A line per class: its histogram with the middle half and the median, or its few values one by one."""
    colours, ax = class_colours(summary["data"]["labels"]), drawing.ax
    groups, low, high = summary["distributions"]["groups"], about["low"], about["high"]
    medians = []
    for at, ((label, code), group) in enumerate(zip(groups, about["groups"], strict=True)):
        if not group["n"]:
            continue
        paint, middle = PAINT["ink" if code is None else colours[code]], group["quartiles"][1]
        if "values" in group:
            shown = marks.points(ax, np.clip(group["values"], low, high), [at - 0.3] * group["n"], 6.0, edgecolor=paint)
            shown.set_alpha(0.6)
        else:
            shown = marks.histogram(ax, group["counts"], low, high, at, -0.8, facecolor=paint, alpha=0.4)
        marks.quartiles(ax, at, np.clip(group["quartiles"], low, high).tolist(), color=paint)
        text = f"{printable(label, 40)}: median {middle:.4g} of {group['n']} row{'s' * (group['n'] > 1)}"
        drawing.tell(shown, [text])
        medians.append(text)
    drawing.description = f"{name}. {'; '.join(medians)}."
    ax.set_ylim(len(groups) - 0.7, -0.95)
    _bare(ax)


def _against_target(drawing: Drawing, summary: dict[str, Any], about: dict[str, Any], name: str) -> None:
    target = np.array([number(value) for value in summary["distributions"]["target"]])
    x, r = np.array([number(value) for value in about["x"]]), number(about["correlation"])
    x = np.clip(x, about["low"], about["high"])
    dots = marks.points(drawing.ax, x, target, 3.5, edgecolor=PAINT["c1"], alpha=0.5)
    words = f"{name}: correlation {r:.2f} with the target"
    drawing.tell(dots, [words])
    drawing.description = f"{words}, {len(x)} rows."
    margin = 0.05 * (target.max() - target.min()) or 0.5
    drawing.ax.set_ylim(target.min() - margin, target.max() + margin)
    drawing.ax.locator_params(axis="y", nbins=3)


def _alone(drawing: Drawing, summary: dict[str, Any], about: dict[str, Any], name: str) -> None:
    span = about["low"], about["high"]
    bars = marks.histogram(drawing.ax, about["counts"], *span, facecolor=PAINT["c1"], alpha=0.6)
    words = f"{name}: {sum(about['counts'])} rows, most in a bin {max(about['counts'])}"
    drawing.tell(bars, [words])
    drawing.description = f"{words}."
    drawing.ax.set_ylim(0, 1.05)
    _bare(drawing.ax)


def _bare(ax: Any) -> None:
    """No second axis: the height of a histogram is a matter of its bins."""
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    ax.grid(False)


# -------------------------------------------------------------------- the graph


def embedding(graph: dict[str, Any], colours: list[str]) -> Drawing:
    """The samples placed by the first two non-trivial eigenvectors; loose ones are diamonds at the border."""
    picture = graph["embedding"]
    x, y = np.array(picture["x"]), np.array(picture["y"])
    about = (
        f"{len(x)} rows placed by the first two eigenvectors of {graph['shown']}, coloured by what is known of them."
    )
    with Drawing("embedding", "Rows in the graph", about, height=340) as drawing:
        ax = drawing.ax
        marks.graph_edges(ax, x, y, picture["edges"], edgecolor=PAINT["muted"])
        texts, paint, strength = _points(picture, colours)
        faint, n_tied = np.array(paint) == PAINT["muted"], len(x) - picture.get("n_loose", 0)
        size = 24 if len(x) <= 300 else 13
        tied = np.arange(len(x)) < n_tied
        for part in (np.flatnonzero(faint & tied), np.flatnonzero(~faint & tied)):  # those we know something of on top
            if len(part):
                shades = [(paint[at], strength[at]) for at in part]
                big = size if faint[part[0]] or faint.sum() < len(x) / 2 else 2.2 * size
                dots = ax.scatter(x[part], y[part], s=big, c=shades, linewidths=0, zorder=3)
                drawing.tell(dots, [texts[at] for at in part])
        if n_tied < len(x):
            look: dict[str, Any] = {"marker": "D", "facecolors": PAINT["surface"], "linewidths": 1.6, "zorder": 4}
            far = ax.scatter(x[n_tied:], y[n_tied:], s=30, edgecolors=paint[n_tied:], **look)
            drawing.tell(far, [f"{text}; hangs on the others by little" for text in texts[n_tied:]])
        ax.grid(False)
        ax.set_xticks([])
        ax.set_yticks([])
        ax.spines[:].set_visible(False)
        ax.set(xlabel="first eigenvector", ylabel="second eigenvector")
        ax.margins(0.04)
    return drawing


def _points(picture: dict[str, Any], colours: list[str]) -> tuple[list[str], list[str], list[float]]:
    """Text, colour and strength of every point."""
    rows, labels = picture["row"], picture["label"]
    if labels is None:
        return [f"row {row}" for row in rows], [PAINT["c1"]] * len(rows), [0.75] * len(rows)
    known = [label is not None for label in labels]
    if picture["kind"] == "classes":
        names = [printable(name, 60) for name in picture["classes"]]
        texts = [f"row {r}: {names[c] if k else 'unlabelled'}" for r, c, k in zip(rows, labels, known, strict=True)]
        paint = [PAINT[colours[c]] if k else PAINT["muted"] for c, k in zip(labels, known, strict=True)]
        return texts, paint, [0.85 if k else 0.35 for k in known]
    values = np.array([number(label) for label in labels])
    low, high = (np.nanmin(values), np.nanmax(values)) if any(known) else (0.0, 1.0)
    share = np.nan_to_num((values - low) / ((high - low) or 1.0))
    texts = [
        f"row {r}: {f'target {v:.4g}' if k else 'target unknown'}" for r, v, k in zip(rows, values, known, strict=True)
    ]
    paint = [PAINT["c1"] if k else PAINT["muted"] for k in known]
    return texts, paint, [0.12 + 0.88 * s if k else 0.25 for s, k in zip(share, known, strict=True)]


def eigenvalues(graph: dict[str, Any]) -> Drawing:
    """The smallest eigenvalues of the normalised Laplacian; the gap after the number of clusters stands out."""
    values, cut = np.array(graph["eigenvalues"]), graph.get("clusters", {}).get("n", graph["largest_gap_after"])
    at = np.arange(len(values))
    about = f"The {len(values)} smallest eigenvalues of {graph['shown']}."
    with Drawing("eigenvalues", "Smallest eigenvalues", about, height=340) as drawing:
        ax = drawing.ax
        ax.vlines(at, 0, values, color=PAINT["c1"], alpha=0.35, linewidth=2)
        dots = ax.scatter(at, values, s=30, color=PAINT["c1"], linewidths=0, zorder=3)
        gaps = ["", *(f", {gap:.4g} above the one before" for gap in np.diff(values))]
        drawing.tell(dots, [f"eigenvalue {k}: {v:.4g}{gap}" for k, v, gap in zip(at, values, gaps, strict=True)])
        if cut is not None and cut < len(values):
            ax.axvspan(cut - 1, cut, color=PAINT["c2"], alpha=0.13, linewidth=0)
            place: dict[str, Any] = {"transform": ax.get_xaxis_transform(), "color": PAINT["c2"], "va": "top"}
            place["fontsize"] = FONT - 1
            late = cut > len(values) / 2
            words = f"after {cut}"
            ax.text(cut - 1.15 if late else cut + 0.15, 0.99, words, ha="right" if late else "left", **place)
        ax.set_ylim(0, max(values.max() * 1.06, 1e-9))
        ax.set(xlabel="eigenvector", ylabel="eigenvalue")
        marks.whole_ticks(ax)
    return drawing
