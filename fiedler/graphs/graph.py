"""The similarity graph: an immutable symmetric matrix W over the samples, with the operations that scores need.

    energy(f) = f'Lf = ½ Σ_ij w_ij (f_i - f_j)²        L = D - W
    mass(f)   = f̃'D f̃,   f̃ = f - (f'd / vol) 1          the F-C transform, [ZL] eq. 3.6

W is stored in one of four ways, each a class: *csr* for neighbourhoods and pairs, *dense* for kernels, *factored* for
W = Z C Z' + diag(loops) with a sparse Z with few columns, the groups, and *summed* if the rows are read only once
(:mod:`fiedler.graphs.anchors`). All energies are sums of non-negative terms or are computed on centred columns. The
textbook forms f'Df - f'Wf and f'Df - (f'd)²/vol lose all digits for columns with unit variance and an offset of 1e8.
For a factored W

    f'Lf = ½ Σ_ab c_ab [ s_b S_a + s_a S_b + s_a s_b (μ_a - μ_b)² ]        s = Z'1, μ and S: mean and scatter by groups
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ..data.arrays import Block, as_csr, dense, take_rows
from ..engine.compiled import as_block, kernels
from ..engine.moments import group_moments, pooled_moments, sparse_centre, sparse_moments
from ..engine.threads import batches
from ..validation import is_sparse
from ..words import html_table
from .adjacency import adjacency, from_distances, symmetric
from .spectrum import SmallSpectrum, spectrum

_EDGES_AT_ONCE = 2**16  # number of edges whose sparse differences are in memory at a time

_FEW, _SMALL = 64, 2**15  # columns and values of arrays that are so small that the allocator keeps their memory

Edges = tuple[np.ndarray, np.ndarray, np.ndarray]  # i, j, weight


class Ncut(NamedTuple):
    """A normalised cut and its parts: cut(S, Sᶜ), vol S and vol Sᶜ."""

    value: float
    cut: float
    volume: float
    rest: float


class NotAvailableError(TypeError):
    """Raised if a graph that holds only sums over the rows is asked for single rows."""


class Graph:
    """An immutable weighted undirected graph over the rows of X.

    Build a graph with a recipe (:class:`fiedler.KNN`, :class:`fiedler.RBF`, ...), or from a matrix or a graph of
    another library with :meth:`of`. :meth:`from_weights`, :meth:`from_edges` and :meth:`from_factors` do not check
    their input. ``graph[rows]`` is the induced subgraph. Every way to store W is a class of its own with the same
    members.

    Parameters
    ----------
    n_nodes : int
        Number of nodes, the rows of X.
    degree : array-like of shape (n_nodes,), optional
        The vertex measure, where it is not W1.
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

    storage: str = ""  # how W is held: "csr", "dense", "factored" or "summed"
    is_full = False  # whether all pairs of rows are stored
    work = 0.0  # expected number of scalar operations on all columns, which decides on compiled kernels
    n_groups: int | None = None  # number of groups that link the rows, if a row may be in several of them
    _entries = 0.0  # number of stored values that compiled kernels would read

    def __init__(
        self,
        n_nodes: int,
        degree: Any = None,
        *,
        bandwidth: float | None = None,
        recall: float | None = None,
        neighbors: str | None = None,
    ):
        row_sums = self.dot(np.ones((n_nodes, 1)))[:, 0]
        degree = row_sums if degree is None else np.array(degree, dtype=np.float64)
        for array in (row_sums, degree):
            array.flags.writeable = False
        vars(self).update(n_nodes=n_nodes, row_sums=row_sums, degree=degree, volume=float(degree.sum()))
        vars(self).update(bandwidth=bandwidth, recall=recall, neighbors=neighbors, active=degree > 0)
        # Columns are shifted by their value at the first node with a degree.
        vars(self).update(_reference=int(np.argmax(self.active)))

    n_nodes: int
    row_sums: np.ndarray
    degree: np.ndarray
    volume: float
    bandwidth: float | None
    recall: float | None
    neighbors: str | None
    active: np.ndarray  # mask of the nodes with a positive degree
    _reference: int

    def _lacks(self, what: str) -> NotAvailableError:
        return NotAvailableError(f"a graph stored as {self.storage!r} has no {what}.")

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
            return CsrGraph(as_csr(W, copy=True), degree, **properties)
        return DenseGraph(np.asarray(W, dtype=np.float64).view(), degree, **properties)

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
        rows, columns = np.concatenate([i, j]), np.concatenate([j, i])
        order = np.argsort(rows * n_nodes + columns, kind="stable")  # faster than by way of a coo array
        short = np.int32 if max(n_nodes, len(rows)) < 2**31 else np.int64
        ends = np.r_[0, np.cumsum(np.bincount(rows, minlength=n_nodes))].astype(short)
        parts = np.concatenate([w, w])[order], columns[order].astype(short), ends
        W = sp.csr_array(parts, shape=(n_nodes, n_nodes))
        return CsrGraph(W, degree, **properties)

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
        return FactoredGraph(*parts, degree, **properties)

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
        twin = copy.copy(self)
        vars(twin).update(work=self._entries * n_columns)
        return twin

    @property
    def parts(self) -> list[tuple[np.ndarray | None, Graph]]:
        """The rows of each block, None for all rows, and the graph on them; one entry if there are no blocks."""
        return [(None, self)]

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
        nodes = np.arange(self.n_nodes)[rows]
        # A vertex measure that was set is kept.
        return self._induced(nodes, None if self.degree is self.row_sums else self.degree[nodes])

    def _induced(self, nodes: np.ndarray, degree: np.ndarray | None) -> Graph:
        raise self._lacks("single nodes")

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
        raise self._lacks("single nodes")

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
        return self.row_sums[:, None] * V - self.dot(V)

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
        return self.dot(np.eye(self.n_nodes))

    @property
    def csr(self) -> sp.csr_array | None:
        """The matrix W if it is stored as a csr array, else None."""
        return None

    def upper(self) -> sp.csr_array:
        """The edges i < j as a csr array.

        Returns
        -------
        W : csr_array of shape (n_nodes, n_nodes)
            Without self loops.
        """
        raise self._lacks("edges")

    def _pattern(self) -> sp.csr_array:
        """A matrix with the connected components of W; rows after the first n are auxiliary."""
        raise self._lacks("edges")

    def trace(self) -> float:
        """The sum of the diagonal of W.

        Returns
        -------
        trace : float
            Σ w_ii.
        """
        raise self._lacks("single nodes")

    def submatrix(self, nodes: np.ndarray) -> np.ndarray:
        """The weights between some nodes, dense.

        Parameters
        ----------
        nodes : ndarray of int
            Numbers of the nodes.

        Returns
        -------
        W : ndarray of shape (len(nodes), len(nodes))
            Their weights.
        """
        raise self._lacks("single nodes")

    def operator(self, nodes: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """The function x -> W x between some nodes.

        Parameters
        ----------
        nodes : ndarray of int
            Numbers of the nodes.

        Returns
        -------
        product : callable
            A vector over the nodes -> a vector over the nodes.
        """
        if len(nodes) == self.n_nodes:
            return lambda x: self.dot(x[:, None])[nodes, 0]

        def placed(x: np.ndarray) -> np.ndarray:
            everywhere = np.zeros(self.n_nodes)
            everywhere[nodes] = x
            return self.dot(everywhere[:, None])[nodes, 0]

        return placed

    # ---------------------------------------------------------------- column-wise forms

    @property
    def cost(self) -> float:
        """Operations of :meth:`energy` per value of a column; a high cost makes parallel blocks worthwhile."""
        # few blocks without kernels: their width may change the last digit
        return 1.0 if kernels(self.work) is None else max(1.0, self._entries / self.n_nodes)

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
        F, compiled = dense(F), kernels(self.work)
        if compiled is not None:
            energy, W = np.zeros(F.shape[1]), self._upper if self.csr is None else self.csr
            compiled.edge_energy(as_block(F), W.indptr, W.indices, W.data, energy)
            return energy
        # In narrow blocks, so small that the allocator keeps their memory; a full W is read once.
        step = F.shape[1] if self.is_full else max(_FEW, _SMALL // self.n_nodes)
        return np.concatenate([self._product_energy(F[:, part]) for part in batches(F.shape[1], step)])

    def _product_energy(self, F: np.ndarray) -> np.ndarray:
        centred = self.centre(F)
        product = self.row_sums[:, None] * centred
        product -= self.dot(centred)
        energy = np.einsum("ij,ij->j", centred, product)
        # The product loses digits if the energy is tiny compared with Σ d f̃²; these columns are summed edge by edge.
        scale = np.einsum("i,ij,ij->j", np.abs(self.row_sums), centred, centred)
        for column in np.flatnonzero(np.abs(energy) < 1e-5 * scale):
            i, j, w = self.edges
            energy[column] = w @ (centred[i, column] - centred[j, column]) ** 2
        return energy

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

    def ncut(self, rows: Any) -> Ncut:
        """The normalised cut between some rows and all others ([ZL] eq. 3.3).

        Parameters
        ----------
        rows : array-like
            Row numbers, or a mask of shape (n_nodes,): the set S.

        Returns
        -------
        ncut : Ncut
            cut(S, Sᶜ)/vol S + cut(S, Sᶜ)/vol Sᶜ as ``value``; ``cut``, ``volume`` of S and ``rest`` are its parts. The
            value is the Laplacian score of the indicator of S ([ZL] eq. 3.4). It is inf if a side has no volume.

        Examples
        --------
        >>> from fiedler import KNN
        >>> graph = KNN(1, "binary").build([[0.0], [1.0], [2.1], [3.3]])
        >>> graph.ncut([0, 1])
        Ncut(value=0.6666666666666666, cut=1.0, volume=3.0, rest=3.0)
        """
        inside, chosen = np.zeros((self.n_nodes, 1)), np.asarray(rows)
        inside[chosen if chosen.dtype == bool else chosen.astype(np.intp)] = 1.0
        cut, volume = float(self.energy(inside)[0]), float(self.degree @ inside[:, 0])
        rest = float(self.degree @ (1.0 - inside[:, 0]))
        return Ncut(cut / volume + cut / rest if min(volume, rest) > 0 else np.inf, cut, volume, rest)

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
        if is_sparse(F):
            return sparse_moments(F, self.degree)
        shift, mass = self._shift_and_mass(F)
        return F[self._reference] + shift, mass

    def _shift_and_mass(self, F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        # After subtracting one sample, the weighted mean is exact at large offsets and constants are exactly zero.
        compiled = kernels(self.work)
        if compiled is None:
            centred = F - F[self._reference]
            shift = self.degree @ centred / (self.volume or 1.0)
            centred -= shift
            return shift, np.einsum("i,ij,ij->j", self.degree, centred, centred)
        shift, mass = np.zeros(F.shape[1]), np.zeros(F.shape[1])
        compiled.moments(as_block(F), self.degree, self._reference, shift, mass)
        return shift, mass

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
        centred = F - F[self._reference]
        centred -= self.degree @ centred / (self.volume or 1.0)
        return centred

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
        if is_sparse(F):
            reference, shift = sparse_centre(F, self.degree)
            return take_rows(F, rows) - reference - shift
        return F[rows] - F[self._reference] - self._shift_and_mass(F)[0]

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
        raise self._lacks("groups")

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
        raise self._lacks("groups")

    @property
    def constant(self) -> np.ndarray:
        """Mask of the constant columns; only a graph that was summed over its rows has it."""
        raise self._lacks("columns of its own")

    # ---------------------------------------------------------------- structure

    @cached_property
    def edges(self) -> Edges:
        """Every edge once, as arrays (i, j, weight) with i < j; self loops are not edges."""
        W = self._upper.tocoo()
        return W.row.astype(np.intp), W.col.astype(np.intp), W.data

    @cached_property
    def _upper(self) -> sp.csr_array:
        return self.upper()

    @property
    def n_edges(self) -> int:
        """Number of edges, self loops not counted."""
        return int(self._upper.nnz)

    @property
    def rows(self) -> np.ndarray:
        """Mask of the rows that a score on this graph reads; one flag for all rows if the graph is summed."""
        return self.active

    @property
    def n_isolated(self) -> int:
        """Number of nodes with degree 0, such as unlabelled rows in a class graph."""
        return int(np.count_nonzero(~self.active))

    @cached_property
    def components(self) -> np.ndarray:
        """Connected component of each node, -1 for isolated nodes; the heaviest component is 0."""
        labels = connected_components(self._pattern(), directed=False)[1][: self.n_nodes]
        found, first, place = np.unique(np.where(self.active, labels, -1), return_index=True, return_inverse=True)
        weight = np.bincount(place, self.degree)
        weight[found < 0], offset = np.inf, int(found[0] < 0)
        rank = np.empty(len(found), dtype=np.intp)
        rank[np.lexsort((first, -weight))] = np.arange(len(found)) - offset
        return rank[place]

    @property
    def component_sizes(self) -> np.ndarray:
        """Number of nodes in each component, the largest first."""
        return np.sort(np.bincount(self.components[self.active], minlength=self.n_components))[::-1]

    @property
    def n_components(self) -> int:
        """Number of connected components, isolated nodes not counted."""
        return int(self.components.max(initial=-1)) + 1

    @cached_property
    def inverse_root_degree(self) -> np.ndarray:
        """The inverse square roots d^-½, with 0 at isolated nodes."""
        return np.where(self.active, 1.0 / np.sqrt(np.where(self.active, self.degree, 1.0)), 0.0)

    @property
    def small(self) -> SmallSpectrum | None:
        """The eigenpairs of 𝓛 from an r x r matrix, for a factored W with a diagonal core and no loops; else None."""
        return None

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
        return self._spectrum(k)

    def _spectrum(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        return spectrum(self, k, f"use a bandwidth above {self.bandwidth}, or weight='binary'")

    def __repr__(self) -> str:
        bandwidth = "" if self.bandwidth is None else f", bandwidth={self.bandwidth:.6g}"
        found = "" if self.neighbors is None else f", neighbors={self.neighbors!r}"
        found += "" if self.recall is None else f", recall={self.recall:.3f}"
        edges = f"n_edges={self.n_edges}" if self.n_groups is None else f"n_groups={self.n_groups}"
        return (
            f"Graph(n_nodes={self.n_nodes}, {edges}, n_components={self.n_components}, "
            f"n_isolated={self.n_isolated}, storage={self.storage!r}{bandwidth}{found})"
        )

    def _repr_html_(self) -> str:
        degree, sizes = self.degree[self.active], self.component_sizes[:6]
        pieces = f" ({', '.join(f'{size:,}' for size in sizes)}{', …' * (self.n_components > 6)} rows)"
        edges = ["edges", f"{self.n_edges:,}"] if self.n_groups is None else ["groups", f"{self.n_groups:,}"]
        rows = [["rows", f"{self.n_nodes:,}"], edges]
        rows += [["components", f"{self.n_components:,}{pieces if self.n_components > 1 else ''}"]]
        rows += [["isolated rows", f"{self.n_isolated:,}"]]
        if len(degree):
            rows += [["degree", f"{degree.min():.4g} to {degree.max():.4g}, median {np.median(degree):.4g}"]]
        rows += [["bandwidth", f"{self.bandwidth:.6g}"]] if self.bandwidth is not None else []
        rows += [["recall of neighbours", f"{self.recall:.3f}"]] if self.recall is not None else []
        return html_table("Similarity graph", [*rows, ["stored as", self.storage]])


class CsrGraph(Graph):
    """A graph whose W is a csr array, for neighbourhoods and pairs."""

    storage = "csr"
    _W: sp.csr_array

    def __init__(self, W: sp.csr_array, degree: Any = None, **properties: Any):
        W.sum_duplicates()
        W.eliminate_zeros()
        vars(self).update(_W=W, _entries=float(W.nnz))
        super().__init__(W.shape[0], degree, **properties)

    @property
    def csr(self) -> sp.csr_array:
        return self._W

    def dot(self, V: np.ndarray) -> np.ndarray:
        return self._W @ V

    def toarray(self) -> np.ndarray:
        return self._W.toarray()

    def upper(self) -> sp.csr_array:
        return sp.csr_array(sp.triu(self._W, 1, format="csr"))

    def _pattern(self) -> sp.csr_array:
        return self._W

    def trace(self) -> float:
        return float(self._W.diagonal().sum())

    def submatrix(self, nodes: np.ndarray) -> np.ndarray:
        return self._W[nodes][:, nodes].toarray()

    def _induced(self, nodes: np.ndarray, degree: np.ndarray | None) -> Graph:
        return CsrGraph(self._W[nodes][:, nodes], degree, bandwidth=self.bandwidth)

    def operator(self, nodes: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        if len(nodes) == self.n_nodes:
            return super().operator(nodes)
        inside = self._W[nodes][:, nodes]
        return lambda x: inside @ x

    def energy(self, F: Block) -> np.ndarray:
        """As the base class; the zeros of sparse columns are never filled in."""
        if not is_sparse(F):
            return super().energy(F)
        energy, compiled = np.zeros(F.shape[1]), kernels(self.work)
        if compiled is not None:
            W, column = self._W, np.zeros(self.n_nodes)
            compiled.sparse_edge_energy(F.indptr, F.indices, F.data, W.indptr, W.indices, W.data, column, energy)
            return energy
        i, j, w = self.edges
        rows = F.tocsr()
        for start in range(0, len(w), _EDGES_AT_ONCE):
            part = slice(start, start + _EDGES_AT_ONCE)
            difference = rows[i[part]] - rows[j[part]]
            difference.data **= 2
            energy += difference.T @ w[part]
        return energy


class DenseGraph(Graph):
    """A graph whose W is an ndarray, for kernels."""

    storage, is_full = "dense", True
    _W: np.ndarray

    def __init__(self, W: np.ndarray, degree: Any = None, **properties: Any):
        vars(self).update(_W=W)
        super().__init__(W.shape[0], degree, **properties)
        W.flags.writeable = False

    def dot(self, V: np.ndarray) -> np.ndarray:
        return self._W @ V

    def toarray(self) -> np.ndarray:
        return self._W.copy()

    def upper(self) -> sp.csr_array:
        return sp.csr_array(np.triu(self._W, 1))

    @cached_property
    def n_edges(self) -> int:
        return int(np.count_nonzero(self._W) - np.count_nonzero(self._W.diagonal())) // 2

    def _pattern(self) -> sp.csr_array:
        W = self._W
        if W[0].all():  # if node 0 is linked to all nodes, no n x n pattern is needed
            nodes = np.arange(len(W))
            return sp.csr_array((np.ones(len(W), dtype=np.int8), (np.zeros_like(nodes), nodes)), shape=W.shape)
        return sp.csr_array(W != 0)

    def trace(self) -> float:
        return float(self._W.trace())

    def submatrix(self, nodes: np.ndarray) -> np.ndarray:
        return self._W[np.ix_(nodes, nodes)]

    def _induced(self, nodes: np.ndarray, degree: np.ndarray | None) -> Graph:
        return DenseGraph(self.submatrix(nodes), degree, bandwidth=self.bandwidth)


class FactoredGraph(Graph):
    """A graph with W = Z C Z' + diag(loops): ``core`` is C or its diagonal, and ``Z`` has one column per group."""

    storage = "factored"
    Z: sp.csr_array
    core: np.ndarray
    loops: np.ndarray | None
    sizes: np.ndarray

    def __init__(
        self, Z: sp.csr_array, core: np.ndarray, loops: np.ndarray | None, degree: Any = None, **properties: Any
    ):
        several = np.diff(Z.indptr).max(initial=0) > 1
        vars(self).update(Z=Z, core=core, loops=loops, sizes=Z.sum(axis=0), _entries=float(Z.nnz))
        vars(self).update(n_groups=Z.shape[1] if several else None)
        super().__init__(Z.shape[0], degree, **properties)

    @property
    def diagonal(self) -> bool:
        """Whether C is diagonal, so that only rows that share a group are linked."""
        return self.core.ndim == 1

    def dot(self, V: np.ndarray) -> np.ndarray:
        pooled = self.Z.T @ V
        product = self.Z @ (self.core[:, None] * pooled if self.diagonal else self.core @ pooled)
        return product if self.loops is None else product + self.loops[:, None] * V

    def energy(self, F: Block) -> np.ndarray:
        """f'Lf of each column; every term is non-negative, so no digits cancel."""
        if self.diagonal:
            return pooled_moments(F, self.Z, self.core * self.sizes, compiled=kernels(self.work))[2]
        sizes, mean, scatter = group_moments(F, self.Z)
        energy = (self.core @ sizes) @ scatter
        for a in range(len(sizes)):
            energy += 0.5 * (self.core[a] * sizes[a] * sizes) @ (mean - mean[a]) ** 2
        return energy

    def group_moments(self, F: Block) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As the base class; means are relative to the first row, so that differences are exact at large offsets."""
        return group_moments(F, self.Z)

    def within_and_between(self, F: Block) -> tuple[np.ndarray, np.ndarray]:
        """As the base class, for a diagonal core."""
        sizes, mean, energy = pooled_moments(F, self.Z, self.core * self.sizes, compiled=kernels(self.work))
        share = self.core * sizes**2
        return energy, (np.sqrt(self.core) * sizes)[:, None] * (mean - share @ mean / share.sum())

    # ---------------------------------------------------------------- structure

    def upper(self) -> sp.csr_array:
        core = sp.diags_array(self.core, format="csr") if self.diagonal else sp.csr_array(self.core)
        return sp.csr_array(sp.triu(self.Z @ core @ self.Z.T, 1, format="csr"))

    def trace(self) -> float:
        ZC = self.Z @ (sp.diags_array(self.core) if self.diagonal else self.core)
        inside = self.Z.multiply(ZC).sum()
        return float(inside + (0.0 if self.loops is None else self.loops.sum()))

    def submatrix(self, nodes: np.ndarray) -> np.ndarray:
        Z = self.Z[nodes]
        dense = Z.T.toarray()
        W = Z @ (self.core[:, None] * dense if self.diagonal else self.core @ dense)
        if self.loops is not None:
            W.flat[:: len(nodes) + 1] += self.loops[nodes]
        return W

    def _induced(self, nodes: np.ndarray, degree: np.ndarray | None) -> Graph:
        loops = None if self.loops is None else self.loops[nodes]
        return FactoredGraph(self.Z[nodes], self.core, loops, degree, bandwidth=self.bandwidth)

    def _pattern(self) -> sp.csr_array:
        """Nodes and groups as one graph, in which the groups follow the nodes."""
        used = self.Z.multiply(self.core != 0) if self.diagonal else self.Z
        core = None if self.diagonal else sp.csr_array(self.core)
        return sp.block_array([[None, used], [used.T, core]], format="csr")

    @cached_property
    def small(self) -> SmallSpectrum | None:
        """As the base class; it exists for a diagonal core without loops."""
        n_active = int(np.count_nonzero(self.active))
        if not self.diagonal or self.loops is not None or len(self.core) > n_active:
            return None
        scaled = sp.csr_array(self.Z.multiply(self.inverse_root_degree[:, None]))
        return SmallSpectrum((scaled.T @ scaled).toarray(), self.sizes, self.core, n_active)

    def _spectrum(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        if self.small is None:
            return super()._spectrum(k)
        degree, small = self.degree, self.small
        values, root = np.r_[0.0, small.values], np.where(degree > 0, np.sqrt(degree), np.inf)[:, None]
        vectors = self.Z @ (np.sqrt(self.core)[:, None] * small.vectors[:, : k - 1]) / root
        vectors = np.column_stack([np.sqrt(degree / degree.sum()), vectors])
        if k > len(values):  # 𝓛 is the identity on the rest, so any basis of it will do
            more = np.random.default_rng(0).standard_normal((len(degree), k - len(values))) * (degree > 0)[:, None]
            more = np.linalg.qr(np.column_stack([vectors, more]))[0][:, len(values) :]
            values, vectors = np.r_[values, np.ones(more.shape[1])], np.column_stack([vectors, more])
        return values[:k], vectors

    @cached_property
    def n_edges(self) -> int:
        if self.n_groups is not None:
            return super().n_edges
        own = self.core if self.diagonal else self.core.diagonal()
        sizes = np.bincount(self.Z.indices[self.Z.data != 0], minlength=len(own)).astype(np.float64)
        across = 0.0 if self.diagonal else (np.triu(self.core != 0, 1) * np.outer(sizes, sizes)).sum()
        return int(across + ((own != 0) * sizes * (sizes - 1) / 2).sum())
