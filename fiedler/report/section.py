"""The description of one section of a report: how it is computed, when it is shown, and what it shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from ..words import number, printable
from .case import Case

Summary = dict[str, Any]  # a summary, or a part of it
LONGEST_NAME = 400  # length of a name that the page shows under the pointer


@dataclass(frozen=True)
class Section:
    """A section of the report.

    Only ``name`` and ``title`` are required. A section without ``compute`` shows parts of the summary that other
    sections computed. A section without ``template`` is in the summary, but not on the page.

    Parameters
    ----------
    name : str
        The key of the section in the summary and its id on the page.
    title : str
        The heading.
    template : str
        Jinja2 template of the body. It reads the summary ``s`` and the result of ``view``; values are escaped. It may
        use the macros ``figure(drawn, title, words)``, ``keys(items)`` and ``table(caption, heads, rows)``.
    label : str, optional
        The name in the navigation; by default ``title``.
    compute : callable, optional
        ``compute(case)`` returns the part of the summary under ``name``: dicts, lists, strings, numbers and None. A
        case has the fitted ``selector``, the ``problem`` with X, labels and pairs, the ``names`` of the features,
        ``notes``, ``warn(kind, text)``, and ``once(compute)`` for the result of another section.
    applies : callable, optional
        ``applies(summary)`` states whether the page shows this section; by default if ``summary[name]`` is not empty.
    view : callable, optional
        ``view(summary)`` gives words, rows of tables and figures for the template. A ``title`` in it replaces the
        heading.
    tiles : callable, optional
        ``tiles(summary)`` gives the cards of this section at the top of the page, each made by :func:`tile`.
    lines : callable, optional
        ``lines(summary, top)`` gives the lines of the text report; ``top`` is the number of features to list.
    half : bool, default=False
        Whether the section takes half of the width, so that its neighbour in the table is shown next to it.
    """

    name: str
    title: str
    template: str = ""
    _: KW_ONLY
    label: str = ""
    compute: Callable[[Case], Any] | None = None
    applies: Callable[[Summary], bool] | None = None
    view: Callable[[Summary], Summary] | None = None
    tiles: Callable[[Summary], list[dict[str, str]]] | None = None
    lines: Callable[[Summary, int], list[str]] | None = None
    half: bool = False


def built_in(
    name: str, title: str, compute: Any = None, view: Any = None, tiles: Any = None, lines: Any = None, **others: Any
) -> Section:
    """A section of this room, whose template is the file of its name."""
    template = f'{{% include "{name}.html.j2" %}}'
    return Section(name, title, template, compute=compute, view=view, tiles=tiles, lines=lines, **others)


def always(summary: Summary) -> bool:
    """The ``applies`` of a section that every report shows."""
    return True


def has_part(section: Section, summary: Summary) -> bool:
    """Whether the summary contains this section, or the section computes nothing."""
    return section.compute is None or section.name in summary


def check_sections(sections: Sequence[Section]) -> None:
    """Raise an error if two sections have the same name, or if a section for the head of the page is missing."""
    names = [section.name for section in sections]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"sections has two sections named {name!r}; give each its own name.")
    for name in ("data", "run", "features"):
        if name not in names:
            raise ValueError(f"sections has no {name!r}, which every report needs; start from fiedler.report.SECTIONS.")


def tile(label: str, value: str, detail: str = "", full: str = "") -> dict[str, str]:
    """A card at the top of the page; ``full`` is shown under the pointer."""
    return {"label": label, "value": value, "detail": detail, "full": full[:LONGEST_NAME]}


# -------------------------------------------------------------------- numbers for readers


def short(value: Any, digits: int = 5) -> str:
    """A number as readable text.

    Examples
    --------
    >>> short(0.123456789), short(1234567), short(None), short("inf"), short(2.0)
    ('0.12346', '1,234,567', '–', 'inf', '2')
    """
    if value is None or isinstance(value, str):
        return value or "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:.{digits}g}"


def percent(value: Any) -> str:
    """A share as a percentage.

    Examples
    --------
    >>> percent(0.256), percent(None)
    ('26 %', '–')
    """
    return "–" if value is None else f"{round(100 * number(value))} %"


def class_colours(labels: Summary) -> list[str]:
    """The name of the colour of each class, equal in all figures; the eight largest classes have their own colour.

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
