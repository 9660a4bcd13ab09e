"""Distances between rows from which folds of columns are left out, one fold after the other.

    Σ_rest x_ic x_jc = Σ_all x_ic x_jc - Σ_fold x_ic x_jc

Ten folds of the columns then cost two Gram products instead of ten. The keys have the rounding errors of both products,
relative to the norms of *all* columns; the bound includes them. Neighbours are chosen by distances that are sums over
the remaining columns only, so they equal the neighbours in these columns. For sparse rows these sums are computed for
all folds at once, because the folds of a split ask for nearly the same pairs of rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property, partial
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from ..data.arrays import as_csr
from ..validation import is_sparse
from .dense import DenseDistances
from .distances import CHUNK, SINGLE_KEYS, Distances, budget, rounding_error, squares_by_group
from .sparse import SparseDistances, filled_block
from .tiles import gram_by_tiles


class Without(Protocol):
    """The distances without fold ``number``; ``rest`` is X without its columns."""

    def __call__(self, number: int, rest: np.ndarray | sp.csc_array) -> Distances: ...


class AllColumns(ABC):
    """Distances between the rows of X from which folds of columns can be left out."""

    @classmethod
    def of(cls, X: np.ndarray | sp.csc_array) -> AllColumns | None:
        """The distances of X if sharing them is faster than new distances for every fold, and if they fit into memory.

        Parameters
        ----------
        X : ndarray or csc_array of shape (n, m)

        Returns
        -------
        shared : AllColumns or None
            None if X is small, if n x n products do not fit into memory, or if most sparse rows share no column.
        """
        if is_sparse(X):
            sparse = SparseDistances(X)
            fits = sparse.n**2 <= budget() * (SINGLE_KEYS if sparse.single else 1)
            return SparseColumns(X, sparse) if fits and sparse.worth_sharing else None
        if X.shape[0] ** 2 > budget():
            return None
        dense = DenseDistances(X)
        return DenseColumns(X, dense) if dense.single else None

    @abstractmethod
    def split(self, folds: list[np.ndarray]) -> Without:
        """The distances without each of the folds, which are disjoint lists of columns."""


# -------------------------------------------------------------------- dense rows


class DenseColumns(AllColumns):
    """Products of all columns of an ndarray, in single precision."""

    def __init__(self, X: np.ndarray, every: DenseDistances):
        self._X, self._mean = X, every._mean
        self._products, self._norms = every._whole_gram(), every._norms

    def split(self, folds: list[np.ndarray]) -> Without:
        return partial(self._without, folds)

    def _without(self, folds: list[np.ndarray], number: int, rest: np.ndarray) -> DenseDistances:
        columns, products = folds[number], self._products.copy()
        for start in range(0, len(columns), CHUNK):
            part = columns[start : start + CHUNK]
            piece = np.take(self._X, part, axis=1)
            piece = (piece if self._mean is None else piece - self._mean[part]).astype(np.float32, copy=False)
            products -= piece @ piece.T
        return DenseLeftOut(rest, products, self._norms, self._X.shape[1])


class DenseLeftOut(DenseDistances):
    """Distances whose keys come from a difference of two Gram matrices."""

    def __init__(self, rest: np.ndarray, gram: np.ndarray, all_norms: np.ndarray, n_columns: int):
        super().__init__(rest)
        self._all_norms: np.ndarray | None = None
        if self.single:  # otherwise few columns are left, and their own product is as cheap and more accurate
            self._all_norms, self._error = all_norms, 2.0 * rounding_error(n_columns, CHUNK, single=True)
            self._keys = self._as_keys(np.arange(self.n), gram)

    def uncertainty(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if self._all_norms is None:
            return super().uncertainty(rows)
        bound = self._error / 2.0 * self._all_norms
        return bound[rows], bound


# -------------------------------------------------------------------- sparse rows


class SparseColumns(AllColumns):
    """Products of all columns of a csc array, which stays sparse."""

    def __init__(self, X: sp.csc_array, every: SparseDistances):
        self.X, self.every, self.products = X, every, every._whole_gram()

    def split(self, folds: list[np.ndarray]) -> Without:
        pairs = _Pairs(self.every._rows, folds)
        return lambda number, rest: SparseLeftOut(self, pairs, number, folds[number], rest)

    def products_of(self, fold: np.ndarray) -> np.ndarray:
        """x_i'x_j in the columns of a fold, made in the same way as those in all columns."""
        own = self.X[:, fold]
        if not self.every._filled:
            return SparseDistances(own, filled=False, single=self.every.single)._whole_gram()
        parts = [slice(start, min(start + CHUNK, len(fold))) for start in range(0, len(fold), CHUNK)]
        return gram_by_tiles(self.every.n, parts, partial(filled_block, own))


class SparseLeftOut(SparseDistances):
    """Distances whose keys come from a difference of two Gram matrices, and exact ones from sums over folds."""

    def __init__(self, shared: SparseColumns, pairs: _Pairs, number: int, fold: np.ndarray, rest: sp.csc_array):
        every = shared.every
        self.n, self.m = rest.shape
        self._columns, self._given, self._empty = rest, (rest, "euclidean"), np.zeros(self.n)
        self.single, self._filled, self._integer = every.single, every._filled, every.exact
        self._pairs, self._number = pairs, number
        self._norms, self._bound = pairs.norms(number), every.relative_error * every._norms
        own = shared.products_of(fold)
        room = own if own.dtype == shared.products.dtype else None
        self._keys = self._as_keys(np.arange(self.n), np.subtract(shared.products, own, out=room))

    @cached_property
    def _rows(self) -> sp.csr_array:  # type: ignore[override]  # made on first use, because it is rarely read
        return as_csr(self._columns)

    @property
    def exact(self) -> bool:
        return self._integer

    def uncertainty(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._bound[rows], self._bound  # twice the error of one product, and half of that for each row

    def between(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        return self._pairs.between(i, j, self._number)


class _Pairs:
    """Squared distances of pairs of rows as sums over folds of columns; those that were asked for are kept."""

    def __init__(self, rows: sp.csr_array, folds: list[np.ndarray]):
        self._rows, self._n_folds = rows, len(folds)
        self._fold = np.empty(rows.shape[1], dtype=np.intp)
        for number, columns in enumerate(folds):
            self._fold[columns] = number
        self._known, self._sums = np.empty(0, dtype=np.int64), np.empty((0, len(folds)))
        of_value = self._fold[rows.indices] + len(folds) * np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        squares = np.bincount(of_value, rows.data**2, minlength=rows.shape[0] * len(folds))
        self._squares = squares.reshape(rows.shape[0], len(folds))

    def norms(self, number: int) -> np.ndarray:
        """‖x_i‖² without a fold."""
        return np.delete(self._squares, number, axis=1).sum(axis=1)

    def between(self, i: np.ndarray, j: np.ndarray, number: int) -> np.ndarray:
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
