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

NEGLIGIBLE = 1e-10  # a direction with less than this share of the largest is rounding


class Term(NamedTuple):
    """One part of K: a recipe and a filter give F; ``of`` says what is explained; ``factor`` is κ."""

    graph: Recipe | None
    filter: Any
    of: str  # "features" or "graph"
    factor: float = 1.0

    @property
    def key(self) -> Hashable:
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
