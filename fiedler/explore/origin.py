"""Where the data of a session come from, for the command line and the script that repeat it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Origin:
    """Where the data come from: a file with the options of ``fiedler explore``, or arrays in memory.

    Parameters
    ----------
    data : str, optional
        Path of the file; None for arrays.
    options : dict
        Options of the command line that change how the file is read.
    """

    data: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
