"""Quadratic forms f'Af over all orders of the values of f: exact moments, their tail, and q-values of many tests.

Mean, variance and third moment follow from s_k = Σ_i f_i^k of the centred feature and from seven invariants of A. The
tail is that of the Pearson III distribution (a shifted gamma) with these moments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import gammainc, gammaincc, ndtr

from ..data.arrays import Block
from ..validation import is_sparse
from .moments import sparse_centre

_NORMAL = 1e-6  # skewness below which a Pearson III distribution is a normal one

# -------------------------------------------------------------------- the matrix


class WeightSums(NamedTuple):
    """W as the null sees it.

    Attributes
    ----------
    dot, square_dot : callable
        V -> W V, and V -> (W∘W) V.
    degree, diagonal, squares : ndarray of shape (n,)
        W1, w_ii, and (W∘W) 1.
    cubes, triangles : float
        Σ_ij w_ij³ and tr W³.
    """

    dot: Callable[[np.ndarray], np.ndarray]
    square_dot: Callable[[np.ndarray], np.ndarray]
    degree: np.ndarray
    diagonal: np.ndarray
    squares: np.ndarray
    cubes: float
    triangles: float


class Form(NamedTuple):
    """The form f'Af with a symmetric A = diag(shift) - W + M diag(t) M' with A1 = 0: sparse plus a few columns.

    Attributes
    ----------
    W : WeightSums
        The sums over the entries of W.
    shift : ndarray of shape (n,)
        What is added on the diagonal.
    M : ndarray of shape (n, q)
        The columns.
    t : ndarray of shape (q,)
        Their factors.
    """

    W: WeightSums
    shift: np.ndarray
    M: np.ndarray
    t: np.ndarray

    def dot(self, V: np.ndarray) -> np.ndarray:
        """A V."""
        return self.shift[:, None] * V - self.W.dot(V) + self.M @ (self.t[:, None] * (self.M.T @ V))


class Invariants(NamedTuple):
    """What the moments of f'Af read off a symmetric A with A1 = 0, for A' = A - τ (I - 11'/n) with trace 0.

    ``trace`` is that of A itself; ``square`` and ``cube`` are tr A'², tr A'³; with a' = diag A', centred,
    ``diagonal_square`` and ``diagonal_cube`` are Σ a'², Σ a'³, ``mixed`` is Σ a'_i (A'²)_ii, and ``entries`` is
    3 a''A'a' + 2 Σ_ij a'_ij³.
    """

    trace: np.ndarray
    square: np.ndarray
    cube: np.ndarray
    diagonal_square: np.ndarray
    diagonal_cube: np.ndarray
    mixed: np.ndarray
    entries: np.ndarray


def invariants(A: Form) -> Invariants:
    """The invariants of A = S + P, S = diag(shift) - W, P = M diag(t) M'."""
    W, shift, M, t = A
    n, w, columns = float(len(shift)), W.diagonal, range(len(t))
    SM = shift[:, None] * M - W.dot(M) if len(t) else M
    scaled, tG, inner = M * t, t[:, None] * (M.T @ M), M.T @ SM
    low = np.einsum("iq,iq->i", scaled, M)  # diag P
    squared = W.squares - 2 * shift * w + shift**2  # (S²)_ii = Σ_j s_ij²
    squared = squared + 2 * np.einsum("iq,iq->i", scaled, SM) + np.einsum("iq,iq->i", scaled @ (M.T @ M), scaled)
    cube = np.sum(shift**3 - 3 * shift**2 * w + 3 * shift * W.squares) - W.triangles  # tr S³
    cube += 3 * t @ np.einsum("iq,iq->q", SM, SM) + 3 * np.sum(tG * (inner * t)) + np.trace(tG @ tG @ tG)
    entries = np.sum(shift**3 - 3 * shift**2 * w + 3 * shift * w**2) - W.cubes  # Σ s_ij³
    if len(t):  # 3 Σ s_ij² p_ij
        entries += 3 * np.sum(scaled * (W.square_dot(M) + (shift**2 - 2 * shift * w)[:, None] * M))
    for k in columns:  # 3 Σ s_ij p_ij² + Σ p_ij³
        both = M * M[:, [k]]
        entries += 3 * t[k] * t @ np.einsum("iq,iq->q", both, shift[:, None] * both - W.dot(both))
        entries += t[k] * t @ (both.T @ M) ** 2 @ t

    a = shift - w + low
    trace, square = a.sum(), squared.sum()
    tau, centred = trace / (n - 1), a - trace / n
    square0 = square - tau * trace
    cube0 = cube - 3 * tau * square + 3 * tau**2 * trace - tau**3 * (n - 1)
    mixed = centred @ (squared - 2 * tau * a + tau**2 * (1 - 1 / n))
    quadratic = centred @ A.dot(centred[:, None])[:, 0] - tau * (centred @ centred)
    entries0 = entries - 3 * tau * (a @ a - square / n) + 3 * tau**2 * trace * (1 - 2 / n)
    entries0 -= tau**3 * (n * (1 - 1 / n) ** 3 - (n - 1) / n**2)
    of_diagonal = centred @ centred, np.sum(centred**3)
    return Invariants(trace, square0, cube0, *of_diagonal, mixed, 3 * quadratic + 2 * entries0)


def moments(
    of: Invariants, n_rows: int, s3: np.ndarray, s4: np.ndarray, s6: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, variance and third central moment of f'Af over all orders of features with Σf² = n."""
    n = float(n_rows)
    a, b, c = n**3, n * s4, s3 * s3  # s2³, s2 s4, s3²
    u, v, w = n * n - 5 * n + 10, 3 * n * n - 15 * n + 20, 2 * n**3 - 5 * n * n - 5 * n + 20
    c1 = (n - 2) * ((n * n - 7 * n + 15) * a - 3 * u * b) - 2 * v * c + 2 * n * (n - 1) * (n - 2) * s6
    c2 = -9 * (n - 2) * u * a + 3 * (n**4 - 10 * n * n + 45 * n - 60) * b + 6 * w * c
    c2 -= 3 * n * (n - 1) ** 2 * (n + 4) * s6
    c3 = -6 * v * a + 6 * w * b + 2 * (n**4 - 8 * n**3 + 25 * n * n - 10 * n - 40) * c
    c3 -= 2 * n * (n - 1) * (n * n - n + 4) * s6
    c4 = 5 * n * (n - 1) * (6 * (n - 2) * a - 3 * (n - 1) * (n + 4) * b - 2 * (n * n - n + 4) * c)
    c4 += n * n * (n + 1) * (n * n + 15 * n - 4) * s6
    third = 8 * of.cube * c1 + 4 * of.mixed * c2 + of.entries * c3 + of.diagonal_cube * c4
    six = n * (n - 1) * (n - 2) * (n - 3) * (n - 4) * (n - 5)
    return of.trace * n / (n - 1), variance(of.square, of.diagonal_square, n_rows, s4), third / six


def variance(square: Any, diagonal_square: Any, n_rows: int, s4: np.ndarray) -> np.ndarray:
    """The variance of f'Af over all orders of features with Σf² = n, linear in two invariants of A."""
    n = float(n_rows)
    total = 2 * square * ((n * n - 3 * n + 3) * n * n - n * (n - 1) * s4)
    total += n * diagonal_square * (n * (n + 1) * s4 - 3 * (n - 1) * n * n)
    return total / (n * (n - 1) * (n - 2) * (n - 3))


# -------------------------------------------------------------------- the feature


class Standard(NamedTuple):
    """How columns are brought to mean 0 and Σf² = n, f = ((x - reference) - shift) / scale, and Σf³, Σf⁴, Σf⁶ then.

    A constant column has the scale 0 and the sums NaN.
    """

    reference: np.ndarray
    shift: np.ndarray
    scale: np.ndarray
    s3: np.ndarray
    s4: np.ndarray
    s6: np.ndarray


def standards(F: Block, rows: np.ndarray | None = None) -> Standard:
    """How each column of a block is standardised, on the rows of a mask; zeros of sparse columns are not filled in."""
    if rows is not None and not rows.all():
        nodes = np.flatnonzero(rows)
        F = sp.csc_array(F.tocsr()[nodes]) if is_sparse(F) else F[nodes]
    with np.errstate(divide="ignore", invalid="ignore"):  # a constant column is 0 / 0
        if is_sparse(F):
            return _sparse_standards(F)
        reference = F[0].copy()
        f = F - reference  # relative to one sample the mean is exact at large offsets
        shift = f.mean(axis=0)
        f -= shift
        largest = np.abs(f).max(axis=0)
        f /= largest  # so that no power overflows
        spread = np.sqrt(np.mean(f * f, axis=0))
        f /= spread
        square = f * f
        s3, s4 = np.einsum("ij,ij->j", square, f), np.einsum("ij,ij->j", square, square)
        s6 = np.einsum("ij,ij,ij->j", square, square, square)
        return Standard(reference, shift, _scale(largest, spread), s3, s4, s6)


def _sparse_standards(F: sp.csc_array) -> Standard:
    n, m = F.shape
    stored = np.diff(F.indptr)
    column, zeros = np.repeat(np.arange(m), stored), n - stored
    reference, shift = sparse_centre(F, np.ones(n))
    largest = abs(F).max(axis=0).toarray().ravel()
    value, at_zero = ((F.data - reference[column]) - shift[column]) / largest[column], -(reference + shift) / largest
    spread = np.sqrt((np.bincount(column, value**2, m) + zeros * at_zero**2) / n)
    value, at_zero = value / spread[column], at_zero / spread
    square = value * value
    cube, fourth = square * value, square * square  # products, because powers above 2 are slow

    def total(power: np.ndarray, k: int) -> np.ndarray:
        return np.bincount(column, power, m) + zeros * at_zero**k

    sums = total(cube, 3), total(fourth, 4), total(fourth * square, 6)
    return Standard(reference, shift, _scale(largest, spread), *sums)


def _scale(largest: np.ndarray, spread: np.ndarray) -> np.ndarray:
    return np.where(largest > 0, largest * spread, 0.0)


# -------------------------------------------------------------------- the tail


def pearson_tail(z: np.ndarray, skewness: np.ndarray) -> np.ndarray:
    """P(Z <= z) of the Pearson III distribution with mean 0, variance 1 and a skewness.

    Examples
    --------
    >>> from fiedler.engine.permuted import pearson_tail
    >>> pearson_tail([-2.0, -2.0, -2.0], [-1.0, 0.0, 1.0]).round(4)
    array([0.0424, 0.0228, 0.    ])
    """
    z, skewness = np.asarray(z, dtype=np.float64), np.asarray(skewness, dtype=np.float64)
    normal = np.abs(skewness) < _NORMAL
    shape = 4.0 / np.where(normal, 1.0, skewness) ** 2
    # With a positive skewness Z is a gamma variable, centred and scaled; with a negative one its mirror image.
    away = np.maximum(shape + np.sign(skewness) * z * np.sqrt(shape), 0.0)
    gamma = np.where(skewness > 0, gammainc(shape, away), gammaincc(shape, away))
    return np.where(np.isnan(z + skewness), np.nan, np.where(normal, ndtr(z), gamma))


def adjusted(p: np.ndarray, correction: str = "bh") -> np.ndarray:
    """q-values by Benjamini and Hochberg, or by Benjamini and Yekutieli; NaN stays NaN and is not counted.

    Examples
    --------
    >>> import numpy as np
    >>> from fiedler.engine.permuted import adjusted
    >>> adjusted(np.array([0.01, 0.5, np.nan, 0.02]))
    array([0.03, 0.5 ,  nan, 0.03])
    """
    order = np.argsort(p)[: np.count_nonzero(~np.isnan(p))]  # NaN sorts last
    m = len(order)
    rank = np.arange(1, m + 1)
    scaled = p[order] * m / rank * (np.sum(1.0 / rank) if correction == "by" else 1.0)
    q = np.full(len(p), np.nan)
    q[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return q
