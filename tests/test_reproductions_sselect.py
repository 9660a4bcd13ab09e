"""[ZL]'s experiments: the findings that a few draws already show, and the shortcuts of the long run."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.papers import sselect
from benchmarks.papers.sselect import (
    kernel_cut,
    nearest_neighbor_right,
    shown_rows,
    stratified_folds,
)
from fiedler import RBF
from fiedler.evaluate import cut_value

ROBUST = [
    "figure-3-laplacian",
    "figure-3-order",
    "figure-3-more-features",
    "figure-3-slows-down",
    "beats-random",
    "table-2-laplacian",
    "table-2-average",
    "shown-labels",
    "figure-7-discrete",
    "footnote-4",
]


@pytest.fixture(scope="module")
def findings(paper_data):
    return sselect.run(quick=True, n_jobs=1).findings


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("key", ROBUST)
def test_finding(findings, key):
    holds, evidence = findings[key]
    assert holds, evidence


def count_problem(rng, most):
    """Rows of whole numbers below ``most``, two classes, five folds."""
    y = np.arange(60) % 2
    return rng.integers(most, size=(60, 3)) + y[:, None] * most // 4, y, stratified_folds(y, 5, rng)


def plain_nearest_neighbor(Z, y, folds):
    """1-NN on the other folds: the share of right classes among all rows that are nearest."""
    right = np.empty(len(y))
    for i in range(len(y)):
        others = np.flatnonzero(folds != folds[i])
        distances = [int(np.sum((Z[i] - Z[j]) ** 2)) for j in others]
        nearest = others[np.array(distances) == min(distances)]
        right[i] = np.mean(y[nearest] == y[i])
    return right


@pytest.mark.parametrize("most", [2, 4, 1000])
def test_nearest_neighbor_right_is_the_plain_loop(rng, most):
    Z, y, folds = count_problem(rng, most)
    np.testing.assert_allclose(nearest_neighbor_right(Z, y, folds), plain_nearest_neighbor(Z, y, folds), atol=1e-6)


def test_nearest_neighbor_right_is_scikit_learn_without_ties(rng):
    Z, y, folds = count_problem(rng, 1000)
    found = np.empty(len(y))
    for fold in range(5):
        model = KNeighborsClassifier(1).fit(Z[folds != fold], y[folds != fold])
        found[folds == fold] = model.predict(Z[folds == fold]) == y[folds == fold]
    np.testing.assert_array_equal(nearest_neighbor_right(Z, y, folds), found)


@pytest.mark.parametrize("most", [2, 6])
def test_kernel_cut_is_the_cut_value_of_the_full_graph(rng, most):
    Z = count_problem(rng, most)[0].astype(float)
    assert kernel_cut(Z, 2.0) == pytest.approx(cut_value(Z, RBF(bandwidth=2.0)), abs=1e-9)


def test_draws_are_balanced_and_nested():
    y = np.arange(40) % 2
    few, more = (shown_rows(y, l, np.random.default_rng(3)) for l in (2, 6))
    assert set(few) < set(more)
    np.testing.assert_array_equal(np.bincount(y[more]), [3, 3])
    folds = stratified_folds(y, 5, np.random.default_rng(3))
    np.testing.assert_array_equal([np.bincount(y[folds == f]) for f in range(5)], [[4, 4]] * 5)
