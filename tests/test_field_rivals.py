"""The rivals of the page on the field do what their papers say."""

import numpy as np
import pytest

from benchmarks.field import rivals
from benchmarks.field.judges import judged, standardised
from benchmarks.field.selectors import DRAWS, SELECTORS, at_random
from benchmarks.noise.planted import REAL, STRUCTURES, planted


@pytest.fixture
def C(rng):
    X = rng.normal(size=(40, 12)) + np.outer(np.repeat([0.0, 3.0], 20), rng.normal(size=12))
    return X - X.mean(axis=0)


def test_udfs_falls_and_keeps_its_constraint(C, monkeypatch):
    scatter = rivals.local_scatter(C)
    np.testing.assert_allclose(scatter, scatter.T, atol=1e-12)
    assert np.linalg.eigvalsh(scatter).min() > -1e-12
    np.testing.assert_allclose(scatter @ np.ones(40), 0.0, atol=1e-12)  # neighbourhoods are centred
    values = []
    for turns in (1, 2, 4, 20):
        monkeypatch.setattr(rivals, "_TURNS", turns)
        W = rivals.udfs_weights(C, scatter)
        np.testing.assert_allclose(W.T @ W, np.eye(5), atol=1e-10)
        values.append(rivals.udfs_objective(C, scatter, W))
    assert (np.diff(values) <= 1e-9).all()
    assert values[-1] < values[0]


def test_ndfs_solves_its_regression(C, monkeypatch):
    """W = (X'X + βD)⁻¹X'F for the F and the D of its turn; the first turn has D = I."""
    clusters = np.repeat([0, 1, 2, 3, 4], 8)
    monkeypatch.setattr(rivals, "_TURNS", 1)
    W = rivals.ndfs_weights(C, np.eye(40), clusters)
    F = np.eye(5)[clusters] + 0.2
    F /= np.linalg.norm(F, axis=0)
    np.testing.assert_allclose(W, np.linalg.solve(C.T @ C + np.eye(12), C.T @ F), atol=1e-10)


@pytest.mark.parametrize("name", ["PFA", "UDFS", "NDFS", "mcfs", "random"])
def test_a_selector_returns_different_columns_best_first(name):
    X = planted(STRUCTURES["clusters"], 1, 1.0, "field", 0)
    found = SELECTORS[name](X, REAL, 0)
    assert len(set(found.tolist())) == len(found) == REAL
    np.testing.assert_array_equal(SELECTORS[name](X, REAL, 0), found)


def test_random_features_differ_from_draw_to_draw(C):
    assert DRAWS["random"] == 10
    assert at_random(C, 5, 0).tolist() != at_random(C, 5, 1).tolist()


def test_judges(rng):
    y = np.repeat([0, 1], 20)
    apart = np.where(y, 10.0, 0.0)[:, None] + rng.normal(size=(40, 2))
    assert judged(apart, y) == pytest.approx([1.0, 1.0, 1.0])
    noise = judged(rng.normal(size=(40, 2)), y)
    assert all(0.0 <= value < 0.8 for value in noise)
    np.testing.assert_allclose(standardised(apart * [1.0, 1e6]), standardised(apart), atol=1e-12)
    assert not standardised(np.ones((5, 1))).any()
