"""Approximate neighbours tell how many they found, and end."""

import numpy as np
import pytest
import scipy.sparse as sp
from inside import turn

from fiedler import KNN
from fiedler.engine import approximate
from fiedler.engine.distances import row_distances
from fiedler.engine.neighbors import find_neighbors, nearest_rows

ALL_CORES = True  # in processes of pytest-xdist too: see conftest.py


def test_approximate_neighbours_tell_their_recall(monkeypatch):
    pytest.importorskip("numba")
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
    turn(monkeypatch, "neighbors: exact up to", 1000)
    turn(monkeypatch, "neighbors: crowd", 0.0)  # a tree is never faster,
    turn(monkeypatch, "approximate: brute force", 1.0)  # nor are products
    assert KNN().build(X).recall == recall
    turn(monkeypatch, "approximate: brute force", 0.0)  # the exact search is always faster
    assert KNN().build(X).recall is None
    assert KNN(algorithm="approximate").build(X).recall == recall
    assert KNN(algorithm="exact").build(X).recall is None


def test_an_approximate_search_ends_and_says_what_it_missed(monkeypatch):
    pytest.importorskip("numba")
    X = np.random.default_rng(4).normal(size=(3000, 60))  # nearly equidistant rows
    turn(monkeypatch, "approximate: work", 0.05 * 3000**2 * 60)
    missed = r"only \d\d% of the 10 nearest neighbours of 3000 rows .* Use Anchors\(\) or algorithm"
    with pytest.warns(UserWarning, match=missed):
        graph = KNN(algorithm="approximate", weight="binary").build(X)
    exact = KNN(algorithm="exact", weight="binary").build(X)
    shared = (graph.toarray() * exact.toarray()).sum() / exact.toarray().sum()
    assert 0.05 < graph.recall < 0.9
    assert shared == pytest.approx(graph.recall, abs=0.1)


def test_approximate_neighbours_without_numba(monkeypatch):
    X = np.random.default_rng(5).normal(size=(50, 3))
    monkeypatch.setattr("fiedler.engine.approximate.available", lambda: False)
    turn(monkeypatch, "neighbors: exact up to", 10)
    turn(monkeypatch, "neighbors: exact sparse", 10)
    turn(monkeypatch, "neighbors: products", 0.0)
    for made in (X, sp.csr_array(X)):
        with pytest.raises(ImportError, match=r"needs numba: pip install 'fiedler\[fast\]'"):
            KNN(3, algorithm="approximate").build(made)
        assert KNN(3).build(made).recall is None  # "auto" falls back to the exact search
    with pytest.raises(ValueError, match="algorithm must be one of 'auto', 'exact', 'approximate'"):
        KNN(3, algorithm="fast").build(X)


CLOUDS = {
    "clusters": lambda rng: rng.normal(size=(40, 12))[rng.integers(0, 40, 4000)] * 4 + rng.normal(size=(4000, 12)),
    "one far row": lambda rng: np.r_[rng.normal(size=(2999, 6)), [[1e4] * 6]],
    "scales": lambda rng: rng.normal(size=(3000, 4)) * [1e6, 1.0, 1e-3, 1.0],
    "two values": lambda rng: rng.integers(0, 2, size=(3000, 11)).astype(float),
}


@pytest.mark.parametrize("cloud", CLOUDS)
def test_most_neighbours_are_found_wherever_the_rows_lie(cloud, rng):
    pytest.importorskip("numba")
    X = CLOUDS[cloud](rng).astype(np.float32)
    found, _, recall = approximate.search(row_distances(X), 8)
    _, squared = nearest_rows(row_distances(X), 8)
    assert not (found == np.arange(len(X))[:, None]).any()
    assert all(len(set(row)) == 8 for row in found.tolist())
    apart = ((X[:, None].astype(float) - X[found]) ** 2).sum(axis=2)
    as_near = apart <= squared.max(axis=1)[:, None] * (1 + 1e-4)  # of several at one distance any will do
    assert as_near.mean() >= 0.97
    if cloud != "two values":
        assert recall >= 0.97


def test_fewer_rows_than_cells_hold_neighbours_enough(rng):
    pytest.importorskip("numba")
    X = rng.normal(size=(60, 3)).astype(np.float32)
    found, _, recall = approximate.search(row_distances(X), 50)
    assert all(len(set(row)) == 50 for row in found.tolist())
    assert recall > 0.9
