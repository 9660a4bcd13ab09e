"""What the five papers share: printed numbers, findings, draws, 1-NN with ties, and what a run gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from fiedler.registry import PAPERS

from ..pages import HERE, PRINTED, joined, load, records, results
from ..runner import Found, Options

_KEYS = {"sselect": "ZL", "spec": "SPEC", "ssls": "DV", "constraints": "KA", "evsc": "EV"}
TITLES = {paper: f"[{key}] {PAPERS[key].title}" for paper, key in _KEYS.items()}

Finding = tuple[bool, str]  # whether a claim comes out, and the numbers that say so
Curve = tuple[str, str, Sequence[float], Sequence[float]]  # panel, line, x, y


CONFIRMED, WITH_SETTING, NOT = "confirmed", "confirmed with this setting", "not confirmed"


def found(
    paper: str,
    options: Options,
    tables: Found,
    findings: Mapping[str, Finding],
    curves: Mapping[str, list[Curve]],
    settings: Mapping[str, Finding] | None = None,
) -> Found:
    """Everything one paper's experiments give, by the names of its files; a quick run prints its findings instead.

    ``settings`` answers some claims again, under the setting that claims.csv states for them. What was measured is kept
    in "answers/<paper>" by the key of the claim; the tables of the page are derived from it.
    """
    again, answers = settings or {}, []
    for key, finding in findings.items():
        (holds, evidence), (also, told) = finding, again.get(key, (None, "–"))
        answers.append([key, yes(holds), evidence, "–" if also is None else yes(also), told])
    header = ["key", "holds", "evidence", "holds with the setting", "its evidence"]
    if options.quick:
        return {f"answers/{paper}": (header, answers)}
    made: Found = {f"{paper}-{name}": table for name, table in tables.items()}
    known = {row["key"] for row in claims(paper)}
    kept = [row for row in load(results("papers", f"answers/{paper}")) if row[0] in {"key", *known}]
    answered = joined(kept, header, [row for row in answers if row[0] in known])[1]
    made[f"answers/{paper}"] = header, answered
    for name, lines in curves.items():
        points = [(panel, line, f"{x:g}", f"{y:.6g}") for panel, line, *xy in lines for x, y in zip(*xy, strict=True)]
        made[f"curves/{paper}-{name}"] = ["panel", "line", "x", "y"], points
    return made | derived({paper: [dict(zip(header, row, strict=True)) for row in answered]})


def yes(holds: bool) -> str:
    return "yes" if holds else "no"


def claims(paper: str) -> list[dict[str, str]]:
    """The claims of a paper, and our own checks of it."""
    return [row for row in records(HERE / "papers" / "claims.csv") if row["paper"] == paper]


def derived(new: Mapping[str, list[dict[str, str]]] | None = None) -> Found:
    """The tables of verdicts and the overview, from claims.csv and what was measured; ``new`` replaces findings."""
    made: Found = {}
    overview, totals = [], np.zeros(5, dtype=int)
    for paper, title in TITLES.items():
        answers = {row["key"]: row for row in (new or {}).get(paper) or records(results("papers", f"answers/{paper}"))}
        told = [(row, *verdict(row, answers[row["key"]])) for row in claims(paper) if row["key"] in answers]
        own = [
            (row["claim"], answers[row["key"]]["holds"], answers[row["key"]]["evidence"])
            for row, *_ in told
            if row["kind"] != "claim"
        ]
        rows = [
            (row["claim"], row["printed"], evidence, row["setting"] if judged == WITH_SETTING else "–", judged)
            for row, judged, evidence in told
            if row["kind"] == "claim"
        ]
        made[f"{paper}-verdicts"] = ["claim", "printed", "ours", "setting", "verdict"], rows
        made[f"{paper}-checks"] = ["check", "holds", "ours"], own
        counts = [sum(row[-1] == CONFIRMED for row in rows), sum(row[-1] == WITH_SETTING for row in rows)]
        counts += [len(rows) - sum(counts), sum(row[1] == "yes" for row in own)]
        counts.append(len(own) - counts[-1])
        totals += counts
        overview.append([f"[{title}](reproductions/{paper}.md)", *counts])
    header = [
        "paper",
        "claims confirmed",
        "confirmed with a stated setting",
        "not confirmed",
        "other checks: hold",
        "do not",
    ]
    made["overview"] = header, [*overview, ["all", *totals.tolist()]]
    return made


def verdict(claim: Mapping[str, str], answer: Mapping[str, str]) -> tuple[str, str]:
    """Confirmed, with a stated setting, or not and why; and the evidence."""
    if answer["holds"] == "yes":
        return CONFIRMED, answer["evidence"]
    if answer["holds with the setting"] == "yes":
        return WITH_SETTING, answer["its evidence"]
    return f"{NOT}: {claim['why']}" if claim["why"] else NOT, answer["evidence"]


def printed(name: str) -> dict[str, np.ndarray]:
    """The numbers that a paper prints in a table, by row; NaN where it prints none."""
    rows = load(PRINTED / f"{name}.csv")[1:]
    return {row[0]: np.array([np.nan if cell == "–" else float(cell) for cell in row[1:]]) for row in rows}


def listed(values: Mapping[Any, float] | Iterable[float], form: str = ".3f") -> str:
    """Numbers as evidence, with their names where they have some."""
    if not isinstance(values, Mapping):
        return ", ".join(format(value, form) for value in values)
    return ", ".join(f"{name} {format(value, form)}" for name, value in values.items())


def each(values: Mapping[Any, Iterable[float]], form: str = ".3f") -> str:
    """Several numbers for each name."""
    return "; ".join(f"{name} {listed(row, form)}" for name, row in values.items())


def stratified_folds(y: np.ndarray, n_folds: int, rng: np.random.Generator) -> np.ndarray:
    """The fold of every row, each class spread evenly."""
    rows = rng.permutation(len(y))
    rows = rows[np.argsort(y[rows], kind="stable")]
    folds = np.empty(len(y), dtype=np.intp)
    folds[rows] = np.arange(len(y)) % n_folds
    return folds


def nearest_neighbor_right(Z: np.ndarray, y: np.ndarray, folds: np.ndarray) -> np.ndarray:
    """The probability that 1-NN on the other folds is right, per row, when a tie goes to any of the tied rows.

    On a few columns of counts hundreds of rows are equal. Taking the first of the nearest, as most programs do, lets
    the order of the file decide for all of them at once; this is the average over all orders. Rows that are equal share
    their distances, which makes it fast.
    """
    weights = np.random.default_rng(0).integers(2**63, size=Z.shape[1])
    _, first, which = np.unique(Z.astype(np.int64) @ weights, return_index=True, return_inverse=True)
    distinct = Z[first].astype(np.float32)  # whole numbers below 2^24, so that ties are exact
    norms = np.einsum("ij,ij->i", distinct, distinct)
    counts = np.zeros((folds.max() + 1, len(distinct), y.max() + 1), dtype=np.float32)
    np.add.at(counts, (folds, which, y), 1.0)
    right = np.empty(len(y))
    for fold, tested in enumerate(counts):
        trained = counts.sum(axis=0) - tested
        test, train = (np.flatnonzero(part.any(axis=1)) for part in (tested, trained))
        beyond = (-2.0 * distinct[test]) @ distinct[train].T + norms[train]  # squared distances, less one's own norm
        votes = np.zeros_like(trained)
        votes[test] = (beyond == beyond.min(axis=1, keepdims=True)).astype(np.float32) @ trained[train]
        rows = np.flatnonzero(folds == fold)
        own = votes[which[rows]]
        right[rows] = own[np.arange(len(rows)), y[rows]] / own.sum(axis=1)
    return right
