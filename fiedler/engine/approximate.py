"""Approximate nearest neighbours for many rows: rows are grouped into cells, and only the nearest cells are searched.

The rows of a cell are adjacent in memory and are searched one after the other, because they need the same cells. The
number of cells to search is measured: the true neighbours of a sample of rows show which share of them lies in the 1,
2, 3, ... nearest cells. If rows are nearly equidistant, as in noise, nearly all cells are needed, and an exact search
is faster. If an exact search would take too long as well, the search is limited to some minutes of work, and the recall
on the sample is reported. Other index libraries that were compared are slower at equal recall (benchmarks/PROFILE.md).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .assignment import k_means
from .compiled import load
from .smallest import within_reach
from .threads import for_each

_WANTED_RECALL = 0.99  # recall on the sample, which gives at least 0.98 on the rest
_SAMPLE = 256
_CELLS = 2.0  # number of cells, in units of the square root of the number of rows
_ROUNDS, _ROWS_PER_CELL = 4, 40  # iterations of the k-means that finds the cells, and its rows per cell
_WIDER = 24  # this many times more cells around a cell contain the nearest cells of all its rows
_WORK = 1e12  # largest number of compared values, for any recall: some minutes on two cores
_BRUTE_FORCE = 0.2  # with a larger share of the cells, an exact search by matrix products is faster
_AT_ONCE = 2**20  # number of distances to centres in memory at a time


def available() -> bool:
    """Whether the compiler is installed; without it an exact search is faster."""
    return load() is not None


def search(X: np.ndarray, k: int, or_exact: bool = False) -> tuple[np.ndarray, float] | None:
    """Indices (n, k) of approximate nearest neighbours of the rows of a float32 X, self excluded, and their recall.

    With ``or_exact`` the result is None if an exact search is faster.
    """
    n, m = X.shape
    rng = np.random.default_rng(0)
    cells = Cells(X, max(1, min(n // 2, int(_CELLS * np.sqrt(n)))), rng)
    sample = np.sort(rng.choice(n, min(n, _SAMPLE), replace=False))
    exact = _true_neighbors(X, sample, k)
    affordable = max(4, int(cells.number * _WORK / (float(n) * n * m)))
    around = min(cells.needed(X, sample, exact), affordable)
    if or_exact and around > _BRUTE_FORCE * cells.number:
        return None
    found = cells.search(X, k, around)
    return found, share_found(found[sample], exact)


def share_found(found: np.ndarray, exact: np.ndarray) -> float:
    """The recall: which share of the true neighbours (rows, k) was found."""
    return float(np.mean([len(np.intersect1d(a, b)) for a, b in zip(found, exact, strict=True)])) / exact.shape[1]


class Cells:
    """Rows grouped around centres."""

    def __init__(self, X: np.ndarray, number: int, rng: np.random.Generator):
        some = np.sort(rng.choice(len(X), min(len(X), _ROWS_PER_CELL * number), replace=False))
        self.number, self.centres = number, _centres(X[some], number)
        self.of_row = _nearest_centre(X, self.centres)
        self.order = np.argsort(self.of_row, kind="stable")  # the rows, cell by cell
        self.starts = np.searchsorted(self.of_row, np.arange(number + 1), sorter=self.order)
        self.sizes = np.diff(self.starts)

    def needed(self, X: np.ndarray, rows: np.ndarray, neighbors: np.ndarray) -> int:
        """Number of nearest cells of a row that contain enough of its neighbours."""
        key, rank = _half_distances(X[rows], self.centres), np.empty((len(rows), self.number), dtype=np.intp)
        np.put_along_axis(rank, np.argsort(key, axis=1), np.arange(self.number)[None], axis=1)
        found_at = np.sort(np.take_along_axis(rank, self.of_row[neighbors], axis=1), axis=None)
        return int(found_at[int(np.ceil(_WANTED_RECALL * len(found_at))) - 1]) + 1

    def search(self, X: np.ndarray, k: int, n_around: int) -> np.ndarray:
        """The k nearest rows of every row among the rows in its ``n_around`` nearest cells."""
        compiled, found = load(), np.empty((len(X), k), dtype=np.intp)
        Y = X[self.order]  # rows of a cell are adjacent in memory

        def work(cell: int) -> None:
            first, stop = self.starts[cell], self.starts[cell + 1]
            near = self._around(cell, min(_WIDER * n_around, self.number), k + 1)
            key = _half_distances(Y[first:stop], self.centres[near])
            asked = smallest(key, min(n_around, len(near)))
            if self.sizes[near[asked]].sum(axis=1).min() <= k:
                asked = np.tile(np.arange(len(near)), (stop - first, 1))
            bounds = np.r_[0, np.cumsum(np.bincount(asked.ravel(), minlength=len(near)))]
            askers = np.argsort(asked, axis=None, kind="stable") // asked.shape[1]
            apart = np.full((stop - first, k), np.inf, dtype=np.float32)
            places = np.zeros(apart.shape, dtype=np.intp)
            compiled.scan_cells(Y, first, near, bounds, askers, self.starts, apart, places)
            found[self.order[first:stop]] = self.order[places]

        for_each(work, np.flatnonzero(self.sizes), np.inf, "neighbours")
        return found

    def _around(self, cell: int, n_around: int, at_least: int) -> np.ndarray:
        """The cells nearest to a cell, itself first; more cells if they contain too few rows.

        They are sorted by distance, so that rows in late cells are rarely closer than the rows already found.
        """
        key = _half_distances(self.centres[cell : cell + 1], self.centres)[0]
        key[cell] = -np.inf
        while n_around < self.number:
            near = np.argpartition(key, n_around - 1)[:n_around]
            if self.sizes[near].sum() >= at_least:
                return near[np.argsort(key[near])]
            n_around *= 2
        return np.argsort(key)


def smallest(key: np.ndarray, k: int) -> np.ndarray:
    """Columns (n, k) of the k smallest keys of each row."""
    none = np.zeros(len(key)), np.zeros(key.shape[1])
    return within_reach(key, *none, k, True)[1].reshape(len(key), k)


def _centres(rows: np.ndarray, number: int) -> np.ndarray:
    """Centres of ``number`` groups of rows."""
    some, ones = rows[np.linspace(0, len(rows) - 1, number).astype(np.intp)], np.ones(len(rows), dtype=np.float32)
    return k_means(rows, some, lambda centres: _nearest_centre(rows, centres), _ROUNDS, ones)[0].astype(np.float32)


def _nearest_centre(rows: np.ndarray, centres: np.ndarray) -> np.ndarray:
    near, step = np.empty(len(rows), dtype=np.intp), max(1, _AT_ONCE // len(centres))

    def work(start: int) -> None:
        near[start : start + step] = np.argmin(_half_distances(rows[start : start + step], centres), axis=1)

    for_each(work, range(0, len(rows), step), np.inf, "centres")
    return near


def _half_distances(rows: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Half the squared distances between rows and centres, up to a constant per row."""
    key: Any = rows @ centres.T
    return np.subtract(np.einsum("ij,ij->i", centres, centres) / 2.0, key, out=key)


def _true_neighbors(X: np.ndarray, rows: np.ndarray, k: int) -> np.ndarray:
    """The k nearest neighbours of some rows among all rows, in double precision, by pieces of X."""
    best, key = np.zeros((len(rows), 0), dtype=np.intp), np.zeros((len(rows), 0))
    V, step = X[rows].astype(np.float64), max(k + 1, 2**20 // len(rows))
    for start in range(0, len(X), step):
        piece = X[start : start + step].astype(np.float64)
        part = _half_distances(V, piece)
        inside = np.flatnonzero((rows >= start) & (rows < start + len(piece)))
        part[inside, rows[inside] - start] = np.inf
        key, best = np.c_[key, part], np.c_[best, np.broadcast_to(np.arange(start, start + len(piece)), part.shape)]
        kept = smallest(key, min(k, key.shape[1]))
        key, best = np.take_along_axis(key, kept, axis=1), np.take_along_axis(best, kept, axis=1)
    return best
