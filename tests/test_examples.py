"""The examples run without a warning, draw a labelled figure, and find what was planted in their data."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from threadpoolctl import threadpool_limits

from fiedler.datasets import load_paper_set

FOLDER = Path(__file__).parent.parent / "examples"
REAL = {
    "plot_text_few_labels": "BASEHOCK",
    "plot_genes_with_pairs": "colon_alon",
    "plot_spectra_regression": "juice",
    "plot_image_pixels": "pixraw10P",
    "plot_sets_on_faces": "ORL",
}

MADE = {
    *("plot_own_criterion", "plot_pipeline_search", "plot_feature_on_a_graph", "plot_moons_and_noise"),
    *("plot_lambda_of_sselect", "plot_pairs_move_ranks", "plot_redundancy", "plot_how_many", "plot_stability"),
    *("plot_is_it_real", "plot_noise", "plot_spec_filters", "plot_evsc_path", "plot_anchors", "plot_explain"),
    "plot_figures_of_the_papers",
}


@pytest.fixture
def run(monkeypatch):
    """``run(name)``: the ``results`` of an example, after a look at its figure."""
    matplotlib = pytest.importorskip("matplotlib", reason="the examples draw with matplotlib, extra 'report'")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    monkeypatch.setattr(plt, "show", lambda: None)  # there is no window, which Agg would warn about

    def run(name):
        plt.close("all")  # figures that another test left open are not the example's
        # The routing example changes scikit-learn's configuration for good, as a script may.
        with sklearn.config_context(), threadpool_limits(1):
            namespace = runpy.run_path(str(FOLDER / f"{name}.py"))
        (number,) = plt.get_fignums()
        check_figure(plt.figure(number))
        return namespace["results"]

    yield run
    plt.close("all")


def check_figure(figure):
    figure.canvas.draw()
    assert len(figure.axes) >= 2
    for axis in figure.axes:
        if axis.lines and not axis.images:  # pictures and tables need no axis labels
            assert axis.get_xlabel()
            assert axis.get_ylabel() or len(axis.get_yticklabels()) > 1
        assert axis.get_title() or axis.get_ylabel() or axis.get_xlabel()


@pytest.fixture
def generated(monkeypatch):
    monkeypatch.delenv("FIEDLER_DATA", raising=False)


def test_each_example_is_tested_here_and_explains_itself():
    names = {path.stem for path in FOLDER.glob("plot_*.py")}
    assert names == {*REAL, *MADE}
    for name in names:
        text = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
        _, title, underline, empty, *_ = text.splitlines()
        assert underline == "=" * len(title)
        assert empty == ""
        assert re.search("This example|One learns", " ".join(text.split('"""')[1].split()))
        assert text.count("\n# %%\n") >= 3
        assert text.endswith("plt.show()\n")


@pytest.mark.usefixtures("generated")
def test_sselect_finds_the_topical_words_with_ten_labels(run):
    results = run("plot_text_few_labels")
    assert results["sSelect"] > results["Fisher"] + 0.02 > results["all"] + 0.05
    assert results["sSelect"] > results["random"] + 0.2
    assert results["Laplacian"] < results["random"] + 0.1  # it follows the genre
    topical = results["topical"]
    assert topical["sSelect"] > topical["Fisher"] + 3 > 15 > 5 > topical["Laplacian"]


@pytest.mark.usefixtures("generated")
def test_pairs_find_the_marker_genes_and_more_pairs_find_more(run):
    results = run("plot_genes_with_pairs")
    for name in ("C1", "C4"):
        for what in ("kendall", "overlap", "markers"):
            assert np.all(np.diff(results[what][name]) > 0), (name, what)
        assert results["markers"][name][0] > 5  # of 20, where chance gives 1
        assert results["markers"][name][-1] > 18
    assert np.all(np.subtract(results["kendall"]["C4"], results["kendall"]["C1"]) > 0)


@pytest.mark.usefixtures("generated")
def test_ssls_finds_the_bands_of_sugar_with_ten_values(run):
    results = run("plot_spectra_regression")
    assert results["SSLS"] < results["correlation"] < results["LS"] < results["random"] - 0.2
    assert results["SSLS"] < results["all"] - 0.1
    share = results["in bands"]
    assert share["SSLS"] > share["correlation"] > 0.6 > share["LS"] > 0.2  # random wavelengths 0.15


@pytest.mark.usefixtures("generated")
def test_ten_pixels_by_any_score_beat_ten_random_ones(run):
    results = run("plot_image_pixels")
    first = {name: pair[0] for name, pair in results.items()}
    assert set(first) == {"Laplacian score", "SPEC, φ3", "EVSC", "variance", "random"}
    assert min(first, key=first.get) == "random"
    assert min(first[name] for name in ("Laplacian score", "EVSC", "variance")) > first["random"] + 0.1


@pytest.mark.usefixtures("generated")
def test_a_set_of_pixels_tells_more_than_a_list(run):
    results = run("plot_sets_on_faces")
    ten = {name: curve[4] for name, curve in results.items()}
    assert ten["subset"] > ten["CUR"] > max(ten["Laplacian score"], ten["Laplacian score, pruned"])


def test_each_criterion_finds_the_field_it_describes(run):
    results = run("plot_own_criterion")
    assert results["smooth"] == {"trend": 1, "soil": 2, "ridges": 3}
    assert results["pairs"]["soil"] > results["smooth * pairs"]["soil"] == 1
    assert results["band"]["ridges"] == 1
    assert results["band"]["trend"] > 900


def test_grid_search_keeps_features_and_drops_probes(run):
    before = sklearn.get_config()
    results = run("plot_pipeline_search")
    assert sklearn.get_config() == before
    must, cannot = results["pairs"]
    assert 10 < must < 40 > cannot > 10  # 60 of each before the split, of which 0.36 keep both ends
    assert results["accuracy"] > results["all features"] + 0.01
    assert 2 <= len(results["selected"]) <= 20
    assert np.mean(results["selected"] < 30) >= 0.8  # by chance 30 of 180


def test_slow_waves_score_better_than_quick_ones_and_those_than_noise(run):
    results = run("plot_feature_on_a_graph")
    slow = [results["sin 2"], results["cos 2"]]
    quick = [results["sin 16"], results["cos 16"]]
    noise = [score for name, score in results.items() if name.startswith("noise")]
    assert max(slow) < min(quick) < max(quick) < min(noise)


def test_the_graph_on_the_selected_columns_keeps_the_moons_apart(run):
    results = run("plot_moons_and_noise")
    assert sorted(results["selected"]) == [0, 1, 2, 3, 4, 5]
    assert set(results["default"]) < set(range(6))
    all_columns, selected = results["across"].values()
    assert all_columns > 0.2 > 0.01 > selected


def test_labels_and_graph_together_find_more_than_either(run):
    results = run("plot_lambda_of_sselect")
    asked = results["asked"]
    assert asked.max() > asked[0] + 1 > asked[-1] + 3
    assert results["loud"][-1] > 8
    assert results["noise"][0] > 3 > 0 == results["noise"][-1]


def test_each_figure_of_the_papers_is_one_call(run):
    results = run("plot_figures_of_the_papers")
    assert results["tuned"].best_params["lam"] in results["tuned"].table["lam"]
    assert len(results["tuned"].table["accuracy"]) == 9
    assert results["ranks"].features[0] in ("sSelect", "Fisher")
    assert results["agree"]["C4"].mean[0] > results["agree"]["C1"].mean[0]
    assert results["parts"].parts.shape == (2, 30)
    assert np.all(results["good"].mean > results["bad"].mean)


def test_pairs_turn_the_ranking_from_the_day_to_the_disease(run):
    results = run("plot_pairs_move_ranks")
    assert results["day"][0] == 6
    assert results["disease"][-1] > 5
    assert np.all(np.diff(results["disease"]) > 0)


def test_explain(run):
    """A few features explain nearly all, and most others are near copies of them."""
    results = run("plot_explain")
    assert min(results["explained"]) > 0.9
    assert results["copies"] > 15
    assert results["beaten"] == "mean concave points"
    assert results["lost"]
    assert len(results["lost"]) == len(results["gained"])


def test_sets_and_pruned_rankings_hold_no_near_copies(run):
    results = run("plot_redundancy")
    ranking, pruned, chosen = results.values()
    assert ranking["alike"] > 0.8 > 0.4 > max(pruned["alike"], chosen["alike"])
    assert min(pruned["recovered"], chosen["recovered"]) > ranking["recovered"] + 0.15


def test_auto_is_where_nine_tenths_are_explained(run):
    results = run("plot_how_many")
    explained, auto = results["explained"], results["auto"]
    assert explained[auto - 2] < 0.9 <= explained[auto - 1]
    assert results["accuracy"][20] > results["all"] - 0.05
    assert all(0.4 < share <= 1 for share in results["stays"])


def test_more_labels_and_a_graph_steady_a_ranking(run):
    few, graph, many = run("plot_stability").values()
    assert few < graph < many - 0.3


def test_noise_looks_real_on_its_own_graph_only(run):
    results = run("plot_is_it_real")
    assert results["naive"] > 0.5 > 0.08 > results["honest"] > 0.02
    assert set(range(20)) <= set(results["found"])
    assert len(results["found"]) <= 25


def test_a_screen_finds_the_features_among_noise(run):
    results = run("plot_noise")
    assert results["kept"][:10].all()
    assert results["kept"].sum() <= 12
    assert results["inside"][1] > 0.95 > 0.75 > results["inside"][0]
    assert (results["screened"] < 10).sum() > (results["plain"] < 10).sum()


def test_specs_scores_are_sums_over_the_spectrum(run):
    results = run("plot_spec_filters")
    for name, scores in results["scores"].items():
        np.testing.assert_allclose(scores, results["by hand"][name], rtol=1e-8)


def test_evsc_is_the_slope_of_the_eigenvalues(run):
    results = run("plot_evsc_path")
    np.testing.assert_allclose(results["scores"], results["slopes"], rtol=5e-3)
    assert results["scores"][0] > 5 * results["scores"][1] > 5 * results["scores"][2]


def test_more_anchors_come_closer_to_exact_neighbours(run):
    agreement = list(run("plot_anchors")["agreement"].values())
    assert agreement[-1] > 0.8
    assert np.all(np.diff(agreement)[2:] > 0)


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_examples_on_the_papers_data(run, paper_data, name):
    results = run(name)
    if name == "plot_text_few_labels":
        assert results["sSelect"] > results["random"] + 0.1
    elif name == "plot_genes_with_pairs":
        assert results["kendall"]["C4"][-1] > 2 * results["kendall"]["C1"][-1]
    elif name == "plot_spectra_regression":
        assert results["SSLS"] < results["correlation"] < 1
    elif name == "plot_sets_on_faces":
        assert results["subset"][4] > results["Laplacian score"][4] + 0.1
    else:
        random = results.pop("random")[0]
        assert all(first < random for first, _ in results.values())  # neighbours say the same
        assert max(apart for _, apart in results.values()) > random


# ------------------------------------------------------------------ load_paper_set


@pytest.mark.usefixtures("generated")
def test_load_paper_set_says_how_to_set_the_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match="environment variable FIEDLER_DATA"):
        load_paper_set("BASEHOCK")
    with pytest.raises(FileNotFoundError, match=r"no data set 'BASEHOCK'.*: no .npz file"):
        load_paper_set("BASEHOCK", tmp_path)
    np.savez(tmp_path / "juice.npz", X=np.eye(2))
    with pytest.raises(FileNotFoundError, match=r"no data set 'BASEHOCK'.*: juice\."):
        load_paper_set("BASEHOCK", tmp_path)


def test_load_paper_set_reads_the_folder_of_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("FIEDLER_DATA", str(tmp_path))
    counts = sp.csr_array(np.array([[0, 3, 0], [1, 0, 0]], dtype=np.uint8))
    parts = {"data": counts.data, "indices": counts.indices, "indptr": counts.indptr, "shape": counts.shape}
    np.savez(tmp_path / "text.npz", **parts, y=[1, 2], feature_names=["a", "b", "c"])
    X, y, names = load_paper_set("text")
    assert sp.issparse(X)
    assert X.dtype == np.uint8
    np.testing.assert_array_equal(X.toarray(), counts.toarray())
    assert y.tolist() == [1, 2]
    assert names.tolist() == ["a", "b", "c"]


def test_load_paper_set_never_unpickles(tmp_path):
    np.savez(tmp_path / "bad.npz", X=np.eye(2), y=np.array([1, None], dtype=object))
    with pytest.raises(ValueError, match="allow_pickle"):
        load_paper_set("bad", tmp_path)


@pytest.mark.data
@pytest.mark.parametrize("name", REAL.values())
def test_load_paper_set_agrees_with_the_folders_own_loader(paper_data, name):
    for mine, theirs in zip(load_paper_set(name), paper_data(name), strict=True):
        if sp.issparse(theirs):
            assert mine.shape == theirs.shape
            assert (mine != theirs).nnz == 0
        else:
            np.testing.assert_array_equal(mine, theirs)
