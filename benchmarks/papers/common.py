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


def found(
    paper: str, options: Options, tables: Found, findings: Mapping[str, Finding], curves: Mapping[str, list[Curve]]
) -> Found:
    """Everything one paper's experiments give, by the names of its files; a quick run prints its findings instead."""
    answers = {key: ("yes" if holds else "no", evidence) for key, (holds, evidence) in findings.items()}
    if options.quick:
        return {f"{paper}-findings": (["key", "comes out", "evidence"], [[k, *told] for k, told in answers.items()])}
    claims = {row["key"]: row["claim"] for row in records(HERE / "papers" / "claims.csv") if row["paper"] == paper}
    told = [[text, *answers[key]] for key, text in claims.items() if key in answers]
    made: Found = {f"{paper}-{name}": table for name, table in tables.items()}
    path = results("papers", f"{paper}-findings")
    made[f"{paper}-findings"] = _, told = joined(load(path), ["claim", "comes out", "evidence"], told)
    for name, lines in curves.items():
        points = [(panel, line, f"{x:g}", f"{y:.6g}") for panel, line, *xy in lines for x, y in zip(*xy, strict=True)]
        made[f"curves/{paper}-{name}"] = ["panel", "line", "x", "y"], points
    rows = []
    for name, title in TITLES.items():
        other = [row["comes out"] for row in records(results("papers", f"{name}-findings"))]
        answered = [row[1] for row in told] if name == paper else other
        rows.append([f"[{title}](#{name})", answered.count("yes"), answered.count("no")])
    return made | {"overview": (["paper", "findings that come out", "that do not"], rows)}


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
