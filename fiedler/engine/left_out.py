"""Distances between rows from which folds of columns are left out, one fold after the other.

    key_rest = key_all - key_fold,     key_ij = ‖x_j‖² / 2 - x_i'x_j

Keys are sums over columns. Ten folds of the columns then cost two Gram products instead of ten. The keys have the
rounding errors of both products, relative to the norms of *all* columns; the bound includes them. Neighbours are chosen
by distances that are sums over the remaining columns only, so they equal the neighbours in these columns. For sparse
rows these sums are computed for all folds at once, because the folds of a split ask for nearly the same pairs of rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property, partial
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from ..data.arrays import as_csr
from .dense import DenseDistances
from .distances import CHUNK, SINGLE_KEYS, SINGLE_PAYS, Distances, budget, rounding_error, squares_by_group
from .sparse import SparseDistances, single_gram


class Without(Protocol):
    """The distances without fold ``number``; ``rest`` is X without its columns."""

    def __call__(self, number: int, rest: np.ndarray | sp.csc_array) -> Distances: ...


class AllColumns(ABC):
    """Distances between the rows of X from which folds of columns can be left out."""

    @classmethod
    def of(cls, every: Distances) -> AllColumns | None:
        """Keys to share, if this is faster than new distances for every fold, and if they fit into memory.

        Parameters
        ----------
        every : Distances
            The Euclidean distances between the rows of X. They keep their keys, so that later searches are fast too.

        Returns
        -------
        shared : AllColumns or None
            None if X is small, if n x n products do not fit into memory, or if most sparse rows share no column.
        """
        if isinstance(every, SparseDistances):
            fits = every.n**2 <= budget() * (SINGLE_KEYS if every.single else 1)
            return SparseColumns(every) if fits and every.worth_sharing else None
        if isinstance(every, DenseDistances):
            return DenseColumns(every) if every.single and every.n**2 <= budget() else None
        return None

    @abstractmethod
    def split(self, folds: list[np.ndarray]) -> Without:
        """The distances without each of the folds, which are disjoint lists of columns."""


# -------------------------------------------------------------------- dense rows


class DenseColumns(AllColumns):
    """Keys of all columns of an ndarray, in single precision."""

    def __init__(self, every: DenseDistances):
        self.X, self.mean, self.norms, self._keys = every._X, every._mean, every._norms, every.all_keys()

    def split(self, folds: list[np.ndarray]) -> Without:
        return partial(self._without, folds)

    def _without(self, folds: list[np.ndarray], number: int, rest: np.ndarray) -> DenseDistances:
        if len(rest) ** 2 * rest.shape[1] < SINGLE_PAYS:
            return DenseDistances(rest)  # the product of few columns is as cheap and more accurate
        columns, keys, squares = folds[number], self._keys.copy(), np.zeros(len(rest))
        for start in range(0, len(columns), CHUNK):
            part = columns[start : start + CHUNK]
            piece = np.take(self.X, part, axis=1)
            piece = piece if self.mean is None else piece - self.mean[part]
            squares += np.einsum("ij,ij->i", piece, piece, dtype=np.float64)
            piece = piece.astype(np.float32, copy=False)
            keys += piece @ piece.T
        keys -= (squares / 2.0).astype(np.float32)
        return DenseLeftOut(self, columns, rest, keys, squares)


class DenseLeftOut(DenseDistances):
    """Distances whose keys are differences; ``squares`` are those of the rows in the fold."""

    def __init__(self, shared: DenseColumns, fold: np.ndarray, rest: np.ndarray, keys: np.ndarray, squares: np.ndarray):
        self.n, self.m = rest.shape
        self._X, self._metric, self._empty = rest, "euclidean", np.zeros(self.n)
        self.single, self._integer, self._keys = True, False, keys
        self._mean = None if shared.mean is None else np.delete(shared.mean, fold)
        self._norms = np.maximum(shared.norms - squares, 0.0)
        self._bound = rounding_error(shared.X.shape[1], CHUNK, single=True) * shared.norms

    def uncertainty(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._bound[rows], self._bound  # twice the error of one product, and half of that for each row


# -------------------------------------------------------------------- sparse rows


class SparseColumns(AllColumns):
    """Keys of all columns of a csc array, which stays sparse."""

    def __init__(self, every: SparseDistances):
        self.every, self.keys = every, every.all_keys()

    def split(self, folds: list[np.ndarray]) -> Without:
        pairs = _Pairs(self.every._rows, folds)
        return lambda number, rest: SparseLeftOut(self, pairs, number, folds[number], rest)

    def products_of(self, fold: np.ndarray) -> np.ndarray:
        """x_i'x_j in the columns of a fold, made in the same way as those in all columns."""
        own = self.every._columns[:, fold]
        if self.every._filled:
            return single_gram(own)
        return SparseDistances(own, filled=False, single=self.every.single)._whole_gram()


class SparseLeftOut(SparseDistances):
    """Distances whose keys are differences, and exact ones from sums over folds."""

    def __init__(self, shared: SparseColumns, pairs: _Pairs, number: int, fold: np.ndarray, rest: sp.csc_array):
        every = shared.every
        self.n, self.m = rest.shape
        self._columns, self._given, self._empty = rest, (rest, "euclidean"), np.zeros(self.n)
        self.single, self._filled, self._integer = every.single, every._filled, every.exact
        self._pairs, self._number = pairs, number
        self._norms, self._bound = pairs.norms(number), every.relative_error * every._norms
        own = shared.products_of(fold)
        self._keys = np.add(shared.keys, own, out=own if own.dtype == shared.keys.dtype else None)
        self._keys -= (pairs.squares[:, number] / 2.0).astype(self._keys.dtype)

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
        self.squares = squares.reshape(rows.shape[0], len(folds))

    def norms(self, number: int) -> np.ndarray:
        """‖x_i‖² without a fold."""
        return np.delete(self.squares, number, axis=1).sum(axis=1)

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
