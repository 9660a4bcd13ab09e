"""``python -m benchmarks.scale``: measure, and write docs/scaling.md.

What is measured is kept in the folder, part by part, so that an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import anchors, growth, limits, page


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small files, printed on the terminal, no page written")
    parser.add_argument("--folder", type=Path, help="for files and numbers, which stay; a temporary one by default")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        limited = _kept(folder / "limits.json", lambda: limits.measure(folder, options.quick))
        grown = _kept(folder / "growth.json", lambda: growth.measure(folder, options.quick).rows)
        compared = _kept(folder / "anchors.json", lambda: anchors.run(options.quick))
    if not options.quick:
        page.write(limited, growth.Growth(grown), compared)


def _kept(path: Path, measure: Callable[[], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The rows in a file, measured now where there is none."""
    if not path.exists():
        rows = measure()
        part = path.with_suffix(".part")
        part.write_text(json.dumps(rows))
        part.replace(path)
    rows = json.loads(path.read_text())
    for row in rows:
        print({key: value for key, value in row.items() if key != "path"}, file=sys.stderr, flush=True)
    return rows


if __name__ == "__main__":
    main()
