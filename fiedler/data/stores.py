"""Stores that hold matrices, opened once and in one way: Zarr, HDF5, NPY. No file may run what it contains."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..validation import require
from ..words import first_line
from .files import ArrayFile, MappedFile, SparseFile, sparse_layout
from .source import Source


def open_npy(path: Path) -> np.ndarray:
    """A memory-mapped array."""
    try:
        return np.lib.format.open_memmap(path, mode="r")  # never unpickles
    except PermissionError:
        raise
    except Exception as error:  # a broken header makes NumPy raise almost anything
        raise ValueError(no_array(path, error)) from None


def open_zarr(path: Path) -> Any:
    """A Zarr array or group; one that would run code when it is read is refused."""
    zarr = require("zarr", "zarr", path)
    try:
        store = zarr.open(str(path), mode="r")
    except PermissionError:
        raise
    except Exception as error:  # broken metadata make Zarr raise almost anything
        raise ValueError(f"{path} is not a Zarr store: {first_line(error) or type(error).__name__}") from None
    _refuse_pickles(store, path)
    return store


def open_hdf5(path: Path, extra: str = "io") -> Any:
    """An HDF5 file; ``extra`` brings h5py where it is missing. One that leads to other files is refused."""
    h5py = require("h5py", extra, path)
    what = "h5ad" if extra == "anndata" else "HDF5"
    file = None
    try:
        file = h5py.File(path, "r")
        _refuse_other_files(file, path, h5py)
    except Exception as error:  # broken links make h5py raise almost anything
        if file is not None:
            file.close()
        if isinstance(error, PermissionError) or str(error).startswith(str(path)):
            raise
        raise ValueError(f"{path} is not an {what} file: {first_line(error) or type(error).__name__}") from None
    return file


def _refuse_other_files(file: Any, path: Path, h5py: Any) -> None:
    """Links to other files, and values that lie in them, would bring whatever the machine holds into a result."""
    groups, seen = [file], set()
    while groups:
        group = groups.pop()
        for name in group:
            link = group.get(name, getlink=True)
            where = f"{group.name.rstrip('/')}/{name}".lstrip("/")
            if isinstance(link, h5py.ExternalLink):
                raise ValueError(f"{path}: {where} leads to another file ({link.filename}); copy it into this one.")
            if not isinstance(link, h5py.HardLink):
                continue  # a soft link stays in this file, and what it leads to is looked at under its own name
            item = group[name]
            elsewhere = isinstance(item, h5py.Dataset) and (
                item.external or (item.is_virtual and any(s.file_name != "." for s in item.virtual_sources()))
            )
            if elsewhere:
                raise ValueError(f"{path}: the values of {where} lie in another file; copy them into this one.")
            if isinstance(item, h5py.Group) and item.id not in seen:
                seen.add(item.id)
                groups.append(item)


def members(group: Any) -> Iterator[tuple[str, Any]]:
    """Names and items of a group of an HDF5 file; a link that leads nowhere, or in a circle, is passed over."""
    for name in group:
        try:
            yield name, group[name]
        except (KeyError, OSError, RuntimeError):
            continue


def open_matrix(path: Path, key: str | None = None, missing_chunks: str = "error") -> Source:
    """The matrix inside a Zarr or HDF5 file, unread: the one asked for, X, or the only one."""
    store = open_zarr(path) if path.suffix.lower() == ".zarr" else open_hdf5(path)
    try:
        item = _inside(store, key, path)
        label = os.fspath(path) if key is None else f"{os.fspath(path)}::{key}"
        found = None if hasattr(item, "dtype") else sparse_layout(item)
        if found is None and not hasattr(item, "dtype"):
            raise ValueError(f"{label} is a group, not a matrix; choose one of {', '.join(sorted(item))} with key.")
        source = (
            ArrayFile(item, label, missing_chunks=missing_chunks)
            if found is None
            else SparseFile(item, *found, label, missing_chunks=missing_chunks)
        )
    except Exception:
        if hasattr(store, "close"):  # HDF5; else nobody could write the file before the error is forgotten
            store.close()
        raise
    source.opener = partial(open_matrix, path.absolute(), key, missing_chunks)
    return source


def open_mapped(path: Path) -> Source:
    """The array of an NPY file as a source."""
    source = MappedFile(open_npy(path), os.fspath(path))
    source.opener = partial(open_mapped, path.absolute())
    return source


def _inside(store: Any, key: str | None, path: Path) -> Any:
    """The matrix inside a file: the one asked for, X, or the only one."""
    if hasattr(store, "dtype"):  # a Zarr array by itself
        return store
    if key is not None:
        if _get(store, key) is None:
            raise ValueError(f"{path} has no {key!r}; it holds {', '.join(sorted(store)) or 'nothing'}.")
        return store[key]
    if has_x(store):
        if (X := _get(store, "X")) is None:
            raise ValueError(f"{path}: X is a link that leads nowhere, or in a circle.")
        return X
    if sparse_layout(store) is not None:
        return store
    matrices = [name for name in store if len(getattr(_get(store, name), "shape", None) or ()) == 2]
    if len(matrices) != 1:
        held = ", ".join(sorted(store)) or "nothing"
        raise ValueError(f"{path} needs one matrix named X; it holds {held}; choose with key.")
    return store[matrices[0]]


def has_x(store: Any) -> bool:
    """Whether a store has an X that is not the empty mark by which anndata may write that there is none."""
    X = _get(store, "X")
    return "X" in store and (X is None or X.attrs.get("encoding-type") != "null")


def _get(store: Any, name: str) -> Any:
    try:
        return store[name]
    except (KeyError, OSError, RuntimeError):  # not there, or a link that leads nowhere
        return None


def _refuse_pickles(store: Any, path: Path) -> None:
    """Zarr's pickle codec runs code when a chunk is read, so no array may name it."""
    arrays = [store] if not hasattr(store, "members") else [a for _, a in store.members(max_depth=None)]
    if any("pickle" in str(getattr(a, "metadata", a)).lower() for a in arrays):
        raise ValueError(f"{path} holds pickled objects, which are never loaded; save numbers instead.")


def no_array(path: Path, error: Exception) -> str:
    """Why a NumPy file cannot be read."""
    why = "it holds Python objects or a pickle, which are never loaded" if _smells_of_pickle(path, error) else error
    return f"{path} is not a NumPy file of numbers: {first_line(why)}."


def _smells_of_pickle(path: Path, error: Exception) -> bool:
    with open(path, "rb") as file:
        start = file.read(2)
    return "ickle" in str(error) or "bject" in str(error) or start[:1] == b"\x80"
