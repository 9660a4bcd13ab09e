"""The section with the ranking: a table of all features, which the script of the page can search and sort."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from ..data.source import Source
from ..words import printable
from .case import Case, quiet
from .redundancy_section import compute_redundancy
from .section import LONGEST_NAME, Section, short, tile
from .significance_section import tests_of
from .stability_section import stability_of

PAGE_ROWS = 300  # number of table rows at first, and added by each "show more"
_EMBEDDED = 1_000_000  # largest size of the ranking inside the page, in characters
_NAME = 60  # characters of a feature's name in the table
_CORRELATED = 2e10  # largest number of products for near-duplicates of the selected features
_TEMPLATE = '{% include "ranking.html.j2" %}'  # report.js fills the same table


@dataclass(frozen=True)
class Column:
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
        if self.share and isinstance(value, (int, float)):
            return f"{round(100 * value)} %"
        return short(value, self.digits)


COLUMNS = (  # the list of all optional columns
    Column("explained", "explained", "Explained together", share=True),
    Column("frequency", "often", "Selected again", share=True, down=True),
    Column("p", "p", "p", digits=2),
    Column("q", "q", "q", digits=2),
    Column("effect", "effect", "Effect", down=True, digits=2),
)


def _compute(case: Case) -> dict[str, Any]:
    """The ranking as columns, best first."""
    order, scores = case.selector.order_, case.scores[case.selector.order_]
    columns: dict[str, Any] = {
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
    stability = stability_of(case)
    if stability is not None:
        for name in ("frequency", "rank_low", "rank_median", "rank_high"):
            columns[name] = np.asarray(getattr(stability, name))[order]
    return columns


def _notes(case: Case) -> list[str]:
    """The remark on each feature, best first: no score, near-duplicates, or correlation with a better one."""
    order = case.selector.order_
    notes = np.where(np.isnan(case.scores[order]), "no score: constant on the rows read, or 0/0", "").tolist()
    known, (n, m) = case.selector, case.problem.X.shape
    few = float(n) * m * case.n_selected <= _CORRELATED and not isinstance(case.problem.X, Source)
    told = quiet(lambda: known.explain(case.problem) if few else known.explain())
    near = (told.resembles >= 0) & ~(np.abs(told.correlation) <= told.limit)
    copies: dict[int, list[str]] = {}
    for place, j in enumerate(order.tolist()):
        if near[j]:
            copies.setdefault(int(told.resembles[j]), []).append(case.names[j])
            r = "" if np.isnan(told.correlation[j]) else f" (r = {told.correlation[j]:.2f})"
            notes[place] = notes[place] or f"near-duplicate of {case.names[told.resembles[j]]}{r}"
    for place, j in enumerate(order[: case.n_selected].tolist()):
        notes[place] = notes[place] or _stands_for(copies.get(j, []))
    for place in np.flatnonzero(getattr(case.selector, "included_", np.zeros(len(order), dtype=bool))[order]).tolist():
        notes[place] = "; ".join(filter(None, ["included in any case", notes[place]]))
    for repeat in case.once(compute_redundancy).get("repeats", ()):
        better = case.names[order[repeat["of"] - 1]]
        notes[repeat["rank"] - 1] = f"correlates {repeat['correlation']:.2f} with rank {repeat['of']}, {better}"
    return notes


def _stands_for(names: list[str], shown: int = 3) -> str:
    """The near-duplicates that a selected feature stands for, as text."""
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return f"stands for its near-duplicates {', '.join(names[:shown])}{more}" if names else ""


def bar_lengths(scores: np.ndarray, greater_is_better: bool) -> np.ndarray:
    """Scores scaled linearly from the worst (0) to the best (1); NaN is 0.

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


# -------------------------------------------------------------------- the table


def _view(s: dict[str, Any], columns: Sequence[Column]) -> dict[str, Any]:
    there = [column for column in columns if s["features"].get(column.key)]
    embedded, note = _embedded(s, there)
    return {"columns": there, "rows": _table_rows(s, there), "ranking": embedded, "table_note": note}


def _table_rows(s: dict[str, Any], columns: list[Column]) -> list[dict[str, Any]]:
    """The table rows that the page shows if scripts are disabled."""
    features, k = s["features"], s["run"]["n_selected"]
    return [
        {
            "rank": at + 1,
            "name": printable(name, _NAME),
            "full": printable(name, LONGEST_NAME) if len(name) > _NAME else "",
            "score": short(_values(features)[at]),
            "length": round(100 * features["length"][at], 1),
            "cells": [(column.name, column.text(features[column.key][at])) for column in columns],
            "note": features["note"][at] or "selected" * (at < k),
            "selected": at < k,
        }
        for at, name in enumerate(features["feature"][:PAGE_ROWS])
    ]


def _embedded(s: dict[str, Any], columns: list[Column]) -> tuple[str, str]:
    """The ranking as JSON for the script, cut to the largest size, and a remark if it was cut."""
    from jinja2.utils import htmlsafe_json_dumps

    features, total = s["features"], len(s["features"]["feature"])
    rows, room = [], _EMBEDDED
    for at in range(total):
        name, note = printable(features["feature"][at], LONGEST_NAME), printable(features["note"][at], 200)
        row = [name, _digits(_values(features)[at]), round(100 * features["length"][at], 1)]
        row += [note, *(_digits(features[column.key][at]) for column in columns)] if columns or note else []
        room -= len(htmlsafe_json_dumps(row))
        if room < 0:
            break
        rows.append(row)
    about = {"rows": rows, "page": PAGE_ROWS, "selected": s["run"]["n_selected"], "total": total, "longest": _NAME}
    about["value"] = "gain" if "gain" in features else "score"
    about["columns"] = [asdict(column) for column in columns]
    embedded = htmlsafe_json_dumps(about, dumps=partial(json.dumps, separators=(",", ":"), allow_nan=False))
    if len(rows) == total:
        return (
            embedded,
            f"The table shows {PAGE_ROWS} rows at first; the search covers all features." if total > PAGE_ROWS else "",
        )
    note = f"To limit its size, this page contains only the best {len(rows):,} of {total:,} features."
    return embedded, note


def _values(features: dict[str, Any]) -> Any:
    """The numbers that the table shows: gains of a set, otherwise scores."""
    return features["gain" if "gain" in features else "score"]


def _digits(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _tiles(s: dict[str, Any]) -> list[dict[str, str]]:
    best = s["features"]["feature"][0]
    return [tile("Selected", f"{s['run']['n_selected']:,}", f"best: {printable(best, 28)}", best)]


def _lines(s: dict[str, Any], top: int) -> list[str]:
    columns = s["features"]
    frequency = columns.get("frequency")
    word = "gain" if "gain" in columns else "score"
    lines = [f"{'rank':>6}  {'feature':<32}{word:>12}" + ("  selected" if frequency else "")]
    for at, (name, score) in enumerate(zip(columns["feature"][:top], columns[word][:top], strict=True)):
        often = f"{frequency[at]:>9.0%}" if frequency else ""
        number = "" if score is None else short(score)
        lines.append(f"{at + 1:>6}  {printable(name, 31):<32}{number:>12}{often}  {columns['note'][at]}".rstrip())
    rest = len(columns["feature"]) - top
    return [*lines, f"        ... {rest:,} more", ""] if rest > 0 else [*lines, ""]


def features_section(columns: Sequence[Column] = COLUMNS) -> Section:
    """The section with the ranking, and with the given optional columns."""
    view = partial(_view, columns=columns)
    return Section(
        "features",
        "Ranked features",
        _TEMPLATE,
        label="Features",
        compute=_compute,
        view=view,
        tiles=_tiles,
        lines=_lines,
    )
