"""The storages of a graph agree with their dense twins and keep every digit."""

import numpy as np
import pytest
import scipy.sparse as sp
from inside import turn

from fiedler import KNN, CannotLink, ClassGraph, Graph, MustLink


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
    for ours, theirs in zip(graph.edges, twin.edges, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_within_and_between_add_up_to_the_mass(rng):
    graph, X = Graph.from_factors(overlapping(rng), rng.uniform(0.5, 2.0, size=9)), rng.normal(size=(40, 4))
    for F in (X, sp.csc_array(np.where(X > 0, X, 0))):
        within, between = graph.within_and_between(F)
        np.testing.assert_allclose(within, graph.energy(F), rtol=1e-12)
        np.testing.assert_allclose(within + (between**2).sum(axis=0), graph.mass(F), rtol=1e-12)


def test_edges_through_groups_are_counted_block_by_block_and_not_by_the_repr(monkeypatch):
    """As a matrix the edges of many rows would be gigabytes; the repr of many rows states the groups."""
    turn(monkeypatch, "graph: pairs at once", 2**20)  # of 2**24: three blocks as well
    n = 1_500
    Z = sp.csr_array((np.ones(2 * n), np.tile([0, 1], n), np.arange(0, 2 * n + 1, 2)), shape=(n, 3))
    graph = Graph.from_factors(Z, np.ones(3))
    assert "n_groups=3, n_components=1" in repr(graph)
    assert graph.n_edges == n * (n - 1) // 2


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


def test_explicit_zeros_in_sparse_columns(rng, monkeypatch):
    pytest.importorskip("numba")
    X = rng.normal(size=(20, 3))
    F = sp.csc_array(X)
    F.data[::4] = 0.0
    graph = KNN(3).build(X)
    turn(monkeypatch, "compiled: worth compiling", 0)
    np.testing.assert_allclose(graph.for_columns(3).energy(F), graph.energy(F.toarray()), rtol=1e-12)
