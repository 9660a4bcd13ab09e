"""Which λ, which parameters, how many features: each against a plain version, and one clear error each."""

import itertools
import logging
import pickle

import numpy as np
import pytest
from plain import plain_cut
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from fiedler import (
    KNN,
    METHODS,
    ClassGraph,
    ConstraintScore,
    FisherScore,
    LaplacianScore,
    Precomputed,
    SpectralSelector,
    SSelect,
)
from fiedler.criteria.disagreement import LAMBDAS
from fiedler.evaluate import (
    accuracy_curve,
    clustering_curve,
    neighborhood_jaccard,
    stability,
    suggest_n_features,
    tune,
    tune_lambda,
)
from fiedler.evaluate.held_out import folds, read_target


def test_tune_lambda_is_algorithm_3(few):
    X, y = few[0], few[1][np.random.default_rng(1).permutation(45)]  # labels that contradict the graph
    lambdas = [0.0, 0.1, 0.4, 0.8, 1.0]
    result = tune_lambda(X, y, lambdas, 2)
    tops = [SpectralSelector(SSelect(lam=lam)).fit(X, y).order_[:2] for lam in lambdas]
    assert len({tuple(sorted(top)) for top in tops}) > 1, "the data must make λ matter"
    cuts = [plain_cut(X[:, top])[0] for top in tops]
    np.testing.assert_allclose(result.table["cut"], cuts, rtol=1e-8, atol=1e-12)
    assert result.best_params == {"lam": lambdas[int(np.argmin(cuts))]}
    assert result.table["n_components"].tolist() == [1] * 5
    assert result.frame().columns.tolist() == ["lam", "cut", "n_components", "smaller_side"]
    assert repr(result) == f"Tuning(by='cut', best={result.best!r} of 5)"


def test_auto_lambda_is_tune_lambda(few, caplog):
    X, y = few
    best = tune_lambda(X, y, n_features=8).best
    assert best.lam in LAMBDAS
    with caplog.at_level(logging.INFO, "fiedler"):
        scores = SSelect(lam="auto").evaluate(X, y)
    assert f"lam={best.lam:g}" in caplog.text
    np.testing.assert_array_equal(scores, best.evaluate(X, y))
    scores = SSelect(KNN(6), lam="auto").evaluate(X, y)
    np.testing.assert_array_equal(scores, SSelect(KNN(6), _auto_on(X, y, KNN(6))).evaluate(X, y))


def _auto_on(X, y, graph):
    cuts = [plain_cut(X[:, SpectralSelector(SSelect(graph, lam)).fit(X, y).order_[:8]])[0] for lam in LAMBDAS]
    return LAMBDAS[int(np.argmin(np.round(cuts, 12)))]


def test_auto_lambda_is_a_method_like_any_other(few):
    X, y = few
    auto, plain = SSelect(lam="auto"), SSelect()
    assert repr(auto) == "SSelect(lam='auto')"
    assert repr(auto.formula()) == "AutoLambda(KNN())"
    assert (auto.reads, auto.traits.nonnegative, auto.greater_is_better) == (plain.reads, True, False)
    assert SSelect(KNN(4), "auto").formula().graph.n_neighbors == 4
    copy = pickle.loads(pickle.dumps(clone(auto)))
    np.testing.assert_array_equal(copy.evaluate(X, y), auto.evaluate(X, y))
    must, cannot = [[0, 5]], [[0, 20]]
    product = (auto * ConstraintScore(1)).evaluate(X, y, must_link=must, cannot_link=cannot)  # no warning about pairs
    c1 = ConstraintScore(1).evaluate(X, must_link=must, cannot_link=cannot)
    np.testing.assert_allclose(product, auto.evaluate(X, y) * c1, rtol=1e-12)
    for wrong in ("best", 1.5):
        with pytest.raises(ValueError, match="lam must be a number between 0 and 1"):
            SSelect(lam=wrong).evaluate(X, y)


def test_graphs_are_built_once(few, monkeypatch):
    X, y = few
    built = []
    build = KNN.make
    monkeypatch.setattr(KNN, "make", lambda self, problem: built.append(problem.n_features) or build(self, problem))
    SSelect(lam="auto").evaluate(np.hstack([X, X[:, ::-1] ** 2]), y)
    assert built.count(16) == 1, "the graph on all features"
    assert built.count(10) == len(LAMBDAS), "one graph per selection"


def plain_held_out(criterion, X, y, k, seed, n_neighbors=1):
    real = n_neighbors == 5
    model = KNeighborsRegressor(5) if real else KNeighborsClassifier(1)
    answers = np.full(len(y), np.nan)
    for train, test in folds(read_target(y, len(y), model, -1), 5, model, np.random.default_rng(seed)):
        shown = np.full(len(y), np.nan if real else -1)
        shown[train] = y[train]
        top = SpectralSelector(criterion).fit(X, shown).order_[:k]
        answers[test] = model.fit(X[np.ix_(train, top)], y[train]).predict(X[np.ix_(test, top)])
    known = ~np.isnan(answers)
    return np.sqrt(np.mean((answers - y)[known] ** 2)) if real else np.mean((answers == y)[known])


def test_tune_by_cross_validation_hides_the_fold(few, rng):
    X, _ = few
    y = np.where(np.arange(45) % 9 == 0, -1, np.repeat([0, 1, 2], 15))
    grid = {"lam": [0.0, 1.0], "graph__n_neighbors": [3, 6]}
    result = tune("sselect", grid, X, y, n_features=2, by="cv", n_repeats=2, random_state=4)
    for at, (k, lam) in enumerate(itertools.product([3, 6], [0.0, 1.0])):
        plain = [plain_held_out(SSelect(KNN(k), lam), X, y, 2, [4, repeat]) for repeat in range(2)]
        assert result.table["mean"][at] == pytest.approx(np.mean(plain))
        assert (result.table["graph__n_neighbors"][at], result.table["lam"][at]) == (k, lam)
    at = int(np.argmax(result.table["mean"]))
    assert result.best_params == {name: result.table[name][at] for name in grid}
    target = X[:, 0] + 0.1 * rng.normal(size=45)
    result = tune("sls", {"graph__n_neighbors": [2, 5]}, X, target, n_features=1, by="cv", n_repeats=1)
    plain = [plain_held_out(METHODS["sls"]().set_params(graph__n_neighbors=k), X, target, 1, [0, 0], 5) for k in (2, 5)]
    np.testing.assert_allclose(result.table["mean"], plain)
    assert result.best_params == {"graph__n_neighbors": [2, 5][int(np.argmin(plain))]}


def test_cross_validation_on_noise_stays_at_chance(rng):
    X, y = rng.normal(size=(60, 1500)), np.arange(60) % 2
    result = tune(FisherScore(), {}, X, y, n_features=10, by="cv")
    leaking = SpectralSelector("fisher").fit(X, y).order_[:10]
    model = KNeighborsClassifier(1)
    splits = folds(read_target(y, 60, None, -1), 5, model, rng)
    seen = np.mean([model.fit(X[np.ix_(a, leaking)], y[a]).score(X[np.ix_(b, leaking)], y[b]) for a, b in splits])
    assert seen > 0.7, "features chosen with all labels look good on noise"
    assert abs(result.table["mean"][0] - 0.5) < 0.12


def test_turning_point_of_made_up_scores():
    from fiedler.evaluate.tuning import turning_point

    assert turning_point(np.array([10.0, 9, 8.5, 1, 0.9, 0.8, 0.7]))[0] == 3
    assert turning_point(np.array([0.1, 0.11, 0.12, 0.9, 1.0]))[0] == 3, "small is good, the same picture"
    assert turning_point(np.array([np.inf, 9, 1, 0.9, 0.8, np.nan]))[0] == 1
    assert turning_point(np.array([2.0, 2, 2, 2]))[0] is None
    curve = 1 / np.arange(1, 201)
    x = np.linspace(0, 1, 200)
    plain = int(np.argmax((1 - x) - (curve - curve[-1]) / (1 - curve[-1])))
    assert turning_point(curve)[0] == plain


def test_suggestions_find_the_informative_features(rng):
    y = np.repeat([0, 1, 2], 40)
    centres = 5.0 * rng.normal(size=(3, 6))
    X = np.hstack([centres[y] + rng.normal(size=(120, 6)), 4.0 * rng.normal(size=(120, 30))])
    sizes = [2, 6, 24]
    found = suggest_n_features("fisher", X, y, n_features=sizes)
    turning, gap, cv = found.n_features
    assert 2 <= turning <= 6
    assert cv <= 6
    order = SpectralSelector("fisher").fit(X, y).order_
    gaps = []
    for size in sizes:
        W = KNN(weight="binary").build(X[:, order[:size]]).toarray()
        d = W.sum(axis=1)
        values = np.linalg.eigvalsh(np.eye(120) - W / np.sqrt(np.outer(d, d)))
        gaps.append(values[3] - values[2])
    assert gap == sizes[int(np.argmax(gaps))]
    values = np.array([[plain_held_out(FisherScore(), X, y, k, [0, r]) for k in sizes] for r in range(5)])
    best = int(np.argmax(values.mean(axis=0)))
    close = values.mean(axis=0) >= values.mean(axis=0)[best] - values.std(axis=0, ddof=1)[best]
    assert cv == sizes[int(np.argmax(close))]
    assert found.frame().shape == (3, 3)
    assert "after 3 clusters" in repr(found)
    assert found.rules == ("turning", "gap", "cv")


def test_suggestions_say_why_not(few):
    X, y = few
    unsupervised = suggest_n_features("laplacian", X)
    assert unsupervised.n_features[2] is None
    assert "y is None" in unsupervised.reasons[2]
    scarce = suggest_n_features("sselect", X, y)
    assert "3 labelled rows, fewer than n_folds=5" in scarce.reasons[2]


@pytest.mark.parametrize("by", ["jaccard", "clustering_accuracy"])
def test_tuning_by_the_judges_of_evsc(few, by):
    """JAS and ACC of [EV] on the first features of each candidate."""
    X, y = few
    result = tune("laplacian", {"graph__n_neighbors": [2, 5, 12]}, X, y, n_features=3, by=by, n_repeats=2)
    values = []
    for k in (2, 5, 12):
        order = SpectralSelector(LaplacianScore(KNN(k)), n_features_to_select=3).fit(X).order_
        kmeans = clustering_curve(X, y, order, n_features=[3], n_repeats=2).mean[0]
        values.append(neighborhood_jaccard(X, order[:3]) if by == "jaccard" else kmeans)
    np.testing.assert_allclose(result.table["mean"], values, rtol=1e-12)
    assert result.best_params == {"graph__n_neighbors": (2, 5, 12)[int(np.argmax(values))]}


def test_one_clear_error_each(few):
    X, y = few
    for graph in (Precomputed(np.eye(45)), ClassGraph()):
        with pytest.raises(ValueError, match="is not built from the selected features"):
            tune_lambda(X, y, cut_graph=graph, n_features=3)
    with pytest.raises(ValueError, match=r"between 1 and the 8 features, got \[10\]"):
        tune_lambda(X, y)
    with pytest.raises(
        ValueError, match="by must be one of 'cut', 'cv', 'jaccard', 'clustering_accuracy', got 'accuracy'"
    ):
        tune("laplacian", {}, X, by="accuracy", n_features=2)
    with pytest.raises(ValueError, match="reads a real target, but y holds classes"):
        tune("sls", {}, X, y, n_features=2, by="cv")
    with pytest.raises(ValueError, match="reads class labels, but y holds a real target"):
        tune("fisher", {}, X, X[:, 0], n_features=2, by="cv")
    flat = np.hstack([X[:, :2], np.ones((45, 3))])
    with pytest.raises(ValueError, match=r"3 features are requested, but LaplacianScore\(\) scores only 2 of 5"):
        tune("laplacian", {}, flat, n_features=3)
    with pytest.raises(ValueError, match="scores only 2 of 5 in draw 0"):
        stability("laplacian", flat, k=3)


@pytest.mark.parametrize("metric", ["accuracy", "rmse"])
def test_y_true_adds_what_the_selected_features_predict(few, metric):
    X, known = few
    truth = np.repeat([0, 1, 2], 15) if metric == "accuracy" else X[:, 1] ** 3
    widths, options = [3, 6], {"n_repeats": 2, "random_state": 4}
    told = {"n_features": 2, **options}
    result = tune("laplacian", {"graph__n_neighbors": widths}, X, known, y_true=truth, **told)
    for width, found in zip(widths, result.table[metric], strict=True):
        order = SpectralSelector(LaplacianScore(KNN(width)), screen=None).fit(X).order_
        assert found == accuracy_curve(X, truth, order, n_features=[2], **options).mean[0]
    assert result.best_params == tune("laplacian", {"graph__n_neighbors": widths}, X, known, **told).best_params
