"""What ``make bench`` compares: cases.csv says which work, against what, and the ratio of times that was promised.

The functions here prepare a case when it is run and give the contenders as functions without arguments; ``fiedler`` is
one of them. A row of cases.csv without ``prepare`` names a further contender of the case above it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import qr
from scipy.spatial import cKDTree
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors

import fiedler as fd
from fiedler import KNN, LaplacianScore, SpectralSelector
from fiedler.evaluate import agreement, compare
from fiedler.problem import Problem

from . import contenders as other
from . import data
from .contenders import K
from .pages import HERE, records, results
from .sets import dense
from .timing import Contenders

_NOISE, _FALL = 0.6, 0.8  # shares of a promised ratio, and of the one on record, that a quick run must still reach
_COLUMNS = 2000  # columns of NEWS20 given to scanpy, which would need minutes for all of them
_HAND, _GRAM = "scikit-learn + scipy", "one Gram product in float32"
_STORED, _FILLED = "products of stored values", "products of filled blocks"


class Case:
    """One comparison, from its rows of cases.csv: the time of each contender over that of fiedler is its ratio."""

    def __init__(self, rows: list[dict[str, str]]):
        first = rows[0]
        self.work, self.quick = first["work"], first["quick"] == "yes"
        self.name, self._check = first["prepare"], first["check"]
        self._arguments = [part for part in first["arguments"].split(";") if part]
        self.targets = {row["against"]: float(row["promised"] or 0.0) for row in rows}  # 0: nothing was promised
        self.factors = {row["against"]: float(row["factor"]) for row in rows if row["factor"]}
        everyone = first["seconds"] == "once"  # fiedler too
        self.once = (*["fiedler"] * everyone, *(row["against"] for row in rows if row["once"]))
        self.seconds = 0.0 if everyone else float(first["seconds"])
        self.at_least = 0 if everyone else int(first["at least"] or 3)
        self.size = int(first["memory"] or 0)  # n m, where the peak of allocations is traced too

    def prepare(self) -> Contenders:
        found = globals()[self.name](*self._arguments)
        return {who: run for who, run in found.items() if who in ("fiedler", *self.targets)}

    def check(self, values: dict[str, Any]) -> str:
        """What to know of the values that the contenders returned; empty where nothing is checked."""
        return globals()[self._check](values, *self._arguments) if self._check else ""

    def floor(self, contender: str) -> float:
        """The ratio that ``make bench-quick`` fails under."""
        rows = records(results("speed", "ratios"))
        before = [float(r["ratio"]) for r in rows if (r["work"], r["against"]) == (self.work, contender)]
        return _FALL * before[0] if before else _NOISE * self.targets[contender]


def cases() -> list[Case]:
    """The cases in the order of cases.csv."""
    rows: list[list[dict[str, str]]] = []
    for row in records(HERE / "cases.csv"):
        if row["prepare"]:
            rows.append([])
        rows[-1].append(row)
    return [Case(part) for part in rows]


def end_to_end(name: str) -> Contenders:
    made = {"gaussian": (2000, 5000, float), "float32": (2000, 5000, np.float32), "tall": (20_000, 500, float)}
    made |= {"500 x 200": (500, 200, float), "1,000 x 200": (1000, 200, float)}
    X = data.gaussian(*made[name][:2]).astype(made[name][2]) if name in made else data.load(name)[0]
    return {"fiedler": lambda: LaplacianScore().evaluate(X), _HAND: lambda: other.laplacian_by_hand(X)}


def against_packages(name: str) -> Contenders:
    (X, y), path = data.load(name), "similarity_based.lap_score.lap_score"
    block = dense(X)
    return {
        "fiedler": lambda: LaplacianScore().evaluate(X),
        "skfeature-chappers": lambda: other.skfeature(path, block, mode="rank"),
        'skfeature-chappers, mode="index"': lambda: other.skfeature(path, block, mode="index"),
        # the release on PyPI adds edges inside the classes
        "ITMO_FS": lambda: other.call("ITMO_FS.filters.univariate.laplacian_score", block, y, k_neighbors=K),
    }


def spec(phi: str) -> Contenders:
    X, k = data.load("BASEHOCK")[0], 5
    block, style = dense(X), 0 if phi == "2" else k  # style 0 is φ2, style k >= 2 is φ3 with k eigenvectors
    return {
        "fiedler": lambda: fd.SPEC(phi=int(phi), n_clusters=k).evaluate(X),
        "skfeature-chappers": lambda: other.skfeature("similarity_based.SPEC.spec", block, style=style),
    }


def weights(graph: Any) -> sp.csr_matrix:
    """W as a csr matrix, from the public attributes of a graph."""
    (i, j, w), n = graph.edges, graph.n_nodes
    return sp.csr_matrix((np.r_[w, w], (np.r_[i, j].astype(np.int32), np.r_[j, i].astype(np.int32))), shape=(n, n))


def on_a_graph(n: str, m: str) -> Contenders:
    """Scores on a kNN graph over the first three columns: its shape is all that matters here."""
    X = data.gaussian(int(n), int(m))
    graph = KNN(K).build(X[:, :3])
    W = weights(graph)
    return {"fiedler": lambda: LaplacianScore(graph).evaluate(X), _HAND: lambda: other.scores_by_hand(X, W)}


def gearys_c() -> Contenders:
    X = data.load("NEWS20_18828")[0]
    graph = KNN(K).build(X)
    X = sp.csr_array(X[:, np.unique(np.linspace(0, X.shape[1] - 1, _COLUMNS).astype(np.intp))])
    W, by_feature = weights(graph), sp.csr_matrix(X.T)
    scanpy = "scanpy.metrics.gearys_c"  # the Laplacian score where all degrees are equal; X comes transposed
    return {"fiedler": lambda: LaplacianScore(graph).evaluate(X), "scanpy": lambda: other.call(scanpy, W, by_feature)}


def draws(name: str) -> Contenders:
    """Ten draws of labels in five folds: rankings that share the graph, or build it each time."""
    X, y = data.load(name)
    rng = np.random.default_rng(0)
    told = [np.where(rng.random(len(y)) < 0.8, y, -1) for _ in range(50)]

    def shared() -> list[np.ndarray]:
        problem = Problem.of(X)
        return [fd.SSelect().score(problem.with_supervision(labels)) for labels in told]

    return {"fiedler": shared, "a graph for each fold": lambda: [fd.SSelect().evaluate(X, labels) for labels in told]}


def comparison(name: str) -> Contenders:
    """Six methods over ten draws: on all cores, and one cell after the other in this process."""
    X, y = data.load(name)
    methods = ["laplacian", "spec", "sselect", "fisher", "relieff", "constraint"]
    options: dict[str, Any] = {"n_features": [10, 20, 50], "n_draws": 10, "n_labels": 20}
    return {
        "fiedler": lambda: compare(methods, X, y, **options),
        "its parts one by one": lambda: compare(methods, X, y, n_jobs=1, **options),
    }


def relieff(name: str, every: str) -> Contenders:
    """Theirs on all cores: Manhattan distances on ranges, k hits and k misses."""
    (X, y), k = (part[:: int(every)] for part in data.load(name)), {"n_features_to_select": 1, "n_neighbors": K}
    return {
        "fiedler": lambda: fd.ReliefF(K).evaluate(X, y),
        "fast-select": lambda: other.call("fast_select.ReliefF", backend="cpu", **k).fit(X, y).feature_importances_,
        "skrebate": lambda: other.call("skrebate.ReliefF", n_jobs=-1, **k).fit(X, y).feature_importances_,
    }


def evsc(name: str) -> Contenders:
    """EVSC over all eigenpairs of a full graph, (n x edges) times (edges x m), beside a square product as expensive."""
    X, _ = data.load(name)
    n, m = X.shape
    side = round((n * (n * (n - 1) / 2.0) * m) ** (1.0 / 3.0))
    A = np.random.default_rng(0).standard_normal((side, side))
    return {"fiedler": lambda: fd.EVSC(mode="exact").evaluate(X), "one GEMM": lambda: A @ A}


def evsc_trace(n: str) -> Contenders:
    X = data.load("madelon")[0][: int(n)]
    return {"fiedler": lambda: fd.EVSC().evaluate(X), "exact mode": lambda: fd.EVSC(mode="exact").evaluate(X)}


def same_top(values: dict[str, Any], n: str) -> str:
    fast, exact = values["fiedler"], values["exact mode"]
    top = [set(np.argsort(-scores, kind="stable")[:100]) for scores in (fast, exact)]
    return f"{len(top[0] & top[1])} of the top 100 agree, largest relative difference {abs(fast / exact - 1).max():.1e}"


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

    def components() -> np.ndarray:  # what fastcan's columns should correlate with, as its documentation shows
        return PCA(n_components=min(number, *block.shape) // 2, random_state=0).fit_transform(block)

    graph = KNN(5, algorithm="approximate").build(X) if name == "fashion_mnist" else None
    block, number = X.toarray() if sp.issparse(X) else X, int(k)
    single = block.astype(np.float32)
    selector = SpectralSelector(fd.SmoothSubset(graph), n_features_to_select=number, screen=None)
    return {
        "fiedler": lambda: selector.fit(X).order_[:number],
        _GRAM: lambda: single @ single.T,
        "scikit-matter CUR": lambda: other.skmatter("CUR", block, number),
        "scikit-matter FPS": lambda: other.skmatter("FPS", block, number, initialize=0),
        "fastcan": lambda: other.call("fastcan.FastCan", number, verbose=0).fit(block, components()).indices_,
        "scipy pivoted QR": lambda: qr(block - block.mean(axis=0), mode="r", pivoting=True)[1][:number],
    }


def refit(n: str, m: str) -> Contenders:
    """50 features as a set with other labels, when the problem keeps what reads no labels, beside the first fit."""
    rng, shape = np.random.default_rng(0), (int(n), int(m))
    y = rng.integers(4, size=shape[0])
    X = rng.normal(size=shape) + np.outer(y, rng.normal(size=shape[1]) * (rng.random(shape[1]) < 0.2))
    few = np.where(rng.random(shape[0]) < 0.1, y, -1)
    selector = SpectralSelector("subset", n_features_to_select=50, screen=None)
    kept = Problem.of(X, reuse=True)
    selector.fit(kept, few)
    return {
        "fiedler": lambda: selector.fit(kept, y).order_[:50],
        "the first fit": lambda: selector.fit(Problem.of(X, reuse=True), y).order_[:50],
    }


def multi_cluster(name: str, number: str) -> Contenders:
    """MCFS with five eigenvectors."""
    X, k = data.load(name)[0], int(number)
    block, options = dense(X), {"n_selected_features": k, "mode": "index", "n_clusters": 5}
    selector = SpectralSelector(fd.MCFS(n_clusters=5), n_features_to_select=k, scale="keep", screen=None)
    return {
        "fiedler": lambda: selector.fit(X).order_[:k],
        "skfeature-chappers": lambda: other.skfeature("sparse_learning_based.MCFS.mcfs", block, k=5, **options)[:k],
    }


def best_of_sets(name: str, number: str) -> Contenders:
    """Trace ratio on the graph of the classes."""
    (X, y), k, module = data.load(name), int(number), "similarity_based.trace_ratio.trace_ratio"
    block, options = dense(X), {"mode": "index", "n_selected_features": k, "style": "fisher"}
    selector = SpectralSelector(fd.TraceRatio(fd.ClassGraph()), n_features_to_select=k, scale="keep", screen=None)
    return {
        "fiedler": lambda: selector.fit(X, y).order_[:k],
        "skfeature-chappers": lambda: other.skfeature(module, block, y, k=None, **options)[:k],
    }


def screening(name: str) -> Contenders:
    """The columns that agree with others, beside one Laplacian score; at most twelve times as long was promised."""
    X = data.gaussian(2000, 20_000) if name == "wide" else data.load(name)[0]
    return {"fiedler": lambda: agreement(X), "Laplacian score": lambda: LaplacianScore().evaluate(X)}


def checking(n: str, m: str) -> Contenders:
    """The default, which looks at a sample of the columns for noise and finds little, beside a fit without it."""
    X = data.gaussian(int(n), int(m))
    X += X[:, :1]
    fit = {screen: SpectralSelector("laplacian", screen=screen).fit for screen in ("auto", None)}
    return {"fiedler": lambda: fit["auto"](X), "screen=None": lambda: fit[None](X)}


def significant(name: str) -> Contenders:
    """The features above noise: five times ten folds, each tested on the graph of the others."""
    X = data.normalised(data.load(name)[0]) if name == "pbmc_batches" else data.gaussian(1000, 5000)
    single, selector = dense(X).astype(np.float32), SpectralSelector("laplacian", n_features_to_select="fdr")
    return {"fiedler": lambda: selector.fit(X).order_, _GRAM: lambda: single @ single.T}


def by_anchors() -> Contenders:
    """A million rows in one pass over their blocks, beside the Laplacian score's pass over the same."""
    import dask.array as da

    X = da.from_array(data.gaussian(1_000_000, 100).astype(np.float32), chunks=(50_000, 100))
    anchors = fd.Anchors(n_anchors=200)
    subset = fd.SmoothSubset(anchors, supervised=False)
    return {
        "fiedler": lambda: SpectralSelector(subset, n_features_to_select=20, screen=None).fit(X).order_,
        "Laplacian score": lambda: LaplacianScore(anchors).evaluate(X),
    }


def sparse_graph(stored: str, n: str = "10000", m: str = "5000") -> Contenders:
    """The neighbours of sparse rows, by the product that is chosen and by each of the two products."""
    from fiedler.engine.distances import SparseDistances
    from fiedler.engine.neighbors import nearest_rows

    X = sp.csc_array(data.cells(int(n), int(m), float(stored))[0].astype(np.float64))
    single = X.toarray().astype(np.float32)
    return {
        "fiedler": lambda: nearest_rows(SparseDistances(X), 5)[0],
        _STORED: lambda: nearest_rows(SparseDistances(X, filled=False), 5)[0],
        _FILLED: lambda: nearest_rows(SparseDistances(X, filled=True), 5)[0],
        _GRAM: lambda: single @ single.T,
    }


def same_neighbours(values: dict[str, Any], *_: str) -> str:
    found = [np.sort(values[name], axis=1) for name in ("fiedler", _STORED, _FILLED) if name in values]
    return f"the neighbours are the same: {'yes' if all(np.array_equal(found[0], one) for one in found) else 'no'}"


def few_columns(name: str) -> Contenders:
    from fiedler.engine.distances import row_distances
    from fiedler.engine.neighbors import find_neighbors, nearest_rows

    X = other.rows(name)
    return {
        "fiedler": lambda: find_neighbors(X, K, algorithm="exact"),
        "scipy k-d tree, ties as they come": lambda: cKDTree(X).query(X, K + 1, workers=-1),
        "the product of all rows": lambda: nearest_rows(row_distances(X), K),
    }


def sparse(name: str) -> Contenders:
    from fiedler.engine.neighbors import find_neighbors

    X = data.load("NEWS20_18828")[0] if name == "NEWS20" else data.text_like(50_000, 100_000, 0.0007)
    columns, rows = sp.csc_array(X), sp.csr_matrix(X)
    brute = NearestNeighbors(n_neighbors=K + 1, algorithm="brute").fit(rows)
    some = np.sort(np.random.default_rng(0).choice(X.shape[0], 1000, replace=False))  # its time is proportional to them
    return {
        "fiedler": lambda: find_neighbors(columns, K)[0],
        "scikit-learn brute force": lambda: brute.kneighbors(rows[some]),
        "pynndescent": lambda: other.pynndescent(rows),
    }


def sparse_recall(values: dict[str, Any], name: str) -> str:
    """Of all rows, since the search is exact."""
    exact, found = values["fiedler"], values["pynndescent"]
    return f"recall of pynndescent {other.recall(found, np.arange(len(exact)), exact):.3f}; its compiling counts"


def many_rows(name: str) -> Contenders:
    """Indexes take building and searching; what fiedler takes is its search, which finds its own width."""
    from fiedler.engine import approximate
    from fiedler.engine.distances import row_distances

    X = other.single(name)[0]
    indexes = {who: lambda who=who: other.indexed(name, who) for who in ("faiss IVF", "faiss HNSW", "usearch")}
    ours = {"fiedler": lambda: approximate.search(row_distances(X), K)[0]}
    return ours | indexes | {"pynndescent": lambda: other.pynndescent(X)}


def recalls(values: dict[str, Any], name: str) -> str:
    _, rows, exact = other.single(name)
    found = (f"{who} {other.recall(found[rows], rows, exact):.3f}" for who, found in values.items())
    return f"recall on {other.SAMPLE} rows: {', '.join(found)}"


def approximate() -> Contenders:
    X, _ = data.load("fashion_mnist", np.float32)
    index = NearestNeighbors(n_neighbors=K, algorithm="brute").fit(X)
    rows = np.sort(np.random.default_rng(0).choice(len(X), 3500, replace=False))  # its time is proportional to them
    approximate = LaplacianScore(KNN(K, algorithm="approximate"))
    return {"fiedler": lambda: approximate.evaluate(X), "brute force": lambda: index.kneighbors(X[rows])}


def recall(values: dict[str, Any]) -> str:
    """Recall of the approximate neighbours on rows the library did not choose itself."""
    from fiedler.engine.neighbors import find_neighbors

    X, _ = data.load("fashion_mnist", np.float32)
    rows = np.sort(np.random.default_rng(1).choice(len(X), 300, replace=False))
    found, _, reported = find_neighbors(X, K, algorithm="approximate")
    exact = NearestNeighbors(n_neighbors=K + 1, algorithm="brute").fit(X).kneighbors(X[rows])[1]
    hits = [len(set(found[i]) & (set(near) - {i})) for i, near in zip(rows, exact, strict=True)]
    return f"recall {np.mean(hits) / K:.3f} on 300 rows, {reported:.3f} reported"
