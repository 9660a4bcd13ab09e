"""Matrices read block by block: every kind of file gives the scores of its twin in memory, whatever the blocks."""

import warnings
from contextlib import contextmanager, suppress

import numpy as np
import pytest
import scipy.sparse as sp
from problems import CRITERIA, make
from sklearn import config_context
from stored import KINDS, SPARSE, write_hdf5, write_parquet, write_sparse, write_zarr

from fiedler import EVSC, KNN, METHODS, LaplacianScore, Rayleigh, SpectralSelector, SSelect, Variance
from fiedler.data.arrays import rows_of, take_columns
from fiedler.data.files import SparseFile
from fiedler.data.memory import slab_bytes
from fiedler.engine.blocks import fold_rows
from fiedler.sources import Source, as_source, open_source

N, M = 34, 41
MANY, FEW, ONE = 0.006, 0.02, 64  # working memory in MiB at which X is ten slabs, a few, one
TOLERANCE = 1e-12


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """``path(kind, X)``: each matrix is written once for all tests."""
    paths = {}

    def path(kind, X):
        key = (kind, X.dtype.str, X.tobytes())
        if key not in paths:
            paths[key] = KINDS[kind].save(tmp_path_factory.mktemp("stored"), X)
        return paths[key]

    return path


@contextmanager
def opened(kind, path):
    """A kind of source, whose AnnData file, if it has one, is closed afterwards."""
    X = KINDS[kind].open(path)
    yield X
    file = getattr(getattr(X, "group", X), "file", None)
    if KINDS[kind].backed:
        file.close()


def problem(name, kind="hdf5", dtype=np.float64):
    """Supervised data whose X has a constant column, and zeros where it is stored sparsely."""
    data = make(name, 3, N, M)
    if dtype != np.float64:
        data.X = np.clip(np.round(4 * data.X + 20), 0, 40) if dtype != np.bool_ else data.X > 0
    if kind in SPARSE:
        data.X = np.where(data.X > np.median(data.X), data.X, 0)
    data.X = data.X.astype(dtype)
    data.X[:, 7] = data.X[0, 7]
    return data


def twin(kind, X):
    return sp.csc_array(X) if kind in SPARSE else X


def same_scores(got, expected, name=""):
    """NaN in the same places, and else equal; φ3 is a sum over eigenvectors, accurate relative to the largest."""
    of = np.nanmax(np.abs(expected)) if name == "phi3" else 0.0
    np.testing.assert_allclose(got, expected, rtol=TOLERANCE, atol=TOLERANCE * of)


def fitted(criterion, data, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # constant columns that are selected, ties of whole numbers
        return SpectralSelector(criterion, n_features_to_select=5).fit(X, data.y, **data.pairs)


# ---------------------------------------------------------------- equal to memory


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_gives_the_scores_of_its_twin(saved, kind, name):
    data = problem(name, kind)
    expected = fitted(CRITERIA[name], data, twin(kind, data.X))
    with opened(kind, saved(kind, data.X)) as X, config_context(working_memory=FEW):
        assert len(as_source(X).slabs()) > 2
        found = fitted(CRITERIA[name], data, X)
    same_scores(found.scores_, expected.scores_)
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


def test_large_integers_are_as_good_as_in_memory(tmp_path, rng):
    X = rng.integers(0, 2**20, size=(30, 20)) + 10**9  # squared norms beyond what float64 holds exactly
    np.save(tmp_path / "X.npy", X)
    expected = LaplacianScore(KNN(4)).evaluate(X)
    with config_context(working_memory=FEW):
        same_scores(LaplacianScore(KNN(4)).evaluate(open_source(tmp_path / "X.npy")), expected)


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


# ---------------------------------------------------------------- approximate neighbours


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


# ---------------------------------------------------------------- parts


@pytest.fixture(params=KINDS)
def any_source(request, saved):
    data = problem("variance", request.param)
    with opened(request.param, saved(request.param, data.X)) as X:
        yield as_source(X), data.X


def array(part):
    return part.toarray() if sp.issparse(part) else part


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


def test_transform_reads_the_selected_columns_only(any_source):
    source, X = any_source
    with config_context(working_memory=MANY):
        selector = fitted("variance", problem("variance"), source)
        np.testing.assert_array_equal(array(selector.transform(source)), X[:, selector.support_])
        with pytest.raises(ValueError, match="41 features"):
            selector.transform(source.without_column(0))


# ---------------------------------------------------------------- memory


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

    spy(Source, "_checked")
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
        assert largest() <= 1.5 * slab_bytes() < 0.5 * source._bytes


def test_a_source_is_no_array(saved):
    source = open_source(saved("hdf5", problem("variance").X))
    for convert in (np.asarray, np.array, lambda X: np.zeros(N) @ X):
        with pytest.raises(TypeError, match="read block by block"):
            convert(source)
    with pytest.raises(TypeError, match="not iterable"):
        list(source)
    assert (len(source), source.ndim, source.size, source.shape) == (N, 2, N * M, (N, M))


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
    array = source._array
    spy = type("Spy", (), {"__getitem__": lambda self, key: sizes.append(array[key].size) or array[key]})
    monkeypatch.setattr(source, "_array", spy())
    columns = np.array([49, 0, 3, 3, 24])
    np.testing.assert_array_equal(source[:, columns], X[:, columns])
    assert sum(sizes) == 400
    assert len(sizes) == (3 if chunks == (100, 7) else 1)
    assert source[:, np.zeros(0, dtype=int)].shape == (100, 0)


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
