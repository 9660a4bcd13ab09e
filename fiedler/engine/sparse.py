"""Distances between the rows of a sparse array, which is never filled in as a whole.

All distances come from one Gram product, which has two forms. Products of stored values cost Σ_c s_c² for s_c stored
values in column c. Products of filled blocks of columns, on BLAS and in single precision, cost n² m operations, each of
which is much cheaper. The cheaper form is used. If this is the second one, columns with very few stored values still
take the first one. Both have a known error bound, so both find the same neighbours.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..data.arrays import as_csr
from .compiled import kernels
from .distances import (
    CHUNK,
    EXACT_BELOW,
    EXACT_COSINE,
    SINGLE_KEYS,
    SINGLE_PAYS,
    SINGLE_UP_TO,
    HeldRows,
    budget,
    check_range,
    cosine_squared,
    is_integer,
    rounding_error,
    row_products,
    sparse_squared_differences,
)
from .threads import for_each, n_threads
from .tiles import gram_by_tiles

_EXACT_SINGLE = 2.0**22  # largest squared norms of integers for which single precision is exact
_MANY_PRODUCTS = 1e8  # number of products of stored values from which some columns may be filled in,
_CHEAPER = 0.8  # if this saves a fifth of them
_STORED_COST = 90.0  # time of a product of stored values, relative to one of a filled block in single precision
_SCIPY_COST = 8.0  # the same for scipy, relative to compiled code


class SparseDistances(HeldRows):
    """Squared distances between the rows of a csc array, which stays sparse.

    Parameters
    ----------
    X : csc_array of shape (n, m)
    metric : {"euclidean", "cosine"}
        As for dense rows.
    filled : bool, optional
        Whether the product is in single precision, with filled blocks of the columns for which this is faster; by
        default if this is faster than products of the stored values of all columns.
    single : bool, optional
        False computes the keys in double precision; by default they are in single precision if blocks are filled, or
        if this is what lets all keys stay in memory.
    """

    _lengths: np.ndarray | None = None  # ‖x_i‖² of whole numbers under the cosine,
    _counts: sp.csr_array  # and the rows themselves
    _double: SparseDistances | None = None  # the same in double precision, after first use

    def __init__(
        self, X: sp.csc_array, metric: str = "euclidean", filled: bool | None = None, single: bool | None = None
    ):
        self.n, self.m = X.shape
        self._rows, self._empty = as_csr(X), np.zeros(self.n)
        norms = np.asarray(self._rows.multiply(self._rows).sum(axis=1)).ravel()
        if not np.isfinite(norms).all():
            check_range(X, np.arange(self.m))
        integer = is_integer(self._rows)
        self._integer = integer and metric == "euclidean" and bool(norms.max(initial=0.0) < EXACT_BELOW)
        if metric == "cosine":
            if integer and norms.max(initial=0.0) <= EXACT_COSINE:
                self._lengths, self._counts = norms, self._rows
            self._empty = (norms == 0).astype(np.float64)
            scale = 1.0 / np.sqrt(np.where(norms > 0, norms, 1.0))
            norms = 1.0 - self._empty
            self._rows = sp.csr_array(self._rows.multiply(scale[:, None]))
        same = metric == "euclidean" and X.dtype == np.float64 and X.has_canonical_format
        self._columns = X if same else sp.csc_array(self._rows)
        self._norms, self._given = norms, (X, metric)
        self._filled = self._filling_pays() if filled is None else filled
        between_limits = budget() < self.n**2 <= SINGLE_KEYS * budget()
        self.single = (self._filled or between_limits) if single is None else single
        self.single &= bool(norms.max(initial=0.0) <= SINGLE_UP_TO)
        self._filled &= self.single

    def _filling_pays(self) -> bool:
        """Whether filled blocks are faster for all columns or, if all keys fit into memory, for enough of them."""
        squares = float(self.n) ** 2
        if squares * self.m < SINGLE_PAYS:
            return False
        if not stored_products_pay(self._columns):
            return True
        products = np.diff(self._columns.indptr).astype(np.float64) ** 2
        cheaper = np.minimum(products * _STORED_COST, squares).sum() < _CHEAPER * _STORED_COST * products.sum()
        return bool(squares <= SINGLE_KEYS * budget() and products.sum() >= _MANY_PRODUCTS and cheaper)

    @property
    def exact(self) -> bool:
        # Sums of small integers have no rounding error in single precision either.
        return self._integer and (not self.single or bool(self._norms.max(initial=0.0) < _EXACT_SINGLE))

    @property
    def relative_error(self) -> float:
        most = int(np.diff(self._rows.indptr).max(initial=0))  # zeros add no rounding error
        return 0.0 if self.exact else rounding_error(most, CHUNK if self._filled else None, self.single)

    def in_double(self) -> SparseDistances:
        if not self.single:
            return self
        if self._double is None:
            self._double = SparseDistances(*self._given, filled=False, single=False)
        return self._double

    def between(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        if self._lengths is not None:
            return cosine_squared(row_products(self._counts, i, j), self._lengths[i] * self._lengths[j])
        return sparse_squared_differences(self._rows, i, j) + self._empty[i] + self._empty[j]

    @property
    def rows(self) -> sp.csr_array:
        """The rows that are compared, of unit norm under the cosine."""
        return self._rows

    @property
    def norms(self) -> np.ndarray:
        """‖x_j‖² for products with other rows; 1 for a row of zeros under the cosine, which is far from all."""
        return self._norms + self._empty

    @property
    def cost(self) -> float:
        """Cost of the distances between all rows, in products of stored values."""
        return float(self.n) ** 2 * self.m / _STORED_COST if self._filled else self._products

    @cached_property
    def _products(self) -> float:
        """Number of products of stored values for the distances between all rows."""
        return n_products(self._columns)

    @property
    def worth_sharing(self) -> bool:
        """Whether a product of all pairs of rows is made, which folds of columns can share."""
        return self.single or self._products >= float(self.n) ** 2

    def _compiled(self) -> Any:
        return kernels(4.0 * self._products)

    def _gram(self, rows: slice) -> np.ndarray:
        if self._filled:
            gram: np.ndarray = np.zeros((rows.stop - rows.start, self.n), dtype=np.float32)
            room = np.empty(self.n * CHUNK, dtype=np.float32)
            for part in _parts(self._columns):
                piece = filled_block(self._columns, part, room)
                gram += piece[rows] @ piece.T
            return gram
        X, twin, compiled = self._rows, self._columns, self._compiled()
        if compiled is None:
            return (X[rows] @ X.T).toarray()
        wanted, first = np.arange(rows.start, rows.stop), twin.indptr[X.indices]
        gram = np.empty((len(wanted), self.n))
        arrays = (X.indptr, X.indices, X.data, first, twin.indptr, twin.indices, twin.data)
        compiled.sparse_gram(wanted, wanted - rows.start, *arrays, gram)
        return gram

    def within_reach(self, rows: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """As the base class, if most rows share no column; then not all rows are visited."""
        few = self._keys is None and not self.single and self._products < float(self.n) ** 2
        compiled = self._compiled() if few else None
        if compiled is None:
            return None
        X, twin, (a, b) = self._rows, self._columns, self.uncertainty(rows)
        half, by_upper, by_lower = self._without_products
        found, count = np.empty((len(rows), 4 * k + 32), dtype=np.intp), np.empty(len(rows), dtype=np.intp)
        keys = np.empty(found.shape)
        arrays = (X.indptr, X.indices, X.data, twin.indptr, twin.indices, twin.data)
        compiled.sparse_within_reach(rows, *arrays, half, a, b, by_upper, by_lower, k, self.exact, found, keys, count)
        if count.max(initial=0) > found.shape[1]:  # very many rows at the same distance
            return None
        local, place = np.nonzero(np.arange(found.shape[1]) < count[:, None])
        return local, found[local, place], keys[local, place]

    @cached_property
    def _without_products(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The keys of rows that share no column, and all rows sorted by their upper and by their lower bounds."""
        half, b = (self._norms + self._empty) / 2.0, self.uncertainty(np.arange(0))[1]
        return half, np.argsort(half + b, kind="stable"), np.argsort(half - b, kind="stable")

    def _whole_gram(self) -> np.ndarray:
        if self._filled:
            return single_gram(self._columns)
        # Small integers are exact in single precision, which needs half of the memory traffic.
        small = self.single or (self._integer and self._norms.max(initial=0.0) < _EXACT_SINGLE)
        return sparse_gram(self._rows, self._columns, np.float32 if small else np.float64)


def _parts(X: sp.csc_array) -> list[slice]:
    return [slice(start, min(start + CHUNK, X.shape[1])) for start in range(0, X.shape[1], CHUNK)]


def filled_block(X: sp.csc_array, columns: slice, room: np.ndarray | None = None) -> np.ndarray:
    """Some columns of a csc array, filled in, in the memory and the precision of ``room``."""
    shape = X.shape[0], columns.stop - columns.start
    room = np.empty(shape) if room is None else room[: shape[0] * shape[1]].reshape(shape)
    some = column_view(X, columns)
    some.data = some.data.astype(room.dtype, copy=False)
    room[:] = 0.0
    return some.toarray(out=room)


def column_view(X: sp.csc_array, columns: slice) -> sp.csc_array:
    """Some columns of a csc array; the stored values are not copied."""
    first, last = X.indptr[columns.start], X.indptr[columns.stop]
    indptr = X.indptr[columns.start : columns.stop + 1] - first
    shape = X.shape[0], columns.stop - columns.start
    return sp.csc_array((X.data[first:last], X.indices[first:last], indptr), shape=shape)


def stored_products_pay(X: sp.csc_array) -> bool:
    """Whether products of stored values give X X' faster than filled blocks do."""
    n, m = X.shape
    products = n_products(X)
    stored = products * _STORED_COST * (1.0 if kernels(4.0 * products) is not None else _SCIPY_COST)
    return stored <= float(n) ** 2 * m


def n_products(X: sp.csc_array) -> float:
    """Number of products of stored values in X X'."""
    stored = np.diff(X.indptr).astype(np.float64)
    return float(stored @ stored)


def single_gram(X: sp.csc_array) -> np.ndarray:
    """X X' in single precision, each column in the form that is cheaper for it."""
    n, products = X.shape[0], np.diff(X.indptr).astype(np.float64) ** 2
    few = products * _STORED_COST <= float(n) ** 2
    if kernels(4.0 * products[few].sum()) is None:
        few = products * _STORED_COST * _SCIPY_COST <= float(n) ** 2
    if not few.any():
        return gram_by_tiles(n, _parts(X), partial(filled_block, X))
    stored, filled = X[:, few], X[:, ~few]
    if few.all():
        return sparse_gram(as_csr(stored), stored, np.float32)
    upper = _upper_gram(as_csr(stored), stored, np.float32)
    return gram_by_tiles(n, _parts(filled), partial(filled_block, filled), upper)


def sparse_gram(rows: sp.csr_array, columns: sp.csc_array, dtype: Any = np.float64) -> np.ndarray:
    """X X' of an X stored by rows and, sorted, by columns: one triangle of it, mirrored."""
    gram, compiled, threads = _upper_gram(rows, columns, dtype), kernels(4.0 * n_products(columns)), n_threads()
    if compiled is not None:
        for_each(lambda t: compiled.mirror(gram, t, threads), range(threads), np.inf)
    return gram


def _upper_gram(rows: sp.csr_array, columns: sp.csc_array, dtype: Any) -> np.ndarray:
    """The upper triangle of X X'; without the compiler all of it."""
    compiled, n = kernels(4.0 * n_products(columns)), rows.shape[0]
    if compiled is None:
        return (rows @ rows.T).toarray().astype(dtype, copy=False)
    # Position of each entry of X in its column; the rows from there on are not yet processed.
    first = np.empty(rows.nnz, dtype=columns.indptr.dtype)
    order = sp.csr_array((np.arange(rows.nnz), rows.indices, rows.indptr), shape=rows.shape)
    first[order.tocsc().data] = np.arange(rows.nnz)
    gram, threads = np.empty((n, n), dtype=dtype), n_threads()
    arrays = (rows.indptr, rows.indices, rows.data, first, columns.indptr, columns.indices, columns.data)
    # Early rows need more work, so rows are distributed evenly.
    shares = [np.arange(t, n, threads) for t in range(threads)]
    for_each(lambda some: compiled.sparse_gram(some, some, *arrays, gram), shares, np.inf)
    return gram
