"""Work on all allowed cores: threads over blocks, with one BLAS thread in each."""

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

from ..data.work import counting, listening

_WORTH_SHARING = 4e6  # for fewer scalar operations, starting threads costs more than it saves
_WORTH_BLAS_THREADS = 3e8
_DONE = object()


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()  # scans the loaded libraries once; scipy and numpy are already loaded


def n_threads(operations: float = np.inf) -> int:
    """Number of threads for a job, limited by the cores, ``OMP_NUM_THREADS`` and threadpoolctl limits on BLAS."""
    if operations < _WORTH_SHARING:
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    stated = os.environ.get("OMP_NUM_THREADS", "")
    blas = [lib["num_threads"] for lib in _controller().info() if lib["user_api"] == "blas"]
    return max(1, min([cores, *blas, *([int(stated)] if stated.isdigit() else [])]))


class _OneBlasThread:
    """A context in which BLAS uses one thread, also if several threads are inside at the same time.

    Most builds of BLAS have one limit for the whole process. If several threads each set and restored it, the last one
    could restore the limit of another. So the first thread that enters sets the limit, and the last thread that leaves
    restores it. Builds with OpenMP have one limit per thread, and every thread sets its own.
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
    """Work around threadpoolctl 3.8, which ignores limits of other threads while the first thread has one."""
    for lib in _controller().lib_controllers:
        release = getattr(lib, "clear_controlling_thread", None)
        if release is not None:
            release(force=True)


_ONE = _OneBlasThread()


def batches(length: int, size: int) -> list[slice]:
    """Slices of a size that follow one another from 0 to length; the last one may be shorter."""
    return [slice(start, min(start + size, length)) for start in range(0, length, size)]


def one_blas_thread(operations: float) -> AbstractContextManager:
    """A context in which BLAS uses one thread for small jobs; for large jobs it does nothing."""
    return _ONE if operations < _WORTH_BLAS_THREADS else nullcontext()


def for_each(function: Callable[[Any], Any], items: Iterable[Any], operations: float, what: str = "") -> None:
    """Call a function on every item, in threads if there are enough operations; it can be interrupted.

    The calling thread works too. The first error, or Ctrl-C, stops the work, and the remaining items are not processed.
    Items that have a name (``what``) are counted for the progress of the active run.
    """
    items = list(items)
    if what and listening():
        with counting(what, len(items)) as count:

            def counted(item: Any) -> None:
                function(item)
                count()

            for_each(counted, items, operations)
        return
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
