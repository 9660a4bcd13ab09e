"""What the section on [EV] computes: rankings, the two measures on their first and last features, eigenvectors.

    ACC  k-means against the classes, the best of 10 starts under the best matching      [EV] section 4.2
    JAS  neighbours by inner product that survive the selection, as a Jaccard index       [EV] section 4.2

Every function takes names and numbers only, so that a worker process loads its own data and one thread does the work.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import joblib
import numpy as np
from scipy.stats import spearmanr
from threadpoolctl import threadpool_limits

from fiedler import EVSC, KNN, RBF, SPEC, Criterion, LaplacianScore, Variance
from fiedler.evaluate import clustering_curve, good_against_bad, jaccard_curve
from fiedler.evaluate.tuning import turning_point
from fiedler.problem import Problem
from fiedler.selection.ranking import rank

from ..data import paper_set

SETS = {"PIX": "pixraw10P", "ORL": "orlraws10P", "TOX": "TOX_171", "nakayama": "nakayama"}
SHARED = ("PIX", "ORL", "TOX")  # the paper's own sets; nakayama stands in for GLA-BRA-180
METHODS = ("Laplacian score", "SPEC", "EVSC", "variance", "random")
READINGS = ("LS, 5-NN graph", "SPEC, γ = λ⁴")  # other graphs and functions that the rivals may have had
N_NEIGHBORS = 5  # m of the Jaccard score, which the paper does not print
LEADING = 2000  # features whose scores Fig. 4 shows
KEPT = 1000  # features whose share of Σ x² explains the Jaccard scores
SCALINGS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "raw": lambda X: X,
    "centred": lambda X: X - X.mean(axis=0),
    "z-scored": lambda X: (X - X.mean(axis=0)) / X.std(axis=0),
    "[0, 1]": lambda X: (X - X.min(axis=0)) / np.ptp(X, axis=0),
    "unit norm rows": lambda X: X / np.linalg.norm(X, axis=1, keepdims=True),
}


def in_parallel(what: str, n_jobs: int, function: Callable, cells: Sequence[tuple]) -> list[Any]:
    """The function of every cell, in order; says on stderr when done."""
    with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
        results = joblib.Parallel(n_jobs=n_jobs)(joblib.delayed(_alone)(function, *cell) for cell in cells)
    print(f"evsc: {what}, {len(cells)} cells", file=sys.stderr, flush=True)
    return results


def _alone(function: Callable, *cell: Any) -> Any:
    with threadpool_limits(1):  # also without worker processes: the same sums in the same order for any n_jobs
        return function(*cell)


@cache
def data(name: str, scaling: str = "raw") -> tuple[np.ndarray, np.ndarray]:
    X, y, _ = paper_set(SETS[name])
    return SCALINGS[scaling](X), y


def criterion(method: str, width: float = 1.0) -> Criterion:
    """The method, on the full RBF graph of that many median distances; SPEC is φ1, as φ2 is the Laplacian score."""
    graph, mode = RBF(scale=width), "trace" if width >= 0.25 else "exact"  # where the trace form is known to be exact
    return {
        "Laplacian score": LaplacianScore(graph),
        "SPEC": SPEC(graph, phi=1),
        "EVSC": EVSC(graph, mode=mode),
        "variance": Variance(),
        READINGS[0]: LaplacianScore(KNN(5)),
        READINGS[1]: SPEC(graph, phi=1, gamma=4),
    }[method]


@cache
def ranking(
    name: str, method: str, seed: int, draw: int = 0, scaling: str = "raw", width: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Scores (NaN for random) and the order of the features, best first."""
    X, _ = data(name, scaling)
    if method == "random":
        return np.full(X.shape[1], np.nan), np.random.default_rng([seed, draw]).permutation(X.shape[1])
    return rank(criterion(method, width), Problem.of(X))[:2]


def good_and_bad(name: str, method: str, draw: int, sizes: np.ndarray, repeats: int, seed: int) -> np.ndarray:
    """ACC and JAS on the first and on the last features, shape (measures, sides, repeats, sizes)."""
    (X, y), (_, order) = data(name), ranking(name, method, seed, draw)
    kmeans = {"metric": "clustering_accuracy", "n_repeats": repeats, "random_state": seed}
    inner = {"metric": "jaccard", "n_neighbors": N_NEIGHBORS}
    pairs = [good_against_bad(X, y, order, n_features=sizes, **options) for options in (kmeans, inner)]
    shape = repeats, len(sizes)  # JAS has nothing to repeat
    return np.array([[np.broadcast_to(curve.values, shape) for curve in pair] for pair in pairs])


@dataclass(frozen=True)
class Curves:
    """The measures on good and bad features, per set and method (measures, sides, runs, sizes).

    The runs are repeats of k-means, or random rankings.
    """

    sizes: np.ndarray
    runs: Mapping[tuple[str, str], np.ndarray]

    def of_run(self, measure: str, side: str, run: int) -> np.ndarray:
        """Curves of the rankings in one run, (set, method, size), random left out."""
        i, j = _place(measure, side)
        return np.array([[self.runs[name, method][i, j, run] for method in METHODS[:-1]] for name in SETS])

    def values(self, measure: str, side: str) -> np.ndarray:
        """Curves averaged over the runs, (set, method, size)."""
        i, j = _place(measure, side)
        return np.array([[self.runs[name, method][i, j].mean(axis=0) for method in METHODS] for name in SETS])

    def mean(self, measure: str, side: str = "good") -> dict[str, np.ndarray]:
        """The averages over the sizes that the tables print, per set and method."""
        return dict(zip(SETS, self.values(measure, side).mean(axis=-1), strict=True))

    def at(self, measure: str, name: str, size: int) -> float:
        """EVSC's value on the first features of that number."""
        i, j = _place(measure, "good")
        return float(self.runs[name, "EVSC"][i, j, :, list(self.sizes).index(size)].mean())


def _place(measure: str, side: str) -> tuple[int, int]:
    return ("ACC", "JAS").index(measure), ("good", "bad").index(side)


def all_curves(sizes: np.ndarray, repeats: int, draws: int, n_jobs: int, seed: int) -> Curves:
    """The two measures on good and bad features, for every set and method."""
    cells = [
        (name, method, draw, sizes, repeats if method != "random" else 1, seed)
        for name in SETS
        for method in METHODS
        for draw in range(draws if method == "random" else 1)
    ]
    found: dict[tuple[str, str], list[np.ndarray]] = {(name, method): [] for name in SETS for method in METHODS}
    for cell, curves in zip(cells, in_parallel("Tables 2 to 5", n_jobs, good_and_bad, cells), strict=True):
        found[cell[:2]].append(curves)
    return Curves(sizes, {key: np.concatenate(curves, axis=2) for key, curves in found.items()})


def jaccard_by_neighbors(
    name: str, method: str, draw: int, neighbors: Sequence[int], sizes: np.ndarray, seed: int
) -> np.ndarray:
    """JAS averaged over the sizes, per number of neighbours."""
    (X, _), (_, order) = data(name), ranking(name, method, seed, draw)
    return np.array([jaccard_curve(X, order, n_features=sizes, n_neighbors=m).mean.mean() for m in neighbors])


def setting(
    name: str,
    scaling: str,
    width: float,
    neighbors: Sequence[int],
    sizes: np.ndarray,
    seed: int,
    with_accuracy: bool,
) -> dict[str, Any]:
    """One scaling and width: JAS of LS, SPEC, EVSC and random; EVSC's on good and bad features for any m; its ACC."""
    X, y = data(name, scaling)
    orders = [ranking(name, method, seed, 0, scaling, width)[1] for method in (*METHODS[:3], "random")]

    def kept(order: np.ndarray, m: int) -> float:
        return jaccard_curve(X, order, n_features=sizes, n_neighbors=m).mean.mean()

    evsc = orders[2]
    acc = clustering_curve(X, y, evsc, n_features=sizes, random_state=seed).mean.mean() if with_accuracy else np.nan
    return {
        "JAS": np.array([kept(order, N_NEIGHBORS) for order in orders]),
        "good and bad": np.array([[kept(evsc, m), kept(evsc[::-1], m)] for m in neighbors]),
        "ACC": acc,
    }


def about_evsc(name: str, repeats: int, seed: int) -> dict[str, Any]:
    """The sorted EVSC curve with its turning point, and how the trace form compares with eq. 15 and the variance."""
    (X, y), (scores, order) = data(name), ranking(name, "EVSC", seed)
    turn, among_leading = (turning_point(scores[part])[0] for part in (order, order[:LEADING]))
    exact = EVSC().evaluate(X)
    return {
        "sorted": scores[order[:LEADING]] / scores[order[0]],
        "turn": turn,
        "turn among leading": among_leading,
        "ACC": clustering_curve(X, y, order, n_features=[turn], n_repeats=repeats, random_state=seed).mean[0],
        "JAS": jaccard_curve(X, order, n_features=[turn], n_neighbors=N_NEIGHBORS).mean[0],
        "trace error": float(np.max(np.abs(scores - exact) / exact)),
        "spearman": float(spearmanr(scores, ranking(name, "variance", seed)[0]).statistic),
        "inner products": [inner_products_kept(X, ranking(name, method, seed)[1]) for method in ("EVSC", "random")],
    }


def inner_products_kept(X: np.ndarray, order: np.ndarray) -> tuple[float, float]:
    """Share of Σ x² in the first features, and how their inner products between rows correlate with those of all."""
    some = X[:, order[:KEPT]]
    pairs = np.triu_indices(len(X), 1)
    correlation = np.corrcoef((X @ X.T)[pairs], (some @ some.T)[pairs])[0, 1]
    return float(np.sum(some**2) / np.sum(X**2)), float(correlation)


def iris_eigenvectors(width: float = 1.0) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray], np.ndarray]:
    """F1 and F3, classes, the first three eigenvectors of D⁻¹L per subset, and the EVSC of F1 and F3 ([EV] Fig. 1).

    One bandwidth for the three graphs, as the derivative with respect to a weight has it.
    """
    X, y, _ = paper_set("iris")
    X = X[:, [0, 2]]
    bandwidth = RBF(scale=width).build(X).bandwidth
    vectors = {}
    for subset, columns in {"{F1, F3}": [0, 1], "{F3}": [1], "{F1}": [0]}.items():
        graph = RBF(bandwidth).build(X[:, columns])
        vectors[subset] = graph.inverse_root_degree[:, None] * graph.spectrum(3)[1]
    return X, y, vectors, EVSC(RBF(bandwidth)).evaluate(X)


def overlap(A: np.ndarray, B: np.ndarray) -> float:
    """Mean squared cosine of the principal angles between the column spaces: 1 when they are the same."""
    A, B = np.linalg.qr(A)[0], np.linalg.qr(B)[0]
    return float(np.sum((A.T @ B) ** 2) / A.shape[1])


def total_fall(curves: np.ndarray) -> np.ndarray:
    """How much the curves (last axis) go down on their way: 0 for one that only rises."""
    return np.maximum(-np.diff(curves, axis=-1), 0.0).sum(axis=-1)
