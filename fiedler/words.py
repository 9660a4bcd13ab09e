"""Text for users: suggestions for misspelt names, text that is safe to show, and tables for notebooks."""

from __future__ import annotations

import difflib
import math
import unicodedata
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """``"did you mean 'x'? "``, or an empty string if no known name is similar.

    Examples
    --------
    >>> did_you_mean("laplcian", ["laplacian", "fisher"])
    "did you mean 'laplacian'? "
    """
    lowered = {k.lower(): k for k in known}
    close = difflib.get_close_matches(name.lower(), lowered, n=1, cutoff=cutoff)
    return f"did you mean {lowered[close[0]]!r}? " if close else ""


def first_line(error: Any) -> str:
    """The message of an error of another library, in one line.

    Examples
    --------
    >>> first_line(ValueError("no such thing.\\nand more"))
    'no such thing'
    """
    return str(error).strip().partition("\n")[0].rstrip(".")


def direction(greater_is_better: bool) -> str:
    """The direction of a score as text."""
    return "large is good" if greater_is_better else "small is good"


def value_text(value: float | None, levels: Sequence[str] = (), dates: bool = False) -> str:
    """A value of a feature as its table shows it: the level of a category, a date from days since 1970, or a number.

    Examples
    --------
    >>> value_text(1.0, ["red", "blue"]), value_text(19797.5, dates=True), value_text(12.0), value_text(None)
    ('blue', '2024-03-15 12:00', '12', 'missing')
    """
    if value is None or math.isnan(value):
        return "missing"
    if levels:
        return levels[round(value)]
    if not dates:
        return f"{value:.6g}"
    import numpy as np  # not before it must be

    return str(np.datetime64(round(1440 * value), "m")).replace("T", " ").removesuffix(" 00:00")


def html_table(title: str, rows: Sequence[Sequence[str]], header: Sequence[str] = ()) -> str:
    """A small table as HTML, every cell escaped; without a header the first cell of a row is its heading.

    Examples
    --------
    >>> html_table("a < b", [["rows", "3"]])
    "<table><caption>a &lt; b</caption><tbody><tr><th scope='row'>rows</th><td>3</td></tr></tbody></table>"
    """
    first = ("<td>", "</td>") if header else ("<th scope='row'>", "</th>")
    body = "".join(
        f"<tr>{first[0]}{escape(row[0])}{first[1]}{''.join(f'<td>{escape(cell)}</td>' for cell in row[1:])}</tr>"
        for row in rows
    )
    columns = "".join(f"<th scope='col'>{escape(name)}</th>" for name in header)
    head = f"<thead><tr>{columns}</tr></thead>" if header else ""
    return f"<table><caption>{escape(title)}</caption>{head}<tbody>{body}</tbody></table>"


def to_frame(table: dict[str, Any]) -> Any:
    """Columns as a pandas DataFrame."""
    try:
        import pandas as pd
    except ImportError:
        raise ImportError("frame() needs pandas; install it with: pip install 'fiedler[frames]'.") from None
    return pd.DataFrame(table)


def number(value: Any) -> float:
    """A number of a summary as a float.

    Examples
    --------
    >>> number(None), number("-inf"), number(2)
    (nan, -inf, 2.0)
    """
    return math.nan if value is None else float(value)


def printable(text: Any, longest: int | None = None) -> str:
    """Text on one line for a page, without control characters and characters that reverse the direction.

    Parameters
    ----------
    text : object
        The text.
    longest : int, optional
        Largest number of characters.

    Returns
    -------
    text : str
        The text with a mark in place of characters that cannot be shown.

    Examples
    --------
    >>> printable("a\\x00b\\n" + "c" * 50, longest=8)
    'a�b ccc…'
    """
    text = str(text)
    if not text.isprintable():
        # Controls, lone surrogates, unassigned code points, and what reorders the text around it.
        harmful = {c for c in text if unicodedata.category(c) in ("Cc", "Cs", "Cn") or c in _REORDERING}
        text = "".join(" " if c.isspace() else "�" if c in harmful else c for c in text)
    return text if longest is None or len(text) <= longest else text[: longest - 1] + "…"


_REORDERING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
