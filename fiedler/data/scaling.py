"""Scaling of columns on request; the package never scales features automatically."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ParameterError
from ..validation import check_choice, is_sparse
from .arrays import Matrix
from .source import Source

SCALES = ("none", "standard", "minmax")
_SEEN = 1000  # numbers of rows and columns from which the spread is estimated


def scaled(X: Matrix, how: str) -> Matrix:
    """X with every column at unit variance ("standard"), in [0, 1] ("minmax"), or unchanged ("none").

    Sparse columns are only divided by their standard deviation or their largest absolute value, so that zeros stay 0.
    """
    check_choice("scale", how, SCALES)
    if how == "none":
        return X
    if isinstance(X, Source):
        raise ParameterError(
            f"scale={how!r} needs all of {X.label} in memory; scale it before, or allow more memory.",
            parameter="scale",
            value=how,
            way_out={"more memory": ("memory", ...)},
        )
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

    if how == "standard":
        return StandardScaler(with_mean=not is_sparse(X)).fit_transform(X)
    return (MaxAbsScaler() if is_sparse(X) else MinMaxScaler()).fit_transform(X)


def uneven_columns(X: Any) -> tuple[int, int, float] | None:
    """Two columns whose standard deviations differ by more than a factor of 100, and the factor; else None.

    Only the middle 90 % of the columns are compared, so that single unusual columns do not count.
    """
    if isinstance(X, Source) or X.shape[1] < 2:
        return None
    rows = np.linspace(0, X.shape[0] - 1, min(X.shape[0], _SEEN)).astype(np.intp)
    columns = np.linspace(0, X.shape[1] - 1, min(X.shape[1], _SEEN)).astype(np.intp)
    with np.errstate(over="ignore", invalid="ignore"):
        part = X[rows][:, columns].toarray() if is_sparse(X) else X[np.ix_(rows, columns)]
        spread = part.std(axis=0, dtype=np.float64)
    used = np.flatnonzero(np.isfinite(spread) & (spread > 0))
    if len(used) < 2:
        return None
    order = used[np.argsort(spread[used], kind="stable")]
    low, high = order[int(0.05 * (len(order) - 1))], order[-1 - int(0.05 * (len(order) - 1))]
    factor = float(spread[high] / spread[low])
    return (int(columns[high]), int(columns[low]), factor) if factor > 100 else None
