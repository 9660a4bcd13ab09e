"""Excel's .xlsx through openpyxl: one sheet, its first row the names or not, values as they were last computed."""

from __future__ import annotations

import warnings
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, time, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from ..validation import require
from ..words import did_you_mean, first_line
from .columns import usable
from .delimited import guess_header, to_number
from .tables import Found, Request, Table, left_out, roles


def read_xlsx(request: Request) -> Found:
    """The numbers of a sheet; a cell that is a date or text is no number, and empty rows are skipped."""
    path = request.path
    with _rows(path, request.sheet) as rows:
        kept = [(line, row) for line, row in enumerate(rows, 1) if any(cell is not None for cell in row)]
    if not kept:
        raise ValueError(f"{path}: the sheet is empty.")
    width = max(j + 1 for _, row in kept for j, cell in enumerate(row) if cell is not None)
    first, *others = ([_text(row[j] if j < len(row) else None) for j in range(width)] for _, row in kept[:20])
    header, note = request.header, ""
    if header is None and set(request.named) & {cell.strip() for cell in first}:
        header = True
    if header is None:
        header, note = guess_header([cell.strip() for cell in first], others)
    names = [cell.strip() for cell in first] if header else [f"x{j}" for j in range(width)]
    features, target, ids = roles(names, request)
    body = kept[1:] if header else kept
    if not body:
        raise ValueError(f"{path} has a header but no rows.")
    bad: dict[int, str] = {}
    columns = {}
    for j in features:
        column = array("d")
        for line, row in body:
            cell = row[j] if j < len(row) else None
            value = _value(cell)
            if value is None:
                what = "a date" if isinstance(cell, (date, time, timedelta)) else "not a number"
                bad[j] = f"row {line}, column {names[j]!r}: {str(cell)[:40]!r} is {what}"
                bad[j] += ", which is no number" * (what == "a date")
                break
            column.append(value)
        else:
            columns[j] = column
    features, notes = usable(request, names, features, list(bad), next(iter(bad.values()), ""))
    y, row_ids = (
        None if j is None else [_text(row[j] if j < len(row) else None) for _, row in body]
        for j in (target, ids[0] if ids else None)
    )
    X = np.column_stack([np.frombuffer(columns[j], dtype=np.float64) for j in features])
    layout = {"features": features, "left_out": sorted([*left_out(names, request), *bad]), "sheet": request.sheet}
    return Found(X, [names[j] for j in features], y, row_ids, layout, [f"{path}: {note}"] * bool(note) + notes)


def write_xlsx(path: Path, table: Table, selected: np.ndarray) -> None:
    """The kept columns of the sheet, in a workbook of their own."""
    openpyxl = require("openpyxl", "io", path)
    features = table.layout["features"]
    gone = set(features) - {features[j] for j in selected} | set(table.layout["left_out"])
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Sheet1")
    with _rows(table.source, table.layout["sheet"]) as rows:
        for row in rows:
            sheet.append([cell for j, cell in enumerate(row) if j not in gone])
    with open(path, "wb") as file:
        book.save(file)


@contextmanager
def _rows(path: Path, wanted: str | int | None) -> Iterator[Iterator[tuple[Any, ...]]]:
    """The rows of a sheet; whatever is wrong with the file is a ValueError."""
    openpyxl = require("openpyxl", "io", path)
    book = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and extensions, nothing the user could act on
            book = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
            sheet = _sheet(book, wanted, path)
            sheet.reset_dimensions()  # what a file says about its size may be wrong
            yield sheet.iter_rows(values_only=True)
    except ImportError:
        raise
    except Exception as error:  # a broken file makes openpyxl raise almost anything
        if str(error).startswith(str(path)):
            raise
        why = first_line(error) or type(error).__name__
        raise ValueError(f"{path} is not an Excel file that can be read: {why}.") from None
    finally:
        if book is not None:
            book.close()


def _sheet(book: Any, wanted: str | int | None, path: Path) -> Any:
    names = [sheet.title for sheet in book.worksheets]
    if wanted in names:
        return book[wanted]
    if isinstance(wanted, str) and not wanted.lstrip("-").isdigit():
        raise ValueError(f"{path} has no sheet {wanted!r}; {did_you_mean(wanted, names)}Sheets: {', '.join(names)}.")
    number = int(wanted or 0)
    if not -len(names) <= number < len(names):
        raise ValueError(f"{path} has no sheet {number}: its {len(names)} sheets are numbered from 0.")
    return book.worksheets[number]


def _value(cell: Any) -> float | None:
    """The number in a cell, NaN where it is missing, None where it is none."""
    if cell is None:
        return np.nan
    if isinstance(cell, (int, float)):
        return float(cell)
    return to_number(cell, False) if isinstance(cell, str) else None


def _text(cell: Any) -> str:
    """A cell as text; whole numbers without a decimal point, as the sheet shows them."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        cell = int(cell)
    return "" if cell is None else str(cell)
