"""``python -m benchmarks.holes``: measure, write the tables and fill docs/holes.md."""

from __future__ import annotations

from ..experiments import options_of, parser_of, run
from .experiments import EXPERIMENTS


def main(arguments: list[str] | None = None) -> None:
    options = options_of(parser_of("holes", EXPERIMENTS, __doc__), arguments)
    run("holes", EXPERIMENTS, options, lambda experiment: experiment(options.quick, options.jobs))


if __name__ == "__main__":
    main()
