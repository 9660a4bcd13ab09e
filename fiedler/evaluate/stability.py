"""Stability of a selection: the ranking is repeated on resampled rows, labels or pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from ..criteria import Criterion
from ..data.work import counting
from ..errors import ParameterError
from ..problem import Problem
from ..supervision import Pairs, Supervision, pairs_from_labels
from ..syntax import as_criterion
from ..validation import check_choice, check_integer
from ..words import to_frame
from .checked import checked_ranking
from .curves import Target, check_sizes, whole_seed
from .measures import kendall_coefficient, top_k_overlap


@dataclass(frozen=True, eq=False, repr=False)
class Stability:
    """How much a selection varies over resampled data.

    Parameters
    ----------
    k, n_draws : int
        Number of selected features, and number of draws.
    frequency : ndarray of shape (n_features,)
        Share of draws in which a feature is among the first k.
    rank_low, rank_median, rank_high : ndarray of shape (n_features,)
        5 %, 50 % and 95 % quantile of the rank of a feature; tied features share their mean rank.
    kendall : float
        :func:`fiedler.evaluate.kendall_coefficient` of the rankings.
    jaccard, kuncheva : float
        :func:`fiedler.evaluate.top_k_overlap` of the selections.
    feature_names : ndarray
        Column names, or numbers.
    """

    k: int
    n_draws: int
    frequency: np.ndarray
    rank_low: np.ndarray
    rank_median: np.ndarray
    rank_high: np.ndarray
    kendall: float
    jaccard: float
    kuncheva: float
    feature_names: np.ndarray

    def frame(self) -> Any:
        """The result as a pandas DataFrame.

        Returns
        -------
        frame : DataFrame
            One row per feature, with its frequency and the quantiles of its rank.
        """
        names = ("frequency", "rank_low", "rank_median", "rank_high")
        return to_frame({"feature": self.feature_names} | {name: getattr(self, name) for name in names})

    def __repr__(self) -> str:
        overlap = f"jaccard={self.jaccard:.3f}, kuncheva={self.kuncheva:.3f}"
        return f"Stability(k={self.k}, n_draws={self.n_draws}, kendall={self.kendall:.3f}, {overlap})"


def stability(
    criterion: Criterion | str,
    X: Any,
    y: Any = None,
    *,
    k: int = 10,
    resample: str = "rows",
    size: int | float = 0.8,
    n_draws: int = 20,
    must_link: Any = None,
    cannot_link: Any = None,
    unlabeled: Any = -1,
    random_state: int = 0,
    progress: Callable[[int, int], Any] | None = None,
) -> Stability:
    """Measure how stable a selection is on random parts of the data ([KA] sections 6 and 7.2.1).

    Parameters
    ----------
    criterion : Criterion or str
        The criterion that ranks the features.
    X, y : array-like
        As in :meth:`fiedler.SpectralSelector.fit`.
    k : int, default=10
        Number of features in a selection.
    resample : {"rows", "labels", "pairs"}
        What is resampled: the rows, with their labels and pairs; the known labels; or the pairs. If no pairs are given,
        they are drawn from the classes as in :func:`fiedler.pairs_from_labels`. Draws are stratified by class.
    size : int or float, default=0.8
        Number, or share in (0, 1), that a draw keeps. For pairs from classes it must be a number.
    n_draws : int, default=20
        Number of draws.
    must_link, cannot_link : array-like of shape (p, 2) or Pairs, optional
        Pairs of rows that belong together, and pairs that do not.
    unlabeled : object, default=-1
        The class label that means "unknown".
    random_state : int, default=0
        Random seed of the draws.
    progress : callable, optional
        Called as ``progress(done, total)`` after each draw.

    Returns
    -------
    stability : Stability
        The selection frequency of each feature, and the quantiles of its rank.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from fiedler.evaluate import stability
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> result = stability("fisher", X, y, k=3, resample="labels", size=12)
    >>> result
    Stability(k=3, n_draws=20, kendall=0.529, jaccard=0.334, kuncheva=0.307)
    >>> result.frame().sort_values("frequency").feature.iloc[-1]
    'proline'
    """
    check_choice("resample", resample, ("rows", "labels", "pairs"))
    called, criterion = criterion, as_criterion(criterion)
    problem = Problem.of(X, y, must_link=must_link, cannot_link=cannot_link, unlabeled=unlabeled)
    criterion.check_problem(problem, called)
    m, known = problem.n_features, problem.supervision
    check_sizes([check_integer("k", k, 1)], m)
    draw = {"rows": _some_rows, "labels": _some_labels, "pairs": _some_pairs}[resample]
    all_orders, all_ranks = [], []
    with counting("draws", check_integer("n_draws", n_draws, 2)) as count:
        for number in range(n_draws):
            rows, shown = draw(criterion, known, size, [random_state, number])
            # New rows need new graphs; new labels or pairs share the graphs that read neither.
            seen = problem if rows is None else problem.take_rows(rows)
            ranking = checked_ranking(criterion, seen.with_supervision(**shown), k, f" in draw {number}")
            all_orders.append(ranking.order)
            all_ranks.append(_ranks(ranking, criterion.greater_is_better))
            count()
            if progress is not None:
                progress(number + 1, n_draws)
    orders, ranks = np.array(all_orders), np.array(all_ranks)
    frequency = np.bincount(orders[:, :k].ravel(), minlength=m) / n_draws
    low, median, high = np.quantile(ranks, [0.05, 0.5, 0.95], axis=0)
    agreement = kendall_coefficient(ranks), top_k_overlap(orders, k, "jaccard"), top_k_overlap(orders, k, "kuncheva")
    names = problem.feature_names
    columns = np.arange(m) if names is None else np.asarray(names, dtype=object)
    return Stability(k, n_draws, frequency, low, median, high, *agreement, columns)


def _ranks(ranking: Any, greater_is_better: bool) -> np.ndarray:
    """The ranks of all features; NaN is last, as one group of ties."""
    signed = -ranking.scores if greater_is_better else ranking.scores
    if ranking.shares is not None:  # in a set the rank is the position in the order, not given by the scores
        signed = np.empty(len(ranking.order))
        signed[ranking.order] = np.arange(len(ranking.order))
    return rankdata(np.unique(signed, return_inverse=True)[1])


def _read_labels(criterion: Criterion, known: Supervision) -> Target | None:
    """The labels that a criterion reads, or from which its pairs can be drawn."""
    if "target" in criterion.reads or ("target" in criterion.uses and known.task() == "target"):
        values = known.target(repr(criterion))
        return Target(values, np.flatnonzero(~np.isnan(values)), "rmse")
    if known.y is None or not criterion.uses or (not criterion.reads and not known.labelled.any()):
        return None
    codes, _ = known.classes(repr(criterion))
    return Target(codes, np.flatnonzero(codes >= 0), "accuracy")


def _part(groups: np.ndarray, size: Any, what: str, rng: np.random.Generator) -> np.ndarray:
    """A random part of the positions, stratified by group."""
    n = len(groups)
    share = isinstance(size, (float, np.floating))
    wanted = round(size * n) if share and 0 < size < 1 else size
    if isinstance(wanted, bool) or not isinstance(wanted, (int, np.integer)) or not 2 <= wanted < n:
        raise ValueError(f"size={size!r} must be a share in (0, 1) or a number from 2 to {n - 1} of the {n} {what}.")
    shuffled = rng.permutation(n)
    ordered = shuffled[np.argsort(groups[shuffled], kind="stable")]
    return np.sort(ordered[np.arange(wanted) * n // wanted])


def _some_rows(criterion: Criterion, known: Supervision, size: Any, seed: list[int]) -> tuple[np.ndarray, dict]:
    labels, n = _read_labels(criterion, known), known.n_samples
    groups = labels.values if labels is not None and labels.metric == "accuracy" else np.zeros(n)
    rows = _part(groups, size, "rows", np.random.default_rng(seed))
    given = {"must_link": known.must_link, "cannot_link": known.cannot_link}
    pairs = {name: None if part is None else Pairs(part, n)[rows] for name, part in given.items()}
    return rows, {"y": None if labels is None else labels.values[rows], **pairs}


def _some_labels(criterion: Criterion, known: Supervision, size: Any, seed: list[int]) -> tuple[None, dict]:
    labels = _read_labels(criterion, known)
    if labels is None:
        raise ValueError(f"resample='labels' needs labels that {criterion!r} reads; use resample='rows'.")
    groups = labels.values if labels.metric == "accuracy" else np.zeros(known.n_samples)
    rows = labels.known[_part(groups[labels.known], size, "known labels", np.random.default_rng(seed))]
    return None, {"y": labels.shown(rows), "must_link": known.must_link, "cannot_link": known.cannot_link}


def _some_pairs(criterion: Criterion, known: Supervision, size: Any, seed: list[int]) -> tuple[None, dict]:
    if "pairs" not in criterion.uses:
        raise ValueError(f"resample='pairs' needs a criterion that reads pairs, not {criterion!r}; use 'rows'.")
    labels = _read_labels(criterion, known)
    y = None if labels is None or criterion.reads == {"pairs"} else labels.values
    if known.has_pairs:
        given = [np.empty((0, 2), dtype=np.intp) if p is None else p for p in (known.must_link, known.cannot_link)]
        kind = np.repeat([0, 1], [len(p) for p in given])
        kept = _part(kind, size, "pairs", np.random.default_rng(seed))
        must, cannot = (np.concatenate(given)[kept[kind[kept] == side]] for side in (0, 1))
    elif labels is None:
        message = "resample='pairs' needs must_link and cannot_link, or classes in y to draw pairs from."
        raise ParameterError(message, parameter=("must_link", "cannot_link"))
    else:
        must, cannot = pairs_from_labels(labels.values, size, whole_seed(seed))
    return None, {"y": y, "must_link": must, "cannot_link": cannot}
