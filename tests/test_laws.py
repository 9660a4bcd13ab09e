"""Laws that every method obeys, over all entries of METHODS, on random data."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from inside import default_graph
from problems import CRITERIA, NOT_SCALE_INVARIANT, NOT_SHIFT_INVARIANT, Data, evaluate, make
from scipy.stats import friedmanchisquare, rankdata
from sklearn import config_context
from sklearn.datasets import load_digits

from fiedler import (
    EVSC,
    KNN,
    METHODS,
    RBF,
    SPEC,
    Anchors,
    CannotLink,
    ClassGraph,
    ConstraintScore,
    Diffusion,
    Disagreement,
    FisherScore,
    Graph,
    LaplacianScore,
    MustLink,
    Precomputed,
    ReliefGraph,
    SemiSupervisedLaplacianScore,
    SemiTarget,
    SpectralSelector,
    SSelect,
    SupervisedLaplacianScore,
    TargetKNN,
    Variance,
    Within,
)
from fiedler.criteria.sensitivity import eigenvalue_changes
from fiedler.data.arrays import validate_X
from fiedler.engine.neighbors import find_neighbors
from fiedler.evaluate import kendall_coefficient

close = np.testing.assert_allclose
RTOL = 1e-9
seeds = st.integers(0, 2**20)
laws = settings(max_examples=10, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
each = pytest.mark.parametrize("name", CRITERIA)

GRAPHS = {
    "KNN": KNN(5),
    "KNN binary": KNN(4, "binary"),
    "KNN cosine": KNN(5, metric="cosine"),
    "KNN disconnected": KNN(1),
    "RBF": RBF(),
    "Diffusion": Diffusion(KNN(4, "binary")),
    "Anchors": Anchors(),
    "Anchors disconnected": Anchors(n_neighbors=2),
    "Anchors at every row": Anchors(32, 3),
    "ClassGraph": ClassGraph(),
    "MustLink": MustLink(),
    "CannotLink": CannotLink(),
    "Within": Within(),
}
each_graph = pytest.mark.parametrize("recipe", GRAPHS.values(), ids=GRAPHS)


def graph_and_data(recipe, seed):
    data = make("fisher", seed)
    return recipe.build(data.X, data.y), data.X


# ---------------------------------------------------------------- the graph


@each_graph
@laws
@given(seeds)
def test_laplacian_kills_constants_and_is_psd(recipe, seed):
    graph, _ = graph_and_data(recipe, seed)
    W = graph.toarray()
    L = np.diag(W.sum(axis=1)) - W
    close(W, W.T, rtol=0, atol=1e-15)
    close(graph.laplacian_dot(np.ones((graph.n_nodes, 1))), 0, atol=1e-12 * max(1, np.abs(W).max()))
    assert np.linalg.eigvalsh(L).min() > -1e-10 * max(1.0, np.abs(W).max())


@each_graph
@laws
@given(seeds)
def test_energy_mass_and_centre_follow_the_dense_definitions(recipe, seed):
    graph, X = graph_and_data(recipe, seed)
    W, d = graph.toarray(), graph.degree
    by_pairs = 0.5 * np.einsum("ij,ijm->m", W, (X[:, None] - X[None]) ** 2)
    close(graph.energy(X), by_pairs, rtol=RTOL)
    close(graph.energy(sp.csc_array(X)), by_pairs, rtol=RTOL)
    close(graph.energy(X + 1e6), by_pairs, rtol=1e-7)
    centred = X - d @ X / d.sum()
    close(graph.centre(X), centred, atol=1e-12)
    close(d @ graph.centre(X), 0, atol=1e-10 * d.sum())
    close(graph.mass(X), d @ centred**2, rtol=RTOL)
    close(graph.mass(sp.csc_array(X)), d @ centred**2, rtol=RTOL)


@each_graph
@laws
@given(seeds)
def test_the_laplacian_score_of_an_indicator_is_its_normalised_cut(recipe, seed):
    """[ZL] eq. 3.3 and 3.4: cut, vol and Ncut of a set of rows from the definitions, and as LS of its indicator."""
    graph, _ = graph_and_data(recipe, seed)
    W, d = graph.toarray(), graph.degree
    inside = np.random.default_rng(seed).random(graph.n_nodes) < 0.4
    found = graph.ncut(inside)
    close(found.cut, W[np.ix_(inside, ~inside)].sum(), atol=1e-12 * np.abs(W).sum())
    close((found.volume, found.rest), (d[inside].sum(), d[~inside].sum()), rtol=RTOL)
    close(found.value, found.cut / found.volume + found.cut / found.rest, rtol=RTOL)
    assert graph.ncut(np.flatnonzero(inside)) == found
    score = LaplacianScore(graph).evaluate(inside[:, None].astype(float))
    close(score, found.value, rtol=RTOL, atol=1e-12)
    share = found.volume / (found.volume + found.rest)  # γ of eq. 3.4: the two values that f̃ takes
    close(np.unique(graph.centre(inside[:, None] * 2.0).round(9)), [-2 * share, 2 * (1 - share)], atol=1e-8)
    assert graph.ncut([]).value == np.inf


@each_graph
@laws
@given(seeds)
def test_the_transformation_to_cluster_indicators(recipe, seed):
    """[ZL] Theorem 3.1 i to iv and 3.2; [SPEC] Theorem 2: f'Lf / f'Df is the normalised cut of a soft indicator."""
    graph, X = graph_and_data(recipe, seed)
    d, L = graph.degree, np.diag(graph.row_sums) - graph.toarray()
    g = graph.centre(X)
    close(d @ g, 0, atol=1e-10 * d.sum() * np.abs(X).max())  # i
    close(X.T @ L @ X, g.T @ L @ g, rtol=1e-7, atol=1e-9 * np.abs(X.T @ L @ X).max())  # ii
    close(graph.centre(g), g, atol=1e-11)  # iii
    values = graph.spectrum(2)[0]
    root = graph.inverse_root_degree
    soft = (root * graph.spectrum(2)[1][:, 1])[:, None]  # iv: the best indicator is an eigenvector, and φ keeps it
    assert LaplacianScore(graph).evaluate(X).min() >= values[1] - 1e-9
    if graph.active.all():
        close(LaplacianScore(graph).evaluate(soft), values[1], atol=1e-9)
    scores = graph.energy(X) / graph.mass(X)
    for shift in (-1.0, 0.3, 2.0):  # 3.2: no other origin gives a larger quotient
        moved = g + shift
        assert (np.einsum("jk,ji,ik->k", moved, L, moved) <= 1e-9 + scores * (d @ moved**2)).all()
    f = X / np.sqrt(d @ X**2)
    close(SPEC(graph, phi=1).evaluate(X), np.einsum("ik,ij,jk->k", f, L, f), rtol=1e-7, atol=1e-10)  # SPEC 2


def test_information_gain_ranks_as_disagreement_on_the_class_graph(rng):
    """SF_IG of [ZL] Algorithm 2: with equally many labels per class IG = H(y) (1 - disagreement), split at the mean."""
    X, y = rng.normal(size=(40, 9)), np.repeat([0, 1, -1, -1], 10)
    X[:, :3] += (y[:, None] == 1) * [2.0, 1.0, 0.5]
    entropy = lambda share: -sum(p * np.log(p) for p in share if p > 0)  # noqa: E731
    gain = []
    for f in X[y >= 0].T:
        high, known = f >= f.mean(), y[y >= 0]
        inside = sum(
            part.mean() * entropy(np.bincount(known[part], minlength=2) / part.sum()) for part in (high, ~high)
        )
        gain.append(np.log(2) - inside)
    close(Disagreement(ClassGraph()).evaluate(X, y), 1.0 - np.array(gain) / np.log(2), rtol=RTOL)


@each_graph
@laws
@given(seeds)
def test_spectrum_is_that_of_the_normalised_laplacian(recipe, seed):
    graph, _ = graph_and_data(recipe, seed)
    W, d, active = graph.toarray(), graph.degree, graph.active
    values, vectors = graph.spectrum()
    L = np.diag(W.sum(axis=1)) - W
    root = 1 / np.sqrt(d[active])
    dense = root[:, None] * L[np.ix_(active, active)] * root
    close(np.sort(values), np.linalg.eigvalsh(dense), atol=1e-9)
    close(vectors.T @ vectors, np.eye(active.sum()), atol=1e-9)
    close(vectors[:, 0], np.sqrt(d / d.sum()), atol=1e-12)
    close(dense @ vectors[active], vectors[active] * values, atol=1e-9)


@laws
@given(seeds)
def test_class_graph_components_are_the_classes(seed):
    data = make("fisher", seed)
    graph = ClassGraph().build(data.X, data.y)
    assert graph.n_components == len(set(data.y) - {-1})
    assert graph.n_isolated == np.sum(data.y == -1)


# ---------------------------------------------------------------- every method


@each
@laws
@given(seeds)
def test_permuting_rows_with_their_labels_and_pairs_changes_nothing(name, seed):
    data = make(name, seed)
    rows = np.random.default_rng(seed + 1).permutation(len(data.X))
    close(evaluate(CRITERIA[name], data.permuted(rows)), evaluate(CRITERIA[name], data), rtol=1e-8, atol=1e-12)


@each
@laws
@given(seeds)
def test_permuting_columns_permutes_the_scores(name, seed):
    data = make(name, seed)
    columns = np.random.default_rng(seed).permutation(data.X.shape[1])
    permuted = evaluate(CRITERIA[name], data, data.X[:, columns])
    close(permuted, evaluate(CRITERIA[name], data)[columns], rtol=RTOL, atol=1e-14)


@each
@laws
@given(seeds)
def test_sparse_equals_dense(name, seed):
    data = make(name, seed)
    X = np.where(np.random.default_rng(seed).random(data.X.shape) < 0.4, 0.0, data.X)
    expected = evaluate(CRITERIA[name], data, X)
    for kind in (sp.csr_array, sp.csc_matrix, sp.coo_array):
        close(evaluate(CRITERIA[name], data, kind(X)), expected, rtol=RTOL, atol=1e-14)


@each
def test_blocks_equal_whole(name):
    data = make(name, 3, n=300, m=40)
    whole = evaluate(CRITERIA[name], data)
    with config_context(working_memory=0.05):
        close(evaluate(CRITERIA[name], data), whole, rtol=1e-11)


@each
def test_memory_order_and_dtype_do_not_matter(name):
    data = make(name, 4)
    expected = evaluate(CRITERIA[name], data)
    # The coefficient of the feature that enters a sparse regression last is a difference that nearly cancels.
    rounding = 1e-14 * np.abs(expected).max()
    close(evaluate(CRITERIA[name], data, np.asfortranarray(data.X)), expected, rtol=1e-11, atol=rounding)
    single = data.X.astype(np.float32)
    close(evaluate(CRITERIA[name], data, single), evaluate(CRITERIA[name], data, single.astype(float)), rtol=1e-9)
    close(evaluate(CRITERIA[name], data, single), expected, rtol=1e-4)
    whole = np.round(data.X * 50).astype(np.int16)
    close(evaluate(CRITERIA[name], data, whole), evaluate(CRITERIA[name], data, whole.astype(float)), rtol=1e-11)


@each
@laws
@given(seeds)
def test_identical_features_get_identical_scores(name, seed):
    data = make(name, seed)
    scores = evaluate(CRITERIA[name], data, np.c_[data.X, data.X])
    m = data.X.shape[1]
    close(scores[:m], scores[m:], rtol=1e-12)


@each
def test_evaluate_leaves_its_input_alone(name):
    data = make(name, 5)
    before = data.X.copy()
    data.X.flags.writeable = False
    evaluate(CRITERIA[name], data)
    np.testing.assert_array_equal(data.X, before)


def with_graph_of(data, name):
    """The criterion on graphs of the original X, for laws about a single feature with the graph held fixed."""
    criterion = CRITERIA[name]
    if hasattr(criterion, "graph") and not criterion.reads & {"target", "pairs"}:
        recipe = default_graph(criterion)
        return type(criterion)(**(criterion.get_params(deep=False) | {"graph": recipe.build(data.X, data.y)}))
    if name == "constraint":
        return ConstraintScore(4, graph=RBF().build(data.X))
    return criterion


FIXED_GRAPH = [n for n in CRITERIA if n not in {"relieff", "ssls", "C3"}]  # the graphs of these three read X


@pytest.mark.parametrize("name", [n for n in FIXED_GRAPH if n not in NOT_SCALE_INVARIANT])
@laws
@given(seeds)
def test_scale_and_sign_invariance(name, seed):
    data = make(name, seed)
    criterion = with_graph_of(data, name)
    factors = np.array([-1.0, 1e-6, 1e6, -3.0, 2.0, 0.1])
    scaled = evaluate(criterion, data, data.X * factors)
    close(scaled, evaluate(criterion, data), rtol=RTOL)


@pytest.mark.parametrize("name", [n for n in FIXED_GRAPH if n not in NOT_SHIFT_INVARIANT])
@laws
@given(seeds)
def test_shift_invariance(name, seed):
    data = make(name, seed)
    criterion = with_graph_of(data, name)
    shifted = evaluate(criterion, data, data.X + np.array([1e3, -1e3, 7.0, 0.5, -20.0, 3e3]))
    close(shifted, evaluate(criterion, data), rtol=1e-8)


@pytest.mark.parametrize("name", [n for n in CRITERIA if n not in NOT_SHIFT_INVARIANT])
def test_an_offset_of_1e8_costs_only_the_digits_the_data_lose(name):
    data = make(name, 11)
    offset = data.X + 1e8  # rounds X to 1.5e-8; the exact scores of the rounded data are those of offset - 1e8
    close(evaluate(CRITERIA[name], data, offset), evaluate(CRITERIA[name], data, offset - 1e8), rtol=1e-8)


# ---------------------------------------------------------------- LS and SPEC


@each_graph
@laws
@given(seeds)
def test_spec_identities(recipe, seed):
    graph, X = graph_and_data(recipe, seed)
    G = Precomputed(graph)
    n_active, f0 = graph.n_nodes - graph.n_isolated, graph.volume * (graph.degree @ X / graph.volume) ** 2
    norm = graph.degree @ X**2
    alpha0 = f0 / norm
    for gamma, top in ((1, 2.0), (4, 16.0), (3, 8.0), (2.5, 2**2.5), (np.expm1, np.expm1(2.0))):
        phi1, phi2 = SPEC(G, 1, gamma).evaluate(X), SPEC(G, 2, gamma).evaluate(X)
        phi3 = SPEC(G, 3, gamma, n_clusters=n_active).evaluate(X)
        close(phi1, (1 - alpha0) * phi2, rtol=1e-8)
        close(phi3, top * (1 - alpha0) - phi1, rtol=1e-8, atol=1e-10)
        assert ((phi1 >= 0) & (phi1 <= top)).all()
    close(SPEC(G, 2).evaluate(X), LaplacianScore(G).evaluate(X), rtol=1e-12)


@laws
@given(seeds)
def test_phi3_is_nondecreasing_in_k(seed):
    graph, X = graph_and_data(KNN(5), seed)
    scores = np.array([SPEC(graph, 3, n_clusters=k).evaluate(X) for k in range(2, 20)])
    assert (np.diff(scores, axis=0) >= -1e-12).all()


@each_graph
@laws
@given(seeds, st.floats(1e-3, 1e3))
def test_scaling_the_weights_changes_no_ls_and_no_phi(recipe, seed, c):
    graph, X = graph_and_data(recipe, seed)
    more = Graph.from_weights(c * graph.toarray())
    for criterion in (LaplacianScore, lambda g: SPEC(g, 1, 4), lambda g: SPEC(g, 2)):
        close(criterion(more).evaluate(X), criterion(graph).evaluate(X), rtol=1e-8)


@laws
@given(seeds)
def test_fisher_is_the_class_graph(seed):
    data = make("fisher", seed)
    fisher = FisherScore().evaluate(data.X, data.y)
    close(LaplacianScore(ClassGraph()).evaluate(data.X, data.y), 1 / (1 + fisher), rtol=RTOL)
    for phi in (1, 2):
        one, four = (SPEC(ClassGraph(), phi, gamma).evaluate(data.X, data.y) for gamma in (1, 4))
        close(one, four, rtol=1e-8)


def test_laplacian_score_is_gearys_c_on_a_regular_graph(rng):
    n, X = 40, rng.normal(size=(40, 5))
    ring = sum(np.roll(np.eye(n), s, axis=1) for s in (1, -1, 2, -2))
    centred = X - X.mean(axis=0)
    pairs = np.einsum("ij,ijm->m", ring, (X[:, None] - X[None]) ** 2)
    geary = (n - 1) * pairs / (2 * ring.sum() * (centred**2).sum(axis=0))
    close(LaplacianScore(Precomputed(ring)).evaluate(X), n / (n - 1) * geary, rtol=1e-12)


# ---------------------------------------------------------------- constraints


@laws
@given(seeds)
def test_constraint_identities(seed):
    data = make("C1", seed)
    links, swapped = data.pairs, {"must_link": data.cannot_link, "cannot_link": data.must_link}
    c1 = ConstraintScore(1).evaluate(data.X, **links)
    close(c1 * ConstraintScore(1).evaluate(data.X, **swapped), 1.0, rtol=RTOL)
    close(ConstraintScore(3, n_neighbors=0, gamma=7.0).evaluate(data.X, **links), 7.0 * c1, rtol=RTOL)
    graph = RBF().build(data.X)
    c4 = ConstraintScore(4, graph=graph).evaluate(data.X, **links)
    close(c4, LaplacianScore(graph).evaluate(data.X) * c1, rtol=RTOL)
    close((LaplacianScore(graph) * ConstraintScore(1)).evaluate(data.X, **links), c4, rtol=RTOL)
    reversed_pairs = {k: np.r_[p[:, ::-1], p] for k, p in links.items()}  # order and repeats do not count
    c2 = ConstraintScore(2)
    close(c2.evaluate(data.X, **reversed_pairs), c2.evaluate(data.X, **links), rtol=RTOL)


@pytest.mark.parametrize("variant", [1, 2, 3, 4])
def test_labels_imply_all_pairs(variant, blobs):
    X, y = blobs
    partial = np.where(np.arange(45) % 3 == 0, y, -1)
    i, j = np.triu_indices(45, 1)
    known = (partial[i] >= 0) & (partial[j] >= 0)
    same = partial[i] == partial[j]
    pairs = {"must_link": np.c_[i, j][known & same], "cannot_link": np.c_[i, j][known & ~same]}
    criterion = ConstraintScore(variant)
    close(criterion.evaluate(X, partial), criterion.evaluate(X, **pairs), rtol=1e-12)


# ---------------------------------------------------------------- real targets


@laws
@given(seeds)
def test_ssls_with_all_outputs_known_is_a_product_of_two_sls(seed):
    data = make("ssls", seed)
    y = np.nan_to_num(data.y)
    ssls = SemiSupervisedLaplacianScore(SemiTarget(8), TargetKNN(4)).evaluate(data.X, y)
    sls = [SupervisedLaplacianScore(TargetKNN(k)).evaluate(data.X, y) for k in (8, 4)]
    close(ssls, sls[0] * sls[1], rtol=RTOL)


@laws
@given(seeds)
@pytest.mark.parametrize("score", [SupervisedLaplacianScore, SemiSupervisedLaplacianScore])
def test_sls_and_ssls_ignore_the_sign_the_origin_and_the_unit_of_the_target(score, seed):
    data = make("sls", seed)
    expected = score().evaluate(data.X, data.y)
    close(score().evaluate(data.X, data.y + 64.0), expected, rtol=1e-8)
    close(score().evaluate(data.X, -data.y), expected, rtol=RTOL)
    close(score().evaluate(data.X, 1000.0 * data.y), expected, rtol=RTOL)


@laws
@given(seeds)
def test_sselect_is_affine_in_lambda(seed):
    data = make("sselect", seed)
    low, mid, high = (SSelect(lam=lam).evaluate(data.X, data.y) for lam in (0.0, 0.3, 1.0))
    close(mid, 0.7 * low + 0.3 * high, rtol=RTOL)
    close(high, LaplacianScore().evaluate(data.X), rtol=RTOL)


# ---------------------------------------------------------------- EVSC


def eigenvalues_of_weighted_rbf(X, weights, bandwidth):
    Z = X * weights
    S = np.exp(-((Z[:, None] - Z[None]) ** 2).sum(axis=2) / (2 * bandwidth**2))
    d = S.sum(axis=1)
    return np.linalg.eigvalsh(np.eye(len(X)) - S / np.sqrt(np.outer(d, d)))


@laws
@given(seeds)
def test_evsc_equals_finite_differences_of_the_eigenvalues(seed):
    X = make("evsc", seed, n=14).X
    step, scores = 1e-5, EVSC(RBF(1.5)).evaluate(X)
    for t in range(X.shape[1]):
        up, down = np.ones(X.shape[1]), np.ones(X.shape[1])
        up[t], down[t] = 1 + step, 1 - step
        difference = eigenvalues_of_weighted_rbf(X, up, 1.5) - eigenvalues_of_weighted_rbf(X, down, 1.5)
        assert scores[t] == pytest.approx(np.abs(difference / (2 * step)).sum(), rel=1e-5)


def test_evsc_limits(rng):
    X = rng.normal(size=(20, 4)) * [1, 2, 3, 4]
    assert np.abs(EVSC(RBF(1.0), n_eigenvalues=1).evaluate(X)).max() < 1e-12  # dλ_1 = 0: the trivial pair
    wide = EVSC(RBF(1e4)).evaluate(X)
    close(0.5e8 * wide, Variance().evaluate(X), rtol=1e-4)
    leading = np.array([EVSC(RBF(2.0), n_eigenvalues=k).evaluate(X) for k in (2, 5, 20)])
    assert (np.diff(leading, axis=0) >= 0).all()
    close(leading[-1], EVSC(RBF(2.0)).evaluate(X), rtol=RTOL)


@pytest.mark.parametrize("scale", [1.0, 0.5, 0.25])
def test_evsc_by_trace_equals_exact(scale):
    offsets = np.array([0, 1e4, -50, 0, 0, 0, 1e6, 0, 3])
    X = make("evsc", 7, n=60, m=9).X + offsets
    close(EVSC(RBF(scale=scale), mode="trace").evaluate(X), EVSC(RBF(scale=scale), mode="exact").evaluate(X), rtol=1e-8)


@laws
@given(seeds)
def test_the_largest_eigenvalues_together_never_grow_with_a_weight(seed):
    """For every k the sum of the k largest eigenvalues of a full RBF graph falls, and each change is an identity."""
    X, rng = make("evsc", seed, n=17, m=4).X, np.random.default_rng(seed)
    graph = RBF(scale=10.0 ** rng.uniform(-1, 0.5)).build(X)
    changes = eigenvalue_changes(graph, None)(X)
    size = np.abs(changes).sum(axis=0)
    assert (np.cumsum(changes[::-1], axis=0) <= 1e-12 * size).all()
    values, vectors = graph.spectrum(len(X))
    q, K, d = vectors / np.sqrt(graph.degree)[:, None], graph.toarray(), graph.degree
    for t in range(X.shape[1]):
        f = X[:, t] - X[:, t].mean()
        h = (K * (f[:, None] - f) ** 2).sum(axis=1)
        for r, mu in enumerate(1.0 - values):
            g = f * q[:, r]
            growth = mu * (d @ (g * g) - h @ q[:, r] ** 2 / 2) - g @ K @ g
            assert changes[r, t] == pytest.approx(2 * growth / graph.bandwidth**2, abs=1e-10 * size[t] + 1e-14)


def test_more_than_leading_eigenvalues_may_grow():
    """Sixty tight groups of four: noise inside them moves dozens of eigenvalues up."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(60, 2)) * 30, 4, axis=0) + rng.normal(size=(240, 2)) * 0.01
    X = np.c_[X, rng.normal(size=240)]
    graph = RBF(bandwidth=3.0).build(X)
    changes = eigenvalue_changes(graph, None)(X)
    grows = np.flatnonzero(changes[:, 2] > 1e-9 * np.abs(changes[:, 2]).sum())
    assert grows.max() >= 40  # beyond the pairs that mode="trace" looks at, and beyond those it checks
    exact = EVSC(graph, mode="exact").evaluate(X)
    with pytest.warns(UserWarning, match="misses at least"):
        assert EVSC(graph, mode="trace").evaluate(X)[2] < 0.999 * exact[2]
    close(EVSC(graph).evaluate(X), exact, rtol=1e-9)


def test_an_eigenvalue_near_one_may_grow():
    X = np.c_[[-1.13, -0.41, -1.09, -0.92, 0.04, -12.66, -13.02], [-10.1, -2.9, 0.0, -2.1, -1.4, -1.7, -2.8]]
    X = np.c_[X, [-0.23, -0.16, -0.08, -0.15, -0.12, 0.94, -1.21]]
    graph = RBF(bandwidth=460.0).build(X)
    values, changes = graph.spectrum(7)[0], eigenvalue_changes(graph, None)(X)
    assert values[1] > 0.999
    assert changes[1, 2] > 0


def test_an_eigenvalue_near_the_end_may_grow():
    X = np.random.default_rng(125).normal(size=(24, 2))
    changes = eigenvalue_changes(RBF(scale=0.06).build(X), None)(X)[:, 1]
    assert changes[18] > 1e-5 * np.abs(changes).sum()


@pytest.mark.parametrize("scale", [1.0, 0.1])
def test_evsc_chooses_its_mode(scale, rng):
    X = rng.normal(size=(230, 6)) @ rng.normal(size=(6, 6))
    exact = EVSC(RBF(scale=scale), mode="exact").evaluate(X)
    close(EVSC(RBF(scale=scale)).evaluate(X), exact, rtol=1e-8)
    small = X[:150]
    np.testing.assert_array_equal(EVSC().evaluate(small), EVSC(mode="exact").evaluate(small))
    np.testing.assert_array_equal(EVSC(KNN(5)).evaluate(X), EVSC(KNN(5), mode="exact").evaluate(X))
    few = EVSC(n_eigenvalues=6)
    np.testing.assert_array_equal(few.evaluate(X), EVSC(n_eigenvalues=6, mode="exact").evaluate(X))


def test_evsc_by_trace_says_when_too_few_pairs_were_used():
    X = load_digits().data[:200]
    exact, graph = EVSC(RBF(scale=0.5), mode="exact").evaluate(X), RBF(scale=0.5).build(X)
    close(EVSC(graph, mode="trace").evaluate(X), exact, rtol=1e-9)
    with pytest.warns(UserWarning, match=r"n_eigenvalues=4 misses at least 0\.\d+ of a score.*raise n_eigenvalues"):
        few = EVSC(graph, n_eigenvalues=4, mode="trace").evaluate(X)
    assert np.nanmax(np.abs(few / exact - 1)) > 1e-3
    with pytest.raises(
        ValueError, match=r"mode='trace' needs the full graph RBF\(\), but KNN\(n_neighbors=6\) is sparse"
    ):
        EVSC(KNN(6), mode="trace").evaluate(X)


# ---------------------------------------------------------------- ReliefF, Kendall


@laws
@given(seeds)
def test_relief_graph_rows_sum_to_one_before_symmetrising(seed):
    data = make("relieff", seed)
    graph = ReliefGraph(4).build(data.X, data.y)
    assert graph.toarray().sum() == pytest.approx(np.sum(data.y >= 0))
    close(graph.degree, data.y >= 0)


@laws
@given(seeds)
def test_relief_orders_unit_norm_features_as_phi1(seed):
    """[SPEC] theorem 5."""
    data = make("relieff", seed)
    X = data.X * (data.y >= 0)[:, None]
    X = X / np.linalg.norm(X, axis=0)
    relief = METHODS["relieff"](5).evaluate(X, data.y)
    close(SPEC(ReliefGraph(5), phi=1).evaluate(X, data.y), -relief / 2, rtol=1e-8)


@laws
@given(seeds)
def test_kendall_is_friedman(seed):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 4, size=(7, 6)) + 0.0
    scores[0] = np.arange(6)  # at least one row without ties
    ranks = rankdata(scores, axis=1)
    chi2 = friedmanchisquare(*scores.T).statistic
    assert kendall_coefficient(ranks) == pytest.approx(chi2 / (7 * 5), rel=RTOL)


def test_every_method_is_covered():
    assert set(METHODS) <= set(CRITERIA)
    assert all(isinstance(make(name), Data) for name in CRITERIA)


# ---------------------------------------------------------------- the same column


@pytest.mark.parametrize("kind", [np.asarray, sp.csc_array])
@pytest.mark.parametrize("memory", [64, 0.02])
@each
def test_the_same_column_gets_the_same_bits_wherever_it_stands(name, memory, kind):
    data = make(name, 5, 48, 21)
    X = np.column_stack([data.X, data.X[:, ::-1], data.X[:, 3:9]])
    origin = np.r_[np.arange(21), np.arange(21)[::-1], 3:9]
    with config_context(working_memory=memory):
        scores = CRITERIA[name].evaluate(kind(X), data.y, **data.pairs)
    assert all(len({score.tobytes() for score in scores[origin == j]}) == 1 for j in range(21))
    selector = SpectralSelector(CRITERIA[name]).fit(kind(X), data.y, **data.pairs)
    places = [selector.ranking_[origin == j] for j in range(21)]
    assert all((np.diff(ranks) > 0).all() for ranks in places)  # equal scores keep column order


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_ties_among_counts_are_the_same_dense_and_sparse(metric):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.poisson(0.6, size=(rng.integers(8, 30), rng.integers(3, 9))).astype(float)
        k = int(rng.integers(1, 6))
        dense, sparse = (KNN(k, metric=metric).build(kind(X)).toarray() for kind in (np.asarray, sp.csr_array))
        np.testing.assert_array_equal(dense != 0, sparse != 0)
        np.testing.assert_allclose(dense, sparse, rtol=1e-12)


def test_equal_cosines_go_to_the_smaller_row():
    X = np.array([[1.0, 1.0, 0.0], [2.0, 0.0, 0.0], [0.0, 3.0, 0.0], [5.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    for kind in (np.asarray, sp.csr_array):  # rows 1, 2 and 3 are at the same angle to row 0, at different lengths
        found = find_neighbors(validate_X(kind(X)), 2, "cosine")[0]
        assert sorted(found[0].tolist()) == [1, 2]
