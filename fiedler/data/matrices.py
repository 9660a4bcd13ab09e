"""Files of matrices, with or without labels: NPY, NPZ, MATLAB, svmlight, Matrix Market.

Sparse matrices stay sparse. No file can run code: object arrays in NPY and NPZ raise an error, and the index arrays of
sparse matrices are checked before compiled code uses them. A damaged MATLAB file can crash the reader of scipy, which
therefore runs in a process of its own.
"""

from __future__ import annotations

import gzip
import inspect
import io
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..validation import is_sparse, require
from .files import named_damage, no_array, open_npy, starts_fit
from .memory import DEFLATE, allocation_limit, check_size
from .stores import members, open_hdf5
from .tables import Contents, Request, Table, kept_columns, named_arrays, of_arrays, without_column
from .text import BoundedLines, open_text, opener

_NOT_FINITE = re.compile(rb"(nan|inf(inity)?)*", re.IGNORECASE)
_LONGEST_HEAD = 2**17  # bytes; NumPy refuses headers of more than 10,000
_INDICES = ("indices", "indptr", "row", "col", "coords", "offsets")  # index arrays of the sparse matrices of scipy

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
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            heads = {name: _head(archive, name) for name in archive.files}
            sparse = {"shape", "data"} <= heads.keys() and heads.keys() & {"format", "indptr"}
            X = _sparse_of_npz(archive, heads, path) if sparse else None
            return of_arrays(heads, request, lambda head: archive[_check_member(archive, head, path).name], X)
    except PermissionError:
        raise
    except Exception as error:  # zipfile, zlib and NumPy raise many kinds of errors for a damaged file
        raise error if str(error).startswith(str(path)) else ValueError(no_array(path, error)) from None


class _Head(NamedTuple):
    """An array that is not loaded."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype
    ndim: int


def _head(archive: Any, name: str) -> _Head:
    """The header of an array, whose declared size must agree with that of the archive."""
    info = archive.zip.getinfo(f"{name}.npy")
    with archive.zip.open(info) as member:
        file = io.BytesIO(member.read(_LONGEST_HEAD))
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(file)
        start = file.tell()
    if dtype.hasobject:
        raise ValueError("it holds Python objects")
    size = int(np.prod(shape, dtype=object)) * dtype.itemsize
    if min(shape, default=0) < 0 or size != info.file_size - start:
        raise ValueError(f"{info.filename} does not hold an array of shape {shape}")
    return _Head(name, shape, dtype, len(shape))


def _check_member(archive: Any, head: _Head, path: Path) -> _Head:
    info = archive.zip.getinfo(f"{head.name}.npy")
    check_size(path, f"{head.name} of shape {head.shape}", info.file_size, info.compress_size)
    return head


def _sparse_of_npz(archive: Any, heads: dict[str, _Head], path: Path) -> sp.csr_array | sp.csc_array:
    """A matrix of ``scipy.sparse.save_npz``, in any of its layouts."""
    for part in heads.keys() & {*_INDICES, "data", "shape"}:
        if part != "data" and heads[part].dtype.kind not in "iu":
            raise ValueError("the indices of its sparse matrix are not whole numbers")
        _check_member(archive, heads[part], path)
    if "offsets" in heads and (np.abs(archive["offsets"].astype(np.float64)) > archive["shape"].max()).any():
        raise ValueError(f"its diagonals do not fit the shape {archive['shape']}")
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
import inspect, json, sys
import numpy as np, scipy.sparse as sp
from scipy.io import loadmat
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
_SECONDS = 60.0, 1e-6  # longest time of a conversion, and more of it per byte


def read_mat(request: Request) -> Contents:
    """X and Y of a MATLAB file in the layout of the ASU repository; version 7.3 is HDF5."""
    path = request.path
    with named_damage(path, "a MATLAB file"):
        with open(path, "rb") as file:
            head = file.read(128)
        if 2 in head[124:126] and head[126:] in (b"IM", b"MI"):
            return _read_mat73(request)
        _check_variables(path)
        with tempfile.TemporaryDirectory() as folder:
            arrays = _converted(path, Path(folder))
            return of_arrays(arrays, request, lambda part: part if is_sparse(part) else np.array(part), ids=False)


def _converted(path: Path, folder: Path) -> dict[str, Any]:
    """The variables of a MATLAB file, mapped from a folder to which another process writes them; damage may end it."""
    limit, seconds = allocation_limit(), _SECONDS[0] + _SECONDS[1] * path.stat().st_size
    command = [sys.executable, "-c", _CONVERT, str(path.absolute()), str(folder), str(3 * limit)]
    threads = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")}  # each takes address space
    env = os.environ | threads | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise ValueError(f"reading it takes more than {seconds:.0f} seconds") from None
    if done.returncode == 4:
        check_size(path, "variables of this size or more", 3 * limit + 1)
    if done.returncode == 3:
        raise ValueError(done.stdout.strip())
    if done.returncode:
        raise ValueError("it is damaged")
    arrays: dict[str, Any] = {}
    for k, name in enumerate(json.loads((folder / "names.json").read_text(encoding="utf-8"))):
        dense, sparse = folder / f"{k}.npy", folder / f"{k}.npz"
        arrays[name] = np.load(dense, mmap_mode="r", allow_pickle=False) if dense.exists() else None
        arrays[name] = _checked(sp.load_npz(sparse)) if sparse.exists() else arrays[name]
    return arrays


def _check_variables(path: Path) -> None:
    """Check the sizes of the variables of a file of version 5 to 7 before they are unpacked."""
    left, held = path.stat().st_size - 128, 0
    with open(path, "rb") as file:
        order = {b"IM": "<", b"MI": ">"}.get(file.read(128)[126:])
        while order and left >= 8:
            kind, size = struct.unpack(f"{order}II", file.read(8))
            if size > left - 8:
                raise ValueError(f"a variable of {size} bytes is longer than what is left of the file")
            at, unpacked, left = file.tell(), size, left - 8 - size
            if kind == 15:  # compressed; the first bytes are the tag of what is inside
                tag = zlib.decompressobj().decompress(file.read(min(size, 2**10)), 8)
                if len(tag) < 8:
                    raise ValueError("a compressed variable is cut short")
                unpacked = struct.unpack(f"{order}II", tag)[1]
                check_size(path, f"a variable of {unpacked} bytes", unpacked, size)
            held += unpacked
            check_size(path, f"variables of {held} bytes", held)
            file.seek(at + size)


def _read_mat73(request: Request) -> Contents:
    """Version 7.3; only the requested variables are loaded."""
    h5py = require("h5py", "io", request.path)

    def load(item: Any) -> Any:
        if is_sparse(item):
            return item
        parts = [item[part] for part in ("ir", "jc", "data")] if isinstance(item, h5py.Group) else [item]
        name = item.name.lstrip("/")
        what = f"{name} with {parts[2].size} values" if len(parts) > 1 else f"{name} of shape {item.shape[::-1]}"
        check_size(request.path, what, sum(part.size * part.dtype.itemsize for part in parts))
        if len(parts) == 1:
            return item[()].T  # MATLAB stores matrices by columns
        rows, starts, values = (part[()] for part in parts)
        return _checked(sp.csc_array((values, rows, starts), shape=(int(item.attrs["MATLAB_sparse"]), len(starts) - 1)))

    with open_hdf5(request.path) as file:
        arrays: dict[str, Any] = {}
        for name, item in members(file):
            if isinstance(item, h5py.Dataset) and item.dtype.kind in "biuf":
                arrays[name] = item
            elif isinstance(item, h5py.Group) and "MATLAB_sparse" in item.attrs:
                arrays[name] = load(item)
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
    try:
        with opener(request.path)(request.path, "rb") as file:
            X, y = load_svmlight_file(BoundedLines(file, request.path, kept=2))
    except (ValueError, OverflowError, gzip.BadGzipFile, EOFError, zlib.error) as error:
        if str(error).startswith(str(request.path)):
            raise
        raise ValueError(f"{request.path} is not svmlight: {_svmlight_problem(request.path) or error}") from None
    return Contents(sp.csr_array(X), None, y)


def _svmlight_problem(path: Path) -> str | None:
    """The first line that is not ``label index:value ...``."""
    with open_text(path) as file:
        for number, line in enumerate(file, 1):
            label, *cells = line.partition("#")[0].split() or ["0"]
            if not _is_float(label):
                return f"line {number}: label {label[:40]!r} is not one number."
            last = -1
            for cell in (c for c in cells if not c.startswith("qid:")):
                index, colon, value = cell.partition(":")
                if not (colon and index.isdecimal() and len(index) < 20 and _is_float(value)):
                    return f"line {number}: {cell[:40]!r} is not index:value."
                if int(index) <= last:
                    return f"line {number}: index {index} comes after {last}; indices must increase."
                last = int(index)
    return None


def _is_float(text: str) -> bool:
    try:
        return float(text) is not None
    except ValueError:
        return False


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

    with named_damage(path, "Matrix Market", "."):
        _check_market_head(path)
        # Older versions of scipy lack the option, and return sparse matrices.
        options: dict[str, Any] = {"spmatrix": False} if "spmatrix" in inspect.signature(mmread).parameters else {}
        try:
            with _lines_that_end(path) as file:
                X = mmread(file, **options)
        except (EOFError, zlib.error):
            raise ValueError("it is cut short or damaged") from None
        return X if isinstance(X, np.ndarray) else sp.csc_array(X)


def _check_market_head(path: Path) -> None:
    """Check the size in the header, because mmread allocates it before it reads a number."""
    head: list[bytes] = []
    with opener(path)(path, "rb") as file:
        for line in BoundedLines(file, path):
            if line.strip() and not line.startswith(b"%"):
                head = line.split()
                break
    if not head:
        raise ValueError("it is empty")
    if not 2 <= len(head) <= 3 or not all(part.isdigit() and len(part) < 20 for part in head):
        raise ValueError(f"{b' '.join(head)[:40]!r} does not give numbers of rows and columns")
    n, m, entries = *map(int, head[:2]), int(head[-1]) if len(head) == 3 else -1
    values = n * m if entries < 0 else entries
    least = 2 * values if entries < 0 else 4 * values  # smallest number of bytes of text
    if least > path.stat().st_size * (DEFLATE if path.suffix.lower() == ".gz" else 1) + 2:
        raise ValueError(f"it declares {values} values, more than it can hold")
    check_size(path, f"a matrix of {n} x {m}", 8 * values if entries < 0 else 48 * values + 8 * (n + m))


@contextmanager
def _lines_that_end(path: Path) -> Iterator[Any]:
    """A file for mmread, which crashes if a zero byte or the end of the file comes before the end of a line."""
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
            if not _NOT_FINITE.fullmatch(strange):  # mmread silently ends a line at a number it cannot read
                raise ValueError(f"{strange[:1]!r} is among its numbers")
            line, last = b"", piece
        if not last:
            raise ValueError("it is empty")
        if last[-1:] in b"+-eE":
            raise ValueError("it is cut short")
        file.seek(0)
        yield str(path) if last.endswith(b"\n") else _Ended(file)


class _Ended:
    """The bytes of a file, followed by a line end."""

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
