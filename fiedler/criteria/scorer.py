"""How a criterion scores the features of a problem: numbers per column, and a function that turns them into scores.

    parts(F, columns) -> a few numbers per column, such as energy and mass;   finish -> one score per feature

A feature that consists of several columns, such as a category, has one score. Its columns are not scored one by one:
their numbers are added, and ``finish`` gets the sums. A single column is a group of one. A quotient r = energy / mass
of a group is closer to the value r₀ of noise than that of one column, because it averages over several columns. It is
moved back by the effective number p of its columns:

    r' = r₀ - √p (r₀ - r),    p = (tr G)² / tr G²,    G: centred Gram matrix of the columns of the feature

Introduced in this library.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..data.arrays import Block, take_columns, take_rows
from ..engine.blocks import is_constant, level_copies, map_columns
from ..engine.products import check_range
from ..problem import Problem


class Features(NamedTuple):
    """All features of a problem, which ``finish`` may compare a feature with.

    Attributes
    ----------
    values : ndarray of shape (n, n_features)
        The numbers of all features; NaN for constant ones.
    root : ndarray of shape (n_features,) or None
        √p of the features; None if no feature has several columns, and inside products.
    """

    values: np.ndarray
    root: np.ndarray | None = None

    def only(self, rows: slice) -> Features:
        """The same with some of the numbers."""
        return Features(self.values[rows], self.root)


def first(values: np.ndarray, among: Features) -> np.ndarray:
    """The first number of every feature is its score."""
    return values[0]


class Scorer(NamedTuple):
    """How a criterion scores the columns of one problem.

    Parameters
    ----------
    rows : ndarray of bool, shape (n_samples,)
        The rows that the score reads; a feature that is constant on these rows has no score.
    parts : callable
        A float64 block of columns, and the slice of its columns in X (None if they are not columns of X) -> ``n``
        numbers per column, which are added over the columns of a feature.
    finish : callable, optional
        The numbers of some features, and :class:`Features` -> scores. By default the first number is the score.
    cost : float, default=1.0
        Approximate number of operations per value of X; it decides whether threads are used.
    n : int, default=1
        How many numbers ``parts`` gives.
    compares : bool, default=False
        Whether ``finish`` compares a feature with the other features.
    informative : bool, default=True
        Whether the scores can differ; an uninformative factor of a set criterion is left out.
    ties : callable, optional
        The numbers of all features -> values that order features with infinite scores, in the direction of the scores.
    """

    rows: np.ndarray
    parts: Callable[[Any, Any], np.ndarray]
    finish: Callable[[np.ndarray, Features], np.ndarray] = first
    cost: float = 1.0
    n: int = 1
    compares: bool = False
    informative: bool = True
    ties: Callable[[np.ndarray], np.ndarray] | None = None

    def values(self, F: Block, columns: slice | None = None) -> np.ndarray:
        """The numbers of a block of columns; NaN for constant columns.

        Parameters
        ----------
        F : ndarray or csc_array
            A float64 block of columns.
        columns : slice, optional
            The columns of X in the block.

        Returns
        -------
        values : ndarray of shape (n, b)
            The result of ``parts``.
        """
        return np.where(is_constant(F, self.rows), np.nan, np.atleast_2d(self.parts(F, columns)))

    def of_features(self, problem: Problem) -> Features:
        """The numbers of all features of a problem.

        Parameters
        ----------
        problem : Problem
            X and its features.

        Returns
        -------
        features : Features
            Sums over the columns of every feature; NaN if all of them are constant.
        """
        groups = problem.groups
        if groups is None:
            return Features(map_columns(self.values, problem.X, self.cost, numbered=True))

        def counted(F: Block, columns: slice) -> np.ndarray:
            varies = ~is_constant(F, self.rows)
            return np.vstack([np.where(varies, self.parts(F, columns), 0.0), varies])

        sums = groups.sum(map_columns(counted, problem.X, self.cost, numbered=True))
        values = np.where(sums[-1] > 0.0, sums[:-1], np.nan)
        return Features(values, np.sqrt(effective_columns(problem, self.rows)))

    def scored(self, problem: Problem) -> tuple[np.ndarray, np.ndarray | None]:
        """The scores of all features, and values that order those with infinite scores.

        Parameters
        ----------
        problem : Problem
            X and its features.

        Returns
        -------
        scores : ndarray of shape (n_features,)
            The scores; equal for identical columns.
        ties : ndarray of shape (n_features,) or None
            The result of ``ties``.
        """
        every = self.of_features(problem)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            scores = self.finish(every.values, every)
        if problem.groups is None:
            if problem.known is None:
                check_range(problem.X, np.flatnonzero(~np.isfinite(scores)))
            scores = level_copies(scores, problem.X)
        return scores, None if self.ties is None else self.ties(every.values)

    def of_columns(self, X: Any) -> Callable[[Block], np.ndarray]:
        """A function that scores any block of columns, comparing them with the columns of X.

        Parameters
        ----------
        X : ndarray, csc_array or Source
            All columns.

        Returns
        -------
        score : callable
            A block of columns -> one score per column.
        """
        every = Features(map_columns(self.values, X, self.cost) if self.compares else np.empty((self.n, 0)))
        return lambda F: self.finish(np.atleast_2d(self.parts(F, None)), every)


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


def per_feature(problem: Problem, values: np.ndarray) -> np.ndarray:
    """Values of the columns as values of the features: the mean over their columns."""
    return values if problem.groups is None else problem.groups.mean(values)
