"""Errors and warnings that carry the parameter, its value and the way out as data. It imports nothing of ours."""

from __future__ import annotations

import sys
import warnings
from typing import Any

_INSIDE = {"fiedler", "sklearn", "joblib"}


def _way_in() -> list[str]:
    """The modules of this package and scikit-learn between the function that asks and the line of the user."""
    modules, frame = list[str](), sys._getframe(2)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).split(".")[0] in _INSIDE:
        modules.append(str(frame.f_globals["__name__"]))
        frame = frame.f_back
    return modules


def outside() -> int:
    """The ``stacklevel`` that points a warning to the line of the user, not into this package or scikit-learn."""
    return len(_way_in()) + 1


def in_a_pipeline() -> bool:
    """Whether scikit-learn's Pipeline calls, which passes y to every step."""
    return not {"sklearn.pipeline", "sklearn.compose._column_transformer"}.isdisjoint(_way_in())


_told: set[tuple[str, str, int]] = set()


def warn_once(warning: Warning) -> None:
    """Warn the user's line; where Python shows a warning once per line, that holds inside a grid search, too."""
    message, level = str(warning), outside() - 1
    filters = (f[0] for f in warnings.filters if (not f[1] or f[1].match(message)) and isinstance(warning, f[2]))
    line = sys._getframe(level)
    key = message, line.f_code.co_filename, line.f_lineno
    if next(filters, "default") != "default" or key not in _told:
        _told.add(key)
        warnings.warn(warning, stacklevel=level + 1)


class Mentions(Exception):  # noqa: N818 - warnings are among its kinds
    """A message with its parameters as data, so that the command line can replace them by its options.

    Parameters
    ----------
    message : str
        One sentence: the parameter, its value, and the way out.
    parameter : str or tuple of str
        The parameters that the message names.
    value : object, optional
        The value that cannot be used.
    way_out : dict, optional
        Parts of the message that name a setting, and the setting: ``{"force=True": ("force", True)}``.
    """

    def __init__(
        self,
        message: str,
        *,
        parameter: str | tuple[str, ...] = (),
        value: Any = None,
        way_out: dict[str, tuple[str, Any]] | None = None,
    ):
        super().__init__(message)
        self.parameter, self.value, self.way_out = parameter, value, way_out or {}


class ParameterError(Mentions, ValueError):
    """A value that cannot be used."""


class ParameterTypeError(Mentions, TypeError):
    """A value of a type that cannot be used."""


class ParameterWarning(Mentions, UserWarning):
    """A value that can be used, but probably not as intended."""


class ScaleWarning(ParameterWarning):
    """Columns whose spreads differ so much that the widest ones alone decide which rows are similar.

    Parameters
    ----------
    message : str
        Which columns, by how much, and the way out.
    parameter : str or tuple of str
        The parameters that the message names.
    value : object, optional
        Not used.
    way_out : dict, optional
        Parts of the message that name a setting, and the setting.
    """


class TableWarning(ParameterWarning):
    """A table that is not purely numeric: what was left out, standardised, or read in another form.

    Parameters
    ----------
    message : str
        What was done with the columns.
    parameter : str or tuple of str
        The parameters that the message names.
    value : object, optional
        As in other warnings.
    way_out : dict, optional
        As in other warnings.
    """
