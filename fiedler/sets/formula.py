"""The formula of a set criterion: the terms of K, the factors of the gains, and the choice of the form of K.

K is stored over the samples or between the features, whichever is smaller (:mod:`fiedler.sets.samples`,
:mod:`fiedler.sets.features`); both give the same sets.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..data.source import Source
from ..engine.blocks import level_copies
from ..engine.products import budget
from ..errors import ParameterError
from ..graphs import Graph
from ..graphs.smoothing import smoother
from ..problem import Problem
from .centred import CentredColumns
from .features import MOST_FEATURES, fits_one_pass, from_columns, from_rows, slabs
from .kernel import Kernel, Term, gains
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


class KernelOf:
    """The kernel of some terms in the form in which a problem stores results; ``form`` overrides its form."""

    def __init__(self, terms: tuple[Term, ...], supervised: bool, form: str | None = None):
        self.terms, self.supervised, self.form = terms, supervised, form

    @property
    def key(self) -> Hashable:
        return ("kernel", self.form, *(term.key for term in self.terms))

    def made_for(self, problem: Problem) -> Kernel:
        n, in_memory = problem.n_samples, not isinstance(problem.X, Source)
        if isinstance(problem.X, Source) and problem.X.by_rows and fits_one_pass(self.terms, problem):
            kernel: Kernel = from_rows(self.terms, problem)
            _check_spread(kernel.den)
            return kernel
        form = self._form(problem)
        columns = gram = None
        if form == "samples" and in_memory and n**2 <= budget() and self._shares_products:
            columns = _columns(problem, None)
            gram = columns.gram()
            problem.take_products(gram)
        graphs = [None if term.graph is None else problem.graph(term.graph) for term in self.terms]
        weights = _measure(self.terms, graphs, n)
        columns = _columns(problem, weights) if columns is None else columns
        terms = [(term, smoother(graph, term.filter, n)) for term, graph in zip(self.terms, graphs, strict=True)]
        if form == "features":
            kernel = from_columns(problem.X, columns, terms)
        else:
            kernel = RowKernel(columns, terms, formed=form == "samples", gram=gram)
        _check_spread(kernel.den)
        return kernel

    def _form(self, problem: Problem) -> str:
        """The form that is asked for, or the smallest one."""
        n, m = problem.X.shape
        if self.form == "features" and m > MOST_FEATURES:
            raise ParameterError(
                f"sets of features that consist of several columns need at most {MOST_FEATURES} columns in all, but X "
                f"has {m}; use a ranking such as 'laplacian', or pass fewer columns.",
                parameter="X",
                value=m,
            )
        if self.form is not None:
            return self.form
        few = _few_features(n, m, not isinstance(problem.X, Source)) and len(slabs(problem.X)) <= _PASSES
        return "features" if few else "samples" if n <= MOST_SAMPLES else "products"

    @property
    def _shares_products(self) -> bool:
        """Whether one product of all rows gives both K and the distances that a graph is built from."""
        read = any(term.graph is not None and term.graph.reads_X for term in self.terms)
        return read and all(term.of == "features" for term in self.terms)


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


def _few_features(n: int, m: int, in_memory: bool) -> bool:
    """Whether K is stored between the features; for a file with few rows, K over the samples needs fewer passes."""
    return m <= 1.5 * n and m <= MOST_FEATURES and (in_memory or n > MOST_SAMPLES)


def _measure(terms: tuple[Term, ...], graphs: list[Graph | None], n: int) -> np.ndarray | None:
    """The weights M of the samples, equal for all terms: degrees if a graph is explained, ones for features."""
    found: list[np.ndarray] = []
    for term, graph in zip(terms, graphs, strict=True):
        found.append(np.ones(n) if term.of == "features" or graph is None else graph.degree)
    if any(not np.allclose(weights, found[0]) for weights in found[1:]):
        raise ValueError(
            "these kernels cannot be added, because they weight the samples differently (by degrees of different "
            "graphs, or not at all); add kernels with of='features', or of graphs with equal degrees."
        )
    return found[0]
