"""Sparse regression of the leading eigenvectors of a graph on all features: the lasso and the group lasso.

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

from ..data.memory import allocation_limit
from ..engine.threads import one_blas_thread
from ..errors import ParameterError
from ..problem import Problem

_ROUNDING = 1e-12  # a smaller coefficient of the lasso, relative to the largest, is 0
_FALL = 0.95  # factor between two values of λ of the group lasso
_LEAST = 1e-4  # smallest λ, as a share of the largest
_SWEEPS, _CLOSE, _EXACT = 2000, 1e-8, 1e-13  # most sweeps; accuracy that ends sweeps, and that ends Newton steps
_NEWTON = 2000  # largest number of unknowns of a Newton step


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
        path = lars_path(C / longest, steep * y, method="lasso", max_iter=_longest(n_nonzero), copy_X=False)[2]
    path[np.abs(path) <= _ROUNDING * np.abs(path).max(axis=0)] = 0.0  # where a feature leaves, rounding may be left
    enough = np.flatnonzero(np.count_nonzero(path, axis=0) >= n_nonzero)
    return path[:, enough[0] if len(enough) else -1] / (longest * steep)


def _longest(n_nonzero: int) -> int:
    """Steps of the path; a step may also take a feature out."""
    return n_nonzero + max(10, n_nonzero // 2)


def group_lasso(C: np.ndarray, Y: np.ndarray, n_nonzero: int) -> tuple[np.ndarray, float]:
    """Coefficients of shape (m, k) at the first λ where at least n_nonzero rows are not 0, and this λ."""
    with one_blas_thread(0.0):  # a second thread slows many small products down
        return _path(C, Y, n_nonzero)


def _path(C: np.ndarray, Y: np.ndarray, n_nonzero: int) -> tuple[np.ndarray, float]:
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
