"""Distances between rows: any dtype, the cosine, single precision with an exact second look."""

import numpy as np
import pytest
import scipy.sparse as sp
from plain import check, plain

from fiedler.engine.distances import RowDistances
from fiedler.engine.search import nearest_rows


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float32, bool])
def test_any_dtype(dtype):
    X = np.random.default_rng(0).integers(0, 200, size=(40, 5)).astype(dtype)
    check(RowDistances(X), plain(X.astype(float)), 6)


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
