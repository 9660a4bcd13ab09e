"""Search for the k nearest neighbours of every row; all other modules use this one.

Distances come from one product with a known bound of the rounding error. Every row that could be a neighbour within
this bound is a candidate. The choice among candidates uses distances from differences of values in double precision. A
row is never its own neighbour, but a duplicate of it can be. Ties at the k-th neighbour go to the smaller index
(:func:`fiedler.engine.smallest.tie_levels`). For few columns a k-d tree may find the same neighbours faster. For many
rows, or on request, most of the neighbours are found much faster (:mod:`fiedler.engine.approximate`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import scipy.sparse as sp

from ..data.arrays import Matrix, as_csr
from ..data.source import Source
from ..validation import is_sparse
from . import approximate
from .blocks import different_rows
from .distances import SKETCH, DenseDistances, Distances, SourceDistances, SparseDistances, row_distances
from .smallest import TIED, closest, closest_in_rows, tie_levels, within_reach
from .threads import for_each, n_threads

_MANY_ROWS, _EXACT_UP_TO = 20_000, 50_000  # limits: rows for merging duplicates, rows for an exact search
_MANY_SPARSE_ROWS = 500  # with more sparse rows, duplicates are merged, which is fast
_EXACT_FROM_FILES, _PASSES = 20_000, 16  # limits for a file: rows for an exact search, and passes over the data
# Limits for sparse rows: an exact search has at most this number of rows, or of products of stored values, which take
# about 20 seconds on two cores. Up to 11,500 rows all keys stay in memory, and an exact search needs half the products.
_EXACT_SPARSE, _PRODUCTS = 12_000, 2e10
# Largest number of rows around a row for which a k-d tree is faster than an approximate search, and the inverse of the
# largest share of all rows for which it is faster than the product.
_CROWD, _CROWDED = 256, 64
_CANDIDATES = 2**25  # pairs whose distances are computed again
# Of the tree: rows for the estimate of its cost; share of ties at the last neighbour from which more rows are requested
# from the start, and the factor for their number; neighbours per request, between which Ctrl-C is handled; and relative
# difference of squared distances that need no second check.
_TRIED, _OFTEN, _WIDER, _AT_ONCE, _NEARLY = 64, 0.1, 4, 2**18, 1e-9


def find_neighbors(
    X: Matrix,
    k: int,
    metric: str = "euclidean",
    algorithm: str = "auto",
    known: Callable[[], Distances] | None = None,
) -> tuple[np.ndarray, np.ndarray, float | None]:
    """Indices (n, k) and squared distances of the k nearest rows, and the recall if they are approximate.

    ``known()`` gives the distances between the rows of X under the metric, if they are stored.

    Identical rows are searched once. "auto" is exact up to 50,000 different dense rows. With more rows it is exact if a
    tree is fast, if numba is not installed, or if an approximate search would be slower. For sparse rows it is exact up
    to 12,000 rows or 2e10 products of stored values. For a source it is exact up to 20,000 rows and 16 passes;
    a small sparse source is read and searched like an array.
    """
    if isinstance(X, Source):
        if not (X.sparse and X.small):
            return _find_in_source(SourceDistances(X, metric), k, algorithm)
        X, known = sp.csc_array(X[:, :], dtype=np.float64), None
    sparse, rows = is_sparse(X), cast("Any", X)
    if X.shape[0] >= (_MANY_SPARSE_ROWS if sparse else _MANY_ROWS):
        # The norms alone may show that most sparse rows are different.
        different = sparse and known is not None and 2 * len(np.unique(known().norms)) >= X.shape[0]
        first, group = (np.arange(X.shape[0]),) * 2 if different else different_rows(as_csr(rows) if sparse else rows)
        # Sparse rows are merged only if most are duplicates: otherwise nearly all would be tied candidates.
        if len(first) < (X.shape[0] / 2 if sparse else X.shape[0]):
            X = sp.csc_array(as_csr(rows)[first]) if sparse else rows[first]
            near, squared, recall = find_neighbors(X, min(k, len(first) - 1), metric, algorithm)
            return (*_for_all_rows(near, squared, group, k), recall)
    distances = row_distances(X, metric) if known is None else known()
    usable = (algorithm == "approximate" or (algorithm == "auto" and takes_long(distances))) and approximate.available()
    if algorithm == "approximate" and not usable:
        raise ImportError("algorithm='approximate' needs numba: pip install 'fiedler[fast]', or use 'exact'.")
    if algorithm != "approximate" and isinstance(distances, DenseDistances) and distances.few_columns:
        tree = Tree(distances, k)
        if tree.crowd() < (_CROWD if usable else distances.n / _CROWDED):
            return (*tree.search(), None)
    found = approximate.search(distances, k, or_exact=algorithm == "auto") if usable else None
    return (*nearest_rows(distances, k), None) if found is None else found


def takes_long(distances: Distances) -> bool:
    """Whether an exact search may take long."""
    if isinstance(distances, SparseDistances):
        return distances.n > _EXACT_SPARSE and distances.cost > _PRODUCTS
    return distances.n > _EXACT_UP_TO


def _for_all_rows(found: np.ndarray, squared: np.ndarray, group: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Neighbours among all rows, from the neighbours among different rows, by distance and then by index."""
    n, n_groups = len(group), len(found)
    order = np.argsort(group, kind="stable")
    sizes = np.bincount(group)
    starts = np.cumsum(sizes) - sizes
    # Only the first k + 1 members of a group can be neighbours; a group of this size needs no other groups.
    own = np.arange(n_groups)
    near = np.column_stack([own, found])
    usable = np.minimum(sizes[near], k + 1)
    usable[sizes > k, 1:] = 0
    total = usable.sum(axis=1)
    owner = np.repeat(own, total)
    flat, counts = near.ravel(), usable.ravel()
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    member = order[np.repeat(starts[flat], counts) + within]
    distance = np.repeat(np.column_stack([np.zeros(n_groups), squared]).ravel(), counts)
    by = np.lexsort((member, tie_levels(distance, owner)))
    member, distance = member[by], distance[by]
    place = np.arange(len(owner)) - np.repeat(np.cumsum(total) - total, total)
    top_member, top_distance = np.full((n_groups, k + 1), -1), np.zeros((n_groups, k + 1))
    kept = place <= k
    top_member[owner[kept], place[kept]], top_distance[owner[kept], place[kept]] = member[kept], distance[kept]
    # Each row gets the list of its group without itself, or without the last if it is not among the first k + 1.
    keep = top_member[group] != np.arange(n)[:, None]
    keep[keep.all(axis=1), -1] = False
    return top_member[group][keep].reshape(n, k), top_distance[group][keep].reshape(n, k)


def _find_in_source(distances: SourceDistances, k: int, algorithm: str) -> tuple[np.ndarray, np.ndarray, float | None]:
    """As find_neighbors, for a source: few rows are searched exactly, many rows by a sketch in float32.

    Each block of distances is a pass over the data. Candidates are the neighbours in the sketch (a random projection of
    long dense rows). One more pass chooses among them by true distances, and another pass measures the recall on a
    sample. Long sparse rows have a sketch of their own.
    """
    n = distances.n
    if algorithm == "exact" or (algorithm == "auto" and n <= _EXACT_FROM_FILES and distances.n_passes <= _PASSES):
        return (*nearest_rows(distances, k), None)
    if distances.source.sparse and distances.m > SKETCH:
        return approximate.search_source(distances, k)
    sketch = distances.sketch()
    projected = sketch.shape[1] < distances.m
    wanted = min(n - 1, max(k, min(3 * k + 20, _CANDIDATES // n)) if projected else k)
    candidates, _, recall = find_neighbors(sketch, wanted, "euclidean", "auto")
    del sketch  # frees its memory
    squared = distances.between(np.repeat(np.arange(n), wanted), candidates.ravel()).reshape(n, wanted)
    if projected:
        chosen = np.lexsort((candidates, squared), axis=1)[:, :k]
        candidates, squared = (np.take_along_axis(values, chosen, axis=1) for values in (candidates, squared))
        sample, exact = approximate.sampled(distances, k, np.random.default_rng(0), len(distances.row_blocks()[0]))
        recall = approximate.share_found(candidates[sample], exact)
    return candidates, squared, 1.0 if recall is None else recall


def nearest_rows(distances: Distances, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices (n, k) of the k nearest neighbours of each row, unordered, and their squared distances."""
    _, j, squared, _ = _search(distances, [np.arange(distances.n)], np.zeros(distances.n, dtype=np.intp), k)
    return j.reshape(distances.n, k), squared.reshape(distances.n, k)


def nearest_in_groups(distances: Distances, groups: np.ndarray, k: int) -> tuple[np.ndarray, ...]:
    """Arrays ``(i, j, squared distance, group)``: j is one of the k members of the group nearest to i, except i itself.

    If a group has fewer than k members besides the row itself, all are used. Rows of group -1 are left out.
    """
    members = [np.flatnonzero(groups == g) for g in range(groups.max() + 1)]
    found = _search(distances, members, groups, k)
    asked = groups[found[0]] >= 0
    return found if asked.all() else tuple(part[asked] for part in found)


def _search(
    distances: Distances, members: list[np.ndarray], own: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The k nearest members of every group for every row, as arrays (i, j, squared distance, group) sorted by i."""
    blocks = distances.row_blocks()
    if distances.single:
        some = blocks[0][:64]
        if len(_candidates(distances, some, members, own, k)[0]) > len(some) * (4 * k + 32) * len(members):
            distances = distances.in_double()  # single precision does not separate these rows
            blocks = distances.row_blocks()
    found: list[tuple[np.ndarray, ...]] = [()] * len(blocks)

    def collect(b: int) -> None:
        found[b] = _candidates(distances, blocks[b], members, own, k)

    for_each(collect, range(len(blocks)), distances.shared_work, "neighbours")
    joined = found[0] if len(found) == 1 else tuple(np.concatenate(part) for part in zip(*found, strict=True))
    i, j, squared, group, surplus = joined
    squared = distances.refine(i, j, squared, surplus)
    if surplus.any():
        some = np.flatnonzero(surplus)
        kept = np.flatnonzero(~surplus)
        kept = np.sort(np.r_[kept, some[closest(i[some], j[some], squared[some], group[some], k)]])
        i, j, squared, group = i[kept], j[kept], squared[kept], group[kept]
    return i, j, squared, group


def _candidates(
    distances: Distances, rows: np.ndarray, members: list[np.ndarray], own: np.ndarray, k: int
) -> tuple[np.ndarray, ...]:
    """(i, j, approximate squared distance, group, surplus) of all candidates for the k nearest of a group."""
    key = distances.block(rows)
    a, b = distances.bound[rows], distances.bound
    parts = []
    for group, columns in enumerate(members):
        part = key if len(columns) == distances.n else key[:, columns]
        # If a group has at most k members besides the row itself, which is at inf, all are used.
        few = k >= len(columns) - (own[rows] == group)
        if few.all():
            local, column = np.nonzero(np.isfinite(part))
        else:
            local, column = within_reach(part, a, b[columns], k, distances.exact)
            if few.any():
                rest = ~few[local]
                more = np.nonzero(np.isfinite(part) & few[:, None])
                local, column = np.r_[local[rest], more[0]], np.r_[column[rest], more[1]]
        surplus = (np.bincount(local, minlength=len(rows)) > k)[local]
        squared = distances.from_key(rows[local], part[local, column])
        parts.append((rows[local], columns[column], squared, np.full(len(local), group), surplus))
    if len(parts) == 1:
        return parts[0]
    merged = tuple(np.concatenate(part) for part in zip(*parts, strict=True))
    by_row = np.argsort(merged[0], kind="stable")
    return tuple(part[by_row] for part in merged)


def nearest_on_line(values: np.ndarray, k: int) -> np.ndarray:
    """Indices (n, k) of the k nearest numbers to each number, equal distances by index, in O(n k log n).

    Numbers that differ by rounding only count as equal, so that adding a constant changes nothing. Only the k + 1
    smallest indices in a group of equal numbers can be neighbours. After the others are removed, a window of a few k
    positions around each number in the sorted order contains all candidates.
    """
    n, slack = len(values), TIED * float(np.ptp(values))
    order = np.lexsort((np.arange(n), values))
    in_order = values[order]
    group = np.cumsum(np.r_[0, np.diff(in_order) > slack])
    starts = np.flatnonzero(np.r_[True, np.diff(group) > 0])
    values = np.empty(n)
    values[order] = in_order[starts][group]  # one number for each group
    order = np.lexsort((np.arange(n), values))
    thin = order[np.arange(n) - starts[group] <= k]
    reach = 2 * (k + 1)
    window = np.searchsorted(values[thin], values)[:, None] + np.arange(-reach, reach + k + 1)
    inside = (window >= 0) & (window < len(thin))
    candidates = np.where(inside, thin[np.clip(window, 0, len(thin) - 1)], n)
    distance = np.abs(values[np.minimum(candidates, n - 1)] - values[:, None])
    distance[~inside | (candidates == np.arange(n)[:, None])] = np.inf
    return np.take_along_axis(candidates, closest_in_rows(candidates, distance, k, slack), axis=1)


def undirected(neighbors: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each edge {i, j} of a neighbour table once, with i < j, and its first position in the table."""
    n, k = neighbors.shape
    i, j = np.repeat(np.arange(n), k), neighbors.ravel()
    key, first = np.unique(np.minimum(i, j) * n + np.maximum(i, j), return_index=True)
    return key // n, key % n, first


# -------------------------------------------------------------------- few columns


class Tree:
    """Exact neighbours of rows with few columns, by a k-d tree.

    A tree finds neighbours only by distance. If the row after the k-th is not farther than the k-th, more rows are
    requested until all tied rows are found. The choice among them is the same as in other searches. The cost is
    estimated on a few rows: it is about that of visiting each row in the cube around the ball of the k nearest rows. In
    three columns the cube contains about 2 k rows, in sixteen columns of noise nearly all rows.
    """

    def __init__(self, distances: DenseDistances, k: int):
        from scipy.spatial import cKDTree

        self.distances, self.k = distances, k
        self._wanted = k + 2  # the row itself, its neighbours and one more row
        self._rows = np.ascontiguousarray(distances._X, dtype=np.float64)
        self._tree = cKDTree(self._rows, balanced_tree=False)  # a balanced tree is slow to build if values repeat

    def crowd(self) -> float:
        """Mean number of rows in the cube around a row that contains its k nearest, over some rows.

        The same rows show whether ties are so frequent that more neighbours are requested from the start.
        """
        n = self.distances.n
        some = self._rows[np.sort(np.random.default_rng(0).choice(n, min(n, _TRIED), replace=False))]
        radius, further = np.asarray(self._tree.query(some, [self.k + 1, self.k + 2], workers=n_threads())[0]).T
        if np.mean(further <= (1.0 + _NEARLY) * radius) > _OFTEN:
            self._wanted = 2 * (self.k + 1)
        counts = self._tree.query_ball_point(some, radius, p=np.inf, return_length=True, workers=n_threads())
        return float(np.mean(counts))

    def search(self) -> tuple[np.ndarray, np.ndarray]:
        """Indices (n, k) of the k nearest of every row, ascending, and their squared distances."""
        n, k = self.distances.n, self.k
        near, squared = np.empty((n, k), dtype=np.intp), np.empty((n, k))
        left, wanted = np.arange(n), self._wanted
        while len(left):
            wanted = min(wanted, n)
            step, unsettled = max(1, _AT_ONCE // wanted), []
            for start in range(0, len(left), step):
                rows = left[start : start + step]
                settled, *found = self._ask(rows, wanted)
                near[rows[settled]], squared[rows[settled]] = found
                unsettled.append(rows[~settled])
            left, wanted = np.concatenate(unsettled), _WIDER * wanted
        return near, squared

    def _ask(self, rows: np.ndarray, wanted: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mask of the rows for which ``wanted`` neighbours are enough, and their k nearest with squared distances."""
        k = self.k
        asked = self._tree.query(self._rows[rows], wanted, workers=n_threads())
        found = np.asarray(asked[1])
        keep = found != rows[:, None]
        keep[keep.all(axis=1), -1] = False  # duplicates of a row displaced it from its own list
        found = found[keep].reshape(len(found), -1)
        squared = self.distances.between(np.repeat(rows, wanted - 1), found.ravel()).reshape(found.shape)
        kth, last = np.partition(squared, k - 1, axis=1)[:, k - 1], squared.max(axis=1)
        settled = (last > (1.0 + _NEARLY) * kth) | (wanted == self.distances.n)
        found, squared = found[settled], squared[settled]
        clear = squared[:, k:].min(axis=1, initial=np.inf) > (1.0 + _NEARLY) * squared[:, :k].max(axis=1)
        near, short = found[:, :k].copy(), squared[:, :k].copy()
        if not clear.all():  # several rows at the distance of the k-th
            some = np.flatnonzero(~clear)
            kept = closest_in_rows(found[some], squared[some], k)
            near[some], short[some] = (np.take_along_axis(part[some], kept, axis=1) for part in (found, squared))
        order = np.argsort(near, axis=1)
        return settled, np.take_along_axis(near, order, axis=1), np.take_along_axis(short, order, axis=1)
