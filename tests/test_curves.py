"""Curves against the number of features: folds, plain nearest neighbours, bands, and one clear error each."""

import itertools
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from plain import plain_jaccard
from scipy import stats
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from fiedler.evaluate import (
    Curve,
    accuracy_curve,
    clustering_curve,
    good_against_bad,
    jaccard_curve,
    measures,
    neighborhood_jaccard,
    rank_sums,
    top_k_overlap,
)
from fiedler.evaluate.held_out import folds, read_target, whole_seed


@pytest.mark.parametrize("n_folds", [2, 5, 7])
def test_folds_are_stratified_shuffled_and_cover_the_known_rows(rng, n_folds):
    y = np.repeat([3, 5, 9, -1], [21, 10, 4, 6])
    target = read_target(y, len(y), None, -1)
    splits = folds(target, n_folds, KNeighborsClassifier(1), rng)
    assert sorted(np.concatenate([test for _, test in splits])) == list(range(35))
    for train, test in splits:
        assert sorted([*train, *test]) == list(range(35))
        assert any(np.diff(train) < 0), "training rows are shuffled"
        for label, size in ((3, 21), (5, 10), (9, 4)):
            assert abs(np.sum(y[test] == label) - size / n_folds) < 1


def nearest(X, y, train, test, k):
    """k-NN by hand; predictions as the mean of the neighbours' y."""
    distances = ((X[test][:, None] - X[train][None]) ** 2).sum(axis=2)
    return y[train][np.argsort(distances, axis=1, kind="stable")[:, :k]].mean(axis=1)


def test_accuracy_and_error_curves_are_plain_nearest_neighbours(blobs, rng):
    X, y = blobs
    order, sizes = rng.permutation(8), [1, 3, 8]
    real = X[:, 0] + rng.normal(size=45)
    for labels, k, metric in ((y, 1, "accuracy"), (real, 5, "rmse")):
        curve = accuracy_curve(X, labels, order, n_features=sizes, n_repeats=2, random_state=7)
        model = KNeighborsClassifier(1) if k == 1 else KNeighborsRegressor(5)
        for repeat in range(2):
            splits = folds(read_target(labels, 45, None, -1), 5, model, np.random.default_rng([7, repeat]))
            for at, size in enumerate(sizes):
                answers = np.empty(45)
                for train, test in splits:
                    answers[test] = nearest(X[:, order[:size]], labels, train, test, k)
                value = np.mean(answers == y) if k == 1 else np.sqrt(np.mean((answers - real) ** 2))
                assert curve.values[repeat, at] == pytest.approx(value, rel=1e-12)
        assert curve.metric == metric
        assert curve.n_features.tolist() == sizes


def test_curves_take_names_unknown_labels_sparse_and_any_estimator(blobs):
    X, y = blobs
    order, options = np.arange(8), {"n_features": [2, 5], "n_repeats": 2}
    values = accuracy_curve(X, y, order, **options).values
    names = np.array(["ant", "bee", "cat"], dtype=object)[y]
    np.testing.assert_array_equal(accuracy_curve(X, names, order, **options).values, values)
    np.testing.assert_array_equal(accuracy_curve(sp.csr_array(X), y, order, **options).values, values)
    wide = np.vstack([X, 100 + X[:5]])  # unknown rows take no part
    np.testing.assert_array_equal(accuracy_curve(wide, [*y, *[-1] * 5], order, **options).values, values)
    forest = [accuracy_curve(X, y, order, estimator=RandomForestClassifier(5), **options).values for _ in range(2)]
    np.testing.assert_array_equal(*forest)
    assert accuracy_curve(X, y, order, estimator=LinearRegression(), **options).metric == "rmse"


def test_large_sparse_selections_stay_sparse(blobs, monkeypatch):
    X, y = blobs
    monkeypatch.setattr(measures, "DENSE_CELLS", 10)
    seen = []

    class Spy(KNeighborsClassifier):
        def fit(self, X, y):
            seen.append(sp.issparse(X))
            return super().fit(X, y)

    accuracy_curve(sp.csr_array(np.round(X)), y, np.arange(8), estimator=Spy(1), n_features=[3], n_repeats=1)
    assert seen == [True] * 5


def test_clustering_curve_is_the_best_of_ten_starts(blobs):
    X, y = blobs
    order = np.array([2, 0, 5, 7])
    for at, size in enumerate((1, 3)):
        seeds = [whole_seed([3, 0, start]) for start in range(10)]
        runs = [KMeans(3, n_init=1, random_state=seed).fit_predict(X[:, order[:size]]) for seed in seeds]
        accuracy = max(max(np.mean(np.array(p)[r] == y) for p in itertools.permutations(range(3))) for r in runs)

        def nmi(a, b):
            joint = np.histogram2d(a, b, bins=3)[0] / len(a)
            outer = np.outer(joint.sum(1), joint.sum(0))
            information = np.sum(joint[joint > 0] * np.log(joint[joint > 0] / outer[joint > 0]))
            return information / max(stats.entropy(joint.sum(0)), stats.entropy(joint.sum(1)))

        options = {"n_features": [1, 3], "random_state": 3}
        assert clustering_curve(X, y, order, **options).values[0, at] == pytest.approx(accuracy)
        found = clustering_curve(X, y, order, metric="nmi", **options).values[0, at]
        assert found == pytest.approx(max(nmi(y, r) for r in runs))


def test_clustering_survives_fewer_distinct_rows_than_clusters():
    X, y = np.repeat([[0.0], [1.0]], 6, axis=0), np.arange(12) % 4
    assert 0.25 <= clustering_curve(X, y, [0]).mean[0] <= 0.5


def test_jaccard_curve_and_good_against_bad(blobs):
    X, y = blobs
    order = np.arange(8)
    kept = jaccard_curve(X, order, n_features=[2, 8], n_neighbors=3)
    assert kept.mean.tolist() == [plain_jaccard(X, [0, 1], 3), 1.0]
    options = {"n_features": [2, 4], "n_repeats": 3}
    good, bad = good_against_bad(X, y, order, **options)
    np.testing.assert_array_equal(good.values, accuracy_curve(X, y, order, **options).values)
    np.testing.assert_array_equal(bad.values, accuracy_curve(X, y, [7, 6, 5, 4], **options).values)
    assert (good.mean > bad.mean + 0.1).all(), "the classes are in the first features"
    for metric in ("clustering_accuracy", "nmi"):
        good, bad = good_against_bad(X, y, order, metric=metric, n_features=[2])
        assert good.metric == metric
        assert good.mean > bad.mean
    assert good_against_bad(X, None, order, metric="jaccard", n_features=[2])[1].mean == plain_jaccard(X, [6, 7], 5)


def test_bands_are_students(rng):
    values = rng.normal(size=(6, 3))
    curve = Curve("accuracy", np.array([5, 10, 15]), values)
    low, high = stats.t.interval(0.95, 5, loc=values.mean(axis=0), scale=stats.sem(values))
    np.testing.assert_allclose(curve.band, [low, high], rtol=1e-12)
    np.testing.assert_allclose(curve.std, values.std(axis=0, ddof=1), rtol=1e-12)
    assert curve.best == [5, 10, 15][np.argmax(values.mean(axis=0))]
    assert Curve("rmse", curve.n_features, values).best == [5, 10, 15][np.argmin(values.mean(axis=0))]
    assert curve.frame().columns.tolist() == ["n_features", "mean", "std", "low", "high"]
    assert np.isnan(Curve("nmi", curve.n_features, values[:1]).band).all()
    assert "5..15 features, 6 repeats: best" in repr(curve)


def test_default_sizes_are_five_to_fifty(blobs, rng):
    X, y = blobs
    assert accuracy_curve(X, y, range(8), n_repeats=1).n_features.tolist() == [5]
    wide = rng.normal(size=(45, 60))
    assert accuracy_curve(wide, y, range(60), n_repeats=1).n_features.tolist() == list(range(5, 51, 5))
    assert accuracy_curve(X, y, range(3), n_repeats=1).n_features.tolist() == [1, 2, 3]


def test_frame_without_pandas_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"fiedler\[frames\]"):
        Curve("accuracy", np.array([1]), np.zeros((2, 1))).frame()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_features": [0, 5]}, r"n_features must be integers between 1 and the 8 features, got \[0, 5\]"),
        ({"n_features": [9]}, r"between 1 and the 8 features, got \[9\]"),
        ({"n_features": [2.5]}, "n_features must be integers"),
        ({"features": [0, 8]}, "features holds column 8, but X has 8 columns"),
        ({"features": [0, -1]}, "features holds column -1"),
        ({"features": [0, 0]}, "contains a column twice"),
        ({"features": [0.5]}, "features must be column numbers"),
        ({"n_folds": 1}, "n_folds must be an integer of at least 2, got 1"),
        ({"n_folds": 46}, "n_folds=46 is more than the 45 labelled rows"),
        ({"estimator": KNeighborsClassifier(40)}, "n_folds=5 leaves 36 of the 45 labelled rows .* n_neighbors=40"),
        ({"y": np.zeros(44)}, "y has 44 entries but X has 45 rows"),
        ({"y": None}, "requires y to be passed"),
        ({"y": np.zeros(45)}, "needs at least two classes"),
        ({"y": np.linspace(0, 1, 45), "estimator": KNeighborsClassifier()}, "reads class labels, but y holds real"),
        ({"n_repeats": 0}, "n_repeats must be an integer of at least 1"),
    ],
)
def test_one_clear_error_each(blobs, change, message):
    X, y = blobs
    given = {"X": X, "y": y, "features": np.arange(8)} | change
    with pytest.raises(ValueError, match=message):
        accuracy_curve(**given)


def test_other_errors(blobs):
    X, y = blobs
    with pytest.raises(TypeError, match="estimator must be a scikit-learn classifier or regressor"):
        accuracy_curve(X, y, [0, 1], estimator=KMeans(2))
    with pytest.raises(ValueError, match="n_neighbors=45 must be less than the 45 rows"):
        neighborhood_jaccard(X, [0], 45)
    with pytest.raises(ValueError, match="metric must be one of"):
        good_against_bad(X, y, [0, 1], metric="auc")
    with pytest.raises(ValueError, match=r"got shape \(3,\)"):
        rank_sums([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="finite"):
        rank_sums([[1.0, np.nan]])
    with pytest.raises(ValueError, match="two or more rankings"):
        top_k_overlap([[0, 1]], 1)
    with pytest.raises(ValueError, match="k=3 is more than the 2 features"):
        top_k_overlap([[0, 1], [1, 0]], 3)
