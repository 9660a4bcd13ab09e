"""The one tool for speed: cases in turns, memory and first calls in fresh processes -> RESULTS.md.

The tables on scaling and on consistency are on record only: docs/scaling.md measures growth, tests/ the consistency.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fiedler import LaplacianScore

from . import contenders, data, isolated
from .cases import Case, cases
from .pages import HERE, fill, joined, load, records, results, save, save_figure
from .timing import Timing, interleaved, machine, peak_memory, seconds

Fact = tuple[str, str, str, str]  # what, measured, promised, "yes", "no" or a dash
HEADERS = {
    "machine": ["machine", ""],
    "ratios": ["work", "against", "theirs", "fiedler", "ratio", "promised", "met", "CPU theirs", "CPU fiedler", "runs"],
    "facts": ["what", "measured", "promised", "met"],
    "notes": ["work", "what the contenders returned"],
}


@dataclass
class Row:
    """One ratio: their best wall time over ours."""

    work: str
    against: str
    target: float
    floor: float
    theirs: Timing
    ours: Timing

    @property
    def ratio(self) -> float:
        return self.theirs.wall / self.ours.wall

    def cells(self) -> list[str]:
        promised, met = (f"{self.target:g}", _answer(self.ratio >= self.target)) if self.target else ("–", "–")
        times = map(_three, (self.theirs.wall, self.ours.wall, self.ratio))
        cpu = map(_three, (self.theirs.cpu, self.ours.cpu))
        return [self.work, self.against, *times, promised, met, *cpu, f"{self.theirs.runs} / {self.ours.runs}"]


@dataclass
class Run:
    """What was measured, and the time since the start."""

    rows: list[Row] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)  # work or contender, and what to know of it
    start: float = field(default_factory=time.perf_counter)

    def say(self, text: str) -> None:
        print(f"{time.perf_counter() - self.start:7.0f} s  {text}", flush=True)

    def measure(self, case: Case, share: float = 1.0) -> list[Row]:
        """Measure one case; a ``share`` below 1 shortens it for a quick run, without contenders that take minutes."""
        functions = {}
        for name, function in case.prepare().items():
            reason = contenders.missing(name)
            if reason is not None and (name, reason) not in self.notes:
                self.notes.append((name, reason))
            if reason is None and not (name in case.once and share < 1.0):
                functions[name] = function
        if len(functions) < 2:
            return []
        limits = {"seconds": share * case.seconds, "at_least": case.at_least}
        timings = interleaved(functions, once=case.once, factors=case.factors, **limits)
        failed = [name for name, timing in timings.items() if timing.failed is not None]
        self.notes += [(case.work, f"{name} left out: {timings.pop(name).failed}") for name in failed]
        checked = "" if failed else case.check({name: timing.value for name, timing in timings.items()})
        self.notes += [(case.work, checked)] if checked else []
        for name, function in functions.items() if case.size else ():
            peak, lean = peak_memory(function), case.name == "on_a_graph"  # scores on a graph need a tenth of X at most
            part, ours = peak / (8 * case.size), lean and name == "fiedler"
            told = f"{'' if lean else f'{_mib(peak)}, '}{part:.2f} of one n x m array"
            promised = ("a tenth at most", _answer(part <= 0.1)) if ours else ("–", "–")
            self.facts.append((f"peak of allocations, {case.work}: {name}", told, *promised))
        ours = timings.pop("fiedler")
        return [
            Row(case.work, name, case.targets[name], case.floor(name), each, ours) for name, each in timings.items()
        ]


def _answer(met: bool) -> str:
    return "yes" if met else "no"


def _mib(size: float) -> str:
    return f"{size / 2**20:,.0f} MiB"


def _three(value: float) -> str:
    """Three digits without an exponent."""
    return f"{float(f'{value:.3g}'):g}"


def _over(what: str, ours: float, theirs: float, most: float | None) -> Fact:
    """Our seconds over others, and whether that is at most what was promised."""
    measured = f"{ours:.3f} s / {theirs:.3f} s = {ours / theirs:.2f}"
    return (what, measured, f"{most} at most", _answer(ours <= most * theirs)) if most else (what, measured, "–", "–")


def _fact(what: str, promised: str, jobs: Sequence[Mapping[str, Any]], text: Callable, met: Callable) -> Fact:
    """What some jobs found, and whether that is what was promised."""
    failed = [job["failed"] for job in jobs if "failed" in job]
    return (what, f"failed: {failed[0]}", promised, "no") if failed else (what, text(), promised, _answer(met()))


def limits(run: Run) -> list[Fact]:
    """LS end to end beside the least any exact method must do."""
    X = data.gaussian(2000, 5000)
    single = X.astype(np.float32)
    work = {
        "one Gram product in float64": lambda: X @ X.T,
        "one in float32": lambda: single @ single.T,
        "one pass over X": lambda: X.sum(axis=0),
    }
    # Twenty seconds: the second thread waits for a core that is not always there.
    timings = interleaved({"LS": lambda: LaplacianScore().evaluate(X), **work}, seconds=20.0)
    ours, promised = timings["LS"].wall, {"one in float32": 2.2}
    return [_over(f"LS on 2,000 x 5,000 over {name}", ours, timings[name].wall, promised.get(name)) for name in work]


def memory(run: Run) -> list[Fact]:
    """Peak memory of the large problems, each in a process of its own."""
    jobs = (("wide",), ("kddcup", "0.5"), ("kddcup", "1"), ("news20",))
    wide, half, whole, news = (isolated.measure(*job) for job in jobs)

    def told(f: Mapping[str, Any]) -> str:
        return f"{f['rows']:,} rows: {f['wall']:.1f} s, {_mib(f['extra'])} extra, {_mib(f['resident'])} resident"

    def of_wide() -> str:
        beside = f"{wide['wall']:.1f} s, {_mib(wide['extra'])} beside a file of {_mib(wide['file'])}"
        return f"{beside} (resident with the file's pages: {_mib(wide['resident'])})"

    def of_news() -> str:
        times = ", ".join(f"{name} {taken:.1f} s" for name, taken in news["times"].items())
        return f"{_mib(news['resident'])} resident at most ({times})"

    return [
        _fact("LS on a memory-mapped 200 x 1,000,000 float32 file", "not read as a whole", [wide], of_wide,
              lambda: wide["extra"] < wide["file"] / 2),
        _fact("LS on kddcup, half and all of its rows", "completes, linear memory", [half, whole],
              lambda: f"{told(half)}; {told(whole)}", lambda: whole["extra"] < 3.0 * max(half["extra"], 2**26)),
        _fact("NEWS20 by LS, SPEC phi1-3, sSelect, C1-C4 on a kNN graph", "below 2 GiB", [news], of_news,
              lambda: news["resident"] < 2 * 2**30),
    ]  # fmt: skip


def many_cells(run: Run) -> list[Fact]:
    """Graphs of 50,000 x 20,000 generated cells beside scanpy's, each in a process of its own."""
    facts, promised = [], "1.5 x scanpy's time at most, below 4 GiB, recall at least .95"

    def told(f: Mapping[str, Any]) -> str:
        recall = "" if f.get("recall") is None else f", recall {f['recall']:.3f}"
        return f"{f['wall']:.1f} s, {_mib(f['resident'])} resident{recall}, {f['true']:.3f} of the true neighbours"

    def beside(f: Mapping[str, Any], them: Mapping[str, Any]) -> str:
        if "failed" in them:
            return f"{told(f)}; scanpy failed: {them['failed']}"
        return f"{told(f)}; scanpy {told(them)}: {f['wall'] / them['wall']:.2f} x its time"

    def met(f: Mapping[str, Any], them: Mapping[str, Any]) -> bool:
        fast, near = f["wall"] <= 1.5 * them.get("wall", np.inf), f["recall"] is None or f["recall"] >= 0.95
        return fast and near and f["resident"] < 4 * 2**30

    for k in (10, 5):
        them = isolated.measure("cells", "scanpy", 50_000, 20_000, k)
        for graph, name in (("X", f"KNN({k})"), ("components", f"KNN({k}, n_components=50)")):
            f = isolated.measure("cells", graph, 50_000, 20_000, k)
            what = f"{name} on generated cells, 50,000 x 20,000 with 5 % stored, beside scanpy's pca and neighbors"
            facts.append(_fact(what, promised, [f], partial(beside, f, them), partial(met, f, them)))
    return facts


def first_calls(run: Run) -> list[Fact]:
    """What the compiler costs on a new machine."""
    facts = []
    for kind in ("dense", "sparse"):
        with tempfile.TemporaryDirectory() as empty:
            cold, warm = (isolated.measure("first_call", kind, NUMBA_CACHE_DIR=empty) for _ in range(2))

        def told(f: Mapping[str, Any] = cold, then: Mapping[str, Any] = warm) -> str:
            over = f"{f['first']:.2f} s - {f['later']:.2f} s = {f['first'] - f['later']:.2f} s"
            return f"{over}; first call of the next process {then['first']:.2f} s"

        what = f"first call on a new machine over a warm one, LS {kind}"
        facts.append(
            _fact(what, "about 3 s at most", [cold, warm], told, lambda f=cold: f["first"] - f["later"] <= 3.5)
        )
    return facts


def _best(rounds: int, work: Mapping[str, Callable[[], float]]) -> dict[str, float]:
    """The best of several rounds in turns; the functions give seconds."""
    taken = [{name: run() for name, run in work.items()} for _ in range(rounds)]
    return {name: min(each[name] for each in taken) for name in work}


def imports(run: Run, rounds: int = 5) -> list[Fact]:
    """``import fiedler`` beside the part of scikit-learn it builds on."""
    reference, statements = (
        "import sklearn.feature_selection",
        ("import fiedler", "from fiedler import SpectralSelector"),
    )
    best = _best(rounds, {each: partial(isolated.import_time, each) for each in (*statements, reference)})
    return [_over(f"`{each}` over `{reference}`", best[each], best[reference], 1.3) for each in statements]


def commands(run: Run, rounds: int = 3, n: int = 1_000_000) -> list[Fact]:
    """The command line beside what it cannot do without: imports and reading."""
    import polars as pl

    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {f"f{j}": rng.normal(size=n).round(4) for j in range(8)}
    columns["class"] = np.array(["alpha", "beta", "gamma"])[rng.integers(3, size=n)]
    with tempfile.TemporaryDirectory() as folder:
        large, small = (f"{folder}/{name}.csv" for name in ("large", "small"))
        pl.DataFrame(columns).write_csv(large)
        pl.DataFrame(columns).head(199).write_csv(small)
        rank = [sys.executable, "-m", "fiedler", "rank", "--target", "class", "--quiet"]
        jobs = {
            "large": [*rank, large, "-m", "fisher"],
            "small": [*rank, small, "-m", "variance"],
            "read": [sys.executable, "-c", f"import sklearn, polars; polars.read_csv({large!r})"],
            "import": [sys.executable, "-c", "import sklearn"],
        }
        best = _best(rounds, {name: partial(isolated.run_time, command) for name, command in jobs.items()})
    what = "`fiedler rank` by Fisher, CSV of 1,000,000 x 8, over imports and reading"
    return [
        _over(what, best["large"], best["read"], 2.0),
        _over("`fiedler rank` of a small CSV over `import sklearn`", best["small"], best["import"], 1.2),
    ]


FACTS = (limits, memory, many_cells, first_calls, imports, commands)


def update(run: Run, **tables: Any) -> None:
    """Replace the rows of what was measured in the tables of the last full run, and fill RESULTS.md again."""
    order = {(case.work, against): at for at, (case, against) in enumerate((c, a) for c in cases() for a in c.targets)}
    new = {"facts": run.facts, "notes": run.notes, "ratios": [row.cells() for row in run.rows]}
    new["machine"] = [["ratios measured again", machine()[0][1]]]
    for name, rows in (new | tables).items():
        path = results("speed", name)
        header, rows = joined([] if name in tables else load(path), HEADERS[name], rows)
        if name == "ratios":
            rows = sorted((row for row in rows if tuple(row[:2]) in order), key=lambda row: order[row[0], row[1]])
        save(path, header, rows)
    draw()
    fill("speed")


def full(run: Run) -> int:
    """Everything, into RESULTS.md."""
    about = machine()
    for case in cases():
        for row in run.measure(case):
            run.rows.append(row)
            run.say(f"{row.work}, {row.against}: {row.ratio:.3g} x ({row.target:g})")
    for part in FACTS:
        run.say(part.__name__)
        run.facts += part(run)
    rows = [row.cells() for row in run.rows]
    whole = {"ratios": rows, "facts": run.facts, "notes": run.notes}
    whole["machine"] = [*about, ("minutes", f"{(time.perf_counter() - run.start) / 60.0:.0f}")]
    update(run, **whole)
    return 0


def some(run: Run, text: str) -> int:
    """The cases whose name contains a text; their rows in RESULTS.md are replaced after each case."""
    for case in (case for case in cases() if text in case.work):
        run.rows = run.measure(case)
        for row in run.rows:
            times = f"{row.theirs.wall:.3g} s over {row.ours.wall:.3g} s"
            run.say(f"{row.work}, {row.against}: {times} is {row.ratio:.3g} ({row.target:g})")
        update(run)
    return 0


def facts(run: Run) -> int:
    """Memory, limits, first calls and commands; their rows in RESULTS.md are replaced after each part."""
    for part in FACTS:
        run.say(part.__name__)
        run.facts += part(run)
        update(run)
    return 0


def quick(run: Run) -> int:
    """The quick cases against their floors; one that falls under is given two more chances before it counts."""
    failed = 0
    print(f"{'work':<44} {'against':<32} {'theirs':>9} {'fiedler':>9} {'ratio':>8} {'floor':>7}")
    for case in (case for case in cases() if case.quick):
        rows = run.measure(case, share=0.4)
        for _ in range(2):
            if any(row.ratio < row.floor for row in rows):
                rows = run.measure(case, share=0.99)
        for row in rows:
            under = row.ratio < row.floor
            failed += under
            print(
                f"{row.work:<44} {row.against:<32} {row.theirs.wall:>8.3g}s {row.ours.wall:>8.3g}s "
                f"{row.ratio:>7.2f}x {row.floor:>6.2f}x{'  UNDER' * under}",
                flush=True,
            )
    for what, measured, promised, answer in [*run.facts, *imports(run, 2)]:
        print(f"{what}: {measured} ({promised}: {answer})")
        failed += answer == "no"
    print(f"{failed} under the floor" if failed else "all ratios hold")
    return int(failed > 0)


def draw() -> None:
    """The figure of the ratios, from the committed table."""
    from matplotlib.figure import Figure

    rows = records(results("speed", "ratios"))
    figure = Figure(figsize=(8, 0.25 * len(rows) + 0.8), layout="constrained")
    axes, places = figure.subplots(), range(len(rows))
    colors = [{"yes": "tab:blue", "no": "tab:red"}.get(row["met"], "tab:gray") for row in rows]
    promised = [None if row["promised"] == "–" else float(row["promised"]) for row in rows]
    axes.barh(places, [float(row["ratio"]) - 1.0 for row in rows], left=1.0, color=colors, height=0.7)
    axes.scatter(promised, places, marker="|", s=90, color="black", zorder=3)
    axes.set(xscale="log", yticks=places, xlabel="times as fast as the contender; | is what was promised")
    axes.set_yticklabels([f"{row['work']}: {row['against']}" for row in rows], fontsize=8)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.axvline(1.0, color="black", linewidth=0.5)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    save_figure(figure, HERE / "figures" / "ratios.svg")


_SERVE = """import sys; sys.path.insert(0, {checkout!r}); import fiedler
sys.path.insert(0, {here!r}); from benchmarks.speed import serve; serve()"""


def serve() -> None:
    """Answer each line with the seconds of one run of the case of that number, by the ``fiedler`` of this process."""
    prepared: dict[str, Callable[[], Any]] = {}
    for number in map(str.strip, sys.stdin):
        try:
            if number not in prepared:
                prepared = {number: cases()[int(number)].prepare()["fiedler"]}  # one at a time: they hold their data
            print(seconds(prepared[number], 1), flush=True)
        except Exception as error:  # an older checkout may lack what a case needs
            print(f"{type(error).__name__}: {error}".replace("\n", " "), flush=True)


def checkouts(other: Path, text: str | None, limit: float) -> int:
    """The times of quick cases, or of those whose name contains a text, old and new in turns."""
    pipes, processes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}, {}
    with tempfile.TemporaryDirectory() as folder:  # compiled kernels of the two are kept apart
        for side, path in (("old", other.resolve()), ("new", HERE.parent)):
            command = [sys.executable, "-W", "ignore", "-c", _SERVE.format(checkout=str(path), here=str(HERE.parent))]
            kernels = {"NUMBA_CACHE_DIR": f"{folder}/{side}"}
            processes[side] = subprocess.Popen(command, env={**os.environ, **kernels}, **pipes)
        print(f"{'work':56} {'old':>9} {'new':>9}  ratio of medians, of bests")
        for number, case in enumerate(cases()):
            if not (case.quick if text is None else text in case.work):
                continue
            taken: dict[str, list[float]] = {"old": [], "new": []}
            start, failed, rounds = time.perf_counter(), "", 0
            while not failed and (rounds < 6 or (time.perf_counter() - start < limit and rounds < 60)):
                for side in ("old", "new") if rounds % 2 else ("new", "old"):
                    print(number, file=processes[side].stdin, flush=True)
                    answer = processes[side].stdout.readline().strip()
                    try:
                        taken[side].append(float(answer))
                    except ValueError:
                        failed = f"{side}: {answer}"
                rounds += 1
            middle, best = ({side: f(found[1:] or [np.nan]) for side, found in taken.items()} for f in (np.median, min))
            ratios = f"{middle['new'] / middle['old']:.2f}, {best['new'] / best['old']:.2f}"
            times = f"{1e3 * middle['old']:6.1f} ms {1e3 * middle['new']:6.1f} ms  {ratios}"
            print(f"{case.work:56} {failed or times}", flush=True)
        for process in processes.values():
            process.communicate()
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure speed, and write RESULTS.md.")
    parser.add_argument("--quick", action="store_true", help="a few ratios, exit code 1 if one falls under its floor")
    parser.add_argument("--only", metavar="TEXT", help="measure the cases whose name contains this text again")
    parser.add_argument("--facts", action="store_true", help="measure memory, limits, first calls and commands again")
    parser.add_argument(
        "--checkout", type=Path, metavar="PATH", help="times beside those of another checkout (--only: some)"
    )
    parser.add_argument("--seconds", type=float, default=10.0, help="for each row of --checkout")
    given, run = parser.parse_args(arguments), Run()
    if given.checkout:
        return checkouts(given.checkout, given.only, given.seconds)
    if given.facts:
        return facts(run)
    if given.only is not None:
        return some(run, given.only)
    return quick(run) if given.quick else full(run)
