"""Named columns of any kind, the one function that makes a numeric matrix of them, and the one entrance for X.

    frame or file -> list of Column -> encode(columns) -> Prepared(X, groups)

    number             one column; a truth value is the number 0 or 1
    ordered category   one column with the positions 0, 1, 2, ... of its levels
    category, text     one 0/1 column per level; together they form one feature
    date, duration     one column, in days since the earliest date
    many levels        left out: names, ids and free text
    few known values   left out: fewer than five
    row numbers        left out: different whole numbers that fill half of their range or more
    constant           left out

A table that holds a category is *mixed*. In a mixed table every column of numbers is standardised, because the 0/1
columns have no unit that could be compared with it; the 0/1 columns are never standardised. A missing cell is NaN in
every column of its feature. Frames are recognised by the module of their class, so none of their libraries is imported.

A feature is one column, the 0/1 columns of a category, or a group of columns that the user names. Scores, rankings and
choices are per feature.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..errors import ParameterError, TableWarning, warn_once
from ..validation import is_sparse
from ..words import did_you_mean, printable
from .arrays import Matrix, home, opened, validate_X, without_units
from .source import Source
from .text import MISSING, as_number

MOST_LEVELS = 50  # a category with more levels is taken for names, ids or free text
LEAST_KNOWN = 5  # a column with fewer known values is left out
FEW_KNOWN = f"fewer than {LEAST_KNOWN} known values"
_TYPOS = 10  # numbers for each cell that is none, in a column of numbers with typing errors
_REPEATED = 3  # levels of a category occur at least so often on average
_FEW_ROWS = 10  # in a shorter table a different text in every row says nothing
_NAMED = 5  # columns named in a note
_ISO = re.compile(
    r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:[ T](\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?)?(Z|[+-]\d{2}:?\d{2})?"
)
_DOTTED = re.compile(r"^(\d{1,2})\.(\d{1,2})\.(\d{4})$")  # day, month and year; with slashes their order is not known
_DAY = 86400.0
_DIGITS = 12  # of a value that was standardised and is shown in its own unit


class Distinct:
    """The different values of some labels, and the rows in which they occur.

    Two values are the same if they are equal and of the same type. Values that cannot be hashed are all different.

    Parameters
    ----------
    cells : list
        One value per row.

    Examples
    --------
    >>> from fiedler.data.columns import Distinct
    >>> seen = Distinct(["b", "a", None, "b"])
    >>> seen.values, seen.codes.tolist(), seen.where(lambda value: value is None).tolist()
    (['b', 'a', None], [0, 1, 2, 0], [False, False, True, False])
    """

    def __init__(self, cells: list):
        kinds = set(map(type, cells))
        keys: Iterable[Any] = (
            cells if len(kinds - {type(None)}) <= 1 else list(zip(map(type, cells), cells, strict=True))
        )
        try:
            place = {key: i for i, key in enumerate(dict.fromkeys(keys))}
            self.codes = np.fromiter(map(place.__getitem__, keys), dtype=np.intp, count=len(cells))
        except TypeError:
            self.values, self.codes = cells, np.arange(len(cells))
            return
        self.values = list(place) if keys is cells else [value for _, value in place]

    def where(self, holds: Callable[[Any], bool]) -> np.ndarray:
        """Mask of the rows whose value fulfils a condition."""
        return np.array([holds(value) for value in self.values], dtype=bool)[self.codes]

    def spread(self, results: Iterable[Any], dtype: Any = object) -> np.ndarray:
        """Results for the different values, as an array with one entry per row."""
        table = np.empty(len(self.values), dtype=dtype)
        table[:] = list(results)
        return table[self.codes]

    def ranked(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """``np.unique(values[rows], return_inverse=True)``, sorting the different values instead of all rows."""
        codes = self.codes[rows]
        present = np.unique(codes)
        values, rank = np.empty(len(present), dtype=object), np.empty(len(self.values), dtype=np.intp)
        values[:] = [self.values[code] for code in present]
        names, rank[present] = np.unique(values, return_inverse=True)
        return names, rank[codes]


class Column(NamedTuple):
    """One column of a table.

    ``kind`` is "number", "ordered", "category" or "date"; "text", "empty", "wrong", "id" and "constant" for
    columns that are not used. ``values`` are numbers, positions of the levels, or days, and NaN where a value is
    missing. ``levels`` are those of a category or a text, in the order of their positions; of numbers they are the
    cells that are no numbers, and count as missing. ``start`` is the earliest date, in days since 1970.
    """

    name: Any
    kind: str
    values: np.ndarray
    levels: Sequence[str] = ()
    start: float | None = None

    @property
    def known(self) -> np.ndarray:
        """Mask of the rows whose value is known."""
        return ~np.isnan(self.values)

    @property
    def used(self) -> bool:
        """Whether the column becomes a feature."""
        return self.kind in ("number", "ordered", "category", "date")

    @property
    def counts_rows(self) -> bool:
        """Whether the column numbers the rows: different whole numbers, as many as half of their range or more."""
        known = self.values[self.known]
        if self.kind != "number" or len(known) < _FEW_ROWS or not np.ptp(known) < 2 * len(known):
            return False
        return bool((known == np.floor(known)).all()) and len(np.unique(known)) == len(known)


# -------------------------------------------------------------------- columns


def is_mixed_frame(X: Any) -> bool:
    """Whether X is a pandas or polars frame in which some column holds neither numbers nor truth values."""
    if type(X).__name__ != "DataFrame" or home(X) not in ("pandas", "polars"):
        return False
    if home(X) == "pandas":
        return any(getattr(t, "kind", "O") not in "biuf" or hasattr(t, "categories") for t in X.dtypes)
    return any(not (dtype.is_numeric() or str(dtype) == "Boolean") for dtype in X.dtypes)


def frame_columns(X: Any) -> list[Column]:
    """The columns of a pandas or polars frame."""
    series = (lambda j: X.iloc[:, j]) if home(X) == "pandas" else X.to_series
    return [_of_series(name, series(j)) for j, name in enumerate(X.columns)]


def read_column(name: Any, cells: Sequence[Any], number: Callable[[Any], float | None] = as_number) -> Column:
    """A column from its cells: numbers, dates or texts. ``number`` reads a cell, and gives None if it is no number.

    Examples
    --------
    >>> from fiedler.data.columns import read_column
    >>> [read_column("a", cells).kind for cells in (["x", "y"] * 5, ["1.5", None] * 5, ["2020-01-31"] * 5, [True] * 5)]
    ['category', 'number', 'date', 'number']
    """
    # Python takes two instants for equal that one clock shows twice, when summer time ends.
    zoned = lambda c: isinstance(c, datetime) and c.tzinfo is not None and 1 < c.year < 9999  # noqa: E731
    seen = Distinct([c.astimezone(UTC) if zoned(c) else c for c in cells])
    missing = np.array([is_missing(value) for value in seen.values], dtype=bool)
    days, numbers = (
        [np.nan if gone else read(value) for value, gone in zip(seen.values, missing, strict=True)]
        for read in (_days, number)
    )
    if None not in days and not missing.all():
        lengths = any(isinstance(value, (timedelta, np.timedelta64)) for value in seen.values)
        return _dates(name, seen.spread(days, np.float64), lengths)
    cells_of, odd = np.bincount(seen.codes, minlength=len(missing)), [k for k, v in enumerate(numbers) if v is None]
    n_known, n_odd = int(cells_of[~missing].sum()), int(cells_of[odd].sum())
    # Numbers that hardly repeat, or are too many for a category, and few other cells, none in another notation.
    said = [str(seen.values[k]) for k in odd]
    n_different = len(missing) - int(missing.sum())
    many = n_known < _REPEATED * n_different or n_different > MOST_LEVELS
    typos = many and _TYPOS * n_odd <= n_known and not any(map(_no_word, said))
    if missing.all() or (odd and not typos):
        return category_column(name, seen)
    values = seen.spread((np.nan if value is None else value for value in numbers), np.float64)
    return checked(Column(name, "number", values, said))


def _no_word(cell: str) -> bool:
    """Whether a cell has digits and no letter: a number in another notation, such as <0.1, 50 % or 1.234,5."""
    return any(map(str.isdigit, cell)) and not any(map(str.isalpha, cell))


def category_column(name: Any, cells: Sequence[Any] | Distinct) -> Column:
    """A column whose cells are levels of a category, also if they are numbers; a text if there are too many."""
    seen = cells if isinstance(cells, Distinct) else Distinct(list(cells))
    texts = ["" if is_missing(value) else str(value).strip() for value in seen.values]
    levels = sorted({text for text in texts if text})
    place = {text: float(at) for at, text in enumerate(levels)}
    return checked(Column(name, "category", seen.spread([place.get(t, np.nan) for t in texts], np.float64), levels))


def checked(column: Column) -> Column:
    """The column, or one that is left out: with too few known values, or with too many levels."""
    n_known, n_levels = int(column.known.sum()), len(column.levels)
    if n_known < min(LEAST_KNOWN, len(column.values)):
        return column._replace(kind="empty")
    nearly_unique = n_known >= _FEW_ROWS and n_levels > n_known / 2
    if column.kind == "category" and (n_levels > MOST_LEVELS or nearly_unique):
        return column._replace(kind="text")
    return column


def is_missing(value: Any) -> bool:
    """Whether a cell is empty: None, NaN, NaT, pandas NA, or a text such as "", "NA" or "?"."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, str):
        return value.strip() in MISSING
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return False


def _dates(name: Any, days: np.ndarray, lengths: bool) -> Column:
    """A column of dates, in days since the earliest one, or of lengths of time."""
    start = 0.0 if lengths or np.isnan(days).all() else float(np.nanmin(days))
    return checked(Column(name, "date", days - start, start=None if lengths else start))


def _of_series(name: Any, series: Any) -> Column:
    """A column of a pandas or polars frame."""
    if home(series) == "pandas" and hasattr(series.dtype, "categories"):
        return of_levels(name, np.asarray(series.cat.codes), list(series.dtype.categories), series.dtype.ordered)
    if home(series) == "polars" and str(series.dtype).startswith(("Categorical", "Enum")):
        return category_column(name, list(series))
    values = series.to_numpy()
    if values.dtype.kind in "biuf":
        return checked(Column(name, "number", values.astype(np.float64)))
    kind = values.dtype.kind
    return _dates(name, _stamps(values), kind == "m") if kind in "Mm" else read_column(name, list(series))


def of_levels(name: Any, codes: np.ndarray, levels: Sequence[Any], ordered: bool) -> Column:
    """A column from the numbers of its levels, of which -1 is a missing value."""
    codes, levels = codes.astype(np.intp), list(map(str, levels))
    present = np.unique(codes[codes >= 0]).tolist()
    # The distance between two ordered levels counts the levels between them, also those that do not occur.
    order = list(range(len(levels))) if ordered else sorted(present, key=levels.__getitem__)
    place = np.full(len(levels) + 1, np.nan)
    place[order] = np.arange(len(order))
    return checked(Column(name, "ordered" if ordered else "category", place[codes], [levels[k] for k in order]))


def _days(value: Any) -> float | None:
    """Days since 1970, or the length of a duration in days."""
    if isinstance(value, timedelta):
        return value.total_seconds() / _DAY
    if isinstance(value, str):
        found = _ISO.fullmatch(_DOTTED.sub(r"\3-\2-\1", value.strip()))
        if found is None:
            return None
        *parts, zone = found.groups()
        seconds = sum(float(part or 0) * unit for part, unit in zip(parts[3:], (3600, 60, 1), strict=True))
        if zone not in (None, "Z"):
            seconds -= int(zone[0] + "1") * 60 * (60 * int(zone[1:3]) + int(zone[-2:]))
        try:
            return (date(*map(int, parts[:3])) - date(1970, 1, 1)).days + seconds / _DAY
        except ValueError:  # there is no month 13
            return None
    if isinstance(value, datetime):
        start = datetime(1970, 1, 1, tzinfo=None if value.tzinfo is None else UTC)  # instants of one time zone
        return (value - start).total_seconds() / _DAY
    if isinstance(value, date):
        return float((value - date(1970, 1, 1)).days)
    return float(_stamps(np.array([value]))[0]) if isinstance(value, (np.datetime64, np.timedelta64)) else None


def _stamps(values: np.ndarray) -> np.ndarray:
    """Dates or durations in days; NaN for NaT."""
    days = values.astype(f"{values.dtype.str[1]}8[us]").astype(np.int64) / (_DAY * 1e6)
    return np.where(np.isnat(values), np.nan, days)


# -------------------------------------------------------------------- features


class Unit(NamedTuple):
    """What 0 is in an encoded column, and how long 1 is, in the user's table; dates are days since 1970."""

    zero: float
    one: float
    dates: bool

    def measured(self, values: np.ndarray) -> np.ndarray:
        """Encoded values in the unit of the user's table, without the digits that the encoding has lost."""
        values = values * self.one + self.zero
        largest = float(np.nanmax(np.abs(values), initial=0.0))
        return np.round(values, _DIGITS - math.ceil(math.log10(largest))) if 1e-200 < largest < 1e200 else values


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
    levels : dict of int -> list of str, optional
        For each feature that is a category the names of its levels, in the order of its columns.
    units : dict of int -> Unit, optional
        For each feature that is one column of numbers or dates its unit in the user's table.

    Attributes
    ----------
    n_features : int
        Number of features; some may have no columns, because they are not used.
    sizes : ndarray of int, shape (n_features,)
        Number of columns of each feature.
    """

    def __init__(
        self,
        owner: np.ndarray,
        of_input: np.ndarray,
        names: list[str] | None = None,
        of_column: np.ndarray | None = None,
        levels: dict[int, list[str]] | None = None,
        units: dict[int, Unit] | None = None,
    ):
        self.levels, self.units = levels or {}, units or {}
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
        of = lambda known: {k: known[int(j)] for k, j in enumerate(features) if int(j) in known}  # noqa: E731
        return Groups(owner, np.arange(len(features)), levels=of(self.levels), units=of(self.units))

    @property
    def named(self) -> bool:
        """Whether the user's columns were grouped, so that a feature is not one column of the user's table."""
        return len(self.of_input) != self.n_features


class Prepared(NamedTuple):
    """X as a numeric matrix, its features if they are not its columns, and what was done with the others."""

    X: Matrix
    groups: Groups | None
    notes: Sequence[str] = ()


def encode(columns: Sequence[Column]) -> tuple[np.ndarray, Groups]:
    """The matrix of columns of any kind, and which of its columns belong to which of them.

    This is the only place where a kind of column becomes numbers. In a mixed table numbers are standardised; a column
    that is not used has no column in the matrix.
    """
    mixed = any(column.kind == "category" for column in columns)
    parts, levels, units = list[np.ndarray](), dict[int, list[str]](), dict[int, Unit]()
    for j, column in enumerate(columns):
        values, known = column.values[:, None], column.known[:, None]
        if not column.used:
            parts.append(np.empty((len(values), 0)))
        elif column.kind == "category":
            present = np.unique(column.values[column.known])
            parts.append(np.where(known, values == present, np.nan))
            if len(present) > 1:
                levels[j] = [column.levels[int(at)] for at in present]
        else:
            parts.append(standardised(column.values)[:, None] if mixed else values)
            units[j] = _unit(column, parts[-1][:, 0])
    owner = np.repeat(np.arange(len(columns)), [part.shape[1] for part in parts])
    X = np.hstack(parts) if parts else np.empty((0, 0))
    return X, Groups(owner, np.arange(len(columns)), levels=levels, units=units)


def _unit(column: Column, encoded: np.ndarray) -> Unit:
    """The unit of a column: the line through its smallest and its largest value."""
    start, known = column.start or 0.0, column.values[column.known]
    low, high, least, most = known.min(), known.max(), np.nanmin(encoded), np.nanmax(encoded)
    slope = float((high / 2 - low / 2) / (most - least)) * 2 if most > least else 1.0
    return Unit(float(start + low - least * slope), slope, column.start is not None)


def standardised(values: np.ndarray) -> np.ndarray:
    """A column with mean 0 and standard deviation 1 over its known values; a constant column becomes 0."""
    known = values[~np.isnan(values)]
    centred = values - known[0]  # a large offset would cost digits
    centred -= np.nanmean(centred)
    centred = without_units(centred)
    spread = float(np.sqrt(np.nanmean(centred**2)))
    return centred / spread if spread > 0 and known.max() > known.min() else np.where(np.isnan(values), np.nan, 0.0)


def notes_on(columns: Iterable[Column]) -> list[str]:
    """What was done with the columns that are no plain numbers."""
    columns, notes = list(columns), []
    of = lambda *kinds: [column for column in columns if column.kind in kinds]  # noqa: E731
    out, dates, categories = [column for column in columns if not column.used], of("date"), of("category")
    odd = [f"{column.levels[0]!r} in {column.name!r}" for column in of("number") if column.levels]
    if odd:
        notes.append(f"no numbers, read as missing: {listed(odd)}")
    if out:
        notes.append(f"not used: {_named(out)}")
    if dates:
        notes.append(f"read as days since the earliest date: {_named(dates)}")
    if categories:
        notes.append(f"read as categories, each of them one feature: {_named(categories)}")
        if of("number", "ordered", "date"):
            notes.append("numeric columns are standardised, because the table has categories")
    return notes


def sentences(notes: Sequence[str]) -> str:
    return " ".join(f"{note[0].upper()}{note[1:]}." for note in notes)


def _named(columns: list[Column]) -> str:
    """Names of some columns, and why those that are not used are left out."""
    why = {"text": "too many different texts", "empty": FEW_KNOWN, "id": "numbers the rows", "constant": "constant"}
    reasons = (f" ({why[column.kind]})" if column.kind in why else "" for column in columns)
    return listed([f"{printable(c.name, 40)!r}{reason}" for c, reason in zip(columns, reasons, strict=True)])


def listed(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def warn_of_table(notes: Sequence[str]) -> None:
    """One warning for all that was done with a table."""
    warn_once(TableWarning(f"how the table is read: {sentences(notes)}", parameter="X"))


# -------------------------------------------------------------------- the entrance


def prepare(X: Any, column_names: Any = None, groups: Any = None) -> Prepared:
    """X of any supported form as a numeric matrix, in which NaN marks a missing value.

    ``column_names`` are used in messages; frames have their own. ``groups`` holds one label per column, where equal
    labels form one feature, or maps names of features to their columns, by name or number. A column without a label is
    a feature of its own.
    """
    if isinstance(X, Prepared):  # a table of a file
        names = column_names
        if X.groups is not None and names is not None:
            names = [names[j] for j in X.groups.of_column]
        return Prepared(validate_X(X.X, names, missing=True), X.groups)
    inside, named = opened(X)
    names, found = column_names if column_names is not None else getattr(named, "columns", None), None
    of_columns, notes = names, list[str]()  # an encoded column has the name of the column it comes from
    if is_mixed_frame(inside):
        columns = [kept(column) for column in frame_columns(inside)]
        infinite = [str(column.name) for column in columns if np.isinf(column.values).any()]
        if infinite:
            raise ParameterError(f"X holds infinite values in {', '.join(infinite)}; replace them.", parameter="X")
        (encoded, found), notes = encode(columns), notes_on(columns)
        if not encoded.shape[1]:
            message = f"X has no column that can be used: {'; '.join(notes)}. Pass columns of numbers, dates, or "
            raise ParameterError(message + "categories with few levels.", parameter="X")
        if found.sizes.max() > 1:
            inside, of_columns = encoded, None if names is None else [names[j] for j in found.owner]
        else:  # every feature is one column; those that are not used are 0
            inside = np.zeros((len(encoded), found.n_features))
            inside[:, found.owner], found = encoded, None
    matrix = validate_X(inside, of_columns, missing=True)
    if found is None and type(inside).__name__ == "DataFrame" and isinstance(matrix, np.ndarray):
        out = unused(matrix, list(inside.columns))
        if any(column.kind != "constant" for column in out.values()):  # a constant has no score in any case
            notes, matrix = notes_on(out.values()), matrix.copy()
            matrix[:, list(out)] = 0
    if groups is None:
        return Prepared(matrix, found, notes)
    if isinstance(matrix, Source) or is_sparse(matrix):
        message = "groups= needs a dense X in memory; pass the columns as an array or a frame."
        raise ParameterError(message, parameter="groups")
    owner = np.arange(matrix.shape[1]) if found is None else found.owner
    of_input, labels = group_labels(groups, matrix.shape[1] if found is None else len(found.of_input), names)
    return Prepared(matrix, Groups(of_input[owner], of_input, labels, owner), notes)


def unused(X: np.ndarray, names: Sequence[Any]) -> dict[int, Column]:
    """The columns of a matrix of numbers that are not used, by their numbers."""
    low, high = (end(X, axis=0).astype(np.float64) for end in (np.min, np.max))
    n, wide = len(X), high - low  # NaN for a column with missing values
    some = np.flatnonzero((wide == 0) | np.isnan(wide) | ((wide >= n - 1) & (wide < 2 * n))).tolist()
    judged = {j: kept(checked(Column(names[j], "number", np.asarray(X[:, j], dtype=np.float64)))) for j in some}
    return {j: column for j, column in judged.items() if not column.used}


def kept(column: Column) -> Column:
    """A column, which is left out if it is constant or numbers the rows."""
    known = column.values[column.known]
    if column.used and len(known) and known.min() == known.max():
        return column._replace(kind="constant")
    return column._replace(kind="id") if column.counts_rows else column


def group_labels(groups: Any, n_columns: int, names: Any = None) -> tuple[np.ndarray, list[str]]:
    """The feature of every column, numbered by first occurrence, and the names of the features.

    Examples
    --------
    >>> from fiedler.data.columns import group_labels
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
                    message = f"column {own[j]!r} is in the groups {labels[j]!r} and {name!r}; groups must not overlap."
                    raise ParameterError(f"groups: {message}", parameter="groups", value=name)
                labels[j] = name
    else:
        given = list(groups) if hasattr(groups, "__iter__") and not isinstance(groups, str) else None
        if given is None or len(given) != n_columns:
            what = repr(groups) if given is None else f"{len(given)} labels"
            message = f"groups must hold one label for each of the {n_columns} columns of X, or map names to columns"
            raise ParameterError(f"{message}, got {what}.", parameter="groups")
        labels = [None if is_missing(label) else label for label in given]
    keys = [("column", j) if label is None else ("group", label) for j, label in enumerate(labels)]
    place = {key: at for at, key in enumerate(dict.fromkeys(keys))}
    titles = [own[label] if kind == "column" else str(label) for kind, label in place]
    return np.array([place[key] for key in keys], dtype=np.intp), titles


def _places(group: Any, members: Any, n_columns: int, names: Any) -> list[int]:
    """The column numbers of the members of a group, which are names or numbers."""
    members = [members] if isinstance(members, (str, int, np.integer)) else list(members)
    known = {} if names is None else {name: j for j, name in enumerate(names)}
    for member in members:
        a_number = isinstance(member, (int, np.integer)) and not isinstance(member, bool) and 0 <= member < n_columns
        if member not in known and not a_number:
            hint = did_you_mean(str(member), map(str, known), 0.6)
            wrong = f"groups: {group!r} names the column {member!r}, which X does not have"
            message = f"{wrong}; {hint}use names of columns or numbers from 0 to {n_columns - 1}."
            raise ParameterError(message, parameter="groups", value=member)
    return [int(known.get(member, member)) for member in members]
