"""Dask workers in processes of their own: more data than they have memory, workers that die, errors that travel."""

import logging
import os
import signal
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
from inside import turn
from problems import CRITERIA, make
from sklearn import config_context
from stored import KINDS, fitted

from fiedler import KNN, METHODS, LaplacianScore, SpectralSelector, Variance
from fiedler.engine.blocks import fold_rows
from fiedler.sources import Run, Source, as_source, open_source

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

pytestmark = [pytest.mark.slow]

N, M = 34, 41
LIMIT = 500 * 10**6  # bytes of memory of each of two workers


@contextmanager
def two_workers(folder, allowed_failures=1):
    settings = {"distributed.scheduler.allowed-failures": allowed_failures, "distributed.worker.memory.pause": False}
    with dask.config.set(settings):
        cluster = distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            memory_limit=LIMIT,
            dashboard_address=":0",
            local_directory=folder,
            silence_logs=logging.CRITICAL,
        )
    with cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with two_workers(tmp_path_factory.mktemp("workers")) as client:
        yield client


def same_scores(got, expected):
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=0)


class Streamed(Source):
    """The same blocks, computed one after the other in this process."""

    def __init__(self, array):
        super().__init__(array.shape, array.dtype, "a stream", array.chunksize)
        self._array = array

    def _read(self, rows, columns):
        return self._array[rows, columns].compute(scheduler="synchronous")


def test_more_data_than_the_workers_can_hold(client):
    X = da.random.default_rng(0).random((200, 333_000), chunks=(200, 9_000))
    assert X.nbytes > LIMIT
    y = np.repeat([0, 1, -1, -1], 50)
    with config_context(working_memory=64):
        found = SpectralSelector("sselect").fit(X, y)
        expected = SpectralSelector("sselect").fit(Streamed(X), y)
    same_scores(found.scores_, expected.scores_)
    np.testing.assert_array_equal(found.order_, expected.order_)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_travels_to_the_workers(client, name):
    data = make(name, 3, N, M)
    expected = fitted(CRITERIA[name], data, data.X)
    found = fitted(CRITERIA[name], data, da.from_array(data.X, chunks=(N, 11)))
    same_scores(found.scores_, expected.scores_)
    np.testing.assert_array_equal(found.order_, expected.order_)


@pytest.mark.parametrize("kind", ["zarr by rows", "hdf5 csr", "hdf5 csc", "parquet"])
def test_files_read_by_the_workers(client, tmp_path, kind):
    from fiedler.data.dask import from_source

    data = make("laplacian", 3, N, M)
    path = KINDS[kind].save(tmp_path, data.X)
    with config_context(working_memory=0.02):
        found = LaplacianScore(KNN(4)).evaluate(from_source(open_source(path)))
    same_scores(found, LaplacianScore(KNN(4)).evaluate(data.X))


def test_rows_are_folded_by_the_workers(client):
    X = as_source(da.from_array(np.arange(60.0).reshape(12, 5), chunks=(3, 2)))
    pids, total = fold_rows(lambda rows: ({os.getpid()}, rows.sum(axis=0)), lambda a, b: (a[0] | b[0], a[1] + b[1]), X)
    assert pids <= set(client.run(os.getpid).values())
    np.testing.assert_array_equal(total, np.arange(60.0).reshape(12, 5).sum(axis=0))


def test_blocks_are_scored_by_the_workers_and_stay_there(client):
    X = da.from_array(np.ones((N, M)), chunks=(N, 11))
    found = as_source(X).map(lambda part: np.full(part.shape[1], os.getpid()))
    assert set(np.concatenate(found).tolist()) <= set(client.run(os.getpid).values())


# ---------------------------------------------------------------- workers that die


def dying_once(X, marker, chunks):
    """X, one of whose blocks takes its worker with it the first time it is computed."""

    def deadly(block, block_id):
        if block_id == (0, 1):
            try:
                os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return block
            os.kill(os.getpid(), signal.SIGKILL)
        return block

    return da.from_array(X, chunks=chunks).map_blocks(deadly, dtype=X.dtype, meta=np.empty((0, 0)))


@pytest.mark.parametrize("chunks", [(N, 11), (9, 11)])
def test_a_worker_that_dies_changes_nothing(client, tmp_path, chunks):
    data = make("laplacian", 3, N, M)
    X = dying_once(data.X, tmp_path / "marker", chunks)
    found = LaplacianScore(KNN(4)).evaluate(X)
    assert (tmp_path / "marker").exists()
    same_scores(found, LaplacianScore(KNN(4)).evaluate(data.X))


def test_a_worker_that_is_killed_changes_nothing(client):
    data = make("laplacian", 3, N, M)
    before = client.run(os.getpid)

    def slow(block):
        time.sleep(0.1)
        return block

    X = da.from_array(data.X, chunks=(N, 3)).map_blocks(slow, dtype=float, meta=np.empty((0, 0)))
    killer = threading.Timer(0.7, os.kill, (next(iter(before.values())), signal.SIGKILL))
    killer.start()
    found = LaplacianScore(KNN(4)).evaluate(X)
    killer.join()
    same_scores(found, LaplacianScore(KNN(4)).evaluate(data.X))


def test_a_block_that_kills_every_worker_is_named(tmp_path):
    """With workers of its own, and dead for good: one that dies while it starts is not started again."""

    def deadly(block):
        os._exit(1)

    X = da.ones((N, M), chunks=(N, 11)).map_blocks(deadly, dtype=float, meta=np.empty((0, 0)))
    where = "the block of columns (0 to 10|11 to 21|22 to 32|33 to 40)"
    died = f"^the Dask array: workers died repeatedly while {where} was computed"
    with two_workers(tmp_path, allowed_failures=0), pytest.raises(MemoryError, match=died):
        Variance().evaluate(X)


# ---------------------------------------------------------------- errors that travel


@pytest.mark.parametrize("criterion", [Variance(), LaplacianScore(KNN(4))], ids=repr)
def test_a_missing_value_is_reported_with_its_column(client, criterion):
    X = make("laplacian", 3, N, M).X
    X[5, 33] = np.nan
    with pytest.raises(ValueError, match=r"^the Dask array contains NaN in column 33 \(1 rows\); impute or drop it"):
        criterion.evaluate(da.from_array(X, chunks=(N, 11)))


def test_an_error_of_a_score_is_raised_as_it_is(client):
    def score(part):
        raise ZeroDivisionError("in the score")

    with pytest.raises(ZeroDivisionError, match="in the score"):
        as_source(da.ones((N, M), chunks=(N, 11))).map(score)


def test_a_block_that_cannot_be_computed_is_named(client):
    def explode(block, block_id):
        if block_id == (0, 3):
            raise OSError("the disk is on fire")
        return block

    X = da.ones((N, M), chunks=(N, 11)).map_blocks(explode, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(ValueError, match=r"^the Dask array: the block of columns 33 to 40 cannot be read: the disk"):
        Variance().evaluate(X)


def test_finished_blocks_are_kept_when_one_fails(client, tmp_path):
    def explode(block, block_id):
        if block_id == (0, 3):
            distributed.secede()  # the other blocks of this worker need not wait
            deadline = time.monotonic() + 60
            while not list((tmp_path / "blocks").glob("*.npy")) and time.monotonic() < deadline:
                time.sleep(0.05)
            raise OSError("the disk is on fire")
        return block

    X = da.ones((N, M), chunks=(N, 11)).map_blocks(explode, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(ValueError, match="cannot be read"), Run(folder=tmp_path / "blocks", fingerprint="a"):
        as_source(X).map(lambda part: part.sum(axis=0))
    assert 1 <= len(list((tmp_path / "blocks").glob("*.npy"))) <= 3


# ---------------------------------------------------------------- a cluster that has gone


def test_a_cluster_without_workers_is_said_and_not_waited_for(monkeypatch):
    turn(monkeypatch, "seconds without workers", 1)
    turn(monkeypatch, "seconds between looks", 0.25)
    X = da.ones((N, M), chunks=(N, 11))
    cluster = distributed.LocalCluster(n_workers=0, dashboard_address=None, silence_logs=logging.CRITICAL)
    with cluster, distributed.Client(cluster):
        for work in (lambda: Variance().evaluate(X), lambda: as_source(X)[:, :3]):
            with pytest.raises(ConnectionError, match="no workers for 1 seconds; start workers, or close the client"):
                work()


def test_a_client_that_is_closed_is_not_used():
    X = da.ones((N, M), chunks=(N, 11))
    cluster = distributed.LocalCluster(n_workers=1, dashboard_address=None, processes=False)
    client = distributed.Client(cluster)
    cluster.close()
    client.close()
    assert np.isnan(Variance().evaluate(X)).all()
