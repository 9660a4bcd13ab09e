"""Graphs of sparse cells, from a thousand to a hundred thousand rows: ``python -m benchmarks.scale.cells``.

The cells are made: counts of twelve kinds over 20,000 genes, normalised and logarithms taken, 5 % stored
(:func:`benchmarks.data.cells`). Every graph is built in a process of its own. Rows that are measured replace those in
results/cells.csv; the others stay, so that long and short ones can be measured at different times. scanpy is measured
if it is installed.
"""

from __future__ import annotations

import argparse
from typing import Any

from .. import contenders, isolated
from ..pages import DOCS, FOLDERS, fill, records, save

PAGE = DOCS / "scaling.md"
ROWS, COLUMNS = (1000, 3000, 10_000, 20_000, 50_000, 100_000), 20_000
GRAPHS = {
    "X": "`KNN(10)`",
    "components": "`KNN(10, n_components=50)`",
    "scanpy": "scanpy: `pca`, `neighbors`",
}
HEADER = ["graph", "rows", "columns", "seconds", "peak GiB", "search", "recall", "true neighbours", "same kind"]


def measured(graph: str, n: int, m: int = COLUMNS) -> list[str]:
    """One row of the table; a dash where a number does not apply."""
    found = isolated.measure("cells", graph, str(n), str(m), str(contenders.K))
    if "failed" in found:
        raise RuntimeError(f"{graph} of {n} rows: {found['failed']}")
    return [
        GRAPHS[graph],
        f"{n:,}",
        f"{m:,}",
        f"{found['wall']:.3g}",
        f"{found['resident'] / 2**30:.2f}",
        *_told(found),
    ]


def _told(found: dict[str, Any]) -> list[str]:
    recall = "–" if found.get("recall") is None else f"{found['recall']:.3f}"
    return [found.get("search") or "approximate", recall, f"{found['true']:.3f}", f"{found['same kind']:.3f}"]


def merged(before: list[dict[str, str]], rows: list[list[str]]) -> list[list[str]]:
    """The rows of two tables by graph and size; new ones replace old ones."""
    names = list(GRAPHS.values())
    all_rows = {(row[0], row[1]): row for row in [*([old[name] for name in HEADER] for old in before), *rows]}
    return sorted(all_rows.values(), key=lambda row: (names.index(row[0]), int(row[1].replace(",", ""))))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale.cells", description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=list(ROWS), help="numbers of cells")
    parser.add_argument("--graphs", nargs="+", choices=list(GRAPHS), default=list(GRAPHS))
    parser.add_argument("--dry", action="store_true", help="print only, write no table and no page")
    options = parser.parse_args()
    path, rows = FOLDERS[PAGE] / "cells.csv", []
    for n in options.rows:
        for graph in options.graphs:
            if graph == "scanpy" and (why := contenders.missing("scanpy")) is not None:
                print(f"scanpy is left out: {why}")
                continue
            rows.append(measured(graph, n))
            print(*rows[-1], sep=" | ", flush=True)
    if not options.dry:
        save(path, HEADER, merged(records(path) if path.exists() else [], rows))
        fill(PAGE)


if __name__ == "__main__":
    main()
