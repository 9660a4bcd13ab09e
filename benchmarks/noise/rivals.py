"""Two selectors that were made for noisy columns, written after their papers for this page.

Both learn the weights of the columns together with the graph, so that columns of noise lose their part in it.

LLCFS: Zeng and Cheung, Feature selection and kernel learning for local learning-based clustering, IEEE Transactions on
Pattern Analysis and Machine Intelligence 33 (2011). Every row is predicted from its neighbours by a ridge regression,
in which column d has the penalty 1/τ_d:

    w_i = argmin β ‖Π_i y - X_i w‖² + Σ_d w_d² / τ_d        X_i: rows of the neighbours of i, centred by Π_i
    Y   = the leading eigenvectors of smallest ‖Y - AY‖²      A: what the regressions predict
    τ_d ∝ √(Σ_i Σ_l w_ild²),  Σ_d τ_d = 1

Weights, neighbours and Y are computed in turn. The columns are ranked by τ.

Gated Laplacian: Lindenbaum, Shaham, Peterfreund, Svirsky, Casey, Kluger, Differentiable unsupervised feature selection
based on a gated Laplacian, NeurIPS 2021. Column d is multiplied by a random gate, and the means μ of the gates minimise
the paper's loss without a parameter:

    z_d = min(max(μ_d + ε_d, 0), 1),  ε_d ~ N(0, ½²),   X̃ = X diag(z),   K_ij = exp(-‖x̃_i - x̃_j‖² / h),  P = D⁻¹K
    loss = -tr(X̃'P²X̃) / (n Σ_d Φ(μ_d / ½)),            h = 2 max_i min_j ‖x̃_i - x̃_j‖²

The gradient passes through the graph as well as through the columns. The columns are ranked by μ. Both methods read
standardised columns. Neither is told the number of classes, nor is a parameter tuned by labels: LLCFS looks for five
clusters.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.stats import norm

_CLUSTERS, _NEIGHBOURS, _BETA, _ROUNDS = 5, 30, 1.0, 10  # of LLCFS
_STEPS, _BATCH, _RATE, _MOMENTUM, _WIDTH = 100, 200, 1.0, 0.9, 0.5  # of the gates; rows in a batch, deviation of ε
_LEFT = 1e-5  # change of τ at which LLCFS has settled


def llcfs(X: Any, number: int) -> np.ndarray:
    """Local learning-based clustering with weights of the columns."""
    return np.argsort(-llcfs_weights(standard(X)), kind="stable")[:number]


def llcfs_weights(X: np.ndarray, n_clusters: int = _CLUSTERS) -> np.ndarray:
    """τ of standardised columns."""
    n, m = X.shape
    tau = np.full(m, 1.0 / m)
    for _ in range(_ROUNDS):
        K = (X * tau) @ X.T
        near = mutual_neighbours(K, min(_NEIGHBOURS, n - 1))
        A, solved = np.zeros((n, n)), []
        for i, rows in enumerate(near):
            if not len(rows):
                solved.append(np.empty((0, 0)))
                continue
            centre = np.eye(len(rows)) - 1.0 / len(rows)
            inside = centre @ K[np.ix_(rows, rows)] @ centre
            # (Π K Π + I/β)⁻¹ Π, which both the prediction and the coefficients need
            R = np.linalg.solve(inside + np.eye(len(rows)) / _BETA, centre)
            A[i, rows] = (K[i, rows] - K[np.ix_(rows, rows)].mean(axis=0)) @ centre @ R + 1.0 / len(rows)
            solved.append(R)
        M = np.eye(n) - A
        Y = eigh(M.T @ M, subset_by_index=[0, min(n_clusters, n) - 1])[1]
        squares = np.zeros(m)
        for rows, R in zip(near, solved, strict=True):
            if len(rows):
                w = tau[:, None] * (X[rows].T @ (R @ Y[rows]))  # Π R = R, so that X need not be centred
                squares += np.einsum("dl,dl->d", w, w)
        new = np.sqrt(squares)
        new /= new.sum() or 1.0
        change, tau = float(np.abs(new - tau).sum()), new
        if change < _LEFT:
            break
    return tau


def mutual_neighbours(K: np.ndarray, k: int) -> list[np.ndarray]:
    """For every row the rows that are among its k nearest, and that have it among theirs; distances from K."""
    squares = K.diagonal()
    D = squares[:, None] + squares - 2.0 * K
    np.fill_diagonal(D, np.inf)
    among = np.zeros(D.shape, dtype=bool)
    np.put_along_axis(among, np.argpartition(D, k - 1, axis=1)[:, :k], True, axis=1)
    return [np.flatnonzero(row) for row in among & among.T]


def gated(X: Any, number: int) -> np.ndarray:
    """Gates on the columns, learnt with the graph that they make."""
    return np.argsort(-gate_means(standard(X)), kind="stable")[:number]


def gate_means(X: np.ndarray, seed: int = 0) -> np.ndarray:
    """μ of standardised columns, by gradient steps with momentum on batches of rows."""
    n, m = X.shape
    rng = np.random.default_rng(seed)
    mu, velocity = np.full(m, 0.5), np.zeros(m)
    for _ in range(_STEPS):
        rows = rng.permutation(n)[: min(n, _BATCH)]
        gradient = gate_gradient(X[rows], mu, _WIDTH * rng.standard_normal(m))[1]
        velocity = _MOMENTUM * velocity + (1.0 - _MOMENTUM) * m * gradient  # m: the loss is a mean over the gates
        mu = mu - _RATE * velocity
    return mu


def gate_gradient(X: np.ndarray, mu: np.ndarray, noise: np.ndarray, h: float | None = None) -> tuple[float, np.ndarray]:
    """The loss for one draw of the gates, and its gradient by μ; h is by default that of the formula above."""
    n = len(X)
    z = np.clip(mu + noise, 0.0, 1.0)
    S = (X * z**2) @ X.T
    D = np.maximum(S.diagonal()[:, None] + S.diagonal() - 2.0 * S, 0.0)
    if h is None:
        h = 2.0 * float((D + np.diag(np.full(n, np.inf))).min(axis=1).max()) or 1.0
    K = np.exp(-D / h)
    degree = K.sum(axis=1)
    P = K / degree[:, None]
    SP, PS = S @ P.T, P.T @ S
    trace, opened = float(np.sum(P * SP)), float(norm.cdf(mu / _WIDTH).sum())
    by_P = SP + PS
    by_K = (by_P - np.sum(by_P * P, axis=1, keepdims=True)) / degree[:, None]
    by_D = -by_K * K / h
    by_D = (by_D + by_D.T) / 2.0
    # tr(P²S) by z², through X̃ and through the distances
    smooth = P @ P
    by_square = np.einsum("ij,ij->j", X, ((smooth + smooth.T) / 2.0 - 2.0 * by_D) @ X)
    by_square += 2.0 * (by_D.sum(axis=1) @ X**2)
    by_mu = np.where((mu + noise > 0.0) & (mu + noise < 1.0), 2.0 * z * by_square, 0.0)
    by_opened = norm.pdf(mu / _WIDTH) / _WIDTH
    return -trace / (n * opened), -by_mu / (n * opened) + trace * by_opened / (n * opened**2)


def standard(X: Any) -> np.ndarray:
    """Columns of mean 0 and variance 1; constants are 0."""
    X = X.toarray() if sp.issparse(X) else np.asarray(X, dtype=np.float64)
    C = X - X.mean(axis=0)
    spread = C.std(axis=0)
    return C / np.where(spread > 0, spread, 1.0)
