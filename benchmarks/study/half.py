"""Half of the features, the default number of ``SpectralSelector``: by a ranking or by a set?

``python -m benchmarks.study.half`` selects half of the features of every data set with classes, by the default of the
estimator and by ``subset``, judges both as the study does, and fills the table of docs/which-method.md.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from scipy.stats import wilcoxon

from fiedler import SpectralSelector

from ..pages import DOCS, FOLDERS, fill, number, save
from .judge import Judge
from .sets import KINDS, SOURCES, load

PAGE = DOCS / "which-method.md"
HEADER = ["kind", "sets", "laplacian", "subset", "subset better : worse", "p", "time of subset over laplacian, median"]
_ROUNDS = 2  # the faster run counts


def measured(name: str) -> tuple[str, list[float], list[float]]:
    """The kind of a set, the accuracy of the two halves, and their seconds."""
    data = load(name)
    judge, values, seconds = Judge(data), [], []
    for criterion in ("laplacian", "subset"):
        selector, fastest = SpectralSelector(criterion, scale="keep"), np.inf
        for _ in range(_ROUNDS):
            start = time.perf_counter()
            order = selector.fit(data.X).order_
            fastest = min(fastest, time.perf_counter() - start)
        values.append(judge.value(order[: int(selector.n_features_)]))
        seconds.append(fastest)
    return data.kind, values, seconds


def table(found: list[tuple[str, list[float], list[float]]]) -> list[list[str]]:
    """A row per kind of data, and one for all."""
    rows = []
    for kind in (*KINDS, "all"):
        some = [one for one in found if kind in ("all", one[0])]
        if not some:
            continue
        values, seconds = (np.array([one[place] for one in some]) for place in (1, 2))
        gain = values[:, 1] - values[:, 0]
        p = float(wilcoxon(gain).pvalue) if np.count_nonzero(gain) > 5 else np.nan
        sides = f"{(gain > 0).sum()} : {(gain < 0).sum()}"
        ratio = float(np.median(seconds[:, 1] / seconds[:, 0]))
        rows.append([kind, str(len(some)), *map(number, values.mean(axis=0)), sides, number(p), f"{ratio:.3g}"])
    return rows


def main() -> None:
    found = []
    for name in (name for name, row in SOURCES.items() if row["target"] == "classes"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            found.append(measured(name))
        print(name, *found[-1], flush=True)
    save(FOLDERS[PAGE] / "half.csv", HEADER, table(found))
    fill(PAGE)


if __name__ == "__main__":
    main()
