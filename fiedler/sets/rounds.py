"""Forward selection in verified rounds for K over the samples; it needs few passes over the columns.

Some columns, the pool, are in memory. A round makes several steps with the pool only. Then one pass over all columns
replays the steps and finds columns outside the pool that would have been better. Steps before the first such column are
accepted, and the better columns join the pool for the next round. For data in memory a round has a few steps. For a
file it has all remaining steps, so that fifty features need two to six passes. If the first scores come from products
in single precision, their errors have a bound, and columns that may be the best within it are computed again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..data.memory import slab_bytes
from ..data.work import counting
from ..engine.threads import one_blas_thread
from .kernel import TIE, Search, Steps, best
from .replay import NEVER, Replay, foremost, replayed
from .samples import RowKernel

_POOL, _POOL_OF_FILES = 256, 2000  # numbers of columns
_FIRST_ROUND, _LONGEST_ROUND, _LONGEST_ROUND_OF_FILES = 8, 64, 256  # numbers of steps
_TWICE = 0.5  # if a smaller share of a column is left, its residual is orthogonalised again
_FIXED = 1e300  # score of a step that is made in any case; inf / inf would not be a number


class Chosen(NamedTuple):
    """One chosen column: its number, its score, q and v over the samples, and e = q'Kq."""

    column: int
    score: float
    q: np.ndarray
    v: np.ndarray
    e: float


def choose_in_rounds(kernel: RowKernel, search: Search, n_features: int, enough: float) -> Steps:
    """The path of chosen features, up to n_features or until J reaches ``enough``."""
    size = min(n_features, len(kernel.num))
    rounds = _Rounds(kernel, search, size, enough)
    if not kernel.columns.in_memory:
        return rounds.run(lambda _: None)  # few rounds of many steps: the passes over the file are counted
    with counting("features chosen", size) as count:
        return rounds.run(count.reach)


class _Rounds:
    def __init__(self, kernel: RowKernel, search: Search, size: int, enough: float):
        self.kernel, self.columns, self.search, self.size, self.enough = kernel, kernel.columns, search, size, enough
        self.num, self.den = kernel.num.copy(), kernel.den.copy()  # after the first ``base`` steps
        self.slack = np.zeros(len(self.num)) if kernel.slack is None else kernel.slack.copy()  # bound of errors of num
        self.base, self.steps = 0, list[Chosen]()
        self.spent: dict[int, int] = {}  # columns found to have no residual, with the step
        self.n_pool = min(len(self.num), _POOL if self.columns.in_memory else self._affordable())
        self.length = _FIRST_ROUND
        if not self.columns.in_memory:
            # The products of a slab with all steps must not be larger than the slab.
            n, bytes_ = self.columns.shape[0], self.columns.dtype.itemsize
            self.length = int(np.clip(n * bytes_ // 16, _FIRST_ROUND, _LONGEST_ROUND_OF_FILES))

    def run(self, reached: Callable[[int], None]) -> Steps:
        self._take_first()
        extra = np.empty(0, dtype=np.intp)
        while len(self.steps) < self.size:
            stood = len(self.steps)
            with one_blas_thread(0.0):  # a second thread slows many small products down
                self._speculate(extra)
            wrong, better = self._verify()
            reached(self.base)
            if wrong is None:
                extra = better[:0]
                self.length = min(2 * self.length, _LONGEST_ROUND) if self.columns.in_memory else self.length
                if self._reached() or best(self.search.scores(self.num, self._left())) < 0:
                    break
                continue
            self.steps = self.steps[:wrong]
            self.spent = {column: step for column, step in self.spent.items() if step <= wrong}
            extra = np.union1d(extra, better)
            if self.columns.in_memory:
                self.length = max(1, (wrong - stood + self.length) // 2)
        return Steps([s.column for s in self.steps], [s.e for s in self.steps], self.num, self.den)

    def _take_first(self) -> None:
        """Make the steps that are taken in any case; no other column is better than their score."""
        first = self.search.first[: self.size]
        for start in range(0, len(first), self.length):
            part = np.array(first[start : start + self.length], dtype=np.intp)
            C = np.ascontiguousarray(self.columns.take(part).T)
            for column, c in zip(part.tolist(), C, strict=True):
                Q = np.array([step.q for step in self.steps]).reshape(-1, len(c))
                # A column without a residual makes a step that changes nothing.
                nothing = Chosen(column, _FIXED, np.zeros(len(c)), np.zeros(len(c)), 0.0)
                self.steps.append(self._step(column, _FIXED, c, Q) or nothing)
            self.pool = np.unique(part)
            self._verify()

    def _affordable(self) -> int:
        """Largest number of columns of a file that join the pool at a time, at most a slab."""
        return int(max(1, min(_POOL_OF_FILES, slab_bytes() / (8 * self.columns.shape[0]))))

    def _reached(self) -> bool:
        return sum(step.e for step in self.steps) >= self.enough

    # ---------------------------------------------------------------- among the pool

    def _speculate(self, extra: np.ndarray) -> None:
        """Make some steps with the pool, fewer if no column of the pool has a gain left."""
        scores = self.search.scores(self.num + self.slack, self._left())
        taken = [step.column for step in self.steps[self.base :]]
        self.pool = pool = np.unique(np.concatenate([foremost(scores, self.n_pool), extra, taken]).astype(np.intp))
        C = np.ascontiguousarray(self.columns.take(pool).T)  # each row is a column of X
        num, den = self.num[pool], self._left()[pool]
        for step in self.steps[self.base :]:
            num, den = replayed(num, den, C @ step.q, C @ step.v, step.e)
            den[np.searchsorted(pool, step.column)] = 0.0
        wanted = min(self.size, len(self.steps) + self.length)
        Q = np.empty((wanted, C.shape[1]))
        for row, step in zip(Q, self.steps, strict=False):
            row[:] = step.q
        while len(self.steps) < wanted and not self._reached():
            place, score = self._best_of_pool(num, den)
            if place < 0:
                return
            choice = self._step(int(pool[place]), score, C[place], Q[: len(self.steps)])
            if choice is None:
                self.spent[int(pool[place])] = len(self.steps)
                den[place] = 0.0
                continue
            Q[len(self.steps)] = choice.q
            self.steps.append(choice)
            num, den = replayed(num, den, C @ choice.q, C @ choice.v, choice.e)
            den[place] = 0.0

    def _best_of_pool(self, num: np.ndarray, den: np.ndarray) -> tuple[int, float]:
        """The place of the best column in the pool, and its score, at least; -1 if no column has a gain.

        Columns that may be the best within the bounds of their errors are first computed in double precision, together
        with some that may be the best at a later step.
        """
        pool = self.pool
        while True:
            place = best(self.search.scores(num, den, pool))
            slack = self.slack[pool]
            if place < 0 or not slack.any():
                return place, float(self.search.scores(num, den, pool)[place])
            least = float(self.search.scores(num - slack, den, pool)[place])
            most = self.search.scores(num + slack, den, pool)
            rivals = np.flatnonzero(most >= least * (1.0 - TIE))
            doubtful = rivals[slack[rivals] > 0.0]
            if len(rivals) == 1 or not len(doubtful):
                return place, least
            more = foremost(np.where(slack > 0.0, most, -np.inf), self.kernel.settled_at_once)
            doubtful = np.union1d(doubtful, more[slack[more] > 0.0])
            columns = pool[doubtful]
            change = self.kernel.exact_num(columns) - self.kernel.num[columns]
            num[doubtful] += change
            self.num[columns] += change
            self.slack[columns] = 0.0

    def _step(self, column: int, score: float, c: np.ndarray, Q: np.ndarray) -> Chosen | None:
        """The choice of a column; None if its recomputed residual is too small."""
        q = c - (Q @ c) @ Q
        square = float(q @ q)
        if square < _TWICE * float(c @ c):  # after strong cancellation the residual may not be orthogonal
            q -= (Q @ q) @ Q
            square = float(q @ q)
        if not square > self.search.floor[column]:
            return None
        q /= np.sqrt(square)
        v = self.kernel.apply(q)
        e = float(q @ v)
        return Chosen(column, score, q, v - (Q @ v) @ Q, e)

    # ---------------------------------------------------------------- among all columns

    def _verify(self) -> tuple[int | None, np.ndarray]:
        """Replay the steps since ``base`` on all columns: the first wrong step, and columns that are better at a step.

        If no step is wrong, ``base`` becomes the last step.
        """
        steps = self.steps[self.base :]
        if not steps:
            return None, np.empty(0, dtype=np.intp)
        outside = np.ones(len(self.num), dtype=bool)
        outside[self.pool] = False
        most = self.num + self.slack
        replay = Replay([step[:2] + step[-1:] for step in steps], self.search, most, self._left(), outside)
        V = np.array([*(step.q for step in steps), *(step.v for step in steps)]).T
        if self.columns.in_memory:  # correct steps are not replayed again; the next pool follows from them
            right, most, self.den = replay.while_right(self.columns.project(V))
            self.num = most - self.slack
            self.base += right
            return (None if right == len(steps) else self.base), np.empty(0, dtype=np.intp)
        when, excess, num, den = self.columns.map_slabs(V, replay)
        better = np.flatnonzero(when < NEVER)
        if len(better):
            first = when.min()
            return self.base + int(first), self._foremost(better[when[better] == first], excess)
        self.num, self.den, self.base = num, den, len(self.steps)
        return None, better

    def _foremost(self, better: np.ndarray, excess: np.ndarray) -> np.ndarray:
        """The best columns among those that are better at the first wrong step or nearly as good at any step."""
        near = np.argpartition(-excess, min(self.n_pool, len(excess)) - 1)[: self.n_pool]
        return np.union1d(better[np.argsort(-excess[better], kind="stable")][: self.n_pool], near[excess[near] > 0.0])

    def _left(self) -> np.ndarray:
        """den at ``base``, and 0 for columns found to have no residual."""
        den = self.den.copy()
        den[list(self.spent)] = 0.0
        return den
