"""Neighbourhoods: an edge where one row is among the k nearest of the other."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np

from ..engine.search import find_neighbors, search_name, undirected
from ..problem import Problem
from ..validation import check_choice, check_positive
from .adjacency import check_bandwidth, safe_bandwidth, warn_underflow
from .anchors import Anchors
from .graph import Graph
from .recipe import Recipe, check_neighbors

_NEIGHBORS_UP_TO = 5_000_000  # rows beyond which a graph of neighbours no longer fits beside the data
_POOR_RECALL = 0.9  # of an approximate search, below which a warning is due


class KNN(Recipe):
    """Nearest-neighbour graph: an edge where i is one of the k nearest of j, **or** the reverse ([ZL] 4, [SPEC] 4.2).

    Diagonal 0: a row is never its own neighbour, while a duplicate of it is; ties at the k-th neighbour go to the
    smaller row number. With fewer than k other rows the graph is complete.

    Parameters
    ----------
    n_neighbors : int, default=10
        k, the neighbours each row chooses.
    weight : {"rbf", "binary"}, default="rbf"
        exp(-d² / 2δ²), or 1.
    bandwidth : float, optional
        δ; by default the mean distance over the edges of the graph.
    metric : {"euclidean", "cosine"}, default="euclidean"
        d is the Euclidean distance, or 1 - cos (1 to a row of zeros).
    algorithm : {"auto", "exact", "approximate"}, default="auto"
        "approximate" needs the extra ``fast``; it ends after some minutes of work, and the recall it reached is
        measured and shown by the graph, with a warning below 0.9. "auto" is exact up to 50,000 different rows, and
        beyond where a k-d tree is fast, X is sparse or the extra is missing, and approximate elsewhere. From a file or
        a Dask array it is exact up to 20,000 rows, fewer where scikit-learn's ``working_memory`` is so small that more
        than 16 passes over the data were needed, then takes the neighbours in single precision or in a random
        projection of long rows.
        Beyond 5,000,000 rows the graph is that of ``Anchors()``, and a warning says so.

    Examples
    --------
    >>> from fiedler import KNN
    >>> KNN(n_neighbors=1, weight="binary").build([[0.0], [1.0], [5.0]]).toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """

    def __init__(
        self,
        n_neighbors: int = 10,
        weight: str = "rbf",
        bandwidth: float | None = None,
        metric: str = "euclidean",
        algorithm: str = "auto",
    ):
        self.n_neighbors, self.weight, self.bandwidth = n_neighbors, weight, bandwidth
        self.metric, self.algorithm = metric, algorithm

    def make(self, problem: Problem) -> Graph:
        check_choice("weight", self.weight, ("rbf", "binary"))
        check_choice("metric", self.metric, ("euclidean", "cosine"))
        check_positive("bandwidth", self.bandwidth, optional=True)
        check_choice("algorithm", self.algorithm, ("auto", "exact", "approximate"))
        k = check_neighbors(self.n_neighbors, problem.n_samples)
        if self.algorithm == "auto" and problem.n_samples > _NEIGHBORS_UP_TO:
            return self._by_anchors(problem)
        known = partial(problem.distances, self.metric)
        found, squared, recall = find_neighbors(problem.X, k, self.metric, self.algorithm, known)
        if recall is not None and recall < _POOR_RECALL:
            warnings.warn(
                f"only {recall:.0%} of the {k} nearest neighbours of {problem.n_samples} rows were found in reasonable "
                "time: the rows are nearly equidistant. Anchors() needs no neighbours; algorithm='exact' finds all.",
                UserWarning,
                stacklevel=2,
            )
        how = {"recall": recall, "neighbors": search_name(problem.X, recall)}
        i, j, first = undirected(found)
        squared = squared.ravel()[first]
        if self.weight == "binary":
            return Graph.from_edges(i, j, np.ones(len(i)), problem.n_samples, **how)
        if self.metric == "cosine":
            squared = (squared / 2.0) ** 2  # on unit rows ‖u - v‖² = 2 (1 - cos)
        usual = float(np.sqrt(squared).mean()) or 1.0  # 1 when all neighbours are duplicates
        bandwidth = check_bandwidth("bandwidth", usual if self.bandwidth is None else float(self.bandwidth))
        weights = np.exp(-squared / (2.0 * bandwidth**2))
        graph = Graph.from_edges(i, j, weights, problem.n_samples, bandwidth=bandwidth, **how)
        if graph.n_isolated:
            far = np.full(problem.n_samples, np.inf)
            np.minimum.at(far, np.r_[i, j], np.r_[squared, squared])
            warn_underflow(graph.n_isolated, "bandwidth", bandwidth, safe_bandwidth(usual, far))
        return graph

    def _by_anchors(self, problem: Problem) -> Graph:
        warnings.warn(
            f"X has {problem.n_samples} rows, more than the {_NEIGHBORS_UP_TO} whose neighbours are searched: the "
            "graph is that of Anchors(). Name it yourself to choose its parameters, or use algorithm='exact' or "
            "'approximate'.",
            UserWarning,
            stacklevel=2,
        )
        return problem.graph(Anchors())
