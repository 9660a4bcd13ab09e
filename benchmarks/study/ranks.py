"""Methods compared over many data sets by their ranks (Demšar, JMLR 7, 2006).

    χ²_F = 12 N / (k (k+1)) [Σ_j R_j² - k (k+1)²/4]        F_F = (N-1) χ²_F / (N (k-1) - χ²_F)
    CD   = q_α sqrt(k (k+1) / 6N)

R_j is the average rank of method j of k over N sets, 1 is best, equal values share their mean rank. Two methods differ
when their average ranks are farther apart than CD (Nemenyi); q_α is the studentised range divided by sqrt(2).

``Results`` cuts what was computed into slices of one value per method and data set. Every data set counts once: values
are averaged over draws, numbers of features and budgets first. Large is good: accuracy, or minus the RMSE in standard
deviations of the target.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import f as f_distribution
from scipy.stats import rankdata, studentized_range, wilcoxon


@dataclass(frozen=True)
class Ranking:
    """Average ranks of methods over sets, best first, with the tests that say what to make of them."""

    methods: tuple[str, ...]
    ranks: tuple[float, ...]
    n_sets: int
    chi_square: float
    p_value: float  # of Iman and Davenport's F_F
    critical_difference: float

    @property
    def best(self) -> str:
        return self.methods[0]

    def rank(self, method: str) -> float:
        return self.ranks[self.methods.index(method)]

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


# -------------------------------------------------------------------- results by method and data set


@dataclass(frozen=True)
class Slice:
    """One value per method and set."""

    sets: tuple[str, ...]
    kinds: tuple[str, ...]
    values: dict[str, np.ndarray]

    @property
    def n_sets(self) -> int:
        return len(self.sets)

    def ranking(self, methods: Sequence[str] | None = None) -> Ranking:
        return rank_methods({name: self.values[name] for name in methods or self.values})

    def duel(self, first: str, second: str) -> Duel:
        return duel(self.values[first], self.values[second])

    def mean(self, method: str) -> float:
        return float(self.values[method].mean())

    def of(self, kind: str) -> Slice:
        """The sets of one kind."""
        mine = np.array([found == kind for found in self.kinds], dtype=bool)
        return self.take(np.flatnonzero(mine))

    def take(self, places: Sequence[int]) -> Slice:
        """Some of the sets."""
        return Slice(
            tuple(self.sets[place] for place in places),
            tuple(self.kinds[place] for place in places),
            {name: values[list(places)] for name, values in self.values.items()},
        )


class Results:
    """What ``run`` found on every set."""

    def __init__(self, found: Sequence[dict[str, Any]]):
        self.found = list(found)

    def block(self, name: str) -> Results:
        """The data sets of one block: "study" or "held-out"."""
        return Results([result for result in self.found if result["block"] == name])

    def blocks(self) -> dict[str, Results]:
        """The blocks that have sets, and all sets together."""
        found = {name: self.block(name) for name in ("study", "held-out")}
        found = {name: block for name, block in found.items() if block.found}
        return found | ({"together": self} if len(found) > 1 else {})

    def known(self, question: str, methods: Sequence[str], budgets: Sequence[int] = ()) -> list[str]:
        """Those of the methods that some set has a value of (at some of the budgets): peers may be left out."""
        cells = [result["free"] for result in self.found] if question == "free" else []
        cells += [result.get(question, {}).get(str(budget), {}) for result in self.found for budget in budgets]
        return [method for method in methods if any(method in cell.get("values", {}) for cell in cells)]

    def about(self) -> list[dict[str, Any]]:
        """What each set is: name, block, kind, task, shape, classes, sizes."""
        keys = ("name", "block", "kind", "task", "shape", "classes", "sizes")
        return [{key: result[key] for key in keys} for result in self.found]

    def free(self, methods: Sequence[str], *, task: str = "classes", kind: str | None = None, size: int = -1) -> Slice:
        """Methods without labels; ``size`` 0, 1, ... takes one number of features instead of the mean of all."""

        def value(result: dict, method: str) -> float | None:
            found = result["free"]["values"].get(method)
            return None if found is None else float(np.mean(found if size < 0 else [v[size] for v in found]))

        chosen = [r for r in self.found if r["task"] == task and kind in (None, r["kind"])]
        return _slice([r for r in chosen if size < len(r["sizes"])], methods, value)

    def measured(self, measure: str, methods: Sequence[str]) -> Slice:
        """NMI of clusters, or redundancy, of methods without labels."""
        chosen = [r for r in self.found if r["task"] == "classes"]
        return _slice(chosen, methods, lambda result, method: result["free"][measure].get(method))

    def curve(self, place: int, methods: Sequence[str]) -> Slice:
        """Methods without labels at one of the numbers of features of the longer curves, on the sets that have them."""
        chosen = [r for r in self.found if r["task"] == "classes" and r["free"]["curves"].get("random")]
        return _slice(chosen, methods, lambda result, method: result["free"]["curves"].get(method, [None] * 9)[place])

    def told(self, question: str, budgets: Sequence[int], methods: Sequence[str], measure: str = "values") -> Slice:
        """Methods told labels, pairs or targets; the mean over those of the budgets that a set has for all methods."""

        def value(result: dict, method: str) -> float | None:
            cells = [result.get(question, {}).get(str(budget)) for budget in budgets]
            cells = [c[measure] for c in cells if c is not None and all(name in c[measure] for name in methods)]
            return float(np.mean([np.mean(cell[method]) for cell in cells])) if cells else None

        return _slice(self.found, methods, value)

    def budgets(self, question: str) -> list[int]:
        """All budgets that at least two sets have."""
        found = [int(budget) for result in self.found for budget in result.get(question, {})]
        return sorted({budget for budget in found if found.count(budget) > 1})


def _slice(results: Sequence[dict[str, Any]], methods: Sequence[str], value: Any) -> Slice:
    """The sets on which every method has a value."""
    rows = [(result, [value(result, method) for method in methods]) for result in results]
    rows = [(result, values) for result, values in rows if None not in values]
    table = np.array([values for _, values in rows], dtype=float).reshape(len(rows), len(methods))
    return Slice(
        tuple(result["name"] for result, _ in rows),
        tuple(result["kind"] for result, _ in rows),
        dict(zip(methods, table.T, strict=True)),
    )
