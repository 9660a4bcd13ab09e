"""The sections on values: the best features by class, against a target or as histograms, and features along an axis.

    (columns of X, rows with a label) -> per feature: counts and quartiles of each class | points | counts
    places of the rows -> a map per feature
    names that are numbers in order -> scores over this axis, mean profile of each class, chosen regions

Only the columns that are shown are read, and at most 400 of their rows, evenly spaced within every class.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..plots import drawings
from ..plots.placing import axis_of, mean_profiles, regions, side_by_side
from ..plots.svg import FONT, SvgFigure
from ..words import number, printable, value_text
from .case import LONGEST_NAME, Case, Summary, built_in, class_colours, short

MOST_FEATURES, MOST_ROWS, MOST_CLASSES = 12, 400, 8
_BINS, _FEW = (10, 20), 15  # fewest and most bins; classes with fewer rows show single values
_WHOLE = 30  # an integer range of at most this length has one bin per integer
_NAMED_LEVELS, _LEVEL_LETTERS = 5, 30  # levels that are named below a figure, and letters of all of them
_NAME, _SHORT_NAME = 60, 16  # length of a name in a caption, and above a small figure


def _compute_values(case: Case) -> Summary:
    """The values of the best features on some rows, with their labels if known."""
    order = case.selector.order_
    order = order[~np.isnan(case.scores[order])][:MOST_FEATURES]
    kind, values, classes = case.labels
    kind, names = kind if kind in ("classes", "target") else "none", list[list[Any]]()
    known = np.arange(case.problem.n_samples)
    if kind == "classes":
        groups, names = _merged(values, classes)
        known = np.flatnonzero(groups >= 0)
        # Rows sorted by class, so that an even spacing is stratified.
        known = known[np.argsort(groups[known], kind="stable")]
    elif kind == "target":
        known = np.flatnonzero(~np.isnan(values))
    rows = known[np.linspace(0, len(known) - 1, min(len(known), MOST_ROWS)).astype(np.intp)]
    section: Summary = {"kind": kind, "n_rows": len(rows), "n_known": len(known), "features": []}
    if not len(order):
        return section | {"note": "No feature has a score, so there are no best features to show."}
    F = case.measured.feature_values(order)[rows]  # in the units of the table
    section |= {"groups": names} if kind == "classes" else {"target": _short(values[rows])} if kind == "target" else {}
    bins = int(np.clip(2 * np.cbrt(len(rows) / max(len(names), 1)), *_BINS))  # Rice's rule
    for rank, (j, f) in enumerate(zip(order, F.T, strict=True), 1):
        about = {"feature": case.names[j], "rank": rank} | _range(f, bins) | case.measured.value_words(int(j))
        if "levels" in about:
            n_levels = len(about["levels"])
            about |= {"low": -0.5, "high": n_levels - 0.5, "n_outside": 0, "bins": n_levels}
        if kind == "classes":
            about["groups"] = [_group(f[groups[rows] == at], about) for at in range(len(names))]
        elif kind == "target":
            with np.errstate(divide="ignore", invalid="ignore"):
                about |= {"x": _short(f), "correlation": float(np.corrcoef(f, values[rows])[0, 1])}
        else:
            about |= _counts(f, about)
        section["features"].append(about)
    return section


def _merged(codes: np.ndarray, classes: np.ndarray) -> tuple[np.ndarray, list[list[Any]]]:
    """Groups of rows, each with a name and its class; all classes but the eight largest form one group."""
    sizes = np.bincount(codes[codes >= 0], minlength=len(classes))
    kept = np.sort(np.argsort(-sizes, kind="stable")[:MOST_CLASSES])
    place = np.full(len(classes) + 1, MOST_CLASSES)
    place[kept], place[-1] = np.arange(len(kept)), -1
    others: list[list[Any]] = [[f"{len(classes) - MOST_CLASSES} others", None]] * (len(classes) > MOST_CLASSES)
    return place[codes], [*([str(classes[at]), int(at)] for at in kept), *others]


def _range(f: np.ndarray, bins: int) -> Summary:
    """The range of a feature, without values more than three interquartile ranges from the quartiles."""
    low, q1, q3, high = np.quantile(f, [0.0, 0.25, 0.75, 1.0])
    if q3 > q1:
        low, high = max(low, q1 - 3 * (q3 - q1)), min(high, q3 + 3 * (q3 - q1))
    outside = int(((f < low) | (f > high)).sum())
    if high - low < _WHOLE and (f == np.round(f)).all():
        low, high = np.ceil(low) - 0.5, np.floor(high) + 0.5
        bins = int(high - low)
    return {"low": float(f"{low:.6g}"), "high": float(f"{high:.6g}"), "bins": bins, "n_outside": outside}


def _counts(f: np.ndarray, span: Summary) -> Summary:
    """A histogram over the range of the feature; values outside are counted in the first and last bin."""
    low, high = span["low"], span["high"]
    return {"counts": np.histogram(np.clip(f, low, high), bins=span["bins"], range=(low, high))[0]}


def _group(f: np.ndarray, span: Summary) -> Summary:
    """One class of one feature: all values if they are few, otherwise histogram and quartiles."""
    if not len(f):
        return {"n": 0}
    quartiles = {"n": len(f), "quartiles": _short(np.quantile(f, [0.25, 0.5, 0.75]))}
    return quartiles | ({"values": _short(f)} if len(f) < _FEW else _counts(f, span))


def _short(values: np.ndarray) -> list[float]:
    """Values rounded to six digits, which are enough for a picture."""
    return [float(f"{value:.6g}") for value in values]


# -------------------------------------------------------------------- words and figures


def _view_values(s: Summary) -> Summary:
    """Words, colours and the captions of the small figures."""
    section, features = s["distributions"], s["distributions"]["features"]
    kind, n, known = section["kind"], section["n_rows"], section["n_known"]
    parts = {key for about in features for part in about.get("groups", ()) for key in part}
    drawn = ["histograms"] * ("counts" in parts) + ["single values"] * ("values" in parts)
    n_levels = sum("levels" in about for about in features)
    below = ", with the interquartile range and the median below" * (n_levels < len(features))
    title, what = {
        "classes": ("Values by class", f"in each class: {' or '.join(drawn)}{below}"),
        "target": ("Values and target", "against the target"),
        "none": ("Values", "as histograms"),
    }[kind]
    rows = "rows" if kind == "none" else "labelled rows"
    of = f"all {n:,} {rows}" if n == known else f"{n:,} of the {known:,} {rows}, evenly spaced"
    words = f"The {len(features)} best features {what}; {of}."
    if any(about["n_outside"] for about in features):
        words += " Values far outside are drawn at the border of the figure."
    colours = [*class_colours(s["data"]["labels"]), "ink"]  # classes beyond the eighth are one group
    legend = [(name, colours[-1 if code is None else code]) for name, code in section.get("groups", [])]
    return {
        "title": title,
        "words": words,
        "legend": [(printable(name, 30), colour, "round") for name, colour in legend],
        "figures": [_small_figure(section, about, legend) for about in features],
    }


def _small_figure(section: Summary, about: Summary, legend: list[tuple[str, str]]) -> Summary:
    """One feature with its caption: by class, against the target, or as a histogram."""
    from matplotlib.ticker import MaxNLocator

    kind, full, low, high = section["kind"], about["feature"], about["low"], about["high"]
    parts = [] if about.get("correlation") is None else [f"correlation {about['correlation']:.2f}".replace("-", "−")]
    parts += [f"{about['n_outside']:,} outside"] * bool(about["n_outside"])
    parts += [f"{len(about.get('levels', ()))} levels"] * ("levels" in about)
    height, what = {
        "classes": (26.0 * len(legend) + 34, "by class"),
        "target": (150.0, "against the target"),
        "none": (110.0, "as a histogram"),
    }[kind]
    name = printable(full, 60)
    with SvgFigure(f"values-{about['rank']}", f"{name} {what}", "", width=230, height=height) as figure:
        ax, margin = figure.ax, 0.03 * (high - low) or 0.5
        ax.set_xlim(low - margin, high + margin)
        dates = bool(about.get("dates"))
        whole = about["bins"] == high - low  # one bin for each whole number
        ax.xaxis.set_major_locator(MaxNLocator(2 if dates else 3, integer=whole))
        if dates:
            ax.xaxis.set_major_formatter(lambda value, _: value_text(value, dates=True)[:10])
        ax.tick_params(labelsize=FONT + 0.5)  # larger, because a phone shows two of them side by side
        if "levels" in about:  # their names below the bars, as many as there is room for
            at = list(range(0, len(about["levels"]), -(-len(about["levels"]) // _NAMED_LEVELS)))
            longest = max(2, _LEVEL_LETTERS // len(at))
            ax.set_xticks(at, [printable(about["levels"][place], longest) for place in at])
        if kind == "target":
            target, x = (np.array(part, dtype=float) for part in (section["target"], about["x"]))
            dots = drawings.points(ax, np.clip(x, low, high), target, 3.5, edgecolor="C0", alpha=0.5)
            words = f"{name}: correlation {number(about['correlation']):.2f} with the target"
            figure.tell(dots, [words])
            figure.description = f"{words}, {len(x)} rows."
            margin = 0.05 * (target.max() - target.min()) or 0.5
            ax.set_ylim(target.min() - margin, target.max() + margin)
            ax.locator_params(axis="y", nbins=3)
        else:
            if kind == "classes":
                figure.description = f"{name}. {'; '.join(_by_class(figure, about, legend))}."
            else:
                bars = drawings.histogram(ax, about["counts"], low, high, facecolor="C0", alpha=0.6)
                words = f"{name}: {sum(about['counts'])} rows, most in a bin {max(about['counts'])}"
                figure.tell(bars, [words])
                figure.description = f"{words}."
                ax.set_ylim(0, 1.05)
            ax.set_yticks([])  # the height of a histogram depends on its bins
            ax.spines["left"].set_visible(False)
            ax.grid(False)
    return {
        "name": f"{about['rank']}. {printable(full, _NAME)}",
        "full": printable(full, LONGEST_NAME) if len(full) > _SHORT_NAME else "",
        "words": ", ".join(parts),
        "drawn": figure,
    }


def _by_class(figure: SvgFigure, about: Summary, legend: list[tuple[str, str]]) -> list[str]:
    """One line per class: a histogram with interquartile range and median, or single values if there are few."""
    ax, low, high, texts = figure.ax, about["low"], about["high"], []
    for at, ((label, colour), group) in enumerate(zip(legend, about["groups"], strict=True)):
        if not group["n"]:
            continue
        paint = drawings.paint(colour)
        if "values" in group:
            x = np.clip(group["values"], low, high)
            shown = drawings.points(ax, x, [at - 0.3] * group["n"], 6.0, edgecolor=paint, alpha=0.6)
        else:
            shown = drawings.histogram(ax, group["counts"], low, high, at, -0.8, facecolor=paint, alpha=0.4)
        if "levels" in about:  # without an order there is no median
            counts = group["counts"] if "counts" in group else np.bincount(np.array(group["values"], dtype=np.intp))
            typical = f"most often {printable(about['levels'][int(np.argmax(counts))], 40)} in"
        else:  # the interquartile range as a line, with a tick at the median
            q1, median, q3 = np.clip(group["quartiles"], low, high)
            ax.plot([q1, q3], [at, at], linewidth=2.0, solid_capstyle="butt", color=paint)
            ax.plot([median], [at], marker="|", markersize=7, markeredgewidth=2.0, color=paint)
            typical = f"median {value_text(group['quartiles'][1], dates=bool(about.get('dates')))} of"
        texts.append(f"{printable(label, 40)}: {typical} {group['n']} row{'s' * (group['n'] > 1)}")
        figure.tell(shown, texts[-1:])
    ax.set_ylim(len(legend) - 0.7, -0.95)
    return texts


_features = {"applies": lambda s: s.get("distributions", {}).get("features")}
DISTRIBUTIONS = built_in("distributions", "Values", _compute_values, _view_values, **_features)


# -------------------------------------------------------------------- maps

_MAPPED, _MOST_DOTS = 12, 2000  # features with a map, and rows in it


def _compute_maps(case: Case) -> Summary | None:
    """The best features at the places of some rows, as shades."""
    problem = case.problem
    if problem.places is None or problem.groups is not None:
        return None
    order = case.selector.order_[~np.isnan(case.scores[case.selector.order_])][:_MAPPED]
    rows = np.linspace(0, problem.n_samples - 1, min(problem.n_samples, _MOST_DOTS)).astype(np.intp)
    values = problem.undivided.feature_values(order)
    values = (values if problem.depth is None else values / problem.depth[:, None])[rows]
    tested, features = case.significance, list[Summary]()
    for j, f in zip(order, values.T, strict=True):
        about: Summary = {"feature": case.names[j], "shades": drawings.shades_of(f)}
        if tested is not None:
            about["p"] = tested.pvalues[j]
            about |= {} if tested.scale is None else {"scale": tested.scale[j]}
        features.append(about)
    places = side_by_side(problem.places, problem.blocks)[rows]
    span = np.ptp(places, axis=0).max() or 1.0
    places = np.round((places - places.min(axis=0)) / span, 4)
    return {"x": places[:, 0], "y": places[:, 1], "features": features, "depth": problem.depth is not None}


def _view_maps(s: Summary) -> Summary:
    section, figures = s["maps"], list[Summary]()
    places = np.column_stack([section["x"], section["y"]])
    wide, high = np.ptp(places, axis=0)
    for rank, about in enumerate(section["features"], 1):
        name = printable(about["feature"], _NAME)
        height = float(np.clip(230.0 * high / (wide or 1.0), 60.0, 230.0))
        with SvgFigure(f"map-{rank}", f"{name} on the map", "", width=230, height=height) as figure:
            drawings.tissue(figure.ax, places, np.array(about["shades"]), 0.7 * np.sqrt(230.0 * height / len(places)))
            figure.description = f"{name}: darker dots have larger values, {len(places)} rows."
        parts = [f"p {number(about['p']):.1e}"] if about.get("p") is not None else []
        figures.append(
            {
                "name": f"{rank}. {name}",
                "full": printable(about["feature"], LONGEST_NAME),
                "words": ", ".join([*parts, *([about["scale"]] if "scale" in about else [])]),
                "drawn": figure,
            }
        )
    what = "Counts, divided by the depth of their row." if section["depth"] else "Values."
    scales = " Edges: the pattern is as fine as the graph; walks: patches; tissue: broad gradients."
    words = f"{what} Darker dots have larger values."
    return {"words": words + scales * any("scale" in about for about in section["features"]), "figures": figures}


MAPS = built_in("maps", "Maps", _compute_maps, _view_maps)


# -------------------------------------------------------------------- along the axis

_LISTED_REGIONS, _LONGEST_AXIS = 12, 20_000  # regions in the table; the longest axis that is drawn


def _compute_axis(case: Case) -> Summary | None:
    """The axis, the values over it, the mean profiles, and the chosen features in the order of choice."""
    problem = case.measured
    found = axis_of(case.names) if problem.groups is None and problem.n_features <= _LONGEST_AXIS else None
    if found is None:
        return None
    profiles, names = mean_profiles(problem, *case.labels[1:])
    gains = getattr(case.selector, "gains_", None)
    return {
        "axis": found[0],
        "unit": found[1],
        "value": "score" if gains is None else "gain",
        "values": case.scores if gains is None else gains,
        "profiles": profiles,
        "classes": names,
        "chosen": case.selector.order_[: case.n_selected],
        "n_rows": problem.n_samples,
    }


def _view_axis(s: Summary) -> Summary:
    about, rank = s["axis"], {column: at for at, column in enumerate(s["axis"]["chosen"], 1)}
    axis, chosen = np.array(about["axis"]), np.array(about["chosen"], dtype=np.intp)
    found = sorted(((min(rank[j] for j in part.tolist()), part) for part in regions(chosen)), key=lambda item: item[0])
    unit = f" {about['unit']}" if about.get("unit") else ""
    single, rows = len(found) == len(chosen), []  # single: every region is one feature
    for best, part in found[:_LISTED_REGIONS]:
        low, high = sorted((axis[part[0]], axis[part[-1]]))
        span = f"{low:g}{unit}" if low == high else f"{low:g} to {high:g}{unit}"
        rows.append((span, [f"{len(part):,}"] * (not single) + [str(best)]))
    names, colours = about["classes"] or [], class_colours(s["data"]["labels"]) if about["classes"] else ["ink"]
    values = np.array(about["values"], dtype=float)
    texts = [f"{axis[j]:g}: rank {at}, {about['value']} {short(float(values[j]))}" for j, at in rank.items()]
    words = f"{len(axis)} features from {axis[0]:g} to {axis[-1]:g}{unit}, {len(chosen)} of them selected."
    with SvgFigure("axis", "Features over their axis", words, height=380) as figure:
        above, below = figure.split(2, (3, 2))
        drawings.profiles_over_axis(above, axis, np.array(about["profiles"], dtype=float), colours, chosen)
        drawings.scores_over_axis(below, axis, values, chosen, texts, figure.tell, about["value"] == "gain")
        below.set(xlabel=about.get("unit") or "feature", ylabel=about["value"])
    legend = [(printable(name, 30), colour, "round") for name, colour in zip(names, colours, strict=False)]
    return {"drawn": figure, "legend": legend, "single": single, "rows": rows, "n_regions": len(found)}


AXIS = built_in("axis", "Along the axis", _compute_axis, _view_axis, label="Axis")
