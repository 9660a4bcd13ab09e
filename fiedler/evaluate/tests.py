"""Tests of features: is a feature more than noise, which columns agree with others, do missing values have a pattern?

    H₀ of a feature: its values are exchangeable over the rows, given the graph

The tests are implemented in :mod:`fiedler.significance`. For every column with missing values, the indicator "known or
missing" is tested like a feature: does it vary less between neighbouring rows than its permuted values? The graph joins
each row to the nearest rows by the distance over common columns, D²_ab = m · mean of (x_a - x_b)², which reads no
filled value. Filled values would make every pattern of holes look like structure.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..criteria import Criterion
from ..engine.missing import known_neighbors
from ..graphs import Graph, Precomputed
from ..methods import LaplacianScore
from ..problem import Problem
from ..significance.testing import Agreement, Significance, agreement_of, discover
from ..syntax import as_criterion
from ..validation import check_share
from ..words import html_table, to_frame

ALPHA = 0.1
_NEIGHBORS = 10
_SHOWN = 10  # columns in a notebook


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
    blocks: Any = None,
    covariates: Any = None,
    depth: Any = None,
) -> Significance:
    """Test for every feature whether its score is better than the scores of its permuted values.

    The null distribution has a closed form for the Laplacian score (LS) on any graph, and therefore for φ2 with γ = 1,
    for the supervised Laplacian score (SLS) and for the Fisher score, and also for C1, φ3, :class:`fiedler.MultiScale`,
    :class:`fiedler.Moran` and :class:`fiedler.Geary`. Mean, variance and third moment over all permutations are exact,
    and the tail is a Pearson III distribution. sSelect is tested by permutations of
    the labels with a fixed graph term. A set such as "subset" is tested on its graph. If labels, a target or pairs are
    passed to it, association with them is tested instead, by the ranks of the feature: for classes a Kruskal-Wallis
    test with the exact moments over all permutations, for targets Spearman's correlation, for pairs C1 of the ranks;
    fewer than 20 rows are permuted. Other criteria need ``n_permutations``, which permutes the values of the
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
    blocks : array-like of shape (n_samples,), optional
        The block of each row, such as its slide, batch or donor. Values are then exchangeable inside a block only, and
        features are standardised there, so that neither a shift nor another unit of a block is taken for structure.
        Graphs are built inside blocks; edges between blocks of a given graph are left out.
    covariates : array-like of shape (n_samples,) or (n_samples, k), optional
        Numbers whose linear effect is removed from every feature, inside each block. The residuals are permuted and
        projected again (Freedman and Lane).
    depth : {"pearson"} or array-like of shape (n_samples,), optional
        X holds counts; test their Pearson residuals, for :class:`fiedler.MultiScale`. "pearson" takes the totals of the
        rows as the depths. Zeros of a sparse X are never filled in. If the measured features are few and share
        patterns, totals are not depths: leave it None, or give the depth of each row.

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
    problem, _ = Problem.of(X, y, must_link=must_link, cannot_link=cannot_link, unlabeled=unlabeled).settled()
    problem = problem.counted(depth).divided(blocks)
    options = {"n_folds": n_folds, "n_repeats": n_repeats, "groups": groups, "correction": correction, "alpha": alpha}
    more = {"n_permutations": n_permutations, "random_state": random_state, "covariates": covariates}
    found = discover(criterion.resolved(), problem, **options, **more)
    return _named(found, problem)


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
    return _named(agreement_of(problem), problem)


def _named(found: Any, problem: Problem) -> Any:
    """A result with the names of the features, if they have names."""
    names = problem.feature_names if problem.feature_names is not None else getattr(problem.X, "names", None)
    return found if names is None else replace(found, feature_names=np.asarray(names, dtype=object))


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
        holed = f"{self.n_missing.sum()} values missing in {np.sum(self.n_missing > 0)} of {len(self.n_missing)}"
        complete = f"{self.n_complete} of {self.n_samples} rows complete"
        return f"MissingValues({holed} features, {complete}, {len(self.structured())} patterns with structure)"

    def _repr_html_(self) -> str:
        rows, names = [], self.feature_names
        for j in np.argsort(-self.n_missing, kind="stable")[:_SHOWN]:
            rows.append([str(names[j]), str(self.n_missing[j]), f"{self.share[j]:.1%}", f"{self.qvalues[j]:.3g}"])
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
    n, m, names = problem.n_samples, problem.n_features, problem.feature_names
    columns = np.arange(m) if names is None else np.asarray(names, dtype=object)
    pvalues, qvalues = np.full(m, np.nan), np.full(m, np.nan)
    if problem.known is None:
        return MissingValues(np.zeros(m, dtype=np.intp), pvalues, qvalues, n, n, columns)
    present = problem.known  # of every feature; its first column shows where it is missing
    if problem.groups is not None:
        own = map(problem.groups.columns, range(m))
        present = np.column_stack([problem.known[:, inside[:1]].all(axis=1) for inside in own])
    holed = np.flatnonzero(~present.all(axis=0))
    i, j, squared = known_neighbors(np.asarray(problem.X), problem.known, min(_NEIGHBORS, n - 1), problem.groups)
    width = float(np.mean(np.sqrt(squared))) or 1.0
    a, b = np.minimum(i, j), np.maximum(i, j)
    _, once = np.unique(a * n + b, return_index=True)  # an edge that both ends name counts once
    graph = Graph.from_edges(a[once], b[once], np.exp(-squared / (2.0 * width**2))[once], n)
    with warnings.catch_warnings(action="ignore"):  # an indicator has few different values; the counts show how few
        tested = discover(LaplacianScore(Precomputed(graph)).resolved(), Problem(present[:, holed].astype(np.float64)))
    pvalues[holed], qvalues[holed] = tested.pvalues, tested.qvalues
    return MissingValues((~present).sum(axis=0), pvalues, qvalues, n, int(present.all(axis=1).sum()), columns)
