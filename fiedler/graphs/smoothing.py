"""Smoothing over a graph: the operator F = h(𝓛) without its trivial vector, applied to vectors over the samples.

    A = D^-½ W D^-½ = I - 𝓛,   u = D^½1 / ‖D^½1‖
    "smooth"    the positive part of A: one step of averaging over neighbours, without oscillation
    "steps"     A (I + A) / 2: the mean of averages over one step and over two steps; no eigenproblem at any size
    "walk"      A itself
    γ           γ(2) - γ(𝓛), the weights of SPEC's φ3 ([SPEC] eq. 11), for a power γ
    h           h(𝓛), for a function of eigenvalues
    "identity"  no smoothing, no graph

The positive part is computed exactly up to 1,000 nodes (2,500 if the graph is stored in full). A sparse graph with up
to 8,000 nodes uses a Chebyshev polynomial of degree 64 or 32, which needs sparse products only. On larger graphs A is
used instead: there the negative part is small, and the chosen features hardly differ. If A has no negative part, as for
graphs of classes and anchors, A is used at any size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.polynomial import chebyshev
from scipy.linalg import eigh

from ..engine.compiled import as_block, kernels
from ..engine.threads import for_each, n_threads, one_blas_thread
from ..validation import check_choice
from .graph import Graph
from .spectrum import ALL_PAIRS, chebyshev_coefficients, polynomial, spectral_function

FILTERS = ("smooth", "steps", "walk", "identity")
# Nodes up to which the positive part is exact, for sparse and for full graphs, and up to which it is a polynomial.
_EXACT_UP_TO, _EXACT_IN_FULL, _POLYNOMIAL_UP_TO = 1000, 2500, 8000
_DEGREE, _DEGREE_OF_FEW = 32, 64  # degrees of the polynomial; the larger one up to 2,500 nodes
_PANEL = 48  # columns that a polynomial is applied to at a time; powers of two would share places in the cache

_LARGE_ROOT = 1e150  # its square is still finite
_NOTHING = 1e-12  # a smaller eigenvalue is rounding error

Apply = Callable[[np.ndarray], np.ndarray]


class Smoother:
    """F as an operator on blocks of vectors.

    Attributes
    ----------
    apply : callable
        V (n, b) -> F V.
    adjacency : csr_array or None
        A, if F = A - uu' and A is sparse.
    trivial : ndarray of shape (n,)
        u.
    """

    def __init__(self, apply: Apply, trivial: np.ndarray, adjacency: sp.csr_array | None = None):
        self.apply, self.trivial, self.adjacency = apply, trivial, adjacency

    def trace(self) -> float:
        """tr F."""
        if self.adjacency is not None:
            return float(self.adjacency.diagonal().sum() - 1.0)
        n, total = len(self.trivial), 0.0
        for start in range(0, n, _PANEL):
            some = np.arange(start, min(start + _PANEL, n))
            unit: np.ndarray = np.zeros((n, len(some)))
            unit[some, some - start] = 1.0
            total += float(self.apply(unit)[some, some - start].sum())
        return total

    def around(self, G: np.ndarray) -> np.ndarray:
        """F G F of a symmetric G."""
        return self.apply(np.ascontiguousarray(self.apply(G).T))


class _OfPairs(Smoother):
    """F = V Λ V' from its non-zero eigenpairs."""

    def __init__(self, values: np.ndarray, vectors: np.ndarray, trivial: np.ndarray):
        super().__init__(lambda V: vectors @ (values[:, None] * (vectors.T @ V)), trivial)
        self._values, self._vectors = values, vectors

    def around(self, G: np.ndarray) -> np.ndarray:
        values, vectors = self._values, self._vectors
        inside = (vectors.T @ G) @ vectors
        return (vectors @ (values[:, None] * inside * values)) @ vectors.T


def smoother(graph: Graph | None, kind: Any, n_nodes: int) -> Smoother:
    """F for one of the kinds above; all but "identity" need a graph."""
    if isinstance(kind, str):
        check_choice("filter", kind, FILTERS)
    if isinstance(kind, str) and kind == "identity":
        return Smoother(lambda V: V, np.zeros(n_nodes))
    if graph is None:
        raise ValueError(f"filter={kind!r} needs a graph, got graph=None; pass a graph or use filter='identity'.")
    trivial = np.sqrt(graph.degree)
    trivial /= np.linalg.norm(trivial) or 1.0
    if not isinstance(kind, str):
        return Smoother(_response(graph, kind, trivial), trivial)
    if kind == "steps":
        step = _walk(graph, trivial).apply

        def two_steps(V: np.ndarray) -> np.ndarray:
            once = step(V)
            return (once + step(once)) / 2.0

        return Smoother(two_steps, trivial)
    if kind == "walk" or graph.small is not None or n_nodes > _POLYNOMIAL_UP_TO:
        return _walk(graph, trivial)
    if n_nodes <= (_EXACT_UP_TO if graph.csr is not None else _EXACT_IN_FULL):
        F, root = graph.toarray(), graph.inverse_root_degree
        if root.max(initial=0.0) < _LARGE_ROOT:
            F *= root[:, None] * root
        else:  # two nodes whose weights are all but 0: one root after the other overflows for no edge
            F *= root[:, None]
            F *= root
        F -= np.outer(trivial, trivial)
        with one_blas_thread(0.0):  # a second thread saves little, and costs much on a busy machine
            values, vectors = eigh(F, driver="evd", overwrite_a=True)
        first = int(np.searchsorted(values, _NOTHING, side="right"))
        return _OfPairs(values[first:], np.ascontiguousarray(vectors[:, first:]), trivial)
    return Smoother(_positive_part(graph, trivial), trivial)


def _positive_part(graph: Graph, trivial: np.ndarray) -> Apply:
    """max(A, 0) on the complement of u, as Σ_p c_p T_p(A), applied to a few columns at a time on all allowed cores."""
    degree = _DEGREE_OF_FEW if graph.n_nodes <= _EXACT_IN_FULL else _DEGREE
    (average, A), positive = _averaging(graph), cast("Any", lambda x: np.maximum(x, 0.0))
    coefficients = np.asarray(chebyshev.chebinterpolate(positive, degree))
    isolated = np.flatnonzero(~graph.active)

    def panel(V: np.ndarray, compiled: Any) -> np.ndarray:
        V[isolated] = 0.0
        before = V - _along(trivial, V)
        now = average(before)
        total = coefficients[0] * before + coefficients[1] * now
        if compiled is not None and A is not None:
            compiled.chebyshev(A.indptr, A.indices, A.data, coefficients, before, now, total)
        else:
            for c in coefficients[2:]:
                before, now = now, 2.0 * average(now) - before
                total += c * now
        return total - _along(trivial, total)

    def apply(V: np.ndarray) -> np.ndarray:
        result, work = np.empty(V.shape), float(V.size) * degree
        compiled = kernels(work)

        def one(start: int) -> None:
            part = slice(start, start + _PANEL)
            result[:, part] = panel(V[:, part].copy(order="C"), compiled)

        for_each(one, range(0, V.shape[1], _PANEL), work)
        return result

    return apply


def _averaging(graph: Graph) -> tuple[Apply, sp.csr_array | None]:
    """V -> A V, and A if it is sparse."""
    root = graph.inverse_root_degree[:, None]
    W = graph.csr
    if W is None:
        return lambda V: root * graph.dot(root * V), None
    A = sp.csr_array(W.multiply(root).multiply(root.T))
    return lambda V: A @ V, A


def _walk(graph: Graph, trivial: np.ndarray) -> Smoother:
    average, A = _averaging(graph)

    def apply(V: np.ndarray) -> np.ndarray:
        return average(V) - _along(trivial, V) if A is None else _row_by_row(A, trivial, V)

    return Smoother(apply, trivial, A)


def _row_by_row(A: sp.csr_array, unit: np.ndarray, V: np.ndarray) -> np.ndarray:
    """(A - uu') V, with the rows shared by threads."""
    n, work = A.shape[0], float(A.nnz) * V.shape[1]
    compiled, along = kernels(work), unit @ V
    V = np.ascontiguousarray(V) if compiled is None else as_block(V)
    result, step = np.empty((n, len(along))), max(1, -(-n // (16 * n_threads(work))))

    def rows(start: int) -> None:
        some = slice(start, start + step)
        if compiled is None:
            result[some] = A[some] @ V - np.outer(unit[some], along)
        else:
            compiled.averages(A.indptr, A.indices, A.data, V, unit, along, start, result[some])

    for_each(rows, range(0, n, step), work)
    return result


def _response(graph: Graph, kind: Any, trivial: np.ndarray) -> Apply:
    function = spectral_function(kind)
    if not callable(kind):
        power = function
        function = lambda values: power(np.full(1, 2.0)) - power(values)  # noqa: E731
    if graph.n_nodes - graph.n_isolated > ALL_PAIRS:
        coefficients = chebyshev_coefficients(function)

        def apply(V: np.ndarray) -> np.ndarray:
            active = graph.active[:, None] * V
            total = polynomial(graph, coefficients, active - _along(trivial, active))
            return total - _along(trivial, total)

        return apply
    values, vectors = graph.spectrum()
    weights = function(values[1:])[:, None]
    return lambda V: vectors[:, 1:] @ (weights * (vectors[:, 1:].T @ V))


def _along(unit: np.ndarray, V: np.ndarray) -> np.ndarray:
    """The part of each column of V along a unit vector."""
    return np.outer(unit, unit @ V)
