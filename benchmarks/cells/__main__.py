"""``python -m benchmarks.cells``: choose genes of two sets of cells, write the tables and fill docs/single-cells.md."""

from __future__ import annotations

import argparse
import sys
import time

from ..pages import DOCS, FOLDERS, fill, save_all, save_figure
from . import agreement, maps, sets

PAGE = DOCS / "single-cells.md"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cells", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one draw and few sizes, printed, no file written")
    options = parser.parse_args(arguments)
    start, cells = time.perf_counter(), [made for made in (sets.yan(), sets.pbmc()) if made is not None]
    if len(cells) < 2 and not options.quick:
        parser.error("the papers' data sets are needed: set FIEDLER_DATA to their folder")
    tables, rows = {}, []
    for each in cells:
        tables |= agreement.tables(each, agreement.measure(each, options.quick))
        figure, row = maps.compare(each)
        rows.append(row)
        if not options.quick:
            save_figure(figure, DOCS / "figures" / f"walk-{each.name}.svg")
        print(f"{each.name}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    tables["maps"] = ["cells", "genes chosen", "of them chosen by scanpy too", "the ten best"], rows
    if options.quick:
        print(*tables.items(), sep="\n")
        return
    save_all(FOLDERS[PAGE], tables)
    fill(PAGE)


if __name__ == "__main__":
    main()
