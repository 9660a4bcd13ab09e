"""Ways to choose columns; each is ``select(X, k, seed, y)``, the k chosen columns, best first.

Methods of the library are named as it spells them. CUR and farthest points are scikit-matter's, fastcan is fastcan's.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import f_classif, f_regression, mutual_info_classif
from sklearn.linear_model import LogisticRegression, lars_path
from sklearn.multiclass import OneVsRestClassifier

from fiedler import SpectralSelector

from .contenders import call, skmatter
from .sets import dense, standardised

Select = Callable[..., np.ndarray]
_L1 = {"penalty": "l1"} if LogisticRegression().l1_ratio is None else {"l1_ratio": 1.0}  # as before, as since 1.8


def by_selector(criterion: Any, screen: str | None = None, **options: Any) -> Select:
    """The columns that a fitted selector chooses, by default from all columns."""

    def select(X: Any, k: int, seed: int = 0, y: Any = None) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return SpectralSelector(criterion, n_features_to_select=k, screen=screen, **options).fit(X, y).order_[:k]

    return select


def at_random(X: Any, k: int, seed: int = 0, y: Any = None) -> np.ndarray:
    return np.random.default_rng(seed).permutation(X.shape[1])[:k]


def cur(X: Any, k: int, seed: int = 0, y: Any = None) -> np.ndarray:
    """The column of largest weight in the leading singular vector of what is left, again and again."""
    return _filled(skmatter("CUR", dense(X), k), X, k)


def fps(X: Any, k: int, seed: int = 0, y: Any = None, first: int | None = None) -> np.ndarray:
    """Farthest points among the columns, from the longest column on, or from a given one."""
    first = int(np.argmax(dense(X).var(axis=0))) if first is None else first
    return _filled(skmatter("FPS", dense(X), k, initialize=first), X, k)


def fastcan(X: Any, k: int, seed: int = 0, y: Any = None) -> np.ndarray:
    """What fastcan finds for classes, targets or principal components; it stops if no column adds anything."""
    C = dense(X) - dense(X).mean(axis=0)
    target = PCA(min(k, min(C.shape) - 1)).fit_transform(C) if y is None else y
    if y is not None and y.dtype.kind == "i":
        target = np.equal.outer(y, np.unique(y)).astype(float)
    chosen = varied = np.flatnonzero(C.max(axis=0) > C.min(axis=0))
    wanted = min(k, len(varied))
    while wanted:
        try:
            chosen = varied[call("fastcan.FastCan", wanted, verbose=0).fit(C[:, varied], target).indices_]
            break
        except RuntimeError as error:  # "No improvement can be found when selecting the 5th feature."
            wanted = int(re.search(r"\d+", str(error)).group()) - 1
    return _filled(chosen[:wanted], X, k, y)


def _filled(chosen: np.ndarray, X: Any, k: int, y: Any = None) -> np.ndarray:
    """A choice, then the other columns by variance, or by the F statistic."""
    order = _best_first(dense(X).var(axis=0) if y is None else f_statistic(dense(X), y))
    return np.concatenate([chosen, order[~np.isin(order, chosen)]])[:k]


def mutual_information(X: np.ndarray, k: int, seed: int, y: np.ndarray) -> np.ndarray:
    whole = np.array_equal(X, np.round(X))
    found = mutual_info_classif(X, y, discrete_features=whole, random_state=seed)  # adds noise to what it measures
    return _best_first(found.round(6), f_statistic(X, y))


def mrmr(X: np.ndarray, k: int, seed: int, y: np.ndarray) -> np.ndarray:
    """Ding & Peng (2005): columns one by one by F statistic over mean |r| with those chosen."""
    relevance, unit = f_statistic(X, y), standardised(X) / np.sqrt(len(X))
    chosen, alike, left = [int(relevance.argmax())], np.zeros(X.shape[1]), relevance.copy()
    while len(chosen) < min(k, X.shape[1]):
        left[chosen[-1]] = -1.0
        alike += np.abs(unit.T @ unit[:, chosen[-1]])
        chosen.append(int(np.argmax(np.where(left < 0, -1.0, left / np.maximum(alike / len(chosen), 1e-3)))))
    return np.array(chosen)


def forest(X: np.ndarray, k: int, seed: int, y: np.ndarray) -> np.ndarray:
    """Columns by the importance that a random forest gives them."""
    kind = RandomForestClassifier if y.dtype.kind == "i" else RandomForestRegressor
    model = kind(100, max_features="sqrt", random_state=seed).fit(X, y)
    return _best_first(model.feature_importances_, f_statistic(X, y))


def l1(X: np.ndarray, k: int, seed: int, y: np.ndarray) -> np.ndarray:
    """Standardised columns by their largest |coefficient| in L1 logistic regression, or as the lasso takes them in."""
    if y.dtype.kind == "i":
        model = OneVsRestClassifier(LogisticRegression(C=1.0, solver="liblinear", random_state=0, **_L1))
        weights = np.max([np.abs(one.coef_[0]) for one in model.fit(standardised(X), y).estimators_], axis=0)
    else:
        *_, path = lars_path(standardised(X), y - y.mean(), method="lasso", max_iter=k)
        weights = (path != 0).sum(axis=1)
    return _best_first(weights, f_statistic(X, y))


def f_statistic(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Of an analysis of variance of the classes, or of a regression on the target; 0 where it is undefined."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = f_classif(X, y)[0] if y.dtype.kind == "i" else f_regression(X, y)[0]
    return np.nan_to_num(found, posinf=np.finfo(float).max)


def _best_first(scores: np.ndarray, then: np.ndarray | None = None) -> np.ndarray:
    """Large scores first, equal ones by a second score, then by column."""
    return np.lexsort((-then if then is not None else np.zeros(len(scores)), -scores))
