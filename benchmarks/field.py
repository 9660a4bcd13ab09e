"""Selectors that read no labels, on the same sets, under three judges -> docs/benchmark.md.

A selector of your own: add a line to ``SELECTORS``, and run ``python -m benchmarks.field``; its cells are measured.
The tables on settings and on printed accuracies are on record only (raw/field-tuned.csv, raw/field-literature.csv).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import wilcoxon

from fiedler import KNN, Explained

from . import selectors as other
from .contenders import missing
from .judges import LINEAR, MEASURES, judged, linear
from .pages import HERE, records, share
from .ranks import rank_methods
from .runner import Found, Options, main
from .selectors import Select, by_selector
from .sets import SOURCES, dense, drawn, names, standardised

SELECTORS: dict[str, Select | None] = {
    "subset": by_selector("subset"),
    "Explained(KNN(5), of='graph', power=1)": by_selector(Explained(KNN(5), of="graph", power=1)),
    **{name: by_selector(name) for name in ("mcfs", "mrsf", "trace_ratio", "laplacian")},
    "laplacian, redundancy=True": by_selector("laplacian", redundancy=True),
    **{name: by_selector(name) for name in ("spec[gamma=4]", "evsc", "variance")},
    "variance, redundancy=True": by_selector("variance", redundancy=True),
    "CUR": other.cur,
    "FPS": other.fps,
    "scikit-matter CUR": other.cur,
    "scikit-matter FPS": partial(other.fps, first=0),  # as it begins by default
    "fastcan": other.fastcan,
    **dict.fromkeys(("PFA", "UDFS", "NDFS")),  # measured once, on record: they were written for this page
    "random": other.at_random,
    "all": lambda X, k, seed: np.arange(X.shape[1]),
}
DRAWS = {"random": 10}  # how often a selector with chance in it is run
RIVAL, UNRANKED = "subset", ("all", "scikit-matter CUR")  # no choice, and the same columns as CUR


def chosen(name: str, method: str) -> tuple[np.ndarray, np.ndarray, dict[int, list[np.ndarray]]]:
    """X and the classes of a set, and the columns of every size, once for every draw of the selector."""
    real = drawn(name)
    sizes = (real.X.shape[1],) if method == "all" else real.sizes
    orders = [SELECTORS[method](real.X, sizes[-1], draw) for draw in range(DRAWS.get(method, 1))]
    return dense(real.X), real.y, {size: [order[:size] for order in orders] for size in sizes}


def near_and_clusters(name: str, method: str) -> list[list]:
    """Rows for all sizes, the chosen columns as they are and standardised."""
    X, y, choices = chosen(name, method)
    found = []
    for scaled, scale in (("no", np.asarray), ("yes", standardised)):
        for size, blocks in choices.items():
            values = np.mean([judged(scale(X[:, block]), y) for block in blocks], axis=0)
            found.append([scaled, size, *(f"{value:.4f}" for value in values)])
    return found


def by_plane(name: str, method: str) -> list[list]:
    """Rows for all sizes by the linear SVM, which standardises the chosen columns itself."""
    X, y, choices = chosen(name, method)
    return [[size, f"{np.mean([linear(X[:, b], y) for b in blocks]):.4f}"] for size, blocks in choices.items()]


Values = dict[str, dict[str, dict[str, float]]]  # by judge, selector and set: the mean over sizes


def means(rows: Iterable[dict[str, str]], blocks: Iterable[str], text: bool) -> Values:
    """What every judge finds on the sets of some blocks, text or not."""
    cells: dict[tuple[str, str, str], list[float]] = {}
    for row in rows:
        if SOURCES[row["set"]]["block"] in blocks and (SOURCES[row["set"]]["kind"] == "text") == text:
            scaled = ", standardised" * (row.get("standardised") == "yes")
            for judge in {*MEASURES, LINEAR} & row.keys():
                cells.setdefault((judge + scaled, row["method"], row["set"]), []).append(float(row[judge]))
    found: Values = {}
    for (judge, method, name), values in cells.items():
        found.setdefault(judge, {}).setdefault(method, {})[name] = float(np.mean(values))
    return found


def summary(found: Values) -> tuple[list[str], list[list[Any]]]:
    """Means over sets, and on how many sets a selector is better and worse than ``subset``, with Wilcoxon's p."""
    against, scaled = ("1-NN", "k-means", LINEAR), [f"{name}, standardised" for name in MEASURES]
    rows = []
    for method in (method for method in SELECTORS if method in found["1-NN"]):
        value = {judge: share(float(np.mean([*by[method].values()]))) for judge, by in found.items()}
        duels = []
        for by in (found[judge] for judge in against if method != RIVAL):
            gains = np.array([by[method][name] - by[RIVAL][name] for name in sorted(by[method])])
            p = wilcoxon(gains).pvalue if np.any(gains) else 1.0
            duels.append(f"{np.sum(gains > 0)} : {np.sum(gains < 0)} ({p:.2g})")
        duels = duels or ["–"] * 3
        rows.append([method, *(value[judge] for judge in (*MEASURES, LINEAR)), *duels, *(value[k] for k in scaled)])
    words = [f"{name}: sets better than subset : worse (p)" for name in against]
    return ["selector", *MEASURES, LINEAR, *words, *scaled], rows


def standings(groups: dict[str, tuple[Values, tuple[str, ...]]]) -> tuple[list[str], list[list[str]]]:
    """Average ranks of the selectors by some judges of every group of sets, and Nemenyi's critical difference."""
    rankings = {}
    for group, (found, judges) in groups.items():
        for judge in (judge for judge in judges if judge in found):
            by = {m: found[judge][m] for m in SELECTORS if m in found[judge]}
            whole = [m for m in by if m not in UNRANKED and by[m].keys() == by[RIVAL].keys()]
            table = {m: [by[m][name] for name in sorted(by[m])] for m in whole}
            rankings[f"{judge}, {group}"] = rank_methods(table)
    first = next(iter(rankings.values()))
    rows = [[method, *(f"{ranking.rank(method):.1f}" for ranking in rankings.values())] for method in first.methods]
    rows.append(["critical difference", *(f"{ranking.critical_difference:.1f}" for ranking in rankings.values())])
    return ["selector", *rankings], rows


def judges(options: Options) -> Found:
    """Every selector on every set; of packages that are missing, the numbers on record are kept."""
    reasons = {method: missing(method) for method in SELECTORS}
    print(*filter(None, reasons.values()), sep="\n", file=sys.stderr)
    record = [] if options.quick else records(HERE / "raw" / "field.csv")
    known = {(row["set"], row["method"]) for row in record}
    able = {method for method, why in reasons.items() if why is None and SELECTORS[method]}
    cells = [(name, method) for name in names(options.quick, target="classes") for method in SELECTORS]
    cells = [cell for cell in cells if cell[1] in able or cell in known]
    rows = options.rows("field", ";".join(["set;method;standardised;features", *MEASURES]), near_and_clusters, cells)
    rows += options.rows("field-linear", f"set;method;features;{LINEAR}", by_plane, cells)
    both, text = (means(rows, ("study", "held-out"), text) for text in (False, True))
    groups = {"no text": (both, ("1-NN", "k-means", LINEAR)), "text": (text, ("1-NN", LINEAR))}
    kinds = {"study": means(rows, ["study"], False), "fresh": means(rows, ["held-out"], False), "text": text}
    return {title: summary(found) for title, found in kinds.items() if found} | {"ranks": standings(groups)}


EXPERIMENTS = (judges,)

if __name__ == "__main__":
    main("field", EXPERIMENTS)
