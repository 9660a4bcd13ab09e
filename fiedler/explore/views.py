"""What a page shows of one feature: its values by class, and the features that resemble it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..data.arrays import dense, take_columns
from ..problem import Problem
from ..validation import is_sparse
from .plain import significant

_BINS, _COPY, _COPIES = 24, 0.7, 10


def histograms(values: np.ndarray, labels: dict[str, Any]) -> dict[str, Any]:
    """Counts of the values in equal bins, for all rows and for every class; or the correlation with a target."""
    finite = np.isfinite(values)
    low, high = (float(values[finite].min()), float(values[finite].max())) if finite.any() else (0.0, 0.0)
    edges = np.linspace(low, high if high > low else low + 1.0, _BINS + 1)
    about: dict[str, Any] = {"edges": significant(edges), "all": _counts(values, edges)}
    if labels["kind"] == "target":
        y = np.array([np.nan if v is None else v for v in labels["values"]], dtype=float)
        both = finite & np.isfinite(y)
        spread = both.sum() > 2 and values[both].std() > 0 and y[both].std() > 0
        about["correlation"] = round(float(np.corrcoef(values[both], y[both])[0, 1]), 4) if spread else None
    elif labels["kind"] == "classes":
        codes = np.array(labels["values"])
        about["classes"] = [_counts(values[codes == code], edges) for code in range(len(labels["names"]))]
    return about


def _counts(values: np.ndarray, edges: np.ndarray) -> list[int]:
    return np.histogram(values[np.isfinite(values)], edges)[0].tolist()


def feature_values(problem: Problem, features: Sequence[int]) -> np.ndarray:
    """One value per row and feature, NaN if it is missing; a category is the number of its 0/1 column that is set."""
    columns = [problem.columns_of(np.array([feature])) for feature in features]
    inside = np.concatenate([*columns, np.empty(0, dtype=np.intp)]).astype(np.intp)
    block = np.asarray(dense(take_columns(problem.X, inside)), dtype=np.float64)
    if problem.known is not None:
        block = np.where(problem.known[:, inside], block, np.nan)
    values, start = np.full((problem.n_samples, len(columns)), np.nan), 0
    for at, own in enumerate(columns):
        part = block[:, start : start + len(own)]
        start += len(own)
        if len(own) == 1:
            values[:, at] = part[:, 0]
        elif len(own):
            values[:, at] = np.where(np.isnan(part).any(axis=1), np.nan, np.argmax(np.nan_to_num(part), axis=1))
    return values


def copies(problem: Problem, feature: int) -> list[dict[str, Any]]:
    """Features whose correlation with this one is at least 0.7 in absolute value, the most similar first.

    Only features of one column are compared.
    """
    X: Any = problem.X
    own, n = problem.columns_of(np.array([feature])), problem.n_samples
    if len(own) != 1:
        return []
    centred = np.asarray(dense(take_columns(X, own)), dtype=np.float64)[:, 0]
    centred = centred - centred.mean()
    length = np.linalg.norm(centred)
    if length == 0 or not np.isfinite(length):
        return []
    products = np.asarray(X.T @ (centred / length), dtype=np.float64)  # centred values need no centred X
    if is_sparse(X):
        mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
        squares = np.asarray(X.multiply(X).sum(axis=0), dtype=np.float64).ravel() - n * mean**2
    else:
        squares = np.var(X, axis=0, dtype=np.float64) * n
    with np.errstate(divide="ignore", invalid="ignore"):
        r = np.nan_to_num(products / np.sqrt(squares), posinf=0.0, neginf=0.0)
    r[own] = 0.0
    owner = np.arange(len(r)) if problem.groups is None else problem.groups.owner
    if problem.groups is not None:
        r = np.where(problem.groups.sizes[owner] == 1, r, 0.0)
    near = [j for j in np.argsort(-np.abs(r), kind="stable")[:_COPIES].tolist() if abs(r[j]) >= _COPY]
    return [{"feature": int(owner[j]), "r": round(float(np.clip(r[j], -1, 1)), 3)} for j in near]
