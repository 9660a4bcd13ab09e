"""The k smallest keys of a row: candidates if keys have a known error, and the choice among candidates."""

from __future__ import annotations

import numpy as np

from .compiled import kernels

TIED = 2.0**-40  # distances with a smaller relative difference are ties
_GROUP = 8  # columns that share a minimum
_AT_ONCE = 2**17  # number of keys processed at a time without the compiler; arrays of flags for them need no new memory


def within_reach(
    key: np.ndarray, a: np.ndarray, b: np.ndarray, k: int, exact: bool, n_rows: int | None = None
) -> tuple[np.ndarray, ...]:
    """(row, column) of the entries that may be among the k smallest of their row if their error is at most a_i + b_j.

    ``n_rows`` is the total number of rows if this is one block of them.
    """
    compiled = kernels(8.0 * (n_rows or len(key)) * key.shape[1])
    if compiled is not None:
        found, count = np.empty((len(key), 4 * k + 32), dtype=np.intp), np.empty(len(key), dtype=np.intp)
        compiled.within_reach(key, a, b, k, exact, np.empty(k), found, count)
        if count.max(initial=0) <= found.shape[1]:
            local, place = np.nonzero(np.arange(found.shape[1]) < count[:, None])
            return local, found[local, place]
    step = max(1, _AT_ONCE // max(key.shape[1], 1))
    starts = range(0, max(len(key), 1), step)
    parts = [_plainly(key[start : start + step], a[start : start + step], b, k, exact) for start in starts]
    if len(parts) == 1:
        return parts[0]
    rows = [row + start for start, (row, _) in zip(starts, parts, strict=True)]
    return np.concatenate(rows), np.concatenate([column for _, column in parts])


def _plainly(key: np.ndarray, a: np.ndarray, b: np.ndarray, k: int, exact: bool) -> tuple[np.ndarray, ...]:
    """As within_reach, in NumPy, for few rows at a time, so that all arrays stay in the cache."""
    if exact:
        threshold = _kth_smallest(key, k)
        less, tied = key < threshold, key == threshold
        wanted = k - less.sum(axis=1)
        over = np.flatnonzero(tied.sum(axis=1) > wanted)
        if len(over):  # equal distances go to the smaller index
            tied[over] &= np.cumsum(tied[over], axis=1) <= wanted[over, None]
        return np.divmod(np.flatnonzero(less | tied), key.shape[1])
    # A row whose lower bound exceeds the k-th smallest upper bound is not a neighbour.
    a, b = a.astype(key.dtype)[:, None], b.astype(key.dtype)
    bound = _at_least_kth(key, k)
    if bound is None:
        kth = np.partition(key + b, k - 1, axis=1)[:, k - 1 : k]
        return np.divmod(np.flatnonzero(key - b <= kth + a + a), key.shape[1])
    # The largest b_j gives a weaker limit for all columns at once, which saves passes over the keys.
    row, column = np.divmod(np.flatnonzero(key <= bound + 2.0 * (a + b.max())), key.shape[1])
    few, b = key[row, column], b[column]
    kth = _kth_of_few(row, few + b, len(key), k)
    kept = few - b <= (kth + a + a)[row, 0]
    return row[kept], column[kept]


def _kth_smallest(values: np.ndarray, k: int) -> np.ndarray:
    """The k-th smallest value of each row, as a column."""
    bound = _at_least_kth(values, k)
    if bound is None:
        return np.partition(values, k - 1, axis=1)[:, k - 1 : k]
    row, column = np.divmod(np.flatnonzero(values <= bound), values.shape[1])
    return _kth_of_few(row, values[row, column], len(values), k)


def _at_least_kth(values: np.ndarray, k: int) -> np.ndarray | None:
    """A bound for each row that at least k of its values, and usually not many more, do not exceed.

    It is the k-th smallest of minima over groups of columns. The few values up to this bound are partitioned several
    times faster than whole rows. None if a row has too few columns.
    """
    size = values.shape[1] // _GROUP
    if size < 2 * k:
        return None
    minima = values[:, : _GROUP * size].reshape(len(values), _GROUP, size).min(axis=1)
    return np.partition(minima, k - 1, axis=1)[:, k - 1 : k]


def _kth_of_few(row: np.ndarray, values: np.ndarray, n_rows: int, k: int) -> np.ndarray:
    """The k-th smallest value of each row, as a column, from some values, sorted by row and at least k of each row."""
    counts = np.bincount(row, minlength=n_rows)
    few = np.full((n_rows, int(counts.max(initial=k))), np.inf, dtype=values.dtype)
    few[row, np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)] = values
    return np.partition(few, k - 1, axis=1)[:, k - 1 : k]


def closest(i: np.ndarray, j: np.ndarray, squared: np.ndarray, group: np.ndarray, k: int) -> np.ndarray:
    """Positions of the candidates (i, j) that are the k nearest of row i in a group, sorted by i; ties by smaller j."""
    unit = i * (int(group.max(initial=0)) + 1) + group
    order = np.lexsort((j, tie_levels(squared, unit)))
    start = np.flatnonzero(np.r_[True, np.diff(unit[order]) != 0])
    place = np.arange(len(order)) - np.repeat(start, np.diff(np.r_[start, len(order)]))
    return order[place < k]


def closest_in_rows(j: np.ndarray, squared: np.ndarray, k: int, slack: float = 0.0) -> np.ndarray:
    """Positions (n, k) of the k nearest among w candidates j of each row (n, w); ties go to the smaller j."""
    row = np.repeat(np.arange(len(j)), j.shape[1])
    level = tie_levels(squared.ravel(), row, slack).reshape(j.shape)
    return np.lexsort((j, level), axis=1)[:, :k]


def tie_levels(distance: np.ndarray, row: np.ndarray, slack: float = 0.0) -> np.ndarray:
    """Numbers that order distances by row and then by size; distances of a row that count as equal share a number.

    Distances that differ by less than twelve digits, or by less than ``slack``, are ties: such a difference depends on
    the order of summation. This is the only place with this rule; ties then go to the smaller index.
    """
    order = np.lexsort((distance, row))
    sorted_distance, sorted_row = distance[order], row[order]
    farther = sorted_distance[1:] > (1.0 + TIED) * sorted_distance[:-1] + slack
    level = np.empty(len(order), dtype=np.intp)
    level[order] = np.cumsum(np.r_[0, farther | (sorted_row[1:] != sorted_row[:-1])][: len(order)])
    return level
