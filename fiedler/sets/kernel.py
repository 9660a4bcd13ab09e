"""K, the kernel over the samples of which a set of features explains a share, and what every form of it has.

    J(S) = tr[(C_S' C_S)⁻¹ C_S' K C_S]        C: X centred (and weighted, where the graph sets the measure M = D)
    K = Σ_t κ_t F_t C C' F_t                  of features: all features averaged over neighbours
    K = Σ_t κ_t F_t                           of a graph: the samples' own coordinates on it

J is a sum of gains, one per feature added, each the quotient num / den = c̃'K c̃ / c̃'c̃ of the residual c̃ of its column
on those before it; |S| = 1 is the quotient of the feature itself.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from ..graphs import Recipe

_LEFT = {True: 1e-8, False: 1e-5}  # share of a column that must be left, in double and in single precision
TIE = 1e-9  # scores this near to the best are as good
NEGLIGIBLE = 1e-10  # a direction with less than this share of the largest is rounding


class Term(NamedTuple):
    """One part of the kernel K of a set criterion.

    Parameters
    ----------
    graph : Recipe or None
        The graph of F; None only for the filter "identity".
    filter : {"smooth", "walk", "identity"}, float or callable
        F as a function of 𝓛, as in :class:`fiedler.Explained`.
    of : {"features", "graph"}
        What is explained: F C C' F, or F.
    factor : float, default=1.0
        κ, what the part is multiplied by.
    """

    graph: Recipe | None
    filter: Any
    of: str  # "features" or "graph"
    factor: float = 1.0

    @property
    def key(self) -> Hashable:
        """Equal for terms that are the same; functions are told apart by identity."""
        plain = isinstance(self.filter, (str, int, float))
        graph = None if self.graph is None else self.graph.key
        return graph, self.filter if plain else id(self.filter), self.of, self.factor


class Kernel:
    """K with the first step: num = c'Kc and den = c'c of every feature, and J of all features together.

    Attributes
    ----------
    num, den : ndarray of shape (m,)
    total : float
        J(all features); where that would cost n³ at tens of thousands of rows its bound tr K.
    """

    num: np.ndarray
    den: np.ndarray
    total: float


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
