"""Missing values: how many, where, and whether neighbouring rows miss the same features.

For every column with holes, the indicator "known or missing" is tested like a feature: does it vary less between
neighbouring rows than its permuted values? The graph joins each row to the nearest rows by the distance over common
columns, D²_ab = m · mean of (x_a - x_b)², which reads no filled value. Filled values would make every pattern of holes
look like structure.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..engine.holes import known_neighbors
from ..graphs import Graph, Precomputed
from ..methods import LaplacianScore
from ..problem import Problem
from ..significance.testing import discover
from ..validation import check_share
from ..words import html_table, to_frame

_NEIGHBORS = 10
ALPHA = 0.1
_SHOWN = 10  # columns in a notebook


@dataclass(frozen=True, eq=False, repr=False)
class MissingValues:
    """Missing values of every feature, and tests of their pattern.

    Parameters
    ----------
    n_missing : ndarray of int, shape (n_features,)
        Number of rows in which the feature is missing.
    pvalues, qvalues : ndarray of shape (n_features,)
        p-value and q-value (Benjamini-Hochberg) of the pattern of the holes; NaN for a complete feature. A small value
        means that neighbouring rows miss the feature together.
    n_samples : int
        Number of rows.
    n_complete : int
        Number of rows without a missing value.
    feature_names : ndarray
        Names or numbers of the features.
    """

    n_missing: np.ndarray
    pvalues: np.ndarray
    qvalues: np.ndarray
    n_samples: int
    n_complete: int
    feature_names: np.ndarray

    @property
    def share(self) -> np.ndarray:
        """Share of missing values of every feature."""
        return self.n_missing / self.n_samples

    def structured(self, alpha: float = ALPHA) -> np.ndarray:
        """Numbers of the features whose pattern of holes is significant.

        Parameters
        ----------
        alpha : float, default=0.1
            The false discovery rate.

        Returns
        -------
        features : ndarray of int
            The features, those with the smallest p-value first.
        """
        check_share("alpha", alpha)
        found = np.flatnonzero(np.nan_to_num(self.qvalues, nan=1.0) <= alpha)
        return found[np.argsort(self.pvalues[found], kind="stable")]

    def frame(self) -> Any:
        """The result as a pandas DataFrame.

        Returns
        -------
        frame : DataFrame
            One row per feature, with feature, missing, share, p and q.
        """
        values = {"missing": self.n_missing, "share": self.share, "p": self.pvalues, "q": self.qvalues}
        return to_frame({"feature": self.feature_names} | values)

    def __repr__(self) -> str:
        holed = int(np.sum(self.n_missing > 0))
        total = int(self.n_missing.sum())
        return (
            f"MissingValues({total} values missing in {holed} of {len(self.n_missing)} features, "
            f"{self.n_complete} of {self.n_samples} rows complete, {len(self.structured())} patterns with structure)"
        )

    def _repr_html_(self) -> str:
        order = np.argsort(-self.n_missing, kind="stable")[:_SHOWN]
        rows = [
            [str(self.feature_names[j]), str(self.n_missing[j]), f"{self.share[j]:.1%}", f"{self.qvalues[j]:.3g}"]
            for j in order
        ]
        return html_table(repr(self), rows, ["feature", "missing", "share", "q of the pattern"])


def missing_values(X: Any, *, groups: Any = None) -> MissingValues:
    """Count missing values, and test whether the pattern of the holes carries structure.

    Parameters
    ----------
    X : array-like, frame or Problem of shape (n_samples, n_features)
        A dense table with missing values.
    groups : sequence of labels or mapping, optional
        Columns that form one feature, as in :meth:`fiedler.SpectralSelector.fit`.

    Returns
    -------
    missing : MissingValues
        Counts, p-values and q-values per feature.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from fiedler.evaluate import missing_values
    >>> X = load_iris().data.copy()
    >>> X[:50, 0] = np.nan  # one species was not measured
    >>> X[::7, 1] = np.nan  # measurements that failed at random
    >>> result = missing_values(X)
    >>> result
    MissingValues(72 values missing in 2 of 4 features, 86 of 150 rows complete, 1 patterns with structure)
    >>> result.structured()
    array([0])
    """
    problem = X if isinstance(X, Problem) else Problem.read(X, groups=groups)
    m, known = problem.n_features, problem.known
    names = problem.feature_names
    columns = np.arange(m) if names is None else np.asarray(names, dtype=object)
    if known is None:
        nothing = np.full(m, np.nan)
        none = np.zeros(m, dtype=np.intp)
        return MissingValues(none, nothing, nothing, problem.n_samples, problem.n_samples, columns)
    first = np.arange(m) if problem.groups is None else np.array([_first(problem, j) for j in range(m)])
    used = first >= 0
    of_feature = np.ones((problem.n_samples, m), dtype=bool)
    of_feature[:, used] = known[:, first[used]]
    holed = np.flatnonzero(~of_feature.all(axis=0))
    graph = _known_graph(problem)
    pvalues, qvalues = np.full(m, np.nan), np.full(m, np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an indicator has few different values; the counts show how few
        tested = discover(LaplacianScore(Precomputed(graph)), Problem(of_feature[:, holed].astype(np.float64)))
    pvalues[holed], qvalues[holed] = tested.pvalues, tested.qvalues
    n_missing = (~of_feature).sum(axis=0)
    return MissingValues(n_missing, pvalues, qvalues, problem.n_samples, int(of_feature.all(axis=1).sum()), columns)


def _first(problem: Problem, feature: int) -> int:
    """A column of a feature, which shows where the feature is missing; -1 for a feature without columns."""
    assert problem.groups is not None
    columns = problem.groups.columns(feature)
    return int(columns[0]) if len(columns) else -1


def _known_graph(problem: Problem) -> Graph:
    """The graph of the nearest rows by the distance over common columns."""
    assert problem.known is not None
    assert isinstance(problem.X, np.ndarray)
    k = min(_NEIGHBORS, problem.n_samples - 1)
    i, j, squared = known_neighbors(problem.X, problem.known, k, problem.groups)
    width = float(np.mean(np.sqrt(squared))) or 1.0
    weights = np.exp(-squared / (2.0 * width**2))
    a, b = np.minimum(i, j), np.maximum(i, j)
    _, once = np.unique(a * problem.n_samples + b, return_index=True)  # an edge that both ends name counts once
    return Graph.from_edges(a[once], b[once], weights[once], problem.n_samples)
