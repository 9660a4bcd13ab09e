"""Readers of matrices that come with their labels beside them: NPY, NPZ, MAT, svmlight, Matrix Market, h5ad, Zarr.

Sparse stays sparse. No file may run what it contains: object arrays in NPY and NPZ and the pickle codec of Zarr are
refused, and the index arrays of sparse matrices are checked before compiled code follows them.
"""

from __future__ import annotations

import gzip
import inspect
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..validation import is_sparse, require
from ..words import did_you_mean, first_line
from .delimited import open_text
from .files import ArrayFile, sparse_layout
from .source import Source
from .stores import no_array, open_hdf5, open_matrix, open_npy, open_zarr
from .tables import Found, Request, position


def read_npy(request: Request) -> Found:
    """A memory-mapped matrix; the target is one of its columns."""
    return _without_column(open_npy(request.path), request)


def read_npz(request: Request) -> Found:
    """X (or the one matrix), y, feature_names and row_ids as ``numpy.savez`` writes them, or scipy's sparse layout."""
    path = request.path
    try:
        with zipfile.ZipFile(path) as archive:
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        arrays = {name: _npz_member(path, info) for name, info in members.items()}
        sparse = _sparse_npz(arrays) if {"data", "indices", "indptr", "shape"} <= arrays.keys() else None
    except (zipfile.BadZipFile, ValueError, EOFError) as error:
        raise ValueError(no_array(path, error)) from None
    X = arrays[_matrix_name(arrays, path)] if sparse is None else sparse
    y, (names, row_ids) = _labels_of(arrays, request.target, path), map(arrays.get, ("feature_names", "row_ids"))
    return Found(X, _flat(names), y, _flat(row_ids))


def _sparse_npz(arrays: dict[str, np.ndarray]) -> sp.csr_array | sp.csc_array:
    kind = sp.csc_array if "format" in arrays and arrays["format"].astype(str) == "csc" else sp.csr_array
    X = kind((arrays["data"], arrays["indices"], arrays["indptr"]), shape=tuple(arrays["shape"].tolist()))
    X.check_format()  # hostile indices would be read out of bounds by compiled code
    return X


def _npz_member(path: Path, info: zipfile.ZipInfo) -> np.ndarray:
    """One array of an archive, memory-mapped where it is stored uncompressed."""
    if info.compress_type != zipfile.ZIP_STORED:
        with np.load(path, allow_pickle=False) as arrays:
            return arrays[info.filename.removesuffix(".npy")]
    with open(path, "rb") as file:
        file.seek(info.header_offset + 26)
        file.seek(sum(struct.unpack("<HH", file.read(4))), 1)  # name and extra field
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read(file)
        if dtype.hasobject:
            raise ValueError("it holds Python objects")
        if 0 in shape or shape == ():
            return np.frombuffer(file.read(dtype.itemsize), dtype=dtype, count=int(shape == ())).reshape(shape)
        return np.memmap(path, dtype, "r", file.tell(), shape, "F" if fortran else "C")


def read_mat(request: Request) -> Found:
    """X and Y of a MATLAB file in the layout of the ASU repository; versions 4 to 7 by scipy, 7.3 by h5py."""
    from scipy.io import loadmat

    path = request.path
    try:
        arrays = {
            name: value for name, value in loadmat(path, **_as_arrays(loadmat)).items() if not name.startswith("__")
        }
    except NotImplementedError:
        arrays = _load_hdf5_mat(path)
    except Exception as error:  # a broken file makes scipy raise almost anything
        raise ValueError(f"{path} is not a MATLAB file: {first_line(error)}") from None
    names = arrays.get("feature_names")
    X = arrays[_matrix_name(arrays, path)]
    X = sp.csc_array(X) if is_sparse(X) else X
    return Found(X, _flat(names), _labels_of(arrays, request.target, path))


def _load_hdf5_mat(path: Path) -> dict[str, Any]:
    h5py = require("h5py", "io", path)
    arrays: dict[str, Any] = {}
    with h5py.File(path, "r") as file:
        for name, item in file.items():
            if isinstance(item, h5py.Dataset) and item.dtype.kind in "biuf":
                arrays[name] = item[()].T  # MATLAB stores columns first
            elif isinstance(item, h5py.Group) and "MATLAB_sparse" in item.attrs:
                parts = [item[part][()] for part in ("data", "ir", "jc")]
                arrays[name] = sp.csc_array(tuple(parts), shape=(int(item.attrs["MATLAB_sparse"]), len(parts[2]) - 1))
                arrays[name].check_format()
    return arrays


def read_svmlight(request: Request) -> Found:
    """Sparse rows ``label index:value ...``; the labels are the target."""
    from sklearn.datasets import load_svmlight_file

    if request.target is not None:
        raise ValueError(f"{request.path} carries its labels in front of each row; leave the target out.")
    try:
        X, y = load_svmlight_file(str(request.path))
    except (ValueError, OverflowError, gzip.BadGzipFile) as error:
        raise ValueError(f"{request.path} is not svmlight: {_svmlight_problem(request.path) or error}") from None
    return Found(sp.csr_array(X), None, y)


def _svmlight_problem(path: Path) -> str | None:
    """The first line that is not ``label index:value ...``."""
    with open_text(path) as file:
        for number, line in enumerate(file, 1):
            label, *cells = line.partition("#")[0].split() or ["0"]
            try:
                float(label)
            except ValueError:
                return f"line {number}: label {label[:40]!r} is not one number."
            last = -1
            for cell in (c for c in cells if not c.startswith("qid:")):
                index, colon, value = cell.partition(":")
                if not (colon and index.isdigit() and _is_float(value)):
                    return f"line {number}: {cell[:40]!r} is not index:value."
                if int(index) <= last:
                    return f"line {number}: index {index} comes after {last}; indices must increase."
                last = int(index)
    return None


def read_mtx(request: Request) -> Found:
    """Matrix Market, samples in rows; the target is one of its columns or a file of labels."""
    return _without_column(load_mtx(request.path), request)


def load_mtx(path: Path) -> np.ndarray | sp.csc_array:
    from scipy.io import mmread

    try:
        X = mmread(str(path), **_as_arrays(mmread))
    except (ValueError, OverflowError, OSError) as error:
        raise ValueError(f"{path} is not Matrix Market: {first_line(error)}") from None
    return X if isinstance(X, np.ndarray) else sp.csc_array(X)


def read_h5ad(request: Request) -> Found:
    """X or a layer of an AnnData file, names from var, labels from a column of obs; nothing else is read."""
    read_elem = require("anndata.io", "anndata", request.path).read_elem
    with open_hdf5(request.path, "anndata") as file:
        return _anndata_found(file, request, read_elem)


def read_hdf5(request: Request) -> Found:
    """X (or the one matrix), y, feature_names and row_ids of an HDF5 file, as datasets."""
    with open_hdf5(request.path) as file:
        arrays = {name: item for name, item in file.items() if hasattr(item, "dtype")}
        sparse = "X" in file and "X" not in arrays and sparse_layout(file["X"]) is not None
        name = "X" if sparse else _matrix_name(arrays, request.path)
        X = _in_memory_or_not(file[name], request, name)
        rest = {key: item for key, item in arrays.items() if key != name}  # read where asked for: it may be large
        y, names, row_ids = (
            None if item is None else item.asstr()[()] if item.dtype.kind in "OS" else item[()]
            for item in (_labels_of(rest, request.target, request.path), rest.get("feature_names"), rest.get("row_ids"))
        )
    return Found(X, _flat(names), y, _flat(row_ids))


def _in_memory_or_not(item: Any, request: Request, key: str | None) -> Any:
    """A stored matrix read whole, or left in its file where it would take more memory than there is to take."""
    sparse = not hasattr(item, "dtype")
    size = int(np.prod(item["data"].shape if sparse else item.shape))
    width = (item["data"].dtype.itemsize + 8) if sparse else item.dtype.itemsize
    if size * width > request.memory:
        return open_matrix(request.path, key)
    return open_matrix(request.path, key)[:, :] if sparse else item[...]


def read_zarr(request: Request) -> Found:
    """A Zarr array, a group with X and y, or an AnnData store."""
    store = open_zarr(request.path)
    if hasattr(store, "dtype"):  # an array by itself
        return _without_column(_in_memory_or_not(store, request, None), request)
    if "obs" in store and "var" in store:
        return _anndata_found(store, request, require("anndata.io", "anndata", request.path).read_elem)
    arrays = dict(store.attrs) | dict(store.arrays())  # Zarr has no settled type for text: it goes into attributes
    layout = sparse_layout(store["X"]) if "X" in store and "X" not in arrays else None
    name = "X" if layout else _matrix_name(arrays, request.path)
    X = _in_memory_or_not(store[name], request, name)
    names, row_ids = (_flat(arrays.get(name)) for name in ("feature_names", "row_ids"))
    y = _labels_of(arrays, request.target, request.path)
    return Found(X, names, None if y is None else np.asarray(y), row_ids)


def _anndata_found(store: Any, request: Request, read_elem: Callable[[Any], Any]) -> Found:
    layers = store.get("layers", {})
    if "X" not in store and not request.layer:
        raise ValueError(f"{request.path} has no X; choose a layer: {', '.join(layers)}.")
    if request.layer and request.layer not in layers:
        raise ValueError(
            f"{request.path} has no layer {request.layer!r}; {did_you_mean(request.layer, layers)}Layers: "
            f"{', '.join(layers) or 'none'}."
        )
    obs, var = read_elem(store["obs"]), read_elem(store["var"])
    key = f"layers/{request.layer}" if request.layer else "X"
    X = _in_memory_or_not(store[key], request, key) if request.memory < np.inf else None
    X = X if isinstance(X, Source) else read_elem(store[key])
    y = None
    if request.target is not None:
        y = obs.iloc[:, position(request.target, list(map(str, obs.columns)), request.path)].to_numpy(dtype=object)
    return Found(X, list(map(str, var.index)), y, np.asarray(obs.index, dtype=object), {"layer": request.layer})


# -------------------------------------------------------------------- shared steps


def _without_column(X: Any, request: Request) -> Found:
    if np.ndim(X) != 2:
        raise ValueError(f"{request.path} holds an array of shape {np.shape(X)}; a table has rows and columns.")
    if request.target is None:
        return Found(X, layout={"features": list(range(X.shape[1]))})
    names = [str(j) for j in range(X.shape[1])]
    target = position(request.target, names, request.path)
    kept = [j for j in range(X.shape[1]) if j != target]
    if isinstance(X, ArrayFile):
        y = X._read(slice(0, X.shape[0]), np.array([target])).ravel()  # unchecked: an unknown label may be NaN
        return Found(X.without_column(target), [f"x{j}" for j in kept], y, None, {"features": kept})
    y = X[:, [target]].toarray().ravel() if is_sparse(X) else np.array(X[:, target])
    if target in (0, len(kept)):  # a view: a memory-mapped file is not read
        return Found(X[:, 1:] if target == 0 else X[:, :-1], [f"x{j}" for j in kept], y, None, {"features": kept})
    return Found(X[:, kept], [f"x{j}" for j in kept], y, None, {"features": kept})


def _matrix_name(arrays: dict[str, Any], path: Path) -> str:
    """X, x or data; else the only two-dimensional numeric array."""
    matrices = [n for n, a in arrays.items() if getattr(a, "ndim", 0) == 2 and a.dtype.kind in "biuf"]
    named = [n for n in ("X", "x", "data") if n in matrices]
    wide = [n for n in matrices if min(arrays[n].shape) > 1]
    if not named and len(wide) != 1:
        raise ValueError(f"{path} needs one matrix named X; it holds {', '.join(arrays) or 'nothing'}.")
    return (named or wide)[0]


def _labels_of(arrays: dict[str, Any], target: str | int | None, path: Path) -> Any:
    if target is None:
        return next((arrays[name] for name in ("y", "Y", "labels", "target") if name in arrays), None)
    if target not in arrays:
        hint = did_you_mean(str(target), arrays)
        raise ValueError(f"{path} has no variable {target!r}; {hint}Its variables: {', '.join(arrays)}.")
    return arrays[target]


def _flat(names: Any) -> list[str] | None:
    """Names from an array of text, or from MATLAB's cells of text."""
    if names is None:
        return None
    cells = np.asarray(names).ravel().tolist()
    return [str(c.ravel()[0] if isinstance(c, np.ndarray) and c.size else c).strip() for c in cells]


def _as_arrays(reader: Callable[..., Any]) -> dict[str, Any]:
    """What tells a reader of scipy's to give sparse arrays, where it can be told; older ones give matrices."""
    return {"spmatrix": False} if "spmatrix" in inspect.signature(reader).parameters else {}


def _is_float(text: str) -> bool:
    try:
        return float(text) is not None
    except ValueError:
        return False
