"""Readers of matrices that come with their labels beside them: NPY, NPZ, MAT, svmlight, Matrix Market, h5ad, Zarr.

Sparse stays sparse. No file may run what it contains: object arrays in NPY and NPZ and the pickle codec of Zarr are
refused, and the index arrays of sparse matrices are checked before compiled code follows them.
"""

from __future__ import annotations

import gzip
import inspect
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..validation import is_sparse, require
from ..words import did_you_mean, first_line
from .delimited import open_text, opener
from .files import ArrayFile, check_chunks, sparse_layout
from .matlab import load_mat5, version
from .source import Source, unreadable
from .stores import has_x, members, no_array, open_hdf5, open_matrix, open_npy, open_zarr
from .tables import Found, Request, position

_NOT_FINITE = re.compile(rb"(nan|inf(inity)?)*", re.IGNORECASE)


def read_npy(request: Request) -> Found:
    """A memory-mapped matrix; the target is one of its columns."""
    return _without_column(open_npy(request.path), request)


def read_npz(request: Request) -> Found:
    """X (or the one matrix), y, feature_names and row_ids as ``numpy.savez`` writes them, or scipy's sparse layout."""
    path = request.path
    try:
        with zipfile.ZipFile(path) as archive:
            found = [info for info in archive.infolist() if info.filename.endswith(".npy")]
            arrays = {info.filename.removesuffix(".npy"): _npz_member(path, archive, info) for info in found}
        sparse = _sparse_npz(arrays)
    except PermissionError:
        raise
    except Exception as error:  # a broken archive makes zipfile, zlib and NumPy raise almost anything
        raise ValueError(no_array(path, error)) from None
    X = arrays[_matrix_name(arrays, path)] if sparse is None else sparse
    y, (names, row_ids) = _labels_of(arrays, request.target, path), map(arrays.get, ("feature_names", "row_ids"))
    return Found(X, _flat(names), y, _flat(row_ids))


def _sparse_npz(arrays: dict[str, np.ndarray]) -> sp.csr_array | sp.csc_array | None:
    """What ``scipy.sparse.save_npz`` writes, in any of its layouts; None where it is something else."""
    if "shape" not in arrays or "data" not in arrays or not {"format", "indptr"} & arrays.keys():
        return None
    layout = str(arrays["format"].astype(str)) if "format" in arrays else "csr"
    parts = {"dia": "offsets", "coo": "row col"} | dict.fromkeys(("csr", "csc", "bsr"), "indices indptr")
    if layout not in parts:
        raise ValueError(f"sparse matrices in the layout {layout!r} are not read; save it as csr or csc")
    data, shape = arrays["data"], tuple(int(n) for n in arrays["shape"].tolist())
    if "coords" in arrays:
        arrays |= dict(zip(("row", "col"), arrays["coords"], strict=True))
    indices = [arrays[part] for part in parts[layout].split()]
    if len(shape) != 2 or min(shape) < 0 or any(part.ndim != 1 or part.dtype.kind not in "iu" for part in indices):
        raise ValueError(f"its parts do not make a sparse matrix of shape {shape}")
    if layout == "coo":
        return sp.csr_array(sp.coo_array((data, tuple(indices)), shape=shape))  # which checks the indices
    if layout == "dia":
        offsets = indices[0]
        if data.ndim != 2 or len(data) != len(offsets) or (np.abs(offsets.astype(np.float64)) > max(shape)).any():
            raise ValueError(f"its diagonals do not fit the shape {shape}")
        return sp.csr_array(sp.dia_array((data, offsets), shape=shape).tocoo())
    X = getattr(sp, f"{layout}_array")((data, *indices), shape=shape)
    X.check_format()  # hostile indices would be read out of bounds by compiled code
    return X.tocsr() if layout == "bsr" else X


def _npz_member(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> np.ndarray:
    """One array of an archive, memory-mapped where it is stored uncompressed."""
    with archive.open(info) as member:
        if info.compress_type != zipfile.ZIP_STORED:
            array = np.lib.format.read_array(member, allow_pickle=False)
        while member.read(2**20):
            pass  # the end tells whether the sum of the bytes is right
    if info.compress_type != zipfile.ZIP_STORED:
        return array
    with open(path, "rb") as file:
        file.seek(info.header_offset + 26)
        start = file.seek(sum(struct.unpack("<HH", file.read(4))), 1)  # name and extra field
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read(file)
        if dtype.hasobject:
            raise ValueError("it holds Python objects")
        if int(np.prod(shape, dtype=object)) * dtype.itemsize != start + info.file_size - file.tell():
            raise ValueError(f"{info.filename} does not hold an array of shape {shape}")
        if 0 in shape or shape == ():
            return np.frombuffer(file.read(dtype.itemsize), dtype=dtype, count=int(shape == ())).reshape(shape)
        return np.memmap(path, dtype, "r", file.tell(), shape, "F" if fortran else "C")


def read_mat(request: Request) -> Found:
    """X and Y of a MATLAB file in the layout of the ASU repository; versions 4 to 7 by scipy, 7.3 by h5py."""
    from scipy.io import loadmat

    path = request.path
    kind = version(path)
    try:
        if kind == 4:
            arrays = loadmat(path, **_as_arrays(loadmat))
        else:
            arrays = load_mat5(path) if kind == 5 else _load_hdf5_mat(path)
    except (ImportError, PermissionError):
        raise
    except Exception as error:  # a broken file makes scipy and h5py raise almost anything
        if str(error).startswith(str(path)):
            raise
        raise ValueError(f"{path} is not a MATLAB file: {first_line(error) or type(error).__name__}") from None
    arrays = {name: value for name, value in arrays.items() if not name.startswith("__")}
    names = arrays.get("feature_names")
    X = arrays[_matrix_name(arrays, path)]
    X = sp.csc_array(X) if is_sparse(X) else X
    return Found(X, _flat(names), _labels_of(arrays, request.target, path))


def _load_hdf5_mat(path: Path) -> dict[str, Any]:
    h5py = require("h5py", "io", path)
    arrays: dict[str, Any] = {}
    with open_hdf5(path) as file:
        for name, item in members(file):
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
        with opener(request.path)(request.path, "rb") as file:
            X, y = load_svmlight_file(file)
    except (ValueError, OverflowError, gzip.BadGzipFile, EOFError, zlib.error) as error:
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
        with _lines_that_end(path) as file:
            X = mmread(file, **_as_arrays(mmread))
        return X if isinstance(X, np.ndarray) else sp.csc_array(X)
    except PermissionError:
        raise
    except Exception as error:  # a broken file makes scipy raise almost anything
        why = "it is cut short or damaged" if isinstance(error, (EOFError, zlib.error)) else first_line(error)
        raise ValueError(f"{path} is not Matrix Market: {why or type(error).__name__}.") from None


@contextmanager
def _lines_that_end(path: Path) -> Iterator[Any]:
    """A file for mmread, which crashes where a zero byte, or the end of the file, comes before the end of a line."""
    if path.suffix.lower() == ".gz":
        with gzip.open(path, "rb") as file:
            yield _Ended(file)
        return
    with open(path, "rb") as file:
        line, last = file.readline(), b""
        while line.startswith(b"%"):
            line = file.readline()
        while piece := line + file.read(2**20) + file.readline():
            strange = piece.translate(None, b"0123456789+-.eE \t\r\n")
            if not _NOT_FINITE.fullmatch(strange):  # a number it cannot read ends a line without a word
                raise ValueError(f"{strange[:1]!r} stands among its numbers")
            line, last = b"", piece
        if not last:
            raise ValueError("it is empty")
        if last[-1:] in b"+-eE":
            raise ValueError("it is cut short")
        file.seek(0)
        yield str(path) if last.endswith(b"\n") else _Ended(file)


class _Ended:
    """The bytes of a file, and the end of a line after the last."""

    def __init__(self, file: Any):
        self._file, self._ended = file, False

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        if b"\0" in data:
            raise ValueError("it holds zero bytes")
        if not data and size and not self._ended:
            self._ended = True
            return b"\n"
        return data


def read_h5ad(request: Request) -> Found:
    """X or a layer of an AnnData file, names from var, labels from a column of obs; nothing else is read."""
    read_elem = require("anndata.io", "anndata", request.path).read_elem
    with open_hdf5(request.path, "anndata") as file:
        return _anndata_found(file, request, read_elem)


def read_hdf5(request: Request) -> Found:
    """X (or the one matrix), y, feature_names and row_ids of an HDF5 file, as datasets."""
    with open_hdf5(request.path) as file:
        items = dict(members(file))
        arrays = {name: item for name, item in items.items() if hasattr(item, "dtype")}
        sparse = "X" in items and "X" not in arrays and sparse_layout(items["X"]) is not None
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
    if sparse or size * width > request.memory:
        source = open_matrix(request.path, key)
        return source if size * width > request.memory else source[:, :]
    return _whole(item, request, key)


def _whole(item: Any, request: Request, key: str | None, read: Callable[[Any], Any] = lambda item: item[...]) -> Any:
    """A stored matrix in memory; none of its chunks may be missing or damaged."""
    label = str(request.path) if key is None else f"{request.path}::{key}"
    sparse = not hasattr(item, "dtype")
    for part in [item[name] for name in ("data", "indices", "indptr")] if sparse else [item]:
        empty = sparse and item["data"].shape[0] == 0
        if hasattr(part, "nchunks_initialized") and not empty:
            check_chunks(part, f"{label}, {part.basename}" if sparse else label)
    try:
        return read(item)
    except Exception as error:
        shape = (sparse_layout(item) or (None, (0, 0)))[1] if sparse else item.shape
        if len(shape) != 2:
            raise ValueError(f"{label} cannot be read: {first_line(error)}.") from None
        raise unreadable(label, slice(0, shape[0]), slice(0, shape[1]), shape, error) from None


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
    if not has_x(store) and not request.layer:
        raise ValueError(f"{request.path} has no X; choose a layer: {', '.join(layers)}.")
    if request.layer and request.layer not in layers:
        raise ValueError(
            f"{request.path} has no layer {request.layer!r}; {did_you_mean(request.layer, layers)}Layers: "
            f"{', '.join(layers) or 'none'}."
        )
    obs, var = read_elem(store["obs"]), read_elem(store["var"])
    key = f"layers/{request.layer}" if request.layer else "X"
    X = _in_memory_or_not(store[key], request, key) if request.memory < np.inf else None
    X = X if isinstance(X, Source) else _whole(store[key], request, key, read_elem)
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
