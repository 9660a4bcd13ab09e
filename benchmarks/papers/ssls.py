"""[DV] Doquire and Verleysen 2011, Laplacian scores for regression: section 3.2 and Fig. 1.

Fig. 1 is the error of 5-NN on the first features of a ranking: five folds, ten times anew. In each fold the
features are ranked on the training rows, of which a few show their output, and every test row is predicted from the
training rows with all their outputs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.interpolate import make_lsq_spline
from scipy.stats import rankdata
from sklearn.neighbors import KNeighborsRegressor, kneighbors_graph

from fiedler import (
    KNN,
    Correlation,
    Criterion,
    LaplacianScore,
    Precomputed,
    SemiSupervisedLaplacianScore,
    SemiTarget,
    SupervisedLaplacianScore,
    TargetKNN,
)
from fiedler.datasets import make_target_problem
from fiedler.evaluate.curves import folds, predicted, read_target, whole_seed
from fiedler.problem import Problem
from fiedler.selection.ranking import rank

from .. import data
from ..pages import number, table
from .common import Curve, Finding, Report, in_parallel, listed, printed

N_SETS = 1000  # artificial data sets of each problem, in the paper too
FIGURE_1 = ("juice", "nitrogen", "census")
FURTHER = ("nitrogen-raw", "communities")
PAPER = ("LS", "SLS", "SSLS", "correlation")
BASELINES = ("variance", "random", "all")
# What SSLS is made of, and other readings of the weights in LS
NO_LABELS, SEMI_GRAPH, NARROW = "30 neighbours, no labels", "30 neighbours, labels", "SSLS with 5 neighbours"
SQUARED, MEAN_WIDTH, PER_FEATURE = "squared distance", "mean distance as width", "per feature, as eq. 8"
READINGS = {"as printed": "LS", SQUARED: SQUARED, MEAN_WIDTH: MEAN_WIDTH, PER_FEATURE: PER_FEATURE}
SIZES = (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 100)
_LABELS, _RANDOM, _FOLDS = range(3)  # what a draw is seeded for


@dataclass(frozen=True, eq=False)
class RegressionSet:
    """A data set with a real target, and the two numbers of outputs that are shown."""

    title: str
    X: np.ndarray
    y: np.ndarray
    n_labels: tuple[int, int]
    unit: str  # of the output, or its name where the unit is not stored


def load_set(name: str) -> RegressionSet:
    """juice, nitrogen (splines), nitrogen-raw, census or communities."""
    stored = {"nitrogen-raw": "nitrogen", "census": "census_house_36", "communities": "communities_house"}
    X, y, _ = data.paper_set(stored.get(name, name))
    y = np.asarray(y, dtype=np.float64)
    if name == "juice":
        return RegressionSet("Juice", X, y, (7, 10), "saccharose")
    if name == "nitrogen":
        return RegressionSet("Nitrogen, 105 B-splines", spline_coordinates(X), y, (7, 10), "nitrogen")
    if name == "nitrogen-raw":
        return RegressionSet("Nitrogen, 1050 wavelengths", X, y, (7, 10), "nitrogen")
    if name == "census":
        return RegressionSet("Census-house, 36 attributes", X[:2048], y[:2048] / 1000, (70, 100), "$1000")
    return RegressionSet("Communities, house value", X, y / 1000, (70, 100), "$1000")


def spline_coordinates(X: np.ndarray, n_coordinates: int = 105, degree: int = 3) -> np.ndarray:
    """Each row, read as a curve on a regular grid, in a B-spline basis with equal knots: least squares."""
    inner = np.linspace(0.0, 1.0, n_coordinates - degree + 1)
    knots = np.concatenate([np.zeros(degree), inner, np.ones(degree)])
    return make_lsq_spline(np.linspace(0.0, 1.0, X.shape[1]), X.T, knots, k=degree).c.T


def printed_graph(Z: np.ndarray, n_neighbors: int = 5) -> Precomputed:
    """[DV] eq. 1 to the letter: exp(-d) with t = 1, the distance not squared as it is in KNN()."""
    W = kneighbors_graph(Z, n_neighbors, mode="distance")
    W = W.maximum(W.T)  # an edge where either is a neighbour of the other; its length is the same both ways
    W.data = np.exp(-W.data)
    return Precomputed(W)


def without_labels(Z: np.ndarray) -> dict[str, Criterion]:
    """LS as printed, LS with other weights, and LS on the graph that SSLS has before it sees an output."""
    per_feature = np.sqrt(Z.shape[1] / 2)  # 2δ² = m, so that d²/2δ² is the mean squared difference of eq. 8
    return {
        "LS": LaplacianScore(printed_graph(Z)),
        SQUARED: LaplacianScore(KNN(5, bandwidth=np.sqrt(0.5))),
        MEAN_WIDTH: LaplacianScore(KNN(5)),
        PER_FEATURE: LaplacianScore(KNN(5, bandwidth=per_feature)),
        NO_LABELS: LaplacianScore(KNN(30, bandwidth=per_feature)),
    }


WITH_LABELS: dict[str, Criterion] = {
    "SLS": SupervisedLaplacianScore(),
    "SSLS": SemiSupervisedLaplacianScore(),
    "correlation": Correlation(),
    SEMI_GRAPH: LaplacianScore(SemiTarget()),
    NARROW: SemiSupervisedLaplacianScore(SemiTarget(5)),
}


@dataclass(frozen=True, eq=False)
class Curves:
    """RMSE per repeat and size of every method on one data set; methods that read no output stand under 0 labels."""

    data: RegressionSet
    sizes: np.ndarray
    rmse: dict[tuple[str, int], np.ndarray]
    copies: dict[tuple[str, int], float]  # mean |r| among the first ten features

    def values(self, method: str, n_labels: int) -> np.ndarray:
        return self.rmse[self._key(method, n_labels)]

    def curve(self, method: str, n_labels: int) -> np.ndarray:
        return self.values(method, n_labels).mean(axis=0)

    def mean(self, method: str, n_labels: int = 0) -> float:
        """Over repeats and sizes."""
        return float(self.values(method, n_labels).mean())

    def likeness(self, method: str, n_labels: int) -> float:
        return self.copies[self._key(method, n_labels)]

    def _key(self, method: str, n_labels: int) -> tuple[str, int]:
        return (method, n_labels) if (method, n_labels) in self.rmse else (method, 0)


def all_curves(names: Sequence[str], sizes: Sequence[int], n_repeats: int, n_jobs: int, seed: int) -> dict[str, Curves]:
    """Every data set, its repeats in parallel."""
    found = {}
    for name in names:
        chosen = load_set(name)
        fitting = np.array([size for size in sizes if size <= chosen.X.shape[1]])
        cells = [(chosen, fitting, repeat, seed) for repeat in range(n_repeats)]
        repeats = in_parallel(f"ssls: {name}", n_jobs, one_repeat, cells)
        rmse = {key: np.array([errors[key] for errors, _ in repeats]) for key in repeats[0][0]}
        copies = {key: float(np.mean([likeness[key] for _, likeness in repeats])) for key in repeats[0][1]}
        found[name] = Curves(chosen, fitting, rmse, copies)
    return found


def one_repeat(
    chosen: RegressionSet, sizes: np.ndarray, repeat: int, seed: int
) -> tuple[dict[tuple[str, int], np.ndarray], dict[tuple[str, int], float]]:
    """One five-fold cross-validation of all methods: RMSE per size, and mean |r| among the first ten features."""
    Z = (chosen.X - chosen.X.mean(axis=0)) / chosen.X.std(axis=0)
    model = KNeighborsRegressor(5, algorithm="brute")  # trees are slower here from ten features on
    target = read_target(chosen.y, len(Z), model, None)
    splits = folds(target, 5, model, np.random.default_rng([seed, repeat, _FOLDS]))
    each_fold = [rankings(chosen, Z, train, [seed, repeat, fold]) for fold, (train, _) in enumerate(splits)]
    orders = {key: [fold[key] for fold in each_fold] for key in each_fold[0]}
    rmse = {key: predicted(Problem(Z), target, found, sizes, splits, model) for key, found in orders.items()}
    everything = np.arange(Z.shape[1])
    rmse["all", 0] = predicted(Problem(Z), target, [everything], [len(everything)], splits, model)
    return rmse, {key: float(np.mean([likeness(Z, order[:10]) for order in found])) for key, found in orders.items()}


def rankings(
    chosen: RegressionSet, Z: np.ndarray, train: np.ndarray, seed: list[int]
) -> dict[tuple[str, int], np.ndarray]:
    """Columns, best first, by every method that sees the training rows and some of their outputs."""
    rng = np.random.default_rng([*seed, _LABELS])
    shown = rng.permutation(len(train))  # the labels of the larger number include those of the smaller
    found = {
        ("random", 0): np.random.default_rng([*seed, _RANDOM]).permutation(Z.shape[1]),
        ("variance", 0): np.argsort(-chosen.X[train].var(axis=0), kind="stable"),  # before the features are scaled
    }
    with warnings.catch_warnings():  # t = 1 cuts off outlying rows
        warnings.filterwarnings("ignore", message=".*underflow")
        for method, criterion in without_labels(Z[train]).items():
            found[method, 0] = rank(criterion, Problem.of(Z[train])).order
        for n_labels in chosen.n_labels:
            y = standardised_labels(chosen.y[train], shown[:n_labels])
            for method, criterion in WITH_LABELS.items():
                found[method, n_labels] = rank(criterion, Problem.of(Z[train], y)).order
    return found


def standardised_labels(y: np.ndarray, shown: np.ndarray) -> np.ndarray:
    """y with mean 0 and deviation 1 on the rows shown, NaN elsewhere: t = 1 is meant for features and output alike."""
    known = np.full(len(y), np.nan)
    known[shown] = (y[shown] - y[shown].mean()) / y[shown].std()
    return known


def likeness(Z: np.ndarray, columns: np.ndarray) -> float:
    """Mean |r| between two of these columns."""
    return float(np.abs(np.corrcoef(Z[:, columns].T)[np.triu_indices(len(columns), 1)]).mean())


# -------------------------------------------------------------------- section 3.2


def hits(problem: int, n_samples: int, method: Callable, numbers: Sequence[int], seed: int) -> int:
    """How many of these data sets have their informative features on top."""
    found = 0
    for number_of_set in numbers:
        drawn = whole_seed([seed, problem, number_of_set])
        X, y, informative = make_target_problem(problem, n_samples, random_state=drawn)
        found += set(method(X, y)[: len(informative)]) == set(informative)
    return found


class ByCriterion:
    """The ranking by a criterion; outliers of Y2 that t = 1 cuts off the graph are what the paper asks for."""

    def __init__(self, criterion: Any):
        self.criterion = criterion

    def __call__(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*underflow")
            return rank(self.criterion, Problem.of(X, y)).order


def signed_correlation(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    centred = X - X.mean(axis=0)
    return np.argsort(-(y - y.mean()) @ centred / np.linalg.norm(centred, axis=0))


def rank_correlation(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return ByCriterion(Correlation())(rankdata(X, axis=0), rankdata(y))


def artificial(n_sets: int, n_jobs: int, seed: int, readings: bool = True) -> dict[str, np.ndarray]:
    """Percentage of data sets of Y1 and Y2 whose informative features come out on top, by method.

    Without ``readings`` only the paper's two methods, with k = 5 and n = 1000.
    """
    rows: dict[str, tuple[Callable, int]] = {
        f"SLS, k = {k}": (ByCriterion(SupervisedLaplacianScore(TargetKNN(k))), 1000) for k in (1, 3, 5, 10)
    }
    rows |= {f"correlation, n = {n}": (ByCriterion(Correlation()), n) for n in (300, 600, 1000, 2000)}
    rows |= {"correlation, signed": (signed_correlation, 1000), "correlation of ranks": (rank_correlation, 1000)}
    rows = rows if readings else {name: rows[name] for name in ("SLS, k = 5", "correlation, n = 1000")}
    chunks = np.array_split(np.arange(n_sets), 20)
    cells = [(problem, n, method, chunk, seed) for method, n in rows.values() for problem in (1, 2) for chunk in chunks]
    counts = in_parallel("ssls: section 3.2", n_jobs, hits, cells)
    return dict(zip(rows, 100 * np.reshape(counts, (len(rows), 2, len(chunks))).sum(axis=2) / n_sets, strict=True))


def agrees(theirs: float, ours: float, n_sets: int) -> bool:
    """Whether two percentages differ by less than two standard errors, half a percent of rounding granted."""
    p = theirs / 100
    error = 100 * np.sqrt(p * (1 - p) * (1 / N_SETS + 1 / n_sets))
    return abs(theirs - ours) <= 2 * error + 0.5


# -------------------------------------------------------------------- tables, findings, figures


def run(quick: bool = False, n_jobs: int = 2, seed: int = 0) -> Report:
    n_sets = 40 if quick else N_SETS
    share = artificial(n_sets, n_jobs, seed, readings=not quick)
    names, sizes = (FIGURE_1, (1, 3, 10, 30, 60, 100)) if quick else (FIGURE_1 + FURTHER, SIZES)
    curves = all_curves(names, sizes, 2 if quick else 10, n_jobs, seed)
    found = on_section_3(share, n_sets) | on_figure_1(curves)
    return Report(tables(share, curves), found, {} if quick else figures(curves))


def tables(share: dict[str, np.ndarray], curves: dict[str, Curves]) -> dict[str, tuple]:
    shown, parts = (*PAPER, *BASELINES), ("LS", PER_FEATURE, NO_LABELS, SEMI_GRAPH, "SSLS", NARROW)
    alike = (*PAPER, "variance", "random")

    def means(methods: Sequence[str]) -> list[list[Any]]:
        both = [(c, n) for c in curves.values() for n in c.data.n_labels]
        return [[c.data.title, n, *(short(c.mean(method, n)) for method in methods)] for c, n in both]

    titled = {c.data.title: c for c in curves.values()}
    likeness = {title: [c.likeness(m, c.data.n_labels[0]) for m in alike] for title, c in titled.items()}
    weights = {title: [short(c.mean(way)) for way in READINGS.values()] for title, c in titled.items()}
    return {
        "artificial": table("% of data sets", ["Y1", "Y2"], papers_two(share), 1),
        "readings": table("% of data sets", ["Y1", "Y2"], share, 1),
        "means": (["data set", "labels", *shown], means(shown)),
        "alike": table("mean abs. correlation", alike, likeness),
        "parts": (["data set", "labels", "LS", "LS, weights as eq. 8", *parts[2:]], means(parts)),
        "weights": table("data set", READINGS, weights),
    }


def papers_two(share: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The percentages of the paper's two methods, with k = 5 and n = 1000."""
    return {"SLS": share["SLS, k = 5"], "correlation": share["correlation, n = 1000"]}


def short(value: float) -> str:
    """Three decimals, two from 10 on."""
    return number(value, 3 if value < 10 else 2)


def on_section_3(share: dict[str, np.ndarray], n_sets: int) -> dict[str, Finding]:
    computed = papers_two(share)
    told = "; ".join(f"{method} {listed(found, '.1f')} %" for method, found in computed.items())
    found: dict[str, Finding] = {}
    for method, theirs in printed("ssls-artificial").items():
        found[f"artificial-{method}"] = all(map(agrees, theirs, computed[method], [n_sets] * 2)), told
    return found | {"artificial-advantage": (bool(np.all(computed["SLS"] > computed["correlation"])), told)}


def on_figure_1(curves: dict[str, Curves]) -> dict[str, Finding]:
    """What section 5 says of Fig. 1, asked of both substitutes for census-house; with both numbers of labels."""
    found: dict[str, Finding] = {}
    for name, c in curves.items():
        best = [min(PAPER, key=lambda method, n=n, c=c: c.mean(method, n)) for n in c.data.n_labels]
        holds = all(better(c, method, "random", n) for method, n in zip(best, c.data.n_labels, strict=True))
        found[f"{name}-ranking-beats-random"] = holds, "; ".join(map(versus(c, "random"), best, c.data.n_labels))
    for name in (name for name in (*FIGURE_1, "communities") if name in curves):
        c, labels = curves[name], curves[name].data.n_labels
        worst = [np.mean(np.argmax([c.curve(m, n) for m in PAPER], axis=0) == 0) for n in labels]  # LS is the first
        last = all(better(c, method, "LS", n) for method in PAPER[1:] for n in labels) and min(worst) > 0.5
        found[f"{name}-ls-worst"] = last, f"share of sizes at which LS is the worst: {listed(worst, '.2f')}"
        pairs = [("ssls-beats-ls", "SSLS", "LS"), ("ssls-beats-correlation", "SSLS", "correlation")]
        if name != "nitrogen":
            above = [np.mean(c.curve("SSLS", n) > c.curve("correlation", n)) for n in labels]
            told = f"share of sizes at which it is larger: {listed(above, '.2f')}"
            found[f"{name}-never-above-correlation"] = max(above) == 0, told
        house = name in ("census", "communities")
        pairs.append(("sls-beats-ssls", "SLS", "SSLS") if house else ("ssls-beats-sls", "SSLS", "SLS"))
        for key, first, second in pairs:
            told = "; ".join(versus(c, second)(first, n) for n in labels)
            found[f"{name}-{key}"] = all(better(c, first, second, n) for n in labels), told
        if name == "nitrogen":
            lowest = [{m: c.curve(m, n).min() for m in PAPER} for n in labels]
            holds = all(min(values, key=values.get) == "SSLS" for values in lowest)
            found["nitrogen-lowest"] = holds, "; ".join(map(listed, lowest))
    juice = curves["juice"]
    labels, told = juice.data.n_labels, listed({way: juice.mean(name) for way, name in READINGS.items()}, ".2f")
    widths = all(better(juice, "SSLS", way, n) for n in labels for way in READINGS.values())
    found["juice-any-width"] = widths, f"SSLS {listed([juice.mean('SSLS', n) for n in labels], '.2f')}; LS {told}"
    told = "; ".join(versus(juice, NO_LABELS)("SSLS", n) for n in labels)
    found["juice-labels-help"] = all(better(juice, "SSLS", NO_LABELS, n) for n in labels), told
    return found


def better(c: Curves, first: str, second: str, n_labels: int) -> bool:
    """Whether a method has the lower error on average and at most sizes."""
    a, b = c.curve(first, n_labels), c.curve(second, n_labels)
    return bool(a.mean() < b.mean() and np.mean(a < b) > 0.5)


def versus(c: Curves, second: str) -> Callable[[str, int], str]:
    """Mean errors of a method and of another one, and at how many sizes and repeats the first is lower."""

    def told(first: str, n_labels: int) -> str:
        a, b = c.values(first, n_labels), c.values(second, n_labels)
        sizes, repeats = (np.sum(a.mean(axis=axis) < b.mean(axis=axis)) for axis in (0, 1))
        means = f"{n_labels} labels: {first} {short(a.mean())}, {second} {short(b.mean())}"
        return f"{means}, lower at {sizes} of {a.shape[1]} sizes and in {repeats} of {len(a)} repeats"

    return told


def figures(curves: dict[str, Curves]) -> dict[str, list[Curve]]:
    """A row of panels per data set, the smaller number of labels first."""
    return {
        figure: [
            (
                f"{c.data.title}: {n} labels, RMSE ({c.data.unit})",
                method,
                c.sizes,
                np.broadcast_to(c.curve(method, n), c.sizes.shape),
            )
            for c in (curves[name] for name in names)
            for n in c.data.n_labels
            for method in (*PAPER, *BASELINES)
        ]
        for figure, names in (("fig1", FIGURE_1), ("further", FURTHER))
    }
