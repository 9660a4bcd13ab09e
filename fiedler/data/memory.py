"""How much memory a slab may take, and how freed memory goes back to the system."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from sklearn import get_config

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # of glibc's malloc.h


def working_bytes() -> float:
    """Bytes that temporary arrays may take together: scikit-learn's ``working_memory``."""
    return float(get_config()["working_memory"] * 2**20)


def slab_bytes() -> float:
    """Bytes a slab may take."""
    return working_bytes() / 4


def give_back() -> None:
    """Return freed memory to the system: glibc keeps it per thread, which adds up over many slabs."""
    if _libc() is not None:
        _libc().malloc_trim(0)


def give_back_at_once() -> None:
    """Let glibc return large pieces when they are freed, from now on: for a process that is ours alone."""
    if _libc() is not None:
        _libc().mallopt(_M_MMAP_THRESHOLD, 2**22)
        _libc().mallopt(_M_TRIM_THRESHOLD, 2**22)  # either of them ends that these grow with what was asked for


@cache
def _libc() -> Any:
    try:
        libc = ctypes.CDLL("libc.so.6")
    except OSError:
        return None
    return libc if hasattr(libc, "malloc_trim") and hasattr(libc, "mallopt") else None  # else not glibc
