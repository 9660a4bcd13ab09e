"""``python -m benchmarks.noise``: measure, write the tables and fill docs/noise.md."""

from __future__ import annotations

from ..experiments import Experiment, Tables, options_of, parser_of, run
from ..pages import DOCS, FOLDERS, load
from .contenders import FREE
from .experiments import EXPERIMENTS, planted_structures, real_sets


def joined(old: list[list[str]], new: tuple[list[str], list[list[str]]]) -> tuple[list[str], list[list[str]]]:
    """A table with the rows or the columns of some methods replaced or added, in the order of ``FREE``."""
    header, rows = new
    if header == old[0]:  # a row for each method, or nothing about methods
        found = {row[0]: row for row in [*old[1:], *rows]}
        places = {name: place for place, name in enumerate(FREE)}
        return header, sorted(found.values(), key=lambda row: places.get(row[0], 0))
    columns = dict(zip(old[0], zip(*old[1:], strict=True), strict=True))
    columns |= dict(zip(header, zip(*rows, strict=True), strict=True))
    names = [name for name in (*header[:2], *FREE, *header[-2:]) if name in columns]
    return names, [list(row) for row in zip(*(columns[name] for name in names), strict=True)]


def main(arguments: list[str] | None = None) -> None:
    parser = parser_of("noise", EXPERIMENTS, __doc__)
    parser.add_argument(
        "--methods", nargs="+", choices=list(FREE), help="measure these only, and keep the numbers of all others"
    )
    options = options_of(parser, arguments)
    if not options.methods:
        run("noise", EXPERIMENTS, options, lambda experiment: experiment(options.quick, options.jobs))
        return

    def some_methods(experiment: Experiment) -> Tables:
        tables = experiment(options.quick, options.jobs, tuple(options.methods))
        if options.quick:
            return tables
        folder = FOLDERS[DOCS / "noise.md"]
        return {name: joined(load(folder / f"{name}.csv"), table) for name, table in tables.items()}

    run("noise", (planted_structures, real_sets), options, some_methods)  # the experiments that compare methods


if __name__ == "__main__":
    main()
