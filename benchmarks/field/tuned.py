"""``python -m benchmarks.field.tuned``: defaults beside the best of four settings by the labels, for every selector.

The best setting of a set is the one with the highest value of the judge that is reported, so that it is what a table
of tuned methods shows, and what nobody without labels can reach. Random features have four draws instead of settings:
their gain is what choosing among four brings by chance.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from ..noise.experiments import drawn, share
from ..pages import DOCS, FOLDERS, fill, load, save
from ..study.sets import SOURCES
from .judges import MEASURES, judged
from .selectors import GRIDS

HEADER = ["set", "method", "setting", *MEASURES]
RAW = Path(__file__).with_name("tuned.csv")


def measured(name: str, method: str) -> list[list[str]]:
    """Means over sizes for every setting."""
    real = drawn(name)
    X, sizes = np.asarray(real.X, dtype=np.float64), real.sizes
    rows = []
    for setting, select in enumerate(GRIDS[method]):
        order = select(X, sizes[-1], 0)
        values = np.mean([judged(X[:, order[:size]], real.y) for size in sizes], axis=0)
        rows.append([name, method, str(setting), *(f"{value:.4f}" for value in values)])
    return rows


def table(rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Means over sets of the default and of the best setting, by 1-NN and by k-means."""
    lines = []
    for method in GRIDS:
        sets = sorted({row[0] for row in rows if row[1] == method})
        values = np.array([[row[3:] for row in rows if row[:2] == [name, method]] for name in sets], dtype=float)
        default, best = values[:, 0].mean(axis=0), values.max(axis=1).mean(axis=0)
        cells = [(default[at], best[at], best[at] - default[at]) for at in (0, 1)]
        lines.append([method, *(share(value) for part in cells for value in part)])
    words = [f"{name}, {what}" for name in MEASURES[:2] for what in ("default", "best of four by labels", "gain")]
    return ["selector", *words], lines


def main() -> None:
    page, start = DOCS / "benchmark.md", time.perf_counter()
    names = [n for n, row in SOURCES.items() if row["target"] == "classes" and row["kind"] != "text"]
    rows = load(RAW)[1:] if RAW.exists() else []
    for name in names:
        todo = [method for method in GRIDS if not any(row[:2] == [name, method] for row in rows)]
        for found in Parallel(2)(delayed(measured)(name, method) for method in todo):
            rows += found
        save(RAW, HEADER, rows)
        print(f"{time.perf_counter() - start:6.0f} s  {name}", file=sys.stderr, flush=True)
    save(FOLDERS[page] / "tuned.csv", *table(rows))
    fill(page)


if __name__ == "__main__":
    main()
