"""Long jobs over slabs: what is finished is kept until the job is done, and used again when it is interrupted."""

import itertools
from functools import partial

import numpy as np
import pytest
from sklearn import config_context

from fiedler import KNN, Anchors, LaplacianScore, SpectralSelector, SSelect
from fiedler.data import work as running
from fiedler.sources import Run as UsualRun
from fiedler.sources import open_source

Run = partial(UsualRun, keep_every=-1.0)  # every partial sum is kept at once

SMALL = 0.004  # MiB of working memory: the 40 columns below are eight slabs of five


@pytest.fixture
def X(rng):
    return rng.normal(size=(26, 40))


@pytest.fixture
def source(tmp_path, X):
    np.save(tmp_path / "X.npy", X)
    with config_context(working_memory=SMALL):
        opened = open_source(tmp_path / "X.npy")
        assert len(opened.slabs()) == 8
        yield opened


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "blocks"


class Interrupted(Exception):  # noqa: N818
    pass


def interrupt(folder, *passes, run=Run):
    """Passes over a source, the last of which is interrupted."""

    def work():
        with run(folder=folder, fingerprint="a"):
            for verb, function in passes:
                verb(function)

    with pytest.raises(Interrupted):
        work()


class Counted:
    """A function that counts its calls and is interrupted after some."""

    def __init__(self, function, stop_after=np.inf):
        self.function, self.stop_after, self.calls = function, stop_after, 0

    def __call__(self, *arguments):
        if self.calls >= self.stop_after:
            raise Interrupted
        self.calls += 1
        return self.function(*arguments)


def column_sums(part):
    return part.sum(axis=0)


def row_sums(part):
    return part.sum(axis=1)


def kept(folder):
    return sorted(p.name for p in folder.iterdir() if p.suffix == ".npy")


# ---------------------------------------------------------------- map


def test_an_interrupted_map_goes_on_where_it_stopped(source, folder):
    expected = source.map(column_sums)
    interrupt(folder, (source.map, Counted(column_sums, 3)))
    assert kept(folder) == ["001-0-5.npy", "001-10-15.npy", "001-5-10.npy"]
    again = Counted(column_sums)
    with Run(folder=folder, fingerprint="a") as run:
        found = source.map(again)
    assert (again.calls, run.n_reused) == (5, 3)
    np.testing.assert_array_equal(np.concatenate(found), np.concatenate(expected))
    assert not folder.exists()


def test_each_pass_has_blocks_of_its_own(source, folder):
    interrupt(folder, (source.map, column_sums), (source.map, Counted(lambda part: part.std(axis=0), 2)))
    first, second = Counted(column_sums), Counted(lambda part: part.std(axis=0))
    with Run(folder=folder, fingerprint="a") as run:
        source.map(first)
        source.map(second)
    assert (first.calls, second.calls, run.n_reused) == (0, 6, 10)


@pytest.mark.parametrize("damage", [b"", b"\x93NUMPY", b"not an array", None])
def test_a_damaged_block_is_computed_again(source, folder, damage):
    expected = np.concatenate(source.map(column_sums))
    interrupt(folder, (source.map, Counted(column_sums, 3)))
    block = folder / "001-5-10.npy"
    block.write_bytes(block.read_bytes()[:-9] if damage is None else damage)
    again = Counted(column_sums)
    with Run(folder=folder, fingerprint="a") as run:
        found = source.map(again)
    assert (again.calls, run.n_reused) == (6, 2)
    np.testing.assert_array_equal(np.concatenate(found), expected)


def test_what_was_being_written_is_computed_again(source, folder):
    interrupt(folder, (source.map, Counted(column_sums, 3)))
    (folder / "001-5-10.npy").rename(folder / "001-5-10.part")
    again = Counted(column_sums)
    with Run(folder=folder, fingerprint="a"):
        source.map(again)
    assert again.calls == 6
    assert not folder.exists()


# ---------------------------------------------------------------- sum


def test_an_interrupted_sum_goes_on_where_it_stopped(source, folder, monkeypatch):
    expected = source.sum(row_sums)
    interrupt(folder, (source.sum, Counted(row_sums, 3)))
    assert kept(folder) == ["001-sum-000003.npy"]  # one partial sum, not one per slab
    again = Counted(row_sums)
    with Run(folder=folder, fingerprint="a") as run:
        found = source.sum(again)
    assert (again.calls, run.n_reused) == (5, 3)
    np.testing.assert_array_equal(found, expected)  # the same additions in the same order


def test_a_sum_knows_the_columns_it_goes_on_with(source, folder, monkeypatch):
    weighted = lambda part, start: part @ np.arange(start, start + part.shape[1])  # noqa: E731
    expected = source.sum(weighted, positioned=True)
    with pytest.raises(Interrupted), Run(folder=folder, fingerprint="a"):
        source.sum(Counted(weighted, 4), positioned=True)
    with Run(folder=folder, fingerprint="a"):
        np.testing.assert_array_equal(source.sum(weighted, positioned=True), expected)


def test_sums_are_not_written_after_every_slab(source, folder):
    interrupt(folder, (source.map, column_sums), (source.sum, Counted(row_sums, 3)), run=UsualRun)
    assert not any("sum" in name for name in kept(folder))


def test_a_finished_sum_is_kept_for_the_passes_after_it(source, folder):
    interrupt(folder, (source.sum, row_sums), (source.map, Counted(column_sums, 0)))
    again = Counted(row_sums)
    with Run(folder=folder, fingerprint="a") as run:
        found = source.sum(again)
    assert (again.calls, run.n_reused) == (0, 8)
    np.testing.assert_array_equal(found, source.sum(row_sums))


def test_a_damaged_sum_is_computed_again(source, folder):
    interrupt(folder, (source.sum, row_sums), (source.map, Counted(column_sums, 0)))
    (folder / "001-sum-000008.npy").write_bytes(b"\x93NUMPY")
    again = Counted(row_sums)
    with Run(folder=folder, fingerprint="a"):
        source.sum(again)
    assert again.calls == 8


# ---------------------------------------------------------------- rows


def test_an_interrupted_fold_goes_on_where_it_stopped(source, folder, monkeypatch):
    count_and_sum = lambda rows: (np.array(len(rows)), rows.sum(axis=0))  # noqa: E731
    merged = lambda a, b: (a[0] + b[0], a[1] + b[1])  # noqa: E731
    expected, total = source.fold_rows(count_and_sum, merged), len(source.row_slabs())
    assert total > 3
    with pytest.raises(Interrupted), Run(folder=folder, fingerprint="a"):
        source.fold_rows(Counted(count_and_sum, 2), merged)
    assert [p.name for p in folder.glob("*.np?")] == ["001-sum-000002.npz"]
    again = Counted(count_and_sum)
    with Run(folder=folder, fingerprint="a") as run:
        found = source.fold_rows(again, merged)
    assert (again.calls, run.n_reused) == (total - 2, 2)
    for value, wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(value, wanted)


@pytest.mark.parametrize("damage", [b"", b"PK", b"PK\x03\x04 and so on"])
def test_a_damaged_fold_is_computed_again(source, folder, monkeypatch, damage):
    rows = lambda part: (part.sum(axis=0),)  # noqa: E731
    added = lambda a, b: (a[0] + b[0],)  # noqa: E731
    with pytest.raises(Interrupted), Run(folder=folder, fingerprint="a"):
        source.fold_rows(Counted(rows, 2), added)
    (folder / "001-sum-000002.npz").write_bytes(damage)
    with Run(folder=folder, fingerprint="a") as run:
        (found,) = source.fold_rows(rows, added)
    assert run.n_reused == 0
    np.testing.assert_array_equal(found, source.fold_rows(rows, added)[0])


# ---------------------------------------------------------------- fits


@pytest.mark.parametrize("k", [0, 1, 5, 9, 14, 20])
def test_an_interrupted_fit_gives_the_same_scores(source, folder, monkeypatch, k):
    """Interrupted after k slabs, in whichever pass that is."""
    expected = LaplacianScore(KNN(4)).evaluate(source)
    read, reads = type(source)._read, itertools.count()

    def interrupted(self, *part):
        if next(reads) == k:
            raise KeyboardInterrupt
        return read(self, *part)

    with monkeypatch.context() as patch:
        patch.setattr(type(source), "_read", interrupted)
        with pytest.raises(KeyboardInterrupt), Run(folder=folder, fingerprint="a"):
            LaplacianScore(KNN(4)).evaluate(source)
    assert folder.exists() == (k > 1)  # the first block only tells whether these are whole numbers
    with Run(folder=folder, fingerprint="a") as run:
        found = LaplacianScore(KNN(4)).evaluate(source)
    assert (run.n_reused > 0) == (k > 1)
    np.testing.assert_array_equal(found, expected)
    assert not folder.exists()


@pytest.mark.parametrize("criterion", [LaplacianScore(Anchors(4, 2)), SSelect(Anchors(4, 2))], ids=["summed", "held"])
def test_an_interrupted_pass_over_rows_gives_the_same_scores(tmp_path, folder, monkeypatch, rng, criterion):
    """An anchor graph in sums over the rows, and one that is held because the formula reads more."""
    zarr = pytest.importorskip("zarr")
    X, y = rng.normal(size=(60, 7)), np.arange(60) % 2
    zarr.create_array(str(tmp_path / "X.zarr"), data=X, chunks=(10, 7))
    with config_context(working_memory=SMALL):
        source = open_source(tmp_path / "X.zarr")
        expected, read = criterion.evaluate(source, y), type(source)._read
        for k in itertools.count():
            reads = itertools.count()

            def interrupted(self, *part, reads=reads, k=k):
                if next(reads) == k:
                    raise KeyboardInterrupt
                return read(self, *part)

            try:
                with monkeypatch.context() as patch:
                    patch.setattr(type(source), "_read", interrupted)
                    with Run(folder=folder, fingerprint="a"):
                        criterion.evaluate(source, y)
            except KeyboardInterrupt:
                kept_any = folder.exists()
                with Run(folder=folder, fingerprint="a") as run:
                    np.testing.assert_array_equal(criterion.evaluate(source, y), expected)
                assert (run.n_reused > 0) == kept_any
            else:
                break
        assert k > 8  # the last interrupts met the pass over the rows
        assert kept_any


# ---------------------------------------------------------------- the folder


def test_blocks_of_other_data_or_parameters_are_dropped(source, folder):
    interrupt(folder, (source.map, Counted(column_sums, 3)))
    again = Counted(column_sums, 4)
    with pytest.raises(Interrupted), Run(folder=folder, fingerprint="b") as run:
        source.map(again)
    assert (again.calls, run.n_reused) == (4, 0)
    assert len(kept(folder)) == 4
    (folder / "manifest.json").write_text("{")
    with Run(folder=folder, fingerprint="b") as run:
        source.map(column_sums)
    assert run.n_reused == 0


@pytest.mark.parametrize("name", ["notes.txt", "1.npy", ".hidden"])
def test_a_folder_of_somebody_else_is_left_alone(source, folder, name):
    folder.mkdir()
    (folder / name).write_text("mine")
    with pytest.raises(FileExistsError, match=f"blocks is not a folder of an earlier run .{name}"), Run(folder=folder):
        pass
    assert (folder / name).read_text() == "mine"


def test_a_file_in_the_place_of_the_folder(folder):
    folder.write_text("mine")
    with pytest.raises(FileExistsError, match="is not a folder of an earlier run"), Run(folder=folder):
        pass
    assert folder.read_text() == "mine"


def test_an_empty_folder_left_by_a_killed_run_is_taken(source, folder):
    folder.mkdir()
    (folder / "manifest.part").write_text("{")
    with Run(folder=folder, fingerprint="a"):
        source.map(column_sums)
    assert not folder.exists()


def test_nothing_is_kept_of_a_job_that_finished_nothing(source, folder):
    interrupt(folder, (source.map, Counted(column_sums, 0)))
    assert not folder.exists()


def test_nothing_is_kept_without_a_folder(source, tmp_path):
    with Run() as run:
        source.map(column_sums)
        source.sum(row_sums)
    SpectralSelector("laplacian").fit(source)
    assert run.n_reused == 0
    assert [p.name for p in tmp_path.iterdir()] == ["X.npy"]


def test_progress_counts_the_slabs_of_every_pass(source, folder):
    told = []
    with Run(progress=lambda *step: told.append(step), folder=folder, fingerprint="a"):
        source.map(column_sums)
        source.sum(row_sums)
        source.fold_rows(np.sum, np.add)
    passes = [list(steps) for _, steps in itertools.groupby(told, key=lambda step: step[2])]
    assert [steps[0][2] for steps in passes] == ["blocks", "passes", "row blocks"]
    for steps in passes:
        total = steps[0][1]
        assert [done for done, _, _ in steps] == list(range(total + 1))


def test_a_run_ends_with_its_block(source, folder):
    with Run(folder=folder, fingerprint="a"), Run():
        source.map(column_sums)
        assert kept(folder) == []  # the inner one is active
    assert running.current_run() is not running.current_run()
