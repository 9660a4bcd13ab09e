"""Measures of rankings from the papers: agreement of rankings, and information that a selection preserves.

For instance, the share of preserved neighbourhoods of the samples is

    JAC = 1/n Σ_i |N_F(i) ∩ N(i)| / |N_F(i) ∪ N(i)|        [EV] section 4.2
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from scipy.stats import rankdata
from sklearn.metrics.cluster import contingency_matrix

from ..problem import Problem
from ..validation import check_choice, check_integer, is_sparse

DENSE_CELLS = 2**24  # smaller sparse columns are passed to an estimator as a dense block, which is much faster
BLOCK_CELLS = 2**22  # number of inner products in memory at a time


def kendall_coefficient(ranks: Any) -> float:
    """Kendall's coefficient of concordance between p rankings of d features, with ties ([KA] eq. 15).

        K = 12 Δ / (p² (d³ - d) - p τ)

    Δ is the scatter of the rank sums; τ is the sum of t³ - t over every group of t tied ranks in every row. K equals
    Friedman's χ² / (p (d - 1)), also with ties.

    Parameters
    ----------
    ranks : array-like of shape (p, d)
        One ranking per row; tied features share their mean rank, as in ``scipy.stats.rankdata``.

    Returns
    -------
    float
        From 0 (no agreement) to 1 (equal rankings); NaN if all features are tied in every row.

    Examples
    --------
    >>> from fiedler.evaluate import kendall_coefficient
    >>> kendall_coefficient([[1, 2, 3], [1, 3, 2], [1, 2, 3]]).__round__(4)
    0.7778
    """
    R = np.asarray(ranks, dtype=np.float64)
    if R.ndim != 2 or R.shape[1] < 2 or not np.isfinite(R).all():
        raise ValueError(f"ranks must be a finite array of shape (rankings, features >= 2), got shape {R.shape}.")
    p, d = R.shape
    if not np.allclose(R.sum(axis=1), d * (d + 1) / 2):
        raise ValueError("ranks must run from 1 to d in each row, ties sharing their mean rank (scipy.stats.rankdata).")
    sums = R.sum(axis=0)
    ties = sum(int((t**3 - t).sum()) for t in (np.unique(row, return_counts=True)[1] for row in R))
    below = p**2 * (d**3 - d) - p * ties
    return float(12.0 * ((sums - sums.mean()) ** 2).sum() / below) if below else float("nan")


def rank_sums(accuracies: Any) -> np.ndarray:
    """Rank sums T = Σ_q rank_q of competing methods over runs ([KA] eq. 16); the lowest sum is the best method.

    Parameters
    ----------
    accuracies : array-like of shape (runs, methods)
        Accuracies, for which large is good; negate errors. Equal accuracies share the better rank (1, 1, 3, 4).

    Returns
    -------
    sums : ndarray of int, shape (methods,)
        One rank sum per method.

    Examples
    --------
    >>> from fiedler.evaluate import rank_sums
    >>> rank_sums([[0.9, 0.9, 0.7], [0.6, 0.8, 0.7]])
    array([4, 2, 5])
    """
    A = np.asarray(accuracies, dtype=np.float64)
    if A.ndim != 2 or not np.isfinite(A).all():
        raise ValueError(f"accuracies must be a finite array of shape (runs, methods), got shape {A.shape}.")
    return rankdata(-A, method="min", axis=1).astype(np.intp).sum(axis=0)


def top_k_overlap(orders: Any, k: int, index: str = "kuncheva", n_features: int | None = None) -> float:
    """Mean agreement of the first k features over all pairs of rankings.

    With r common features, the Jaccard index is r / (2k - r). The index of Kuncheva (2007) corrects for chance,
    (r - k²/m) / (k - k²/m): it is 0 on average for random choices, and 1 for equal choices.

    Parameters
    ----------
    orders : array-like of int, shape (rankings, at least k)
        Column numbers, best first, as ``SpectralSelector.order_``.
    k : int
        Number of first features to compare.
    index : {"kuncheva", "jaccard"}
    n_features : int, optional
        Total number m of features, if the rankings are shorter; by default the length of the rankings.

    Returns
    -------
    float
        The mean index; NaN for Kuncheva's index at k = m, where all choices are equal.

    Examples
    --------
    >>> from fiedler.evaluate import top_k_overlap
    >>> top_k_overlap([[0, 1, 2, 3], [1, 2, 0, 3]], k=2), top_k_overlap([[0, 1, 2, 3], [1, 0, 3, 2]], k=2)
    (0.0, 1.0)
    """
    check_choice("index", index, ("kuncheva", "jaccard"))
    orders = np.asarray(orders)
    if orders.ndim != 2 or len(orders) < 2 or orders.dtype.kind not in "iu":
        raise ValueError(f"orders must hold two or more rankings of column numbers, got shape {orders.shape}.")
    m = orders.shape[1] if n_features is None else n_features
    if check_integer("k", k, 1) > orders.shape[1]:
        raise ValueError(f"k={k} is more than the {orders.shape[1]} features of each ranking; use a smaller k.")
    chosen = sp.csr_array((np.ones(len(orders) * k), orders[:, :k].ravel(), np.arange(0, len(orders) * k + 1, k)))
    common = (chosen @ chosen.T).toarray()[np.triu_indices(len(orders), 1)]
    if index == "jaccard":
        return float(np.mean(common / (2 * k - common)))
    return float(np.mean(common - k * k / m) / (k - k * k / m)) if k < m else float("nan")


def clustering_accuracy(y_true: Any, y_pred: Any) -> float:
    """Share of samples in the correct cluster under the best one-to-one matching of clusters to classes ([EV] 4.2).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Classes and clusters, under any names.

    Returns
    -------
    float
        At most 1, which means that clusters and classes agree.

    Examples
    --------
    >>> from fiedler.evaluate import clustering_accuracy
    >>> clustering_accuracy(["a", "a", "b", "b"], [1, 1, 0, 1])
    0.75
    """
    counts = contingency_matrix(y_true, y_pred)
    return float(counts[linear_sum_assignment(counts, maximize=True)].sum() / counts.sum())


def neighborhood_jaccard(X: Any, features: Any, n_neighbors: int = 5) -> float:
    """How well a subset of features preserves the nearest neighbours of the samples ([EV] section 4.2).

    The neighbours of a row are the rows with the largest inner products; ties go to the smaller row number. The score
    is the mean Jaccard index of the neighbour sets on all features and on the subset.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data; a sparse matrix stays sparse, and no n x n matrix is formed.
    features : array-like of int
        The columns of the subset.
    n_neighbors : int, default=5
        Number of neighbours of a sample.

    Returns
    -------
    float
        From 0 to 1; 1 if all neighbours are preserved.

    Examples
    --------
    >>> from fiedler.evaluate import neighborhood_jaccard
    >>> X = [[1.0, 0.1, 3.0], [1.0, 0.2, -3.0], [-1.0, 0.1, 3.1], [-1.0, 0.2, -2.9]]
    >>> neighborhood_jaccard(X, [2], n_neighbors=1), neighborhood_jaccard(X, [0], n_neighbors=1)
    (1.0, 0.0)
    """
    problem = Problem.read(X)
    X, inside = problem.X, problem.columns_of(check_features(features, problem.n_features))
    return shared_neighbors(inner_neighbors(X, n_neighbors), inner_neighbors(X[:, inside], n_neighbors))


def mean_ranks(scores: np.ndarray, greater_is_better: bool, path: np.ndarray | None = None) -> np.ndarray:
    """Ranks, 1 for the best; equal scores share their mean rank, and NaN is one group of ties at the end.

    With the ``path`` of a set, the rank is the position in it; scores do not decide there.

    Examples
    --------
    >>> import numpy as np
    >>> mean_ranks(np.array([0.5, np.nan, 0.9, 0.5]), greater_is_better=True)
    array([2.5, 4. , 1. , 2.5])
    """
    if path is not None:
        return np.argsort(path) + 1.0
    return rankdata(np.unique(-scores if greater_is_better else scores, return_inverse=True)[1])


def check_features(features: Any, n_columns: int) -> np.ndarray:
    """Distinct column numbers."""
    order = np.asarray(features)
    if order.ndim != 1 or not order.size or order.dtype.kind not in "iu":
        such = "column numbers, best first, such as SpectralSelector.order_"
        raise ValueError(f"features must be {such}; got {features!r}.")
    outside = order[(order < 0) | (order >= n_columns)]
    if len(outside):
        raise ValueError(f"features holds column {outside[0]}, but X has {n_columns} columns, numbered from 0.")
    if len(np.unique(order)) < len(order):
        raise ValueError("features contains a column twice; list every column once.")
    return order


def selected(problem: Problem, features: np.ndarray) -> Any:
    """The columns of some features for an estimator as floats, and dense if they are small enough."""
    block = problem.X[:, problem.columns_of(features)]
    if is_sparse(block):
        block = block.toarray() if np.prod(block.shape) <= DENSE_CELLS else block.tocsr()
    return block if block.dtype.kind == "f" else block.astype(np.float64)


def widths(problem: Problem, features: np.ndarray, sizes: Any) -> list[int]:
    """How many columns the first 1, 2, ... features have, for some numbers of features."""
    return [len(problem.columns_of(features[:size])) for size in sizes]


def inner_neighbors(X: Any, k: int) -> np.ndarray:
    """The k rows with the largest inner product, per row, in increasing order; ties go to the smaller row number."""
    n = X.shape[0]
    if check_integer("n_neighbors", k, 1) >= n:
        raise ValueError(f"n_neighbors={k} must be less than the {n} rows of X; use a smaller n_neighbors.")
    X = X.tocsr().astype(np.float64) if is_sparse(X) else np.asarray(X, dtype=np.float64)
    found = np.empty((n, k), dtype=np.intp)
    step = max(1, BLOCK_CELLS // n)
    for start in range(0, n, step):
        product = X[start : start + step] @ X.T
        product = product.toarray() if is_sparse(product) else product
        rows = np.arange(len(product))
        product[rows, start + rows] = -np.inf
        last = np.partition(product, n - k, axis=1)[:, n - k, None]
        tied = product == last
        room = k - np.sum(product > last, axis=1, keepdims=True)
        chosen = (product > last) | (tied & (np.cumsum(tied, axis=1) <= room))
        found[start : start + step] = np.nonzero(chosen)[1].reshape(-1, k)
    return found


def shared_neighbors(before: np.ndarray, after: np.ndarray) -> float:
    n, k = before.shape
    own = np.arange(n)[:, None] * n
    common = np.isin(own + before, own + after).sum(axis=1)
    return float(np.mean(common / (2 * k - common)))
