"""Squared distances between rows: approximate for all pairs with a known error bound, and exact for chosen pairs.

One Gram product gives all distances, ‖x_i - x_j‖² = ‖x_i‖² + ‖x_j‖² - 2 x_i'x_j, in single precision if this is faster.
Its entries become keys, ‖x_j‖² / 2 - x_i'x_j, which order the rows j by their distance from row i. Exact distances of
chosen pairs come from differences of values in double precision.

Each storage of X, dense, sparse or a source that is read in slabs, defines a few members: which values it has, its
norms, its products and its differences. Metric, precision, error bound and exactness are decided once, here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import nullcontext
from copy import copy
from functools import cached_property, partial, reduce
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..data.arrays import Matrix, as_csr, dense
from ..data.source import Part, Source
from ..validation import is_sparse
from . import products
from .compiled import kernels
from .products import CHUNK, STORED_COST, budget, centred_pieces, is_integer, row_products, squares_by_group
from .threads import batches, for_each, n_threads, one_blas_thread

_TIED = 2.0**-38  # slightly more than the relative difference of distances that count as equal
EXACT_COSINE = 2.0**26  # largest squared norms of integers for which cosines have no rounding error
_EXACT_BELOW, _EXACT_SINGLE = 2.0**50, 2.0**22  # the same for distances, in double and in single precision
_SINGLE_UP_TO = 1e30  # largest squared norms for single precision
SINGLE_PAYS = 1e9  # with more multiplications, single precision with recomputed candidates is faster
_SINGLE_KEYS = 4  # times the budget: keys in single precision, of half the size, that stay in memory
_PER_KEY = 4.0  # scalar operations to decide whether a key is among the smallest
# Below this share of ‖x_i‖² + ‖x_j‖² a squared distance from the double precision product has under ten good digits.
_ILL_CONDITIONED = 1e-5
_NEVER_SHARED = 1e6  # number of multiplications up to which BLAS keeps to one thread by itself
_FEW_COLUMNS, _SOME_ROWS = 64, 2000  # limits of columns and rows for which a k-d tree may be faster
_IN_CACHE = 2**16  # number of values processed at a time
_EVERY = 8  # row of which a mean is taken, where any point among the rows will do,
_FAR = 0.25  # and its share of the rows' squares from which centring spares digits
_MANY_PRODUCTS = 1e8  # number of products of stored values from which some columns may be filled in,
_CHEAPER = 0.8  # if this saves a fifth of them
SKETCH = 256  # number of columns of the random projection in which candidates are searched


def row_distances(X: Matrix, metric: str = "euclidean") -> Distances:
    """The distances between the rows of an array, or of a source that is read block by block."""
    kind: Any = SourceDistances if isinstance(X, Source) else SparseDistances if is_sparse(X) else DenseDistances
    return kind(X, metric)


class Distances(ABC):
    """Squared distances between n rows of m columns; under the cosine 2 (1 - cos), and a row of zeros has cosine 0."""

    single = False  # whether the keys are in single precision,
    _filled: Any = False  # and, for sparse rows, whether they come from filled blocks
    few_columns = False  # whether a k-d tree may be faster than a product
    exact = False  # whether the keys have no rounding error
    _integer = False  # whether all values are integers, so small that their products have no rounding error
    _exact_single = 0.0  # largest squared norms of integers for which single precision is exact
    _scale: np.ndarray | None = None  # factors that give the rows unit norm, under the cosine
    _lengths: np.ndarray | None = None  # ‖x_i‖² of integers under the cosine, where products of them are exact
    _keys: np.ndarray | None = None  # all of them, if they can be held
    _budgets = 1  # memory budgets that the keys may take
    _double: Distances | None = None  # the same in double precision, after first use

    def __init__(self, X: Any, metric: str = "euclidean", single: bool | None = None):
        self.n, self.m = X.shape
        self._X, self._metric = X, metric
        # Number of scalar operations on all keys that threads can share; 0 if blocks must be read one by one.
        self.shared_work = _PER_KEY * float(self.n) ** 2
        self._read(single)
        # ‖x_j‖² for products with other rows: as given under the cosine and for small integers, else centred, where the
        # storage allows it.
        integer = metric == "euclidean" and self._is_integer()
        if integer or metric == "cosine":
            self.norms = self._measure()
            self._integer = integer and bool(self.norms.max(initial=0.0) < _EXACT_BELOW)
        if metric == "euclidean" and (self.single or not self._integer):
            self._centre()
            self.norms = self._measure()
        if not np.isfinite(self.norms).all():
            products.check_range(self._X, np.arange(self.m))
        if self.single and metric == "euclidean" and self.norms.max(initial=0.0) > _SINGLE_UP_TO:
            self.single = self._filled = False
            self._centre()
            self.norms = self._measure()
        self._norms = self.norms  # ‖x_i‖² of the centred or scaled rows, 0 for a row of zeros under the cosine
        if metric == "cosine":
            if self.norms.max(initial=0.0) <= EXACT_COSINE and self._is_integer():
                self._lengths = self.norms
            self._empty = (self.norms == 0).astype(np.float64)
            self._to_unit_norm(1.0 / np.sqrt(np.where(self.norms > 0, self.norms, 1.0)))
            self._norms, self.norms = 1.0 - self._empty, np.ones(self.n)
        self.exact = self._integer and (not self.single or bool(self.norms.max(initial=0.0) < self._exact_single))
        # Whether the keys of all pairs fit into memory.
        self.holds_keys = self.n**2 <= budget() * self._budgets * (_SINGLE_KEYS if self.single else 1)
        # The error of the key (i, j) is at most bound_i + bound_j.
        error = 0.0 if self.exact else rounding_error(self._terms, self._width, self.single) / 2.0
        self.bound = error * self._norms

    # ---------------------------------------------------------------- what a storage defines

    @abstractmethod
    def _read(self, single: bool | None) -> None:
        """Prepare the rows and decide on the precision of the keys."""

    def _is_integer(self) -> bool:
        """Whether all values are integers."""
        return is_integer(self._X)

    @abstractmethod
    def _measure(self) -> np.ndarray:
        """‖x_i‖² of the rows."""

    def _centre(self) -> None:  # noqa: B027 - sparse rows are not centred
        """Centre the rows for the products, where this spares digits."""

    def _to_unit_norm(self, scale: np.ndarray) -> None:
        """Multiply the rows by numbers."""
        self._scale = scale

    @abstractmethod
    def _gram(self, rows: slice | np.ndarray | None) -> np.ndarray:
        """x_i'x_j of some or all rows i and all j."""

    @abstractmethod
    def _differences(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """‖x_i - x_j‖² of pairs, from differences of values."""

    @abstractmethod
    def _products_of_pairs(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """x_i'x_j of pairs of rows as they are given."""

    _width: Any = None  # number of columns whose products are summed at once, if it is limited

    @property
    def _terms(self) -> int:
        """Number of products in a key that may have a rounding error."""
        return self.m

    # ---------------------------------------------------------------- keys of all pairs

    @property
    def held(self) -> bool:
        """Whether the keys of all pairs are in memory."""
        return self._keys is not None

    def row_blocks(self) -> list[np.ndarray]:
        """Blocks of rows whose distances to all rows fit into the memory budget; at least one per thread."""
        if self._keys is None and self.holds_keys:  # they stay in memory; one triangle of the product is enough
            self._keys = self.block(np.arange(self.n), self._gram(None))
        threads = n_threads(self.shared_work)
        rows = max(1, min(budget() // max(self.n, 1) // threads, -(-self.n // threads)))
        return [np.arange(part.start, part.stop) for part in batches(self.n, rows)]

    def block(self, rows: np.ndarray, gram: np.ndarray | None = None) -> np.ndarray:
        """The keys of some rows i and all j, half the squared distance minus ‖x_i‖² / 2; inf from a row to itself.

        They replace the products ``gram`` of these rows, if these are known.
        """
        if gram is None:
            follow = len(rows) and rows[-1] - rows[0] == len(rows) - 1
            part = slice(int(rows[0]), int(rows[-1]) + 1) if follow else rows
            if self._keys is not None:
                return self._keys[part]
            gram = self._gram(part)
        np.subtract((self.norms / 2.0).astype(gram.dtype), gram, out=gram)
        gram[np.arange(len(rows)), rows] = np.inf
        return gram

    def take_products(self, gram: np.ndarray) -> None:
        """Take the keys from known products of all rows, centred in any way, instead of computing them.

        They replace keys in single precision only: keys in double precision may be exact. Products of rows that are
        centred in another way give keys that differ by a constant of row i.
        """
        if self._keys is None and self.single:
            squares = gram.diagonal()
            self._keys = (squares / 2.0 - gram + (squares - self._norms)[:, None] / 2.0).astype(np.float32)
            np.fill_diagonal(self._keys, np.inf)

    def from_key(self, i: np.ndarray, key: np.ndarray) -> np.ndarray:
        """Squared distances from the entries of a block."""
        return np.maximum(2.0 * key.astype(np.float64) + self.norms[i], 0.0)

    def in_double(self) -> Distances:
        """The same distances with keys in double precision, for rows that single precision cannot tell apart."""
        if self.single and self._double is None:
            self._double = type(self)(self._X, self._metric, single=False)
        return self._double if self.single else self  # type: ignore[return-value]

    # ---------------------------------------------------------------- exact distances

    def between(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Squared distances of the pairs (i, j), from differences of values in double precision."""
        if not len(i):
            return np.zeros(0)  # not worth a pass over a source
        if self._lengths is not None:
            return _cosine_squared(self._products_of_pairs(i, j), self._lengths[i] * self._lengths[j])
        squared = self._differences(i, j)
        return squared if self._metric == "euclidean" else squared + self._empty[i] + self._empty[j]

    def refine(self, i: np.ndarray, j: np.ndarray, squared: np.ndarray, doubtful: np.ndarray) -> np.ndarray:
        """Distances from a block in full precision; doubtful and inaccurate ones are computed again."""
        if self.exact:
            return squared
        if self.single or self.few_columns:
            return self.between(i, j)
        again = np.flatnonzero(doubtful | (squared < _ILL_CONDITIONED * (self._norms[i] + self._norms[j])))
        squared[again] = self.between(i[again], j[again])
        return squared

    def matrix(self) -> np.ndarray:
        """All n x n squared distances with full precision, exactly symmetric, diagonal 0."""
        if self.single:
            return self.in_double().matrix()
        squared = np.empty((self.n, self.n))
        for rows in self.row_blocks():
            block = self.from_key(rows[:, None], self.block(rows))
            doubtful = block < _ILL_CONDITIONED * (self._norms[rows, None] + self._norms)
            local, j = np.nonzero(doubtful & (np.arange(self.n) > rows[:, None]))
            if not self.exact:
                block[local, j] = self.between(rows[local], j)
            squared[rows] = block
        self._keys = None  # the keys are no longer needed
        for i in range(self.n):
            squared[i, i] = 0.0
            squared[i + 1 :, i] = squared[i, i + 1 :]
        return squared


def rounding_error(terms: int, width: int | None = None, single: bool = False) -> float:
    """Bound on the error of ‖x_i - x_j‖² from a product of ``terms`` terms, relative to ‖x_i‖² + ‖x_j‖².

    Products of ``width`` columns are summed one after the other, which reduces the error. The bound always includes the
    tolerance for ties, so that all tied candidates are found.
    """
    if width is not None:
        terms = min(terms, width) + terms // width
    return max((terms + 8) * (2.0**-24 if single else 2.0**-53), _TIED)


def _cosine_squared(dot: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """2 (1 - cos) from x_i'x_j and ‖x_i‖²‖x_j‖², 2 to a row of zeros; integers are exact until the last step.

    Equal cosines of integer rows therefore give equal results.
    """
    empty = lengths == 0
    lengths = np.where(empty, 1.0, lengths)
    cosine = np.sign(dot) * np.sqrt(dot * dot / lengths)
    near = (lengths - dot * dot) / lengths / np.where(dot > 0, 1.0 + cosine, 1.0)
    return 2.0 * np.where(empty, 1.0, np.where(dot > 0, near, 1.0 - cosine))


# -------------------------------------------------------------------- rows of an ndarray


class DenseDistances(Distances):
    """Distances between the rows of an ndarray."""

    _mean: np.ndarray | None = None

    def _read(self, single: bool | None) -> None:
        self.single = self.n**2 * self.m >= SINGLE_PAYS if single is None else single
        self.few_columns = self.m <= _FEW_COLUMNS and self.n >= _SOME_ROWS and self._metric == "euclidean"

    def _measure(self) -> np.ndarray:
        norms = np.zeros(self.n)
        with np.errstate(over="ignore", invalid="ignore"):
            for rows in batches(self.n, max(1, _IN_CACHE // min(CHUNK, self.m))):  # they fit into the cache
                for part in batches(self.m, CHUNK):
                    values = self._values(rows, part).astype(np.float64, copy=False)
                    norms[rows] += np.einsum("ij,ij->i", values, values)
        return norms

    def _centre(self) -> None:
        some = self._X[:: _EVERY if self.single else 1]
        with np.errstate(over="ignore", invalid="ignore"):
            self._mean = some.mean(axis=0, dtype=np.float64)
            if self.single:  # the products need a point among the rows only if the rows are far from 0
                squares = float(np.einsum("ij,ij->", some, some, dtype=np.float64))
                if len(some) * float(self._mean @ self._mean) < _FAR * squares:
                    self._mean = None

    def _values(self, rows: slice, part: slice) -> np.ndarray:
        values = self._X[rows, part]
        if self._mean is not None:
            values = values - self._mean[part]
        return values if self._scale is None else values * self._scale[rows, None]

    @property
    def _width(self) -> int:
        return CHUNK if self.single else max(1, min(self.m, budget() // (4 * max(self.n, 1))))

    def _piece(self, part: slice, room: np.ndarray | None = None) -> np.ndarray:
        """Some columns of the centred and scaled rows, in the memory of ``room``."""
        shape = self.n, part.stop - part.start
        if room is None:
            room = np.empty(self.n * shape[1], dtype=np.float32 if self.single else np.float64)
        piece = room.reshape(-1)[: shape[0] * shape[1]].reshape(shape)

        def fill(rows: slice) -> None:
            piece[rows] = self._values(rows, part)

        for_each(fill, batches(self.n, max(1, _IN_CACHE // shape[1])), float(piece.size))
        return piece

    def single_precision(self) -> np.ndarray:
        """The centred and scaled rows in float32."""
        return self._piece(slice(0, self.m), np.empty(self.n * self.m, dtype=np.float32))

    def _gram(self, rows: slice | np.ndarray | None) -> np.ndarray:
        parts = batches(self.m, self._width)
        if rows is None and self.single:
            return products.gram_by_tiles(self.n, parts, self._piece)
        if rows is None:
            # A second BLAS thread slows small products down; the smallest products never get one.
            work = self.n**2 * float(self.m)
            with one_blas_thread(work) if work > _NEVER_SHARED else nullcontext():
                if len(parts) == 1:
                    piece = self._piece(parts[0])
                    return piece @ piece.T
                room: np.ndarray = np.empty((self.n, self._width))
                return products.sum_of_grams((self._piece(part, room) for part in parts), self.n)
        grams = (piece[rows] @ piece.T for piece in map(self._piece, parts))
        return reduce(lambda total, gram: np.add(total, gram, out=total), grams)

    def _differences(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        squared, compiled = np.zeros(len(i)), kernels(float(len(i)) * self.m)
        in_place = self._scale is None and self._X.dtype == np.float64 and self._X.flags.c_contiguous
        for part in batches(self.m, max(1, self.m) if in_place else CHUNK):
            piece = self._X[:, part]
            piece = piece if self._scale is None else piece * self._scale[:, None]
            products.add_squared_differences(piece, i, j, squared, compiled)
        return squared

    def _products_of_pairs(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        return row_products(self._X, i, j)


# -------------------------------------------------------------------- rows of a csc array


class SparseDistances(Distances):
    """Distances between the rows of a csc array, which is never filled in as a whole and never centred."""

    _exact_single = _EXACT_SINGLE  # sums of small integers have no rounding error in single precision either
    _between: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None  # distances as sums over folds of columns

    def __init__(
        self, X: sp.csc_array, metric: str = "euclidean", filled: bool | None = None, single: bool | None = None
    ):
        self._filled: Any = filled
        super().__init__(X, metric, single)

    def _read(self, single: bool | None) -> None:
        self._rows = self._as_given = as_csr(self._X)
        same = self._X.dtype == np.float64 and self._X.has_canonical_format
        self._columns = self._X if same else sp.csc_array(self._rows)
        if self._filled is None:
            self._filled = single is not False and self._filling_pays()
        between_limits = budget() < self.n**2 <= _SINGLE_KEYS * budget()
        self.single = (self._filled or between_limits) if single is None else single
        self._filled = self._filled and self.single

    def _filling_pays(self) -> bool:
        """Whether products of filled blocks are faster, for all or for most columns."""
        squares = float(self.n) ** 2
        if squares * self.m < SINGLE_PAYS:
            return False
        if not products.stored_products_pay(self._columns):
            return True
        stored = np.diff(self._columns.indptr).astype(np.float64) ** 2
        cheaper = np.minimum(stored * STORED_COST, squares).sum() < _CHEAPER * STORED_COST * stored.sum()
        return bool(squares <= _SINGLE_KEYS * budget() and stored.sum() >= _MANY_PRODUCTS and cheaper)

    def _measure(self) -> np.ndarray:
        return np.asarray(self._rows.multiply(self._rows).sum(axis=1)).ravel()

    def _to_unit_norm(self, scale: np.ndarray) -> None:
        self._rows = sp.csr_array(self._rows.multiply(scale[:, None]))
        self._columns = sp.csc_array(self._rows)

    @property
    def _terms(self) -> int:
        return int(np.diff(self._rows.indptr).max(initial=0))  # zeros add no rounding error

    @property
    def _width(self) -> int | None:
        return CHUNK if self._filled else None

    @property
    def rows(self) -> sp.csr_array:
        """The rows, of unit norm under the cosine."""
        return self._rows

    @property
    def cost(self) -> float:
        """Cost of all products, in products of stored values."""
        return float(self.n) ** 2 * self.m / STORED_COST if self._filled else self.n_products

    @cached_property
    def n_products(self) -> float:
        """Number of products of stored values for all pairs of rows."""
        return products.n_products(self._columns)

    def _gram(self, rows: slice | np.ndarray | None) -> np.ndarray:
        if rows is None and self._filled:
            return products.single_gram(self._columns)
        if rows is None:
            # Small integers are exact in single precision, which needs half of the memory traffic.
            small = self.single or (self._integer and self._norms.max(initial=0.0) < _EXACT_SINGLE)
            return products.sparse_gram(self._rows, self._columns, np.float32 if small else np.float64)
        wanted = np.arange(self.n)[rows]
        if self._filled:
            gram: np.ndarray = np.zeros((len(wanted), self.n), dtype=np.float32)
            room = np.empty(self.n * CHUNK, dtype=np.float32)
            for part in batches(self.m, CHUNK):
                piece = products.filled_block(self._columns, part, room)
                gram += piece[rows] @ piece.T
            return gram
        X, twin, compiled = self._rows, self._columns, kernels(4.0 * self.n_products)
        if compiled is None:
            return (X[rows] @ X.T).toarray()
        first, gram = twin.indptr[X.indices], np.empty((len(wanted), self.n))
        arrays = (X.indptr, X.indices, X.data, first, twin.indptr, twin.indices, twin.data)
        compiled.sparse_gram(wanted, np.arange(len(wanted)), *arrays, gram)
        return gram

    def _differences(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        return squares_by_group(self._rows, i, j)[:, 0] if self._between is None else self._between(i, j)

    def _products_of_pairs(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        return row_products(self._as_given, i, j)


# -------------------------------------------------------------------- rows of a source


class SourceDistances(Distances):
    """Distances between the rows of a source: every quantity is a sum over slabs of columns.

    A slab has all rows, so it can be centred separately. Double precision is used, because reading takes longer than
    multiplying. Each block of keys is one pass, so blocks are read one after the other.
    """

    _centred = False
    _budgets = 2  # the sum and one part must fit into memory next to a slab
    _whole: np.ndarray | None = None  # the Gram matrix, if it fits into memory

    def _read(self, single: bool | None) -> None:
        self.shared_work = 0.0
        self._whole_fits = self.n**2 <= self._budgets * budget()

    def _is_integer(self) -> bool:
        X = self._X
        if X.dtype.kind in "iub":
            return True
        # The first slab nearly always decides.
        return is_integer(X[:, X.slabs()[0]]) and not X.sum(lambda slab: np.array([float(not is_integer(slab))])).any()

    def _measure(self) -> np.ndarray:
        if not self._whole_fits:
            return self._X.sum(partial(_norms, centred=self._centred))
        self._whole = self._X.sum(partial(_gram, rows=slice(0, self.n), centred=self._centred))
        return self._whole.diagonal().copy()

    def _centre(self) -> None:
        self._centred = not self._X.sparse

    @property
    def n_passes(self) -> int:
        """Number of passes over the source for all distances."""
        return 0 if self._whole_fits else len(self.row_blocks())

    def _gram(self, rows: slice | np.ndarray | None) -> np.ndarray:
        part = slice(None) if rows is None else rows
        if self._whole is not None:
            gram, self._whole = (self._whole, None) if rows is None else (self._whole[part].copy(), self._whole)
        else:
            gram = self._X.sum(partial(_gram, rows=part, centred=self._centred))
        if self._scale is not None:
            gram *= self._scale[part, None] * self._scale
        return gram

    def _differences(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        return self._X.sum(partial(_between, i=i, j=j, scale=self._scale))

    def _products_of_pairs(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        return self._X.sum(lambda slab: row_products(as_csr(slab) if is_sparse(slab) else slab, i, j))

    def by_products(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Squared distances of the pairs (i, j), from products, which is much faster for sparse rows; less accurate."""
        along = self._products_of_pairs(i, j) * (self.scale[i] * self.scale[j])
        return self.norms[i] + self.norms[j] - 2.0 * along

    @property
    def source(self) -> Source:
        """The rows as they are stored."""
        return self._X

    @property
    def scale(self) -> np.ndarray:
        """Numbers by which the rows are multiplied before they are compared."""
        return np.ones(self.n) if self._scale is None else self._scale

    def sketch(self) -> np.ndarray:
        """The centred and scaled rows in float32; long rows are reduced by a random projection."""
        if self.m <= SKETCH:
            single = lambda slab: np.hstack(list(centred_pieces(dense(slab), self._centred)), dtype=np.float32)  # noqa: E731
            rows = np.hstack(self._X.map(single))
        else:
            rows = self._X.sum(partial(_project, centred=self._centred), positioned=True).astype(np.float32)
        return rows if self._scale is None else rows * self._scale[:, None].astype(np.float32)


def _gram(slab: Part, rows: slice | np.ndarray, centred: bool) -> np.ndarray:
    if is_sparse(slab):
        X = as_csr(slab)
        return (X[rows] @ X.T).toarray()
    grams = (piece[rows] @ piece.T for piece in centred_pieces(slab, centred))
    return reduce(lambda total, gram: np.add(total, gram, out=total), grams)


def _norms(slab: Part, centred: bool) -> np.ndarray:
    if is_sparse(slab):
        X = as_csr(slab)
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    norms = np.zeros(slab.shape[0])
    for piece in centred_pieces(slab, centred):
        norms += np.einsum("ij,ij->i", piece, piece)
    return norms


def _between(slab: Part, i: np.ndarray, j: np.ndarray, scale: np.ndarray | None) -> np.ndarray:
    if is_sparse(slab):
        return squares_by_group(as_csr(slab) if scale is None else products.scaled_rows(slab, scale), i, j)[:, 0]
    squared, compiled = np.zeros(len(i)), kernels(float(len(i)) * slab.shape[1])
    for piece in centred_pieces(slab, centred=False):
        products.add_squared_differences(piece if scale is None else piece * scale[:, None], i, j, squared, compiled)
    return squared


def _project(slab: Part, start: int, centred: bool) -> np.ndarray:
    """A slab times its rows of a random matrix, which depend only on the position of the slab."""
    total = np.zeros((slab.shape[0], SKETCH))
    pieces = [as_csr(slab)] if is_sparse(slab) else centred_pieces(slab, centred)
    for piece in pieces:
        directions = [np.random.default_rng([0, start + j]).standard_normal(SKETCH) for j in range(piece.shape[1])]
        total += piece @ (np.array(directions) / np.sqrt(SKETCH))
        start += piece.shape[1]
    return total


# -------------------------------------------------------------------- without folds of columns


def without_folds(every: Distances, folds: list[np.ndarray]) -> Callable[[int, Any], Distances] | None:
    """``without(number, rest)``: the distances between rows without a fold of columns; ``rest`` is X without them.

        key_rest = key_all - key_fold,     key_ij = ‖x_j‖² / 2 - x_i'x_j

    Keys are sums over columns, so ten folds cost two Gram products instead of ten. The keys have the rounding errors of
    both products, relative to the norms of *all* columns; the bound includes them. Neighbours are chosen by distances
    that are sums over the remaining columns only, so they equal the neighbours in these columns.

    Returns None if new distances for every fold are as fast: if X is small, if n x n products do not fit into memory,
    or if most sparse rows share no column.
    """
    if isinstance(every, DenseDistances) and every.single and every.n**2 <= budget():
        return partial(_dense_without, every, folds)
    if isinstance(every, SparseDistances) and every.holds_keys:
        shared = every.single or every.n_products >= float(every.n) ** 2
        return partial(_sparse_without, every, folds, _Pairs(every.rows, folds)) if shared else None
    return None


def _rest_of(every: Any, rest: Any, **changes: Any) -> Any:
    """A copy of distances, for fewer columns and with other keys; their error is twice that of one product."""
    twin = copy(every)
    vars(twin).update(changes, m=rest.shape[1], _X=rest, bound=2.0 * every.bound, _double=None, norms=changes["_norms"])
    return twin


def _dense_without(every: DenseDistances, folds: list[np.ndarray], number: int, rest: np.ndarray) -> DenseDistances:
    if len(rest) ** 2 * rest.shape[1] < SINGLE_PAYS:
        return DenseDistances(rest)  # the product of few columns is as cheap and more accurate
    every.row_blocks()  # makes the keys
    columns, keys, squares = folds[number], np.array(every._keys), np.zeros(len(rest))
    for part in batches(len(columns), CHUNK):
        piece = np.take(every._X, columns[part], axis=1)
        piece = piece if every._mean is None else piece - every._mean[columns[part]]
        squares += np.einsum("ij,ij->i", piece, piece, dtype=np.float64)
        piece = piece.astype(np.float32, copy=False)
        keys += piece @ piece.T
    keys -= (squares / 2.0).astype(np.float32)
    mean = None if every._mean is None else np.delete(every._mean, columns)
    norms = np.maximum(every._norms - squares, 0.0)
    return _rest_of(every, rest, _keys=keys, _mean=mean, _norms=norms)


def _sparse_without(
    every: SparseDistances, folds: list[np.ndarray], pairs: _Pairs, number: int, rest: sp.csc_array
) -> SparseDistances:
    every.row_blocks()  # makes the keys
    shared, own = np.asarray(every._keys), every._columns[:, folds[number]]
    made = SparseDistances(own, filled=every._filled, single=every.single)._gram(None)
    keys = np.add(shared, made, out=made if made.dtype == shared.dtype else None)
    keys -= (pairs.squares[:, number] / 2.0).astype(keys.dtype)
    norms = np.delete(pairs.squares, number, axis=1).sum(axis=1)
    changes: dict[str, Any] = {"_rows": None, "_columns": None, "_as_given": None, "_between": partial(pairs, number)}
    return _rest_of(every, rest, _keys=keys, _norms=norms, **changes)


class _Pairs:
    """Squared distances of pairs of sparse rows as sums over folds of columns; those that were asked for are kept.

    The folds of a split ask for nearly the same pairs of rows.
    """

    def __init__(self, rows: sp.csr_array, folds: list[np.ndarray]):
        self._rows, self._n_folds = rows, len(folds)
        self._fold = np.empty(rows.shape[1], dtype=np.intp)
        for number, columns in enumerate(folds):
            self._fold[columns] = number
        self._known, self._sums = np.empty(0, dtype=np.int64), np.empty((0, len(folds)))
        of_value = self._fold[rows.indices] + len(folds) * np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        squares = np.bincount(of_value, rows.data**2, minlength=rows.shape[0] * len(folds))
        self.squares = squares.reshape(rows.shape[0], len(folds))  # ‖x_i‖² in each fold

    def __call__(self, number: int, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """‖x_i - x_j‖² without a fold."""
        n = self._rows.shape[0]
        asked, place = np.unique(np.minimum(i, j).astype(np.int64) * n + np.maximum(i, j), return_inverse=True)
        new = np.setdiff1d(asked, self._known, assume_unique=True)
        if len(new):
            sums = squares_by_group(self._rows, new // n, new % n, self._fold, self._n_folds)
            known = np.concatenate([self._known, new])
            order = np.argsort(known, kind="stable")
            self._known, self._sums = known[order], np.concatenate([self._sums, sums])[order]
        others = np.delete(self._sums[np.searchsorted(self._known, asked)], number, axis=1)
        return others.sum(axis=1)[place.ravel()]
