"""Checks of parameters and reprs for all rooms, with one style of messages. This module imports no room."""

from __future__ import annotations

import importlib
import inspect
import os
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from .errors import ParameterError

if TYPE_CHECKING:
    from typing_extensions import TypeIs


_parameter_names: dict[type, list[str]] = {}


def parameters(estimator: BaseEstimator) -> dict[str, Any]:
    """The same as ``get_params(deep=False)``, without reading the signature each time."""
    kind = type(estimator)
    if kind not in _parameter_names:
        _parameter_names[kind] = kind._get_param_names()
    return {name: getattr(estimator, name) for name in _parameter_names[kind]}


def call_repr(estimator: BaseEstimator) -> str:
    """``Name(value, param=value)``: required parameters by position, others only if they differ from the default."""
    shown = []
    signature = inspect.signature(type(estimator).__init__).parameters
    for name in (n for n in signature if n in parameters(estimator)):
        value, parameter = getattr(estimator, name), signature[name]
        if hasattr(value, "shape") and (hasattr(value, "dtype") or hasattr(value, "columns")):
            text = f"<{' x '.join(map(str, value.shape))} array>"
        else:
            text = value.__name__ if callable(value) and hasattr(value, "__name__") else repr(value)
        if " at 0x" in text or "\n" in text:  # a memory address is not useful
            text = f"<{type(value).__name__}>"
        if parameter.default is inspect.Parameter.empty:
            shown.append(text)
        elif text != repr(parameter.default):
            shown.append(f"{name}={text}")
    return f"{type(estimator).__name__}({', '.join(shown)})"


def is_sparse(A: Any) -> TypeIs[sp.csr_array | sp.csc_array]:
    """Whether A is sparse; sparse input of users is first converted to a csr or csc array."""
    return sp.issparse(A)


def check_integer(name: str, value: Any, least: int) -> int:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
        message = f"{name} must be an integer of at least {least}, got {value!r}."
        raise ParameterError(message, parameter=name, value=value)
    return int(value)


def check_positive(name: str, value: Any, optional: bool = False) -> None:
    if optional and value is None:
        return
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < np.inf:
        way_out = "; use None to choose it from the data" if optional else ""
        raise ParameterError(f"{name} must be a positive number, got {value!r}{way_out}.", parameter=name, value=value)


def check_choice(name: str, value: Any, choices: tuple[str | int, ...]) -> None:
    if value not in choices:
        message = f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}."
        raise ParameterError(message, parameter=name, value=value)


def check_share(name: str, value: Any) -> None:
    """Check that a value is a number in [0, 1]."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 <= float(value) <= 1:
        message = f"{name} must be a number between 0 and 1, got {value!r}."
        raise ParameterError(message, parameter=name, value=value)


def require(module: str, extra: str, path: str | os.PathLike) -> Any:
    """Import an optional package; the error names the extra that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        package = {"arff": "liac-arff"}.get(module, module.partition(".")[0])
        raise ImportError(f"{path} needs {package}; install it with: pip install 'fiedler[{extra}]'") from None
