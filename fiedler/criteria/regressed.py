"""How much a feature contributes to a sparse regression of the leading eigenvectors of a graph on all features.

    lasso        min_a ½‖y - Ca‖² + λ ‖a‖₁                          one eigenvector at a time
    group lasso  min_A ½‖Y - CA‖² + λ Σ_j ‖a_j‖₂                    all together; a_j: row of feature j

λ decreases until the requested number of features has coefficients that are not 0. The lasso follows its exact path to
the point where the next feature is about to enter. The group lasso lowers λ in steps of 5 %, from the smallest λ
at which all coefficients are 0. These scores compare features with each other, so all columns must be in memory.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from sklearn.exceptions import ConvergenceWarning

from ..data.arrays import dense
from ..data.memory import allocation_limit
from ..engine.blocks import column_hashes
from ..engine.threads import one_blas_thread
from ..errors import ParameterError
from ..graphs import Graph, Recipe, as_recipe
from ..problem import Problem
from ..validation import check_choice, check_integer
from .criterion import Criterion, Features, Scorer, Traits
from .energy import Rayleigh
from .moments import centred
from .nulls import Null
from .phi import number_of_clusters

_USUAL = 50  # coefficients that are not 0, if neither the parameter nor a selection states their number
_ROUNDING = 1e-12  # a smaller coefficient of the lasso, relative to the largest, is 0
_FALL = 0.95  # factor between two values of λ of the group lasso
_LEAST = 1e-4  # smallest λ, as a share of the largest
_SWEEPS, _CLOSE, _EXACT = 2000, 1e-8, 1e-13  # most sweeps; accuracy that ends sweeps, and that ends Newton steps
_NEWTON = 2000  # largest number of unknowns of a Newton step


class Regressed(Criterion):
    """Coefficients of a feature in a sparse regression of the leading eigenvectors ([MCFS], [MRSF]). Large is good.

        "lasso"        score_j = max_k |a_kj|,   a_k = argmin ½‖y_k - Ca‖² + λ_k ‖a‖₁,   Ly_k = λ Dy_k, ‖y_k‖ = 1
        "group lasso"  score_j = ‖a_j‖₂,         A = argmin ½‖Y - ĈA‖² + λ Σ_j ‖a_j‖₂,   Y = [√(2 - λ_k) ξ_k]

    C holds the centred columns of X in their own scale. Ĉ holds D^½f̃, of length 1. The trivial eigenvector is not
    used. λ decreases until ``n_nonzero`` coefficients (rows) are not 0 (:mod:`fiedler.criteria.regressed`). All other
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
    def traits(self) -> Traits:
        return Traits(greater_is_better=True, reads_scale=self.penalty == "lasso")  # the group lasso reads unit columns

    def null(self) -> Null:
        return Rayleigh(as_recipe(self.graph)).null()  # a feature is significant if it is smooth on the graph

    def scorer(self, problem: Problem) -> Scorer:
        check_choice("penalty", self.penalty, ("lasso", "group lasso"))
        wanted = problem.n_wanted or _USUAL
        if self.n_nonzero is not None:
            wanted = check_integer("n_nonzero", self.n_nonzero, 1)
        check_in_memory(problem, repr(self))
        graph = problem.graph(as_recipe(self.graph))
        if not graph.active.any():
            raise ParameterError(f"{self!r} needs a graph with at least one edge.", parameter="graph", value=self.graph)
        k = number_of_clusters(graph, problem.supervision, self.n_clusters)
        values, vectors = graph.spectrum(k + 2)
        if len(values) > k + 1 and abs(values[k + 1] - values[k]) <= 1e-9:
            what = f"n_clusters={k} splits a repeated eigenvalue ({values[k]:.3g}), so the eigenvectors depend on the"
            warnings.warn(f"{what} basis that the solver chose; try another n_clusters.", UserWarning, stacklevel=2)
        values, vectors = values[1 : k + 1], vectors[graph.active, 1 : k + 1]
        by_lasso = self.penalty == "lasso"
        if by_lasso:
            targets = centred(graph.inverse_root_degree[graph.active, None] * vectors)
            targets = targets / np.linalg.norm(targets, axis=0)
        else:
            targets = np.sqrt(np.maximum(2.0 - values, 0.0)) * vectors

        def finish(found: np.ndarray, among: Features) -> np.ndarray:
            return _scores(found, graph, targets, wanted, by_lasso)

        return Scorer(graph.rows, lambda F, columns: dense(F), finish, n=graph.n_nodes, compares=True)


def _scores(X: np.ndarray, graph: Graph, targets: np.ndarray, n_nonzero: int, by_lasso: bool) -> np.ndarray:
    """Scores of all columns; constant ones are NaN in X and in the result."""
    constant = np.isnan(X).any(axis=0)
    X = np.ascontiguousarray(np.where(constant, 0.0, X))
    hashes = column_hashes(X, np.arange(X.shape[1]))
    _, first, copies = np.unique(hashes, return_index=True, return_inverse=True)
    order = np.argsort(first)  # distinct columns in the order of X, so that ties go to the first
    X, n_nonzero = X[:, first[order]], min(n_nonzero, int(np.sum(~constant[first])))
    if by_lasso:
        C = np.asfortranarray(centred(X[graph.active]))
        distinct = np.max([np.abs(lasso_coefficients(C, y, n_nonzero)) for y in targets.T], axis=0)
    else:
        C = (np.sqrt(graph.degree)[:, None] * graph.centre(X))[graph.active]
        length = np.linalg.norm(C, axis=0)
        distinct = np.linalg.norm(group_lasso(C / np.where(length > 0, length, 1.0), targets, n_nonzero)[0], axis=1)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return np.where(constant, np.nan, distinct[place[copies.ravel()]])


# -------------------------------------------------------------------- regression


def check_in_memory(problem: Problem, name: str) -> None:
    """Raise an error if the columns of X do not fit into memory in double precision."""
    n, m = problem.X.shape
    size, limit = 8.0 * n * m, allocation_limit()
    if size > limit:
        message = (
            f"{name} compares all features with each other and needs X of {n} x {m} in memory: {size / 1e9:.1f} GB, "
            f"but at most {limit / 1e9:.1f} GB are free; use subset, or first select features by laplacian."
        )
        raise ParameterError(message, parameter="criterion", value=name)


def lasso_coefficients(C: np.ndarray, y: np.ndarray, n_nonzero: int) -> np.ndarray:
    """Coefficients of the lasso where n_nonzero of them are not 0 and the next feature is about to enter."""
    from sklearn.linear_model import lars_path  # takes long to load, and few methods need it

    # lars_path compares correlations / n with fixed numbers, so both are brought to the order of 1.
    longest, steep = float(np.linalg.norm(C, axis=0).max(initial=0.0)) or 1.0, len(C) / (np.linalg.norm(y) or 1.0)
    with warnings.catch_warnings(), one_blas_thread(0.0):
        # The path ends where the columns left depend on those taken, which is no failure here.
        warnings.simplefilter("ignore", ConvergenceWarning)
        most = n_nonzero + max(10, n_nonzero // 2)  # a step may also take a feature out
        path = lars_path(C / longest, steep * y, method="lasso", max_iter=most, copy_X=False)[2]
    path[np.abs(path) <= _ROUNDING * np.abs(path).max(axis=0)] = 0.0  # where a feature leaves, rounding may be left
    enough = np.flatnonzero(np.count_nonzero(path, axis=0) >= n_nonzero)
    return path[:, enough[0] if len(enough) else -1] / (longest * steep)


def group_lasso(C: np.ndarray, Y: np.ndarray, n_nonzero: int) -> tuple[np.ndarray, float]:
    """Coefficients of shape (m, k) at the first λ where at least n_nonzero rows are not 0, and this λ."""
    with one_blas_thread(0.0):  # a second thread slows many small products down
        B = C.T @ Y
        most = float(np.sqrt(np.einsum("jk,jk->j", B, B).max(initial=0.0)))
        A, lam = np.zeros_like(B), most
        while most and lam > _LEAST * most and np.count_nonzero(A.any(axis=1)) < n_nonzero:
            lam *= _FALL
            A = _minimum(C, Y, B, A, lam)
        return A, lam


def _minimum(C: np.ndarray, Y: np.ndarray, B: np.ndarray, start: np.ndarray, lam: float) -> np.ndarray:
    """The minimum for one λ; columns take part from where their optimality condition first fails."""
    A, solved = start.copy(), False
    active = A.any(axis=1)
    while True:
        left = np.linalg.norm(B - C.T @ (C[:, active] @ A[active]), axis=1)
        new = ~active & (left > lam * (1.0 + 1e-9))
        if solved and not new.any():
            return A
        active |= new
        A[active], solved = _settled(C[:, active], Y, A[active], lam), True


def _settled(C: np.ndarray, Y: np.ndarray, A: np.ndarray, lam: float) -> np.ndarray:
    """The minimum for some columns, from a start: rows in turn until they hardly change, then Newton steps."""
    if len(C) > C.shape[1]:  # the same problem with fewer rows
        Q, C = np.linalg.qr(C)
        Y = Q.T @ Y
    from sklearn.linear_model import MultiTaskLasso

    # scikit-learn divides the squares by the number of rows.
    model = MultiTaskLasso(lam / len(C), fit_intercept=False, max_iter=_SWEEPS, tol=_CLOSE, warm_start=True)
    model.coef_ = np.asfortranarray(A.T)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # Newton steps follow
        A = model.fit(C, Y).coef_.T.copy()
    rows = A.any(axis=1)
    if 0 < A[rows].size <= _NEWTON:
        A[rows] = _newton(C[:, rows].T @ C[:, rows], C[:, rows].T @ Y, A[rows], lam)
    return A


def _newton(G: np.ndarray, B: np.ndarray, A: np.ndarray, lam: float) -> np.ndarray:
    """Solve GA - B + λ a_j/‖a_j‖ = 0 for rows that are not 0; the start is returned if a step fails."""
    start, (rows, k) = A, A.shape
    eye = np.eye(k)
    for _ in range(20):
        length = np.linalg.norm(A, axis=1)
        unit = A / length[:, None]
        slope = np.kron(G, eye)
        for j in range(rows):
            here = slice(j * k, (j + 1) * k)
            slope[here, here] += lam / length[j] * (eye - np.outer(unit[j], unit[j]))
        try:
            step = cho_solve(cho_factor(slope), (G @ A - B + lam * unit).ravel()).reshape(rows, k)
        except LinAlgError:  # copies of a feature: the minimum is not unique
            return start
        A = A - step
        if not (np.einsum("jk,jk->j", A, unit) > 0.0).all():
            return start
        if np.abs(step).max() <= _EXACT * np.abs(A).max():
            break
    return A
