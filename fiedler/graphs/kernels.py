"""Kernel graphs, in which every two rows are linked: the Gaussian kernel and the diffusion kernel."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

from ..problem import Problem
from ..validation import check_positive
from .adjacency import safe_bandwidth, warn_underflow
from .graph import Graph
from .neighbors import KNN
from .recipe import Recipe, as_recipe, check_bandwidth, check_dense, check_neighbors


class RBF(Recipe):
    """Full kernel graph w_ij = exp(-‖x_i - x_j‖² / 2δ²), diagonal 1 ([ZL] 3, [SPEC] eq. 1, [KA] eq. 3, [EV] 2.1).

    Parameters
    ----------
    bandwidth : float, optional
        δ; by default ``scale`` times the median distance between two rows.
    scale : float, default=1.0
        Factor of the median distance; used only if ``bandwidth`` is None.
    n_neighbors : int, optional
        Self-tuning width (Zelnik-Manor and Perona 2004): 2δ² is 2 s² δ_i δ_j, where δ_i is the distance of row i to its
        k-th nearest row and s is ``scale``. Dense and thin groups of rows get weights of the same size.

    Examples
    --------
    >>> from fiedler import RBF
    >>> RBF().build([[0.0], [1.0], [3.0]])
    Graph(n_nodes=3, n_edges=3, n_components=1, n_isolated=0, storage='dense', bandwidth=2)
    """

    def __init__(self, bandwidth: float | None = None, scale: float = 1.0, n_neighbors: int | None = None):
        self.bandwidth, self.scale, self.n_neighbors = bandwidth, scale, n_neighbors

    def make(self, problem: Problem) -> Graph:
        check_positive("bandwidth", self.bandwidth, optional=True)
        check_positive("scale", self.scale)
        check_dense("RBF", problem.n_samples)
        squared = problem.distances().matrix()
        typical = float(np.median(np.sqrt(squared[np.tri(len(squared), k=-1, dtype=bool)]))) or 1.0  # if rows are equal
        width = typical * self.scale if self.bandwidth is None else float(self.bandwidth)
        bandwidth = check_bandwidth("bandwidth", width)
        if self.n_neighbors is not None:
            k = check_neighbors(self.n_neighbors, problem.n_samples)
            own = np.sqrt(np.sort(squared, axis=1)[:, k])  # the first of a row is the row itself
            own = self.scale * np.where(own > 0, own, typical)  # if k rows are equal
            return Graph.from_weights(np.exp(squared / (-2.0 * np.outer(own, own))))
        W = np.exp(squared / (-2.0 * bandwidth**2))
        alone = np.count_nonzero(W, axis=1) == 1  # only the diagonal entry is not 0
        if alone.any():
            np.fill_diagonal(squared, np.inf)
            works = safe_bandwidth(typical, squared.min(axis=1))
            warn_underflow(int(alone.sum()), "bandwidth", bandwidth, works)
        return Graph.from_weights(W, bandwidth=bandwidth)


class Diffusion(Recipe):
    """Diffusion kernel exp(-β L₀) of a graph, used as a full W ([KL]; [SPEC] section 4).

    The rows sum to 1. The diagonal of the kernel is kept.

    Parameters
    ----------
    graph : Recipe, optional
        The graph of L₀; by default ``KNN(weight="binary")``.
    beta : float, default=1.0
        Diffusion time β; larger values link rows farther apart.
    n_neighbors : int, optional
        Keep the k largest weights of each row besides the diagonal, those of either row; by default all weights. The
        rows then no longer sum to 1.

    Examples
    --------
    >>> from fiedler import KNN, Diffusion
    >>> Diffusion(KNN(1, "binary")).build([[0.0], [1.0], [9.0]]).toarray().sum(axis=1).round(9)
    array([1., 1., 1.])
    """

    def __init__(self, graph: Recipe | None = None, beta: float = 1.0, n_neighbors: int | None = None):
        self.graph, self.beta, self.n_neighbors = graph, beta, n_neighbors

    @property
    def reads_X(self) -> bool:
        return self.graph is None or as_recipe(self.graph).reads_X

    def make(self, problem: Problem) -> Graph:
        check_positive("beta", self.beta)
        check_dense("Diffusion", problem.n_samples)
        base = problem.graph(as_recipe(self.graph) if self.graph is not None else KNN(weight="binary"))
        K = np.eye(problem.n_samples)
        for component in range(base.n_components):  # between components the kernel is exactly zero
            nodes = np.flatnonzero(base.components == component)
            L = base.laplacian_dot(np.eye(problem.n_samples)[:, nodes])[nodes]
            values, vectors = eigh(L)
            K[np.ix_(nodes, nodes)] = np.maximum((vectors * np.exp(-self.beta * values)) @ vectors.T, 0.0)
        K = (K + K.T) / 2.0
        if self.n_neighbors is None:
            return Graph.from_weights(K)
        k = check_neighbors(self.n_neighbors, problem.n_samples)
        others = np.where(np.eye(len(K), dtype=bool), np.inf, K.round(12))  # the diagonal stays; rounding is no order
        kept = np.zeros(K.shape, dtype=bool)
        np.put_along_axis(kept, np.argsort(-others, axis=1, kind="stable")[:, : k + 1], True, axis=1)
        return Graph.from_weights(sp.csr_array(np.where(kept | kept.T, K, 0.0)))
