"""Significance: the moments of the null against all permutations, p-values that hold on noise, what is refused."""

import itertools
import warnings
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
import scipy.sparse as sp
from inside import triangles
from scipy import stats
from sklearn import config_context

from fiedler import (
    EVSC,
    KNN,
    RBF,
    SPEC,
    Anchors,
    CannotLink,
    ClassGraph,
    ConstraintScore,
    Correlation,
    Diffusion,
    Disagreement,
    Energy,
    Explained,
    FisherScore,
    Graph,
    LaplacianScore,
    MustLink,
    Precomputed,
    Ratio,
    Rayleigh,
    ReliefF,
    ReliefGraph,
    SemiSupervisedLaplacianScore,
    SpectralSelector,
    SSelect,
    SupervisedLaplacianScore,
    TargetKNN,
    Variance,
)
from fiedler.criteria.closed_form import RatioNull, RayleighNull
from fiedler.engine.distances import row_distances, without_folds
from fiedler.engine.permuted import pearson_tail, standards
from fiedler.evaluate import significance
from fiedler.problem import Problem
from fiedler.significance.crossfit import columns_together, deal
from fiedler.significance.permutations import permuted_labels, reordered
from fiedler.significance.testing import adjusted

FIELDS = ("pvalues", "qvalues", "z", "effect")


def quadratic(graph, r):
    """A = L - r (D - dd'/V) between the active nodes, W scaled to mean degree 1."""
    on = np.flatnonzero(graph.active)
    W, d = graph.toarray()[np.ix_(on, on)], graph.degree[on]
    W, d = W * len(on) / d.sum(), d * len(on) / d.sum()
    return np.diag(W.sum(axis=1)) - W - r * (np.diag(d) - np.outer(d, d) / d.sum())


def between(above, below, t):
    """A = (1 - t) L₁ - t L₂ between the nodes active in one of them, each scaled to mean degree 1."""
    on = np.flatnonzero(above.active | below.active)
    L = []
    for graph in (above, below):
        W = graph.toarray()[np.ix_(on, on)] * len(on) / graph.volume
        L.append(np.diag(W.sum(axis=1)) - W)
    return (1 - t) * L[0] - t * L[1]


def standard(f):
    f = f - f.mean()
    return f / np.sqrt(np.mean(f**2))


def enumerated(A, f):
    """Mean, variance and third central moment of f'Af over all orders of f."""
    F = standard(f)[np.array(list(itertools.permutations(range(len(f)))))]
    Q = np.einsum("pi,ij,pj->p", F, A, F)
    return Q.mean(), Q.var(), np.mean((Q - Q.mean()) ** 3)


def weights(kind, n, rng):
    """A connected graph of a kind, without a row of equal weights."""
    W = np.triu(rng.uniform(0.2, 1.0, size=(n, n)) * (rng.random((n, n)) < 0.7), 1)
    W[np.arange(n - 1), np.arange(1, n)] = rng.uniform(0.2, 1.0, size=n - 1)
    W = W + W.T
    if kind == "binary":
        W = (W > 0.3).astype(float)
        W[np.arange(n - 1), np.arange(1, n)] = W[np.arange(1, n), np.arange(n - 1)] = 1.0
    if kind == "loops":
        W += np.diag(rng.uniform(0.0, 2.0, size=n))
    if kind == "isolated":  # two more nodes without edges
        inside = np.delete(np.arange(n + 2), [0, 4])
        wide = np.zeros((n + 2, n + 2))
        wide[np.ix_(inside, inside)] = W
        W = wide
    return W


def t_of(null, F):
    """The quotient of each column."""
    (piece,) = null.pieces
    above, below = piece.forms[0].values(F, standards(F, piece.active))
    return piece.forms[0].parameter(above, below)


def check_moments(null, A, t, f):
    (piece,) = null.pieces
    got = np.ravel(piece.moments(0, np.array([t]), standards(f[:, None], piece.active), None))
    mean, variance, third = enumerated(A, f[piece.active])
    scale = variance ** np.array([0.5, 1.0, 1.5])  # the mean is zero at the null mean, the third moment by symmetry
    np.testing.assert_allclose(got, [mean, variance, third], rtol=1e-10, atol=1e-10 * scale.min())


# -------------------------------------------------------------------- moments


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("kind", ["weighted", "binary", "loops", "isolated"])
@pytest.mark.parametrize("n", [6, 7, 8])
def test_moments_are_those_of_all_permutations(n, kind, storage, rng):
    graph = Graph.from_weights(storage(weights(kind, n, rng)))
    null = RayleighNull(graph)
    assert null.n == n
    f = rng.exponential(size=graph.n_nodes)
    for r in (float(t_of(null, f[:, None])[0]), 0.3, 1.7):
        check_moments(null, quadratic(graph, r), r, f)


def test_moments_on_factored_graphs(rng):
    codes = np.array([0, 0, 0, 1, 1, 2, 2])
    one_hot = np.eye(3)[codes] * rng.uniform(0.5, 2.0, size=(7, 1))
    soft = rng.dirichlet(np.ones(3), size=7)
    core = rng.uniform(0.5, 1.0, size=(3, 3))
    graphs = [
        ClassGraph().build(np.zeros((9, 1)), [0, 0, 0, 1, 1, -1, 2, 2, -1]),
        Graph.from_factors(one_hot, core + core.T, loops=rng.uniform(size=7)),
        Graph.from_factors(soft, 1.0 / soft.sum(axis=0), degree=np.ones(7)),
        Graph.from_factors(soft, core + core.T),
        Anchors(n_anchors=4, n_neighbors=2).build(rng.normal(size=(8, 2))),
    ]
    for graph in graphs:
        assert graph.storage == "factored"
        check_moments(RayleighNull(graph), quadratic(graph, 0.8), 0.8, rng.exponential(size=graph.n_nodes))


def test_moments_of_a_ratio(rng):
    y = [0, 0, 0, 1, 1, 1, 2]
    by_class = [recipe.build(np.zeros((7, 1)), y) for recipe in (MustLink(), CannotLink())]
    W = [weights("weighted", 7, rng) for _ in range(3)]
    given = [Graph.from_weights(W[0]), Graph.from_weights(sp.csr_array(W[1])), Graph.from_weights(sp.csr_array(W[2]))]
    pairs = [by_class, given[:2], given[1:], [by_class[0], given[1]], [given[0], by_class[1]]]
    for above, below in pairs:
        for t in (0.2, 0.75):
            check_moments(RatioNull(above, below), between(above, below, t), t, rng.exponential(size=7))


def test_z_is_that_of_gearys_c_where_all_degrees_are_equal(rng):
    """Cliff and Ord's variance of C under randomisation, on a ring."""
    n = 25
    i = np.arange(n)
    graph = Graph.from_edges(i, (i + 1) % n, np.ones(n), n)
    f = rng.exponential(size=n)
    d = f - f.mean()
    s0, s1, s2 = 2.0 * n, 4.0 * n, 16.0 * n
    b2 = n * np.sum(d**4) / np.sum(d**2) ** 2
    c = (n - 1) / (2 * s0) * 2 * np.sum((f - np.roll(f, -1)) ** 2) / np.sum(d**2)
    variance = (n - 1) * s1 * (n * n - 3 * n + 3 - (n - 1) * b2) - 0.25 * (n - 1) * s2 * (
        n * n + 3 * n - 6 - (n * n - n + 2) * b2
    )
    variance = (variance + s0**2 * (n * n - 3 - (n - 1) ** 2 * b2)) / (n * (n - 2) * (n - 3) * s0**2)
    verdict = RayleighNull(graph)(f[:, None])
    assert verdict.z[0] == pytest.approx((c - 1) / np.sqrt(variance), rel=1e-10)
    assert verdict.effect[0] == pytest.approx(1 - c, rel=1e-10)


def test_pvalues_are_those_of_many_permutations(rng):
    """Features at about .05 and .01 of several shapes, each beside 100,000 orders of its values."""
    n, B = 200, 100_000
    places = rng.normal(size=(n, 3))
    null = RayleighNull(graph := KNN().build(places))
    draws = (
        rng.normal(size=(n, 300)),
        rng.exponential(size=(n, 300)),
        (rng.random((n, 300)) < 0.4).astype(float),
        places[:, :1] + 5.0 * rng.normal(size=(n, 300)),
    )
    chosen = [F[:, np.argmin(np.abs(np.log(null(F).p / level)))] for F in draws for level in (0.05, 0.01)]
    F = np.column_stack([standard(f) for f in chosen])
    matrices = [quadratic(graph, r) for r in t_of(null, F)]
    smaller = np.zeros(len(chosen))
    for _ in range(20):
        orders = rng.permuted(np.tile(np.arange(n), (B // 20, 1)), axis=1)
        for j, A in enumerate(matrices):
            f = F[orders, j]
            smaller[j] += np.sum(np.einsum("bi,bi->b", f @ A, f) <= 1e-10)
    share = smaller / B
    assert ((share > 0.003) & (share < 0.1)).all()
    assert (np.abs(null(F).p - share) < 4 * np.sqrt(share * (1 - share) / B)).all()


def test_tail_is_the_one_of_pearson():
    z, skewness = np.meshgrid(np.linspace(-6, 4, 41), [-1.5, -0.4, -1e-3, 1e-3, 0.3, 1.1])
    np.testing.assert_allclose(pearson_tail(z, skewness), stats.pearson3.cdf(z, skewness), rtol=1e-6, atol=1e-14)
    np.testing.assert_allclose(pearson_tail(z, 0 * z), stats.norm.cdf(z), rtol=1e-13)
    assert np.isnan(pearson_tail(np.nan, 0.0))


# -------------------------------------------------------------------- laws


@pytest.fixture
def given(rng):
    """A graph of 40 rows with features, some of them smooth on it."""
    places = rng.normal(size=(40, 3))
    X = np.column_stack([places[:, :2], rng.exponential(size=(40, 4)), rng.random(40) < 0.5])
    return KNN(5).build(places), X


def same(a, b, rtol=1e-9):
    for name in FIELDS:
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=rtol, atol=1e-12, err_msg=name)


def test_laws(given, rng):
    graph, X = given
    base = significance(Rayleigh(graph), X)
    same(significance(Rayleigh(graph), X * rng.uniform(0.1, 9.0, size=7) + rng.normal(size=7)), base)
    same(significance(Rayleigh(graph), -X), base)
    same(significance(Rayleigh(graph), X + 1e8), base, 1e-5)
    W, order = graph.toarray(), rng.permutation(40)
    same(significance(Rayleigh(1e-6 * W), X), base)
    same(significance(Rayleigh(W[np.ix_(order, order)]), X[order]), base)
    wide = np.zeros((44, 44))
    wide[np.ix_(order, order)] = W  # four rows more, which nothing is linked to
    same(significance(Rayleigh(wide), np.vstack([X[np.argsort(order)], rng.normal(size=(4, 7))])), base)


def test_the_same_whoever_holds_the_weights(given):
    graph, X = given
    W = graph.toarray()
    base = significance(Rayleigh(graph), X)
    for other in (W, sp.csr_array(W), sp.coo_matrix(W)):
        same(significance(Rayleigh(Precomputed(other)), X), base)
    y = np.arange(40) % 3
    by_class = significance("fisher", X, y)
    same(significance(Rayleigh(ClassGraph()), X, y), by_class)
    same(significance(Rayleigh(ClassGraph().build(X, y).toarray()), X), by_class)
    same(significance(3 * FisherScore(), X, y), by_class)
    same(significance(SPEC(ClassGraph(), gamma=1.0) * -2, X, y), by_class)
    c1 = significance(ConstraintScore(1), X, y)
    links = [Precomputed(recipe.build(X, y).toarray()) for recipe in (MustLink(), CannotLink())]
    same(significance(Ratio(*links), X), c1)


def test_sparse_is_dense(given, rng):
    graph, X = given
    X = np.where(rng.random(X.shape) < 0.6, 0.0, np.round(X, 1))
    X[:, 5] = X[:, 5] + 7.0  # no zero left
    y = np.where(np.arange(40) % 5 == 4, -1, np.arange(40) % 2)
    cases = [
        (Rayleigh(graph), {}),
        (FisherScore(), {}),
        (LaplacianScore(KNN(5)), {}),
        (SSelect(KNN(5)), {"n_permutations": 99}),
        (SPEC(KNN(5), phi=1), {"n_permutations": 49}),
    ]
    for criterion, more in cases:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            same(significance(criterion, sp.csr_array(X), y, **more), significance(criterion, X, y, **more), 1e-8)


def test_float32_is_float64(rng):
    X = rng.normal(size=(50, 12)).astype(np.float32)
    same(significance("laplacian", X, n_folds=3), significance("laplacian", X.astype(np.float64), n_folds=3))


@pytest.mark.parametrize("where", ["dask", "npy"])
def test_sources_are_memory(where, tmp_path, rng):
    X = rng.normal(size=(60, 30))
    X[:, 4] = 1.0
    y = X[:, 0] + rng.normal(size=60)
    if where == "dask":
        stored = pytest.importorskip("dask.array").from_array(X, chunks=(20, 7))
    else:
        from fiedler.sources import open_source

        np.save(tmp_path / "X.npy", X)
        stored = open_source(tmp_path / "X.npy")
    graph = KNN().build(X[:, :5])
    for criterion, target in ((SupervisedLaplacianScore(), y), (FisherScore(), y > 0), (Rayleigh(graph), None)):
        expected = significance(criterion, X, target)
        with config_context(working_memory=0.02):
            same(significance(criterion, stored, target), expected)
    assert np.isnan(expected.pvalues[4])
    assert np.isfinite(np.delete(expected.pvalues, 4)).all()
    with pytest.raises(ValueError, match=r"needs X in memory for every fold.*Precomputed"):
        significance("laplacian", stored)


# -------------------------------------------------------------------- calibration


def test_noise_is_noise_on_the_graph_of_others_and_real_on_its_own(rng):
    X = rng.normal(size=(100, 600))
    p = significance("laplacian", X, n_repeats=1).pvalues
    for level in (0.05, 0.01):
        assert stats.binom(600, level).cdf([round(600 * np.mean(p <= level))])[0] < 0.9995
    assert np.mean(p <= 0.05) > 0.02
    naive = RayleighNull(KNN().build(X))(X).p
    assert np.mean(naive <= 0.05) > 0.5
    assert significance("laplacian", X).n_significant() <= 1


def test_planted_clusters_are_found(rng):
    X = rng.normal(size=(120, 200))
    X[:, 50:80] += 1.2 * rng.permutation(np.arange(120) % 2)[:, None]
    for correction in ("bh", "by"):
        found = np.flatnonzero(significance(LaplacianScore(), X, correction=correction).qvalues <= 0.1)
        assert len(np.intersect1d(found, np.arange(50, 80))) >= 27
        assert len(np.setdiff1d(found, np.arange(50, 80))) <= 4


@pytest.mark.slow
@pytest.mark.data
def test_madelon_returns_its_twenty(paper_data):
    X, _, _ = paper_data("madelon")
    twenty = [28, 48, 64, 105, 128, 153, 241, 281, 318, 336, 338, 378, 433, 442, 451, 453, 455, 472, 475, 493]
    found = np.flatnonzero(significance("laplacian", X.astype(np.float64)).qvalues <= 0.1)
    assert set(twenty) <= set(found.tolist())
    assert len(found) <= 22


def test_what_a_class_or_a_target_explains_is_found(rng):
    y = rng.integers(3, size=90)
    X = rng.normal(size=(90, 40))
    X[:, 0] += y
    pairs = {"must_link": np.array([(i, i + 1) for i in range(89) if y[i] == y[i + 1]])}
    pairs["cannot_link"] = np.array([(i, i + 1) for i in range(89) if y[i] != y[i + 1]])
    for result in (
        significance("fisher", X, y),
        significance(ConstraintScore(1), X, y),
        significance("sls", X, y + 0.1 * rng.normal(size=90)),
        significance(SSelect(), X, y),
        significance(Correlation(), X, y.astype(float), n_permutations=999),
    ):
        assert np.argmin(result.pvalues) == np.argmax(result.effect) == np.argmin(result.z) == 0
        assert result.pvalues[0] < 0.01
        assert np.mean(result.pvalues[1:] <= 0.05) < 0.25
    assert significance(ConstraintScore(1), X, **pairs).pvalues[0] < 0.05


# -------------------------------------------------------------------- permutations


def test_permutations_agree_with_the_closed_form(given):
    graph, X = given
    closed = significance(Rayleigh(graph), X)
    drawn = significance(Rayleigh(graph), X, n_permutations=999)
    assert drawn.pvalues.min() == 0.001
    error = np.sqrt(closed.pvalues * (1 - closed.pvalues) / 999)
    assert (np.abs(drawn.pvalues - closed.pvalues) < 4 * error + 0.015).all()
    near = closed.pvalues > 1e-3  # z is that of f'Af, which is the one of the score near its mean
    np.testing.assert_allclose(drawn.z[near], closed.z[near], atol=0.15)
    np.testing.assert_allclose(drawn.effect, closed.effect, atol=0.03)
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    large, closed = (significance("fisher", X, y, n_permutations=number) for number in (499, None))  # large is good
    assert large.pvalues[0] == 1 / 500
    tail = closed.pvalues < 0.2
    np.testing.assert_allclose(large.pvalues[tail], closed.pvalues[tail], atol=0.04)


def test_permuted_labels_are_those_of_a_plain_loop(blobs):
    X, y = blobs
    y = np.where(np.arange(45) % 3, -1, y)
    problem = Problem.of(X, y)
    graph, codes = problem.graph(KNN()), problem.supervision.classes("this test")[0]
    criterion = SSelect(lam=0.3)
    scorer = criterion.resolved().formula.scorer(problem)
    verdict = permuted_labels(scorer.rows, scorer.of_columns(X), 0.7, graph, codes, 80, 5)(X)
    rng, known, drawn = np.random.default_rng(5), codes[codes >= 0], []
    for start in range(0, 80, 64):
        for order in rng.permuted(np.tile(known, (min(64, 80 - start), 1)), axis=1):
            shown = codes.copy()
            shown[codes >= 0] = order
            drawn.append(criterion.score(problem.with_supervision(shown)))
    score, drawn = criterion.score(problem), np.array(drawn)
    np.testing.assert_allclose(verdict.p, (1 + np.sum(drawn <= score * (1 + 1e-12), axis=0)) / 81, rtol=1e-12)
    np.testing.assert_allclose(verdict.effect, 1 - score / drawn.mean(axis=0), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(verdict.z, (score - drawn.mean(axis=0)) / drawn.std(axis=0), rtol=1e-6, atol=1e-9)


def test_sselect_has_a_floor_that_is_stated(blobs, rng):
    order = rng.permutation(45)
    X, y = (part[order] for part in blobs)
    result = significance("sselect", X, y, n_repeats=1, n_folds=4)
    assert result.n_permutations == 999
    assert result.pvalues.min() == pytest.approx(0.001)
    assert "n_permutations=999" in repr(result)
    only_labels = significance(SSelect(lam=0.0), X, y, n_repeats=1, n_folds=4, n_permutations=99)
    same_labels = significance(Disagreement(KNN()), X, y, n_repeats=1, n_folds=4, n_permutations=99)
    np.testing.assert_array_equal(only_labels.pvalues, same_labels.pvalues)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        closed = significance(SSelect(lam=1.0), X, y)
        same(closed, significance("laplacian", X))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "criterion",
    [
        SPEC(KNN(5), phi=1),
        SPEC(KNN(5), gamma=4),
        ConstraintScore(2),
        ConstraintScore(3),
        ConstraintScore(4),
        ReliefF(3),
        Energy(KNN(5)),
        Rayleigh(CannotLink()),
        LaplacianScore(KNN(5)) * ConstraintScore(1),
    ],
    ids=repr,
)
def test_the_rest_is_tested_by_permutations(criterion, blobs):
    X, y = blobs
    X = np.column_stack([X, np.ones(45)])
    y = None if not criterion.reads else y
    result = significance(criterion, X, y, n_permutations=39, n_folds=3, n_repeats=1)
    assert np.isnan(result.pvalues[8])
    assert ((result.pvalues[:8] >= 1 / 40) & (result.pvalues[:8] <= 1)).all()
    with pytest.raises(ValueError, match="n_permutations=999"):
        significance(criterion, X, y)


def test_ssls_is_tested_by_permutations(rng):
    X = rng.normal(size=(40, 6))
    y = np.where(rng.random(40) < 0.6, X[:, 0], np.nan)
    result = significance(SemiSupervisedLaplacianScore(), X, y, n_permutations=39, n_folds=3, n_repeats=1)
    assert np.argmin(result.pvalues) == 0


def test_rows_move_in_sparse_blocks_as_in_dense_ones(rng):
    F = sp.csc_array(rng.normal(size=(20, 5)) * (rng.random((20, 5)) < 0.4))
    order = rng.permutation(20)
    np.testing.assert_array_equal(reordered(F, order).toarray(), F.toarray()[order])
    assert reordered(F, order).nnz == F.nnz


# -------------------------------------------------------------------- folds


def test_columns_are_dealt_evenly_and_together(rng):
    for _ in range(200):
        n_units = int(rng.integers(2, 12))
        together = rng.permutation(np.repeat(np.arange(n_units), rng.integers(1, 6, size=n_units)))
        folds = deal(together, int(rng.integers(2, 8)), rng)
        np.testing.assert_array_equal(np.sort(np.concatenate(folds)), np.arange(len(together)))
        assert len(folds) > 1
        assert sum(len(np.unique(together[fold])) for fold in folds) == n_units
    sizes = [len(fold) for fold in deal(np.arange(103), 10, rng)]
    assert (min(sizes), max(sizes)) == (10, 11)


@pytest.mark.parametrize("kind", [np.asarray, sp.csc_array])
def test_copies_and_groups_share_a_fold(kind, rng):
    X = rng.poisson(1.0, size=(30, 6)).astype(float)
    X[:, 4] = X[:, 1]
    together = columns_together(kind(X))
    assert together[4] == together[1]
    assert len(set(together.tolist())) == 5
    together = columns_together(kind(X), ["a", "b", "a", "c", "d", "d"])
    assert together[0] == together[2] != together[1] == together[4] == together[5]
    with pytest.raises(ValueError, match=r"groups has shape \(3,\), but X has 6 columns"):
        columns_together(kind(X), [0, 1, 2])


def test_copies_do_not_vouch_for_each_other(rng):
    X = np.repeat(rng.normal(size=(60, 40)), 2, axis=1)
    result = significance("laplacian", X)
    assert result.n_significant() == 0
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(result, name)[::2], getattr(result, name)[1::2])


def test_groups_keep_shared_noise_apart(rng):
    shared = np.repeat(rng.normal(size=(100, 6)), 10, axis=1)
    X = shared + 0.7 * rng.normal(size=(100, 60))
    blocks = np.repeat(np.arange(6), 10)
    with pytest.warns(UserWarning, match="rank by effect"):
        assert significance("laplacian", X).n_significant() > 50
    assert significance("laplacian", X, groups=blocks).n_significant() < 10


def reads(criterion):
    """Whether a formula has a graph that is built from X."""
    return any(recipe.reads_X for recipe in criterion.recipes())


def test_which_graphs_read_features():
    assert reads(LaplacianScore())
    assert reads(Rayleigh(RBF()))
    assert reads(ConstraintScore(4))
    assert reads(SemiSupervisedLaplacianScore())
    assert reads(Rayleigh(Diffusion()))
    assert not reads(Rayleigh(Diffusion(TargetKNN())))
    assert not reads(ConstraintScore(1))
    assert not reads(Rayleigh(np.eye(3)))
    assert not reads(FisherScore())


def test_the_graph_of_a_fold_has_not_read_it(rng):
    """Plain: one repeat by hand, each fold on the graph of the others; offsets of 1e8 cost no neighbours."""
    X = rng.normal(size=(40, 9)) * 10.0 ** rng.integers(-2, 3, size=9) + 1e8 * rng.integers(0, 2, size=9)
    result = significance(LaplacianScore(KNN(4)), X, n_folds=3, n_repeats=1, random_state=7)
    expected = np.empty(9)
    for fold in deal(columns_together(X), 3, np.random.default_rng([7, 0])):
        rest = np.delete(X, fold, axis=1)
        expected[fold] = RayleighNull(KNN(4).build(rest))(X[:, fold]).p
    np.testing.assert_allclose(result.pvalues, expected, rtol=1e-9)


def test_repeats_are_combined_by_the_median(rng):
    X = rng.normal(size=(40, 12))
    result = significance("laplacian", X, n_folds=3, n_repeats=3, random_state=5)
    assert result.pvalues.shape == (12,)
    again = significance("laplacian", X, n_folds=3, n_repeats=3, random_state=5)
    np.testing.assert_array_equal(result.pvalues, again.pvalues)
    other = significance("laplacian", X, n_folds=3, n_repeats=3, random_state=6)
    assert not np.array_equal(result.pvalues, other.pvalues)


# -------------------------------------------------------------------- results


def test_q_values_are_those_of_scipy(rng):
    p = rng.random(50) ** 3
    for correction in ("bh", "by"):
        np.testing.assert_allclose(adjusted(p, correction), stats.false_discovery_control(p, method=correction))
    holes = np.insert(p, [0, 9], np.nan)
    np.testing.assert_allclose(adjusted(holes)[~np.isnan(holes)], adjusted(p))
    assert np.isnan(adjusted(np.full(3, np.nan))).all()


def test_a_result_can_be_read(rng):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(rng.normal(size=(40, 4)), columns=list("abcd"))
    X["c"] = 3.0
    y = (X["a"] + 0.2 * rng.normal(size=40) > 0).astype(int)
    result = significance("fisher", X, y, correction="by")
    assert repr(result) == "Significance(n_features=4, n_significant=1 at alpha=0.1, correction='by')"
    frame = result.frame()
    assert list(frame.columns) == ["feature", "p", "q", "z", "effect"]
    assert frame.feature.tolist() == list("abcd")
    assert frame.loc[2, ["p", "q", "z", "effect"]].isna().all()
    assert result.n_significant(0.0) == 0
    assert result.n_significant(1.0) == 3
    with pytest.raises(ValueError, match="alpha must be a number between 0 and 1"):
        result.n_significant(5)
    with pytest.raises(FrozenInstanceError):
        result.pvalues = None


def test_a_display_shows_the_noise_line_and_the_cut(rng):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from fiedler import SignificanceDisplay

    X = rng.normal(size=(60, 40))
    y = np.arange(60) % 2
    X[:, :5] += 2 * y[:, None]
    X[:, 9] = 0.0
    display = SignificanceDisplay.from_significance(significance("fisher", X, y), alpha=0.05)
    left, right = display.axes_
    assert left.lines[0].get_ydata()[0] == 39 / 20
    assert sum(bar.get_height() for bar in left.patches) == 39
    assert right.get_title().endswith("of 39 features with q ≤ 0.05")
    assert display.plot(plt.figure().subplots(1, 2)).axes_[0] is not left
    nothing = SignificanceDisplay(pvalues=np.ones(3), qvalues=np.ones(3), effect=np.zeros(3)).plot()
    assert nothing.axes_[1].get_title() == "0 of 3 features with q ≤ 0.1"
    plt.close("all")


def test_edges_to_nodes_without_a_degree_do_not_count_for_others(rng):
    """A vertex measure of one's own may be 0 at a node with edges; its value is not exchanged."""
    W, degree = weights("weighted", 8, rng), np.ones(8)
    degree[3] = 0.0
    graphs = [Graph.from_weights(kind(W), degree=degree) for kind in (np.asarray, sp.csr_array)]
    first, second = (RayleighNull(graph) for graph in graphs)
    assert first.n == 7
    for one, other in zip(*(null.pieces[0].invariants(0, np.array([0.4])) for null in (first, second)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_constants_are_nan_and_say_nothing(given):
    graph, X = given
    X[:, 2] = 4.0
    verdict = RayleighNull(graph)(X)
    for values in (verdict.p, verdict.z, verdict.effect):
        np.testing.assert_array_equal(np.isnan(values), np.arange(7) == 2)


def test_where_every_order_is_alike_nothing_is_significant(rng):
    X = rng.normal(size=(30, 3))
    result = significance(Rayleigh(np.ones((30, 30)) - np.eye(30)), X)
    np.testing.assert_array_equal(result.pvalues, 1.0)
    np.testing.assert_array_equal(result.z, 0.0)


# -------------------------------------------------------------------- refusals and warnings


def refused(message, *args, **kwargs):
    with pytest.raises(ValueError, match=message):
        significance(*args, **kwargs)


def test_what_is_not_covered_is_refused(rng):
    X, y = rng.normal(size=(40, 5)), np.arange(40) % 2
    refused(r"EVSC\(\) measures how the spectrum of a graph.*LaplacianScore", EVSC(), X)
    refused(r"EVSC\(\) measures", EVSC(), X, n_permutations=99)
    refused(r"Variance\(\) is the same for a feature's values in any order", Variance(), X)
    refused("same for a feature's values in any order", Variance(), X, n_permutations=99)
    refused("fewer than the 20", "laplacian", X[:15])
    refused("reads 12 rows, fewer than the 20.*n_permutations=999", "fisher", X, np.where(np.arange(40) < 12, y, -1))
    few = {"must_link": [(0, 1), (2, 3)], "cannot_link": [(i, i + 1) for i in range(10, 30)]}
    refused(r"has 2 and 20 pairs, fewer than the 10 \+ 10.*n_permutations", ConstraintScore(1), X, **few)
    assert significance(ConstraintScore(1), X, n_permutations=39, **few).pvalues.min() >= 1 / 40
    refused(r"all 1 column\(s\) of X .*no others are left to build a graph.*Precomputed", "laplacian", X[:, :1])
    refused("no others are left to build a graph", "laplacian", np.repeat(X[:, :1], 4, axis=1))
    refused("use smaller groups", "laplacian", X, groups=np.zeros(5))
    refused("n_folds=1 would test features on a graph built from them", "laplacian", X, n_folds=1)
    refused("no null distribution in closed form", Rayleigh(ReliefGraph(3)), X, y)
    refused("no null distribution in closed form", SSelect(lam="auto"), X, y)
    refused("n_folds must be an integer of at least 2", "laplacian", X, n_folds=0)
    refused("n_repeats must be an integer of at least 1", "laplacian", X, n_repeats=0)
    refused("n_permutations must be an integer of at least 19", "laplacian", X, n_permutations=5)
    refused("random_state must be an integer", "laplacian", X, random_state=None)
    refused("correction must be one of 'bh', 'by', got 'holm'", "laplacian", X, correction="holm")
    refused("squares overflow", "laplacian", X * 1e200)
    with pytest.raises(ValueError, match="needs 6 active nodes, but the graph has 5"):
        RayleighNull(KNN(2).build(X[:5]))


def test_rows_in_order_are_noticed(rng):
    walk = np.cumsum(rng.normal(size=(120, 8)), axis=0)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        significance("laplacian", walk, n_repeats=1)
    assert any("successive rows are similar" in str(w.message) for w in said)
    significance("laplacian", rng.normal(size=(120, 8)), n_repeats=1)  # warns of nothing


def test_unequal_totals_are_noticed(rng):
    size = np.exp(rng.normal(size=(100, 1)))
    counts = rng.poisson(size * rng.uniform(0.2, 2.0, size=30))
    for X in (counts, sp.csr_array(counts)):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            significance("laplacian", X, n_repeats=1)
        assert any("counts whose row totals vary" in str(w.message) for w in said)
    for quiet in (rng.poisson(3.0, size=(100, 30)), rng.integers(5, 9, size=(100, 30)), rng.normal(size=(100, 30))):
        significance("laplacian", quiet, n_repeats=1)


def test_rare_values_are_noticed(rng):
    X = rng.normal(size=(60, 4))
    X[:, 1] = np.arange(60) < 6
    X[:, 2] = np.arange(60) < 10
    with pytest.warns(UserWarning, match="^1 columns take two values, one of them in fewer than 10 rows"):
        significance(Rayleigh(KNN().build(X[:, [0, 3]])), X)


def test_heavy_tails_on_hubs_are_noticed(rng):
    X = rng.lognormal(size=(100, 200))
    with pytest.warns(UserWarning, match=r"features are heavy-tailed on a graph with hubs.*conservative"):
        p = significance("laplacian", X, n_repeats=1).pvalues
    assert np.mean(p <= 0.05) < 0.03
    drawn = significance("laplacian", X, n_repeats=1, n_permutations=99).pvalues
    assert 0.02 < np.mean(drawn <= 0.05) < 0.1


def test_what_a_fold_warns_of_is_said_once(rng):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        significance(LaplacianScore(KNN(30)), rng.normal(size=(25, 40)), n_repeats=1)
    assert sum("n_neighbors=30" in str(w.message) for w in said) == 1


# ---------------------------------------------------------------- the selector, the command line, the report


@pytest.fixture
def planted(rng):
    """80 rows in two groups, ten of sixty columns follow them."""
    groups = np.repeat([0, 1], 40)[rng.permutation(80)]
    X = rng.normal(size=(80, 60))
    X[:, :10] += 2.5 * groups[:, None]
    return X, groups


@pytest.mark.parametrize("criterion", ["laplacian", "fisher", "subset"])
def test_a_selector_by_false_discovery_rate(planted, criterion):
    X, groups = planted
    selector = SpectralSelector(criterion, n_features_to_select="fdr", alpha=0.05).fit(X, groups)
    result = significance(criterion, X, groups)
    np.testing.assert_array_equal(selector.pvalues_, result.pvalues)
    np.testing.assert_array_equal(selector.qvalues_, result.qvalues)
    np.testing.assert_array_equal(selector.effects_, result.effect)
    real = np.flatnonzero(result.qvalues <= 0.05)
    assert set(range(10)) <= set(real.tolist())
    chosen = np.flatnonzero(selector.support_)
    assert set(chosen) <= set(real) if criterion == "subset" else chosen.tolist() == real.tolist()
    assert set(selector.order_[: len(chosen)]) == set(chosen)
    assert selector.n_features_ == len(chosen) == selector.transform(X).shape[1]


def test_sets_and_pruned_rankings_among_what_is_real(planted):
    X, _ = planted
    X = np.column_stack([X, X[:, 0] + 1e-3 * X[:, 30]])
    subset = SpectralSelector("subset", n_features_to_select="fdr").fit(X)
    assert subset.support_.sum() <= len(subset.explained_) == 11
    assert not {0, 60} <= set(np.flatnonzero(subset.support_)), "of two near copies one"
    pruned = SpectralSelector("laplacian", n_features_to_select="fdr", redundancy=0.9).fit(X)
    assert pruned.support_[[0, 60]].sum() == 1
    assert 0 < pruned.n_features_ <= 11
    again = pruned.set_params(n_features_to_select=3, redundancy=None).fit(X)
    assert not hasattr(again, "pvalues_")
    assert not hasattr(again, "stands_for_")


def test_noise_selects_nothing(rng):
    X = rng.normal(size=(60, 40))
    for criterion in ("laplacian", "subset"):
        selector = SpectralSelector(criterion, n_features_to_select="fdr", redundancy=True, alpha=0.01)
        with pytest.warns(UserWarning, match=r"no feature is selected: .* noise at alpha=0.01 .*raise alpha"):
            selector.fit(X)
        assert selector.n_features_ == 0
        assert sorted(selector.order_.tolist()) == list(range(40))
        with pytest.warns(UserWarning, match="No features were selected"):
            assert selector.transform(X).shape == (60, 0)
    with pytest.raises(ValueError, match="alpha must be a number between 0 and 1"):
        SpectralSelector("laplacian", n_features_to_select="fdr", alpha=2).fit(X)
    with pytest.raises(ValueError, match="has no graph, so features cannot be tested against noise"):
        SpectralSelector(Explained(None, "identity"), n_features_to_select="fdr").fit(X)


def test_a_report_shows_them(planted):
    pytest.importorskip("jinja2")
    from fiedler.report import render_html, summarize

    X, _ = planted
    selector = SpectralSelector("laplacian", n_features_to_select=5).fit(X)
    summary = summarize(selector, X, significance=significance("laplacian", X))
    assert summary["significance"]["n_tested"] == 60
    assert sum(summary["significance"]["histogram"]) == 60
    assert summary["features"]["p"][0] < 0.01
    assert "Is it real?" in render_html(summary)
    own = summarize(SpectralSelector("laplacian", n_features_to_select="fdr").fit(X), X)
    assert own["significance"]["n_significant"] == own["run"]["n_selected"]
    more, tested = np.column_stack([X, X[:, 0] * X[:, 1]]), significance("laplacian", X)
    with pytest.raises(ValueError, match="significance has 60 features, but X has 61"):
        summarize(SpectralSelector("laplacian").fit(more), more, significance=tested)


def test_the_command_line_adds_them(planted, tmp_path, monkeypatch):
    from click.testing import CliRunner

    from fiedler.cli import main

    monkeypatch.chdir(tmp_path)
    X, _ = planted
    np.savetxt("X.csv", X, delimiter=",", header=",".join(f"f{j}" for j in range(60)), comments="")
    result = CliRunner().invoke(main, ["rank", "X.csv", "-m", "laplacian", "--significance", "--alpha", "0.05"])
    assert result.exit_code == 0, result.output
    assert "features are more than noise at a false discovery rate of 0.05" in result.stderr
    assert result.stdout.splitlines()[0] == "feature,score,rank,p,q,effect"
    result = CliRunner().invoke(main, ["select", "X.csv", "-m", "laplacian", "--top", "fdr", "--out", "small.csv"])
    assert result.exit_code == 0, result.output
    assert len((tmp_path / "small.csv").read_text().partition("\n")[0].split(",")) < 20


# -------------------------------------------------------------------- what changes nothing


@pytest.mark.parametrize(
    ("criterion", "options"),
    [
        ("laplacian", {}),
        ("subset", {}),
        ("spec", {}),
        ("sselect", {"n_permutations": 39}),
        ("fisher", {}),
        (ConstraintScore(1), {}),
        (SPEC(phi=1), {"n_permutations": 19, "n_repeats": 1}),
    ],
    ids=str,
)
def test_units_and_precision_change_no_pvalue(criterion, options, rng):
    """Folds are dealt by column number: units, a minus sign of a zero and the dtype leave them as they are."""
    X, y = rng.integers(0, 9, size=(60, 24)).astype(float), np.arange(60) % 2
    X[:, :6] += 4 * y[:, None]
    base = significance(criterion, X, y, **options).pvalues
    minus = X.copy()
    minus[X == 0] = -0.0
    np.testing.assert_array_equal(significance(criterion, minus, y, **options).pvalues, base)
    np.testing.assert_array_equal(significance(criterion, X.astype(np.float32), y, **options).pvalues, base)
    np.testing.assert_allclose(significance(criterion, 2 * X, y, **options).pvalues, base, rtol=1e-9)


@pytest.mark.parametrize("criterion", ["laplacian", "subset", "spec", "fisher", ConstraintScore(1)], ids=str)
def test_the_order_of_the_rows_changes_no_pvalue(criterion, rng):
    """In closed form nothing is drawn over the rows. Rows are distinct, so that neighbours are not decided by ties."""
    X, y = rng.normal(size=(60, 24)), np.arange(60) % 2
    X[:, :6] += 4 * y[:, None]
    base = significance(criterion, X, y).pvalues
    order = rng.permutation(60)
    np.testing.assert_allclose(significance(criterion, X[order], y[order]).pvalues, base, rtol=1e-7)


@pytest.mark.parametrize("kind", ["dense", "sparse counts", "sparse values", "sparse ties"])
def test_folds_that_share_one_product_give_the_same_p_values(kind, rng, monkeypatch):
    n, m = 340, 9000
    X = rng.normal(size=(n, m)) if kind == "dense" else rng.poisson(0.2, size=(n, m)).astype(float)
    X[:, :50] += np.repeat([0.0, 2.0], n // 2)[:, None]
    if kind == "sparse values":
        X = np.log1p(X * rng.uniform(0.5, 2.0, size=(n, 1)))
    if kind == "sparse ties":
        X = (X[:, rng.integers(60, size=m)] > 0).astype(float)
        X[300:] = X[:40]
    X = X if kind == "dense" else sp.csc_array(X)
    assert without_folds(row_distances(X), [np.arange(X.shape[1])]) is not None
    options = {"n_folds": 3, "n_repeats": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shared = significance("laplacian", X, **options)
        monkeypatch.setattr("fiedler.significance.crossfit.without_folds", lambda *_: None)
        plain = significance("laplacian", X, **options)
    np.testing.assert_allclose(shared.pvalues, plain.pvalues, rtol=1e-9)
    np.testing.assert_allclose(shared.z, plain.z, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("loops", [False, True])
def test_triangles_are_the_trace_of_the_cube(loops, rng):
    W = rng.random((60, 60)) * (rng.random((60, 60)) < 0.2)
    W[7] = rng.random(60)  # a hub
    W = np.triu(W, 0 if loops else 1)
    W = sp.csr_array(W + W.T)
    np.testing.assert_allclose(triangles(W, W.diagonal()), np.trace(W.toarray() @ W.toarray() @ W.toarray()))
