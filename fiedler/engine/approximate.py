"""Most of the nearest neighbours of many rows: in cells around centres, or, for sparse rows, by a sketch.

**Cells.** Dense rows are grouped into cells, and only the nearest cells of a row are searched. The rows of a cell are
adjacent in memory and are searched one after the other, because they need the same cells. If rows are nearly
equidistant, as in noise, nearly all cells are needed, and an exact search is faster.

**Sketch.** Candidates of sparse rows come from a few components, and true distances choose among them.

    ‖x_i - x_j‖² / 2 = ‖x̃_j‖² / 2 - x̃_i'x̃_j + a constant of row i
                     ≈ ‖x̃_j‖² / 2 - p_i'p_j + the same constant            p_i: row i in the leading components

The norms ‖x̃_j‖² are exact, so that only products outside the components are neglected. In counts of cells these are
mostly products of noise. Distances in the components alone miss the differences of the norms and find few of the
neighbours. Rows in a file are read in passes: six for the sketch and the sample, a few to compare the candidates (at
most 16 if memory allows), and one for the distances of the neighbours.

How much is searched is measured: the true neighbours of a sample of rows show how many cells or candidates are needed.
If this would take too long, the search is limited to some minutes of work. The neighbours that are found for the sample
give the recall. Other index libraries that were compared are slower at equal recall (benchmarks/PROFILE.md).

**Components.** The leading principal components come from a randomised block Krylov method with centred columns.

    A = X̃ X̃',  X̃ = X - 1 mean',   Q = orthonormal basis of [A Y, A² Y, ...],   Q'A Q = V Λ V',   components = Q V Λ^½

(Halko, Martinsson, Tropp, "Finding structure with randomness", SIAM Review 53, 2011; Musco, Musco, "Randomized block
Krylov methods", NIPS 2015.) A Y is a sum over the columns of X, so every block is one pass over X. Sparse columns are
centred by means of their sums and stay sparse. The random start Y is seeded: equal data give equal components.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..data.arrays import Matrix
from ..data.source import Part, Source
from ..data.work import counting
from ..validation import is_sparse
from .compiled import load
from .distances import Distances, SourceDistances, SparseDistances
from .kmeans import k_means
from .products import budget, centred_pieces, check_range, scaled_rows
from .smallest import closest_in_rows, within_reach
from .threads import for_each, n_threads, one_blas_thread

_SAMPLE = 256
_IN_CELLS, _IN_SKETCH = 0.99, 0.98  # recall on the sample; 0.99 gives at least 0.98 on the rest
_CELLS = 2.0  # number of cells, in units of the square root of the number of rows
_ROUNDS, _ROWS_PER_CELL = 4, 40  # iterations of the k-means that finds the cells, and its rows per cell
_WIDER = 24  # this many times more cells around a cell contain the nearest cells of all its rows
_WORK = 1e12  # largest number of compared values, for any recall: some minutes on two cores
_BRUTE_FORCE = 0.2  # with a larger share of the cells, an exact search by matrix products is faster
_AT_ONCE = 2**20  # number of distances to centres in memory at a time
_COMPONENTS, _FEW_PASSES = 32, 3  # of the sketch; its last components need not be accurate
_SPARSE_WORK = 1e11  # largest number of products for the candidates, whatever the recall: some minutes on two cores
_EVERY, _MANY = 8, 256  # every eighth key tells the limit for the candidates, if there are many candidates
_CHOOSING = 16  # largest number of passes over a source in which candidates are compared
_AS_FAST = 0.5  # with more products than this share of the cost of an exact search, the exact search is used

Found = tuple[np.ndarray, np.ndarray, float]  # indices (n, k), squared distances, recall


def available() -> bool:
    """Whether the compiler is installed; without it an exact search is faster."""
    return load() is not None


def search(distances: Any, k: int, or_exact: bool = False) -> Found | None:
    """Approximate nearest neighbours of dense or sparse rows in memory, self excluded, with their recall.

    With ``or_exact`` the result is None if an exact search is faster.
    """
    n, rng = distances.n, np.random.default_rng(0)
    if isinstance(distances, SparseDistances):
        sketch, stored = sketch_of(distances), max(distances.rows.nnz, 1)
        sample, exact = sampled(distances, k, rng, _SAMPLE)
        number = min(max(k, min(sketch.needed(sample, exact), int(_SPARSE_WORK / stored))), n - 1)
        if or_exact and float(number) * stored > _AS_FAST * distances.cost:
            return None
        found = sketch.search(distances, k, number)
    else:
        X = distances.single_precision()
        cells = Cells(X, max(1, min(n // 2, int(_CELLS * np.sqrt(n)))), rng)
        sample, exact = sampled(distances, k, rng, _SAMPLE)
        affordable = max(4, int(cells.number * _WORK / (float(n) * n * X.shape[1])))
        around = min(cells.needed(X, sample, exact), affordable)
        if or_exact and around > _BRUTE_FORCE * cells.number:
            return None
        found = cells.search(X, k, around)
    return _with_distances(distances, found, sample, exact)


def search_source(distances: SourceDistances, k: int) -> Found:
    """As :func:`search`, for the sparse rows of a source, of which a few pairs are compared in one pass."""
    n, pairs = distances.n, budget() // 4
    sketch = sketch_of(distances)
    sample, exact = sampled(distances, k, np.random.default_rng(0), len(distances.row_blocks()[0]))
    number = min(max(k, min(sketch.needed(sample, exact), _CHOOSING * pairs // n)), n - 1)
    found, step = np.empty((n, k), dtype=np.intp), max(1, pairs // number)
    for start in range(0, n, step):
        rows = np.arange(start, min(start + step, n))
        candidates = sketch.candidates(rows, number)
        apart = distances.by_products(np.repeat(rows, number), candidates.ravel()).reshape(candidates.shape)
        found[rows] = np.take_along_axis(candidates, closest_in_rows(candidates, apart, k), axis=1)
    return _with_distances(distances, found, sample, exact)


def _with_distances(distances: Distances, found: np.ndarray, sample: np.ndarray, exact: np.ndarray) -> Found:
    squared = distances.between(np.repeat(np.arange(len(found)), found.shape[1]), found.ravel())
    return found, squared.reshape(found.shape), share_found(found[sample], exact)


def sampled(distances: Distances, k: int, rng: np.random.Generator, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Some rows, about ``most`` if memory allows no more, and their true neighbours."""
    size = min(distances.n, _SAMPLE, max(most, _SAMPLE // 8))
    sample = np.sort(rng.choice(distances.n, size, replace=False))
    return sample, smallest(distances.block(sample), k)


def share_found(found: np.ndarray, exact: np.ndarray) -> float:
    """The recall: which share of the true neighbours (rows, k) was found."""
    return float(np.mean([len(np.intersect1d(a, b)) for a, b in zip(found, exact, strict=True)])) / exact.shape[1]


def smallest(key: np.ndarray, k: int) -> np.ndarray:
    """Columns (n, k) of the k smallest keys of each row."""
    none = np.zeros(len(key)), np.zeros(key.shape[1])
    return within_reach(key, *none, k, True)[1].reshape(len(key), k)


# -------------------------------------------------------------------- cells


class Cells:
    """Rows grouped around centres."""

    def __init__(self, X: np.ndarray, number: int, rng: np.random.Generator):
        some = np.sort(rng.choice(len(X), min(len(X), _ROWS_PER_CELL * number), replace=False))
        first = X[some[np.linspace(0, len(some) - 1, number).astype(np.intp)]]
        nearest, ones = partial(_nearest_centre, X[some]), np.ones(len(some), dtype=np.float32)
        self.number, self.centres = number, k_means(X[some], first, nearest, _ROUNDS, ones)[0].astype(np.float32)
        self.of_row = _nearest_centre(X, self.centres)
        self.order = np.argsort(self.of_row, kind="stable")  # the rows, cell by cell
        self.starts = np.searchsorted(self.of_row, np.arange(number + 1), sorter=self.order)
        self.sizes = np.diff(self.starts)

    def needed(self, X: np.ndarray, rows: np.ndarray, neighbors: np.ndarray) -> int:
        """Number of nearest cells of a row that contain enough of its neighbours."""
        key, rank = _half_distances(X[rows], self.centres), np.empty((len(rows), self.number), dtype=np.intp)
        np.put_along_axis(rank, np.argsort(key, axis=1), np.arange(self.number)[None], axis=1)
        found_at = np.sort(np.take_along_axis(rank, self.of_row[neighbors], axis=1), axis=None)
        return int(found_at[int(np.ceil(_IN_CELLS * len(found_at))) - 1]) + 1

    def search(self, X: np.ndarray, k: int, n_around: int) -> np.ndarray:
        """The k nearest rows of every row among the rows in its ``n_around`` nearest cells."""
        compiled, found = load(), np.empty((len(X), k), dtype=np.intp)
        Y = X[self.order]  # rows of a cell are adjacent in memory

        def work(cell: int) -> None:
            first, stop = self.starts[cell], self.starts[cell + 1]
            near = self._around(cell, min(_WIDER * n_around, self.number), k + 1)
            key = _half_distances(Y[first:stop], self.centres[near])
            asked = smallest(key, min(n_around, len(near)))
            if self.sizes[near[asked]].sum(axis=1).min() <= k:
                asked = np.tile(np.arange(len(near)), (stop - first, 1))
            bounds = np.r_[0, np.cumsum(np.bincount(asked.ravel(), minlength=len(near)))]
            askers = np.argsort(asked, axis=None, kind="stable") // asked.shape[1]
            apart = np.full((stop - first, k), np.inf, dtype=np.float32)
            places = np.zeros(apart.shape, dtype=np.intp)
            compiled.scan_cells(Y, first, near, bounds, askers, self.starts, apart, places)
            found[self.order[first:stop]] = self.order[places]

        for_each(work, np.flatnonzero(self.sizes), np.inf, "neighbours")
        return found

    def _around(self, cell: int, n_around: int, at_least: int) -> np.ndarray:
        """The cells nearest to a cell, itself first; more cells if they contain too few rows.

        They are sorted by distance, so that rows in late cells are rarely closer than the rows already found.
        """
        key = _half_distances(self.centres[cell : cell + 1], self.centres)[0]
        key[cell] = -np.inf
        while n_around < self.number:
            near = np.argpartition(key, n_around - 1)[:n_around]
            if self.sizes[near].sum() >= at_least:
                return near[np.argsort(key[near])]
            n_around *= 2
        return np.argsort(key)


def _nearest_centre(rows: np.ndarray, centres: np.ndarray) -> np.ndarray:
    near, step = np.empty(len(rows), dtype=np.intp), max(1, _AT_ONCE // len(centres))

    def work(start: int) -> None:
        near[start : start + step] = np.argmin(_half_distances(rows[start : start + step], centres), axis=1)

    for_each(work, range(0, len(rows), step), np.inf, "centres")
    return near


def _half_distances(rows: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Half the squared distances between rows and centres, up to a constant per row."""
    key: Any = rows @ centres.T
    return np.subtract(np.einsum("ij,ij->i", centres, centres) / 2.0, key, out=key)


# -------------------------------------------------------------------- sketch


def sketch_of(distances: SparseDistances | SourceDistances) -> _Sketch:
    """The sketch of sparse rows, which are divided by the largest norm so that they fit into single precision."""
    longest = float(distances.norms.max(initial=0.0)) or 1.0
    X: Any
    if isinstance(distances, SourceDistances):
        X, scale = distances.source, distances.scale / np.sqrt(longest)
        along = X.sum(partial(_times_mean, scale=scale))
    else:
        X, scale = distances.rows, None
        X = sp.csr_array(((X.data / np.sqrt(longest)).astype(np.float32), X.indices, X.indptr), shape=X.shape)
        along = X @ np.asarray(X.mean(axis=0)).ravel()
    return _Sketch(leading_components(X, _COMPONENTS, _FEW_PASSES, scale), distances.norms / longest / 2.0 - along)


def _times_mean(slab: Any, scale: np.ndarray) -> np.ndarray:
    """x_i'mean of the scaled rows of a sparse slab."""
    X = scaled_rows(slab, scale)
    return X @ np.asarray(X.mean(axis=0)).ravel()


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
        return int(place[int(np.ceil(_IN_SKETCH * len(place))) - 1]) + 1

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


# -------------------------------------------------------------------- leading principal components


_SPARE = 10  # columns of Y beyond the wanted components: these converge faster
_PASSES = 16  # largest number of passes over X
_SETTLED = 1e-7  # relative change of the variance in the leading components after which no more passes are made


def leading_components(
    X: Matrix | sp.csr_array, number: int, passes: int = _PASSES, scale: np.ndarray | None = None
) -> np.ndarray:
    """Coordinates (n, number) of the rows in the principal components with the largest variance, in float64.

    There are at most min(n - 1, m) components. If ``number`` is larger, all of them are returned. At most ``passes``
    passes over X are made. The rows of a sparse source may be multiplied by ``scale``.
    """
    n, m = X.shape
    most = min(n - 1, m)
    number = min(number, most)
    width = min(number + _SPARE, most)
    room = max(2, 2 * budget() // (n * width))  # blocks that fit into the memory budget
    with counting("components", passes) as count:
        with np.errstate(over="ignore", invalid="ignore"):
            Z = times_gram(X, np.random.default_rng(0).standard_normal((n, width)), scale)
        if not np.isfinite(Z).all():
            check_range(sp.csc_array(X) if is_sparse(X) else X, np.arange(m))
        Q = block = _orthonormal(Z)
        H, before = np.zeros((0, 0)), 0.0
        for left in reversed(range(passes - 1)):
            count()
            Z = times_gram(X, block, scale)
            with one_blas_thread(float(n) * Q.shape[1] * width):
                border = Q.T @ Z
                H = np.block([[H, border[: len(H)]], [border[: len(H)].T, border[len(H) :].T]])
                variance = float(np.linalg.eigvalsh(H)[-number:].sum())
                if variance - before <= _SETTLED * variance or Q.shape[1] == most or not left:
                    break
                before = variance
                if Q.shape[1] >= room * width:  # starts again from the best directions so far
                    Q = block = _orthonormal(Q @ _eigenpairs(H, width)[1])
                    H, before = np.zeros((0, 0)), 0.0
                else:
                    block = _orthonormal(Z, Q, most - Q.shape[1])
                    Q = np.hstack([Q, block])
    values, vectors = _eigenpairs(H, number)
    return Q @ (vectors * np.sqrt(values))


def _eigenpairs(H: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
    """The largest eigenvalues, in descending order, and their eigenvectors."""
    values, vectors = np.linalg.eigh(H)
    return np.maximum(values[::-1][:number], 0.0), vectors[:, ::-1][:, :number]


def _orthonormal(Z: np.ndarray, Q: np.ndarray | None = None, most: int | None = None) -> np.ndarray:
    """An orthonormal basis of the first ``most`` columns, centred and orthogonal to Q."""
    Z = Z[:, :most] - Z[:, :most].mean(axis=0)
    if Q is not None:
        for _ in range(2):  # the second time removes what rounding has left
            Z = np.linalg.qr(Z)[0]
            Z -= Q @ (Q.T @ Z)
    return np.linalg.qr(Z)[0]


def times_gram(X: Matrix | sp.csr_array, Y: np.ndarray, scale: np.ndarray | None = None) -> np.ndarray:
    """X̃ X̃' Y, a sum over the centred columns of X."""
    if isinstance(X, Source):
        return X.sum(partial(_sparse_or_dense, Y=Y, scale=scale))
    return _sparse_or_dense(X, Y)


def _sparse_or_dense(slab: Part, Y: np.ndarray, scale: np.ndarray | None = None) -> np.ndarray:
    if is_sparse(slab):
        return _sparse(slab if scale is None else scaled_rows(slab, scale), Y)
    total = np.zeros(Y.shape)
    for piece in centred_pieces(slab):
        total += piece @ (piece.T @ Y)
    return total


def _sparse(X: sp.csr_array | sp.csc_array, Y: np.ndarray) -> np.ndarray:
    """Columns of Y in threads. Values in single precision are multiplied as they are, which needs no copy of X."""
    X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    mean, total = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel(), np.empty(Y.shape)
    share = -(-Y.shape[1] // n_threads(float(X.nnz) * Y.shape[1]))

    def work(start: int) -> None:
        part = slice(start, start + share)
        some = np.ascontiguousarray(Y[:, part], dtype=X.dtype)
        Z = X.T @ some - np.outer(mean, Y[:, part].sum(axis=0))
        total[:, part] = X @ Z.astype(X.dtype)
        total[:, part] -= mean @ Z

    for_each(work, range(0, Y.shape[1], share), np.inf)
    return total
