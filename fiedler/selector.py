"""SpectralSelector: the one estimator. It scores, ranks, and keeps the first features."""

from __future__ import annotations

import warnings
from copy import copy
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted, validate_data

from .criteria import Criterion
from .data.arrays import as_source, validate_X
from .problem import Problem
from .selection.forward import ENOUGH
from .selection.ranking import rank
from .selection.redundancy import LIMIT, prune
from .syntax import as_criterion
from .validation import refuse_containers
from .words import direction, html_table

_SHOWN = 10  # features in a notebook


class SpectralSelector(SelectorMixin, BaseEstimator):
    """Select the features that respect a similarity graph over the samples.

    Parameters
    ----------
    criterion : Criterion or str, default="laplacian"
        What to score features by: a method such as ``SSelect(lam=0.1)``, a formula of your own such as
        ``LaplacianScore() * ConstraintScore(1)``, or text: a name in ``fiedler.METHODS``, with parameters as in
        ``"sselect[lam=0.1,graph=knn[n_neighbors=7]]"`` (:mod:`fiedler.syntax`).
    n_features_to_select : int, float, "auto" or None, default=None
        A number of features, a share of them in (0, 1], or None for half. "auto", for criteria that choose sets such as
        "subset": as many as explain nine tenths of what all features together do (a convention: accuracy is then
        usually close to its best).
    unlabeled : object, default=-1
        The class label in y that means "unknown"; None when -1 is a class like any other. None, NaN and "" are
        unknown in any case.
    redundancy : bool or float, default=None
        Pass over features whose absolute correlation with a better one that is kept exceeds this limit; True is 0.7.
        For rankings: a set holds no near copies anyway.

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
    explained_ : ndarray
        Of sets only: the share of what all features explain that the first 1, 2, ... of ``order_`` have, as far as they
        were chosen one beside the other. What follows them in ``order_`` is ordered by what it would still add.
    stands_for_ : ndarray of shape (n_features_in_,)
        With ``redundancy``: of a feature that was passed over the kept one it resembles most, -1 for all others.

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
        n_features_to_select: int | float | str | None = None,
        unlabeled: Any = -1,
        redundancy: bool | float | None = None,
    ):
        self.criterion = criterion
        self.n_features_to_select = n_features_to_select
        self.unlabeled = unlabeled
        self.redundancy = redundancy

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
        refuse_containers(X)
        seen = copy(self)  # a fit that fails, or is interrupted, leaves the selector as it was
        validate_data(seen, X, skip_check_array=True)  # feature names and their number only
        X = validate_X(X, getattr(seen, "feature_names_in_", None))
        limit = _limit(self.redundancy)
        n_selected = _number_to_select(self.n_features_to_select, X.shape[1], criterion)
        told = {"must_link": must_link, "cannot_link": cannot_link, "unlabeled": self.unlabeled}
        problem = Problem(X).with_supervision(y, **told)
        ranked = rank(criterion, problem, n_selected or X.shape[1], np.inf if n_selected else ENOUGH)
        scores, order, explained = ranked
        n_selected = n_selected or max(1, 0 if explained is None else len(explained))
        found: dict[str, Any] = {} if explained is None else {"explained_": explained}
        if limit is not None:
            pruned = prune(order, X, limit, n_selected, ranked.n_scored)
            order, found["stands_for_"] = pruned.order, pruned.stands_for
            if pruned.n_kept < n_selected:
                warnings.warn(
                    f"only {pruned.n_kept} features are not near copies (|r| > {limit:g}) of a better one; the other "
                    f"{n_selected - pruned.n_kept} of the {n_selected} selected are; lower n_features_to_select or "
                    "raise redundancy.",
                    UserWarning,
                    stacklevel=2,
                )
        useless = int(np.isnan(scores[order[:n_selected]]).sum())
        if useless:
            warnings.warn(
                f"{useless} of the {n_selected} selected features have no score (NaN: constant on the rows "
                f"{criterion!r} reads, or 0/0) and were taken in column order; lower n_features_to_select.",
                UserWarning,
                stacklevel=2,
            )
        ranking = np.empty(len(order), dtype=np.intp)
        ranking[order] = np.arange(1, len(order) + 1)
        fitted = {"scores_": scores, "order_": order, "ranking_": ranking, "support_": ranking <= n_selected}
        fitted |= {name: vars(seen)[name] for name in ("n_features_in_", "feature_names_in_") if name in vars(seen)}
        for name in ("feature_names_in_", "explained_", "stands_for_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        self.__dict__.update(fitted | found, n_features_=n_selected, criterion_=criterion)
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
        diagram = estimator_html_repr(self)
        if not hasattr(self, "order_"):
            return diagram
        names, rows = feature_names(self), []
        for place, j in enumerate(self.order_[:_SHOWN], 1):
            rows.append([str(place), names[j], f"{self.scores_[j]:.5g}", "✓" if self.support_[j] else ""])
        good = direction(self.criterion_.greater_is_better)
        title = f"{self.n_features_} of {len(names)} features selected by {self.criterion_!r}; {good}"
        return diagram + html_table(title, rows, ["rank", "feature", "score", "selected"])

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


def feature_names(selector: SpectralSelector, given: Any = None) -> list[str]:
    """Names of the features of a fitted selector: those given, those it has seen, or x0, x1, ..."""
    check_is_fitted(selector)
    m = len(selector.scores_)
    names = getattr(selector, "feature_names_in_", [f"x{j}" for j in range(m)]) if given is None else given
    if len(names) != m:
        raise ValueError(f"feature_names has {len(names)} names for the {m} features of the selector.")
    return [str(name) for name in names]


def _limit(redundancy: Any) -> float | None:
    if redundancy is None or redundancy is False:
        return None
    if redundancy is True:
        return LIMIT
    if not isinstance(redundancy, (float, np.floating)) or not 0 < redundancy <= 1:
        raise ValueError(f"redundancy must be True, None or a limit of |r| in (0, 1], got {redundancy!r}.")
    return float(redundancy)


def _number_to_select(wanted: Any, n_features: int, criterion: Criterion) -> int:
    """How many; 0 where the criterion decides."""
    if wanted is None:
        return max(1, n_features // 2)
    if isinstance(wanted, str) and wanted == "auto":
        if not criterion.is_set:
            raise ValueError(
                f"n_features_to_select='auto' needs a criterion that chooses sets, such as 'subset', but {criterion!r} "
                "scores features one by one; fiedler.evaluate.suggest_n_features has suggestions for it."
            )
        return 0
    if isinstance(wanted, (bool, np.bool_)) or not isinstance(wanted, (int, float, np.integer, np.floating)):
        raise TypeError(
            f"n_features_to_select must be an integer, a share in (0, 1], 'auto' or None, got {wanted!r} of type "
            f"{type(wanted).__name__}."
        )
    if isinstance(wanted, (float, np.floating)):
        if not 0 < wanted <= 1:
            raise ValueError(f"n_features_to_select={wanted} as a share must be in (0, 1]; use an int for a number.")
        return max(1, int(n_features * wanted))
    if not 1 <= wanted <= n_features:
        raise ValueError(f"n_features_to_select={wanted} must be between 1 and the {n_features} features of X.")
    return int(wanted)
