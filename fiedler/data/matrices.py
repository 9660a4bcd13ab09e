"""Files of matrices, with or without labels: NPY, NPZ, MATLAB, svmlight, Matrix Market, Zarr, HDF5, h5ad.

Sparse matrices stay sparse. No file can run code, or refer to another file: object arrays raise an error, and the index
arrays of sparse matrices are checked before compiled code uses them. A damaged MATLAB file can crash the reader of
scipy, which therefore runs in a process of its own. Zarr and HDF5 files are read as a whole or in blocks.
"""

from __future__ import annotations

import inspect
import io
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Set
from contextlib import ExitStack, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..validation import is_sparse, require
from ..words import did_you_mean
from . import tables
from .columns import frame_columns
from .files import NUMPY, ArrayFile, SparseFile, named_damage, open_npy, sparse_layout, starts_fit
from .memory import TEXT_BYTES, allocation_limit, check_size
from .source import Source
from .tables import Contents, Request, Table, kept_columns, matrix_name, named_arrays, of_arrays, without_column
from .text import BoundedLines, opener

_LONGEST_HEAD = 2**17  # bytes; NumPy refuses headers of more than 10,000
_NOT_FINITE = re.compile(rb"(nan|inf(inity)?)*", re.IGNORECASE)
# The comments of a Matrix Market file, and the numbers of rows, columns and, if it is sparse, values.
_MARKET_HEAD = re.compile(
    rb"%%MatrixMarket.*\n(?:%.*\n|[ \t\r]*\n)*[ \t]*(\d+)[ \t]+(\d+)(?:[ \t]+(\d+))?\s", re.IGNORECASE
)

# -------------------------------------------------------------------- NPY, NPZ


def read_npy(request: Request) -> Contents:
    """Read a memory-mapped matrix; the target is one of its columns."""
    return without_column(open_npy(request.path), request)


def write_npy(path: Path, table: Table, selected: np.ndarray) -> None:
    with open(path, "wb") as file:
        np.save(file, kept_columns(open_npy(table.source), table, selected), allow_pickle=False)


def read_npz(request: Request) -> Contents:
    """Read X (or the only matrix), y, feature_names and row_ids of ``numpy.savez``, or the sparse layout of scipy.

    Other arrays are not loaded.
    """
    path = request.path

    def load(name: str) -> np.ndarray:
        info = archive.zip.getinfo(f"{name}.npy")
        check_size(path, f"{name} of shape {heads[name].shape}", info.file_size, info.compress_size)
        return archive[name]

    with named_damage(path, *NUMPY), open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
        heads = {name: _head(archive, name) for name in archive.files}
        X = _sparse_of_npz(heads.keys(), load, path) if {"format", "shape", "data"} <= heads.keys() else None
        return of_arrays(heads, request, load, X)


def _head(archive: Any, name: str) -> np.ndarray:
    """An array that takes no memory, with the type and the shape of a stored one."""
    info = archive.zip.getinfo(f"{name}.npy")
    with archive.zip.open(info) as member:
        file = io.BytesIO(member.read(_LONGEST_HEAD))
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(file)
    if dtype.hasobject:
        raise ValueError("it holds Python objects")
    if math.prod(shape) * dtype.itemsize != info.file_size - file.tell():
        raise ValueError(f"{info.filename} does not hold an array of shape {shape}")
    return np.broadcast_to(np.empty((), dtype), shape)


def _sparse_of_npz(names: Set[str], load: Callable[[str], np.ndarray], path: Path) -> sp.csr_array | sp.csc_array:
    """A matrix of ``scipy.sparse.save_npz``, in any of its layouts."""
    parts = {part: load(part) for part in names & {"indices", "indptr", "row", "col", "coords", "offsets", "shape"}}
    if any(part.dtype.kind not in "iu" for part in parts.values()):
        raise ValueError("the indices of its sparse matrix are not whole numbers")
    load("data")  # its size is checked
    if "offsets" in parts and (np.abs(parts["offsets"].astype(np.float64)) > parts["shape"].max()).any():
        raise ValueError(f"its diagonals do not fit the shape {parts['shape']}")
    X: Any = sp.load_npz(path)
    if X.ndim != 2:
        raise ValueError(f"its sparse matrix has the shape {X.shape}")
    check_size(path, f"a sparse matrix of shape {X.shape}", 8.0 * sum(X.shape))
    X = _checked(X) if X.format in ("csr", "csc", "bsr") else X
    return sp.csc_array(X) if X.format == "csc" else sp.csr_array(X)


def _checked(X: Any) -> Any:
    """A compressed sparse matrix; invalid indices would make compiled code read out of bounds."""
    if not starts_fit(X.indptr, len(X.indptr) - 1, len(X.data)):
        raise ValueError("the indptr of its sparse matrix decreases, or leads beyond its values")
    X.check_format()
    return X


def write_npz(path: Path, table: Table, selected: np.ndarray) -> None:
    arrays = named_arrays(table, selected)
    if is_sparse(X := arrays["X"]):
        del arrays["X"]
        arrays |= {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
        arrays["format"] = np.array(X.format.encode())
    with open(path, "wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


# -------------------------------------------------------------------- MATLAB

# Run by a process of its own: every variable as a file, and the list of them. Cells of text become text.
_CONVERT = """
import inspect, json, math, sys
import numpy as np, scipy.sparse as sp
from scipy.io import loadmat, whosmat
path, folder, limit = sys.argv[1], sys.argv[2], float(sys.argv[3])
try:
    import resource
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (int(used + limit), int(used + limit)))
except (ImportError, OSError, ValueError, OverflowError):
    pass
def text(cell):
    return str(cell.ravel()[0] if isinstance(cell, np.ndarray) and cell.size else "" if np.size(cell) == 0 else cell)
try:
    dense = [(math.prod(shape), kind) for _, shape, kind in whosmat(path) if kind != "sparse"]
    if sum(size * (8 if kind == "double" else 1) for size, kind in dense) > limit:
        sys.exit(4)
    found, arrays = [], {"spmatrix": False} if "spmatrix" in inspect.signature(loadmat).parameters else {}
    for name, value in loadmat(path, **arrays).items():
        if name.startswith("__"):
            continue
        file, kind = f"{folder}/{len(found)}", value.dtype.kind
        if sp.issparse(value):
            sp.save_npz(file, sp.csc_array(value), compressed=False)
        elif kind in "biufcUO":
            value = np.array([text(cell) for cell in value.ravel()]) if kind == "O" else value
            np.save(file, value, allow_pickle=False)
        found.append(name)
    json.dump(found, open(f"{folder}/names.json", "w"))
except MemoryError:
    sys.exit(4)
except Exception as error:
    print(str(error) or type(error).__name__)
    sys.exit(3)
"""


def read_mat(request: Request) -> Contents:
    """X and Y of a MATLAB file in the layout of the ASU repository; version 7.3 is HDF5."""
    from scipy.io.matlab import matfile_version

    path = request.path
    with named_damage(path, "a MATLAB file"):
        if matfile_version(str(path), appendmat=False)[0] == 2:
            return _read_mat73(request)
        with tempfile.TemporaryDirectory() as folder:
            arrays = _converted(path, Path(folder))
            load = lambda name: arrays[name] if is_sparse(arrays[name]) else np.array(arrays[name])  # noqa: E731
            return of_arrays(arrays, request, load, ids=False)


def _converted(path: Path, folder: Path) -> dict[str, Any]:
    """The variables of a MATLAB file, mapped from a folder to which another process writes them; damage may end it."""
    limit, seconds = allocation_limit(), 60.0 + 1e-6 * path.stat().st_size  # longest time of a conversion
    command = [sys.executable, "-c", _CONVERT, str(path.absolute()), str(folder), str(3 * limit)]
    threads = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")}  # each takes address space
    env = os.environ | threads | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise ValueError(f"reading it takes more than {seconds:.0f} seconds") from None
    if done.returncode == 4:
        check_size(path, "variables of this size or more", 3 * limit + 1)
    if done.returncode:
        raise ValueError(done.stdout.strip() if done.returncode == 3 else "it is damaged")
    arrays: dict[str, Any] = {}
    for k, name in enumerate(json.loads((folder / "names.json").read_text(encoding="utf-8"))):
        dense, sparse = folder / f"{k}.npy", folder / f"{k}.npz"
        arrays[name] = np.load(dense, mmap_mode="r", allow_pickle=False) if dense.exists() else None
        arrays[name] = _checked(sp.load_npz(sparse)) if sparse.exists() else arrays[name]
    return arrays


def _read_mat73(request: Request) -> Contents:
    """Version 7.3; only the requested variables are loaded."""

    def load(name: str) -> Any:
        item = arrays[name]
        if not is_sparse(item):
            _check_declared(item, request.path)
        return item if is_sparse(item) else item[()].T  # MATLAB stores matrices by columns

    with open_hdf5(request.path) as file:
        arrays: dict[str, Any] = {}
        for name, item in members(file).items():
            if hasattr(item, "dtype") and item.dtype.kind in "biuf":
                arrays[name] = item
            elif not hasattr(item, "dtype") and "MATLAB_sparse" in item.attrs:
                _check_declared(item, request.path)
                rows, starts, values = (item[part][()] for part in ("ir", "jc", "data"))
                shape = int(item.attrs["MATLAB_sparse"]), len(starts) - 1
                arrays[name] = _checked(sp.csc_array((values, rows, starts), shape=shape))
        return of_arrays(arrays, request, load, ids=False)


def write_mat(path: Path, table: Table, selected: np.ndarray) -> None:
    from scipy.io import savemat

    arrays = named_arrays(table, selected)
    arrays["feature_names"] = arrays["feature_names"].astype(object)
    if "y" in arrays:
        arrays["Y"] = arrays.pop("y").reshape(-1, 1)
    with open(path, "wb") as file:
        savemat(file, arrays, do_compression=True)  # type: ignore[arg-type]  # the stubs know paths only


# -------------------------------------------------------------------- svmlight


def read_svmlight(request: Request) -> Contents:
    """Read sparse rows ``label index:value ...``; the labels are the target."""
    from sklearn.datasets import load_svmlight_file

    if request.target is not None:
        raise ValueError(f"{request.path} contains the labels at the start of each row; omit the target.")
    wanted = "svmlight, lines of 'label index:value ...' with increasing indices"
    with named_damage(request.path, wanted, "."), opener(request.path)(request.path, "rb") as file:
        X, y = load_svmlight_file(BoundedLines(file, request.path, kept=2))
    return Contents(sp.csr_array(X), None, y)


def write_svmlight(path: Path, table: Table, selected: np.ndarray) -> None:
    from sklearn.datasets import dump_svmlight_file

    with opener(path)(path, "wb") as file:
        X = sp.csr_matrix(sp.csr_array(table.X)[:, selected])
        X.indices, X.indptr = X.indices.astype(np.intc), X.indptr.astype(np.intc)  # the writer accepts no other type
        dump_svmlight_file(X, table.layout["y"], file, zero_based=False)  # from 1, as in the tools of the format


# -------------------------------------------------------------------- Matrix Market


def read_mtx(request: Request) -> Contents:
    """Read Matrix Market with samples in rows; the target is one of its columns or a file of labels."""
    return without_column(_load_mtx(request.path), request)


def write_mtx(path: Path, table: Table, selected: np.ndarray) -> None:
    from scipy.io import mmwrite

    with opener(path)(path, "wb") as file:
        mmwrite(file, kept_columns(_load_mtx(table.source), table, selected))


def _load_mtx(path: Path) -> np.ndarray | sp.csc_array:
    from scipy.io import mmread

    # Older versions of scipy lack the option, and return sparse matrices.
    options: dict[str, Any] = {"spmatrix": False} if "spmatrix" in inspect.signature(mmread).parameters else {}
    with named_damage(path, "Matrix Market", "."):
        text = _market_text(path)
        head = _MARKET_HEAD.match(text)
        if head is None:
            raise ValueError("it does not begin with a header and the numbers of rows and columns")
        n, m, stored = (float(size or 0) for size in head.groups())
        check_size(path, f"a matrix of {n:.0f} x {m:.0f}", 8 * n * m if head[3] is None else 48 * stored + 8 * (n + m))
        # mmread silently ends a line at a number that it cannot read, and crashes if the last line does not end.
        strange = text[head.end() :].translate(None, b"0123456789+-.eE \t\r\n")
        if not _NOT_FINITE.fullmatch(strange):
            raise ValueError(f"{strange[:1]!r} is among its numbers")
        if text.rstrip()[-1:] in b"+-eE":
            raise ValueError("it is cut short")
        X = mmread(io.BytesIO(text), **options)
        return X if isinstance(X, np.ndarray) else sp.csc_array(X)


def _market_text(path: Path) -> bytes:
    """The text of a Matrix Market file, with a line end after it; its size is limited by memory."""
    parts, size = [b"\n"], 0
    with opener(path)(path, "rb") as file:
        while part := file.read(2**20):
            parts.insert(-1, part)
            size += len(part)
            check_size(path, f"more than {size} bytes of text", 3 * size)
    return b"".join(parts)


# -------------------------------------------------------------------- Zarr, HDF5, h5ad: opened


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

    def elsewhere(name: str, item: Any) -> str | None:
        stored = isinstance(item, h5py.Dataset) and (
            item.external or (item.is_virtual and any(s.file_name != "." for s in item.virtual_sources()))
        )
        return name if stored else None

    external = lambda name, link: name.decode() if link.type == h5py.h5l.TYPE_EXTERNAL else None  # noqa: E731
    # Soft links stay in this file, and their targets are visited under their own names.
    where = file.id.links.visit(external, info=True) or file.visititems(elsewhere)
    if where:
        raise ValueError(f"{path}: {where} is in another file; copy it into this one.")


def members(group: Any) -> dict[str, Any]:
    """The items of a group of a store; broken and circular links are skipped."""
    return {name: item for name in group if (item := _get(group, name)) is not None}


def _get(store: Any, name: str) -> Any:
    """An item of a store; None if it is missing, or a broken or circular link."""
    try:
        return store[name]
    except (KeyError, OSError, RuntimeError):
        return None


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
        if (found := _get(store, key)) is None:
            raise ValueError(f"{path} has no {key!r}; it holds {', '.join(sorted(store)) or 'nothing'}.")
        return found
    if has_x(store):
        return store["X"]  # a broken link is an error
    if sparse_layout(store) is not None:
        return store
    arrays = members(store)
    return arrays[matrix_name(arrays, path, " Choose one with key= of open_source.")]


def has_x(store: Any) -> bool:
    """Whether a store has an X; anndata may write an empty marker instead of X."""
    X = _get(store, "X")
    return "X" in store and (X is None or X.attrs.get("encoding-type") != "null")


# -------------------------------------------------------------------- Zarr, HDF5, h5ad: read


def read_store(request: Request) -> Contents:
    """Read a Zarr or HDF5 file: an array, X (or the only matrix) with y, feature_names and row_ids, or an AnnData."""
    path, zarr = request.path, request.path.suffix.lower() == ".zarr"
    extra = "anndata" if path.suffix.lower() == ".h5ad" else "io"
    if extra == "anndata":
        require("anndata.io", extra, path)
    store = open_zarr(path) if zarr else open_hdf5(path, extra)

    def load(name: str) -> Any:
        item = arrays[name]
        if not hasattr(item, "dtype"):
            return item  # text in attributes
        _check_declared(item, path)
        return item.asstr()[()] if hasattr(item, "asstr") and item.dtype.kind in "OS" else item[...]

    with nullcontext() if zarr else store:
        if hasattr(store, "dtype"):  # an array by itself
            return without_column(_matrix(request, None), request)
        if extra == "anndata" or (zarr and "obs" in store and "var" in store):
            return _read_anndata(store, request)
        # Zarr has no standard type for text, so text is stored in attributes.
        arrays = dict(store.attrs) if zarr else {}
        arrays |= {name: item for name, item in members(store).items() if hasattr(item, "dtype")}
        found = of_arrays(arrays, request, load, _matrix(request, None))
        found.y = None if found.y is None else np.asarray(found.y)
        return found


def _read_anndata(store: Any, request: Request) -> Contents:
    """Read X or a layer, names from var, and labels from a column of obs; nothing else."""
    path, layer, layers = request.path, request.layer, store.get("layers", {})
    read_elem = require("anndata.io", "anndata", path).read_elem
    if not has_x(store) and not layer:
        raise ValueError(f"{path} has no X; choose a layer: {', '.join(layers)}.")
    if layer and layer not in layers:
        hint, listed = did_you_mean(layer, layers), ", ".join(layers) or "none"
        raise ValueError(f"{path} has no layer {layer!r}; {hint}Layers: {listed}.")
    for part in ("obs", "var"):
        _check_declared(store[part], path)
    obs, var = read_elem(store["obs"]), read_elem(store["var"])
    X, y = _matrix(request, f"layers/{layer}" if layer else "X"), None
    if request.target is not None:
        y = obs.iloc[:, tables.position(request.target, list(map(str, obs.columns)), path)].to_numpy(dtype=object)
    layout = {"layer": layer} | ({"obs": frame_columns(obs)} if request.lenient else {})
    return Contents(X, list(map(str, var.index)), y, np.asarray(obs.index, dtype=object), layout)


def read_places(path: Path, key: str) -> tuple[str, Any]:
    """A graph over the rows, or their coordinates, of an AnnData file: "obsp" or "obsm", and what is stored there."""
    store = open_hdf5(path, "anndata")
    read_elem = require("anndata.io", "anndata", path).read_elem
    with store:
        for part in ("obsp", "obsm"):
            if key in store.get(part, {}):
                _check_declared(store[part][key], path)
                return part, read_elem(store[part][key])
        known = [name for part in ("obsp", "obsm") for name in store.get(part, {})]
        hint, listed = did_you_mean(key, known), ", ".join(known) or "none"
        raise ValueError(f"{path} has no {key!r} in obsp or obsm; {hint}Known: {listed}.")


def _matrix(request: Request, key: str | None) -> Any:
    """A stored matrix, read as a whole, or as a source if it exceeds the memory limit."""
    source = open_matrix(request.path, key)
    return source if source.bytes_per_row * source.shape[0] > request.memory else source.unchecked()


def _check_declared(item: Any, path: Path) -> None:
    """Check the memory of an array, or of all arrays of a group; text is counted as objects."""
    arrays, groups = [], [item]
    while groups:
        part = groups.pop()
        if hasattr(part, "dtype"):
            arrays.append(part)
        else:
            groups += members(part).values()
    size = sum(a.size * (a.dtype.itemsize if a.dtype.kind in "biuf" else TEXT_BYTES) for a in arrays)
    shape = f"an array of shape {item.shape}" if hasattr(item, "dtype") else f"{len(arrays)} arrays"
    check_size(path, f"{shape} in {item.name.lstrip('/') or 'its root'}", size)


# -------------------------------------------------------------------- Zarr, HDF5, h5ad: written


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
        _write_arrays(zarr.open_group(str(path), mode="w"), table, selected)


def write_hdf5(path: Path, table: Table, selected: np.ndarray) -> None:
    with require("h5py", "io", path).File(path, "w") as file:
        _write_arrays(file, table, selected)


def _write_arrays(group: Any, table: Table, selected: np.ndarray) -> None:
    """Write the arrays of a reduced table to an HDF5 or Zarr file; sparse ones in the encoding of AnnData."""
    zarr = hasattr(group, "create_array")
    create = lambda group: group.create_array if zarr else group.create_dataset  # noqa: E731
    for name, values in named_arrays(table, selected).items():
        if is_sparse(values):
            about = {"encoding-type": f"{values.format}_matrix", "encoding-version": "0.1.0"}
            inner = group.create_group(name)
            inner.attrs.update(about | {"shape": list(values.shape)})
            for part in ("data", "indices", "indptr"):
                create(inner)(part, data=getattr(values, part))
        elif zarr and values.dtype.kind == "U":
            group.attrs[name] = values.tolist()
        else:
            create(group)(name, data=values.astype(object) if values.dtype.kind == "U" else values)
