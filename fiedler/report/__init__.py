"""Reports about a ranking: a summary as one dict of plain values, and its JSON and HTML forms.

    summarize(selector, X, y) -> dict of numbers, strings and lists -> text | JSON | one self-contained HTML file

The dict contains everything that the renderers show, so a summary saved as JSON can be rendered later on another
machine. The HTML file needs no network, runs only its own script, and shows every name as plain text.

- ``case``       a fitted selector with its data, from which sections are computed; what a section is
- ``data``       the data, the run, missing values, warnings and notes
- ``features``   the ranking as a table, redundancy; ``values`` are distributions and features along an axis
- ``graph``      its properties, eigenvalues and picture
- ``trust``      significance, stability, suggested numbers of features, comparison of methods, agreement between them
- ``templates/`` holds the HTML

The templates escape every value. Only the figures, which were serialised as XML, and the style sheet and script of the
library are inserted without escaping. The security policy of the page contains the hash of this script, so that a
browser runs no other script.

This room may import ``plots``, ``evaluate`` and everything below them.

To add a section, write one :class:`Section`: its name and title, ``compute(case)`` for its part of the summary,
``view(summary)`` for words and figures, and its template, a file of its name in ``templates/``. Add it to the table
``SECTIONS`` below, and write a test. A section outside the library needs no entry in the table: pass
``sections=[*SECTIONS, yours]`` to :func:`summarize` and :func:`write_html`. Figures are drawn inside
``with SvgFigure(...) as figure:`` with the functions of ``fiedler.plots.drawings``.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from ..data.work import replacing
from ..evaluate.compare import Comparison, prediction_words
from ..evaluate.stability import Stability
from ..evaluate.tests import Significance
from ..plots.svg import SvgFigure
from ..selector import SpectralSelector
from ..version import __version__
from ..words import printable
from .case import Case, Section, check_sections, percent
from .data import DATA, MISSING, NOTES, RUN, WARNINGS, check_ranking, data_words
from .features import REDUNDANCY, features_section
from .graph import GRAPH
from .trust import AGREEMENT, COMPARISON, PREDICTION, SIGNIFICANCE, STABILITY, SUGGESTIONS
from .values import AXIS, DISTRIBUTIONS, MAPS

__all__ = ["SECTIONS", "Section", "SvgFigure", "printable"]
__all__ += ["render_html", "render_json", "summarize", "write_html"]

_TEMPLATES = Path(__file__).parent / "templates"
# The sections in the order of the page.
SECTIONS = (
    *(WARNINGS, DATA, RUN, features_section(), MAPS, AXIS, SUGGESTIONS, SIGNIFICANCE, DISTRIBUTIONS, MISSING),
    *(PREDICTION, COMPARISON, AGREEMENT, STABILITY, GRAPH, REDUNDANCY, NOTES),
)


def summarize(
    selector: SpectralSelector,
    X: Any,
    y: Any = None,
    *,
    feature_names: Any = None,
    source: str | None = None,
    command: str | None = None,
    must_link: Any = None,
    cannot_link: Any = None,
    stability: Stability | None = None,
    comparison: Comparison | None = None,
    significance: Significance | None = None,
    seed: int | None = None,
    task: str = "auto",
    sections: Sequence[Section] = SECTIONS,
) -> dict[str, Any]:
    """Summarise a ranking as one dict of plain values.

    Parameters
    ----------
    selector : SpectralSelector
        A selector that was fitted on X.
    X : array-like, frame or sparse matrix of shape (n_samples, n_features)
        The data.
    y : array-like of shape (n_samples,), optional
        The labels with which the selector was fitted; they also colour the picture of the graph.
    feature_names : sequence of str, optional
        Names of the features; by default those of the fit, or x0, x1, ...
    source : str, optional
        Where the data come from.
    command : str, optional
        The command line that made the report; the command ``fiedler`` passes its own.
    must_link, cannot_link : array-like of shape (p, 2) or Pairs, optional
        The pairs with which the selector was fitted.
    stability : Stability, optional
        Result of :func:`fiedler.evaluate.stability`, which gives every feature its selection frequency. By default it
        is measured on a few draws of 80 % of the rows if this is fast; otherwise a note states why it is missing.
    comparison : Comparison, optional
        Result of :func:`fiedler.evaluate.compare`, which gives the curves.
    significance : Significance, optional
        Result of :func:`fiedler.evaluate.significance`, which gives p-value, q-value and effect size of every feature.
    seed : int, optional
        The random seed of stability and comparison, if known; a ranking is not random.
    task : {"auto", "classes", "target"}
        What y holds. "auto" follows the criterion; if the criterion reads no y, it follows the rule of
        :meth:`fiedler.Supervision.task`.
    sections : sequence of Section
        The sections of the summary; by default all sections of the library.

    Returns
    -------
    dict
        Sections ``data``, ``run``, ``features`` (columns, best first), ``axis`` (if the names are numbers in order),
        ``suggestions``, ``prediction`` (on held-out rows), ``comparison``, ``agreement``, ``stability``,
        ``significance``, ``graph``, ``redundancy``, ``distributions`` (of the best features), ``maps`` (if the rows
        have places), ``missing`` (why a section is None), ``warnings``, ``notes``. It contains only dicts with string
        keys, lists, strings, numbers, booleans and None; NaN becomes None, and infinity the string "inf".

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
    check_sections(sections)
    told = feature_names, must_link, cannot_link, task, source, command, seed
    case = Case(selector, X, y, *told, stability, comparison, significance)
    summary = {"report": "fiedler", "version": __version__, "created": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")}
    summary |= {section.name: case.once(section.compute) for section in sections if section.compute}
    check_ranking(case)
    return plain(summary | {"missing": case.missing, "warnings": case.warnings, "notes": case.notes})


def plain(value: Any, text: Callable[[str], str] = str) -> Any:
    """Convert arrays to lists, NumPy numbers to Python numbers, NaN to None, infinity to "inf" or "-inf", and texts.

    Examples
    --------
    >>> import numpy as np
    >>> plain({"a": np.array([1.5, np.nan, -np.inf]), "b": np.int64(3)})
    {'a': [1.5, None, '-inf'], 'b': 3}
    """
    if isinstance(value, dict):
        return {str(key): plain(item, text) for key, item in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(item, text) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value if isinstance(value, (bool, int, float, type(None))) else text(str(value))


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
        JSON that ends with a line feed.

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


def render_html(summary: dict[str, Any], sections: Sequence[Section] = SECTIONS) -> str:
    """A summary as one self-contained HTML page, without network access and other files.

    This function needs matplotlib and jinja2, the extra ``report``.

    Parameters
    ----------
    summary : dict
        As :func:`summarize` gives it.
    sections : sequence of Section
        What is shown; by default all that the library has.

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
    check_sections(sections)
    try:
        import jinja2
        import matplotlib  # noqa: F401
        from markupsafe import Markup
    except ImportError as error:
        message = f"the HTML report needs {error.name}; install it with: pip install 'fiedler[report]'."
        raise ImportError(message) from None
    rules: dict[str, Any] = {"trim_blocks": True, "lstrip_blocks": True, "undefined": jinja2.ChainableUndefined}
    environment = jinja2.Environment(autoescape=True, loader=jinja2.FileSystemLoader(_TEMPLATES), **rules)
    macros: Any = environment.get_template("macros.html.j2").module
    environment.globals |= {name: getattr(macros, name) for name in ("figure", "keys", "table")} | {"percent": percent}
    s, there, tiles, cards = plain(summary, printable), [], [], []
    for section in sections:
        applies = section.applies(s) if section.applies else s.get(section.name)
        if section.template and applies and (section.compute is None or section.name in s):
            values = section.view(s) if section.view else {}
            body = Markup(environment.from_string(section.template).render(s=s, **values).strip())
            there.append(section)
            tiles += section.tiles(s) if section.tiles else []
            cards.append({"name": section.name, "title": values.get("title", section.title), "body": body})
    script = _TEMPLATES.joinpath("report.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    about = {"s": s, "words": data_words(s["data"]), "tiles": tiles, "sections": there, "cards": cards}
    about |= dict(zip(("title", "means"), _headline(s), strict=True))
    about |= {"js": Markup(script), "script_hash": Markup(f"'sha256-{digest}'")}
    return environment.get_template("report.html.j2").render(about).strip() + "\n"


def _headline(s: dict[str, Any]) -> tuple[str, str]:
    """What the selection predicts on held-out rows, or else what it explains and what this means."""
    n, m = s["run"]["n_selected"], s["data"]["n_features"]
    title, found = f"{n:,} of {m:,} features selected", s.get("prediction")
    if found is not None:
        return f"{title}: {prediction_words(found)}", ""
    explained = (s["features"].get("explained") or [])[:n]
    if not explained or None in explained:
        return title, ""
    means = "To explain is to reconstruct the table, averaged over similar rows; it is not to predict labels."
    return f"{title}; they explain {percent(explained[-1])} of what all features explain", means


def write_html(
    path: str | Path, summary: dict[str, Any], force: bool = False, sections: Sequence[Section] = SECTIONS
) -> Path:
    """Write the page of :func:`render_html` to a file; the file is written completely or not at all.

    Parameters
    ----------
    path : str or Path
        The file.
    summary : dict
        As :func:`summarize` gives it.
    force : bool, default=False
        Whether an existing file is replaced.
    sections : sequence of Section
        What is shown; by default all that the library has.

    Returns
    -------
    path : Path
        The file that was written.
    """
    with replacing(path, force) as temporary:
        temporary.write_text(render_html(summary, sections), encoding="utf-8")
    return Path(path)
