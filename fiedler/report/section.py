"""One section of a report, described in one place: how it is computed, when it is shown, what it shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from ..words import number, printable
from .case import Case

LONGEST_NAME = 400  # characters of a name that the page shows when the pointer is on it


@dataclass(frozen=True)
class Section:
    """A section of the report.

    Only ``name`` and ``title`` are needed. A section without ``compute`` shows what others have put into the summary;
    one without ``template`` is in the summary, but not on the page.

    Parameters
    ----------
    name : str
        Its key in the summary and its id on the page.
    title : str
        Its heading.
    template : str
        Jinja2 text of its body on the page. It reads ``s``, the summary, and what ``view`` gives; values are escaped.
        ``figure(drawn, title, words)``, ``keys(items)`` and ``table(caption, heads, rows)`` are macros it may use.
    label : str, optional
        What the navigation calls it; by default ``title``.
    compute : callable, optional
        ``compute(case)`` gives what the summary holds under ``name``: dicts, lists, strings, numbers and None. A case
        has the fitted ``selector``, the ``problem`` with X and what is known about its rows, the ``names`` of the
        features, ``notes``, ``warn(kind, text)``, and ``once(compute)`` for what another section has computed.
    applies : callable, optional
        ``applies(summary)`` tells whether the page has this section; by default if ``summary[name]`` is not empty.
    view : callable, optional
        ``view(summary)`` gives words, rows of tables and figures for the template. A ``title`` in it replaces the
        heading.
    tiles : callable, optional
        ``tiles(summary)`` gives the cards of this section at the top of the page, each made by :func:`tile`.
    lines : callable, optional
        ``lines(summary, top)`` gives its lines in the report as text; ``top`` is how many features are listed.
    half : bool, default=False
        Whether it is so narrow that the section next to it in the table stands beside it on the page.
    """

    name: str
    title: str
    template: str = ""
    _: KW_ONLY
    label: str = ""
    compute: Callable[[Case], Any] | None = None
    applies: Callable[[dict[str, Any]], bool] | None = None
    view: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    tiles: Callable[[dict[str, Any]], list[dict[str, str]]] | None = None
    lines: Callable[[dict[str, Any], int], list[str]] | None = None
    half: bool = False


def always(summary: dict[str, Any]) -> bool:
    """The ``applies`` of a section that every report has."""
    return True


def has_part(section: Section, summary: dict[str, Any]) -> bool:
    """Whether the summary was made with this section, or the section computes nothing."""
    return section.compute is None or section.name in summary


def check_sections(sections: Sequence[Section]) -> None:
    """Raise if two sections have one name, or if a section is missing that the head of the page needs."""
    names = [section.name for section in sections]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"sections has two sections named {twice!r}; give each its own name.")
    missing = next((name for name in ("data", "run", "features") if name not in names), None)
    if missing is not None:
        raise ValueError(f"sections has no {missing!r}, which every report needs; start from fiedler.report.SECTIONS.")


def tile(label: str, value: str, detail: str = "", full: str = "") -> dict[str, str]:
    """A card at the top of the page; ``full`` is shown when the pointer is on it."""
    return {"label": label, "value": value, "detail": detail, "full": full[:LONGEST_NAME]}


# -------------------------------------------------------------------- numbers for readers


def short(value: Any, digits: int = 5) -> str:
    """A number for a reader.

    Examples
    --------
    >>> short(0.123456789), short(1234567), short(None), short("inf"), short(2.0)
    ('0.12346', '1,234,567', '–', 'inf', '2')
    """
    if value is None or isinstance(value, str):
        return value or "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:.{digits}g}"


def percent(value: Any) -> str:
    """A share for a reader.

    Examples
    --------
    >>> percent(0.256), percent(None)
    ('26 %', '–')
    """
    return "–" if value is None else f"{round(100 * number(value))} %"


def class_colours(labels: dict[str, Any]) -> list[str]:
    """The name of the colour of each class, the same in all figures; the eight largest classes have their own.

    Examples
    --------
    >>> class_colours({"kind": "classes", "classes": [["a", 2], ["b", 5]]})
    ['C0', 'C1']
    """
    sizes = [count for _, count in labels.get("classes", [])]
    largest = sorted(sorted(range(len(sizes)), key=lambda code: -sizes[code])[:8])
    colours = ["ink"] * len(sizes)
    for at, code in enumerate(largest):
        colours[code] = f"C{at}"
    return colours


def class_key(name: str, colour: str) -> tuple[str, str, str]:
    """An item of a legend: text, colour and shape."""
    return printable(name, 30), colour, "round"
