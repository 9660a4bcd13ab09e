"""Defects found in other packages: each that could occur here has a test that names it."""

import tracemalloc

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.datasets import load_iris

from fiedler import (
    KNN,
    METHODS,
    RBF,
    SPEC,
    ClassGraph,
    ConstraintScore,
    FisherScore,
    LaplacianScore,
    ReliefF,
    SpectralSelector,
    SSelect,
    TargetKNN,
    Within,
)
from fiedler.evaluate import kendall_coefficient


@pytest.fixture(scope="module")
def iris_and_noise():
    """Iris, two noise columns, a zero column."""
    X, y = load_iris(return_X_y=True)
    noise = 0.3 * np.random.default_rng(0).normal(size=(150, 2))
    return np.c_[X, noise, np.zeros(150)], y


@pytest.mark.parametrize("phi", [1, 2, 3])
@pytest.mark.parametrize("gamma", [1, 4])
def test_spec_is_not_ranked_upside_down(phi, gamma, iris_and_noise):
    """scikit-feature and its fork, AutoUFSTool for φ3, Rdimtools' φ3: noise or a zero column came first."""
    X, _ = iris_and_noise
    X = np.c_[X[:, :6] - X[:, :6].mean(axis=0), X[:, 6]]  # φ1 and φ3 read the mean of a feature
    order = list(SpectralSelector(SPEC(phi=phi, gamma=gamma, n_clusters=3), n_features_to_select=4).fit(X).order_)
    assert set(order[:3]) == {0, 2, 3}
    assert order[-1] == 6
    assert {4, 5} <= set(order[3:])


@pytest.mark.parametrize("name", ["laplacian", "spec", "evsc", "variance"])
def test_methods_run_without_being_given_a_graph(name, iris_and_noise):
    """scikit-feature's lap_score raised KeyError without W; ITMO_FS's MCFS could not be constructed."""
    assert np.isfinite(METHODS[name]().evaluate(iris_and_noise[0][:, :6])).all()


def test_selected_features_are_the_best_scored(iris_and_noise):
    """skfeature-chappers returned positions for ranks: 0 of 5 right on digits; ITMO_FS kept the worst two of iris."""
    X, y = iris_and_noise
    for criterion in (FisherScore(), LaplacianScore(), SSelect()):
        selector = SpectralSelector(criterion, n_features_to_select=3).fit(X, y)
        sign = -1 if criterion.greater_is_better else 1
        best = np.argsort(sign * np.nan_to_num(selector.scores_, nan=sign * np.inf), kind="stable")[:3]
        assert set(selector.get_support(indices=True)) == set(best)


@pytest.mark.parametrize("dtype", [float, int])
def test_cosine_graph_leaves_x_alone(dtype):
    """scikit-feature normalised the caller's X in place and truncated integers to zero."""
    X = np.random.default_rng(1).integers(1, 50, size=(30, 4)).astype(dtype)
    before = X.copy()
    graph = KNN(3, metric="cosine").build(X)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_allclose(graph.toarray(), KNN(3, metric="cosine").build(X.astype(float)).toarray(), rtol=1e-12)


@pytest.mark.parametrize("value", [3.0, 0.1, 1.0 / 3.0, 1000.0])
@pytest.mark.parametrize("recipe", [KNN(), RBF(), ClassGraph()])
def test_a_constant_column_never_ranks_first(value, recipe, iris_and_noise):
    """scikit-feature at 3.0 and Rdimtools at any value score it 0, the best; rounding decides."""
    X, y = iris_and_noise
    spoiled = np.c_[np.full(150, value), X[:, :4]]
    assert SpectralSelector(LaplacianScore(recipe), n_features_to_select=4).fit(spoiled, y).ranking_[0] == 5


def test_relieff_weighs_the_other_classes_equally():
    """scikit-feature divides by the class prior, skrebate computes priors and never uses them; eq. 12 has 1/(c-1)."""
    X = np.array([[0.0], [0.1], [5.0], [5.1], [5.2], [5.3], [9.0], [9.1]])
    y = np.array([0, 0, 1, 1, 1, 1, 2, 2])
    expected = 0.0
    for i, x in enumerate(X[:, 0]):
        d2 = (X[:, 0] - x) ** 2
        near = [min(d2[(y == c) & (np.arange(8) != i)]) for c in range(3)]
        expected += sum(near[c] for c in range(3) if c != y[i]) / 2 - near[y[i]]
    assert ReliefF(1).evaluate(X, y)[0] == pytest.approx(expected)


def test_knn_graph_has_no_self_loops_and_the_stated_kernel():
    """scikit-feature keeps W_ii = 1 and documents another kernel than it computes; flexynesis does not symmetrise."""
    X = np.random.default_rng(2).normal(size=(20, 3))
    W = KNN(4, bandwidth=0.7).build(X).toarray()
    assert (W.diagonal() == 0).all()
    np.testing.assert_array_equal(W, W.T)
    i, j = np.argwhere(W > 0)[0]
    assert W[i, j] == pytest.approx(np.exp(-((X[i] - X[j]) ** 2).sum() / (2 * 0.7**2)))
    assert (np.count_nonzero(W, axis=1) >= 4).all()


def test_class_graph_weights_are_one_over_the_class_size():
    """skfeature-chappers used n_l / n, .333 on iris instead of .02."""
    X, y = load_iris(return_X_y=True)
    assert ClassGraph().build(X, y).toarray()[0, 0] == pytest.approx(0.02)


def test_target_graph_is_symmetric():
    """skfeature-chappers' regression similarity was not, and went through eigh, which reads one triangle."""
    W = TargetKNN(3).build(np.zeros((25, 1)) + 1, np.random.default_rng(3).normal(size=25)).toarray()
    np.testing.assert_array_equal(W, W.T)


def test_phi2_on_the_class_graph_is_the_definition_and_ignores_row_order():
    """ITMO_FS dropped an arbitrary vector of the zero eigenspace: [.013 .017 .026 .063], other after a permutation."""
    X, y = load_iris(return_X_y=True)
    expected = [0.381, 0.599, 0.059, 0.071]
    rows = np.random.default_rng(4).permutation(150)
    for data in ((X, y), (X[rows], y[rows])):
        np.testing.assert_allclose(SPEC(ClassGraph(), phi=2).evaluate(*data), expected, atol=5e-4)


def test_the_number_of_features_to_select_does_not_shape_the_graph(iris_and_noise):
    """ITMO_FS built its graph with n_neighbors = number of features to select."""
    X, _ = iris_and_noise
    few, many = (SpectralSelector("laplacian", n_features_to_select=k).fit(X) for k in (1, 4))
    np.testing.assert_array_equal(few.scores_, many.scores_)


def peak_memory(work):
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_nothing_is_quadratic_in_features_or_in_labelled_rows():
    """ITMO_FS forms p x p matrices to read a diagonal, scikit-feature n x n per feature, most densify L."""
    rng = np.random.default_rng(5)
    wide = rng.normal(size=(40, 20_000)).astype(np.float32)
    assert peak_memory(lambda: LaplacianScore(KNN(5)).evaluate(wide)) < 100e6  # 20,000² floats are 3.2 GB
    tall, y = rng.normal(size=(50_000, 4)), rng.integers(0, 3, size=50_000)
    for criterion in (FisherScore(), ConstraintScore(1), SPEC(ClassGraph(), 1)):
        assert peak_memory(lambda c=criterion: c.evaluate(tall, y)) < 100e6  # 50,000² floats are 20 GB


def test_selection_does_not_move_with_rounding_noise(iris_and_noise):
    """Rdimtools' do.lsls has a denominator that is zero by construction: 1e-13 on X changed the selection."""
    X, y = iris_and_noise
    for name in ("laplacian", "spec", "fisher", "sselect", "relieff", "constraint", "evsc"):
        one = SpectralSelector(name).fit(X, y).order_
        two = SpectralSelector(name).fit(X + 1e-13 * np.random.default_rng(6).normal(size=X.shape), y).order_
        assert list(one[:4]) == list(two[:4]), name


def test_a_class_of_one_row_leaves_the_others_scores():
    """Rdimtools' do.specs returned NaN for every feature."""
    X, y = load_iris(return_X_y=True)
    y = y.copy()
    y[0] = 7
    for criterion in (SPEC(ClassGraph(), 1), SPEC(ClassGraph(), 2), FisherScore(), ReliefF()):
        assert np.isfinite(criterion.evaluate(X, y)).all()


def test_unlabelled_rows_are_not_one_more_class():
    """Rdimtools' do.cscore treated NA as a class and ranked noise second."""
    X, y = load_iris(return_X_y=True)
    few = np.where(np.arange(150) % 5 == 0, y, -1)
    known = few >= 0
    for criterion in (FisherScore(), ConstraintScore(1), ConstraintScore(2), SPEC(ClassGraph(), 2)):
        np.testing.assert_allclose(criterion.evaluate(X, few), criterion.evaluate(X[known], few[known]), rtol=1e-9)


def test_leading_means_smooth():
    """AiDotNet's power iteration found the roughest directions and preferred features aligned with them."""
    n = 60
    path = np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
    t = np.arange(n) / n
    X = np.c_[np.cos(np.pi * t), np.cos(40 * np.pi * t)]
    for phi in (1, 2, 3):
        assert list(SpectralSelector(SPEC(path, phi, n_clusters=4)).fit(X - X.mean(axis=0)).order_) == [0, 1]


def test_c3_reads_every_feature_and_no_label_column():
    """Similarity-Based-CS let the last feature play the label."""
    rng = np.random.default_rng(7)
    X, links = rng.normal(size=(20, 5)), {"must_link": [[0, 1], [2, 3]], "cannot_link": [[0, 4], [5, 6]]}
    W = Within(3).build(X, **links).toarray()
    f = X[:, 4]
    energy = 0.5 * sum(W[i, j] * (f[i] - f[j]) ** 2 for i in range(20) for j in range(20))
    apart = (f[0] - f[4]) ** 2 + (f[5] - f[6]) ** 2
    assert ConstraintScore(3, n_neighbors=3).evaluate(X, **links)[4] == pytest.approx(energy / apart)


def test_kendall_counts_every_group_of_ties():
    """Similarity-Based-CS used one count per ranking."""
    ranks = [rankdata(r) for r in ([1, 1, 2, 2, 3], [1, 1, 2, 2, 3])]
    assert kendall_coefficient(ranks) == pytest.approx(1.0)  # identical rankings agree, whatever their ties


@pytest.mark.parametrize("name", METHODS)
def test_fit_changes_no_parameter(name):
    """skrebate's fit overwrites n_neighbors when it is a float."""
    X, y = load_iris(return_X_y=True)
    selector = SpectralSelector(METHODS[name](), n_features_to_select=0.5)
    before = repr(selector.get_params())
    selector.fit(X, y)
    assert repr(selector.get_params()) == before


def test_nearly_constant_features_stay_finite():
    """rapids-singlecell and squidpy returned inf or wrong values for low-variance genes."""
    rng = np.random.default_rng(8)
    X = np.c_[rng.normal(size=(50, 2)), 1 + 1e-12 * rng.normal(size=50), 1e8 + 1e-6 * rng.normal(size=50)]
    scores = LaplacianScore().evaluate(X)
    assert np.isfinite(scores).all()
    assert ((scores > 0) & (scores < 2)).all()
