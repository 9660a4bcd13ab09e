"""The sections on the data, on the run (the method, its parameters, the versions), on missing values, and the remarks.

Each warning is one reason why scores can mislead: constant columns, missing scores, ties, a ranking that nearly equals
that by variance, near-duplicate features, or a class with very few labels. Graphs are checked when they are built.
"""

from __future__ import annotations

import inspect
import platform
import re

import numpy as np

from .. import registry
from ..engine.blocks import is_constant, map_columns
from ..evaluate.measures import mean_ranks
from ..evaluate.tests import ALPHA, missing_values
from ..methods import METHODS, Variance
from ..plots import drawings
from ..plots.svg import SvgFigure
from ..registry import cited
from ..syntax import short_text
from ..validation import call_repr, is_sparse
from ..version import __version__
from ..words import direction, printable
from .case import LONGEST_NAME, Case, Summary, built_in, correlations, quiet, short, tile
from .features import REDUNDANT, compute_redundancy
from .trust import stability_of

NEARLY_VARIANCE = 0.95  # smallest rank correlation with the variance that gives a warning, for eigenvalue sensitivity
_ANY_NEARLY_VARIANCE = 0.99  # the same for all other methods
_BARS = 12  # classes that are listed
_SHOWN_HOLED, _LISTED_PATTERNS = 20, 10  # features in the figure of missing values, patterns with structure named

# -------------------------------------------------------------------- the data


def compute_data(case: Case) -> Summary:
    """Size, storage, constant columns, labels and pairs of the data."""
    X, groups = case.problem.X, case.problem.groups
    everywhere = np.ones(X.shape[0], dtype=bool)
    still = map_columns(lambda F: is_constant(F, everywhere), X)
    if groups is not None:  # a feature is constant if all its columns are
        still = groups.sum((~still).astype(np.float64)) == 0.0
    constant = np.flatnonzero(still)
    kind, values, classes = case.labels
    labels: Summary = {"kind": kind, "n_known": 0}
    if values is not None and classes is not None:
        counts = np.bincount(values[values >= 0], minlength=len(classes))
        labels |= {"n_known": counts.sum(), "classes": [[str(c), k] for c, k in zip(classes, counts, strict=True)]}
    elif values is not None:
        there = values[~np.isnan(values)]
        labels |= {"n_known": len(there), "min": there.min(), "mean": there.mean(), "max": there.max()}
    pairs = {name: getattr(case.problem.supervision, name) for name in ("must_link", "cannot_link")}
    n_missing = 0
    if case.problem.known is not None:  # a value of a category counts once
        counts = (~case.problem.known).sum(axis=0).astype(np.float64)
        n_missing = round(float(counts.sum() if groups is None else groups.mean(counts).sum()))
    stored = X.nnz if is_sparse(X) else np.count_nonzero(X)
    return {
        "source": case.source,
        "n_samples": X.shape[0],
        "n_features": case.problem.n_features,
        "n_categories": 0 if groups is None else int(np.sum(groups.sizes > 1)),
        "n_unused": 0 if groups is None else int(np.sum(groups.sizes == 0)),
        "n_missing": n_missing,
        "dtype": str(X.dtype),
        "sparse": is_sparse(X),
        "nonzero": stored / max(X.shape[0] * X.shape[1], 1),
        "n_constant": len(constant),
        "constant": [case.names[j] for j in constant[:20]],
        "labels": labels,
        "pairs": {name: None if given is None else len(given) for name, given in pairs.items()},
    }


def data_words(data: Summary) -> str:
    """Numbers of rows, features, labels and pairs, in one line."""
    labels, n = data["labels"], data["n_samples"]
    words = f"{n:,} rows, {data['n_features']:,} features"
    if labels["kind"] == "classes":
        words += f"; {labels['n_known']:,} of {n:,} rows with a class ({len(labels['classes'])} classes)"
    elif labels["kind"] == "target":
        words += f"; {labels['n_known']:,} of {n:,} rows with a target"
    return words + (f"; {' and '.join(pairs)} pairs" if (pairs := _pair_words(data)) else "")


def _pair_words(data: Summary) -> list[str]:
    return [f"{n:,} {name.replace('_', '-')}" for name, n in data["pairs"].items() if n is not None]


def _tiles_data(s: Summary) -> list[dict[str, str]]:
    data, labels = s["data"], s["data"]["labels"]
    tiles = [tile("Rows", f"{data['n_samples']:,}"), tile("Features", f"{data['n_features']:,}")]
    if labels["kind"] in ("classes", "target"):
        what = f"{len(labels['classes'])} classes" if labels["kind"] == "classes" else "real target"
        tiles.append(tile("Labelled rows", f"{labels['n_known']:,}", what))
    if pairs := _pair_words(data):
        tiles.append(tile("Pairs", f"{sum(filter(None, data['pairs'].values())):,}", ", ".join(pairs)))
    return tiles


def _view_data(s: Summary) -> Summary:
    data, labels = s["data"], s["data"]["labels"]
    found = sorted(labels.get("classes", []), key=lambda item: -item[1])
    constant = ", ".join(printable(name, 40) for name in data["constant"][:5]) + ", …" * (data["n_constant"] > 5)
    kinds = {"none": "no labels", "unknown": "given, but neither classes nor readable numbers"}
    kinds["classes"] = f"{len(found)} classes; {data['n_samples'] - labels['n_known']:,} rows unlabelled"
    low, high, mean = (short(labels.get(key)) for key in ("min", "max", "mean"))
    span = f"known for {labels['n_known']:,} rows, from {low} to {high}, mean {mean}"
    stored = f"{'sparse' if data['sparse'] else 'dense'} {data['dtype']}"
    missing, categories, unused = (data.get(key) for key in ("n_missing", "n_categories", "n_unused"))
    facts = {
        "Source": data["source"],
        "Size": f"{data['n_samples']:,} rows × {data['n_features']:,} features",
        "Stored as": f"{stored}, {100 * data['nonzero']:.3g} % not zero",
        "Constant features": f"{data['n_constant']:,}" + (f" ({constant})" if data["constant"] else ""),
        "Missing values": missing and f"{missing:,}, filled from the nearest rows",
        "Categories": categories and f"{categories:,}, each of them one feature; numbers are standardised",
        "Not used": unused and f"{unused:,} columns of texts with many levels, or nearly empty",
        "Labels": kinds.get(labels["kind"]),
        "Target": span if labels["kind"] == "target" else None,
        "Pairs": ", ".join(_pair_words(data)),
    }
    largest = max((count for _, count in found), default=1) or 1
    bars = [(printable(name, 40), f"{n:,}", round(100 * n / largest, 1)) for name, n in found[:_BARS]]
    rest = sum(count for _, count in found[_BARS:])
    bars += [(f"{len(found) - _BARS} more classes", f"{rest:,}", 0)] * bool(rest)
    return {"facts": [fact for fact in facts.items() if fact[1]], "classes": bars}


DATA = built_in("data", "Data", compute_data, _view_data, tiles=_tiles_data)


# -------------------------------------------------------------------- the run


def _compute_run(case: Case) -> Summary:
    import scipy
    import sklearn

    criterion, told, plain = case.criterion, case.problem.supervision, (int, float, str, type(None))
    reads = set(criterion.reads)  # what the criterion requires, and what it uses if it was given
    if "classes" in criterion.uses and told.labelled.any():
        reads.add(told.task())
    elif "pairs" in criterion.uses and told.has_pairs:
        reads.add("pairs")
    arguments = ["X"] + ["y"] * (told.y is not None)
    arguments += [f"{name}={name}" for name in ("must_link", "cannot_link") if getattr(told, name) is not None]
    given = {"graph": case.problem.given, "blocks": case.problem.blocks}
    arguments += [f"{name}={name}" for name, value in given.items() if value is not None]
    if case.problem.depth is not None:
        arguments[0] = "Problem.of(X).counted(depth)"
    counted = {"Problem"} if case.problem.depth is not None else set()
    imported = sorted({"SpectralSelector", *counted, *re.findall(r"\b[A-Z]\w*(?=\()", repr(case.selector.criterion))})
    selector = call_repr(case.selector).replace("criterion=", "", 1)
    modules = {"numpy": np, "scipy": scipy, "scikit-learn": sklearn}
    entry = next((e for e in registry.METHODS if METHODS[e.name] is type(criterion)), None)
    doc = inspect.getdoc(type(criterion)) if entry else None
    drawn, parameters = case.once(stability_of), criterion.get_params(deep=True)
    return {
        "method": short_text(criterion),
        "criterion": repr(criterion),
        "formula": repr(criterion.expanded()),
        "about": (doc or "").partition("\n")[0],
        "papers": [str(paper) for paper in cited(entry.equation)] if entry else [],
        "greater_is_better": criterion.greater_is_better,
        "direction": direction(criterion.greater_is_better),
        "reads": sorted(reads),
        "parameters": {name: v if isinstance(v, plain) else repr(v) for name, v in parameters.items()},
        "command": case.command,
        "python": [f"from fiedler import {', '.join(imported)}", f"selector = {selector}.fit({', '.join(arguments)})"],
        "n_features_to_select": case.selector.n_features_to_select,
        "n_selected": case.n_selected,
        "unlabeled": None if case.selector.unlabeled is None else str(case.selector.unlabeled),
        # The draws that are made for this report use the seed 0.
        "seed": 0 if case.seed is None and case.stability is None and drawn is not None else case.seed,
        "versions": {"fiedler": __version__, "python": platform.python_version()}
        | {name: module.__version__ for name, module in modules.items()},
    }


RUN = built_in("run", "What was run", _compute_run, label="Run")


# -------------------------------------------------------------------- missing values


def _compute_missing(case: Case) -> Summary | None:
    if case.problem.known is None:
        return None
    found = quiet(lambda: missing_values(case.problem))
    holed, structured = np.flatnonzero(found.n_missing), found.structured()
    order = holed[np.argsort(-found.n_missing[holed], kind="stable")][:_SHOWN_HOLED]
    return {
        "n_values": int(found.n_missing.sum()),
        "n_features": len(holed),
        "n_rows": found.n_samples - found.n_complete,
        "n_samples": found.n_samples,
        "features": [case.names[j] for j in order],
        "share": found.share[order],
        "alpha": ALPHA,
        "n_structured": len(structured),
        "structured": [case.names[j] for j in structured[:_LISTED_PATTERNS]],
    }


def _view_missing(s: Summary) -> Summary:
    found = s["missing_values"]
    named = ", ".join(printable(name, 40) for name in found["structured"])
    named += ", …" if found["n_structured"] > len(found["structured"]) else ""
    about = f"Share of missing values of the {len(found['features'])} features with the most of them."
    names, share = [printable(name, LONGEST_NAME) for name in found["features"]], found["share"]
    with SvgFigure("missing", "Missing values", about, height=19 * len(names) + 60) as figure:
        texts = [f"{printable(name, 60)}: {value:.1%}" for name, value in zip(names, share, strict=True)]
        drawings.named_bars(figure.ax, names, share, texts, figure.tell)
        figure.ax.set_xlim(0.0, max(1.05 * max(share, default=0.0), 1e-3))
        figure.ax.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    return {"found": found, "named": named, "shares": figure}


MISSING = built_in("missing_values", "Missing values", _compute_missing, _view_missing, label="Missing")


# -------------------------------------------------------------------- warnings and notes


def check_ranking(case: Case) -> None:
    """Add all warnings about the data, the scores and the ranking."""
    scores, data, redundancy = case.scores, case.once(compute_data), case.once(compute_redundancy)
    missing, infinite = int(np.isnan(scores[case.kept]).sum()), int(np.isinf(scores).sum())
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
        _check_scores(case)
    if not case.kept.all():
        case.warn("screen", f"{case.selector.screen_}. They have no score and follow at the end.")
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
    if infinite:
        case.warn("infinite", f"{_features(infinite)} scored as infinite (division by zero).")


def _check_scores(case: Case) -> None:
    """Are many scores equal, does the cut split equal scores, is the ranking nearly that by variance?"""
    scores, order, k, scored = case.scores, case.selector.order_, case.n_selected, ~np.isnan(case.scores)
    finite = scores[np.isfinite(scores)]
    tied = len(finite) - len(np.unique(finite))
    if tied > 0.01 * len(finite):
        equal = f"{tied:,} of {len(finite):,} scores equal another score"
        case.warn("ties", f"{equal}; equal scores keep the column order.")
    if k < len(order) and np.isfinite(scores[order[k]]) and scores[order[k - 1]] == scores[order[k]]:
        group = int(np.sum(scores == scores[order[k]]))
        case.warn("ties", f"The cut after {k} features splits {group} equal scores; the column order decided.")
    if isinstance(case.criterion, Variance) or scored.sum() < 5:
        return
    mine = mean_ranks(scores[scored], case.criterion.greater_is_better)
    variance = quiet(lambda: Variance().score(case.problem))
    rho = float(correlations(np.array([mine, mean_ranks(variance[scored], True)]))[0, 1])
    if rho >= (NEARLY_VARIANCE if case.is_sensitive else _ANY_NEARLY_VARIANCE):
        way_out = ", or choose a smaller bandwidth" if case.is_sensitive else " first"
        near = f"The ranking nearly equals that by variance (rank correlation {rho:.3f})"
        case.warn("nearly variance", f"{near}, so the scale of the features decides; scale the features{way_out}.")


def _features(count: int) -> str:
    return f"{count:,} feature is" if count == 1 else f"{count:,} features are"


def _notes(s: Summary) -> Summary:
    """The notes that no other section shows."""
    return {"notes": [note for note in s["notes"] if note not in s.get("missing", {}).values()]}


# The other sections collect warnings and notes while they are computed, so these two compute nothing.
WARNINGS = built_in("warnings", "Warnings about this ranking", label="Warnings")
NOTES = built_in("notes", "Notes", view=_notes, applies=lambda s: bool(_notes(s)["notes"]))
