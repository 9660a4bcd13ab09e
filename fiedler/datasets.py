"""Data with a known truth: the papers' toys and generators."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ._validation import check_choice, check_integer


def constraint_toy() -> tuple[np.ndarray, np.ndarray]:
    """The four samples A, B, C, D of [KA] section 6.1 with their classes; only the third feature tells D apart.

    Examples
    --------
    >>> from fiedler.datasets import constraint_toy
    >>> X, y = constraint_toy()
    >>> X.shape, y
    ((4, 3), array([0, 0, 0, 1]))
    """
    return np.array([[-3.0, -1, 1], [-3, 1, 1], [-1, -1, 1], [1, -3, -1]]), np.array([0, 0, 0, 1])


def make_target_problem(
    problem: int = 1, n_samples: int = 1000, random_state: Any = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The artificial regression problems of [DV] section 3.2, with the informative columns.

    Problem 1: eight uniform features, Y = cos(2π X1 X2) sin(2π X3 X4), eq. 6.
    Problem 2: four uniform features, Y = X1² / X2², eq. 7.

    Returns
    -------
    X : ndarray of shape (n_samples, 8 or 4)
    y : ndarray of shape (n_samples,)
    informative : ndarray
        The columns the target depends on.

    Examples
    --------
    >>> from fiedler.datasets import make_target_problem
    >>> X, y, informative = make_target_problem(2, n_samples=50, random_state=0)
    >>> X.shape, informative
    ((50, 4), array([0, 1]))
    """
    check_choice("problem", problem, (1, 2))
    rng = check_random_state(random_state)
    X = rng.uniform(size=(check_integer("n_samples", n_samples, 1), 8 if problem == 1 else 4))
    if problem == 1:
        y = np.cos(2 * np.pi * X[:, 0] * X[:, 1]) * np.sin(2 * np.pi * X[:, 2] * X[:, 3])
        return X, y, np.arange(4)
    return X, X[:, 0] ** 2 / X[:, 1] ** 2, np.arange(2)
