"""Is this feature real? p-values that hold on noise, false discovery rates and effect sizes, feature by feature.

    H₀ of a feature: its values are exchangeable over the rows, given the graph

Graphs of labels, targets, pairs and graphs that are given have not read the feature and are taken as they are. A graph
of X is cross-fitted: features are dealt into folds, and each fold is tested on the graph of the others.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..criteria import Criterion
from ..data.arrays import Block, Matrix
from ..data.source import Source
from ..engine.blocks import level_copies, map_columns
from ..engine.distances import check_range
from ..problem import Problem
from ..selection.crossfit import CrossFit, InMemory, reads_features
from ..selection.significance import Verdict
from ..syntax import as_criterion
from ..validation import check_choice, check_integer, check_share
from .cautions import warn_of_heavy_tails, warn_of_order, warn_of_rare_values, warn_of_sizes, warn_of_structure
from .curves import to_frame
from .nulls import Builder, Test, null_of

_VALUES = len(Verdict._fields)  # per feature


@dataclass(frozen=True, eq=False, repr=False)
class Significance:
    """How sure it is that features are more than noise.

    Attributes
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
        """Number of features with a q-value of at most alpha: of these a share alpha is expected to be noise."""
        check_share("alpha", alpha)
        return int(np.sum(self.qvalues <= alpha))

    def frame(self) -> Any:
        """One row per feature, as a pandas DataFrame."""
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
    """Test every feature: is its score better than that of its own values in another order?

    The null of the Laplacian score on any graph, with it of φ2 with γ = 1, of SLS and of the Fisher score, and that of
    C1 are in closed form: mean, variance and third moment over all orders are exact, the tail is a Pearson III
    distribution. sSelect is tested by its labels in other orders, its graph term held. Everything else is refused, or
    tested by ``n_permutations`` orders of the feature where that is honest.

    Parameters
    ----------
    criterion : Criterion or str
    X, y, must_link, cannot_link, unlabeled
        As in :meth:`fiedler.SpectralSelector.fit`. With a graph that reads X, such as KNN(), X has to be in memory.
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
    n_permutations : int, optional
        Test by so many random orders of the feature, any criterion; of sSelect, by so many orders of the labels, 999
        by default. No p-value is then below 1 / (n_permutations + 1).
    random_state : int, default=0

    Returns
    -------
    Significance

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
    check_choice("correction", correction, ("bh", "by"))
    check_integer("random_state", random_state, 0)
    if n_permutations is not None:
        check_integer("n_permutations", n_permutations, 19)  # fewer cannot reach .05
    told = {"must_link": must_link, "cannot_link": cannot_link, "unlabeled": unlabeled}
    problem = Problem.of(X, y, **told)
    builder, orders = null_of(criterion, n_permutations)
    folds: tuple[int | None, int | None] = None, None
    if reads_features(criterion):
        folds = _check_folds(n_folds), check_integer("n_repeats", n_repeats, 1)
        dealt = CrossFit(criterion, _in_memory(criterion, problem.X), problem.supervision, groups)
        found = _crossfitted(builder, dealt, *folds, random_state)
    else:
        test = builder(problem, random_state)
        found = Verdict(*map_columns(partial(_rows_of_verdict, test), problem.X))
        check_range(problem.X, np.flatnonzero(np.isnan(found.p)))
    p, z, effect = (level_copies(values, problem.X) for values in found[:3])
    q = adjusted(p, correction)
    warn_of_rare_values(found.rarer)
    warn_of_heavy_tails(found.skewness)
    if folds[0] is not None:
        warn_of_structure(q)
    columns = names if names is not None else getattr(problem.X, "names", None)
    columns = np.arange(problem.n_features) if columns is None else np.asarray(columns, dtype=object)
    return Significance(p, q, z, effect, correction, *folds, orders, columns)


def adjusted(p: np.ndarray, correction: str = "bh") -> np.ndarray:
    """q-values by Benjamini and Hochberg, or by Benjamini and Yekutieli; NaN stays NaN and is not counted.

    Examples
    --------
    >>> import numpy as np
    >>> from fiedler.evaluate.significance import adjusted
    >>> adjusted(np.array([0.01, 0.5, np.nan, 0.02]))
    array([0.03, 0.5 ,  nan, 0.03])
    """
    order = np.argsort(p)[: np.count_nonzero(~np.isnan(p))]  # NaN sorts last
    m = len(order)
    rank = np.arange(1, m + 1)
    scaled = p[order] * m / rank * (np.sum(1.0 / rank) if correction == "by" else 1.0)
    q = np.full(len(p), np.nan)
    q[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return q


def _in_memory(criterion: Criterion, X: Matrix) -> InMemory:
    if isinstance(X, Source):
        raise ValueError(
            f"{criterion!r} builds its graph from X, which is then needed in memory for every fold, but {X.label} is "
            "read in blocks; load it first, or pass a graph as Precomputed(W)."
        )
    return X


def _check_folds(n_folds: Any) -> int:
    if n_folds == 1:
        raise ValueError(
            "n_folds=1 would test features on a graph they built themselves, on which noise looks real; use 2 or more."
        )
    return check_integer("n_folds", n_folds, 2)


def _crossfitted(builder: Builder, dealt: CrossFit, n_folds: int, n_repeats: int, random_state: int) -> Verdict:
    """The median over repeats of what each column's fold says about it."""
    found = np.empty((n_repeats, _VALUES, dealt.X.shape[1]))
    for repeat in range(n_repeats):
        seed = [random_state, repeat]
        for number, fold in enumerate(dealt.folds(n_folds, seed)):
            with warnings.catch_warnings():
                if repeat or number:  # what one graph warns of, the others do too
                    warnings.simplefilter("ignore", UserWarning)
                test = builder(fold.others, seed)
                found[repeat][:, fold.columns] = map_columns(partial(_rows_of_verdict, test), fold.X)
            if not (repeat or number):
                warn_of_sizes(dealt.X)
                warn_of_order(fold.others)
    check_range(dealt.X, np.flatnonzero(np.isnan(found[0, 0])))
    return Verdict(*np.median(found, axis=0))


def _rows_of_verdict(test: Test, F: Block) -> np.ndarray:
    return np.array(test(F))
