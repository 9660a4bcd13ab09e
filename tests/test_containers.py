"""What people keep a matrix in: AnnData, xarray and lazy frames go into fit, evaluate and transform as they are."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

from fiedler import LaplacianScore, SpectralSelector
from fiedler.anndata import select_genes
from fiedler.evaluate import significance

anndata = pytest.importorskip("anndata")
X, Y = load_iris(return_X_y=True)
NAMES = ["sl", "sw", "pl", "pw"]
BEST = ["pl", "pw"]


def cells(matrix=X):
    obs = pd.DataFrame({"kind": Y.astype(str)}, index=[f"c{i}" for i in range(len(X))])
    return anndata.AnnData(matrix, obs, pd.DataFrame(index=NAMES), layers={"double": 2 * matrix})


def selected():
    return SpectralSelector("laplacian", n_features_to_select=2, screen=None)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, sp.csc_matrix])
def test_an_anndata_is_its_matrix_and_the_names_of_its_variables(kind):
    adata = cells(kind(X))
    selector = selected().fit(adata)
    np.testing.assert_array_equal(selector.scores_, LaplacianScore().evaluate(kind(X)))
    np.testing.assert_array_equal(LaplacianScore().evaluate(adata), selector.scores_)
    assert list(selector.feature_names_in_) == NAMES
    assert list(selector.get_feature_names_out()) == BEST
    small = selector.transform(adata)
    assert isinstance(small, anndata.AnnData)
    assert list(small.var_names) == BEST
    assert list(small.obs["kind"]) == list(adata.obs["kind"])
    assert list(adata.var_names) == NAMES
    assert selected().fit_transform(adata).shape == (150, 2)
    np.testing.assert_array_equal(selector.transform(pd.DataFrame(X, columns=NAMES)), X[:, 2:])


def test_names_are_checked_in_transform():
    with pytest.raises(ValueError, match="feature names should match"):
        selected().fit(cells()).transform(cells()[:, ["pw", "pl", "sl", "sw"]])


def test_the_other_functions_take_one_too():
    found = significance("fisher", cells(), Y)
    np.testing.assert_array_equal(found.pvalues, significance("fisher", X, Y).pvalues)


def test_backed_and_lazy_anndata(tmp_path):
    expected = LaplacianScore().evaluate(X)
    for name, kind in (("dense", np.asarray), ("csr", sp.csr_matrix), ("csc", sp.csc_matrix)):
        cells(kind(X)).write_h5ad(tmp_path / f"{name}.h5ad")
        backed = anndata.read_h5ad(tmp_path / f"{name}.h5ad", backed="r")
        selector = selected().fit(backed)
        np.testing.assert_allclose(selector.scores_, expected, rtol=1e-6)
        assert list(selector.feature_names_in_) == NAMES
        assert list(selector.transform(backed).var_names) == BEST
        backed.file.close()
    da = pytest.importorskip("dask.array")
    lazy = anndata.AnnData(da.from_array(X, chunks=(50, 4)), var=pd.DataFrame(index=NAMES))
    selector = selected().fit(lazy)
    np.testing.assert_allclose(selector.scores_, expected, rtol=1e-6)
    assert isinstance(selector.transform(lazy).X, da.Array)


@pytest.mark.parametrize("hold", [np.asarray, sp.csr_matrix])
def test_a_view_of_a_file_that_runs_backwards_is_refused_in_plain_words(tmp_path, hold):
    """anndata 0.12 raises errors of h5py for such views; 0.13 loses a row of a sparse one without a word."""
    adata = cells(hold(X))
    adata.write_h5ad(tmp_path / "t.h5ad")
    backed = anndata.read_h5ad(tmp_path / "t.h5ad", backed="r")
    for view in (backed[::-1], backed[:, ::-1]):
        for use in (selected().fit, select_genes):
            with pytest.raises(ValueError, match=r"backed AnnData .*t\.h5ad cannot be read, .*; choose them by number"):
                use(view)
    by_number = backed[np.arange(backed.n_obs)[::-1]]
    np.testing.assert_allclose(selected().fit(by_number).scores_, selected().fit(X[::-1]).scores_, rtol=1e-6)
    backed.file.close()


def test_an_anndata_without_a_matrix_names_its_layers():
    empty = anndata.AnnData(None, cells().obs, cells().var, layers={"double": 2 * X})
    with pytest.raises(ValueError, match="the AnnData has no X; pass one of its layers: double"):
        selected().fit(empty)


def test_inf_names_the_gene():
    adata = cells(np.where(X == X[3, 1], np.inf, X))
    with pytest.raises(ValueError, match="X contains inf in column 's"):
        selected().fit(adata)


def test_several_matrices_are_refused_at_once():
    whole = type("MuData", (), {"__module__": "mudata", "obs_names": ()})()
    for use in (selected().fit, LaplacianScore().evaluate):
        with pytest.raises(TypeError, match=r"X is a whole MuData; pass one of its modalities"):
            use(whole)


def test_a_lazy_frame_is_collected():
    lazy = pl.DataFrame(X, schema=NAMES).lazy()
    selector = selected().fit(lazy)
    assert list(selector.get_feature_names_out()) == BEST
    np.testing.assert_array_equal(selector.transform(lazy), X[:, 2:])
    assert selector.set_output(transform="polars").transform(lazy).columns == BEST


def test_an_array_of_xarray_keeps_its_names():
    xarray = pytest.importorskip("xarray")
    table = xarray.DataArray(X, dims=("sample", "feature"), coords={"feature": NAMES})
    selector = selected().fit(table)
    assert list(selector.feature_names_in_) == NAMES
    np.testing.assert_array_equal(selector.scores_, LaplacianScore().evaluate(table))
    small = selector.transform(table)
    assert list(small.coords["feature"].values) == BEST
    np.testing.assert_array_equal(small.values, X[:, 2:])
    assert not hasattr(selected().fit(xarray.DataArray(X)), "feature_names_in_")
    numbered = xarray.DataArray(X, dims=("sample", "feature"), coords={"feature": [4, 5, 6, 7]})
    assert not hasattr(selected().fit(numbered), "feature_names_in_")
    with pytest.raises(TypeError, match="X is an xarray Dataset; pass a DataArray with two dimensions"):
        selected().fit(table.to_dataset(name="a"))
    with pytest.raises(TypeError, match="X is an xarray DataArray; pass a DataArray with two"):
        selected().fit(table[0])
