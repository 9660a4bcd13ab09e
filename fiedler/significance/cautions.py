"""What p-values cannot see by themselves: data on which they mean less than they seem to, said in a warning each."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp

from ..engine.distances import is_integer
from ..graphs import Graph
from ..problem import Problem
from ..validation import is_sparse

_NEARLY_ALL = 0.9  # share of the features
_VECTORS, _IN_ORDER, _CHANCE = 3, 0.5, 4.0  # leading vectors, their autocorrelation, and its size in units of 1/√n
_UNEQUAL = 0.2  # spread of the row totals of counts, relative to their mean
_RARE = 10  # rows with the rarer of two values
_SKEWED, _MANY = 0.5, 0.1  # skewness of the null, and the share of features with such a one


def warn_of_structure(q: np.ndarray, alpha: float) -> None:
    """Where most features are found, being found says little."""
    found, tested = int(np.sum(q <= alpha)), int(np.sum(~np.isnan(q)))
    if 2 * found > tested:
        share = "nearly all" if found >= _NEARLY_ALL * tested else "more than half"
        _warn(
            f"{found} of {tested} features are significant (q <= {alpha:g}): these features share structure, and "
            f"{share} of them carry it; rank by effect to choose among them."
        )


def warn_of_order(problem: Problem) -> None:
    """Rows recorded one after the other are not exchangeable: neighbours in time are alike in every feature."""
    graph = next((graph for graph in problem.built(Graph) if _has_vectors(graph)), None)
    if graph is None:
        return
    vectors = graph.spectrum(_VECTORS + 1)[1][:, 1:]
    lag = max((_autocorrelation(v) for v in vectors.T), default=0.0)
    if lag > max(_IN_ORDER, _CHANCE / np.sqrt(problem.n_samples)):
        _warn(
            f"rows that follow each other are alike (lag-one autocorrelation {lag:.2f} of a leading vector of the "
            "graph): if they are in order of time or batch, they are not exchangeable and p-values are too small; "
            "test one row of each stretch, or pass y. Rows sorted by class are no harm."
        )


def warn_of_sizes(X: np.ndarray | sp.csc_array) -> None:
    """Counts that grow with a row's total are all alike in that, noise too."""
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
            "are found too; divide the rows by their totals first, and take logarithms."
        )


def warn_of_rare_values(rarer: np.ndarray) -> None:
    """Few orders of such a column differ, and a smooth tail is a rough guess."""
    rare = int(np.sum(rarer < _RARE - 0.5))
    if rare:
        _warn(
            f"{rare} columns take two values, one of them in fewer than {_RARE} rows: their p-values are rough; leave "
            "them out, or check them with n_permutations=999."
        )


def warn_of_heavy_tails(skewness: np.ndarray) -> None:
    """Few orders of a feature with a heavy tail, those with its extremes at hubs of the graph, carry the variance."""
    heavy, tested = int(np.sum(skewness > _SKEWED)), int(np.sum(~np.isnan(skewness)))
    if heavy > _MANY * tested:
        _warn(
            f"{heavy} of {tested} features are heavy-tailed on a graph with hubs, where the null in closed form is "
            "conservative: their p-values are too large; take ranks or logarithms, for counts KNN(metric='cosine'), or "
            "test by n_permutations=999."
        )


def _has_vectors(graph: Graph) -> bool:
    return graph.storage != "summed" and bool(graph.active.any())


def _autocorrelation(v: np.ndarray) -> float:
    v = v - v.mean()
    return float(v[:-1] @ v[1:] / (v @ v or 1.0))


def _warn(text: str) -> None:
    warnings.warn(text, UserWarning, stacklevel=4)
