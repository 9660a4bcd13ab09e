"""``python -m benchmarks.papers``: rerun the papers' experiments, write their tables and fill docs/reproductions.md."""

from __future__ import annotations

import argparse
import time
from importlib import import_module

from .. import data
from ..pages import DOCS, fill
from .common import TITLES
from .figures import draw


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description=__doc__)
    parser.add_argument("papers", nargs="*", help=f"of {', '.join(TITLES)}; all of them by default")
    parser.add_argument("--quick", action="store_true", help="few draws, printed on the terminal, no file written")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    options = parser.parse_args()
    unknown = set(options.papers) - set(TITLES)
    if unknown:
        parser.error(f"no paper {', '.join(sorted(unknown))}; there are {', '.join(TITLES)}")
    if data.folder() is None:
        parser.error("the papers' data sets are needed: set FIEDLER_DATA to their folder")
    for paper in options.papers or TITLES:
        start = time.perf_counter()
        report = import_module(f"{__package__}.{paper}").run(quick=options.quick, n_jobs=options.jobs)
        print(f"{paper}: {time.perf_counter() - start:.0f} s", flush=True)
        for key, (holds, evidence) in report.findings.items():
            print(f"  {'yes' if holds else 'NO '}  {key}: {evidence}", flush=True)
        if not options.quick:
            report.save(paper)
            draw(paper)
    if not options.quick:
        fill(DOCS / "reproductions.md")


if __name__ == "__main__":
    main()
