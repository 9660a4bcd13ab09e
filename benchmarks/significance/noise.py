"""Noise of many kinds, and how often it is taken for real: the type I error beside its nominal level."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.stats import norm, rankdata

from fiedler.evaluate import significance

LEVELS = (0.05, 0.01, 0.001)

Draw = Callable[[np.random.Generator, int, int], np.ndarray]

KINDS: dict[str, Draw] = {
    "normal": lambda rng, n, m: rng.standard_normal((n, m)),
    "uniform": lambda rng, n, m: rng.random((n, m)),
    "binary, 30 %": lambda rng, n, m: (rng.random((n, m)) < 0.3).astype(float),
    "Poisson, mean 1": lambda rng, n, m: rng.poisson(1.0, size=(n, m)).astype(float),
}
HEAVY: dict[str, Draw] = {
    "Student t, 3 d.f.": lambda rng, n, m: rng.standard_t(3, size=(n, m)),
    "lognormal": lambda rng, n, m: rng.lognormal(size=(n, m)),
    "lognormal as normal scores": lambda rng, n, m: normal_scores(rng.lognormal(size=(n, m))),
}


def generator(*key: Any) -> np.random.Generator:
    """A generator of an experiment's own, the same in every run."""
    return np.random.default_rng(zlib.crc32(repr(key).encode()))


def normal_scores(X: np.ndarray) -> np.ndarray:
    """Every column's ranks as quantiles of the normal distribution."""
    return norm.ppf((rankdata(X, axis=0) - 0.5) / len(X))


def pvalues(criterion: Any, X: Any, y: Any = None, **options: Any) -> np.ndarray:
    """The library's p-values, warnings aside: what they warn of is what is measured here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return significance(criterion, X, y, **options).pvalues


def rejected(p: np.ndarray, levels: Sequence[float] = LEVELS) -> list[float]:
    """Share of the p-values at most each level."""
    p = p[~np.isnan(p)]
    return [float(np.mean(p <= level)) for level in levels]


def shares(values: Sequence[float]) -> list[str]:
    """.049 rather than 0.049, four digits for the last level."""
    return [f"{value:.{digits}f}".lstrip("0") or "0" for value, digits in zip(values, (3, 3, 4), strict=True)]
