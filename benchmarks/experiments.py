"""What the pages about missing values and about noise share: options, and experiments that fill a page with tables."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from . import data
from .pages import DOCS, FOLDERS, fill, markdown, save_all

Tables = dict[str, tuple[list[str], list[list[str]]]]
Experiment = Callable[..., Tables]


def parser_of(name: str, experiments: Sequence[Experiment], about: str | None) -> argparse.ArgumentParser:
    """The options of ``python -m benchmarks.<name>``."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=about)
    parser.add_argument("--quick", action="store_true", help="small sizes, printed, no file written")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--only", choices=[experiment.__name__ for experiment in experiments], action="append")
    return parser


def options_of(parser: argparse.ArgumentParser, arguments: list[str] | None) -> Any:
    """The options of a command line; an error if the data sets are not there."""
    options = parser.parse_args(arguments)
    if data.folder() is None:
        parser.error("the papers' data sets are needed: set FIEDLER_DATA to their folder")
    return options


def run(name: str, experiments: Sequence[Experiment], options: Any, measured: Callable[[Experiment], Tables]) -> None:
    """Run the chosen experiments, and fill the page with their tables; with ``--quick`` print them instead."""
    page, start = DOCS / f"{name}.md", time.perf_counter()
    for experiment in experiments:
        if options.only and experiment.__name__ not in options.only:
            continue
        tables = measured(experiment)
        print(f"{experiment.__name__}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
        if not options.quick:
            save_all(FOLDERS[page], tables)
            continue
        for title, (header, rows) in tables.items():
            print(title, markdown([header, *rows]), sep="\n\n", end="\n\n")
    if not options.quick:
        fill(page)
