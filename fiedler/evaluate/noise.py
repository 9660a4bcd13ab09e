"""Which columns agree with others? A screen against noise, before any graph is built."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..problem import Problem
from ..significance.agreement import Agreement, agreement_of

__all__ = ["Agreement", "agreement"]


def agreement(X: Any) -> Agreement:
    """Find the columns that correlate with others by more than chance gives.

    Noise agrees with nothing: its squared correlations with the other columns are those of its values in another
    order. Their mean and variance over all orders are exact, so that no permutations, folds or seeds are needed. From
    round to round a column is compared with those that are likely to agree.

    The scale, the sign and the order of the columns change nothing. Text, a lone informative column, columns that
    depend on each other without correlating, blocks of correlated noise and very heavy tails are where it fails; the
    page "Features among noise" has a number for each.

    Parameters
    ----------
    X : array-like, frame, sparse matrix, source, Dask array, AnnData, DataArray or Problem
        The data, of shape (n_samples, n_features). Sources are read twice in each round; sparse columns are never
        filled in.

    Returns
    -------
    agreement : Agreement
        Posterior, p-value and whether it is kept, column by column.

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
