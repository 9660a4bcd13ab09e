"""A report about a ranking: one plain dict, and what can be made of it.

    summarize(selector, X, y) -> dict of numbers, strings and lists -> text | JSON | one self-contained HTML file

The dict holds everything the renderers show, so that a summary saved as JSON can be rendered later and elsewhere. The
HTML file needs no network, runs no script but its own, and shows every name as text.
"""

from __future__ import annotations

import json
import math
import textwrap
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from ..data.atomic import replacing
from ..evaluate.compare import Comparison
from ..evaluate.significance import Significance
from ..evaluate.stability import Stability
from ..selector import SpectralSelector
from ..version import __version__
from ..words import printable
from .checks import check_ranking
from .facts import (
    agreement_section,
    data_section,
    features_section,
    make_case,
    measured_stability,
    redundancy_section,
    run_section,
    significance_section,
    suggestions_section,
)
from .graph import graph_section
from .page import data_words, page
from .values import distributions_section

__all__ = ["printable", "render_html", "render_json", "render_text", "summarize", "write_html"]


def summarize(
    selector: SpectralSelector,
    X: Any,
    y: Any = None,
    *,
    feature_names: Any = None,
    source: str | None = None,
    must_link: Any = None,
    cannot_link: Any = None,
    stability: Stability | None = None,
    comparison: Comparison | None = None,
    significance: Significance | None = None,
    seed: int | None = None,
    task: str = "auto",
) -> dict[str, Any]:
    """Everything worth knowing about a ranking, as one dict of plain values.

    Parameters
    ----------
    selector : SpectralSelector
        Fitted on X.
    X : array-like, frame or sparse matrix of shape (n_samples, n_features)
        The data.
    y : array-like of shape (n_samples,), optional
        What the selector was fitted with; it also colours the picture of the graph.
    feature_names : sequence of str, optional
        By default those the selector has seen, or x0, x1, ...
    source : str, optional
        Where the data came from.
    must_link, cannot_link : array-like of shape (p, 2) or Pairs, optional
        What the selector was fitted with.
    stability : Stability, optional
        Result of :func:`fiedler.evaluate.stability`; gives every feature its selection frequency. By default it is
        measured on a few draws of four fifths of the rows where that is quick, and a note says where it is not.
    comparison : Comparison, optional
        Result of :func:`fiedler.evaluate.compare`; gives the curves.
    significance : Significance, optional
        Result of :func:`fiedler.evaluate.significance`; gives every feature p, q and effect.
    seed : int, optional
        The seed of stability and comparison, where it is known; a ranking itself draws nothing.
    task : {"auto", "classes", "target"}
        What y holds. "auto" is what the criterion reads or, where it reads no y, the rule of
        :meth:`fiedler.Supervision.task`.

    Returns
    -------
    dict
        Sections ``data``, ``run``, ``features`` (columns, best first), ``suggestions``, ``comparison``,
        ``agreement``, ``stability``, ``significance``, ``graph``, ``redundancy``, ``distributions`` (of the best
        features), ``missing`` (section to why it is None), ``warnings``, ``notes``. Only dicts with string keys,
        lists, strings, numbers, booleans and None; NaN is None, and infinity the string "inf".

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from fiedler import SpectralSelector
    >>> from fiedler.report import summarize
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> summary = summarize(SpectralSelector("fisher", n_features_to_select=3).fit(X, y), X, y)
    >>> summary["features"]["feature"][:3]
    ['flavanoids', 'proline', 'od280/od315_of_diluted_wines']
    >>> summary["data"]["labels"]["classes"]
    [['0', 59], ['1', 71], ['2', 48]]
    """
    case = make_case(selector, X, y, feature_names, must_link, cannot_link, task)
    if stability is not None and len(stability.frequency) != len(case.names):
        raise ValueError(f"stability is about {len(stability.frequency)} features, X has {len(case.names)}.")
    if significance is not None and len(significance.pvalues) != len(case.names):
        raise ValueError(f"significance is about {len(significance.pvalues)} features, X has {len(case.names)}.")
    if comparison is not None and seed is None:
        seed = comparison.settings["random_state"]
    missing: dict[str, str] = {}
    given = stability is not None
    if not given:
        measured = measured_stability(case, seed or 0)
        if isinstance(measured, str):
            missing["stability"] = measured
            case.notes.append(measured)
        else:
            stability, seed = measured, seed or 0
    data, run = data_section(case, source), run_section(case, seed)
    columns = features_section(case, stability, significance)
    graph = graph_section(case)
    redundancy = redundancy_section(case, columns)
    check_ranking(case, data, redundancy)
    summary = {
        "report": "fiedler",
        "version": __version__,
        "created": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "data": data,
        "run": run,
        "features": columns,
        "suggestions": suggestions_section(case, seed or 0, graph.get("clusters", {}).get("n")),
        "comparison": None if comparison is None else comparison.summary(),
        "agreement": agreement_section(case, comparison),
        "stability": None if stability is None else _stability_section(stability, given),
        "significance": significance_section(case, significance),
        "graph": graph,
        "redundancy": redundancy,
        "distributions": distributions_section(case),
        "missing": missing,
        "warnings": case.warnings,
        "notes": case.notes,
    }
    return plain(summary)


def _stability_section(stability: Stability, given: bool) -> dict[str, Any]:
    about = {name: getattr(stability, name) for name in ("k", "n_draws", "kendall", "jaccard", "kuncheva")}
    return about | {"given": given}


def plain(value: Any) -> Any:
    """Arrays as lists, NumPy's numbers as Python's, NaN as None, infinity as "inf" or "-inf".

    Examples
    --------
    >>> import numpy as np
    >>> plain({"a": np.array([1.5, np.nan, -np.inf]), "b": np.int64(3)})
    {'a': [1.5, None, '-inf'], 'b': 3}
    """
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)


# -------------------------------------------------------------------- renderers


def render_json(summary: dict[str, Any]) -> str:
    """A summary as JSON; ``json.loads`` gives the same dict back.

    Parameters
    ----------
    summary : dict
        As :func:`summarize` gives it.

    Returns
    -------
    text : str
        JSON, with a line feed at its end.

    Examples
    --------
    >>> from fiedler.report import render_json
    >>> print(render_json({"run": {"method": "fisher"}}), end="")
    {
     "run": {
      "method": "fisher"
     }
    }
    """
    return json.dumps(summary, indent=1, allow_nan=False) + "\n"


def render_text(summary: dict[str, Any], top: int = 20) -> str:
    """A summary as text for a terminal or a log.

    Parameters
    ----------
    summary : dict
        As :func:`summarize` gives it.
    top : int, default=20
        How many of the best features to list.

    Returns
    -------
    text : str
        Lines.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from fiedler import SpectralSelector
    >>> from fiedler.report import render_text, summarize
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = SpectralSelector("fisher", n_features_to_select=3).fit(X, y)
    >>> print("\\n".join(render_text(summarize(selector, X, y)).splitlines()[:3]))
    fisher: 3 of 13 features selected
    =================================
    178 rows, 13 features; 178 of 178 rows with a class (3 classes)
    """
    data, run = summary["data"], summary["run"]
    title = f"{run['method']}: {run['n_selected']} of {data['n_features']} features selected"
    lines = [title, "=" * len(title)]
    if data["source"]:
        lines.append(f"source   {data['source']}")
    lines += [data_words(data), f"formula  {run['formula']}  ({run['direction']})", "", *_ranking_lines(summary, top)]
    for suggestion in summary["suggestions"]:
        size = "-" if suggestion["n_features"] is None else suggestion["n_features"]
        lines.append(f"suggested number of features ({suggestion['rule']}): {size}, {suggestion['reason']}")
    lines += _comparison_lines(summary["comparison"])
    if (drawn := summary["stability"]) is not None:
        overlap = f"first {drawn['k']} features overlap by {_short(drawn['jaccard'])} (Jaccard)"
        lines.append(f"stability over {drawn['n_draws']} draws: {overlap}, Kendall {_short(drawn['kendall'])}")
    for graph in summary["graph"]["graphs"]:
        parts = f"{graph['n_components']} components, {graph['n_isolated']} isolated rows"
        lines.append(f"graph {graph['recipe']}: {graph['n_nodes']} rows, {graph['n_edges']} edges, {parts}")
    lines += [f"WARNING  {item['text']}" for item in summary["warnings"]]
    lines += [f"note     {note}" for note in summary["notes"]]
    lines = [printable(line) for line in lines]
    wrapped = (textwrap.fill(line, 110, subsequent_indent=" " * 9) if len(line) > 110 else line for line in lines)
    return "\n".join(wrapped) + "\n"


def _ranking_lines(summary: dict[str, Any], top: int) -> list[str]:
    columns = summary["features"]
    frequency = columns.get("frequency")
    lines = [f"{'rank':>6}  {'feature':<32}{'score':>12}" + ("  selected" if frequency else "")]
    for at, (name, score) in enumerate(zip(columns["feature"][:top], columns["score"][:top], strict=True)):
        often = f"{frequency[at]:>9.0%}" if frequency else ""
        lines.append(
            f"{at + 1:>6}  {printable(name, 31):<32}{_short(score):>12}{often}  {columns['note'][at]}".rstrip()
        )
    rest = len(columns["feature"]) - top
    return [*lines, f"        ... {rest:,} more", ""] if rest > 0 else [*lines, ""]


def _comparison_lines(comparison: dict[str, Any] | None) -> list[str]:
    if comparison is None:
        return []
    lines = []
    for metric, best in comparison["best"].items():
        ranks = {name: about["average_rank"][metric] for name, about in comparison["methods"].items()}
        order = ", ".join(f"{name} {rank:.2f}" for name, rank in sorted(ranks.items(), key=lambda r: r[1]))
        lines.append(f"comparison by {metric}, best {best}; mean rank: {order}")
    return lines


def _short(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else f"{value:.5g}"


def render_html(summary: dict[str, Any]) -> str:
    """A summary as one HTML page that needs nothing else: no network, no other file.

    Needs matplotlib and jinja2, the extra ``report``.

    Parameters
    ----------
    summary : dict
        As :func:`summarize` gives it.

    Returns
    -------
    page : str
        HTML.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from fiedler import SpectralSelector
    >>> from fiedler.report import render_html, summarize
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> page = render_html(summarize(SpectralSelector("fisher").fit(X, y), X, y))
    >>> page[:15], len(page) < 2_000_000
    ('<!doctype html>', True)
    """
    return page(summary)


def write_html(path: str | Path, summary: dict[str, Any], force: bool = False) -> Path:
    """Write :func:`render_html` to a file, complete or not at all.

    Parameters
    ----------
    path : str or Path
        The file.
    summary : dict
        As :func:`summarize` gives it.
    force : bool, default=False
        Replace an existing file.

    Returns
    -------
    path : Path
        The file written.
    """
    with replacing(path, force) as temporary:
        temporary.write_text(render_html(summary), encoding="utf-8")
    return Path(path)
