"""How good a selection is: accuracy on the labelled rows, and stability on random parts of the rows."""

from __future__ import annotations

import warnings

import numpy as np

from ..errors import ParameterError
from ..evaluate import accuracy_curve
from ..evaluate import stability as measured
from .plain import rounded
from .state import Message, State

_MOST_DRAWS, _CURVE_SIZES = 20, 12  # draws of the stability, points of a curve


def curves(state: State) -> Message:
    """Accuracy by number of features if labels are known; the ranking used the same labels."""
    order, told = state.ranked.order, state.supervision(state.rows)
    if not len(order) or told["y"] is None:
        return {"type": "curves", "accuracy": None, "why_not": "There are no labels or no ranking."}
    if state.live.problem.groups is not None:
        return {"type": "curves", "accuracy": None, "why_not": "Accuracy is not shown for tables with categories."}
    last = min(len(order), max(2 * state.settings.n_features, 10))
    sizes = np.unique(np.geomspace(1, last, _CURVE_SIZES).astype(int)).tolist()
    try:
        curve = accuracy_curve(
            state.live.problem.X, told["y"], order, n_features=sizes, n_repeats=3, unlabeled=told["unlabeled"]
        )
    except (ValueError, TypeError) as error:
        return {"type": "curves", "accuracy": None, "why_not": str(error)}
    found = {"metric": curve.metric, "n_features": sizes, "mean": rounded(curve.mean, 4)}
    return {"type": "curves", "accuracy": found, "why_not": None}


def stability(state: State) -> Message:
    """Two more draws of 80 % of the rows: how often each feature is selected so far."""
    if not len(state.ranked.order):
        raise ParameterError("there is no ranking whose stability could be measured.")
    if state.draws[0] != state.revision:
        state.draws = state.revision, []
    draws, told = state.draws[1], state.supervision(state.rows)
    kept = np.setdiff1d(np.arange(state.problem.n_features), state.known.banned)
    if 2 * len(draws) < _MOST_DRAWS:
        k = min(state.settings.n_features, len(kept))
        problem = state.live.without(tuple(sorted(state.known.banned)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the ranking on all rows has given them
            drawn = measured(state.settings.criterion(), problem, k=k, n_draws=2, random_state=len(draws), **told)
        frequency = np.zeros(state.problem.n_features)
        frequency[kept] = drawn.frequency
        draws.append(frequency)
    done = 2 * len(draws)
    return {
        "type": "stability",
        "revision": state.revision,
        "n_draws": done,
        "finished": done >= _MOST_DRAWS,
        "frequency": rounded(np.mean(draws, axis=0), 3),
    }
