"""SpectralSelector: the one estimator. It scores, ranks, and keeps the first features."""

from __future__ import annotations

import warnings
from copy import copy
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted, validate_data

from .criteria import Criterion
from .criteria.order import importances
from .data import arrays
from .data.arrays import as_source, is_container, opened, uneven_columns, with_text_names
from .errors import ParameterError, ParameterWarning, TableWarning, in_a_pipeline, warn_once
from .problem import Problem
from .selection.choice import Choice, choose, fixed_features, level
from .selection.explanation import Explanation, explained
from .selection.redundancy import LIMIT, limit_of
from .syntax import as_criterion, short_text
from .words import direction, html_table

_SHOWN = 10  # features in a notebook


class _Found:
    """An attribute of a fitted selector that is read from its choice, as values of the columns of X."""

    def __init__(self, name: str = ""):
        self.name = name

    def __set_name__(self, owner: type, name: str) -> None:
        self.shown, self.name = name, self.name or name.removesuffix("_")

    def __get__(self, selector: Any, owner: type) -> Any:
        if selector is None:
            return self
        choice, groups = vars(selector).get("_choice"), vars(selector).get("_groups")
        value = None
        if choice is not None:
            value = getattr(choice, self.name) if groups is None else choice.of_columns(self.name, groups.of_input)
        if value is None:
            raise AttributeError(f"{type(selector).__name__!r} object has no attribute {self.shown!r}")
        return value


class SpectralSelector(SelectorMixin, BaseEstimator):
    """Select features that keep the structure of the samples, as a similarity graph shows it.

    Parameters
    ----------
    criterion : Criterion or str, default="subset"
        The score of a set of features, or of single features. It is a method such as ``SSelect(lam=0.1)``, or a formula
        of your own such as ``LaplacianScore() * ConstraintScore(1)``, or a name in ``fiedler.METHODS``. A name may have
        parameters: ``"sselect[lam=0.1,graph=knn[n_neighbors=7]]"`` (:mod:`fiedler.syntax`).
    n_features_to_select : int, float, "auto", "fdr" or None, default=None
        A number of features, or a share of them in (0, 1]. None is "auto" for criteria that choose sets, such as
        "subset", and half of the features for rankings. "auto" selects the smallest number of features that reaches
        90 % of J(all features), where J is the set criterion (:class:`fiedler.Explained`). This limit is a convention;
        the accuracy there is usually close to its best. "fdr" selects the features that are significant at a false
        discovery rate of ``alpha``, by :func:`fiedler.evaluate.significance` with its defaults: for sets with labels,
        targets or pairs those that are associated with them. Criteria that choose sets then apply "auto" to the
        significant features. "fdr" removes noise only; if most features share structure, most of them pass. With a
        screen, a share and None refer to the features that the screen keeps.
    unlabeled : object, default=-1
        The class label in y that means "unknown". Pass None if -1 is an ordinary class. None, NaN and "" always mean
        "unknown".
    redundancy : bool or float, default=None
        Skip near-duplicate features: features whose absolute correlation with a better, kept feature exceeds this
        limit. True means 0.7. It is meant for rankings, because a set rarely contains near-duplicates.
    alpha : float in [0, 1], default=None
        The false discovery rate of "fdr": the expected share of noise among the features that pass. None means 0.1 for
        rankings and 0.01 for criteria that choose sets, because greedy selection prefers the noise features that pass.
        On real data sets with 16 noise columns per real column, the 1-NN accuracy of "subset" is .628 with
        ``alpha=0.01`` and .611 with ``alpha=0.1``.
    threshold : float or str, default=None
        A limit for the scores: features with this score or a better one are kept. If small is good, these are the
        features below the limit. "mean", "median" and multiples such as "1.25*mean" are allowed, as in scikit-learn's
        SelectFromModel; they are computed from the finite scores. ``n_features_to_select`` is then the largest number
        of features to keep, and None means no such limit. It cannot be used with sets.
    screen : {"auto", "agreement", "fdr"} or None, default="auto"
        A test that drops features that look like noise before the graph is built and features are selected.
        "agreement" keeps the features that correlate with others (:func:`fiedler.evaluate.agreement`), and those that
        are associated with labels, targets or pairs if the criterion reads them. "auto" does the same if more than 30 %
        of the features seem to correlate with no other, as a sample of at most 160 rows and features shows, and nothing
        otherwise. It leaves three cases alone: text (more than 80 % zeros, and never negative), criteria without a
        graph from X, and "fdr", which tests every feature. "fdr" keeps the features that are significant at the rate
        ``alpha``. If no feature passes, all are kept. Missing values are read as they were filled. p-values of the kept
        features alone are not valid, because the screen has used the same data; :func:`fiedler.evaluate.significance`
        tests all features. None is no screen. ``screen_`` says what was done.
    include : str, int, or sequence of these, default=None
        Features that are always selected: column names of a frame, or column numbers. They come first in ``order_``, in
        the given order, and are counted in ``n_features_to_select``. The other features of a set are chosen to
        complement them, and ``explained_`` includes their share. In a ranking the other features follow by score.
        ``redundancy`` skips near-duplicates of the included features, and a screen never drops them.
    scale : {"standard", "minmax", "keep"} or None, default=None
        How columns are scaled for graphs and scores: to unit variance, to the range from 0 to 1, or not at all. None
        means "keep" with a :class:`fiedler.ScaleWarning`, which is issued if the standard deviations differ by more
        than a factor of 1,000 and the criterion depends on the units. Columns of a sparse X are divided but not
        centred. A source that is read block by block cannot be scaled. ``transform`` always returns unscaled columns.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Raw scores as the paper defines them; ``criterion_.greater_is_better`` gives the direction. Do not use
        ``SelectFromModel(selector, importance_getter="scores_")``: it selects the worst features if small is good. The
        default of ``importance_getter`` is correct.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Importances for SelectFromModel and RFE: large is good for every criterion.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column; 1 is the best.
    order_ : ndarray of shape (n_features_in_,)
        Column indices, best first; included features come before all others.
    support_ : ndarray of bool, shape (n_features_in_,)
    n_features_ : int
        Number of selected features; a group of columns counts once.
    groups_ : ndarray of int, shape (n_features_in_,)
        With ``groups``: the feature that each column belongs to. All columns of a feature have its score and rank.
    group_names_ : ndarray
        With ``groups``: the names of the features.
    criterion_ : Criterion
        The criterion as an object, also if it was given as text.
    explained_ : ndarray
        Sets only: the share of J(all features) that the first k features of ``order_`` reach, for k = 1, 2, ... With
        ``redundancy`` it ends before the first skipped feature. The features after these are ordered by what each of
        them would add. J(all features) can take as long as the selection, so it is computed when ``explained_`` or
        ``gains_`` is first read.
    gains_ : ndarray of shape (n_features_in_,)
        Sets only: what a chosen feature adds to the features before it in ``order_``, as a share of J(all features).
        For a feature that was not chosen, what it would add to the chosen features.
    relevance_ : ndarray of shape (n_features_in_,)
        Sets only: the factor with which labels, targets or pairs weight each feature. It is missing if they carry no
        information.
    stands_for_ : ndarray of shape (n_features_in_,)
        With ``redundancy``: for each skipped feature, the kept feature with the largest absolute correlation; -1 for
        all other features.
    included_ : ndarray of bool, shape (n_features_in_,)
        With ``include``: the columns that are always selected.
    screen_ : str
        With ``screen``: what the screen has done, and why.
    kept_ : ndarray of bool, shape (n_features_in_,)
        If the screen was used: the columns that it keeps. The dropped columns have no score. They come last in
        ``order_``, sorted by their posterior ("agreement") or their p-value ("fdr").
    pvalues_, qvalues_, effects_ : ndarray of shape (n_features_in_,)
        With "fdr": as in :class:`fiedler.evaluate.Significance`; NaN for constant columns.

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
    >>> selector = SpectralSelector(SSelect(lam=0.1), n_features_to_select=3, scale="standard").fit(X, few)
    >>> selector.get_feature_names_out()
    array(['mean concavity', 'mean concave points', 'worst concave points'],
          dtype=object)
    """

    scores_, order_, ranking_, support_, explained_, gains_, relevance_, screen_ = (_Found() for _ in range(8))
    stands_for_, included_, kept_, pvalues_, qvalues_, effects_ = (_Found() for _ in range(6))
    n_features_ = _Found("n_chosen")

    def __init__(
        self,
        criterion: Criterion | str = "subset",
        *,
        n_features_to_select: int | float | str | None = None,
        unlabeled: Any = -1,
        redundancy: bool | float | None = None,
        alpha: float | None = None,
        threshold: float | str | None = None,
        screen: str | None = "auto",
        include: Any = None,
        scale: str | None = None,
    ):
        self.criterion = criterion
        self.n_features_to_select = n_features_to_select
        self.unlabeled = unlabeled
        self.redundancy = redundancy
        self.alpha = alpha
        self.threshold = threshold
        self.screen = screen
        self.include = include
        self.scale = scale

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        must_link: Any = None,
        cannot_link: Any = None,
        graph: Any = None,
        groups: Any = None,
        blocks: Any = None,
    ) -> SpectralSelector:
        """Score and rank the features of X.

        Parameters
        ----------
        X : array-like, frame, sparse matrix, source, Dask array, AnnData, DataArray or Problem
            The data, of shape (n_samples, n_features). For an AnnData its X is read, in memory, backed or lazy; a
            polars LazyFrame is collected. Zarr arrays, HDF5 datasets, backed AnnData matrices and
            :func:`fiedler.sources.open_source` are read block by block; a Dask array is scored where its blocks are. A
            :class:`fiedler.Problem` keeps its graphs from fit to fit, for the same X with other labels. A dense X in
            memory may have missing values (NaN, None, masked). They are filled from the nearest rows, and scores are
            corrected so that missing values do not make a column look better. Frames may have categories, texts, truth
            values and dates; each column is one feature, and a :class:`fiedler.TableWarning` says what was done with
            it.
        y : array-like of shape (n_samples,), optional
            Class labels or real targets; some may be unknown. Unsupervised criteria ignore y.
        must_link, cannot_link : array-like of int, shape (n_pairs, 2), or Pairs, optional
            Pairs of row numbers. Inside cross-validation pass :class:`fiedler.Pairs` and request the metadata with
            ``set_fit_request(must_link=True, cannot_link=True)``.
        graph : Graph, or what :meth:`fiedler.Graph.of` takes, optional
            A graph over the rows, which replaces ``Precomputed()`` in the criterion. Inside cross-validation pass a
            :class:`fiedler.Graph`, which is sliced together with X, and request it with
            ``set_fit_request(graph=True)``.
        groups : sequence of labels or mapping, optional
            Columns that form one feature, such as the bands of a spectrum or repeated measurements: one label per
            column, or names of features with their columns. They are selected together and counted as one feature.
        blocks : array-like of shape (n_samples,), optional
            The block of each row, such as its slide, batch or donor. Graphs are built inside blocks and features are
            standardised there; energies and masses are added over the blocks. So differences between blocks, and their
            units, change nothing. Criteria without a form for blocks raise an error.

        Returns
        -------
        self : SpectralSelector
            Fitted.
        """
        criterion = as_criterion(self.criterion)
        resolved = criterion.resolved()
        # A fit that fails, or is interrupted, leaves the selector as it was.
        seen = copy(self)
        seen.criterion, seen._resolved = criterion, resolved
        known = {"y": y, "must_link": must_link, "cannot_link": cannot_link, "unlabeled": self.unlabeled}
        if isinstance(X, Problem):
            problem = Problem.of(X, graph=graph, groups=groups, **known)
            seen.n_features_in_ = X.n_features if X.groups is None else len(X.groups.of_input)
            named = X.feature_names is not None and all(isinstance(name, str) for name in X.feature_names)
            names = X.feature_names if named else None
        else:
            X, named = opened(X)
            validate_data(seen, named, skip_check_array=True)  # feature names and their number only
            names = getattr(seen, "feature_names_in_", None)
            problem = Problem.read(X, names, groups=groups, given=graph, **known)
        if self.scale is not None:
            problem = problem.scaled(arrays.check_scale(self.scale))
        problem = problem.divided(blocks)
        resolved.check(problem, self.criterion)
        if y is not None and not resolved.uses and not in_a_pipeline():
            message = f"{short_text(criterion)} reads no labels, so y is not used."
            warn_once(ParameterWarning(message, parameter="y"))
        if self.scale is None and resolved.depends_on_scale and uneven_columns(problem.X) is not None:
            arrays.warn_if_uneven(problem.X, problem.column_names, short_text(criterion), arrays.SCALE_SETTINGS)
        wanted = self.n_features_to_select, self.redundancy, self.alpha, self.threshold, self.screen
        fixed = None if self.include is None else fixed_features(self.include, names, problem)
        choice = choose(resolved, problem, *wanted, fixed)
        taken = choice.order[0 if fixed is None else len(fixed) : choice.n_chosen]
        scored = taken if choice.kept is None else taken[choice.kept[taken]]
        useless = int(np.isnan(choice.scores[scored]).sum())
        if useless:
            message = (
                f"{useless} of the {choice.n_chosen} selected features have no score (NaN: constant on the rows "
                f"{criterion!r} reads, or 0/0) and were taken in column order; lower n_features_to_select."
            )
            warning = ParameterWarning(message, parameter="n_features_to_select", value=choice.n_chosen)
            warnings.warn(warning, stacklevel=2)
        if not choice.n_chosen:
            warnings.warn(self._nothing_passes(criterion, choice), stacklevel=2)
        groups = problem.groups if problem.groups is not None and problem.groups.named else None
        return set_choice(self, choice, criterion, seen.n_features_in_, names, groups)

    def _nothing_passes(self, criterion: Criterion, choice: Choice) -> ParameterWarning:
        """The warning that no feature is selected, with the best feature and the way out."""
        if self.threshold is None:
            q = np.asarray(choice.qvalues)
            least = np.nan if np.isnan(q).all() else np.nanmin(q)
            rate = level(self.alpha, criterion)
            message = (
                f"no feature is selected: n_features_to_select='fdr' finds none that is more than noise at "
                f"alpha={rate:g} (smallest q-value {least:.3g}); raise alpha, or set n_features_to_select to a number."
            )
            return ParameterWarning(message, parameter=("n_features_to_select", "alpha"), value=rate)
        finite = choice.scores[np.isfinite(choice.scores)]
        up = criterion.greater_is_better
        best = f"{finite.max() if up else finite.min():.5g}" if len(finite) else "undefined"
        message = (
            f"no feature is selected: none passes threshold={self.threshold!r}, the best score is {best} and "
            f"{direction(up)}; {'lower' if up else 'raise'} threshold."
        )
        return ParameterWarning(message, parameter="threshold", value=self.threshold)

    def _read_again(self, X: Any) -> Problem:
        """X as a problem, after a check that it has the features of the fit."""
        if not isinstance(X, Problem):
            X, named = opened(X)
            validate_data(self, named, reset=False, skip_check_array=True)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", TableWarning)  # the fit has given it
                return Problem.read(X, getattr(self, "feature_names_in_", None), groups=getattr(self, "groups_", None))
        columns = X.n_features if X.groups is None else len(X.groups.of_input)
        if self.n_features_in_ not in (X.n_features, columns):
            message = f"X has {columns} features, but the selector was fitted on {self.n_features_in_}."
            raise ParameterError(message, parameter="X", value=columns)
        return X

    def transform(self, X: Any) -> Any:
        """Return the selected columns of X.

        Only these columns of a file are read. The result for a Dask array is lazy.

        Parameters
        ----------
        X : array-like, frame, sparse matrix, source, Dask array, AnnData or DataArray of shape (n_samples, n_features)
            With the columns of the fit.

        Returns
        -------
        X_selected : of the kind of X
            The selected columns in the order of X. An AnnData gives a view of its selected variables.
        """
        inside, named = opened(X)
        source, container = as_source(inside), is_container(X)
        if source is None and not container:
            named_by_text = with_text_names(inside)
            try:
                return super().transform(named_by_text)
            except np.exceptions.DTypePromotionError:  # dates beside numbers have no common type but object
                return super().transform(named_by_text.astype(object))
        check_is_fitted(self)
        validate_data(self, named, reset=False, skip_check_array=True)
        columns = np.flatnonzero(self.support_)
        return X[:, columns] if container or source is None or source.lazy else source[:, columns]

    def inverse_transform(self, X: Any) -> Any:
        """Put the selected columns back to their places; all other columns are 0.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_selected)
            What ``transform`` returned; missing values stay missing.

        Returns
        -------
        X_original : array of shape (n_samples, n_features_in_)
            The columns at their places.
        """
        with config_context(assume_finite=True):
            return super().inverse_transform(X)

    def explain(
        self,
        X: Any = None,
        y: Any = None,
        *,
        must_link: Any = None,
        cannot_link: Any = None,
        limit: float | None = None,
    ) -> Explanation:
        """Explain the selection: what each chosen feature adds, which near-duplicates it replaces, and why others lost.

        Gains, shares, scores and q-values are known from the fit. Near-duplicates and the relevance of single features
        are computed from X; without X they are missing. With ``redundancy``, near-duplicates are known from the fit,
        but not their correlations.

        Parameters
        ----------
        X : array-like, frame, sparse matrix, source, Dask array, AnnData, DataArray or Problem, optional
            The data of the fit, for near-duplicates and for the relevance.
        y : array-like of shape (n_samples,), optional
            Class labels or real targets, for the relevance. It may hold more labels than the fit had.
        must_link, cannot_link : array-like of int, shape (n_pairs, 2), or Pairs, optional
            Pairs of row numbers, for the relevance.
        limit : float, optional
            A feature that was not chosen is a near-duplicate if its absolute correlation with a chosen one exceeds this
            limit. By default it is the limit of ``redundancy``, or 0.7.

        Returns
        -------
        explanation : Explanation
            Facts about every feature, with a frame, and ``why(feature)`` in words.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from fiedler import SpectralSelector
        >>> X, y = load_wine(return_X_y=True, as_frame=True)
        >>> X = (X - X.mean()) / X.std()
        >>> SpectralSelector("subset", n_features_to_select=3).fit(X).explain(X)
        3 of 13 features chosen by SmoothSubset(), which explain 72.1 %
        rank  feature            gain  explained  stands for
           1  flavanoids       45.5 %     45.5 %  total_phenols (0.86), od280/od315_of_diluted_wines (0.79)
           2  color_intensity  19.5 %     65.0 %
           3  ash               7.1 %     72.1 %
        not chosen:
          proline: it would still add 8.4 %; 'ash' was better at the last step
          magnesium: it would still add 5.8 %; 'ash' was better at the last step
          alcohol: it would still add 5.9 %; 'ash' was better at the last step
          malic_acid: it would still add 4.7 %; 'ash' was better at the last step
          alcalinity_of_ash: it would still add 5.1 %; 'ash' was better at the last step
          ... 5 more; why(name) tells about each
        """
        check_is_fitted(self)
        problem = None
        if X is not None:
            known = {"must_link": must_link, "cannot_link": cannot_link, "unlabeled": self.unlabeled}
            problem = Problem.of(self._read_again(X), y, **known).scaled(self.scale or "keep")
        limits = level(self.alpha, self.criterion_), limit_of(limit, "limit") or limit_of(self.redundancy) or LIMIT
        return explained(self._choice, self.criterion_, feature_names(by_feature(self)), problem, *limits)

    @property
    def groups_(self) -> np.ndarray:
        """With ``groups``: the feature that each column belongs to."""
        return self._named_groups.of_input

    @property
    def group_names_(self) -> np.ndarray:
        """With ``groups``: the names of the features."""
        return np.asarray(self._named_groups.names, dtype=object)

    @property
    def _named_groups(self) -> Any:
        groups = vars(self).get("_groups")
        if groups is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'groups_'")
        return groups

    @property
    def feature_importances_(self) -> np.ndarray:
        """Importances of the features: large is good, and never negative.

        For a ranking they are the scores; if small is good, the worst finite score minus the score. For a set they are
        the share of J(all features) that was unexplained when the feature was chosen, and 0 if it was not chosen.
        """
        check_is_fitted(self)
        if not hasattr(self, "explained_"):
            return importances(self.scores_, self.criterion_.greater_is_better)
        left = np.zeros(len(self.scores_))
        left[self.order_[: len(self.explained_)]] = np.maximum(1.0 - np.r_[0.0, self.explained_[:-1]], 0.0)
        return left

    def set_params(self, **params: Any) -> SpectralSelector:
        """Set parameters, including nested ones.

        A criterion given as text is replaced by its object when one of its parameters is set.

        Parameters
        ----------
        **params : object
            Such as ``alpha=0.05`` or ``criterion__graph__n_neighbors=7``.

        Returns
        -------
        self : SpectralSelector
            This one.
        """
        nested = any(key.startswith("criterion__") for key in params)
        if nested and isinstance(self.criterion, str) and "criterion" not in params:
            self.criterion = as_criterion(self.criterion)
        return super().set_params(**params)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        text = super().__repr__(N_CHAR_MAX)
        return f"{text}  # {self.screen_}" if hasattr(self, "kept_") else text

    def _repr_html_inner(self) -> str:
        diagram = estimator_html_repr(self)
        if not hasattr(self, "order_"):
            return diagram
        names, rows = feature_names(self), []
        is_set = hasattr(self, "gains_")
        for place, j in enumerate(self.order_[:_SHOWN], 1):
            value = self.gains_[j] if is_set else self.scores_[j]
            rows.append([str(place), names[j], f"{value:.5g}", "✓" if self.support_[j] else ""])
        good = "gain: share added" if is_set else direction(self.criterion_.greater_is_better)
        title = f"{self.n_features_} of {len(names)} features selected by {self.criterion_!r}; {good}"
        title += "" if not hasattr(self, "kept_") else f". {self.screen_.capitalize()}"
        return diagram + html_table(title, rows, ["rank", "feature", "gain" if is_set else "score", "selected"])

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
            criterion = vars(self).get("_resolved") or as_criterion(self.criterion).resolved()
            tags.target_tags.required = bool(criterion.reads)
            tested = "fdr" in (self.n_features_to_select, self.screen)  # which missing values would bias
            tags.input_tags.allow_nan = criterion.accepts_missing and not tested
        except (ValueError, TypeError):  # reported by fit, where it belongs
            tags.target_tags.required = False
        return tags


def set_choice(
    selector: SpectralSelector, choice: Choice, criterion: Criterion, n_columns: int, names: Any, groups: Any = None
) -> SpectralSelector:
    """Give a selector the result of a fit: its attributes are read from the choice."""
    selector.criterion_, selector._choice, selector._groups = criterion, choice, groups
    selector.n_features_in_ = n_columns
    selector.__dict__.pop("feature_names_in_", None)  # of an earlier fit
    if names is not None:
        selector.feature_names_in_ = np.asarray(names, dtype=object)
    return selector


def by_feature(selector: SpectralSelector) -> SpectralSelector:
    """A fitted selector whose attributes have one value per feature, also if several columns form a feature."""
    check_is_fitted(selector)
    if selector._groups is None:
        return selector
    twin, names = copy(selector), np.asarray(selector._groups.names, dtype=object)
    twin._groups, twin.n_features_in_, twin.feature_names_in_ = None, len(names), names
    return twin


def feature_names(selector: SpectralSelector, given: Any = None) -> list[str]:
    """Names of the features of a fitted selector: those given, those it has seen, or x0, x1, ..."""
    check_is_fitted(selector)
    m = len(selector.scores_)
    names = getattr(selector, "feature_names_in_", [f"x{j}" for j in range(m)]) if given is None else given
    if len(names) != m:
        raise ValueError(f"feature_names has {len(names)} names for the {m} features of the selector.")
    return [str(name) for name in names]
