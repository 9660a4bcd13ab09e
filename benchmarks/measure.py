"""Runs the cases and collects rows of ratios and other facts; knows nothing about how they are shown."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fiedler import LaplacianScore

from . import contenders, data, isolated
from .cases import Case
from .scaling import Curve
from .timing import Timing, interleaved, peak_memory

Progress = Callable[[str], None]
Fact = tuple[str, str, str, str]  # what, measured, promised, "yes", "no" or a dash


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

    @property
    def met(self) -> bool:
        return self.ratio >= self.target


@dataclass
class Results:
    """Everything one run measured."""

    machine: list[tuple[str, str]] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)
    consistency: list[tuple[str, str, float, float]] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)  # work or contender, and what to know of it
    minutes: float = 0.0


def run_case(case: Case, results: Results, share: float = 1.0) -> list[Row]:
    """Measure one case; a ``share`` below 1 shortens it for a quick run, without the contenders that take minutes."""
    functions = {}
    for name, function in case.prepare().items():
        if name in case.once and share < 1.0:
            continue
        reason = contenders.missing(name)
        if reason is None:
            functions[name] = function
        elif (name, reason) not in results.notes:
            results.notes.append((name, reason))
    if len(functions) < 2:
        return []
    timings = interleaved(
        functions,
        seconds=share * case.seconds,
        once=case.once,
        at_least=case.at_least,
        factors=case.factors,
    )
    failed = [name for name, timing in timings.items() if timing.failed is not None]
    results.notes += [(case.work, f"{name} left out: {timings.pop(name).failed}") for name in failed]
    checked = "" if failed else case.check({name: timing.value for name, timing in timings.items()})
    if checked:
        results.notes.append((case.work, checked))
    if case.size:
        results.facts += [_extra_memory(case, name, function) for name, function in functions.items()]
    ours = timings.pop("fiedler")
    return [
        Row(case.work, name, case.targets[name], case.floor(name), theirs, ours) for name, theirs in timings.items()
    ]


def _extra_memory(case: Case, name: str, function: Callable[[], Any]) -> Fact:
    peak = peak_memory(function)
    share, ours = peak / (8 * case.size), name == "fiedler" and case.lean
    return (
        f"peak of allocations, {case.work}: {name}",
        f"{share:.2f} of one n x m array" if case.lean else f"{_mib(peak)}, {share:.2f} of one n x m array",
        "a tenth at most" if ours else "–",
        _answer(share <= 0.1) if ours else "–",
    )


def _answer(met: bool) -> str:
    return "yes" if met else "no"


def _mib(size: float) -> str:
    return f"{size / 2**20:,.0f} MiB"


# -------------------------------------------------------------------- facts that are not ratios


def limits() -> list[Fact]:
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


def _over(what: str, ours: float, theirs: float, most: float | None) -> Fact:
    """Our seconds over others, and whether that is at most what was promised."""
    measured = f"{ours:.3f} s / {theirs:.3f} s = {ours / theirs:.2f}"
    return (what, measured, f"{most} at most", _answer(ours <= most * theirs)) if most else (what, measured, "–", "–")


def _best(rounds: int, work: Mapping[str, Callable[[], float]]) -> dict[str, float]:
    """The best of several rounds in turns; the functions give seconds."""
    taken = [{name: run() for name, run in work.items()} for _ in range(rounds)]
    return {name: min(each[name] for each in taken) for name in work}


def memory(progress: Progress) -> list[Fact]:
    """Peak memory of the large problems, each in a process of its own."""
    facts = []
    progress("memory: 200 x 1,000,000 float32 from a mapped file")
    wide = isolated.measure("wide")
    facts.append(
        _fact(
            "LS on a memory-mapped 200 x 1,000,000 float32 file",
            wide,
            lambda f: (
                f"{f['wall']:.1f} s, {_mib(f['extra'])} beside a file of {_mib(f['file'])} "
                f"(resident with the file's pages: {_mib(f['resident'])})"
            ),
            "not read as a whole",
            lambda f: f["extra"] < f["file"] / 2,
        )
    )
    progress("memory: kddcup")
    half, whole = isolated.measure("kddcup", "0.5"), isolated.measure("kddcup", "1")
    both = {"half": half, "whole": whole, **{key: f[key] for f in (half, whole) for key in f if key == "failed"}}
    facts.append(
        _fact(
            "LS on kddcup, half and all of its rows",
            both,
            lambda f: "; ".join(
                f"{part['rows']:,} rows: {part['wall']:.1f} s, {_mib(part['extra'])} extra, "
                f"{_mib(part['resident'])} resident"
                for part in (f["half"], f["whole"])
            ),
            "completes, linear memory",
            lambda f: f["whole"]["extra"] < 3.0 * max(f["half"]["extra"], 2**26),
        )
    )
    progress("memory: NEWS20, all methods")
    facts.append(
        _fact(
            "NEWS20 by LS, SPEC phi1-3, sSelect, C1-C4 on a kNN graph",
            isolated.measure("news20"),
            lambda f: (
                f"{_mib(f['resident'])} resident at most ("
                + ", ".join(f"{name} {taken:.1f} s" for name, taken in f["times"].items())
                + ")"
            ),
            "below 2 GiB",
            lambda f: f["resident"] < 2 * 2**30,
        )
    )
    return facts


def many_cells(progress: Progress) -> list[Fact]:
    """Graphs of 50,000 x 20,000 generated cells beside scanpy's, each in a process of its own."""
    facts, theirs = [], dict[str, Any]()
    for k in ("10", "5"):
        progress(f"cells: 50,000 x 20,000, {k} neighbours")
        theirs = isolated.measure("cells", "scanpy", "50000", "20000", k)
        for graph, name in (("X", f"KNN({k})"), ("components", f"KNN({k}, n_components=50)")):
            ours = isolated.measure("cells", graph, "50000", "20000", k)
            facts.append(
                _fact(
                    f"{name} on generated cells, 50,000 x 20,000 with 5 % stored, beside scanpy's pca and neighbors",
                    ours,
                    lambda f, theirs=theirs: _beside(f, theirs),
                    "1.5 x scanpy's time at most, below 4 GiB, recall at least .95",
                    lambda f, theirs=theirs: (
                        f["wall"] <= 1.5 * theirs.get("wall", np.inf)
                        and f["resident"] < 4 * 2**30
                        and (f["recall"] is None or f["recall"] >= 0.95)
                    ),
                )
            )
    return facts


def _beside(ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    recall = "" if ours["recall"] is None else f", recall {ours['recall']:.3f}"
    told = f"{ours['wall']:.1f} s, {_mib(ours['resident'])} resident{recall}, {ours['true']:.3f} of the true neighbours"
    if "failed" in theirs:
        return f"{told}; scanpy failed: {theirs['failed']}"
    them = f"{theirs['wall']:.1f} s, {_mib(theirs['resident'])} resident, {theirs['true']:.3f} of the true neighbours"
    return f"{told}; scanpy {them}: {ours['wall'] / theirs['wall']:.2f} x its time"


def first_calls(progress: Progress) -> list[Fact]:
    """What the compiler costs on a new machine."""
    facts = []
    for kind in ("dense", "sparse"):
        progress(f"first call, {kind}")
        with tempfile.TemporaryDirectory() as empty:
            cold = isolated.measure("first_call", kind, NUMBA_CACHE_DIR=empty)
            warm = isolated.measure("first_call", kind, NUMBA_CACHE_DIR=empty)
        both = {**cold, "cached": warm.get("first"), "over": cold.get("first", 0) - cold.get("later", 0)}
        facts.append(
            _fact(
                f"first call on a new machine over a warm one, LS {kind}",
                both,
                lambda f: (
                    f"{f['first']:.2f} s - {f['later']:.2f} s = {f['over']:.2f} s; "
                    f"first call of the next process {f['cached']:.2f} s"
                ),
                "about 3 s at most",
                lambda f: f["over"] <= 3.5,
            )
        )
    return facts


def imports(rounds: int = 5) -> list[Fact]:
    """``import fiedler`` beside the part of scikit-learn it builds on."""
    reference = "import sklearn.feature_selection"
    statements = ("import fiedler", "from fiedler import SpectralSelector")
    best = _best(
        rounds, {statement: partial(isolated.import_time, statement) for statement in (*statements, reference)}
    )
    return [
        _over(f"`{statement}` over `{reference}`", best[statement], best[reference], 1.3) for statement in statements
    ]


def commands(progress: Progress, rounds: int = 3) -> list[Fact]:
    """The command line beside what it cannot do without: imports and reading."""
    progress("commands")
    with tempfile.TemporaryDirectory() as folder:
        large, small = isolated.tables(Path(folder))
        rank = [*isolated.FIEDLER, "rank", "--target", "class", "--quiet"]
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


def _fact(
    what: str, found: dict[str, Any], text: Callable[[Any], str], promised: str, met: Callable[[Any], bool]
) -> Fact:
    if "failed" in found:
        return what, f"failed: {found['failed']}", promised, _answer(False)
    return what, text(found), promised, _answer(met(found))
