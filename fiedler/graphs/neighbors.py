"""The nearest-neighbour graph: an edge if one row is among the k nearest rows of the other.

It may be built from the columns that agree with others only, so that noise columns are not used for the distances.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np

from ..data.arrays import dense, take_columns
from ..data.source import Source
from ..engine.agreement import Agreed, agreeing
from ..engine.approximate import leading_components
from ..engine.distances import SKETCH
from ..engine.neighbors import find_neighbors, undirected
from ..problem import Problem
from ..validation import check_choice, check_integer, check_positive
from .adjacency import safe_bandwidth, warn_underflow
from .anchors import Anchors
from .graph import Graph
from .recipe import Recipe, as_recipe, check_bandwidth, check_neighbors

_NEIGHBORS_UP_TO = 5_000_000  # with more rows, a graph of neighbours does not fit into memory next to the data
_FLAT = 1e-9  # a principal component shorter than this share of the first is rounding
_POOR_RECALL = 0.9  # an approximate search with a lower recall warns


class KNN(Recipe):
    """Nearest-neighbour graph: an edge if i is one of the k nearest of j, **or** the reverse ([ZL] 4, [SPEC] 4.2).

    The diagonal is 0: a row is never its own neighbour, but a duplicate row can be. Ties at the k-th neighbour go to
    the smaller row number. If there are fewer than k other rows, the graph is complete.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number k of nearest neighbours of each row.
    weight : {"rbf", "binary"}, default="rbf"
        Weight of an edge: exp(-d² / 2δ²), or 1.
    bandwidth : float, optional
        δ; by default the mean distance over the edges of the graph.
    metric : {"euclidean", "cosine"}, default="euclidean"
        The distance d: Euclidean, or 1 - cos (1 if a row is zero).
    algorithm : {"auto", "exact", "approximate"}, default="auto"
        "approximate" needs the extra ``fast``. It stops after some minutes of work; its recall is measured, shown by
        the graph, and a recall below 0.9 gives a warning. "auto" is exact up to 50,000 different rows. With more rows
        it is exact if a k-d tree is fast or if the extra is missing, and otherwise approximate. For a sparse X "auto"
        is exact up to 12,000 rows. With more rows it is exact if all distances need at most 2·10¹⁰ products of stored
        values, or if that is faster. Otherwise candidates are found by 32 principal components and the norms of the
        rows, and true distances choose among them. A sparse file is searched like a sparse X if it takes at most a
        quarter of scikit-learn's ``working_memory``. For any other file or Dask array "auto" is exact up to 20,000
        rows, or fewer if ``working_memory`` is so small that more than 16 passes over the data would be needed. With
        more rows it finds candidates for long sparse rows as above, and the neighbours of dense rows in single
        precision, or in a random projection of long rows. With more than 5,000,000 rows it builds ``Anchors()``
        instead, and warns.
    n_components : int, optional
        Number of leading principal components of X in which neighbours are searched, as is usual for single cells; by
        default they are searched in X. Columns are centred but not scaled, and a sparse X stays sparse. All distances,
        and thus the weights, are then distances in the components. "cosine" compares directions from the mean row. The
        components are found by a randomised method with a fixed seed, in at most 16 passes over X. If the number is
        larger than min(n_samples - 1, n_features), all components are used, and Euclidean distances are those of X.

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
        n_components: int | None = None,
    ):
        self.n_neighbors, self.weight, self.bandwidth = n_neighbors, weight, bandwidth
        self.metric, self.algorithm, self.n_components = metric, algorithm, n_components

    def make(self, problem: Problem) -> Graph:
        check_choice("weight", self.weight, ("rbf", "binary"))
        check_choice("metric", self.metric, ("euclidean", "cosine"))
        check_positive("bandwidth", self.bandwidth, optional=True)
        check_choice("algorithm", self.algorithm, ("auto", "exact", "approximate"))
        k = check_neighbors(self.n_neighbors, problem.n_samples)
        if self.algorithm == "auto" and problem.n_samples > _NEIGHBORS_UP_TO:
            warnings.warn(
                f"X has {problem.n_samples} rows, more than the limit of {_NEIGHBORS_UP_TO} for KNN(): the "
                "graph is built by Anchors(). Use Anchors() to choose its parameters, or use algorithm='exact' or "
                "'approximate'.",
                UserWarning,
                stacklevel=2,
            )
            return problem.graph(Anchors())
        most = min(problem.n_samples - 1, problem.X.shape[1])  # components that have the distances of X
        number = most if self.n_components is None else check_integer("n_components", self.n_components, 1)
        X, known = problem.X, partial(problem.distances, self.metric) if number >= most else None
        if known is None:
            X = problem.keep(("components", number), lambda: leading_components(problem.X, number))
        found, squared, recall = find_neighbors(X, k, self.metric, self.algorithm, known)
        if recall is not None and recall < _POOR_RECALL:
            warnings.warn(
                f"only {recall:.0%} of the {k} nearest neighbours of {problem.n_samples} rows were found in reasonable "
                "time, because the rows are nearly equidistant. Use Anchors() or algorithm='exact'.",
                UserWarning,
                stacklevel=2,
            )
        how: dict[str, Any] = {"recall": recall, "neighbors": "exact" if recall is None else "approximate"}
        if recall is not None and isinstance(X, Source) and not X.sparse and X.shape[1] > SKETCH:
            how["neighbors"] = "projected"
        i, j, first = undirected(found)
        squared = squared.ravel()[first]
        if self.weight == "binary":
            return Graph.from_edges(i, j, np.ones(len(i)), problem.n_samples, **how)
        if self.metric == "cosine":
            squared = (squared / 2.0) ** 2  # on unit rows ‖u - v‖² = 2 (1 - cos)
        usual = float(np.sqrt(squared).mean()) or 1.0  # 1 when all neighbours are duplicates
        bandwidth = check_bandwidth("bandwidth", usual if self.bandwidth is None else float(self.bandwidth))
        weights = np.exp(-squared / (2.0 * bandwidth**2))
        if self.n_components is None:  # a Graph has a bandwidth only if its weights are made of distances in X
            how["bandwidth"] = bandwidth
        graph = Graph.from_edges(i, j, weights, problem.n_samples, **how)
        if not graph.active.all():
            far = np.full(problem.n_samples, np.inf)
            np.minimum.at(far, np.r_[i, j], np.r_[squared, squared])
            warn_underflow(graph.n_isolated, "bandwidth", bandwidth, safe_bandwidth(usual, far))
        return graph


# -------------------------------------------------------------------- the columns that agree


class Agreeing(Recipe):
    """The graph of another recipe, built from the columns that agree with others.

    A column is kept if its squared correlations with the other kept columns are larger than expected by chance
    (:func:`fiedler.evaluate.agreement`). If no column agrees with another, all columns are kept. All features are
    scored on the graph, including those that the graph does not use.

    Parameters
    ----------
    graph : Recipe, optional
        The recipe that builds the graph from the kept columns; by default ``KNN(5)``. Its docstring states the
        diagonal.

    See Also
    --------
    fiedler.SpectralSelector : ``screen="agreement"`` also excludes the other columns from the selection.

    Examples
    --------
    >>> import numpy as np
    >>> from fiedler import KNN, Agreeing
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 170))
    >>> X[:, :10] += np.repeat([0.0, 3.0], 30)[:, None]
    >>> Agreeing(KNN(5)).build(X).n_components, KNN(5).build(X).n_components
    (2, 1)
    """

    def __init__(self, graph: Recipe | None = None):
        self.graph = graph

    @property
    def reads_X(self) -> bool:
        return self.graph is None or as_recipe(self.graph).reads_X

    def make(self, problem: Problem) -> Graph:
        inside = problem.take_columns(column_agreement(problem).kept)
        return inside.graph(KNN(5) if self.graph is None else as_recipe(self.graph))


def column_agreement(problem: Problem) -> Agreed:
    """The agreement of features, computed once; missing values are read as they were filled.

    A feature of several columns is replaced by its principal components. They do not correlate with each other, so that
    a feature agrees with other features only. It is kept if one of its components is kept.
    """

    def make() -> Agreed:
        if problem.groups is None:
            return agreeing(problem.X)
        m = problem.n_features
        parts = [_components(dense(take_columns(problem.X, problem.groups.columns(j)))) for j in range(m)]
        of = np.repeat(np.arange(m), [part.shape[1] for part in parts])
        found = agreeing(np.hstack(parts))
        posterior, pvalues, kept = np.full(m, np.nan), np.full(m, np.nan), np.zeros(m, dtype=bool)
        np.fmax.at(posterior, of, found.posterior)
        np.fmin.at(pvalues, of, found.pvalues)
        kept[of[found.kept]] = True
        return Agreed(posterior, pvalues, kept, found.n_rounds)

    return problem.keep("agreement", make)


def _components(C: np.ndarray) -> np.ndarray:
    """The principal components of the columns of one feature."""
    if C.shape[1] < 2:
        return C
    left, lengths, _ = np.linalg.svd(C - C.mean(axis=0), full_matrices=False)
    return left[:, lengths > _FLAT * lengths[0]]
