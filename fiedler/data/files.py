"""Matrices in files, read in blocks: Zarr arrays, HDF5 datasets, sparse matrices in either, Parquet, mapped NPY.

By the rules of Zarr a missing chunk is read as the fill value, so that a lost file would become zeros. Here a missing
chunk is an error, unless the caller states that chunks were left out on purpose.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..validation import require
from ..words import first_line
from .memory import check_size, slab_bytes
from .source import Source

NUMPY = ("a NumPy file of numbers", ". Python objects and pickles are never loaded.")  # for named_damage
_WIDE_PARQUET = 20_000  # with more columns, the metadata of a Parquet file cost more than its values


@contextmanager
def named_damage(path: str | os.PathLike, what: str = "", end: str = "") -> Iterator[None]:
    """Errors of other libraries about a damaged file, of any kind, as one that names the file and what it is not."""
    try:
        yield
    except Exception as error:
        named = str(error).startswith(os.fspath(path)) or (not what and os.fspath(path) in str(error))
        if named or isinstance(error, (ImportError, PermissionError)):
            raise
        why = first_line(error) or type(error).__name__
        if isinstance(error, MemoryError):
            raise MemoryError(f"{path} does not fit into memory, or is damaged: {why}.") from error
        raise ValueError(f"{path} {f'is not {what}' if what else 'cannot be read'}: {why}{end}") from error


class FileSource(Source):
    """A source that reads from a file."""

    def fingerprint(self) -> str:
        path = Path(self.label.partition("::")[0])
        files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
        newest = max((f.stat().st_mtime_ns for f in files), default=0)
        stamp = f"{len(files)} {sum(f.stat().st_size for f in files)} {newest}" if path.exists() else ""
        return f"{super().fingerprint()} {stamp}"


class ArrayFile(FileSource):
    """A two-dimensional Zarr array or HDF5 dataset."""

    def __init__(self, array: Any, label: str | None = None, missing_chunks: str = "error"):
        if label is None and hasattr(array, "file"):  # h5py
            label = f"{array.file.filename}::{array.name.lstrip('/')}"
        elif label is None:
            root = getattr(getattr(array, "store", None), "root", None)
            label = "the Zarr array" if root is None else str(Path(root) / array.path)
        super().__init__(array.shape, array.dtype, label, array.chunks)
        self._array = array
        check_chunks(array, label, missing_chunks)

    def _read(self, rows: slice, columns: slice | np.ndarray) -> np.ndarray:
        if isinstance(columns, slice):
            return np.asarray(self._array[rows, columns])
        # HDF5 needs increasing indices without duplicates. Chunks are read one after the other, because decoding all
        # chunks of these columns at once could load the whole file.
        wanted, place = np.unique(columns, return_inverse=True)
        groups = np.split(wanted, np.flatnonzero(np.diff(wanted // self.chunks[1])) + 1)
        pick = self._array.oindex if hasattr(self._array, "oindex") else self._array
        return np.concatenate([np.asarray(pick[rows, group]) for group in groups], axis=1)[:, place]


class MappedFile(FileSource):
    """The memory-mapped array of an NPY file, of which the operating system reads only the used parts."""

    mapped = True

    def __init__(self, path: Path):
        self._array = open_npy(path)
        super().__init__(self._array.shape, self._array.dtype, os.fspath(path))
        self.opener = partial(MappedFile, path.absolute())

    def _read(self, rows: slice, columns: slice | np.ndarray) -> np.ndarray:
        return self._array[rows, columns]


def open_npy(path: Path) -> np.ndarray:
    """A memory-mapped array."""
    with named_damage(path, *NUMPY):
        return np.lib.format.open_memmap(path, mode="r")  # never unpickles


class SparseFile(FileSource):
    """A CSR or CSC matrix whose parts ``data``, ``indices`` and ``indptr`` lie in a group of an HDF5 or Zarr file."""

    sparse = True

    def __init__(self, group: Any, layout: str, shape: tuple[int, int], label: str, missing_chunks: str = "error"):
        self._data, self._indices, indptr = group["data"], group["indices"], group["indptr"]
        n_lines, lines = (shape[0], "rows") if layout == "csr" else (shape[1], "columns")
        stored = int(self._data.shape[0])
        # Otherwise indptr is all zeros, which are not stored.
        for part in ("data", "indices", "indptr") if stored else ():
            check_chunks(group[part], f"{label}, {part}", missing_chunks)
        if not {self._indices.dtype.kind, indptr.dtype.kind} <= {"i", "u"}:
            raise ValueError(f"{label}: indices and indptr must be whole numbers.")
        starts = np.empty(0)
        if indptr.shape == (n_lines + 1,):
            check_size(label, f"{n_lines} {lines}", 16 * n_lines)
            starts = np.asarray(indptr[...])
        if not starts_fit(starts, n_lines, stored) or int(starts[-1]) != stored:
            raise ValueError(f"{label}: indptr does not fit a {layout} matrix of shape {shape} with {stored} values.")
        if self._indices.shape[0] != stored:
            raise ValueError(f"{label}: data and indices differ in length.")
        self._layout, self._indptr = layout, starts.astype(np.int64)
        chunks = (1, shape[1]) if layout == "csr" else (shape[0], 1)
        super().__init__(shape, self._data.dtype, label, chunks)

    @property
    def bytes_per_row(self) -> float:
        return float(self._indptr[-1]) * (self.dtype.itemsize + 8) / max(self.shape[0], 1)

    def _read(self, rows: slice, columns: slice | np.ndarray) -> sp.csr_array | sp.csc_array:
        by_rows = self._layout == "csr"
        lines, across = (rows, columns) if by_rows else (columns, rows)
        n_lines, width = self.shape if by_rows else self.shape[::-1]
        if isinstance(lines, slice) and isinstance(across, slice) and (across.start, across.stop) == (0, width):
            return self._lines(lines, width)
        # Parts of lines, or scattered lines: a few lines are read at a time, and only the wanted parts are kept.
        wanted, place = np.unique(np.arange(n_lines)[lines], return_inverse=True)
        step = max(1, int(slab_bytes() / 4 * n_lines / max(self._bytes, 1.0)))
        pieces, at = [], 0
        while at < len(wanted):
            upto = np.searchsorted(wanted, wanted[at] + step)
            part = self._lines(slice(int(wanted[at]), int(wanted[upto - 1]) + 1), width)
            here = wanted[at:upto] - wanted[at]
            pieces.append(part[here][:, across] if by_rows else part[:, here][across])
            at = upto
        return sp.vstack(pieces, format="csr")[place] if by_rows else sp.hstack(pieces, format="csc")[:, place]

    def _lines(self, span: slice, width: int) -> sp.csr_array | sp.csc_array:
        """Some rows of a CSR matrix, or some columns of a CSC one, checked before compiled code follows the indices."""
        first, last = int(self._indptr[span.start]), int(self._indptr[span.stop])
        data, indices = np.asarray(self._data[first:last]), np.asarray(self._indices[first:last])
        data = data.astype(data.dtype.newbyteorder("="), copy=False)
        if len(indices) and (indices.min() < 0 or indices.max() >= width):
            raise ValueError(f"an index lies outside 0 to {width - 1}")
        parts, count = (data, indices, self._indptr[span.start : span.stop + 1] - first), span.stop - span.start
        kind, shape = (sp.csr_array, (count, width)) if self._layout == "csr" else (sp.csc_array, (width, count))
        lines = kind(parts, shape=shape)
        lines.sum_duplicates()
        return lines


class ParquetFile(FileSource):
    """The numeric columns of a Parquet file; more suitable for tall tables than for wide ones."""

    def __init__(self, path: str | os.PathLike, columns: list[str] | None = None):
        require("pyarrow", "io", path)
        with named_damage(path, "a Parquet file"):
            self._file = require("pyarrow.parquet", "io", path).ParquetFile(path, memory_map=True)
        schema, meta = self._file.schema_arrow, self._file.metadata
        columns = list(schema.names) if columns is None else list(columns)
        for name in columns:
            if (count := schema.names.count(name)) != 1:
                raise ValueError(f"{path} has {count} columns named {name!r}; it should have one.")
        if len(columns) > _WIDE_PARQUET:
            raise ValueError(
                f"{path} has {len(columns)} columns, more than the limit of {_WIDE_PARQUET} for reading Parquet in "
                "blocks; convert it to Zarr or HDF5, or allow enough memory to read it as a whole."
            )
        types = [schema.field(name).type for name in columns]
        for name, kind in zip(columns, types, strict=True):
            if not is_arrow_number(kind):
                raise ValueError(f"{path}: column {name!r} holds {kind}, not numbers; name it as the target or an id.")
        group = meta.row_group(0).num_rows if meta.num_row_groups else meta.num_rows
        super().__init__((meta.num_rows, len(columns)), arrow_dtype(types), os.fspath(path), (group, 1), columns)
        self._columns = columns  # the public names may be changed by the caller
        self._reading = Lock()  # threads of a worker share the file, and pyarrow crashes if two of them read it at once
        self.opener = partial(ParquetFile, os.path.abspath(path), columns)
        sizes = [meta.row_group(g).num_rows for g in range(meta.num_row_groups)]
        self._starts = np.cumsum([0, *sizes]).tolist()

    def _read(self, rows: slice, columns: slice | np.ndarray) -> np.ndarray:
        wanted = np.arange(self.shape[1])[columns] if isinstance(columns, slice) else columns
        names = [self._columns[j] for j in wanted]
        out = np.empty((rows.stop - rows.start, len(names)), dtype=self.dtype, order="F")
        # One row group at a time, because decoded data are much larger than stored data.
        for g, (start, stop) in enumerate(pairwise(self._starts)):
            low, high = max(rows.start, start), min(rows.stop, stop)
            if low >= high:
                continue
            with self._reading:
                table = self._file.read_row_group(g, columns=sorted(set(names)))
            for j, name in enumerate(names):
                values = as_floats(table.column(name).slice(low - start, high - low), f"column {name!r}")
                out[low - rows.start : high - rows.start, j] = values
        return out


def is_arrow_number(kind: Any) -> bool:
    """Whether an Arrow type holds numbers."""
    from pyarrow import types

    return any(is_kind(kind) for is_kind in (types.is_floating, types.is_integer, types.is_boolean, types.is_decimal))


def arrow_dtype(kinds: Sequence[Any]) -> type[np.floating]:
    """float32 if it holds all values of some Arrow types exactly, otherwise float64."""
    from pyarrow import types

    narrow = all(kind.bit_width <= (32 if types.is_floating(kind) else 16) for kind in kinds)
    return np.float32 if narrow else np.float64


def as_floats(column: Any, name: str) -> np.ndarray:
    """An Arrow column in float64; raises an error for integers that float64 cannot represent."""
    import pyarrow as pa

    try:
        return column.cast(pa.float64()).to_numpy()
    except pa.ArrowInvalid:
        raise ValueError(
            f"{name} holds integers beyond 2**53, which are not exact in float64; if they are ids, name it as an "
            "id column, else store it as float64."
        ) from None


def starts_fit(starts: np.ndarray, n_lines: int, stored: int) -> bool:
    """Whether the starts of the lines of a sparse matrix begin at 0, never decrease, and end within the stored values.

    They are compared and not subtracted, because differences of malicious values overflow, which scipy does not check.
    """
    if starts.shape != (n_lines + 1,) or starts.dtype.kind not in "iu":
        return False
    return int(starts[0]) == 0 and int(starts[-1]) <= stored and not (starts[1:] < starts[:-1]).any()


def sparse_layout(group: Any) -> tuple[str, tuple[int, int]] | None:
    """Layout and shape of a group that holds a sparse matrix in AnnData's encoding, or None."""
    attributes = getattr(group, "attrs", {})
    kind = str(attributes.get("encoding-type", attributes.get("h5sparse_format", "")))
    shape = attributes.get("shape", attributes.get("h5sparse_shape"))
    if shape is None or not all(part in group for part in ("data", "indices", "indptr")):
        return None
    return "csc" if "csc" in kind else "csr", (int(shape[0]), int(shape[1]))


def check_chunks(array: Any, label: str, missing_chunks: str = "error") -> None:
    """Raise an error if chunks of a Zarr array are not stored, or if an HDF5 dataset stores no values.

    Zarr's ``nchunks_initialized`` is not used for many chunks, because it tests every possible chunk.
    """
    if array.chunks:  # a chunk is always decoded as a whole
        check_size(label, f"chunks of shape {array.chunks}", math.prod(array.chunks) * array.dtype.itemsize)
    if missing_chunks == "fill":
        return
    if hasattr(array, "id"):  # h5py
        if array.size and array.chunks and not array.id.get_storage_size():
            purpose = _ON_PURPOSE.format(array.fillvalue)
            raise ValueError(f"{label}: none of its {array.size} values is stored; {purpose}")
        return
    grid = [-(-length // step) for length, step in zip(array.shape, array.shards or array.chunks, strict=True)]
    count, root = math.prod(grid), getattr(array.store, "root", None)
    if isinstance(root, Path):
        # Zarr counts a shard that exceeds the edge as a whole shard, so the files are searched instead.
        folder = root / array.path
        stored = {Path(at, name).relative_to(folder).as_posix() for at, _, names in os.walk(folder) for name in names}
        # One place at a time, because np.ndindex first allocates memory for every axis.
        places = (np.unravel_index(place, grid) for place in range(count))
        keys = (array.metadata.encode_chunk_key(tuple(map(int, place))) for place in places)
        missing = next((f"the chunk {key} is" for key in keys if key not in stored), "")
    elif count > _MANY_CHUNKS:
        raise ValueError(f"{label} is not a folder and declares {count} chunks, too many to check.")
    else:
        missing = f"some of its {count} chunks are" if array.nchunks_initialized < array.nchunks else ""
    if missing:
        raise ValueError(f"{label}: {missing} missing; {_ON_PURPOSE.format(array.fill_value)}")


_MANY_CHUNKS = 100_000
_ON_PURPOSE = (
    "restore the lost chunks, or if chunks that hold only {} were left out on purpose, open the file with "
    "open_source(path, missing_chunks='fill')."
)
