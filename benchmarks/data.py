"""The data sets by name, read from the folder ``FIEDLER_DATA``; without it, generated ones of the same shape."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from fiedler.datasets import load_paper_set, paper_set_info  # noqa: F401

# rows, columns, classes, share of stored values (1: dense), share of distinct rows
_SHAPES = {
    "BASEHOCK": (1993, 4862, 2, 0.014, 1.0),
    "PCMAC": (1943, 3289, 2, 0.015, 1.0),
    "NEWS20_18828": (18828, 127830, 20, 0.0007, 1.0),
    "TOX_171": (171, 5748, 4, 1.0, 1.0),
    "pixraw10P": (100, 10000, 10, 1.0, 0.98),
    "madelon": (2600, 500, 2, 1.0, 1.0),
    "shuttle": (58000, 9, 7, 1.0, 1.0),
    "wine": (178, 13, 3, 1.0, 1.0),
    "fashion_mnist": (70000, 784, 10, 1.0, 1.0),
    "kddcup": (494020, 41, 23, 1.0, 0.3),
}


def folder() -> Path | None:
    """The folder of the papers' data sets, if there is one."""
    path = Path(os.environ.get("FIEDLER_DATA", "/nowhere"))
    return path if path.is_dir() else None


@cache
def load(name: str, dtype: Any = np.float64) -> tuple[Any, np.ndarray]:
    """X (ndarray or csr_array of that dtype) and y of a data set, or of a generated one of its shape."""
    if folder() is None:
        return _generated(*_SHAPES[name], dtype)
    X, y, _ = load_paper_set(name)
    return _as(X, dtype), np.unique(y, return_inverse=True)[1]


def paper_set(name: str) -> tuple[Any, np.ndarray, np.ndarray | None]:
    """X in float64 (ndarray or csr_array), y as stored and the feature names of a real set."""
    X, y, names = load_paper_set(name)
    return _as(X, np.float64), y, names


def _as(X: Any, dtype: Any) -> Any:
    return sp.csr_array(X, dtype=dtype) if sp.issparse(X) else np.ascontiguousarray(X, dtype=dtype)


@cache
def gaussian(n: int, m: int) -> np.ndarray:
    """Standard normal noise, the same in every run."""
    return np.random.default_rng(0).standard_normal((n, m))


def text_like(n: int, m: int, density: float) -> sp.csr_array:
    """Counts whose columns are as uneven as words are: the j-th most frequent occurs in a share of about 1/j."""
    rng, wanted = np.random.default_rng(0), int(n * m * density)
    columns = np.minimum(m * rng.random(wanted) ** 2, m - 1).astype(np.intp)
    X = sp.csr_array((1.0 + rng.poisson(0.5, wanted), (rng.integers(n, size=wanted), columns)), shape=(n, m))
    X.sum_duplicates()
    return X


def normalised(X: sp.csr_array) -> sp.csr_array:
    """log1p of counts whose rows are scaled to the median total."""
    total = np.asarray(X.sum(axis=1)).ravel()
    scaled = sp.csr_array(X.multiply((np.median(total) / np.maximum(total, 1.0))[:, None]))
    scaled.data = np.log1p(scaled.data)
    return scaled


def cells(n: int, m: int, stored: float, kinds: int = 12, seed: int = 0) -> tuple[sp.csr_array, np.ndarray]:
    """log1p of normalised counts of cells as a float32 csr_array, about that share of it stored, and their kinds.

    Counts are negative binomial: a Poisson number of transcription bursts of a gene, each of logarithmic size. A tenth
    of the genes is several times more or less active in a kind. Cells differ in depth, which the totals are divided by.
    """
    rng = np.random.default_rng(seed)
    activity = rng.lognormal(0.0, 1.5, m) * np.exp((rng.random((kinds, m)) < 0.1) * rng.normal(0.0, 1.5, (kinds, m)))
    share = activity / activity.sum(axis=1, keepdims=True)
    y, depth = rng.integers(kinds, size=n), rng.lognormal(0.0, 0.3, n)
    bursts = _bursts(share.mean(axis=0), stored) * depth
    ends = (np.arange(kinds)[:, None] + np.cumsum(share, axis=1)).ravel()  # of the genes' parts of [kind, kind + 1)
    step, parts = 2000, []
    for start in range(0, n, step):
        number = rng.poisson(bursts[start : start + step])
        cell = np.repeat(np.arange(len(number)), number)
        gene = np.searchsorted(ends, y[start + cell] + rng.random(len(cell)), side="right")
        gene = np.minimum(gene - y[start + cell] * m, m - 1)  # where the last end is rounded down
        at = cell.astype(np.int32), gene.astype(np.int32)
        counts = sp.csr_array((rng.logseries(0.5, len(cell)).astype(np.float32), at), shape=(len(number), m))
        counts.sum_duplicates()
        total = np.maximum(np.asarray(counts.sum(axis=1)), 1.0)
        counts.data = np.log1p(counts.data * np.repeat(1e4 / total, np.diff(counts.indptr))).astype(np.float32)
        parts.append(counts)
    return sp.csr_array(sp.vstack(parts, format="csr")), y


def _bursts(share: np.ndarray, stored: float) -> float:
    """Mean number of bursts of a cell for which that share of the genes has a count."""
    low, high = 1.0, 1e9
    for _ in range(60):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if np.mean(-np.expm1(-middle * share)) < stored else (low, middle)
    return float(low)


def _generated(n: int, m: int, classes: int, density: float, distinct: float, dtype: Any) -> tuple[Any, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(classes, size=n)
    if density < 1.0:
        return text_like(n, m, density).astype(dtype), y
    X = rng.standard_normal((n, m), dtype=np.float32).astype(dtype)
    X[:, : max(1, m // 10)] += y[:, None]
    return X[np.sort(rng.integers(int(n * distinct), size=n))] if distinct < 1.0 else X, y
