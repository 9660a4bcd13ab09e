"""Contenders timed in turns, A B A B ..., best of several: a busy machine slows all of them alike.

Wall time decides; process time (all threads) stands beside it, because a neighbour on the machine takes the second core
from whoever uses it, and only the wall clock notices.
"""

from __future__ import annotations

import gc
import os
import platform
import time
import tracemalloc
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Contenders = Mapping[str, Callable[[], Any]]


@dataclass
class Timing:
    """Best wall and process time of one contender in seconds, how often it ran, and what it returned last."""

    wall: float = float("inf")
    cpu: float = float("inf")
    runs: int = 0
    value: Any = None
    failed: str | None = None

    def run(self, function: Callable[[], Any], factor: float = 1.0) -> None:
        """Time one call; ``factor`` scales a share of a job up to the whole."""
        gc.disable()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                cpu, wall = time.process_time(), time.perf_counter()
                self.value = function()
                wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        finally:
            gc.enable()
        self.wall, self.cpu, self.runs = min(self.wall, factor * wall), min(self.cpu, factor * cpu), self.runs + 1


def interleaved(
    contenders: Contenders,
    *,
    seconds: float,
    once: tuple[str, ...] = (),
    at_least: int = 3,
    at_most: int = 200,
    factors: Mapping[str, float] | None = None,
) -> dict[str, Timing]:
    """Best times of the contenders in turns, for some seconds; those in ``once`` run a single time, unwarmed."""
    timings, factors = {name: Timing() for name in contenders}, factors or {}
    for name, function in contenders.items():
        # The first run compiles, faults pages in and fills caches; it counts only where it is the only one.
        try:
            (timings[name] if name in once else Timing()).run(function, factors.get(name, 1.0))
        except Exception as error:
            if name == "fiedler":
                raise
            timings[name].failed = f"{type(error).__name__}: {error}"
    repeated = {name: f for name, f in contenders.items() if name not in once and timings[name].failed is None}
    gc.collect()
    start, rounds = time.perf_counter(), 0
    while rounds < at_least or (rounds < at_most and time.perf_counter() - start < seconds):
        for name, function in repeated.items():
            timings[name].run(function, factors.get(name, 1.0))
        rounds += 1
    return timings


def seconds(work: Callable[[], Any], times: int = 3) -> float:
    """The best wall time of a few runs."""
    timing = Timing()
    for _ in range(times):
        timing.run(work)
    return timing.wall


def peak_memory(function: Callable[[], Any]) -> int:
    """Peak of what Python and NumPy allocate during a call, in bytes."""
    gc.collect()
    tracemalloc.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def machine() -> list[tuple[str, str]]:
    """Facts about this machine that the numbers depend on; a question mark where a system does not tell."""
    from . import contenders, data

    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        processor = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
        memory = f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"
        cores, load = len(os.sched_getaffinity(0)), ", ".join(f"{load:.1f}" for load in os.getloadavg())
    except (AttributeError, ValueError, OSError, StopIteration):  # not Linux
        processor, memory, cores, load = platform.processor() or platform.machine(), "?", os.cpu_count(), "?"
    packages = ", ".join(f"{name} {version}" for name, version in contenders.versions().items())
    stored = "the papers' data sets" if data.folder() else "FIEDLER_DATA not set: generated data of the same shapes"
    return [
        ("date", time.strftime("%Y-%m-%d %H:%M %Z")),
        ("processor", f"{processor}, {cores} cores"),
        ("memory", memory),
        ("load average", load),
        ("system", f"{platform.system()} {platform.release()}, Python {platform.python_version()}"),
        ("packages", packages),
        ("data", stored),
    ]
