"""``python -m benchmarks.scale``: measure, and write docs/scaling.md."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from . import growth, limits, page


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small files, printed on the terminal, no page written")
    parser.add_argument("--folder", type=Path, help="where the files are made, and left; a temporary one by default")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(exist_ok=True)
        limit_rows = limits.measure(folder, options.quick)
        _tell(limit_rows)
        grown = growth.measure(folder, options.quick)
        _tell(grown.rows)
    from . import anchors

    anchor_rows = anchors.run(options.quick)
    _tell(anchor_rows)
    if not options.quick:
        page.write(limit_rows, grown, anchor_rows)


def _tell(rows: list[dict]) -> None:
    for row in rows:
        print({key: value for key, value in row.items() if key != "path"}, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
