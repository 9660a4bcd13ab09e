"""``--memory`` is kept: anonymous memory of commands on files larger than what the limit leaves for their data."""

import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")

KERNELS, LEFT = 80, 50  # MiB that compiled kernels may take, and that the limit leaves for the work
SHAPES = {"tall": (150_000, 80), "wide": (250, 50_000), "tiny": (60, 80)}
# The command in a process of its own, told how much of the limit the process itself takes.
CHILD = """
import sys
from fiedler.cli import kinds, main, run
kinds.PROCESS = run.PROCESS = int(sys.argv[1]) * 2**20
main(sys.argv[2:], prog_name="fiedler")
"""


def peak(process, *command):
    """The largest anonymous memory of a command in MiB, and what it said; pages of mapped files do not count."""
    words = [sys.executable, "-c", CHILD, str(process), *command]
    child, most = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True), 0
    while child.poll() is None:
        found = re.search(r"RssAnon:\s+(\d+)", Path(f"/proc/{child.pid}/status").read_text(encoding="ascii"))
        most = max(most, int(found[1]) if found else 0)  # none when it ends
        time.sleep(0.002)
    said = child.communicate()[0]
    assert child.returncode == 0, said
    return most / 1024, said


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Half of the columns are noise. The larger files take 92 MiB."""
    folder, rng = tmp_path_factory.mktemp("files"), np.random.default_rng(0)
    for name, (n, m) in SHAPES.items():
        X = rng.normal(size=(n, m))
        X[:, : m // 2] += rng.normal(size=(n, 1))
        np.save(folder / f"{name}.npy", X)
        write_others(folder / name, X)
    return folder


def write_others(path, X):
    zarr, h5py = pytest.importorskip("zarr"), pytest.importorskip("h5py")
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    chunks = min(len(X), 5000), min(X.shape[1], 1000)
    zarr.open_array(f"{path}.zarr", mode="w", shape=X.shape, chunks=chunks, dtype="f8")[:] = X
    with h5py.File(f"{path}.h5", "w") as file:
        file.create_dataset("X", data=X, chunks=chunks)
    if X.shape[1] < 1000:
        columns = {f"f{j}": X[:, j] for j in range(X.shape[1])}
        pq.write_table(pa.table(columns), f"{path}.parquet", row_group_size=5000)


@pytest.fixture(scope="module")
def process(files):
    """Memory of the interpreter with all that it imports, and of compiled kernels."""
    bases = [peak(64, "rank", str(files / f"tiny{s}"), "-q")[0] for s in (".npy", ".zarr", ".h5", ".parquet")]
    return int(max(bases)) + KERNELS


ANCHORS = "laplacian[graph=anchors]"
JOBS = [("rank", f"tall{suffix}") for suffix in (".npy", ".zarr", ".h5", ".parquet")]
JOBS += [("rank", f"wide{suffix}") for suffix in (".npy", ".zarr")]
JOBS += [("rank", f"{name}.{suffix}", "-m", ANCHORS) for name in ("tall", "wide") for suffix in ("npy", "zarr")]
JOBS += [("rank", "tall.h5", "-m", "variance"), ("rank", "wide.h5", "-m", "variance")]
JOBS += [("select", f"tall{suffix}", "--top", "5") for suffix in (".npy", ".zarr")]
QUICK = [("rank", "tall.npy"), ("rank", "wide.npy", "-m", ANCHORS)]


@pytest.mark.parametrize(
    "job", [job if job in QUICK else pytest.param(job, marks=pytest.mark.slow) for job in JOBS], ids=" ".join
)
def test_the_limit_holds(files, process, job, tmp_path):
    command, name, *options = job
    limit, out = process + LEFT, tmp_path / f"out{Path(name).suffix if command == 'select' else '.csv'}"
    words = (command, str(files / name), *options, "--memory", f"{limit}MB", "--out", str(out))
    found, said = peak(process, *words)
    assert out.exists(), said
    assert found <= limit, said


def test_many_rows_get_a_graph_of_anchors(files, process):
    said = peak(process, "rank", str(files / "tall.npy"), "--memory", f"{process + LEFT}MB")[1]
    assert "method subset[graph=anchors], a set of features chosen with no labels" in said
    assert "150,000 rows are many" in said
    said = peak(process, "rank", str(files / "tall.zarr"), "--memory", f"{process + LEFT}MB")[1]
    assert "method laplacian[graph=anchors]" in said
