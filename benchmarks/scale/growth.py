"""Memory limits, time and memory against rows, columns, anchors and workers, and the cost models fitted to them.

tall (anchor graph, one pass by rows)    t = c_0 + c_1 n m + c_2 n m s      s anchors
wide (exact kNN, two passes by columns)  t = c_0 + c_1 n m + c_2 n² m
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

from . import make
from .job import run

GIB, MIB = 2**30, 2**20
TIGHT, LIMIT = 500 * MIB, 4 * GIB  # told to the jobs of the first table, and of the second
METHODS = {  # and what each is told about the rows
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
N_ANCHORS = 300
ROWS = (62_500, 125_000, 250_000, 500_000, 1_000_000)  # x 100 columns
KNN_ROWS = (62_500, 125_000)  # likewise; mostly noise, where an index helps least
COLUMNS = (125_000, 250_000, 500_000, 1_000_000, 2_000_000)  # x 200 rows
OTHER_ANCHORS = ((250_000, 100), (250_000, 1000))  # rows, anchors
MORE_ROWS = ((400, 125_000), (800, 125_000), (1600, 125_000))  # of the wide files
AXES = {  # name in the table, and the column that grows
    "rows": "rows",
    "anchors": "anchors",
    "rows, kNN": "rows",
    "columns": "columns",
    "rows of wide files": "rows",
    "workers, by rows": "workers",
    "workers, by columns": "workers",
}


def limits(folder: Path, quick: bool = False) -> list[dict[str, Any]]:
    """Every method on a file five times larger than the memory: chunks of columns, or of rows for anchors."""
    n, m = (100, 40_000) if quick else (800, 412_500)  # 2.64 GB of float64
    wide, tall = make.wide(folder, n, m), make.tall(folder, n * m // 100, 100)
    jobs = [(wide, method, labels) for method, labels in METHODS.items()] + [
        (tall, method, "none") for method in BY_ROWS
    ]
    found = []
    for path, method, labels in jobs:
        done = run(path=path, method=method, labels=labels, memory=TIGHT)
        found.append({"method": f"`{method}`"} | _row(done, MIB, "peak MiB", 0))
    return found


def measure(folder: Path, quick: bool = False) -> list[dict[str, Any]]:
    """The Laplacian score along every axis."""
    rows, smaller = [], 20 if quick else 1

    def add(axis: str, path: Path, anchors: int | None = None, workers: int | None = None) -> None:
        method = "laplacian" if anchors is None else f"laplacian[graph=anchors[n_anchors={anchors}]]"
        done = run(path=path, method=method, memory=LIMIT, workers=workers)
        told = {"anchors": anchors or "–", "workers": workers or "–"}
        rows.append({"axis": axis} | told | _row(done, GIB, "peak GiB", 2))

    def tall(n: int) -> Path:
        return make.tall(folder, n // smaller, 100, "f4")

    def wide(n: int, m: int) -> Path:
        return make.wide(folder, n, m // smaller, "f4")

    for n in ROWS:
        add("rows", tall(n), N_ANCHORS)
    for n, s in OTHER_ANCHORS:
        add("anchors", tall(n), s)
    for n in KNN_ROWS:
        add("rows, kNN", tall(n))
    for m in COLUMNS:
        add("columns", wide(200, m))
    for n, m in MORE_ROWS:
        add("rows of wide files", wide(n, m))
    for workers in (1, 2):
        add("workers, by rows", tall(ROWS[-1]), N_ANCHORS, workers)
    for workers in (1, 2):
        add("workers, by columns", wide(200, COLUMNS[-1]), None, workers)
    return rows


def _row(done: Mapping[str, Any], unit: int, peak: str, digits: int) -> dict[str, Any]:
    n, m = done["shape"]
    told = {"rows": f"{n:,}", "columns": f"{m:,}", "seconds": f"{done['seconds']:.3g}"}
    return told | {peak: f"{done['peak'] / unit:.{digits}f}", "informative": f"{done['informative']:.3f}"}


class Growth:
    """The rows of the table of growth, and what follows from them."""

    def __init__(self, rows: Sequence[Mapping[str, str]]):
        self.rows = rows

    def of(self, axis: str, *columns: str) -> np.ndarray:
        """Numbers of one axis, one row per measurement."""
        mine = [row for row in self.rows if row["axis"] == axis]
        return np.array([[float(row[column].replace(",", "")) for column in columns] for row in mine])

    def exponents(self, axis: str) -> tuple[float, float]:
        """Of seconds and of peak memory against the size, by least squares on logarithms, larger half only."""
        points = np.log(self.of(axis, AXES[axis], "seconds", "peak GiB"))
        size, *measured = points[len(points) // 2 :].T
        time, memory = (float(np.polyfit(size, values, 1)[0]) for values in measured)
        return time, memory

    def tall_model(self) -> tuple[np.ndarray, np.ndarray]:
        """Costs of the model by rows, and its relative errors."""
        points = np.concatenate(
            [self.of(axis, "rows", "columns", "anchors", "seconds") for axis in ("rows", "anchors")]
        )
        return fitted([tall_terms(*point[:3]) for point in points], points[:, 3])

    def wide_model(self) -> tuple[np.ndarray, np.ndarray]:
        """Costs of the model by columns, and its relative errors."""
        axes = ("columns", "rows of wide files")
        points = np.concatenate([self.of(axis, "rows", "columns", "seconds") for axis in axes])
        return fitted([wide_terms(*point[:2]) for point in points], points[:, 2])

    def tables(self) -> dict[str, tuple[list[str], list[list[str]]]]:
        """Exponents, cost models, and what they say of 10⁹ rows."""
        exponents = [
            [axis, *(f"{e:.2f}" for e in self.exponents(axis))] for axis in ("rows", "columns", "rows of wide files")
        ]
        models = {"tall, anchors: n m s": self.tall_model(), "wide, kNN: n² m": self.wide_model()}
        costs = [
            [name, f"{c[0]:.1f}", f"{c[1] * 1e9:.2f}", f"{c[2] * 1e12:.1f}"]
            + [f"{100 * off:.0f} %" for off in (np.median(np.abs(errors)), np.abs(errors).max())]
            for name, (c, errors) in models.items()
        ]
        header = [
            "model and its last term",
            "seconds",
            "ns per n m",
            "ps per last term",
            "median error",
            "largest error",
        ]
        return {
            "exponents": (["axis", "time grows as size to the power", "peak memory"], exponents),
            "costs": (header, costs),
            "estimate": (["10⁹ rows × 100 columns, 300 anchors, 100 workers of two cores", ""], self.estimate()),
        }

    def estimate(self, n: float = 1e9, m: int = 100, workers: int = 100) -> list[list[str]]:
        work = float(self.tall_model()[0] @ tall_terms(n / workers, m, N_ANCHORS))
        two, alone = self.of("workers, by rows", "seconds")[1, 0], self.of("rows", "seconds")[-1, 0]
        size = n * m * 4
        return [
            ["work per worker by the model, minutes", f"{work / 60:.0f}"],
            ["the same with the overhead of Dask measured here, minutes", f"{work * max(two / alone, 1.0) / 60:.0f}"],
            ["float32 values in all, TiB", f"{size / 2**40:.2f}"],
            ["per worker, GiB", f"{size / workers / GIB:.1f}"],
            ["what storage must deliver to keep the workers busy, GB/s", f"{size / work / 1e9:.1f}"],
            ["arrays of the client with one entry per row, GiB", f"{n * 9 / GIB:.0f}"],
            ["chunks of 100 MB", f"{size / 1e8:,.0f}"],
            ["chunks of 1 MB", f"{size / 1e6:,.0f}"],
            ["sums that a block returns, MiB", f"{N_ANCHORS * m * 8 / MIB:.1f}"],
        ]

    def figure(self) -> Any:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(9, 5.2), layout="constrained")
        axes = figure.subplots(2, 2, sharex="col")
        for column, (axis, label) in enumerate(
            (("rows", f"rows (x 100 columns, {N_ANCHORS} anchors)"), ("columns", "columns (x 200 rows)"))
        ):
            n, m, sizes, seconds, peak = self.of(axis, "rows", "columns", AXES[axis], "seconds", "peak GiB").T
            above, below = axes[:, column]
            above.loglog(sizes, seconds, "o-", color="#0072B2", label="Laplacian score")
            above.loglog(sizes, seconds[-1] * sizes / sizes[-1], "--", color="gray", label="proportional")
            below.loglog(sizes, peak, "o-", color="#0072B2", label="Laplacian score")
            below.loglog(sizes, 4 * n * m / GIB, "--", color="gray", label="size of the file's values")
            below.axhline(LIMIT / GIB, color="#D55E00", lw=1, label="limit")
            above.set_ylabel("seconds")
            below.set(ylabel="peak memory, GiB", xlabel=label)
            for ax in (above, below):
                ax.set_xticks(sizes, [f"{size / 1e6:g} M" if size >= 1e6 else f"{size / 1e3:g} k" for size in sizes])
                ax.minorticks_off()
                ax.yaxis.set_major_formatter("{x:g}")
                ax.grid(alpha=0.3, lw=0.4)
                ax.legend(frameon=False)
        return figure


def fitted(terms: Sequence[tuple[float, ...]], seconds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Costs >= 0 of the terms by least squares on relative errors, and these errors."""
    relative = np.array(terms) / seconds[:, None]
    scale = relative.max(axis=0)
    costs = nnls(relative / scale, np.ones(len(seconds)))[0] / scale
    return costs, relative @ costs - 1.0


def tall_terms(n: float, m: float, s: float) -> tuple[float, float, float]:
    return 1.0, n * m, n * m * s


def wide_terms(n: float, m: float) -> tuple[float, float, float]:
    return 1.0, n * m, n * n * m
