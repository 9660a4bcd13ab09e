"""Scaling of columns on request, and columns whose spreads differ so much that the widest ones decide alone.

The spread of a column is its standard deviation, or a twentieth of its range if that is more. The range counts, because
a column that is 0 in nearly all rows, such as a pixel at the border, may have the unit of all others and still hardly
any variance.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from ..errors import ParameterError, ScaleWarning
from ..validation import check_choice, is_sparse
from .arrays import Matrix
from .source import Source, column_name

SCALES = ("standard", "minmax", "keep")
UNEVEN = 1000.0  # columns whose spreads differ by more are uneven
_NARROWEST = 0.05  # share of the columns, the narrowest, that do not count: they change little
_SEEN = 1000  # numbers of rows and columns that are looked at first
_ROUNDING = 1e-9  # a column whose range is a smaller share of its values is constant
_NOTHING = 1e-12  # so small a share of the widest spread is rounding
_AT_ONCE = 64  # number of columns that are measured at a time
_NAMED = 3  # columns of each kind that are reported


def check_scale(how: str) -> str:
    check_choice("scale", how, SCALES)
    return how


def scaled(X: Matrix, how: str) -> Matrix:
    """X with every column at unit variance ("standard"), in [0, 1] ("minmax"), or unchanged ("keep").

    Sparse columns are only divided by their standard deviation or their largest absolute value, so that zeros stay 0.
    """
    if check_scale(how) == "keep":
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


class Uneven(NamedTuple):
    """Columns whose spreads differ much.

    Parameters
    ----------
    wide, narrow : list of (int, float)
        A few columns with the largest and with the smallest spread, and their spreads.
    factor : float
        The ratio of the largest spread to the smallest one.
    """

    wide: list[tuple[int, float]]
    narrow: list[tuple[int, float]]
    factor: float


def uneven_columns(X: Any, factor: float = UNEVEN) -> Uneven | None:
    """Columns whose spreads differ by more than a factor; None if there are none, and for sources.

    Constant columns do not count, nor do the narrowest 5 % of many columns. The widest ones always count, because a
    single wide column decides all distances. Some rows are looked at first; all rows of the columns that differ there
    must confirm it.
    """
    if isinstance(X, Source) or X.shape[1] < 2:
        return None
    rows, columns = (np.linspace(0, size - 1, min(size, _SEEN)).astype(np.intp) for size in X.shape)
    some = X  # some rows of some columns, if there are many
    if X.shape != (len(rows), len(columns)):
        some = X.tocsc()[:, columns][rows] if is_sparse(X) else X[np.ix_(rows, columns)]
    if isinstance(some, np.ndarray) and _surely_even(some, factor):
        return None
    found = _compared(_spreads(some, np.arange(len(columns))), columns, factor)
    if found is None or len(rows) == X.shape[0]:
        return found
    columns = np.array([j for j, _ in (*found.narrow, *found.wide)])
    return _compared(_spreads(X, columns), columns, factor)


def warn_if_uneven(X: Any, names: Any, reader: str, way_out: dict[str, tuple[str, Any]], stacklevel: int = 3) -> None:
    """Warn if a criterion that reads the units of the columns gets uneven columns.

    Parameters
    ----------
    X : ndarray, csc_array or Source
        The data; nothing is said about a source.
    names : sequence or None
        The names of the columns.
    reader : str
        The criterion, as text.
    way_out : dict
        What the user can do, as in :class:`fiedler.errors.ParameterWarning`; empty if there is no parameter for it.
    stacklevel : int, default=3
        As in :func:`warnings.warn`.
    """
    uneven = uneven_columns(X)
    if uneven is None:
        return
    wide, narrow = (
        ", ".join(f"{column_name(names, j)} ({spread:.3g})" for j, spread in which)
        for which in (uneven.wide, uneven.narrow)
    )
    settings = list(way_out) or ["sklearn.preprocessing.StandardScaler"]
    todo = f"Bring them to one scale with {' or '.join(settings[:2])}"
    todo += f", or keep them with {settings[2]}." if len(settings) > 2 else "."
    message = (
        f"columns differ in spread by a factor of {uneven.factor:,.0f}: {wide} against {narrow}. {reader} reads "
        f"columns as they are, so the widest ones decide. {todo}"
    )
    warnings.warn(ScaleWarning(message, parameter="scale", way_out=way_out), stacklevel=stacklevel)


def _compared(spread: np.ndarray, columns: np.ndarray, factor: float) -> Uneven | None:
    spread = np.where(np.isfinite(spread), spread, 0.0)
    used = np.flatnonzero(spread > _NOTHING * spread.max(initial=0.0))
    if len(used) < 2:
        return None
    order = used[np.argsort(spread[used], kind="stable")]
    order = order[int(_NARROWEST * (len(order) - 1)) :]
    least, most = spread[order[0]], spread[order[-1]]
    if not most > factor * least:
        return None
    middle = np.sqrt(most) * np.sqrt(least)
    wide = [(int(columns[j]), float(spread[j])) for j in order[::-1][:_NAMED] if spread[j] > middle]
    narrow = [(int(columns[j]), float(spread[j])) for j in order[:_NAMED] if spread[j] < middle]
    return Uneven(wide, narrow, float(most / least))


def _surely_even(X: np.ndarray, factor: float) -> bool:
    """Whether the ranges of the columns alone exclude that spreads differ by more than a factor.

    A standard deviation is at most half of the range, so a spread is between a twentieth and a half of the range.
    """
    low, high = (values.astype(np.float64) for values in (X.min(axis=0), X.max(axis=0)))
    with np.errstate(over="ignore", invalid="ignore"):
        ranges = high - low
        varying = ranges[ranges > 0.0]
        even = 10.0 * varying.max(initial=0.0) <= factor * varying.min(initial=np.inf)
        return bool(np.isfinite(ranges).all() and even)


def _spreads(X: Any, columns: np.ndarray) -> np.ndarray:
    """The spread of some columns over their known values; 0 for a column that is constant but for rounding."""
    parts = []
    X = X.tocsc() if is_sparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, len(columns), _AT_ONCE):
            part = X[:, columns[start : start + _AT_ONCE]]
            values = np.array(part.toarray() if is_sparse(part) else part, dtype=np.float64)
            known = ~np.isnan(values)
            low = np.min(values, axis=0, where=known, initial=np.inf)
            high = np.max(values, axis=0, where=known, initial=-np.inf)
            values -= np.where(np.isfinite(low), low, 0.0)  # a large offset would cost digits
            count = np.maximum(known.sum(axis=0), 1)
            mean = np.sum(values, axis=0, where=known) / count
            deviation = np.sqrt(np.sum((values - mean) ** 2, axis=0, where=known) / count)
            varies = high - low > _ROUNDING * np.maximum(np.abs(high), np.abs(low))
            parts.append(np.where(varies, np.maximum(deviation, (high - low) / 20.0), 0.0))
    return np.concatenate(parts)
