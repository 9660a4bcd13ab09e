"""Clusters planted among noise: how many of the features found are noise, and how many of the planted are found."""

from __future__ import annotations

import itertools
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from fiedler import SignificanceDisplay
from fiedler.evaluate import significance
from fiedler.selection.discovery import adjusted

from ..papers.page import Section
from .noise import generator

ROWS, REAL, APART, CLUSTERS = (100, 200, 500), (20, 100), (0.75, 1.0, 1.5), (2, 5)
FEATURES, Q = 500, 0.1
SHOWN = (200, 100, 0.75, 2)  # the setting of the figure
# name, options, correction
WAYS = (
    ("one dealing, BH", {"n_repeats": 1}, "bh"),
    ("one dealing, BY", {"n_repeats": 1}, "by"),
    ("one dealing of 2 folds, BH", {"n_repeats": 1, "n_folds": 2}, "bh"),
    ("median of 5, BH (the default)", {"n_repeats": 5}, "bh"),
)


def planted(n: int, real: int, apart: float, clusters: int, number: int) -> np.ndarray:
    """Normal noise; in the first ``real`` columns clusters of rows have means of standard deviation ``apart``."""
    rng = generator("planted", n, real, apart, clusters, number)
    X = rng.standard_normal((n, FEATURES))
    means = rng.standard_normal((clusters, real))
    means = (means - means.mean(axis=0)) / means.std(axis=0)
    X[:, :real] += apart * means[rng.permutation(np.arange(n) % clusters)]
    return X


def one(n: int, real: int, apart: float, clusters: int, draws: int) -> list[dict]:
    found = []
    for number in range(draws):
        X = planted(n, real, apart, clusters, number)
        kept: dict[str, np.ndarray] = {}
        for name, options, correction in WAYS:
            key = repr(options)
            if key not in kept:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)
                    kept[key] = significance("laplacian", X, **options).pvalues
            chosen = adjusted(kept[key], correction) <= Q
            false, true = int(chosen[real:].sum()), int(chosen[:real].sum())
            rate = false / max(false + true, 1)
            about = {"n": n, "real": real, "apart": apart, "clusters": clusters}
            found.append({"way": name, "fdp": rate, "power": true / real} | about)
    return found


def measure(quick: bool, jobs: int) -> list[dict]:
    settings = list(itertools.product(ROWS, REAL, APART, CLUSTERS))
    draws = 2
    if quick:
        settings, draws = [(100, 100, 1.5, 2)], 1
    parts = Parallel(n_jobs=jobs)(delayed(one)(*setting, draws) for setting in sorted(settings, reverse=True))
    return [row for part in parts for row in part]


def figure() -> Any:
    """The library's own display of one setting."""
    from matplotlib.figure import Figure

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        result = significance("laplacian", planted(*SHOWN, 0))
    drawn = Figure(figsize=(9.6, 3.6), layout="constrained")
    SignificanceDisplay.from_significance(result, ax=drawn.subplots(1, 2))
    return drawn


def section(rows: list[dict], folder: Path | None = None) -> Section:
    made = Section("planted", "3. Planted clusters", folder)
    settings = {(r["n"], r["real"], r["apart"], r["clusters"]) for r in rows}
    made.text(
        f"{FEATURES} features, 20 or 100 of them with clusters whose means have a standard deviation of .75, 1 or 1.5, "
        f"the others noise; 2 or 5 clusters, 100, 200 or 500 rows: {len(settings)} settings, features with q ≤ {Q}."
    )
    table = []
    rates = {}
    for name, _, _ in WAYS:
        chosen = [r for r in rows if r["way"] == name]
        rates[name] = float(np.mean([r["fdp"] for r in chosen]))
        by_rows = [f"{np.mean([r['power'] for r in chosen if r['n'] == n] or [np.nan]):.2f}" for n in ROWS]
        power = float(np.mean([r["power"] for r in chosen]))
        table.append([name, f"{rates[name]:.3f}", f"{power:.2f}", *by_rows])
    made.table(["how", "false share of what is found", "planted found", *(f"{n} rows" for n in ROWS)], table)
    n, real, apart, clusters = SHOWN
    caption = f"{real} of {FEATURES} features with {clusters} clusters of {n} rows, means with deviation {apart:g}"
    made.figure(figure(), "display", caption)
    default = WAYS[-1][0]
    made.finding(
        "fdr",
        f"on average at most .12 of the features found at q ≤ {Q} are noise",
        max(rates[WAYS[0][0]], rates[default]) <= 0.12,
        f"{rates[WAYS[0][0]]:.3f} with one dealing, {rates[default]:.3f} with the median of five",
    )
    return made
