"""How much a feature contributes to a sparse regression of the leading eigenvectors of a graph on all features."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from ..data.arrays import dense
from ..engine.hashing import column_hashes
from ..graphs import Graph, Recipe, as_recipe
from ..problem import Problem
from ..validation import check_choice, check_integer
from .criterion import Criterion, Scorer
from .energy import Rayleigh
from .nulls import Null
from .phi import number_of_clusters
from .regression import check_in_memory, group_lasso, lasso_coefficients

_USUAL = 50  # coefficients that are not 0, if neither the parameter nor a selection states their number


class Regressed(Criterion):
    """Coefficients of a feature in a sparse regression of the leading eigenvectors ([MCFS], [MRSF]). Large is good.

        "lasso"        score_j = max_k |a_kj|,   a_k = argmin ½‖y_k - Ca‖² + λ_k ‖a‖₁,   Ly_k = λ Dy_k, ‖y_k‖ = 1
        "group lasso"  score_j = ‖a_j‖₂,         A = argmin ½‖Y - ĈA‖² + λ Σ_j ‖a_j‖₂,   Y = [√(2 - λ_k) ξ_k]

    C holds the centred columns of X in their own scale. Ĉ holds D^½f̃, of length 1. The trivial eigenvector is not
    used. λ decreases until ``n_nonzero`` coefficients (rows) are not 0 (:mod:`fiedler.criteria.regression`). All other
    features score 0. A near-duplicate of a better feature usually gets no coefficient. Identical columns get the same
    score: the regression uses only the first of them. If eigenvalues are repeated, as for a disconnected graph, the
    score depends on the basis of their eigenspace. All columns must fit into memory.

    Parameters
    ----------
    graph : Recipe
        The graph with the eigenvectors.
    penalty : {"lasso", "group lasso"}, default="lasso"
        One regression for each eigenvector, or one for all.
    n_clusters : int, optional
        Number of eigenvectors; by default as in :class:`fiedler.Phi`.
    n_nonzero : int, optional
        Number of features with coefficients; by default the number that is stated for a selection, or 50.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fiedler import KNN, Regressed
    >>> Regressed(KNN(5), n_clusters=3, n_nonzero=2).evaluate(load_iris().data).round(3)
    array([0.054, 0.04 , 0.038, 0.016])
    """

    def __init__(
        self, graph: Recipe, penalty: str = "lasso", n_clusters: int | None = None, n_nonzero: int | None = None
    ):
        self.graph, self.penalty, self.n_clusters, self.n_nonzero = graph, penalty, n_clusters, n_nonzero

    @property
    def reads_scale(self) -> bool:  # type: ignore[override]
        """Whether the units of the columns matter apart from the graph: the group lasso reads columns of length 1."""
        return self.penalty == "lasso"

    @property
    def greater_is_better(self) -> bool:
        return True

    def sized(self, n_features: int) -> Criterion:
        if self.n_nonzero is not None:
            return self
        return Regressed(self.graph, self.penalty, self.n_clusters, n_features)

    def null(self) -> Null:
        return Rayleigh(as_recipe(self.graph)).null()  # a feature is significant if it is smooth on the graph

    def scorer(self, problem: Problem) -> Scorer:
        check_choice("penalty", self.penalty, ("lasso", "group lasso"))
        wanted = _USUAL if self.n_nonzero is None else check_integer("n_nonzero", self.n_nonzero, 1)
        check_in_memory(problem, repr(self))
        graph = problem.graph(as_recipe(self.graph))
        k = number_of_clusters(graph, problem.supervision, self.n_clusters)
        values, vectors = graph.spectrum(k + 2)
        _check_gap(values, k)
        values, vectors = values[1 : k + 1], vectors[graph.active, 1 : k + 1]
        by_lasso = self.penalty == "lasso"
        if by_lasso:
            targets = _centred(graph.inverse_root_degree[graph.active, None] * vectors)
            targets = targets / np.linalg.norm(targets, axis=0)
        else:
            targets = np.sqrt(np.maximum(2.0 - values, 0.0)) * vectors

        def settle(found: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
            scores = _scores(found, graph, targets, wanted, by_lasso)
            return lambda same: scores

        return Scorer(graph.rows, dense, n_values=graph.n_nodes, settle=settle)


def _scores(X: np.ndarray, graph: Graph, targets: np.ndarray, n_nonzero: int, by_lasso: bool) -> np.ndarray:
    """Scores of all columns; constant ones are NaN in X and in the result."""
    constant = np.isnan(X).any(axis=0)
    X = np.ascontiguousarray(np.where(constant, 0.0, X))
    hashes = column_hashes(X, np.arange(X.shape[1]))
    _, first, copies = np.unique(hashes, return_index=True, return_inverse=True)
    order = np.argsort(first)  # distinct columns in the order of X, so that ties go to the first
    X, n_nonzero = X[:, first[order]], min(n_nonzero, int(np.sum(~constant[first])))
    if by_lasso:
        C = np.asfortranarray(_centred(X[graph.active]))
        distinct = np.max([np.abs(lasso_coefficients(C, y, n_nonzero)) for y in targets.T], axis=0)
    else:
        C = (np.sqrt(graph.degree)[:, None] * graph.centre(X))[graph.active]
        length = np.linalg.norm(C, axis=0)
        distinct = np.linalg.norm(group_lasso(C / np.where(length > 0, length, 1.0), targets, n_nonzero)[0], axis=1)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return np.where(constant, np.nan, distinct[place[copies.ravel()]])


def _centred(F: np.ndarray) -> np.ndarray:
    shifted = F - F[0]  # keeps large offsets exact
    return shifted - shifted.mean(axis=0)


def _check_gap(values: np.ndarray, k: int) -> None:
    if len(values) > k + 1 and abs(values[k + 1] - values[k]) <= 1e-9:
        message = (
            f"n_clusters={k} splits a repeated eigenvalue ({values[k]:.3g}), so the eigenvectors depend on the basis "
            "that the solver chose; try another n_clusters."
        )
        warnings.warn(message, UserWarning, stacklevel=2)
