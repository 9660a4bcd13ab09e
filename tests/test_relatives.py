"""MCFS, MRSF and trace ratio: the optimality conditions of their papers, and what other packages get wrong in them."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine

from fiedler import (
    KNN,
    MCFS,
    MRSF,
    RBF,
    ClassGraph,
    FisherScore,
    LaplacianScore,
    SpectralSelector,
    TraceRatio,
    Variance,
)
from fiedler.criteria.explained import best_ratio
from fiedler.criteria.regressed import group_lasso, lasso_coefficients
from fiedler.data.memory import memory_limit
from fiedler.errors import ParameterError


def problem(rng, n, m, k):
    C = rng.normal(size=(n, m)) @ (np.eye(m) + 0.5 * rng.normal(size=(m, m)) / np.sqrt(m))
    C -= C.mean(axis=0)
    Y = C[:, :3] @ rng.normal(size=(3, k)) + rng.normal(size=(n, k))
    return C, Y - Y.mean(axis=0)


# ------------------------------------------------------------------------------------------ regressions


@pytest.mark.parametrize(("n", "m", "wanted"), [(40, 60, 10), (100, 30, 29), (30, 200, 15), (50, 20, 20)])
@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e5])
def test_the_lasso_meets_its_conditions(rng, n, m, wanted, unit):
    """Features in the model have c'r = λ sign(a), all others |c'r| <= λ, and the next one is about to reach λ."""
    C, Y = problem(rng, n, m, 1)
    a = lasso_coefficients(unit * C, Y[:, 0], wanted)
    left, inside = unit * C.T @ (Y[:, 0] - unit * C @ a), a != 0
    lam = np.abs(left[inside]).max()
    assert inside.sum() == wanted
    np.testing.assert_allclose(
        left[inside], lam * np.sign(a[inside]), rtol=1e-6, atol=1e-9 * unit * np.abs(C.T @ Y).max()
    )
    if wanted < m:
        assert np.abs(left[~inside]).max() == pytest.approx(lam, rel=1e-6)


@pytest.mark.parametrize(("n", "m", "k", "wanted"), [(40, 60, 3, 10), (100, 30, 4, 29), (30, 200, 2, 15)])
def test_the_group_lasso_meets_its_conditions(rng, n, m, k, wanted):
    """Rows above 0 have C'R = λ a / ‖a‖, all others ‖C'R‖ <= λ."""
    C, Y = problem(rng, n, m, k)
    A, lam = group_lasso(C, Y, wanted)
    left, inside = C.T @ (Y - C @ A), A.any(axis=1)
    assert inside.sum() >= wanted
    length = np.linalg.norm(A[inside], axis=1, keepdims=True)
    np.testing.assert_allclose(left[inside], lam * A[inside] / length, atol=1e-10 * lam)
    assert (np.linalg.norm(left[~inside], axis=1) <= lam * (1 + 1e-8)).all()


def test_a_larger_number_of_features_explains_more(rng):
    C, Y = problem(rng, 60, 40, 3)
    left = [np.sum((Y - C @ group_lasso(C, Y, number)[0]) ** 2) for number in (1, 5, 20, 40)]
    assert (np.diff(left) < 0).all()


def test_nothing_to_explain(rng):
    assert not group_lasso(np.zeros((10, 3)), rng.normal(size=(10, 2)), 2)[0].any()
    assert not lasso_coefficients(np.zeros((10, 3)), rng.normal(size=10), 2).any()


@pytest.mark.parametrize("method", [MCFS, MRSF])
def test_the_number_of_coefficients_is_that_of_the_selection(method):
    """As in the papers; a number that is given stays."""
    X = load_wine().data
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    chosen = SpectralSelector(method(n_clusters=2), n_features_to_select=3).fit(X)
    np.testing.assert_array_equal(chosen.scores_, method(n_clusters=2, n_nonzero=3).evaluate(X))
    fixed = SpectralSelector(method(n_clusters=2, n_nonzero=5), n_features_to_select=3).fit(X)
    np.testing.assert_array_equal(fixed.scores_, method(n_clusters=2, n_nonzero=5).evaluate(X))
    assert (chosen.scores_ > 0).sum() < (fixed.scores_ > 0).sum()
    assert (chosen.scores_[chosen.support_] > 0).all()


@pytest.mark.parametrize("method", [MCFS, MRSF])
def test_a_near_copy_gets_no_coefficient(method, rng):
    X = load_wine().data[:, [0, 6, 9]]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    near = X[:, [1]] + 1e-6 * rng.normal(size=(len(X), 1))
    scores = method(RBF(), n_clusters=2, n_nonzero=2).evaluate(np.hstack([X, near]))
    assert min(scores[1], scores[3]) <= 1e-3 * max(scores[1], scores[3])  # what tells them apart is 1e-6 of them


def test_a_split_eigenvalue_is_reported():
    """Four groups far from each other: 0 is an eigenvalue four times, and two of its vectors are used."""
    groups = np.kron(np.eye(4), np.ones((8, 1)))
    X = groups + 1e-3 * np.random.default_rng(0).normal(size=groups.shape)
    with pytest.warns(UserWarning, match="splits a repeated eigenvalue"):
        MCFS(KNN(3), n_clusters=2, n_nonzero=1).evaluate(X)


def test_columns_that_do_not_fit_into_memory(rng):
    with memory_limit(1000), pytest.raises(ParameterError, match=r"needs X of 30 x 8 in memory.*use subset"):
        MCFS().evaluate(rng.normal(size=(30, 8)))


# ------------------------------------------------------------------------------------------ trace ratio


@pytest.mark.parametrize("graph", [KNN(5), ClassGraph()])
@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_trace_ratio_is_the_best_of_all_sets(rng, graph, k):
    y = np.repeat([0, 1, 2], 12)
    X = (rng.normal(size=(36, 7)) + np.outer(y, rng.normal(size=7))) * rng.uniform(0.2, 5.0, 7)
    built = graph.build(X, y)
    energy, mass = built.energy(X), built.mass(X)
    every = list(itertools.combinations(range(7), k))
    ratios = [mass[list(chosen)].sum() / energy[list(chosen)].sum() for chosen in every]
    assert best_ratio(energy, mass, k) == pytest.approx(max(ratios), rel=1e-12)
    selector = SpectralSelector(TraceRatio(graph), n_features_to_select=k).fit(X, y)
    assert set(np.flatnonzero(selector.support_)) == set(every[int(np.argmax(ratios))])
    assert selector.scores_[selector.support_].sum() == pytest.approx(0.0, abs=1e-9 * mass.max())  # at the optimum


def test_the_ratio_never_falls(rng):
    """The turns of the paper, one by one."""
    energy, mass = rng.uniform(0.1, 2.0, 200), rng.uniform(0.1, 3.0, 200)
    ratio, seen = 0.0, []
    for _ in range(20):
        best = np.argsort(-(mass - ratio * energy), kind="stable")[:30]
        ratio = mass[best].sum() / energy[best].sum()
        seen.append(ratio)
    assert (np.diff(seen) >= 0).all()
    assert best_ratio(energy, mass, 30) == pytest.approx(seen[-1], rel=1e-13)


def test_one_feature_is_the_laplacian_or_the_fisher_score(blobs):
    X, y = blobs
    for graph, criterion in ((KNN(), LaplacianScore()), (ClassGraph(), FisherScore())):
        ranked = SpectralSelector(criterion, n_features_to_select=1).fit(X, y)
        assert SpectralSelector(TraceRatio(graph), n_features_to_select=1).fit(X, y).order_[0] == ranked.order_[0]


def test_features_without_energy_come_first():
    energy, mass = np.array([0.0, 1.0, 0.0, 2.0, np.nan]), np.array([1.0, 5.0, 2.0, 1.0, np.nan])
    assert best_ratio(energy, mass, 2) == np.inf
    assert best_ratio(energy, mass, 3) == 8.0


# ------------------------------------------------------------------------------------------ defects of other packages


def test_mcfs_reads_the_size_of_a_coefficient_not_its_sign(rng):
    """scikit-feature and its fork take max(coef): a feature with negative coefficients only was ranked last."""
    X = load_wine().data
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    signs = rng.choice([-1.0, 1.0], size=X.shape[1])
    np.testing.assert_allclose(MCFS(n_clusters=3).evaluate(X * signs), MCFS(n_clusters=3).evaluate(X), rtol=1e-8)
    assert (MCFS(n_clusters=3).evaluate(X) >= 0).all()


def test_mcfs_can_be_made_and_fitted():
    """ITMO_FS 0.3.3: its constructor raised AttributeError."""
    selector = SpectralSelector("mcfs", n_features_to_select=4, scale="standard").fit(load_wine().data)
    assert selector.n_features_ == 4


@pytest.mark.parametrize("k", [2, 3, 5])
def test_trace_ratio_looks_at_all_features(k):
    """scikit-feature searches among the k best Fisher scores only, so that it returns just these."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:300], y[:300]
    selector = SpectralSelector(TraceRatio(ClassGraph()), n_features_to_select=k).fit(X, y)
    alone = SpectralSelector("fisher", n_features_to_select=k).fit(X, y)
    graph = ClassGraph().build(X, y)
    energy, mass = graph.energy(X), graph.mass(X)

    def ratio(fitted):
        return mass[fitted.support_].sum() / energy[fitted.support_].sum()

    assert ratio(selector) >= ratio(alone)
    assert selector.order_[0] not in np.flatnonzero(np.isnan(Variance().evaluate(X)))


def test_trace_ratio_takes_no_zero_column(rng):
    """scikit-feature: a zero column has no scatter inside the classes, and came second."""
    X, y = load_wine(return_X_y=True)
    selector = SpectralSelector(TraceRatio(ClassGraph()), n_features_to_select=5, scale="keep")
    assert selector.fit(np.c_[X, np.zeros(len(X))], y).order_[-1] == X.shape[1]


def test_the_graph_of_trace_ratio_has_its_own_number_of_neighbours(rng):
    """ITMO_FS builds the graph with as many neighbours as features are to be selected."""
    X = rng.normal(size=(60, 8)) * rng.uniform(0.5, 3.0, 8)
    best = [best_ratio(KNN(7).build(X).energy(X), KNN(7).build(X).mass(X), k) for k in (2, 4)]
    for k, ratio in zip((2, 4), best, strict=True):
        scores = SpectralSelector(TraceRatio(KNN(7)), n_features_to_select=k).fit(X).scores_
        np.testing.assert_allclose(scores, KNN(7).build(X).mass(X) - ratio * KNN(7).build(X).energy(X), rtol=1e-9)
