"""The ranking that follows the answers: settings -> criterion -> scores -> an order with pinned and banned features.

Everything that reads no answers is kept in one :class:`fiedler.Problem`, so an answer costs only the scores.
"""

from __future__ import annotations

import threading
import time
import warnings
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn import config_context, get_config

from ..criteria import Criterion
from ..criteria.order import importances
from ..data.memory import physical_bytes
from ..data.work import Run
from ..errors import ParameterError
from ..methods import METHODS, SSelect
from ..problem import Problem
from ..selector import SpectralSelector, set_choice
from ..supervision import Supervision
from ..syntax import as_criterion, short_text
from .answers import Known

MOST_NEIGHBORS = 100


@dataclass(frozen=True)
class Settings:
    """The settings of a ranking."""

    method: str = "subset"  # in the syntax of fiedler.syntax
    lam: float | None = None  # λ of sSelect; None is the value in ``method``
    n_neighbors: int | None = None  # in the graph of the method; None is the value in ``method``
    n_features: int = 10  # to select

    def changed(self, changes: dict[str, Any], n_samples: int, n_features: int) -> Settings:
        """The settings with some new values, which are checked."""
        if not changes:
            raise ParameterError("name a setting: method, lam, n_neighbors or n_features.", parameter="settings")
        checked, most = dict(changes), {"n_neighbors": min(MOST_NEIGHBORS, n_samples - 1), "n_features": n_features}
        for name, value in changes.items():
            real = isinstance(value, (int, float)) and not isinstance(value, bool)
            if name == "method":
                fits, what = isinstance(value, str), "text"
            elif name == "lam":
                fits, what = value is None or (real and 0 <= value <= 1), "a number in [0, 1]"
            elif name in most:
                fits = real and isinstance(value, int) and 1 <= value <= most[name]
                fits, what = fits or (value is None and name == "n_neighbors"), f"a whole number from 1 to {most[name]}"
            else:
                message = f"unknown setting {name!r}; there are method, lam, n_neighbors and n_features."
                raise ParameterError(message, parameter="settings", value=name)
            if not fits:
                raise ParameterError(f"{name} must be {what}, got {value!r}.", parameter=name, value=value)
            if name == "method":
                checked[name] = short_text(as_criterion(value))
                _ = as_criterion(value).greater_is_better  # a formula that cannot be is refused here
        return replace(self, **checked)

    def criterion(self) -> Criterion:
        """The method with λ and the number of neighbours filled in."""
        criterion = as_criterion(self.method)
        for name, where in _movable(criterion).items():
            if getattr(self, name) is not None:
                criterion.set_params(**{where: getattr(self, name)})
        return criterion

    def knobs(self) -> dict[str, Any]:
        """Values of λ and of the number of neighbours that are in force; None if the method has no such parameter."""
        criterion: Any = self.criterion()
        values: dict[str, Any] = {"lam": None, "n_neighbors": None}
        for name, where in _movable(criterion).items():
            values[name] = getattr(criterion._recipe("graph") if where.startswith("graph__") else criterion, name)
        return values


def _movable(criterion: Criterion) -> dict[str, str]:
    """What the page can move of a method, and the name under which ``set_params`` sets it."""
    found = {"lam": "lam"} if isinstance(criterion, SSelect) and not isinstance(criterion.lam, str) else {}
    if type(criterion) in METHODS.values():
        if hasattr(criterion, "_default_graph") and hasattr(criterion._recipe("graph"), "n_neighbors"):
            found["n_neighbors"] = "graph__n_neighbors"
        elif type(criterion).__name__ == "ReliefF":
            found["n_neighbors"] = "n_neighbors"
    return found


@dataclass(frozen=True)
class Ranked:
    """A ranking, or the reason why there is none."""

    order: np.ndarray  # feature numbers, pinned features first and banned features last; empty if there is no ranking
    scores: np.ndarray  # raw score of every feature; NaN for banned features
    bars: np.ndarray  # for every feature its share of the longest bar: gains for sets, importances for rankings
    gains: np.ndarray | None  # for sets: what a feature adds to those before it, or would add to the chosen ones
    n_selected: int
    explained: np.ndarray | None = None  # for sets: the share that the first features of the path explain
    greater_is_better: bool = False
    is_set: bool = False
    formula: str = ""
    notes: tuple[str, ...] = ()  # warnings of the library
    trouble: str | None = None  # why there is no ranking
    seconds: float = 0.0

    @property
    def selected(self) -> np.ndarray:
        """The selected features, best first."""
        return self.order[: self.n_selected]


class Live:
    """Rankings of one table, a problem made with ``reuse=True``, for changing answers and settings."""

    def __init__(self, problem: Problem, scale: str | None = None):
        self.problem, self.scale = problem, scale
        self._parts: dict[tuple[int, ...], Problem] = {(): problem}  # problems without banned features
        self.fitted: tuple[SpectralSelector, Problem] | None = None  # the last fit, without banned features

    def rank(self, settings: Settings, known: Known, supervision: dict[str, Any]) -> Ranked:
        """The ranking for some settings and answers."""
        begun, m = time.perf_counter(), self.problem.n_features
        self.fitted = None
        with warnings.catch_warnings(record=True, action="always") as caught:
            try:
                selector = self.fit(settings, known, supervision)
            except (ValueError, TypeError) as error:
                nothing = np.empty(0, dtype=np.intp), np.full(m, np.nan), np.zeros(m), None, 0
                return Ranked(*nothing, trouble=str(error), seconds=time.perf_counter() - begun)
        criterion, gains = selector.criterion_, getattr(selector, "gains_", None)
        # What a screen keeps of the number that is asked for is said by the screen below.
        heard = [w.message for w in caught if issubclass(w.category, UserWarning)]
        said = [str(told) for told in heard if "screen=None" not in str(told)]
        up = criterion.greater_is_better
        if not getattr(selector, "kept_", np.ones(1, dtype=bool)).all():
            said.append(f"{selector.screen_}.")
        notes = tuple(dict.fromkeys([*said, *unread(criterion, self.problem.with_supervision(**supervision))]))
        bars = importances(selector.scores_, up) if gains is None else np.maximum(np.nan_to_num(gains), 0.0)
        longest = bars.max(where=np.isfinite(bars), initial=0.0)  # an infinite score has the longest bar, too
        bars = np.where(np.isfinite(bars), bars, longest) / (longest or 1.0)
        explained, seconds = getattr(selector, "explained_", None), time.perf_counter() - begun
        kind = explained, up, criterion.is_set, short_text(criterion), notes, None, seconds
        return Ranked(selector.order_, selector.scores_, bars, gains, selector.n_features_, *kind)

    def warm_up(self, settings: Settings) -> None:
        """Build what the first labels need, such as mid-ranks, before they are given."""
        n = self.problem.n_samples
        if n < 5:
            return
        y = np.full(n, None, dtype=object)
        y[:4] = ["a", "a", "b", "b"]
        with warnings.catch_warnings(action="ignore"), suppress(ValueError, TypeError):  # the first ranking tells them
            self.fit_kept(settings, Known(Supervision(n), ()), {"y": y, "unlabeled": None})

    def fit(self, settings: Settings, known: Known, supervision: dict[str, Any]) -> SpectralSelector:
        """A fitted selector over all features; pinned features come first in its order and banned ones last."""
        self.fitted = self.fit_kept(settings, known, supervision)
        selector = copy(self.fitted[0])
        if known.banned:
            columns, banned = self.allowed(known)[0], np.array(sorted(known.banned), dtype=np.intp)
            selector.include = None if selector.include is None else columns[selector.include].tolist()
            names = None if self.problem.feature_names is None else list(map(str, self.problem.feature_names))
            choice = selector._choice.widened(columns, banned)
            set_choice(selector, choice, selector.criterion_, self.problem.n_features, names)
        return selector

    def fit_kept(
        self, settings: Settings, known: Known, supervision: dict[str, Any]
    ) -> tuple[SpectralSelector, Problem]:
        """A selector fitted to the features that are not banned, and the problem of these features."""
        columns, problem = self.allowed(known)
        told, included = dict(supervision), np.searchsorted(columns, known.pinned).tolist()
        selector = SpectralSelector(
            settings.criterion(),
            n_features_to_select=min(max(settings.n_features, len(included)), problem.n_features),
            include=included or None,
            scale=self.scale,
            unlabeled=told.pop("unlabeled"),
        )
        # Mid-ranks and neighbour means are kept between answers if they fit: up to 4 GiB, or an eighth of the memory.
        with config_context(working_memory=max(get_config()["working_memory"], min(4096.0, physical_bytes() / 2**23))):
            return selector.fit(problem, **told), problem

    def allowed(self, known: Known) -> tuple[np.ndarray, Problem]:
        """Numbers of the features that are not banned, and the problem of these features."""
        banned, features = tuple(sorted(known.banned)), np.arange(self.problem.n_features)
        if len(banned) == len(features):
            raise ParameterError("every feature is banned; allow one again.", parameter="banned")
        if banned not in self._parts:
            self._parts = {(): self.problem, banned: self.problem.take_columns(~np.isin(features, banned))}
        return np.setdiff1d(features, banned), self._parts[banned]


def unread(criterion: Criterion, problem: Problem) -> list[str]:
    """A sentence about answers that a set does not use: too few of them, or pairs beside labels."""
    sets, told = criterion.set_formula(), problem.supervision
    labelled = bool(told.labelled.any())
    if sets is None or not sets.factors or not (labelled or told.has_pairs):
        return []
    if not any(factor.informative(problem) for factor in sets.factors):
        needed = "two labels of one class and one of another" if labelled else "pairs of both kinds, same and different"
        return [f"The answers do not change this ranking yet: {short_text(criterion)} needs {needed}."]
    pairs = [part.ravel() for part in (told.must_link, told.cannot_link) if part is not None]
    if labelled and pairs and not told.labelled[np.concatenate(pairs)].all():
        return [f"{short_text(criterion)} uses the labels, so it does not use the pairs. Make labels of the pairs."]
    return []


class _Cancelled(Exception):  # noqa: N818 - it reports no error
    """The ranking was cancelled."""


class Final(threading.Thread):
    """A ranking on all rows of a table of which the page shows a sample, in a thread of its own.

    Progress is that of the work inside: neighbours, blocks of features, blocks of a file. After a cancel the thread
    stops at its next report, and its result is dropped.
    """

    def __init__(self, live: Live, settings: Settings, known: Known, supervision: dict[str, Any]):
        super().__init__(daemon=True, name="fiedler-final")
        self._rank = partial(live.rank, settings, known, supervision)
        self.ranked: Ranked | None = None
        self.stage, self.done, self.total = "waiting", 0.0, 1
        self.error: str | None = None
        self.cancelled = False
        self.start()

    @property
    def running(self) -> bool:
        """Whether a result is still expected."""
        return self.ranked is None and self.error is None and not self.cancelled

    def run(self) -> None:
        """Rank, and keep the result or the reason why there is none."""
        try:
            with Run(self._reach):
                found = self._rank()
        except _Cancelled:
            return
        except Exception as error:  # shown on the page: nobody looks at the thread
            self.error = str(error) or type(error).__name__
            return
        self.done, self.error = self.total, found.trouble
        self.ranked = found if found.trouble is None and not self.cancelled else None

    def _reach(self, done: float, total: int, what: str) -> None:
        self.stage, self.done, self.total = f"{what}: {int(done)} of {total}", done, total
        if self.cancelled:
            raise _Cancelled
