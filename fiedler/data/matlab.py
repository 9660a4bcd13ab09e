"""Reading of MATLAB files: versions 4 to 7 without scipy, which crashes on damaged files, and 7.3 as HDF5.

A file of version 5 to 7 is a sequence of elements, tag and bytes. A matrix is an element that holds elements: flags,
dimensions, a name and the parts of its values. Before use, every tag is checked against the size of the file, every
declared size against memory, and every index against the shape.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..validation import require
from ..words import first_line
from .files import starts_fit
from .memory import check_size
from .stores import members, open_hdf5
from .tables import Contents, Request, Table, flat, labels_of, matrix_name, named_arrays

_MATRIX, _COMPRESSED = 14, 15
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_TEXTS = {16: "utf-8", 17: "utf-16", 18: "utf-32"}
# Classes of matrices; numbers have the classes from _FIRST to _LAST.
_CELL, _CHAR, _SPARSE, _FIRST, _LAST = 1, 4, 5, 6, 15
_COMPLEX = 0x08
_CELL_BYTES = 512  # bytes of memory per cell while it is read
_EMPTY = np.empty((0, 0), dtype=object)  # the value of an empty cell
_NUMBERS_OF_4 = ("f8", "f4", "i4", "i2", "u2", "u1")


def read_mat(request: Request) -> Contents:
    """X and Y of a MATLAB file in the layout of the ASU repository."""
    path = request.path
    try:
        load = {4: _from_version_4, 5: _from_version_5, 7: _from_hdf5}[_version(path)]
        X, y, names = load(request)
    except (ImportError, PermissionError):
        raise
    except Exception as error:  # h5py raises many kinds of errors for a damaged file
        if str(error).startswith(str(path)):
            raise
        raise ValueError(f"{path} is not a MATLAB file: {first_line(error) or type(error).__name__}") from None
    return Contents(X, flat(names), y)


def write_mat(path: Path, table: Table, selected: np.ndarray) -> None:
    from scipy.io import savemat

    arrays = named_arrays(table, selected)
    arrays["feature_names"] = arrays["feature_names"].astype(object)
    if "y" in arrays:
        arrays["Y"] = arrays.pop("y").reshape(-1, 1)
    with open(path, "wb") as file:
        savemat(file, arrays, do_compression=True)  # type: ignore[arg-type]  # the stubs know paths only


def _version(path: Path) -> int:
    """4, 5 (to 7) or 7 (for 7.3, which is HDF5)."""
    with open(path, "rb") as file:
        head = file.read(128)
    if len(head) < 4 or 0 in head[:4]:
        return 4
    mark = head[124:128]
    return 4 if len(mark) < 4 else 7 if 2 in (mark[0], mark[1]) and mark[2:] in (b"IM", b"MI") else 5


def _asked(arrays: dict[str, Any], request: Request) -> tuple[Any, Any, Any]:
    X = arrays[matrix_name(arrays, request.path)]
    return X, labels_of(arrays, request.target, request.path), arrays.get("feature_names")


def _from_hdf5(request: Request) -> tuple[Any, Any, Any]:
    """Read version 7.3; only the requested variables are loaded."""
    h5py = require("h5py", "io", request.path)
    with open_hdf5(request.path) as file:
        arrays: dict[str, Any] = {}
        for name, item in members(file):
            if isinstance(item, h5py.Dataset) and item.dtype.kind in "biuf":
                arrays[name] = item
            elif isinstance(item, h5py.Group) and "MATLAB_sparse" in item.attrs:
                arrays[name] = _sparse_of_hdf5(item, request.path)
        return tuple(_loaded(item, request.path) for item in _asked(arrays, request))


def _loaded(item: Any, path: Path) -> Any:
    if item is None or sp.issparse(item):
        return item
    check_size(path, f"{item.name.lstrip('/')} of shape {item.shape[::-1]}", item.size * item.dtype.itemsize)
    return item[()].T  # MATLAB stores matrices by columns


def _sparse_of_hdf5(group: Any, path: Path) -> sp.csc_array:
    parts = [group[part] for part in ("ir", "jc", "data")]
    check_size(path, f"{group.name.lstrip('/')} with {parts[2].size} values", sum(8 * part.size for part in parts))
    rows, starts, values = (part[()] for part in parts)
    return _sparse(rows, starts, values, (int(group.attrs["MATLAB_sparse"]), len(starts) - 1), group.name.lstrip("/"))


# -------------------------------------------------------------------- version 4


def _from_version_4(request: Request) -> tuple[Any, Any, Any]:
    arrays: dict[str, Any] = {}
    with open(request.path, "rb") as file:
        while head := file.read(20):
            if len(head) < 20:
                raise ValueError("the head of a variable is cut short")
            order = next((o for o in "<>" if 0 <= struct.unpack(f"{o}i", head[:4])[0] < 5000), None)
            if order is None:
                raise ValueError("a variable has a type that MATLAB does not know")
            kind, n_rows, n_columns, is_complex, length = struct.unpack(f"{order}5i", head)
            if min(n_rows, n_columns) < 0 or not 0 < length < 2**10:
                raise ValueError(f"a variable declares {n_rows} x {n_columns} numbers and a name of {length} letters")
            name = file.read(length).rstrip(b"\0").decode("latin-1")
            form, layout = kind // 10 % 10, kind % 10  # format of the numbers, and of the matrix
            if form >= len(_NUMBERS_OF_4) or kind // 1000 > 1 or layout > 2:
                raise ValueError(f"{name} has the type {kind}, which MATLAB does not know")
            dtype, shape = np.dtype(order + _NUMBERS_OF_4[form]), (n_rows, n_columns)
            parts = [_next_of_4(file, dtype, shape, name, request.path) for _ in range(1 + bool(is_complex))]
            arrays[name] = parts[0] if len(parts) == 1 else parts[0] + 1j * parts[1]
            if layout == 2:
                arrays[name] = _triplets(arrays[name], name)
            elif layout == 1:
                arrays[name] = _lines_of_text(arrays[name])
    return _asked(arrays, request)


def _next_of_4(file: Any, dtype: np.dtype, shape: tuple[int, int], name: str, path: Path) -> np.ndarray:
    size = shape[0] * shape[1] * dtype.itemsize
    if size > path.stat().st_size - file.tell():
        raise ValueError(f"{name} declares {shape[0]} x {shape[1]} numbers, more than are left of the file")
    values = np.frombuffer(file.read(size), dtype=dtype).reshape(shape, order="F")
    return values.astype(dtype.newbyteorder("="))


def _triplets(values: np.ndarray, name: str) -> sp.csc_array:
    """A sparse matrix from rows, columns (from 1) and values; the last line holds its shape."""
    if values.ndim != 2 or values.shape[1] not in (3, 4) or not len(values):
        raise ValueError(f"{name} is no list of rows, columns and values")
    at = values[:, :2].real
    if not (np.isfinite(at).all() and (at == np.floor(at)).all() and (at[:-1] >= 1).all() and (at[-1] >= 0).all()):
        raise ValueError(f"a row or column number of {name} is not a whole number from 1")
    shape = (int(at[-1, 0]), int(at[-1, 1]))
    if (at[:-1] > at[-1]).any() or max(shape) > 2**31:
        raise ValueError(f"a value of {name} lies outside its shape {shape}")
    entries = values[:-1, 2] if values.shape[1] == 3 else values[:-1, 2] + 1j * values[:-1, 3]
    rows, columns = at[:-1].astype(np.int64).T - 1
    return sp.csc_array(sp.coo_array((entries, (rows, columns)), shape=shape))


# -------------------------------------------------------------------- versions 5 to 7


def _from_version_5(request: Request) -> tuple[Any, Any, Any]:
    return _asked(load_mat5(request.path), request)


def load_mat5(path: Path) -> dict[str, Any]:
    """Every variable by name: numbers as ndarray or csc_array, text and cells as objects, others as None."""
    arrays: dict[str, Any] = {}
    total = 0
    with open(path, "rb") as file:
        order = {b"IM": "<", b"MI": ">"}.get(file.read(128)[126:])
        if order is None:
            raise ValueError("it has no MATLAB header")
        left = path.stat().st_size - 128
        while left >= 8:
            kind, size = struct.unpack(f"{order}II", file.read(8))
            if size > left - 8:
                raise ValueError(f"a variable of {size} bytes is longer than what is left of the file")
            left -= 8 + size
            data = memoryview(file.read(size))
            if kind == _COMPRESSED:
                kind, data = _unzipped(data, order, path, total)
            total += len(data)
            if kind != _MATRIX:
                raise ValueError(f"an element of type {kind} is in the place of a variable")
            name, value = _matrix(data, order, path)
            arrays[name] = value
    return arrays


def _unzipped(data: memoryview, order: str, path: Path, held: int) -> tuple[int, memoryview]:
    """Type and bytes of a compressed element; its size is checked before it is unpacked."""
    unpack = zlib.decompressobj()
    tag = unpack.decompress(data, 8)
    if len(tag) < 8:
        raise ValueError("a compressed variable is cut short")
    kind, size = struct.unpack(f"{order}II", tag)
    check_size(path, f"a variable of {size} bytes", size, len(data))
    check_size(path, f"variables of {held + size} bytes", held + size)
    return kind, memoryview(unpack.decompress(unpack.unconsumed_tail, size) if size else b"")


def _elements(data: memoryview, order: str) -> Iterator[tuple[int, memoryview]]:
    """Type and bytes of successive elements."""
    at = 0
    while len(data) - at >= 8:
        kind, size = struct.unpack(f"{order}II", data[at : at + 8])
        if kind >> 16:  # up to four bytes are stored in the tag itself
            kind, size = kind & 0xFFFF, kind >> 16
            start, end = at + 4, at + 8
            size = size if size <= 4 else len(data) + 1
        else:
            start, end = at + 8, at + 8 + size + -size % 8
        if start + size > len(data):
            raise ValueError(f"an element of {size} bytes is longer than what is left")
        yield kind, data[start : start + size]
        at = end


def _matrix(data: memoryview, order: str, path: Path) -> tuple[str, Any]:
    """Name and value of a matrix."""
    parts = _elements(data, order)
    try:
        flags, shape, name = (_numbers(*next(parts), order) for _ in range(3))
    except StopIteration:
        return "", _EMPTY
    kind, is_complex = int(flags[0]) & 0xFF, bool(int(flags[0]) >> 8 & _COMPLEX)
    title = bytes(name.astype(np.uint8)).decode("latin-1")
    size = tuple(int(n) for n in shape)
    if min(size, default=0) < 0:
        raise ValueError(f"{title} has the shape {size}")
    value: Any = None
    if kind == _SPARSE:
        rows, starts, values = (_numbers(*part, order) for part in _first(parts, 3))
        if is_complex:
            values = values + 1j * _numbers(*_first(parts, 1)[0], order)
        value = _sparse(rows, starts, values, size, title)
    elif _FIRST <= kind <= _LAST:
        value = _numbers(*_first(parts, 1)[0], order)
        if is_complex:
            value = value + 1j * _numbers(*_first(parts, 1)[0], order)
        value = _shaped(value, size, title)
    elif kind == _CHAR:
        value = _text(*_first(parts, 1)[0], size, order, title)
    elif kind == _CELL:
        count = min(int(np.prod(size, dtype=object)), len(data) // 8)  # an element takes at least eight bytes
        check_size(path, f"{title} of {count} cells", _CELL_BYTES * count)
        cells = np.empty(len(items := list(parts)), dtype=object)
        cells[:] = [_matrix(item, order, path)[1] if kind == _MATRIX else None for kind, item in items]
        value = _shaped(cells, size, title)
    return title, value


def _first(parts: Iterator[tuple[int, memoryview]], count: int) -> list[tuple[int, memoryview]]:
    found = [part for _, part in zip(range(count), parts, strict=False)]
    if len(found) < count:
        raise ValueError("a variable lacks a part")
    return found


def _numbers(kind: int, data: memoryview, order: str) -> np.ndarray:
    if kind not in _NUMBERS:
        raise ValueError(f"an element of type {kind} is in the place of numbers")
    dtype = np.dtype(order + _NUMBERS[kind])
    values = np.frombuffer(data[: len(data) // dtype.itemsize * dtype.itemsize], dtype=dtype)
    return values.astype(dtype.newbyteorder("="), copy=False)


def _shaped(values: np.ndarray, size: tuple[int, ...], title: str) -> np.ndarray:
    if len(values) != int(np.prod(size, dtype=object)):
        raise ValueError(f"{title} has {len(values)} values, but the shape {size}")
    return values.reshape(size, order="F")


def _sparse(
    rows: np.ndarray, starts: np.ndarray, values: np.ndarray, size: tuple[int, ...], title: str
) -> sp.csc_array:
    """A sparse matrix whose indices are checked before compiled code uses them."""
    if not {rows.dtype.kind, starts.dtype.kind} <= {"i", "u"}:
        raise ValueError(f"the row numbers and column starts of {title} must be whole numbers")
    held = min(len(rows), len(values))
    if len(size) != 2 or not starts_fit(starts, size[1], held):
        raise ValueError(f"the columns of {title} do not fit the shape {size} with {held} values")
    stored = int(starts[-1])
    rows = rows[:stored]
    if stored and not 0 <= int(rows.min()) <= int(rows.max()) < size[0]:
        raise ValueError(f"a row of {title} lies outside 0 to {size[0] - 1}")
    return sp.csc_array((values[:stored].copy(), rows.astype(np.int64), starts.astype(np.int64)), shape=size)


def _text(kind: int, data: memoryview, size: tuple[int, ...], order: str, title: str) -> np.ndarray:
    """Text as one string per row of characters."""
    if kind in _TEXTS:
        mark = {"<": "-le", ">": "-be"}[order] if kind > 16 else ""
        codes = np.frombuffer(bytes(data).decode(_TEXTS[kind] + mark).encode("utf-32-le"), dtype="<u4")
    else:
        codes = _numbers(kind, data, order).astype(np.uint32)
    if not len(codes):
        return np.array([""] * min(1, size[0]) if size else [], dtype=object)
    return _lines_of_text(_shaped(codes, size, title).reshape(size[0], -1))


def _lines_of_text(codes: np.ndarray) -> np.ndarray:
    """Strings from one row of character codes each."""
    if not codes.size:
        return np.array([], dtype=object)
    if not ((codes >= 0) & (codes < 0x110000)).all():
        raise ValueError("a text holds an invalid character")
    rows = np.ascontiguousarray(codes, dtype="<u4").view(f"<U{codes.shape[1]}").ravel()
    return np.array([str(row) for row in rows.tolist()], dtype=object)
