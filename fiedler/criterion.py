"""Criteria: formulas over graphs that give every feature a score, closed under ``+``, ``*`` and scaling.

    Energy(G)        f'Lf                                    Rayleigh(G)   f'Lf / f̃'Df̃
    Ratio(G, H)      f'L_G f / f'L_H f                       Phi(G)        [SPEC] eq. 9-11
    Disagreement(G)  1 - NMI(sign(f̃), y), [ZL] eq. 3.8       Sensitivity(G)  Σ_r |dλ_r/dw_t|, [EV] eq. 15

Scores are the papers' raw values. A feature that is constant on the rows its formula reads scores NaN, x/0 is inf,
0/0 is NaN; what that means for a ranking is decided in :mod:`fiedler.selector`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import entr
from sklearn.base import BaseEstimator

from ._validation import call_repr, check_choice, check_integer
from .affinity import Precomputed, Problem, Recipe
from .columns import is_constant, map_columns, validate_X
from .graph import Graph
from .sources import Source
from .spectral import eigenpairs, quadratic_form, spectral_function
from .supervision import Supervision

Scorer = Callable[[Any], np.ndarray]  # a float64 block of columns, dense or csc -> one score per column


class Criterion(BaseEstimator):
    """A formula that scores features. ``a + b``, ``a * b``, ``2 * a`` and ``a - b`` are criteria again.

    Attributes
    ----------
    greater_is_better : bool
        Direction of the score.
    nonnegative : bool
        Whether the score cannot be negative; factors of a product must be.
    reads : set of {"classes", "target", "pairs"}
        The supervision the formula reads.
    """

    @property
    def greater_is_better(self) -> bool:
        return False

    @property
    def nonnegative(self) -> bool:
        return True

    @property
    def reads(self) -> set[str]:
        recipes = (v for v in self.get_params(deep=False).values() if isinstance(v, (Recipe, Criterion)))
        found = set().union(*({r.reads} if isinstance(r, Recipe) else r.reads for r in recipes))
        return found - {"nothing"}

    def evaluate(
        self, X: Any, y: Any = None, *, must_link: Any = None, cannot_link: Any = None, unlabeled: Any = -1
    ) -> np.ndarray:
        """Score every feature.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            Never modified, never densified or converted to float64 as a whole.
        y : array-like of shape (n_samples,), optional
            Classes or real targets, unknown ones included.
        must_link, cannot_link : array-like of shape (p, 2) or Pairs, optional
        unlabeled : object, default=-1
            The class label that means "unknown".

        Returns
        -------
        scores : ndarray of shape (n_features,)
            The paper's raw values; see :attr:`greater_is_better` for the direction.
        """
        X = validate_X(X)
        known = Supervision(X.shape[0], y, must_link=must_link, cannot_link=cannot_link, unlabeled=unlabeled)
        return self.score(Problem(X, known))

    def score(self, problem: Problem) -> np.ndarray:
        """Scores for an already validated problem, one block of columns at a time.

        Where the data come in rows and the formula reads nothing but an anchor graph, one pass over the rows does it.
        """
        if problem.supervision.has_pairs and "pairs" not in self.reads:
            what = f"{self!r} reads no pairs: must_link and cannot_link are ignored"
            warnings.warn(f"{what}; use ConstraintScore() or multiply by it.", UserWarning, stacklevel=3)
        if isinstance(problem.X, Source) and problem.X.by_rows:
            from .anchors import score_by_rows

            scores = score_by_rows(self, problem.X, problem.supervision)
            if scores is not None:
                return scores
        scorer = self._scorer(problem)
        rows = problem.rows_read  # not the problem itself: this function may travel to a worker
        return map_columns(lambda F: np.where(is_constant(F, rows), np.nan, scorer(F)), problem.X)

    def _scorer(self, problem: Problem) -> Scorer:
        raise TypeError(f"{type(self).__name__} is not a criterion that can be evaluated.")

    def _tie_breaker(self, problem: Problem, columns: np.ndarray) -> np.ndarray | None:
        """Values that order the features whose score is infinite, best by the criterion's own direction."""
        return None

    def __add__(self, other: Any) -> Criterion:
        return Sum(self, other)._checked() if isinstance(other, Criterion) else NotImplemented

    def __sub__(self, other: Any) -> Criterion:
        return self + (-1.0) * other if isinstance(other, Criterion) else NotImplemented

    def __mul__(self, other: Any) -> Criterion:
        if isinstance(other, Criterion):
            return Product(self, other)._checked()
        return _scale(other, self) if _is_number(other) else NotImplemented

    def __rmul__(self, other: Any) -> Criterion:
        return _scale(other, self) if _is_number(other) else NotImplemented

    def __repr__(self) -> str:
        return call_repr(self)


class Sum(Criterion):
    """left + right; both must have the same direction."""

    def __init__(self, left: Criterion, right: Criterion):
        self.left, self.right = left, right

    greater_is_better = property(lambda self: self.left.greater_is_better)
    nonnegative = property(lambda self: self.left.nonnegative and self.right.nonnegative)

    def _checked(self) -> Sum:
        _check_directions("add", self.left, self.right)
        return self

    def _scorer(self, problem: Problem) -> Scorer:
        self._checked()
        left, right = self.left._scorer(problem), self.right._scorer(problem)
        return lambda F: left(F) + right(F)

    def __repr__(self) -> str:
        if isinstance(self.right, Scaled) and self.right.factor < 0:
            return f"{self.left!r} - {Scaled(-self.right.factor, self.right.criterion)!r}"
        return f"{self.left!r} + {self.right!r}"


class Product(Criterion):
    """left * right; both non-negative and of the same direction, or the product would not order anything."""

    def __init__(self, left: Criterion, right: Criterion):
        self.left, self.right = left, right

    greater_is_better = property(lambda self: self.left.greater_is_better)

    def _checked(self) -> Product:
        _check_directions("multiply", self.left, self.right)
        for factor in (self.left, self.right):
            if not factor.nonnegative:
                raise ValueError(f"cannot multiply by {factor!r}: it may be negative; a product needs factors >= 0.")
        return self

    def _scorer(self, problem: Problem) -> Scorer:
        self._checked()
        left, right = self.left._scorer(problem), self.right._scorer(problem)
        return lambda F: left(F) * right(F)

    def __repr__(self) -> str:
        return f"{_in_product(self.left)} * {_in_product(self.right)}"


class Scaled(Criterion):
    """factor * criterion; a negative factor reverses the direction."""

    def __init__(self, factor: float, criterion: Criterion):
        self.factor, self.criterion = factor, criterion

    greater_is_better = property(lambda self: self.criterion.greater_is_better ^ (self.factor < 0))
    nonnegative = property(lambda self: self.criterion.nonnegative and self.factor >= 0)

    def _scorer(self, problem: Problem) -> Scorer:
        scorer = self.criterion._scorer(problem)
        return lambda F: self.factor * scorer(F)

    def __repr__(self) -> str:
        short = f"{self.factor:g}"
        factor = short if float(short) == self.factor else repr(float(self.factor))
        return f"{factor} * {_in_product(self.criterion)}"


class Energy(Criterion):
    """f'Lf = ½ Σ_ij w_ij (f_i - f_j)²: small where the graph attracts, large is good where it repels.

    Examples
    --------
    >>> from fiedler import Energy, Precomputed
    >>> Energy(Precomputed([[0, 2], [2, 0]])).evaluate([[1.0, 5.0], [4.0, 5.0]])
    array([18., nan])
    """

    def __init__(self, graph: Recipe):
        self.graph = graph

    greater_is_better = property(lambda self: not as_recipe(self.graph).attracts)
    nonnegative = property(lambda self: not as_recipe(self.graph).signed)

    def _scorer(self, problem: Problem) -> Scorer:
        return problem.graph(as_recipe(self.graph)).energy


class Ratio(Criterion):
    """f'L_G f / f'L_H f: alike on ``numerator``, different on ``denominator``; small is good ([KA] eq. 9, 12).

    Examples
    --------
    >>> from fiedler import CannotLink, MustLink, Ratio
    >>> Ratio(MustLink(), CannotLink()).evaluate([[0.0], [1.0], [5.0]], must_link=[[0, 1]], cannot_link=[[0, 2]])
    array([0.04])
    """

    def __init__(self, numerator: Recipe, denominator: Recipe):
        self.numerator, self.denominator = numerator, denominator

    nonnegative = property(lambda self: not (as_recipe(self.numerator).signed or as_recipe(self.denominator).signed))

    def _scorer(self, problem: Problem) -> Scorer:
        above, below = (problem.graph(as_recipe(g)) for g in (self.numerator, self.denominator))
        return lambda F: above.energy(F) / below.energy(F)


class Rayleigh(Criterion):
    """f'Lf / f̃'Df̃, the Laplacian score on any graph; equals φ2 of [SPEC] with γ(λ) = λ.

    Examples
    --------
    >>> from fiedler import KNN, Rayleigh
    >>> Rayleigh(KNN(1, "binary")).evaluate([[0.0], [1.0], [3.0], [4.0]])
    array([0.2])
    """

    def __init__(self, graph: Recipe):
        self.graph = graph

    greater_is_better = property(lambda self: not as_recipe(self.graph).attracts)
    nonnegative = property(lambda self: not as_recipe(self.graph).signed)

    def _scorer(self, problem: Problem) -> Scorer:
        graph = problem.graph(as_recipe(self.graph))
        return lambda F: graph.energy(F) / graph.mass(F)


class Phi(Criterion):
    """The ranking functions of [SPEC] eq. 9-11 with α_j = <f̂, ξ_j>, f̂ = D^½f / ‖D^½f‖ and (λ_j, ξ_j) of 𝓛.

        φ1 = Σ_j γ(λ_j) α_j²    φ2 = Σ_{j≥1} γ(λ_j) α_j² / Σ_{j≥1} α_j²    φ3 = Σ_{j=1}^{k-1} (γ(2) - γ(λ_j)) α_j²

    φ1 and φ2 are ascending, φ3 descending; φ1 and φ3 change when a constant is added to a feature. ξ_0 is D^½1,
    whatever a solver returns. γ as a whole power is applied by products with 𝓛; any other γ uses all eigenpairs up to
    3,000 nodes and a Chebyshev polynomial beyond. On graphs of classes or anchors every γ uses the few eigenpairs with
    λ ≠ 1, which a small matrix gives.

    Parameters
    ----------
    graph : Recipe
    kind : {1, 2, 3}
    gamma : float or callable, default=1
        A positive power, or a function of an array of eigenvalues in [0, 2].
    n_clusters : int, optional
        k of φ3; by default the number of classes in y, or without classes the largest eigengap among the first 20.
        Where λ_{k-1} = λ_k the cut at k depends on the basis of that eigenspace, and a warning says so. On graphs of
        classes or anchors a cut through λ = 1 takes the mean over all bases.

    Examples
    --------
    >>> from fiedler import KNN, Phi
    >>> X = [[0.0], [1.0], [3.0], [4.0]]
    >>> Phi(KNN(1, "binary"), 2).evaluate(X), Phi(KNN(1, "binary"), 2, gamma=4).evaluate(X)
    (array([0.2]), array([1.6]))
    """

    def __init__(self, graph: Recipe, kind: int = 2, gamma: Any = 1, n_clusters: int | None = None):
        self.graph, self.kind, self.gamma, self.n_clusters = graph, kind, gamma, n_clusters

    greater_is_better = property(lambda self: self.kind == 3)
    nonnegative = property(lambda self: not as_recipe(self.graph).signed)

    def _scorer(self, problem: Problem) -> Scorer:
        check_choice("phi", self.kind, (1, 2, 3))
        graph, gamma = problem.graph(as_recipe(self.graph)), spectral_function(self.gamma)
        if self.kind == 3:
            return self._phi3(graph, gamma, problem.supervision)
        quadratic = quadratic_form(graph, self.gamma, gamma)
        at_zero = float(gamma(np.zeros(1))[0])

        def score(F: Any) -> np.ndarray:
            mean, mass = graph.moments(F)
            if self.kind == 2:
                return quadratic(F) / mass
            ground = graph.volume * mean**2  # the share of ξ_0
            return (quadratic(F) + at_zero * ground) / (mass + ground)

        return score

    def _phi3(self, graph: Graph, gamma: Callable, known: Supervision) -> Scorer:
        k = self._number_of_clusters(graph, known)
        pairs = eigenpairs(graph, k + 1)
        values = pairs.first_values(k + 1)
        if len(values) > k and abs(values[k] - values[k - 1]) <= 1e-9:
            warnings.warn(
                f"n_clusters={k} cuts through a repeated eigenvalue ({values[k]:.3g}), so phi=3 depends on the basis "
                f"the solver chose; the graph has {graph.n_components} components, try another n_clusters.",
                UserWarning,
                stacklevel=2,
            )
        above, used = gamma(np.full(1, 2.0))[0], min(k - 1, len(pairs.values))
        weights = above - gamma(pairs.values[:used])
        # Beyond the pairs that are known all have λ = 1; of those, k takes a share, the mean over all their bases.
        share = min(k - 1 - used, pairs.n_ones) / max(pairs.n_ones, 1) * (above - gamma(np.ones(1))[0])

        def score(F: Any) -> np.ndarray:
            (mean, mass), (alpha, ones) = graph.moments(F), pairs.split(F)
            return (weights @ alpha[:used] ** 2 + share * ones) / (mass + graph.volume * mean**2)

        return score

    def _number_of_clusters(self, graph: Graph, known: Supervision) -> int:
        if self.n_clusters is not None:
            return check_integer("n_clusters", self.n_clusters, 2)
        try:
            return len(known.classes("n_clusters=None")[1])
        except (ValueError, TypeError):  # no usable classes: read the number of clusters off the spectrum
            gaps = np.diff(eigenpairs(graph, 21).first_values(21))[1:]
            return 2 + int(np.argmax(gaps)) if len(gaps) else 2


class Disagreement(Criterion):
    """1 - NMI(sign(f̃), y) on the labelled rows, the second term of [ZL] eq. 3.8.

    f̃ is centred by the degrees of the graph over **all** rows; sign(0) = 1. NMI is divided by the larger of the two
    entropies and is 0 when both are 0. Any number of classes.

    Examples
    --------
    >>> from fiedler import KNN, Disagreement
    >>> X = [[0.0, 2.0], [1.0, 0.0], [4.0, 1.0], [5.0, 3.0]]
    >>> Disagreement(KNN(1)).evaluate(X, [0, -1, -1, 2]).round(9)
    array([0., 1.])
    """

    def __init__(self, graph: Recipe):
        self.graph = graph

    reads = property(lambda self: {"classes", as_recipe(self.graph).reads} - {"nothing"})

    def _scorer(self, problem: Problem) -> Scorer:
        graph = problem.graph(as_recipe(self.graph))
        codes, names = problem.supervision.classes("sSelect")
        rows = np.flatnonzero(codes >= 0)
        member = np.equal.outer(np.arange(len(names)), codes[rows]).astype(np.float64)

        def score(F: Any) -> np.ndarray:
            centred = graph.centred_rows(F, rows)
            positive = member @ (centred >= 0)  # contingency counts of all features at once
            joint = np.stack([positive, member.sum(axis=1)[:, None] - positive]) / len(rows)
            of_sign, of_class = entr(joint.sum(axis=1)).sum(axis=0), entr(joint.sum(axis=0)).sum(axis=0)
            information = np.maximum(of_sign + of_class - entr(joint).sum(axis=(0, 1)), 0.0)
            entropy = np.maximum(of_sign, of_class)
            return 1.0 - information / np.where(entropy > 0, entropy, 1.0)

        return score


def as_recipe(graph: Any) -> Recipe:
    """A recipe as it is; a Graph or a matrix of weights as Precomputed."""
    if isinstance(graph, Recipe):
        return graph
    if isinstance(graph, (Graph, np.ndarray)) or sp.issparse(graph):
        return Precomputed(graph)
    raise TypeError(f"graph must be a recipe such as KNN(), a Graph or a matrix of weights, got {graph!r}.")


def _check_directions(verb: str, left: Criterion, right: Criterion) -> None:
    if left.greater_is_better != right.greater_is_better:
        up, down = (left, right) if left.greater_is_better else (right, left)
        raise ValueError(
            f"cannot {verb} {left!r} and {right!r}: large is good in {up!r} and small is good in {down!r}; "
            "scale one of a sum by a negative number."
        )


def _scale(factor: float, criterion: Criterion) -> Criterion:
    if isinstance(criterion, Scaled):
        factor, criterion = factor * criterion.factor, criterion.criterion
    return Scaled(factor, criterion)


def _in_product(criterion: Criterion) -> str:
    return f"({criterion!r})" if isinstance(criterion, Sum) else repr(criterion)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
