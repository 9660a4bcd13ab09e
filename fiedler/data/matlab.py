"""MATLAB files of versions 5 to 7, read here: a damaged tag or index crashes scipy's compiled reader.

A file is a sequence of elements, tag and bytes; a matrix is an element that holds elements: flags, dimensions, a name
and the parts of its values. Every tag is checked against the bytes there are before these are looked at.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

_MATRIX, _COMPRESSED = 14, 15
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_TEXTS = {16: "utf-8", 17: "utf-16", 18: "utf-32"}
_CELL, _CHAR, _SPARSE, _FIRST, _LAST = 1, 4, 5, 6, 15  # classes of matrices; the last two are those of numbers
_COMPLEX = 0x08


def version(path: Path) -> int:
    """4, 5 (to 7) or 7 (for 7.3, which is HDF5)."""
    with open(path, "rb") as file:
        head = file.read(128)
    if len(head) < 4 or 0 in head[:4]:
        return 4
    mark = head[124:128]
    return 4 if len(mark) < 4 else 7 if 2 in (mark[0], mark[1]) and mark[2:] in (b"IM", b"MI") else 5


def load_mat5(path: Path) -> dict[str, Any]:
    """Every variable by its name: numbers as ndarray, csc_array where sparse, text and cells as objects, else None."""
    arrays: dict[str, Any] = {}
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
            data = file.read(size)
            if kind == _COMPRESSED:
                kind, data = _unzipped(data, order)
            if kind != _MATRIX:
                raise ValueError(f"an element of type {kind} stands where a variable should")
            name, value = _matrix(memoryview(data), order)
            arrays[name] = value
    return arrays


def _unzipped(data: bytes, order: str) -> tuple[int, Any]:
    """Type and bytes of a compressed element."""
    tag = zlib.decompressobj().decompress(data, 8)
    if len(tag) < 8:
        raise ValueError("a compressed variable is cut short")
    kind, size = struct.unpack(f"{order}II", tag)
    whole = zlib.decompress(data, bufsize=8 + min(size, 1032 * len(data)))  # no more can come out of so many bytes
    return kind, memoryview(whole)[8 : 8 + size]


def _elements(data: memoryview, order: str) -> Iterator[tuple[int, memoryview]]:
    """Type and bytes of the elements that follow each other."""
    at = 0
    while len(data) - at >= 8:
        kind, size = struct.unpack(f"{order}II", data[at : at + 8])
        if kind >> 16:  # up to four bytes, in the tag itself
            kind, size = kind & 0xFFFF, kind >> 16
            start, end = at + 4, at + 8
            size = size if size <= 4 else len(data) + 1
        else:
            start, end = at + 8, at + 8 + size + -size % 8
        if start + size > len(data):
            raise ValueError(f"an element of {size} bytes is longer than what is left")
        yield kind, data[start : start + size]
        at = end


def _matrix(data: memoryview, order: str) -> tuple[str, Any]:
    """Name and value of a matrix."""
    parts = _elements(data, order)
    try:
        flags, shape, name = (_numbers(*next(parts), order) for _ in range(3))
    except StopIteration:
        return "", np.empty((0, 0), dtype=object)  # an empty cell
    kind, is_complex = int(flags[0]) & 0xFF, bool(int(flags[0]) >> 8 & _COMPLEX)
    title = bytes(name.astype(np.uint8)).decode("latin-1")
    size = tuple(int(n) for n in shape)
    if min(size, default=0) < 0:
        raise ValueError(f"{title} has the shape {size}")
    value: Any = None
    if kind == _SPARSE:
        rows, starts, values = (_numbers(*part, order) for part in _first(parts, 3))
        if is_complex:
            values = values + 1j * _numbers(*next(parts), order)
        value = _sparse(rows, starts, values, size, title)
    elif _FIRST <= kind <= _LAST:
        value = _numbers(*_first(parts, 1)[0], order)
        if is_complex:
            value = value + 1j * _numbers(*_first(parts, 1)[0], order)
        value = _shaped(value, size, title)
    elif kind == _CHAR:
        value = _rows_of_text(*_first(parts, 1)[0], size, order, title)
    elif kind == _CELL:
        cells = np.empty(len(items := list(parts)), dtype=object)
        cells[:] = [_matrix(item, order)[1] if kind == _MATRIX else None for kind, item in items]
        value = _shaped(cells, size, title)
    return title, value


def _first(parts: Iterator[tuple[int, memoryview]], count: int) -> list[tuple[int, memoryview]]:
    found = [part for _, part in zip(range(count), parts, strict=False)]
    if len(found) < count:
        raise ValueError("a variable lacks a part")
    return found


def _numbers(kind: int, data: memoryview, order: str) -> np.ndarray:
    if kind not in _NUMBERS:
        raise ValueError(f"an element of type {kind} stands where numbers should")
    dtype = np.dtype(order + _NUMBERS[kind])
    values = np.frombuffer(data[: len(data) // dtype.itemsize * dtype.itemsize], dtype=dtype)
    return values.astype(dtype.newbyteorder("="), copy=False)


def _shaped(values: np.ndarray, size: tuple[int, ...], title: str) -> np.ndarray:
    if len(values) != int(np.prod(size, dtype=object)):
        raise ValueError(f"{title} has {len(values)} values, but the shape {size}")
    return values.reshape(size, order="F")


def _sparse(rows: np.ndarray, starts: np.ndarray, values: np.ndarray, size: tuple[int, ...], title: str) -> Any:
    """A sparse matrix whose indices were checked before anything follows them."""
    if len(size) != 2 or len(starts) != size[1] + 1 or starts[0] != 0 or (np.diff(starts.astype(np.int64)) < 0).any():
        raise ValueError(f"the columns of {title} do not fit the shape {size}")
    stored = int(starts[-1])
    if not stored <= min(len(rows), len(values)):
        raise ValueError(f"{title} should hold {stored} values, but has {min(len(rows), len(values))}")
    rows = rows[:stored]
    if stored and (rows.min() < 0 or rows.max() >= size[0]):
        raise ValueError(f"a row of {title} lies outside 0 to {size[0] - 1}")
    return sp.csc_array((values[:stored].copy(), rows.copy(), starts.copy()), shape=size)


def _rows_of_text(kind: int, data: memoryview, size: tuple[int, ...], order: str, title: str) -> np.ndarray:
    """One string per row of characters."""
    if kind in _TEXTS:
        mark = {"<": "-le", ">": "-be"}[order] if kind > 16 else ""
        letters = list(bytes(data).decode(_TEXTS[kind] + mark))
    else:
        letters = [chr(code) for code in _numbers(kind, data, order).tolist()]
    if not letters:
        return np.array([""] * min(1, size[0]) if size else [], dtype=object)
    cells = np.array(letters, dtype=object)
    return np.array(["".join(row) for row in _shaped(cells, size, title).reshape(size[0], -1)], dtype=object)
