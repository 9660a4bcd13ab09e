"""The order of the features of a problem, by their scores or by forward selection of a set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..criteria import Criterion
from ..criteria.criterion import Resolved
from ..criteria.order import rank_features
from ..problem import Problem
from ..sets.forward import Shares, forward


class Ranking(NamedTuple):
    """The ranking of features by one criterion: raw scores, and column numbers, best first.

    ``shares`` and ``relevance`` are those of :class:`fiedler.sets.forward.Path`; they are None for scores of single
    features. The order of a set starts with the chosen features. The first ``n_fixed`` features of the order are fixed,
    whatever their scores.
    """

    scores: np.ndarray
    order: np.ndarray
    shares: Shares | None = None
    relevance: np.ndarray | None = None
    n_fixed: int = 0

    @property
    def n_scored(self) -> int:
        """Number of features that are fixed or have a score; they come first in the order."""
        return self.n_fixed + int(np.sum(~np.isnan(self.scores[self.order[self.n_fixed :]])))


def rank(
    criterion: Criterion | Resolved,
    problem: Problem,
    n_features: int | None = None,
    share: float = np.inf,
    among: np.ndarray | None = None,
    first: Sequence[int] = (),
) -> Ranking:
    """Score and order the features; infinite scores are ordered by the tie breaker of the criterion.

    A set criterion chooses n_features features (by default all), or stops when they reach a share of J(all features).
    For criteria that score features one by one, n_features matters only to those that read ``problem.n_wanted``.
    Features outside the mask ``among`` come after all features inside it. The features ``first`` come before all
    others, in their order; a set is chosen given these.
    """
    resolved = criterion.resolved()
    if resolved.sets is not None:
        most = problem.n_features if n_features is None else n_features
        ranking = Ranking(*forward(resolved.sets, problem, most, share, among, first=first))
    else:
        scores, ties = resolved.scored(problem.wanting(n_features))
        ties = None if ties is None else np.where(np.isinf(scores), ties, 0.0)
        ranking = Ranking(scores, rank_features(scores, resolved.greater_is_better, ties))
    if among is None and not len(first):
        return ranking
    place = np.ones(problem.n_features) if among is None else np.where(among, 1.0, 2.0)
    place[list(first)] = np.arange(len(first)) / problem.n_features
    order = ranking.order[np.argsort(place[ranking.order], kind="stable")]
    return ranking._replace(order=order, n_fixed=len(first))
