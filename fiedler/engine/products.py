"""Products of rows: Gram matrices of dense and sparse rows, and products and differences of chosen pairs of rows.

A Gram product of sparse rows has two forms. Products of stored values cost Σ_c s_c² for s_c stored values in column c.
Products of filled blocks of columns, on BLAS and in single precision, cost n² m operations, each of which is much
cheaper. :func:`single_gram` takes the cheaper form for each column.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..data.arrays import Matrix, Rows, as_csr, dense, take_columns
from ..data.memory import working_bytes
from ..data.source import Part, Source
from ..data.work import counting
from ..validation import is_sparse
from .compiled import as_block, kernels
from .threads import batches, for_each, n_threads

CHUNK = 1024  # columns per product: bounds the rounding error of a sum in single precision
STORED_COST = 90.0  # time of a product of stored values, relative to one of a filled block in single precision
_SCIPY_COST = 8.0  # the same for scipy, relative to compiled code
_TILE = 512  # rows and columns of a product that one thread makes at a time,
_HELD = 3 * 2**21  # and values of its factors held, so few that the allocator keeps their memory
_PAIRS_AT_ONCE = 2**14  # pairs of sparse rows processed at a time without the compiler
_IN_CACHE = 2**18  # values processed at a time
_TOO_LARGE, _CHECKED = 1e150, 256  # values whose sums of squares overflow, and columns looked at together


def budget() -> int:
    """Largest number of float64 values in one temporary array."""
    return int(working_bytes() / (4 * 8))


# -------------------------------------------------------------------- all pairs


def gram_by_tiles(
    n: int, parts: list[slice], piece: Callable[[slice, np.ndarray], np.ndarray], start: np.ndarray | None = None
) -> np.ndarray:
    """Σ P P' over pieces of columns in single precision, tile by tile; ``start`` holds the upper triangle of a summand.

    ``piece(part, room)`` makes a piece in the given memory.
    """
    gram = np.zeros((n, n), dtype=np.float32) if start is None else start
    # Enough tiles for all threads, but small enough for their rows to stay in the cache.
    number = max(-(-n // _TILE), int(np.ceil(np.sqrt(8 * n_threads()))))
    spans = [slice(*ends) for ends in itertools.pairwise(np.linspace(0, n, number + 1).astype(int))]
    # Tiles on the diagonal take half as long, so they come last to balance the threads.
    tiles = [*itertools.combinations(spans, 2), *zip(spans, spans, strict=True)]
    width = max((part.stop - part.start for part in parts), default=0)
    held = max(1, min(len(parts), _HELD // max(n * width, 1)))
    rooms = np.empty((held, n * width), dtype=np.float32)
    with counting("distances", len(parts)) as count:
        for first in range(0, len(parts), held):
            pieces, last = list(map(piece, parts[first : first + held], rooms)), first + held >= len(parts)

            def add(tile: tuple[slice, slice], pieces: list[np.ndarray] = pieces, last: bool = last) -> None:
                rows, columns = tile
                total = gram[rows, columns]
                for values in pieces:
                    total += values[rows] @ values[columns].T
                if last and rows is not columns:
                    gram[columns, rows] = total.T
                elif last and start is not None:
                    mirror(total)

            for_each(add, tiles, np.inf)
            count.reach(first + held)
    return gram


def sum_of_grams(pieces: Iterable[np.ndarray], n: int) -> np.ndarray:
    """Σ P P' of pieces in double precision; BLAS computes one triangle."""
    from scipy.linalg.blas import dsyrk

    total: np.ndarray = np.zeros((n, n), order="F")
    for piece in pieces:
        total = dsyrk(1.0, piece.T, beta=1.0, c=total, trans=1, lower=1, overwrite_c=1)
    return np.triu(total.T) + np.tril(total, -1)


def column_view(X: sp.csc_array, columns: slice) -> sp.csc_array:
    """Some columns of a csc array; the stored values are not copied."""
    first, last = X.indptr[columns.start], X.indptr[columns.stop]
    indptr = X.indptr[columns.start : columns.stop + 1] - first
    shape = X.shape[0], columns.stop - columns.start
    return sp.csc_array((X.data[first:last], X.indices[first:last], indptr), shape=shape)


def filled_block(X: sp.csc_array, columns: slice, room: np.ndarray | None = None) -> np.ndarray:
    """Some columns of a csc array, filled in, in the memory and the precision of ``room``."""
    shape = X.shape[0], columns.stop - columns.start
    room = np.empty(shape) if room is None else room[: shape[0] * shape[1]].reshape(shape)
    some = column_view(X, columns)
    some.data = some.data.astype(room.dtype, copy=False)
    room[:] = 0.0
    return some.toarray(out=room)


def n_products(X: sp.csc_array) -> float:
    """Number of products of stored values in X X'."""
    stored = np.diff(X.indptr).astype(np.float64)
    return float(stored @ stored)


def stored_products_pay(X: sp.csc_array) -> bool:
    """Whether products of stored values give X X' faster than filled blocks do."""
    n, m = X.shape
    products = n_products(X)
    stored = products * STORED_COST * (1.0 if kernels(4.0 * products) is not None else _SCIPY_COST)
    return stored <= float(n) ** 2 * m


def single_gram(X: sp.csc_array) -> np.ndarray:
    """X X' in single precision, each column in the form that is cheaper for it."""
    n, products = X.shape[0], np.diff(X.indptr).astype(np.float64) ** 2
    few = products * STORED_COST <= float(n) ** 2
    if kernels(4.0 * products[few].sum()) is None:
        few = products * STORED_COST * _SCIPY_COST <= float(n) ** 2
    if few.all():
        return sparse_gram(as_csr(X), X, np.float32)
    stored, filled = (X[:, few], X[:, ~few]) if few.any() else (None, X)
    upper = None if stored is None else _upper_gram(as_csr(stored), stored, np.float32)
    return gram_by_tiles(n, batches(filled.shape[1], CHUNK), partial(filled_block, filled), upper)


def sparse_gram(rows: sp.csr_array, columns: sp.csc_array, dtype: Any = np.float64) -> np.ndarray:
    """X X' of an X stored by rows and, sorted, by columns: one triangle of it, mirrored."""
    gram = _upper_gram(rows, columns, dtype)
    for part in batches(len(gram), _TILE):
        gram[part.stop :, part] = gram[part, part.stop :].T
        mirror(gram[part, part])
    return gram


def mirror(square: np.ndarray) -> None:
    """Copy the upper triangle of a square matrix to the lower one."""
    np.copyto(square, square.T, where=np.tri(len(square), k=-1, dtype=bool))


def _upper_gram(rows: sp.csr_array, columns: sp.csc_array, dtype: Any) -> np.ndarray:
    """The upper triangle of X X'; without the compiler all of it."""
    compiled, n = kernels(4.0 * n_products(columns)), rows.shape[0]
    if compiled is None:
        return (rows @ rows.T).toarray().astype(dtype, copy=False)
    # Position of each entry of X in its column; the rows from there on are not yet processed.
    first = np.empty(rows.nnz, dtype=columns.indptr.dtype)
    order = sp.csr_array((np.arange(rows.nnz), rows.indices, rows.indptr), shape=rows.shape)
    first[order.tocsc().data] = np.arange(rows.nnz)
    gram, threads = np.empty((n, n), dtype=dtype), n_threads()
    arrays = (rows.indptr, rows.indices, rows.data, first, columns.indptr, columns.indices, columns.data)
    # Early rows need more work, so rows are distributed evenly.
    shares = [np.arange(t, n, threads) for t in range(threads)]
    for_each(lambda some: compiled.sparse_gram(some, some, *arrays, gram), shares, np.inf)
    return gram


# -------------------------------------------------------------------- chosen pairs


def row_products(X: Rows, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """x_i'x_j of pairs of rows."""
    products = np.empty(len(i))
    if is_sparse(X):
        work = 2.0 * len(i) * X.nnz / max(X.shape[0], 1)
        compiled = kernels(work)

        def multiply(part: slice) -> None:
            if compiled is None:
                products[part] = X[i[part]].multiply(X[j[part]]).sum(axis=1)
            else:
                arrays = X.indptr, X.indices, X.data, i[part], j[part], np.zeros(X.shape[1])
                compiled.sparse_pair_products(*arrays, products[part])

        for_each(multiply, _shares(len(i), work, compiled), work if compiled else 0.0)
        return products
    for part in batches(len(i), max(1, 2**20 // max(X.shape[1], 1))):
        products[part] = (np.asarray(X[i[part]], dtype=np.float64) * X[j[part]]).sum(axis=1)
    return products


def _shares(length: int, work: float, compiled: Any) -> list[slice]:
    """Spans of pairs: small ones without the compiler, else four for each thread."""
    if compiled is None:
        return batches(length, _PAIRS_AT_ONCE)
    return [slice(*ends) for ends in itertools.pairwise(np.linspace(0, length, 4 * n_threads(work) + 1).astype(int))]


def squares_by_group(
    X: sp.csr_array, i: np.ndarray, j: np.ndarray, group: np.ndarray | None = None, n_groups: int = 1
) -> np.ndarray:
    """‖x_i - x_j‖² of pairs of sparse rows in each group of columns; by default all columns are one group."""
    group = np.zeros(X.shape[1], dtype=np.intp) if group is None else group
    squared, work = np.zeros((len(i), n_groups)), 4.0 * len(i) * X.nnz / max(X.shape[0], 1)
    compiled = kernels(work)
    of_group = sp.csr_array((np.ones(len(group)), group, np.arange(len(group) + 1)), shape=(len(group), n_groups))

    def add(part: slice) -> None:
        if compiled is None:
            difference = X[i[part]] - X[j[part]]
            squared[part] = (difference.multiply(difference) @ of_group).toarray()
        else:
            arrays = X.indptr, X.indices, X.data, group, i[part], j[part], np.zeros(X.shape[1])
            compiled.sparse_pair_squares(*arrays, squared[part])

    for_each(add, _shares(len(i), work, compiled), work if compiled else 0.0)
    return squared


def add_squared_differences(
    piece: np.ndarray, i: np.ndarray, j: np.ndarray, squared: np.ndarray, compiled: Any = None
) -> None:
    """Add ‖p_i - p_j‖² of pairs of rows of a piece of columns, in double precision."""
    width = piece.shape[1]
    if compiled is not None:
        F = as_block(piece)

        def add(ends: tuple[int, int]) -> None:
            part = slice(*ends)
            compiled.pair_squared_distances(F, width, i[part], j[part], squared[part])

        for_each(add, itertools.pairwise(np.linspace(0, len(i), n_threads() + 1).astype(int)), float(len(i)) * width)
        return
    for part in batches(len(i), max(1, _IN_CACHE // max(width, 1))):
        difference = piece[i[part]].astype(np.float64)
        difference -= piece[j[part]]
        squared[part] += np.einsum("ij,ij->i", difference, difference)


# -------------------------------------------------------------------- values


def is_integer(X: Part) -> bool:
    """Whether all values are whole numbers."""
    values = X.data if is_sparse(X) else X
    if values.dtype.kind in "iub":
        return True
    # The first row nearly always decides; the others are checked in pieces.
    parts = batches(len(values), max(1, _IN_CACHE // max(int(np.prod(values.shape[1:])), 1)))
    return all(bool((values[part] == np.floor(values[part])).all()) for part in (slice(1), *parts))


def check_range(X: Matrix, columns: np.ndarray) -> None:
    """Raise an error if one of some columns has values whose squares overflow; a source is not read again."""
    for part in batches(0 if isinstance(X, Source) else len(columns), _CHECKED):
        largest = np.abs(dense(take_columns(X, columns[part]))).max(axis=0, initial=0.0)
        if largest.max() > _TOO_LARGE:
            j = int(np.argmax(largest))
            raise ValueError(
                f"X holds values as large as {largest[j]:.3g} in column {columns[part][j]}, whose squares overflow; "
                "divide that column by its largest value, for example with sklearn.preprocessing.MaxAbsScaler."
            )


def centred_pieces(slab: np.ndarray, centred: bool = True) -> Iterator[np.ndarray]:
    """A slab in float64, a few columns at a time, because the stored type may need less memory; centred if asked."""
    for part in batches(slab.shape[1], max(1, budget() // (2 * max(slab.shape[0], 1)))):
        piece = np.array(slab[:, part], dtype=np.float64, order="C")
        if centred:
            piece -= piece.mean(axis=0)
        yield piece


def scaled_rows(slab: sp.csr_array | sp.csc_array, scale: np.ndarray) -> sp.csr_array:
    """A sparse slab by rows, in float64, each row multiplied by a number."""
    X = as_csr(slab)
    return sp.csr_array((X.data * np.repeat(scale, np.diff(X.indptr)), X.indices, X.indptr), shape=X.shape)
