"""Anchor graphs: rows near the same few anchors are linked; time and memory are linear in the number of rows.

    W = Z Λ^-1 Z',   Λ = diag(Z'1),   z_ia ∝ exp(-‖x_i - u_a‖² / 2δ²) on the k anchors u_a nearest to x_i, Σ_a z_ia = 1

(Liu, He, Chang, "Large graph construction for scalable semi-supervised learning", ICML 2010.) W is positive
semi-definite and its rows sum to 1, so that D = I and

    f'Lf = Σ_a S_a,   f̃'D f̃ = Σ_a S_a + Σ_a s_a (μ_a - μ)²     s_a, μ_a, S_a: weight, mean and scatter of f at anchor a

These are sums over the rows. If rows are read in blocks, one pass over them gives the graph, and Z is never held.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

from ..data.arrays import Matrix, Rows, as_rows, rows_of
from ..data.source import Source
from ..data.work import current_run
from ..engine.blocks import fold_rows
from ..engine.compiled import kernels
from ..engine.distances import row_distances
from ..engine.kmeans import AnchorMap, choose_anchors
from ..engine.moments import pooled_moments
from ..problem import Problem
from ..validation import check_integer, check_positive, is_sparse
from .graph import Graph
from .recipe import Recipe
from .spectrum import SmallSpectrum

_FEWEST, _MOST = 10, 1000  # anchors chosen by default
_ROWS_PER_ANCHOR = 10  # rows that k-means sees
_SAMPLE_VALUES = 2**24  # largest number of values in those rows: 128 MiB
_WIDE = 2**21  # values in a sample of few long rows from which the rows are shortened instead: 16 MiB
_FEW_ROWS = 5000  # up to this number, long rows are shortened by means of all their distances
_SUMS = 5  # arrays of shape (anchors, features) held at the same time while blocks are merged


class Anchors(Recipe):
    """Anchor graph W = Z Λ^-1 Z': two rows are linked if they share one of their k nearest anchors. Factored.

    Anchors are the centres of a few k-means iterations on a sample of the rows. Every row has degree 1. In a kNN graph
    with Gaussian weights, distant rows have a small degree instead. On data with outliers the scores are therefore
    closer to those of ``KNN(weight="binary")``. The diagonal is kept: w_ii = Σ_a z_ia² / s_a.

    Parameters
    ----------
    n_anchors : int, optional
        Number of anchors, at least ``n_neighbors`` and at most the number of rows. Equal anchors are merged; if there
        are many rows, anchors with a single row are dropped. By default 4 √n, but at most n / 4 and 1,000, and at least
        10. More anchors follow the data more closely; time grows in proportion.
    n_neighbors : int, default=5
        Number k of nearest anchors to which each row is linked.
    bandwidth : float, optional
        δ; by default the mean distance of the sampled rows to their k nearest anchors.
    random_state : int, optional
        Random seed of the sample and the first centres. None means 0, so every fit gives the same graph.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fiedler import Anchors, LaplacianScore
    >>> X = load_iris().data
    >>> Anchors(n_anchors=20, n_neighbors=3).build(X).toarray()[:4].sum(axis=1).round(9)
    array([1., 1., 1., 1.])
    >>> LaplacianScore(Anchors()).evaluate(X).argsort()
    array([2, 3, 0, 1])
    """

    def __init__(
        self,
        n_anchors: int | None = None,
        n_neighbors: int = 5,
        bandwidth: float | None = None,
        random_state: int | None = None,
    ):
        self.n_anchors, self.n_neighbors = n_anchors, n_neighbors
        self.bandwidth, self.random_state = bandwidth, random_state

    def make(self, problem: Problem) -> Graph:
        if problem.by_rows:
            anchors = self._place(problem.X)
            sums = fold_rows(partial(sum_rows, anchors), merge_sums, problem.X)
            return SummedGraph(Sums(*sums), anchors.origin)
        X = _shortened(problem.X) if self._is_wide(problem.X) else problem.X
        anchors = self._place(X)

        def entries(rows: Rows) -> tuple[np.ndarray, ...]:
            """Z of a block of rows: its entries, their columns, and the number of entries in each row."""
            Z = anchors(rows)
            return Z.data, Z.indices, np.diff(Z.indptr)

        joined = lambda above, below: tuple(np.concatenate(pair) for pair in zip(above, below, strict=True))  # noqa: E731
        z, indices, counts = fold_rows(entries, joined, X)
        Z = sp.csr_array((z, indices, np.r_[0, np.cumsum(counts)]), shape=(problem.n_samples, anchors.n_anchors))
        # No bandwidth is set: a Graph has one only for weights exp(-‖x_i - x_j‖² / 2δ²), which these are not.
        degree = np.ones(problem.n_samples)
        return Graph.from_factors(Z, inverse_sizes(Z.sum(axis=0)), degree=degree, neighbors="anchors")

    def _place(self, X: Matrix) -> AnchorMap:
        """Choose the anchors, and the bandwidth if it is not given; the bandwidth is 1 if all rows are anchors."""
        check_positive("bandwidth", self.bandwidth, optional=True)
        seed = 0 if self.random_state is None else check_integer("random_state", self.random_state, 0)
        wanted = self._number(X.shape[0])
        with current_run().next_pass("anchors", [slice(0, 1), slice(1, 2)]) as step:  # the sample, and its centres
            found, _ = step.partial_sum()
            if found is None:
                found = self._chosen(X, wanted, np.random.default_rng(seed), step)
                if not is_sparse(found[0]):  # only arrays are kept for another run
                    step.add(found)
        U, first, bandwidth = found
        anchors = AnchorMap(U, self.n_neighbors, first, float(bandwidth[0]))
        if anchors.k < self.n_neighbors:
            warnings.warn(
                f"n_neighbors={self.n_neighbors}, but only {anchors.k} different rows can be anchors: every row is "
                "linked to all of them. Use a smaller n_neighbors.",
                UserWarning,
                stacklevel=2,
            )
        return anchors

    def _chosen(
        self, X: Matrix, wanted: int, rng: np.random.Generator, count: Callable[[], Any]
    ) -> tuple[Rows, np.ndarray, np.ndarray]:
        """The anchors among a sample of the rows, its first row, and the bandwidth."""
        n, m = X.shape
        size = min(n, max(2 * wanted, min(_ROWS_PER_ANCHOR * wanted, _SAMPLE_VALUES // m)))
        part = rows_of(X, np.sort(rng.choice(n, size, replace=False)))
        sample = as_rows(part[:] if isinstance(part, Source) else part)
        count()
        U = choose_anchors(sample, wanted, self.n_neighbors, rng)
        first = sample[:1].toarray()[0] if is_sparse(sample) else sample[0].copy()
        apart = AnchorMap(U, self.n_neighbors, first).nearest(sample)[1]
        return U, first, np.array([self.bandwidth or float(np.sqrt(apart).mean()) or 1.0])

    def _is_wide(self, X: Matrix) -> bool:
        """Whether a sample of rows is large, but all distances between the rows are not."""
        n, m = X.shape
        sparse = X.sparse if isinstance(X, Source) else is_sparse(X)
        return not sparse and n <= _FEW_ROWS and m > n and min(n, 2 * self._number(n)) * m > _WIDE

    def sums(self, problem: Problem) -> int | None:
        # None for few long rows, because they are shortened by means of all their distances.
        return None if self._is_wide(problem.X) else _SUMS * self._number(problem.n_samples)

    def _number(self, n: int) -> int:
        k = check_integer("n_neighbors", self.n_neighbors, 1)
        if self.n_anchors is None:
            return min(n, max(_FEWEST, k, int(min(_MOST, 4.0 * np.sqrt(n), n / 4))))
        s = check_integer("n_anchors", self.n_anchors, 1)
        if s > n:
            raise ValueError(f"n_anchors={s} is more than the {n} rows of X; use n_anchors=None or a smaller number.")
        if s < k:
            raise ValueError(
                f"n_anchors={s} is fewer than n_neighbors={k}, the anchors each row is linked to; raise n_anchors or "
                "lower n_neighbors."
            )
        return s


def sum_rows(anchors: AnchorMap, rows: Rows) -> Sums:
    """The sums over the rows of one block."""
    Z, compiled = anchors(rows), kernels(float(rows.shape[0]) * anchors.k * rows.shape[1])
    block = sp.csc_array(rows) if is_sparse(rows) else rows
    sizes, mean, within = pooled_moments(block, Z, np.ones(Z.shape[1]), anchors.origin, compiled)
    if is_sparse(rows):
        low, high = (f(axis=0).toarray().ravel() for f in (rows.min, rows.max))
    else:
        low, high = rows.min(axis=0), rows.max(axis=0)
    return Sums(rows.shape[0], sizes, (Z.T @ Z).toarray(), mean, within, low, high)


def _shortened(X: Matrix) -> np.ndarray:
    """Few long rows rotated into n columns; distances and means of rows are preserved."""
    squared = row_distances(X).matrix()
    first = np.argmax(squared == 0.0, axis=1)  # the first row that equals this row
    squared -= squared.mean(axis=0)
    squared -= squared.mean(axis=1)[:, None]
    values, vectors = eigh(squared / -2.0)
    return (vectors * np.sqrt(np.maximum(values, 0.0)))[first]


# -------------------------------------------------------------------- known by sums over the rows


SUMMED: Any = None  # stands for all columns of X after their values were summed; only SummedGraph accepts it


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


class SummedGraph(Graph):
    """W = Z Λ^-1 Z' with D = I, held only as sums over the rows; columns are ``SUMMED``."""

    storage = "summed"

    def __init__(self, sums: Sums, origin: np.ndarray):
        shift = sums.sizes @ sums.mean / sums.n
        vars(self).update(n_nodes=int(sums.n), volume=float(sums.n), bandwidth=None, recall=None, neighbors="anchors")
        vars(self).update(_sums=sums, _origin=origin, _shift=shift, active=np.ones(1, dtype=bool))  # for all rows
        vars(self).update(_between=np.sqrt(sums.sizes)[:, None] * (sums.mean - shift))

    _sums: Sums
    _origin: np.ndarray
    _shift: np.ndarray
    _between: np.ndarray

    def energy(self, F: Any) -> np.ndarray:
        return self._sums.within

    def moments(self, F: Any) -> tuple[np.ndarray, np.ndarray]:
        between = np.einsum("ij,ij->j", self._between, self._between)
        return self._origin + self._shift, self._sums.within + between

    def within_and_between(self, F: Any) -> tuple[np.ndarray, np.ndarray]:
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
