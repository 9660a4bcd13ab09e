"""Curves of a measure against the number of features: the quality of the first k features of a ranking.

The measures are the prediction of classes (1-NN accuracy, [ZL] Algorithm 2) or of a real target (5-NN error, [DV]
section 4), the agreement of k-means clusters with the classes, and the preserved neighbourhoods ([EV] section 4.2).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import t
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import normalized_mutual_info_score
from sklearn.neighbors import KNeighborsClassifier

from ..errors import ParameterError
from ..problem import Problem
from ..validation import check_choice, check_integer
from ..words import to_frame
from .held_out import Target, cross_validated, read_target, whole_seed
from .measures import check_features, clustering_accuracy, inner_neighbors, selected, shared_neighbors, widths


@dataclass(frozen=True, eq=False, repr=False)
class Curve:
    """Repeated values of a measure against the number of features.

    Parameters
    ----------
    metric : {"accuracy", "rmse", "clustering_accuracy", "nmi", "jaccard"}
        The measure; small is good for "rmse", large for the others.
    n_features : ndarray of shape (sizes,)
        Numbers of features, increasing.
    values : ndarray of shape (repeats, sizes)
        Values of the measure.
    """

    metric: str
    n_features: np.ndarray
    values: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """Mean over the repeats."""
        return self.values.mean(axis=0)

    @property
    def std(self) -> np.ndarray:
        """Standard deviation over the repeats; NaN for a single repeat."""
        return spread(self.values)["std"]

    @property
    def band(self) -> np.ndarray:
        """95 % confidence band of the mean over the repeats, shape (2, sizes)."""
        table = spread(self.values)
        return np.stack([table["low"], table["high"]])

    @property
    def best(self) -> int:
        """The number of features with the best mean; the smallest number in case of ties."""
        return int(self.n_features[np.argmax(-self.mean if self.metric == "rmse" else self.mean)])

    def frame(self) -> Any:
        """The curve as a pandas DataFrame.

        Returns
        -------
        frame : DataFrame
            One row per number of features, with mean, standard deviation and band.
        """
        return to_frame({"n_features": self.n_features, **spread(self.values)})

    def __repr__(self) -> str:
        at = int(np.flatnonzero(self.n_features == self.best)[0])
        sizes = f"{self.n_features[0]}..{self.n_features[-1]} features, {len(self.values)} repeats"
        return f"Curve({self.metric}, {sizes}: best {self.mean[at]:.4g} at {self.best})"


def accuracy_curve(
    X: Any,
    y: Any,
    features: Any,
    *,
    n_features: Sequence[int] | None = None,
    estimator: Any = None,
    n_folds: int = 5,
    n_repeats: int = 10,
    unlabeled: Any = -1,
    random_state: int = 0,
) -> Curve:
    """Cross-validated accuracy (classes) or error (real target) on the first k features of a ranking.

    This follows [ZL] Algorithm 2, lines 11-17, and [DV] section 5. The ranking is not recomputed: if it used the labels
    of all rows, the curve is too optimistic. :func:`fiedler.evaluate.compare` ranks without the labels that it scores.

    Parameters
    ----------
    X : array-like, frame or sparse matrix of shape (n_samples, n_columns)
        The data.
    y : array-like of shape (n_samples,)
        Classes or a real target; rows with unknown values are ignored.
    features : array-like of int
        Column numbers, best first.
    n_features : sequence of int, default=5, 10, ..., 50
        Numbers of features to try.
    estimator : classifier or regressor, optional
        The model; by default 1-NN for classes and 5-NN for a real target. With a regressor, integer y is a target.
    n_folds : int, default=5
        Number of folds, stratified for classes; rows are shuffled in every repeat.
    n_repeats : int, default=10
        Number of repeats with new folds.
    unlabeled : object, default=-1
        The class label that means "unknown".
    random_state : int, default=0
        Random seed of the folds, and of the estimator if its ``random_state`` is None.

    Returns
    -------
    Curve
        A curve with ``metric`` "accuracy" or "rmse", computed over all held-out rows together.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fiedler.evaluate import accuracy_curve
    >>> accuracy_curve(*load_iris(return_X_y=True), features=[3, 2, 0, 1], n_features=[1, 2, 4], n_repeats=3)
    Curve(accuracy, 1..4 features, 3 repeats: best 0.96 at 4)
    """
    problem, y, features, sizes = _checked(X, y, features, n_features)
    target = read_target(y, problem.n_samples, estimator, unlabeled)
    values = cross_validated(problem, target, features, sizes, estimator, n_folds, random_state, n_repeats)
    return Curve(target.metric, sizes, values)


def clustering_curve(
    X: Any,
    y: Any,
    features: Any,
    *,
    metric: str = "clustering_accuracy",
    n_features: Sequence[int] | None = None,
    n_repeats: int = 1,
    unlabeled: Any = -1,
    random_state: int = 0,
) -> Curve:
    """Agreement of k-means with the classes on the first k features, the best of 10 starts ([EV] section 4.2).

    The best start is chosen by the measure itself, as in the paper. The result is therefore an upper bound, which
    cannot be reached without the classes.

    Parameters
    ----------
    X, y, features : array-like
        As in :func:`accuracy_curve`; the number of clusters is the number of classes.
    metric : {"clustering_accuracy", "nmi"}
        The measure; NMI is the mutual information divided by the larger entropy, as in [ZL].
    n_features : sequence of int, default=5, 10, ..., 50
        Numbers of features to try.
    n_repeats : int, default=1
        Number of repeats, each with ten new starts.
    unlabeled : object, default=-1
        The class label that means "unknown".
    random_state : int, default=0
        Random seed of the starts.

    Returns
    -------
    curve : Curve
        The curve of the metric.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fiedler.evaluate import clustering_curve
    >>> clustering_curve(*load_iris(return_X_y=True), features=[3, 2, 0, 1], n_features=[1, 2, 4]).mean.round(3)
    array([0.96 , 0.96 , 0.893])
    """
    check_choice("metric", metric, ("clustering_accuracy", "nmi"))
    problem, y, features, sizes = _checked(X, y, features, n_features)
    target = read_target(y, problem.n_samples, KNeighborsClassifier(), unlabeled)
    repeats = range(check_integer("n_repeats", n_repeats, 1))
    values = [clustered(problem, target, features, sizes, [random_state, repeat])[metric] for repeat in repeats]
    return Curve(metric, sizes, np.array(values))


def jaccard_curve(X: Any, features: Any, *, n_features: Sequence[int] | None = None, n_neighbors: int = 5) -> Curve:
    """Neighbourhoods preserved by the first k features of a ranking ([EV] Fig. 3); see :func:`neighborhood_jaccard`.

    Parameters
    ----------
    X : array-like, frame or sparse matrix of shape (n_samples, n_columns)
        The data.
    features : array-like of int
        Column numbers, best first.
    n_features : sequence of int, default=5, 10, ..., 50
        Numbers of features to try.
    n_neighbors : int, default=5
        Neighbours of a sample.

    Returns
    -------
    curve : Curve
        The curve of "jaccard", with a single repeat.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fiedler.evaluate import jaccard_curve
    >>> jaccard_curve(load_iris().data, [2, 3, 0, 1], n_features=[2, 4]).mean.round(3)
    array([0.894, 1.   ])
    """
    problem, _, features, sizes = _checked(X, None, features, n_features)
    before, inside = inner_neighbors(problem.X, n_neighbors), problem.columns_of(features)
    ends = widths(problem, features, sizes)
    kept = [shared_neighbors(before, inner_neighbors(problem.X[:, inside[:end]], n_neighbors)) for end in ends]
    return Curve("jaccard", sizes, np.array([kept]))


def good_against_bad(X: Any, y: Any, features: Any, *, metric: str = "accuracy", **options: Any) -> tuple[Curve, Curve]:
    """A measure on the first k and on the last k features of a ranking ([EV] section 4.4, Fig. 5, Tables 4 and 5).

    Parameters
    ----------
    X, y, features : array-like
        As in :func:`accuracy_curve`; "jaccard" ignores y.
    metric : {"accuracy", "rmse", "clustering_accuracy", "nmi", "jaccard"}
        The measure; "accuracy" and "rmse" both mean :func:`accuracy_curve`, which chooses between them by y.
    **options : object
        Passed on to the curve.

    Returns
    -------
    good, bad : Curve
        The curves on the first and on the last features.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fiedler.evaluate import good_against_bad
    >>> good, bad = good_against_bad(*load_iris(return_X_y=True), [3, 2, 0, 1], n_features=[1, 2])
    >>> (good.mean - bad.mean).round(2)
    array([0.44, 0.25])
    """
    check_choice("metric", metric, ("accuracy", "rmse", "clustering_accuracy", "nmi", "jaccard"))
    order = np.asarray(features)
    if metric == "jaccard":
        return jaccard_curve(X, order, **options), jaccard_curve(X, order[::-1], **options)
    clusters = metric in ("clustering_accuracy", "nmi")
    options |= {"metric": metric} if clusters else {}
    curve = clustering_curve if clusters else accuracy_curve
    return curve(X, y, order, **options), curve(X, y, order[::-1], **options)


def _checked(X: Any, y: Any, features: Any, n_features: Any) -> tuple[Problem, Any, np.ndarray, np.ndarray]:
    problem, y = (X if isinstance(X, Problem) else Problem.read(X)).settled(y)
    order = check_features(features, problem.n_features)
    return problem, y, order, check_sizes(n_features, len(order))


def clustered(
    problem: Problem, target: Target, features: np.ndarray, sizes: Any, seed: Sequence[int]
) -> dict[str, np.ndarray]:
    """Clustering accuracy and NMI per size: for the best of 10 starts of k-means, and as a mean over the starts."""
    truth, n_clusters = target.values[target.known], int(target.values.max()) + 1
    if len(target.values) < n_clusters:
        raise ValueError(f"X has {len(target.values)} rows for {n_clusters} clusters.")
    values = np.zeros((10, 2, len(sizes)))
    block = selected(problem, features[: max(sizes)])
    for at, end in enumerate(widths(problem, features, sizes)):
        for start in range(10):
            model = KMeans(n_clusters, n_init=1, random_state=whole_seed([*seed, start]))
            with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):  # fewer rows than clusters
                found = model.fit(block[:, :end]).labels_[target.known]
            nmi = normalized_mutual_info_score(truth, found, average_method="max")
            values[start, :, at] = clustering_accuracy(truth, found), nmi
    best, mean = values.max(axis=0), values.mean(axis=0)
    return {"clustering_accuracy": best[0], "nmi": best[1], "kmeans_accuracy": mean[0], "kmeans_nmi": mean[1]}


def check_sizes(n_features: Any, available: int) -> np.ndarray:
    """Increasing numbers of features; by default 5, 10, ..., 50 as in [ZL], up to the number of features."""
    if n_features is None:
        return np.arange(5, min(50, available) + 1, 5) if available >= 5 else np.arange(1, available + 1)
    sizes = np.unique(np.atleast_1d(n_features))
    if not sizes.size or sizes.dtype.kind not in "iu" or sizes[0] < 1 or sizes[-1] > available:
        message = f"n_features must be integers between 1 and the {available} features, got {n_features!r}."
        raise ParameterError(message, parameter="n_features", value=n_features)
    return sizes


def spread(values: np.ndarray) -> dict[str, np.ndarray]:
    """Mean, standard deviation and Student's 95 % band of the mean over rows; the band of a single row is NaN."""
    n, mean = len(values), values.mean(axis=0)
    std = values.std(axis=0, ddof=1) if n > 1 else np.full(len(mean), np.nan)
    half = t.ppf(0.975, n - 1) * std / np.sqrt(n) if n > 1 else std
    return {"mean": mean, "std": std, "low": mean - half, "high": mean + half}
