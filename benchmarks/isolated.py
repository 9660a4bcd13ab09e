"""Measurements that need a process of their own: peak memory, the first call on a new machine, imports.

``python -m benchmarks.isolated <job>`` does one job and prints its facts as JSON; :func:`measure` starts that.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

_ROOT = Path(__file__).resolve().parent.parent
_WIDE = (200, 1_000_000)
# As pip leaves a package: its modules compiled, even where this process is told not to keep what it compiles.
_INSTALLED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def measure(job: str, *arguments: str, **environment: str) -> dict[str, Any]:
    """The facts a job reports from a fresh process."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "benchmarks.isolated", job, *arguments],
        cwd=_ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or [f"ended with code {done.returncode}"])[-1]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def import_time(statement: str) -> float:
    """Seconds an import statement takes in a fresh interpreter."""
    program = f"import time; start = time.perf_counter(); {statement}; print(time.perf_counter() - start)"
    command = [sys.executable, "-c", program]
    return float(subprocess.run(command, env=_INSTALLED, capture_output=True, text=True, check=True).stdout)


FIEDLER = [sys.executable, "-m", "fiedler"]


def run_time(command: list[str]) -> float:
    """Seconds a command takes in a fresh process."""
    start = time.perf_counter()
    subprocess.run(command, cwd=_ROOT, env=_INSTALLED, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def tables(folder: Path) -> tuple[str, str]:
    """A CSV of a million rows with three classes, and its first two hundred lines."""
    import polars as pl

    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {f"f{j}": rng.normal(size=1_000_000).round(4) for j in range(8)}
    columns["class"] = np.array(["alpha", "beta", "gamma"])[rng.integers(3, size=1_000_000)]
    large, small = folder / "large.csv", folder / "small.csv"
    pl.DataFrame(columns).write_csv(large)
    with open(large) as file:
        small.write_text("".join(line for line, _ in zip(file, range(200), strict=False)))
    return str(large), str(small)


class PeakMemory:
    """Peak of resident memory, and of its anonymous part: pages of a mapped file can be dropped at any time."""

    def __enter__(self) -> PeakMemory:
        self.before, self.resident, self.anonymous = self._read()[1], 0, 0
        self._stop = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._watcher.join()

    def _watch(self) -> None:
        while not self._stop.wait(0.01):
            resident, anonymous = self._read()
            self.resident, self.anonymous = max(self.resident, resident), max(self.anonymous, anonymous)

    @staticmethod
    def _read() -> tuple[int, int]:
        try:
            lines = Path("/proc/self/status").read_text().splitlines()
            kilobytes = {line.split(":")[0]: int(line.split()[1]) for line in lines if line.endswith(" kB")}
            return kilobytes["VmRSS"] * 1024, kilobytes["RssAnon"] * 1024
        except (OSError, KeyError):  # not Linux
            import psutil

            memory = psutil.Process().memory_full_info()
            return memory.rss, memory.uss


def _timed(function: Callable[[], Any]) -> dict[str, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    function()
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


# -------------------------------------------------------------------- jobs


def wide() -> dict[str, Any]:
    """Score a memory-mapped float32 file of 200 x 1,000,000 by LS; the file is deleted afterwards."""
    from fiedler import LaplacianScore

    n, m = _WIDE
    LaplacianScore().evaluate(np.random.default_rng(0).standard_normal((n, 200)))  # import everything first
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wide.npy"
        X = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, m))
        for i in range(n):
            X[i] = np.random.default_rng(i).standard_normal(m, dtype=np.float32)
        X.flush()
        X = np.load(path, mmap_mode="r")
        with PeakMemory() as peak:
            time_taken = _timed(lambda: LaplacianScore().evaluate(X))
        size = path.stat().st_size
    return {**time_taken, "file": size, "extra": peak.anonymous - peak.before, "resident": peak.resident}


def kddcup(share: str = "1") -> dict[str, Any]:
    """Score kddcup, or its first rows, by LS."""
    from fiedler import LaplacianScore

    from . import data

    X, _ = data.load("kddcup")
    X = X[: int(len(X) * float(share))].copy()
    data.load.cache_clear()
    with PeakMemory() as peak:
        time_taken = _timed(lambda: LaplacianScore().evaluate(X))
    return {**time_taken, "rows": len(X), "extra": peak.anonymous - peak.before, "resident": peak.resident}


def news20() -> dict[str, Any]:
    """Score NEWS20 by LS, SPEC, sSelect and the constraint scores on a kNN graph, with few labels."""
    from fiedler import KNN, SPEC, ConstraintScore, LaplacianScore, SSelect

    from . import data

    X, y = data.load("NEWS20_18828", np.float32)
    few = np.full(len(y), -1)
    chosen = np.random.default_rng(0).choice(len(y), 400, replace=False)
    few[chosen] = y[chosen]
    times = {}
    with PeakMemory() as peak:
        built: list[Any] = []
        times["kNN graph"] = _timed(lambda: built.append(KNN().build(X)))["wall"]
        graph = built[0]
        methods = {
            "LS": LaplacianScore(graph),
            **{f"SPEC phi{phi}": SPEC(graph, phi=phi, n_clusters=20) for phi in (1, 2, 3)},
            "sSelect": SSelect(graph),
            **{f"C{c}": ConstraintScore(c) for c in (1, 2, 3)},
            "C4": ConstraintScore(4, graph=graph),
        }
        for name, method in methods.items():
            times[name] = _timed(lambda method=method: method.evaluate(X, few))["wall"]
    return {"times": times, "extra": peak.anonymous - peak.before, "resident": peak.resident}


def first_call(kind: str) -> dict[str, Any]:
    """Time of the first call in this process, and of the best later one."""
    from fiedler import LaplacianScore

    from . import data

    X = data.gaussian(2000, 2000) if kind == "dense" else data.text_like(2000, 5000, 0.014)
    first = _timed(lambda: LaplacianScore().evaluate(X))["wall"]
    return {"first": first, "later": min(_timed(lambda: LaplacianScore().evaluate(X))["wall"] for _ in range(5))}


def cells(graph: str, n: str, m: str = "20000", k: str = "10") -> dict[str, Any]:
    """A graph of generated cells, 5 % stored: neighbours in X, in its components, or by scanpy's pca and neighbors."""
    from . import contenders, data

    run: Callable[..., Any] = contenders.scanpy_neighbors if graph == "scanpy" else partial(_cell_graph, graph)
    run(data.cells(2000, 500, 0.2)[0], int(k))  # imports, and compiles what is not yet on disk
    X, y = data.cells(int(n), int(m), 0.05)
    found: list[Any] = []
    with PeakMemory() as peak:
        time_taken = _timed(lambda: found.append(run(X, int(k))))
    W, how = (found[0], {}) if graph == "scanpy" else found[0]
    rows = np.sort(np.random.default_rng(1).choice(X.shape[0], min(X.shape[0], 200), replace=False))
    return {
        **time_taken,
        "resident": peak.resident,
        "stored": X.nnz / (X.shape[0] * X.shape[1]),
        **how,
        "true": _share_of_true_neighbors(X, W, rows, int(k)),
        "same kind": float(np.mean(y[W.nonzero()[0]] == y[W.nonzero()[1]])),
    }


def cell_set(n: str, m: str = "20000", size: str = "50") -> dict[str, Any]:
    """A set of features of generated cells, 5 % stored, with the graph from which it is chosen."""
    from . import data

    _cell_set(data.cells(2000, 500, 0.2)[0], int(size))  # imports, and compiles what is not yet on disk
    X, _ = data.cells(int(n), int(m), 0.05)
    found: list[dict[str, Any]] = []
    with PeakMemory() as peak:
        time_taken = _timed(lambda: found.append(_cell_set(X, int(size))))
    return {**time_taken, "resident": peak.resident, **found[0]}


def _cell_set(X: Any, size: int) -> dict[str, Any]:
    from fiedler import KNN, SmoothSubset, SpectralSelector
    from fiedler.problem import Problem

    problem, recipe = Problem.read(X), KNN(5)  # the default of subset
    SpectralSelector(SmoothSubset(recipe), n_features_to_select=size).fit(problem)
    graph = problem.graph(recipe)  # built by fit
    return {"search": graph.neighbors, "recall": graph.recall}


def _cell_graph(graph: str, X: Any, k: int) -> tuple[Any, dict[str, Any]]:
    from fiedler import KNN

    built = KNN(k, n_components=50 if graph == "components" else None).build(X)
    (i, j, w), n = built.edges, built.n_nodes
    W = sp.csr_array((np.r_[w, w], (np.r_[i, j], np.r_[j, i])), shape=(n, n))
    return W, {"search": built.neighbors, "recall": built.recall}


def _share_of_true_neighbors(X: Any, W: Any, rows: np.ndarray, k: int) -> float:
    """The share of the k nearest rows of some rows of X that are their neighbours in a graph."""
    squared = np.asarray(X.multiply(X).sum(axis=1)).ravel()[:, None] - 2.0 * (X @ X[rows].toarray().T)
    squared[rows, np.arange(len(rows))] = np.inf
    near = np.argpartition(squared, k - 1, axis=0)[:k].T
    linked = [np.isin(there, W.indices[W.indptr[i] : W.indptr[i + 1]]) for i, there in zip(rows, near, strict=True)]
    return float(np.mean(linked))


JOBS = {job.__name__: job for job in (wide, kddcup, news20, first_call, cells, cell_set)}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(JOBS[sys.argv[1]](*sys.argv[2:])))
