"""What labels, pairs and targets of a few rows add on many data sets, beside other packages -> docs/which-method.md.

Every row is predicted from all others on the chosen columns (:class:`benchmarks.judges.Judge`). Rows whose labels were
shown are not judged. Peers are given the shown rows alone, as their users do. Every data set counts once: values are
averaged over draws, numbers of features and budgets first. Large is good: accuracy, or minus the RMSE in standard
deviations of the target. Selection without labels is the question of :mod:`benchmarks.field`; the tables of the page on
it, and those on defaults, tuning, redundancy and ranks, are on record only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

import fiedler as fd
from fiedler.problem import Problem
from fiedler.selection.choice import rank

from . import selectors as other
from .contenders import missing
from .judges import Judge
from .pages import share
from .ranks import Duel, duel
from .runner import Found, Options, main
from .sets import N_PAIRS, SOURCES, dense, load, names

LIMIT = 0.7  # of |r| in pruned rankings
LABELS = {"fisher": fd.FisherScore(), "relieff": fd.ReliefF(), "sselect": fd.SSelect()}
PAIRS = {f"c{variant}": fd.ConstraintScore(variant) for variant in (1, 2, 3, 4)}
PAIRS["c4[graph=knn]"] = fd.ConstraintScore(graph=fd.KNN())
TARGETS = {"correlation": fd.Correlation(), "sls": fd.SupervisedLaplacianScore()}
TARGETS["ssls"] = fd.SemiSupervisedLaplacianScore()
WHOLE = ("sselect", "c3", "c4", "c4[graph=knn]", "ssls")  # read the rows without labels too
WITH_TARGETS = {"mrmr": other.mrmr, "forest": other.forest, "l1": other.l1, "fastcan": other.fastcan}
WITH_CLASSES = {"mutual information": other.mutual_information, **WITH_TARGETS}
UNTOLD = "subset, unlabelled"
_DRAW, _RANDOM, _, _PAIRS = range(100, 104)  # what a set's generator is seeded for
Orders = dict[str, np.ndarray]


def on_set(name: str, quick: bool = False) -> list[list]:
    """Rows told;budget;method and a value per number of features, means over draws, for one data set."""
    data = load(name, 300 if quick else 1000)
    y, few = data.y, len(data.y) <= 250
    judge, problem, most = Judge(data), Problem.of(data.X), data.sizes[-1]
    draws = (2 if quick else 5) * (2 if few else 1)

    def order(criterion: fd.Criterion, told: Problem, rng: np.random.Generator) -> np.ndarray:
        """Columns, best first; those without a score follow in random order."""
        ranking = rank(criterion.resolved(), told)
        scored, unscored = np.split(ranking.order, [ranking.n_scored])
        return np.concatenate([scored, rng.permutation(unscored)]) if len(unscored) else scored

    def with_pruned(orders: Orders) -> Orders:
        return orders | {f"{method} pruned": judge.pruned(found, LIMIT) for method, found in orders.items()}

    def path(told: Problem) -> np.ndarray:
        return rank(fd.SmoothSubset().resolved(), told, most).order[:most]

    variance = judge.pruned(rank(fd.Variance().resolved(), Problem.of(data.unscaled)).order, LIMIT)
    blind = {UNTOLD: path(problem), "variance pruned": variance}
    blind |= {"cur": other.cur(data.X, most)} if missing("CUR") is None else {}
    random = [data.rng(_RANDOM, draw).permutation(data.X.shape[1]) for draw in range(10 if quick else 30)]
    rows: list[list] = []

    def add(told: str, budget: int, drawn: Sequence[tuple[np.ndarray, Orders]]) -> None:
        values: dict[str, list[Any]] = {}
        for shown, orders in drawn:
            for method, found in orders.items():
                values.setdefault(method, []).append(judge.values(found, shown))
            values.setdefault("random", []).append(np.mean([judge.values(each, shown) for each in random], axis=0))
            everything = judge.value(np.arange(data.X.shape[1]), shown)
            values.setdefault("all", []).append([everything] * len(data.sizes))
        for method, found in values.items():
            means = np.mean(found, axis=0).tolist()
            rows.append([told, budget, method, *means, *[""] * (3 - len(means))])

    def told_labels(budget: int, draw: int) -> tuple[np.ndarray, Orders]:
        shown, rng = data.shown(budget, draw), data.rng(_DRAW, budget, draw)
        known = y[shown] if data.has_classes else (y[shown] - y[shown].mean()) / (y[shown].std() or 1.0)
        everywhere = np.full(len(y), -1 if data.has_classes else np.nan)
        everywhere[shown] = known
        block, whole = dense(data.X[shown]), problem.with_supervision(everywhere)
        criteria = LABELS if data.has_classes else TARGETS
        orders = {m: order(c, whole if m in WHOLE else Problem.of(block, known), rng) for m, c in criteria.items()}
        orders = with_pruned(orders) | blind | {"subset": path(whole)}
        if data.has_classes and np.bincount(known).max() < 2:
            return shown, orders  # no peer can do anything with one row of each class
        peers = dict(WITH_CLASSES if data.has_classes else WITH_TARGETS)
        seed = int(rng.integers(2**31))
        able = {m: peer for m, peer in peers.items() if missing(m) is None}
        return shown, orders | {m: peer(block, most, seed, known)[:most] for m, peer in able.items()}

    def told_pairs(budget: int, draw: int) -> tuple[np.ndarray, Orders]:
        """Pairs among half of the rows of each class, as in [KA] 7.2; the rows they touch are not judged."""
        rng = data.rng(_PAIRS, budget, draw)
        rows = rng.permutation(len(y))
        place = np.concatenate([np.arange(size) for size in np.bincount(y)])
        half = rows[np.argsort(y[rows], kind="stable")][place % 2 == 0]
        known, labels = np.full(len(y), -1), np.full(len(y), -1)
        known[half] = y[half]
        must, cannot = fd.pairs_from_labels(known, budget, int(rng.integers(2**31)))
        shown = np.unique(np.concatenate([must, cannot]))
        labels[shown] = y[shown]
        among = {"must_link": np.searchsorted(shown, must), "cannot_link": np.searchsorted(shown, cannot)}
        alone = Problem.of(dense(data.X[shown]), **among)
        whole = problem.with_supervision(must_link=must, cannot_link=cannot)
        orders = with_pruned({m: order(c, whole if m in WHOLE else alone, rng) for m, c in PAIRS.items()})
        labelled = path(problem.with_supervision(labels))
        return shown, orders | blind | {"subset": path(whole), "subset, labels": labelled}

    for budget in (b for b in data.budgets() if not quick or b <= 5):
        add("labels" if data.has_classes else "targets", budget, [told_labels(budget, draw) for draw in range(draws)])
    for budget in (b for b in N_PAIRS if data.has_classes and (not quick or b <= 10)):
        add("pairs", budget, [told_pairs(budget, draw) for draw in range(draws)])
    return rows


class Results:
    """Values over sizes by (set, what was told, budget, method)."""

    def __init__(self, rows: Sequence[Mapping[str, str]]):
        self.values: dict[tuple[str, str, int, str], list[float]] = {}
        for row in rows:
            sizes = [float(row[column]) for column in ("first", "second", "third") if row[column]]
            self.values[row["set"], row["told"], int(row["budget"]), row["method"]] = sizes
        self.sets = list(dict.fromkeys(row["set"] for row in rows))

    def budgets(self, told: str) -> list[int]:
        """All budgets that at least two sets have."""
        found = {(name, budget) for name, what, budget, _ in self.values if what == told}
        return sorted({b for _, b in found if sum(b == budget for _, budget in found) > 1})

    def known(self, told: str, methods: Sequence[str], budgets: Sequence[int]) -> list[str]:
        """Those of the methods that some set has a value of: peers may be left out."""
        here = {method for _, what, budget, method in self.values if what == told and budget in budgets}
        return [method for method in methods if method in here]

    def slice(self, told: str, budgets: Sequence[int], methods: Sequence[str], block: str = "") -> dict[str, Any]:
        """A value per method and set, mean over numbers of features and the budgets that it has for all methods."""
        rows = {}
        for name in (name for name in self.sets if block in ("", SOURCES[name]["block"])):
            cells = [[self.values.get((name, told, budget, m)) for m in methods] for budget in budgets]
            cells = [cell for cell in cells if None not in cell]
            if cells:
                rows[name] = np.mean([[np.mean(v) for v in cell] for cell in cells], axis=0)
        table = np.array(list(rows.values())).reshape(len(rows), len(methods))
        return dict(zip(methods, table.T, strict=True))


def score(found: Duel) -> str:
    """Gain, data sets better : worse, Wilcoxon's p."""
    gain, p = share(abs(found.gain)), "< .001" if found.p_value < 0.001 else f"= {share(found.p_value)}"
    sign = "±" if float(gain) == 0.0 else "+" if found.gain > 0 else "−"
    return f"{sign}{gain}, {found.won}:{found.lost} (p {p})"


def pruned(methods: Sequence[str]) -> list[str]:
    return [f"{method} pruned" for method in methods]


def span(budgets: Sequence[int]) -> str:
    return str(budgets[0]) if len(budgets) == 1 else f"{budgets[0]} to {budgets[-1]}"


BLOCKS = {"study": "study", "held-out": "held-out", "together": ""}


def gains(r: Results, told: str, groups: Mapping[str, Sequence[int]], rivals: Sequence[str]) -> Any:
    """``subset`` over every rival, in each block and each group of budgets."""
    parts = {f"{t}{b}": r.slice(told, g, ["subset", *rivals], k) for t, g in groups.items() for b, k in BLOCKS.items()}
    parts = {title: part for title, part in parts.items() if len(part["subset"]) > 1}
    header = ["subset over", *(f"{title}, {len(part['subset'])} sets" for title, part in parts.items())]
    return header, [[rival, *(score(duel(part["subset"], part[rival])) for part in parts.values())] for rival in rivals]


def values(r: Results, told: str, methods: Sequence[str], unit: str) -> Any:
    """Mean value of every method at each budget."""
    budgets = r.budgets(told)
    parts = [r.slice(told, [b], r.known(told, methods, [b])) for b in budgets]
    rows = [[m, *(share(abs(p[m].mean())) if m in p else "–" for p in parts)] for m in methods]
    return ["method", *(f"{b} {unit}" for b in budgets)], [
        *rows,
        ["sets", *(str(len(part["subset"])) for part in parts)],
    ]


def tables(r: Results) -> Found:
    found: Found = {}
    for told, unit, ours, peers, split in (
        ("labels", "per class", list(LABELS), [*WITH_CLASSES], 3),
        ("targets", "targets", list(TARGETS), [*WITH_TARGETS], None),
    ):
        budgets = r.budgets(told)
        if not budgets:
            continue
        rivals = r.known(told, [*peers, *pruned(ours), *ours], budgets)
        around = [UNTOLD, *r.known(told, ["cur", "variance pruned"], budgets), "random"]
        groups = {"": budgets}
        if split:
            halves = [b for b in budgets if 1 < b <= split], [b for b in budgets if b > split]
            groups = {f"{span(half)} {unit}: ": half for half in halves if half}
        found[f"{told}-values"] = values(r, told, ["subset", *around, *rivals, "all"], unit)
        found[f"{told}-gains"] = gains(r, told, groups, [*around, *(m for m in rivals if m not in ours), "all"])
    if pairs := r.budgets("pairs"):
        linked = [*pruned(list(PAIRS)), *list(PAIRS)[:4], "variance pruned", "random"]
        halves = [b for b in pairs if b <= 20], [b for b in pairs if b > 20]
        groups = {f"{span(half)} pairs: ": half for half in halves if half}
        found["pairs-values"] = values(r, "pairs", ["subset", UNTOLD, "subset, labels", *linked, "all"], "pairs")
        found["pairs-gains"] = gains(r, "pairs", groups, [UNTOLD, *(m for m in linked if m not in PAIRS)])
    return found


def methods(options: Options) -> Found:
    """Every question on every data set."""
    sets = names(options.quick)
    measure = partial(on_set, quick=options.quick)
    rows = options.rows("study", "set;told;budget;method;first;second;third", measure, [(name,) for name in sets])
    about = []
    for data in (load(name) for name in sets):
        source, sizes = SOURCES[data.name], ", ".join(map(str, data.sizes))
        told = int(data.y.max()) + 1 if data.has_classes else "real target"
        about.append(
            [
                data.name,
                source["block"],
                data.kind,
                *data.X.shape,
                told,
                sizes,
                source["about"],
                source["relative"] or "–",
            ]
        )
    header = ["set", "block", "kind", "rows", "features", "classes", "numbers of features", "about", "rows shared with"]
    return tables(Results(rows)) | {"sets": (header, about)}


EXPERIMENTS = (methods,)

if __name__ == "__main__":
    main("study", EXPERIMENTS)
