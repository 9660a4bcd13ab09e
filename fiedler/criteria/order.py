"""The only module that turns scores into an order of the features.

The criterion gives the direction. NaN comes last in every method. +inf comes last if small is good, and first if large
is good. Equal scores keep the order of the columns.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np


def rank_features(scores: np.ndarray, greater_is_better: bool, tie_breaker: np.ndarray | None = None) -> np.ndarray:
    """Column indices, best first: NaN last, equal scores by ``tie_breaker`` (same direction), then by column.

    Examples
    --------
    >>> import numpy as np
    >>> from fiedler.criteria.order import rank_features
    >>> rank_features(np.array([0.5, np.nan, 0.2, 0.5, np.inf]), greater_is_better=False)
    array([2, 0, 3, 4, 1])
    """
    sign = -1.0 if greater_is_better else 1.0
    ties = np.zeros(len(scores)) if tie_breaker is None else sign * tie_breaker
    return np.lexsort((np.arange(len(scores)), ties, sign * scores, np.isnan(scores)))


def ranks_of(order: np.ndarray) -> np.ndarray:
    """The rank of every column in an order, 1 for the first.

    Examples
    --------
    >>> import numpy as np
    >>> from fiedler.criteria.order import ranks_of
    >>> ranks_of(np.array([2, 0, 1]))
    array([2, 3, 1])
    """
    ranks = np.empty(len(order), dtype=np.intp)
    ranks[order] = np.arange(1, len(order) + 1)
    return ranks


def good_enough(scores: np.ndarray, greater_is_better: bool, threshold: Any) -> np.ndarray:
    """Mask of the features whose score reaches a threshold: a number, "mean", or a multiple such as "1.25*median".

    Mean and median are taken over the finite scores. NaN never reaches the threshold.

    Examples
    --------
    >>> import numpy as np
    >>> from fiedler.criteria.order import good_enough
    >>> good_enough(np.array([0.5, np.nan, 0.1, 0.9]), greater_is_better=False, threshold="mean")
    array([ True, False,  True, False])
    """
    if isinstance(threshold, Real) and not isinstance(threshold, bool) and not np.isnan(float(threshold)):
        limit = float(threshold)
    else:
        factor, _, word = str(threshold).rpartition("*")
        try:
            statistic: Any = {"mean": np.mean, "median": np.median}[word.strip()]
            share = float(factor) if factor else 1.0
        except (KeyError, ValueError):
            raise ValueError(
                f"threshold must be a score, 'mean', 'median' or a multiple such as '1.25*mean', got {threshold!r}."
            ) from None
        finite = scores[np.isfinite(scores)]
        limit = share * float(statistic(finite)) if len(finite) else np.nan
    return scores >= limit if greater_is_better else scores <= limit


def importances(scores: np.ndarray, greater_is_better: bool) -> np.ndarray:
    """Scores as importances for scikit-learn, where large is good.

    If small is good, the importance is the difference from the worst finite score. If some scores are negative although
    large is good, the smallest one is subtracted, because scikit-learn reads the size of an importance and not its
    sign. A feature without a score, such as a constant one, or with an infinitely bad one has the importance 0.

    Examples
    --------
    >>> import numpy as np
    >>> from fiedler.criteria.order import importances
    >>> importances(np.array([0.5, np.nan, 0.25]), greater_is_better=False)
    array([0.  , 0.  , 0.25])
    """
    finite = np.isfinite(scores)
    oriented = scores if greater_is_better else scores.max(where=finite, initial=-np.inf) - scores
    least = oriented.min(where=finite, initial=0.0)
    return np.where(finite | (oriented == np.inf), oriented - least, 0.0)


def check_scored(criterion: Any, scores: np.ndarray, at_least: int, where: str = "") -> None:
    """Raise an error if a selection would need features without a score."""
    scored = int(np.sum(~np.isnan(scores)))
    if scored < at_least:
        raise ValueError(
            f"{at_least} features are requested, but {criterion!r} scores only {scored} of {len(scores)}{where}: the "
            "others are NaN (constant on the rows it reads, or 0/0). Request fewer features, or give more labels."
        )
