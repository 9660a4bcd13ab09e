"""Storages that never form W: one holds factors Z and C, the other only sums over the rows.

    W = Z C Z' + diag(loops),  a sparse Z with few columns, the groups
    f'Lf = ½ Σ_ab c_ab [ s_b S_a + s_a S_b + s_a s_b (μ_a - μ_b)² ]        s = Z'1, μ and S: mean and scatter by groups

With a diagonal core this is Σ_a c_a s_a S_a. Then a score needs only sums over the rows, which one pass gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple, NoReturn

import numpy as np
import scipy.sparse as sp

from ..data.arrays import Block
from ..engine.moments import group_moments, pooled_moments
from .spectrum import SmallSpectrum
from .storage import Nodes, NotAvailableError, Storage

_SORTING = 20.0  # cost of sorting one key, in multiplications
_PAIRS_AT_ONCE = 2**24


class Factored(Nodes):
    """W = Z C Z' + diag(loops).

    Parameters
    ----------
    Z : csr_array of shape (n, r)
        Non-negative weights of the rows in the groups.
    core : ndarray of shape (r,) or (r, r)
        The diagonal of C, or C.
    loops : ndarray of shape (n,), optional
    degree : array-like of shape (n,), optional
    """

    name = "factored"

    def __init__(self, Z: sp.csr_array, core: np.ndarray, loops: np.ndarray | None = None, degree: Any = None):
        self.Z, self.core, self.loops = Z, core, loops
        self.sizes = Z.sum(axis=0)
        super().__init__(Z.shape[0], degree)

    @property
    def diagonal(self) -> bool:
        """Whether C is diagonal, so that only rows that share a group are linked."""
        return self.core.ndim == 1

    def dot(self, V: np.ndarray) -> np.ndarray:
        pooled = self.Z.T @ V
        product = self.Z @ (self.core[:, None] * pooled if self.diagonal else self.core @ pooled)
        return product if self.loops is None else product + self.loops[:, None] * V

    def toarray(self) -> np.ndarray:
        return self.dot(np.eye(self.n_nodes))

    def _entries(self) -> float:
        return float(self.Z.nnz)

    def energy(self, F: Block) -> np.ndarray:
        """f'Lf of each column; every term is non-negative, so no digits cancel."""
        if self.diagonal:
            return pooled_moments(F, self.Z, self.core * self.sizes, compiled=self._kernels)[2]
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
        sizes, mean, energy = pooled_moments(F, self.Z, self.core * self.sizes, compiled=self._kernels)
        share = self.core * sizes**2
        return energy, (np.sqrt(self.core) * sizes)[:, None] * (mean - share @ mean / share.sum())

    # ---------------------------------------------------------------- structure

    def weights(self, rows: np.ndarray | slice = slice(None)) -> sp.csr_array:
        """Some rows of Z C Z' without the loops; every stored entry is an edge."""
        core = sp.diags_array(self.core, format="csr") if self.diagonal else sp.csr_array(self.core)
        return sp.csr_array(self.Z[rows] @ core @ self.Z.T)

    def upper(self) -> sp.csr_array:
        return sp.csr_array(sp.triu(self.weights(), 1, format="csr"))

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

    def induced(self, nodes: np.ndarray) -> Factored:
        loops = None if self.loops is None else self.loops[nodes]
        return Factored(self.Z[nodes], self.core, loops, self._measure(nodes))

    def pattern(self) -> sp.csr_array:
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

    def spectrum(self, k: int, way_out: str) -> tuple[np.ndarray, np.ndarray]:
        if self.small is None:
            return super().spectrum(k, way_out)
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
        own = self.core if self.diagonal else self.core.diagonal()
        member: Any = self.Z != 0  # type: ignore[comparison-overlap]  # the stubs know no such operator
        sizes, per_row = member.astype(np.float64).sum(axis=0), np.diff(self.Z.indptr)
        if per_row.max(initial=0) <= 1:
            across = 0.0 if self.diagonal else (np.triu(self.core != 0, 1) * np.outer(sizes, sizes)).sum()
            return int(across + ((own != 0) * sizes * (sizes - 1) / 2).sum())
        # Either sort the sets of groups of the rows, or go through the pairs of rows, whichever is less work.
        if self.diagonal and 2.0 ** per_row.max() * _SORTING * len(per_row) < sizes @ sizes:
            used = sp.csr_array(self.Z.multiply(self.core != 0))
            return int(_linked_pairs(used) - np.count_nonzero(np.diff(used.indptr))) // 2
        return sum(map(self._entries_off_diagonal, self._row_blocks())) // 2

    def _row_blocks(self) -> Iterator[np.ndarray]:
        step = max(1, _PAIRS_AT_ONCE // max(self.n_nodes, 1))
        return (np.arange(start, min(start + step, self.n_nodes)) for start in range(0, self.n_nodes, step))

    def _entries_off_diagonal(self, rows: np.ndarray) -> int:
        W = self.weights(rows)
        W.eliminate_zeros()
        on_diagonal = W[np.arange(len(rows)), rows] != 0
        return int(W.nnz - np.count_nonzero(on_diagonal))


class Sums(NamedTuple):
    """Sums over a block of rows; two blocks are merged without loss of digits at any offset (Chan et al. 1979).

    Attributes
    ----------
    n : int
    sizes, gram : ndarray of shape (s,) and (s, s)
        Z'1 and Z'Z.
    mean : ndarray of shape (s, m)
        μ_a, relative to an origin common to all blocks.
    within, low, high : ndarray of shape (m,)
        Σ_a S_a, and the smallest and largest value.
    """

    n: int
    sizes: np.ndarray
    gram: np.ndarray
    mean: np.ndarray
    within: np.ndarray
    low: np.ndarray
    high: np.ndarray


def merge_sums(a: tuple, b: tuple) -> Sums:
    """The sums of both blocks together."""
    a, b = Sums(*a), Sums(*b)  # sums that were kept in a file come back as plain tuples
    sizes = a.sizes + b.sizes
    share, apart = b.sizes * inverse_sizes(sizes), b.mean - a.mean
    within = a.within + b.within + (a.sizes * share) @ apart**2
    mean = a.mean + share[:, None] * apart
    low, high = np.minimum(a.low, b.low), np.maximum(a.high, b.high)
    return Sums(a.n + b.n, sizes, a.gram + b.gram, mean, within, low, high)


class SummedColumns:
    """Placeholder for all columns of X after their values were summed; only :class:`Summed` accepts it.

    Every access to values raises a :class:`NotAvailableError`: then one pass over the rows is not enough.
    """

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise NotAvailableError("the values of the columns are not available in one pass over the rows.")

    __getattr__ = __getitem__ = __array__ = __len__ = __iter__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __pow__ = _refuse
    __matmul__ = __rmatmul__ = __neg__ = __abs__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse


class Summed(Storage):
    """W = Z Λ^-1 Z' with D = I, held only as sums over the rows; F is :class:`SummedColumns`."""

    name = "summed"

    def __init__(self, sums: Sums, origin: np.ndarray):
        self.n_nodes, self.volume = int(sums.n), float(sums.n)
        self._sums, self._origin = sums, origin
        self._shift = sums.sizes @ sums.mean / sums.n
        self._between = np.sqrt(sums.sizes)[:, None] * (sums.mean - self._shift)

    def energy(self, F: SummedColumns) -> np.ndarray:
        return self._sums.within

    def moments(self, F: SummedColumns) -> tuple[np.ndarray, np.ndarray]:
        between = np.einsum("ij,ij->j", self._between, self._between)
        return self._origin + self._shift, self._sums.within + between

    def within_and_between(self, F: SummedColumns) -> tuple[np.ndarray, np.ndarray]:
        return self._sums.within, self._between

    @property
    def constant(self) -> np.ndarray:
        return self._sums.low == self._sums.high

    @cached_property
    def small(self) -> SmallSpectrum:
        sizes = self._sums.sizes
        return SmallSpectrum(self._sums.gram, sizes, inverse_sizes(sizes), self.n_nodes)

    @property
    def n_components(self) -> int:
        return self.small.n_components


def inverse_sizes(sizes: np.ndarray) -> np.ndarray:
    """1 / s_a, and 0 for an anchor without rows."""
    return np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0)


def _linked_pairs(Z: sp.csr_array) -> int:
    """Number of ordered pairs of rows with a group in common, including each row with itself, in O(n) memory.

    If r rows belong to all groups of a set, then r² pairs share the set. By inclusion and exclusion, the sum over all
    non-empty sets, with a minus sign for sets of even size, counts every pair once. A 64-bit key stands for a set.
    """
    keys = np.random.default_rng(0).integers(2**64, size=Z.shape[1], dtype=np.uint64)
    counts, total = np.diff(Z.indptr), 0
    for size in range(1, counts.max(initial=0) + 1):
        sets = []
        for places in combinations(range(counts.max()), size):
            start = Z.indptr[:-1][counts > places[-1]]
            sets.append(sum(keys[Z.indices[start + place]] for place in places))
        held = np.unique(np.concatenate(sets), return_counts=True)[1]
        total += (-1) ** (size + 1) * int(held @ held)
    return total
