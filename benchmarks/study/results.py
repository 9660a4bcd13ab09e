"""The computed values, cut into tables of one number per method and set, which is what ranks and duels need.

Every set counts once: values are averaged over draws, numbers of features and, where several are asked for, budgets,
before sets are compared. Large is good: accuracy, or minus the RMSE in standard deviations of the target.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .ranks import Duel, Ranking, duel, rank_methods


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
        """The sets of one block: "study" or "fresh"."""
        return Results([result for result in self.found if result["block"] == name])

    def blocks(self) -> dict[str, Results]:
        """The blocks that have sets, and all sets together."""
        found = {name: self.block(name) for name in ("study", "fresh")}
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
