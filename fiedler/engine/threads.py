"""Work on all allowed cores: threads over blocks, with one BLAS thread in each."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from threading import Lock
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from ..data.work import counting, listening

_WORTH_SHARING = 4e6  # for fewer scalar operations, starting threads costs more than it saves
_WORTH_BLAS_THREADS = 3e8
_DONE = object()
_entering, _inside = Lock(), 0  # threads inside one_thread(), and the limit that the first of them has set
_limit: Any = None


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


@contextmanager
def one_thread() -> Iterator[None]:
    """A context in which BLAS uses one thread, also if several threads are inside at the same time.

    Limits of OpenMP belong to a thread. All others belong to the process: the first thread that enters sets the limit
    and the last thread that leaves removes it.
    """
    global _inside, _limit
    libraries = _controller().lib_controllers
    blas = [lib for lib in libraries if lib.user_api == "blas"]
    if blas and all(getattr(lib, "threading_layer", None) == "openmp" for lib in blas):
        with _controller().limit(limits=1, user_api="blas"):
            yield
        return
    # threadpoolctl 3.8 ignores limits of other threads while the first thread has one, until it is told to forget it.
    forget = [lib.clear_controlling_thread for lib in libraries if hasattr(lib, "clear_controlling_thread")]
    with _entering:
        if _inside == 0:
            _limit = _controller().limit(limits=1, user_api="blas")
            for release in forget:
                release(force=True)
        _inside += 1
    try:
        yield
    finally:
        with _entering:
            _inside -= 1
            if _inside == 0:
                _limit.restore_original_limits()
                for release in forget:
                    release(force=True)


def batches(length: int, size: int) -> list[slice]:
    """Slices of a size that follow one another from 0 to length; the last one may be shorter."""
    return [slice(start, min(start + size, length)) for start in range(0, length, size)]


def one_blas_thread(operations: float) -> AbstractContextManager:
    """A context in which BLAS uses one thread for small jobs; for large jobs it does nothing."""
    return one_thread() if operations < _WORTH_BLAS_THREADS else nullcontext()


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

    with one_thread(), ThreadPoolExecutor(threads - 1) as pool:
        others = [pool.submit(work) for _ in range(threads - 1)]
        work()
        for other in others:
            other.result()
