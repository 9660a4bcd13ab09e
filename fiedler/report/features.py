"""The sections on features: the ranking as a table, which the script of the page searches and sorts, and redundancy."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from ..criteria.order import importances
from ..data.arrays import take_columns, take_rows
from ..data.source import Source
from ..plots import drawings
from ..plots.svg import SvgFigure
from ..selection.redundancy import feature_likeness
from ..words import printable
from .case import LONGEST_NAME, Case, Section, Summary, built_in, correlations, percent, quiet, short, tile
from .trust import stability_of, tests_of

CORRELATED_ROWS = 20_000  # largest number of rows for correlations between features
REDUNDANT = 0.9  # two features with at least this absolute correlation are redundant
# Largest numbers of features compared, of features in the figure, of repeats in the table.
_EXAMINED, _MAPPED, _LISTED_REPEATS = 200, 24, 14
_WRITTEN, _LARGE = 14, 10  # largest numbers of features whose cells have room for numbers, and for large ones


def compute_redundancy(case: Case) -> Summary:
    """Correlations among the selected features, and the features that repeat a better one."""
    order = case.selector.order_[: min(case.n_selected, _EXAMINED)]
    order = order[~np.isnan(case.scores[order])]
    if len(order) < 2:
        return {"note": "Fewer than two selected features have a score, so there are no correlations."}
    n = case.problem.n_samples
    rows = np.linspace(0, n - 1, min(n, CORRELATED_ROWS)).astype(np.intp)
    if len(rows) < n:
        case.notes.append(f"Correlations between features are computed from {len(rows):,} of the {n:,} rows.")
    if case.problem.groups is None:
        r = correlations(take_rows(take_columns(case.problem.X, order), rows).T)
    else:  # for features of several columns the root of their RV coefficient
        r = feature_likeness(case.problem.take_rows(rows), order)
    better = np.triu(np.nan_to_num(np.abs(r)), 1)
    partner, strength = better.argmax(axis=0), better.max(axis=0)
    ranks = {j: rank for rank, j in enumerate(case.selector.order_, 1)}
    return {
        "features": [case.names[j] for j in order[:_MAPPED]],
        "ranks": [ranks[j] for j in order[:_MAPPED]],
        "correlation": r[:_MAPPED, :_MAPPED],
        "examined": len(order),
        "threshold": REDUNDANT,
        "repeats": [
            {"rank": ranks[order[at]], "of": ranks[order[partner[at]]], "correlation": float(r[partner[at], at])}
            for at in np.flatnonzero(strength >= REDUNDANT)
        ],
    }


def _view_redundancy(s: Summary) -> Summary:
    section, names = s["redundancy"], s["features"]["feature"]
    if "repeats" not in section:
        return {}
    found = sorted(section["repeats"], key=lambda item: -abs(item["correlation"]))
    named = [f"{rank}. {printable(name, 60)}" for rank, name in enumerate(names[: s["run"]["n_selected"]], 1)]
    rows = [(named[i["rank"] - 1], named[i["of"] - 1], f"{i['correlation']:.2f}") for i in found[:_LISTED_REPEATS]]
    ranks, shown, n = section["ranks"], section["features"], len(section["features"])
    about = f"Correlations between the {n} best selected features; hover over a cell for its value."
    height = (18.0 if n > 8 else 26.0) * n + 60
    with SvgFigure("redundancy", "Correlation between selected features", about, height=height) as figure:
        drawings.squares(figure.ax, section["correlation"], shown, tell=figure.tell)
        if n <= _WRITTEN:
            size = 11.0 if n <= _LARGE else 9.0
            drawings.cell_numbers(figure.ax, section["correlation"], diagonal=False, size=size)
        middle, step = np.arange(n) + 0.5, 1 if n <= 12 else 2  # otherwise the numbers overlap
        figure.ax.set_xticks(middle, ["" if at % step else str(rank) for at, rank in enumerate(ranks)])
        figure.ax.set_yticks(middle, [f"{rank}. {printable(n, 24)}" for n, rank in zip(shown, ranks, strict=True)])
    return {"map": figure, "repeats": rows, "more": max(0, len(found) - _LISTED_REPEATS)}


_title = "Redundancy among the selected"
REDUNDANCY = built_in("redundancy", _title, compute_redundancy, _view_redundancy, label="Redundancy")


PAGE_ROWS = 300  # number of table rows at first, and added by each "show more"
_EMBEDDED = 1_000_000  # largest size of the ranking inside the page, in characters
_NAME = 60  # characters of a feature's name in the table
_CORRELATED = 2e10  # largest number of products for near-duplicates of the selected features


@dataclass(frozen=True)
class RankingColumn:
    """An optional column of the ranking, shown if the features of the summary contain its ``key``.

    ``name`` is the CSS class on the page. ``share`` writes 0.25 as 25 %. ``down`` sorts the largest value first.
    ``digits`` is the number of digits of other numbers.
    """

    key: str
    name: str
    label: str
    share: bool = False
    down: bool = False
    digits: int = 5

    def text(self, value: Any) -> str:
        return percent(value) if self.share else short(value, self.digits)


COLUMNS = (  # the list of all optional columns
    RankingColumn("explained", "explained", "Explained together", share=True),
    RankingColumn("frequency", "often", "Selected again", share=True, down=True),
    RankingColumn("p", "p", "p", digits=2),
    RankingColumn("q", "q", "q", digits=2),
    RankingColumn("effect", "effect", "Effect", down=True, digits=2),
)


def _compute_features(case: Case) -> Summary:
    """The ranking as columns, best first."""
    order, scores = case.selector.order_, case.scores[case.selector.order_]
    columns: Summary = {
        "feature": [case.names[j] for j in order],
        "column": order,
        "score": scores,
        "length": bar_lengths(scores, case.criterion.greater_is_better),
        "note": _notes(case),
    }
    explained = getattr(case.selector, "explained_", None)
    if explained is not None:
        gains = case.selector.gains_[order]
        most = gains.max(where=np.isfinite(gains), initial=0.0) or 1.0
        columns |= {"gain": gains, "length": np.clip(np.nan_to_num(gains) / most, 0.0, 1.0)}
        columns["explained"] = np.r_[explained, np.full(len(order) - len(explained), np.nan)][: len(order)]
    for name, values in zip(("p", "q", "effect"), tests_of(case), strict=True):
        if values is not None:
            columns[name] = values[order]
    stability = case.once(stability_of)
    if stability is not None:
        for name in ("frequency", "rank_low", "rank_median", "rank_high"):
            columns[name] = np.asarray(getattr(stability, name))[order]
    return columns


def _notes(case: Case) -> list[str]:
    """The remark on each feature, best first: no score, near-duplicates, or correlation with a better one."""
    order = case.selector.order_
    why = np.where(case.kept, "no score: constant on the rows read, or 0/0", "left out: looks like noise")[order]
    notes = np.where(np.isnan(case.scores[order]), why, "").tolist()
    n, m = case.problem.X.shape
    few = float(n) * m * case.n_selected <= _CORRELATED and not isinstance(case.problem.X, Source)
    told = quiet(lambda: case.selector.explain(case.problem) if few else case.selector.explain())
    near = (told.resembles >= 0) & ~(np.abs(told.correlation) <= told.limit)
    copies: dict[int, list[str]] = {}
    for place, j in enumerate(order.tolist()):
        if near[j]:
            copies.setdefault(int(told.resembles[j]), []).append(case.names[j])
            r = "" if np.isnan(told.correlation[j]) else f" (r = {told.correlation[j]:.2f})"
            notes[place] = notes[place] or f"near-duplicate of {case.names[told.resembles[j]]}{r}"
    for place, j in enumerate(order[: case.n_selected].tolist()):
        names = copies.get(j, [])
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        if names and not notes[place]:
            notes[place] = f"stands for its near-duplicates {', '.join(names[:3])}{more}"
    for place in np.flatnonzero(getattr(case.selector, "included_", np.zeros(len(order), dtype=bool))[order]).tolist():
        notes[place] = "; ".join(filter(None, ["included in any case", notes[place]]))
    for repeat in case.once(compute_redundancy).get("repeats", ()):
        better = case.names[order[repeat["of"] - 1]]
        notes[repeat["rank"] - 1] = f"correlates {repeat['correlation']:.2f} with rank {repeat['of']}, {better}"
    return notes


def bar_lengths(scores: np.ndarray, greater_is_better: bool) -> np.ndarray:
    """Scores scaled linearly from the worst (0) to the best (1); NaN is 0.

    Examples
    --------
    >>> import numpy as np
    >>> bar_lengths(np.array([1.0, 2.0, 5.0, np.nan]), greater_is_better=False)
    array([1.  , 0.75, 0.  , 0.  ])
    """
    better = importances(-scores if greater_is_better else scores, greater_is_better=False)  # than the worst, by this
    most = better.max(where=np.isfinite(better), initial=0.0)
    return np.minimum(better / most, 1.0) if most > 0 else np.where(np.isnan(scores), 0.0, 1.0)


# -------------------------------------------------------------------- the table


def _view_features(s: Summary, columns: Sequence[RankingColumn]) -> Summary:
    """The rows that the page shows if scripts are disabled, and all rows as JSON, cut to the largest size."""
    from jinja2.utils import htmlsafe_json_dumps

    features, k, total = s["features"], s["run"]["n_selected"], len(s["features"]["feature"])
    columns = [column for column in columns if features.get(column.key)]
    value = "gain" if "gain" in features else "score"
    keys, rows, room = [value, *(column.key for column in columns)], [], _EMBEDDED
    shown = [
        {
            "rank": at + 1,
            "name": printable(name, _NAME),
            "full": printable(name, LONGEST_NAME) if len(name) > _NAME else "",
            "score": short(features[value][at]),
            "length": round(100 * features["length"][at], 1),
            "cells": [(column.name, column.text(features[column.key][at])) for column in columns],
            "note": features["note"][at] or "selected" * (at < k),
            "selected": at < k,
        }
        for at, name in enumerate(features["feature"][:PAGE_ROWS])
    ]
    for at in range(total):
        name, note = printable(features["feature"][at], LONGEST_NAME), printable(features["note"][at], 200)
        numbers = [float(f"{v:.6g}") if isinstance(v, float) else v for v in (features[key][at] for key in keys)]
        row = [name, numbers[0], round(100 * features["length"][at], 1)]
        row += [note, *numbers[1:]] if columns or note else []
        room -= len(htmlsafe_json_dumps(row))
        if room < 0:
            break
        rows.append(row)
    about = {"rows": rows, "page": PAGE_ROWS, "selected": k, "total": total, "longest": _NAME}
    about |= {"value": value, "columns": [asdict(column) for column in columns]}
    embedded = htmlsafe_json_dumps(about, dumps=partial(json.dumps, separators=(",", ":"), allow_nan=False))
    note = ""
    if len(rows) < total:
        note = f"To limit its size, this page contains only the best {len(rows):,} of {total:,} features."
    elif total > PAGE_ROWS:
        note = f"The table shows {PAGE_ROWS} rows at first; the search covers all features."
    return {"columns": columns, "rows": shown, "ranking": embedded, "table_note": note}


def _tiles_features(s: Summary) -> list[dict[str, str]]:
    best = s["features"]["feature"][0]
    return [tile("Selected", f"{s['run']['n_selected']:,}", f"best: {printable(best, 28)}", best)]


def features_section(columns: Sequence[RankingColumn] = COLUMNS) -> Section:
    """The section with the ranking, and with the given optional columns."""
    parts = {"view": partial(_view_features, columns=columns), "tiles": _tiles_features}
    return built_in("features", "Ranked features", _compute_features, **parts, label="Features")
