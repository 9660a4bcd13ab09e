"""Is this feature real? p-values that hold on noise, false discovery rates and effect sizes, feature by feature.

    H₀ of a feature: its values are exchangeable over the rows, given the graph

Graphs of labels, targets, pairs and graphs that are given have not read the feature and are taken as they are. A graph
of X is cross-fitted: features are dealt into folds, and each fold is tested on the graph of the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..criteria import Criterion
from ..problem import Problem
from ..selection.discovery import discover
from ..syntax import as_criterion
from ..validation import check_share
from .curves import to_frame


@dataclass(frozen=True, eq=False, repr=False)
class Significance:
    """How sure it is that features are more than noise.

    Parameters
    ----------
    pvalues : ndarray of shape (n_features,)
        Probability of a score as good as the feature's if its values were in any other order; NaN for a feature that is
        constant on the rows the criterion reads. Over repeated folds the median.
    qvalues : ndarray of shape (n_features,)
        The smallest false discovery rate at which the feature is among those found, by the correction.
    z : ndarray of shape (n_features,)
        Standard deviations from what H₀ expects, negative where the score is the better one; in closed form those of
        the quadratic form f'Af whose sign compares the score with that of another order.
    effect : ndarray of shape (n_features,)
        1 - r / its mean under H₀: 0 for noise, 1 for a feature that does not vary along any edge. Unlike a p-value it
        does not grow with the number of rows. Of a score for which large is good, 1 - mean / score.
    correction : {"bh", "by"}
        How q-values came from p-values.
    n_folds, n_repeats : int or None
        None where the graph reads no features, and nothing is dealt.
    n_permutations : int or None
        None where the null is in closed form; otherwise no p-value is below 1 / (n_permutations + 1).
    feature_names : ndarray
        Column names, or numbers.
    """

    pvalues: np.ndarray
    qvalues: np.ndarray
    z: np.ndarray
    effect: np.ndarray
    correction: str
    n_folds: int | None
    n_repeats: int | None
    n_permutations: int | None
    feature_names: np.ndarray

    def n_significant(self, alpha: float = 0.1) -> int:
        """Number of features found at a false discovery rate.

        Parameters
        ----------
        alpha : float, default=0.1
            The largest q-value; of the features found such a share is expected to be noise.

        Returns
        -------
        int
            How many q-values are at most alpha.
        """
        check_share("alpha", alpha)
        return int(np.sum(self.qvalues <= alpha))

    def frame(self) -> Any:
        """The result as a pandas DataFrame.

        Returns
        -------
        frame : DataFrame
            One row per feature, with feature, p, q, z and effect.
        """
        names = ("pvalues", "qvalues", "z", "effect")
        shown = ("p", "q", "z", "effect")
        values = {word: getattr(self, name) for word, name in zip(shown, names, strict=True)}
        return to_frame({"feature": self.feature_names} | values)

    def __repr__(self) -> str:
        dealt = "" if self.n_folds is None else f", n_folds={self.n_folds}, n_repeats={self.n_repeats}"
        orders = "" if self.n_permutations is None else f", n_permutations={self.n_permutations}"
        found = f"n_significant={self.n_significant()} at alpha=0.1"
        return f"Significance(n_features={len(self.pvalues)}, {found}, correction={self.correction!r}{dealt}{orders})"


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
    criterion, names = as_criterion(criterion), getattr(X, "columns", None)
    problem = Problem.of(X, y, must_link=must_link, cannot_link=cannot_link, unlabeled=unlabeled)
    options = {"n_folds": n_folds, "n_repeats": n_repeats, "groups": groups, "correction": correction}
    found = discover(criterion, problem, **options, n_permutations=n_permutations, random_state=random_state)
    columns = names if names is not None else getattr(problem.X, "names", None)
    columns = np.arange(problem.n_features) if columns is None else np.asarray(columns, dtype=object)
    return Significance(*found[:4], correction, *found[4:], columns)
