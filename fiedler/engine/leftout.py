"""Squared distances without some of the columns: the Gram matrix of all of them, less that of the ones left out.

    Σ_rest x_ic x_jc = Σ_all x_ic x_jc - Σ_left_out x_ic x_jc

Ten folds of the columns then cost two products instead of ten. The keys carry the rounding error of both, relative to
the norms of *all* columns, and the bound says so: neighbours are chosen on distances computed from the rest itself, and
are those the rest alone would give. Where the columns left out are so large that little is known of the rest, a search
gives these keys up, as it does all in single precision.
"""

from __future__ import annotations

import numpy as np

from .dense import DenseDistances
from .distances import CHUNK, budget, rounding_error


class AllColumns(DenseDistances):
    """Distances between the rows of X, ready to leave columns out; :meth:`of` makes them where that pays."""

    _all_products: np.ndarray

    @classmethod
    def of(cls, X: object) -> AllColumns | None:
        """Those of X if it is dense, so large that single precision pays, and n x n values can be held."""
        if not isinstance(X, np.ndarray) or X.shape[0] ** 2 > budget():
            return None
        made = cls(X)
        if not made.single:
            return None
        made._all_products = made._whole_gram()
        return made

    def without(self, columns: np.ndarray, rest: np.ndarray) -> DenseDistances:
        """The distances in ``rest``, which is X without some columns."""
        products = self._all_products.copy()
        for start in range(0, len(columns), CHUNK):
            part = columns[start : start + CHUNK]
            piece = self._X[:, part] if self._mean is None else self._X[:, part] - self._mean[part]
            piece = np.ascontiguousarray(piece, dtype=np.float32)
            products -= piece @ piece.T
        return LeftOut(rest, products, self._norms, self.m)


class LeftOut(DenseDistances):
    """Distances whose keys come from a difference of two Gram matrices."""

    def __init__(self, rest: np.ndarray, gram: np.ndarray, all_norms: np.ndarray, n_columns: int):
        super().__init__(rest)
        self._all_norms: np.ndarray | None = None
        if self.single:  # else there are so few columns left that their own product is as cheap, and better
            self._all_norms, self._error = all_norms, 2.0 * rounding_error(n_columns, CHUNK, single=True)
            self._keys = self._as_keys(np.arange(self.n), gram)

    def uncertainty(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if self._all_norms is None:
            return super().uncertainty(rows)
        bound = self._error / 2.0 * self._all_norms
        return bound[rows], bound
