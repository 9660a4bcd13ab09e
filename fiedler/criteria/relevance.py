"""Relevance: a positive measure of how closely a feature follows a few known labels, targets or pairs.

    classes   r = (rank + local + graph) / 3 + s0 (1 + 4/d2)       d1 = C - 1, d2 = l - C
    targets   r = (rank + local) / 2 + s0                          d1 = 1,     d2 = l - 2
    pairs     r = (raw + rank + graph) / 3 + √((1/|M| + 1/|C|) / 2)

    rank   (SSB - d1 SSW / d2)₊ / SST of mid-ranks; for targets the same with R², for pairs as below
    local  (e_miss - e_hit)₊ / (e_miss + e_hit), mean squared differences to the 3 nearest rows of the own class and of
           every other one, among at most 10,000 rows; for targets between rows whose targets are farther apart, and
           nearer, than usual
    graph  as rank, for the means over neighbours D⁻¹WX, divided by SST of the feature; relative to the best feature
    pairs  (e_C - e_M - 2 se)₊ / (e_C + e_M), for values, mid-ranks and means over neighbours
    s0     √(2 d1 d2 / ((d1+d2)² (d1+d2+2))), the standard deviation of R² if there is no relation

The last term of each line is a lower bound that falls about as 1/l, where l is the number of known labels: with few
labels all features are nearly equally relevant. r = 1 for all features if the labels carry no information: one label
per class, one kind of pair, or fewer than four targets.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.stats import rankdata

from ..data.arrays import Block, dense, take_rows
from ..data.memory import working_bytes
from ..engine.blocks import map_columns
from ..engine.moments import sparse_moments
from ..errors import ParameterWarning
from ..graphs import KNN, Graph, Recipe, as_recipe
from ..graphs.supervised import nearest_labelled
from ..problem import Problem
from ..supervision import Supervision
from ..validation import is_sparse
from .criterion import Criterion, Features, Scorer, Traits
from .missing import r2_deviation
from .nulls import Association

_NEAREST = 3  # number of hits, and of misses in every other class
_MOST_ROWS = 10_000  # labelled rows among which these are searched; more rows are sampled
_FEWEST_TARGETS = 4
_GAPS = 2000  # up to this number of targets, all gaps between them are used


class Relevance(Criterion):
    """How closely features follow classes, a real target, or pairs, known for a few rows. Large is good.

    Labels are used if there are any, otherwise pairs. Without labels and pairs every feature scores 1, so that a factor
    ``Relevance`` changes nothing: ``SmoothSubset`` is ``Relevance(KNN(5)) * Explained(KNN(5))``. The score does not
    depend on shift and scale of a feature. The equations are in :mod:`fiedler.criteria.relevance`. Introduced in this
    library.

    Parameters
    ----------
    graph : Recipe, default=KNN(5)
        The graph whose neighbours are averaged.
    task : {"auto", "classes", "target"}, default="auto"
        What y holds; "auto" follows the rule of :meth:`fiedler.Supervision.task`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from fiedler import Relevance
    >>> X, y = load_iris(return_X_y=True)
    >>> y[np.arange(150) % 10 > 0] = -1  # five labels per class are left
    >>> Relevance().evaluate(X, y).round(2)
    array([0.83, 0.61, 1.1 , 1.07])
    """

    traits = Traits(True, accepts=frozenset({"classes", "target", "pairs"}), groups=True, blocks=True)

    def __init__(self, graph: Recipe | None = None, task: str = "auto"):
        self.graph, self.task = graph, task

    def null(self) -> Association:
        return Association(self.task)

    def scorer(self, problem: Problem) -> Scorer:
        known, recipe = problem.supervision, KNN(5) if self.graph is None else as_recipe(self.graph)
        kind, rows = informative(known, self.task), np.ones(problem.n_samples, dtype=bool)
        if kind is None:
            alike = lambda values, among: values[0] * 0.0 + 1.0  # noqa: E731
            return Scorer(rows, lambda F, columns: np.ones(F.shape[1]), alike, informative=False)
        if kind == "pairs":
            parts = _pairs(problem, np.asarray(known.must_link), np.asarray(known.cannot_link), recipe)
        elif kind == "target":
            parts = _targets(problem)
        else:
            parts = _classes(problem, known.classes("Relevance")[0], recipe)
        return parts.scorer(rows, problem.groups is not None)


def informative(known: Supervision, task: str) -> str | None:
    """The supervision that a relevance reads: "classes", "target" or "pairs"; None if it carries no information."""
    if known.task(task) == "target":
        return "target" if np.sum(~known.missing) >= _FEWEST_TARGETS else None
    labelled = int(np.sum(known.labelled))
    if not labelled:
        both = all(links is not None and len(links) for links in (known.must_link, known.cannot_link))
        if known.y is not None and not known.has_pairs:
            message = f"all {known.n_samples} labels in y are unknown (unlabeled={known.unlabeled!r}): y is not used."
            warnings.warn(ParameterWarning(message, parameter="y"), stacklevel=2)
        return "pairs" if both else None
    if len(set(np.asarray(known.y)[known.labelled].tolist())) < 2 and not known.ambiguous:
        return None
    return "classes" if labelled > len(known.classes("Relevance")[1]) else None


class Parts(NamedTuple):
    """The parts of a relevance as a function of blocks, and their combination to one score.

    ``of(view)`` gives an array of shape (n, columns), and the score is the mean of the parts. If the last part is
    ``relative`` to the best feature, it is first divided by its largest value over all features.
    """

    of: Callable[[View], np.ndarray]
    views: Views
    n: int
    floor: float
    relative: bool

    def scorer(self, rows: np.ndarray, grouped: bool) -> Scorer:
        """A feature of several columns has the mean over its columns, weighted by their variance."""

        def weighted(F: Block, columns: Any) -> np.ndarray:
            squares = np.einsum("ij,ij->j", F - F[0], F - F[0]) - F.shape[0] * (F - F[0]).mean(axis=0) ** 2
            weights = np.maximum(squares, 0.0)
            return np.vstack([weights * self.of_block(F, columns), weights])

        def mean(values: np.ndarray, among: Features) -> np.ndarray:
            return self.finish(values[:-1] / values[-1], Features(among.values[:-1] / among.values[-1]))

        if grouped:
            return Scorer(rows, weighted, mean, n=self.n + 1, compares=self.relative)
        return Scorer(rows, self.of_block, self.finish, n=self.n, compares=self.relative)

    def of_block(self, F: Block, columns: slice | None) -> np.ndarray:
        """The parts of a block."""
        return self.of(self.views.at(F, columns))

    def finish(self, parts: np.ndarray, among: Features) -> np.ndarray:
        peak = float(np.nanmax(among.values[-1], initial=0.0)) or 1.0 if self.relative else 1.0
        return (parts[:-1].sum(axis=0) + parts[-1] / peak) / self.n + self.floor


class View(NamedTuple):
    """One block of columns on some rows: values up to an offset, mid-ranks among all rows, and neighbour means."""

    raw: np.ndarray
    ranks: Callable[[], np.ndarray]
    smoothed: Callable[[], np.ndarray]


class Views:
    """Views of blocks on the rows with known labels; mid-ranks and means are kept for repeated fits.

    Parameters
    ----------
    problem : Problem
    rows : ndarray of int
        The rows with a label, a target or a pair.
    recipe : Recipe, optional
        The graph whose neighbours are averaged.
    """

    def __init__(self, problem: Problem, rows: np.ndarray, recipe: Recipe | None):
        self.rows: np.ndarray = rows
        self._kept: tuple[np.ndarray, Any] | None = None
        graph = None if recipe is None else problem.graph(recipe)
        fits = 2.0 * 8.0 * problem.n_samples * problem.X.shape[1] <= working_bytes() / 4
        if problem.reuse and isinstance(problem.X, np.ndarray) and fits:
            every = np.arange(problem.n_samples)
            dtype = np.float32 if problem.n_samples < 2**22 else np.float64
            ranked = lambda: map_columns(lambda F: _mid_ranks(F, every).astype(dtype), problem.X, 32.0)  # noqa: E731
            ranks, means = problem.keep("mid-ranks", ranked), None
            if recipe is not None:
                mean_over = _averaging(problem.graph(recipe), every)
                averaged = lambda: map_columns(lambda F: mean_over(dense(F) - _column_means(F)), problem.X, 16.0)  # noqa: E731
                means = problem.keep(("neighbour means", recipe.key), averaged, recipe.supervised)
            self._kept = ranks, means
        if graph is not None:
            self._mean_over = _averaging(graph, rows)

    def at(self, F: Block, columns: slice | None) -> View:
        """A view of a block; ``columns`` are the numbers of its columns."""
        raw = take_rows(F, self.rows) - _column_means(F)
        if self._kept is None or columns is None:
            return View(raw, lambda: _mid_ranks(F, self.rows), lambda: self._mean_over(dense(F) - _column_means(F)))
        ranks, means = self._kept  # targets need no means, so there are none
        return View(raw, lambda: ranks[self.rows, columns].astype(np.float64), lambda: means[self.rows, columns])


def _averaging(graph: Graph, rows: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """The function C -> D⁻¹WC on some rows; columns are centred, so that an isolated row gets the column mean."""
    inverse = np.divide(1.0, graph.degree, out=np.zeros(graph.n_nodes), where=graph.degree > 0)[rows, None]
    W = graph.csr
    if W is None:
        return lambda C: inverse * graph.dot(C)[rows]
    few = sp.csr_array(W[rows])
    return lambda C: inverse * (few @ C)


def _classes(problem: Problem, codes: np.ndarray, recipe: Recipe) -> Parts:
    rows = np.flatnonzero(codes >= 0)
    known, n_classes = codes[rows], int(codes.max()) + 1
    d1, d2 = n_classes - 1, len(rows) - n_classes
    views, members = Views(problem, rows, recipe), np.eye(n_classes)[known]
    i, j, group = nearest_labelled(problem, _sampled(codes), _NEAREST)
    own, place = codes[i] == group, np.cumsum(codes >= 0) - 1  # position of a row among the labelled rows
    edges = [(place[i[part]], place[j[part]], np.ones(part.sum())) for part in (own, ~own)]
    hits, misses = (Graph.from_edges(*part, len(rows)) for part in edges)
    n_hits, n_misses = max(int(own.sum()), 1), max(int((~own).sum()), 1)

    def explained(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(SSB - d1 SSW / d2)₊ and SST."""
        values = values - values[0]
        values -= values.mean(axis=0)
        means = members.T @ values / members.sum(axis=0)[:, None]
        between = members.sum(axis=0) @ means**2
        total = np.einsum("ij,ij->j", values, values)
        return np.maximum(between - d1 * np.maximum(total - between, 0.0) / d2, 0.0), total

    def of(F: View) -> np.ndarray:
        near, far = hits.energy(F.raw) / n_hits, misses.energy(F.raw) / n_misses
        total = explained(F.raw)[1]
        graph_part = np.minimum(_share(explained(F.smoothed())[0], total), 1.0)
        return np.array([_share(*explained(F.ranks())), _contrast(far, near), graph_part])

    return Parts(of, views, 3, r2_deviation(d1, d2) * (1.0 + 4.0 / d2), relative=True)


def _sampled(codes: np.ndarray) -> np.ndarray:
    """Codes that are -1 outside of a sample of the labelled rows; every class keeps its share, and ten rows or more."""
    rows = np.flatnonzero(codes >= 0)
    if len(rows) <= _MOST_ROWS:
        return codes
    rows = np.random.default_rng(0).permutation(rows)
    by_class = rows[np.argsort(codes[rows], kind="stable")]
    sizes = np.bincount(codes[rows])
    number = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)  # of a row inside its class
    kept = by_class[number < np.maximum(10, np.repeat(sizes, sizes) * _MOST_ROWS // len(rows))]
    some = np.full_like(codes, -1)
    some[kept] = codes[kept]
    return some


def _targets(problem: Problem) -> Parts:
    target = problem.supervision.target("Relevance")
    rows = np.flatnonzero(~np.isnan(target))
    rows = rows[np.argsort(target[rows], kind="stable")]
    y, d2, views = target[rows] - target[rows[0]], len(rows) - 2, Views(problem, rows, None)
    ranked = rankdata(y) - (len(y) + 1) / 2.0
    some = y[np.unique(np.linspace(0, len(y) - 1, min(len(y), _GAPS)).round().astype(np.intp))]
    gap = float(np.median(np.abs(some[:, None] - some)[np.triu_indices(len(some), 1)]))
    # Targets are sorted, so the rows near one row form an interval; running sums give the sum over an interval.
    near = np.searchsorted(y, y - gap * (1 - 1e-12), "right"), np.searchsorted(y, y + gap * (1 - 1e-12), "left")
    wide = np.searchsorted(y, y - gap * (1 + 1e-12), "left"), np.searchsorted(y, y + gap * (1 + 1e-12), "right")
    every = np.zeros(len(y), dtype=np.intp), np.full(len(y), len(y))

    def energy(f: np.ndarray, interval: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """Sum of (f_i - f_j)² over all rows i and all rows j of the interval of i."""
        low, high = interval
        first, second = (np.vstack([np.zeros(f.shape[1]), np.cumsum(f**p, axis=0)]) for p in (1, 2))
        squares = (high - low)[:, None] * f**2 - 2.0 * f * (first[high] - first[low]) + second[high] - second[low]
        return np.maximum(squares.sum(axis=0), 0.0)

    n_near = int(np.sum(near[1] - near[0])) - len(y)
    n_far = len(y) ** 2 - int(np.sum(wide[1] - wide[0]))

    def of(F: View) -> np.ndarray:
        raw, ranks = F.raw, F.ranks()
        raw, ranks = raw - raw.mean(axis=0), ranks - ranks.mean(axis=0)
        squared = _share((ranked @ ranks) ** 2, (ranked @ ranked) * np.einsum("ij,ij->j", ranks, ranks))
        rank = np.maximum(squared - (1.0 - squared) / d2, 0.0)
        if min(n_near, n_far) <= 0:  # many equal targets: no pair is nearer, or farther, than usual
            return np.array([rank, np.zeros_like(rank)])
        far = np.maximum(energy(raw, every) - energy(raw, wide), 0.0) / n_far
        return np.array([rank, _contrast(far, energy(raw, near) / n_near)])

    return Parts(of, views, 2, r2_deviation(1, d2), relative=False)


def _pairs(problem: Problem, must: np.ndarray, cannot: np.ndarray, recipe: Recipe) -> Parts:
    rows, place = np.unique(np.concatenate([must, cannot]), return_inverse=True)
    ends = place.reshape(-1, 2)
    together, apart = ends[: len(must)], ends[len(must) :]
    views = Views(problem, rows, recipe)

    def surplus(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(e_C - e_M - 2 se)₊ and e_C + e_M."""
        means, errors = [], []
        for pairs in (apart, together):
            squares = (values[pairs[:, 0]] - values[pairs[:, 1]]) ** 2
            means.append(squares.mean(axis=0))
            errors.append(squares.var(axis=0, ddof=1) / len(pairs) if len(pairs) > 1 else 0.0)
        return np.maximum(means[0] - means[1] - 2.0 * np.sqrt(errors[0] + errors[1]), 0.0), means[0] + means[1]

    def of(F: View) -> np.ndarray:
        above, below = surplus(F.raw)
        smooth = np.minimum(_share(surplus(F.smoothed())[0], below), 1.0)
        return np.array([_share(above, below), _share(*surplus(F.ranks())), smooth])

    return Parts(of, views, 3, float(np.sqrt((1.0 / len(must) + 1.0 / len(cannot)) / 2.0)), relative=True)


# -------------------------------------------------------------------- small things


def _share(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """above / below, and 0 where below is 0."""
    return np.divide(above, below, out=np.zeros_like(below), where=below > 0)


def _contrast(more: np.ndarray, less: np.ndarray) -> np.ndarray:
    return _share(np.maximum(more - less, 0.0), more + less)


def _column_means(F: Block) -> np.ndarray:
    if is_sparse(F):
        return sparse_moments(F, np.ones(F.shape[0]))[0]
    return F[0] + (F - F[0]).mean(axis=0)


def _mid_ranks(F: Block, rows: np.ndarray) -> np.ndarray:
    """Mid-ranks of some rows among all; the zeros of a sparse column share one rank."""
    if not is_sparse(F):
        return rankdata(F, axis=0)[rows]
    F = F.copy()
    F.eliminate_zeros()
    n, m = F.shape
    stored = np.diff(F.indptr)
    column, negative = np.repeat(np.arange(m), stored), np.zeros(m)
    np.add.at(negative, column, F.data < 0)
    zeros = n - stored
    order = np.lexsort((F.data, column))
    value, at = F.data[order], column[order]
    new = np.r_[True, (value[1:] != value[:-1]) | (at[1:] != at[:-1])]
    start = np.flatnonzero(new)
    size = np.diff(np.r_[start, len(value)])
    below = start - F.indptr[at[start]] + np.where(value[start] > 0, zeros[at[start]], 0)
    ranks = np.empty(len(value))
    ranks[order] = np.repeat(below + (size + 1) / 2.0, size)
    at_zero = negative + (zeros + 1) / 2.0
    # Stored as differences from the rank of the zeros, so that entries that are not stored need no change.
    moved = sp.csc_array((ranks - at_zero[column], F.indices, F.indptr), shape=F.shape)
    return take_rows(moved, rows) + at_zero
