"""Distances between the rows of an ndarray, from a Gram product of centred rows, in single precision if faster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

import numpy as np

from .compiled import kernels
from .distances import (
    CHUNK,
    EXACT_BELOW,
    EXACT_COSINE,
    SINGLE_PAYS,
    SINGLE_UP_TO,
    HeldRows,
    add_squared_differences,
    budget,
    check_range,
    cosine_squared,
    is_integer,
    rounding_error,
    row_products,
)
from .threads import for_each, one_blas_thread
from .tiles import gram_by_tiles

_NEVER_SHARED = 1e6  # number of multiplications up to which BLAS keeps to one thread by itself
_FEW_COLUMNS, _SOME_ROWS = 64, 2000  # limits of columns and rows for which a k-d tree may be faster
_IN_CACHE = 2**16  # number of values processed at a time
_EVERY = 8  # row of which a mean is taken, where any point among the rows will do,
_FAR = 0.25  # and its share of the rows' squares from which centring spares digits


class DenseDistances(HeldRows):
    """Squared distances between the rows of X: approximate in blocks, with an error bound, and exact for chosen pairs.

    Parameters
    ----------
    X : ndarray of shape (n, m)
    metric : {"euclidean", "cosine"}
        With "cosine" the rows are scaled to unit norm first, so that the squared distance is 2 (1 - cos);
        a row of zeros is at cosine 0 to every row.
    single : bool, optional
        Whether keys are computed in single precision; by default if this is faster.
    """

    _mean: np.ndarray | None = None
    _scale: np.ndarray | None = None
    _kept: list[np.ndarray] | None = None
    _lengths: np.ndarray | None = None  # ‖x_i‖² of whole numbers under the cosine
    _double: DenseDistances | None = None  # the same in double precision, after first use

    def __init__(self, X: np.ndarray, metric: str = "euclidean", single: bool | None = None):
        self.n, self.m = X.shape
        self._X, self._empty, self._metric = X, np.zeros(self.n), metric
        self.single = self.n**2 * self.m >= SINGLE_PAYS if single is None else single
        integer, self._integer = is_integer(X), False
        if metric == "euclidean":
            self._centre(integer)
        else:
            self._to_unit_norm(integer)

    def _centre(self, integer: bool) -> None:
        """Centre the columns to save digits; integers are not centred, because they and their ties are exact."""
        if integer:
            self._measure()
            self._integer = bool(self._norms.max(initial=0.0) < EXACT_BELOW)
        if not self.exact:
            self._mean = self._origin()
            self._measure()

    def _to_unit_norm(self, integer: bool) -> None:
        self._measure()
        if integer and self._norms.max(initial=0.0) <= EXACT_COSINE:
            self._lengths = self._norms
        self._empty = (self._norms == 0).astype(np.float64)
        self._scale = 1.0 / np.sqrt(np.where(self._norms > 0, self._norms, 1.0))
        self._norms = 1.0 - self._empty

    def _origin(self) -> np.ndarray | None:
        """The vector that is subtracted from the rows: the means of the columns.

        In single precision, where distances are recomputed later, means of some rows are enough, and nothing is
        subtracted if the rows are already close to zero mean.
        """
        if not self.single:
            return self._column_means(self._X)
        some = self._X[::_EVERY]
        mean = self._column_means(some)
        with np.errstate(over="ignore", invalid="ignore"):
            squares = float(np.einsum("ij,ij->", some, some, dtype=np.float64))
            return None if len(some) * float(mean @ mean) < _FAR * squares else mean

    def _column_means(self, rows: np.ndarray) -> np.ndarray:
        mean = np.empty(self.m)

        def work(part: slice) -> None:
            with np.errstate(over="ignore", invalid="ignore"):
                mean[part] = rows[:, part].mean(axis=0, dtype=np.float64)

        for_each(work, self._parts(CHUNK), float(rows.size))
        return mean

    def _measure(self) -> None:
        """Compute the norms of the rows; raises an error if they overflow, and avoids overflow in single precision."""
        self._norms = np.zeros(self.n)

        def add(rows: slice) -> None:
            with np.errstate(over="ignore", invalid="ignore"):
                for part in self._parts(CHUNK):
                    values = self._values(rows, part).astype(np.float64, copy=False)
                    self._norms[rows] += np.einsum("ij,ij->i", values, values)

        for_each(add, self._spans(CHUNK), float(self.n) * self.m)
        if not np.isfinite(self._norms).all():
            check_range(self._X, np.arange(self.m))
        if self.single and self._norms.max(initial=0.0) > SINGLE_UP_TO:
            self.single = False
            if self._metric == "euclidean":
                self._mean = None if self.exact else self._origin()
                self._measure()

    @property
    def exact(self) -> bool:
        return self._integer and not self.single

    @property
    def relative_error(self) -> float:
        return 0.0 if self.exact else rounding_error(self.m, self._width, self.single)

    def in_double(self) -> DenseDistances:
        if not self.single:
            return self
        if self._double is None:
            self._double = DenseDistances(self._X, self._metric, single=False)
        return self._double

    def between(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        if self._lengths is not None:
            return cosine_squared(row_products(self._X, i, j), self._lengths[i] * self._lengths[j])
        squared, compiled = np.zeros(len(i)), kernels(float(len(i)) * self.m)
        in_place = self._scale is None and self._X.dtype == np.float64 and self._X.flags.c_contiguous
        for part in self._parts(self.m if in_place else CHUNK):
            piece = self._X[:, part]
            piece = piece if self._scale is None else piece * self._scale[:, None]
            add_squared_differences(piece, i, j, squared, compiled)
        squared += self._empty[i] + self._empty[j]
        return squared

    def refine(self, i: np.ndarray, j: np.ndarray, squared: np.ndarray, doubtful: np.ndarray) -> np.ndarray:
        """As the base class; with few columns all pairs are recomputed, so that the kind of search does not matter."""
        if self.exact or not self.few_columns:
            return super().refine(i, j, squared, doubtful)
        return self.between(i, j)

    @property
    def few_columns(self) -> bool:
        """Whether the neighbours of these rows may be found without all distances."""
        return self.m <= _FEW_COLUMNS and self.n >= _SOME_ROWS and self._scale is None

    def values(self) -> np.ndarray:
        """The original rows in float64."""
        return np.ascontiguousarray(self._X, dtype=np.float64)

    def single_precision(self) -> np.ndarray:
        """The centred, scaled rows in float32."""
        rows = np.empty((self.n, self.m), dtype=np.float32)
        for part in self._parts(CHUNK):
            self._fill(rows[:, part], part)
        return rows

    @property
    def _dtype(self) -> type:
        return np.float32 if self.single else np.float64

    @property
    def _width(self) -> int:
        """Number of columns per product, limited by the error in single precision, otherwise by memory."""
        return CHUNK if self.single else max(1, min(self.m, budget() // (4 * max(self.n, 1))))

    def _parts(self, width: int) -> Iterator[slice]:
        return (slice(start, min(start + width, self.m)) for start in range(0, self.m, width))

    def _spans(self, width: int) -> list[slice]:
        """Spans of rows for which ``width`` columns fit into the cache."""
        step = max(1, _IN_CACHE // max(1, min(width, self.m)))
        return [slice(start, min(start + step, self.n)) for start in range(0, self.n, step)]

    def _values(self, rows: slice, part: slice) -> np.ndarray:
        """Some values, centred and scaled."""
        values = self._X[rows, part]
        if self._mean is not None:
            values = values - self._mean[part]
        return values if self._scale is None else values * self._scale[rows, None]

    def _fill(self, piece: np.ndarray, part: slice) -> np.ndarray:
        """Some columns of all rows, centred and scaled, written into ``piece``."""

        def fill(rows: slice) -> None:
            piece[rows] = self._values(rows, part)

        for_each(fill, self._spans(piece.shape[1]), float(piece.size))
        return piece

    def _piece(self, part: slice, room: np.ndarray | None = None) -> np.ndarray:
        """Some columns of all rows for the product, in the memory of an earlier piece if there is one."""
        shape = self.n, part.stop - part.start
        room = np.empty(shape, dtype=self._dtype) if room is None else room.reshape(-1)[: shape[0] * shape[1]]
        return self._fill(room.reshape(shape), part)

    def _whole_gram(self) -> np.ndarray:
        if self.single:
            return gram_by_tiles(self.n, list(self._parts(self._width)), self._piece)
        # A second BLAS thread slows small products down; the smallest products never get one.
        work = self.n**2 * float(self.m)
        with one_blas_thread(work) if work > _NEVER_SHARED else nullcontext():
            if self.m <= self._width:
                piece = self._piece(slice(0, self.m))
                return piece @ piece.T
            room: np.ndarray = np.empty((self.n, self._width))
            return sum_of_grams((self._piece(part, room) for part in self._parts(self._width)), self.n)

    def _gram(self, rows: slice) -> np.ndarray:
        gram = np.zeros((rows.stop - rows.start, self.n), dtype=self._dtype)
        for piece in self._ready_pieces():
            gram += piece[rows] @ piece.T
        return gram

    def _ready_pieces(self) -> Iterator[np.ndarray]:
        """The pieces of the product, kept from block to block if they fit into the memory budget."""
        if self._kept is not None:
            return iter(self._kept)
        pieces = (self._piece(part) for part in self._parts(self._width))
        if self.n * self.m * np.dtype(self._dtype).itemsize <= 8 * budget():
            self._kept = list(pieces)
            return iter(self._kept)
        return pieces


def sum_of_grams(pieces: Iterator[np.ndarray], n: int) -> np.ndarray:
    """Σ P P' over pieces P of n rows: BLAS adds one triangle in place, which is mirrored once."""
    from scipy.linalg.blas import dsyrk

    total: np.ndarray = np.zeros((n, n), order="F")
    for piece in pieces:
        total = dsyrk(1.0, piece.T, beta=1.0, c=total, trans=1, lower=1, overwrite_c=1)
    return np.triu(total.T) + np.tril(total, -1)
