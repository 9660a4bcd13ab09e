"""Which columns agree with others: squared correlations summed over the other columns, their exact null, and rounds.

    q_j = Σ_{i≠j} w_i r_ij² = z_j'A z_j / n - w_j,      A = Z diag(w) Z' / n,   Z: standardised columns,   Σw = 1

Under H₀ the values of column j come in any order. Mean and variance of q_j are then those of the quadratic form of A
without column j, and are exact; the skewness is that of the whole A; the tail is never below the normal one.

    round 1      w = 1. Where no column has a q-value of at most 0.1, every column is kept.
    round 2      w = z₊, z-scores of round 1. They have seen r_ij, and the mean of q_j gains what that adds.
    rounds 3..6  w = 1 - lfdr where lfdr <= 0.1, else 0: doubtful columns would support each other; until w is the same
    kept         lfdr <= 0.1; all columns where these are fewer than two

The local false discovery rate is lfdr = min(1, π₀ / f(p)) with Grenander's density f of the p-values and Storey's π₀.
A is held over at most 4,096 rows, a random sample if there are more.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import ndtr
from sklearn.isotonic import isotonic_regression

from ..data.arrays import Block, Matrix, as_csr, dense, rows_of
from ..data.memory import working_bytes
from ..data.source import Source
from ..data.work import counting
from ..validation import is_sparse
from .blocks import map_columns
from .moments import shifted
from .permuted import (
    Form,
    Invariants,
    Standard,
    WeightSums,
    adjusted,
    invariants,
    moments,
    pearson_tail,
    standards,
    variance,
)
from .products import check_range, sparse_gram, sum_of_grams
from .threads import batches, one_blas_thread

GATE = 0.1  # the largest q-value of round 1 that lets the rounds begin
KEPT = 0.1  # the largest local false discovery rate of a column that is kept
_LAST_ROUND, _SAME = 6, 0.999  # rounds, and the cosine between two weights that ends them
_FEWEST_ROWS, _FEWEST_COLUMNS = 6, 3  # that a third moment needs, and a column beside two others
_MOST_ROWS = 4096  # A takes 128 MiB then; a correlation of .1 has a z-score of 6
_COLUMNS_AT_ONCE = 2048
_DEGENERATE = 1e-9  # variance, relative to that of a typical column, below which every order gives the same sum
_TINY = 1e-290  # the least p-value that a density is asked for


class Agreed(NamedTuple):
    """What the rounds found about every column.

    Attributes
    ----------
    posterior : ndarray of shape (m,)
        1 - lfdr: how likely the column agrees with others. NaN for a constant column.
    pvalues : ndarray of shape (m,)
        Those of the last round; NaN for a constant column.
    kept : ndarray of bool, shape (m,)
    n_rounds : int
        0 if there are too few rows or columns for a test.
    """

    posterior: np.ndarray
    pvalues: np.ndarray
    kept: np.ndarray
    n_rounds: int


def agreeing(X: Matrix) -> Agreed:
    """Which columns of X agree with others."""
    with counting("rounds of agreement", _LAST_ROUND) as count:
        return _agreeing(_sampled(X), count)


def _agreeing(X: Matrix, count: Callable[[], Any]) -> Agreed:
    standard = _standards(X)
    look, (n, m) = partial(_look, X, standard), X.shape
    varying = standard.scale > 0
    kept, nothing = np.ones(m, dtype=bool), np.full(m, np.nan)
    if n < _FEWEST_ROWS or varying.sum() < _FEWEST_COLUMNS:
        return Agreed(nothing, nothing, kept, 0)
    w = varying / varying.sum()
    first = _tested(look(w), w, standard, n)
    count()
    if not np.nanmin(adjusted(first.p)) <= GATE:
        return Agreed(1.0 - local_fdr(first.p), first.p, kept, 1)
    p, w = first.p, np.where(first.z > 0, first.z, 0.0)
    total, n_rounds = w.sum(), 2
    gain = _seen(np.where(w > 0, 1.0 / first.spread, 0.0) / (varying.sum() * total), standard, n)
    w = w / total
    p = _tested(look(w), w, standard, n, gain).p
    while True:
        count()
        posterior = 1.0 - local_fdr(p)
        again = np.where(varying & (posterior >= 1.0 - KEPT), posterior, 0.0)
        length = np.linalg.norm(again)
        if n_rounds == _LAST_ROUND or length == 0.0 or again @ w > _SAME * length * np.linalg.norm(w):
            break
        w = again / again.sum()
        p, n_rounds = _tested(look(w), w, standard, n).p, n_rounds + 1
    agree = posterior >= 1.0 - KEPT
    return Agreed(posterior, p, agree if agree.sum() >= 2 else kept, n_rounds)


def share_alone(X: Matrix) -> float:
    """The estimated share of columns that agree with no other, by the first round; 0 if it cannot be tested."""
    standard = _standards(X)
    varying = standard.scale > 0
    if X.shape[0] < _FEWEST_ROWS or varying.sum() < _FEWEST_COLUMNS:
        return 0.0
    w = varying / varying.sum()
    with one_blas_thread(0.0):  # threads of BLAS that have just worked would slow down the search that follows
        look = _look(X, standard, w)
    return _null_share(_tested(look, w, standard, X.shape[0]).p[varying])


# -------------------------------------------------------------------- p-values and what they say


class Look(NamedTuple):
    """What one weighting gives: per column q_j and Σ_i a_i z_ij², of A tr A², Σ a_i² and the invariants."""

    q: np.ndarray
    along: np.ndarray
    square: float
    diagonal_square: float
    of: Invariants


class Outcome(NamedTuple):
    """p-value, z-score and null standard deviation of each column, NaN where it is constant."""

    p: np.ndarray
    z: np.ndarray
    spread: np.ndarray


def _tested(look: Look, w: np.ndarray, standard: Standard, n: int, gain: np.ndarray | float = 0.0) -> Outcome:
    q, s3, s4, s6 = look.q, *standard[3:]
    trace = 1.0 - w  # of A without the column
    square = look.square - 2 * w * (q + w) + w * w - trace**2 / (n - 1)
    diagonal = look.diagonal_square - (2 * w / n) * look.along + w * w * s4 / n**2 - trace**2 / n
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.sqrt(variance(square, diagonal, n, s4)) / n
        z = (q - trace / (n - 1) - gain) / spread
        _, whole, third = moments(look.of, n, s3, s4, s6)
        p = np.maximum(pearson_tail(-z, -third / whole**1.5), ndtr(-z))
        flat = ~((n * spread) ** 2 > _DEGENERATE * (2 * square + diagonal))
    still = standard.scale == 0
    p, z = np.where(flat, 1.0, p), np.where(flat, 0.0, z)
    return Outcome(*(np.where(still, np.nan, values) for values in (p, z, spread)))


def _seen(c: np.ndarray, standard: Standard, n: int) -> np.ndarray:
    """Σ_{i≠j} c_i Var₀(r_ij²), by which weights with the slope c in r_ij² raise the mean of q_j."""
    c, s4 = np.where(standard.scale > 0, c, 0.0), np.nan_to_num(standard.s4)
    square, diagonal = 1.0 - 1.0 / (n - 1), s4 / n**2 - 1.0 / n  # of z_i z_i' / n
    others = c.sum() - c, c @ diagonal - c * diagonal
    return variance(square * others[0], others[1], n, standard.s4) / n**2


def local_fdr(p: np.ndarray) -> np.ndarray:
    """The local false discovery rate of each p-value; NaN stays NaN and is not counted.

    Examples
    --------
    >>> import numpy as np
    >>> from fiedler.engine.agreement import local_fdr
    >>> local_fdr(np.array([1e-6, 1e-4, 0.2, 0.4, np.nan, 0.6, 0.9])).round(3)
    array([0. , 0. , 0.8, 0.8, nan, 0.8, 1. ])
    """
    lfdr, known = np.full(len(p), np.nan), np.flatnonzero(~np.isnan(p))
    at, place, count = np.unique(np.maximum(p[known], _TINY), return_inverse=True, return_counts=True)
    width = np.diff(at, prepend=0.0)
    density = isotonic_regression(count / (len(known) * width), sample_weight=width, increasing=False)
    lfdr[known] = np.minimum(1.0, _null_share(p[known]) / density[place])
    return lfdr


def _null_share(p: np.ndarray) -> float:
    return min(1.0, float(np.mean(p > 0.5)) / 0.5)


# -------------------------------------------------------------------- A over the rows


def _sampled(X: Matrix) -> Matrix:
    """X, or a sample of its rows: A is held over them. In memory if it fits, and dense if that is no larger than A."""
    n, m = X.shape
    most = max(_FEWEST_ROWS, min(_MOST_ROWS, int(np.sqrt(working_bytes() / 8.0))))
    X = rows_of(X, random_places(n, most)) if n > most else X
    if isinstance(X, Source) and 8.0 * X.size <= working_bytes() / 2:
        X = X[:, :]  # type: ignore[assignment]  # an array
    if is_sparse(X):
        return X.toarray() if m <= X.shape[0] else sp.csc_array(X, dtype=np.float64)
    return X


def random_places(length: int, most: int) -> np.ndarray:
    """At most that many numbers below ``length``, drawn at random but always the same, in ascending order."""
    if length <= most:
        return np.arange(length)
    return np.sort(np.random.default_rng(0).choice(length, most, replace=False))


def _standards(X: Matrix) -> Standard:
    """How the columns are standardised."""
    standard = Standard(*map_columns(lambda F: np.array(standards(F)), X))
    check_range(X, np.flatnonzero(~np.isfinite(standard.scale)))
    return standard


def _look(X: Matrix, standard: Standard, w: np.ndarray) -> Look:
    """What the columns with these weights say about every column."""
    root, n, used = np.sqrt(w), X.shape[0], np.flatnonzero(w)

    def summed(part: Any, start: int) -> np.ndarray:
        here = slice(start, start + part.shape[1])
        return _summed(part, _part(standard, here), root[here])

    A = X.sum(summed, positioned=True) if isinstance(X, Source) else summed(X, 0)  # Z diag(w) Z'
    A /= n
    a = A.diagonal().copy()

    def forms(part: Any, start: int) -> np.ndarray:
        here = lambda at: _part(standard, slice(start + at.start, start + at.stop))  # noqa: E731
        return map_columns(lambda F, at: _quadratic(F, here(at), A, a), part, n / 4.0, numbered=True)  # 2n, by BLAS

    parts = X.map(forms, positioned=True) if isinstance(X, Source) else [forms(X, 0)]
    quadratic, along = np.concatenate(parts, axis=-1)
    row_squares, cubed = np.einsum("ij,ij->i", A, A), A
    if len(used) < n and not isinstance(X, Source):  # tr A³ is also that of the weighted correlations
        Z = standardised(dense(X[:, used]), _part(standard, used)) * root[used]
        cubed = Z.T @ Z / n
    with one_blas_thread(float(len(cubed)) ** 3):
        cubes, triangles = np.vdot(A * A, A), np.vdot(cubed @ cubed, cubed)
    of = _invariants(a, row_squares, float(cubes), float(triangles), lambda v: A @ v)
    return Look(quadratic / n - w, along, float(row_squares.sum()), float(a @ a), of)


def standardised(F: np.ndarray, standard: Standard) -> np.ndarray:
    """A dense block of columns, centred and scaled to Σf² = n; a constant column is 0."""
    Z = F - standard.reference
    Z -= standard.shift
    Z *= _inverse(standard)
    return Z


def _inverse(standard: Standard) -> np.ndarray:
    scale = standard.scale
    return np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)


def _part(standard: Standard, columns: Any) -> Standard:
    return Standard(*(values[columns] for values in standard))


def _summed(X: Any, standard: Standard, root: np.ndarray) -> np.ndarray:
    """Z diag(w) Z' of columns in memory; sparse ones are centred afterwards, over the rows."""
    n = X.shape[0]
    if is_sparse(X):
        scaled = sp.csc_array(
            shifted(sp.csc_array(X, dtype=np.float64), np.ones(n)).multiply(root * _inverse(standard))
        )
        scaled.sort_indices()
        A = sparse_gram(as_csr(scaled), scaled)
        A -= A.mean(axis=0)
        A -= A.mean(axis=1)[:, None]
        return A
    used, step = np.flatnonzero(root), max(1, min(_COLUMNS_AT_ONCE, int(working_bytes() / (64 * n))))
    parts = (used[part] for part in batches(len(used), step))
    with one_blas_thread(float(n) * n * len(used)):
        return sum_of_grams((standardised(X[:, some], _part(standard, some)) * root[some] for some in parts), n)


def _quadratic(F: Block, standard: Standard, A: np.ndarray, a: np.ndarray) -> np.ndarray:
    """z'Az and Σ_i a_i z_i² of each column."""
    if is_sparse(F):
        F, inverse, mean = shifted(F, np.ones(F.shape[0])), _inverse(standard), standard.shift
        m = F.shape[1]
        column = np.repeat(np.arange(m), np.diff(F.indptr))
        products = (F.T @ A)[column, F.indices]  # A1 = 0, so that the mean drops out
        linear, square = (np.bincount(column, a[F.indices] * F.data**k, m) for k in (1, 2))
        along = square - 2 * mean * linear + mean**2 * a.sum()
        return np.array([np.bincount(column, F.data * products, m), along]) * inverse**2
    Z = standardised(F, standard)
    return np.array([np.einsum("ij,ij->j", Z, A @ Z), np.einsum("i,ij,ij->j", a, Z, Z)])


def _invariants(
    a: np.ndarray, row_squares: np.ndarray, cubes: float, triangles: float, dot: Callable[[np.ndarray], np.ndarray]
) -> Invariants:
    """The invariants of A itself, which is a graph with W = -A and without degrees."""
    nothing, none = np.zeros(len(a)), np.zeros((len(a), 0))
    W = WeightSums(lambda V: -dot(V), lambda V: V, nothing, -a, row_squares, -cubes, -triangles)
    return invariants(Form(W, nothing, none, none[0]))
