"""Rows of the table for the search of neighbours: few columns against a k-d tree, many rows against indexes.

Indexes are tuned as a user would: built once, then searched wider until they find 98 % of the neighbours of 300 rows.
What they take is building and searching; what fiedler takes is its search, which finds its own width.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from fiedler.engine import approximate
from fiedler.engine.search import find_neighbors, nearest_rows
from fiedler.engine.streamed import row_distances

from . import contenders as other
from . import data

TREE, PRODUCT = "scipy k-d tree, ties as they come", "the product of all rows"
BRUTE = "scikit-learn brute force"
IVF, HNSW, USEARCH, NND = "faiss IVF", "faiss HNSW", "usearch", "pynndescent"
_ENOUGH, _SAMPLE = 0.98, 300

_SPARSE_QUERIES = 1000  # of the rows searched by brute force, whose time is proportional to them


def _clustered(n: int, m: int, number: int, apart: float) -> np.ndarray:
    rng = np.random.default_rng(0)
    return (rng.normal(size=(number, m)) * apart)[rng.integers(number, size=n)] + rng.normal(size=(n, m))


@cache
def _rows(name: str) -> np.ndarray:
    if name.startswith("kddcup"):
        X = data.load("kddcup")[0]
        return X[:100_000] if "rows" in name else X
    if name in ("shuttle", "fashion_mnist"):
        return data.load(name, np.float32 if name == "fashion_mnist" else np.float64)[0]
    made = {
        "200,000 x 3": lambda: data.gaussian(200_000, 3),
        "200,000 x 8, uniform": lambda: np.random.default_rng(0).uniform(size=(200_000, 8)),
        "200,000 x 16, clustered": lambda: _clustered(200_000, 16, 200, 5.0),
        "1,000,000 x 8": lambda: data.gaussian(1_000_000, 8),
        "1,000,000 x 100, clustered": lambda: _clustered(1_000_000, 100, 1000, 2.0),
    }
    return made[name]()


def few_columns(name: str) -> dict[str, Callable[[], Any]]:
    from scipy.spatial import cKDTree

    X = _rows(name)
    return {
        "fiedler": lambda: find_neighbors(X, other.K, algorithm="exact"),
        TREE: lambda: cKDTree(X).query(X, other.K + 1, workers=-1),
        PRODUCT: lambda: nearest_rows(row_distances(X), other.K),
    }


def sparse(name: str) -> dict[str, Callable[[], Any]]:
    from sklearn.neighbors import NearestNeighbors

    X = data.load("NEWS20_18828")[0] if name == "NEWS20" else data.text_like(50_000, 100_000, 0.0007)
    columns, rows = sp.csc_array(X), sp.csr_matrix(X)
    brute = NearestNeighbors(n_neighbors=other.K + 1, algorithm="brute").fit(rows)
    some = np.sort(np.random.default_rng(0).choice(X.shape[0], _SPARSE_QUERIES, replace=False))

    return {
        "fiedler": lambda: find_neighbors(columns, other.K)[0],
        BRUTE: lambda: brute.kneighbors(rows[some]),
        NND: lambda: _pynndescent(rows),
    }


def sparse_recall(results: dict[str, Any], name: str) -> str:
    """Of all rows, since the search is exact."""
    exact, found = results["fiedler"], results[NND]
    return f"recall of {NND} {_recall(found, np.arange(len(exact)), exact):.3f}; its compiling counts"


@cache
def _single(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The different rows, centred, in float32; some of them, and their true neighbours."""
    X = _rows(name)
    X = np.unique(X, axis=0) if name == "kddcup" else X
    X = np.ascontiguousarray(X - X.mean(axis=0), dtype=np.float32)
    rows = np.sort(np.random.default_rng(1).choice(len(X), _SAMPLE, replace=False))
    return X, rows, approximate._true_neighbors(X, rows, other.K)


def _recall(found: np.ndarray, rows: np.ndarray, exact: np.ndarray) -> float:
    near = [set(a.tolist()) - {i} for a, i in zip(found, rows.tolist(), strict=True)]
    return float(np.mean([len(a & set(b.tolist())) for a, b in zip(near, exact, strict=True)])) / other.K


def _wide_enough(search: Callable[[np.ndarray, int], np.ndarray], name: str, width: int) -> int:
    """The width at which an index finds enough neighbours of a sample."""
    X, rows, exact = _single(name)
    while _recall(search(X[rows], width), rows, exact) < _ENOUGH and width < 2000:
        width = int(1.4 * width) + 1
    return width


def _faiss_ivf(name: str) -> np.ndarray:
    import faiss

    X = _single(name)[0]
    n_cells = int(2 * np.sqrt(len(X)))
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(X.shape[1]), X.shape[1], n_cells)
    index.train(X[np.random.default_rng(0).choice(len(X), min(len(X), 50 * n_cells), replace=False)])
    index.add(X)

    def search(queries: np.ndarray, width: int) -> np.ndarray:
        index.nprobe = width
        return index.search(queries, other.K + 1)[1]

    return search(X, _wide_enough(search, name, 4))


def _faiss_hnsw(name: str) -> np.ndarray:
    import faiss

    X = _single(name)[0]
    index = faiss.IndexHNSWFlat(X.shape[1], 16)
    index.add(X)

    def search(queries: np.ndarray, width: int) -> np.ndarray:
        index.hnsw.efSearch = width
        return index.search(queries, other.K + 1)[1]

    return search(X, _wide_enough(search, name, 16))


def _usearch(name: str) -> np.ndarray:
    from usearch.index import Index

    X = _single(name)[0]
    index = Index(ndim=X.shape[1], metric="l2sq", dtype="f32")
    index.add(np.arange(len(X)), X)

    def search(queries: np.ndarray, width: int) -> np.ndarray:
        index.expansion_search = width
        return index.search(queries, other.K + 1).keys.astype(np.intp)

    return search(X, _wide_enough(search, name, 16))


def _pynndescent(rows: Any) -> np.ndarray:
    from pynndescent import NNDescent

    return NNDescent(rows, n_neighbors=other.K + 1, random_state=0).neighbor_graph[0]


def many_rows(name: str) -> dict[str, Callable[[], Any]]:
    X = _single(name)[0]
    return {
        "fiedler": lambda: approximate.search(X, other.K)[0],
        IVF: lambda: _faiss_ivf(name),
        HNSW: lambda: _faiss_hnsw(name),
        USEARCH: lambda: _usearch(name),
        NND: lambda: _pynndescent(X),
    }


def recalls(results: dict[str, Any], name: str) -> str:
    _, rows, exact = _single(name)
    found = (f"{who} {_recall(found[rows], rows, exact):.3f}" for who, found in results.items())
    return f"recall on {_SAMPLE} rows: {', '.join(found)}"
