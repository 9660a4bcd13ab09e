"""Cross-fitting over features: a feature is tested on a graph that was built from other features.

    columns -> folds;   the graph of a fold = the recipe on all columns but those of the fold

A graph that was built from a feature is biased towards it: on pure noise nearly every feature looks smooth. Columns
with the same content, which are duplicates and the groups of the caller, are put into the same fold, because one of
them in the graph would have the same effect.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ..engine.blocks import column_hashes, first_of_equal
from ..engine.distances import without_folds
from ..graphs import KNN, Recipe
from ..problem import Problem
from ..validation import is_sparse

InMemory: TypeAlias = np.ndarray | sp.csc_array


class Fold(NamedTuple):
    """Numbers and values of the columns of a fold, and the problem of all other columns."""

    columns: np.ndarray
    X: InMemory
    others: Problem


class CrossFit:
    """Splits the columns of X into folds.

    Parameters
    ----------
    recipes : list of Recipe
        The graphs that are built for every fold.
    problem : Problem
        Its X is in memory. Its distances between rows are shared by the folds, and stay with it.
    groups : array-like of shape (n_features,), optional
        Labels of columns that must share a fold; identical columns always do.
    """

    def __init__(self, recipes: Sequence[Recipe], problem: Problem, groups: Any = None):
        X: InMemory = problem.undivided.X  # type: ignore[assignment]  # sources are refused before
        self.X, self._together = X, columns_together(X, groups)
        self._known, self._given, self._blocks = problem.supervision, problem.given, problem.blocks
        if self._together.min() == self._together.max():
            raise ValueError(
                f"all {X.shape[1]} column(s) of X are identical or in one of groups, so no others are left to build a "
                "graph from; use smaller groups, or pass a graph as Precomputed(W)."
            )
        searched = problem.blocks is None and any(
            isinstance(part, KNN) and part.metric == "euclidean" and part.n_components is None
            for r in recipes
            for part in r.walk()
        )
        self._distances = problem.distances() if searched else None

    def folds(self, n_folds: int, seed: Any) -> Iterator[Fold]:
        """The folds of one random split, one after the other."""
        dealt = deal(self._together, n_folds, np.random.default_rng(seed))
        without = None if self._distances is None else without_folds(self._distances, dealt)
        for number, columns in enumerate(dealt):
            left = np.ones(self.X.shape[1], dtype=bool)
            left[columns] = False
            rest = _some(self.X, np.flatnonzero(left))
            distances = None if without is None else without(number, rest)
            others = Problem(rest, self._known, distances=distances, given=self._given).divided(self._blocks)
            yield Fold(columns, _some(self.X, columns), others)


def _some(X: InMemory, columns: np.ndarray) -> InMemory:
    """Some columns; dense ones in C order, which X[:, columns] would not give."""
    return X[:, columns] if is_sparse(X) else np.take(X, columns, axis=1)


def columns_together(X: InMemory, groups: Any = None) -> np.ndarray:
    """A number per column, equal for columns that must share a fold: identical columns and columns of one group."""
    m = X.shape[1]
    same = first_of_equal(column_hashes(X, np.arange(m)))[1]  # independent of the order of rows and of units
    if groups is None:
        return same
    groups = np.asarray(groups)
    if groups.shape != (m,):
        raise ValueError(f"groups has shape {groups.shape}, but X has {m} columns; give one label per column.")
    group = first_of_equal(groups)[1]
    linked = sp.coo_array((np.ones(m), (same, m + group)), shape=(2 * m, 2 * m))
    return first_of_equal(connected_components(linked, directed=False)[1][same])[1]


def deal(together: np.ndarray, n_folds: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Random folds of columns of about equal size; columns with the same number are in the same fold.

    Examples
    --------
    >>> import numpy as np
    >>> from fiedler.significance.crossfit import deal
    >>> deal(np.array([0, 1, 0, 2, 3]), 2, np.random.default_rng(0))
    [array([0, 2, 3]), array([1, 4])]
    """
    sizes = np.bincount(together)
    order = rng.permutation(np.flatnonzero(sizes))
    ends = np.cumsum(sizes[order])
    fold = np.zeros(len(sizes), dtype=np.intp)
    # A unit goes to the fold that contains its middle column, so that two units are never both in a single fold.
    fold[order] = (2 * ends - sizes[order]) * n_folds // (2 * len(together))
    of_column = fold[together]
    return [np.flatnonzero(of_column == k) for k in np.unique(of_column)]
