"""Agreement: which columns correlate with others by more than chance, as a result that can be read and drawn.

The statistic, its null and the rounds are in :mod:`fiedler.engine.agreement`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..graphs.agreeing import ColumnAgreement
from ..problem import Problem
from ..words import to_frame


@dataclass(frozen=True, eq=False, repr=False)
class Agreement:
    """Which columns agree with others.

    Parameters
    ----------
    posterior : ndarray of shape (n_features,)
        How likely a column agrees with others: 1 - its local false discovery rate. NaN for a constant column, and for
        all columns where there are fewer than 6 rows or 3 columns that vary.
    pvalues : ndarray of shape (n_features,)
        Of the last round: the probability of so large a weighted sum of squared correlations if the values of the
        column came in another order. Later rounds weight columns by what earlier ones found, so these p-values order
        the columns, and are no guarantee.
    kept : ndarray of bool, shape (n_features,)
        The columns whose posterior is at least 0.8. Every column, where the first round finds none with a q-value of
        at most 0.1, or the last one fewer than two.
    n_rounds : int
        1 where the first round found nothing, up to 6 otherwise; 0 where there is too little to tell.
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
    found = problem.build(ColumnAgreement())
    return Agreement(*found, np.arange(problem.n_features))
