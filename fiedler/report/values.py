"""How the best features are distributed: by class, against a real target, or alone.

    (columns of X, rows with a label) -> per feature: counts and quartiles of each class | points | counts

Only the columns that are shown are read, and of them at most 400 rows, evenly spaced within every class.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.arrays import take_columns, take_rows
from .facts import Case

MOST_FEATURES, MOST_ROWS, MOST_CLASSES = 12, 400, 8
_BINS, _FEW = (10, 20), 15  # fewest and most bins of a histogram, and rows of a class below which all are shown
_WHOLE = 30  # whole numbers in a range up to this have a bin each


def distributions_section(case: Case) -> dict[str, Any]:
    """The values of the best features on some rows; the label of each where labels are known."""
    order = case.selector.order_
    order = order[~np.isnan(case.scores[order])][:MOST_FEATURES]
    kind, values, classes = case.labels
    if kind == "classes" and values is not None and classes is not None:
        groups, names = _merged(values, classes)
        known = np.flatnonzero(groups >= 0)
        known = known[np.argsort(groups[known], kind="stable")]  # every class gets its share of the rows
    else:
        names, known = [], np.arange(case.problem.n_samples)
        if kind == "target" and values is not None:
            known = np.flatnonzero(~np.isnan(values))
    rows = known[np.linspace(0, len(known) - 1, min(len(known), MOST_ROWS)).astype(np.intp)]
    section: dict[str, Any] = {"kind": kind if kind in ("classes", "target") else "none"}
    section |= {"n_rows": len(rows), "n_known": len(known), "features": []}
    if not len(order):
        return section | {"note": "No feature has a score, so there are no best ones to show."}
    F = take_rows(take_columns(case.problem.X, order), rows)
    if section["kind"] == "classes":
        section["groups"] = names
    elif section["kind"] == "target" and values is not None:
        section["target"] = _short(values[rows])
    bins = int(np.clip(2 * np.cbrt(len(rows) / max(len(names), 1)), *_BINS))  # Rice's rule
    for rank, (j, f) in enumerate(zip(order, F.T, strict=True), 1):
        about = {"feature": case.names[j], "rank": rank} | _range(f, bins)
        if section["kind"] == "classes":
            about["groups"] = [_group(f[groups[rows] == at], about) for at in range(len(names))]
        elif section["kind"] == "target":
            about |= {"x": _short(f), "correlation": _correlation(f, values[rows]) if values is not None else None}
        else:
            about |= _counts(f, about)
        section["features"].append(about)
    return section


def _merged(codes: np.ndarray, classes: np.ndarray) -> tuple[np.ndarray, list[list[Any]]]:
    """Groups of rows and, for each, a name and the class it stands for; small classes beyond eight are one group."""
    if len(classes) <= MOST_CLASSES:
        return codes, [[str(name), at] for at, name in enumerate(classes)]
    sizes = np.bincount(codes[codes >= 0], minlength=len(classes))
    kept = np.sort(np.argsort(-sizes, kind="stable")[:MOST_CLASSES])
    place = np.full(len(classes) + 1, MOST_CLASSES)
    place[kept], place[-1] = np.arange(MOST_CLASSES), -1
    others = [f"{len(classes) - MOST_CLASSES} others", None]
    return place[codes], [*([str(classes[at]), int(at)] for at in kept), others]


def _range(f: np.ndarray, bins: int) -> dict[str, Any]:
    """Where a feature lies, without what is far out: beyond three times the middle half on either side."""
    low, q1, q3, high = np.quantile(f, [0.0, 0.25, 0.75, 1.0])
    if q3 > q1:
        low, high = max(low, q1 - 3 * (q3 - q1)), min(high, q3 + 3 * (q3 - q1))
    outside = int(((f < low) | (f > high)).sum())
    if high - low < _WHOLE and (f == np.round(f)).all():
        low, high = np.ceil(low) - 0.5, np.floor(high) + 0.5
        bins = int(high - low)
    return {"low": float(f"{low:.6g}"), "high": float(f"{high:.6g}"), "bins": bins, "n_outside": outside}


def _counts(f: np.ndarray, span: dict[str, Any]) -> dict[str, Any]:
    """A histogram over the range of the feature; what lies outside counts at its ends."""
    low, high = span["low"], span["high"]
    counts, _ = np.histogram(np.clip(f, low, high), bins=span["bins"], range=(low, high))
    return {"counts": counts}


def _group(f: np.ndarray, span: dict[str, Any]) -> dict[str, Any]:
    """One class of one feature: all its values where they are few, else their histogram and quartiles."""
    if not len(f):
        return {"n": 0}
    quartiles = {"n": len(f), "quartiles": _short(np.quantile(f, [0.25, 0.5, 0.75]))}
    return quartiles | ({"values": _short(f)} if len(f) < _FEW else _counts(f, span))


def _correlation(f: np.ndarray, target: np.ndarray) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.corrcoef(f, target)[0, 1])


def _short(values: np.ndarray) -> list[float]:
    """Six digits are enough for a picture."""
    return [float(f"{value:.6g}") for value in values]
