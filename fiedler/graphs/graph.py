"""The similarity graph: an immutable symmetric matrix W over the samples, with the operations that scores need.

    energy(f) = f'Lf = ½ Σ_ij w_ij (f_i - f_j)²        L = D - W
    mass(f)   = f̃'D f̃,   f̃ = f - (f'd / vol) 1          the F-C transform, [ZL] eq. 3.6

A graph passes every request to its storage (:mod:`fiedler.graphs.storage`): *csr* for neighbourhoods and pairs, *dense*
for kernels, *factored* for W = Z C Z' + diag(loops), and *summed* if the rows are read only once.
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

    Build a graph with a recipe (:class:`fiedler.KNN`, :class:`fiedler.RBF`, ...), or from a matrix or a graph of
    another library with :meth:`of`. :meth:`from_weights`, :meth:`from_edges` and :meth:`from_factors` do not check
    their input. ``graph[rows]`` is the induced subgraph.

    Parameters
    ----------
    weights : Storage
        The matrix W in one of the storages; the builders above create it.
    bandwidth : float, optional
        Width δ if the weights are exp(-‖x_i - x_j‖² / 2δ²).
    recall : float, optional
        Measured share of true neighbours that were found, if the search was approximate.
    neighbors : {"exact", "approximate", "projected", "anchors"}, optional
        How the neighbours were found, if this is a graph of neighbours.

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
            object.__setattr__(self, name, value)  # the only assignment; __setattr__ refuses all others

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"Graph is immutable: {name!r} cannot be set; build a new graph instead.")

    # ---------------------------------------------------------------- builders

    @classmethod
    def of(
        cls, graph: Any, *, distances: bool = False, bandwidth: float | None = None, symmetrize: str | None = None
    ) -> Graph:
        """Build a graph from a matrix or from a graph of another library; the input is checked for symmetry.

        Parameters
        ----------
        graph : matrix, or a graph of this package, networkx, igraph or libpysal
            Row i of X is row i of a matrix, vertex i of an igraph graph and the i-th id of a libpysal graph. In a
            networkx graph it is node i if the nodes are 0 ... n-1, in any order, and otherwise the i-th node of
            ``list(G)``. The weight of an edge is its attribute ``weight``, or 1.
        distances : bool, default=False
            Whether a matrix holds distances, as in :class:`fiedler.Precomputed`.
        bandwidth : float, optional
            Width δ of the weights computed from distances.
        symmetrize : {"max", "min", "mean"}, optional
            How a directed graph becomes undirected.

        Returns
        -------
        graph : Graph
            The graph; a :class:`Graph` is returned unchanged.

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
            It holds a copy of a sparse W, and a view of a dense one.
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
            The two end points of each edge.
        weights : array-like
            One weight per edge.
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
            Non-negative weights of the nodes in r groups.
        core : array-like of shape (r, r) or (r,)
            A small symmetric matrix, or its diagonal.
        loops : array-like of shape (n_nodes,), optional
            Values added to the diagonal of W.
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
        """The same graph, with compiled kernels if they are faster for this number of columns.

        Parameters
        ----------
        n_columns : int
            Number of columns that will be scored.

        Returns
        -------
        graph : Graph
            A graph that shares its weights with this one.
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
        """The subgraph induced by some rows, in their order; degrees are computed from its own edges.

        A row drawn twice becomes two nodes with the same neighbours; the loop of the row, if any, links the two.
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
            The symmetric weights.
        """
        return self.weights.toarray()

    # ---------------------------------------------------------------- column-wise forms

    @property
    def cost(self) -> float:
        """Operations of :meth:`energy` per value of a column; a high cost makes parallel blocks worthwhile."""
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
            Numbers of the rows.

        Returns
        -------
        centred : ndarray of shape (len(rows), b)
            The rows of f̃, dense.
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
            Sizes per group; means and scatters per group and column.
        """
        return self.weights.group_moments(F)

    def within_and_between(self, F: Block) -> tuple[np.ndarray, np.ndarray]:
        """The energy f'Lf, and C^½ Z'f̃, whose squares add up to the mass f̃'D f̃ minus the energy.

        Parameters
        ----------
        F : ndarray or sparse array of shape (n_nodes, b)
            A block of columns.

        Returns
        -------
        energy : ndarray of shape (b,)
            Variation within the groups.
        between : ndarray of shape (r, b)
            Variation between the groups.
        """
        return self.weights.within_and_between(F)

    @property
    def constant(self) -> np.ndarray:
        """Mask of the constant columns; only a graph that was summed over its rows has it."""
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
        """Mask of the nodes with a positive degree."""
        return self.weights.active

    @property
    def rows(self) -> np.ndarray:
        """Mask of the rows that a score on this graph reads; one flag for all rows if the graph is summed."""
        return self.weights.rows

    @property
    def n_isolated(self) -> int:
        """Number of nodes with degree 0, such as unlabelled rows in a class graph."""
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
        """The inverse square roots d^-½, with 0 at isolated nodes."""
        return self.weights.inverse_root_degree

    @property
    def small(self) -> SmallSpectrum | None:
        """The eigenpairs of 𝓛 from an r x r matrix, for a factored W with a diagonal core and no loops; else None."""
        return self.weights.small

    def spectrum(self, k: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The smallest eigenpairs (λ_j, ξ_j) of 𝓛 = D^-½ L D^-½, trivial pair first.

        The first vector is always ξ_0 = D^½1 / ‖D^½1‖; the others are orthogonal to it. Eigenpairs are computed per
        connected component, because Lanczos silently misses repeated eigenvalues of a disconnected graph. Isolated
        nodes have no eigenpairs. The result is deterministic.

        Parameters
        ----------
        k : int, optional
            Number of eigenpairs; by default all.

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
