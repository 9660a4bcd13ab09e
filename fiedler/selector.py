"""SpectralSelector: the one estimator, and the one place where scores become a ranking.

Orientation comes from the criterion; NaN ranks last in every method, +inf last where small is good and first where
large is good; equal scores keep column order.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .affinity import Problem
from .columns import validate_X
from .criterion import Criterion
from .methods import METHODS
from .sources import as_source
from .supervision import Supervision
from .syntax import parse


def rank_features(scores: np.ndarray, greater_is_better: bool, tie_breaker: np.ndarray | None = None) -> np.ndarray:
    """Column indices, best first: NaN last, equal scores by ``tie_breaker`` (same direction), then by column.

    Examples
    --------
    >>> import numpy as np
    >>> from fiedler.selector import rank_features
    >>> rank_features(np.array([0.5, np.nan, 0.2, 0.5, np.inf]), greater_is_better=False)
    array([2, 0, 3, 4, 1])
    """
    sign = -1.0 if greater_is_better else 1.0
    ties = np.zeros(len(scores)) if tie_breaker is None else sign * tie_breaker
    return np.lexsort((np.arange(len(scores)), ties, sign * scores, np.isnan(scores)))


class SpectralSelector(SelectorMixin, BaseEstimator):
    """Select the features that respect a similarity graph over the samples.

    Parameters
    ----------
    criterion : Criterion or str, default="laplacian"
        What to score features by: a method such as ``SSelect(lam=0.1)``, a formula of your own such as
        ``LaplacianScore() * ConstraintScore(1)``, or text: a name in ``fiedler.METHODS``, with parameters as in
        ``"sselect[lam=0.1,graph=knn[n_neighbors=7]]"`` (:mod:`fiedler.syntax`).
    n_features_to_select : int, float or None, default=None
        A number of features, a share of them in (0, 1], or None for half.
    unlabeled : object, default=-1
        The class label in y that means "unknown"; None when -1 is a class like any other. None, NaN and "" are
        unknown in any case.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The paper's raw values; ``criterion_.greater_is_better`` gives the direction.
    ranking_ : ndarray of shape (n_features_in_,)
        1 for the best feature.
    order_ : ndarray of shape (n_features_in_,)
        Column indices, best first.
    support_ : ndarray of bool, shape (n_features_in_,)
    n_features_ : int
        Number of selected features.
    criterion_ : Criterion
        The criterion used, names resolved.

    Examples
    --------
    Fifteen labelled samples out of 569:

    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from fiedler import SpectralSelector, SSelect
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> few = np.full(len(y), -1)
    >>> few[:10] = y[:10]
    >>> few[19:24] = y[19:24]
    >>> selector = SpectralSelector(SSelect(lam=0.1), n_features_to_select=3).fit(X, few)
    >>> selector.get_feature_names_out()
    array(['mean concavity', 'worst radius', 'worst perimeter'], dtype=object)
    """

    def __init__(
        self,
        criterion: Criterion | str = "laplacian",
        *,
        n_features_to_select: int | float | None = None,
        unlabeled: Any = -1,
    ):
        self.criterion = criterion
        self.n_features_to_select = n_features_to_select
        self.unlabeled = unlabeled

    def fit(self, X: Any, y: Any = None, *, must_link: Any = None, cannot_link: Any = None) -> SpectralSelector:
        """Score and rank the features of X.

        Parameters
        ----------
        X : array-like, frame, sparse matrix, source or Dask array of shape (n_samples, n_features)
            Zarr arrays, HDF5 datasets, backed AnnData matrices and :func:`fiedler.sources.open_source` are read block
            by block; a Dask array is scored where its blocks are.
        y : array-like of shape (n_samples,), optional
            Class labels or real targets, unknown ones included; ignored by unsupervised criteria.
        must_link, cannot_link : array-like of int, shape (n_pairs, 2), or Pairs, optional
            Pairs of row numbers. Inside cross-validation pass :class:`fiedler.Pairs` and request the metadata with
            ``set_fit_request(must_link=True, cannot_link=True)``.

        Returns
        -------
        self : SpectralSelector
        """
        criterion = as_criterion(self.criterion)
        validate_data(self, X, skip_check_array=True)  # feature names and their number only
        X = validate_X(X, getattr(self, "feature_names_in_", None))
        n_selected = _number_to_select(self.n_features_to_select, X.shape[1])
        known = Supervision(X.shape[0], y, must_link=must_link, cannot_link=cannot_link, unlabeled=self.unlabeled)
        problem = Problem(X, known)
        self.scores_ = criterion.score(problem)
        infinite = np.flatnonzero(np.isinf(self.scores_))
        ties = np.zeros(len(self.scores_))
        if len(infinite) > 1:
            breaker = criterion._tie_breaker(problem, infinite)
            ties[infinite] = 0.0 if breaker is None else breaker
        self.order_ = rank_features(self.scores_, criterion.greater_is_better, ties)
        useless = int(np.isnan(self.scores_[self.order_[:n_selected]]).sum())
        if useless:
            warnings.warn(
                f"{useless} of the {n_selected} selected features have no score (NaN: constant on the rows "
                f"{criterion!r} reads, or 0/0) and were taken in column order; lower n_features_to_select.",
                UserWarning,
                stacklevel=2,
            )
        self.ranking_ = np.empty(len(self.order_), dtype=np.intp)
        self.ranking_[self.order_] = np.arange(1, len(self.order_) + 1)
        self.support_ = self.ranking_ <= n_selected
        self.n_features_ = n_selected
        self.criterion_ = criterion
        return self

    def transform(self, X: Any) -> Any:
        """The selected columns of X; of a Dask array lazily, of a file just those columns.

        Parameters
        ----------
        X : array-like, frame, sparse matrix, source or Dask array of shape (n_samples, n_features)

        Returns
        -------
        X_selected : of the kind of X
        """
        source = as_source(X)
        if source is None:
            return super().transform(X)
        check_is_fitted(self)
        validate_data(self, X, reset=False, skip_check_array=True)
        columns = np.flatnonzero(self.support_)
        return X[:, columns] if source.lazy else source[:, columns]

    def set_params(self, **params: Any) -> SpectralSelector:
        """Set parameters, nested ones too; a criterion given by name becomes its method when one of its is set."""
        nested = any(key.startswith("criterion__") for key in params)
        if nested and isinstance(self.criterion, str) and "criterion" not in params:
            self.criterion = as_criterion(self.criterion)
        return super().set_params(**params)

    def _repr_html_inner(self) -> str:
        from .display import selector_html

        return selector_html(self)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**options)
        return bundle | {"text/html": self._repr_html_inner()} if "text/html" in bundle else bundle

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        try:
            tags.target_tags.required = bool(as_criterion(self.criterion).reads)
        except (ValueError, TypeError):  # reported by fit, where it belongs
            tags.target_tags.required = False
        return tags


def as_criterion(criterion: Any) -> Criterion:
    """A criterion as it is, or the one a text such as ``sselect[lam=0.1]`` describes."""
    if isinstance(criterion, Criterion):
        return criterion
    if isinstance(criterion, str):
        return parse(criterion)
    raise TypeError(f"criterion must be a Criterion or one of {', '.join(METHODS)}, got {criterion!r}.")


def _number_to_select(wanted: Any, n_features: int) -> int:
    if wanted is None:
        return max(1, n_features // 2)
    if isinstance(wanted, (bool, np.bool_)) or not isinstance(wanted, (int, float, np.integer, np.floating)):
        raise TypeError(
            f"n_features_to_select must be an integer, a share in (0, 1] or None, got {wanted!r} of type "
            f"{type(wanted).__name__}."
        )
    if isinstance(wanted, (float, np.floating)):
        if not 0 < wanted <= 1:
            raise ValueError(f"n_features_to_select={wanted} as a share must be in (0, 1]; use an int for a number.")
        return max(1, int(n_features * wanted))
    if not 1 <= wanted <= n_features:
        raise ValueError(f"n_features_to_select={wanted} must be between 1 and the {n_features} features of X.")
    return int(wanted)
