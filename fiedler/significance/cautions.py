"""Warnings about data for which p-values are too small, too large, or not informative."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp

from ..engine.products import is_integer
from ..graphs import Graph
from ..problem import Problem
from ..validation import is_sparse

_NEARLY_ALL = 0.9  # share of the features that counts as nearly all
# Number of leading vectors; limits of their autocorrelation, absolute and in 1/√n.
_VECTORS, _IN_ORDER, _CHANCE = 3, 0.5, 4.0
_UNEQUAL = 0.2  # relative standard deviation of the row totals of counts that gives a warning
_RARE = 10  # fewer rows with the rarer of two values give a warning
_SKEWED, _MANY = 0.5, 0.1  # limits of the skewness of the null, and of the share of features above it


def warn_of_structure(q: np.ndarray, alpha: float) -> None:
    """Warn if most features are significant, because the test then does not separate them."""
    found, tested = int(np.sum(q <= alpha)), int(np.sum(~np.isnan(q)))
    if 2 * found > tested:
        share = "nearly all" if found >= _NEARLY_ALL * tested else "more than half"
        _warn(
            f"{found} of {tested} features are significant (q <= {alpha:g}): the features share structure, and "
            f"{share} of them follow it; rank by effect to choose among them."
        )


def warn_of_order(problem: Problem) -> None:
    """Warn if successive rows are similar: rows of a time series are not exchangeable."""
    graphs = (graph for graph in problem.built(Graph) if graph.storage != "summed" and graph.active.any())
    graph = next(graphs, None)
    if graph is None:
        return
    vectors = graph.spectrum(_VECTORS + 1)[1][:, 1:]
    vectors = vectors - vectors.mean(axis=0)
    lag = max((float(v[:-1] @ v[1:] / (v @ v or 1.0)) for v in vectors.T), default=0.0)
    if lag > max(_IN_ORDER, _CHANCE / np.sqrt(problem.n_samples)):
        _warn(
            f"successive rows are similar (lag-one autocorrelation {lag:.2f} of a leading vector of the graph). If "
            "rows are ordered by time or batch, they are not exchangeable and p-values are too small; test one row "
            "per segment, or pass y. If rows are sorted by class, ignore this warning."
        )


def warn_of_sizes(X: np.ndarray | sp.csc_array) -> None:
    """Warn about counts with unequal row totals: then even noise features follow the total."""
    values = X.data if is_sparse(X) else X
    if values.size == 0 or values.max() <= 1 or values.min() < 0 or not (is_sparse(X) or values.min() == 0):
        return
    if not is_integer(X):
        return
    totals = np.asarray(X.sum(axis=1, dtype=np.float64)).ravel()
    spread = float(totals.std() / (totals.mean() or 1.0))
    if spread > _UNEQUAL:
        _warn(
            f"X holds counts whose row totals vary by {spread:.0%} of their mean: features that only follow the total "
            "become significant too; divide the rows by their totals first, and take logarithms."
        )


def warn_of_rare_values(rarer: np.ndarray) -> None:
    """Warn about columns with a rare value: few permutations differ, so a smooth tail is only approximate."""
    rare = int(np.sum(rarer < _RARE - 0.5))
    if rare:
        _warn(
            f"{rare} columns take two values, one of them in fewer than {_RARE} rows: their p-values are only "
            "approximate; omit these columns, or check them with n_permutations=999."
        )


def warn_of_heavy_tails(skewness: np.ndarray) -> None:
    """Warn about heavy-tailed features: few permutations, with extreme values at hubs, dominate the null variance."""
    heavy, tested = int(np.sum(skewness > _SKEWED)), int(np.sum(~np.isnan(skewness)))
    if heavy > _MANY * tested:
        _warn(
            f"{heavy} of {tested} features are heavy-tailed on a graph with hubs, for which the closed form is "
            "conservative and p-values are too large; use ranks, logarithms, KNN(metric='cosine') for counts, or "
            "n_permutations=999."
        )


def _warn(text: str) -> None:
    warnings.warn(text, UserWarning, stacklevel=4)
