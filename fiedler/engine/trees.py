"""Exact neighbours of rows with few columns, by a k-d tree.

A tree finds neighbours only by distance. If the row after the k-th is not farther than the k-th, more rows are
requested until all tied rows are found. The choice among them is the same as in other searches: by distances from
differences of values, with ties by the smaller index.

The cost of a search is estimated on a few rows: it is about that of visiting each row in the cube around the ball of
the k nearest rows. In three columns the cube contains about 2 k rows, in sixteen columns of noise nearly all rows.
"""

from __future__ import annotations

import numpy as np

from .dense import DenseDistances
from .smallest import closest_in_rows
from .threads import n_threads

_TRIED = 64  # number of rows for the estimate
_OFTEN = 0.1  # with a larger share of ties at the last neighbour, more rows are requested from the start
_WIDER = 4  # factor for the number of requested rows if too many are tied
_AT_ONCE = 2**18  # number of neighbours per request; Ctrl-C is handled between requests
_TIED = 1e-9  # squared distances with a larger relative difference need no second check


class Tree:
    """A k-d tree over rows whose distances are Euclidean."""

    def __init__(self, distances: DenseDistances, k: int):
        from scipy.spatial import cKDTree

        self._distances, self._k = distances, k
        self._wanted = k + 2  # the row itself, its neighbours and one more row
        self._rows = distances.values()
        self._tree = cKDTree(self._rows, balanced_tree=False)  # a balanced tree is slow to build if values repeat

    def crowd(self) -> float:
        """Mean number of rows in the cube around a row that contains its k nearest, over some rows.

        The same rows show whether ties are so frequent that more neighbours are requested from the start.
        """
        n = self._distances.n
        some = self._rows[np.sort(np.random.default_rng(0).choice(n, min(n, _TRIED), replace=False))]
        radius, further = np.asarray(self._tree.query(some, [self._k + 1, self._k + 2], workers=n_threads())[0]).T
        if np.mean(further <= (1.0 + _TIED) * radius) > _OFTEN:
            self._wanted = 2 * (self._k + 1)
        counts = self._tree.query_ball_point(some, radius, p=np.inf, return_length=True, workers=n_threads())
        return float(np.mean(counts))

    def search(self) -> tuple[np.ndarray, np.ndarray]:
        """Indices (n, k) of the k nearest of every row, ascending, and their squared distances."""
        n, k = self._distances.n, self._k
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
        k = self._k
        asked = self._tree.query(self._rows[rows], wanted, workers=n_threads())
        found = _without_self(np.asarray(asked[1]), rows)
        squared = self._distances.between(np.repeat(rows, wanted - 1), found.ravel()).reshape(found.shape)
        kth, last = np.partition(squared, k - 1, axis=1)[:, k - 1], squared.max(axis=1)
        settled = (last > (1.0 + _TIED) * kth) | (wanted == self._distances.n)
        found, squared = found[settled], squared[settled]
        clear = squared[:, k:].min(axis=1, initial=np.inf) > (1.0 + _TIED) * squared[:, :k].max(axis=1)
        near, short = found[:, :k].copy(), squared[:, :k].copy()
        if not clear.all():  # several rows at the distance of the k-th
            some = np.flatnonzero(~clear)
            kept = closest_in_rows(found[some], squared[some], k)
            near[some], short[some] = (np.take_along_axis(part[some], kept, axis=1) for part in (found, squared))
        order = np.argsort(near, axis=1)
        return settled, np.take_along_axis(near, order, axis=1), np.take_along_axis(short, order, axis=1)


def _without_self(found: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Drop each row from its own list, or the last entry if duplicates displaced it."""
    keep = found != rows[:, None]
    keep[keep.all(axis=1), -1] = False
    return found[keep].reshape(len(found), -1)
