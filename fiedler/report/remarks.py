"""The sections with warnings about the ranking and with notes on how the report was made.

Each check looks for one reason why scores can mislead: constant columns, missing scores, ties, a ranking that nearly
equals that by variance, near-duplicate features, or a class with very few labels. Graphs are checked when they are
built.
"""

from __future__ import annotations

import numpy as np

from ..methods import Variance
from ..selection.screens import noise_remark
from .case import Case, correlations, mean_ranks, uses_sensitivity
from .data import compute_data
from .features import REDUNDANT, compute_redundancy
from .section import Summary, built_in

NEARLY_VARIANCE = 0.95  # smallest rank correlation with the variance that gives a warning, for eigenvalue sensitivity
_ANY_NEARLY_VARIANCE = 0.99  # the same for all other methods


def check_ranking(case: Case) -> None:
    """Add all warnings about the scores and the ranking."""
    scores, data, redundancy = case.scores, case.once(compute_data), case.once(compute_redundancy)
    missing = int(np.isnan(scores[case.kept]).sum())
    if data["n_constant"]:
        some = ", ".join(data["constant"][:5]) + ", ..." * (data["n_constant"] > 5)
        case.warn("constant", f"{_features(data['n_constant'])} constant, without any information: {some}.")
    if missing > data["n_constant"]:
        what = f"{_features(missing)} without a score (NaN: constant on the rows that are read, or 0/0) and ranked last"
        case.warn("no score", f"{what}.")
    taken = int(np.isnan(scores[case.selector.support_ & case.kept]).sum())
    if taken:
        case.warn("no score", f"{taken} of the {case.n_selected} selected features have no score; select fewer.")
    if not case.criterion.is_set:  # the scores of a set criterion are those of the first step
        _check_ties(case)
        _check_variance(case)
    _check_noise(case)
    if case.problem.supervision.has_pairs and "pairs" not in case.criterion.uses:
        case.warn("pairs", f"{case.criterion!r} reads no pairs: must-link and cannot-link pairs were ignored.")
    if len(redundancy.get("repeats", [])) > redundancy.get("examined", 0) / 2:
        share = f"{len(redundancy['repeats'])} of {redundancy['examined']} selected features"
        more = f"correlate {REDUNDANT} or more with a better one"
        case.warn("redundant", f"{share} {more}; fewer features may be enough.")
    kind, values, _ = case.labels
    if "classes" in case.criterion.uses and kind == "classes":
        rarest = int(np.bincount(values[values >= 0]).min())
        if rarest < 3:
            what = f"A class has only {rarest} labelled row{'s' * (rarest > 1)}"
            case.warn("few labels", f"{what}; the ranking may change considerably with one more label.")
    if np.isinf(scores).any():
        case.warn("infinite", f"{_features(int(np.isinf(scores).sum()))} scored as infinite (division by zero).")


def _check_noise(case: Case) -> None:
    if case.selector.screen is not None:
        kept = f"The screen {case.selector.screen!r} kept {int(case.kept.sum()):,} of {len(case.kept):,} columns"
        others = "Others have no score and follow at the end"
        case.warn("screen", f"{kept}. {others}. Stability and suggested numbers are those without a screen.")
        return
    reads_X = any(recipe.reads_X for recipe in case.criterion.recipes())
    plain = reads_X and case.problem.groups is None  # levels of categories agree with no other column
    remark = noise_remark(case.problem.X, 'screen="agreement"') if plain else None
    if remark is not None:
        case.warn("noise", f"{remark.capitalize()}.")


def _check_ties(case: Case) -> None:
    scores, order, k = case.scores, case.selector.order_, case.n_selected
    finite = scores[np.isfinite(scores)]
    tied = len(finite) - len(np.unique(finite))
    if tied > 0.01 * len(finite):
        equal = f"{tied:,} of {len(finite):,} scores equal another score"
        case.warn("ties", f"{equal}; equal scores keep the column order.")
    if k < len(order) and np.isfinite(scores[order[k]]) and scores[order[k - 1]] == scores[order[k]]:
        group = int(np.sum(scores == scores[order[k]]))
        case.warn("ties", f"The cut after {k} features splits {group} equal scores; the column order decided.")


def _check_variance(case: Case) -> None:
    scored = ~np.isnan(case.scores)
    if isinstance(case.criterion, Variance) or scored.sum() < 5:
        return
    mine = mean_ranks(case.scores[scored], case.criterion.greater_is_better)
    rho = float(correlations(np.array([mine, mean_ranks(case.variance[scored], True)]))[0, 1])
    sensitive = uses_sensitivity(case.criterion)
    if rho >= (NEARLY_VARIANCE if sensitive else _ANY_NEARLY_VARIANCE):
        way_out = "scale the features, or choose a smaller bandwidth" if sensitive else "scale the features first"
        near = f"The ranking nearly equals that by variance (rank correlation {rho:.3f})"
        case.warn("nearly variance", f"{near}, so the scale of the features decides; {way_out}.")


def _features(count: int) -> str:
    return f"{count:,} feature is" if count == 1 else f"{count:,} features are"


def _notes(s: Summary) -> list[str]:
    """The notes that no other section shows."""
    return [note for note in s["notes"] if note not in s.get("missing", {}).values()]


# The other sections collect warnings and notes while they are computed, so these two compute nothing.
WARNINGS = built_in("warnings", "Warnings about this ranking", label="Warnings")
NOTES = built_in("notes", "Notes", applies=lambda s: bool(_notes(s)), view=lambda s: {"notes": _notes(s)})
