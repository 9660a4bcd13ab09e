"""The same scores whatever runs them: 1, 2 or 4 threads, and processes that were forked, spawned or made by loky."""

import multiprocessing
import os
import subprocess
import sys

import joblib
import numpy as np
import pytest

from fiedler import METHODS, SpectralSelector

ALL_CORES = True  # in processes of pytest-xdist too: see conftest.py

SECONDS = 300  # a process may take on a busy machine
RTOL = 1e-12  # what the documents promise; sums in another order differ in the last digits
REAL_TARGET = {"correlation", "sls", "ssls"}


def scores_and_orders():
    """Scores of all methods, one after the other, and the orders of the features."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=500)
    X = rng.normal(size=(500, 120)) + np.outer(y, rng.normal(size=120) * (rng.random(120) < 0.3))
    target = X[:, 0] + rng.normal(size=500)
    fitted = [
        SpectralSelector(name, n_features_to_select=10).fit(X, target if name in REAL_TARGET else y) for name in METHODS
    ]
    return np.concatenate([s.scores_ for s in fitted]), np.concatenate([s.order_[:10] for s in fitted])


@pytest.fixture(scope="module")
def here():
    return scores_and_orders()


def same(found, expected):
    np.testing.assert_allclose(found[0], expected[0], rtol=RTOL, atol=0)
    np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_the_number_of_threads_changes_no_order(here, threads, tmp_path):
    code = f"import numpy as np, test_processes as t; np.savez({str(tmp_path / 'found.npz')!r}, *t.scores_and_orders())"
    limits = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(threads))
    path = os.pathsep.join([os.path.dirname(__file__), *sys.path])
    environment = {**os.environ, **limits, "PYTHONPATH": path}
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], env=environment, check=True, timeout=SECONDS)
    with np.load(tmp_path / "found.npz") as found:
        same((found["arr_0"], found["arr_1"]), here)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of forks beside threads, from Python 3.12 on
@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_processes_give_the_same(here, start):
    with multiprocessing.get_context(start).Pool(1) as pool:
        same(pool.apply_async(scores_and_orders).get(SECONDS), here)


@pytest.mark.slow
def test_loky_gives_the_same(here):
    (found,) = joblib.Parallel(n_jobs=2, timeout=SECONDS)([joblib.delayed(scores_and_orders)()])
    same(found, here)
