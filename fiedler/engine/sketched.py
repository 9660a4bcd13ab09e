"""Most of the nearest neighbours of many sparse rows: candidates from a few components, chosen by true distances.

    ‖x_i - x_j‖² / 2 = ‖x̃_j‖² / 2 - x̃_i'x̃_j + a constant of row i
                     ≈ ‖x̃_j‖² / 2 - p_i'p_j + the same constant            p_i: row i in the leading components

The norms ‖x̃_j‖² are exact, so that only products outside the components are neglected. In counts of cells these are
mostly products of noise. Distances in the components alone miss the differences of the norms and find few of the
neighbours. Candidates are the rows with the smallest approximate values, and the true distances choose among them. The
number of candidates is measured: the true neighbours of a sample of rows show how many are needed. The neighbours that
are found for the sample give the recall. Rows in a file are read in passes: six for the sketch and the sample, a few to
compare the candidates (at most 16 if memory allows), and one for the distances of the neighbours.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from .approximate import share_found, smallest
from .compiled import load
from .components import leading_components
from .distances import budget
from .smallest import closest_in_rows
from .sparse import SparseDistances
from .streamed import StreamedDistances, times_mean
from .threads import for_each, n_threads

_COMPONENTS, _PASSES = 32, 3  # of the sketch; its last components need not be accurate
_WANTED_RECALL, _SAMPLE = 0.98, 256
_WORK = 1e11  # largest number of products for the candidates, whatever the recall: some minutes on two cores
_EVERY, _MANY = 8, 256  # every eighth key tells the limit for the candidates, if there are many candidates
_CHOOSING = 16  # largest number of passes over a source in which candidates are compared
_AS_FAST = 0.5  # with more products than this share of the cost of an exact search, the exact search is used


def search(distances: SparseDistances, k: int, or_exact: bool = False) -> tuple[np.ndarray, np.ndarray, float] | None:
    """Indices (n, k) of approximate nearest neighbours, their squared distances, and the recall on a sample of rows.

    With ``or_exact`` the result is None if an exact search is faster.
    """
    n = distances.n
    sketch = _sketch_of_rows(distances)
    sample = np.sort(np.random.default_rng(0).choice(n, min(n, _SAMPLE), replace=False))
    exact = _true_neighbors(distances, sample, k)
    stored = max(distances.rows.nnz, 1)
    number = min(max(k, min(sketch.needed(sample, exact), int(_WORK / stored))), n - 1)
    if or_exact and float(number) * stored > _AS_FAST * distances.cost:
        return None
    found = sketch.search(distances, k, number)
    squared = distances.between(np.repeat(np.arange(n), k), found.ravel()).reshape(n, k)
    return found, squared, share_found(found[sample], exact)


def search_source(distances: StreamedDistances, k: int) -> tuple[np.ndarray, np.ndarray, float]:
    """As :func:`search`, for the sparse rows of a source, of which a few pairs are compared in one pass."""
    n, pairs = distances.n, budget() // 4
    sketch = _sketch_of_source(distances)
    sample, exact = sampled(distances, k)
    number = min(max(k, min(sketch.needed(sample, exact), _CHOOSING * pairs // n)), n - 1)
    found, step = np.empty((n, k), dtype=np.intp), max(1, pairs // number)
    for start in range(0, n, step):
        rows = np.arange(start, min(start + step, n))
        candidates = sketch.candidates(rows, number)
        apart = distances.by_products(np.repeat(rows, number), candidates.ravel()).reshape(candidates.shape)
        found[rows] = np.take_along_axis(candidates, closest_in_rows(candidates, apart, k), axis=1)
    squared = distances.between(np.repeat(np.arange(n), k), found.ravel()).reshape(n, k)
    return found, squared, share_found(found[sample], exact)


def sampled(distances: StreamedDistances, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Some rows of a source, as many as memory allows, and their true neighbours."""
    n = distances.n
    size = min(n, _SAMPLE, max(len(distances.row_blocks()[0]), _SAMPLE // 8))
    sample = np.sort(np.random.default_rng(0).choice(n, size, replace=False))
    return sample, np.argpartition(distances.block(sample), k - 1, axis=1)[:, :k]


def _sketch_of_rows(distances: SparseDistances) -> _Sketch:
    X, longest = distances.rows, _longest(distances)
    single = (X.data / np.sqrt(longest)).astype(np.float32)
    X = sp.csr_array((single, X.indices, X.indptr), shape=X.shape)
    mean = np.asarray(X.mean(axis=0)).ravel()
    return _Sketch(leading_components(X, _COMPONENTS, _PASSES), distances.norms / longest / 2.0 - X @ mean)


def _sketch_of_source(distances: StreamedDistances) -> _Sketch:
    X, longest = distances.source, _longest(distances)
    scale = distances.scale / np.sqrt(longest)
    half = distances.norms / longest / 2.0 - X.sum(partial(times_mean, scale=scale))
    return _Sketch(leading_components(X, _COMPONENTS, _PASSES, scale), half)


def _longest(distances: SparseDistances | StreamedDistances) -> float:
    """The largest squared norm, by which rows are divided so that they fit into single precision."""
    return float(distances.norms.max(initial=0.0)) or 1.0


class _Sketch:
    """Approximate keys ‖x̃_j‖² / 2 - p_i'p_j in single precision, from p and the first term up to a constant."""

    def __init__(self, rows: np.ndarray, half: np.ndarray):
        self.rows, self.half = rows.astype(np.float32), half.astype(np.float32)

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

    def candidates(self, rows: np.ndarray, number: int) -> np.ndarray:
        """The ``number`` rows with the smallest keys for each of some rows."""
        found = np.empty((len(rows), number), dtype=np.intp)
        step = self._at_once()

        def work(start: int) -> None:
            found[start : start + step] = smallest(self.keys(rows[start : start + step]), number)

        for_each(work, range(0, len(rows), step), np.inf, "neighbours")
        return found

    def _at_once(self) -> int:
        """Number of rows whose keys a thread holds."""
        return max(1, min(256, budget() // len(self.rows) // n_threads()))

    def search(self, distances: SparseDistances, k: int, number: int) -> np.ndarray:
        """The k nearest of every row by true distances among its ``number`` candidates, ties by index."""
        compiled, X, n = load(), distances.rows, distances.n
        found, half = np.empty((n, k), dtype=np.intp), distances.norms / 2.0
        order = np.argsort(self.rows[:, 0], kind="stable")  # rows that are near in memory share candidates
        step = self._at_once()

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
