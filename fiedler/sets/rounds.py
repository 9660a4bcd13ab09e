"""Forward selection in verified rounds for K over the samples; it needs few passes over the columns.

Some columns, the pool, are in memory. A round makes several steps with the pool only. Then one pass over all columns
replays the steps and finds columns outside the pool that would have been better:

    num += a (a e - 2 b),   den -= a²,   a = c'q, b = c'v

Steps before the first such column are accepted, and the better columns join the pool for the next round. For data in
memory a round has a few steps. For a file it has all remaining steps, so that fifty features need two to six passes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..data.memory import slab_bytes
from ..data.work import counting
from ..engine.threads import one_blas_thread
from .kernel import TIE, Search, Steps, best
from .samples import RowKernel

_POOL, _POOL_OF_FILES = 256, 2000  # numbers of columns
_FIRST_ROUND, _LONGEST_ROUND, _LONGEST_ROUND_OF_FILES = 8, 64, 256  # numbers of steps
NEVER = np.inf
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
        self.base, self.steps = 0, list[Chosen]()
        self.spent: dict[int, int] = {}  # columns found to have no residual, with the step
        affordable = int(max(1, min(_POOL_OF_FILES, slab_bytes() / (8 * self.columns.shape[0]))))
        self.n_pool = min(len(self.num), _POOL if self.columns.in_memory else affordable)
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

    def _reached(self) -> bool:
        return sum(step.e for step in self.steps) >= self.enough

    # ---------------------------------------------------------------- among the pool

    def _speculate(self, extra: np.ndarray) -> None:
        """Make some steps with the pool, fewer if no column of the pool has a gain left."""
        scores = self.search.scores(self.num, self._left())
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
            scores = self.search.scores(num, den, pool)
            place = best(scores)
            if place < 0:
                return
            choice = self._step(int(pool[place]), float(scores[place]), C[place], Q[: len(self.steps)])
            if choice is None:
                self.spent[int(pool[place])] = len(self.steps)
                den[place] = 0.0
                continue
            Q[len(self.steps)] = choice.q
            self.steps.append(choice)
            num, den = replayed(num, den, C @ choice.q, C @ choice.v, choice.e)
            den[place] = 0.0

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
        replay = Replay([step[:2] + step[-1:] for step in steps], self.search, self.num, self._left(), outside)
        V = np.array([*(step.q for step in steps), *(step.v for step in steps)]).T
        if self.columns.in_memory:  # correct steps are not replayed again; the next pool follows from them
            right, self.num, self.den = replay.while_right(self.columns.project(V))
            self.base += right
            return (None if right == len(steps) else self.base), np.empty(0, dtype=np.intp)
        when, excess, num, den = self.columns.map_slabs(V, replay)
        better = np.flatnonzero(when < NEVER)
        if len(better):
            first = when.min()
            better = better[when[better] == first]  # and those that are nearly as good at any step
            near = np.argpartition(-excess, min(self.n_pool, len(excess)) - 1)[: self.n_pool]
            best_first = better[np.argsort(-excess[better], kind="stable")][: self.n_pool]
            return self.base + int(first), np.union1d(best_first, near[excess[near] > 0.0])
        self.num, self.den, self.base = num, den, len(self.steps)
        return None, better

    def _left(self) -> np.ndarray:
        """den at ``base``, and 0 for columns found to have no residual."""
        den = self.den.copy()
        den[list(self.spent)] = 0.0
        return den


# -------------------------------------------------------------------- replay


def foremost(scores: np.ndarray, number: int) -> np.ndarray:
    """The columns of the best scores. The best column, ties included, is always among them, so its step is right."""
    number = min(number, len(scores))
    some = np.argpartition(-scores, max(number - 1, 0))[:number]
    first = best(scores)
    return some if first < 0 else np.append(some, first)


class Replay:
    """Replay of the steps on columns, to find columns outside the pool that are better than the choice."""

    def __init__(self, steps: list[Any], search: Search, num: np.ndarray, den: np.ndarray, outside: np.ndarray):
        self.steps, self.search, self.num, self.den, self.outside = steps, search, num, den, outside

    def __call__(self, along: np.ndarray, columns: slice) -> np.ndarray:
        """For some columns: the first step at which each is better, its largest excess, and num and den at the end."""
        num, den, outside = self.num[columns], self.den[columns].copy(), self.outside[columns]
        when, excess = np.full(len(num), NEVER), np.zeros(len(num))  # largest score relative to that of the choice
        for place, (column, score, e) in enumerate(self.steps):
            scores = self.search.scores(num, den, columns)
            better = outside & self._as_good(scores, column, score, columns.start)
            np.minimum(when, np.where(better, place, NEVER), out=when)
            np.maximum(excess, np.where(outside, scores / score, 0.0), out=excess)
            num, den = replayed(num, den, along[place], along[len(self.steps) + place], e)
            if columns.start <= column < columns.stop:
                den[column - columns.start] = 0.0
        return np.array([when, excess, num, den])

    def while_right(self, along: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
        """For all columns: the number of correct steps, and num and den after them."""
        num, den = self.num, self.den.copy()
        for place, (column, score, e) in enumerate(self.steps):
            scores = self.search.scores(num, den)
            if (self._as_good(scores, column, score) & self.outside).any():
                return place, num, den
            num, den = replayed(num, den, along[place], along[len(self.steps) + place], e)
            den[column] = 0.0
        return len(self.steps), num, den

    @staticmethod
    def _as_good(scores: np.ndarray, column: int, score: float, start: int = 0) -> np.ndarray:
        """Mask of the scores that equal or exceed that of the choice; ties go to the smaller column."""
        good = scores >= score * (1.0 + TIE)
        before = max(column - start, 0)
        good[:before] = scores[:before] >= score * (1.0 - TIE)
        return good


def replayed(num: np.ndarray, den: np.ndarray, a: np.ndarray, b: np.ndarray, e: float) -> tuple[np.ndarray, np.ndarray]:
    return num + a * (a * e - 2.0 * b), den - a * a
