"""Descriptions of how a criterion is tested: the distribution of its scores under the null hypothesis.

The null hypothesis of a feature is always the same: its values are exchangeable over the rows, given the graph. The
way to obtain scores under this hypothesis differs. :meth:`fiedler.criteria.Criterion.null` states it for a criterion,
and :mod:`fiedler.significance` computes the test.

    Quotient        scores are ordered like f'Lf / f̃'Df̃, or f'L₁f / f'L₂f: a closed form is known
    ClosedForm      another closed form, built by a function of the problem
    LabelOrders     the labels are permuted, the rest of the score does not change
    FeatureOrders   the values of the feature are permuted; possible for every score, but slow
    Association     gains read labels, a target or pairs: the ranks of the feature are compared with them
    NoTest          no test exists, with the reason
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..graphs import Recipe


@dataclass(frozen=True)
class Quotient:
    """Scores ordered like f'Lf / f̃'Df̃ on one graph, or like f'L₁f / f'L₂f on two graphs; small is good.

    Parameters
    ----------
    graph : Recipe
        The graph of L, or of L₁.
    other : Recipe, optional
        The graph of L₂. By default the quotient is the Rayleigh quotient of ``graph``.
    """

    graph: Recipe
    other: Recipe | None = None

    @property
    def recipes(self) -> list[Recipe]:
        """The graphs that the test needs."""
        return [self.graph] if self.other is None else [self.graph, self.other]


@dataclass(frozen=True)
class ClosedForm:
    """Scores whose null distribution is known in closed form.

    Parameters
    ----------
    recipes : list of Recipe
        The graphs that the test needs.
    build : callable
        A problem whose graphs were not built from the tested columns -> :class:`fiedler.criteria.closed_form.Null`.
    key : hashable, optional
        The key under which a problem keeps the results, if the score follows from them.
    """

    recipes: list[Recipe]
    build: Callable[[Any], Any]
    key: Hashable = None


@dataclass(frozen=True)
class LabelOrders:
    """Scores of the form ``weight`` (1 - NMI(sign(f̃), y)) plus terms that read no labels.

    Parameters
    ----------
    graph : Recipe
        The graph whose degrees centre f̃.
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
    """Scores with no known null distribution; only permutations of the feature can show it."""


@dataclass(frozen=True)
class NoTest:
    """No test exists.

    Parameters
    ----------
    why : str
        The reason, and what to test instead. The text continues a sentence that starts with the criterion.
    in_formulas : bool, default=True
        Whether formulas that contain the criterion cannot be tested either.
    """

    why: str
    in_formulas: bool = True


@dataclass(frozen=True)
class Association:
    """Scores that follow labels, a target or pairs; the ranks of the feature are tested for association with them.

    Parameters
    ----------
    task : {"auto", "classes", "target"}, default="auto"
        What y holds.
    otherwise : Quotient, FeatureOrders or NoTest, optional
        The test if labels, targets and pairs carry no information.
    """

    task: str = "auto"
    otherwise: Any = FeatureOrders()


Null: TypeAlias = Quotient | ClosedForm | LabelOrders | FeatureOrders | Association | NoTest


def null_of_formula(left: Null, right: Null) -> Null:
    """The null description of any other formula of two scores."""
    missing = [part for part in (left, right) if isinstance(part, NoTest)]
    decisive = [part for part in missing if part.in_formulas]
    if decisive or len(missing) == 2:
        return (decisive or missing)[0]
    return FeatureOrders()
