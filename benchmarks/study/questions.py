"""The questions about labels: none, few classes, pairs, few real targets. Every name and number is computed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..papers.page import Section
from . import figures
from .ranks import Ranking
from .results import Results, Slice
from .words import (
    KINDS,
    against,
    level_with_best,
    listed,
    number,
    overtakes,
    rank_row,
    ranked_table,
    sentence,
    signed,
    tested,
)

FREE = ("variance", "laplacian", "spec φ1", "spec φ2 γ=4", "spec φ3", "evsc")
LABELS = ("fisher", "relieff", "sselect")
CONSTRAINTS = ("c1", "c2", "c3", "c4")
TARGETS = ("correlation", "sls", "ssls")
BASELINES = ("laplacian", "variance", "random")


def no_labels(results: Results, folder: Path | None) -> Section:
    """Which method without labels, by kind of data, and where random features or the variance win."""
    section = Section("which-free", "5. Rankings without labels", folder)
    methods = [*FREE, "random"]
    whole = results.free([*methods, "all"])
    ranking = whole.ranking(methods)
    section.text(f"**{_free_conclusion(whole, methods)}**")
    section.text(
        "`spec φ2` with γ = 1 is the Laplacian score, so γ = 4 stands for it. All use the library's defaults; `random` "
        "is the mean of 30 random choices, `all` every feature, not ranked because it selects nothing."
    )
    ranked_table(section, whole, extra=["all"])
    section.figure(
        figures.critical_differences({"no labels": ranking}),
        "ranks",
        "Average ranks without labels; 1 is best, bars join methods that do not differ",
    )
    section.text(sentence(tested(ranking)))
    section.heading("Where random features or the variance win")
    section.table(
        ["kind", "random beats every method", "the variance is the best method", "best by average rank"],
        [_winners(whole.of(kind), kind) for kind in KINDS if whole.of(kind).n_sets > 1],
    )
    section.heading("By number of features, and judged by clusters")
    sized = [results.free(methods, size=size) for size in range(3)]
    clusters = results.measured("nmi", methods)
    columns = [*(s.ranking() for s in sized), clusters.ranking()]
    section.text(
        "Average ranks at the smallest, the middle and the largest number of features (10, 20, 50; of narrow tables an "
        "eighth, a quarter, a half), and by the NMI of k-means clusters with the classes at the middle one."
    )
    names = ["smallest", "middle", "largest", "NMI of clusters"]
    section.table(
        ["method", *(f"{name}, {r.n_sets} sets" for name, r in zip(names, columns, strict=True))],
        [rank_row(method, columns) for method in ranking.methods],
    )
    section.heading("Tuned by the cut value")
    section.text(
        "Neighbours in {5, 10, 20} and width in {.5, 1, 2} mean edge distances, for EVSC {.25, .5, 1} median "
        "distances, chosen by the smallest cut value of the first ten features, which needs no labels."
    )
    tuned = [m for m in FREE if m != "variance"]
    _tuned_table(section, results.free([*tuned, *(f"{m} tuned" for m in tuned)]), tuned)
    _text_variants(section, results)
    return section


def _free_conclusion(whole: Slice, methods: Sequence[str]) -> str:
    ranking = whole.ranking(methods)
    best = next(name for name in ranking.methods if name != "random")
    found = whole.duel(best, "random")
    by_kind = {}
    for kind in KINDS:
        part = whole.of(kind)
        if part.n_sets > 1:
            first = part.ranking(methods).best
            by_kind[kind] = f"{first} for {kind}"
    return (
        f"Without labels {best} ranks best of the methods ({ranking.rank(best):.2f}; random features "
        f"{ranking.rank('random'):.2f}): {signed(found.gain)} accuracy over random, {against(found)}. Not told apart "
        f"from the first: {listed(level_with_best(ranking))}. Best by kind of data: {listed(list(by_kind.values()))}."
    )


def _winners(part: Slice, kind: str) -> list[str]:
    table = np.array([part.values[name] for name in FREE])
    random = [name for name, wins in zip(part.sets, part.values["random"] > table.max(axis=0), strict=True) if wins]
    highest = part.values["variance"] >= table.max(axis=0)
    variance = [name for name, wins in zip(part.sets, highest, strict=True) if wins]
    best = part.ranking([*FREE, "random"]).best
    n = part.n_sets
    return [
        kind,
        f"{len(random)} of {n}: {listed(random, '–')}",
        f"{len(variance)} of {n}: {listed(variance, '–')}",
        best,
    ]


def _tuned_table(section: Section, whole: Slice, methods: Sequence[str]) -> None:
    rows = []
    for method in methods:
        found = whole.duel(f"{method} tuned", method)
        means = [number(abs(whole.mean(name))) for name in (method, f"{method} tuned")]
        rows.append([method, *means, signed(found.gain), against(found)])
    section.table(["method", "default", "tuned", "gain", "sets"], rows)
    gained = [row[0] for row in rows if row[3].startswith("+")]
    sure = [m for m in methods if (d := whole.duel(f"{m} tuned", m)).p_value < 0.05 and d.gain > 0]
    section.text(
        f"**Tuning raises the mean of {len(gained)} of {len(rows)} methods; the gain is beyond chance (p < .05) for "
        f"{listed(sure, 'none of them')}.**"
    )


def _text_variants(section: Section, results: Results) -> None:
    names = ["variance", "variance, tf-idf", "laplacian", "laplacian, tf-idf", "laplacian, cosine", "random"]
    text = results.free(names, kind="text")
    if text.n_sets < 2:
        return
    section.heading("Text: counts, tf-idf or cosine")
    section.text("The same counts are judged; only the ranking sees tf-idf weights or the cosine distance.")
    ranking = text.ranking()
    rows = [
        [name, f"{ranking.rank(name):.2f}", number(text.mean(name)), signed(text.duel(name, "random").gain)]
        for name in ranking.methods
    ]
    section.table(["method", f"average rank, {text.n_sets} sets", "accuracy", "over random"], rows)


def few_labels(results: Results, folder: Path | None) -> Section:
    """Which method by number of labels, and from how many Fisher and ReliefF overtake sSelect."""
    section = Section("which-labels", "6. Rankings with few class labels", folder)
    methods, budgets = [*LABELS, *BASELINES], results.budgets("labels")
    slices = {budget: results.told("labels", [budget], methods) for budget in budgets}
    rankings = {budget: part.ranking() for budget, part in slices.items()}
    leads = {
        rival: overtakes({budget: part.duel(rival, "sselect") for budget, part in slices.items()})
        for rival in ("fisher", "relieff")
    }
    firsts = list(dict.fromkeys(ranking.best for ranking in rankings.values()))
    best = [f"{m} with {listed([str(b) for b in budgets if rankings[b].best == m])}" for m in firsts]
    section.text(
        f"**By labels per class the best average rank has {listed(best)}. {_overtaking('Fisher', leads['fisher'])}; "
        f"{_overtaking('ReliefF', leads['relieff'])} (in mean accuracy and on most sets).**"
    )
    section.text(
        "Labels per class are shown at random; with two classes 1, 2, 3, 5, 10, 20 of them are 2, 4, 6, 10, 20, 40 "
        "labels. A class never shows more than half of its rows, and a set takes part where at least half of its "
        "classes can show so many. Only rows whose labels were hidden are judged. `laplacian` and `variance` read no "
        "labels."
    )
    header = ["method", *(f"{budget} per class" for budget in budgets)]
    rows = [rank_row(method, list(rankings.values())) for method in methods]
    rows.append(["sets", *(str(r.n_sets) for r in rankings.values())])
    rows.append(["critical difference", *(f"{r.critical_difference:.2f}" for r in rankings.values())])
    section.table(header, rows)
    few = [budget for budget in budgets if budget <= 3]
    more = [budget for budget in budgets if budget > 3]
    panels = {
        f"{part[0]} to {part[-1]} labels per class": results.told("labels", part, methods).ranking()
        for part in (few, more)
        if part
    }
    section.figure(figures.critical_differences(panels), "ranks", "Average ranks with few and with more labels")
    section.text(sentence("; ".join(f"with {title} {tested(ranking)}" for title, ranking in panels.items())))
    section.text("By kind of data, all numbers of labels together:")
    ranked_table(section, results.told("labels", budgets, methods))
    section.heading("From how many labels on")
    duels = (("fisher", "sselect"), ("relieff", "sselect"), ("sselect", "variance"), ("relieff", "variance"))
    section.text("Mean gain in accuracy of one method over another, and the number of sets that gain:")
    section.table(
        ["method over another", "sets", *(f"{budget} per class" for budget in budgets)],
        [_gains(slices, *pair, kind) for pair in duels for kind in (None, *KINDS)],
    )
    section.text(" ".join([*(_paying(slices, method) for method in LABELS), *_degenerate_fisher(slices)]))
    _gain_curves(section, results, "labels", methods, "labels per class")
    section.heading("Tuned on the shown labels")
    section.text(
        "sSelect: λ in {.01, .1, .5, .9} and neighbours in {5, 10, 20}; ReliefF: neighbours in {1, 3, 10}; each by "
        "cross-validation on the shown labels, ties to the default. `sselect[lam=auto]` takes λ by the cut value."
    )
    names = ["relieff", "relieff tuned", "sselect", "sselect tuned", "sselect[lam=auto]"]
    whole = results.told("labels", [budget for budget in budgets if budget > 1], names)
    _tuned_table(section, whole, ["relieff", "sselect"])
    automatic = whole.duel("sselect[lam=auto]", "sselect")
    section.text(f"λ by the cut value against λ = .1: {signed(automatic.gain)}, {against(automatic)}.")
    return section


def _overtaking(rival: str, budget: int | None) -> str:
    if budget is None:
        return f"{rival} overtakes sSelect for good at none of these numbers"
    return f"{rival} is ahead of sSelect from {budget} label{'s' * (budget > 1)} per class on"


def _gains(slices: dict[int, Slice], first: str, second: str, kind: str | None) -> list[str]:
    cells = []
    for part in slices.values():
        part = part if kind is None else part.of(kind)
        found = part.duel(first, second) if part.n_sets > 1 else None
        cells.append("–" if found is None else f"{signed(found.gain)} ({found.won} of {found.n_sets})")
    return [f"{first} over {second}", kind or "all", *cells]


def _paying(slices: dict[int, Slice], method: str) -> str:
    """From how many labels a method that reads them beats the variance, which does not."""
    start = overtakes({budget: part.duel(method, "variance") for budget, part in slices.items()})
    if start is None:
        return f"`{method}` beats the variance, which needs no labels, for good at none of these numbers."
    found = slices[start].duel(method, "variance")
    return f"`{method}` beats the variance from {start} per class on ({signed(found.gain)}, {against(found)})."


def _degenerate_fisher(slices: dict[int, Slice]) -> list[str]:
    if not {1, 2} <= set(slices):
        return []
    one, two = (slices[budget].duel("fisher", "random").gain for budget in (1, 2))
    if two >= one:
        return []
    return [
        f"Fisher gains less over random with two labels per class ({signed(two)}) than with one ({signed(one)}): two "
        "rows estimate the spread inside a class so badly that columns where they happen to agree come first, while "
        "with one label the order is that of the squared differences between classes."
    ]


def _gain_curves(section: Section, results: Results, question: str, methods: Sequence[str], x_label: str) -> None:
    """Gain over random by kind, over the budgets that every set of a kind has, so that lines compare like with like."""
    panels, shown = {}, {}
    for kind in KINDS:
        parts = {b: results.told(question, [b], methods).of(kind) for b in results.budgets(question)}
        most = max((part.n_sets for part in parts.values()), default=0)
        parts = {budget: part for budget, part in parts.items() if part.n_sets == most > 0}
        if len(parts) < 2:
            continue
        title = f"{kind}, {most} sets"
        shown[title] = list(parts)
        panels[title] = {
            method: [part.duel(method, "random").gain for part in parts.values()]
            for method in methods
            if method != "random"
        }
    if panels:
        figure = figures.curves(panels, shown, x_label, "accuracy over random features")
        section.figure(figure, "gain", f"Mean gain over random features by {x_label}, where every set has so many")


def pairs(results: Results, folder: Path | None) -> Section:
    """The constraint scores against each other and against the same information as labels."""
    section = Section("which-pairs", "7. Rankings from pairs", folder)
    budgets = [budget for budget in results.budgets("labels") if budget > 1]
    numbers = results.budgets("pairs")
    same = results.told("labels", budgets, [*CONSTRAINTS, *LABELS])
    drawn_methods = [*CONSTRAINTS, "fisher, labels", "sselect, labels", *BASELINES]
    drawn = results.told("pairs", numbers, drawn_methods)
    ranking, by_labels = drawn.ranking(), same.ranking()
    only_pairs = drawn.ranking([*CONSTRAINTS, *BASELINES])
    best = min(CONSTRAINTS, key=ranking.rank)
    chance, worth = drawn.duel(best, "random"), drawn.duel("sselect, labels", best)
    section.text(
        f"**With pairs alone {best} is the best constraint score ({only_pairs.rank(best):.2f} among them and the "
        f"baselines; {only_pairs.best} {only_pairs.ranks[0]:.2f}, random features {only_pairs.rank('random'):.2f}): "
        f"{signed(chance.gain)} over random, {against(chance)}. The labels of the rows that the pairs touch are worth "
        f"{'more' if worth.gain > 0 else 'no more'}: sSelect with them gains {signed(worth.gain)} over {best} "
        f"({against(worth)}). Told all pairs that the same labels imply, {_level(by_labels)}.**"
    )
    section.text(
        "Pairs are drawn from half of the rows of each class, half must-link and half cannot-link; rows they touch are "
        "not judged. `fisher, labels` and `sselect, labels` are told the classes of those rows, which is more than the "
        "pairs say."
    )
    rankings = {b: results.told("pairs", [b], drawn_methods).ranking() for b in numbers}
    rows = [rank_row(method, [ranking, *rankings.values()]) for method in ranking.methods]
    section.table(["method", f"all numbers, {ranking.n_sets} sets", *(f"{b} pairs" for b in numbers)], rows)
    section.text("By kind of data, all numbers of pairs together:")
    ranked_table(section, drawn)
    section.figure(
        figures.critical_differences({"pairs, mean over their numbers": ranking, "all pairs of few labels": by_labels}),
        "ranks",
        "Average ranks of the constraint scores beside methods that read the labels of the same rows",
    )
    section.text(sentence(f"{tested(ranking)}; with all pairs of the labels, {tested(by_labels)}"))
    section.heading("All pairs that few labels imply")
    parts = {b: results.told("labels", [b], [*CONSTRAINTS, *LABELS]).ranking() for b in budgets}
    rows = [rank_row(method, [by_labels, *parts.values()]) for method in by_labels.methods]
    rows.append(["sets", str(by_labels.n_sets), *(str(part.n_sets) for part in parts.values())])
    section.table(["method", "all numbers", *(f"{b} per class" for b in budgets)], rows)
    found = results.told("labels", budgets, ["c4", "c4 tuned"])
    section.text(
        f"C4 with its width tuned by the cut value in {{.25, .5, 1}} median distances: "
        f"{signed(found.duel('c4 tuned', 'c4').gain)}, {against(found.duel('c4 tuned', 'c4'))}."
    )
    return section


def _level(ranking: Ranking) -> str:
    constraint = min(CONSTRAINTS, key=ranking.rank)
    label = min(LABELS, key=ranking.rank)
    ahead, behind = sorted((constraint, label), key=ranking.rank)
    apart = "beyond" if ranking.differ(ahead, behind) else "within"
    place = "ahead of" if ranking.rank(ahead) < ranking.rank(behind) else "level with"
    return (
        f"{ahead} ({ranking.rank(ahead):.2f}) is {place} {behind} ({ranking.rank(behind):.2f}), {apart} the critical "
        f"difference of {ranking.critical_difference:.2f}"
    )


def real_targets(results: Results, folder: Path | None) -> Section:
    """SLS, SSLS and the correlation by number of known targets."""
    section = Section("which-targets", "8. Rankings from real targets", folder)
    methods, budgets = [*TARGETS, *BASELINES], results.budgets("targets")
    whole = results.told("targets", budgets, [*methods, "all"])
    ranking = whole.ranking(methods)
    parts = {budget: results.told("targets", [budget], methods) for budget in budgets}
    rankings = {budget: part.ranking() for budget, part in parts.items()}
    best = min(TARGETS, key=ranking.rank)
    chance = whole.duel(best, "random")
    leads = overtakes({budget: part.duel("ssls", "correlation") for budget, part in parts.items()})
    lead = "at none of these numbers of targets" if leads is None else f"from {leads} known targets on"
    section.text(
        f"**Of the methods that read targets {best} ranks best ({ranking.rank(best):.2f}, random features "
        f"{ranking.rank('random'):.2f}): its RMSE is {number(abs(chance.gain))} standard deviations "
        f"{'below' if chance.gain > 0 else 'above'} that of random features, {against(chance)}. SSLS stays ahead of "
        f"the correlation {lead}.**"
    )
    names = listed(list(whole.sets))
    section.text(
        f"Only {whole.n_sets} sets ({names}), so no more than large differences can be told apart: {tested(ranking)}. "
        "Targets are standardised by those shown. With two targets every feature has correlation 1, so four is "
        "the least."
    )
    rows = [[*rank_row(m, [ranking, *rankings.values()]), number(-whole.mean(m))] for m in ranking.methods]
    rows.append(["all", *["–"] * (1 + len(budgets)), number(-whole.mean("all"))])
    header = ["method", f"all numbers, {ranking.n_sets} sets", *(f"{b} targets" for b in budgets), "RMSE / std"]
    section.table(header, rows)
    section.figure(
        figures.critical_differences({"few real targets": ranking}), "ranks", "Average ranks with few real targets"
    )
    section.heading("Set by set")
    section.text("RMSE in standard deviations of the target, mean over all numbers of targets and features:")
    section.table(
        ["set", *methods, "all"],
        [[s, *(number(-whole.values[m][at]) for m in [*methods, "all"])] for at, s in enumerate(whole.sets)],
    )
    section.heading("Tuned on the shown targets")
    section.text("SLS: t in {.25, 1, 4} or k in {2, 5, 10}; SSLS: t in {.25, 1, 4}; by cross-validation, RMSE:")
    late = [budget for budget in budgets if budget >= 10]
    _tuned_table(section, results.told("targets", late, ["sls", "sls tuned", "ssls", "ssls tuned"]), ["sls", "ssls"])
    return section
