"""Storage of finished parts of a long job in a folder, so that an interrupted job continues where it stopped.

:class:`Kept` is the folder. A comparison stores its cells there; their names are hashes of everything they depend on. A
job over a source stores its finished slabs. A :class:`Run` also reports the progress of data in memory:

    with Run(folder="ranking.csv.blocks", fingerprint=..., progress=...):
        selector.fit(source)

The passes over a source depend only on the data and the parameters, so their number identifies them. The content of the
folder is used again if its fingerprint is the same, and removed otherwise. If a file is incomplete or was changed, its
result is computed again. Only files that were written by this module are removed.
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

from .atomic import whole
from .progress import counting, listen, listen_no_more

# Names of files that this module writes.
_OURS = re.compile(r"(\.\d+\.part\.)?(manifest\.\w+|\d+-[\w-]+\.(npy|npz|part))")
_START = b'{"fingerprint"'  # the first bytes of a manifest
Value = np.ndarray | tuple  # an array or a tuple of arrays


class Kept:
    """A folder of finished results; a result that is missing or damaged is None.

    Parameters
    ----------
    folder : path or None
        The folder; with None nothing is stored.
    """

    def __init__(self, folder: str | os.PathLike | None):
        self.folder = None if folder is None else Path(folder)

    def load(self, name: str) -> Any:
        """Load an array (.npy), a tuple of arrays (.npz) or a JSON value (.json)."""
        if self.folder is None:
            return None
        path = self.folder / name
        try:
            if path.suffix == ".json":
                return json.loads(path.read_text(encoding="utf-8"))
            with open(path, "rb") as file:
                loaded = np.load(file, allow_pickle=False)
                values = loaded if isinstance(loaded, np.ndarray) else tuple(loaded[part] for part in loaded.files)
                file.seek(-4, os.SEEK_END)
                return values if file.read(4) == _mark(values) else None
        except Exception:  # any damaged result can be computed again
            return None

    def save(self, name: str, value: Any) -> None:
        """Write a result; the suffix of the name is its type."""
        if self.folder is None:
            return
        with whole(self.folder / name) as temporary, open(temporary, "wb") as file:
            if name.endswith(".json"):
                file.write(json.dumps(value).encode())
            else:
                np.savez(file, *value) if isinstance(value, tuple) else np.save(file, value, allow_pickle=False)
                file.seek(0, os.SEEK_END)
                file.write(_mark(value))
            file.flush()
            os.fsync(file.fileno())

    def names(self, pattern: str) -> list[str]:
        """Names of the results that match a pattern, sorted."""
        return [] if self.folder is None else sorted(path.name for path in self.folder.glob(pattern))

    def remove(self, name: str) -> None:
        if self.folder is not None:
            (self.folder / name).unlink(missing_ok=True)


class Run:
    """Progress of the work inside a ``with`` block, and stored results of its passes over a source.

    Parameters
    ----------
    progress : callable, optional
        Called as ``progress(done, total, what)`` at the start and after every part of a long loop: bytes of a text
        file, blocks of a source, rows whose neighbours are searched, blocks of features, folds, draws or cells. A loop
        inside a part of another loop moves ``done`` by a fraction. ``done`` of a loop never falls, and ends at
        ``total``. A fit can have several loops, one after the other. The call comes from the thread that
        entered the block.
    folder : path, optional
        Folder for finished slabs; it is removed if the block ends without an error, or before a slab is finished.
    fingerprint : str, default=""
        Fingerprint of the data, the parameters and the working memory. Results with another fingerprint are removed.
    keep_every : float, default=10.0
        Seconds between two stored partial sums. A partial sum is as large as the result, so it is not stored after
        every slab.
    """

    def __init__(
        self,
        progress: Callable[[float, int, str], Any] | None = None,
        folder: str | os.PathLike | None = None,
        fingerprint: str = "",
        keep_every: float = 10.0,
    ):
        self._keep_every = keep_every
        self._progress, self._fingerprint = progress, fingerprint
        self._kept, self._passes, self.n_reused = Kept(folder), 0, 0

    def __enter__(self) -> Run:
        folder = self._kept.folder
        if folder is not None:
            about = {"fingerprint": self._fingerprint}
            _check_ours(folder)
            if self._kept.load("manifest.json") != about:
                _remove(folder)
                folder.mkdir(exist_ok=True)
                self._kept.save("manifest.json", about)
        self._token = _current.set(self)
        self._listening = None if self._progress is None else listen(self._progress)
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        _current.reset(self._token)
        if self._listening is not None:
            listen_no_more(self._listening)
        if self._kept.folder is not None and (kind is None or not self._kept.names("[0-9]*.np[yz]")):
            _remove(self._kept.folder)

    def next_pass(self, what: str, slabs: Sequence[slice]) -> Pass:
        """The next pass over a source.

        Parameters
        ----------
        what : str
            Name of the slabs for ``progress``.
        slabs : sequence of slice
            All slabs of the pass.

        Returns
        -------
        one_pass : Pass
            A context that records finished slabs.
        """
        self._passes += 1
        return Pass(self, self._passes, what, len(slabs))


class Pass:
    """One pass over a source, with a record of its finished slabs."""

    def __init__(self, run: Run, number: int, what: str, total: int):
        self._run, self._kept, self._number, self._total = run, run._kept, number, total
        self._done, self._written, self._counted = 0, time.monotonic(), counting(what, total)

    def __enter__(self) -> Pass:
        self._counted.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._counted.__exit__(*error)

    def finished(self, slab: slice) -> np.ndarray | None:
        """The result of a slab if an earlier run stored it, else None."""
        result = self._kept.load(self._name(f"{slab.start}-{slab.stop}"))
        if isinstance(result, np.ndarray) and result.ndim and slab.stop - slab.start in result.shape:
            self._run.n_reused += 1
            self.count()
            return result
        return None

    def finish(self, slab: slice, result: np.ndarray) -> np.ndarray:
        """Store the result of a slab and return it."""
        self._kept.save(self._name(f"{slab.start}-{slab.stop}"), result)
        self.count()
        return result

    def partial_sum(self) -> tuple[Any, int]:
        """The partial sum of an earlier run, and its number of slabs."""
        for name in self._sums():
            total, done = self._kept.load(name), int(Path(name).stem.rpartition("-")[2])
            if total is not None and done <= self._total:
                self._done = done
                self._run.n_reused += done
                self._counted.reach(done)
                return total, done
        return None, 0

    def add(self, total: Value) -> None:
        """Count a slab whose result is in the total, and store the total from time to time and at the end."""
        self.count()
        last = self._done == self._total and self._total > 1
        if self._kept.folder is None or not (last or time.monotonic() - self._written > self._run._keep_every):
            return
        earlier = self._sums()
        self._kept.save(self._name(f"sum-{self._done:06}", "npz" if isinstance(total, tuple) else "npy"), total)
        for name in earlier:
            self._kept.remove(name)
        self._written = time.monotonic()

    def _sums(self) -> list[str]:
        return self._kept.names(f"{self._number:03}-sum-*.np[yz]")

    def count(self) -> None:
        self._done += 1
        self._counted()

    def _name(self, piece: str, suffix: str = "npy") -> str:
        return f"{self._number:03}-{piece}.{suffix}"


_current: ContextVar[Run | None] = ContextVar("fiedler_run", default=None)


def current_run() -> Run:
    """The active run, or one without storage and progress."""
    return _current.get() or Run()


def _mark(values: Value) -> bytes:
    """A checksum of four bytes for shape, type and values of a stored result."""
    mark = 0
    for array in values if isinstance(values, tuple) else (values,):
        array = np.asarray(array)
        mark = zlib.crc32(f"{array.shape} {array.dtype.str}".encode(), mark)
        ordered = array if array.flags.c_contiguous else array.T if array.flags.f_contiguous else array.copy()
        mark = zlib.crc32(ordered.reshape(-1).view(np.uint8).data, mark)
    return mark.to_bytes(4, "little")


def _check_ours(folder: Path) -> None:
    """Raise an error unless a folder is missing, empty, or of an earlier run: with a manifest and no other files."""
    if not folder.exists() and not folder.is_symlink():
        return
    names = [] if not folder.is_dir() else sorted(path.name for path in folder.iterdir())
    foreign = [folder.name] if not folder.is_dir() else [n for n in names if not _is_ours(folder / n)]
    if not foreign and "manifest.json" not in names:  # a run that was killed early leaves an incomplete manifest
        foreign = [name for name in names if "manifest" not in name]
    if foreign:
        raise FileExistsError(
            f"{folder} is not a folder of an earlier run ({foreign[0]} is in it); use another folder."
        )


def _is_ours(path: Path) -> bool:
    if not _OURS.fullmatch(path.name) or not path.is_file():
        return False
    if path.name != "manifest.json":
        return True
    start = path.read_bytes()[: len(_START)]
    return start == _START[: len(start)]  # it may be incomplete because the disk was full


def _remove(folder: Path) -> None:
    """Remove the files of this module from a folder, and the folder if it is then empty."""
    if folder.is_dir():
        for path in folder.iterdir():
            if _is_ours(path):
                path.unlink(missing_ok=True)
        with suppress(OSError):
            folder.rmdir()
