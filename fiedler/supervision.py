"""Supervision of the rows: class labels, real targets, and must-link and cannot-link pairs, complete or partial.

An unknown label is -1 for integer classes, None, NaN or "" for other classes, and NaN for real targets. A row without a
label is not dropped: it becomes an isolated node in the graphs that read labels. Unsupervised, supervised and
semi-supervised data are therefore treated by the same code.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state, column_or_1d

from .data.columns import Distinct
from .errors import ParameterError
from .validation import check_choice
from .words import did_you_mean

_MOST_CLASSES = 100  # largest number of different integers that are read as classes


class Pairs:
    """Pairs of rows that can be sliced in cross-validation.

    Row numbers are no longer valid after rows are sliced. This container has one entry per *sample*, so scikit-learn
    slices it together with X. Slicing renumbers the pairs and drops pairs with a missing row.

    Parameters
    ----------
    pairs : array-like of int, shape (n_pairs, 2)
        Row numbers; the order inside a pair does not matter.
    n_samples : int
        Number of rows of X.

    Examples
    --------
    >>> from fiedler import Pairs
    >>> links = Pairs([[0, 3], [1, 2]], n_samples=5)
    >>> len(links)
    5
    >>> links[[3, 0, 4]].pairs
    array([[0, 1]])
    """

    def __init__(self, pairs: Any, n_samples: int):
        self.n_samples = int(n_samples)
        self.pairs = check_pairs(pairs, self.n_samples, "pairs")
        self.shape = (self.n_samples,)

    @classmethod
    def of(cls, ids: Any, pairs: Any) -> Pairs:
        """Pairs of rows that are named by their ids instead of their numbers.

        Parameters
        ----------
        ids : array-like of shape (n_samples,)
            The id of every row, such as the index of a frame; ids must be different.
        pairs : array-like of shape (n_pairs, 2)
            Pairs of ids.

        Returns
        -------
        pairs : Pairs
            The pairs as row numbers.

        Examples
        --------
        >>> from fiedler import Pairs
        >>> Pairs.of(["ann", "bob", "eve"], [["eve", "ann"]]).pairs
        array([[0, 2]])
        """
        names = list(ids)
        place = {name: row for row, name in enumerate(names)}
        if len(place) < len(names):
            twice = next(name for row, name in enumerate(names) if place[name] != row)
            raise ParameterError(
                f"ids: {twice!r} names two rows; give every row an id of its own.", parameter="ids", value=twice
            )
        numbers = []
        for pair in pairs:
            members = list(pair)
            unknown = next((name for name in members if name not in place), None)
            if unknown is not None or len(members) != 2:
                what = f"{pair!r} is not a pair" if len(members) != 2 else f"{unknown!r} is not the id of a row"
                hint = "" if unknown is None else did_you_mean(str(unknown), map(str, place), 0.6)
                raise ParameterError(f"pairs: {what}; {hint}give two ids of rows.", parameter="pairs", value=unknown)
            numbers.append([place[name] for name in members])
        return cls(np.array(numbers, dtype=np.intp).reshape(-1, 2), len(names))

    def __len__(self) -> int:
        return self.n_samples

    def __getitem__(self, rows: Any) -> Pairs:
        rows = rows[0] if isinstance(rows, tuple) else rows  # scikit-learn asks for [rows, ...]
        chosen = np.arange(self.n_samples)[rows]
        i, j = self.pairs.T
        linked = sp.csr_array((np.ones(len(i)), (i, j)), shape=(self.n_samples, self.n_samples))
        # A row that is drawn twice keeps its pairs for both copies.
        return Pairs(np.column_stack(linked[chosen][:, chosen].nonzero()), len(chosen))

    def __repr__(self) -> str:
        return f"Pairs({len(self.pairs)} pairs, n_samples={self.n_samples})"


class Supervision:
    """Labels and pairs for n rows, which are parsed when they are needed.

    Parameters
    ----------
    n_samples : int
        Number of rows.
    y : array-like of shape (n_samples,), optional
        Classes or real targets; the method that reads them decides which.
    must_link, cannot_link : array-like of shape (p, 2) or Pairs, optional
        Pairs of rows that belong together, and pairs that do not.
    unlabeled : object, default=-1
        The class label that means "unknown"; None if every integer is a class.

    Examples
    --------
    >>> from fiedler import Supervision
    >>> codes, names = Supervision(4, ["b", "", "a", "b"]).classes("this example")
    >>> codes, names
    (array([ 1, -1,  0,  1]), array(['a', 'b'], dtype=object))
    """

    def __init__(
        self, n_samples: int, y: Any = None, *, must_link: Any = None, cannot_link: Any = None, unlabeled: Any = -1
    ):
        self.n_samples, self.unlabeled = n_samples, unlabeled
        self.y: np.ndarray | None = None
        self._seen: Distinct | None = None
        self._classes: tuple[np.ndarray, np.ndarray] | None = None
        if y is not None:
            self.y, self._seen = _as_vector(y, n_samples)
        self.must_link = None if must_link is None else check_pairs(must_link, n_samples, "must_link")
        self.cannot_link = None if cannot_link is None else check_pairs(cannot_link, n_samples, "cannot_link")
        if self.must_link is not None and self.cannot_link is not None:
            both = set(map(tuple, self.must_link.tolist())) & set(map(tuple, self.cannot_link.tolist()))
            if both:
                i, j = min(both)
                raise ValueError(
                    f"rows {i} and {j} are both in must_link and in cannot_link ({len(both)} such pairs); "
                    "remove them from one of the two."
                )

    def take_rows(self, rows: np.ndarray) -> Supervision:
        """Labels of some rows, and the pairs inside them.

        Parameters
        ----------
        rows : ndarray of int
            Which rows.

        Returns
        -------
        supervision : Supervision
            What is known of these rows, numbered anew.
        """
        pairs = (
            None if p is None else Pairs(p, self.n_samples)[rows].pairs for p in (self.must_link, self.cannot_link)
        )
        told = dict(zip(("must_link", "cannot_link"), pairs, strict=True))
        return Supervision(len(rows), None if self.y is None else self.y[rows], **told, unlabeled=self.unlabeled)

    @property
    def missing(self) -> np.ndarray:
        """Mask of the rows whose label is missing; rows with the label ``unlabeled`` are not included."""
        if self._seen is not None:
            return self._seen.where(_is_missing)
        if self.y is None or self.y.dtype.kind != "f":
            return np.zeros(self.n_samples, dtype=bool)
        return np.isnan(self.y)

    @property
    def has_pairs(self) -> bool:
        """Whether pairs were given."""
        return self.must_link is not None or self.cannot_link is not None

    @property
    def has_classes(self) -> bool:
        """Whether y is given and can be read as classes."""
        return self.y is not None and not _looks_continuous(self.y)

    @property
    def labelled(self) -> np.ndarray:
        """Mask of the rows whose label is known."""
        if self.y is None:
            return np.zeros(self.n_samples, dtype=bool)
        known = ~self.missing
        if self.unlabeled is not None and not _looks_continuous(self.y):
            # A marker of another type than the labels (the default -1 with strings) marks nothing.
            if self._seen is not None:
                known &= self._seen.where(lambda value: not _is_missing(value) and bool(value != self.unlabeled))
            elif isinstance(self.unlabeled, (Real, np.bool_)):
                known &= self.y != self.unlabeled
        return known

    @property
    def ambiguous(self) -> bool:
        """Whether y holds only -1 and 1, so that -1 may be a class or mean unknown."""
        y = self.y
        if y is None or self.unlabeled != -1 or y.dtype.kind not in "if" or _looks_continuous(y):
            return False
        return set(np.unique(y[~self.missing]).tolist()) == {-1, 1}

    def task(self, stated: str = "auto") -> str:
        """Whether y holds "classes" or a "target", as stated or by a rule.

        Text and booleans are classes. Numbers that are not integers are a target. Integers are classes if there are at
        most 100 different ones, and if each occurs in three rows or more on average or they are 0, 1, 2, ... or 1, 2,
        ... without a gap. Otherwise integers are a target.

        Parameters
        ----------
        stated : {"auto", "classes", "target"}, default="auto"
            The choice of the caller; "auto" uses the rule.

        Returns
        -------
        task : {"classes", "target", "nothing"}
            What y holds; "nothing" without y.
        """
        check_choice("task", stated, ("auto", "classes", "target"))
        if self.y is None or stated != "auto":
            return "nothing" if self.y is None else stated
        if not self.has_classes:
            return "target"
        if self.y.dtype.kind == "O":
            return "classes"
        numbers = np.asarray(self.y[~self.missing], dtype=np.float64)
        if isinstance(self.unlabeled, (int, float)):
            numbers = numbers[numbers != self.unlabeled]
        different = np.unique(numbers)
        counts_up = len(different) and different[0] in (0, 1) and different[-1] - different[0] == len(different) - 1
        few = len(different) <= _MOST_CLASSES and (3 * len(different) <= len(numbers) or counts_up)
        return "classes" if few or len(different) <= 2 else "target"

    def classes(self, reader: str) -> tuple[np.ndarray, np.ndarray]:
        """Classes as codes; raises an error if there are fewer than two.

        Parameters
        ----------
        reader : str
            Name of the caller for the error message.

        Returns
        -------
        codes : ndarray of int, shape (n_samples,)
            Codes 0, 1, ...; -1 if unknown.
        names : ndarray
            The class of each code.
        """
        if self._classes is not None:
            return self._classes
        y, known = self._require_y(reader, "class labels"), self.labelled
        if _looks_continuous(y):
            value = next(v for v in y[known] if not float(v).is_integer())
            raise ValueError(
                f"{reader} reads class labels, but y holds real values such as {value}; use a regression method "
                "(sls, ssls, correlation), or bin y into classes."
            )
        if y.dtype.kind == "f":
            y = np.where(self.missing, 0, y).astype(np.int64)
        if self.ambiguous:
            raise ParameterError(
                "y holds only -1 and 1: is -1 a class or an unknown label? Pass unlabeled=None if both are classes, "
                "or recode the classes as 0 and 1 and keep -1 for unknown.",
                parameter="y",
                way_out={"unlabeled=None": ("unlabeled", None)},
            )
        if not known.any():
            raise ValueError(
                f"{reader} needs labelled rows, but all {len(y)} labels in y are unknown "
                f"(unlabeled={self.unlabeled!r}); label some rows or use an unsupervised method such as laplacian."
            )
        codes = np.full(len(y), -1)
        try:
            if self._seen is None:
                names, codes[known] = np.unique(y[known], return_inverse=True)
            else:  # sort only the different values
                names, codes[known] = self._seen.ranked(known)
        except TypeError:
            kinds = sorted({type(v).__name__ for v in y[known]})
            raise TypeError(f"y mixes labels of types {', '.join(kinds)}; use one type for all classes.") from None
        if len(names) < 2:
            raise ValueError(
                f"{reader} needs at least two classes, but the {int(known.sum())} labelled rows of y are all of "
                f"class {names[0]}; label rows of another class."
            )
        codes.flags.writeable = False  # kept, because the criterion and each of its graphs ask for them
        self._classes = codes, names
        return self._classes

    def target(self, reader: str) -> np.ndarray:
        """Real targets; raises an error if fewer than two are known.

        Parameters
        ----------
        reader : str
            Name of the caller for the error message.

        Returns
        -------
        target : ndarray of float64, shape (n_samples,)
            The targets; NaN if unknown.
        """
        y = self._require_y(reader, "a real-valued target")
        try:
            target = np.where(self.missing, np.nan, y).astype(np.float64)
        except (TypeError, ValueError):
            value = next(v for v in y if isinstance(v, str) and v)
            raise ValueError(
                f"{reader} reads a real-valued target, but y holds {value!r}; use a classification method "
                "(sselect, fisher, relieff), or encode y as numbers."
            ) from None
        if np.isinf(target).any():
            raise ValueError(f"y holds inf in row {int(np.argmax(np.isinf(target)))}; use NaN for unknown targets.")
        if np.count_nonzero(~np.isnan(target)) < 2:
            raise ValueError(
                f"{reader} needs at least two known targets, but y holds {np.count_nonzero(~np.isnan(target))} among "
                f"{len(y)} rows (NaN is unknown); add targets or use an unsupervised method such as laplacian."
            )
        return target

    def _require_y(self, reader: str, what: str) -> np.ndarray:
        if self.y is not None:
            return self.y
        hint = "; must_link and cannot_link pairs cannot replace it, use the method 'constraint'" * self.has_pairs
        # scikit-learn's checks expect the words of the first clause.
        message = f"{reader} requires y to be passed, but the target y is None: it reads {what}{hint}."
        raise ParameterError(message, parameter=("must_link", "cannot_link"))


def check_pairs(pairs: Any, n_samples: int, name: str) -> np.ndarray:
    """Pairs of distinct row numbers as a sorted array of shape (p, 2) without duplicates."""
    if isinstance(pairs, Pairs):
        if pairs.n_samples != n_samples:
            raise ValueError(
                f"{name} is made for n_samples={pairs.n_samples}, but X has {n_samples} rows; "
                f"build it as Pairs(pairs, n_samples={n_samples})."
            )
        return pairs.pairs
    array = np.asarray(pairs)
    if array.size == 0:
        return np.empty((0, 2), dtype=np.intp)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"{name} must have shape (n_pairs, 2), one pair of row numbers per line; got {array.shape}.")
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold integer row numbers, got dtype {array.dtype}; convert row ids to positions.")
    outside = np.flatnonzero((array < 0) | (array >= n_samples))
    if len(outside):
        p = int(outside[0]) // 2
        raise ValueError(
            f"{name}[{p}] = {tuple(array[p].tolist())} is out of range: X has {n_samples} rows, numbered from 0 to "
            f"{n_samples - 1}. Inside cross-validation pass Pairs(pairs, n_samples) instead of an index array."
        )
    own = np.flatnonzero(array[:, 0] == array[:, 1])
    if len(own):
        p = int(own[0])
        raise ValueError(f"{name}[{p}] = {tuple(array[p].tolist())} pairs a row with itself; drop it.")
    return np.unique(np.sort(array.astype(np.intp), axis=1), axis=0)


def pairs_from_labels(
    y: Any, n_pairs: int, random_state: Any = None, *, unlabeled: Any = -1
) -> tuple[np.ndarray, np.ndarray]:
    """Draw must-link and cannot-link pairs from (partial) class labels, half of each, as in [KA] section 7.2.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Class labels; unknown labels are ignored.
    n_pairs : int
        Total number of pairs; if it is odd, there is one more must-link pair.
    random_state : int, RandomState or None, default=None
        Random seed.
    unlabeled : object, default=-1
        The class label that means "unknown".

    Returns
    -------
    must_link, cannot_link : ndarray of shape (p, 2)
        Random pairs without replacement, from all pairs of labelled rows with equal classes and with different classes.

    Examples
    --------
    >>> from fiedler import pairs_from_labels
    >>> must_link, cannot_link = pairs_from_labels([0, 0, 1, 1, -1], n_pairs=4, random_state=0)
    >>> must_link
    array([[0, 1],
           [2, 3]])
    """
    if not isinstance(n_pairs, (int, np.integer)) or isinstance(n_pairs, bool) or n_pairs < 2:
        raise ValueError(f"n_pairs must be an integer of at least 2, got {n_pairs!r}.")
    codes, _ = Supervision(len(y), y, unlabeled=unlabeled).classes("pairs_from_labels")
    rows, rng = np.flatnonzero(codes >= 0), check_random_state(random_state)
    sizes = np.bincount(codes[rows])
    wanted = np.array([(n_pairs + 1) // 2, n_pairs // 2])
    agreeing = int((sizes * (sizes - 1) // 2).sum())
    available = np.array([agreeing, len(rows) * (len(rows) - 1) // 2 - agreeing])
    if (wanted > available).any():
        raise ValueError(
            f"n_pairs={n_pairs} needs {wanted[0]} must-link and {wanted[1]} cannot-link pairs, but the "
            f"{len(rows)} labelled rows have {available[0]} and {available[1]}; use fewer pairs or label more rows."
        )
    if len(rows) > 1500:  # too many pairs to list
        must, cannot = _draw_many(rows, codes, wanted, rng)
    else:
        i, j = (rows[ends] for ends in np.triu_indices(len(rows), 1))
        differ = codes[i] != codes[j]
        drawn = [rng.choice(np.flatnonzero(differ == kind), wanted[kind], replace=False) for kind in (0, 1)]
        must, cannot = (np.column_stack([i[d], j[d]]) for d in drawn)
    return np.unique(must, axis=0), np.unique(cannot, axis=0)


def _draw_many(rows: np.ndarray, codes: np.ndarray, wanted: np.ndarray, rng: Any) -> list[np.ndarray]:
    """Pairs by rejection sampling."""
    drawn: tuple[dict, dict] = ({}, {})
    while any(len(d) < w for d, w in zip(drawn, wanted, strict=True)):
        a, b = rng.randint(len(rows), size=(2, 64 + 8 * int(wanted.sum())))
        for i, j in zip(rows[a].tolist(), rows[b].tolist(), strict=True):
            differ = int(codes[i] != codes[j])
            if i != j and len(drawn[differ]) < wanted[differ]:
                drawn[differ][(min(i, j), max(i, j))] = None
    return [np.array(list(d), dtype=np.intp).reshape(-1, 2) for d in drawn]


def _as_vector(y: Any, n_samples: int) -> tuple[np.ndarray, Distinct | None]:
    """y as numbers, or as objects together with their different values."""
    frame, y = hasattr(y, "iloc"), np.asarray(y)
    if y.ndim == 2 and y.shape[1] > 1:
        one = "y.iloc[:, j]" if frame else "y[:, j]"
        raise ParameterError(
            f"y has {y.shape[1]} columns, but only one target is read at a time; fit once per target: "
            f"[clone(selector).fit(X, {one}) for j in range({y.shape[1]})].",
            parameter="y",
            value=y.shape,
        )
    y = column_or_1d(y, warn=True)
    if len(y) != n_samples:
        raise ValueError(f"y has {len(y)} entries but X has {n_samples} rows; they must match.")
    if y.dtype.kind in "biuf":
        return (y.astype(np.int64) if y.dtype.kind != "f" else y), None
    if y.dtype.kind == "c":
        raise ValueError("Complex data not supported: y must hold classes or real targets.")
    y = y.astype(object)
    seen = Distinct(y.tolist())
    if all(isinstance(v, (int, float, np.number, np.bool_)) for v in seen.values if not _is_missing(v)):
        # Frames can give numbers in an object array.
        return seen.spread((np.nan if _is_missing(v) else v for v in seen.values), np.float64), None
    return y, seen


def _is_missing(value: Any) -> bool:
    """Whether a label is None, NaN, pandas.NA or an empty string."""
    empty = isinstance(value, str) and value == ""
    nan = isinstance(value, (float, np.floating)) and bool(np.isnan(value))
    return value is None or empty or nan or type(value).__name__ == "NAType"


def _looks_continuous(y: np.ndarray) -> bool:
    if y.dtype.kind != "f":
        return False
    known = y[~np.isnan(y)]
    return bool((known != np.floor(known)).any()) or bool(np.isinf(known).any())
