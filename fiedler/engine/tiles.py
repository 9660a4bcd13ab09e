"""Gram matrices in single precision by tiles of one triangle, from pieces of columns that are made one after the other.

Each tile is computed by one thread and summed over the pieces. BLAS would use its own threads, which keep spinning
after the product and slow down all following work. Only a few pieces are in memory at a time.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from ..data.work import counting
from .threads import for_each, n_threads

_TILE = 512  # rows and columns of a product that one thread makes at a time,
_HELD = 3 * 2**21  # and values of its factors held, so few that the allocator keeps their memory

MakePiece = Callable[[slice, np.ndarray], np.ndarray]


def gram_by_tiles(n: int, parts: list[slice], piece: MakePiece, start: np.ndarray | None = None) -> np.ndarray:
    """Σ P P' in float32 over the pieces P = ``piece(columns, room)`` of n rows, written into the memory ``room``.

    ``start`` is a matrix to which the sum is added in place. Only its upper triangle is read.
    """
    gram = np.zeros((n, n), dtype=np.float32) if start is None else start
    # Enough tiles for all threads, but small enough for their rows to stay in the cache.
    number = max(-(-n // _TILE), int(np.ceil(np.sqrt(8 * n_threads()))))
    bounds = np.linspace(0, n, number + 1).astype(int)
    spans = [slice(*ends) for ends in itertools.pairwise(bounds)]
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
                    np.copyto(total, total.T, where=np.tri(len(total), k=-1, dtype=bool))

            for_each(add, tiles, np.inf)
            count.reach(first + held)
    return gram
