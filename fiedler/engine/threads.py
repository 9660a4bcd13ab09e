"""Blocks of work on all allowed cores: threads over blocks, one BLAS thread in each, never more than allowed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from threading import Lock, local
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

_WORTH_SHARING = 4e6  # scalar operations below which starting threads costs more than it saves
_WORTH_BLAS_THREADS = 3e8
_DONE = object()


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()  # looks through the loaded libraries once; scipy and numpy are in by now


def n_threads(operations: float = np.inf) -> int:
    """Number of threads for a job: the cores, ``OMP_NUM_THREADS`` and any threadpoolctl limit on BLAS allowing."""
    if operations < _WORTH_SHARING:
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    stated = os.environ.get("OMP_NUM_THREADS", "")
    blas = [lib["num_threads"] for lib in _controller().info() if lib["user_api"] == "blas"]
    return max(1, min([cores, *blas, *([int(stated)] if stated.isdigit() else [])]))


class _OneBlasThread:
    """A context in which BLAS keeps to one thread, whoever else is inside at the same time.

    Most builds of BLAS have one limit for the whole process. If fits in several threads each set it and restored what
    they had found, the last to leave would restore the limit of another. So the first one in sets it, and the last one
    out restores it. Builds on OpenMP have a limit per thread, and every thread sets its own.
    """

    def __init__(self) -> None:
        self._lock, self._inside, self._own = Lock(), 0, local()
        self._limit: Any = None

    def __enter__(self) -> None:
        if _limits_are_per_thread():
            self._own.limits = [*getattr(self._own, "limits", []), _controller().limit(limits=1, user_api="blas")]
            return
        with self._lock:
            if self._inside == 0:
                self._limit = _controller().limit(limits=1, user_api="blas")
                _let_any_thread_set_limits()
            self._inside += 1

    def __exit__(self, *_: Any) -> None:
        if _limits_are_per_thread():
            self._own.limits.pop().restore_original_limits()
            return
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.restore_original_limits()
                _let_any_thread_set_limits()


@cache
def _limits_are_per_thread() -> bool:
    found = [lib for lib in _controller().info() if lib["user_api"] == "blas"]
    return bool(found) and all(lib.get("threading_layer") == "openmp" for lib in found)


def _let_any_thread_set_limits() -> None:
    """threadpoolctl 3.8 ignores limits of all threads but the one that set one first, until that one is done."""
    for lib in _controller().lib_controllers:
        release = getattr(lib, "clear_controlling_thread", None)
        if release is not None:
            release(force=True)


_ONE = _OneBlasThread()


def one_blas_thread(operations: float) -> AbstractContextManager:
    """A context in which BLAS keeps to one thread, for jobs too small to share; does nothing for larger ones."""
    return _ONE if operations < _WORTH_BLAS_THREADS else nullcontext()


def for_each(function: Callable[[Any], Any], items: Iterable[Any], operations: float) -> None:
    """Call function on every item, in threads when there are enough operations to share; interruptible.

    The calling thread works too. The first error, or Ctrl-C, ends it all; items not begun by then are left.
    """
    items = list(items)
    threads = min(n_threads(operations), len(items)) if len(items) > 1 else 1
    if threads == 1:
        for item in items:
            function(item)
        return
    left, lock = iter(items), Lock()

    def work() -> None:
        nonlocal left
        try:
            while True:
                with lock:
                    item = next(left, _DONE)
                if item is _DONE:
                    return
                function(item)
        except BaseException:
            with lock:
                left = iter(())
            raise

    with _ONE, ThreadPoolExecutor(threads - 1) as pool:
        others = [pool.submit(work) for _ in range(threads - 1)]
        work()
        for other in others:
            other.result()
