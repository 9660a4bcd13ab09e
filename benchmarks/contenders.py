"""What a user could pick instead: scikit-learn and scipy by hand, and the packages on PyPI, each behind one function.

A contender that is not installed, or does not run with the current NumPy, is left out with a note.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import warnings
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import kneighbors_graph

from . import data

K = 10  # neighbours, the default of fiedler's KNN
_MODULES = {  # by contender: what is imported, and the package
    "skfeature-chappers": ("skfeature.function.similarity_based.lap_score", "skfeature-chappers"),
    "ITMO_FS": ("ITMO_FS.filters.univariate", "ITMO_FS"),
    "skrebate": ("skrebate", "skrebate"),
    "fast-select": ("fast_select", "fast-select"),
    "scanpy": ("scanpy", "scanpy"),
    **dict.fromkeys(
        ("scikit-matter CUR", "scikit-matter FPS", "CUR", "FPS"), ("skmatter.feature_selection", "skmatter")
    ),
    "fastcan": ("fastcan", "fastcan"),
    **dict.fromkeys(("faiss IVF", "faiss HNSW"), ("faiss", "faiss-cpu")),
    "usearch": ("usearch", "usearch"),
    "pynndescent": ("pynndescent", "pynndescent"),
}


def missing(name: str) -> str | None:
    """Why a contender cannot be run, or None."""
    name = name.split(",")[0]
    if name not in _MODULES:
        return None
    try:
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            importlib.import_module(_MODULES[name][0])
    except Exception as error:  # a package may fail in any way on a NumPy newer than itself
        return f"{name} left out: {type(error).__name__}: {error}"
    return None


def versions() -> dict[str, str]:
    """Versions of everything measured that is installed."""
    found = {}
    packages = dict.fromkeys(package for _, package in _MODULES.values())
    for name in ("fiedler", "numpy", "scipy", "scikit-learn", "numba", *packages):
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def laplacian_by_hand(X: Any, k: int = K) -> np.ndarray:
    """Laplacian score as a good user writes it: scikit-learn's neighbours, scipy's products on the whole array."""
    W = kneighbors_graph(X, k, mode="distance")
    W = W.maximum(W.T)
    W.data = np.exp(-(W.data**2) / (2 * W.data.mean() ** 2))
    return scores_by_hand(X, W)


def scores_by_hand(X: Any, W: Any) -> np.ndarray:
    """The scores on a given graph, 1 - f̃'Wf̃ / f̃'Df̃; sparse X stays sparse, hence uncentred."""
    d = np.asarray(W.sum(axis=1)).ravel()
    if sp.issparse(X):
        fDf, fWf = X.multiply(X).T @ d, np.asarray(X.multiply(W @ X).sum(axis=0)).ravel()
        return (fDf - fWf) / (fDf - (X.T @ d) ** 2 / d.sum())
    F = X - d @ X / d.sum()
    return 1.0 - np.einsum("ij,ij->j", F, W @ F) / np.einsum("i,ij,ij->j", d, F, F)


def call(path: str, *arguments: Any, **options: Any) -> Any:
    """What a function or class of a package gives, imported when it is called: ``"package.module.name"``."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)(*arguments, **options)


def skfeature(path: str, X: np.ndarray, *y: Any, k: int | None = K, **options: Any) -> np.ndarray:
    """A function of skfeature-chappers, on its heat-kernel kNN graph unless k is None; its cosine default overwrites X.

    "rank", the default of its Laplacian score, takes time quadratic in the number of features; "index" does not.
    """
    if k is not None:
        graph = {"metric": "euclidean", "neighbor_mode": "knn", "weight_mode": "heat_kernel", "k": k, "t": 1000.0}
        options["W"] = call("skfeature.utility.construct_W.construct_W", X, **graph)
    return call(f"skfeature.function.{path}", X, *y, **options)


def scanpy_neighbors(X: sp.csr_array, k: int = K) -> sp.csr_matrix:
    """The graph of cells as scanpy builds it: 50 principal components, and approximate neighbours in them."""
    import scanpy as sc
    from anndata import AnnData
    from pynndescent import PyNNDescentTransformer

    class Search(PyNNDescentTransformer):
        """What scanpy uses by default; its result is a csr_array from pynndescent 0.7 on, which scanpy 1.11 refuses."""

        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> sp.csr_matrix:
            return sp.csr_matrix(super().fit_transform(X, y, **fit_params))

    adata = AnnData(sp.csr_matrix(X))
    sc.pp.pca(adata, n_comps=50, random_state=0)
    search = Search(n_neighbors=k + 1, metric="euclidean", random_state=0)
    sc.pp.neighbors(adata, n_neighbors=k + 1, random_state=0, transformer=search)
    return adata.obsp["connectivities"]


def skmatter(kind: str, X: np.ndarray, k: int, **options: Any) -> np.ndarray:
    """The columns that CUR or FPS of scikit-matter chooses."""
    model = call(f"skmatter.feature_selection.{kind}", n_to_select=k, **options)
    return model.fit(X - X.mean(axis=0)).selected_idx_


# -------------------------------------------------------------------- indexes of neighbours
# They are tuned as a user would: built once, then searched wider until they find 98 % of the neighbours of 300 rows.

SAMPLE = 300


def _clustered(n: int, m: int, number: int, apart: float) -> np.ndarray:
    rng = np.random.default_rng(0)
    return (rng.normal(size=(number, m)) * apart)[rng.integers(number, size=n)] + rng.normal(size=(n, m))


@cache
def rows(name: str) -> np.ndarray:
    """Rows whose neighbours are searched, stored or made."""
    if name.startswith(("kddcup", "shuttle", "fashion_mnist")):
        X = data.load(name.split(",")[0], np.float32 if name == "fashion_mnist" else np.float64)[0]
        return X[:100_000] if "rows" in name else X
    made = {
        "200,000 x 3": lambda: data.gaussian(200_000, 3),
        "200,000 x 8, uniform": lambda: np.random.default_rng(0).uniform(size=(200_000, 8)),
        "200,000 x 16, clustered": lambda: _clustered(200_000, 16, 200, 5.0),
        "1,000,000 x 8": lambda: data.gaussian(1_000_000, 8),
        "1,000,000 x 100, clustered": lambda: _clustered(1_000_000, 100, 1000, 2.0),
    }
    return made[name]()


@cache
def single(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The different rows, centred, in float32; some of them, and their true neighbours."""
    from fiedler.engine.approximate import smallest
    from fiedler.engine.distances import row_distances

    X = np.unique(rows(name), axis=0) if name == "kddcup" else rows(name)
    X = np.ascontiguousarray(X - X.mean(axis=0), dtype=np.float32)
    some = np.sort(np.random.default_rng(1).choice(len(X), SAMPLE, replace=False))
    return X, some, smallest(row_distances(X).in_double().block(some), K)


def recall(found: np.ndarray, some: np.ndarray, exact: np.ndarray) -> float:
    near = [set(a.tolist()) - {i} for a, i in zip(found, some.tolist(), strict=True)]
    return float(np.mean([len(a & set(b.tolist())) for a, b in zip(near, exact, strict=True)])) / K


def indexed(name: str, package: str) -> np.ndarray:
    """The neighbours of all rows by an index, built and searched as wide as needed."""
    X, some, exact = single(name)
    n, m = X.shape
    if package == "usearch":
        index = call("usearch.index.Index", ndim=m, metric="l2sq", dtype="f32")
        index.add(np.arange(n), X)
    elif package == "faiss IVF":
        n_cells = int(2 * np.sqrt(n))
        index = call("faiss.IndexIVFFlat", call("faiss.IndexFlatL2", m), m, n_cells)
        index.train(X[np.random.default_rng(0).choice(n, min(n, 50 * n_cells), replace=False)])
        index.add(X)
    else:
        index = call("faiss.IndexHNSWFlat", m, 16)
        index.add(X)

    def search(queries: np.ndarray, width: int) -> np.ndarray:
        if package == "usearch":
            index.expansion_search = width
            return index.search(queries, K + 1).keys.astype(np.intp)
        if package == "faiss IVF":
            index.nprobe = width
        else:
            index.hnsw.efSearch = width
        return index.search(queries, K + 1)[1]

    width = 4 if package == "faiss IVF" else 16
    while recall(search(X[some], width), some, exact) < 0.98 and width < 2000:
        width = int(1.4 * width) + 1
    return search(X, width)


def pynndescent(X: Any) -> np.ndarray:
    return call("pynndescent.NNDescent", X, n_neighbors=K + 1, random_state=0).neighbor_graph[0]
