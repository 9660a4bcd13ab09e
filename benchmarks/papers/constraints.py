"""[KA] Kalakech, Biela, Macaire, Hamad 2011, constraint scores: how they agree between draws and how they classify.

Features are scaled to [0, 1] first ([KA] 7.1). A training set and the graph on it are made once; a run draws pairs from
the training labels, half of them must-link and half cannot-link, and all four scores see the same ones (7.2.1). Rank
sums and accuracies are read again with a tolerance for chance, and K4 on a narrower graph, on which few pairs of rows
hold most of the weight. What Kendall's coefficient measures (widths, shuffled factors, other scales) was asked once;
its tables are on record.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata
from sklearn.metrics.pairwise import euclidean_distances

import fiedler as fd
from fiedler import RBF, ConstraintScore, LaplacianScore
from fiedler.criteria.order import rank_features
from fiedler.datasets import constraint_toy
from fiedler.evaluate import kendall_coefficient, rank_sums
from fiedler.evaluate.held_out import whole_seed

from .. import data
from ..pages import PRINTED, load, number, table
from ..runner import Found, Options
from ..sets import unit_range
from .common import Curve, Finding, each, found, listed, printed

SCORES, BASELINES = ("C1", "C2", "C3", "C4"), ("random", "variance", "Laplacian", "Fisher")
WIDTH = 0.25  # t in median distances: the default graph of ConstraintScore(4)
NARROW = 0.1  # the width of the stated setting for K4
COMPARABLE = 0.02  # accuracy that "comparable" may cost
_PAIRS, _HALVES, _, _RANDOM = range(4)  # what a seed is for


class PaperSet(NamedTuple):
    """One of the paper's data sets, and what its tables and figures read of it."""

    name: str
    title: str
    kept: int  # features of its rank sums
    step: int  # of its accuracy curve
    counts: tuple[int, ...] = (4, 10, 20, 30, 40)  # of constraints, in the figures
    table_counts: tuple[int, ...] = (4, 10, 40)
    curve_count: int = 10  # constraints of its accuracy curve


_MANY = (4, 10, 20, 30, 40, 50, 60), (4, 10, 40, 60), 60
WINE, SEGMENT, VEHICLE, ORL, COLON, LEUKEMIA = SETS = (
    PaperSet("wine", "Wine", 6, 1),
    PaperSet("segment210", "Image segmentation", 5, 1),
    PaperSet("vehicle", "Vehicle", 8, 1),
    PaperSet("ORL", "ORL", 300, 25),
    PaperSet("colon_alon", "Colon Cancer", 1000, 50, *_MANY),
    PaperSet("leukemia_5147", "Leukemia", 2573, 100, *_MANY),
)


class Split(NamedTuple):
    """Training and test rows, and the graph of the Laplacian score on the training rows."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    graph: fd.Graph
    narrow: fd.Graph

    def draws(self, n_pairs: int, n_runs: int) -> list[dict[str, np.ndarray]]:
        seeds = [whole_seed([0, _PAIRS, n_pairs, q]) for q in range(n_runs)]
        drawn = [fd.pairs_from_labels(self.y, n_pairs, seed) for seed in seeds]
        return [{"must_link": must, "cannot_link": cannot} for must, cannot in drawn]


def split_halves(paper_set: PaperSet, half: int = 0) -> Split:
    """Half of each class for training: the first rows of each for half 0, a random choice for the others."""
    X, y, _ = data.paper_set(paper_set.name)
    X, y = unit_range(X), np.unique(y, return_inverse=True)[1]
    info, train = data.paper_set_info(paper_set.name), np.zeros(len(y), dtype=bool)
    if "train" in info:  # Leukemia comes with its own partition
        train[:] = info["train"]
    else:
        rng = np.random.default_rng([0, _HALVES, half])
        for label in np.unique(y):
            rows = np.flatnonzero(y == label)
            rows = rows if half == 0 else rng.permutation(rows)
            train[rows[: (len(rows) + 1) // 2]] = True
    graphs = [RBF(scale=width).build(X[train]) for width in (WIDTH, NARROW)]
    return Split(X[train], y[train], X[~train], y[~train], *graphs)


def run_cell(split: Split, n_pairs: int, n_runs: int, sizes: list[int]) -> dict[str, Any]:
    """All four scores on the same draws of pairs: how they agree, and accuracy (scores, runs, sizes)."""
    draws = split.draws(n_pairs, n_runs)
    criteria = [ConstraintScore(variant, graph=split.graph) for variant in (1, 2, 3, 4)]
    scores = [np.array([criterion.evaluate(split.X, **draw) for draw in draws]) for criterion in criteria]
    orders = [np.array([rank_features(run, False) for run in runs]) for runs in scores]
    return {
        "kendall": np.array([kendall(runs) for runs in scores]),
        "narrow": kendall(scores[0] * LaplacianScore(split.narrow).evaluate(split.X)),  # C4 is C1 times LS
        "sizes": sizes,
        "accuracy": np.array([[nearest_accuracy(split, run, sizes) for run in order] for order in orders]),
    }


def run_baselines(split: Split, n_runs: int, sizes: list[int]) -> dict[str, np.ndarray]:
    """Mean accuracy at every size without constraints: random features, no labels, all training labels."""
    m, rng = split.X.shape[1], np.random.default_rng([0, _RANDOM])
    made = {"random": np.mean([nearest_accuracy(split, rng.permutation(m), sizes) for _ in range(n_runs)], axis=0)}
    criteria = {"variance": fd.Variance(), "Laplacian": LaplacianScore(split.graph), "Fisher": fd.FisherScore()}
    for name, criterion in criteria.items():
        scores = criterion.evaluate(split.X, split.y if criterion.reads else None)
        made[name] = nearest_accuracy(split, rank_features(scores, criterion.greater_is_better), sizes)
    return made


def nearest_accuracy(split: Split, order: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """1-NN accuracy on the test rows with the first k features of a ranking, for increasing k.

    Training rows that are equally near count by the share of them in the right class, so that the order of the rows
    does not matter; integer features tie often. Distances are added up from one size to the next.
    """
    squared, right, accuracy = np.zeros((len(split.y_test), len(split.y))), split.y_test[:, None] == split.y, []
    for start, stop in zip([0, *sizes[:-1]], sizes, strict=True):
        added = order[start:stop]
        squared += euclidean_distances(split.X_test[:, added], split.X[:, added], squared=True)
        near = squared <= squared.min(axis=1, keepdims=True) + 1e-12  # above the rounding of the sums
        accuracy.append(np.mean((near & right).sum(axis=1) / near.sum(axis=1)))
    return np.round(accuracy, 12)  # equal choices of features are equal, whatever their order


def kendall(scores: np.ndarray) -> float:
    """Kendall's coefficient of the rankings that several runs give; features without a score tie in the last place."""
    return kendall_coefficient([rankdata(np.unique(run, return_inverse=True)[1]) for run in scores])


class Results:
    """Everything computed by data set; cells also by half (0 is the first) and number of constraints."""

    def __init__(self, options: Options) -> None:
        self.quick, self.options = options.quick, options
        self.cells, self.baselines = {}, {}
        for s in SETS:
            jobs = self._jobs(s)
            for (store, key, _), result in zip(
                jobs, options.map(partial.__call__, [(j,) for *_, j in jobs]), strict=True
            ):
                store[key] = result

    def counts(self, s: PaperSet) -> tuple[int, ...]:
        return s.table_counts if self.quick else s.counts

    def _jobs(self, s: PaperSet) -> list[tuple[dict, object, Callable]]:
        """What to compute for one data set, and where it goes; the longest first."""
        first, n_runs = split_halves(s), 8 if self.quick and s is not WINE else 100  # wine is cheap
        m = first.X.shape[1]
        sizes, jobs = sorted({*range(s.step, m, s.step), s.kept, m}), []
        for n in sorted(self.counts(s), key=lambda n: n != s.curve_count):
            wanted = sizes if n == s.curve_count else [s.kept]
            jobs.append((self.cells, (s, 0, n), partial(run_cell, first, n, n_runs, wanted)))
        jobs.append((self.baselines, s, partial(run_baselines, first, n_runs, sizes)))
        halves = range(0) if s is LEUKEMIA or self.quick else range(1, 6)  # Leukemia has one partition
        for half, n in itertools.product(halves, s.table_counts):
            job = partial(run_cell, split_halves(s, half), n, n_runs, [s.kept])
            jobs.append((self.cells, (s, half, n), job))
        return jobs

    def kendall(self, s: PaperSet) -> np.ndarray:
        """Coefficients (counts, scores) on the first half."""
        return np.array([self.cells[s, 0, n]["kendall"] for n in self.counts(s)])

    def narrow(self, s: PaperSet) -> np.ndarray:
        """K4 on the narrow graph, by count."""
        return np.array([self.cells[s, 0, n]["narrow"] for n in self.counts(s)])

    def at(self, s: PaperSet, n: int, half: int = 0) -> np.ndarray:
        """Accuracies (runs, scores) with the features of the rank sums."""
        cell = self.cells[s, half, n]
        return cell["accuracy"][:, :, cell["sizes"].index(s.kept)].T

    def curves(self, s: PaperSet) -> tuple[list[int], dict[str, np.ndarray]]:
        """Numbers of features, and the mean accuracy of every score and baseline there."""
        cell = self.cells[s, 0, s.curve_count]
        return cell["sizes"], dict(zip(SCORES, cell["accuracy"].mean(axis=1), strict=True)) | self.baselines[s]

    def curve_means(self, s: PaperSet) -> dict[str, float]:
        """Accuracy averaged over the numbers of features short of all of them."""
        return {name: float(curve[:-1].mean()) for name, curve in self.curves(s)[1].items()}

    def sums_of_ranks(self, sets: Iterable[PaperSet]) -> dict[str, list[int]]:
        rows = [(s, n) for s in sets for n in s.table_counts]
        return {f"{s.title}, {n} constraints": rank_sums(self.at(s, n)).tolist() for s, n in rows}


def on_toy() -> tuple[Found, dict[str, Finding]]:
    """Orders of the three features by every score, in each cell of the toy example's table; "f3=f1, f2" is a tie."""
    X, musts, ranks = constraint_toy()[0], ("AB", "AC", "BC"), {}
    for cannot, score in itertools.product(("AD", "BD", "CD"), SCORES):
        criterion = ConstraintScore(SCORES.index(score) + 1, n_neighbors=2)
        links = [[["ABCD".index(sample) for sample in pair] for pair in (must, cannot)] for must in musts]
        scores = [criterion.evaluate(X, must_link=[must], cannot_link=[link]) for must, link in links]
        ranks[f"{cannot}, {score}"] = np.array([rankdata(np.round(values, 12)) for values in scores])

    def order(of: np.ndarray) -> str:
        groups = [[f"f{f}" for f in (3, 1, 2) if of[f - 1] == rank] for rank in np.unique(of)]
        return ", ".join(map("=".join, groups))

    rows = [[name, *map(order, cells)] for name, cells in ranks.items()]
    of_score = {s: np.concatenate([cells for name, cells in ranks.items() if name.endswith(s)]) for s in SCORES}
    coefficients = np.array([kendall_coefficient(made) for made in of_score.values()])
    cells = np.equal(rows, load(PRINTED / "constraints-table-1.csv")[1:])[:, 1:]
    error = np.abs(coefficients - printed("constraints-toy")["Kendall's coefficient"]).max()
    missed = [int((made[:, 2] > made.min(axis=1)).sum()) for made in of_score.values()]
    different = len({tuple(row) for made in of_score.values() for row in made.tolist()})
    columns, row = [f"K of {score}" for score in SCORES], {"Kendall's coefficient": coefficients.tolist()}
    tables = {"toy": table("toy example", columns, row, 4)}
    tables["table-1"] = ["cannot-link", *(f"must-link {must}" for must in musts)], rows
    return tables, {
        "toy-cells": (bool(cells.all()), f"{cells.sum()} of {cells.size} cells are the same"),
        "toy-kendall": (bool(error < 6e-5), f"largest difference {error:.5f}"),
        "toy-third-feature": (missed == [0, 3, 3, 0] and different == 7, f"not first {listed(missed, '')} times"),
    }


def constraints(options: Options) -> Found:
    (toy, of_toy), r = on_toy(), Results(options)
    made = of_toy | findings(r) | _on_figures_5_and_6(r)
    return found("constraints", options, toy | tables(r), made, figures(r), _but_for_chance(r) | _on_narrow_graphs(r))


def beaten(worse: np.ndarray) -> bool:
    """Whether a difference over the runs, positive where C4 is worse, is larger than twice its standard error."""
    return bool(worse.sum() > 2 * worse.std(ddof=1) * np.sqrt(len(worse)))


def _but_for_chance(r: Results) -> dict[str, Finding]:
    """Rows and numbers of constraints at which no score beats C4 by more than chance, and curves to .02 of accuracy."""
    made: dict[str, Finding] = {}
    for key, sets, least in (("four", SETS[:4], 6), ("colon_alon", (COLON,), 3), ("leukemia_5147", (LEUKEMIA,), 4)):
        rows = [r.at(s, n) for s in sets for n in s.table_counts]
        ranks = [np.array([rank_sums(run[None]) for run in row]) for row in rows]
        level = sum(not any(beaten(of[:, 3] - of[:, v]) for v in range(3)) for of in ranks)
        made[f"ranks-{key}"] = (
            level >= least,
            f"no score has a lower sum, but for chance, in {level} of {len(rows)} rows",
        )
    for s in SETS[4:]:
        runs = [r.at(s, n) for n in r.counts(s)]
        level = sum(not any(beaten(of[:, v] - of[:, 3]) for v in range(3)) for of in runs)
        made[f"count-{s.name}"] = (
            level >= len(runs) - 1,
            f"no score is better, but for chance, at {level} of {len(runs)}",
        )
    for s in SETS:
        mean = r.curve_means(s)
        low, high = mean["Laplacian"] - COMPARABLE, mean["Fisher"] + COMPARABLE
        made[f"between-{s.name}"] = all(low <= mean[score] <= high for score in SCORES), listed(mean)
    return made


def _on_narrow_graphs(r: Results) -> dict[str, Finding]:
    """Figs. 2 and 4 again on a graph in which few pairs of rows hold most of the weight."""
    made: dict[str, Finding] = {}
    for s in SETS:
        lead = r.narrow(s) - r.kendall(s)[:, :3].max(axis=1)
        W = split_halves(s).narrow.toarray()
        weights = np.sort(W[np.triu_indices(len(W), 1)])
        share = weights[-len(W) // 10 :].sum() / weights.sum()
        told = f"{listed(lead, '+.3f')}; n/10 pairs of rows hold {share:.0%} of the weight"
        made[f"kendall-{s.name}"] = bool((lead > 0).all()), told
    return made


def tables(r: Results) -> Found:
    made: Found = {}
    for title, sets in (("figure-3", SETS[:4]), ("figure-5", SETS[4:])):
        rows = []  # mean accuracy over the curve and, in brackets, with the features of the rank sums
        for s in sets:
            (sizes, curves), means = r.curves(s), r.curve_means(s)
            cells = [f"{means[name]:.3f} ({curve[sizes.index(s.kept)]:.3f})" for name, curve in curves.items()]
            rows.append([f"{s.title} ({s.kept})", *cells, number(curves["Fisher"][-1])])
        made[title] = ["data set", *SCORES, *BASELINES, "all"], rows
    for name, sets in (("tables-2-to-5", SETS[:4]), ("table-6", (COLON,)), ("table-7", (LEUKEMIA,))):
        made[name] = table("rank sum", [f"T of {score}" for score in SCORES], r.sums_of_ranks(sets))
    return made


def findings(r: Results) -> dict[str, Finding]:
    made: dict[str, Finding] = {}
    kendall, means = {s: r.kendall(s) for s in SETS}, {s: r.curve_means(s) for s in SETS}
    lead = {s: k[:, 3] - k[:, :3].max(axis=1) for s, k in kendall.items()}
    for s in SETS:
        gaps = f"K4 less the best other, at {listed(r.counts(s), '')} constraints: {listed(lead[s], '+.3f')}"
        made[f"kendall-{s.name}"] = bool((lead[s] > 0).all()), gaps
        between = all(means[s]["Laplacian"] <= means[s][score] <= means[s]["Fisher"] for score in SCORES)
        made[f"between-{s.name}"] = between, listed(means[s])
    rise = {f"K{v + 1} on {s.title}": k[-1, v] - k[0, v] for s, k in kendall.items() for v in range(4)}
    falling = {name: change for name, change in rise.items() if change <= 0}
    told = f"{len(rise) - len(falling)} of {len(rise)} curves rise; {listed(falling, '+.3f')}"
    made["kendall-rises"] = not falling, told
    average = {s.title: kendall[s].mean(axis=0) for s in SETS[:4]}
    made["kendall-orl"] = all(np.all(average["ORL"] < average[s.title]) for s in SETS[:3]), each(average)
    gap = {s.title: float(lead[s].mean()) for s in SETS}
    genes = [gap[s.title] for s in SETS[4:]]
    made["kendall-gap"] = min(genes) > max(gap[s.title] for s in SETS[:4]), listed(gap, "+.3f")
    for key, name, sets, least in (
        ("four", "tables-2-to-5", SETS[:4], 6),
        ("colon_alon", "table-6", (COLON,), 3),
        ("leukemia_5147", "table-7", (LEUKEMIA,), 4),
    ):
        ours, theirs = (list(rows.values()) for rows in (r.sums_of_ranks(sets), printed(f"constraints-{name}")))
        won = [int(np.sum(np.argmin(ours, axis=1) == v)) for v in range(4)]
        same = int(np.sum(np.argmin(ours, axis=1) == np.argmin(theirs, axis=1)))
        halves = [int(np.argmin(rank_sums(r.at(s, n, half)))) for s, half, n in r.cells if half and s in sets]
        told = f"C1 to C4 in {listed(won, '')}; the printed winner wins in {same}; on random halves "
        made[f"ranks-{key}"] = won[3] >= least, told + listed([halves.count(v) for v in range(4)], "")
        accuracy = {f"{s.title} {n}": r.at(s, n).mean(axis=0) for s in sets for n in s.table_counts}
        behind = {at: values[:3].max() - values[3] for at, values in accuracy.items()}
        made[f"comparable-{key}"] = max(behind.values()) <= COMPARABLE, listed(behind, "+.3f")
    return made


def _on_figures_5_and_6(r: Results) -> dict[str, Finding]:
    made: dict[str, Finding] = {}
    (sizes, curves), means = r.curves(COLON), {s: r.curve_means(s) for s in SETS}
    late = [at for at, size in enumerate(sizes[:-1]) if size > 1050]
    there = {name: float(curves[name][late].mean()) for name in (*SCORES, "Fisher")}
    made["fisher-colon"] = min(there[score] for score in SCORES) > there["Fisher"], listed(there)
    told = "; ".join(f"{s.title} {listed({m: means[s][m] for m in ('random', *SCORES)})}" for s in SETS)
    blind = all(means[s]["random"] > max(means[s][score] for score in SCORES) for s in (ORL, LEUKEMIA))
    made["random"] = blind, told
    for s in SETS[4:]:
        by_count = np.array([r.at(s, n).mean(axis=0) for n in r.counts(s)])
        first = int(np.sum(by_count[:, 3] >= by_count.max(axis=1)))
        told = f"at {first} of {len(by_count)}; means of C1 to C4 {listed(by_count.mean(axis=0))}"
        made[f"count-{s.name}"] = first >= len(by_count) - 1, told
    return made


def figures(r: Results) -> dict[str, list[Curve]]:
    made: dict[str, Any] = {f"figure-{n}": [] for n in range(2, 7)}
    for place, s in enumerate(SETS):
        counts, (sizes, curves), kendall = r.counts(s), r.curves(s), r.kendall(s)
        lines = [(s.title, score, counts, kendall[:, v]) for v, score in enumerate(SCORES)]
        made["figure-2" if place < 4 else "figure-4"] += lines
        made["figure-3" if place < 4 else "figure-5"] += [(s.title, name, sizes, y) for name, y in curves.items()]
        if place >= 4:
            means = np.array([r.at(s, n).mean(axis=0) for n in counts])
            level = {name: [curves[name][sizes.index(s.kept)]] * len(counts) for name in BASELINES}
            lines = dict(zip(SCORES, means.T, strict=True)) | level
            made["figure-6"] += [(s.title, name, counts, y) for name, y in lines.items()]
    return made
