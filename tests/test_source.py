"""A source: its columns, rows and views are those of the matrix, and never more than a slab is read."""

import numpy as np
import pytest
import scipy.sparse as sp
from inside import READING, bytes_of
from problems import CRITERIA
from sklearn import config_context
from stored import FEW, KINDS, MANY, ONE, M, N, array, fitted, problem, write_parquet, write_zarr

from fiedler.data.arrays import rows_of, take_columns
from fiedler.data.files import SparseFile
from fiedler.data.memory import slab_bytes
from fiedler.engine.blocks import fold_rows
from fiedler.sources import Source, open_source


@pytest.mark.parametrize("memory", [MANY, ONE])
def test_columns_and_rows_are_those_of_the_matrix(any_source, memory):
    source, X = any_source
    with config_context(working_memory=memory):
        for columns in ([0], [M - 1, 0, 5], [3, 3, 3], [-1, -M], X[0] > 0, slice(3, 30), slice(None)):
            np.testing.assert_array_equal(array(source[:, columns]), X[:, np.arange(M)[columns]])
        for rows in (slice(0, 1), slice(5, 20), slice(None), slice(30, 99), [3, 1, 1], X[:, 0] > 0):
            np.testing.assert_array_equal(array(source[rows]), X[np.arange(N)[rows]])
        np.testing.assert_array_equal(array(source[5:9, [2, 1]]), X[5:9][:, [2, 1]])
        np.testing.assert_array_equal(array(source[::3, 20:4:-2]), X[::3, 20:4:-2])
        np.testing.assert_array_equal(array(take_columns(source, slice(2, 4))), X[:, 2:4])


@pytest.mark.parametrize("columns", [[M], [-M - 1], np.ones(M - 1, dtype=bool), [0.5]])
def test_columns_that_do_not_exist(saved, columns):
    source = open_source(saved("hdf5", problem("variance").X))
    with pytest.raises(IndexError, match="column"):
        source[:, columns]


def test_rows_that_do_not_exist(saved):
    source = open_source(saved("hdf5", problem("variance").X))
    for rows in ([N], [-N - 1], np.ones(N + 1, dtype=bool)):
        with pytest.raises(IndexError, match="row"):
            source.take_rows(rows)


@pytest.mark.parametrize("memory", [MANY, ONE])
def test_some_rows_are_still_a_source(any_source, memory):
    source, X = any_source
    rows = np.array([30, 2, 2, 17, 0])
    mask = np.arange(N) % 3 > 0
    with config_context(working_memory=memory):
        for chosen in (rows, mask, -rows - 1):
            part = rows_of(source, chosen)
            assert isinstance(part, Source)
            assert part.shape == (len(X[chosen]), M)
            np.testing.assert_array_equal(array(part[:, 3:9]), X[chosen][:, 3:9])
            np.testing.assert_array_equal(array(part[1:3]), X[chosen][1:3])
            np.testing.assert_array_equal(array(part[:, :]), X[chosen])
        twice = source.take_rows(mask).take_rows([5, 3])
        np.testing.assert_array_equal(array(twice[:, :]), X[mask][[5, 3]])


@pytest.mark.parametrize("memory", [MANY, ONE])
def test_without_a_column(any_source, memory):
    source, X = any_source
    with config_context(working_memory=memory):
        for left_out in (0, 20, M - 1, -1):
            view, expected = source.without_column(left_out), np.delete(X, left_out, axis=1)
            assert view.shape == expected.shape
            np.testing.assert_array_equal(array(view[:, [39, 0, 20, 19]]), expected[:, [39, 0, 20, 19]])
            np.testing.assert_array_equal(array(view[4:9]), expected[4:9])
            pieces = [array(view[:, slab]) for slab in view.slabs()]
            np.testing.assert_array_equal(np.hstack(pieces), expected)
            np.testing.assert_array_equal(array(view.take_rows([4, 2])[:, 18:23]), expected[[4, 2], 18:23])


def test_names_follow_the_columns(tmp_path, rng):
    write_parquet(tmp_path / "X.parquet", rng.normal(size=(9, 4)))
    view = open_source(tmp_path / "X.parquet").without_column(1)
    assert list(view.names) == ["f0", "f2", "f3"]
    assert list(view.take_rows([0, 1]).names) == ["f0", "f2", "f3"]


@pytest.fixture
def largest(monkeypatch):
    """The bytes of the largest part read so far, by any source; compressed lines count too."""
    seen = [0]

    def spy(kind, name):
        original = getattr(kind, name)

        def read(self, *arguments):
            part = original(self, *arguments)
            arrays = [part.data, part.indices] if sp.issparse(part) else [part]
            seen.append(sum(a.nbytes for a in arrays))
            return part

        monkeypatch.setattr(kind, name, read)

    spy(Source, READING)
    spy(SparseFile, "_lines")
    return lambda: max(seen)


WIDE = ["hdf5", "hdf5 in chunks", "zarr by rows", "zarr by columns", "parquet", "npy", "hdf5 csr", "hdf5 csc"]


@pytest.mark.parametrize("name", ["laplacian", "relieff", "ssls", "evsc"])
@pytest.mark.parametrize("kind", WIDE)
def test_never_more_than_a_slab_is_read(saved, kind, name, largest):
    data = problem(name, kind)
    X = KINDS[kind].open(saved(kind, data.X))
    with config_context(working_memory=FEW):
        fitted(CRITERIA[name], data, X)
        # Up to twice a slab, where that is what a chunk takes, or where the columns of a sparse file differ.
        assert 0 < largest() <= 2 * slab_bytes() < X._bytes


@pytest.mark.parametrize("kind", ["hdf5", "parquet", "hdf5 csr", "hdf5 csc"])
def test_parts_of_rows_or_scattered_columns_are_not_read_through_the_whole(tmp_path, kind, largest, rng):
    X = rng.normal(size=(60, 60))
    source = KINDS[kind].open(KINDS[kind].save(tmp_path, X))
    with config_context(working_memory=0.02):
        source[:, [0, 59]]
        fold_rows(array, lambda a, b: a, source)
        fold_rows(array, lambda a, b: a, source.take_rows(np.arange(0, 60, 20)))
        source.take_rows([59, 0])[:, :]
        assert largest() <= 1.5 * slab_bytes() < 0.5 * bytes_of(source)


def test_a_source_is_no_array(saved):
    source = open_source(saved("hdf5", problem("variance").X))
    for convert in (np.asarray, np.array, lambda X: np.zeros(N) @ X):
        with pytest.raises(TypeError, match="read block by block"):
            convert(source)
    with pytest.raises(TypeError, match="not iterable"):
        list(source)
    assert (len(source), source.ndim, source.size, source.shape) == (N, 2, N * M, (N, M))


def test_slabs_lie_on_the_borders_of_chunks(tmp_path):
    write_zarr(tmp_path / "X.zarr", np.arange(5000.0).reshape(100, 50), chunks=(20, 7))
    source = open_source(tmp_path / "X.zarr")
    column = 100 * 8 / 2**20 * 4  # working memory, of which a slab takes a quarter, for one column
    for affordable in (1, 2, 4, 7, 13, 14, 20, 29, 50, 99):
        with config_context(working_memory=column * (affordable + 0.5)):
            slabs = source.slabs()
        width = slabs[0].stop
        assert width <= 4 * affordable
        assert width % 7 == 0 or affordable < 2 or affordable >= 50
        assert np.concatenate([np.arange(50)[s] for s in slabs]).tolist() == list(range(50))
