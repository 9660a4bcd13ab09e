"""Matrices larger than memory: files read in blocks and Dask arrays, all through one small interface.

    from fiedler.sources import open_source
    SpectralSelector("laplacian").fit(open_source("big.zarr"))

Zarr arrays, HDF5 datasets, backed AnnData matrices and Dask arrays may also be passed to ``fit`` as they are.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .base import SKETCH, Source
from .running import Run

__all__ = ["SKETCH", "Run", "Source", "as_source", "open_source"]


def as_source(X: Any) -> Source | None:
    """X as a source if it does not live in memory; None for everything else."""
    if isinstance(X, Source):
        return X
    home = type(X).__module__.partition(".")[0]
    if home in ("dask", "dask_expr"):
        from dask.array import Array

        from .dask_array import DaskSource

        if not isinstance(X, Array):
            raise TypeError(
                f"X is a Dask {type(X).__name__}; pass a Dask array, for example X.to_dask_array(lengths=True)."
            )
        return DaskSource(X)
    if home in ("zarr", "h5py") and hasattr(X, "shape") and hasattr(X, "chunks"):
        from .files import ArrayFile

        return ArrayFile(X)
    if home == "anndata" and hasattr(X, "format") and hasattr(X, "group"):
        from .files import SparseFile

        label = f"{X.group.file.filename}::{X.group.name.lstrip('/')}" if hasattr(X.group, "file") else "the AnnData X"
        return SparseFile(X.group, X.format, X.shape, label)
    return None


def open_source(
    path: str | os.PathLike, *, key: str | None = None, columns: list[str] | None = None, missing_chunks: str = "error"
) -> Source:
    """Open a matrix in a file without reading it.

    Parameters
    ----------
    path : path
        ``.zarr``, ``.h5`` or ``.hdf5``, ``.h5ad``, ``.parquet``, ``.npy``.
    key : str, optional
        The dataset or group inside the file, such as ``layers/counts``; by default ``X``, or the only matrix.
    columns : list of str, optional
        Of a Parquet file; all by default.
    missing_chunks : {"error", "fill"}, default="error"
        Whether a Zarr chunk that is not stored is an error, or stands for the fill value.

    Returns
    -------
    Source

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from fiedler import Variance
    >>> from fiedler.sources import open_source
    >>> file = f"{tempfile.mkdtemp()}/table.npy"
    >>> np.save(file, np.diag([1.0, 2.0, 3.0]))
    >>> Variance().evaluate(open_source(file)).round(3)
    array([0.222, 0.889, 2.   ])
    """
    from ..io import existing

    if missing_chunks not in ("error", "fill"):
        raise ValueError(f"missing_chunks must be 'error' or 'fill', got {missing_chunks!r}.")
    source = _open_file(existing(path), key, columns, missing_chunks)
    about = {"key": key, "columns": columns, "missing_chunks": missing_chunks}
    source.opened_with = {"path": os.path.abspath(path), **about}
    return source


def _open_file(path: Path, key: str | None, columns: list[str] | None, missing_chunks: str) -> Source:
    from ..io.tables import require
    from .files import ArrayFile, MappedFile, ParquetFile, SparseFile, sparse_layout

    suffix = path.suffix.lower()
    if suffix in (".parquet", ".pq"):
        require("pyarrow.parquet", "io", path)
        return ParquetFile(path, columns)
    if suffix == ".npy":
        from ..io.matrices import load_npy

        return MappedFile(load_npy(path), os.fspath(path))
    if suffix not in (".zarr", ".h5", ".hdf5", ".h5ad"):
        raise ValueError(f"{path}: only .zarr, .h5, .hdf5, .h5ad, .parquet and .npy can be read in blocks.")
    store = _opened(path, suffix, require)
    try:
        item = _inside(store, key, path)
        label = os.fspath(path) if key is None else f"{os.fspath(path)}::{key}"
        found = sparse_layout(item) if not hasattr(item, "dtype") else None
        if found is not None:
            return SparseFile(item, *found, label, missing_chunks=missing_chunks)
        if not hasattr(item, "dtype"):
            raise ValueError(f"{label} is a group, not a matrix; choose one of {', '.join(sorted(item))} with key.")
        return ArrayFile(item, label, missing_chunks=missing_chunks)
    except Exception:
        if hasattr(store, "close"):  # HDF5; else nobody could write the file before the error is forgotten
            store.close()
        raise


def _opened(path: Path, suffix: str, require: Any) -> Any:
    if suffix == ".zarr":
        from ..io.matrices import refuse_pickles

        zarr = require("zarr", "zarr", path)
        try:
            store = zarr.open(str(path), mode="r")
        except (ValueError, OSError, KeyError) as error:
            raise ValueError(f"{path} is not a Zarr store: {str(error).partition(chr(10))[0]}") from None
        refuse_pickles(store, path)
        return store
    try:
        return require("h5py", "io", path).File(path, "r")
    except OSError as error:
        raise ValueError(f"{path} is not an HDF5 file: {str(error).partition(chr(10))[0]}") from None


def _inside(store: Any, key: str | None, path: Path) -> Any:
    """The matrix inside a file: the one asked for, X, or the only one."""
    if hasattr(store, "dtype"):  # a Zarr array by itself
        return store
    if key is not None:
        if key not in store:
            raise ValueError(f"{path} has no {key!r}; it holds {', '.join(sorted(store)) or 'nothing'}.")
        return store[key]
    if "X" in store:
        return store["X"]
    from .files import sparse_layout

    if sparse_layout(store) is not None:
        return store
    matrices = [name for name in store if len(getattr(store[name], "shape", ())) == 2]
    if len(matrices) != 1:
        held = ", ".join(sorted(store)) or "nothing"
        raise ValueError(f"{path} needs one matrix named X; it holds {held}; choose with key.")
    return store[matrices[0]]
