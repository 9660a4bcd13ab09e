"""X in memory or in a source: it is checked once, and then read in float64 as blocks of columns or as some rows.

X is an ndarray, a ``csc_array`` or a :class:`Source`, in its original dtype. A block is a C-ordered float64 ndarray of
shape (n, b), or a float64 ``csc_array`` if X is sparse.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from ..validation import is_sparse
from .containers import opened
from .dask import DaskSource
from .files import ArrayFile, SparseFile
from .memory import check_size
from .source import Part, Source, check_finite, column_name

Matrix: TypeAlias = np.ndarray | sp.csc_array | Source
Block: TypeAlias = np.ndarray | sp.csc_array  # some columns of all rows, in float64
Rows: TypeAlias = np.ndarray | sp.csr_array  # some rows of all columns, in float64


def validate_X(X: Any, column_names: Any = None, missing: bool = False) -> Matrix:
    """Check a numeric matrix once and return it as an ndarray or a csc array, without changing its dtype.

    Data that are not in memory become a :class:`fiedler.sources.Source`, whose values are checked when they are read.

    Parameters
    ----------
    X : array-like, frame, sparse matrix, AnnData or DataArray of shape (n_samples, n_features)
        The data, of any real dtype. The values are copied only if the container requires it, and never modified.
    column_names : array-like of str, optional
        Names of the columns for error messages; frames have their own.
    missing : bool, default=False
        Whether a dense matrix in memory may hold NaN.
    """
    X, named = opened(X)
    names = column_names if column_names is not None else getattr(named, "columns", None)
    source = as_source(X)  # before its values are read
    if source is not None:
        return _validate_source(source, names)
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
        j, value = culprit
        raise type(error)(
            f"X must be numeric, but column {column_name(names, j)} holds {value!r} ({error}); "
            "encode or drop that column."
        ) from error
    if is_sparse(checked):
        checked = sp.csc_array(checked)
        if not checked.has_canonical_format:
            checked = checked.copy()  # the arrays may be shared with the caller
            checked.sum_duplicates()
    if missing and not is_sparse(checked) and checked.dtype.kind == "f":
        check_finite(checked, "X", names, nan=True)
        return checked
    more = ", for example with sklearn.impute.SimpleImputer in a Pipeline"
    check_finite(checked, "X", names, more=more)
    return checked


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
    home = type(X).__module__.partition(".")[0]
    if home in ("dask", "dask_expr"):
        from dask.array import Array

        if not isinstance(X, Array):
            raise TypeError(
                f"X is a Dask {type(X).__name__}; pass a Dask array, for example X.to_dask_array(lengths=True)."
            )
        return DaskSource(X)
    if home in ("zarr", "h5py") and hasattr(X, "shape") and hasattr(X, "chunks"):
        return ArrayFile(X)
    if home == "anndata" and hasattr(X, "format") and hasattr(X, "group"):
        label = f"{X.group.file.filename}::{X.group.name.lstrip('/')}" if hasattr(X.group, "file") else "the AnnData X"
        return SparseFile(X.group, X.format, X.shape, label)
    return None


def rows_of(X: Matrix, rows: np.ndarray) -> Matrix:
    """Some rows of X, as the same type."""
    if isinstance(X, Source):
        return X.take_rows(rows)
    return sp.csc_array(X.tocsr()[rows]) if is_sparse(X) else X[rows]


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


def _validate_source(source: Source, column_names: Any) -> Source:
    n, m = source.shape
    if n < 2 or m < 1:
        raise ValueError(f"{source.label} has shape {source.shape}; at least 2 rows and 1 column are required.")
    # At least one vector per row and per column is needed.
    check_size(source.label, f"{n} rows and {m} columns", 16.0 * (n + m))
    if column_names is not None:
        source.names = column_names
    return source


def _text_column(X: Any) -> tuple[int, Any] | None:
    """The first column that cannot be read as numbers, with its first invalid value."""
    columns = getattr(X, "columns", None)
    if columns is not None:
        cells = [np.asarray(X[c], dtype=object) for c in columns]
    else:
        cells = list(np.asarray(X, dtype=object).T) if not is_sparse(X) and np.ndim(X) == 2 else []
    for j, column in enumerate(cells):
        for value in column:
            if isinstance(value, complex):
                return None  # scikit-learn has a clear message for complex data
            try:
                float(value)
            except (TypeError, ValueError):
                return j, value
    return None
