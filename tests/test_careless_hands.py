"""What careless hands do to a library: wrong kinds of labels, distances for similarities, numbers without bounds."""

import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_diabetes, load_wine
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import KNeighborsRegressor, kneighbors_graph

from fiedler import KNN, METHODS, LaplacianScore, Precomputed, ReliefF, SpectralSelector, Supervision, Variance
from fiedler.data.arrays import scaled, uneven_columns
from fiedler.evaluate import compare, jaccard_curve, stability
from fiedler.report import summarize

WINE = load_wine().data / load_wine().data.std(axis=0)


# ---------------------------------------------------------------- classes or a target


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (["a", "b", "a"], "classes"),
        ([True, False, True], "classes"),
        (np.repeat([3, 7, 12], 5), "classes"),
        (np.arange(40), "classes"),  # one row each, but they count up: codes
        (np.arange(1, 11), "classes"),
        ([0.5, 1.5, 2.0], "target"),
        (load_diabetes().target, "target"),
        (np.arange(300), "target"),
        ([3, 17, 40, 41, 90], "target"),
        (np.r_[np.full(50, -1), [4, 9, 4, 9]], "classes"),
        (np.r_[np.full(50, np.nan), [4, 9, 30, 2]], "target"),
        (None, "nothing"),
    ],
)
def test_classes_or_a_target_by_a_stated_rule(y, task):
    assert Supervision(0 if y is None else len(y), y).task() == task


def test_what_is_stated_holds():
    known = Supervision(4, [3, 17, 40, 41])
    assert known.task("classes") == "classes"
    with pytest.raises(ValueError, match="task must be one of 'auto', 'classes', 'target', got 'regression'"):
        known.task("regression")


def test_compare_reads_a_whole_number_target_as_one(few_random_draws):
    X, y = load_diabetes(return_X_y=True)
    options = {"n_features": [2], "n_draws": 1, "n_jobs": 1}
    assert compare(["correlation"], X, y, **options).settings["metrics"] == ["rmse"]
    few = (y // 100).astype(int)
    assert compare(["fisher"], X, few, **options).settings["metrics"] == ["accuracy"]
    assert compare(["correlation"], X, few, task="target", **options).settings["metrics"] == ["rmse"]
    with pytest.raises(ValueError, match="task='classes' does not fit estimator=KNeighborsRegressor"):
        compare(["fisher"], X, few, task="classes", estimator=KNeighborsRegressor(), **options)


# ---------------------------------------------------------------- scale


def test_columns_of_very_different_spread_are_told_and_can_be_scaled(few_random_draws):
    X = np.random.default_rng(0).normal(size=(60, 8)) * [1, 1, 1, 1, 1e4, 1e4, 1e4, 1e4]
    uneven = uneven_columns(X)
    assert min(j for j, _ in uneven.wide) >= 4 > max(j for j, _ in uneven.narrow)
    assert uneven.factor > 5000
    assert uneven_columns(scaled(X, "standard")) is None
    np.testing.assert_allclose(scaled(X, "standard").std(axis=0), 1.0)
    np.testing.assert_allclose(scaled(X, "minmax").max(axis=0), 1.0)
    sparse = sp.csc_array(np.where(X > 0, X, 0.0))
    assert scaled(sparse, "minmax").nnz == sparse.nnz
    assert scaled(X, "keep") is X
    y = np.arange(60) % 2
    options = {"n_features": [2], "n_draws": 2, "n_jobs": 1, "n_labels": 10}
    ours = compare(["laplacian"], X, y, scale="standard", **options)
    np.testing.assert_array_equal(
        ours.table["value"], compare(["laplacian"], scaled(X, "standard"), y, **options).table["value"]
    )
    with pytest.raises(ValueError, match="scale must be one of 'standard', 'minmax', 'keep', got 'robust'"):
        compare(["laplacian"], X, y, scale="robust", **options)


# ---------------------------------------------------------------- distances for similarities


def test_distances_taken_as_similarities_are_told():
    D = kneighbors_graph(WINE, 10, mode="distance")
    D = D.maximum(D.T)
    for W in (D, pairwise_distances(WINE)):
        with pytest.warns(UserWarning, match=r"W seems to hold distances.*use Precomputed\(W, distances=True\)"):
            Precomputed(W).build(WINE)


def test_distances_become_the_weights_of_the_neighbour_graph():
    D = kneighbors_graph(WINE, 10, mode="distance")
    given, own = Precomputed(D.maximum(D.T), distances=True).build(WINE), KNN(10).build(WINE)
    np.testing.assert_allclose(given.toarray(), own.toarray(), rtol=1e-10)
    assert given.bandwidth == pytest.approx(own.bandwidth)
    full = Precomputed(pairwise_distances(WINE), distances=True, bandwidth=2.0).build(WINE)
    np.testing.assert_allclose(full.toarray()[0, 1], np.exp(-np.sum((WINE[0] - WINE[1]) ** 2) / 8.0))
    assert (np.diag(full.toarray()) == 0).all()
    with pytest.raises(ValueError, match="bandwidth must be a positive number"):
        Precomputed(D.maximum(D.T), distances=True, bandwidth=0).build(WINE)


@pytest.mark.filterwarnings("error")
def test_similarities_and_graphs_of_something_else_are_taken_in_silence():
    rng = np.random.default_rng(0)
    other = rng.random((len(WINE), len(WINE)))
    other = np.where(np.eye(len(WINE)), 0.0, other + other.T)
    for W in (KNN().build(WINE).toarray(), np.exp(-pairwise_distances(WINE)), other, other > 1):
        Precomputed(W).build(WINE)


# ---------------------------------------------------------------- numbers without bounds


@pytest.mark.parametrize("criterion", [LaplacianScore(), Variance(), ReliefF(), METHODS["fisher"]()])
@pytest.mark.parametrize("kind", [np.asarray, sp.csc_array])
def test_values_whose_squares_overflow_name_their_column(criterion, kind):
    X = np.random.default_rng(0).normal(size=(40, 3))
    X[:, 1] *= 1e200
    with pytest.raises(ValueError, match=r"as large as .*e\+200 in column 1, whose squares overflow; divide"):
        criterion.evaluate(kind(X), np.arange(40) % 2)


def test_values_beyond_single_precision_are_compared_in_double():
    X = np.random.default_rng(0).normal(size=(700, 2100))
    expected = LaplacianScore().evaluate(X)
    np.testing.assert_allclose(LaplacianScore().evaluate(1e40 * X), expected, rtol=1e-9)


# ---------------------------------------------------------------- a fit that fails


def test_a_fit_that_fails_leaves_the_selector_as_it_was():
    frame = pytest.importorskip("pandas").DataFrame(WINE, columns=[f"f{j}" for j in range(13)])
    selector = SpectralSelector(n_features_to_select=3).fit(frame)
    before = {name: np.copy(value) for name, value in vars(selector).items() if name.endswith("_")}
    for bad in (
        np.full((20, 5), np.nan),
        frame[["f0"]].assign(f0=[f"name {i}" for i in range(len(frame))]),
        np.ones((1, 4)),
    ):
        with pytest.raises(ValueError, match=r"too few known values|no column that can be used|minimum"):
            selector.fit(bad)
    selector.set_params(criterion="fisher")
    with pytest.raises(ValueError, match="requires y"):
        selector.fit(WINE[:, :5])
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(selector, name), value)
    assert selector.get_feature_names_out().tolist() == frame.columns[selector.support_].tolist()


def test_an_interrupted_fit_leaves_the_selector_as_it_was(monkeypatch):
    selector = SpectralSelector(n_features_to_select=3).fit(WINE)
    scores = selector.scores_.copy()

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("fiedler.selector.choose", interrupted)
    with pytest.raises(KeyboardInterrupt):
        selector.fit(WINE[:, :4])
    assert selector.n_features_in_ == 13
    np.testing.assert_array_equal(selector.scores_, scores)
    assert selector.transform(WINE).shape == (178, 3)


def test_names_go_where_the_next_data_have_none():
    frame = pytest.importorskip("pandas").DataFrame(WINE, columns=[f"f{j}" for j in range(13)])
    selector = SpectralSelector(n_features_to_select=3).fit(frame).fit(WINE)
    assert not hasattr(selector, "feature_names_in_")


def test_a_label_per_row_warns_nobody_where_it_is_meant():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LaplacianScore().evaluate(WINE, np.arange(len(WINE)))


# ---------------------------------------------------------------- every method, whatever is known about the rows

_RNG = np.random.default_rng(0)
_CLASSES = np.arange(30) % 3
_X = _RNG.normal(size=(30, 6)) + np.outer(_CLASSES, np.linspace(2, 1, 6))
_I, _J = np.array([pair for pair in _RNG.integers(30, size=(60, 2)) if pair[0] != pair[1]]).T
_SAME = _CLASSES[_I] == _CLASSES[_J]
KNOWN = {
    "nothing": {},
    "classes": {"y": _CLASSES},
    "target": {"y": _X[:, 0] + 0.3 * _RNG.normal(size=30)},
    "pairs": {"must_link": np.c_[_I, _J][_SAME][:8], "cannot_link": np.c_[_I, _J][~_SAME][:8]},
}


def suffices(reads, known):
    """Whether a method has what it reads. Classes imply pairs, and classes that are numbers are a target too."""
    enough = {"classes": {"classes"}, "target": {"target", "classes"}, "pairs": {"pairs", "classes"}}
    return all(known in enough[kind] for kind in reads)


def compared(name, known):
    order = SpectralSelector(name, n_features_to_select=4).fit(_X, **known).order_
    result = compare([name], _X, **known, n_features=[2, 4], n_draws=2, n_jobs=1)
    if known.get("y") is None:  # the neighbourhoods of the first features
        expected = jaccard_curve(_X, order[:4], n_features=[2, 4]).mean
        np.testing.assert_array_equal(result.values(name, "jaccard"), [expected])
    else:
        assert set(result.settings["metrics"]) <= {"accuracy", "rmse"}
    assert np.isfinite(result.table["value"]).all()


def drawn(name, known):
    result = stability(name, _X, **known, k=2, n_draws=3)
    assert result.frequency.sum() == pytest.approx(2)


def reported(name, known):
    selector = SpectralSelector(name, n_features_to_select=2).fit(_X, **known)
    summary = summarize(selector, _X, **known)
    assert len(summary["features"]["feature"]) == 6
    assert summary["stability"] is not None


@pytest.mark.usefixtures("few_random_draws")
@pytest.mark.filterwarnings("ignore:.*reads no pairs")
@pytest.mark.parametrize("entry", [compared, drawn, reported], ids=["compare", "stability", "report"])
@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_right_or_says_in_its_own_name_what_it_needs(name, known, entry):
    method = METHODS[name]()
    if suffices(method.reads, known) and not (entry is compared and known == "classes" and "target" in method.reads):
        entry(name, KNOWN[known])
        return
    said = rf"^(method '{name}'|{name}|{re.escape(repr(method))}) (requires|reads) "
    with pytest.raises(ValueError, match=said) as caught:
        entry(name, KNOWN[known])
    message = str(caught.value)
    assert message.endswith(".")
    assert message.count(". ") == 0  # one sentence
    if entry is compared:
        with pytest.raises(ValueError, match=f"^method '{name}' (requires|reads) "):
            compare([name], _X, **KNOWN[known])


def test_compare_shows_pairs_only_to_methods_that_read_them():
    options = {"n_features": [2], "n_draws": 2, "n_jobs": 1, "y": _CLASSES}
    result = compare(["constraint", "laplacian"], _X, **options, **KNOWN["pairs"])
    assert result.settings["n_pairs"] == sum(len(np.unique(pairs, axis=0)) for pairs in KNOWN["pairs"].values())
    alone = SpectralSelector("constraint", n_features_to_select=2).fit(_X, **KNOWN["pairs"]).order_[:2]
    assert all(order == alone.tolist() for order in result.orders["constraint"])
    with pytest.raises(
        ValueError, match="n_pairs=4 draws pairs from the labels, but must_link or cannot_link is given"
    ):
        compare(["constraint"], _X, **options, **KNOWN["pairs"], n_pairs=4)
