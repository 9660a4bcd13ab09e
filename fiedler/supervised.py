"""Recipes that read supervision: classes, real targets, must-link and cannot-link pairs.

A row about which nothing is known stays in the graph as an isolated vertex.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ._validation import check_integer, check_positive
from .affinity import Problem, Recipe, check_neighbors, neighbor_edges, undirected, warn_underflow
from .columns import rows_of
from .distances import TargetAwareDistances, row_distances
from .graph import Graph
from .neighbors import nearest_in_groups, nearest_on_line
from .supervision import Supervision


class ClassGraph(Recipe):
    """1 / n_l inside class l, 0 between classes, diagonal kept ([SPEC] eq. 2). Factored: never n x n.

    𝓛 has as many zero eigenvalues as there are classes and all others are 1 ([SPEC] footnote 9). Rows without a
    label are isolated.

    Examples
    --------
    >>> from fiedler import ClassGraph
    >>> ClassGraph().build([[1.0], [2.0], [3.0], [4.0]], ["a", "a", "b", ""])
    Graph(n_nodes=4, n_edges=1, n_components=2, n_isolated=1, storage='factored')
    """

    reads = "classes"

    def _build(self, problem: Problem) -> Graph:
        Z = _indicator(problem.supervision.classes("ClassGraph")[0])
        return Graph.from_factors(Z, 1.0 / Z.sum(axis=0))


class ReliefGraph(Recipe):
    """[SPEC] eq. 12: 1 on the diagonal, 1/k on the k nearest hits of each row, -1/((c-1)k) on its k nearest misses
    in each other class.

    The rows of eq. 12 sum to 1, so D = I; its weights are not symmetric, and f'Lf only sees (W + W')/2, which is what
    is stored. Weights are negative in part: the graph is *signed* and 𝓛 is not positive semi-definite. A class with
    fewer than k members (or k + 1 for the hits) gives all it has, with weights that keep the row sums.

    Parameters
    ----------
    n_neighbors : int, default=10

    Examples
    --------
    >>> from fiedler import ReliefGraph
    >>> ReliefGraph(n_neighbors=1).build([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1]).toarray()
    array([[ 1. ,  1. , -0.5,  0. ],
           [ 1. ,  1. , -1. , -0.5],
           [-0.5, -1. ,  1. ,  1. ],
           [ 0. , -0.5,  1. ,  1. ]])
    """

    signed, reads = True, "classes"

    def __init__(self, n_neighbors: int = 10):
        self.n_neighbors = n_neighbors

    def _build(self, problem: Problem) -> Graph:
        codes, names = problem.supervision.classes("ReliefGraph")
        check_integer("n_neighbors", self.n_neighbors, 1)
        n, labeled = problem.n_samples, np.flatnonzero(codes >= 0)
        known = codes[labeled]
        X = problem.X if len(labeled) == n else rows_of(problem.X, labeled)
        i, j, group = nearest_in_groups(row_distances(X), known, self.n_neighbors)
        pair = i * len(names) + group  # row i has as many neighbours in a group as this occurs
        weight = np.where(known[i] == group, 1.0, -1.0 / (len(names) - 1)) / np.bincount(pair)[pair]
        entries = (
            np.r_[np.ones(len(labeled)), weight],
            (labeled[np.r_[: len(labeled), i]], labeled[np.r_[: len(labeled), j]]),
        )
        W = sp.csr_array(entries, shape=(n, n))
        return Graph.from_weights((W + W.T) / 2.0, degree=(codes >= 0).astype(np.float64))


class TargetKNN(Recipe):
    """kNN graph on the real target, weights exp(-(y_i - y_j)² / t), diagonal 0 ([DV] eq. 4).

    Rows with an unknown target are isolated. With at most k other known targets the graph on them is complete.

    Parameters
    ----------
    n_neighbors : int, default=5
    t : float, default=1.0
        In squared units of y: standardise the target, or t scales with it.

    Examples
    --------
    >>> from fiedler import TargetKNN
    >>> TargetKNN(n_neighbors=1).build([[0.0], [0.0], [0.0], [0.0]], [0.0, 0.1, 0.3, float("nan")])
    Graph(n_nodes=4, n_edges=2, n_components=1, n_isolated=1, storage='csr')
    """

    reads = "target"

    def __init__(self, n_neighbors: int = 5, t: float = 1.0):
        self.n_neighbors, self.t = n_neighbors, t

    def _build(self, problem: Problem) -> Graph:
        check_positive("t", self.t)
        check_integer("n_neighbors", self.n_neighbors, 1)
        target = problem.supervision.target("TargetKNN")
        known = np.flatnonzero(~np.isnan(target))
        y, k = target[known], min(self.n_neighbors, len(known) - 1)
        i, j, _ = undirected(nearest_on_line(y, k))
        graph = Graph.from_edges(known[i], known[j], np.exp(-((y[i] - y[j]) ** 2) / self.t), problem.n_samples)
        _warn_if_target_underflows(graph, target, self.t)
        return graph


class SemiTarget(Recipe):
    """kNN graph that measures closeness by the target where it is known ([DV] eq. 8 and 9), diagonal 0.

    d_ij = (y_i - y_j)² if both targets are known, else the mean squared feature difference; the k nearest are taken
    by d, and w_ij = exp(-d_ij / t), times ``weight_labeled`` (C in the paper) where both targets are known.
    Standardise features and target first: d compares the two.

    Parameters
    ----------
    n_neighbors : int, default=30
    t : float, default=1.0
    weight_labeled : float, default=5.0

    Examples
    --------
    >>> import numpy as np
    >>> from fiedler import SemiTarget
    >>> SemiTarget(n_neighbors=1).build([[0.0], [1.0], [1.5]], [0.0, 0.0, np.nan]).toarray().round(3)
    array([[0.   , 5.   , 0.   ],
           [5.   , 0.   , 0.779],
           [0.   , 0.779, 0.   ]])
    """

    reads = "target"

    def __init__(self, n_neighbors: int = 30, t: float = 1.0, weight_labeled: float = 5.0):
        self.n_neighbors, self.t, self.weight_labeled = n_neighbors, t, weight_labeled

    def _build(self, problem: Problem) -> Graph:
        check_positive("t", self.t)
        check_positive("weight_labeled", self.weight_labeled)
        target = problem.supervision.target("SemiTarget")
        k = min(check_integer("n_neighbors", self.n_neighbors, 1), problem.n_samples - 1)
        i, j, d = neighbor_edges(TargetAwareDistances(problem.X, target), k)
        both_known = ~np.isnan(target[i] + target[j])
        weights = np.exp(-d / self.t) * np.where(both_known, self.weight_labeled, 1.0)
        graph = Graph.from_edges(i, j, weights, problem.n_samples)
        _warn_if_target_underflows(graph, target, self.t)
        return graph


class MustLink(Recipe):
    """1 per must-link pair, diagonal 0 ([KA] eq. 7). Without pairs, every two rows of the same class are linked.

    Examples
    --------
    >>> from fiedler import MustLink
    >>> MustLink().build([[1.0], [2.0], [3.0]], must_link=[[0, 2]], cannot_link=[[0, 1]]).n_edges
    1
    """

    reads = "pairs"

    def _build(self, problem: Problem) -> Graph:
        return _pair_graph(problem, "must_link")


class CannotLink(Recipe):
    """1 per cannot-link pair, diagonal 0 ([KA] eq. 8). Without pairs, every two rows of different classes are linked.

    Examples
    --------
    >>> from fiedler import CannotLink
    >>> CannotLink().build([[1.0], [2.0], [3.0]], [0, 0, 1])
    Graph(n_nodes=3, n_edges=2, n_components=1, n_isolated=0, storage='factored')
    """

    attracts, reads = False, "pairs"

    def _build(self, problem: Problem) -> Graph:
        return _pair_graph(problem, "cannot_link")


class Within(Recipe):
    """γ on must-link pairs, 1 on kNN pairs that are in neither list, diagonal 0 ([KA] eq. 11).

    Without pairs, class labels stand for all pairs of labelled rows.

    Parameters
    ----------
    n_neighbors : int, default=5
        0 leaves γ times the must-link graph.
    gamma : float, default=100.0

    Examples
    --------
    >>> from fiedler import Within
    >>> Within(n_neighbors=1).build([[0.0], [1.0], [5.0]], must_link=[[0, 2]], cannot_link=[[1, 2]]).toarray()
    array([[  0.,   1., 100.],
           [  1.,   0.,   0.],
           [100.,   0.,   0.]])
    """

    reads = "pairs"

    def __init__(self, n_neighbors: int = 5, gamma: float = 100.0):
        self.n_neighbors, self.gamma = n_neighbors, gamma

    def _build(self, problem: Problem) -> Graph:
        check_positive("gamma", self.gamma)
        n, (i, j, w) = problem.n_samples, problem.graph(MustLink()).edges
        problem.graph(CannotLink())  # both lists must be there
        near_i, near_j = np.empty((2, 0), dtype=np.intp)
        if self.n_neighbors != 0:
            near_i, near_j, _ = neighbor_edges(row_distances(problem.X), check_neighbors(self.n_neighbors, n))
            free = ~_is_pair(problem.supervision, near_i, near_j)
            near_i, near_j = near_i[free], near_j[free]
        weights = np.r_[self.gamma * w, np.ones(len(near_i))]
        return Graph.from_edges(np.r_[i, near_i], np.r_[j, near_j], weights, n)


def _indicator(codes: np.ndarray) -> sp.csr_array:
    rows = np.flatnonzero(codes >= 0)
    return sp.csr_array((np.ones(len(rows)), (rows, codes[rows])), shape=(len(codes), int(codes.max()) + 1))


def _pair_graph(problem: Problem, kind: str) -> Graph:
    known, n = problem.supervision, problem.n_samples
    reader = kind.title().replace("_", "")
    if known.has_pairs or not known.has_classes:
        pairs = getattr(known, kind)
        if pairs is None or not len(pairs):
            raise _no_pairs(reader, known)
        return Graph.from_edges(pairs[:, 0], pairs[:, 1], np.ones(len(pairs)), n)
    codes, names = known.classes(reader)
    if kind == "cannot_link":
        return Graph.from_factors(_indicator(codes), 1.0 - np.eye(len(names)))
    if np.bincount(codes[codes >= 0]).max() < 2:
        raise _no_pairs(reader, known)
    return Graph.from_factors(_indicator(codes), np.ones(len(names)), loops=-(codes >= 0).astype(np.float64))


def _no_pairs(reader: str, known: Supervision) -> ValueError:
    if known.has_pairs:
        problem = "needs at least one pair of its kind, but got none"
    elif known.has_classes:
        problem = "needs two labelled rows of the same class, but y has one of each"
    elif known.y is not None:
        problem = "needs pairs or class labels, but y holds real targets"
    else:  # the first clause is the one scikit-learn's own estimators and checks use
        problem = "requires y to be passed, but the target y is None, and so are the pairs"
    return ValueError(
        f"{reader} {problem}; pass must_link and cannot_link as row numbers of shape (p, 2), or class labels that "
        "imply them."
    )


def _is_pair(known: Supervision, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Which of the edges (i < j) are must-link or cannot-link pairs, given or implied by two class labels."""
    if not known.has_pairs:
        codes = known.classes("Within")[0]
        return (codes[i] >= 0) & (codes[j] >= 0)
    pairs = np.concatenate([known.must_link, known.cannot_link])
    return np.isin(i * known.n_samples + j, pairs[:, 0] * known.n_samples + pairs[:, 1])


def _warn_if_target_underflows(graph: Graph, target: np.ndarray, t: float) -> None:
    lost = int(np.count_nonzero(~graph.active & ~np.isnan(target)))
    if lost:
        warn_underflow(lost, "t", t, float(2.0 * np.nanvar(target)) or 1.0)
