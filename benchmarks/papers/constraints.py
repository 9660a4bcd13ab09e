"""[KA] Kalakech, Biela, Macaire, Hamad 2011, constraint scores: how they agree between draws and how they classify.

Features are scaled to [0, 1] first ([KA] 7.1). A training set and the graph on it are made once; a run draws pairs from
the training labels, half of them must-link and half cannot-link, and all four scores see the same ones (7.2.1).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.metrics.pairwise import euclidean_distances

from fiedler import RBF, ConstraintScore, Criterion, FisherScore, Graph, LaplacianScore, Variance, pairs_from_labels
from fiedler.datasets import constraint_toy
from fiedler.evaluate import kendall_coefficient, rank_sums, top_k_overlap
from fiedler.evaluate.curves import whole_seed
from fiedler.selection.ranking import rank_features

from .. import data
from ..pages import load, number, table
from .common import HERE, Curve, Finding, Report, in_parallel, listed, printed

SCORES = ("C1", "C2", "C3", "C4")
BASELINES = ("random", "variance", "Laplacian", "Fisher")
WIDTH = 0.25  # t in median distances: the default graph of ConstraintScore(4)
WIDTHS = (0.1, 0.15, 0.25, 0.5, 1.0)
PROBE = 10  # constraints where widths, shuffled factors and scales are looked at
MUST, CANNOT = ("AB", "AC", "BC"), ("AD", "BD", "CD")  # pairs of the toy example
COMPARABLE = 0.02  # accuracy that "comparable" may cost
_PAIRS, _HALVES, _SHUFFLES, _RANDOM = range(4)  # what a seed is for


@dataclass(frozen=True)
class PaperSet:
    """One of the paper's data sets, and what its tables and figures read of it."""

    name: str
    title: str
    kept: int  # features of its rank sums
    step: int  # of its accuracy curve
    counts: tuple[int, ...]  # of constraints, in the figures
    table_counts: tuple[int, ...]
    curve_count: int  # constraints of its accuracy curve
    top: int  # features whose choice is compared between runs


_FEW, _MANY = (4, 10, 20, 30, 40), (4, 10, 20, 30, 40, 50, 60)
WINE, SEGMENT, VEHICLE, ORL, COLON, LEUKEMIA = SETS = (
    PaperSet("wine", "Wine", 6, 1, _FEW, (4, 10, 40), 10, 6),
    PaperSet("segment210", "Image segmentation", 5, 1, _FEW, (4, 10, 40), 10, 5),
    PaperSet("vehicle", "Vehicle", 8, 1, _FEW, (4, 10, 40), 10, 8),
    PaperSet("ORL", "ORL", 300, 25, _FEW, (4, 10, 40), 10, 20),
    PaperSet("colon_alon", "Colon Cancer", 1000, 50, _MANY, (4, 10, 40, 60), 60, 20),
    PaperSet("leukemia_5147", "Leukemia", 2573, 100, _MANY, (4, 10, 40, 60), 60, 20),
)


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test rows, and the graph of the Laplacian score on the training rows."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    graph: Graph

    def criteria(self) -> list[Criterion]:
        return [ConstraintScore(variant, graph=self.graph) for variant in (1, 2, 3, 4)]

    def draws(self, n_pairs: int, n_runs: int, seed: int) -> list[dict[str, np.ndarray]]:
        drawn = [pairs_from_labels(self.y, n_pairs, whole_seed([seed, _PAIRS, n_pairs, q])) for q in range(n_runs)]
        return [{"must_link": must, "cannot_link": cannot} for must, cannot in drawn]


@dataclass(frozen=True, eq=False)
class Cell:
    """C1 to C4 at one number of constraints, over all runs."""

    kendall: np.ndarray  # (scores,)
    overlap: np.ndarray  # (scores,) of the first features, Kuncheva's index
    likes_small: np.ndarray  # (scores,) rank correlation with "the smallest variance first"
    sizes: list[int]
    accuracy: np.ndarray  # (scores, runs, sizes)

    def at(self, size: int) -> np.ndarray:
        """Accuracies (runs, scores) with the given number of features."""
        return self.accuracy[:, :, self.sizes.index(size)].T


def split_halves(paper_set: PaperSet, half: int = 0, seed: int = 0) -> Split:
    """Half of each class for training: the first rows of each for half 0, a random choice for the others."""
    X, y, _ = data.paper_set(paper_set.name)
    X, y = to_unit(X), np.unique(y, return_inverse=True)[1]
    info = data.paper_set_info(paper_set.name)
    train = np.zeros(len(y), dtype=bool)
    if "train" in info:  # Leukemia comes with its own partition
        train[:] = info["train"]
    else:
        rng = np.random.default_rng([seed, _HALVES, half])
        for label in np.unique(y):
            rows = np.flatnonzero(y == label)
            rows = rows if half == 0 else rng.permutation(rows)
            train[rows[: (len(rows) + 1) // 2]] = True
    return Split(X[train], y[train], X[~train], y[~train], RBF(scale=WIDTH).build(X[train]))


def to_unit(X: np.ndarray) -> np.ndarray:
    """Every feature scaled to [0, 1]; a constant one becomes 0."""
    span = np.ptp(X, axis=0)
    return (X - X.min(axis=0)) / np.where(span > 0, span, 1.0)


def curve_sizes(paper_set: PaperSet, n_features: int) -> list[int]:
    return sorted({*range(paper_set.step, n_features, paper_set.step), paper_set.kept, n_features})


def run_cell(split: Split, n_pairs: int, n_runs: int, sizes: list[int], top: int, seed: int) -> Cell:
    """All four scores on the same draws of pairs."""
    draws, variance = split.draws(n_pairs, n_runs, seed), Variance().evaluate(split.X)
    scores = [np.array([criterion.evaluate(split.X, **draw) for draw in draws]) for criterion in split.criteria()]
    orders = [np.array([rank_features(run, False) for run in runs]) for runs in scores]
    return Cell(
        np.array([kendall(runs) for runs in scores]),
        np.array([top_k_overlap(order, top) for order in orders]),
        np.array([np.mean([_spearman(run, variance) for run in runs]) for runs in scores]),
        sizes,
        np.array([[nearest_accuracy(split, run, sizes) for run in order] for order in orders]),
    )


def run_baselines(split: Split, n_runs: int, sizes: list[int], seed: int) -> dict[str, np.ndarray]:
    """Mean accuracy at every size without constraints: random features, no labels, all training labels."""
    m, rng = split.X.shape[1], np.random.default_rng([seed, _RANDOM])
    found = {"random": np.mean([nearest_accuracy(split, rng.permutation(m), sizes) for _ in range(n_runs)], axis=0)}
    criteria = {"variance": Variance(), "Laplacian": LaplacianScore(split.graph), "Fisher": FisherScore()}
    for name, criterion in criteria.items():
        scores = criterion.evaluate(split.X, split.y if criterion.reads else None)
        found[name] = nearest_accuracy(split, rank_features(scores, criterion.greater_is_better), sizes)
    return found


def nearest_accuracy(split: Split, order: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """1-NN accuracy on the test rows with the first k features of a ranking, for increasing k.

    Training rows that are equally near count by the share of them in the right class, so that the order of the rows
    does not matter; integer features tie often. Distances are added up from one size to the next.
    """
    squared = np.zeros((len(split.y_test), len(split.y)))
    right = split.y_test[:, None] == split.y
    accuracy = []
    for start, stop in zip([0, *sizes[:-1]], sizes, strict=True):
        added = order[start:stop]
        squared += euclidean_distances(split.X_test[:, added], split.X[:, added], squared=True)
        near = squared <= squared.min(axis=1, keepdims=True) + 1e-12  # above the rounding of the sums
        accuracy.append(np.mean((near & right).sum(axis=1) / near.sum(axis=1)))
    return np.round(accuracy, 12)  # equal choices of features are equal, whatever their order


def kendall(scores: np.ndarray) -> float:
    """Kendall's coefficient of the rankings that several runs give; features without a score tie in the last place."""
    return kendall_coefficient([rankdata(np.unique(run, return_inverse=True)[1]) for run in scores])


# ------------------------------------------------------------------------------ what Kendall's coefficient measures


def run_widths(split: Split, n_pairs: int, n_runs: int, seed: int) -> np.ndarray:
    """Kendall's coefficient of C4 = LS x C1 ([KA] eq. 14) at every one of ``WIDTHS``."""
    c1 = _c1(split, n_pairs, n_runs, seed)
    return np.array([kendall(c1 * LaplacianScore(RBF(scale=width)).evaluate(split.X)) for width in WIDTHS])


def describe_widths(split: Split) -> np.ndarray:
    """At every one of ``WIDTHS``: the spread of log LS over the features, and the weight of other rows in a degree."""
    graphs = [RBF(scale=width).build(split.X) for width in WIDTHS]
    spread = [np.nanstd(np.log(LaplacianScore(graph).evaluate(split.X))) for graph in graphs]
    return np.array([spread, [np.mean(1.0 - 1.0 / graph.degree) for graph in graphs]])  # a self loop weighs 1


def run_shuffled(split: Split, n_pairs: int, n_runs: int, n_shuffles: int, top: int, seed: int) -> tuple[float, float]:
    """Kendall's coefficient and overlap of C1 times a Laplacian score whose values went to the wrong features."""
    c1, rng = _c1(split, n_pairs, n_runs, seed), np.random.default_rng([seed, _SHUFFLES])
    laplacian = LaplacianScore(split.graph).evaluate(split.X)
    scored = np.flatnonzero(~np.isnan(laplacian))
    agreement = []
    for _ in range(n_shuffles):
        factor = laplacian.copy()
        factor[scored] = laplacian[rng.permutation(scored)]
        orders = np.array([rank_features(run, False) for run in c1 * factor])
        agreement.append((kendall(c1 * factor), top_k_overlap(orders, top)))
    return tuple(np.mean(agreement, axis=0).tolist())


def _c1(split: Split, n_pairs: int, n_runs: int, seed: int) -> np.ndarray:
    return np.array([ConstraintScore(1).evaluate(split.X, **draw) for draw in split.draws(n_pairs, n_runs, seed)])


@dataclass(frozen=True, eq=False)
class Rescaling:
    """Kendall's coefficient, and rank correlation with the run on [0, 1], after the features are rescaled."""

    kendall: np.ndarray  # (scores,)
    same_ranks: np.ndarray  # (scores,)


def run_rescaling(split: Split, factor: np.ndarray, n_pairs: int, n_runs: int, seed: int) -> Rescaling:
    """C1, C2, C4 on features multiplied by a factor each, with the graph of the features in [0, 1]."""
    draws, rescaled = split.draws(n_pairs, n_runs, seed), split.X * factor
    agreement, correlation = [], []
    for criterion in (ConstraintScore(1), ConstraintScore(2), ConstraintScore(4, graph=split.graph)):
        before, after = (
            np.array([np.round(criterion.evaluate(X, **draw), 12) for draw in draws]) for X in (split.X, rescaled)
        )
        agreement.append(kendall(after))
        correlation.append(np.mean([_spearman(a, b) for a, b in zip(before, after, strict=True)]))
    return Rescaling(np.array(agreement), np.array(correlation))


def _spearman(a: np.ndarray, b: np.ndarray) -> float:
    ranks = [rankdata(np.unique(scores, return_inverse=True)[1]) for scores in (a, b)]
    return float(np.corrcoef(ranks)[0, 1])


# ------------------------------------------------------------------------------------------- all data sets, all cores


@dataclass(frozen=True)
class Effort:
    """How much is run."""

    n_runs: int = 100
    n_runs_on_wine: int = 100  # cheap, and 8 are too few to tell K4 from K3 at 4 constraints
    n_random_halves: int = 5  # besides the first half of each class
    n_shuffles: int = 10
    all_counts: bool = True  # or those of the tables only

    def counts(self, paper_set: PaperSet) -> tuple[int, ...]:
        return paper_set.counts if self.all_counts else paper_set.table_counts


QUICK = Effort(n_runs=8, n_runs_on_wine=100, n_random_halves=0, n_shuffles=3, all_counts=False)


@dataclass(frozen=True, eq=False)
class Results:
    """Everything computed, by data set; cells also by half (0 is the first) and number of constraints."""

    effort: Effort
    cells: dict[tuple[PaperSet, int, int], Cell] = field(default_factory=dict)
    baselines: dict[PaperSet, dict[str, np.ndarray]] = field(default_factory=dict)
    widths: dict[tuple[PaperSet, int], np.ndarray] = field(default_factory=dict)
    width_facts: dict[PaperSet, np.ndarray] = field(default_factory=dict)
    shuffled: dict[PaperSet, tuple[float, float]] = field(default_factory=dict)
    rescaled: dict[tuple[PaperSet, str], Rescaling] = field(default_factory=dict)

    def kendall(self, paper_set: PaperSet) -> np.ndarray:
        """Coefficients (counts, scores) on the first half."""
        return np.array([self.cells[paper_set, 0, n].kendall for n in self.effort.counts(paper_set)])

    def curves(self, paper_set: PaperSet) -> tuple[list[int], dict[str, np.ndarray]]:
        """Numbers of features, and the mean accuracy of every score and baseline there."""
        cell = self.cells[paper_set, 0, paper_set.curve_count]
        return cell.sizes, dict(zip(SCORES, cell.accuracy.mean(axis=1), strict=True)) | self.baselines[paper_set]

    def curve_means(self, paper_set: PaperSet) -> dict[str, float]:
        """Accuracy averaged over the numbers of features short of all of them."""
        return {name: float(curve[:-1].mean()) for name, curve in self.curves(paper_set)[1].items()}


def compute(effort: Effort, n_jobs: int, seed: int) -> Results:
    """Every cell, over all cores, one data set after the other."""
    results = Results(effort)
    for paper_set in SETS:
        jobs = _jobs(results, paper_set, seed)
        found = in_parallel(f"constraints: {paper_set.title}", n_jobs, partial.__call__, [(job,) for *_, job in jobs])
        for (store, key, _), result in zip(jobs, found, strict=True):
            store[key] = result
    return results


def _jobs(results: Results, paper_set: PaperSet, seed: int) -> list[tuple[dict, object, partial]]:
    """What to compute for one data set, and where it goes; the longest first."""
    effort, first, top = results.effort, split_halves(paper_set), paper_set.top
    sizes = curve_sizes(paper_set, first.X.shape[1])
    n_runs = effort.n_runs_on_wine if paper_set is WINE else effort.n_runs
    jobs = []
    for n in sorted(effort.counts(paper_set), key=lambda n: n != paper_set.curve_count):
        wanted = sizes if n == paper_set.curve_count else [paper_set.kept]
        jobs.append((results.cells, (paper_set, 0, n), partial(run_cell, first, n, n_runs, wanted, top, seed)))
        jobs.append((results.widths, (paper_set, n), partial(run_widths, first, n, n_runs, seed)))
    jobs.append((results.baselines, paper_set, partial(run_baselines, first, n_runs, sizes, seed)))
    jobs.append((results.width_facts, paper_set, partial(describe_widths, first)))
    shuffled = partial(run_shuffled, first, PROBE, n_runs, effort.n_shuffles, top, seed)
    jobs.append((results.shuffled, paper_set, shuffled))
    for name, factor in _scales(paper_set, first).items():
        jobs.append((results.rescaled, (paper_set, name), partial(run_rescaling, first, factor, PROBE, n_runs, seed)))
    if paper_set is not LEUKEMIA:  # it has one partition
        for half, n in itertools.product(range(1, effort.n_random_halves + 1), paper_set.table_counts):
            split = split_halves(paper_set, half, seed)
            job = partial(run_cell, split, n, n_runs, [paper_set.kept], top, seed)
            jobs.append((results.cells, (paper_set, half, n), job))
    return jobs


def _scales(paper_set: PaperSet, split: Split) -> dict[str, np.ndarray]:
    """Factors that take features in [0, 1] back to their own units, or to unit variance."""
    span, deviation = np.ptp(data.paper_set(paper_set.name)[0], axis=0), split.X.std(axis=0)
    return {"own units": span, "unit variance": 1.0 / np.where(deviation > 0, deviation, 1.0)}


# -------------------------------------------------------------------- Table 1


def toy_ranks() -> dict[str, np.ndarray]:
    """Ranks of the three features by every score, in each cell of the toy example's table."""
    X, found = constraint_toy()[0], {}
    for cannot, score in itertools.product(CANNOT, SCORES):
        criterion = ConstraintScore(SCORES.index(score) + 1, n_neighbors=2)
        links = [[["ABCD".index(sample) for sample in pair] for pair in (must, cannot)] for must in MUST]
        scores = [criterion.evaluate(X, must_link=[must], cannot_link=[link]) for must, link in links]
        found[f"{cannot}, {score}"] = np.array([rankdata(np.round(values, 12)) for values in scores])
    return found


def order(ranks: np.ndarray) -> str:
    """Such as "f3=f1, f2", the third feature first among equals as in the paper."""
    groups = [[f for f in (3, 1, 2) if ranks[f - 1] == rank] for rank in np.unique(ranks)]
    return ", ".join("=".join(f"f{f}" for f in group) for group in groups)


def on_toy() -> tuple[dict[str, tuple], dict[str, Finding]]:
    ranks = toy_ranks()
    rows = [[name, *map(order, cells)] for name, cells in ranks.items()]
    of_score = {s: np.concatenate([cells for name, cells in ranks.items() if name.endswith(s)]) for s in SCORES}
    coefficients = np.array([kendall_coefficient(found) for found in of_score.values()])
    cells = np.equal(rows, load(HERE / "printed" / "constraints-table-1.csv")[1:])[:, 1:]
    error = np.abs(coefficients - printed("constraints-toy")["Kendall's coefficient"]).max()
    missed = [int((found[:, 2] > found.min(axis=1)).sum()) for found in of_score.values()]
    different = len({tuple(row) for found in of_score.values() for row in found.tolist()})
    tables = {
        "table-1": (["cannot-link", *(f"must-link {must}" for must in MUST)], rows),
        "toy": (
            ["toy example", *(f"K of {score}" for score in SCORES)],
            [["Kendall's coefficient", *(number(k, 4) for k in coefficients)]],
        ),
    }
    return tables, {
        "toy-cells": (bool(cells.all()), f"{cells.sum()} of {cells.size} cells are the same"),
        "toy-kendall": (bool(error < 6e-5), f"largest difference {error:.5f}"),
        "toy-third-feature": (missed == [0, 3, 3, 0] and different == 7, f"not first {listed(missed, '')} times"),
    }


# -------------------------------------------------------------------- tables, findings, figures


def run(quick: bool, n_jobs: int, seed: int = 0) -> Report:
    toy, on_toy_findings = on_toy()
    results = compute(QUICK if quick else Effort(), n_jobs, seed)
    return Report(toy | tables(results), on_toy_findings | findings(results), {} if quick else figures(results))


def tables(r: Results) -> dict[str, tuple]:
    columns, scales, widths = [*SCORES, "shuffled C4"], ("own units", "unit variance"), [f"t = {w:g}" for w in WIDTHS]
    probe = {s: r.cells[s, 0, PROBE] for s in SETS}
    agreement, by_width, scaled = {}, {}, {}
    for s, cell in probe.items():
        shuffled, both = r.shuffled[s], [r.rescaled[s, scale] for scale in scales]
        agreement[f"{s.title} (k = {s.top})"] = [*cell.kendall, shuffled[0], *cell.overlap, shuffled[1]]
        by_width[s.title] = [*r.widths[s, PROBE], cell.kendall[:3].max()]
        same = np.array([found.same_ranks for found in both])
        k2 = [cell.kendall[1], *(found.kendall[1] for found in both)]
        scaled[s.title] = [*k2, *same[:, 1], same[:, [0, 2]].min(), cell.likes_small[1]]
    of_scale = [*(f"K2, {scale}" for scale in ("[0, 1]", *scales)), *(f"same ranks, C2, {scale}" for scale in scales)]
    spread = {s.title: [f"{a:.2f} ({b:.3f})" for a, b in r.width_facts[s].T] for s in SETS}
    found = {
        "kendall": table("data set", [f"{what}, {c}" for what in ("K", "overlap") for c in columns], agreement),
        "widths": table("data set", [*widths, "best of K1 to K3"], by_width),
        "spread": table("data set", widths, spread),
        "scale": table("data set", [*of_scale, "same ranks, C1 and C4, both", "C2 and small variance"], scaled),
    }
    for name, sets in (("figure-3", SETS[:4]), ("figure-5", SETS[4:])):
        found[name] = ["data set", *SCORES, *BASELINES, "all"], [accuracy_row(r, s) for s in sets]
    for name, sets in (("tables-2-to-5", SETS[:4]), ("table-6", (COLON,)), ("table-7", (LEUKEMIA,))):
        found[name] = table("rank sum", [f"T of {score}" for score in SCORES], sums_of_ranks(r, sets))
    return found


def accuracy_row(r: Results, s: PaperSet) -> list[str]:
    """Mean accuracy over the curve and, in brackets, with the features of the rank sums."""
    sizes, curves = r.curves(s)
    at, means = sizes.index(s.kept), r.curve_means(s)
    cells = [f"{means[name]:.3f} ({curve[at]:.3f})" for name, curve in curves.items()]
    return [f"{s.title} ({s.kept})", *cells, number(curves["Fisher"][-1])]


def sums_of_ranks(r: Results, sets: Iterable[PaperSet]) -> dict[str, list[int]]:
    rows = [(s, n) for s in sets for n in s.table_counts]
    return {f"{s.title}, {n} constraints": rank_sums(r.cells[s, 0, n].at(s.kept)).tolist() for s, n in rows}


def findings(r: Results) -> dict[str, Finding]:
    found: dict[str, Finding] = {}
    kendall = {s: r.kendall(s) for s in SETS}
    means = {s: r.curve_means(s) for s in SETS}
    lead = {s: k[:, 3] - k[:, :3].max(axis=1) for s, k in kendall.items()}
    for s in SETS:
        gaps = f"K4 less the best other, at {listed(r.effort.counts(s), '')} constraints: {listed(lead[s], '+.3f')}"
        found[f"kendall-{s.name}"] = bool((lead[s] > 0).all()), gaps
        scores = [means[s][score] for score in SCORES]
        between = all(means[s]["Laplacian"] <= value <= means[s]["Fisher"] for value in scores)
        found[f"between-{s.name}"] = between, listed(means[s])
    rise = {f"K{v + 1} on {s.title}": k[-1, v] - k[0, v] for s, k in kendall.items() for v in range(4)}
    falling = {name: change for name, change in rise.items() if change <= 0}
    found["kendall-rises"] = (
        not falling,
        f"{len(rise) - len(falling)} of {len(rise)} curves rise; {listed(falling, '+.3f')}",
    )
    average = {s.title: kendall[s].mean(axis=0) for s in SETS[:4]}
    told = "; ".join(f"{title} {listed(values)}" for title, values in average.items())
    found["kendall-orl"] = all(np.all(average["ORL"] < average[s.title]) for s in SETS[:3]), told
    gap = {s.title: float(lead[s].mean()) for s in SETS}
    genes = [gap[s.title] for s in SETS[4:]]
    found["kendall-gap"] = min(genes) > max(gap[s.title] for s in SETS[:4]), listed(gap, "+.3f")
    for key, name, sets, least in (
        ("four", "tables-2-to-5", SETS[:4], 6),
        ("colon_alon", "table-6", (COLON,), 3),
        ("leukemia_5147", "table-7", (LEUKEMIA,), 4),
    ):
        ours, theirs = (list(rows.values()) for rows in (sums_of_ranks(r, sets), printed(f"constraints-{name}")))
        won = [int(np.sum(np.argmin(ours, axis=1) == v)) for v in range(4)]
        same = int(np.sum(np.argmin(ours, axis=1) == np.argmin(theirs, axis=1)))
        halves = [int(np.argmin(rank_sums(c.at(s.kept)))) for (s, half, _), c in r.cells.items() if half and s in sets]
        told = f"C1 to C4 in {listed(won, '')}; the printed winner wins in {same}; on random halves "
        found[f"ranks-{key}"] = won[3] >= least, told + listed([halves.count(v) for v in range(4)], "")
        accuracy = {f"{s.title} {n}": r.cells[s, 0, n].at(s.kept).mean(axis=0) for s in sets for n in s.table_counts}
        behind = {at: values[:3].max() - values[3] for at, values in accuracy.items()}
        found[f"comparable-{key}"] = max(behind.values()) <= COMPARABLE, listed(behind, "+.3f")
    return found | _on_figures_5_and_6(r, means) | _ours(r)


def _on_figures_5_and_6(r: Results, means: dict[PaperSet, dict[str, float]]) -> dict[str, Finding]:
    found: dict[str, Finding] = {}
    sizes, curves = r.curves(COLON)
    late = [at for at, size in enumerate(sizes[:-1]) if size > 1050]
    there = {name: float(curves[name][late].mean()) for name in (*SCORES, "Fisher")}
    found["fisher-colon"] = min(there[score] for score in SCORES) > there["Fisher"], listed(there)
    told = "; ".join(f"{s.title} {listed({m: means[s][m] for m in ('random', *SCORES)})}" for s in SETS)
    blind = all(means[s]["random"] > max(means[s][score] for score in SCORES) for s in (ORL, LEUKEMIA))
    found["random"] = blind, told
    for s in SETS[4:]:
        by_count = np.array([r.cells[s, 0, n].at(s.kept).mean(axis=0) for n in r.effort.counts(s)])
        first = int(np.sum(by_count[:, 3] >= by_count.max(axis=1)))
        told = f"at {first} of {len(by_count)}; means of C1 to C4 {listed(by_count.mean(axis=0))}"
        found[f"count-{s.name}"] = first >= len(by_count) - 1, told
    return found


def _ours(r: Results) -> dict[str, Finding]:
    """What the paper's conclusions rest on: a factor that never changes, a width that is not printed, a scale."""
    probe = {s: r.cells[s, 0, PROBE] for s in SETS}
    kept = {s.title: (r.shuffled[s][0] - c.kendall[0]) / (c.kendall[3] - c.kendall[0]) for s, c in probe.items()}
    colon = probe[COLON]
    agrees = colon.kendall[3] > 1.5 * colon.kendall[0] and colon.overlap[3] - colon.overlap[0] < 0.05
    highest: dict[str, list[str]] = {f"t = {width:g}": [] for width in WIDTHS}
    for s in SETS:
        k4 = np.array([r.widths[s, n] for n in r.effort.counts(s)])
        above = (k4 > r.kendall(s)[:, :3].max(axis=1, keepdims=True)).all(axis=0)
        for titles, is_highest in zip(highest.values(), above, strict=True):
            titles += [s.title] * bool(is_highest)
    same = np.array([found.same_ranks for found in r.rescaled.values()])
    ends = {"C1 at least": same[:, 0].min(), "C4 at least": same[:, 2].min(), "C2 at most": same[:, 1].max()}
    return {
        "kendall-factor": (all(r.shuffled[s][0] > c.kendall[0] for s, c in probe.items()), listed(kept, ".0%")),
        "kendall-colon": (
            bool(agrees),
            f"K1, K4 {listed(colon.kendall[[0, 3]])}; overlap {listed(colon.overlap[[0, 3]])}",
        ),
        "kendall-width": (
            len({tuple(titles) for titles in highest.values()}) > 1,
            "; ".join(f"{width} on {', '.join(titles) or 'no set'}" for width, titles in highest.items()),
        ),
        "c2-scale": (bool(same[:, [0, 2]].min() > 1 - 1e-9 and same[:, 1].max() < 0.999), listed(ends, ".4f")),
    }


def figures(r: Results) -> dict[str, list[Curve]]:
    found: dict[str, Any] = {f"figure-{n}": [] for n in range(2, 7)}
    for place, s in enumerate(SETS):
        counts, sizes, curves = r.effort.counts(s), *r.curves(s)
        found["figure-2" if place < 4 else "figure-4"] += [
            (s.title, score, counts, r.kendall(s)[:, v]) for v, score in enumerate(SCORES)
        ]
        found["figure-3" if place < 4 else "figure-5"] += [(s.title, name, sizes, y) for name, y in curves.items()]
        if place >= 4:
            means = np.array([r.cells[s, 0, n].at(s.kept).mean(axis=0) for n in counts])
            level = {name: curves[name][sizes.index(s.kept)] for name in BASELINES}
            found["figure-6"] += [(s.title, score, counts, means[:, v]) for v, score in enumerate(SCORES)]
            found["figure-6"] += [(s.title, name, counts, [value] * len(counts)) for name, value in level.items()]
    return found
