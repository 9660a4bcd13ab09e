"""Forward selection of sets: features are added one by one, each with the best gain given the features chosen before.

    j* = argmax r_j · num_j / den_j^power      num = c̃'Kc̃, den = c̃'c̃, c̃: residual of a column on the chosen ones
    q = c̃_j* / ‖c̃_j*‖,  e = q'Kq,  v = (I - QQ')Kq;   a = c'q,  b = c'v:   num += a (a e - 2 b),   den -= a²

e is the gain of J. Two engines give the same path: ``rounds`` if K is stored over the samples, ``features`` if it is
stored between the features. A column can be chosen while den > 1e-8 of its first value (1e-5 in single precision).
Residuals are orthogonalised twice, and the norm of a residual is recomputed before it is chosen. Scores within 1e-9 of
the best are ties, which go to the smaller column number. Included features make the first steps. An included feature
without a residual, such as a copy of another one, makes a step with gain 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..data.memory import slab_bytes
from ..engine.products import check_range
from ..problem import Problem
from .features import FeatureKernel, choose_between_features
from .formula import SetFormula
from .kernel import Kernel, Search, Steps
from .rounds import choose_in_rounds
from .samples import RowKernel

_ROUNDING = 1e-12  # a smaller gain, relative to the largest, is rounding error
ENOUGH = 0.9  # a set is large enough at this share of J(all features); this is a convention


class Total:
    """J(all features) of a kernel. It can cost as much as the selection, so it is computed when it is first read.

    If the matrices that it needs are too large to be kept until then, it is computed at once.
    """

    def __init__(self, kernel: Kernel):
        self._kernel: Kernel | None = kernel
        if kernel.bytes_for_total > slab_bytes():
            self.read()

    def __getstate__(self) -> dict[str, Any]:
        self.read()  # a copy or a pickle has the number, not the matrices that it comes from
        return vars(self)

    def read(self) -> float:
        """J(all features); the kernel is freed."""
        kernel = self._kernel
        if kernel is not None:  # threads may read it at the same time
            self._value, self._kernel = kernel.total, None
        return self._value


class Shares(NamedTuple):
    """Parts of J that become shares of J(all features) when they are read.

    Attributes
    ----------
    gained : ndarray of shape (length of the path,)
        What every step adds to J.
    added : ndarray of shape (m,)
        What a feature adds to J: on the path given the features before it, elsewhere given the whole path; NaN for
        constant columns. A feature of several columns that is not on the path has the mean gain of its columns, by
        their residuals.
    total : Total
        J(all features).
    """

    gained: np.ndarray
    added: np.ndarray
    total: Total

    @property
    def explained(self) -> np.ndarray:
        """Share of J(all features) reached by the first k features; NaN if J(all features) is not positive.

        It may not be positive if the kernel is not, such as that of filter="walk".
        """
        total = self.total.read()
        return np.minimum(np.cumsum(self.gained) / (total if total > 0.0 else np.nan), 1.0)

    @property
    def gains(self) -> np.ndarray:
        """``added`` as a share of J(all features); in the units of J if J(all features) is not positive."""
        total = self.total.read()
        return self.added / total if total > 0.0 else self.added


class Path(NamedTuple):
    """Nested sets of features: the first k features of ``order``, for every k up to the length of the path.

    Attributes
    ----------
    scores : ndarray of shape (m,)
        Scores of the first step; NaN for constant columns.
    order : ndarray of shape (m,)
        First the path, which ends where no feature has a positive gain, then the other features by their remaining
        gain, then features without a residual, and last the constant ones.
    shares : Shares
        What the features of the path explain, and what every feature adds.
    relevance : ndarray of shape (m,) or None
        The factor r; None if r = 1.
    """

    scores: np.ndarray
    order: np.ndarray
    shares: Shares
    relevance: np.ndarray | None

    @property
    def explained(self) -> np.ndarray:
        """Share of J(all features) reached by the first k features of ``order``."""
        return self.shares.explained


def forward(
    sets: SetFormula,
    problem: Problem,
    n_features: int,
    share: float = np.inf,
    among: np.ndarray | None = None,
    form: str | None = None,
    first: Sequence[int] = (),
) -> Path:
    """Choose up to n_features features, or until they reach a share of J(all features); a mask limits the candidates.

    The features ``first`` start the path in any case; the others are chosen given these. ``form`` is as in
    :meth:`SetFormula.kernel`.
    """
    kernel, factors = sets.kernel(problem, form), sets.relevance(problem)
    check_range(problem.X, np.flatnonzero(~np.isfinite(kernel.num + kernel.den)))
    relevance = factors if among is None else np.where(among, 1.0 if factors is None else factors, 0.0)
    double = problem.X.dtype not in (np.float32, np.float16)
    search = Search(kernel, sets.power, relevance, double, problem.groups, first)
    enough = share * kernel.total if share < np.inf and kernel.total > 0.0 else np.inf
    if isinstance(kernel, FeatureKernel):
        steps = choose_between_features(kernel, search, n_features, enough)
    else:
        assert isinstance(kernel, RowKernel)
        steps = choose_in_rounds(kernel, search, n_features, enough)
    scores = sets.gains_of(kernel, problem, relevance)
    added = _added(steps, search, kernel)
    shares = Shares(np.array(steps.gained), added, Total(kernel))
    return Path(scores, _order(steps, search, scores, added), shares, factors)


def _added(steps: Steps, search: Search, kernel: Kernel) -> np.ndarray:
    """What each feature adds to J: at its step, or after the last step; for several columns Σ num / Σ den."""
    live = steps.den > search.floor
    num, den, before = np.where(live, steps.num, 0.0), np.where(live, steps.den, 0.0), kernel.den
    if search.groups is not None:
        num, den, before = (search.groups.sum(values) for values in (num, den, before))
    added = np.divide(num, den, out=np.zeros(len(num)), where=den > 0.0)
    added[np.abs(added) <= _ROUNDING * np.abs(added).max(initial=0.0)] = 0.0
    added[steps.picked] = steps.gained
    added[before <= 0.0] = np.nan
    return added


def _order(steps: Steps, search: Search, scores: np.ndarray, added: np.ndarray) -> np.ndarray:
    """The path, then columns with a residual by remaining score, those without by first score, then constants.

    Under a kernel that is not positive, features may lower J. They follow, those that lower J least first.
    """
    left = search.scores(steps.num, steps.den)
    left = np.where(left == 0.0, np.minimum(np.nan_to_num(added), 0.0), left)
    left[steps.picked] = -np.inf
    mantissa, exponent = np.frexp(left)
    left = np.ldexp(np.round(mantissa * 2.0**30), exponent)  # nine digits; smaller differences are ties
    rest = np.lexsort((np.arange(len(scores)), -scores, -left, np.isnan(scores)))
    taken = np.zeros(len(scores), dtype=bool)
    taken[steps.picked] = True
    return np.concatenate([np.array(steps.picked, dtype=np.intp), rest[~taken[rest]]])
