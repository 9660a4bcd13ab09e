"""Features in order: by score, or as a set that is chosen step by step; included features come first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..criteria import Criterion
from ..criteria.criterion import Resolved
from ..criteria.order import rank_features
from ..errors import ParameterError, ParameterTypeError
from ..problem import Problem
from ..sets.formula import Shares, forward
from ..words import did_you_mean


class Ranking(NamedTuple):
    """Scores of all features, and their order.

    Attributes
    ----------
    scores : ndarray of shape (m,)
        The scores; for sets those of the first step.
    order : ndarray of shape (m,)
        Features, best first.
    shares : Shares or None
        Sets only: what each feature of the path added, and what the others would add.
    relevance : ndarray or None
        Sets only: the factor of every gain.
    n_fixed : int
        Number of features that were placed first without a choice.
    """

    scores: np.ndarray
    order: np.ndarray
    shares: Shares | None = None
    relevance: np.ndarray | None = None
    n_fixed: int = 0

    @property
    def n_scored(self) -> int:
        """Number of features before the first one without a score."""
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
        scores, ties = resolved.scored(problem if n_features is None else problem.wanting(n_features))
        ties = None if ties is None else np.where(np.isinf(scores), ties, 0.0)
        ranking = Ranking(scores, rank_features(scores, resolved.greater_is_better, ties))
    if among is None and not len(first):
        return ranking
    place = np.ones(problem.n_features) if among is None else np.where(among, 1.0, 2.0)
    place[list(first)] = np.arange(len(first)) / problem.n_features
    order = ranking.order[np.argsort(place[ranking.order], kind="stable")]
    return ranking._replace(order=order, n_fixed=len(first))


# -------------------------------------------------------------------- features that are always selected


def fixed_features(include: Any, column_names: Any, problem: Problem) -> np.ndarray:
    """Numbers of the features that ``include`` states, by name or by column; a column stands for its feature."""
    groups = problem.groups
    if include is None or groups is None or not groups.named:
        return fixed_columns(include, column_names, problem.n_features)
    first = {str(name): int(np.argmax(groups.of_input == g)) for g, name in enumerate(groups.names or ())}
    include = [include] if isinstance(include, (str, int, np.integer)) else include
    if isinstance(include, Iterable):
        include = [first.get(each, each) if isinstance(each, str) else each for each in include]
    columns = fixed_columns(include, column_names, len(groups.of_input))
    return np.array(list(dict.fromkeys(groups.of_input[columns].tolist())), dtype=np.intp)


def fixed_columns(include: Any, names: Any, n_features: int) -> np.ndarray:
    """Column numbers, given names or numbers; an error names what is unknown or stated twice."""
    if include is None:
        return np.empty(0, dtype=np.intp)
    if isinstance(include, (str, int, np.integer)):
        include = [include]
    if not isinstance(include, Iterable):
        message = f"include must be names or column numbers of features, got {include!r}."
        raise ParameterTypeError(message, parameter="include", value=include)
    known = None if names is None else [str(name) for name in names]
    columns = list[int]()
    for which in include:
        column = _named(which, known) if isinstance(which, str) else _numbered(which, n_features)
        if column in columns:
            name = column if known is None else known[column]
            raise ParameterError(f"include names the feature {name!r} twice.", parameter="include", value=name)
        columns.append(column)
    return np.array(columns, dtype=np.intp)


def _named(which: str, names: list[str] | None) -> int:
    if names is None:
        message = f"include={which!r} is a name, but X has no column names; give column numbers, or pass a frame."
    elif names.count(which) == 1:
        return names.index(which)
    else:
        found = f"{names.count(which)} features" if which in names else "no feature"
        hint = "give its column number instead." if which in names else did_you_mean(which, names).strip()
        message = f"include={which!r}, but X has {found} of that name; {hint}".rstrip("; ")
    raise ParameterError(message, parameter="include", value=which)


def _numbered(which: Any, n_features: int) -> int:
    if isinstance(which, (bool, np.bool_)) or not isinstance(which, (int, np.integer)):
        message = f"include must hold names or column numbers, got {which!r} of type {type(which).__name__}."
        raise ParameterTypeError(message, parameter="include", value=which)
    if not -n_features <= which < n_features:
        message = f"include={int(which)}, but the {n_features} features of X are numbered from 0."
        raise ParameterError(message, parameter="include", value=which)
    return int(which) % n_features
