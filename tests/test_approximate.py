"""Approximate neighbours tell how many they found, and end."""

import numpy as np
import pytest
import scipy.sparse as sp

from fiedler import KNN
from fiedler.engine.search import find_neighbors


def test_approximate_neighbours_tell_their_recall(monkeypatch):
    pytest.importorskip("faiss")
    X = np.random.default_rng(4).normal(size=(3000, 8))
    exact, _, _ = find_neighbors(X, 10, algorithm="exact")
    found, squared, recall = find_neighbors(X, 10, algorithm="approximate")
    true = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(found, exact, strict=True)])
    assert true >= 0.95
    assert recall == pytest.approx(true, abs=0.03)
    np.testing.assert_allclose(
        squared.ravel(), ((X[np.repeat(np.arange(3000), 10)] - X[found.ravel()]) ** 2).sum(axis=1)
    )
    assert not (found == np.arange(3000)[:, None]).any()
    assert f"recall={recall:.3f}" in repr(KNN(algorithm="approximate").build(X))
    monkeypatch.setattr("fiedler.engine.search._EXACT_UP_TO", 1000)
    assert KNN().build(X).recall == recall
    monkeypatch.setattr("fiedler.engine.approximate._BRUTE_FORCE", 0.0)  # the exact search is always faster
    assert KNN().build(X).recall is None
    assert KNN(algorithm="approximate").build(X).recall == recall
    assert KNN(algorithm="exact").build(X).recall is None


def test_an_approximate_search_ends_and_says_what_it_missed(monkeypatch):
    pytest.importorskip("faiss")
    X = np.random.default_rng(4).normal(size=(3000, 60))  # nearly equidistant rows
    monkeypatch.setattr("fiedler.engine.approximate._OPERATIONS", 0.05 * 3000**2 * 60)
    with pytest.warns(UserWarning, match=r"only \d\d% of the 10 nearest neighbours of 3000 rows .* Anchors\(\) needs"):
        graph = KNN(algorithm="approximate", weight="binary").build(X)
    exact = KNN(algorithm="exact", weight="binary").build(X)
    shared = (graph.toarray() * exact.toarray()).sum() / exact.toarray().sum()
    assert 0.05 < graph.recall < 0.9
    assert shared == pytest.approx(graph.recall, abs=0.1)


def test_approximate_neighbours_without_faiss_or_of_sparse_rows(monkeypatch):
    X = np.random.default_rng(5).normal(size=(50, 3))
    with pytest.raises(ImportError, match=r"needs a dense X and faiss: pip install 'fiedler\[fast\]'"):
        KNN(3, algorithm="approximate").build(sp.csr_array(X))
    monkeypatch.setattr("fiedler.engine.approximate.available", lambda: False)
    with pytest.raises(ImportError, match="faiss"):
        KNN(3, algorithm="approximate").build(X)
    monkeypatch.setattr("fiedler.engine.search._EXACT_UP_TO", 10)
    assert KNN(3).build(X).recall is None  # "auto" falls back to the exact search
    with pytest.raises(ValueError, match="algorithm must be one of 'auto', 'exact', 'approximate'"):
        KNN(3, algorithm="fast").build(X)
