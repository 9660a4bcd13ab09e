"""From scores to an order: degenerate features, ties, infinities, in one place."""

import numpy as np
import pytest
import scipy.sparse as sp
from problems import CRITERIA, evaluate, make

from fiedler import (
    KNN,
    ConstraintScore,
    FisherScore,
    LaplacianScore,
    SemiSupervisedLaplacianScore,
    SemiTarget,
    SpectralSelector,
    SupervisedLaplacianScore,
)

X = np.random.default_rng(0).normal(size=(30, 5))


Y = np.arange(30) % 3


@pytest.mark.parametrize("name", CRITERIA)
@pytest.mark.parametrize("value", [0.0, 3.0, 0.1, 1e8, -7.3])
def test_constant_columns_score_nan_and_rank_last(name, value):
    data = make(name)
    spoiled = np.insert(data.X, [0, 3], value, axis=1)
    scores = evaluate(CRITERIA[name], data, spoiled)
    np.testing.assert_array_equal(np.isnan(scores), np.isin(np.arange(8), [0, 4]))
    selector = SpectralSelector(CRITERIA[name], n_features_to_select=6).fit(spoiled, data.y, **data.pairs)
    assert list(selector.order_[-2:]) == [0, 4]
    np.testing.assert_allclose(evaluate(CRITERIA[name], data, sp.csr_array(spoiled)), scores, rtol=1e-9, atol=1e-14)


def test_columns_constant_on_the_labelled_rows_only():
    y = np.where(np.arange(30) < 10, np.linspace(0, 1, 30), np.nan)
    Z = X.copy()
    Z[:10, 2] = 5.0
    assert np.isnan(SupervisedLaplacianScore().evaluate(Z, y)[2])
    assert np.isnan(SemiSupervisedLaplacianScore(SemiTarget(8)).evaluate(Z, y)[2])
    assert np.isnan(FisherScore().evaluate(Z, np.where(np.arange(30) < 10, Y, -1))[2])
    assert not np.isnan(LaplacianScore().evaluate(Z)).any()


def test_ratio_scores_at_zero_over_zero_and_x_over_zero():
    Z = np.array([[0.0, 0, 1, 5], [1.0, 0, 1, 5], [0.0, 3, 1, 9], [7.0, 3, 1, 5]])
    scores = ConstraintScore(1).evaluate(Z, must_link=[[0, 1]], cannot_link=[[0, 2]])
    np.testing.assert_array_equal(scores, [np.inf, 0.0, np.nan, 0.0])
    order = (
        SpectralSelector(ConstraintScore(1), n_features_to_select=2)
        .fit(Z, must_link=[[0, 1]], cannot_link=[[0, 2]])
        .order_
    )
    assert list(order) == [1, 3, 0, 2]


def test_fisher_ranks_perfect_features_first_by_their_numerator():
    y = [0, 0, 1, 1]
    Z = np.array([[0.1, 0.2, 0.3, 1.0], [0.1, 0.2, 0.3, 2.0], [0.4, 9.2, 0.3, 9.0], [0.4, 9.2, 0.3, 9.5]])
    selector = SpectralSelector(FisherScore(), n_features_to_select=3).fit(Z, y)
    assert list(selector.order_) == [1, 0, 3, 2]
    np.testing.assert_array_equal(np.isinf(selector.scores_), [True, True, False, False])


def test_one_label_per_class_makes_every_fisher_score_infinite():
    few = np.full(30, -1)
    few[:2] = [0, 1]
    scores = FisherScore().evaluate(X, few)
    assert np.isinf(scores).all()
    order = SpectralSelector(FisherScore()).fit(X, few).order_
    np.testing.assert_array_equal(order, np.argsort(-((X[0] - X[1]) ** 2)))


def test_equal_scores_keep_column_order():
    assert list(SpectralSelector("variance").fit(np.c_[X[:, :1], X[:, :1], X[:, :1] * 2, X[:, :1]]).order_) == [
        2,
        0,
        1,
        3,
    ]


def test_too_few_scores_to_fill_the_selection_warns():
    with pytest.warns(UserWarning, match="2 of the 3 selected features have no score"):
        SpectralSelector("variance", n_features_to_select=3).fit(np.c_[X[:, 0], np.ones(30), np.zeros(30)])


@pytest.mark.parametrize("name", CRITERIA)
def test_one_feature(name):
    data = make(name, m=1)
    assert np.isfinite(evaluate(CRITERIA[name], data)).all()
    assert SpectralSelector(CRITERIA[name]).fit(data.X, data.y, **data.pairs).n_features_ == 1


def test_all_rows_equal_but_one_column():
    Z = np.ones((12, 3))
    Z[:, 1] = np.arange(12) % 2
    scores = LaplacianScore(KNN(3)).evaluate(Z)
    np.testing.assert_array_equal(np.isnan(scores), [True, False, True])
