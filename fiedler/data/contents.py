"""What is asked of a file, what a reader finds in it, and the table that is made of both.

A reader of a format turns a :class:`Request` into :class:`Contents`. A file of named columns is read once, as
:class:`Cells`; :func:`arrange` gives every column its role and makes X, labels and row ids of them. The other functions
are common to readers and writers: they find columns by name, and the matrix and the labels among named arrays.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, time, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..errors import ParameterError
from ..validation import is_sparse
from ..words import did_you_mean
from .columns import Column, Groups, Prepared, category_column, checked, encode, notes_on, read_column, sentences
from .source import Source
from .text import MISSING, Gathered, some, to_number

_REPEATED = 3  # how often a value of a category occurs on average, if it is a number
_LISTED = 10  # columns that an error describes


@dataclass
class Request:
    """A request to read a file; :func:`read_table` explains the fields.

    Parameters
    ----------
    path : Path
        An existing file.
    target : str or int, optional
        Column, or variable, of the labels.
    ids : list of str or int
        Columns that name the rows.
    layer : str, optional
        Layer of an AnnData.
    header : bool, optional
        Whether the first line holds the names.
    memory : float
        Memory limit for X in bytes; a larger X stays in its file if the format can be read in blocks.
    sheet : str or int, optional
        Sheet of a workbook.
    drop : list of str or int
        Columns to leave out.
    numeric_only : bool
        Whether columns that hold no numbers are left out.
    skip_rows : int, optional
        Number of lines before the table; by default titles above it are found.
    transpose : bool
        Whether the file holds one feature per row.
    lenient : bool
        Whether columns with wrong cells are described instead of being an error.
    categories : list of str or int
        Columns of codes, which are read as categories although they hold numbers; "all" for all features.
    kept : ReadOnce, optional
        Where the cells are kept for another request to the same file.
    """

    path: Path
    target: str | int | None = None
    ids: list[str | int] = field(default_factory=list)
    layer: str | None = None
    header: bool | None = None
    memory: float = float("inf")
    sheet: str | int | None = None
    drop: list[str | int] = field(default_factory=list)
    numeric_only: bool = False
    skip_rows: int | None = None
    transpose: bool = False
    lenient: bool = False
    categories: list[str | int] = field(default_factory=list)
    kept: ReadOnce | None = None

    @property
    def named(self) -> list[str]:
        """Columns that the caller gave by name; texts that may be numbers are excluded."""
        given = [c for c in (self.target, *self.ids, *self.drop) if isinstance(c, str)]
        return [name for name in given if not name.lstrip("-").isdigit()]


class ReadOnce(os.PathLike):
    """The path of a file that is read once, although it is looked at first and then read as a table."""

    def __init__(self, path: str | os.PathLike):
        self._path, self._read = os.fspath(path), dict[Any, Cells]()

    def __fspath__(self) -> str:
        return self._path

    __str__ = __fspath__

    def cells(self, request: Request, read: Callable[[Request], Cells]) -> Cells:
        """The cells of the file; they are read again if the request implies another layout of the file."""
        layout = request.header, request.sheet, request.skip_rows, request.transpose
        found = self._read.get(layout)
        if found is None or not {column.name for column in found.columns}.issuperset(request.named):
            found = read(request)
        self._read = {layout: found}
        return found


@dataclass
class Contents:
    """The contents of a file, as found by a reader.

    Parameters
    ----------
    X : ndarray, sparse array or Source
        The features; missing cells are NaN.
    names : list of str, optional
        Names of the features.
    y : sequence, optional
        Labels as stored in the file.
    row_ids : sequence, optional
        Names of the rows.
    layout : dict
        Information for the writer of the same format. ``layout["features"]`` are the columns of the file in X, and
        ``layout["left_out"]`` the columns that the caller left out.
    notes : list of str
        Notes for the user about what was guessed.
    groups : Groups, optional
        The features, if some are categories, which have several columns of X.
    columns : list of Column, optional
        All columns that were read as features, also those that are not used, if some hold no numbers.
    wrong : dict
        For each column of numbers with wrong cells a description of the first one.
    """

    X: Any
    names: list[str] | None = None
    y: Any = None
    row_ids: Any = None
    layout: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    groups: Groups | None = None
    columns: list[Column] | None = None
    wrong: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """A table read from a file.

    Parameters
    ----------
    X : ndarray, memmap, sparse array or Source of shape (n_samples, n_columns)
        The features; missing cells are NaN, see :func:`fill_missing`. A category has one 0/1 column per level.
    feature_names : ndarray of str, shape (n_features,)
        Unique names; ``x0, x1, ...`` if the file has no names.
    row_ids : ndarray of str or None
        Names of the rows, if the file has any.
    y : ndarray or None
        Labels; unknown labels are NaN among numbers, and None among words.
    source : Path
        The file.
    format : str
        Name of the format, as returned by :func:`file_format`.
    layout : dict
        Layout of the file for :func:`write_table`.
    groups : Groups or None
        Which columns of X form which feature; None if every feature is one column.
    """

    X: Any
    feature_names: np.ndarray
    row_ids: np.ndarray | None
    y: np.ndarray | None
    source: Path
    format: str
    layout: dict[str, Any] = field(default_factory=dict)
    groups: Groups | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return self.X.shape[0], len(self.feature_names)

    @property
    def prepared(self) -> Prepared:
        """X and its features, as :meth:`fiedler.Problem.read` takes them."""
        return Prepared(self.X, self.groups)

    def names_of_columns(self, mask: np.ndarray) -> list[str]:
        """Names of the features to which some columns of X belong.

        Parameters
        ----------
        mask : ndarray of bool
            Which columns of X.

        Returns
        -------
        names : list of str
            Each name once.
        """
        owner = np.arange(self.X.shape[1]) if self.groups is None else self.groups.owner
        return list(dict.fromkeys(self.feature_names[owner[mask]].tolist()))

    def __repr__(self) -> str:
        n, m = self.shape
        labels = (
            "no labels"
            if self.y is None
            else f"{sum(v is not None and v == v for v in self.y.tolist())} of {n} labels known"
        )
        return f"Table({n} rows x {m} features, {labels}, source={str(self.source)!r})"


# -------------------------------------------------------------------- named columns


@dataclass
class Cells:
    """The columns of a file, read once.

    ``X`` are the columns of kind "number" as one matrix, in the order of the file. ``again(places)`` reads the cells of
    such columns, as they are in the file, and ``shown`` makes labels and row ids of cells.
    """

    columns: list[Column]
    X: np.ndarray
    again: Callable[[list[int]], dict[int, list[Any]]]
    shown: Callable[[Any], Any] | None = None
    first_names_rows: bool = False  # whether the first column names the rows, if the request does not say which one
    layout: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def raw(self, wanted: list[int]) -> dict[int, list[Any]]:
        """The cells of some columns, as they are in the file."""
        again = [j for j in wanted if self.columns[j].kind == "number"]
        return {j: list(self.columns[j].cells) for j in wanted} | (self.again(again) if again else {})

    def numbers(self, wanted: list[int]) -> np.ndarray:
        """Some columns of numbers."""
        place = {j: k for k, j in enumerate(j for j, column in enumerate(self.columns) if column.kind == "number")}
        places = [place[j] for j in wanted]
        return self.X if places == list(range(self.X.shape[1])) else np.take(self.X, places, axis=1)


def read_cells(
    request: Request,
    names: list[str],
    gather: Callable[[list[int], list[int]], Gathered],
    line: str = "row",
    what: Callable[[Any], str] | None = None,
    shown: Callable[[Any], Any] | None = None,
    first_names_rows: bool = False,
) -> Cells:
    """The columns that a request needs, or all of them if another request may follow, by ``gather(numeric, texts)``."""
    role = roles(names, request, first_names_rows)
    texts = [] if request.kept else role.texts
    numeric = list(range(len(names))) if request.kept else [j for j in role.features if j not in role.codes]
    found, what = gather(numeric, texts), what or not_a_number
    place, columns = {j: k for k, j in enumerate(found.numeric)}, list[Column]()
    for j, name in enumerate(names):
        at, cell = found.odd.get(j, (0, None))
        odd = f"{line} {at}, column {name!r}: {what(cell)}" if j in found.odd else ""
        kind = "number" if j in place else "cells"
        values = found.X[:, place[j]] if j in place else np.empty(0)
        columns.append(Column(name, kind, values, cells=found.cells.get(j, ()), odd=odd))
    return Cells(columns, found.X, lambda places: gather([], places).cells, shown, first_names_rows)


def arrange(request: Request, found: Cells) -> Contents:
    """X, its features, labels and row ids of the columns of a file: the one way from columns to a matrix.

    A column that holds mostly numbers, and no category, is an error: some of its cells are wrong.
    """
    columns, names = found.columns, [column.name for column in found.columns]
    role = roles(names, request, found.first_names_rows)
    features, codes, out, notes = role.features, role.codes, role.dropped, list(found.notes)
    raw = found.raw(role.texts)
    texts = raw if found.shown is None else {j: list(map(found.shown, cells)) for j, cells in raw.items()}
    y, row_ids = (None if j is None else texts[j] for j in (role.target, role.row_ids))
    odd = {j: columns[j].odd for j in features if columns[j].kind != "number" and j not in codes}
    if request.numeric_only:
        features, said = usable(request, names, features, odd)
        out, notes, odd = sorted([*out, *odd]), notes + said, {}
    layout = found.layout | {"features": features, "left_out": out}
    if not odd and not codes:
        return Contents(found.numbers(features), [names[j] for j in features], y, row_ids, layout, notes)
    typed = {j: _typed(columns[j], raw[j] if j in codes else None) for j in features}
    wrong = {j: odd[j] for j in odd if _holds_numbers(typed[j])}
    if request.lenient:
        typed |= {j: typed[j]._replace(kind="wrong") for j in wrong}
    else:
        usable(request, names, features, wrong)
    used, said = [j for j in features if typed[j].used], notes_on(typed.values())
    if not used and not request.lenient:
        raise ValueError(f"{request.path} has no column that can be used: {'; '.join(said)}.")
    notes += [f"{request.path} is not purely numeric. {sentences(said)}"] * bool(said)
    X, groups = encode([typed[j] for j in used])
    layout |= {"features": used, "left_out": sorted({*out, *features} - set(used))}
    made = Contents(X, [names[j] for j in used], y, row_ids, layout, notes, columns=list(typed.values()))
    made.groups, made.wrong = groups if X.shape[1] != len(used) else None, {names[j]: odd[j] for j in wrong}
    return made


def usable(request: Request, names: list[str], features: list[int], bad: dict[int, str]) -> tuple[list[int], list[str]]:
    """The features without columns that hold no numbers, and notes for the user.

    ``bad`` describes the content of each such column. An error that lists all of them is raised if they must not be
    left out.
    """
    if not bad:
        return features, []
    gone = [names[j] for j in sorted(bad)]
    if not request.numeric_only or len(bad) == len(features):
        told = "; ".join([bad[j] for j in sorted(bad)][:_LISTED])
        more = f"; and {len(bad) - _LISTED} more columns" if len(bad) > _LISTED else ""
        which, it = ("this column is no feature", "it") if len(gone) == 1 else ("these columns are no features", "them")
        raise ParameterError(
            f"{request.path}: {told}{more}. Correct the cells, or, if {which}, name {it} as the target or as an id "
            f"column, or leave {it} out with drop={gone} or numeric_only=True.",
            parameter="drop",
            way_out={f"drop={gone}": ("drop", gone), "numeric_only=True": ("numeric_only", True)},
        )
    return [j for j in features if j not in bad], [f"{request.path}: {some(gone)} skipped: not numeric."]


def not_a_number(cell: Any) -> str:
    a_date = isinstance(cell, (date, time, timedelta))
    return f"{str(cell)[:40]!r} is {'a date, not a number' if a_date else 'not a number'}"


def _typed(column: Column, codes: list[Any] | None) -> Column:
    """A column with its kind, or a category of codes; cells such as NA are missing."""
    if column.kind not in ("number", "cells"):
        return column
    if column.kind == "number" and codes is None:
        return checked(column._replace(values=np.asarray(column.values, dtype=np.float64)))
    cells = column.cells if codes is None else codes
    cells = [None if isinstance(cell, str) and cell.strip() in MISSING else cell for cell in cells]
    return read_column(column.name, cells) if codes is None else category_column(column.name, cells)


def _holds_numbers(column: Column) -> bool:
    """Whether a column holds mostly numbers, and is no category: its values are many, or occur hardly three times."""
    if column.kind == "number":  # Python reads 1_000 and decimal points, tables may not mean it
        return True
    numbers = np.array([to_number(level, False) is not None for level in column.levels])
    codes = column.values[column.known].astype(np.intp)
    rare = column.kind == "text" or len(codes) < _REPEATED * len(numbers)
    return column.kind in ("category", "text") and rare and 2 * int(numbers[codes].sum()) >= len(codes)


class Roles(NamedTuple):
    """What the columns of a table are for, by their positions."""

    features: list[int]
    target: int | None
    row_ids: int | None
    codes: list[int]  # features that the caller declares as categories
    dropped: list[int]

    @property
    def texts(self) -> list[int]:
        """The columns whose cells are needed as they are."""
        return [j for j in (self.target, self.row_ids, *self.codes) if j is not None]


def roles(names: list[str], request: Request, first_names_rows: bool = False) -> Roles:
    """The roles of named columns; the first id column names the rows, and the others are not used."""
    place = lambda column: position(column, names, request.path)  # noqa: E731
    target = None if request.target is None else place(request.target)
    ids, dropped = [place(column) for column in request.ids], sorted({place(column) for column in request.drop})
    both = next((j for j in dropped if j == target or j in ids), None)
    if both is not None:
        raise ValueError(f"{request.path}: column {names[both] or both!r} is in drop, and named as target or id.")
    # R and pandas write row names in a column without a name.
    unnamed = [j for j, name in enumerate(names) if name in ("", "__index_level_0__") and j in (0, len(names) - 1)]
    ids = [j for j in ids or [0] * first_names_rows or unnamed if j != target]
    features = [j for j in range(len(names)) if j not in {target, *ids, *dropped}]
    if not features:
        raise ValueError(f"{request.path} has no feature columns except the target and the ids.")
    every = request.categories == ["all"] and "all" not in names
    codes = features if every else sorted({place(column) for column in request.categories})
    other = next((j for j in codes if j not in features), None)
    if other is not None:
        raise ValueError(f"{request.path}: column {names[other]!r} is named as a category, but is no feature.")
    return Roles(features, target, ids[0] if ids else None, codes, dropped)


def position(column: str | int, names: list[str], path: Path) -> int:
    """The position of a column, by its name or its number (from 0; negative from the end)."""
    if isinstance(column, str):
        where = [j for j, name in enumerate(names) if name == column]
        if len(where) > 1:
            raise ValueError(f"{path} has {len(where)} columns named {column!r}; give its number instead: {where}.")
        if where:
            return where[0]
        if not column.lstrip("-").isdigit():
            some = ", ".join(names[:8]) + (" and others" if len(names) > 8 else "")
            raise ValueError(f"{path} has no column {column!r}; {did_you_mean(column, names, 0.6)}Columns: {some}.")
    number = int(column)
    if not -len(names) <= number < len(names):
        raise ValueError(f"{path} has no column {number}: its {len(names)} columns are numbered from 0.")
    return number % len(names)


# -------------------------------------------------------------------- named arrays


def matrix_name(arrays: dict[str, Any], path: Path) -> str:
    """The name of the matrix: X, x or data, otherwise the only two-dimensional numeric array."""
    matrices = [n for n, a in arrays.items() if getattr(a, "ndim", 0) == 2 and a.dtype.kind in "biuf"]
    named = [n for n in ("X", "x", "data") if n in matrices]
    wide = [n for n in matrices if min(arrays[n].shape) > 1]
    if not named and len(wide) != 1:
        raise ValueError(f"{path} needs one matrix named X; it holds {', '.join(arrays) or 'nothing'}.")
    return (named or wide)[0]


def beside(arrays: dict[str, Any], request: Request) -> tuple[Any, Any, Any]:
    """The labels, the names of the features and the names of the rows, if there are any.

    The labels are the variable that the caller names as the target; by default y, Y, labels or target.
    """
    target = request.target
    if target is None:
        y = next((arrays[name] for name in ("y", "Y", "labels", "target") if name in arrays), None)
    elif str(target) in arrays:
        y = arrays[str(target)]
    else:
        hint = did_you_mean(str(target), arrays)
        raise ValueError(f"{request.path} has no variable {target!r}; {hint}Its variables: {', '.join(arrays)}.")
    return y, arrays.get("feature_names"), arrays.get("row_ids")


def of_arrays(
    arrays: dict[str, Any], request: Request, load: Callable[[Any], Any], X: Any = None, ids: bool = True
) -> Contents:
    """The contents of named arrays, of which only those that are needed are loaded; X may be loaded already."""
    X = load(arrays[matrix_name(arrays, request.path)]) if X is None else X
    y, *named = (None if item is None else load(item) for item in beside(arrays, request))
    names, row_ids = (
        None if texts is None else [str(text).strip() for text in np.asarray(texts).ravel().tolist()] for texts in named
    )
    return Contents(X, names, y, row_ids if ids else None)


def without_column(X: Any, request: Request) -> Contents:
    """The contents of a matrix of which one column may be the target."""
    if np.ndim(X) != 2:
        raise ValueError(f"{request.path} holds an array of shape {np.shape(X)}; a table has rows and columns.")
    if request.target is None:
        return Contents(X, layout={"features": list(range(X.shape[1]))})
    target = position(request.target, [str(j) for j in range(X.shape[1])], request.path)
    kept = [j for j in range(X.shape[1]) if j != target]
    names, layout = [f"x{j}" for j in kept], {"features": kept}
    y = X.unchecked([target]) if isinstance(X, Source) else X[:, [target]]  # an unknown label may be NaN
    y = (y.toarray() if is_sparse(y) else np.array(y)).ravel()
    if isinstance(X, Source):
        X = X.without_column(target)
    elif target in (0, len(kept)) and not is_sparse(X):  # a view does not read a memory-mapped file
        X = X[:, 1:] if target == 0 else X[:, :-1]
    else:
        X = X[:, kept]
    return Contents(X, names, y, None, layout)


def flipped(found: Contents, path: Path) -> Contents:
    """The contents of a matrix that holds one feature per row, as a table with one row per sample."""
    if isinstance(found.X, Source) or found.groups is not None or found.y is not None:
        raise ParameterError(
            f"{path}: transpose=True needs a matrix of numbers in memory, without a column of labels; give the labels "
            "as a file.",
            parameter="transpose",
            value=True,
        )
    X = sp.csc_array(found.X.T) if is_sparse(found.X) else found.X.T
    names = None if found.row_ids is None else [str(name) for name in found.row_ids]
    return Contents(X, names, None, found.names, {"features": list(range(X.shape[1])), "transposed": True}, found.notes)


def named_arrays(table: Table, selected: np.ndarray) -> dict[str, Any]:
    """The arrays of a reduced table: X, feature_names, and y and row_ids if there are any."""
    arrays = {"X": table.X[:, selected], "feature_names": table.feature_names[selected].astype(str)}
    if table.layout["y"] is not None:  # as in the file, including its marks for unknown labels
        arrays["y"] = np.asarray(table.layout["y"])
    if table.row_ids is not None:
        arrays["row_ids"] = table.row_ids.astype(str)
    return arrays


def dropped_columns(table: Table, selected: np.ndarray) -> set[int]:
    """Columns of the file that a reduced table leaves out; ids, target and other columns stay."""
    features = table.layout["features"]
    return set(features) - {features[j] for j in selected} | set(table.layout.get("left_out", ()))


def kept_columns(X: Any, table: Table, selected: np.ndarray) -> Any:
    """The columns of the matrix in the file that a reduced table keeps."""
    gone = dropped_columns(table, selected)
    return X[:, [j for j in range(X.shape[1]) if j not in gone]]


# -------------------------------------------------------------------- missing cells


def fill_missing(table: Table, how: str | None = None) -> Any:
    """X of a table without missing cells, filled with the median or mean of each column or with zero if requested.

    Parameters
    ----------
    table : Table
        A table of :func:`read_table`.
    how : {"median", "mean", "zero"}, optional
        How missing cells are filled. By default they raise an error that counts them and names their columns. A column
        without any value is filled with 0 and therefore gets no score. Missing cells of categories stay missing.

    Returns
    -------
    X : ndarray or sparse array
        The filled matrix; ``table.X`` itself if nothing is missing.
    """
    if isinstance(table.X, Source):
        if how is not None:
            raise ParameterError(
                f"{table.source} is read block by block, but how={how!r} needs it in memory; fill missing cells first, "
                "or allow more memory.",
                parameter="how",
                value=how,
                way_out={f"how={how!r}": ("impute", how), "more memory": ("memory", ...)},
            )
        return table.X  # a missing cell is reported when its block is read
    gaps = check_infinite(table)
    if not gaps.any():
        return table.X
    if how is None:
        count, columns = int(gaps.sum()), some(table.names_of_columns(gaps > 0))
        raise ParameterError(
            f"{table.source}: {count} missing cell{'s' * (count > 1)} in {columns}; fill them with "
            "fill_missing(table, 'median'), or drop those columns.",
            parameter="how",
            way_out={"fill_missing(table, 'median')": ("impute", "median")},
        )
    from sklearn.impute import SimpleImputer

    strategy = {"median": "median", "mean": "mean", "zero": "constant"}.get(how)
    if strategy is None:
        raise ValueError(f"how must be 'median', 'mean' or 'zero', got {how!r}.")
    X = sp.csc_array(table.X) if is_sparse(table.X) else table.X
    filled = SimpleImputer(strategy=strategy, fill_value=0, keep_empty_features=True).fit_transform(X)
    return filled if table.groups is None else np.where(table.groups.indicators, table.X, filled)


def check_infinite(table: Table) -> np.ndarray:
    """Raise an error that names the columns with infinite values; otherwise the number of missing cells per column."""
    X = table.X
    gaps = np.zeros(X.shape[1], dtype=np.intp)
    if isinstance(X, Source) or X.dtype.kind != "f":
        return gaps
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(np.sum(X.data if is_sparse(X) else X, dtype=np.float64)):
            return gaps
    infinite = np.zeros(X.shape[1], dtype=bool)
    for start in range(0, X.shape[1], 256):
        columns = slice(start, start + 256)
        block = X[:, columns].toarray() if is_sparse(X) else X[:, columns]
        gaps[columns], infinite[columns] = np.isnan(block).sum(axis=0), np.isinf(block).any(axis=0)
    if infinite.any():
        names = table.names_of_columns(infinite)
        raise ParameterError(
            f"{table.source}: infinite values in {some(names)}; replace them, or leave them out with drop={names}.",
            parameter="drop",
            way_out={f"drop={names}": ("drop", names)},
        )
    return gaps
