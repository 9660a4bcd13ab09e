"""Graphs built from must-link and cannot-link pairs; without pairs, class labels imply them."""

from __future__ import annotations

import numpy as np

from ..errors import ParameterError
from ..problem import Problem
from ..supervision import Supervision
from ..validation import check_integer, check_positive
from .graph import Graph
from .labels import indicator
from .neighbors import KNN
from .recipe import Recipe


class MustLink(Recipe):
    """Must-link graph: weight 1 per must-link pair, diagonal 0 ([KA] eq. 7).

    Without pairs, every two rows of the same class are linked.

    Examples
    --------
    >>> from fiedler import MustLink
    >>> MustLink().build([[1.0], [2.0], [3.0]], must_link=[[0, 2]], cannot_link=[[0, 1]]).n_edges
    1
    """

    reads, reads_X = "pairs", False

    def make(self, problem: Problem) -> Graph:
        return _pair_graph(problem, "must_link")


class CannotLink(Recipe):
    """Cannot-link graph: weight 1 per cannot-link pair, diagonal 0 ([KA] eq. 8).

    Without pairs, every two rows of different classes are linked.

    Examples
    --------
    >>> from fiedler import CannotLink
    >>> CannotLink().build([[1.0], [2.0], [3.0]], [0, 0, 1])
    Graph(n_nodes=3, n_edges=2, n_components=1, n_isolated=0, storage='factored')
    """

    attracts, reads, reads_X = False, "pairs", False

    def make(self, problem: Problem) -> Graph:
        return _pair_graph(problem, "cannot_link")


class Within(Recipe):
    """Within graph: weight γ for must-link pairs, 1 for neighbours that are in no pair, diagonal 0 ([KA] eq. 11).

    Without pairs, class labels imply a pair for every two labelled rows.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of nearest neighbours of each row; 0 gives γ times the must-link graph.
    gamma : float, default=100.0
        γ, the weight of a must-link pair.

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

    def make(self, problem: Problem) -> Graph:
        check_positive("gamma", self.gamma)
        n, (i, j, w) = problem.n_samples, problem.graph(MustLink()).edges
        problem.graph(CannotLink())  # raises an error if there are no cannot-link pairs
        near_i, near_j = np.empty((2, 0), dtype=np.intp)
        if self.n_neighbors != 0:
            k = check_integer("n_neighbors", self.n_neighbors, 1)
            near_i, near_j, _ = problem.graph(KNN(k, "binary", algorithm="exact")).edges
            free = ~_is_pair(problem.supervision, near_i, near_j)
            near_i, near_j = near_i[free], near_j[free]
        weights = np.r_[self.gamma * w, np.ones(len(near_i))]
        return Graph.from_edges(np.r_[i, near_i], np.r_[j, near_j], weights, n)


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
        return Graph.from_factors(indicator(codes), 1.0 - np.eye(len(names)))
    if np.bincount(codes[codes >= 0]).max() < 2:
        raise _no_pairs(reader, known)
    return Graph.from_factors(indicator(codes), np.ones(len(names)), loops=-(codes >= 0).astype(np.float64))


def _no_pairs(reader: str, known: Supervision) -> ValueError:
    if known.has_pairs:
        problem = "needs at least one pair of its kind, but got none"
    elif known.has_classes:
        problem = "needs two labelled rows of the same class, but y has one row of each"
    elif known.y is not None:
        problem = "needs pairs or class labels, but y holds real targets"
    else:  # scikit-learn's checks expect the words of the first clause
        problem = "requires y to be passed, but the target y is None, and so are the pairs"
    message = (
        f"{reader} {problem}; pass must_link and cannot_link as row numbers of shape (p, 2), or class labels that "
    )
    return ParameterError(f"{message}imply them.", parameter=("must_link", "cannot_link"))


def _is_pair(known: Supervision, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Which of the edges (i < j) are must-link or cannot-link pairs, given or implied by two class labels."""
    if not known.has_pairs:
        codes = known.classes("Within")[0]
        return (codes[i] >= 0) & (codes[j] >= 0)
    pairs = np.concatenate([known.must_link, known.cannot_link])
    return np.isin(i * known.n_samples + j, pairs[:, 0] * known.n_samples + pairs[:, 1])
