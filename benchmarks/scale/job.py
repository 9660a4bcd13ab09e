"""One ranking in a process of its own: seconds, and the peak resident memory of the process and all its workers.

``python -m benchmarks.scale.job`` reads a description as JSON from its standard input, works, and prints a digest of
the scores; :func:`run` starts it and watches it from outside.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

_ROOT = Path(__file__).resolve().parents[2]


def run(**about: Any) -> dict[str, Any]:
    """Seconds of the work itself, peak memory in bytes, and what the job says of its result.

    Parameters
    ----------
    path : str
        Of the file.
    method : str
        As on the command line.
    labels : {"none", "few", "all", "target", "pairs"}
    memory : int, optional
        Bytes the job is told to keep to, as ``--memory`` does.
    workers : int, optional
        Dask worker processes.
    """
    about["path"] = str(about["path"])
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", "benchmarks.scale.job"],
        cwd=_ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdin.write(json.dumps(about))
    process.stdin.close()
    peak = 0
    while process.poll() is None:
        peak = max(peak, sum(_resident(pid) for pid in _family(process.pid)))
        time.sleep(0.02)
    lines = process.stdout.read().strip().splitlines()
    if process.returncode:
        raise RuntimeError(f"{about}: {process.stderr.read().strip()[-500:]}")
    return {**about, **json.loads(lines[-1]), "peak": peak}


def _family(pid: int) -> list[int]:
    found = [pid]
    for parent in found:
        try:
            for task in Path(f"/proc/{parent}/task").iterdir():
                found += [int(child) for child in (task / "children").read_text().split()]
        except OSError:
            continue
    return found


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096
    except (OSError, IndexError):
        return 0


def _supervision(kind: str, n: int) -> dict[str, Any]:
    from .make import clusters

    y, rng = clusters(n), np.random.default_rng(0)
    shown = rng.choice(n, min(n // 2, 200), replace=False)
    if kind == "few":
        few = np.full(n, -1)
        few[shown] = y[shown]
        return {"y": few}
    if kind == "target":
        target = np.full(n, np.nan)
        target[shown] = y[shown] + 0.1 * rng.standard_normal(len(shown))
        return {"y": target}
    if kind == "pairs":
        pairs = np.sort(rng.choice(n, (400, 2)), axis=1)
        pairs = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
        same = y[pairs[:, 0]] == y[pairs[:, 1]]
        return {"must_link": pairs[same], "cannot_link": pairs[~same]}
    return {"y": y} if kind == "all" else {}


def main() -> None:
    about = json.loads(sys.stdin.read())
    warnings.simplefilter("ignore")
    from fiedler.cli import scale
    from fiedler.cli.screen import Screen
    from fiedler.sources import open_source
    from fiedler.syntax import as_criterion

    options = {key: about.get(key) for key in ("memory", "workers")}
    screen = Screen(quiet=True)
    with scale.resources(options, screen):
        source = scale.placed(open_source(about["path"]), options, screen)
        start = time.perf_counter()
        scores = as_criterion(about["method"]).evaluate(
            source, **_supervision(about.get("labels", "none"), len(source))
        )
        seconds = time.perf_counter() - start
    good = as_criterion(about["method"]).greater_is_better
    order = np.argsort(-scores if good else scores, kind="stable")
    share = float(np.mean(order[: len(order) // 10] % 10 == 0))
    bytes_ = float(np.prod(source.shape)) * source.dtype.itemsize
    print(json.dumps({"seconds": seconds, "shape": source.shape, "bytes": bytes_, "informative": share}))


if __name__ == "__main__":
    main()
