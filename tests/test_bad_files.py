"""Files that cannot be read block by block: one clear error each, which names the file and the place."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from inside import turn
from sklearn import config_context
from stored import KINDS, write_hdf5, write_parquet, write_sparse, write_zarr

from fiedler import KNN, LaplacianScore, SpectralSelector, Variance
from fiedler.sources import as_source, open_source

SMALL = 0.004  # MiB of working memory: slabs of a few of the 40 columns below


@pytest.fixture
def X(rng):
    return rng.normal(size=(30, 40))


def fails(message, source, error=ValueError):
    """Scoring a source raises one error, whose text is one line and holds the message."""
    with config_context(working_memory=SMALL), pytest.raises(error, match=message) as caught:
        LaplacianScore(KNN(3)).evaluate(source)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def refused(message, path, error=ValueError, **options):
    """Opening a file raises one error, whose text is one line and holds the message."""
    with pytest.raises(error, match=message) as caught:
        open_source(path, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# ---------------------------------------------------------------- values


@pytest.mark.parametrize("kind", ["zarr by rows", "zarr in tiles", "hdf5", "npy", "zarr csc", "hdf5 csr", "hdf5 csc"])
@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "inf")])
def test_a_value_that_is_not_finite_is_named_by_its_column(tmp_path, X, kind, value, word):
    X[[4, 9], 33] = value
    path = KINDS[kind].save(tmp_path, X)
    text = fails(rf"contains {word} in column 33 \(2 rows\); impute or drop it first", open_source(path))
    assert text.startswith(str(path))


def test_a_named_column_is_named(tmp_path, X):
    X[4, 33] = np.nan
    X[5, 34] = np.inf
    write_parquet(tmp_path / "X.parquet", X)
    source = open_source(tmp_path / "X.parquet")
    fails(r"contains NaN in column 'f33' \(1 rows\)", source)
    fails(r"contains NaN in column 'f33' \(1 rows\)", source.without_column(12))
    fails(r"contains NaN in column 'f33' \(1 rows\)", source.take_rows(np.arange(10)))
    with pytest.raises(ValueError, match=r"'f33' .* and 1 other column near it"):
        Variance().evaluate(source)


def test_missing_cells_of_parquet_are_nan(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"a": [1.0, 2.0, 3.0], "b": [1, None, 3]}), tmp_path / "X.parquet")
    with pytest.raises(ValueError, match=r"NaN in column 'b' \(1 rows\)"):
        Variance().evaluate(open_source(tmp_path / "X.parquet"))


@pytest.mark.parametrize("kind", ["hdf5", "hdf5 csc"])
def test_a_sum_that_overflows_is_no_missing_value(tmp_path, kind):
    X = np.full((4, 3), 1e308)
    X[0] = [1.0, 2.0, 3.0]
    source = open_source(KINDS[kind].save(tmp_path, X))
    np.testing.assert_array_equal(source[:, :].toarray() if sp.issparse(source[:, :]) else source[:, :], X)


def test_nothing_remains_of_a_failed_fit(tmp_path, X):
    X[4, 33] = np.nan
    np.save(tmp_path / "X.npy", X)
    selector = SpectralSelector("variance")
    with config_context(working_memory=SMALL), pytest.raises(ValueError, match="column 33"):
        selector.fit(open_source(tmp_path / "X.npy"))
    assert not hasattr(selector, "scores_")


# ---------------------------------------------------------------- damaged files


def test_a_corrupt_zarr_chunk(tmp_path, X):
    write_zarr(tmp_path / "X.zarr", X, chunks=(30, 10))
    (tmp_path / "X.zarr" / "c" / "0" / "2").write_bytes(b"this is no chunk")
    text = fails(r"the block of columns \d+ to \d+ cannot be read: ", open_source(tmp_path / "X.zarr"))
    assert str(tmp_path / "X.zarr") in text


def test_a_truncated_zarr_chunk(tmp_path, X):
    write_zarr(tmp_path / "X.zarr", X, chunks=(30, 10), compressors=None)
    chunk = tmp_path / "X.zarr" / "c" / "0" / "2"
    chunk.write_bytes(chunk.read_bytes()[:100])
    fails(r"X.zarr: the block of columns \d+ to \d+ cannot be read: ", open_source(tmp_path / "X.zarr"))


@pytest.mark.parametrize("shards", [None, (20, 20)])
def test_a_missing_zarr_chunk(tmp_path, X, shards):
    write_zarr(tmp_path / "X.zarr", X, chunks=(10, 10), shards=shards)
    (tmp_path / "X.zarr" / "c" / "1" / "1").unlink()
    refused(r"X.zarr: the chunk c/1/1 is missing; .* missing_chunks='fill'", tmp_path / "X.zarr")
    filled = X.copy()
    filled[(slice(10, 20),) * 2 if shards is None else (slice(20, 30), slice(20, 40))] = 0.0
    source = open_source(tmp_path / "X.zarr", missing_chunks="fill")
    np.testing.assert_array_equal(source[:, :], filled)
    assert source.reopen().shape == source.shape  # workers are told as well


@pytest.mark.parametrize("part", ["data", "indices", "indptr"])
def test_a_missing_zarr_chunk_of_a_sparse_matrix(tmp_path, X, part):
    write_sparse(tmp_path / "X.zarr", X, "csr")
    (tmp_path / "X.zarr" / "X" / part / "c" / "0").unlink()
    refused(f"X.zarr, {part}: the chunk c/0 is missing", tmp_path / "X.zarr")


def test_a_missing_chunk_of_the_older_zarr_format(tmp_path, X):
    write_zarr(tmp_path / "X.zarr", X, chunks=(10, 10), zarr_format=2)
    np.testing.assert_array_equal(open_source(tmp_path / "X.zarr")[:, :], X)
    (tmp_path / "X.zarr" / "2.3").unlink()
    refused("the chunk 2.3 is missing", tmp_path / "X.zarr")


def test_a_missing_chunk_of_a_zarr_array_that_is_no_folder():
    zarr = pytest.importorskip("zarr")
    array = zarr.create_array(zarr.storage.MemoryStore(), shape=(6, 4), chunks=(3, 2), dtype="f8")
    array[:3] = array[3:, :2] = 1.0
    with pytest.raises(ValueError, match="the Zarr array: some of its 4 chunks are missing"):
        as_source(array)


@pytest.mark.parametrize("name", ["X.h5", "X.h5ad", "X.hdf5"])
def test_a_truncated_hdf5_file(tmp_path, X, name):
    write_hdf5(tmp_path / name, X)
    whole = (tmp_path / name).read_bytes()
    for size in (0, 100, len(whole) - 5000):
        (tmp_path / name).write_bytes(whole[:size])
        refused(f"{name} is not an HDF5 file: ", tmp_path / name)


def test_a_damaged_hdf5_chunk(tmp_path, X):
    h5py = pytest.importorskip("h5py")
    write_hdf5(tmp_path / "X.h5", X, chunks=(30, 10), compression="gzip")
    with h5py.File(tmp_path / "X.h5") as file:
        at = file["X"].id.get_chunk_info(2)
    data = bytearray((tmp_path / "X.h5").read_bytes())
    data[at.byte_offset : at.byte_offset + at.size] = b"\x00" * at.size
    (tmp_path / "X.h5").write_bytes(data)
    fails(r"X.h5: the block of columns \d+ to \d+ cannot be read: ", open_source(tmp_path / "X.h5"))


def test_a_damaged_parquet_file(tmp_path, X):
    write_parquet(tmp_path / "X.parquet", X)
    whole = (tmp_path / "X.parquet").read_bytes()
    for size in (0, 100, len(whole) // 2, len(whole) - 1):
        (tmp_path / "X.parquet").write_bytes(whole[:size])
        refused("X.parquet is not a Parquet file: ", tmp_path / "X.parquet")
    (tmp_path / "X.parquet").write_bytes(whole[:4] + b"\xff" * 3000 + whole[3004:])
    fails(r"X.parquet: the block of columns \d+ to \d+ cannot be read: ", open_source(tmp_path / "X.parquet"))


def test_a_truncated_npy_file(tmp_path, X):
    np.save(tmp_path / "X.npy", X)
    whole = (tmp_path / "X.npy").read_bytes()
    for size in (0, 50, 1000):
        (tmp_path / "X.npy").write_bytes(whole[:size])
        refused("X.npy is not a NumPy file", tmp_path / "X.npy")


# ---------------------------------------------------------------- hostile sparse matrices


def rewrite(path, **parts):
    """Replace parts of a sparse matrix in an HDF5 file."""
    with pytest.importorskip("h5py").File(path, "r+") as file:
        for name, values in parts.items():
            del file["X"][name]
            file["X"][name] = values


@pytest.mark.parametrize("layout", ["csr", "csc"])
def test_indices_out_of_range_are_never_followed(tmp_path, X, layout):
    X = getattr(sp, f"{layout}_array")(X * (X > 0))
    width = X.shape[1] if layout == "csr" else X.shape[0]
    for hostile in (width, 2**31 - 1, -1, -(2**31)):
        path = tmp_path / f"{hostile}.h5"
        write_sparse(path, X, layout)
        indices = X.indices.astype(np.int64)
        indices[-1] = hostile
        rewrite(path, indices=indices)
        text = fails(f"an index lies outside 0 to {width - 1}", open_source(path))
        assert f"{path}: the block of columns " in text


@pytest.mark.parametrize("layout", ["csr", "csc"])
def test_pointers_that_do_not_fit_are_never_followed(tmp_path, X, layout):
    X = getattr(sp, f"{layout}_array")(X * (X > 0))
    indptr = X.indptr.astype(np.int64)
    decreasing, late, far, short = indptr.copy(), indptr.copy(), indptr.copy(), indptr[:-1]
    decreasing[3], late[0], far[-1] = 10**6, 1, 10**9
    for hostile in (decreasing, late, far, short, indptr.astype(np.float64)):
        write_sparse(tmp_path / "X.h5", X, layout)
        rewrite(tmp_path / "X.h5", indptr=hostile)
        assert str(tmp_path / "X.h5") in refused("indptr", tmp_path / "X.h5")
    write_sparse(tmp_path / "X.h5", X, layout)
    rewrite(tmp_path / "X.h5", data=X.data[:-3])
    refused("indptr does not fit", tmp_path / "X.h5")
    rewrite(tmp_path / "X.h5", data=X.data, indices=X.indices[:-3])
    refused("data and indices differ in length", tmp_path / "X.h5")
    rewrite(tmp_path / "X.h5", data=X.data, indices=np.full(len(X.data), np.nan))
    refused("indices and indptr must be whole numbers", tmp_path / "X.h5")
    rewrite(tmp_path / "X.h5", indices=X.indices, data=np.array([b"x"] * len(X.data)))
    refused("not real numbers", tmp_path / "X.h5")


# ---------------------------------------------------------------- not a matrix of numbers


@pytest.mark.parametrize("suffix", [".zarr", ".h5"])
def test_keys_and_groups(tmp_path, X, suffix):
    path = tmp_path / f"X{suffix}"
    if suffix == ".zarr":
        store = pytest.importorskip("zarr").open_group(str(path), mode="w")
        create = lambda group, name: group.create_array(name, data=X)  # noqa: E731
    else:
        store = pytest.importorskip("h5py").File(path, "w")
        create = lambda group, name: group.create_dataset(name, data=X)  # noqa: E731
    layers = store.create_group("layers")
    create(layers, "counts")
    create(layers, "raw")
    create(store, "other")
    create(store, "another")
    if suffix == ".h5":
        store.close()
    refused(f"{path.name} needs one matrix named X; it holds .*other.*Choose one with key", path)
    refused(f"{path.name} has no 'missing'; it holds .*layers", path, key="missing")
    refused(f"{path.name}::layers is a group, not a matrix; choose one of counts, raw with key", path, key="layers")
    source = open_source(path, key="layers/counts")
    np.testing.assert_array_equal(source[:, :], X)
    np.testing.assert_array_equal(source.reopen()[:, 3:5], X[:, 3:5])
    assert repr(source).startswith(f"<{path}::layers/counts: 30 x 40 float64, dense")


@pytest.mark.parametrize("shape", [(12,), (2, 3, 4), ()])
def test_other_numbers_of_axes(tmp_path, shape):
    values = np.ones(shape)
    np.save(tmp_path / "X.npy", values)
    refused(r"X.npy has shape \(.*\); a table has rows and columns", tmp_path / "X.npy")
    write_hdf5(tmp_path / "X.h5", values)
    refused(r"X.h5 has shape \(.*\); a table has rows and columns", tmp_path / "X.h5")
    if shape:
        write_zarr(tmp_path / "X.zarr", values)
        refused(r"X.zarr has shape \(.*\); a table has rows and columns", tmp_path / "X.zarr")
        h5py = pytest.importorskip("h5py")
        with h5py.File(tmp_path / "X.h5") as file, pytest.raises(ValueError, match="X has shape"):
            Variance().evaluate(file["X"])


@pytest.mark.parametrize(
    "values", [np.array([["a", "b"]]), np.ones((2, 2)) * 1j, np.array([["2020-01-01"]], dtype="M8[D]")], ids=str
)
def test_other_types(tmp_path, values):
    np.save(tmp_path / "X.npy", values)
    refused("X.npy holds .*, not real numbers", tmp_path / "X.npy")
    if values.dtype.kind != "M":
        write_hdf5(tmp_path / "X.h5", values.astype("S") if values.dtype.kind == "U" else values)
        refused("X.h5 holds .*, not real numbers", tmp_path / "X.h5")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Zarr has no settled type for text
        write_zarr(tmp_path / "X.zarr", values)
        refused("X.zarr holds .*, not real numbers", tmp_path / "X.zarr")


def test_objects_are_not_loaded(tmp_path):
    np.save(tmp_path / "X.npy", np.array([[{}]]), allow_pickle=True)
    refused("never loaded", tmp_path / "X.npy")


def test_columns_of_parquet_that_cannot_be_features(tmp_path, monkeypatch):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "X.parquet"
    pq.write_table(pa.table({"a": [1.0, 2.0], "kind": ["x", "y"], "b": [3, 4]}), path)
    refused("column 'kind' holds string, not numbers", path)
    refused("has 0 columns named 'c'", path, columns=["a", "c"])
    np.testing.assert_array_equal(open_source(path, columns=["b", "a"])[:, :], [[3, 1], [4, 2]])
    pq.write_table(pa.Table.from_arrays([pa.array([1.0, 2.0])] * 2, names=["a", "a"]), path)
    refused("has 2 columns named 'a'", path)
    turn(monkeypatch, "columns of Parquet in blocks", 3)
    write_parquet(path, np.ones((2, 4)))
    refused("has 4 columns, more than the limit of 3 for reading Parquet .* convert it to Zarr or HDF5", path)


def test_too_small(tmp_path):
    np.save(tmp_path / "X.npy", np.ones((1, 3)))
    with pytest.raises(ValueError, match=r"X.npy has shape \(1, 3\); at least 2 rows"):
        Variance().evaluate(open_source(tmp_path / "X.npy"))


def test_files_that_are_not_there_or_of_no_use(tmp_path):
    write_parquet(tmp_path / "table.parquet", np.ones((2, 4)))
    refused("there is no file .*; did you mean .*table.parquet", tmp_path / "tabel.parquet", FileNotFoundError)
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    refused(
        "table.csv: only .parquet, .pq, .npy, .h5ad, .h5, .hdf5, .zarr can be read in blocks", tmp_path / "table.csv"
    )
    (tmp_path / "empty.zarr").mkdir()
    refused("empty.zarr is not a Zarr store", tmp_path / "empty.zarr")
    refused(
        "missing_chunks must be one of 'error', 'fill', got 'zero'", tmp_path / "table.parquet", missing_chunks="zero"
    )


def test_an_array_without_its_file_cannot_go_to_workers(X):
    zarr = pytest.importorskip("zarr")
    source = as_source(zarr.create_array(zarr.storage.MemoryStore(), data=X))
    with pytest.raises(TypeError, match="cannot be opened by other processes; open it from its file with open_source"):
        source.reopen  # noqa: B018
