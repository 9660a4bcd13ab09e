"""The experiments behind docs/holes.md; each gives tables by name, as a header and rows.

agreement   share of the first k features that a ranking with holes has in common with that of the complete table
favour      noise columns with holes among the best of all noise columns
cost        seconds with holes, beside the complete table
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from fiedler import LaplacianScore, SpectralSelector, pairs_from_labels

from ..noise.experiments import _names, share
from ..study.sets import SOURCES, load

Tables = dict[str, tuple[list[str], list[list[Any]]]]
ROWS, COLUMNS = 200, 60
PAIRS = 60
OWN = "fiedler"
METHODS = {"LS": "laplacian", "SLS": "sls", "C1": "constraint[variant=1]", "Fisher": "fisher", "subset": "subset"}


# -------------------------------------------------------------------- patterns of holes


def at_random(rate: float) -> Callable[[np.ndarray, np.random.Generator], np.ndarray]:
    return lambda X, rng: rng.random(X.shape) < rate


def some_columns(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return (rng.random(X.shape) < 0.5) & (rng.random(X.shape[1]) < 0.4)


def row_blocks(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """In every third column a run of rows, as if an instrument had failed for some time."""
    n, m = X.shape
    start = rng.integers(n, size=m)
    return ((np.arange(n)[:, None] + start) % n < 0.4 * n) & (rng.random(m) < 1 / 3)


def given_others(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Holes where the sum of all columns is large: missing at random, given other columns."""
    total = X.sum(axis=1)
    return rng.random(X.shape) < np.where(total > np.median(total), 0.35, 0.05)[:, None]


def large_values(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Holes where the value itself is large: not missing at random."""
    return rng.random(X.shape) < np.where(np.quantile(X, 0.7, axis=0) < X, 0.6, 0.05)


PATTERNS = {
    "at random, 5 %": at_random(0.05),
    "at random, 20 %": at_random(0.2),
    "at random, 40 %": at_random(0.4),
    "half of some columns": some_columns,
    "blocks of rows": row_blocks,
    "depending on other columns": given_others,
    "large values": large_values,
}


def holed(X: np.ndarray, pattern: str, seed: list[int]) -> np.ndarray:
    """X with holes; every row and every column keeps at least some values."""
    rng = np.random.default_rng(seed)
    holes = PATTERNS[pattern](X, rng)
    for j in np.flatnonzero((~holes).sum(axis=0) < 10):
        holes[rng.choice(len(X), 10, replace=False), j] = False
    for i in np.flatnonzero(holes.all(axis=1)):
        holes[i, rng.integers(X.shape[1])] = False
    return np.where(holes, np.nan, X)


# -------------------------------------------------------------------- ways to fill


def _imputed(kind: str) -> Callable[[np.ndarray], np.ndarray]:
    def fill(X: np.ndarray) -> np.ndarray:
        from sklearn.experimental import enable_iterative_imputer  # noqa: F401
        from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

        made = {
            "mean": lambda: SimpleImputer(),
            "KNNImputer": lambda: KNNImputer(n_neighbors=5),
            "IterativeImputer": lambda: IterativeImputer(max_iter=5, n_nearest_features=10, random_state=0),
        }
        return made[kind]().fit_transform(X)

    return fill


FILLS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    OWN: lambda X: X,
    "KNNImputer": _imputed("KNNImputer"),
    "IterativeImputer": _imputed("IterativeImputer"),
    "mean": _imputed("mean"),
}


# -------------------------------------------------------------------- agreement


def _table(name: str) -> tuple[np.ndarray, np.ndarray]:
    whole = load(name, ROWS)
    X = np.asarray(whole.X.toarray() if hasattr(whole.X, "toarray") else whole.X, dtype=np.float64)
    varying = np.flatnonzero(X.max(axis=0) > X.min(axis=0))
    columns = np.sort(whole.rng(11).permutation(varying)[:COLUMNS])
    return X[:, columns], np.unique(whole.y, return_inverse=True)[1]


def _order(method: str, X: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    known: dict[str, Any] = {}
    if method == "C1":
        must, cannot = pairs_from_labels(y, PAIRS, 0)
        known = {"must_link": must, "cannot_link": cannot}
    elif method not in ("LS", "subset"):
        known = {"y": y.astype(float) if method == "SLS" else y}
    selector = SpectralSelector(METHODS[method], n_features_to_select=k, scale="keep")
    return selector.fit(X, known.pop("y", None), **known).order_[:k]


def _shared(name: str, pattern: str, draw: int) -> list[list[float]]:
    """Share of common features for every way to fill and every method."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X, y = _table(name)
        k = max(3, X.shape[1] // 5)
        missing = holed(X, pattern, [draw, sum(map(ord, name + pattern))])
        complete = {method: set(_order(method, X, y, k).tolist()) for method in METHODS}
        rows = []
        for fill in FILLS.values():
            table = fill(missing)
            rows.append([len(complete[m] & set(_order(m, table, y, k).tolist())) / k for m in METHODS])
        return rows


def agreement(quick: bool, jobs: int) -> Tables:
    names = [n for block in ("study", "held-out") for n in _names(block, "classes", quick)]
    names = [name for name in names if SOURCES[name]["kind"] != "text"]
    cells = [(name, pattern, draw) for name in names for pattern in PATTERNS for draw in range(1 if quick else 2)]
    found = np.array(Parallel(jobs)(delayed(_shared)(*cell) for cell in cells))  # cell, fill, method
    mean = found.mean(axis=0)
    tables: Tables = {
        "agreement": (
            ["method", *FILLS],
            [[method, *(share(float(v)) for v in mean[:, at])] for at, method in enumerate(METHODS)],
        )
    }
    by_pattern = []
    for pattern in PATTERNS:
        here = np.array([cell[1] == pattern for cell in cells])
        by_pattern.append([pattern, *(share(float(v)) for v in found[here].mean(axis=(0, 2)))])
    tables["patterns"] = ["holes", *FILLS], by_pattern
    blocks = []
    for block in ("study", "held-out"):
        here = np.array([SOURCES[cell[0]]["block"] == block for cell in cells])
        if here.any():
            n_sets = len({cell[0] for cell in cells if SOURCES[cell[0]]["block"] == block})
            blocks.append([block, str(n_sets), *(share(float(v)) for v in found[here].mean(axis=(0, 2)))])
    tables["blocks"] = ["block", "data sets", *FILLS], blocks
    return tables


# -------------------------------------------------------------------- noise columns with holes

RATES = (0.1, 0.3, 0.5, 0.7, 0.9)


def _first(rate: float, draw: int) -> list[bool]:
    """Whether a column with holes is the best of six noise columns, three of them complete, for every way to fill."""
    rng = np.random.default_rng([draw, int(100 * rate)])
    n, classes = 150, np.arange(150) % 3
    X = np.hstack([rng.normal(size=(n, 6)) + 3.0 * classes[:, None], rng.normal(size=(n, 6))])
    for j in (9, 10, 11):
        X[rng.permutation(n)[: int(rate * n)], j] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [bool(np.argmin(LaplacianScore().evaluate(fill(X))[6:]) >= 3) for fill in FILLS.values()]


def favour(quick: bool, jobs: int) -> Tables:
    draws = 20 if quick else 200
    found = Parallel(jobs)(delayed(_first)(rate, draw) for rate in RATES for draw in range(draws))
    shares = 2.0 * np.reshape(found, (len(RATES), draws, -1)).mean(axis=1)
    rows = [[f"{rate:.0%}", *(f"{v:.2f}" for v in shares[at])] for at, rate in enumerate(RATES)]
    return {"favour": (["share of holes", *FILLS], rows)}


# -------------------------------------------------------------------- cost


def cost(quick: bool, jobs: int) -> Tables:
    rng, rows = np.random.default_rng(0), []
    for n, m in ((1000, 200),) if quick else ((1000, 500), (5000, 300), (20_000, 300)):
        X = rng.normal(size=(n, m))
        X[:, : m // 6] += rng.integers(0, 5, size=(n, 1))
        missing = np.where(rng.random(X.shape) < 0.1, np.nan, X)
        seconds = []
        for table in (X, missing):
            LaplacianScore().evaluate(table)
            times = []
            for _ in range(3):
                start = time.perf_counter()
                LaplacianScore().evaluate(table)
                times.append(time.perf_counter() - start)
            seconds.append(min(times))
        rows.append([f"{n:,} × {m}", f"{seconds[0]:.2f}", f"{seconds[1]:.2f}", f"{seconds[1] / seconds[0]:.1f}"])
    return {"cost": (["rows × columns", "complete, s", "10 % holes, s", "ratio"], rows)}


EXPERIMENTS = (agreement, favour, cost)
