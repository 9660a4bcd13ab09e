"""Choice of λ, of other parameters, and of the number of features, by a cut value or by held-out labels.

The cut value of a selection (:mod:`fiedler.criteria.disagreement`) needs no labels; cross-validation uses held-out
labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, cast

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from ..criteria import Criterion
from ..criteria.disagreement import LAMBDAS, NEARLY_ZERO, best_by_cut, cut, cut_recipe
from ..criteria.phi import number_of_clusters
from ..data.arrays import Matrix
from ..graphs import Recipe
from ..methods import SSelect
from ..problem import Problem
from ..sets.formula import ENOUGH
from ..syntax import as_criterion
from ..validation import check_choice, check_integer
from ..words import to_frame
from .curves import Curve, accuracy_curve, check_sizes, clustering_curve, jaccard_curve, spread
from .held_out import Target, check_reads, checked_ranking, cross_validated, read_target


def cut_value(X: Any, graph: Recipe | None = None) -> float:
    """Second smallest eigenvalue of 𝓛 of the graph on X ([ZL] Algorithm 3, line 10); 0 for a disconnected graph.

    Parameters
    ----------
    X : array-like, frame or sparse matrix of shape (n_samples, n_selected)
        The selected columns.
    graph : Recipe, optional
        The graph; by default ``KNN(weight="binary")``. Counts (whole numbers from 0 on, at least half of them 0) are by
        default cut on presence, ``cut_value(X > 0, RBF(2.0))``: on few columns of counts most neighbours are
        duplicates, and a kNN graph falls apart.

    Returns
    -------
    float
        From 0 to 2; small if the rows form two groups.

    Examples
    --------
    >>> from fiedler import KNN
    >>> from fiedler.evaluate import cut_value
    >>> round(cut_value([[0.0], [1.0], [2.1], [3.3]], KNN(1, "binary")), 4)
    0.5
    >>> cut_value([[0.0], [1.0], [5.0], [6.0]], KNN(1, "binary"))
    0.0
    """
    return cut(Problem.read(X).X, graph)[0]


def tune_lambda(
    X: Any,
    y: Any,
    lambdas: Sequence[float] = LAMBDAS,
    n_features: int = 10,
    graph: Any = None,
    *,
    cut_graph: Any = None,
    y_true: Any = None,
    unlabeled: Any = -1,
) -> Tuning:
    """Choose the λ of sSelect by the smallest cut value of its first features ([ZL] section 4.4.1, Algorithm 3).

    Parameters
    ----------
    X : array-like, frame or sparse matrix of shape (n_samples, n_columns)
        The data.
    y : array-like of shape (n_samples,)
        Classes of some rows.
    lambdas : sequence of float in [0, 1], default=0.1, 0.2, ..., 0.9
        The candidate values.
    n_features : int, default=10
        Number l of features from which the graph of the cut is built.
    graph : Recipe, default=KNN()
        The graph of the score.
    cut_graph : Recipe, optional
        The graph of the cut; the default is that of :func:`cut_value`. The paper does not name it.
    y_true : array-like of shape (n_samples,), optional
        All classes, for the accuracy at every λ ([ZL] Fig. 4); see :func:`tune`. They do not change the choice.
    unlabeled : object, default=-1
        The class label that means "unknown".

    Returns
    -------
    Tuning
        ``best_params["lam"]`` and, per λ, the cut value, the number of components of the graph and the number of rows
        on the smaller side of the cut. A λ with a disconnected graph is chosen only if all graphs are disconnected;
        then a warning is issued.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from fiedler.evaluate import tune_lambda
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = np.where(np.arange(len(y)) % 60 == 0, y, -1)
    >>> tune_lambda(X, few, [0.1, 0.5, 0.9], n_features=5).best_params
    {'lam': 0.1}
    """
    options: dict[str, Any] = {"n_features": n_features, "graph": cut_graph, "y_true": y_true, "unlabeled": unlabeled}
    return tune(SSelect(graph), {"lam": list(lambdas)}, X, y, **options)


@dataclass(frozen=True, eq=False, repr=False)
class Tuning:
    """The results for each choice of parameters.

    Parameters
    ----------
    by : {"cut", "cv", "jaccard", "clustering_accuracy"}
        How choices were compared.
    best : Criterion
        The criterion with the best parameters.
    best_params : dict
        These parameters.
    table : dict of ndarray
        One column per parameter, followed by cut, n_components and smaller_side, or by mean and std of accuracy or
        RMSE. With ``y_true`` also accuracy or rmse.
    """

    by: str
    best: Criterion
    best_params: dict[str, Any]
    table: dict[str, np.ndarray]

    def frame(self) -> Any:
        """The table as a pandas DataFrame.

        Returns
        -------
        frame : DataFrame
            One row per choice.
        """
        return to_frame(self.table)

    def __repr__(self) -> str:
        return f"Tuning(by={self.by!r}, best={self.best!r} of {len(next(iter(self.table.values())))})"


def tune(
    criterion: Criterion | str,
    grid: Mapping[str, Sequence] | Sequence[Mapping[str, Sequence]],
    X: Any,
    y: Any = None,
    *,
    n_features: int = 10,
    by: str = "cut",
    graph: Recipe | None = None,
    must_link: Any = None,
    cannot_link: Any = None,
    y_true: Any = None,
    estimator: Any = None,
    n_folds: int = 5,
    n_repeats: int = 5,
    unlabeled: Any = -1,
    random_state: int = 0,
) -> Tuning:
    """Choose parameters of any criterion, by the cut value of the selection or by cross-validation.

    Parameters
    ----------
    criterion : Criterion or str
        The criterion whose parameters are chosen.
    grid : dict of lists, or a list of such dicts
        The candidate values, as in scikit-learn's GridSearchCV; nested names such as ``graph__n_neighbors`` are
        allowed.
    X, y : array-like
        As in :meth:`fiedler.SpectralSelector.fit`.
    n_features : int, default=10
        Number of features in the selections that are compared.
    by : {"cut", "cv", "jaccard", "clustering_accuracy"}, default="cut"
        "cut" needs no labels except those that the criterion reads. "cv" predicts the labels of each fold from the
        other folds ([ZL] section 4.2); the criterion does not use the labels of the fold. "jaccard" is the share of
        preserved neighbourhoods (JAS of [EV]) and needs no labels. "clustering_accuracy" (ACC of [EV]) compares k-means
        with all known classes, which the criterion may have read.
    graph : Recipe, optional
        The graph of the cut; the default is that of :func:`cut_value`.
    must_link, cannot_link : array-like of shape (p, 2) or Pairs, optional
        Pairs of rows that belong together, and that do not.
    y_true : array-like of shape (n_samples,), optional
        All labels, while y shows some of them. The table then has the accuracy (or RMSE) of the selected features, as
        :func:`fiedler.evaluate.accuracy_curve` computes it. It does not change the choice.
    estimator : classifier or regressor, optional
        The model for "cv" and ``y_true``, as in :func:`fiedler.evaluate.accuracy_curve`.
    n_folds, n_repeats : int, default=5
        Numbers of folds and repeats for "cv" and ``y_true``.
    unlabeled : object, default=-1
        The class label that means "unknown".
    random_state : int, default=0
        Random seed of the folds.

    Returns
    -------
    tuning : Tuning
        The best choice, and the results of all choices.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from fiedler import LaplacianScore
    >>> from fiedler.evaluate import tune
    >>> X, y = load_wine(return_X_y=True)
    >>> tune(LaplacianScore(), {"graph__n_neighbors": [5, 10, 20]}, X / X.std(axis=0), y, n_features=4, by="cv")
    Tuning(by='cv', best=LaplacianScore(graph=KNN(n_neighbors=5)) of 3)
    """
    check_choice("by", by, ("cut", "cv", "jaccard", "clustering_accuracy"))
    criterion, k = as_criterion(criterion), check_integer("n_features", n_features, 1)
    given = Problem.of(X, must_link=must_link, cannot_link=cannot_link)
    (problem, y), truth = given.settled(y), given.settled(y_true)[1]
    check_sizes([k], problem.n_features)
    choices = list(ParameterGrid(grid))
    candidates = [clone(criterion).set_params(**choice) for choice in choices]
    pairs = {name: getattr(problem.supervision, name) for name in ("must_link", "cannot_link")}
    told = problem.with_supervision(y, unlabeled=unlabeled, **pairs)
    if by in ("jaccard", "clustering_accuracy"):
        orders = [checked_ranking(candidate, told, k).order for candidate in candidates]
        kmeans: dict[str, Any] = {"n_repeats": n_repeats, "unlabeled": unlabeled, "random_state": random_state}
        judged = [
            jaccard_curve(X, order, n_features=[k])
            if by == "jaccard"
            else clustering_curve(X, y, order, n_features=[k], **kmeans)
            for order in orders
        ]
        results = {name: np.concatenate([spread(curve.values)[name] for curve in judged]) for name in ("mean", "std")}
        best = int(np.argmax(results["mean"]))
    elif by == "cut":
        results, best = best_by_cut(told, candidates, k, graph)
    else:
        target = read_target(y, problem.n_samples, estimator, unlabeled)
        rules = pairs, estimator, n_folds, random_state, n_repeats
        scores = [_held_out(candidate, problem, [k], target, *rules)[:, 0] for candidate in candidates]
        results = {name: column for name, column in spread(np.transpose(scores)).items() if name in ("mean", "std")}
        best = int(np.argmax(results["mean"] if target.metric == "accuracy" else -results["mean"]))
    if truth is not None:
        folds: dict[str, Any] = {"estimator": estimator, "n_folds": n_folds, "n_repeats": n_repeats}
        folds |= {"n_features": [k], "unlabeled": unlabeled, "random_state": random_state}
        orders = [checked_ranking(candidate, told, k).order for candidate in candidates]
        curves = [accuracy_curve(problem, truth, order, **folds) for order in orders]
        results[curves[0].metric] = np.array([curve.mean[0] for curve in curves])
    table = {}
    for name in sorted({name for choice in choices for name in choice}):
        values = [choice.get(name) for choice in choices]
        plain = all(isinstance(value, (Real, str)) for value in values)
        table[name] = np.array(values) if plain else np.fromiter(values, dtype=object, count=len(values))
    return Tuning(by, candidates[best], choices[best], table | results)


@dataclass(frozen=True)
class Suggestions:
    """Suggested numbers of features, each with its rule and a reason.

    Parameters
    ----------
    rules : tuple of str
        Names of the rules.
    n_features : tuple of int or None
        The suggested numbers; None if a rule does not apply.
    reasons : tuple of str
        The reasons.
    """

    rules: tuple[str, ...]
    n_features: tuple[int | None, ...]
    reasons: tuple[str, ...]

    def frame(self) -> Any:
        """The suggestions as a pandas DataFrame.

        Returns
        -------
        frame : DataFrame
            One row per rule.
        """
        return to_frame({"rule": self.rules, "n_features": self.n_features, "reason": self.reasons})

    def __repr__(self) -> str:
        lines = zip(self.rules, self.n_features, self.reasons, strict=True)
        return "\n".join(f"{rule:>8}: {'-' if n is None else n:>5}  {reason}" for rule, n, reason in lines)


def suggest_n_features(
    criterion: Criterion | str,
    X: Any,
    y: Any = None,
    *,
    n_features: Sequence[int] | None = None,
    graph: Recipe | None = None,
    n_clusters: int | None = None,
    must_link: Any = None,
    cannot_link: Any = None,
    estimator: Any = None,
    n_folds: int = 5,
    unlabeled: Any = -1,
    random_state: int = 0,
) -> Suggestions:
    """Suggest numbers of features to select by three rules, each with its reason.

    - *explained*, for criteria that choose sets: the smallest number that reaches 90 % of J(all features);
    - *turning*, for all other criteria: the turning point of the sorted scores ([EV] section 4.4), which is the point
      farthest from the straight line between the first and the last score;
    - *gap*: the number of features whose graph has the largest gap λ_{k+1} - λ_k after k clusters, where k is the
      number of classes, or without classes the position of the largest gap on all features;
    - *cv*: the smallest number of features whose held-out accuracy (or error) is within one standard deviation (over 5
      repeats) of the best. It needs at least n_folds known rows in y, for classes in each class.

    Parameters
    ----------
    criterion : Criterion or str
        The criterion that ranks the features.
    X, y : array-like
        As in :meth:`fiedler.SpectralSelector.fit`.
    n_features : sequence of int, default=5, 10, ..., 50
        The numbers that *gap* and *cv* try.
    graph : Recipe, default=KNN(weight="binary")
        The graph of *gap*.
    n_clusters : int, optional
        The number k of *gap*, instead of the number of classes or the largest gap on all features.
    must_link, cannot_link : array-like of shape (p, 2) or Pairs, optional
        Pairs of rows that belong together, and pairs that do not.
    estimator : classifier or regressor, optional
        The model of *cv*, as in :func:`fiedler.evaluate.accuracy_curve`.
    n_folds : int, default=5
        Number of folds of *cv*.
    unlabeled : object, default=-1
        The class label that means "unknown".
    random_state : int, default=0
        Random seed of *cv*.

    Returns
    -------
    suggestions : Suggestions
        A number and a reason per rule.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from fiedler.evaluate import suggest_n_features
    >>> X, y = load_wine(return_X_y=True)
    >>> suggest_n_features("fisher", X / X.std(axis=0), y, n_features=[2, 4, 6, 8, 10]).n_features
    (7, 8, 6)
    """
    called, criterion = criterion, as_criterion(criterion)
    problem = Problem.of(X, y, unlabeled=unlabeled, must_link=must_link, cannot_link=cannot_link)
    problem, y = problem.settled(y)
    pairs = {name: getattr(problem.supervision, name) for name in ("must_link", "cannot_link")}
    criterion.check_problem(problem, called)
    ranking = checked_ranking(criterion, problem)
    if ranking.shares is not None:  # only one feature was chosen so far; a set needs the largest number
        ranking = checked_ranking(criterion, problem, int(max(check_sizes(n_features, ranking.n_scored))))
    sizes = check_sizes(n_features, ranking.n_scored)
    if ranking.shares is None:
        first, found = "turning", [turning_point(ranking.scores[ranking.order])]
    else:
        first, found = "explained", [enough(ranking.shares.explained)]
    found.append(_spectral_gap(problem, ranking.order, sizes, cut_recipe(graph), n_clusters))
    try:
        target = read_target(y, problem.n_samples, estimator, unlabeled)
        rarest = np.bincount(target.values[target.known]).min() if target.metric == "accuracy" else len(target.known)
        if rarest < n_folds:
            raise ValueError(f"a class has {rarest} labelled rows, fewer than n_folds={n_folds}")
        values = _held_out(criterion, problem, sizes, target, pairs, estimator, n_folds, random_state, 5)
    except ValueError as error:
        found.append((None, f"no cross-validation: {error}"))
    else:  # the smallest number of features whose mean is within one standard deviation of the best
        curve = Curve(target.metric, sizes, values)
        at = int(np.flatnonzero(sizes == curve.best)[0])
        chosen = int(np.flatnonzero(np.abs(curve.mean - curve.mean[at]) <= curve.std[at])[0])
        what = f"held-out {curve.metric} {curve.mean[chosen]:.4g}, within a standard deviation of the best"
        found.append((int(sizes[chosen]), f"{what}, {curve.mean[at]:.4g} at {curve.best}"))
    return Suggestions((first, "gap", "cv"), *(tuple(column) for column in zip(*found, strict=True)))


def _held_out(criterion: Criterion, problem: Problem, sizes: Any, y: Target, pairs: dict, *rules: Any) -> np.ndarray:
    """Accuracy or RMSE per repeat and size; each fold is predicted with features ranked without its labels."""
    check_reads(criterion, y, repr(criterion), any(given is not None for given in pairs.values()))

    def order(train: np.ndarray | None) -> np.ndarray:
        shown = problem.with_supervision(None if train is None else y.shown(train), **pairs)
        return checked_ranking(criterion, shown, max(sizes)).order

    return cross_validated(problem, y, order if criterion.uses else order(None), sizes, *rules)


def enough(explained: np.ndarray) -> tuple[int | None, str]:
    """The smallest number of features of a set that reaches 90 % of J(all features)."""
    reached = np.flatnonzero(explained >= ENOUGH)
    if not len(reached):
        there = f"{explained[-1]:.0%}" if len(explained) else "nothing"
        return None, f"the first {len(explained)} features explain {there} of what all features explain"
    n = int(reached[0]) + 1
    return n, f"together they explain {explained[n - 1]:.0%} of what all features explain"


def turning_point(scores: np.ndarray) -> tuple[int | None, str]:
    """The point of the sorted scores that is farthest from the line between the first and the last."""
    scores = scores[np.isfinite(scores)]
    if len(scores) < 3 or scores[0] == scores[-1]:
        return None, f"{len(scores)} finite scores without a turning point"
    height = (scores - scores[-1]) / (scores[0] - scores[-1])
    above = height - np.linspace(1.0, 0.0, len(scores))
    at = int(np.argmax(np.abs(above)))
    # Below the line it is the first point of the flat part, above the line the last point before the drop.
    n = at + 1 if above[at] > 0 else at
    return n, f"the {len(scores)} sorted scores turn after feature {n}, at {scores[n - 1]:.4g}"


def _spectral_gap(
    problem: Problem, order: np.ndarray, sizes: np.ndarray, recipe: Recipe, n_clusters: int | None
) -> tuple[int | None, str]:
    k = number_of_clusters(problem.graph(recipe), problem.supervision, n_clusters)
    gaps = []
    for size in sizes:
        X = cast("Matrix", problem.X[:, problem.columns_of(order[:size])])  # csc if it is sparse
        graph = Problem(X).graph(recipe)
        values = np.concatenate([np.zeros(graph.n_isolated), graph.spectrum(k + 1)[0]])
        gaps.append(values[k] - values[k - 1] if len(values) > k else 0.0)
    if max(gaps) <= NEARLY_ZERO:
        return None, f"no gap after {k} clusters: the graphs have more components"
    at = int(np.argmax(gaps))
    return int(sizes[at]), f"the graph on these features has the largest gap, {gaps[at]:.4g}, after {k} clusters"
