"""Graphs of sparse cells up to a hundred thousand rows, and sets of genes: ``python -m benchmarks.scale.cells``.

The cells are made: counts of twelve kinds over 20,000 genes, normalised and logarithms taken, 5 % stored
(:func:`benchmarks.data.cells`). Every graph is built, and every set chosen, in a process of its own. Rows that are
measured replace those in results/cells.csv; the others stay, so that long and short ones can be measured at different
times. Sets of more than 20,000 rows are measured only if ``--rows`` names their number. scanpy is measured if it is
installed.
"""

from __future__ import annotations

import argparse
from typing import Any

from .. import contenders, isolated
from ..contenders import K
from ..pages import DOCS, FOLDERS, fill, records, save

PAGE = DOCS / "scaling.md"
ROWS, COLUMNS = (1000, 3000, 10_000, 20_000, 50_000, 100_000), 20_000
GRAPHS = {
    "X": "`KNN(10)`",
    "components": "`KNN(10, n_components=50)`",
    "scanpy": "scanpy: `pca`, `neighbors`",
    "set": "`subset`, 200 features",
}
SET, SET_ROWS = 200, 20_000  # features of a set, and the largest number of rows of sets that are always measured
HEADER = ["graph", "rows", "columns", "seconds", "peak GiB", "search", "recall", "true neighbours", "same kind"]


def measured(graph: str, n: int, m: int = COLUMNS) -> list[str]:
    """One row of the table; a dash where a number does not apply."""
    job = ("cell_set", str(n), str(m), str(SET)) if graph == "set" else ("cells", graph, str(n), str(m), str(K))
    found = isolated.measure(*job)
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
    shares = ["–" if (share := found.get(name)) is None else f"{share:.3f}" for name in ("recall", "true", "same kind")]
    return [found.get("search") or "approximate", *shares]


def wanted(rows: list[int] | None, graphs: list[str]) -> list[tuple[int, str]]:
    """What is measured, in this order; ``rows`` is None if the user names no numbers."""
    return [(n, graph) for n in rows or ROWS for graph in graphs if rows or graph != "set" or n <= SET_ROWS]


def merged(before: list[dict[str, str]], rows: list[list[str]]) -> list[list[str]]:
    """The rows of two tables by graph and size; new ones replace old ones."""
    names = list(GRAPHS.values())
    all_rows = {(row[0], row[1]): row for row in [*([old[name] for name in HEADER] for old in before), *rows]}
    return sorted(all_rows.values(), key=lambda row: (names.index(row[0]), int(row[1].replace(",", ""))))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale.cells", description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", help=f"numbers of cells; by default {', '.join(map(str, ROWS))}")
    parser.add_argument(
        "--graphs", nargs="+", choices=list(GRAPHS), default=list(GRAPHS), help="graphs, and sets of genes"
    )
    parser.add_argument("--dry", action="store_true", help="print only, write no table and no page")
    options = parser.parse_args()
    path, rows = FOLDERS[PAGE] / "cells.csv", []
    if "scanpy" in options.graphs and (why := contenders.missing("scanpy")) is not None:
        print(f"scanpy is left out: {why}")
        options.graphs = [graph for graph in options.graphs if graph != "scanpy"]
    for n, graph in wanted(options.rows, options.graphs):
        rows.append(measured(graph, n))
        print(*rows[-1], sep=" | ", flush=True)
    if not options.dry:
        save(path, HEADER, merged(records(path) if path.exists() else [], rows))
        fill(PAGE)


if __name__ == "__main__":
    main()
