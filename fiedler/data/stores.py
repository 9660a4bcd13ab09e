"""Zarr, HDF5 and h5ad: stores of named arrays, which are read as a whole or in blocks, and written.

No file can run code, or refer to another file.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..validation import is_sparse, require
from ..words import did_you_mean
from .files import ArrayFile, SparseFile, named_damage, sparse_layout
from .memory import TEXT_BYTES, check_size
from .source import Source
from .tables import (
    Contents,
    Request,
    Table,
    kept_columns,
    matrix_name,
    named_arrays,
    of_arrays,
    position,
    without_column,
)

# -------------------------------------------------------------------- opened


def open_zarr(path: Path) -> Any:
    """A Zarr array or group; raises an error if reading it would run code."""
    zarr = require("zarr", "zarr", path)
    with named_damage(path, "a Zarr store"):
        store = zarr.open(str(path), mode="r")
    # The pickle codec of Zarr runs code when a chunk is read.
    arrays = [store] if not hasattr(store, "members") else [a for _, a in store.members(max_depth=None)]
    if any("pickle" in str(getattr(a, "metadata", a)).lower() for a in arrays):
        raise ValueError(f"{path} holds pickled objects, which are never loaded; save numbers instead.")
    return store


def open_hdf5(path: Path, extra: str = "io") -> Any:
    """An HDF5 file; raises an error if it refers to other files. ``extra`` is the extra that installs h5py."""
    h5py = require("h5py", extra, path)
    with named_damage(path, f"an {'h5ad' if extra == 'anndata' else 'HDF5'} file"), ExitStack() as stack:
        file = stack.enter_context(h5py.File(path, "r"))
        _refuse_other_files(file, path, h5py)
        stack.pop_all()  # it stays open
    return file


def _refuse_other_files(file: Any, path: Path, h5py: Any) -> None:
    """Raise an error for links to other files, which could copy any file of the machine into a result."""
    groups, seen = [file], set()
    while groups:
        group = groups.pop()
        for name in group:
            link = group.get(name, getlink=True)
            where = f"{group.name.rstrip('/')}/{name}".lstrip("/")
            if isinstance(link, h5py.ExternalLink):
                raise ValueError(f"{path}: {where} refers to another file ({link.filename}); copy it into this one.")
            if not isinstance(link, h5py.HardLink):
                continue  # a soft link stays in this file, and its target is checked under its own name
            item = group[name]
            elsewhere = isinstance(item, h5py.Dataset) and (
                item.external or (item.is_virtual and any(s.file_name != "." for s in item.virtual_sources()))
            )
            if elsewhere:
                raise ValueError(f"{path}: the values of {where} are in another file; copy them into this one.")
            if isinstance(item, h5py.Group) and item.id not in seen:
                seen.add(item.id)
                groups.append(item)


def members(group: Any) -> Iterator[tuple[str, Any]]:
    """Names and items of a group of an HDF5 file; broken and circular links are skipped."""
    for name in group:
        try:
            yield name, group[name]
        except (KeyError, OSError, RuntimeError):
            continue


def open_matrix(path: Path, key: str | None = None, missing_chunks: str = "error") -> Source:
    """The matrix inside a Zarr or HDF5 file as a source: the requested one, X, or the only one."""
    store = open_zarr(path) if path.suffix.lower() == ".zarr" else open_hdf5(path)
    try:
        item = _inside(store, key, path)
        label = os.fspath(path) if key is None else f"{os.fspath(path)}::{key}"
        found = None if hasattr(item, "dtype") else sparse_layout(item)
        if found is None and not hasattr(item, "dtype"):
            raise ValueError(f"{label} is a group, not a matrix; choose one of {', '.join(sorted(item))} with key.")
        made: Any = partial(ArrayFile, item) if found is None else partial(SparseFile, item, *found)
        source: Source = made(label, missing_chunks=missing_chunks)
    except Exception:
        if hasattr(store, "close"):  # close HDF5, because the traceback would keep the file open
            store.close()
        raise
    source.opener = partial(open_matrix, path.absolute(), key, missing_chunks)
    return source


def _inside(store: Any, key: str | None, path: Path) -> Any:
    """The matrix inside a file: the requested one, X, or the only one."""
    if hasattr(store, "dtype"):  # a Zarr array by itself
        return store
    if key is not None:
        if _get(store, key) is None:
            raise ValueError(f"{path} has no {key!r}; it holds {', '.join(sorted(store)) or 'nothing'}.")
        return store[key]
    if has_x(store):
        if (X := _get(store, "X")) is None:
            raise ValueError(f"{path}: X is a broken or circular link.")
        return X
    if sparse_layout(store) is not None:
        return store
    matrices = [name for name in store if len(getattr(_get(store, name), "shape", None) or ()) == 2]
    if len(matrices) != 1:
        held = ", ".join(sorted(store)) or "nothing"
        raise ValueError(f"{path} needs one matrix named X; it holds {held}. Choose one with key.")
    return store[matrices[0]]


def has_x(store: Any) -> bool:
    """Whether a store has an X; anndata may write an empty marker instead of X."""
    X = _get(store, "X")
    return "X" in store and (X is None or X.attrs.get("encoding-type") != "null")


def _get(store: Any, name: str) -> Any:
    try:
        return store[name]
    except (KeyError, OSError, RuntimeError):  # missing, or a broken link
        return None


# -------------------------------------------------------------------- read


def read_h5ad(request: Request) -> Contents:
    """Read X or a layer of an AnnData file, names from var, and labels from a column of obs; nothing else."""
    read_elem = require("anndata.io", "anndata", request.path).read_elem
    with open_hdf5(request.path, "anndata") as file:
        return _read_anndata(file, request, read_elem)


def read_hdf5(request: Request) -> Contents:
    """Read the datasets X (or the only matrix), y, feature_names and row_ids of an HDF5 file."""
    with open_hdf5(request.path) as file:
        items = dict(members(file))
        arrays = {name: item for name, item in items.items() if hasattr(item, "dtype")}
        sparse = "X" in items and "X" not in arrays and sparse_layout(items["X"]) is not None
        name = "X" if sparse else matrix_name(arrays, request.path)
        X = _matrix(request, name)
        rest = {key: item for key, item in arrays.items() if key != name}
        return of_arrays(rest, request, lambda item: _values(item, request), X)


def _values(item: Any, request: Request) -> Any:
    """Labels or names; text is decoded."""
    if not hasattr(item, "dtype"):
        return item
    _check_declared(item, request.path)
    return item.asstr()[()] if hasattr(item, "asstr") and item.dtype.kind in "OS" else item[...]


def read_zarr(request: Request) -> Contents:
    """Read a Zarr array, a group with X and y, or an AnnData store."""
    store = open_zarr(request.path)
    if hasattr(store, "dtype"):  # an array by itself
        return without_column(_matrix(request, None), request)
    if "obs" in store and "var" in store:
        return _read_anndata(store, request, require("anndata.io", "anndata", request.path).read_elem)
    # Zarr has no standard type for text, so text is stored in attributes.
    arrays = dict(store.attrs) | dict(store.arrays())
    layout = sparse_layout(store["X"]) if "X" in store and "X" not in arrays else None
    name = "X" if layout else matrix_name(arrays, request.path)
    found = of_arrays(arrays, request, lambda item: _values(item, request), _matrix(request, name))
    found.y = None if found.y is None else np.asarray(found.y)
    return found


def _read_anndata(store: Any, request: Request, read_elem: Callable[[Any], Any]) -> Contents:
    layers = store.get("layers", {})
    if not has_x(store) and not request.layer:
        raise ValueError(f"{request.path} has no X; choose a layer: {', '.join(layers)}.")
    if request.layer and request.layer not in layers:
        raise ValueError(
            f"{request.path} has no layer {request.layer!r}; {did_you_mean(request.layer, layers)}Layers: "
            f"{', '.join(layers) or 'none'}."
        )
    for part in ("obs", "var"):
        _check_declared(store[part], request.path)
    obs, var = read_elem(store["obs"]), read_elem(store["var"])
    key = f"layers/{request.layer}" if request.layer else "X"
    X = _matrix(request, key)
    y = None
    if request.target is not None:
        y = obs.iloc[:, position(request.target, list(map(str, obs.columns)), request.path)].to_numpy(dtype=object)
    return Contents(X, list(map(str, var.index)), y, np.asarray(obs.index, dtype=object), {"layer": request.layer})


def _matrix(request: Request, key: str | None) -> Any:
    """A stored matrix, read as a whole, or as a source if it exceeds the memory limit."""
    source = open_matrix(request.path, key)
    return source if source.bytes_per_row * source.shape[0] > request.memory else source.unchecked()


def _check_declared(item: Any, path: Path) -> None:
    """Check the memory of an array, or of all arrays of a group; text is counted as objects."""
    arrays = [item] if hasattr(item, "dtype") else list(_arrays_in(item))
    size = sum(a.size * (a.dtype.itemsize if a.dtype.kind in "biuf" else TEXT_BYTES) for a in arrays)
    shape = f"an array of shape {item.shape}" if hasattr(item, "dtype") else f"{len(arrays)} arrays"
    check_size(path, f"{shape} in {item.name.lstrip('/') or 'its root'}", size)


def _arrays_in(group: Any) -> Iterator[Any]:
    for _, item in members(group):
        yield from [item] if hasattr(item, "dtype") else _arrays_in(item)


# -------------------------------------------------------------------- written


def write_h5ad(path: Path, table: Table, selected: np.ndarray) -> None:
    anndata = require("anndata", "anndata", path)
    with open_hdf5(table.source, "anndata") as file:
        backed = "r" if has_x(file) else None  # without X nothing can stay in the file
    adata = anndata.read_h5ad(table.source, backed=backed)
    kept = adata[:, _places(table, selected)]
    (kept.to_memory() if backed else kept).write_h5ad(path)
    adata.file.close()


def _places(table: Table, selected: np.ndarray) -> np.ndarray:
    """The column numbers of the selected features in the file."""
    return np.asarray(table.layout.get("features", np.arange(table.shape[1])))[selected]


def write_zarr(path: Path, table: Table, selected: np.ndarray) -> None:
    zarr = require("zarr", "zarr", path)
    store = zarr.open(str(table.source), mode="r")
    if isinstance(store, zarr.Array):
        zarr.save_array(str(path), kept_columns(store, table, selected))
    elif "obs" in store:
        adata = require("anndata", "anndata", path).read_zarr(str(table.source))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings about versions of Zarr, which do not concern the user
            adata[:, _places(table, selected)].write_zarr(str(path))
    else:
        group = zarr.open_group(str(path), mode="w")
        for name, values in named_arrays(table, selected).items():
            if values.dtype.kind == "U":
                group.attrs[name] = values.tolist()
            elif is_sparse(values):
                _write_sparse(group.create_group(name), values)
            else:
                group.create_array(name, data=values)


def write_hdf5(path: Path, table: Table, selected: np.ndarray) -> None:
    h5py = require("h5py", "io", path)
    with h5py.File(path, "w") as file:
        for name, values in named_arrays(table, selected).items():
            if is_sparse(values):
                _write_sparse(file.create_group(name), values)
                continue
            values = np.asarray(values)
            file[name] = values.astype(object) if values.dtype.kind == "U" else values


def _write_sparse(group: Any, X: Any) -> None:
    """Write a sparse matrix in the encoding of AnnData to a group of an HDF5 or Zarr file."""
    create = group.create_array if hasattr(group, "create_array") else group.create_dataset
    group.attrs.update({"encoding-type": f"{X.format}_matrix", "encoding-version": "0.1.0", "shape": list(X.shape)})
    for part in ("data", "indices", "indptr"):
        create(part, data=getattr(X, part))
