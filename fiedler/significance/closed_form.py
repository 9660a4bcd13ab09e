"""The permutation null distribution in closed form: is a feature smoother on a graph than its permuted values?

    P(R <= r) = P(Q <= 0),   R = f'Lf / f̃'D f̃,   Q = f'A f,   A = L - r (D - dd'/V)          V = Σ_i d_i

The probability is over all permutations of the values of f on the n active nodes. For a quotient f'L₁f / f'L₂f,
A = L₁ - r L₂. Mean, variance and third moment of Q are exact. They follow from s_k = Σ_i f_i^k of the centred feature
and from seven invariants of A. Each invariant is cubic in r, so that four values of r give it for all features. The
tail is that of the Pearson III distribution (a shifted gamma distribution) with these moments.

The graph must not be built from the feature; otherwise even noise looks significant.

**Sums over the entries of W**, from any storage: csr, dense, or groups of rows.

    (W∘W) 1,   (W∘W) d,   Σ_ij w_ij³,   tr W³ = Σ_ij w_ij (WW)_ij

The diagonal of W is arbitrary, because it cancels in L = diag(W1) - W. If every row is in at most one group, as in
graphs of classes, W = Z C Z' is never formed: its elementwise powers are Z^k C^k Z'^k.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.special import ndtr

from ..data.arrays import Block
from ..engine.blocks import is_constant
from ..engine.permuted import Invariants, WeightSums, invariants, moments, pearson_tail, standard_sums
from ..graphs import Graph
from ..graphs.graph import FactoredGraph

_DEGENERATE = 1e-9  # with a smaller relative variance, all permutations give the same quotient
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
        of = self.invariants(t)
        flat = variance <= _DEGENERATE * (2 * of.square + of.diagonal_square)
        p, z = np.where(flat, 1.0, p), np.where(flat, 0.0, z)
        effect = np.where(np.isnan(t), np.nan, 1.0 - share)
        return Verdict(p, z, effect, rarer_value(*sums[:2], self.n), skewness)

    def invariants(self, t: np.ndarray) -> Invariants:
        """The invariants of A at each t."""
        cubed, squared, linear, constant = self._cubic[:, :, None]
        return Invariants(*(((cubed * t + squared) * t + linear) * t + constant))

    def moments(self, t: np.ndarray, *sums: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mean, variance and third central moment of Q at each t, from s3, s4 and s6 of each feature."""
        return moments(self.invariants(t), self.n, *sums)


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

    def __init__(self, graph: Graph, normal_too: bool = True):
        self.normal_too = normal_too
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


def rarer_value(s3: np.ndarray, s4: np.ndarray, n: int) -> np.ndarray:
    """Number of rows with the rarer of two values; inf for columns with more values.

    The kurtosis equals skewness² + 1 only for columns with two values.
    """
    skewness, kurtosis = s3 / n, s4 / n
    two = np.abs(kurtosis - skewness**2 - 1.0) <= 1e-9 * kurtosis
    share = (1.0 - np.sqrt(1.0 - 4.0 / (skewness**2 + 4.0))) / 2.0
    return np.where(two, n * share, np.inf)


# -------------------------------------------------------------------- sums over the entries of W


_ROWS_AT_ONCE = 1024  # number of rows of W in memory at a time


class Groups(NamedTuple):
    """W = Z C Z' with every row in at most one group."""

    Z: sp.csr_array
    core: np.ndarray


class Factors(NamedTuple):
    """W = Z C Z' with rows in several groups."""

    Z: sp.csr_array
    core: sp.csr_array


WeightMatrix: TypeAlias = sp.csr_array | np.ndarray | Groups | Factors


def weights_between(graph: Graph, nodes: np.ndarray, scale: float) -> WeightMatrix:
    """``scale`` times W between some nodes; its diagonal is arbitrary."""
    if isinstance(graph, FactoredGraph):
        Z = sp.csr_array(graph.Z[nodes])
        if np.diff(Z.indptr).max(initial=0) <= 1:
            return Groups(Z, scale * (np.diag(graph.core) if graph.diagonal else graph.core))
        core = sp.diags_array(graph.core, format="csr") if graph.diagonal else sp.csr_array(graph.core)
        return Factors(Z, scale * core)
    if graph.is_full:
        return scale * graph.submatrix(nodes)
    i, j, w = graph.edges
    place = np.full(graph.n_nodes, -1)
    place[nodes] = np.arange(len(nodes))
    inside = (place[i] >= 0) & (place[j] >= 0)
    i, j, w, shape = place[i[inside]], place[j[inside]], w[inside], (len(nodes), len(nodes))
    return sp.csr_array((scale * np.r_[w, w], (np.r_[i, j], np.r_[j, i])), shape=shape)


def mixed(first: WeightMatrix, second: WeightMatrix, t: float) -> WeightMatrix:
    """(1 - t) first - t second."""
    if isinstance(first, Groups) and isinstance(second, Groups):
        (a, _), (b, _), parts = first, second, ("indptr", "indices", "data")
        if a.shape == b.shape and all(np.array_equal(getattr(a, part), getattr(b, part)) for part in parts):
            return Groups(a, (1.0 - t) * first.core - t * second.core)
    both: Any = (1.0 - t) * _entries(first) - t * _entries(second)  # csr, or dense if one of them is dense
    return both


def summed(W: WeightMatrix, d: np.ndarray) -> WeightSums:
    """The sums over the entries of W."""
    sides = np.column_stack([np.ones(len(d)), d])
    if isinstance(W, Groups):
        return _summed_groups(W, sides)
    if isinstance(W, np.ndarray):
        square = W * W
        sums = np.diag(W), square @ sides, float(np.vdot(square, W)), float(np.vdot(W @ W, W))
        return WeightSums(lambda v: W @ v, W.sum(axis=1), *sums)
    return _summed_rows(W, sides)


def _summed_groups(W: Groups, sides: np.ndarray) -> WeightSums:
    Z, core = W
    Z2, Z3 = Z.power(2), Z.power(3)
    sizes2, sizes3 = Z2.sum(axis=0), Z3.sum(axis=0)
    step = core * sizes2  # C Z'Z
    squares = Z2 @ (core**2 @ (Z2.T @ sides))
    degree = Z @ (core @ Z.sum(axis=0))
    cubes, triangles = float(sizes3 @ core**3 @ sizes3), float(np.vdot(step @ step, step.T))
    return WeightSums(lambda v: Z @ (core @ (Z.T @ v)), degree, Z2 @ np.diag(core), squares, cubes, triangles)


def _summed_rows(W: sp.csr_array | Factors, sides: np.ndarray) -> WeightSums:
    """As :func:`summed`, a few rows at a time."""
    n = len(sides)
    degree, diagonal, squares, cubes = np.empty(n), np.empty(n), np.empty((n, 2)), 0.0
    for start in range(0, n, _ROWS_AT_ONCE):
        rows = slice(start, min(start + _ROWS_AT_ONCE, n))
        part = W.Z[rows] @ W.core @ W.Z.T if isinstance(W, Factors) else W[rows]
        square = part.multiply(part)
        degree[rows], squares[rows] = part.sum(axis=1), square @ sides
        diagonal[rows] = part.diagonal(start)
        cubes += float(square.multiply(part).sum())
    if isinstance(W, Factors):
        step = (W.core @ (W.Z.T @ W.Z)).toarray()
        product = lambda v: W.Z @ (W.core @ (W.Z.T @ v))  # noqa: E731
        return WeightSums(product, degree, diagonal, squares, cubes, float(np.vdot(step @ step, step.T)))
    return WeightSums(lambda v: W @ v, degree, diagonal, squares, cubes, _triangles(W, diagonal))


def _triangles(W: sp.csr_array, diagonal: np.ndarray) -> float:
    """tr W³; without a diagonal it is 6 Σ w_ij w_jl w_il over i < j < l, for any order of the nodes.

    In ascending order of their numbers of edges, every node has few later neighbours. So few pairs of edges are
    visited, also if the graph has hubs.
    """
    factor = 1.0
    if not diagonal.any():
        edges, place = W.tocoo(), np.empty(W.shape[0], dtype=np.intp)
        place[np.argsort(np.diff(W.indptr), kind="stable")] = np.arange(W.shape[0])
        i, j = place[edges.row], place[edges.col]
        later = i < j
        W, factor = sp.csr_array((edges.data[later], (i[later], j[later])), shape=W.shape), 6.0
    parts = (W[start : start + _ROWS_AT_ONCE] for start in range(0, W.shape[0], _ROWS_AT_ONCE))
    return factor * sum(float((part @ W).multiply(part).sum()) for part in parts)


def _entries(W: WeightMatrix) -> sp.csr_array | np.ndarray:
    if isinstance(W, (Groups, Factors)):
        return sp.csr_array(W.Z @ sp.csr_array(W.core) @ W.Z.T)
    return W
