"""How a criterion scores blocks of columns, and how the columns of one feature are combined.

A feature that consists of several columns, such as a category, has one score. Its columns are not scored one by one:
values such as energy and mass are first added over the columns (:class:`Additive`), and the score is computed from the
sums. A quotient r = energy / mass of a group is closer to the value r₀ of noise than that of one column, because it
averages over several columns. It is moved back by the effective number p of its columns:

    r' = r₀ - √p (r₀ - r),    p = (tr G)² / tr G²,    G: centred Gram matrix of the columns of the feature

Introduced in this library.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..data.arrays import take_columns, take_rows
from ..engine.blocks import is_constant, map_columns
from ..problem import Problem


class Additive(NamedTuple):
    """A score from values that are added over the columns of a feature.

    Parameters
    ----------
    parts : callable
        A float64 block of columns and the slice of its columns -> ``n_values`` rows of values.
    finish : callable
        The sums of all features, of shape (n_values, n_features), and √p of the features -> scores. √p is None inside
        products and if no feature has several columns.
    n_values : int
        Number of values per column.
    """

    parts: Callable[[Any, slice], np.ndarray]
    finish: Callable[[np.ndarray, np.ndarray | None], np.ndarray]
    n_values: int


class Scorer(NamedTuple):
    """How a criterion scores the columns of one problem.

    Parameters
    ----------
    rows : ndarray of bool, shape (n_samples,)
        The rows that the score reads; a feature that is constant on these rows has no score.
    score : callable
        A float64 block of columns -> one score per column, or ``n_values`` rows of values.
    cost : float, default=1.0
        Approximate number of operations per value of X; it decides whether threads are used.
    n_values : int, default=1
        Number of values per column that ``score`` returns.
    settle : callable, optional
        The values of all columns, of shape (n_values, n_features) -> a function from values to scores. It is for scores
        that compare a feature with the other features.
    numbered : callable, optional
        As ``score``, but with a block and the slice of its columns as arguments. It is for scores that look up
        stored values of these columns.
    additive : Additive, optional
        The form of the score for features of several columns, and for columns with missing values.
    """

    rows: np.ndarray
    score: Callable[[Any], np.ndarray]
    cost: float = 1.0
    n_values: int = 1
    settle: Callable[[np.ndarray], Callable[[np.ndarray], np.ndarray]] | None = None
    numbered: Callable[[Any, slice], np.ndarray] | None = None
    additive: Additive | None = None

    def values(self, F: Any, columns: slice | None = None) -> np.ndarray:
        """The values of a block, NaN for constant columns.

        Parameters
        ----------
        F : ndarray or csc_array
            A float64 block of columns.
        columns : slice, optional
            The columns of X in the block.

        Returns
        -------
        values : ndarray of shape (b,) or (n_values, b)
            The result of ``score`` or ``numbered``.
        """
        numbered = self.numbered is not None and columns is not None
        found = self.numbered(F, columns) if numbered else self.score(F)  # type: ignore[misc, arg-type]
        return np.where(is_constant(F, self.rows), np.nan, found)

    def scores(self, values: np.ndarray) -> np.ndarray:
        """One score per column from the values of all columns.

        Parameters
        ----------
        values : ndarray of shape (n_features,) or (n_values, n_features)
            The values of all columns.

        Returns
        -------
        scores : ndarray of shape (n_features,)
            The values, or the result of ``settle`` for them.
        """
        return values if self.settle is None else self.settle(values)(values)

    def settled(self, X: Any) -> Scorer:
        """A scorer for any columns, which compares each of them with the columns of X.

        Parameters
        ----------
        X : ndarray, csc_array or Source
            All columns.

        Returns
        -------
        scorer : Scorer
            A scorer whose ``score`` returns one score per column.
        """
        if self.settle is None:
            return self
        finish = self.settle(map_columns(self.values, X, self.cost))
        return Scorer(self.rows, lambda F: finish(self.score(F)), self.cost)

    def as_additive(self) -> Additive:
        """The additive form; for a score without one, a form that is right for features of one column.

        Returns
        -------
        additive : Additive
            The additive form.
        """
        if self.additive is not None:
            return self.additive
        at = self.numbered

        def parts(F: Any, columns: slice) -> np.ndarray:
            return np.atleast_2d(self.score(F) if at is None else at(F, columns))

        def finish(values: np.ndarray, root: np.ndarray | None) -> np.ndarray:
            return values[0] if self.settle is None else self.settle(values)(values)

        return Additive(parts, finish, self.n_values)

    def feature_scores(self, problem: Problem) -> np.ndarray:
        """Scores of features of several columns, or of columns with missing values.

        Parameters
        ----------
        problem : Problem
            A problem with groups or with missing values.

        Returns
        -------
        scores : ndarray of shape (n_features,)
            One score per feature; NaN if all its columns are constant.
        """
        form = self.as_additive()

        def values(F: Any, columns: slice) -> np.ndarray:
            varies = ~is_constant(F, self.rows)
            return np.vstack([np.where(varies, form.parts(F, columns), 0.0), varies])

        sums, root = map_columns(values, problem.X, self.cost, numbered=True), None
        if problem.groups is not None:
            sums, root = problem.groups.sum(sums), np.sqrt(effective_columns(problem, self.rows))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.where(sums[-1] > 0.0, form.finish(sums[:-1], root), np.nan)


def effective_columns(problem: Problem, rows: np.ndarray) -> np.ndarray:
    """The effective number p = (tr G)² / tr G² of columns of every feature, on some rows; 1 for a single column."""
    groups, sizes = problem.groups, np.ones(problem.n_features)
    assert groups is not None
    for feature in np.flatnonzero(groups.sizes > 1):
        F = take_columns(problem.X, groups.columns(int(feature)))
        C = take_rows(F, rows)
        C = C - C[0]
        C -= C.mean(axis=0)
        G = C.T @ C if C.shape[1] <= C.shape[0] else C @ C.T
        squares = float(np.sum(G * G))
        sizes[feature] = float(np.trace(G)) ** 2 / squares if squares > 0.0 else 1.0
    return sizes
