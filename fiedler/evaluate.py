"""How good, and how stable, is a ranking: the papers' evaluation measures."""

from __future__ import annotations

from typing import Any

import numpy as np


def kendall_coefficient(ranks: Any) -> float:
    """Kendall's coefficient of concordance between p rankings of d features, with ties ([KA] eq. 15).

        K = 12 Δ / (p² (d³ - d) - p τ)

    Δ is the scatter of the rank sums; τ sums t³ - t over every group of t tied ranks in every row. Equal to
    Friedman's χ² / (p (d - 1)), ties included.

    Parameters
    ----------
    ranks : array-like of shape (p, d)
        One ranking per row; tied features share their mean rank, as ``scipy.stats.rankdata`` gives.

    Returns
    -------
    float
        From 0 (no agreement) to 1 (the same ranking each time); NaN when every row ties all features.

    Examples
    --------
    >>> from fiedler.evaluate import kendall_coefficient
    >>> kendall_coefficient([[1, 2, 3], [1, 3, 2], [1, 2, 3]]).__round__(4)
    0.7778
    """
    R = np.asarray(ranks, dtype=np.float64)
    if R.ndim != 2 or R.shape[1] < 2 or not np.isfinite(R).all():
        raise ValueError(f"ranks must be a finite array of shape (rankings, features >= 2), got shape {R.shape}.")
    p, d = R.shape
    if not np.allclose(R.sum(axis=1), d * (d + 1) / 2):
        raise ValueError("ranks must run from 1 to d in each row, ties sharing their mean rank (scipy.stats.rankdata).")
    sums = R.sum(axis=0)
    ties = sum(int((t**3 - t).sum()) for t in (np.unique(row, return_counts=True)[1] for row in R))
    below = p**2 * (d**3 - d) - p * ties
    return float(12.0 * ((sums - sums.mean()) ** 2).sum() / below) if below else float("nan")
