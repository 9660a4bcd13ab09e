"""A long job over slabs: progress, and finished slabs kept in a folder until the job is done.

    with Run(folder="ranking.csv.blocks", fingerprint=..., progress=...):
        selector.fit(source)

The passes over a source follow from the data and the parameters alone, so their number names them. What the folder
holds is used again when its fingerprint is the same, and dropped otherwise; a file that is not whole, or not what was
written, is computed again. Only files of ours are ever removed.
"""

from __future__ import annotations

import json
import os
import re
import time
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import numpy as np

from .atomic import read_json, whole

_SECONDS_BETWEEN_SUMS = 10.0  # a partial sum is as large as the result, so it is not written after every slab
_OURS = re.compile(r"(\.\d+\.part\.)?(manifest\.\w+|\d+-[\w-]+\.(npy|npz|part))")  # names of files in a folder of ours
_START = b'{"fingerprint"'  # of a manifest
Value = np.ndarray | tuple  # of arrays


class Run:
    """Progress and kept results of the passes made inside a ``with`` block.

    Parameters
    ----------
    progress : callable, optional
        ``progress(done, total, what)`` after every slab.
    folder : path, optional
        Where finished slabs are kept; removed when the block ends without an error, or before any is finished.
    fingerprint : str, default=""
        Of the data, the parameters and the working memory. What a folder with another one holds is dropped.
    """

    def __init__(
        self,
        progress: Callable[[int, int, str], None] | None = None,
        folder: str | os.PathLike | None = None,
        fingerprint: str = "",
    ):
        self._progress, self._fingerprint = progress, fingerprint
        self._folder = None if folder is None else Path(folder)
        self._steps, self.n_reused = 0, 0

    def __enter__(self) -> Run:
        if self._folder is not None:
            manifest = self._folder / "manifest.json"
            about = {"fingerprint": self._fingerprint}
            _check_ours(self._folder)
            if read_json(manifest) != about:
                _remove(self._folder)
                self._folder.mkdir(exist_ok=True)
                _write(manifest, lambda file: file.write(json.dumps(about).encode()))
        self._token = _current.set(self)
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        _current.reset(self._token)
        if self._folder is not None and (kind is None or not any(self._folder.glob("[0-9]*.np[yz]"))):
            _remove(self._folder)

    def step(self, what: str, slabs: Sequence[slice]) -> Step:
        """The next pass over a source.

        Parameters
        ----------
        what : str
            How ``progress`` calls its slabs.
        slabs : sequence of slice
            All of them.

        Returns
        -------
        step : Step
            A context that knows which slabs are done.
        """
        self._steps += 1
        return Step(self, self._steps, what, len(slabs))


class Step:
    """One pass: which of its slabs are done."""

    def __init__(self, run: Run, number: int, what: str, total: int):
        self._run, self._number, self._what, self._total = run, number, what, total
        self._done, self._written = 0, time.monotonic()

    def __enter__(self) -> Step:
        self._report()
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def finished(self, slab: slice) -> np.ndarray | None:
        """The result of this slab, if an earlier run kept it."""
        result = _load(self._path(f"{slab.start}-{slab.stop}"))
        if isinstance(result, np.ndarray) and result.ndim and slab.stop - slab.start in result.shape:
            self._run.n_reused += 1
            self.count()
            return result
        return None

    def finish(self, slab: slice, result: np.ndarray) -> np.ndarray:
        """Keep the result of a slab and hand it back."""
        _save(self._path(f"{slab.start}-{slab.stop}"), result)
        self.count()
        return result

    def partial_sum(self) -> tuple[Any, int]:
        """What an earlier run had added up, and over how many slabs."""
        for path in self._sums():
            total, done = _load(path), int(path.stem.rpartition("-")[2])
            if total is not None and done <= self._total:
                self._done = done
                self._run.n_reused += done
                self._report()
                return total, done
        return None, 0

    def add(self, total: Value) -> None:
        """Count a slab whose result is in the total, and keep the total now and then, and at the end."""
        self.count()
        last = self._done == self._total and self._total > 1
        if self._run._folder is None or not (last or time.monotonic() - self._written > _SECONDS_BETWEEN_SUMS):
            return
        earlier = self._sums()
        _save(self._path(f"sum-{self._done:06}", "npz" if isinstance(total, tuple) else "npy"), total)
        for path in earlier:
            path.unlink(missing_ok=True)
        self._written = time.monotonic()

    def _sums(self) -> list[Path]:
        return [] if self._run._folder is None else sorted(self._run._folder.glob(f"{self._number:03}-sum-*.np[yz]"))

    def count(self) -> None:
        self._done += 1
        self._report()

    def _report(self) -> None:
        if self._run._progress is not None:
            self._run._progress(self._done, self._total, self._what)

    def _path(self, piece: str, suffix: str = "npy") -> Path | None:
        return None if self._run._folder is None else self._run._folder / f"{self._number:03}-{piece}.{suffix}"


_current: ContextVar[Run | None] = ContextVar("fiedler_run", default=None)


def current_run() -> Run:
    """The active run, or one that keeps nothing and tells nobody."""
    return _current.get() or Run()


def _load(path: Path | None) -> Any:
    if path is None:
        return None
    try:
        with open(path, "rb") as file:
            loaded = np.load(file, allow_pickle=False)
            values = loaded if isinstance(loaded, np.ndarray) else tuple(loaded[name] for name in loaded.files)
            file.seek(-4, os.SEEK_END)
            return values if file.read(4) == _mark(values) else None
    except Exception:  # whatever is wrong with it, it can be computed again
        return None


def _save(path: Path | None, values: Value) -> None:
    if path is not None:
        arrays = isinstance(values, tuple)

        def write(file: Any) -> None:
            np.savez(file, *values) if arrays else np.save(file, values, allow_pickle=False)
            file.seek(0, os.SEEK_END)
            file.write(_mark(values))

        _write(path, write)


def _mark(values: Value) -> bytes:
    """Four bytes that tell the shape, the type and the values of what was kept."""
    mark = 0
    for array in values if isinstance(values, tuple) else (values,):
        array = np.asarray(array)
        mark = zlib.crc32(f"{array.shape} {array.dtype.str}".encode(), mark)
        ordered = array if array.flags.c_contiguous else array.T if array.flags.f_contiguous else array.copy()
        mark = zlib.crc32(ordered.reshape(-1).view(np.uint8).data, mark)
    return mark.to_bytes(4, "little")


def _write(path: Path, write: Callable[[Any], Any]) -> None:
    with whole(path) as temporary, open(temporary, "wb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())


def _check_ours(folder: Path) -> None:
    """An error unless a folder is not there, or empty, or of an earlier run: with a manifest and nothing foreign."""
    if not folder.exists() and not folder.is_symlink():
        return
    names = [] if not folder.is_dir() else sorted(path.name for path in folder.iterdir())
    foreign = [folder.name] if not folder.is_dir() else [n for n in names if not _is_ours(folder / n)]
    if not foreign and "manifest.json" not in names:  # a run that was killed at once leaves no more than a part of it
        foreign = [name for name in names if "manifest" not in name]
    if foreign:
        raise FileExistsError(f"{folder} is no folder of an earlier run ({foreign[0]} is in the way); move it away.")


def _is_ours(path: Path) -> bool:
    if not _OURS.fullmatch(path.name) or not path.is_file():
        return False
    if path.name != "manifest.json":
        return True
    start = path.read_bytes()[: len(_START)]
    return start == _START[: len(start)]  # a full disk may have cut it short


def _remove(folder: Path) -> None:
    """Remove what is ours from a folder, and the folder unless something else has come into it."""
    if folder.is_dir():
        for path in folder.iterdir():
            if _is_ours(path):
                path.unlink(missing_ok=True)
        with suppress(OSError):
            folder.rmdir()
