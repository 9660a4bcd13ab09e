"""Methods compared over many data sets by their ranks (Demšar, JMLR 7, 2006).

    χ²_F = 12 N / (k (k+1)) [Σ_j R_j² - k (k+1)²/4]        F_F = (N-1) χ²_F / (N (k-1) - χ²_F)
    CD   = q_α sqrt(k (k+1) / 6N)

R_j is the average rank of method j of k over N sets, 1 is best, equal values share their mean rank. Two methods differ
when their average ranks are farther apart than CD (Nemenyi); q_α is the studentised range divided by sqrt(2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import f as f_distribution
from scipy.stats import rankdata, studentized_range, wilcoxon


class Ranking(NamedTuple):
    """Average ranks of methods over sets, best first, with the tests that say what to make of them."""

    methods: tuple[str, ...]
    ranks: tuple[float, ...]
    n_sets: int
    p_value: float  # of Iman and Davenport's F_F
    critical_difference: float

    def rank(self, method: str) -> float:
        return self.ranks[self.methods.index(method)]

    def differ(self, first: str, second: str) -> bool:
        return abs(self.rank(first) - self.rank(second)) > self.critical_difference

    def groups(self) -> list[tuple[int, int]]:
        """The longest runs (first, last) of methods that do not differ, as the bars of a critical-difference plot."""
        runs: list[tuple[int, int]] = []
        for first, rank in enumerate(self.ranks):
            last = max(j for j, other in enumerate(self.ranks) if other - rank <= self.critical_difference)
            if last > first and (not runs or last > runs[-1][1]):
                runs.append((first, last))
        return runs


def rank_methods(values: Mapping[str, Sequence[float]]) -> Ranking:
    """Rank methods on every set by values where large is good; each method has one value per set, in the same order."""
    table = np.array(list(values.values()), dtype=float).T
    average, (n, k) = rankdata(-table, axis=1).mean(axis=0), table.shape
    chi_square = 12.0 * n / (k * (k + 1)) * float(np.sum(average**2) - k * (k + 1) ** 2 / 4)
    below = n * (k - 1) - chi_square
    if below <= 1e-9 * n * k or n < 2:  # the same order on every set
        p_value = float(n < 2)
    else:
        p_value = float(f_distribution.sf((n - 1) * chi_square / below, k - 1, (k - 1) * (n - 1)))
    q = float(studentized_range.ppf(0.95, k, np.inf)) / np.sqrt(2.0)
    order = np.argsort(average, kind="stable")
    names = tuple(list(values)[j] for j in order)
    return Ranking(names, tuple(average[order].tolist()), n, p_value, q * float(np.sqrt(k * (k + 1) / (6.0 * n))))


class Duel(NamedTuple):
    """One method against another over sets: mean gain, sets won and lost, and how likely that is by chance."""

    gain: float
    won: int
    lost: int
    n_sets: int
    p_value: float  # Wilcoxon's signed-rank test, two-sided


def duel(first: Sequence[float], second: Sequence[float]) -> Duel:
    """Compare two methods set by set; large is good, ties count for neither."""
    difference = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    real = difference[np.abs(difference) > 1e-12]
    p_value = float(wilcoxon(real).pvalue) if len(real) > 1 else 1.0
    return Duel(float(difference.mean()), int(np.sum(real > 0)), int(np.sum(real < 0)), len(difference), p_value)
