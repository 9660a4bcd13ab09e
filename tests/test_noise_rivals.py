"""The rivals of the page on noise do what their papers say: gradients, regressions, and columns that they find."""

import numpy as np
import pytest
from scipy.stats import norm

from benchmarks.noise.__main__ import joined
from benchmarks.noise.contenders import FREE
from benchmarks.noise.planted import REAL, STRUCTURES, planted
from benchmarks.noise.rivals import gate_gradient, gated, llcfs, llcfs_weights, mutual_neighbours, standard


def test_the_gradient_of_the_gates_is_that_of_the_loss(rng):
    X, mu, noise = standard(rng.normal(size=(15, 6))), rng.uniform(0.2, 0.8, 6), 0.1 * rng.normal(size=6)
    loss, gradient = gate_gradient(X, mu, noise, h=3.0)
    moved = [[gate_gradient(X, mu + sign * 1e-6 * e, noise, h=3.0)[0] for sign in (1, -1)] for e in np.eye(6)]
    np.testing.assert_allclose(gradient, [(up - down) / 2e-6 for up, down in moved], rtol=1e-6)
    K = np.array([[np.exp(-np.sum(((mu + noise) * (a - b)) ** 2) / 3.0) for b in X] for a in X])
    P, gated_X = K / K.sum(axis=1)[:, None], X * (mu + noise)
    assert loss == pytest.approx(-np.trace(gated_X.T @ P @ P @ gated_X) / (15 * norm.cdf(mu / 0.5).sum()))


def test_closed_gates_have_no_gradient_of_their_own(rng):
    X = standard(rng.normal(size=(15, 4)))
    _, gradient = gate_gradient(X, np.array([0.5, -2.0, 3.0, 0.5]), np.zeros(4))
    assert gradient[1] == pytest.approx(0.0, abs=1e-3)  # only the number of open gates is left
    assert gradient[2] > 0


def test_mutual_neighbours(rng):
    X = rng.normal(size=(20, 3))
    D = ((X[:, None] - X) ** 2).sum(axis=2)
    np.fill_diagonal(D, np.inf)
    near = [set(np.argsort(row)[:4].tolist()) for row in D]
    for i, found in enumerate(mutual_neighbours(X @ X.T, 4)):
        assert set(found.tolist()) == {j for j in near[i] if i in near[j]}


def test_weights_of_columns_sum_to_one_and_leave_noise_behind():
    X = standard(planted(STRUCTURES["clusters"], 4, 1.0, "rivals", 0))
    tau = llcfs_weights(X)
    assert tau.sum() == pytest.approx(1.0)
    assert (tau >= 0).all()
    assert np.median(tau[:REAL]) > 3 * np.median(tau[REAL:])


@pytest.mark.parametrize("method", [llcfs, gated])
def test_columns_with_a_structure_come_first(method):
    X = planted(STRUCTURES["moons"], 4, 1.0, "rivals", 1)
    found = method(X, REAL)
    assert len(set(found.tolist())) == REAL
    assert np.mean(found < REAL) >= 0.7
    np.testing.assert_array_equal(method(X, REAL), found)


def test_new_methods_join_the_tables():
    by_rows = joined([["method", "a"], ["LS", ".5"], ["CUR", ".1"]], (["method", "a"], [["LLCFS", ".3"], ["LS", ".6"]]))
    assert by_rows == (["method", "a"], [["CUR", ".1"], ["LLCFS", ".3"], ["LS", ".6"]])
    old = [["structure", "noise", "CUR", "LS", "recall", "precision"], ["moons", "4", ".2", ".9", "1", "1"]]
    names, rows = joined(
        old, (["structure", "noise", "LLCFS", "recall", "precision"], [["moons", "4", ".8", "1", "1"]])
    )
    assert names == ["structure", "noise", "CUR", "LLCFS", "LS", "recall", "precision"]
    assert rows == [["moons", "4", ".2", ".8", ".9", "1", "1"]]
    assert list(FREE)[:2] == ["variance", "EVSC"]
