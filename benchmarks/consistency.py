"""Do the results depend on anything they should not: threads, block size, memory order, storage, precision?"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import config_context
from threadpoolctl import threadpool_limits

from fiedler import EVSC, KNN, SPEC, ConstraintScore, FisherScore, LaplacianScore, ReliefF, SSelect

from . import data

TIGHT, SINGLE = 1e-10, 1e-5  # relative tolerances for float64 and float32
SHAPES = ((150, 60), (1500, 800))  # below and above the size from which compiled kernels are used

METHODS = {
    "LS": LaplacianScore(),
    **{f"SPEC phi{phi}": SPEC(phi=phi, n_clusters=3) for phi in (1, 2, 3)},
    "sSelect": SSelect(),
    **{f"C{c}": ConstraintScore(c) for c in (1, 2, 3)},
    "C4": ConstraintScore(4, graph=KNN()),
    "Fisher": FisherScore(),
    "ReliefF": ReliefF(),
    "EVSC": EVSC(n_eigenvalues=10),
}


def _dense(n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    y = np.arange(n) % 3
    return data.gaussian(n, m) + 0.5 * y[:, None] * (np.arange(m) < m // 10), y


def differences() -> list[tuple[str, str, float, float]]:
    """(method, what was changed, largest relative difference, tolerance), worst of a small and a larger problem."""
    worst: dict[tuple[str, str], tuple[float, float]] = {}
    for n, m in SHAPES:
        X, y = _dense(n, m)
        y = np.where(np.arange(n) < 100, y, -1)
        changes = _changes(X, X.astype(np.float32), data.text_like(n, m, 0.05))
        for name, method in METHODS.items():
            if name == "EVSC" and n > 1000:
                continue  # n² edges per feature: the small problem has to do
            known: dict[int, np.ndarray] = {}
            for change, tolerance, plain, changed in changes:
                if id(plain[0]) not in known:
                    known[id(plain[0])] = _evaluate(method, y, *plain)
                difference = _relative(known[id(plain[0])], _evaluate(method, y, *changed), method.nonnegative)
                old = worst.get((name, change), (0.0, tolerance))[0]
                worst[name, change] = (max(old, difference), tolerance)
    return [(name, change, *values) for (name, change), values in worst.items()]


def _changes(X: np.ndarray, single: np.ndarray, text: sp.csr_array) -> list[tuple[str, float, tuple, tuple]]:
    one, two = (lambda: threadpool_limits(1)), (lambda: threadpool_limits(2))
    double, filled = single.astype(np.float64), text.toarray()
    return [
        ("1 or 2 threads", TIGHT, (X, two), (X, one)),
        ("blocks of 1 MiB", TIGHT, (X, two), (X, lambda: config_context(working_memory=1))),
        ("blocks of 17 MiB", TIGHT, (X, two), (X, lambda: config_context(working_memory=17))),
        ("C or Fortran order", TIGHT, (X, two), (np.asfortranarray(X), two)),
        ("dense or sparse", TIGHT, (filled, two), (text, two)),
        ("csr or csc", TIGHT, (text, two), (text.tocsc(), two)),
        ("float32 or float64", SINGLE, (double, two), (single, two)),
    ]


def _evaluate(method: Any, y: np.ndarray, X: Any, context: Callable[[], Any]) -> np.ndarray:
    with warnings.catch_warnings(), context():
        warnings.simplefilter("ignore")
        return method.evaluate(X, y)


def _relative(a: np.ndarray, b: np.ndarray, nonnegative: bool) -> float:
    """Largest |a - b| / max(|a|, |b|), inf where only one of them is finite.

    Scores that may have either sign are differences of energies and pass through 0: relative to the largest of them.
    """
    if not np.array_equal(np.isfinite(a), np.isfinite(b)):
        return float("inf")
    a, b = a[np.isfinite(a)], b[np.isfinite(b)]
    scale = np.maximum(abs(a), abs(b))
    scale = scale if nonnegative else scale.max(initial=0.0)
    return float(np.max(abs(a - b) / np.maximum(scale, np.finfo(float).tiny), initial=0.0))
