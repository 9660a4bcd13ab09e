"""``python -m benchmarks.study``: run the study, write its tables and figures and fill docs/which-method.md."""

from __future__ import annotations

import argparse
import sys
import time

from .. import data
from .page import summary, write
from .ranks import Results
from .run import QUICK, Settings, run
from .sets import SMALL, SOURCES


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.study", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few small data sets and draws, no file written")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--only", metavar="SET", action="append", help="these data sets alone, no file written")
    options = parser.parse_args(arguments)
    unknown = set(options.only or ()) - set(SOURCES)
    if unknown:
        parser.error(f"no data set {', '.join(sorted(unknown))}; there are {', '.join(SOURCES)}")
    if data.folder() is None:
        parser.error("the papers' data sets are needed: set FIEDLER_DATA to their folder")
    start = time.perf_counter()
    names = options.only or (SMALL if options.quick else tuple(SOURCES))
    results = Results(run(names, QUICK if options.quick else Settings(), options.jobs))
    if options.only or options.quick:
        print(summary(results))
    else:
        write(results)
    print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
