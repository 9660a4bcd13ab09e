"""Steps that were made with some columns, the pool, are replayed on all columns.

    num += a (a e - 2 b),   den -= a²,   a = c'q, b = c'v

A step is right if no column outside the pool has a better score. Both engines of forward selection use this: the one
over the samples (:mod:`fiedler.sets.rounds`) and the one between the features (:mod:`fiedler.sets.features`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .kernel import TIE, Search, best

NEVER = np.inf


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
