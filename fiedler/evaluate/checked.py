"""Checks of a ranking inside an evaluation: the labels fit the criterion, and enough features have a score."""

from __future__ import annotations

from ..criteria import Criterion
from ..criteria.order import check_scored
from ..errors import ParameterError
from ..problem import Problem
from ..selection.ranking import Ranking, rank
from .curves import Target

_KINDS = {"classes": "class labels", "target": "a real target", "pairs": "pairs or class labels"}


def checked_ranking(criterion: Criterion, problem: Problem, at_least: int = 1, where: str = "") -> Ranking:
    """A ranking in which at least ``at_least`` features have a score."""
    ranking = rank(criterion, problem, at_least)
    check_scored(criterion, ranking.scores, at_least, where)
    return ranking


def check_reads(criterion: Criterion, target: Target | None, who: str, has_pairs: bool = False) -> None:
    """Raise an error if y does not fit the criterion; hidden classes are -1 and would be read as targets."""
    reads = criterion.reads - ({"pairs"} if has_pairs else set())
    what = " and ".join(_KINDS[kind] for kind in sorted(reads))
    if reads and target is None:
        absent = "y to be passed, but the target y is None"  # the words of Criterion.check_problem
        message = f"{who} requires {absent}: it reads {what}; otherwise leave it out."
        raise ParameterError(message, parameter="y", way_out={absent: ("y", ...)})
    metric = None if target is None else target.metric
    if "target" in reads and metric == "accuracy":
        raise ValueError(
            f"{who} reads a real target, but y holds classes; leave it out, or pass a regressor as estimator, such as "
            "KNeighborsRegressor(5), to read y as a target."
        )
    if reads & {"classes", "pairs"} and metric == "rmse":
        raise ValueError(f"{who} reads {what}, but y holds a real target; leave it out.")
