"""Features along a numeric axis, such as wavelengths or times: the axis, the mean profiles, and the chosen regions.

names as numbers -> axis;   (X, classes) -> one mean profile per class;   chosen features -> regions of the axis
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..problem import Problem
from ..validation import is_sparse

FEWEST = 8  # fewer numbers are no axis
MOST_CLASSES = 8  # more classes have one mean profile together


def axis_of(names: Sequence[str]) -> np.ndarray | None:
    """Feature names as an ascending or descending axis; None if they are not such numbers, or fewer than eight.

    Parameters
    ----------
    names : sequence of str
        Names of all features.

    Returns
    -------
    axis : ndarray or None
        One number per feature.

    Examples
    --------
    >>> axis_of(["400", "402.5", "405", "407.5", "410", "412.5", "415", "417.5"])
    array([400. , 402.5, 405. , 407.5, 410. , 412.5, 415. , 417.5])
    >>> axis_of(["height", "weight"])
    """
    try:
        axis = np.array([float(name) for name in names])
    except ValueError:
        return None
    steps = np.diff(axis)
    if len(axis) < FEWEST or not np.isfinite(axis).all() or not ((steps > 0).all() or (steps < 0).all()):
        return None
    return axis


def mean_profiles(problem: Problem, codes: np.ndarray | None = None, n_classes: int = 0) -> np.ndarray:
    """The mean of each column over all rows, or over the rows of each class.

    Parameters
    ----------
    problem : Problem
        The data.
    codes : ndarray of int, optional
        The class of each row, -1 if it is unknown. Each class must have a row.
    n_classes : int
        Number of classes; with more than eight the mean over all rows is returned.

    Returns
    -------
    profiles : ndarray of shape (number of profiles, n_features)
        One mean profile per row.
    """
    if codes is None or not 1 < n_classes <= MOST_CLASSES:
        codes, n_classes = np.zeros(problem.n_samples, dtype=np.intp), 1
    rows = np.flatnonzero(codes >= 0)
    member = sp.csr_array((np.ones(len(rows)), (codes[rows], rows)), shape=(n_classes, problem.n_samples))
    sums: Any = member @ problem.X  # X is neither copied nor made dense
    return (sums.toarray() if is_sparse(sums) else sums) / np.bincount(codes[rows], minlength=n_classes)[:, None]


def regions(chosen: np.ndarray) -> list[np.ndarray]:
    """Chosen features that are next to each other, as one region; regions in the order of the axis.

    Examples
    --------
    >>> import numpy as np
    >>> regions(np.array([7, 2, 3, 1]))
    [array([1, 2, 3]), array([7])]
    """
    chosen = np.sort(chosen)
    return np.split(chosen, np.flatnonzero(np.diff(chosen) > 1) + 1) if len(chosen) else []
