"""A matrix that is not in memory: it is read in slabs of columns or rows, which are checked when they are read.

Once the graph is built, every score belongs to one feature, and Gram matrices are sums over columns. Therefore the
package needs only two operations of a source: :meth:`Source.map` (one result per slab of columns) and
:meth:`Source.sum` (the sum of results). A slab is processed by the same code as data in memory.
:meth:`Source.fold_rows` does the same for whole rows.

A slab takes a quarter of scikit-learn's ``working_memory``. While a :class:`Run` is active, finished slabs are counted.
If the run has a folder, they are also stored, so that an interrupted job continues where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias
from zlib import crc32

import numpy as np
import scipy.sparse as sp

from ..validation import is_sparse
from ..words import first_line
from .memory import check_size, give_back, slab_bytes
from .work import counting, current_run

_MANY_SLABS, _SLICE_BYTES = 10_000, 150  # with more slabs the slices need memory; bytes per slice

Part: TypeAlias = np.ndarray | sp.csr_array | sp.csc_array  # in memory, in the stored type


class Source:
    """Base class of all sources.

    Parameters
    ----------
    shape : tuple of int
        Numbers of rows and columns.
    dtype : dtype
        Type of the stored values, which must be real numbers.
    label : str
        The name in messages: a path, or "the Dask array".
    chunks : tuple of int, optional
        Numbers of rows and columns of a stored chunk; slabs are multiples of the number of columns if memory allows.
    names : sequence of str, optional
        Names of the columns.
    """

    ndim, sparse = 2, False
    mapped = False  # whether reading needs no additional memory
    lazy = False  # whether slicing the original object does not read it
    opener: Callable[[], Source] | None = None  # opens the same source again; set by the function that opened the file

    def __init__(
        self, shape: tuple[int, int], dtype: Any, label: str, chunks: tuple[int, int] | None = None, names: Any = None
    ):
        if len(shape) != 2:
            raise ValueError(f"{label} has shape {tuple(shape)}; a table has rows and columns.")
        self.shape, self.dtype = (int(shape[0]), int(shape[1])), np.dtype(dtype)
        self.label, self.names = label, names
        self.chunks = self.shape if chunks is None else (int(chunks[0]), int(chunks[1]))
        self._whole: Part | None = None
        if self.dtype.kind not in "biuf":
            raise ValueError(f"{label} holds {self.dtype}, not real numbers.")

    def _read(self, rows: slice, columns: slice | np.ndarray) -> Part:
        """Part of the matrix in the stored type."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """Number of values."""
        return self.shape[0] * self.shape[1]

    @property
    def bytes_per_row(self) -> float:
        """Bytes of one row in memory; sparse sources override it."""
        return float(self.shape[1] * self.dtype.itemsize)

    @property
    def small(self) -> bool:
        """Whether all of it takes at most the memory of a slab."""
        return self._bytes <= slab_bytes()

    @property
    def by_rows(self) -> bool:
        """Whether reading some columns reads the whole file: chunks hold complete rows, but not all rows."""
        return self.chunks[0] < self.shape[0] and self.chunks[1] >= self.shape[1] and len(self.slabs()) > 1

    __iter__ = None  # Python would otherwise try X[0], X[1], ...

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Part:
        """``X[:, columns]`` or ``X[rows]`` in memory: an ndarray, csc or csr array in the stored dtype, finite."""
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        n, m = self.shape
        rows, columns = _index(rows, n, "rows"), _index(columns, m, "columns")
        if not isinstance(rows, slice):
            return self.take_rows(rows)[:, columns]
        if self._whole is not None:
            return self._whole[rows, columns]  # type: ignore[index]  # the stubs know no union inside the tuple
        part = self._checked(rows, columns)
        if is_sparse(part):
            part = sp.csc_array(part) if (rows.start, rows.stop) == (0, n) else sp.csr_array(part)
        if part.shape == self.shape and isinstance(columns, slice) and len(self.slabs()) == 1:
            self._whole = part  # small enough to be read only once; views of it must not be changed
            (part.data if is_sparse(part) else part).setflags(write=False)
        return part

    @property
    def reopen(self) -> Callable[[], Source]:
        """A function that opens the same source in another process."""
        if self.opener is not None:
            return self.opener
        raise TypeError(f"{self.label} cannot be opened by other processes; open it from its file with open_source.")

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise TypeError(f"{self.label} is read block by block, not as a whole; pass it to a criterion or a selector.")

    def _checked(self, rows: slice, columns: slice | np.ndarray) -> Part:
        part = self._loaded(rows, columns)
        check_finite(part, self.label, self.names, columns)
        return part

    def _loaded(self, rows: slice, columns: slice | np.ndarray) -> Part:
        width = columns.stop - columns.start if isinstance(columns, slice) else len(columns)
        size = self.bytes_per_row * (rows.stop - rows.start) * width / max(self.shape[1], 1)
        if size > slab_bytes() and not self.mapped:  # a slab exceeds the limit only if a single row or column does
            declared = f"{self.shape[0]} rows and {self.shape[1]} columns, and {block_name(rows, columns, self.shape)}"
            check_size(self.label, declared, size)
        try:
            return self._read(rows, columns)
        except Exception as error:
            # The cluster is gone and the block is not damaged, or the error names the block already.
            if isinstance(error, ConnectionError) or str(error).startswith(f"{self.label}: "):
                raise
            raise unreadable(self.label, rows, columns, self.shape, error) from error

    def take_rows(self, rows: Any) -> Source:
        """A source with some of the rows.

        Parameters
        ----------
        rows : slice, array of int or mask
            The rows, in any order.

        Returns
        -------
        view : Source
            Reads from this one.
        """
        return RowView(self, np.arange(self.shape[0])[_index(rows, self.shape[0], "rows")])

    def without_column(self, column: int) -> Source:
        """A source without one column, such as the target.

        Parameters
        ----------
        column : int
            Number of the column; a negative number counts from the end.

        Returns
        -------
        view : Source
            Reads from this one.
        """
        kept = np.delete(np.arange(self.shape[1]), range(self.shape[1])[column])
        return ColumnView(self, kept, self.chunks)

    def take_columns(self, columns: np.ndarray) -> Source:
        """Some columns, still a source.

        Parameters
        ----------
        columns : ndarray of int
            Their numbers, ascending.

        Returns
        -------
        view : Source
            Reads from this one.
        """
        # Chunks of complete rows stay so; of other chunks the columns may have any part.
        chunks = (self.chunks[0], len(columns)) if self.chunks[1] >= self.shape[1] else None
        return ColumnView(self, columns, chunks)

    def unchecked(self, columns: Any = slice(None)) -> Part:
        """Some columns in memory whose values may be missing, such as the target.

        Parameters
        ----------
        columns : slice, array of int or mask
            The columns; by default all.

        Returns
        -------
        part : ndarray or sparse array
            The columns in the stored dtype.
        """
        return self._loaded(slice(0, self.shape[0]), _index(columns, self.shape[1], "columns"))

    def slabs(self) -> list[slice]:
        """Slabs of all columns, limited to a quarter of the working memory and aligned with the stored chunks.

        Returns
        -------
        slabs : list of slice
            In order, without gaps.
        """
        return self._spans(self.shape[1], slab_bytes() * self.shape[1] / max(self._bytes, 1.0), self.chunks[1])

    def row_slabs(self) -> list[slice]:
        """Slabs of all rows, limited in the same way.

        Returns
        -------
        slabs : list of slice
            In order, without gaps.
        """
        return self._spans(self.shape[0], slab_bytes() / max(self.bytes_per_row, 1.0), self.chunks[0])

    def _spans(self, length: int, width: float, chunk: int) -> list[slice]:
        if length > _MANY_SLABS * max(width, 1.0):
            declared = f"{self.shape[0]} rows and {self.shape[1]} columns, in many small blocks"
            check_size(self.label, declared, _SLICE_BYTES * length / max(width, 1.0))
        return spans(length, width, chunk)

    @property
    def _bytes(self) -> float:
        return self.bytes_per_row * self.shape[0]

    def map(self, function: Callable[..., np.ndarray], positioned: bool = False) -> list[np.ndarray]:
        """Apply a function to every slab of columns.

        Parameters
        ----------
        function : callable
            ``function(slab)``, or ``function(slab, its first column)`` when positioned.
        positioned : bool, default=False
            Whether the function is told where a slab begins.

        Returns
        -------
        results : list of ndarray
            One per slab, in order.
        """
        results, slabs = [], self.slabs()
        with current_run().next_pass("blocks", slabs) as step:
            for slab in slabs:
                result = step.finished(slab)
                if result is None:
                    result = step.finish(slab, function(self[:, slab], *[slab.start] * positioned))
                results.append(result)
                give_back()
        return results

    def sum(self, function: Callable[..., np.ndarray], positioned: bool = False) -> np.ndarray:
        """Add up a function of the slabs of columns.

        Parameters
        ----------
        function : callable
            ``function(slab)``, or ``function(slab, its first column)`` when positioned.
        positioned : bool, default=False
            Whether the function is told where a slab begins.

        Returns
        -------
        total : ndarray
            In float64.
        """

        def of_slab(slab: slice) -> np.ndarray:
            return np.require(function(self[:, slab], *[slab.start] * positioned), np.float64, "W")

        return self._folded("passes", self.slabs(), of_slab, lambda total, part: np.add(total, part, out=total))

    def fold_rows(self, function: Callable[[Part], Any], merge: Callable[[Any, Any], Any]) -> Any:
        """Apply a function to every slab of rows, and merge the results in order.

        Parameters
        ----------
        function : callable
            ``function(rows)``; a :class:`Run` can store its result if this is a tuple of arrays.
        merge : callable
            ``merge(so far, next)``.

        Returns
        -------
        total : object
            The result of the last merge.
        """
        return self._folded("row blocks", self.row_slabs(), lambda slab: function(self[slab]), merge)

    def _folded(
        self, what: str, slabs: list[slice], part_of: Callable[[slice], Any], merge: Callable[[Any, Any], Any]
    ) -> Any:
        """The parts of all slabs, merged in order; the active run counts them, and continues an interrupted pass."""
        with current_run().next_pass(what, slabs) as step:
            total, done = step.partial_sum()
            for place, slab in enumerate(slabs[done:], done):
                part = part_of(slab)
                total = part if place == 0 else merge(total, part)
                step.add(total)
                del part
                give_back()
        return total

    def fingerprint(self) -> str:
        """A text that changes if the data change, as far as this can be detected without reading them.

        Returns
        -------
        fingerprint : str
            The fingerprint for :class:`Run`.
        """
        return f"{self.label} {self.shape} {self.dtype}"

    def __repr__(self) -> str:
        kind = "sparse" if self.sparse else "dense"
        return f"<{self.label}: {self.shape[0]} x {self.shape[1]} {self.dtype}, {kind}, {len(self.slabs())} slabs>"


class RowView(Source):
    """Some rows of a source."""

    def __init__(self, source: Source, rows: np.ndarray):
        super().__init__((len(rows), source.shape[1]), source.dtype, source.label, None, source.names)
        self.sparse, self._source, self._rows = source.sparse, source, rows

    @property
    def bytes_per_row(self) -> float:
        return self._source.bytes_per_row

    def _checked(self, rows: slice, columns: slice | np.ndarray) -> Part:
        return self._read(rows, columns)  # the source has checked its values, and its errors name the blocks

    def _read(self, rows: slice, columns: slice | np.ndarray) -> Part:
        wanted, source = self._rows[rows], self._source
        width = columns.stop - columns.start if isinstance(columns, slice) else len(columns)
        few = source.bytes_per_row / source.shape[1] * width * source.shape[0] <= slab_bytes()
        order = np.argsort(wanted, kind="stable")
        parts: list[Any] = []  # all of the same type
        slabs = [slice(0, source.shape[0])] if few else source.row_slabs()
        with counting("rows of a sample", len(slabs)) as count:
            for slab in slabs:
                here = wanted[order][slice(*np.searchsorted(wanted[order], (slab.start, slab.stop)))]
                if len(here):
                    part = source[slab, columns]
                    parts.append((part.tocsr() if is_sparse(part) else part)[here - slab.start])
                count()
        back = np.argsort(order, kind="stable")
        return (sp.csr_array(sp.vstack(parts)) if self.sparse else np.concatenate(parts))[back]

    def slabs(self) -> list[slice]:
        return self._source.slabs()  # whole columns are read before rows are chosen

    def fingerprint(self) -> str:
        return f"{self._source.fingerprint()} {len(self._rows)} rows"


class ColumnView(Source):
    """Some columns of a source, in ascending order."""

    def __init__(self, source: Source, columns: np.ndarray, chunks: tuple[int, int] | None = None):
        names = None if source.names is None else [source.names[j] for j in columns]
        super().__init__((source.shape[0], len(columns)), source.dtype, source.label, chunks, names)
        self.sparse, self._source, self._columns = source.sparse, source, columns
        self.opener = None if source.opener is None else partial(_open_view, source.opener, columns)

    @property
    def bytes_per_row(self) -> float:
        return self._source.bytes_per_row / self._source.shape[1] * self.shape[1]

    def _read(self, rows: slice, columns: slice | np.ndarray) -> Part:
        wanted = self._columns[columns]
        gaps = np.flatnonzero(np.diff(wanted) != 1) + 1
        if len(gaps) > 1 or not len(wanted):
            return self._source._read(rows, wanted)
        runs = [slice(int(run[0]), int(run[-1]) + 1) for run in np.split(wanted, gaps)]  # slices are read faster
        parts: list[Any] = [self._source._read(rows, run) for run in runs]  # all of the same type
        return parts[0] if len(parts) == 1 else (sp.hstack if self.sparse else np.hstack)(parts)

    def fingerprint(self) -> str:
        return f"{self._source.fingerprint()} columns {crc32(self._columns.tobytes())}"


def _open_view(opener: Callable[[], Source], columns: np.ndarray) -> Source:
    return opener().take_columns(columns)


def spans(length: int, width: float, chunk: int) -> list[slice]:
    """Slices of about ``width`` from 0 to length, in multiples or parts of ``chunk`` to read few chunks twice."""
    width = int(max(1, min(width, length)))
    if chunk <= 4 * width and chunk < length and width < length:  # a chunk is always decoded as a whole
        width = max(width - width % chunk, chunk)
    elif width < length:
        width = -(-chunk // -(-chunk // width))
    return [slice(start, min(start + width, length)) for start in range(0, length, width)]


def check_finite(
    part: Part, label: str, names: Any = None, columns: Any = None, more: str = "", nan: bool = False
) -> None:
    """Raise an error that names the column of the first value that is not finite; ``columns`` are those in ``part``.

    With ``nan`` only inf is an error.
    """
    values = part.data if is_sparse(part) else part
    if values.dtype.kind != "f":
        return
    with np.errstate(over="ignore", invalid="ignore"):
        # One pass without a temporary array is enough for nearly all data.
        if np.isfinite(np.sum(values, dtype=np.float64)):
            return
    bad = cells_per_column(part, np.isinf if nan and not is_sparse(part) else lambda values: ~np.isfinite(values))
    found = np.flatnonzero(bad)
    if not len(found):  # only the sum overflowed
        return
    at = int(found[0])
    kind = "inf" if cells_per_column(part, np.isinf)[at] == bad[at] else "NaN"
    j = at if columns is None else columns.start + at if isinstance(columns, slice) else int(columns[at])
    others = f" and {len(found) - 1} other column{'s' * (len(found) > 2)}" if len(found) > 1 else ""
    near = " near it" if others and columns is not None else ""
    where = f"in column {column_name(names, j)} ({bad[at]} rows){others}{near}"
    raise ValueError(f"{label} contains {kind} {where}; impute or drop it first{more}.")


def cells_per_column(part: Part, holds: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """The number of stored cells of every column for which something holds."""
    if not is_sparse(part):
        return holds(part).sum(axis=0)
    by_columns: Any = sp.csc_array(part)
    owner = np.repeat(np.arange(part.shape[1]), np.diff(by_columns.indptr))
    return np.bincount(owner[holds(by_columns.data)], minlength=part.shape[1])


def column_name(names: Any, j: int) -> str:
    """The name of a column, or its number if there are no names."""
    return f"{names[j]!r}" if names is not None and isinstance(names[j], str) else str(j)


def unreadable(label: str, rows: slice, columns: Any, shape: tuple[int, int], error: BaseException) -> Exception:
    """The error for a part that cannot be read, with the name of the part."""
    where = f"{label}: {block_name(rows, columns, shape)}"
    if isinstance(error, MemoryError):
        return MemoryError(f"{where} does not fit into memory; use a smaller working_memory.")
    return ValueError(f"{where} cannot be read: {first_line(error) or type(error).__name__}.")


def block_name(rows: slice, columns: Any, shape: tuple[int, int]) -> str:
    """``columns 0 to 99`` or ``rows 0 to 99``."""
    if not isinstance(columns, slice):
        return f"{len(columns)} columns"
    if (rows.start, rows.stop) != (0, shape[0]):
        return f"the block of rows {rows.start} to {rows.stop - 1}"
    return f"the block of columns {columns.start} to {columns.stop - 1}"


def _index(wanted: Any, length: int, what: str) -> slice | np.ndarray:
    """A slice without a step, or an array of numbers from 0, for any selection of rows or columns."""
    if isinstance(wanted, slice):
        span = range(length)[wanted]
        return slice(span.start, span.stop) if span.step == 1 else np.array(span, dtype=np.intp)
    wanted = np.asarray(wanted)
    if wanted.dtype == bool and wanted.shape == (length,):
        return np.flatnonzero(wanted)
    if wanted.ndim != 1 or wanted.dtype.kind not in "iu" or ((wanted < -length) | (wanted >= length)).any():
        raise IndexError(f"{what} are chosen by numbers below {length} or by a mask of length {length}, got {wanted}.")
    return wanted.astype(np.intp) % length
