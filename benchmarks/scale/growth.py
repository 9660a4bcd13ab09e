"""Time and memory against rows, columns and workers, and the cost model fitted to them.

t = c_0 + c_1 n m + c_2 n m s        one pass over n rows and m columns with s anchors
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from . import make
from .job import run

GIB = 2**30
N_ANCHORS = 300


@dataclass
class Growth:
    """What was measured, by axis, and what follows."""

    rows: list[dict[str, Any]] = field(default_factory=list)

    def curve(self, axis: str) -> list[dict[str, Any]]:
        return [row for row in self.rows if row["axis"] == axis]

    def exponents(self, axis: str) -> tuple[float, float]:
        """Of seconds and of memory beyond the smallest process, by least squares on logarithms, larger half only."""
        points = self.curve(axis)
        size = np.log([point["size"] for point in points])
        half = slice(len(points) // 2 - 1, None)
        return tuple(
            float(np.polyfit(size[half], np.log([point[key] for point in points])[half], 1)[0])
            for key in ("seconds", "peak")
        )

    def per_value(self) -> tuple[float, float]:
        """Fixed seconds, and seconds per value with the anchors of the measurement, of one pass by rows."""
        points = self.curve("rows, anchors")
        values = np.array([np.prod(point["shape"]) for point in points], dtype=float)
        seconds = np.array([point["seconds"] for point in points])
        slope, fixed = np.polyfit(values, seconds, 1, w=1.0 / seconds)
        return max(float(fixed), 0.0), float(slope)


def measure(folder: Path, quick: bool = False) -> Growth:
    """All axes; each file is removed once it has been used."""
    growth = Growth()
    scale = 20 if quick else 1
    anchors = f"laplacian[graph=anchors[n_anchors={N_ANCHORS}]]"
    for n in (62_500, 125_000, 250_000, 500_000, 1_000_000):
        path = make.tall(folder, n // scale, 100, "f4")
        growth.rows.append(
            {"axis": "rows, anchors", "size": n // scale, **run(path=path, method=anchors, memory=4 * GIB)}
        )
    few = make.tall(folder, 62_500 // scale, 100, "f4")  # noise: the hardest case of an approximate search
    about = run(path=few, method="laplacian", memory=4 * GIB)
    growth.rows.append({"axis": "rows, kNN", "size": 62_500 // scale, **about})
    for m in (125_000, 250_000, 500_000, 1_000_000, 2_000_000):
        path = make.wide(folder, 200, m // scale, "f4")
        growth.rows.append(
            {"axis": "columns", "size": m // scale, **run(path=path, method="laplacian", memory=4 * GIB)}
        )
    for workers in (1, 2):
        about = {"path": path, "method": "laplacian", "memory": 4 * GIB, "workers": workers}
        growth.rows.append({"axis": "workers, columns", "size": workers, **run(**about)})
        about = {
            "path": folder / f"tall-{n // scale}-100.zarr",
            "method": anchors,
            "memory": 4 * GIB,
            "workers": workers,
        }
        growth.rows.append({"axis": "workers, rows", "size": workers, **run(**about)})
    return growth
