"""Predictions of held-out rows: y as classes or a target, rows, folds, models by name, and the measure.

The default model is the nearest neighbour: it needs no parameters and gives all selected features the same weight. It
can be misleading on spectra, where a linear model may predict a target well from a few wavelengths and nearest
neighbours may not.

    knn        1-NN for classes, 5-NN for a target: the default
    logistic   logistic regression, standardised columns        classes
    ridge      ridge regression or classifier, standardised columns
    pls        partial least squares with up to five components        target
    svm        linear support vector machine, standardised columns
    forest     random forest of 100 trees
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.cross_decomposition import PLSRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from ..criteria import Criterion
from ..criteria.order import check_scored
from ..errors import ParameterError
from ..problem import Problem
from ..selection.choice import Ranking, ranked
from ..supervision import Supervision
from ..validation import check_integer
from ..words import did_you_mean
from .measures import selected, widths

ESTIMATORS = ("knn", "logistic", "ridge", "pls", "svm", "forest")
_ONLY_FOR = {"logistic": "classes", "pls": "target"}
_KINDS = {"classes": "class labels", "target": "a real target", "pairs": "pairs or class labels"}


@dataclass(frozen=True, eq=False)
class Target:
    """y for an evaluation: class codes (-1 if unknown) or real values (NaN if unknown)."""

    values: np.ndarray
    metric: str  # "accuracy" for classes, "rmse" for real values

    @classmethod
    def of(cls, supervision: Supervision, reader: str, real: bool) -> Target:
        """The classes, or the real target, of a supervision."""
        return cls(supervision.target(reader), "rmse") if real else cls(supervision.classes(reader)[0], "accuracy")

    @property
    def known(self) -> np.ndarray:
        """Rows with a known value."""
        return np.flatnonzero(self.values >= 0 if self.metric == "accuracy" else ~np.isnan(self.values))

    def shown(self, rows: np.ndarray) -> np.ndarray:
        """y with all other rows set to unknown."""
        y = np.full(len(self.values), -1 if self.metric == "accuracy" else np.nan, dtype=self.values.dtype)
        y[rows] = self.values[rows]
        return y


def read_target(y: Any, n_samples: int, estimator: Any, unlabeled: Any, task: str = "auto") -> Target:
    """y as classes or a real target, decided by ``task``, by the estimator, or by :meth:`Supervision.task`."""
    if estimator is not None and not (is_classifier(estimator) or is_regressor(estimator)):
        raise TypeError(f"estimator must be a scikit-learn classifier or regressor, got {estimator!r}.")
    supervision = Supervision(n_samples, y, unlabeled=unlabeled)
    reader = "the evaluation" if estimator is None else f"estimator={estimator!r}"
    by_estimator = estimator is not None and task == "auto"
    real = is_regressor(estimator) if by_estimator else supervision.task(task) == "target"
    if estimator is not None and real != is_regressor(estimator):
        raise ValueError(f"task={task!r} does not fit estimator={estimator!r}; omit one of them.")
    return Target.of(supervision, reader, real)


def prepared(estimator: Any, target: Target, seed: Sequence[int]) -> Any:
    """A new estimator, with a random seed if it accepts one and has none."""
    if estimator is None:
        return KNeighborsClassifier(1) if target.metric == "accuracy" else KNeighborsRegressor(5)
    model = clone(estimator)
    seeds = [name for name, value in model.get_params().items() if name.endswith("random_state") and value is None]
    return model.set_params(**dict.fromkeys(seeds, whole_seed(seed)))


def whole_seed(seed: Sequence[int]) -> int:
    """One integer seed from several integers."""
    return int(np.random.SeedSequence(seed).generate_state(1)[0])


def folds(target: Target, n_folds: int, model: Any, rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """(train, test) rows, shuffled and stratified; without shuffling, sorted classes would bias ties of 1-NN."""
    n, k = len(target.known), getattr(model, "n_neighbors", 1)
    if check_integer("n_folds", n_folds, 2) > n:
        raise ValueError(f"n_folds={n_folds} is more than the {n} labelled rows; use fewer folds or more labels.")
    smallest = n - -(-n // n_folds)
    if smallest < k:
        leaves = f"n_folds={n_folds} leaves {smallest} of the {n} labelled rows for training"
        few = f"fewer than the n_neighbors={k} of {model!r}"
        raise ValueError(f"{leaves}, {few}; use fewer neighbours or label more rows.")
    rows = rng.permutation(target.known)
    if target.metric == "accuracy":
        rows = rows[np.argsort(target.values[rows], kind="stable")]
    shuffled = rng.permutation(n)
    rows, fold = rows[shuffled], shuffled % n_folds
    return [(rows[fold != f], rows[fold == f]) for f in range(n_folds)]


def predicted(
    problem: Problem, target: Target, orders: Sequence, sizes: Any, splits: Sequence, model: Any, counted: Any = None
) -> np.ndarray:
    """Accuracy or RMSE over the held-out rows in ``counted``, per size, with one ranking in all or one per fold."""
    answers = np.full((len(sizes), len(target.values)), np.nan)
    made = ((selected(problem, order[: max(sizes)]), widths(problem, order, sizes)) for order in orders)
    blocks = made if len(orders) > 1 else list(made) * len(splits)
    # X is already checked; scikit-learn's checks would take as long as the search on few columns.
    usual = isinstance(model, (KNeighborsClassifier, KNeighborsRegressor))
    with config_context(assume_finite=True, skip_parameter_validation=usual):
        for (train, test), (block, ends) in zip(splits, blocks, strict=True):
            seen, asked = block[train], block[test]
            for at, end in enumerate(ends):
                answers[at, test] = model.fit(seen[:, :end], target.values[train]).predict(asked[:, :end])
    return _judged(answers, target, counted)


def cross_validated(
    problem: Problem, target: Target, order: Any, sizes: Any, estimator: Any, n_folds: int, seed: int, n_repeats: int
) -> np.ndarray:
    """Accuracy or RMSE per repeat and size; ``order`` is one ranking, or gives the ranking for the training rows."""
    values = []
    for repeat in range(check_integer("n_repeats", n_repeats, 1)):
        model = prepared(estimator, target, [seed, repeat])
        splits = folds(target, n_folds, model, np.random.default_rng([seed, repeat]))
        orders = [order(train) for train, _ in splits] if callable(order) else [order]
        values.append(predicted(problem, target, orders, sizes, splits, model))
    return np.array(values)


def nearest_class(squared: np.ndarray, target: Target, splits: Sequence, counted: Any = None) -> np.ndarray:
    """The accuracy of 1-NN from all distances between rows; ties go to the first training row."""
    answers = np.full((1, len(target.values)), np.nan)
    for train, test in splits:
        answers[0, test] = target.values[train[squared[np.ix_(test, train)].argmin(axis=1)]]
    return _judged(answers, target, counted)


def _judged(answers: np.ndarray, target: Target, counted: np.ndarray | None) -> np.ndarray:
    rows = target.known if counted is None else counted
    answers, truth = answers[:, rows], target.values[rows]
    if target.metric == "accuracy":
        return np.mean(answers == truth, axis=1)
    return np.sqrt(np.mean((answers - truth) ** 2, axis=1))


def checked_ranking(
    criterion: Criterion, problem: Problem, n_features: int = 1, where: str = "", least: int | None = None
) -> Ranking:
    """A ranking for that many features; at least ``least`` of those that look like no noise have a score (all)."""
    ranking = ranked(criterion.resolved(), problem, n_features)
    kept = len(ranking.order) - ranking.n_dropped
    check_scored(criterion, ranking.scores, min(n_features if least is None else least, kept), where)
    return ranking


def check_reads(criterion: Criterion, target: Target | None, who: str, has_pairs: bool) -> set[str]:
    """What a criterion requires; an error if y does not fit it: hidden classes are -1 and would be read as targets."""
    reads = criterion.reads - ({"pairs"} if has_pairs else set())
    what = " and ".join(_KINDS[kind] for kind in sorted(reads))
    if reads and target is None:
        absent = "y to be passed, but the target y is None"  # the words of Criterion.check_problem
        message = f"{who} requires {absent}: it reads {what}; otherwise leave it out."
        raise ParameterError(message, parameter="y", way_out={absent: ("y", ...)})
    metric = None if target is None else target.metric
    if "target" in reads and metric == "accuracy":
        way_out = "pass a regressor as estimator, such as KNeighborsRegressor(5), to read y as a target"
        raise ValueError(f"{who} reads a real target, but y holds classes; leave it out, or {way_out}.")
    if reads & {"classes", "pairs"} and metric == "rmse":
        raise ValueError(f"{who} reads {what}, but y holds a real target; leave it out.")
    return reads


def sampled_rows(n: int, most: int, target: Target | None, pairs: Iterable[np.ndarray], seed: int) -> np.ndarray:
    """``most`` of n rows, sorted.

    Rows of pairs, and rows of every class (or rows with a known target), are taken first, up to half of the sample. So
    rare classes and few known labels stay in the sample. All other rows are equally likely.

    Examples
    --------
    >>> import numpy as np
    >>> from fiedler.evaluate.held_out import Target, sampled_rows
    >>> classes = np.repeat([0, 1], [997, 3])
    >>> rows = sampled_rows(1000, 50, Target(classes, "accuracy"), [], 0)
    >>> len(rows), np.bincount(classes[rows]).tolist()
    (50, [47, 3])
    """
    order = np.random.default_rng(seed).permutation(n)
    first = [np.asarray(given).reshape(-1, 2) for given in pairs]
    groups = []
    if first:  # in random order of the pairs, each row once, so that most of the pairs that are cut are whole
        both, place = np.concatenate(first), np.argsort(order)
        rows = both[np.argsort(place[both[:, 0]], kind="stable")].ravel()
        groups.append(rows[np.sort(np.unique(rows, return_index=True)[1])])
    if target is not None:
        labelled = order[np.isin(order, target.known)]
        codes = target.values[labelled] if target.metric == "accuracy" else np.zeros(len(labelled))
        groups += [labelled[codes == code] for code in np.unique(codes)]
    each = max(2, most // (2 * max(len(groups), 1)))
    chosen = np.concatenate([*(group[:each] for group in groups), order])
    return np.sort(chosen[np.sort(np.unique(chosen, return_index=True)[1])[:most]])


class PartialLeastSquares(PLSRegression):
    """PLS regression with as many components as the columns allow, at most ``n_components``.

    Parameters
    ----------
    n_components : int, default=5
        Largest number of components.
    """

    n_components: int

    def __init__(self, n_components: int = 5):
        super().__init__(n_components=n_components)

    def fit(self, X: Any, y: Any) -> PartialLeastSquares:
        """Fit with the number of components that X allows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_columns)
            The chosen columns.
        y : array-like of shape (n_samples,)
            The target.

        Returns
        -------
        self : PartialLeastSquares
            Fitted.
        """
        wanted = self.n_components
        self.n_components = int(min(wanted, X.shape[1], len(y) - 1))
        try:
            return super().fit(X, y)
        finally:
            self.n_components = wanted

    def predict(self, X: Any) -> np.ndarray:
        """Predict the target.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_columns)
            The chosen columns.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            One value per row.
        """
        return np.ravel(super().predict(X))


def named_estimator(estimator: Any, task: str) -> Any:
    """An estimator by its name in ``ESTIMATORS`` for "classes" or a "target"; other objects are returned unchanged."""
    if not isinstance(estimator, str):
        return estimator
    if estimator not in ESTIMATORS:
        hint, names = did_you_mean(estimator, ESTIMATORS), ", ".join(ESTIMATORS)
        message = f"estimator={estimator!r} is not known; {hint}Known: {names}, or an estimator of scikit-learn."
        raise ParameterError(message, parameter="estimator", value=estimator)
    only, classes = _ONLY_FOR.get(estimator, task), task == "classes"
    if only != task:
        others = ", ".join(name for name in ESTIMATORS if _ONLY_FOR.get(name, task) == task)
        predicts = f"predicts {_KINDS[only]}, but y holds {_KINDS[task]}"
        message = f"estimator={estimator!r} {predicts}; use one of {others}."
        raise ParameterError(message, parameter="estimator", value=estimator)
    if estimator == "knn":
        return None
    from sklearn import ensemble, linear_model, pipeline, preprocessing, svm

    if estimator == "forest":
        return ensemble.RandomForestClassifier(100) if classes else ensemble.RandomForestRegressor(100)
    if estimator == "pls":
        return PartialLeastSquares()
    model = {
        "logistic": linear_model.LogisticRegression(max_iter=1000),
        "ridge": linear_model.RidgeClassifier() if classes else linear_model.Ridge(),
        "svm": svm.LinearSVC(dual="auto") if classes else svm.LinearSVR(dual="auto", max_iter=10_000),
    }[estimator]
    return pipeline.make_pipeline(preprocessing.StandardScaler(), model)
