"""Distances between rows: any dtype, the cosine, single precision with an exact second look."""

import numpy as np
import pytest
import scipy.sparse as sp
from plain import check, plain

from fiedler.engine.dense import AllColumns
from fiedler.engine.search import find_neighbors, nearest_rows
from fiedler.engine.streamed import row_distances


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
    monkeypatch.setattr("fiedler.engine.dense._SINGLE_PAYS", 0)
    check(row_distances(X), plain(X), 6)
    pytest.importorskip("numba")
    monkeypatch.setattr("fiedler.engine.compiled._WORTH_COMPILING", 0)
    check(row_distances(X), plain(X), 6)
    counts = rng.integers(0, 3, size=(60, 9)).astype(float)
    check(row_distances(sp.csc_array(counts)), plain(counts), 4)
    check(row_distances(sp.csc_array(X)), plain(X), 6)


@pytest.mark.parametrize("case", ["plain", "offset", "scales", "one giant", "whole numbers", "float32", "duplicates"])
def test_leaving_columns_out_changes_no_neighbour(case, rng):
    """Those of the rest alone, to the last bit of a distance where single precision was enough to find them."""
    X = rng.normal(size=(340, 10_000))
    if case == "offset":
        X += 1e8 * rng.integers(0, 2, size=X.shape[1])
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
    shared = AllColumns.of(X)
    columns = np.arange(0, X.shape[1], 10) + 5
    rest = np.delete(X, columns, axis=1)
    known = shared.without(columns, rest)
    expected, got = find_neighbors(rest, 7), find_neighbors(rest, 7, known=lambda: known)
    exact = case != "one giant"
    assert (known._double is None) == exact, "single precision is given up where it tells too little"
    for near, squared in (expected[:2], got[:2]):  # a row's neighbours come in no order
        order = np.argsort(near, axis=1)
        near[:], squared[:] = (np.take_along_axis(part, order, axis=1) for part in (near, squared))
    np.testing.assert_array_equal(got[0], expected[0])
    np.testing.assert_allclose(got[1], expected[1], rtol=0.0 if exact else 1e-14)


def test_columns_are_left_out_by_subtraction_only_where_that_pays(rng):
    assert AllColumns.of(rng.normal(size=(50, 20))) is None
    assert AllColumns.of(sp.csc_array(rng.poisson(0.1, size=(50, 20)))) is None
    shared = AllColumns.of(rng.normal(size=(340, 10_000)))
    few = np.ascontiguousarray(shared._X[:, :100])
    known = shared.without(np.arange(100, 10_000), few)
    got, expected = (np.sort(find_neighbors(few, 3, known=k)[0], axis=1) for k in (lambda: known, None))
    np.testing.assert_array_equal(got, expected)
