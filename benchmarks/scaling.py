"""How time grows with the size of a problem: the slope of log(time) against log(size), by least squares."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from fiedler import KNN, ConstraintScore, LaplacianScore, SSelect

from . import contenders as other
from . import data
from .timing import interleaved

_HAND = "scikit-learn + scipy"


Curve = tuple[str, str, str, list[float], list[float]]  # axis, work, contender, sizes, best seconds


def exponent(curve: Curve) -> str:
    """The slope of log(time) against log(size)."""
    return f"{np.polyfit(np.log(curve[3]), np.log(curve[4]), 1)[0]:.2f}"


def _in_rows(n: int) -> tuple[float, dict[str, Callable[[], Any]]]:
    X = data.gaussian(8000, 200)[:n]
    return n, {"fiedler": lambda: LaplacianScore().evaluate(X), _HAND: lambda: other.laplacian_by_hand(X)}


def _in_columns(m: int) -> tuple[float, dict[str, Callable[[], Any]]]:
    X = np.ascontiguousarray(data.gaussian(1000, 16000)[:, :m])
    return m, {"fiedler": lambda: LaplacianScore().evaluate(X), _HAND: lambda: other.laplacian_by_hand(X)}


def _in_neighbors(k: int) -> tuple[float, dict[str, Callable[[], Any]]]:
    X = data.gaussian(2000, 1000)
    return k, {
        "fiedler": lambda: LaplacianScore(KNN(k)).evaluate(X),
        _HAND: lambda: other.laplacian_by_hand(X, k),
    }


def _in_stored_values(density: float) -> tuple[float, dict[str, Callable[[], Any]]]:
    X = data.text_like(3000, 20_000, density)
    return X.nnz, {"fiedler": lambda: LaplacianScore().evaluate(X), _HAND: lambda: other.laplacian_by_hand(X)}


def _in_stored_values_on_a_graph(density: float) -> tuple[float, dict[str, Callable[[], Any]]]:
    X = data.text_like(3000, 20_000, density)
    graph = KNN().build(data.gaussian(3000, 10))
    return X.nnz, {"fiedler": lambda: LaplacianScore(graph).evaluate(X)}


def _in_labels(method: Callable[[Any], Any], count: int) -> tuple[float, dict[str, Callable[[], Any]]]:
    X, graph = data.gaussian(4000, 1000), _graph_of_4000()
    y = np.full(len(X), -1)
    y[:count] = np.arange(count) % 5
    return count, {"fiedler": lambda: method(graph).evaluate(X, y)}


def _graph_of_4000() -> Any:
    return KNN().build(data.gaussian(4000, 1000)[:, :10])


AXES: list[tuple[str, str, Callable[[Any], Any], Iterable[float]]] = [
    ("n", "LS end to end, n x 200", _in_rows, (500, 1000, 2000, 4000, 8000)),
    ("m", "LS end to end, 1,000 x m", _in_columns, (1000, 2000, 4000, 8000, 16000)),
    ("k", "LS end to end, 2,000 x 1,000", _in_neighbors, (5, 10, 20, 40, 80)),
    ("nnz", "LS end to end, sparse 3,000 x 20,000", _in_stored_values, (0.002, 0.004, 0.008, 0.016)),
    ("nnz", "LS on a given graph, sparse 3,000 x 20,000", _in_stored_values_on_a_graph, (0.002, 0.004, 0.008, 0.016)),
    (
        "labels",
        "C1 from labels, 4,000 x 1,000",
        lambda count: _in_labels(lambda graph: ConstraintScore(1), count),
        (100, 200, 400, 800, 1600),
    ),
    ("labels", "sSelect on a given graph, 4,000 x 1,000", lambda count: _in_labels(SSelect, count), (100, 400, 1600)),
]


def curves(progress: Callable[[str], None], seconds: float = 1.5) -> list[Curve]:
    """Measure every axis."""
    found: list[Curve] = []
    for axis, work, prepare, sizes in AXES:
        progress(f"scaling in {axis}: {work}")
        points: dict[str, list[tuple[float, float]]] = {}
        for size in sizes:
            measured, contenders = prepare(size)
            for name, timing in interleaved(contenders, seconds=seconds).items():
                points.setdefault(name, []).append((measured, timing.wall))
        found += [(axis, work, name, *map(list, zip(*pairs, strict=True))) for name, pairs in points.items()]
    return found
