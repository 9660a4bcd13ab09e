"""Screens: columns of noise are dropped first, and graph, target and candidates come from the columns that are kept.

    "agreement"  keeps the columns that agree with others (:mod:`fiedler.engine.agreement`)
    "fdr"        keeps the columns that are significant at a false discovery rate (:mod:`fiedler.significance`)

Where a screen finds nothing to keep, it keeps every column, and the choice is that without a screen.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from ..criteria import Criterion
from ..errors import ParameterWarning
from ..problem import Problem
from ..significance.agreement import agreement_of
from ..significance.testing import discover
from ..validation import check_choice, check_share

SCREENS = ("agreement", "fdr")
ALPHA, ALPHA_OF_SETS = 0.1, 0.01  # greedy sets seek out the noise that a level of 0.1 tolerates


def level(alpha: float | None, criterion: Criterion) -> float:
    """The false discovery rate: the one that is given, or the usual one of rankings or of sets."""
    if alpha is None:
        return ALPHA_OF_SETS if criterion.is_set else ALPHA
    check_share("alpha", alpha)
    return float(alpha)


class Screened(NamedTuple):
    """The columns a screen keeps, and those it drops.

    Attributes
    ----------
    kept : ndarray of bool, shape (m,)
    dropped : ndarray of int
        Column numbers, the likeliest to be real first.
    found : dict of ndarrays
        What the screen found about every column.
    """

    kept: np.ndarray
    dropped: np.ndarray
    found: dict[str, np.ndarray]

    def widened(self, values: np.ndarray, fill: float) -> np.ndarray:
        """Values of the kept columns as values of all columns."""
        whole = np.full(len(self.kept), fill, dtype=values.dtype)
        whole[self.kept] = values
        return whole


def screened(kind: str, criterion: Criterion, problem: Problem, alpha: float) -> Screened:
    """What a screen keeps of the columns of a problem."""
    check_choice("screen", kind, SCREENS)
    if kind == "agreement":
        agreement = agreement_of(problem)
        return Screened(agreement.kept, agreement.order[agreement.n_kept :], {"kept": agreement.kept})
    tested = discover(criterion, problem)
    kept = tested.qvalues <= alpha
    if not kept.any():
        message = f"screen='fdr' keeps every column: none is significant at a false discovery rate of {alpha:g}."
        warnings.warn(ParameterWarning(message, parameter=("screen", "alpha"), value=alpha), stacklevel=4)
        kept = np.ones_like(kept)
    order = np.lexsort((tested.pvalues, ~kept))
    found = {"kept": kept, "pvalues": tested.pvalues, "qvalues": tested.qvalues, "effects": tested.effect}
    return Screened(kept, order[int(kept.sum()) :], found)
