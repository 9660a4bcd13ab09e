"""The session file: answers and settings, written whole after every change and read again at the next start."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..data.work import check_writable, whole
from ..errors import ParameterError
from .session import Session

LARGEST = 50 * 2**20  # bytes of a session file


class SessionFile:
    """The file in which a session is kept.

    Parameters
    ----------
    path : str or Path
        The file; it need not exist.
    """

    def __init__(self, path: str | Path):
        self.path = check_writable(path, force=True)
        self._version = -1

    def load(self, session: Session) -> bool:
        """Continue the session of the file."""
        if not self.path.exists():
            return False
        try:
            if self.path.stat().st_size > LARGEST:
                raise ParameterError(f"it has more than {LARGEST // 2**20} MB")
            session.restore(json.loads(self.path.read_text(encoding="utf-8")))
        except (ValueError, TypeError, RecursionError) as error:
            message = f"{self.path} cannot be used: {error} Choose another file with session=, or remove it."
            about: dict[str, Any] = {"value": str(self.path), "way_out": {"session=": ("session", ...)}}
            raise ParameterError(message, parameter="session", **about) from None
        self._version = session.version
        return True

    def save(self, session: Session) -> None:
        """Write the session if it has changed since it was written last."""
        if session.version == self._version:
            return
        text = json.dumps(session.saved(), indent=1, allow_nan=False, ensure_ascii=False)
        with whole(self.path) as temporary:
            temporary.write_text(text + "\n", encoding="utf-8")
        self._version = session.version


def default_file(data: str | Path) -> Path:
    """The session file of a table, beside it: DATA.fiedler.json.

    Examples
    --------
    >>> default_file("genes.csv").name
    'genes.csv.fiedler.json'
    """
    path = Path(data)
    return path.with_name(f"{path.name}.fiedler.json")
