"""The section that shows the ranking: a table of all features, searched and sorted by the script of the page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from ..plots.displays import ranked_scores
from ..words import printable
from .case import Case
from .redundancy_section import compute_redundancy
from .section import LONGEST_NAME, Section, short, tile
from .significance_section import tests_of
from .stability_section import stability_of

PAGE_ROWS = 300  # rows of the table at first, and with each "show more"
_EMBEDDED = 1_000_000  # characters of the ranking kept inside the page, for the search
_NAME = 60  # characters of a feature's name in the table
_TEMPLATE = '{% include "ranking.html.j2" %}'  # beside report.js, which fills the table again


@dataclass(frozen=True)
class Column:
    """A further column of the ranking: ``key`` of the summary's features, shown where the summary has it.

    ``name`` is its class on the page, ``share`` writes 0.25 as 25 %, ``down`` sorts the largest first, other numbers
    have so many ``digits``.
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


COLUMNS = (  # every further column is listed here
    Column("explained", "explained", "Explained together", share=True),
    Column("frequency", "often", "Selected again", share=True, down=True),
    Column("p", "p", "p", digits=2),
    Column("q", "q", "q", digits=2),
    Column("effect", "effect", "Effect", down=True, digits=2),
)


def _compute(case: Case) -> dict[str, Any]:
    """The ranking as columns, best first."""
    order, scores = case.selector.order_, ranked_scores(case.selector)
    columns: dict[str, Any] = {
        "feature": [case.names[j] for j in order],
        "column": order,
        "score": scores,
        "length": bar_lengths(scores, case.criterion.greater_is_better),
        "note": _notes(case),
    }
    explained = getattr(case.selector, "explained_", None)
    if explained is not None:
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
    """The remark on each feature, best first: no score, what it stands for, or which better one it repeats."""
    order = case.selector.order_
    notes = np.where(np.isnan(case.scores[order]), "no score: constant on the rows read, or 0/0", "").tolist()
    behind = getattr(case.selector, "stands_for_", None)
    for place, j in enumerate(order[: case.n_selected]) if behind is not None else ():
        notes[place] = notes[place] or _stands_for([case.names[i] for i in np.flatnonzero(behind == j)])
    for repeat in case.once(compute_redundancy).get("repeats", ()):
        better = case.names[order[repeat["of"] - 1]]
        notes[repeat["rank"] - 1] = f"correlates {repeat['correlation']:.2f} with rank {repeat['of']}, {better}"
    return notes


def _stands_for(names: list[str], shown: int = 3) -> str:
    """The near copies of a kept feature that were passed over, in words."""
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


# -------------------------------------------------------------------- the table


def _view(s: dict[str, Any], columns: Sequence[Column]) -> dict[str, Any]:
    there = [column for column in columns if s["features"].get(column.key)]
    embedded, note = _embedded(s, there)
    return {"columns": there, "rows": _table_rows(s, there), "ranking": embedded, "table_note": note}


def _table_rows(s: dict[str, Any], columns: list[Column]) -> list[dict[str, Any]]:
    """The rows that the page shows without its script."""
    features, k = s["features"], s["run"]["n_selected"]
    return [
        {
            "rank": at + 1,
            "name": printable(name, _NAME),
            "full": printable(name, LONGEST_NAME) if len(name) > _NAME else "",
            "score": short(features["score"][at]),
            "length": round(100 * features["length"][at], 1),
            "cells": [(column.name, column.text(features[column.key][at])) for column in columns],
            "note": features["note"][at] or "selected" * (at < k),
            "selected": at < k,
        }
        for at, name in enumerate(features["feature"][:PAGE_ROWS])
    ]


def _embedded(s: dict[str, Any], columns: list[Column]) -> tuple[str, str]:
    """As much of the ranking as fits, as JSON for the script, and a remark if that is not all."""
    from jinja2.utils import htmlsafe_json_dumps

    features, total = s["features"], len(s["features"]["feature"])
    rows, room = [], _EMBEDDED
    for at in range(total):
        name, note = printable(features["feature"][at], LONGEST_NAME), printable(features["note"][at], 200)
        row = [name, _digits(features["score"][at]), round(100 * features["length"][at], 1)]
        row += [note, *(_digits(features[column.key][at]) for column in columns)] if columns or note else []
        room -= len(htmlsafe_json_dumps(row))
        if room < 0:
            break
        rows.append(row)
    about = {"rows": rows, "page": PAGE_ROWS, "selected": s["run"]["n_selected"], "total": total, "longest": _NAME}
    about["columns"] = [asdict(column) for column in columns]
    embedded = htmlsafe_json_dumps(about, dumps=partial(json.dumps, separators=(",", ":"), allow_nan=False))
    if len(rows) == total:
        return embedded, f"The table starts with {PAGE_ROWS} rows; the search covers all." if total > PAGE_ROWS else ""
    note = f"To stay small this page keeps the best {len(rows):,} of {total:,} features; the others are left out."
    return embedded, note


def _digits(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _tiles(s: dict[str, Any]) -> list[dict[str, str]]:
    best = s["features"]["feature"][0]
    return [tile("Selected", f"{s['run']['n_selected']:,}", f"best: {printable(best, 28)}", best)]


def _lines(s: dict[str, Any], top: int) -> list[str]:
    columns = s["features"]
    frequency = columns.get("frequency")
    lines = [f"{'rank':>6}  {'feature':<32}{'score':>12}" + ("  selected" if frequency else "")]
    for at, (name, score) in enumerate(zip(columns["feature"][:top], columns["score"][:top], strict=True)):
        often = f"{frequency[at]:>9.0%}" if frequency else ""
        number = "" if score is None else short(score)
        lines.append(f"{at + 1:>6}  {printable(name, 31):<32}{number:>12}{often}  {columns['note'][at]}".rstrip())
    rest = len(columns["feature"]) - top
    return [*lines, f"        ... {rest:,} more", ""] if rest > 0 else [*lines, ""]


def features_section(columns: Sequence[Column] = COLUMNS) -> Section:
    """The section of the ranking, with further columns where the summary has them."""
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
