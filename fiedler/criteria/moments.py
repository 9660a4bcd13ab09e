"""Scores of single columns without a graph of X: Fisher score, correlation with a target, and variance.

Missing values are left out of these scores. The unexplained share of the variance is then corrected to the number of
rows of a complete column (:mod:`fiedler.criteria.missing`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.arrays import Block, take_rows, without_units
from ..engine.moments import sparse_moments
from ..graphs import ClassGraph
from ..problem import Problem
from ..validation import is_sparse
from .criterion import Criterion, Features, Scorer, Traits, per_feature
from .missing import fair_share, known_variance
from .nulls import NoTest, Quotient


class FisherScore(Criterion):
    """Fisher score Σ_l n_l (μ_l - μ)² / Σ_l n_l σ_l² ([KA] eq. 1, [FISHER]). Labelled rows, large is good.

    It equals 1/LS - 1, where LS is the Laplacian score on ClassGraph(). A feature that is constant inside every class
    scores inf; such features are ordered by the numerator.

    Examples
    --------
    >>> from fiedler import FisherScore
    >>> FisherScore().evaluate([[0.0, 1.0], [2.0, 1.0], [4.0, 3.0], [6.0, 3.0]], ["a", "a", "b", "b"])
    array([ 4., inf])
    """

    traits = Traits(greater_is_better=True, needs="classes", groups=True)

    def null(self) -> Quotient:
        return Quotient(ClassGraph())  # F = 1 / LS - 1 on that graph

    def scorer(self, problem: Problem) -> Scorer:
        graph, known = problem.graph(ClassGraph()), problem.known
        if known is None:
            finish: Any = lambda values, among: values[0] / values[1]  # noqa: E731

            def parts(F: Any, columns: Any) -> np.ndarray:
                """Scatter between and within the classes."""
                sizes, mean, scatter = graph.group_moments(F)
                overall = sizes @ mean / sizes.sum()
                return np.array([sizes @ (mean - overall) ** 2, scatter.sum(axis=0)])

        else:
            codes, names = problem.supervision.classes("FisherScore")
            rows, n_classes = codes >= 0, len(names)
            members = np.equal.outer(codes[rows], np.arange(n_classes)).astype(np.float64)
            n = per_feature(problem, known[rows].sum(axis=0).astype(np.float64))

            def parts(F: Any, columns: Any) -> np.ndarray:
                """The same over the known values of each column."""
                K = known[rows, columns]
                C, sizes = _known_centred(F[rows], K), members.T @ K
                means = members.T @ C / np.maximum(sizes, 1.0)
                within = np.where(K, C - members @ means, 0.0)
                return np.array([np.einsum("ij,ij->j", sizes, means**2), np.einsum("ij,ij->j", within, within)])

            def finish(values: np.ndarray, among: Features) -> np.ndarray:
                fisher = values[0] / values[1]
                unexplained = fair_share(1.0 / (1.0 + fisher), n, int(rows.sum()), n_classes)
                return np.where(n == rows.sum(), fisher, 1.0 / unexplained - 1.0)

        return Scorer(graph.rows, parts, finish, n=2, ties=lambda values: values[0])


class Correlation(Criterion):
    """Absolute Pearson correlation with a real target, on the rows where it is known. Large is good.

    Examples
    --------
    >>> from fiedler import Correlation
    >>> Correlation().evaluate([[0.0], [1.0], [2.0]], [3.0, 1.0, -1.0])
    array([1.])
    """

    traits = Traits(greater_is_better=True, needs="target", groups=True)

    def scorer(self, problem: Problem) -> Scorer:
        target = problem.supervision.target("Correlation")
        labelled = ~np.isnan(target)
        rows, y = np.flatnonzero(labelled), without_units(target[labelled] - target[labelled].mean())
        y /= np.linalg.norm(y) or np.nan

        def correlation(F: Any, columns: Any) -> np.ndarray:
            C = without_units(centred(take_rows(F, rows)))
            return np.minimum(np.abs(y @ C) / np.linalg.norm(C, axis=0), 1.0)

        if problem.groups is None and problem.known is None:
            return Scorer(labelled, correlation)
        measured = np.ones(problem.X.shape, dtype=bool) if problem.known is None else problem.known
        n = per_feature(problem, measured[rows].sum(axis=0).astype(np.float64))
        owner = np.arange(problem.n_features) if problem.groups is None else problem.groups.owner
        size = np.full(problem.n_features, -2000)  # a power of two per feature, so that no square overflows
        np.maximum.at(size, owner, np.frexp(np.ptp(np.asarray(problem.X), axis=0))[1])

        def parts(F: Any, columns: slice) -> np.ndarray:
            K = measured[rows, columns]
            here = np.where(K, y[:, None], 0.0)  # the target on the rows where the column is known
            here = np.where(K, here - here.sum(axis=0) / np.maximum(K.sum(axis=0), 1), 0.0)
            C = np.ldexp(_known_centred(F[rows], K), -size[owner[columns]])
            along = np.einsum("ij,ij->j", here, C) ** 2 / np.einsum("ij,ij->j", here, here)
            return np.array([np.nan_to_num(along), np.einsum("ij,ij->j", C, C)])

        def finish(values: np.ndarray, among: Features) -> np.ndarray:
            explained = np.minimum(values[0] / values[1], 1.0)
            fair = np.maximum(1.0 - fair_share(1.0 - explained, n, len(rows), 2), 0.0)
            return np.sqrt(np.where(n == len(rows), explained, fair))

        return Scorer(labelled, parts, finish, n=2)


class Variance(Criterion):
    """Variance (1/n) Σ_i (f_i - μ)² ([KA] eq. 2). Unsupervised, large is good.

    Examples
    --------
    >>> from fiedler import Variance
    >>> Variance().evaluate([[0.0, 7.0], [2.0, 7.0]])
    array([ 1., nan])
    """

    traits = Traits(greater_is_better=True, reads_scale=True, groups=True)

    def null(self) -> NoTest:
        why = "is the same for a feature's values in any order, so there is nothing to test; test LaplacianScore()"
        return NoTest(f"{why} instead.", in_formulas=False)

    def scorer(self, problem: Problem) -> Scorer:
        n, plain = problem.n_samples, problem.groups is None and problem.known is None
        ones = np.ones(n)

        def parts(F: Block, columns: Any) -> np.ndarray:
            if not plain:
                return known_variance(problem, np.asarray(F), columns, ones > 0)
            return sparse_moments(F, ones)[1] / n if is_sparse(F) else np.mean(centred(F) ** 2, axis=0)

        return Scorer(ones > 0, parts)


def _known_centred(F: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Columns minus the mean of their known values; 0 where a value is missing."""
    first = F[np.argmax(known, axis=0), np.arange(F.shape[1])]
    shifted = np.where(known, F - first, 0.0)
    return np.where(known, shifted - shifted.sum(axis=0) / np.maximum(known.sum(axis=0), 1), 0.0)


def centred(F: np.ndarray) -> np.ndarray:
    """Columns minus their means."""
    shifted = F - F[0]  # shifting by one sample keeps large offsets exact and constants exactly zero
    return shifted - shifted.mean(axis=0)
