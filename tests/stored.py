"""The same matrix in every kind of file that is read block by block, and what the tests of such files share."""

import importlib
import shutil
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from problems import make

from fiedler import SpectralSelector
from fiedler.sources import open_source

N, M = 34, 41
MANY, FEW, ONE = 0.006, 0.02, 64  # working memory in MiB at which X is ten slabs, a few, one
TOLERANCE = 1e-12


def write_zarr(path: Path, X: Any, **options: Any) -> None:
    zarr = pytest.importorskip("zarr")
    zarr.create_array(str(path), data=X, **options)


def write_hdf5(path: Path, X: Any, **options: Any) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file.create_dataset("X", data=X, **options)


def write_sparse(path: Path, X: Any, layout: str) -> None:
    """A CSR or CSC matrix in AnnData's encoding: the group X of a Zarr or HDF5 file."""
    stored = X.dtype  # in any byte order; scipy knows one
    X = getattr(sp, f"{layout}_array")(X.astype(stored.newbyteorder("=")))
    about = {"encoding-type": f"{layout}_matrix", "encoding-version": "0.1.0", "shape": list(X.shape)}
    parts = {"data": X.data.astype(stored), "indices": X.indices, "indptr": X.indptr}
    if path.suffix == ".zarr":
        group = pytest.importorskip("zarr").open_group(str(path), mode="w").create_group("X")
        group.attrs.update(about)
        for name, values in parts.items():
            group.create_array(name, data=values, chunks=(300,))
        return
    with pytest.importorskip("h5py").File(path, "w") as file:
        group = file.create_group("X")
        group.attrs.update(about)
        for name, values in parts.items():
            group[name] = values


def write_anndata(path: Path, X: Any) -> None:
    anndata = pytest.importorskip("anndata")
    pd = pytest.importorskip("pandas")
    obs, var = (pd.DataFrame(index=[f"{kind}{i}" for i in range(k)]) for kind, k in zip("rf", X.shape, strict=True))
    anndata.AnnData(X, obs, var).write_h5ad(path)


def write_parquet(path: Path, X: Any, rows_per_group: int = 10) -> None:
    """Column j is named f<j>; whole numbers and flags keep a type of their own."""
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    columns = {f"f{j}": np.ascontiguousarray(column) for j, column in enumerate(np.asarray(X).T)}
    pq.write_table(pa.table(columns), path, row_group_size=rows_per_group)


@dataclass(frozen=True)
class Kind:
    """How a kind of source is written and opened."""

    suffix: str
    write: Any
    needs: str = ""
    sparse: bool = False
    backed: bool = False

    def save(self, folder: Path, X: Any, overwrite: bool = False) -> Path:
        for module in filter(None, self.needs.split()):
            pytest.importorskip(module)
        path = folder / f"data{self.suffix}"
        if overwrite and path.is_dir():
            shutil.rmtree(path)
        self.write(path, X)
        return path

    def open(self, path: Path) -> Any:
        if not self.backed:
            return open_source(path)
        return importlib.import_module("anndata").read_h5ad(path, backed="r").X


def _zarr(**options: Any) -> Kind:
    return Kind(".zarr", lambda path, X: write_zarr(path, X, **options), "zarr")


def _sparse(suffix: str, layout: str, needs: str, backed: bool = False) -> Kind:
    return Kind(suffix, lambda path, X: write_sparse(path, X, layout), needs, sparse=True, backed=backed)


def _anndata(convert: Any, sparse: bool, backed: bool) -> Kind:
    return Kind(".h5ad", lambda path, X: write_anndata(path, convert(X)), "anndata pandas h5py", sparse, backed)


DENSE = {
    "zarr by columns": _zarr(chunks=(1000, 5)),
    "zarr by rows": _zarr(chunks=(7, 1000)),
    "zarr in tiles": _zarr(chunks=(17, 11)),
    "zarr in one chunk": _zarr(chunks=(1000, 1000)),
    "zarr in shards": _zarr(chunks=(16, 6), shards=(32, 12)),
    "hdf5": Kind(".h5", write_hdf5, "h5py"),
    "hdf5 in chunks": Kind(".hdf5", lambda path, X: write_hdf5(path, X, chunks=(9, 4), compression="gzip"), "h5py"),
    "h5ad": _anndata(np.asarray, sparse=False, backed=False),
    "backed h5ad": _anndata(np.asarray, sparse=False, backed=True),
    "parquet": Kind(".parquet", write_parquet, "pyarrow"),
    "npy": Kind(".npy", np.save),
    "npy in Fortran order": Kind(".npy", lambda path, X: np.save(path, np.asfortranarray(X))),
}
SPARSE = {
    "zarr csr": _sparse(".zarr", "csr", "zarr"),
    "zarr csc": _sparse(".zarr", "csc", "zarr"),
    "hdf5 csr": _sparse(".h5", "csr", "h5py"),
    "hdf5 csc": _sparse(".h5", "csc", "h5py"),
    "h5ad csr": _anndata(sp.csr_matrix, sparse=True, backed=False),
    "h5ad csc": _anndata(sp.csc_matrix, sparse=True, backed=False),
    "backed h5ad csr": _anndata(sp.csr_matrix, sparse=True, backed=True),
    "backed h5ad csc": _anndata(sp.csc_matrix, sparse=True, backed=True),
}
KINDS = DENSE | SPARSE


def problem(name, kind="hdf5", dtype=np.float64):
    """Supervised data whose X has a constant column, and zeros where it is stored sparsely."""
    data = make(name, 3, N, M)
    if dtype != np.float64:
        data.X = np.clip(np.round(4 * data.X + 20), 0, 40) if dtype != np.bool_ else data.X > 0
    if kind in SPARSE:
        data.X = np.where(data.X > np.median(data.X), data.X, 0)
    data.X = data.X.astype(dtype)
    data.X[:, 7] = data.X[0, 7]
    return data


def array(part):
    return part.toarray() if sp.issparse(part) else part


@contextmanager
def opened(kind, path):
    """A kind of source, whose AnnData file, if it has one, is closed afterwards."""
    X = KINDS[kind].open(path)
    yield X
    file = getattr(getattr(X, "group", X), "file", None)
    if KINDS[kind].backed:
        file.close()


def fitted(criterion, data, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # constant columns that are selected, ties of whole numbers
        return SpectralSelector(criterion, n_features_to_select=5, screen=None).fit(X, data.y, **data.pairs)


def same_scores(got, expected, name=""):
    """NaN in the same places, and else equal.

    φ3 is a sum over eigenvectors, and MCFS and MRSF are coefficients of a regression: both are accurate relative to the
    largest score.
    """
    of = np.nanmax(np.abs(expected)) if name in ("phi3", "mcfs", "mrsf") else 0.0
    np.testing.assert_allclose(got, expected, rtol=TOLERANCE, atol=TOLERANCE * of)


def twin(kind, X):
    return sp.csc_array(X) if kind in SPARSE else X
