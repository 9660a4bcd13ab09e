"""Columns of any kind as one numeric matrix: numbers, categories, dates, and columns that are left out.

    number, boolean    one column
    ordered category   one column with the positions 0, 1, 2, ... of its levels
    category, text     one 0/1 column per level; together they form one feature
    date, duration     one column, in days since the earliest date
    many levels        left out: names, ids and free text
    empty              left out: fewer than five known values

A table that holds a category is *mixed*. In a mixed table every column of numbers is standardised, because the 0/1
columns have no unit that could be compared with it; the 0/1 columns are never standardised. A missing cell is NaN in
every column of its feature. Frames are recognised by the module of their class, so none of their libraries is imported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np

from ..distinct import Distinct
from ..words import printable

MOST_LEVELS = 50  # a category with more levels is taken for names, ids or free text
LEAST_KNOWN = 5  # a column with fewer known values is left out
_FEW_ROWS = 10  # in a shorter table a different text in every row says nothing
_NAMED = 5  # columns named in a note
_ISO = re.compile(r"\d{4}[-/]\d{1,2}[-/]\d{1,2}([ T]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?)?Z?")
_DOTTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})")  # day, month and year; with slashes their order is not known
_DAY = 86400.0
USED = ("number", "boolean", "ordered", "category", "date")


class Column(NamedTuple):
    """One column of a table.

    Parameters
    ----------
    name : object
        Its name.
    kind : {"number", "boolean", "ordered", "category", "date", "text", "empty"}
        What the column holds; "text" and "empty" are left out.
    values : ndarray of float64, shape (n,)
        Numbers, positions of the levels, or days; NaN where the value is missing.
    levels : list of str
        The levels of a category or of a text, in the order of their positions.
    """

    name: Any
    kind: str
    values: np.ndarray
    levels: list[str]

    @property
    def known(self) -> np.ndarray:
        """Mask of the rows whose value is known."""
        return ~np.isnan(self.values)

    @property
    def used(self) -> bool:
        """Whether the column becomes a feature."""
        return self.kind in USED

    @property
    def counts_rows(self) -> bool:
        """Whether the column numbers the rows: different whole numbers without a gap."""
        if self.kind != "number" or len(self.values) < _FEW_ROWS or not self.known.all():
            return False
        steps = np.diff(np.sort(self.values))
        return bool((steps == 1.0).all() and self.values[0] == np.floor(self.values[0]))


class Encoded(NamedTuple):
    """A table as numbers.

    Parameters
    ----------
    X : ndarray of float64, shape (n, p)
        The columns of all features; NaN where a value is missing.
    owner : ndarray of int, shape (p,)
        For each column of X the column of the table that it comes from.
    columns : list of Column
        The columns of the table.
    notes : list of str
        What the user should know: what was left out, standardised, or read as days.
    """

    X: np.ndarray
    owner: np.ndarray
    columns: list[Column]
    notes: list[str]

    @property
    def levels(self) -> dict[int, list[str]]:
        """For each category its level names, in the order of its 0/1 columns; by the position of the column."""
        found = {}
        for j, column in enumerate(self.columns):
            if int((self.owner == j).sum()) > 1:
                present = np.unique(column.values[column.known]).astype(np.intp)
                names = column.levels or ["False", "True"]  # truth values have no names
                found[j] = [names[at] for at in present]
        return found


# -------------------------------------------------------------------- columns


def is_mixed_frame(X: Any) -> bool:
    """Whether X is a pandas or polars frame in which some column holds neither numbers nor truth values."""
    home = _home(X)
    if home == "pandas":
        return any(not _pandas_number(dtype) for dtype in X.dtypes)
    return home == "polars" and any(not (dtype.is_numeric() or _word(dtype) == "Boolean") for dtype in X.dtypes)


def frame_columns(X: Any) -> list[Column]:
    """The columns of a pandas or polars frame."""
    read = _from_pandas if _home(X) == "pandas" else _from_polars
    return [read(name, X, j) for j, name in enumerate(X.columns)]


def read_column(name: Any, cells: Sequence[Any]) -> Column:
    """A column from its cells: numbers, truth values, dates or texts; None, NaN and "" are missing.

    Examples
    --------
    >>> from fiedler.data.frames import read_column
    >>> [read_column("a", cells).kind for cells in (["x", "y"] * 5, ["1.5", None] * 5, ["2020-01-31"] * 5, [True] * 5)]
    ['category', 'number', 'date', 'boolean']
    """
    seen = Distinct(list(cells))
    missing = seen.where(is_missing)
    values = [value for value in seen.values if not is_missing(value)]
    for kind, read in (("boolean", _truth), ("date", _days), ("number", _number)):
        found = [read(value) for value in values]
        if values and None not in found:
            table = dict(zip(map(id, values), found, strict=True))
            numbers = seen.spread([table.get(id(value), np.nan) for value in seen.values], np.float64)
            return _checked(Column(name, kind, _since_first(numbers) if kind == "date" else numbers, []))
    return _levelled(name, seen, missing)


def category_column(name: Any, cells: Sequence[Any]) -> Column:
    """A column whose cells are levels of a category, also if they are numbers."""
    seen = Distinct(list(cells))
    return _levelled(name, seen, seen.where(is_missing))


def number_column(name: Any, values: np.ndarray) -> Column:
    """A column of numbers, in which NaN is missing."""
    return _checked(Column(name, "number", values, []))


def ordered_column(name: Any, codes: np.ndarray, levels: list[str]) -> Column:
    """An ordered category from the positions of its levels, in which NaN is missing."""
    return _of_codes(name, codes, levels, ordered=True)


def is_missing(value: Any) -> bool:
    """Whether a cell is empty: None, NaN, NaT, pandas NA or an empty text."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return True
    if type(value).__name__ in ("NAType", "NaTType"):
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return False


def _home(X: Any) -> str:
    home = type(X).__module__.partition(".")[0]
    return home if home in ("pandas", "polars") and type(X).__name__ == "DataFrame" else ""


def _word(dtype: Any) -> str:
    return str(dtype).partition("(")[0]


def _pandas_number(dtype: Any) -> bool:
    return getattr(dtype, "kind", "O") in "biuf" and not hasattr(dtype, "categories")


def _from_pandas(name: Any, X: Any, j: int) -> Column:
    series = X.iloc[:, j]
    dtype = series.dtype
    if hasattr(dtype, "categories"):
        codes = np.asarray(series.cat.codes, dtype=np.float64)
        codes[codes < 0] = np.nan
        return _of_codes(name, codes, list(dtype.categories), bool(dtype.ordered))
    kind = getattr(dtype, "kind", "O")
    if kind in "iuf":
        return _checked(Column(name, "number", series.to_numpy(dtype=np.float64, na_value=np.nan), []))
    if kind in "Mm" and not hasattr(dtype, "freq"):
        return _checked(Column(name, "date", _since_first(_stamps(series.to_numpy())), []))
    return read_column(name, series.astype(object).tolist())


def _from_polars(name: Any, X: Any, j: int) -> Column:
    series = X.to_series(j)
    dtype = series.dtype
    if dtype.is_numeric():
        return _checked(Column(name, "number", series.cast(float).to_numpy().astype(np.float64), []))
    if _word(dtype) in ("Date", "Datetime", "Duration"):
        return _checked(Column(name, "date", _since_first(_stamps(series.to_numpy())), []))
    return read_column(name, series.to_list())


def _levelled(name: Any, seen: Distinct, missing: np.ndarray) -> Column:
    """A category, or a text with too many levels."""
    texts = ["" if is_missing(value) else str(value).strip() for value in seen.values]
    levels = sorted({text for text in texts if text})
    place = {text: float(at) for at, text in enumerate(levels)}
    codes = seen.spread([place.get(text, np.nan) for text in texts], np.float64)
    codes[missing] = np.nan
    return _checked(Column(name, "category", codes, levels))


def _of_codes(name: Any, codes: np.ndarray, categories: list, ordered: bool) -> Column:
    """A column of a categorical type; levels that do not occur are left out."""
    present = np.unique(codes[~np.isnan(codes)]).astype(np.intp)
    place = np.full(len(categories), np.nan)
    levels = [str(categories[code]) for code in present]
    if ordered:  # the distance between two levels counts the levels between them, also those that do not occur
        return _checked(Column(name, "ordered", codes, [str(level) for level in categories]))
    order = sorted(range(len(levels)), key=levels.__getitem__)
    place[present[order]] = np.arange(len(levels))
    values = np.full(len(codes), np.nan)
    known = ~np.isnan(codes)
    values[known] = place[codes[known].astype(np.intp)]
    return _checked(Column(name, "category", values, [levels[at] for at in order]))


def _checked(column: Column) -> Column:
    """The column, or one that is left out: with too few known values, or with too many levels."""
    n_known, n_levels = int(column.known.sum()), len(column.levels)
    if n_known < min(LEAST_KNOWN, len(column.values)):
        return column._replace(kind="empty")
    nearly_unique = n_known >= _FEW_ROWS and n_levels > n_known / 2
    if column.kind == "category" and (n_levels > MOST_LEVELS or nearly_unique):
        return column._replace(kind="text")
    return column


def _truth(value: Any) -> float | None:
    return float(value) if isinstance(value, (bool, np.bool_)) else None


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _days(value: Any) -> float | None:
    """Days since 1970, or the length of a duration in days."""
    if isinstance(value, timedelta):
        return value.total_seconds() / _DAY
    if isinstance(value, str):
        dotted = _DOTTED.fullmatch(value.strip())
        value = value if dotted is None else f"{dotted[3]}-{dotted[2]}-{dotted[1]}"
        if not _ISO.fullmatch(value.strip()):
            return None
        try:
            year, month, day, *clock = re.split(r"[-/ T:Z]", value.strip().rstrip("Z"))
            seconds = sum(float(part) * unit for part, unit in zip(clock, (3600, 60, 1), strict=False))
            return (date(int(year), int(month), int(day)) - date(1970, 1, 1)).days + seconds / _DAY
        except ValueError:
            return None
    if isinstance(value, datetime):
        return (value.replace(tzinfo=None) - datetime(1970, 1, 1)).total_seconds() / _DAY
    if isinstance(value, date):
        return float((value - date(1970, 1, 1)).days)
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return float(_stamps(np.array([value]))[0])
    return None


def _stamps(values: np.ndarray) -> np.ndarray:
    """Dates or durations in days; NaN for NaT."""
    if values.dtype.kind not in "Mm":  # dates with a time zone
        return np.array([np.nan if is_missing(value) else _days(value) for value in values], dtype=np.float64)
    days = values.astype(f"{values.dtype.str[1]}8[us]").astype(np.int64) / (_DAY * 1e6)
    return np.where(np.isnat(values), np.nan, days)


def _since_first(days: np.ndarray) -> np.ndarray:
    return days - np.nanmin(days) if not np.isnan(days).all() else days


# -------------------------------------------------------------------- the matrix


def encode(columns: list[Column]) -> Encoded:
    """The matrix of a table; in a mixed table numbers are standardised and truth values are categories."""
    mixed = any(column.kind == "category" for column in columns)
    parts, owner = [], list[int]()
    for j, column in enumerate(columns):
        part = _matrix(column, mixed)
        parts.append(part)
        owner += [j] * part.shape[1]
    n = len(columns[0].values) if columns else 0
    X = np.hstack(parts) if parts else np.empty((n, 0))
    return Encoded(X, np.array(owner, dtype=np.intp), columns, notes_on(columns))


def _matrix(column: Column, mixed: bool) -> np.ndarray:
    if not column.used:
        return np.empty((len(column.values), 0))
    if column.kind == "category" or (mixed and column.kind == "boolean"):
        present = np.unique(column.values[column.known])
        return np.where(column.known[:, None], column.values[:, None] == present, np.nan)
    return standardised(column.values)[:, None] if mixed else column.values[:, None]


def standardised(values: np.ndarray) -> np.ndarray:
    """A column with mean 0 and standard deviation 1 over its known values; a constant column becomes 0."""
    known = values[~np.isnan(values)]
    centred = values - known[0]  # a large offset would cost digits
    centred -= np.nanmean(centred)
    spread = float(np.sqrt(np.nanmean(centred**2)))
    return centred / spread if spread > 0 and known.max() > known.min() else np.where(np.isnan(values), np.nan, 0.0)


def notes_on(columns: Iterable[Column]) -> list[str]:
    """What was done with the columns that are no plain numbers."""
    columns, notes = list(columns), []
    out = [column for column in columns if not column.used]
    if out:
        notes.append(f"not used: {_named(out, _why)}")
    dates = [column for column in columns if column.kind == "date"]
    if dates:
        notes.append(f"read as days since the earliest date: {_named(dates)}")
    categories = [column for column in columns if column.kind == "category"]
    if categories:
        notes.append(f"read as categories, each of them one feature: {_named(categories)}")
        if any(column.kind in ("number", "ordered", "date") for column in columns):
            notes.append("numeric columns are standardised, because the table has categories")
    counting = [column for column in columns if column.counts_rows]
    if counting and (out or dates or categories):
        notes.append(f"numbers the rows and may be an id, drop it in that case: {_named(counting)}")
    return notes


def _why(column: Column) -> str:
    if column.kind == "empty":
        return f" ({int(column.known.sum())} known values)"
    return f" ({len(column.levels)} different texts)"


def _named(columns: list[Column], more: Any = lambda column: "") -> str:
    shown = [f"{printable(column.name, 40)!r}{more(column)}" for column in columns[:_NAMED]]
    rest = len(columns) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "")
