"""Weighted means and scatters of columns, whole or by groups of rows, dense and sparse.

Columns are shifted by one of their own values before anything is summed, so that large offsets cost no digits and a
constant has a scatter of exactly zero. Sparse columns are never filled in: the zeros enter by their number and weight.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


def sparse_moments(F: sp.csc_array, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The weighted mean of each column of a csc block, and Σ_i w_i (f_i - mean)²."""
    m, total = F.shape[1], float(weights.sum()) or 1.0
    w, columns = weights[F.indices], np.repeat(np.arange(m), np.diff(F.indptr))
    mean = np.bincount(columns, w * F.data, m) / total
    stored = np.bincount(columns, w * (F.data - mean[columns]) ** 2, m)
    # The zeros carry what is left of the weight; none is left when every row with a weight is stored.
    full = np.bincount(columns, w > 0, m) == np.count_nonzero(weights)
    left = np.where(full, 0.0, total - np.bincount(columns, w, m))
    return mean, stored + left * mean**2


def group_moments(F: np.ndarray, Z: sp.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Size (r,), mean and scatter (r, b) of each column in the groups a of Z, weighted by z_ia.

    Means are relative to the first row of F.
    """
    Z = Z.tocoo()
    rows, groups, z = Z.row, Z.col, Z.data
    pool = sp.csr_array((z, (groups, np.arange(len(z)))), shape=(Z.shape[1], len(z)))
    sizes = pool.sum(axis=1)
    first = np.zeros(Z.shape[1], dtype=np.intp)
    first[groups[::-1]] = rows[::-1]
    F = F - F[0]
    shifted = F[rows] - F[first][groups]
    mean = (pool @ shifted) / np.where(sizes > 0, sizes, 1.0)[:, None]
    shifted -= mean[groups]
    return sizes, F[first] + mean, pool @ (shifted * shifted)


def sparse_group_moments(F: sp.csc_array, Z: sp.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same for a csc block and groups that do not overlap, Z being their 0/1 indicator."""
    r, m = Z.shape[1], F.shape[1]
    group = np.full(Z.shape[0], -1)
    group[Z.tocoo().row] = Z.tocoo().col
    sizes = np.bincount(group[group >= 0], minlength=r).astype(np.float64)
    inside = group[F.indices] >= 0
    columns = np.repeat(np.arange(m), np.diff(F.indptr))[inside]
    cell, values = group[F.indices[inside]] * m + columns, F.data[inside]

    def pooled(weights: Any = None) -> np.ndarray:
        return np.bincount(cell, weights, r * m)

    first = np.flatnonzero(F.indices == 0)
    origin = np.bincount(np.searchsorted(F.indptr, first, side="right") - 1, F.data[first], m)
    reference = np.zeros(r * m)
    reference[cell] = values  # any stored value of the cell will do
    zeros = np.repeat(sizes, m) - pooled()
    shift = (pooled(values - reference[cell]) - zeros * reference) / np.repeat(np.where(sizes > 0, sizes, 1.0), m)
    scatter = pooled((values - reference[cell] - shift[cell]) ** 2) + zeros * (reference + shift) ** 2
    return sizes, (reference - np.tile(origin, r) + shift).reshape(r, m), scatter.reshape(r, m)
