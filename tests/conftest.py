"""Data shared by the tests: small generated sets, and the papers' sets where FIEDLER_DATA points to them."""

import gzip
import os
import signal
import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from inside import turn
from stored import KINDS, opened, problem
from threadpoolctl import threadpool_limits

from fiedler.datasets import load_paper_set
from fiedler.sources import as_source

# A shell that starts the suite in the background has Ctrl-C ignored, by every process that a test starts and stops too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="module")
def share_of_the_cores(request):
    """Processes of pytest-xdist share the cores: BLAS in several threads would wait busily for a core that is taken.

    Modules that say ``ALL_CORES = True`` keep all threads, as users have them; so do processes that a test starts.
    """
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    with (
        nullcontext()
        if processes == 1 or getattr(request.module, "ALL_CORES", False)
        else threadpool_limits(max(1, (os.cpu_count() or 1) // processes))
    ):
        yield


@pytest.fixture(scope="session")
def paper_data():
    """``load(name) -> X, y, feature_names`` for the papers' data sets; skips without FIEDLER_DATA."""
    if not Path(os.environ.get("FIEDLER_DATA", "/nowhere")).is_dir():
        pytest.skip("FIEDLER_DATA does not point to the papers' data sets")
    return load_paper_set


@pytest.fixture
def rng():
    return np.random.default_rng(20071)


@pytest.fixture
def few_random_draws(monkeypatch):
    """Random features are drawn four times in a comparison and not twenty times, which takes most of its time."""
    turn(monkeypatch, "cells: random draws", 4)


@pytest.fixture
def blobs(rng):
    """Three overlapping classes, 45 rows, 8 features, tie-free."""
    y = np.repeat([0, 1, 2], 15)
    X = rng.normal(size=(45, 8)) + np.outer(y, np.linspace(2, 0, 8))
    return X, y


@pytest.fixture
def write(tmp_path):
    """``write(text, name) -> path``; compressed where the name says so."""

    def write_text(text, name="data.csv"):
        path = tmp_path / name
        if name.endswith(".gz"):
            path.write_bytes(gzip.compress(text.encode()))
        else:
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write_text


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


@pytest.fixture(params=KINDS)
def any_source(request, saved):
    """A source of every kind, and the matrix in it."""
    data = problem("variance", request.param)
    with opened(request.param, saved(request.param, data.X)) as X:
        yield as_source(X), data.X


@pytest.fixture(params=["polars", "by hand"])
def reader(request, monkeypatch):
    """Both ways to read a CSV."""
    if request.param == "polars":
        pytest.importorskip("polars")
        turn(monkeypatch, "bytes read in Python", 0)
    else:
        monkeypatch.setitem(sys.modules, "polars", None)
    return request.param


@pytest.fixture
def two_clusters(rng):
    return np.r_[rng.normal(size=(40, 4)), rng.normal(size=(25, 4)) + 50]


@pytest.fixture
def few(blobs):
    """blobs with three labels per class."""
    X, y = blobs
    return X, np.where(np.arange(45) % 5 == 0, y, -1)
