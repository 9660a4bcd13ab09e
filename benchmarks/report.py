"""RESULTS.md and its figures, from nothing but what was measured."""

from __future__ import annotations

import os
import platform
import time
from pathlib import Path
from typing import Any

from . import contenders, data
from .measure import Results, Row
from .scaling import Curve

FOLDER = Path(__file__).resolve().parent
_COLORS = {"fiedler": "tab:blue"}


def machine() -> list[tuple[str, str]]:
    """Facts about this machine that the numbers depend on."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    packages = ", ".join(f"{name} {version}" for name, version in contenders.versions().items())
    return [
        ("date", time.strftime("%Y-%m-%d %H:%M %Z")),
        ("processor", f"{_processor()}, {cores} cores"),
        ("memory", _memory()),
        ("load average", ", ".join(f"{load:.1f}" for load in os.getloadavg()) if hasattr(os, "getloadavg") else "?"),
        ("system", f"{platform.system()} {platform.release()}, Python {platform.python_version()}"),
        ("packages", packages),
        (
            "data",
            "the papers' data sets" if data.folder() else "FIEDLER_DATA not set: generated data of the same shapes",
        ),
    ]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _memory() -> str:
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"
    except (AttributeError, ValueError, OSError):
        return "?"


def seconds(value: float) -> str:
    """A time with three digits and a unit one can read."""
    if value >= 100:
        return f"{value:.0f} s"
    return f"{value:.3g} s" if value >= 1 else f"{value * 1e3:.3g} ms"


def table(rows: list[Row]) -> list[str]:
    """The ratios as lines of Markdown."""
    lines = [
        "| work | against | theirs | fiedler | **ratio** | promised | met | CPU theirs | CPU fiedler | runs |",
        "|---|---|--:|--:|--:|--:|---|--:|--:|--:|",
    ]
    for row in rows:
        promised = f"{row.target:g} x" if row.target else "-"
        met = "-" if not row.target else "yes" if row.met else "**no**"
        lines.append(
            f"| {row.work} | {row.against} | {seconds(row.theirs.wall)} | {seconds(row.ours.wall)} | "
            f"**{row.ratio:.3g} x** | {promised} | {met} | {seconds(row.theirs.cpu)} | {seconds(row.ours.cpu)} | "
            f"{row.theirs.runs} / {row.ours.runs} |"
        )
    return lines


def _facts(facts: list[tuple[str, str, str, str]]) -> list[str]:
    lines = ["| what | measured | promised | met |", "|---|---|---|---|"]
    return lines + [f"| {' | '.join(fact)} |" for fact in facts]


def _consistency(entries: list[tuple[str, str, float, float]]) -> list[str]:
    changes = list(dict.fromkeys(change for _, change, _, _ in entries))
    lines = [f"| method | {' | '.join(changes)} |", "|---|" + "--:|" * len(changes)]
    found = {(name, change): (value, tolerance) for name, change, value, tolerance in entries}
    for name in dict.fromkeys(name for name, *_ in entries):
        cells = []
        for change in changes:
            value, tolerance = found[name, change]
            text = "0" if value == 0 else f"{value:.0e}"
            cells.append(text if value <= tolerance else f"**{text}**")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def write(results: Results) -> Path:
    """RESULTS.md and the figures."""
    rows, met = results.rows, [row.met for row in results.rows if row.target]
    met += [fact[3] == "yes" for fact in results.facts if fact[3] != "-"]
    notes = [f"- {row}" for row in results.notes]
    text = [
        "# Results",
        "",
        f"Written by `make bench` in {results.minutes:.0f} minutes; nothing here is typed by hand. {sum(met)} of "
        f"{len(met)} promises are met.",
        "",
        "Contenders take turns, A B A B ..., in one process; the best of several runs counts. A ratio is their wall "
        "time over fiedler's. CPU is process time over all threads: where the machine was busy (see the load average), "
        "the wall clock of a threaded contender suffers and its CPU time does not.",
        "",
        "| machine | |",
        "|---|---|",
        *(f"| {name} | {value} |" for name, value in results.machine),
        "",
        "## Ratios",
        "",
        *table(rows),
        "",
        *notes,
        "",
        "![ratios](figures/ratios.svg)",
        "",
        "## Memory, limits, first call",
        "",
        *_facts(results.facts),
        "",
        "## Scaling",
        "",
        "Exponents of time, fitted by least squares to log(time) against log(size).",
        "",
        "| axis | work | contender | sizes | times | exponent |",
        "|---|---|---|---|---|--:|",
        *(_curve(curve) for curve in results.curves),
        "",
        "![scaling](figures/scaling.svg)",
        "",
        "## Consistency",
        "",
        "Largest relative difference between two ways to run the same problem, over a problem of 150 x 60 and one of "
        "1,500 x 800; bold where it exceeds 1e-10 (float32: 1e-5).",
        "",
        *_consistency(results.consistency),
        "",
    ]
    path = FOLDER / "RESULTS.md"
    path.write_text("\n".join(text))
    _figures(results)
    return path


def _curve(curve: Curve) -> str:
    sizes = f"{curve.sizes[0]:,.0f} to {curve.sizes[-1]:,.0f}"
    times = f"{seconds(curve.times[0])} to {seconds(curve.times[-1])}"
    return f"| {curve.axis} | {curve.work} | {curve.contender} | {sizes} | {times} | **{curve.exponent:.2f}** |"


def _figures(results: Results) -> None:
    try:
        import matplotlib
    except ImportError:
        return
    matplotlib.use("svg")
    matplotlib.rcParams.update({"font.size": 8, "svg.fonttype": "none", "svg.hashsalt": "fiedler"})
    (FOLDER / "figures").mkdir(exist_ok=True)
    _ratio_figure(results.rows).savefig(FOLDER / "figures" / "ratios.svg", metadata={"Date": None})
    _scaling_figure(results.curves).savefig(FOLDER / "figures" / "scaling.svg", metadata={"Date": None})


def _ratio_figure(rows: list[Row]) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 0.25 * len(rows) + 0.8), layout="constrained")
    axes, places = figure.subplots(), range(len(rows))
    colors = ["tab:gray" if not row.target else "tab:blue" if row.met else "tab:red" for row in rows]
    axes.barh(places, [row.ratio - 1.0 for row in rows], left=1.0, color=colors, height=0.7)
    axes.scatter([row.target or None for row in rows], places, marker="|", s=90, color="black", zorder=3)
    axes.set(xscale="log", yticks=places, xlabel="times as fast as the contender; | is what was promised")
    axes.set_yticklabels([f"{row.work}: {row.against}" for row in rows])
    axes.xaxis.set_major_formatter("{x:g}")
    axes.axvline(1.0, color="black", linewidth=0.5)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    return figure


def _scaling_figure(curves: list[Curve]) -> Any:
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter, NullLocator

    works = list(dict.fromkeys((curve.axis, curve.work) for curve in curves))
    figure = Figure(figsize=(9, 2.3 * -(-len(works) // 3)), layout="constrained")
    for place, (axis, work) in enumerate(works):
        axes = figure.add_subplot(-(-len(works) // 3), 3, place + 1)
        drawn = [curve for curve in curves if (curve.axis, curve.work) == (axis, work)]
        for curve in drawn:
            label = f"{curve.contender} ({curve.exponent:.2f})"
            axes.loglog(curve.sizes, curve.times, "o-", ms=3, label=label, color=_COLORS.get(curve.contender, "gray"))
        axes.set(title=work, xlabel=axis, ylabel="time")
        axes.set_xticks(drawn[0].sizes, [_short(size) for size in drawn[0].sizes])
        # A decade at least, so that what hardly grows looks so, and room for the legend.
        times = [value for curve in drawn for value in curve.times]
        axes.set_ylim(min(times) / 2.0, max(max(times) * 4.0, min(times) * 10.0))
        axes.yaxis.set_major_formatter(lambda value, _: seconds(value))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.legend(frameon=False, loc="upper left")
    return figure


def _short(size: float) -> str:
    return f"{size:,.0f}" if size < 10_000 else f"{size / 1000:,.0f}k"
