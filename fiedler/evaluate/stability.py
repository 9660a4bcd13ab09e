"""Stability of a selection: the ranking is repeated on resampled rows, labels or pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..criteria import Criterion
from ..data.work import counting
from ..errors import ParameterError
from ..problem import Problem
from ..supervision import Pairs, Supervision, pairs_from_labels
from ..syntax import as_criterion
from ..validation import check_choice, check_integer
from ..words import to_frame
from .curves import check_sizes
from .held_out import Target, checked_ranking, whole_seed
from .measures import kendall_coefficient, mean_ranks, top_k_overlap


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
    problem, _ = Problem.of(X, y, must_link=must_link, cannot_link=cannot_link, unlabeled=unlabeled).settled()
    criterion.check_problem(problem, called)
    m, supervision = problem.n_features, problem.supervision
    check_sizes([check_integer("k", k, 1)], m)
    labels = None  # those that the criterion reads, or from which its pairs can be drawn
    real = "target" in criterion.reads or ("target" in criterion.uses and supervision.task() == "target")
    if real or (supervision.y is not None and criterion.uses and (criterion.reads or supervision.labelled.any())):
        labels = Target.of(supervision, repr(criterion), real)
    all_orders, all_ranks = [], []
    with counting("draws", check_integer("n_draws", n_draws, 2)) as count:
        for number in range(n_draws):
            rows, shown = _draw(criterion, supervision, labels, resample, size, [random_state, number])
            # New rows need new graphs; new labels or pairs share the graphs that read neither.
            seen = problem if rows is None else problem.take_rows(rows)
            ranking = checked_ranking(criterion, seen.with_supervision(**shown), k, f" in draw {number}")
            all_orders.append(ranking.order)
            path = None if ranking.shares is None else ranking.order
            all_ranks.append(mean_ranks(ranking.scores, criterion.greater_is_better, path))
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


def _draw(
    criterion: Criterion, told: Supervision, labels: Target | None, resample: str, size: Any, seed: list[int]
) -> tuple[np.ndarray | None, dict[str, Any]]:
    """The rows of a draw, None for all, and the labels and pairs that it shows."""
    n, rng, given = told.n_samples, np.random.default_rng(seed), [told.must_link, told.cannot_link]
    groups = labels.values if labels is not None and labels.metric == "accuracy" else np.zeros(n)
    rows, y, pairs = None, None if labels is None else labels.values, list[Any](given)
    if resample == "rows":
        rows = _part(groups, size, "rows", rng)
        y, pairs = None if y is None else y[rows], [None if part is None else Pairs(part, n)[rows] for part in given]
    elif resample == "labels":
        if labels is None:
            raise ValueError(f"resample='labels' needs labels that {criterion!r} reads; use resample='rows'.")
        y = labels.shown(labels.known[_part(groups[labels.known], size, "known labels", rng)])
    elif "pairs" not in criterion.uses:
        raise ValueError(f"resample='pairs' needs a criterion that reads pairs, not {criterion!r}; use 'rows'.")
    elif told.has_pairs:
        sides = [np.empty((0, 2), dtype=np.intp) if part is None else part for part in given]
        kind = np.repeat([0, 1], [len(part) for part in sides])
        kept = _part(kind, size, "pairs", rng)
        pairs = [np.concatenate(sides)[kept[kind[kept] == side]] for side in (0, 1)]
    elif y is None:
        message = "resample='pairs' needs must_link and cannot_link, or classes in y to draw pairs from."
        raise ParameterError(message, parameter=("must_link", "cannot_link"))
    else:
        pairs = list(pairs_from_labels(y, size, whole_seed(seed)))
    y = None if resample == "pairs" and criterion.reads == {"pairs"} else y
    return rows, {"y": y, "must_link": pairs[0], "cannot_link": pairs[1]}
