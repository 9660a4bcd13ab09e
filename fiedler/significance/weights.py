"""Sums over the entries of W for the permutation null, from any storage: csr, dense, or groups of rows.

    (W∘W) 1,   (W∘W) d,   Σ_ij w_ij³,   tr W³ = Σ_ij w_ij (WW)_ij

The diagonal of W is arbitrary, because it cancels in L = diag(W1) - W. If every row is in at most one group, as in
graphs of classes, W = Z C Z' is never formed: its elementwise powers are Z^k C^k Z'^k.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..engine.permuted import WeightSums
from ..graphs import Graph
from ..graphs.graph import FactoredGraph

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
    if isinstance(first, Groups) and isinstance(second, Groups) and _alike(first.Z, second.Z):
        return Groups(first.Z, (1.0 - t) * first.core - t * second.core)
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
        return WeightSums(_product(*W), degree, diagonal, squares, cubes, float(np.vdot(step @ step, step.T)))
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


def _product(Z: sp.csr_array, core: sp.csr_array) -> Callable[[np.ndarray], np.ndarray]:
    return lambda v: Z @ (core @ (Z.T @ v))


def _entries(W: WeightMatrix) -> sp.csr_array | np.ndarray:
    if isinstance(W, (Groups, Factors)):
        return sp.csr_array(W.Z @ sp.csr_array(W.core) @ W.Z.T)
    return W


def _alike(a: sp.csr_array, b: sp.csr_array) -> bool:
    parts = ("indptr", "indices", "data")
    return a.shape == b.shape and all(np.array_equal(getattr(a, p), getattr(b, p)) for p in parts)
