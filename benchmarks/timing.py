"""Contenders timed in turns, A B A B ..., best of several: a busy machine slows all of them alike.

Wall time decides; process time (all threads) stands beside it, because a neighbour on the machine takes the second core
from whoever uses it, and only the wall clock notices.
"""

from __future__ import annotations

import gc
import time
import tracemalloc
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass
class Timing:
    """Best wall and process time of one contender in seconds, how often it ran, and what it returned last."""

    wall: float = float("inf")
    cpu: float = float("inf")
    runs: int = 0
    value: Any = None
    failed: str | None = None

    def run(self, function: Callable[[], Any], factor: float = 1.0) -> float:
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
        return wall


def interleaved(
    contenders: Mapping[str, Callable[[], Any]],
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
