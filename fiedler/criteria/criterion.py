"""The base class of criteria, which score every feature, and their algebra: ``+``, ``*`` and scaling.

Scores are the raw values of the papers. A feature that is constant on the rows that its formula reads scores NaN; x/0
is inf and 0/0 is NaN. :mod:`fiedler.criteria.order` decides where such features are placed in an order.

To write a criterion, derive from :class:`Criterion` and define :meth:`Criterion.scorer`. This method gets graphs from
``problem.graph``, and returns the rows that it reads and a function of a block of columns. The same function runs in
memory, block by block, on a cluster, or in one pass over the rows if sums are enough. Four more properties can be
changed if their defaults do not hold: which supervision is read (``needs``, ``accepts``), whether the scale of the
columns matters (``reads_scale``), how the score is tested (:meth:`Criterion.null`), and the formula for sets of
features (:meth:`Criterion.set_formula`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ..data.memory import working_bytes
from ..data.scaling import warn_if_uneven
from ..data.source import Part, Source
from ..engine.blocks import level_copies, map_columns
from ..engine.distances import check_range
from ..errors import ParameterError, ParameterWarning
from ..graphs import Graph, Precomputed, Recipe, as_recipe, holds_graph
from ..graphs.factored import Summed, SummedColumns, Sums
from ..graphs.storage import NotAvailableError
from ..problem import FILL_HOLES, IMPUTER, ONLY_NUMBERS, Buildable, Problem
from ..sets.formula import SetFormula
from ..validation import call_repr, parameters
from .nulls import FeatureOrders, LabelOrders, Null, null_of_formula, null_of_sum
from .scorer import Additive, Scorer


class Criterion(BaseEstimator):
    """A formula that scores features. ``a + b``, ``a * b``, ``2 * a`` and ``a - b`` are criteria again.

    Attributes
    ----------
    needs : {"classes", "target", "pairs"} or None, default=None
        The supervision that the criterion requires, in addition to what its graphs read.
    accepts : frozenset of str, default=frozenset()
        The supervision that the criterion uses if it is given.
    reads_scale : bool, default=False
        Whether the score depends on the units of the columns, apart from its graphs.
    accepts_groups : bool, default=False
        Whether the score has a form for features of several columns: its scorer has an ``additive`` form.
    accepts_holes : bool, default=True
        Whether X may have missing values; the score then reads the values that they were filled with.
    """

    needs: str | None = None
    accepts: frozenset[str] = frozenset()
    reads_scale: bool = False
    accepts_groups: bool = False
    accepts_holes: bool = True

    @property
    def greater_is_better(self) -> bool:
        """Whether a large score is good."""
        return False

    @property
    def nonnegative(self) -> bool:
        """Whether the score is never negative; both factors of a product must satisfy this."""
        return True

    @property
    def reads(self) -> set[str]:
        """The supervision that the formula requires: a subset of "classes", "target" and "pairs"."""
        found = {self.needs} if self.needs else set()
        for part in self.parts():
            found |= part.reads if isinstance(part, Criterion) else {recipe.reads for recipe in part.walk()}
        return found - {"nothing"}

    @property
    def uses(self) -> set[str]:
        """The supervision that changes the scores if it is given: the required and the optional kinds."""
        inside = (part.uses for part in self.parts() if isinstance(part, Criterion))
        return self.reads.union(self.accepts, *inside)

    @property
    def depends_on_scale(self) -> bool:
        """Whether the order of the features depends on the units of the columns, through the formula or its graphs."""
        return any(part.reads_scale if isinstance(part, Criterion) else part.reads_X for part in self.walk())

    @property
    def is_set(self) -> bool:
        """Whether features are chosen as a set, one after the other; the scores are then those of the first step."""
        return self.set_formula() is not None

    def parts(self) -> Iterator[Criterion | Recipe]:
        """The direct parts of the formula.

        Yields
        ------
        part : Criterion or Recipe
            Operands and graphs in the order of the formula.
        """
        for value in parameters(self).values():
            if isinstance(value, (Criterion, Recipe)):
                yield value
            elif holds_graph(value):
                yield as_recipe(value)

    def walk(self) -> Iterator[Criterion | Recipe]:
        """This criterion, followed by all parts inside it.

        Yields
        ------
        part : Criterion or Recipe
            The parts in the order of the formula.
        """
        yield self
        for part in self.parts():
            yield from part.walk()

    def recipes(self) -> list[Recipe]:
        """All graphs in the formula, each once.

        Returns
        -------
        recipes : list of Recipe
            The recipes in the order of the formula.
        """
        return list({part.key: part for part in self.walk() if isinstance(part, Recipe)}.values())

    def evaluate(
        self,
        X: Any,
        y: Any = None,
        *,
        must_link: Any = None,
        cannot_link: Any = None,
        graph: Any = None,
        unlabeled: Any = -1,
        groups: Any = None,
    ) -> np.ndarray:
        """Score every feature.

        Parameters
        ----------
        X : array-like, frame, sparse matrix, source, AnnData or DataArray of shape (n_samples, n_features)
            The data. X is never modified, and a complete X is never made dense or converted to float64 as a whole.
            Missing values of a dense X are filled from the nearest rows; frames may hold categories and dates.
        y : array-like of shape (n_samples,), optional
            Classes or real targets; some may be unknown.
        must_link, cannot_link : array-like of shape (p, 2) or Pairs, optional
            Pairs of rows that belong together, and pairs that do not.
        graph : Graph or what :meth:`Graph.of` takes, optional
            A graph over the rows, which ``Precomputed()`` in the formula uses.
        unlabeled : object, default=-1
            The class label that means "unknown".
        groups : sequence of labels or mapping, optional
            Columns that form one feature: one label per column, or names of features with their columns.

        Returns
        -------
        scores : ndarray of shape (n_features,)
            The raw values of the paper; :attr:`greater_is_better` states the direction. With ``groups`` one value per
            group, in the order of their first columns.
        """
        told = {"must_link": must_link, "cannot_link": cannot_link, "graph": graph, "unlabeled": unlabeled}
        problem = Problem.of(X, y, **told, groups=groups)
        self.check_problem(problem)
        if self.depends_on_scale:
            warn_if_uneven(problem.X, problem.column_names, repr(self), {})
        return self.score(problem)

    def __call__(self, X: Any, y: Any = None) -> np.ndarray:
        """Scores for which large is always good, as a ``score_func`` for scikit-learn's SelectKBest.

        The sign is changed if small is good in the paper. There are no p-values, which SelectFdr and SelectFpr need;
        use ``SpectralSelector(n_features_to_select="fdr")`` instead.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional

        Returns
        -------
        scores : ndarray of shape (n_features,)

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.feature_selection import SelectKBest
        >>> from fiedler import LaplacianScore
        >>> X = load_iris(as_frame=True).data
        >>> SelectKBest(LaplacianScore(), k=2).fit(X).get_feature_names_out()
        array(['petal length (cm)', 'petal width (cm)'], dtype=object)
        """
        if self.is_set:
            raise ValueError(
                f"{self!r} chooses a set of features, and scores of single features do not define it; use "
                "SpectralSelector(criterion, n_features_to_select=k)."
            )
        scores = self.evaluate(X, y)
        return scores if self.greater_is_better else -scores

    def check_problem(self, problem: Problem, called: Any = None) -> None:
        """Raise an error if the formula cannot use the given labels or pairs, or does not use the given graph.

        Parameters
        ----------
        problem : Problem
            X, its labels and pairs, and the graph that was passed as ``graph=``.
        called : str or Criterion, optional
            What the user called the criterion, for messages; by default its repr.
        """
        name = called if isinstance(called, str) else repr(self)
        self._check_features(problem, name)
        known = problem.supervision
        if known.y is None and (self.reads - {"pairs"} or (self.reads and not known.has_pairs)):
            what = {"classes": "class labels", "target": "a real-valued target", "pairs": "pairs or class labels"}
            reads = " and ".join(what[kind] for kind in sorted(self.reads))
            pairs = "; pass must_link and cannot_link, or class labels that imply them" * ("pairs" in self.reads)
            if known.has_pairs:
                pairs = "; must_link and cannot_link pairs cannot replace it, use the method 'constraint'"
            # scikit-learn's checks expect the words of the first clause.
            absent = "y to be passed, but the target y is None"
            message = f"{name} requires {absent}: it reads {reads}{pairs}."
            raise ParameterError(message, parameter=("y", "must_link", "cannot_link"), way_out={absent: ("y", ...)})
        if known.y is not None:  # read here, so that an error names the whole formula
            if "target" in self.reads:
                known.target(name)
            if "classes" in self.reads or ("pairs" in self.reads and not known.has_pairs):
                known.classes(name)
        if problem.given is None:
            return
        if not any(isinstance(recipe, Precomputed) and recipe.W is None for recipe in self.recipes()):
            raise ValueError(
                f"graph= was passed, but {name} does not use it; put Precomputed() into the formula, for "
                "example LaplacianScore(Precomputed())."
            )

    def _check_features(self, problem: Problem, name: str) -> None:
        """Raise an error if a part of the formula has no form for groups of columns, or for missing values."""
        inside = [part for part in self.walk() if isinstance(part, Criterion)]
        leaves = [part for part in inside if not any(isinstance(inner, Criterion) for inner in part.parts())]
        lost = next((part for part in leaves if problem.groups is not None and not part.accepts_groups), None)
        if lost is not None:
            why = f", because of {lost!r}" if isinstance(self, (Sum, Product, Scaled)) else ""
            raise ParameterError(
                f"{name} has no form for features of several columns (categories or groups){why}; "
                "use 'subset', 'laplacian', 'fisher', 'relieff', 'constraint' or 'correlation', or "
                "pass numeric columns only.",
                parameter="criterion",
                value=self,
                way_out=ONLY_NUMBERS,
            )
        lost = next((part for part in leaves if problem.known is not None and not part.accepts_holes), None)
        if lost is not None:
            raise ParameterError(
                f"{name} cannot be computed with missing values (NaN) in X; fill them first with {IMPUTER}, or use "
                "'laplacian' or 'subset'.",
                parameter="criterion",
                value=self,
                way_out=FILL_HOLES,
            )

    def score(self, problem: Problem) -> np.ndarray:
        """Scores for an already validated problem, one block of columns at a time.

        If the data come in blocks of rows and the formula needs only sums over them, one pass over the rows is made.

        Parameters
        ----------
        problem : Problem
            X, its labels and pairs, and the graphs built so far.

        Returns
        -------
        scores : ndarray of shape (n_features,)
            The scores; NaN for a constant feature.
        """
        if problem.supervision.has_pairs and "pairs" not in self.uses:
            what = f"{self!r} reads no pairs: must_link and cannot_link are ignored"
            message = f"{what}; use ConstraintScore() or multiply by it."
            warnings.warn(ParameterWarning(message, parameter=("must_link", "cannot_link")), stacklevel=3)
        sets = self.set_formula()
        if sets is not None:
            return sets.first_scores(problem)
        if isinstance(problem.X, Source) and problem.X.by_rows and fits_one_pass(self, problem):
            return score_by_rows(self, problem)
        scorer = self.scorer(problem)  # the problem is not captured, because the function may be sent to a worker
        if problem.groups is not None:
            return scorer.feature_scores(problem)
        if problem.known is not None:
            return level_copies(scorer.feature_scores(problem), problem.X)
        numbered = scorer.numbered is not None
        scores = scorer.scores(map_columns(scorer.values, problem.X, scorer.cost, numbered))
        check_range(problem.X, np.flatnonzero(~np.isfinite(scores)))
        return level_copies(scores, problem.X)

    def scorer(self, problem: Problem) -> Scorer:
        """The scorer for a problem; every criterion defines this method, except named methods and set criteria.

        Parameters
        ----------
        problem : Problem
            ``problem.graph(recipe)`` gives graphs, ``problem.supervision`` labels and pairs.

        Returns
        -------
        scorer : Scorer
            The rows that are read, and a function of blocks of columns.
        """
        raise TypeError(f"{type(self).__name__} is not a criterion that can be evaluated: it does not define scorer().")

    def set_formula(self) -> SetFormula | None:
        """The formula for sets of features, for criteria that choose sets.

        Returns
        -------
        formula : SetFormula or None
            None for criteria that score features one by one.
        """
        return None

    def sized(self, n_features: int) -> Criterion:
        """The criterion for a selection of a known size.

        Parameters
        ----------
        n_features : int
            Number of features that will be selected.

        Returns
        -------
        criterion : Criterion
            This criterion, unless its scores depend on the size of the selection.
        """
        return self

    def null(self) -> Null:
        """How to test whether a feature scores better than by chance.

        Returns
        -------
        null : Quotient, LabelOrders, FeatureOrders or NoTest
            The kind of test; by default the values of the feature are permuted.
        """
        return FeatureOrders()

    def informative(self, problem: Problem) -> bool:
        """Whether the scores of the features can differ for this problem; an uninformative factor is left out.

        Parameters
        ----------
        problem : Problem
            X and what is known about its rows.

        Returns
        -------
        bool
            True by default.
        """
        return True

    def tie_breaker(self, problem: Problem, columns: np.ndarray) -> np.ndarray | None:
        """Values that order the features whose score is infinite.

        Parameters
        ----------
        problem : Problem
            X and what is known about its rows.
        columns : ndarray of int
            The features with infinite scores.

        Returns
        -------
        values : ndarray or None
            One value per feature, in the direction of the criterion; None keeps the column order.
        """
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

    def text(self, word: Callable[[Criterion], str], exact: bool = False) -> str:
        """The formula as text.

        Parameters
        ----------
        word : callable
            Function that writes a primitive or a method.
        exact : bool, default=False
            Whether the text must be parsed again; numbers and parentheses are then written in full.

        Returns
        -------
        text : str
            The names, joined by ``+``, ``-`` and ``*``.
        """
        return word(self)

    def __repr__(self) -> str:
        return self.text(call_repr)


# -------------------------------------------------------------------- algebra


class Sum(Criterion):
    """The sum of two criteria, which must have the same direction.

    Parameters
    ----------
    left, right : Criterion
        The summands.
    """

    def __init__(self, left: Criterion, right: Criterion):
        self.left, self.right = left, right

    @property
    def greater_is_better(self) -> bool:
        return self.left.greater_is_better

    @property
    def nonnegative(self) -> bool:
        return self.left.nonnegative and self.right.nonnegative

    def sized(self, n_features: int) -> Criterion:
        return Sum(self.left.sized(n_features), self.right.sized(n_features))

    def _checked(self) -> Sum:
        _check_directions("add", self.left, self.right)
        self.set_formula()
        return self

    def set_formula(self) -> SetFormula | None:
        # A sum of kernels is a kernel.
        left, right = self.left.set_formula(), self.right.set_formula()
        if left is None or right is None:
            if left is not right:
                what = "one chooses sets of features, the other scores them one by one"
                raise ValueError(f"cannot add {self.left!r} and {self.right!r}: {what}; multiply them instead.")
            return None
        if left.power != right.power or left.factors or right.factors:
            what = "set criteria must have the same power; multiply the sum by a score, not its parts"
            raise ValueError(f"cannot add {self.left!r} and {self.right!r}: {what}.")
        return SetFormula(left.terms + right.terms, (), left.power)

    def null(self) -> Null:
        if self.is_set:
            return self.left.null()
        for one, other in ((self.left, self.right), (self.right, self.left)):
            if isinstance(other, Scaled) and other.factor == 0:
                return one.null()
        return null_of_sum(self.left.null(), self.right.null())

    def scorer(self, problem: Problem) -> Scorer:
        self._checked()
        return _combined(np.add, self.left.scorer(problem), self.right.scorer(problem))

    def text(self, word: Callable[[Criterion], str], exact: bool = False) -> str:
        left, right = self.left, self.right
        if isinstance(right, Scaled) and right.factor < 0:
            return f"{left.text(word, exact)} - {Scaled(-right.factor, right.criterion).text(word, exact)}"
        return f"{left.text(word, exact)} + {_grouped(right, word, exact, Sum if exact else ())}"


class Product(Criterion):
    """The product of two criteria, which must be non-negative and have the same direction.

    Parameters
    ----------
    left, right : Criterion
        The factors.
    """

    def __init__(self, left: Criterion, right: Criterion):
        self.left, self.right = left, right

    @property
    def greater_is_better(self) -> bool:
        return self.left.greater_is_better

    def sized(self, n_features: int) -> Criterion:
        return Product(self.left.sized(n_features), self.right.sized(n_features))

    def _checked(self) -> Product:
        _check_directions("multiply", self.left, self.right)
        for factor in (self.left, self.right):
            if not factor.nonnegative:
                raise ValueError(f"cannot multiply by {factor!r}: it may be negative; factors must be non-negative.")
        self.set_formula()
        return self

    def set_formula(self) -> SetFormula | None:
        # In a score times a set criterion, every gain is multiplied by the score of its feature.
        left, right = self.left.set_formula(), self.right.set_formula()
        if left is not None and right is not None:
            what = "both choose sets of features; add their kernels instead"
            raise ValueError(f"cannot multiply {self.left!r} and {self.right!r}: {what}.")
        sets, factor = (left, self.right) if left is not None else (right, self.left)
        return None if sets is None else sets._replace(factors=(*sets.factors, factor))

    def null(self) -> Null:
        # A set criterion is tested on its graph; the factor of its gains does not matter.
        sets = [part for part in (self.left, self.right) if part.is_set]
        return sets[0].null() if sets else null_of_formula(self.left.null(), self.right.null())

    def scorer(self, problem: Problem) -> Scorer:
        self._checked()
        # Inside a product quotients of groups are not corrected, because a corrected factor may be negative.
        return _combined(np.multiply, self.left.scorer(problem), self.right.scorer(problem), corrected=False)

    def text(self, word: Callable[[Criterion], str], exact: bool = False) -> str:
        right = _grouped(self.right, word, exact, (Sum, Product) if exact else Sum)
        return f"{_grouped(self.left, word, exact, Sum)} * {right}"


class Scaled(Criterion):
    """A criterion times a number.

    Parameters
    ----------
    factor : float
        The number; a negative one reverses the direction.
    criterion : Criterion
        The criterion that is scaled.
    """

    def __init__(self, factor: float, criterion: Criterion):
        self.factor, self.criterion = factor, criterion

    @property
    def greater_is_better(self) -> bool:
        return self.criterion.greater_is_better ^ (self.factor < 0)

    @property
    def nonnegative(self) -> bool:
        return self.criterion.nonnegative and self.factor >= 0

    def sized(self, n_features: int) -> Criterion:
        return Scaled(self.factor, self.criterion.sized(n_features))

    def set_formula(self) -> SetFormula | None:
        sets = self.criterion.set_formula()
        if sets is None:
            return None
        if self.factor <= 0:
            raise ValueError(f"{self!r}: a kernel can be scaled only by a positive number, got {self.factor!r}.")
        return sets._replace(terms=tuple(term._replace(factor=term.factor * self.factor) for term in sets.terms))

    def null(self) -> Null:
        null = self.criterion.null()
        if isinstance(null, LabelOrders) and self.factor > 0:
            return replace(null, weight=self.factor * null.weight)
        return FeatureOrders() if self.factor == 0 or isinstance(null, LabelOrders) else null

    def scorer(self, problem: Problem) -> Scorer:
        factor, inside = self.factor, self.criterion.scorer(problem)
        settle, form = inside.settle, inside.additive
        if form is not None:
            form = form._replace(finish=lambda values, root: factor * inside.as_additive().finish(values, root))
        if settle is None:
            return Scorer(inside.rows, lambda F: factor * inside.score(F), inside.cost, additive=form)

        def scaled(values: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
            finish = settle(values)
            return lambda some: factor * finish(some)

        return inside._replace(settle=scaled, additive=form)

    def text(self, word: Callable[[Criterion], str], exact: bool = False) -> str:
        short = f"{self.factor:g}"
        factor = repr(self.factor) if exact else short if float(short) == self.factor else repr(float(self.factor))
        return f"{factor} * {_grouped(self.criterion, word, exact, (Sum, Product) if exact else Sum)}"


def _combined(
    operation: Callable[[np.ndarray, np.ndarray], np.ndarray], left: Scorer, right: Scorer, corrected: bool = True
) -> Scorer:
    """The scorer of a sum or a product; values that need ``settle`` are stacked and settled at the end."""
    rows, cost, at = left.rows | right.rows, left.cost + right.cost, left.n_values
    form = None
    if left.additive is not None or right.additive is not None:
        form = _combined_form(operation, left.as_additive(), right.as_additive(), corrected)
    if left.settle is None and right.settle is None:
        return Scorer(rows, lambda F: operation(left.score(F), right.score(F)), cost, additive=form)

    def settle(values: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        first = _first if left.settle is None else left.settle(values[:at])
        second = _first if right.settle is None else right.settle(values[at:])
        return lambda some: operation(first(some[:at]), second(some[at:]))

    both = Scorer(rows, lambda F: np.vstack([left.score(F), right.score(F)]), cost, at + right.n_values, settle)
    return both._replace(additive=form)


def _combined_form(
    operation: Callable[[np.ndarray, np.ndarray], np.ndarray], left: Additive, right: Additive, corrected: bool
) -> Additive:
    """The additive form of a sum or a product: the values of both, and the operation on the two scores."""
    at = left.n_values

    def parts(F: Any, columns: slice) -> np.ndarray:
        return np.vstack([left.parts(F, columns), right.parts(F, columns)])

    def finish(values: np.ndarray, root: np.ndarray | None) -> np.ndarray:
        root = root if corrected else None
        return operation(left.finish(values[:at], root), right.finish(values[at:], root))

    return Additive(parts, finish, at + right.n_values)


def _first(values: np.ndarray) -> np.ndarray:
    return values[0]


def _grouped(criterion: Criterion, word: Callable[[Criterion], str], exact: bool, kinds: Any) -> str:
    """Text of an operand, in parentheses if it is of one of the given kinds."""
    text = criterion.text(word, exact)
    return f"({text})" if isinstance(criterion, kinds) else text


def _check_directions(verb: str, left: Criterion, right: Criterion) -> None:
    if left.greater_is_better != right.greater_is_better:
        up, down = (left, right) if left.greater_is_better else (right, left)
        raise ValueError(
            f"cannot {verb} {left!r} and {right!r}: large is good in {up!r} and small is good in {down!r}; "
            "multiply one of the summands by a negative number."
        )


def _scale(factor: float, criterion: Criterion) -> Criterion:
    if isinstance(criterion, Scaled):
        factor, criterion = factor * criterion.factor, criterion.criterion
    return Scaled(factor, criterion)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


# -------------------------------------------------------------------- one pass over the rows


def score_by_rows(criterion: Criterion, problem: Problem) -> np.ndarray:
    """Scores from two passes over blocks of rows per graph: one over a sample of the rows, one over all rows.

    They equal those of :meth:`Criterion.score` up to rounding.
    """
    summed = Problem(problem.X, problem.supervision, by_rows=True)
    scorer = criterion.scorer(summed)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(summed.built(Graph)[0].constant, np.nan, scorer.scores(scorer.score(SummedColumns())))


def fits_one_pass(criterion: Criterion, problem: Problem) -> bool:
    """Whether the formula needs only sums over the rows, and these fit into the working memory."""
    sums = [recipe.sums(problem) for recipe in criterion.recipes()]
    if not sums or None in sums or sum(filter(None, sums)) * 8.0 * problem.n_features > working_bytes():
        return False
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            criterion.scorer(_Rehearsal(problem)).score(SummedColumns())
        except NotAvailableError:
            return False
    return True


class _Rehearsal(Problem):
    """A problem without data, with graphs summed over a few artificial rows, to test whether sums are enough."""

    def __init__(self, problem: Problem):
        super().__init__(_Unread(problem.X.shape, np.float64, "X"), problem.supervision, by_rows=True)

    def graph(self, recipe: Buildable[Any]) -> Any:
        n, sizes, one = self.n_samples, np.array([1.0, 2.0, 3.0]), np.ones(1)
        sums = Sums(n, sizes * n / 6, np.diag(sizes), np.arange(3.0)[:, None], one, -one, one)
        return Graph(Summed(sums, np.zeros(1)))


class _Unread(Source):
    def _read(self, rows: slice, columns: slice | np.ndarray) -> Part:
        raise NotAvailableError("a formula cannot read values in one pass over the rows.")
