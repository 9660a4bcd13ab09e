"""Runs of the constraint scores: one draw of pairs, four rankings, their agreement and their 1-NN accuracy.

Features are scaled to [0, 1] first ([KA] 7.1). A training set and the graph on it are made once; a run draws pairs from
the training labels, half of them must-link and half cannot-link, and all four scores see the same ones (7.2.1).
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import joblib
import numpy as np
from scipy.stats import rankdata
from sklearn.metrics.pairwise import euclidean_distances

from fiedler import RBF, ConstraintScore, Criterion, FisherScore, Graph, LaplacianScore, Variance, pairs_from_labels
from fiedler.evaluate import kendall_coefficient, top_k_overlap
from fiedler.evaluate.curves import whole_seed
from fiedler.selection.ranking import rank_features

from .. import data

SCORES = ("C1", "C2", "C3", "C4")
BASELINES = ("random", "variance", "Laplacian", "Fisher")
WIDTH = 0.25  # t in median distances: the default graph of ConstraintScore(4)
WIDTHS = (0.1, 0.15, 0.25, 0.5, 1.0)
PROBE = 10  # constraints where widths, shuffled factors and scales are looked at
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
        """Accuracies (runs, scores) with so many features."""
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
    with joblib.parallel_config("loky", n_jobs=n_jobs, inner_max_num_threads=1):
        for paper_set in SETS:
            jobs = _jobs(results, paper_set, seed)
            found = joblib.Parallel()(joblib.delayed(job)() for _, _, job in jobs)
            for (store, key, _), result in zip(jobs, found, strict=True):
                store[key] = result
            print(f"constraints: {paper_set.title} done", file=sys.stderr, flush=True)
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
