"""docs/scaling.md and its figure, from nothing but what was measured."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..papers.page import DOCS, Section
from ..report import machine, seconds
from . import limits
from .growth import GIB, LIMIT, N_ANCHORS, Growth, tall_terms

_ROWS, _COLUMNS, _WORKERS = 1e9, 100, 100  # the job to be estimated
_AXES = {
    "rows": f"rows, {N_ANCHORS} anchors",
    "anchors": "anchors",
    "rows, kNN": "rows, kNN",
    "columns": "columns",
    "rows of wide files": "rows of wide files",
    "workers, by rows": f"workers, {N_ANCHORS} anchors",
    "workers, by columns": "workers, kNN",
}


def write(limited: list[dict[str, Any]], growth: Growth, compared: list[dict[str, Any]]) -> None:
    """The page; replaced in one step."""
    page = Section("scaling", "Beyond memory and beyond one machine", DOCS)
    page.text(_INTRODUCTION)
    page.table(["machine", ""], [[name, _installed(value)] for name, value in machine()])
    _limits(page, limited)
    _growth(page, growth)
    _anchors(page, compared)
    _estimate(page, growth)
    text = page.markdown().replace('<a id="scaling"></a>\n\n## ', "# ", 1).replace("### ", "## ")
    part = DOCS / "scaling.part"
    part.write_text(text)
    part.replace(DOCS / "scaling.md")


_INTRODUCTION = """
The same three lines rank a matrix that does not fit into memory: an opened file, a Zarr array, an HDF5 dataset or a
Dask array stands where an ndarray would.

```python
from fiedler import SpectralSelector
from fiedler.sources import open_source

selector = SpectralSelector("laplacian", n_features_to_select=100).fit(open_source("big.zarr"))
```

On the command line, `fiedler rank big.zarr --memory 2GB` keeps to that memory, `--workers 4` starts Dask workers here
and `--scheduler tcp://...` uses a cluster. Finished blocks are kept beside `--out` until the ranking is written, so the
same command goes on after an interrupt. In Python the size of a block follows scikit-learn's `working_memory`.

How it works: once the graph stands, every score belongs to one column, so columns pass through memory a slab at a
time, each under the code that also serves arrays. Distances between rows add up over the same slabs. With an anchor
graph the sums run over rows instead, and one pass is enough for any number of them.

This page is written by `python -m benchmarks.scale`; every number on it was measured once, on the machine below, what
reads files in processes of their own. Memory is the peak resident set of such a process and all its workers, looked at
every 20 milliseconds; the interpreter with its libraries is about 300 MiB of it.
""".strip()


def _limits(page: Section, rows: list[dict[str, Any]]) -> None:
    page.heading(f"A file five times larger than the memory: {_mib(limits.LIMIT)} MiB")
    over = [f"`{row['method']}`" for row in rows if row["peak"] > limits.LIMIT]
    page.text(
        f"Zarr arrays of float64 values, {rows[0]['bytes'] / GIB:.2f} GiB each, chunked by columns, or by rows for the "
        f"anchor graph. Each job is told to keep to {_mib(limits.LIMIT)} MiB, as with `--memory`. Every tenth column "
        "carries the clusters of the rows; the last column of the table is the share of such columns among the best "
        f"tenth. {'Over the limit: ' + ', '.join(over) if over else 'All of them keep to it'}."
    )
    cells = [
        [f"`{r['method']}`", _shape(r), seconds(r["seconds"]), f"{_mib(r['peak'])} MiB", f"{r['informative']:.3f}"]
        for r in rows
    ]
    page.table(["method", "shape", "time", "peak memory", "informative"], cells)


def _growth(page: Section, growth: Growth) -> None:
    page.heading("Against rows, columns, anchors and workers")
    page.text(
        f"The Laplacian score on float32 Zarr arrays under a limit of {LIMIT / GIB:.0f} GiB. Tall files are chunked by "
        "rows and scored in one pass with the anchor graph; some also with the kNN graph, for comparison: these files "
        "are mostly noise, where an index helps least and the search grows with the square of the rows. Wide files are "
        "chunked by columns and have exact neighbours. Workers are Dask processes on this machine, each with its share "
        "of the memory."
    )
    cells = [
        [_AXES[r["axis"]], _shape(r), r.get("anchors") or "–", r.get("workers") or "–", seconds(r["seconds"]),
         f"{r['peak'] / GIB:.2f} GiB", f"{r['informative']:.3f}"]
        for r in growth.rows
    ]  # fmt: skip
    page.table(["axis", "shape", "anchors", "workers", "time", "peak memory", "informative"], cells)
    exponents = [
        f"- {_AXES[axis]}: time grows as size^{time:.2f}, peak memory as size^{memory:.2f}, over the larger half."
        for axis in ("rows", "columns", "rows of wide files")
        for time, memory in [growth.exponents(axis)]
    ]
    page.text("\n".join(exponents))
    page.figure(_figure(growth), "growth", "Time and peak memory against size; dashed: in proportion to the size.")


def _anchors(page: Section, rows: list[dict[str, Any]]) -> None:
    page.heading("What the anchor graph gives up")
    page.text(
        "The ranking by anchors against that by exact nearest neighbours, in memory: Spearman's correlation ρ of the "
        "scores, the accuracy of 1-NN on the first features by the Laplacian score (below 50 where there are few), "
        "seconds and extra memory of that score with its graph. `KNN(weight='binary')` chooses its search by itself: "
        "approximate beyond 50,000 different rows. φ3 is compared where the kNN graph is connected.\n\n"
        + "\n".join(_in_words(rows, data) for data in dict.fromkeys(row["data"] for row in rows))
    )
    shown = [name for name in rows[0] if name != "data"]
    for data in dict.fromkeys(row["data"] for row in rows):
        page.text(f"**{data}**")
        page.table(shown, [[_cell(row[name]) for name in shown] for row in rows if row["data"] == data])


def _in_words(rows: list[dict[str, Any]], data: str) -> str:
    """What the table says of one set."""
    rows = [row for row in rows if row["data"] == data]
    exact, own = rows[0], rows[1]["LS: ρ to binary kNN"]
    most = [row for row in rows if row["graph"].startswith("Anchors") and "by rows" not in row["graph"]][-1]
    return (
        f"- {data.partition(',')[0]}: {most['graph']} agrees with the exact binary kNN graph at ρ = "
        f"{most['LS: ρ to binary kNN']:.2f}, where the Gaussian kNN graph agrees with it at {own:.2f}; 1-NN "
        f"{most['1-NN']:.3f} against {exact['1-NN']:.3f} on {exact['features']} features; "
        f"{seconds(most['seconds'])} instead of {seconds(exact['seconds'])}."
    )


def _estimate(page: Section, growth: Growth) -> None:
    tall, wide = growth.tall_model(), growth.wide_model()
    page.heading("A cost model, and what it says of 10⁹ rows")
    lines = [
        f"- {name}: t = {c[0]:.1f} s + {c[1] * 1e9:.2f} ns · n m + {c[2] * 1e12:.1f} ps · {term}; off by "
        f"{100 * np.median(off):.0f} % in the median, {100 * off.max():.0f} % at most."
        for name, term, model in (("tall, anchors", "n m s", tall), ("wide, kNN", "n² m", wide))
        for c, off in [(model.costs, np.abs(model.errors))]
    ]
    page.text("Costs fitted to the times above, by least squares on relative errors:\n\n" + "\n".join(lines))
    one, two = (row["seconds"] for row in growth.curve("workers, by rows"))
    alone = growth.curve("rows")[-1]["seconds"]
    page.text(
        f"On the tallest file one worker process took {one:.1f} s, two took {two:.1f} s ({one / two:.2f} times as fast "
        f"on two cores that they share with scheduler and client), and no Dask at all, with two threads, {alone:.1f} s."
    )
    per_worker = float(tall.costs @ tall_terms(_ROWS / _WORKERS, _COLUMNS, N_ANCHORS))
    slower = max(two / alone, 1.0)
    data_bytes = _ROWS * _COLUMNS * 4
    sums = N_ANCHORS * _COLUMNS * 8
    page.text(
        f"{_ROWS:.0e} rows x {_COLUMNS} columns with {N_ANCHORS} anchors on {_WORKERS} workers of two cores each: "
        f"{per_worker / 60:.0f} minutes of work per worker by the model, {per_worker * slower / 60:.0f} with the "
        "overhead of Dask measured here. That extrapolates by three orders of magnitude and has not been run. What "
        "would break first, in this order:"
    )
    page.text(
        f"- Reading. {data_bytes / 2**40:.2f} TiB of float32 are {data_bytes / _WORKERS / GIB:.1f} GiB per worker. "
        f"Storage must deliver {data_bytes / per_worker / 1e9:.1f} GB/s to keep the workers busy; below that it sets "
        "the time, whatever the workers can do.\n"
        f"- The client. It holds arrays of one entry per row (labels, which rows are read), some "
        f"{_ROWS * 9 / GIB:.0f} GiB, and little else that grows with the rows.\n"
        f"- The scheduler. Chunks of 100 MB make {data_bytes / 1e8:,.0f} chunks and a few tasks for each: fine. Chunks "
        f"of 1 MB would make {data_bytes / 1e6:,.0f}, which is not.\n"
        "- A kNN graph of so many rows: it lives in memory and ends at a few million of them, so `KNN()` takes anchors "
        "beyond 5,000,000 rows and says so."
    )
    page.text(
        f"The sums would not: a block returns {sums / 2**20:.1f} MiB, whatever its size, and the workers merge them in "
        "a tree."
    )


def _figure(growth: Growth) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5.2), layout="constrained")
    axes = figure.subplots(2, 2, sharex="col")
    curves = (
        ("rows", f"rows (x 100 columns, {N_ANCHORS} anchors)"),
        ("columns", "columns (x 200 rows)"),
    )
    for column, (axis, label) in enumerate(curves):
        points = growth.curve(axis)
        sizes = [p["size"] for p in points]
        for row, (key, unit, scale) in enumerate((("seconds", "seconds", 1), ("peak", "peak memory, GiB", GIB))):
            values, ax = [p[key] / scale for p in points], axes[row, column]
            ax.loglog(sizes, values, "o-", color="#0072B2", label="Laplacian score")
            if row == 0:
                ax.loglog(sizes, [values[-1] * s / sizes[-1] for s in sizes], "--", color="gray", label="proportional")
                ax.legend(frameon=False)
            else:
                stored = [p["bytes"] / scale for p in points]
                ax.loglog(sizes, stored, "--", color="gray", label="size of the file's values")
                ax.axhline(LIMIT / scale, color="#D55E00", lw=1, label="limit")
                if column == 1:
                    ax.legend(frameon=False)
                ax.set_xlabel(label)
            ax.set_ylabel(unit)
            ax.set_xticks(sizes, [f"{size / 1e6:g} M" if size >= 1e6 else f"{size / 1e3:g} k" for size in sizes])
            ax.minorticks_off()
            ax.yaxis.set_major_formatter("{x:g}")
            ax.grid(alpha=0.3, lw=0.4)
    return figure


def _installed(value: Any) -> str:
    """What the machine has, without the packages it has not."""
    return ", ".join(part for part in str(value).split(", ") if not part.endswith("not installed"))


def _shape(row: dict[str, Any]) -> str:
    return f"{row['shape'][0]:,} x {row['shape'][1]:,}"


def _mib(size: float) -> str:
    return f"{size / 2**20:.0f}"


def _cell(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
