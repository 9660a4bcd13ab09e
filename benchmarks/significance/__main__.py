"""``python -m benchmarks.significance``: measure, write the tables and fill docs/is-it-real.md."""

from __future__ import annotations

import argparse
import sys
import time

from .. import data
from ..pages import DOCS, FOLDERS, fill, markdown, save_all, save_figure
from .experiments import EXPERIMENTS, planted_figure


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.significance", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, printed, no file written")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    options = parser.parse_args(arguments)
    if data.folder() is None and not options.quick:
        parser.error("the papers' data sets are needed: set FIEDLER_DATA to their folder")
    start, tables, found = time.perf_counter(), {}, []
    for experiment in EXPERIMENTS:
        made, findings = experiment(options.quick, options.jobs)
        tables |= made
        found += [[claim, "yes" if holds else "no", evidence] for claim, holds, evidence in findings]
        print(f"{experiment.__name__}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    tables["findings"] = ["claim", "comes out", "evidence"], found
    if options.quick:
        for name, (header, rows) in tables.items():
            print(name, markdown([header, *([str(cell) for cell in row] for row in rows)]), sep="\n\n", end="\n\n")
        return
    page = DOCS / "is-it-real.md"
    save_all(FOLDERS[page], tables)
    save_figure(planted_figure(), DOCS / "figures" / "planted-display.svg")
    fill(page)


if __name__ == "__main__":
    main()
