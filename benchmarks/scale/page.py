"""docs/scaling.md and its figure, from nothing but what was measured."""

from __future__ import annotations

from typing import Any

from ..papers.page import DOCS, Section
from ..report import machine, seconds
from . import limits
from .growth import GIB, N_ANCHORS, Growth

_ROWS, _WORKERS, _COLUMNS = 1e9, 100, 100  # the job to be estimated


def write(limit_rows: list[dict[str, Any]], growth: Growth, anchor_rows: list[dict[str, Any]]) -> None:
    """The page; replaced in one step."""
    page = Section("scaling", "Beyond memory and beyond one machine", DOCS)
    page.text(
        "Written by `python -m benchmarks.scale`; nothing here is typed by hand but the text between the numbers. "
        "Times "
        "and memory are of one run each on the machine below, in a process of its own; memory is the peak resident set "
        "of that process and all its workers, 20 milliseconds apart."
    )
    page.table(["machine", ""], machine())
    _limits(page, limit_rows)
    _growth(page, growth)
    _anchors(page, anchor_rows)
    _estimate(page, growth)
    text = page.markdown().replace('<a id="scaling"></a>\n\n## ', "# ", 1).replace("### ", "## ")
    part = DOCS / "scaling.part"
    part.write_text(text)
    part.replace(DOCS / "scaling.md")


def _limits(page: Section, rows: list[dict[str, Any]]) -> None:
    page.heading(f"A file five times larger than the memory: {_mib(limits.LIMIT)} MiB")
    n, m = rows[0]["shape"]
    over = [row["method"] for row in rows if row["peak"] > limits.LIMIT]
    page.text(
        f"A Zarr array of {n:,} x {m:,} float64 values ({rows[0]['bytes'] / GIB:.2f} GiB, chunked by columns), each "
        f"method "
        f"told to keep to {_mib(limits.LIMIT)} MiB as with `--memory`. Every tenth column carries the clusters of the "
        f"rows; "
        "the last column of the table is the share of such columns among the best tenth. "
        + (f"Over the limit: {', '.join(f'`{name}`' for name in over)}." if over else "All of them keep to it.")
    )
    cells = [
        [f"`{r['method']}`", seconds(r["seconds"]), f"{_mib(r['peak'])} MiB", f"{r['informative']:.3f}"] for r in rows
    ]
    page.table(["method", "time", "peak memory", "informative"], cells)


def _growth(page: Section, growth: Growth) -> None:
    page.heading("Against rows, columns and workers")
    page.text(
        "The Laplacian score, float32 files, a limit of 4 GiB. Rows: 100 columns, chunked by rows, one pass with the "
        "anchor "
        f"graph ({N_ANCHORS} anchors); the smallest also with the kNN graph, whose neighbours are approximate there. "
        "Columns: 200 rows, chunked by columns, exact neighbours. Workers: Dask processes on this machine, each with "
        "its "
        "share of the memory, on the largest file of its kind."
    )
    cells = [
        [r["axis"], f"{r['shape'][0]:,} x {r['shape'][1]:,}", r.get("workers") or "–", seconds(r["seconds"]),
         f"{r['peak'] / GIB:.2f} GiB", f"{r['informative']:.3f}"]
        for r in growth.rows
    ]  # fmt: skip
    page.table(["axis", "shape", "workers", "time", "peak memory", "informative"], cells)
    lines = []
    for axis in ("rows, anchors", "columns"):
        time_, memory = growth.exponents(axis)
        lines.append(f"- {axis}: time grows as size^{time_:.2f}, peak memory as size^{memory:.2f} (larger half).")
    page.text("\n".join(lines))
    page.figure(_figure(growth), "growth", "Time against size; dashed lines grow in proportion to the size.")


def _anchors(page: Section, rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    page.heading("What the anchor graph gives up")
    page.text(
        "The ranking by anchors against that by nearest neighbours: Spearman's correlation of the scores, and the "
        "accuracy "
        "of 1-NN on the first features."
    )
    header = list(rows[0])
    page.table(header, [[_cell(row.get(name)) for name in header] for row in rows])


def _estimate(page: Section, growth: Growth) -> None:
    page.heading("A cost model, and what it says of 10⁹ rows")
    fixed, slope = growth.per_value()
    one, two = (next(r["seconds"] for r in growth.curve("workers, rows") if r["size"] == w) for w in (1, 2))
    efficiency = one / two / 2
    values = _ROWS * _COLUMNS / _WORKERS
    hours = (fixed + slope * values) / 3600
    largest = growth.curve("rows, anchors")[-1]
    predicted = fixed + slope * largest["shape"][0] * largest["shape"][1]
    page.text(
        f"One pass by rows took {fixed:.1f} s + {slope * 1e9:.1f} ns per value with {N_ANCHORS} anchors (least "
        f"squares, "
        f"relative; the largest file took {largest['seconds']:.1f} s, the model says {predicted:.1f} s). Two workers "
        f"were "
        f"{one / two:.2f} times as fast as one, an efficiency of {efficiency:.2f} on two cores that they share with "
        f"the "
        "scheduler and the client."
    )
    page.text(
        f"So {_ROWS:.0e} rows x {_COLUMNS} columns on {_WORKERS} workers of this machine's speed are {values:.0e} "
        f"values "
        f"each, {hours * 60:.0f} minutes at full efficiency and {hours * 60 / max(efficiency, 0.1):.0f} at the one "
        f"measured "
        "here. That is an extrapolation by three orders of magnitude, not a measurement. What would break first:"
    )
    bytes_ = _ROWS * _COLUMNS * 4
    page.text(
        f"- Reading: {bytes_ / 2**40:.2f} TiB of float32 have to come from somewhere, {bytes_ / _WORKERS / 2**30:.1f} "
        f"GiB per "
        "worker and pass. Shared storage below a few GB/s is the bottleneck before any arithmetic is.\n"
        f"- The client: it holds a few arrays of one value per row (labels, which rows are read), about "
        f"{_ROWS * 9 / GIB:.0f} GiB, and nothing else that grows with the rows. It needs that much memory.\n"
        "- The scheduler: with chunks of 100 MB there are some "
        f"{bytes_ / 1e8:,.0f} chunks, well below the hundred thousands of tasks where Dask's scheduler slows down.\n"
        "- The kNN graph: it is a graph in memory and ends at a few million rows; `KNN(algorithm='auto')` says so and "
        "takes "
        "anchors beyond."
    )


def _figure(growth: Growth) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3), layout="constrained")
    for place, (axis, label) in enumerate(
        (("rows, anchors", "rows (x 100 columns)"), ("columns", "columns (x 200 rows)"))
    ):
        axes = figure.add_subplot(1, 2, place + 1)
        points = growth.curve(axis)
        sizes, times = [p["size"] for p in points], [p["seconds"] for p in points]
        axes.loglog(sizes, times, "o-", color="#0072B2", label="Laplacian score")
        axes.loglog(sizes, [times[-1] * s / sizes[-1] for s in sizes], "--", color="gray", label="proportional")
        axes.set(xlabel=label, ylabel="seconds")
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
    return figure


def _mib(size: float) -> str:
    return f"{size / 2**20:.0f}"


def _cell(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
