"""The similarity graph: an immutable symmetric W over the samples, with everything the scores need of it.

    energy(f) = f'Lf = ½ Σ_ij w_ij (f_i - f_j)²        L = D - W
    mass(f)   = f̃'D f̃,   f̃ = f - (f'd / vol) 1          the F-C transform, [ZL] eq. 3.6

A graph is a thin value: what it is asked, it asks of its storage (:mod:`fiedler.graphs.storage`), *csr* for
neighbourhoods and pairs, *dense* for kernels, *factored* for W = Z C Z' + diag(loops), *summed* where rows go by once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..data.arrays import Block, as_csr
from ..validation import is_sparse
from ..words import html_table
from .adjacency import adjacency, from_distances, symmetric
from .factored import Factored
from .spectrum import SmallSpectrum
from .storage import Dense, Edges, Sparse, Storage


class Graph:
    """An immutable weighted undirected graph over the rows of X.

    Build one with a recipe (:class:`fiedler.KNN`, :class:`fiedler.RBF`, ...), from what other libraries have with
    :meth:`of`, or from weights, unchecked, with :meth:`from_weights`, :meth:`from_edges` and :meth:`from_factors`.
    ``graph[rows]`` is the induced subgraph.

    Parameters
    ----------
    weights : Storage
        W, as the builders above hold it.
    bandwidth : float, optional
        Width δ of the RBF weights exp(-‖x_i - x_j‖² / 2δ²), where the weights are of that form.
    recall : float, optional
        Measured share of true neighbours, where they are approximate.
    neighbors : {"exact", "approximate", "projected", "anchors"}, optional
        How the neighbours were found, where the graph is one of neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from fiedler import Graph
    >>> path = Graph.from_edges([0, 1], [1, 2], [1.0, 1.0], n_nodes=4)
    >>> path
    Graph(n_nodes=4, n_edges=2, n_components=1, n_isolated=1, storage='csr')
    >>> path.energy(np.array([[0.0], [1.0], [3.0], [9.0]]))
    array([5.])
    """

    weights: Storage
    bandwidth: float | None
    recall: float | None
    neighbors: str | None

    def __init__(
        self,
        weights: Storage,
        *,
        bandwidth: float | None = None,
        recall: float | None = None,
        neighbors: str | None = None,
    ):
        parts = {"weights": weights, "bandwidth": bandwidth, "recall": recall, "neighbors": neighbors}
        for name, value in parts.items():
            object.__setattr__(self, name, value)  # the only assignment: afterwards __setattr__ refuses

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"Graph is immutable: {name!r} cannot be set; build a new graph instead.")

    # ---------------------------------------------------------------- builders

    @classmethod
    def of(
        cls, graph: Any, *, distances: bool = False, bandwidth: float | None = None, symmetrize: str | None = None
    ) -> Graph:
        """A graph from whatever holds one: checked, and symmetric.

        Parameters
        ----------
        graph : matrix, or a graph of this package, networkx, igraph or libpysal
            Row i is row i of a matrix and vertex i of igraph. Of networkx node i where the nodes are 0 ... n-1,
            whatever order they were added in, and else the i-th of ``list(G)``; of libpysal the i-th id. Edges weigh
            their attribute ``weight``, or 1.
        distances : bool, default=False
            Whether a matrix holds distances, as in :class:`fiedler.Precomputed`.
        bandwidth : float, optional
            Of the weights made from them.
        symmetrize : {"max", "min", "mean"}, optional
            How a directed graph becomes undirected.

        Returns
        -------
        graph : Graph
            Itself if it is one.

        Examples
        --------
        >>> from fiedler import Graph
        >>> Graph.of([[0, 1, 0], [0, 0, 1], [0, 1, 0]], symmetrize="max").toarray()
        array([[0., 1., 0.],
               [1., 0., 1.],
               [0., 1., 0.]])
        """
        if isinstance(graph, Graph):
            if distances:
                raise ValueError("distances=True, but a Graph holds weights already; pass the matrix of distances.")
            return graph
        W = adjacency(graph)
        if not distances:
            return cls.from_weights(symmetric(W, symmetrize))
        W, width = from_distances(W, bandwidth)
        return cls.from_weights(symmetric(W, symmetrize), bandwidth=width)

    @classmethod
    def from_weights(cls, W: Any, *, degree: Any = None, **properties: Any) -> Graph:
        """A graph from a symmetric weight matrix, dense or sparse; the storage follows the input.

        Parameters
        ----------
        W : array-like or sparse matrix of shape (n_nodes, n_nodes)
            Symmetric weights.
        degree : array-like of shape (n_nodes,), optional
            The vertex measure, where it is not W1.
        **properties : object
            ``bandwidth``, ``recall`` and ``neighbors``, as of :class:`Graph`.

        Returns
        -------
        graph : Graph
            With a copy of a sparse W, a view of a dense one.
        """
        if is_sparse(W):
            return cls(Sparse(as_csr(W, copy=True), degree), **properties)
        return cls(Dense(np.asarray(W, dtype=np.float64).view(), degree), **properties)

    @classmethod
    def from_edges(cls, i: Any, j: Any, weights: Any, n_nodes: int, *, degree: Any = None, **properties: Any) -> Graph:
        """A graph from undirected edges, each given once.

        Parameters
        ----------
        i, j : array-like of int
            The ends.
        weights : array-like
            One per edge.
        n_nodes : int
            Number of nodes; those without an edge are isolated.
        degree : array-like of shape (n_nodes,), optional
            The vertex measure, where it is not W1.
        **properties : object
            ``bandwidth``, ``recall`` and ``neighbors``, as of :class:`Graph`.

        Returns
        -------
        graph : Graph
            Stored as csr.
        """
        i, j, w = np.asarray(i, dtype=np.intp), np.asarray(j, dtype=np.intp), np.asarray(weights, dtype=np.float64)
        both = np.concatenate([w, w]), (np.concatenate([i, j]), np.concatenate([j, i]))
        W = sp.csr_array(both, shape=(n_nodes, n_nodes))
        return cls(Sparse(W, degree), **properties)

    @classmethod
    def from_factors(cls, Z: Any, core: Any, loops: Any = None, *, degree: Any = None, **properties: Any) -> Graph:
        """A graph with W = Z core Z' + diag(loops), which is never formed.

        Parameters
        ----------
        Z : array-like or sparse matrix of shape (n_nodes, r)
            Non-negative.
        core : array-like of shape (r, r) or (r,)
            Small and symmetric, or its diagonal.
        loops : array-like of shape (n_nodes,), optional
            What is added to the diagonal.
        degree : array-like of shape (n_nodes,), optional
            The vertex measure, where it is not W1.
        **properties : object
            ``bandwidth``, ``recall`` and ``neighbors``, as of :class:`Graph`.

        Returns
        -------
        graph : Graph
            Stored by its factors.
        """
        loops = None if loops is None else np.asarray(loops, dtype=np.float64)
        parts = sp.csr_array(Z, dtype=np.float64), np.asarray(core, dtype=np.float64), loops
        return cls(Factored(*parts, degree), **properties)

    def for_columns(self, n_columns: int) -> Graph:
        """The same graph, with compiled kernels where they pay for that many columns.

        Parameters
        ----------
        n_columns : int
            How many it will meet.

        Returns
        -------
        graph : Graph
            Shares its weights with this one.
        """
        weights = self.weights.for_columns(n_columns)
        return Graph(weights, bandwidth=self.bandwidth, recall=self.recall, neighbors=self.neighbors)

    # ---------------------------------------------------------------- some of its rows

    def __len__(self) -> int:
        return self.n_nodes

    @property
    def shape(self) -> tuple[int]:
        """One entry per row, so that cross-validation slices a graph along with X."""
        return (self.n_nodes,)

    def __getitem__(self, rows: Any) -> Graph:
        """The subgraph induced by some rows, in their order: the edges between them, with degrees of its own.

        A row drawn twice is two nodes with the same neighbours, linked by the row's own loop if it has one.
        """
        rows = rows[0] if isinstance(rows, tuple) else rows  # scikit-learn asks for [rows, ...]
        return Graph(self.weights.induced(np.arange(self.n_nodes)[rows]), bandwidth=self.bandwidth)

    __iter__ = None  # Python would otherwise try graph[0], graph[1], ...

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise TypeError("a Graph is not an array; use graph.toarray().")

    # ---------------------------------------------------------------- the matrix

    def dot(self, V: np.ndarray) -> np.ndarray:
        """The product W V.

        Parameters
        ----------
        V : ndarray of shape (n_nodes, b)
            A dense block of columns.

        Returns
        -------
        product : ndarray of shape (n_nodes, b)
            W V.
        """
        return self.weights.dot(V)

    def laplacian_dot(self, V: np.ndarray) -> np.ndarray:
        """The product L V = (diag(W1) - W) V.

        Parameters
        ----------
        V : ndarray of shape (n_nodes, b)
            A dense block of columns.

        Returns
        -------
        product : ndarray of shape (n_nodes, b)
            L V.
        """
        return self.weights.row_sums[:, None] * V - self.dot(V)

    def normalized_laplacian_dot(self, V: np.ndarray) -> np.ndarray:
        """The product 𝓛 V = D^-½ L D^-½ V, with d_i^-½ := 0 at isolated nodes.

        Parameters
        ----------
        V : ndarray of shape (n_nodes, b)
            A dense block of columns.

        Returns
        -------
        product : ndarray of shape (n_nodes, b)
            𝓛 V.
        """
        root = self.inverse_root_degree[:, None]
        return root * self.laplacian_dot(root * V)

    def toarray(self) -> np.ndarray:
        """The weights as a dense array (small graphs only: n² floats).

        Returns
        -------
        W : ndarray of shape (n_nodes, n_nodes)
            Symmetric.
        """
        return self.weights.toarray()

    # ---------------------------------------------------------------- column-wise forms

    @property
    def cost(self) -> float:
        """Operations of :meth:`energy` per value of a column, which tells whether blocks of columns are shared."""
        return self.weights.cost

    def energy(self, F: Block) -> np.ndarray:
        """The energy f'Lf = ½ Σ_ij w_ij (f_i - f_j)² of each column.

        Parameters
        ----------
        F : ndarray or sparse array of shape (n_nodes, b)
            A block of columns.

        Returns
        -------
        energy : ndarray of shape (b,)
            One per column.
        """
        return self.weights.energy(F)

    def mass(self, F: Block) -> np.ndarray:
        """The mass f̃'D f̃ of each column.

        Parameters
        ----------
        F : ndarray or sparse array of shape (n_nodes, b)
            A block of columns.

        Returns
        -------
        mass : ndarray of shape (b,)
            One per column.
        """
        return self.moments(F)[1]

    def moments(self, F: Block) -> tuple[np.ndarray, np.ndarray]:
        """The degree-weighted mean f'd / vol and the mass f̃'D f̃ of each column.

        Parameters
        ----------
        F : ndarray or sparse array of shape (n_nodes, b)
            A block of columns.

        Returns
        -------
        mean, mass : ndarray of shape (b,)
            One per column.
        """
        return self.weights.moments(F)

    def centre(self, F: np.ndarray) -> np.ndarray:
        """The centred f̃ = f - (f'd / vol) 1 of each column; then <f̃, d> = 0.

        Parameters
        ----------
        F : ndarray of shape (n_nodes, b)
            A dense block of columns.

        Returns
        -------
        centred : ndarray of shape (n_nodes, b)
            f̃, column by column.
        """
        return self.weights.centre(F)

    def centred_rows(self, F: Block, rows: np.ndarray) -> np.ndarray:
        """Some rows of f̃, without centring the others.

        Parameters
        ----------
        F : ndarray or sparse array of shape (n_nodes, b)
            A block of columns.
        rows : ndarray of int
            Which.

        Returns
        -------
        centred : ndarray of shape (len(rows), b)
            Dense.
        """
        return self.weights.centred_rows(F, rows)

    def group_moments(self, F: Block) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Size, mean and scatter of each column inside every group a (column of Z), weighted by z_ia.

        Means are relative to the first row, so that their differences are exact at large offsets.

        Parameters
        ----------
        F : ndarray or sparse array of shape (n_nodes, b)
            A block of columns.

        Returns
        -------
        sizes, means, scatters : ndarray
            Per group, and per group and column.
        """
        return self.weights.group_moments(F)

    def within_and_between(self, F: Block) -> tuple[np.ndarray, np.ndarray]:
        """The energy f'Lf, and C^½ Z'f̃, whose squares are what the energy leaves of the mass f̃'D f̃.

        Parameters
        ----------
        F : ndarray or sparse array of shape (n_nodes, b)
            A block of columns.

        Returns
        -------
        energy : ndarray of shape (b,)
            Within the groups.
        between : ndarray of shape (r, b)
            Between them.
        """
        return self.weights.within_and_between(F)

    @property
    def constant(self) -> np.ndarray:
        """Which columns take a single value, for a graph that was summed over its rows."""
        return self.weights.constant

    # ---------------------------------------------------------------- structure

    @property
    def n_nodes(self) -> int:
        """Number of nodes, the rows of X."""
        return self.weights.n_nodes

    @property
    def storage(self) -> str:
        """How W is held: "csr", "dense", "factored" or "summed"."""
        return self.weights.name

    @property
    def degree(self) -> np.ndarray:
        """Degrees d = W1, unless the recipe sets the vertex measure itself (ReliefGraph: D = I)."""
        return self.weights.degree

    @property
    def volume(self) -> float:
        """Sum of the degrees."""
        return self.weights.volume

    @property
    def edges(self) -> Edges:
        """Every edge once, as arrays (i, j, weight) with i < j; self loops are not edges."""
        return self.weights.edges

    @property
    def n_edges(self) -> int:
        """Number of edges, self loops not counted."""
        return self.weights.n_edges

    @property
    def active(self) -> np.ndarray:
        """Mask of the nodes that take part: those with a degree."""
        return self.weights.active

    @property
    def rows(self) -> np.ndarray:
        """The rows a score on this graph reads: its active nodes; of a graph summed over its rows all, as one flag."""
        return self.weights.rows

    @property
    def n_isolated(self) -> int:
        """Number of nodes without a degree, such as unlabelled rows in a class graph."""
        return int(np.count_nonzero(~self.active))

    @property
    def components(self) -> np.ndarray:
        """Connected component of each node, -1 for isolated nodes; the heaviest component is 0."""
        return self.weights.components

    @property
    def component_sizes(self) -> np.ndarray:
        """Number of nodes in each component, the largest first."""
        return np.sort(np.bincount(self.components[self.active], minlength=self.n_components))[::-1]

    @property
    def n_components(self) -> int:
        """Number of connected components, isolated nodes not counted."""
        return self.weights.n_components

    @property
    def inverse_root_degree(self) -> np.ndarray:
        """The roots d^-½, with 0 at isolated nodes."""
        return self.weights.inverse_root_degree

    @property
    def small(self) -> SmallSpectrum | None:
        """The eigenpairs of 𝓛 from a matrix as small as the core, where there is one: a diagonal core, no loops."""
        return self.weights.small

    def spectrum(self, k: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The smallest eigenpairs (λ_j, ξ_j) of 𝓛 = D^-½ L D^-½, trivial pair first.

        ξ_0 = D^½1 / ‖D^½1‖ always, the others from its complement. Eigenpairs are found per connected component,
        because Lanczos silently loses the repeated eigenvalues of a disconnected graph; isolated nodes have none.
        The result is deterministic.

        Parameters
        ----------
        k : int, optional
            How many; by default all.

        Returns
        -------
        values : ndarray of shape (k,)
            λ, increasing.
        vectors : ndarray of shape (n_nodes, k)
            ξ, column by column; 0 at isolated nodes.
        """
        n_active = self.n_nodes - self.n_isolated
        k = n_active if k is None else min(int(k), n_active)
        return self.weights.spectrum(k, f"use a bandwidth above {self.bandwidth}, or weight='binary'")

    def __repr__(self) -> str:
        bandwidth = "" if self.bandwidth is None else f", bandwidth={self.bandwidth:.6g}"
        found = "" if self.neighbors is None else f", neighbors={self.neighbors!r}"
        found += "" if self.recall is None else f", recall={self.recall:.3f}"
        return (
            f"Graph(n_nodes={self.n_nodes}, n_edges={self.n_edges}, n_components={self.n_components}, "
            f"n_isolated={self.n_isolated}, storage={self.storage!r}{bandwidth}{found})"
        )

    def _repr_html_(self) -> str:
        degree, sizes = self.degree[self.active], self.component_sizes[:6]
        pieces = f" ({', '.join(f'{size:,}' for size in sizes)}{', …' * (self.n_components > 6)} rows)"
        rows = [["rows", f"{self.n_nodes:,}"], ["edges", f"{self.n_edges:,}"]]
        rows += [["components", f"{self.n_components:,}{pieces if self.n_components > 1 else ''}"]]
        rows += [["isolated rows", f"{self.n_isolated:,}"]]
        if len(degree):
            rows += [["degree", f"{degree.min():.4g} to {degree.max():.4g}, median {np.median(degree):.4g}"]]
        rows += [["bandwidth", f"{self.bandwidth:.6g}"]] if self.bandwidth is not None else []
        rows += [["recall of neighbours", f"{self.recall:.3f}"]] if self.recall is not None else []
        return html_table("Similarity graph", [*rows, ["stored as", self.storage]])
