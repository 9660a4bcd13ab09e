"""Readers of named columns, some of which are the target or ids: CSV, Parquet, Feather, ARFF.

Each is a short function through a well-kept library.
"""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..validation import require
from ..words import first_line
from .delimited import open_text, read_delimited
from .files import ParquetFile, arrow_dtype, is_arrow_number
from .tables import Found, Request, roles

_COLUMNS_AT_ONCE = 512


def read_csv(request: Request) -> Found:
    table = read_delimited(request.path, lambda names: roles(names, request), request.header)
    names = [table.names[j] for j in table.features]
    if request.header and all(name.replace(".", "").lstrip("-").isdigit() for name in table.names):
        warnings.warn(
            f"{request.path}: the first line is all numbers and taken as names; if it is data, use header=False.",
            UserWarning,
            stacklevel=3,
        )
    layout = {"features": table.features, "delimiter": table.delimiter, "header": request.header}
    return Found(table.X, names, table.target, table.ids, layout)


def read_arrow(request: Request) -> Found:
    """Parquet or Feather, a group of columns at a time into one matrix."""
    names, types, load = open_arrow(request.path)
    features, target, ids = roles(names, request)
    pa = require("pyarrow", "io", request.path)
    for j in features:
        if not is_arrow_number(types[j]):
            raise ValueError(
                f"{request.path}: column {names[j]!r} holds {types[j]}, not numbers; if it is no feature, name it as "
                "the target or as an id column."
            )
    y = None if target is None else load([target]).column(0).to_pylist()
    row_ids = load(ids[:1]).column(0).to_pylist() if ids else None
    found = Found(None, [names[j] for j in features], y, row_ids, {"features": features})
    kind = arrow_dtype([types[j] for j in features])
    if request.path.suffix in (".parquet", ".pq"):
        n_rows = require("pyarrow.parquet", "io", request.path).read_metadata(request.path).num_rows
        if n_rows * len(features) * np.dtype(kind).itemsize > request.memory:
            found.X = ParquetFile(request.path, found.names)
            return found
    X = None
    for start in range(0, len(features), _COLUMNS_AT_ONCE):
        part = load(features[start : start + _COLUMNS_AT_ONCE])
        X = np.empty((part.num_rows, len(features)), dtype=kind, order="F") if X is None else X
        for j, column in enumerate(part.columns):
            X[:, start + j] = column.cast(pa.float64() if kind is np.float64 else pa.float32()).to_numpy()
    found.X = X
    return found


def open_arrow(path: Path) -> tuple[list[str], list[Any], Callable[[list[int]], Any]]:
    """Column names, column types, and a function that loads the columns at given positions."""
    pa = require("pyarrow", "io", path)
    try:
        if path.suffix in (".parquet", ".pq"):
            file = require("pyarrow.parquet", "io", path).ParquetFile(path, memory_map=True)
            schema = file.schema_arrow
            load = lambda columns: file.read(columns=[schema.names[j] for j in columns])  # noqa: E731
        else:
            table = require("pyarrow.feather", "io", path).read_table(path, memory_map=True)
            schema, load = table.schema, table.select
    except (pa.ArrowInvalid, OSError) as error:
        raise ValueError(f"{path} is not a {path.suffix[1:]} file: {first_line(error)}") from None
    if len(set(schema.names)) < len(schema.names):
        raise ValueError(f"{path} has columns of the same name; rename them first.")
    return schema.names, schema.types, load


def read_arff(request: Request) -> Found:
    """Dense ARFF by scipy; sparse ARFF, text attributes, and the line of an error, by liac-arff."""
    with open_text(request.path) as file:
        body = iter(file)
        any(line.strip().lower().startswith("@data") for line in body)
        sparse = next((line.lstrip().startswith("{") for line in body if line.strip() and line[0] != "%"), False)
    if not sparse:
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
    where = {j: k for k, j in enumerate(features)}
    cells = [(i, j, value) for i, row in enumerate(content["data"]) for j, value in row.items() if j in where]
    data = [_number(v, request.path, i, names[j]) for i, j, v in cells]
    X = sp.csr_array(
        (data, ([i for i, _, _ in cells], [where[j] for _, j, _ in cells])), (len(content["data"]), len(features))
    )
    column = lambda j: [row.get(j, zero[j]) for row in content["data"]]  # noqa: E731
    y, row_ids = None if target is None else column(target), column(ids[0]) if ids else None
    return Found(X, [names[j] for j in features], y, row_ids, {"features": features, "sparse": True})


def _arff_found(request: Request, names: list[str], column: Callable[[int], Any]) -> Found:
    features, target, ids = roles(names, request)
    columns = [_numbers(column(j), request.path, names[j]) for j in features]
    y, row_ids = (None if j is None else _texts(column(j)) for j in (target, ids[0] if ids else None))
    return Found(np.column_stack(columns), [names[j] for j in features], y, row_ids, {"features": features})


def _numbers(values: Any, path: Path, name: str) -> np.ndarray:
    values = np.asarray(values)
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    return np.array([_number(v, path, i, name) for i, v in enumerate(_texts(values))])


def _number(value: Any, path: Path, row: int, name: str) -> float:
    try:
        return np.nan if value is None or value == "?" else float(value)
    except ValueError:
        raise ValueError(
            f"{path}: row {row}, column {name!r}: {value[:40]!r} is not a number; if the column is no feature, name it "
            "as the target or as an id column."
        ) from None


def _texts(values: Any) -> list[Any]:
    return [v.decode() if isinstance(v, bytes) else v for v in np.asarray(values).tolist()]
