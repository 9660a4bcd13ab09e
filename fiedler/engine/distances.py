"""Squared distances between rows: approximate in blocks with a known error bound, and exact for chosen pairs.

One Gram product gives all of them, ‖x_i - x_j‖² = ‖x_i‖² + ‖x_j‖² - 2 x_i'x_j on centred rows, in single precision
where that pays. Whoever needs certainty asks for the distances of a few pairs again, from the differences themselves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from ..data.arrays import Matrix, Rows, as_csr, dense, take_columns
from ..data.memory import working_bytes
from ..data.source import Part, Source
from ..validation import is_sparse
from .kernels import as_block, kernels
from .threads import for_each, n_threads, one_blas_thread

CHUNK = 1024  # columns per product: bounds the rounding error of a sum in single precision
_SINGLE_UP_TO = 1e30  # squared norms that single precision can hold
_TIED = 2.0**-38  # relative difference of distances that count as equal, and somewhat more
EXACT_COSINE = 2.0**26  # squared norms of whole numbers up to which cosines are free of rounding
_SINGLE_PAYS = 1e9  # multiplications of a Gram product from which single precision and a second look are faster
_TOO_LARGE, _CHECKED = 1e150, 256  # values whose sums of squares overflow, and columns looked at together
# Below this share of ‖x_i‖² + ‖x_j‖² a squared distance from the double precision product has under ten good digits.
ILL_CONDITIONED = 1e-5


def budget() -> int:
    """Number of float64 values one temporary may hold."""
    return int(working_bytes() / (4 * 8))


class Searchable(Protocol):
    """What a search for neighbours asks: keys in blocks, how far they may be off, and the truth about a few pairs."""

    @property
    def n(self) -> int: ...
    @property
    def exact(self) -> bool: ...
    @property
    def single(self) -> bool: ...
    @property
    def sequential(self) -> bool: ...
    def use_double(self) -> None: ...
    def row_blocks(self) -> list[np.ndarray]: ...
    def block(self, rows: np.ndarray) -> np.ndarray: ...
    def uncertainty(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...
    def from_key(self, i: np.ndarray, key: np.ndarray) -> np.ndarray: ...
    def refine(self, i: np.ndarray, j: np.ndarray, squared: np.ndarray, doubtful: np.ndarray) -> np.ndarray: ...


class Distances(ABC):
    """Squared distances between n rows of m columns, whoever holds the rows.

    Keys, ‖x_j‖² / 2 - x_i'x_j, come in blocks and carry a rounding error with a known bound; :meth:`between` is exact.
    """

    n: int
    m: int
    single: bool  # whether the keys are in single precision
    sequential: bool  # whether blocks should be asked for one after the other
    _norms: np.ndarray  # ‖x_i‖² of the centred or scaled rows
    _empty: np.ndarray  # 1 for a row of zeros under the cosine, which is at cosine 0 to every row
    _keys: np.ndarray | None = None  # all of them, where they can be held

    @abstractmethod
    def row_blocks(self) -> list[np.ndarray]:
        """Rows in blocks whose distances to all rows fit the memory budget."""

    @abstractmethod
    def block(self, rows: np.ndarray) -> np.ndarray:
        """The keys of some rows i and all j, self at inf: half the squared distance less ‖x_i‖² / 2."""

    @abstractmethod
    def between(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Squared distances of the pairs (i, j), from the differences themselves, in double precision."""

    @property
    @abstractmethod
    def exact(self) -> bool:
        """Whether the keys are free of rounding."""

    @property
    @abstractmethod
    def relative_error(self) -> float:
        """Bound on the error of a squared distance from a block, relative to ‖x_i‖² + ‖x_j‖²."""

    def use_double(self) -> None:
        """Give up single precision: the rows are so close together that it tells too few of them apart."""
        self.single = False

    def from_key(self, i: np.ndarray, key: np.ndarray) -> np.ndarray:
        """Squared distances from the entries of a block."""
        return np.maximum(2.0 * key.astype(np.float64) + (self._norms + self._empty)[i], 0.0)

    def uncertainty(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The bound for row i and column j as a sum of two vectors a_i + b_j."""
        error = self.relative_error / 2.0
        return error * self._norms[rows], error * self._norms

    def refine(self, i: np.ndarray, j: np.ndarray, squared: np.ndarray, doubtful: np.ndarray) -> np.ndarray:
        """Distances from a block in full precision: those marked doubtful, and all that need it, computed again."""
        if self.exact:
            return squared
        if not self.single:
            again = np.flatnonzero(doubtful | (squared < ILL_CONDITIONED * (self._norms[i] + self._norms[j])))
        else:
            again = np.arange(len(i))
        squared = squared.astype(np.float64)
        squared[again] = self.between(i[again], j[again])
        return squared

    def matrix(self) -> np.ndarray:
        """All n x n squared distances with full precision, exactly symmetric, diagonal 0."""
        self.use_double()
        squared = np.empty((self.n, self.n))
        for rows in self.row_blocks():
            block = self.from_key(rows[:, None], self.block(rows))
            doubtful = block < ILL_CONDITIONED * (self._norms[rows, None] + self._norms)
            local, j = np.nonzero(doubtful & (np.arange(self.n) > rows[:, None]))
            if not self.exact:
                block[local, j] = self.between(rows[local], j)
            squared[rows] = block
        self._keys = None
        for i in range(self.n):
            squared[i, i] = 0.0
            squared[i + 1 :, i] = squared[i, i + 1 :]
        return squared

    def _as_keys(self, rows: np.ndarray, gram: np.ndarray) -> np.ndarray:
        np.subtract(((self._norms + self._empty) / 2.0).astype(gram.dtype), gram, out=gram)
        gram[np.arange(len(rows)), rows] = np.inf
        return gram


class RowDistances(Distances):
    """Squared distances between the rows of X: approximate in blocks, with a bound, and exact for chosen pairs.

    Parameters
    ----------
    X : ndarray or csc_array of shape (n, m)
    metric : {"euclidean", "cosine"}
        With "cosine" the rows are scaled to unit norm first, so that the squared distance is 2 (1 - cos);
        a row of zeros is at cosine 0 to every row.
    """

    sequential = False
    _dense: np.ndarray  # X, unless it is sparse
    _rows: sp.csr_array  # X where it is sparse,
    _columns: sp.csc_array  # and its twin
    _mean: np.ndarray | None = None
    _scale: np.ndarray | None = None
    _kept: list[np.ndarray] | None = None
    _lengths: np.ndarray | None = None  # ‖x_i‖² of whole numbers under the cosine,
    _counts: Rows  # and the rows themselves

    def __init__(self, X: np.ndarray | sp.csc_array, metric: str = "euclidean"):
        self.n, self.m = X.shape
        self._sparse, self._empty = is_sparse(X), np.zeros(self.n)
        if is_sparse(X):
            self._rows = as_csr(X)
            self._columns = sp.csc_array(self._rows)
        else:
            self._dense = X
        self.single = not self._sparse and self.n**2 * self.m >= _SINGLE_PAYS
        norms = self._row_norms()
        if not np.isfinite(norms).all():
            check_range(X, np.arange(self.m))
        if norms.max(initial=0.0) > _SINGLE_UP_TO:
            self.single = False
        if metric == "cosine":
            if norms.max(initial=0.0) <= EXACT_COSINE and is_integer(X):
                self._lengths, self._counts = norms, self._rows if self._sparse else self._dense
            self._empty = (norms == 0).astype(np.float64)
            self._scale = 1.0 / np.sqrt(np.where(norms > 0, norms, 1.0))
            norms = 1.0 - self._empty
            if self._sparse:
                self._rows = sp.csr_array(self._rows.multiply(self._scale[:, None]))
                self._columns = sp.csc_array(self._rows)
        # Integers small enough are exact in float64, and so are all their ties; centring would spoil that.
        small = metric == "euclidean" and norms.max(initial=0.0) < 2**50
        self._integer = small and is_integer(self._rows if self._sparse else self._dense)
        if not (self.exact or self._sparse or metric == "cosine"):
            self._mean = self._dense.mean(axis=0, dtype=np.float64)
            norms = self._row_norms()
        self._norms = norms

    @property
    def exact(self) -> bool:
        return self._integer and not self.single

    @property
    def relative_error(self) -> float:
        if self.exact:
            return 0.0
        if self._sparse:
            return rounding_error(int(np.diff(self._rows.indptr).max(initial=0)))
        return rounding_error(self.m, self._width, self.single)

    def use_double(self) -> None:
        self.single, self._keys, self._kept = False, None, None
        if self.exact and self._mean is not None:
            self._mean = None
            self._norms = self._row_norms()

    def row_blocks(self) -> list[np.ndarray]:
        """As the base says, and at least one block per thread."""
        threads = n_threads(float(self.n) ** 2)
        rows = max(1, min(budget() // max(self.n, 1) // threads, -(-self.n // threads)))
        if self._keys is None and self.n**2 <= budget():  # all at once, one triangle is enough
            gram = self._whole_sparse_gram() if self._sparse else self._whole_gram()
            self._keys = self._as_keys(np.arange(self.n), gram)
        return [np.arange(start, min(start + rows, self.n)) for start in range(0, self.n, rows)]

    def block(self, rows: np.ndarray) -> np.ndarray:
        if self._keys is not None:
            return self._keys[rows[0] : rows[-1] + 1]
        return self._as_keys(rows, self._gram(rows))

    def between(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        if self._lengths is not None:
            return cosine_squared(row_products(self._counts, i, j), self._lengths[i] * self._lengths[j])
        if self._sparse:
            squared = sparse_squared_differences(self._rows, i, j)
        else:
            squared = np.zeros(len(i))
            for piece in self._pieces(centred=False):
                add_squared_differences(piece, i, j, squared, kernels(float(len(i)) * self.m))
        squared += self._empty[i] + self._empty[j]
        return squared

    def single_precision(self) -> np.ndarray:
        """The centred, scaled rows in float32."""
        rows = np.empty((self.n, self.m), dtype=np.float32)
        for start, piece in zip(range(0, self.m, self._width), self._pieces(centred=True), strict=True):
            rows[:, start : start + self._width] = piece
        return rows

    @property
    def _width(self) -> int:
        """Columns per piece: in single precision few enough to bound the error, else what memory allows."""
        return CHUNK if self.single else max(1, min(self.m, budget() // (4 * max(self.n, 1))))

    def _pieces(self, centred: bool) -> Iterator[np.ndarray]:
        """X in pieces of columns, float64, scaled, centred for the product and as they are for differences."""
        for start in range(0, self.m, self._width):
            part = slice(start, start + self._width)
            piece = self._dense[:, part]
            if centred and self._mean is not None:
                piece = piece - self._mean[part]
            if self._scale is not None:
                piece = piece * self._scale[:, None]
            yield piece

    def _row_norms(self) -> np.ndarray:
        if self._sparse:
            return np.asarray(self._rows.multiply(self._rows).sum(axis=1)).ravel()
        norms = np.zeros(self.n)
        for piece in self._pieces(centred=True):
            piece = piece.astype(np.float64, copy=False)
            norms += np.einsum("ij,ij->i", piece, piece)
        return norms

    def _whole_gram(self) -> np.ndarray:
        gram = np.zeros((self.n, self.n), dtype=np.float32 if self.single else np.float64)
        # Small products wait longer for a second BLAS thread than they gain from it.
        with one_blas_thread(self.n**2 * float(self.m)):
            for piece in self._pieces(centred=True):
                piece = np.ascontiguousarray(piece, dtype=gram.dtype)
                gram += piece @ piece.T
        return gram

    def _gram(self, rows: np.ndarray) -> np.ndarray:
        if self._sparse:
            return self._sparse_gram(rows)
        gram = np.zeros((len(rows), self.n), dtype=np.float32 if self.single else np.float64)
        for piece in self._ready_pieces(gram.dtype):
            gram += piece[rows[0] : rows[-1] + 1] @ piece.T
        return gram

    def _ready_pieces(self, dtype: np.dtype) -> Iterator[np.ndarray]:
        """Centred pieces in the dtype of the product, kept from block to block when they fit the memory budget."""
        if self._kept is not None:
            return iter(self._kept)
        pieces = (np.ascontiguousarray(piece, dtype=dtype) for piece in self._pieces(centred=True))
        if self.n * self.m * dtype.itemsize <= 8 * budget():
            self._kept = list(pieces)
            return iter(self._kept)
        return pieces

    def _compiled_sparse(self) -> Any:
        met = np.diff(self._columns.indptr).astype(np.float64)
        return kernels(4.0 * float(met @ met))

    def _sparse_gram(self, rows: np.ndarray) -> np.ndarray:
        X, twin, compiled = self._rows, self._columns, self._compiled_sparse()
        if compiled is None:
            return (X[rows] @ X.T).toarray()
        gram, first = np.zeros((len(rows), self.n)), twin.indptr[X.indices]
        arrays = (X.indptr, X.indices, X.data, first, twin.indptr, twin.indices, twin.data)
        compiled.sparse_gram(rows, np.arange(len(rows)), *arrays, gram)
        return gram

    def _whole_sparse_gram(self) -> np.ndarray:
        X, twin, compiled = self._rows, self._columns, self._compiled_sparse()
        if compiled is None:
            return (X @ X.T).toarray()
        # Where each entry of X stands in its own column: from there on are the rows not yet met.
        first = np.empty(X.nnz, dtype=twin.indptr.dtype)
        first[sp.csr_array((np.arange(X.nnz), X.indices, X.indptr), shape=X.shape).tocsc().data] = np.arange(X.nnz)
        # Whole numbers this small are exact in single precision too, at half the traffic.
        small = self._integer and self._norms.max(initial=0.0) < 2**22
        gram, threads = np.zeros((self.n, self.n), dtype=np.float32 if small else np.float64), n_threads()
        arrays = (X.indptr, X.indices, X.data, first, twin.indptr, twin.indices, twin.data)
        shares = [np.arange(t, self.n, threads) for t in range(threads)]  # early rows meet more: deal them out
        for_each(lambda rows: compiled.sparse_gram(rows, rows, *arrays, gram), shares, np.inf)
        compiled.mirror(gram)
        return gram


def rounding_error(terms: int, width: int | None = None, single: bool = False) -> float:
    """Bound on the error of ‖x_i - x_j‖² from a product of so many terms, relative to ‖x_i‖² + ‖x_j‖².

    Products of ``width`` columns are summed one after the other, which is as good as sums that short. What counts as a
    tie is within the bound in any case, so that candidates for it are seen however the product was made.
    """
    if width is not None:
        terms = min(terms, width) + terms // width
    return max((terms + 8) * (2.0**-24 if single else 2.0**-53), _TIED)


def row_products(X: Rows, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """x_i'x_j for each pair (i, j)."""
    products, step = np.empty(len(i)), max(1, 2**20 // max(X.shape[1], 1))
    for start in range(0, len(i), step):
        part = slice(start, start + step)
        a, b = X[i[part]], X[j[part]]
        if is_sparse(a):
            products[part] = a.multiply(b).sum(axis=1)
        else:
            products[part] = (np.asarray(a, dtype=np.float64) * b).sum(axis=1)
    return products


def cosine_squared(dot: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """2 (1 - cos) from x_i'x_j and ‖x_i‖²‖x_j‖², 2 to a row of zeros; of whole numbers without rounding until the end.

    Equal cosines of whole numbers are equal here, whichever rows they come from.
    """
    empty = lengths == 0
    lengths = np.where(empty, 1.0, lengths)
    cosine = np.sign(dot) * np.sqrt(dot * dot / lengths)
    near = (lengths - dot * dot) / lengths / np.where(dot > 0, 1.0 + cosine, 1.0)
    return 2.0 * np.where(empty, 1.0, np.where(dot > 0, near, 1.0 - cosine))


def check_range(X: Matrix, columns: np.ndarray) -> None:
    """An error that names a column whose values are too large to be squared, if there is one among these."""
    for start in range(0, 0 if isinstance(X, Source) else len(columns), _CHECKED):
        some = columns[start : start + _CHECKED]
        part = dense(take_columns(X, some))
        if np.abs(part).max(initial=0.0) > _TOO_LARGE:
            j = int(np.argmax(np.abs(part).max(axis=0)))
            raise ValueError(
                f"X holds values as large as {np.abs(part[:, j]).max():.3g} in column {some[j]}, whose squares "
                "overflow; divide that column by its largest value, for example with "
                "sklearn.preprocessing.MaxAbsScaler."
            )


def is_integer(X: Part) -> bool:
    """Whether all values are whole numbers."""
    values = X.data if is_sparse(X) else X
    if values.dtype.kind in "iub":
        return True
    # The first rows nearly always settle it; no more than a few are looked at together.
    return all(bool((part == np.floor(part)).all()) for part in _row_pieces(values))


def _row_pieces(values: np.ndarray) -> Iterator[np.ndarray]:
    step = max(1, 2**20 // max(int(np.prod(values.shape[1:])), 1))
    return (values[start : start + step] for start in range(0, len(values), step))


def add_squared_differences(
    piece: np.ndarray, i: np.ndarray, j: np.ndarray, squared: np.ndarray, compiled: Any = None
) -> None:
    """Add Σ (x_i - x_j)² over the columns of a piece, in double precision, for each pair (i, j)."""
    if compiled is not None:
        F, parts = as_block(piece), np.array_split(np.arange(len(i)), 4 * n_threads())
        spans = [slice(p[0], p[-1] + 1) for p in parts if len(p)]
        work = lambda s: compiled.pair_squared_distances(F, i[s], j[s], squared[s])  # noqa: E731
        for_each(work, spans, squared.size * 64.0)
        return
    step = max(1, 2**18 // max(piece.shape[1], 1))
    for start in range(0, len(i), step):
        part = slice(start, start + step)
        difference = piece[i[part]].astype(np.float64)
        difference -= piece[j[part]]
        squared[part] += np.einsum("ij,ij->i", difference, difference)


def sparse_squared_differences(X: sp.csr_array, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Σ (x_i - x_j)² over the columns of a csr array, for each pair (i, j)."""
    squared, step = np.empty(len(i)), 2**14
    for start in range(0, len(i), step):
        part = slice(start, start + step)
        difference = X[i[part]] - X[j[part]]
        squared[part] = difference.multiply(difference).sum(axis=1)
    return squared
