"""Graphs that are never formed: W = Z C Z' + diag(loops), with few groups in the columns of a sparse Z.

    f'Lf = ½ Σ_ab c_ab [ s_b S_a + s_a S_b + s_a s_b (μ_a - μ_b)² ]        s = Z'1, μ and S: mean and scatter by groups

With a diagonal core that is Σ_a c_a s_a S_a, and where moreover there are no loops, all of 𝓛 is in one r x r matrix:
𝓛 = I - BB' with B = D^-½ Z C^½, so each eigenpair (σ, v) of B'B gives λ = 1 - σ, ξ = Bv / √σ, and 𝓛 is the identity
on the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.csgraph import connected_components

from .moments import group_moments, pooled_moments

_NO_EIGENVALUE = 1e-12  # σ below this is rounding: it counts as λ = 1
_SORTING = 20.0  # cost of a sorted key, in multiplications
_PAIRS_AT_ONCE = 2**24


class Factors:
    """The three parts of W and everything computed from them without forming it.

    Parameters
    ----------
    Z : csr_array of shape (n, r)
        Non-negative weights of the rows in the groups.
    core : ndarray of shape (r,) or (r, r)
        The diagonal of C, or C.
    loops : ndarray of shape (n,), optional
    """

    def __init__(self, Z: sp.csr_array, core: np.ndarray, loops: np.ndarray | None = None):
        self.Z, self.core, self.loops = Z, core, loops
        self.sizes = Z.sum(axis=0)

    @property
    def diagonal(self) -> bool:
        """Whether C is diagonal, so that only rows that share a group are linked."""
        return self.core.ndim == 1

    def dot(self, V: np.ndarray) -> np.ndarray:
        """W V."""
        pooled = self.Z.T @ V
        product = self.Z @ (self.core[:, None] * pooled if self.diagonal else self.core @ pooled)
        return product if self.loops is None else product + self.loops[:, None] * V

    def energy(self, F: np.ndarray | sp.csc_array, compiled: Any = None) -> np.ndarray:
        """f'Lf of each column: every term non-negative, nothing cancels."""
        if self.diagonal:
            return pooled_moments(F, self.Z, self.core * self.sizes, compiled=compiled)[2]
        sizes, mean, scatter = group_moments(F, self.Z)
        energy = (self.core @ sizes) @ scatter
        for a in range(len(sizes)):
            energy += 0.5 * (self.core[a] * sizes[a] * sizes) @ (mean - mean[a]) ** 2
        return energy

    def within_and_between(self, F: np.ndarray | sp.csc_array, compiled: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """As :meth:`Graph.within_and_between`, for a diagonal core."""
        sizes, mean, energy = pooled_moments(F, self.Z, self.core * self.sizes, compiled=compiled)
        share = self.core * sizes**2
        return energy, (np.sqrt(self.core) * sizes)[:, None] * (mean - share @ mean / share.sum())

    def weights(self, rows: np.ndarray | slice = slice(None)) -> sp.csr_array:
        """Some rows of Z C Z', the loops left out: as many entries as they have edges."""
        core = sp.dia_array((self.core[None], [0]), shape=(len(self.core),) * 2) if self.diagonal else self.core
        return sp.csr_array(self.Z[rows] @ sp.csr_array(core) @ self.Z.T)

    def submatrix(self, nodes: np.ndarray) -> np.ndarray:
        """W between some nodes, dense."""
        Z = self.Z[nodes]
        dense = Z.T.toarray()
        W = Z @ (self.core[:, None] * dense if self.diagonal else self.core @ dense)
        if self.loops is not None:
            W.flat[:: len(nodes) + 1] += self.loops[nodes]
        return W

    def pattern(self) -> sp.csr_array:
        """Nodes and groups as one graph with the components of W; groups come after the nodes."""
        used = self.Z.multiply(self.core != 0) if self.diagonal else self.Z
        core = None if self.diagonal else sp.csr_array(self.core)
        return sp.block_array([[None, used], [used.T, core]], format="csr")

    def spectrum(self, small: SmallSpectrum, degree: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The first k eigenpairs of 𝓛, trivial pair first, from those of the small matrix."""
        values, root = np.r_[0.0, small.values], np.where(degree > 0, np.sqrt(degree), np.inf)[:, None]
        vectors = self.Z @ (np.sqrt(self.core)[:, None] * small.vectors[:, : k - 1]) / root
        vectors = np.column_stack([np.sqrt(degree / degree.sum()), vectors])
        if k > len(values):  # any basis of what is left: 𝓛 is the identity there
            more = np.random.default_rng(0).standard_normal((len(degree), k - len(values))) * (degree > 0)[:, None]
            more = np.linalg.qr(np.column_stack([vectors, more]))[0][:, len(values) :]
            values, vectors = np.r_[values, np.ones(more.shape[1])], np.column_stack([vectors, more])
        return values[:k], vectors

    def n_edges(self) -> int:
        """Number of linked pairs i < j."""
        member, own = (self.Z != 0).astype(np.float64), self.core if self.diagonal else self.core.diagonal()
        sizes, per_row = member.sum(axis=0), np.diff(self.Z.indptr)
        if per_row.max(initial=0) <= 1:
            across = 0.0 if self.diagonal else (np.triu(self.core != 0, 1) * np.outer(sizes, sizes)).sum()
            return int(across + ((own != 0) * sizes * (sizes - 1) / 2).sum())
        # Sorting the sets of groups that rows hold, or going through the pairs of rows: whichever is less work.
        if self.diagonal and 2.0 ** per_row.max() * _SORTING * len(per_row) < sizes @ sizes:
            used = sp.csr_array(self.Z.multiply(self.core != 0))
            return int(_linked_pairs(used) - np.count_nonzero(np.diff(used.indptr))) // 2
        return sum(_entries_off_diagonal(self, rows) for rows in self._row_blocks()) // 2

    def _row_blocks(self) -> Iterator[np.ndarray]:
        n = self.Z.shape[0]
        step = max(1, _PAIRS_AT_ONCE // max(n, 1))
        return (np.arange(start, min(start + step, n)) for start in range(0, n, step))


class SmallSpectrum:
    """The eigenpairs of 𝓛 that a diagonal core holds, λ_1 <= λ_2 <= ...; the trivial one is left out.

    Parameters
    ----------
    gram : ndarray of shape (r, r)
        Z'D^-1 Z.
    sizes, core : ndarray of shape (r,)
        Z'1 and the diagonal of C.
    n_nodes : int
        Number of nodes with a degree.

    Attributes
    ----------
    values : ndarray of shape (p,)
    vectors : ndarray of shape (r, p)
        ξ_j = B vectors_j, hence α_j = vectors_j' C^½ Z'f̃ for a centred feature.
    n_ones : int
        How many more pairs there are, all with λ = 1.
    n_components : int
    """

    def __init__(self, gram: np.ndarray, sizes: np.ndarray, core: np.ndarray, n_nodes: int):
        root = np.sqrt(core)
        small, trivial = root[:, None] * gram * root, root * sizes
        used = np.flatnonzero(trivial > 0)
        labels = connected_components(sp.csr_array(small[np.ix_(used, used)] != 0), directed=False)[1]
        components = [used[labels == label] for label in range(labels.max(initial=-1) + 1)]
        norms = np.array([np.linalg.norm(trivial[groups]) for groups in components])
        grounds, values, vectors = np.zeros((len(core), len(components))), [], []
        for place, groups in enumerate(components):
            grounds[groups, place] = trivial[groups] / norms[place]
            sigma, inside = _nontrivial(small[np.ix_(groups, groups)], grounds[groups, place])
            vectors.append(np.zeros((len(core), len(sigma))))
            vectors[-1][groups] = inside / np.sqrt(sigma)
            values.append(np.maximum(1.0 - sigma, 0.0))
        order = np.argsort(np.concatenate(values), kind="stable")
        # Between components λ = 0: every combination of their trivial vectors but the one that is trivial for all.
        between = grounds @ householder(norms)[:, 1:]
        self.values = np.concatenate([np.zeros(between.shape[1]), np.concatenate(values)[order]])
        self.vectors = np.hstack([between, np.hstack(vectors)[:, order]])
        self.n_ones, self.n_components = n_nodes - 1 - len(self.values), len(components)


def _nontrivial(small: np.ndarray, trivial: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenpairs (σ, v) of one component of B'B with σ > 0, its trivial vector left out."""
    sigma, vectors = eigh(small - 3.0 * np.outer(trivial, trivial))  # moves the trivial σ = 1 below all others
    kept = sigma > _NO_EIGENVALUE
    return sigma[kept], vectors[:, kept]


def householder(weights: np.ndarray) -> np.ndarray:
    """An orthogonal matrix whose first column is weights / ‖weights‖, for positive weights."""
    unit = weights / np.linalg.norm(weights)
    mirror = unit.copy()
    mirror[0] += 1.0  # weights are positive, so this never cancels
    H = np.eye(len(unit)) - np.outer(mirror, mirror) / mirror[0]
    return np.column_stack([unit, H[:, 1:]])


def _linked_pairs(Z: sp.csr_array) -> int:
    """Ordered pairs of rows with a group in common, each row with itself too, in O(n) memory.

    The pairs that share a set of groups number the square of how many rows hold the set; summed over all non-empty
    sets, with a minus sign for the even ones, every pair is counted once. A set is known by a 64-bit key.
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


def _entries_off_diagonal(factors: Factors, rows: np.ndarray) -> int:
    W = factors.weights(rows)
    W.eliminate_zeros()
    on_diagonal = W[np.arange(len(rows)), rows] != 0
    return int(W.nnz - np.count_nonzero(on_diagonal))
