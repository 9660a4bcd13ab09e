"""Files that appear whole or not at all: neither a failure nor Ctrl-C leaves half of one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import Mentions
from ..validation import require

_NEEDS = {
    ".arff": ("arff", "io"),
    ".xlsx": ("openpyxl", "io"),
    ".h5ad": ("anndata", "anndata"),
    ".zarr": ("zarr", "zarr"),
}
_NEEDS |= dict.fromkeys((".parquet", ".pq", ".feather", ".arrow"), ("pyarrow", "io"))
_NEEDS |= dict.fromkeys((".h5", ".hdf5"), ("h5py", "io"))


class OutputExistsError(Mentions, FileExistsError):
    """A file is in the way."""


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A temporary path beside ``path`` that takes its place on success and vanishes on failure."""
    temporary = path.with_name(f".{os.getpid()}.part.{path.name}")
    try:
        yield temporary
        if temporary.is_dir() and path.exists():
            shutil.rmtree(path)
        os.replace(temporary, path)
    finally:
        if temporary.is_dir():
            shutil.rmtree(temporary, ignore_errors=True)
        else:
            temporary.unlink(missing_ok=True)


@contextmanager
def replacing(path: str | Path, force: bool = False) -> Iterator[Path]:
    """The same for a path a user named: an existing file is replaced only by force.

    Examples
    --------
    >>> import tempfile
    >>> from fiedler.data.atomic import replacing
    >>> file = Path(tempfile.mkdtemp()) / "a.txt"
    >>> with replacing(file) as temporary:
    ...     _ = temporary.write_text("done"), file.exists()
    >>> file.read_text()
    'done'
    """
    with whole(check_writable(path, force)) as temporary:
        yield temporary


def check_writable(path: str | Path, force: bool = False) -> Path:
    """The path, links resolved, or an error that says why it cannot be written: before the work, not after."""
    path = Path(path).resolve()
    if needs := _NEEDS.get(path.suffix.lower()):
        require(*needs, path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} to.")
    if path.exists() and not path.is_file() and path.suffix.lower() != ".zarr":
        raise ValueError(f"{path} exists and is not a file; choose another name.")
    if path.exists() and not force:
        raise OutputExistsError(
            f"{path} exists; use force=True to replace it.", way_out={"force=True": ("force", True)}
        )
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(f"the folder {path.parent} is not writable.")
    return path
