"""One step of forward selection: who is live, who is best, and what a choice leaves of everyone else."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .kernel import Kernel, gains

_LEFT = {True: 1e-8, False: 1e-5}  # share of a column that must be left, in double and in single precision
TIE = 1e-9  # scores this near to the best are as good


class Search:
    """What a search compares: r · num / den^power, of columns of which enough is left."""

    def __init__(self, kernel: Kernel, power: float, relevance: np.ndarray | None, double: bool):
        self.power, self.relevance, self.floor = power, relevance, _LEFT[double] * kernel.den
        self._usable = kernel.den > 0.0

    def scores(self, num: np.ndarray, den: np.ndarray, columns: np.ndarray | slice = slice(None)) -> np.ndarray:
        """Of some columns; -inf where nothing is left of them."""
        live = self._usable[columns] & (den > self.floor[columns])
        weights = None if self.relevance is None else self.relevance[columns]
        return np.where(live, gains(num, np.where(live, den, 1.0), self.power, weights), -np.inf)


def best(scores: np.ndarray, columns: np.ndarray | None = None) -> int:
    """The place of the best score, ties by the smaller column; -1 where none is above 0."""
    most = scores.max(initial=-np.inf)
    if not most > 0.0:
        return -1
    tied = np.flatnonzero(scores >= most * (1.0 - TIE))
    return int(tied[0] if columns is None else tied[np.argmin(columns[tied])])


class Steps(NamedTuple):
    """A finished path: the columns, what each added to J, and num and den of all columns after it."""

    picked: list[int]
    gained: list[float]
    num: np.ndarray
    den: np.ndarray
