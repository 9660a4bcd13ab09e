"""The experiments of [DV]: what comes out even of a few draws, and the helpers against plain versions."""

import math

import numpy as np
import pytest
from scipy.interpolate import BSpline

from fiedler import SemiTarget

ssls = pytest.importorskip("benchmarks.papers.ssls", reason="the benchmarks are not installed")

ROBUST = [
    "artificial-SLS",
    "artificial-advantage",
    "juice-ssls-beats-ls",
    "juice-ssls-beats-sls",
    "census-ranking-beats-random",
    "census-ls-worst",
    "census-ssls-beats-ls",
    "census-sls-beats-ssls",
]


@pytest.fixture(scope="module")
def findings(paper_data):
    return ssls.run(quick=True, n_jobs=1).findings


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("key", ROBUST)
def test_finding_comes_out(findings, key):
    holds, evidence = findings[key]
    assert holds, evidence


def test_printed_graph_is_equation_1(rng):
    Z = rng.normal(size=(20, 3))
    W = np.zeros((20, 20))
    for i in range(20):
        distances = [math.dist(Z[i], Z[j]) for j in range(20)]
        for j in np.argsort(distances)[1:5]:
            W[i, j] = W[j, i] = math.exp(-distances[j])
    np.testing.assert_allclose(ssls.printed_graph(Z, 4).build(Z).toarray(), W, rtol=1e-12)


def test_splines_are_the_least_squares_fit(rng):
    X = rng.normal(size=(4, 60)).cumsum(axis=1)
    found = ssls.spline_coordinates(X, n_coordinates=12)
    knots = np.concatenate([np.zeros(3), np.linspace(0, 1, 10), np.ones(3)])
    basis = BSpline.design_matrix(np.linspace(0, 1, 60), knots, 3).toarray()
    np.testing.assert_allclose(found, np.linalg.lstsq(basis, X.T, rcond=None)[0].T, rtol=1e-9)


def test_a_graph_without_labels_is_that_of_ssls_before_it_sees_an_output(rng):
    """Two outputs far apart, of rows that are no neighbours: eq. 8 then measures features alone."""
    Z = rng.normal(size=(60, 6))
    W = ssls.without_labels(Z)[ssls.NO_LABELS].graph.build(Z).toarray()
    y = np.full(60, np.nan)
    y[np.argwhere(np.triu(W == 0, 1))[0]] = 0.0, 100.0
    np.testing.assert_allclose(W, SemiTarget(30).build(Z, y).toarray(), rtol=1e-12)


def test_labels_are_standardised_among_themselves():
    y = ssls.standardised_labels(np.array([1.0, 2.0, 4.0, 7.0]), np.array([0, 3]))
    np.testing.assert_array_equal(y, [-1.0, np.nan, np.nan, 1.0])


def test_likeness_of_copies_is_one(rng):
    f = rng.normal(size=30)
    Z = np.column_stack([f, -2 * f, rng.normal(size=30)])
    assert ssls.likeness(Z, np.array([0, 1])) == pytest.approx(1.0)
    pairs = [abs(np.corrcoef(Z[:, i], Z[:, j])[0, 1]) for i, j in ((0, 1), (0, 2), (1, 2))]
    assert ssls.likeness(Z, np.arange(3)) == pytest.approx(np.mean(pairs))
