"""Agreement: which columns correlate with others by more than chance, as a result that can be read and drawn.

The statistic, its null and the rounds are in :mod:`fiedler.engine.agreement`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..graphs.neighbors import column_agreement
from ..problem import Problem
from ..words import to_frame


@dataclass(frozen=True, eq=False, repr=False)
class Agreement:
    """Which columns agree with others.

    Parameters
    ----------
    posterior : ndarray of shape (n_features,)
        Probability that a column agrees with others: 1 - its local false discovery rate. NaN for a constant column. All
        values are NaN if there are fewer than 6 rows or fewer than 3 columns that vary.
    pvalues : ndarray of shape (n_features,)
        p-value of the last round: the probability of a weighted sum of squared correlations at least this large if the
        values of the column are permuted. The weights depend on earlier rounds, so use these p-values to order the
        columns, not as a test.
    kept : ndarray of bool, shape (n_features,)
        The columns whose posterior is at least 0.8. All columns are kept if the first round finds no column with a
        q-value of at most 0.1, or if the last round finds fewer than two columns.
    n_rounds : int
        Number of rounds: 1 if the first round found nothing, up to 6 otherwise, and 0 if there are too few rows or
        columns.
    feature_names : ndarray
        Column names, or numbers.
    """

    posterior: np.ndarray
    pvalues: np.ndarray
    kept: np.ndarray
    n_rounds: int
    feature_names: np.ndarray

    @property
    def n_kept(self) -> int:
        """Number of columns that are kept."""
        return int(self.kept.sum())

    @property
    def order(self) -> np.ndarray:
        """Column numbers: the kept ones first, then by posterior, p-value and column; constants last."""
        return np.lexsort((self.pvalues, -self.posterior, ~self.kept))

    def frame(self) -> Any:
        """The result as a pandas DataFrame.

        Returns
        -------
        frame : DataFrame
            One row per feature, with feature, posterior, p and kept.
        """
        values = {"posterior": self.posterior, "p": self.pvalues, "kept": self.kept}
        return to_frame({"feature": self.feature_names} | values)

    def __repr__(self) -> str:
        return f"Agreement(n_features={len(self.kept)}, n_kept={self.n_kept}, n_rounds={self.n_rounds})"


def agreement_of(problem: Problem) -> Agreement:
    """The agreement of the columns of a problem, computed once."""
    found = column_agreement(problem)
    return Agreement(*found, np.arange(problem.n_features))
