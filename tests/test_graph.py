"""The graph as a value: what it tells, that it travels, and that nothing given to it is frozen."""

import pickle

import numpy as np

from fiedler import KNN, Precomputed


def test_repr_tells_nodes_edges_components_isolates(rng):
    text = repr(KNN(3).build(np.r_[rng.normal(size=(10, 2)), rng.normal(size=(10, 2)) + 90]))
    for part in ("n_nodes=20", "n_edges=", "n_components=2", "n_isolated=0", "storage='csr'", "bandwidth="):
        assert part in text


def test_a_graph_survives_pickling_and_given_weights_are_not_frozen(rng):
    X, W = rng.normal(size=(15, 3)), np.ones((15, 15))
    graph = Precomputed(W).build(X)
    W[0, 0] = 1.0  # still writeable
    again = pickle.loads(pickle.dumps(graph))
    np.testing.assert_array_equal(again.energy(X), graph.energy(X))
