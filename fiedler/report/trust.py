"""The sections on trust: is a feature real, is it chosen again, how many are enough, and what do other methods say?"""

from __future__ import annotations

import warnings
from contextlib import suppress

import numpy as np

from ..criteria import Criterion
from ..evaluate.compare import beside_baselines, best_points, sample_words
from ..evaluate.measures import mean_ranks
from ..evaluate.stability import Stability
from ..evaluate.stability import stability as measure_stability
from ..evaluate.tuning import enough, suggest_n_features, turning_point
from ..methods import METHODS
from ..plots import drawings
from ..plots.drawings import METRICS, curve_styles
from ..plots.svg import SvgFigure
from ..selection.choice import ALPHA, level, ranked
from ..syntax import as_criterion, short_text
from ..words import number, printable
from .case import Case, Section, Summary, built_in, correlations, percent, quiet, tile
from .graph import compute_graph

FEW_CELLS, DRAWS, FEW_DRAWS = 2e5, 20, 10  # size limit of X, number of draws below it, and above it
_DRAWN = 20  # number of features in the figures of the stability
SLOW_CELLS = 5e7  # if X has more values, no other methods are scored
SLOW_ROWS = 50_000  # if X has more rows, only methods without a graph are
_BASELINES = {"all": "all features", "random": "random features"}


# -------------------------------------------------------------------- is it real?


def tests_of(case: Case) -> tuple[np.ndarray | None, ...]:
    """p-value, q-value and effect size of every feature, as given or from a selector that chose by "fdr"."""
    if case.significance is not None:
        return case.significance.pvalues, case.significance.qvalues, case.significance.effect
    return tuple(getattr(case.selector, name, None) for name in ("pvalues_", "qvalues_", "effects_"))


def _compute_significance(case: Case) -> Summary | None:
    p, q, _ = tests_of(case)
    if p is None or q is None:
        return None
    given, tested = case.selector.alpha, p[~np.isnan(p)]
    alpha = level(given if given is not None or case.significance is None else ALPHA, case.criterion)
    counts = np.histogram(tested, bins=drawings.BINS, range=(0.0, 1.0))[0]
    test = (case.selector._choice if case.significance is None else case.significance).test
    found = {"alpha": alpha, "n_significant": int(np.sum(q <= alpha)), "n_tested": len(tested), "histogram": counts}
    return found | {"test": test}


def _view_significance(s: Summary) -> Summary:
    tested, columns = s["significance"], s["features"]
    n, counts = tested["n_tested"], tested["histogram"]
    about = f"p-values of {n} features in {len(counts)} bins; the line is expected for noise."
    with SvgFigure("pvalues", "p-values", about) as pvalues:
        drawings.pvalue_histogram(pvalues.ax, counts, tell=pvalues.tell)
    effect, q = (np.array(columns.get(key, ()), dtype=float) for key in ("effect", "q"))
    if not np.isfinite(effect).any():
        return {"pvalues": pvalues}
    about = f"Effects of {n} features, largest first; in colour those that are significant."
    with SvgFigure("effects", "Effects by rank", about) as effects:
        drawings.effects_by_rank(effects.ax, columns["feature"], effect, q <= tested["alpha"], tell=effects.tell)
    return {"pvalues": pvalues, "effects": effects}


SIGNIFICANCE = built_in("significance", "Is it real?", _compute_significance, _view_significance, label="Is it real")


# -------------------------------------------------------------------- is it stable?


def stability_of(case: Case) -> Stability | None:
    """The given result; otherwise one over a few draws of 80 % of the rows, if this is fast; for :meth:`Case.once`."""
    if case.stability is not None:
        return case.stability
    n, m = case.problem.n_samples, case.problem.n_features
    draws = DRAWS if n * m <= FEW_CELLS else FEW_DRAWS
    why = "it needs at least five rows and two features." if n < 5 or m < 2 else case.why_slow(draws)
    if not why:
        options = {"k": min(case.n_selected, int(np.isfinite(case.scores).sum())), "n_draws": draws} | case.told
        try:
            return quiet(lambda: measure_stability(case.criterion, case.problem, **options))
        except (ValueError, TypeError) as error:
            why = str(error)
    case.missing["stability"] = f"Stability is not measured: {why}"
    case.notes.append(case.missing["stability"])
    return None


def _compute_stability(case: Case) -> Summary | None:
    found = case.once(stability_of)
    if found is None:
        return None
    about = {name: getattr(found, name) for name in ("k", "n_draws", "kendall", "jaccard", "kuncheva")}
    return about | {"given": case.stability is not None}


def _view_stability(s: Summary) -> Summary:
    if (drawn := s["stability"]) is None:
        return {}
    k, n_draws, view = drawn["k"], drawn["n_draws"], Summary()
    names, columns = s["features"]["feature"][:_DRAWN], s["features"]
    shown = ("frequency", "rank_low", "rank_median", "rank_high")
    often, low, median, high = (np.array(columns[key][:_DRAWN], dtype=float) for key in shown)
    height = 19 * len(names) + 60
    if drawn["k"] < s["data"]["n_features"]:  # otherwise every draw selects every feature
        about = f"Share of {n_draws} draws in which a feature is among the first {k}, {len(names)} best."
        with SvgFigure("frequency", "Selection frequency", about, height=height) as figure:
            drawings.selection_frequency(figure.ax, names, often, longest=24, tell=figure.tell)
        view["frequency"] = figure
    about = f"Median rank of each of the {len(names)} best features over the draws, with the middle 90 %."
    with SvgFigure("intervals", "Rank over the draws", about, height=height) as figure:
        drawings.rank_intervals(figure.ax, names, low, median, high, longest=24, tell=figure.tell)
    return view | {"intervals": figure}


def _tiles_stability(s: Summary) -> list[dict[str, str]]:
    if (drawn := s["stability"]) is None:
        return []
    words = f"overlap of the first {drawn['k']} over {drawn['n_draws']} draws"
    return [tile("Stability", percent(drawn["jaccard"]), words)]


_parts: Summary = {"tiles": _tiles_stability, "applies": lambda s: True}
STABILITY = built_in("stability", "Stability", _compute_stability, _view_stability, **_parts)


# -------------------------------------------------------------------- how many features?


def _compute_suggestions(case: Case) -> list[Summary]:
    """Suggested numbers of features, by the rules of :func:`fiedler.evaluate.suggest_n_features`."""
    n_clusters = case.once(compute_graph).get("clusters", {}).get("n")
    if case.why_slow():
        note = (
            "The number of features is suggested only by the turning point of the scores; the other rules of "
            "fiedler.evaluate.suggest_n_features need many fits, which would be slow on these data."
        )
    else:
        options = case.told | {"n_clusters": n_clusters}
        try:
            found = quiet(lambda: suggest_n_features(case.criterion, case.problem, **options))
            rules = zip(found.rules, found.n_features, found.reasons, strict=True)
            suggestions: list[Summary] = [{"rule": rule, "n_features": n, "reason": why} for rule, n, why in rules]
            most, own = max(filter(None, found.n_features), default=0), getattr(case.selector, "explained_", None)
            changed = case.selector.redundancy is not None or case.selector.include is not None
            if own is not None and most > len(own) and not changed:  # what the features up to there explain
                longer = quiet(lambda: ranked(case.criterion.resolved(), case.problem, most)).shares
                suggestions[0]["path"] = None if longer is None else longer.explained
            return suggestions
        except ValueError as error:
            note = f"The number of features is suggested only by the turning point: {error}"
    case.notes.append(note)
    explained = getattr(case.selector, "explained_", None)
    n, reason = turning_point(case.scores[case.selector.order_]) if explained is None else enough(explained)
    return [{"rule": "turning" if explained is None else "explained", "n_features": n, "reason": reason}]


def _view_suggestions(s: Summary) -> Summary:
    """The suggestions, and sorted scores or the share explained by the first features of a set, with suggested cuts."""
    columns, k, is_set = s["features"], s["run"]["n_selected"], "explained" in s["features"]
    title, cuts = "Explained by the first features" if is_set else "Scores by rank", dict[int, list[str]]()
    for item in s["suggestions"]:  # each suggested number of features with the rules that gave it
        if item["n_features"] is not None:
            cuts.setdefault(item["n_features"], []).append(item["rule"])
    values = np.array(columns["explained" if is_set else "score"], dtype=float)
    n = n_own = int(np.isfinite(values).sum())
    if n < 2:
        return {}
    about = f"{n} scores from best to worst, {s['run']['direction']}; the first {k} are selected."
    if is_set:
        path = s["suggestions"][0].get("path") or ()
        values = np.r_[values[:n], np.array(path, dtype=float)[n:]]  # only the first n are features of the ranking
        values, n = values[np.isfinite(values)], int(np.isfinite(values).sum())
        share = f"{values[-1]:.0%} of what all features explain"
        about = f"The first {n} features explain {share}; the first {k} are selected."
    form, named = (
        ".1%" if is_set else ".5g",
        [f"rank {at}, {printable(x, 60)}" for at, x in enumerate(columns["feature"], 1)],
    )
    named[n_own:] = [f"{at} features" for at in range(n_own + 1, n + 1)] if is_set else named[n_own:]
    texts = [f"{name}: {value:{form}}" for name, value in zip(named, values, strict=False)]
    with SvgFigure("suggestions", title, about) as figure:
        marked = [(n, " and ".join(rules)) for n, rules in sorted(cuts.items())]
        drawings.ranking_curve(figure.ax, values, texts, k, marked, figure.tell)
        figure.ax.set(xlabel="rank", ylabel="score")
        if is_set:
            figure.ax.axhline(1.0, color=drawings.paint("muted"), linewidth=1.0, linestyle=(0, (2, 2)))
            figure.ax.set(xlabel="number of features", ylabel="share explained", ylim=(0.0, 1.05))
    return {"curve": figure}


SUGGESTIONS = built_in("suggestions", "How many features?", _compute_suggestions, _view_suggestions, label="How many")


# -------------------------------------------------------------------- what the selection predicts


def _compute_prediction(case: Case) -> Summary | None:
    kind, n_selected = case.labels[0], case.n_selected
    if kind not in ("classes", "target") or case.is_sensitive:
        return None
    y, marker = case.told["y"], case.told["unlabeled"]
    return quiet(lambda: beside_baselines(case.criterion, case.problem, y, n_selected, kind, marker))


PREDICTION = Section("prediction", "Prediction", compute=_compute_prediction)  # it is the headline


# -------------------------------------------------------------------- a comparison


def _view_comparison(s: Summary) -> Summary:
    comparison = s["comparison"]
    settings, methods = comparison["settings"], comparison["methods"]
    metrics = [(metric, METRICS.get(metric, metric)) for metric in settings["metrics"]]
    said, sizes = _method_words(methods), settings["n_features"]
    order = [name for name, *_ in best_points(comparison, settings["metrics"][0])]
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
        for method, mean_rank, best, size in best_points(comparison, metric):
            cells[method] += [f"{mean_rank:.2f}", f"{best:.4g}\u00a0at\u00a0{size:,}"]
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


def _method_words(methods: Summary) -> dict[str, str]:
    """The name of each method, and whether it is a baseline."""
    base = {name: f"{_BASELINES.get(name, name)} (baseline)" for name, about in methods.items() if about["baseline"]}
    return {name: name for name in methods} | base


def _tiles_comparison(s: Summary) -> list[dict[str, str]]:
    """The best method; if it is a baseline, also the best method that is not a baseline."""
    methods, metric = s["comparison"]["methods"], s["comparison"]["settings"]["metrics"][0]
    order, ranks, *_ = zip(*best_points(s["comparison"], metric), strict=True)
    full, words = _method_words(methods)[order[0]], f"mean rank {ranks[0]:.2f} by {METRICS.get(metric, metric)}"
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


_comparison: Summary = {"compute": lambda case: case.comparison and case.comparison.summary(), "view": _view_comparison}
_comparison |= {"tiles": _tiles_comparison, "label": "Comparison"}
COMPARISON = built_in("comparison", "Comparison of methods", **_comparison)


# -------------------------------------------------------------------- agreement between methods


def _compute_agreement(case: Case) -> Summary:
    """Rank correlations and common features of the method and other methods on the same data."""
    m, criterion, without_pairs = case.problem.n_features, case.criterion, case.problem.without_pairs()
    if m < 3 or not case.n_selected:
        return {"note": "Agreement between methods needs at least three features, and one that is selected."}
    k, order = min(case.n_selected, m), case.selector.order_
    ranks = mean_ranks(case.scores, criterion.greater_is_better, order if criterion.is_set else None)
    found = {short_text(criterion): (ranks, order)}
    for name, other in _others(case).items():
        if repr(other) == repr(criterion) or name in found:
            continue
        problem = case.problem if "pairs" in other.uses else without_pairs
        with warnings.catch_warnings(action="ignore"), suppress(ValueError, TypeError):  # y or pairs may be missing
            ranking = ranked(other.resolved(), problem, k)
            path = None if ranking.shares is None else ranking.order
            found[name] = mean_ranks(ranking.scores, other.greater_is_better, path), ranking.order
    if len(found) < 2:
        return {"note": "No other method could be scored on these data."}
    all_ranks, orders = zip(*found.values(), strict=True)
    chosen = [set(order[:k].tolist()) for order in orders]
    overlap = [[len(a & b) / k for b in chosen] for a in chosen]
    return {"methods": list(found), "spearman": correlations(np.array(all_ranks)), "overlap": overlap, "k": k}


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
    if case.problem.n_samples > SLOW_ROWS:  # a search for neighbours takes minutes
        names = [name for name in names if name in ("variance", "fisher", "correlation")]
    return {name: METHODS[name]() for name in names}


def _view_agreement(s: Summary) -> Summary:
    agreement = s["agreement"]
    if "methods" not in agreement:
        return {}
    others = "the methods of the comparison" if s.get("comparison") else "other methods with their default parameters"
    methods, view = agreement["methods"], Summary({"others": others})
    titles = {"spearman": "Rank correlation (Spearman)", "overlap": f"Common among the first {agreement['k']}"}
    pairs = [(i, j) for i in range(len(methods)) for j in range(i)]
    named = [printable(name, 40) for name in methods]
    for key, title in titles.items():  # a map with one number for every two methods
        values = agreement[key]
        about = "; ".join(f"{named[i]} and {named[j]}: {number(values[i][j]):.2f}" for i, j in pairs)
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
