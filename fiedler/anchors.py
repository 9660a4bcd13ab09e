"""Anchor graphs: rows are alike that lie near the same few anchors, in time and memory linear in the rows.

    W = Z Λ^-1 Z',   Λ = diag(Z'1),   z_ia ∝ exp(-‖x_i - u_a‖² / 2δ²) on the k anchors u_a nearest to x_i, Σ_a z_ia = 1

(Liu, He, Chang, "Large graph construction for scalable semi-supervised learning", ICML 2010.) W is positive
semi-definite and its rows sum to 1, so that D = I and

    f'Lf = Σ_a S_a,   f̃'D f̃ = Σ_a S_a + Σ_a s_a (μ_a - μ)²     s_a, μ_a, S_a: weight, mean and scatter of f at anchor a

Those are sums over the rows: :func:`score_by_rows` makes one pass over blocks of rows and never holds Z.
"""

from __future__ import annotations

import warnings
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from sklearn import get_config

from ._kernels import kernels
from ._validation import check_integer, check_positive
from .affinity import Problem, Recipe
from .assignment import AnchorMap, choose_anchors
from .columns import fold_rows, rows_of
from .criterion import Criterion, Energy, Phi, Product, Ratio, Rayleigh, Scaled, Sum, as_recipe
from .distances import row_distances
from .factors import SmallSpectrum
from .graph import Graph
from .moments import pooled_moments
from .sources import Source
from .supervision import Supervision

_FEWEST, _MOST = 10, 1000  # anchors chosen by default
_ROWS_PER_ANCHOR = 10  # rows that k-means sees
_SAMPLE_VALUES = 2**24  # of those rows: 128 MiB
_FEW_ROWS = 5000  # up to which long rows are shortened through all their distances
_SUMS = 5  # arrays of anchors x features that are held together while blocks are merged


class Anchors(Recipe):
    """Anchor graph W = Z Λ^-1 Z': two rows are linked where they share one of their k nearest anchors. Factored.

    Anchors are the centres of a few k-means iterations on a sample of the rows. Every row has degree 1, unlike in a kNN
    graph with Gaussian weights, where lonely rows hardly count: on data with outliers the scores are nearer to those of
    ``KNN(weight="binary")``. Diagonal kept: w_ii = Σ_a z_ia² / s_a.

    Parameters
    ----------
    n_anchors : int, optional
        At least ``n_neighbors`` and at most the number of rows; equal anchors count once, and among many rows those
        with a single row around them not at all. By default 4 √n, but at most n / 4 and 1,000, and at least 10. More
        anchors follow the rows more closely; time grows in proportion.
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

    def _build(self, problem: Problem) -> Graph:
        X = _shortened(problem.X) if self._is_wide(problem.X) else problem.X
        anchors = self._place(X)
        z, indices, counts = fold_rows(partial(_entries, anchors), _joined, X)
        Z = sp.csr_array((z, indices, np.r_[0, np.cumsum(counts)]), shape=(problem.n_samples, anchors.n_anchors))
        # No bandwidth: that of a Graph belongs to weights exp(-‖x_i - x_j‖² / 2δ²), which these are not.
        return Graph.from_factors(Z, _inverse(Z.sum(axis=0)), degree=np.ones(problem.n_samples), neighbors="anchors")

    def _place(self, X: np.ndarray | sp.csc_array | Source) -> AnchorMap:
        """Choose the anchors, and the bandwidth where it is not given."""
        check_positive("bandwidth", self.bandwidth, optional=True)
        seed = 0 if self.random_state is None else check_integer("random_state", self.random_state, 0)
        n, m = X.shape
        wanted = self._number(n)
        rng = np.random.default_rng(seed)
        size = min(n, max(2 * wanted, min(_ROWS_PER_ANCHOR * wanted, _SAMPLE_VALUES // m)))
        sample = _read(X, np.sort(rng.choice(n, size, replace=False)))
        anchors = AnchorMap(
            choose_anchors(sample, wanted, self.n_neighbors, rng), self.n_neighbors, _first_row(sample), self.bandwidth
        )
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

    def _is_wide(self, X: np.ndarray | sp.csc_array | Source) -> bool:
        """Whether a sample of rows is too much to hold, and all distances between them are not."""
        n, m = X.shape
        sparse = X.sparse if isinstance(X, Source) else sp.issparse(X)
        return not sparse and n <= _FEW_ROWS and m > n and min(n, 2 * self._number(n)) * m > _SAMPLE_VALUES

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


# -------------------------------------------------------------------- one pass over the rows


class Sums(NamedTuple):
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


def merge_sums(a: tuple, b: tuple) -> Sums:
    """The sums of both blocks together."""
    a, b = Sums(*a), Sums(*b)  # plain tuples where they were kept in a file
    sizes = a.sizes + b.sizes
    share, apart = b.sizes * _inverse(sizes), b.mean - a.mean
    within = a.within + b.within + (a.sizes * share) @ apart**2
    mean = a.mean + share[:, None] * apart
    low, high = np.minimum(a.low, b.low), np.maximum(a.high, b.high)
    return Sums(a.n + b.n, sizes, a.gram + b.gram, mean, within, low, high)


class SummedGraph:
    """Plays the part of a :class:`Graph` with D = I in the formulas of the criteria, where F is a slice of features."""

    def __init__(self, sums: Sums, origin: np.ndarray):
        self.n_nodes, self.volume, self.constant = int(sums.n), float(sums.n), sums.low == sums.high
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
            self._graphs[repr(recipe)] = SummedGraph(Sums(*sums), anchors.origin)
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
        None where the formula needs more than energies, masses and spectra of :class:`Anchors`, where rows are few and
        very long, or where the sums, one value per anchor and feature, exceed scikit-learn's ``working_memory``.
    """
    recipes = _recipes(criterion)
    if not recipes or any(type(recipe) is not Anchors or recipe._is_wide(X) for recipe in recipes):
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


def _entries(anchors: AnchorMap, rows: np.ndarray | sp.csr_array) -> tuple[np.ndarray, ...]:
    """Z of a block of rows: its entries, their columns, and how many there are in each row."""
    Z = anchors(rows)
    return Z.data, Z.indices, np.diff(Z.indptr)


def _joined(above: tuple[np.ndarray, ...], below: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    return tuple(np.concatenate(pair) for pair in zip(above, below, strict=True))


def _read(X: np.ndarray | sp.csc_array | Source, rows: np.ndarray) -> np.ndarray | sp.csr_array:
    """Some rows in memory, in float64."""
    part = rows_of(X, rows)
    part = part[:] if isinstance(part, Source) else part
    return sp.csr_array(part, dtype=np.float64) if sp.issparse(part) else np.array(part, dtype=np.float64, order="C")


def _shortened(X: np.ndarray | Source) -> np.ndarray:
    """Few long rows in as many columns as there are rows, turned but at the same distances: means stay means."""
    squared = row_distances(X).matrix()
    first = np.argmax(squared == 0.0, axis=1)  # of the rows that equal this one
    squared -= squared.mean(axis=0)
    squared -= squared.mean(axis=1)[:, None]
    values, vectors = eigh(squared / -2.0)
    return (vectors * np.sqrt(np.maximum(values, 0.0)))[first]


def _first_row(rows: np.ndarray | sp.csr_array) -> np.ndarray:
    return rows[:1].toarray()[0] if sp.issparse(rows) else rows[0].copy()
