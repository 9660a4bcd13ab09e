"""A first look at a table: its columns, their problems, and a command that works.

    look("data.csv")    a file: shape, orientation, header, encoding, a line per column, a command to paste
    look(frame)         the same for a frame, with a line of Python

The roles are guesses from names and values. ``--auto`` of the command line uses the same guesses.
"""

from __future__ import annotations

import os
import re
import shlex
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from html import escape
from typing import Any, NamedTuple

import numpy as np

from .data.arrays import dense, take_columns, uneven_columns
from .data.columns import Column, checked, frame_columns, listed, read_column
from .data.formats import FORMATS, file_format, read_contents
from .data.memory import allocation_limit, memory_limit, physical_bytes
from .data.source import Source
from .data.tables import Contents, ReadOnce, Request
from .data.text import BLANKS, existing
from .errors import ParameterError
from .validation import is_sparse
from .words import html_table, printable, to_frame

_TARGETS = "class classes target label labels y outcome response diagnosis species variety status survived vote churn"
_TARGETS += " cell_type celltype"
_IDS = "id ids index row rowid rownames sample samples sampleid patient patientid subject no nr key"
_NUMBERED = re.compile(r"(\D*?)(\d+(?:[.,]\d+)?)(\D*)")  # a name such as 900, 900 nm or x1
_VISITS = 4  # rows that an id may have on average
_FEW = 20  # levels of a category that may be the target
_UNEVEN = 100.0  # a factor between spreads at which scaling is suggested
_MOST_CELLS = 5e7  # of a matrix of numbers whose columns are looked at one by one
_CODES = 10  # whole numbers of a column that may be codes
_SHOWN = 60  # columns in the text
FLAGS = 8  # columns and options that a command spells out; beyond that it uses --auto
_WIDE, _TALL, _ALIKE = 8, 3, 0.5  # columns, rows per column, and correlation of a table with one feature per row
# Ways out in Python and on the command line.
_PYTHON = {"scale": "scale='standard'", "codes": "astype('category')"}
_OPTIONS = {"scale": "--scale standard", "codes": "--category COL"}
_TITLES = ["column", "role", "kind", "missing", "levels", "spread"]
_DELIMITERS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars", BLANKS: "blanks"}


class ColumnLook(NamedTuple):
    """One column of a table.

    Parameters
    ----------
    name : str
        Its name.
    role : {"feature", "id", "target candidate", "text", "constant", "copy", "empty", "wrong cells"}
        What the column is probably for. Text, empty and wrong columns are not used.
    kind : {"number", "ordered", "category", "date", "text"}
        What it holds.
    missing : int
        Number of missing cells.
    levels : int
        Number of different values.
    spread : float
        Standard deviation of a number, or of a date in days; NaN for all other kinds.
    note : str
        For a copy the column it repeats, for wrong cells the first one.
    """

    name: str
    role: str
    kind: str
    missing: int
    levels: int
    spread: float
    note: str


@dataclass(frozen=True, eq=False, repr=False)
class Look:
    """What a table holds, and how to use it.

    Parameters
    ----------
    source : str
        The file, or "frame".
    n_rows, n_columns : int
        The shape of the table.
    layout : str
        Format, encoding, delimiter and header of the file.
    rows_are : {"samples", "features"}
        What a row probably is.
    columns : tuple of ColumnLook
        A line per column; empty for a matrix of more than 50 million cells, and for one that is read in blocks.
    remarks : tuple of str
        What the user should know before a method is chosen.
    guesses : dict
        The options of the command: ``target``, ``id_columns``, ``drop``, ``scale``, ``transpose``, ``sheet``.
    command : str
        A command, or a line of Python, that works; empty if the table has no feature or fewer than three rows.
    """

    source: str
    n_rows: int
    n_columns: int
    layout: str
    rows_are: str
    columns: tuple[ColumnLook, ...]
    remarks: tuple[str, ...]
    guesses: dict[str, Any] = field(default_factory=dict)
    command: str = ""

    def _header(self) -> list[str]:
        shape = f"{self.n_rows:,} rows, {self.n_columns:,} columns"
        lines = [f"{self.source}: {'; '.join(filter(None, (shape, self.layout)))}"]
        if self.rows_are == "features":
            lines.append("rows look like features and columns like samples: the command transposes the table")
        counts = Counter(column.role for column in self.columns)
        if counts:
            many = {"text": "text", "empty": "empty", "wrong cells": "wrong cells", "copy": "copies"}
            words = (f"{n} {role if n == 1 else many.get(role, f'{role}s')}" for role, n in counts.items())
            lines.append(", ".join(words))
        missing, cells = sum(column.missing for column in self.columns), self.n_rows * len(self.columns)
        if missing:
            holed = sum(column.missing > 0 for column in self.columns)
            where = f"in {holed} column{'s' * (holed > 1)}"
            lines.append(f"{missing:,} of {cells:,} cells are missing ({missing / cells:.1%}), {where}")
        return lines

    def _rows(self) -> list[list[str]]:
        rows = []
        for name, role, kind, missing, levels, spread, note in self.columns:
            role = f"{role} of {note}" if role == "copy" else role
            shown = "" if np.isnan(spread) else f"{spread:.3g}"
            rows.append([printable(name, 30) or "(no name)", role, kind, str(missing or ""), str(levels), shown])
        return rows

    def __repr__(self) -> str:
        lines, rows = self._header(), self._rows()
        if rows:
            shown = [_TITLES, *rows[:_SHOWN]]
            widths = [max(map(len, cells)) for cells in zip(*shown, strict=True)]
            lines.append("")
            for row in shown:
                cells = zip(row, widths, "<<<>>>", strict=True)
                lines.append("  ".join(f"{cell:{side}{width}}" for cell, width, side in cells).rstrip())
            if len(rows) > _SHOWN:
                lines.append(f"... and {len(rows) - _SHOWN} more columns")
        if self.remarks:
            lines += ["", *(f"- {remark}" for remark in self.remarks)]
        run = ["Run this:", f"  {self.command}"] if self.command else ["No method can use this table as it is."]
        return "\n".join([*lines, "", *run])

    def _repr_html_(self) -> str:
        about = "".join(f"<p>{escape(line)}</p>" for line in self._header())
        table = html_table("columns", self._rows(), _TITLES) if self.columns else ""
        remarks = "".join(f"<li>{escape(remark)}</li>" for remark in self.remarks)
        return f"{about}{table}{f'<ul>{remarks}</ul>' * bool(remarks)}<pre>{escape(self.command)}</pre>"

    def frame(self) -> Any:
        """The columns as a pandas DataFrame.

        Returns
        -------
        frame : pandas.DataFrame
            One row per column of the table.
        """
        return to_frame({name: [column[k] for column in self.columns] for k, name in enumerate(ColumnLook._fields)})


def look(
    table: Any,
    *,
    sheet: str | int | None = None,
    header: bool | None = None,
    skip_rows: int | None = None,
    transpose: bool = False,
    layer: str | None = None,
) -> Look:
    """Look at a table before anything is computed.

    Parameters
    ----------
    table : path or frame
        A file of any format that :func:`fiedler.io.read_table` reads, or a pandas or polars frame.
    sheet, header, skip_rows, transpose, layer : optional
        As in :func:`fiedler.io.read_table`, for files.

    Returns
    -------
    look : Look
        Shape and layout, the role of every column, and a command that works. It prints as text.

    Examples
    --------
    >>> import pandas as pd
    >>> import fiedler
    >>> frame = pd.DataFrame({"no": range(12), "size": [1.5, 2.5, 4.0] * 4, "kind": ["a", "b"] * 6, "unit": "cm"})
    >>> fiedler.look(frame)
    frame: 12 rows, 4 columns
    1 id, 1 feature, 1 target candidate, 1 constant
    <BLANKLINE>
    column  role              kind      missing  levels  spread
    no      id                number                 12    3.45
    size    feature           number                  3    1.03
    kind    target candidate  category                2
    unit    constant          category                1
    <BLANKLINE>
    Run this:
      SpectralSelector().fit(frame.drop(columns=['no', 'kind', 'unit']), frame['kind'])
    """
    if isinstance(table, (str, os.PathLike)):
        options = {"sheet": sheet, "header": header, "skip_rows": skip_rows, "transpose": transpose, "layer": layer}
        with memory_limit(allocation_limit()):
            return _look_at_file(table, options)
    if type(table).__module__.partition(".")[0] not in ("pandas", "polars"):
        raise TypeError(f"look takes a path, or a pandas or polars frame, got {type(table).__name__}.")
    table = table.collect() if type(table).__name__ == "LazyFrame" else table
    columns = frame_columns(table)
    found, remarks, guesses = _judged(columns, {}, _PYTHON, [str(column.name) for column in columns])
    command = _python(guesses, table) if _can_run(found, len(table)) else ""
    return Look("frame", len(table), len(columns), "", "samples", found, remarks, guesses, command)


# -------------------------------------------------------------------- files


def _look_at_file(file: str | os.PathLike, options: dict[str, Any]) -> Look:
    kind = file_format(file)
    path = existing(file, FORMATS[kind].folder)
    request = Request(path, memory=physical_bytes() / 4, lenient=True, **options)
    request.kept = file if isinstance(file, ReadOnce) else None
    try:
        contents = read_contents(kind, request)
    except ParameterError as error:  # the first sheet is empty, but there are others
        if error.parameter != "sheet" or options["sheet"] is not None:
            raise
        contents = Contents(np.empty((0, 0)), layout={"sheets": error.value})
    X, columns, sheets = contents.X, contents.columns, contents.layout.get("sheets", ())
    large = columns is None and (isinstance(X, Source) or float(X.shape[0]) * X.shape[1] > _MOST_CELLS)
    if columns is None and not large:
        X, names = X.tocsc() if is_sparse(X) else X, contents.names or [f"x{j}" for j in range(X.shape[1])]
        values = (dense(take_columns(X, [j])).ravel() for j in range(X.shape[1]))
        columns = [checked(Column(name, "number", column)) for name, column in zip(names, values, strict=True)]
    columns, places = columns or [], contents.layout.get("places", range(X.shape[1]))
    called = _called([str(column.name) for column in columns], list(places))
    if contents.row_ids is not None and not large:
        columns, called = [read_column("", list(contents.row_ids)), *columns], ["", *called]
    if not options["transpose"] and _rows_are_features(columns):
        return replace(_look_at_file(file, options | {"transpose": True}), rows_are="features")
    found, remarks, guesses = _judged(columns, contents.wrong, _OPTIONS, called)
    n_rows, n_columns = (len(columns[0].values) if columns else X.shape[0]), len(columns) or X.shape[1]
    if options["sheet"] is None and not any(line.role == "feature" and line.kind == "number" for line in found):
        for sheet in sheets[1:]:  # the first sheet may hold notes
            with suppress(ValueError):
                other = _look_at_file(file, options | {"sheet": sheet})
                if other.command:
                    return replace(other, guesses=other.guesses | {"sheet": sheet})
    if large:
        remarks = ("the matrix is large, so single columns are not shown",)
    if obs := contents.layout.get("obs"):
        about = [f"{column.name!r} ({len(column.levels) or column.kind})" for column in obs if column.used]
        remarks += (f"obs holds {listed(about)}, the number of levels in brackets; --target NAME takes one as labels",)
        guesses["target"] = next((str(obs[at].name) for at in called_targets([column.name for column in obs])), None)
    guesses["transpose"], dialect = options["transpose"], contents.layout.get("dialect")
    if dialect is None:
        line, book = contents.layout.get("names_in"), f" {list(sheets)}" * (len(sheets) > 1)
        shown = f", sheet {options['sheet'] or sheets[0]!r} of{book}" if book else ""
        layout = f"{kind} file{shown}" + (f", names in line {line}" if line else "")
    else:
        encoding = {None: "UTF-8", "cp1252": "Windows-1252", "latin-1": "Latin-1"}[dialect.encoding]
        header = f"names in line {dialect.skip + 1}" if dialect.header else "no names"
        comma = ", decimal commas" if dialect.decimal_comma else ""
        layout = f"{encoding} text with {_DELIMITERS[dialect.delimiter]}{comma}, {header}"
    stated = {name: options[name] for name in ("sheet", "skip_rows", "layer") if options[name] is not None}
    given = [f"--{name.replace('_', '-')} {shlex.quote(str(value))}" for name, value in stated.items()]
    given += {None: [], True: ["--header"], False: ["--no-header"]}[options["header"]]
    flags = flags_of(guesses)
    command = ["fiedler rank", shlex.quote(str(path)), *given, *(["--auto"] if len(flags) > 2 * FLAGS else flags)]
    line = " ".join(command) if large or _can_run(found, n_rows) else ""
    return Look(str(path), n_rows, n_columns, layout, "samples", found, remarks, guesses, line)


def _called(names: list[str], places: list[int]) -> list[str]:
    """What the command line calls columns: names, or numbers for names that are empty, repeated or not printable."""
    plain = Counter(names)
    fits = [bool(name) and plain[name] == 1 and name.isprintable() for name in names]
    return [name if fit else str(place) for name, fit, place in zip(names, fits, places, strict=True)]


def _can_run(found: Sequence[ColumnLook], n_rows: int) -> bool:
    return n_rows > 2 and any(line.role == "feature" for line in found)


def _rows_are_features(columns: list[Column]) -> bool:
    """Whether a table holds one feature per row: names in its first column, and many alike columns of numbers."""
    numbers = [column for column in columns[1:] if column.kind == "number"]
    if len(numbers) < _WIDE or len(numbers) < len(columns) - 1 or not _is_unique_text(columns[0]):
        return False
    X = np.column_stack([column.values for column in numbers])
    spread = X.std(axis=0)
    if X.shape[0] < _TALL * X.shape[1] or np.isnan(X).any() or (spread == 0).any():
        return False
    r = np.corrcoef(X, rowvar=False)[np.triu_indices(X.shape[1], 1)]
    return bool(np.median(r) > _ALIKE and spread.max() < 10 * spread.min())


# -------------------------------------------------------------------- roles


def _judged(
    columns: list[Column], wrong: dict[str, str], ways: dict[str, str], called: list[str]
) -> tuple[tuple[ColumnLook, ...], tuple[str, ...], dict[str, Any]]:
    """A line per column, remarks, and the options that follow from them."""
    levels = [len(np.unique(column.values[column.known])) for column in columns]
    target, seen, found = _target(columns, levels), dict[bytes, str](), list[ColumnLook]()
    for column, count in zip(columns, levels, strict=True):
        name, known, kind, note = str(column.name), column.values[column.known], column.kind, ""
        key = blake2b(np.ascontiguousarray(column.values).data).digest() + kind.encode()
        if kind in ("wrong", "empty"):
            role, note = "wrong cells" if kind == "wrong" else "empty", wrong.get(name, "")
        elif column is target:
            role = "target candidate"
        elif _is_id(column, count):
            role = "id"
        elif kind == "text" or count < 2:
            role = "text" if kind == "text" else "constant"
        else:
            role, note = ("copy", seen[key]) if key in seen else ("feature", "")
        seen.setdefault(key, name)
        spread = float(known.std()) if kind in ("number", "date", "ordered") and len(known) else np.nan
        kind = {"wrong": "text", "empty": "number"}.get(kind, kind)
        found.append(ColumnLook(name, role, kind, int((~column.known).sum()), count, spread, note))
    both = list(zip(called, found, strict=True))
    by_role = lambda *roles: [name for name, line in both if name and line.role in roles]  # noqa: E731
    guesses: dict[str, Any] = {
        "target": next(iter(by_role("target candidate")), None),
        "id_columns": tuple(by_role("id")),
        "drop": tuple(by_role("text", "empty", "wrong cells", "constant")),
        "scale": None,
        "transpose": False,
        "sheet": None,
    }
    first = lambda words: ", ".join(words[:3]) + ", ..." * (len(words) > 3)  # noqa: E731
    odd_ones = [line for line in found if line.role == "wrong cells"]
    remarks = [f"{line.name!r} is left out: {line.note}" for line in odd_ones[:FLAGS]]
    remarks += [f"{len(odd_ones) - FLAGS} more columns have wrong cells"] * (len(odd_ones) > FLAGS)
    typos = [
        f"{column.levels[0]!r} in {str(column.name)!r}"
        for column in columns
        if column.kind == "number" and column.levels
    ]
    remarks += [f"no numbers, read as missing: {listed(typos)}"] * bool(typos)
    pairs = list(zip(columns, found, strict=True))
    features = [(column, line.levels) for column, line in pairs if line.role in ("feature", "copy")]
    used = [column for column, _ in features]
    odd = [column for column, line in pairs if line.role == "text" and _is_odd(column)]
    if odd:
        shown = first([f"{str(column.name)!r} ({column.levels[-1]!r})" for column in odd])
        remarks.append(f"no plain numbers or dates: {shown}; write them as 1234.5 or 2024-12-31 to use these columns")
    few = [column for column, count in features if column.kind == "number" and 3 <= count <= _CODES]
    codes = [repr(str(c.name)) for c in few if (np.floor(c.values) == c.values)[c.known].all()]
    if codes:
        which = f"{len(codes)} column{'s' * (len(codes) > 1)} ({first(codes)})"
        remarks.append(f"few whole numbers in {which}: if they are codes without an order, use {ways['codes']}")
    if any(column.kind == "category" for column in used):
        if any(column.kind in ("number", "date", "ordered") for column in used):
            remarks.append("numeric columns are standardised, because the table has categories")
    elif used:
        filled = [column.values[column.known].mean() if column.known.any() else 0.0 for column in used]
        X = np.column_stack([np.where(c.known, c.values, mean) for c, mean in zip(used, filled, strict=True)])
        uneven = uneven_columns(X, _UNEVEN)
        if uneven is not None:
            guesses["scale"] = "standard"
            wide, narrow = (str(used[which[0][0]].name) for which in (uneven.wide, uneven.narrow))
            times = f"spreads {uneven.factor:,.0f} times as much as"
            remarks.append(f"{wide!r} {times} {narrow!r}; {ways['scale']} brings all columns to one scale")
    return tuple(found), tuple(remarks), guesses


def _target(columns: list[Column], levels: list[int]) -> Column | None:
    """The column that may hold the labels: by its name, the only category at an end of a table, or the only number
    among columns that are numbered, such as wavelengths."""
    called = called_targets([column.name for column in columns])
    fitting = [(c, at, n) for at, (c, n) in enumerate(zip(columns, levels, strict=True)) if c.used and n > 1]
    features = [column for column, _, count in fitting if not _is_id(column, count)]
    named = [column for column, at, _ in fitting if at in called]
    if len(features) < 2:
        return None
    if named:
        return named[0]
    categories = [column for column in features if column.kind == "category"]
    if len(categories) == 1 and (categories[0] is features[0] or categories[0] is features[-1]):
        counts = np.bincount(categories[0].values[categories[0].known].astype(np.intp))
        if 2 <= len(counts) <= _FEW and counts.min() > 1:
            return categories[0]
    numbered = [_NUMBERED.fullmatch(str(column.name).strip()) for column in features]
    parts = Counter((found[1], found[3]) for found in numbered if found)
    alike = parts.most_common(1)[0][0] if parts else None
    others = [c for c, found in zip(features, numbered, strict=True) if not found or (found[1], found[3]) != alike]
    codes = {id(column) for column, _, count in fitting if count <= _CODES}
    numbers = [column for column in others if column.kind == "number" and id(column) not in codes]
    return numbers[0] if len(numbers) == 1 and len(features) - len(others) >= _WIDE else None


def called_targets(names: Sequence[Any]) -> list[int]:
    """The columns whose names say that they are a target."""
    plain = [str(name).strip().casefold() for name in names]
    known = set(_TARGETS.split()) - ({"y"} if {"x", "z"} & set(plain) else set())  # coordinates
    return [at for at, name in enumerate(plain) if name in known]


def _is_id(column: Column, levels: int) -> bool:
    """Whether a column names the rows: it counts them, is unique text, or is called an id and hardly repeats."""
    name = str(column.name).strip(" .:#").casefold()
    if (levels == len(column.values) and column.counts_rows) or _is_unique_text(column):
        return True
    if name in ("", "__index_level_0__") and column.kind == "text":
        return True
    whole = column.kind == "text" or (column.kind == "number" and bool((column.values % 1 == 0)[column.known].all()))
    called = name in _IDS.split() or name.endswith(("_id", ".id", " id"))
    return called and whole and len(column.values) > 9 and _VISITS * levels >= len(column.values)


def _is_unique_text(column: Column) -> bool:
    n_known = int(column.known.sum())
    unique = column.kind == "text" and len(column.levels) == n_known > 0.9 * len(column.values)
    return unique and not _is_odd(column)


def _is_odd(column: Column) -> bool:
    """Whether a text holds numbers with signs such as % or $, or dates: mostly digits, and hardly a letter."""
    some = column.levels[:100]
    digits = sum(sum(map(str.isdigit, level)) >= 2 * sum(map(str.isalpha, level)) + 1 for level in some)
    signs = sum(any(sign in level for sign in "%$€£,/") for level in some)
    return column.kind == "text" and 2 * min(digits, signs) > len(some)


# -------------------------------------------------------------------- commands


def flags_of(guesses: dict[str, Any]) -> list[str]:
    """Guesses as options of the command line."""
    flags = ["--transpose"] * bool(guesses.get("transpose"))
    if guesses["sheet"] is not None:
        flags += ["--sheet", shlex.quote(guesses["sheet"])]
    if guesses["target"] is not None:
        flags += ["--target", shlex.quote(guesses["target"])]
    for flag, key in (("--id", "id_columns"), ("--drop", "drop")):
        flags += [part for name in guesses[key] for part in (flag, shlex.quote(name))]
    return flags + (["--scale", guesses["scale"]] if guesses["scale"] else [])


def _python(guesses: dict[str, Any], frame: Any) -> str:
    names = {str(name): name for name in frame.columns}
    gone = {guesses["target"], *guesses["id_columns"], *guesses["drop"]}
    out = [name for text, name in names.items() if text in gone]
    if len(out) > FLAGS:  # a fit leaves out the others as well
        out = [name for text, name in names.items() if text == guesses["target"]]
    scale = "scale='standard'" * bool(guesses["scale"])
    data = f"frame.drop(columns={out})" if out else "frame"
    y = f", frame[{names[guesses['target']]!r}]" if guesses["target"] is not None else ""
    return f"SpectralSelector({scale}).fit({data}{y})"
