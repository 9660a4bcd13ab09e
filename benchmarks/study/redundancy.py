"""Redundancy: how alike the first features are, and what is gained by passing over those that are too alike."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from ..papers.page import Section
from . import figures
from .questions import CONSTRAINTS, FREE, LABELS, TARGETS
from .results import Results, Slice
from .run import LIMITS
from .words import KINDS, against, listed, number, rank_row, signed

RECIPE = """```python
SpectralSelector("variance", n_features_to_select=20, redundancy=True).fit(X)
```"""


def redundancy(results: Results, folder: Path | None) -> Section:
    """Whether redundancy explains where random features win: by observation, then by removing it."""
    section = Section("which-redundancy", "10. Redundancy", folder)
    limit = number(LIMITS[0], 1)
    section.text(f"**{_conclusion(results)}**")
    section.text(
        f"*Pruned* means: go down the ranking and pass over a feature whose |r| with a better one already kept is "
        f"above {limit}; it reads no labels. One limit serves all sets; others are compared below."
    )
    section.text(RECIPE)
    _alike(section, results)
    _gains(section, results)
    _limits(section, results)
    _ranks(section, results)
    return section


def _conclusion(results: Results) -> str:
    methods = [*FREE, "random"]
    alike = results.measured("redundancy", methods)
    usual = float(np.mean([alike.mean(method) for method in FREE]))
    whole = _pruned_slice(results.free, FREE)
    kinds = [kind for kind in KINDS if whole.of(kind).n_sets]
    by_kind = {kind: _mean_gain(whole.of(kind), FREE) for kind in kinds}
    most = max(by_kind, key=by_kind.get)
    gained = [method for method in FREE if whole.duel(f"{method} pruned", method).gain > 0]
    before, after = (_random_wins(results, pruned) for pruned in (False, True))
    said = listed([f"{kind} {signed(gain)}" for kind, gain in by_kind.items()])
    return (
        f"The first ten features of a method without labels have a mean |r| of {number(usual, 2)}, ten random ones "
        f"{number(alike.mean('random'), 2)}. Pruned at |r| ≤ {number(LIMITS[0], 1)}, {len(gained)} of {len(FREE)} "
        f"methods gain, {signed(_mean_gain(whole, FREE))} accuracy on average, most on {most} ({said}). Random "
        f"features beat every method on {before[0]} of {before[1]} sets as ranked, and on {after[0]} once the rankings "
        "are pruned."
    )


def _pruned_slice(read: object, methods: Sequence[str]) -> Slice:
    return read([*methods, *(f"{method} pruned" for method in methods), "random"])


def _mean_gain(part: Slice, methods: Sequence[str]) -> float:
    return float(np.mean([part.duel(f"{method} pruned", method).gain for method in methods]))


def _random_wins(results: Results, pruned: bool) -> tuple[int, int]:
    """Sets where (unpruned) random features beat every method, and the number of sets."""
    names = [f"{method} pruned" if pruned else method for method in FREE]
    part = results.free([*names, "random"])
    best = np.max([part.values[name] for name in names], axis=0)
    return int(np.sum(part.values["random"] > best)), part.n_sets


def _alike(section: Section, results: Results) -> None:
    methods = [*FREE, "random"]
    alike, value = results.measured("redundancy", methods), results.free(methods)
    kinds = [kind for kind in KINDS if alike.of(kind).n_sets]
    section.heading("How alike the first features are")
    section.text("Mean |r| between two of the first ten features (fewer in narrow tables), and the average rank:")
    lean = Slice(alike.sets, alike.kinds, {name: -values for name, values in alike.values.items()}).ranking()
    section.table(
        ["method", f"average rank, {alike.n_sets} sets", "all", *kinds],
        [
            [*rank_row(m, [lean]), number(alike.mean(m), 2), *(number(alike.of(k).mean(m), 2) for k in kinds)]
            for m in lean.methods
        ],
    )
    section.figure(
        figures.critical_differences({"redundancy of the first ten features, least is first": lean}),
        "alike",
        "Average ranks by mean |r| among the first ten features; 1 is the least redundant",
    )
    within = {kind: _within(alike.of(kind), value.of(kind)) for kind in kinds}
    section.text(
        "Redundancy alone does not say how good a choice is: the mean over sets of the rank correlation between |r| "
        f"and accuracy over the {len(methods)} choices is {signed(_within(alike, value), 2)} "
        f"({listed([f'{kind} {signed(rho, 2)}' for kind, rho in within.items()])}), because features that say the same "
        "relevant thing are alike as well. What it costs shows when it is taken away."
    )
    points = {kind: _points(alike.of(kind), value.of(kind)) for kind in kinds}
    figure = figures.scatter(
        points,
        "mean |r| among the first ten features, beyond that of random ones",
        "accuracy over random features",
    )
    section.figure(figure, "gain", "One point per method without labels and set: redundancy beyond random against gain")


def _gains(section: Section, results: Results) -> None:
    section.heading("What pruning gains")
    rows = []
    for told, read, methods in (
        ("nothing", results.free, [*FREE, "random"]),
        ("labels", lambda names: results.told("labels", results.budgets("labels"), names), LABELS),
        ("pairs", lambda names: results.told("pairs", results.budgets("pairs"), names), CONSTRAINTS),
        ("targets", lambda names: results.told("targets", results.budgets("targets"), names), TARGETS),
    ):
        part = _pruned_slice(read, [m for m in methods if m != "random"] + ["random"] * ("random" in methods))
        for method in methods:
            found = part.duel(f"{method} pruned", method)
            kinds = [part.of(kind) for kind in KINDS]
            cells = [
                signed(p.duel(f"{method} pruned", method).gain) if p.n_sets and told != "targets" else "–"
                for p in kinds
            ]
            rows.append([method, told, signed(found.gain), *cells, against(found)])
    section.text(
        "Gain of a pruned ranking over the ranking as it is, in accuracy (in standard deviations for real targets), "
        "mean over all numbers of features, labels, pairs and targets:"
    )
    section.table(["method", "told", "gain", *KINDS, "sets"], rows)


def _limits(section: Section, results: Results) -> None:
    section.heading("Which limit")
    limits = sorted(LIMITS)
    spelled = {limit: "pruned" if limit == LIMITS[0] else f"pruned[r={limit}]" for limit in limits}
    rows, ranks = [], []
    for method in FREE:
        part = results.free([method, *(f"{method} {spelled[limit]}" for limit in limits)])
        ranking = part.ranking()
        names = [method, *(f"{method} {spelled[limit]}" for limit in limits)]
        gains = [part.duel(name, method).gain for name in names]
        ranks.append([ranking.rank(name) for name in names])
        rows.append([method, *(f"{ranking.rank(n):.2f} ({signed(g)})" for n, g in zip(names, gains, strict=True))])
    best = int(np.argmin(np.mean(ranks, axis=0)))
    choice = "no pruning" if best == 0 else f"|r| ≤ {number(limits[best - 1], 1)}"
    section.text(
        f"Average rank of each limit over all sets, and gain over the ranking as it is; best overall: {choice}."
    )
    section.table(["method", "as ranked", *(f"≤ {number(limit, 1)}" for limit in limits)], rows)


def _ranks(section: Section, results: Results) -> None:
    section.heading("Pruned rankings compared")
    names = [*(f"{method} pruned" for method in FREE), "random pruned", "random"]
    whole = results.free(names)
    ranking = whole.ranking()
    kinds = [kind for kind in KINDS if whole.of(kind).n_sets > 1]
    parts = [whole.of(kind).ranking() for kind in kinds]
    rows = [[*rank_row(m, [ranking, *parts]), number(whole.mean(m))] for m in ranking.methods]
    header = [
        "method",
        f"average rank, {whole.n_sets} sets",
        *(f"{k}, {whole.of(k).n_sets}" for k in kinds),
        "accuracy",
    ]
    section.table(header, rows)
    section.figure(
        figures.critical_differences({"no labels, pruned": ranking}),
        "ranks",
        "Average ranks of the pruned rankings, beside random features pruned and not",
    )


def _points(alike: Slice, value: Slice) -> tuple[np.ndarray, np.ndarray]:
    excess = np.concatenate([alike.values[m] - alike.values["random"] for m in FREE])
    return excess, np.concatenate([value.values[m] - value.values["random"] for m in FREE])


def _within(alike: Slice, value: Slice) -> float:
    """Mean over sets of the rank correlation between redundancy and accuracy over methods."""
    tables = (np.array([part.values[m] for m in (*FREE, "random")]).T for part in (alike, value))
    found = np.array([spearmanr(x, y).statistic for x, y in zip(*tables, strict=True)])
    return float(found[np.isfinite(found)].mean())
