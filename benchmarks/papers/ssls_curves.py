"""The error of a 5-NN prediction on the first features of a ranking, by the protocol of [DV] section 5.

Five folds, ten times anew. In each fold the features are ranked on the training rows, of which a few show their output,
and every test row is predicted from the training rows with all their outputs.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed, parallel_config
from scipy.interpolate import make_lsq_spline
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
)
from fiedler.evaluate.curves import folds, predicted, read_target
from fiedler.problem import Problem
from fiedler.selection.ranking import rank

from .. import data

PAPER = ("LS", "SLS", "SSLS", "correlation")
BASELINES = ("variance", "random", "all")
# What SSLS is made of, and other readings of the weights in LS
NO_LABELS, SEMI_GRAPH, NARROW = "30 neighbours, no labels", "30 neighbours, labels", "SSLS with 5 neighbours"
SQUARED, MEAN_WIDTH, PER_FEATURE = "squared distance", "mean distance as width", "per feature, as eq. 8"
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
        with parallel_config("loky", inner_max_num_threads=1):
            repeats = Parallel(n_jobs=n_jobs)(
                delayed(one_repeat)(chosen, fitting, repeat, seed) for repeat in range(n_repeats)
            )
        rmse = {key: np.array([errors[key] for errors, _ in repeats]) for key in repeats[0][0]}
        copies = {key: float(np.mean([likeness[key] for _, likeness in repeats])) for key in repeats[0][1]}
        found[name] = Curves(chosen, fitting, rmse, copies)
        print(f"  {name}: {n_repeats} repeats", file=sys.stderr, flush=True)
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
    rmse = {key: predicted(Z, target, found, sizes, splits, model) for key, found in orders.items()}
    everything = np.arange(Z.shape[1])
    rmse["all", 0] = predicted(Z, target, [everything], [len(everything)], splits, model)
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
