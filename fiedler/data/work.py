"""Long work: how far it has come, its finished parts in a folder, and files that are written whole or not at all.

    with counting("draws", 20) as count:      # a loop of the library
        for number in range(20):
            ...
            count()

    with Run(folder="ranking.csv.blocks", fingerprint=..., progress=print):      # its caller
        selector.fit(source)

A loop inside an item of another loop moves the count of the outer loop by a part of an item. How many inner loops an
item has is not known: the first one counts half of the item, the next one half of the rest, and so on. So the
reported count never falls, and it reaches the total when the outer loop ends. Without a listener nothing is reported.

:class:`Kept` is a folder of finished results. A comparison stores its cells there; their names are hashes of everything
they depend on. A job over a source stores its finished slabs. The passes over a source depend only on the data and the
parameters, so their number identifies them. The content of the folder is used again if its fingerprint is the same, and
removed otherwise. If a file is incomplete or was changed, its result is computed again. Only files that were written by
this module are removed.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from threading import Lock, get_ident
from typing import Any

import numpy as np

from ..errors import Mentions

Listener = Callable[[float, int, str], Any]
Value = np.ndarray | tuple  # an array or a tuple of arrays
# Names of files that this module writes.
_OURS = re.compile(r"(\.\d+\.part\.)?(manifest\.\w+|\d+-[\w-]+\.(npy|npz|part))")
_START = b'{"fingerprint"'  # the first bytes of a manifest


# -------------------------------------------------------------------- counting


class Counting:
    """The count of one loop; it may be moved by any thread, and it is reported by the thread that created it.

    It reports to the active listener, or to the loop around this one.
    """

    def __init__(self, what: str, total: int):
        self._what, self._total, self._listener, self._outer = what, total, _listener.get(), _innermost.get()
        self._done, self._within, self._told = 0, 0.0, -1.0
        self._lock, self._thread = Lock(), get_ident()

    def __enter__(self) -> Any:
        # A thread of a pool starts without a context, so loops inside it report nothing.
        heard = self._listener is not None or self._outer is not None
        self._token = _innermost.set(self if heard else None)
        self._tell()
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        _innermost.reset(self._token)
        if kind is None:
            self.reach(self._total)  # a loop may end early
            if self._outer is not None:
                self._outer._within += (1.0 - self._outer._within) / 2.0

    def reach(self, done: int | None = None) -> None:
        """Set the count, for loops whose items are not finished one by one; by default count one item."""
        with self._lock:
            self._done, self._within = self._done + 1 if done is None else max(done, self._done), 0.0
        self._tell()

    __call__ = reach

    def _tell(self, inner: float = 0.0) -> None:
        """Report the count; ``inner`` is the finished share of the innermost loop of the current item."""
        within = self._within + inner * (1.0 - self._within) / 2.0
        position = min(self._done + within, self._total)
        if get_ident() != self._thread or position <= self._told:
            return
        self._told = position
        if self._outer is not None:
            self._outer._tell(position / self._total if self._total else 1.0)
        elif self._listener is not None:
            self._listener(int(position) if int(position) == position else position, self._total, self._what)


_innermost: ContextVar[Counting | None] = ContextVar("fiedler_counting", default=None)
_listener: ContextVar[Listener | None] = ContextVar("fiedler_listener", default=None)
counting = Counting  # ``with counting(what, total) as count``; ``count()`` counts one item


def listening() -> bool:
    """Whether a count would be reported to anyone."""
    return _listener.get() is not None or _innermost.get() is not None


# -------------------------------------------------------------------- kept results


class Kept:
    """A folder of finished results; a result that is missing or damaged is None, and so is all without a folder."""

    def __init__(self, folder: str | os.PathLike | None):
        self.folder = None if folder is None else Path(folder)

    def load(self, name: str) -> Any:
        """Load an array (.npy), a tuple of arrays (.npz) or a JSON value (.json)."""
        try:
            path = self.folder / name  # type: ignore[operator]  # no folder is an error like others
            if path.suffix == ".json":
                return json.loads(path.read_text(encoding="utf-8"))
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as stored:
                values = tuple(stored[part] for part in stored.files)
            return values if path.suffix == ".npz" else values[0]
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
                # An archive has a checksum of every array.
                np.savez(file, *(value if isinstance(value, tuple) else (value,)))
            file.flush()
            os.fsync(file.fileno())

    def names(self, pattern: str) -> list[str]:
        """Names of the results that match a pattern, sorted."""
        return [] if self.folder is None else sorted(path.name for path in self.folder.glob(pattern))


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
        progress: Listener | None = None,
        folder: str | os.PathLike | None = None,
        fingerprint: str = "",
        keep_every: float = 10.0,
    ):
        self._progress, self._fingerprint, self._keep_every = progress, fingerprint, keep_every
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
        self._tokens: list[tuple[ContextVar[Any], Any]] = [(_current, _current.set(self))]
        if self._progress is not None:
            self._tokens += [(_listener, _listener.set(self._progress)), (_innermost, _innermost.set(None))]
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        for variable, token in self._tokens:
            variable.reset(token)
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


class Pass(Counting):
    """One pass over a source, with a record of its finished slabs."""

    def __init__(self, run: Run, number: int, what: str, total: int):
        super().__init__(what, total)
        self._run, self._kept, self._number, self._written = run, run._kept, f"{number:03}", time.monotonic()

    def finished(self, slab: slice) -> np.ndarray | None:
        """The result of a slab if an earlier run stored it, else None."""
        result = self._kept.load(f"{self._number}-{slab.start}-{slab.stop}.npy")
        if isinstance(result, np.ndarray) and result.ndim and slab.stop - slab.start in result.shape:
            self._run.n_reused += 1
            self()
            return result
        return None

    def finish(self, slab: slice, result: np.ndarray) -> np.ndarray:
        """Store the result of a slab and return it."""
        self._kept.save(f"{self._number}-{slab.start}-{slab.stop}.npy", result)
        self()
        return result

    def partial_sum(self) -> tuple[Any, int]:
        """The partial sum of an earlier run, and its number of slabs."""
        for name in self._kept.names(f"{self._number}-sum-*.np[yz]"):
            total, done = self._kept.load(name), int(Path(name).stem.rpartition("-")[2])
            if total is not None and done <= self._total:
                self._run.n_reused += done
                self.reach(done)
                return total, done
        return None, 0

    def add(self, total: Value) -> None:
        """Count a slab whose result is in the total, and store the total from time to time and at the end."""
        self()
        last = self._done == self._total and self._total > 1
        if self._kept.folder is None or not (last or time.monotonic() - self._written > self._run._keep_every):
            return
        earlier = self._kept.names(f"{self._number}-sum-*.np[yz]")
        suffix = "npz" if isinstance(total, tuple) else "npy"
        self._kept.save(f"{self._number}-sum-{self._done:06}.{suffix}", total)
        for name in earlier:
            (self._kept.folder / name).unlink(missing_ok=True)
        self._written = time.monotonic()


_current: ContextVar[Run | None] = ContextVar("fiedler_run", default=None)


def current_run() -> Run:
    """The active run, or one without storage and progress."""
    return _current.get() or Run()


def _check_ours(folder: Path) -> None:
    """Raise an error unless a folder is missing, empty, or of an earlier run: with a manifest and no other files."""
    if not folder.exists() and not folder.is_symlink():
        return
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else [folder.name]
    foreign = [name for name in names if not folder.is_dir() or not _is_ours(folder / name)]
    if not foreign and "manifest.json" not in names:  # a run that was killed early leaves an incomplete manifest
        foreign = [name for name in names if "manifest" not in name]
    for name in foreign:
        raise FileExistsError(f"{folder} is not a folder of an earlier run ({name} is in it); use another folder.")


def _is_ours(path: Path) -> bool:
    if not _OURS.fullmatch(path.name) or not path.is_file():
        return False
    start = path.read_bytes()[: len(_START)] if path.name == "manifest.json" else b""
    return start == _START[: len(start)]  # it may be incomplete because the disk was full


def _remove(folder: Path) -> None:
    """Remove the files of this module from a folder, and the folder if it is then empty."""
    for path in folder.iterdir() if folder.is_dir() else ():
        if _is_ours(path):
            path.unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()


# -------------------------------------------------------------------- whole files


class OutputExistsError(Mentions, FileExistsError):
    """The output file exists already."""


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A temporary path next to ``path`` that replaces it on success and is removed on failure."""
    # The suffix stays, because writers read it; file systems allow names of about 255 bytes.
    temporary = path.with_name(f".{os.getpid()}.part.{path.name[-50:]}")
    try:
        yield temporary
        if temporary.is_dir() and path.exists():
            shutil.rmtree(path)
        os.replace(temporary, path)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) and "space left" not in str(error):
            raise
        why = error.strerror or str(error).partition("\n")[0]  # errors of h5py have no strerror
        raise OSError(f"{path} cannot be written: {why}; free some space, or choose another folder.") from error
    finally:
        if temporary.is_dir():
            shutil.rmtree(temporary, ignore_errors=True)
        else:
            temporary.unlink(missing_ok=True)


@contextmanager
def replacing(path: str | Path, force: bool = False, folder: bool = False) -> Iterator[Path]:
    """As :func:`whole`, for a path of the user: an existing file or folder is replaced only with force.

    Examples
    --------
    >>> import tempfile
    >>> from fiedler.data.work import replacing
    >>> file = Path(tempfile.mkdtemp()) / "a.txt"
    >>> with replacing(file) as temporary:
    ...     _ = temporary.write_text("done"), file.exists()
    >>> file.read_text()
    'done'
    """
    with whole(check_writable(path, force, folder)) as temporary:
        yield temporary


def check_writable(path: str | Path, force: bool = False, folder: bool = False) -> Path:
    """The path with links resolved; raises an error before the computation if it cannot be written."""
    path = Path(path).resolve()
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} for {path.name}; create it first.")
    if path.exists() and not path.is_file() and not folder:
        raise ValueError(f"{path} exists and is not a file; choose another name.")
    if path.exists() and not force:
        message, way_out = f"{path} exists; use force=True to replace it.", {"force=True": ("force", True)}
        raise OutputExistsError(message, way_out=way_out)
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(f"the folder {path.parent} is not writable.")
    return path
