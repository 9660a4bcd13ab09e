"""Degenerate and bad input: one clear message each, naming the parameter, the value and the way out."""

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
    Correlation,
    Diffusion,
    Energy,
    FisherScore,
    Graph,
    LaplacianScore,
    MustLink,
    Pairs,
    Precomputed,
    Rayleigh,
    ReliefF,
    ReliefGraph,
    SemiSupervisedLaplacianScore,
    SemiTarget,
    SpectralSelector,
    SSelect,
    SupervisedLaplacianScore,
    TargetKNN,
    Variance,
    Within,
    pairs_from_labels,
)
from fiedler.evaluate import kendall_coefficient

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
    with pytest.raises(ValueError, match=r"EVSC differentiates RBF weights, but .* use RBF\(\)"):
        EVSC(KNN(3, "binary")).evaluate(X)
    with pytest.raises(ValueError, match=r"RBF needs a full 20000 x 20000 matrix \(3 GiB\).*KNN\(\)"):
        RBF().build(np.zeros((20000, 1)) + np.arange(20000)[:, None])


# ---------------------------------------------------------------- labels and targets


def test_wrong_kind_of_y():
    words = np.array(["a", "b", "c"])[Y]
    for method in (SupervisedLaplacianScore(), SemiSupervisedLaplacianScore(), Correlation()):
        with pytest.raises(ValueError, match=r"reads a real-valued target, but y holds 'a'; use a classification"):
            method.evaluate(X, words)
    for method in (FisherScore(), SSelect(), ReliefF(), SPEC(ClassGraph())):
        with pytest.raises(ValueError, match=r"reads class labels, but y holds real values such as 0\.5"):
            method.evaluate(X, Y + 0.5)


def test_missing_y():
    for method in (FisherScore(), SSelect(), ReliefF(), SupervisedLaplacianScore(), Correlation()):
        with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
            method.evaluate(X)


def test_unlabelled_rows_only():
    for y in (np.full(30, -1), np.full(30, np.nan), np.array([""] * 30), np.array([None] * 30)):
        with pytest.raises(ValueError, match="all 30 labels in y are unknown"):
            FisherScore().evaluate(X, y)
    with pytest.raises(ValueError, match="at least two known targets, but y holds 0 among 30 rows"):
        SupervisedLaplacianScore().evaluate(X, np.full(30, np.nan))


def test_one_class_only():
    for y in (np.zeros(30, dtype=int), np.array(["a"] * 29 + [""])):
        for method in (FisherScore(), SSelect(), ReliefF(), ConstraintScore()):
            with pytest.raises(ValueError, match=r"at least two classes, but the (29|30) labelled rows"):
                method.evaluate(X, y)


def test_a_class_with_one_member():
    y = Y.copy()
    y[y == 2] = 1
    y[5] = 2
    for method in (FisherScore(), SSelect(), ReliefF(4), SPEC(ClassGraph()), ConstraintScore(1)):
        assert np.isfinite(method.evaluate(X, y)).all()
    with pytest.raises(ValueError, match="two labelled rows of the same class, but y has one of each"):
        ConstraintScore(1).evaluate(X, np.arange(30))


def test_minus_one_and_one_is_ambiguous():
    y = np.where(Y > 0, 1, -1)
    with pytest.raises(ValueError, match=r"only -1 and 1.*unlabeled=None.*recode"):
        SpectralSelector("fisher").fit(X, y)
    both = SpectralSelector("fisher", unlabeled=None).fit(X, y).scores_
    np.testing.assert_allclose(both, FisherScore().evaluate(X, (y > 0).astype(int)))


@pytest.mark.parametrize(
    "y",
    [
        [0, 1, -1] * 10,
        [0.0, 1.0, np.nan] * 10,
        ["no", "yes", ""] * 10,
        ["no", "yes", None] * 10,
        np.array(["no", "yes", np.nan] * 10, dtype=object),
        pd.Series(["no", "yes", pd.NA] * 10),
        pd.Series(["no", "yes", None] * 10, dtype="category"),
        pd.array([0, 1, None] * 10, dtype="Int64"),
        pl.Series(["no", "yes", None] * 10),
        np.array(["no", "yes", ""] * 10),
    ],
)
def test_every_spelling_of_unknown_classes(y):
    expected = FisherScore().evaluate(X[np.arange(30) % 3 < 2], np.arange(20) % 2)
    np.testing.assert_allclose(FisherScore().evaluate(X, y), expected, rtol=1e-12)


def test_another_marker_for_unknown():
    y = ["?" if c == 2 else "ab"[c] for c in Y]
    marked = SpectralSelector("fisher", unlabeled="?").fit(X, y).scores_
    np.testing.assert_allclose(marked, FisherScore().evaluate(X, np.where(Y == 2, -1, Y)))


def test_malformed_y():
    with pytest.raises(ValueError, match="y has 29 entries but X has 30 rows"):
        FisherScore().evaluate(X, Y[:-1])
    with pytest.raises(TypeError, match="y mixes labels of types int, str"):
        FisherScore().evaluate(X, np.array([0, "a"] * 15, dtype=object))
    with pytest.raises(ValueError, match="inf in row 4"):
        SupervisedLaplacianScore().evaluate(X, np.where(np.arange(30) == 4, np.inf, 0.5))
    with pytest.raises(ValueError, match="real values such as inf"):
        FisherScore().evaluate(X, np.where(np.arange(30) == 4, np.inf, 1.0))
    with pytest.raises(ValueError, match="Complex data not supported"):
        FisherScore().evaluate(X, Y + 1j)


def test_a_constant_target_correlates_with_nothing():
    assert np.isnan(Correlation().evaluate(X, np.full(30, 2.0))).all()


# ---------------------------------------------------------------- pairs


@pytest.mark.parametrize(
    ("must", "cannot", "error", "message"),
    [
        ([[0, 1]], [[1, 0]], ValueError, r"rows 0 and 1 are both in must_link and in cannot_link \(1 such pairs\)"),
        ([[0, 1], [5, 5]], [[1, 2]], ValueError, r"must_link\[1\] = \(5, 5\) pairs a row with itself"),
        ([[0, 30]], [[1, 2]], ValueError, r"must_link\[0\] = \(0, 30\) is out of range: X has 30 rows.*Pairs"),
        ([[0, 1]], [[1, -2]], ValueError, r"cannot_link\[0\] = \(1, -2\) is out of range"),
        ([0, 1], [[1, 2]], ValueError, r"must_link must have shape \(n_pairs, 2\).*got \(2,\)"),
        ([[0.5, 1.0]], [[1, 2]], TypeError, "must_link must hold integer row numbers, got dtype float64"),
        ([["a", "b"]], [[1, 2]], TypeError, "must_link must hold integer row numbers"),
        ([[0, 1]], None, ValueError, "CannotLink needs at least one pair of its kind, but got none"),
        ([], [[0, 1]], ValueError, "MustLink needs at least one pair of its kind"),
        (Pairs([[0, 1]], 12), [[1, 2]], ValueError, r"must_link is made for n_samples=12, but X has 30 rows"),
    ],
)
def test_bad_pairs(must, cannot, error, message):
    with pytest.raises(error, match=message):
        ConstraintScore(1).evaluate(X, must_link=must, cannot_link=cannot)


def test_pairs_for_a_method_that_needs_labels_and_the_reverse():
    links = {"must_link": [[0, 1]], "cannot_link": [[1, 2]]}
    for method in (FisherScore(), SSelect(), SupervisedLaplacianScore()):
        with (
            pytest.warns(UserWarning, match="reads no pairs"),
            pytest.raises(ValueError, match=r"target y is None.*pairs cannot replace it, use the method"),
        ):
            method.evaluate(X, **links)
    with pytest.raises(ValueError, match="MustLink needs pairs or class labels, but y holds real targets"):
        ConstraintScore(1).evaluate(X, Y + 0.5)
    with pytest.raises(ValueError, match="target y is None, and so are the pairs; pass must_link"):
        ConstraintScore(1).evaluate(X)
    with pytest.warns(UserWarning, match=r"LaplacianScore\(\) reads no pairs: must_link and cannot_link are ignored"):
        LaplacianScore().evaluate(X, **links)


def test_drawing_pairs():
    y = np.array([0] * 10 + [1] * 10 + [-1] * 10)
    must, cannot = pairs_from_labels(y, 21, random_state=0)
    assert (len(must), len(cannot)) == (11, 10)
    assert (y[must[:, 0]] == y[must[:, 1]]).all()
    assert (y[cannot[:, 0]] != y[cannot[:, 1]]).all()
    assert (y[np.r_[must, cannot]] >= 0).all()
    assert len(np.unique(np.r_[must, cannot], axis=0)) == 21
    again = pairs_from_labels(y, 21, random_state=0)
    np.testing.assert_array_equal(again[0], must)
    assert not np.array_equal(pairs_from_labels(y, 21, random_state=1)[0], must)
    everything = pairs_from_labels(y, 180, random_state=0)
    assert len(everything[0]) == 90
    with pytest.raises(ValueError, match="n_pairs=200 asks for 100 must-link and 100 cannot-link pairs, but the 20"):
        pairs_from_labels(y, 200)
    with pytest.raises(ValueError, match="n_pairs must be an integer of at least 2, got 0"):
        pairs_from_labels(y, 0)


def test_drawing_pairs_from_many_rows():
    y = np.arange(5000) % 50
    must, cannot = pairs_from_labels(y, 100, random_state=3)
    assert (len(must), len(cannot)) == (50, 50)
    assert (y[must[:, 0]] == y[must[:, 1]]).all()
    assert (y[cannot[:, 0]] != y[cannot[:, 1]]).all()


# ---------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    ("wanted", "error", "message"),
    [
        (0, ValueError, "n_features_to_select=0 must be between 1 and the 5 features"),
        (6, ValueError, "n_features_to_select=6 must be between 1 and the 5 features"),
        (-1, ValueError, "n_features_to_select=-1"),
        (0.0, ValueError, r"as a share must be in \(0, 1\]"),
        (1.5, ValueError, r"as a share must be in \(0, 1\]; use an int"),
        ("half", TypeError, "n_features_to_select must be an integer, a share .* got 'half' of type str"),
        (True, TypeError, "got True of type bool"),
    ],
)
def test_wrong_n_features_to_select(wanted, error, message):
    with pytest.raises(error, match=message):
        SpectralSelector("variance", n_features_to_select=wanted).fit(X)


@pytest.mark.parametrize(
    ("wanted", "kept"), [(None, 2), (1, 1), (5, 5), (0.4, 2), (1.0, 5), (0.01, 1), (np.int64(3), 3)]
)
def test_n_features_to_select(wanted, kept):
    assert SpectralSelector("variance", n_features_to_select=wanted).fit(X).support_.sum() == kept


def test_unknown_methods():
    with pytest.raises(ValueError, match="criterion='laplacain' is not a method; did you mean 'laplacian'"):
        SpectralSelector("laplacain").fit(X)
    with pytest.raises(ValueError, match="did you mean 'sselect'"):
        SpectralSelector("sSelekt").fit(X)
    with pytest.raises(ValueError, match="is not a method; Known: variance, correlation"):
        SpectralSelector("???").fit(X)
    with pytest.raises(TypeError, match="criterion must be a Criterion or one of"):
        SpectralSelector(3).fit(X)


@pytest.mark.parametrize(
    ("criterion", "message"),
    [
        (SSelect(lam=1.5), "lam must be a number between 0 and 1, got 1.5"),
        (SSelect(lam=None), "lam must be a number between 0 and 1, got None"),
        (ConstraintScore(5), "variant must be one of 1, 2, 3, 4, got 5"),
        (ConstraintScore(2, lam=-1), "lam must be a positive number"),
        (ConstraintScore(3, gamma=0), "gamma must be a positive number"),
        (SPEC(phi=4), "phi must be one of 1, 2, 3, got 4"),
        (SPEC(gamma=0), "gamma must be a positive number, got 0"),
        (SPEC(gamma=lambda v: v[:2]), "gamma must map eigenvalues to finite values of the same shape"),
        (SPEC(gamma=lambda v: v / 0.0), "gamma must map eigenvalues to finite values"),
        (SPEC(phi=3, n_clusters=1), "n_clusters must be an integer of at least 2, got 1"),
        (EVSC(n_eigenvalues=0), "n_eigenvalues must be an integer of at least 1"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*divide")
def test_wrong_parameters_of_methods(criterion, message):
    with pytest.raises(ValueError, match=message):
        criterion.evaluate(X, Y)


def test_algebra_refuses_what_would_not_order_features():
    with pytest.raises(ValueError, match=r"cannot add Variance\(\) and LaplacianScore\(\): large is good"):
        Variance() + LaplacianScore()
    with pytest.raises(ValueError, match="cannot multiply"):
        FisherScore() * LaplacianScore()
    with pytest.raises(ValueError, match="it may be negative"):
        LaplacianScore() * ConstraintScore(2)
    with pytest.raises(ValueError, match="it may be negative"):
        Rayleigh(ReliefGraph()) * LaplacianScore()
    with pytest.raises(TypeError):
        LaplacianScore() + 1
    with pytest.raises(TypeError):
        LaplacianScore() * "2"
    assert (LaplacianScore() - 2.0 * Variance()).greater_is_better is False
    assert (Variance() - LaplacianScore()).greater_is_better is True
    late = LaplacianScore() + LaplacianScore()
    late.set_params(right=Variance())
    with pytest.raises(ValueError, match="cannot add"):
        late.evaluate(X)


def test_formulas_read_as_formulas():
    own = LaplacianScore() * ConstraintScore(1)
    assert repr(own) == "LaplacianScore() * ConstraintScore(variant=1)"
    assert repr((own + own) * LaplacianScore(KNN(3))) == f"({own} + {own}) * LaplacianScore(graph=KNN(n_neighbors=3))"
    assert repr(2 * (own + own)) == f"2 * ({own} + {own})"
    assert repr(Energy(MustLink()) - 0.5 * (0.2 * Variance())) == "Energy(MustLink()) - 0.1 * Variance()"
    assert repr(LaplacianScore(np.ones((3, 3)))) == "LaplacianScore(graph=<3 x 3 array>)"
    assert repr(Rayleigh(Precomputed(np.ones((3, 3))))) == "Rayleigh(Precomputed(<3 x 3 array>))"


@pytest.mark.parametrize("ranks", [[1, 2, 3], [[1], [1]], [[1, 2, np.nan]], [[3, 3, 3]], [[10, 20, 30]]])
def test_kendall_wants_ranks(ranks):
    with pytest.raises(ValueError, match="ranks must"):
        kendall_coefficient(ranks)
