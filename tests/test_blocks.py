"""Blocks of columns are mapped without copies where that pays; blocks of rows are folded in order."""

import numpy as np
import pytest
import scipy.sparse as sp
from inside import turn
from sklearn import config_context
from stored import MANY, ONE, array, problem

from fiedler import EVSC, KNN, SPEC, FisherScore, LaplacianScore, ReliefF, SSelect
from fiedler.engine.blocks import fold_rows, is_constant, read_block
from fiedler.engine.threads import for_each
from fiedler.sources import open_source

ALL_CORES = True  # in processes of pytest-xdist too: see conftest.py


@pytest.mark.parametrize("kind", ["zarr by rows", "hdf5", "parquet", "hdf5 csr", "hdf5 csc", "npy"])
@pytest.mark.parametrize("memory", [MANY, ONE])
def test_folding_rows(saved, kind, memory):
    X = problem("variance", kind).X
    source = open_source(saved(kind, X))
    with config_context(working_memory=memory):
        for matrix, expected in ((source, X), (source.take_rows([7, 3, 3]), X[[7, 3, 3]])):
            rows = fold_rows(lambda part: [array(part)], lambda a, b: a + b, matrix)
            np.testing.assert_array_equal(np.vstack(rows), expected)
            assert all(part.dtype == np.float64 for part in rows)


@pytest.fixture
def tall(rng):
    X = rng.normal(size=(40, 9)) * 10.0 ** rng.integers(-3, 4, size=9)
    X[:, 4], X[:, 6] = 3.0, np.where(np.arange(40) == 39, 1.0, 0.0)
    X[:, 8] = X[:, 1]
    return X


@pytest.mark.filterwarnings("ignore::fiedler.errors.ScaleWarning")
@pytest.mark.parametrize("compiled", [False, True])
def test_many_rows_are_read_where_they_are(tall, compiled, monkeypatch):
    """Neither the order in memory nor who copies changes a digit, and nobody writes into X."""
    if compiled:
        pytest.importorskip("numba")
        turn(monkeypatch, "compiled: worth compiling", 0)
    graph, y = KNN(4).build(tall), np.arange(40) % 3
    methods = [LaplacianScore(graph), SPEC(graph, phi=3), SSelect(graph), FisherScore(), ReliefF(3), EVSC(graph)]
    expected = [method.evaluate(tall, y) for method in methods]
    turn(monkeypatch, "blocks: many rows", 10)
    turn(monkeypatch, "blocks: copied", 80)
    assert not read_block(tall, slice(2, 5)).flags.owndata
    assert not read_block(tall, slice(2, 5)).flags.writeable
    assert read_block(np.asfortranarray(tall), slice(2, 5)).flags.owndata
    kept = tall.copy()
    for method, scores in zip(methods, expected, strict=True):
        for X in (tall, np.asfortranarray(tall), tall[::-1][::-1]):
            np.testing.assert_allclose(method.evaluate(X, y), scores, rtol=1e-13, err_msg=repr(method))
    np.testing.assert_array_equal(tall, kept)


def test_columns_that_are_constant_on_some_rows(tall):
    everywhere, some = np.ones(40, dtype=bool), np.arange(40) < 39
    for F in (tall, np.asfortranarray(tall), sp.csc_array(tall)):
        assert np.flatnonzero(is_constant(F, everywhere)).tolist() == [4]
        assert np.flatnonzero(is_constant(F, some)).tolist() == [4, 6]
        assert is_constant(F, ~everywhere).all()
    stored_zeros = sp.csc_array(np.ones((3, 2)))
    stored_zeros.data[:3] = 0.0
    assert is_constant(stored_zeros, np.ones(3, dtype=bool)).tolist() == [True, True]
    stored_zeros.data[5] = 2.0
    assert is_constant(stored_zeros, np.ones(3, dtype=bool)).tolist() == [True, False]


def test_the_first_error_ends_the_work():
    begun = []

    def work(item):
        begun.append(item)
        if item == 3:
            raise ValueError("three")

    with pytest.raises(ValueError, match="three"):
        for_each(work, range(1000), np.inf)
    assert len(begun) < 1000
