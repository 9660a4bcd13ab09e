"""Which columns agree with others: the statistic beside a plain loop, its null beside enumeration, and the screens."""

import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from inside import agreement_look, agreement_tested, turn
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import gamma, norm
from sklearn import config_context

from fiedler import KNN, Agreeing, AgreementDisplay, ClassGraph, LaplacianScore, Problem, SpectralSelector
from fiedler.engine import agreement as engine
from fiedler.engine.agreement import agreeing, local_fdr, share_alone
from fiedler.engine.permuted import Standard, moments, standards, variance
from fiedler.evaluate import agreement, compare, significance, stability, suggest_n_features
from fiedler.significance.testing import discover
from fiedler.sources import open_source


def planted(times=16, seed=0, n=200, m=10, spread=1.0, apart=2.0):
    """Three groups in m columns, which come first, and ``times`` as many columns of noise; the groups."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    real = apart * np.array([[1, 0, -1], [0, 1, -1], [-1, 1, 0]]).repeat(m, axis=1)[:, :m][y]
    noise = spread * rng.standard_normal((n, times * m))
    return np.hstack([real + rng.standard_normal((n, m)), noise]), y


def skewed(n=30, m=14, seed=1):
    """Columns that are skewed, so that the third moment matters, some of which agree."""
    X = np.random.default_rng(seed).gamma(0.7, size=(n, m))
    X[:, 1] += 2.0 * X[:, 0]
    X[:, 2] -= X[:, 0]
    return X


def one_round(X, w, gain=0.0):
    standard = Standard(*standards(X))
    return agreement_tested(agreement_look(X, standard, w), w, standard, len(X), gain)


# -------------------------------------------------------------------- a plain loop


def plain_round(X, w, gain=0.0):
    """q, z and p of one round, each column by itself, from A without it, by the formulas of the null."""
    n, m = X.shape
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    whole = sum(w[i] * np.outer(Z[:, i], Z[:, i]) for i in range(m)) / n
    gain = np.zeros(m) + gain
    z, p, spread = np.zeros((3, m))
    for j in range(m):
        q = sum(w[i] * np.corrcoef(X[:, i], X[:, j])[0, 1] ** 2 for i in range(m) if i != j)
        A = sum((w[i] * np.outer(Z[:, i], Z[:, i]) for i in range(m) if i != j), np.zeros((n, n))) / n
        mean, var, _ = plain_moments(A, Z[:, j])
        _, whole_var, third = plain_moments(whole, Z[:, j])
        spread[j] = np.sqrt(var) / n
        z[j] = (q - mean / n - gain[j]) / spread[j]
        g = third / whole_var**1.5
        shape = 4.0 / g**2
        tail = (
            gamma.sf(shape + z[j] * np.sqrt(shape), shape) if g > 0 else gamma.cdf(shape - z[j] * np.sqrt(shape), shape)
        )
        p[j] = max(tail, norm.sf(z[j]))
    return p, z, spread


def plain_moments(A, f):
    """Mean, variance and third central moment of f'Af over all orders of f, with every sum written out."""
    n, s3, s4, s6 = len(f), (f**3).sum(), (f**4).sum(), (f**6).sum()
    trace, a = np.trace(A), np.diag(A)
    centred = A - trace / (n - 1) * (np.eye(n) - 1 / n)
    b = np.diag(centred)
    of = engine.Invariants(
        trace,
        np.trace(centred @ centred),
        np.trace(centred @ centred @ centred),
        b @ b,
        (b**3).sum(),
        b @ np.diag(centred @ centred),
        3 * b @ centred @ b + 2 * (centred**3).sum(),
    )
    assert a.shape == (n,)
    return moments(of, n, s3, s4, s6)


def plain_lfdr(p):
    """π₀ over the slope of the least concave majorant of the distribution of p, point by point."""
    x, m = np.r_[0.0, np.sort(p)], len(p)
    F = np.arange(m + 1) / m
    density = np.empty(m)
    for k in range(1, m + 1):  # the left slope at x_k: min over points before of max over points from k on
        density[k - 1] = min(max((F[b] - F[a]) / (x[b] - x[a]) for b in range(k, m + 1)) for a in range(k))
    value = dict(zip(x[1:], np.minimum(1.0, min(1.0, 2.0 * np.mean(p > 0.5)) / density), strict=True))
    return np.array([value[one] for one in p])


def plain_agreement(X):
    """All rounds by plain loops: posterior, kept and the number of rounds."""
    n, m = X.shape
    p, z, spread = plain_round(X, np.full(m, 1 / m))
    ranked = np.sort(p) * m / np.arange(1, m + 1)
    if ranked.min() > 0.1:
        return 1 - plain_lfdr(p), np.ones(m, bool), 1
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    w = np.maximum(z, 0)
    gain = np.zeros(m)
    for j, i in itertools.permutations(range(m), 2):
        if z[i] > 0:
            s4 = (Z[:, i] ** 4).sum()
            var = variance(1 - 1 / (n - 1), s4 / n**2 - 1 / n, n, (Z[:, j] ** 4).sum()) / n**2
            gain[j] += var / (m * spread[i]) / w.sum()
    w, rounds = w / w.sum(), 2
    p = plain_round(X, w, gain)[0]
    while True:
        posterior = 1 - plain_lfdr(p)
        sure = np.where(posterior >= 0.9, posterior, 0.0)
        if rounds == 6 or sure @ w / np.linalg.norm(sure) / np.linalg.norm(w) > 0.999:
            break
        w, rounds = sure / sure.sum(), rounds + 1
        p = plain_round(X, w)[0]
    kept = posterior >= 0.9
    return posterior, kept if kept.sum() >= 2 else np.ones(m, bool), rounds


@pytest.mark.parametrize(("n", "m"), [(30, 14), (14, 30)])
def test_one_round_is_that_of_a_plain_loop(n, m):
    """tr A³ comes from the columns, or from the rows if these are fewer."""
    X = skewed(n, m)
    w = np.random.default_rng(0).random(X.shape[1])
    w /= w.sum()
    p, z, spread = plain_round(X, w, 0.001)
    found = one_round(X, w, 0.001)
    assert_allclose(found.z, z, rtol=1e-9)
    assert_allclose(found.spread, spread, rtol=1e-9)
    assert_allclose(found.p, p, rtol=1e-8)


@pytest.mark.parametrize("seed", [0, 3])
def test_all_rounds_are_those_of_a_plain_loop(seed):
    X, _ = planted(3, seed, n=40, m=5)
    posterior, kept, rounds = plain_agreement(X)
    found = agreeing(X)
    assert found.n_rounds == rounds > 2
    assert_array_equal(found.kept, kept)
    assert_allclose(found.posterior, posterior, atol=1e-9)


def test_local_fdr_is_that_of_a_plain_loop():
    rng = np.random.default_rng(0)
    p = np.r_[rng.random(40), rng.random(20) * 1e-3]
    assert_allclose(local_fdr(p), plain_lfdr(p), rtol=1e-9)
    assert_array_equal(local_fdr(np.array([0.2, np.nan, 0.0, 0.9]))[1], np.nan)


# -------------------------------------------------------------------- the null


def test_moments_are_those_of_all_orders():
    """Mean and variance of q_j over all 7! orders of column j, and the third moment with the whole A."""
    rng = np.random.default_rng(2)
    n, m, j = 7, 5, 3
    X = rng.gamma(1.0, size=(n, m))
    w = rng.random(m)
    w /= w.sum()
    standard = Standard(*standards(X))
    look = agreement_look(X, standard, w)
    tested = agreement_tested(look, w, standard, n)
    Z = engine.standardised(X, standard)
    orders = np.array(list(itertools.permutations(Z[:, j])))
    others = sum(w[i] * np.outer(Z[:, i], Z[:, i]) for i in range(m) if i != j) / n
    q = np.einsum("ki,ij,kj->k", orders, others, orders) / n
    assert_allclose(look.q[j] - tested.z[j] * tested.spread[j], q.mean(), rtol=1e-10)
    assert_allclose(tested.spread[j], q.std(), rtol=1e-10)
    whole = np.einsum("ki,ij,kj->k", orders, (Z * w) @ Z.T / n, orders)
    third = moments(look.of, n, *standard[3:])[2][j]
    assert_allclose(third, np.mean((whole - whole.mean()) ** 3), rtol=1e-10)


def test_noise_is_noise():
    """Pure noise, 200 x 200: something is declared in few draws, and first p-values are uniform."""
    declared, small, w = 0, [], np.full(200, 1 / 200)
    for seed in range(100):
        X = np.random.default_rng(seed).standard_normal((200, 200))
        small.append(np.mean(one_round(X, w).p <= 0.05))
        declared += agreeing(X).n_rounds > 1
    assert declared <= 15
    assert 0.04 <= np.mean(small) <= 0.06


# -------------------------------------------------------------------- what is found


def test_clusters_among_sixteen_times_noise_are_found():
    kept = np.array([agreement(planted(16, seed)[0]).kept for seed in range(10)])
    found = kept[:, :10].sum()
    assert found / kept.sum() >= 0.9
    assert found / (10 * 10) >= 0.95


def test_scale_sign_shift_and_order_of_columns_change_nothing():
    X, _ = planted(4)
    rng = np.random.default_rng(0)
    order = rng.permutation(X.shape[1])
    other = (
        X * rng.choice([-1.0, 1.0], X.shape[1]) * rng.uniform(0.1, 1e3, X.shape[1]) + rng.normal(size=X.shape[1]) * 10
    )
    found, again = agreement(X), agreement(other[:, order])
    assert found.n_rounds == again.n_rounds > 1
    assert_array_equal(again.kept, found.kept[order])
    assert_allclose(again.posterior, found.posterior[order], atol=1e-9)
    assert_allclose(again.pvalues, found.pvalues[order], rtol=1e-6, atol=1e-12)


def test_noise_a_thousand_times_as_wide_changes_nothing():
    X, wide = planted(16)[0], planted(16, spread=1000.0)[0]
    assert_array_equal(agreement(X).kept, agreement(wide).kept)
    chosen = [SpectralSelector("subset", n_features_to_select=5, screen="agreement").fit(part) for part in (X, wide)]
    assert_array_equal(chosen[0].order_[:5], chosen[1].order_[:5])


@pytest.mark.parametrize("shape", [(60, 90), (300, 60), (900, 20)])
def test_dense_sparse_single_precision_and_sources_say_the_same(shape):
    da = pytest.importorskip("dask.array")
    n, m = shape
    rng = np.random.default_rng(0)
    X = rng.random((n, m)) * (rng.random((n, m)) < 0.4)
    X[:, :8] += 1.5 * (rng.integers(3, size=n)[:, None] == np.arange(8) % 3)
    X[:, 9] += 1e4  # stored in every row, far from 0
    X[:, 10] = 3.0
    X = X.astype(np.float32)
    expected = agreeing(X.astype(np.float64))
    assert 1 < expected.n_rounds
    assert expected.kept.sum() < m
    forms = [X, sp.csr_matrix(X), sp.csc_array(X.astype(np.float64)), da.from_array(X, chunks=(n // 2, 13))]
    forms += [da.from_array(X, chunks=(n, 7)).map_blocks(sp.csr_matrix)]
    for form in forms:
        found = agreement(form)
        assert_array_equal(found.kept, expected.kept)
        assert_allclose(found.pvalues, expected.pvalues, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("memory", [0.1, 100.0])
def test_a_source_is_read_twice_in_each_round_or_once(tmp_path, monkeypatch, memory):
    X, _ = planted(16, n=60)
    np.save(tmp_path / "X.npy", X)
    source, passes = open_source(tmp_path / "X.npy"), []
    for name in ("map", "sum"):
        once = getattr(type(source), name)
        monkeypatch.setattr(type(source), name, lambda *args, once=once, **kw: passes.append(1) or once(*args, **kw))
    with config_context(working_memory=memory):
        found = agreement(source)
    assert_array_equal(found.kept, agreement(X).kept)
    assert len(passes) == (0 if memory > 1 else 2 * found.n_rounds + 1)


def test_nothing_is_modified():
    X = planted(4)[0]
    X.flags.writeable = False
    stored = sp.csc_array(np.where(X > 0, X, 0.0))
    data = stored.data.copy()
    agreement(X)
    agreement(stored)
    SpectralSelector("subset", screen="agreement").fit(X)
    assert_array_equal(stored.data, data)


def test_constants_are_never_kept_and_copies_share_their_fate():
    X, _ = planted(4)
    X = np.column_stack([X, np.full(len(X), 5.0), X[:, 0], X[:, 40]])
    found = agreement(X)
    m = X.shape[1]
    assert np.isnan(found.posterior[m - 3])
    assert np.isnan(found.pvalues[m - 3])
    assert not found.kept[m - 3]
    assert found.order[-1] == m - 3
    assert found.kept[0] == found.kept[m - 2]
    assert_allclose(found.posterior[40], found.posterior[m - 1])


@pytest.mark.parametrize("shape", [(5, 20), (30, 2), (2, 1)])
def test_too_little_to_tell_keeps_everything(shape):
    found = agreement(np.random.default_rng(0).random(shape))
    assert found.n_rounds == 0
    assert found.kept.all()
    assert np.isnan(found.posterior).all()


@pytest.mark.parametrize("shape", [(60, 60), (300, 60)])
def test_a_sample_of_the_rows_stands_for_more_than_fit(monkeypatch, shape):
    X = planted(5, n=shape[0])[0]
    turn(monkeypatch, "agreement: most rows", 50)
    assert agreement(X).kept[:10].all()


def test_the_result_can_be_read():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(planted(4)[0]).add_prefix("f")
    found = agreement(X)
    assert repr(found) == f"Agreement(n_features=50, n_kept={found.n_kept}, n_rounds={found.n_rounds})"
    frame = found.frame()
    assert list(frame) == ["feature", "posterior", "p", "kept"]
    assert frame["feature"][3] == "f3"
    assert found.kept[found.order[: found.n_kept]].all()
    assert (np.diff(found.posterior[found.order[found.n_kept :]]) <= 0).all()


def test_the_display_shows_the_cut():
    pytest.importorskip("matplotlib").use("Agg")
    found = agreement(planted(16)[0])
    display = AgreementDisplay.from_agreement(found)
    assert display.ax_.get_title() == f"{found.n_kept} of 170 columns agree with others"
    assert len(display.dots_.get_offsets()) == 170
    assert display.ax_.lines[0].get_xdata()[0] == found.n_kept + 0.5
    assert f"{170 - found.n_kept} dropped" in [text.get_text() for text in display.ax_.texts]


# -------------------------------------------------------------------- the screen


def test_the_gate_gives_exactly_the_plain_result():
    X = np.random.default_rng(4).standard_normal((100, 60))
    assert agreement(X).n_rounds == 1
    for criterion in ("laplacian", "subset"):
        plain = SpectralSelector(criterion, n_features_to_select=7).fit(X)
        found = SpectralSelector(criterion, n_features_to_select=7, screen="agreement").fit(X)
        assert found.kept_.all()
        assert_array_equal(found.order_, plain.order_)
        assert_array_equal(found.scores_, plain.scores_)
    assert_array_equal(Agreeing(KNN(5)).build(X).toarray(), KNN(5).build(X).toarray())


@pytest.mark.parametrize("criterion", ["laplacian", "subset", "sselect", "constraint"])
@pytest.mark.parametrize("screen", ["agreement", "fdr"])
def test_a_screen_is_a_fit_on_the_kept_columns(criterion, screen):
    if (criterion, screen) == ("constraint", "fdr"):
        pytest.skip("C4 has no null")
    X, y = planted(4)
    y = np.where(np.arange(len(y)) < 60, y, -1)
    selector = SpectralSelector(criterion, n_features_to_select=4, screen=screen).fit(X, y)
    kept = np.flatnonzero(selector.kept_)
    alone = SpectralSelector(criterion, n_features_to_select=4).fit(X[:, kept], y)
    assert len(kept) < X.shape[1]
    assert_array_equal(selector.order_[: len(kept)], kept[alone.order_])
    assert_array_equal(selector.scores_[kept], alone.scores_)
    assert np.isnan(np.delete(selector.scores_, kept)).all()
    assert_array_equal(np.sort(selector.order_), np.arange(X.shape[1]))
    assert_array_equal(np.flatnonzero(selector.support_), np.sort(selector.order_[:4]))


def test_dropped_columns_follow_by_posterior():
    X, _ = planted(16)
    found, selector = agreement(X), SpectralSelector("subset", n_features_to_select=3, screen="agreement").fit(X)
    assert_array_equal(selector.kept_, found.kept)
    assert_array_equal(selector.order_[found.n_kept :], found.order[found.n_kept :])


def test_the_screen_composes_with_every_way_to_choose():
    X, _ = planted(16)
    n_kept = agreement(X).n_kept

    def fit(criterion, **options):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return SpectralSelector(criterion, screen="agreement", **options).fit(X)

    assert fit("laplacian").n_features_ == n_kept // 2
    assert fit("laplacian", n_features_to_select=0.5).n_features_ == n_kept // 2
    auto = fit("subset", n_features_to_select="auto")
    assert 1 <= auto.n_features_ <= n_kept
    assert len(auto.explained_) >= auto.n_features_
    tested = fit("laplacian", n_features_to_select="fdr")
    assert_array_equal(np.isnan(tested.pvalues_), ~tested.kept_)
    assert (tested.qvalues_[tested.support_] <= 0.1).all()
    pruned = fit("laplacian", n_features_to_select=3, redundancy=0.5)
    passed = pruned.stands_for_ >= 0
    assert passed.any()
    assert pruned.support_[pruned.stands_for_[passed]].all()
    assert not passed[~pruned.kept_].any()
    few = fit("laplacian", threshold="mean")
    assert few.n_features_ == np.sum(few.scores_ <= np.nanmean(few.scores_))


def test_the_screen_composes_with_pairs_sparse_data_and_sources(tmp_path):
    from fiedler.sources import open_source

    X, y = planted(8)
    must = np.column_stack([np.flatnonzero(y == 0)[:6], np.flatnonzero(y == 0)[6:12]])
    cannot = np.column_stack([np.flatnonzero(y == 0)[:6], np.flatnonzero(y == 1)[:6]])
    pairs = {"must_link": must, "cannot_link": cannot}
    selector = SpectralSelector("constraint", n_features_to_select=4, screen="agreement")
    expected = selector.fit(X, **pairs).order_
    assert selector.kept_[expected[:4]].all()
    np.save(tmp_path / "X.npy", X)
    assert_array_equal(selector.fit(open_source(tmp_path / "X.npy"), **pairs).order_, expected)
    assert_array_equal(selector.fit(sp.csr_matrix(X), **pairs).order_[:4], expected[:4])


def test_more_features_than_are_kept_are_taken_with_a_word():
    X, _ = planted(4)
    selector = SpectralSelector("laplacian", n_features_to_select=30, screen="agreement")
    with pytest.warns(UserWarning, match=r"n_features_to_select=30, but the screen keeps \d+ of 50 columns"):
        selector.fit(X)
    assert selector.n_features_ == selector.support_.sum() == 30


def test_the_screen_fdr_keeps_what_is_significant_and_feeds_any_number():
    X, _ = planted(16)
    tested = discover(LaplacianScore().resolved(), Problem.of(X))
    selector = SpectralSelector("laplacian", n_features_to_select=3, screen="fdr").fit(X)
    assert_array_equal(selector.kept_, tested.qvalues <= 0.1)
    assert_array_equal(selector.qvalues_, tested.qvalues)
    dropped = selector.order_[selector.kept_.sum() :]
    assert (np.diff(tested.pvalues[dropped]) >= 0).all()
    every = SpectralSelector("laplacian", n_features_to_select="fdr", screen="fdr").fit(X)
    assert_array_equal(every.support_, tested.qvalues <= 0.1)


def test_nothing_significant_keeps_everything_with_a_word():
    X = np.random.default_rng(4).standard_normal((60, 30))
    with pytest.warns(UserWarning, match="screen='fdr' keeps every column"):
        selector = SpectralSelector("laplacian", n_features_to_select=3, screen="fdr", alpha=0.001).fit(X)
    assert selector.kept_.all()
    assert_array_equal(selector.order_, SpectralSelector("laplacian", n_features_to_select=3).fit(X).order_)


def test_alpha_is_stricter_for_sets():
    X, _ = planted(16, seed=2)
    X[:, 20] += 0.35 * X[:, 0]  # a column in doubt
    for criterion, alpha in (("laplacian", 0.1), ("subset", 0.01)):
        usual, named = (
            SpectralSelector(criterion, n_features_to_select=3, screen="fdr", alpha=value).fit(X).kept_
            for value in (None, alpha)
        )
        assert_array_equal(usual, named)
    with pytest.raises(ValueError, match="alpha"):
        SpectralSelector("laplacian", n_features_to_select="fdr", alpha=2).fit(X)


def test_an_unknown_screen_is_named():
    with pytest.raises(ValueError, match="screen must be one of 'auto', 'agreement', 'fdr', got 'noise'"):
        SpectralSelector(screen="noise").fit(planted(1)[0])


def test_kept_belongs_to_the_last_fit():
    X, _ = planted(4)
    selector = SpectralSelector("laplacian", n_features_to_select=3, screen="agreement").fit(X)
    assert not selector.kept_.all()
    assert not hasattr(selector.set_params(screen=None).fit(X), "kept_")


# -------------------------------------------------------------------- the recipe


def test_the_recipe_builds_the_graph_of_the_kept_columns():
    X, y = planted(16)
    kept = agreement(X).kept
    assert_array_equal(Agreeing().build(X).toarray(), KNN(5).build(X[:, kept]).toarray())
    assert_array_equal(Agreeing(KNN(3)).build(X).toarray(), KNN(3).build(X[:, kept]).toarray())
    assert not Agreeing(ClassGraph()).reads_X
    i, j, _ = Agreeing().build(X).edges
    k, q, _ = KNN(5).build(X).edges
    assert np.mean(y[i] == y[j]) > 0.9 > np.mean(y[k] == y[q])


def test_significance_refines_inside_each_fold():
    """No column is tested on a graph that it has helped to choose: noise stays noise, and power is regained."""
    X, _ = planted(32, seed=1, n=100, spread=2.0, apart=1.0)
    tests = {
        name: significance(LaplacianScore(graph), X, n_repeats=1).pvalues
        for name, graph in {"plain": KNN(5), "refined": Agreeing(KNN(5))}.items()
    }
    power = {name: np.mean(p[:10] <= 0.05) for name, p in tests.items()}
    assert power["refined"] >= 0.9 > 0.5 > power["plain"]
    assert np.mean(tests["refined"][10:] <= 0.05) < 0.08


# -------------------------------------------------------------------- a word where it is needed


def said(X, criterion="variance", *known, **options):
    """What the default screen has decided about X, and the columns that it keeps."""
    selector = SpectralSelector(criterion, n_features_to_select=2, **options).fit(X, *known)
    return selector.screen_, getattr(selector, "kept_", None)


def test_the_default_screens_where_many_columns_are_noise():
    noisy, clean = planted(16)[0], planted(0)[0]
    text, kept = said(noisy, "laplacian")
    assert text == f"{170 - kept.sum()} of 170 features look like noise and were left out before the graph was built"
    assert kept[:10].all()
    assert kept[10:].sum() < 10
    text, kept = said(clean, "laplacian")
    assert text == "no feature was left out: about 0% of the features agree with no other"
    assert kept is None
    nothing = np.random.default_rng(4).standard_normal((100, 60))
    assert said(nothing, "laplacian")[0] == "no feature was left out: none agrees with another"
    assert said(noisy)[0] == "no feature was left out: the criterion builds no graph from X"
    counts = np.round(np.maximum(noisy - 1.0, 0.0) * 2)
    for words in (counts, sp.csc_array(counts.astype(np.int32))):
        assert "as text is" in said(words, "laplacian")[0]
    assert share_alone(noisy) > 0.8


@pytest.mark.parametrize("criterion", ["subset", "relieff", "sselect", "ssls"])
def test_the_default_keeps_what_labels_need(criterion):
    """A feature that agrees with no other, and with the labels."""
    X, _ = planted(4, n=300)
    y = np.arange(300) % 2
    X = np.column_stack([X, np.random.default_rng(5).standard_normal(300) + 2.0 * y])
    text, kept = said(X, criterion, y + 0.0 if criterion == "ssls" else y)
    assert "look like noise" in text
    assert kept[-1]
    assert not said(X, "laplacian")[1][-1]


def test_the_default_screen_of_every_kind_of_table(tmp_path):
    """Arrays, sparse matrices, files and Dask keep the same columns; so do features of several columns."""
    import dask.array as da

    X, _ = planted(4, n=400)
    expected = said(X, "laplacian")[1]
    np.save(tmp_path / "X.npy", X)
    for same in (sp.csr_array(X), open_source(tmp_path / "X.npy"), da.from_array(X, chunks=(90, 17))):
        np.testing.assert_array_equal(said(same, "laplacian")[1], expected)
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.02, np.nan, X)
    kept = said(holes, "laplacian")[1]
    assert kept[:10].all()
    assert kept[10:].sum() < 8
    doubled = np.hstack([X, X + 0.1 * np.random.default_rng(1).standard_normal(X.shape)])
    selector = SpectralSelector("laplacian", n_features_to_select=2).fit(doubled, groups=np.arange(100) % 50)
    np.testing.assert_array_equal(selector.kept_[:50], selector.kept_[50:])
    assert selector.kept_[:10].all()
    assert selector.kept_[10:50].sum() < 5


def test_evaluations_screen_as_a_fit_does():
    X, y = planted(8, n=120)
    fitted = SpectralSelector(n_features_to_select=4).fit(X, y)
    assert set(fitted.order_[:4]) < set(range(10))
    compared = compare(["subset"], X, y, n_features=[4], n_draws=1, n_labels=None, n_jobs=1)
    assert set(compared.orders["subset"][0][:4]) < set(range(10))
    assert suggest_n_features("subset", X, y, n_features=[2, 4]).n_features[0] <= 10
    assert stability("subset", X, y, k=4, n_draws=4).frequency[:10].sum() > 3.5


def test_the_repr_says_what_the_screen_left_out():
    X, _ = planted(8, n=120)
    selector = SpectralSelector(n_features_to_select=4)
    assert repr(selector) == "SpectralSelector(n_features_to_select=4)"
    assert repr(selector.fit(X)) == f"SpectralSelector(n_features_to_select=4)  # {selector.screen_}"
    assert "were left out" in repr(selector)
    assert repr(selector.fit(X[:, :10])) == "SpectralSelector(n_features_to_select=4)"


def test_moons_among_noise():
    """The picture of the README: real columns only."""
    from sklearn.datasets import make_moons

    X, _ = make_moons(500, noise=0.05, random_state=0)
    X = np.column_stack([X, np.random.default_rng(0).standard_normal((500, 30)) * X.std()])
    assert set(np.flatnonzero(SpectralSelector().fit(X).support_)) <= {0, 1}


def test_the_command_line_screens_and_says_when(tmp_path, capsys):
    from fiedler.__main__ import main

    path = tmp_path / "X.csv"
    np.savetxt(path, planted(16, n=80)[0], delimiter=",", header=",".join(f"f{j}" for j in range(170)), comments="")

    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([*arguments])
        assert not ended.value.code
        return capsys.readouterr()

    plain = run("rank", str(path), "--top", "5", "--out", "-")
    assert "look like noise and were left out before the graph was built; --screen none keeps them" in plain.err
    assert plain.out == run("rank", str(path), "--top", "5", "--out", "-", "--screen", "agreement").out
    chosen = [int(line.split(",")[0][1:]) for line in plain.out.split()[1:]]
    assert max(chosen) < 10
    whole = run("rank", str(path), "--top", "5", "--out", "-", "--screen", "none")
    assert "noise" not in whole.err
    assert whole.out != plain.out
    run("select", str(path), "--top", "4", "--screen", "fdr", "--out", str(tmp_path / "small.csv"))
    assert len((tmp_path / "small.csv").read_text().splitlines()[0].split(",")) == 4


def test_the_report_says_what_was_dropped():
    pytest.importorskip("jinja2")
    from fiedler import summarize

    X = planted(16, n=80)[0]
    plain = summarize(SpectralSelector("laplacian", n_features_to_select=5, screen=None).fit(X), X)
    assert "screen" not in [w["kind"] for w in plain["warnings"]]
    screened = summarize(SpectralSelector("laplacian", n_features_to_select=5).fit(X), X)
    said = {w["kind"]: w["text"] for w in screened["warnings"]}
    assert "features look like noise and were left out before the graph was built" in said["screen"]
    assert "no score" not in said
