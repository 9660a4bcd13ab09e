"""``python -m benchmarks.field``: judge every selector on every set, write the tables and fill docs/benchmark.md."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from scipy.stats import wilcoxon

from .. import data
from ..noise.experiments import drawn, share
from ..pages import DOCS, FOLDERS, fill, load, save, save_all
from ..study.ranks import rank_methods
from ..study.sets import SMALL, SOURCES
from .judges import LINEAR, MEASURES, judged, linear, standardised
from .selectors import DRAWS, SELECTORS, installed

HEADER = ["set", "block", "kind", "method", "standardised", "features", *MEASURES]
LINEAR_HEADER = ["set", "block", "kind", "method", "features", LINEAR]
JUDGES = {*MEASURES, LINEAR}
RIVAL = "subset"
UNRANKED = ("all", "scikit-matter CUR")  # no choice, and the same columns as CUR


def measured(name: str, method: str) -> list[list[str]]:
    """Rows of the raw table: one set, one selector, all sizes, the chosen columns as they are and standardised."""
    X, y, choices = chosen(name, method)
    rows = []
    for scaled in ("no", "yes"):
        for size, blocks in choices.items():
            values = [judged(standardised(X[:, block]) if scaled == "yes" else X[:, block], y) for block in blocks]
            numbers = [f"{value:.4f}" for value in np.mean(values, axis=0)]
            about = [name, SOURCES[name]["block"], SOURCES[name]["kind"], method, scaled]
            rows.append([*about, str(size), *numbers])
    return rows


def measured_linear(name: str, method: str) -> list[list[str]]:
    """Rows of the raw table of the linear SVM, which standardises the chosen columns itself."""
    X, y, choices = chosen(name, method)
    about = [name, SOURCES[name]["block"], SOURCES[name]["kind"], method]
    return [
        [*about, str(size), f"{np.mean([linear(X[:, block], y) for block in blocks]):.4f}"]
        for size, blocks in choices.items()
    ]


def chosen(name: str, method: str) -> tuple[np.ndarray, np.ndarray, dict[int, list[np.ndarray]]]:
    """X and the classes of a set, and the columns of every size, once for every draw of the selector."""
    real = drawn(name)
    X = real.X.toarray() if sp.issparse(real.X) else np.asarray(real.X, dtype=np.float64)
    if method == "all":
        return X, real.y, {X.shape[1]: [np.arange(X.shape[1])]}
    orders = [SELECTORS[method](real.X, real.sizes[-1], draw) for draw in range(DRAWS.get(method, 1))]
    return X, real.y, {size: [order[:size] for order in orders] for size in real.sizes}


Values = dict[str, dict[str, dict[str, float]]]  # by judge, selector and set: the mean over sizes


def means(raw: list[dict[str, str]], straight: list[dict[str, str]], blocks: tuple[str, ...], text: bool) -> Values:
    """What every judge finds on the sets of some blocks, text or not."""
    cells: dict[tuple[str, str, str], list[float]] = {}
    for row in raw + straight:
        if row["block"] in blocks and (row["kind"] == "text") == text:
            scaled = ", standardised" * (row.get("standardised") == "yes")
            for judge in JUDGES & row.keys():
                cells.setdefault((judge + scaled, row["method"], row["set"]), []).append(float(row[judge]))
    found: Values = {}
    for (judge, method, name), values in cells.items():
        found.setdefault(judge, {}).setdefault(method, {})[name] = float(np.mean(values))
    return found


def summary(found: Values) -> tuple[list[str], list[list[Any]]]:
    """Means over sets, and on how many sets a selector is better and worse than ``subset``, with Wilcoxon's p."""
    against, scaled = ("1-NN", "k-means", LINEAR), [f"{name}, standardised" for name in MEASURES]
    rows = []
    for method in [*SELECTORS, "all"]:
        if method not in found["1-NN"]:
            continue
        value = {judge: share(float(np.mean([*by[method].values()]))) for judge, by in found.items()}
        duels = ["–" if method == RIVAL else _duel(found[judge][method], found[judge][RIVAL]) for judge in against]
        rows.append([method, *(value[judge] for judge in (*MEASURES, LINEAR)), *duels, *(value[k] for k in scaled)])
    words = [f"{name}: sets better than subset : worse (p)" for name in against]
    return ["selector", *MEASURES, LINEAR, *words, *scaled], rows


def _duel(mine: dict[str, float], rival: dict[str, float]) -> str:
    gains = np.array([mine[name] - rival[name] for name in sorted(mine)])
    p = wilcoxon(gains).pvalue if np.any(gains) else 1.0
    return f"{np.sum(gains > 0)} : {np.sum(gains < 0)} ({p:.2g})"


def standings(groups: dict[str, tuple[Values, tuple[str, ...]]]) -> tuple[list[str], list[list[str]]]:
    """Average ranks of the selectors by some judges of every group of sets, and Nemenyi's critical difference."""
    rankings = {}
    for group, (found, judges) in groups.items():
        for judge in judges:
            by = {method: values for method, values in found[judge].items() if method not in UNRANKED}
            table = {method: [values[name] for name in sorted(values)] for method, values in by.items()}
            rankings[f"{judge}, {group}"] = rank_methods(table)
    first = next(iter(rankings.values()))
    rows = [[method, *(f"{ranking.rank(method):.1f}" for ranking in rankings.values())] for method in first.methods]
    rows.append(["critical difference", *(f"{ranking.critical_difference:.1f}" for ranking in rankings.values())])
    return ["selector", *rankings], rows


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.field", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few small sets, printed, no file written")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--methods", nargs="+", help="measure these again, and keep the numbers of all others")
    options = parser.parse_args(arguments)
    if data.folder() is None:
        parser.error("the papers' data sets are needed: set FIEDLER_DATA to their folder")
    names = [
        name for name, row in SOURCES.items() if row["target"] == "classes" and (name in SMALL or not options.quick)
    ]
    methods, reasons = installed(options.methods or [*SELECTORS, "all"])
    print(*reasons, sep="\n", end="\n" * bool(reasons), file=sys.stderr)  # the numbers they have are kept
    raw, straight = (
        measure_all(Raw(*kind), names, methods, options.jobs, again=bool(options.methods), keep=not options.quick)
        for kind in ((measured, HEADER, "raw.csv"), (measured_linear, LINEAR_HEADER, "linear.csv"))
    )
    study, fresh = (means(raw, straight, (block,), text=False) for block in ("study", "held-out"))
    both, text = (means(raw, straight, ("study", "held-out"), text=text) for text in (False, True))
    groups = {"no text": (both, ("1-NN", "k-means", LINEAR)), "text": (text, ("1-NN", LINEAR))}
    kinds = {"study": study, "fresh": fresh, "text": text}
    tables = {title: summary(found) for title, found in kinds.items() if found} | {"ranks": standings(groups)}
    if options.quick:
        for header, rows in tables.values():
            print(*[header, *rows], sep="\n")
        return
    page = DOCS / "benchmark.md"
    save_all(FOLDERS[page], tables)
    fill(page)


@dataclass(frozen=True)
class Raw:
    """A raw table: what measures one set and one selector, the header of its rows, and the file."""

    measure: Callable[[str, str], list[list[str]]]
    header: list[str]
    file: str


def measure_all(
    table: Raw, names: list[str], methods: list[str], jobs: int, again: bool, keep: bool
) -> list[dict[str, str]]:
    """All rows of a raw table; a run that was stopped goes on where it stopped."""
    path, key = Path(__file__).with_name(table.file), table.header.index("features") + 1
    kept = load(path)[1:] if keep and path.exists() else []
    found = {tuple(row[:key]): row for row in kept}
    done = set() if again else {(row[0], row[3]) for row in kept}
    start = time.perf_counter()
    for name in names:
        todo = [method for method in methods if (name, method) not in done]
        for rows in Parallel(jobs)(delayed(table.measure)(name, method) for method in todo):
            found |= {tuple(row[:key]): row for row in rows}
        if keep and todo:
            save(path, table.header, found.values())
        print(f"{time.perf_counter() - start:6.0f} s  {table.file}  {name}", file=sys.stderr, flush=True)
    return [dict(zip(table.header, row, strict=True)) for row in found.values()]


if __name__ == "__main__":
    main()
