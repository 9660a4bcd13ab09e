"""Forward selection for K between the features, in verified rounds.

A chosen direction q = C w is a combination of the chosen columns, so the samples are not needed:

    a = C'q = G w          a row of the Cholesky factor of G
    C'Kq = (C'KC) w        from the rows of C'KC of the chosen columns

A new w is a column minus a combination of the earlier ones. C'q and C'Kq of all columns therefore follow from rows of G
and C'KC and the same combination. A round makes some steps with the best columns only, the pool. Then products of
matrices compute these steps for all columns at once, and columns outside the pool that would have been better end the
round before them (:mod:`fiedler.sets.replay`). With few columns, or features of several columns, the pool has all of
them, and no step has to be verified.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from ..data.work import Counting, counting
from ..engine.threads import one_blas_thread
from .features import FeatureKernel
from .kernel import Search, Steps, best
from .replay import Replay, foremost

_FEW = 1000  # largest number of columns for which the pool has all columns
_POOL = 96  # number of columns of a pool
_FIRST_ROUND, _LONGEST_ROUND = 8, 64  # numbers of steps
_CANDIDATES = 32  # number of candidates whose rows of C'KC are computed together


def choose_between_features(kernel: FeatureKernel, search: Search, n_features: int, enough: float) -> Steps:
    """The path of chosen features, up to n_features or until J reaches ``enough``."""
    with one_blas_thread(float(len(kernel.num)) ** 2), counting("features chosen", n_features) as count:
        return _Choice(kernel, search, n_features, enough).run(count)


class _Choice:
    """The chosen features and their gains so far."""

    def __init__(self, kernel: FeatureKernel, search: Search, n_features: int, enough: float):
        self.search, self.size, self.enough = search, n_features, enough
        self.path, self.length = _Path(kernel, search, n_features), _FIRST_ROUND
        self.by_rounds = search.groups is None and len(kernel.num) > _FEW
        self.picked, self.gained = list[int](), list[float]()

    def run(self, count: Counting) -> Steps:
        first, more = self.search.first[: self.size], True
        for feature in first:
            self._take(feature, in_any_case=True)
        while more and len(self.picked) < self.size and sum(self.gained) < self.enough:
            more = self._round() if self.by_rounds else self._step()
            count.reach(len(self.picked))
        return Steps(self.picked, self.gained, self.path.num, self.path.den)

    def _step(self) -> bool:
        """Choose among all columns; False if no feature has a gain."""
        feature = best(self.search.scores(self.path.num, self.path.den))
        if feature >= 0:
            self._take(feature)
        return feature >= 0

    def _take(self, feature: int, in_any_case: bool = False) -> None:
        """Add all columns of a feature, unless none of them has a residual: their den is then 0."""
        gains = [self.path.add(column) for column in self.search.columns(feature)]
        if in_any_case or any(gain is not None for gain in gains):
            self.picked.append(feature)
            self.gained.append(sum(gain for gain in gains if gain is not None))

    def _round(self) -> bool:
        """Choose among the best columns for several steps, and keep those that are right; False if there are none."""
        scores = self.search.scores(self.path.num, self.path.den)
        if best(scores) < 0:
            return False
        length = min(self.length, self.size - len(self.picked))
        pool = self.path.among(foremost(scores, _POOL), length)
        left = self.enough - sum(self.gained)
        while len(pool.made) < length and sum(step.gain for step in pool.made) < left:
            scores = self.search.scores(pool.num, pool.den, pool.some)
            place = best(scores)
            if place < 0:
                break
            pool.add(place, float(scores[place]))
        right = self.path.follow(pool)
        self.picked += [step.column for step in pool.made[:right]]
        self.gained += [step.gain for step in pool.made[:right]]
        self.length = min(2 * length, _LONGEST_ROUND) if right == len(pool.made) else max(1, (right + length) // 2)
        return True


class _Made(NamedTuple):
    """One step: q is (the column - along · earlier q) / norm, and b = C'Kq - across · earlier C'q."""

    column: int
    score: float
    gain: float
    along: np.ndarray
    across: np.ndarray
    norm: float


class _Path:
    """The columns chosen so far, as an orthonormal basis q = C w, and num and den of some columns given them.

    Attributes
    ----------
    some : ndarray
        The columns that are looked at, in ascending order; the chosen ones are among them.
    made : list of _Made
        The steps.
    spent : list of (column, number of steps)
        Columns found to have no residual, with the number of steps before.
    """

    def __init__(self, kernel: FeatureKernel, search: Search, n_features: int):
        self.kernel, self.search = kernel, search
        self.num, self.den = kernel.num.copy(), kernel.den.copy()
        m = len(self.num)
        size = n_features if search.groups is None else int(np.sort(search.groups.sizes)[-n_features:].sum())
        size = min(size, m)
        self.some, self._all = np.arange(m), True
        self.A, self.images = np.empty((size, m)), np.empty((size, m))  # rows C'q and C'Kq
        # Between the chosen columns: the coefficients of q on them, C'q and G.
        self.W, self.R, self.G = (np.zeros((size, size)) for _ in range(3))
        self.places = list[int]()  # of the chosen columns, among ``some``
        self.made, self.spent = list[_Made](), list[tuple[int, int]]()
        self._ready: dict[int, np.ndarray] = {}  # rows of C'KC of columns that may be chosen next

    def among(self, pool: np.ndarray, length: int) -> _Path:
        """This path on the columns of a pool only, with room for some more steps."""
        twin, k = copy(self), len(self.places)
        twin.some, twin._all = np.union1d(pool, self.some[self.places]).astype(np.intp), False
        twin.num, twin.den = self.num[twin.some], self.den[twin.some]
        twin.A, twin.images = (np.empty((k + length, len(twin.some))) for _ in range(2))
        twin.A[:k], twin.images[:k] = self.A[:k, twin.some], self.images[:k, twin.some]
        twin.W, twin.R, twin.G = (square[: k + length, : k + length].copy() for square in (self.W, self.R, self.G))
        twin.places = np.searchsorted(twin.some, self.some[self.places]).tolist()
        twin.made, twin.spent, twin._ready = [], [], {}
        return twin

    def add(self, p: int, score: float = 0.0) -> float | None:
        """Add the column at a place; its gain of J, or None if it has no residual."""
        k, A, W, column = len(self.places), self.A, self.W, int(self.some[p])
        floor = self.search.floor[column]
        if not self.den[p] > floor:
            self._spend(p)
            return None
        places = [*self.places, p]
        self.R[:k, k] = A[:k, p]
        self.G[k, : k + 1] = self.G[: k + 1, k] = self.kernel.gram[column, self.some[places]]
        w, along = np.r_[np.zeros(k), 1.0], np.zeros(k)
        for _ in range(2):
            part = self.R[:k, : k + 1] @ w
            along += part
            w[:k] -= part @ W[:k, :k]
        square = float(w @ self.G[: k + 1, : k + 1] @ w)
        if not square > floor:
            self._spend(p)  # its residual is exactly 0; the updated difference may not be
            return None
        norm = float(np.sqrt(square))
        w /= norm
        self.images[k] = image = (self._row(p) - along @ self.images[:k]) / norm
        e = float(w @ image[places])
        # C'q, and the part of K q along the directions chosen so far, from one pass over A.
        across = W[:k, :k] @ image[self.places]
        parts = np.array([along, across]) @ A[:k]
        A[k] = a = (self._gram_row(column) - parts[0]) / norm
        b = image - parts[1]  # C'v for v = (I - QQ')Kq
        W[k, : k + 1] = w
        self.R[k, k] = a[p]
        self.num += a * (a * e - 2.0 * b)
        self.den -= a * a
        self.den[p] = 0.0
        self.places.append(p)
        self.made.append(_Made(column, score, e, along, across, norm))
        return e

    def _spend(self, p: int) -> None:
        self.den[p] = 0.0
        self.spent.append((int(self.some[p]), len(self.made)))

    def follow(self, pool: _Path) -> int:
        """Make the steps of a pool on all columns, up to the first that is wrong; the number of right ones."""
        steps, k = pool.made, len(self.places)
        if not steps:
            self._spend_with(pool, 0)
            return 0
        a, images, b = self._on_all_columns(steps)
        outside = np.ones(len(self.num), dtype=bool)
        outside[pool.some] = False
        replay = Replay(
            [(step.column, step.score, step.gain) for step in steps], self.search, self.num, self.den, outside
        )
        right, self.num, self.den = replay.while_right(np.vstack([a, b]))
        self._spend_with(pool, right)
        self.A[k : k + right], self.images[k : k + right] = a[:right], images[:right]
        for name in ("W", "R", "G"):
            getattr(self, name)[: k + right, : k + right] = getattr(pool, name)[: k + right, : k + right]
        self.places += [step.column for step in steps[:right]]
        self.made += steps[:right]
        return right

    def _spend_with(self, pool: _Path, right: int) -> None:
        """Columns that have no residual given the right steps of a pool."""
        self.den[[column for column, step in pool.spent if step <= right]] = 0.0

    def _on_all_columns(self, steps: Sequence[_Made]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """C'q, C'Kq and C'v of some steps after those that were made, as products of matrices.

        norm_i q_i = c_i - Σ_j along_ij q_j is a triangular system for the new directions, given the earlier ones.
        """
        k, s, columns = len(self.places), len(steps), np.array([step.column for step in steps])
        along, across = (np.zeros((s, k + s)) for _ in range(2))
        for i, step in enumerate(steps):
            along[i, : k + i], across[i, : k + i] = step.along, step.across
        lower = along[:, k:] + np.diag([step.norm for step in steps])
        a = solve_triangular(lower, self.kernel.gram[columns] - along[:, :k] @ self.A[:k], lower=True)
        images = solve_triangular(lower, self.kernel.rows(columns) - along[:, :k] @ self.images[:k], lower=True)
        return a, images, images - across[:, :k] @ self.A[:k] - across[:, k:] @ a

    def _gram_row(self, column: int) -> np.ndarray:
        return self.kernel.gram[column] if self._all else self.kernel.gram[column, self.some]

    def _row(self, p: int) -> np.ndarray:
        """Row p of C'KC; the rows of the best candidates are computed with it, because one product is faster."""
        if p not in self._ready:
            some = np.array([p])
            if self.search.groups is None:
                scores = self.search.scores(self.num, self.den, self.some)
                most = min(_CANDIDATES, len(scores))
                some = np.union1d(some, np.argpartition(-scores, most - 1)[:most])
            rows = self.kernel.rows(self.some[some], None if self._all else self.some)
            self._ready = dict(zip(some.tolist(), rows, strict=True))
        return self._ready[p]
