"""``python -m benchmarks`` measures everything and writes RESULTS.md; ``--quick`` guards the ratios in two minutes."""

from __future__ import annotations

import argparse
import sys
import time

from . import consistency, measure, report, scaling
from .cases import cases


def quick(results: measure.Results) -> int:
    """The quick cases against their floors; one that falls under is given two more chances before it counts."""
    failed = 0
    print(f"{'work':<44} {'against':<32} {'theirs':>9} {'fiedler':>9} {'ratio':>8} {'floor':>7}")
    for case in (case for case in cases() if case.quick):
        rows = measure.run_case(case, results, share=0.4)
        for _ in range(2):
            if any(row.ratio < row.floor for row in rows):
                rows = measure.run_case(case, results, share=0.99)
        for row in rows:
            under = row.ratio < row.floor
            failed += under
            print(
                f"{row.work:<44} {row.against:<32} {row.theirs.wall:>8.3g}s {row.ours.wall:>8.3g}s "
                f"{row.ratio:>7.2f}x {row.floor:>6.2f}x{'  UNDER' * under}",
                flush=True,
            )
    for what, measured, promised, answer in [*results.facts, *measure.imports(2)]:
        print(f"{what}: {measured} ({promised}: {answer})")
        failed += answer == "no"
    print(f"{failed} under the floor" if failed else "all ratios hold")
    return int(failed > 0)


def some(results: measure.Results, text: str) -> int:
    """The cases whose name contains a text; their rows in RESULTS.md are replaced after each case."""
    for case in (case for case in cases() if text in case.work):
        results.rows = measure.run_case(case, results)
        for row in results.rows:
            times = f"{row.theirs.wall:.3g} s over {row.ours.wall:.3g} s"
            print(f"{row.work}, {row.against}: {times} is {row.ratio:.3g} ({row.target:g})", flush=True)
        report.update(results)
    return 0


def facts(results: measure.Results) -> int:
    """Memory, limits, first calls and commands; their rows in RESULTS.md are replaced after each part."""
    progress = _progress()
    for part in (measure.limits, measure.memory, measure.many_cells, measure.first_calls, measure.commands):
        results.facts += part() if part is measure.limits else part(progress)
        report.update(results)
    results.facts += measure.imports()
    report.update(results)
    return 0


def _progress() -> measure.Progress:
    start = time.perf_counter()
    return lambda text: print(f"{time.perf_counter() - start:7.0f} s  {text}", flush=True)


def full(results: measure.Results) -> int:
    """Everything, into RESULTS.md."""
    start, progress = time.perf_counter(), _progress()
    results.machine = report.machine()
    for case in cases():
        for row in measure.run_case(case, results):
            results.rows.append(row)
            progress(f"{row.work}, {row.against}: {row.ratio:.3g} x ({row.target:g})")
    progress("limits")
    results.facts += measure.limits()
    results.facts += measure.memory(progress)
    results.facts += measure.many_cells(progress)
    results.facts += measure.first_calls(progress)
    results.facts += measure.imports()
    results.facts += measure.commands(progress)
    results.curves = scaling.curves(progress)
    progress("consistency")
    results.consistency = consistency.differences()
    results.minutes = (time.perf_counter() - start) / 60.0
    report.write(results)
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few ratios, exit code 1 if one falls under its floor")
    parser.add_argument("--only", metavar="TEXT", help="measure the cases whose name contains this text again")
    parser.add_argument("--facts", action="store_true", help="measure memory, limits, first calls and commands again")
    given, results = parser.parse_args(), measure.Results()
    if given.facts:
        return facts(results)
    if given.only is not None:
        return some(results, given.only)
    return quick(results) if given.quick else full(results)


if __name__ == "__main__":
    sys.exit(main())
