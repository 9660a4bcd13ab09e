"""Features on a given graph, such as genes on a tissue: three scales, tested together; Moran and Geary.

    edges    f'Lf / f̃'D f̃, the Laplacian score
    walks    f'(I - K)f / f'f,  K = exp(-β L / d̄): averages over random walks
    tissue   1 - Σ_j s_j (u_j'f)² / f'f,  s_j = exp(-3 λ_j / λ_k): the k smoothest patterns
    p = ½ - arctan(t) / π,  t: mean of tan((½ - p_i) π)           the Cauchy combination of the three p-values

f is centred. Each p-value is that of :mod:`fiedler.criteria.closed_form`. Introduced in this library.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..data.arrays import Block, dense
from ..data.work import counting
from ..engine.counts import Residuals
from ..engine.permuted import Form, Standard, WeightSums
from ..graphs import KNN, Graph, Recipe, as_recipe
from ..graphs.scales import heat_kernel, lowest_patterns, weights
from ..problem import Problem
from ..validation import is_sparse
from .closed_form import (
    Columns,
    Compared,
    Null,
    Piece,
    RayleighForm,
    Verdict,
    energy_of,
    mean_degree_one,
    summed,
    weights_between,
    without_entries,
)
from .criterion import Criterion, Scorer, Traits
from .nulls import ClosedForm

SCALES = ("edges", "walks", "tissue")
_BETA, _PATTERNS, _FALL = 6.0, 20, 3.0  # chosen on generated tissues, see the page on spatial genes
_ROWS_PER_PATTERN = 5
_NEARLY_SURE = 1e-15  # below, tan((½ - p) π) is 1 / (π p)


class OnPlaces(Criterion):
    """A criterion on a given graph; by default the graph of the nearest rows."""

    def __init__(self, graph: Recipe | None = None):
        self.graph = graph

    def expanded(self) -> Criterion:
        return type(self)(self._recipe()) if self.graph is None else self

    def _recipe(self) -> Recipe:
        return KNN(6, "binary") if self.graph is None else as_recipe(self.graph)


class MultiScale(OnPlaces):
    """How surely a feature follows a graph on one of three scales: edges, walks, or the whole tissue; large is good.

    The score is -log10 p, with p from the exact moments of three quotients over all permutations of the feature. It is
    made for graphs that do not come from the features: a tissue, a map, a road network. On a graph that is built from
    the features it only ranks; :func:`fiedler.evaluate.significance` then tests every feature on a graph of the others.

    Parameters
    ----------
    graph : Recipe or what :meth:`Graph.of` takes, default=KNN(6, "binary")
        The graph. ``Precomputed()`` stands for the graph that is passed to ``fit`` or ``significance``.

    Examples
    --------
    >>> import numpy as np
    >>> from fiedler import KNN, MultiScale
    >>> rng = np.random.default_rng(0)
    >>> places = rng.uniform(size=(300, 2))
    >>> noise, stripes = rng.normal(size=(2, 300))
    >>> stripes += 2 * (places[:, 0] * 8 % 2 < 1)
    >>> tissue = KNN(6, "binary").build(places)
    >>> MultiScale(tissue).evaluate(np.column_stack([noise, stripes])) > 3
    array([False,  True])
    """

    traits = Traits(greater_is_better=True, missing=False, blocks=True, counts=True)

    def null(self) -> ClosedForm:
        recipe = self._recipe()
        return ClosedForm([recipe], lambda problem: scales_of(problem, recipe), verdict_key(recipe))

    def scorer(self, problem: Problem) -> Scorer:
        recipe = self._recipe()
        null: Any = scales_of(problem, recipe)
        if problem.depth is not None:
            null = null.of_counts(problem.depth)

        done = problem.kept(verdict_key(recipe))

        def parts(F: Any, columns: Any) -> np.ndarray:
            if done is not None and columns is not None:  # features were tested before
                return np.array([-np.log10(done.p[columns]), -done.z[columns]])
            found = null(F)
            return np.array([-np.log10(found.p), -found.z])

        graph = problem.graph(recipe)
        return Scorer(graph.rows, parts, cost=4.0 * graph.cost, n=2, ties=lambda values: values[1])


def scales_of(problem: Problem, recipe: Recipe) -> ScaleNull:
    """The test of all scales of a graph, built once."""
    graph = problem.graph(recipe)
    make = lambda: ScaleNull(graph, problem.X.shape[1])  # noqa: E731
    return problem.keep(("scales", recipe.key), make, recipe.supervised)


def verdict_key(recipe: Recipe) -> tuple:
    """The key under which a problem keeps the tests of all columns on a graph."""
    return "verdict", recipe.key


class ScaleNull(Null):
    """The null distributions of all scales of a graph, and their combination."""

    def __init__(self, graph: Graph, n_columns: int = 1):
        scale = mean_degree_one(graph)
        pieces = list[Piece]()
        with counting("scales of the graph", 3 * len(graph.parts)) as count:
            for rows, part in graph.parts:
                walks = Graph.from_weights(heat_kernel(part, _BETA)).for_columns(n_columns)
                count()
                forms = RayleighForm(part, scale), EnergyForm(walks, part.active), PatternForm(part)
                count()
                pieces.append(Piece(rows, forms))
                count()
            super().__init__(pieces)

    def __call__(self, F: Block) -> Verdict:
        return together(self.verdicts(F))


def together(found: list[Verdict]) -> Verdict:
    """The Cauchy combination; z is that of the smallest p-value, the effect size that of the first part."""
    p, z = np.array([each.p for each in found]), np.array([each.z for each in found])
    says = ~((p == 1.0) & (z == 0.0))  # a quotient that is the same in every order says nothing
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        tangent = np.where(p < _NEARLY_SURE, 1.0 / (np.pi * p), np.tan((0.5 - p) * np.pi))
        t = np.where(says, tangent, 0.0).sum(axis=0) / says.sum(axis=0)
        both = np.where(t > 1.0 / _NEARLY_SURE, 1.0 / (np.pi * t), 0.5 - np.arctan(t) / np.pi)
    both = np.where(says.any(axis=0), both, 1.0)
    both = np.where(np.isnan(p[0]), np.nan, both)
    of_all = np.take_along_axis(z, decisive(p, z)[None], axis=0)[0]
    return found[0]._replace(p=both, z=of_all, parts=np.array([p, z]))


def decisive(p: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The part with the smallest p-value; of equal ones, such as 0, the one with the largest deviation."""
    return np.lexsort((z, np.nan_to_num(p, nan=1.0)), axis=0)[0]


class EnergyForm(Compared):
    """f'Lf and f'f of a graph, on some rows."""

    def __init__(self, graph: Graph, rows: np.ndarray):
        self.rows, self._graph, self._n = rows, graph, int(np.count_nonzero(rows))
        self._W = summed(weights_between(graph, np.flatnonzero(rows), 1.0))

    def values(self, F: Columns, standard: Standard) -> tuple[np.ndarray, np.ndarray]:
        return energy_of(self._graph, F), self._n * standard.scale**2

    def form(self, t: float) -> Form:
        return Form(self._W, self._W.degree - t, np.ones((self._n, 1)), np.array([t / self._n]))


class PatternForm(Compared):
    """f'f - Σ_j s_j (u_j'f)² and f'f, for the smoothest patterns u_j of a graph."""

    def __init__(self, graph: Graph):
        self.rows, self._n = graph.active, int(np.count_nonzero(graph.active))
        values, self._U = lowest_patterns(graph, min(_PATTERNS, self._n // _ROWS_PER_PATTERN))
        self._s = np.exp(-_FALL * values / (values.max(initial=0.0) or 1.0))
        self._inside: np.ndarray = self._U[self.rows]
        self._W: WeightSums = without_entries(self._n)

    def values(self, F: Columns, standard: Standard) -> tuple[np.ndarray, np.ndarray]:
        # The vectors sum to 0, so a shift changes nothing; it keeps the digits of dense columns at large offsets.
        if isinstance(F, Residuals):
            along = F.project(self._U)
        else:
            along = (F.T @ self._U).T if is_sparse(F) else self._U.T @ (F - standard.reference)
        square = self._n * standard.scale**2
        return square - self._s @ along**2, square

    def form(self, t: float) -> Form:
        M = np.column_stack([np.ones(self._n), self._inside])
        return Form(self._W, np.full(self._n, 1.0 - t), M, np.r_[(t - 1.0) / self._n, -self._s])


# -------------------------------------------------------------------- Moran and Geary


class Autocorrelation(OnPlaces):
    """A statistic of spatial autocorrelation on one graph, tested by its exact moments over all permutations."""

    _form: Callable[[Graph], Compared]
    _factor: Callable[[int, float], float]  # of the quotient, from the number of rows and the sum of the weights

    def null(self) -> ClosedForm:
        recipe = self._recipe()
        return ClosedForm([recipe], lambda problem: self._tested(problem.graph(recipe)))

    def _tested(self, graph: Graph) -> Null:
        return Null([Piece(rows, [self._form(part)]) for rows, part in graph.parts])

    def scorer(self, problem: Problem) -> Scorer:
        graph = problem.graph(self._recipe())
        null = self._tested(graph) if problem.depth is None else self._tested(graph).of_counts(problem.depth)
        factor = self._factor(null.n, sum(float(part.row_sums.sum() - part.trace()) for _, part in graph.parts))
        return Scorer(graph.rows, lambda F, columns: factor * null.quotients(F)[0], cost=graph.cost)


class Moran(Autocorrelation):
    """Moran's I, n / Σw · f'Wf / f'f with f centred: 1 for a smooth feature, -1 / (n - 1) for noise; large is good.

    z and p are those of a test under randomization, with the third moment in the tail; p is one-sided, for positive
    autocorrelation. Rows without an edge are left out. The diagonal of W is not used.

    Parameters
    ----------
    graph : Recipe or what :meth:`Graph.of` takes, default=KNN(6, "binary")
        The graph.

    Examples
    --------
    >>> from fiedler import Graph, Moran
    >>> path = Graph.from_edges(range(5), range(1, 6), [1.0] * 5, n_nodes=6)
    >>> Moran(path).evaluate([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]])
    array([0.6])
    """

    traits = Traits(greater_is_better=True, nonnegative=False, missing=False, blocks=True, counts=True)

    _form = staticmethod(lambda graph: MoranForm(graph))
    _factor = staticmethod(lambda n, total: -n / total)


class Geary(Autocorrelation):
    """Geary's C, (n - 1) / Σw · f'Lf / f'f with f centred: 0 for a smooth feature, 1 for noise; small is good.

    On a graph in which all rows have the same degree it is (n - 1) / n times the Laplacian score. z and p are those of
    a test under randomization, with the third moment in the tail; p is one-sided, for positive autocorrelation. Rows
    without an edge are left out.

    Parameters
    ----------
    graph : Recipe or what :meth:`Graph.of` takes, default=KNN(6, "binary")
        The graph.

    Examples
    --------
    >>> from fiedler import Graph, Geary
    >>> path = Graph.from_edges(range(5), range(1, 6), [1.0] * 5, n_nodes=6)
    >>> Geary(path).evaluate([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]).round(4)
    array([0.1429])
    """

    traits = Traits(missing=False, blocks=True, counts=True)

    _form = staticmethod(lambda graph: EnergyForm(graph, graph.active))
    _factor = staticmethod(lambda n, total: (n - 1) / total)


class MoranForm(EnergyForm):
    """-f'Wf and f'f of a graph with f centred; -C W C = -W + (1d' + d1') / n - Σw 11' / n²."""

    def __init__(self, graph: Graph):
        W = sp.triu(weights(graph), 1)
        super().__init__(Graph.from_weights(sp.csr_array(W + W.T)), graph.active)

    def values(self, F: Columns, standard: Standard) -> tuple[np.ndarray, np.ndarray]:
        d = self._graph.row_sums[:, None]
        mean = standard.reference + standard.shift
        if isinstance(F, Residuals):
            weighted = F.quadratic(lambda S: S.power(2).T @ d[:, 0], lambda V: d * V)
            weighted += mean * (mean * d.sum() - 2.0 * F.project(d)[0])
        else:
            weighted = (
                d[:, 0] @ (np.where(self.rows[:, None], dense(F) - standard.reference, 0.0) - standard.shift) ** 2
            )
        energy, square = super().values(F, standard)
        return energy - weighted, square

    def form(self, t: float) -> Form:
        n, d = self._n, self._W.degree
        M = np.column_stack([np.ones(n), 1.0 + d, 1.0 - d])
        return Form(self._W, np.full(n, -t), M, np.array([t - d.sum() / n, 0.5, -0.5]) / n)
