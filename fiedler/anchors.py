"""Anchor graphs: rows are alike that lie near the same few anchors, in time and memory linear in the rows.

    W = Z Λ^-1 Z',   Λ = diag(Z'1),   z_ia ∝ exp(-‖x_i - u_a‖² / 2δ²) on the k anchors u_a nearest to x_i, Σ_a z_ia = 1

(Liu, He, Chang, "Large graph construction for scalable semi-supervised learning", ICML 2010.) W is positive
semi-definite and its rows sum to 1, so that D = I and

    f'Lf = Σ_a S_a,   f̃'D f̃ = Σ_a S_a + Σ_a s_a (μ_a - μ)²     s_a, μ_a, S_a: weight, mean and scatter of f at anchor a

Those are sums over the rows: :func:`score_by_rows` makes one pass over blocks of rows and never holds Z.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import get_config

from ._kernels import kernels
from ._validation import check_integer, check_positive
from .affinity import Problem, Recipe
from .columns import fold_rows, rows_of
from .criterion import Criterion, Energy, Phi, Product, Ratio, Rayleigh, Scaled, Sum, as_recipe
from .factors import SmallSpectrum
from .graph import Graph
from .moments import pooled_moments
from .neighbors import _within_reach as within_reach
from .sources import Source
from .supervision import Supervision

_FEWEST, _MOST = 10, 1000  # anchors chosen by default
_ROWS_PER_ANCHOR, _ROUNDS = 10, 3  # rows that k-means sees, and its iterations
_SAMPLE_VALUES = 2**24  # of the rows that k-means sees: 128 MiB
_DENSE_VALUES = 2**24  # of the anchors; beyond that a sparse X has rows of its own as anchors, kept sparse
_AT_ONCE = 2**20  # distances, or values of rows, held together: 8 MiB
_PIECE, _SINGLE_UP_TO, _MANY_CANDIDATES = 1024, 1e30, 4  # columns, squared norms and candidates in single precision
_SUMS = 5  # arrays of anchors x features that are held together while blocks are merged
_SMALLEST_WEIGHT = 1e-280  # 1 / s_a stays finite


class Anchors(Recipe):
    """Anchor graph W = Z Λ^-1 Z': two rows are linked where they share one of their k nearest anchors. Factored.

    Anchors are the centres of a few k-means iterations on a sample of the rows. Every row has degree 1, as in no kNN
    graph with Gaussian weights, where lonely rows hardly count: on data with outliers compare with
    ``KNN(weight="binary")``. Diagonal kept: w_ii = Σ_a z_ia² / s_a.

    Parameters
    ----------
    n_anchors : int, optional
        At least ``n_neighbors`` and at most the number of rows; equal anchors count once. By default 4 √n, but at
        most n / 4 and 1,000, and at least 10. More anchors follow the rows more closely; time grows in proportion.
    n_neighbors : int, default=5
        k, the anchors each row is tied to.
    bandwidth : float, optional
        δ; by default the mean distance of the sampled rows to their k nearest anchors.
    random_state : int, optional
        Seed of the sample and the first centres. None is 0: a graph is the same in every fit.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fiedler import Anchors, LaplacianScore
    >>> X = load_iris().data
    >>> Anchors(n_anchors=20, n_neighbors=3).build(X).toarray().sum(axis=1).round(9).max()
    np.float64(1.0)
    >>> LaplacianScore(Anchors()).evaluate(X).argmin()
    np.int64(2)
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

    def _build(self, problem: Problem) -> Graph:
        anchors = self._place(problem.X)
        Z = fold_rows(anchors, _stacked, problem.X)
        # No bandwidth: that of a Graph belongs to weights exp(-‖x_i - x_j‖² / 2δ²), which these are not.
        return Graph.from_factors(Z, _inverse(Z.sum(axis=0)), degree=np.ones(problem.n_samples))

    def _place(self, X: np.ndarray | sp.csc_array | Source) -> AnchorMap:
        """Choose the anchors, and the bandwidth where it is not given."""
        check_positive("bandwidth", self.bandwidth, optional=True)
        seed = 0 if self.random_state is None else check_integer("random_state", self.random_state, 0)
        n, m = X.shape
        wanted = self._number(n)
        rng = np.random.default_rng(seed)
        size = min(n, max(2 * wanted, min(_ROWS_PER_ANCHOR * wanted, _SAMPLE_VALUES // m)))
        sample = _read(X, np.sort(rng.choice(n, size, replace=False)))
        anchors = AnchorMap(choose_anchors(sample, wanted, rng), self.n_neighbors, _first_row(sample), self.bandwidth)
        if anchors.k < self.n_neighbors:
            warnings.warn(
                f"n_neighbors={self.n_neighbors}, but only {anchors.k} different rows can be anchors: every row is "
                "tied to all of them. Use a smaller n_neighbors.",
                UserWarning,
                stacklevel=2,
            )
        if anchors.bandwidth is None:  # 1 when all rows are anchors
            anchors.bandwidth = float(np.sqrt(anchors.nearest(sample)[1]).mean()) or 1.0
        return anchors

    def _number(self, n: int) -> int:
        k = check_integer("n_neighbors", self.n_neighbors, 1)
        if self.n_anchors is None:
            return min(n, max(_FEWEST, k, int(min(_MOST, 4.0 * np.sqrt(n), n / 4))))
        s = check_integer("n_anchors", self.n_anchors, 1)
        if s > n:
            raise ValueError(f"n_anchors={s} is more than the {n} rows of X; None chooses it from the number of rows.")
        if s < k:
            raise ValueError(
                f"n_anchors={s} is fewer than n_neighbors={k}, the anchors each row is tied to; raise n_anchors or "
                "lower n_neighbors."
            )
        return s


def choose_anchors(
    sample: np.ndarray | sp.csr_array, wanted: int, rng: np.random.Generator
) -> np.ndarray | sp.csr_array:
    """Different rows of the sample, moved to the centres of what is nearest to them, a few times."""
    distinct, count = _distinct(sample)
    if len(count) <= wanted:
        return distinct
    U = distinct[np.sort(rng.choice(len(count), wanted, replace=False))]
    if sp.issparse(U):
        if U.shape[0] * U.shape[1] > _DENSE_VALUES:
            return U
        U = U.toarray()
    for _ in range(_ROUNDS):
        near = AnchorMap(U, 1, 0.0).nearest(distinct)[0].ravel()
        member = sp.csr_array((count, near, np.arange(len(near) + 1)), shape=(len(near), len(U)))
        size, total = member.sum(axis=0)[:, None], member.T @ distinct
        total = total.toarray() if sp.issparse(total) else total
        U = np.where(size > 0, total / np.maximum(size, 1.0), U)  # a centre nobody is nearest to stays
    return np.unique(U, axis=0)


class AnchorMap:
    """Z of any rows: called with a block, it gives their weights at the anchors as a csr array whose rows sum to 1.

    Parameters
    ----------
    U : ndarray or csr_array of shape (s, m)
        The anchors.
    k : int
    origin : ndarray of shape (m,)
        A row near the others, which sums over the rows are taken relative to.
    bandwidth : float, optional
    """

    def __init__(self, U: np.ndarray | sp.csr_array, k: int, origin: Any, bandwidth: float | None = None):
        self.n_anchors, self.k = U.shape[0], min(k, U.shape[0])
        self.origin, self.bandwidth = origin, bandwidth
        # Distances come from a product of centred rows, which keeps their digits at large offsets.
        self._U, self._centre = U, None if sp.issparse(U) else U.mean(axis=0)

    def __call__(self, rows: np.ndarray | sp.csr_array) -> sp.csr_array:
        found, squared = self.nearest(rows)
        squared -= squared.min(axis=1, keepdims=True)  # so that the weights of a far row do not underflow to 0 / 0
        z = np.exp(squared / (-2.0 * self.bandwidth**2))
        z /= z.sum(axis=1, keepdims=True)
        z[z < _SMALLEST_WEIGHT] = 0.0
        Z = sp.csr_array(
            (z.ravel(), found.ravel(), np.arange(0, z.size + 1, self.k)), shape=(rows.shape[0], self.n_anchors)
        )
        Z.sort_indices()
        Z.eliminate_zeros()
        return Z

    def nearest(self, rows: np.ndarray | sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
        """Indices (n, k) of the nearest anchors, and their squared distances; ties go to the smaller index."""
        n, m = rows.shape
        found, squared = np.empty((n, self.k), dtype=np.int32), np.empty((n, self.k))
        # A sparse block is not centred: its zeros are near its other values.
        U = self._U if self._centre is None or sp.issparse(rows) else self._U - self._centre
        norms = _row_norms(U)
        step = max(1, min(_AT_ONCE // self.n_anchors, _AT_ONCE // m))
        for start in range(0, n, step):
            part = slice(start, min(start + step, n))
            V = rows[part] if sp.issparse(rows) else rows[part] - self._centre
            found[part], squared[part] = _nearest(V, U, norms, self.k)
        return found, squared


def _nearest(V: Any, U: Any, norms: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k nearest anchors: candidates by a product with a bounded error, the choice by the differences themselves."""
    own = _row_norms(V)
    single = not sp.issparse(V) and max(own.max(), norms.max()) < _SINGLE_UP_TO
    i, j = _candidates(V, U, own, norms, k, np.float32 if single else np.float64)
    if single and len(i) > _MANY_CANDIDATES * k * len(own):  # single precision cannot tell these anchors apart
        i, j = _candidates(V, U, own, norms, k, np.float64)
    squared = _squared_distances(V, i, U, j)
    if len(i) > k * V.shape[0]:
        order = np.lexsort((j, squared, i))
        kept = order[np.searchsorted(i, np.arange(V.shape[0]))[:, None] + np.arange(k)].ravel()
        j, squared = j[kept], squared[kept]
    return j.reshape(-1, k), squared.reshape(-1, k)


def _candidates(
    V: Any, U: Any, own: np.ndarray, norms: np.ndarray, k: int, dtype: Any
) -> tuple[np.ndarray, np.ndarray]:
    """(row, anchor) of all that may be among the k nearest, given how far the product may be off."""
    m = U.shape[1]
    if sp.issparse(V):
        key = V @ U.T
        key = key.toarray() if sp.issparse(key) else key
    else:  # in pieces of columns, which bounds the error in single precision
        key = np.zeros((len(own), len(norms)), dtype=dtype)
        for piece in (slice(start, start + _PIECE) for start in range(0, m, _PIECE)):
            key += V[:, piece].astype(dtype, copy=False) @ U[:, piece].T.astype(dtype, copy=False)
    np.subtract((norms / 2.0).astype(key.dtype), key, out=key)  # half the squared distance, less ‖v_i‖² / 2
    error = (min(m, _PIECE) + m // _PIECE + 8) * float(np.finfo(key.dtype).eps) / 4.0  # relative to ‖v_i‖² + ‖u_j‖²
    return within_reach(key, error * own, error * norms, k, False)


def _squared_distances(V: Any, i: np.ndarray, U: Any, j: np.ndarray) -> np.ndarray:
    squared, step = np.empty(len(i)), max(1, 2**18 // V.shape[1])
    for start in range(0, len(i), step):
        part = slice(start, start + step)
        v, u = V[i[part]], U[j[part]]
        squared[part] = _row_norms(v - u if sp.issparse(v) == sp.issparse(u) else v.toarray() - u)
    return squared


def _row_norms(V: np.ndarray | sp.csr_array) -> np.ndarray:
    return V.multiply(V).sum(axis=1) if sp.issparse(V) else np.einsum("ij,ij->i", V, V)


# -------------------------------------------------------------------- one pass over the rows


@dataclass
class Sums:
    """What a block of rows contributes; two blocks are merged without loss at any offset (Chan et al. 1979).

    Attributes
    ----------
    n : int
    sizes, gram : ndarray of shape (s,) and (s, s)
        Z'1 and Z'Z.
    mean : ndarray of shape (s, m)
        μ_a, relative to an origin that all blocks share.
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


def sum_rows(anchors: AnchorMap, rows: np.ndarray | sp.csr_array) -> Sums:
    """The sums of one block."""
    Z, compiled = anchors(rows), kernels(float(rows.shape[0]) * anchors.k * rows.shape[1])
    block = sp.csc_array(rows) if sp.issparse(rows) else rows
    sizes, mean, within = pooled_moments(block, Z, np.ones(Z.shape[1]), anchors.origin, compiled)
    low, high = (f(axis=0) for f in (rows.min, rows.max))
    if sp.issparse(rows):
        low, high = (np.asarray(f.todense()).ravel() for f in (low, high))
    return Sums(rows.shape[0], sizes, (Z.T @ Z).toarray(), mean, within, low, high)


def merge_sums(a: Sums, b: Sums) -> Sums:
    """The sums of both blocks together."""
    sizes = a.sizes + b.sizes
    share, apart = b.sizes * _inverse(sizes), b.mean - a.mean
    within = a.within + b.within + (a.sizes * share) @ apart**2
    mean = a.mean + share[:, None] * apart
    low, high = np.minimum(a.low, b.low), np.maximum(a.high, b.high)
    return Sums(a.n + b.n, sizes, a.gram + b.gram, mean, within, low, high)


class SummedGraph:
    """Plays the part of a :class:`Graph` with D = I in the formulas of the criteria, where F is a slice of features."""

    def __init__(self, sums: Sums, origin: np.ndarray):
        self.n_nodes, self.volume, self.constant = sums.n, float(sums.n), sums.low == sums.high
        self._sums, self._origin = sums, origin
        self._shift = sums.sizes @ sums.mean / sums.n
        self._between = np.sqrt(sums.sizes)[:, None] * (sums.mean - self._shift)

    def energy(self, F: slice) -> np.ndarray:
        """As :meth:`Graph.energy`."""
        return self._sums.within[F]

    def mass(self, F: slice) -> np.ndarray:
        """As :meth:`Graph.mass`."""
        return self.moments(F)[1]

    def moments(self, F: slice) -> tuple[np.ndarray, np.ndarray]:
        """As :meth:`Graph.moments`."""
        between = self._between[:, F]
        return (self._origin + self._shift)[F], self.energy(F) + np.einsum("ij,ij->j", between, between)

    def within_and_between(self, F: slice) -> tuple[np.ndarray, np.ndarray]:
        """As :meth:`Graph.within_and_between`."""
        return self.energy(F), self._between[:, F]

    @cached_property
    def small(self) -> SmallSpectrum:
        """As :attr:`Graph.small`."""
        sizes = self._sums.sizes
        return SmallSpectrum(self._sums.gram, sizes, _inverse(sizes), self.n_nodes)

    @property
    def n_components(self) -> int:
        """As :attr:`Graph.n_components`."""
        return self.small.n_components


class _Summary:
    """Plays the part of a :class:`Problem` for formulas over anchor graphs."""

    def __init__(self, X: Any, supervision: Supervision | None):
        self.X, self.supervision = X, supervision or Supervision(X.shape[0])
        self._graphs: dict[str, SummedGraph] = {}

    def graph(self, recipe: Recipe) -> SummedGraph:
        if repr(recipe) not in self._graphs:
            anchors = recipe._place(self.X)
            sums = fold_rows(partial(sum_rows, anchors), merge_sums, self.X)
            self._graphs[repr(recipe)] = SummedGraph(sums, anchors.origin)
        return self._graphs[repr(recipe)]

    @property
    def constant(self) -> np.ndarray:
        return next(iter(self._graphs.values())).constant


def score_by_rows(criterion: Criterion, X: Any, supervision: Supervision | None = None) -> np.ndarray | None:
    """The scores from passes over blocks of rows, two for each anchor graph: a sample of the rows, then all of them.

    They are those of :meth:`Criterion.score` but for rounding.

    Parameters
    ----------
    criterion : Criterion
    X : ndarray, csc_array or Source
        Already validated.
    supervision : Supervision, optional
        Read for the number of classes alone, by φ3 without ``n_clusters``.

    Returns
    -------
    scores : ndarray of shape (n_features,), or None
        None where the formula needs more than energies, masses and spectra of :class:`Anchors`, or where the sums, one
        value per anchor and feature, exceed scikit-learn's ``working_memory``.
    """
    recipes = _recipes(criterion)
    if not recipes or any(type(recipe) is not Anchors for recipe in recipes):
        return None
    if _SUMS * 8 * X.shape[1] * sum(r._number(X.shape[0]) for r in recipes) > get_config()["working_memory"] * 2**20:
        return None
    summary = _Summary(X, supervision)
    scorer = criterion._scorer(summary)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(summary.constant, np.nan, scorer(slice(None)))


def _recipes(criterion: Criterion) -> list[Recipe] | None:
    """All graphs of a formula; None where it is more than a formula over energies, masses and spectra."""
    kind = type(criterion)
    if kind in (Energy, Rayleigh, Phi):
        return [as_recipe(criterion.graph)]
    if kind is Ratio:
        return [as_recipe(criterion.numerator), as_recipe(criterion.denominator)]
    if kind in (Sum, Product):
        left, right = _recipes(criterion.left), _recipes(criterion.right)
        return None if left is None or right is None else left + right
    if kind is Scaled:
        return _recipes(criterion.criterion)
    return _recipes(criterion.formula()) if hasattr(criterion, "formula") else None


# -------------------------------------------------------------------- shared steps


def _inverse(sizes: np.ndarray) -> np.ndarray:
    """1 / s_a, and 0 for an anchor without rows."""
    return np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0)


def _stacked(above: sp.csr_array, below: sp.csr_array) -> sp.csr_array:
    return sp.vstack([above, below], format="csr")


def _read(X: np.ndarray | sp.csc_array | Source, rows: np.ndarray) -> np.ndarray | sp.csr_array:
    """Some rows in memory, in float64."""
    part = rows_of(X, rows)
    part = part[:] if isinstance(part, Source) else part
    return sp.csr_array(part, dtype=np.float64) if sp.issparse(part) else np.array(part, dtype=np.float64, order="C")


def _first_row(rows: np.ndarray | sp.csr_array) -> np.ndarray:
    return rows[:1].toarray()[0] if sp.issparse(rows) else rows[0].copy()


def _distinct(rows: np.ndarray | sp.csr_array) -> tuple[np.ndarray | sp.csr_array, np.ndarray]:
    """The different rows, in order of their first occurrence, and how often each occurs."""
    if sp.issparse(rows):
        # Each row is summed by itself and in order, so that equal rows have equal values here.
        key = rows @ np.random.default_rng(0).standard_normal(rows.shape[1])
    else:
        rows = rows + 0.0  # -0 and 0 are one number in different bytes
        key = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
    _, first, count = np.unique(key, return_index=True, return_counts=True)
    order = np.argsort(first)
    return rows[first[order]], count[order].astype(np.float64)
