"""A long job over slabs: progress, and finished slabs kept in a folder until the job is done.

    with Run(folder="ranking.csv.blocks", fingerprint=..., progress=...):
        selector.fit(source)

The passes over a source follow from the data and the parameters alone, so their number names them. What the folder
holds is used again when its fingerprint is the same, and dropped otherwise; a file that is not whole is computed again.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from .atomic import read_json, whole

_SECONDS_BETWEEN_SUMS = 10.0  # a partial sum is as large as the result, so it is not written after every slab
_OURS = re.compile(r"(\.\d+\.part\.)?(manifest\.\w+|\d+-[\w-]+\.(npy|npz|part))")  # names of files in a folder of ours
Value = np.ndarray | tuple  # of arrays


class Run:
    """Progress and kept results of the passes made inside a ``with`` block.

    Parameters
    ----------
    progress : callable, optional
        ``progress(done, total, what)`` after every slab.
    folder : path, optional
        Where finished slabs are kept; removed when the block ends without an error, or before any is finished.
    fingerprint : str
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
            if read_json(manifest) != about:
                _drop(self._folder)
                self._folder.mkdir()
                _write(manifest, lambda file: file.write(json.dumps(about).encode()))
        self._token = _current.set(self)
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        _current.reset(self._token)
        if self._folder is not None and (kind is None or not any(self._folder.glob("*.np[yz]"))):
            shutil.rmtree(self._folder, ignore_errors=True)

    def step(self, what: str, slabs: Sequence[slice]) -> Step:
        """The next pass over a source."""
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
        if result is not None:
            self._run.n_reused += 1
            self.count()
        return result

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
            return loaded if isinstance(loaded, np.ndarray) else tuple(loaded[name] for name in loaded.files)
    except (OSError, ValueError, EOFError, BadZipFile):
        return None


def _save(path: Path | None, values: Value) -> None:
    if path is not None:
        arrays = isinstance(values, tuple)
        _write(path, lambda file: np.savez(file, *values) if arrays else np.save(file, values, allow_pickle=False))


def _write(path: Path, write: Callable[[Any], Any]) -> None:
    with whole(path) as temporary, open(temporary, "wb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())


def _drop(folder: Path) -> None:
    """Remove a folder of an earlier run; one that holds anything else is somebody else's."""
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else [folder.name] * folder.exists()
    foreign = [name for name in names if not _OURS.fullmatch(name)]
    if foreign:
        raise FileExistsError(f"{folder} is no folder of an earlier run ({foreign[0]} is in the way); move it away.")
    shutil.rmtree(folder, ignore_errors=True)
