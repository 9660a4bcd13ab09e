"""What a user could pick instead: scikit-learn and scipy by hand, and the packages on PyPI, each behind one function.

A contender that is not installed, or does not run with the current NumPy, is left out with a note.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import kneighbors_graph

K = 10  # neighbours, the default of fiedler's KNN

_MODULES = {
    "skfeature-chappers": "skfeature.function.similarity_based.lap_score",
    "ITMO_FS": "ITMO_FS.filters.univariate",
    "skrebate": "skrebate",
    "fast-select": "fast_select",
    "scanpy": "scanpy",
    "scikit-matter CUR": "skmatter.feature_selection",
    "scikit-matter FPS": "skmatter.feature_selection",
    "fastcan": "fastcan",
    "faiss IVF": "faiss",
    "faiss HNSW": "faiss",
    "usearch": "usearch",
    "pynndescent": "pynndescent",
}
_PACKAGES = {"scikit-matter CUR": "skmatter", "scikit-matter FPS": "skmatter"}  # where they differ from the name
_PACKAGES |= {"faiss IVF": "faiss-cpu", "faiss HNSW": "faiss-cpu"}


def missing(name: str) -> str | None:
    """Why a contender cannot be run, or None."""
    name = name.split(",")[0]
    if name not in _MODULES:
        return None
    try:
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            importlib.import_module(_MODULES[name])
    except Exception as error:  # a package may fail in any way on a NumPy newer than itself
        return f"{name} left out: {type(error).__name__}: {error}"
    return None


def versions() -> dict[str, str]:
    """Versions of everything measured; empty where it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    packages = dict.fromkeys(_PACKAGES.get(name, name) for name in _MODULES)
    for name in ("fiedler", "numpy", "scipy", "scikit-learn", "numba", *packages):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = ""
    return found


# -------------------------------------------------------------------- scikit-learn and scipy by hand


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


# -------------------------------------------------------------------- packages


def skfeature_graph(X: np.ndarray, k: int = K) -> Any:
    """The heat-kernel kNN graph of skfeature; its cosine default would overwrite X."""
    from skfeature.utility.construct_W import construct_W

    return construct_W(X, metric="euclidean", neighbor_mode="knn", weight_mode="heat_kernel", k=k, t=1000.0)


def skfeature_laplacian(X: np.ndarray, mode: str = "rank") -> np.ndarray:
    """Laplacian score of skfeature-chappers, graph included, for dense X.

    It returns no scores but "rank", its default, for SelectKBest, or "index". Turning the one into the other takes
    time quadratic in the number of features, so both are measured.
    """
    from skfeature.function.similarity_based.lap_score import lap_score

    return lap_score(X, mode=mode, W=skfeature_graph(X))


def skfeature_spec(X: np.ndarray, style: int) -> np.ndarray:
    """SPEC of skfeature-chappers, graph included: style 0 is φ2, style k >= 2 is φ3 with k eigenvectors."""
    from skfeature.function.similarity_based.SPEC import spec

    return spec(X, style=style, W=skfeature_graph(X))


def skfeature_mcfs(X: np.ndarray, number: int, n_clusters: int) -> np.ndarray:
    """MCFS of skfeature-chappers, graph included; it ranks by max(a), where the paper has max(|a|)."""
    from skfeature.function.sparse_learning_based.MCFS import mcfs

    return mcfs(X, n_selected_features=number, mode="index", W=skfeature_graph(X, 5), n_clusters=n_clusters)[:number]


def skfeature_trace_ratio(X: np.ndarray, y: np.ndarray, number: int) -> np.ndarray:
    """Trace ratio of skfeature-chappers on Fisher's graphs; it searches among the best Fisher scores only."""
    from skfeature.function.similarity_based.trace_ratio import trace_ratio

    return trace_ratio(X, y, mode="index", n_selected_features=number, style="fisher")[:number]


def itmo_laplacian(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Laplacian score of ITMO_FS; the release on PyPI adds edges inside the classes."""
    from ITMO_FS.filters.univariate import laplacian_score

    return laplacian_score(X, y, k_neighbors=K)


def skrebate_relieff(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """ReliefF of skrebate on all cores: Manhattan distances on ranges, absolute differences, k hits and k misses."""
    from skrebate import ReliefF

    return ReliefF(n_features_to_select=1, n_neighbors=K, n_jobs=-1).fit(X, y).feature_importances_


def fast_select_relieff(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """ReliefF of fast-select on all cores, compiled: what skrebate computes, in single precision."""
    from fast_select import ReliefF

    return ReliefF(n_features_to_select=1, n_neighbors=K, backend="cpu").fit(X, y).feature_importances_


def gearys_c(W: sp.csr_matrix, by_feature: sp.csr_matrix) -> np.ndarray:
    """Geary's C of scanpy, which is the Laplacian score where all degrees are equal; X comes transposed."""
    from scanpy.metrics import gearys_c as compute

    return compute(W, by_feature)


# -------------------------------------------------------------------- sets of columns


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


def skmatter_cur(X: np.ndarray, k: int) -> np.ndarray:
    """CUR of scikit-matter: the column of largest leverage, orthogonalised, again and again."""
    from skmatter.feature_selection import CUR

    return CUR(n_to_select=k).fit(X - X.mean(axis=0)).selected_idx_


def skmatter_fps(X: np.ndarray, k: int) -> np.ndarray:
    """Farthest points among the columns, by scikit-matter."""
    from skmatter.feature_selection import FPS

    return FPS(n_to_select=k, initialize=0).fit(X - X.mean(axis=0)).selected_idx_


def fastcan_columns(X: np.ndarray, k: int) -> np.ndarray:
    """fastcan's columns that correlate most with the first principal components, as its documentation shows."""
    from fastcan import FastCan
    from sklearn.decomposition import PCA

    components = PCA(n_components=min(k, *X.shape) // 2, random_state=0).fit_transform(X)
    return FastCan(k, verbose=0).fit(X, components).indices_


def pivoted_qr(X: np.ndarray, k: int) -> np.ndarray:
    """The first pivots of LAPACK's QR."""
    from scipy.linalg import qr

    return qr(X - X.mean(axis=0), mode="r", pivoting=True)[1][:k]


# -------------------------------------------------------------------- limits


def gemm_side(flops: float) -> int:
    """Side of a square product with that many floating-point operations, the shape BLAS is fastest at."""
    return round((flops / 2.0) ** (1.0 / 3.0))


def evsc_flops(n: int, m: int) -> float:
    """Operations of EVSC over all eigenpairs of a full graph: (n x edges) times (edges x m)."""
    return 2.0 * n * (n * (n - 1) / 2.0) * m
