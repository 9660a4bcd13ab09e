"""Writing of rankings as CSV, TSV, JSON, Excel, Parquet or Feather."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from ..validation import check_choice, require
from .atomic import replacing
from .tables import save_arrow, save_sheet


def write_ranking(
    path: str | Path,
    columns: dict[str, Any],
    *,
    force: bool = False,
    about: dict[str, Any] | None = None,
    formulas: str = "keep",
) -> Path:
    """Write a ranking as CSV, TSV, JSON, Excel, Parquet or Feather, by suffix.

    Parameters
    ----------
    path : str or Path
        The file; its suffix decides the format.
    columns : dict of str to array
        Columns of equal length, such as ``feature``, ``score``, ``rank``.
    force : bool, default=False
        Whether an existing file is replaced.
    about : dict, optional
        Description of the run, which is included in JSON.
    formulas : {"keep", "escape"}, default="keep"
        Treatment of text in CSV and TSV that a spreadsheet would run as a formula, because it starts with =, +, -, @, a
        tab or a carriage return: keep it unchanged, or put an apostrophe before it. Numbers are never changed. In Excel
        files text is always stored as text, so nothing is escaped, and numbers have 15 digits.

    Returns
    -------
    path : Path
        The file that was written.

    Examples
    --------
    >>> import tempfile
    >>> from fiedler.io import write_ranking
    >>> file = Path(tempfile.mkdtemp()) / "ranking.csv"
    >>> print(write_ranking(file, {"feature": ["a", "b"], "score": [0.25, float("nan")]}).read_text(), end="")
    feature,score
    a,0.25
    b,
    """
    check_choice("formulas", formulas, ("keep", "escape"))
    suffix = Path(path).suffix.lower()
    if suffix not in RANKING_SUFFIXES:
        raise ValueError(
            f"{path}: a ranking is written as {', '.join(RANKING_SUFFIXES)}, not {suffix or 'no suffix'!r}."
        )
    with replacing(path, force) as temporary:
        if suffix in (".parquet", ".feather"):
            _save_ranking(temporary, columns)
        elif suffix == ".xlsx":
            save_sheet(temporary, columns, path)
        else:
            temporary.write_text(
                ranking_text(columns, suffix, about, formulas == "escape"), encoding="utf-8", newline=""
            )
    return Path(path)


RANKING_SUFFIXES = (".csv", ".tsv", ".json", ".xlsx", ".parquet", ".feather")


def ranking_text(
    columns: dict[str, Any], suffix: str = ".csv", about: dict[str, Any] | None = None, escape: bool = False
) -> str:
    """A ranking as CSV, TSV or JSON; numbers are written with full precision, NaN as an empty cell."""
    rows = zip(*(np.asarray(values).tolist() for values in columns.values()), strict=True)
    if suffix == ".json":
        records = [{k: _json_value(v) for k, v in zip(columns, row, strict=True)} for row in rows]
        return json.dumps({**(about or {}), "features": records}, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t" if suffix == ".tsv" else ",", lineterminator="\n")
    safe = _escaped if escape else lambda v: v
    writer.writerow(map(safe, columns))
    writer.writerows(["" if v != v else safe(v) for v in row] for row in rows)
    return text.getvalue()


def _escaped(value: Any) -> Any:
    """Text that no spreadsheet interprets as a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in tuple("=+-@\t\r") else value


def _json_value(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None if value != value else str(value)  # JSON has neither NaN nor infinity
    return value


def _save_ranking(path: Path, columns: dict[str, Any]) -> None:
    pa = require("pyarrow", "io", path)
    table = pa.table({name: np.asarray(values).tolist() for name, values in columns.items()})
    save_arrow(table, path)
