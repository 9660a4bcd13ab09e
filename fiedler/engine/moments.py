"""Weighted means and scatters of dense and sparse columns, for all rows or by groups of rows.

Columns are shifted by one of their values before summation, so that large offsets cost no digits and the scatter of a
constant is exactly zero. Sparse columns stay sparse: only the number and the weight of zeros are used.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..data.arrays import Block
from ..validation import is_sparse
from .compiled import as_block

_LITTLE = 1e-3  # if zeros have a smaller share of the weight, a sparse column is treated as dense


def sparse_centre(F: sp.csc_array, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The weighted mean of each column of a csc block, as a reference value plus a shift.

    The reference is 0. For columns whose zeros have hardly any weight it is a stored value, so that columns that are
    constant except for these zeros stay exact.
    """
    m, total = F.shape[1], float(weights.sum()) or 1.0
    columns = np.repeat(np.arange(m), np.diff(F.indptr))
    w = weights[F.indices]
    reference, shift = np.zeros(m), np.bincount(columns, w * F.data, m) / total
    for j in np.flatnonzero(total - np.bincount(columns, w, m) < _LITTLE * total):
        f = _filled(F, int(j))
        reference[j] = f[np.argmax(weights > 0)]
        shift[j] = weights @ (f - reference[j]) / total
    return reference, shift


def sparse_moments(F: sp.csc_array, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The weighted mean of each column of a csc block, and Σ_i w_i (f_i - mean)²."""
    m, total = F.shape[1], float(weights.sum()) or 1.0
    w, columns = weights[F.indices], np.repeat(np.arange(m), np.diff(F.indptr))
    reference, shift = sparse_centre(F, weights)
    mean = reference + shift
    stored = np.bincount(columns, w * (F.data - mean[columns]) ** 2, m)
    left = total - np.bincount(columns, w, m)  # the weight of the zeros
    mass = stored + left * mean**2
    for j in np.flatnonzero(left < _LITTLE * total):
        mass[j] = weights @ (_filled(F, int(j)) - reference[j] - shift[j]) ** 2
    return mean, mass


def shifted(X: sp.csc_array, weights: np.ndarray) -> sp.csc_array:
    """Columns whose zeros carry hardly any weight, shifted by the value they are centred around; all entries stored."""
    reference = sparse_centre(X, weights)[0]
    if not reference.any():
        return X
    stored = np.diff(X.indptr)
    whole = np.where(stored == X.shape[0], reference, 0.0)
    X = sp.csc_array((X.data - np.repeat(whole, stored), X.indices, X.indptr), shape=X.shape)
    parts, last = list[Any](), 0
    for j in np.flatnonzero(reference - whole).tolist():
        column = X[:, [j]].toarray() - reference[j]
        parts += [X[:, last:j], sp.csc_array(column)]
        last = j + 1
    return sp.csc_array(sp.hstack([*parts, X[:, last:]], format="csc"))


def _filled(F: sp.csc_array, j: int) -> np.ndarray:
    f, part = np.zeros(F.shape[0]), slice(F.indptr[j], F.indptr[j + 1])
    f[F.indices[part]] = F.data[part]
    return f


def group_moments(F: Block, Z: sp.csr_array, origin: Any = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Size (r,), mean and scatter (r, b) of each column of a block in the groups a of Z, weighted by z_ia.

    Groups may overlap. Means are relative to ``origin``, one value per column, by default the first row of F, so that
    their differences are exact at large offsets.
    """
    if is_sparse(F):
        return _sparse_group_moments(F, Z, origin)
    shifted = F - (F[0] if origin is None else origin)
    if not _overlap(Z):
        return _separate_group_moments(shifted, Z)
    sizes, mean = _group_means(shifted, Z)
    scatter = np.zeros_like(mean)
    for rows, groups, z in _layers(Z):
        pool = sp.csr_array((z, groups, np.arange(len(z) + 1)), shape=(len(z), len(mean))).T
        scatter += pool @ (shifted[rows] - mean[groups]) ** 2
    return sizes, mean, scatter


def pooled_moments(
    F: Block, Z: sp.csr_array, weights: np.ndarray, origin: Any = None, compiled: Any = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As group_moments, with one scatter for all groups, Σ_a weights_a scatter_a (b,), which is fast when compiled."""
    if compiled is None or is_sparse(F):
        sizes, mean, scatter = group_moments(F, Z, origin)
        return sizes, mean, weights @ scatter
    n, r = Z.shape
    # With the means below the rows of F, each entry of Z is an edge between a row and a mean.
    below = np.empty((n + r, F.shape[1]))
    np.subtract(F, F[0] if origin is None else origin, out=below[:n])
    sizes, below[n:] = _group_means(below[:n], Z)
    indptr, scatter = np.concatenate([Z.indptr, np.full(r, Z.indptr[-1])]), np.zeros(F.shape[1])
    compiled.edge_energy(as_block(below), indptr, Z.indices + n, Z.data * weights[Z.indices], scatter)
    return sizes, below[n:].copy(), scatter


def _group_means(F: np.ndarray, Z: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    if not _overlap(Z):
        return _separate_group_moments(F, Z, scatter=False)[:2]
    sizes = Z.sum(axis=0)
    return sizes, (Z.T @ F) / np.where(sizes > 0, sizes, 1.0)[:, None]


def _separate_group_moments(
    F: np.ndarray, Z: sp.csr_array, scatter: bool = True
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As group_moments, for disjoint groups; columns that are constant in a group have a scatter of exactly 0."""
    sizes, first = Z.sum(axis=0), np.zeros(Z.shape[1], dtype=np.intp)
    layer = next(_layers(Z), None)
    if layer is None:
        return sizes, F[first], np.zeros((Z.shape[1], F.shape[1]))
    rows, groups, z = layer
    first[groups[::-1]] = np.arange(Z.shape[0])[rows][::-1]
    pool = sp.csr_array((z, (groups, np.arange(len(z)))), shape=(Z.shape[1], len(z)))
    shifted = F[rows] - F[first][groups]
    shift = (pool @ shifted) / np.where(sizes > 0, sizes, 1.0)[:, None]
    if not scatter:
        return sizes, F[first] + shift, shifted[:0]
    shifted -= shift[groups]
    shifted *= shifted
    return sizes, F[first] + shift, pool @ shifted


def _overlap(Z: sp.csr_array) -> bool:
    return bool(np.diff(Z.indptr).max(initial=0) > 1)


def _layers(Z: sp.csr_array) -> Iterator[tuple[Any, np.ndarray, np.ndarray]]:
    """Layers of Z, the first entries of all rows, then the second entries, ...: (rows, groups, weights).

    A layer contains a row at most once, so that a layer needs one copy of F instead of one per entry.
    """
    counts = np.diff(Z.indptr)
    for p in range(counts.max(initial=0)):
        rows = np.flatnonzero(counts > p)
        entry = Z.indptr[rows] + p
        yield (slice(None) if len(rows) == Z.shape[0] else rows), Z.indices[entry], Z.data[entry]


def _sparse_group_moments(F: sp.csc_array, Z: sp.csr_array, origin: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n, m = F.shape
    r = Z.shape[1]
    sizes, members = Z.sum(axis=0), np.bincount(Z.indices, minlength=r)
    column, binary = np.repeat(np.arange(m), np.diff(F.indptr)), bool((Z.data == 1.0).all())

    def stored() -> Iterator[tuple[np.ndarray, np.ndarray, Any]]:
        """Layer by layer: the cell (group, column) of each stored value, the value and its weight."""
        for rows, groups, z in _layers(Z):
            group, weight = np.full(n, -1), np.zeros(n)
            group[rows], weight[rows] = groups, z
            inside = slice(None) if isinstance(rows, slice) else group[F.indices] >= 0
            at = F.indices[inside]
            yield group[at] * m + column[inside], F.data[inside], None if binary else weight[at]

    def weighted(values: np.ndarray, z: Any) -> np.ndarray:
        return values if binary else values * z

    # Only a single layer is stored; several layers would be several copies.
    entries = None if _overlap(Z) else list(stored())
    reference, shift, scatter, weight, count = np.zeros((5, r * m))
    for cell, values, z in entries or stored():
        reference[cell] = values  # any stored value of the cell is a valid reference
        count += np.bincount(cell, minlength=r * m)
        weight = count if binary else weight + np.bincount(cell, z, r * m)
    # The zeros have the remaining weight; it is exactly 0, without rounding error, if every member is stored.
    left = np.maximum(np.repeat(sizes, m) - weight, 0.0)
    zeros = np.where(count == np.repeat(members, m), 0.0, left)
    for cell, values, z in entries or stored():
        shift += np.bincount(cell, weighted(values - reference[cell], z), r * m)
    shift = (shift - zeros * reference) / np.repeat(np.where(sizes > 0, sizes, 1.0), m)
    for cell, values, z in entries or stored():
        scatter += np.bincount(cell, weighted((values - reference[cell] - shift[cell]) ** 2, z), r * m)
    scatter += zeros * (reference + shift) ** 2
    if origin is None:
        first = F.indices == 0
        origin = np.bincount(column[first], F.data[first], m)
    mean = (reference - np.tile(origin, r) + shift).reshape(r, m)
    mean[members == 0] = 0.0
    return sizes, mean, scatter.reshape(r, m)
