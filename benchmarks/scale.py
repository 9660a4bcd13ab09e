"""Memory limits, time and memory against size, and graphs of sparse cells -> docs/scaling.md.

The cost models that are fitted to the times:

tall (anchor graph, one pass by rows)    t = c_0 + c_1 n m + c_2 n m s      s anchors
wide (exact kNN, two passes by columns)  t = c_0 + c_1 n m + c_2 n² m

The tables on what anchors give up against exact neighbours are on record only.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

from . import isolated
from .contenders import K, missing
from .pages import DOCS, records, results, save, save_figure
from .runner import Found, Options, main
from .timing import machine

GIB, MIB = 2**30, 2**20
TIGHT, LIMIT = 500 * MIB, 4 * GIB  # told to the jobs of the first table, and of the second
METHODS = {  # and what each is told about the rows
    **dict.fromkeys(("laplacian", "spec[phi=1]", "spec[phi=2,gamma=4]", "spec[phi=3,n_clusters=3]"), "none"),
    "evsc[mode=trace]": "none",
    "sselect": "few",
    "ssls": "target",
    **{f"constraint[variant={variant}]": "pairs" for variant in (1, 2, 3, 4)},
}
BY_ROWS = ("laplacian[graph=anchors[]]", "spec[graph=anchors[],phi=3,n_clusters=3]")
N_ANCHORS = 300
ROWS = (62_500, 125_000, 250_000, 500_000, 1_000_000)  # x 100 columns
COLUMNS = (125_000, 250_000, 500_000, 1_000_000, 2_000_000)  # x 200 rows
MORE_ROWS = (400, 800, 1600)  # x 125,000 columns
_BLOCK = 2**22  # values written together


def in_clusters(n: int) -> np.ndarray:
    """The cluster of every row; all files with the same number of rows have the same clusters."""
    return np.random.default_rng([7, n]).integers(3, size=n)


def written(folder: Path, n: int, m: int, dtype: str, by_rows: bool) -> Path:
    """A Zarr array chunked by rows or by columns, written block by block; every tenth column is informative."""
    import zarr

    path, y = folder / f"{'tall' if by_rows else 'wide'}-{n}-{m}.zarr", in_clusters(n)
    if path.exists():
        return path
    height, width = (max(1, _BLOCK // m), m) if by_rows else (n, max(1, _BLOCK // n))
    array = zarr.create_array(str(path), shape=(n, m), chunks=(height, width), dtype=dtype)
    for i in range(0, n, height):
        for j in range(0, m, width):
            shape = min(height, n - i), min(width, m - j)
            X = np.random.default_rng([1, i, j]).standard_normal(shape)
            X[:, np.arange(j, j + shape[1]) % 10 == 0] += 2.0 * y[i : i + shape[0], None]
            array[i : i + shape[0], j : j + shape[1]] = X
    return path


def supervision(kind: str, n: int) -> dict[str, Any]:
    """What a method is told about the rows of a file: nothing, few labels, few targets or pairs."""
    y, rng = in_clusters(n), np.random.default_rng(0)
    shown = rng.choice(n, min(n // 2, 200), replace=False)
    if kind == "few":
        return {"y": np.where(np.isin(np.arange(n), shown), y, -1)}
    if kind == "target":
        target = np.full(n, np.nan)
        target[shown] = y[shown] + 0.1 * rng.standard_normal(len(shown))
        return {"y": target}
    if kind == "pairs":
        pairs = np.sort(rng.choice(n, (400, 2)), axis=1)
        pairs = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
        same = y[pairs[:, 0]] == y[pairs[:, 1]]
        return {"must_link": pairs[same], "cannot_link": pairs[~same]}
    return {}


def row_of(unit: int, digits: int, *job: Any) -> dict[str, Any]:
    """What a ranking in a process of its own took."""
    done = isolated.measure("ranked", *job)
    if "failed" in done:
        raise RuntimeError(f"{job}: {done['failed']}")
    n, m = done["shape"]
    told = {"rows": f"{n:,}", "columns": f"{m:,}", "seconds": f"{done['seconds']:.3g}"}
    peak = {f"peak {'MiB' if unit == MIB else 'GiB'}": f"{done['peak'] / unit:.{digits}f}"}
    return told | peak | {"informative": f"{done['informative']:.3f}"}


def limits(options: Options) -> Found:
    """Every method on a file five times larger than the memory: chunks of columns, or of rows for anchors."""
    n, m = (100, 40_000) if options.quick else (800, 412_500)  # 2.64 GB of float64
    with tempfile.TemporaryDirectory() as folder:
        wide, tall = written(Path(folder), n, m, "f8", False), written(Path(folder), n * m // 100, 100, "f8", True)
        jobs = [(wide, *told) for told in METHODS.items()] + [(tall, method, "none") for method in BY_ROWS]
        rows = [{"method": f"`{job[1]}`"} | row_of(MIB, 0, *job, TIGHT) for job in jobs]
    found = {"limits": (list(rows[0]), [row.values() for row in rows])}
    return found if options.quick else found | {"machine": (["machine", ""], machine())}


def growth(options: Options) -> Found:
    """The Laplacian score along every axis; exponents, cost models, an estimate and the figure follow."""
    smaller = 20 if options.quick else 1
    work: list[tuple[str, bool, int, int, int | None, int | None]] = [  # axis, by rows, n, m, anchors, workers
        *(("rows", True, n, 100, N_ANCHORS, None) for n in ROWS),
        *(("anchors", True, 250_000, 100, s, None) for s in (100, 1000)),
        *(("rows, kNN", True, n, 100, None, None) for n in ROWS[:2]),  # mostly noise, where an index helps least
        *(("columns", False, 200, m, None, None) for m in COLUMNS),
        *(("rows of wide files", False, n, 125_000, None, None) for n in MORE_ROWS),
        *(("workers, by rows", True, ROWS[-1], 100, N_ANCHORS, workers) for workers in (1, 2)),
        *(("workers, by columns", False, 200, COLUMNS[-1], None, workers) for workers in (1, 2)),
    ]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for axis, by_rows, n, m, anchors, workers in work:
            shape = (n // smaller, m) if by_rows else (n, m // smaller)
            path = written(Path(folder), *shape, "f4", by_rows)
            method = f"laplacian[graph=anchors[n_anchors={anchors}]]" if anchors else "laplacian"
            told = {"axis": axis, "anchors": anchors or "–", "workers": workers or "–"}
            rows.append(told | row_of(GIB, 2, path, method, "none", LIMIT, workers or ""))
    found: Found = {"growth": (list(rows[0]), [row.values() for row in rows])}
    return found if options.quick else found | derived(rows)


def of(rows: Sequence[Mapping[str, Any]], axes: str | tuple[str, ...], *columns: str) -> np.ndarray:
    """Numbers of one axis or several, one row per measurement."""
    mine = [row for axis in np.atleast_1d(axes) for row in rows if row["axis"] == axis]
    return np.array([[float(str(row[column]).replace(",", "")) for column in columns] for row in mine])


def model(rows: Sequence[Mapping[str, Any]], tall: bool) -> tuple[np.ndarray, np.ndarray]:
    """Costs >= 0 of the terms of a model by least squares on relative errors, and these errors."""
    if tall:
        n, m, s, seconds = of(rows, ("rows", "anchors"), "rows", "columns", "anchors", "seconds").T
    else:
        n, m, seconds = of(rows, ("columns", "rows of wide files"), "rows", "columns", "seconds").T
        s = n
    relative = np.column_stack([np.ones(len(n)), n * m, n * m * s]) / seconds[:, None]
    scale = relative.max(axis=0)
    costs = nnls(relative / scale, np.ones(len(seconds)))[0] / scale
    return costs, relative @ costs - 1.0


def derived(rows: Sequence[Mapping[str, Any]]) -> Found:
    """Exponents, cost models, what they say of 10⁹ rows, and the figure."""
    exponents = []
    for axis, size in (("rows", "rows"), ("columns", "columns"), ("rows of wide files", "rows")):
        points = np.log(of(rows, axis, size, "seconds", "peak GiB"))
        x, *measured = points[len(points) // 2 :].T  # the larger half
        exponents.append([axis, *(f"{np.polyfit(x, values, 1)[0]:.2f}" for values in measured)])
    models = {"tall, anchors: n m s": model(rows, True), "wide, kNN: n² m": model(rows, False)}
    costs = [
        [name, f"{c[0]:.1f}", f"{c[1] * 1e9:.2f}", f"{c[2] * 1e12:.1f}"]
        + [f"{100 * off:.0f} %" for off in (np.median(np.abs(errors)), np.abs(errors).max())]
        for name, (c, errors) in models.items()
    ]
    n, m, workers = 1e9, 100, 100
    part, size = n / workers, n * m * 4
    work = float(model(rows, True)[0] @ (1.0, part * m, part * m * N_ANCHORS))
    overhead = max(of(rows, "workers, by rows", "seconds")[1, 0] / of(rows, "rows", "seconds")[-1, 0], 1.0)
    estimate = [
        ["work per worker by the model, minutes", f"{work / 60:.0f}"],
        ["the same with the overhead of Dask measured here, minutes", f"{work * overhead / 60:.0f}"],
        ["float32 values in all, TiB", f"{size / 2**40:.2f}"],
        ["per worker, GiB", f"{size / workers / GIB:.1f}"],
        ["what storage must deliver to keep the workers busy, GB/s", f"{size / work / 1e9:.1f}"],
        ["arrays of the client with one entry per row, GiB", f"{n * 9 / GIB:.0f}"],
        ["chunks of 100 MB", f"{size / 1e8:,.0f}"],
        ["chunks of 1 MB", f"{size / 1e6:,.0f}"],
        ["sums that a block returns, MiB", f"{N_ANCHORS * m * 8 / MIB:.1f}"],
    ]
    header = ["model and its last term", "seconds", "ns per n m", "ps per last term", "median error", "largest error"]
    return {
        "exponents": (["axis", "time grows as size to the power", "peak memory"], exponents),
        "costs": (header, costs),
        "estimate": (["10⁹ rows × 100 columns, 300 anchors, 100 workers of two cores", ""], estimate),
        "scaling-growth": _figure(rows),
    }


def _figure(rows: Sequence[Mapping[str, Any]]) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5.2), layout="constrained")
    axes = figure.subplots(2, 2, sharex="col")
    labels = {"rows": f"rows (x 100 columns, {N_ANCHORS} anchors)", "columns": "columns (x 200 rows)"}
    for (above, below), (axis, label) in zip(axes.T, labels.items(), strict=True):
        n, m, sizes, seconds, peak = of(rows, axis, "rows", "columns", axis, "seconds", "peak GiB").T
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


def derive() -> None:
    """The same from the committed table."""
    for name, made in derived(records(results("scale", "growth"))).items():
        if isinstance(made, tuple):
            save(results("scale", name), *made)
        else:
            save_figure(made, DOCS / "figures" / f"{name}.svg")


CELL_ROWS = (1000, 3000, 10_000, 20_000, 50_000, 100_000)
GRAPHS = {
    "X": "`KNN(10)`",
    "components": "`KNN(10, n_components=50)`",
    "scanpy": "scanpy: `pca`, `neighbors`",
    "set": "`subset`, 200 features",  # up to 20,000 rows
}
CELLS = ["graph", "rows", "columns", "seconds", "peak GiB", "search", "recall", "true neighbours", "same kind"]


def on_cells(graph: str, n: int, m: int = 20_000) -> list[str]:
    """One row of the table; a dash where a number does not apply."""
    found = isolated.measure("cells", graph, n, m, 200 if graph == "set" else K)
    if "failed" in found:
        raise RuntimeError(f"{graph} of {n} rows: {found['failed']}")
    shares = ["–" if (share := found.get(name)) is None else f"{share:.3f}" for name in ("recall", "true", "same kind")]
    size = [f"{n:,}", f"{m:,}", f"{found['wall']:.3g}", f"{found['resident'] / GIB:.2f}"]
    return [GRAPHS[graph], *size, found.get("search") or "approximate", *shares]


def cells(options: Options) -> Found:
    """Graphs of made cells, 20,000 genes of which 5 % are stored, and sets of genes; other rows of the table stay."""
    rows = (
        {}
        if options.quick
        else {tuple(row.values())[:2]: list(row.values()) for row in records(results("scale", "cells"))}
    )
    for graph in GRAPHS:
        for n in CELL_ROWS[:1] if options.quick else CELL_ROWS:
            if (graph != "set" or n <= 20_000) and (graph != "scanpy" or missing("scanpy") is None):
                row = on_cells(graph, n, 300 if options.quick else 20_000)
                rows[tuple(row[:2])] = row
    place = {name: at for at, name in enumerate(GRAPHS.values())}
    return {"cells": (CELLS, sorted(rows.values(), key=lambda row: (place[row[0]], int(row[1].replace(",", "")))))}


EXPERIMENTS = (limits, growth, cells)

if __name__ == "__main__":
    main("scale", EXPERIMENTS)
