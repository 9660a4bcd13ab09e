"""Features on a given graph: three scales, blocks of rows and covariates, against all permutations and plain loops."""

import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import eigh, expm
from scipy.stats import gamma, norm

from fiedler import (
    KNN,
    SPEC,
    ClassGraph,
    Geary,
    Graph,
    LaplacianScore,
    Moran,
    MultiScale,
    Precomputed,
    Rayleigh,
    SpectralSelector,
)
from fiedler.criteria.closed_form import RayleighNull
from fiedler.criteria.scales import ScaleNull
from fiedler.engine.counts import Residuals
from fiedler.engine.permuted import standards
from fiedler.evaluate import significance
from fiedler.graphs.scales import heat_kernel, lowest_patterns
from fiedler.problem import Problem


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def connected(n, rng):
    W = np.triu(rng.uniform(0.2, 1.0, size=(n, n)) * (rng.random((n, n)) < 0.5), 1)
    W[np.arange(n - 1), np.arange(1, n)] = rng.uniform(0.2, 1.0, size=n - 1)
    return W + W.T


def forms(W):
    """(A0, A1) of edges, walks and tissue on the rows of one block, written out."""
    n, d = len(W), W.sum(axis=1)
    L, C = np.diag(d) - W, np.eye(n) - 1.0 / n
    K = expm(-6.0 * L / d.mean())
    K[K < 1e-4] = 0.0
    values, U = eigh(L)
    k = min(20, n // 5)
    s = np.exp(-3.0 * values[1 : k + 1] / values[k]) if k else np.zeros(0)
    low = (U[:, 1 : k + 1] * s) @ U[:, 1 : k + 1].T
    return [(L, np.diag(d) - np.outer(d, d) / d.sum()), (np.diag(K.sum(axis=1)) - K, C), (C - low, C)]


def blocked(sizes, rng):
    codes = np.repeat(np.arange(len(sizes)), sizes)
    W = np.zeros((sum(sizes), sum(sizes)))
    for block, size in enumerate(sizes):
        W[np.ix_(codes == block, codes == block)] = connected(size, rng)
    return codes, W


def enumerated(W, codes, f, which, M=None):
    """Quotient of f, and mean, variance and third moment of Q at it over all orders inside the blocks."""
    blocks = [np.flatnonzero(codes == code) for code in np.unique(codes)]
    scaled = [(f[rows] - f[rows].mean()) / f[rows].std() for rows in blocks]
    pairs = [forms(W[np.ix_(rows, rows)])[which] for rows in blocks]
    above, below = (sum(g @ A[i] @ g for g, A in zip(scaled, pairs, strict=True)) for i in (0, 1))
    r, moments = above / below, np.zeros(3)
    for g, (A0, A1) in zip(scaled, pairs, strict=True):
        Q = np.array([h @ (A0 - r * A1) @ h for h in map(np.array, itertools.permutations(g))])
        moments += Q.mean(), Q.var(), ((Q - Q.mean()) ** 3).mean()
    return r, moments


def tail(moments):
    """P(Q <= 0) of the Pearson III distribution with these moments."""
    mean, variance, third = moments
    z, skewness = -mean / np.sqrt(variance), third / variance**1.5
    shape = 4.0 / skewness**2
    away = shape + np.sign(skewness) * z * np.sqrt(shape)
    return gamma.cdf(away, shape) if skewness > 0 else gamma.sf(away, shape)


@pytest.mark.parametrize("sizes", [(7,), (4, 5, 4), (6, 6), (3, 7), (7, 1, 2, 5)])
def test_moments_are_those_of_all_orders_inside_blocks(sizes, rng):
    codes, W = blocked(sizes, rng)
    f = rng.exponential(size=len(codes))
    null = ScaleNull(Problem(f[:, None], given=W).divided(codes).graph(Precomputed()))
    found = null.verdicts(f[:, None])
    alone = sum(size == 1 for size in sizes)
    for which, verdict in enumerate(found):
        keep = np.isin(codes, np.flatnonzero(np.array(sizes) > 1)) if alone else np.ones(len(f), dtype=bool)
        r, (mean, variance, third) = enumerated(W[np.ix_(keep, keep)], codes[keep], f[keep], which)
        got = np.zeros(3)
        for piece in null.pieces:
            standard = standards(piece.take(f[:, None]), piece.active)
            few = (
                (piece.take(f[:, None]) - standard.reference - standard.shift) / standard.scale if piece.n < 6 else None
            )
            got += piece.moments(which, np.array([r]), standard, few)[:, 0]
        unit = len(f[keep]) / W[np.ix_(keep, keep)].sum() if which == 0 else 1.0  # edges have mean degree 1
        mean, variance, third = np.array([mean, variance, third]) * unit ** np.array([1, 2, 3])
        scale = variance ** np.array([0.5, 1.0, 1.5])
        np.testing.assert_allclose(got, [mean, variance, third], rtol=1e-10, atol=1e-10 * scale.min())
        expected = tail((mean, variance, third))
        if which == 0:
            expected = max(expected, norm.cdf(-mean / np.sqrt(variance)))
        np.testing.assert_allclose(verdict.p, expected, rtol=1e-7)


def test_the_three_parts_are_combined_by_cauchy(rng):
    graph = KNN(6, "binary").build(rng.uniform(size=(80, 2)))
    F = rng.normal(size=(80, 30))
    found = ScaleNull(graph)(F)
    t = np.mean([np.tan((0.5 - p) * np.pi) for p in found.parts[0]], axis=0)
    np.testing.assert_allclose(found.p, 0.5 - np.arctan(t) / np.pi, rtol=1e-9)
    np.testing.assert_allclose(found.parts[0][0], RayleighNull(graph)(F).p, rtol=1e-12)
    np.testing.assert_allclose(MultiScale(graph).evaluate(F), -np.log10(found.p), rtol=1e-12)


def test_a_feature_beyond_all_doubt_is_ordered_by_its_deviation(rng):
    places = rng.uniform(size=(3000, 2))
    waves = [np.sin(3 * places[:, 0]) + level * rng.normal(size=3000) for level in (0.1, 0.0)]
    selector = SpectralSelector(MultiScale(Precomputed()), n_features_to_select=1, screen=None)
    selector.fit(np.column_stack([rng.normal(size=3000), *waves]), graph=KNN(6, "binary").build(places))
    assert selector.order_.tolist() == [2, 1, 0]
    assert np.isinf(selector.scores_[2])


def test_heat_kernel_and_patterns_are_those_of_dense_algebra(rng):
    for n in (60, 700):  # the second is solved by Lanczos
        graph = KNN(6, "binary").build(rng.uniform(size=(n, 2)))
        values, U = lowest_patterns(graph, 20)
        W = graph.toarray()
        L = np.diag(W.sum(axis=1)) - W
        expected, vectors = eigh(L)
        shown = slice(graph.n_components, graph.n_components + 5)
        np.testing.assert_allclose(values[graph.n_components - 1 : graph.n_components + 4], expected[shown], rtol=1e-8)
        np.testing.assert_allclose(U.T @ U, np.eye(U.shape[1]), atol=1e-9)
        np.testing.assert_allclose(U.sum(axis=0), 0.0, atol=1e-8)
        k = U.shape[1]
        np.testing.assert_allclose(U @ U.T, vectors[:, 1 : k + 1] @ vectors[:, 1 : k + 1].T, atol=1e-7)
        K = heat_kernel(graph, 6.0)
        np.testing.assert_allclose(K.toarray(), expm(-6.0 * L / W.sum(axis=1).mean()), atol=3e-4)
        assert abs(K - K.T).max() < 1e-15


def test_repeated_eigenvalues_are_all_found_and_cut_together():
    side = 30  # a square lattice: every second eigenvalue has a copy
    i, j = np.divmod(np.arange(side**2), side)
    W = ((abs(i[:, None] - i) + abs(j[:, None] - j)) == 1).astype(float)
    L = np.diag(W.sum(axis=1)) - W
    for k in (19, 20):
        values, U = lowest_patterns(Graph.from_weights(sp.csr_array(W)), k)
        np.testing.assert_allclose(values, eigh(L, eigvals_only=True)[1 : len(values) + 1], atol=1e-9)
        turned = np.arange(side**2).reshape(side, side).T.ravel()  # a mirror image of the lattice
        np.testing.assert_allclose((U @ U.T)[np.ix_(turned, turned)], U @ U.T, atol=1e-7)


# -------------------------------------------------------------------- blocks


@pytest.fixture
def slides(rng):
    codes = np.repeat(np.arange(4), 60)
    places = rng.uniform(size=(240, 2)) + 3.0 * codes[:, None]
    X = rng.normal(size=(240, 12))
    X[:, 0] += 2.0 * np.sin(5.0 * places[:, 0])
    return codes, KNN(6, "binary").build(places), X


@pytest.mark.parametrize("kind", [LaplacianScore, MultiScale])
def test_shift_and_unit_of_a_block_change_nothing(kind, slides, rng):
    codes, graph, X = slides
    moved = X * rng.uniform(0.3, 5.0, size=(4, 12))[codes] + rng.normal(scale=5.0, size=(4, 12))[codes]
    criterion = kind(Precomputed(graph))
    one, other = (significance(criterion, values, blocks=codes) for values in (X, moved))
    np.testing.assert_allclose(one.pvalues, other.pvalues, rtol=0, atol=1e-10)
    one, other = (
        SpectralSelector(kind(Precomputed()), n_features_to_select=3, screen=None).fit(
            values, graph=graph, blocks=codes
        )
        for values in (X, moved)
    )
    np.testing.assert_allclose(one.scores_, other.scores_, rtol=1e-9)
    assert one.order_[0] == 0


@pytest.mark.parametrize("kind", [LaplacianScore, MultiScale])
def test_one_block_is_no_block(kind, rng):
    graph = KNN(6, "binary").build(rng.uniform(size=(90, 2)))
    X = rng.normal(size=(90, 8))
    one, none = (significance(kind(Precomputed(graph)), X, blocks=b) for b in (np.full(90, "s1"), None))
    np.testing.assert_allclose(one.pvalues, none.pvalues, rtol=1e-9)


def test_sparse_blocks_are_dense_blocks(slides):
    codes, graph, X = slides
    X = np.where(X < 0.4, 0.0, X)
    criterion = MultiScale(Precomputed(graph))
    for blocks in (codes, None):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            one, other = (significance(criterion, values, blocks=blocks) for values in (X, sp.csr_array(X)))
        np.testing.assert_allclose(one.pvalues, other.pvalues, rtol=1e-8, atol=1e-12)


def test_scores_of_blocks_are_sums_of_energies_and_masses(slides):
    codes, graph, X = slides
    W, above, below = graph.toarray(), 0.0, 0.0
    for block in range(4):
        rows = np.flatnonzero(codes == block)
        inside = W[np.ix_(rows, rows)]
        d, F = inside.sum(axis=1), (X[rows] - X[rows].mean(axis=0)) / X[rows].std(axis=0)
        above = above + np.einsum("ij,ij->j", F, (np.diag(d) - inside) @ F)
        below = below + d @ (F - d @ F / d.sum()) ** 2
    selector = SpectralSelector(LaplacianScore(Precomputed()), screen=None).fit(X, graph=graph, blocks=codes)
    np.testing.assert_allclose(selector.scores_, above / below, rtol=1e-10)


def test_neighbours_are_searched_inside_blocks(slides):
    codes, _, X = slides
    graph = Problem(X).divided(codes).graph(KNN(5))
    i, j, _ = graph.edges
    assert (codes[i] == codes[j]).all()
    inside = KNN(5).build(X[codes == 2]).toarray()
    np.testing.assert_allclose(graph.toarray()[np.ix_(codes == 2, codes == 2)], inside)


def test_calibrated_on_noise_in_blocks(rng):
    codes = np.repeat(np.arange(20), 25)
    places = rng.uniform(size=(500, 2)) + 3.0 * codes[:, None]
    X = rng.normal(size=(500, 3000)) + rng.normal(scale=2.0, size=(20, 3000))[codes]
    found = significance(MultiScale(KNN(6, "binary").build(places)), X, blocks=codes)
    assert 0.04 <= np.mean(found.pvalues <= 0.05) <= 0.06
    assert 0.006 <= np.mean(found.pvalues <= 0.01) <= 0.015
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        folded = significance(LaplacianScore(KNN(5)), X[:, :200], blocks=codes, n_repeats=1)
    assert np.mean(folded.pvalues <= 0.05) <= 0.1


def test_slides_without_blocks_are_noticed(slides):
    codes, graph, X = slides
    with pytest.warns(UserWarning, match="4 large components.*pass them as blocks"):
        significance(MultiScale(graph), X + 3.0 * codes[:, None])


def test_edges_between_blocks_are_left_out_and_named(rng):
    X, codes = rng.normal(size=(40, 3)), np.repeat(["a", "b"], 20)
    graph = KNN(6, "binary").build(rng.uniform(size=(40, 2)))
    with pytest.warns(UserWarning, match=r"% of the edges of the graph join rows of different blocks"):
        significance(MultiScale(graph), X, blocks=codes)


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        (np.zeros(39), r"blocks has shape \(39,\), but X has 40 rows"),
        (np.r_[np.nan, np.zeros(39)], "blocks has 1 missing values"),
        (np.arange(40), "blocks has a block for every row"),
    ],
)
def test_wrong_blocks_are_named(blocks, message, rng):
    with pytest.raises(ValueError, match=message):
        SpectralSelector("laplacian").fit(rng.normal(size=(40, 3)), blocks=blocks)


def test_criteria_without_a_form_for_blocks_say_so(rng):
    X, codes = rng.normal(size=(40, 3)), np.repeat([0, 1], 20)
    for name in ("spec[phi=1]", "variance", "evsc", "laplacian * spec[gamma=2]"):
        with pytest.raises(ValueError, match="has no form for blocks of rows"):
            SpectralSelector(name, screen=None).fit(X, blocks=codes)
    with pytest.raises(ValueError, match="need values standardised inside blocks"):
        SpectralSelector("subset").fit(sp.csr_array(X), blocks=codes)


def test_sets_in_blocks_follow_no_shift(rng):
    codes = np.repeat(np.arange(3), 50)
    X = rng.normal(size=(150, 20))
    X[:, :4] += 3.0 * np.repeat([0.0, 1.0], 25)[None, :].repeat(3, axis=0).ravel()[:, None]
    shifted = X.copy()
    shifted[:, 10:] += 10.0 * codes[:, None]
    chosen = SpectralSelector("subset", n_features_to_select=3, screen=None).fit(shifted, blocks=codes)
    assert chosen.order_[0] < 4
    same = SpectralSelector("subset", n_features_to_select=3, screen=None).fit(X * 1.0, blocks=codes)
    np.testing.assert_array_equal(same.order_[:3], chosen.order_[:3])


def test_association_with_labels_is_tested_inside_blocks(rng):
    codes, y = np.repeat([0, 1, 2], 60), rng.integers(0, 2, 180)
    y[codes == 1] = 0  # a block with one class says nothing
    X = rng.normal(size=(180, 1000)) + 2.0 * rng.normal(size=(3, 1000))[codes]
    X[:, 0] += 1.5 * y
    found = significance("subset", X, y, blocks=codes)
    assert found.pvalues[0] < 1e-6
    assert 0.03 <= np.mean(found.pvalues[1:] <= 0.05) <= 0.07
    assert np.mean(significance("subset", X, y).pvalues[1:] <= 0.05) > 0.3
    with pytest.raises(ValueError, match=r"links no rows of one block.*needs at least two classes"):
        significance("subset", X, codes, blocks=codes)


# -------------------------------------------------------------------- covariates


def test_moments_with_covariates_are_those_of_all_orders(rng):
    n = 7
    W, Z = connected(n, rng), rng.normal(size=(n, 2))
    M = np.eye(n) - np.column_stack([np.ones(n), Z]) @ np.linalg.pinv(np.column_stack([np.ones(n), Z]))
    f = rng.exponential(size=n)
    e = M @ f
    null = ScaleNull(Graph.from_weights(W)).adjusted_for(Z)
    found = null.verdicts(f[:, None])
    for which, (A0, A1) in enumerate(forms(W)):
        A0, A1 = M @ A0 @ M, M @ A1 @ M
        g = e / e.std()
        r = (g @ A0 @ g) / (g @ A1 @ g)
        Q = np.array([h @ (A0 - r * A1) @ h for h in map(np.array, itertools.permutations(g))])
        np.testing.assert_allclose(found[which].z, -Q.mean() / Q.std(), rtol=1e-8)


def test_calibrated_beside_spatial_covariates(rng):
    places = rng.uniform(size=(400, 2))
    Z = np.column_stack([np.sin(4 * places[:, 0]), places[:, 1], np.cos(9 * places[:, 1])])
    X = rng.normal(size=(400, 2000)) + Z @ rng.normal(scale=2.0, size=(3, 2000))
    graph = KNN(6, "binary").build(places)
    assert np.mean(significance(MultiScale(graph), X).pvalues <= 0.05) > 0.9
    assert 0.04 <= np.mean(significance(MultiScale(graph), X, covariates=Z).pvalues <= 0.05) <= 0.062


def test_a_covariate_leaves_nothing_of_itself(rng):
    places = rng.uniform(size=(60, 2))
    X = np.column_stack([3.0 * places[:, 0] + 1.0, rng.normal(size=60)])
    found = significance(MultiScale(KNN(6, "binary").build(places)), X, covariates=places[:, 0])
    np.testing.assert_array_equal(np.isnan(found.pvalues), [True, False])


def test_covariates_that_cannot_be_used_are_named(rng):
    X, graph = rng.normal(size=(30, 2)), KNN(6, "binary").build(rng.uniform(size=(30, 2)))
    with pytest.raises(ValueError, match=r"covariates must be finite numbers.*30 rows.*\(29,\)"):
        significance(MultiScale(graph), X, covariates=np.zeros(29))
    with pytest.raises(ValueError, match="covariates needs a test in closed form"):
        significance(SPEC(Precomputed(graph), phi=1), X, covariates=np.arange(30.0), n_permutations=99)


# -------------------------------------------------------------------- results


def test_the_result_names_the_scale(rng):
    places = rng.uniform(size=(600, 2))
    X = rng.normal(size=(600, 3))
    X[:, 0] += places[:, 0]  # a weak gradient
    X[:, 1] += 0.5 * ((places * 10 % 2 < 1).sum(axis=1) == 1)  # a fine pattern
    found = significance(MultiScale(KNN(6, "binary").build(places)), X)
    assert found.scale[0] == "tissue"
    assert found.parts.shape == (3, 3)
    assert list(found.frame().columns[-4:]) == ["scale", "p_edges", "p_walks", "p_tissue"]
    assert significance(Rayleigh(KNN(6).build(places)), X).scale is None


def test_a_complete_graph_says_nothing(rng):
    found = significance(MultiScale(np.ones((25, 25)) - np.eye(25)), rng.normal(size=(25, 4)))
    np.testing.assert_array_equal(found.pvalues, 1.0)


# -------------------------------------------------------------------- counts


def tissue_counts(rng, n=300, m=40, spread=0.5):
    places = rng.uniform(size=(n, 2))
    depth = np.exp(spread * (np.sin(4 * places[:, 0]) + rng.normal(scale=0.3, size=n)))
    rate = rng.gamma(0.5, 1.0, size=m) + 0.02
    mean = depth[:, None] * rate
    return places, rng.poisson(mean * rng.gamma(2.0, 0.5, size=mean.shape)).astype(np.float64)


def pearson(X, t):
    """The residuals of counts, written out."""
    mu = np.outer(t, X.sum(axis=0) / t.sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        phi = np.maximum(0.0, ((X - mu) ** 2 - mu).sum(axis=0) / (mu**2).sum(axis=0))
        return np.clip((X - mu) / np.sqrt(mu + phi * mu**2), -np.sqrt(len(X)), np.sqrt(len(X)))


@pytest.mark.parametrize("spread", [0.0, 0.4, 2.0])
def test_residuals_are_those_written_out(spread, rng):
    _, X = tissue_counts(rng, spread=spread)
    X = np.column_stack([X, rng.poisson(30.0, size=300), np.zeros(300)])[X.sum(axis=1) > 0]
    t, expected = X.sum(axis=1), pearson(X, X.sum(axis=1))
    found = Residuals(sp.csc_array(X), t, np.ones(len(X), dtype=bool))
    np.testing.assert_allclose(found.toarray()[:, :-1], expected[:, :-1], atol=1e-8)
    plain, ours = standards(expected[:, :-1]), found.standards()
    for one, other in zip(plain[3:], ours[3:], strict=True):
        np.testing.assert_allclose(other[:-1], one, rtol=1e-8)
    np.testing.assert_allclose(ours.scale[:-1], plain.scale, rtol=1e-9)
    assert ours.scale[-1] == 0


def test_counts_are_tested_as_their_residuals(rng):
    places, X = tissue_counts(rng)
    t, codes = X.sum(axis=1), np.repeat([0, 1, 2], 100)
    graph = KNN(6, "binary").build(places + 9.0 * codes[:, None])
    for blocks in (None, codes):
        rows = [np.arange(300)] if blocks is None else [np.flatnonzero(codes == b) for b in range(3)]
        R = np.empty_like(X)
        for inside in rows:
            R[inside] = pearson(X[inside], t[inside])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            expected = significance(MultiScale(graph), R, blocks=blocks)
            for kind in (np.asarray, sp.csr_array):
                found = significance(MultiScale(graph), kind(X), blocks=blocks, depth="pearson")
                np.testing.assert_allclose(found.parts, expected.parts, rtol=1e-7, atol=1e-12)
    given = significance(MultiScale(graph), X, blocks=codes, depth=2.0 * t)  # only ratios of depths matter
    np.testing.assert_allclose(
        given.pvalues, significance(MultiScale(graph), X, blocks=codes, depth=t).pvalues, rtol=1e-6
    )
    score = SpectralSelector(MultiScale(Precomputed()), screen=None)
    problem = Problem(X, given=graph).counted("pearson").divided(codes)
    np.testing.assert_allclose(score.fit(problem).scores_, -np.log10(found.pvalues), rtol=1e-7)


def test_depth_alone_is_no_structure(rng):
    places = rng.uniform(size=(600, 2))
    depth = np.exp(2.0 * places[:, 0])  # a gradient
    X = sp.csc_array(rng.poisson(np.outer(depth, rng.gamma(0.5, 1.0, size=2000) + 0.02)).astype(float))
    graph = KNN(6, "binary").build(places)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert np.nanmean(significance(MultiScale(graph), X).pvalues <= 0.05) > 0.5
        found = significance(MultiScale(graph), X, depth="pearson")
    assert 0.04 <= np.nanmean(found.pvalues <= 0.05) <= 0.065


def test_depth_that_cannot_be_used_is_named(rng):
    graph, X = KNN(6, "binary").build(rng.uniform(size=(40, 2))), rng.poisson(1.0, size=(40, 5)).astype(float)
    with pytest.raises(ValueError, match="depth needs counts"):
        significance(MultiScale(graph), X + 0.5, depth="pearson")
    with pytest.raises(ValueError, match=r"1 rows without counts.*Remove empty rows"):
        significance(MultiScale(graph), np.where(np.arange(40)[:, None] == 3, 0.0, X + 1.0), depth="pearson")
    with pytest.raises(ValueError, match="depth='total' is not known"):
        significance(MultiScale(graph), X, depth="total")
    with pytest.raises(ValueError, match="does not read counts with a depth"):
        significance(LaplacianScore(graph), X + 1.0, depth="pearson")


# -------------------------------------------------------------------- Moran, Geary, φ3


def test_moran_and_geary_are_those_of_esda(rng):
    esda = pytest.importorskip("esda")
    from libpysal.weights import W as Weights

    places = rng.uniform(size=(60, 2))
    graph = KNN(5).build(places)
    i, j, w = graph.edges
    neighbors, weights = {k: [] for k in range(60)}, {k: [] for k in range(60)}
    for a, b, value in zip(np.r_[i, j].tolist(), np.r_[j, i].tolist(), np.r_[w, w].tolist(), strict=True):
        neighbors[a].append(b)
        weights[a].append(value)
    X = np.column_stack([rng.exponential(size=60), rng.normal(size=60) + 2.0 * places[:, 0]])
    known = Weights(neighbors, weights, silence_warnings=True)
    moran, geary = (significance(kind(graph), X) for kind in (Moran, Geary))
    for column in range(2):
        theirs = esda.Moran(X[:, column], known, transformation="O", permutations=0)
        np.testing.assert_allclose(Moran(graph).evaluate(X)[column], theirs.I, rtol=1e-10)
        np.testing.assert_allclose(-moran.z[column], theirs.z_rand, rtol=1e-10)
        theirs = esda.Geary(X[:, column], known, transformation="O", permutations=0)
        np.testing.assert_allclose(Geary(graph).evaluate(X)[column], theirs.C, rtol=1e-10)
        np.testing.assert_allclose(geary.z[column], theirs.z_rand, rtol=1e-10)


def test_moran_and_geary_written_out(rng):
    W, X = connected(30, rng), rng.exponential(size=(30, 3))
    F, S0 = X - X.mean(axis=0), W.sum()
    differences = np.einsum("ij,ijk->k", W, (X[:, None] - X[None]) ** 2)
    np.testing.assert_allclose(
        Moran(W).evaluate(X), 30 / S0 * np.einsum("ik,ij,jk->k", F, W, F) / (F**2).sum(axis=0), rtol=1e-10
    )
    np.testing.assert_allclose(Geary(W).evaluate(X), 29 / (2 * S0) * differences / (F**2).sum(axis=0), rtol=1e-10)
    np.testing.assert_allclose(Moran(W).evaluate(sp.csr_array(X)), Moran(W).evaluate(X), rtol=1e-10)
    loops = W + np.diag(rng.uniform(size=30))
    np.testing.assert_allclose(Moran(loops).evaluate(X), Moran(W).evaluate(X), rtol=1e-10)
    ring = np.roll(np.eye(30), 1, axis=0) + np.roll(np.eye(30), -1, axis=0)
    np.testing.assert_allclose(Geary(ring).evaluate(X) * 30 / 29, Rayleigh(ring).evaluate(X), rtol=1e-10)


@pytest.mark.parametrize("kind", [Moran, Geary])
def test_moran_and_geary_are_calibrated_and_read_counts(kind, rng):
    places, X = tissue_counts(rng, m=30)
    graph, t = KNN(6, "binary").build(places), X.sum(axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = significance(kind(graph), sp.csr_array(X), depth="pearson")
        expected = significance(kind(graph), pearson(X, t))
        score = SpectralSelector(kind(Precomputed()), screen=None).fit(Problem(X, given=graph).counted("pearson"))
    np.testing.assert_allclose(found.pvalues, expected.pvalues, rtol=1e-6)
    np.testing.assert_allclose(score.scores_, kind(graph).evaluate(pearson(X, t)), rtol=1e-7)
    noise = significance(kind(graph), rng.normal(size=(300, 2000)))
    assert 0.04 <= np.mean(noise.pvalues <= 0.05) <= 0.06


def test_phi3_has_a_closed_form(rng):
    W, f = connected(7, rng), rng.exponential(size=7)
    graph = Graph.from_weights(sp.csr_array(W))
    d = W.sum(axis=1)
    values, vectors = eigh(np.eye(7) - W / np.sqrt(np.outer(d, d)))
    basis = np.sqrt(d)[:, None] * vectors[:, 1:3]
    A0, A1 = -(basis * (2.0 - values[1:3])) @ basis.T, np.diag(d) - np.outer(d, d) / d.sum()
    g = (f - f.mean()) / f.std()
    r = (g @ A0 @ g) / (g @ A1 @ g)
    Q = np.array([h @ (A0 - r * A1) @ h for h in map(np.array, itertools.permutations(g))])
    null = SPEC(Precomputed(graph), phi=3, n_clusters=3).null().build(Problem(f[:, None]))
    verdict = null(f[:, None])
    np.testing.assert_allclose(verdict.z, -Q.mean() / Q.std(), rtol=1e-9)
    np.testing.assert_allclose(verdict.p, tail((Q.mean(), Q.var(), ((Q - Q.mean()) ** 3).mean())), rtol=1e-7)


def test_phi3_is_calibrated(rng):
    X = rng.normal(size=(120, 1000))
    found = significance(SPEC(KNN(6).build(rng.uniform(size=(120, 2))), phi=3, n_clusters=8), X)
    assert 0.035 <= np.mean(found.pvalues <= 0.05) <= 0.065
    with pytest.raises(ValueError, match="graphs of neighbours and kernels only; use n_permutations=999"):
        significance(SPEC(ClassGraph(), phi=3), X, np.arange(120) % 3)


# -------------------------------------------------------------------- what a problem keeps, and large graphs


def test_a_kept_problem_does_not_mix_up_depths_and_labels(rng):
    places, X = tissue_counts(rng)
    problem = Problem.of(X, graph=KNN(6, "binary").build(places))
    criterion = MultiScale(Precomputed())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        plain = significance(criterion, problem).pvalues
        counts = significance(criterion, problem, depth="pearson").pvalues
        np.testing.assert_array_equal(significance(criterion, problem).pvalues, plain)
        alone = significance(MultiScale(problem.given), X, depth="pearson").pvalues
        np.testing.assert_allclose(counts, alone, rtol=1e-12)
        assert np.abs(counts - plain).max() > 0.1
        y, z = rng.integers(0, 2, size=(2, 300))
        kept = Problem.of(X)
        for labels in (y, z):
            found = significance(MultiScale(ClassGraph()), kept, labels).pvalues
            np.testing.assert_allclose(found, significance(MultiScale(ClassGraph()), X, labels).pvalues, rtol=1e-12)


def test_depths_are_not_permuted_along(rng):
    places, X = tissue_counts(rng)
    with pytest.raises(ValueError, match=r"depth needs a test in closed form.*no n_permutations"):
        significance(MultiScale(KNN(6).build(places)), X, depth="pearson", n_permutations=19)


def test_every_column_is_checked_for_counts(rng):
    places, X = tissue_counts(rng, m=120)
    X[5, 119] = 0.5
    with pytest.raises(ValueError, match="depth needs counts"):
        significance(MultiScale(KNN(6).build(places)), X, depth="pearson")


def test_counts_in_proportion_to_the_depth_have_no_score(rng):
    t = rng.integers(1, 20, size=100).astype(float)
    X = np.column_stack([t, 2.0 * t, rng.poisson(t)])
    graph = KNN(6, "binary").build(rng.uniform(size=(100, 2)))
    np.testing.assert_array_equal(np.isnan(significance(MultiScale(graph), X, depth=t).pvalues), [True, True, False])


def test_the_scale_of_a_feature_beyond_all_doubt_is_the_one_that_deviates_most(rng):
    places = rng.uniform(size=(6000, 2))
    F = np.column_stack([places[:, 0] + 0.001 * rng.normal(size=6000), rng.normal(size=6000)])
    found = significance(MultiScale(KNN(6, "binary").build(places)), F)
    np.testing.assert_array_equal(found.parts[:, 0], 0.0)
    assert found.scale[0] == "tissue"


def test_patterns_of_a_graph_without_a_narrow_band(rng):
    graph = KNN(8, "binary").build(rng.normal(size=(3200, 12)))  # solved by Lanczos on L itself
    values, U = lowest_patterns(graph, 5)
    W = graph.csr
    L = sp.diags_array(W.sum(axis=1)) - W
    np.testing.assert_allclose(L @ U, U * values, atol=1e-7)
    expected = eigh(L.toarray(), eigvals_only=True, subset_by_index=[1, len(values)])
    np.testing.assert_allclose(values, expected, rtol=1e-9)


def test_blocks_keep_the_storage_of_their_graphs(rng):
    codes, y = np.repeat([0, 1], 40), np.arange(80) % 3
    graph = Problem.of(rng.normal(size=(80, 2)), y).divided(codes).graph(ClassGraph())
    assert [part.storage for _, part in graph.parts] == ["factored", "factored"]
    W, V = graph.csr.toarray(), rng.normal(size=(80, 3))
    np.testing.assert_allclose(graph.dot(V), W @ V, atol=1e-14)
    np.testing.assert_allclose(graph.laplacian_dot(V), W.sum(axis=1)[:, None] * V - W @ V, atol=1e-13)
    assert graph.trace() == pytest.approx(W.trace())
    assert graph.n_edges == np.count_nonzero(np.triu(W, 1))
    assert (W[:40, 40:] == 0).all()
    some = np.array([3, 50, 7])
    np.testing.assert_allclose(graph[some].toarray(), W[np.ix_(some, some)])
    assert graph.n_components == 6
