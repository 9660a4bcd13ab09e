"""A fitted selector with its data, from which every section of a report is computed.

    (selector, X, y, pairs, results) -> Case -> Section.compute(case) -> dict of numbers, strings and lists

A case checks that selector, data and results belong together, and collects the remarks of the sections.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from scipy.stats import rankdata
from sklearn.utils.validation import check_is_fitted

from ..criteria import Criterion, Sensitivity
from ..evaluate.compare import Comparison
from ..evaluate.stability import Stability
from ..evaluate.tests import Significance
from ..methods import Variance
from ..problem import Problem
from ..selector import SpectralSelector, by_feature
from ..selector import feature_names as names_of
from ..validation import check_choice

REFIT_CELLS, REFIT_ROWS = 2e6, 1500  # above these sizes no section fits the method many times
_T = TypeVar("_T")


@dataclass
class Case:
    """A fitted selector with its data, the results given for the report, and the remarks collected for it.

    ``missing`` states why a part of the summary is None. ``measured`` is the problem before the selector scaled it.
    """

    selector: SpectralSelector
    problem: Problem
    names: list[str]
    task: str = "auto"
    source: str | None = None
    seed: int | None = None
    command: str | None = None
    measured: Problem | None = None
    stability: Stability | None = None
    comparison: Comparison | None = None
    significance: Significance | None = None
    notes: list[str] = field(default_factory=list)
    warnings: list[dict[str, str]] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    _computed: dict[Any, Any] = field(default_factory=dict, repr=False)

    def once(self, compute: Callable[[Case], _T]) -> _T:
        """``compute(self)``, computed only at the first call."""
        if compute not in self._computed:
            self._computed[compute] = compute(self)
        return self._computed[compute]

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

    def told(self) -> dict[str, Any]:
        """Labels, pairs and seed as arguments of an evaluation."""
        given = {name: getattr(self.problem.supervision, name) for name in ("y", "must_link", "cannot_link")}
        return given | {"unlabeled": self.selector.unlabeled, "random_state": self.seed or 0}

    @cached_property
    def labels(self) -> tuple[str, Any, Any]:
        """The kind of y (none, classes, target, unknown), its values per row, and the class names.

        The kind is the stated one, the one that the criterion reads, or that of :meth:`fiedler.Supervision.task`.
        """
        told, stated = self.problem.supervision, self.task != "auto"
        if told.y is None:
            return "none", None, None
        read = {self.task} if stated else self.criterion.reads & {"classes", "target"}
        first = next(iter(read)) if len(read) == 1 else told.task()
        reader = f"task={self.task!r}" if stated else "the report"
        for kind in (first, "target" if first == "classes" else "classes"):
            try:
                return (kind, *told.classes(reader)) if kind == "classes" else (kind, told.target(reader), None)
            except (ValueError, TypeError):
                if stated:
                    raise
        return "unknown", None, None

    @property
    def kept(self) -> np.ndarray:
        """The columns that a screen kept; without a screen all."""
        return getattr(self.selector, "kept_", np.ones(len(self.scores), dtype=bool))

    @cached_property
    def screened(self) -> Problem:
        """The problem of the columns that were scored, from which graphs are built."""
        return self.problem.take_columns(self.kept)

    @cached_property
    def without_pairs(self) -> Problem:
        """The problem for a method that reads no pairs."""
        return self.problem.without_pairs()

    @cached_property
    def variance(self) -> np.ndarray:
        return quiet(lambda: Variance().score(self.problem))

    @property
    def is_small(self) -> bool:
        """Whether most methods can be fitted many times in a short time."""
        n, m = self.problem.X.shape
        return n <= REFIT_ROWS and n * m <= REFIT_CELLS

    def is_slow(self, times: int = 1) -> bool:
        """Whether ``times`` fits of this method take long: EVSC needs n³ operations per feature."""
        n, m = self.problem.X.shape
        return uses_sensitivity(self.criterion) and times * float(n) ** 3 * m > 1e10


def make_case(
    selector: SpectralSelector,
    X: Any,
    y: Any = None,
    *,
    feature_names: Any = None,
    must_link: Any = None,
    cannot_link: Any = None,
    task: str = "auto",
    **given: Any,
) -> Case:
    """A case, after a check that selector, data and results belong together; ``given`` are its further fields."""
    check_is_fitted(selector)
    check_choice("task", task, ("auto", "classes", "target"))
    columns, groups = getattr(selector, "feature_names_in_", None), getattr(selector, "groups_", None)
    selector = by_feature(selector)
    problem = X if isinstance(X, Problem) else quiet(lambda: Problem.read(X, columns, groups=groups))  # fit has warned
    m = problem.n_features
    if len(selector.scores_) != m:
        raise ValueError(f"X has {m} features, but the selector was fitted on {len(selector.scores_)}.")
    told = {"must_link": must_link, "cannot_link": cannot_link, "unlabeled": selector.unlabeled}
    measured = problem.with_supervision(y, **told)
    problem = measured.scaled(selector.scale or "keep")
    case = Case(selector, problem, names_of(selector, feature_names), task, measured=measured, **given)
    for name, values in (("stability", "frequency"), ("significance", "pvalues")):
        result = getattr(case, name)
        if result is not None and len(getattr(result, values)) != m:
            raise ValueError(f"{name} has {len(getattr(result, values))} features, but X has {m}.")
    if case.comparison is not None and case.seed is None:
        case.seed = case.comparison.settings["random_state"]
    return case


# -------------------------------------------------------------------- steps that several sections share


def uses_sensitivity(criterion: Criterion) -> bool:
    return any(isinstance(part, Sensitivity) for part in criterion.resolved().leaves)


def quiet(function: Callable[[], _T]) -> _T:
    with warnings.catch_warnings():  # fit has already given these warnings
        warnings.simplefilter("ignore")
        return function()


def mean_ranks(scores: np.ndarray, greater_is_better: bool) -> np.ndarray:
    """Ranks, 1 for the best; equal scores share their mean rank, and NaN is one group of ties at the end.

    Examples
    --------
    >>> import numpy as np
    >>> mean_ranks(np.array([0.5, np.nan, 0.9, 0.5]), greater_is_better=True)
    array([2.5, 4. , 1. , 2.5])
    """
    return rankdata(np.unique(-scores if greater_is_better else scores, return_inverse=True)[1])


def correlations(rows: np.ndarray) -> np.ndarray:
    """Pearson correlations between rows; NaN for a constant row."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.atleast_2d(np.clip(np.corrcoef(rows), -1.0, 1.0))
