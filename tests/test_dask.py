"""Dask arrays: scored where their blocks are, equal to the array in memory, lazily where that is promised."""

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from inside import READING, read_part, turn
from problems import CRITERIA, make
from sklearn import config_context
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from stored import KINDS, fitted, same_scores

from fiedler import KNN, METHODS, SpectralSelector, Variance
from fiedler.data.arrays import rows_of
from fiedler.data.memory import slab_bytes
from fiedler.engine.blocks import fold_rows
from fiedler.sources import Run as UsualRun
from fiedler.sources import Source, as_source, open_source

Run = partial(UsualRun, keep_every=-1.0)  # every partial sum is kept at once

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
pytest.importorskip("fiedler.data.dask")

N, M = 34, 41
CHUNKS = {"columns": (N, 7), "rows": (5, M), "tiles": (9, 11), "uneven": ((30, 1, 3), (1, 20, 20)), "one": (N, M)}
SMALL = 0.02  # MiB of working memory


def problem(name, sparse=False):
    data = make(name, 3, N, M)
    if sparse:
        data.X = np.where(data.X > np.median(data.X), data.X, 0.0)
    data.X[:, 7] = data.X[0, 7]
    return data


def dask_array(X, chunks, sparse=""):
    array = da.from_array(X, chunks=chunks)
    if not sparse:
        return array
    kind = getattr(sp, sparse)
    return array.map_blocks(kind, meta=kind(np.empty((0, 0))), dtype=array.dtype)


# ---------------------------------------------------------------- equal to memory


@pytest.mark.parametrize("name", CRITERIA)
@pytest.mark.parametrize("chunks", CHUNKS)
def test_every_criterion_with_every_chunking(name, chunks):
    data = problem(name)
    expected = fitted(CRITERIA[name], data, data.X)
    with config_context(working_memory=SMALL):
        found = fitted(CRITERIA[name], data, dask_array(data.X, CHUNKS[chunks]))
    same_scores(found.scores_, expected.scores_, name)
    np.testing.assert_array_equal(found.order_, expected.order_)
    assert np.isnan(found.scores_[7])


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(("kind", "chunks"), [("csr_matrix", "rows"), ("csc_array", "columns"), ("csr_array", "tiles")])
def test_chunks_of_scipy_sparse(name, kind, chunks):
    data = problem(name, sparse=True)
    expected = fitted(CRITERIA[name], data, sp.csc_array(data.X))
    with config_context(working_memory=SMALL):
        found = fitted(CRITERIA[name], data, dask_array(data.X, CHUNKS[chunks], kind))
    same_scores(found.scores_, expected.scores_, name)
    np.testing.assert_array_equal(found.order_, expected.order_)


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float32, np.bool_])
def test_every_dtype(dtype):
    data = make("relieff", 3, N, M)
    data.X = (data.X > 0 if dtype == np.bool_ else np.clip(np.round(4 * data.X + 20), 0, 40)).astype(dtype)
    for criterion in ("relieff", "laplacian"):
        expected = fitted(criterion, data, data.X)
        same_scores(fitted(criterion, data, da.from_array(data.X, chunks=(9, 11))).scores_, expected.scores_)


@pytest.mark.parametrize("chunks", ["columns", "rows"])
def test_graphs(chunks):
    X = problem("variance").X
    for recipe in (KNN(5, metric="cosine"), KNN(5, weight="binary"), KNN(4, algorithm="approximate")):
        exact = recipe if recipe.algorithm == "auto" else KNN(4)
        expected = exact.build(X).toarray()
        np.testing.assert_allclose(recipe.build(dask_array(X, CHUNKS[chunks])).toarray(), expected, rtol=1e-6)


@pytest.mark.parametrize("sparse", ["", "csr_array"])
@pytest.mark.parametrize("chunks", CHUNKS)
def test_parts(chunks, sparse):
    X = problem("variance", bool(sparse)).X
    source = as_source(dask_array(X, CHUNKS[chunks], sparse))
    array = lambda part: part.toarray() if sp.issparse(part) else part  # noqa: E731
    for columns in ([3], [40, 0, 5], X[0] > 0, slice(3, 30), slice(20, 4, -2)):
        np.testing.assert_array_equal(array(source[:, columns]), X[:, columns])
    np.testing.assert_array_equal(array(source[5:20]), X[5:20])
    part = rows_of(source, np.array([30, 2, 2, 17]))
    np.testing.assert_array_equal(array(part[:, :]), X[[30, 2, 2, 17]])
    assert isinstance(part, type(source))
    np.testing.assert_array_equal(array(source.without_column(12)[:, 10:15]), X[:, [10, 11, 13, 14, 15]])
    rows = fold_rows(lambda part: [array(part)], lambda a, b: a + b, source)
    np.testing.assert_array_equal(np.vstack(rows), X)
    with pytest.raises(TypeError, match="read block by block"):
        np.asarray(source)


def test_rows_that_cannot_be_read_are_named(monkeypatch):
    turn(monkeypatch, "blocks of a batch", 1)

    def explode(block, block_id):
        if block_id == (3, 0):
            raise OSError("the disk is on fire")
        return block

    X = da.ones((N, M), chunks=(5, M)).map_blocks(explode, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(ValueError, match=r"^the Dask array: the block of rows 15 to 19 cannot be read: the disk is on"):
        as_source(X).fold_rows(lambda rows: rows.sum(axis=0), np.add)


def test_sums_are_merged_in_batches_which_are_told_and_kept(tmp_path, monkeypatch):
    turn(monkeypatch, "blocks of a batch", 2)
    X = problem("variance").X
    source, told = as_source(dask_array(X, (N, 3))), []
    with Run(lambda *step: told.append(step[:2])):
        np.testing.assert_allclose(source.sum(lambda part: part.sum(axis=1)), X.sum(axis=1), rtol=1e-12)
    assert told == [(done, 7) for done in range(8)]  # 14 slabs
    source, calls = as_source(dask_array(X, (5, M))), []

    def fragile(part, stop_after=np.inf):
        calls.append(len(part))
        if len(calls) > stop_after:
            raise ZeroDivisionError
        return np.array(len(part)), part.sum(axis=0)

    added = lambda a, b: (a[0] + b[0], a[1] + b[1])  # noqa: E731
    with pytest.raises(ZeroDivisionError), Run(folder=tmp_path / "kept"), dask.config.set(scheduler="synchronous"):
        source.fold_rows(partial(fragile, stop_after=4), added)
    calls.clear()
    with Run(folder=tmp_path / "kept") as run:
        count, total = source.fold_rows(fragile, added)
    assert (run.n_reused, len(calls), count) == (2, 3, N)  # two batches of two blocks were kept, of seven blocks
    np.testing.assert_allclose(total, X.sum(axis=0), rtol=1e-12)


def test_threads_share_a_parquet_file(tmp_path):
    pd = pytest.importorskip("pandas")
    X = np.random.default_rng(0).normal(size=(4000, 12))
    pd.DataFrame(X, columns=[f"f{j}" for j in range(12)]).to_parquet(tmp_path / "X.parquet", row_group_size=200)
    source = open_source(tmp_path / "X.parquet")
    with ThreadPoolExecutor(8) as pool:
        read = list(pool.map(lambda j: source[:, j : j + 3], [0, 3, 6, 9] * 20))
    for start, part in zip([0, 3, 6, 9] * 20, read, strict=True):
        np.testing.assert_array_equal(part, X[:, start : start + 3])


@pytest.mark.parametrize("kind", ["zarr by rows", "zarr by columns", "hdf5 csr", "hdf5 csc", "parquet"])
def test_files_read_by_the_workers(tmp_path, kind):
    from fiedler.data.dask import from_source

    data = problem("sselect", sparse=KINDS[kind].sparse)
    path = KINDS[kind].save(tmp_path, data.X)
    expected = fitted("sselect", data, sp.csc_array(data.X) if KINDS[kind].sparse else data.X)
    with config_context(working_memory=SMALL):
        source = from_source(open_source(path))
        assert len(source.slabs()) > 2
        same_scores(fitted("sselect", data, source).scores_, expected.scores_)
        view = from_source(open_source(path).without_column(5))
        same_scores(Variance().evaluate(view), np.delete(Variance().evaluate(data.X), 5))


def test_a_file_that_changes_is_read_again(tmp_path, rng):
    from fiedler.data.dask import from_source

    for X in (rng.normal(size=(20, 6)), 1.0 + rng.random(size=(20, 6)), rng.normal(size=(20, 8))):
        path = KINDS["zarr by columns"].save(tmp_path, X, overwrite=True)
        source = from_source(open_source(path))
        same_scores(Variance().evaluate(source), Variance().evaluate(X))
        time.sleep(0.02)  # so that the time of the last change differs


def test_blocks_kept_of_a_file_are_told_from_those_of_its_next_version(tmp_path, rng):
    from fiedler.data.dask import from_source

    prints = set()
    for X in (rng.normal(size=(20, 6)), rng.normal(size=(20, 6))):
        path = KINDS["zarr by columns"].save(tmp_path, X, overwrite=True)
        assert from_source(open_source(path)).fingerprint() == from_source(open_source(path)).fingerprint()
        prints.add(from_source(open_source(path)).fingerprint())
        time.sleep(0.02)
    assert len(prints) == 2


# ---------------------------------------------------------------- lazy


class Counter(dask.callbacks.Callback):
    """Counts the tasks that are run."""

    tasks = 0

    def _posttask(self, *_):
        self.tasks += 1


def test_transform_stays_lazy(tmp_path):
    data = problem("laplacian")
    X = dask_array(data.X, CHUNKS["tiles"])
    selector = SpectralSelector("laplacian", n_features_to_select=6).fit(X)
    with Counter() as counter:
        chosen = selector.transform(X)
    assert isinstance(chosen, da.Array)
    assert counter.tasks == 0
    with counter:
        np.testing.assert_array_equal(chosen.compute(), data.X[:, selector.support_])
    assert counter.tasks > 0
    with pytest.raises(ValueError, match="X has 40 features, but SpectralSelector is expecting 41"):
        selector.transform(X[:, 1:])
    np.testing.assert_array_equal(selector.transform(data.X), data.X[:, selector.support_])


def test_making_a_source_runs_nothing():
    with Counter() as counter:
        repr(as_source(dask_array(problem("variance").X, CHUNKS["tiles"])))
    assert counter.tasks == 0


@pytest.mark.parametrize("chunks", ["columns", "rows", "tiles"])
@pytest.mark.parametrize("name", METHODS)
def test_no_block_larger_than_a_slab_reaches_the_client(monkeypatch, name, chunks):
    seen = [0]
    compute = read_part

    def checked(self, *part):
        result = compute(self, *part)
        seen.append(result.nbytes)
        return result

    monkeypatch.setattr(Source, READING, checked)
    data = problem(name)
    with config_context(working_memory=SMALL):
        fitted(CRITERIA[name], data, dask_array(data.X, CHUNKS[chunks]))
        assert max(seen) <= slab_bytes() < data.X.nbytes / 2


def test_in_a_pipeline(rng):
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 20)) + np.outer(y, np.linspace(2, 0, 20))
    pipe = make_pipeline(SpectralSelector("fisher", n_features_to_select=4), KNeighborsClassifier(3))
    lazy = da.from_array(X, chunks=(60, 6))
    assert pipe.fit(lazy, y).predict(lazy).tolist() == pipe.fit(X, y).predict(X).tolist()


def test_an_interrupted_run_goes_on(tmp_path):
    X = dask_array(problem("variance").X, CHUNKS["columns"])
    folder, calls = tmp_path / "blocks", []

    def scorer(stop_after):
        def score(part):
            if len(calls) == stop_after:
                raise KeyboardInterrupt
            calls.append(part.shape[1])
            return part.sum(axis=0)

        return score

    expected = np.concatenate(as_source(X).map(lambda part: part.sum(axis=0)))
    with pytest.raises(KeyboardInterrupt), Run(folder=folder, fingerprint="a"):
        as_source(X).map(scorer(3))
    assert len(list(folder.glob("*.npy"))) == 3
    with Run(folder=folder, fingerprint="a") as run:
        found = as_source(X).map(scorer(-1))
    assert (run.n_reused, len(calls)) == (3, 6)
    np.testing.assert_array_equal(np.concatenate(found), expected)


# ---------------------------------------------------------------- bad input


def test_other_dask_objects(rng):
    X = rng.normal(size=(6, 3))
    with pytest.raises(TypeError, match=r"X is a Dask Delayed\w*; pass a Dask array"):
        Variance().evaluate(dask.delayed(X))
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    frame = dd.from_pandas(pd.DataFrame(X, columns=["a", "chunks", "shape"]), npartitions=2)
    with pytest.raises(TypeError, match=r"X is a Dask DataFrame; pass a Dask array, for example X.to_dask_array\("):
        Variance().evaluate(frame)
    same_scores(Variance().evaluate(frame.to_dask_array(lengths=True)), Variance().evaluate(X))
    for fit in (Variance().evaluate, SpectralSelector("variance").fit):
        with pytest.raises(ValueError, match=r"unknown shape; call X.compute_chunk_sizes"):
            fit(frame.to_dask_array())


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (lambda: da.ones(5), "2D array"),
        (lambda: da.ones((2, 3, 4)), "2D array"),
        (lambda: da.ones((1, 3)), "at least 2 rows"),
        (lambda: da.ones((3, 3), dtype=complex), "not real numbers"),
        (lambda: da.from_array(np.array([["a"], ["b"]])), "not real numbers"),
        (lambda: da.ones((3, 3)).map_blocks(lambda b: b.astype(object), meta=np.empty((0, 0))), "not real numbers"),
    ],
    ids=["1-D", "3-D", "one row", "complex", "text", "objects that claim to be numbers"],
)
def test_arrays_that_are_no_tables(X, message):
    with pytest.raises(ValueError, match=message):
        Variance().evaluate(X())


@pytest.mark.parametrize("chunks", ["columns", "rows", "tiles"])
@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "inf")])
def test_a_value_that_is_not_finite_is_named_by_its_column(chunks, value, word):
    data = problem("laplacian")
    data.X[3, 33] = value
    for criterion in ("variance", "laplacian"):
        with pytest.raises(ValueError, match=rf"^the Dask array contains {word} in column 33 \(1 rows\); impute"):
            fitted(criterion, data, dask_array(data.X, CHUNKS[chunks]))


def test_a_block_that_cannot_be_computed_is_named():
    def explode(block, block_id):
        if block_id == (0, 3):
            raise OSError("the disk is on fire\nin two lines")
        return block

    X = da.ones((N, M), chunks=CHUNKS["columns"]).map_blocks(explode, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(ValueError, match=r"^the Dask array: the block of columns 21 to 27 cannot be read: the disk"):
        Variance().evaluate(X)


def test_a_file_that_cannot_be_read_is_named_once(tmp_path, rng):
    from fiedler.data.dask import from_source

    X = rng.normal(size=(20, 6))
    X[3, 4] = np.nan
    source = from_source(open_source(KINDS["parquet"].save(tmp_path, X)))
    with pytest.raises(ValueError, match=rf"^{tmp_path}/data.parquet contains NaN in column 'f4' \(1 rows\)"):
        Variance().evaluate(source)


def test_an_error_of_a_score_is_not_taken_for_one_of_reading():
    def score(part):
        raise ZeroDivisionError("in the score")

    with pytest.raises(ZeroDivisionError, match="in the score"):
        as_source(da.ones((N, M), chunks=CHUNKS["columns"])).map(score)
