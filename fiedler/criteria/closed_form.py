"""The permutation null distribution in closed form: is a feature smoother on a graph than its permuted values?

    P(R <= r) = P(Q <= 0),   R = f'Lf / f̃'D f̃,   Q = f'A f,   A = L - r (D - dd'/V)          V = Σ_i d_i

The probability is over all permutations of the values of f on the n active nodes. For any quotient f'A₀f / f'A₁f of
forms with A₀1 = A₁1 = 0, A = A₀ - t A₁. Mean, variance and third moment of Q are exact. They follow from
s_k = Σ_i f_i^k of the centred feature and from seven invariants of A. Each invariant is cubic in t, so that four
values of t give it for all features. The tail is that of the Pearson III distribution (a shifted gamma distribution)
with these moments.

**Blocks.** If values may only be permuted inside blocks of rows (slides, batches, donors), f is centred in every block
and scaled to Σf² = n there. Then t = Σ_b f'A₀f / Σ_b f'A₁f, Q = Σ_b f'A f, and mean, variance and third moment are
sums over the blocks. Blocks of at most five rows are enumerated.

The graph must not be built from the feature; otherwise even noise looks significant.

**Sums over the entries of W**, from any storage: csr, dense, or groups of rows.

    (W∘W) V,   Σ_ij w_ij³,   tr W³ = Σ_ij w_ij (WW)_ij

The diagonal of W is arbitrary, because it cancels in L = diag(W1) - W. If every row is in at most one group, as in
graphs of classes, W = Z C Z' is never formed: its elementwise powers are Z^k C^k Z'^k.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from copy import copy
from functools import cached_property, partial
from itertools import permutations
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.special import ndtr

from ..data.arrays import Block, dense
from ..engine.blocks import is_constant
from ..engine.counts import Residuals
from ..engine.permuted import (
    Form,
    Invariants,
    Standard,
    WeightSums,
    invariants,
    moments,
    pearson_tail,
    standards,
)
from ..graphs import Graph
from ..graphs.graph import FactoredGraph
from ..validation import is_sparse

_DEGENERATE = 1e-9  # with a smaller relative variance, all permutations give the same quotient
_ROUNDED = 1e-15  # with a smaller variance than this share of its squared mean, Q is rounding error
_EXPLAINED = 1e-20  # with a smaller share of its square left, a column is explained by covariates
_FEWEST = 6  # smallest number of nodes for a third moment; all orders of fewer values are enumerated


Columns: TypeAlias = Block | Residuals


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
    parts : ndarray of shape (2, k, number of columns), optional
        The p-values that were combined, and their z.
    """

    p: np.ndarray
    z: np.ndarray
    effect: np.ndarray
    rarer: np.ndarray
    skewness: np.ndarray
    parts: np.ndarray | None = None

    def stacked(self) -> np.ndarray:
        """All values as the rows of one array; :meth:`of` is the inverse."""
        return np.vstack([*self[:5], *([] if self.parts is None else self.parts)])

    @classmethod
    def of(cls, rows: np.ndarray) -> Verdict:
        """The results from the rows of :meth:`stacked`."""
        p, z, effect, rarer, skewness = rows[:5]
        return cls(p, z, effect, rarer, skewness, rows[5:].reshape(2, -1, rows.shape[1]) if len(rows) > 5 else None)


class Compared(ABC):
    """Two quadratic forms f'A₀f and f'A₁f on the active rows of a block; a small quotient is good."""

    last = 2.0  # t is in [0, last]
    normal_too = False  # whether p is bounded below by the p-value of the normal distribution
    rows: np.ndarray  # mask of the active rows: their values are permuted

    @abstractmethod
    def values(self, F: Columns, standard: Standard) -> tuple[np.ndarray, np.ndarray]:
        """Both forms of every column of a block, in any common unit."""

    @abstractmethod
    def form(self, t: float) -> Form:
        """A(t), linear in t, on the active rows."""

    def parameter(self, above: np.ndarray, below: np.ndarray) -> np.ndarray:
        """t of each column from both forms."""
        return above / below

    def quotient(self, t: Any) -> Any:
        """The quotient f'A₀f / f'A₁f at t."""
        return t


class Piece:
    """The rows of a block, whose values are permuted among themselves, and the forms on them.

    Parameters
    ----------
    rows : ndarray of int or None
        The rows of the block; None for all rows.
    forms : sequence of Compared
        What is tested.
    prepare : callable, optional
        What is done with the columns of the block first.
    """

    def __init__(
        self, rows: np.ndarray | None, forms: Sequence[Compared], prepare: Callable[[Block], Columns] | None = None
    ):
        self.rows, self.forms, self.prepare, self.active = rows, forms, prepare, forms[0].rows
        self.n = int(np.count_nonzero(self.active))

    def take(self, F: Block) -> Columns:
        """The columns of a block on the rows of this piece; sparse ones stay sparse."""
        if self.rows is not None:
            F = sp.csc_array(F[self.rows]) if is_sparse(F) else F[self.rows]
        return F if self.prepare is None else self.prepare(F)

    def standardised(self, F: Columns) -> Standard:
        """How the columns are standardised on the active rows; a column that is constant there has the scale 0."""
        if isinstance(F, Residuals):
            return F.standards()
        found = standards(F, self.active)
        return found._replace(scale=np.where(is_constant(F, self.active), 0.0, found.scale))

    @cached_property
    def _cubic(self) -> list[np.ndarray]:
        """The coefficients of the invariants of each form as polynomials in t."""
        cubic = list[np.ndarray]()
        for form in self.forms:
            at = np.linspace(0.0, form.last, 4)
            values = np.array([invariants(form.form(float(t))) for t in at])
            cubic.append(np.linalg.solve(np.vander(at, 4), values))
        return cubic

    def invariants(self, which: int, t: Any) -> Invariants:
        """The invariants of A of a form at each t."""
        cubed, squared, linear, constant = self._cubic[which][:, :, None]
        return Invariants(*(((cubed * t + squared) * t + linear) * t + constant))

    def trace(self, which: int) -> np.ndarray:
        """The mean of Q at t = 0 and at the last t."""
        at = np.array([0.0, self.forms[which].last])
        return self.invariants(which, at).trace * self.n / (self.n - 1)

    def moments(self, which: int, t: np.ndarray, standard: Standard, f: np.ndarray | None) -> np.ndarray:
        """Mean, variance and third central moment of Q at each t; 0 for columns that are constant on the rows."""
        if f is None:
            found = np.array(moments(self.invariants(which, t), self.n, *standard[3:]))
        else:
            orders = f[np.array(list(permutations(range(self.n))))]
            form = self.forms[which]
            ends = (form.form(at).dot(np.eye(self.n)) for at in (0.0, form.last))
            start, end = (np.einsum("pim,ij,pjm->pm", orders, A, orders) for A in ends)
            Q = start + t / form.last * (end - start)
            away = Q - Q.mean(axis=0)
            found = np.array([Q.mean(axis=0), (away**2).mean(axis=0), (away**3).mean(axis=0)])
        return np.where(standard.scale > 0, found, 0.0)


class Seen(NamedTuple):
    """The columns of a block on the rows of a piece: how they are standardised; the values if there are few rows."""

    piece: Piece
    standard: Standard
    few: np.ndarray | None

    def moments(self, which: int, t: np.ndarray) -> np.ndarray:
        """As :meth:`Piece.moments`."""
        return self.piece.moments(which, t, self.standard, self.few)


class Null:
    """The null distribution of one or several quotients, for any number of features.

    Parameters
    ----------
    pieces : list of Piece
        The blocks of rows; values are permuted inside a block only.
    """

    def __init__(self, pieces: list[Piece]):
        self._use(pieces)

    def _use(self, pieces: list[Piece]) -> None:
        self.pieces, self.n = [piece for piece in pieces if piece.n > 1], sum(piece.n for piece in pieces)
        if self.n < _FEWEST or not self.pieces:
            raise ValueError(f"the permutation null needs {_FEWEST} active nodes, but the graph has {self.n}.")
        self._centres, self._sizes = list[float](), list[float]()  # t of the null mean, and the size of Q at t = 0
        for which, form in enumerate(self.pieces[0].forms):
            at_zero, at_last = np.sum([piece.trace(which) for piece in self.pieces], axis=0)
            self._centres.append(form.last * at_zero / (at_zero - at_last))
            self._sizes.append(at_zero)

    def __call__(self, F: Block) -> Verdict:
        return self.verdicts(F)[0]

    def adjusted_for(self, covariates: np.ndarray) -> Null:
        """The same tests of what covariates do not explain: the residuals of every feature are permuted."""
        twin, pieces = copy(self), list[Piece]()
        for piece in self.pieces:
            Z = covariates if piece.rows is None else covariates[piece.rows]
            residual = Residual(Z, piece.active, piece.prepare)
            pieces.append(Piece(piece.rows, [ResidualForm(form, residual.basis) for form in piece.forms], residual))
        twin._use(pieces)
        return twin

    def of_counts(self, depth: np.ndarray) -> Null:
        """The same tests of the Pearson residuals of counts, given the depth of each row."""
        twin = copy(self)
        twin.pieces = [copy(piece) for piece in self.pieces]
        for piece in twin.pieces:
            inside = depth if piece.rows is None else depth[piece.rows]
            piece.prepare = partial(Residuals, depth=inside, active=piece.active)
        return twin

    def quotients(self, F: Block) -> np.ndarray:
        """t of each quotient and column."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return self._read(F)[0]

    def verdicts(self, F: Block) -> list[Verdict]:
        """The test results of each quotient."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # constants and empty graphs give 0 / 0
            return self._verdicts(F)

    def _verdicts(self, F: Block) -> list[Verdict]:
        t, seen = self._read(F)
        fixed = np.array([each.standard.scale == 0 for each in seen])
        constant = np.logical_and.reduce(fixed)
        counts = [rarer_value(each.standard.s3, each.standard.s4, each.piece.n) for each in seen]
        rarer = np.where(constant, np.nan, np.where(fixed, 0.0, counts).sum(axis=0))
        return [self._verdict(which, t[which], seen, constant, rarer) for which in range(len(t))]

    def _read(self, F: Block) -> tuple[np.ndarray, list[Seen]]:
        """t of each quotient and column, and the columns in every block of rows."""
        several, forms, m = len(self.pieces) > 1, self.pieces[0].forms, F.shape[1]
        by_row: Any = F.tocsr() if several and is_sparse(F) else F
        values, seen = np.zeros((len(forms), 2, m)), list[Seen]()
        constant = np.ones(m, dtype=bool)
        for piece in self.pieces:
            here = piece.take(by_row)
            standard = piece.standardised(here)
            fixed = standard.scale == 0
            unit = np.where(fixed, 0.0, standard.scale**-2.0) if several else 1.0
            for which, form in enumerate(piece.forms):
                values[which] += np.where(fixed & several, 0.0, unit * np.array(form.values(here, standard)))
            few = None
            if piece.n < _FEWEST:
                few = filled(here)[piece.active]
                few = np.where(fixed, 0.0, (few - standard.reference - standard.shift) / standard.scale)
            seen.append(Seen(piece, standard, few))
            constant &= fixed
        t = np.array([form.parameter(*both) for form, both in zip(forms, values, strict=True)])
        return np.where(constant, np.nan, t), seen

    def _verdict(self, which: int, t: np.ndarray, seen: list[Seen], constant: np.ndarray, rarer: np.ndarray) -> Verdict:
        form, centre = self.pieces[0].forms[which], self._centres[which]
        at_mean = np.full(len(t), centre)
        mean, variance, third = np.sum([each.moments(which, t) for each in seen], axis=0)
        _, spread, lean = np.sum([each.moments(which, at_mean) for each in seen], axis=0)
        z = -mean / np.sqrt(variance)
        p = pearson_tail(z, third / variance**1.5)
        p = np.maximum(p, ndtr(z)) if form.normal_too else p
        of = [each.piece.invariants(which, t) for each in seen]
        spreads = np.sum([2 * each.square + each.diagonal_square for each in of], axis=0)
        # On a complete graph A itself vanishes, up to rounding errors.
        flat = variance <= np.maximum(_DEGENERATE * spreads, _ROUNDED * self._sizes[which] ** 2)
        p, z = np.where(flat, 1.0, p), np.where(flat, 0.0, z)
        p, z = np.where(constant, np.nan, p), np.where(constant, np.nan, z)
        skewness = np.where(flat, 0.0, lean / spread**1.5)
        effect = np.where(np.isnan(t), np.nan, 1.0 - form.quotient(t) / form.quotient(centre))
        return Verdict(p, z, effect, rarer, skewness)


class RayleighForm(Compared):
    """f'Lf and f̃'D f̃ of one graph, times ``scale``."""

    def __init__(self, graph: Graph, scale: float, normal_too: bool = True):
        self.graph, self.rows, self.normal_too = graph, graph.active, normal_too
        nodes = np.flatnonzero(graph.active)
        self._d = graph.degree[nodes] * scale
        self._W = summed(weights_between(graph, nodes, scale))

    def values(self, F: Columns, standard: Standard) -> tuple[np.ndarray, np.ndarray]:
        if not isinstance(F, Residuals):
            return self.graph.energy(F), self.graph.mass(F)
        d = self.graph.degree[:, None]
        along = lambda V: d * V - d * (d.T @ V) / (self.graph.volume or 1.0)  # noqa: E731
        return energy_of(self.graph, F), F.quadratic(self.graph.mass, along)

    def form(self, t: float) -> Form:
        d = self._d
        return Form(self._W, self._W.degree - t * d, d[:, None], np.array([t / (d.sum() or 1.0)]))


class RatioForm(Compared):
    """f'L₁f and f'L₂f of two graphs; the quotient r has no upper bound, so t = r / (1 + r), A = L₁ - t (L₁ + L₂)."""

    last = 1.0

    def __init__(self, above: Graph, below: Graph, scales: Sequence[float]):
        self._graphs, self._scales, self.rows = (above, below), scales, above.active | below.active
        nodes = np.flatnonzero(self.rows)
        self._W = [weights_between(g, nodes, s) for g, s in zip(self._graphs, scales, strict=True)]

    def values(self, F: Columns, standard: Standard) -> tuple[np.ndarray, np.ndarray]:
        above, below = (energy_of(graph, F) for graph in self._graphs)
        return above * (self._scales[0] / self._scales[1]), below

    def form(self, t: float) -> Form:
        W = summed(mixed(self._W[0], self._W[1], t))
        return Form(W, W.degree, *_no_columns(len(W.degree)))

    def parameter(self, above: np.ndarray, below: np.ndarray) -> np.ndarray:
        return above / (above + below)

    def quotient(self, t: Any) -> Any:
        return t / (1.0 - t)


def energy_of(graph: Graph, F: Columns) -> np.ndarray:
    """f'Lf of each column."""
    return F.quadratic(graph.energy, graph.laplacian_dot) if isinstance(F, Residuals) else graph.energy(F)


def filled(F: Columns) -> np.ndarray:
    """All values of a block of columns."""
    return F.toarray() if isinstance(F, Residuals) else dense(F)


class Residual:
    """What a linear model of covariates, with an intercept, does not explain of a column; on the active rows.

    ``before`` is what is done with the columns first.
    """

    def __init__(self, covariates: np.ndarray, active: np.ndarray, before: Callable[[Block], Columns] | None = None):
        Z = covariates[active] - covariates[active].mean(axis=0)
        left, size, _ = np.linalg.svd(Z / (np.linalg.norm(Z, axis=0) + np.finfo(float).tiny), full_matrices=False)
        self.active, self.basis, self.before = active, left[:, size > _DEGENERATE], before

    def __call__(self, F: Block) -> np.ndarray:
        found, f = np.zeros(F.shape), filled(F if self.before is None else self.before(F))[self.active]
        f = f - f[0]
        f -= f.mean(axis=0)
        e = f - self.basis @ (self.basis.T @ f)
        e -= self.basis @ (self.basis.T @ e)
        e[:, (e * e).sum(axis=0) <= _EXPLAINED * (f * f).sum(axis=0)] = 0.0
        found[self.active] = e
        return found


class ResidualForm(Compared):
    """A(t) between projections, M A(t) M with M = I - 11'/n - ZZ'; Z: orthonormal covariates."""

    def __init__(self, form: Compared, Z: np.ndarray):
        self._form, self._Z = form, Z
        self.rows, self.last, self.normal_too = form.rows, form.last, form.normal_too

    def values(self, F: Columns, standard: Standard) -> tuple[np.ndarray, np.ndarray]:
        return self._form.values(F, standard)

    def parameter(self, above: np.ndarray, below: np.ndarray) -> np.ndarray:
        return self._form.parameter(above, below)

    def quotient(self, t: Any) -> Any:
        return self._form.quotient(t)

    def form(self, t: float) -> Form:
        A, Z = self._form.form(t), self._Z
        AZ = A.dot(Z)
        Y = AZ - 0.5 * Z @ (Z.T @ AZ)  # M A M = A - ZY' - YZ'
        half = np.full(Z.shape[1], 0.5)
        return A._replace(M=np.column_stack([A.M, Z - Y, Z + Y]), t=np.r_[A.t, half, -half])


class RayleighNull(Null):
    """The null distribution of f'Lf / f̃'D f̃ on one graph; p is at least the normal p-value, which fits the far tail.

    Examples
    --------
    >>> import numpy as np
    >>> from fiedler import KNN
    >>> from fiedler.criteria.closed_form import RayleighNull
    >>> rng = np.random.default_rng(0)
    >>> graph = KNN().build(rng.normal(size=(60, 2)) + np.repeat([[0.0], [9.0]], 30, axis=0))
    >>> F = np.column_stack([np.repeat([0.0, 1.0], 30), rng.normal(size=60)])
    >>> RayleighNull(graph)(F).p < 0.05
    array([ True, False])
    """

    def __init__(self, graph: Graph, normal_too: bool = True):
        scale = mean_degree_one(graph)
        super().__init__([Piece(rows, [RayleighForm(part, scale, normal_too)]) for rows, part in graph.parts])


class RatioNull(Null):
    """The null distribution of f'L₁f / f'L₂f on two graphs, scaled to mean degree 1."""

    def __init__(self, above: Graph, below: Graph):
        n = int(np.count_nonzero(above.active | below.active))
        scales = [n / (graph.volume or 1.0) for graph in (above, below)]
        parts = zip(above.parts, below.parts, strict=True)
        super().__init__([Piece(rows, [RatioForm(first, second, scales)]) for (rows, first), (_, second) in parts])


def mean_degree_one(graph: Graph) -> float:
    """The factor that makes the mean degree of the active nodes 1."""
    return int(np.count_nonzero(graph.active)) / (graph.volume or 1.0)


def without_entries(n: int) -> WeightSums:
    """The sums of W = 0."""
    nothing = np.zeros(n)
    return WeightSums(np.zeros_like, np.zeros_like, nothing, nothing, nothing, 0.0, 0.0)


def _no_columns(n: int) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros((n, 0)), np.zeros(0)


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


def summed(W: WeightMatrix) -> WeightSums:
    """The sums over the entries of W."""
    if isinstance(W, Groups):
        return _summed_groups(W)
    if isinstance(W, np.ndarray):
        square = W * W
        cubes, triangles = float(np.vdot(square, W)), float(np.vdot(W @ W, W))
        sums = W.sum(axis=1), np.diag(W), square.sum(axis=1), cubes, triangles
        return WeightSums(lambda V: W @ V, lambda V: square @ V, *sums)
    if isinstance(W, Factors):
        return _summed_factors(W)
    squared = W.multiply(W).tocsr()
    cubes, diagonal = float(squared.multiply(W).sum()), W.diagonal()
    sums = W.sum(axis=1), diagonal, squared.sum(axis=1), cubes, _triangles(W, diagonal)
    return WeightSums(lambda V: W @ V, lambda V: squared @ V, *sums)


def _summed_groups(W: Groups) -> WeightSums:
    Z, core = W
    Z2, Z3 = Z.power(2), Z.power(3)
    sizes2, sizes3 = Z2.sum(axis=0), Z3.sum(axis=0)
    step = core * sizes2  # C Z'Z
    cubes, triangles = float(sizes3 @ core**3 @ sizes3), float(np.vdot(step @ step, step.T))
    square_dot = lambda V: Z2 @ (core**2 @ (Z2.T @ V))  # noqa: E731
    sums = Z @ (core @ Z.sum(axis=0)), Z2 @ np.diag(core), square_dot(np.ones(Z.shape[0])), cubes, triangles
    return WeightSums(lambda V: Z @ (core @ (Z.T @ V)), square_dot, *sums)


def _summed_factors(W: Factors) -> WeightSums:
    """As :func:`summed`, a few rows of W at a time."""
    n, cubes, diagonal = W.Z.shape[0], 0.0, np.empty(W.Z.shape[0])

    def parts() -> Any:
        for start in range(0, n, _ROWS_AT_ONCE):
            rows = slice(start, min(start + _ROWS_AT_ONCE, n))
            yield rows, W.Z[rows] @ W.core @ W.Z.T

    def square_dot(V: np.ndarray) -> np.ndarray:
        return np.concatenate([part.multiply(part) @ V for _, part in parts()])

    for rows, part in parts():
        diagonal[rows] = part.diagonal(rows.start)
        cubes += float(part.multiply(part).multiply(part).sum())
    step = (W.core @ (W.Z.T @ W.Z)).toarray()
    dot = lambda V: W.Z @ (W.core @ (W.Z.T @ V))  # noqa: E731
    sums = dot(np.ones(n)), diagonal, square_dot(np.ones(n)), cubes, float(np.vdot(step @ step, step.T))
    return WeightSums(dot, square_dot, *sums)


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
