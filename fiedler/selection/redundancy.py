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

from ..data.arrays import Matrix, take_columns, without_units
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
    held = _Held(X, groups)
    for start in range(0, last, _AT_ONCE):
        columns = order[start : min(start + _AT_ONCE, last)]
        block = held.unit(columns)
        r, who = held.most_like(block)
        above = np.abs(r)
        among = np.abs(block.correlations(block))
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
        held.add(columns[new], block.part(new))
        if len(kept) == n_features:
            break
    chosen = np.zeros(len(order), dtype=bool)
    chosen[kept] = True
    return Pruned(np.concatenate([np.array(kept, dtype=np.intp), order[~chosen[order]]]), stands_for, len(kept))


def feature_likeness(problem: Problem, features: np.ndarray) -> np.ndarray:
    """The root of the RV coefficient between all pairs of some features; |r| for single columns."""
    assert problem.groups is not None
    block = _Held(problem.X, problem.groups).unit(features)
    return np.clip(block.correlations(block), 0.0, 1.0)


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
    held = _Held(problem.X, problem.groups)
    for start in range(0, len(chosen), _AT_ONCE):
        part = chosen[start : start + _AT_ONCE]
        held.add(part, held.unit(part))
    for start in range(0, len(others) if len(chosen) else 0, _AT_ONCE):
        here = slice(start, start + _AT_ONCE)
        value, who = held.most_like(held.unit(others[here]))
        alike = value != 0.0  # a constant column resembles none
        nearest[here], r[here] = np.where(alike, chosen[who], -1), np.where(alike, value, np.nan)
    return nearest, np.clip(r, -1.0, 1.0)


class _Unit(NamedTuple):
    """Centred columns of some features, each feature of length 1; sparse columns have a last row for the mean."""

    values: Any
    starts: np.ndarray | None = None  # the first column of each feature, if features have several columns

    @property
    def width(self) -> int:
        """Number of features."""
        return self.values.shape[1] if self.starts is None else len(self.starts)

    def part(self, places: list[int]) -> _Unit:
        """Some of the features."""
        if self.starts is None:
            return _Unit(self.values[:, places])
        spans = np.split(np.arange(self.values.shape[1]), self.starts[1:])
        kept = [spans[place] for place in places]
        columns = np.concatenate([np.empty(0, dtype=np.intp), *kept])
        return _Unit(self.values[:, columns], np.cumsum([0, *map(len, kept)])[:-1])

    def correlations(self, other: _Unit) -> np.ndarray:
        """The r between these features and others; for features of several columns the root of the RV coefficient."""
        A, B = self.values, other.values
        if is_sparse(A):
            return (A.T @ B).toarray() - 2.0 * np.outer(A[[-1]].toarray()[0], B[[-1]].toarray()[0])
        if self.starts is None or other.starts is None:
            return A.T @ B
        squares = (A.T @ B) ** 2
        return np.sqrt(np.add.reduceat(np.add.reduceat(squares, self.starts, axis=0), other.starts, axis=1))


class _Held:
    """The kept features at unit length; those that do not fit into memory are read again."""

    def __init__(self, X: Matrix, groups: Groups | None = None):
        self.X, self._groups, self._ones = X, groups, np.ones(X.shape[0])
        self._centre = Centre(self._ones)
        self._blocks: list[tuple[np.ndarray, _Unit | None]] = []
        self._bytes = 0.0

    def unit(self, features: np.ndarray) -> _Unit:
        """Some features at unit length."""
        if self._groups is not None:
            found = []
            for inside in map(self._groups.columns, features.tolist()):
                C = self._centre(take_columns(self.X, inside)) if len(inside) else np.zeros((len(self._ones), 1))
                C = without_units(C, None)
                found.append(C / (np.sqrt(np.linalg.norm(C.T @ C)) or 1.0))
            return _Unit(np.hstack(found), np.cumsum([0, *(C.shape[1] for C in found)])[:-1])
        block = take_columns(self.X, features)
        if not is_sparse(block):
            C = without_units(self._centre(block))
            length = np.linalg.norm(C, axis=0)
            return _Unit(C / np.where(length > 0, length, 1.0))
        block = shifted(block, self._ones)
        mean, squares = sparse_moments(block, self._ones)
        scale = np.divide(1.0, np.sqrt(squares), out=np.zeros_like(squares), where=squares > 0)
        last = sp.csr_array((mean * scale * np.sqrt(block.shape[0]))[None])
        return _Unit(sp.csc_array(sp.vstack([sp.csc_array(block.multiply(scale)), last])))

    def add(self, features: np.ndarray, block: _Unit) -> None:
        size = block.values.data.nbytes * 1.5 if is_sparse(block.values) else block.values.nbytes
        fits = self._bytes + size <= working_bytes() / 2
        self._bytes += size if fits else 0.0
        self._blocks.append((features, block if fits else None))

    def most_like(self, block: _Unit) -> tuple[np.ndarray, np.ndarray]:
        """The r of each feature with the kept feature of the largest |r|, and the number of this kept feature."""
        most, who, before = np.zeros(block.width), np.zeros(block.width, dtype=np.intp), 0
        for features, kept in self._blocks:
            if len(features):
                r = (self.unit(features) if kept is None else kept).correlations(block)
                here = np.argmax(np.abs(r), axis=0)
                value = r[here, np.arange(r.shape[1])]
                closer = np.abs(value) > np.abs(most)
                who, most = np.where(closer, before + here, who), np.where(closer, value, most)
            before += len(features)
        return most, who
