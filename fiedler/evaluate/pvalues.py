"""Significance of features: p-values, false discovery rates and effect sizes.

    H₀ of a feature: its values are exchangeable over the rows, given the graph

The tests are implemented in :mod:`fiedler.significance`.
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
    """Test for every feature whether its score is better than the scores of its permuted values.

    The null distribution has a closed form for the Laplacian score (LS) on any graph, and therefore for φ2 with γ = 1,
    for the supervised Laplacian score (SLS) and for the Fisher score, and also for C1. Mean, variance and third moment
    over all permutations are exact, and the tail is a Pearson III distribution. sSelect is tested by permutations of
    the labels with a fixed graph term. Other criteria need ``n_permutations``, which permutes the values of the
    feature; they raise an error if such a test would not be valid.

    Parameters
    ----------
    criterion : Criterion or str
        The criterion that scores the features.
    X, y : array-like
        As in :meth:`fiedler.SpectralSelector.fit`. If the graph is built from X, as KNN() is, X must be in memory.
    must_link, cannot_link : array-like of shape (p, 2) or Pairs, optional
        Pairs of rows that belong together, and pairs that do not.
    n_folds : int, default=10
        Number of folds of the features, if the graph is built from X. Features are tested on a graph built from the
        other folds.
    n_repeats : int, default=5
        Number of repeats with new folds; the p-value is the median. Twice the median is valid for any dependence
        between the repeats. The page "Is it real?" shows measurements in which the median itself is valid.
    groups : array-like of shape (n_features,), optional
        Labels of the columns. If the graph is built from X, columns with the same label are put into the same fold, for
        example probes of one gene or channels of one sensor. Otherwise noise that columns share looks like structure.
        Identical columns are always in the same fold.
    correction : {"bh", "by"}, default="bh"
        The step-up procedure of Benjamini and Hochberg, or that of Benjamini and Yekutieli, which is valid under any
        dependence.
    alpha : float, default=0.1
        The intended false discovery rate. It does not change any value; a warning is issued if most features are
        significant at this rate.
    unlabeled : object, default=-1
        The class label that means "unknown".
    n_permutations : int, optional
        Number of random permutations of the feature, for any criterion. For sSelect it is the number of permutations of
        the labels, 999 by default. No p-value is then below 1 / (n_permutations + 1).
    random_state : int, default=0
        Random seed of the folds and the permutations.

    Returns
    -------
    significance : Significance
        p-value, q-value and effect size of every feature.

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
