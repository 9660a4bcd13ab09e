"""Tables of results as CSV files, and the pages that show them; ``python -m benchmarks.pages`` fills the pages again.

People write a page in Markdown. The tables on it stand between two lines::

    <!-- table: name -->
    <!-- end -->

and are replaced by ``name.csv`` from the folder of the page. A program that measures writes CSV files and then fills
its page. Filling needs nothing but the committed files, so that a second run changes nothing. Where a paper prints a
table, ``printed/name.csv`` holds its numbers, and a cell reads "printed → computed".
"""

from __future__ import annotations

import argparse
import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent / "docs"
FOLDERS = {
    HERE / "RESULTS.md": HERE / "results",
    DOCS / "reproductions.md": HERE / "papers" / "results",
    DOCS / "which-method.md": HERE / "study" / "results",
    DOCS / "is-it-real.md": HERE / "significance" / "results",
    DOCS / "noise.md": HERE / "noise" / "results",
    DOCS / "holes.md": HERE / "holes" / "results",
    DOCS / "benchmark.md": HERE / "field" / "results",
    DOCS / "scaling.md": HERE / "scale" / "results",
    DOCS / "single-cells.md": HERE / "cells" / "results",
}
_TABLE = re.compile(r"<!-- table: (\S+) -->\n.*?<!-- end -->", re.DOTALL)
_NUMBER = re.compile(r"[-+−±]?[\d.]|–|< \d")  # how a cell of a right-aligned column begins

Table = list[list[str]]  # the header first


def number(value: float, digits: int = 3) -> str:
    """A number for a cell; a dash where there is none."""
    return f"{value:.{digits}f}" if value == value else "–"


def table(
    corner: str, columns: Iterable[Any], rows: Mapping[str, Iterable[Any]], digits: int = 3
) -> tuple[list[Any], list[list[Any]]]:
    """A header and rows by name; ``digits`` is the number of digits of values that are not integers."""
    cells = {name: [number(c, digits) if isinstance(c, float) else c for c in row] for name, row in rows.items()}
    return [corner, *columns], [[name, *row] for name, row in cells.items()]


def save(path: Path, header: Sequence[Any], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table; the file is replaced as a whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])
    part.replace(path)


def save_all(folder: Path, tables: Mapping[str, tuple[Sequence[Any], Iterable[Sequence[Any]]]]) -> None:
    """Write tables by name, each as its header and its rows."""
    for name, (header, rows) in tables.items():
        save(folder / f"{name}.csv", header, rows)


def load(path: Path) -> Table:
    """A table as it was written: cells are text."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def records(path: Path) -> list[dict[str, str]]:
    """The rows of a table by the names of its columns."""
    header, *rows = load(path)
    return [dict(zip(header, row, strict=True)) for row in rows]


def shown(folder: Path, name: str) -> Table:
    """A table as a page shows it: what a paper prints beside what was computed."""
    computed, printed = load(folder / f"{name}.csv"), folder.parent / "printed" / f"{name}.csv"
    if not printed.exists():
        return computed
    pairs = zip(load(printed)[1:], computed[1:], strict=True)
    rows = [
        [theirs[0], *(f"{p} → **{c}**" for p, c in zip(theirs[1:], ours[1:], strict=True))] for theirs, ours in pairs
    ]
    return [computed[0], *rows]


def markdown(table: Table) -> str:
    """A table in Markdown; columns of numbers are aligned on the right."""
    header, *rows = table
    right = [place > 0 and all(_NUMBER.match(row[place]) for row in rows) for place in range(len(header))]
    lines = [header, ["--:" if aligned else "---" for aligned in right], *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def filled(page: Path) -> str:
    """The text of a page with its tables as the CSV files have them."""

    def table(found: re.Match[str]) -> str:
        return f"<!-- table: {found[1]} -->\n\n{markdown(shown(FOLDERS[page], found[1]))}\n\n<!-- end -->"

    return _TABLE.sub(table, page.read_text(encoding="utf-8"))


def fill(page: Path) -> None:
    """Write the tables into a page."""
    page.write_text(filled(page), encoding="utf-8")
    print(f"filled {page}")


def save_figure(figure: Any, path: Path) -> None:
    """Write a figure as SVG without dates or random names, so that a second run writes the same."""
    import matplotlib

    path.parent.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context({"svg.hashsalt": "fiedler", "svg.fonttype": "none"}):
        figure.savefig(path, metadata={"Date": None})


def draw() -> None:
    """Draw the figures whose numbers are in tables."""
    from . import report
    from .papers.common import TITLES
    from .papers.figures import draw
    from .scale.__main__ import derive

    save_figure(report.ratio_figure(records(HERE / "results" / "ratios.csv")), HERE / "figures" / "ratios.svg")
    derive()
    for paper in TITLES:
        draw(paper)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pages", description=__doc__.partition("\n")[0])
    parser.add_argument("--figures", action="store_true", help="draw the figures again, too")
    if parser.parse_args().figures:
        draw()
    for page in FOLDERS:
        fill(page)


if __name__ == "__main__":
    main()
