"""Squared distances between rows: approximate in blocks with a known error bound, and exact for chosen pairs.

One Gram product gives all distances, ‖x_i - x_j‖² = ‖x_i‖² + ‖x_j‖² - 2 x_i'x_j on centred rows, in single precision if
this is faster. Exact distances of a few pairs are computed again from the differences of values.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..data.arrays import Matrix, Rows, dense, take_columns
from ..data.memory import working_bytes
from ..data.source import Part, Source
from ..validation import is_sparse
from .compiled import as_block, kernels
from .threads import for_each, n_threads

CHUNK = 1024  # columns per product: bounds the rounding error of a sum in single precision
_TIED = 2.0**-38  # slightly more than the relative difference of distances that count as equal
EXACT_COSINE = 2.0**26  # largest squared norms of integers for which cosines have no rounding error
EXACT_BELOW = 2.0**50  # largest squared norms of integers for which distances have no rounding error
SINGLE_UP_TO = 1e30  # largest squared norms for single precision
SINGLE_PAYS = 1e9  # with more multiplications, single precision with recomputed candidates is faster
SINGLE_KEYS = 4  # times the budget: keys in single precision, of half the size, that stay in memory
_PER_KEY = 4.0  # scalar operations to decide whether a key is among the smallest
_PAIRS_AT_ONCE = 2**14  # sparse rows subtracted at a time without the compiler
_TOO_LARGE, _CHECKED = 1e150, 256  # values whose sums of squares overflow, and columns looked at together
# Below this share of ‖x_i‖² + ‖x_j‖² a squared distance from the double precision product has under ten good digits.
ILL_CONDITIONED = 1e-5


def budget() -> int:
    """Largest number of float64 values in one temporary array."""
    return int(working_bytes() / (4 * 8))


class Distances(ABC):
    """Squared distances between n rows of m columns in any storage.

    Keys, ‖x_j‖² / 2 - x_i'x_j, come in blocks and have a rounding error with a known bound; :meth:`between` is exact.
    """

    n: int
    m: int
    single: bool  # whether the keys are in single precision
    _norms: np.ndarray  # ‖x_i‖² of the centred or scaled rows
    _empty: np.ndarray  # 1 for a row of zeros under the cosine, which is at cosine 0 to every row
    _keys: np.ndarray | None = None  # all of them, if they can be held

    @abstractmethod
    def row_blocks(self) -> list[np.ndarray]:
        """Blocks of rows whose distances to all rows fit into the memory budget."""

    @abstractmethod
    def block(self, rows: np.ndarray) -> np.ndarray:
        """The keys of some rows i and all j, half the squared distance minus ‖x_i‖² / 2; inf from a row to itself."""

    @abstractmethod
    def between(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Squared distances of the pairs (i, j), from differences of values in double precision."""

    @property
    def held(self) -> bool:
        """Whether the keys of all pairs are in memory."""
        return self._keys is not None

    @property
    def shared_work(self) -> float:
        """Number of scalar operations on all keys that threads can share; 0 if blocks must be read one by one."""
        return 0.0

    @property
    @abstractmethod
    def exact(self) -> bool:
        """Whether the keys have no rounding error."""

    @property
    @abstractmethod
    def relative_error(self) -> float:
        """Bound on the error of a squared distance from a block, relative to ‖x_i‖² + ‖x_j‖²."""

    def in_double(self) -> Distances:
        """The same distances with keys in double precision, for rows that single precision cannot tell apart."""
        return self

    def from_key(self, i: np.ndarray, key: np.ndarray) -> np.ndarray:
        """Squared distances from the entries of a block."""
        return np.maximum(2.0 * key.astype(np.float64) + (self._norms + self._empty)[i], 0.0)

    def uncertainty(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The bound for row i and column j as a sum of two vectors a_i + b_j."""
        error = self.relative_error / 2.0
        return error * self._norms[rows], error * self._norms

    def within_reach(self, rows: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """(position of a row, column, key) of all candidates for its k nearest, if no block is needed; else None."""
        return None

    def refine(self, i: np.ndarray, j: np.ndarray, squared: np.ndarray, doubtful: np.ndarray) -> np.ndarray:
        """Distances from a block in full precision; doubtful and inaccurate ones are computed again."""
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
        if self.single:
            return self.in_double().matrix()
        squared = np.empty((self.n, self.n))
        for rows in self.row_blocks():
            block = self.from_key(rows[:, None], self.block(rows))
            doubtful = block < ILL_CONDITIONED * (self._norms[rows, None] + self._norms)
            local, j = np.nonzero(doubtful & (np.arange(self.n) > rows[:, None]))
            if not self.exact:
                block[local, j] = self.between(rows[local], j)
            squared[rows] = block
        self._keys = None  # the keys are no longer needed
        for i in range(self.n):
            squared[i, i] = 0.0
            squared[i + 1 :, i] = squared[i, i + 1 :]
        return squared

    def _as_keys(self, rows: np.ndarray, gram: np.ndarray) -> np.ndarray:
        np.subtract(((self._norms + self._empty) / 2.0).astype(gram.dtype), gram, out=gram)
        gram[np.arange(len(rows)), rows] = np.inf
        return gram


class HeldRows(Distances):
    """Distances between rows in memory: all keys at once if they fit into memory, otherwise block by block."""

    @abstractmethod
    def _whole_gram(self) -> np.ndarray:
        """x_i'x_j of all rows."""

    @abstractmethod
    def _gram(self, rows: slice) -> np.ndarray:
        """x_i'x_j of some rows i and all j."""

    @property
    def shared_work(self) -> float:
        return _PER_KEY * float(self.n) ** 2

    def all_keys(self) -> np.ndarray:
        """The keys of all pairs, which stay in memory; one triangle of the product is enough for them."""
        if self._keys is None:
            self._keys = self._as_keys(np.arange(self.n), self._whole_gram())
        return self._keys

    def row_blocks(self) -> list[np.ndarray]:
        """As the base class, with at least one block per thread."""
        if self.n**2 <= budget() * (SINGLE_KEYS if self.single else 1):
            self.all_keys()
        threads = n_threads(self.shared_work)
        rows = max(1, min(budget() // max(self.n, 1) // threads, -(-self.n // threads)))
        return [np.arange(start, min(start + rows, self.n)) for start in range(0, self.n, rows)]

    def take_products(self, gram: np.ndarray) -> None:
        """Take the keys from known products of all rows, centred in any way, instead of computing them.

        They replace keys in single precision only: keys in double precision may be exact. Products of rows that are
        centred in another way give keys that differ by a constant of row i.
        """
        if self._keys is not None or not self.single:
            return
        squares = gram.diagonal()
        keys = (squares / 2.0 - gram + (squares - self._norms)[:, None] / 2.0).astype(np.float32)
        np.fill_diagonal(keys, np.inf)
        self._keys = keys

    def block(self, rows: np.ndarray) -> np.ndarray:
        """As the base class, for consecutive rows."""
        part = slice(rows[0], rows[-1] + 1)
        return self._keys[part] if self._keys is not None else self._as_keys(rows, self._gram(part))


def rounding_error(terms: int, width: int | None = None, single: bool = False) -> float:
    """Bound on the error of ‖x_i - x_j‖² from a product of ``terms`` terms, relative to ‖x_i‖² + ‖x_j‖².

    Products of ``width`` columns are summed one after the other, which reduces the error. The bound always includes the
    tolerance for ties, so that all tied candidates are found.
    """
    if width is not None:
        terms = min(terms, width) + terms // width
    return max((terms + 8) * (2.0**-24 if single else 2.0**-53), _TIED)


def row_products(X: Rows, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """x_i'x_j for each pair (i, j); fastest for sparse rows if equal i follow one another."""
    if is_sparse(X):
        return _sparse_products(X, i, j)
    products, step = np.empty(len(i)), max(1, 2**20 // max(X.shape[1], 1))
    for start in range(0, len(i), step):
        part = slice(start, start + step)
        products[part] = (np.asarray(X[i[part]], dtype=np.float64) * X[j[part]]).sum(axis=1)
    return products


def _sparse_products(X: sp.csr_array, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    products, work = np.empty(len(i)), 2.0 * len(i) * X.nnz / max(X.shape[0], 1)
    compiled = kernels(work)
    if compiled is None:
        for start in range(0, len(i), _PAIRS_AT_ONCE):
            part = slice(start, start + _PAIRS_AT_ONCE)
            products[part] = X[i[part]].multiply(X[j[part]]).sum(axis=1)
        return products

    def multiply(span: tuple[int, int]) -> None:
        part, scratch = slice(*span), np.zeros(X.shape[1])
        compiled.sparse_pair_products(X.indptr, X.indices, X.data, i[part], j[part], scratch, products[part])

    for_each(multiply, _shares(len(i), work), work)
    return products


def _shares(length: int, work: float) -> Iterator[tuple[int, int]]:
    """Spans that threads take one after the other."""
    return itertools.pairwise(np.linspace(0, length, 4 * n_threads(work) + 1).astype(int))


def cosine_squared(dot: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """2 (1 - cos) from x_i'x_j and ‖x_i‖²‖x_j‖², 2 to a row of zeros; integers are exact until the last step.

    Equal cosines of integer rows therefore give equal results.
    """
    empty = lengths == 0
    lengths = np.where(empty, 1.0, lengths)
    cosine = np.sign(dot) * np.sqrt(dot * dot / lengths)
    near = (lengths - dot * dot) / lengths / np.where(dot > 0, 1.0 + cosine, 1.0)
    return 2.0 * np.where(empty, 1.0, np.where(dot > 0, near, 1.0 - cosine))


def check_range(X: Matrix, columns: np.ndarray) -> None:
    """Raise an error that names a column, among the given ones, whose values are too large to be squared."""
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
    """Whether all values are integers."""
    values = X.data if is_sparse(X) else X
    if values.dtype.kind in "iub":
        return True
    # The first row nearly always decides; the others are checked in pieces.
    return all(bool((part == np.floor(part)).all()) for part in (values[:1], *_row_pieces(values)))


def _row_pieces(values: np.ndarray) -> Iterator[np.ndarray]:
    step = max(1, 2**18 // max(int(np.prod(values.shape[1:])), 1))
    return (values[start : start + step] for start in range(0, len(values), step))


def add_squared_differences(
    piece: np.ndarray, i: np.ndarray, j: np.ndarray, squared: np.ndarray, compiled: Any = None
) -> None:
    """Add Σ (x_i - x_j)² over the columns of a piece, in double precision, for each pair (i, j)."""
    if compiled is not None:
        F, width = as_block(piece), piece.shape[1]
        bounds = np.linspace(0, len(i), n_threads() + 1).astype(int)

        def add(a: int, b: int) -> None:
            compiled.pair_squared_distances(F, width, i[a:b], j[a:b], squared[a:b])

        for_each(lambda span: add(*span), itertools.pairwise(bounds), float(squared.size) * width)
        return
    step = max(1, 2**18 // max(piece.shape[1], 1))
    for start in range(0, len(i), step):
        part = slice(start, start + step)
        difference = piece[i[part]].astype(np.float64)
        difference -= piece[j[part]]
        squared[part] += np.einsum("ij,ij->i", difference, difference)


def sparse_squared_differences(X: sp.csr_array, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Σ (x_i - x_j)² over the columns of a csr array, for each pair (i, j)."""
    return squares_by_group(X, i, j, np.zeros(X.shape[1], dtype=np.intp), 1)[:, 0]


def squares_by_group(X: sp.csr_array, i: np.ndarray, j: np.ndarray, group: np.ndarray, n_groups: int) -> np.ndarray:
    """Σ (x_i - x_j)² over the columns of each group, for each pair (i, j); fastest if equal i follow one another."""
    squared = np.zeros((len(i), n_groups))
    work = 4.0 * len(i) * X.nnz / max(X.shape[0], 1)
    compiled = kernels(work)
    if compiled is None:
        of_group = sp.csr_array((np.ones(len(group)), group, np.arange(len(group) + 1)), shape=(len(group), n_groups))
        for start in range(0, len(i), _PAIRS_AT_ONCE):
            part = slice(start, start + _PAIRS_AT_ONCE)
            difference = X[i[part]] - X[j[part]]
            squared[part] = (difference.multiply(difference) @ of_group).toarray()
        return squared

    def add(span: tuple[int, int]) -> None:
        part = slice(*span)
        scratch = np.zeros(X.shape[1])
        compiled.sparse_pair_squares(X.indptr, X.indices, X.data, group, i[part], j[part], scratch, squared[part])

    for_each(add, _shares(len(i), work), work)
    return squared
