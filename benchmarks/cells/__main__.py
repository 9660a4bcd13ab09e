"""``python -m benchmarks.cells``: choose genes of two sets of cells, and write docs/single-cells.md."""

from __future__ import annotations

import argparse
import sys
import time

from ..papers.page import DOCS
from . import agreement, page, sets, tutorial


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cells", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one draw and few sizes, printed, no file written")
    options = parser.parse_args(arguments)
    start, quick = time.perf_counter(), options.quick
    cells = [made for made in (sets.yan(), sets.pbmc()) if made is not None]
    if len(cells) < 2 and not quick:
        parser.error("the papers' data sets are needed: set FIEDLER_DATA to their folder")
    sections = [tutorial.section(cells, None if quick else DOCS)]
    print(f"maps: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    for place, each in enumerate(cells, 2):
        sections.append(agreement.section(each, agreement.measure(each, quick), place))
        print(f"{each.name}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    print(page.markdown(sections) if quick else f"wrote {page.write(sections)}")


if __name__ == "__main__":
    main()
