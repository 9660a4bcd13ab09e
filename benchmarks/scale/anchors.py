"""What the anchor graph gives up against nearest neighbours, and what it saves: three data sets with very many rows.

The ranking by the Laplacian score and by SPEC's φ3 on anchors beside those on kNN graphs: Spearman's correlation of the
scores, 1-NN accuracy on the first features by LS, seconds and extra memory of LS with its graph.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np
from scipy.stats import spearmanr

from fiedler import KNN, SPEC, Anchors, Graph, LaplacianScore, Rayleigh, Recipe
from fiedler.evaluate import accuracy_curve
from fiedler.selection.ranking import rank_features

from .. import data
from ..isolated import PeakMemory

_N_ANCHORS = (100, 300, 1000)
_JUDGED_ROWS = 6000  # for 1-NN, in five folds
_RANDOM_DRAWS = 5


@dataclass
class Set:
    """A data set, how its columns are scaled, and how many of them the accuracy is measured on."""

    name: str
    scaling: str
    n_features: int
    phi3: bool  # whether the kNN graph holds together, so that Lanczos finds its first eigenvectors

    def load(self, quick: bool) -> tuple[np.ndarray, np.ndarray]:
        X, y = data.load(self.name, np.float32)
        if quick:
            X, y = X[:: len(X) // 3000], y[:: len(y) // 3000]
        X = np.log1p(X - X.min(axis=0)) if "log1p" in self.scaling else X
        if "z-score" in self.scaling:
            deviation = X.std(axis=0, dtype=np.float64)
            X = (X - X.mean(axis=0, dtype=np.float64)) / np.where(deviation > 0, deviation, 1.0)
        return X / 255.0 if self.scaling == "/ 255" else X, y


SETS = (
    Set("fashion_mnist", "/ 255", 50, True),
    Set("kddcup", "log1p, z-score", 20, False),
    Set("shuttle", "z-score", 4, False),
)


def run(quick: bool = False) -> dict[str, tuple[list[str], list[list[str]]]]:
    """A table for each data set, one row per graph; a dash where a number does not apply."""
    chosen = SETS if data.folder() is not None else SETS[:2]  # the others are generated where the data are missing
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of outliers cut off the Gaussian kNN graph, and of repeated eigenvalues
        rows = {case.name: _rows(case, quick) for case in chosen}
    return {name: (list(found[0]), [list(map(_cell, row.values())) for row in found]) for name, found in rows.items()}


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.3g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def _rows(case: Set, quick: bool) -> list[dict[str, Any]]:
    X, y = case.load(quick)
    k = len(np.unique(y))
    numbers = [s for s in _N_ANCHORS if 10 * s <= len(X)]
    exact, auto = KNN(weight="binary", algorithm="exact"), KNN(weight="binary")
    binary, gaussian = repr(exact), repr(KNN(algorithm="exact"))
    results = {binary: _measured(lambda: _scored(exact, X))}
    results[gaussian] = {"ls": Rayleigh(_gaussian(X, results[binary]["graph"])).evaluate(X)}  # no second search
    results[repr(auto)] = _measured(lambda: _scored(auto, X))
    for s in numbers:
        results[repr(Anchors(s))] = _measured(lambda s=s: _scored(Anchors(s), X))
    blocks = da.from_array(X, chunks=(50_000, X.shape[1]))
    by_rows = _measured(lambda: {"ls": LaplacianScore(Anchors(numbers[-1])).evaluate(blocks)})
    results[f"{Anchors(numbers[-1])!r}, by rows"] = by_rows
    for found in results.values() if case.phi3 else ():
        if "graph" in found:
            found["phi3"] = SPEC(found["graph"], 3, n_clusters=k).evaluate(X)
    accuracy = _judge(X, y, case.n_features)
    rows = [
        {
            "graph": name,
            "seconds": found.get("seconds"),
            "MiB": found.get("memory"),
            "LS: ρ to binary kNN": _agreement(found["ls"], results[binary]["ls"]),
            "LS: ρ to Gaussian kNN": _agreement(found["ls"], results[gaussian]["ls"]),
            "features": case.n_features,
            "1-NN": accuracy(rank_features(found["ls"], False)),
            "φ3: ρ to binary kNN": _agreement(found.get("phi3"), results[binary].get("phi3")),
        }
        for name, found in results.items()
    ]
    drawn = [np.random.default_rng([0, draw]).permutation(X.shape[1]) for draw in range(_RANDOM_DRAWS)]
    chance = {"features": case.n_features, "1-NN": float(np.mean([accuracy(order) for order in drawn]))}
    return [*rows, dict.fromkeys(rows[0]) | {"graph": "none: random features"} | chance]


def _scored(recipe: Recipe, X: np.ndarray) -> dict[str, Any]:
    graph = recipe.build(X)
    return {"ls": Rayleigh(graph).evaluate(X), "graph": graph}


def _gaussian(X: np.ndarray, binary: Graph) -> Graph:
    """The graph KNN() builds, from the edges of the same with binary weights."""
    i, j, _ = binary.edges
    squared = np.concatenate([((X[a].astype(np.float64) - X[b]) ** 2).sum(axis=1) for a, b in _pieces(i, j)])
    weights = np.exp(-squared / (2.0 * np.sqrt(squared).mean() ** 2))
    return Graph.from_edges(i, j, weights, len(X))


def _pieces(i: np.ndarray, j: np.ndarray, size: int = 100_000) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    return ((i[at : at + size], j[at : at + size]) for at in range(0, len(i), size))


def _measured(function: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    with PeakMemory() as peak:
        start = time.perf_counter()
        found = function()
        seconds = time.perf_counter() - start
    return found | {"seconds": seconds, "memory": int(max(peak.anonymous - peak.before, 0) / 2**20)}


def _judge(X: np.ndarray, y: np.ndarray, n_features: int) -> Callable[[np.ndarray], float]:
    """Cross-validated 1-NN accuracy of the first features of an order, on some of the rows."""
    common = np.flatnonzero(np.bincount(y)[y] >= 100)  # in every fold
    rows = np.random.default_rng(0).choice(common, min(_JUDGED_ROWS, len(common)), replace=False)
    rows = rows[np.bincount(y[rows], minlength=y.max() + 1)[y[rows]] >= 5]

    def accuracy(order: np.ndarray) -> float:
        curve = accuracy_curve(X[rows], y[rows], order, n_features=[n_features], n_repeats=1)
        return float(curve.values[0, 0])

    return accuracy


def _agreement(scores: np.ndarray | None, reference: np.ndarray | None) -> float | None:
    if scores is None or reference is None:
        return None
    scored = np.isfinite(scores) & np.isfinite(reference)
    return float(spearmanr(scores[scored], reference[scored])[0])
