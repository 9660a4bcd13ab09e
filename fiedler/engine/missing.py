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
from functools import partial
from typing import Any

import numpy as np

from ..data.columns import LEAST_KNOWN, Groups
from .products import budget
from .smallest import closest, tie_levels, within_reach
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
    return table.result


def known_neighbors(
    X: np.ndarray, known: np.ndarray, k: int, groups: Groups | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edges (i, j, D²) to the k nearest rows by the distance over common columns, which reads no filled values."""
    return _Table(X, known, groups).nearest(k)


class _Table:
    """X with holes, and the result that is filled row by row; both keep single precision if X has it."""

    def __init__(self, X: np.ndarray, known: np.ndarray, groups: Groups | None):
        self.n, self.p = X.shape
        self.known = known
        counts = known.sum(axis=0)
        # In C order, so that sums do not depend on the layout of the given table.
        self.result = np.where(known, X, 0).astype(X.dtype if X.dtype in _ERROR else np.float64, "C", copy=False)
        self.offset = self.result[np.argmax(known, axis=0), np.arange(self.p)].astype(np.float64)
        self.mean, self.scale = np.zeros(self.p), 0.0
        for part in batches(self.n, self._rows_at_once):  # a large offset would cost digits
            self.mean += self._from(self.offset, part).sum(axis=0) / counts
        for part in batches(self.n, self._rows_at_once):
            self.scale = max(self.scale, float(np.abs(self._from(self.offset + self.mean, part)).max(initial=0.0)))
        self._factors: dict[Any, tuple[np.ndarray, np.ndarray]] = {}
        # A feature is the unit of the mean: a category with many levels counts as much as a number.
        self.features = known if groups is None else groups.mean(known.astype(np.float64))[:, groups.sizes > 0] >= 1.0
        self.rare = (counts < _RARE) & (self.n > _RARE)  # few rows are all compared with each other
        self.holes = ~known & ~self.rare
        # How many nearest rows nearly always contain five that know a column.
        share = float(counts[~self.rare].min(initial=self.n)) / self.n
        self.n_candidates = self.n - 1 if self.n <= _RARE else int(min(self.n - 1, _SPARE + 2 * NEAREST / share))

    @property
    def _rows_at_once(self) -> int:
        return max(1, 2**18 // max(self.p, 1))

    def _from(self, origin: np.ndarray, rows: slice) -> np.ndarray:
        """Some rows in double precision, relative to an origin, and 0 in holes."""
        return np.where(self.known[rows], self.result[rows] - origin, 0.0)

    # ---------------------------------------------------------------- columns that many rows know

    def factors(self, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
        """Of each row the right factors of the sums of squares and of the numbers of common features."""
        if dtype not in self._factors:
            some, origin = ~self.known.all(axis=0), self.offset + self.mean
            p, q = self.p, int(some.sum())
            right = np.ones((self.n, p + 2 * q + 2), dtype=dtype)
            for part in batches(self.n, self._rows_at_once):
                right[part, :p] = self._from(origin, part) / (self.scale or 1.0)
            right[:, p : p + q] = ~self.known[:, some]
            right[:, p + q : -2] = right[:, :p][:, some] ** 2
            right[:, -1] = np.einsum("ij,ij->i", right[:, :p], right[:, :p])
            common = np.ones((self.n, int((~self.features.all(axis=0)).sum()) + 2), dtype=dtype)
            common[:, :-2] = ~self.features[:, ~self.features.all(axis=0)]
            common[:, -1] = common[:, :-2].sum(axis=1)
            self._factors[dtype] = right, common
        return self._factors[dtype]

    def _left(self, right: np.ndarray, common: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The left factors of some rows, from their right ones."""
        q = (right.shape[1] - self.p - 2) // 2
        C, H, squares, one, norms = np.split(right, np.cumsum([self.p, q, q, 1]), axis=1)
        missing, _, n_missing = np.split(common, [-2, -1], axis=1)
        most = self.features.shape[1]
        return np.hstack([-2.0 * C, -squares, -H, norms, one]), np.hstack([missing, most - n_missing, -one])

    def with_candidates(
        self,
        rows: np.ndarray,
        k: int,
        use: Callable[[np.ndarray, np.ndarray, np.ndarray], None],
        among: np.ndarray | None = None,
    ) -> None:
        """``use(rows, place, near)`` for blocks of rows; near[c] may be one of the k nearest of row rows[place[c]].

        The nearest rows are searched ``among`` some others, by default all.
        """
        work = float(len(rows)) * (self.n if among is None else len(among)) * self.p
        dtype: Any = np.dtype(np.float32 if work >= _SINGLE_PAYS else np.float64)
        factors = self.factors(dtype)
        right, right_common = factors if among is None else (factors[0][among], factors[1][among])
        longest = float(factors[0][:, -1].max(initial=0.0))
        step = max(1, min(1024, budget() // len(right)))

        def block(start: int) -> None:
            here = rows[start : start + step]
            left, left_common = self._left(factors[0][here], factors[1][here])
            key, common = left @ right.T, left_common @ right_common.T
            least = float(common.min())
            if least > 0.0:
                key /= common
            else:
                key = np.where(common > 0.0, key / np.maximum(common, 1.0), np.inf).astype(dtype)
            if among is None:
                key[np.arange(len(here)), here] = np.inf
            error = _ERROR[dtype] * 4.0 * longest / max(least, 1.0)
            place, near = within_reach(key, np.full(len(here), error), np.zeros(len(right)), k, False)
            met = np.isfinite(key[place, near])
            place, near = place[met], near[met]
            use(here, place, near if among is None else among[near])

        for_each(block, range(0, len(rows), step), 4.0 * work, "rows with missing values")

    def fill_rows(self, rows: np.ndarray, place: np.ndarray, near: np.ndarray, only: int | None = None) -> None:
        """Fill the holes of some rows, in all columns that many rows know or in ``only`` one.

        ``near[c]`` is a candidate for the neighbours of row ``rows[place[c]]``.
        """
        squared = self.between(rows[place], near)
        order = np.lexsort((near, tie_levels(squared, place)))
        order = order[np.isfinite(squared[order])]
        place, near = place[order], near[order]
        starts = np.searchsorted(place, np.arange(len(rows) + 1))
        within = np.arange(len(place)) - starts[place]
        listed = np.full((len(rows), int(np.diff(starts).max(initial=1))), -1)
        listed[place, within] = near
        which, columns = np.nonzero(self.holes[rows])
        if only is not None:
            which, columns = np.arange(len(rows)), np.full(len(rows), only)
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
        values, offset = self.result[near, columns[:, None]].astype(np.float64), self.offset[columns]
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
        for j in np.flatnonzero(self.rare & ~self.known.all(axis=0)).tolist():
            known = self.known[:, j]
            fill = partial(self.fill_rows, only=j)
            self.with_candidates(np.flatnonzero(~known), min(NEAREST, int(known.sum())), fill, np.flatnonzero(known))

    # ---------------------------------------------------------------- distances

    def between(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Mean squared difference over the features that both rows know, for pairs (i, j); inf if there are none."""
        squared, common = np.zeros(len(i)), np.zeros(len(i))
        for part in batches(len(i), max(1, 2**18 // max(self.p, 1))):
            a, b = i[part], j[part]
            difference = np.subtract(self.result[a], self.result[b], dtype=np.float64)
            difference[~(self.known[a] & self.known[b])] = 0.0
            squared[part] = np.einsum("ij,ij->i", difference, difference)
            common[part] = (self.features[a] & self.features[b]).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(common > 0, squared / np.maximum(common, 1.0), np.inf)
