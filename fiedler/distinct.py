"""The different values among many labels, so that work is done once per value instead of once per row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np


class Distinct:
    """The different values of some labels, and the rows in which they occur.

    Two values are the same if they are equal and of the same type. Values that cannot be hashed are all different.

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
        """Results for the different values, as an array with one entry per row."""
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
