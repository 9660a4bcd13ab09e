"""How time grows with the size of a problem: the slope of log(time) against log(size), by least squares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fiedler import KNN, ConstraintScore, LaplacianScore, SSelect

from . import contenders as other
from . import data
from .timing import interleaved

Contenders = dict[str, Callable[[], Any]]
Curve = tuple[str, str, str, list[float], list[float]]  # axis, work, contender, sizes, best seconds


def exponent(curve: Curve) -> str:
    """The slope of log(time) against log(size)."""
    return f"{np.polyfit(np.log(curve[3]), np.log(curve[4]), 1)[0]:.2f}"


def _end_to_end(X: Any, k: int = other.K) -> Contenders:
    return {
        "fiedler": lambda: LaplacianScore(KNN(k)).evaluate(X),
        "scikit-learn + scipy": lambda: other.laplacian_by_hand(X, k),
    }


def _on_a_graph(X: Any) -> Contenders:
    graph = KNN().build(data.gaussian(3000, 10))
    return {"fiedler": lambda: LaplacianScore(graph).evaluate(X)}


def _with_labels(method: Callable[[Any], Any], count: int) -> Contenders:
    X = data.gaussian(4000, 1000)
    graph, y = KNN().build(X[:, :10]), np.full(len(X), -1)
    y[:count] = np.arange(count) % 5
    return {"fiedler": lambda: method(graph).evaluate(X, y)}


def _text(density: float) -> Any:
    return data.text_like(3000, 20_000, density)


_DENSITIES = (0.002, 0.004, 0.008, 0.016)
AXES: list[tuple[str, str, Callable[[Any], Contenders], Sequence[float]]] = [
    ("n", "LS end to end, n x 200", lambda n: _end_to_end(data.gaussian(8000, 200)[:n]), (500, 1000, 2000, 4000, 8000)),
    (
        "m",
        "LS end to end, 1,000 x m",
        lambda m: _end_to_end(np.ascontiguousarray(data.gaussian(1000, 16000)[:, :m])),
        (1000, 2000, 4000, 8000, 16000),
    ),
    ("k", "LS end to end, 2,000 x 1,000", lambda k: _end_to_end(data.gaussian(2000, 1000), k), (5, 10, 20, 40, 80)),
    ("nnz", "LS end to end, sparse 3,000 x 20,000", lambda share: _end_to_end(_text(share)), _DENSITIES),
    ("nnz", "LS on a given graph, sparse 3,000 x 20,000", lambda share: _on_a_graph(_text(share)), _DENSITIES),
    (
        "labels",
        "C1 from labels, 4,000 x 1,000",
        lambda count: _with_labels(lambda graph: ConstraintScore(1), count),
        (100, 200, 400, 800, 1600),
    ),
    ("labels", "sSelect on a given graph, 4,000 x 1,000", lambda n: _with_labels(SSelect, n), (100, 400, 1600)),
]


def curves(progress: Callable[[str], None], seconds: float = 1.5) -> list[Curve]:
    """Measure every axis."""
    found: list[Curve] = []
    for axis, work, prepare, sizes in AXES:
        progress(f"scaling in {axis}: {work}")
        points: dict[str, list[tuple[float, float]]] = {}
        for size in sizes:
            for name, timing in interleaved(prepare(size), seconds=seconds).items():
                points.setdefault(name, []).append((_text(size).nnz if axis == "nnz" else size, timing.wall))
        found += [(axis, work, name, *map(list, zip(*pairs, strict=True))) for name, pairs in points.items()]
    return found
