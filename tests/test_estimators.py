"""Models that judge a selection, by name."""

import numpy as np
import pytest
from inside import turn
from sklearn.datasets import load_diabetes, load_wine

from fiedler import Pairs, show_versions
from fiedler.evaluate import compare
from fiedler.evaluate.held_out import ESTIMATORS, PartialLeastSquares, named_estimator


@pytest.fixture
def few_random_draws(monkeypatch):
    turn(monkeypatch, "cells: random draws", 1)


def scaled(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name != "pls"])
def test_every_name_judges_classes(name, few_random_draws):
    X, y = load_wine(return_X_y=True)
    X, y = scaled(X)[::3], y[::3]
    result = compare(["fisher"], X, y, n_features=[3], n_draws=1, n_folds=2, n_jobs=1, estimator=name)
    assert result.values("fisher").mean() > 0.8


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name != "logistic"])
def test_every_name_judges_a_target(name, few_random_draws):
    X, y = load_diabetes(return_X_y=True)
    options = {"n_features": [1, 4], "n_draws": 1, "n_folds": 2, "n_jobs": 1, "estimator": name}
    result = compare(["correlation"], X[:100], scaled(y[:100]), **options)
    assert result.settings["metrics"] == ["rmse"]
    assert result.values("correlation").mean() < 1.1


def test_the_default_is_the_nearest_neighbour_and_says_so():
    X, y = load_wine(return_X_y=True)
    plain = compare(["fisher"], scaled(X), y, n_features=[3], n_draws=1, n_jobs=1)
    named = compare(["fisher"], scaled(X), y, n_features=[3], n_draws=1, n_jobs=1, estimator="knn")
    assert plain.settings["estimator"] == named.settings["estimator"] == "KNeighborsClassifier(n_neighbors=1)"
    np.testing.assert_array_equal(plain.values("fisher"), named.values("fisher"))


def test_wrong_names_are_refused():
    with pytest.raises(ValueError, match=r"did you mean 'logistic'\? Known: knn"):
        named_estimator("logistik", "classes")
    with pytest.raises(ValueError, match="predicts a real target, but y holds class labels; use one of knn, logistic"):
        named_estimator("pls", "classes")
    with pytest.raises(ValueError, match="predicts class labels, but y holds a real target"):
        named_estimator("logistic", "target")


def test_partial_least_squares_takes_as_many_components_as_it_can():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    model = PartialLeastSquares().fit(X, X[:, 0])
    assert model.n_components == 5
    assert model.predict(X).shape == (40,)


def test_pairs_by_id():
    links = Pairs.of(["a", "b", "c"], [("c", "a"), ("b", "c")])
    assert links.pairs.tolist() == [[0, 2], [1, 2]]
    assert len(links) == 3
    assert len(Pairs.of([1, 2], []).pairs) == 0
    with pytest.raises(ValueError, match=r"'annn' is not the id of a row; did you mean 'ann'\?"):
        Pairs.of(["ann", "bob"], [["annn", "bob"]])
    with pytest.raises(ValueError, match="'a' names two rows"):
        Pairs.of(["a", "a"], [])
    with pytest.raises(ValueError, match="is not a pair"):
        Pairs.of(["a", "b"], [["a"]])


def test_versions_for_a_bug_report(capsys):
    show_versions()
    said = capsys.readouterr().out
    assert said.startswith("fiedler")
    assert "scikit-learn" in said
