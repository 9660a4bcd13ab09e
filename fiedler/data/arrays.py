"""X in memory or in a source: taken out of its container, checked once, scaled on request, and read in float64.

X is an ndarray, a ``csc_array`` or a :class:`Source`, in its original dtype. A block is a C-ordered float64 ndarray of
shape (n, b), or a float64 ``csc_array`` if X is sparse. Containers (AnnData, xarray, lazy frames) are recognised by the
module of their class, so none of their libraries is imported.

Columns are uneven if their spreads differ so much that the widest ones decide alone. The spread of a column is its
standard deviation, or a twentieth of its range if that is more. The range counts, because a column that is 0 in nearly
all rows, such as a pixel at the border, may have the unit of all others and still hardly any variance.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from ..errors import ParameterError, ScaleWarning
from ..validation import check_choice, is_sparse
from .dask import DaskSource
from .files import ArrayFile, SparseFile
from .memory import check_size
from .source import Part, Source, check_finite, column_name

Matrix: TypeAlias = np.ndarray | sp.csc_array | Source
Block: TypeAlias = np.ndarray | sp.csc_array  # some columns of all rows, in float64
Rows: TypeAlias = np.ndarray | sp.csr_array  # some rows of all columns, in float64
SCALES = ("standard", "minmax", "keep")
# What a message about uneven columns offers.
SCALE_SETTINGS: dict[str, tuple[str, Any]] = {f"scale={how!r}": ("scale", how) for how in SCALES}
UNEVEN = 1000.0  # columns whose spreads differ by more are uneven
_NARROWEST = 0.05  # share of the columns, the narrowest, that do not count: they change little
_SEEN = 1000  # numbers of rows and columns that are looked at first
_ROUNDING = 1e-9  # a column whose range is a smaller share of its values is constant
_NOTHING = 1e-12  # so small a share of the widest spread is rounding
_NAMED = 3  # columns of each kind that are reported


# -------------------------------------------------------------------- containers


def opened(X: Any) -> tuple[Any, Any]:
    """The matrix inside a container, and an object from which scikit-learn reads names and number of columns.

    The matrix of an AnnData is its X; other objects than AnnData, DataArray and lazy frames are returned unchanged.
    """
    package, kind = home(X), type(X).__name__
    if package == "anndata" and hasattr(X, "obs_names"):
        inside = anndata_matrix(X)
        if inside is None:
            layers = ", ".join(X.layers) or "there are none"
            raise ValueError(f"the AnnData has no X; pass one of its layers: {layers}.")
        return inside, _named(X.var_names, X.n_vars)
    if package == "mudata":
        raise TypeError(f"X is a whole {kind}; pass one of its modalities, for example mdata['rna'].")
    if package == "xarray":
        if kind != "DataArray" or X.ndim != 2:
            raise TypeError(f"X is an xarray {kind}; pass a DataArray with two dimensions, samples and features.")
        return X.data, _named(X.coords[X.dims[1]].values if X.dims[1] in X.coords else (), X.shape[1])
    if package == "polars" and kind == "LazyFrame":
        X = X.collect()
    names = number_names(X) if package == "pandas" else None
    return X, X if names is None else _named(names, len(names))


def number_names(X: Any) -> list[str] | None:
    """The names of a pandas frame as text, if some of them are numbers, such as wavelengths.

    None for all other objects, and for columns that are numbered 0, 1, 2, ..., which says nothing about them.
    """
    if home(X) != "pandas" or type(X).__name__ != "DataFrame":
        return None
    names = X.columns.tolist()
    known = all(isinstance(name, (str, int, float)) and not isinstance(name, bool) for name in names)
    numbers = known and any(not isinstance(name, str) for name in names)
    return [str(name) for name in names] if numbers and names != list(range(len(names))) else None


def with_text_names(X: Any) -> Any:
    """X with text in place of names that are numbers; the values are not copied."""
    names = number_names(X)
    if names is None:
        return X
    X = X.copy(deep=False)
    X.columns = names
    return X


def anndata_matrix(adata: Any, layer: str | None = None) -> Any:
    """X or a layer of an AnnData; raises a clear error for a view of a file that anndata cannot read."""
    try:
        matrix = adata.X if layer is None else adata.layers[layer]
        # anndata 0.13 loses a row of such a view without a word.
        if matrix is not None and tuple(matrix.shape) != tuple(adata.shape):
            raise ValueError(f"the matrix has shape {matrix.shape}, but the AnnData {adata.shape}")
        return matrix
    except Exception as error:
        if not (adata.isbacked and adata.is_view):
            raise
        raise ValueError(
            f"this view of the backed AnnData {adata.filename} cannot be read, because anndata reads no rows or "
            "columns backwards from a file; choose them by number, as in adata[np.arange(adata.n_obs)[::-1]]."
        ) from error


def is_container(X: Any) -> bool:
    """Whether X holds more than a matrix and its names, and all of it can be sliced by columns."""
    return (home(X) == "anndata" and hasattr(X, "obs_names")) or (
        home(X) == "xarray" and type(X).__name__ == "DataArray"
    )


def home(X: Any) -> str:
    """The package of the class of X."""
    return type(X).__module__.partition(".")[0]


def _named(names: Any, n_columns: int) -> Any:
    """A frame without rows if the names are text; pandas is available, as AnnData and xarray require it."""
    names = list(names)
    if not names or not all(isinstance(name, str) for name in names):
        return np.empty((0, n_columns))
    from pandas import DataFrame

    return DataFrame(columns=[str(name) for name in names], index=range(0))  # scikit-learn accepts only type str


# -------------------------------------------------------------------- checked once


def validate_X(X: Any, column_names: Any = None, missing: bool = False) -> Matrix:
    """Check a numeric matrix once and return it as an ndarray or a csc array, without changing its dtype.

    Data that are not in memory become a :class:`fiedler.sources.Source`, whose values are checked when they are read.
    The values are copied only if the container requires it, and never modified. ``column_names`` are used in messages;
    frames have their own. With ``missing`` a dense matrix in memory may hold NaN.
    """
    names = column_names if column_names is not None else getattr(X, "columns", None)
    source = as_source(X)  # before its values are read
    if source is not None:
        n, m = source.shape
        if n < 2 or m < 1:
            raise ValueError(f"{source.label} has shape {source.shape}; at least 2 rows and 1 column are required.")
        # At least one vector per row and per column is needed.
        check_size(source.label, f"{n} rows and {m} columns", 16.0 * (n + m))
        source.names = source.names if names is None else names
        return source
    if np.ma.is_masked(X):
        X = X.astype(np.float64).filled(np.nan)  # masked values are missing values, which are reported below
    try:
        checked = check_array(
            X, accept_sparse=("csc", "csr", "coo"), dtype="numeric", ensure_all_finite=False, ensure_min_samples=2
        )
        if checked.dtype.kind not in "biuf":  # objects and dates pass the check above
            checked = checked.astype(np.float64)
    except (ValueError, TypeError) as error:
        culprit = _text_column(X)
        if culprit is None:
            raise
        where = f"column {column_name(names, culprit[0])} holds {culprit[1]!r}"
        raise type(error)(f"X must be numeric, but {where} ({error}); encode or drop that column.") from error
    if is_sparse(checked):
        checked = sp.csc_array(checked)
        if not checked.has_canonical_format:
            checked = checked.copy()  # the arrays may be shared with the caller
            checked.sum_duplicates()
    holes = missing and not is_sparse(checked) and checked.dtype.kind == "f"
    more = "" if holes else ", for example with sklearn.impute.SimpleImputer in a Pipeline"
    check_finite(checked, "X", names, more=more, nan=holes)
    return checked


def holes_of(X: np.ndarray) -> np.ndarray | None:
    """Mask of the known values of a dense matrix; None if all are known."""
    if X.dtype.kind != "f":
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isnan(np.sum(X)):  # one pass without a temporary array
            return None
    known = ~np.isnan(X)
    return None if known.all() else known


def as_source(X: Any) -> Source | None:
    """X as a source if it is not in memory.

    Parameters
    ----------
    X : object
        A source, a Dask array, a Zarr array, an HDF5 dataset, a sparse matrix of a backed AnnData; or anything else.

    Returns
    -------
    source : Source or None
        None for everything else.
    """
    if isinstance(X, Source):
        return X
    package, kind = home(X), type(X).__name__
    if package in ("dask", "dask_expr"):
        from dask.array import Array

        if not isinstance(X, Array):
            raise TypeError(f"X is a Dask {kind}; pass a Dask array, for example X.to_dask_array(lengths=True).")
        return DaskSource(X)
    if package in ("zarr", "h5py") and hasattr(X, "shape") and hasattr(X, "chunks"):
        return ArrayFile(X)
    if package == "anndata" and hasattr(X, "format") and hasattr(X, "group"):
        label = f"{X.group.file.filename}::{X.group.name.lstrip('/')}" if hasattr(X.group, "file") else "the AnnData X"
        return SparseFile(X.group, X.format, X.shape, label)
    return None


def _text_column(X: Any) -> tuple[int, Any] | None:
    """The first column that cannot be read as numbers, with its first invalid value."""
    if is_sparse(X) or np.ndim(X) != 2:
        return None
    for j, column in enumerate(np.asarray(X, dtype=object).T):
        for value in column:
            try:
                float(value)
            except (TypeError, ValueError):
                return None if isinstance(value, complex) else (j, value)  # scikit-learn has a message for complex data
    return None


# -------------------------------------------------------------------- rows and blocks


def rows_of(X: Matrix, rows: np.ndarray) -> Matrix:
    """Some rows of X, as the same type."""
    if isinstance(X, Source):
        return X.take_rows(rows)
    return sp.csc_array(X.tocsr()[rows]) if is_sparse(X) else X[rows]


def row_totals(X: Matrix) -> np.ndarray:
    """The sum of each row."""
    if isinstance(X, Source):
        return X.sum(row_totals)
    return np.asarray(X.sum(axis=1, dtype=np.float64)).ravel()


def take_columns(X: Matrix, columns: Any) -> Block:
    """One block of columns in float64."""
    block = X[:, columns]
    return sp.csc_array(block, dtype=np.float64) if is_sparse(block) else np.array(block, dtype=np.float64, order="C")


def as_rows(part: Part) -> Rows:
    """Some rows in float64."""
    return as_csr(part) if is_sparse(part) else np.array(part, dtype=np.float64, order="C")


def as_csr(A: sp.csr_array | sp.csc_array, copy: bool = False) -> sp.csr_array:
    """A sparse array by rows, in float64."""
    return sp.csr_array(A, dtype=np.float64, copy=copy)  # type: ignore[call-overload]  # the stubs convert or cast


def dense(F: Block) -> np.ndarray:
    """A block as an ndarray; only for blocks, never for X as a whole."""
    return F.toarray(order="C") if is_sparse(F) else F


def take_rows(F: Block, rows: np.ndarray) -> np.ndarray:
    """The given rows of a block, as an ndarray."""
    return F.tocsr()[rows].toarray() if is_sparse(F) else F[rows]


# -------------------------------------------------------------------- scales of columns


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
        message = f"scale={how!r} needs all of {X.label} in memory; scale it before, or allow more memory."
        raise ParameterError(message, parameter="scale", value=how, way_out={"more memory": ("memory", ...)})
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

    if how == "standard":
        return StandardScaler(with_mean=not is_sparse(X)).fit_transform(X)
    return (MaxAbsScaler() if is_sparse(X) else MinMaxScaler()).fit_transform(X)


def without_units(C: np.ndarray, axis: int | None = 0) -> np.ndarray:
    """Columns (or all of C) divided by a power of two near their largest value: exact, and no square overflows."""
    return np.ldexp(C, -np.frexp(np.fmax.reduce(np.abs(C), axis=axis))[1])  # fmax passes over NaN


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
    found = _compared(_spreads(some), columns, factor)
    if found is None or len(rows) == X.shape[0]:
        return found
    columns = np.array([j for j, _ in (*found.narrow, *found.wide)])
    return _compared(_spreads((X.tocsc() if is_sparse(X) else X)[:, columns]), columns, factor)


def warn_if_uneven(X: Any, names: Any, reader: str, way_out: dict[str, tuple[str, Any]]) -> None:
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
    warnings.warn(ScaleWarning(message, parameter="scale", way_out=way_out), stacklevel=3)


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


def _spreads(part: Any) -> np.ndarray:
    """The spread of some columns over their known values; 0 for a column that is constant but for rounding."""
    values = np.array(part.toarray() if is_sparse(part) else part, dtype=np.float64)
    known = ~np.isnan(values)
    with np.errstate(over="ignore", invalid="ignore"):
        low = np.min(values, axis=0, where=known, initial=np.inf)
        high = np.max(values, axis=0, where=known, initial=-np.inf)
        values -= np.where(np.isfinite(low), low, 0.0)  # a large offset would cost digits
        count = np.maximum(known.sum(axis=0), 1)
        mean = np.sum(values, axis=0, where=known) / count
        deviation = np.sqrt(np.sum((values - mean) ** 2, axis=0, where=known) / count)
        varies = high - low > _ROUNDING * np.maximum(np.abs(high), np.abs(low))
        return np.where(varies, np.maximum(deviation, (high - low) / 20.0), 0.0)
