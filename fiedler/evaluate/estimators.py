"""Models that judge a selection by their predictions, by name.

The default is the nearest neighbour: it needs no parameters and gives all selected features the same weight. It can be
misleading on spectra, where a linear model may predict a target well from a few wavelengths and nearest neighbours may
not.

    knn        1-NN for classes, 5-NN for a target: the default
    logistic   logistic regression, standardised columns        classes
    ridge      ridge regression or classifier, standardised columns
    pls        partial least squares with up to five components        target
    svm        linear support vector machine, standardised columns
    forest     random forest of 100 trees
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cross_decomposition import PLSRegression

from ..errors import ParameterError
from ..words import did_you_mean

ESTIMATORS = ("knn", "logistic", "ridge", "pls", "svm", "forest")
_ONLY_FOR = {"logistic": "classes", "pls": "target"}
_COMPONENTS = 5


class PartialLeastSquares(PLSRegression):
    """PLS regression with as many components as the columns allow, at most ``n_components``.

    Parameters
    ----------
    n_components : int, default=5
        Largest number of components.
    """

    n_components: int

    def __init__(self, n_components: int = _COMPONENTS):
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
        hint, known = did_you_mean(estimator, ESTIMATORS), ", ".join(ESTIMATORS)
        raise ParameterError(
            f"estimator={estimator!r} is not known; {hint}Known: {known}, or an estimator of scikit-learn.",
            parameter="estimator",
            value=estimator,
        )
    only = _ONLY_FOR.get(estimator, task)
    if only != task:
        others = [name for name in ESTIMATORS if _ONLY_FOR.get(name, task) == task]
        what = {"classes": "class labels", "target": "a real target"}
        raise ParameterError(
            f"estimator={estimator!r} predicts {what[only]}, but y holds {what[task]}; use one of {', '.join(others)}.",
            parameter="estimator",
            value=estimator,
        )
    return None if estimator == "knn" else _made(estimator, task == "classes")


def _made(name: str, classes: bool) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC, LinearSVR

    if name == "forest":
        return RandomForestClassifier(100) if classes else RandomForestRegressor(100)
    if name == "pls":
        return PartialLeastSquares()
    models = {
        "logistic": lambda: LogisticRegression(max_iter=1000),
        "ridge": RidgeClassifier if classes else Ridge,
        "svm": (lambda: LinearSVC(dual="auto")) if classes else (lambda: LinearSVR(dual="auto", max_iter=10_000)),
    }
    return make_pipeline(StandardScaler(), models[name]())
