"""Graphs that are there already: weights or a :class:`Graph` of the caller's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..data.arrays import Matrix, take_rows
from ..data.source import Source
from ..problem import Problem
from ..validation import check_positive, is_sparse
from .graph import Graph
from .recipe import Recipe, safe_bandwidth, warn_underflow

_SEEN, _ALIKE = (
    200,
    0.5,
)  # entries of W that are compared with X, and the rank correlation from which they are distances


class Precomputed(Recipe):
    """A graph you already have: a symmetric non-negative matrix W (dense or sparse), or a :class:`Graph`.

    Parameters
    ----------
    W : array-like or sparse matrix of shape (n_samples, n_samples), or Graph
        Its nodes are the rows of X.
    distances : bool, default=False
        W holds distances, as ``kneighbors_graph(mode="distance")`` gives: weights are exp(-w² / 2δ²) on the entries off
        the diagonal, of a sparse W on those that are stored. Where large entries of W stand between rows of X that are
        far apart, and this is False, a warning says so.
    bandwidth : float, optional
        δ for distances; by default their mean.

    Examples
    --------
    >>> from fiedler import Precomputed
    >>> Precomputed([[0, 1], [1, 0]]).build([[3.0], [4.0]]).n_edges
    1
    >>> Precomputed([[0, 2], [2, 0]], distances=True).build([[3.0], [5.0]])
    Graph(n_nodes=2, n_edges=1, n_components=1, n_isolated=0, storage='dense', bandwidth=2)
    """

    def __init__(self, W: Any, distances: bool = False, bandwidth: float | None = None):
        self.W, self.distances, self.bandwidth = W, distances, bandwidth

    def _build(self, problem: Problem) -> Graph:
        W = self.W
        shape = (W.n_nodes, W.n_nodes) if isinstance(W, Graph) else np.shape(W)
        if len(shape) != 2 or shape[0] != shape[1]:
            raise ValueError(f"W must be a square matrix of similarities between rows, got shape {shape}.")
        if shape[0] != problem.n_samples:
            raise ValueError(
                f"W is {shape[0]} x {shape[0]}, but X has {problem.n_samples} rows; inside cross-validation rows are "
                "sliced, so use a recipe such as KNN() there."
            )
        if isinstance(W, Graph):
            return W
        W = W if is_sparse(W) else np.asarray(W, dtype=np.float64)
        if not np.isfinite(W.data if is_sparse(W) else W).all():
            raise ValueError("W contains NaN or inf; similarities must be finite.")
        if W.min() < 0:
            raise ValueError(f"W holds negative weights such as {W.min():.6g}; similarities must be non-negative.")
        asymmetry = float(abs(W - W.T).max())
        if asymmetry > 1e-10 * float(W.max()):
            raise ValueError(
                f"W is not symmetric (entries differ by up to {asymmetry:.6g}); pass W.maximum(W.T) or (W + W.T) / 2."
            )
        if self.distances:
            return self._from_distances(W)
        if _grows_with_distance(W, problem.X):
            warnings.warn(
                "large entries of W stand between rows of X that are far apart: it seems to hold distances, which are "
                "taken as similarities; use Precomputed(W, distances=True).",
                UserWarning,
                stacklevel=2,
            )
        return Graph.from_weights(W)

    def _from_distances(self, D: Any) -> Graph:
        check_positive("bandwidth", self.bandwidth, optional=True)
        n = D.shape[0]
        if not is_sparse(D):
            bandwidth = self._width(float(D.sum() - np.trace(D)), n * (n - 1))
            W = np.exp(D**2 / (-2.0 * bandwidth**2))
            np.fill_diagonal(W, 0.0)
            return Graph.from_weights(W, bandwidth=bandwidth)
        near = sp.coo_array(D, dtype=np.float64)
        off = near.row != near.col
        i, j, d = near.row[off], near.col[off], near.data[off]
        bandwidth = self._width(float(d.sum()), len(d))
        graph = Graph.from_weights(
            sp.csr_array((np.exp(d**2 / (-2.0 * bandwidth**2)), (i, j)), shape=(n, n)), bandwidth=bandwidth
        )
        if graph.n_isolated and len(d):
            far = np.full(n, np.inf)
            np.minimum.at(far, i, d**2)
            works = safe_bandwidth(float(d.mean()), far[np.isfinite(far)])
            warn_underflow(graph.n_isolated, "bandwidth", bandwidth, works)
        return graph

    def _width(self, total: float, number: int) -> float:
        """δ as stated, or the mean distance."""
        return total / max(number, 1) or 1.0 if self.bandwidth is None else float(self.bandwidth)


def _grows_with_distance(W: Any, X: Matrix) -> bool:
    """Whether entries of W are the larger the farther two rows of X lie apart, judged on some pairs."""
    if isinstance(X, Source) or (W.diagonal() != 0).any():
        return False
    rows = np.linspace(0, W.shape[0] - 1, min(W.shape[0], _SEEN)).astype(np.intp)
    part = sp.csr_array(W)[rows].tocoo() if is_sparse(W) else sp.coo_array(W[rows])
    chosen = np.linspace(0, part.nnz - 1, min(part.nnz, _SEEN)).astype(np.intp)
    weights, ends = part.data[chosen], (rows[part.row[chosen]], part.col[chosen])
    if len(weights) < 10 or weights.min() == weights.max():
        return False
    from scipy.stats import spearmanr  # takes a third of a second to import

    a, b = (take_rows(X, end).astype(np.float64) for end in ends)
    gap = ((a - b) ** 2).sum(axis=1)
    return bool(spearmanr(weights, gap).statistic > _ALIKE)


def as_recipe(graph: Any) -> Recipe:
    """Whatever stands for a graph, as a recipe.

    Parameters
    ----------
    graph : Recipe, Graph or matrix of weights
        What a user hands over.

    Returns
    -------
    recipe : Recipe
        Itself; of a Graph or a matrix a :class:`Precomputed`.
    """
    if isinstance(graph, Recipe):
        return graph
    if isinstance(graph, (Graph, np.ndarray)) or is_sparse(graph):
        return Precomputed(graph)
    raise TypeError(f"graph must be a recipe such as KNN(), a Graph or a matrix of weights, got {graph!r}.")
