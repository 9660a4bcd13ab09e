"""The displays follow scikit-learn's convention and show what they are given."""

import io
import sys

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib", reason="the displays need the extra 'report'")
matplotlib.use("Agg")

from matplotlib.figure import Figure  # noqa: E402

import fiedler  # noqa: E402
from fiedler import (  # noqa: E402
    KNN,
    AxisDisplay,
    ConstraintScore,
    CurveDisplay,
    Disagreement,
    ExplanationDisplay,
    PartsDisplay,
    RankingDisplay,
    Rayleigh,
    SpectralSelector,
    StabilityDisplay,
)
from fiedler.evaluate import (  # noqa: E402
    accuracy_curve,
    compare,
    good_against_bad,
    jaccard_curve,
    label_budget,
    stability,
    tune,
    tune_lambda,
)
from fiedler.evaluate.tuning import turning_point  # noqa: E402


@pytest.fixture
def ax():
    return Figure().add_subplot()


@pytest.fixture(autouse=True)
def closed():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def names_on(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_ranking(ax, blobs):
    X, y = blobs
    names = [*"abcdefg", "$h_0$"]
    selector = SpectralSelector("fisher", n_features_to_select=3).fit(X, y)
    display = RankingDisplay.from_selector(selector, n_features=8, feature_names=names, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert names_on(ax) == [names[j] for j in selector.order_]
    assert [bar.get_width() for bar in display.bars_] == selector.scores_[selector.order_].tolist()
    colours = [bar.get_facecolor() for bar in display.bars_]
    assert len(set(colours[:3])) == 1
    assert colours[2] != colours[3]
    assert "large is good" in ax.get_xlabel()
    ax.figure.savefig(io.BytesIO(), format="svg")  # a dollar sign starts no formula


def test_curves_of_budgets_curves_tunings_and_scores(ax, blobs):
    X, y = blobs
    result = label_budget(["fisher", "laplacian"], X, y, [6, 9], n_features=3, n_draws=2, n_jobs=1)
    display = CurveDisplay.from_result(result, ax=ax)
    assert display.axis == ax.get_xlabel() == "number of labels"
    mean = result.summary()["methods"]["fisher"]["accuracy"]["mean"]
    np.testing.assert_array_equal(display.lines_["fisher"].get_xydata(), np.column_stack([[6, 9], mean]))
    order = np.arange(8)
    curves = {name: jaccard_curve(X, order[::step], n_features=[2, 4]) for name, step in (("up", 1), ("down", -1))}
    drawn = CurveDisplay.from_result(curves).lines_
    np.testing.assert_array_equal(drawn["down"].get_ydata(), curves["down"].mean)
    assert list(CurveDisplay.from_result(curves["up"]).lines_) == ["jaccard"]
    tuning = tune("laplacian", {"graph__n_neighbors": [3, 6]}, X, y, n_features=3)
    display = CurveDisplay.from_result(tuning)
    np.testing.assert_array_equal(display.lines_["LaplacianScore"].get_ydata(), tuning.table["cut"])
    assert (display.axis, display.metric) == ("graph__n_neighbors", "cut value")
    selector = SpectralSelector("evsc", n_features_to_select=3).fit(X)
    (line,) = CurveDisplay.from_scores(selector).lines_.values()
    np.testing.assert_array_equal(line.get_ydata(), selector.scores_[selector.order_])
    (turn,) = [each.get_xdata()[0] for each in line.axes.lines if each is not line]
    assert turn == turning_point(selector.scores_[selector.order_])[0]
    two = tune("laplacian", {"graph__n_neighbors": [3], "graph__weight": ["rbf"]}, X, n_features=3)
    with pytest.raises(ValueError, match="one parameter with numbers, got graph__n_neighbors, graph__weight"):
        CurveDisplay.from_result(two)
    with pytest.raises(ValueError, match="metric='rmse' was not compared; use one of 'accuracy'"):
        CurveDisplay.from_result(result, metric="rmse")


def test_good_against_bad_features(ax, blobs):
    X, y = blobs
    for metric, options in (("jaccard", {}), ("clustering_accuracy", {"n_repeats": 2})):
        pair = good_against_bad(X, y, np.arange(8), metric=metric, n_features=[2, 4], **options)
        lines = CurveDisplay.from_result(pair, ax=ax).lines_
        for name, curve in zip(("first features", "last features"), pair, strict=True):
            np.testing.assert_array_equal(lines[name].get_ydata(), curve.values.mean(axis=0))
    assert ax.get_ylabel() == "clustering accuracy"


def test_lambda_against_cut_and_accuracy(ax, blobs):
    X, y = blobs
    few = np.where(np.arange(len(y)) % 5 == 0, y, -1)
    tuning = tune_lambda(X, few, [0.1, 0.9], 3, y_true=y)
    display = CurveDisplay.from_result(tuning, ax=ax)
    np.testing.assert_array_equal(display.lines_["cut value"].get_ydata(), tuning.table["cut"])
    left, right = ax.figure.axes
    assert (left.get_ylabel(), right.get_ylabel()) == ("cut value", "accuracy")
    assert display.lines_["accuracy"].axes is right
    assert [text.get_text() for text in left.get_legend().get_texts()] == ["cut value", "accuracy"]
    for lam, found in zip([0.1, 0.9], display.lines_["accuracy"].get_ydata(), strict=True):
        order = np.argsort(lam * Rayleigh(KNN()).evaluate(X) + (1 - lam) * Disagreement(KNN()).evaluate(X, few))
        assert found == accuracy_curve(X, y, order, n_features=[3], n_repeats=5).mean[0]


def test_rank_sums_of_a_comparison(ax, blobs):
    X, y = blobs
    result = compare(["fisher", "laplacian"], X, y, n_features=[1, 3], n_labels=9, n_draws=4, n_jobs=1)
    display = RankingDisplay.from_comparison(result, n_features=1, ax=ax)
    sums = {name: values[0] for name, values in result.rank_sums().items()}
    assert [bar.get_width() for bar in display.bars_] == sorted(sums.values())
    assert [sums[name] for name in names_on(ax)] == sorted(sums.values())
    assert display.n_selected == list(sums.values()).count(min(sums.values()))
    assert ax.get_xlabel() == "rank sum over 4 draws (small is good)"
    assert ax.get_title() == "accuracy, 1 feature"
    two = RankingDisplay.from_comparison(result, methods=["laplacian", "fisher"])
    assert set(two.features) == {"laplacian", "fisher"}
    assert two.name == "accuracy, 3 features"
    with pytest.raises(ValueError, match="n_features=2 was not compared; use one of 1, 3"):
        RankingDisplay.from_comparison(result, n_features=2)


def test_the_two_parts_of_a_score(ax, blobs):
    X, y = blobs
    few = np.where(np.arange(len(y)) % 5 == 0, y, -1)
    parts = [Rayleigh(KNN()).evaluate(X), Disagreement(KNN()).evaluate(X, few)]
    for lam in (0.3, "auto"):
        selector = SpectralSelector(fiedler.SSelect(lam=lam), n_features_to_select=3, screen=None).fit(X, few)
        display = PartsDisplay.from_selector(selector, X, few, ax=ax)
        np.testing.assert_allclose(display.parts, parts)
        np.testing.assert_array_equal(display.selected, selector.support_)
        np.testing.assert_allclose(display.dots_.get_offsets()[-3:].T, display.parts[:, selector.support_])
    colours = display.dots_.get_facecolors()
    assert len(np.unique(colours[-3:], axis=0)) == 1
    assert not np.array_equal(colours[0], colours[-1])
    assert ax.get_xlabel() == "Rayleigh(KNN()) (small is good)"
    assert ax.get_title() == "3 of 8 features selected"


def test_the_parts_are_those_of_the_fit(rng, blobs):
    X, y = blobs
    pairs = {"must_link": [[0, 1], [16, 17]], "cannot_link": [[0, 16], [1, 40]]}
    product = SpectralSelector(ConstraintScore(4), n_features_to_select=2, scale="standard").fit(X, **pairs)
    left, right = PartsDisplay.from_selector(product, X, **pairs).parts
    np.testing.assert_allclose(left * right, product.scores_)
    noisy = np.column_stack([X[:, :4], rng.normal(size=(45, 30))])
    screened = SpectralSelector("sselect", n_features_to_select=2, screen="agreement").fit(noisy, y)
    display = PartsDisplay.from_selector(screened, noisy, y)
    assert not screened.kept_.all()
    np.testing.assert_allclose([0.1, 0.9] @ display.parts, screened.scores_[screened.kept_])
    assert display.features == [f"x{j}" for j in np.flatnonzero(screened.kept_)]
    with pytest.raises(ValueError, match=r"LaplacianScore\(\) is not a sum or a product .* such as 'sselect'"):
        PartsDisplay.from_selector(SpectralSelector("laplacian").fit(X), X)


def test_a_set_shows_its_gains_sorted(ax, blobs):
    X, y = blobs
    selector = SpectralSelector("subset", n_features_to_select=4).fit(1e6 * X, y)
    display = RankingDisplay.from_selector(selector, ax=ax)
    widths = np.array([bar.get_width() for bar in display.bars_])
    assert (np.diff(widths[:4]) <= 0).all()
    assert (np.diff(widths[4:]) <= 0).all()
    assert widths[:4].sum() == pytest.approx(selector.explained_[3])  # shares, in whatever unit X is
    assert set(names_on(ax)[:4]) == {f"x{j}" for j in selector.order_[:4]}
    assert "gain" in ax.get_xlabel()
    page = selector._repr_html_inner()
    assert f"{selector.gains_[selector.order_[0]]:.5g}" in page
    assert "gain" in page


def test_explanation(ax, blobs):
    X, y = blobs
    X = np.column_stack([X, X[:, 0] + 1e-3 * np.arange(45)])
    selector = SpectralSelector("subset", n_features_to_select=4).fit(X)
    told = selector.explain(X)
    display = ExplanationDisplay.from_explanation(told, ax=ax)
    ends = [bar.get_x() + bar.get_width() for bar in display.bars_]
    np.testing.assert_allclose(ends, selector.explained_)
    np.testing.assert_allclose([bar.get_x() for bar in display.bars_], [0, *selector.explained_[:-1]], atol=1e-12)
    assert names_on(ax) == [f"x{j}" for j in selector.order_[:4]]
    written = [text.get_text() for text in ax.texts]
    assert sorted(written) == sorted(f"+{n} near {'copy' if n == 1 else 'copies'}" for n in display.copies if n)
    assert written
    ranked = SpectralSelector("fisher", n_features_to_select=3).fit(X, y).explain(X)
    shown = ExplanationDisplay.from_explanation(ranked, n_features=2)
    assert [bar.get_width() for bar in shown.bars_] == ranked.lead[ranked.chosen[:2]].tolist()
    assert "standard deviations" in shown.ax_.get_xlabel()
    everything = SpectralSelector("fisher", n_features_to_select=9).fit(X, y).explain()
    assert ExplanationDisplay.from_explanation(everything).figure_ is not None  # there is no rest to lead


def test_ranking_draws_again_on_other_axes(ax, blobs):
    X, y = blobs
    display = RankingDisplay.from_selector(SpectralSelector("fisher").fit(X, y), n_features=2)
    assert display.ax_ is not ax
    assert display.plot(ax, color="red") is display
    assert display.ax_ is ax
    assert len(display.bars_) == 2


def test_a_display_has_the_colours_of_the_current_style(blobs):
    import matplotlib.pyplot as plt
    from matplotlib.colors import to_rgb

    X, y = blobs
    selector = SpectralSelector("fisher", n_features_to_select=1).fit(X, y)
    for style in ("default", "dark_background"):
        with plt.style.context(style):
            cycle = plt.rcParams["axes.prop_cycle"].by_key()["color"]
            selected, other = (bar.get_facecolor() for bar in RankingDisplay.from_selector(selector).bars_[:2])
            assert selected[:3] == pytest.approx(to_rgb(cycle[0]))
            ink, ground = (np.mean(to_rgb(plt.rcParams[key])) for key in ("text.color", "axes.facecolor"))
            assert np.mean(other[:3]) == pytest.approx((ink + ground) / 2, abs=0.01)


def test_curves(ax, blobs):
    X, y = blobs
    result = compare(["fisher", "laplacian"], X, y, n_features=[1, 3], n_labels=9, n_draws=3, n_jobs=1)
    display = CurveDisplay.from_comparison(result, ax=ax)
    assert list(display.lines_) == ["fisher", "laplacian", "variance", "random", "all"]
    line = display.lines_["fisher"]
    np.testing.assert_allclose(line.get_ydata(), result.values("fisher").mean(axis=0))
    assert line.get_xdata().tolist() == [1, 3]
    assert ax.get_ylabel() == "accuracy"
    assert list(CurveDisplay.from_comparison(result, methods=["fisher"]).lines_) == ["fisher"]
    with pytest.raises(ValueError, match="metric='nmi' was not compared; use one of 'accuracy'"):
        CurveDisplay.from_comparison(result, metric="nmi")
    with pytest.raises(ValueError, match="no method 'spec'"):
        CurveDisplay.from_comparison(result, methods=["spec"])


def test_stability(blobs):
    X, y = blobs
    result = stability("fisher", X, y, k=3, n_draws=6)
    axes = Figure().subplots(1, 2)
    display = StabilityDisplay.from_stability(result, n_features=5, feature_names=list("abcdefgh"), ax=axes)
    left, right = display.axes_
    assert left is axes[0]
    assert display.figure_ is left.figure
    widths = [bar.get_width() for bar in display.bars_]
    assert widths == sorted(result.frequency, reverse=True)[:5]
    assert len(names_on(left)) == 5
    assert "6 draws among the first 3" in left.get_xlabel()
    shown = np.lexsort((result.rank_median, -result.frequency))[:5]
    dots = right.collections[-1].get_offsets()
    np.testing.assert_array_equal(dots[:, 0], np.asarray(result.rank_median)[shown])
    assert names_on(StabilityDisplay.from_stability(result).axes_[0])[0] == str(shown[0])


def test_public_names_and_the_missing_extra(monkeypatch, blobs):
    X, y = blobs
    assert {"RankingDisplay", "summarize"} < set(fiedler.__all__)
    assert not [name for name in fiedler.__all__ if name.startswith("plot_")]
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'fiedler\[report\]'"):
        RankingDisplay.from_selector(SpectralSelector("fisher").fit(X, y))


def test_ranking_needs_names_for_all(blobs):
    X, y = blobs
    with pytest.raises(ValueError, match="feature_names has 2 names for the 8 features"):
        RankingDisplay.from_selector(SpectralSelector("fisher").fit(X, y), feature_names=["a", "b"])


def test_axis_display_marks_what_is_chosen_over_its_axis():
    rng, y = np.random.default_rng(0), np.repeat(["dry", "wet"], 20)
    X = rng.normal(size=(40, 30))
    X[:, 10:13] += 3 * (y == "wet")[:, None]
    selector = SpectralSelector("fisher", n_features_to_select=3).fit(X, y)
    display = AxisDisplay.from_selector(selector, X, y, axis=np.arange(30) * 0.5, xlabel="time (s)")
    above, below = display.axes_
    assert sorted(display.dots_.get_offsets()[:, 0]) == [5.0, 5.5, 6.0]
    assert [text.get_text() for text in above.get_legend().get_texts()] == ["dry", "wet"]
    np.testing.assert_allclose(above.get_lines()[1].get_ydata(), X[y == "wet"].mean(axis=0))
    assert below.get_xlabel() == "time (s)"
    one = AxisDisplay.from_selector(selector, X, axis=np.arange(30))
    np.testing.assert_allclose(one.profiles, [X.mean(axis=0)])
    with pytest.raises(ValueError, match="pass axis="):
        AxisDisplay.from_selector(selector, X)
    with pytest.raises(ValueError, match="30 ascending or descending numbers"):
        AxisDisplay.from_selector(selector, X, axis=np.zeros(30))
