"""Long work counts its items: the counts never fall, reach the total, and change no result."""

import gzip
import itertools
import threading

import numpy as np
import pytest
from inside import turn
from scipy import sparse as sp

from fiedler import KNN, LaplacianScore, SpectralSelector
from fiedler.data.text import open_text
from fiedler.data.work import counting
from fiedler.engine.threads import for_each
from fiedler.evaluate import compare, significance, stability
from fiedler.io import read_table
from fiedler.sources import Run

ALL_CORES = True  # in processes of pytest-xdist too: see conftest.py


@pytest.fixture
def told():
    return []


@pytest.fixture
def watched(told):
    return Run(progress=lambda *step: told.append(step))


@pytest.fixture
def X(rng):
    return rng.normal(size=(60, 30)) + np.outer(np.repeat([0, 2], 30), np.arange(30) < 5)


def loops(told):
    """The reports, split where another loop begins."""
    found = []
    for done, total, what in told:
        if not found or done == 0:
            found.append([])
        found[-1].append((done, total, what))
    return found


def check(told):
    """Every loop has one name and one total, never falls, starts at 0 and ends at its total."""
    assert told
    for loop in loops(told):
        done = [step[0] for step in loop]
        assert len({step[1:] for step in loop}) == 1
        assert done[0] == 0
        assert done[-1] == loop[-1][1]
        assert all(a < b for a, b in itertools.pairwise(done))


def test_a_loop_counts_from_nothing_to_everything(told, watched):
    with watched, counting("items", 3) as count:
        for _ in range(3):
            count()
    assert told == [(0, 3, "items"), (1, 3, "items"), (2, 3, "items"), (3, 3, "items")]


def test_an_inner_loop_moves_the_outer_one_by_a_part_of_an_item(told, watched):
    with watched, counting("outer", 2) as outer:
        for _ in range(2):
            for size in (2, 1):
                with counting("inner", size) as inner:
                    for _ in range(size):
                        inner()
            outer()
    assert {what for _, _, what in told} == {"outer"}
    assert [done for done, _, _ in told] == [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2]


def test_a_loop_that_ends_early_reaches_its_total(told, watched):
    with watched, counting("steps", 10) as count:
        count.reach(4)
        count.reach(3)
    assert [done for done, _, _ in told] == [0, 4, 10]


def test_a_loop_that_fails_does_not(told, watched):
    def fail():
        with watched, counting("steps", 10) as count:
            count()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert [done for done, _, _ in told] == [0, 1]
    with counting("others", 1) as count:  # nobody listens any more
        count()
    assert len(told) == 2


def test_threads_count_and_the_caller_reports():
    told, workers = [], set()
    with Run(progress=lambda *step: told.append((*step, threading.get_ident()))):
        for_each(lambda _: workers.add(threading.get_ident()), range(40), np.inf, "items")
    assert workers
    check([step[:3] for step in told])
    assert {step[3] for step in told} == {threading.get_ident()}


def test_an_inner_run_without_progress_does_not_silence_the_outer_one(told, watched):
    with watched, Run(), counting("items", 1) as count:
        count()
    assert told == [(0, 1, "items"), (1, 1, "items")]


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("method", ["laplacian", "subset", "sselect"])
def test_a_fit_reports_its_loops_and_is_the_same(kind, method, X, told, watched):
    y = np.repeat([0, 1], 30) if method == "sselect" else None
    X = kind(X)
    selector = SpectralSelector(method, n_features_to_select=5)
    plain = selector.fit(X, y).order_
    with watched:
        assert selector.fit(X, y).order_.tolist() == plain.tolist()
    check(told)
    assert {"neighbours", "features chosen" if method == "subset" else "features"} <= {what for _, _, what in told}


def test_an_approximate_search_reports(rng, told, watched):
    pytest.importorskip("numba")
    X = rng.normal(size=(400, 8))
    with watched:
        LaplacianScore(KNN(algorithm="approximate")).evaluate(X)
    check(told)
    assert "neighbours" in {what for _, _, what in told}


def test_folds_of_a_test_are_counted(X, told, watched):
    with watched, pytest.warns(UserWarning, match="."):
        found = significance("laplacian", X, n_folds=4, n_repeats=2)
    check(told)
    assert (8, 8, "folds") in told
    with pytest.warns(UserWarning, match="."):
        plain = significance("laplacian", X, n_folds=4, n_repeats=2)
    np.testing.assert_array_equal(found.pvalues, plain.pvalues)


def test_draws_of_a_stability_are_counted(X, told, watched):
    seen = []
    with watched:
        stability("laplacian", X, k=3, n_draws=4, progress=lambda *step: seen.append(step))
    check(told)
    assert {step[1:] for step in told} == {(4, "draws")}
    assert seen == [(number, 4) for number in (1, 2, 3, 4)]


def test_cells_of_a_comparison_are_counted(X, told, watched):
    seen = []
    options = {"n_features": [2], "n_draws": 2, "n_jobs": 1, "progress": lambda *step: seen.append(step)}
    with watched:
        compare(["laplacian"], X, np.repeat([0, 1], 30), **options)
    check(told)
    assert {what for _, _, what in told} == {"cells"}
    assert [step[0] for step in seen] == list(range(1, seen[-1][1] + 1))


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
@pytest.mark.parametrize("reader", ["polars", "Python"])
def test_bytes_of_a_text_file_are_counted_while_it_is_read(tmp_path, rng, told, watched, monkeypatch, suffix, reader):
    if reader == "polars":
        pytest.importorskip("polars")
        turn(monkeypatch, "bytes read in Python", 0)
    turn(monkeypatch, "bytes of a piece", 2**12)
    turn(monkeypatch, "characters between reports", 2**12)
    path = tmp_path / f"X{suffix}"
    with (gzip.open if suffix.endswith(".gz") else open)(path, "wt") as file:
        np.savetxt(file, rng.normal(size=(4000, 60)), "%.4f", delimiter=",")
    with watched:
        read = read_table(path, header=False).X
    np.testing.assert_array_equal(read, read_table(path, header=False).X)
    size = path.stat().st_size
    whole = [loop for loop in loops(told) if loop[-1][0] == size]
    assert len(whole) == 1
    assert {step[1:] for step in whole[0]} == {(size, "bytes")}
    positions = [done for done, _, _ in whole[0]]
    assert positions == sorted(positions)
    assert len(positions) > 4  # compressed bytes are read in large pieces


def test_a_file_that_is_left_early_does_not_count_later_loops(tmp_path, told, watched):
    path = tmp_path / "x.txt"
    path.write_text("a\n" * 10)
    with watched:
        with open_text(path) as file:
            file.readline()
        with counting("items", 1) as count:
            count()
    assert told == [(0, 1, "items"), (1, 1, "items")]
