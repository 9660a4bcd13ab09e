"""Methods compared over many data sets by their ranks (Demšar, JMLR 7, 2006).

    χ²_F = 12 N / (k (k+1)) [Σ_j R_j² - k (k+1)²/4]        F_F = (N-1) χ²_F / (N (k-1) - χ²_F)
    CD   = q_α sqrt(k (k+1) / 6N)

R_j is the average rank of method j of k over N sets, 1 is best, equal values share their mean rank. Two methods differ
when their average ranks are farther apart than CD (Nemenyi); q_α is the studentised range divided by sqrt(2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import f as f_distribution
from scipy.stats import rankdata, studentized_range, wilcoxon


@dataclass(frozen=True)
class Ranking:
    """Average ranks of methods over sets, best first, with the tests that say what to make of them."""

    methods: tuple[str, ...]
    ranks: tuple[float, ...]
    means: tuple[float, ...]  # of the values that were ranked
    n_sets: int
    chi_square: float
    p_value: float  # of Iman and Davenport's F_F
    critical_difference: float

    @property
    def best(self) -> str:
        return self.methods[0]

    def rank(self, method: str) -> float:
        return self.ranks[self.methods.index(method)]

    def mean(self, method: str) -> float:
        return self.means[self.methods.index(method)]

    def differ(self, first: str, second: str) -> bool:
        """Whether two methods are farther apart than the critical difference."""
        return abs(self.rank(first) - self.rank(second)) > self.critical_difference

    def groups(self) -> list[tuple[int, int]]:
        """The longest runs (first, last) of methods that do not differ, as the bars of a critical-difference plot."""
        runs = []
        for first, rank in enumerate(self.ranks):
            last = max(j for j, other in enumerate(self.ranks) if other - rank <= self.critical_difference)
            if last > first and (not runs or last > runs[-1][1]):
                runs.append((first, last))
        return runs


def rank_methods(values: Mapping[str, Sequence[float]]) -> Ranking:
    """Rank methods on every set by values where large is good; each method has one value per set, in the same order."""
    names, table = tuple(values), np.array([values[name] for name in values], dtype=float).T
    if table.ndim != 2 or not np.isfinite(table).all() or len(names) < 2:
        raise ValueError(f"two or more methods with one finite value per set are needed, got {table.shape}.")
    average = rankdata(-table, axis=1).mean(axis=0)
    order = np.argsort(average, kind="stable")
    chi_square, p_value = friedman(average, len(table))
    return Ranking(
        tuple(names[j] for j in order),
        tuple(average[order].tolist()),
        tuple(table.mean(axis=0)[order].tolist()),
        len(table),
        chi_square,
        p_value,
        critical_difference(len(names), len(table)),
    )


def friedman(average_ranks: Sequence[float], n_sets: int) -> tuple[float, float]:
    """Friedman's χ² and the p-value of Iman and Davenport's F, which is less cautious than χ²'s own."""
    ranks, k = np.asarray(average_ranks, dtype=float), len(average_ranks)
    chi_square = 12.0 * n_sets / (k * (k + 1)) * float(np.sum(ranks**2) - k * (k + 1) ** 2 / 4)
    below = n_sets * (k - 1) - chi_square
    if n_sets < 2:
        return chi_square, 1.0
    if below <= 1e-9 * n_sets * k:  # the same order on every set
        return chi_square, 0.0
    statistic = (n_sets - 1) * chi_square / below
    return chi_square, float(f_distribution.sf(statistic, k - 1, (k - 1) * (n_sets - 1)))


def critical_difference(n_methods: int, n_sets: int, alpha: float = 0.05) -> float:
    """Nemenyi's CD: the distance of average ranks beyond which two methods differ."""
    q = float(studentized_range.ppf(1.0 - alpha, n_methods, np.inf)) / np.sqrt(2.0)
    return q * float(np.sqrt(n_methods * (n_methods + 1) / (6.0 * n_sets)))


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values corrected for their number by Holm's step-down rule."""
    p = np.asarray(p_values, dtype=float)
    order, n = np.argsort(p, kind="stable"), len(p)
    corrected = np.empty(n)
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * (n - np.arange(n))), 1.0)
    return corrected.tolist()


@dataclass(frozen=True)
class Duel:
    """One method against another over sets: mean gain, sets won and lost, and how likely that is by chance."""

    gain: float
    won: int
    lost: int
    n_sets: int
    p_value: float  # Wilcoxon's signed-rank test, two-sided


def duel(first: Sequence[float], second: Sequence[float]) -> Duel:
    """Compare two methods set by set; large is good, ties count for neither."""
    difference = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    real = np.abs(difference) > 1e-12
    p_value = float(wilcoxon(difference[real]).pvalue) if real.sum() > 1 else 1.0
    won, lost = int(np.sum(difference[real] > 0)), int(np.sum(difference[real] < 0))
    return Duel(float(difference.mean()), won, lost, len(difference), p_value)
