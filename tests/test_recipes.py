"""Recipes on degenerate rows and with bad parameters: one clear message each, with the way out."""

import numpy as np
import pytest
import scipy.sparse as sp
from problems import CRITERIA, evaluate, make

from fiedler import (
    EVSC,
    KNN,
    RBF,
    SPEC,
    ClassGraph,
    Diffusion,
    Graph,
    LaplacianScore,
    Precomputed,
    ReliefGraph,
    SemiTarget,
    SupervisedLaplacianScore,
    TargetKNN,
    Within,
)

X = np.random.default_rng(0).normal(size=(30, 5))


Y = np.arange(30) % 3


@pytest.mark.parametrize("name", CRITERIA)
def test_duplicate_rows_are_legitimate_neighbours(name):
    data = make(name)
    Z = data.X.copy()
    Z[1] = Z[0]
    Z[3:6] = Z[2]
    assert np.isfinite(evaluate(CRITERIA[name], data, Z)).all()


@pytest.mark.parametrize("recipe", [KNN(30), KNN(50), Within(40)])
def test_n_not_above_k_warns_and_uses_the_complete_graph(recipe):
    with pytest.warns(UserWarning, match=r"n_neighbors=\d+, but each of the 30 rows has only 29 others"):
        graph = recipe.build(X, must_link=[[0, 1]], cannot_link=[[2, 3]])
    assert graph.n_edges in (30 * 29 / 2, 30 * 29 / 2 - 1)


def test_target_graph_is_complete_when_few_targets_are_known():
    y = np.where(np.arange(30) < 4, np.arange(30) / 10, np.nan)
    assert TargetKNN(5).build(X, y).n_edges == 6


@pytest.mark.parametrize("bad", [0, -3, 2.5, "5", None, True])
def test_wrong_n_neighbors(bad):
    for recipe in (KNN(bad), ReliefGraph(bad), TargetKNN(bad), SemiTarget(bad)):
        with pytest.raises(ValueError, match="n_neighbors must be an integer of at least 1, got"):
            recipe.build(X, Y)


@pytest.mark.parametrize("bad", [0, -1.0, np.inf, np.nan, "wide", True])
def test_wrong_bandwidth(bad):
    for recipe in (KNN(3, bandwidth=bad), RBF(bad)):
        with pytest.raises(ValueError, match=r"bandwidth must be a positive number, got .*use None to choose it"):
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
    assert np.isfinite(SupervisedLaplacianScore().evaluate(X, prices)).all(), "t is in units of their variance"
    with pytest.warns(UserWarning, match="t=1e-09 is so small") as caught:
        scores = SupervisedLaplacianScore(TargetKNN(t=1e-9)).evaluate(X, prices)
    assert np.isnan(scores).all()
    works = float(str(caught[0].message).split("; t=")[1].split(" ")[0])
    assert np.isfinite(SupervisedLaplacianScore(TargetKNN(t=works)).evaluate(X, prices)).all()


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
    with pytest.warns(UserWarning, match="n_clusters=2 splits a repeated eigenvalue"):
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
        (np.triu(np.ones((30, 30))), "W is not symmetric .*Pass symmetrize='max'"),
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
    with pytest.raises(ValueError, match=r"Sensitivity needs RBF weights, but .* use RBF\(\)"):
        EVSC(KNN(3, "binary")).evaluate(X)
    with pytest.raises(ValueError, match=r"RBF needs a full 20000 x 20000 matrix \(3 GiB\).*KNN\(\)"):
        RBF().build(np.zeros((20000, 1)) + np.arange(20000)[:, None])


@pytest.mark.parametrize("recipe", [RBF(bandwidth=1e308), KNN(bandwidth=1e308), RBF(bandwidth=1e-200)], ids=repr)
def test_a_width_whose_square_is_no_number_is_refused(recipe, rng):
    with pytest.raises(ValueError, match=r"bandwidth=1e[+-]\d+ is out of range.*between 1e-150 and 1e150"):
        recipe.build(rng.normal(size=(30, 3)))
