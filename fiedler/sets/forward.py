"""Sets by forward selection: one feature after another, each the best beside those chosen before it.

    j* = argmax r_j · num_j / den_j^power      num = c̃'Kc̃, den = c̃'c̃, c̃: what the chosen features leave of a column
    q = c̃_j* / ‖c̃_j*‖,  e = q'Kq,  v = (I - QQ')Kq;   a = c'q,  b = c'v:   num += a (a e - 2 b),   den -= a²

e is what J gains. One path, two engines: ``rounds`` if K is held over the samples, ``features`` if it is held between
the features. A column is live while den > 1e-8 of what it was (1e-5 in single precision); residuals are
orthogonalised twice, and their length is computed afresh before one is taken; scores within 1e-9 of the best are ties,
which go to the smaller column.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..engine.blocks import level_copies
from ..engine.distances import check_range
from ..problem import Problem
from .features import FeatureKernel, choose_between_features
from .formula import SetFormula
from .kernel import Search, Steps, gains
from .rounds import choose_in_rounds
from .samples import RowKernel

ENOUGH = 0.9  # share of J of all features at which a set is called large enough: a convention, not a law


class Path(NamedTuple):
    """The features of a problem as nested sets: the first k of ``order``, for every k up to the length of the path.

    Attributes
    ----------
    scores : ndarray of shape (m,)
        Of the first step; NaN for constant columns.
    order : ndarray of shape (m,)
        The path, then the others by what they would still add, then those of which nothing is left, constants last.
    explained : ndarray of shape (length of the path,)
        J of the first k features as a share of J of all; NaN where J of all is not positive.
    """

    scores: np.ndarray
    order: np.ndarray
    explained: np.ndarray


def forward(
    sets: SetFormula,
    problem: Problem,
    n_features: int,
    share: float = np.inf,
    among: np.ndarray | None = None,
    form: str | None = None,
) -> Path:
    """Choose up to n_features, or as many as explain a share of J of all features; among some, by a mask.

    ``form`` is that of :meth:`SetFormula.kernel`.
    """
    kernel, relevance = sets.kernel(problem, form), sets.relevance(problem)
    check_range(problem.X, np.flatnonzero(~np.isfinite(kernel.num + kernel.den)))
    if among is not None:
        relevance = np.where(among, 1.0 if relevance is None else relevance, 0.0)
    search = Search(kernel, sets.power, relevance, double=problem.X.dtype not in (np.float32, np.float16))
    enough = share * kernel.total if kernel.total > 0.0 else np.inf
    if isinstance(kernel, FeatureKernel):
        steps = choose_between_features(kernel, search, n_features, enough)
    else:
        assert isinstance(kernel, RowKernel)
        steps = choose_in_rounds(kernel, search, n_features, enough)
    scores = level_copies(gains(kernel.num, kernel.den, sets.power, relevance), problem.X)
    # A kernel that is not positive, such as that of filter="walk", may have a J of all that nothing is a share of.
    explained = np.minimum(np.cumsum(steps.gained) / (kernel.total if kernel.total > 0.0 else np.nan), 1.0)
    return Path(scores, _order(steps, search, scores), explained)


def _order(steps: Steps, search: Search, scores: np.ndarray) -> np.ndarray:
    """The path, then the live columns by their residual score, the spent ones by their own, constants."""
    left = search.scores(steps.num, steps.den)
    left[steps.picked] = -np.inf
    mantissa, exponent = np.frexp(left)
    left = np.ldexp(np.round(mantissa * 2.0**30), exponent)  # nine digits: what differs less is a tie
    rest = np.lexsort((np.arange(len(scores)), -scores, -left, np.isnan(scores)))
    taken = np.zeros(len(scores), dtype=bool)
    taken[steps.picked] = True
    return np.concatenate([np.array(steps.picked, dtype=np.intp), rest[~taken[rest]]])
