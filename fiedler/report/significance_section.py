"""The section on significance: the number of significant features, p-values and effect sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..plots import drawings
from ..plots.svg import SvgFigure
from ..selection.screens import ALPHA, level
from ..words import number
from .case import Case
from .section import Section


def tests_of(case: Case) -> tuple[np.ndarray | None, ...]:
    """p-value, q-value and effect size of every feature, as given or from a selector that chose by "fdr"."""
    if case.significance is not None:
        return case.significance.pvalues, case.significance.qvalues, case.significance.effect
    return tuple(getattr(case.selector, name, None) for name in ("pvalues_", "qvalues_", "effects_"))


def _compute(case: Case) -> dict[str, Any] | None:
    p, q, _ = tests_of(case)
    if p is None or q is None:
        return None
    given = case.selector.alpha
    known, alpha = (
        p[~np.isnan(p)],
        level(given if given is not None or case.significance is None else ALPHA, case.criterion),
    )
    counts = np.histogram(known, bins=drawings.BINS, range=(0.0, 1.0))[0]
    return {"alpha": alpha, "n_significant": int(np.sum(q <= alpha)), "n_tested": len(known), "histogram": counts}


def _view(s: dict[str, Any]) -> dict[str, Any]:
    tested = s["significance"]
    found, alpha = tested["n_significant"], tested["alpha"]
    share = f"the expected share of noise among these is {alpha:g}" if found else "no feature differs from noise"
    of = f"{found:,} of {tested['n_tested']:,} features"
    words = f"{of} are significant at a false discovery rate of {alpha:g}: {share}."
    return {"words": words, "pvalues": _pvalues(tested), "effects": _effects(s)}


def _pvalues(tested: dict[str, Any]) -> SvgFigure:
    counts = tested["histogram"]
    about = f"p-values of {tested['n_tested']} features in {len(counts)} bins; the line is expected for noise."
    with SvgFigure("pvalues", "p-values", about) as figure:
        drawings.pvalue_histogram(figure.ax, counts, tell=figure.tell)
    return figure


def _effects(s: dict[str, Any]) -> SvgFigure | None:
    columns = s["features"]
    effect, q = (np.array([number(value) for value in columns.get(key, ())]) for key in ("effect", "q"))
    if not np.isfinite(effect).any():
        return None
    about = f"Effects of {s['significance']['n_tested']} features, largest first; in colour those that are significant."
    with SvgFigure("effects", "Effects by rank", about) as figure:
        drawings.effects_by_rank(
            figure.ax, columns["feature"], effect, q <= s["significance"]["alpha"], tell=figure.tell
        )
    return figure


_TEMPLATE = """
<p class="lead small">{{ words }} The p-value of a feature is the probability that its values, randomly permuted, fit
the graph as well. If the graph is built from features, the tested feature is left out. The effect size is 0 for noise,
and 1 for a feature that never differs between neighbours.</p>
<div class="two">
{{ figure(pvalues, "p-values", "bars above the dashed line, at the left, exceed what noise gives") }}
{{ figure(effects, "Effects by rank", "in colour: significant; dashed: smallest significant effect") }}
</div>
"""
SIGNIFICANCE = Section("significance", "Is it real?", _TEMPLATE, label="Is it real", compute=_compute, view=_view)
