"""Rows of the table for sets of features: against the public set selectors, at 50 and at 500 features.

Graphs are part of fiedler's time, but on the two largest sets, where the graph is given: the others have none. scikit-
matter and scikit-learn take dense X only; where that does not fit, or would take hours, they are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from fiedler import KNN, Anchors, LaplacianScore, SmoothSubset, SpectralSelector

from . import contenders as other
from . import data

_CUR, _FPS, _QR = "scikit-matter CUR", "scikit-matter FPS", "scipy pivoted QR"
_CAN, _SEQUENTIAL = "fastcan", "scikit-learn sequential"
ROWS, FEATURES = 60_000, 784  # of fashion_mnist


def _select(X: Any, k: int, graph: Any = None) -> Callable[[], Any]:
    criterion = SmoothSubset(graph)
    return lambda: SpectralSelector(criterion, n_features_to_select=k).fit(X).order_[:k]


def _matrix(name: str) -> Any:
    if name == "wide":
        return data.gaussian(2000, 20_000)
    if name == "fashion_mnist":
        return data.load(name, np.float64)[0][:ROWS]
    return data.load(name)[0]


@cache
def _graph(name: str) -> Any:
    """The default graph of the set, or for very many rows one whose neighbours are approximate."""
    X = _matrix(name)
    return KNN(5, algorithm="approximate" if len(X.shape) == 2 and X.shape[0] == ROWS else "auto").build(X)


def contenders(name: str, k: int) -> dict[str, Callable[[], Any]]:
    """fiedler and who else can choose k columns of a set."""
    X = _matrix(name)
    given = _graph(name) if name in ("fashion_mnist", "NEWS20_18828") else None
    found = {"fiedler": _select(X, k, given)}
    if name == "NEWS20_18828":
        return found
    dense = X.toarray().astype(np.float64) if sp.issparse(X) else np.asarray(X, dtype=np.float64)
    found |= {
        _CUR: lambda: other.skmatter_cur(dense, k),
        _FPS: lambda: other.skmatter_fps(dense, k),
        _CAN: lambda: other.fastcan_columns(dense, k),
        _QR: lambda: other.pivoted_qr(dense, k),
    }
    if name == "TOX_171" and k == 50:
        y = data.load(name)[1]
        found[_SEQUENTIAL] = lambda: other.sequential(dense, y, 2)
    return found


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
