"""What a page asks about rows and features: values, reasons, layouts, methods, and what to ask next."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import ParameterError
from ..plots.placing import aligned
from .asking import Asking
from .layout import positions
from .live import methods_for
from .plain import rounded, significant
from .state import Message, State
from .views import copies, feature_values, histograms

_VALUES = 8  # values shown of a row
_MOST_VALUES = 4e6  # of X, up to which near copies and relevance are computed to explain a selection
_LONGEST_AXIS = 20_000  # features of a row that is drawn as a spectrum or an image


def layout(state: State, of: Any) -> Message:
    """Where the rows are drawn, by all features or by the selected ones."""
    if of not in ("all", "chosen"):
        raise ParameterError(f"of must be all or chosen, got {of!r}.", parameter="of", value=of)
    places = state.places
    if of == "chosen":
        chosen = state.ranked.selected
        if not len(chosen):
            raise ParameterError("no feature is selected, so there is no layout of the chosen features.")
        kept = np.isin(np.arange(state.problem.n_features), chosen)
        places = aligned(positions(state.live.problem.take_columns(kept)), places)
    return {"type": "layout", "of": of, "places": rounded(places, 4)}


def feature_reply(state: State, feature: Any) -> Message:
    """The values of one feature, why it is selected, and features like it."""
    state.parsed({"kind": "feature", "subjects": [feature], "value": "pinned"})
    values = feature_values(state.live.problem, [feature])[:, 0]
    return {
        "type": "feature",
        "feature": feature,
        "values": significant(values),
        "groups": histograms(values, state.map_labels()),
        "copies": copies(state.live.problem, feature),
        "why": _why(state, feature),
    }


def _why(state: State, feature: int) -> str | None:
    """Why a feature is selected, or what beats it, in words."""
    if state.live.fitted is None or feature in state.known.banned:
        return None
    selector, problem = state.live.fitted
    kept = np.setdiff1d(np.arange(state.problem.n_features), state.known.banned)
    if state.explanation is None or state.explanation[0] != state.revision:
        told = state.supervision(state.rows)
        told.pop("unlabeled")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the ranking has given them
            found = selector.explain(problem, **told) if problem.X.size <= _MOST_VALUES else selector.explain()
        names = np.array([state.feature_names[j] for j in kept], dtype=object)
        state.explanation = state.revision, replace(found, feature_names=names)
    return state.explanation[1].why(int(np.searchsorted(kept, feature)))


def row_reply(state: State, row: Any) -> Message:
    """The name, the label and some values of one row, and its picture."""
    state.parsed({"kind": "label", "subjects": [row], "value": None})
    place = int(np.searchsorted(state.rows, row))
    if place == len(state.rows) or state.rows[place] != row:
        raise ParameterError(f"row {row} is not in the sample that is shown.", parameter="row", value=row)
    part = state.live.problem.take_rows(np.array([place]))
    first = state.ranked.selected[:_VALUES] if len(state.ranked.order) else np.arange(min(_VALUES, part.n_features))
    drawn = (state.image is not None or state.axis is not None) and part.n_features <= _LONGEST_AXIS
    values = significant(feature_values(part, first.tolist())[0])
    whole = feature_values(part, range(part.n_features))[0] if drawn else np.empty(0)
    return {
        "type": "row",
        "row": row,
        "row_id": str(row) if state.row_ids is None else state.row_ids[row],
        "label": state.known.labels.get(row),
        "values": [[state.feature_names[j], value] for j, value in zip(first.tolist(), values, strict=True)],
        "picture": significant(whole, 4) if drawn else None,
    }


def methods(state: State) -> Message:
    """Every method, and why it cannot be used with what is known."""
    return {"type": "methods", "methods": methods_for(state.live.problem, state.supervision(state.rows))}


def ask(state: State, about: Any) -> Message:
    """The next row, or the next pair, to ask about."""
    if about not in ("row", "pair"):
        raise ParameterError(f"about must be row or pair, got {about!r}.", parameter="about", value=about)
    if state.asking is None:
        state.asking = Asking(state.live.problem, state.rows)
    if about == "row":
        row = state.asking.next_row(set(state.known.labels) | set(state.known.labelled_by))
        rows = [] if row is None else [row]
    else:
        rows = list(state.asking.next_pair(state.known) or ())
    return {"type": "ask", "about": about, "rows": rows}
