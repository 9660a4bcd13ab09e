"""The sections of a report as plain values: what the data are, what was run, and what deserves a warning.

    (selector, X, y, pairs) -> Case -> one function per section -> dict of numbers, strings and lists

Nothing here draws or formats. What would be slow is left out, and a note says so.
"""

from __future__ import annotations

import inspect
import platform
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.utils.validation import check_is_fitted

from .. import registry
from ..criteria import Criterion, Sensitivity
from ..data.arrays import take_columns, take_rows, validate_X
from ..engine.blocks import is_constant, map_columns
from ..evaluate.stability import Stability
from ..evaluate.stability import stability as measure_stability
from ..evaluate.tuning import enough, suggest_n_features, turning_point
from ..methods import METHODS, Method, Variance
from ..papers import cited
from ..problem import Problem
from ..selection.ranking import rank, rank_features
from ..selector import SpectralSelector, feature_names
from ..syntax import as_criterion, short_text
from ..validation import check_choice, is_sparse
from ..version import __version__
from ..words import direction

SLOW_CELLS = 5e7  # cells of X beyond which other methods are not scored as well
REFIT_CELLS, REFIT_ROWS = 2e6, 1500  # beyond these the number of features is not judged by fitting again and again
FEW_CELLS, DRAWS, FEW_DRAWS = 2e5, 20, 10  # up to so many cells stability is measured in so many draws, else in few
CORRELATED_ROWS = 20_000  # rows that correlations between features are taken over
REDUNDANT = 0.9  # absolute correlation from which two features are called redundant


@dataclass
class Case:
    """A fitted selector with its data, and the remarks that come up on the way."""

    selector: SpectralSelector
    problem: Problem
    names: list[str]
    task: str = "auto"
    notes: list[str] = field(default_factory=list)
    warnings: list[dict[str, str]] = field(default_factory=list)

    @property
    def criterion(self) -> Criterion:
        return self.selector.criterion_

    @property
    def scores(self) -> np.ndarray:
        return self.selector.scores_

    @property
    def n_selected(self) -> int:
        return int(self.selector.n_features_)

    def warn(self, kind: str, text: str) -> None:
        self.warnings.append({"kind": kind, "text": text})

    def supervision(self) -> dict[str, Any]:
        """What a fit is told about the rows."""
        known = self.problem.supervision
        return {"y": known.y, "must_link": known.must_link, "cannot_link": known.cannot_link}

    @cached_property
    def labels(self) -> tuple[str, np.ndarray | None, np.ndarray | None]:
        """The kind of y (none, classes, target, unknown), its values per row, and the class names.

        The kind is the one stated, or what the criterion reads, or what :meth:`fiedler.Supervision.task` says.
        """
        known = self.problem.supervision
        if known.y is None:
            return "none", None, None
        if self.task != "auto":
            return self._read(self.task, f"task={self.task!r}")
        read = self.criterion.reads & {"classes", "target"}
        first = next(iter(read)) if len(read) == 1 else known.task()
        for kind in (first, "target" if first == "classes" else "classes"):
            try:
                return self._read(kind, "the report")
            except (ValueError, TypeError):
                continue
        return "unknown", None, None

    def _read(self, kind: str, reader: str) -> tuple[str, np.ndarray, np.ndarray | None]:
        known = self.problem.supervision
        return (kind, *known.classes(reader)) if kind == "classes" else (kind, known.target(reader), None)

    @cached_property
    def without_pairs(self) -> Problem:
        """What a method sees that reads no pairs."""
        return self.problem.without_pairs()

    @cached_property
    def variance(self) -> np.ndarray:
        return _quiet(lambda: Variance().score(Problem(self.problem.X)))


def make_case(
    selector: SpectralSelector,
    X: Any,
    y: Any,
    given_names: Any = None,
    must_link: Any = None,
    cannot_link: Any = None,
    task: str = "auto",
) -> Case:
    """Check that data and selector belong together."""
    check_is_fitted(selector)
    check_choice("task", task, ("auto", "classes", "target"))
    X = validate_X(X, getattr(selector, "feature_names_in_", None))
    m = X.shape[1]
    if len(selector.scores_) != m:
        raise ValueError(f"X has {m} features, but the selector was fitted on {len(selector.scores_)}.")
    names = feature_names(selector, given_names)
    told = {"must_link": must_link, "cannot_link": cannot_link, "unlabeled": selector.unlabeled}
    return Case(selector, Problem(X).with_supervision(y, **told), names, task)


# -------------------------------------------------------------------- what was given, what was run


def data_section(case: Case, source: str | None) -> dict[str, Any]:
    X, known = case.problem.X, case.problem.supervision
    everywhere = np.ones(X.shape[0], dtype=bool)
    constant = np.flatnonzero(map_columns(lambda F: is_constant(F, everywhere), X))
    kind, values, classes = case.labels
    labels: dict[str, Any] = {"kind": kind, "n_known": 0}
    if values is not None and classes is not None:
        counts = np.bincount(values[values >= 0], minlength=len(classes))
        labels |= {"n_known": counts.sum(), "classes": [[str(c), k] for c, k in zip(classes, counts, strict=True)]}
    elif values is not None:
        there = values[~np.isnan(values)]
        labels |= {"n_known": len(there), "min": there.min(), "mean": there.mean(), "max": there.max()}
    pairs = {"must_link": known.must_link, "cannot_link": known.cannot_link}
    stored = X.nnz if is_sparse(X) else np.count_nonzero(X)
    return {
        "source": source,
        "n_samples": X.shape[0],
        "n_features": X.shape[1],
        "dtype": str(X.dtype),
        "sparse": is_sparse(X),
        "nonzero": stored / max(X.shape[0] * X.shape[1], 1),
        "n_constant": len(constant),
        "constant": [case.names[j] for j in constant[:20]],
        "labels": labels,
        "pairs": {name: None if given is None else len(given) for name, given in pairs.items()},
    }


def run_section(case: Case, seed: int | None) -> dict[str, Any]:
    criterion = case.criterion
    formula = criterion.formula() if isinstance(criterion, Method) else criterion
    entry = next((e for e in registry.METHODS if METHODS[e.name] is type(criterion)), None)
    doc = inspect.getdoc(type(criterion)) if entry else None
    parameters = criterion.get_params(deep=True)
    return {
        "method": short_text(criterion),
        "criterion": repr(criterion),
        "formula": repr(formula),
        "about": (doc or "").partition("\n")[0],
        "papers": [str(paper) for paper in cited(entry.equation)] if entry else [],
        "greater_is_better": criterion.greater_is_better,
        "direction": direction(criterion.greater_is_better),
        "reads": _read(case),
        "parameters": {
            k: v if isinstance(v, (int, float, str, type(None))) else repr(v) for k, v in parameters.items()
        },
        "n_features_to_select": case.selector.n_features_to_select,
        "n_selected": case.n_selected,
        "unlabeled": None if case.selector.unlabeled is None else str(case.selector.unlabeled),
        "seed": seed,
        "versions": _versions(),
    }


def _read(case: Case) -> list[str]:
    """The supervision that was read: what the criterion needs, and of what it may use that which was there."""
    known, found = case.problem.supervision, set(case.criterion.reads)
    if "classes" in case.criterion.uses and known.labelled.any():
        found.add(known.task())
    elif "pairs" in case.criterion.uses and known.has_pairs:
        found.add("pairs")
    return sorted(found)


def _versions() -> dict[str, str]:
    import scipy
    import sklearn

    modules = {"numpy": np, "scipy": scipy, "scikit-learn": sklearn}
    return {"fiedler": __version__, "python": platform.python_version()} | {
        name: module.__version__ for name, module in modules.items()
    }


# -------------------------------------------------------------------- the ranking


def significance_section(case: Case, tested: Any) -> dict[str, Any] | None:
    """How many features are more than noise, and their p-values as a histogram; of a selector by "fdr" its own."""
    p, q, _ = _tests(case, tested)
    if p is None or q is None:
        return None
    known, alpha = p[~np.isnan(p)], float(case.selector.alpha)
    counts = np.histogram(known, bins=20, range=(0.0, 1.0))[0]
    return {"alpha": alpha, "n_significant": int(np.sum(q <= alpha)), "n_tested": len(known), "histogram": counts}


def _tests(case: Case, tested: Any) -> tuple[np.ndarray | None, ...]:
    if tested is not None:
        return tested.pvalues, tested.qvalues, tested.effect
    return tuple(getattr(case.selector, name, None) for name in ("pvalues_", "qvalues_", "effects_"))


def features_section(case: Case, stability: Any, tested: Any = None) -> dict[str, list]:
    """The ranking as columns, best first."""
    order = case.selector.order_
    columns: dict[str, Any] = {
        "feature": [case.names[j] for j in order],
        "column": order,
        "score": case.scores[order],
        "length": bar_lengths(case.scores[order], case.criterion.greater_is_better),
        "note": np.where(np.isnan(case.scores[order]), "no score: constant on the rows read, or 0/0", "").tolist(),
    }
    explained = getattr(case.selector, "explained_", None)
    if explained is not None:
        columns["explained"] = np.r_[explained, np.full(len(order) - len(explained), np.nan)][: len(order)]
    behind = getattr(case.selector, "stands_for_", None)
    if behind is not None:
        for place, j in enumerate(order[: case.n_selected]):
            columns["note"][place] = columns["note"][place] or _stands_for(
                [case.names[i] for i in np.flatnonzero(behind == j)]
            )
    for name, values in zip(("p", "q", "effect"), _tests(case, tested), strict=True):
        if values is not None:
            columns[name] = values[order]
    if stability is not None:
        for name in ("frequency", "rank_low", "rank_median", "rank_high"):
            columns[name] = np.asarray(getattr(stability, name))[order]
    return columns


def _stands_for(names: list[str], shown: int = 3) -> str:
    """What a kept feature stands for: the near copies that were passed over."""
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return f"stands for {', '.join(names[:shown])}{more}" if names else ""


def bar_lengths(scores: np.ndarray, greater_is_better: bool) -> np.ndarray:
    """Scores as shares of the way from the worst (0) to the best (1); NaN is 0.

    Examples
    --------
    >>> import numpy as np
    >>> bar_lengths(np.array([1.0, 2.0, 5.0, np.nan]), greater_is_better=False)
    array([1.  , 0.75, 0.  , 0.  ])
    """
    signed = scores if greater_is_better else -scores
    finite = signed[np.isfinite(signed)]
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 0.0)
    with np.errstate(invalid="ignore"):
        length = (np.clip(signed, low, high) - low) / ((high - low) or 1.0)
    return np.where(np.isnan(length), 0.0, np.where((high == low) & ~np.isnan(signed), 1.0, length))


def measured_stability(case: Case, random_state: int) -> Stability | str:
    """The ranking again on four fifths of the rows, drawn a few times; or why there is none."""
    n, m = case.problem.X.shape
    draws = DRAWS if n * m <= FEW_CELLS else FEW_DRAWS
    if n < 5 or m < 2:
        return "Stability is not measured: it needs five rows and two features at least."
    if not _is_small(case):
        return f"Stability is not measured: ranking {n:,} rows and {m:,} features {draws} times would be slow."
    if _is_slow(case, draws):
        return f"Stability is not measured: {case.criterion!r} takes long on {n:,} rows, {draws} times."
    k = min(case.n_selected, int(np.isfinite(case.scores).sum()))
    options = {"unlabeled": case.selector.unlabeled, "random_state": random_state, "k": k, "n_draws": draws}
    try:
        return _quiet(lambda: measure_stability(case.criterion, case.problem, **case.supervision(), **options))
    except (ValueError, TypeError) as error:
        return f"Stability is not measured: {error}"


def suggestions_section(case: Case, random_state: int, n_clusters: int | None = None) -> list[dict[str, Any]]:
    """How many features to keep, by the rules of :func:`fiedler.evaluate.suggest_n_features`."""
    found = None
    if _is_small(case) and not _is_slow(case):
        options: dict[str, Any] = {"unlabeled": case.selector.unlabeled, "random_state": random_state}
        options["n_clusters"] = n_clusters
        try:
            found = _quiet(lambda: suggest_n_features(case.criterion, case.problem, **case.supervision(), **options))
        except ValueError as error:
            case.notes.append(f"Of the rules for the number of features only the turning point applies: {error}")
    else:
        case.notes.append(
            "The number of features is suggested by the turning point of the scores alone; the other rules of "
            "fiedler.evaluate.suggest_n_features fit many times, which would be slow on these data."
        )
    explained = getattr(case.selector, "explained_", None)
    if found is None and explained is not None:
        rules = [("explained", *enough(explained))]
    elif found is None:
        rules = [("turning", *turning_point(case.scores[case.selector.order_]))]
    else:
        rules = list(zip(found.rules, found.n_features, found.reasons, strict=True))
    return [{"rule": rule, "n_features": n, "reason": reason} for rule, n, reason in rules]


def _is_small(case: Case) -> bool:
    """Whether fitting again and again is quick for most methods."""
    n, m = case.problem.X.shape
    return n <= REFIT_ROWS and n * m <= REFIT_CELLS


def _is_slow(case: Case, times: int = 1) -> bool:
    """Whether fitting again, so many times, would take long for this method: n³ operations per feature for EVSC."""
    n, m = case.problem.X.shape
    return uses_sensitivity(case.criterion) and times * float(n) ** 3 * m > 1e10


# -------------------------------------------------------------------- other methods


def agreement_section(case: Case, comparison: Any) -> dict[str, Any]:
    """Rank correlation and common features between the method and others on the same data."""
    X = case.problem.X
    if X.shape[1] < 3:
        return {"note": "Agreement between methods needs at least three features."}
    k = min(case.n_selected, X.shape[1])
    own = case.scores, case.selector.order_, case.criterion.is_set, case.criterion.greater_is_better
    scored = {short_text(case.criterion): own}
    for name, criterion in _others(case, comparison).items():
        if repr(criterion) == repr(case.criterion) or name in scored:
            continue
        ranking = _ranked(case, criterion, k)
        if ranking is not None:
            scored[name] = (*ranking, criterion.greater_is_better)
    if len(scored) < 2:
        return {"note": "No other method could be scored on these data."}
    ranks = np.array([_ranks(scores, order, by_order, up) for scores, order, by_order, up in scored.values()])
    chosen = [set(order[:k].tolist()) for _, order, _, _ in scored.values()]
    overlap = [[len(a & b) / k for b in chosen] for a in chosen]
    return {"methods": list(scored), "spearman": correlations(ranks), "overlap": overlap, "k": k}


def _others(case: Case, comparison: Any) -> dict[str, Criterion]:
    n, m = case.problem.X.shape
    if comparison is not None:
        seconds = {name: about["seconds"] for name, about in comparison.summary()["methods"].items()}
        quick = [name for name, formula in comparison.criteria.items() if formula is not None and seconds[name] < 5]
        return {name: made for name in quick if (made := _parsed(name, comparison.criteria[name])) is not None}
    names = ["variance"]
    if n * m <= SLOW_CELLS:
        names += ["laplacian"] if case.criterion.is_set else ["subset", "laplacian"]
        names += {"classes": ["fisher", "relieff"], "target": ["correlation", "sls"]}.get(case.labels[0], [])
        names += ["constraint"] * case.problem.supervision.has_pairs
    return {name: METHODS[name]() for name in names}


def _parsed(*texts: str) -> Criterion | None:
    for text in texts:
        try:
            return as_criterion(text)
        except ValueError:
            continue
    return None


def _ranked(case: Case, criterion: Criterion, k: int) -> tuple[np.ndarray, np.ndarray, bool] | None:
    """Scores, order, and whether the order alone counts, as of a set; None where a method reads what is not there."""
    if isinstance(criterion, Variance):
        return case.variance, rank_features(case.variance, True), False
    problem = case.problem if "pairs" in criterion.uses else case.without_pairs
    try:
        ranking = _quiet(lambda: rank(criterion, problem, k))
    except (ValueError, TypeError):
        return None
    return ranking.scores, ranking.order, ranking.explained is not None


def _ranks(scores: np.ndarray, order: np.ndarray, by_order: bool, greater_is_better: bool) -> np.ndarray:
    if not by_order:
        return ranks_of(scores, greater_is_better)
    places = np.empty(len(order))
    places[order] = np.arange(1.0, len(order) + 1)
    return places


def ranks_of(scores: np.ndarray, greater_is_better: bool) -> np.ndarray:
    """Ranks with 1 for the best; equal scores share their mean rank, NaN is one tied group at the end.

    Examples
    --------
    >>> import numpy as np
    >>> ranks_of(np.array([0.5, np.nan, 0.9, 0.5]), greater_is_better=True)
    array([2.5, 4. , 1. , 2.5])
    """
    return rankdata(np.unique(-scores if greater_is_better else scores, return_inverse=True)[1])


def correlations(rows: np.ndarray) -> np.ndarray:
    """Pearson correlations between rows; NaN for a constant one."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.atleast_2d(np.clip(np.corrcoef(rows), -1.0, 1.0))


# -------------------------------------------------------------------- redundancy


def redundancy_section(case: Case, columns: dict[str, list], shown: int = 24, examined: int = 200) -> dict[str, Any]:
    """Correlations among the selected features; a note for each that repeats a better one."""
    order = case.selector.order_[: min(case.n_selected, examined)]
    order = order[~np.isnan(case.scores[order])]
    if len(order) < 2:
        return {"note": "Fewer than two selected features have a score, so there is nothing to correlate."}
    n = case.problem.n_samples
    rows = np.linspace(0, n - 1, min(n, CORRELATED_ROWS)).astype(np.intp)
    r = correlations(take_rows(take_columns(case.problem.X, order), rows).T)
    better = np.triu(np.nan_to_num(np.abs(r)), 1)
    partner, strength = better.argmax(axis=0), better.max(axis=0)
    places = {j: place for place, j in enumerate(case.selector.order_)}
    repeats = []
    for at in np.flatnonzero(strength >= REDUNDANT):
        place, other = places[order[at]], places[order[partner[at]]]
        value = float(r[partner[at], at])
        repeats.append({"rank": place + 1, "of": other + 1, "correlation": value})
        columns["note"][place] = f"correlates {value:.2f} with rank {other + 1}, {columns['feature'][other]}"
    if len(rows) < n:
        case.notes.append(f"Correlations between features are taken over {len(rows):,} of the {n:,} rows.")
    return {
        "features": [case.names[j] for j in order[:shown]],
        "ranks": [places[j] + 1 for j in order[:shown]],
        "correlation": r[:shown, :shown],
        "examined": len(order),
        "threshold": REDUNDANT,
        "repeats": repeats,
    }


# -------------------------------------------------------------------- shared steps


def uses_sensitivity(criterion: Criterion) -> bool:
    return any(isinstance(part, Sensitivity) for part in criterion.walk())


def _quiet(function: Callable[[], Any]) -> Any:
    with warnings.catch_warnings():  # the fit itself has said what there is to say
        warnings.simplefilter("ignore")
        return function()
