"""Exact neighbours: whoever finds them, they are those of a plain sort by distance, then index."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context

from fiedler import KNN
from fiedler.engine.distances import RowDistances
from fiedler.engine.search import find_neighbors, nearest_in_groups, nearest_on_line, nearest_rows
from fiedler.graphs.labels import TargetAwareDistances


def by_sorting(D2, k):
    """The k nearest of each row by (distance, index), self excluded, as sorted index lists."""
    n = len(D2)
    return [sorted(sorted((j for j in range(n) if j != i), key=lambda j, i=i: (D2[i, j], j))[:k]) for i in range(n)]


def plain(X):
    return ((X[:, None] - X[None]) ** 2).sum(axis=2)


def check(distances, D2, k):
    found, squared = nearest_rows(distances, k)
    assert [sorted(row) for row in found.tolist()] == by_sorting(D2, k)
    rows = np.repeat(np.arange(len(D2)), k)
    np.testing.assert_allclose(squared.ravel(), D2[rows, found.ravel()], rtol=1e-9, atol=1e-300)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(1, 8), st.sampled_from(["normal", "grid", "counts", "clusters", "offset"]))
def test_neighbours_are_those_of_a_plain_sort(seed, k, kind):
    rng = np.random.default_rng(seed)
    X = {
        "normal": lambda: rng.normal(size=(25, 4)),
        "grid": lambda: rng.integers(0, 4, size=(25, 2)) * 0.5,  # exact ties, not whole numbers
        "counts": lambda: rng.integers(0, 3, size=(25, 6)).astype(float),
        "clusters": lambda: rng.normal(size=(25, 3)) * 1e-3 + rng.integers(0, 2, size=(25, 1)) * 1e5,
        "offset": lambda: rng.normal(size=(25, 3)) + 1e8,
    }[kind]()
    for given_x in (X, sp.csc_array(X)):
        check(RowDistances(given_x), plain(X), k)
        with config_context(working_memory=0.01):
            check(RowDistances(given_x), plain(X), k)


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float32, bool])
def test_any_dtype(dtype):
    X = np.random.default_rng(0).integers(0, 200, size=(40, 5)).astype(dtype)
    check(RowDistances(X), plain(X.astype(float)), 6)


def test_ties_go_to_the_smaller_index():
    X = np.array([[0.0], [1.0], [-1.0], [1.0], [-1.0]])
    assert sorted(nearest_rows(RowDistances(X), 2)[0][0]) == [1, 2]


def test_a_duplicate_row_is_a_neighbour():
    X = np.array([[0.3, 0.1], [5.0, 5.0], [0.3, 0.1], [9.0, 1.0]])
    found, squared = nearest_rows(RowDistances(X), 1)
    assert found[0, 0] == 2
    assert squared[0, 0] == 0.0


@pytest.mark.parametrize("kind", [np.asarray, sp.csc_array])
def test_cosine(kind):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 3, size=(30, 5)).astype(float) * rng.uniform(0.5, 2, size=(30, 1))
    X[4] = X[9] = 0.0
    norms = np.linalg.norm(X, axis=1)
    cosine = X @ X.T / np.where(norms > 0, norms, 1)[:, None] / np.where(norms > 0, norms, 1)
    found, squared = nearest_rows(RowDistances(kind(X), "cosine"), 5)
    rows = np.repeat(np.arange(30), 5)
    np.testing.assert_allclose(squared.ravel() / 2, 1 - cosine[rows, found.ravel()], atol=1e-12)
    furthest = np.sort(np.where(np.eye(30, dtype=bool), np.inf, 1 - cosine), axis=1)[:, 4]
    np.testing.assert_allclose(squared.max(axis=1) / 2, furthest, atol=1e-12)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(1, 6), st.booleans())
def test_neighbours_on_a_line(seed, k, tied):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 5, size=30).astype(float) if tied else rng.normal(size=30)
    found = nearest_on_line(y, k)
    assert [sorted(row) for row in found.tolist()] == by_sorting(plain(y[:, None]), k)


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(1, 6))
def test_neighbours_by_target_where_known(seed, k):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(24, 5)), rng.normal(size=24)
    y[rng.random(24) < 0.5] = np.nan
    D2 = plain(X) / 5
    both = ~np.isnan(y[:, None] + y)
    D2[both] = ((y[:, None] - y) ** 2)[both]
    check(TargetAwareDistances(X, y), D2, k)
    check(TargetAwareDistances(sp.csc_array(X), y), D2, k)


@pytest.mark.parametrize("memory", [0.01, 1024])
def test_neighbours_in_groups(memory):
    rng = np.random.default_rng(2)
    X, groups = rng.normal(size=(30, 3)), rng.permutation(np.r_[np.zeros(20), np.ones(8), [2, 2]]).astype(int)
    D2 = plain(X)
    with config_context(working_memory=memory):
        found = set(zip(*(part.tolist() for part in nearest_in_groups(RowDistances(X), groups, 3)), strict=True))
    expected = set()
    for i in range(30):
        for group in range(3):
            others = [j for j in np.flatnonzero(groups == group).tolist() if j != i]
            expected |= {(i, j, group) for j in sorted(others, key=lambda j, i=i: D2[i, j])[:3]}
    assert found == expected


@pytest.mark.parametrize("kind", ["normal", "clusters", "outlier"])
def test_single_precision_candidates_and_compiled_distances_are_exact(kind, monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 30))
    if kind == "clusters":  # too close together for single precision: the search must notice
        X = X * 1e-4 + 100 * rng.integers(0, 2, size=(120, 1))
    if kind == "outlier":
        X[7] *= 1e5
    monkeypatch.setattr("fiedler.engine.distances._SINGLE_PAYS", 0)
    check(RowDistances(X), plain(X), 6)
    pytest.importorskip("numba")
    monkeypatch.setattr("fiedler.engine.kernels._WORTH_COMPILING", 0)
    check(RowDistances(X), plain(X), 6)
    counts = rng.integers(0, 3, size=(60, 9)).astype(float)
    check(RowDistances(sp.csc_array(counts)), plain(counts), 4)
    check(RowDistances(sp.csc_array(X)), plain(X), 6)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(1, 7), st.integers(2, 30))
def test_identical_rows_are_searched_once_and_found_again(seed, k, n_different):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_different, 3))[rng.integers(0, n_different, size=30)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fiedler.engine.search._MANY_ROWS", 0)
        found, squared, recall = find_neighbors(X, k)
    assert recall is None
    D2 = plain(X)
    assert [sorted(row) for row in found.tolist()] == by_sorting(D2, k)
    np.testing.assert_allclose(squared, np.take_along_axis(D2, found, axis=1), rtol=1e-9)


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
