"""Three selectors written after their papers for this page; none of them is told the classes.

PFA: Lu, Cohen, Zhou, Tian, Feature selection using principal feature analysis, ACM Multimedia 2007. The rows of the
leading loadings, as many as explain nine tenths of the variance, are clustered, and the feature nearest to each centre
is taken, that of the largest cluster first.

UDFS: Yang, Shen, Ma, Huang, Zhou, ℓ2,1-norm regularized discriminative feature selection for unsupervised learning,
IJCAI 2011. min tr(W'MW) + γ Σ_j ‖w_j‖ with W'W = I, where M = Σ_i X_i'(X_iX_i' + λI)⁻¹X_i over the centred
neighbourhoods X_i. W holds the smallest eigenvectors of M + γU in turns with U = diag(1 / 2‖w_j‖). Features are ranked
by ‖w_j‖.

NDFS: Li, Yang, Liu, Zhou, Lu, Unsupervised feature selection using nonnegative spectral analysis, AAAI 2012.
min tr(F'LF) + α(‖F - XW‖² + β Σ_j ‖w_j‖) with F'F = I, F >= 0, by the multiplicative steps of the paper. Features are
ranked by ‖w_j‖.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh
from sklearn.cluster import KMeans

from fiedler import KNN

from ..noise.contenders import centred

_CLUSTERS, _NEIGHBOURS, _TURNS = 5, 5, 20
_GAMMA, _RIDGE = 0.1, 1.0  # of UDFS
_ALPHA, _BETA, _ORTHOGONAL = 1.0, 1.0, 1e8  # of NDFS
_LEAST = 1e-10  # norms of rows are at least this


def pfa(X: Any, k: int, random_state: int) -> np.ndarray:
    C = centred(X)
    _, s, loadings = np.linalg.svd(C, full_matrices=False)
    q = int(np.searchsorted(np.cumsum(s**2) / np.sum(s**2), 0.9)) + 1
    rows = np.abs(loadings[:q].T)
    model = KMeans(k, n_init=3, random_state=random_state).fit(rows)
    distances = model.transform(rows)
    sizes = np.bincount(model.labels_, minlength=k)
    chosen = list[int]()
    for cluster in np.argsort(-sizes, kind="stable"):
        free = np.ones(len(rows), dtype=bool)
        free[chosen] = False
        chosen.append(int(np.argmin(np.where(free, distances[:, cluster], np.inf))))
    return np.array(chosen)


def udfs(X: Any, k: int, random_state: int, gamma: float = _GAMMA) -> np.ndarray:
    C = centred(X)
    return np.argsort(-row_norms(udfs_weights(C, local_scatter(C), gamma)), kind="stable")[:k]


def local_scatter(C: np.ndarray) -> np.ndarray:
    """The n x n matrix Σ_i S_i H (X_iX_i' + λI)⁻¹ H S_i' over the neighbourhoods, each with its row."""
    n = len(C)
    squares = np.einsum("ij,ij->i", C, C)
    near = np.argsort(squares[:, None] + squares - 2.0 * (C @ C.T), axis=1)[:, : _NEIGHBOURS + 1]
    total = np.zeros((n, n))
    for rows in near:
        H = np.eye(len(rows)) - 1.0 / len(rows)
        X = H @ C[rows]
        total[np.ix_(rows, rows)] += H @ np.linalg.inv(X @ X.T + _RIDGE * np.eye(len(rows))) @ H
    return total


def udfs_weights(C: np.ndarray, scatter: np.ndarray, gamma: float = _GAMMA) -> np.ndarray:
    M = C.T @ scatter @ C
    c = min(_CLUSTERS, M.shape[0])
    U = np.ones(M.shape[0])
    for _ in range(_TURNS):
        W = eigh(M + gamma * np.diag(U), subset_by_index=[0, c - 1])[1]
        U = 0.5 / np.maximum(row_norms(W), _LEAST)
    return W


def udfs_objective(C: np.ndarray, scatter: np.ndarray, W: np.ndarray) -> float:
    return float(np.trace(W.T @ C.T @ scatter @ C @ W) + _GAMMA * row_norms(W).sum())


def ndfs(X: Any, k: int, random_state: int, beta: float = _BETA) -> np.ndarray:
    C = centred(X)
    W = KNN(_NEIGHBOURS).build(C)
    root = W.inverse_root_degree
    L = np.eye(len(C)) - root[:, None] * W.toarray() * root
    clusters = KMeans(_CLUSTERS, n_init=10, random_state=random_state).fit(C).labels_
    return np.argsort(-row_norms(ndfs_weights(C, L, clusters, beta)), kind="stable")[:k]


def ndfs_weights(C: np.ndarray, L: np.ndarray, clusters: np.ndarray, beta: float = _BETA) -> np.ndarray:
    n = len(C)
    F = np.eye(_CLUSTERS)[clusters] + 0.2
    F /= np.linalg.norm(F, axis=0)
    spread = np.ones(C.shape[1])  # 1 / D of the paper: twice the norms of the rows of W
    for _ in range(_TURNS):
        K = (C * spread) @ C.T  # X D⁻¹ X'
        inside = np.linalg.solve(K + beta * np.eye(n), F)
        W = spread[:, None] * (C.T @ inside)
        M = L + _ALPHA * (np.eye(n) - K @ np.linalg.inv(K + beta * np.eye(n)))
        below = np.maximum(M @ F + _ORTHOGONAL * F @ (F.T @ F), np.finfo(float).eps)
        F = F * (_ORTHOGONAL * F) / below
        F /= np.maximum(np.linalg.norm(F, axis=0), np.finfo(float).eps)
        spread = 2.0 * np.maximum(row_norms(W), _LEAST)
    return W


def row_norms(W: np.ndarray) -> np.ndarray:
    return np.linalg.norm(W, axis=1)
