"""Every recipe and every method against the literal loops of ``reference.py``, to a relative 1e-8."""

from types import SimpleNamespace

import numpy as np
import pytest
import reference as ref
import reference_sets as sets
import scipy.sparse as sp
from reference import implied_pairs as implied
from sklearn.datasets import load_iris

import fiedler as fd
from fiedler.sources import open_source

RTOL = 1e-8
# (seed, n, classes, scale, offset)
SETTINGS = [
    (0, 30, 2, 1.0, 0.0),
    (1, 33, 3, 1.0, 0.0),
    (2, 30, 3, 1.0, 1e4),
    (3, 30, 2, 1.0, 1e8),
    (4, 28, 3, 1e3, 1e8),
    (5, 28, 2, 1e-3, 0.0),
    (6, 28, 2, 1e-3, 1e4),
]


def make(seed, n, c, scale=1.0, offset=0.0):
    """Overlapping classes, a target, partial labels and pairs; ``u`` is the unit of X and of the target."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % c)
    X = (rng.normal(size=(n, 5)) + np.outer(y, rng.normal(size=5))) * [1.0, 2.0, 0.5, 1.5, 0.3] * scale + offset
    target = scale * (rng.normal(size=n) + (X[:, 0] - offset) / scale)
    few, some = y.copy(), target.copy()
    few[rng.permutation(n)[: n // 3]] = -1
    some[rng.permutation(n)[: n // 2]] = np.nan
    must, cannot = implied(y)
    must = [must[i] for i in rng.permutation(len(must))[:7]]
    cannot = [cannot[i] for i in rng.permutation(len(cannot))[:6]]
    must.append(must[0][::-1])  # order inside a pair is irrelevant, repeats count once
    cannot.append(cannot[1])
    t = max(1.0, scale**2)  # wide enough for targets of unit variance, and for the features
    return SimpleNamespace(X=X, y=y, few=few, target=target, some=some, must=must, cannot=cannot, u=scale, c=c, t=t)


def supervision(s, reads):
    if reads == "pairs":
        return {"must_link": s.must, "cannot_link": s.cannot}
    return {} if reads is None else {"y": getattr(s, reads)}


def close(actual, expected, rtol=RTOL, atol=0.0):
    assert np.all(np.isfinite(expected))
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=atol)


# ----------------------------------------------------------------------------------------------------------- graphs


def diffused(s):
    return ref.diffusion_graph(ref.knn_graph(s.X, 3, "binary"), 0.3)


# name -> (what it reads, recipe for the unit of X, reference)
GRAPHS = {
    "knn": (None, lambda s: fd.KNN(), lambda s: ref.knn_graph(s.X)),
    "knn-3": (None, lambda s: fd.KNN(3), lambda s: ref.knn_graph(s.X, 3)),
    "knn-1-binary": (None, lambda s: fd.KNN(1, "binary"), lambda s: ref.knn_graph(s.X, 1, "binary")),
    "knn-7-binary": (None, lambda s: fd.KNN(7, "binary"), lambda s: ref.knn_graph(s.X, 7, "binary")),
    "knn-6-width": (None, lambda s: fd.KNN(6, bandwidth=0.7 * s.u), lambda s: ref.knn_graph(s.X, 6, "rbf", 0.7 * s.u)),
    "rbf": (None, lambda s: fd.RBF(), lambda s: ref.rbf_graph(s.X)),
    "rbf-width": (None, lambda s: fd.RBF(0.9 * s.u), lambda s: ref.rbf_graph(s.X, 0.9 * s.u)),
    "rbf-scale": (None, lambda s: fd.RBF(scale=0.5), lambda s: ref.rbf_graph(s.X, 0.5 * ref.median_distance(s.X))),
    "diffusion": (None, lambda s: fd.Diffusion(), lambda s: ref.diffusion_graph(ref.knn_graph(s.X, 10, "binary"))),
    "diffusion-3": (None, lambda s: fd.Diffusion(fd.KNN(3, "binary"), 0.3), diffused),
    "rbf-self": (None, lambda s: fd.RBF(n_neighbors=4), lambda s: ref.self_tuning_graph(s.X, 4)),
    "rbf-self-2": (None, lambda s: fd.RBF(scale=0.8, n_neighbors=7), lambda s: ref.self_tuning_graph(s.X, 7, 0.8)),
    "diffusion-cut": (
        None,
        lambda s: fd.Diffusion(fd.KNN(3, "binary"), 0.3, n_neighbors=4),
        lambda s: ref.cut_to_neighbors(diffused(s), 4),
    ),
    "class": ("y", lambda s: fd.ClassGraph(), lambda s: ref.class_graph(s.y)),
    "class-few": ("few", lambda s: fd.ClassGraph(), lambda s: ref.class_graph(s.few)),
    "relief": ("y", lambda s: fd.ReliefGraph(4), lambda s: ref.relief_graph(s.X, s.y, 4)),
    "relief-few": ("few", lambda s: fd.ReliefGraph(3), lambda s: ref.relief_graph(s.X, s.few, 3)),
    "target": ("target", lambda s: fd.TargetKNN(), lambda s: ref.target_graph(s.target)),
    "target-some": ("some", lambda s: fd.TargetKNN(3, 2.0), lambda s: ref.target_graph(s.some, 3, 2.0)),
    "semi": ("some", lambda s: fd.SemiTarget(8, s.t), lambda s: ref.semi_target_graph(s.X, s.some, 8, s.t)),
    "semi-all": (
        "target",
        lambda s: fd.SemiTarget(6, t=2 * s.t, weight_labeled=3.0),
        lambda s: ref.semi_target_graph(s.X, s.target, 6, 2 * s.t, 3.0),
    ),
    "semi-by-x": (
        "some",
        lambda s: fd.SemiTarget(8, s.t, close="x"),
        lambda s: ref.semi_target_graph(s.X, s.some, 8, s.t, close="x"),
    ),
    "must": ("pairs", lambda s: fd.MustLink(), lambda s: ref.pair_graph(len(s.X), s.must)),
    "cannot": ("pairs", lambda s: fd.CannotLink(), lambda s: ref.pair_graph(len(s.X), s.cannot)),
    "within": ("pairs", lambda s: fd.Within(), lambda s: ref.within_graph(s.X, s.must, s.cannot)),
    "within-2": ("pairs", lambda s: fd.Within(2, gamma=7.0), lambda s: ref.within_graph(s.X, s.must, s.cannot, 2, 7.0)),
    "within-0": ("pairs", lambda s: fd.Within(0), lambda s: ref.within_graph(s.X, s.must, s.cannot, 0)),
    "must-labels": ("few", lambda s: fd.MustLink(), lambda s: ref.pair_graph(len(s.X), implied(s.few)[0])),
    "cannot-labels": ("few", lambda s: fd.CannotLink(), lambda s: ref.pair_graph(len(s.X), implied(s.few)[1])),
    "within-labels": ("few", lambda s: fd.Within(4), lambda s: ref.within_graph(s.X, *implied(s.few), 4)),
}


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("name", GRAPHS)
def test_graph(name, setting):
    s = make(*setting)
    reads, recipe, reference = GRAPHS[name]
    expected = reference(s)
    for X in (s.X, sp.csr_array(s.X)):
        W = recipe(s).build(X, **supervision(s, reads)).toarray()
        # exp(-βL0) is relative to its largest entries only; every other weight is a formula of its own
        close(W, expected, atol=1e-13 if name.startswith("diffusion") else 0.0)


@pytest.mark.parametrize("k", [1, 3, 4, 6])
@pytest.mark.parametrize("seed", range(2))
def test_knn_ties_and_duplicates(seed, k):
    """Integer points: many equal distances and equal rows; the smaller index wins."""
    X = np.random.default_rng(seed).integers(0, 4, size=(30, 3)).astype(float)
    for given in (X, X + 1e4, sp.csr_array(X)):
        np.testing.assert_array_equal(fd.KNN(k, "binary").build(given).toarray(), ref.knn_graph(X, k, "binary"))


def test_knn_cosine():
    X = np.random.default_rng(3).gamma(1.0, size=(30, 6))
    for given in (X, sp.csr_array(X)):
        close(fd.KNN(4, metric="cosine").build(given).toarray(), ref.knn_graph(X, 4, distance=ref.cosine))


def test_rbf_width_is_the_median_distance():
    """Distances 1 2 3 4 6 7: their median is 3.5, the root of the median of their squares is not."""
    X = np.array([[0.0], [1.0], [3.0], [7.0]])
    assert ref.median_distance(X) == 3.5
    assert fd.RBF().build(X).bandwidth == pytest.approx(3.5, rel=RTOL)


# ---------------------------------------------------------------------------------------------------------- methods


def ls(W, f, s):
    return ref.laplacian_score(W, f)


def per_column(score):
    """A reference over all columns of s.X from one that takes (s, f)."""
    return lambda s: ref.columns(lambda f: score(s, f), s.X)


def on(graph, score):
    """A reference over all columns with the graph built once; score takes (W, f, s)."""

    def reference(s):
        W = graph(s)
        return ref.columns(lambda f: score(W, f, s), s.X)

    return reference


def knn(k=10, weight="rbf"):
    return lambda s: ref.knn_graph(s.X, k, weight)


def quarter(s):
    return ref.rbf_graph(s.X, 0.25 * ref.median_distance(s.X))


def sensitivity(scale, first=None):
    def reference(s):
        delta = scale * ref.median_distance(s.X)
        W = ref.rbf_graph(s.X, delta)
        return ref.columns(lambda f: ref.evsc(W, delta, f, first), s.X)

    return reference


def sensitivity_knn(s):
    W = ref.knn_graph(s.X, 7, "rbf", 2 * s.u)
    return ref.columns(lambda f: ref.evsc(W, 2 * s.u, f), s.X)


METHOD_CASES = {
    "variance": (None, lambda s: fd.Variance(), per_column(lambda s, f: ref.variance(f))),
    "correlation": ("target", lambda s: fd.Correlation(), per_column(lambda s, f: ref.correlation(f, s.target))),
    "correlation-some": ("some", lambda s: fd.Correlation(), per_column(lambda s, f: ref.correlation(f, s.some))),
    "fisher": ("y", lambda s: fd.FisherScore(), per_column(lambda s, f: ref.fisher(f, s.y))),
    "fisher-few": ("few", lambda s: fd.FisherScore(), per_column(lambda s, f: ref.fisher(f, s.few))),
    "relieff": ("y", lambda s: fd.ReliefF(), per_column(lambda s, f: ref.relieff(s.X, f, s.y, 10))),
    "relieff-3": ("y", lambda s: fd.ReliefF(3), per_column(lambda s, f: ref.relieff(s.X, f, s.y, 3))),
    "relieff-few": ("few", lambda s: fd.ReliefF(2), per_column(lambda s, f: ref.relieff(s.X, f, s.few, 2))),
    "ls": (None, lambda s: fd.LaplacianScore(), on(knn(), ls)),
    "ls-binary": (None, lambda s: fd.LaplacianScore(fd.KNN(4, "binary")), on(knn(4, "binary"), ls)),
    "ls-rbf": (None, lambda s: fd.LaplacianScore(fd.RBF(0.8 * s.u)), on(lambda s: ref.rbf_graph(s.X, 0.8 * s.u), ls)),
    "ls-class-few": ("few", lambda s: fd.LaplacianScore(fd.ClassGraph()), on(lambda s: ref.class_graph(s.few), ls)),
    "energy": (None, lambda s: fd.Energy(fd.KNN(5)), on(knn(5), lambda W, f, s: ref.energy(W, f))),
    "sselect": ("few", lambda s: fd.SSelect(), on(knn(), lambda W, f, s: ref.sselect(W, f, s.few))),
    "sselect-lam-0": ("few", lambda s: fd.SSelect(lam=0.0), on(knn(), lambda W, f, s: ref.sselect(W, f, s.few, 0.0))),
    "sselect-all": (
        "y",
        lambda s: fd.SSelect(fd.KNN(4, "binary"), lam=0.6),
        on(knn(4, "binary"), lambda W, f, s: ref.sselect(W, f, s.y, 0.6)),
    ),
    "disagreement": (
        "few",
        lambda s: fd.Disagreement(fd.RBF()),
        on(lambda s: ref.rbf_graph(s.X), lambda W, f, s: ref.disagreement(W, f, s.few)),
    ),
    "sls-some": (
        "some",
        lambda s: fd.SupervisedLaplacianScore(fd.TargetKNN(4, t=3.0)),
        per_column(lambda s, f: ref.sls(f, s.some, 4, 3.0)),
    ),
    "ssls-some": (
        "some",
        lambda s: fd.SemiSupervisedLaplacianScore(fd.SemiTarget(9, t=2 * s.t), fd.TargetKNN(3, t=0.5)),
        per_column(lambda s, f: ref.ssls(s.X, f, s.some, 9, 2 * s.t, 5.0, 3, 0.5)),
    ),
    "ssls-all": (
        "target",
        lambda s: fd.SemiSupervisedLaplacianScore(fd.SemiTarget(7, s.t, 2.0), fd.TargetKNN()),
        per_column(lambda s, f: ref.ssls(s.X, f, s.target, 7, s.t, 2.0)),
    ),
    "c1": ("pairs", lambda s: fd.ConstraintScore(1), per_column(lambda s, f: ref.c1(f, s.must, s.cannot))),
    "c2": ("pairs", lambda s: fd.ConstraintScore(2), per_column(lambda s, f: ref.c2(f, s.must, s.cannot))),
    "c2-1": ("pairs", lambda s: fd.ConstraintScore(2, 1.0), per_column(lambda s, f: ref.c2(f, s.must, s.cannot, 1.0))),
    "c3": ("pairs", lambda s: fd.ConstraintScore(3), per_column(lambda s, f: ref.c3(s.X, f, s.must, s.cannot))),
    "c3-k-gamma": (
        "pairs",
        lambda s: fd.ConstraintScore(3, gamma=10.0, n_neighbors=2),
        per_column(lambda s, f: ref.c3(s.X, f, s.must, s.cannot, 2, 10.0)),
    ),
    "c4": ("pairs", lambda s: fd.ConstraintScore(), on(quarter, lambda W, f, s: ref.c4(W, f, s.must, s.cannot))),
    "c4-width": (
        "pairs",
        lambda s: fd.ConstraintScore(4, graph=fd.RBF(bandwidth=1.1 * s.u)),
        on(lambda s: ref.rbf_graph(s.X, 1.1 * s.u), lambda W, f, s: ref.c4(W, f, s.must, s.cannot)),
    ),
    "c1-labels": ("few", lambda s: fd.ConstraintScore(1), per_column(lambda s, f: ref.c1(f, *implied(s.few)))),
    "c2-labels": ("y", lambda s: fd.ConstraintScore(2), per_column(lambda s, f: ref.c2(f, *implied(s.y)))),
    "c3-labels": ("few", lambda s: fd.ConstraintScore(3), per_column(lambda s, f: ref.c3(s.X, f, *implied(s.few)))),
    "c4-labels": (
        "few",
        lambda s: fd.ConstraintScore(4, graph=fd.RBF()),
        on(lambda s: ref.rbf_graph(s.X), lambda W, f, s: ref.c4(W, f, *implied(s.few))),
    ),
    "ratio": (
        "pairs",
        lambda s: fd.Ratio(fd.KNN(3), fd.CannotLink()),
        on(knn(3), lambda W, f, s: ref.energy(W, f) / ref.energy(ref.pair_graph(len(f), s.cannot), f)),
    ),
    "ls*c1": (
        "pairs",
        lambda s: fd.LaplacianScore() * fd.ConstraintScore(1),
        on(knn(), lambda W, f, s: ref.c4(W, f, s.must, s.cannot)),
    ),
    "2ls+0.5phi2": (
        None,
        lambda s: 2 * fd.Rayleigh(fd.KNN(5)) + 0.5 * fd.Phi(fd.KNN(5), 2, gamma=4),
        on(knn(5), lambda W, f, s: 2 * ref.laplacian_score(W, f) + 0.5 * ref.phi2(W, f, 4)),
    ),
    "evsc": (None, lambda s: fd.EVSC(), sensitivity(1.0)),
    "evsc-narrow": (None, lambda s: fd.Sensitivity(fd.RBF(scale=0.3)), sensitivity(0.3)),
    "evsc-knn": (None, lambda s: fd.EVSC(fd.KNN(7, bandwidth=2 * s.u)), sensitivity_knn),
    "trace-ratio": (None, lambda s: fd.TraceRatio(n_features=2), lambda s: ref.trace_difference(knn()(s), s.X, 2)),
    "trace-ratio-fisher": (
        "few",
        lambda s: fd.TraceRatio(fd.ClassGraph(), 3),
        lambda s: ref.trace_difference(ref.class_graph(s.few), s.X, 3),
    ),
    "mcfs": (None, lambda s: fd.MCFS(fd.RBF(), 3, 2), lambda s: ref.mcfs(ref.rbf_graph(s.X), s.X, 3, 2)),
    "mcfs-knn": (None, lambda s: fd.MCFS(fd.KNN(10), 2, 4), lambda s: ref.mcfs(knn()(s), s.X, 2, 4)),
    "mcfs-all": (None, lambda s: fd.MCFS(fd.KNN(10), 4), lambda s: ref.mcfs(knn()(s), s.X, 4, 5)),
    "mrsf": (None, lambda s: fd.MRSF(fd.RBF(), 3, 2), lambda s: ref.mrsf(ref.rbf_graph(s.X), s.X, 3, 2)),
    "mrsf-knn": (None, lambda s: fd.MRSF(fd.KNN(10), 2, 4), lambda s: ref.mrsf(knn()(s), s.X, 2, 4)),
    "evsc-first-6": (None, lambda s: fd.EVSC(fd.RBF(scale=0.6), n_eigenvalues=6), sensitivity(0.6, 6)),
}


def compare(case, setting):
    """Dense and csr input against one reference; X is left as it was."""
    s = make(*setting)
    reads, criterion, reference = case
    expected, before = reference(s), s.X.copy()
    for X in (s.X, sp.csr_array(s.X)):
        close(criterion(s).evaluate(X, **supervision(s, reads)), expected)
    np.testing.assert_array_equal(s.X, before)


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("name", METHOD_CASES)
def test_method(name, setting):
    if name.startswith("evsc"):
        setting = (setting[0], 18 + setting[0] % 3, *setting[2:])  # the reference costs n³ loops
    compare(METHOD_CASES[name], setting)


GAMMAS = [1, 4, 0.5, np.expm1, np.exp]
PHI_GRAPHS = {
    "knn": (None, lambda s: fd.KNN(), knn()),
    "knn-3-binary": (None, lambda s: fd.KNN(3, "binary"), knn(3, "binary")),
    "rbf": (None, lambda s: fd.RBF(), lambda s: ref.rbf_graph(s.X)),
    "diffusion": (None, lambda s: fd.Diffusion(beta=0.2), lambda s: ref.diffusion_graph(knn(10, "binary")(s), 0.2)),
    "rbf-self": (None, lambda s: fd.RBF(n_neighbors=4), lambda s: ref.self_tuning_graph(s.X, 4)),
    "rbf-self-2": (None, lambda s: fd.RBF(scale=0.8, n_neighbors=7), lambda s: ref.self_tuning_graph(s.X, 7, 0.8)),
    "diffusion-cut": (
        None,
        lambda s: fd.Diffusion(fd.KNN(3, "binary"), 0.3, n_neighbors=4),
        lambda s: ref.cut_to_neighbors(diffused(s), 4),
    ),
    "class": ("y", lambda s: fd.ClassGraph(), lambda s: ref.class_graph(s.y)),
    "class-few": ("few", lambda s: fd.ClassGraph(), lambda s: ref.class_graph(s.few)),
}


def phi(kind, gamma, n_clusters):
    if kind == 3:
        return lambda W, f, s: ref.phi3(W, f, s.c if n_clusters is None else n_clusters, gamma)
    return lambda W, f, s: {1: ref.phi1, 2: ref.phi2}[kind](W, f, gamma)


@pytest.mark.parametrize("setting", [SETTINGS[i] for i in (1, 3, 4, 6)], ids=str)
@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("kind", [1, 2, 3])
@pytest.mark.parametrize("name", PHI_GRAPHS)
def test_spec(name, kind, gamma, setting):
    reads, recipe, graph = PHI_GRAPHS[name]
    n_clusters = 4 if kind == 3 and reads is None else None  # by default the number of classes
    case = (reads, lambda s: fd.SPEC(recipe(s), kind, gamma, n_clusters), on(graph, phi(kind, gamma, n_clusters)))
    compare(case, setting)


# ---------------------------------------------------------------------------------------------------------- defaults


def subset(s):
    W = ref.knn_graph(s.X, 5)
    K, C = sets.kernel_of_features(sets.smoothing(W), s.X), sets.centred(s.X)
    relevance = np.ones(s.X.shape[1]) if s.few is None else sets.class_relevance(C, s.few, W)
    return sets.greedy(K, C, 1, relevance=relevance)[2]


DEFAULTS = {
    "variance": (None, per_column(lambda s, f: ref.variance(f))),
    "correlation": ("some", per_column(lambda s, f: ref.correlation(f, s.some))),
    "fisher": ("few", per_column(lambda s, f: ref.fisher(f, s.few))),
    "relieff": ("y", per_column(lambda s, f: ref.relieff(s.X, f, s.y))),
    "laplacian": (None, on(knn(), ls)),
    "spec": (None, on(knn(), lambda W, f, s: ref.phi2(W, f))),
    "sselect": ("few", on(knn(), lambda W, f, s: ref.sselect(W, f, s.few))),
    "sls": ("some", per_column(lambda s, f: ref.sls(f, s.some))),
    "ssls": ("some", per_column(lambda s, f: ref.ssls(s.X, f, s.some))),
    "constraint": ("pairs", on(quarter, lambda W, f, s: ref.c4(W, f, s.must, s.cannot))),
    "evsc": (None, sensitivity(1.0)),
    "subset": ("few", subset),
    "mcfs": (None, lambda s: ref.mcfs(knn(5)(s), s.X, ref.largest_gap(knn(5)(s)), 50)),
    "mrsf": (None, lambda s: ref.mrsf(knn(5)(s), s.X, ref.largest_gap(knn(5)(s)), s.X.shape[1])),
    "trace_ratio": (None, lambda s: ref.trace_difference(knn()(s), s.X, 2)),
}


@pytest.mark.parametrize("name", fd.METHODS)
def test_defaults_and_selector(name):
    """n > 31, so that no default graph is complete; the selector reports the same raw values."""
    reads, reference = DEFAULTS[name]
    s = make(7, 40, 2)
    expected = reference(s)
    close(fd.METHODS[name]().evaluate(s.X, **supervision(s, reads)), expected)
    if name not in ("mcfs", "mrsf"):  # which choose as many coefficients as a selector selects features
        close(fd.SpectralSelector(name, screen=None).fit(s.X, **supervision(s, reads)).scores_, expected)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("known", ["y", "few", "target", "some"])
def test_relieff_as_elsewhere(known, kind):
    s = make(5, 40, 3)
    y = {"y": s.y, "few": s.few, "target": s.X[:, 0] + s.X[:, 1] ** 2, "some": s.some}[known]
    classes = known in ("y", "few")
    expected = (ref.classical_relieff if classes else ref.regression_relieff)(s.X, y, 4)
    close(fd.ReliefF(4, "classical" if classes else "regression").evaluate(kind(s.X), y), expected)


def test_relieff_of_iris_is_that_of_matlab():
    """The weights and the order in MATLAB's documentation, ten neighbours, raw values; ties are broken otherwise."""
    X, y = load_iris(return_X_y=True)
    found = fd.SpectralSelector(fd.ReliefF(form="classical")).fit(X, y)
    np.testing.assert_allclose(found.scores_, [0.1399, 0.1226, 0.3590, 0.3754], atol=1.5e-4)
    assert found.order_.tolist() == [3, 2, 0, 1]
    close(fd.ReliefF(form="classical").evaluate(X * [1, 10, 0.1, 5], y), found.scores_)


def test_relieff_as_elsewhere_says_what_it_cannot_do(tmp_path):
    s = make(5, 40, 3)
    np.save(tmp_path / "X.npy", s.X)
    with pytest.raises(ValueError, match="form='classical' needs X in memory"):
        fd.ReliefF(form="classical").evaluate(open_source(tmp_path / "X.npy"), s.y)
    with pytest.raises(ValueError, match="form must be one of 'energy', 'classical', 'regression', got 'relief'"):
        fd.ReliefF(form="relief").evaluate(s.X, s.y)
    with pytest.raises(ValueError, match="cannot be computed with missing values"):
        fd.ReliefF(form="classical").evaluate(np.where(s.X > 2, np.nan, s.X), s.y)


@pytest.mark.parametrize("name", fd.METHODS)
def test_constant_feature_is_nan(name):
    reads, reference = DEFAULTS[name]
    s = make(8, 40, 3)
    X = np.column_stack([s.X, np.full(len(s.X), 0.1)])
    actual = fd.METHODS[name]().evaluate(X, **supervision(s, reads))
    assert np.isnan(actual[-1])
    if name != "ssls":  # whose distances are means over all features, the constant one too
        close(actual[:-1], reference(s))


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_degenerate_on_the_rows_read(offset):
    """Constant where the score looks: NaN. Constant inside every class: F = inf. x / 0 = inf, 0 / x = 0."""
    s = make(15, 30, 3, 1.0, offset)
    X = s.X.copy()
    X[s.few != -1, 0] = 0.1 + offset
    for method in (fd.FisherScore(), fd.ReliefF(2), fd.ConstraintScore(1), fd.ConstraintScore(2)):
        assert np.isnan(method.evaluate(X, s.few)[0])
    X = s.X.copy()
    X[~np.isnan(s.some), 0] = 0.1 + offset
    for method in (fd.Correlation(), fd.SupervisedLaplacianScore(), fd.SemiSupervisedLaplacianScore(fd.SemiTarget(9))):
        assert np.isnan(method.evaluate(X, s.some)[0])
    X[:, 0] = np.array([0.1, 0.3, 0.7])[s.y] + offset
    assert fd.FisherScore().evaluate(X, s.y)[0] == np.inf
    assert fd.ConstraintScore(1).evaluate(X, s.y)[0] == 0.0
    X[:, 0] = s.X[:, 0]
    X[np.ravel(s.cannot), 0] = 0.1 + offset
    assert fd.ConstraintScore(1).evaluate(X, **supervision(s, "pairs"))[0] == np.inf


@pytest.mark.parametrize("offset", [0.0, 1e3])
@pytest.mark.parametrize("name", fd.METHODS)
def test_float32(name, offset):
    """Against the reference on the float64 copy of the same numbers."""
    reads, reference = DEFAULTS[name]
    s = make(9, 36, 2, 1.0, offset)
    single = s.X.astype(np.float32)
    s.X = single.astype(np.float64)
    expected = reference(s)
    for X in (single, sp.csr_array(single)):
        close(fd.METHODS[name]().evaluate(X, **supervision(s, reads)), expected, rtol=1e-5)


@pytest.mark.parametrize("name", fd.METHODS)
def test_sparse_with_zeros(name):
    reads, reference = DEFAULTS[name]
    s = make(10, 38, 3)
    s.X = np.where(np.random.default_rng(10).random(s.X.shape) < 0.4, 0.0, s.X)
    close(fd.METHODS[name]().evaluate(sp.csr_array(s.X), **supervision(s, reads)), reference(s))


def test_complete_graphs():
    """At most k other rows: the graph is complete."""
    s = make(11, 12, 2)
    s.some = np.where(np.arange(12) < 5, s.target, np.nan)
    with pytest.warns(UserWarning, match="complete"):
        W = fd.KNN(12).build(s.X).toarray()
    close(W, ref.knn_graph(s.X, 12))
    close(fd.SupervisedLaplacianScore().evaluate(s.X, s.some), ref.columns(lambda f: ref.sls(f, s.some), s.X))


# ------------------------------------------------------------------------------------- disconnected, given, signed


def check_all(recipe, W, X, gamma):
    close(recipe.build(X).toarray(), W)
    close(fd.Rayleigh(recipe).evaluate(X), ref.columns(lambda f: ref.laplacian_score(W, f), X))
    close(fd.SPEC(recipe, 1, gamma).evaluate(X), ref.columns(lambda f: ref.phi1(W, f, gamma), X))
    close(fd.SPEC(recipe, 2, gamma).evaluate(X), ref.columns(lambda f: ref.phi2(W, f, gamma), X))
    for k in (2, 4):
        close(fd.SPEC(recipe, 3, gamma, k).evaluate(X), ref.columns(lambda f, k=k: ref.phi3(W, f, k, gamma), X))


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("weight", ["rbf", "binary"])
def test_disconnected(weight, gamma, offset):
    """Two far clusters and few neighbours: two components, ξ_0 is still D^½1."""
    s = make(12, 30, 2, 1.0, offset)
    s.X += 100.0 * (np.arange(30) % 2)[:, None] * np.array([1.0, 0.0, 1.0, 0.0, -1.0])
    W = ref.knn_graph(s.X, 5, weight)
    assert ref.spectrum(W)[2].count(0.0) == 1  # besides the trivial one
    check_all(fd.KNN(5, weight), W, s.X, gamma)


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
def test_precomputed(sparse, gamma):
    """Random weights, self loops, an isolated node."""
    rng = np.random.default_rng(13)
    X = rng.normal(size=(25, 5)) + 3.0
    W = np.triu(rng.random((25, 25)) * (rng.random((25, 25)) < 0.3))
    W[3], W[:, 3] = 0.0, 0.0
    W = W + W.T
    check_all(fd.Precomputed(sp.csr_array(W) if sparse else W), W, X, gamma)


@pytest.mark.parametrize("offset", [0.0, 5.0, 1e8])
def test_sign_of_zero(offset):
    """On a cycle the degrees are equal and two entries of f̃ are exactly 0: they count as +1."""
    W = np.roll(np.eye(8), 1, axis=1) + np.roll(np.eye(8), -1, axis=1)
    f = np.array([-3.0, -1.0, 0.0, 0.0, 1.0, 3.0, -2.0, 2.0])
    X, y = np.column_stack([f, f[::-1]]) + offset, np.array([0, 0, 1, 1, 1, 1, 0, -1])
    expected = ref.columns(lambda g: ref.disagreement(W, g, y), X)
    assert expected[0] == pytest.approx(0.0, abs=1e-15)
    close(fd.Disagreement(fd.Precomputed(W)).evaluate(X, y), expected, atol=1e-15)


@pytest.mark.parametrize("c", [2, 3])
def test_relieff_as_phi1(c):
    """[SPEC] theorem 5: with unit-norm features φ1 on eq. 12 is -1/2 ReliefF."""
    s = make(14, 36, c)
    X = s.X / np.linalg.norm(s.X, axis=0)
    expected = ref.columns(lambda f: ref.relieff(X, f, s.y, 4), X)
    close(-2 * fd.SPEC(fd.ReliefGraph(4), phi=1).evaluate(X, s.y), expected)
