"""Degenerate and bad data and graphs: one clear message each, naming the parameter, the value and the way out."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from problems import CRITERIA, evaluate, make

from fiedler import (
    EVSC,
    KNN,
    METHODS,
    RBF,
    SPEC,
    ClassGraph,
    ConstraintScore,
    Diffusion,
    FisherScore,
    Graph,
    LaplacianScore,
    Precomputed,
    ReliefGraph,
    SemiSupervisedLaplacianScore,
    SemiTarget,
    SpectralSelector,
    SupervisedLaplacianScore,
    TargetKNN,
    Variance,
    Within,
)

X = np.random.default_rng(0).normal(size=(30, 5))
Y = np.arange(30) % 3


# ---------------------------------------------------------------- degenerate features


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


@pytest.mark.parametrize("name", CRITERIA)
def test_duplicate_rows_are_legitimate_neighbours(name):
    data = make(name)
    Z = data.X.copy()
    Z[1] = Z[0]
    Z[3:6] = Z[2]
    assert np.isfinite(evaluate(CRITERIA[name], data, Z)).all()


def test_all_rows_equal_but_one_column():
    Z = np.ones((12, 3))
    Z[:, 1] = np.arange(12) % 2
    scores = LaplacianScore(KNN(3)).evaluate(Z)
    np.testing.assert_array_equal(np.isnan(scores), [True, False, True])


# ---------------------------------------------------------------- rows and neighbours


@pytest.mark.parametrize("recipe", [KNN(30), KNN(50), Within(40)])
def test_n_not_above_k_warns_and_uses_the_complete_graph(recipe):
    with pytest.warns(UserWarning, match=r"n_neighbors=\d+, but each of the 30 rows has only 29 others"):
        graph = recipe.build(X, must_link=[[0, 1]], cannot_link=[[2, 3]])
    assert graph.n_edges in (30 * 29 / 2, 30 * 29 / 2 - 1)


def test_target_graph_is_complete_when_few_targets_are_known():
    y = np.where(np.arange(30) < 4, np.arange(30) / 10, np.nan)
    assert TargetKNN(5).build(X, y).n_edges == 6


@pytest.mark.parametrize("name", METHODS)
def test_one_row(name):
    with pytest.raises(ValueError, match="1 sample"):
        SpectralSelector(name).fit(X[:1], [1])


def test_empty_and_one_dimensional_x():
    with pytest.raises(ValueError, match="0 sample"):
        LaplacianScore().evaluate(np.empty((0, 3)))
    with pytest.raises(ValueError, match="0 feature"):
        LaplacianScore().evaluate(np.empty((5, 0)))
    with pytest.raises(ValueError, match="2D array"):
        LaplacianScore().evaluate(np.arange(5.0))


@pytest.mark.parametrize("bad", [0, -3, 2.5, "5", None, True])
def test_wrong_n_neighbors(bad):
    for recipe in (KNN(bad), ReliefGraph(bad), TargetKNN(bad), SemiTarget(bad)):
        with pytest.raises(ValueError, match="n_neighbors must be an integer of at least 1, got"):
            recipe.build(X, Y)


# ---------------------------------------------------------------- values of X


def test_nan_and_inf_name_the_column():
    Z = X.copy()
    Z[[2, 7], 3] = np.nan
    with pytest.raises(ValueError, match=r"NaN in column 3 \(2 rows\); impute or drop"):
        LaplacianScore().evaluate(Z)
    with pytest.raises(ValueError, match=r"NaN in column 3"):
        LaplacianScore().evaluate(sp.csr_array(Z))
    Z[1, 4] = -np.inf
    with pytest.raises(ValueError, match=r"NaN in column 'd' \(2 rows\) and 1 other column"):
        SpectralSelector().fit(pd.DataFrame(Z, columns=list("abcde")))
    with pytest.raises(ValueError, match=r"inf in column 'e'"):
        SpectralSelector().fit(pl.DataFrame(np.where(np.isnan(Z), 0, Z), schema=list("abcde")))


def test_a_sum_that_overflows_is_not_an_infinity():
    assert np.isfinite(FisherScore().evaluate(np.where(X > 0, 1e154, 0.0), Y)).all()
    big = np.where(X > 0, 1e307, 0.0)  # finite values whose sum is not
    assert np.isinf(Variance().evaluate(big)).all()


def test_strings_complex_and_objects_in_x():
    words = np.array([["1", "2"], ["3", "x"], ["5", "6"]], dtype=object)
    with pytest.raises(ValueError, match=r"X must be numeric, but column 1 holds 'x'.*encode or drop"):
        LaplacianScore().evaluate(words)
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "colour": ["red", "green", "red"]})
    with pytest.raises(ValueError, match=r"column 'colour' holds 'red'"):
        SpectralSelector().fit(frame)
    with pytest.raises(ValueError, match="Complex data not supported"):
        LaplacianScore().evaluate(X + 1j)
    with pytest.raises(TypeError, match=r"X must be numeric, but column 0 holds \{"):
        LaplacianScore().evaluate([[{"a": 1}, 2], [3, 4], [5, 6]])


# ---------------------------------------------------------------- widths


@pytest.mark.parametrize("bad", [0, -1.0, np.inf, np.nan, "wide", True])
def test_wrong_bandwidth(bad):
    for recipe in (KNN(3, bandwidth=bad), RBF(bad)):
        with pytest.raises(ValueError, match=r"bandwidth must be a positive number, got .*None chooses it"):
            recipe.build(X)
    for recipe, name in ((TargetKNN(t=bad), "t"), (SemiTarget(t=bad), "t"), (Diffusion(beta=bad), "beta")):
        with pytest.raises(ValueError, match=f"{name} must be a positive number"):
            recipe.build(X, Y / 2)


@pytest.mark.parametrize("recipe", [KNN(3, bandwidth=1e-3), RBF(1e-3)])
def test_underflowing_degrees_name_a_bandwidth_that_works(recipe):
    far = X * 100
    with pytest.warns(UserWarning, match="underflow") as caught:
        recipe.build(far)
    suggestion = float(str(caught[0].message).split("bandwidth=")[2].split(" ")[0])
    graph = type(recipe)(bandwidth=suggestion).build(far)  # warnings are errors here
    assert graph.n_components == 1 or isinstance(recipe, KNN)
    assert graph.n_isolated == 0


def test_underflowing_target_weights_name_a_t_that_works():
    prices = np.random.default_rng(1).uniform(1e5, 5e5, size=30)
    with pytest.warns(UserWarning, match="t=1 is so small") as caught:
        scores = SupervisedLaplacianScore().evaluate(X, prices)
    assert np.isnan(scores).all()
    works = float(str(caught[0].message).split("; t=")[1].split(" ")[0])
    assert np.isfinite(SupervisedLaplacianScore(TargetKNN(t=works)).evaluate(X, prices)).all()


# ---------------------------------------------------------------- graphs


def test_disconnected_graphs_work_and_tell():
    two = np.r_[X[:15], X[15:] + 1e3]
    graph = KNN(3).build(two)
    assert "n_components=2" in repr(graph)
    for criterion in (LaplacianScore(graph), SPEC(graph, 1), SPEC(graph, 2, 4), SPEC(graph, 3, n_clusters=2)):
        assert np.isfinite(criterion.evaluate(two)).all()


def test_isolated_nodes_are_left_out():
    W = np.zeros((5, 5))
    W[0, 1] = W[1, 0] = W[1, 2] = W[2, 1] = 1.0
    graph = Graph.from_weights(W)
    assert graph.n_isolated == 2
    wild = X[:5].copy()
    wild[3:] = 1e6
    np.testing.assert_allclose(LaplacianScore(graph).evaluate(wild), LaplacianScore(graph).evaluate(X[:5]), rtol=1e-9)
    for phi in (1, 2):
        for gamma in (1, 3, np.expm1):
            alone = SPEC(W[:3, :3], phi, gamma).evaluate(X[:3])
            np.testing.assert_allclose(SPEC(W, phi, gamma).evaluate(wild), alone, rtol=1e-9)


def test_phi3_says_when_its_cut_is_arbitrary():
    with pytest.warns(UserWarning, match="n_clusters=2 cuts through a repeated eigenvalue"):
        SPEC(ClassGraph(), 3, n_clusters=2).evaluate(X, Y)


def test_graph_is_immutable():
    graph = KNN(3).build(X)
    with pytest.raises(AttributeError, match="immutable"):
        graph.degree = np.ones(30)
    with pytest.raises(ValueError, match="read-only"):
        graph.degree[0] = 5


@pytest.mark.parametrize(
    ("W", "message"),
    [
        (np.ones((30, 29)), r"W must be a square matrix .* got shape \(30, 29\)"),
        (np.ones(30), r"W must be a square matrix"),
        (np.ones((29, 29)), "W is 29 x 29, but X has 30 rows.*cross-validation"),
        (np.triu(np.ones((30, 30))), r"W is not symmetric .*W\.maximum\(W\.T\)"),
        (sp.csr_array(np.triu(np.ones((30, 30)))), "W is not symmetric"),
        (-np.eye(30), "W holds negative weights such as -1"),
        (np.full((30, 30), np.nan), "W contains NaN or inf"),
    ],
)
def test_bad_precomputed_weights(W, message):
    with pytest.raises(ValueError, match=message):
        LaplacianScore(Precomputed(W)).evaluate(X)


def test_graphs_of_the_wrong_kind():
    with pytest.raises(TypeError, match=r"graph must be a recipe such as KNN\(\)"):
        LaplacianScore("knn").evaluate(X)
    with pytest.raises(ValueError, match="weight must be one of 'rbf', 'binary', got 'cosine'"):
        KNN(3, weight="cosine").build(X)
    with pytest.raises(ValueError, match="metric must be one of"):
        KNN(3, metric="manhattan").build(X)
    with pytest.raises(ValueError, match=r"Sensitivity differentiates RBF weights, but .* use RBF\(\)"):
        EVSC(KNN(3, "binary")).evaluate(X)
    with pytest.raises(ValueError, match=r"RBF needs a full 20000 x 20000 matrix \(3 GiB\).*KNN\(\)"):
        RBF().build(np.zeros((20000, 1)) + np.arange(20000)[:, None])
