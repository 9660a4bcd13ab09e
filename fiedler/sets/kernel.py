"""The kernel K over the samples, a share of which a set of features explains: the base class of its forms.

    J(S) = tr[(C_S' C_S)⁻¹ C_S' K C_S]        C: X centred (and weighted, if the graph sets the measure M = D)
    K = Σ_t κ_t F_t C C' F_t                  of="features": all features averaged over neighbours
    K = Σ_t κ_t F_t                           of="graph": the coordinates of the samples on the graph

J is a sum of gains, one per added feature. Each gain is num / den = c̃'K c̃ / c̃'c̃ for the residual c̃ of the column on
the columns before it. For |S| = 1 it is the quotient of the column itself.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..data.columns import Groups
from ..graphs import Recipe
from ..problem import Same

_LEFT = {True: 1e-8, False: 1e-5}  # smallest share of the residual of a column, in double and in single precision
TIE = 1e-9  # scores this close to the best are ties
FACTORED = 0.01  # share of n³ that decides on BLAS threads for factors: a second one saves little
NEGLIGIBLE = 1e-10  # a direction with a smaller share of the largest is rounding error


class Term(NamedTuple):
    """One part of the kernel K of a set criterion.

    Parameters
    ----------
    graph : Recipe or None
        The graph of F; None is allowed only with the filter "identity".
    filter : {"smooth", "steps", "walk", "identity"}, float or callable
        F as a function of 𝓛, as in :class:`fiedler.Explained`.
    of : {"features", "graph"}
        What is explained: F C C' F, or F.
    factor : float, default=1.0
        The factor κ of this term.
    """

    graph: Recipe | None
    filter: Any
    of: str  # "features" or "graph"
    factor: float = 1.0

    @property
    def key(self) -> Hashable:
        """A key that is equal for equal terms; functions compare by identity."""
        plain = isinstance(self.filter, (str, int, float))
        graph = None if self.graph is None else self.graph.key
        return graph, self.filter if plain else Same(self.filter), self.of, self.factor


class Kernel:
    """K with the values of the first step: num = c'Kc and den = c'c of every feature, and J(all features).

    Attributes
    ----------
    num, den : ndarray of shape (m,)
    total : float
        J(all features), or its upper bound tr K if the exact value would cost n³ for tens of thousands of rows.
    bytes_for_total : int
        Memory that must be kept until ``total`` is read; 0 if it is known.
    """

    num: np.ndarray
    den: np.ndarray
    total: float
    bytes_for_total: int = 0


def gains(num: np.ndarray, den: np.ndarray, power: float, relevance: np.ndarray | None) -> np.ndarray:
    """r · num / den^power, NaN where den is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = np.maximum(num, 0.0) / (np.sqrt(den) if power == 0.5 else den**power)
    if relevance is not None:
        scores *= relevance
    scores[den <= 0.0] = np.nan
    return scores


# -------------------------------------------------------------------- one step of forward selection


class Search:
    """The scores that a search compares: r · num / den^power, for columns with a large enough residual.

    If features consist of several columns, num and den are added over the columns of a feature. The features ``first``
    are taken before any other, in their order and whatever their scores.
    """

    def __init__(
        self,
        kernel: Kernel,
        power: float,
        relevance: np.ndarray | None,
        double: bool,
        groups: Groups | None = None,
        first: Sequence[int] = (),
    ):
        self.power, self.relevance, self.floor, self.groups = power, relevance, _LEFT[double] * kernel.den, groups
        self.first = list(first)
        self._usable = kernel.den > 0.0

    def scores(self, num: np.ndarray, den: np.ndarray, columns: np.ndarray | slice = slice(None)) -> np.ndarray:
        """The scores of some columns, or of all features; -inf where there is no residual."""
        live = self._usable[columns] & (den > self.floor[columns])
        if self.groups is not None:
            num, den = (self.groups.sum(np.where(live, values, 0.0)) for values in (num, den))
            live = den > 0.0
        weights = None if self.relevance is None else self.relevance[columns]
        return np.where(live, gains(num, np.where(live, den, 1.0), self.power, weights), -np.inf)

    def columns(self, feature: int) -> list[int]:
        """The columns of a feature."""
        return [feature] if self.groups is None else self.groups.columns(feature).tolist()


def best(scores: np.ndarray, columns: np.ndarray | None = None) -> int:
    """The position of the best score; ties go to the smaller column; -1 if no score is above 0."""
    most = scores.max(initial=-np.inf)
    if not most > 0.0:
        return -1
    tied = np.flatnonzero(scores >= most * (1.0 - TIE))
    return int(tied[0] if columns is None else tied[np.argmin(columns[tied])])


class Steps(NamedTuple):
    """A finished path: the chosen features, their gains of J, and num and den of all columns at the end."""

    picked: list[int]
    gained: list[float]
    num: np.ndarray
    den: np.ndarray
