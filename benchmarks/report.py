"""The tables, the figures and RESULTS.md of ``make bench``, from nothing but what was measured."""

from __future__ import annotations

import os
import platform
import time
from pathlib import Path
from typing import Any

from . import contenders, data
from .cases import cases
from .measure import Results, Row
from .pages import FOLDERS, HERE, fill, load, records, save_all, save_figure
from .scaling import Curve, exponent

PAGE = HERE / "RESULTS.md"
RATIOS = ["work", "against", "theirs", "fiedler", "ratio", "promised", "met", "CPU theirs", "CPU fiedler", "runs"]


def machine() -> list[tuple[str, str]]:
    """Facts about this machine that the numbers depend on."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    packages = ", ".join(f"{name} {version}" for name, version in contenders.versions().items() if version)
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


def write(results: Results) -> None:
    """The tables of a run, the two figures and RESULTS.md."""
    folder = FOLDERS[PAGE]
    save_all(
        folder,
        {
            "machine": (["machine", ""], [*results.machine, ("minutes", f"{results.minutes:.0f}")]),
            "ratios": (RATIOS, [_ratio(row) for row in results.rows]),
            "facts": (["what", "measured", "promised", "met"], results.facts),
            "scaling": (["axis", "work", "contender", "sizes", "seconds", "exponent"], map(_ends, results.curves)),
            "consistency": _consistency(results.consistency),
            "notes": (["work", "what the contenders returned"], results.notes),
        },
    )
    save_figure(ratio_figure(records(folder / "ratios.csv")), HERE / "figures" / "ratios.svg")
    save_figure(_scaling_figure(results.curves), HERE / "figures" / "scaling.svg")
    fill(PAGE)


def update(results: Results) -> None:
    """Replace the rows of some cases in the tables of the last full run, and fill RESULTS.md again."""
    folder = FOLDERS[PAGE]

    def by_name(table: str) -> dict[str, list[str]]:
        return {row[0]: row for row in load(folder / f"{table}.csv")[1:]}

    ratios = {(row["work"], row["against"]): list(row.values()) for row in records(folder / "ratios.csv")}
    ratios |= {(row.work, row.against): _ratio(row) for row in results.rows}
    order = [(case.work, against) for case in cases() for against in case.targets]
    facts = by_name("facts") | {fact[0]: list(fact) for fact in results.facts}
    notes = by_name("notes") | {note[0]: list(note) for note in results.notes}
    machines = by_name("machine")
    machines["ratios measured again"] = ["ratios measured again", machine()[0][1]]
    save_all(
        folder,
        {
            "machine": (["machine", ""], machines.values()),
            "ratios": (RATIOS, [ratios[key] for key in order if key in ratios]),
            "facts": (["what", "measured", "promised", "met"], facts.values()),
            "notes": (["work", "what the contenders returned"], notes.values()),
        },
    )
    save_figure(ratio_figure(records(folder / "ratios.csv")), HERE / "figures" / "ratios.svg")
    fill(PAGE)


def _ratio(row: Row) -> list[str]:
    promised, met = (f"{row.target:g}", "yes" if row.met else "no") if row.target else ("–", "–")
    times = map(_three, (row.theirs.wall, row.ours.wall, row.ratio))
    cpu = map(_three, (row.theirs.cpu, row.ours.cpu))
    return [row.work, row.against, *times, promised, met, *cpu, f"{row.theirs.runs} / {row.ours.runs}"]


def _three(value: float) -> str:
    """Three digits without an exponent."""
    return f"{float(f'{value:.3g}'):g}"


def _ends(curve: Curve) -> list[str]:
    """A row of the table of growth: the smallest and the largest problem."""
    axis, work, contender, sizes, seconds = curve
    times = f"{_three(seconds[0])} to {_three(seconds[-1])}"
    return [axis, work, contender, f"{sizes[0]:,.0f} to {sizes[-1]:,.0f}", times, exponent(curve)]


def _consistency(entries: list[tuple[str, str, float, float]]) -> tuple[list[str], list[list[str]]]:
    found = {(name, change): value for name, change, value, _ in entries}
    changes = list(dict.fromkeys(change for _, change in found))
    names = dict.fromkeys(name for name, _ in found)
    cells = {name: ["0" if found[name, c] == 0 else f"{found[name, c]:.0e}" for c in changes] for name in names}
    return ["method", *changes], [[name, *row] for name, row in cells.items()]


def ratio_figure(rows: list[dict[str, str]]) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 0.25 * len(rows) + 0.8), layout="constrained")
    axes, places = figure.subplots(), range(len(rows))
    colors = [{"yes": "tab:blue", "no": "tab:red"}.get(row["met"], "tab:gray") for row in rows]
    promised = [None if row["promised"] == "–" else float(row["promised"]) for row in rows]
    axes.barh(places, [float(row["ratio"]) - 1.0 for row in rows], left=1.0, color=colors, height=0.7)
    axes.scatter(promised, places, marker="|", s=90, color="black", zorder=3)
    axes.set(xscale="log", yticks=places, xlabel="times as fast as the contender; | is what was promised")
    axes.set_yticklabels([f"{row['work']}: {row['against']}" for row in rows], fontsize=8)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.axvline(1.0, color="black", linewidth=0.5)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    return figure


def _scaling_figure(curves: list[Curve]) -> Any:
    from matplotlib.figure import Figure

    works = list(dict.fromkeys((axis, work) for axis, work, *_ in curves))
    figure = Figure(figsize=(9, 2.3 * -(-len(works) // 3)), layout="constrained")
    for place, (axis, work) in enumerate(works, 1):
        axes = figure.add_subplot(-(-len(works) // 3), 3, place)
        for curve in (curve for curve in curves if curve[:2] == (axis, work)):
            color = "tab:blue" if curve[2] == "fiedler" else "gray"
            axes.loglog(*curve[3:], "o-", ms=3, label=f"{curve[2]} ({exponent(curve)})", color=color)
        axes.set_title(work, fontsize=8)
        axes.set_xlabel(axis, fontsize=8)
        axes.set_ylabel("seconds", fontsize=8)
        axes.legend(frameon=False, loc="upper left", fontsize=7)
    return figure
