"""The formula of a set criterion: the terms of K, factors of the gains, and which form of K a problem gets.

K is held over the samples or between the features, whichever is smaller (:mod:`fiedler.sets.samples`,
:mod:`fiedler.sets.features`); both give the same sets.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..data.source import Source
from ..errors import ParameterError
from ..graphs import Graph
from ..graphs.smoothing import smoother
from ..problem import Problem
from ..validation import is_sparse
from .centred import CentredColumns
from .features import MOST_FEATURES, fits_one_pass, from_columns, from_rows, slabs
from .kernel import Kernel, Term, gains
from .samples import MOST_SAMPLES, RowKernel

_SHORTEST, _LONGEST = 1e-60, 1e60  # of the columns of C
_PASSES = 16  # over a file, for K between the features


class Scores(Protocol):
    """What a factor is: a criterion."""

    def score(self, problem: Problem) -> np.ndarray: ...
    def informative(self, problem: Problem) -> bool: ...


class SetFormula(NamedTuple):
    """A set criterion: every gain is r · num / den^power, with num = c̃'K c̃ and den = c̃'c̃.

    Parameters
    ----------
    terms : tuple of Term
        K is their sum.
    factors : tuple of Criterion
        The product of their scores is r.
    power : float
        Of den; 1 is the exact gain of J.
    """

    terms: tuple[Term, ...]
    factors: tuple[Scores, ...]
    power: float

    @property
    def supervised(self) -> bool:
        """Whether K reads labels or pairs, beside the factors that may."""
        return any(term.graph is not None and term.graph.supervised for term in self.terms)

    def kernel(self, problem: Problem, form: str | None = None) -> Kernel:
        """K on a problem, built once.

        Parameters
        ----------
        problem : Problem
            X, what is known about its rows, and the graphs built so far.
        form : {"samples", "features", "products"}, optional
            K formed over the samples or between the features, or sparse products instead; by default what is smallest.

        Returns
        -------
        kernel : Kernel
            With num and den of every feature, and J(all features).
        """
        return problem.build(KernelOf(self.terms, self.supervised, form))

    def relevance(self, problem: Problem) -> np.ndarray | None:
        """The product of the scores of the factors.

        Parameters
        ----------
        problem : Problem
            X, what is known about its rows, and the graphs built so far.

        Returns
        -------
        relevance : ndarray of shape (n_features,) or None
            A feature without a score counts as 0, inf as twice the largest finite score. None stands for ones.
        """
        total = None
        for factor in (factor for factor in self.factors if factor.informative(problem)):
            scores = factor.score(problem)
            finite = scores[np.isfinite(scores)]
            most = 2.0 * finite.max(initial=0.0) or 1.0
            scores = np.nan_to_num(scores, nan=0.0, posinf=most)
            total = scores if total is None else total * scores
        return total

    def first_scores(self, problem: Problem) -> np.ndarray:
        """The gain of every feature by itself, r · num / den^power.

        Parameters
        ----------
        problem : Problem
            X, what is known about its rows, and the graphs built so far.

        Returns
        -------
        scores : ndarray of shape (n_features,)
            NaN for a constant feature.
        """
        kernel, weights = self.kernel(problem), self.relevance(problem)
        return gains(kernel.num, kernel.den, self.power, weights)


class KernelOf:
    """The kernel of some terms, as something a problem builds once; ``form`` overrides the choice of its form."""

    def __init__(self, terms: tuple[Term, ...], supervised: bool, form: str | None = None):
        self.terms, self.supervised, self.form = terms, supervised, form

    @property
    def key(self) -> Hashable:
        return ("kernel", self.form, *(term.key for term in self.terms))

    def made_for(self, problem: Problem) -> Kernel:
        n, m = problem.X.shape
        if isinstance(problem.X, Source) and problem.X.by_rows and fits_one_pass(self.terms, problem):
            kernel: Kernel = from_rows(self.terms, problem)
            _check_spread(kernel.den)
            return kernel
        graphs = [None if term.graph is None else problem.graph(term.graph) for term in self.terms]
        weights = _measure(self.terms, graphs, n)
        terms = [(term, smoother(graph, term.filter, n)) for term, graph in zip(self.terms, graphs, strict=True)]
        columns = CentredColumns(problem.X, weights)
        if columns.in_memory:  # else when the columns have been read anyway
            _check_spread(columns.squares())
        form = self.form
        if form is None:
            few = _few_features(n, m, columns.in_memory) and len(slabs(problem.X)) <= _PASSES
            form = "features" if few else "samples" if n <= MOST_SAMPLES else "products"
        if form == "features":
            kernel = from_columns(problem.X, columns, terms)
        else:
            kernel = RowKernel(columns, terms, formed=form == "samples")
        _check_spread(kernel.den)
        return kernel


def _check_spread(squares: np.ndarray) -> None:
    """K holds fourth powers of the columns of C, which must neither overflow nor vanish."""
    longest = float(np.sqrt(squares.max(initial=0.0)))
    if longest and not _SHORTEST < longest < _LONGEST:
        raise ParameterError(
            f"sets of features need columns whose centred length is between {_SHORTEST:g} and {_LONGEST:g}, because "
            f"fourth powers are summed, but the longest column of X has {longest:.3g}; divide X by its largest value.",
            parameter="X",
            value=longest,
        )


def can_be_formed(X: Any) -> bool:
    """Whether K of a matrix can be held over its samples or between its features, or be left to sparse products."""
    n, m = X.shape
    in_memory = not isinstance(X, Source)
    return n <= MOST_SAMPLES or (in_memory and (m <= MOST_FEATURES or is_sparse(X)))


def _few_features(n: int, m: int, in_memory: bool) -> bool:
    """Whether K is held between the features; a file whose rows fit K is read fewer times without."""
    return m <= 1.5 * n and m <= MOST_FEATURES and (in_memory or n > MOST_SAMPLES)


def _measure(terms: tuple[Term, ...], graphs: list[Graph | None], n: int) -> np.ndarray | None:
    """The weights of M: the degrees for what is explained of a graph, ones for features; the same for all terms."""
    found: list[np.ndarray] = []
    for term, graph in zip(terms, graphs, strict=True):
        found.append(np.ones(n) if term.of == "features" or graph is None else graph.degree)
    if any(not np.allclose(weights, found[0]) for weights in found[1:]):
        raise ValueError(
            "these kernels cannot be added: they weigh the samples differently, by the degrees of different graphs or "
            "not at all; add kernels of features (of='features'), or of graphs with equal degrees."
        )
    return found[0]
