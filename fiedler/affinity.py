"""Recipes: how a graph is built from X and from what is known about its rows.

A recipe is a small scikit-learn object with parameters and one method, ``build(X, y, ...) -> Graph``. It states its
weights, its diagonal, and what supervision it reads; building is the only work in the package that looks at whole rows.
"""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from sklearn.base import BaseEstimator

from ._validation import call_repr, check_choice, check_integer, check_positive
from .columns import validate_X
from .distances import Distances, row_distances
from .graph import Graph
from .neighbors import find_neighbors, nearest, search_name
from .supervision import Supervision

_NEIGHBORS_UP_TO = 5_000_000  # rows beyond which a graph of neighbours no longer fits beside the data
_POOR_RECALL = 0.9  # of an approximate search, below which a warning is due
_DENSE_LIMIT = 16_384  # rows of the largest n x n matrix we hold: 2 GiB in float64


class Problem:
    """One validated (X, supervision), with every graph built at most once however often a formula names it."""

    def __init__(self, X: np.ndarray | sp.csc_array, supervision: Supervision):
        self.X, self.supervision = X, supervision
        self.n_samples, self.n_features = X.shape
        self.rows_read = np.zeros(self.n_samples, dtype=bool)
        self._graphs: dict[Any, Graph] = {}

    def graph(self, recipe: Recipe) -> Graph:
        """The graph of a recipe; its nodes count as rows the score reads."""
        key = _key(recipe)
        if key not in self._graphs:
            self._graphs[key] = recipe._build(self).for_columns(self.n_features)
        graph = self._graphs[key]
        self.rows_read |= graph.active
        return graph


def _key(value: Any) -> Any:
    if isinstance(value, Recipe):
        return (type(value), *((name, _key(v)) for name, v in sorted(value.get_params(deep=False).items())))
    return value if isinstance(value, (Real, str, type(None))) else id(value)


class Recipe(BaseEstimator):
    """Base of all recipes.

    Attributes
    ----------
    attracts : bool
        Whether an edge says "alike" (a small energy is good) or "different" (CannotLink: a large energy is good).
    signed : bool
        Whether weights may be negative, so that energies may be too.
    reads : {"nothing", "classes", "target", "pairs"}
        The supervision the recipe reads.
    """

    attracts, signed, reads = True, False, "nothing"

    def build(
        self, X: Any, y: Any = None, *, must_link: Any = None, cannot_link: Any = None, unlabeled: Any = -1
    ) -> Graph:
        """Build the graph over the rows of X.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
        must_link, cannot_link : array-like of shape (p, 2) or Pairs, optional
        unlabeled : object, default=-1
        """
        X = validate_X(X)
        known = Supervision(X.shape[0], y, must_link=must_link, cannot_link=cannot_link, unlabeled=unlabeled)
        return Problem(X, known).graph(self)

    def _build(self, problem: Problem) -> Graph:
        raise TypeError(f"{type(self).__name__} is not a recipe that can be built.")

    def __repr__(self) -> str:
        return call_repr(self)


class KNN(Recipe):
    """k-nearest-neighbour graph: an edge where i is one of the k nearest of j, **or** the reverse ([ZL] 4, [SPEC] 4.2).

    Diagonal 0: a row is never its own neighbour, while a duplicate of it is; ties at the k-th neighbour go to the
    smaller row number. With fewer than k other rows the graph is complete.

    Parameters
    ----------
    n_neighbors : int, default=10
    weight : {"rbf", "binary"}, default="rbf"
        exp(-d² / 2δ²), or 1.
    bandwidth : float, optional
        δ; by default the mean distance over the edges of the graph.
    metric : {"euclidean", "cosine"}, default="euclidean"
        d is the Euclidean distance, or 1 - cos (1 to a row of zeros).
    algorithm : {"auto", "exact", "approximate"}, default="auto"
        "approximate" needs the extra ``fast``; it ends after some minutes of work, and the recall it reached is
        measured and shown by the graph, with a warning below 0.9. "auto" is exact up to 50,000 different rows, and
        approximate beyond where X is dense, the extra is installed and that is faster. From a file or a Dask array it
        is exact up to 20,000 rows, fewer where scikit-learn's ``working_memory`` is so small that more than 16 passes
        over the data were needed, then takes the neighbours in single precision or in a random projection of long rows.
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

    def _build(self, problem: Problem) -> Graph:
        check_choice("weight", self.weight, ("rbf", "binary"))
        check_choice("metric", self.metric, ("euclidean", "cosine"))
        check_positive("bandwidth", self.bandwidth, optional=True)
        check_choice("algorithm", self.algorithm, ("auto", "exact", "approximate"))
        k = check_neighbors(self.n_neighbors, problem.n_samples)
        if self.algorithm == "auto" and problem.n_samples > _NEIGHBORS_UP_TO:
            return self._by_anchors(problem)
        found, squared, recall = find_neighbors(problem.X, k, self.metric, self.algorithm)
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
        bandwidth = usual if self.bandwidth is None else float(self.bandwidth)
        weights = np.exp(-squared / (2.0 * bandwidth**2))
        graph = Graph.from_edges(i, j, weights, problem.n_samples, bandwidth=bandwidth, **how)
        if graph.n_isolated:
            far = np.full(problem.n_samples, np.inf)
            np.minimum.at(far, np.r_[i, j], np.r_[squared, squared])
            warn_underflow(graph.n_isolated, "bandwidth", bandwidth, _safe_bandwidth(usual, far))
        return graph

    def _by_anchors(self, problem: Problem) -> Graph:
        from .anchors import Anchors

        warnings.warn(
            f"X has {problem.n_samples} rows, more than the {_NEIGHBORS_UP_TO} whose neighbours are searched: the "
            "graph is that of Anchors(). Name it yourself to choose its parameters, or use algorithm='exact' or "
            "'approximate'.",
            UserWarning,
            stacklevel=2,
        )
        return problem.graph(Anchors())


class RBF(Recipe):
    """Full kernel graph w_ij = exp(-‖x_i - x_j‖² / 2δ²), diagonal 1 ([ZL] 3, [SPEC] eq. 1, [KA] eq. 3, [EV] 2.1).

    Parameters
    ----------
    bandwidth : float, optional
        δ; by default ``scale`` times the median distance between two rows.
    scale : float, default=1.0
        Only used when ``bandwidth`` is None.

    Examples
    --------
    >>> from fiedler import RBF
    >>> RBF().build([[0.0], [1.0], [3.0]])
    Graph(n_nodes=3, n_edges=3, n_components=1, n_isolated=0, storage='dense', bandwidth=2)
    """

    def __init__(self, bandwidth: float | None = None, scale: float = 1.0):
        self.bandwidth, self.scale = bandwidth, scale

    def _build(self, problem: Problem) -> Graph:
        check_positive("bandwidth", self.bandwidth, optional=True)
        check_positive("scale", self.scale)
        _check_dense("RBF", problem.n_samples)
        squared = row_distances(problem.X).matrix()
        typical = float(np.median(np.sqrt(squared[np.tri(len(squared), k=-1, dtype=bool)]))) or 1.0  # 1: duplicates
        bandwidth = typical * self.scale if self.bandwidth is None else float(self.bandwidth)
        W = np.exp(squared / (-2.0 * bandwidth**2))
        alone = np.count_nonzero(W, axis=1) == 1  # nothing but its own diagonal
        if alone.any():
            np.fill_diagonal(squared, np.inf)
            works = _safe_bandwidth(typical, squared.min(axis=1))
            warn_underflow(int(alone.sum()), "bandwidth", bandwidth, works)
        return Graph.from_weights(W, bandwidth=bandwidth)


class Diffusion(Recipe):
    """Diffusion kernel exp(-β L₀) of a graph, used as a full W ([SPEC] section 4, after Kondor and Lafferty).

    The rows sum to 1 and the diagonal is the kernel's own.

    Parameters
    ----------
    graph : Recipe, optional
        The graph of L₀; by default ``KNN(weight="binary")``.
    beta : float, default=1.0

    Examples
    --------
    >>> from fiedler import KNN, Diffusion
    >>> Diffusion(KNN(1, "binary")).build([[0.0], [1.0], [9.0]]).toarray().sum(axis=1).round(9)
    array([1., 1., 1.])
    """

    def __init__(self, graph: Recipe | None = None, beta: float = 1.0):
        self.graph, self.beta = graph, beta

    def _build(self, problem: Problem) -> Graph:
        check_positive("beta", self.beta)
        _check_dense("Diffusion", problem.n_samples)
        base = problem.graph(self.graph if self.graph is not None else KNN(weight="binary"))
        K = np.eye(problem.n_samples)
        for component in range(base.n_components):  # across components the kernel is exactly zero
            nodes = np.flatnonzero(base.components == component)
            L = base.laplacian_dot(np.eye(problem.n_samples)[:, nodes])[nodes]
            values, vectors = eigh(L)
            K[np.ix_(nodes, nodes)] = np.maximum((vectors * np.exp(-self.beta * values)) @ vectors.T, 0.0)
        return Graph.from_weights((K + K.T) / 2.0)


class Precomputed(Recipe):
    """A graph you already have: a symmetric non-negative matrix W (dense or sparse), or a :class:`Graph`.

    Parameters
    ----------
    W : array-like or sparse matrix of shape (n_samples, n_samples), or Graph

    Examples
    --------
    >>> from fiedler import Precomputed
    >>> Precomputed([[0, 1], [1, 0]]).build([[3.0], [4.0]]).n_edges
    1
    """

    def __init__(self, W: Any):
        self.W = W

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
        W = W if sp.issparse(W) else np.asarray(W, dtype=np.float64)
        if not np.isfinite(W.data if sp.issparse(W) else W).all():
            raise ValueError("W contains NaN or inf; similarities must be finite.")
        if W.min() < 0:
            raise ValueError(f"W holds negative weights such as {W.min():.6g}; similarities must be non-negative.")
        asymmetry = float(abs(W - W.T).max())
        if asymmetry > 1e-10 * float(W.max()):
            raise ValueError(
                f"W is not symmetric (entries differ by up to {asymmetry:.6g}); pass W.maximum(W.T) or (W + W.T) / 2."
            )
        return Graph.from_weights(W)


# -------------------------------------------------------------------- shared steps


def check_neighbors(k: Any, n_samples: int) -> int:
    """A number of neighbours that n_samples rows can provide."""
    check_integer("n_neighbors", k, 1)
    if n_samples <= k:
        warnings.warn(
            f"n_neighbors={k}, but each of the {n_samples} rows has only {n_samples - 1} others: the graph is "
            "complete. Use a smaller n_neighbors.",
            UserWarning,
            stacklevel=2,
        )
    return min(int(k), n_samples - 1)


def neighbor_edges(distances: Distances, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edges (i < j) of the union kNN graph, each once, with squared distances."""
    found, squared = nearest(distances, k)
    i, j, first = undirected(found)
    return i, j, squared.ravel()[first]


def undirected(neighbors: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each edge {i, j} of a neighbour table once, with i < j, and where it first stands in the table."""
    n, k = neighbors.shape
    i, j = np.repeat(np.arange(n), k), neighbors.ravel()
    key, first = np.unique(np.minimum(i, j) * n + np.maximum(i, j), return_index=True)
    return key // n, key % n, first


def _safe_bandwidth(usual: float, nearest_squared: np.ndarray) -> float:
    """A width at which even the loneliest row keeps a weight of at least exp(-50) to its nearest neighbour."""
    return max(usual, float(np.sqrt(nearest_squared.max())) / 10.0)


def warn_underflow(n_rows: int, name: str, value: float, suggestion: float) -> None:
    warnings.warn(
        f"{name}={value:.6g} is so small that all weights between {n_rows} rows and the others underflow to 0, which "
        f"cuts those rows off the graph; {name}={suggestion:.6g} works on these data.",
        UserWarning,
        stacklevel=2,
    )


def _check_dense(reader: str, n_samples: int) -> None:
    if n_samples > _DENSE_LIMIT:
        raise ValueError(
            f"{reader} needs a full {n_samples} x {n_samples} matrix ({n_samples**2 * 8 / 2**30:.0f} GiB), more than "
            f"the {_DENSE_LIMIT} rows it holds; use the sparse KNN() instead."
        )
