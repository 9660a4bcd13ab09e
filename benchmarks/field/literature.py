"""``python -m benchmarks.field.literature``: printed accuracies beside ours, by the protocols they were printed with.

ASU: the accuracies that the feature selection repository of Arizona State University records for a linear SVM that
learns from half of the rows; ``literature.csv`` holds the best of its methods with labels. LassoNet: Lemhadri, Ruan,
Abraham, Tibshirani, LassoNet: a neural network with feature sparsity, JMLR 22 (2021), table 2, extremely randomised
trees on 10,000 images. Features are always chosen on the rows that the classifier learns from.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import train_test_split

from ..data import paper_set
from ..noise.contenders import by_selector
from ..noise.experiments import share
from ..pages import DOCS, FOLDERS, fill, load, records, save, save_all
from .judges import svm
from .rivals import pfa

HEADER = ["source", "set", "method", "draw", "features", "accuracy"]
PRINTED, RAW = (Path(__file__).with_name(name) for name in ("literature.csv", "literature-raw.csv"))
NEAR = 0.02  # a printed number within this distance counts as reproduced
FEW = "subset, without labels, chosen on 2,000 rows"  # of 8,000, to keep the run short
_DRAWS = {"ASU": 10, "LassoNet": 5}
_IMAGES, _TREES, _FEW = 10_000, 50, 2_000

Choose = Callable[[np.ndarray, int, np.ndarray], np.ndarray]


def _free(select: Callable[..., np.ndarray]) -> Choose:
    return lambda X, k, y: select(X, k)


METHODS: dict[str, Choose] = {
    "Fisher, with labels": by_selector("fisher"),
    "ReliefF, with labels": by_selector("relieff"),
    "subset, with labels": by_selector("subset"),
    "subset, without labels": _free(by_selector("subset")),
    FEW: lambda X, k, y: by_selector("subset")(X[:_FEW], k),
    "PFA": lambda X, k, y: pfa(X, k, 0),
    "all features": lambda X, k, y: np.arange(X.shape[1]),
}
COMPARED = {
    "ASU": ["Fisher, with labels", "ReliefF, with labels", "subset, with labels", "subset, without labels"],
    "LassoNet": ["all features", "Fisher, with labels", "PFA", FEW],
}


def halves(name: str, source: str) -> Iterator[tuple[np.ndarray, ...]]:
    """Rows to learn from, rows to predict and the classes of both, for every draw."""
    X, y, _ = paper_set(name)
    for draw in range(_DRAWS[source]):
        rows = np.random.default_rng(draw).permutation(len(y))[:_IMAGES]
        test = 0.5 if source == "ASU" else 0.2
        yield train_test_split(X[rows], y[rows], test_size=test, stratify=y[rows], random_state=draw)


def measured(source: str, name: str, method: str, sizes: list[int]) -> Iterator[list[str]]:
    """Rows of the raw table: the accuracy on the hidden rows for every draw and every number of features."""
    for draw, (X, hidden, y, answers) in enumerate(halves(name, source)):
        order = METHODS[method](X, sizes[-1], y)
        for size in [X.shape[1]] if method == "all features" else sizes:
            columns = order[:size]
            model: Any = svm() if source == "ASU" else ExtraTreesClassifier(_TREES, random_state=draw)
            accuracy = model.fit(X[:, columns], y).score(hidden[:, columns], answers)
            yield [source, name, method, str(draw), str(size), f"{accuracy:.4f}"]


def tables(raw: list[dict[str, str]]) -> dict[str, tuple[list[str], list[list[str]]]]:
    """Both tables of the page."""
    cells: dict[tuple[str, str, str], list[float]] = {}
    for row in raw:
        cells.setdefault((row["set"], row["features"], row["method"]), []).append(float(row["accuracy"]))
    ours = {key: float(np.mean(values)) for key, values in cells.items()}
    asu, lasso = [], []
    for row in records(PRINTED):
        place, printed = (row["set"], row["features"]), float(row["printed"])
        if row["source"] == "ASU":
            values = [ours[*place, method] for method in COMPARED["ASU"]]
            reached = "yes" if max(values[:2]) >= printed - NEAR else "no"
            asu.append([*place, row["printed"], *map(share, values), reached])
        else:
            mine = ours.get((*place, row["method"]))
            verdict = "not computed" if mine is None else "yes" if abs(mine - printed) <= NEAR else "no"
            value = "–" if mine is None else share(mine)
            lasso.append([row["method"], row["features"], row["printed"], value, verdict])
    quoted = {line[0] for line in lasso}
    for (name, features, method), value in ours.items():
        if name == "fashion_mnist" and method not in quoted:
            lasso.append([method, features, "–", share(value), "not printed"])
    words = ["printed, best with labels", *COMPARED["ASU"], "Fisher or ReliefF reaches it"]
    return {
        "printed-asu": (["set", "features", *words], asu),
        "printed-lassonet": (["method", "features", "printed", "computed", "reproduced"], lasso),
    }


def main() -> None:
    page, start = DOCS / "benchmark.md", time.perf_counter()
    rows = load(RAW)[1:] if RAW.exists() else []
    wanted: dict[tuple[str, str], set[int]] = {}
    for row in records(PRINTED):
        if row["method"] != "all features":
            wanted.setdefault((row["source"], row["set"]), set()).add(int(row["features"]))
    for (source, name), sizes in wanted.items():
        for method in COMPARED[source]:
            if not any(row[:3] == [source, name, method] for row in rows):  # a run that was stopped goes on
                rows += measured(source, name, method, sorted(sizes))
                save(RAW, HEADER, rows)
                print(f"{time.perf_counter() - start:6.0f} s  {name}  {method}", file=sys.stderr, flush=True)
    save_all(FOLDERS[page], tables([dict(zip(HEADER, row, strict=True)) for row in rows]))
    fill(page)


if __name__ == "__main__":
    main()
