"""The different values among many: what is decided once per value need not be decided once per row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np


class Distinct:
    """Labels of rows, each value once and where it occurs.

    Values are the same where they are equal and of one type. What cannot be hashed is told apart by its place.

    Parameters
    ----------
    cells : list
        One value per row.

    Examples
    --------
    >>> from fiedler.distinct import Distinct
    >>> seen = Distinct(["b", "a", None, "b"])
    >>> seen.values, seen.codes.tolist(), seen.where(lambda value: value is None).tolist()
    (['b', 'a', None], [0, 1, 2, 0], [False, False, True, False])
    """

    def __init__(self, cells: list):
        kinds = set(map(type, cells))
        keys: Iterable[Any] = (
            cells if len(kinds - {type(None)}) <= 1 else list(zip(map(type, cells), cells, strict=True))
        )
        try:
            place = {key: i for i, key in enumerate(dict.fromkeys(keys))}
            self.codes = np.fromiter(map(place.__getitem__, keys), dtype=np.intp, count=len(cells))
        except TypeError:
            self.values, self.codes = cells, np.arange(len(cells))
            return
        self.values = list(place) if keys is cells else [value for _, value in place]

    def where(self, holds: Callable[[Any], bool]) -> np.ndarray:
        """Mask of the rows whose value fulfils a condition."""
        return np.array([holds(value) for value in self.values], dtype=bool)[self.codes]

    def spread(self, results: Iterable[Any], dtype: Any = object) -> np.ndarray:
        """What was found for each value, as an array with one entry per row."""
        table = np.empty(len(self.values), dtype=dtype)
        table[:] = list(results)
        return table[self.codes]

    def ranked(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """``np.unique(values[rows], return_inverse=True)``, sorting the different values instead of all rows."""
        codes = self.codes[rows]
        present = np.unique(codes)
        values, rank = np.empty(len(present), dtype=object), np.empty(len(self.values), dtype=np.intp)
        values[:] = [self.values[code] for code in present]
        names, rank[present] = np.unique(values, return_inverse=True)
        return names, rank[codes]
