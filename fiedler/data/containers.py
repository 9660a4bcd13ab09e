"""The matrix and the names inside containers: AnnData, xarray, lazy frames.

Containers are recognised by the module of their class, so none of their libraries is imported.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Opened(NamedTuple):
    """The matrix inside a container, and an object from which scikit-learn reads names and number of columns."""

    X: Any
    named: Any


def opened(X: Any) -> Opened:
    """The matrix of an AnnData (its X), of an xarray DataArray or of a lazy frame; other objects unchanged."""
    home, kind = type(X).__module__.partition(".")[0], type(X).__name__
    if home == "anndata" and hasattr(X, "obs_names"):
        inside = anndata_matrix(X)
        if inside is None:
            raise ValueError(
                f"the AnnData has no X; pass one of its layers: {', '.join(X.layers) or 'there are none'}."
            )
        return Opened(inside, _named(X.var_names, X.n_vars))
    if home == "mudata":
        raise TypeError(f"X is a whole {kind}; pass one of its modalities, for example mdata['rna'].")
    if home == "xarray":
        if kind != "DataArray" or X.ndim != 2:
            raise TypeError(f"X is an xarray {kind}; pass a DataArray with two dimensions, samples and features.")
        names = X.coords[X.dims[1]].values if X.dims[1] in X.coords else ()
        return Opened(X.data, _named(names, X.shape[1]))
    if home == "polars" and kind == "LazyFrame":
        X = X.collect()
    names = number_names(X)
    return Opened(X, X if names is None else _named(names, len(names)))


def number_names(X: Any) -> list[str] | None:
    """The names of a pandas frame whose columns are numbers, such as wavelengths, as text.

    None for all other objects, and for columns that are numbered 0, 1, 2, ..., which says nothing about them.
    """
    if type(X).__module__.partition(".")[0] != "pandas" or type(X).__name__ != "DataFrame":
        return None
    names = X.columns.tolist()
    numbers = all(isinstance(name, (int, float)) and not isinstance(name, bool) for name in names)
    return [str(name) for name in names] if names and numbers and names != list(range(len(names))) else None


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
    home = type(X).__module__.partition(".")[0]
    return (home == "anndata" and hasattr(X, "obs_names")) or (home == "xarray" and type(X).__name__ == "DataArray")


def _named(names: Any, n_columns: int) -> Any:
    """A frame without rows if the names are text; pandas is available, as AnnData and xarray require it."""
    names = list(names)
    if not names or not all(isinstance(name, str) for name in names):
        return np.empty((0, n_columns))
    from pandas import DataFrame

    # scikit-learn accepts only names of type str.
    return DataFrame(columns=[str(name) for name in names], index=range(0))
