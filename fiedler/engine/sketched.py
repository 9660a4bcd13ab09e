"""Most of the nearest neighbours of many sparse rows: candidates from a few components, chosen by true distances.

    ‖x_i - x_j‖² / 2 = ‖x̃_j‖² / 2 - x̃_i'x̃_j + a constant of row i
                     ≈ ‖x̃_j‖² / 2 - p_i'p_j + the same constant            p_i: row i in the leading components

The norms ‖x̃_j‖² are exact, so that only products outside the components are neglected. In counts of cells these are
mostly products of noise. Distances in the components alone miss the differences of the norms and find few of the
neighbours. Candidates are the rows with the smallest approximate values, and the true distances choose among them. The
number of candidates is measured: the true neighbours of a sample of rows show how many are needed. The neighbours that
are found for the sample give the recall.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .approximate import share_found, smallest
from .compiled import load
from .components import leading_components
from .distances import budget
from .sparse import SparseDistances
from .threads import for_each, n_threads

_COMPONENTS, _PASSES = 32, 3  # of the sketch; its last components need not be accurate
_WANTED_RECALL, _SAMPLE = 0.98, 256
_WORK = 1e11  # largest number of products for the candidates, whatever the recall: some minutes on two cores
_EVERY, _MANY = 8, 256  # every eighth key tells the limit for the candidates, if there are many candidates
_AS_FAST = 0.5  # with more products than this share of the cost of an exact search, the exact search is used


def search(distances: SparseDistances, k: int, or_exact: bool = False) -> tuple[np.ndarray, np.ndarray, float] | None:
    """Indices (n, k) of approximate nearest neighbours, their squared distances, and the recall on a sample of rows.

    With ``or_exact`` the result is None if an exact search is faster.
    """
    n = distances.n
    sketch = _Sketch(distances)
    sample = np.sort(np.random.default_rng(0).choice(n, min(n, _SAMPLE), replace=False))
    exact = _true_neighbors(distances, sample, k)
    stored = max(distances.rows.nnz, 1)
    number = min(max(k, min(sketch.needed(sample, exact), int(_WORK / stored))), n - 1)
    if or_exact and float(number) * stored > _AS_FAST * distances.cost:
        return None
    found = sketch.search(distances, k, number)
    squared = distances.between(np.repeat(np.arange(n), k), found.ravel()).reshape(n, k)
    return found, squared, share_found(found[sample], exact)


class _Sketch:
    """Approximate keys ‖x̃_j‖² / 2 - p_i'p_j in single precision, of rows that are scaled so that they fit into it."""

    def __init__(self, distances: SparseDistances):
        X, longest = distances.rows, float(distances.norms.max(initial=0.0)) or 1.0
        single = (X.data / np.sqrt(longest)).astype(np.float32)
        X = sp.csr_array((single, X.indices, X.indptr), shape=X.shape)
        self.rows = leading_components(X, _COMPONENTS, _PASSES).astype(np.float32)
        mean = np.asarray(X.mean(axis=0)).ravel()
        self.half = (distances.norms / longest / 2.0 - X @ mean).astype(np.float32)  # up to a constant

    def keys(self, rows: np.ndarray) -> np.ndarray:
        """The keys of some rows and all others; inf from a row to itself."""
        key = self.rows[rows] @ self.rows.T
        np.subtract(self.half, key, out=key)
        key[np.arange(len(rows)), rows] = np.inf
        return key

    def needed(self, rows: np.ndarray, neighbors: np.ndarray) -> int:
        """Number of candidates that contain enough of the neighbours of some rows."""
        key = self.keys(rows)
        there = np.take_along_axis(key, neighbors, axis=1)
        key.sort(axis=1)
        place = np.sort(np.concatenate([np.searchsorted(a, b) for a, b in zip(key, there, strict=True)]))
        return int(place[int(np.ceil(_WANTED_RECALL * len(place))) - 1]) + 1

    def search(self, distances: SparseDistances, k: int, number: int) -> np.ndarray:
        """The k nearest of every row by true distances among its ``number`` candidates, ties by index."""
        compiled, X, n = load(), distances.rows, distances.n
        found, half = np.empty((n, k), dtype=np.intp), distances.norms / 2.0
        order = np.argsort(self.rows[:, 0], kind="stable")  # rows that are near in memory share candidates
        step = max(1, min(256, budget() // n // n_threads()))

        def work(start: int) -> None:
            rows = order[start : start + step]
            key = self.keys(rows)
            limit = _limits(key, number, k)
            near, best = np.zeros((len(rows), k), dtype=np.intp), np.full((len(rows), k), np.inf)
            compiled.choose_sparse(
                rows, key, limit, X.indptr, X.indices, X.data, half, np.zeros(X.shape[1]), near, best
            )
            found[rows] = near

        for_each(work, range(0, n, step), np.inf, "neighbours")
        return found


def _limits(key: np.ndarray, number: int, k: int) -> np.ndarray:
    """For each row a limit that about ``number`` of its keys, and at least k, do not exceed."""
    every = _EVERY if number >= max(_MANY, _EVERY * k) else 1
    some = key[:, ::every]
    place = min(-(-number // every), some.shape[1]) - 1
    return np.partition(some, place, axis=1)[:, place]


def _true_neighbors(distances: SparseDistances, rows: np.ndarray, k: int) -> np.ndarray:
    key = distances.norms[:, None] / 2.0 - _products(distances.rows, distances.rows[rows].toarray())
    key[rows, np.arange(len(rows))] = np.inf
    return smallest(np.ascontiguousarray(key.T), k)


def _products(X: sp.csr_array, few: np.ndarray) -> np.ndarray:
    """X V' for a few dense rows V, which threads share."""
    products, share = np.empty((X.shape[0], len(few))), -(-len(few) // n_threads(float(X.nnz) * len(few)))

    def work(start: int) -> Any:
        products[:, start : start + share] = X @ np.ascontiguousarray(few[start : start + share].T)

    for_each(work, range(0, len(few), share), np.inf)
    return products
