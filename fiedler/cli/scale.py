"""Large files on the command line: how much memory, which workers, and what is kept until the job is done."""

from __future__ import annotations

import hashlib
import logging
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click

from .screen import Screen

_BASE = 400 * 2**20  # bytes the process takes before it reads anything: interpreter, NumPy, scikit-learn, kernels
_SHARE = 3.0  # how many times scikit-learn's working memory a job was seen to need at its largest moment
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_SECONDS = 10  # a scheduler may take to answer
# Options that say where results go and what is shown. Every other option is taken to change the blocks of a job.
_CHANGES_NO_BLOCK = frozenset({"out", "report", "force", "quiet", "escape_formulas"})


def size(value: Any) -> float:
    """``500MB`` or ``2GB``, in bytes."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?\s*", str(value), re.IGNORECASE)
    if match is None:
        raise click.BadParameter(f"{value!r} is not an amount of memory such as 500MB or 2GB.")
    found = float(match[1]) * _UNITS[match[2].upper()]
    if found < 1.2 * _BASE:
        raise click.BadParameter(f"{value} is too little: the program itself takes {_BASE / 2**20:.0f} MB.")
    return found


def memory_for_data(options: dict[str, Any]) -> float:
    """Bytes a matrix may take before it is left in its file."""
    if "memory" not in options:
        return float("inf")  # a command that needs all of it
    if options.get("workers") or options.get("scheduler"):
        return 0.0  # the workers read it
    from ..data.memory import physical_bytes

    return (options["memory"] - _BASE if options["memory"] else physical_bytes()) / 4


@contextmanager
def resources(options: dict[str, Any], screen: Screen) -> Iterator[None]:
    """The stated cores and memory, shared among the stated workers, for what happens in here."""
    from sklearn import config_context, get_config
    from threadpoolctl import threadpool_limits

    from ..data import memory

    working, workers = get_config()["working_memory"], options.get("workers")
    most: Any = options.get("memory")
    # Bytes of each process that reads data: this one, or the workers when this one has had what it needs to lead.
    each = (most - _BASE) / workers if most and workers else most
    if most:
        memory.give_back_at_once()
        working = (each - _BASE) / _SHARE / 2**20
        if working < 8:
            raise click.UsageError(f"--memory leaves each of {workers} workers too little; use fewer, or more memory.")
    limit = memory.memory_limit(most or memory.allocation_limit())  # read from the system once
    cores = threadpool_limits(limits=options.get("jobs"))
    with cores, config_context(working_memory=working), limit, ExitStack() as stack:
        if workers or options.get("scheduler"):
            _join_cluster(stack, workers, options.get("scheduler"), each or "auto", screen)
        yield


def _join_cluster(stack: ExitStack, workers: int | None, address: str | None, limit: Any, screen: Screen) -> None:
    """Start workers here, or use those of a cluster, until the stack is closed."""
    if workers and address:
        raise click.UsageError("--workers starts workers here and --scheduler uses those of a cluster; choose one.")
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ImportError("--workers and --scheduler need Dask: pip install 'fiedler[dask]'") from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # failures reach the user as one line, from here
    if address:
        try:
            stack.enter_context(Client(address, timeout=f"{_SECONDS}s"))
        except (OSError, ValueError, TimeoutError):
            silence = f"no Dask scheduler answers there within {_SECONDS} s; start one with 'dask scheduler'"
            raise ValueError(f"--scheduler {address}: {silence}, or use --workers.") from None
        return
    import dask

    about = {"n_workers": workers, "threads_per_worker": 1, "memory_limit": limit, "dashboard_address": ":0"}
    # A worker that pauses to wait for memory would wait for ever where the interpreter itself takes most of it.
    settings = dask.config.set({"distributed.worker.memory.pause": False})
    with screen.working(f"starting {workers} workers"), settings:
        stack.enter_context(Client(stack.enter_context(LocalCluster(processes=True, **about))))


def with_workers(X: Any, screen: Screen) -> Any:
    """X where the workers can read it, if it is in a file of blocks."""
    from ..data.source import Source

    if not isinstance(X, Source):
        screen.note("this format is read as a whole, so --workers and --scheduler are not used; Zarr and HDF5 are not")
        return X
    from ..data.dask import from_source

    return from_source(X)


@contextmanager
def running(job: Any, screen: Screen, text: str) -> Iterator[None]:
    """Show the progress of a job. Finished blocks of a large file are kept beside the output until the job is done."""
    from ..data.source import Source

    large = isinstance(job.problem.X, Source)
    if large and job.options.get("report"):
        raise ValueError(f"--report needs {job.table.source} as a whole; give more --memory, or leave the report out.")
    folder = beside(job.options.get("out"), "blocks") if large else None
    shown = screen.watching(text, folder, _fingerprint(job) if large else "")
    with _said_if_interrupted("blocks", folder, screen), shown as run:
        yield
    if run.n_reused:
        screen.note(f"{run.n_reused} finished blocks of an earlier run were used again")


@contextmanager
def keeping_cells(out: str | None, screen: Screen) -> Iterator[Path | None]:
    """The folder beside the output where a comparison keeps its finished cells until the output is written."""
    from ..evaluate.cells import finished_cells, remove_cells

    folder = beside(out, "cells")
    if folder is None:
        yield None
        return
    found = len(finished_cells(folder))
    if found:
        screen.note(f"{folder} has {found} finished cells of an earlier run; those of the same job are used again")
    with _said_if_interrupted("cells", folder, screen):
        try:
            yield folder
        except BaseException:
            if not finished_cells(folder):
                remove_cells(folder)
            raise
    remove_cells(folder)


@contextmanager
def _said_if_interrupted(what: str, folder: Path | None, screen: Screen) -> Iterator[None]:
    try:
        yield
    except BaseException:
        if folder is not None and folder.exists():
            screen.note(f"finished {what} are kept in {folder}; the same command continues from there")
        raise


def beside(out: str | None, ending: str) -> Path | None:
    """The folder for finished parts of a result: its name and an ending, cut to what the file system takes."""
    if out in (None, "-"):
        return None
    path = Path(str(out))
    name, most = path.name, longest_name(path.parent) - len(ending) - 1
    while len(os.fsencode(name)) > most:
        name = name[:-1]
    return path.with_name(f"{name}.{ending}")


def longest_name(folder: str | Path) -> int:
    """Bytes a name in this folder may have."""
    try:
        return os.pathconf(folder, "PC_NAME_MAX")
    except (AttributeError, ValueError, OSError):
        return 255


def _fingerprint(job: Any) -> str:
    """Changes with anything that can change a block: everything the job was told, but for ``_CHANGES_NO_BLOCK``."""
    import numpy as np
    from sklearn import get_config

    from ..syntax import short_text
    from ..version import software

    y = None if job.table.y is None else [repr(value) for value in np.asarray(job.table.y, dtype=object).tolist()]
    pairs = {kind: values.tolist() for kind, values in job.pairs.items()}
    told = sorted((name, repr(value)) for name, value in job.options.items() if name not in _CHANGES_NO_BLOCK)
    blocks = job.problem.X.fingerprint(), get_config()["working_memory"]
    about = (software(), job.command, short_text(job.criterion), told, blocks, y, pairs, job.unlabeled)
    return hashlib.blake2b(repr(about).encode(), digest_size=16).hexdigest()
