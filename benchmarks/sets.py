"""Rows of the table for sets of features: against the public set selectors, at 50 and at 500 features.

Graphs are part of fiedler's time, but on fashion_mnist, where the graph is given: the others have none. They take dense
X only, and are left out where that would take hours; on NEWS20 no other can run at all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from fiedler import KNN, Anchors, LaplacianScore, SmoothSubset, SpectralSelector

from . import contenders as other
from . import data

CUR, FPS, QR = "scikit-matter CUR", "scikit-matter FPS", "scipy pivoted QR"
CAN = "fastcan"
_ROWS = 60_000  # of fashion_mnist

# Set, number of features, and the promised ratios; 0 where nothing was promised.
ROWS_OF_THE_TABLE = [
    ("TOX_171", 50, {CUR: 20.0, FPS: 2.0, CAN: 0.0, QR: 0.0}),
    ("TOX_171", 500, {CUR: 0.0, FPS: 1.0, CAN: 0.0, QR: 0.0}),
    ("BASEHOCK", 50, {CUR: 0.0, FPS: 0.0, CAN: 0.0, QR: 0.0}),
    ("BASEHOCK", 500, {FPS: 1.0, QR: 0.0}),
    ("wide", 50, {FPS: 0.0}),
    ("wide", 500, {FPS: 1.0}),
    ("fashion_mnist", 50, {FPS: 0.0}),
    ("fashion_mnist", 500, {FPS: 1.0}),
]


def _select(X: Any, k: int, graph: Any = None) -> Callable[[], Any]:
    criterion = SmoothSubset(graph)
    return lambda: SpectralSelector(criterion, n_features_to_select=k).fit(X).order_[:k]


def _matrix(name: str) -> Any:
    if name == "wide":
        return data.gaussian(2000, 20_000)
    if name == "fashion_mnist":
        return data.load(name, np.float64)[0][:_ROWS]
    return data.load(name)[0]


@cache
def _graph(name: str) -> Any:
    """A graph of approximate neighbours."""
    return KNN(5, algorithm="approximate").build(_matrix(name))


def contenders(name: str, k: int) -> dict[str, Callable[[], Any]]:
    """fiedler and who else can choose k columns of a set."""
    X = _matrix(name)
    found = {"fiedler": _select(X, k, _graph(name) if name == "fashion_mnist" else None)}
    dense = X.toarray().astype(np.float64) if sp.issparse(X) else np.asarray(X, dtype=np.float64)
    choose = {CUR: other.skmatter_cur, FPS: other.skmatter_fps, CAN: other.fastcan_columns, QR: other.pivoted_qr}
    rivals = next(targets for row, number, targets in ROWS_OF_THE_TABLE if (row, number) == (name, k))
    return found | {who: partial(choose[who], dense, k) for who in rivals}


def by_anchors() -> dict[str, Callable[[], Any]]:
    """A million rows in one pass over their blocks, beside the Laplacian score's pass over the same."""
    import dask.array as da

    X = da.from_array(data.gaussian(1_000_000, 100).astype(np.float32), chunks=(50_000, 100))
    anchors = Anchors(n_anchors=200)
    subset = SmoothSubset(anchors, supervised=False)
    return {
        "fiedler": lambda: SpectralSelector(subset, n_features_to_select=20).fit(X).order_,
        "Laplacian score": lambda: LaplacianScore(anchors).evaluate(X),
    }
