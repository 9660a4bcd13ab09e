"""Wrong answers that users met. Each test failed before the answer was corrected."""

import re
import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from click.testing import CliRunner
from inside import count_pairs
from rendering import page_of
from sklearn import config_context

import fiedler
from fiedler import (
    KNN,
    MCFS,
    Anchors,
    Correlation,
    Graph,
    LaplacianScore,
    Precomputed,
    Problem,
    Relevance,
    SpectralSelector,
)
from fiedler.cli import main
from fiedler.engine.agreement import agreeing
from fiedler.engine.missing import filled
from fiedler.evaluate import compare, label_budget, significance, tune, tune_lambda
from fiedler.evaluate.compare import beside_baselines
from fiedler.io import read_table
from fiedler.report import summarize
from fiedler.sources import Run, open_source
from fiedler.syntax import as_criterion
from fiedler.words import did_you_mean, value_text


@pytest.fixture
def noise(rng):
    return rng.normal(size=(120, 30))


# -------------------------------------------------------------------- selection


@pytest.mark.parametrize("criterion", ["laplacian", "subset"])
def test_a_screen_by_significance_and_fdr_select_none_of_pure_noise(noise, criterion):
    selector = SpectralSelector(criterion, n_features_to_select="fdr", screen="fdr", alpha=0.01)
    with pytest.warns(UserWarning, match="keeps every column|no feature is selected"):
        selector.fit(noise)
    assert selector.n_features_ == 0


def test_a_threshold_with_a_screen_selects_no_column_that_was_dropped(rng):
    y = np.repeat([0, 1, 2], 40)
    X = np.hstack([y[:, None] + 0.3 * rng.normal(size=(120, 6)), rng.normal(size=(120, 20))])
    selector = SpectralSelector("laplacian", n_features_to_select=12, screen="agreement", threshold=2.0).fit(X)
    assert selector.kept_[selector.support_].all()


def test_a_group_that_is_named_twice_is_an_error(noise):
    groups = np.arange(30) // 2
    selector = SpectralSelector("laplacian", n_features_to_select=4, include=[0, 1])
    with pytest.raises(ValueError, match="twice"):
        selector.fit(noise, groups=groups)
    frame = pd.DataFrame(noise[:, :5], columns=list("abcde"))
    with pytest.raises(ValueError, match="include names the feature 'band' twice"):
        selector.set_params(include=[3, "band"]).fit(frame, groups={"band": ["b", "d"]})


def test_a_kernel_that_is_zero_is_said(rng):
    with pytest.warns(UserWarning, match="no feature explains"):
        SpectralSelector("subset", n_features_to_select=2).fit(rng.normal(size=(6, 4)))


def test_a_selector_that_refuses_missing_values_has_no_tag_that_allows_them():
    allowed = lambda **settings: SpectralSelector("laplacian", **settings).__sklearn_tags__().input_tags.allow_nan  # noqa: E731
    assert allowed()
    assert not allowed(n_features_to_select="fdr")
    assert not allowed(screen="fdr")
    assert allowed(screen="agreement")


def test_inverse_transform_takes_what_fit_took(noise):
    X = noise.copy()
    X[3, 0] = np.nan
    selector = SpectralSelector("laplacian", n_features_to_select=30).fit(X)
    np.testing.assert_array_equal(selector.inverse_transform(selector.transform(X)), X)


# -------------------------------------------------------------------- scores


@pytest.mark.parametrize(("unit", "of_target"), [(1e-170, 1.0), (1e155, 1.0), (1.0, 1e160), (1.0, 1e-170)])
def test_a_correlation_does_not_depend_on_units(noise, unit, of_target):
    y = noise[:, 0] + noise[:, 1]
    expected = Correlation().evaluate(noise, y)
    np.testing.assert_allclose(Correlation().evaluate(noise * unit, y * of_target), expected, rtol=1e-12)


@pytest.mark.parametrize("unit", [1e-170, 1e155])
def test_a_correlation_of_groups_or_with_missing_values_does_not_depend_on_units(noise, unit):
    y, groups, holed = noise[:, 0] + noise[:, 1], np.arange(30) // 3, noise.copy()
    holed[::7, 2] = np.nan
    for X, columns in ((noise, groups), *([(holed, groups), (holed, None)] * (unit < 1))):  # filling reads distances
        of_unit = lambda unit: Correlation().evaluate(Problem.of(X * unit, groups=columns), y)  # noqa: B023, E731
        np.testing.assert_allclose(of_unit(unit), of_unit(1.0), rtol=1e-9)


@pytest.mark.parametrize("unit", [1e-170, 1e155])
def test_likeness_of_groups_does_not_depend_on_units(noise, unit):
    twice = np.hstack([noise[:, :6], noise[:, :3] + 0.01 * noise[:, 6:9]])
    fit = lambda X: SpectralSelector("correlation", n_features_to_select=2, redundancy=0.9, screen=None).fit(  # noqa: E731
        X, noise[:, 0], groups=np.arange(9) // 3
    )
    assert set(fit(twice).stands_for_) != {-1}
    np.testing.assert_array_equal(fit(twice * unit).stands_for_, fit(twice).stands_for_)


def test_minus_one_in_a_stated_target_is_a_number(noise):
    y = np.round(3 * noise[:, 0]).astype(int)
    expected = Relevance(task="target").evaluate(noise, y + 100)
    np.testing.assert_allclose(Relevance(task="target").evaluate(noise, y), expected, rtol=1e-12)
    few = np.full(120, np.nan)
    few[:6] = [-1, -1, -1, 0, 1, 2]
    assert np.ptp(Relevance(task="target").evaluate(noise, few)) > 0


def test_all_components_give_the_neighbours_of_x(rng):
    X = rng.normal(size=(60, 4)).round(1)
    for ours, plain in zip(KNN(5, n_components=4).build(X).edges, KNN(5).build(X).edges, strict=True):
        np.testing.assert_array_equal(ours, plain)


def test_mcfs_on_a_graph_without_edges_is_an_error(noise):
    graph = Graph.of(sp.csr_array((120, 120)))
    with pytest.raises(ValueError, match="edge"):
        MCFS(Precomputed()).evaluate(noise, graph=graph)


# -------------------------------------------------------------------- tables


@pytest.mark.filterwarnings("ignore:how the table is read")
def test_instants_of_a_time_zone_keep_their_distances(rng):
    instants = pd.date_range("2024-03-30 20:00", periods=12, freq="h", tz="Europe/Berlin")  # summer time begins
    problem = Problem.of(pd.DataFrame({"when": instants, "x": rng.normal(size=12)}))
    np.testing.assert_allclose(np.diff(problem.X[:, 0]), 1 / 24, rtol=1e-9)


@pytest.mark.filterwarnings("ignore:how the table is read")
@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_units_beside_a_category_do_not_matter(rng, unit):
    frame = pd.DataFrame({"a": rng.normal(size=40), "kind": ["u", "v"] * 20})
    expected = Problem.of(frame).X
    np.testing.assert_allclose(Problem.of(frame.assign(a=frame["a"] * unit)).X, expected, rtol=1e-12)


def test_infinity_beside_a_category_is_an_error(rng):
    frame = pd.DataFrame({"a": [np.inf, *rng.normal(size=39)], "kind": ["u", "v"] * 20})
    with pytest.raises(ValueError, match="infinite values in a"):
        SpectralSelector("laplacian").fit(frame)


# -------------------------------------------------------------------- evaluation refuses what a fit refuses


@pytest.mark.filterwarnings("ignore:how the table is read")
def test_evaluation_refuses_what_a_fit_refuses(rng):
    y = np.repeat([0, 1], 30)
    frame = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd")).assign(
        kind=pd.Categorical(["u", "v", "w"] * 20)
    )
    refused = [
        lambda: SpectralSelector("sselect").fit(frame, y),
        lambda: compare(["sselect"], frame, y, n_features=[2]),
        lambda: tune("sselect", {"lam": [0.1, 0.5]}, frame, y, n_features=2),
        lambda: tune_lambda(frame, y, n_features=2),
        lambda: label_budget(["sselect"], frame, y, budgets=[4], n_features=2),
    ]
    for call in refused:
        with pytest.raises(ValueError, match="several columns"), np.errstate(all="ignore"):
            call()


def test_genes_that_are_tested_on_a_graph_of_the_same_genes_are_warned_about(noise):
    adata = pytest.importorskip("anndata").AnnData(noise)
    adata.obsm["X_pca"] = np.linalg.svd(noise, full_matrices=False)[0][:, :5]
    with pytest.warns(UserWarning, match="built from these genes"):
        fiedler.anndata.select_genes(adata, graph="X_pca", n_top_genes=5, significance=True)
    adata.obsm["spatial"] = adata.obsm["X_pca"]
    fiedler.anndata.select_genes(adata, graph="spatial", n_top_genes=5, significance=True)


def test_filling_few_rows_takes_time_linear_in_the_columns(rng, monkeypatch):
    """Pairs of rows are compared once, not once for every column with a missing value."""
    X = rng.normal(size=(60, 400))
    X[rng.random(X.shape) < 0.05] = np.nan
    compared = count_pairs(monkeypatch)
    filled(X, ~np.isnan(X))
    assert sum(compared) <= 3 * 60 * 60


def test_a_comparison_warns_about_scales(noise):
    X = noise * np.where(np.arange(30) == 3, 1e5, 1.0)
    with pytest.warns(fiedler.ScaleWarning, match="compare reads columns as they are"):
        compare(["subset", "laplacian"], X, n_features=[2])


def test_auto_with_numbers_only_scales_a_mixed_table(tmp_path, rng):
    table = pd.DataFrame({"wide": 1e4 * rng.normal(size=60), "b": rng.normal(size=60), "c": rng.normal(size=60)})
    table.assign(kind=["u", "v", "w"] * 20, sort=["p", "q"] * 30).to_csv(tmp_path / "t.csv", index=False)
    done = CliRunner().invoke(main, ["rank", str(tmp_path / "t.csv"), "--auto", "--numeric-only", "-m", "variance"])
    assert done.exit_code == 0, done.output
    assert "--scale standard" in done.stderr


# -------------------------------------------------------------------- names


@pytest.mark.parametrize("room", ["anndata", "evaluate", "sources", "io", "datasets"])
def test_rooms_are_attributes(room):
    assert getattr(fiedler, room).__name__ == f"fiedler.{room}"


def test_a_name_that_resembles_nothing_gets_no_suggestion():
    assert did_you_mean("foo", ["alcohol", "malic_acid", "flavanoids"]) == ""
    assert "alcohol" in did_you_mean("alcool", ["alcohol", "malic_acid"])


def test_labels_that_are_all_unknown_are_said(noise):
    with pytest.warns(UserWarning, match="unknown"):
        SpectralSelector("subset", n_features_to_select=3).fit(noise, np.full(120, -1))


# -------------------------------------------------------------------- the report


@pytest.fixture
def patients(rng):
    """A table with numbers, dates, truth values and a category; the classes follow the age."""
    age = rng.integers(20, 90, 120)
    frame = pd.DataFrame({"age": age, "kind": rng.choice(["red", "blue"], 120), "smokes": rng.integers(0, 2, 120)})
    frame["admitted"] = pd.Timestamp("2021-03-01") + pd.to_timedelta(np.r_[0, rng.integers(0, 700, 119)], unit="D")
    return frame, np.where(age > 50, "ill", "well")


@pytest.mark.filterwarnings("ignore:how the table is read")
def test_the_report_shows_values_in_the_units_of_the_table(patients):
    X, y = patients
    selector = SpectralSelector("subset", n_features_to_select=4, screen=None).fit(X, y)
    about = {each["feature"]: each for each in summarize(selector, X)["distributions"]["features"]}
    assert about["age"]["low"] == pytest.approx(X["age"].min(), abs=1)
    assert (about["smokes"]["low"], about["smokes"]["high"]) == (-0.5, 1.5)
    assert value_text(about["admitted"]["low"] + 0.5, dates=about["admitted"]["dates"]).startswith("2021-03-01")
    page = page_of(summarize(selector, X, y), "distributions")
    assert "2021" in page
    assert "standardised" not in page[page.index('id="distributions"') :]


def test_a_selector_that_scales_has_a_report_in_the_units_of_x(noise):
    X = 300.0 + 20.0 * noise[:, :4]
    selector = SpectralSelector("laplacian", n_features_to_select=2, scale="standard").fit(X)
    for about in summarize(selector, X)["distributions"]["features"]:
        assert 200 < about["low"] < 300 < about["high"] < 400


def test_names_with_a_common_unit_are_an_axis(rng):
    X = pd.DataFrame(rng.normal(size=(40, 10)), columns=[f"{length} nm" for length in range(900, 1000, 10)])
    summary = summarize(SpectralSelector("variance", n_features_to_select=2).fit(X), X)
    assert summary["axis"]["axis"][:2] == [900, 910]
    assert ">nm</text>" in page_of(summary, "axis")
    mixed = X.rename(columns={"900 nm": "900 cm"})
    assert summarize(SpectralSelector("variance", n_features_to_select=2).fit(mixed), mixed)["axis"] is None


@pytest.mark.parametrize("names", [np.arange(1, 11) * 1.7e307, 1e15 + np.arange(10), np.arange(1, 11) * 5e-324])
def test_names_that_are_extreme_numbers_have_a_report(rng, names):
    X = pd.DataFrame(rng.normal(size=(40, 10)), columns=[repr(float(name)) for name in names])
    summary = summarize(SpectralSelector("variance", n_features_to_select=2).fit(X), X)
    assert "<!doctype html>" in page_of(summary, "axis", "redundancy")


def test_the_title_of_the_report_is_what_was_measured(rng):
    y = np.repeat([0, 1, 2], 40)
    X = rng.normal(size=(120, 12)) + np.outer(y, 2.0 * (np.arange(12) < 4))
    selector = SpectralSelector("subset", n_features_to_select=3).fit(X, y)
    summary = summarize(selector, X, y)
    found = summary["prediction"]
    assert found["metric"] == "accuracy"
    assert found["random"] < found["chosen"] - 0.05
    title = re.search("<h1>(.*?)</h1>", page_of(summary))[1]
    assert f"accuracy {found['chosen']:.3g} on held-out rows, all features {found['all']:.3g}" in title
    alone = summarize(selector.fit(X), X)
    assert alone["prediction"] is None
    title = re.search("<h1>(.*?)</h1>", page_of(alone))[1]
    assert f"they explain {selector.explained_[-1]:.0%}".replace("%", " %") in title


def test_the_curve_of_a_set_reaches_the_suggested_number(rng):
    hidden = rng.normal(size=(100, 6))
    X = np.hstack([hidden, hidden + 0.5 * rng.normal(size=(100, 6))])
    selector = SpectralSelector("subset", n_features_to_select=1, screen=None).fit(X)
    suggestions = summarize(selector, X)["suggestions"]
    most = max(item["n_features"] for item in suggestions if item["n_features"])
    assert most > 1
    assert len(suggestions[0]["path"]) == most


def test_a_feature_that_a_screen_left_out_is_not_called_constant(rng):
    X = np.hstack([rng.normal(size=(200, 1)) + 0.1 * rng.normal(size=(200, 4)), rng.normal(size=(200, 30))])
    selector = SpectralSelector("laplacian", n_features_to_select=2, screen="agreement").fit(X)
    assert summarize(selector, X)["features"]["note"][-1] == "left out: looks like noise"


def test_no_target_is_drawn_in_nearly_the_colour_of_the_paper(rng):
    X, y = rng.normal(size=(60, 4)), rng.normal(size=60)
    page = page_of(summarize(SpectralSelector("laplacian", n_features_to_select=2).fit(X), X, y), "graph")
    figure = page[page.index('aria-labelledby="embedding-title') :].partition("</svg>")[0]
    shades = [float(shade) for shade in re.findall(r"fill-opacity:([\d.]+)", figure)]
    assert len(shades) >= 20
    assert min(shades) >= 0.4


def test_a_small_p_value_stays_in_one_line(rng):
    y = np.repeat([0, 1], 200)
    X = rng.normal(size=(400, 4))
    X[:, 0] += 5 * y
    found = significance("fisher", X, y)
    page = page_of(summarize(SpectralSelector("fisher").fit(X, y), X, y, significance=found))
    assert re.search(r'<td class="more p">[\d.]+e-\d\d', page)
    assert re.search(r"#ranking td\.p,[^{]*\{ white-space: nowrap", page)


def test_a_headline_is_not_measured_on_a_handful_of_rows(rng):
    y = np.repeat([0, 1], 120)
    wide = rng.normal(size=(240, 6000)) + np.outer(y, np.arange(6000) < 5)
    assert beside_baselines(as_criterion("fisher"), Problem.of(wide), y, 5) is None  # too wide to be quick on 200 rows
    assert beside_baselines(as_criterion("fisher"), Problem.of(wide[:, :50]), y, 5)["metric"] == "accuracy"
    assert beside_baselines(as_criterion("fisher"), Problem.of(wide[::20, :50]), y[::20], 5) is None  # 12 labels


def test_a_report_of_many_rows_searches_no_neighbours_for_other_methods(rng, monkeypatch):
    monkeypatch.setattr("fiedler.report.trust.SLOW_ROWS", 100)
    X, y = rng.normal(size=(120, 5)), np.repeat([0, 1], 60)
    summary = summarize(SpectralSelector("fisher", n_features_to_select=2).fit(X, y), X, y)
    assert summary["agreement"]["methods"] == ["fisher", "variance"]


# -------------------------------------------------------------------- missing values of large tables


def test_columns_known_in_few_rows_compare_few_pairs(rng, monkeypatch):
    X = rng.normal(size=(1500, 20))
    known = np.ones(X.shape, dtype=bool)
    for j in range(10):
        known[rng.choice(1500, 1300, replace=False), j] = False
    pairs = count_pairs(monkeypatch)
    filled(X, known)
    assert sum(pairs) < 20 * (~known).sum()  # before: each hole with the 200 rows that know its column


def test_filling_single_precision_holds_no_copy_in_double(rng):
    X = rng.normal(size=(1000, 4000)).astype(np.float32)
    X[::50, ::30] = np.nan
    tracemalloc.start()
    problem = Problem.of(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert problem.X.dtype == np.float32
    assert peak < 4.5 * X.nbytes  # the result, the factors of a product, a mask, and blocks of rows


# -------------------------------------------------------------------- long work


def test_anchors_of_a_file_are_counted_and_kept_for_another_run(tmp_path, rng, monkeypatch):
    np.save(tmp_path / "X.npy", rng.normal(size=(400, 6)))
    criterion, told, run = LaplacianScore(Anchors(12)), [], {"folder": tmp_path / "blocks", "fingerprint": "same"}
    expected = criterion.evaluate(open_source(tmp_path / "X.npy"))

    def interrupted():
        with Run(lambda *step: told.append(step), **run):
            criterion.evaluate(open_source(tmp_path / "X.npy"))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [done for done, _, what in told if what == "anchors" and 0 < done < 2]
    monkeypatch.setattr("fiedler.graphs.anchors.choose_anchors", None)  # they are not chosen again
    with Run(**run):
        np.testing.assert_array_equal(criterion.evaluate(open_source(tmp_path / "X.npy")), expected)


def test_rows_of_a_sample_and_rounds_of_agreement_are_counted(tmp_path, rng):
    np.save(tmp_path / "X.npy", rng.normal(size=(4000, 6)) + rng.normal(size=(4000, 1)))
    told, source = [], open_source(tmp_path / "X.npy")
    with Run(lambda *step: told.append(step)), config_context(working_memory=0.2):
        agreeing(source)
    assert {(total, what) for _, total, what in told} == {(6, "rounds of agreement")}
    inner = [done for done, *_ in told if 0 < done < 1]
    assert len(inner) > 3  # the rows of the sample are read in several blocks


def test_a_set_of_a_file_that_is_too_large_is_refused_before_its_graph_is_built(tmp_path, rng):
    np.save(tmp_path / "X.npy", rng.normal(size=(12_100, 40)))
    told, selector = [], SpectralSelector("subset", n_features_to_select=2, screen=None)
    source = open_source(tmp_path / "X.npy")
    refused = pytest.raises(ValueError, match="need K over 12100 rows")
    with refused, Run(lambda *step: told.append(step[2])), config_context(working_memory=0.5):
        selector.fit(source)
    assert "neighbours" not in told


# -------------------------------------------------------------------- layouts of files


@pytest.mark.parametrize("header", ["size, mm;weight, kg;kind", "size, mm;weight;kind", "size, in mm, wet;weight;kind"])
@pytest.mark.filterwarnings("ignore:.*decimal comma:UserWarning", "ignore:.*not purely:UserWarning")
def test_commas_in_the_header_of_a_file_with_semicolons_and_decimal_commas(tmp_path, header):
    (tmp_path / "t.csv").write_text(header + "\n" + "\n".join(f"{i % 7},5;{i % 3},25;k{i % 2}" for i in range(30)))
    table = read_table(tmp_path / "t.csv", target="kind")
    assert table.feature_names.tolist() == header.split(";")[:2]
    np.testing.assert_array_equal(table.X[1], [1.5, 1.25])


@pytest.mark.parametrize("title", ["", "Results of May\n\n"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.filterwarnings("ignore:.*title:UserWarning")
def test_names_of_several_lines(tmp_path, delimiter, title):
    names = ['"size; in\nmm, wet | dry"', "b", *[f'"c{j}\n(kg)"' for j in range(30)]]
    rows = [delimiter.join([f"{i % 7}.5", *"12" * 15, f"{i}.25"]) for i in range(30)]
    (tmp_path / "t.csv").write_text(title + delimiter.join(names) + "\n" + "\n".join(rows))
    table = read_table(tmp_path / "t.csv")
    assert table.feature_names.tolist() == [name.strip('"') for name in names]
    assert table.shape == (30, 32)


ABOVE = {
    "two rows of two cells": ["Operator,Smith,,", "Date,2024-05-01,,"],
    "rows of their own width": ["Operator,Smith", "Made with,X 200"],
    "groups of columns": [",Measured,,Computed"],
    "a title and a row": ["Results,,,", "Operator,Smith,Batch,"],
}


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
@pytest.mark.parametrize("above", ABOVE.values(), ids=ABOVE)
@pytest.mark.filterwarnings("ignore:.*title:UserWarning")
def test_rows_above_the_header(tmp_path, above, suffix):
    rows = [*(line.split(",") for line in above), list("abcd"), *([f"k{i}", i % 7, i % 5, i + 0.5] for i in range(30))]
    if suffix == "csv":
        (tmp_path / "t.csv").write_text("\n".join(",".join(map(str, row)) for row in rows))
    else:
        book = pytest.importorskip("openpyxl").Workbook()
        for row in rows:
            book.active.append([cell if cell != "" else None for cell in row])
        book.save(tmp_path / "t.xlsx")
    table = read_table(tmp_path / f"t.{suffix}", id_column="a")
    assert table.feature_names.tolist() == ["b", "c", "d"]
    assert table.shape == (30, 3)
