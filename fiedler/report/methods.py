"""The sections on methods: curves and mean ranks of a comparison, and how similarly methods rank the same data."""

from __future__ import annotations

import warnings
from contextlib import suppress

import numpy as np

from ..criteria import Criterion
from ..evaluate.compare import sample_words
from ..methods import METHODS, Variance
from ..plots import drawings
from ..plots.drawings import METRICS, curve_styles
from ..plots.svg import SvgFigure
from ..selection.ranking import rank, rank_features
from ..syntax import as_criterion, short_text
from ..words import number, printable
from .case import Case, Summary, built_in, correlations, mean_ranks, tile

SLOW_CELLS = 5e7  # if X has more values, no other methods are scored
_BASELINES = {"all": "all features", "random": "random features"}


# -------------------------------------------------------------------- a comparison


def _view_comparison(s: Summary) -> Summary:
    comparison = s["comparison"]
    settings, methods = comparison["settings"], comparison["methods"]
    metrics = [(metric, METRICS.get(metric, metric)) for metric in settings["metrics"]]
    order, said, sizes = _order(comparison), _method_words(methods), settings["n_features"]
    heads, figures, tables, cells = [], [], [], {name: list[str]() for name in order}
    for metric, name in metrics:
        heads += ["Mean rank" if len(metrics) == 1 else f"Rank, {name}", f"Best {name}"]
        curves, rows = {method: about["curves"][metric] for method, about in methods.items()}, []
        about = f"Mean {name} of {len(methods)} methods over {settings['n_draws']} draws, by number of features."
        with SvgFigure(f"curve-{metric}", f"{name} by number of features", about, height=320) as figure:
            drawings.method_curves(figure.ax, curves, metric, figure.tell)  # means with 95 % bands; baselines are grey
        figures.append((f"{name[0].upper()}{name[1:]}", figure))
        for method in order:
            at, values = curves[method]["n_features"], curves[method]["mean"]
            means = dict.fromkeys(sizes, values[0]) if method == "all" else dict(zip(at, values, strict=True))
            rows.append((said[method], ["–" if means.get(k) is None else f"{means[k]:.4g}" for k in sizes]))
            numbers = [number(value) for value in values]
            best = min(numbers) if metric == "rmse" else max(numbers)
            best_words = f"{best:.4g}\u00a0at\u00a0{at[numbers.index(best)]:,}"
            cells[method] += [f"{methods[method]['average_rank'][metric]:.2f}", best_words]
        tables.append((f"Mean {name} by number of features", ["Method", *sizes], rows))
    for name, about in methods.items():
        cells[name].append("–" if about["criterion"] is None else f"{about['seconds']:.3f}")
    styles = curve_styles(methods).items()
    return {
        "sample": sample_words(settings),
        "curves": figures,
        "legend": [(said[name], colour, "" if style == "-" else "dashed") for name, (colour, style) in styles],
        "heads": ["Method", *heads, "Seconds"],
        "rows": [(said[name], cells[name]) for name in order],
        "tables": tables,
    }


def _order(comparison: Summary) -> list[str]:
    """Methods and baselines by their mean rank, best first."""
    methods, metric = comparison["methods"], comparison["settings"]["metrics"][0]
    return sorted(methods, key=lambda name: methods[name]["average_rank"][metric])


def _method_words(methods: Summary) -> dict[str, str]:
    """The name of each method, and whether it is a baseline."""
    base = {name: f"{_BASELINES.get(name, name)} (baseline)" for name, about in methods.items() if about["baseline"]}
    return {name: name for name in methods} | base


def _tiles_comparison(s: Summary) -> list[dict[str, str]]:
    """The best method; if it is a baseline, also the best method that is not a baseline."""
    if not s["comparison"]:
        return []
    methods, metric = s["comparison"]["methods"], s["comparison"]["settings"]["metrics"][0]
    order = _order(s["comparison"])
    full = _method_words(methods)[order[0]]
    words = f"mean rank {methods[order[0]]['average_rank'][metric]:.2f} by {METRICS.get(metric, metric)}"
    place = next((at for at, name in enumerate(order) if not methods[name]["baseline"]), 0)
    if place:
        words += f"; best method: {printable(order[place], 28)}, {ordinal(place + 1)} of {len(order)}"
    return [tile("Best method", printable(full, 28), words, f"{full}, {words}")]


def ordinal(place: int) -> str:
    """A position as an ordinal number.

    Examples
    --------
    >>> [ordinal(place) for place in (1, 2, 3, 4, 11, 22)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd']
    """
    ending = "th" if place % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{ending}"


def _lines_comparison(s: Summary, top: int) -> list[str]:
    lines = []
    for metric, best in s["comparison"]["best"].items() if s["comparison"] else ():
        ranks = {name: about["average_rank"][metric] for name, about in s["comparison"]["methods"].items()}
        order = ", ".join(f"{name} {rank:.2f}" for name, rank in sorted(ranks.items(), key=lambda r: r[1]))
        lines.append(f"comparison by {metric}, best {best}; mean rank: {order}")
    return lines


_parts: Summary = {"compute": lambda case: case.comparison and case.comparison.summary(), "view": _view_comparison}
_parts |= {"tiles": _tiles_comparison, "lines": _lines_comparison, "label": "Comparison"}
COMPARISON = built_in("comparison", "Comparison of methods", **_parts)


# -------------------------------------------------------------------- agreement between methods


def _compute_agreement(case: Case) -> Summary:
    """Rank correlations and common features of the method and other methods on the same data."""
    m, criterion, without_pairs = case.problem.n_features, case.criterion, case.problem.without_pairs()
    if m < 3:
        return {"note": "Agreement between methods needs at least three features."}
    k = min(case.n_selected, m)
    found = {short_text(criterion): _ranks(case.scores, case.selector.order_, criterion.is_set, criterion)}
    for name, other in _others(case).items():
        if repr(other) == repr(criterion) or name in found:
            continue
        if isinstance(other, Variance):
            found[name] = _ranks(case.variance, rank_features(case.variance, True), False, other)
            continue
        problem = case.problem if "pairs" in other.uses else without_pairs
        with (
            suppress(ValueError, TypeError),
            warnings.catch_warnings(action="ignore"),
        ):  # labels or pairs may be missing
            ranking = rank(other, problem, k)
            found[name] = _ranks(ranking.scores, ranking.order, ranking.shares is not None, other)
    if len(found) < 2:
        return {"note": "No other method could be scored on these data."}
    ranks, orders = zip(*found.values(), strict=True)
    chosen = [set(order[:k].tolist()) for order in orders]
    overlap = [[len(a & b) / k for b in chosen] for a in chosen]
    return {"methods": list(found), "spearman": correlations(np.array(ranks)), "overlap": overlap, "k": k}


def _ranks(scores: np.ndarray, order: np.ndarray, is_set: bool, of: Criterion) -> tuple[np.ndarray, np.ndarray]:
    """The rank of every feature, for a set by its order only, and the order."""
    return np.argsort(order) + 1.0 if is_set else mean_ranks(scores, of.greater_is_better), order


def _others(case: Case) -> dict[str, Criterion]:
    """The quick methods of the comparison, or a few methods with their default parameters."""
    if case.comparison is not None:
        found, compared = dict[str, Criterion](), case.comparison.summary()["methods"]
        for name, formula in case.comparison.criteria.items():
            for text in (name, formula) if formula and compared[name]["seconds"] < 5 else ():
                with suppress(ValueError):
                    found[name] = found.get(name) or as_criterion(text)
        return found
    names = ["variance"]
    if np.prod(case.problem.X.shape) <= SLOW_CELLS:
        names += ["laplacian"] if case.criterion.is_set else ["subset", "laplacian"]
        names += {"classes": ["fisher", "relieff"], "target": ["correlation", "sls"]}.get(case.labels[0], [])
        names += ["constraint"] * case.problem.supervision.has_pairs
    return {name: METHODS[name]() for name in names}


def _view_agreement(s: Summary) -> Summary:
    agreement = s["agreement"]
    if "methods" not in agreement:
        return {}
    others = "the methods of the comparison" if s.get("comparison") else "other methods with their default parameters"
    methods, view = agreement["methods"], Summary({"others": others})
    titles = {"spearman": "Rank correlation (Spearman)", "overlap": f"Common among the first {agreement['k']}"}
    pairs = [(i, j) for i in range(len(methods)) for j in range(i)]
    short = [printable(name, 40) for name in methods]
    for key, title in titles.items():  # a map with one number for every two methods
        values = agreement[key]
        about = "; ".join(f"{short[i]} and {short[j]}: {number(values[i][j]):.2f}" for i, j in pairs)
        with SvgFigure(key, title, about, height=min(max(40 * len(methods) + 110, 230), 420)) as view[key]:
            ax, middle = view[key].ax, np.arange(len(methods)) + 0.5
            drawings.squares(ax, values, methods, tell=view[key].tell)
            drawings.cell_numbers(ax, values)
            ax.set_xticks(middle, [printable(name, 16) for name in methods])
            ax.set_yticks(middle, [printable(name, 22) for name in methods])
            if len(methods) > 4 or max(map(len, methods)) > 9:
                for label in ax.get_xticklabels():
                    label.set(rotation=32, ha="right", rotation_mode="anchor")
    return view


AGREEMENT = built_in("agreement", "Agreement between methods", _compute_agreement, _view_agreement, label="Agreement")
