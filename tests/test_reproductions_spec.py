"""[SPEC]'s experiments: the findings that a few draws already show, and the shortcuts of the long run."""

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.papers import spec
from benchmarks.papers.spec import SUPERVISED, class_phi3, first_features, label_scores, unit_norm
from fiedler import SPEC, ClassGraph, ReliefF, ReliefGraph

ROBUST = [
    "ls-is-phi2",
    "theorem-5",
    "footnote-9",
    "fisher",
    "fourth-power-helps",
    "phi3-on-faces",
    "average-beats-ls",
    "majority-beats-ls",
    "diffusion-beats-rbf",
    "more-features",
    "random-pixels",
    "held-out",
    "pix-diffusion-unit-norm",
]


@pytest.fixture(scope="module")
def findings(paper_data):
    return spec.run(quick=True, n_jobs=1).findings


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("key", ROBUST)
def test_finding(findings, key):
    holds, evidence = findings[key]
    assert holds, evidence


def test_class_phi3_is_phi3(blobs):
    X, y = blobs
    few = np.where(np.arange(len(y)) % 4 == 0, -1, y)
    phi1, phi2, phi3 = (SPEC(ClassGraph(), phi).evaluate(X, few) for phi in (1, 2, 3))
    np.testing.assert_allclose(class_phi3(phi1, phi2), phi3, rtol=1e-9)


def test_unit_norm_on_some_rows(rng):
    X = rng.normal(size=(12, 4))
    X[:, 2] = 0.0
    rows = np.arange(12) % 3 > 0
    scaled = unit_norm(X, rows)
    np.testing.assert_allclose(np.linalg.norm(scaled[rows], axis=0), [1, 1, 0, 1])
    np.testing.assert_allclose(unit_norm(sp.csr_array(X), rows).toarray(), scaled)


def test_label_scores_are_those_of_the_named_methods(blobs):
    """The graph R is built once for four columns; hidden labels are -1."""
    X, y = blobs
    few = np.where(np.arange(len(y)) % 4 == 0, -1, y)
    scores = label_scores(X, few)
    assert tuple(scores) == SUPERVISED
    for method, criterion in {
        "RLF, as given": ReliefF(),
        "R, φ1": SPEC(ReliefGraph(), 1),
        "R, φ3": SPEC(ReliefGraph(), 3, n_clusters=3),
    }.items():
        np.testing.assert_allclose(scores[method][0], criterion.evaluate(X, few), rtol=1e-9)
        assert scores[method][1] == criterion.greater_is_better


def test_first_features_keep_column_order_where_only_rounding_differs():
    scores = np.array([0.3, 0.1 + 0.2, np.nan, 0.1, np.inf])
    np.testing.assert_array_equal(first_features(scores, False), [3, 0, 1, 4, 2])
    np.testing.assert_array_equal(first_features(scores, True), [4, 0, 1, 3, 2])
