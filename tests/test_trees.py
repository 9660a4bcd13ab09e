"""A k-d tree finds the neighbours that the product finds: ties by the smaller index, duplicates, to the last digit."""

import numpy as np
import pytest
from inside import turn
from plain import by_sorting, plain

from fiedler import KNN
from fiedler.engine import neighbors
from fiedler.engine.blocks import different_rows
from fiedler.engine.distances import row_distances
from fiedler.engine.neighbors import Tree, find_neighbors, nearest_rows

ALL_CORES = True  # in processes of pytest-xdist too: see conftest.py

CASES = {
    "normal": lambda rng: rng.normal(size=(150, 3)),
    "one column": lambda rng: rng.normal(size=(150, 1)),
    "a grid": lambda rng: rng.integers(0, 4, size=(150, 2)).astype(float),
    "a grid of halves": lambda rng: rng.integers(0, 4, size=(150, 3)) / 2 + 0.1,
    "whole numbers": lambda rng: rng.integers(0, 3, size=(150, 4)),
    "all the same": lambda rng: np.full((40, 2), 7.3),
    "two points": lambda rng: np.repeat([[0.1, 0.2], [5.0, 5.5]], 30, axis=0),
    "a constant column": lambda rng: np.c_[rng.normal(size=(90, 2)), np.ones(90)],
    "far away": lambda rng: rng.normal(size=(120, 3)) + 1e7,
    "float32": lambda rng: rng.normal(size=(120, 3)).astype(np.float32),
    "by columns": lambda rng: np.asfortranarray(rng.normal(size=(120, 3))),
}


@pytest.fixture
def few_rows_will_do(monkeypatch):
    turn(monkeypatch, "distances: some rows", 1)


@pytest.mark.parametrize("k", [1, 6, 30])
@pytest.mark.parametrize("case", CASES)
def test_a_tree_finds_what_the_product_finds(case, k, rng, few_rows_will_do):
    X = CASES[case](rng)
    distances = row_distances(X)
    assert distances.few_columns
    near, squared = Tree(distances, k).search()
    assert near.tolist() == by_sorting(np.round(plain(X.astype(float)), 9), k)
    found, expected = nearest_rows(row_distances(X), k)
    np.testing.assert_array_equal(near, found)
    np.testing.assert_array_equal(squared, expected)


def test_as_many_neighbours_as_there_are(few_rows_will_do):
    X = np.array([[0.0], [1.0], [3.0]])
    near, squared = Tree(row_distances(X), 2).search()
    assert near.tolist() == [[1, 2], [0, 2], [0, 1]]
    assert squared.tolist() == [[1.0, 9.0], [1.0, 4.0], [9.0, 4.0]]


def test_few_columns_go_by_a_tree_and_noise_does_not(monkeypatch, rng):
    asked = []
    monkeypatch.setattr(neighbors, "Tree", lambda *given: asked.append(Tree(*given)) or asked[-1])
    searched = []
    monkeypatch.setattr(Tree, "search", lambda self: searched.append(self) or _Nothing(self))
    for X, tree in (
        (rng.normal(size=(3000, 2)), True),
        (rng.normal(size=(3000, 20)), False),
        (rng.normal(size=(3000, 2)) @ rng.normal(size=(2, 20)), True),
        (rng.normal(size=(1000, 2)), False),
        (rng.normal(size=(3000, 80)), False),
    ):
        asked.clear(), searched.clear()
        find_neighbors(X, 5)
        assert bool(searched) == tree, X.shape
    searched.clear()
    KNN(metric="cosine").build(rng.normal(size=(3000, 2)))
    assert not searched


def _Nothing(tree):
    n, k = tree.distances.n, tree.k
    return np.zeros((n, k), dtype=int), np.zeros((n, k))


@pytest.mark.parametrize("algorithm", ["auto", "exact"])
def test_the_same_graph_either_way(monkeypatch, rng, algorithm):
    X = np.round(rng.normal(size=(2500, 3)), 1)
    tree = KNN(algorithm=algorithm).build(X)
    turn(monkeypatch, "distances: few columns", 0)
    product = KNN(algorithm=algorithm).build(X)
    assert tree.recall is None
    np.testing.assert_array_equal(tree.csr.indices, product.csr.indices)
    np.testing.assert_allclose(tree.csr.data, product.csr.data, rtol=1e-12)


@pytest.mark.parametrize("dtype", [float, np.float32, int, np.uint8, bool])
def test_different_rows(dtype, rng):
    X = rng.integers(0, 3, size=(400, 4)).astype(dtype)
    first, group = different_rows(X)
    rows = [tuple(row) for row in X.tolist()]
    expected = list(dict.fromkeys(rows))
    assert [rows[i] for i in first] == expected
    assert (np.diff(first) > 0).all()
    assert [expected[g] for g in group] == rows


def test_rows_whose_hashes_collide_are_told_apart(monkeypatch, rng):
    monkeypatch.setattr("fiedler.engine.blocks.row_hashes", lambda X: np.zeros(len(X), dtype=np.int64))
    X = rng.integers(0, 2, size=(50, 3)).astype(float)
    first, group = different_rows(X)
    np.testing.assert_array_equal(X[first][group], X)
    assert len(first) == len(np.unique(X, axis=0))
