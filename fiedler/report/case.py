"""What a report is about, and what a section of it is: how it is computed, when it is shown, and what it shows.

    (selector, X, y, pairs, results) -> Case -> Section.compute(case) -> dict of numbers, strings and lists

A case checks that selector, data and results belong together, and collects the remarks of the sections.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, InitVar, dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..criteria import Sensitivity
from ..evaluate.compare import Comparison
from ..evaluate.stability import Stability
from ..evaluate.tests import Significance
from ..problem import Problem
from ..selector import SpectralSelector, by_feature
from ..selector import feature_names as names_of
from ..validation import check_choice
from ..words import number

Summary = dict[str, Any]  # a summary, or a part of it
LONGEST_NAME = 400  # length of a name that the page shows under the pointer
REFIT_CELLS, REFIT_ROWS = 2e6, 1500  # above these sizes no section fits the method many times
_T = TypeVar("_T")


@dataclass
class Case:
    """A fitted selector with its data, the results given for the report, and the remarks collected for it.

    ``missing`` states why a part of the summary is None. ``measured`` is the problem before the selector scaled it, and
    ``kept`` are the columns that a screen kept. ``told`` are labels, pairs and seed as arguments of an evaluation.
    """

    selector: SpectralSelector
    X: InitVar[Any]
    y: InitVar[Any] = None
    feature_names: InitVar[Any] = None
    must_link: InitVar[Any] = None
    cannot_link: InitVar[Any] = None
    task: str = "auto"
    source: str | None = None
    command: str | None = None
    seed: int | None = None
    stability: Stability | None = None
    comparison: Comparison | None = None
    significance: Significance | None = None

    def __post_init__(self, X: Any, y: Any, feature_names: Any, must_link: Any, cannot_link: Any) -> None:
        check_is_fitted(self.selector)
        check_choice("task", self.task, ("auto", "classes", "target"))
        columns, groups = (getattr(self.selector, name, None) for name in ("feature_names_in_", "groups_"))
        self.selector = selector = by_feature(self.selector)
        problem = X if isinstance(X, Problem) else quiet(lambda: Problem.read(X, columns, groups=groups))
        self.criterion, self.scores, m = selector.criterion_, selector.scores_, problem.n_features
        self.n_selected, self.kept = int(selector.n_features_), getattr(selector, "kept_", np.ones(m, dtype=bool))
        if len(self.scores) != m:
            raise ValueError(f"X has {m} features, but the selector was fitted on {len(self.scores)}.")
        told = {"must_link": must_link, "cannot_link": cannot_link, "unlabeled": selector.unlabeled}
        self.measured, _ = problem.with_supervision(y, **told).settled()
        self.problem, self.names = self.measured.scaled(selector.scale or "keep"), names_of(selector, feature_names)
        for name, values in (("stability", "frequency"), ("significance", "pvalues")):
            found = getattr(getattr(self, name), values, None)
            if found is not None and len(found) != m:
                raise ValueError(f"{name} has {len(found)} features, but X has {m}.")
        if self.comparison is not None and self.seed is None:
            self.seed = self.comparison.settings["random_state"]
        self.told = {name: getattr(self.problem.supervision, name) for name in ("y", "must_link", "cannot_link")}
        self.told |= {"unlabeled": selector.unlabeled, "random_state": self.seed or 0}
        self.notes: list[str] = []
        self.warnings: list[dict[str, str]] = []
        self.missing: dict[str, str] = {}
        self._computed: dict[Any, Any] = {}

    def once(self, compute: Callable[[Case], _T]) -> _T:
        """``compute(self)``, computed only at the first call."""
        if compute not in self._computed:
            self._computed[compute] = compute(self)
        return self._computed[compute]

    def warn(self, kind: str, text: str) -> None:
        self.warnings.append({"kind": kind, "text": text})

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

    @cached_property
    def screened(self) -> Problem:
        """The problem of the columns that were scored, from which graphs are built."""
        return self.problem.take_columns(self.kept)

    @property
    def is_sensitive(self) -> bool:
        """Whether the criterion is a sensitivity of eigenvalues."""
        return any(isinstance(part, Sensitivity) for part in self.criterion.resolved().leaves)

    def why_slow(self, times: int = 1) -> str:
        """Why ``times`` fits take long, or an empty text; sensitivities need n³ operations per feature."""
        n, m = self.problem.X.shape
        if n > REFIT_ROWS or n * m > REFIT_CELLS:
            return f"ranking {n:,} rows and {self.problem.n_features:,} features {times} times would be slow."
        long = self.is_sensitive and times * float(n) ** 3 * m > 1e10
        return f"{times} fits of {self.criterion!r} on {n:,} rows would take long." if long else ""


def quiet(function: Callable[[], _T]) -> _T:
    with warnings.catch_warnings(action="ignore"):  # fit has already given these warnings
        return function()


def correlations(rows: np.ndarray) -> np.ndarray:
    """Pearson correlations between rows; NaN for a constant row."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.atleast_2d(np.clip(np.corrcoef(rows), -1.0, 1.0))


# -------------------------------------------------------------------- sections


@dataclass(frozen=True)
class Section:
    """A section of the report.

    Only ``name`` and ``title`` are required. A section without ``compute`` shows parts of the summary that other
    sections computed. A section without ``template`` is in the summary, but not on the page.

    Parameters
    ----------
    name : str
        The key of the section in the summary and its id on the page.
    title : str
        The heading.
    template : str
        Jinja2 template of the body. It reads the summary ``s`` and the result of ``view``; values are escaped. It may
        use the macros ``figure(drawn, title, words)``, ``keys(items)`` and ``table(caption, heads, rows)``.
    label : str, optional
        The name in the navigation; by default ``title``.
    compute : callable, optional
        ``compute(case)`` returns the part of the summary under ``name``: dicts, lists, strings, numbers and None. A
        case has the fitted ``selector``, the ``problem`` with X, labels and pairs, the ``names`` of the features,
        ``notes``, ``warn(kind, text)``, and ``once(compute)`` for the result of another section.
    applies : callable, optional
        ``applies(summary)`` states whether the page shows this section; by default if ``summary[name]`` is not empty.
    view : callable, optional
        ``view(summary)`` gives words, rows of tables and figures for the template. A ``title`` in it replaces the
        heading.
    tiles : callable, optional
        ``tiles(summary)`` gives the cards of this section at the top of the page, each made by :func:`tile`.
    """

    name: str
    title: str
    template: str = ""
    _: KW_ONLY
    label: str = ""
    compute: Callable[[Case], Any] | None = None
    applies: Callable[[Summary], bool] | None = None
    view: Callable[[Summary], Summary] | None = None
    tiles: Callable[[Summary], list[dict[str, str]]] | None = None


def built_in(name: str, title: str, compute: Any = None, view: Any = None, **others: Any) -> Section:
    """A section of this room, whose template is the file of its name."""
    return Section(name, title, f'{{% include "{name}.html.j2" %}}', compute=compute, view=view, **others)


def check_sections(sections: Sequence[Section]) -> None:
    """Raise an error if two sections have the same name, or if a section for the head of the page is missing."""
    names = [section.name for section in sections]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"sections has two sections named {name!r}; give each its own name.")
    for name in ("data", "run", "features"):
        if name not in names:
            raise ValueError(f"sections has no {name!r}, which every report needs; start from fiedler.report.SECTIONS.")


def tile(label: str, value: str, detail: str = "", full: str = "") -> dict[str, str]:
    """A card at the top of the page; ``full`` is shown under the pointer."""
    return {"label": label, "value": value, "detail": detail, "full": full[:LONGEST_NAME]}


# -------------------------------------------------------------------- numbers for readers


def short(value: Any, digits: int = 5) -> str:
    """A number as readable text.

    Examples
    --------
    >>> short(0.123456789), short(1234567), short(None), short("inf"), short(2.0)
    ('0.12346', '1,234,567', '–', 'inf', '2')
    """
    if value is None or isinstance(value, str):
        return value or "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:.{digits}g}"


def percent(value: Any) -> str:
    """A share as a percentage.

    Examples
    --------
    >>> percent(0.256), percent(None)
    ('26 %', '–')
    """
    return "–" if value is None else f"{round(100 * number(value))} %"


def class_colours(labels: Summary) -> list[str]:
    """The name of the colour of each class, equal in all figures; the eight largest classes have their own colour.

    Examples
    --------
    >>> class_colours({"kind": "classes", "classes": [["a", 2], ["b", 5]]})
    ['C0', 'C1']
    """
    sizes = [count for _, count in labels.get("classes", [])]
    largest = sorted(sorted(range(len(sizes)), key=lambda code: -sizes[code])[:8])
    colours = ["ink"] * len(sizes)
    for at, code in enumerate(largest):
        colours[code] = f"C{at}"
    return colours
