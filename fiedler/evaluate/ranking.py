"""One ranking inside an evaluation: fit a criterion, check that it scored what is needed."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..criterion import Criterion
from ..selector import SpectralSelector
from .curves import Target


def fit_ranking(
    criterion: Criterion,
    X: Any,
    y: Any = None,
    *,
    at_least: int = 1,
    where: str = "",
    unlabeled: Any = -1,
    **pairs: Any,
) -> SpectralSelector:
    """A fitted selector that gives at least so many features a score."""
    with warnings.catch_warnings():  # the error below says it better
        warnings.filterwarnings("ignore", message=".*selected features have no score")
        selector = SpectralSelector(criterion, n_features_to_select=1, unlabeled=unlabeled).fit(X, y, **pairs)
    check_scored(criterion, selector.scores_, at_least, where)
    return selector


def check_scored(criterion: Criterion, scores: np.ndarray, at_least: int, where: str = "") -> None:
    """Stop where a selection would have to take features without a score."""
    scored = int(np.sum(~np.isnan(scores)))
    if scored < at_least:
        raise ValueError(
            f"{at_least} features are asked for, but {criterion!r} scores only {scored} of {len(scores)}{where}: the "
            "others are NaN (constant on the rows it reads, or 0/0). Ask for fewer features, or show it more labels."
        )


def check_reads(criterion: Criterion, target: Target | None, who: str) -> None:
    """Stop where y is not what a criterion reads: hidden classes are -1, which a target's reader would believe."""
    reads = criterion.reads
    if reads and target is None:
        raise ValueError(f"{who} reads {', '.join(sorted(reads))}, but y is None; pass y or leave it out.")
    if "target" in reads and target.metric == "accuracy":
        raise ValueError(
            f"{who} reads a real target, but y holds classes; leave it out, or pass a regressor as estimator, such as "
            "KNeighborsRegressor(5), to read y as a target."
        )
    if reads & {"classes", "pairs"} and target.metric == "rmse":
        raise ValueError(f"{who} reads {', '.join(sorted(reads))}, but y holds a real target; leave it out.")
