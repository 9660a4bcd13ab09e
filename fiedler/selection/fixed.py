"""Fixed features: columns that are always selected, given by name or by number."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import ParameterError, ParameterTypeError
from ..problem import Problem
from ..words import did_you_mean


def fixed_features(include: Any, column_names: Any, problem: Problem) -> np.ndarray:
    """The features of ``include``, in its order; a group is included by its name, or by one of its columns."""
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
    """The column numbers of ``include``, in its order.

    Parameters
    ----------
    include : str, int, or iterable of these, or None
        Names of features, or column numbers; negative numbers count from the end.
    names : iterable of str or None
        The names of the features, if they have any.
    n_features : int
        The number of features.

    Returns
    -------
    columns : ndarray of int
        Different column numbers.

    Examples
    --------
    >>> fixed_columns(["width", 0], ["length", "width", "weight"], 3)
    array([1, 0])
    """
    if include is None:
        return np.empty(0, dtype=np.intp)
    if isinstance(include, (str, int, np.integer)):
        include = [include]
    if not isinstance(include, Iterable):
        message = f"include must be names or column numbers of features, got {include!r}."
        raise ParameterTypeError(message, parameter="include", value=include)
    known = None if names is None else [str(name) for name in names]
    columns = [_column(each, known, n_features) for each in include]
    repeated = next((j for place, j in enumerate(columns) if j in columns[:place]), None)
    if repeated is not None:
        name = repeated if known is None else known[repeated]
        raise ParameterError(f"include names the feature {name!r} twice.", parameter="include", value=name)
    return np.array(columns, dtype=np.intp)


def _column(which: Any, names: list[str] | None, n_features: int) -> int:
    if isinstance(which, str):
        if names is None:
            message = f"include={which!r} is a name, but X has no column names; give column numbers, or pass a frame."
            raise ParameterError(message, parameter="include", value=which)
        if names.count(which) != 1:
            found = f"{names.count(which)} features" if which in names else "no feature"
            hint = "give its column number instead." if which in names else did_you_mean(which, names).strip()
            message = f"include={which!r}, but X has {found} of that name; {hint}".rstrip("; ")
            raise ParameterError(message, parameter="include", value=which)
        return names.index(which)
    if isinstance(which, (bool, np.bool_)) or not isinstance(which, (int, np.integer)):
        message = f"include must hold names or column numbers, got {which!r} of type {type(which).__name__}."
        raise ParameterTypeError(message, parameter="include", value=which)
    if not -n_features <= which < n_features:
        message = f"include={int(which)}, but the {n_features} features of X are numbered from 0."
        raise ParameterError(message, parameter="include", value=which)
    return int(which) % n_features
