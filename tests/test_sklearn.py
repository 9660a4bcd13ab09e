"""SpectralSelector as a citizen of scikit-learn: its estimator checks, pipelines, searches, frames, metadata."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from problems import CRITERIA, evaluate, make
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from fiedler import (
    KNN,
    METHODS,
    ConstraintScore,
    FisherScore,
    LaplacianScore,
    Pairs,
    SpectralSelector,
    SSelect,
    pairs_from_labels,
)

SELECTORS = [SpectralSelector(name) for name in METHODS]
SELECTORS += [SpectralSelector(c) for name, c in CRITERIA.items() if name not in METHODS]


@pytest.mark.filterwarnings("ignore")  # the checks use tiny data on purpose; none of them expects silence
@parametrize_with_checks(SELECTORS)
def test_scikit_learns_estimator_checks(estimator, check):
    check(estimator)


@pytest.fixture
def iris():
    return load_iris(return_X_y=True)


@pytest.mark.parametrize("name", CRITERIA)
def test_clone_pickle_and_repr_round_trip(name):
    data, criterion = make(name), CRITERIA[name]
    expected = evaluate(criterion, data)
    for copy in (clone(criterion), pickle.loads(pickle.dumps(criterion))):
        np.testing.assert_array_equal(evaluate(copy, data), expected)
        assert repr(copy) == repr(criterion)
    selector = SpectralSelector(criterion, n_features_to_select=2).fit(data.X, data.y, **data.pairs)
    again = pickle.loads(pickle.dumps(selector))
    np.testing.assert_array_equal(again.transform(data.X), selector.transform(data.X))
    fresh = clone(selector).fit(data.X, data.y, **data.pairs)
    np.testing.assert_array_equal(fresh.scores_, selector.scores_)


@pytest.mark.parametrize("name", METHODS)
def test_a_name_is_the_method_with_its_defaults(name):
    data = make(name)
    fitted = SpectralSelector(name).fit(data.X, data.y, **data.pairs)
    np.testing.assert_array_equal(fitted.scores_, evaluate(METHODS[name](), data))
    assert fitted.support_.sum() == fitted.n_features_ == data.X.shape[1] // 2
    best = fitted.order_[: fitted.n_features_]
    np.testing.assert_array_equal(np.flatnonzero(fitted.support_), np.sort(best))
    np.testing.assert_array_equal(fitted.ranking_[fitted.order_], np.arange(1, data.X.shape[1] + 1))
    direction = 1 if fitted.criterion_.greater_is_better else -1
    assert direction * fitted.scores_[fitted.order_[0]] >= direction * fitted.scores_[fitted.order_[-1]]


@pytest.mark.parametrize("selector", [SpectralSelector("laplacian"), SpectralSelector(LaplacianScore(KNN()))])
def test_grid_search_over_a_parameter_of_the_graph(selector, iris):
    X, y = iris
    pipe = make_pipeline(StandardScaler(), selector, KNeighborsClassifier())
    grid = {"spectralselector__criterion__graph__n_neighbors": [3, 15]}
    search = GridSearchCV(pipe, grid, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.8
    used = search.best_estimator_[1].criterion_.graph.n_neighbors
    assert used == search.best_params_["spectralselector__criterion__graph__n_neighbors"]
    assert LaplacianScore().graph is None  # filling in the default graph touched a copy only


def test_grid_search_over_whole_criteria(iris):
    X, y = iris
    pipe = make_pipeline(StandardScaler(), SpectralSelector(n_features_to_select=1), KNeighborsClassifier())
    criteria = [LaplacianScore(), FisherScore(), "relieff", SSelect(lam=0.5), LaplacianScore() * ConstraintScore(1)]
    search = GridSearchCV(pipe, {"spectralselector__criterion": criteria}, error_score="raise").fit(X, y)
    assert len(search.cv_results_["params"]) == 5
    assert search.best_score_ > 0.9


def test_nested_parameters_reach_into_formulas():
    formula = 0.5 * LaplacianScore(KNN(3)) + SSelect()
    formula.set_params(left__criterion__graph__n_neighbors=7, right__graph__n_neighbors=4)
    assert repr(formula) == "0.5 * LaplacianScore(graph=KNN(n_neighbors=7)) + SSelect(graph=KNN(n_neighbors=4))"
    assert formula.get_params()["left__criterion__graph__n_neighbors"] == 7


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_pairs_survive_cross_validation(iris, routing):
    X, y = iris
    must, cannot = pairs_from_labels(y, 40, random_state=0)
    links = {"must_link": Pairs(must, len(X)), "cannot_link": Pairs(cannot, len(X))}
    selector = SpectralSelector(ConstraintScore(1), n_features_to_select=2)
    selector.set_fit_request(must_link=True, cannot_link=True)
    pipe = make_pipeline(selector, KNeighborsClassifier())
    result = cross_validate(pipe, X, y, params=links, error_score="raise", return_estimator=True, return_indices=True)
    assert result["test_score"].mean() > 0.85
    for fitted, rows in zip(result["estimator"], result["indices"]["train"], strict=True):
        position = {row: p for p, row in enumerate(rows)}
        inside = {k: [[position[i], position[j]] for i, j in p if i in position and j in position]
                  for k, p in (("must_link", must), ("cannot_link", cannot))}  # fmt: skip
        expected = ConstraintScore(1).evaluate(X[rows], **inside)
        np.testing.assert_allclose(fitted[0].scores_, expected, rtol=1e-12)
    grid = {"spectralselector__criterion__variant": [1, 4]}
    search = GridSearchCV(pipe, grid, error_score="raise").fit(X, y, **links)
    assert search.best_score_ > 0.85


def test_pairs_container_follows_any_slicing():
    links = Pairs([[0, 1], [3, 2], [2, 3], [0, 4]], n_samples=5)
    assert links.shape == (5,)
    np.testing.assert_array_equal(links.pairs, [[0, 1], [0, 4], [2, 3]])
    np.testing.assert_array_equal(links[1:].pairs, [[1, 2]])
    np.testing.assert_array_equal(links[np.array([True, True, False, False, True])].pairs, [[0, 1], [0, 2]])
    np.testing.assert_array_equal(links[[4, 0, 0]].pairs, [[0, 1], [0, 2]])  # a row drawn twice is linked twice
    assert len(links[[1]].pairs) == 0
    assert repr(links) == "Pairs(3 pairs, n_samples=5)"


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("output", ["pandas", "polars", "default"])
def test_frames_in_and_names_out(frame, output, iris):
    X, y = iris
    names = ["sepal length", "sepal width", "petal length", "petal width"]
    table = frame(dict(zip(names, X.T, strict=True)))
    selector = SpectralSelector(FisherScore(), n_features_to_select=2).set_output(transform=output).fit(table, y)
    assert list(selector.get_feature_names_out()) == ["petal length", "petal width"]
    assert list(selector.feature_names_in_) == names
    reduced = selector.transform(table)
    assert type(reduced) is {"pandas": pd.DataFrame, "polars": pl.DataFrame, "default": np.ndarray}[output]
    if output != "default":
        assert list(reduced.columns) == ["petal length", "petal width"]
    np.testing.assert_array_equal(np.asarray(reduced), X[:, 2:])
    np.testing.assert_allclose(selector.scores_, FisherScore().evaluate(table, y))


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array, sp.csr_matrix, sp.coo_matrix])
def test_sparse_in_sparse_out_same_class(kind, iris):
    X, _ = iris
    given = kind(X)
    before = given.copy()
    reduced = SpectralSelector(n_features_to_select=2).fit(given).transform(given)
    assert sp.issparse(reduced)
    assert isinstance(reduced, sp.sparray) == isinstance(given, sp.sparray)
    assert (abs(given - before)).max() == 0


def test_unsorted_sparse_input_is_not_tidied_in_place():
    data, indices, indptr = np.arange(1.0, 7.0), np.array([1, 0, 1, 0, 1, 0]), np.array([0, 2, 4, 6])
    X = sp.csc_matrix((data, indices.copy(), indptr), shape=(3, 3))
    SpectralSelector("variance").fit(X)
    np.testing.assert_array_equal(X.indices, indices)


def test_float32_stays_float32(iris):
    X, _ = iris
    assert SpectralSelector("variance").fit_transform(X.astype(np.float32)).dtype == np.float32


def test_newcomers_five_lines():
    from sklearn.datasets import load_digits

    from fiedler import SpectralSelector, SSelect

    X, y = load_digits(return_X_y=True, as_frame=True)
    few = np.full(len(y), -1)
    few[:40] = y[:40]
    names = SpectralSelector(SSelect(lam=0.1), n_features_to_select=50).fit(X, few).get_feature_names_out()
    assert len(names) == 50
    assert all(name.startswith("pixel_") for name in names)
