"""Memory limits for slabs and for sizes that files declare, and the return of freed memory to the system.

The sizes in a file cannot be trusted. A header of thirty bytes can declare a matrix of a terabyte, and a kilobyte of
gzip can unpack to a megabyte. Therefore a reader passes every size to :func:`check_size` before it allocates memory.
The limit is stated by the caller (``--memory`` on the command line, ``memory=`` of ``read_table``); by default it is
half of the free memory.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

from sklearn import get_config

from ..errors import ParameterError

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # constants of malloc.h in glibc
DEFLATE = 1032  # largest number of bytes from one byte of gzip, zip or zlib
TEXT_BYTES = 64  # bytes of a short text in a Python list
_STATED: ContextVar[float | None] = ContextVar("stated", default=None)


def working_bytes() -> float:
    """Limit for all temporary arrays in bytes: the ``working_memory`` of scikit-learn."""
    return float(get_config()["working_memory"] * 2**20)


def slab_bytes() -> float:
    """Limit for a slab in bytes."""
    return working_bytes() / 4


# -------------------------------------------------------------------- what a file declares


@contextmanager
def memory_limit(size: float | None) -> Iterator[None]:
    """Context with a limit in bytes for sizes that a file declares; None does not change the limit.

    Examples
    --------
    >>> with memory_limit(2**20):
    ...     allocation_limit()
    1048576.0
    """
    token = _STATED.set(_STATED.get() if size is None else float(size))
    try:
        yield
    finally:
        _STATED.reset(token)


def allocation_limit() -> float:
    """The stated limit, or half of the free memory."""
    stated = _STATED.get()
    return _free() / 2 if stated is None else stated


def check_size(path: Any, declared: str, size: float, stored: float | None = None) -> None:
    """Raise an error if a size, before it is allocated, exceeds what the file can hold or the memory limit.

    Parameters
    ----------
    path : path or str
        The file, for the message.
    declared : str
        The declaration in the file, such as "a matrix of 3 x 4".
    size : float
        Bytes that would be allocated.
    stored : float, optional
        Number of compressed bytes; one byte of deflate gives at most 1032 bytes.

    Examples
    --------
    >>> with memory_limit(2**30):
    ...     check_size("x.mtx", "a matrix of 1000000 x 1000000", 8e12)
    Traceback (most recent call last):
        ...
    fiedler.errors.ParameterError: x.mtx declares a matrix of 1000000 x 1000000, which takes 7450.6 GB; the limit ...
    """
    if stored is not None and size > DEFLATE * stored + 2**10:
        what = f"{declared}, but {stored:.0f} compressed bytes cannot hold it"
        raise ValueError(f"{path} declares {what}; the file is damaged.")
    limit = allocation_limit()
    if size > limit:
        units = ((2**30, "GB"), (2**20, "MB"), (2**10, "kB"))
        takes, most = (
            next(f"{x / unit:.1f} {name}" for unit, name in units if x >= unit or name == "kB") for x in (size, limit)
        )
        message = f"{path} declares {declared}, which takes {takes}; the limit is {most}. If the file is right, allow "
        message += "more with memory=, or store it as Zarr or HDF5, which can be read in blocks."
        raise ParameterError(message, parameter="memory", value=limit, way_out={"memory=": ("memory", ...)})


def _free() -> float:
    """Free memory for this process in bytes, limited by the machine and by its container."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free = next(float(line.split()[1]) * 2**10 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):  # not Linux
        free = physical_bytes() / 2
    try:
        limits = (Path(f"/sys/fs/cgroup/memory.{what}").read_text(encoding="ascii") for what in ("max", "current"))
        allowed, used = map(float, limits)
        return min(free, max(allowed - used, 0.0))
    except (OSError, ValueError):  # no container, or no limit
        return free


def physical_bytes() -> float:
    """Total memory of the machine in bytes, if the system provides it."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return 8 * 2.0**30


# -------------------------------------------------------------------- back to the system


def give_back() -> None:
    """Return freed memory to the system, because glibc keeps it per thread, which adds up over many slabs."""
    if _libc() is not None:
        _libc().malloc_trim(0)


def give_back_at_once() -> None:
    """Let glibc return large pieces as soon as they are freed; only for the process of the command line."""
    if _libc() is not None:
        _libc().mallopt(_M_MMAP_THRESHOLD, 2**22)
        _libc().mallopt(_M_TRIM_THRESHOLD, 2**22)  # setting either one stops both thresholds from growing


@cache
def _libc() -> Any:
    try:
        libc = ctypes.CDLL("libc.so.6")
    except OSError:
        return None
    return libc if hasattr(libc, "malloc_trim") and hasattr(libc, "mallopt") else None  # otherwise it is not glibc
