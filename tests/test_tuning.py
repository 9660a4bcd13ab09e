"""fiedler.evaluate.tuning: cut values, λ, parameters, number of features, stability, each against a plain version."""

import itertools
import logging
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from fiedler import (
    KNN,
    METHODS,
    ClassGraph,
    ConstraintScore,
    FisherScore,
    Precomputed,
    SpectralSelector,
    SSelect,
    pairs_from_labels,
)
from fiedler.evaluate import cut_value, stability, suggest_n_features, tune, tune_lambda
from fiedler.evaluate.curves import folds, read_target, whole_seed
from fiedler.evaluate.stability import _some_labels, _some_rows
from fiedler.selection.cut import LAMBDAS
from fiedler.supervision import Supervision


@pytest.fixture
def few(blobs):
    """blobs with three labels per class."""
    X, y = blobs
    return X, np.where(np.arange(45) % 5 == 0, y, -1)


def plain_cut(X, k=10):
    """Second smallest eigenvalue of 𝓛 and the number of components, from the definition."""
    n = len(X)
    distances = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    W = np.zeros((n, n))
    for i in range(n):
        for j in sorted((j for j in range(n) if j != i), key=lambda j: (distances[i, j], j))[:k]:
            W[i, j] = W[j, i] = 1
    d = W.sum(axis=1)
    values = np.linalg.eigvalsh(np.eye(n) - W / np.sqrt(np.outer(d, d)))
    return values[1], int(np.sum(values < 1e-10))


# -------------------------------------------------------------------- cut values and λ


def test_cut_value(blobs):
    X, _ = blobs
    assert cut_value(X) == pytest.approx(plain_cut(X)[0], rel=1e-9)
    assert cut_value(sp.csr_array(X), KNN(4, "binary")) == pytest.approx(plain_cut(X, 4)[0], rel=1e-9)
    apart = np.concatenate([X, X + 1000])
    assert cut_value(apart) == 0.0
    assert plain_cut(apart)[1] == 2
    alone = np.vstack([X, X[:1] + 1000])
    with pytest.warns(UserWarning, match="underflow"):
        assert cut_value(alone, KNN(5, bandwidth=2.0)) == 0.0, "a row cut off is a graph that falls apart"


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


def test_a_graph_that_falls_apart_is_not_the_best(rng):
    # Column 0 splits the rows into two far groups, which the graph likes; column 1 is one piece and has the labels.
    row = np.arange(60)
    X = np.column_stack([50.0 * (row % 2), row / 60]) + rng.uniform(size=(60, 2)) * [1, 0.01]
    y = np.where(row % 7 == 0, row >= 30, -1)
    result = tune_lambda(X, y, [0.0, 1.0], n_features=1)
    assert result.table["n_components"].tolist() == [1, 2]
    assert result.table["smaller_side"].tolist()[1] == 30
    assert result.table["cut"][1] == 0 < result.table["cut"][0]
    assert result.best_params == {"lam": 0.0}
    with pytest.warns(UserWarning, match="falls apart for every choice .2 to 2 components"):
        assert tune_lambda(X, y, [0.9, 1.0], n_features=1).best_params == {"lam": 0.9}


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
    assert (auto.reads, auto.nonnegative, auto.greater_is_better) == (plain.reads, True, False)
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
    build = KNN._build
    monkeypatch.setattr(KNN, "_build", lambda self, problem: built.append(problem.n_features) or build(self, problem))
    SSelect(lam="auto").evaluate(np.hstack([X, X[:, ::-1] ** 2]), y)
    assert built.count(16) == 1, "the graph on all features"
    assert built.count(10) == len(LAMBDAS), "one graph per selection"


# -------------------------------------------------------------------- tune by cross-validation


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


# -------------------------------------------------------------------- number of features


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


# -------------------------------------------------------------------- stability


def test_stability_is_what_the_draws_say(few):
    X, y = few
    known = Supervision(45, y)
    for resample, draw, size in (("rows", _some_rows, 30), ("labels", _some_labels, 6)):
        orders, ranks = [], []
        for number in range(8):
            rows, shown = draw(SSelect(), known, size, [5, number])
            assert np.sum(shown["y"] >= 0) == 6
            selector = SpectralSelector(SSelect()).fit(X if rows is None else X[rows], shown["y"])
            orders.append(selector.order_)
            ranks.append(stats.rankdata(selector.scores_))
        result = stability(SSelect(), X, y, k=3, resample=resample, size=size, n_draws=8, random_state=5)
        assert result.frequency.tolist() == [np.mean([j in o[:3] for o in orders]) for j in range(8)]
        spread = [result.rank_low, result.rank_median, result.rank_high]
        np.testing.assert_allclose(spread, np.quantile(ranks, [0.05, 0.5, 0.95], axis=0))
        ties = stats.friedmanchisquare(*np.transpose(ranks)).statistic / (8 * 7)
        assert result.kendall == pytest.approx(ties, rel=1e-9)
        sets = [(set(a[:3]), set(b[:3])) for a, b in itertools.combinations(np.array(orders).tolist(), 2)]
        assert result.jaccard == pytest.approx(np.mean([len(a & b) / len(a | b) for a, b in sets]))
        assert result.kuncheva == pytest.approx(np.mean([(len(a & b) - 9 / 8) / (3 - 9 / 8) for a, b in sets]))


def test_stability_over_constraint_sets(blobs):
    X, y = blobs
    criterion = ConstraintScore(1)
    result = stability(criterion, X, y, k=2, resample="pairs", size=8, n_draws=10, random_state=3)
    orders = []
    for number in range(10):
        must, cannot = pairs_from_labels(y, 8, whole_seed([3, number]))
        orders.append(SpectralSelector(criterion).fit(X, must_link=must, cannot_link=cannot).order_[:2])
    assert result.frequency.tolist() == [np.mean([j in o for o in orders]) for j in range(8)]
    must, cannot = pairs_from_labels(y, 40, 0)
    given = stability(criterion, X, k=2, resample="pairs", size=0.9, must_link=must, cannot_link=cannot)
    assert given.kendall > result.kendall, "36 pairs agree more than 8"
    moved = stability(criterion, X, k=2, resample="rows", must_link=must, cannot_link=cannot)
    assert 0 < moved.kendall <= 1


def test_stability_keeps_the_shares_of_classes_and_the_names(blobs):
    pd = pytest.importorskip("pandas")
    X, _ = blobs
    y = np.repeat([0, 1, 2], [30, 10, 5])
    rows, _ = _some_rows(FisherScore(), Supervision(45, y), 0.6, [0])
    assert np.bincount(y[rows]).tolist() == [18, 6, 3]
    assert len({tuple(_some_rows(FisherScore(), Supervision(45, y), 0.6, [seed])[0]) for seed in range(5)}) == 5
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    result = stability("fisher", frame, y, k=2)
    assert result.frame().feature.tolist() == list("abcdefgh")
    assert "Stability(k=2, n_draws=20, kendall=" in repr(result)
    strong = X.copy()
    strong[:, [4, 6]] += 100 * y[:, None]
    sure = stability("fisher", strong, y, k=2)
    assert sure.frequency.tolist() == [0, 0, 0, 0, 1, 0, 1, 0]
    assert sure.jaccard == sure.kuncheva == 1
    target = stability("correlation", X, X[:, 2], k=1, resample="labels", size=10)
    assert target.frequency[2] == 1


# -------------------------------------------------------------------- errors


def test_one_clear_error_each(few):
    X, y = few
    for graph in (Precomputed(np.eye(45)), ClassGraph()):
        with pytest.raises(ValueError, match="does not follow the selected features"):
            tune_lambda(X, y, graph=graph, n_features=3)
    with pytest.raises(ValueError, match=r"between 1 and the 8 features, got \[10\]"):
        tune_lambda(X, y)
    with pytest.raises(ValueError, match="by must be one of 'cut', 'cv', got 'accuracy'"):
        tune("laplacian", {}, X, by="accuracy", n_features=2)
    with pytest.raises(ValueError, match="reads a real target, but y holds classes"):
        tune("sls", {}, X, y, n_features=2, by="cv")
    with pytest.raises(ValueError, match="reads classes, but y holds a real target"):
        tune("fisher", {}, X, X[:, 0], n_features=2, by="cv")
    flat = np.hstack([X[:, :2], np.ones((45, 3))])
    with pytest.raises(ValueError, match=r"3 features are asked for, but LaplacianScore\(\) scores only 2 of 5"):
        tune("laplacian", {}, flat, n_features=3)
    with pytest.raises(ValueError, match="scores only 2 of 5 in draw 0"):
        stability("laplacian", flat, k=3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": 9}, r"between 1 and the 8 features, got \[9\]"),
        ({"resample": "columns"}, "resample must be one of 'rows', 'labels', 'pairs'"),
        ({"size": 45}, "size=45 must be a share in .0, 1. or a number from 2 to 44 of the 45 rows"),
        ({"size": 1.5}, "size=1.5 must be a share"),
        ({"resample": "labels", "size": 9}, "from 2 to 8 of the 9 known labels"),
        ({"criterion": "laplacian", "resample": "labels"}, "needs labels that .* reads; use resample='rows'"),
        ({"resample": "pairs"}, "needs a criterion that reads pairs"),
        ({"criterion": "constraint", "resample": "pairs", "size": 400}, "n_pairs=400 asks for"),
        ({"criterion": "constraint", "resample": "pairs", "y": None}, "needs must_link and cannot_link, or classes"),
        ({"n_draws": 1}, "n_draws must be an integer of at least 2"),
    ],
)
def test_stability_errors(few, change, message):
    X, y = few
    given = {"criterion": "sselect", "X": X, "y": y, "k": 2} | change
    with pytest.raises(ValueError, match=message):
        stability(**given)
