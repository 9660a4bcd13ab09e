"""A graph that is known only as sums over the rows, so that one pass over them is enough.

W = Z Λ⁻¹ Z' with D = I:   f'Lf = Σ_a S_a,   S: scatter of f inside the groups (anchors), weighted by Z
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .graph import Graph
from .spectrum import SmallSpectrum

SUMMED: Any = None  # stands for all columns of X after their values were summed; only SummedGraph accepts it


class Sums(NamedTuple):
    """Sums over a block of rows; two blocks are merged without loss of digits at any offset (Chan et al. 1979).

    Attributes
    ----------
    n : int
    sizes, gram : ndarray of shape (s,) and (s, s)
        Z'1 and Z'Z.
    mean : ndarray of shape (s, m)
        μ_a, relative to an origin common to all blocks.
    within, low, high : ndarray of shape (m,)
        Σ_a S_a, and the smallest and largest value.
    """

    n: int
    sizes: np.ndarray
    gram: np.ndarray
    mean: np.ndarray
    within: np.ndarray
    low: np.ndarray
    high: np.ndarray


def merge_sums(a: tuple, b: tuple) -> Sums:
    """The sums of both blocks together."""
    a, b = Sums(*a), Sums(*b)  # sums that were kept in a file come back as plain tuples
    sizes = a.sizes + b.sizes
    share, apart = b.sizes * inverse_sizes(sizes), b.mean - a.mean
    within = a.within + b.within + (a.sizes * share) @ apart**2
    mean = a.mean + share[:, None] * apart
    low, high = np.minimum(a.low, b.low), np.maximum(a.high, b.high)
    return Sums(a.n + b.n, sizes, a.gram + b.gram, mean, within, low, high)


class SummedGraph(Graph):
    """W = Z Λ^-1 Z' with D = I, held only as sums over the rows; columns are ``SUMMED``."""

    storage = "summed"

    def __init__(self, sums: Sums, origin: np.ndarray):
        shift = sums.sizes @ sums.mean / sums.n
        self._set(n_nodes=int(sums.n), volume=float(sums.n), bandwidth=None, recall=None, neighbors="anchors")
        self._set(_sums=sums, _origin=origin, _shift=shift)
        self._set(_between=np.sqrt(sums.sizes)[:, None] * (sums.mean - shift))

    _sums: Sums
    _origin: np.ndarray
    _shift: np.ndarray
    _between: np.ndarray

    def for_columns(self, n_columns: int) -> Graph:
        return self

    @property
    def cost(self) -> float:
        return 1.0

    @property
    def rows(self) -> np.ndarray:
        return np.ones(1, dtype=bool)  # one flag for all rows

    def energy(self, F: Any) -> np.ndarray:
        return self._sums.within

    def moments(self, F: Any) -> tuple[np.ndarray, np.ndarray]:
        between = np.einsum("ij,ij->j", self._between, self._between)
        return self._origin + self._shift, self._sums.within + between

    def within_and_between(self, F: Any) -> tuple[np.ndarray, np.ndarray]:
        return self._sums.within, self._between

    @property
    def constant(self) -> np.ndarray:
        return self._sums.low == self._sums.high

    @cached_property
    def small(self) -> SmallSpectrum:
        sizes = self._sums.sizes
        return SmallSpectrum(self._sums.gram, sizes, inverse_sizes(sizes), self.n_nodes)

    @property
    def n_components(self) -> int:
        return self.small.n_components


def inverse_sizes(sizes: np.ndarray) -> np.ndarray:
    """1 / s_a, and 0 for an anchor without rows."""
    return np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0)
