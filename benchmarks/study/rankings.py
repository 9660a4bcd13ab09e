"""The tables of the papers' rankings: against each other, their defaults, and their redundancy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from ..pages import records
from .ranks import Ranking, Results, Slice, holm, rank_methods
from .run import LIMITS
from .sets import KINDS
from .tables import (
    BASELINES,
    CONSTRAINTS,
    FREE,
    LABELS,
    TARGETS,
    WORTH,
    Tables,
    against,
    by_kind,
    everything,
    number,
    p_text,
    pruned,
    ranked,
    signed,
    span,
)


def rank_panels(study: Results) -> dict[str, dict[str, Ranking]]:
    """The rankings behind the diagrams of average ranks, by figure and panel."""
    budgets = study.budgets("labels")
    few, more = [b for b in budgets if b <= 3], [b for b in budgets if b > 3]
    linked = [*CONSTRAINTS, "fisher, labels", "sselect, labels", *BASELINES]
    methods = [*LABELS, *BASELINES]
    same = study.told("labels", [b for b in budgets if b > 1], [*CONSTRAINTS, *LABELS])
    alike = study.measured("redundancy", [*FREE, "random"])
    lean = rank_methods({name: -found for name, found in alike.values.items()})
    return {
        "free-ranks": {"no labels": study.free([*FREE, "random"]).ranking()},
        "labels-ranks": {
            f"{span(part)} labels per class": study.told("labels", part, methods).ranking() for part in (few, more)
        },
        "pairs-ranks": {
            "pairs, mean over their numbers": everything("pairs")(study, linked).ranking(),
            "all pairs of few labels": same.ranking(),
        },
        "targets-ranks": {"few real targets": everything("targets")(study, [*TARGETS, *BASELINES]).ranking()},
        "redundancy-alike": {"redundancy of the first ten features, least is first": lean},
        "redundancy-ranks": {"no labels, pruned": study.free([*pruned([*FREE, "random"]), "random"]).ranking()},
    }


def rankings(study: Results) -> Tables:
    labels, pairs, targets = (study.budgets(question) for question in ("labels", "pairs", "targets"))
    whole, methods = study.free([*FREE, "random", "all"]), [*FREE, "random"]
    sized = [study.free(methods, size=size) for size in range(3)]
    columns = [*(part.ranking() for part in sized), study.measured("nmi", methods).ranking()]
    names = ("smallest", "middle", "largest", "NMI of clusters")
    text = study.free(
        ["variance", "variance, tf-idf", "laplacian", "laplacian, tf-idf", "laplacian, cosine", "random"], kind="text"
    )
    slices = {b: study.told("labels", [b], [*LABELS, *BASELINES]) for b in labels}
    duels = [("fisher", "sselect"), ("relieff", "sselect"), ("sselect", "variance"), ("relieff", "variance")]
    panels = rank_panels(study)
    drawn, by_labels = panels["pairs-ranks"].values()
    of_pairs = [study.told("pairs", [b], list(drawn.methods)).ranking() for b in pairs]
    of_labels = [study.told("labels", [b], [*CONSTRAINTS, *LABELS]).ranking() for b in labels if b > 1]
    valued = study.told("targets", targets, [*TARGETS, *BASELINES, "all"])
    of_targets = [study.told("targets", [b], [*TARGETS, *BASELINES]).ranking() for b in targets]
    target_ranks = panels["targets-ranks"]["few real targets"]
    rows = ranked([*target_ranks.methods, "all"], [target_ranks, *of_targets])
    tests = [
        [title, r.n_sets, p_text(r.p_value).removeprefix("= "), f"{r.critical_difference:.2f}"]
        for figure in ("free-ranks", "labels-ranks", "pairs-ranks", "targets-ranks")
        for title, r in panels[figure].items()
    ]
    kind_of = {kind: whole.of(kind) for kind in KINDS if whole.of(kind).n_sets > 1}
    by_label = [part.ranking() for part in slices.values()]
    return {
        "tests": (["question", "sets", "Friedman p", "critical difference"], tests),
        "free-ranks": by_kind(whole, ["all"]),
        "free-winners": (
            ["kind", "random beats every method", "the variance is the best method", "best by average rank"],
            [[kind, *_winners(part), part.ranking(methods).best] for kind, part in kind_of.items()],
        ),
        "free-ranks-sizes": (
            ["method", *(f"{name}, {r.n_sets} sets" for name, r in zip(names, columns, strict=True))],
            ranked(whole.ranking(methods).methods, columns),
        ),
        "free-tuned": _tuned(
            study.free([*FREE[1:], *(f"{m} tuned" for m in FREE[1:])]), {m: f"{m} tuned" for m in FREE[1:]}
        ),
        "free-text": (
            ["method", f"average rank, {text.n_sets} sets", "accuracy", "over random"],
            [
                [*row, number(text.mean(row[0])), signed(text.duel(row[0], "random").gain)]
                for row in ranked(text.ranking().methods, [text.ranking()])
            ],
        ),
        "labels-ranks": (
            ["method", *(f"{b} per class" for b in labels)],
            [
                *ranked([*LABELS, *BASELINES], by_label),
                ["sets", *(r.n_sets for r in by_label)],
                ["critical difference", *(f"{r.critical_difference:.2f}" for r in by_label)],
            ],
        ),
        "labels-ranks-kinds": by_kind(study.told("labels", labels, [*LABELS, *BASELINES])),
        "labels-duels": (
            ["method over another", "sets", *(f"{b} per class" for b in labels)],
            [_duel_row(slices.values(), *pair, kind) for pair in duels for kind in ("all", *KINDS)],
        ),
        "labels-tuned": _tuned(
            study.told(
                "labels", [b for b in labels if b > 1], ["relieff", "relieff tuned", "sselect", "sselect tuned"]
            ),
            {"relieff": "relieff tuned", "sselect": "sselect tuned"},
        ),
        "labels-cut": _tuned(
            study.told("labels", [b for b in labels if b > 1], ["sselect", "sselect[lam=auto]", "c4", "c4 tuned"]),
            {"sselect": "sselect[lam=auto]", "c4": "c4 tuned"},
        ),
        "pairs-ranks": (
            ["method", f"all numbers, {drawn.n_sets} sets", *(f"{b} pairs" for b in pairs)],
            ranked(drawn.methods, [drawn, *of_pairs]),
        ),
        "pairs-ranks-kinds": by_kind(study.told("pairs", pairs, list(drawn.methods))),
        "pairs-of-labels": (
            ["method", "all numbers", *(f"{b} per class" for b in labels if b > 1)],
            [
                *ranked(by_labels.methods, [by_labels, *of_labels]),
                ["sets", *(r.n_sets for r in (by_labels, *of_labels))],
            ],
        ),
        "targets-ranks": (
            ["method", f"all numbers, {target_ranks.n_sets} sets", *(f"{b} targets" for b in targets), "RMSE / std"],
            [[*row, number(valued.mean(row[0]))] for row in rows],
        ),
        "targets-sets": (
            ["set", *valued.values],
            [[s, *(number(found[at]) for found in valued.values.values())] for at, s in enumerate(valued.sets)],
        ),
        "targets-tuned": _tuned(
            study.told("targets", [b for b in targets if b >= 10], ["sls", "sls tuned", "ssls", "ssls tuned"]),
            {"sls": "sls tuned", "ssls": "ssls tuned"},
        ),
    }


def _winners(part: Slice) -> list[str]:
    """Data sets where random features beat every method, and where the variance is the best method."""
    best = np.max([part.values[name] for name in FREE], axis=0)
    wins = (part.values["random"] > best, part.values["variance"] >= best)
    named = [[name for name, won in zip(part.sets, each, strict=True) if won] for each in wins]
    return [f"{len(names)} of {part.n_sets}: {', '.join(names) or '–'}" for names in named]


def _tuned(whole: Slice, pairs: Mapping[str, str]) -> tuple[list[str], list[list[str]]]:
    duels = {method: whole.duel(tuned, method) for method, tuned in pairs.items()}
    means = {method: [number(whole.mean(name)) for name in (method, pairs[method])] for method in pairs}
    rows = [[method, *means[method], signed(found.gain), against(found)] for method, found in duels.items()]
    return ["method", "default", "tuned", "gain", "sets"], rows


def _duel_row(parts: Iterable[Slice], first: str, second: str, kind: str) -> list[str]:
    slices = [part if kind == "all" else part.of(kind) for part in parts]
    duels = [part.duel(first, second) if part.n_sets > 1 else None for part in slices]
    cells = ["–" if d is None else f"{signed(d.gain)} ({d.won} of {d.n_sets})" for d in duels]
    return [f"{first} over {second}", kind, *cells]


# -------------------------------------------------------------------- defaults


def choices() -> dict[tuple[str, str, str], dict[str, str]]:
    """(method, parameter, what it is told) to the name of each value tried, the library's default first."""
    found: dict[tuple[str, str, str], dict[str, str]] = {}
    for row in records(Path(__file__).with_name("defaults.csv")):
        found.setdefault((row["method"], row["parameter"], row["told"]), {})[row["value"]] = row["name"]
    return found


def defaults(study: Results) -> Tables:
    """Average rank of every value of every parameter, and λ of sSelect by number of labels."""
    header = [
        "method",
        "parameter",
        "average rank of each value",
        "critical difference",
        "Friedman p",
        "rival",
        "verdict",
    ]
    budgets = study.budgets("labels")
    shares = dict(sorted(choices()["sselect", "lam", "labels"].items()))
    parts = [study.told("labels", [b], list(shares.values())) for b in budgets]
    return {
        "defaults": (header, [verdict(study, *key, variants) for key, variants in choices().items()]),
        "defaults-lambda": (
            ["λ", *(f"{b} per class" for b in budgets)],
            [
                [share, *(f"{p.ranking().rank(name):.2f} ({signed(p.duel(name, 'sselect').gain)})" for p in parts)]
                for share, name in shares.items()
            ],
        ),
    }


def verdict(study: Results, method: str, parameter: str, question: str, variants: Mapping[str, str]) -> list[str]:
    """Change a default where another value gains beyond chance and its rank is beyond the critical difference."""
    part = everything(question)(study, list(variants.values()))
    ranking, (default, *others) = part.ranking(), variants.values()
    duels = {name: part.duel(name, default) for name in others}
    corrected = dict(zip(duels, holm([found.p_value for found in duels.values()]), strict=True))
    gaining = [name for name, found in duels.items() if found.gain >= WORTH]
    # The rival is the value that most surely gains; where none gains, the one with the best rank.
    rival = min(gaining, key=corrected.__getitem__) if gaining else min(duels, key=ranking.rank)
    sure = duels[rival].gain >= WORTH and corrected[rival] < 0.05
    word = "keep" if not sure else "change" if ranking.differ(rival, default) else "consider"
    value = {name: label for label, name in variants.items()}
    cells = ", ".join(f"{label}: {ranking.rank(name):.2f}" for label, name in variants.items())
    apart, p_value = f"{ranking.critical_difference:.2f}", p_text(ranking.p_value).removeprefix("= ")
    told_rival = f"{value[rival]}: {signed(duels[rival].gain)}, {against(duels[rival])}"
    return [method, parameter, cells, apart, p_value, told_rival, word]


# -------------------------------------------------------------------- redundancy


def redundancy(study: Results) -> Tables:
    methods, limits = [*FREE, "random"], sorted(LIMITS)
    alike, value = study.measured("redundancy", methods), study.free(methods)
    lean = rank_panels(study)["redundancy-alike"]["redundancy of the first ten features, least is first"]
    parts = [alike, *(alike.of(kind) for kind in KINDS)]
    within = [_within(alike, value), *(_within(alike.of(kind), value.of(kind)) for kind in KINDS)]
    rows = []
    for question, names in (("free", methods), ("labels", LABELS), ("pairs", CONSTRAINTS), ("targets", TARGETS)):
        part = everything(question)(study, [*names, *pruned(names)])
        kinds = [part.of(kind) for kind in KINDS]
        for name in names:
            cells = [
                signed(p.duel(f"{name} pruned", name).gain) if p.n_sets and question != "targets" else "–"
                for p in kinds
            ]
            found = part.duel(f"{name} pruned", name)
            rows.append(
                [name, "nothing" if question == "free" else question, signed(found.gain), *cells, against(found)]
            )
    whole = study.free([*FREE, *pruned(FREE)])
    mean = [
        np.mean([p.duel(f"{m} pruned", m).gain for m in FREE]) for p in (whole, *(whole.of(kind) for kind in KINDS))
    ]
    suffixes = ["", *(" pruned" if limit == LIMITS[0] else f" pruned[r={limit}]" for limit in limits)]
    by_limit = {m: study.free([f"{m}{suffix}" for suffix in suffixes]) for m in FREE}
    beaten = []
    for title, names in (("as they are", FREE), ("pruned", pruned(FREE))):
        part = study.free([*names, "random"])
        wins = part.values["random"] > np.max([part.values[name] for name in names], axis=0)
        beaten.append([title, f"{wins.sum()} of {part.n_sets}"])
    return {
        "redundancy-alike": (
            ["method", f"average rank, {alike.n_sets} sets", "all", *KINDS],
            [
                *([*row, *(number(p.mean(row[0]), 2) for p in parts)] for row in ranked(lean.methods, [lean])),
                ["rank correlation of |r| with accuracy", "–", *(signed(rho, 2) for rho in within)],
            ],
        ),
        "redundancy-gains": (
            ["method", "known", "gain", *KINDS, "sets"],
            [*rows, ["mean of the six methods", "nothing", *map(signed, mean), "–"]],
        ),
        "redundancy-limits": (
            ["method", "as ranked", *(f"≤ {number(limit, 1)}" for limit in limits)],
            [
                [m, *(f"{p.ranking().rank(n):.2f} ({signed(p.duel(n, m).gain)})" for n in p.values)]
                for m, p in by_limit.items()
            ],
        ),
        "redundancy-random": (["rankings", "random features beat every method on"], beaten),
        "redundancy-ranks": by_kind(study.free([*pruned([*FREE, "random"]), "random"])),
    }


def _within(alike: Slice, value: Slice) -> float:
    """Mean over data sets of the rank correlation between redundancy and accuracy over methods."""
    tables = (np.array(list(part.values.values())).T for part in (alike, value))
    found = np.array([spearmanr(x, y).statistic for x, y in zip(*tables, strict=True)])
    return float(found[np.isfinite(found)].mean())
