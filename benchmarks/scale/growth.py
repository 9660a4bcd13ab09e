"""Time and memory against rows, columns, anchors and workers, and the cost models fitted to them.

tall (anchor graph, one pass by rows)    t = c_0 + c_1 n m + c_2 n m s      s anchors
wide (exact kNN, two passes by columns)  t = c_0 + c_1 n m + c_2 n² m
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

from . import make
from .job import run

GIB = 2**30
LIMIT = 4 * GIB
N_ANCHORS = 300
ROWS = (62_500, 125_000, 250_000, 500_000, 1_000_000)  # x 100 columns
KNN_ROWS = (62_500, 125_000)  # likewise; mostly noise, where an index helps least
COLUMNS = (125_000, 250_000, 500_000, 1_000_000, 2_000_000)  # x 200 rows
OTHER_ANCHORS = ((250_000, 100), (250_000, 1000))  # rows, anchors
MORE_ROWS = ((400, 125_000), (800, 125_000), (1600, 125_000))  # of the wide files
WORKERS = (1, 2)


@dataclass
class Growth:
    """What was measured, by axis, and what follows."""

    rows: list[dict[str, Any]] = field(default_factory=list)

    def curve(self, axis: str) -> list[dict[str, Any]]:
        return [row for row in self.rows if row["axis"] == axis]

    def exponents(self, axis: str) -> tuple[float, float]:
        """Of seconds and of peak memory against the size, by least squares on logarithms, larger half only."""
        points = self.curve(axis)
        points = points[len(points) // 2 :]
        size = np.log([point["size"] for point in points])
        time, memory = (np.polyfit(size, np.log([p[key] for p in points]), 1)[0] for key in ("seconds", "peak"))
        return float(time), float(memory)

    def tall_model(self) -> Model:
        """c_0, c_1, c_2 of the model by rows."""
        points = self.curve("rows") + self.curve("anchors")
        return Model.fit([tall_terms(*p["shape"], p["anchors"]) for p in points], [p["seconds"] for p in points])

    def wide_model(self) -> Model:
        """c_0, c_1, c_2 of the model by columns."""
        points = self.curve("columns") + self.curve("rows of wide files")
        return Model.fit([wide_terms(*p["shape"]) for p in points], [p["seconds"] for p in points])


@dataclass
class Model:
    """Costs >= 0 of some terms, and how far the times they give are from the measured ones, relative to these."""

    costs: np.ndarray
    errors: np.ndarray

    @classmethod
    def fit(cls, terms: list[tuple[float, ...]], seconds: list[float]) -> Model:
        """By least squares on the relative errors."""
        relative = np.array(terms) / np.array(seconds)[:, None]
        scale = relative.max(axis=0)
        costs = nnls(relative / scale, np.ones(len(seconds)))[0] / scale
        return cls(costs, relative @ costs - 1.0)


def tall_terms(n: float, m: float, s: float) -> tuple[float, float, float]:
    return 1.0, n * m, n * m * s


def wide_terms(n: float, m: float) -> tuple[float, float, float]:
    return 1.0, n * m, n * n * m


def measure(folder: Path, quick: bool = False) -> Growth:
    """All axes."""
    growth, smaller = Growth(), 20 if quick else 1

    def add(axis: str, size: int, path: Path, method: str = "laplacian", **about: Any) -> None:
        told = {"axis": axis, "size": size, **about}
        growth.rows.append(told | run(path=path, method=method, memory=LIMIT, workers=about.get("workers")))

    for n in ROWS:
        add("rows", n // smaller, _tall(folder, n // smaller), _with_anchors(N_ANCHORS), anchors=N_ANCHORS)
    for n, s in OTHER_ANCHORS:
        add("anchors", s, _tall(folder, n // smaller), _with_anchors(s), anchors=s)
    for n in KNN_ROWS:
        add("rows, kNN", n // smaller, _tall(folder, n // smaller))
    for m in COLUMNS:
        add("columns", m // smaller, make.wide(folder, 200, m // smaller, "f4"))
    for n, m in MORE_ROWS:
        add("rows of wide files", n, make.wide(folder, n, m // smaller, "f4"))
    tallest, widest = _tall(folder, ROWS[-1] // smaller), make.wide(folder, 200, COLUMNS[-1] // smaller, "f4")
    for workers in WORKERS:
        add("workers, by rows", workers, tallest, _with_anchors(N_ANCHORS), workers=workers, anchors=N_ANCHORS)
    for workers in WORKERS:
        add("workers, by columns", workers, widest, workers=workers)
    return growth


def _tall(folder: Path, n: int) -> Path:
    return make.tall(folder, n, 100, "f4")


def _with_anchors(s: int) -> str:
    return f"laplacian[graph=anchors[n_anchors={s}]]"
