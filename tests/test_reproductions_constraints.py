"""The constraint scores' experiments, in their quick variant, and the fast 1-NN behind them."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

constraints = pytest.importorskip("benchmarks.papers.constraints", reason="the benchmarks are not installed")
from benchmarks.papers.constraints import Split, nearest_accuracy  # noqa: E402

# One finding is about columns of different units, which the paper leaves as they are.
pytestmark = pytest.mark.filterwarnings("ignore::fiedler.errors.ScaleWarning")
ROBUST = [
    "toy-cells",
    "toy-kendall",
    "toy-third-feature",
    "kendall-wine",
    "between-segment210",
    "between-ORL",
    "fisher-colon",
    "random",
    "count-colon_alon",
    "kendall-factor",
    "kendall-colon",
    "kendall-width",
    "c2-scale",
]


@pytest.fixture(scope="module")
def findings(paper_data):
    return constraints.run(quick=True, n_jobs=1).findings


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("key", ROBUST)
def test_finding_holds(findings, key):
    holds, evidence = findings[key]
    assert holds, evidence


def test_nearest_accuracy_is_that_of_one_nearest_neighbour(rng):
    X, y, order = rng.normal(size=(60, 9)), rng.integers(3, size=60), rng.permutation(9)
    split = Split(X[:35], y[:35], X[35:], y[35:], graph=None)
    sizes = [1, 4, 9]
    plain = [
        KNeighborsClassifier(1).fit(X[:35][:, order[:k]], y[:35]).score(X[35:][:, order[:k]], y[35:]) for k in sizes
    ]
    np.testing.assert_allclose(nearest_accuracy(split, order, sizes), plain, atol=1e-12)


def test_nearest_accuracy_shares_ties_and_ignores_the_order_of_rows():
    X, y = np.array([[0.0, 1.0], [0.0, 2.0], [1.0, 0.0]]), np.array([0, 1, 1])
    accuracies = []
    for rows in ([0, 1, 2], [2, 1, 0]):
        split = Split(X[rows], y[rows], np.array([[0.2, 1.1]]), np.array([0]), graph=None)
        accuracies.append(nearest_accuracy(split, np.array([0, 1]), [1, 2]).tolist())
    assert accuracies == [[0.5, 1.0], [0.5, 1.0]]  # one feature leaves a tie of two classes, the second decides
