"""Conversion of matrices and of graphs of other libraries to a square matrix of weights between rows.

    networkx   G.edges(data="weight")    nodes 0 ... n-1 are row numbers; other nodes are taken in the order of list(G)
    igraph     G.get_edgelist(), G.es    vertices are row numbers
    libpysal   G.sparse                  of a Graph or a W, in the order of its ids
    others     a square matrix, dense or sparse: scikit-learn's and scanpy's graphs, frames, lists

None of these libraries is imported. An edge without a weight has weight 1; the weights of parallel edges are added.
"""

from __future__ import annotations

import warnings
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..data.arrays import as_csr
from ..errors import ParameterError
from ..validation import check_choice, check_positive, is_sparse

SquareMatrix: TypeAlias = np.ndarray | sp.csr_array

_RULES = ("max", "min", "mean")
_ROUNDING = 1e-10  # the two directions of an edge may differ by this share of the largest weight


def library_of(graph: Any) -> str | None:
    """The library whose graph this is, by what the object offers; None for matrices and for anything else.

    Examples
    --------
    >>> from fiedler.graphs.adjacency import library_of
    >>> library_of([[0, 1], [1, 0]]) is None
    True
    """
    if is_sparse(graph):
        return None
    if hasattr(graph, "n") and is_sparse(getattr(graph, "sparse", None)):
        return "libpysal"
    if hasattr(graph, "get_edgelist") and hasattr(graph, "vcount"):
        return "igraph"
    return "networkx" if all(hasattr(graph, name) for name in ("is_multigraph", "nodes", "edges")) else None


def adjacency(graph: Any) -> SquareMatrix:
    """The square matrix of a graph in float64; explicitly stored zeros of a sparse matrix are kept."""
    library = library_of(graph)
    if library == "libpysal":
        graph = graph.sparse
    if library == "igraph":
        weights = graph.es["weight"] if "weight" in graph.es.attributes() else np.ones(graph.ecount())
        return _from_edges(graph.get_edgelist(), weights, graph.vcount(), graph.is_directed())
    if library == "networkx":
        return _of_networkx(graph)
    if not is_sparse(graph):
        graph = np.asarray(graph)
    if graph.dtype.kind == "c":
        raise ParameterError("W holds complex numbers, but weights must be real; use W.real or abs(W).", parameter="W")
    W = as_csr(graph) if is_sparse(graph) else np.asarray(graph, dtype=np.float64)
    if W.ndim != 2 or W.shape[0] != W.shape[1] or not W.shape[0]:
        raise ValueError(
            f"W must be a square matrix of similarities between rows, got shape {W.shape}. Cross-validation slices "
            "only the rows of a matrix; pass a fiedler.Graph there, whose rows and columns are both sliced."
        )
    return W


def symmetric(W: SquareMatrix, symmetrize: str | None) -> SquareMatrix:
    """W made symmetric by the rule ``symmetrize``, after a check that weights are finite and non-negative."""
    if symmetrize is not None:
        check_choice("symmetrize", symmetrize, _RULES)
    if not np.isfinite(W.data if is_sparse(W) else W).all():
        raise ValueError("W contains NaN or inf; similarities must be finite.")
    if W.min() < 0:
        raise ValueError(f"W holds negative weights such as {W.min():.6g}; similarities must be non-negative.")
    asymmetry = float(abs(W - W.T).max())
    if asymmetry <= _ROUNDING * float(W.max()):
        return W
    if symmetrize is None:
        raise ValueError(
            f"W is not symmetric (entries differ by up to {asymmetry:.6g}): it is a directed graph. Pass "
            "symmetrize='max' (keep an edge in either direction, as KNN does), 'min' (only in both) or 'mean'; "
            "and distances=True if it holds distances."
        )
    if symmetrize == "mean":
        both: Any = W + W.T
        return both * 0.5
    if is_sparse(W):
        return sp.csr_array(W.maximum(W.T) if symmetrize == "max" else W.minimum(W.T))
    return np.maximum(W, W.T) if symmetrize == "max" else np.minimum(W, W.T)


def from_distances(D: SquareMatrix, bandwidth: float | None) -> tuple[SquareMatrix, float]:
    """Weights exp(-d² / 2δ²) for the entries of D off the diagonal, and δ; a sparse D gives only its stored entries.

    By default δ is the mean distance, with every pair counted once. A directed graph stays directed.
    """
    check_positive("bandwidth", bandwidth, optional=True)
    stored = D.data if is_sparse(D) else D
    if not np.isfinite(stored).all() or stored.min(initial=0.0) < 0:
        raise ValueError("W holds negative, infinite or missing distances; they must be finite and non-negative.")
    n = D.shape[0]
    if not is_sparse(D):
        usual = float(D.sum() - np.trace(D)) / max(n * (n - 1), 1)  # 0 if all distances are 0
        width = (usual or 1.0) if bandwidth is None else float(bandwidth)
        W = np.exp(D**2 / (-2.0 * width**2))
        np.fill_diagonal(W, 0.0)
        return W, width
    entries = D.tocoo()
    off = entries.row != entries.col  # neighbour searches list a row as its own neighbour; this is not an edge
    i, j, d = entries.row[off].astype(np.int64), entries.col[off].astype(np.int64), entries.data[off]
    once = np.unique(np.minimum(i, j) * n + np.maximum(i, j), return_index=True)[1]
    usual = float(d[once].sum()) / max(len(once), 1)
    width = (usual or 1.0) if bandwidth is None else float(bandwidth)
    nearest = np.full(n, np.inf)
    np.minimum.at(nearest, np.r_[i, j], np.r_[d, d] ** 2)
    near = nearest[np.isfinite(nearest)]
    lost = int(np.sum(np.exp(near / (-2.0 * width**2)) == 0.0))
    if lost:
        warn_underflow(lost, "bandwidth", width, safe_bandwidth(usual, near))
    return sp.csr_array((np.exp(d**2 / (-2.0 * width**2)), (i, j)), shape=(n, n)), width


def _of_networkx(graph: Any) -> sp.csr_array:
    nodes = list(graph)
    numbered = set(nodes) == set(range(len(nodes)))  # then the order of insertion has no meaning
    place = {node: node if numbered else position for position, node in enumerate(nodes)}
    edges, weights = [], []
    for start, end, weight in graph.edges(data="weight", default=1.0):
        edges.append((place[start], place[end]))
        weights.append(weight)
    return _from_edges(edges, weights, len(nodes), graph.is_directed())


def _from_edges(edges: Any, weights: Any, n_nodes: int, directed: bool) -> sp.csr_array:
    """A matrix from edges, each given once; an undirected edge counts in both directions, a loop once."""
    i, j = np.asarray(edges, dtype=np.intp).reshape(-1, 2).T
    try:
        w = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("the attribute 'weight' of the graph's edges must hold numbers, or be left out.") from None
    if not directed:
        back = i != j
        i, j, w = np.r_[i, j[back]], np.r_[j, i[back]], np.r_[w, w[back]]
    return sp.csr_array((w, (i, j)), shape=(n_nodes, n_nodes))


def safe_bandwidth(usual: float, nearest_squared: np.ndarray) -> float:
    """A width at which every row keeps a weight of at least exp(-50) to its nearest neighbour."""
    return max(usual, float(np.sqrt(nearest_squared.max())) / 10.0)


def warn_underflow(n_rows: int, name: str, value: float, suggestion: float) -> None:
    warnings.warn(
        f"{name}={value:.6g} is so small that all weights between {n_rows} rows and the others underflow to 0 and "
        f"these rows are isolated; {name}={suggestion:.6g} works on these data.",
        UserWarning,
        stacklevel=2,
    )
