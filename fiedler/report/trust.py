"""The sections on trust: is a feature real (p-values), is it selected again on other rows, and how many are enough?"""

from __future__ import annotations

import numpy as np

from ..evaluate.stability import Stability
from ..evaluate.stability import stability as measure_stability
from ..evaluate.tuning import enough, suggest_n_features, turning_point
from ..plots import drawings
from ..plots.svg import SvgFigure
from ..selection.choice import ALPHA, level
from ..words import number, printable
from .case import Case, Summary, built_in, percent, quiet, short, tile
from .graph import compute_graph

FEW_CELLS, DRAWS, FEW_DRAWS = 2e5, 20, 10  # size limit of X, number of draws below it, and above it
_DRAWN = 20  # number of features in the figures of the stability


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
    return {"alpha": alpha, "n_significant": int(np.sum(q <= alpha)), "n_tested": len(tested), "histogram": counts}


def _view_significance(s: Summary) -> Summary:
    tested, columns = s["significance"], s["features"]
    n, counts = tested["n_tested"], tested["histogram"]
    about = f"p-values of {n} features in {len(counts)} bins; the line is expected for noise."
    with SvgFigure("pvalues", "p-values", about) as pvalues:
        drawings.pvalue_histogram(pvalues.ax, counts, tell=pvalues.tell)
    effect, q = (np.array([number(value) for value in columns.get(key, ())]) for key in ("effect", "q"))
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
    often, low, median, high = (
        [number(value) for value in columns[key][:_DRAWN]]
        for key in ("frequency", "rank_low", "rank_median", "rank_high")
    )
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


def _lines_stability(s: Summary, top: int) -> list[str]:
    if (drawn := s["stability"]) is None:
        return []
    overlap = f"first {drawn['k']} features overlap by {short(drawn['jaccard'])} (Jaccard)"
    return [f"stability over {drawn['n_draws']} draws: {overlap}, Kendall {short(drawn['kendall'])}"]


_parts: Summary = {"tiles": _tiles_stability, "lines": _lines_stability, "applies": lambda s: True}
STABILITY = built_in("stability", "Stability", _compute_stability, _view_stability, **_parts)


# -------------------------------------------------------------------- how many features?


def _compute_suggestions(case: Case) -> list[Summary]:
    """Suggested numbers of features, by the rules of :func:`fiedler.evaluate.suggest_n_features`."""
    found, n_clusters = None, case.once(compute_graph).get("clusters", {}).get("n")
    if not case.why_slow():
        options = case.told | {"n_clusters": n_clusters}
        try:
            found = quiet(lambda: suggest_n_features(case.criterion, case.problem, **options))
        except ValueError as error:
            case.notes.append(f"The number of features is suggested only by the turning point: {error}")
    else:
        case.notes.append(
            "The number of features is suggested only by the turning point of the scores; the other rules of "
            "fiedler.evaluate.suggest_n_features need many fits, which would be slow on these data."
        )
    explained = getattr(case.selector, "explained_", None)
    if found is not None:
        rules = list(zip(found.rules, found.n_features, found.reasons, strict=True))
    elif explained is not None:
        rules = [("explained", *enough(explained))]
    else:
        rules = [("turning", *turning_point(case.scores[case.selector.order_]))]
    return [{"rule": rule, "n_features": n, "reason": reason} for rule, n, reason in rules]


def _view_suggestions(s: Summary) -> Summary:
    """The suggestions, and sorted scores or the share explained by the first features of a set, with suggested cuts."""
    columns, k, is_set = s["features"], s["run"]["n_selected"], "explained" in s["features"]
    title, cuts = "Explained by the first features" if is_set else "Scores by rank", dict[int, list[str]]()
    for item in s["suggestions"]:  # each suggested number of features with the rules that gave it
        if item["n_features"] is not None:
            cuts.setdefault(item["n_features"], []).append(item["rule"])
    values = np.array([number(value) for value in columns["explained" if is_set else "score"]])
    n = int(np.isfinite(values).sum())
    if n < 2:
        return {}
    about = f"{n} scores from best to worst, {s['run']['direction']}; the first {k} are selected."
    if is_set:
        values = values[:n]  # only these features were chosen one after the other
        share = f"{values[-1]:.0%} of what all features explain"
        about = f"The first {n} features explain {share}; the first {k} are selected."
    form, ranked = ".1%" if is_set else ".5g", enumerate(zip(columns["feature"], values, strict=False), 1)
    texts = [f"rank {rank}, {printable(name, 60)}: {value:{form}}" for rank, (name, value) in ranked]
    with SvgFigure("suggestions", title, about) as figure:
        marked = [(n, " and ".join(rules)) for n, rules in sorted(cuts.items())]
        drawings.ranking_curve(figure.ax, values, texts, k, marked, figure.tell)
        figure.ax.set(xlabel="rank", ylabel="score")
        if is_set:
            figure.ax.axhline(1.0, color=drawings.paint("muted"), linewidth=1.0, linestyle=(0, (2, 2)))
            figure.ax.set(xlabel="number of features", ylabel="share explained", ylim=(0.0, 1.05))
    return {"curve": figure}


def _lines_suggestions(s: Summary, top: int) -> list[str]:
    found = [(item, "-" if item["n_features"] is None else item["n_features"]) for item in s["suggestions"]]
    return [f"suggested number of features ({item['rule']}): {n}, {item['reason']}" for item, n in found]


_parts = {"lines": _lines_suggestions, "label": "How many"}
SUGGESTIONS = built_in("suggestions", "How many features?", _compute_suggestions, _view_suggestions, **_parts)
