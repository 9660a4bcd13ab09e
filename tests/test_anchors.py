"""The anchor graph: its definition, what follows from it, and the same scores from blocks of rows."""

import pickle
from functools import partial, reduce

import numpy as np
import pytest
import reference as ref
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from inside import PLACING, anchor_points, placed, turn
from sklearn import config_context
from sklearn.utils.estimator_checks import parametrize_with_checks

from fiedler import (
    EVSC,
    KNN,
    SPEC,
    Anchors,
    Criterion,
    Energy,
    FisherScore,
    Graph,
    LaplacianScore,
    Phi,
    Precomputed,
    Ratio,
    Rayleigh,
    SpectralSelector,
    SSelect,
    Supervision,
    Variance,
)
from fiedler.criteria import Scorer, Traits
from fiedler.criteria.criterion import score_by_rows
from fiedler.data.arrays import validate_X
from fiedler.engine.kmeans import AnchorMap
from fiedler.graphs.anchors import SummedGraph, inverse_sizes, merge_sums, sum_rows
from fiedler.problem import Problem
from fiedler.sources import open_source

close = np.testing.assert_allclose
laws = settings(max_examples=10, deadline=None, derandomize=True)
seeds = st.integers(0, 2**20)
A = Anchors(20)
FORMULAS = {
    "ls": LaplacianScore(A),
    "phi1": SPEC(A, 1),
    "phi2 of r^4": SPEC(A, 2, 4),
    "phi1 of exp": SPEC(A, 1, np.expm1),
    "phi2 of a root": SPEC(A, 2, 0.5),
    "phi3": SPEC(A, 3, n_clusters=4),
    "phi3 by the gap": SPEC(A, 3),
    "phi3 beyond the rank": SPEC(A, 3, n_clusters=60),
    "energy": Energy(A),
    "ratio": Ratio(A, Anchors(30, 3)),
    "sum": LaplacianScore(A) + 0.5 * Phi(A, 2, 3),
    "product": 2 * Rayleigh(A) * Rayleigh(Anchors(25, random_state=1)),
}
each_formula = pytest.mark.parametrize("name", FORMULAS)


def make(seed=0, n=210, m=6):
    """Three overlapping clusters of different width, tie-free."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    return (rng.normal(size=(n, m)) + np.outer(y, rng.normal(size=m) * 2)) * rng.uniform(0.5, 2.0, size=m)


def of(rows, anchors):
    """The graph of some rows at given anchors."""
    Z = anchors(rows)
    return Graph.from_factors(Z, inverse_sizes(Z.sum(axis=0)), degree=np.ones(rows.shape[0]))


# ---------------------------------------------------------------- the definition


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("recipe", [Anchors(12), Anchors(9, 3, bandwidth=0.7), Anchors(40, 1), Anchors(4, 4)])
def test_graph_is_that_of_the_paper(recipe, kind, offset):
    X = make(n=40) + offset
    U = anchor_points(placed(recipe, validate_X(kind(X))))
    expected = ref.anchor_graph(X, U, recipe.n_neighbors, recipe.bandwidth)
    W = recipe.build(kind(X)).toarray()
    close(W, expected, rtol=1e-7, atol=1e-12)
    close(W.sum(axis=1), 1.0, rtol=1e-12)
    assert np.linalg.eigvalsh(W).min() > -1e-12


@laws
@given(seeds)
def test_scores_are_those_of_the_dense_graph(seed):
    X = make(seed)
    graph = Anchors().build(X)
    W = Precomputed(graph.toarray())
    close(graph.degree, graph.toarray().sum(axis=1), rtol=1e-12)
    close(LaplacianScore(graph).evaluate(X), LaplacianScore(W).evaluate(X), rtol=1e-10)
    for gamma in (1, 2, 3, 4, 2.5, np.expm1):
        close(SPEC(graph, 1, gamma).evaluate(X), SPEC(W, 1, gamma).evaluate(X), rtol=1e-9)
        close(SPEC(graph, 2, gamma).evaluate(X), SPEC(W, 2, gamma).evaluate(X), rtol=1e-9)
        close(SPEC(graph, 3, gamma, 5).evaluate(X), SPEC(W, 3, gamma, 5).evaluate(X), rtol=1e-9)
    close(SPEC(graph, 3).evaluate(X), SPEC(W, 3).evaluate(X), rtol=1e-9)


@laws
@given(seeds)
def test_phi3_beyond_the_rank_is_the_mean_over_all_bases(seed):
    X = make(seed, n=60)
    graph = Anchors(12).build(X)
    with pytest.warns(UserWarning, match="splits a repeated eigenvalue"):
        scores = np.array([SPEC(graph, 3, n_clusters=k).evaluate(X) for k in range(2, 61)])
    assert (np.diff(scores, axis=0) >= -1e-14).all()
    close(np.diff(scores[20:], axis=0), np.tile(scores[21] - scores[20], (len(scores) - 21, 1)), rtol=1e-6)
    close(scores[-1], SPEC(Precomputed(graph.toarray()), 3, n_clusters=60).evaluate(X), rtol=1e-9)


def test_separate_clusters_are_components_and_all_their_eigenvalues_are_zero():
    X = np.concatenate([make(c, n=50) + 200.0 * c for c in range(4)])
    graph = Anchors(24, 4).build(X)
    assert graph.n_components == 4
    values, vectors = graph.spectrum(6)
    np.testing.assert_array_equal(values[:4], 0.0)
    assert values[4] > 1e-3
    close(vectors[:, 0], 1 / np.sqrt(200), rtol=1e-12)
    close(vectors.T @ vectors, np.eye(6), atol=1e-12)
    tiny = SPEC(graph, 2, gamma=0.1).evaluate(X)  # a rounding error to the power 0.1 would not be small
    close(tiny, SPEC(Precomputed(graph.toarray()), 2, gamma=0.1).evaluate(X), rtol=1e-9)
    clusters = np.repeat(np.arange(4.0), 50)[:, None]
    assert graph.energy(clusters)[0] < 1e-25


# ---------------------------------------------------------------- invariances


@laws
@given(seeds)
def test_permuting_rows_and_columns(seed):
    X, rng = make(seed), np.random.default_rng(seed)
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    expected = LaplacianScore(A).evaluate(X)
    close(LaplacianScore(A).evaluate(X[:, columns]), expected[columns], rtol=1e-9)
    anchors = placed(A, X)
    close(LaplacianScore(of(X[rows], anchors)).evaluate(X[rows]), expected, rtol=1e-12)


@laws
@given(seeds)
def test_units_and_offsets_of_all_columns_together_do_not_matter(seed):
    X = make(seed)
    close(LaplacianScore(A).evaluate(1e-6 * X), LaplacianScore(A).evaluate(X), rtol=1e-8)
    far = X + 1e8  # rounds X to 1.5e-8; the scores of the rounded data are those of far - 1e8
    close(LaplacianScore(A).evaluate(far), LaplacianScore(A).evaluate(far - 1e8), rtol=1e-8)


def test_sparse_memory_order_dtype_and_blocks_do_not_matter():
    X = make(3)
    thin = np.where(np.random.default_rng(0).random(X.shape) < 0.5, 0.0, X)
    expected = LaplacianScore(A).evaluate(thin)
    for kind in (sp.csr_array, sp.csc_matrix, sp.coo_array, np.asfortranarray):
        close(LaplacianScore(A).evaluate(kind(thin)), expected, rtol=1e-10)
    with config_context(working_memory=0.02):
        close(LaplacianScore(A).evaluate(thin), expected, rtol=1e-12)
    single = X.astype(np.float32)
    close(LaplacianScore(A).evaluate(single), LaplacianScore(A).evaluate(single.astype(float)), rtol=1e-12)
    close(LaplacianScore(A).evaluate(single), LaplacianScore(A).evaluate(X), rtol=1e-5)
    counts = np.round(3 * X).astype(np.int8)
    close(LaplacianScore(A).evaluate(counts), LaplacianScore(A).evaluate(counts.astype(float)), rtol=1e-12)


def test_the_seed_decides_and_none_is_zero():
    X = make()
    scores = [LaplacianScore(Anchors(20, random_state=s)).evaluate(X) for s in (None, 0, 1)]
    np.testing.assert_array_equal(scores[0], scores[1])
    assert (scores[1] != scores[2]).all()


def test_anchors_sit_in_the_clusters():
    """k-means from sampled rows: nearer to the rows than the rows they started from."""
    X = make(n=2000)
    U = placed(A, X)._U
    assert 15 <= len(U) <= 20
    some = X[np.random.default_rng(1).choice(2000, 20, replace=False)]
    moved, sampled = (AnchorMap(anchors, 1, X[0]).nearest(X)[1].mean() for anchors in (U, some))
    assert moved < 0.8 * sampled


# ---------------------------------------------------------------- edges


def test_an_anchor_at_every_row_and_one_neighbour_leaves_no_edge():
    X = make(n=50)
    graph = Anchors(50, 1).build(X)
    np.testing.assert_array_equal(graph.toarray(), np.eye(50))
    assert (graph.n_edges, graph.n_components) == (0, 50)
    np.testing.assert_array_equal(LaplacianScore(graph).evaluate(X), 0.0)


def test_one_anchor_links_everything():
    X = make(n=50)
    graph = Anchors(1, 1).build(X)
    close(graph.toarray(), 1 / 50, rtol=1e-12)
    close(LaplacianScore(graph).evaluate(X), 1.0, rtol=1e-12)


def test_duplicate_rows_are_one_anchor_and_constants_have_no_score():
    X = np.repeat(make(n=8, m=3), 30, axis=0)
    X[:, 1] = 0.1
    anchors = Anchors(20, 2)._place(X)
    assert anchors.n_anchors == 8
    scores = LaplacianScore(Anchors(20, 2)).evaluate(X)
    np.testing.assert_array_equal(np.isnan(scores), [False, True, False])
    with pytest.warns(UserWarning, match=r"n_neighbors=5, but only 1 different rows can be anchors"):
        assert np.isnan(LaplacianScore(Anchors()).evaluate(np.ones((30, 2)))).all()


def test_far_rows_keep_weights_that_sum_to_one():
    X = np.r_[make(n=60), 1e6 * np.ones((1, 6)), -1e9 * np.ones((1, 6))]
    for recipe in (Anchors(12), Anchors(12, bandwidth=1e-3)):
        W = recipe.build(X).toarray()
        close(W.sum(axis=1), 1.0, rtol=1e-12)
        assert np.isfinite(LaplacianScore(recipe).evaluate(X)).all()


def test_values_beyond_single_precision():
    X = make(n=60)
    close(LaplacianScore(A).evaluate(1e60 * X), LaplacianScore(A).evaluate(X), rtol=1e-9)
    mixed = X * [1e-5, 1.0, 1.0, 1e5, 1.0, 1.0]  # single precision tells no two anchors apart by the small ones
    W = A.build(mixed).toarray()
    close(W, ref.anchor_graph(mixed, A._place(mixed)._U), rtol=1e-7, atol=1e-12)


def test_lattices_tie_to_the_smaller_anchor():
    X = np.array([[a, b] for a in range(4) for b in range(4)], dtype=float)
    for kind in (np.asarray, sp.csr_array):
        close(Anchors(16, 3).build(kind(X)).toarray(), ref.anchor_graph(X, X, 3), rtol=1e-12)


def test_an_outlier_gets_no_anchor_of_its_own():
    """Linked to itself alone, it would make the feature in which it lies far out look perfectly smooth."""
    X = make(n=400)
    X[0, 0] = 1e4
    recipes = [Anchors(80, random_state=seed) for seed in range(16)]
    assert min(LaplacianScore(recipe).evaluate(X)[0] for recipe in recipes) > 0.5
    assert all(60 <= placed(recipe, X).n_anchors < 80 for recipe in recipes)
    lonely = np.r_[X[1:41] * 1e-3, 1e6 * np.diag(np.arange(1.0, 7.0))]  # anchors are dropped down to n_neighbors
    assert min(Anchors(8, 6, random_state=seed)._place(lonely).n_anchors for seed in range(16)) == 6


def test_the_default_number_grows_with_the_root_of_the_rows():
    numbers = {n: Anchors()._number(n) for n in (2, 9, 30, 100, 400, 10_000, 62_500, 10**9)}
    assert numbers == {2: 2, 9: 9, 30: 10, 100: 25, 400: 80, 10_000: 400, 62_500: 1000, 10**9: 1000}
    assert Anchors(n_neighbors=12)._number(30) == 12


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        (Anchors(0), "n_anchors must be an integer of at least 1, got 0"),
        (Anchors(2.5), "n_anchors must be an integer"),
        (Anchors(60), "n_anchors=60 is more than the 40 rows of X; use n_anchors=None"),
        (Anchors(3), r"n_anchors=3 is fewer than n_neighbors=5.*raise n_anchors or lower n_neighbors"),
        (Anchors(n_neighbors=0), "n_neighbors must be an integer of at least 1, got 0"),
        (Anchors(bandwidth=-1.0), r"bandwidth must be a positive number, got -1.0; use None to choose it"),
        (Anchors(random_state=-1), "random_state must be an integer of at least 0, got -1"),
        (Anchors(random_state=np.random.RandomState(0)), "random_state must be an integer"),
    ],
)
def test_wrong_parameters(recipe, message):
    with pytest.raises(ValueError, match=message):
        recipe.build(make(n=40))


def test_evsc_needs_weights_of_another_form():
    with pytest.raises(ValueError, match=r"Sensitivity needs RBF weights, but Anchors\(\) has none"):
        EVSC(Anchors()).evaluate(make(n=40))


def test_a_row_of_its_own_as_anchor_when_sparse_columns_are_very_many(monkeypatch):
    rng = np.random.default_rng(0)
    X = sp.csr_array(np.where(rng.random((80, 50)) < 0.1, rng.random((80, 50)), 0.0))
    expected = LaplacianScore(Anchors(15, random_state=2)).evaluate(X)
    turn(monkeypatch, "kmeans: dense values", 100)
    anchors = Anchors(15, random_state=2)._place(validate_X(X))
    assert sp.issparse(anchors._U)
    U = anchors._U.toarray()
    assert all((X.toarray() == u).all(axis=1).any() for u in U)
    close(Anchors(15, random_state=2).build(X).toarray(), ref.anchor_graph(X.toarray(), U), rtol=1e-9, atol=1e-15)
    assert np.isfinite(LaplacianScore(Anchors(15, random_state=2)).evaluate(X)).all()
    assert (LaplacianScore(Anchors(15, random_state=2)).evaluate(X) != expected).any()


def test_few_long_rows_are_shortened_first(monkeypatch):
    X = make(n=40, m=300)
    X[7] = X[3]
    expected = LaplacianScore(A).evaluate(X)
    turn(monkeypatch, "anchors: values of long rows", 1000)
    close(LaplacianScore(A).evaluate(X), expected, rtol=1e-9)
    close(LaplacianScore(A).evaluate(X + 1e8), LaplacianScore(A).evaluate(X + 1e8 - 1e8), rtol=1e-7)
    assert by_rows(LaplacianScore(A), X) is None
    with pytest.warns(UserWarning, match="can be anchors"):
        assert np.isnan(LaplacianScore(Anchors()).evaluate(np.ones((30, 200)))).all()


# ---------------------------------------------------------------- by rows


def by_rows(criterion, X, known=None):
    """The scores from one pass over blocks of rows, or None where that is not enough."""
    problem, resolved = Problem(validate_X(X), known), criterion.resolved()
    return score_by_rows(resolved.formula, problem) if resolved.fits_one_pass(problem) else None


def summed(X, recipe, n_blocks):
    """The graph of sums over blocks of rows."""
    anchors = placed(recipe, validate_X(X))
    X = sp.csr_array(X) if sp.issparse(X) else X
    blocks = [X[part] for part in np.array_split(np.arange(X.shape[0]), n_blocks)]
    sums = reduce(merge_sums, map(partial(sum_rows, anchors), blocks))
    return SummedGraph(sums, anchors.origin)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("n_blocks", [1, 2, 7, 60])
def test_sums_over_blocks_of_rows_equal_the_graph(n_blocks, offset, kind):
    X = make(5)
    X = kind(np.where(X > 0, X, 0.0) + offset)
    graph, sums, F = A.build(X), summed(X, A, n_blocks), slice(None)
    columns = sp.csc_array(X) if sp.issparse(X) else X
    close(sums.energy(F), graph.energy(columns), rtol=1e-10)
    for ours, theirs in zip(sums.moments(F), graph.moments(columns), strict=True):
        close(ours, theirs, rtol=1e-10)
    close(sums.within_and_between(F)[1], graph.within_and_between(columns)[1], atol=1e-9)
    close(sums.small.values, graph.small.values, atol=1e-12)
    assert sums.n_components == graph.n_components


@each_formula
@pytest.mark.filterwarnings("ignore:n_clusters=60 splits")
@pytest.mark.parametrize("kind", [np.asarray, sp.csc_array])
@pytest.mark.parametrize("memory", [64, 0.02, 0.0095])  # MiB, at which there are two blocks, some, many
def test_scores_by_rows_equal_scores_by_columns(name, kind, memory):
    X = make(6)
    X[:, 2], X[:, 4] = -0.1, X[:, 4] + 1e8
    X = kind(X)
    expected = FORMULAS[name].evaluate(X)
    with config_context(working_memory=memory):
        scores = by_rows(FORMULAS[name], X)
    if scores is None:
        assert name in ("ratio", "product", "sum")
        assert memory < 1
        return
    close(scores, expected, rtol=1e-10)
    np.testing.assert_array_equal(np.isnan(scores), np.arange(6) == 2)


def test_scores_by_rows_of_a_file(tmp_path):
    X = make(7, n=840)
    np.save(tmp_path / "X.npy", X.astype(np.float32))
    with config_context(working_memory=0.01):
        source = open_source(tmp_path / "X.npy")
        assert len(source.row_slabs()) > 1
        for criterion in (LaplacianScore(A), SPEC(A, 3, n_clusters=3)):
            expected = criterion.evaluate(X.astype(np.float32))
            close(by_rows(criterion, source), expected, rtol=1e-10)
            close(criterion.evaluate(source), expected, rtol=1e-10)


def test_phi3_by_rows_reads_the_number_of_classes():
    X = make(8)
    y = np.arange(len(X)) % 4
    scores = by_rows(SPEC(A, 3), X, Supervision(len(X), y))
    close(scores, SPEC(A, 3).evaluate(X, y), rtol=1e-10)
    assert not np.allclose(scores, by_rows(SPEC(A, 3), X))


@pytest.mark.parametrize(
    "criterion",
    [
        LaplacianScore(),
        LaplacianScore(A) * LaplacianScore(KNN()),
        Ratio(A, KNN()),
        SSelect(A),
        Variance(),
        FisherScore(),
        EVSC(),
    ],
)
def test_by_rows_says_what_it_cannot_do(criterion):
    X = make()
    assert by_rows(criterion, X, Supervision(len(X), np.arange(len(X)) % 2)) is None


def test_a_formula_that_reads_single_rows_needs_them():
    assert by_rows(SSelect(A), make()) is None


def test_by_rows_gives_up_where_the_sums_do_not_fit():
    with config_context(working_memory=0.001):
        assert by_rows(LaplacianScore(A), make()) is None


def test_what_travels_to_workers_can_be_pickled():
    X = make()
    work = pickle.loads(pickle.dumps(partial(sum_rows, placed(A, X))))
    one, other = (pickle.loads(pickle.dumps(work(part))) for part in (X[:90], X[90:]))
    close(merge_sums(one, other).within, A.build(X).energy(X), rtol=1e-12)


def test_criteria_over_one_recipe_place_the_anchors_once(monkeypatch):
    asked, place = [], getattr(Anchors, PLACING)
    monkeypatch.setattr(Anchors, PLACING, lambda self, X: asked.append(self) or place(self, X))
    by_rows(LaplacianScore(A) + SPEC(A) + Rayleigh(Anchors(20, n_neighbors=3)), make())
    assert [recipe.n_neighbors for recipe in asked] == [5, 3]


class Spread(Criterion):
    """A primitive of one's own: mass over energy, large is good."""

    def __init__(self, graph):
        self.graph = graph

    traits = Traits(greater_is_better=True, one_pass=True)

    def scorer(self, problem):
        graph = problem.graph(self.graph)
        return Scorer(graph.rows, lambda F, columns: graph.mass(F) / graph.energy(F))


class Tallest(Spread):
    """One that looks at the values themselves."""

    traits = Traits(greater_is_better=True)

    def scorer(self, problem):
        graph = problem.graph(self.graph)
        return Scorer(graph.rows, lambda F, columns: F.max(axis=0) / graph.energy(F))


def test_a_primitive_of_ones_own_takes_the_path_that_it_declares():
    X = make()
    close(by_rows(2.0 * Spread(A), X), 2.0 / LaplacianScore(A).evaluate(X), rtol=1e-10)
    assert by_rows(Tallest(A), X) is None
    assert by_rows(Spread(A) + Tallest(A), X) is None
    assert np.isfinite(Tallest(A).evaluate(X)).all()


# ---------------------------------------------------------------- scikit-learn


@pytest.mark.filterwarnings("ignore")  # the checks use tiny data on purpose; none of them expects silence
@parametrize_with_checks([SpectralSelector(LaplacianScore(Anchors()))])
def test_scikit_learns_estimator_checks(estimator, check):
    check(estimator)
