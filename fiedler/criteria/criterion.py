"""The base class of criteria, which score every feature, and their algebra: ``+``, ``*`` and scaling.

Scores are the raw values of the papers. A feature that is constant on the rows that its formula reads scores NaN; x/0
is inf and 0/0 is NaN. :mod:`fiedler.criteria.order` decides where such features are placed in an order.

To write a criterion, derive from :class:`Criterion` and define what differs from the defaults among four members:

    traits         facts about the score: its direction, and what it reads and accepts (:class:`Traits`)
    scorer()       the rows that it reads, numbers per column, and the score that follows (:class:`Scorer`)
    null()         how the score is tested against noise (:mod:`fiedler.criteria.nulls`)
    set_formula()  the formula for sets of features, for criteria that choose sets

The same scorer runs in memory, block by block, on a cluster, or in one pass over the rows. A fit reads a criterion once
and then uses the frozen result, :class:`Resolved`.

**Scores.** A scorer gives numbers per column, and a function that turns them into scores.

    parts(F, columns) -> a few numbers per column, such as energy and mass;   finish -> one score per feature

A feature that consists of several columns, such as a category, has one score. Its columns are not scored one by one:
their numbers are added, and ``finish`` gets the sums. A single column is a group of one. A quotient r = energy / mass
of a group is closer to the value r₀ of noise than that of one column, because it averages over several columns. It is
moved back by the effective number p of its columns:

    r' = r₀ - √p (r₀ - r),    p = (tr G)² / tr G²,    G: centred Gram matrix of the columns of the feature

Introduced in this library.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from ..data.arrays import Block, take_columns, take_rows, warn_if_uneven, without_units
from ..data.memory import working_bytes
from ..data.source import Source
from ..engine.blocks import is_constant, level_copies, map_columns
from ..engine.products import check_range
from ..errors import ParameterError, ParameterWarning
from ..graphs import Graph, Precomputed, Recipe, as_recipe, holds_graph
from ..graphs.anchors import SUMMED
from ..problem import FILL_HOLES, IMPUTER, ONLY_NUMBERS, Problem
from ..sets.formula import SetFormula
from ..validation import call_repr, parameters
from .nulls import Association, FeatureOrders, LabelOrders, Null, Quotient, null_of_formula


class Traits(NamedTuple):
    """Facts about a criterion that the rest of the package relies on.

    Parameters
    ----------
    greater_is_better : bool, default=False
        Whether a large score is good.
    nonnegative : bool, default=True
        Whether the score is never negative; both factors of a product must satisfy this.
    needs : {"classes", "target", "pairs"} or None, default=None
        The supervision that the criterion requires, in addition to what its graphs read.
    accepts : frozenset of str, default=frozenset()
        The supervision that the criterion uses if it is given.
    reads_scale : bool, default=False
        Whether the score depends on the units of the columns, apart from its graphs.
    groups : bool, default=False
        Whether numbers of the columns of a feature can be added, so that the score has a form for such features.
    missing : bool, default=True
        Whether X may have missing values; the score then reads the values that they were filled with.
    one_pass : bool, default=False
        Whether energies and moments on its graphs are enough, so that one pass over the rows may give them.
    blocks : bool, default=False
        Whether rows may fall into blocks, with a graph and standardised values in each.
    counts : bool, default=False
        Whether the score can read counts as Pearson residuals, given the depth of each row.
    """

    greater_is_better: bool = False
    nonnegative: bool = True
    needs: str | None = None
    accepts: frozenset[str] = frozenset()
    reads_scale: bool = False
    groups: bool = False
    missing: bool = True
    one_pass: bool = False
    blocks: bool = False
    counts: bool = False


class Criterion(BaseEstimator):
    """A formula that scores features. ``a + b``, ``a * b``, ``2 * a`` and ``a - b`` are criteria again.

    Attributes
    ----------
    traits : Traits
        Facts about the score; a class attribute, or a property if they depend on parameters.
    """

    traits: Any = Traits()

    def scorer(self, problem: Problem) -> Scorer:
        """The scorer for a problem; every criterion defines this method, except named methods and set criteria.

        Parameters
        ----------
        problem : Problem
            ``problem.graph(recipe)`` gives graphs, ``problem.supervision`` labels and pairs, and
            ``problem.n_wanted`` the number of features that will be selected, if it is known.

        Returns
        -------
        scorer : Scorer
            The rows that are read, numbers per column, and the score that follows.
        """
        raise TypeError(f"{type(self).__name__} is not a criterion that can be evaluated: it does not define scorer().")

    def null(self) -> Null:
        """How to test whether a feature scores better than by chance.

        Returns
        -------
        null : Quotient, LabelOrders, FeatureOrders or NoTest
            The kind of test; by default the values of the feature are permuted.
        """
        return FeatureOrders()

    def set_formula(self) -> SetFormula | None:
        """The formula for sets of features, for criteria that choose sets.

        Returns
        -------
        formula : SetFormula or None
            None for criteria that score features one by one.
        """
        return None

    # ---------------------------------------------------------------- what users ask

    @property
    def greater_is_better(self) -> bool:
        """Whether a large score is good."""
        return self.traits.greater_is_better

    @property
    def reads(self) -> set[str]:
        """The supervision that the formula requires: a subset of "classes", "target" and "pairs"."""
        return self.resolved().reads

    @property
    def uses(self) -> set[str]:
        """The supervision that changes the scores if it is given: the required and the optional kinds."""
        return self.resolved().uses

    @property
    def depends_on_scale(self) -> bool:
        """Whether the order of the features depends on the units of the columns, through the formula or its graphs."""
        return self.resolved().depends_on_scale

    @property
    def is_set(self) -> bool:
        """Whether features are chosen as a set, one after the other; the scores are then those of the first step."""
        return self.set_formula() is not None

    def recipes(self) -> list[Recipe]:
        """All graphs in the formula, each once.

        Returns
        -------
        recipes : list of Recipe
            The recipes in the order of the formula.
        """
        return list(self.resolved().recipes)

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
        problem, resolved = Problem.of(X, y, **told, groups=groups), self.resolved()
        resolved.check(problem)
        if resolved.depends_on_scale:
            warn_if_uneven(problem.X, problem.column_names, repr(self), {})
        return resolved.score(problem)

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

    def score(self, problem: Problem) -> np.ndarray:
        """Scores for an already validated problem.

        Parameters
        ----------
        problem : Problem
            X, its labels and pairs, and the graphs built so far.

        Returns
        -------
        scores : ndarray of shape (n_features,)
            The scores; NaN for a constant feature.
        """
        return self.resolved().score(problem)

    def check_problem(self, problem: Problem, called: Any = None) -> None:
        """Raise an error if the formula cannot use the given labels or pairs, or does not use the given graph.

        Parameters
        ----------
        problem : Problem
            X, its labels and pairs, and the graph that was passed as ``graph=``.
        called : str or Criterion, optional
            What the user called the criterion, for messages; by default its repr.
        """
        self.resolved().check(problem, called)

    # ---------------------------------------------------------------- the formula

    def expanded(self) -> Criterion:
        """The formula in primitive criteria, for a method that has a name.

        Returns
        -------
        criterion : Criterion
            The formula, in which no named method is left.
        """
        return self

    def resolved(self) -> Resolved:
        """Everything that a fit must know about the criterion, read once.

        Returns
        -------
        resolved : Resolved
            The formula, its graphs, and what follows from them.
        """
        formula = self.expanded()
        leaves, recipes = list[Criterion](), dict[Any, Recipe]()
        for part in formula.walk():
            if isinstance(part, Recipe):
                recipes.setdefault(part.key, part)
            elif not isinstance(part, Operation):
                leaves.append(part)
        traits, graphs = [leaf.traits for leaf in leaves], tuple(recipes.values())
        reads = ({each.needs for each in traits} | {graph.reads for graph in graphs}) - {"nothing", None}
        return Resolved(
            criterion=self,
            formula=formula,
            traits=formula.traits,
            leaves=tuple(leaves),
            recipes=graphs,
            sets=(sets := formula.set_formula()),
            is_set=sets is not None,
            greater_is_better=formula.traits.greater_is_better,
            reads=reads,
            uses=reads.union(*(each.accepts for each in traits)),
            depends_on_scale=any(each.reads_scale for each in traits) or any(graph.reads_X for graph in graphs),
            accepts_groups=all(each.groups for each in traits),
            accepts_missing=all(each.missing for each in traits),
            one_pass=bool(graphs) and all(each.one_pass for each in traits),
            accepts_blocks=bool(graphs) and all(each.blocks for each in traits),
        )

    def walk(self) -> Iterator[Criterion | Recipe]:
        """This criterion, followed by all parts inside it.

        Yields
        ------
        part : Criterion or Recipe
            Operands and graphs in the order of the formula.
        """
        yield self
        for value in parameters(self).values():
            if isinstance(value, (Criterion, Recipe)):
                yield from value.walk()
            elif not isinstance(value, (Real, str, type(None))) and holds_graph(value):
                yield from as_recipe(value).walk()

    def __add__(self, other: Any) -> Criterion:
        return Sum(self, other).checked() if isinstance(other, Criterion) else NotImplemented

    def __sub__(self, other: Any) -> Criterion:
        return self + (-1.0) * other if isinstance(other, Criterion) else NotImplemented

    def __mul__(self, other: Any) -> Criterion:
        if isinstance(other, Criterion):
            return Product(self, other).checked()
        if not isinstance(other, Real) or isinstance(other, bool):
            return NotImplemented
        if isinstance(self, Scaled):
            return Scaled(other * self.factor, self.criterion)  # type: ignore[arg-type]
        return Scaled(other, self)  # type: ignore[arg-type]

    __rmul__ = __mul__

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


# -------------------------------------------------------------------- what a fit knows


@dataclass(frozen=True, eq=False, repr=False)
class Resolved:
    """A criterion that was read once: its formula, its graphs, and what follows from them.

    Parameters
    ----------
    criterion : Criterion
        The criterion as the user wrote it.
    formula : Criterion
        The same in primitive criteria.
    traits : Traits
        Those of the formula; direction and sign are valid for the whole.
    leaves : tuple of Criterion
        The primitive criteria in the formula.
    recipes : tuple of Recipe
        The graphs in the formula, each once.
    sets : SetFormula or None
        The formula for sets, if features are chosen as a set.
    is_set, greater_is_better : bool
        Whether features are chosen as a set, and whether a large score is good.
    reads, uses : set of str
        The supervision that the formula requires, and that changes its scores if it is given.
    depends_on_scale, accepts_groups, accepts_missing, one_pass, accepts_blocks : bool
        What holds for all parts of the formula, as in :class:`Traits`.
    """

    criterion: Criterion
    formula: Criterion
    traits: Traits
    leaves: tuple[Criterion, ...]
    recipes: tuple[Recipe, ...]
    sets: SetFormula | None
    is_set: bool
    greater_is_better: bool
    reads: set[str]
    uses: set[str]
    depends_on_scale: bool
    accepts_groups: bool
    accepts_missing: bool
    one_pass: bool
    accepts_blocks: bool

    def __repr__(self) -> str:
        return repr(self.criterion)

    def check(self, problem: Problem, called: Any = None) -> None:
        """Raise an error if the formula cannot use X, the labels or the pairs, or does not use the given graph.

        ``called`` is what the user called the criterion, for messages; by default its repr.
        """
        name, known, reads = called if isinstance(called, str) else repr(self), problem.supervision, self.reads
        if problem.groups is not None and not self.accepts_groups:
            lost = next(leaf for leaf in self.leaves if not leaf.traits.groups)
            why = f", because of {lost!r}" if isinstance(self.criterion, Operation) else ""
            raise ParameterError(
                f"{name} has no form for features of several columns (categories or groups){why}; "
                "use 'subset', 'laplacian', 'fisher', 'relieff', 'constraint' or 'correlation', or "
                f"{'pass numeric columns only' if self.accepts_missing else problem.only_numbers()}.",
                parameter="criterion",
                value=self.criterion,
                way_out=ONLY_NUMBERS | FILL_HOLES,
            )
        if problem.known is not None and not self.accepts_missing:
            raise ParameterError(
                f"{name} cannot be computed with missing values (NaN) in X; fill them first with {IMPUTER}, or use "
                "'laplacian' or 'subset'.",
                parameter="criterion",
                value=self.criterion,
                way_out=FILL_HOLES,
            )
        if problem.blocks is not None and not self.accepts_blocks:
            lost = next(leaf for leaf in self.leaves if not leaf.traits.blocks)
            raise ParameterError(
                f"{name} has no form for blocks of rows, because of {lost!r}; use 'subset', 'laplacian', 'sls', "
                "'constraint' or 'multiscale', or select in every block by itself.",
                parameter="criterion",
                value=self.criterion,
            )
        if problem.depth is not None and not all(leaf.traits.counts for leaf in self.leaves):
            message = f"{name} does not read counts with a depth; use 'multiscale', or normalise the counts first."
            raise ParameterError(message, parameter="depth")
        if problem.blocks is not None and self.is_set and not isinstance(problem.X, np.ndarray):
            raise ParameterError(
                f"{name} chooses sets, which need values standardised inside blocks, and X is sparse or not in memory; "
                "use 'laplacian' or 'multiscale', or pass a dense array.",
                parameter="blocks",
            )
        if known.y is None and (reads - {"pairs"} or (reads and not known.has_pairs)):
            what = {"classes": "class labels", "target": "a real-valued target", "pairs": "pairs or class labels"}
            pairs = "; pass must_link and cannot_link, or class labels that imply them" * ("pairs" in reads)
            if known.has_pairs:
                pairs = "; must_link and cannot_link pairs cannot replace it, use the method 'constraint'"
            # scikit-learn's checks expect the words of the first clause.
            absent = "y to be passed, but the target y is None"
            message = f"{name} requires {absent}: it reads {' and '.join(what[kind] for kind in sorted(reads))}{pairs}."
            raise ParameterError(message, parameter=("y", "must_link", "cannot_link"), way_out={absent: ("y", ...)})
        if known.y is not None:  # read here, so that an error names the whole formula
            if "target" in reads:
                known.target(name)
            if "classes" in reads or ("pairs" in reads and not known.has_pairs):
                known.classes(name)
        given = any(isinstance(recipe, Precomputed) and recipe.W is None for recipe in self.recipes)
        if problem.given is not None and not given:
            raise ValueError(
                f"graph= was passed, but {name} does not use it; put Precomputed() into the formula, for "
                "example LaplacianScore(Precomputed())."
            )

    def score(self, problem: Problem) -> np.ndarray:
        """Scores for an already validated problem; NaN for a constant feature."""
        return self.scored(problem)[0]

    def scored(self, problem: Problem) -> tuple[np.ndarray, np.ndarray | None]:
        """Scores, and values that order infinite scores; one pass over the rows is made where it is enough."""
        if problem.supervision.has_pairs and "pairs" not in self.uses:
            what = f"{self!r} reads no pairs: must_link and cannot_link are ignored"
            message = f"{what}; use ConstraintScore() or multiply by it."
            warnings.warn(ParameterWarning(message, parameter=("must_link", "cannot_link")), stacklevel=3)
        if self.sets is not None:
            return self.sets.first_scores(problem), None
        if isinstance(problem.X, Source) and problem.X.by_rows and self.fits_one_pass(problem):
            return score_by_rows(self.formula, problem), None
        return self.formula.scorer(problem).scored(problem)

    def weights(self, problem: Problem) -> np.ndarray | None:
        """The scores as factors of gains; None if they cannot differ."""
        if isinstance(problem.X, Source) and problem.X.by_rows and self.fits_one_pass(problem):
            return score_by_rows(self.formula, problem)
        scorer = self.formula.scorer(problem)
        return scorer.scored(problem)[0] if scorer.informative else None

    def informative(self, problem: Problem) -> bool:
        """Whether the scores of the features can differ for this problem."""
        return self.formula.scorer(problem).informative

    def fits_one_pass(self, problem: Problem) -> bool:
        """Whether the formula needs only sums over the rows, and these fit into memory."""
        able = self.one_pass and problem.blocks is None
        sums = [recipe.sums(problem) for recipe in self.recipes] if able else [None]
        return None not in sums and sum(filter(None, sums)) * 8.0 * problem.n_features <= working_bytes()


def score_by_rows(formula: Criterion, problem: Problem) -> np.ndarray:
    """Scores from two passes over blocks of rows per graph: one over a sample of the rows, one over all rows.

    They equal those of :meth:`Scorer.scored` up to rounding.
    """
    summed = Problem(problem.X, problem.supervision, by_rows=True)
    scorer = formula.scorer(summed)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        values = np.atleast_2d(scorer.parts(SUMMED, None))
        return np.where(summed.built(Graph)[0].constant, np.nan, scorer.finish(values, Features(values)))


# -------------------------------------------------------------------- algebra


class Operation(Criterion):
    """A criterion made of others; what it reads and accepts follows from them."""


class Pair(Operation):
    """A sum or a product of two criteria, ``left`` and ``right``."""

    operation: Any  # np.add or np.multiply
    verb: str

    def __init__(self, left: Criterion, right: Criterion):
        self.left, self.right = left, right

    def expanded(self) -> Criterion:
        return type(self)(self.left.expanded(), self.right.expanded()).checked()

    @property
    def traits(self) -> Traits:
        left, right = self.left.traits, self.right.traits
        return Traits(left.greater_is_better, left.nonnegative and right.nonnegative)

    def checked(self) -> Criterion:
        """This criterion, after a check that its operands can be combined.

        Returns
        -------
        criterion : Criterion
            Itself.
        """
        left, right = self.left, self.right
        if left.greater_is_better != right.greater_is_better:
            up, down = (left, right) if left.greater_is_better else (right, left)
            raise ValueError(
                f"cannot {self.verb} {left!r} and {right!r}: large is good in {up!r} and small is good in {down!r}; "
                "multiply one of the summands by a negative number."
            )
        self.set_formula()
        return self

    def scorer(self, problem: Problem) -> Scorer:
        left, right = self.left.scorer(problem), self.right.scorer(problem)
        at, operation, corrected = left.n, self.operation, isinstance(self, Sum)

        def parts(F: Any, columns: Any) -> np.ndarray:
            return np.vstack([left.parts(F, columns), right.parts(F, columns)])

        def finish(values: np.ndarray, among: Features) -> np.ndarray:
            # Inside a product quotients of groups are not corrected, because a corrected factor may be negative.
            among = among if corrected else among._replace(root=None)
            first = left.finish(values[:at], among.only(slice(at)))
            return operation(first, right.finish(values[at:], among.only(slice(at, None))))

        rows, cost, compares = left.rows | right.rows, left.cost + right.cost, left.compares or right.compares
        return Scorer(rows, parts, finish, cost, at + right.n, compares)


class Sum(Pair):
    """The sum of two criteria, which must have the same direction.

    Parameters
    ----------
    left, right : Criterion
        The summands.
    """

    operation, verb = np.add, "add"

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
        both = self.left.null(), self.right.null()
        labels = next((part for part in both if isinstance(part, LabelOrders)), None)
        graph = next((part for part in both if isinstance(part, Quotient) and part.other is None), None)
        same = labels is not None and graph is not None and labels.graph.key == graph.graph.key
        return labels if same else null_of_formula(*both)  # type: ignore[return-value]

    def text(self, word: Callable[[Criterion], str], exact: bool = False) -> str:
        left, right = self.left, self.right
        if isinstance(right, Scaled) and right.factor < 0:
            return f"{left.text(word, exact)} - {Scaled(-right.factor, right.criterion).text(word, exact)}"
        return f"{left.text(word, exact)} + {_grouped(right, word, exact, Sum if exact else ())}"


class Product(Pair):
    """The product of two criteria, which must be non-negative and have the same direction.

    Parameters
    ----------
    left, right : Criterion
        The factors.
    """

    operation, verb = np.multiply, "multiply"

    def checked(self) -> Criterion:
        super().checked()
        for factor in (self.left, self.right):
            if not factor.traits.nonnegative:
                raise ValueError(f"cannot multiply by {factor!r}: it may be negative; factors must be non-negative.")
        return self

    def set_formula(self) -> SetFormula | None:
        # In a score times a set criterion, every gain is multiplied by the score of its feature.
        left, right = self.left.set_formula(), self.right.set_formula()
        if left is not None and right is not None:
            what = "both choose sets of features; add their kernels instead"
            raise ValueError(f"cannot multiply {self.left!r} and {self.right!r}: {what}.")
        sets, factor = (left, self.right) if left is not None else (right, self.left)
        return None if sets is None else sets._replace(factors=(*sets.factors, factor.resolved()))

    def null(self) -> Null:
        both = self.left.null(), self.right.null()
        if not self.is_set:
            return null_of_formula(*both)
        # A set is tested on its graph, or by what a relevance of its gains reads; other factors do not matter.
        of_set, of_factor = both if self.left.is_set else reversed(both)
        return replace(of_factor, otherwise=of_set) if isinstance(of_factor, Association) else of_set

    def text(self, word: Callable[[Criterion], str], exact: bool = False) -> str:
        right = _grouped(self.right, word, exact, (Sum, Product) if exact else Sum)
        return f"{_grouped(self.left, word, exact, Sum)} * {right}"


class Scaled(Operation):
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

    def expanded(self) -> Criterion:
        return Scaled(self.factor, self.criterion.expanded())

    @property
    def traits(self) -> Traits:
        inside = self.criterion.traits
        return Traits(inside.greater_is_better ^ (self.factor < 0), inside.nonnegative and self.factor >= 0)

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
        return inside._replace(finish=lambda values, among: factor * inside.finish(values, among), ties=None)

    def text(self, word: Callable[[Criterion], str], exact: bool = False) -> str:
        short = f"{self.factor:g}"
        factor = repr(self.factor) if exact else short if float(short) == self.factor else repr(float(self.factor))
        return f"{factor} * {_grouped(self.criterion, word, exact, (Sum, Product) if exact else Sum)}"


def _grouped(criterion: Criterion, word: Callable[[Criterion], str], exact: bool, kinds: Any) -> str:
    """Text of an operand, in parentheses if it is of one of the given kinds."""
    text = criterion.text(word, exact)
    return f"({text})" if isinstance(criterion, kinds) else text


# -------------------------------------------------------------------- numbers per column, and the score that follows


class Features(NamedTuple):
    """All features of a problem, which ``finish`` may compare a feature with.

    Attributes
    ----------
    values : ndarray of shape (n, n_features)
        The numbers of all features; NaN for constant ones.
    root : ndarray of shape (n_features,) or None
        √p of the features; None if no feature has several columns, and inside products.
    """

    values: np.ndarray
    root: np.ndarray | None = None

    def only(self, rows: slice) -> Features:
        """The same with some of the numbers."""
        return Features(self.values[rows], self.root)


def first(values: np.ndarray, among: Features) -> np.ndarray:
    """The first number of every feature is its score."""
    return values[0]


class Scorer(NamedTuple):
    """How a criterion scores the columns of one problem.

    Parameters
    ----------
    rows : ndarray of bool, shape (n_samples,)
        The rows that the score reads; a feature that is constant on these rows has no score.
    parts : callable
        A float64 block of columns, and the slice of its columns in X (None if they are not columns of X) -> ``n``
        numbers per column, which are added over the columns of a feature.
    finish : callable, optional
        The numbers of some features, and :class:`Features` -> scores. By default the first number is the score.
    cost : float, default=1.0
        Approximate number of operations per value of X; it decides whether threads are used.
    n : int, default=1
        How many numbers ``parts`` gives.
    compares : bool, default=False
        Whether ``finish`` compares a feature with the other features.
    informative : bool, default=True
        Whether the scores can differ; an uninformative factor of a set criterion is left out.
    ties : callable, optional
        The numbers of all features -> values that order features with infinite scores, in the direction of the scores.
    """

    rows: np.ndarray
    parts: Callable[[Any, Any], np.ndarray]
    finish: Callable[[np.ndarray, Features], np.ndarray] = first
    cost: float = 1.0
    n: int = 1
    compares: bool = False
    informative: bool = True
    ties: Callable[[np.ndarray], np.ndarray] | None = None

    def values(self, F: Block, columns: slice | None = None) -> np.ndarray:
        """The numbers of a block of columns; NaN for constant columns.

        Parameters
        ----------
        F : ndarray or csc_array
            A float64 block of columns.
        columns : slice, optional
            The columns of X in the block.

        Returns
        -------
        values : ndarray of shape (n, b)
            The result of ``parts``.
        """
        return np.where(is_constant(F, self.rows), np.nan, np.atleast_2d(self.parts(F, columns)))

    def of_features(self, problem: Problem) -> Features:
        """The numbers of all features of a problem.

        Parameters
        ----------
        problem : Problem
            X and its features.

        Returns
        -------
        features : Features
            Sums over the columns of every feature; NaN if all of them are constant.
        """
        groups = problem.groups
        if groups is None:
            return Features(map_columns(self.values, problem.X, self.cost, numbered=True))

        def counted(F: Block, columns: slice) -> np.ndarray:
            varies = ~is_constant(F, self.rows)
            return np.vstack([np.where(varies, self.parts(F, columns), 0.0), varies])

        sums = groups.sum(map_columns(counted, problem.X, self.cost, numbered=True))
        values = np.where(sums[-1] > 0.0, sums[:-1], np.nan)
        return Features(values, np.sqrt(effective_columns(problem, self.rows)))

    def scored(self, problem: Problem) -> tuple[np.ndarray, np.ndarray | None]:
        """The scores of all features, and values that order those with infinite scores.

        Parameters
        ----------
        problem : Problem
            X and its features.

        Returns
        -------
        scores : ndarray of shape (n_features,)
            The scores; equal for identical columns.
        ties : ndarray of shape (n_features,) or None
            The result of ``ties``.
        """
        every = self.of_features(problem)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            scores = self.finish(every.values, every)
        if problem.groups is None:
            if problem.known is None:
                check_range(problem.X, np.flatnonzero(~np.isfinite(scores)))
            scores = level_copies(scores, problem.X)
        return scores, None if self.ties is None else self.ties(every.values)

    def of_columns(self, X: Any) -> Callable[[Block], np.ndarray]:
        """A function that scores any block of columns, comparing them with the columns of X.

        Parameters
        ----------
        X : ndarray, csc_array or Source
            All columns.

        Returns
        -------
        score : callable
            A block of columns -> one score per column.
        """
        every = Features(map_columns(self.values, X, self.cost) if self.compares else np.empty((self.n, 0)))
        return lambda F: self.finish(np.atleast_2d(self.parts(F, None)), every)


def effective_columns(problem: Problem, rows: np.ndarray) -> np.ndarray:
    """The effective number p = (tr G)² / tr G² of columns of every feature, on some rows; 1 for a single column."""
    groups, sizes = problem.groups, np.ones(problem.n_features)
    assert groups is not None
    for feature in np.flatnonzero(groups.sizes > 1):
        C = take_rows(take_columns(problem.X, groups.columns(int(feature))), rows)
        C = C - C[0]
        C = without_units(C - C.mean(axis=0), None)
        G = C.T @ C if C.shape[1] <= C.shape[0] else C @ C.T
        squares = float(np.sum(G * G))
        sizes[feature] = float(np.trace(G)) ** 2 / squares if squares > 0.0 else 1.0
    return sizes


def per_feature(problem: Problem, values: np.ndarray) -> np.ndarray:
    """Values of the columns as values of the features: the mean over their columns."""
    return values if problem.groups is None else problem.groups.mean(values)
