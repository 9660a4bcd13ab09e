"""Which features are more than noise: every column tested on a graph that has not read it, and q-values of the tests.

Graphs of labels, targets, pairs and graphs that are given are taken as they are. A graph of X is cross-fitted: features
are dealt into folds, and each fold is tested on the graph of the others.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..criteria import Criterion
from ..data.arrays import Block, Matrix
from ..data.source import Source
from ..engine.blocks import level_copies, map_columns
from ..engine.distances import check_range
from ..problem import Problem
from ..validation import check_choice, check_integer
from .cautions import warn_of_heavy_tails, warn_of_order, warn_of_rare_values, warn_of_sizes, warn_of_structure
from .crossfit import CrossFit, InMemory, reads_features
from .nulls import Builder, Test, null_of
from .significance import Verdict

_VALUES = len(Verdict._fields)  # per feature


class Tested(NamedTuple):
    """p-values, q-values, z and effect per feature, and how the tests were made; see fiedler.evaluate.Significance."""

    pvalues: np.ndarray
    qvalues: np.ndarray
    z: np.ndarray
    effect: np.ndarray
    n_folds: int | None
    n_repeats: int | None
    n_permutations: int | None


def discover(
    criterion: Criterion,
    problem: Problem,
    *,
    n_folds: int = 10,
    n_repeats: int = 5,
    groups: Any = None,
    correction: str = "bh",
    n_permutations: int | None = None,
    random_state: int = 0,
) -> Tested:
    """Is the score of a feature better than that of its own values in another order? As in evaluate.significance."""
    check_choice("correction", correction, ("bh", "by"))
    check_integer("random_state", random_state, 0)
    if n_permutations is not None:
        check_integer("n_permutations", n_permutations, 19)  # fewer cannot reach .05
    builder, orders = null_of(criterion, n_permutations)
    tested = criterion._tested()
    folds: tuple[int | None, int | None] = None, None
    if reads_features(tested):
        folds = _check_folds(n_folds), check_integer("n_repeats", n_repeats, 1)
        dealt = CrossFit(tested, _in_memory(criterion, problem.X), problem.supervision, groups, problem.given)
        found = _crossfitted(builder, dealt, *folds, random_state)
    else:
        test = builder(problem, random_state)
        found = Verdict(*map_columns(partial(_rows_of_verdict, test), problem.X))
        check_range(problem.X, np.flatnonzero(np.isnan(found.p)))
    p, z, effect = (level_copies(values, problem.X) for values in found[:3])
    q = adjusted(p, correction)
    warn_of_rare_values(found.rarer)
    warn_of_heavy_tails(found.skewness)
    if folds[0] is not None:
        warn_of_structure(q)
    return Tested(p, q, z, effect, *folds, orders)


def adjusted(p: np.ndarray, correction: str = "bh") -> np.ndarray:
    """q-values by Benjamini and Hochberg, or by Benjamini and Yekutieli; NaN stays NaN and is not counted.

    Examples
    --------
    >>> import numpy as np
    >>> from fiedler.selection.discovery import adjusted
    >>> adjusted(np.array([0.01, 0.5, np.nan, 0.02]))
    array([0.03, 0.5 ,  nan, 0.03])
    """
    order = np.argsort(p)[: np.count_nonzero(~np.isnan(p))]  # NaN sorts last
    m = len(order)
    rank = np.arange(1, m + 1)
    scaled = p[order] * m / rank * (np.sum(1.0 / rank) if correction == "by" else 1.0)
    q = np.full(len(p), np.nan)
    q[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return q


def _in_memory(criterion: Criterion, X: Matrix) -> InMemory:
    if isinstance(X, Source):
        raise ValueError(
            f"{criterion!r} builds its graph from X, which is then needed in memory for every fold, but {X.label} is "
            "read in blocks; load it first, or pass a graph as Precomputed(W)."
        )
    return X


def _check_folds(n_folds: Any) -> int:
    if n_folds == 1:
        raise ValueError(
            "n_folds=1 would test features on a graph they built themselves, on which noise looks real; use 2 or more."
        )
    return check_integer("n_folds", n_folds, 2)


def _crossfitted(builder: Builder, dealt: CrossFit, n_folds: int, n_repeats: int, random_state: int) -> Verdict:
    """The median over repeats of what each column's fold says about it."""
    found = np.empty((n_repeats, _VALUES, dealt.X.shape[1]))
    for repeat in range(n_repeats):
        seed = [random_state, repeat]
        for number, fold in enumerate(dealt.folds(n_folds, seed)):
            with warnings.catch_warnings():
                if repeat or number:  # what one graph warns of, the others do too
                    warnings.simplefilter("ignore", UserWarning)
                test = builder(fold.others, seed)
                found[repeat][:, fold.columns] = map_columns(partial(_rows_of_verdict, test), fold.X)
            if not (repeat or number):
                warn_of_sizes(dealt.X)
                warn_of_order(fold.others)
    check_range(dealt.X, np.flatnonzero(np.isnan(found[0, 0])))
    return Verdict(*np.median(found, axis=0))


def _rows_of_verdict(test: Test, F: Block) -> np.ndarray:
    return np.array(test(F))
