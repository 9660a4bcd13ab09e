"""The section on the values of the best features: by class, against a real target, or as a histogram.

    (columns of X, rows with a label) -> per feature: counts and quartiles of each class | points | counts

Only the columns that are shown are read, and at most 400 of their rows, evenly spaced within every class.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..plots import drawings
from ..plots.svg import FONT, SvgFigure
from ..words import number, printable
from .case import Case
from .section import LONGEST_NAME, Section, class_colours, class_key

MOST_FEATURES, MOST_ROWS, MOST_CLASSES = 12, 400, 8
_BINS, _FEW = (10, 20), 15  # fewest and most bins; classes with fewer rows show single values
_WHOLE = 30  # an integer range of at most this length has one bin per integer
_NAMED_LEVELS, _LEVEL_LETTERS = 5, 30  # levels that are named below a figure, and letters of all of them
_NAME, _SHORT_NAME = 60, 16  # length of a name in a caption, and above a small figure


def _compute(case: Case) -> dict[str, Any]:
    """The values of the best features on some rows, with their labels if known."""
    order = case.selector.order_
    order = order[~np.isnan(case.scores[order])][:MOST_FEATURES]
    kind, values, classes = case.labels
    if kind == "classes" and values is not None and classes is not None:
        groups, names = _merged(values, classes)
        known = np.flatnonzero(groups >= 0)
        # Rows sorted by class, so that an even spacing is stratified.
        known = known[np.argsort(groups[known], kind="stable")]
    else:
        names, known = [], np.arange(case.problem.n_samples)
        if kind == "target" and values is not None:
            known = np.flatnonzero(~np.isnan(values))
    rows = known[np.linspace(0, len(known) - 1, min(len(known), MOST_ROWS)).astype(np.intp)]
    section: dict[str, Any] = {"kind": kind if kind in ("classes", "target") else "none"}
    section |= {"n_rows": len(rows), "n_known": len(known), "features": []}
    if not len(order):
        return section | {"note": "No feature has a score, so there are no best features to show."}
    F = case.problem.feature_values(order)[rows]
    if section["kind"] == "classes":
        section["groups"] = names
    elif section["kind"] == "target" and values is not None:
        section["target"] = _short(values[rows])
    bins = int(np.clip(2 * np.cbrt(len(rows) / max(len(names), 1)), *_BINS))  # Rice's rule
    for rank, (j, f) in enumerate(zip(order, F.T, strict=True), 1):
        about = {"feature": case.names[j], "rank": rank} | _range(f, bins)
        levels = {} if case.problem.groups is None else case.problem.groups.levels
        if int(j) in levels:
            about |= {"levels": levels[int(j)], "low": -0.5, "high": len(levels[int(j)]) - 0.5, "n_outside": 0}
            about["bins"] = len(levels[int(j)])
        if section["kind"] == "classes":
            about["groups"] = [_group(f[groups[rows] == at], about) for at in range(len(names))]
        elif section["kind"] == "target":
            about |= {"x": _short(f), "correlation": _correlation(f, values[rows]) if values is not None else None}
        else:
            about |= _counts(f, about)
        section["features"].append(about)
    return section


def _merged(codes: np.ndarray, classes: np.ndarray) -> tuple[np.ndarray, list[list[Any]]]:
    """Groups of rows, each with a name and its class; all classes but the eight largest form one group."""
    if len(classes) <= MOST_CLASSES:
        return codes, [[str(name), at] for at, name in enumerate(classes)]
    sizes = np.bincount(codes[codes >= 0], minlength=len(classes))
    kept = np.sort(np.argsort(-sizes, kind="stable")[:MOST_CLASSES])
    place = np.full(len(classes) + 1, MOST_CLASSES)
    place[kept], place[-1] = np.arange(MOST_CLASSES), -1
    others = [f"{len(classes) - MOST_CLASSES} others", None]
    return place[codes], [*([str(classes[at]), int(at)] for at in kept), others]


def _range(f: np.ndarray, bins: int) -> dict[str, Any]:
    """The range of a feature, without values more than three interquartile ranges from the quartiles."""
    low, q1, q3, high = np.quantile(f, [0.0, 0.25, 0.75, 1.0])
    if q3 > q1:
        low, high = max(low, q1 - 3 * (q3 - q1)), min(high, q3 + 3 * (q3 - q1))
    outside = int(((f < low) | (f > high)).sum())
    if high - low < _WHOLE and (f == np.round(f)).all():
        low, high = np.ceil(low) - 0.5, np.floor(high) + 0.5
        bins = int(high - low)
    return {"low": float(f"{low:.6g}"), "high": float(f"{high:.6g}"), "bins": bins, "n_outside": outside}


def _counts(f: np.ndarray, span: dict[str, Any]) -> dict[str, Any]:
    """A histogram over the range of the feature; values outside are counted in the first and last bin."""
    low, high = span["low"], span["high"]
    counts, _ = np.histogram(np.clip(f, low, high), bins=span["bins"], range=(low, high))
    return {"counts": counts}


def _group(f: np.ndarray, span: dict[str, Any]) -> dict[str, Any]:
    """One class of one feature: all values if they are few, otherwise histogram and quartiles."""
    if not len(f):
        return {"n": 0}
    quartiles = {"n": len(f), "quartiles": _short(np.quantile(f, [0.25, 0.5, 0.75]))}
    return quartiles | ({"values": _short(f)} if len(f) < _FEW else _counts(f, span))


def _correlation(f: np.ndarray, target: np.ndarray) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.corrcoef(f, target)[0, 1])


def _short(values: np.ndarray) -> list[float]:
    """Values rounded to six digits, which are enough for a picture."""
    return [float(f"{value:.6g}") for value in values]


# -------------------------------------------------------------------- words and figures


def _view(s: dict[str, Any]) -> dict[str, Any]:
    """Words, colours and the captions of the small figures."""
    section = s["distributions"]
    kind, n, known = section["kind"], section["n_rows"], section["n_known"]
    parts = [part for about in section["features"] for part in about.get("groups", ())]
    drawn = ["histograms"] * any("counts" in part for part in parts)
    drawn += ["single values"] * any("values" in part for part in parts)
    quartiles = any("levels" not in about for about in section["features"])
    below = ", with the interquartile range and the median below" * quartiles
    what = {
        "classes": f"in each class: {' or '.join(drawn)}{below}",
        "target": "against the target",
        "none": "as histograms",
    }[kind]
    rows = "rows" if kind == "none" else "labelled rows"
    of = f"all {n:,} {rows}" if n == known else f"{n:,} of the {known:,} {rows}, evenly spaced"
    words = f"The {len(section['features'])} best features {what}; {of}."
    named = [about for about in section["features"] if "levels" in about]
    if named and len(named) < len(section["features"]):
        words += " Numbers are standardised."
    if any(about["n_outside"] for about in section["features"]):
        words += " Values far outside are drawn at the border of the figure."
    colours, groups = class_colours(s["data"]["labels"]), section.get("groups", [])
    return {
        "title": {"classes": "Values by class", "target": "Values and target", "none": "Values"}[kind],
        "words": words,
        "legend": [class_key(name, "ink" if code is None else colours[code]) for name, code in groups],
        "figures": [_caption(about) | {"drawn": _figure(s, about)} for about in section["features"]],
    }


def _caption(about: dict[str, Any]) -> dict[str, str]:
    parts = [] if about.get("correlation") is None else [f"correlation {about['correlation']:.2f}".replace("-", "−")]
    parts += [f"{about['n_outside']:,} outside"] * bool(about["n_outside"])
    parts += [f"{len(about.get('levels', ()))} levels"] * ("levels" in about)
    name = about["feature"]
    return {
        "name": f"{about['rank']}. {printable(name, _NAME)}",
        "full": printable(name, LONGEST_NAME) if len(name) > _SHORT_NAME else "",
        "words": ", ".join(parts),
    }


def _figure(s: dict[str, Any], about: dict[str, Any]) -> SvgFigure:
    """One feature in a small figure: by class, against the target, or as a histogram."""
    section, name = s["distributions"], printable(about["feature"], 60)
    draw, height = {
        "classes": (_by_class, 26.0 * len(section.get("groups", [])) + 34),
        "target": (_against_target, 150.0),
        "none": (_alone, 110.0),
    }[section["kind"]]
    what = {"classes": "by class", "target": "against the target", "none": "as a histogram"}[section["kind"]]
    title, words = f"{name} {what}", f"{section['n_rows']} rows."
    with SvgFigure(f"values-{about['rank']}", title, words, width=230, height=height) as figure:
        from matplotlib.ticker import MaxNLocator

        low, high = about["low"], about["high"]
        margin = 0.03 * (high - low) or 0.5
        figure.ax.set_xlim(low - margin, high + margin)
        figure.ax.xaxis.set_major_locator(MaxNLocator(3))
        figure.ax.tick_params(labelsize=FONT + 0.5)  # larger, because a phone shows two of them side by side
        if "levels" in about:
            _name_levels(figure.ax, about["levels"])
        draw(figure, s, about, name)
    return figure


def _name_levels(ax: Any, levels: list[str]) -> None:
    """The names of the levels of a category below its bars, as many as there is room for."""
    step = -(-len(levels) // _NAMED_LEVELS)
    at = list(range(0, len(levels), step))
    longest = max(2, _LEVEL_LETTERS // len(at))
    ax.set_xticks(at, [printable(levels[place], longest) for place in at])


def _by_class(figure: SvgFigure, s: dict[str, Any], about: dict[str, Any], name: str) -> None:
    """One line per class: a histogram with interquartile range and median, or single values if there are few."""
    colours, ax = class_colours(s["data"]["labels"]), figure.ax
    groups, low, high = s["distributions"]["groups"], about["low"], about["high"]
    medians = []
    for at, ((label, code), group) in enumerate(zip(groups, about["groups"], strict=True)):
        if not group["n"]:
            continue
        paint, middle = drawings.paint("ink" if code is None else colours[code]), group["quartiles"][1]
        if "values" in group:
            x = np.clip(group["values"], low, high)
            shown = drawings.points(ax, x, [at - 0.3] * group["n"], 6.0, edgecolor=paint, alpha=0.6)
        else:
            shown = drawings.histogram(ax, group["counts"], low, high, at, -0.8, facecolor=paint, alpha=0.4)
        if "levels" in about:  # without an order there is no median
            typical = f"most often {printable(about['levels'][_most_frequent(group)], 40)} in"
        else:
            _quartiles(ax, at, np.clip(group["quartiles"], low, high), paint)
            typical = f"median {middle:.4g} of"
        text = f"{printable(label, 40)}: {typical} {group['n']} row{'s' * (group['n'] > 1)}"
        figure.tell(shown, [text])
        medians.append(text)
    figure.description = f"{name}. {'; '.join(medians)}."
    ax.set_ylim(len(groups) - 0.7, -0.95)
    _bare(ax)


def _most_frequent(group: dict[str, Any]) -> int:
    """The position of the level that occurs most often in a class."""
    counts = group.get("counts")
    return int(np.argmax(np.bincount(np.array(group["values"], dtype=np.intp)) if counts is None else counts))


def _against_target(figure: SvgFigure, s: dict[str, Any], about: dict[str, Any], name: str) -> None:
    target = np.array([number(value) for value in s["distributions"]["target"]])
    x, r = np.array([number(value) for value in about["x"]]), number(about["correlation"])
    x = np.clip(x, about["low"], about["high"])
    dots = drawings.points(figure.ax, x, target, 3.5, edgecolor="C0", alpha=0.5)
    words = f"{name}: correlation {r:.2f} with the target"
    figure.tell(dots, [words])
    figure.description = f"{words}, {len(x)} rows."
    margin = 0.05 * (target.max() - target.min()) or 0.5
    figure.ax.set_ylim(target.min() - margin, target.max() + margin)
    figure.ax.locator_params(axis="y", nbins=3)


def _alone(figure: SvgFigure, s: dict[str, Any], about: dict[str, Any], name: str) -> None:
    span = about["low"], about["high"]
    bars = drawings.histogram(figure.ax, about["counts"], *span, facecolor="C0", alpha=0.6)
    words = f"{name}: {sum(about['counts'])} rows, most in a bin {max(about['counts'])}"
    figure.tell(bars, [words])
    figure.description = f"{words}."
    figure.ax.set_ylim(0, 1.05)
    _bare(figure.ax)


def _bare(ax: Any) -> None:
    """Hide the y axis, because the height of a histogram depends on its bins."""
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    ax.grid(False)


def _quartiles(ax: Any, at: int, quartiles: np.ndarray, color: str) -> None:
    """The interquartile range as a line at y = at, with a tick at the median."""
    low, middle, high = quartiles
    ax.plot([low, high], [at, at], linewidth=2.0, solid_capstyle="butt", color=color)
    ax.plot([middle], [at], marker="|", markersize=7, markeredgewidth=2.0, color=color)


_TEMPLATE = """
<p class="lead small">{{ words }}</p>
{% if legend %}{{ keys(legend) }}{% endif %}
<div class="many">
{% for item in figures %}
<figure>
<figcaption{% if item.full %} title="{{ item.full }}"{% endif %}><b>{{ item.name }}</b>
{%- if item.words %}<span>{{ item.words }}</span>{% endif %}</figcaption>
{{ item.drawn }}
</figure>
{% endfor %}
</div>
"""
DISTRIBUTIONS = Section(
    "distributions",
    "Values",
    _TEMPLATE,
    compute=_compute,
    applies=lambda s: bool(s.get("distributions", {}).get("features")),
    view=_view,
)
