"""Data sets of the papers: toy data, generators with known informative features, and stored sets."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from .validation import check_choice, check_integer

__all__ = ["constraint_toy", "load_paper_set", "make_target_problem", "paper_set_info"]

_MAIN = ("X", "y", "feature_names", "data", "indices", "indptr", "shape")
# Groups in NEWS6.
_GROUPS = {"PCMAC_18828": (0, 1), "HOCKBASE_18828": (2, 3), "MACBASE": (1, 2), "RELATHE_18828": (4, 5)}


def constraint_toy() -> tuple[np.ndarray, np.ndarray]:
    """The four samples A, B, C, D of [KA] section 6.1 with their classes; only the third feature separates D.

    Returns
    -------
    X : ndarray of shape (4, 3)
        The samples.
    y : ndarray of shape (4,)
        1 for D.

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

    Parameters
    ----------
    problem : {1, 2}, default=1
        Number of the problem.
    n_samples : int, default=1000
        Number of rows.
    random_state : int, RandomState or None, default=None
        Random seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 8 or 4)
        Uniform between 0 and 1.
    y : ndarray of shape (n_samples,)
        The target.
    informative : ndarray
        The columns on which the target depends.

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


def load_paper_set(name: str, folder: str | os.PathLike | None = None) -> tuple[Any, Any, Any]:
    """Load a data set of the papers from the folder in the environment variable ``FIEDLER_DATA``.

    A set is a file ``<name>.npz`` with the array X, or with data, indices, indptr and shape of a CSR matrix, and
    optionally y and feature_names. Pickled objects are not loaded. MACBASE, PCMAC_18828, HOCKBASE_18828 and
    RELATHE_18828 are pairs of groups of NEWS6, with the terms that occur in five posts or more. A name that ends with
    ``_gf5`` takes the terms that occur five times or more.

    Parameters
    ----------
    name : str
        Name of the set, such as "BASEHOCK", "colon_alon", "juice" or "pixraw10P".
    folder : path, optional
        The folder, instead of ``FIEDLER_DATA``.

    Returns
    -------
    X : ndarray or csr_array of shape (n_samples, n_features)
        The data in the stored type; convert small integers before arithmetic.
    y : ndarray of shape (n_samples,) or None
        Classes or targets, as stored.
    feature_names : ndarray of shape (n_features,) or None
        Words, genes or wavelengths.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from fiedler.datasets import constraint_toy, load_paper_set
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/toy.npz", **dict(zip("Xy", constraint_toy())))
    ...     X, y, feature_names = load_paper_set("toy", folder)
    >>> X.shape, y, feature_names
    ((4, 3), array([0, 0, 0, 1]), None)
    """
    base = name.removesuffix("_gf5")
    with _stored("NEWS6" if base in _GROUPS else name, folder) as stored:
        if base in _GROUPS:
            return _two_groups(stored, *_GROUPS[base], by_count=base != name)
        return _matrix(stored), *(stored.get(part) for part in ("y", "feature_names"))


def paper_set_info(name: str, folder: str | os.PathLike | None = None) -> dict[str, np.ndarray]:
    """Other arrays stored with a set of :func:`load_paper_set`, such as train flags, class names, corrected labels.

    Parameters
    ----------
    name : str
        As in :func:`load_paper_set`.
    folder : path, optional
        Instead of ``FIEDLER_DATA``.

    Returns
    -------
    info : dict of str to ndarray
        The arrays by name; often empty.
    """
    with _stored("NEWS6" if name.removesuffix("_gf5") in _GROUPS else name, folder) as stored:
        return {part: stored[part] for part in stored.files if part not in _MAIN}


def _stored(name: str, folder: str | os.PathLike | None) -> Any:
    folder = os.environ.get("FIEDLER_DATA") if folder is None else folder
    if not folder:
        raise FileNotFoundError(
            f"load_paper_set({name!r}) needs the folder with the data sets of the papers; set the environment variable "
            "FIEDLER_DATA to it, or pass folder."
        )
    path = Path(folder) / f"{name}.npz"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in Path(folder).glob("*.npz"))) or "no .npz file"
        raise FileNotFoundError(f"no data set {name!r} in {os.fspath(folder)!r} (FIEDLER_DATA or folder): {known}.")
    return np.load(path, allow_pickle=False)


def _matrix(stored: Any) -> Any:
    if "X" in stored:
        return stored["X"]
    return sp.csr_array(tuple(stored[part] for part in _MAIN[-4:-1]), shape=tuple(stored["shape"].tolist()))


def _two_groups(stored: Any, first: int, second: int, by_count: bool) -> tuple[Any, Any, Any]:
    """Two newsgroups as classes 1 and 2, with terms that occur in five posts or more, or five times or more."""
    group = stored["y"].astype(int) - 1
    rows = np.flatnonzero((group == first) | (group == second))
    X = _matrix(stored)[rows]
    of_both = X.sum(axis=0) if by_count else (X > 0).sum(axis=0)
    often = stored["gf4" if by_count else "df4"] if first < 4 else of_both  # the first four share one vocabulary
    terms = np.flatnonzero(often >= 5)
    return X[:, terms].tocsr(), np.where(group[rows] == first, 1, 2).astype(np.uint8), stored["feature_names"][terms]
