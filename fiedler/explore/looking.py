"""What a page asks about rows and features: values, reasons, layouts, methods, quality, and what to label next.

Each function answers one type of message. Rows and pairs to ask about come in random order with a fixed seed: no rule
that chooses them was better than random rows on held-out data sets.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, cast

import numpy as np

from ..errors import ParameterError
from ..evaluate import accuracy_curve
from ..evaluate import stability as measured
from ..methods import METHODS
from ..plots.placing import aligned
from ..problem import Problem
from ..selection.redundancy import resemblance
from ..validation import check_choice
from ..words import value_text
from .answers import Known
from .live import Final, Live
from .state import Message, State, positions, rounded, significant

_VALUES = 8  # values shown of a row
_SLOW = 1e10  # operations of a method of n³ m steps that are too many for a page
_MOST_VALUES = 4e6  # of X, up to which near copies and relevance are computed to explain a selection
_LONGEST_AXIS = 20_000  # features of a row that is drawn as a spectrum or an image
_BINS, _COPY, _COPIES = 24, 0.7, 10  # bins of a histogram; least correlation and largest number of similar features
_MOST_DRAWS, _CURVE_SIZES = 20, 12  # draws of the stability, points of a curve


def layout(state: State, of: Any) -> Message:
    """Where the rows are drawn, by all features or by the selected ones."""
    check_choice("of", of, ("all", "chosen"))
    places, chosen = state.places, state.ranked.selected
    if of == "chosen":
        if not len(chosen):
            raise ParameterError("no feature is selected, so there is no layout of the chosen features.")
        kept = np.isin(np.arange(state.problem.n_features), chosen)
        places = aligned(positions(state.live.problem.take_columns(kept)), places)
    return {"type": "layout", "of": of, "places": rounded(places, 4)}


def methods(state: State) -> Message:
    """Every method, its formula, and why it cannot be used with what is known."""
    problem = state.live.problem.with_supervision(**state.supervision(state.rows))
    rows = []
    for name, cls in METHODS.items():
        criterion, why = cls(), None
        if name == "evsc" and float(problem.n_samples) ** 3 * problem.n_features > _SLOW:
            why = "It is too slow for this table; use the command line."
        else:
            try:
                criterion.check_problem(problem)
            except (ValueError, TypeError) as error:
                why = str(error)
        about = (cls.__doc__ or "").partition("\n")[0]
        rows.append({"name": name, "formula": repr(criterion.expanded()), "about": about, "why_not": why})
    return {"type": "methods", "methods": rows}


# -------------------------------------------------------------------- one feature


def feature_reply(state: State, feature: Any) -> Message:
    """The values of one feature, why it is selected, and features like it."""
    state.parsed({"kind": "feature", "subjects": [feature], "value": "pinned"})
    values = _values(state.shown, np.array([feature]))[:, 0]
    groups, words = _histograms(values, state.map_labels()), state.shown.value_words(feature)
    return {
        "type": "feature",
        "feature": feature,
        "values": significant(values),
        "groups": groups,
        "ends": [value_text(groups["edges"][at], **words) for at in (0, -1)],
        "copies": _copies(state.live.problem, feature),
        "why": _why(state, feature),
    }


def _why(state: State, feature: int) -> str | None:
    """Why a feature is selected, or what beats it, in words."""
    if state.live.fitted is None or feature in state.known.banned:
        return None
    selector, problem = state.live.fitted
    kept, _ = state.live.allowed(state.known)
    if state.explanation is None or state.explanation[0] != state.revision:
        told = state.supervision(state.rows)
        told.pop("unlabeled")
        with warnings.catch_warnings(action="ignore"):  # the ranking has given them
            found = selector.explain(problem, **told) if problem.X.size <= _MOST_VALUES else selector.explain()
        names = np.array([state.feature_names[j] for j in kept], dtype=object)
        state.explanation = state.revision, replace(found, feature_names=names)
    return state.explanation[1].why(int(np.searchsorted(kept, feature)))


def _histograms(values: np.ndarray, labels: Message) -> Message:
    """Counts of the values in equal bins, for all rows and for every class; or the correlation with a target."""
    finite = np.isfinite(values)
    low, high = (float(values[finite].min()), float(values[finite].max())) if finite.any() else (0.0, 0.0)
    edges = np.linspace(low, high if high > low else low + 1.0, _BINS + 1)
    about: Message = {"edges": significant(edges), "all": np.histogram(values[finite], edges)[0].tolist()}
    if labels["kind"] == "target":
        y = np.array([np.nan if v is None else v for v in labels["values"]], dtype=float)
        both = finite & np.isfinite(y)
        spread = both.sum() > 2 and values[both].std() > 0 and y[both].std() > 0
        about["correlation"] = round(float(np.corrcoef(values[both], y[both])[0, 1]), 4) if spread else None
    elif labels["kind"] == "classes":
        parts = [values[finite & (np.array(labels["values"]) == code)] for code in range(len(labels["names"]))]
        about["classes"] = [np.histogram(part, edges)[0].tolist() for part in parts]
    return about


def _values(problem: Problem, features: np.ndarray) -> np.ndarray:
    """One value per row and feature, as the report draws them, but NaN if it is missing or the feature is not used."""
    values = np.array(problem.feature_values(features), dtype=np.float64)
    if problem.groups is None:
        return values if problem.known is None else np.where(problem.known[:, features], values, np.nan)
    for at, own in enumerate(map(problem.groups.columns, features.tolist())):
        if not len(own):
            values[:, at] = np.nan
        elif problem.known is not None:
            values[~problem.known[:, own].all(axis=1), at] = np.nan
    return values


def _copies(problem: Problem, feature: int) -> list[Message]:
    """Features of one column whose correlation with this one is at least 0.7 in absolute value, most similar first."""
    if problem.groups is not None:
        single, X = np.flatnonzero(problem.groups.sizes == 1), cast("Any", problem.X)
        own, columns = np.flatnonzero(single == feature), problem.columns_of(single)
        found = _copies(Problem(X[:, columns]), int(own[0])) if len(own) else []
        return [copy | {"feature": int(single[copy["feature"]])} for copy in found]
    others = np.delete(np.arange(problem.n_features), feature)
    r = np.nan_to_num(resemblance(problem, np.array([feature]), others)[1])
    near = [at for at in np.argsort(-np.abs(r), kind="stable")[:_COPIES].tolist() if abs(r[at]) >= _COPY]
    return [{"feature": int(others[at]), "r": round(float(r[at]), 3)} for at in near]


# -------------------------------------------------------------------- one row, and what to ask next


def row_reply(state: State, row: Any) -> Message:
    """The name, the label and some values of one row, and its picture."""
    state.parsed({"kind": "label", "subjects": [row], "value": None})
    place = int(np.searchsorted(state.rows, row))
    if place == len(state.rows) or state.rows[place] != row:
        raise ParameterError(f"row {row} is not in the sample that is shown.", parameter="row", value=row)
    part = state.shown.take_rows(np.array([place]))
    first = state.ranked.selected[:_VALUES] if len(state.ranked.order) else np.arange(min(_VALUES, part.n_features))
    drawn = (state.image is not None or state.axis is not None) and part.n_features <= _LONGEST_AXIS
    values = zip(first.tolist(), _values(part, first)[0].tolist(), strict=True)
    return {
        "type": "row",
        "row": row,
        "row_id": str(row) if state.row_ids is None else state.row_ids[row],
        "label": state.known.labels.get(row),
        "values": [[state.feature_names[j], value_text(value, **part.value_words(j))] for j, value in values],
        "picture": significant(_values(part, np.arange(part.n_features))[0], 4) if drawn else None,
    }


def ask(state: State, about: Any) -> Message:
    """A random row without a label, or the next pair."""
    check_choice("about", about, ("row", "pair"))
    order = np.random.default_rng(0).permutation(state.rows).tolist()
    told = {*state.known.labels, *state.known.labelled_by}
    rows = [row for row in order if row not in told][:1] if about == "row" else _next_pair(state.known, order)
    return {"type": "ask", "about": about, "rows": rows}


def _next_pair(known: Known, order: list[int]) -> list[int]:
    """A row and a member of a known group, the largest group first; empty if nothing is left to ask.

    A row that was compared with some groups only is finished before the next row of the order is asked.
    """
    groups, home, apart = known.groups()
    if not groups:
        return sorted(order[:2]) if len(order) > 1 else []
    lately = dict.fromkeys([row for rows in known.pairs for row in rows][::-1])  # pairs keep the order of the answers
    single = [row for row in lately if len(groups[home[row]]) == 1]
    for row in [*single, *(row for row in order if row not in home)]:
        own = home.get(row)
        for at, rows in enumerate(groups):
            if at != own and frozenset((at, own)) not in apart:
                return sorted((row, rows[0]))
    return []


# -------------------------------------------------------------------- how good the selection is


def curves(state: State) -> Message:
    """Accuracy by number of features if labels are known; the ranking used the same labels."""
    order, told, why_not, found = state.ranked.order, state.supervision(state.rows), None, None
    if not len(order) or told["y"] is None:
        why_not = "There are no labels or no ranking."
    elif state.live.problem.groups is not None:
        why_not = "Accuracy is not shown for tables with categories."
    else:
        last = min(len(order), max(2 * state.settings.n_features, 10))
        sizes = np.unique(np.geomspace(1, last, _CURVE_SIZES).astype(int)).tolist()
        options: Message = {"n_features": sizes, "n_repeats": 3, "unlabeled": told["unlabeled"]}
        try:
            curve = accuracy_curve(state.live.problem.X, told["y"], order, **options)
            found = {"metric": curve.metric, "n_features": sizes, "mean": rounded(curve.mean, 4)}
        except (ValueError, TypeError) as error:
            why_not = str(error)
    return {"type": "curves", "accuracy": found, "why_not": why_not}


def stability(state: State) -> Message:
    """Two more draws of 80 % of the rows: how often each feature is selected so far."""
    if not len(state.ranked.order):
        raise ParameterError("there is no ranking whose stability could be measured.")
    if state.draws[0] != state.revision:
        state.draws = state.revision, []
    draws, told = state.draws[1], state.supervision(state.rows)
    if 2 * len(draws) < _MOST_DRAWS:
        kept, problem = state.live.allowed(state.known)
        k = min(state.settings.n_features, len(kept))
        with warnings.catch_warnings(action="ignore"):  # the ranking on all rows has given them
            drawn = measured(state.settings.criterion(), problem, k=k, n_draws=2, random_state=len(draws), **told)
        draws.append(np.zeros(state.problem.n_features))
        draws[-1][kept] = drawn.frequency
    done = 2 * len(draws)
    about = {"revision": state.revision, "n_draws": done, "finished": done >= _MOST_DRAWS}
    return {"type": "stability", **about, "frequency": rounded(np.mean(draws, axis=0), 3)}


def final(state: State, what: str) -> Message:
    """Start or cancel the ranking on all rows; how far it is, and the ranking at the end."""
    if what == "start":
        if state.final is not None and state.final[1].running:
            raise ParameterError("a ranking on all rows is running; cancel it first.")
        live = Live(state.problem.with_supervision(), state.scale)
        state.final = state.revision, Final(live, state.settings, state.known, state.supervision())
    elif state.final is None:
        raise ParameterError("no ranking on all rows was started.")
    elif what == "cancel":
        state.final[1].cancelled = True  # it stops at the end of its step
    revision, work = state.final
    reply = {name: getattr(work, name) for name in ("running", "cancelled", "stage", "done", "total", "error")}
    reply |= {"type": "final", "current": revision == state.revision, "ranking": None}
    if work.ranked is not None:
        order = work.ranked.order
        agreeing = len(set(work.ranked.selected.tolist()) & set(state.ranked.selected.tolist()))
        found = {"order": order.tolist(), "n_selected": work.ranked.n_selected, "n_shared": agreeing}
        reply["ranking"] = found | {"scores": significant(work.ranked.scores[order])}
    return reply
