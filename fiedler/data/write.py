"""Results out: rankings, reduced tables in the format they came in, and columns of an AnnData."""

from __future__ import annotations

import csv
import io
import json
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..validation import check_choice, is_sparse, require
from .atomic import replacing
from .columns import is_parquet, load_liac_arff, open_arrow
from .delimited import BLANKS, data_rows, opener
from .matrices import load_mtx
from .stores import has_x, open_hdf5, open_npy
from .tables import Table

# -------------------------------------------------------------------- rankings


def write_ranking(
    path: str | Path,
    columns: dict[str, Any],
    *,
    force: bool = False,
    about: dict[str, Any] | None = None,
    formulas: str = "keep",
) -> Path:
    """Write a ranking as CSV, TSV, JSON, Parquet or Feather, by suffix.

    Parameters
    ----------
    path : str or Path
        The suffix decides the format.
    columns : dict of str to array
        Columns of equal length, such as ``feature``, ``score``, ``rank``.
    force : bool, default=False
        Replace an existing file.
    about : dict, optional
        What was run; JSON keeps it beside the features.
    formulas : {"keep", "escape"}, default="keep"
        What to do with text in CSV and TSV that a spreadsheet would run, as it starts with =, +, -, @, a tab or a
        carriage return: keep it as it is, or put an apostrophe before it. Numbers are never changed.

    Returns
    -------
    path : Path
        The file written.

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
        else:
            temporary.write_text(
                ranking_text(columns, suffix, about, formulas == "escape"), encoding="utf-8", newline=""
            )
    return Path(path)


RANKING_SUFFIXES = (".csv", ".tsv", ".json", ".parquet", ".feather")


def ranking_text(
    columns: dict[str, Any], suffix: str = ".csv", about: dict[str, Any] | None = None, escape: bool = False
) -> str:
    """A ranking as CSV, TSV or JSON; numbers are written so that they read back exactly, NaN as nothing."""
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
    """Text that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in tuple("=+-@\t\r") else value


def _json_value(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None if value != value else str(value)  # JSON has neither
    return value


def _save_ranking(path: Path, columns: dict[str, Any]) -> None:
    pa = require("pyarrow", "io", path)
    table = pa.table({name: np.asarray(values).tolist() for name, values in columns.items()})
    _save_arrow(table, path)


def _save_arrow(table: Any, path: Path) -> None:
    if is_parquet(path):
        require("pyarrow.parquet", "io", path).write_table(table, path)
    else:
        require("pyarrow.feather", "io", path).write_feather(table, str(path))


# -------------------------------------------------------------------- reduced tables


def _dropped(table: Table, selected: np.ndarray) -> set[int]:
    """Positions in the file of the columns that go; ids, target and whatever else it holds stay."""
    features = table.layout["features"]
    return set(features) - {features[j] for j in selected} | set(table.layout.get("left_out", ()))


def write_csv(path: Path, table: Table, selected: np.ndarray) -> None:
    dialect, dropped = table.layout["dialect"], _dropped(table, selected)
    kept = [j for j in range(len(dialect.names)) if j not in dropped]
    with opener(path)(path, "wt", encoding="utf-8", newline="") as file:
        out = csv.writer(file, delimiter=_delimiter(path, table), lineterminator="\n")
        if dialect.header:
            out.writerow(dialect.names[j] for j in kept)
        out.writerows([row[j] for j in kept] for _, row in data_rows(table.source, dialect))


def _delimiter(path: Path, table: Table) -> str:
    """What the suffix stands for; .csv also for the semicolons of a .csv, and where a comma marks decimals.

    Runs of blanks become tabs: among blanks an empty cell could not be seen.
    """
    dialect, suffixes = table.layout["dialect"], _suffixes(path)
    if suffixes & {".tsv", ".tab"}:
        return "\t"
    if ".csv" not in suffixes:
        return "\t" if dialect.delimiter == BLANKS else dialect.delimiter
    return ";" if dialect.decimal_comma or (dialect.delimiter == ";" and ".csv" in _suffixes(table.source)) else ","


def _suffixes(path: Path) -> set[str]:
    return {suffix.lower() for suffix in path.suffixes}


def write_arrow(path: Path, table: Table, selected: np.ndarray) -> None:
    names, _, load = open_arrow(table.source)
    dropped = _dropped(table, selected)
    _save_arrow(load([j for j in range(len(names)) if j not in dropped]), path)


def write_arff(path: Path, table: Table, selected: np.ndarray) -> None:
    arff = require("arff", "io", table.source)
    sparse = "sparse" in table.layout
    content = load_liac_arff(table.source, sparse)
    dropped = _dropped(table, selected)
    kept = [j for j in range(len(content["attributes"])) if j not in dropped]
    content["attributes"] = [content["attributes"][j] for j in kept]
    new = {j: k for k, j in enumerate(kept)}
    if sparse:
        content["data"] = [{new[j]: v for j, v in row.items() if j in new} for row in content["data"]]
    else:
        content["data"] = [[row[j] for j in kept] for row in content["data"]]
    with opener(path)(path, "wt", encoding="utf-8") as file:
        arff.dump(content, file)


def write_npy(path: Path, table: Table, selected: np.ndarray) -> None:
    with open(path, "wb") as file:
        np.save(file, _kept_columns(open_npy(table.source), table, selected), allow_pickle=False)


def _kept_columns(X: Any, table: Table, selected: np.ndarray) -> Any:
    dropped = _dropped(table, selected)
    return X[:, [j for j in range(X.shape[1]) if j not in dropped]]


def write_npz(path: Path, table: Table, selected: np.ndarray) -> None:
    arrays = _named_arrays(table, selected)
    if is_sparse(X := arrays["X"]):
        del arrays["X"]
        arrays |= {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
        arrays["format"] = np.array(X.format.encode())
    with open(path, "wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def write_mat(path: Path, table: Table, selected: np.ndarray) -> None:
    from scipy.io import savemat

    arrays = _named_arrays(table, selected)
    arrays["feature_names"] = arrays["feature_names"].astype(object)
    if "y" in arrays:
        arrays["Y"] = arrays.pop("y").reshape(-1, 1)
    with open(path, "wb") as file:
        savemat(file, arrays, do_compression=True)  # type: ignore[arg-type]  # the stubs know paths only


def _named_arrays(table: Table, selected: np.ndarray) -> dict[str, Any]:
    arrays = {"X": table.X[:, selected], "feature_names": table.feature_names[selected].astype(str)}
    if table.layout["y"] is not None:  # as in the file, unknown ones by the name they have there
        arrays["y"] = np.asarray(table.layout["y"])
    if table.row_ids is not None:
        arrays["row_ids"] = table.row_ids.astype(str)
    return arrays


def write_svmlight(path: Path, table: Table, selected: np.ndarray) -> None:
    from sklearn.datasets import dump_svmlight_file

    with opener(path)(path, "wb") as file:
        X = sp.csr_matrix(sp.csr_array(table.X)[:, selected])
        X.indices, X.indptr = X.indices.astype(np.intc), X.indptr.astype(np.intc)  # the writer knows no other
        dump_svmlight_file(X, table.layout["y"], file, zero_based=False)  # from 1, as the format's own tools do


def write_mtx(path: Path, table: Table, selected: np.ndarray) -> None:
    from scipy.io import mmwrite

    with opener(path)(path, "wb") as file:
        mmwrite(file, _kept_columns(load_mtx(table.source), table, selected))


def write_h5ad(path: Path, table: Table, selected: np.ndarray) -> None:
    anndata = require("anndata", "anndata", path)
    with open_hdf5(table.source, "anndata") as file:
        backed = "r" if has_x(file) else None  # without an X there is nothing to leave in the file
    adata = anndata.read_h5ad(table.source, backed=backed)
    kept = adata[:, _places(table, selected)]
    (kept.to_memory() if backed else kept).write_h5ad(path)
    adata.file.close()


def _places(table: Table, selected: np.ndarray) -> np.ndarray:
    """Where the selected features stand in the file."""
    return np.asarray(table.layout.get("features", np.arange(table.shape[1])))[selected]


def write_zarr(path: Path, table: Table, selected: np.ndarray) -> None:
    zarr = require("zarr", "zarr", path)
    store = zarr.open(str(table.source), mode="r")
    if isinstance(store, zarr.Array):
        zarr.save_array(str(path), _kept_columns(store, table, selected))
    elif "obs" in store:
        adata = require("anndata", "anndata", path).read_zarr(str(table.source))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about Zarr's versions, nothing the user could act on
            adata[:, _places(table, selected)].write_zarr(str(path))
    else:
        group = zarr.open_group(str(path), mode="w")
        for name, values in _named_arrays(table, selected).items():
            if values.dtype.kind == "U":
                group.attrs[name] = values.tolist()
            elif is_sparse(values):
                _write_sparse(group.create_group(name), values)
            else:
                group.create_array(name, data=values)


def write_hdf5(path: Path, table: Table, selected: np.ndarray) -> None:
    h5py = require("h5py", "io", path)
    with h5py.File(path, "w") as file:
        for name, values in _named_arrays(table, selected).items():
            if is_sparse(values):
                _write_sparse(file.create_group(name), values)
                continue
            values = np.asarray(values)
            file[name] = values.astype(object) if values.dtype.kind == "U" else values


def _write_sparse(group: Any, X: Any) -> None:
    """A sparse matrix in AnnData's encoding, into a group of an HDF5 or Zarr file."""
    create = group.create_array if hasattr(group, "create_array") else group.create_dataset
    group.attrs.update({"encoding-type": f"{X.format}_matrix", "encoding-version": "0.1.0", "shape": list(X.shape)})
    for part in ("data", "indices", "indptr"):
        create(part, data=getattr(X, part))


# -------------------------------------------------------------------- AnnData


def annotate(
    adata: Any, selector: Any, *, key_added: str = "fiedler", subset: bool = False, inplace: bool = True
) -> Any:
    """Write a fitted selector's result into an AnnData: ``var[key_score]``, ``_rank``, ``_selected``, ``uns[key]``.

    Parameters
    ----------
    adata : AnnData
        With the features the selector was fitted on, in the same order.
    selector : SpectralSelector
        Fitted.
    key_added : str, default="fiedler"
        Prefix of the columns.
    subset : bool, default=False
        Keep only the selected features.
    inplace : bool, default=True
        Change ``adata``, or return a changed copy.

    Returns
    -------
    adata : AnnData or None
        The changed copy; None where ``adata`` itself was changed.
    """
    if adata.n_vars != len(selector.scores_):
        raise ValueError(f"adata has {adata.n_vars} features, but the selector was fitted on {len(selector.scores_)}.")
    adata = adata if inplace else adata.copy()
    columns = {"score": selector.scores_, "rank": selector.ranking_, "selected": selector.support_}
    for name, values in columns.items():
        adata.var[f"{key_added}_{name}"] = values
    direction = bool(selector.criterion_.greater_is_better)
    adata.uns[key_added] = {"criterion": repr(selector.criterion_), "greater_is_better": direction}
    if subset:
        adata._inplace_subset_var(selector.support_)
    return None if inplace else adata
