"""``python -m benchmarks.holes``: measure, write the tables and fill docs/holes.md."""

from __future__ import annotations

import argparse
import sys
import time

from .. import data
from ..pages import DOCS, FOLDERS, fill, markdown, save_all
from .experiments import EXPERIMENTS


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.holes", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, printed, no file written")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--only", choices=[experiment.__name__ for experiment in EXPERIMENTS], action="append")
    options = parser.parse_args(arguments)
    if data.folder() is None:
        parser.error("the papers' data sets are needed: set FIEDLER_DATA to their folder")
    page, start = DOCS / "holes.md", time.perf_counter()
    for experiment in EXPERIMENTS:
        if options.only and experiment.__name__ not in options.only:
            continue
        tables = experiment(options.quick, options.jobs)
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
