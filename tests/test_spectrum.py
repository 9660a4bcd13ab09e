"""Eigenpairs: the iterative solver finds what the dense one finds, and loses no repeated eigenvalue."""

import numpy as np
import pytest
from inside import turn

from fiedler import KNN, CannotLink, ClassGraph, Graph


@pytest.mark.parametrize("k", [2, 3, 6])
def test_lanczos_finds_what_the_dense_solver_finds(two_clusters, monkeypatch, k):
    graph = KNN(5).build(two_clusters)
    assert graph.n_components == 2
    values, vectors = graph.spectrum(k)
    turn(monkeypatch, "spectrum: dense eigen", 10)
    iterative, basis = KNN(5).build(two_clusters).spectrum(k)
    np.testing.assert_allclose(iterative, values, atol=1e-10)
    np.testing.assert_allclose(np.abs(vectors.T @ basis), np.eye(k), atol=1e-7)


def test_lanczos_on_a_factored_graph(monkeypatch, rng):
    y = rng.integers(0, 4, size=80)
    X = rng.normal(size=(80, 3))
    turn(monkeypatch, "spectrum: dense eigen", 10)
    np.testing.assert_allclose(ClassGraph().build(X, y).spectrum(4)[0], 0, atol=1e-12)
    dense = Graph.from_weights(CannotLink().build(X, y).toarray())
    np.testing.assert_allclose(CannotLink().build(X, y).spectrum(3)[0], dense.spectrum(3)[0], atol=1e-9)


def test_many_components_lose_no_zero_eigenvalue(rng):
    X = np.concatenate([rng.normal(size=(6, 2)) + 100 * c for c in range(12)])
    values, vectors = KNN(3).build(X).spectrum(14)
    assert np.sum(np.abs(values) < 1e-10) == 12
    assert values[12] > 1e-3
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(14), atol=1e-12)


def test_spectrum_where_lanczos_does_not_converge(monkeypatch):
    """Weights over a hundred orders of magnitude crowd the eigenvalues at 0: LAPACK takes over, or it is an error."""
    n = 600
    weights = 10.0 ** -np.random.default_rng(0).uniform(0, 100, n - 1)
    graph = Graph.from_edges(np.arange(n - 1), np.arange(1, n), weights, n, bandwidth=0.5)
    turn(monkeypatch, "spectrum: restarts", 2)
    values, vectors = graph.spectrum(4)
    assert np.allclose(vectors.T @ vectors, np.eye(4), atol=1e-8)
    assert np.abs(graph.normalized_laplacian_dot(vectors) - values * vectors).max() < 1e-8
    turn(monkeypatch, "spectrum: dense eigen at most", 500)
    with pytest.raises(ValueError, match=r"bandwidth above 0\.5"):
        graph.spectrum(4)
