"""Distances between rows: any dtype, the cosine, single precision with an exact second look."""

import numpy as np
import pytest
import scipy.sparse as sp
from inside import gave_up_single_precision, reads_filled_blocks, turn
from plain import check, plain
from sklearn import config_context

from fiedler.engine import products
from fiedler.engine.compiled import kernels, load
from fiedler.engine.distances import SparseDistances, row_distances, without_folds
from fiedler.engine.neighbors import find_neighbors, nearest_rows
from fiedler.engine.products import squares_by_group

ALL_CORES = True  # in processes of pytest-xdist too: see conftest.py


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float32, bool])
def test_any_dtype(dtype):
    X = np.random.default_rng(0).integers(0, 200, size=(40, 5)).astype(dtype)
    check(row_distances(X), plain(X.astype(float)), 6)


@pytest.mark.parametrize("kind", [np.asarray, sp.csc_array])
def test_cosine(kind):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 3, size=(30, 5)).astype(float) * rng.uniform(0.5, 2, size=(30, 1))
    X[4] = X[9] = 0.0
    norms = np.linalg.norm(X, axis=1)
    cosine = X @ X.T / np.where(norms > 0, norms, 1)[:, None] / np.where(norms > 0, norms, 1)
    found, squared = nearest_rows(row_distances(kind(X), "cosine"), 5)
    rows = np.repeat(np.arange(30), 5)
    np.testing.assert_allclose(squared.ravel() / 2, 1 - cosine[rows, found.ravel()], atol=1e-12)
    furthest = np.sort(np.where(np.eye(30, dtype=bool), np.inf, 1 - cosine), axis=1)[:, 4]
    np.testing.assert_allclose(squared.max(axis=1) / 2, furthest, atol=1e-12)


@pytest.mark.parametrize("kind", ["normal", "clusters", "outlier"])
def test_single_precision_candidates_and_compiled_distances_are_exact(kind, monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 30))
    if kind == "clusters":  # too close together for single precision: the search must notice
        X = X * 1e-4 + 100 * rng.integers(0, 2, size=(120, 1))
    if kind == "outlier":
        X[7] *= 1e5
    monkeypatch.setattr("fiedler.engine.distances.SINGLE_PAYS", 0)
    check(row_distances(X), plain(X), 6)
    pytest.importorskip("numba")
    turn(monkeypatch, "compiled: worth compiling", 0)
    check(row_distances(X), plain(X), 6)
    counts = rng.integers(0, 3, size=(60, 9)).astype(float)
    check(row_distances(sp.csc_array(counts)), plain(counts), 4)
    check(row_distances(sp.csc_array(X)), plain(X), 6)


DENSE_CASES = ["plain", "offset", "one offset", "scales", "one giant", "whole numbers", "float32", "duplicates"]


@pytest.mark.parametrize("case", DENSE_CASES)
def test_leaving_columns_out_changes_no_neighbour(case, rng):
    """Those of the rest alone, to the last bit of a distance where single precision was enough to find them."""
    X = rng.normal(size=(340, 10_000))
    if case == "offset":
        X += 1e8 * rng.integers(0, 2, size=X.shape[1])
    if case == "one offset":  # all columns are centred because of it, but it is not in the rest
        X[:, 5] += 300.0
    if case == "scales":
        X *= 10.0 ** rng.integers(-6, 7, size=X.shape[1])
    if case == "one giant":
        X[:, 5] *= 1e9
    if case == "whole numbers":
        X = rng.integers(0, 3, size=X.shape).astype(float)
    if case == "float32":
        X = X.astype(np.float32)
    if case == "duplicates":
        X[170:] = X[:170]
    every = row_distances(X)
    columns = np.arange(0, X.shape[1], 10) + 5
    rest = np.delete(X, columns, axis=1)
    known = without_folds(every, [columns, np.setdiff1d(np.arange(X.shape[1]), columns)])(0, rest)
    expected, got = find_neighbors(rest, 7), find_neighbors(rest, 7, known=lambda: known)
    exact = case != "one giant"
    assert gave_up_single_precision(known) != exact, "single precision is given up where it tells too little"
    for near, squared in (expected[:2], got[:2]):  # a row's neighbours come in no order
        order = np.argsort(near, axis=1)
        near[:], squared[:] = (np.take_along_axis(part, order, axis=1) for part in (near, squared))
    np.testing.assert_array_equal(got[0], expected[0])
    np.testing.assert_allclose(got[1], expected[1], rtol=0.0 if exact else 1e-14)


def test_columns_are_left_out_by_subtraction_only_where_that_pays(rng):
    halves = [np.arange(10), np.arange(10, 20)]
    assert without_folds(row_distances(rng.normal(size=(50, 20))), halves) is None
    assert without_folds(row_distances(sp.csc_array(rng.poisson(0.1, size=(50, 20)))), halves) is None
    X = rng.normal(size=(340, 10_000))
    few = np.ascontiguousarray(X[:, :100])
    known = without_folds(row_distances(X), [np.arange(100), np.arange(100, 10_000)])(1, few)
    got, expected = (np.sort(find_neighbors(few, 3, known=k)[0], axis=1) for k in (lambda: known, None))
    np.testing.assert_array_equal(got, expected)


SPARSE_CASES = ["counts", "values", "many ties", "duplicates", "large counts", "few columns left"]


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("case", SPARSE_CASES)
def test_sparse_columns_left_out_give_the_same_neighbours(case, compiled, rng, monkeypatch):
    """Filled blocks in single precision, and stored products, both by subtraction."""
    if not compiled:
        monkeypatch.setattr(products, "kernels", lambda _: None)
    dense = rng.poisson(0.3, size=(340, 9000)).astype(float)
    if case == "values":
        dense = np.log1p(dense * rng.uniform(0.5, 2.0, size=(340, 1)))
    if case == "many ties":
        dense = np.minimum(dense, 1.0)
        dense[:, 40:] = 0.0
    if case == "duplicates":
        dense[250:] = dense[:90]
    if case == "large counts":
        dense *= 1000.0
    X = sp.csc_array(dense)
    folds = [np.arange(start, 9000, 7) for start in range(7)]
    if case == "few columns left":
        folds = [np.arange(30), np.arange(30, 9000)]
    every = SparseDistances(X, filled=case != "counts")
    assert reads_filled_blocks(every) == (case != "counts")
    without = without_folds(every, folds)
    for number in (0, len(folds) - 1, 0):  # a fold that is asked for again finds its sums
        rest = X[:, np.setdiff1d(np.arange(9000), folds[number])]
        known = without(number, rest)
        (near, squared), (true_near, true_squared) = map(in_order, (known, SparseDistances(rest)))
        np.testing.assert_array_equal(near, true_near)
        np.testing.assert_allclose(squared, true_squared, rtol=1e-12)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("stored", [(0.01,), (0.5,), (0.01, 0.5)])
def test_columns_with_few_stored_values_are_not_filled_in(stored, compiled, rng, monkeypatch):
    if not compiled:
        monkeypatch.setattr(products, "kernels", lambda _: None)
    filled, block = [], products.filled_block
    monkeypatch.setattr(products, "filled_block", lambda X, *rest: filled.append(X.shape[1]) or block(X, *rest))
    share = rng.permutation(np.repeat(stored, 3000))
    X = sp.csc_array(rng.normal(size=(700, len(share))) * (rng.random((700, len(share))) < share))
    got = products.single_gram(X)
    assert set(filled) == ({3000} if 0.5 in stored else set())
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got, got.T)
    np.testing.assert_allclose(got, (X @ X.T).toarray(), rtol=0, atol=2e-6 * got.max())


def in_order(distances, k=7):
    """Neighbours by index, with their squared distances."""
    near, squared = nearest_rows(distances, k)
    order = np.argsort(near, axis=1)
    return np.take_along_axis(near, order, axis=1), np.take_along_axis(squared, order, axis=1)


def test_sparse_columns_are_shared_only_where_all_pairs_are_visited(rng):
    X = sp.random_array(
        (300, 5000), density=0.0005, format="csc", random_state=rng
    )  # hardly any two rows share a column
    halves = [np.arange(2500), np.arange(2500, 5000)]
    assert without_folds(row_distances(X), halves) is None
    X = sp.csc_array(rng.poisson(0.3, size=(340, 9000)))
    assert without_folds(row_distances(X), [np.arange(9000)]) is not None
    with config_context(working_memory=1):
        X = sp.csc_array(rng.poisson(0.3, size=(1000, 1200)))
        assert without_folds(row_distances(X), [np.arange(1200)]) is None


def test_squares_by_group_are_those_of_the_definition(rng):
    X = sp.csr_array(rng.poisson(0.5, size=(80, 3000)) * rng.normal(size=(80, 3000)))
    i, j, group = rng.integers(80, size=2000), rng.integers(80, size=2000), rng.integers(4, size=3000)
    difference = (X.toarray()[i] - X.toarray()[j]) ** 2
    expected = np.column_stack([difference[:, group == g].sum(axis=1) for g in range(4)])
    assert kernels(4.0 * len(i) * X.nnz / 80) is load()
    np.testing.assert_allclose(squares_by_group(X, i, j, group, 4), expected, rtol=1e-12)
    np.testing.assert_allclose(squares_by_group(X, i[:20], j[:20], group, 4), expected[:20], rtol=1e-12)  # plain
    np.testing.assert_allclose(squares_by_group(X, i, j)[:, 0], expected.sum(axis=1), rtol=1e-12)
    assert squares_by_group(X, i[:0], j[:0], group, 4).shape == (0, 4)
