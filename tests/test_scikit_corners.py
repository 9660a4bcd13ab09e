"""Where scikit-learn meets scores of either direction: SelectFromModel, SelectKBest, RFE, thresholds."""

import warnings

import numpy as np
import pandas as pd
import pytest
from problems import CRITERIA, make
from sklearn.datasets import load_iris, load_wine
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, SelectPercentile
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fiedler import METHODS, FisherScore, LaplacianScore, ReliefF, SpectralSelector, Variance
from fiedler.criteria.order import importances
from fiedler.errors import ParameterError, ParameterWarning

X, Y = load_wine(return_X_y=True)
_order = np.random.default_rng(0).permutation(len(X))
X, Y = StandardScaler().fit_transform(X)[_order] * np.linspace(1.0, 1.5, 13), Y[_order]
RANKINGS = [name for name, criterion in CRITERIA.items() if not criterion.is_set]


# ---------------------------------------------------------------- importances


@pytest.mark.parametrize("name", CRITERIA)
def test_importances_fall_along_the_order(name):
    data = make(name)
    fitted = SpectralSelector(CRITERIA[name]).fit(data.X, data.y, **data.pairs)
    along = fitted.feature_importances_[fitted.order_]
    assert (np.diff(along) <= 1e-12).all()
    assert np.isfinite(along).all() or name in ("constraint", "fisher")
    assert along[0] > along[-1]


@pytest.mark.parametrize("name", ["laplacian", "fisher", "subset"])
def test_select_from_model_takes_the_best(name):
    fitted = SpectralSelector(name).fit(X, Y)
    taken = SelectFromModel(SpectralSelector(name), threshold=-np.inf, max_features=4).fit(X, Y)
    np.testing.assert_array_equal(np.flatnonzero(taken.get_support()), np.sort(fitted.order_[:4]))
    by_mean = SelectFromModel(SpectralSelector(name)).fit(X, Y).get_support()
    assert by_mean[fitted.order_[0]]
    assert not by_mean[fitted.order_[-1]]


def test_raw_scores_as_importances_take_the_worst():
    """What the docstring of scores_ warns of."""
    raw = SelectFromModel(
        SpectralSelector("laplacian"), importance_getter="scores_", threshold=-np.inf, max_features=2
    ).fit(X)
    worst = SpectralSelector("laplacian").fit(X).order_[-2:]
    np.testing.assert_array_equal(np.flatnonzero(raw.get_support()), np.sort(worst))


def test_recursive_elimination_by_importances():
    kept = RFE(SpectralSelector("fisher", n_features_to_select=1.0), n_features_to_select=3).fit(X, Y).get_support()
    best = SpectralSelector("fisher", n_features_to_select=3).fit(X, Y).support_  # one by one: nothing changes
    np.testing.assert_array_equal(kept, best)


def test_importances_of_odd_scores():
    scores = np.array([0.5, np.nan, 0.2, np.inf, -np.inf])
    np.testing.assert_array_equal(importances(scores, False), [0, 0, 0.3, 0, np.inf])
    np.testing.assert_array_equal(importances(scores, True), [0.5, 0, 0.2, np.inf, 0])
    np.testing.assert_array_equal(importances(np.array([-2.0, np.nan, 1.0]), True), [0, 0, 3])
    np.testing.assert_array_equal(importances(np.full(3, np.nan), False), np.zeros(3))
    np.testing.assert_array_equal(importances(np.full(3, np.nan), True), np.zeros(3))
    unfitted = SpectralSelector()
    assert not hasattr(unfitted, "feature_importances_")


# ---------------------------------------------------------------- score_func


@pytest.mark.parametrize("name", ["laplacian", "fisher", "relieff", "sselect", "variance", "spec"])
def test_a_criterion_is_a_score_func(name):
    criterion = METHODS[name]()
    best = SpectralSelector(criterion, n_features_to_select=4).fit(X, Y)
    kept = SelectKBest(criterion, k=4).fit(X, Y)
    np.testing.assert_array_equal(kept.get_support(), best.support_)
    sign = 1 if criterion.greater_is_better else -1
    np.testing.assert_array_equal(kept.scores_, sign * criterion.evaluate(X, Y))
    assert SelectPercentile(criterion, percentile=50).fit_transform(X, Y).shape == (178, 6)


def test_score_funcs_are_searched_and_cross_validated():
    pipe = make_pipeline(SelectKBest(LaplacianScore(), k=5), KNeighborsClassifier())
    assert cross_val_score(pipe, X, Y, error_score="raise").mean() > 0.8
    grid = {"selectkbest__score_func": [LaplacianScore(), FisherScore(), Variance()]}
    assert GridSearchCV(pipe, grid, error_score="raise").fit(X, Y).best_score_ > 0.85
    frame = pd.DataFrame(load_iris().data, columns=list("abcd"))
    assert list(SelectKBest(LaplacianScore(), k=1).fit(frame).get_feature_names_out()) == ["c"]


def test_sets_are_no_score_func():
    with pytest.raises(ValueError, match=r"SmoothSubset\(\) chooses a set.*use SpectralSelector\(criterion"):
        SelectKBest(METHODS["subset"](), k=2).fit(X)


# ---------------------------------------------------------------- threshold


@pytest.mark.parametrize("name", RANKINGS)
def test_a_threshold_keeps_what_is_as_good(name):
    data, criterion = make(name), CRITERIA[name]
    told = (data.X, data.y)
    scores = SpectralSelector(criterion).fit(*told, **data.pairs).scores_
    limit = np.median(scores[np.isfinite(scores)])
    for threshold in (float(limit), "median", "1.0 * median"):
        fitted = SpectralSelector(criterion, threshold=threshold).fit(*told, **data.pairs)
        good = scores >= limit if criterion.greater_is_better else scores <= limit
        np.testing.assert_array_equal(fitted.support_, good)
        assert fitted.n_features_ == good.sum()


def test_a_threshold_beside_a_number():
    passing = SpectralSelector("laplacian", threshold="mean").fit(X)
    n = passing.n_features_
    assert 2 < n < 12
    np.testing.assert_array_equal(passing.support_, passing.scores_ <= passing.scores_.mean())
    few = SpectralSelector("laplacian", threshold="mean", n_features_to_select=2).fit(X)
    np.testing.assert_array_equal(few.support_, few.ranking_ <= 2)
    assert SpectralSelector("laplacian", threshold="mean", n_features_to_select=12).fit(X).n_features_ == n
    assert SpectralSelector("laplacian", threshold="0.7*mean").fit(X).n_features_ < n  # small is good
    assert SpectralSelector("fisher", threshold="1.2*mean").fit(X, Y).n_features_ < 6
    with pytest.warns(ParameterWarning, match=r"none passes threshold=-1.0, the best score is 0\..* raise threshold"):
        nothing = SpectralSelector("laplacian", threshold=-1.0).fit(X)
    assert nothing.n_features_ == 0
    assert not nothing.support_.any()
    everything = SpectralSelector("laplacian", threshold=np.inf).fit(X)
    assert everything.n_features_ == X.shape[1]


def test_a_threshold_beside_redundancy_and_fdr():
    doubled = np.column_stack([X, X[:, 0] + 1e-3 * X[:, 1]])
    kept = SpectralSelector("laplacian", threshold="median", redundancy=True).fit(doubled)
    assert (kept.scores_[kept.support_] <= np.median(kept.scores_)).all()
    assert kept.n_features_ < SpectralSelector("laplacian", threshold="median").fit(doubled).n_features_
    noisy = np.column_stack([X, np.random.default_rng(0).normal(size=(len(X), 20))])
    real = SpectralSelector("laplacian", n_features_to_select="fdr").fit(noisy)
    both = SpectralSelector("laplacian", n_features_to_select="fdr", threshold="median").fit(noisy)
    np.testing.assert_array_equal(both.support_, real.support_ & (real.scores_ <= np.median(real.scores_)))


@pytest.mark.parametrize("threshold", ["best", "x*mean", "2*", "mean*2", True, [1], np.nan])
def test_bad_thresholds(threshold):
    with pytest.raises(ValueError, match=r"threshold must be a score, 'mean', 'median' or a multiple such as"):
        SpectralSelector("laplacian", threshold=threshold).fit(X)


def test_sets_have_no_threshold():
    with pytest.raises(ValueError, match=r"threshold='mean' is a limit for scores of single features.*'auto'"):
        SpectralSelector("subset", threshold="mean").fit(X)


def test_constant_features_never_pass():
    padded = np.column_stack([X, np.ones(len(X))])
    fitted = SpectralSelector("laplacian", threshold=np.inf).fit(padded)
    assert fitted.n_features_ == X.shape[1]
    assert not fitted.support_[-1]


# ---------------------------------------------------------------- what is not supported says so


def test_weights_of_samples_are_refused():
    with pytest.raises(TypeError, match="sample_weight"):
        SpectralSelector().fit(X, sample_weight=np.ones(len(X)))


def test_constant_columns_have_no_importance():
    data = np.column_stack([X, np.ones(len(X))])
    for name in ("laplacian", "fisher", "relieff", "subset", "variance"):
        fitted = SpectralSelector(name).fit(data, Y)
        assert fitted.feature_importances_[-1] == 0
        assert (fitted.feature_importances_ >= 0).all()
        assert (fitted.feature_importances_ > 0).any()


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame])
def test_a_y_of_several_columns_is_refused_with_the_way_out(kind):
    one = {np.asarray: r"y\[:, j\]", pd.DataFrame: r"y.iloc\[:, j\]"}[kind]
    message = (
        rf"y has 3 columns, but only one .* fit once per target: \[clone\(selector\).fit\(X, {one}\) for j in range\(3"
    )
    with pytest.raises(ParameterError, match=message):
        SpectralSelector("fisher").fit(X, kind(np.column_stack([Y, Y, Y])))
    for function in (FisherScore().evaluate, FisherScore()):
        with pytest.raises(ParameterError, match=message):
            function(X, kind(np.column_stack([Y, Y, Y])))


def test_relieff_says_when_k_reaches_a_class_size():
    y = np.where(np.arange(len(X)) < 6, "few", "many")
    with pytest.warns(ParameterWarning, match=r"n_neighbors=10 reaches the size of class 'few' \(6 .*below 6, or give"):
        SpectralSelector("relieff").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ReliefF(5).evaluate(X, y)
    y[1:] = "many"
    with pytest.warns(ParameterWarning, match=r"size of class 'few' \(1 labelled rows\): .* Give more labels"):
        ReliefF(5).evaluate(X, y)
    with pytest.warns(ParameterWarning, match=r"size of class 0 .* and 1 other class:"):
        ReliefF(40).evaluate(X[:60], np.arange(60) % 2)
