"""How a criterion is tested: against which other scores a feature's score is compared.

The null hypothesis of a feature is always the same: its values are exchangeable over the rows, given the graph. What
differs is how the scores under it are known. A criterion says so in :meth:`fiedler.criteria.Criterion.null`, and
:mod:`fiedler.significance` does the test.

    Quotient        scores are ordered like f'Lf / f̃'Df̃, or f'L₁f / f'L₂f: a closed form is known
    LabelOrders     the labels are permuted, the rest of the score stays as it is
    FeatureOrders   the values of the feature are permuted; works for every score, and takes long
    NoTest          there is nothing to test, and why
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ..graphs import Recipe


@dataclass(frozen=True)
class Quotient:
    """The order of the scores is that of f'Lf / f̃'Df̃ on a graph, or of f'L₁f / f'L₂f on two; small is good.

    Parameters
    ----------
    graph : Recipe
        L, or L₁.
    other : Recipe, optional
        L₂. By default the quotient is the Rayleigh quotient of ``graph`` alone.
    """

    graph: Recipe
    other: Recipe | None = None

    @property
    def recipes(self) -> list[Recipe]:
        """The graphs that the test needs."""
        return [self.graph] if self.other is None else [self.graph, self.other]


@dataclass(frozen=True)
class LabelOrders:
    """The score holds ``weight`` (1 - NMI(sign(f̃), y)), and everything else in it reads no labels.

    Parameters
    ----------
    graph : Recipe
        Its degrees centre f̃.
    weight : float, default=1.0
        The factor of the label term.
    """

    graph: Recipe
    weight: float = 1.0

    @property
    def recipes(self) -> list[Recipe]:
        """The graphs that the test needs."""
        return [self.graph]


@dataclass(frozen=True)
class FeatureOrders:
    """Nothing is known about the scores of a permuted feature but what permutations show."""


@dataclass(frozen=True)
class NoTest:
    """No test exists.

    Parameters
    ----------
    why : str
        The reason, and what to test instead. It reads on after the name of the criterion.
    in_formulas : bool, default=True
        Whether formulas that contain the criterion cannot be tested either.
    """

    why: str
    in_formulas: bool = True


Null: TypeAlias = Quotient | LabelOrders | FeatureOrders | NoTest


def null_of_sum(left: Null, right: Null) -> Null:
    """The null of the sum of two scores."""
    both = (left, right)
    labels = next((part for part in both if isinstance(part, LabelOrders)), None)
    graph = next((part for part in both if isinstance(part, Quotient) and part.other is None), None)
    if labels is not None and graph is not None and labels.graph.key == graph.graph.key:
        return labels
    return null_of_formula(left, right)


def null_of_formula(left: Null, right: Null) -> Null:
    """The null of any other formula of two scores."""
    missing = [part for part in (left, right) if isinstance(part, NoTest)]
    decisive = [part for part in missing if part.in_formulas]
    if decisive or len(missing) == 2:
        return (decisive or missing)[0]
    return FeatureOrders()
