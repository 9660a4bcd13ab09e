"""``python -m benchmarks.field``: judge every selector on every set, write the tables and fill docs/benchmark.md."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from scipy.stats import wilcoxon

from .. import data
from ..noise.experiments import drawn, share
from ..pages import DOCS, FOLDERS, fill, load, save
from ..study.sets import SMALL, SOURCES
from .judges import MEASURES, judged, standardised
from .selectors import DRAWS, SELECTORS

HEADER = ["set", "block", "kind", "method", "standardised", "features", *MEASURES]
RIVAL = "subset"


def measured(name: str, method: str) -> list[list[str]]:
    """Rows of the raw table: one set, one selector, all sizes, the chosen columns as they are and standardised."""
    real = drawn(name)
    X = real.X.toarray() if sp.issparse(real.X) else np.asarray(real.X, dtype=np.float64)
    m, sizes = X.shape[1], real.sizes
    orders = (
        [np.arange(m)]
        if method == "all"
        else [SELECTORS[method](real.X, sizes[-1], draw) for draw in range(DRAWS.get(method, 1))]
    )
    rows = []
    for scaled in ("no", "yes"):
        for size in [m] if method == "all" else sizes:
            blocks = [X[:, order[:size]] for order in orders]
            values = [judged(standardised(block) if scaled == "yes" else block, real.y) for block in blocks]
            numbers = [f"{value:.4f}" for value in np.mean(values, axis=0)]
            about = [name, SOURCES[name]["block"], SOURCES[name]["kind"], method, scaled]
            rows.append([*about, str(size), *numbers])
    return rows


def summary(raw: list[dict[str, str]], blocks: tuple[str, ...], text: bool) -> tuple[list[str], list[list[Any]]]:
    """Means over sets, and on how many sets a selector is better and worse than ``subset``, with Wilcoxon's p."""
    means: dict[tuple[str, str], dict[str, np.ndarray]] = {}
    for row in raw:
        if row["block"] in blocks and (row["kind"] == "text") == text:
            here = means.setdefault((row["method"], row["standardised"]), {})
            here.setdefault(row["set"], np.empty((0, 3)))
            here[row["set"]] = np.vstack([here[row["set"]], [float(row[name]) for name in MEASURES]])
    rows = []
    for method in [*SELECTORS, "all"]:
        plain, scaled = (means.get((method, kind), {}) for kind in ("no", "yes"))
        sets = sorted(plain)
        if not sets:
            continue
        values = np.array([plain[name].mean(axis=0) for name in sets])
        rival = np.array([means[RIVAL, "no"][name].mean(axis=0) for name in sets])
        cells = [method, *map(share, values.mean(axis=0))]
        for at in (0, 1):
            cells.append("–" if method == RIVAL else _duel(values[:, at] - rival[:, at]))
        cells += map(share, np.array([scaled[name].mean(axis=0) for name in sets]).mean(axis=0))
        rows.append(cells)
    against = [f"{name}: sets better than subset : worse (p)" for name in MEASURES[:2]]
    return ["selector", *MEASURES, *against, *(f"{name}, standardised" for name in MEASURES)], rows


def _duel(gains: np.ndarray) -> str:
    p = wilcoxon(gains).pvalue if np.any(gains) else 1.0
    return f"{np.sum(gains > 0)} : {np.sum(gains < 0)} ({p:.2g})"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.field", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few small sets, printed, no file written")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--methods", nargs="+", help="measure these again, and keep the numbers of all others")
    options = parser.parse_args(arguments)
    if data.folder() is None:
        parser.error("the papers' data sets are needed: set FIEDLER_DATA to their folder")
    page = DOCS / "benchmark.md"
    table = Path(__file__).with_name("raw.csv")
    names = [
        name for name, row in SOURCES.items() if row["target"] == "classes" and (name in SMALL or not options.quick)
    ]
    methods = options.methods or [*SELECTORS, "all"]
    kept = load(table)[1:] if table.exists() and not options.quick else []
    found = {tuple(row[:6]): row for row in kept}
    done = set() if options.methods else {(row[0], row[3]) for row in kept}  # a run that was stopped goes on
    start = time.perf_counter()
    for name in names:
        todo = [method for method in methods if (name, method) not in done]
        for rows in Parallel(options.jobs)(delayed(measured)(name, method) for method in todo):
            found |= {tuple(row[:6]): row for row in rows}
        if not options.quick and todo:
            save(table, HEADER, found.values())
        print(f"{time.perf_counter() - start:6.0f} s  {name}", file=sys.stderr, flush=True)
    raw = [dict(zip(HEADER, row, strict=True)) for row in found.values()]
    tables = {
        "study": summary(raw, ("study",), text=False),
        "fresh": summary(raw, ("held-out",), text=False),
        "text": summary(raw, ("study", "held-out"), text=True),
    }
    if options.quick:
        for header, rows in tables.values():
            print(*[header, *rows], sep="\n")
        return
    for title, (header, rows) in tables.items():
        save(FOLDERS[page] / f"{title}.csv", header, rows)
    fill(page)


if __name__ == "__main__":
    main()
