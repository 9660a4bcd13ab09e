"""Is this feature real? p-values that hold on noise, false discovery rates and effect sizes, feature by feature.

    H₀ of a feature: its values are exchangeable over the rows, given the graph

The tests themselves are in :mod:`fiedler.significance`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..criteria import Criterion
from ..problem import Problem
from ..significance.testing import Significance, discover
from ..syntax import as_criterion

__all__ = ["Significance", "significance"]


def significance(
    criterion: Criterion | str,
    X: Any,
    y: Any = None,
    *,
    must_link: Any = None,
    cannot_link: Any = None,
    n_folds: int = 10,
    n_repeats: int = 5,
    groups: Any = None,
    correction: str = "bh",
    alpha: float = 0.1,
    unlabeled: Any = -1,
    n_permutations: int | None = None,
    random_state: int = 0,
) -> Significance:
    """Test whether the score of every feature is better than that of its own values in another order.

    The null of the Laplacian score on any graph, with it of φ2 with γ = 1, of SLS and of the Fisher score, and that of
    C1 are in closed form: mean, variance and third moment over all orders are exact, the tail is a Pearson III
    distribution. sSelect is tested by its labels in other orders, its graph term held. Everything else is refused, or
    tested by ``n_permutations`` orders of the feature where that is honest.

    Parameters
    ----------
    criterion : Criterion or str
        What scores the features.
    X, y : array-like
        As in :meth:`fiedler.SpectralSelector.fit`. With a graph that reads X, such as KNN(), X has to be in memory.
    must_link, cannot_link : array-like of shape (p, 2) or Pairs, optional
        Pairs of rows that belong together, and that do not.
    n_folds : int, default=10
        Folds the features are dealt into, where the graph reads X.
    n_repeats : int, default=5
        How often they are dealt; the p-value is the median. Twice the median is valid however the repeats depend on
        each other; the median itself was measured to hold, see the page "Is it real?".
    groups : array-like of shape (n_features,), optional
        Where the graph reads X, columns with the same label share a fold: probes of one gene, channels of one sensor.
        Noise that columns share looks like structure otherwise. Identical columns share one in any case.
    correction : {"bh", "by"}, default="bh"
        Benjamini and Hochberg's step-up procedure, or that of Benjamini and Yekutieli, valid under any dependence.
    alpha : float, default=0.1
        The false discovery rate you have in mind. It changes no value: at this rate a warning tells if most features
        are found.
    unlabeled : object, default=-1
        The class label that means "unknown".
    n_permutations : int, optional
        Test by so many random orders of the feature, any criterion; of sSelect, by so many orders of the labels, 999
        by default. No p-value is then below 1 / (n_permutations + 1).
    random_state : int, default=0
        Seed of the folds and of the orders.

    Returns
    -------
    significance : Significance
        p-values, q-values and effects, feature by feature.

    Examples
    --------
    >>> import numpy as np
    >>> from fiedler.evaluate import significance
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 60))
    >>> X[:, :10] += np.repeat([0.0, 2.5], 40)[rng.permutation(80), None]
    >>> result = significance("laplacian", X)
    >>> result
    Significance(n_features=60, n_significant=10 at alpha=0.1, correction='bh', n_folds=10, n_repeats=5)
    >>> np.flatnonzero(result.qvalues <= 0.1)
    array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """
    criterion = as_criterion(criterion)
    problem = Problem.of(X, y, must_link=must_link, cannot_link=cannot_link, unlabeled=unlabeled)
    options = {"n_folds": n_folds, "n_repeats": n_repeats, "groups": groups, "correction": correction, "alpha": alpha}
    found = discover(criterion, problem, **options, n_permutations=n_permutations, random_state=random_state)
    names = problem.feature_names if problem.feature_names is not None else getattr(problem.X, "names", None)
    return found if names is None else replace(found, feature_names=np.asarray(names, dtype=object))
