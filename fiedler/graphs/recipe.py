"""The base class of recipes, which build a graph from X, labels and pairs, and the recipe of graphs that are given.

A recipe is a small scikit-learn object with parameters and one public method, ``build(X, y, ...) -> Graph``. Its
docstring states the weights and the diagonal; class attributes state what it reads. Only recipes read whole rows of X.

To write a recipe, derive from :class:`Recipe` and define :meth:`Recipe.make`. Set the class attributes that differ from
the defaults. The rest of the package uses only these attributes and names no recipe.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterator
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from ..data.arrays import Matrix, rows_of, take_rows
from ..data.source import Source
from ..errors import ParameterError
from ..problem import Problem, Same
from ..validation import call_repr, check_integer, is_sparse, parameters
from .adjacency import adjacency, library_of
from .divided import DividedGraph
from .graph import Graph

_DENSE_LIMIT = 16_384  # rows of the largest n x n matrix allowed: 2 GiB in float64


class Recipe(BaseEstimator):
    """Base of all recipes.

    Attributes
    ----------
    attracts : bool, default=True
        True if an edge means "similar", so that a small energy is good. False if it means "different", as in
        CannotLink, so that a large energy is good.
    signed : bool, default=False
        Whether weights, and therefore energies, may be negative.
    reads : {"nothing", "classes", "target", "pairs"}, default="nothing"
        The supervision that the recipe reads.
    reads_X : bool, default=True
        Whether the graph depends on the values of X. If so, features are tested on graphs built from other features,
        and the scale of the features matters.
    """

    attracts: bool = True
    signed: bool = False
    reads: str = "nothing"
    reads_X: Any = True  # a bool, or a property if the recipe contains another recipe

    def build(
        self,
        X: Any,
        y: Any = None,
        *,
        must_link: Any = None,
        cannot_link: Any = None,
        graph: Any = None,
        unlabeled: Any = -1,
    ) -> Graph:
        """Build the graph over the rows of X.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            The data.
        y : array-like of shape (n_samples,), optional
            Classes or real targets; some may be unknown.
        must_link, cannot_link : array-like of shape (p, 2) or Pairs, optional
            Pairs of rows that belong together, and pairs that do not.
        graph : Graph or what :meth:`Graph.of` takes, optional
            The graph that ``Precomputed()`` uses.
        unlabeled : object, default=-1
            The class label that means "unknown".

        Returns
        -------
        graph : Graph
            The graph, with one node per row.
        """
        told = {"must_link": must_link, "cannot_link": cannot_link, "graph": graph, "unlabeled": unlabeled}
        return Problem.of(X, y, **told).graph(self)

    def make(self, problem: Problem) -> Graph:
        """Make the graph of a problem; every recipe defines this method.

        Parameters
        ----------
        problem : Problem
            ``problem.X`` is the data, ``problem.supervision`` holds labels and pairs, ``problem.graph(recipe)`` gives
            other graphs and ``problem.distances(metric)`` the distances between the rows.

        Returns
        -------
        graph : Graph
            The graph, with one node per row of X.
        """
        raise TypeError(f"{type(self).__name__} is not a recipe that can be built: it does not define make().")

    def make_in_blocks(self, problem: Problem) -> Graph:
        """Make the graph of a problem whose rows fall into blocks: one graph per block, from the rows of the block.

        Parameters
        ----------
        problem : Problem
            A problem with ``blocks``.

        Returns
        -------
        graph : Graph
            No edge joins two blocks.
        """
        whole, parts = problem.undivided, list[tuple[np.ndarray, Graph]]()
        given, failed = None if problem.given is None else Graph.of(problem.given), None
        for rows in problem.block_rows:
            known = problem.supervision.take_rows(rows)
            here = Problem(rows_of(whole.X, rows), known, given=None if given is None else given[rows])
            try:
                parts.append((rows, here.graph(self)))
            except ValueError as error:  # labels of one class in a block say nothing
                if not self.supervised:
                    raise
                failed = error
                parts.append((rows, Graph.from_edges([], [], [], len(rows))))
        if not any(part.active.any() for _, part in parts):
            raise ValueError(f"{self!r} links no rows of one block. In the last block: {failed}")
        return DividedGraph(parts, problem.n_samples)

    def sums(self, problem: Problem) -> int | None:
        """Number of sums per feature that the graph needs in one pass over the rows.

        Parameters
        ----------
        problem : Problem
            X and what is known about its rows.

        Returns
        -------
        sums : int or None
            None if sums are not enough and the graph needs the rows.
        """
        return None

    def walk(self) -> Iterator[Recipe]:
        """This recipe, followed by the recipes inside it.

        Yields
        ------
        recipe : Recipe
            The recipes in the order of the parameters.
        """
        yield self
        for value in parameters(self).values():
            if isinstance(value, Recipe):
                yield from value.walk()

    @property
    def supervised(self) -> bool:
        """Whether this recipe, or one inside it, reads labels or pairs."""
        return any(recipe.reads != "nothing" for recipe in self.walk())

    @property
    def key(self) -> Hashable:
        """A key that is equal for recipes that build the same graph; arrays and functions compare by identity."""
        plain = (Real, str, type(None))
        values = ((name, value) for name, value in sorted(parameters(self).items()))
        keys = (
            (name, value.key if isinstance(value, Recipe) else value if isinstance(value, plain) else Same(value))
            for name, value in values
        )
        return (type(self), *keys)

    def __repr__(self) -> str:
        return call_repr(self)


def check_neighbors(k: Any, n_samples: int) -> int:
    """The number of neighbours, limited to the number of other rows, with a warning."""
    check_integer("n_neighbors", k, 1)
    if n_samples <= k:
        warnings.warn(
            f"n_neighbors={k}, but each of the {n_samples} rows has only {n_samples - 1} others: the graph is "
            "complete. Use a smaller n_neighbors.",
            UserWarning,
            stacklevel=2,
        )
    return min(int(k), n_samples - 1)


def check_bandwidth(name: str, value: float) -> float:
    """Check that the square of a width neither underflows nor overflows."""
    if not 1e-150 < value < 1e150:
        message = f"{name}={value!r} is out of range; its square must be finite. Use a value between 1e-150 and 1e150"
        raise ParameterError(f"{message}, in the units of the distances.", parameter=name, value=value)
    return value


def check_dense(reader: str, n_samples: int) -> None:
    if n_samples > _DENSE_LIMIT:
        raise ValueError(
            f"{reader} needs a full {n_samples} x {n_samples} matrix ({n_samples**2 * 8 / 2**30:.0f} GiB), more than "
            f"the limit of {_DENSE_LIMIT} rows; use the sparse KNN() instead."
        )


# -------------------------------------------------------------------- graphs that the user provides


# Number of entries of W compared with X, and the rank correlation above which they are taken for distances.
_SEEN, _ALIKE = 200, 0.5
_SOME = 0.005  # a smaller share of the edges may join two blocks without a warning


class Precomputed(Recipe):
    """A graph you already have: weights between the rows, distances, or a graph of another library.

    Parameters
    ----------
    W : matrix, graph or None, default=None
        A symmetric non-negative matrix of similarities (n_samples, n_samples), dense or sparse; a :class:`Graph`; or a
        graph of networkx, igraph or libpysal, in the order that :meth:`Graph.of` states. The diagonal is kept and adds
        to the degrees. ``KNeighborsTransformer(mode="connectivity")`` counts every row as its own neighbour; call
        ``W.setdiag(0)`` to remove these entries. None means the graph passed to ``fit`` or ``evaluate`` as ``graph=``;
        pass a :class:`Graph` there if you cross-validate.
    distances : bool, default=False
        Whether W holds distances, as ``kneighbors_graph(mode="distance")`` and ``obsp["distances"]`` do. Then the
        weights are exp(-w² / 2δ²) for the entries off the diagonal; a sparse W gives only its stored entries. If False,
        and entries of W grow with the distance between rows of X, a warning is issued.
    bandwidth : float, optional
        δ for distances; by default their mean.
    symmetrize : {"max", "min", "mean"}, optional
        How a directed W becomes undirected: the larger of the two weights (an edge in either direction is kept, as in
        :class:`KNN`), the smaller, or their mean. By default a directed W raises an error.

    Examples
    --------
    >>> from fiedler import Precomputed
    >>> Precomputed([[0, 1], [1, 0]]).build([[3.0], [4.0]]).n_edges
    1
    >>> Precomputed([[0, 2], [2, 0]], distances=True).build([[3.0], [5.0]])
    Graph(n_nodes=2, n_edges=1, n_components=1, n_isolated=0, storage='dense', bandwidth=2)

    Neighbours from scikit-learn, as a graph that is sliced together with the rows:

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsTransformer
    >>> from fiedler import Graph, LaplacianScore
    >>> X = load_iris().data
    >>> D = KNeighborsTransformer(n_neighbors=10).fit_transform(X)
    >>> graph = Graph.of(D, distances=True, symmetrize="max")
    >>> LaplacianScore(Precomputed()).evaluate(X[:100], graph=graph[:100]).round(1)
    array([0.1, 0.1, 0. , 0. ])
    """

    reads_X = False

    def __init__(
        self,
        W: Any = None,
        distances: bool = False,
        bandwidth: float | None = None,
        symmetrize: str | None = None,
    ):
        self.W, self.distances, self.bandwidth, self.symmetrize = W, distances, bandwidth, symmetrize

    def make_in_blocks(self, problem: Problem) -> Graph:
        # The induced subgraphs of all blocks; edges between blocks are left out.
        whole = problem.undivided.graph(self)
        graph = DividedGraph([(rows, whole[rows]) for rows in problem.block_rows], problem.n_samples)
        lost = 1.0 - graph.n_edges / max(whole.n_edges, 1)
        if lost > _SOME:
            what = f"{lost:.1%} of the edges of the graph join rows of different blocks and are left out"
            warnings.warn(f"{what}; build the graph inside blocks to avoid this.", UserWarning, stacklevel=2)
        return graph

    def make(self, problem: Problem) -> Graph:
        given = problem.given if self.W is None else self.W
        if given is None:
            raise ValueError("Precomputed() needs graph=..., but got none; pass a graph or use Precomputed(W).")
        W = given if isinstance(given, Graph) else adjacency(given)
        rows, n = problem.given_rows, W.n_nodes if isinstance(W, Graph) else W.shape[0]
        if rows is not None and n == len(rows):  # a graph over the table that was given
            W, n = W[rows] if isinstance(W, Graph) else W[rows][:, rows], problem.n_samples
        if n != problem.n_samples:
            raise ValueError(
                f"W is {n} x {n}, but X has {problem.n_samples} rows. For cross-validation use "
                "Precomputed() and pass graph=Graph.of(W) to fit, which is sliced together with X. A networkx graph "
                "must have one node per row."
            )
        graph = Graph.of(W, distances=self.distances, bandwidth=self.bandwidth, symmetrize=self.symmetrize)
        if not isinstance(W, Graph) and not self.distances and _grows_with_distance(W, problem.X):
            warnings.warn(
                "the entries of W grow with the distance between rows of X: W seems to hold distances, but it is used "
                "as similarities; use Precomputed(W, distances=True).",
                UserWarning,
                stacklevel=2,
            )
        return graph


def _grows_with_distance(W: Any, X: Matrix) -> bool:
    """Whether entries of W grow with the distance between rows of X, judged on a sample of pairs."""
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
    """Convert any description of a graph to a recipe.

    Parameters
    ----------
    graph : Recipe, Graph, matrix of weights or graph of another library
        The graph as the user passed it.

    Returns
    -------
    recipe : Recipe
        A recipe is returned unchanged; anything else becomes a :class:`Precomputed`.
    """
    if isinstance(graph, Recipe):
        return graph
    if holds_graph(graph):
        return Precomputed(graph)
    raise TypeError(f"graph must be a recipe such as KNN(), a Graph or a matrix of weights, got {graph!r}.")


def holds_graph(value: Any) -> bool:
    """Whether a value is a graph but not a recipe.

    Parameters
    ----------
    value : object
        A parameter of a criterion.

    Returns
    -------
    bool
        True for a Graph, a matrix, and a graph of another library.
    """
    return isinstance(value, (Graph, np.ndarray)) or is_sparse(value) or library_of(value) is not None
