"""The k smallest keys of a row: candidates if keys have a known error, and the choice among candidates."""

from __future__ import annotations

import numpy as np

from .threads import batches

TIED = 2.0**-40  # distances with a smaller relative difference are ties
_GROUP = 8  # columns that share a minimum
_AT_ONCE = 2**17  # number of keys processed at a time; arrays of flags for them need no new memory


def within_reach(key: np.ndarray, a: np.ndarray, b: np.ndarray, k: int, exact: bool) -> tuple[np.ndarray, np.ndarray]:
    """(row, column) of the entries that may be among the k smallest of their row if their error is at most a_i + b_j.

    Exact keys have no error, and give the k smallest, with ties by index. Few rows are looked at together, so that all
    arrays stay in the cache.
    """
    parts = batches(max(len(key), 1), max(1, _AT_ONCE // max(key.shape[1], 1)))
    if len(parts) > 1:
        found_in = [within_reach(key[part], a[part], b, k, exact) for part in parts]
        rows = [row + part.start for part, (row, _) in zip(parts, found_in, strict=True)]
        return np.concatenate(rows), np.concatenate([column for _, column in found_in])
    (n, width), a, b = key.shape, a.astype(key.dtype), b.astype(key.dtype)
    size = width // _GROUP
    if size < 2 * k:
        kth = np.partition(key + b, k - 1, axis=1)[:, k - 1]
        row, column = np.divmod(np.flatnonzero(key - b <= (kth + a + a)[:, None]), width)
    else:
        # The k-th smallest minimum of groups is a bound that k values, and usually not many more, do not exceed. The
        # largest b_j gives a weaker limit for all columns at once, which saves passes over the keys.
        minima = key[:, : _GROUP * size].reshape(n, _GROUP, size).min(axis=1)
        limit = np.partition(minima, k - 1, axis=1)[:, k - 1] + 2.0 * (a + b.max())
        row, column = np.divmod(np.flatnonzero(key <= limit.astype(key.dtype)[:, None]), width)
        few, b = key[row, column], b[column]
        counts = np.bincount(row, minlength=n)
        upper = np.full((n, int(counts.max(initial=k))), np.inf, dtype=key.dtype)
        upper[row, np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)] = few + b
        # A row whose lower bound exceeds the k-th smallest upper bound is not a neighbour.
        kth = np.partition(upper, k - 1, axis=1)[:, k - 1]
        kept = few - b <= (kth + a + a)[row]
        row, column = row[kept], column[kept]
    if exact:  # equal keys go to the smaller index
        tied = key[row, column] == kth[row]
        before, counts = np.cumsum(tied) - tied, np.bincount(row, minlength=n)
        wanted = k - counts + np.bincount(row[tied], minlength=n)
        first = np.r_[before, 0][np.cumsum(counts) - counts]
        kept = ~tied | (before - first[row] < wanted[row])
        row, column = row[kept], column[kept]
    return row, column


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
