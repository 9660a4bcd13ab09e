"""Tables of files: what is asked of a file, what it holds, and the formats of named columns (CSV, Excel, ARFF, Arrow).

A reader of a format turns a :class:`Request` into :class:`Contents`. A file of named columns is read once by an
established library, as :class:`Cells`; :func:`arrange` gives every column its role and makes X, labels and row ids of
them, for all formats. Other functions are common to readers and writers: they find columns by name, and the matrix and
the labels among named arrays.
"""

from __future__ import annotations

import csv
import gc
import math
import os
import re
import sys
import warnings
import zipfile
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, time, timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..errors import ParameterError
from ..validation import check_choice, is_sparse, require
from ..words import did_you_mean, first_line
from . import text
from .columns import (
    Column,
    Groups,
    Prepared,
    category_column,
    checked,
    encode,
    is_missing,
    kept,
    notes_on,
    of_levels,
    read_column,
    sentences,
    unused,
)
from .files import ParquetFile, arrow_dtype, as_floats, is_arrow_number, named_damage
from .memory import TEXT_BYTES, check_size
from .source import Source, cells_per_column
from .text import Cells, as_number, gather, some, to_number
from .work import counting

_REPEATED = 3  # how often a value of a category occurs on average, if it is a number
_LISTED = 10  # columns that an error describes
_COLUMNS_AT_ONCE = 512
_XML_COST = 25  # measured bytes of memory that openpyxl takes per byte of XML
_MOST_ROWS = 2**20  # largest number of rows of a sheet in Excel

# -------------------------------------------------------------------- requests and tables


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
        if found is None or not set(found.names).issuperset(request.named):
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
        known = 0 if self.y is None else sum(v is not None and v == v for v in self.y.tolist())
        labels = "no labels" if self.y is None else f"{known} of {n} labels known"
        return f"Table({n} rows x {m} features, {labels}, source={str(self.source)!r})"


# -------------------------------------------------------------------- named columns


def not_a_number(cell: Any) -> str:
    """What a cell of a column of numbers is."""
    a_date = isinstance(cell, (date, time, timedelta))
    return f"{str(cell)[:40]!r} is {'a date, not a number' if a_date else 'not a number'}"


def read_cells(
    request: Request,
    names: list[str],
    gather: Callable[[list[int], list[int]], Cells],
    line: str = "row",
    what: Callable[[Any], str] = not_a_number,
    **more: Any,
) -> Cells:
    """The columns that a request needs, or all of them if another request may follow, by ``gather(numeric, texts)``."""
    role = roles(names, request, more.get("first_names_rows", False))
    numeric = [j for j in role.features if j not in role.codes]
    found = gather(list(range(len(names))), []) if request.kept else gather(numeric, role.texts)
    place = {j: k for k, j in enumerate(found.numeric)}
    unnamed = [j for j, name in enumerate(names) if not name and (j in place or j in found.cells)]
    nothing = [j for j in unnamed if all(map(is_missing, found.X[:, place[j]] if j in place else found.cells[j]))]
    middle = {*unnamed} - {0, len(names) - 1, *nothing}  # at the ends an unnamed column holds the names of the rows
    names = [f"x{j}" if j in middle else name for j, name in enumerate(names)]
    odd = {j: f"{line} {at}, column {names[j]!r}: {what(cell)}" for j, (at, cell) in found.odd.items()}
    more |= {"names": names, "nothing": nothing, "odd": odd}
    return replace(found, again=lambda places: gather([], places).cells, **more)


def arrange(request: Request, read: Callable[[Request], Cells]) -> Contents:
    """X, its features, labels and row ids of the columns of a file: the one way from columns to a matrix.

    A column that holds mostly numbers, and no category, is an error: some of its cells are wrong.
    """
    found = read(request) if request.kept is None else request.kept.cells(request, read)
    names, place = found.names, {j: k for k, j in enumerate(found.numeric)}
    role = roles(names, request, found.first_names_rows, found.nothing)
    features, codes, out, notes = role.features, role.codes, role.dropped, list(found.notes)
    again = [j for j in role.texts if j in place]
    raw = found.cells | (found.again(again) if again else {})
    y, row_ids = (None if j is None else list(map(found.shown, raw[j])) for j in (role.target, role.row_ids))
    odd = {j: found.odd[j] for j in features if j not in place and j not in codes}

    def column(j: int) -> Column:
        if j not in odd and j not in codes:
            return checked(Column(names[j], "number", np.asarray(found.X[:, place[j]], dtype=np.float64)))
        if isinstance(raw[j], Column):
            return raw[j]
        return category_column(names[j], raw[j]) if j in codes else read_column(names[j], raw[j], found.number)

    if request.numeric_only:
        words = {j: odd[j] for j in odd if j not in raw or column(j).kind != "number"}
        features, said = usable(request, names, features, words)
        out, notes = sorted([*out, *words]), notes + said
        odd = {j: odd[j] for j in odd if j not in words}
    layout = found.layout | {"features": features, "left_out": out}
    typed, wrong = dict[int, Column](), dict[int, str]()
    if not odd and not codes:
        places = [place[j] for j in features]
        X, groups = found.X if places == list(range(found.X.shape[1])) else np.take(found.X, places, axis=1), None
        if not request.lenient and isinstance(X, np.ndarray) and len(X):
            typed = {features[k]: column for k, column in unused(X, [names[j] for j in features]).items()}
            typed = {j: column for j, column in typed.items() if column.kind == "id"}
        used = [j for j in features if j not in typed]
        X = X if len(used) == len(features) else np.take(X, np.flatnonzero(np.isin(features, used)), axis=1)
    else:
        typed = {j: column(j) for j in features}
        wrong = {j: odd[j] for j in odd if _holds_numbers(typed[j], found.number)}
        if not request.lenient:
            usable(request, names, features, wrong)
        typed = {
            j: c._replace(kind="wrong") if j in wrong else c if request.lenient else kept(c) for j, c in typed.items()
        }
        used = [j for j in features if typed[j].used]
        X, groups = encode([typed[j] for j in used])
        groups = groups if X.shape[1] != len(used) else None
    said, ids = notes_on(typed.values()), [j for j in typed if typed[j].kind == "id"]
    if not used and not request.lenient:
        message = f"{request.path} has no column that can be used: {'; '.join(said)}"
        raise _no_table(message, request, layout.get("sheets", ()))
    notes += [f"{request.path} is not purely numeric. {sentences(said)}"] * bool(said)
    # A column that numbers the rows is written again, as an id is.
    layout |= {"features": used, "left_out": sorted({*out, *features} - {*used, *ids}), "ids": ids, "places": features}
    made = Contents(X, [names[j] for j in used], y, row_ids, layout, notes, groups)
    made.columns = list(typed.values()) if odd or codes else None
    made.wrong = {names[j]: odd[j] for j in wrong}
    return made


def _no_table(message: str, request: Request, sheets: Sequence[str]) -> ParameterError:
    """An error about a sheet without a table, which names the next sheet."""
    at = position(request.sheet or 0, list(sheets), request.path, "sheet") if sheets else 0
    ways = {f"sheet={sheet!r}": ("sheet", sheet) for sheet in sheets[at + 1 : at + 2]}
    more = "".join(f"; choose another sheet with {way}" for way in ways)
    return ParameterError(f"{message}{more}.", parameter="sheet", value=sheets, way_out=ways)


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
        message = f"{request.path}: {told}{more}. Correct the cells, or, if these columns are no features, name them as"
        message += f" the target or as an id column, or leave them out with drop={gone} or numeric_only=True."
        ways = {f"drop={gone}": ("drop", gone), "numeric_only=True": ("numeric_only", True)}
        raise ParameterError(message, parameter="drop", way_out=ways)
    return [j for j in features if j not in bad], [f"{request.path}: {some(gone)} skipped: not numeric."]


def _holds_numbers(column: Column, number: Callable[[Any], float | None]) -> bool:
    """Whether a column that is not read as numbers holds mostly numbers, which are not the codes of a category."""
    numbers = np.array([number(level) is not None for level in column.levels])
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


def roles(names: list[str], request: Request, first_names_rows: bool = False, nothing: Sequence[int] = ()) -> Roles:
    """The roles of named columns; the first id column names the rows, and the others are not used."""
    place = lambda column: position(column, names, request.path)  # noqa: E731
    target = None if request.target is None else place(request.target)
    ids, dropped = [place(column) for column in request.ids], sorted({place(column) for column in request.drop})
    both = next((j for j in dropped if j == target or j in ids), None)
    if both is not None:
        raise ValueError(f"{request.path}: column {names[both] or both!r} is in drop, and named as target or id.")
    # R and pandas write row names in a column without a name.
    unnamed = [j for j, name in enumerate(names) if name in ("", "__index_level_0__") and j in (0, len(names) - 1)]
    unnamed = [j for j in unnamed if j not in nothing]
    ids = [j for j in ids or [0] * first_names_rows or unnamed if j != target]
    features = [j for j in range(len(names)) if j not in {target, *ids, *unnamed, *dropped, *nothing}]
    if not features:
        raise ValueError(f"{request.path} has no feature columns except the target and the ids.")
    every = request.categories == ["all"] and "all" not in names
    codes = features if every else sorted({place(column) for column in request.categories})
    other = next((j for j in codes if j not in features), None)
    if other is not None:
        raise ValueError(f"{request.path}: column {names[other]!r} is named as a category, but is no feature.")
    return Roles(features, target, ids[0] if ids else None, codes, dropped)


def position(wanted: str | int, names: list[str], path: Path, what: str = "column") -> int:
    """The position of a column or a sheet, by its name or its number (from 0; negative from the end)."""
    if isinstance(wanted, str):
        where = [j for j, name in enumerate(names) if name == wanted]
        if len(where) > 1:
            raise ValueError(f"{path} has {len(where)} {what}s named {wanted!r}; give its number instead: {where}.")
        if where:
            return where[0]
        if not wanted.lstrip("-").isdigit():
            listed = ", ".join(names[:8]) + (" and others" if len(names) > 8 else "")
            hint = did_you_mean(wanted, names, 0.6)
            raise ValueError(f"{path} has no {what} {wanted!r}; {hint}{what.capitalize()}s: {listed}.")
    number = int(wanted)
    if not -len(names) <= number < len(names):
        raise ValueError(f"{path} has no {what} {number}: its {len(names)} {what}s are numbered from 0.")
    return number % len(names)


# -------------------------------------------------------------------- named arrays


def matrix_name(arrays: dict[str, Any], path: Path, way_out: str = "") -> str:
    """The name of the matrix: X, x or data, otherwise the only two-dimensional numeric array."""
    matrices = [n for n, a in arrays.items() if getattr(a, "ndim", 0) == 2 and a.dtype.kind in "biuf"]
    named = [n for n in ("X", "x", "data") if n in matrices]
    wide = [n for n in matrices if min(arrays[n].shape) > 1]
    if not named and len(wide) != 1:
        raise ValueError(f"{path} needs one matrix named X; it holds {', '.join(arrays) or 'nothing'}.{way_out}")
    return (named or wide)[0]


def of_arrays(
    arrays: dict[str, Any], request: Request, load: Callable[[str], Any], X: Any = None, ids: bool = True
) -> Contents:
    """The contents of named arrays, of which only those that are needed are loaded; X may be loaded already.

    The labels are the variable that the caller names as the target; by default y, Y, labels or target.
    """
    X = load(matrix_name(arrays, request.path)) if X is None else X
    usual = next((name for name in ("y", "Y", "labels", "target") if name in arrays), None)
    target = usual if request.target is None else str(request.target)
    if target is not None and target not in arrays:
        hint, held = did_you_mean(target, arrays), ", ".join(arrays)
        raise ValueError(f"{request.path} has no variable {request.target!r}; {hint}Its variables: {held}.")
    wanted = [target or "", "feature_names", "row_ids" if ids else ""]
    y, *named = (None if arrays.get(name) is None else load(name) for name in wanted)
    names, row_ids = (
        None if texts is None else [str(text).strip() for text in np.asarray(texts).ravel().tolist()] for texts in named
    )
    return Contents(X, names, y, row_ids)


def without_column(X: Any, request: Request) -> Contents:
    """The contents of a matrix of which one column may be the target."""
    if np.ndim(X) != 2:
        raise ValueError(f"{request.path} holds an array of shape {np.shape(X)}; a table has rows and columns.")
    m = X.shape[1]
    if request.target is None:
        return Contents(X, layout={"features": list(range(m))})
    target = position(request.target, [str(j) for j in range(m)], request.path)
    kept = [j for j in range(m) if j != target]
    y = X.unchecked([target]) if isinstance(X, Source) else X[:, [target]]  # an unknown label may be NaN
    y = (y.toarray() if is_sparse(y) else np.array(y)).ravel()
    # A view does not read a memory-mapped file.
    others: Any = slice(1, m) if target == 0 else slice(0, target) if target == m - 1 else kept
    X = X.without_column(target) if isinstance(X, Source) else X[:, others]
    return Contents(X, [f"x{j}" for j in kept], y, None, {"features": kept})


def flipped(found: Contents, path: Path) -> Contents:
    """The contents of a matrix that holds one feature per row, as a table with one row per sample."""
    if isinstance(found.X, Source) or found.groups is not None or found.y is not None:
        needs = "a matrix of numbers in memory, without a column of labels; give the labels as a file"
        raise ParameterError(f"{path}: transpose=True needs {needs}.", parameter="transpose", value=True)
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
        if how is None:
            return table.X  # a missing cell is reported when its block is read
        message = f"{table.source} is read block by block, but how={how!r} needs it in memory; fill missing cells first"
        ways: dict[str, Any] = {f"how={how!r}": ("impute", how), "more memory": ("memory", ...)}
        raise ParameterError(f"{message}, or allow more memory.", parameter="how", value=how, way_out=ways)
    gaps = check_infinite(table)
    if not gaps.any():
        return table.X
    if how is None:
        count, way_out = int(gaps.sum()), "fill_missing(table, 'median')"
        where = f"{count} missing cell{'s' * (count > 1)} in {some(table.names_of_columns(gaps > 0))}"
        message = f"{table.source}: {where}; fill them with {way_out}, or drop those columns."
        raise ParameterError(message, parameter="how", way_out={way_out: ("impute", "median")})
    from sklearn.impute import SimpleImputer

    check_choice("how", how, ("median", "mean", "zero"))
    strategy = "constant" if how == "zero" else how
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
    gaps, infinite = cells_per_column(X, np.isnan), cells_per_column(X, np.isinf) > 0
    if infinite.any():
        names = table.names_of_columns(infinite)
        message, way_out = f"{table.source}: infinite values in {some(names)}; replace them", f"drop={names}"
        message += f", or leave them out with {way_out}."
        raise ParameterError(message, parameter="drop", way_out={way_out: ("drop", names)})
    return gaps


# -------------------------------------------------------------------- cells of all formats


def _transposed(
    request: Request, rows: list[list[Any]], number: Callable[[Any], float | None], shown: Callable[[Any], Any] = str
) -> Cells:
    """The cells of rows that hold one feature each, with its name in the first cell."""
    width = {len(row) for row in rows}
    if len(width) > 1:
        raise ValueError(f"{request.path}: rows have {min(width)} to {max(width)} cells; all need the same number.")
    names, columns = [shown(row[0]).strip() for row in rows], list(zip(*rows, strict=True))[1:]
    if not columns:
        raise ValueError(f"{request.path} has one column; a table with one feature per row needs more.")
    gathered = partial(gather, request.path, lambda: enumerate(columns), number)
    found = read_cells(request, names, gathered, "column", shown=shown, first_names_rows=True)
    found.layout["transposed"] = True
    return found


# -------------------------------------------------------------------- CSV, TSV


def read_csv(request: Request) -> Contents:
    """Read CSV or TSV; the notes state what was guessed about the file."""

    def read(request: Request) -> Cells:
        found, notes = text.in_some_encoding(request.path, partial(_read_csv, request))
        return replace(found, notes=found.notes + notes)

    return arrange(request, read)


def _read_csv(request: Request, encoding: str | None) -> Cells:
    path = request.path
    dialect = text.sniff(path, request.header, request.named, encoding, request.skip_rows)

    def what(cell: str) -> str:
        return not_a_number(cell) + " (the decimal mark is a comma here)" * (dialect.decimal_comma and "." in cell)

    if request.transpose:
        rows = _all_rows(path, dialect)
        check_size(path, f"{len(rows)} rows of text", TEXT_BYTES * sum(map(len, rows)))
        found = _transposed(request, rows, lambda cell: to_number(cell, dialect.decimal_comma))
    else:
        found = read_cells(request, dialect.names, partial(text.read_delimited, path, dialect), "line", what)
        if not len(found.X):
            raise ValueError(f"{path} has a header but no rows." if dialect.header else f"{path} has no rows.")
    if dialect.decimal_comma:  # a target has the decimal mark of the features
        found.shown = lambda cell: cell.replace(",", ".") if text.COMMA.fullmatch(cell) else cell
        found.number = partial(to_number, decimal_comma=True)
    found.notes, found.layout["dialect"] = dialect.notes, dialect
    return found


def _all_rows(path: Path, dialect: text.Dialect) -> list[list[str]]:
    """The rows of a file, also its header."""
    return [dialect.names] * dialect.header + [row for _, row in text.data_rows(path, dialect)]


def write_csv(path: Path, table: Table, selected: np.ndarray) -> None:
    dialect, gone = table.layout["dialect"], dropped_columns(table, selected)
    with text.opener(path)(path, "wt", encoding="utf-8", newline="") as file:
        out = csv.writer(file, delimiter=_delimiter(path, table), lineterminator="\n")
        if table.layout.get("transposed"):
            out.writerows(row for j, row in enumerate(_all_rows(table.source, dialect)) if j not in gone)
            return
        kept = [j for j in range(len(dialect.names)) if j not in gone]
        if dialect.header:
            out.writerow(dialect.names[j] for j in kept)
        out.writerows([row[j] for j in kept] for _, row in text.data_rows(table.source, dialect))


def _delimiter(path: Path, table: Table) -> str:
    """The delimiter of the suffix; .csv keeps the semicolons of its source, and uses them with decimal commas.

    Runs of blanks become tabs, because an empty cell between blanks could not be recognised.
    """
    dialect = table.layout["dialect"]
    suffixes, before = ({suffix.lower() for suffix in file.suffixes} for file in (path, table.source))
    if suffixes & {".tsv", ".tab"}:
        return "\t"
    if ".csv" not in suffixes:
        return "\t" if dialect.delimiter == text.BLANKS else dialect.delimiter
    return ";" if dialect.decimal_comma or (dialect.delimiter == ";" and ".csv" in before) else ","


# -------------------------------------------------------------------- Parquet, Feather


def read_arrow(request: Request) -> Contents:
    """Parquet or Feather, a group of columns at a time into one matrix; a large Parquet file stays where it is."""
    path = request.path
    names, types, n_rows, load = _open_arrow(path)
    role = roles(names, request)
    features, codes = role.features, role.codes
    odd = {j: f"column {names[j]!r} holds {types[j]}, not numbers" for j in features if not is_arrow_number(types[j])}
    if 8.0 * n_rows * len(features) > request.memory:  # a file that is read in blocks has no categories
        usable(request, names, features, odd | dict.fromkeys(codes, ""))
        request, codes = replace(request, categories=[]), []
    numeric = [j for j in features if j not in odd and j not in codes]
    others = [j for j in (*odd, *codes) if j in codes or not request.numeric_only]
    texts = [j for j in (role.target, role.row_ids) if j is not None]
    kind, size = arrow_dtype([types[j] for j in numeric]), TEXT_BYTES * n_rows * (len(texts) + len(others))
    held = n_rows * len(numeric) * np.dtype(kind).itemsize
    check_size(path, f"{n_rows} labels or ids", size)
    X: Any
    if is_parquet(path) and held > request.memory:
        X = ParquetFile(path, [names[j] for j in numeric])
    else:
        check_size(path, f"{n_rows} rows of {len(features)} features", size + held)
        X = np.empty((n_rows, len(numeric)), dtype=kind, order="F")
        with counting("columns", len(numeric)) as count:
            for start in range(0, len(numeric), _COLUMNS_AT_ONCE):
                part = load(numeric[start : start + _COLUMNS_AT_ONCE])
                for k, column in enumerate(part.columns, start):
                    X[:, k] = as_floats(column, f"{path}: column {names[numeric[k]]!r}")
                count.reach(start + len(part.columns))
    cells: dict[int, Any] = {j: load([j]).column(0).to_pylist() for j in texts}
    for j in others:
        column = load([j]).column(0)
        if j in codes or not hasattr(column.type, "ordered"):
            cells[j] = (category_column if j in codes else read_column)(names[j], column.to_pylist())
        else:
            coded = column.unify_dictionaries().combine_chunks()
            places = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
            cells[j] = of_levels(names[j], places, coded.dictionary.to_pylist(), column.type.ordered)
    return arrange(replace(request, kept=None), lambda _: Cells(X, numeric, cells, odd, names))


def write_arrow(path: Path, table: Table, selected: np.ndarray) -> None:
    names, _, _, load = _open_arrow(table.source)
    gone = dropped_columns(table, selected)
    save_arrow(load([j for j in range(len(names)) if j not in gone]), path)


def save_arrow(table: Any, path: Path) -> None:
    """An Arrow table as Parquet or Feather, by suffix."""
    if is_parquet(path):
        require("pyarrow.parquet", "io", path).write_table(table, path)
    else:
        require("pyarrow.feather", "io", path).write_feather(table, str(path))


def is_parquet(path: Path) -> bool:
    """Whether the file name means Parquet; otherwise it is Feather."""
    return path.suffix.lower() in (".parquet", ".pq")


def _open_arrow(path: Path) -> tuple[list[str], list[Any], int, Callable[[list[int]], Any]]:
    """Column names, column types, the number of rows, and a function that loads the columns at given positions."""
    require("pyarrow", "io", path)
    with named_damage(path, f"a {path.suffix[1:].lower()} file"):
        if is_parquet(path):
            file = require("pyarrow.parquet", "io", path).ParquetFile(path, memory_map=True)
            schema, n_rows = file.schema_arrow, file.metadata.num_rows
            load = lambda columns: file.read(columns=[schema.names[j] for j in columns])  # noqa: E731
        else:
            table = require("pyarrow.feather", "io", path).read_table(path, memory_map=True)
            schema, n_rows, load = table.schema, table.num_rows, table.select
    if len(set(schema.names)) < len(schema.names):
        raise ValueError(f"{path} has several columns with the same name; rename them first.")
    return schema.names, schema.types, n_rows, load


# -------------------------------------------------------------------- ARFF


def read_arff(request: Request) -> Contents:
    """Dense or sparse ARFF through liac-arff."""
    with _open_arff(request.path) as (content, sparse):
        names = [name for name, _ in content["attributes"]]
        if sparse:
            return _read_sparse_arff(request, names, content)

    def rows() -> Iterator[tuple[int, list[Any]]]:
        with _open_arff(request.path) as (content, _):
            yield from enumerate(content["data"])

    return arrange(request, lambda request: read_cells(request, names, partial(gather, request.path, rows, as_number)))


def write_arff(path: Path, table: Table, selected: np.ndarray) -> None:
    arff = require("arff", "io", table.source)
    gone = dropped_columns(table, selected)
    with _open_arff(table.source) as (content, sparse):
        kept = [j for j in range(len(content["attributes"])) if j not in gone]
        new = {j: k for k, j in enumerate(kept)}
        content["attributes"] = [content["attributes"][j] for j in kept]
        content["data"] = [
            {new[j]: v for j, v in row.items() if j in new} if sparse else [row[j] for j in kept]
            for row in content["data"]
        ]
    with text.opener(path)(path, "wt", encoding="utf-8") as file:
        arff.dump(content, file)


@contextmanager
def _open_arff(path: Path) -> Iterator[tuple[dict[str, Any], bool]]:
    """The content from liac-arff, with rows as an iterator, and whether rows are sparse; errors name the line."""
    arff = require("arff", "io", path)
    line, sparse, data = 0, False, False
    with text.open_text(path) as file:
        for start in map(str.strip, file):
            if data and start and start[0] != "%":
                sparse = start[0] == "{"
                break
            data = data or start[:5].lower() == "@data"

    def lines(file: Iterable[str]) -> Iterator[str]:
        nonlocal line
        for line, said in enumerate(file, 1):  # noqa: B007
            # liac-arff would truncate 2.7 to 2 if the attribute is declared as integer
            yield re.sub(r"(?i)^(\s*@attribute\s.*\s)integer\s*$", r"\1numeric", said)

    try:
        with text.open_text(path) as file:
            yield arff.load(lines(file), return_type=arff.LOD_GEN if sparse else arff.DENSE_GEN), sparse
    except arff.ArffException as error:
        error.line = line  # liac-arff does not set it for an iterator of rows
        raise ValueError(f"{path}: {first_line(error)[:200]}") from None


def _read_sparse_arff(request: Request, names: list[str], content: dict[str, Any]) -> Contents:
    role = roles(names, request)
    # A cell that is not written is 0, which for a nominal attribute means its first value.
    zero = [kind[0] if isinstance(kind, list) else 0.0 for _, kind in content["attributes"]]
    wanted, bad, starts, columns, values = set(role.features), dict[int, str](), array("q", [0]), array("q"), array("d")
    texts: dict[int, list[Any]] = {j: [] for j in (role.target, role.row_ids) if j is not None}
    for i, row in enumerate(content["data"]):
        for j in sorted(wanted.intersection(row)):
            value = as_number(row[j])
            if value is None:
                bad.setdefault(j, f"row {i}, column {names[j]!r}: {not_a_number(row[j])}")
            else:
                columns.append(j)
                values.append(value)
        starts.append(len(values))
        for j, cells in texts.items():
            cells.append(row.get(j, zero[j]))
        if i % 256 == 0:
            check_size(request.path, f"more than {i} rows with {len(values)} values", 24.0 * len(values))
    numeric, _ = usable(request, names, role.features, bad)  # a sparse table has no categories
    X = sp.csr_array((values, columns, starts), shape=(len(starts) - 1, len(names)))[:, numeric]
    return arrange(replace(request, kept=None, categories=[]), lambda _: Cells(X, numeric, texts, bad, names))


# -------------------------------------------------------------------- Excel


def read_xlsx(request: Request) -> Contents:
    """Read the last computed numbers of a sheet; dates and text are not numbers, and empty rows are skipped."""
    return arrange(request, _read_sheet)


def _read_sheet(request: Request) -> Cells:
    path, skip, header, notes = request.path, request.skip_rows or 0, request.header, list[str]()
    with _open_sheet(path, request.sheet) as (sheets, rows):
        kept = [(line, row) for line, row in rows if row and line > skip]
    if not kept:
        raise _no_table(f"{path}: the sheet is empty", request, sheets)
    width = max(len(row) for _, row in kept)
    kept = [(line, row + [None] * (width - len(row))) for line, row in kept]
    if request.skip_rows is None and (titles := text.title_rows([list(map(_shown, row)) for _, row in kept[:20]])):
        kept, skip = kept[titles:], kept[titles][0] - 1
        notes.append(text.title_note(path, skip))
    first, *below = ([_shown(cell) for cell in row] for _, row in kept[:20])
    first = [cell.strip() for cell in first]
    if header is None:
        header, note = text.guess_header(first, below, named=request.named)
        notes += [f"{path}: {note}"] * bool(note)
    if len(kept) == header:
        raise ValueError(f"{path} has a header but no rows.")
    if request.transpose:
        found = _transposed(request, [[_shown(row[0]), *row[1:]] for _, row in kept], as_number, _shown)
    else:
        names = first if header else [f"x{j}" for j in range(width)]
        gathered = partial(gather, path, lambda: kept[header:], as_number)
        found = read_cells(request, names, gathered, shown=_shown)
    found.layout |= {"sheet": request.sheet, "sheets": sheets, "skip": skip, "names_in": kept[0][0] if header else None}
    found.notes = notes
    return found


def write_xlsx(path: Path, table: Table, selected: np.ndarray) -> None:
    """Write the kept columns of the sheet to a new workbook."""
    gone = dropped_columns(table, selected)
    with _open_sheet(table.source, table.layout["sheet"]) as (_, rows):
        kept = (row for line, row in rows if line > table.layout.get("skip", 0))
        if table.layout.get("transposed"):
            save_sheet(path, (row for j, row in enumerate(filter(None, kept)) if j not in gone), path)
        else:
            save_sheet(path, ([cell for j, cell in enumerate(row) if j not in gone] for row in kept), path)


def save_sheet(path: Path, rows: Iterable[Iterable[Any]], named: str | Path) -> None:
    """Write rows to the only sheet of a new workbook; ``named`` is the file that errors name."""
    openpyxl = require("openpyxl", "io", named)
    control = openpyxl.cell.cell.ILLEGAL_CHARACTERS_RE
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Sheet1")

    def as_cell(value: Any) -> Any:
        if isinstance(value, float) and not math.isfinite(value):
            value = None if math.isnan(value) else str(value)  # a cell holds neither NaN nor infinity
        if not isinstance(value, str):
            return value
        cell = openpyxl.cell.WriteOnlyCell(sheet, control.sub("\ufffd", value))
        cell.data_type = "s"  # otherwise a name such as =A1 would be a formula
        return cell

    failed = None
    try:
        for number, row in enumerate(rows):
            if number >= _MOST_ROWS:
                raise ValueError(f"{named}: a sheet has at most {_MOST_ROWS} rows, but there are more; use .csv.")
            sheet.append([as_cell(value) for value in row])
        with open(path, "wb") as file:
            book.save(file)
    except OSError as error:
        failed = error.errno, error.strerror
    if failed is not None:
        # What openpyxl leaves open fails once more when it is closed, and Python would print that after our message.
        hook, sys.unraisablehook = sys.unraisablehook, lambda _: None
        book = sheet = None
        gc.collect()
        sys.unraisablehook = hook
        raise OSError(*failed)


@contextmanager
def _open_sheet(path: Path, wanted: str | int | None) -> Iterator[tuple[list[str], Iterator[tuple[int, list[Any]]]]]:
    """The names of all sheets, and the numbered rows of one without empty cells at their ends."""
    openpyxl = require("openpyxl", "io", path)
    with named_damage(path, "a readable Excel file", "."), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about styles and extensions, which do not concern the user
        _check_parts(path)
        with closing(openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)) as book:
            names = [sheet.title for sheet in book.worksheets]
            sheet = book.worksheets[position(wanted or 0, names, path, "sheet")]
            sheet.reset_dimensions()  # the size that a file declares may be wrong
            with closing(sheet.iter_rows(values_only=True)) as rows:  # the iterator keeps the file open
                yield names, _rows(rows, path)


def _check_parts(path: Path) -> None:
    """Check the declared sizes of the parts of a workbook: sheets are loaded row by row, other parts as a whole."""
    with zipfile.ZipFile(path) as archive:
        for part in archive.infolist():
            declared = f"{part.filename} of {part.file_size} bytes"
            check_size(path, declared, part.file_size, part.compress_size)
            longest = length = 0
            if part.filename.startswith("xl/worksheets/"):
                with archive.open(part) as file:
                    while piece := file.read(2**18):
                        at = piece.rfind(b"<row")
                        length = length + len(piece) if at < 0 else len(piece) - at
                        longest = max(longest, length)
                check_size(path, f"a row of {longest} bytes in {part.filename}", _XML_COST * longest)
            else:
                check_size(path, declared, _XML_COST * part.file_size)


def _rows(rows: Iterator[tuple[Any, ...]], path: Path) -> Iterator[tuple[int, list[Any]]]:
    """Rows without the empty cells at their ends; raises an error beyond the limits of memory and Excel."""
    held = 0
    for line, row in enumerate(rows, 1):
        if line > _MOST_ROWS:
            raise ValueError(f"{path}: the sheet has a row beyond {_MOST_ROWS}, the largest row number in Excel.")
        width = next((j for j in range(len(row), 0, -1) if row[j - 1] is not None), 0)
        held += width
        if width:  # a number in a Python list takes 40 bytes
            check_size(path, f"more than {line} rows with {held} cells", 40 * held)
        yield line, list(row[:width])


def _shown(cell: Any) -> str:
    """A cell as text; integers without a decimal point, as the sheet shows them."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        cell = int(cell)
    return "" if cell is None else str(cell)
