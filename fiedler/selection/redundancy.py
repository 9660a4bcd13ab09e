"""Removal of near-duplicates: features in the order of a ranking, without those that correlate with a better one.

    keep j unless |r(j, i)| > limit for an i kept before it

For features of several columns, such as categories, r is the RV coefficient's root: with C_G the centred columns of a
feature, ‖C_i'C_j‖ / √(‖C_i'C_i‖ ‖C_j'C_j‖) in the Frobenius norm. It equals |r| for single columns.

Correlations are computed between the kept features and the next features in the order, some hundred at a time. No m x m
matrix is formed, and the computation stops when enough features are kept.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..data.arrays import Matrix, take_columns
from ..data.columns import Groups
from ..data.memory import working_bytes
from ..engine.moments import shifted, sparse_moments
from ..errors import ParameterError
from ..problem import Problem
from ..sets.centred import Centre
from ..validation import is_sparse

LIMIT = 0.7  # limit of |r| for redundancy=True
_AT_ONCE = 256  # number of columns that are compared at a time


def limit_of(redundancy: Any, parameter: str = "redundancy") -> float | None:
    """The limit of |r| that a parameter states; True means 0.7, and None and False mean no limit."""
    if redundancy is None or redundancy is False:
        return None
    if redundancy is True:
        return LIMIT
    if not isinstance(redundancy, (float, np.floating)) or not 0 < redundancy <= 1:
        message = f"{parameter} must be True, None or a limit of |r| in (0, 1], got {redundancy!r}."
        raise ParameterError(message, parameter=parameter, value=redundancy)
    return float(redundancy)


class Pruned(NamedTuple):
    """An order whose first features are not near-duplicates of each other.

    Attributes
    ----------
    order : ndarray of shape (m,)
        Kept features, followed by all others in the order of the ranking.
    stands_for : ndarray of shape (m,)
        For a skipped feature the kept feature with the largest |r|; -1 for all other features.
    n_kept : int
    """

    order: np.ndarray
    stands_for: np.ndarray
    n_kept: int


def prune(
    order: np.ndarray,
    X: Matrix,
    limit: float,
    n_features: int,
    n_scored: int | None = None,
    groups: Groups | None = None,
    n_fixed: int = 0,
) -> Pruned:
    """Keep the first n_features of an order that are not near-duplicates; only the first n_scored are considered.

    The first n_fixed are kept in any case.
    """
    last = len(order) if n_scored is None else n_scored
    stands_for, kept = np.full(len(order), -1, dtype=np.intp), list[int]()
    held = _Held(X) if groups is None else _HeldGroups(X, groups)
    for start in range(0, last, _AT_ONCE):
        columns = order[start : min(start + _AT_ONCE, last)]
        block = held.unit_columns(columns)
        r, who = held.most_like(block)
        above = np.abs(r)
        among = np.abs(held.correlations(block, block))
        new = list[int]()
        for place, column in enumerate(columns.tolist()):
            best = float(among[new, place].max(initial=0.0))
            if max(best, above[place]) > limit and start + place >= n_fixed:
                nearest = new[int(np.argmax(among[new, place]))] if best > above[place] else -1
                stands_for[column] = kept[who[place]] if nearest < 0 else columns[nearest]
                continue
            new.append(place)
            if len(kept) + len(new) == n_features:
                break
        kept += columns[new].tolist()
        held.add(columns[new], held.part(block, new))
        if len(kept) == n_features:
            break
    chosen = np.zeros(len(order), dtype=bool)
    chosen[kept] = True
    return Pruned(np.concatenate([np.array(kept, dtype=np.intp), order[~chosen[order]]]), stands_for, len(kept))


def feature_likeness(problem: Problem, features: np.ndarray) -> np.ndarray:
    """The root of the RV coefficient between all pairs of some features; |r| for single columns."""
    assert problem.groups is not None
    held = _HeldGroups(problem.X, problem.groups)
    block = held.unit_columns(features)
    return np.clip(held.correlations(block, block), 0.0, 1.0)


def resemblance(problem: Problem, chosen: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each of some features the chosen feature with the largest |r|, and this r; -1 and NaN if there is none.

    Parameters
    ----------
    problem : Problem
        X and its features.
    chosen, others : ndarray of int
        Numbers of features.
    """
    nearest, r = np.full(len(others), -1, dtype=np.intp), np.full(len(others), np.nan)
    held = _Held(problem.X) if problem.groups is None else _HeldGroups(problem.X, problem.groups)
    for start in range(0, len(chosen), _AT_ONCE):
        part = chosen[start : start + _AT_ONCE]
        held.add(part, held.unit_columns(part))
    for start in range(0, len(others) if len(chosen) else 0, _AT_ONCE):
        here = slice(start, start + _AT_ONCE)
        value, who = held.most_like(held.unit_columns(others[here]))
        alike = value != 0.0  # a constant column resembles none
        nearest[here], r[here] = np.where(alike, chosen[who], -1), np.where(alike, value, np.nan)
    return nearest, np.clip(r, -1.0, 1.0)


class _Held:
    """The kept columns at unit length; columns that do not fit into memory are read again."""

    def __init__(self, X: Matrix):
        self.X, self._ones = X, np.ones(X.shape[0])
        self._centre = Centre(self._ones)
        self._blocks: list[Any] = []
        self._numbers: list[np.ndarray] = []
        self._bytes = 0.0

    def unit_columns(self, columns: np.ndarray) -> Any:
        """Centred columns at unit length; sparse columns stay sparse, with an additional last row for the mean."""
        block = take_columns(self.X, columns)
        if not is_sparse(block):
            C = self._centre(block)
            length = np.linalg.norm(C, axis=0)
            return C / np.where(length > 0, length, 1.0)
        block = shifted(block, self._ones)
        mean, squares = sparse_moments(block, self._ones)
        scale = np.divide(1.0, np.sqrt(squares), out=np.zeros_like(squares), where=squares > 0)
        stored = sp.csc_array(block.multiply(scale))
        return sp.csc_array(sp.vstack([stored, sp.csr_array((mean * scale * np.sqrt(block.shape[0]))[None])]))

    def correlations(self, A: Any, B: Any) -> np.ndarray:
        """The r between the features of two blocks."""
        return _products(A, B)

    def part(self, block: Any, places: list[int]) -> Any:
        """Some features of a block."""
        return block[:, places]

    def width(self, block: Any) -> int:
        """Number of features of a block."""
        return block.shape[1]

    def size(self, block: Any) -> float:
        """Bytes of a block."""
        return block.data.nbytes * 1.5 if is_sparse(block) else block.nbytes

    def add(self, columns: np.ndarray, block: Any) -> None:
        size = self.size(block)
        fits = self._bytes + size <= working_bytes() / 2
        self._bytes += size if fits else 0.0
        self._blocks.append(block if fits else None)
        self._numbers.append(columns)

    def most_like(self, block: Any) -> tuple[np.ndarray, np.ndarray]:
        """The r of each feature with the kept feature of the largest |r|, and the number of this kept feature."""
        width = self.width(block)
        most, who, before = np.zeros(width), np.zeros(width, dtype=np.intp), 0
        for kept, numbers in zip(self._blocks, self._numbers, strict=True):
            if len(numbers):
                r = self.correlations(self.unit_columns(numbers) if kept is None else kept, block)
                here = np.argmax(np.abs(r), axis=0)
                value = r[here, np.arange(r.shape[1])]
                closer = np.abs(value) > np.abs(most)
                who, most = np.where(closer, before + here, who), np.where(closer, value, most)
            before += len(numbers)
        return most, who


class _HeldGroups(_Held):
    """As :class:`_Held` for features of several columns; a block is a list of the columns of each feature."""

    def __init__(self, X: Matrix, groups: Groups):
        super().__init__(X)
        self._groups = groups

    def unit_columns(self, columns: np.ndarray) -> Any:
        """The centred columns of each feature, scaled so that ‖C'C‖ = 1."""
        found = []
        for feature in columns.tolist():
            inside = self._groups.columns(feature)
            C = self._centre(take_columns(self.X, inside)) if len(inside) else np.zeros((len(self._ones), 1))
            length = np.sqrt(np.linalg.norm(C.T @ C))
            found.append(C / (length if length > 0 else 1.0))
        return found

    def correlations(self, A: list[np.ndarray], B: list[np.ndarray]) -> np.ndarray:
        rows, columns = np.hstack(A), np.hstack(B)
        starts = [np.cumsum([0, *(C.shape[1] for C in part)])[:-1] for part in (A, B)]
        squares = (rows.T @ columns) ** 2
        return np.sqrt(np.add.reduceat(np.add.reduceat(squares, starts[0], axis=0), starts[1], axis=1))

    def part(self, block: list[np.ndarray], places: list[int]) -> list[np.ndarray]:
        return [block[place] for place in places]

    def width(self, block: list[np.ndarray]) -> int:
        return len(block)

    def size(self, block: list[np.ndarray]) -> float:
        return float(sum(C.nbytes for C in block))


def _products(A: Any, B: Any) -> np.ndarray:
    """A'B of unit columns; the last row of sparse columns is subtracted."""
    if not is_sparse(A):
        return A.T @ B
    last = A[[-1]].toarray()[0], B[[-1]].toarray()[0]
    return (A.T @ B).toarray() - 2.0 * np.outer(*last)
