"""Columns of different spread: the warning, the parameter ``scale``, and names of columns that are numbers."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from click.testing import CliRunner
from sklearn.datasets import load_digits, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from fiedler import FisherScore, LaplacianScore, Problem, ScaleWarning, SpectralSelector
from fiedler.cli import main
from fiedler.data.arrays import scaled, uneven_columns
from fiedler.sources import open_source


@pytest.fixture
def uneven(rng):
    """Thirty columns, of which one is 10,000 times as wide as the others."""
    X = rng.normal(size=(60, 30))
    X[:, 7] *= 1e4
    return pd.DataFrame(X, columns=[f"c{j}" for j in range(30)])


def test_one_wide_column_is_told_by_fit_and_evaluate(uneven):
    message = r"spread by a factor of [\d,]+: 'c7' \([\d.e+]+\) against 'c\d+' .* subset reads columns"
    with pytest.warns(ScaleWarning, match=message) as caught:
        SpectralSelector().fit(uneven)
    assert "scale='standard' or scale='minmax', or keep them with scale='keep'." in str(caught[0].message)
    with pytest.warns(ScaleWarning, match="'c7'.*sklearn.preprocessing.StandardScaler") as caught:
        LaplacianScore().evaluate(uneven)
    assert caught[0].filename == __file__


def test_no_warning_where_it_would_not_help(uneven, rng):
    y = np.arange(60) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FisherScore().evaluate(uneven, y)  # does not depend on units
        for how in ("standard", "minmax", "keep"):
            SpectralSelector(scale=how).fit(uneven)
        for scaler in (StandardScaler(), MinMaxScaler(), MaxAbsScaler()):
            make_pipeline(scaler, SpectralSelector()).fit(uneven)
        SpectralSelector().fit(load_digits().data)  # pixels at the border hardly vary, but have the unit of the others
        SpectralSelector().fit(rng.normal(size=(40, 5)) * [1, 10, 100, 500, 1])
        SpectralSelector().fit(np.column_stack([rng.normal(size=(40, 3)), np.full(40, 1e6)]))  # a constant


def test_some_rows_are_confirmed_by_all_rows(rng):
    X = rng.normal(size=(4000, 3))
    X[:, 2] *= 1e-5
    assert uneven_columns(X).factor > 1e4
    X[1, 2] = 1e3  # between the rows that are looked at first
    rows = np.linspace(0, 3999, 1000).astype(int)
    assert 1 not in rows
    assert uneven_columns(X) is None


def test_the_narrowest_of_many_columns_do_not_count(rng):
    X = rng.normal(size=(50, 100))
    X[:, :4] *= 1e-5
    assert uneven_columns(X) is None
    X[:, :8] *= 1e-5
    assert {j for j, _ in uneven_columns(X).narrow} <= set(range(8))


@pytest.mark.parametrize("kind", [np.asarray, sp.csc_array])
def test_spreads_are_those_of_numpy(kind, rng):
    X = np.abs(rng.normal(size=(60, 80))) * np.logspace(-3, 3, 80)
    found = uneven_columns(kind(X))
    deviation = X.std(axis=0)
    assert [j for j, _ in found.wide] == [79, 78, 77]
    np.testing.assert_allclose([s for _, s in found.wide], deviation[[79, 78, 77]])
    np.testing.assert_allclose(found.factor, deviation.max() / np.sort(deviation)[3])
    holes = X.copy()
    holes[rng.random(X.shape) < 0.2] = np.nan
    np.testing.assert_allclose(dict(uneven_columns(holes).wide)[79], np.nanstd(holes[:, 79]))


@pytest.mark.parametrize("how", ["standard", "minmax"])
@pytest.mark.parametrize("criterion", ["laplacian", "subset"])
def test_scale_changes_what_is_read_and_not_what_is_returned(how, criterion, uneven):
    selector = SpectralSelector(criterion, n_features_to_select=5, scale=how).fit(uneven)
    expected = SpectralSelector(criterion, n_features_to_select=5).fit(scaled(uneven.to_numpy(), how))
    np.testing.assert_array_equal(selector.order_, expected.order_)
    np.testing.assert_allclose(selector.scores_, expected.scores_)
    out = selector.set_output(transform="pandas").transform(uneven)
    pd.testing.assert_frame_equal(out, uneven.loc[:, selector.support_])
    kept = SpectralSelector(criterion, n_features_to_select=5, scale="keep").fit(uneven)
    assert kept.order_.tolist() != selector.order_.tolist()


def test_a_problem_is_scaled_once(uneven, monkeypatch):
    from fiedler import problem as module

    times = []
    plain = module.scaled
    monkeypatch.setattr(module, "scaled", lambda X, how: times.append(how) or plain(X, how))
    problem = Problem.of(uneven)
    for criterion in ("laplacian", "subset", "laplacian"):
        SpectralSelector(criterion, scale="standard").fit(problem)
    assert times == ["standard"]


def test_what_scale_can_be(uneven):
    with pytest.raises(ValueError, match="scale must be one of 'standard', 'minmax', 'keep', got 'robust'"):
        SpectralSelector(scale="robust").fit(uneven)


def test_a_source_is_not_looked_at_and_not_scaled(uneven, tmp_path):
    np.save(tmp_path / "X.npy", uneven.to_numpy())
    source = open_source(tmp_path / "X.npy")
    SpectralSelector().fit(source)  # a warning would be an error here
    with pytest.raises(ValueError, match="scale='standard' needs all of"):
        SpectralSelector(scale="standard").fit(source)


def test_the_report_reads_the_scaled_columns():
    from fiedler.report import summarize

    X, y = load_wine(return_X_y=True, as_frame=True)
    selector = SpectralSelector("laplacian", n_features_to_select=3, scale="standard").fit(X)
    given = SpectralSelector("laplacian", n_features_to_select=3).fit(StandardScaler().fit_transform(X))
    ours = summarize(selector, X, y)
    theirs = summarize(given, StandardScaler().fit_transform(X), y, feature_names=list(X.columns))
    assert ours["graph"] == theirs["graph"]


def test_on_the_command_line(tmp_path, uneven):
    uneven.to_csv(tmp_path / "t.csv", index=False)
    told = CliRunner().invoke(main, ["rank", str(tmp_path / "t.csv")]).output
    assert "note: columns differ in spread" in told
    assert "--scale standard or --scale minmax, or keep them with --scale keep" in told
    for how in ("standard", "minmax", "keep", "none"):
        result = CliRunner().invoke(main, ["rank", str(tmp_path / "t.csv"), "--scale", how])
        assert result.exit_code == 0
        assert "spread" not in result.output


@pytest.mark.parametrize("names", [[400.5, 401.0, 401.5, 402.0], [1000, 900, 800, 700]], ids=["floats", "integers"])
def test_names_that_are_numbers_are_kept(names, rng):
    frame = pd.DataFrame(rng.normal(size=(30, 4)), columns=names)
    selector = SpectralSelector(n_features_to_select=2, include=[str(names[3])]).fit(frame)
    chosen = [str(name) for name in np.array(names)[selector.support_]]
    assert selector.get_feature_names_out().tolist() == chosen
    assert selector.feature_names_in_.tolist() == [str(name) for name in names]
    np.testing.assert_array_equal(selector.transform(frame), frame.to_numpy()[:, selector.support_])
    out = selector.set_output(transform="pandas").transform(frame)
    assert out.columns.tolist() == chosen
    assert frame.columns.tolist() == names, "the frame of the user is not touched"


def test_numbered_columns_have_no_names(rng):
    selector = SpectralSelector(n_features_to_select=2).fit(pd.DataFrame(rng.normal(size=(30, 4))))
    assert not hasattr(selector, "feature_names_in_")
    assert set(selector.get_feature_names_out()) < {"x0", "x1", "x2", "x3"}


@pytest.mark.filterwarnings("ignore::fiedler.TableWarning")
def test_categories_are_not_scaled_and_numbers_beside_them_need_no_warning(rng):
    frame = pd.DataFrame({"a": rng.normal(size=50) * 1e6, "b": rng.normal(size=50), "c": rng.choice(["u", "v"], 50)})
    plain = SpectralSelector("laplacian").fit(frame)  # a ScaleWarning would be an error here
    standard = SpectralSelector("laplacian", scale="standard").fit(frame)
    np.testing.assert_allclose(standard.scores_, plain.scores_)
    problem = Problem.of(frame).scaled("minmax")
    assert problem.X.min() >= 0.0
    assert problem.X.max() <= 1.0


def test_holes_are_filled_on_the_scale_that_is_read(uneven):
    X = uneven.to_numpy().copy()
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    ours = SpectralSelector("laplacian", scale="standard").fit(X)
    theirs = SpectralSelector("laplacian").fit(StandardScaler().fit_transform(X))
    np.testing.assert_allclose(ours.scores_, theirs.scores_)
