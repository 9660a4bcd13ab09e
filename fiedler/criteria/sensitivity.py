"""Eigenvalue sensitivity: how much the spectrum of an RBF graph changes with the weight of a feature ([EV]).

    EVSC(t) = Σ_r |dλ_r/dw_t|,   dλ_r/dw_t = -δ^-2 Σ_{i<j} w_ij (f_i - f_j)² [ (q_ri - q_rj)² - λ_r (q_ri² + q_rj²) ]

over the eigenpairs of Lq = λDq with q'Dq = 1 (eq. 12 and 15). For all features together this is the product of an
(eigenpairs x edges) and an (edges x features) matrix, with n³ operations per feature on a full graph.

The eigenvalues of a full RBF graph sum to the trace n - Σ_i w_ii / d_i with w_ii = 1, so that
-Σ_r dλ_r = δ^-2 Σ_i d_i^-2 Σ_j w_ij (f_i - f_j)², an energy, and

    EVSC = that energy + 2 Σ_r max(dλ_r, 0)

Usually only leading eigenvalues grow with the weight of a feature. The sum of the k largest eigenvalues falls for every
k. Summing the second term over the leading pairs only removes the factor n. The number of growing eigenvalues has no
fixed bound; it can equal the number of clusters. Therefore the same number of further pairs is tried on a sample of the
features. docs/evsc.md has the proof and counterexamples.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..data.arrays import dense, take_columns
from ..engine.compiled import as_block, kernels
from ..graphs import Graph, Recipe, as_recipe
from ..problem import Problem
from ..validation import check_choice, check_integer
from .criterion import Criterion, Scorer, Traits
from .nulls import NoTest

Changes = Callable[[Any], np.ndarray]  # a block of features -> one row per eigenvalue, or one value per feature

_EDGES_AT_ONCE = 512  # many enough for a fast product, few enough for the squared differences to fit into the cache
_KEPT_CELLS = 2**25  # largest (edges x eigenpairs) matrix that is computed once and kept: 256 MiB
_LEADING = 20  # pairs of the trace mode: exact to 3e-14 for a bandwidth of .25 median distances or more on six sets
_EXACT_UP_TO = 200  # up to this number of rows, all pairs cost little more than the leading pairs
_SAMPLE, _NEGLIGIBLE = 64, 1e-9  # number of features for the check, and the share of a score that may be missed


class Sensitivity(Criterion):
    """Σ_r |dλ_r / dw_t| at w = 1, the eigenvalue sensitivity of [EV] eq. 12 and 15; large is good.

    The graph must have RBF weights: RBF(), or KNN(), whose edges are then kept fixed.

    Parameters
    ----------
    graph : Recipe
        The graph whose eigenvalues are λ.
    n_eigenvalues : int, optional
        Number of smallest eigenvalues in the sum, the trivial one included; by default all. In mode "trace" it is the
        number of leading pairs, by default 20.
    mode : {"auto", "exact", "trace"}, default="auto"
        "exact" uses every eigenpair. "trace" computes the sum from the trace and a few leading pairs, is n times
        cheaper, and warns if these pairs may not suffice. "auto" uses "trace" for a full graph with more than 200 rows;
        if 20 pairs do not suffice, it tries four times as many, and then falls back to "exact".

    Examples
    --------
    >>> from fiedler import RBF, Sensitivity
    >>> Sensitivity(RBF(1.0)).evaluate([[0.0, 3.0], [1.0, 3.0], [3.0, 3.1]]).round(4)
    array([1.1337, 0.0016])
    """

    traits = Traits(greater_is_better=True, reads_scale=True, missing=False)

    def __init__(self, graph: Recipe, n_eigenvalues: int | None = None, mode: str = "auto"):
        self.graph, self.n_eigenvalues, self.mode = graph, n_eigenvalues, mode

    def null(self) -> NoTest:
        return NoTest(
            "measures how the spectrum of a graph changes with a feature that the graph was built from, so it cannot "
            "be tested on a graph without this feature; test LaplacianScore() instead."
        )

    def scorer(self, problem: Problem) -> Scorer:
        check_choice("mode", self.mode, ("auto", "exact", "trace"))
        k = None if self.n_eigenvalues is None else check_integer("n_eigenvalues", self.n_eigenvalues, 1)
        graph = problem.graph(as_recipe(self.graph))
        if graph.bandwidth is None:
            raise ValueError(
                f"Sensitivity needs RBF weights, but {self.graph!r} has none; use RBF() or KNN(weight='rbf')."
            )
        leading = [_LEADING if k is None else k]
        if self.mode == "trace" and graph.storage != "dense":
            raise ValueError(
                f"mode='trace' needs the full graph RBF(), but {self.graph!r} is sparse: without self loops its "
                "eigenvalues have a constant sum; use mode='exact', with n_eigenvalues to save time."
            )
        if self.mode == "auto":
            full = k is None and graph.storage == "dense" and graph.n_nodes > _EXACT_UP_TO
            leading = [_LEADING, 4 * _LEADING] if full else []
        for pairs in leading if self.mode != "exact" else []:
            score, missed = _by_trace(graph, pairs, problem)
            if missed > _NEGLIGIBLE and self.mode == "trace":
                warnings.warn(
                    f"mode='trace' with n_eigenvalues={pairs} misses at least {missed:.1g} of a score: the next "
                    f"{pairs} eigenvalues contribute that much on sampled features; raise n_eigenvalues or use "
                    "mode='exact'.",
                    UserWarning,
                    stacklevel=2,
                )
            if missed <= _NEGLIGIBLE or self.mode == "trace":
                return Scorer(graph.rows, score, cost=float(graph.n_nodes * pairs))
        changes = eigenvalue_changes(graph, k, problem.n_features)
        cost = float(graph.n_nodes) * (graph.n_nodes if k is None else k)
        return Scorer(graph.rows, lambda F, columns: np.abs(changes(F)).sum(axis=0), cost=cost)


def eigenvalue_changes(graph: Graph, k: int | None, n_features: int = 1) -> Changes:
    """dλ_r/dw_t for the first k eigenvalues (rows) and the features of a block (columns)."""
    values, vectors = graph.spectrum(k)
    q = graph.inverse_root_degree[:, None] * vectors
    i, j, w = graph.edges
    w = w / -(float(graph.bandwidth or 1.0) ** 2)
    spans = [slice(start, start + _EDGES_AT_ONCE) for start in range(0, len(w), _EDGES_AT_ONCE)]

    def derivatives(part: slice) -> np.ndarray:
        qi, qj = q[i[part]], q[j[part]]
        return np.ascontiguousarray((w[part, None] * ((qi - qj) ** 2 - values * (qi**2 + qj**2))).T)

    compiled = kernels(float(len(w)) * n_features)
    kept = [derivatives(part) for part in spans] if len(w) * len(values) <= _KEPT_CELLS else None

    def changes(F: Any) -> np.ndarray:
        F = dense(F)
        total, room = np.zeros((len(values), F.shape[1])), np.empty((min(len(w), _EDGES_AT_ONCE), F.shape[1]))
        for place, part in enumerate(spans):
            squares = room[: len(i[part])]
            if compiled is not None:
                compiled.squared_differences(as_block(F), i[part], j[part], squares)
            else:
                np.take(F, i[part], axis=0, out=squares)
                squares -= F[j[part]]
                squares *= squares
            total += (derivatives(part) if kept is None else kept[place]) @ squares
        return total

    return changes


def _leading_changes(graph: Graph, values: np.ndarray, vectors: np.ndarray) -> Changes:
    """As eigenvalue_changes, for few eigenvalues of a full graph, by products with S (W without its diagonal).

    Σ_{i<j} s_ij (f_i - f_j)² [...] = (1 - λ)(q²)'h - 2 (q∘Sq)'f² + 2 (q∘f)'S(q∘f),   h = d∘f² + Sf² - 2 f∘(Sf)
    """
    q = graph.inverse_root_degree[:, None] * vectors
    S = graph.toarray()
    np.fill_diagonal(S, 0.0)
    d, on_h, on_square = S.sum(axis=1)[:, None], (1.0 - values) * q**2, 2.0 * q * (S @ q)

    def changes(F: Any) -> np.ndarray:
        f = graph.centre(dense(F))
        square = f * f
        h = d * square + S @ square - 2.0 * f * (S @ f)
        total = on_h.T @ h - on_square.T @ square
        for r in range(len(values)):
            qf = q[:, r : r + 1] * f
            total[r] += 2.0 * np.einsum("ij,ij->j", qf, S @ qf)
        return total / -(float(graph.bandwidth or 1.0) ** 2)

    return changes


def _by_trace(graph: Graph, k: int, problem: Problem) -> tuple[Callable[..., np.ndarray], float]:
    """The score from the trace and k leading pairs, and the share of a score that the next k pairs would add."""
    values, vectors = graph.spectrum(2 * k)
    inverse = graph.inverse_root_degree**4 / float(graph.bandwidth or 1.0) ** 2
    falling = Graph.from_weights(graph.toarray() * (inverse[:, None] + inverse))
    changes = _leading_changes(graph, values[:k], vectors[:, :k])

    def score(F: Any, columns: Any = None) -> np.ndarray:
        return falling.energy(F) + 2.0 * np.maximum(changes(F), 0.0).sum(axis=0)

    some = np.unique(np.linspace(0, problem.n_features - 1, _SAMPLE).astype(np.intp))
    F = take_columns(problem.X, some)
    missed = 2.0 * np.maximum(_leading_changes(graph, values[k:], vectors[:, k:])(F), 0.0).sum(axis=0)
    share = missed / np.maximum(score(F), np.finfo(np.float64).tiny)
    return score, float(np.max(share, initial=0.0))
