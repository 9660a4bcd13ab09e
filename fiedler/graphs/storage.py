"""Storages of W behind one protocol: csr, dense, factored, or summed over the rows.

    energy(f) = f'Lf = ½ Σ_ij w_ij (f_i - f_j)²        moments(f) = f'd / vol,  f̃'D f̃ with f̃ = f - (f'd / vol) 1

All energies are sums of non-negative terms or are computed on centred columns. The textbook forms f'Df - f'Wf and
f'Df - (f'd)²/vol lose all digits for columns with unit variance and an offset of 1e8.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar, NoReturn, TypeVar

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ..data.arrays import Block, dense, take_rows
from ..engine.compiled import as_block, kernels
from ..engine.moments import sparse_centre, sparse_moments
from ..validation import is_sparse
from .spectrum import SmallSpectrum, spectrum

_EDGES_AT_ONCE = 2**16  # number of edges whose sparse differences are in memory at a time
_FEW, _SMALL = 64, 2**15  # columns and values of arrays that are so small that the allocator keeps their memory

Edges = tuple[np.ndarray, np.ndarray, np.ndarray]  # i, j, weight
S = TypeVar("S", bound="Storage")


class NotAvailableError(TypeError):
    """Raised if a storage, or a block of columns held only as sums, cannot provide what is requested."""


def _missing(what: str) -> Any:
    def refuse(self: Storage, *_: Any) -> NoReturn:
        raise NotAvailableError(f"a graph stored as {self.name!r} has no {what}.")

    return refuse


class Storage(ABC):
    """W with its vertex measure d, over n nodes; :class:`Nodes` documents the members.

    Every storage defines the members with a body below. The others raise :class:`NotAvailableError` by default.
    """

    name: ClassVar[str]
    n_nodes: int
    volume: float

    @property
    def rows(self) -> np.ndarray:
        """Mask of the rows that are read; one flag for all rows if no single nodes are stored."""
        return np.ones(1, dtype=bool)

    @property
    def csr(self) -> sp.csr_array | None:
        """W if it is stored as a csr array, else None."""
        return None

    @property
    def small(self) -> SmallSpectrum | None:
        """The eigenpairs of 𝓛 from a small matrix if W has such a form, else None."""
        return None

    @abstractmethod
    def energy(self, F: Any) -> np.ndarray:
        """f'Lf of each column of a block, dense or sparse."""

    @abstractmethod
    def moments(self, F: Any) -> tuple[np.ndarray, np.ndarray]:
        """The degree-weighted mean f'd / vol and the mass f̃'D f̃ of each column of a block."""

    @property
    @abstractmethod
    def n_components(self) -> int:
        """Number of connected components, isolated nodes not counted."""

    def for_columns(self: S, n_columns: int) -> S:
        """The same storage, with compiled kernels if they are faster for this number of columns."""
        return self

    @property
    def cost(self) -> float:
        """Operations of an energy per value of a column; a high cost makes parallel blocks worthwhile."""
        return 1.0

    constant = property(_missing("columns of its own"))
    edges = n_edges = property(_missing("edges"))
    degree = row_sums = active = inverse_root_degree = components = property(_missing("single nodes"))
    dot = toarray = trace = centre = centred_rows = spectrum = induced = _missing("single nodes")
    within_and_between = group_moments = _missing("groups")


class Nodes(Storage):
    """Base class of csr, dense and factored storage: nodes with degrees, and columns centred by the degrees."""

    is_full = False
    work = 0.0  # expected number of scalar operations on all columns

    def __init__(self, n_nodes: int, degree: Any = None):
        self.n_nodes = n_nodes
        self._row_sums = self.dot(np.ones((n_nodes, 1)))[:, 0]
        self._degree = self._row_sums if degree is None else np.array(degree, dtype=np.float64)
        self.volume = float(self._degree.sum())
        self._reference = int(np.argmax(self._degree > 0))  # columns are shifted by their value at this node
        for array in (self._degree, self._row_sums):
            array.flags.writeable = False

    @abstractmethod
    def dot(self, V: np.ndarray) -> np.ndarray:
        """W V."""

    @abstractmethod
    def upper(self) -> sp.csr_array:
        """The edges i < j as a csr array."""

    @abstractmethod
    def pattern(self) -> sp.csr_array:
        """A matrix with the connected components of W; rows after the first n are auxiliary."""

    @abstractmethod
    def trace(self) -> float:
        """Σ w_ii."""

    @abstractmethod
    def submatrix(self, nodes: np.ndarray) -> np.ndarray:
        """W between some nodes, dense."""

    @abstractmethod
    def induced(self, nodes: np.ndarray) -> Nodes:
        """The same storage for W between some nodes; a vertex measure that was set is kept."""

    def _measure(self, nodes: np.ndarray) -> np.ndarray | None:
        """d of some nodes if it was set; None if it is computed from W."""
        return None if self._degree is self._row_sums else self._degree[nodes]

    def operator(self, nodes: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """x -> W x between some nodes."""
        if len(nodes) == self.n_nodes:
            return lambda x: self.dot(x[:, None])[nodes, 0]

        def placed(x: np.ndarray) -> np.ndarray:
            everywhere = np.zeros(self.n_nodes)
            everywhere[nodes] = x
            return self.dot(everywhere[:, None])[nodes, 0]

        return placed

    @property
    def degree(self) -> np.ndarray:
        return self._degree

    @property
    def row_sums(self) -> np.ndarray:
        return self._row_sums

    @property
    def _kernels(self) -> Any:
        return kernels(self.work)  # looked up at each call, because compiled code cannot be pickled

    def for_columns(self: N, n_columns: int) -> N:
        twin = copy.copy(self)
        twin.work = self._entries() * n_columns
        return twin

    def _entries(self) -> float:
        """Number of stored values that compiled kernels would read."""
        return 0.0

    @property
    def cost(self) -> float:  # few blocks without kernels: their width may change the last digit
        return 1.0 if self._kernels is None else max(1.0, self._entries() / self.n_nodes)

    # ---------------------------------------------------------------- column-wise forms

    def centre(self, F: np.ndarray) -> np.ndarray:
        """f̃ for each column of a dense block."""
        centred = F - F[self._reference]
        centred -= self.degree @ centred / (self.volume or 1.0)
        return centred

    def centred_rows(self, F: Block, rows: np.ndarray) -> np.ndarray:
        """The given rows of f̃, as an ndarray, without centring the others."""
        if is_sparse(F):
            reference, shift = sparse_centre(F, self.degree)
            return take_rows(F, rows) - reference - shift
        return F[rows] - F[self._reference] - self._shift_and_mass(F)[0]

    def moments(self, F: Block) -> tuple[np.ndarray, np.ndarray]:
        if is_sparse(F):
            return sparse_moments(F, self.degree)
        shift, mass = self._shift_and_mass(F)
        return F[self._reference] + shift, mass

    def _shift_and_mass(self, F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        # After subtracting one sample, the weighted mean is exact at large offsets and constants are exactly zero.
        compiled = self._kernels
        if compiled is None:
            centred = F - F[self._reference]
            shift = self.degree @ centred / (self.volume or 1.0)
            centred -= shift
            return shift, np.einsum("i,ij,ij->j", self.degree, centred, centred)
        shift, mass = np.zeros(F.shape[1]), np.zeros(F.shape[1])
        compiled.moments(as_block(F), self.degree, self._reference, shift, mass)
        return shift, mass

    def energy(self, F: Block) -> np.ndarray:
        F = dense(F)
        compiled = self._kernels
        if compiled is None:
            return self._product_energy(F)
        energy, W = np.zeros(F.shape[1]), self._upper if self.csr is None else self.csr
        compiled.edge_energy(as_block(F), W.indptr, W.indices, W.data, energy)
        return energy

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

    # ---------------------------------------------------------------- structure

    @cached_property
    def _upper(self) -> sp.csr_array:
        return self.upper()

    @cached_property
    def edges(self) -> Edges:
        W = self._upper.tocoo()
        return W.row.astype(np.intp), W.col.astype(np.intp), W.data

    @cached_property
    def active(self) -> np.ndarray:
        return self.degree > 0

    @property
    def rows(self) -> np.ndarray:
        return self.active

    @cached_property
    def inverse_root_degree(self) -> np.ndarray:
        return np.where(self.active, 1.0 / np.sqrt(np.where(self.active, self.degree, 1.0)), 0.0)

    @cached_property
    def components(self) -> np.ndarray:
        labels = connected_components(self.pattern(), directed=False)[1][: self.n_nodes]
        found, first, place = np.unique(np.where(self.active, labels, -1), return_index=True, return_inverse=True)
        weight = np.bincount(place, self.degree)
        weight[found < 0], offset = np.inf, int(found[0] < 0)
        rank = np.empty(len(found), dtype=np.intp)
        rank[np.lexsort((first, -weight))] = np.arange(len(found)) - offset
        return rank[place]

    @property
    def n_components(self) -> int:
        return int(self.components.max(initial=-1)) + 1

    def spectrum(self, k: int, way_out: str) -> tuple[np.ndarray, np.ndarray]:
        return spectrum(self, k, way_out)


N = TypeVar("N", bound=Nodes)


class Sparse(Nodes):
    """W as a csr array, for neighbourhoods and pairs."""

    name = "csr"

    def __init__(self, W: sp.csr_array, degree: Any = None):
        W.sum_duplicates()
        W.eliminate_zeros()
        self._W = W
        super().__init__(W.shape[0], degree)

    @property
    def csr(self) -> sp.csr_array:
        return self._W

    def dot(self, V: np.ndarray) -> np.ndarray:
        return self._W @ V

    def toarray(self) -> np.ndarray:
        return self._W.toarray()

    def upper(self) -> sp.csr_array:
        return sp.csr_array(sp.triu(self._W, 1, format="csr"))

    @cached_property
    def n_edges(self) -> int:
        return int(self._W.nnz - np.count_nonzero(self._W.diagonal())) // 2

    def pattern(self) -> sp.csr_array:
        return self._W

    def trace(self) -> float:
        return float(self._W.diagonal().sum())

    def submatrix(self, nodes: np.ndarray) -> np.ndarray:
        return self._W[nodes][:, nodes].toarray()

    def induced(self, nodes: np.ndarray) -> Sparse:
        return Sparse(self._W[nodes][:, nodes], self._measure(nodes))

    def operator(self, nodes: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        if len(nodes) == self.n_nodes:
            return super().operator(nodes)
        inside = self._W[nodes][:, nodes]
        return lambda x: inside @ x

    def _entries(self) -> float:
        return float(self._W.nnz)

    def energy(self, F: Block) -> np.ndarray:
        if not is_sparse(F):
            return super().energy(F)
        energy, compiled = np.zeros(F.shape[1]), self._kernels
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

    def _product_energy(self, F: np.ndarray) -> np.ndarray:
        """As the base class, for few columns at a time: new memory for large arrays takes longer than the product."""
        plainly, step = super()._product_energy, max(_FEW, _SMALL // self.n_nodes)
        if F.shape[1] <= step:
            return plainly(F)
        return np.concatenate([plainly(F[:, start : start + step]) for start in range(0, F.shape[1], step)])


class Dense(Nodes):
    """W as an ndarray, for kernels."""

    name, is_full = "dense", True

    def __init__(self, W: np.ndarray, degree: Any = None):
        self._W = W
        super().__init__(W.shape[0], degree)
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

    def pattern(self) -> sp.csr_array:
        W = self._W
        if W[0].all():  # if node 0 is linked to all nodes, no n x n pattern is needed
            nodes = np.arange(len(W))
            return sp.csr_array((np.ones(len(W), dtype=np.int8), (np.zeros_like(nodes), nodes)), shape=W.shape)
        return sp.csr_array(W != 0)

    def trace(self) -> float:
        return float(self._W.trace())

    def submatrix(self, nodes: np.ndarray) -> np.ndarray:
        return self._W[np.ix_(nodes, nodes)]

    def induced(self, nodes: np.ndarray) -> Dense:
        return Dense(self.submatrix(nodes), self._measure(nodes))
