"""How good is a ranking of features: the papers' measures, and their curves against the number of features.

A ranking is judged by what its first k columns keep: the classes (1-NN accuracy, [ZL] Algorithm 2), a real target
(5-NN error, [DV] section 4), the clusters (k-means against the classes) or the neighbourhoods of the samples::

    JAC = 1/n Σ_i |N_F(i) ∩ N(i)| / |N_F(i) ∪ N(i)|        [EV] section 4.2

Choosing parameters and judging stability is in :mod:`fiedler.tuning`, many methods at once in :mod:`fiedler.compare`;
their functions are found here too: ``evaluate.tune_lambda``, ``evaluate.stability``, ``evaluate.compare``.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from scipy.stats import rankdata, t
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from ._validation import check_choice, check_integer
from .columns import validate_X
from .supervision import Supervision

if TYPE_CHECKING:
    from .compare import Comparison, LabelBudget, compare, label_budget  # noqa: F401
    from .tuning import (  # noqa: F401
        Stability,
        Suggestions,
        Tuning,
        cut_value,
        stability,
        suggest_n_features,
        tune,
        tune_lambda,
    )

_DENSE_CELLS = 2**24  # sparse columns up to this size go to an estimator as one dense block, which is much faster
_BLOCK_CELLS = 2**22  # inner products held at once


def __getattr__(name: str) -> Any:
    # Re-exports, loaded on demand because both modules are built on this one.
    for home in () if name.startswith("_") else (".tuning", ".compare"):
        module = importlib.import_module(home, __package__)
        if name in module.__all__:
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def kendall_coefficient(ranks: Any) -> float:
    """Kendall's coefficient of concordance between p rankings of d features, with ties ([KA] eq. 15).

        K = 12 Δ / (p² (d³ - d) - p τ)

    Δ is the scatter of the rank sums; τ sums t³ - t over every group of t tied ranks in every row. Equal to
    Friedman's χ² / (p (d - 1)), ties included.

    Parameters
    ----------
    ranks : array-like of shape (p, d)
        One ranking per row; tied features share their mean rank, as ``scipy.stats.rankdata`` gives.

    Returns
    -------
    float
        From 0 (no agreement) to 1 (the same ranking each time); NaN when every row ties all features.

    Examples
    --------
    >>> from fiedler.evaluate import kendall_coefficient
    >>> kendall_coefficient([[1, 2, 3], [1, 3, 2], [1, 2, 3]]).__round__(4)
    0.7778
    """
    R = np.asarray(ranks, dtype=np.float64)
    if R.ndim != 2 or R.shape[1] < 2 or not np.isfinite(R).all():
        raise ValueError(f"ranks must be a finite array of shape (rankings, features >= 2), got shape {R.shape}.")
    p, d = R.shape
    if not np.allclose(R.sum(axis=1), d * (d + 1) / 2):
        raise ValueError("ranks must run from 1 to d in each row, ties sharing their mean rank (scipy.stats.rankdata).")
    sums = R.sum(axis=0)
    ties = sum(int((t**3 - t).sum()) for t in (np.unique(row, return_counts=True)[1] for row in R))
    below = p**2 * (d**3 - d) - p * ties
    return float(12.0 * ((sums - sums.mean()) ** 2).sum() / below) if below else float("nan")


def rank_sums(accuracies: Any) -> np.ndarray:
    """Rank sums T = Σ_q rank_q of competing methods over runs ([KA] eq. 16); the lowest sum is the best method.

    Parameters
    ----------
    accuracies : array-like of shape (runs, methods)
        Large is good; pass negated errors. Equal accuracies share the better rank (1, 1, 3, 4).

    Returns
    -------
    ndarray of int, shape (methods,)

    Examples
    --------
    >>> from fiedler.evaluate import rank_sums
    >>> rank_sums([[0.9, 0.9, 0.7], [0.6, 0.8, 0.7]])
    array([4, 2, 5])
    """
    A = np.asarray(accuracies, dtype=np.float64)
    if A.ndim != 2 or not np.isfinite(A).all():
        raise ValueError(f"accuracies must be a finite array of shape (runs, methods), got shape {A.shape}.")
    return rankdata(-A, method="min", axis=1).astype(np.intp).sum(axis=0)


def top_k_overlap(orders: Any, k: int, index: str = "kuncheva", n_features: int | None = None) -> float:
    """Mean agreement of the first k features over all pairs of rankings.

    Jaccard: r / (2k - r) with r common features. Kuncheva (2007) corrects for chance, (r - k²/m) / (k - k²/m): 0 is
    what random choices give, 1 is the same choice each time.

    Parameters
    ----------
    orders : array-like of int, shape (rankings, at least k)
        Column numbers, best first, as ``SpectralSelector.order_``.
    k : int
    index : {"kuncheva", "jaccard"}
    n_features : int, optional
        m, when the rankings are cut short; by default their length.

    Returns
    -------
    float
        NaN for Kuncheva's index at k = m, where every choice is the same.

    Examples
    --------
    >>> from fiedler.evaluate import top_k_overlap
    >>> top_k_overlap([[0, 1, 2, 3], [1, 2, 0, 3]], k=2), top_k_overlap([[0, 1, 2, 3], [1, 0, 3, 2]], k=2)
    (0.0, 1.0)
    """
    check_choice("index", index, ("kuncheva", "jaccard"))
    orders = np.asarray(orders)
    if orders.ndim != 2 or len(orders) < 2 or orders.dtype.kind not in "iu":
        raise ValueError(f"orders must hold two or more rankings of column numbers, got shape {orders.shape}.")
    m = orders.shape[1] if n_features is None else n_features
    if check_integer("k", k, 1) > orders.shape[1]:
        raise ValueError(f"k={k} is more than the {orders.shape[1]} features of each ranking; use a smaller k.")
    chosen = sp.csr_array((np.ones(len(orders) * k), orders[:, :k].ravel(), np.arange(0, len(orders) * k + 1, k)))
    common = (chosen @ chosen.T).toarray()[np.triu_indices(len(orders), 1)]
    if index == "jaccard":
        return float(np.mean(common / (2 * k - common)))
    return float(np.mean(common - k * k / m) / (k - k * k / m)) if k < m else float("nan")


def clustering_accuracy(y_true: Any, y_pred: Any) -> float:
    """Share of samples in the right cluster under the best one-to-one matching of clusters to classes ([EV] 4.2).

    Examples
    --------
    >>> from fiedler.evaluate import clustering_accuracy
    >>> clustering_accuracy(["a", "a", "b", "b"], [1, 1, 0, 1])
    0.75
    """
    counts = contingency_matrix(y_true, y_pred)
    return float(counts[linear_sum_assignment(counts, maximize=True)].sum() / counts.sum())


def neighborhood_jaccard(X: Any, features: Any, n_neighbors: int = 5) -> float:
    """How well a subset of features keeps every sample's nearest neighbours ([EV] section 4.2).

    Neighbours are the largest inner products with other rows, ties by row number; the score is the mean Jaccard index
    of the neighbour sets before and after.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Stays sparse; n x n is never held.
    features : array-like of int
        The columns kept.
    n_neighbors : int, default=5

    Examples
    --------
    >>> from fiedler.evaluate import neighborhood_jaccard
    >>> X = [[1.0, 0.1, 3.0], [1.0, 0.2, -3.0], [-1.0, 0.1, 3.1], [-1.0, 0.2, -2.9]]
    >>> neighborhood_jaccard(X, [2], n_neighbors=1), neighborhood_jaccard(X, [0], n_neighbors=1)
    (1.0, 0.0)
    """
    X = validate_X(X)
    features = check_features(features, X.shape[1])
    return _shared_neighbors(_inner_neighbors(X, n_neighbors), _inner_neighbors(X[:, features], n_neighbors))


@dataclass(frozen=True, eq=False, repr=False)
class Curve:
    """A measure against the number of features, repeated.

    Attributes
    ----------
    metric : {"accuracy", "rmse", "clustering_accuracy", "nmi", "jaccard"}
    n_features : ndarray of shape (sizes,)
    values : ndarray of shape (repeats, sizes)
    """

    metric: str
    n_features: np.ndarray
    values: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        return self.values.mean(axis=0)

    @property
    def std(self) -> np.ndarray:
        """Standard deviation over the repeats; NaN for a single one."""
        return spread(self.values)["std"]

    @property
    def band(self) -> np.ndarray:
        """95 % confidence band of the mean over the repeats, shape (2, sizes)."""
        table = spread(self.values)
        return np.stack([table["low"], table["high"]])

    @property
    def best(self) -> int:
        """The number of features with the best mean; the smallest of equals."""
        return int(self.n_features[np.argmax(-self.mean if self.metric == "rmse" else self.mean)])

    def frame(self) -> Any:
        """One row per number of features, as a pandas DataFrame."""
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

    [ZL] Algorithm 2, lines 11-17, and [DV] section 4. The ranking is taken as given: if it has seen the labels of all
    rows, the curve is too good; :func:`fiedler.evaluate.compare` ranks without the labels it scores.

    Parameters
    ----------
    X : array-like, frame or sparse matrix of shape (n_samples, n_columns)
    y : array-like of shape (n_samples,)
        Classes or a real target; rows where it is unknown take no part.
    features : array-like of int
        Column numbers, best first.
    n_features : sequence of int, default=5, 10, ..., 50
    estimator : classifier or regressor, optional
        By default 1-NN for classes and 5-NN for a real target; a regressor reads integer y as a target.
    n_folds : int, default=5
        Stratified for classes; rows are shuffled anew in every repeat.
    n_repeats : int, default=10
    unlabeled : object, default=-1
    random_state : int, default=0

    Returns
    -------
    Curve
        ``metric`` is "accuracy", or "rmse" over all held-out rows together.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fiedler.evaluate import accuracy_curve
    >>> accuracy_curve(*load_iris(return_X_y=True), features=[3, 2, 0, 1], n_features=[1, 2, 4], n_repeats=3)
    Curve(accuracy, 1..4 features, 3 repeats: best 0.96 at 4)
    """
    X = validate_X(X)
    target = read_target(y, X.shape[0], estimator, unlabeled)
    features = check_features(features, X.shape[1])
    sizes = check_sizes(n_features, len(features))
    values = []
    for repeat in range(check_integer("n_repeats", n_repeats, 1)):
        model = prepared(estimator, target, [random_state, repeat])
        splits = folds(target, n_folds, model, np.random.default_rng([random_state, repeat]))
        values.append(predicted(X, target, [features], sizes, splits, model))
    return Curve(target.metric, sizes, np.array(values))


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

    "Best" is by the measure itself, as in the paper: an upper bound, not what a user without classes would get.

    Parameters
    ----------
    X, y, features, n_features, unlabeled, random_state
        As in :func:`accuracy_curve`; there are as many clusters as classes.
    metric : {"clustering_accuracy", "nmi"}
        NMI is divided by the larger entropy, as in [ZL].
    n_repeats : int, default=1

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fiedler.evaluate import clustering_curve
    >>> clustering_curve(*load_iris(return_X_y=True), features=[3, 2, 0, 1], n_features=[1, 2, 4]).mean.round(3)
    array([0.96 , 0.96 , 0.893])
    """
    check_choice("metric", metric, ("clustering_accuracy", "nmi"))
    X = validate_X(X)
    target = read_target(y, X.shape[0], KNeighborsClassifier(), unlabeled)
    features = check_features(features, X.shape[1])
    sizes = check_sizes(n_features, len(features))
    repeats = range(check_integer("n_repeats", n_repeats, 1))
    values = [clustered(X, target, features, sizes, [random_state, repeat])[metric] for repeat in repeats]
    return Curve(metric, sizes, np.array(values))


def jaccard_curve(X: Any, features: Any, *, n_features: Sequence[int] | None = None, n_neighbors: int = 5) -> Curve:
    """:func:`neighborhood_jaccard` of the first k features of a ranking ([EV] Fig. 3); needs no labels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fiedler.evaluate import jaccard_curve
    >>> jaccard_curve(load_iris().data, [2, 3, 0, 1], n_features=[2, 4]).mean.round(3)
    array([0.894, 1.   ])
    """
    X = validate_X(X)
    features = check_features(features, X.shape[1])
    sizes = check_sizes(n_features, len(features))
    before = _inner_neighbors(X, n_neighbors)
    kept = [_shared_neighbors(before, _inner_neighbors(X[:, features[:size]], n_neighbors)) for size in sizes]
    return Curve("jaccard", sizes, np.array([kept]))


def good_against_bad(X: Any, y: Any, features: Any, *, metric: str = "accuracy", **options: Any) -> tuple[Curve, Curve]:
    """One measure on the first k and on the last k features of a ranking ([EV] section 4.4, Fig. 5, Tables 4 and 5).

    Parameters
    ----------
    X, y, features
        As in :func:`accuracy_curve`; y is not read for "jaccard".
    metric : {"accuracy", "rmse", "clustering_accuracy", "nmi", "jaccard"}
        "accuracy" and "rmse" both stand for :func:`accuracy_curve`, which follows y.
    **options
        Passed on to the curve.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fiedler.evaluate import good_against_bad
    >>> good, bad = good_against_bad(*load_iris(return_X_y=True), [3, 2, 0, 1], n_features=[1, 2])
    >>> (good.mean - bad.mean).round(2)
    array([0.44, 0.25])
    """
    check_choice("metric", metric, ("accuracy", "rmse", "clustering_accuracy", "nmi", "jaccard"))

    def curve(order: np.ndarray) -> Curve:
        if metric == "jaccard":
            return jaccard_curve(X, order, **options)
        if metric in ("clustering_accuracy", "nmi"):
            return clustering_curve(X, y, order, metric=metric, **options)
        return accuracy_curve(X, y, order, **options)

    features = np.asarray(features)
    return curve(features), curve(features[::-1])


# -------------------------------------------------------------------- shared steps


@dataclass(frozen=True, eq=False)
class Target:
    """y as an evaluation reads it: class codes (-1 unknown) or real values (NaN unknown), and the rows known."""

    values: np.ndarray
    known: np.ndarray
    metric: str

    def shown(self, rows: np.ndarray) -> np.ndarray:
        """y as a method sees it that is told only these rows."""
        y = np.full(len(self.values), -1 if self.metric == "accuracy" else np.nan, dtype=self.values.dtype)
        y[rows] = self.values[rows]
        return y


def read_target(y: Any, n_samples: int, estimator: Any, unlabeled: Any) -> Target:
    """Classes, or a real target where the estimator is a regressor or y is not whole."""
    if estimator is not None and not (is_classifier(estimator) or is_regressor(estimator)):
        raise TypeError(f"estimator must be a scikit-learn classifier or regressor, got {estimator!r}.")
    known = Supervision(n_samples, y, unlabeled=unlabeled)
    reader = "the evaluation" if estimator is None else f"estimator={estimator!r}"
    real = y is not None and not known.has_classes if estimator is None else is_regressor(estimator)
    if real:
        values = known.target(reader)
        return Target(values, np.flatnonzero(~np.isnan(values)), "rmse")
    codes, _ = known.classes(reader)
    return Target(codes, np.flatnonzero(codes >= 0), "accuracy")


def prepared(estimator: Any, target: Target, seed: Sequence[int]) -> Any:
    """A fresh estimator, seeded where it takes a seed and has none."""
    if estimator is None:
        return KNeighborsClassifier(1) if target.metric == "accuracy" else KNeighborsRegressor(5)
    model = clone(estimator)
    seeds = [name for name, value in model.get_params().items() if name.endswith("random_state") and value is None]
    return model.set_params(**dict.fromkeys(seeds, whole_seed(seed)))


def whole_seed(seed: Sequence[int]) -> int:
    """One integer out of several, for what takes only one."""
    return int(np.random.SeedSequence(seed).generate_state(1)[0])


def folds(target: Target, n_folds: int, model: Any, rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """(train, test) rows, shuffled, every class spread evenly; files sorted by class would bias ties of 1-NN."""
    n, k = len(target.known), getattr(model, "n_neighbors", 1)
    if check_integer("n_folds", n_folds, 2) > n:
        raise ValueError(f"n_folds={n_folds} is more than the {n} labelled rows; use fewer folds or label more rows.")
    smallest = n - -(-n // n_folds)
    if smallest < k:
        raise ValueError(
            f"n_folds={n_folds} leaves {smallest} of the {n} labelled rows for training, fewer than the "
            f"n_neighbors={k} of {model!r}; use fewer neighbours or label more rows."
        )
    rows = rng.permutation(target.known)
    if target.metric == "accuracy":
        rows = rows[np.argsort(target.values[rows], kind="stable")]
    shuffled = rng.permutation(n)
    rows, fold = rows[shuffled], shuffled % n_folds
    return [(rows[fold != f], rows[fold == f]) for f in range(n_folds)]


def predicted(
    X: Any, target: Target, orders: Sequence, sizes: Any, splits: Sequence, model: Any, counted: Any = None
) -> np.ndarray:
    """Accuracy or RMSE over all held-out rows (those ``counted``), per size; one ranking for all folds or one each."""
    answers = np.full((len(sizes), len(target.values)), np.nan)
    for (train, test), order in zip(splits, orders if len(orders) > 1 else list(orders) * len(splits), strict=True):
        block = selected(X, order[: max(sizes)])
        for at, size in enumerate(sizes):
            fitted = model.fit(block[train, :size], target.values[train])
            answers[at, test] = fitted.predict(block[test, :size])
    rows = target.known if counted is None else counted
    answers, truth = answers[:, rows], target.values[rows]
    if target.metric == "accuracy":
        return np.mean(answers == truth, axis=1)
    return np.sqrt(np.mean((answers - truth) ** 2, axis=1))


def clustered(X: Any, target: Target, features: np.ndarray, sizes: Any, seed: Sequence[int]) -> dict[str, np.ndarray]:
    """Clustering accuracy and NMI per size, each the best of 10 starts of k-means."""
    truth, n_clusters = target.values[target.known], int(target.values.max()) + 1
    if len(target.values) < n_clusters:
        raise ValueError(f"X has {len(target.values)} rows for {n_clusters} clusters.")
    best = {"clustering_accuracy": np.zeros(len(sizes)), "nmi": np.zeros(len(sizes))}
    block = selected(X, features[: max(sizes)])
    for at, size in enumerate(sizes):
        for start in range(10):
            model = KMeans(n_clusters, n_init=1, random_state=whole_seed([*seed, start]))
            with warnings.catch_warnings():  # fewer distinct rows than clusters: the answer stands
                warnings.simplefilter("ignore", ConvergenceWarning)
                found = model.fit(block[:, :size]).labels_[target.known]
            scores = clustering_accuracy(truth, found), normalized_mutual_info_score(truth, found, average_method="max")
            for name, score in zip(best, scores, strict=True):
                best[name][at] = max(best[name][at], score)
    return best


def selected(X: Any, features: np.ndarray) -> Any:
    """Columns for an estimator: floats, dense when that is small enough."""
    block = X[:, features]
    if sp.issparse(block):
        block = block.toarray() if np.prod(block.shape) <= _DENSE_CELLS else block.tocsr()
    return block if block.dtype.kind == "f" else block.astype(np.float64)


def check_features(features: Any, n_columns: int) -> np.ndarray:
    """Distinct column numbers."""
    order = np.asarray(features)
    if order.ndim != 1 or not order.size or order.dtype.kind not in "iu":
        raise ValueError(
            f"features must be column numbers, best first, such as SpectralSelector.order_; got {features!r}."
        )
    outside = order[(order < 0) | (order >= n_columns)]
    if len(outside):
        raise ValueError(f"features holds column {outside[0]}, but X has {n_columns} columns, numbered from 0.")
    if len(np.unique(order)) < len(order):
        raise ValueError("features names a column twice; rank every column once.")
    return order


def check_sizes(n_features: Any, available: int) -> np.ndarray:
    """Increasing numbers of features; by default 5, 10, ..., 50 as in [ZL], as far as there are so many."""
    if n_features is None:
        return np.arange(5, min(50, available) + 1, 5) if available >= 5 else np.arange(1, available + 1)
    sizes = np.unique(np.atleast_1d(n_features))
    if not sizes.size or sizes.dtype.kind not in "iu" or sizes[0] < 1 or sizes[-1] > available:
        raise ValueError(f"n_features must be integers between 1 and the {available} features, got {n_features!r}.")
    return sizes


def spread(values: np.ndarray) -> dict[str, np.ndarray]:
    """Mean, standard deviation and Student's 95 % band of the mean, over rows; NaN bands for a single row."""
    n, mean = len(values), values.mean(axis=0)
    std = values.std(axis=0, ddof=1) if n > 1 else np.full(len(mean), np.nan)
    half = t.ppf(0.975, n - 1) * std / np.sqrt(n) if n > 1 else std
    return {"mean": mean, "std": std, "low": mean - half, "high": mean + half}


def to_frame(table: dict[str, Any]) -> Any:
    """Columns as a pandas DataFrame."""
    try:
        import pandas as pd
    except ImportError:
        raise ImportError("frame() needs pandas; install it with: pip install 'fiedler[frames]'.") from None
    return pd.DataFrame(table)


def _inner_neighbors(X: Any, k: int) -> np.ndarray:
    """The k rows with the largest inner product, per row, in increasing order; ties go to the smaller row number."""
    n = X.shape[0]
    if check_integer("n_neighbors", k, 1) >= n:
        raise ValueError(f"n_neighbors={k} must be less than the {n} rows of X; use a smaller n_neighbors.")
    X = X.tocsr().astype(np.float64) if sp.issparse(X) else np.asarray(X, dtype=np.float64)
    found = np.empty((n, k), dtype=np.intp)
    step = max(1, _BLOCK_CELLS // n)
    for start in range(0, n, step):
        product = X[start : start + step] @ X.T
        product = product.toarray() if sp.issparse(product) else product
        rows = np.arange(len(product))
        product[rows, start + rows] = -np.inf
        last = np.partition(product, n - k, axis=1)[:, n - k, None]
        tied = product == last
        room = k - np.sum(product > last, axis=1, keepdims=True)
        chosen = (product > last) | (tied & (np.cumsum(tied, axis=1) <= room))
        found[start : start + step] = np.nonzero(chosen)[1].reshape(-1, k)
    return found


def _shared_neighbors(before: np.ndarray, after: np.ndarray) -> float:
    n, k = before.shape
    own = np.arange(n)[:, None] * n
    common = np.isin(own + before, own + after).sum(axis=1)
    return float(np.mean(common / (2 * k - common)))
