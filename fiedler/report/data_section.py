"""The sections on the data and on the run: the method, its parameters, and the versions."""

from __future__ import annotations

import inspect
import platform
import re
from typing import Any

import numpy as np

from .. import registry
from ..engine.blocks import is_constant, map_columns
from ..methods import METHODS, Method
from ..papers import cited
from ..syntax import short_text
from ..validation import call_repr, is_sparse
from ..version import __version__
from ..words import direction, printable
from .case import Case
from .section import Section, short, tile
from .stability_section import stability_of

# -------------------------------------------------------------------- the data


def compute_data(case: Case) -> dict[str, Any]:
    """Size, storage, constant columns, labels and pairs of the data."""
    X, known = case.problem.X, case.problem.supervision
    everywhere = np.ones(X.shape[0], dtype=bool)
    still = map_columns(lambda F: is_constant(F, everywhere), X)
    if case.problem.groups is not None:  # a feature is constant if all its columns are
        still = case.problem.groups.sum((~still).astype(np.float64)) == 0.0
    constant = np.flatnonzero(still)
    kind, values, classes = case.labels
    labels: dict[str, Any] = {"kind": kind, "n_known": 0}
    if values is not None and classes is not None:
        counts = np.bincount(values[values >= 0], minlength=len(classes))
        labels |= {"n_known": counts.sum(), "classes": [[str(c), k] for c, k in zip(classes, counts, strict=True)]}
    elif values is not None:
        there = values[~np.isnan(values)]
        labels |= {"n_known": len(there), "min": there.min(), "mean": there.mean(), "max": there.max()}
    pairs = {"must_link": known.must_link, "cannot_link": known.cannot_link}
    stored = X.nnz if is_sparse(X) else np.count_nonzero(X)
    return {
        "source": case.source,
        "n_samples": X.shape[0],
        "n_features": case.problem.n_features,
        "n_categories": 0 if case.problem.groups is None else int(np.sum(case.problem.groups.sizes > 1)),
        "n_unused": 0 if case.problem.groups is None else int(np.sum(case.problem.groups.sizes == 0)),
        "n_missing": _n_missing(case),
        "dtype": str(X.dtype),
        "sparse": is_sparse(X),
        "nonzero": stored / max(X.shape[0] * X.shape[1], 1),
        "n_constant": len(constant),
        "constant": [case.names[j] for j in constant[:20]],
        "labels": labels,
        "pairs": {name: None if given is None else len(given) for name, given in pairs.items()},
    }


def _n_missing(case: Case) -> int:
    """Number of missing values; a value of a category counts once."""
    known, groups = case.problem.known, case.problem.groups
    if known is None:
        return 0
    counts = (~known).sum(axis=0).astype(np.float64)
    return round(float(counts.sum() if groups is None else groups.mean(counts).sum()))


def data_words(data: dict[str, Any]) -> str:
    """Numbers of rows, features, labels and pairs, in one line."""
    labels, n = data["labels"], data["n_samples"]
    words = f"{n:,} rows, {data['n_features']:,} features"
    if labels["kind"] == "classes":
        words += f"; {labels['n_known']:,} of {n:,} rows with a class ({len(labels['classes'])} classes)"
    elif labels["kind"] == "target":
        words += f"; {labels['n_known']:,} of {n:,} rows with a target"
    return words + (f"; {' and '.join(pairs)} pairs" if (pairs := _pair_words(data)) else "")


def _pair_words(data: dict[str, Any]) -> list[str]:
    return [f"{n:,} {name.replace('_', '-')}" for name, n in data["pairs"].items() if n is not None]


def _data_tiles(s: dict[str, Any]) -> list[dict[str, str]]:
    data, labels = s["data"], s["data"]["labels"]
    tiles = [tile("Rows", f"{data['n_samples']:,}"), tile("Features", f"{data['n_features']:,}")]
    if labels["kind"] in ("classes", "target"):
        what = f"{len(labels['classes'])} classes" if labels["kind"] == "classes" else "real target"
        tiles.append(tile("Labelled rows", f"{labels['n_known']:,}", what))
    if pairs := _pair_words(data):
        total = sum(count for count in data["pairs"].values() if count is not None)
        tiles.append(tile("Pairs", f"{total:,}", ", ".join(pairs)))
    return tiles


def _data_view(s: dict[str, Any]) -> dict[str, Any]:
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
    return {"facts": facts, "classes": _class_bars(labels)}


def _class_bars(labels: dict[str, Any], most: int = 12) -> list[tuple[str, str, float]]:
    found = sorted(labels.get("classes", []), key=lambda item: -item[1])
    largest = max((count for _, count in found), default=1) or 1
    bars = [(printable(name, 40), f"{n:,}", round(100 * n / largest, 1)) for name, n in found[:most]]
    rest = sum(count for _, count in found[most:])
    return [*bars, (f"{len(found) - most} more classes", f"{rest:,}", 0)] if rest else bars


_DATA_TEMPLATE = """
<dl class="facts">
{% for label, value in facts %}
<dt>{{ label }}</dt><dd>{{ value }}</dd>
{% endfor %}
{% if classes %}
<dt>Labelled rows</dt>
<dd><ul class="classes">
{% for name, count, share in classes %}
<li><span class="name">{{ name }}</span>
<span class="track" aria-hidden="true"><span style="width:{{ share }}%"></span></span><span>{{ count }}</span></li>
{% endfor %}
</ul></dd>
{% endif %}
</dl>
"""
DATA = Section("data", "Data", _DATA_TEMPLATE, compute=compute_data, view=_data_view, tiles=_data_tiles, half=True)


# -------------------------------------------------------------------- the run


def _compute_run(case: Case) -> dict[str, Any]:
    criterion = case.criterion
    formula = criterion.formula() if isinstance(criterion, Method) else criterion
    entry = next((e for e in registry.METHODS if METHODS[e.name] is type(criterion)), None)
    doc = inspect.getdoc(type(criterion)) if entry else None
    drawn, parameters = stability_of(case), criterion.get_params(deep=True)
    return {
        "method": short_text(criterion),
        "criterion": repr(criterion),
        "formula": repr(formula),
        "about": (doc or "").partition("\n")[0],
        "papers": [str(paper) for paper in cited(entry.equation)] if entry else [],
        "greater_is_better": criterion.greater_is_better,
        "direction": direction(criterion.greater_is_better),
        "reads": _read(case),
        "parameters": {
            k: v if isinstance(v, (int, float, str, type(None))) else repr(v) for k, v in parameters.items()
        },
        "command": case.command,
        "python": _python_lines(case),
        "n_features_to_select": case.selector.n_features_to_select,
        "n_selected": case.n_selected,
        "unlabeled": None if case.selector.unlabeled is None else str(case.selector.unlabeled),
        # The draws that are made for this report use the seed 0.
        "seed": 0 if case.seed is None and case.stability is None and drawn is not None else case.seed,
        "versions": _versions(),
    }


def _python_lines(case: Case) -> list[str]:
    """The lines of Python that repeat the selection, given X and what is known about its rows."""
    known = case.problem.supervision
    told = ["X"] + ["y"] * (known.y is not None)
    told += [f"{name}={name}" for name in ("must_link", "cannot_link") if getattr(known, name) is not None]
    imported = sorted({"SpectralSelector", *re.findall(r"\b[A-Z]\w*(?=\()", repr(case.selector.criterion))})
    selector = call_repr(case.selector).replace("criterion=", "", 1)
    return [f"from fiedler import {', '.join(imported)}", f"selector = {selector}.fit({', '.join(told)})"]


def _read(case: Case) -> list[str]:
    """The supervision that was read: what the criterion requires, and what it uses if it was given."""
    known, found = case.problem.supervision, set(case.criterion.reads)
    if "classes" in case.criterion.uses and known.labelled.any():
        found.add(known.task())
    elif "pairs" in case.criterion.uses and known.has_pairs:
        found.add("pairs")
    return sorted(found)


def _versions() -> dict[str, str]:
    import scipy
    import sklearn

    modules = {"numpy": np, "scipy": scipy, "scikit-learn": sklearn}
    return {"fiedler": __version__, "python": platform.python_version()} | {
        name: module.__version__ for name, module in modules.items()
    }


def _run_view(s: dict[str, Any]) -> dict[str, Any]:
    if s["run"]["seed"] is None:
        return {"seed": "none; the ranking is not random"}
    return {"seed": f"{s['run']['seed']} (draws of the evaluation; the ranking is not random)"}


_RUN_TEMPLATE = """
<dl class="facts">
<dt>Formula</dt><dd><code>{{ s.run.formula }}</code></dd>
{% if s.run.about %}<dt>Meaning</dt><dd>{{ s.run.about }}</dd>{% endif %}
{% for paper in s.run.papers %}<dt>Paper</dt><dd>{{ paper }}</dd>{% endfor %}
<dt>Direction</dt><dd>{{ s.run.direction }}</dd>
<dt>Reads</dt><dd>{{ s.run.reads | join(", ") if s.run.reads else "no labels" }}</dd>
<dt>Parameters</dt><dd>
{%- for name, value in s.run.parameters.items() %}<code>{{ name }}={{ value }}</code>{{ ", " if not loop.last }}
{%- else %}none{% endfor %}</dd>
<dt>Seed</dt><dd>{{ seed }}</dd>
{% if s.run.command %}<dt>Command</dt><dd><pre><code>{{ s.run.command }}</code></pre></dd>{% endif %}
{% if s.run.python %}<dt>In Python</dt><dd><pre><code>{{ s.run.python | join("\n") }}</code></pre></dd>{% endif %}
<dt>Versions</dt><dd class="small">
{%- for name, value in s.run.versions.items() %}{{ name }} {{ value }}{{ ", " if not loop.last }}{% endfor %}</dd>
</dl>
"""
RUN = Section("run", "What was run", _RUN_TEMPLATE, label="Run", compute=_compute_run, view=_run_view, half=True)
