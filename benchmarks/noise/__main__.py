"""``python -m benchmarks.noise``: measure, write the tables and fill docs/noise.md."""

from __future__ import annotations

import argparse
import sys
import time

from .. import data
from ..pages import DOCS, FOLDERS, fill, load, markdown, save_all
from .contenders import FREE
from .experiments import EXPERIMENTS, planted_structures, real_sets


def joined(old: list[list[str]], new: tuple[list[str], list[list[str]]]) -> tuple[list[str], list[list[str]]]:
    """A table with the rows or the columns of some methods replaced or added, in the order of ``FREE``."""
    header, rows = new
    if header == old[0]:  # a row for each method, or nothing about methods
        found = {row[0]: row for row in [*old[1:], *rows]}
        places = {name: place for place, name in enumerate(FREE)}
        return header, sorted(found.values(), key=lambda row: places.get(row[0], 0))
    columns = dict(zip(old[0], zip(*old[1:], strict=True), strict=True))
    columns |= dict(zip(header, zip(*rows, strict=True), strict=True))
    names = [name for name in (*header[:2], *FREE, *header[-2:]) if name in columns]
    return names, [list(row) for row in zip(*(columns[name] for name in names), strict=True)]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.noise", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, printed, no file written")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--only", choices=[experiment.__name__ for experiment in EXPERIMENTS], action="append")
    parser.add_argument(
        "--methods", nargs="+", choices=list(FREE), help="measure these only, and keep the numbers of all others"
    )
    options = parser.parse_args(arguments)
    some = (planted_structures, real_sets)  # the experiments that compare methods
    if data.folder() is None:
        parser.error("the papers' data sets are needed: set FIEDLER_DATA to their folder")
    page, start = DOCS / "noise.md", time.perf_counter()
    for experiment in EXPERIMENTS:
        if options.only and experiment.__name__ not in options.only:
            continue
        if options.methods and experiment not in some:
            continue
        more = (tuple(options.methods),) if options.methods else ()
        tables = experiment(options.quick, options.jobs, *more)
        if options.methods and not options.quick:
            tables = {name: joined(load(FOLDERS[page] / f"{name}.csv"), table) for name, table in tables.items()}
        print(f"{experiment.__name__}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
        if not options.quick:
            save_all(FOLDERS[page], tables)
            continue
        for name, (header, rows) in tables.items():
            print(name, markdown([header, *rows]), sep="\n\n", end="\n\n")
    if not options.quick:
        fill(page)


if __name__ == "__main__":
    main()
