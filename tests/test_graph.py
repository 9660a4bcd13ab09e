"""The graph's storages agree, and its iterative solvers agree with the dense ones."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import fiedler.graphs.factored
import fiedler.graphs.filters
import fiedler.graphs.spectrum
from fiedler import KNN, SPEC, CannotLink, ClassGraph, Graph, MustLink, Precomputed


@pytest.fixture
def two_clusters(rng):
    return np.r_[rng.normal(size=(40, 4)), rng.normal(size=(25, 4)) + 50]


@pytest.mark.parametrize("k", [2, 3, 6])
def test_lanczos_finds_what_the_dense_solver_finds(two_clusters, monkeypatch, k):
    graph = KNN(5).build(two_clusters)
    assert graph.n_components == 2
    values, vectors = graph.spectrum(k)
    monkeypatch.setattr(fiedler.graphs.spectrum, "_DENSE_EIGEN", 10)
    iterative, basis = KNN(5).build(two_clusters).spectrum(k)
    np.testing.assert_allclose(iterative, values, atol=1e-10)
    np.testing.assert_allclose(np.abs(vectors.T @ basis), np.eye(k), atol=1e-7)


def test_lanczos_on_a_factored_graph(monkeypatch, rng):
    y = rng.integers(0, 4, size=80)
    X = rng.normal(size=(80, 3))
    monkeypatch.setattr(fiedler.graphs.spectrum, "_DENSE_EIGEN", 10)
    np.testing.assert_allclose(ClassGraph().build(X, y).spectrum(4)[0], 0, atol=1e-12)
    dense = Graph.from_weights(CannotLink().build(X, y).toarray())
    np.testing.assert_allclose(CannotLink().build(X, y).spectrum(3)[0], dense.spectrum(3)[0], atol=1e-9)


def test_many_components_lose_no_zero_eigenvalue(rng):
    X = np.concatenate([rng.normal(size=(6, 2)) + 100 * c for c in range(12)])
    values, vectors = KNN(3).build(X).spectrum(14)
    assert np.sum(np.abs(values) < 1e-10) == 12
    assert values[12] > 1e-3
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(14), atol=1e-12)


@pytest.mark.parametrize("gamma", [np.expm1, lambda v: v / (1 + v), 4])
@pytest.mark.parametrize("phi", [1, 2])
def test_chebyshev_agrees_with_eigenpairs(two_clusters, monkeypatch, gamma, phi):
    graph = KNN(5).build(two_clusters)
    expected = SPEC(graph, phi, gamma).evaluate(two_clusters)
    by_eigenpairs = SPEC(graph, phi, lambda v: v**4 if gamma == 4 else gamma(v)).evaluate(two_clusters)
    np.testing.assert_allclose(by_eigenpairs, expected, rtol=1e-9)
    monkeypatch.setattr(fiedler.graphs.filters, "_ALL_PAIRS", 10)
    np.testing.assert_allclose(SPEC(graph, phi, gamma).evaluate(two_clusters), expected, rtol=1e-9)


def test_a_gamma_too_rough_for_chebyshev_says_so(two_clusters, monkeypatch):
    monkeypatch.setattr(fiedler.graphs.filters, "_ALL_PAIRS", 10)
    with pytest.raises(ValueError, match="gamma is not smooth enough"):
        SPEC(KNN(5), gamma=np.sqrt).evaluate(two_clusters)


@pytest.mark.parametrize("recipe", [ClassGraph(), MustLink(), CannotLink()])
def test_factored_graphs_equal_their_dense_twins(recipe, rng):
    X, y = rng.normal(size=(30, 4)), rng.integers(-1, 3, size=30)
    graph = recipe.build(X, y)
    assert graph.storage == "factored"
    for twin in (Graph.from_weights(graph.toarray()), Graph.from_weights(sp.csr_array(graph.toarray()))):
        np.testing.assert_allclose(graph.degree, twin.degree, atol=1e-12)
        np.testing.assert_allclose(graph.energy(X), twin.energy(X), rtol=1e-12)
        np.testing.assert_allclose(graph.spectrum()[0], twin.spectrum()[0], atol=1e-12)
        assert graph.n_edges == twin.n_edges
        assert graph.n_isolated == twin.n_isolated
        np.testing.assert_array_equal(graph.components, twin.components)


def overlapping(rng, n=40, r=9, per_row=3, isolated=4):
    """Rows in up to ``per_row`` groups with different weights, the last rows in none, one group empty."""
    Z = rng.random((n, r)) * (rng.random((n, r)).argsort(axis=1) < rng.integers(1, per_row + 1, size=(n, 1)))
    Z[n - isolated :], Z[:, 4] = 0.0, 0.0
    return Z


@pytest.mark.parametrize("kind", ["diagonal", "full", "loops"])
def test_overlapping_groups_equal_their_dense_twin(kind, rng, monkeypatch):
    Z, X = overlapping(rng), rng.normal(size=(40, 4)) + np.array([0, 1e8, -5, 2])
    core, loops = rng.uniform(0.5, 2.0, size=9), np.where(Z.any(axis=1), 0.3, 0.0) if kind == "loops" else None
    if kind == "full":
        core = np.diag(core) + np.diag(core[1:], 1) + np.diag(core[1:], -1)
    graph = Graph.from_factors(Z, core, loops)
    W = Z @ (np.diag(core) if core.ndim == 1 else core) @ Z.T + np.diag(np.zeros(40) if loops is None else loops)
    np.testing.assert_allclose(graph.toarray(), W, atol=1e-14)
    twin = Graph.from_weights(sp.csr_array(W))
    for F in (X, sp.csc_array(X), sp.csc_array(np.where(X > 1, X, 0))):
        np.testing.assert_allclose(graph.energy(F), twin.energy(F), rtol=1e-9)
        np.testing.assert_allclose(graph.mass(F), twin.mass(F), rtol=1e-9)
    for k in (2, 5, 20, None):
        values, vectors = graph.spectrum(k)
        np.testing.assert_allclose(values, twin.spectrum(k)[0], atol=1e-12)
        np.testing.assert_allclose(graph.normalized_laplacian_dot(vectors), vectors * values, atol=1e-9)
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(values)), atol=1e-9)
    np.testing.assert_array_equal(graph.components, twin.components)
    assert (graph.n_isolated, graph.n_edges) == (twin.n_isolated, twin.n_edges)
    monkeypatch.setattr(fiedler.graphs.factored, "_SORTING", 0.0)  # count them by sets of groups
    assert Graph.from_factors(Z, core, loops).n_edges == twin.n_edges
    for ours, theirs in zip(graph.edges, twin.edges, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


@pytest.mark.parametrize("per_row", [1, 3])
def test_compiled_groups_agree_with_the_plain_path(per_row, rng, monkeypatch):
    pytest.importorskip("numba")
    Z, X = overlapping(rng, per_row=per_row), rng.normal(size=(40, 4)) + np.array([0, 1e8, -5, 2])
    plain = Graph.from_factors(Z, rng.uniform(0.5, 2.0, size=9))
    monkeypatch.setattr("fiedler.engine.kernels._WORTH_COMPILING", 0)
    fast = plain.for_columns(4)
    assert (plain.weights.compiled, fast.weights.compiled) == (False, True)
    for F in (X, np.asfortranarray(X), sp.csc_array(X)):
        np.testing.assert_allclose(fast.energy(F), plain.energy(F), rtol=1e-12)
        for ours, theirs in zip(fast.within_and_between(F), plain.within_and_between(F), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


def test_within_and_between_add_up_to_the_mass(rng):
    graph, X = Graph.from_factors(overlapping(rng), rng.uniform(0.5, 2.0, size=9)), rng.normal(size=(40, 4))
    for F in (X, sp.csc_array(np.where(X > 0, X, 0))):
        within, between = graph.within_and_between(F)
        np.testing.assert_allclose(within, graph.energy(F), rtol=1e-12)
        np.testing.assert_allclose(within + (between**2).sum(axis=0), graph.mass(F), rtol=1e-12)


def test_pairs_that_share_groups_are_counted_not_listed(rng):
    """A quarter of a billion edges, which as a matrix would be gigabytes."""
    n = 50_000
    Z = sp.csr_array((np.ones(2 * n), np.tile([0, 1], n), np.arange(0, 2 * n + 1, 2)), shape=(n, 3))
    graph = Graph.from_factors(Z, np.ones(3))
    assert graph.n_edges == n * (n - 1) // 2
    assert "n_components=1" in repr(graph)


def test_tiny_energies_keep_their_digits():
    """A feature that is nearly constant in two nearly separate groups: the product form alone has no digit left."""
    W = np.full((20, 20), 1e-14)
    W[:10, :10] = W[10:, 10:] = 1.0
    f = np.r_[np.zeros(10), np.ones(10)][:, None]
    expected = 100 * 1e-14
    assert Graph.from_weights(W).energy(f + 1e6)[0] == pytest.approx(expected, rel=1e-9)


def test_a_feature_constant_in_every_class_has_no_energy_at_all():
    y = np.repeat([0, 1, 2], [3, 7, 4])
    assert ClassGraph().build(np.ones((14, 1)), y).energy(np.array([0.1, 0.7, 1e8 / 3])[y][:, None])[0] == 0.0


def test_repr_tells_nodes_edges_components_isolates(rng):
    text = repr(KNN(3).build(np.r_[rng.normal(size=(10, 2)), rng.normal(size=(10, 2)) + 90]))
    for part in ("n_nodes=20", "n_edges=", "n_components=2", "n_isolated=0", "storage='csr'", "bandwidth="):
        assert part in text


def test_a_graph_survives_pickling_and_given_weights_are_not_frozen(rng):
    X, W = rng.normal(size=(15, 3)), np.ones((15, 15))
    graph = Precomputed(W).build(X)
    W[0, 0] = 1.0  # still writeable
    again = pickle.loads(pickle.dumps(graph))
    np.testing.assert_array_equal(again.energy(X), graph.energy(X))


def test_a_graph_named_twice_is_built_once(rng, monkeypatch):
    built = []
    original = KNN._build
    monkeypatch.setattr(KNN, "_build", lambda self, problem: built.append(self) or original(self, problem))
    from fiedler import SSelect

    X, y = rng.normal(size=(30, 4)), np.arange(30) % 2
    (SSelect() + SSelect(KNN(10), lam=0.5) + SSelect(KNN(4))).evaluate(X, y)
    assert [recipe.n_neighbors for recipe in built] == [10, 4]


@pytest.mark.parametrize("recipe", [KNN(5), KNN(3, "binary"), KNN(1)])
def test_compiled_kernels_agree_with_the_plain_path(recipe, rng, monkeypatch):
    pytest.importorskip("numba")
    X = rng.normal(size=(60, 7)) + np.array([0, 1e8, -3, 1e3, 0, 0, 5])
    X[:, 6] = np.where(rng.random(60) < 0.7, 0.0, X[:, 6])
    plain = recipe.build(X)
    monkeypatch.setattr("fiedler.engine.kernels._WORTH_COMPILING", 0)
    fast = plain.for_columns(7)
    assert (plain.weights.compiled, fast.weights.compiled) == (False, True)
    for F in (X, np.asfortranarray(X), sp.csc_array(X)):
        np.testing.assert_allclose(fast.energy(F), plain.energy(F), rtol=1e-12)
        for ours, theirs in zip(fast.moments(F), plain.moments(F), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    np.testing.assert_allclose(fast.centred_rows(X, np.array([3, 9])), plain.centre(X)[[3, 9]], atol=1e-9)
    assert pickle.loads(pickle.dumps(fast)).n_edges == plain.n_edges


def test_explicit_zeros_in_sparse_columns(rng, monkeypatch):
    pytest.importorskip("numba")
    X = rng.normal(size=(20, 3))
    F = sp.csc_array(X)
    F.data[::4] = 0.0
    graph = KNN(3).build(X)
    monkeypatch.setattr("fiedler.engine.kernels._WORTH_COMPILING", 0)
    np.testing.assert_allclose(graph.for_columns(3).energy(F), graph.energy(F.toarray()), rtol=1e-12)


def test_spectrum_where_lanczos_does_not_converge(monkeypatch):
    """Weights over a hundred orders of magnitude crowd the eigenvalues at 0: LAPACK takes over, or it is an error."""
    n = 600
    weights = 10.0 ** -np.random.default_rng(0).uniform(0, 100, n - 1)
    graph = Graph.from_edges(np.arange(n - 1), np.arange(1, n), weights, n, bandwidth=0.5)
    monkeypatch.setattr("fiedler.graphs.spectrum._RESTARTS", 2)
    values, vectors = graph.spectrum(4)
    assert np.allclose(vectors.T @ vectors, np.eye(4), atol=1e-8)
    assert np.abs(graph.normalized_laplacian_dot(vectors) - values * vectors).max() < 1e-8
    monkeypatch.setattr("fiedler.graphs.spectrum._DENSE_EIGEN_AT_MOST", 500)
    with pytest.raises(ValueError, match=r"bandwidth above 0\.5"):
        graph.spectrum(4)
