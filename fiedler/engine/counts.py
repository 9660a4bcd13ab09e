"""Counts as Pearson residuals, column by column, without filling in zeros: a sparse block plus a few columns.

    f_ij = (x_ij - μ_ij) / √(μ_ij + φ_j μ_ij²),   μ_ij = t_i p_j,   p_j = Σ_i x_ij / Σ_i t_i,   |f_ij| <= √n
    φ_j = max(0, Σ_i ((x_ij - μ_ij)² - μ_ij) / Σ_i μ_ij²)                          t_i: the depth of row i

The residual of a zero, -√(t p) / √(1 + φ t p), depends on row i only by t_i. It is smooth in log t, so that polynomials
through its values at a few depths, at the Chebyshev points, give it to ten digits: F = S + B C. Sums of its powers over
the rows follow from the same points. Columns with few zeros are stored as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..data.arrays import Block
from ..validation import is_sparse
from .permuted import Standard
from .products import is_integer

_DIGITS = 26.0  # natural logarithm of the precision of the polynomials
_MOST_POINTS = 64
_NOTHING = 1e-14  # a smaller variance, relative to the residuals of zeros, is rounding error
_MOST_STORED = 0.5  # columns with a larger share of stored values are stored as a whole


class Residuals:
    """The residuals of a block of counts, S + B C.

    Parameters
    ----------
    counts : ndarray or sparse array of shape (n, b)
        Counts, never negative.
    depth : ndarray of shape (n,)
        The depth t of each row, positive.
    active : ndarray of bool, shape (n,)
        The rows over which :meth:`standards` sums.
    """

    def __init__(self, counts: Block, depth: np.ndarray, active: np.ndarray):
        X = sp.csc_array(counts)
        n, m = self.shape = X.shape
        column, t = np.repeat(np.arange(m), np.diff(X.indptr)), depth
        total = t.sum()
        of_row = t[X.indices]
        p = np.bincount(column, X.data, m) / total
        squares = np.bincount(column, X.data * (X.data - 2.0 * p[column] * of_row), m) + p * p * (t @ t) - p * total
        with np.errstate(divide="ignore", invalid="ignore"):
            self._dispersion = np.nan_to_num(np.maximum(squares / (p * p * (t @ t)), 0.0))
        self._p, self._limit = p, np.sqrt(n)

        low, high = np.log(t.min()), np.log(t.max())
        # The nearest singularity of the residual of a zero is π away from the real axis.
        y = 2.0 * np.pi / max(high - low, 1e-9)
        k = int(np.clip(np.ceil(_DIGITS / np.log(y + np.sqrt(1.0 + y * y))), 2, _MOST_POINTS))
        angle = (np.arange(k) + 0.5) * np.pi / k
        at = np.exp((low + high) / 2.0 + (high - low) / 2.0 * np.cos(angle))
        place = np.clip((np.log(t) - (low + high) / 2.0) / max((high - low) / 2.0, 1e-12), -1.0, 1.0)
        cosines = np.cos(np.arange(k) * np.arccos(place)[:, None])
        cosines[:, 0] = 0.5
        self.B = 2.0 / k * cosines @ np.cos(np.arange(k)[:, None] * angle)  # Lagrange polynomials at log t
        self.C = self._of_zero(at[:, None], np.arange(m))
        self._weights, self._n = self.B[active].sum(axis=0), int(np.count_nonzero(active))
        whole = np.diff(X.indptr) > _MOST_STORED * n
        if whole.any():
            self.C[:, whole] = 0.0
            X = _with_zeros(X, whole)
            column = np.repeat(np.arange(m), np.diff(X.indptr))
            of_row = t[X.indices]
        self._column, self._zero = column, np.where(whole[column], 0.0, self._of_zero(of_row, column))
        self._values, self._counted = self._residual(X.data, of_row, column), active[X.indices].astype(np.float64)
        self.S = sp.csc_array((self._values - self._zero, X.indices, X.indptr), shape=X.shape)

    def _residual(self, x: np.ndarray, t: np.ndarray, columns: np.ndarray) -> np.ndarray:
        mean = t * self._p[columns]
        with np.errstate(divide="ignore", invalid="ignore"):  # a column of zeros has the mean 0
            f = (x - mean) / np.sqrt(mean * (1.0 + self._dispersion[columns] * mean))
        return np.clip(np.where(mean > 0, f, 0.0), -self._limit, self._limit)

    def _of_zero(self, t: np.ndarray, columns: np.ndarray) -> np.ndarray:
        mean = t * self._p[columns]
        return -np.sqrt(mean / (1.0 + self._dispersion[columns] * mean))

    def toarray(self) -> np.ndarray:
        """All residuals."""
        return self.S.toarray() + self.B @ self.C

    def quadratic(self, of: Callable[[Any], np.ndarray], dot: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """f'Af of each column, for the function S -> s'As and the function V -> A V."""
        AB = dot(self.B)
        cross = np.einsum("qm,mq->m", self.C, self.S.T @ AB)
        return of(self.S) + 2.0 * cross + np.einsum("qm,qm->m", self.C, (self.B.T @ AB) @ self.C)

    def project(self, U: np.ndarray) -> np.ndarray:
        """U'F."""
        return (self.S.T @ U).T + (U.T @ self.B) @ self.C

    def standards(self) -> Standard:
        """As :func:`fiedler.engine.permuted.standards`, over the active rows."""
        n, m = self._n, self.shape[1]

        def totals(shift: np.ndarray, powers: tuple[int, ...]) -> list[np.ndarray]:
            """Σ_i (f_ij - shift_j)^k: of all rows as if they were zeros, then with what is stored instead."""
            at = shift[self._column]
            nodes, stored, zero = self.C - shift, self._values - at, self._zero - at
            sums, each, reached = list[np.ndarray](), (nodes, stored, zero), 1
            for k in powers:
                for _ in range(k - reached):  # products, because powers above 2 are slow
                    each, reached = tuple(x * y for x, y in zip(each, (nodes, stored, zero), strict=True)), reached + 1
                sums.append(self._weights @ each[0] + np.bincount(self._column, self._counted * (each[1] - each[2]), m))
            return sums

        shift = totals(np.zeros(m), (1,))[0] / n
        square, third, fourth, sixth = totals(shift, (2, 3, 4, 6))
        spread = np.sqrt(np.maximum(square / n, 0.0))
        spread[square <= _NOTHING * n * np.maximum(np.max(self.C**2, axis=0), 1e-6)] = 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            sums = third / spread**3, fourth / spread**4, sixth / spread**6
        return Standard(np.zeros(m), shift, spread, *sums)


def _with_zeros(X: sp.csc_array, whole: np.ndarray) -> sp.csc_array:
    """X with all zeros of some columns stored."""
    n = X.shape[0]
    parts, last = list[Any](), 0
    for j in np.flatnonzero(whole).tolist():
        column = sp.csc_array((X[:, [j]].toarray().ravel(), np.arange(n), [0, n]), shape=(n, 1))
        parts += [X[:, last:j], column]
        last = j + 1
    return sp.csc_array(sp.hstack([*parts, X[:, last:]], format="csc"))


def is_counts(X: Block) -> bool:
    """Whether a block holds counts: whole numbers, never negative."""
    values = X.data if is_sparse(X) else X
    return bool(values.size == 0 or (values.min() >= 0 and is_integer(X)))
