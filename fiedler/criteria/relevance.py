"""Relevance: how closely a feature follows what is known, from a few labels, targets or pairs; never quite nothing.

    classes   r = (rank + local + graph) / 3 + s0 (1 + 4/d2)       d1 = C - 1, d2 = l - C
    targets   r = (rank + local) / 2 + s0                          d1 = 1,     d2 = l - 2
    pairs     r = (raw + rank + graph) / 3 + √((1/|M| + 1/|C|) / 2)

    rank   (SSB - d1 SSW / d2)₊ / SST of mid-ranks; of targets the same as R², of pairs as below
    local  (e_miss - e_hit)₊ / (e_miss + e_hit), mean squared differences to the 3 nearest rows of the own class and of
           every other one; of targets between rows whose targets are farther apart, and nearer, than usual
    graph  the same as rank of the means over neighbours D⁻¹WX, over SST of the feature; relative to the best feature
    pairs  (e_C - e_M - 2 se)₊ / (e_C + e_M), of values, of mid-ranks, of means over neighbours
    s0     √(2 d1 d2 / ((d1+d2)² (d1+d2+2))), the deviation of R² where there is no relation

The last term of each is a floor that falls about as 1/l: with few labels all features are nearly as relevant. r = 1 for
all where labels say nothing: one per class, one kind of pair, fewer than four targets.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.stats import rankdata

from ..data.arrays import Block, dense, rows_of, take_rows
from ..engine.blocks import is_constant, map_columns
from ..engine.moments import sparse_moments
from ..engine.search import nearest_in_groups
from ..engine.streamed import row_distances
from ..graphs import KNN, Graph, Recipe, as_recipe
from ..problem import Problem
from ..supervision import Supervision
from ..validation import is_sparse
from .criterion import Criterion, Scorer

_NEAREST = 3  # hits, and misses in every other class
_FEWEST_TARGETS = 4
_GAPS = 2000  # targets whose gaps are all looked at
_CELLS = 2**22  # values of a piece of a block


class Relevance(Criterion):
    """How closely features follow classes, a real target, or pairs, known for a few rows. Large is good.

    Labels come first; pairs are read where there are no labels. With nothing known every feature scores 1: as a factor
    it then changes nothing, ``Relevance(KNN(5)) * Explained(KNN(5))`` is how ``SmoothSubset`` reads labels. Invariant
    to shift and scale of a feature. The equations are in :mod:`fiedler.criteria.relevance`; ours.

    Parameters
    ----------
    graph : Recipe, default=KNN(5)
        Over whose neighbours features are averaged.
    task : {"auto", "classes", "target"}, default="auto"
        What y holds; by default the rule of :meth:`fiedler.Supervision.task`.

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

    _may_use = frozenset({"classes", "target", "pairs"})

    def __init__(self, graph: Recipe | None = None, task: str = "auto"):
        self.graph, self.task = graph, task

    @property
    def greater_is_better(self) -> bool:
        return True

    def score(self, problem: Problem) -> np.ndarray:
        # In one go over the columns: parts are joined by their peak over all of them.
        parts = self._parts_of(problem)
        if parts is None:
            return map_columns(_one_unless_constant, problem.X)
        rows = np.ones(problem.n_samples, dtype=bool)
        found = map_columns(lambda F: np.vstack([is_constant(F, rows), parts.of(F)]), problem.X)
        return np.where(found[0] > 0, np.nan, parts.joined(found[1:], _peak(found[-1])))

    def _scorer(self, problem: Problem) -> Scorer:
        rows, parts = np.ones(problem.n_samples, dtype=bool), self._parts_of(problem)
        if parts is None:
            return Scorer(rows, lambda F: np.ones(F.shape[1]))
        peak = _peak(map_columns(lambda F: parts.of(F)[-1], problem.X))
        return Scorer(rows, lambda F: parts.joined(parts.of(F), peak))

    def _says_nothing(self, problem: Problem) -> bool:
        return self._read(problem.supervision) is None

    def _read(self, known: Supervision) -> str | None:
        """What decides: classes, a target or pairs; None where these say nothing."""
        labelled = int(np.sum(known.labelled))
        if not labelled:
            both = all(links is not None and len(links) for links in (known.must_link, known.cannot_link))
            return "pairs" if both else None
        if known.task(self.task) == "target":
            return "target" if labelled >= _FEWEST_TARGETS else None
        if len(set(np.asarray(known.y)[known.labelled].tolist())) < 2 and not known.ambiguous:
            return None
        return "classes" if labelled > len(known.classes("Relevance")[1]) else None

    def _parts_of(self, problem: Problem) -> Parts | None:
        known = problem.supervision
        kind = self._read(known)
        if kind is None or kind == "target":
            return None if kind is None else _targets(known)
        graph = problem.graph(self._recipe())
        if kind == "pairs":
            return _pairs(np.asarray(known.must_link), np.asarray(known.cannot_link), graph)
        return _classes(problem, known.classes("Relevance")[0], graph)

    def _recipe(self) -> Recipe:
        return KNN(5) if self.graph is None else as_recipe(self.graph)


class Parts:
    """The parts of a relevance as a function of blocks, and how they are joined.

    ``of(F)`` gives an array (parts, columns); ``joined`` divides the last one where it is relative to the best feature.
    """

    def __init__(self, of: Callable[[Block], np.ndarray], floor: float, relative: bool):
        self._of, self.floor, self.relative = of, floor, relative

    def of(self, F: Block) -> np.ndarray:
        """Of a block, in pieces whose values for all rows fit the cache a few times over."""
        width = max(1, _CELLS // F.shape[0])
        pieces = [self._of(F[:, start : start + width]) for start in range(0, F.shape[1], width)]
        return np.hstack(pieces)

    def joined(self, parts: np.ndarray, peak: float) -> np.ndarray:
        last = parts[-1] / peak if self.relative else parts[-1]
        return (parts[:-1].sum(axis=0) + last) / len(parts) + self.floor


class _Views:
    """The values of a block on some rows: as they are but for an offset, as mid-ranks among all rows, smoothed."""

    def __init__(self, rows: np.ndarray, graph: Graph | None):
        self.rows = rows
        if graph is not None:
            inverse = np.divide(1.0, graph.degree, out=np.zeros(graph.n_nodes), where=graph.degree > 0)[rows, None]
            W = graph.weights.csr
            few = None if W is None else sp.csr_array(W[rows])
            self._mean_over = (
                (lambda C: inverse * graph.dot(C)[rows]) if few is None else (lambda C: inverse * (few @ C))
            )

    def raw(self, F: Block) -> np.ndarray:
        return take_rows(F, self.rows) - _column_means(F)

    def ranks(self, F: Block) -> np.ndarray:
        return _sparse_mid_ranks(F, self.rows) if is_sparse(F) else rankdata(F, axis=0)[self.rows]

    def smoothed(self, F: Block) -> np.ndarray:
        """Of the centred columns, so that a row without neighbours has their mean."""
        return self._mean_over(dense(F) - _column_means(F))


def _classes(problem: Problem, codes: np.ndarray, graph: Graph) -> Parts:
    rows = np.flatnonzero(codes >= 0)
    known, n_classes = codes[rows], int(codes.max()) + 1
    d1, d2 = n_classes - 1, len(rows) - n_classes
    X = problem.X if len(rows) == problem.n_samples else rows_of(problem.X, rows)
    i, j, group = nearest_in_groups(row_distances(X), known, _NEAREST)
    own = known[i] == group
    hits, misses = (Graph.from_edges(i[part], j[part], np.ones(part.sum()), len(rows)) for part in (own, ~own))
    n_hits, n_misses = max(int(own.sum()), 1), max(int((~own).sum()), 1)
    views, members = _Views(rows, graph), np.eye(n_classes)[known]

    def explained(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(SSB - d1 SSW / d2)₊ and SST."""
        values = values - values[0]
        values -= values.mean(axis=0)
        means = members.T @ values / members.sum(axis=0)[:, None]
        between = members.sum(axis=0) @ means**2
        total = np.einsum("ij,ij->j", values, values)
        return np.maximum(between - d1 * np.maximum(total - between, 0.0) / d2, 0.0), total

    def of(F: Block) -> np.ndarray:
        raw = views.raw(F)
        near, far = hits.energy(raw) / n_hits, misses.energy(raw) / n_misses
        total = explained(raw)[1]
        graph_part = np.minimum(_share(explained(views.smoothed(F))[0], total), 1.0)
        return np.array([_share(*explained(views.ranks(F))), _contrast(far, near), graph_part])

    return Parts(of, _spread(d1, d2) * (1.0 + 4.0 / d2), relative=True)


def _targets(known: Supervision) -> Parts:
    target = known.target("Relevance")
    rows = np.flatnonzero(~np.isnan(target))
    rows = rows[np.argsort(target[rows], kind="stable")]
    y, d2, views = target[rows] - target[rows[0]], len(rows) - 2, _Views(rows, None)
    ranked = rankdata(y) - (len(y) + 1) / 2.0
    some = y[np.unique(np.linspace(0, len(y) - 1, min(len(y), _GAPS)).round().astype(np.intp))]
    gap = float(np.median(np.abs(some[:, None] - some)[np.triu_indices(len(some), 1)]))
    # Targets ascend, so the rows near one are an interval, and sums over intervals are differences of running sums.
    near = np.searchsorted(y, y - gap * (1 - 1e-12), "right"), np.searchsorted(y, y + gap * (1 - 1e-12), "left")
    wide = np.searchsorted(y, y - gap * (1 + 1e-12), "left"), np.searchsorted(y, y + gap * (1 + 1e-12), "right")
    every = np.zeros(len(y), dtype=np.intp), np.full(len(y), len(y))

    def energy(f: np.ndarray, interval: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """Σ over rows i and all j of their interval of (f_i - f_j)²; and below, how many there are."""
        low, high = interval
        first, second = (np.vstack([np.zeros(f.shape[1]), np.cumsum(f**p, axis=0)]) for p in (1, 2))
        squares = (high - low)[:, None] * f**2 - 2.0 * f * (first[high] - first[low]) + second[high] - second[low]
        return np.maximum(squares.sum(axis=0), 0.0)

    n_near = int(np.sum(near[1] - near[0])) - len(y)
    n_far = len(y) ** 2 - int(np.sum(wide[1] - wide[0]))

    def of(F: Block) -> np.ndarray:
        raw, ranks = views.raw(F), views.ranks(F)
        raw, ranks = raw - raw.mean(axis=0), ranks - ranks.mean(axis=0)
        squared = _share((ranked @ ranks) ** 2, (ranked @ ranked) * np.einsum("ij,ij->j", ranks, ranks))
        rank = np.maximum(squared - (1.0 - squared) / d2, 0.0)
        if min(n_near, n_far) <= 0:  # targets so often the same that no pair is nearer, or farther, than usual
            return np.array([rank, np.zeros_like(rank)])
        far = np.maximum(energy(raw, every) - energy(raw, wide), 0.0) / n_far
        return np.array([rank, _contrast(far, energy(raw, near) / n_near)])

    return Parts(of, _spread(1, d2), relative=False)


def _pairs(must: np.ndarray, cannot: np.ndarray, graph: Graph) -> Parts:
    rows, place = np.unique(np.concatenate([must, cannot]), return_inverse=True)
    ends = place.reshape(-1, 2)
    together, apart = ends[: len(must)], ends[len(must) :]
    views = _Views(rows, graph)

    def surplus(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(e_C - e_M - 2 se)₊ and e_C + e_M."""
        means, errors = [], []
        for pairs in (apart, together):
            squares = (values[pairs[:, 0]] - values[pairs[:, 1]]) ** 2
            means.append(squares.mean(axis=0))
            errors.append(squares.var(axis=0, ddof=1) / len(pairs) if len(pairs) > 1 else 0.0)
        return np.maximum(means[0] - means[1] - 2.0 * np.sqrt(errors[0] + errors[1]), 0.0), means[0] + means[1]

    def of(F: Block) -> np.ndarray:
        above, below = surplus(views.raw(F))
        smooth = np.minimum(_share(surplus(views.smoothed(F))[0], below), 1.0)
        return np.array([_share(above, below), _share(*surplus(views.ranks(F))), smooth])

    return Parts(of, float(np.sqrt((1.0 / len(must) + 1.0 / len(cannot)) / 2.0)), relative=True)


# -------------------------------------------------------------------- small things


def _spread(d1: int, d2: int) -> float:
    """The deviation of R² with d1 and d2 degrees of freedom where there is no relation."""
    return float(np.sqrt(2.0 * d1 * d2 / ((d1 + d2) ** 2 * (d1 + d2 + 2.0))))


def _share(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """above / below, 0 where nothing is below."""
    return np.divide(above, below, out=np.zeros_like(below), where=below > 0)


def _contrast(more: np.ndarray, less: np.ndarray) -> np.ndarray:
    return _share(np.maximum(more - less, 0.0), more + less)


def _peak(values: np.ndarray) -> float:
    return float(values.max(initial=0.0)) or 1.0


def _one_unless_constant(F: Block) -> np.ndarray:
    return np.where(is_constant(F, np.ones(F.shape[0], dtype=bool)), np.nan, 1.0)


def _column_means(F: Block) -> np.ndarray:
    if is_sparse(F):
        return sparse_moments(F, np.ones(F.shape[0]))[0]
    return F[0] + (F - F[0]).mean(axis=0)


def _sparse_mid_ranks(F: sp.csc_array, rows: np.ndarray) -> np.ndarray:
    """Mid-ranks of some rows among all; the zeros of a column share one rank."""
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
    # Stored as differences from the rank of the zeros, so that what is not stored is right as it is.
    moved = sp.csc_array((ranks - at_zero[column], F.indices, F.indptr), shape=F.shape)
    return take_rows(moved, rows) + at_zero
