"""Every method under a memory limit, on files five times larger than it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from . import make
from .job import run

LIMIT = 500 * 2**20
METHODS = {
    "laplacian": "none",
    "spec[phi=1]": "none",
    "spec[phi=2,gamma=4]": "none",
    "spec[phi=3,n_clusters=3]": "none",
    "evsc[mode=trace]": "none",
    "sselect": "few",
    "ssls": "target",
    "constraint[variant=1]": "pairs",
    "constraint[variant=2]": "pairs",
    "constraint[variant=3]": "pairs",
    "constraint[variant=4]": "pairs",
}
BY_ROWS = ("laplacian[graph=anchors[]]", "spec[graph=anchors[],phi=3,n_clusters=3]")


def measure(folder: Path, quick: bool = False) -> list[dict[str, Any]]:
    """One row per method: those over few rows on a file chunked by columns, anchors on one chunked by rows."""
    n, m = (100, 40_000) if quick else (800, 412_500)  # 2.64 GB of float64
    wide = make.wide(folder, n, m)
    rows = [run(path=wide, method=method, labels=labels, memory=LIMIT) for method, labels in METHODS.items()]
    tall = make.tall(folder, n * m // 100, 100)
    return rows + [run(path=tall, method=method, memory=LIMIT) for method in BY_ROWS]
