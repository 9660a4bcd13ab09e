"""What ``make bench`` compares: cases.csv says which work, against what, and the ratio of times that was promised.

The functions here prepare a case when it is run and give the contenders as functions without arguments; ``fiedler`` is
one of them. A row of cases.csv without ``prepare`` names a further contender of the case above it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from fiedler import (
    EVSC,
    KNN,
    MCFS,
    SPEC,
    Anchors,
    ClassGraph,
    LaplacianScore,
    ReliefF,
    SmoothSubset,
    SpectralSelector,
    SSelect,
    TraceRatio,
)
from fiedler.engine.search import nearest_rows
from fiedler.engine.sparse import SparseDistances
from fiedler.problem import Problem

from . import contenders as other
from . import data, neighbors
from .pages import HERE, records

_NOISE = 0.6  # share of a promised ratio that a quick run on a busy machine must still reach,
_FALL = 0.8  # and of the ratio on record
_COLUMNS = 2000  # columns of NEWS20 given to scanpy, which would need minutes for all of them
_QUERIES = 3500  # rows of fashion_mnist searched by brute force, whose time is proportional to them

Contenders = dict[str, Callable[[], Any]]


@cache
def recorded() -> dict[tuple[str, str], float]:
    """(work, against) to the ratio of the last full run."""
    return {(row["work"], row["against"]): float(row["ratio"]) for row in records(HERE / "results" / "ratios.csv")}


class Case:
    """One comparison, from its rows of cases.csv: the time of each contender over that of fiedler is its ratio."""

    def __init__(self, rows: list[dict[str, str]]):
        self.rows, first = rows, rows[0]
        self.work, self.quick = first["work"], first["quick"] == "yes"
        self.targets = {row["against"]: float(row["promised"] or 0.0) for row in rows}  # 0: nothing was promised
        self.factors = {row["against"]: float(row["factor"]) for row in rows if row["factor"]}
        once = [row["against"] for row in rows if row["once"]]
        everyone = first["seconds"] == "once"  # fiedler too
        self.once = ("fiedler", *once) if everyone else tuple(once)
        self.seconds = 0.0 if everyone else float(first["seconds"])
        self.at_least = 0 if everyone else int(first["at least"] or 3)
        self.size = int(first["memory"] or 0)  # n m, where the peak of allocations is traced too
        self.lean = first["prepare"] == "on_a_graph"  # scores on a given graph need a tenth of X at most

    def prepare(self) -> Contenders:
        found = PREPARE[self.rows[0]["prepare"]](*self._arguments())
        return {who: run for who, run in found.items() if who in ("fiedler", *self.targets)}

    def check(self, results: dict[str, Any]) -> str:
        """What to know of the values that the contenders returned; empty where nothing is checked."""
        name = self.rows[0]["check"]
        return CHECKS[name](results, *self._arguments()) if name else ""

    def _arguments(self) -> list[str]:
        return [part for part in self.rows[0]["arguments"].split(";") if part]

    def floor(self, contender: str) -> float:
        """The ratio that ``make bench-quick`` fails under."""
        before = recorded().get((self.work, contender))
        return _NOISE * self.targets[contender] if before is None else _FALL * before


def cases() -> list[Case]:
    """The cases in the order of cases.csv."""
    rows: list[list[dict[str, str]]] = []
    for row in records(HERE / "cases.csv"):
        if row["prepare"]:
            rows.append([])
        rows[-1].append(row)
    return [Case(part) for part in rows]


# -------------------------------------------------------------------- Laplacian score, end to end

_HAND = "scikit-learn + scipy"
_INDEX = 'skfeature-chappers, mode="index"'


def end_to_end(name: str) -> Contenders:
    made = {"gaussian": (2000, 5000, float), "float32": (2000, 5000, np.float32), "tall": (20_000, 500, float)}
    made |= {"500 x 200": (500, 200, float), "1,000 x 200": (1000, 200, float)}
    X = data.gaussian(*made[name][:2]).astype(made[name][2]) if name in made else data.load(name)[0]
    return {"fiedler": lambda: LaplacianScore().evaluate(X), _HAND: lambda: other.laplacian_by_hand(X)}


def against_packages(name: str) -> Contenders:
    X, y = data.load(name)
    dense = X.toarray() if sp.issparse(X) else X
    return {
        "fiedler": lambda: LaplacianScore().evaluate(X),
        "skfeature-chappers": lambda: other.skfeature_laplacian(dense),
        _INDEX: lambda: other.skfeature_laplacian(dense, "index"),
        "ITMO_FS": lambda: other.itmo_laplacian(dense, y),
    }


def spec(phi: str) -> Contenders:
    X, _ = data.load("BASEHOCK")
    dense, k = X.toarray(), 5
    return {
        "fiedler": lambda: SPEC(phi=int(phi), n_clusters=k).evaluate(X),
        "skfeature-chappers": lambda: other.skfeature_spec(dense, 0 if phi == "2" else k),
    }


# -------------------------------------------------------------------- scores on a given graph


def weights(graph: Any) -> sp.csr_matrix:
    """W as a csr matrix, from the public attributes of a graph."""
    i, j, w = graph.edges
    n = graph.n_nodes
    return sp.csr_matrix((np.r_[w, w], (np.r_[i, j].astype(np.int32), np.r_[j, i].astype(np.int32))), shape=(n, n))


def on_a_graph(n: str, m: str) -> Contenders:
    """Scores on a kNN graph over the first three columns: its shape is all that matters here."""
    X = data.gaussian(int(n), int(m))
    graph = KNN(other.K).build(X[:, :3])
    W = weights(graph)
    return {"fiedler": lambda: LaplacianScore(graph).evaluate(X), _HAND: lambda: other.scores_by_hand(X, W)}


def gearys_c() -> Contenders:
    X = data.load("NEWS20_18828")[0]
    graph = KNN(other.K).build(X)
    some = np.unique(np.linspace(0, X.shape[1] - 1, _COLUMNS).astype(np.intp))
    X = sp.csr_array(X[:, some])
    W, by_feature = weights(graph), sp.csr_matrix(X.T)
    return {"fiedler": lambda: LaplacianScore(graph).evaluate(X), "scanpy": lambda: other.gearys_c(W, by_feature)}


def draws(name: str) -> Contenders:
    """Ten draws of labels in five folds: rankings that share the graph, or build it each time."""
    X, y = data.load(name)
    rng = np.random.default_rng(0)
    told = [np.where(rng.random(len(y)) < 0.8, y, -1) for _ in range(50)]

    def shared() -> list[np.ndarray]:
        problem = Problem.of(X)
        return [SSelect().score(problem.with_supervision(labels)) for labels in told]

    return {"fiedler": shared, "a graph for each fold": lambda: [SSelect().evaluate(X, labels) for labels in told]}


def comparison(name: str) -> Contenders:
    """Six methods over ten draws: on all cores, and one cell after the other in this process."""
    from fiedler.evaluate import compare

    X, y = data.load(name)
    methods = ["laplacian", "spec", "sselect", "fisher", "relieff", "constraint"]
    options: dict[str, Any] = {"n_features": [10, 20, 50], "n_draws": 10, "n_labels": 20}
    return {
        "fiedler": lambda: compare(methods, X, y, **options),
        "its parts one by one": lambda: compare(methods, X, y, n_jobs=1, **options),
    }


# -------------------------------------------------------------------- ReliefF and EVSC


def relieff(name: str, every: str) -> Contenders:
    X, y = (part[:: int(every)] for part in data.load(name))
    return {
        "fiedler": lambda: ReliefF(other.K).evaluate(X, y),
        "fast-select": lambda: other.fast_select_relieff(X, y),
        "skrebate": lambda: other.skrebate_relieff(X, y),
    }


def evsc(name: str) -> Contenders:
    X, _ = data.load(name)
    side = other.gemm_side(other.evsc_flops(*X.shape))
    A = np.random.default_rng(0).standard_normal((side, side))
    return {"fiedler": lambda: EVSC(mode="exact").evaluate(X), "one GEMM": lambda: A @ A}


def evsc_trace(n: str) -> Contenders:
    X = data.load("madelon")[0][: int(n)]
    return {"fiedler": lambda: EVSC().evaluate(X), "exact mode": lambda: EVSC(mode="exact").evaluate(X)}


def same_top(results: dict[str, Any], n: str) -> str:
    fast, exact = results["fiedler"], results["exact mode"]
    top = [set(np.argsort(-scores, kind="stable")[:100]) for scores in (fast, exact)]
    return f"{len(top[0] & top[1])} of the top 100 agree, largest relative difference {abs(fast / exact - 1).max():.1e}"


# -------------------------------------------------------------------- graphs of sparse rows

_GRAM = "one Gram product in float32"


def sparse_graph(stored: str, n: str = "10000", m: str = "5000") -> Contenders:
    """The neighbours of sparse rows, by the product that is chosen and by each of the two products."""
    X = sp.csc_array(data.cells(int(n), int(m), float(stored))[0].astype(np.float64))
    single = X.toarray().astype(np.float32)
    return {
        "fiedler": lambda: nearest_rows(SparseDistances(X), 5)[0],
        "products of stored values": lambda: nearest_rows(SparseDistances(X, filled=False), 5)[0],
        "products of filled blocks": lambda: nearest_rows(SparseDistances(X, filled=True), 5)[0],
        _GRAM: lambda: single @ single.T,
    }


def same_neighbours(results: dict[str, Any], *_: str) -> str:
    names = ("fiedler", "products of stored values", "products of filled blocks")
    found = [np.sort(results[name], axis=1) for name in names if name in results]
    return f"the neighbours are the same: {'yes' if all(np.array_equal(found[0], one) for one in found) else 'no'}"


# -------------------------------------------------------------------- sets of features


def choosing(name: str, k: str) -> Contenders:
    """k features as a set; the graph is part of fiedler's time, but on fashion_mnist, where it is given.

    The other packages have no graph and take dense X only. They are left out where that would take hours. One Gram
    product of the rows, in float32, is the unit in which the cost of large data is stated.
    """
    if name == "wide":
        X: Any = data.gaussian(2000, 20_000)
    elif name.startswith("cells"):
        X = data.cells(*map(int, name.removeprefix("cells").split("x")), stored=0.09)[0]
    elif name == "pbmc_batches":
        X = data.normalised(data.load(name)[0])
    else:
        X = data.load(name)[0][:60_000]
    graph = KNN(5, algorithm="approximate").build(X) if name == "fashion_mnist" else None
    dense = X.toarray() if sp.issparse(X) else X
    single = dense.astype(np.float32)
    selector = SpectralSelector(SmoothSubset(graph), n_features_to_select=int(k))
    return {
        "fiedler": lambda: selector.fit(X).order_[: int(k)],
        _GRAM: lambda: single @ single.T,
        "scikit-matter CUR": lambda: other.skmatter_cur(dense, int(k)),
        "scikit-matter FPS": lambda: other.skmatter_fps(dense, int(k)),
        "fastcan": lambda: other.fastcan_columns(dense, int(k)),
        "scipy pivoted QR": lambda: other.pivoted_qr(dense, int(k)),
    }


def refit(n: str, m: str) -> Contenders:
    """50 features as a set with other labels, when the problem keeps what reads no labels, beside the first fit."""
    rng, shape = np.random.default_rng(0), (int(n), int(m))
    y = rng.integers(4, size=shape[0])
    X = rng.normal(size=shape) + np.outer(y, rng.normal(size=shape[1]) * (rng.random(shape[1]) < 0.2))
    few, selector = np.where(rng.random(shape[0]) < 0.1, y, -1), SpectralSelector("subset", n_features_to_select=50)
    kept = Problem.of(X, reuse=True)
    selector.fit(kept, few)
    return {
        "fiedler": lambda: selector.fit(kept, y).order_[:50],
        "the first fit": lambda: selector.fit(Problem.of(X, reuse=True), y).order_[:50],
    }


def multi_cluster(name: str, number: str) -> Contenders:
    """MCFS with five eigenvectors."""
    X = data.load(name)[0]
    dense = X.toarray() if sp.issparse(X) else X
    selector = SpectralSelector(MCFS(n_clusters=5), n_features_to_select=int(number), scale="keep")
    return {
        "fiedler": lambda: selector.fit(X).order_[: int(number)],
        "skfeature-chappers": lambda: other.skfeature_mcfs(dense, int(number), 5),
    }


def best_of_sets(name: str, number: str) -> Contenders:
    """Trace ratio on the graph of the classes."""
    X, y = data.load(name)
    dense = X.toarray() if sp.issparse(X) else X
    selector = SpectralSelector(TraceRatio(ClassGraph()), n_features_to_select=int(number), scale="keep")
    return {
        "fiedler": lambda: selector.fit(X, y).order_[: int(number)],
        "skfeature-chappers": lambda: other.skfeature_trace_ratio(dense, y, int(number)),
    }


def screening(name: str) -> Contenders:
    """The columns that agree with others, beside one Laplacian score; at most twelve times as long was promised."""
    from fiedler.evaluate import agreement

    X = data.gaussian(2000, 20_000) if name == "wide" else data.load(name)[0]
    return {"fiedler": lambda: agreement(X), "Laplacian score": lambda: LaplacianScore().evaluate(X)}


def significant(name: str) -> Contenders:
    """The features above noise: five times ten folds, each tested on the graph of the others."""
    X = data.normalised(data.load(name)[0]) if name == "pbmc_batches" else data.gaussian(1000, 5000)
    single = (X.toarray() if sp.issparse(X) else X).astype(np.float32)
    selector = SpectralSelector(n_features_to_select="fdr")

    def chosen() -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # about features that share structure
            return selector.fit(X).order_

    return {"fiedler": chosen, _GRAM: lambda: single @ single.T}


def by_anchors() -> Contenders:
    """A million rows in one pass over their blocks, beside the Laplacian score's pass over the same."""
    import dask.array as da

    X = da.from_array(data.gaussian(1_000_000, 100).astype(np.float32), chunks=(50_000, 100))
    anchors = Anchors(n_anchors=200)
    subset = SmoothSubset(anchors, supervised=False)
    return {
        "fiedler": lambda: SpectralSelector(subset, n_features_to_select=20).fit(X).order_,
        "Laplacian score": lambda: LaplacianScore(anchors).evaluate(X),
    }


# -------------------------------------------------------------------- many rows


def approximate() -> Contenders:
    from sklearn.neighbors import NearestNeighbors

    X, _ = data.load("fashion_mnist", np.float32)
    index = NearestNeighbors(n_neighbors=other.K, algorithm="brute").fit(X)
    rows = np.sort(np.random.default_rng(0).choice(len(X), _QUERIES, replace=False))
    approximate = LaplacianScore(KNN(other.K, algorithm="approximate"))
    return {"fiedler": lambda: approximate.evaluate(X), "brute force": lambda: index.kneighbors(X[rows])}


def recall(results: dict[str, Any]) -> str:
    """Recall of the approximate neighbours on rows the library did not choose itself."""
    from sklearn.neighbors import NearestNeighbors

    from fiedler.engine.search import find_neighbors

    X, _ = data.load("fashion_mnist", np.float32)
    rows = np.sort(np.random.default_rng(1).choice(len(X), 300, replace=False))
    found, _, reported = find_neighbors(X, other.K, algorithm="approximate")
    exact = NearestNeighbors(n_neighbors=other.K + 1, algorithm="brute").fit(X).kneighbors(X[rows])[1]
    hits = [len(set(found[i]) & (set(near) - {i})) for i, near in zip(rows, exact, strict=True)]
    return f"recall {np.mean(hits) / other.K:.3f} on 300 rows, {reported:.3f} reported"


PREPARE: dict[str, Callable[..., Contenders]] = {
    function.__name__: function
    for function in (
        end_to_end,
        against_packages,
        spec,
        on_a_graph,
        gearys_c,
        draws,
        comparison,
        relieff,
        evsc,
        evsc_trace,
        sparse_graph,
        choosing,
        refit,
        multi_cluster,
        best_of_sets,
        screening,
        significant,
        by_anchors,
        approximate,
        neighbors.few_columns,
        neighbors.sparse,
        neighbors.many_rows,
    )
}
CHECKS: dict[str, Callable[..., str]] = {
    "same_top": same_top,
    "same_neighbours": same_neighbours,
    "recall": recall,
    "recalls": neighbors.recalls,
    "sparse_recall": neighbors.sparse_recall,
}
