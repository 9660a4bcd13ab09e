"""The table of file formats: how each is read as a whole, opened in blocks, and written with fewer columns.

    read_table("genes.csv", target="label") -> Table(X, feature_names, row_ids, y, source)
    open_source("big.zarr") -> Source, read block by block

CSV, TSV (also gzipped), Excel, Parquet, Feather, ARFF, MATLAB, NPY, NPZ, svmlight, Matrix Market, h5ad, HDF5 and Zarr,
by suffix. Sparse matrices stay sparse. NPY files, and matrices larger than the memory limit, stay on disk; others are
read into memory. Error messages name the file, the line and the column. No file can run code.

To add a format to the package, write a file with ``read(request) -> Contents`` and, if tables can be written,
``write(path, table, selected)``; add a line to ``FORMATS`` below; and add a test. No other module names a format. A
reader passes every size that a file declares to :func:`fiedler.data.memory.check_size` before it allocates memory.

To add one from another package, call :func:`register_format`, or declare an entry point in the group
``fiedler.formats`` that names a :class:`Format`; the command line then reads the format too.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ParameterError, ParameterWarning
from ..validation import check_choice, require
from . import matrices, tables
from .files import MappedFile, ParquetFile, named_damage
from .labels import as_labels, read_labels, read_names
from .memory import TEXT_BYTES, allocation_limit, check_size, memory_limit
from .source import ColumnView, Source
from .tables import Contents, ReadOnce, Request, Table, flipped, position
from .text import existing
from .work import check_writable, replacing

Opener = Callable[[Path, str | None, list[str] | None, str], Source]  # path, key, columns, missing chunks


@dataclass(frozen=True)
class Format:
    """One file format.

    Parameters
    ----------
    name : str
        The suffix without the dot; :func:`file_format` returns this name.
    read : callable
        ``read(request) -> Contents``, see :class:`Request` and :class:`Contents`.
    write : callable, optional
        ``write(path, table, selected)`` writes the table with only the selected feature numbers. Without it, tables of
        this format cannot be written.
    aliases : tuple of str
        Other suffixes of this format.
    open : callable, optional
        ``open(path, key, columns, missing_chunks) -> Source``, for a format that can be read in blocks.
    gzipped : bool, default=False
        Whether ``.gz`` may follow the suffix.
    folder : bool, default=False
        Whether a "file" of this format is a folder.
    sheets : bool, default=False
        Whether a file holds sheets to choose from.
    needs : tuple of str, optional
        The import name of the package that reads it, and the extra of fiedler that installs it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from fiedler.io import FORMATS, Contents, Format, read_table, register_format
    >>> def read_digits(request):
    ...     return Contents(np.array([[float(c) for c in line] for line in request.path.read_text().split()]))
    >>> register_format(Format("digits", read_digits))
    >>> file = Path(tempfile.mkdtemp()) / "t.digits"
    >>> _ = file.write_text("123\\n456\\n")
    >>> read_table(file).X
    array([[1., 2., 3.],
           [4., 5., 6.]])
    >>> del FORMATS["digits"]
    """

    name: str
    read: Callable[[Request], Contents]
    write: Callable[[Path, Table, np.ndarray], None] | None = None
    aliases: tuple[str, ...] = ()
    open: Opener | None = None
    gzipped: bool = False
    folder: bool = False
    sheets: bool = False
    needs: tuple[str, str] | None = None

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The name and the aliases."""
        return (self.name, *self.aliases)


_MENTIONED: tuple[tuple[str, Any], ...] = (("header", True), ("header", False), ("skip_rows", 0))  # settings in notes
_STORED: Opener = lambda path, key, _, missing_chunks: matrices.open_matrix(path, key, missing_chunks)  # noqa: E731
_PARQUET: Opener = lambda path, _, columns, __: ParquetFile(path, columns)  # noqa: E731
_ARROW, _ANNDATA = ("pyarrow", "io"), ("anndata", "anndata")
_TABLES = ("tsv", "txt", "tab", "data")
FORMATS = {
    found.name: found
    for found in (
        Format("csv", tables.read_csv, tables.write_csv, _TABLES, gzipped=True),
        Format("xlsx", tables.read_xlsx, tables.write_xlsx, sheets=True, needs=("openpyxl", "io")),
        Format("parquet", tables.read_arrow, tables.write_arrow, ("pq",), _PARQUET, needs=_ARROW),
        Format("feather", tables.read_arrow, tables.write_arrow, ("arrow",), needs=_ARROW),
        Format("arff", tables.read_arff, tables.write_arff, gzipped=True, needs=("arff", "io")),
        Format("npy", matrices.read_npy, matrices.write_npy, open=lambda path, *_: MappedFile(path)),
        Format("npz", matrices.read_npz, matrices.write_npz),
        Format("mat", matrices.read_mat, matrices.write_mat),
        Format("svmlight", matrices.read_svmlight, matrices.write_svmlight, ("svm", "libsvm"), gzipped=True),
        Format("mtx", matrices.read_mtx, matrices.write_mtx, ("mm",), gzipped=True),
        Format("h5ad", matrices.read_store, matrices.write_h5ad, open=_STORED, needs=_ANNDATA),
        Format("h5", matrices.read_store, matrices.write_hdf5, ("hdf5",), _STORED, needs=("h5py", "io")),
        Format("zarr", matrices.read_store, matrices.write_zarr, open=_STORED, folder=True, needs=("zarr", "zarr")),
    )
}


def register_format(format: Format) -> None:
    """Add a file format, for :func:`read_table`, :func:`write_table`, ``open_source`` and the command line.

    Parameters
    ----------
    format : Format
        The format; its name and aliases must be new. ``del FORMATS[name]`` removes it.
    """
    if not isinstance(format, Format):
        raise TypeError(f"format must be a fiedler.io.Format, got {type(format).__name__}.")
    for known in FORMATS.values():
        for suffix in set(format.suffixes) & set(known.suffixes):
            raise ValueError(f"format {format.name!r}: the suffix .{suffix} already belongs to {known.name!r}.")
    FORMATS[format.name] = format


def _format_of(path: str | os.PathLike) -> Format | None:
    """The format of the suffixes of a path; if it is unknown, the entry points of other packages are loaded."""
    suffixes = [suffix[1:].lower() for suffix in Path(path).suffixes]
    zipped = suffixes[-1:] == ["gz"]
    suffix = "".join(suffixes[-2:-1] if zipped else suffixes[-1:])
    known = lambda: next((known for known in FORMATS.values() if suffix in known.suffixes), None)  # noqa: E731
    if suffix and known() is None:
        for entry in entry_points(group="fiedler.formats"):
            if entry.name not in FORMATS:
                register_format(entry.load())
    found = known()
    return None if found is None or (zipped and not found.gzipped) else found


def read_table(
    path: str | os.PathLike,
    *,
    target: str | int | None = None,
    id_column: str | int | Iterable[str | int] | None = None,
    labels: str | Path | None = None,
    names: str | Path | None = None,
    layer: str | None = None,
    unlabeled: Any = None,
    header: bool | None = None,
    memory: float | None = None,
    sheet: str | int | None = None,
    drop: str | int | Iterable[str | int] | None = None,
    numeric_only: bool = False,
    skip_rows: int | None = None,
    transpose: bool = False,
    categories: str | int | Iterable[str | int] | None = None,
) -> Table:
    """Read a table with its labels.

    Parameters
    ----------
    path : str or Path
        The file; its suffix decides the format, and ``.gz`` may follow that of a text format.
    target : str or int, optional
        Column of the labels, by name or by number from 0: a column of a CSV, Excel, Parquet, Feather, ARFF, NPY or
        Matrix Market file, a variable of a MAT or NPZ file (``y`` or ``Y`` by default), a column of ``obs`` in h5ad.
        svmlight files contain their own labels.
    id_column : str, int or several, optional
        Columns that are not features; the first one names the rows. A column without a name is an id column.
    labels : str or Path, optional
        Separate file of labels, see :func:`read_labels`.
    names : str or Path, optional
        Separate file of feature names, one per line, for all features or for those that are not left out.
    layer : str, optional
        Layer of an AnnData file to read in place of X.
    unlabeled : object, optional
        Label that means "unknown". Empty cells, NA, n/a, #N/A, <NA>, NaN, None, null and ? are always unknown.
    header : bool, optional
        Whether the first line of a CSV or Excel file holds the names. By default it is data if it holds numbers in the
        same places as the lines below, unless these are increasing integers; a warning is issued.
    memory : float, optional
        Memory limit for X in bytes. A larger X of a Zarr, HDF5, h5ad or Parquet file stays in the file, and is read
        block by block as a :class:`fiedler.sources.Source`. NPY files are always memory-mapped. A file raises an error
        if it declares more than both this limit and half of the free memory.
    sheet : str or int, optional
        Sheet of an Excel file, by name or by number from 0; by default the first sheet.
    drop : str, int or several, optional
        Columns to leave out, by name or by number from 0; a reduced table does not contain them either.
    numeric_only : bool, default=False
        Whether to leave out columns that hold no numbers, with a warning that names them. By default columns of
        categories, dates and truth values are features, and texts with many different values are left out with a
        warning. A few words among numbers are missing values; a column with numbers in several notations is an error.
    skip_rows : int, optional
        Number of lines above the table in a CSV or Excel file. By default lines above the names that fill at most
        half of the columns are taken for titles; a warning is issued.
    transpose : bool, default=False
        Whether the file holds one feature per row, with its name in the first cell, as tables of genes often do.
    categories : str, int or several, optional
        Columns of a CSV, Excel, Parquet, Feather or dense ARFF file whose numbers are codes without an order; they are
        read as categories. "all" means all features.

    Returns
    -------
    table : Table
        X with the names of its columns and rows, and labels if there are any.

    Raises
    ------
    ValueError
        If a cell, a label or the file cannot be read, or if the file declares more than the memory limit; the message
        names the file and the position.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from fiedler.io import read_table
    >>> file = Path(tempfile.mkdtemp()) / "flowers.csv"
    >>> _ = file.write_text("plant,length,width,kind\\np1,5.1,3.5,rose\\np2,4.9,NA,\\np3,6.3,3.3,lily\\n")
    >>> table = read_table(file, target="kind", id_column="plant")
    >>> table.X
    array([[5.1, 3.5],
           [4.9, nan],
           [6.3, 3.3]])
    >>> table.feature_names.tolist(), table.row_ids.tolist(), table.y.tolist()
    (['length', 'width'], ['p1', 'p2', 'p3'], ['rose', None, 'lily'])
    """
    described, kept = _format_of(path), path if isinstance(path, ReadOnce) else None
    path, kind = existing(path, described is not None and described.folder), file_format(path)
    if target is not None and labels is not None:
        raise ValueError(f"give a target column or a file of labels, not both: target={target!r}, labels={labels}.")
    if sheet is not None and not FORMATS[kind].sheets:
        message, named = f"{path} has no sheets; leave out sheet={sheet!r}.", {f"sheet={sheet!r}": ("sheet", sheet)}
        raise ParameterError(message, parameter="sheet", value=sheet, way_out=named)
    ids, dropped, codes = (
        [] if columns is None else [columns] if isinstance(columns, (str, int)) else list(columns)
        for columns in (id_column, drop, categories)
    )
    most = float("inf") if memory is None else memory
    request = Request(path, target, ids, layer, header, most, sheet, dropped, numeric_only, skip_rows, transpose)
    request.categories, request.kept = codes, kept
    with memory_limit(max(allocation_limit(), most if np.isfinite(most) else 0.0)):
        found = read_contents(kind, request)
        n, m = found.X.shape if len(found.X.shape) == 2 else (0, 0)
        m = m if found.groups is None else found.groups.n_features
        if not n or not m:
            raise ValueError(f"{path} holds no numbers: its matrix has shape {found.X.shape}.")
        if found.X.dtype.kind not in "biuf":
            raise ValueError(f"{path} holds {found.X.dtype}, not real numbers.")
        # Row numbers and column names are always needed.
        check_size(path, f"{n} rows and {m} columns", 8.0 * n + 2 * TEXT_BYTES * m)
    for note in found.notes:
        ways = {f"{name}={value}": (name, value) for name, value in _MENTIONED if f"{name}={value}" in note}
        warnings.warn(ParameterWarning(note, parameter="path", value=str(path), way_out=ways), stacklevel=2)
    row_ids = None if found.row_ids is None else np.array([str(v) for v in found.row_ids], dtype=object)
    y = found.y if labels is None else read_labels(labels, row_ids, n)
    y = None if y is None else as_labels(y, unlabeled)
    if y is not None and len(y) != n:
        raise ValueError(f"{path} has {n} rows but {len(y)} labels.")
    if names is not None:  # for the features only, or also for the columns that are left out
        given, left_out = read_names(names), set(found.layout.get("left_out", ()))
        left_out |= set(found.layout.get("ids", ()))
        places = sorted([*found.layout["features"], *left_out]) if left_out else []
        if left_out and len(given) == len(places):
            given = [name for name, place in zip(given, places, strict=True) if place not in left_out]
        found.names = given
    found.names = [f"x{j}" for j in range(m)] if found.names is None else found.names
    if len(found.names) != m:
        raise ValueError(f"{names or path} has {len(found.names)} names for {m} features.")
    if dropped and "left_out" not in found.layout:
        _leave_out(found, dropped, path)
    feature_names = _unique(found.names, path)
    if isinstance(found.X, Source):
        found.X.names = feature_names  # for messages about its values, which are checked when they are read
    return Table(found.X, feature_names, row_ids, y, path, kind, found.layout | {"y": found.y}, found.groups)


def read_contents(kind: str, request: Request) -> Contents:
    """What a file of one format holds, with samples as rows."""
    with named_damage(request.path, end="."):
        found = FORMATS[kind].read(request)
        if request.layer is not None and "layer" not in found.layout:
            message, named = f"{request.path} has no layers; leave out ", f"layer={request.layer!r}"
            ways = {named: ("layer", request.layer)}
            raise ParameterError(f"{message}{named}.", parameter="layer", value=request.layer, way_out=ways)
        return flipped(found, request.path) if request.transpose and "transposed" not in found.layout else found


def open_source(
    path: str | os.PathLike, *, key: str | None = None, columns: list[str] | None = None, missing_chunks: str = "error"
) -> Source:
    """Open a matrix in a file without reading it.

    Parameters
    ----------
    path : path
        A file with the suffix ``.zarr``, ``.h5``, ``.hdf5``, ``.h5ad``, ``.parquet`` or ``.npy``.
    key : str, optional
        The dataset or group inside the file, such as ``layers/counts``; by default ``X``, or the only matrix.
    columns : list of str, optional
        Columns of a Parquet file; by default all.
    missing_chunks : {"error", "fill"}, default="error"
        Whether a Zarr chunk that is not stored is an error, or is read as the fill value.

    Returns
    -------
    source : Source
        The matrix, to be passed to ``fit`` or ``evaluate`` as X.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from fiedler import Variance
    >>> from fiedler.sources import open_source
    >>> file = f"{tempfile.mkdtemp()}/table.npy"
    >>> np.save(file, np.diag([1.0, 2.0, 3.0]))
    >>> Variance().evaluate(open_source(file)).round(3)
    array([0.222, 0.889, 2.   ])
    """
    check_choice("missing_chunks", missing_chunks, ("error", "fill"))
    described = _format_of(path)
    path = existing(path, described is not None and described.folder)
    if described is None or described.open is None:
        blocks = ", ".join(f".{suffix}" for known in FORMATS.values() if known.open for suffix in known.suffixes)
        raise ValueError(f"{path}: only {blocks} can be read in blocks.")
    with memory_limit(allocation_limit()), named_damage(path, end="."):
        return described.open(path, key, columns, missing_chunks)


def write_table(path: str | Path, table: Table, selected: Any, *, force: bool = False) -> Path:
    """Write a table with only the selected features, in the format it was read from.

    Ids and labels are kept. Columns keep their order, and values, also missing ones, are those of the file.

    Parameters
    ----------
    path : str or Path
        The new file, with the suffix of the format of the table.
    table : Table
        A table of :func:`read_table`; its file is read again if this preserves more of it.
    selected : ndarray
        Column numbers, or a boolean mask.
    force : bool, default=False
        Whether an existing file is replaced.

    Returns
    -------
    path : Path
        The file that was written.
    """
    if file_format(path) != table.format:
        own = table.source.suffix
        raise ValueError(f"{path}: the reduced table is written in the format of {table.source}; use the suffix {own}.")
    described = FORMATS[table.format]
    if described.write is None:
        raise ValueError(f"{path}: tables of the format {table.format!r} can be read, but not written.")
    if table.layout.get("transposed") and table.format not in ("csv", "xlsx"):
        raise ValueError(f"{path}: a table with one feature per row can be written as CSV or Excel only.")
    mask = np.zeros(table.shape[1], dtype=bool)
    mask[selected] = True
    with memory_limit(allocation_limit()), replacing(path, force, described.folder) as temporary:
        described.write(temporary, table, np.flatnonzero(mask))
    return Path(path)


def check_output(path: str | Path, force: bool = False) -> None:
    """Raise an error before the computation if a result cannot be written there."""
    described = _format_of(path)
    if described is not None and described.needs is not None:
        require(*described.needs, Path(path).resolve())
    check_writable(path, force, described is not None and described.folder)


def file_format(path: str | os.PathLike) -> str:
    """The format of a file, by its name.

    Parameters
    ----------
    path : str or Path
        The file; only its suffixes are used, and ``.gz`` may follow that of a text format.

    Returns
    -------
    format : str
        The name of the format, such as "csv", which also includes TSV.

    Examples
    --------
    >>> from fiedler.io import file_format
    >>> file_format("counts.tsv.gz"), file_format("news.libsvm")
    ('csv', 'svmlight')
    """
    found = _format_of(path)
    if found is None:
        known, suffix = ", ".join(f".{name}" for name in ("csv", "tsv", *list(FORMATS)[1:])), Path(path).suffix
        raise ValueError(f"{path}: the format {suffix or 'without a suffix'!r} is unknown; use {known}.")
    return found.name


def _leave_out(found: Contents, dropped: list[str | int], path: Path) -> None:
    """Remove columns from a matrix that was read completely; column numbers are those of the file."""
    places = found.layout.get("features", list(range(found.X.shape[1])))
    known = {j: f"x{j}" for j in range(max(places) + 1)} | dict(zip(places, map(str, found.names or ()), strict=True))
    out = {position(column, list(known.values()), path) for column in dropped}
    if not out <= set(places):
        raise ValueError(f"{path}: column {min(out - set(places))} is in drop, and named as the target.")
    kept = [k for k, place in enumerate(places) if place not in out]
    if not kept:
        raise ValueError(f"{path} has no feature columns except those in drop.")
    source = isinstance(found.X, Source)
    found.X = ColumnView(found.X, np.array(kept), found.X.chunks) if source else found.X[:, kept]
    found.names = [known[places[k]] for k in kept]
    found.layout |= {"features": [places[k] for k in kept], "left_out": sorted(out)}


def _unique(names: Iterable[str], path: Path) -> np.ndarray:
    """The names; .1, .2, ... follows the second, third, ... occurrence of a name."""
    names = list(map(str, names))
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        what = f"{len(repeated)} feature name{'s' * (len(repeated) > 1)}"
        example = f"the second {repeated[0]!r} is now {repeated[0] + '.1'!r}"
        warnings.warn(f"{path} repeats {what}; {example}.", UserWarning, stacklevel=3)
    used: Counter = Counter()
    unique: dict[str, None] = {}
    for name in names:
        new = name
        while new in unique:
            used[name] += 1
            new = f"{name}.{used[name]}"
        unique[new] = None
    return np.array(list(unique), dtype=object)
