"""Exact neighbours: whoever finds them, they are those of a plain sort by distance, then index."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from inside import turn
from plain import by_sorting, check, plain
from sklearn import config_context

from fiedler import KNN, TargetKNN
from fiedler.engine.distances import SparseDistances, row_distances
from fiedler.engine.neighbors import find_neighbors, nearest_in_groups, nearest_on_line, nearest_rows
from fiedler.engine.products import filled_block
from fiedler.engine.smallest import within_reach
from fiedler.graphs.supervised import nearest_by_target

ALL_CORES = True  # in processes of pytest-xdist too: see conftest.py


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
        check(row_distances(given_x), plain(X), k)
        with config_context(working_memory=0.01):
            check(row_distances(given_x), plain(X), k)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    st.integers(0, 10**6),
    st.integers(1, 8),
    st.sampled_from(["real", "grid", "counts", "large counts", "offset"]),
    st.sampled_from(["euclidean", "cosine"]),
)
def test_filled_blocks_find_the_neighbours_of_stored_products(seed, k, kind, metric):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((40, 30)) < 0.3, rng.integers(1, 4, size=(40, 30)).astype(float), 0.0)
    X = {
        "real": lambda: X * rng.random(X.shape),
        "grid": lambda: X * 0.1,  # ties that are not exact in binary
        "counts": lambda: X,
        "large counts": lambda: X * 1001.0,  # exact in double precision only
        "offset": lambda: X * rng.random(X.shape) + 1e4 * (X > 0),
    }[kind]()
    stored = SparseDistances(sp.csc_array(X), metric, filled=False, single=False)
    for memory in (1024, 0.01):
        with config_context(working_memory=memory):
            filled = SparseDistances(sp.csc_array(X), metric, filled=True)
            assert filled.single
            assert filled.exact == (kind == "counts" and metric == "euclidean")
            found, squared = nearest_rows(filled, k)
        expected, distances = nearest_rows(stored, k)
        np.testing.assert_array_equal(np.sort(found, axis=1), np.sort(expected, axis=1))
        np.testing.assert_allclose(np.sort(squared, axis=1), np.sort(distances, axis=1), rtol=1e-9, atol=1e-12)


def test_the_cheaper_product_of_sparse_rows_is_chosen(monkeypatch):
    few, many = (sp.csc_array(sp.random(1200, 1000, share, random_state=0)) for share in (0.01, 0.3))
    assert not SparseDistances(few).single
    assert SparseDistances(many).single
    assert not SparseDistances(many[:300]).single  # too small to matter
    made = []
    monkeypatch.setattr(
        "fiedler.engine.products.filled_block", lambda *given: made.append(given[1]) or filled_block(*given)
    )
    found, squared = nearest_rows(SparseDistances(many), 3)
    assert made
    expected, distances = nearest_rows(SparseDistances(many, filled=False), 3)
    np.testing.assert_array_equal(np.sort(found, axis=1), np.sort(expected, axis=1))
    np.testing.assert_allclose(np.sort(squared, axis=1), np.sort(distances, axis=1), rtol=1e-10)


def test_ties_go_to_the_smaller_index():
    X = np.array([[0.0], [1.0], [-1.0], [1.0], [-1.0]])
    assert sorted(nearest_rows(row_distances(X), 2)[0][0]) == [1, 2]


def test_a_duplicate_row_is_a_neighbour():
    X = np.array([[0.3, 0.1], [5.0, 5.0], [0.3, 0.1], [9.0, 1.0]])
    found, squared = nearest_rows(row_distances(X), 1)
    assert found[0, 0] == 2
    assert squared[0, 0] == 0.0


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
    D2[both] = ((y[:, None] - y) ** 2)[both] / (np.nanvar(y) or 1.0)
    for rows in (X, sp.csc_array(X)):
        found, d = nearest_by_target(row_distances(rows), y, k)
        np.testing.assert_array_equal(np.sort(found, axis=1), np.sort(by_sorting(D2, k), axis=1))
        np.testing.assert_allclose(d, np.take_along_axis(D2, found, axis=1), rtol=1e-12)


@pytest.mark.parametrize("memory", [0.01, 1024])
def test_neighbours_in_groups(memory):
    rng = np.random.default_rng(2)
    X, groups = rng.normal(size=(30, 3)), rng.permutation(np.r_[np.zeros(20), np.ones(8), [2, 2]]).astype(int)
    D2 = plain(X)
    with config_context(working_memory=memory):
        i, j, squared, group = nearest_in_groups(row_distances(X), groups, 3)
    np.testing.assert_allclose(squared, D2[i, j], rtol=1e-12)
    found = set(zip(i.tolist(), j.tolist(), group.tolist(), strict=True))
    expected = set()
    for i in range(30):
        for group in range(3):
            others = [j for j in np.flatnonzero(groups == group).tolist() if j != i]
            expected |= {(i, j, group) for j in sorted(others, key=lambda j, i=i: D2[i, j])[:3]}
    assert found == expected


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(1, 7), st.integers(2, 30))
def test_identical_rows_are_searched_once_and_found_again(seed, k, n_different):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_different, 3))[rng.integers(0, n_different, size=30)]
    with pytest.MonkeyPatch.context() as patch:
        turn(patch, "neighbors: many rows", 0)
        found, squared, recall = find_neighbors(X, k)
    assert recall is None
    D2 = plain(X)
    assert [sorted(row) for row in found.tolist()] == by_sorting(D2, k)
    np.testing.assert_allclose(squared, np.take_along_axis(D2, found, axis=1), rtol=1e-9)


@pytest.mark.parametrize("kind", ["counts", "real", "empty rows"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("k", [1, 4, 9])
def test_sparse_rows_that_share_no_column_have_the_same_neighbours_as_dense_rows(kind, metric, k):
    rng = np.random.default_rng(k)
    X = np.where(rng.random((300, 400)) < 0.01, rng.integers(1, 4, size=(300, 400)).astype(float), 0.0)
    X *= rng.random((300, 400)) if kind == "real" else 1.0
    X[::2, 0] += 1.0  # half of them share a column, the others hardly any
    X[::50] *= kind != "empty rows"
    with config_context(working_memory=0.5):
        found, squared = nearest_rows(row_distances(sp.csc_array(X), metric), k)
    expected, distances = nearest_rows(row_distances(X, metric), k)
    np.testing.assert_array_equal(np.sort(found, axis=1), np.sort(expected, axis=1))
    np.testing.assert_allclose(np.sort(squared, axis=1), np.sort(distances, axis=1), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("zeros", [False, True], ids=["gamma", "minus zero"])
def test_many_rows_with_duplicates_give_ties_to_the_smaller_index(zeros):
    """From 20,000 rows on equal rows are searched once; the edges are those of the plain search."""
    rng = np.random.default_rng(3)
    X = np.round(rng.gamma(2, 1, (20_500, 2)), 1)
    if zeros:
        X[rng.random(X.shape) < 0.3] = -0.0
        X[rng.random(X.shape) < 0.3] = 0.0
    found, _, _ = find_neighbors(X, 5)
    for row in rng.choice(len(X), 300, replace=False):
        squared = ((X - X[row]) ** 2).sum(axis=1).round(9)  # differences of tenths: what is nearer is nearer by more
        squared[row] = np.inf
        np.testing.assert_array_equal(np.sort(found[row]), np.sort(np.argsort(squared, kind="stable")[:5]))


def test_sparse_rows_that_are_mostly_copies_are_searched_once():
    X = sp.random_array((900, 4), density=0.02, random_state=np.random.default_rng(0), format="csc")
    X.data = np.round(X.data, 1)
    found, squared, _ = find_neighbors(X, 4)
    expected, apart = nearest_rows(row_distances(X), 4)
    for near, far in ((found, squared), (expected, apart)):
        order = np.argsort(near, axis=1)
        near[:], far[:] = (np.take_along_axis(part, order, axis=1) for part in (near, far))
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(squared, apart, rtol=1e-12)


@pytest.mark.parametrize("kind", ["noise", "ties", "sorted", "constant", "float32"])
@pytest.mark.parametrize(("n", "k"), [(20, 3), (161, 1), (161, 10), (500, 5), (1003, 50)])
def test_the_kth_smallest_is_that_of_a_partition(kind, n, k, rng):
    values = rng.normal(size=(37, n))
    if kind == "ties":
        values = rng.integers(0, 3, size=(37, n)).astype(float)
    if kind == "sorted":
        values.sort(axis=1)
    if kind == "constant":
        values[:] = 2.0
    if kind == "float32":
        values = values.astype(np.float32)
    values[np.arange(37) % n, np.arange(37) % n] = np.inf
    kth = np.sort(values, axis=1)[:, k - 1 : k]
    row, column = within_reach(values, np.zeros(37), np.zeros(n), k, exact=True)  # equal keys go to the smaller index
    found = np.argsort(values, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(column.reshape(37, k), np.sort(found, axis=1))
    np.testing.assert_array_equal(row, np.repeat(np.arange(37), k))
    # Keys with an error: everything that may be among the k smallest, and nothing else.
    a, b = np.full(37, 0.05), np.full(n, 0.02)
    row, column = within_reach(values, a, b, k, exact=False)
    expected = np.nonzero(
        values - b.astype(values.dtype) <= kth + values.dtype.type(0.02) + 2 * values.dtype.type(0.05)
    )
    missed = set(zip(*map(np.ndarray.tolist, expected), strict=True)) ^ set(
        zip(row.tolist(), column.tolist(), strict=True)
    )
    border = np.abs(values - kth - 0.14) < 1e-6  # rounding decides there
    assert all(border[at] for at in missed)


# ---------------------------------------------------------------- the rule for ties


@pytest.mark.parametrize("constant", [1.0, -7.3, 1000.0])
def test_neighbors_by_target_do_not_change_with_a_constant(rng, constant):
    """Targets in steps of 0.1 have many equal distances, whose last digit depends on the constant."""
    X, y = rng.normal(size=(80, 3)), np.round(rng.normal(size=80), 1)
    near, same = (TargetKNN(5).build(X, target) for target in (y, y + constant))
    np.testing.assert_array_equal(near.csr.indices, same.csr.indices)
    np.testing.assert_array_equal(near.csr.indptr, same.csr.indptr)


@pytest.mark.parametrize("n_neighbors", [5, 10])
def test_sparse_and_dense_rows_with_many_duplicates_have_the_same_neighbors(n_neighbors):
    X = np.round(np.random.default_rng(0).normal(size=(20_500, 2)), 1)
    dense, sparse = (KNN(n_neighbors, "binary").build(rows) for rows in (X, sp.csr_array(X)))
    np.testing.assert_array_equal(dense.csr.indices, sparse.csr.indices)
    np.testing.assert_array_equal(dense.csr.indptr, sparse.csr.indptr)
