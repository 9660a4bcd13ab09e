"""How many features, and which: by number, by score, by explained share, by significance, without near-duplicates."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from ..criteria import Criterion
from ..criteria.order import good_enough
from ..errors import ParameterError, ParameterTypeError, ParameterWarning
from ..problem import Problem
from ..sets.forward import ENOUGH, Shares
from ..significance.testing import discover
from .ranking import Ranking, rank
from .redundancy import limit_of, prune
from .screens import Screened, level, screened

_PER_FEATURE = ("gains", "relevance", "pvalues", "qvalues", "effects")  # NaN for features that a screen drops
_OF_SOME = ("explained", "stands_for", "kept", "included", "groups", "group_names")
FOUND_BY_SOME = (*_OF_SOME, *_PER_FEATURE)  # what only some choices have


class Choice(NamedTuple):
    """Raw scores, columns best first, how many are chosen, and what else was found: some of ``FOUND_BY_SOME``.

    ``shares`` gives what is found as "explained" and "gains" by a set criterion.
    """

    scores: np.ndarray
    order: np.ndarray
    n_features: int
    found: dict[str, np.ndarray]
    shares: Shares | None = None


def choose(
    criterion: Criterion,
    problem: Problem,
    wanted: Any,
    redundancy: Any = None,
    alpha: float | None = None,
    threshold: Any = None,
    screen: str | None = None,
    fixed: np.ndarray | None = None,
) -> Choice:
    """The features of a problem by a criterion; parameters as in :class:`fiedler.SpectralSelector`.

    ``fixed`` are the column numbers of the features that are included in any case.
    """
    fixed, rate = np.empty(0, dtype=np.intp) if fixed is None else fixed, level(alpha, criterion)
    wanted = _room_for(fixed, wanted, problem.n_features, threshold)
    if screen is not None:
        through = screened(screen, criterion, problem, rate).with_columns(fixed)
        return _behind(through, criterion, problem, wanted, fixed, redundancy, rate, threshold)
    return _chosen(criterion, problem, wanted, fixed, redundancy, rate, threshold)


def _room_for(fixed: np.ndarray, wanted: Any, n_features: int, threshold: Any) -> Any:
    """The wanted number; None is at least the number of fixed features, any other number below that is an error."""
    if wanted is None and threshold is None and len(fixed) > max(1, n_features // 2):
        return len(fixed)
    if isinstance(wanted, (int, float, np.integer, np.floating)) and not isinstance(wanted, bool) and wanted > 0:
        number = int(n_features * wanted) if isinstance(wanted, (float, np.floating)) else int(wanted)
        if max(1, number) < len(fixed):
            raise ParameterError(
                f"include names {len(fixed)} features, but n_features_to_select={wanted} selects only "
                f"{max(1, number)}; raise n_features_to_select, or include fewer.",
                parameter=("n_features_to_select", "include"),
                value=wanted,
            )
    return wanted


def _behind(
    through: Screened, criterion: Criterion, problem: Problem, wanted: Any, fixed: np.ndarray, *options: Any
) -> Choice:
    """The choice among the columns that a screen keeps, with those that it drops behind them."""
    columns = np.flatnonzero(through.kept)
    fixed = np.searchsorted(columns, fixed)
    a_number = isinstance(wanted, (int, np.integer)) and not isinstance(wanted, (bool, np.bool_))
    beyond = _number(wanted, problem.n_features, criterion) - len(columns) if a_number else 0
    if beyond > 0:
        wanted = len(columns)
    if "qvalues" in through.found and isinstance(wanted, str) and wanted == "fdr":  # all that are kept have passed
        wanted = "auto" if criterion.is_set else len(columns)
    scores, order, n, found, shares = _chosen(criterion, problem.take_columns(through.kept), wanted, fixed, *options)
    behind = found.get("stands_for")
    if behind is not None:
        found["stands_for"] = through.widened(np.where(behind < 0, -1, columns[behind]), -1)
    for name in set(_PER_FEATURE) & set(found):
        found[name] = through.widened(found[name], np.nan)
    if shares is not None:
        shares = shares._replace(added=through.widened(shares.added, np.nan))
    if beyond > 0 and n == len(columns):
        n += beyond
        message = (
            f"n_features_to_select={n}, but the screen keeps {len(columns)} of {problem.n_features} columns; the other "
            f"{beyond} that are selected were dropped as noise. Lower n_features_to_select."
        )
        warnings.warn(ParameterWarning(message, parameter="n_features_to_select", value=n), stacklevel=4)
    order = np.concatenate([columns[order], through.dropped])
    return Choice(through.widened(scores, np.nan), order, n, found | through.found, shares)


def _chosen(
    criterion: Criterion,
    problem: Problem,
    wanted: Any,
    fixed: np.ndarray,
    redundancy: Any,
    alpha: float,
    threshold: Any,
) -> Choice:
    limit, m = limit_of(redundancy), problem.n_features
    if threshold is not None and criterion.is_set:
        raise ParameterError(
            f"threshold={threshold!r} is a limit for scores of single features, but {criterion!r} chooses a set; use "
            "n_features_to_select='auto', which takes as many as explain nine tenths.",
            parameter=("threshold", "n_features_to_select"),
            value=threshold,
        )
    found: dict[str, np.ndarray] = {}
    if isinstance(wanted, str) and wanted == "fdr":
        tested = discover(criterion, problem, alpha=alpha)
        found |= {"pvalues": tested.pvalues, "qvalues": tested.qvalues, "effects": tested.effect}
        real = tested.qvalues <= alpha
        ranking = rank(criterion, problem, among=real, first=fixed.tolist())
        real[fixed] = True
        last = int(real.sum())
        n = last if ranking.shares is None else max(_reaching(ENOUGH, ranking.shares.gained), len(fixed))
        if 0 < n < last and ranking.shares is not None:
            shorter = rank(criterion, problem, n, among=real, first=fixed.tolist()).shares
            assert shorter is not None
            # what the others add to the chosen ones, not to the whole path
            ranking = ranking._replace(shares=ranking.shares._replace(added=shorter.added))
    else:
        number = m if wanted is None and threshold is not None else _number(wanted, m, criterion)
        # The scores of a ranking may depend on a number that is stated, but not on the usual one.
        size = None if wanted is None and not criterion.is_set else number or m
        ranking = rank(criterion, problem, size, np.inf if number else ENOUGH, first=fixed.tolist())
        chosen = 0 if ranking.shares is None else len(ranking.shares.gained)
        n, last = number or max(1, chosen), ranking.n_scored
        _warn_of_losses(ranking, n)
    if ranking.relevance is not None:
        found["relevance"] = ranking.relevance
    order, shares = ranking.order, ranking.shares
    if threshold is not None:  # fixed features come first, then those that pass
        passes = good_enough(ranking.scores, criterion.greater_is_better, threshold)
        last = len(fixed) + int(passes[order[len(fixed) : last]].sum())
        n = min(n, last)
    as_many_as_pass = threshold is not None or (isinstance(wanted, str) and wanted == "fdr")
    if limit is not None and n:
        order, found["stands_for"], kept = prune(order, problem.X, limit, n, last, problem.groups, len(fixed))
        moved = np.flatnonzero(order != ranking.order)
        if shares is not None and len(moved):  # known as far as the path is still the same
            shares = shares._replace(gained=shares.gained[: moved[0]])
        if not as_many_as_pass and kept < n:
            message = (
                f"only {kept} features are not near-duplicates (|r| > {limit:g}) of a better one; the other "
                f"{n - kept} of the {n} selected are; lower n_features_to_select or raise redundancy."
            )
            warning = ParameterWarning(message, parameter=("n_features_to_select", "redundancy"), value=n)
            warnings.warn(warning, stacklevel=4)
        n = kept if as_many_as_pass else n
    return Choice(ranking.scores, order, n, found, shares)


def _warn_of_losses(ranking: Ranking, n: int) -> None:
    """Warn if a set has more features than its path, and those beyond lower what it explains."""
    if ranking.shares is None:
        return
    path = len(ranking.shares.gained)
    if (ranking.shares.added[ranking.order[path:n]] < 0.0).any():
        message = (
            f"only the first {path} of the {n} selected features add to what the set explains; every further feature "
            "lowers it. The others follow, those that lower it least first. Lower n_features_to_select."
        )
        warnings.warn(ParameterWarning(message, parameter="n_features_to_select", value=n), stacklevel=5)


def _reaching(share: float, gained: np.ndarray) -> int:
    """Number of features of a set that reach a share of what the whole set explains."""
    explained = np.cumsum(gained)
    return int(np.argmax(explained >= share * explained[-1])) + 1 if len(explained) else 0


def _number(wanted: Any, n_features: int, criterion: Criterion) -> int:
    """How many; 0 where the criterion decides."""
    if wanted is None:
        return max(1, n_features // 2)
    if isinstance(wanted, str) and wanted == "auto":
        if not criterion.is_set:
            raise ParameterError(
                f"n_features_to_select='auto' needs a criterion that chooses sets, such as 'subset', but {criterion!r} "
                "scores features one by one; fiedler.evaluate.suggest_n_features has suggestions for it.",
                parameter="n_features_to_select",
                value=wanted,
            )
        return 0
    if isinstance(wanted, (bool, np.bool_)) or not isinstance(wanted, (int, float, np.integer, np.floating)):
        raise ParameterTypeError(
            "n_features_to_select must be an integer, a share in (0, 1], 'auto', 'fdr' or None, got "
            f"{wanted!r} of type {type(wanted).__name__}.",
            parameter="n_features_to_select",
            value=wanted,
        )
    if isinstance(wanted, (float, np.floating)):
        if not 0 < wanted <= 1:
            message = f"n_features_to_select={wanted} as a share must be in (0, 1]; use an int for a number."
            raise ParameterError(message, parameter="n_features_to_select", value=wanted)
        return max(1, int(n_features * wanted))
    if not 1 <= wanted <= n_features:
        message = f"n_features_to_select={wanted} must be between 1 and the {n_features} features of X."
        raise ParameterError(message, parameter="n_features_to_select", value=wanted)
    return int(wanted)
