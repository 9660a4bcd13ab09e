"""The sections on the data, on the run (the method, its parameters, the versions), and on missing values."""

from __future__ import annotations

import inspect
import platform
import re

import numpy as np

from .. import registry
from ..engine.blocks import is_constant, map_columns
from ..evaluate.tests import ALPHA, missing_values
from ..methods import METHODS, Method
from ..papers import cited
from ..plots import drawings
from ..plots.svg import SvgFigure
from ..syntax import short_text
from ..validation import call_repr, is_sparse
from ..version import __version__
from ..words import direction, printable
from .case import Case, quiet
from .section import LONGEST_NAME, Summary, built_in, short, tile
from .trust import stability_of

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
        total = sum(count for count in data["pairs"].values() if count is not None)
        tiles.append(tile("Pairs", f"{total:,}", ", ".join(pairs)))
    return tiles


def _view_data(s: Summary) -> Summary:
    data, labels = s["data"], s["data"]["labels"]
    size = f"{data['n_samples']:,} rows × {data['n_features']:,} features"
    kind = f"{'sparse' if data['sparse'] else 'dense'} {data['dtype']}, {100 * data['nonzero']:.3g} % not zero"
    constant = f"{data['n_constant']:,}"
    if data["constant"]:
        more = ", …" if data["n_constant"] > 5 else ""
        constant += f" ({', '.join(printable(name, 40) for name in data['constant'][:5])}{more})"
    facts = [("Source", data["source"])] if data["source"] else []
    facts += [("Size", size), ("Stored as", kind), ("Constant features", constant)]
    if data.get("n_missing"):
        facts.append(("Missing values", f"{data['n_missing']:,}, filled from the nearest rows"))
    if data.get("n_categories"):
        facts.append(("Categories", f"{data['n_categories']:,}, each of them one feature; numbers are standardised"))
    if data.get("n_unused"):
        facts.append(("Not used", f"{data['n_unused']:,} columns of texts with many levels, or nearly empty"))
    words = {"none": "no labels", "unknown": "given, but neither classes nor readable numbers"}
    if labels["kind"] in words:
        facts.append(("Labels", words[labels["kind"]]))
    elif labels["kind"] == "target":
        span = f"from {short(labels['min'])} to {short(labels['max'])}, mean {short(labels['mean'])}"
        facts.append(("Target", f"known for {labels['n_known']:,} rows, {span}"))
    else:
        unknown = data["n_samples"] - labels["n_known"]
        facts.append(("Labels", f"{len(labels['classes'])} classes; {unknown:,} rows unlabelled"))
    if pairs := _pair_words(data):
        facts.append(("Pairs", ", ".join(pairs)))
    found = sorted(labels.get("classes", []), key=lambda item: -item[1])
    largest = max((count for _, count in found), default=1) or 1
    bars = [(printable(name, 40), f"{n:,}", round(100 * n / largest, 1)) for name, n in found[:_BARS]]
    rest = sum(count for _, count in found[_BARS:])
    bars += [(f"{len(found) - _BARS} more classes", f"{rest:,}", 0)] * bool(rest)
    return {"facts": facts, "classes": bars}


DATA = built_in("data", "Data", compute_data, _view_data, _tiles_data, half=True)


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
    imported = sorted({"SpectralSelector", *re.findall(r"\b[A-Z]\w*(?=\()", repr(case.selector.criterion))})
    selector = call_repr(case.selector).replace("criterion=", "", 1)
    modules = {"numpy": np, "scipy": scipy, "scikit-learn": sklearn}
    entry = next((e for e in registry.METHODS if METHODS[e.name] is type(criterion)), None)
    doc = inspect.getdoc(type(criterion)) if entry else None
    drawn, parameters = stability_of(case), criterion.get_params(deep=True)
    return {
        "method": short_text(criterion),
        "criterion": repr(criterion),
        "formula": repr(criterion.formula() if isinstance(criterion, Method) else criterion),
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


def _view_run(s: Summary) -> Summary:
    seed = s["run"]["seed"]
    words = "the ranking is not random"
    return {"seed": f"none; {words}" if seed is None else f"{seed} (draws of the evaluation; {words})"}


RUN = built_in("run", "What was run", _compute_run, _view_run, label="Run", half=True)


# -------------------------------------------------------------------- missing values


def _compute_missing(case: Case) -> Summary | None:
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
        "features": [case.names[j] for j in order[:_SHOWN_HOLED]],
        "share": found.share[order[:_SHOWN_HOLED]],
        "alpha": ALPHA,
        "n_structured": len(found.structured()),
        "structured": [case.names[j] for j in found.structured()[:_LISTED_PATTERNS]],
    }


def _view_missing(s: Summary) -> Summary:
    found = s["missing_values"]
    named = ", ".join(printable(name, 40) for name in found["structured"])
    named += ", …" if found["n_structured"] > len(found["structured"]) else ""
    about = f"Share of missing values of the {len(found['features'])} features with the most of them."
    with SvgFigure("missing", "Missing values", about, height=19 * len(found["features"]) + 60) as figure:
        names = [printable(name, LONGEST_NAME) for name in found["features"]]
        drawings.shares(figure.ax, names, np.asarray(found["share"], dtype=float), tell=figure.tell)
    return {"found": found, "named": named, "shares": figure}


MISSING = built_in("missing_values", "Missing values", _compute_missing, _view_missing, label="Missing")
