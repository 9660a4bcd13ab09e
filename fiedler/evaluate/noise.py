"""Which columns agree with others? A screen against noise, before any graph is built."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..problem import Problem
from ..significance.agreement import Agreement, agreement_of

__all__ = ["Agreement", "agreement"]


def agreement(X: Any) -> Agreement:
    """Find the columns that correlate with other columns more than expected by chance.

    Under the null hypothesis the values of a column are exchangeable over the rows. The mean and the variance of its
    squared correlations with the other columns are then known exactly, so no permutations, folds or seeds are needed.
    The test is repeated a few times; each round gives more weight to columns that are likely to be real.

    The result does not depend on the scale, the sign or the order of the columns. The test fails for text, for a single
    informative column, for columns that depend on each other without correlation, for blocks of correlated noise, and
    for very heavy tails. The page "Features among noise" has a number for each case.

    Parameters
    ----------
    X : array-like, frame, sparse matrix, source, Dask array, AnnData, DataArray or Problem
        The data, of shape (n_samples, n_features). Sources are read twice in each round. Sparse columns stay sparse.

    Returns
    -------
    agreement : Agreement
        Posterior and p-value of each column, and whether the column is kept.

    See Also
    --------
    fiedler.SpectralSelector : Selects among the kept columns with ``screen="agreement"``.
    fiedler.Agreeing : The graph of the kept columns.

    Examples
    --------
    >>> import numpy as np
    >>> from fiedler.evaluate import agreement
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 160))
    >>> X[:, :10] += np.repeat([0.0, 2.5], 40)[rng.permutation(80), None]
    >>> found = agreement(X)
    >>> found
    Agreement(n_features=160, n_kept=10, n_rounds=3)
    >>> np.flatnonzero(found.kept)
    array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """
    problem = Problem.of(X)
    names = problem.feature_names if problem.feature_names is not None else getattr(problem.X, "names", None)
    found = agreement_of(problem)
    return found if names is None else replace(found, feature_names=np.asarray(names, dtype=object))
