"""``python -m benchmarks.scale``: measure, write the tables and fill docs/scaling.md."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from ..pages import DOCS, FOLDERS, fill, records, save, save_all, save_figure
from ..report import machine
from . import anchors, growth

PAGE = DOCS / "scaling.md"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small files, printed on the terminal, no page written")
    parser.add_argument("--folder", type=Path, help="for the files, which stay; a temporary one by default")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        limited, grown = growth.limits(folder, options.quick), growth.measure(folder, options.quick)
    compared = anchors.run(options.quick)
    if options.quick:
        print(*limited, *grown, *compared.values(), sep="\n")
        return
    results = FOLDERS[PAGE]
    save(results / "limits.csv", list(limited[0]), [row.values() for row in limited])
    save(results / "growth.csv", list(grown[0]), [row.values() for row in grown])
    save_all(results, {f"anchors-{name}": table for name, table in compared.items()})
    save_all(results, {"machine": (["machine", ""], machine())})
    derive()
    fill(PAGE)


def derive() -> None:
    """What follows from the table of growth: exponents, cost models, an estimate and the figure."""
    grown = growth.Growth(records(FOLDERS[PAGE] / "growth.csv"))
    save_all(FOLDERS[PAGE], grown.tables())
    save_figure(grown.figure(), DOCS / "figures" / "scaling-growth.svg")


if __name__ == "__main__":
    main()
