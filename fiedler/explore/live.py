"""The ranking that follows the answers: settings -> criterion -> scores -> an order with pinned and banned features.

Everything that reads no answers is kept in one :class:`fiedler.Problem`, so an answer costs only the scores. For
sSelect the two terms are kept as well, and a new λ costs one sum:

    score = λ Rayleigh(G) + (1 - λ) Disagreement(G)        [ZL] eq. 3.8
"""

from __future__ import annotations

import time
import warnings
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn import config_context, get_config

from ..criteria import Criterion, Disagreement, Rayleigh
from ..criteria.order import importances, rank_features
from ..data.memory import physical_bytes
from ..errors import ParameterError, ParameterWarning
from ..methods import METHODS, SSelect
from ..problem import Problem
from ..selection.choice import Choice
from ..selector import SpectralSelector, set_choice
from ..syntax import as_criterion, short_text
from .answers import Given, Known

MOST_NEIGHBORS = 100
_SLOW = 1e10  # operations of a method of n³ m steps that are too many for a page


@dataclass(frozen=True)
class Settings:
    """The settings of a ranking.

    Parameters
    ----------
    method : str
        A method in the syntax of :mod:`fiedler.syntax`.
    lam : float, optional
        λ of sSelect; None is the value in ``method``.
    n_neighbors : int, optional
        Neighbours in the graph of the method; None is the value in ``method``.
    n_features : int
        Number of features to select.
    """

    method: str = "subset"
    lam: float | None = None
    n_neighbors: int | None = None
    n_features: int = 10

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
        if self.lam is not None and _has_lam(criterion):
            criterion.set_params(lam=self.lam)
        where = _neighbors_at(criterion)
        if self.n_neighbors is not None and where is not None:
            criterion.set_params(**{where: self.n_neighbors})
        return criterion

    def to_json(self) -> dict[str, Any]:
        """The settings as plain data."""
        return {name: getattr(self, name) for name in ("method", "lam", "n_neighbors", "n_features")}


def knobs(settings: Settings) -> dict[str, Any]:
    """Values of λ and of the number of neighbours that are in force; None if the method has no such parameter."""
    criterion = settings.criterion()
    where = _neighbors_at(criterion)
    graph: Any = criterion._recipe("graph") if where == "graph__n_neighbors" else criterion
    lam = getattr(criterion, "lam", None) if _has_lam(criterion) else None
    return {"lam": lam, "n_neighbors": None if where is None else graph.n_neighbors}


def _has_lam(criterion: Criterion) -> bool:
    """Whether a method has a λ that the page can move."""
    return isinstance(criterion, SSelect) and not isinstance(criterion.lam, str)


def _neighbors_at(criterion: Criterion) -> str | None:
    """The name under which ``set_params`` sets the number of neighbours of a method."""
    if type(criterion) not in METHODS.values():
        return None
    if hasattr(criterion, "_default_graph") and hasattr(criterion._recipe("graph"), "n_neighbors"):
        return "graph__n_neighbors"
    return "n_neighbors" if type(criterion).__name__ == "ReliefF" else None


@dataclass(frozen=True)
class Ranked:
    """A ranking, or the reason why there is none.

    Parameters
    ----------
    order : ndarray of int
        Feature numbers, pinned features first and banned features last; empty if there is no ranking.
    scores : ndarray
        Raw score of every feature; NaN for banned features.
    bars : ndarray
        For every feature its share of the longest bar: gains for sets, importances for rankings.
    gains : ndarray or None
        For sets: the share that a feature adds to those before it, or would add to the chosen ones.
    n_selected : int
        How many of the order are selected.
    explained : ndarray or None
        For sets: the share that the first features of the path explain.
    greater_is_better, is_set : bool
        Of the criterion.
    formula : str
        The criterion in the syntax of :mod:`fiedler.syntax`.
    notes : tuple of str
        Warnings of the library.
    trouble : str or None
        Why there is no ranking.
    seconds : float
        Time that it took.
    """

    order: np.ndarray
    scores: np.ndarray
    bars: np.ndarray
    gains: np.ndarray | None
    n_selected: int
    explained: np.ndarray | None = None
    greater_is_better: bool = False
    is_set: bool = False
    formula: str = ""
    notes: tuple[str, ...] = ()
    trouble: str | None = None
    seconds: float = 0.0

    @property
    def selected(self) -> np.ndarray:
        """The selected features, best first."""
        return self.order[: self.n_selected]


class _Terms(NamedTuple):
    """The two terms of sSelect, what they were computed for, and the warnings on the way."""

    key: Any
    smooth: np.ndarray
    disagreeing: np.ndarray
    warned: list[Any]


class Live:
    """Rankings of one table for changing answers and settings.

    Parameters
    ----------
    problem : Problem
        The rows that are ranked live, made with ``reuse=True``.
    scale : str, optional
        As in :class:`fiedler.SpectralSelector`.
    """

    def __init__(self, problem: Problem, scale: str | None = None):
        self.problem, self.scale = problem, scale
        self._parts: dict[tuple[int, ...], Problem] = {(): problem}  # problems without banned features
        self._terms: _Terms | None = None
        self.fitted: tuple[SpectralSelector, Problem] | None = None  # the last fit, without banned features
        self.n_sums = 0  # how often a ranking was found by a sum of kept terms

    def rank(self, settings: Settings, known: Known, supervision: dict[str, Any]) -> Ranked:
        """The ranking for some settings and answers."""
        begun, m = time.perf_counter(), self.problem.n_features
        self.fitted = None
        nothing = Ranked(np.empty(0, dtype=np.intp), np.full(m, np.nan), np.zeros(m), None, 0)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                selector = self.fit(settings, known, supervision)
            except (ValueError, TypeError) as error:
                return replace(nothing, trouble=str(error), seconds=time.perf_counter() - begun)
        criterion, gains = selector.criterion_, getattr(selector, "gains_", None)
        said = [str(w.message) for w in caught if issubclass(w.category, UserWarning)]
        notes = tuple(dict.fromkeys([*said, *unread(criterion, self.problem.with_supervision(**supervision))]))
        explained, seconds = getattr(selector, "explained_", None), time.perf_counter() - begun
        kind = explained, criterion.greater_is_better, criterion.is_set, short_text(criterion), notes, None, seconds
        return Ranked(selector.order_, selector.scores_, _bars(selector, gains), gains, selector.n_features_, *kind)

    def warm_up(self, settings: Settings) -> None:
        """Build what the first labels need, such as mid-ranks, before they are given."""
        n = self.problem.n_samples
        if n < 5 or isinstance(settings.criterion(), SSelect):  # nothing to build, or terms that would be replaced
            return
        y = np.full(n, None, dtype=object)
        y[:4] = ["a", "a", "b", "b"]
        with warnings.catch_warnings(), suppress(ValueError, TypeError):
            warnings.simplefilter("ignore")  # the first ranking tells them
            self.fit_kept(settings, Known(Given(n), ()), {"y": y, "unlabeled": None})

    def fit(self, settings: Settings, known: Known, supervision: dict[str, Any]) -> SpectralSelector:
        """A fitted selector over all features; pinned features come first in its order and banned ones last."""
        self.fitted = self.fit_kept(settings, known, supervision)
        return widened(copy(self.fitted[0]), tuple(sorted(known.banned)), self.problem)

    def fit_kept(
        self, settings: Settings, known: Known, supervision: dict[str, Any]
    ) -> tuple[SpectralSelector, Problem]:
        """A selector fitted to the features that are not banned, and the problem of these features."""
        banned = tuple(sorted(known.banned))
        problem = self.without(banned)
        columns = np.setdiff1d(np.arange(self.problem.n_features), banned)
        included = np.searchsorted(columns, known.pinned).tolist()
        options: dict[str, Any] = {
            "n_features_to_select": min(max(settings.n_features, len(included)), problem.n_features),
            "include": included or None,
            "scale": self.scale,
            "unlabeled": supervision.get("unlabeled", -1),
        }
        criterion = settings.criterion()
        if _has_lam(criterion):
            selector = SpectralSelector(criterion, **options)
            return self._by_sum(selector, problem, banned, supervision), problem
        told = {name: value for name, value in supervision.items() if name != "unlabeled"}
        # Mid-ranks and neighbour means are kept between answers if they fit: up to 4 GiB, or an eighth of the memory.
        with config_context(working_memory=max(get_config()["working_memory"], min(4096.0, physical_bytes() / 2**23))):
            return SpectralSelector(criterion, **options).fit(problem, **told), problem

    def without(self, banned: tuple[int, ...]) -> Problem:
        """The problem without some features."""
        if len(banned) == self.problem.n_features:
            raise ParameterError("every feature is banned; allow one again.", parameter="banned")
        if banned not in self._parts:
            kept = np.ones(self.problem.n_features, dtype=bool)
            kept[list(banned)] = False
            self._parts = {(): self.problem, banned: self.problem.take_columns(kept)}
        return self._parts[banned]

    def _by_sum(
        self, selector: SpectralSelector, problem: Problem, banned: tuple[int, ...], told: dict[str, Any]
    ) -> SpectralSelector:
        """sSelect from its two terms, which are computed again only if labels, graph or banned features change."""
        criterion: Any = selector.criterion
        graph = criterion._recipe("graph")
        y = None if told.get("y") is None else np.asarray(told["y"], dtype=object).tolist()
        key = banned, graph.key, repr(y), repr(told.get("unlabeled", -1))
        labelled = problem.with_supervision(told.get("y"), unlabeled=told.get("unlabeled", -1))
        criterion.check_problem(labelled)
        if self._terms is None or self._terms.key != key:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                smooth, disagreeing = Rayleigh(graph).score(labelled), Disagreement(graph).score(labelled)
            self._terms = _Terms(key, smooth, disagreeing, [w.message for w in caught])
        else:
            self.n_sums += 1
        for warning in self._terms.warned:  # also of terms that were kept
            warnings.warn(warning, stacklevel=2)
        if told.get("must_link") is not None:
            message = f"{criterion!r} reads no pairs: must_link and cannot_link are ignored; use 'subset' for them."
            warnings.warn(ParameterWarning(message, parameter=("must_link", "cannot_link")), stacklevel=2)
        lam = float(criterion.lam)
        scores = lam * self._terms.smooth + (1.0 - lam) * self._terms.disagreeing
        order, first = rank_features(scores, False), selector.include or []
        order = np.concatenate([np.array(first, dtype=np.intp), order[~np.isin(order, first)]])
        choice = Choice(scores, order, int(selector.n_features_to_select))  # type: ignore[arg-type]
        return set_choice(selector, choice, criterion, problem.n_features, _names(problem))


def _names(problem: Problem) -> list[str] | None:
    return None if problem.feature_names is None else [str(name) for name in problem.feature_names]


def widened(selector: SpectralSelector, banned: tuple[int, ...], problem: Problem) -> SpectralSelector:
    """A selector that was fitted without banned features, as one over all features with the banned ones last."""
    if not banned:
        return selector
    columns = np.setdiff1d(np.arange(problem.n_features), banned)
    choice = selector._choice.widened(columns, np.array(banned, dtype=np.intp))
    selector.include = None if selector.include is None else columns[selector.include].tolist()
    return set_choice(selector, choice, selector.criterion_, problem.n_features, _names(problem))


def _bars(selector: SpectralSelector, gains: np.ndarray | None) -> np.ndarray:
    """Bars between 0 and 1: gains for sets, importances for rankings."""
    if gains is not None:
        bars = np.maximum(np.nan_to_num(gains), 0.0)
    else:
        bars = importances(selector.scores_, selector.criterion_.greater_is_better)
        finite = np.isfinite(bars)
        low = bars.min(where=finite, initial=np.inf) if finite.any() else 0.0
        bars = np.where(finite, bars - min(low, 0.0), bars.max(where=finite, initial=0.0))
    most = np.nanmax(bars, initial=0.0)
    return np.nan_to_num(bars / most) if most > 0 else np.zeros(len(bars))


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


def methods_for(problem: Problem, supervision: dict[str, Any]) -> list[dict[str, Any]]:
    """Every method, its formula, and why it cannot be used with what is known."""
    told = problem.with_supervision(**supervision)
    rows = []
    for name, cls in METHODS.items():
        criterion, why = cls(), None
        if name == "evsc" and float(problem.n_samples) ** 3 * problem.n_features > _SLOW:
            why = "It is too slow for this table; use the command line."
        else:
            try:
                criterion.check_problem(told)
            except (ValueError, TypeError) as error:
                why = str(error)
        formula = repr(criterion.formula()) if hasattr(criterion, "formula") else repr(criterion)
        about = (cls.__doc__ or "").partition("\n")[0]
        rows.append({"name": name, "formula": formula, "about": about, "why_not": why})
    return rows
