"""Significance tests of all features, each on a graph that was not built from it, and their q-values.

    Quotient        Pearson III in closed form; for one graph never below the normal tail
    ClosedForm      Pearson III in closed form, of quotients of a criterion's own
    LabelOrders     permuted labels, 999 times unless n_permutations is given
    FeatureOrders   permuted features, if n_permutations is given

:meth:`fiedler.criteria.Criterion.null` states which of these a criterion uses. Graphs of labels, targets and pairs, and
graphs that are given, are used directly. A graph built from X is cross-fitted: features are split into folds, and each
fold is tested on a graph built from the other folds.

Warnings name data for which p-values are too small, too large, or not informative. Which columns agree with others is a
test too; its statistic, its null and its rounds are in :mod:`fiedler.engine.agreement`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.stats import f_oneway

from ..criteria import Rayleigh
from ..criteria.closed_form import Null as ClosedTest
from ..criteria.closed_form import RatioNull, RayleighNull, Verdict
from ..criteria.criterion import Resolved
from ..criteria.nulls import Association, ClosedForm, LabelOrders, NoTest, Null, Quotient
from ..criteria.relevance import informative
from ..criteria.scales import SCALES, decisive
from ..data.arrays import Block, dense, take_columns
from ..data.source import Source
from ..data.work import counting
from ..engine.blocks import level_copies, map_columns
from ..engine.permuted import adjusted
from ..engine.products import check_range, is_integer
from ..graphs import Graph
from ..graphs.neighbors import column_agreement
from ..problem import Problem
from ..validation import check_choice, check_integer, check_share, is_sparse
from ..words import to_frame
from .association import FEWEST_PAIRS, FEWEST_ROWS, association
from .crossfit import CrossFit
from .permutations import permuted_features, permuted_labels

Test: TypeAlias = Callable[[Block], Verdict]
# A problem whose graphs were not built from the columns, and a seed.
Builder: TypeAlias = Callable[[Problem, Any], Test]

_LABEL_ORDERS = 999
_FALLBACK = "use n_permutations=999 to test it by permutations"


@dataclass(frozen=True, eq=False, repr=False)
class Significance:
    """Results of the significance tests of all features.

    Parameters
    ----------
    pvalues : ndarray of shape (n_features,)
        Probability of a score at least as good as that of the feature if its values are randomly permuted. NaN for a
        feature that is constant on the rows that the criterion reads. With repeated folds it is the median.
    qvalues : ndarray of shape (n_features,)
        The smallest false discovery rate (FDR) at which the feature is significant, after the correction.
    z : ndarray of shape (n_features,)
        Number of standard deviations from the mean under H₀, negative if the score is better. In closed form it refers
        to the quadratic form f'Af, whose sign compares the score with that of a permutation.
    effect : ndarray of shape (n_features,)
        Effect size 1 - score / mean under H₀: 0 for noise, 1 for a feature that does not vary along any edge. In
        contrast to significance it does not grow with the number of rows. If large is good, it is 1 - mean / score.
    correction : {"bh", "by"}
        The correction from p-values to q-values.
    n_folds, n_repeats : int or None
        Numbers of folds and repeats; None if the graph is not built from features, so that no folds are needed.
    n_permutations : int or None
        Number of permutations; None for a closed form. No p-value is below 1 / (n_permutations + 1).
    feature_names : ndarray
        Column names, or numbers.
    test : str
        What was tested: the "score" of the criterion, or "association with" class labels, a target or pairs.
    parts : ndarray of shape (3, n_features) or None
        The p-values of the three scales that :class:`fiedler.MultiScale` combines: edges, walks, tissue.
    scale : ndarray of shape (n_features,) or None
        The scale with the smallest p-value; of equal ones, such as 0, the one with the largest deviation.
    """

    pvalues: np.ndarray
    qvalues: np.ndarray
    z: np.ndarray
    effect: np.ndarray
    correction: str
    n_folds: int | None
    n_repeats: int | None
    n_permutations: int | None
    feature_names: np.ndarray
    test: str = "score"
    parts: np.ndarray | None = None
    scale: np.ndarray | None = None

    def n_significant(self, alpha: float = 0.1) -> int:
        """Number of significant features at a false discovery rate.

        Parameters
        ----------
        alpha : float, default=0.1
            The largest q-value. This is the expected share of noise among the significant features.

        Returns
        -------
        int
            Number of q-values that are at most alpha.
        """
        check_share("alpha", alpha)
        return int(np.sum(self.qvalues <= alpha))

    def frame(self) -> Any:
        """The result as a pandas DataFrame.

        Returns
        -------
        frame : DataFrame
            One row per feature, with feature, p, q, z and effect; with scales also scale, and p of each scale.
        """
        values: dict[str, Any] = {"p": self.pvalues, "q": self.qvalues, "z": self.z, "effect": self.effect}
        if self.parts is not None:
            values |= {"scale": self.scale} | {f"p_{name}": p for name, p in zip(SCALES, self.parts, strict=True)}
        return to_frame({"feature": self.feature_names} | values)

    def __repr__(self) -> str:
        dealt = "" if self.n_folds is None else f", n_folds={self.n_folds}, n_repeats={self.n_repeats}"
        orders = "" if self.n_permutations is None else f", n_permutations={self.n_permutations}"
        found = f"n_significant={self.n_significant()} at alpha=0.1"
        test = "" if self.test == "score" else f", test={self.test!r}"
        about = f"{found}, correction={self.correction!r}{dealt}{orders}{test}"
        return f"Significance(n_features={len(self.pvalues)}, {about})"


def discover(
    resolved: Resolved,
    problem: Problem,
    *,
    n_folds: int = 10,
    n_repeats: int = 5,
    groups: Any = None,
    correction: str = "bh",
    alpha: float = 0.1,
    n_permutations: int | None = None,
    random_state: int = 0,
    covariates: Any = None,
) -> Significance:
    """Test whether features score better than their permuted values; parameters as in evaluate.significance."""
    check_choice("correction", correction, ("bh", "by"))
    check_share("alpha", alpha)
    check_integer("random_state", random_state, 0)
    if n_permutations is not None:
        check_integer("n_permutations", n_permutations, 19)  # with fewer permutations no p-value reaches 0.05
    problem.check_plain("p-values")
    resolved.check(problem)
    null, kind = resolved.formula.null(), associated_with(resolved, problem)
    while isinstance(null, Association) and kind is None:
        null = null.otherwise
    if kind is None:
        builder, orders = _test_of(resolved, null, n_permutations)
        recipes = null.recipes if isinstance(null, (Quotient, ClosedForm, LabelOrders)) else resolved.recipes
    else:
        (builder, orders), recipes = association(problem, kind, n_permutations), ()
    if problem.depth is not None:
        builder = _changed(builder, "depth", partial(ClosedTest.of_counts, depth=problem.depth))
    if covariates is not None:
        Z = _checked_covariates(covariates, problem.n_samples)
        builder = _changed(builder, "covariates", partial(ClosedTest.adjusted_for, covariates=Z))
    folds: tuple[int | None, int | None] = None, None
    if any(recipe.reads_X for recipe in recipes):
        if n_folds == 1:
            what = "n_folds=1 would test features on a graph built from them, so that noise looks significant"
            raise ValueError(f"{what}; use 2 or more.")
        folds = check_integer("n_folds", n_folds, 2), check_integer("n_repeats", n_repeats, 1)
        if isinstance(problem.X, Source):
            raise ValueError(
                f"{resolved!r} builds its graph from X and needs X in memory for every fold, but {problem.X.label} is "
                "read in blocks; load it first, or pass a graph as Precomputed(W)."
            )
        dealt = CrossFit(recipes, problem, groups)
        found = _crossfitted(builder, dealt, *folds, random_state)
    else:
        test = builder(problem, random_state)
        tested = lambda: Verdict.of(map_columns(lambda F: test(F).stacked(), problem.X))  # noqa: E731
        key = null.key if isinstance(null, ClosedForm) and covariates is None else None
        supervised = any(recipe.supervised for recipe in recipes)
        found = tested() if key is None else problem.keep(key, tested, supervised)
        check_range(problem.X, np.flatnonzero(np.isnan(found.p)))
    p, z, effect = (level_copies(values, problem.X) for values in found[:3])
    if problem.blocks is None and folds[0] is None:
        warn_of_components(problem, [problem.graph(recipe) for recipe in recipes if not recipe.supervised])
    q = adjusted(p, correction)
    warn_of_rare_values(found.rarer)
    warn_of_heavy_tails(found.skewness)
    if folds[0] is not None:
        warn_of_structure(q, alpha)
    words = {"classes": "class labels", "target": "a target", "pairs": "pairs"}
    test_of = "score" if kind is None else f"association with {words[kind]}"
    names = np.arange(problem.n_features)
    parts, scale = None, None
    if found.parts is not None:
        parts = found.parts[0]
        scale = np.array(SCALES, dtype=object)[decisive(*found.parts)]
    return Significance(p, q, z, effect, correction, *folds, orders, names, test_of, parts, scale)


def associated_with(resolved: Resolved, problem: Problem) -> str | None:
    """The supervision that features are tested for association with; None if their structure is tested."""
    null = resolved.formula.null()
    return informative(problem.supervision, null.task) if isinstance(null, Association) else None


def associated(resolved: Resolved, problem: Problem) -> np.ndarray:
    """q-values of the association of features with what a criterion reads; 1 if it reads nothing, or too few rows."""
    null, uses = resolved.formula.null(), resolved.uses
    task = "target" if uses == {"target"} else "auto" if "target" in uses else "classes"
    kind = informative(problem.supervision, null.task if isinstance(null, Association) else task) if uses else None
    builder, orders = (None, None) if kind is None else association(problem, kind, None)
    if builder is None or orders is not None:  # permutations of few rows never pass a correction for many features
        return np.ones(problem.n_features)
    test = builder(problem, None)
    p = map_columns(lambda F: test(F).p, problem.X)
    if problem.groups is not None:  # the best column of a feature, corrected for their number
        least = np.full(problem.n_features, np.nan)
        np.fmin.at(least, problem.groups.owner, p)
        p = np.minimum(least * problem.groups.sizes, 1.0)
    return np.nan_to_num(adjusted(p), nan=1.0)


# -------------------------------------------------------------------- the test of a criterion


def _test_of(criterion: Resolved, null: Null, n_permutations: int | None) -> tuple[Builder, int | None]:
    """The function that builds the test on graphs, and its number of permutations; raises if there is no test."""
    if isinstance(null, NoTest):
        raise ValueError(f"{criterion!r} {null.why}")
    if isinstance(null, LabelOrders):
        orders = _LABEL_ORDERS if n_permutations is None else n_permutations

        def by_labels(problem: Problem, seed: Any) -> Test:
            codes, scorer = problem.supervision.classes("SSelect")[0], criterion.formula.scorer(problem)
            score, graph = scorer.of_columns(problem.X), problem.graph(null.graph)
            return permuted_labels(scorer.rows, score, null.weight, graph, codes, orders, seed)

        return by_labels, orders
    if n_permutations is not None:
        # The features of a set are tested one by one, by the quotient on its graph.
        scored = Rayleigh(null.graph).resolved() if criterion.is_set and isinstance(null, Quotient) else criterion

        def by_features(problem: Problem, seed: Any) -> Test:
            scorer, good = scored.formula.scorer(problem), (scored.greater_is_better, scored.traits.nonnegative)
            score = scorer.of_columns(problem.X)
            return permuted_features(scorer.rows, score, n_permutations, *good, seed, problem.block_rows)

        return by_features, n_permutations
    if isinstance(null, Quotient):
        return partial(_in_closed_form, criterion, null), None
    if isinstance(null, ClosedForm):
        return lambda problem, seed: _checked(criterion, null.build(problem)), None
    raise ValueError(
        f"{criterion!r} has no null distribution in closed form; only Rayleigh quotients on similarity graphs, the "
        f"Fisher score and C1 have one. Instead, {_FALLBACK}."
    )


def _in_closed_form(criterion: Resolved, null: Quotient, problem: Problem, seed: Any) -> Test:
    above = problem.graph(null.graph)
    if null.other is None:
        test: RayleighNull | RatioNull = RayleighNull(above)
    else:
        below = problem.graph(null.other)
        if min(above.n_edges, below.n_edges) < FEWEST_PAIRS:
            pairs = f"{above.n_edges} and {below.n_edges} pairs"
            _refuse(criterion, f"has {pairs}, fewer than the {FEWEST_PAIRS} + {FEWEST_PAIRS}")
        test = RatioNull(above, below)
    return _checked(criterion, test)


def _checked(criterion: Resolved, test: ClosedTest) -> ClosedTest:
    if test.n < FEWEST_ROWS:
        _refuse(criterion, f"reads {test.n} rows, fewer than the {FEWEST_ROWS}")
    return test


def _changed(builder: Builder, what: str, change: Callable[[ClosedTest], ClosedTest]) -> Builder:
    """The same tests with counts, or without the effect of covariates."""

    def build(problem: Problem, seed: Any) -> Test:
        test = builder(problem, seed)
        if not isinstance(test, ClosedTest):
            way_out = "use 'multiscale' or 'moran', and no n_permutations"
            raise ValueError(f"{what} needs a test in closed form; {way_out}.")
        return change(test)

    return build


def _checked_covariates(covariates: Any, n_samples: int) -> np.ndarray:
    Z = np.asarray(covariates, dtype=np.float64)
    Z = Z[:, None] if Z.ndim == 1 else Z
    if Z.ndim != 2 or len(Z) != n_samples or not np.isfinite(Z).all():
        raise ValueError(
            f"covariates must be finite numbers, one row for each of the {n_samples} rows of X, got an array of shape "
            f"{np.shape(covariates)}; give one column per covariate, without missing values."
        )
    return Z


def _refuse(criterion: Resolved, what: str) -> NoReturn:
    raise ValueError(f"{criterion!r} {what} that its closed form needs; {_FALLBACK}.")


# -------------------------------------------------------------------- folds


def _crossfitted(builder: Builder, dealt: CrossFit, n_folds: int, n_repeats: int, random_state: int) -> Verdict:
    """The test results of each column on the graph of its fold, as the median over repeats."""
    found: Any = None
    with counting("folds", n_repeats * n_folds) as count:
        for repeat in range(n_repeats):
            seed = [random_state, repeat]
            for number, fold in enumerate(dealt.folds(n_folds, seed)):
                with warnings.catch_warnings():
                    if repeat or number:  # all graphs give the same warnings, so only the first ones are shown
                        warnings.simplefilter("ignore", UserWarning)
                    test = builder(fold.others, seed)
                    values = map_columns(lambda F, test=test: test(F).stacked(), fold.X)
                if found is None:
                    found = np.empty((n_repeats, len(values), dealt.X.shape[1]))
                found[repeat][:, fold.columns] = values
                if not (repeat or number):
                    warn_of_sizes(dealt.X)
                    warn_of_order(fold.others)
                count()
            count.reach((repeat + 1) * n_folds)  # few columns make fewer folds
    check_range(dealt.X, np.flatnonzero(np.isnan(found[0, 0])))
    return Verdict.of(np.median(found, axis=0))


# -------------------------------------------------------------------- when p-values mean less


_NEARLY_ALL = 0.9  # share of the features that counts as nearly all
# Number of leading vectors; limits of their autocorrelation, absolute and in 1/√n.
_VECTORS, _IN_ORDER, _CHANCE = 3, 0.5, 4.0
_UNEQUAL = 0.2  # relative standard deviation of the row totals of counts that gives a warning
_RARE = 10  # fewer rows with the rarer of two values give a warning
# Components of a graph: how many and how large, and how many of how many features must differ between them.
_MOST_COMPONENTS, _LARGE, _LARGE_SHARE, _SEEN, _DIFFERENT, _MANY_DIFFER = 1000, 10, 0.02, 200, 1e-3, 0.2
_SEEN_VALUES = 1e7
_SKEWED, _MANY = 0.5, 0.1  # limits of the skewness of the null, and of the share of features above it


def warn_of_structure(q: np.ndarray, alpha: float) -> None:
    """Warn if most features are significant, because the test then does not separate them."""
    found, tested = int(np.sum(q <= alpha)), int(np.sum(~np.isnan(q)))
    if 2 * found > tested:
        share = "nearly all" if found >= _NEARLY_ALL * tested else "more than half"
        _warn(
            f"{found} of {tested} features are significant (q <= {alpha:g}): the features share structure, and "
            f"{share} of them follow it; rank by effect to choose among them."
        )


def warn_of_components(problem: Problem, given: list[Graph]) -> None:
    """Warn if a given graph falls into large components with different means: they may be slides or batches."""
    for graph in given:
        if graph.storage == "summed" or not 1 < graph.n_components <= _MOST_COMPONENTS:
            continue
        sizes = np.bincount(graph.components[graph.active])
        large = np.flatnonzero(sizes >= max(_LARGE, _LARGE_SHARE * graph.n_nodes))
        if len(large) < 2:
            continue
        seen = int(np.clip(_SEEN_VALUES / graph.n_nodes, 10, _SEEN))
        some = np.unique(np.linspace(0, problem.X.shape[1] - 1, seen).astype(np.intp))
        groups = [np.flatnonzero(graph.components == part) for part in large]
        X = dense(take_columns(problem.X, some))
        with np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings(action="ignore"):
            p = f_oneway(*(X[rows] for rows in groups), axis=0).pvalue
        differ = np.mean(np.nan_to_num(p, nan=1.0) < _DIFFERENT)
        if differ > _MANY_DIFFER:
            _warn(
                f"the graph falls into {len(large)} large components, whose means differ for {differ:.0%} of the "
                "features. If they are slides, batches or donors, p-values are far too small; pass them as blocks."
            )


def warn_of_order(problem: Problem) -> None:
    """Warn if successive rows are similar: rows of a time series are not exchangeable."""
    graphs = (graph for graph in problem.built(Graph) if graph.storage != "summed" and graph.active.any())
    graph = next(graphs, None)
    if graph is None:
        return
    vectors = graph.spectrum(_VECTORS + 1)[1][:, 1:]
    vectors = vectors - vectors.mean(axis=0)
    lag = max((float(v[:-1] @ v[1:] / (v @ v or 1.0)) for v in vectors.T), default=0.0)
    if lag > max(_IN_ORDER, _CHANCE / np.sqrt(problem.n_samples)):
        _warn(
            f"successive rows are similar (lag-one autocorrelation {lag:.2f} of a leading vector of the graph). If "
            "rows are ordered by time or batch, they are not exchangeable and p-values are too small; test one row "
            "per segment, or pass y. If rows are sorted by class, ignore this warning."
        )


def warn_of_sizes(X: np.ndarray | sp.csc_array) -> None:
    """Warn about counts with unequal row totals: then even noise features follow the total."""
    values = X.data if is_sparse(X) else X
    if values.size == 0 or values.max() <= 1 or values.min() < 0 or not (is_sparse(X) or values.min() == 0):
        return
    if not is_integer(X):
        return
    totals = np.asarray(X.sum(axis=1, dtype=np.float64)).ravel()
    spread = float(totals.std() / (totals.mean() or 1.0))
    if spread > _UNEQUAL:
        _warn(
            f"X holds counts whose row totals vary by {spread:.0%} of their mean: features that only follow the total "
            "become significant too; divide the rows by their totals first, and take logarithms."
        )


def warn_of_rare_values(rarer: np.ndarray) -> None:
    """Warn about columns with a rare value: few permutations differ, so a smooth tail is only approximate."""
    rare = int(np.sum(rarer < _RARE - 0.5))
    if rare:
        _warn(
            f"{rare} columns take two values, one of them in fewer than {_RARE} rows: their p-values are only "
            "approximate; omit these columns, or check them with n_permutations=999."
        )


def warn_of_heavy_tails(skewness: np.ndarray) -> None:
    """Warn about heavy-tailed features: few permutations, with extreme values at hubs, dominate the null variance."""
    heavy, tested = int(np.sum(skewness > _SKEWED)), int(np.sum(~np.isnan(skewness)))
    if heavy > _MANY * tested:
        _warn(
            f"{heavy} of {tested} features are heavy-tailed on a graph with hubs, for which the closed form is "
            "conservative and p-values are too large; use ranks, logarithms, KNN(metric='cosine') for counts, or "
            "n_permutations=999."
        )


def _warn(text: str) -> None:
    warnings.warn(text, UserWarning, stacklevel=4)


# -------------------------------------------------------------------- columns that agree with others


@dataclass(frozen=True, eq=False, repr=False)
class Agreement:
    """Which columns agree with others.

    Parameters
    ----------
    posterior : ndarray of shape (n_features,)
        Probability that a column agrees with others: 1 - its local false discovery rate. NaN for a constant column. All
        values are NaN if there are fewer than 6 rows or fewer than 3 columns that vary.
    pvalues : ndarray of shape (n_features,)
        p-value of the last round: the probability of a weighted sum of squared correlations at least this large if the
        values of the column are permuted. The weights depend on earlier rounds, so use these p-values to order the
        columns, not as a test.
    kept : ndarray of bool, shape (n_features,)
        The columns whose posterior is at least 0.9. All columns are kept if the first round finds no column with a
        q-value of at most 0.1, or if the last round finds fewer than two columns.
    n_rounds : int
        Number of rounds: 1 if the first round found nothing, up to 6 otherwise, and 0 if there are too few rows or
        columns.
    feature_names : ndarray
        Column names, or numbers.
    """

    posterior: np.ndarray
    pvalues: np.ndarray
    kept: np.ndarray
    n_rounds: int
    feature_names: np.ndarray

    @property
    def n_kept(self) -> int:
        """Number of columns that are kept."""
        return int(self.kept.sum())

    @property
    def order(self) -> np.ndarray:
        """Column numbers: the kept ones first, then by posterior, p-value and column; constants last."""
        return np.lexsort((self.pvalues, -self.posterior, ~self.kept))

    def frame(self) -> Any:
        """The result as a pandas DataFrame.

        Returns
        -------
        frame : DataFrame
            One row per feature, with feature, posterior, p and kept.
        """
        values = {"posterior": self.posterior, "p": self.pvalues, "kept": self.kept}
        return to_frame({"feature": self.feature_names} | values)

    def __repr__(self) -> str:
        return f"Agreement(n_features={len(self.kept)}, n_kept={self.n_kept}, n_rounds={self.n_rounds})"


def agreement_of(problem: Problem) -> Agreement:
    """The agreement of the columns of a problem, computed once."""
    found = column_agreement(problem)
    return Agreement(*found, np.arange(problem.n_features))
