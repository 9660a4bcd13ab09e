"""Dask arrays as sources: workers compute on the blocks and return only scores and small sums.

Column slabs are rechunked blocks of Dask and are never sent to the client. The active ``distributed`` client runs them,
or the threads of Dask if there is no client. If a worker dies, Dask computes its blocks again.
"""

from __future__ import annotations

import pickle
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import config_context, get_config

from ..validation import is_sparse
from .memory import give_back, slab_bytes
from .source import Part, Source, block_name, check_finite, spans, unreadable
from .work import current_run

Span = tuple[slice, Any]  # rows, and a slice or numbers of columns
Task = tuple[Any, Span]  # a delayed value, and the block it is computed from
_LABEL = "the Dask array"
_BATCH, _BATCHES = 16, 20  # blocks merged by the workers before results are counted and kept; number of such batches
_OURS = "raised while a block was scored, not while it was read"
_NAMED = "names the file and the block"
_PATIENCE, _SECONDS_BETWEEN_LOOKS = 60, 5  # longest time without workers, and time between checks, in seconds


class DaskSource(Source):
    """A two-dimensional Dask array of ndarray or scipy.sparse chunks."""

    lazy = True

    def __init__(self, array: Any, names: Any = None):
        if array.ndim != 2:
            message = f"Expected 2D array, got a Dask array of shape {array.shape} instead"
            raise ValueError(f"{message}; X must have two axes.")
        if np.isnan(array.shape).any():
            raise ValueError("X is a Dask array of unknown shape; call X.compute_chunk_sizes() first.")
        self.sparse = is_sparse(array._meta)
        super().__init__(array.shape, array.dtype, _LABEL, (max(array.chunks[0]), max(array.chunks[1])), names)
        self.array = array

    def _read(self, rows: slice, columns: slice | np.ndarray) -> Part:
        ((_, part),) = _finished([(self.array[rows, columns], (rows, columns))], self.shape)
        return part if is_sparse(part) else np.asarray(part)

    def take_rows(self, rows: Any) -> DaskSource:
        return DaskSource(self.array[np.asarray(rows)], self.names)

    def take_columns(self, columns: np.ndarray) -> DaskSource:
        names = None if self.names is None else [self.names[j] for j in columns]
        return DaskSource(self.array[:, columns], names)

    @property
    def by_rows(self) -> bool:
        return self.array.numblocks[0] > 1 and self.array.numblocks[1] == 1

    def slabs(self) -> list[slice]:
        if self.array.numblocks[0] == 1:  # already chunked by columns: use the chunks unchanged
            return _chunks(self.array.chunks[1])
        # At least several slabs, so that the work can be shared among workers.
        share = slab_bytes() * self.shape[1] / max(self._bytes, 1.0)
        return spans(self.shape[1], min(share, -(-self.shape[1] // 8)), self.chunks[1])

    def map(self, function: Callable[..., np.ndarray], positioned: bool = False) -> list[np.ndarray]:
        slabs = self.slabs()
        with current_run().next_pass("blocks", slabs) as step:
            results = {slab.start: kept for slab in slabs if (kept := step.finished(slab)) is not None}
            waiting = [
                (task, block) for task, block in self._tasks(function, 1, positioned) if block[1].start not in results
            ]
            for (_, slab), result in _finished(waiting, self.shape):
                results[slab.start] = step.finish(slab, result)
        return [results[slab.start] for slab in slabs]

    def sum(self, function: Callable[..., np.ndarray], positioned: bool = False) -> np.ndarray:
        total = self._reduced("passes", self._tasks(function, 1, positioned), np.add)
        return np.require(total, np.float64, "W")  # the result of a worker may be read-only

    def fold_rows(self, function: Callable[[Part], Any], merge: Callable[[Any, Any], Any]) -> Any:
        return self._reduced("row blocks", self._tasks(function, 0), merge)

    def _reduced(self, what: str, tasks: list[Task], merge: Callable[[Any, Any], Any]) -> Any:
        """All results merged in order; workers merge them in batches, and each batch is counted and kept."""
        size = max(_BATCH, -(-len(tasks) // _BATCHES))
        batches = [slice(start, min(start + size, len(tasks))) for start in range(0, len(tasks), size)]

        def of_batch(batch: slice) -> Any:
            parts, blocks = zip(*tasks[batch], strict=True)
            rows, columns = (slice(first.start, last.stop) for first, last in zip(blocks[0], blocks[-1], strict=True))
            ((_, part),) = _finished([(_merged(list(parts), merge), (rows, columns))], self.shape)
            return part

        return self._folded(what, batches, of_batch, merge)

    def row_slabs(self) -> list[slice]:
        return _chunks(self.array.chunks[0]) if self.array.numblocks[1] == 1 else super().row_slabs()

    def _tasks(self, function: Callable[..., Any], axis: int, positioned: bool = False) -> list[Task]:
        """``function`` on each slab of rows (axis 0) or columns (axis 1)."""
        from dask import delayed

        slabs, (n, m) = self.slabs() if axis else self.row_slabs(), self.shape
        values = self.array.rechunk({axis: tuple(s.stop - s.start for s in slabs), 1 - axis: -1}).to_delayed().ravel()
        blocks = [(slice(0, n), slab) if axis else (slab, slice(0, m)) for slab in slabs]
        work = delayed(_Block(function, self.shape, positioned), pure=False)
        return [(work(value, *block), block) for value, block in zip(values, blocks, strict=True)]

    def fingerprint(self) -> str:
        return f"{super().fingerprint()} {self.array.name}"


def _chunks(sizes: tuple[int, ...]) -> list[slice]:
    ends = np.cumsum(sizes).tolist()
    return [slice(a, b) for a, b in zip([0, *ends[:-1]], ends, strict=True)]


def _merged(parts: list[Any], merge: Callable[[Any, Any], Any]) -> Any:
    """Delayed values merged in a tree, so that a worker holds only a few of them at a time."""
    from dask import delayed

    while len(parts) > 1:
        pairs = zip(parts[::2], [*parts[1::2], *[None] * (len(parts) % 2)], strict=True)
        parts = [a if b is None else delayed(merge)(a, b) for a, b in pairs]
    return parts[0]


def from_source(source: Source) -> DaskSource:
    """The same matrix as a Dask array whose blocks are read by the workers, which need access to the same files."""
    import dask.array as da
    from dask import delayed

    (n, m), by_rows = source.shape, source.by_rows
    spans_ = source.row_slabs() if by_rows else source.slabs()
    meta = (sp.csc_array if source.sparse else np.empty)((0, 0), dtype=source.dtype)
    read = delayed(_read_elsewhere, pure=True)
    blocks = []
    version = source.fingerprint()  # a file that was changed gets another version
    for span in spans_:
        shape = (span.stop - span.start, m) if by_rows else (n, span.stop - span.start)
        part = read(source.reopen, version, span, by_rows)
        blocks.append(da.from_delayed(part, shape=shape, dtype=source.dtype, meta=meta))
    return DaskSource(da.concatenate(blocks, axis=0 if by_rows else 1), source.names)


def _read_elsewhere(reopen: Callable[[], Source], version: str, span: slice, by_rows: bool) -> Part:
    """Rows or columns of a source, which is opened once in every process, and again if the file has changed."""
    try:
        key = pickle.dumps(reopen)
        if _open.get(key, ("", None))[0] != version:
            _open[key] = (version, reopen())
        return _open[key][1][span] if by_rows else _open[key][1][:, span]
    except Exception as error:
        error.add_note(_NAMED)
        raise


_open: dict[bytes, tuple[str, Source]] = {}


class _Block:
    """The task of a worker for one block: check it, and apply the function."""

    def __init__(self, function: Callable[..., Any], shape: tuple[int, int], positioned: bool = False):
        self.function, self.shape, self.positioned = function, shape, positioned
        self.memory = get_config()["working_memory"]  # of the client, because a worker has its own configuration

    def __call__(self, block: Any, rows: slice, columns: slice) -> Any:
        if is_sparse(block):
            block = (sp.csc_array if rows.stop - rows.start == self.shape[0] else sp.csr_array)(block)
        else:
            block = np.asarray(block)
        if block.dtype.kind not in "biuf":
            raise ValueError(f"{_LABEL} holds {block.dtype}, not real numbers.")
        check_finite(block, _LABEL, None, columns)
        try:
            with config_context(working_memory=self.memory):
                return self.function(block, *[columns.start] * self.positioned)
        except Exception as error:
            error.add_note(_OURS)
            raise
        finally:
            give_back()


def _finished(tasks: list[Task], shape: tuple[int, int]) -> Iterator[tuple[Span, Any]]:
    """Pairs (block, result) in the order of completion, from the active client or from threads."""
    try:
        from distributed import default_client

        client = default_client()
    except (ImportError, ValueError):
        client = None
    if client is not None and client.status not in ("closed", "closing"):
        yield from _by_client(client, tasks, shape)
        return
    for task, block in tasks:
        yield block, _computed(task.compute, block, shape)


def _by_client(client: Any, tasks: list[Task], shape: tuple[int, int]) -> Iterator[tuple[Span, Any]]:
    """As :func:`_finished`, by a client; raises an error if its cluster has no workers."""
    from distributed import TimeoutError, wait

    with warnings.catch_warnings():  # a value per column is needed on every worker
        warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
        left, alone = client.compute([task for task, _ in tasks]), None  # time of the first check without workers
    blocks = {future.key: block for future, (_, block) in zip(left, tasks, strict=True)}
    try:
        while left:
            try:
                done, _ = wait(left, timeout=_SECONDS_BETWEEN_LOOKS, return_when="FIRST_COMPLETED")
                for future in done:
                    block = blocks[future.key]
                    result = _computed(partial(future.result, timeout=_PATIENCE), block, shape)
                    left.remove(future)
                    yield block, result
            except TimeoutError:
                if client.status == "running" and client.scheduler_info()["workers"]:
                    alone = None
                    continue
                alone = time.monotonic() if alone is None else alone
                if time.monotonic() - alone >= _PATIENCE or client.status == "closed":
                    raise ConnectionError(
                        f"the Dask cluster of {client} has had no workers for {_PATIENCE} seconds; start workers, or "
                        "close the client, so that the blocks are computed in this process."
                    ) from None
    finally:
        if client.status == "running":
            client.cancel(left)


def _computed(result: Callable[[], Any], block: Span, shape: tuple[int, int]) -> Any:
    """``result()``, with errors that name the block."""
    try:
        return result()
    except Exception as error:
        if isinstance(error, ConnectionError) or type(error).__name__ == "TimeoutError":
            raise
        if type(error).__name__ == "KilledWorker":
            raise MemoryError(
                f"{_LABEL}: workers died repeatedly while {block_name(*block, shape)} was computed, most likely "
                "out of memory; use smaller chunks or workers with more memory."
            ) from error
        notes = getattr(error, "__notes__", ())
        if _LABEL in str(error) or _NAMED in notes or (_OURS in notes and not isinstance(error, MemoryError)):
            raise
        raise unreadable(_LABEL, *block, shape, error) from error
