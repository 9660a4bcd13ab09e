"""Centred and weighted columns of X for sets of features: C = diag(√w) (X - 1 μ') with w-weighted means μ.

C is kept in memory if it is dense and small compared with scikit-learn's ``working_memory``; otherwise blocks are
centred each time they are read. Sparse columns stay sparse: as w'C = 0, the mean cancels in every product with a vector
that is orthogonal to √w. A sparse column whose zeros have hardly any weight is first shifted by one of its values, so
that a large offset costs no digits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg.blas import dger

from ..data.arrays import Block, Matrix, as_csr, take_columns
from ..data.memory import slab_bytes, working_bytes
from ..data.source import Source
from ..engine.blocks import is_constant, map_columns
from ..engine.moments import shifted, sparse_centre, sparse_moments
from ..engine.products import column_view, filled_block, sparse_gram, stored_products_pay, sum_of_grams
from ..engine.threads import batches, for_each
from ..validation import is_sparse

_HELD = 0.5  # largest share of the working memory for a dense C
_FILLED = 0.03  # share of stored values from which products of filled blocks are faster
_WIDTH = 512  # number of columns of a filled block


class CentredColumns:
    """C of a matrix in any storage.

    Parameters
    ----------
    X : ndarray, csc_array or Source
    weights : ndarray of shape (n,), optional
        Weights w; by default all 1.

    Attributes
    ----------
    root : ndarray of shape (n,)
        √w; every column of C is orthogonal to it.
    """

    def __init__(self, X: Matrix, weights: np.ndarray | None = None):
        self.shape, self.dtype = X.shape, X.dtype
        weights = np.ones(X.shape[0]) if weights is None else weights
        self.root, self._centre = np.sqrt(weights), Centre(weights)
        self._X = X
        self._held: np.ndarray | None = None
        self._squares: np.ndarray | None = None
        if is_sparse(X):
            self._X = shifted(sp.csc_array(X, dtype=np.float64), weights)
            self._even = bool((weights == 1.0).all())
            self._scaled = self._X if self._even else sp.csc_array(self._X.multiply(self.root[:, None]))
            self._mean, self._squares = sparse_moments(self._X, weights)
        elif not isinstance(X, Source) and 8.0 * X.shape[0] * X.shape[1] <= _HELD * working_bytes():
            self._held = held = np.empty(X.shape)

            def work(part: slice) -> None:
                held[:, part] = self._centre(np.asarray(X[:, part], dtype=np.float64))

            for_each(work, self.blocks(), float(X.size))

    @property
    def sparse(self) -> sp.csc_array | None:
        """diag(√w) X, shifted, if X is sparse and in memory; it equals C up to a multiple of √w in every column."""
        return self._scaled if is_sparse(self._X) else None

    @property
    def mean(self) -> np.ndarray:
        """μ of the sparse columns."""
        return self._mean

    @property
    def in_memory(self) -> bool:
        return not isinstance(self._X, Source)

    def map(self, function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """``function(block)`` for all blocks of C, dense and in float64; the last axis of the result is the columns."""
        if self._held is not None:
            return map_columns(function, self._held)
        centre = self._centre
        return map_columns(lambda F: function(centre(F)), self._X)

    def squares(self) -> np.ndarray:
        """‖c_j‖², exactly 0 for a column that is constant where w > 0."""
        if self._squares is None:
            self._squares = self.map(column_squares)
        return self._squares

    @property
    def by_blocks(self) -> bool:
        """Whether C is in memory and products with dense blocks of it are the fastest."""
        n, m = self.shape
        sparse = self.sparse
        return self.in_memory and (sparse is None or sparse.nnz > _FILLED * n * m)

    def blocks(self, stop: int | None = None) -> list[slice]:
        """Blocks of the first ``stop`` columns, for products by :meth:`take` in threads."""
        n, m = self.shape
        width = int(max(1, min(_WIDTH, working_bytes() / (16 * 8 * max(n, 1)))))
        return batches(m if stop is None else stop, width)

    def project(self, V: np.ndarray, stop: int | None = None) -> np.ndarray:
        """V'C (b, m), or of the first ``stop`` columns."""
        m = self.shape[1] if stop is None else stop
        if self._held is not None:
            return V.T @ self._held[:, :m]
        if not self.in_memory:
            return self.map(lambda C: V.T @ C)[:, :m]
        along, off, sparse = np.empty((V.shape[1], m)), self.root @ V, self.sparse
        # For few vectors, filling the blocks would cost more than the product.
        few = sparse is not None and sparse.nnz * V.shape[1] < sparse.shape[0] * m * (1.0 + _FILLED * V.shape[1])

        def work(part: slice) -> None:
            if sparse is None or not few:
                along[:, part] = V.T @ self.take(part)
            else:
                along[:, part] = (column_view(sparse, part).T @ V).T - np.outer(off, self._mean[part])

        for_each(work, self.blocks(m), float(V.size) * m)
        return along

    def map_slabs(self, V: np.ndarray, function: Callable[[np.ndarray, slice], np.ndarray]) -> np.ndarray:
        """``function(V'C of a slab, its columns)`` in one pass over a source; the last axis is the columns."""
        centre, source = self._centre, self._X
        assert isinstance(source, Source)

        def work(part: Any, start: int) -> np.ndarray:
            along = map_columns(lambda F: V.T @ centre(F), part)
            return function(along, slice(start, start + along.shape[1]))

        return np.concatenate(source.map(work, positioned=True), axis=-1)

    def take(self, columns: np.ndarray | slice) -> np.ndarray:
        """Some columns of C."""
        if self._held is not None:
            return self._held[:, columns]
        if isinstance(columns, slice):
            return self._filled(columns) if self.sparse is not None else self._centre(take_columns(self._X, columns))
        step = max(1, int(slab_bytes() / (8 * self.shape[0]))) if isinstance(self._X, Source) else len(columns)
        parts = [columns[start : start + step] for start in range(0, len(columns), max(step, 1))]
        return np.hstack([self._centre(take_columns(self._X, part)) for part in parts])

    def _filled(self, columns: slice) -> np.ndarray:
        """Some sparse columns, filled in and centred by the means that are known."""
        assert self.sparse is not None
        filled = filled_block(self.sparse, columns)
        filled -= self._mean[columns] if self._even else np.outer(self.root, self._mean[columns])
        filled[:, self.squares()[columns] == 0.0] = 0.0
        return filled

    def feature_gram(self) -> np.ndarray | None:
        """C'C (m, m) if one product gives it: C is held, or stored values are faster than filled blocks; else None."""
        if self._held is not None:
            return self._held.T @ self._held
        X = self.sparse
        if X is None or not stored_products_pay(by_features := as_csr(X).T):
            return None
        gram = sparse_gram(X.T, by_features)
        # gram -= (√w'√w) μμ', in place
        return dger(-float(self.root @ self.root), self._mean, self._mean, a=gram.T, overwrite_a=1).T

    def mix(self, coefficients: np.ndarray) -> np.ndarray:
        """C B for an (m, b) array of coefficients, in memory."""
        if self.sparse is not None:
            return self.sparse @ coefficients - np.outer(self.root, self._mean @ coefficients)
        if self._held is not None:
            return self._held @ coefficients
        if not self.in_memory:
            raise TypeError("C is not in memory.")
        total = np.zeros((self.shape[0], coefficients.shape[1]))
        for part in self.blocks():
            total += self.take(part) @ coefficients[part]
        return total

    def gram(self) -> np.ndarray:
        """C C' (n, n)."""
        if self._held is not None:
            return self._held @ self._held.T
        if self.by_blocks:
            return sum_of_grams(map(self.take, self.blocks()), self.shape[0])
        if self.sparse is not None:
            product = sparse_gram(as_csr(self.sparse), self.sparse)
            off = np.outer(self.sparse @ self._mean, self.root)
            unit = self.root / (np.linalg.norm(self.root) or 1.0)
            product -= off + off.T - (self._mean @ self._mean) * np.outer(self.root, self.root)
            return without(unit, product)
        (n, _), centre = self.shape, self._centre
        step = max(1, int(working_bytes() / (32 * max(n, 1))))

        def summed(part: Any) -> np.ndarray:
            return sum_of_grams((centre(take_columns(part, some)) for some in batches(part.shape[1], step)), n)

        assert isinstance(self._X, Source)
        return self._X.sum(summed)


class Centre:
    """Function that centres and weights a block of columns; the result is dense, and exactly 0 for constants."""

    def __init__(self, weights: np.ndarray):
        self.weights, self.root = weights, np.sqrt(weights)
        self._even = bool((weights == 1.0).all())
        self._total, self._reference = float(weights.sum()) or 1.0, int(np.argmax(weights > 0))

    def __call__(self, F: Block) -> np.ndarray:
        if is_sparse(F):
            reference, shift = sparse_centre(F, self.weights)
            still = is_constant(F, self.weights > 0)
            centred = F.toarray(order="C")
            centred -= reference
            centred -= shift
            centred[:, still] = 0.0
        else:
            centred = F - F[self._reference]
            centred -= self.weights @ centred / self._total
        if not self._even:
            centred *= self.root[:, None]
        return centred


def without(unit: np.ndarray, A: np.ndarray) -> np.ndarray:
    """P A P with P = I - uu' for a symmetric A."""
    along = A @ unit
    A = A - np.outer(unit, along) - np.outer(along, unit)
    A += (unit @ along) * np.outer(unit, unit)
    return A


def column_squares(C: np.ndarray) -> np.ndarray:
    """‖c_j‖²."""
    return np.einsum("ij,ij->j", C, C)
