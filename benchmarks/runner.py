"""One way to run a study: cells (data set × method × seed ...), finished ones kept in a CSV file, and one command line.

An experiment is a function of :class:`Options`. It gives what its page shows by name: tables as a header and rows, and
figures. :meth:`Options.rows` measures the cells of an experiment. Each finished cell is written to ``raw/<name>.csv``
at once, so that a run that was stopped goes on, and a new method or data set costs its own cells only.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import joblib
from threadpoolctl import threadpool_limits

from . import data
from .pages import DOCS, HERE, fill, joined, load, markdown, records, results, save, save_figure

Found = dict[str, Any]  # (header, rows) or a figure, by name


@dataclass(frozen=True)
class Options:
    """How an experiment is run."""

    quick: bool = False  # small sizes, and no file is written or read
    jobs: int = 2  # processes
    again: str | None = None  # finished cells with this text in their names are measured again

    def map(self, measure: Callable[..., Any], cells: Sequence[tuple]) -> list[Any]:
        """What a function gives for every cell, in order."""
        return list(self._arriving(measure, cells))

    def rows(self, name: str, columns: str, measure: Callable[..., list[list]], cells: Sequence[tuple]) -> list[dict]:
        """Rows of all cells by the names of their columns, as text: those of a cell, then what ``measure`` gives.

        ``columns`` names them, separated by semicolons; the first of them are those of the cell.
        """
        header, path, start = columns.split(";"), HERE / "raw" / f"{name}.csv", time.perf_counter()
        key = header[: len(cells[0])]
        kept = [] if self.quick else records(path)
        done = {tuple(row[part] for part in key) for row in kept}
        done = {cell for cell in done if self.again is None or self.again not in " ".join(cell)}
        todo = [cell for cell in cells if tuple(map(str, cell)) not in done]
        for cell, found in zip(todo, self._arriving(measure, todo), strict=True):
            mine = tuple(map(str, cell))
            new = [[*mine, *(f"{v:.6g}" if isinstance(v, float) else str(v) for v in row)] for row in found]
            kept = [row for row in kept if tuple(row[part] for part in key) != mine]
            kept += [dict(zip(header, row, strict=True)) for row in new]
            if not self.quick:
                save(path, header, (row.values() for row in kept))
                print(f"{time.perf_counter() - start:6.0f} s  {name}: {', '.join(mine)}", file=sys.stderr, flush=True)
        wanted = {tuple(map(str, cell)) for cell in cells}
        return [row for row in kept if tuple(row[part] for part in key) in wanted]

    def _arriving(self, measure: Callable[..., Any], cells: Sequence[tuple]) -> Iterator[Any]:
        with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
            parallel = joblib.Parallel(n_jobs=self.jobs, batch_size=1, return_as="generator")
            yield from parallel(joblib.delayed(_alone)(measure, *cell) for cell in cells)


def _alone(measure: Callable[..., Any], *cell: Any) -> Any:
    with threadpool_limits(1), warnings.catch_warnings():  # the same sums in the same order for any number of jobs
        warnings.simplefilter("ignore")
        return measure(*cell)


def main(study: str, experiments: Sequence[Callable[[Options], Found]], arguments: list[str] | None = None) -> bool:
    """``python -m benchmarks.<study>``: measure, write tables and figures, fill the page; whether it did so."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{study}", description=main.__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, printed, no file written")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument(
        "--again", metavar="TEXT", help="measure the finished cells with this text in their names again"
    )
    parser.add_argument("--only", choices=[each.__name__ for each in experiments], action="append")
    given = parser.parse_args(arguments)
    if data.folder() is None:
        parser.error("the papers' data sets are needed: set FIEDLER_DATA to their folder")
    start, options = time.perf_counter(), Options(given.quick, given.jobs, given.again)
    for experiment in experiments:
        if not given.only or experiment.__name__ in given.only:
            write(study, experiment(options), given.quick)
            print(f"{experiment.__name__}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    if not given.quick:
        fill(study)
    return not given.quick


def write(study: str, found: Found, quick: bool) -> None:
    """Write tables and figures; a quick run prints the tables instead."""
    for name, made in found.items():
        if not isinstance(made, tuple):
            if not quick:
                save_figure(made, DOCS / "figures" / f"{name}.svg")
            continue
        header, rows = made[0], [list(row) for row in made[1]]
        if quick:
            print(name, markdown([header, *rows]), sep="\n\n", end="\n\n")
            continue
        path = results(study, name)
        save(path, *joined(load(path) if path.exists() else [], header, rows))
