"""Neighbours of rows that stay in a file: the same as in memory, or with their recall."""

import numpy as np
import pytest
from sklearn import config_context
from stored import FEW, KINDS, MANY, ONE, SPARSE, TOLERANCE, N, problem, same_scores, twin

from fiedler import KNN, LaplacianScore
from fiedler.sources import open_source


def test_large_integers_are_as_good_as_in_memory(tmp_path, rng):
    X = rng.integers(0, 2**20, size=(30, 20)) + 10**9  # squared norms beyond what float64 holds exactly
    np.save(tmp_path / "X.npy", X)
    expected = LaplacianScore(KNN(4)).evaluate(X)
    with config_context(working_memory=FEW):
        same_scores(LaplacianScore(KNN(4)).evaluate(open_source(tmp_path / "X.npy")), expected)


@pytest.mark.parametrize("kind", ["zarr by columns", "hdf5 csr", "hdf5 csc", "npy"])
@pytest.mark.parametrize("memory", [MANY, ONE])
def test_cosine_distances_with_an_empty_row(saved, kind, memory):
    data = problem("laplacian", kind)
    data.X[4] = 0.0
    recipe = KNN(5, metric="cosine")
    expected = recipe.build(twin(kind, data.X)).toarray()
    with config_context(working_memory=memory):
        found = recipe.build(KINDS[kind].open(saved(kind, data.X))).toarray()
    # All rows are equally far from the empty one, up to rounding: which of them are its neighbours is left open.
    others = np.delete(np.arange(N), 4)
    np.testing.assert_allclose(found[np.ix_(others, others)], expected[np.ix_(others, others)], rtol=TOLERANCE)


@pytest.mark.parametrize("kind", ["hdf5", "hdf5 csr"])
def test_ties_among_whole_numbers_go_to_the_smaller_row(tmp_path, rng, kind):
    X = rng.integers(0, 3, size=(40, 12)).astype(np.float64)
    X[30:] = X[:10]
    expected = KNN(6, weight="binary").build(X).toarray()
    path = KINDS[kind].save(tmp_path, X)
    with config_context(working_memory=FEW / 2):
        found = KNN(6, weight="binary").build(open_source(path)).toarray()
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("kind", ["hdf5", "hdf5 csr"])
def test_approximate_neighbours_of_long_rows_say_what_they_missed(tmp_path, rng, kind, metric):
    """1,000 columns are projected to 256; the candidates' true distances decide."""
    X = rng.normal(size=(300, 30)) @ rng.normal(size=(30, 1000)) + 0.5 * rng.normal(size=(300, 1000))
    X = np.where(X > 6, X, 0) if kind in SPARSE else X
    source = open_source(KINDS[kind].save(tmp_path, X))
    exact = KNN(5, metric=metric, weight="binary").build(twin(kind, X))
    with config_context(working_memory=1):
        graph = KNN(5, metric=metric, weight="binary", algorithm="approximate").build(source)
    found, true = graph.toarray() > 0, exact.toarray() > 0
    shared = np.count_nonzero(found & true) / np.count_nonzero(true)
    assert f"recall={graph.recall:.3g}" in repr(graph)
    assert 0.9 < graph.recall <= 1.0
    assert abs(graph.recall - shared) < 0.05


def test_approximate_neighbours_of_short_rows_are_exact_here(saved):
    data = problem("laplacian")
    exact = KNN(5).build(data.X)
    with config_context(working_memory=FEW):
        graph = KNN(5, algorithm="approximate").build(open_source(saved("hdf5", data.X)))
    assert graph.recall == 1.0
    np.testing.assert_allclose(graph.toarray(), exact.toarray(), rtol=1e-6)  # chosen on float32 rows, weighed in double
