"""The cut value of a selection, and what a graph that falls apart is worth."""

import numpy as np
import pytest
import scipy.sparse as sp
from plain import plain_cut

from fiedler import (
    KNN,
    RBF,
    SSelect,
)
from fiedler.evaluate import cut_value, tune, tune_lambda


def test_cut_value(blobs):
    X, _ = blobs
    assert cut_value(X) == pytest.approx(plain_cut(X)[0], rel=1e-9)
    assert cut_value(sp.csr_array(X), KNN(4, "binary")) == pytest.approx(plain_cut(X, 4)[0], rel=1e-9)
    apart = np.concatenate([X, X + 1000])
    assert cut_value(apart) == 0.0
    assert plain_cut(apart)[1] == 2
    alone = np.vstack([X, X[:1] + 1000])
    with pytest.warns(UserWarning, match="underflow"):
        assert cut_value(alone, KNN(5, bandwidth=2.0)) == 0.0, "a row cut off is a graph that falls apart"


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array, sp.csc_array])
def test_counts_are_cut_by_presence(rng, store):
    """[ZL] Algorithm 3 on text: the graph on few patterns has the second eigenvalue of the graph on all rows."""
    X = rng.poisson(0.4, size=(70, 6)) * rng.integers(1, 5, size=(70, 6))
    full = cut_value((X > 0).astype(float), RBF(2.0))
    assert cut_value(store(X)) == pytest.approx(full, rel=1e-9)
    assert cut_value(store(X.astype(float))) == pytest.approx(full, rel=1e-9)
    assert cut_value(store(X + 0.5)) != pytest.approx(full)
    assert cut_value(store(X + 1.0), KNN(4, "binary")) == pytest.approx(plain_cut(X, 4)[0], rel=1e-9)
    assert cut_value(store(np.eye(8)[[0] * 70])) == 1.0, "one pattern: the complete graph with its diagonal"


def test_the_graph_of_the_cut_is_not_that_of_the_score(rng):
    X, y = rng.poisson(0.4, size=(60, 12)).astype(float), np.where(np.arange(60) % 6 == 0, np.arange(60) >= 30, -1)
    by_default, by_graph = tune_lambda(X, y, [0.1, 0.9], 4), tune_lambda(X, y, [0.1, 0.9], 4, cut_graph=RBF(3.0))
    for result, wanted in ((by_default, None), (by_graph, RBF(3.0))):
        tops = [np.argsort(SSelect(lam=lam).evaluate(X, y), kind="stable")[:4] for lam in (0.1, 0.9)]
        np.testing.assert_allclose(result.table["cut"], [cut_value(X[:, top], wanted) for top in tops], rtol=1e-12)


def test_a_graph_that_falls_apart_is_not_the_best(rng):
    # Column 0 splits the rows into two far groups, which the graph likes; column 1 is one piece and has the labels.
    row = np.arange(60)
    X = np.column_stack([50.0 * (row % 2), row / 60]) + rng.uniform(size=(60, 2)) * [1, 0.01]
    y = np.where(row % 7 == 0, row >= 30, -1)
    result = tune_lambda(X, y, [0.0, 1.0], n_features=1)
    assert result.table["n_components"].tolist() == [1, 2]
    assert result.table["smaller_side"].tolist()[1] == 30
    assert result.table["cut"][1] == 0 < result.table["cut"][0]
    assert result.best_params == {"lam": 0.0}
    with pytest.warns(UserWarning, match="is disconnected for every choice .2 to 2 components"):
        assert tune_lambda(X, y, [0.9, 1.0], n_features=1).best_params == {"lam": 0.9}


def test_a_connected_graph_with_vanishing_weights_is_not_called_disconnected(rng):
    X = np.concatenate([rng.normal(size=(20, 3)), rng.normal(size=(20, 3)) + 8.0])
    y = np.where(np.arange(40) % 5 == 0, np.arange(40) >= 20, -1)
    with pytest.warns(UserWarning, match=r"graph=RBF\(bandwidth=1.0\) .* is connected, but .* vanish") as told:
        result = tune(SSelect(), {"lam": [0.1, 0.5]}, X, y, n_features=2, graph=RBF(1.0))
    assert result.table["n_components"].tolist() == [1, 1]
    assert result.best_params == {"lam": 0.1}
    assert "disconnected" not in str(told[0].message)
