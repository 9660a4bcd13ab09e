"""Measurements that need a process of their own: peak memory, the first call on a new machine, imports.

``python -m benchmarks.isolated <job>`` does one job and prints its facts as JSON; :func:`measure` starts that, and
watches the process and its workers from outside.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from fiedler import KNN, SPEC, ConstraintScore, LaplacianScore, SmoothSubset, SpectralSelector, SSelect
from fiedler.problem import Problem

from . import data
from .timing import seconds

_ROOT = Path(__file__).resolve().parent.parent
# As pip leaves a package: its modules compiled, even where this process is told not to keep what it compiles.
_INSTALLED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def measure(job: str, *arguments: Any, **environment: str) -> dict[str, Any]:
    """The facts a job reports from a fresh process, with the ``peak`` of memory of it and all its workers in bytes."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.isolated", job, *map(str, arguments)]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process, peak = subprocess.Popen(command, cwd=_ROOT, env={**os.environ, **environment}, **streams), 0
    while process.poll() is None:
        peak = max(peak, sum(_resident(pid) for pid in _family(process.pid)))
        time.sleep(0.02)
    out, error = process.communicate()
    if process.returncode:
        return {"failed": (error.strip().splitlines() or [f"ended with code {process.returncode}"])[-1]}
    return json.loads(out.strip().splitlines()[-1]) | {"peak": peak}


def _family(pid: int) -> list[int]:
    """A process and all its workers."""
    found = [pid]
    for parent in found:
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{parent}/task").iterdir():
                found += [int(child) for child in (task / "children").read_text().split()]
    return found


def _resident(pid: int) -> int:
    with contextlib.suppress(OSError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096
    return 0


def run_time(command: list[str]) -> float:
    """Seconds a command takes in a fresh process."""
    start = time.perf_counter()
    subprocess.run(command, cwd=_ROOT, env=_INSTALLED, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def import_time(statement: str) -> float:
    """Seconds an import statement takes in a fresh interpreter."""
    program = f"import time; start = time.perf_counter(); {statement}; print(time.perf_counter() - start)"
    command = [sys.executable, "-c", program]
    return float(subprocess.run(command, env=_INSTALLED, capture_output=True, text=True, check=True).stdout)


class PeakMemory:
    """Peak of resident memory, and of its anonymous part: pages of a mapped file can be dropped at any time."""

    def __enter__(self) -> PeakMemory:
        self.before, self.resident, self.anonymous, self.start = self._read()[1], 0, 0, time.perf_counter()
        self._stop = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.perf_counter() - self.start
        self._stop.set()
        self._watcher.join()

    def facts(self) -> dict[str, float]:
        return {"wall": self.seconds, "extra": self.anonymous - self.before, "resident": self.resident}

    def _watch(self) -> None:
        while not self._stop.wait(0.01):
            resident, anonymous = self._read()
            self.resident, self.anonymous = max(self.resident, resident), max(self.anonymous, anonymous)

    @staticmethod
    def _read() -> tuple[int, int]:
        lines = Path("/proc/self/status").read_text().splitlines()
        kilobytes = {line.split(":")[0]: int(line.split()[1]) for line in lines if line.endswith(" kB")}
        return kilobytes["VmRSS"] * 1024, kilobytes["RssAnon"] * 1024


def wide(n: str = "200", m: str = "1000000") -> dict[str, Any]:
    """Score a memory-mapped float32 file by LS; the file is deleted afterwards."""
    shape = int(n), int(m)
    LaplacianScore().evaluate(np.random.default_rng(0).standard_normal((shape[0], 200)))  # import everything first
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wide.npy"
        X = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape)
        for i in range(shape[0]):
            X[i] = np.random.default_rng(i).standard_normal(shape[1], dtype=np.float32)
        X.flush()
        X = np.load(path, mmap_mode="r")
        with PeakMemory() as peak:
            LaplacianScore().evaluate(X)
        return {"file": path.stat().st_size, **peak.facts()}


def kddcup(share: str = "1") -> dict[str, Any]:
    """Score kddcup, or its first rows, by LS."""
    X, _ = data.load("kddcup")
    X = X[: int(len(X) * float(share))].copy()
    data.load.cache_clear()
    with PeakMemory() as peak:
        LaplacianScore().evaluate(X)
    return {"rows": len(X), **peak.facts()}


def news20() -> dict[str, Any]:
    """Score NEWS20 by LS, SPEC, sSelect and the constraint scores on a kNN graph, with few labels."""
    X, y = data.load("NEWS20_18828", np.float32)
    few = np.full(len(y), -1)
    chosen = np.random.default_rng(0).choice(len(y), 400, replace=False)
    few[chosen] = y[chosen]
    with PeakMemory() as peak:
        built: list[Any] = []
        times = {"kNN graph": seconds(lambda: built.append(KNN().build(X)), 1)}
        graph = built[0]
        methods = {
            "LS": LaplacianScore(graph),
            **{f"SPEC phi{phi}": SPEC(graph, phi=phi, n_clusters=20) for phi in (1, 2, 3)},
            "sSelect": SSelect(graph),
            **{f"C{c}": ConstraintScore(c) for c in (1, 2, 3)},
            "C4": ConstraintScore(4, graph=graph),
        }
        times |= {name: seconds(lambda m=method: m.evaluate(X, few), 1) for name, method in methods.items()}
    return {"times": times, **peak.facts()}


def first_call(kind: str) -> dict[str, Any]:
    """Time of the first call in this process, and of the best later one."""
    X = data.gaussian(2000, 2000) if kind == "dense" else data.text_like(2000, 5000, 0.014)
    return {what: seconds(lambda: LaplacianScore().evaluate(X), n) for what, n in (("first", 1), ("later", 5))}


def cells(graph: str, n: str, m: str = "20000", k: str = "10") -> dict[str, Any]:
    """Generated cells, 5 % stored: neighbours in X, in its components or by scanpy, or a set of k features."""
    from . import cases, contenders

    def run(X: Any) -> tuple[Any, dict[str, Any]]:
        if graph == "scanpy":
            return contenders.scanpy_neighbors(X, int(k)), {}
        if graph == "set":
            problem, recipe = Problem.read(X), KNN(5)  # the default of subset
            SpectralSelector(SmoothSubset(recipe), n_features_to_select=int(k), screen=None).fit(problem)
            built = problem.graph(recipe)  # built by fit
        else:
            built = KNN(int(k), n_components=50 if graph == "components" else None).build(X)
        return cases.weights(built), {"search": built.neighbors, "recall": built.recall}

    run(data.cells(2000, 500, 0.2)[0])  # imports, and compiles what is not yet on disk
    X, y = data.cells(int(n), int(m), 0.05)
    with PeakMemory() as peak:
        W, how = run(X)
    facts = {**peak.facts(), **how, "stored": X.nnz / (X.shape[0] * X.shape[1])}
    if graph == "set":
        return facts
    rows = np.sort(np.random.default_rng(1).choice(X.shape[0], min(X.shape[0], 200), replace=False))
    squared = np.asarray(X.multiply(X).sum(axis=1)).ravel()[:, None] - 2.0 * (X @ X[rows].toarray().T)
    squared[rows, np.arange(len(rows))] = np.inf
    near = np.argpartition(squared, int(k) - 1, axis=0)[: int(k)].T
    linked = [np.isin(there, W.indices[W.indptr[i] : W.indptr[i + 1]]) for i, there in zip(rows, near, strict=True)]
    i, j = W.nonzero()
    return facts | {"true": float(np.mean(linked)), "same kind": float(np.mean(y[i] == y[j]))}


def ranked(path: str, method: str, labels: str, memory: str, workers: str = "") -> dict[str, Any]:
    """A file of :mod:`benchmarks.scale` ranked within a memory limit, as ``fiedler rank --memory --workers`` does."""
    from fiedler.cli import run
    from fiedler.cli.screen import Screen
    from fiedler.data.dask import from_source
    from fiedler.sources import open_source
    from fiedler.syntax import as_criterion

    from .scale import supervision

    options = {"memory": int(memory), "workers": int(workers) if workers else None}
    screen, criterion = Screen(quiet=True), as_criterion(method)
    with run.resources(options, screen):
        source = open_source(path)
        source = from_source(source) if workers else source
        start = time.perf_counter()
        scores = criterion.evaluate(source, **supervision(labels, len(source)))
        taken = time.perf_counter() - start
    order = np.argsort(-scores if criterion.greater_is_better else scores, kind="stable")
    share = float(np.mean(order[: len(order) // 10] % 10 == 0))
    return {"seconds": taken, "shape": source.shape, "informative": share}


JOBS = {job.__name__: job for job in (wide, kddcup, news20, first_call, cells, ranked)}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(JOBS[sys.argv[1]](*sys.argv[2:])))
