"""The HTML page of a report: the head, the navigation, and the body of every section that applies.

The templates escape every value. Only the figures, which were serialised as XML, and the style sheet and script of the
library are inserted without escaping. The security policy of the page contains the hash of this script, so that a
browser runs no other script.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from ..words import printable
from .data import data_words
from .section import Section, Summary, has_part

_FOLDER = Path(__file__).parent / "templates"


def page(summary: Summary, sections: Sequence[Section]) -> str:
    """The complete page."""
    environment = _environment()
    from markupsafe import Markup

    s, there, tiles, cards = _shown(summary), [], [], []
    for section in sections:
        applies = section.applies(s) if section.applies else s.get(section.name)
        if section.template and has_part(section, s) and applies:
            values = section.view(s) if section.view else {}
            body = Markup(environment.from_string(section.template).render(s=s, **values).strip())
            there.append(section)
            tiles += section.tiles(s) if section.tiles else []
            cards.append({"name": section.name, "title": values.get("title", section.title), "body": body})
    script = _FOLDER.joinpath("report.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    halves = groupby(zip(there, cards, strict=True), lambda item: item[0].half)
    text = environment.get_template("report.html.j2").render(
        s=s,
        title=title_of(s),
        words=data_words(s["data"]),
        tiles=tiles,
        sections=there,
        rows=[(half, [card for _, card in group]) for half, group in halves],
        js=Markup(script),
        script_hash=Markup(f"'sha256-{digest}'"),
    )
    return text.strip() + "\n"


def title_of(s: Summary) -> str:
    """What was found, in one line: how many features are selected, and for a set how many would be enough."""
    title = f"{s['run']['n_selected']:,} of {s['data']['n_features']:,} features selected"
    rules = {item["rule"]: item["n_features"] for item in s.get("suggestions") or ()}
    enough = rules.get("explained")
    if enough is None:
        return title
    if enough == s["run"]["n_selected"]:
        return f"{title}; they explain 90 %"
    words = "would explain" if enough < s["run"]["n_selected"] else "are needed to explain"
    return f"{title}; {enough:,} {words} 90 %"


def _environment() -> Any:
    """Jinja2 with escaping on, and the macros that every section may use."""
    try:
        import jinja2
        import matplotlib  # noqa: F401
    except ImportError as error:
        message = f"the HTML report needs {error.name}; install it with: pip install 'fiedler[report]'."
        raise ImportError(message) from None
    rules: dict[str, Any] = {"trim_blocks": True, "lstrip_blocks": True, "undefined": jinja2.ChainableUndefined}
    environment = jinja2.Environment(autoescape=True, loader=jinja2.FileSystemLoader(_FOLDER), **rules)
    macros: Any = environment.get_template("macros.html.j2").module
    environment.globals |= {name: getattr(macros, name) for name in ("figure", "keys", "table")}
    return environment


def _shown(value: Any) -> Any:
    """The summary with every text made printable."""
    if isinstance(value, dict):
        return {key: _shown(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_shown(item) for item in value]
    return printable(value) if isinstance(value, str) else value
