"""Missing values: distances over the columns that two rows both know, and holes filled from the nearest rows.

    D²_ab = m · mean of (x_a - x_b)² over the features that both rows know; infinite if there are none
    x_aj  = mean of x_bj over the five nearest rows b that know column j        for every hole (a, j)

A first pass finds candidates for the nearest rows with matrix products, block by block. With H = 1 at holes and 0
elsewhere, and 0 in the holes of the centred X,

    Σ_{j known to a and b} (x_aj - x_bj)² = ‖x_a‖² + ‖x_b‖² - 2 x_a'x_b - (x_a²)'h_b - h_a'(x_b²)

The distances of the candidates are then computed again from differences of values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..data.columns import LEAST_KNOWN, Groups
from .products import budget
from .smallest import closest, closest_in_rows, tie_levels, within_reach
from .threads import batches, for_each

NEAREST = 5  # rows whose mean fills a hole
_SINGLE_PAYS = 1e9  # from this number of multiplications on, candidates are found in single precision
_SPARE = 16  # candidates beyond those that are expected to be needed
_RARE = 256  # a column known to fewer rows is filled by comparing its holes with just these rows
_AT_ONCE = 2**20  # values of candidates that are looked at together
_ERROR = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-13}  # of a squared distance, relative to the norms


def usable(X: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Masks of the rows that know a value of a column that varies, and of the columns with five known values."""
    columns = np.asarray(known.sum(axis=0) >= min(LEAST_KNOWN, len(known)))
    return np.asarray(known[:, columns & _varies(X)].any(axis=1)), columns


def _varies(X: np.ndarray) -> np.ndarray:
    """Mask of the columns that are not constant; a constant with holes varies."""
    return np.asarray(np.ptp(X, axis=0) != 0)


def filled(X: np.ndarray, known: np.ndarray, groups: Groups | None = None) -> np.ndarray:
    """A copy of X in float64, or float32 if X is, with every hole filled from the nearest rows that know the column."""
    varies = _varies(X)
    if groups is None and not varies.all():  # a constant says nothing about how far rows are apart
        whole = X.copy()
        whole[:, varies] = filled(X[:, varies], known[:, varies])
        return whole
    table = _Table(X, known, groups)
    rows = np.flatnonzero(table.holes.any(axis=1))
    if len(rows):
        table.with_candidates(rows, table.n_candidates, table.fill_rows)
    table.fill_rare()
    return table.result.astype(X.dtype if X.dtype in (np.float32, np.float64) else np.float64, copy=False)


def known_neighbors(
    X: np.ndarray, known: np.ndarray, k: int, groups: Groups | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edges (i, j, D²) to the k nearest rows by the distance over common columns, which reads no filled values."""
    return _Table(X, known, groups).nearest(k)


class _Table:
    """X with holes: centred values, 0 in holes, and the result that is filled row by row."""

    def __init__(self, X: np.ndarray, known: np.ndarray, groups: Groups | None):
        self.n, self.p = X.shape
        self.known = known
        values = np.where(known, X, 0.0).astype(np.float64)
        counts = known.sum(axis=0)
        reference = X[np.argmax(known, axis=0), np.arange(self.p)].astype(np.float64)
        values = np.where(known, values - reference, 0.0)  # a large offset would cost digits
        self.mean = values.sum(axis=0) / counts
        self.offset = reference
        self.centred = np.where(known, values - self.mean, 0.0)
        # A feature is the unit of the mean: a category with many levels counts as much as a number.
        self.features = known if groups is None else groups.mean(known.astype(np.float64))[:, groups.sizes > 0] >= 1.0
        self.rare = (counts < _RARE) & (self.n > _RARE)  # few rows are all compared with each other
        self.result = np.where(known, X, 0.0).astype(np.float64)
        self.holes = ~known & ~self.rare
        # How many nearest rows nearly always contain five that know a column.
        share = float(counts[~self.rare].min(initial=self.n)) / self.n
        self.n_candidates = self.n - 1 if self.n <= _RARE else int(min(self.n - 1, _SPARE + 2 * NEAREST / share))

    # ---------------------------------------------------------------- columns that many rows know

    def with_candidates(
        self, rows: np.ndarray, k: int, use: Callable[[np.ndarray, np.ndarray, np.ndarray], None]
    ) -> None:
        """``use(rows, place, near)`` for blocks of rows; near[c] may be one of the k nearest of row rows[place[c]]."""
        dtype: Any = np.float32 if float(len(rows)) * self.n * self.p >= _SINGLE_PAYS else np.float64
        scale = float(np.abs(self.centred).max(initial=0.0)) or 1.0
        C = (self.centred / scale).astype(dtype)
        some = ~self.known.all(axis=0)
        H, squares = (~self.known[:, some]).astype(dtype), C[:, some] ** 2
        norms, one = np.einsum("ij,ij->i", C, C)[:, None], np.ones((self.n, 1), dtype=dtype)
        left, right = np.hstack([-2.0 * C, -squares, -H, norms, one]), np.hstack([C, H, squares, one, norms])
        missing = (~self.features).astype(dtype)
        n_missing, most = missing.sum(axis=1, keepdims=True), self.features.shape[1]
        left_common = np.hstack([missing, most - n_missing, -one])
        right_common = np.hstack([missing, one, n_missing])
        step = max(1, min(1024, budget() // self.n))
        work = float(len(rows)) * self.n * self.p * 4.0

        def block(start: int) -> None:
            here = rows[start : start + step]
            key, common = left[here] @ right.T, left_common[here] @ right_common.T
            least = float(common.min())
            if least > 0.0:
                key /= common
            else:
                key = np.where(common > 0.0, key / np.maximum(common, 1.0), np.inf).astype(dtype)
            key[np.arange(len(here)), here] = np.inf
            error = _ERROR[np.dtype(dtype)] * 4.0 * float(norms.max(initial=0.0)) / max(least, 1.0)
            place, near = within_reach(key, np.full(len(here), error), np.zeros(self.n), k, False)
            met = np.isfinite(key[place, near])
            place, near = place[met], near[met]
            use(here, place, near)

        for_each(block, range(0, len(rows), step), work, "rows with missing values")

    def fill_rows(self, rows: np.ndarray, place: np.ndarray, near: np.ndarray) -> None:
        """Fill the holes of some rows; ``near[c]`` is a candidate for the neighbours of row ``rows[place[c]]``."""
        squared = self.between(rows[place], near)
        order = np.lexsort((near, tie_levels(squared, place)))
        order = order[np.isfinite(squared[order])]
        place, near = place[order], near[order]
        starts = np.searchsorted(place, np.arange(len(rows) + 1))
        within = np.arange(len(place)) - starts[place]
        listed = np.full((len(rows), int(np.diff(starts).max(initial=1))), -1)
        listed[place, within] = near
        which, columns = np.nonzero(self.holes[rows])
        step = max(1, _AT_ONCE // listed.shape[1])
        for start in range(0, len(which), step):
            part = slice(start, start + step)
            row, column = which[part], columns[part]
            found, lacking = self._means(listed[row], column)
            for at in np.flatnonzero(lacking):  # too few candidates know the column: all rows are asked
                others = np.delete(np.arange(self.n), rows[row[at]])
                squared = self.between(np.full(len(others), rows[row[at]]), others)
                order = np.lexsort((others, tie_levels(squared, np.zeros_like(others))))
                near = others[order][np.isfinite(squared[order])]
                found[at] = self._means(near[None], column[at : at + 1])[0][0]
            self.result[rows[row], column] = found

    def _means(self, near: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For each hole in one of some columns the mean over the first five of its rows that know this column.

        ``near`` has one row per hole, the nearest rows first, and ends with -1. The second result tells whether fewer
        than five of them know the column.
        """
        knows = self.known[near, columns[:, None]] & (near >= 0)
        taken = knows & (np.cumsum(knows, axis=1) <= NEAREST)
        count = taken.sum(axis=1)
        values, offset = self.result[near, columns[:, None]], self.offset[columns]
        total = np.where(taken, values - offset[:, None], 0.0).sum(axis=1)
        mean = np.where(count > 0, total / np.maximum(count, 1), self.mean[columns]) + offset
        lowest = np.where(taken, values, np.inf).min(axis=1, initial=np.inf)
        highest = np.where(taken, values, -np.inf).max(axis=1, initial=-np.inf)
        # Equal values have exactly their value as mean, whatever the rounding.
        return np.where(count > 0, np.clip(mean, lowest, highest), mean), count < NEAREST

    def nearest(self, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(i, j, D²) where j is one of the k nearest rows of i; a row that shares no column with others has fewer."""
        found: list[tuple[np.ndarray, ...]] = []

        def use(rows: np.ndarray, place: np.ndarray, near: np.ndarray) -> None:
            squared = self.between(rows[place], near)
            finite = np.isfinite(squared)
            i, j, squared = rows[place[finite]], near[finite], squared[finite]
            best = closest(i, j, squared, np.zeros(len(i), dtype=np.intp), k)
            found.append((i[best], j[best], squared[best]))

        self.with_candidates(np.arange(self.n), min(k, self.n - 1), use)
        i, j, squared = (np.concatenate(parts) for parts in zip(*found, strict=True))
        order = np.lexsort((j, i))  # threads finish in any order
        return i[order], j[order], squared[order] * self.features.shape[1]

    # ---------------------------------------------------------------- columns that few rows know

    def fill_rare(self) -> None:
        for j in np.flatnonzero(self.rare & ~self.known.all(axis=0)):
            knowing = np.flatnonzero(self.known[:, j])
            holes = np.flatnonzero(~self.known[:, j])
            squared = self.between(np.repeat(holes, len(knowing)), np.tile(knowing, len(holes)))
            squared = squared.reshape(len(holes), len(knowing))
            order = closest_in_rows(np.broadcast_to(knowing, squared.shape), squared, NEAREST)
            near = np.where(np.isfinite(np.take_along_axis(squared, order, axis=1)), knowing[order], -1)
            self.result[holes, j] = self._means(near, np.full(len(holes), j))[0]

    # ---------------------------------------------------------------- distances

    def between(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Mean squared difference over the features that both rows know, for pairs (i, j); inf if there are none."""
        squared, common = np.zeros(len(i)), np.zeros(len(i))
        for part in batches(len(i), max(1, 2**18 // max(self.p, 1))):
            a, b = i[part], j[part]
            difference = np.where(self.known[a] & self.known[b], self.centred[a] - self.centred[b], 0.0)
            squared[part] = np.einsum("ij,ij->i", difference, difference)
            common[part] = (self.features[a] & self.features[b]).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(common > 0, squared / np.maximum(common, 1.0), np.inf)
