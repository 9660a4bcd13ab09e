"""The permutation null distribution in closed form: is a feature smoother on a graph than its permuted values?

    P(R <= r) = P(Q <= 0),   R = f'Lf / f̃'D f̃,   Q = f'A f,   A = L - r (D - dd'/V)          V = Σ_i d_i

The probability is over all permutations of the values of f on the n active nodes. For a quotient f'L₁f / f'L₂f,
A = L₁ - r L₂. Mean, variance and third moment of Q are exact. They follow from s_k = Σ_i f_i^k of the centred feature
and from seven invariants of A. Each invariant is cubic in r, so that four values of r give it for all features. The
tail is that of the Pearson III distribution (a shifted gamma distribution) with these moments.

The graph must not be built from the feature; otherwise even noise looks significant.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import gammainc, gammaincc, ndtr

from ..data.arrays import Block
from ..engine.blocks import is_constant
from ..engine.moments import sparse_centre
from ..graphs import Graph
from ..validation import is_sparse
from .weights import WeightSums, mixed, summed, weights_between

_DEGENERATE = 1e-9  # with a smaller relative variance, all permutations give the same quotient
_NORMAL = 1e-6  # with a smaller skewness, the normal distribution is used
_FEWEST = 6  # smallest number of nodes for a third moment


class Verdict(NamedTuple):
    """The test results for the columns of a block.

    Attributes
    ----------
    p : ndarray
        Probability of a quotient at least as small as that of the feature.
    z : ndarray
        Number of standard deviations from the mean, negative if the quotient is smaller.
    effect : ndarray
        Effect size 1 - r / r₀, where r₀ is the quotient at which Q is 0 on average; 1 for a feature that is constant
        on each component.
    rarer : ndarray
        Number of rows with the rarer value of a column with two values, else inf.
    skewness : ndarray
        Skewness of Q at the null mean. If it is large, the maximum of the two tails is much too large. 0 without a
        closed form.
    """

    p: np.ndarray
    z: np.ndarray
    effect: np.ndarray
    rarer: np.ndarray
    skewness: np.ndarray


class Null(ABC):
    """The null distribution of a quotient of energies, for any number of features.

    Parameters
    ----------
    rows : ndarray of bool
        The nodes whose values are permuted.
    matrix : callable
        t in [0, last] -> the invariants of A.
    last : float
    """

    normal_too: bool  # whether p is bounded below by the p-value of the normal distribution
    centre: float  # t of the null mean

    def __init__(self, rows: np.ndarray, matrix: Callable[[float], Invariants], last: float):
        self.rows, self.n = rows, int(np.count_nonzero(rows))
        if self.n < _FEWEST:
            raise ValueError(f"the permutation null needs {_FEWEST} active nodes, but the graph has {self.n}.")
        at = np.linspace(0.0, last, 4)
        values = np.array([matrix(float(t)) for t in at])
        self._cubic = np.linalg.solve(np.vander(at, 4), values)
        self._traces = float(values[0, 0]), float(values[-1, 0])

    @abstractmethod
    def quotient(self, F: Block) -> tuple[np.ndarray, np.ndarray]:
        """The parameter t of each column, and its quotient in units of the null mean."""

    def __call__(self, F: Block) -> Verdict:
        with np.errstate(divide="ignore", invalid="ignore"):  # constants and degenerate graphs give 0 / 0
            t, share = self.quotient(F)
            t = np.where(is_constant(F, self.rows), np.nan, t)
            sums = standard_sums(F, self.rows)
            mean, variance, third = self.moments(t, *sums)
            z = -mean / np.sqrt(variance)
            p = pearson_tail(z, third / variance**1.5)
            _, spread, lean = self.moments(np.full(len(t), self.centre), *sums)
            skewness = lean / spread**1.5
        p = np.maximum(p, ndtr(z)) if self.normal_too else p
        flat = variance <= _DEGENERATE * self._spread(t)
        p, z = np.where(flat, 1.0, p), np.where(flat, 0.0, z)
        effect = np.where(np.isnan(t), np.nan, 1.0 - share)
        return Verdict(p, z, effect, rarer_value(*sums[:2], self.n), skewness)

    def invariants(self, t: np.ndarray) -> Invariants:
        """The invariants of A at each t."""
        cubed, squared, linear, constant = self._cubic[:, :, None]
        return Invariants(*(((cubed * t + squared) * t + linear) * t + constant))

    def moments(self, t: np.ndarray, s3: np.ndarray, s4: np.ndarray, s6: np.ndarray) -> tuple[np.ndarray, ...]:
        """Mean, variance and third central moment of Q over all permutations of features with Σf² = n."""
        of, n = self.invariants(t), float(self.n)
        mean = of.trace * n / (n - 1)
        q4 = n * (n - 1) * (n - 2) * (n - 3)
        variance = 2 * of.square * ((n * n - 3 * n + 3) * n * n - n * (n - 1) * s4)
        variance += n * of.diagonal_square * (n * (n + 1) * s4 - 3 * (n - 1) * n * n)
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
        return mean, variance / q4, third / (q4 * (n - 4) * (n - 5))

    def _spread(self, t: np.ndarray) -> np.ndarray:
        of = self.invariants(t)
        return 2 * of.square + of.diagonal_square


class RayleighNull(Null):
    """The null distribution of f'Lf / f̃'D f̃ on one graph; p is at least the normal p-value, which fits the far tail.

    Examples
    --------
    >>> import numpy as np
    >>> from fiedler import KNN
    >>> from fiedler.significance.closed_form import RayleighNull
    >>> rng = np.random.default_rng(0)
    >>> graph = KNN().build(rng.normal(size=(60, 2)) + np.repeat([[0.0], [9.0]], 30, axis=0))
    >>> F = np.column_stack([np.repeat([0.0, 1.0], 30), rng.normal(size=60)])
    >>> RayleighNull(graph)(F).p < 0.05
    array([ True, False])
    """

    normal_too = True

    def __init__(self, graph: Graph):
        nodes = np.flatnonzero(graph.active)
        scale = len(nodes) / (graph.volume or 1.0)  # mean degree 1
        d = graph.degree[nodes] * scale
        W = summed(weights_between(graph, nodes, scale), d)

        def matrix(r: float) -> Invariants:
            return invariants(W, W.degree - r * d, r / (d.sum() or 1.0), d)

        self._graph = graph
        super().__init__(graph.active, matrix, 2.0)
        at_zero, at_two = self._traces
        self.centre = 2.0 * at_zero / (at_zero - at_two)

    def quotient(self, F: Block) -> tuple[np.ndarray, np.ndarray]:
        r = self._graph.energy(F) / self._graph.mass(F)
        return r, r / self.centre


class RatioNull(Null):
    """The null distribution of f'L₁f / f'L₂f on two graphs, scaled to mean degree 1.

    The quotient has no upper bound, so A = (1 - t) L₁ - t L₂ with t = r / (1 + r).
    """

    normal_too = False

    def __init__(self, above: Graph, below: Graph):
        active = above.active | below.active
        nodes = np.flatnonzero(active)
        scales = [len(nodes) / (graph.volume or 1.0) for graph in (above, below)]
        first, second = (weights_between(g, nodes, s) for g, s in zip((above, below), scales, strict=True))
        zero = np.zeros(len(nodes))

        def matrix(t: float) -> Invariants:
            W = summed(mixed(first, second, t), zero)
            return invariants(W, W.degree, 0.0, zero)

        self._graphs, self._scale = (above, below), scales[0] / scales[1]
        super().__init__(active, matrix, 1.0)
        at_zero, at_one = self._traces
        self._null_mean = -at_zero / at_one
        self.centre = self._null_mean / (1.0 + self._null_mean)

    def quotient(self, F: Block) -> tuple[np.ndarray, np.ndarray]:
        above, below = (graph.energy(F) for graph in self._graphs)
        above = above * self._scale
        return above / (above + below), above / below / self._null_mean


# -------------------------------------------------------------------- the matrix


class Invariants(NamedTuple):
    """The invariants of a symmetric A with A1 = 0 in the moments of f'Af, for A' = A - τ (I - 11'/n) with trace 0.

    ``trace`` is the trace of A; ``square`` and ``cube`` are tr A'², tr A'³; with a' = diag A', centred,
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


def invariants(W: WeightSums, shift: np.ndarray, e: float, d: np.ndarray) -> Invariants:
    """The invariants of A = B + e dd', B = diag(shift) - W."""
    n, w = float(len(d)), W.diagonal
    p2, Bd = d @ d, shift * d - W.dot(d)
    dBd = d @ Bd
    row_squares = W.squares[:, 0] - 2 * shift * w + shift**2  # Σ_j b_ij²
    weighted_squares = d @ (W.squares[:, 1] + (shift - 2 * w) * shift * d)  # d'(B∘B)d
    cubes = np.sum(shift**3 - 3 * shift**2 * w + 3 * shift * w**2) - W.cubes  # Σ b_ij³
    trace_cube = np.sum(shift**3 - 3 * shift**2 * w + 3 * shift * W.squares[:, 0]) - W.triangles  # tr B³

    a = shift - w + e * d * d
    squared = row_squares + 2 * e * d * Bd + e * e * d * d * p2  # (A²)_ii
    trace, square = a.sum(), squared.sum()
    cube = trace_cube + 3 * e * (Bd @ Bd) + 3 * e**2 * dBd * p2 + e**3 * p2**3
    entries = cubes + 3 * e * weighted_squares + e**3 * (d**3).sum() ** 2
    entries += 3 * e**2 * (d * d) @ (shift * d * d - W.dot(d * d))

    tau, centred = trace / (n - 1), a - trace / n
    square0 = square - tau * trace
    cube0 = cube - 3 * tau * square + 3 * tau**2 * trace - tau**3 * (n - 1)
    mixed = centred @ (squared - 2 * tau * a + tau**2 * (1 - 1 / n))
    quadratic = centred @ (shift * centred - W.dot(centred)) + e * (d @ centred) ** 2 - tau * (centred @ centred)
    entries0 = entries - 3 * tau * (a @ a - square / n) + 3 * tau**2 * trace * (1 - 2 / n)
    entries0 -= tau**3 * (n * (1 - 1 / n) ** 3 - (n - 1) / n**2)
    of_diagonal = centred @ centred, np.sum(centred**3)
    return Invariants(trace, square0, cube0, *of_diagonal, mixed, 3 * quadratic + 2 * entries0)


# -------------------------------------------------------------------- the feature


def standard_sums(F: Block, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Σf³, Σf⁴, Σf⁶ of each column on the rows of a mask, centred and scaled to Σf² = n; sparse columns stay sparse."""
    nodes = np.flatnonzero(rows)
    with np.errstate(divide="ignore", invalid="ignore"):  # a constant column is 0 / 0
        if is_sparse(F):
            return _sparse_standard_sums(F if rows.all() else sp.csc_array(F.tocsr()[nodes]))
        f = F[nodes]
        f -= f[0]  # after subtracting one sample, the mean is exact at large offsets
        f -= f.mean(axis=0)
        f /= np.abs(f).max(axis=0)  # so that no power overflows
        f /= np.sqrt(np.mean(f * f, axis=0))
        square = f * f
        s3, s4 = np.einsum("ij,ij->j", square, f), np.einsum("ij,ij->j", square, square)
        return s3, s4, np.einsum("ij,ij,ij->j", square, square, square)


def _sparse_standard_sums(F: sp.csc_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n, m = F.shape
    stored = np.diff(F.indptr)
    column, zeros = np.repeat(np.arange(m), stored), n - stored
    reference, shift = sparse_centre(F, np.ones(n))
    largest = abs(F).max(axis=0).toarray().ravel()
    value, at_zero = ((F.data - reference[column]) - shift[column]) / largest[column], -(reference + shift) / largest
    scale = np.sqrt((np.bincount(column, value**2, m) + zeros * at_zero**2) / n)
    value, at_zero = value / scale[column], at_zero / scale

    def power(k: int) -> np.ndarray:
        return np.bincount(column, value**k, m) + zeros * at_zero**k

    return power(3), power(4), power(6)


def rarer_value(s3: np.ndarray, s4: np.ndarray, n: int) -> np.ndarray:
    """Number of rows with the rarer of two values; inf for columns with more values.

    The kurtosis equals skewness² + 1 only for columns with two values.
    """
    skewness, kurtosis = s3 / n, s4 / n
    two = np.abs(kurtosis - skewness**2 - 1.0) <= 1e-9 * kurtosis
    share = (1.0 - np.sqrt(1.0 - 4.0 / (skewness**2 + 4.0))) / 2.0
    return np.where(two, n * share, np.inf)


# -------------------------------------------------------------------- the tail


def pearson_tail(z: np.ndarray, skewness: np.ndarray) -> np.ndarray:
    """P(Z <= z) for the Pearson III distribution with mean 0, variance 1 and the given skewness.

    Examples
    --------
    >>> from fiedler.significance.closed_form import pearson_tail
    >>> pearson_tail([-2.0, -2.0, -2.0], [-1.0, 0.0, 1.0]).round(4)
    array([0.0424, 0.0228, 0.    ])
    """
    z, skewness = np.asarray(z, dtype=np.float64), np.asarray(skewness, dtype=np.float64)
    normal = np.abs(skewness) < _NORMAL
    shape = 4.0 / np.where(normal, 1.0, skewness) ** 2
    # With positive skewness Z is a centred and scaled gamma variable; with negative skewness it is its mirror image.
    away = np.maximum(shape + np.sign(skewness) * z * np.sqrt(shape), 0.0)
    gamma = np.where(skewness > 0, gammainc(shape, away), gammaincc(shape, away))
    return np.where(np.isnan(z + skewness), np.nan, np.where(normal, ndtr(z), gamma))
