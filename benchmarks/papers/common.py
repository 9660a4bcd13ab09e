"""What the five papers share: printed numbers, findings, work over all cores, and the files that a run writes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from threadpoolctl import threadpool_limits

from fiedler.papers import PAPERS

from ..pages import load, records, save, save_all

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
_KEYS = {"sselect": "ZL", "spec": "SPEC", "ssls": "DV", "constraints": "KA", "evsc": "EV"}
TITLES = {paper: f"[{key}] {PAPERS[key].title}" for paper, key in _KEYS.items()}

Finding = tuple[bool, str]  # whether a claim comes out, and the numbers that say so
Curve = tuple[str, str, Sequence[float], Sequence[float]]  # panel, line, x, y


@dataclass
class Report:
    """What one paper's experiments give: tables by name, findings by key, and curves by figure."""

    tables: dict[str, tuple[Sequence[str], list[Sequence[Any]]]]
    findings: dict[str, Finding]
    curves: dict[str, list[Curve]] = field(default_factory=dict)

    def save(self, paper: str) -> None:
        """Write everything as CSV files, and count the findings of all papers."""
        save_all(RESULTS, {f"{paper}-{name}": table for name, table in self.tables.items()})
        claims = {row["key"]: row["claim"] for row in records(HERE / "claims.csv") if row["paper"] == paper}
        found = [(text, *self.findings[key]) for key, text in claims.items() if key in self.findings]
        found = [(text, "yes" if holds else "no", evidence) for text, holds, evidence in found]
        save(RESULTS / f"{paper}-findings.csv", ["claim", "comes out", "evidence"], found)
        for name, curves in self.curves.items():
            points = [
                (panel, line, f"{x:g}", f"{y:.6g}") for panel, line, *xy in curves for x, y in zip(*xy, strict=True)
            ]
            save(RESULTS / "curves" / f"{paper}-{name}.csv", ["panel", "line", "x", "y"], points)
        save(RESULTS / "overview.csv", ["paper", "findings that come out", "that do not"], map(_count, TITLES))


def _count(paper: str) -> list[Any]:
    answers = [row["comes out"] for row in records(RESULTS / f"{paper}-findings.csv")]
    return [f"[{TITLES[paper]}](#{paper})", answers.count("yes"), answers.count("no")]


def printed(name: str) -> dict[str, np.ndarray]:
    """The numbers that a paper prints in a table, by row; NaN where it prints none."""
    rows = load(HERE / "printed" / f"{name}.csv")[1:]
    return {row[0]: np.array([np.nan if cell == "–" else float(cell) for cell in row[1:]]) for row in rows}


def listed(values: Mapping[Any, float] | Iterable[float], form: str = ".3f") -> str:
    """Numbers as evidence, with their names where they have some."""
    if not isinstance(values, Mapping):
        return ", ".join(format(value, form) for value in values)
    return ", ".join(f"{name} {format(value, form)}" for name, value in values.items())


def in_parallel(what: str, n_jobs: int, function: Callable, cells: Sequence[tuple]) -> list[Any]:
    """The function of every cell, in order."""
    with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
        results = joblib.Parallel(n_jobs=n_jobs, batch_size=1)(joblib.delayed(_alone)(function, *c) for c in cells)
    print(f"{what}: {len(cells)} cells", file=sys.stderr, flush=True)
    return results


def _alone(function: Callable, *cell: Any) -> Any:
    with threadpool_limits(1):  # also without worker processes: the same sums in the same order for any n_jobs
        return function(*cell)
