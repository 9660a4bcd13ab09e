"""Rows that occur several times are searched once: the different ones, and neighbours of all from those of these."""

from __future__ import annotations

import numpy as np

_AT_ONCE = 2**18  # values whose bits are mixed together
_SPREAD = np.int64(0x1E3779B97F4A7C15)  # odd, with bits all over


def different_rows(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First occurrence of every different row, in order, and which of them each row equals."""
    marks = _marks(X)
    _, first, group = np.unique(marks, return_index=True, return_inverse=True)
    if not _all_equal(X, first[group]):  # two different rows with one mark: once in 10^19 pairs
        rows = np.ascontiguousarray(X).view(np.dtype((np.void, X.shape[1] * X.itemsize))).ravel()
        _, first, group = np.unique(rows, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(first), dtype=np.intp)
    rank[order] = np.arange(len(first))
    return first[order], rank[group.ravel()]


def _marks(X: np.ndarray) -> np.ndarray:
    """A number per row that is the same for the same values, and hardly ever for others."""
    factors = 2 * np.random.default_rng(0).integers(2**62, size=X.shape[1], dtype=np.int64) + 1
    marks, step = np.empty(len(X), dtype=np.int64), max(1, _AT_ONCE // max(X.shape[1], 1))
    for start in range(0, len(X), step):
        bits = np.array(X[start : start + step], dtype=np.float64, order="C").view(np.int64)
        for shift in (32, 29):  # whole numbers differ in their upper bits alone: spread them before they are added
            bits ^= bits >> shift
            bits *= _SPREAD
        marks[start : start + step] = (bits * factors).sum(axis=1)
    return marks


def _all_equal(X: np.ndarray, twins: np.ndarray) -> bool:
    """Whether each row has the values of its twin."""
    other = np.flatnonzero(twins != np.arange(len(X)))
    step = max(1, _AT_ONCE // max(X.shape[1], 1))
    parts = (other[start : start + step] for start in range(0, len(other), step))
    return all(bool((X[part] == X[twins[part]]).all()) for part in parts)


def expand(found: np.ndarray, squared: np.ndarray, group: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Neighbours among all rows from the neighbours among the different ones: by distance, then by index."""
    n, n_groups = len(group), len(found)
    order = np.argsort(group, kind="stable")
    sizes = np.bincount(group)
    starts = np.cumsum(sizes) - sizes
    # Only the k + 1 first members of a group can be anyone's neighbours, and of a group that large only its own.
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
    by = np.lexsort((member, distance, owner))
    member, distance = member[by], distance[by]
    place = np.arange(len(owner)) - np.repeat(np.cumsum(total) - total, total)
    top_member, top_distance = np.full((n_groups, k + 1), -1), np.zeros((n_groups, k + 1))
    kept = place <= k
    top_member[owner[kept], place[kept]], top_distance[owner[kept], place[kept]] = member[kept], distance[kept]
    # Each row takes the list of its group without itself, or without the last where it is not among the first k + 1.
    keep = top_member[group] != np.arange(n)[:, None]
    keep[keep.all(axis=1), -1] = False
    return top_member[group][keep].reshape(n, k), top_distance[group][keep].reshape(n, k)
