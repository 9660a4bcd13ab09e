"""Matrices read block by block: every kind of file gives the scores of its twin in memory, whatever the blocks."""

from contextlib import suppress

import numpy as np
import pytest
import scipy.sparse as sp
from inside import spy_on_array
from problems import CRITERIA
from sklearn import config_context
from stored import (
    FEW,
    KINDS,
    MANY,
    ONE,
    SPARSE,
    array,
    fitted,
    opened,
    problem,
    same_scores,
    twin,
    write_hdf5,
    write_sparse,
    write_zarr,
)

from fiedler import EVSC, KNN, METHODS, LaplacianScore, Rayleigh, SpectralSelector, SSelect, Variance
from fiedler.sources import as_source, open_source


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_gives_the_scores_of_its_twin(saved, kind, name):
    data = problem(name, kind)
    expected = fitted(CRITERIA[name], data, twin(kind, data.X))
    with opened(kind, saved(kind, data.X)) as X, config_context(working_memory=FEW):
        assert len(as_source(X).slabs()) > 2
        found = fitted(CRITERIA[name], data, X)
    same_scores(found.scores_, expected.scores_, name)
    np.testing.assert_array_equal(found.order_, expected.order_)
    assert np.isnan(found.scores_[7])


@pytest.mark.parametrize(("kind", "memory"), [(k, w) for k in ("hdf5", "hdf5 csc") for w in (MANY, FEW, ONE)])
@pytest.mark.parametrize("name", CRITERIA)
def test_every_criterion_with_slabs_of_any_size(saved, kind, name, memory):
    data = problem(name, kind)
    expected = fitted(CRITERIA[name], data, twin(kind, data.X))
    X = KINDS[kind].open(saved(kind, data.X))
    with config_context(working_memory=memory):
        assert (len(X.slabs()) == 1) == (memory == ONE)
        found = fitted(CRITERIA[name], data, X)
    same_scores(found.scores_, expected.scores_, name)
    np.testing.assert_array_equal(found.order_, expected.order_)


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float32, np.bool_, ">f8", ">i4"])
@pytest.mark.parametrize("kind", ["zarr in tiles", "hdf5 in chunks", "parquet", "npy", "zarr csr", "hdf5 csc"])
def test_every_dtype(saved, kind, dtype):
    if kind == "parquet" and str(dtype).startswith(">"):
        pytest.skip("Arrow knows one byte order")
    for name in ("laplacian", "relieff", "fisher", "constraint"):
        data = problem(name, kind, np.dtype(dtype))
        if kind == "parquet" and dtype != np.float32:
            data.X = data.X.astype(np.float64 if dtype == np.int64 else np.float32)
        stored = data.X.astype(dtype)
        expected = fitted(CRITERIA[name], data, twin(kind, data.X.astype(stored.dtype.newbyteorder("="))))
        with config_context(working_memory=FEW if kind in SPARSE or stored.itemsize > 1 else FEW / 5):
            found = fitted(CRITERIA[name], data, KINDS[kind].open(saved(kind, stored)))
        same_scores(found.scores_, expected.scores_)
        np.testing.assert_array_equal(found.order_, expected.order_)


def test_parquet_of_mixed_types(tmp_path, rng):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {
        "double": rng.normal(size=25),
        "single": rng.normal(size=25).astype(np.float32),
        "whole": rng.integers(-9, 9, size=25),
        "byte": rng.integers(0, 200, size=25).astype(np.uint8),
        "flag": rng.random(25) < 0.5,
        "money": pa.array([f"{value:.2f}" for value in rng.normal(size=25)]).cast(pa.decimal128(9, 2)),
    }
    table = pa.table(columns)
    pq.write_table(table, tmp_path / "mixed.parquet", row_group_size=4)
    X = np.column_stack([table.column(name).cast("float64").to_numpy() for name in columns])
    source = open_source(tmp_path / "mixed.parquet")
    assert (source.dtype, list(source.names)) == (np.float64, list(columns))
    np.testing.assert_array_equal(source[:, :], X)
    np.testing.assert_array_equal(source[3:9, 2:5], X[3:9, 2:5])
    some = open_source(tmp_path / "mixed.parquet", columns=["flag", "double"])
    np.testing.assert_array_equal(some[:, :], X[:, [4, 0]])
    with config_context(working_memory=0.001):
        same_scores(Variance().evaluate(source), Variance().evaluate(X))


@pytest.mark.parametrize("criterion", [SSelect(lam="auto"), EVSC(mode="trace", n_eigenvalues=12)], ids=repr)
def test_criteria_that_read_chosen_columns(saved, criterion):
    data = problem("sselect")
    expected = fitted(criterion, data, data.X)
    with config_context(working_memory=FEW):
        found = fitted(criterion, data, open_source(saved("hdf5", data.X)))
    same_scores(found.scores_, expected.scores_)


def test_infinite_scores_are_ordered_as_in_memory(tmp_path):
    y = np.repeat([0, 1, 2], 5)
    X = np.outer(y, [3.0, 1.0, 2.0]) + 0.0
    X = np.column_stack([X, np.random.default_rng(0).normal(size=15)])
    np.save(tmp_path / "X.npy", X)
    expected = SpectralSelector("fisher", n_features_to_select=1).fit(X, y)
    with config_context(working_memory=MANY / 4):
        found = SpectralSelector("fisher", n_features_to_select=1).fit(open_source(tmp_path / "X.npy"), y)
    assert np.isinf(found.scores_[:3]).all()
    assert found.order_.tolist() == expected.order_.tolist() == [0, 2, 1, 3]


def test_transform_reads_the_selected_columns_only(any_source):
    source, X = any_source
    with config_context(working_memory=MANY):
        selector = fitted("variance", problem("variance"), source)
        np.testing.assert_array_equal(array(selector.transform(source)), X[:, selector.support_])
        with pytest.raises(ValueError, match="41 features"):
            selector.transform(source.without_column(0))


def test_inputs_are_not_modified(tmp_path, rng):
    X = rng.normal(size=(20, 9))
    for kind in ("npy", "hdf5", "hdf5 csc"):
        (tmp_path / kind).mkdir()
        path = KINDS[kind].save(tmp_path / kind, X)
        before = path.read_bytes()
        for memory in (0.004, ONE):
            source = open_source(path)
            with config_context(working_memory=memory):
                LaplacianScore(KNN(4)).evaluate(source)
                array(source[:, [1]])[...] = 9.0
                with suppress(ValueError):  # read-only where it is a view
                    array(source[:, :2])[...] = 9.0
                np.testing.assert_array_equal(array(source[:, :]), X)
        assert path.read_bytes() == before


@pytest.mark.parametrize("chunks", [(100, 7), (20, 50), None])
def test_a_few_columns_are_not_the_whole_file(tmp_path, monkeypatch, chunks):
    """Whatever the chunks are: only what was asked for is held, and chunks of columns are read one by one."""
    h5py = pytest.importorskip("h5py")
    X = np.arange(5000.0).reshape(100, 50)
    with h5py.File(tmp_path / "X.h5", "w") as file:
        file.create_dataset("X", data=X, chunks=chunks)
    source, sizes = open_source(tmp_path / "X.h5"), []

    def spy(array):
        return type("Spy", (), {"__getitem__": lambda self, key: sizes.append(array[key].size) or array[key]})()

    spy_on_array(monkeypatch, source, spy)
    columns = np.array([49, 0, 3, 3, 24])
    np.testing.assert_array_equal(source[:, columns], X[:, columns])
    assert sum(sizes) == 400
    assert len(sizes) == (3 if chunks == (100, 7) else 1)
    assert source[:, np.zeros(0, dtype=int)].shape == (100, 0)


def test_objects_of_other_packages_are_taken_as_they_are(tmp_path, rng):
    X = rng.normal(size=(20, 6))
    h5py, zarr = pytest.importorskip("h5py"), pytest.importorskip("zarr")
    expected = Rayleigh(KNN(3)).evaluate(X)
    write_hdf5(tmp_path / "X.h5", X)
    with h5py.File(tmp_path / "X.h5") as file:
        same_scores(Rayleigh(KNN(3)).evaluate(file["X"]), expected)
    write_zarr(tmp_path / "X.zarr", X, chunks=(20, 2))
    same_scores(Rayleigh(KNN(3)).evaluate(zarr.open(str(tmp_path / "X.zarr"), mode="r")), expected)
    in_memory = zarr.create_array(zarr.storage.MemoryStore(), data=X, chunks=(5, 2))
    same_scores(Rayleigh(KNN(3)).evaluate(in_memory), expected)
    assert as_source(X) is None
    assert as_source(sp.csr_array(X)) is None


@pytest.mark.parametrize("layout", ["csr", "csc"])
def test_unsorted_and_repeated_entries_of_a_sparse_file(tmp_path, layout):
    kind = getattr(sp, f"{layout}_array")
    X = kind((np.array([1.0, 2.0, 4.0, 8.0, 3.0]), np.array([3, 0, 0, 1, 1]), np.array([0, 3, 3, 5, 5])), shape=(4, 4))
    write_sparse(tmp_path / "X.h5", X, layout)
    for memory in (0.0001, ONE):
        with config_context(working_memory=memory):
            source = open_source(tmp_path / "X.h5")
            np.testing.assert_array_equal(array(source[:, :]), X.toarray())
            np.testing.assert_array_equal(array(source[1:]), X.toarray()[1:])
            same_scores(Variance().evaluate(source), Variance().evaluate(X.toarray()))
