"""Atomic writing of files: a failure or Ctrl-C never leaves an incomplete file."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import Mentions

_LONGEST_NAME = 255  # bytes, on the usual file systems


class OutputExistsError(Mentions, FileExistsError):
    """The output file exists already."""


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A temporary path next to ``path`` that replaces it on success and is removed on failure."""
    temporary = path.with_name(_short_enough(f".{os.getpid()}.part.", path.name))
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


def _short_enough(prefix: str, name: str) -> str:
    """A name with the same suffix, which writers read, that is short enough for the file system."""
    while len(os.fsencode(prefix + name)) > _LONGEST_NAME:
        name = name[1:]
    return prefix + name


@contextmanager
def replacing(path: str | Path, force: bool = False, folder: bool = False) -> Iterator[Path]:
    """As :func:`whole`, for a path of the user: an existing file or folder is replaced only with force.

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
        raise OutputExistsError(
            f"{path} exists; use force=True to replace it.", way_out={"force=True": ("force", True)}
        )
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(f"the folder {path.parent} is not writable.")
    return path
