"""Features in order, then how many and which: by number, score, explained share or significance; near-duplicates.

**Screens.** Features that look like noise are dropped first, and graph and candidates come from those that are kept.

    "agreement"  keeps the features that agree with others (:mod:`fiedler.engine.agreement`), or with labels, targets or
                 pairs if the criterion reads them
    "fdr"        keeps the features that are significant at a false discovery rate (:mod:`fiedler.significance`)
    "auto"       is "agreement" if more than 30 % of the features seem to agree with no other, and no screen otherwise

The share for "auto" is estimated from a sample of rows and features. Text is left alone: more than 80 % of
it are zeros, and it is never negative. If no feature passes a screen, all are kept, and the selection is the same as
without a screen.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from ..criteria import Criterion
from ..criteria.criterion import Resolved
from ..criteria.order import good_enough, rank_features, ranks_of
from ..data.arrays import dense
from ..data.source import Source
from ..engine.agreement import Agreed, random_places, share_alone
from ..errors import ParameterError, ParameterTypeError, ParameterWarning, outside
from ..problem import Problem
from ..sets.formula import ENOUGH, Shares, forward
from ..significance.testing import Significance, agreement_of, associated, associated_with, discover
from ..validation import check_choice, check_share, is_sparse
from ..words import did_you_mean
from .redundancy import limit_of, prune

ALPHA, ALPHA_OF_SETS = 0.1, 0.01  # greedy selection prefers the noise features that pass at 0.1


# -------------------------------------------------------------------- the order


class Ranking(NamedTuple):
    """Scores of all features, and their order.

    Attributes
    ----------
    scores : ndarray of shape (m,)
        The scores; for sets those of the first step.
    order : ndarray of shape (m,)
        Features, best first.
    shares : Shares or None
        Sets only: what each feature of the path added, and what the others would add.
    relevance : ndarray or None
        Sets only: the factor of every gain.
    n_fixed : int
        Number of features that were placed first without a choice.
    n_dropped : int
        Number of features, the last ones, that a screen dropped; they have no score.
    """

    scores: np.ndarray
    order: np.ndarray
    shares: Shares | None = None
    relevance: np.ndarray | None = None
    n_fixed: int = 0
    n_dropped: int = 0

    @property
    def n_scored(self) -> int:
        """Number of features before the first one without a score."""
        return self.n_fixed + int(np.sum(~np.isnan(self.scores[self.order[self.n_fixed :]])))


def rank(
    resolved: Resolved,
    problem: Problem,
    n_features: int | None = None,
    share: float = np.inf,
    among: np.ndarray | None = None,
    first: Sequence[int] = (),
) -> Ranking:
    """Score and order the features; infinite scores are ordered by the tie breaker of the criterion.

    A set criterion chooses n_features features (by default all), or stops when they reach a share of J(all features).
    For criteria that score features one by one, n_features matters only to those that read ``problem.n_wanted``.
    Features outside the mask ``among`` come after all features inside it. The features ``first`` come before all
    others, in their order; a set is chosen given these.
    """
    resolved.check(problem)
    if resolved.sets is not None:
        most = problem.n_features if n_features is None else n_features
        ranking = Ranking(*forward(resolved.sets, problem, most, share, among, first=first))
    else:
        scores, ties = resolved.scored(problem if n_features is None else problem.wanting(n_features))
        ties = None if ties is None else np.where(np.isinf(scores), ties, 0.0)
        ranking = Ranking(scores, rank_features(scores, resolved.greater_is_better, ties))
    if among is None and not len(first):
        return ranking
    place = np.ones(problem.n_features) if among is None else np.where(among, 1.0, 2.0)
    place[list(first)] = np.arange(len(first)) / problem.n_features
    order = ranking.order[np.argsort(place[ranking.order], kind="stable")]
    return ranking._replace(order=order, n_fixed=len(first))


def ranked(resolved: Resolved, problem: Problem, n_features: int) -> Ranking:
    """The order in which a selector with the default screen takes features."""
    through = screened("auto", resolved, problem)
    if through.kept.all():
        return rank(resolved, problem, n_features)
    columns, m = np.flatnonzero(through.kept), problem.n_features
    inside = rank(resolved, _kept(problem, through.kept), min(n_features, len(columns)))
    scores, relevance = (_wide(values, columns, m) for values in (inside.scores, inside.relevance))
    order = np.concatenate([columns[inside.order], through.dropped])
    return Ranking(scores, order, inside.shares, relevance, n_dropped=len(through.dropped))


def _wide(values: np.ndarray | None, among: np.ndarray, m: int, fill: float = np.nan) -> Any:
    """Values of the features ``among`` in an array of all m features."""
    if values is None:
        return None
    whole = np.full(m, fill, dtype=values.dtype)
    whole[among] = values
    return whole


# -------------------------------------------------------------------- the choice


@dataclass(frozen=True, eq=False)
class Choice:
    """What a selection found: one value per feature, and None for what the selection does not have.

    Parameters
    ----------
    scores : ndarray of shape (n_features,)
        Raw scores.
    order : ndarray of shape (n_features,)
        Features, best first; the first ``n_chosen`` are chosen.
    n_chosen : int
        Number of chosen features.
    shares : Shares, optional
        Sets only: what the chosen features explain, and what every feature adds.
    relevance, stands_for, included, kept, pvalues, qvalues, effects : ndarray of shape (n_features,), optional
        As the attributes of :class:`fiedler.SpectralSelector`.
    test : str, default="score"
        What the p-values test, as in :class:`fiedler.evaluate.Significance`.
    screen : str, optional
        What the screen has decided, and why.
    """

    scores: np.ndarray
    order: np.ndarray
    n_chosen: int
    shares: Shares | None = None
    relevance: np.ndarray | None = None
    stands_for: np.ndarray | None = None
    included: np.ndarray | None = None
    kept: np.ndarray | None = None
    pvalues: np.ndarray | None = None
    qvalues: np.ndarray | None = None
    effects: np.ndarray | None = None
    test: str = "score"
    screen: str | None = None

    @cached_property
    def ranking(self) -> np.ndarray:
        """The rank of every feature, 1 for the best."""
        return ranks_of(self.order)

    @cached_property
    def support(self) -> np.ndarray:
        """Whether a feature is chosen."""
        return self.ranking <= self.n_chosen

    @cached_property
    def explained(self) -> np.ndarray | None:
        """Sets only: the share of J(all features) that the first k features explain."""
        return None if self.shares is None else self.shares.explained

    @cached_property
    def gains(self) -> np.ndarray | None:
        """Sets only: what a feature adds, as a share of J(all features)."""
        return None if self.shares is None else self.shares.gains

    def of_columns(self, name: str, feature_of: np.ndarray) -> Any:
        """A value per column of X instead of one per feature; ``feature_of`` has the feature of every column."""
        values = getattr(self, name)
        if values is None or name in ("n_chosen", "explained", "screen"):
            return values
        if name == "order":
            return np.argsort(self.ranking[feature_of], kind="stable")
        if name == "stands_for":  # a feature is represented by its first column
            values = np.where(values < 0, -1, np.unique(feature_of, return_index=True)[1][values])
        return values[feature_of]

    def widened(self, among: np.ndarray, last: np.ndarray) -> Choice:
        """The choice among more features: ``among`` are the numbers of its features, ``last`` those behind them."""
        shares, copies, m = self.shares, self.stands_for, len(among) + len(last)
        wide = partial(_wide, among=among, m=m)
        alone = "relevance", "pvalues", "qvalues", "effects"
        return replace(
            self,
            scores=wide(self.scores),
            order=np.concatenate([among[self.order], last]),
            shares=None if shares is None else shares._replace(added=wide(shares.added)),
            stands_for=wide(None if copies is None else np.where(copies < 0, -1, among[copies]), fill=-1),
            included=wide(self.included, fill=False),
            **{name: wide(getattr(self, name)) for name in alone},
        )


def choose(
    resolved: Resolved,
    problem: Problem,
    wanted: Any,
    redundancy: Any = None,
    alpha: float | None = None,
    threshold: Any = None,
    screen: str | None = None,
    fixed: np.ndarray | None = None,
) -> Choice:
    """The features of a problem by a criterion; parameters as in :class:`fiedler.SpectralSelector`.

    ``fixed`` are the numbers of the features that are included in any case.
    """
    fixed = np.empty(0, dtype=np.intp) if fixed is None else fixed
    rate, m = level(alpha, resolved), problem.n_features
    size = _size(wanted, m, resolved, len(fixed), threshold)
    if screen is None:
        return _chosen(resolved, problem, wanted, size, redundancy, rate, threshold, fixed)
    through = screened(screen, resolved, problem, rate, fixed, by_test=isinstance(wanted, str) and wanted == "fdr")
    columns, tested = np.flatnonzero(through.kept), through.tested
    if screen == "auto" and not len(through.dropped):
        choice = _chosen(resolved, problem, wanted, size, redundancy, rate, threshold, fixed)
        return replace(choice, screen=through.why)
    passed = tested is not None and bool((tested.qvalues <= rate).any()) and associated_with(resolved, problem) is None
    if passed and wanted == "fdr":  # all that are kept have passed the same test
        wanted = "auto" if resolved.is_set else len(columns)
    # A number refers to all columns; a share and None refer to those that are kept.
    stated = isinstance(wanted, (int, np.integer))
    size = _size(min(wanted, len(columns)) if stated else wanted, len(columns), resolved, len(fixed), threshold)
    inside = _kept(problem, through.kept)
    options = redundancy, rate, threshold, np.searchsorted(columns, fixed)
    choice = _chosen(resolved, inside, wanted, size, *options).widened(columns, through.dropped)
    found: dict[str, Any] = {"kept": through.kept, "screen": through.why}
    if tested is not None and choice.pvalues is None:
        found |= {"pvalues": tested.pvalues, "qvalues": tested.qvalues, "effects": tested.effect, "test": tested.test}
    if stated and threshold is None and wanted > len(columns) == choice.n_chosen:
        found["n_chosen"] = int(wanted)
        _warn(
            f"n_features_to_select={wanted}, but the screen keeps {len(columns)} of {m} columns; the other "
            f"{wanted - len(columns)} that are selected were dropped as noise. Lower n_features_to_select, or set "
            "screen=None.",
            wanted,
            "screen",
        )
    return replace(choice, **found)


def _kept(problem: Problem, kept: np.ndarray) -> Problem:
    """The problem of the features that a screen keeps; fits with other labels share it if they keep the same."""
    if not any(np.array_equal(found.kept, kept) for found in problem.built(Agreed)):
        return problem.take_columns(kept)
    inside, told = problem.keep("kept", lambda: problem.take_columns(kept)), problem.supervision
    pairs = {"must_link": told.must_link, "cannot_link": told.cannot_link}
    return inside.with_supervision(told.y, **pairs, unlabeled=told.unlabeled)


def _chosen(
    resolved: Resolved,
    problem: Problem,
    wanted: Any,
    size: int | None,
    redundancy: Any,
    alpha: float,
    threshold: Any,
    fixed: np.ndarray,
) -> Choice:
    """The choice among all features of a problem: an order, then how much of it."""
    m, first, by_test = problem.n_features, fixed.tolist(), isinstance(wanted, str) and wanted == "fdr"
    if threshold is not None and resolved.is_set:
        raise ParameterError(
            f"threshold={threshold!r} is a limit for scores of single features, but {resolved!r} chooses a set; use "
            "n_features_to_select='auto', which takes as many as explain nine tenths.",
            parameter=("threshold", "n_features_to_select"),
            value=threshold,
        )
    found: dict[str, Any] = {}
    if first:
        found["included"] = np.isin(np.arange(m), fixed)
    if by_test:
        tested = discover(resolved, problem, alpha=alpha)
        found |= {"pvalues": tested.pvalues, "qvalues": tested.qvalues, "effects": tested.effect, "test": tested.test}
        ranking, n, last = _significant(resolved, problem, tested.qvalues <= alpha, first)
    else:
        # The scores of a ranking may depend on a number that is stated, but not on the usual one.
        usual = wanted is None and not resolved.is_set
        most, share = (m, ENOUGH) if size is None else (None if usual else size, np.inf)
        ranking = rank(resolved, problem, most, share, first=first)
        path = len(ranking.shares.gained) if ranking.shares is not None else 0
        n, last = max(1, path) if size is None else size, ranking.n_scored
        if ranking.shares is not None and ranking.n_scored and not np.nanmax(ranking.scores) > 0.0:
            _warn(
                f"no feature explains anything: the kernel of {resolved!r} is 0 for every column, so features are "
                "taken in column order. Use fewer neighbours, or more rows.",
                n,
            )
        elif ranking.shares is not None and (ranking.shares.added[ranking.order[path:n]] < 0.0).any():
            _warn(
                f"only the first {path} of the {n} selected features add to what the set explains; every further "
                "feature lowers it. The others follow, those that lower it least first. Lower n_features_to_select.",
                n,
            )
    order, shares = ranking.order, ranking.shares
    if threshold is not None:  # fixed features come first, then those that pass
        passes = good_enough(ranking.scores, resolved.greater_is_better, threshold)
        last = len(first) + int(passes[order[len(first) : last]].sum())
        n = min(n, last)
    limit = None if redundancy is None else limit_of(redundancy)
    if limit is not None and n:
        order, found["stands_for"], kept = prune(order, problem.X, limit, n, last, problem.groups, len(first))
        moved = np.flatnonzero(order != ranking.order)
        if shares is not None and len(moved):  # known as far as the path is still the same
            shares = shares._replace(gained=shares.gained[: moved[0]])
        if threshold is not None or by_test:
            n = kept
        elif kept < n:
            _warn(
                f"only {kept} features are not near-duplicates (|r| > {limit:g}) of a better one; the other "
                f"{n - kept} of the {n} selected are; lower n_features_to_select or raise redundancy.",
                n,
                "redundancy",
            )
    return Choice(ranking.scores, order, n, shares, ranking.relevance, **found)


def _significant(resolved: Resolved, problem: Problem, real: np.ndarray, first: list[int]) -> tuple[Ranking, int, int]:
    """The order with significant features first, how many are chosen, and how many are significant or included.

    A set takes as few as explain most of what all significant features explain.
    """
    ranking = rank(resolved, problem, among=real, first=first)
    real[first] = True
    n = last = int(real.sum())
    if ranking.shares is not None:
        explained = np.cumsum(ranking.shares.gained)
        n = int(np.argmax(explained >= ENOUGH * explained[-1])) + 1 if len(explained) else 0
        n = max(n, len(first))
        if 0 < n < last:
            shorter = rank(resolved, problem, n, among=real, first=first).shares
            assert shorter is not None
            # what the others add to the chosen ones, not to the whole path
            ranking = ranking._replace(shares=ranking.shares._replace(added=shorter.added))
    return ranking, n, last


def _warn(message: str, n: int, *others: str, **more: Any) -> None:
    warning = ParameterWarning(message, parameter=("n_features_to_select", *others), value=n, **more)
    warnings.warn(warning, stacklevel=outside())


def _size(wanted: Any, m: int, criterion: Resolved, n_fixed: int, threshold: Any) -> int | None:
    """Number of features to select among m; None if the criterion ("auto") or a test ("fdr") decides."""
    if wanted is None and criterion.is_set and threshold is None:
        return None
    if wanted is None:
        return m if threshold is not None else max(1, m // 2, n_fixed)
    if isinstance(wanted, str) and wanted in ("auto", "fdr"):
        if wanted == "auto" and not criterion.is_set:
            raise ParameterError(
                f"n_features_to_select='auto' needs a criterion that chooses sets, such as 'subset', but {criterion!r} "
                "scores features one by one; fiedler.evaluate.suggest_n_features has suggestions for it.",
                parameter="n_features_to_select",
                value=wanted,
            )
        return None
    share = isinstance(wanted, (float, np.floating))
    if not share and (not isinstance(wanted, (int, np.integer)) or isinstance(wanted, (bool, np.bool_))):
        raise ParameterTypeError(
            "n_features_to_select must be an integer, a share in (0, 1], 'auto', 'fdr' or None, got "
            f"{wanted!r} of type {type(wanted).__name__}.",
            parameter="n_features_to_select",
            value=wanted,
        )
    if share and not 0 < wanted <= 1:
        message = f"n_features_to_select={wanted} as a share must be in (0, 1]; use an int for a number."
        raise ParameterError(message, parameter="n_features_to_select", value=wanted)
    number = max(1, int(m * wanted)) if share else int(wanted)
    if 0 < number < n_fixed:
        raise ParameterError(
            f"include names {n_fixed} features, but n_features_to_select={wanted} selects only "
            f"{number}; raise n_features_to_select, or include fewer.",
            parameter=("n_features_to_select", "include"),
            value=wanted,
        )
    if not 1 <= number <= m:
        message = f"n_features_to_select={wanted} must be between 1 and the {m} features of X."
        raise ParameterError(message, parameter="n_features_to_select", value=wanted)
    return number


def level(alpha: float | None, criterion: Criterion | Resolved) -> float:
    """The false discovery rate ``alpha``, or by default that for rankings or that for sets."""
    if alpha is None:
        return ALPHA_OF_SETS if criterion.is_set else ALPHA
    check_share("alpha", alpha)
    return float(alpha)


# -------------------------------------------------------------------- screens


SCREENS = ("auto", "agreement", "fdr")
_SAMPLE, _RUNS = 160, 4  # rows and features of the sample for "auto"; successive rows of a source are read faster
_ZEROS = 0.8  # share of zeros in text: at least .95, and at most .62 in tables, images and expression of genes
_MOST = 0.3  # share of features that agree with no other: at most .24 on clean data, from .33 where half are noise
_FOUND = 0.1  # q-value of a feature that agrees with labels, targets or pairs


class Screened(NamedTuple):
    """The features that a screen keeps, those that it drops, the likeliest to be real first, its reason, its test."""

    kept: np.ndarray
    dropped: np.ndarray
    why: str
    tested: Significance | None = None


def screened(
    kind: str,
    criterion: Resolved,
    problem: Problem,
    alpha: float = ALPHA,
    fixed: Iterable[int] = (),
    by_test: bool = False,
) -> Screened:
    """What a screen keeps of the features of a problem; ``fixed`` ones are kept in any case.

    ``by_test`` states that features are selected by p-values, which would not be valid behind the screen "auto".
    """
    check_choice("screen", kind, SCREENS)
    tested, m = None, problem.n_features
    if kind == "auto":
        why = "features are tested" if by_test else _why_not(criterion, problem)
        if why:
            return Screened(np.ones(m, dtype=bool), np.empty(0, dtype=np.intp), f"no feature was left out: {why}")
    if kind == "fdr":
        labelled = associated_with(criterion, problem) is not None  # labels are for the selection, not for the screen
        tested = discover(criterion, problem.with_supervision() if labelled else problem, alpha=alpha)
        kept = tested.qvalues <= alpha
        if not kept.any():
            message = f"screen='fdr' keeps every column: none is significant at a false discovery rate of {alpha:g}."
            warnings.warn(ParameterWarning(message, parameter=("screen", "alpha"), value=alpha), stacklevel=outside())
            kept = np.ones_like(kept)
        order = np.lexsort((tested.pvalues, ~kept))
    else:
        agreement = agreement_of(problem)
        kept, order = agreement.kept.copy(), agreement.order
        if not kept.all():
            kept |= associated(criterion, problem) <= _FOUND
    kept[list(fixed)] = True
    dropped = order[~kept[order]]
    words = "looks like noise and was" if len(dropped) == 1 else "look like noise and were"
    why = f"{len(dropped)} of {m} features {words} left out before the graph was built"
    return Screened(kept, dropped, why if len(dropped) else "no feature was left out: none agrees with another", tested)


def _why_not(criterion: Resolved, problem: Problem) -> str | None:
    """Why "auto" leaves the features alone; None if most of them may be noise."""
    if not any(recipe.reads_X for recipe in criterion.recipes):
        return "the criterion builds no graph from X"
    alone = problem.keep("alone", lambda: _alone(problem))
    if alone is None:
        return "X is mostly zeros and never negative, as text is; there the test of noise does not help"
    return None if alone > _MOST else f"about {alone:.0%} of the features agree with no other"


def _alone(problem: Problem) -> float | None:
    """The share of features that agree with no other, estimated from a sample; None for text."""
    X, groups, (n, m) = problem.X, problem.groups, problem.X.shape
    columns = np.arange(m) if groups is None else np.sort(np.unique(groups.owner, return_index=True)[1])
    columns = columns[random_places(len(columns), _SAMPLE)]
    if isinstance(X, Source):
        starts = np.unique(np.linspace(0, max(n - _SAMPLE // _RUNS, 0), _RUNS).astype(np.intp))
        ends = np.minimum(starts + _SAMPLE // _RUNS, [*starts[1:], n])
        parts: list[Any] = [X[start:end, columns] for start, end in zip(starts, ends, strict=True)]
        sample = np.concatenate([dense(part) for part in parts])
    else:
        rows = random_places(n, _SAMPLE)
        sample = X[:, columns].tocsr()[rows].toarray() if is_sparse(X) else X[np.ix_(rows, columns)]
    if sample.size and sample.min() >= 0.0 and np.mean(sample == 0.0) > _ZEROS:
        return None
    return share_alone(np.asarray(sample, dtype=np.float64))


# -------------------------------------------------------------------- features that are always selected


def fixed_features(include: Any, column_names: Any, problem: Problem) -> np.ndarray:
    """Numbers of the features that ``include`` states, by name or by column; a column stands for its feature."""
    groups = problem.groups
    if include is None or groups is None or not groups.named:
        return fixed_columns(include, column_names, problem.n_features)
    first = {str(name): int(np.argmax(groups.of_input == g)) for g, name in enumerate(groups.names or ())}
    include = [include] if isinstance(include, (str, int, np.integer)) else include
    if isinstance(include, Iterable):
        include = [first.get(each, each) if isinstance(each, str) else each for each in include]
    features = groups.of_input[fixed_columns(include, column_names, len(groups.of_input))]
    named, times = np.unique(features, return_counts=True)
    if (times > 1).any():
        name = np.asarray(groups.names, dtype=object)[named[np.argmax(times)]]
        raise ParameterError(f"include names the feature {name!r} twice.", parameter="include", value=name)
    return features


def fixed_columns(include: Any, names: Any, n_features: int) -> np.ndarray:
    """Column numbers, given names or numbers; an error names what is unknown or stated twice."""
    if include is None:
        return np.empty(0, dtype=np.intp)
    if isinstance(include, (str, int, np.integer)):
        include = [include]
    if not isinstance(include, Iterable):
        message = f"include must be names or column numbers of features, got {include!r}."
        raise ParameterTypeError(message, parameter="include", value=include)
    known = None if names is None else [str(name) for name in names]
    columns = list[int]()
    for which in include:
        if isinstance(which, str):
            column = _named(which, known)
        elif isinstance(which, (bool, np.bool_)) or not isinstance(which, (int, np.integer)):
            message = f"include must hold names or column numbers, got {which!r} of type {type(which).__name__}."
            raise ParameterTypeError(message, parameter="include", value=which)
        elif not -n_features <= which < n_features:
            message = f"include={int(which)}, but the {n_features} features of X are numbered from 0."
            raise ParameterError(message, parameter="include", value=which)
        else:
            column = int(which) % n_features
        if column in columns:
            name = column if known is None else known[column]
            raise ParameterError(f"include names the feature {name!r} twice.", parameter="include", value=name)
        columns.append(column)
    return np.array(columns, dtype=np.intp)


def _named(which: str, names: list[str] | None) -> int:
    if names is None:
        message = f"include={which!r} is a name, but X has no column names; give column numbers, or pass a frame."
    elif names.count(which) == 1:
        return names.index(which)
    else:
        found = f"{names.count(which)} features" if which in names else "no feature"
        hint = "give its column number instead." if which in names else did_you_mean(which, names).strip()
        message = f"include={which!r}, but X has {found} of that name; {hint}".rstrip("; ")
    raise ParameterError(message, parameter="include", value=which)
