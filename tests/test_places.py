"""Rows with places: the command line on tables and AnnData files, maps in displays and in the report."""

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from click.testing import CliRunner

from fiedler import KNN, LaplacianScore, MultiScale, Precomputed, Problem, SpatialDisplay, SpectralSelector
from fiedler.anndata import select_genes
from fiedler.cli import main
from fiedler.evaluate import significance
from fiedler.plots.placing import side_by_side
from fiedler.report import summarize

anndata = pytest.importorskip("anndata")


@pytest.fixture(scope="module")
def spots():
    """Counts of forty genes on two slides; the first two follow the tissue."""
    rng = np.random.default_rng(1)
    places, slide = rng.uniform(size=(240, 2)), np.repeat(["a", "b"], [140, 100])
    rate = np.tile(rng.gamma(1.0, 1.0, size=40) + 0.5, (240, 1))
    rate[:, 0] = np.exp(2.0 * np.sin(4.0 * places[:, 0]))
    rate[:, 1] = 0.5 + 5.0 * (((places - 0.5) ** 2).sum(axis=1) < 0.06)
    X = rng.poisson(rate * np.where(slide == "a", 1.0, 3.0)[:, None])
    adata = anndata.AnnData(sp.csr_matrix(X.astype(np.float32)), obsm={"spatial": places})
    adata.var_names = [f"gene{j}" for j in range(40)]
    adata.obs["slide"], adata.obs["size"] = pd.Categorical(slide), np.where(slide == "a", 1.0, 3.0)
    return adata


@pytest.fixture(scope="module")
def files(spots, tmp_path_factory):
    folder = tmp_path_factory.mktemp("spots")
    spots.write_h5ad(folder / "spots.h5ad")
    table = pd.DataFrame(spots.X.toarray().astype(int), columns=spots.var_names)
    table["slide"], table["size"] = spots.obs["slide"].to_numpy(), spots.obs["size"].to_numpy()
    table["x"], table["y"] = spots.obsm["spatial"].T
    table.to_csv(folder / "spots.csv", index=False)
    return folder


def run(*args, ok=True):
    result = CliRunner().invoke(main, list(map(str, args)))
    assert (result.exit_code == 0) == ok, result.output
    return result


def expected(spots, **options):
    codes = (spots.obs["slide"] == "b").to_numpy().astype(int)
    graph = Problem(spots.obsm["spatial"]).divided(codes).graph(KNN(6, "binary"))
    return significance(MultiScale(graph), spots.X.toarray(), blocks=codes, **options)


def read_csv(result):
    from io import StringIO

    return pd.read_csv(StringIO(result.stdout)).set_index("feature")


def test_an_anndata_file_with_slides(files, spots):
    found = read_csv(run("rank", files / "spots.h5ad", "--graph", "spatial", "--block", "slide", "--top", 40, "-q"))
    by_hand = expected(spots, depth="pearson")
    np.testing.assert_allclose(found.loc[spots.var_names, "p"], by_hand.pvalues, rtol=1e-6)
    assert found.loc[spots.var_names, "scale"].tolist() == by_hand.scale.tolist()
    assert set(found.index[:2]) == {"gene0", "gene1"}


def test_a_plain_table_with_coordinates(files, spots):
    options = ["--coordinates", "x,y", "--block", "slide", "--depth", "size", "--top", 40, "-q"]
    found = read_csv(run("rank", files / "spots.csv", *options))
    np.testing.assert_allclose(
        found.loc[spots.var_names, "p"], expected(spots, depth=spots.obs["size"].to_numpy()).pvalues, rtol=1e-6
    )
    plain = read_csv(
        run("rank", files / "spots.csv", *[o if o != "size" else "none" for o in options], "--drop", "size")
    )
    np.testing.assert_allclose(plain.loc[spots.var_names, "p"], expected(spots).pvalues, rtol=1e-6)


def test_select_keeps_the_places_and_the_significant(files, tmp_path):
    out = tmp_path / "few.csv"
    run("select", files / "spots.csv", "--coordinates", "x,y", "--block", "slide", "--depth", "size", "--out", out)
    kept = set(pd.read_csv(out).columns)
    assert {"gene0", "gene1", "x", "y", "slide", "size"} <= kept
    assert len(kept) <= 9


def test_one_graph_of_places_for_all_doors(files, spots):
    adata = spots.copy()
    select_genes(adata, "laplacian", graph="spatial", n_top_genes=2, batch_key="slide", significance=True)
    by_hand = SpectralSelector(LaplacianScore(Precomputed()), screen=None)
    codes = (spots.obs["slide"] == "b").to_numpy().astype(int)
    graph = Problem(spots.obsm["spatial"]).divided(codes).graph(KNN(6, "binary"))
    by_hand.fit(spots.X, graph=graph, blocks=codes)
    np.testing.assert_allclose(adata.var["fiedler_score"], by_hand.scores_, rtol=1e-6)
    options = ["--graph", "spatial", "--block", "slide", "-m", "laplacian", "--top", 40, "-q"]
    found = read_csv(run("rank", files / "spots.h5ad", *options))
    np.testing.assert_allclose(found.loc[spots.var_names, "score"], by_hand.scores_, rtol=1e-6)
    own = ["--graph", "spatial", "-m", "multiscale[graph=knn[n_neighbors=9,weight=binary]]", "--top", 40, "-q"]
    with_nine = KNN(9, "binary").build(spots.obsm["spatial"])
    expected_p = significance(MultiScale(with_nine), spots.X.toarray(), depth="pearson").pvalues
    found = read_csv(run("rank", files / "spots.h5ad", *own))
    np.testing.assert_allclose(found.loc[spots.var_names, "p"], expected_p, rtol=1e-6)


def test_another_method_on_the_places(files):
    options = ["--coordinates", "x,y", "--block", "slide", "--drop", "size", "-q"]
    found = read_csv(run("rank", files / "spots.csv", *options, "-m", "laplacian"))
    assert set(found.index[:2]) == {"gene0", "gene1"}
    assert "p" not in found


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["spots.csv", "--graph", "spatial"], r"holds no graphs; name columns with --coordinates x,y"),
        (["spots.h5ad", "--graph", "spatail"], r"no 'spatail' in obsp or obsm; did you mean 'spatial'\?"),
        (["spots.h5ad", "--graph", "spatial", "--coordinates", "x,y"], "both give a graph; choose one"),
        (["spots.h5ad", "--graph", "spatial", "--block", "slyde"], r"no column 'slyde'; did you mean 'slide'\?"),
        (["spots.csv", "--coordinates", "x,z"], "no column 'z'"),
        (["spots.csv", "--coordinates", "x,y", "-m", "variance"], "has no graph over the rows"),
    ],
)
def test_what_cannot_be_is_named(files, options, message):
    result = run("rank", files / options[0], *options[1:], ok=False)
    assert re.search(message, result.output), result.output


def test_maps_of_an_anndata(spots):
    pytest.importorskip("matplotlib")
    import matplotlib.pyplot as plt

    adata = spots.copy()
    with pytest.raises(ValueError, match="has no fiedler_rank; call select_genes"):
        SpatialDisplay.from_anndata(adata)
    select_genes(adata, graph="spatial", batch_key="slide", depth="size")
    display = SpatialDisplay.from_anndata(adata, n_genes=3)
    assert len(display.features) == 3
    assert display.features[0].startswith(adata.var["fiedler_rank"].idxmin())
    assert {name.split("(")[1] for name in display.features} <= {"edges)", "walks)", "tissue)"}
    named = SpatialDisplay.from_anndata(adata, ["gene7"])
    np.testing.assert_allclose(named.values[:, 0], adata.X[:, 7].toarray().ravel() / adata.obs["size"], rtol=1e-6)
    assert len(named.axes_) == 1
    with pytest.raises(ValueError, match=r"adata.obsm has no 'umap'; it has: spatial"):
        SpatialDisplay.from_anndata(adata, ["gene7"], basis="umap")
    plt.close("all")


def test_slides_are_drawn_side_by_side(spots):
    codes = (spots.obs["slide"] == "b").to_numpy().astype(int)
    placed = side_by_side(spots.obsm["spatial"], codes)
    assert placed[codes == 0, 0].max() < placed[codes == 1, 0].min()
    for code in range(2):
        before, after = (values[codes == code] for values in (spots.obsm["spatial"], placed))
        np.testing.assert_allclose(after - after[0], before - before[0])


def test_the_report_has_maps(files, spots, tmp_path):
    pytest.importorskip("matplotlib")
    out = tmp_path / "spots.html"
    run("report", files / "spots.h5ad", "--graph", "spatial", "--block", "slide", "--out", out)
    page = out.read_text(encoding="utf-8")
    assert 'id="maps"' in page
    assert "gene0 on the map" in page
    assert "walks: patches" in page
    selector = SpectralSelector("laplacian", n_features_to_select=2).fit(spots)
    maps = summarize(selector, spots)["maps"]
    assert len(maps["x"]) == 240
    assert len(maps["features"]) == 12
    assert summarize(selector, spots.X)["maps"] is None
