"""Missing values: agreement with the complete table, and columns that gain from them -> docs/holes.md."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from fiedler import LaplacianScore, SpectralSelector, pairs_from_labels

from .pages import share
from .runner import Found, Options, main
from .sets import SOURCES, dense, drawn, names

METHODS = {"LS": "laplacian", "SLS": "sls", "C1": "constraint[variant=1]", "Fisher": "fisher", "subset": "subset"}
FILLS = ("fiedler", "KNNImputer", "IterativeImputer", "mean")
Pattern = Callable[[np.ndarray, np.random.Generator], np.ndarray]


def at_random(rate: float) -> Pattern:
    return lambda X, rng: rng.random(X.shape) < rate


def row_blocks(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """In every third column a run of rows, as if an instrument had failed for some time."""
    n, m = X.shape
    start = rng.integers(n, size=m)
    return ((np.arange(n)[:, None] + start) % n < 0.4 * n) & (rng.random(m) < 1 / 3)


def given_others(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Holes where the sum of all columns is large: missing at random, given other columns."""
    total = X.sum(axis=1)
    return rng.random(X.shape) < np.where(total > np.median(total), 0.35, 0.05)[:, None]


PATTERNS: dict[str, Pattern] = {
    "at random, 5 %": at_random(0.05),
    "at random, 20 %": at_random(0.2),
    "at random, 40 %": at_random(0.4),
    "half of some columns": lambda X, rng: (rng.random(X.shape) < 0.5) & (rng.random(X.shape[1]) < 0.4),
    "blocks of rows": row_blocks,
    "depending on other columns": given_others,
    # where the value itself is large: not missing at random
    "large values": lambda X, rng: rng.random(X.shape) < np.where(np.quantile(X, 0.7, axis=0) < X, 0.6, 0.05),
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


def filled(X: np.ndarray, how: str) -> np.ndarray:
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

    made = {"mean": SimpleImputer(), "KNNImputer": KNNImputer(n_neighbors=5)}
    made["IterativeImputer"] = IterativeImputer(max_iter=5, n_nearest_features=10, random_state=0)
    return X if how == "fiedler" else made[how].fit_transform(X)


def _first(method: str, X: np.ndarray, y: np.ndarray, k: int) -> set[int]:
    known: dict[str, Any] = {} if method in ("LS", "subset") else {"y": y.astype(float) if method == "SLS" else y}
    if method == "C1":
        known = dict(zip(("must_link", "cannot_link"), pairs_from_labels(y, 60, 0), strict=True))
    selector = SpectralSelector(METHODS[method], n_features_to_select=k, scale="keep", screen=None)
    return set(selector.fit(X, known.pop("y", None), **known).order_[:k].tolist())


def shared(name: str, pattern: str, draw: int) -> list[list]:
    """Share of the first k features in common with the complete table, for every way to fill and every method."""
    some = drawn(name, 200, 60, 11)
    X, y = dense(some.X), some.y
    k, missing = max(3, X.shape[1] // 5), holed(X, pattern, [draw, sum(map(ord, name + pattern))])
    complete = {method: _first(method, X, y, k) for method in METHODS}
    tables = {how: filled(missing, how) for how in FILLS}
    return [[how, m, len(complete[m] & _first(m, tables[how], y, k)) / k] for how in FILLS for m in METHODS]


def agreement(options: Options) -> Found:
    """Share of the first features that a ranking with holes has in common with that of the complete table."""
    sets = [name for name in names(options.quick, target="classes") if SOURCES[name]["kind"] != "text"]
    cells = [
        (name, pattern, draw) for name in sets for pattern in PATTERNS for draw in range(1 if options.quick else 2)
    ]
    rows = options.rows("holes", "set;pattern;draw;how;method;share", shared, cells)

    def means(kept: Iterable[dict[str, str]]) -> list[str]:
        kept = list(kept)
        return [share(float(np.mean([float(r["share"]) for r in kept if r["how"] == how]))) for how in FILLS]

    blocks = {block: [n for n in sets if SOURCES[n]["block"] == block] for block in ("study", "held-out")}
    return {
        "agreement": (["method", *FILLS], [[m, *means(r for r in rows if r["method"] == m)] for m in METHODS]),
        "patterns": (["holes", *FILLS], [[p, *means(r for r in rows if r["pattern"] == p)] for p in PATTERNS]),
        "blocks": (
            ["block", "data sets", *FILLS],
            [[b, str(len(n)), *means(r for r in rows if r["set"] in n)] for b, n in blocks.items() if n],
        ),
    }


RATES = (0.0, 0.3, 0.6, 0.9)  # of holes, in columns of noise in turn
STRUCTURES = ("3 clusters", "8 clusters", "a path")


def on_top(structure: str, n: int, holes: str, draw: int) -> list[list[float]]:
    """Columns of noise with holes at four rates, beside columns with a structure: how many of each rate are in the best
    tenth of the noise, for every way to fill; 1 is fair, 4 the most."""
    rng = np.random.default_rng([draw, n, *map(ord, structure + holes)])
    if structure == "a path":
        place = rng.random((n, 1))
        real = 2.0 * np.sin(2 * np.pi * (place * rng.uniform(0.3, 1.2, 20) + rng.random(20)))
    else:
        groups = int(structure[0])
        real = 2.0 * rng.normal(size=(groups, 20))[rng.integers(groups, size=n)]
    noise, start = rng.normal(size=(n, 60)), rng.integers(n, size=60)
    for j in range(60):
        count = round(RATES[j % 4] * n)
        gone = rng.permutation(n)[:count] if holes == "at random" else np.arange(start[j], start[j] + count) % n
        noise[gone, j] = np.nan
    X = np.hstack([real + rng.normal(size=(n, 20)), noise])
    scores = [LaplacianScore().evaluate(filled(X, how))[20:] for how in FILLS]
    return [[float(np.mean(np.argsort(s)[:6] % 4 == rate) * 4) for s in scores] for rate in range(4)]


def fair(options: Options) -> Found:
    """Whether holes favour or punish a column of noise."""
    settings = [(s, n, h) for s in STRUCTURES for n in (120, 300) for h in ("at random", "in one block")]
    draws = 2 if options.quick else 20
    found = options.map(on_top, [(*setting, draw) for setting in settings for draw in range(draws)])
    shares = np.reshape(found, (len(settings), draws, len(RATES), len(FILLS))).mean(axis=1)
    rows = []
    for at, rate in enumerate(RATES):
        ours = shares[:, at, 0]
        extremes = f"{ours.min():.2f} to {ours.max():.2f}"
        rows.append([f"{rate:.0%}", *(f"{v:.2f}" for v in shares[:, at].mean(axis=0)), extremes])
    return {"fair": (["share of holes", *FILLS, "fiedler, 12 settings"], rows)}


EXPERIMENTS = (agreement, fair)

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main("holes", EXPERIMENTS)
