"""Graphs built from labels and pairs: classes, nearest hits and misses, real targets, must-link and cannot-link.

A row without a label stays in the graph as an isolated node.

Must-link and cannot-link pairs are given, or class labels imply them.
"""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from ..data.arrays import dense, rows_of
from ..data.source import Source
from ..engine.distances import Distances, row_distances
from ..engine.neighbors import nearest_in_groups, nearest_on_line, undirected
from ..engine.smallest import closest, closest_in_rows
from ..engine.threads import batches
from ..errors import ParameterError, ParameterWarning
from ..problem import Problem
from ..supervision import Supervision
from ..validation import check_choice, check_integer, check_positive
from .adjacency import warn_underflow
from .graph import Graph
from .neighbors import KNN
from .recipe import Recipe

_DISTANCES_AT_ONCE = 2**22


class ClassGraph(Recipe):
    """Class graph: w_ij = 1 / n_l inside class l, 0 between classes, diagonal kept ([SPEC] eq. 2).

    W is stored by its factors, never as an n x n matrix. 𝓛 has one zero eigenvalue per class; all others are 1 ([SPEC]
    footnote 9). Rows without a label are isolated.

    Examples
    --------
    >>> from fiedler import ClassGraph
    >>> ClassGraph().build([[1.0], [2.0], [3.0], [4.0]], ["a", "a", "b", ""])
    Graph(n_nodes=4, n_edges=1, n_components=2, n_isolated=1, storage='factored')
    """

    reads, reads_X = "classes", False

    def make(self, problem: Problem) -> Graph:
        Z = indicator(problem.supervision.classes("ClassGraph")[0])
        return Graph.from_factors(Z, 1.0 / Z.sum(axis=0))


class ReliefGraph(Recipe):
    """Graph of ReliefF: nearest rows of the same class (hits) and of other classes (misses) ([SPEC] eq. 12, [RK]).

    The weights are 1 on the diagonal, 1/k for the k nearest hits of each row, and -1/((c-1)k) for its k nearest misses
    in each other class. The rows of eq. 12 sum to 1, so D = I. Its weights are not symmetric, but f'Lf depends only on
    (W + W')/2, which is stored. Some weights are negative: the graph is *signed*, and 𝓛 is not positive semi-definite.
    If a class has fewer than k members (k + 1 for the hits), all are used, with weights that keep the row sums.

    Other forms compare n rows by the sum of the differences |f_i - f_j| / (max f - min f) over all columns. In the form
    "classical" a hit has the weight 1/(kn), and a miss in class c the weight -P(c)/((1 - P(own class))kn). In the form
    "regression" (RReliefF) every row has k neighbours. Their targets differ by a share d of the range, Σd is the sum
    over all neighbours divided by k, and the weight is ((1 - d)/(n - Σd) - d/Σd)/k.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number k of hits of a row, and of its misses in each other class.
    form : {"energy", "classical", "regression"}, default="energy"
        The weights and neighbours as above; "regression" reads a real target.

    Examples
    --------
    >>> from fiedler import ReliefGraph
    >>> ReliefGraph(n_neighbors=1).build([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1]).toarray()
    array([[ 1. ,  1. , -0.5,  0. ],
           [ 1. ,  1. , -1. , -0.5],
           [-0.5, -1. ,  1. ,  1. ],
           [ 0. , -0.5,  1. ,  1. ]])
    """

    signed = True

    def __init__(self, n_neighbors: int = 10, form: str = "energy"):
        self.n_neighbors, self.form = n_neighbors, form

    @property
    def reads(self) -> str:  # type: ignore[override]  # a class attribute elsewhere
        return "target" if self.form == "regression" else "classes"

    def make(self, problem: Problem) -> Graph:
        check_integer("n_neighbors", self.n_neighbors, 1)
        check_choice("form", self.form, ("energy", "classical", "regression"))
        if self.form == "regression":
            y = problem.supervision.target("ReliefGraph")
            return self._classical(problem, np.where(np.isnan(y), -1, 0), y)
        codes, names = problem.supervision.classes("ReliefGraph")
        n, labeled = problem.n_samples, np.flatnonzero(codes >= 0)
        _warn_if_classes_are_small(self.n_neighbors, np.bincount(codes[labeled]), names)
        if self.form == "classical":
            return self._classical(problem, codes)
        i, j, group = nearest_labelled(problem, codes, self.n_neighbors)
        pair = i * len(names) + group  # the count of this value is the number of neighbours of row i in the group
        weight = np.where(codes[i] == group, 1.0, -1.0 / (len(names) - 1)) / np.bincount(pair)[pair]
        entries = np.r_[np.ones(len(labeled)), weight], (np.r_[labeled, i], np.r_[labeled, j])
        W = sp.csr_array(entries, shape=(n, n))
        return Graph.from_weights((W + W.T) / 2.0, degree=(codes >= 0).astype(np.float64))

    def _classical(self, problem: Problem, codes: np.ndarray, y: np.ndarray | None = None) -> Graph:
        """Neighbours by the sum of absolute differences, in every class or among all rows with a target."""
        if isinstance(problem.X, Source):
            raise ValueError(f"form={self.form!r} needs X in memory, but {problem.X.label} is read in blocks; load it.")
        rows, k = np.flatnonzero(codes >= 0), self.n_neighbors
        F, own = dense(rows_of(problem.X, rows)), codes[rows]  # type: ignore[arg-type]  # it is in memory
        width = np.ptp(F, axis=0)
        F = (F - F.min(axis=0)) / np.where(width > 0, width, 1.0)
        found, share = [], np.bincount(own) / len(rows)
        for part in batches(len(rows), max(1, _DISTANCES_AT_ONCE // len(rows))):
            i, far = np.arange(len(rows))[part], cdist(F[part], F, "cityblock")
            far[np.arange(len(i)), i] = np.inf  # no row is its own neighbour
            for group in range(len(share)):
                members = np.flatnonzero(own == group)
                near = closest_in_rows(np.tile(members, (len(i), 1)), far[:, members], k)
                kept = np.isfinite(np.take_along_axis(far[:, members], near, axis=1))
                found.append((np.repeat(i, kept.sum(axis=1)), members[near][kept]))
        i, j = (np.concatenate(each) for each in zip(*found, strict=True))
        pair = i * len(share) + own[j]
        each = 1.0 / np.bincount(pair)[pair]
        if y is None:
            weight = np.where(own[i] == own[j], 1.0, -share[own[j]] / (1.0 - share[own[i]])) * each / len(rows)
        else:
            apart = np.abs(y[rows][i] - y[rows][j]) / (np.ptp(y[rows]) or 1.0)
            total = float(apart @ each)
            weight = ((1.0 - apart) / (len(rows) - total) - apart / (total or 1.0)) * each
        W = sp.csr_array((weight, (rows[i], rows[j])), shape=(len(codes), len(codes)))
        return Graph.from_weights((W + W.T) / 2.0, degree=(codes >= 0).astype(np.float64))


def _warn_if_classes_are_small(k: int, sizes: np.ndarray, names: np.ndarray) -> None:
    """Warn if a row has fewer than k hits, because its class has at most k members."""
    small = np.flatnonzero(sizes <= k)
    if not len(small):
        return
    least = small[np.argmin(sizes[small])]
    name = names.tolist()[least]
    others = f" and {len(small) - 1} other class{'es' * (len(small) > 2)}" if len(small) > 1 else ""
    message = (
        f"n_neighbors={k} reaches the size of class {name!r} ({sizes[least]} labelled rows){others}: all rows of such "
        f"a class are neighbours, near or far. Set n_neighbors below {int(sizes.min())}, or give more labels."
    )
    if sizes[least] < 3:
        message = message.replace(f"Set n_neighbors below {int(sizes.min())}, or give", "Give")
    warnings.warn(ParameterWarning(message, parameter="n_neighbors", value=k), stacklevel=2)


class TargetKNN(Recipe):
    """The kNN graph on the real target, weights exp(-(y_i - y_j)² / (t s²)), diagonal 0 ([DV] eq. 4).

    s² is the variance of the known targets: y is scaled to unit variance, so that its unit does not matter. [DV]
    standardises y beforehand. Rows with an unknown target are isolated. If at most k + 1 targets are known, the graph
    on these rows is complete.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number k of neighbours of each row with a known target.
    t : float, default=1.0
        Width of the weights, in units of the variance of the known targets.

    Examples
    --------
    >>> from fiedler import TargetKNN
    >>> TargetKNN(n_neighbors=1).build([[0.0], [0.0], [0.0], [0.0]], [0.0, 10.0, 30.0, float("nan")])
    Graph(n_nodes=4, n_edges=2, n_components=1, n_isolated=1, storage='csr')
    """

    reads, reads_X = "target", False

    def __init__(self, n_neighbors: int = 5, t: float = 1.0):
        self.n_neighbors, self.t = n_neighbors, t

    def make(self, problem: Problem) -> Graph:
        check_positive("t", self.t)
        check_integer("n_neighbors", self.n_neighbors, 1)
        target = problem.supervision.target("TargetKNN")
        known = np.flatnonzero(~np.isnan(target))
        y, k = target[known], min(self.n_neighbors, len(known) - 1)
        i, j, _ = undirected(nearest_on_line(y, k))
        weights = np.exp(-((y[i] - y[j]) ** 2) / (self.t * known_variance(target)))
        graph = Graph.from_edges(known[i], known[j], weights, problem.n_samples)
        _warn_if_target_underflows(graph, target, self.t)
        return graph


def known_variance(target: np.ndarray) -> float:
    """The variance of the known targets; 1 if they are equal."""
    return float(np.nanvar(target)) or 1.0


def nearest_by_target(distances: Distances, target: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices (n, k) and values of the k smallest d_ij of every row i, [DV] eq. 8; ties go to the smaller j.

    d_ij = (y_i - y_j)² / s² if both targets are known, otherwise the mean squared difference of the features; s² is the
    variance of the known targets.
    """
    known, rows = ~np.isnan(target), np.flatnonzero(~np.isnan(target))
    i, j, squared, _ = nearest_in_groups(distances, known.astype(np.intp), k)
    rest = ~(known[i] & known[j])
    line = nearest_on_line(target[rows], min(k, len(rows) - 1))
    a, b = np.repeat(rows, line.shape[1]), rows[line.ravel()]
    i, j = np.concatenate([i[rest], a]), np.concatenate([j[rest], b])
    d = np.concatenate([squared[rest] / distances.m, (target[a] - target[b]) ** 2 / known_variance(target)])
    best = closest(i, j, d, np.zeros_like(i), k)
    return j[best].reshape(len(target), k), d[best].reshape(len(target), k)


class SemiTarget(Recipe):
    """A kNN graph that uses the target as distance if it is known ([DV] eq. 8 and 9), diagonal 0.

    d_ij = (y_i - y_j)² / s² if both targets are known, else the mean squared feature difference; s² is the variance of
    the known targets. Each row is linked to its k nearest rows, with w_ij = exp(-d_ij / t). The weight is multiplied by
    ``weight_labeled`` (C in the paper) if both targets are known. d compares features and targets: the targets are
    scaled to unit variance here, so standardise the features.

    Parameters
    ----------
    n_neighbors : int, default=30
        Number k of nearest neighbours of each row.
    t : float, default=1.0
        Width of the weights, in units of the variance of the known targets, and in squared units of the features.
    weight_labeled : float, default=5.0
        Factor of the weight of an edge between two known targets.
    close : {"d", "x"}, default="d"
        Whether the nearest rows are those by d, or those by the features alone, as the letter of [DV] eq. 9 has it.

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

    def __init__(self, n_neighbors: int = 30, t: float = 1.0, weight_labeled: float = 5.0, close: str = "d"):
        self.n_neighbors, self.t, self.weight_labeled, self.close = n_neighbors, t, weight_labeled, close

    def make(self, problem: Problem) -> Graph:
        check_positive("t", self.t)
        check_positive("weight_labeled", self.weight_labeled)
        check_choice("close", self.close, ("d", "x"))
        target = problem.supervision.target("SemiTarget")
        k = min(check_integer("n_neighbors", self.n_neighbors, 1), problem.n_samples - 1)
        if self.close == "x":
            i, j, _ = problem.graph(KNN(k, "binary", algorithm="exact")).edges
            squared = (target[i] - target[j]) ** 2 / known_variance(target)
            d = np.where(np.isnan(squared), problem.distances().between(i, j) / problem.X.shape[1], squared)
        else:
            near, d = nearest_by_target(problem.distances(), target, k)
            i, j, first = undirected(near)
            d = d.ravel()[first]
        both_known = ~np.isnan(target[i] + target[j])
        weights = np.exp(-d / self.t) * np.where(both_known, self.weight_labeled, 1.0)
        graph = Graph.from_edges(i, j, weights, problem.n_samples)
        _warn_if_target_underflows(graph, target, self.t)
        return graph


def nearest_labelled(problem: Problem, codes: np.ndarray, k: int) -> tuple[np.ndarray, ...]:
    """Arrays ``(i, j, class)``: j is one of the k nearest labelled rows of that class to the labelled row i.

    The distances between all rows are used if they were computed before, or if all rows are labelled.
    """
    labelled = np.flatnonzero(codes >= 0)
    if len(labelled) == len(codes) or (problem.holds_distances and 4 * len(labelled) >= len(codes)):
        i, j, _, group = nearest_in_groups(problem.distances(), codes, k)
        return i, j, group
    i, j, _, group = nearest_in_groups(row_distances(rows_of(problem.X, labelled)), codes[labelled], k)
    return labelled[i], labelled[j], group


def indicator(codes: np.ndarray) -> sp.csr_array:
    """Indicator matrix of shape (rows, classes): 1 if the row belongs to the class."""
    rows = np.flatnonzero(codes >= 0)
    return sp.csr_array((np.ones(len(rows)), (rows, codes[rows])), shape=(len(codes), int(codes.max()) + 1))


def _warn_if_target_underflows(graph: Graph, target: np.ndarray, t: float) -> None:
    lost = int(np.count_nonzero(~graph.active & ~np.isnan(target)))
    if lost:  # no row is farther than the widest gap from the next one
        gap = np.diff(np.sort(target[~np.isnan(target)])).max(initial=0.0)
        warn_underflow(lost, "t", t, float(gap**2 / known_variance(target)) or 1.0)


# -------------------------------------------------------------------- must-link and cannot-link pairs


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
    """Within graph: weight γ for must-link pairs, 1 for unpaired neighbours, diagonal 0 ([KA] eq. 11, [ZLH]).

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
            known = problem.supervision
            if known.has_pairs:
                pairs = np.concatenate([known.must_link, known.cannot_link])
                paired = np.isin(near_i * n + near_j, pairs[:, 0] * n + pairs[:, 1])
            else:
                codes = known.classes("Within")[0]
                paired = (codes[near_i] >= 0) & (codes[near_j] >= 0)
            near_i, near_j = near_i[~paired], near_j[~paired]
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
