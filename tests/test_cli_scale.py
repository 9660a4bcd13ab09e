"""Large files on the command line: read in blocks, shared among workers, interrupted and taken up again."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from inside import READING, fingerprint, read_part, spy_on_jobs
from sklearn import config_context
from stored import KINDS, write_hdf5, write_sparse, write_zarr
from test_cli import SECONDS, fails, rows, run, said, spawn

import fiedler.cli.run
from fiedler.io import read_table
from fiedler.sources import Source

N, M = 34, 41
KINDS_BY_COMMAND = ["zarr by columns", "zarr by rows", "hdf5", "hdf5 csr", "zarr csc", "h5ad", "h5ad csr", "parquet"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def X(rng):
    classes = np.arange(N) % 3
    return rng.normal(size=(N, M)) + np.outer(classes, np.linspace(2, 0, M))


@pytest.fixture
def in_blocks(monkeypatch):
    """Every file that can be is read in blocks of a few columns; the names of the sources are noted."""
    seen = []
    monkeypatch.setattr(fiedler.cli.run, "memory_for_data", lambda options: 0.0)
    original = fiedler.cli.run.running

    def running(job, *rest):
        seen.append(isinstance(job.problem.X, Source))
        return original(job, *rest)

    monkeypatch.setattr(fiedler.cli.run, "running", running)
    with config_context(working_memory=0.02):
        yield seen
    assert all(seen)


def close(found, expected):
    """Two tables of feature, score and rank."""
    found, expected = rows(found), rows(expected)
    assert [(row[0], row[2]) for row in found] == [(row[0], row[2]) for row in expected]
    scores = [[float(row[1]) for row in table[1:]] for table in (found, expected)]
    np.testing.assert_allclose(*scores, rtol=1e-12)


# ---------------------------------------------------------------- equal to memory


@pytest.mark.parametrize("kind", KINDS_BY_COMMAND)
def test_rank_in_blocks_is_rank_in_memory(folder, X, kind, request):
    data = KINDS[kind].save(folder, X)
    (folder / "labels.csv").write_text("".join(f"{'abc'[i % 3] if i % 2 else 'NA'}\n" for i in range(N)))
    arguments = ("rank", data, "--labels", "labels.csv", "-m")
    expected = {method: run(*arguments, method)[1] for method in ("sselect", "fisher")}
    seen = request.getfixturevalue("in_blocks")
    for method, text in expected.items():
        code, out, err = run(*arguments, method)
        assert (code, err) == (0, "")
        close(out, text)
    assert seen == [True, True]


@pytest.mark.slow
def test_memory_decides_what_is_read_in_blocks(folder, rng):
    """As users run it: 25 MB in a process that is allowed little more than it takes by itself."""
    X = rng.normal(size=(250, 12_500)) + np.outer(np.arange(250) % 2, np.linspace(2, 0, 12_500))
    write_zarr(folder / "big.zarr", X, chunks=(250, 500))
    arguments, allowed = ("rank", "big.zarr", "-m", "laplacian", "--top", 20), int(1.21 * fiedler.cli.kinds.PROCESS)
    whole = run(*arguments)
    blocks = spawn(*arguments, "--memory", allowed)
    assert (whole[0], blocks[0], whole[2], blocks[2]) == (0, 0, "", "")
    close(blocks[1], whole[1])
    table = read_table(folder / "big.zarr", memory=fiedler.cli.run.memory_for_data({"memory": allowed}))
    assert isinstance(table.X, Source)


@pytest.mark.parametrize("kind", KINDS_BY_COMMAND)
def test_select_in_blocks_is_select_in_memory(folder, X, kind, request):
    data = KINDS[kind].save(folder, X)
    small = f"small{KINDS[kind].suffix}"
    assert run("select", data, "-m", "laplacian", "--top", 5, "--out", f"whole{KINDS[kind].suffix}")[0] == 0
    request.getfixturevalue("in_blocks")
    code, out, err = run("select", data, "-m", "laplacian", "--top", 5, "--out", small)
    assert (code, out, err) == (0, "", f"wrote {small}: 5 of 41 features by laplacian\n")
    found, expected = read_table(small), read_table(f"whole{KINDS[kind].suffix}")
    dense = lambda values: values.toarray() if hasattr(values, "toarray") else values  # noqa: E731
    np.testing.assert_array_equal(dense(found.X), dense(expected.X))
    assert found.feature_names.tolist() == expected.feature_names.tolist()
    assert sorted(p.name for p in folder.iterdir()) == sorted([data.name, small, f"whole{KINDS[kind].suffix}"])


def labelled_hdf5(path, X, **more):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file["X"] = X
        file["y"] = np.array(["abc"[i % 3] for i in range(len(X))], dtype=object)
        file["feature_names"] = np.array([f"gene{j}" for j in range(X.shape[1])], dtype="S")
        file["row_ids"] = np.array([f"row{i}" for i in range(len(X))], dtype=object)
        for name, values in more.items():
            file[name] = values


def test_names_labels_and_ids_of_hdf5(folder, X, in_blocks):
    labelled_hdf5("data.h5", X, weight=np.arange(N) * 1.0)
    table = read_table("data.h5")
    assert (table.feature_names[3], table.row_ids[2], table.y[1]) == ("gene3", "row2", "b")
    assert read_table("data.h5", target="weight").y.tolist() == list(range(N))
    code, _, err = run("select", "data.h5", "-m", "fisher", "--top", 3, "--out", "small.h5")
    assert code == 0, err
    small = read_table("small.h5")
    assert small.y.tolist() == table.y.tolist()
    assert small.row_ids.tolist() == table.row_ids.tolist()
    assert all(name.startswith("gene") for name in small.feature_names)
    fails("data.h5 has no variable 'wieght'; did you mean 'weight'", "rank", "data.h5", "--target", "wieght")


def test_other_matrices_of_an_hdf5_file_are_not_read(folder, X, monkeypatch):
    labelled_hdf5("data.h5", X, raw=np.ones((500, 500)))
    h5py = pytest.importorskip("h5py")
    read, seen = h5py.Dataset.__getitem__, []

    def spy(self, *key):
        seen.append(self.name)
        return read(self, *key)

    monkeypatch.setattr(h5py.Dataset, "__getitem__", spy)
    read_table("data.h5", memory=0)
    assert "/raw" not in seen


def test_the_target_may_be_a_column_of_zarr_with_unknown_labels(folder, X, in_blocks):
    y = np.where(np.arange(N) % 4 == 0, np.nan, np.arange(N) % 3)
    for at, place in (("first", 0), ("middle", 20), ("last", M)):
        write_zarr(folder / f"{at}.zarr", np.insert(X, place, y, axis=1), chunks=(N, 6))
        np.save(f"{at}.npy", np.insert(X, place, y, axis=1))
        arguments = ("--target", place, "-m", "fisher")
        code, out, err = run("rank", f"{at}.zarr", *arguments)
        assert (code, err) == (0, "")
        table = read_table(f"{at}.npy", target=place)
        assert rows(out)[1][0] in table.feature_names
        np.testing.assert_array_equal(read_table(f"{at}.zarr", target=place, memory=0).y, table.y)


# ---------------------------------------------------------------- what goes wrong


def test_a_missing_cell_is_named_by_its_column(folder, X, in_blocks):
    X[4, 33] = np.nan
    labelled_hdf5("data.h5", X)
    fails("data.h5 contains NaN in column 'gene33' (1 rows)", "rank", "data.h5", "--out", "r.csv")
    assert [p.name for p in folder.iterdir()] == ["data.h5"]
    write_zarr(folder / "data.zarr", np.insert(X, 0, 1.0, axis=1), chunks=(N, 6))
    fails("contains NaN in column 'x34' (1 rows)", "rank", "data.zarr", "--target", 0, "-m", "variance")


def test_what_needs_the_data_as_a_whole_says_so(folder, X, in_blocks):
    write_hdf5(folder / "data.h5", X)
    fails(
        "data.h5 is read block by block, but --impute median needs it in memory",
        "rank",
        "data.h5",
        "--impute",
        "median",
    )
    fails(
        "--report needs data.h5 as a whole", "rank", "data.h5", "-m", "variance", "--out", "r.csv", "--report", "r.html"
    )
    assert [p.name for p in folder.iterdir()] == ["data.h5"]


def test_commands_without_memory_read_the_whole_file():
    assert fiedler.cli.run.memory_for_data({"target": None}) == np.inf  # compare, report


@pytest.mark.parametrize("size", ["lots", "-1GB", "1XB", "", "1e9", "GB"])
def test_memory_that_is_no_size(folder, size):
    fails(f"{size!r} is not an amount of memory such as 500MB or 2GB", "rank", "x.zarr", "--memory", size, code=2)


@pytest.mark.parametrize("size", ["0", "1", "100MB", "0.1 gib", "300000K"])
def test_memory_that_is_too_little(folder, size):
    fails(f"{size} is too little: the program itself takes ", "rank", "x.zarr", "--memory", size, code=2)


@pytest.mark.parametrize(("size", "amount"), [("700MB", 700 * 2**20), ("2GB", 2**31), ("1.5 gib", 1.5 * 2**30)])
def test_memory_in_words(size, amount):
    assert fiedler.cli.kinds.size(size) == amount


def test_memory_shared_among_too_many_workers(folder, X):
    write_zarr(folder / "x.zarr", X)
    arguments = ("rank", "x.zarr", "--memory", "1GB", "--workers", 8)
    fails("--memory leaves each of 8 workers too little", *arguments, code=2)


def test_workers_and_scheduler_exclude_each_other(folder):
    arguments = ("rank", "x.zarr", "--workers", 2, "--scheduler", "tcp://127.0.0.1:1")
    fails("--workers starts workers here and --scheduler uses those of a cluster; choose one", *arguments, code=2)
    fails("0 is not in the range", "rank", "x.zarr", "--workers", 0, code=2)


def test_without_dask(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    fails("need Dask: pip install 'fiedler[dask]'", "rank", "x.zarr", "--workers", 2)


@pytest.mark.parametrize(
    ("module", "name", "extra"), [("zarr", "x.zarr", "zarr"), ("h5py", "x.h5", "io"), ("pyarrow.parquet", "x.pq", "io")]
)
def test_without_the_package_of_a_format(folder, monkeypatch, module, name, extra):
    (folder / name).mkdir() if name.endswith("zarr") else (folder / name).write_bytes(b"")
    monkeypatch.setitem(sys.modules, module, None)
    package = module.partition(".")[0]
    fails(f"{name} needs {package}; install it with: pip install 'fiedler[{extra}]'", "rank", name, "--memory", "1GB")


@pytest.mark.slow
def test_a_scheduler_that_does_not_answer(folder):
    pytest.importorskip("distributed")
    addresses = "tcp://127.0.0.1:1", "nonsense"
    each = f"for at in {addresses!r}:", "  try: main(['rank', 'x.zarr', '--scheduler', at], prog_name='fiedler')"
    lines = (
        "from fiedler.cli import main, run",
        "run._SECONDS = 1",
        *each,
        "  except SystemExit as end: print(end.code)",
    )
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, timeout=SECONDS)
    assert done.stdout == "1\n1\n", done.stderr
    for address, line in zip(addresses, said(done.stderr).splitlines(), strict=True):
        assert line.startswith(f"fiedler: --scheduler {address}: no Dask scheduler answers there within 1 s; start one")


# ---------------------------------------------------------------- interrupted


def _script(folder, *lines):
    """The command line with some lines run first."""
    path = folder / "fiedler_with.py"
    lines = [*lines, "from fiedler.cli import main", "main(prog_name='fiedler')"]
    path.write_text("\n    ".join(["if __name__ == '__main__':", *lines]))  # workers import it once more
    return path


def _start(script, *arguments):
    command = [sys.executable, script, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


SMALL_BLOCKS = (
    "import sklearn, fiedler.cli.run",
    "sklearn.set_config(working_memory=0.02)",
    "fiedler.cli.run.memory_for_data = lambda options: 0.0",
)
SLOW_BLOCKS = (
    *SMALL_BLOCKS,
    "import glob, time",
    "from fiedler.sources import Source",
    "after_the_first_block = lambda: bool(glob.glob('r.csv.blocks/[0-9]*.npy'))",
    f"read = Source.{READING}",
    f"Source.{READING} = lambda self, *part: time.sleep(0.5 * after_the_first_block()) or read(self, *part)",
)


def _stop_after_first_block(process, blocks, how):
    deadline = time.monotonic() + SECONDS
    while process.poll() is None and not list(blocks.glob("[0-9]*.npy")):  # not the part of one that is being written
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(how)
    return process.communicate(timeout=SECONDS)


@pytest.fixture
def files(folder, X):
    write_zarr(folder / "data.zarr", X, chunks=(N, 6))
    write_zarr(folder / "other.zarr", X[::-1], chunks=(N, 6))


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "kill -9"])
def test_an_interrupted_command_goes_on(folder, files, in_blocks, how):
    arguments, blocks = ("rank", "data.zarr", "-m", "laplacian", "--out", "r.csv"), folder / "r.csv.blocks"
    process = _start(_script(folder, *SLOW_BLOCKS), *arguments)
    out, err = _stop_after_first_block(process, blocks, how)
    assert out == ""
    if how == signal.SIGINT:
        kept = "note: finished blocks are kept in r.csv.blocks; the same command continues from there"
        assert said(err).split("\n") == [kept, "", "fiedler: interrupted", ""]
        assert process.returncode == 130
    assert not (folder / "r.csv").exists()
    n_kept = len(list(blocks.glob("[0-9]*.npy")))
    assert n_kept >= 1
    process = _start(_script(folder, *SMALL_BLOCKS), *arguments)
    out, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, out) == (0, "")
    note, done = said(err).splitlines()
    assert done == "wrote r.csv"
    assert note.endswith("finished blocks of an earlier run were used again")
    assert int(note.split()[1]) >= n_kept
    assert (folder / "r.csv").read_text() == run("rank", "data.zarr", "-m", "laplacian")[1]  # the same blocks, digits
    assert not blocks.exists()


@pytest.fixture
def interrupted(monkeypatch):
    """A number of reads after which Ctrl-C is pressed; None is never."""
    read, allowed = read_part, {"reads": None}

    def until(self, *part):
        if allowed["reads"] is not None:
            allowed["reads"] -= 1
            if allowed["reads"] < 0:
                raise KeyboardInterrupt
        return read(self, *part)

    monkeypatch.setattr(Source, READING, until)
    return allowed


@pytest.mark.parametrize("changed", [["--top", 3], ["--seed", 1], ["--redundancy", 0.5]], ids=str)
def test_blocks_of_a_job_with_other_options_are_not_used(folder, files, in_blocks, interrupted, changed):
    arguments = ("rank", "data.zarr", "-m", "subset")
    expected = run(*arguments)[1]
    interrupted["reads"] = 13
    code, _, err = run(*arguments, *changed, "--out", "r.csv")
    assert (code, "finished blocks are kept in r.csv.blocks" in err) == (130, True)
    interrupted["reads"] = None
    code, _, err = run(*arguments, "--out", "r.csv")
    assert (code, "used again" in err) == (0, False)
    assert (folder / "r.csv").read_text() == expected


@pytest.mark.parametrize("change", ["method", "data", "labels", "file"])
def test_blocks_of_another_job_are_dropped(folder, files, in_blocks, interrupted, change):
    labels = [f"{'ab'[i % 2]}\n" for i in range(N)]
    (folder / "labels.csv").write_text("".join(labels))
    common = ["--out", "r.csv", "--labels", "labels.csv"]
    interrupted["reads"] = 13
    assert run("rank", "data.zarr", "-m", "subset", *common)[0] == 130
    assert list((folder / "r.csv.blocks").glob("[0-9]*.np[yz]"))
    interrupted["reads"] = None
    data, method = "data.zarr", "subset"
    if change == "method":
        method = "laplacian"
    elif change == "data":
        data = "other.zarr"
    elif change == "labels":
        (folder / "labels.csv").write_text("".join(labels[::-1]))
    else:  # the same name, other values
        chunk = folder / "data.zarr" / "c" / "0" / "0"
        chunk.write_bytes((folder / "other.zarr" / "c" / "0" / "0").read_bytes())
    code, _, err = run("rank", data, "-m", method, *common)
    assert code == 0, err
    assert "used again" not in err
    assert not (folder / "r.csv.blocks").exists()


def test_blocks_of_the_same_job_are_used_wherever_its_output_goes_on(folder, files, in_blocks, interrupted):
    arguments = ("rank", "data.zarr", "-m", "subset", "--out", "r.csv")
    interrupted["reads"] = 13
    assert run(*arguments)[0] == 130
    interrupted["reads"] = None
    code, _, err = run(*arguments, "--force", "--escape-formulas")
    assert (code, "finished blocks of an earlier run were used again" in err) == (0, True)
    assert (folder / "r.csv").read_text() == run("rank", "data.zarr", "-m", "subset")[1]


def test_every_option_is_part_of_a_fingerprint(folder, files, in_blocks, monkeypatch):
    jobs = []
    spy_on_jobs(monkeypatch, jobs)
    assert run("rank", "data.zarr", "-m", "variance", "--out", "r.csv")[0] == 0
    (job,) = jobs
    monkeypatch.undo()

    def of(command="rank", **changed):
        return fingerprint(replace(job, command=command, options=job.options | changed))

    assert of() == of(out="other.csv", force=True, quiet=True, report="r.html", escape_formulas=True)
    assert of(made_up=1) != of()  # an option that nobody has thought of
    for name in set(job.options) - {"out", "force", "quiet", "report", "escape_formulas"}:
        assert of(**{name: "another value"}) != of(), name
    assert of("select") != of()
    usual = of()
    monkeypatch.setattr("importlib.metadata.version", lambda name: "0.0")  # NumPy and the others
    assert of() != usual


LONG = "r" * 244 + ".csv"  # 248 characters, of the 255 that a file system takes


@pytest.mark.parametrize("out", [LONG, "é" * 125 + ".csv"], ids=["ascii", "two bytes each"])
def test_names_of_folders_beside_long_names_fit(folder, out):
    for ending in ("blocks", "cells"):
        kept = fiedler.cli.run.beside(out, ending)
        kept.mkdir()
        assert kept.name.endswith(f".{ending}")
    assert fiedler.cli.run.beside(None, "blocks") is fiedler.cli.run.beside("-", "blocks") is None
    assert fiedler.cli.run.beside("a/r.csv", "blocks") == Path("a/r.csv.blocks")


def test_a_long_name_is_written_and_goes_on(folder, files, in_blocks, interrupted):
    interrupted["reads"] = 13
    assert run("rank", "data.zarr", "-m", "subset", "--out", LONG)[0] == 130
    interrupted["reads"] = None
    code, _, err = run("rank", "data.zarr", "-m", "subset", "--out", LONG)
    assert (code, "used again" in err) == (0, True), err
    assert sorted(path.name for path in folder.iterdir()) == ["data.zarr", "other.zarr", LONG]


@pytest.mark.parametrize("command", [["rank"], ["compare", "-m", "variance"], ["report"]], ids=lambda words: words[0])
def test_a_name_that_is_too_long_is_said_before_the_work(folder, monkeypatch, command):
    monkeypatch.setattr("fiedler.cli.run.load", lambda *_: pytest.fail("the work began"))
    name = "r" * 252 + (".html" if command == ["report"] else ".csv")
    fails(
        f"has {len(name)} bytes, but a name in this folder has at most 255; choose a shorter one",
        *command,
        "x.zarr",
        "--out",
        name,
        code=2,
    )


def test_a_folder_in_the_place_of_the_blocks(folder, X, in_blocks):
    write_hdf5(folder / "data.h5", X)
    (folder / "r.csv.blocks").mkdir()
    (folder / "r.csv.blocks" / "thesis.tex").write_text("mine")
    fails("r.csv.blocks is not a folder of an earlier run", "rank", "data.h5", "-m", "variance", "--out", "r.csv")
    assert (folder / "r.csv.blocks" / "thesis.tex").read_text() == "mine"


def test_json_and_quiet(folder, X, in_blocks):
    write_hdf5(folder / "data.h5", X)
    assert run("rank", "data.h5", "-m", "variance", "--out", "r.json", "-q") == (0, "", "")
    assert json.loads((folder / "r.json").read_text())["n_features"] == M
    assert sorted(p.name for p in folder.iterdir()) == ["data.h5", "r.json"]


# ---------------------------------------------------------------- workers


@pytest.mark.slow
def test_workers_give_the_same_ranking(folder, rng):
    pytest.importorskip("distributed")
    write_zarr(folder / "data.zarr", rng.normal(size=(N, 600)), chunks=(N, 60))
    arguments = ("rank", "data.zarr", "-m", "laplacian")
    code, expected, _ = run(*arguments)
    assert code == 0
    process = _start(_script(folder, *SMALL_BLOCKS), *arguments, "--workers", 2, "--out", "r.csv")
    out, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, out) == (0, ""), err
    close((folder / "r.csv").read_text(), expected)
    assert not (folder / "r.csv.blocks").exists()


@pytest.mark.slow
def test_the_workers_of_a_cluster(folder, X):
    distributed = pytest.importorskip("distributed")
    write_sparse(folder / "data.h5", X, "csr")
    Path("labels.csv").write_text("".join(f"{i % 3}\n" for i in range(N)))
    arguments = ("rank", "data.h5", "--labels", "labels.csv", "-m", "relieff")
    code, expected, _ = run(*arguments)
    assert code == 0
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster:
        code, out, err = spawn(*arguments, "--scheduler", cluster.scheduler_address)
    assert (code, err) == (0, "")
    close(out, expected)


@pytest.mark.slow
def test_workers_are_not_used_for_what_is_read_as_a_whole(folder, X):
    pytest.importorskip("distributed")
    np.savetxt("data.csv", X, delimiter=",", header=",".join(f"f{j}" for j in range(M)), comments="")
    code, out, err = spawn("rank", "data.csv", "-m", "variance", "--workers", 1)
    assert code == 0
    assert (
        err
        == "note: this format is read as a whole, so --workers and --scheduler are not used; Zarr and HDF5 are not\n"
    )
    close(out, run("rank", "data.csv", "-m", "variance")[1])
