"""Features that consist of several columns, and the one entrance for X: numbers, holes and groups.

    X of the user -> prepare(X, groups) -> Prepared(X, groups)

A feature is one column, the 0/1 columns of a category, or a group of columns that the user names. Scores, rankings and
choices are per feature.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..errors import ParameterError, TableWarning
from ..validation import is_sparse
from ..words import did_you_mean
from .arrays import Matrix, validate_X
from .containers import opened
from .frames import encode, frame_columns, is_missing, is_mixed_frame
from .source import Source


class Groups:
    """Which columns of a matrix form which feature.

    Parameters
    ----------
    owner : ndarray of int, shape (p,)
        The feature of each column of the matrix.
    of_input : ndarray of int, shape (n_inputs,)
        The feature of each column of the user's table. Without named groups it is 0, 1, 2, ...
    names : list of str, optional
        Names of the features, if the user named groups.
    of_column : ndarray of int, shape (p,), optional
        The column of the user's table that each column of the matrix comes from; by default as ``owner``.

    Attributes
    ----------
    n_features : int
        Number of features; some may have no columns, because they are not used.
    levels : dict of int -> list of str
        For each feature that is a category the names of its levels, in the order of its columns.
    """

    def __init__(
        self,
        owner: np.ndarray,
        of_input: np.ndarray,
        names: list[str] | None = None,
        of_column: np.ndarray | None = None,
        levels: dict[int, list[str]] | None = None,
    ):
        self.levels = {} if levels is None else levels
        self.owner, self.of_input, self.names = owner, of_input, names
        self.of_column = owner if of_column is None else of_column
        self.n_features = int(of_input.max(initial=-1)) + 1
        self.sizes = np.bincount(owner, minlength=self.n_features)
        self._order = np.argsort(owner, kind="stable")
        p = len(owner)
        self._member = sp.csr_array((np.ones(p), owner, np.arange(p + 1)), shape=(p, self.n_features))
        self._starts = np.r_[0, np.cumsum(self.sizes)]

    @property
    def indicators(self) -> np.ndarray:
        """Mask of the 0/1 columns of categories: the columns that share a column of the user's table."""
        return np.bincount(self.of_column)[self.of_column] > 1

    def columns(self, feature: int) -> np.ndarray:
        """The columns of one feature."""
        return self._order[self._starts[feature] : self._starts[feature + 1]]

    def columns_of(self, features: np.ndarray) -> np.ndarray:
        """The columns of some features, in the order of the features."""
        found = [self.columns(int(feature)) for feature in features]
        return np.concatenate(found) if found else np.empty(0, dtype=np.intp)

    def sum(self, values: np.ndarray) -> np.ndarray:
        """Sums over the columns of each feature, along the last axis; 0 for a feature without columns."""
        return values @ self._member

    def mean(self, values: np.ndarray) -> np.ndarray:
        """Means over the columns of each feature, along the last axis; 0 for a feature without columns."""
        return self.sum(values) / np.maximum(self.sizes, 1)

    def take(self, features: np.ndarray) -> Groups:
        """The groups of some features, for the matrix of their columns."""
        owner = np.repeat(np.arange(len(features)), self.sizes[features])
        levels = {k: self.levels[int(j)] for k, j in enumerate(features) if int(j) in self.levels}
        return Groups(owner, np.arange(len(features)), levels=levels)

    @property
    def named(self) -> bool:
        """Whether the user's columns were grouped, so that a feature is not one column of the user's table."""
        return len(self.of_input) != self.n_features


class Prepared(NamedTuple):
    """X as a numeric matrix, and its features if they are not its columns."""

    X: Matrix
    groups: Groups | None


def prepare(X: Any, column_names: Any = None, groups: Any = None) -> Prepared:
    """X of any supported form as a numeric matrix, in which NaN marks a missing value.

    Parameters
    ----------
    X : array-like, frame, sparse matrix, source, AnnData or DataArray
        The data. Categories, texts and dates of a frame are encoded (:mod:`fiedler.data.frames`).
    column_names : array-like of str, optional
        Names of the columns for messages; frames have their own.
    groups : sequence of labels or mapping, optional
        One label per column, where equal labels form one feature; or names of features with their columns, by name or
        number. A column without a label is a feature of its own.

    Returns
    -------
    prepared : Prepared
        The matrix and its features.
    """
    if isinstance(X, Prepared):  # a table of a file
        owner = None if X.groups is None else X.groups.of_column
        names = column_names if owner is None or column_names is None else [column_names[j] for j in owner]
        return Prepared(validate_X(X.X, names, missing=True), X.groups)
    inside, named = opened(X)
    names = column_names if column_names is not None else getattr(named, "columns", None)
    levels: dict[int, list[str]] = {}
    if is_mixed_frame(inside):
        encoded = encode(frame_columns(inside))
        if not encoded.X.shape[1]:
            raise ParameterError(
                f"X has no column that can be used: {'; '.join(encoded.notes)}. Pass columns of numbers, dates, or "
                "categories with few levels.",
                parameter="X",
            )
        if encoded.notes:
            message = f"the table is not purely numeric. {sentences(encoded.notes)}"
            warnings.warn(TableWarning(message, parameter="X"), stacklevel=4)
        owner, n_inputs, levels = encoded.owner, len(encoded.columns), encoded.levels
        # Names of the encoded columns for messages: those of the columns they come from.
        matrix = validate_X(encoded.X, None if names is None else [names[j] for j in owner], missing=True)
    else:
        matrix = validate_X(inside, names, missing=True)
        owner, n_inputs = np.arange(matrix.shape[1]), matrix.shape[1]
        if groups is None:
            return Prepared(matrix, None)
    if groups is None:
        return Prepared(matrix, Groups(owner, np.arange(n_inputs), levels=levels))
    if isinstance(matrix, Source) or is_sparse(matrix):
        raise ParameterError(
            "groups= needs a dense X in memory; pass the columns as an array or a frame.", parameter="groups"
        )
    of_input, labels = group_labels(groups, n_inputs, names)
    return Prepared(matrix, Groups(of_input[owner], of_input, labels, owner))


def sentences(notes: list[str]) -> str:
    return " ".join(f"{note[0].upper()}{note[1:]}." for note in notes)


def group_labels(groups: Any, n_columns: int, names: Any = None) -> tuple[np.ndarray, list[str]]:
    """The feature of every column, numbered by first occurrence, and the names of the features.

    Examples
    --------
    >>> from fiedler.data.features import group_labels
    >>> group_labels(["a", "b", "a", None], 4)
    (array([0, 1, 0, 2]), ['a', 'b', 'x3'])
    >>> group_labels({"band": [1, 2]}, 4)
    (array([0, 1, 1, 2]), ['x0', 'band', 'x3'])
    """
    own = [f"x{j}" if names is None else str(names[j]) for j in range(n_columns)]
    labels: list[Any] = [None] * n_columns
    if isinstance(groups, Mapping):
        for name, members in groups.items():
            for j in _places(name, members, n_columns, names):
                if labels[j] is not None:
                    raise ParameterError(
                        f"groups: column {own[j]!r} is in the groups {labels[j]!r} and {name!r}; groups must not "
                        "overlap.",
                        parameter="groups",
                        value=name,
                    )
                labels[j] = name
    else:
        given = list(groups) if isinstance(groups, (Sequence, np.ndarray)) or hasattr(groups, "__iter__") else None
        if given is None or isinstance(groups, str) or len(given) != n_columns:
            found = f"{len(given)} labels" if given is not None and not isinstance(groups, str) else repr(groups)
            raise ParameterError(
                f"groups must hold one label for each of the {n_columns} columns of X, or map names to columns, got "
                f"{found}.",
                parameter="groups",
            )
        labels = [None if is_missing(label) else label for label in given]
    place: dict[Any, int] = {}
    of_input, titles = np.empty(n_columns, dtype=np.intp), list[str]()
    for j, label in enumerate(labels):
        key = ("column", j) if label is None else ("group", label)
        if key not in place:
            place[key] = len(place)
            titles.append(own[j] if label is None else str(label))
        of_input[j] = place[key]
    return of_input, titles


def _places(group: Any, members: Any, n_columns: int, names: Any) -> list[int]:
    """The column numbers of the members of a group, which are names or numbers."""
    members = [members] if isinstance(members, (str, int, np.integer)) else list(members)
    known = {} if names is None else {name: j for j, name in enumerate(names)}
    found = []
    for member in members:
        if member in known:
            found.append(known[member])
        elif isinstance(member, (int, np.integer)) and not isinstance(member, bool) and 0 <= member < n_columns:
            found.append(int(member))
        else:
            hint = did_you_mean(str(member), map(str, known), 0.6)
            raise ParameterError(
                f"groups: {group!r} names the column {member!r}, which X does not have; {hint}use names of columns or "
                f"numbers from 0 to {n_columns - 1}.",
                parameter="groups",
                value=member,
            )
    return found
