"""The section on missing values: how many, where, and whether their pattern carries structure."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..evaluate.tests import ALPHA, missing_values
from ..plots import drawings
from ..plots.svg import SvgFigure
from ..words import printable
from .case import Case, quiet
from .section import LONGEST_NAME, Section

_SHOWN = 20  # features in the figure
_LISTED = 10  # patterns with structure that are named


def _compute(case: Case) -> dict[str, Any] | None:
    if case.problem.known is None:
        return None
    found = quiet(lambda: missing_values(case.problem))
    holed = np.flatnonzero(found.n_missing)
    order = holed[np.argsort(-found.n_missing[holed], kind="stable")]
    return {
        "n_values": int(found.n_missing.sum()),
        "n_features": len(holed),
        "n_rows": found.n_samples - found.n_complete,
        "n_samples": found.n_samples,
        "features": [case.names[j] for j in order[:_SHOWN]],
        "share": found.share[order[:_SHOWN]],
        "alpha": ALPHA,
        "n_structured": len(found.structured()),
        "structured": [case.names[j] for j in found.structured()[:_LISTED]],
    }


def _view(s: dict[str, Any]) -> dict[str, Any]:
    found = s["missing_values"]
    words = (
        f"{found['n_values']:,} values are missing, in {found['n_features']:,} features and {found['n_rows']:,} of "
        f"{found['n_samples']:,} rows. Each was filled with the mean of the five nearest rows with a known value. "
        "Scores are corrected, so that missing values do not make a feature look better."
    )
    if found["n_structured"]:
        named = ", ".join(printable(name, 40) for name in found["structured"])
        more = ", …" if found["n_structured"] > len(found["structured"]) else ""
        pattern = (
            f"In {found['n_structured']:,} features the pattern of missing values itself carries structure (false "
            f"discovery rate {found['alpha']:g}): {named}{more}. Neighbouring rows miss these features together. If "
            "that is information, add a column that says where the value is missing."
        )
    else:
        pattern = (
            "No pattern of missing values carries structure: neighbouring rows do not miss the same features more "
            "often than other rows do."
        )
    return {"words": words, "pattern": pattern, "shares": _shares(found)}


def _shares(found: dict[str, Any]) -> SvgFigure:
    about = f"Share of missing values of the {len(found['features'])} features with the most of them."
    with SvgFigure("missing", "Missing values", about, height=19 * len(found["features"]) + 60) as figure:
        names = [printable(name, LONGEST_NAME) for name in found["features"]]
        drawings.shares(figure.ax, names, np.asarray(found["share"], dtype=float), tell=figure.tell)
    return figure


_TEMPLATE = """
<p class="lead small">{{ words }}</p>
<p class="small">{{ pattern }}</p>
{{ figure(shares, "Where values are missing", "share of the rows in which the feature is missing") }}
"""
MISSING = Section("missing_values", "Missing values", _TEMPLATE, label="Missing", compute=_compute, view=_view)
