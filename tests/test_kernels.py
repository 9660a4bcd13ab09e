"""Compiled kernels agree with the plain path."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from fiedler import KNN, Graph, SpectralSelector
from fiedler.engine import compiled as kernels

ALL_CORES = True  # in processes of pytest-xdist too: see conftest.py


def overlapping(rng, n=40, r=9, per_row=3, isolated=4):
    """Rows in up to ``per_row`` groups with different weights, the last rows in none, one group empty."""
    Z = rng.random((n, r)) * (rng.random((n, r)).argsort(axis=1) < rng.integers(1, per_row + 1, size=(n, 1)))
    Z[n - isolated :], Z[:, 4] = 0.0, 0.0
    return Z


@pytest.mark.parametrize("per_row", [1, 3])
def test_compiled_groups_agree_with_the_plain_path(per_row, rng):
    pytest.importorskip("numba")
    Z, X = overlapping(rng, per_row=per_row), rng.normal(size=(40, 4)) + np.array([0, 1e8, -5, 2])
    plain = Graph.from_factors(Z, rng.uniform(0.5, 2.0, size=9))
    fast = plain.for_columns(10**6)
    assert kernels.kernels(plain.work) is None
    assert kernels.kernels(fast.work) is not None
    for F in (X, np.asfortranarray(X), sp.csc_array(X)):
        np.testing.assert_allclose(fast.energy(F), plain.energy(F), rtol=1e-12)
        for ours, theirs in zip(fast.within_and_between(F), plain.within_and_between(F), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("recipe", [KNN(5), KNN(3, "binary"), KNN(1)])
def test_compiled_kernels_agree_with_the_plain_path(recipe, rng):
    pytest.importorskip("numba")
    X = rng.normal(size=(60, 7)) + np.array([0, 1e8, -3, 1e3, 0, 0, 5])
    X[:, 6] = np.where(rng.random(60) < 0.7, 0.0, X[:, 6])
    plain = recipe.build(X)
    fast = plain.for_columns(10**6)
    assert kernels.kernels(plain.work) is None
    assert kernels.kernels(fast.work) is not None
    for F in (X, np.asfortranarray(X), sp.csc_array(X)):
        np.testing.assert_allclose(fast.energy(F), plain.energy(F), rtol=1e-12)
        for ours, theirs in zip(fast.moments(F), plain.moments(F), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    np.testing.assert_allclose(fast.centred_rows(X, np.array([3, 9])), plain.centre(X)[[3, 9]], atol=1e-9)
    assert pickle.loads(pickle.dumps(fast)).n_edges == plain.n_edges


HISTORY = """
import numpy as np
from fiedler import KNN, FisherScore, LaplacianScore, ReliefF, SPEC, SSelect
from fiedler.engine import compiled as kernels

def scores():
    rng = np.random.default_rng(0)
    found = []
    for n, m in ((60, 7), (300, 300), (700, 60), (400, 900)):
        X, y = rng.normal(size=(n, m)) + 3.0, np.arange(n) % 3
        cosine = LaplacianScore(KNN(5, metric="cosine"))
        for criterion in (LaplacianScore(), cosine, SPEC(gamma=4), SSelect(), ReliefF(), FisherScore()):
            found.append(criterion.evaluate(X, y))
            found.append(criterion.evaluate(np.where(X > 3.5, X, 0.0), y))
        rng = np.random.default_rng(0)
    return np.concatenate(found)

before = scores()
kernels.load()
assert before.tobytes() == scores().tobytes()
"""


def test_what_was_loaded_earlier_changes_no_bit_of_a_score():
    subprocess.run([sys.executable, "-c", HISTORY], check=True)


def test_the_compiler_is_loaded_by_the_forms_that_use_it():
    code = "import sys, numpy as np; from fiedler import FisherScore; X = np.zeros((3_000_000, 2)); X[::3] = 1; "
    code += "FisherScore().evaluate(X, np.arange(len(X)) % 2); print('numba' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False\n"


# ---------------------------------------------------------------- threads


def test_fits_in_several_threads_leave_blas_as_it_was(rng):
    """Limits that overlap restore what was there before the first of them."""
    from concurrent.futures import ThreadPoolExecutor

    from threadpoolctl import threadpool_info

    def threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    X = rng.normal(size=(300, 120))
    before = threads()
    with ThreadPoolExecutor(6) as pool:
        jobs = [pool.submit(SpectralSelector("subset", n_features_to_select=9).fit, X) for _ in range(24)]
        assert len({tuple(job.result().order_) for job in jobs}) == 1
    assert threads() == before
