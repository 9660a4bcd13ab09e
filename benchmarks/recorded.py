"""The ratios of the last full run, read back from RESULTS.md."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_ROW = re.compile(r"\| (?P<work>[^|]+) \| (?P<against>[^|]+) \| [^|]+ \| [^|]+ \| \*\*(?P<ratio>[\d.e+-]+) x\*\* \|")


@cache
def recorded() -> dict[tuple[str, str], float]:
    """(work, against) to the ratio on record."""
    path = Path(__file__).with_name("RESULTS.md")
    found = _ROW.finditer(path.read_text()) if path.exists() else ()
    return {(row["work"], row["against"]): float(row["ratio"]) for row in found}
