"""Tables of results as CSV files, and the pages that show them; ``python -m benchmarks.pages`` fills the pages again.

People write a page in Markdown. The tables on it stand between two lines::

    <!-- table: name -->
    <!-- end -->

and are replaced by ``results/<study>/name.csv``. Filling needs nothing but the committed files, so that a second run
changes nothing. Where a paper prints a table, ``papers/printed/name.csv`` holds its numbers, and a cell reads
"printed → computed".
"""

from __future__ import annotations

import argparse
import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
DOCS, PRINTED = HERE.parent / "docs", HERE / "papers" / "printed"
_PAPERS = ("sselect", "spec", "ssls", "constraints", "evsc")
PAGES = {  # by the name of the study, whose tables are in results/<name>; the pages of its parts are <name>/<part>
    "speed": HERE / "RESULTS.md",
    "papers": DOCS / "reproductions.md",
    **{f"papers/{paper}": DOCS / "reproductions" / f"{paper}.md" for paper in _PAPERS},
    "study": DOCS / "which-method.md",
    "significance": DOCS / "is-it-real.md",
    "noise": DOCS / "noise.md",
    "holes": DOCS / "holes.md",
    "field": DOCS / "benchmark.md",
    "scale": DOCS / "scaling.md",
    "cells": DOCS / "single-cells.md",
    "spatial": DOCS / "spatial.md",
}
_TABLE = re.compile(r"<!-- table: (\S+) -->\n.*?<!-- end -->", re.DOTALL)
_NUMBER = re.compile(r"[-+−±]?[\d.]|–|< \d")  # how a cell of a right-aligned column begins

Table = list[list[str]]  # the header first


def results(study: str, name: str) -> Path:
    """The file of a table."""
    return HERE / "results" / study / f"{name}.csv"


def number(value: float, digits: int = 3) -> str:
    """A number for a cell; a dash where there is none."""
    return f"{value:.{digits}f}" if value == value else "–"


def share(value: float, digits: int = 3) -> str:
    """.95 rather than 0.95; a dash where there is none."""
    return number(value, digits).lstrip("0") if 0 <= value < 1 else number(value, digits)


def table(
    corner: str, columns: Iterable[Any], rows: Mapping[str, Iterable[Any]], digits: int = 3
) -> tuple[list[Any], list[list[Any]]]:
    """A header and rows by name; ``digits`` is the number of digits of values that are not integers."""
    cells = {name: [number(c, digits) if isinstance(c, float) else c for c in row] for name, row in rows.items()}
    return [corner, *columns], [[name, *row] for name, row in cells.items()]


def save(path: Path, header: Sequence[Any], rows: Iterable[Iterable[Any]]) -> None:
    """Write a table; the file is replaced as a whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])
    part.replace(path)


def load(path: Path) -> Table:
    """A table as it was written: cells are text."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def records(path: Path) -> list[dict[str, str]]:
    """The rows of a table by the names of its columns; none where there is no file."""
    header, *rows = load(path) if path.exists() else [[]]
    return [dict(zip(header, row, strict=True)) for row in rows]


def joined(record: Table, header: Sequence[Any], rows: Iterable[Sequence[Any]]) -> tuple[list[str], list[list[str]]]:
    """A table with what a run did not measure and the record has: rows with other names, columns of other methods.

    The name of a row is as many of its first cells as are needed to tell rows apart. A table with other columns than
    the record is taken as it is; to drop a row for good, delete it from the file.
    """
    new, table = list(map(str, header)), [list(map(str, row)) for row in rows]
    if not record or not set(new) <= set(record[0]) or (new != record[0] and len(set(record[0])) < len(record[0])):
        return new, table
    key = next(k for k in range(1, len(new) + 1) if len({tuple(row[:k]) for row in record[1:]}) == len(record) - 1)
    found = {tuple(row[:key]): row for row in record[1:]}
    for row in table:
        old, mine = found.get(tuple(row[:key])), dict(zip(new, row, strict=True))
        known = dict(zip(record[0], old, strict=True)) if old else dict.fromkeys(record[0], "–")
        found[tuple(row[:key])] = row if new == record[0] else list((known | mine).values())
    return record[0], list(found.values())


def shown(computed: Path, printed: Path) -> Table:
    """A table as a page shows it: what a paper prints beside what was computed."""
    ours = load(computed)
    if not printed.exists():
        return ours
    pairs = zip(load(printed)[1:], ours[1:], strict=True)
    rows = [[p[0], *(f"{a} → **{b}**" for a, b in zip(p[1:], c[1:], strict=True))] for p, c in pairs]
    return [ours[0], *rows]


def markdown(table: Table) -> str:
    """A table in Markdown; columns of numbers are aligned on the right."""
    header, *rows = [[str(cell) for cell in line] for line in table]
    right = [place > 0 and all(_NUMBER.match(row[place]) for row in rows) for place in range(len(header))]
    lines = [header, ["--:" if aligned else "---" for aligned in right], *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def filled(page: str) -> str:
    """The text of a page with its tables as the CSV files have them."""
    study = page.partition("/")[0]

    def table(found: re.Match[str]) -> str:
        name = found[1]
        text = markdown(shown(results(study, name), PRINTED / f"{name}.csv" if study == "papers" else Path("none")))
        return f"<!-- table: {name} -->\n\n{text}\n\n<!-- end -->"

    return _TABLE.sub(table, PAGES[page].read_text(encoding="utf-8"))


def fill(study: str) -> None:
    """Write the tables into the pages of a study."""
    for page in (page for page in PAGES if page.partition("/")[0] == study):
        PAGES[page].write_text(filled(page), encoding="utf-8")
        print(f"filled {PAGES[page]}")


def save_figure(figure: Any, path: Path) -> None:
    """Write a figure as SVG without dates or random names, so that a second run writes the same."""
    import matplotlib

    path.parent.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context({"svg.hashsalt": "fiedler", "svg.fonttype": "none"}):
        figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pages", description=__doc__.partition("\n")[0])
    parser.add_argument("--figures", action="store_true", help="draw the figures again, too")
    if parser.parse_args().figures:
        from . import scale, speed
        from .registry import figures

        speed.draw()
        scale.derive()
        figures.draw()
    from .papers.common import derived

    for name, made in derived().items():
        save(results("papers", name), *made)
    for study in dict.fromkeys(page.partition("/")[0] for page in PAGES):
        fill(study)


if __name__ == "__main__":
    main()
