"""Genes of an AnnData: what is written, by which graph, labels and batches, and what is refused without a trace."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA

from fiedler import KNN, METHODS, Graph, LaplacianScore, MultiScale, Precomputed, Problem, SpectralSelector, SSelect
from fiedler.anndata import select_genes
from fiedler.evaluate import significance

anndata = pytest.importorskip("anndata")
GENES = [f"gene{j}" for j in range(30)]


@pytest.fixture
def adata():
    """Three kinds of cells in two samples; genes 0 to 5 tell the kinds apart, 6 and 7 the place.

    The others only vary in pairs, so that the screen leaves them alone.
    """
    rng = np.random.default_rng(0)
    kind, sample = np.arange(90) % 3, np.arange(90) // 45
    place = rng.random((90, 2))
    X = rng.gamma(2.0, size=(90, 30))
    X[:, 19:] = 0.7 * X[:, 8:19] + 0.3 * X[:, 19:]
    for j in range(6):
        X[:, j] += 4.0 * (kind == j % 3)
    X[:, 6] += 6.0 * place[:, 0]
    X[:, 7] += 6.0 * place[:, 1]
    labels = pd.Categorical(np.array(["a", "b", "c"])[kind])
    labels = labels.set_categories(["a", "b", "c"])
    few = pd.Series(labels).where(np.arange(90) < 30).astype("category")
    obs = pd.DataFrame({"kind": labels, "sample": np.array(["s1", "s2"])[sample], "age": X[:, 0] + rng.random(90)})
    obs.index = [f"cell{i}" for i in range(90)]
    obs["few"] = few.to_numpy()
    made = anndata.AnnData(X, obs, pd.DataFrame({"length": np.arange(30)}, index=GENES))
    made.layers["half"] = X / 2
    made.layers["sparse"] = sp.csr_matrix(np.where(X > 2, X, 0.0))
    made.obsp["connectivities"] = sp.csr_matrix(KNN(5).build(X).toarray())
    made.obsp["spatial_connectivities"] = sp.csr_matrix(np.triu(KNN(5, "binary").build(place).toarray()))
    made.obsp["spatial_distances"] = sp.csr_matrix(np.linalg.norm(place[:, None] - place, axis=2))
    made.uns["other"] = {"kept": 1}
    return made


def chosen(adata):
    return list(adata.var_names[adata.var["highly_variable"]])


def test_what_is_written_is_what_the_selector_finds(adata):
    before = adata.copy()
    assert select_genes(adata, n_top_genes=6) is None
    fitted = SpectralSelector("laplacian", n_features_to_select=6).fit(before.X)
    np.testing.assert_array_equal(adata.var["highly_variable"], fitted.support_)
    np.testing.assert_array_equal(adata.var["fiedler_rank"], fitted.ranking_)
    np.testing.assert_array_equal(adata.var["fiedler_score"], fitted.scores_)
    assert adata.var["highly_variable"].dtype == bool
    assert set(chosen(adata)) <= set(GENES[:6])
    assert adata.uns["fiedler"] == {"criterion": "laplacian", "greater_is_better": False, "n_top_genes": 6}
    # and nothing else
    np.testing.assert_array_equal(adata.X, before.X)
    assert list(adata.var.columns) == ["length", "highly_variable", "fiedler_rank", "fiedler_score"]
    assert list(adata.obs.columns) == list(before.obs.columns)
    assert set(adata.uns) == {"other", "fiedler"}
    assert list(adata.obsp) == list(before.obsp)


def test_a_frame_instead(adata):
    before = list(adata.var.columns)
    frame = select_genes(adata, n_top_genes=6, key_added="ls", inplace=False)
    assert list(frame.columns) == ["highly_variable", "ls_rank", "ls_score"]
    assert list(frame.index) == GENES
    assert list(adata.var.columns) == before
    assert "ls" not in adata.uns
    assert len(select_genes(adata, n_top_genes=6, inplace=False, subset=True)) == 6
    select_genes(adata, n_top_genes=6, subset=True)
    assert adata.shape == (90, 6)
    assert list(adata.var_names) == list(frame.index[frame["highly_variable"]])


def test_a_second_call_leaves_nothing_of_the_first(adata):
    select_genes(adata, "fisher", n_top_genes=6, target="kind", significance=True)
    assert {"fiedler_pvalue", "fiedler_qvalue", "fiedler_effect"} <= set(adata.var.columns)
    adata.var["fiedler_mine"] = 1
    select_genes(adata, n_top_genes=6)
    assert "fiedler_pvalue" not in adata.var
    assert "fiedler_mine" in adata.var
    assert "target" not in adata.uns["fiedler"]


@pytest.mark.parametrize("layer", ["half", "sparse"])
def test_layers(adata, layer):
    select_genes(adata, n_top_genes=4, layer=layer)
    expected = LaplacianScore().evaluate(adata.layers[layer])
    np.testing.assert_array_equal(adata.var["fiedler_score"], expected)
    assert adata.uns["fiedler"]["layer"] == layer


@pytest.mark.parametrize(
    "criterion",
    ["laplacian[graph=knn[n_neighbors=7]]", LaplacianScore(KNN(7)), SpectralSelector(LaplacianScore(KNN(7)))],
    ids=["text", "criterion", "selector"],
)
def test_criteria_by_text_by_object_and_inside_a_selector(adata, criterion):
    select_genes(adata, criterion, n_top_genes=5)
    np.testing.assert_array_equal(adata.var["fiedler_score"], LaplacianScore(KNN(7)).evaluate(adata.X))
    assert adata.uns["fiedler"]["criterion"] == "laplacian[graph=knn[n_neighbors=7]]"


def test_what_a_selector_says_counts(adata):
    select_genes(adata, SpectralSelector(n_features_to_select=3))
    assert len(chosen(adata)) == 3
    doubled = anndata.AnnData(np.column_stack([adata.X, adata.X[:, 0]]))
    select_genes(doubled, SpectralSelector(redundancy=0.95), n_top_genes=8)
    assert len(chosen(doubled)) == 8
    assert not doubled.var["highly_variable"].iloc[[0, -1]].all()
    select_genes(adata, SpectralSelector("subset", n_features_to_select="auto"))
    assert 1 < len(chosen(adata)) < 30


def test_graphs_of_obsp(adata):
    select_genes(adata, n_top_genes=2, graph="connectivities")
    W = adata.obsp["connectivities"]
    np.testing.assert_allclose(adata.var["fiedler_score"], LaplacianScore(W).evaluate(adata.X), rtol=1e-12)
    assert adata.uns["fiedler"]["graph"] == "connectivities"
    select_genes(
        adata, "laplacian", n_top_genes=2, graph="spatial_connectivities"
    )  # stored one way, an edge either way
    assert chosen(adata) == ["gene6", "gene7"]
    select_genes(adata, "laplacian", n_top_genes=2, graph="spatial_distances")
    assert chosen(adata) == ["gene6", "gene7"]
    D = adata.obsp["spatial_distances"]
    expected = LaplacianScore(Precomputed(D, distances=True)).evaluate(adata.X)
    np.testing.assert_allclose(adata.var["fiedler_score"], expected, rtol=1e-12)
    with_graph = select_genes(adata, n_top_genes=2, graph=Graph.of(W), inplace=False)
    np.testing.assert_allclose(with_graph["fiedler_score"], LaplacianScore(W).evaluate(adata.X), rtol=1e-12)
    in_a_formula = 0.5 * LaplacianScore(Precomputed()) + LaplacianScore(KNN(5))
    frame = select_genes(adata, in_a_formula, n_top_genes=2, graph="connectivities", inplace=False)
    expected = (0.5 * LaplacianScore(W) + LaplacianScore(KNN(5))).evaluate(adata.X)
    np.testing.assert_allclose(frame["fiedler_score"], expected, rtol=1e-12)


def test_neighbours_in_coordinates_of_obsm(adata):
    adata.obsm["X_pca"] = PCA(4, svd_solver="full").fit_transform(adata.X)
    adata.obsm["spatial"] = pd.DataFrame(np.random.default_rng(1).random((90, 2)), index=adata.obs_names)
    select_genes(adata, n_top_genes=4, graph="X_pca")
    expected = LaplacianScore(KNN().build(adata.obsm["X_pca"])).evaluate(adata.X)
    np.testing.assert_allclose(adata.var["fiedler_score"], expected, rtol=1e-12)
    assert adata.uns["fiedler"]["graph"] == "X_pca"
    cosine = "laplacian[graph=knn[n_neighbors=4,metric=cosine]]"
    frame = select_genes(adata, cosine, n_top_genes=4, graph="X_pca", inplace=False)
    expected = LaplacianScore(KNN(4, metric="cosine").build(adata.obsm["X_pca"])).evaluate(adata.X)
    np.testing.assert_allclose(frame["fiedler_score"], expected, rtol=1e-12)
    frame = select_genes(adata, LaplacianScore(KNN(4)), n_top_genes=2, graph="spatial", inplace=False)
    expected = LaplacianScore(KNN(4).build(adata.obsm["spatial"])).evaluate(adata.X)
    np.testing.assert_allclose(frame["fiedler_score"], expected, rtol=1e-12)
    found = select_genes(adata, "laplacian[graph=knn[n_components=4]]", n_top_genes=4, inplace=False)
    ours = select_genes(adata, n_top_genes=4, graph="X_pca", inplace=False)
    np.testing.assert_allclose(found["fiedler_score"], ours["fiedler_score"], rtol=1e-3)
    adata.obsm["connectivities"] = adata.obsm["X_pca"]  # obsp comes first
    frame = select_genes(adata, n_top_genes=2, graph="connectivities", inplace=False)
    expected = LaplacianScore(adata.obsp["connectivities"]).evaluate(adata.X)
    np.testing.assert_allclose(frame["fiedler_score"], expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["fisher", "relieff", "variance", "sls"])
def test_criteria_without_a_graph_over_cells_say_so(adata, name):
    with pytest.raises(ValueError, match="has no graph over the rows that graph='connectivities' could replace"):
        select_genes(adata, name, n_top_genes=2, graph="connectivities", target="age")
    with pytest.raises(ValueError, match="has no graph over the rows that graph='csr_matrix' could replace"):
        select_genes(adata, name, n_top_genes=2, graph=adata.obsp["connectivities"], target="age")


def test_labels_in_part_and_numbers(adata):
    select_genes(adata, "sselect", n_top_genes=6, target="few")
    few = np.where(pd.isna(adata.obs["few"]), -1, adata.obs["few"].map({"a": 0, "b": 1, "c": 2}).astype(float))
    np.testing.assert_allclose(adata.var["fiedler_score"], SSelect().evaluate(adata.X, few.astype(int)))
    select_genes(adata, "correlation", n_top_genes=1, target="age")
    assert chosen(adata) == ["gene0"]
    select_genes(adata, "subset", n_top_genes=3, target="kind")
    assert set(chosen(adata)) <= set(GENES[:6])


def test_significance(adata):
    select_genes(adata, "laplacian", n_top_genes=6, graph="spatial_connectivities", significance=True)
    expected = significance(LaplacianScore(Graph.of(adata.obsp["spatial_connectivities"], symmetrize="max")), adata.X)
    np.testing.assert_allclose(adata.var["fiedler_pvalue"], expected.pvalues)
    np.testing.assert_allclose(adata.var["fiedler_qvalue"], expected.qvalues)
    np.testing.assert_allclose(adata.var["fiedler_effect"], expected.effect)
    select_genes(adata, n_top_genes="fdr", graph="spatial_connectivities")
    assert {"gene6", "gene7"} <= set(chosen(adata))
    assert len(chosen(adata)) < 6
    assert (adata.var["fiedler_qvalue"][adata.var["highly_variable"]] <= 0.1).all()


def test_batches_are_chosen_one_by_one_and_counted(adata):
    select_genes(adata, n_top_genes=6, batch_key="sample", graph="connectivities")
    alone = []
    for name in ("s1", "s2"):
        rows = np.flatnonzero(adata.obs["sample"] == name)
        graph = Graph.of(adata.obsp["connectivities"])[rows]
        alone.append(SpectralSelector(LaplacianScore(graph), n_features_to_select=6).fit(adata.X[rows]))
    times = alone[0].support_.astype(int) + alone[1].support_
    np.testing.assert_array_equal(adata.var["highly_variable_nbatches"], times)
    np.testing.assert_array_equal(adata.var["highly_variable_intersection"], times == 2)
    median = (alone[0].ranking_ + alone[1].ranking_) / 2
    expected = sorted(range(30), key=lambda j: (-times[j], median[j], j))
    np.testing.assert_array_equal(np.argsort(adata.var["fiedler_rank"]), expected)
    assert set(chosen(adata)) == {GENES[j] for j in expected[:6]}
    np.testing.assert_allclose(adata.var["fiedler_score"], np.median([s.scores_ for s in alone], axis=0))
    labelled = select_genes(adata, "fisher", n_top_genes=6, batch_key="sample", target="kind", inplace=False)
    assert set(labelled.index[labelled["highly_variable"]]) == set(GENES[:6])


def test_a_gene_that_is_silent_in_one_batch_is_not_chosen_there(adata):
    adata.X[np.flatnonzero(adata.obs["sample"] == "s1"), 0] = 0.0
    select_genes(adata, n_top_genes=30, batch_key="sample")
    assert adata.var["highly_variable_nbatches"].tolist() == [1] + [2] * 29
    assert adata.var["fiedler_rank"].iloc[0] == 30
    assert adata.var["fiedler_score"].notna().all()


@pytest.mark.parametrize("stored", ["dense", "csr"])
def test_backed_and_lazy(adata, tmp_path, stored):
    adata.X = adata.layers["sparse"] if stored == "csr" else adata.X
    expected = select_genes(adata, n_top_genes=6, inplace=False)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    with pytest.raises(ValueError, match="subset=True needs adata in memory, but it is backed"):
        select_genes(backed, n_top_genes=6, subset=True)
    with pytest.raises(ValueError, match="writing into a view needs adata in memory, but it is backed"):
        select_genes(backed[:50], n_top_genes=6)
    assert select_genes(backed[:50], n_top_genes=6, inplace=False).shape == (30, 3)
    assert "highly_variable" not in backed.var
    select_genes(backed, n_top_genes=6)
    assert chosen(backed) == list(expected.index[expected["highly_variable"]])
    np.testing.assert_allclose(backed.var["fiedler_score"], expected["fiedler_score"], rtol=1e-6)
    batches = select_genes(backed, n_top_genes=6, batch_key="sample", inplace=False)
    np.testing.assert_array_equal(
        batches["fiedler_rank"], select_genes(adata, n_top_genes=6, batch_key="sample", inplace=False)["fiedler_rank"]
    )
    backed.file.close()
    da = pytest.importorskip("dask.array")
    lazy = adata.copy()
    lazy.X = da.from_array(adata.X, chunks=(30, 30))
    select_genes(lazy, n_top_genes=6)
    assert chosen(lazy) == list(expected.index[expected["highly_variable"]])
    assert isinstance(lazy.X, da.Array)


def test_the_result_can_be_stored(adata, tmp_path):
    select_genes(adata, "sselect", n_top_genes=6, target="few", graph="connectivities", layer="half")
    adata.obs["few"] = adata.obs["few"].astype(str)
    adata.write_h5ad(tmp_path / "done.h5ad")
    again = anndata.read_h5ad(tmp_path / "done.h5ad")
    assert chosen(again) == chosen(adata)
    assert again.uns["fiedler"]["criterion"] == "sselect"


def test_a_view_becomes_an_object_of_its_own(adata):
    view = adata[:60]
    select_genes(view, n_top_genes=6)
    assert not view.is_view
    assert "highly_variable" not in adata.var
    assert len(chosen(view)) == 6


def test_names_of_genes_may_repeat(adata):
    adata.var_names = ["same", "same", *GENES[2:]]
    select_genes(adata, n_top_genes=6)
    assert adata.var.shape == (30, 4)


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"layer": "hlaf"}, r"layer='hlaf' is not among the layers; did you mean 'half'\? They are: half, sparse"),
        (
            {"target": "kinds"},
            r"target='kinds' is not among the columns of obs; did you mean 'kind'\? They",
        ),
        ({"batch_key": "batch"}, "batch_key='batch' is not among the columns of obs"),
        (
            {"graph": "conectivities"},
            "graph='conectivities' is not among the keys of obsp and obsm; did you mean",
        ),
        ({"graph": np.ones((3, 3))}, "graph has 3 nodes, but adata has 90 cells"),
        ({"criterion": "laplace"}, "criterion='laplace' is not a method"),
        ({"n_top_genes": 31}, "n_top_genes=31, but adata has only 30 genes"),
        ({"n_top_genes": -2}, "n_top_genes must be an integer of at least 1, got -2"),
        ({"n_top_genes": 0.5}, r"n_top_genes must be an integer of at least 1, got 0\.5"),
        ({"n_top_genes": "auto"}, "'auto' needs a criterion that chooses sets"),
        ({"target": "kind"}, r"target='kind', but LaplacianScore\(\) reads no labels; use 'subset'"),
        ({"criterion": "fisher"}, r"FisherScore\(\) reads classes; name a column of obs as target"),
        ({"depth": "pearson"}, "depth needs counts"),
        ({"criterion": "moran", "graph": "spatial_connectivities", "depth": "size"}, "depth='size' is not among the"),
        ({"batch_key": "few"}, "batch_key='few' has 60 missing values"),
        ({"batch_key": "age"}, "has 1 cells; 3 are needed"),
    ],
)
def test_bad_input_is_named_and_leaves_no_trace(adata, told, message):
    with pytest.raises(ValueError, match=message):
        select_genes(adata, **({"n_top_genes": 6} | told))
    assert list(adata.var.columns) == ["length"]
    assert set(adata.uns) == {"other"}


def test_other_bad_input(adata):
    with pytest.raises(TypeError, match="adata must be an AnnData, got ndarray; SpectralSelector takes matrices"):
        select_genes(adata.X)
    adata.X[3, 4] = np.nan
    with pytest.raises(ValueError, match=r"X contains NaN in column 'gene4' \(1 rows\)"):
        select_genes(adata, n_top_genes=3)
    adata.X[:, 4:] = 0.0
    with pytest.raises(ValueError, match=r"6 features are requested, but LaplacianScore\(\) scores only 4 of 30"):
        select_genes(adata, n_top_genes=6)
    empty = anndata.AnnData(None, adata.obs, adata.var, layers={"half": adata.layers["half"]})
    with pytest.raises(ValueError, match="adata has no X; choose a layer: half"):
        select_genes(empty, n_top_genes=3)


def test_the_library_is_not_shadowed_and_not_loaded_early():
    code = "import fiedler, sys; assert 'anndata' not in sys.modules and 'fiedler.anndata' not in sys.modules; "
    code += "import fiedler.anndata; import anndata; assert hasattr(anndata, 'AnnData')"
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_marks_as_many_genes_as_asked_for(adata, name):
    told = {"correlation": "age", "sls": "age", "ssls": "age"}
    reads = METHODS[name]().reads
    select_genes(adata, name, n_top_genes=5, target=told.get(name, "kind") if reads else None)
    assert adata.var["highly_variable"].sum() == 5


# ---------------------------------------------------------------- with scanpy itself


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of scanpy's own
def test_scanpy_takes_it_from_here(adata):
    sc = pytest.importorskip("scanpy")
    adata.X = np.log1p(adata.X)
    sc.pp.neighbors(adata, n_neighbors=8, use_rep="X", method="gauss")  # umap, the default, compiles for ten seconds,
    adata.obsp["connectivities"] = adata.obsp["connectivities"].astype(np.float32)  # and leaves single precision
    for graph in ("connectivities", "distances"):
        select_genes(adata, graph=graph, n_top_genes=6)
        assert set(chosen(adata)) == set(GENES[:6])
    sc.pp.pca(adata, n_comps=4)
    assert adata.varm["PCs"].shape == (30, 4)
    assert (adata.varm["PCs"][~adata.var["highly_variable"].to_numpy()] == 0).all()
    only = adata[:, adata.var["highly_variable"]].copy()
    sc.pp.pca(only, n_comps=4)
    np.testing.assert_allclose(np.abs(only.obsm["X_pca"]), np.abs(adata.obsm["X_pca"]), rtol=1e-3, atol=1e-3)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_batches_have_the_columns_of_scanpy(adata):
    sc = pytest.importorskip("scanpy")
    adata.X = np.log1p(adata.X)
    theirs = sc.pp.highly_variable_genes(adata, n_top_genes=6, batch_key="sample", inplace=False)
    ours = select_genes(adata, n_top_genes=6, batch_key="sample", inplace=False)
    shared = {"highly_variable", "highly_variable_nbatches", "highly_variable_intersection"}
    assert shared <= set(theirs.columns)
    assert shared <= set(ours.columns)
    assert ours["highly_variable"].dtype == theirs["highly_variable"].dtype == bool


def test_batches_that_print_alike_are_two(adata):
    """1 and "1" are two names; scanpy and pandas tell them apart as well."""
    sample = np.where(np.arange(adata.n_obs) % 2 == 0, 1, 0).astype(object)
    sample[sample == 0] = "1"
    adata.obs["sample"] = sample
    found = select_genes(adata, n_top_genes=6, batch_key="sample", inplace=False)
    assert found["highly_variable_nbatches"].max() == 2


# -------------------------------------------------------------------- spatially variable genes


@pytest.fixture
def slides():
    """Two slides with shifts, unequal depths and a gradient of depth; the first three of the genes are spatial."""
    rng = np.random.default_rng(3)
    places, depth = rng.uniform(size=(400, 2)), np.exp(rng.normal(scale=0.4, size=400))
    slide = np.repeat([0, 1], [250, 150])
    depth = depth * np.exp(places[:, 1]) * np.array([1.0, 4.0])[slide]
    rate = np.tile(rng.gamma(1.0, 1.0, size=300) + 0.1, (400, 1)) * rng.gamma(2.0, 0.5, size=(2, 300))[slide]
    rate[:, :3] = 0.4  # so that totals are nearly depths
    rate[:, 0] *= np.exp(2.0 * np.sin(4 * places[:, 0]))
    rate[:, 1] *= 1.0 + 8.0 * (places[:, 0] * 5 % 2 < 1)
    rate[:, 2] *= 1.0 + 4.0 * (((places - 0.5) ** 2).sum(axis=1) < 0.05)
    adata = anndata.AnnData(sp.csr_matrix(rng.poisson(depth[:, None] * rate).astype(np.float32)))
    adata.var_names = [f"gene{j}" for j in range(300)]
    adata.obs["slide"] = pd.Categorical(np.array(["a", "b"])[slide])
    adata.obs["size"] = depth
    adata.obsm["spatial"] = places * 100.0  # both slides in the same coordinates
    return adata


def test_spatially_variable_genes_of_two_slides(slides):
    select_genes(slides, graph="spatial", batch_key="slide")
    var = slides.var
    assert var.index[var["highly_variable"]][:3].tolist() == ["gene0", "gene1", "gene2"]
    assert var["highly_variable"].sum() <= 8
    np.testing.assert_array_equal(np.sort(var["fiedler_rank"][:3]), [1, 2, 3])
    assert set(var["fiedler_scale"]) <= {"edges", "walks", "tissue"}
    assert {"fiedler_pvalue", "fiedler_qvalue", "fiedler_z", "fiedler_effect", "fiedler_pvalue_walks"} <= set(var)
    told = slides.uns["fiedler"]
    assert (told["depth"], told["batch_key"], told["criterion"]) == (
        "pearson",
        "slide",
        "multiscale",
    )
    # the same by hand
    codes, X = slides.obs["slide"].cat.codes.to_numpy(), slides.X.toarray().astype(float)
    graph = Problem(slides.obsm["spatial"]).divided(codes).graph(KNN(6, "binary"))
    expected = significance(MultiScale(graph), X, blocks=codes, depth="pearson")
    np.testing.assert_allclose(var["fiedler_pvalue"], expected.pvalues, rtol=1e-8)
    np.testing.assert_allclose(var["fiedler_score"], -np.log10(expected.pvalues), rtol=1e-7)


def test_another_depth_of_a_slide_changes_nothing_for_given_depths(slides):
    first = select_genes(slides, graph="spatial", batch_key="slide", depth="size", inplace=False)
    slides.obs["size"] *= np.where(slides.obs["slide"] == "a", 7.0, 1.0)
    again = select_genes(slides, graph="spatial", batch_key="slide", depth="size", inplace=False)
    np.testing.assert_allclose(again["fiedler_pvalue"], first["fiedler_pvalue"], rtol=1e-8)


def test_values_that_are_no_counts_are_tested_as_they_are(slides):
    slides.layers["log"] = slides.X.log1p()
    select_genes(slides, graph="spatial", batch_key="slide", layer="log")
    assert "depth" not in slides.uns["fiedler"]
    select_genes(slides, graph="spatial", batch_key="slide", depth=None, key_added="raw")
    assert "depth" not in slides.uns["raw"]
    select_genes(slides, "moran", graph="spatial", batch_key="slide", key_added="moran")
    assert slides.uns["moran"]["depth"] == "pearson"
    assert "moran_scale" not in slides.var


def test_batches_have_one_test(adata):
    told = {"graph": "spatial_connectivities", "batch_key": "sample", "significance": True, "inplace": False}
    told["n_top_genes"] = 5
    with pytest.warns(UserWarning, match="join rows of different blocks"):
        found = select_genes(adata, "laplacian", **told)
    assert found["fiedler_pvalue"].notna().all()
    assert "highly_variable_nbatches" not in found


def test_a_spatialdata_is_its_table(slides):
    class Holder:
        tables = {"table": slides}  # noqa: RUF012

    select_genes(Holder(), graph="spatial", batch_key="slide")
    assert "fiedler_pvalue" in slides.var
