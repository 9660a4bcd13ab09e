"""Readers of named columns, some of which are the target or ids: CSV, Parquet, Feather, ARFF.

Each is a short function through a well-kept library.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..validation import require
from ..words import first_line
from .delimited import left_out_note, open_text, read_delimited, way_out
from .files import ParquetFile, arrow_dtype, as_floats, is_arrow_number
from .tables import Found, Request, left_out, roles

_COLUMNS_AT_ONCE = 512


def read_csv(request: Request) -> Found:
    table = read_delimited(
        request.path, lambda names: roles(names, request), request.header, request.numeric_only, request.named
    )
    names = table.dialect.names
    out = sorted(left_out(names, request) + table.left_out)
    layout = {"features": table.features, "left_out": out, "dialect": table.dialect}
    return Found(table.X, [names[j] for j in table.features], table.target, table.ids, layout, table.notes)


def read_arrow(request: Request) -> Found:
    """Parquet or Feather, a group of columns at a time into one matrix."""
    names, types, load = open_arrow(request.path)
    features, target, ids = roles(names, request)
    bad = [j for j in features if not is_arrow_number(types[j])]
    why = "".join(f"column {names[j]!r} holds {types[j]}, not numbers" for j in bad[:1])
    features, notes = usable(request, names, features, bad, why)
    y = None if target is None else load([target]).column(0).to_pylist()
    row_ids = load(ids[:1]).column(0).to_pylist() if ids else None
    layout = {"features": features, "left_out": sorted(left_out(names, request) + bad)}
    found = Found(None, [names[j] for j in features], y, row_ids, layout, notes)
    kind = arrow_dtype([types[j] for j in features])
    if is_parquet(request.path):
        n_rows = require("pyarrow.parquet", "io", request.path).read_metadata(request.path).num_rows
        if n_rows * len(features) * np.dtype(kind).itemsize > request.memory:
            found.X = ParquetFile(request.path, found.names)
            return found
    X = None
    for start in range(0, len(features), _COLUMNS_AT_ONCE):
        part = load(features[start : start + _COLUMNS_AT_ONCE])
        X = np.empty((part.num_rows, len(features)), dtype=kind, order="F") if X is None else X
        for j, column in enumerate(part.columns):
            X[:, start + j] = as_floats(column, f"{request.path}: column {names[features[start + j]]!r}")
    found.X = X
    return found


def usable(
    request: Request, names: list[str], features: list[int], bad: list[int], why: str
) -> tuple[list[int], list[str]]:
    """The features without those that hold no numbers, and what to say; an error where they may not be left out."""
    if not bad:
        return features, []
    bad_names = [names[j] for j in bad]
    if not request.numeric_only or len(bad) == len(features):
        raise ValueError(f"{request.path}: {why}; {way_out(bad_names)}.")
    return [j for j in features if j not in set(bad)], [left_out_note(request.path, bad_names)]


def is_parquet(path: Path) -> bool:
    return path.suffix.lower() in (".parquet", ".pq")


def open_arrow(path: Path) -> tuple[list[str], list[Any], Callable[[list[int]], Any]]:
    """Column names, column types, and a function that loads the columns at given positions."""
    pa = require("pyarrow", "io", path)
    try:
        if is_parquet(path):
            file = require("pyarrow.parquet", "io", path).ParquetFile(path, memory_map=True)
            schema = file.schema_arrow
            load = lambda columns: file.read(columns=[schema.names[j] for j in columns])  # noqa: E731
        else:
            table = require("pyarrow.feather", "io", path).read_table(path, memory_map=True)
            schema, load = table.schema, table.select
    except (pa.ArrowInvalid, OSError) as error:
        raise ValueError(f"{path} is not a {path.suffix[1:].lower()} file: {first_line(error)}") from None
    if len(set(schema.names)) < len(schema.names):
        raise ValueError(f"{path} has columns of the same name; rename them first.")
    return schema.names, schema.types, load


def read_arff(request: Request) -> Found:
    """Dense ARFF by scipy; sparse ARFF, text attributes, and the line of an error, by liac-arff."""
    sparse, too_long = _arff_body(request.path)
    if too_long is not None:  # scipy cuts such a row; liac-arff refuses it, or knows better what a quote holds
        try:
            require("arff", "io", request.path)
        except ImportError:
            raise ValueError(too_long) from None
    elif not sparse:
        from scipy.io import arff

        longest = csv.field_size_limit()  # which scipy raises for the whole process
        try:
            with open_text(request.path) as file:
                records, meta = arff.loadarff(file)
            names = meta.names()
            return _arff_found(request, names, lambda j: records[names[j]])
        except (arff.ArffError, NotImplementedError, ValueError, StopIteration, IndexError) as error:
            if str(error).startswith(str(request.path)):
                raise  # our own message about a column
            try:
                require("arff", "io", request.path)
            except ImportError as missing:
                raise ValueError(f"{request.path} is not plain dense ARFF: {first_line(error)}; {missing}") from None
        finally:
            csv.field_size_limit(longest)
    return _read_liac_arff(request, sparse)


def _arff_body(path: Path) -> tuple[bool, str | None]:
    """Whether the rows are sparse, and what is wrong with the first that seems to have more cells than attributes."""
    sparse, n_attributes, data = False, 0, False
    with open_text(path) as file:
        for number, line in enumerate(file, 1):
            text = line.strip()
            if not text or text[0] == "%":
                continue
            if not data:
                start = text[:10].lower()
                n_attributes += start.startswith("@attribute")
                data = start.startswith("@data")
            elif text[0] == "{":
                return True, None
            elif text.count(",") >= n_attributes:
                n_cells = text.count(",") + 1
                return sparse, f"{path}: line {number} has {n_cells} cells, but there are {n_attributes} attributes."
    return sparse, None


def load_liac_arff(path: Path, sparse: bool) -> dict[str, Any]:
    arff = require("arff", "io", path)
    try:
        with open_text(path) as file:
            return arff.load(file, encode_nominal=False, return_type=arff.LOD if sparse else arff.DENSE)
    except arff.ArffException as error:
        raise ValueError(f"{path}: {first_line(error)}") from None


def _read_liac_arff(request: Request, sparse: bool) -> Found:
    content = load_liac_arff(request.path, sparse)
    names, kinds = zip(*content["attributes"], strict=True)
    if not sparse:
        return _arff_found(request, list(names), lambda j: [row[j] for row in content["data"]])
    features, target, ids = roles(list(names), request)
    # A cell that is not written is 0, which for a list of words means the first of them.
    zero = [kind[0] if isinstance(kind, list) else 0.0 for kind in kinds]
    wanted, bad = set(features), dict[int, str]()
    cells = [(i, j, _number(v)) for i, row in enumerate(content["data"]) for j, v in row.items() if j in wanted]
    for i, j, value in cells:
        if value is None:
            bad.setdefault(j, _not_a_number(i, names[j], content["data"][i][j]))
    features, notes = usable(request, list(names), features, list(bad), next(iter(bad.values()), ""))
    where = {j: k for k, j in enumerate(features)}
    cells = [cell for cell in cells if cell[1] in where]
    data = np.array([value for _, _, value in cells], dtype=np.float64)
    X = sp.csr_array(
        (data, ([i for i, _, _ in cells], [where[j] for _, j, _ in cells])), (len(content["data"]), len(features))
    )
    column = lambda j: [row.get(j, zero[j]) for row in content["data"]]  # noqa: E731
    y, row_ids = None if target is None else column(target), column(ids[0]) if ids else None
    layout = {"features": features, "left_out": sorted([*left_out(list(names), request), *bad]), "sparse": True}
    return Found(X, [names[j] for j in features], y, row_ids, layout, notes)


def _arff_found(request: Request, names: list[str], column: Callable[[int], Any]) -> Found:
    features, target, ids = roles(names, request)
    columns, bad = dict[int, np.ndarray](), dict[int, str]()
    for j in features:
        values = np.asarray(column(j))
        if values.dtype.kind not in "biuf":
            texts = _texts(values)
            numbers = [_number(v) for v in texts]
            if None in numbers:
                bad[j] = _not_a_number(row := numbers.index(None), names[j], texts[row])
                continue
            values = np.array(numbers)
        columns[j] = values.astype(np.float64)
    features, notes = usable(request, names, features, list(bad), next(iter(bad.values()), ""))
    y, row_ids = (None if j is None else _texts(column(j)) for j in (target, ids[0] if ids else None))
    X = np.column_stack(list(columns.values()))
    layout = {"features": features, "left_out": sorted([*left_out(names, request), *bad])}
    return Found(X, [names[j] for j in features], y, row_ids, layout, notes)


def _number(value: Any) -> float | None:
    """The number in a cell, NaN where it is missing, None where it is none."""
    try:
        return np.nan if value is None or value == "?" else float(value)
    except (TypeError, ValueError):
        return None


def _not_a_number(row: int, name: str, value: Any) -> str:
    return f"row {row}, column {name!r}: {str(value)[:40]!r} is not a number"


def _texts(values: Any) -> list[Any]:
    return [v.decode() if isinstance(v, bytes) else v for v in np.asarray(values).tolist()]
