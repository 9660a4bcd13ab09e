"""``python -m benchmarks.significance``: measure, and write docs/is-it-real.md."""

from __future__ import annotations

import argparse
import sys
import time

from .. import data
from ..papers.page import DOCS
from . import breaks, calibration, page, planted, real, speed


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.significance", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, printed, no file written")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    options = parser.parse_args(arguments)
    if data.folder() is None and not options.quick:
        parser.error("the papers' data sets are needed: set FIEDLER_DATA to their folder")
    start, quick, jobs = time.perf_counter(), options.quick, options.jobs

    def said(what: str) -> None:
        print(f"{what}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)

    cost = speed.section(speed.measure(quick))
    said("speed")
    sections = [calibration.noise_section(calibration.measure(quick, jobs))]
    said("noise")
    sections.append(calibration.supervised_section(calibration.supervised(quick)))
    said("labels")
    sections.append(planted.section(planted.measure(quick, jobs), None if quick else DOCS))
    said("planted")
    sections.append(real.section(*real.measure(quick, jobs)))
    said("real sets")
    sections += [breaks.section(breaks.measure(quick)), cost]
    said("breaks")
    print(page.markdown(sections) if quick else f"wrote {page.write(sections)}")


if __name__ == "__main__":
    main()
