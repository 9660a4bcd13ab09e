"""The rows of the table: which work, against what, and the ratio that was promised.

A case prepares its data when it is run and gives the contenders as functions without arguments; ``fiedler`` is one of
them. ``target`` is the promised ratio of times (theirs / ours), ``floor`` what ``make bench-quick`` fails under: lower,
because the quick run takes few repeats on a machine that may be busy. Where the table of ratios has the row, that is
four fifths of the ratio it was last measured at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from fiedler import EVSC, KNN, SPEC, Anchors, LaplacianScore, ReliefF, SmoothSubset, SpectralSelector, SSelect
from fiedler.problem import Problem

from . import contenders as other
from . import data, neighbors
from .pages import HERE, records

_NOISE = 0.6  # share of a target that a quick run on a busy machine must still reach,
_FALL = 0.8  # and of the ratio on record
_COLUMNS = 2000  # columns of NEWS20 given to scanpy, which would need minutes for all of them
_QUERIES = 3500  # rows of fashion_mnist searched by brute force, whose time is proportional to them

Contenders = dict[str, Callable[[], Any]]


@cache
def recorded() -> dict[tuple[str, str], float]:
    """(work, against) to the ratio of the last full run."""
    return {(row["work"], row["against"]): float(row["ratio"]) for row in records(HERE / "results" / "ratios.csv")}


@dataclass
class Case:
    """One comparison: ``prepare()`` gives the contenders, the time of each over that of fiedler is its ratio."""

    work: str
    targets: dict[str, float]  # by contender; 0 where nothing was promised
    prepare: Callable[[], Contenders]
    quick: bool = False
    seconds: float = 4.0
    once: tuple[str, ...] = ()
    at_least: int = 3
    factors: dict[str, float] = field(default_factory=dict)
    memory: bool = False  # also trace the peak of allocations, relative to one n x m array of float64
    size: int = 0  # n m
    check: Callable[[dict[str, Any]], str] | None = None  # from what the contenders returned
    note: str = ""

    def floor(self, contender: str) -> float:
        before = recorded().get((self.work, contender))
        return _NOISE * self.targets[contender] if before is None else _FALL * before


# -------------------------------------------------------------------- Laplacian score, end to end

_HAND = "scikit-learn + scipy"
_INDEX = 'skfeature-chappers, mode="index"'


def _end_to_end(name: str) -> Contenders:
    made = {"gaussian": (2000, 5000, float), "float32": (2000, 5000, np.float32), "tall": (20_000, 500, float)}
    X = data.gaussian(*made[name][:2]).astype(made[name][2]) if name in made else data.load(name)[0]
    return {"fiedler": lambda: LaplacianScore().evaluate(X), _HAND: lambda: other.laplacian_by_hand(X)}


def _against_packages(name: str) -> Contenders:
    X, y = data.load(name)
    dense = X.toarray() if sp.issparse(X) else X
    return {
        "fiedler": lambda: LaplacianScore().evaluate(X),
        "skfeature-chappers": lambda: other.skfeature_laplacian(dense),
        _INDEX: lambda: other.skfeature_laplacian(dense, "index"),
        "ITMO_FS": lambda: other.itmo_laplacian(dense, y),
    }


def _spec(phi: int) -> Contenders:
    X, _ = data.load("BASEHOCK")
    dense, k = X.toarray(), 5
    return {
        "fiedler": lambda: SPEC(phi=phi, n_clusters=k).evaluate(X),
        "skfeature-chappers": lambda: other.skfeature_spec(dense, 0 if phi == 2 else k),
    }


# -------------------------------------------------------------------- scores on a given graph


@cache
def _graph_in_space(n: int, m: int) -> Any:
    """A kNN graph over the first three columns only: its shape is all that matters here."""
    return KNN(other.K).build(data.gaussian(n, m)[:, :3])


@cache
def news20_graph() -> Any:
    return KNN(other.K).build(data.load("NEWS20_18828")[0])


def weights(graph: Any) -> sp.csr_matrix:
    """W as a csr matrix, from the public attributes of a graph."""
    i, j, w = graph.edges
    n = graph.n_nodes
    return sp.csr_matrix((np.r_[w, w], (np.r_[i, j].astype(np.int32), np.r_[j, i].astype(np.int32))), shape=(n, n))


def _on_a_graph(n: int, m: int) -> Contenders:
    X, graph = data.gaussian(n, m), _graph_in_space(n, m)
    W = weights(graph)
    return {"fiedler": lambda: LaplacianScore(graph).evaluate(X), _HAND: lambda: other.scores_by_hand(X, W)}


def _gearys_c() -> Contenders:
    X, graph = data.load("NEWS20_18828")[0], news20_graph()
    some = np.unique(np.linspace(0, X.shape[1] - 1, _COLUMNS).astype(np.intp))
    X = sp.csr_array(X[:, some])
    W, by_feature = weights(graph), sp.csr_matrix(X.T)
    return {"fiedler": lambda: LaplacianScore(graph).evaluate(X), "scanpy": lambda: other.gearys_c(W, by_feature)}


def _draws(name: str) -> Contenders:
    """Ten draws of labels in five folds: rankings that share the graph, or build it each time."""
    X, y = data.load(name)
    rng = np.random.default_rng(0)
    told = [np.where(rng.random(len(y)) < 0.8, y, -1) for _ in range(50)]

    def shared() -> list[np.ndarray]:
        problem = Problem.of(X)
        return [SSelect().score(problem.with_supervision(labels)) for labels in told]

    return {"fiedler": shared, "a graph for each fold": lambda: [SSelect().evaluate(X, labels) for labels in told]}


def _comparison(name: str) -> Contenders:
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


def _relieff(name: str, every: int, *names: str) -> Contenders:
    X, y = (part[::every] for part in data.load(name))
    found = {
        "fiedler": lambda: ReliefF(other.K).evaluate(X, y),
        "fast-select": lambda: other.fast_select_relieff(X, y),
        "skrebate": lambda: other.skrebate_relieff(X, y),
    }
    return {key: found[key] for key in ("fiedler", *names)}


def _evsc(name: str) -> Contenders:
    X, _ = data.load(name)
    side = other.gemm_side(other.evsc_flops(*X.shape))
    A = np.random.default_rng(0).standard_normal((side, side))
    return {"fiedler": lambda: EVSC(mode="exact").evaluate(X), "one GEMM": lambda: A @ A}


def _evsc_trace(n: int) -> Contenders:
    X = data.load("madelon")[0][:n]
    return {"fiedler": lambda: EVSC().evaluate(X), "exact mode": lambda: EVSC(mode="exact").evaluate(X)}


def _same_top(results: dict[str, Any]) -> str:
    fast, exact = results["fiedler"], results["exact mode"]
    top = [set(np.argsort(-scores, kind="stable")[:100]) for scores in (fast, exact)]
    return f"{len(top[0] & top[1])} of the top 100 agree, largest relative difference {abs(fast / exact - 1).max():.1e}"


# -------------------------------------------------------------------- sets of features

# Graphs are part of fiedler's time, but on fashion_mnist, where the graph is given: the others have none. They take
# dense X only, and are left out where that would take hours; on NEWS20 no other can run at all.
CUR, FPS, QR = "scikit-matter CUR", "scikit-matter FPS", "scipy pivoted QR"
CAN = "fastcan"
_ROWS = 60_000  # of fashion_mnist

# Set, number of features, and the promised ratios; 0 where nothing was promised.
SET_ROWS = [
    ("TOX_171", 50, {CUR: 20.0, FPS: 2.0, CAN: 0.0, QR: 0.0}),
    ("TOX_171", 500, {CUR: 0.0, FPS: 1.0, CAN: 0.0, QR: 0.0}),
    ("BASEHOCK", 50, {CUR: 0.0, FPS: 0.0, CAN: 0.0, QR: 0.0}),
    ("BASEHOCK", 500, {FPS: 1.0, QR: 0.0}),
    ("wide", 50, {FPS: 0.0}),
    ("wide", 500, {FPS: 1.0}),
    ("fashion_mnist", 50, {FPS: 0.0}),
    ("fashion_mnist", 500, {FPS: 1.0}),
]


def _select(X: Any, k: int, graph: Any = None) -> Callable[[], Any]:
    criterion = SmoothSubset(graph)
    return lambda: SpectralSelector(criterion, n_features_to_select=k).fit(X).order_[:k]


def _matrix(name: str) -> Any:
    if name == "wide":
        return data.gaussian(2000, 20_000)
    if name == "fashion_mnist":
        return data.load(name, np.float64)[0][:_ROWS]
    return data.load(name)[0]


@cache
def _graph(name: str) -> Any:
    """A graph of approximate neighbours."""
    return KNN(5, algorithm="approximate").build(_matrix(name))


def _choosing(name: str, k: int) -> Contenders:
    """fiedler and who else can choose k columns of a set."""
    X = _matrix(name)
    found = {"fiedler": _select(X, k, _graph(name) if name == "fashion_mnist" else None)}
    dense = X.toarray().astype(np.float64) if sp.issparse(X) else np.asarray(X, dtype=np.float64)
    choose = {CUR: other.skmatter_cur, FPS: other.skmatter_fps, CAN: other.fastcan_columns, QR: other.pivoted_qr}
    rivals = next(targets for row, number, targets in SET_ROWS if (row, number) == (name, k))
    return found | {who: partial(choose[who], dense, k) for who in rivals}


def _by_anchors() -> Contenders:
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


def _approximate() -> Contenders:
    from sklearn.neighbors import NearestNeighbors

    X, _ = data.load("fashion_mnist", np.float32)
    index = NearestNeighbors(n_neighbors=other.K, algorithm="brute").fit(X)
    rows = np.sort(np.random.default_rng(0).choice(len(X), _QUERIES, replace=False))
    approximate = LaplacianScore(KNN(other.K, algorithm="approximate"))
    return {"fiedler": lambda: approximate.evaluate(X), "brute force": lambda: index.kneighbors(X[rows])}


def _recall(results: dict[str, Any]) -> str:
    """Recall of the approximate neighbours on rows the library did not choose itself."""
    from sklearn.neighbors import NearestNeighbors

    from fiedler.engine.search import find_neighbors

    X, _ = data.load("fashion_mnist", np.float32)
    rows = np.sort(np.random.default_rng(1).choice(len(X), 300, replace=False))
    found, _, reported = find_neighbors(X, other.K, algorithm="approximate")
    exact = NearestNeighbors(n_neighbors=other.K + 1, algorithm="brute").fit(X).kneighbors(X[rows])[1]
    hits = [len(set(found[i]) & (set(near) - {i})) for i, near in zip(rows, exact, strict=True)]
    return f"recall {np.mean(hits) / other.K:.3f} on 300 rows, {reported:.3f} reported"


# -------------------------------------------------------------------- the table


def _some(prepare: Callable[[str], Contenders], name: str, targets: dict[str, float]) -> Contenders:
    """fiedler and the contenders with a target."""
    return {who: run for who, run in prepare(name).items() if who in ("fiedler", *targets)}


def _lap(name: str, target: float, **options: Any) -> Case:
    made = {"gaussian": "gaussian, dense 2,000 x 5,000", "float32": "the same in float32", "tall": "20,000 x 500"}
    what = made.get(name, name)
    return Case(f"LS end to end, {what}", {_HAND: target}, lambda: _end_to_end(name), quick=name != "tall", **options)


CASES = [
    _lap("gaussian", 2.5, seconds=12.0),
    _lap("float32", 1.0, seconds=8.0),
    _lap("tall", 1.0, seconds=8.0),
    _lap("BASEHOCK", 1.7, note="both sparse"),
    _lap("PCMAC", 1.7, note="both sparse"),
    _lap("TOX_171", 1.0),
    _lap("pixraw10P", 1.0),
    _lap("madelon", 1.0, seconds=6.0),
    _lap("wine", 1.2, seconds=1.0),
    Case(
        "LS end to end, pixraw10P",
        {"skfeature-chappers": 30.0, _INDEX: 0.0, "ITMO_FS": 0.0},
        lambda: _against_packages("pixraw10P"),
        quick=True,
        once=("ITMO_FS",),
    ),
    Case(
        "LS end to end, BASEHOCK",
        {"skfeature-chappers": 30.0, _INDEX: 0.0, "ITMO_FS": 0.0},
        lambda: _against_packages("BASEHOCK"),
        once=("ITMO_FS",),
        note="fiedler reads it sparse, the others take dense X only",
    ),
    *(
        Case(
            f"SPEC phi{phi}, BASEHOCK",
            {"skfeature-chappers": 300.0},
            partial(_spec, phi),
            once=("skfeature-chappers",),
            note="graph included; skfeature's runs once",
        )
        for phi in (2, 3)
    ),
    *(
        Case(
            f"scores on a given kNN graph, {n:,} x {m:,}",
            {_HAND: 2.0},
            partial(_on_a_graph, n, m),
            quick=n == 2000,
            seconds=8.0,
            memory=True,
            size=n * m,
        )
        for n, m in ((2000, 5000), (200_000, 100))
    ),
    Case(
        "scores on a given kNN graph, NEWS20",
        {"scanpy": 1.0},
        _gearys_c,
        note=f"the same {_COLUMNS:,} of its columns for both; scanpy's Geary's C",
    ),
    Case(
        "sSelect, ten draws of labels in five folds, BASEHOCK",
        {"a graph for each fold": 1.5},
        lambda: _draws("BASEHOCK"),
        seconds=10.0,
        note="what compare does to rank; the graph reads no labels and is built once",
    ),
    Case(
        "compare, six methods, ten draws, BASEHOCK",
        {"its parts one by one": 0.67},
        lambda: _comparison("BASEHOCK"),
        seconds=15.0,
        at_least=2,
        note="on all cores, beside the graphs (once each), the scores and the predictions one after the other",
    ),
    Case(
        "ReliefF, madelon",
        {"fast-select": 1.0},
        lambda: _relieff("madelon", 1, "fast-select"),
        note="k = 10; fiedler: squared differences and Euclidean neighbours, the others: absolute and Manhattan",
    ),
    Case(
        "ReliefF, every fourth row of madelon",
        {"skrebate": 10.0},
        lambda: _relieff("madelon", 4, "skrebate"),
        once=("skrebate",),
        note="all rows would take skrebate minutes; the CPU time of its worker processes is not counted",
    ),
    Case(
        "ReliefF, TOX_171",
        {"fast-select": 1.0, "skrebate": 10.0},
        lambda: _relieff("TOX_171", 1, "fast-select", "skrebate"),
        once=("skrebate",),
        quick=True,
    ),
    *(
        Case(
            f"EVSC exact, {name}",
            {"one GEMM": 0.5},
            partial(_evsc, name),
            quick=name == "pixraw10P",
            seconds=6.0,
            note="a square product of the same number of operations",
        )
        for name in ("pixraw10P", "TOX_171")
    ),
    Case(
        "EVSC as it chooses, n = 300",
        {"exact mode": 2.0},
        lambda: _evsc_trace(300),
        quick=True,
        check=_same_top,
        note="madelon's first rows",
    ),
    Case(
        "EVSC as it chooses, n = 1,000",
        {"exact mode": 10.0},
        lambda: _evsc_trace(1000),
        once=("exact mode",),
        check=_same_top,
        note="madelon's first rows",
    ),
    *(
        Case(
            f"{k} features as a set, {name}",
            targets,
            partial(_choosing, name, k),
            quick=name == "TOX_171" and k == 500,
            once=tuple(who for who in targets if who != FPS),
            note="graph included; the others take dense X only" if name == "BASEHOCK" else "",
        )
        for name, k, targets in SET_ROWS
    ),
    Case(
        "20 features as a set by anchors, 1,000,000 x 100",
        {"Laplacian score": 0.5},
        _by_anchors,
        once=("fiedler", "Laplacian score"),
        at_least=0,
        seconds=0.0,
        note="blocks of rows of a Dask array, 200 anchors; the Laplacian score's own pass beside it",
    ),
    *(
        Case(
            f"exact neighbours, {name}",
            targets,
            partial(_some, neighbors.few_columns, name, targets),
            once=(neighbors.PRODUCT,),
            note="the k-d tree leaves ties at the last neighbour as they come, fiedler settles them",
        )
        for name, targets in neighbors.FEW_COLUMNS
    ),
    *(
        Case(
            f"exact neighbours, sparse, {name}",
            targets,
            partial(_some, neighbors.sparse, name, targets),
            once=(neighbors.BRUTE, neighbors.NND),
            factors={neighbors.BRUTE: n / neighbors.SPARSE_QUERIES},
            check=neighbors.sparse_recall if neighbors.NND in targets else None,
            note=f"brute force: {neighbors.SPARSE_QUERIES:,} of the rows searched, scaled to all of them",
        )
        for name, n, targets in neighbors.SPARSE
    ),
    *(
        Case(
            f"98 % of the neighbours, {name}",
            targets,
            partial(_some, neighbors.many_rows, name, targets),
            once=("fiedler", *targets),
            at_least=0,
            seconds=0.0,
            check=partial(neighbors.recalls, name),
        )
        for name, targets in neighbors.MANY_ROWS
    ),
    Case(
        "LS with approximate neighbours, fashion_mnist",
        {"brute force": 5.0},
        _approximate,
        once=("fiedler", "brute force"),
        at_least=0,
        seconds=0.0,
        factors={"brute force": 70_000 / _QUERIES},
        check=_recall,
        note=f"brute force: scikit-learn in float32, {_QUERIES:,} of the rows searched, scaled to all of them",
    ),
]
