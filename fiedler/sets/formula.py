"""The formula of a set criterion: the terms of K, the factors of the gains, the form of K, and forward selection.

K is stored over the samples or between the features, whichever is smaller (:mod:`fiedler.sets.samples`,
:mod:`fiedler.sets.features`); both give the same sets.

**The path.** Features are added one by one, each with the best gain given the features chosen before.

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
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..data.memory import slab_bytes
from ..data.source import Source
from ..engine.blocks import level_copies
from ..engine.products import budget, check_range
from ..errors import ParameterError
from ..graphs.smoothing import smoother
from ..problem import Problem
from .centred import CentredColumns
from .features import (
    MOST_FEATURES,
    FeatureKernel,
    choose_between_features,
    fits_one_pass,
    from_columns,
    from_rows,
    slabs,
)
from .kernel import Kernel, Search, Steps, Term, gains
from .rounds import choose_in_rounds
from .samples import MOST_SAMPLES, RowKernel

_SHORTEST, _LONGEST = 1e-60, 1e60  # allowed range of the norms of the columns of C
_PASSES = 16  # largest number of passes over a file, for K between the features


class Scores(Protocol):
    """A factor of the gains, such as a criterion that was resolved."""

    def weights(self, problem: Problem) -> np.ndarray | None: ...
    def informative(self, problem: Problem) -> bool: ...


class SetFormula(NamedTuple):
    """A set criterion: every gain is r · num / den^power, with num = c̃'K c̃ and den = c̃'c̃.

    Parameters
    ----------
    terms : tuple of Term
        The terms whose sum is K.
    factors : tuple of Criterion
        The criteria whose scores are multiplied to r.
    power : float
        The power of den; 1 is the exact gain of J.
    """

    terms: tuple[Term, ...]
    factors: tuple[Scores, ...]
    power: float

    @property
    def supervised(self) -> bool:
        """Whether K itself reads labels or pairs; the factors do not count."""
        return any(term.graph is not None and term.graph.supervised for term in self.terms)

    def kernel(self, problem: Problem, form: str | None = None) -> Kernel:
        """K on a problem, built once.

        Parameters
        ----------
        problem : Problem
            X, what is known about its rows, and the graphs built so far.
        form : {"samples", "features", "products"}, optional
            K over the samples or between the features, or sparse products instead of K; by default the smallest form.

        Returns
        -------
        kernel : Kernel
            The kernel, with num and den of every feature, and J(all features).
        """
        if problem.groups is not None:
            form = "features"  # its engine takes all columns of a feature in one step
        key = "kernel", form, *(term.key for term in self.terms)
        return problem.keep(key, lambda: _kernel(self.terms, problem, form), self.supervised)

    def relevance(self, problem: Problem) -> np.ndarray | None:
        """The product of the scores of the factors.

        Parameters
        ----------
        problem : Problem
            X, what is known about its rows, and the graphs built so far.

        Returns
        -------
        relevance : ndarray of shape (n_features,) or None
            The product r. A missing score counts as 0, and inf as twice the largest finite score. None means r = 1.
        """
        total = None
        for scores in (factor.weights(problem) for factor in self.factors):
            if scores is None:
                continue
            finite = scores[np.isfinite(scores)]
            most = 2.0 * finite.max(initial=0.0) or 1.0
            scores = np.nan_to_num(scores, nan=0.0, posinf=most)
            total = scores if total is None else total * scores
        return total

    def first_scores(self, problem: Problem) -> np.ndarray:
        """The gain r · num / den^power of every feature if it is chosen first.

        Parameters
        ----------
        problem : Problem
            X, what is known about its rows, and the graphs built so far.

        Returns
        -------
        scores : ndarray of shape (n_features,)
            The gains; NaN for a constant feature.
        """
        return self.gains_of(self.kernel(problem), problem, self.relevance(problem))

    def gains_of(self, kernel: Kernel, problem: Problem, relevance: np.ndarray | None) -> np.ndarray:
        """The gain of every feature if it is chosen first, from its kernel and its relevance.

        Parameters
        ----------
        kernel : Kernel
            The kernel of the problem.
        problem : Problem
            X and its features.
        relevance : ndarray of shape (n_features,) or None
            The factor r.

        Returns
        -------
        scores : ndarray of shape (n_features,)
            The gains; NaN for a constant feature. Identical columns have the same gain.
        """
        if problem.groups is None:
            return level_copies(gains(kernel.num, kernel.den, self.power, relevance), problem.X)
        num, den = (problem.groups.sum(values) for values in (np.maximum(kernel.num, 0.0), kernel.den))
        return gains(num, den, self.power, relevance)


def _kernel(terms: tuple[Term, ...], problem: Problem, form: str | None) -> Kernel:
    """K in the form that is asked for, or in the smallest one."""
    (n, m), in_memory = problem.X.shape, not isinstance(problem.X, Source)
    # Rows that memory holds in many parts only are summed in one pass, if the graph can be.
    many_parts = form is None and n > m and len(slabs(problem.X)) > _PASSES
    by_rows = problem.X.by_rows if isinstance(problem.X, Source) else many_parts
    if by_rows and fits_one_pass(terms, problem):
        kernel: Kernel = from_rows(terms, problem)
        _check_spread(kernel.den)
        return kernel
    if form == "features" and m > MOST_FEATURES:
        raise ParameterError(
            f"sets of features that consist of several columns need at most {MOST_FEATURES} columns in all, but X "
            f"has {m}; use a ranking such as 'laplacian', or pass fewer columns.",
            parameter="X",
            value=m,
        )
    if form is None:
        few = m <= 1.5 * n and m <= MOST_FEATURES and (in_memory or n > MOST_SAMPLES)
        few = few and len(slabs(problem.X)) <= _PASSES
        form = "features" if few else "samples" if n <= MOST_SAMPLES else "products"
    if form == "products" and not in_memory:  # before the graph, which takes long
        raise ValueError(
            f"sets of features from X of {n} x {m} need K over {n} rows or between {m} features, more than the "
            f"limit of {MOST_SAMPLES}; use graph=Anchors() with fewer features, first select features by a "
            "ranking such as laplacian, or take a sample of the rows."
        )
    columns = gram = None
    # One product of all rows may give both K and the distances that a graph is built from.
    both = all(term.of == "features" for term in terms)
    both = both and any(term.graph is not None and term.graph.reads_X for term in terms)
    if form == "samples" and in_memory and n**2 <= budget() and both:
        columns = _columns(problem, None)
        gram = columns.gram()
        problem.distances().take_products(gram)
    graphs = [None if term.graph is None else problem.graph(term.graph) for term in terms]
    pairs = list(zip(terms, graphs, strict=True))
    measures = [np.ones(n) if term.of == "features" or graph is None else graph.degree for term, graph in pairs]
    if any(not np.allclose(weights, measures[0]) for weights in measures[1:]):
        raise ValueError(
            "these kernels cannot be added, because they weight the samples differently (by degrees of different "
            "graphs, or not at all); add kernels with of='features', or of graphs with equal degrees."
        )
    columns = _columns(problem, measures[0]) if columns is None else columns
    smoothed = [(term, smoother(graph, term.filter, n)) for term, graph in pairs]
    if form == "features":
        kernel = from_columns(problem.X, columns, smoothed)
    else:
        kernel = RowKernel(columns, smoothed, formed=form == "samples", gram=gram)
    _check_spread(kernel.den)
    return kernel


def _columns(problem: Problem, weights: np.ndarray | None) -> CentredColumns:
    columns = CentredColumns(problem.X, weights)
    if columns.in_memory:  # otherwise it is checked when the columns are read
        _check_spread(columns.squares())
    return columns


def _check_spread(squares: np.ndarray) -> None:
    """Check that fourth powers of the columns of C, which K contains, neither overflow nor underflow."""
    longest = float(np.sqrt(squares.max(initial=0.0)))
    if longest and not _SHORTEST < longest < _LONGEST:
        raise ParameterError(
            f"sets of features need columns whose centred length is between {_SHORTEST:g} and {_LONGEST:g}, because "
            f"fourth powers are summed, but the longest column of X has {longest:.3g}; divide X by its largest value.",
            parameter="X",
            value=longest,
        )


def can_be_formed(X: Any) -> bool:
    """Whether K can be formed over the samples or between the features, or be replaced by products in memory."""
    return X.shape[0] <= MOST_SAMPLES or not isinstance(X, Source)


# -------------------------------------------------------------------- forward selection


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
