"""Screens: columns of noise are dropped first, and graph, target and candidates come from the columns that are kept.

    "agreement"  keeps the columns that agree with others (:mod:`fiedler.engine.agreement`)
    "fdr"        keeps the columns that are significant at a false discovery rate (:mod:`fiedler.significance`)

If no column passes a screen, all columns are kept, and the selection is the same as without a screen.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ..criteria.criterion import Resolved
from ..data.arrays import Matrix
from ..data.source import Source
from ..engine.agreement import share_alone
from ..engine.products import is_integer
from ..errors import ParameterWarning
from ..problem import Problem
from ..significance.agreement import agreement_of
from ..significance.testing import Significance, discover
from ..validation import check_choice, is_sparse

SCREENS = ("agreement", "fdr")
_SAMPLE, _MOST = 1000, 0.5  # rows and columns that tell how many columns are noise, and the share that is worth a word
_NEARLY_ALL = 0.95  # an estimated share, which should not look exact


def noise_remark(X: Matrix, screen: str) -> str | None:
    """A sentence that recommends the screen if most columns agree with no other; None otherwise, and for sources.

    The share is estimated by the first round on a sample of rows and columns.
    """
    if isinstance(X, Source):
        return None
    n, m = X.shape
    rows, columns = (np.linspace(0, size - 1, min(size, _SAMPLE)).astype(np.intp) for size in (n, m))
    part = X[:, columns]
    alone = share_alone(sp.csc_array(part.tocsr()[rows]) if is_sparse(part) else part[rows])
    if alone <= _MOST:
        return None
    share = "nearly all" if alone > _NEARLY_ALL else f"about {alone:.0%} of the"
    if is_sparse(X) and is_integer(X) and X.data.min(initial=0) >= 0:
        return f"{share} columns agree with no other; this is usual for text, and {screen} does not help there"
    return f"{share} columns agree with no other: {screen} drops them before a graph is built"


class Screened(NamedTuple):
    """The features that a screen keeps, those that it drops, the likeliest to be real first, and its test."""

    kept: np.ndarray
    dropped: np.ndarray
    tested: Significance | None = None


def screened(kind: str, criterion: Resolved, problem: Problem, alpha: float, fixed: np.ndarray) -> Screened:
    """What a screen keeps of the features of a problem; ``fixed`` ones are kept in any case."""
    check_choice("screen", kind, SCREENS)
    if kind == "agreement":
        agreement = agreement_of(problem)
        kept, tested, order = agreement.kept.copy(), None, agreement.order
    else:
        tested = discover(criterion, problem, alpha=alpha)
        kept = tested.qvalues <= alpha
        if not kept.any():
            message = f"screen='fdr' keeps every column: none is significant at a false discovery rate of {alpha:g}."
            warnings.warn(ParameterWarning(message, parameter=("screen", "alpha"), value=alpha), stacklevel=4)
            kept = np.ones_like(kept)
        order = np.lexsort((tested.pvalues, ~kept))
    kept[fixed] = True
    return Screened(kept, order[~kept[order]], tested)
