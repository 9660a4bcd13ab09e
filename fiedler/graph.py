"""The similarity graph: an immutable symmetric W over the samples, with everything the scores need of it.

    energy(f) = f'Lf = ½ Σ_ij w_ij (f_i - f_j)²        L = D - W
    mass(f)   = f̃'D f̃,   f̃ = f - (f'd / vol) 1          the F-C transform, [ZL] eq. 3.6

Three storages, one behaviour: *csr* for neighbourhoods and pairs, *dense* for kernels, *factored* for
W = Z C Z' + diag(loops) with few columns in Z (classes, anchors), which is never formed as n x n.

All energies are sums of non-negative terms or are computed on centred columns: at an offset of 1e8 on unit variance
the textbook forms f'Df - f'Wf and f'Df - (f'd)²/vol return noise.
"""

from __future__ import annotations

import copy
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from ._kernels import as_block, kernels
from ._threads import one_blas_thread
from .columns import dense, take_rows
from .factors import Factors, SmallSpectrum, householder
from .moments import group_moments, sparse_moments

_DENSE_EIGEN, _DENSE_EIGEN_OF_KERNELS = 400, 2000  # nodes up to which LAPACK beats Lanczos: sparse, dense storage
_DENSE_EIGEN_AT_MOST, _RESTARTS = 8000, 300  # it takes over up to so many where Lanczos gives up after so many
_EDGES_AT_ONCE = 2**16  # edges whose sparse differences are held together


class Graph:
    """An immutable weighted undirected graph over the rows of X.

    Build one with a recipe (:class:`fiedler.KNN`, :class:`fiedler.RBF`, ...) or from weights with
    :meth:`from_weights`, :meth:`from_edges` and :meth:`from_factors`.

    Attributes
    ----------
    n_nodes : int
    storage : {"csr", "dense", "factored"}
    degree : ndarray of shape (n_nodes,)
        d = W1 unless the recipe sets the vertex measure itself (ReliefGraph: D = I).
    volume : float
        Sum of the degrees.
    bandwidth : float or None
        Width δ of the RBF weights exp(-‖x_i - x_j‖² / 2δ²), where the weights are of that form.
    neighbors : {"exact", "approximate", "projected", "anchors"} or None
        How the neighbours were found, where the graph is one of neighbours.
    recall : float or None
        Measured share of true neighbours, where they are approximate.

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

    def __init__(
        self,
        *,
        csr: sp.csr_array | None = None,
        full: np.ndarray | None = None,
        factors: Factors | None = None,
        degree: np.ndarray | None = None,
        bandwidth: float | None = None,
        recall: float | None = None,
        neighbors: str | None = None,
    ):
        stored = csr if csr is not None else full if full is not None else factors.Z
        storage = "csr" if csr is not None else "dense" if full is not None else "factored"
        # The only assignment: afterwards __setattr__ refuses.
        vars(self).update(_csr=csr, _full=full, _factors=factors, storage=storage, bandwidth=bandwidth)
        vars(self).update(recall=recall, neighbors=neighbors)
        vars(self).update(n_nodes=int(stored.shape[0]), _compiled=None)
        row_sums = self.dot(np.ones((self.n_nodes, 1)))[:, 0]
        degree = row_sums if degree is None else np.array(degree, dtype=np.float64)
        vars(self).update(_row_sums=row_sums, degree=degree, volume=float(degree.sum()))
        vars(self).update(_reference=int(np.argmax(degree > 0)))
        for array in (degree, row_sums, full):
            if array is not None:
                array.flags.writeable = False

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_compiled": self._compiled is not None}  # compiled code does not travel

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _compiled=kernels(np.inf) if state["_compiled"] else None)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"Graph is immutable: {name!r} cannot be set; build a new graph instead.")

    n_nodes: int
    storage: str
    degree: np.ndarray
    volume: float
    bandwidth: float | None
    recall: float | None
    neighbors: str | None
    _csr: sp.csr_array | None
    _full: np.ndarray | None
    _factors: Factors | None
    _row_sums: np.ndarray
    _reference: int  # a node with a degree, whose value columns are shifted by
    _compiled: Any

    # ---------------------------------------------------------------- builders

    @classmethod
    def from_weights(cls, W: Any, **properties: Any) -> Graph:
        """A graph from a symmetric weight matrix, dense or sparse; the storage follows the input.

        ``properties`` are degree, bandwidth, recall and neighbors, as in the attributes.
        """
        if sp.issparse(W):
            W = sp.csr_array(W, dtype=np.float64, copy=True)
            W.sum_duplicates()
            W.eliminate_zeros()
            return cls(csr=W, **properties)
        return cls(full=np.asarray(W, dtype=np.float64).view(), **properties)

    @classmethod
    def from_edges(cls, i: Any, j: Any, weights: Any, n_nodes: int, **properties: Any) -> Graph:
        """A graph from undirected edges, each given once as (i, j, weight)."""
        i, j, w = np.asarray(i, dtype=np.intp), np.asarray(j, dtype=np.intp), np.asarray(weights, dtype=np.float64)
        W = sp.csr_array((np.r_[w, w], (np.r_[i, j], np.r_[j, i])), shape=(n_nodes, n_nodes))
        W.sum_duplicates()
        W.eliminate_zeros()
        return cls(csr=W, **properties)

    @classmethod
    def from_factors(cls, Z: Any, core: Any, loops: Any = None, **properties: Any) -> Graph:
        """W = Z core Z' + diag(loops) with non-negative Z (n, r) and a small symmetric core (r, r), or its diagonal."""
        loops = None if loops is None else np.asarray(loops, dtype=np.float64)
        factors = Factors(sp.csr_array(Z, dtype=np.float64), np.asarray(core, dtype=np.float64), loops)
        return cls(factors=factors, **properties)

    def for_columns(self, n_columns: int) -> Graph:
        """The same graph, with compiled kernels where they pay for that many columns."""
        entries = self._csr if self._csr is not None else self._factors.Z if self._factors is not None else None
        work = 0.0 if entries is None else float(entries.nnz) * n_columns
        twin = copy.copy(self)
        vars(twin).update(_compiled=kernels(work))
        return twin

    # ---------------------------------------------------------------- the matrix

    def dot(self, V: np.ndarray) -> np.ndarray:
        """W V for a dense block V of shape (n_nodes, b)."""
        if self._factors is not None:
            return self._factors.dot(V)
        return (self._csr if self._csr is not None else self._full) @ V

    def laplacian_dot(self, V: np.ndarray) -> np.ndarray:
        """L V = (diag(W1) - W) V."""
        return self._row_sums[:, None] * V - self.dot(V)

    def normalized_laplacian_dot(self, V: np.ndarray) -> np.ndarray:
        """𝓛 V = D^-½ L D^-½ V, with d_i^-½ := 0 at isolated nodes."""
        root = self.inverse_root_degree[:, None]
        return root * self.laplacian_dot(root * V)

    def toarray(self) -> np.ndarray:
        """W as a dense array (small graphs only: n² floats)."""
        if self._full is not None:
            return self._full.copy()
        return self._csr.toarray() if self._csr is not None else self.dot(np.eye(self.n_nodes))

    # ---------------------------------------------------------------- column-wise forms

    def centre(self, F: np.ndarray) -> np.ndarray:
        """f̃ = f - (f'd / vol) 1 for each column of a dense block; then <f̃, d> = 0."""
        centred = F - F[self._reference]
        centred -= self.degree @ centred / (self.volume or 1.0)
        return centred

    def centred_rows(self, F: Any, rows: np.ndarray) -> np.ndarray:
        """The given rows of f̃, as an ndarray, without centring the others."""
        if sp.issparse(F):
            return take_rows(F, rows) - sparse_moments(F, self.degree)[0]
        return F[rows] - F[self._reference] - self._shift_and_mass(F)[0]

    def mass(self, F: Any) -> np.ndarray:
        """f̃'D f̃ for each column of a block."""
        return self.moments(F)[1]

    def moments(self, F: Any) -> tuple[np.ndarray, np.ndarray]:
        """The degree-weighted mean f'd / vol and the mass f̃'D f̃ of each column of a block."""
        if sp.issparse(F):
            return sparse_moments(F, self.degree)
        shift, mass = self._shift_and_mass(F)
        return F[self._reference] + shift, mass

    def energy(self, F: Any) -> np.ndarray:
        """f'Lf = ½ Σ_ij w_ij (f_i - f_j)² for each column of a block, dense or sparse."""
        if self._factors is not None:
            return self._factors.energy(F, self._compiled)
        if self._csr is not None and sp.issparse(F):
            return self._sparse_edge_energy(F)
        F = dense(F)
        return self._product_energy(F) if self._compiled is None else self._edge_energy(F)

    def _shift_and_mass(self, F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        # Relative to one sample the weighted mean is exact at large offsets, and constants are exactly zero.
        if self._compiled is None:
            centred = F - F[self._reference]
            shift = self.degree @ centred / (self.volume or 1.0)
            centred -= shift
            return shift, np.einsum("i,ij,ij->j", self.degree, centred, centred)
        shift, mass = np.zeros(F.shape[1]), np.zeros(F.shape[1])
        self._compiled.moments(as_block(F), self.degree, self._reference, shift, mass)
        return shift, mass

    def _edge_energy(self, F: np.ndarray) -> np.ndarray:
        energy, upper = np.zeros(F.shape[1]), self._upper
        self._compiled.edge_energy(as_block(F), upper.indptr, upper.indices, upper.data, energy)
        return energy

    def _sparse_edge_energy(self, F: sp.csc_array) -> np.ndarray:
        energy = np.zeros(F.shape[1])
        if self._compiled is not None:
            W, column = self._csr, np.zeros(self.n_nodes)
            self._compiled.sparse_edge_energy(F.indptr, F.indices, F.data, W.indptr, W.indices, W.data, column, energy)
            return energy
        i, j, w = self.edges
        F = F.tocsr()
        step = _EDGES_AT_ONCE
        for start in range(0, len(w), step):
            part = slice(start, start + step)
            difference = F[i[part]] - F[j[part]]
            difference.data **= 2
            energy += difference.T @ w[part]
        return energy

    def _product_energy(self, F: np.ndarray) -> np.ndarray:
        centred = self.centre(F)
        energy = np.einsum("ij,ij->j", centred, self.laplacian_dot(centred))
        # The product loses digits where the energy is tiny beside Σ d f̃²: those few columns go edge by edge.
        scale = np.einsum("i,ij,ij->j", np.abs(self._row_sums), centred, centred)
        for column in np.flatnonzero(np.abs(energy) < 1e-5 * scale):
            i, j, w = self.edges
            energy[column] = w @ (centred[i, column] - centred[j, column]) ** 2
        return energy

    def group_moments(self, F: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Size, mean and scatter of each column inside every group a (column of Z), weighted by z_ia.

        Means are relative to the first row, so that their differences are exact at large offsets.
        """
        return group_moments(F, self._factors.Z)

    def within_and_between(self, F: Any) -> tuple[np.ndarray, np.ndarray]:
        """The energy f'Lf, and C^½ Z'f̃ (r, b), whose squares are what the energy leaves of the mass f̃'D f̃."""
        return self._factors.within_and_between(F, self._compiled)

    # ---------------------------------------------------------------- structure

    @cached_property
    def edges(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Every edge once, as arrays (i, j, weight) with i < j; self loops are not edges."""
        W = self._upper.tocoo()
        return W.row.astype(np.intp), W.col.astype(np.intp), W.data

    @cached_property
    def _upper(self) -> sp.csr_array:
        if self._full is not None:
            return sp.csr_array(np.triu(self._full, 1))
        W = self._csr if self._csr is not None else self._factors.weights()
        return sp.csr_array(sp.triu(W, 1, format="csr"))

    @cached_property
    def n_edges(self) -> int:
        """Number of edges, self loops not counted."""
        if self._csr is not None:
            return int(self._csr.nnz - np.count_nonzero(self._csr.diagonal())) // 2
        if self._full is not None:
            return int(np.count_nonzero(self._full) - np.count_nonzero(self._full.diagonal())) // 2
        return self._factors.n_edges()

    @cached_property
    def active(self) -> np.ndarray:
        """Mask of the nodes that take part: those with a degree."""
        return self.degree > 0

    @property
    def n_isolated(self) -> int:
        """Number of nodes without a degree, such as unlabelled rows in a class graph."""
        return int(np.count_nonzero(~self.active))

    @cached_property
    def components(self) -> np.ndarray:
        """Connected component of each node, -1 for isolated nodes; the heaviest component is 0."""
        if self._factors is not None:
            pattern = self._factors.pattern()
        else:
            pattern = self._csr if self._csr is not None else _pattern(self._full)
        labels = connected_components(pattern, directed=False)[1][: self.n_nodes]
        found, first, labels = np.unique(np.where(self.active, labels, -1), return_index=True, return_inverse=True)
        weight = np.bincount(labels, self.degree)
        weight[found < 0], offset = np.inf, int(found[0] < 0)
        rank = np.empty(len(found), dtype=np.intp)
        rank[np.lexsort((first, -weight))] = np.arange(len(found)) - offset
        return rank[labels]

    @property
    def n_components(self) -> int:
        """Number of connected components, isolated nodes not counted."""
        return int(self.components.max(initial=-1)) + 1

    @cached_property
    def inverse_root_degree(self) -> np.ndarray:
        """d^-½, with 0 at isolated nodes."""
        return np.where(self.active, 1.0 / np.sqrt(np.where(self.active, self.degree, 1.0)), 0.0)

    def spectrum(self, k: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The k smallest eigenpairs (λ_j, ξ_j) of 𝓛 = D^-½ L D^-½, trivial pair first; all of them when k is None.

        ξ_0 = D^½1 / ‖D^½1‖ always, the others from its complement. Eigenpairs are found per connected component,
        because Lanczos silently loses the repeated eigenvalues of a disconnected graph; isolated nodes have none.
        The result is deterministic.
        """
        n_active = self.n_nodes - self.n_isolated
        k = n_active if k is None else min(int(k), n_active)
        if self.small is not None:
            return self._factors.spectrum(self.small, self.degree, k)
        values, vectors, trivial = [], [], []
        for component in range(self.n_components):
            nodes = np.flatnonzero(self.components == component)
            found, basis, ground = self._component_spectrum(nodes, min(k, len(nodes)) - 1)
            for part, store in ((basis, vectors), (ground, trivial)):
                placed = np.zeros((self.n_nodes, part.shape[1]))
                placed[nodes] = part
                store.append(placed)
            values.append(found)
        if not trivial:
            return np.empty(0), np.empty((self.n_nodes, 0))
        grounds = np.hstack(trivial) @ householder(np.sqrt([self.degree @ (t[:, 0] != 0) for t in trivial]))
        values = np.concatenate([np.zeros(grounds.shape[1]), *values])
        order = np.argsort(values[grounds.shape[1] :], kind="stable") + grounds.shape[1]
        # Signed graphs may have negative eigenvalues; the trivial pair still comes first.
        order = np.concatenate([np.arange(grounds.shape[1]), order])[:k]
        return values[order], np.hstack([grounds, *vectors])[:, order]

    @cached_property
    def small(self) -> SmallSpectrum | None:
        """The eigenpairs of 𝓛 from a matrix as small as the core, where there is one: a diagonal core, no loops."""
        factors, n_active = self._factors, self.n_nodes - self.n_isolated
        if factors is None or not factors.diagonal or factors.loops is not None or len(factors.core) > n_active:
            return None
        scaled = sp.csr_array(factors.Z.multiply(self.inverse_root_degree[:, None]))
        return SmallSpectrum((scaled.T @ scaled).toarray(), factors.sizes, factors.core, n_active)

    def _component_spectrum(self, nodes: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The k smallest non-trivial eigenpairs on one component, and its trivial vector."""
        size, root = len(nodes), self.inverse_root_degree[nodes]
        ground = np.sqrt(self.degree[nodes])
        ground /= np.linalg.norm(ground)
        if k == 0:
            return np.empty(0), np.empty((size, 0)), ground[:, None]
        if size > (_DENSE_EIGEN if self._full is None else _DENSE_EIGEN_OF_KERNELS) and k <= size // 10:
            try:
                return *self._checked_lanczos(nodes, k, ground), ground[:, None]
            except ArpackNoConvergence:  # eigenvalues crowd at 0 where weights span many orders of magnitude
                if size > _DENSE_EIGEN_AT_MOST:
                    what = f"the eigenvectors of {size} nodes do not converge: their weights differ too much"
                    raise ValueError(f"{what}; use a bandwidth above {self.bandwidth}, or weight='binary'.") from None
        L = -self._submatrix(nodes)
        L.flat[:: size + 1] += self._row_sums[nodes]
        L *= root[:, None] * root
        # The trivial vector is moved to the top of the spectrum, above every other eigenvalue.
        L += (3.0 + np.abs(L).sum(axis=1).max()) * np.outer(ground, ground)
        values, vectors = eigh(L, subset_by_index=[0, k - 1])
        return values, vectors, ground[:, None]

    def _checked_lanczos(self, nodes: np.ndarray, k: int, ground: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, vectors = self._lanczos(nodes, k, ground[:, None])
        while True:
            # Lanczos may miss copies of a repeated eigenvalue: look once more, away from what it found.
            missed, vector = self._lanczos(nodes, 1, np.column_stack([ground, vectors]))
            if missed[0] > values[-1] - 1e-10:
                return values, vectors
            order = np.argsort(np.r_[values, missed], kind="stable")[:k]
            values, vectors = np.r_[values, missed][order], np.column_stack([vectors, vector])[:, order]

    def _lanczos(self, nodes: np.ndarray, k: int, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The k smallest eigenpairs of 𝓛 on one component, in the complement of some known eigenvectors."""
        root, whole = self.inverse_root_degree[nodes], len(nodes) == self.n_nodes
        L = self._row_sums[nodes]
        W = self if whole or self._csr is None else self._csr[nodes][:, nodes]

        def adjacency(v: np.ndarray) -> np.ndarray:
            v = v.ravel()
            x = root * v
            if W is not self:
                Wx = W @ x
            else:
                placed = x
                if not whole:
                    placed = np.zeros(self.n_nodes)
                    placed[nodes] = x
                Wx = self.dot(placed[:, None])[nodes, 0]
            # I - 𝓛, with the known vectors moved far below the others.
            return v - root * (L * x - Wx) - 4.0 * (known @ (known.T @ v))

        operator = LinearOperator((len(nodes), len(nodes)), matvec=adjacency, dtype=np.float64)
        start = np.random.default_rng(0).standard_normal(len(nodes))
        start -= known @ (known.T @ start)
        with one_blas_thread(0.0):  # many small products, which a second thread only delays
            basis = min(len(nodes), max(2 * k + 1, 40))
            values, vectors = eigsh(operator, k=k, which="LA", v0=start, ncv=basis, maxiter=_RESTARTS)
        order = np.argsort(-values, kind="stable")
        return 1.0 - values[order], vectors[:, order]

    def _submatrix(self, nodes: np.ndarray) -> np.ndarray:
        if self._csr is not None:
            return self._csr[nodes][:, nodes].toarray()
        if self._full is not None:
            return self._full[np.ix_(nodes, nodes)]
        return self._factors.submatrix(nodes)

    def __repr__(self) -> str:
        bandwidth = "" if self.bandwidth is None else f", bandwidth={self.bandwidth:.6g}"
        found = "" if self.neighbors is None else f", neighbors={self.neighbors!r}"
        found += "" if self.recall is None else f", recall={self.recall:.3f}"
        return (
            f"Graph(n_nodes={self.n_nodes}, n_edges={self.n_edges}, n_components={self.n_components}, "
            f"n_isolated={self.n_isolated}, storage={self.storage!r}{bandwidth}{found})"
        )

    def _repr_html_(self) -> str:
        from .display import graph_html

        return graph_html(self)


def _pattern(W: np.ndarray) -> sp.csr_array:
    """Where a dense W is not zero; a kernel that reaches everything from node 0 needs no n x n pattern."""
    if W[0].all():
        nodes = np.arange(len(W))
        return sp.csr_array((np.ones(len(W), dtype=np.int8), (np.zeros_like(nodes), nodes)), shape=W.shape)
    return sp.csr_array(W != 0)
