"""Sets of features: the path against a plain loop for every engine and every way X is held, laws, and the selector."""

import itertools
import pickle
import warnings

import numpy as np
import pytest
import reference_sets as ref
import scipy.sparse as sp
from inside import spy_on_totals, turn
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from fiedler import (
    KNN,
    Anchors,
    CannotLink,
    ClassGraph,
    Explained,
    FisherScore,
    LaplacianScore,
    Precomputed,
    Relevance,
    SmoothSubset,
    SpectralSelector,
    Variance,
    pairs_from_labels,
)
from fiedler.graphs import smoothing
from fiedler.problem import Problem
from fiedler.sets.formula import forward
from fiedler.sources import Run, open_source
from fiedler.syntax import parse, unparse

SHAPES = [(30, 12), (24, 60), (40, 45)]


def data(n, m, seed=0, offset=0.0):
    """Correlated features with a copy, a multiple, a sum of others and a constant among them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) @ rng.normal(size=(3, m)) + rng.normal(size=(n, m)) * rng.uniform(0.2, 2.0, m)
    X[:, 3], X[:, 5], X[:, 7], X[:, 9] = X[:, 0], 0.1, 1 - 3 * X[:, 1], X[:, 1] + X[:, 2]
    return X + offset


DEPENDENT = {3, 5, 7, 9}  # on the others, but for rounding


def chosen(criterion, X, k, y=None, form=None):
    """The path of a criterion that chooses sets."""
    return forward(criterion.set_formula(), Problem.of(X, y), k, form=form)


def expected_path(X, k, power=0.5, relevance=None, filter_="smooth", W=None):
    W = KNN(5).build(X).toarray() if W is None else W
    F = {"smooth": ref.smoothing, "walk": ref.walk, "identity": lambda W: np.eye(len(W))}[filter_](W)
    C = ref.centred(X)
    K = ref.kernel_of_features(F, X)
    order, gains, first = ref.greedy(K, C, k, power, relevance)
    everything = [j for j in range(X.shape[1]) if j not in DEPENDENT]
    return order, np.cumsum(gains) / ref.explained(K, C, everything), first


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("form", ["features", "samples"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_path_is_that_of_the_plain_loop(shape, form, kind, offset):
    X = data(*shape, offset=offset)
    exact = X - offset if offset else X  # at 1e8 the data are rounded: the reference sees what is left of them
    graph = Precomputed(KNN(5).build(exact).toarray())
    order, explained, first = expected_path(exact, 10, W=graph.W)
    path = chosen(Explained(graph), kind(X), 10, form=form)
    assert path.order[: len(path.explained)].tolist() == order
    np.testing.assert_allclose(path.scores, first, rtol=1e-9)
    np.testing.assert_allclose(path.explained, explained, rtol=1e-9)
    assert sorted(path.order.tolist()) == list(range(shape[1]))
    assert path.order[-1] == 5, "the constant comes last"


@pytest.mark.parametrize("power", [0.0, 0.35, 0.5, 1.0])
@pytest.mark.parametrize("kind", ["smooth", "walk", "identity"])
def test_powers_and_filters(power, kind):
    X = data(24, 40, 3)
    order, explained, first = expected_path(X, 8, power, filter_=kind)
    path = chosen(Explained(None if kind == "identity" else KNN(5), kind, power=power), X, 8)
    assert path.order[:8].tolist() == order
    np.testing.assert_allclose(path.explained, explained, rtol=1e-9)
    np.testing.assert_allclose(path.scores, first, rtol=1e-9)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_single_precision(kind):
    X = data(30, 50, 5).astype(np.float32)
    wide = chosen(SmoothSubset(), X.astype(np.float64), 8)
    path = chosen(SmoothSubset(), kind(X), 8)
    assert path.order[:8].tolist() == wide.order[:8].tolist()
    np.testing.assert_allclose(path.scores, wide.scores, rtol=1e-6)


@pytest.mark.parametrize("of", ["features", "graph"])
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_by_sparse_products_nothing_is_formed(monkeypatch, of, offset):
    rng = np.random.default_rng(2)
    X = np.where(rng.random((40, 70)) < 0.3, rng.poisson(3.0, (40, 70)), 0).astype(float)
    X[:, 5] += rng.normal(size=40) + offset  # a column without zeros, far away
    criterion = Explained(KNN(5), "walk", of)
    usual = chosen(criterion, sp.csc_array(X), 9)
    for at_least, filled, kind in itertools.product((0, np.inf), (0.03, 1.0), (sp.csc_array, np.asarray)):
        turn(monkeypatch, "compiled: worth compiling", at_least)  # by compiled loops, and without
        turn(monkeypatch, "centred: filled", filled)  # by filled blocks, and by stored values
        path = chosen(criterion, kind(X), 9, form="products")
        assert path.order[:9].tolist() == usual.order[:9].tolist()
        np.testing.assert_allclose(path.scores, usual.scores, rtol=1e-9)
        if of == "features":
            assert path.explained[-1] <= usual.explained[-1] * (1 + 1e-9), "a share of a bound of J(all)"
        else:
            assert np.isnan([path.explained, usual.explained]).all(), "A has a negative trace here"
    smooth = Explained(KNN(5), "smooth", of)  # any other filter too
    path, usual = (chosen(smooth, X, 9, form=form) for form in ("products", "samples"))
    assert path.order[:9].tolist() == usual.order[:9].tolist()
    np.testing.assert_allclose(path.scores, usual.scores, rtol=1e-9)


def test_dense_columns_that_are_too_large_to_be_centred_as_a_whole():
    X = data(60, 90, 4)
    usual = chosen(SmoothSubset(), X, 10, form="products")
    with config_context(working_memory=0.05):  # C would need 0.04 MiB
        path = chosen(SmoothSubset(), X, 10, form="products")
    assert path.order[:10].tolist() == usual.order[:10].tolist()
    np.testing.assert_allclose(path.explained, usual.explained, rtol=1e-9)


def test_a_file_with_many_rows_and_columns_is_refused_by_sets(tmp_path, monkeypatch):
    X = data(40, 70, 2)
    np.save(tmp_path / "X.npy", X)
    monkeypatch.setattr("fiedler.sets.formula.MOST_SAMPLES", 10)
    monkeypatch.setattr("fiedler.sets.formula.MOST_FEATURES", 10)
    with pytest.raises(ValueError, match=r"more than the limit of \d+; use graph=Anchors\(\)"):
        chosen(SmoothSubset(), open_source(tmp_path / "X.npy"), 5)


@pytest.mark.parametrize("of", ["features", "graph"])
def test_what_all_features_explain_if_columns_depend_on_each_other(of):
    """tr(G⁺ C'KC) by a pivoted Cholesky factor is that of the pseudo-inverse."""
    X = data(50, 12, 3)
    X = np.column_stack([X, X[:, :5] * 3.0, X @ np.random.default_rng(0).normal(size=(12, 6)), np.ones(50)])
    kernel = Explained(KNN(5), "smooth", of).set_formula().kernel(Problem.of(X), "features")
    weights = np.ones(50) if of == "features" else KNN(5).build(X).degree
    C = np.sqrt(weights)[:, None] * (X - weights @ X / weights.sum())
    F = smoothing.smoother(KNN(5).build(X), "smooth", 50).apply(np.eye(50))
    K = F @ C @ C.T @ F if of == "features" else F
    expected = np.trace(np.linalg.pinv(C.T @ C, rcond=1e-11, hermitian=True) @ C.T @ K @ C)
    assert kernel.total == pytest.approx(expected, rel=1e-8)


def test_stored_products_and_filled_blocks_give_the_same_kernel(monkeypatch):
    rng = np.random.default_rng(4)
    X = np.where(rng.random((60, 40)) < 0.2, rng.poisson(3.0, (60, 40)), 0) * rng.random((60, 40))
    X[:, 5] += 1e3  # no zero is left, and the column is shifted first
    X[:, 6] = 0.0
    usual = SmoothSubset().set_formula().kernel(Problem.of(X), "features")
    for cost in (0.0, np.inf):  # always stored products, and never
        monkeypatch.setattr("fiedler.engine.products.STORED_COST", cost)
        kernel = SmoothSubset().set_formula().kernel(Problem.of(sp.csc_array(X)), "features")
        scale = np.sqrt(np.outer(usual.den, usual.den))
        np.testing.assert_allclose(kernel.gram, usual.gram, atol=1e-11 * scale.max())
        np.testing.assert_allclose(kernel.num, usual.num, rtol=1e-9)
        assert kernel.total == pytest.approx(usual.total, rel=1e-9)


@pytest.mark.parametrize("weight", ["rbf", "binary"])
def test_the_polynomial_is_the_same_compiled_and_plain(monkeypatch, weight):
    X = data(80, 12, 1)
    X[-1] += 1e4  # isolated under the radial weights
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        graph = KNN(5, weight=weight).build(X)
    turn(monkeypatch, "smoothing: exact up to", 10)
    V, found = np.random.default_rng(0).normal(size=(80, 37)), []
    for at_least in (0, np.inf):
        turn(monkeypatch, "compiled: worth compiling", at_least)
        found.append(smoothing.smoother(graph, "smooth", 80).apply(V))
    np.testing.assert_allclose(*found, atol=1e-12)
    assert (found[0][~graph.active] == 0.0).all()


def test_averages_are_the_same_compiled_and_plain(monkeypatch, rng):
    X, whole = rng.normal(size=(70, 3)), rng.normal(size=(70, 20))
    for V in (whole, np.asfortranarray(whole), whole[:, 3:9], whole[:, :1]):
        found = []
        for at_least in (0, np.inf):
            turn(monkeypatch, "compiled: worth compiling", at_least)
            found.append(smoothing.smoother(KNN(5).build(X), "walk", 70).apply(V))
        np.testing.assert_allclose(*found, rtol=1e-12, atol=1e-14)
        W = KNN(5).build(X).toarray()
        np.testing.assert_allclose(found[0], ref.walk(W) @ V, rtol=1e-9, atol=1e-12)


def test_a_set_is_chosen_where_degrees_all_but_vanish():
    """Two rows so far away that the roots of their inverse degrees, multiplied, are no number any more."""
    X = np.random.default_rng(0).normal(size=(20, 4))
    W = KNN(5).build(X).toarray()
    W[[0, 1]] *= 1e-312
    W[:, [0, 1]] = W[[0, 1]].T
    criterion = SmoothSubset(Precomputed(W))
    assert sorted(SpectralSelector(criterion, n_features_to_select=2).fit(X).order_) == [0, 1, 2, 3]


def test_small_rounds_and_small_pools_change_nothing(monkeypatch):
    X = data(25, 200, 7)
    usual = chosen(SmoothSubset(), X, 20)
    turn(monkeypatch, "rounds: pool", 3)
    turn(monkeypatch, "rounds: first round", 5)
    path = chosen(SmoothSubset(), X, 20)
    assert path.order.tolist() == usual.order.tolist()
    np.testing.assert_allclose(path.explained, usual.explained, rtol=1e-9)


@pytest.mark.parametrize("form", ["samples", "features"])
@pytest.mark.parametrize("fixed", [(), (4, 3, 0)], ids=["free", "included"])
def test_a_path_ends_where_enough_is_explained(form, fixed):
    X = data(60, 45, 11)
    problem, sets = Problem.of(X), SmoothSubset().set_formula()
    usual = forward(sets, problem, 30, form=form, first=fixed)
    short = forward(sets, problem, 45, 0.7, form=form, first=fixed)
    assert len(short.explained) == 1 + np.argmax(usual.explained >= 0.7)
    assert set(short.order.tolist()) == set(range(45))


@pytest.mark.parametrize("form", ["samples", "features"])
def test_more_ties_than_a_pool_holds(monkeypatch, form):
    turn(monkeypatch, "rounds: pool", 4)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = np.hstack([0.1 * rng.normal(size=(25, 20)), np.repeat(rng.normal(size=(25, 2)), [40, 30], axis=1)])
        places = rng.permutation(X.shape[1])
        path = chosen(SmoothSubset(), X[:, places], 8, form=form)
        firsts = [np.flatnonzero((places >= start) & (places < stop))[0] for start, stop in ((20, 60), (60, 90))]
        assert set(path.order[:2].tolist()) == set(firsts), "the first copy of each"
        assert (places[path.order[2:8]] < 20).all(), "and no other copy"


@pytest.mark.parametrize("form", ["samples", "products"])
@pytest.mark.parametrize("kind", [np.asarray, sp.csc_array])
@pytest.mark.parametrize("seed", range(4))
def test_a_small_pool_changes_no_choice_among_nearly_tied_columns(monkeypatch, form, kind, seed):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((50, 90)) < 0.5, rng.normal(size=(50, 90)), 0.0) @ np.diag(rng.uniform(1.0, 1.01, 90))
    X[:, 60:] = X[:, 20:50] * (1.0 + 1e-9 * rng.normal(size=30)) + 1e-7 * rng.normal(size=(50, 30))  # nearly tied
    X[:, 50:55] = X[:, :5]
    X = X * 10.0 ** rng.integers(-3, 4) * 10.0 ** np.where(np.arange(90) < 45, 0, 45 * (seed == 3))
    criterion = Explained(KNN(5), "walk")
    usual = chosen(criterion, kind(X), 40, form=form)
    turn(monkeypatch, "rounds: pool", 7)
    path = chosen(criterion, kind(X), 40, form=form)
    assert path.order[:40].tolist() == usual.order[:40].tolist()
    np.testing.assert_allclose(path.explained, usual.explained, rtol=1e-9)
    np.testing.assert_array_equal(path.scores, usual.scores)


def test_what_all_features_explain_is_computed_when_it_is_read(monkeypatch):
    X, made = data(60, 20, 3), []
    spy_on_totals(monkeypatch, made)
    selector = SpectralSelector("subset", n_features_to_select=5).fit(X)
    assert not made
    assert not {"explained_", "gains_"} & set(vars(selector))
    again = pickle.loads(pickle.dumps(selector))
    assert len(made) == 1, "a pickle has the numbers"
    assert "_shares" not in vars(again)
    np.testing.assert_array_equal(again.explained_, selector.explained_)
    assert selector.gains_[selector.order_[:5]].sum() == pytest.approx(selector.explained_[-1])
    assert len(made) == 1
    assert not hasattr(SpectralSelector("laplacian").fit(X), "explained_"), "a ranking has none"
    SpectralSelector("subset", n_features_to_select="auto").fit(X)
    assert len(made) == 2, "nine tenths of it are asked for"
    with config_context(working_memory=0.02):  # too little memory to keep anything until it is read
        SpectralSelector("subset", n_features_to_select=5).fit(X)
    assert len(made) == 3


def test_the_positive_part_by_its_polynomial(monkeypatch):
    X = data(60, 30, 8)
    exact = smoothing.smoother(KNN(5).build(X), "smooth", 60).apply(np.eye(60))
    turn(monkeypatch, "smoothing: exact up to", 10)
    near = smoothing.smoother(KNN(5).build(X), "smooth", 60).apply(np.eye(60))
    assert np.abs(np.linalg.eigvalsh(exact - near)).max() < 0.03
    turn(monkeypatch, "smoothing: polynomial up to", 10)
    walk = smoothing.smoother(KNN(5).build(X), "smooth", 60)
    assert walk.adjacency is not None


@pytest.mark.parametrize("kind", [2, 0.5, lambda values: np.exp(-values)])
def test_any_response(monkeypatch, kind):
    X = data(40, 12, 4)
    graph = KNN(6).build(X)
    K, C = ref.graph_form(graph.toarray(), X, (lambda v: 2.0**kind - v**kind) if not callable(kind) else kind)
    path = chosen(Explained(KNN(6), kind, "graph", power=1), X, 6)
    order, gains, _ = ref.greedy(K, C, 6, 1.0)
    assert path.order[:6].tolist() == order
    np.testing.assert_allclose(path.explained, np.cumsum(gains) / ref.explained(K, C, range(12)), rtol=1e-8)
    if kind != 0.5:  # a root is not smooth at 0
        monkeypatch.setattr(smoothing, "ALL_PAIRS", 5)
        again = chosen(Explained(KNN(6), kind, "graph", power=1), X, 6)
        np.testing.assert_allclose(again.scores, path.scores, rtol=1e-9)


# ---------------------------------------------------------------- special cases


def test_one_feature_is_its_quotient():
    X, y = data(40, 12, 1), np.arange(40) % 3
    y[::5] = -1
    on_graph = Explained(KNN(7), "walk", "graph", power=1).evaluate(X)
    np.testing.assert_allclose(on_graph, 1 - LaplacianScore(KNN(7)).evaluate(X), rtol=1e-9)
    on_classes = Explained(ClassGraph(), of="graph", power=1).evaluate(X, y)
    fisher = FisherScore().evaluate(X, y)
    np.testing.assert_allclose(on_classes, fisher / (1 + fisher), rtol=1e-9)
    K, C = ref.kernel_of_features(ref.smoothing(KNN(5).build(X).toarray()), X), ref.centred(X)
    alone = [ref.explained(K, C, [j]) for j in range(12) if j != 5]
    np.testing.assert_allclose(np.delete(SmoothSubset(power=1).evaluate(X), 5), alone, rtol=1e-9)


def test_set_fisher_is_the_trace_of_the_discriminant():
    """tr[(S_T)^-1 S_B] of the chosen features on the labelled rows."""
    X, y = data(50, 10, 2), np.arange(50) % 4
    y[::7] = -1
    selector = SpectralSelector(Explained(ClassGraph(), of="graph", power=1), n_features_to_select=4).fit(X, y)
    known, chosen = y >= 0, selector.order_[:4]
    C = X[known][:, chosen] - X[known][:, chosen].mean(axis=0)
    means = np.array([C[y[known] == c].mean(axis=0) for c in range(4)])
    between = (means.T * np.bincount(y[known])) @ means
    everything = np.delete(X[known], [3, 5, 7, 9], axis=1)  # the others depend on these
    all_C = everything - everything.mean(axis=0)
    all_means = np.array([all_C[y[known] == c].mean(axis=0) for c in range(4)])
    total = np.trace(np.linalg.solve(all_C.T @ all_C, (all_means.T * np.bincount(y[known])) @ all_means))
    assert selector.explained_[-1] == pytest.approx(np.trace(np.linalg.solve(C.T @ C, between)) / total)


def test_forward_selection_component_analysis():
    """F = I, the exact gain: at every step the column that leaves the least of X unexplained."""
    X = data(30, 20, 6)
    C = X - X.mean(axis=0)
    taken = []
    for _ in range(6):
        left = []
        for j in range(20):
            S = C[:, [*taken, j]]
            left.append(np.inf if j in taken else np.sum((C - S @ np.linalg.lstsq(S, C, rcond=None)[0]) ** 2))
        taken.append(int(np.argmin(left)))
    path = chosen(Explained(None, "identity", power=1), X, 6)
    assert path.order[:6].tolist() == taken
    assert path.explained[-1] == pytest.approx(1 - min(left) / np.sum(C**2))


# ---------------------------------------------------------------- laws


def test_copies_are_never_chosen_while_anything_else_is_left():
    X = data(40, 12, 3)
    path = chosen(SmoothSubset(), X, 12)
    assert len(path.explained) == 8, "twelve columns, of rank eight"
    assert path.explained[-1] == pytest.approx(1.0)
    for twins in ((0, 3), (1, 7)):
        assert sum(j in path.order[:8] for j in twins) == 1


def test_ties_go_to_the_smaller_column_whatever_the_engine(monkeypatch):
    X = data(30, 50, 9)
    X = np.hstack([X, X[:, ::-1]])  # every column twice
    for form in ("features", "samples"):
        turn(monkeypatch, "rounds: pool", 5)
        assert chosen(SmoothSubset(), X, 15, form=form).order[:15].max() < 50


def test_permuted_rows_and_columns_give_the_same_set(rng):
    X = rng.normal(size=(40, 30)) @ rng.normal(size=(30, 30))
    usual = SpectralSelector("subset", n_features_to_select=8).fit(X)
    rows, columns = rng.permutation(40), rng.permutation(30)
    moved = SpectralSelector("subset", n_features_to_select=8).fit(X[rows])
    assert moved.order_[:8].tolist() == usual.order_[:8].tolist()
    turned = SpectralSelector("subset", n_features_to_select=8).fit(X[:, columns])
    assert columns[turned.order_[:8]].tolist() == usual.order_[:8].tolist()


def test_sets_are_nested(rng):
    X = rng.normal(size=(30, 60))
    long = chosen(SmoothSubset(), X, 20)
    for k in (1, 5, 13):
        assert chosen(SmoothSubset(), X, k).order[:k].tolist() == long.order[:k].tolist()
    assert np.all(np.diff(long.explained) > 0)


def test_nothing_is_modified(rng):
    X = rng.normal(size=(20, 15))
    before = X.copy()
    SpectralSelector("subset", n_features_to_select=5, redundancy=0.5).fit(X)
    np.testing.assert_array_equal(X, before)


# ---------------------------------------------------------------- labels as relevance


def supervised(seed, n=40, m=15):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, m)) * rng.uniform(0.5, 3.0, m)
    X[:, 4], X[:, 7] = X[:, 4] > 0, np.round(X[:, 7]) * (rng.random(n) < 0.4)
    X[:, :3] += y[:, None]
    target = X[:, 1] + rng.normal(size=n)
    target[rng.random(n) < 0.4] = np.nan
    must, cannot = pairs_from_labels(y, 30, seed)
    few = np.where(rng.random(n) < 0.5, y, -1)
    return X, {"classes": {"y": few}, "target": {"y": target}, "pairs": {"must_link": must, "cannot_link": cannot}}


def expected_relevance(X, W, known):
    if "must_link" in known:
        return ref.pair_relevance(ref.centred(X), known["must_link"], known["cannot_link"], W)
    if known["y"].dtype.kind == "f":
        return ref.target_relevance(X, known["y"])
    return ref.class_relevance(ref.centred(X), known["y"], W)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, lambda X: X * 4 + 2.0**20])
@pytest.mark.parametrize("reads", ["classes", "target", "pairs"])
@pytest.mark.parametrize("seed", range(3))
def test_relevance_is_that_of_the_plain_loop(seed, reads, kind):
    X, known = supervised(seed)
    W = KNN(5).build(X).toarray()
    expected = expected_relevance(X, W, known[reads])
    found = Relevance(Precomputed(W)).evaluate(kind(X), **known[reads])
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    product = (Relevance(Precomputed(W)) * Variance()).evaluate(X, **known[reads])
    np.testing.assert_allclose(product, expected * X.var(axis=0), rtol=1e-9)
    order = expected_path(X, 8, relevance=expected, W=W)[0]
    path = SpectralSelector(SmoothSubset(Precomputed(W)), n_features_to_select=8).fit(X, **known[reads])
    assert path.order_[:8].tolist() == order


def test_where_labels_say_nothing_the_set_is_the_unsupervised_one():
    X, known = supervised(5)
    codes, must = known["classes"]["y"], known["pairs"]["must_link"]
    plain = SpectralSelector("subset", n_features_to_select=8, screen=None).fit(X).order_.tolist()
    one_each = np.full(len(X), -1)
    for c in range(3):
        one_each[np.flatnonzero(codes == c)[0]] = c
    three = np.full(len(X), np.nan)
    three[:3] = [0.5, 1.5, 2.5]
    nothing = [
        {"y": one_each},
        {"y": np.where(codes == 1, 0, -1)},
        {"y": three},
        {"must_link": must},
    ]
    for told in nothing:
        assert SpectralSelector("subset", n_features_to_select=8, screen=None).fit(X, **told).order_.tolist() == plain
    with pytest.warns(UserWarning, match="all 40 labels in y are unknown"):
        unknown = SpectralSelector("subset", n_features_to_select=8, screen=None).fit(X, np.full(len(X), -1))
    assert unknown.order_.tolist() == plain
    ignored = SpectralSelector(SmoothSubset(supervised=False), n_features_to_select=8, screen=None).fit(X, codes)
    assert ignored.order_.tolist() == plain
    assert SpectralSelector("subset", n_features_to_select=8, screen=None).fit(X, codes).order_.tolist() != plain


def test_many_labelled_rows_are_searched_in_a_sample(rng, monkeypatch):
    y = np.r_[np.zeros(400, dtype=int), np.ones(590, dtype=int), np.full(10, 2)]
    X = rng.normal(size=(1000, 12)) + np.outer(y, np.linspace(2, 0, 12))
    whole = Relevance().evaluate(X, y)
    turn(monkeypatch, "relevance: most rows", 200)
    np.testing.assert_allclose(Relevance().evaluate(X, y), whole, atol=0.08)
    few = np.where(np.arange(1000) % 5 == 0, y, -1)  # 200 labelled rows: all of them are searched
    found = Relevance().evaluate(X, few)
    turn(monkeypatch, "relevance: most rows", 10_000)
    np.testing.assert_array_equal(found, Relevance().evaluate(X, few))


def test_minus_one_and_one_are_asked_about():
    X, y = data(20, 12), np.where(np.arange(20) % 2, 1, -1)
    with pytest.raises(ValueError, match="is -1 a class or an unknown label"):
        SpectralSelector("subset", n_features_to_select=3).fit(X, y)
    SpectralSelector("subset", n_features_to_select=3, unlabeled=None).fit(X, y)


def test_targets_that_are_mostly_the_same():
    X = data(30, 12)
    y = np.where(np.arange(30) < 25, 0.5, X[:, 0])
    scores = Relevance().evaluate(X, y)
    assert np.isfinite(np.delete(scores, 5)).all()


def test_many_targets_take_no_pairs_of_them():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 4))
    scores = Relevance().evaluate(X, X[:, 2] + 0.1 * rng.normal(size=5000))
    assert np.argmax(scores) == 2


# ---------------------------------------------------------------- algebra and text


def test_a_score_times_a_set_is_a_set():
    X, y = data(40, 12, 1), np.arange(40) % 3
    mine = FisherScore() * SmoothSubset(supervised=False)
    assert mine.is_set
    assert mine.reads == {"classes"}
    fisher = np.nan_to_num(FisherScore().evaluate(X, y))
    order = expected_path(X, 6, relevance=fisher)[0]
    assert SpectralSelector(mine, n_features_to_select=6).fit(X, y).order_[:6].tolist() == order
    again = parse(unparse(mine))
    assert SpectralSelector(again, n_features_to_select=6).fit(X, y).order_[:6].tolist() == order


def test_kernels_add():
    X, y = data(40, 12, 1), np.arange(40) % 3
    F = ref.smoothing(KNN(5).build(X).toarray()), ref.smoothing(ClassGraph().build(X, y).toarray())
    K = ref.kernel_of_features(F[0], X) + 0.5 * ref.kernel_of_features(F[1], X)
    order, gains, first = ref.greedy(K, ref.centred(X), 6)
    both = Explained(KNN(5)) + 0.5 * Explained(ClassGraph())
    path = chosen(both, X, 6, y)
    assert path.order[:6].tolist() == order
    np.testing.assert_allclose(path.scores, first, rtol=1e-9)
    assert path.explained[-1] == pytest.approx(sum(gains) / ref.explained(K, ref.centred(X), range(12)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SmoothSubset() * SmoothSubset(), "both choose sets of features; add their kernels"),
        (lambda: Explained(KNN()) + Variance(), "one chooses sets of features"),
        (lambda: Explained(KNN()) + Explained(KNN(), power=1), "must have the same power"),
        (lambda: LaplacianScore() * SmoothSubset(), "large is good in"),
        (lambda: (-1 * Explained(KNN())).set_formula(), "only by a positive number"),
        (lambda: Explained(CannotLink()).set_formula(), "cannot smooth"),
        (lambda: Explained(KNN(), "rough").set_formula(), "filter"),
        (lambda: Explained(KNN(), of="rows").set_formula(), "of"),
        (lambda: Explained(KNN(), power=2).set_formula(), "power"),
        (lambda: Explained(None).evaluate(np.eye(9)), "needs a graph, got graph=None"),
        (
            lambda: (Explained(KNN(3), of="graph") + Explained(KNN(5), of="graph")).evaluate(data(20, 12)),
            "weight the samples differently",
        ),
    ],
)
def test_what_cannot_be(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


# ---------------------------------------------------------------- out of memory


@pytest.fixture
def stored(tmp_path):
    X = data(26, 120, 4)
    np.save(tmp_path / "X.npy", np.asfortranarray(X))
    return X, tmp_path / "X.npy"


def test_from_a_file_in_few_passes(stored, monkeypatch):
    X, path = stored
    expected = SpectralSelector("subset", n_features_to_select=15).fit(X)
    turn(monkeypatch, "rounds: pool of files", 20)
    steps = []
    with config_context(working_memory=0.02), Run(progress=lambda done, total, what: steps.append((done, what))):
        found = SpectralSelector("subset", n_features_to_select=15).fit(open_source(path))
    assert found.order_.tolist() == expected.order_.tolist()
    np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-9)
    np.testing.assert_allclose(found.explained_, expected.explained_, rtol=1e-9)
    assert sum(done == 0 for done, _ in steps) <= 10, "passes over the file, those of the graph included"


def test_an_interrupted_search_goes_on(stored, tmp_path):
    X, path = stored
    expected = SpectralSelector("subset", n_features_to_select=15, screen=None).fit(X)
    folder = tmp_path / "blocks"

    def fit(stop_after):
        seen = []

        def progress(done, total, what):
            seen.append(done)
            if len(seen) > stop_after:
                raise KeyboardInterrupt

        with config_context(working_memory=0.01), Run(progress, folder, "same") as run:
            return SpectralSelector("subset", n_features_to_select=15, screen=None).fit(open_source(path)), run.n_reused

    with pytest.raises(KeyboardInterrupt):
        fit(25)
    found, reused = fit(np.inf)
    assert found.order_.tolist() == expected.order_.tolist()
    assert reused > 5
    assert not folder.exists()


@pytest.mark.parametrize("chunks", [(7, 12), (30, 12)])
def test_by_rows_with_anchors_in_one_pass(chunks, rng):
    da = pytest.importorskip("dask.array")
    X = rng.normal(size=(60, 4)) @ rng.normal(size=(4, 12)) + 0.3 * rng.normal(size=(60, 12)) + 1e4
    X[:, 5] = 2.5
    criterion = SmoothSubset(Anchors(n_anchors=12, n_neighbors=3), supervised=False)
    expected = SpectralSelector(criterion, n_features_to_select=6).fit(X)
    with config_context(working_memory=0.03):
        found = SpectralSelector(criterion, n_features_to_select=6).fit(da.from_array(X, chunks=chunks))
    assert found.order_.tolist() == expected.order_.tolist()
    np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-8)
    np.testing.assert_allclose(found.explained_, expected.explained_, rtol=1e-8)


# ---------------------------------------------------------------- the selector


def test_auto_takes_what_explains_nine_tenths():
    X = data(40, 30, 2)
    selector = SpectralSelector("subset", n_features_to_select="auto").fit(X)
    assert selector.explained_[-1] >= 0.9
    assert len(selector.explained_) == selector.n_features_ == selector.support_.sum()
    assert len(selector.explained_) == 1 or selector.explained_[-2] < 0.9
    with pytest.raises(ValueError, match=r"'auto' needs a criterion that chooses sets.*suggest_n_features"):
        SpectralSelector("laplacian", n_features_to_select="auto").fit(X)
    with pytest.raises(TypeError, match="n_features_to_select must be an integer"):
        SpectralSelector("subset", n_features_to_select="all").fit(X)


def test_more_features_than_the_set_has():
    X = data(30, 12)
    selector = SpectralSelector("subset", n_features_to_select=11).fit(X)
    assert len(selector.explained_) == 8
    assert selector.support_.sum() == 11
    with pytest.warns(UserWarning, match="1 of the 12 selected features have no score"):
        SpectralSelector("subset", n_features_to_select=12).fit(X)


def test_constants_alone():
    with pytest.warns(UserWarning, match="have no score"):
        selector = SpectralSelector("subset", n_features_to_select=2).fit(np.ones((12, 4)))
    assert selector.order_.tolist() == [0, 1, 2, 3]
    assert len(selector.explained_) == 0


def test_in_a_search_and_a_pipeline(blobs):
    X, y = blobs
    pipe = make_pipeline(SpectralSelector("subset", n_features_to_select=3), KNeighborsClassifier(3))
    grid = {"spectralselector__criterion__power": [0.5, 1.0], "spectralselector__criterion__graph__n_neighbors": [3, 5]}
    search = GridSearchCV(pipe, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.5
    assert clone(search.best_estimator_[0]).criterion.power in (0.5, 1.0)


# ---------------------------------------------------------------- near copies


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, lambda X: X + 1e6, lambda X: sp.csc_array(X + 1e6)])
@pytest.mark.parametrize("limit", [True, 0.3, 0.95])
def test_pruned_rankings_are_those_of_the_plain_loop(monkeypatch, limit, kind):
    X = data(40, 60, 3)
    X[:, 5] = X[:, 8] ** 2
    for at_once in (256, 7):
        turn(monkeypatch, "redundancy: at once", at_once)
        ranked = SpectralSelector("variance", n_features_to_select=10).fit(kind(X)).order_
        kept, passed = ref.pruned(ranked.tolist(), X, 0.7 if limit is True else limit, 10)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # at .3 there are not ten that differ so much
            selector = SpectralSelector("variance", n_features_to_select=10, redundancy=limit).fit(kind(X))
        assert selector.order_[: len(kept)].tolist() == kept
        behind = np.flatnonzero(selector.stands_for_ >= 0)
        assert dict(zip(behind.tolist(), selector.stands_for_[behind].tolist(), strict=True)) == passed
        assert sorted(selector.order_.tolist()) == list(range(60))


def test_pruning_reads_no_more_than_it_needs(stored):
    X, path = stored
    expected = SpectralSelector("variance", n_features_to_select=12, redundancy=True).fit(X)
    with config_context(working_memory=0.02):
        found = SpectralSelector("variance", n_features_to_select=12, redundancy=True).fit(open_source(path))
    assert found.order_.tolist() == expected.order_.tolist()


def test_when_all_others_are_copies():
    X = np.outer(np.arange(20.0) ** 2, np.arange(1.0, 6.0))
    with pytest.warns(UserWarning, match="only 1 features are not near-duplicates"):
        selector = SpectralSelector("variance", n_features_to_select=3, redundancy=True).fit(X)
    assert selector.order_.tolist() == [4, 3, 2, 1, 0]
    assert selector.stands_for_.tolist() == [4, 4, 4, 4, -1]


@pytest.mark.parametrize("wrong", [0.0, 2.0, "yes", 1])
def test_a_limit_that_is_none(wrong):
    with pytest.raises(ValueError, match="redundancy must be True, None or a limit"):
        SpectralSelector("variance", redundancy=wrong).fit(data(20, 12))


# ---------------------------------------------------------------- copies, and what is built once


@pytest.mark.parametrize("draw", range(60))
def test_identical_columns_are_equally_relevant(draw):
    rng = np.random.default_rng(draw)
    n, m = int(rng.integers(20, 60)), int(rng.integers(3, 200))
    X = rng.normal(size=(n, m))
    X[:, -1] = X[:, 0]
    y = rng.integers(3, size=n)
    scores = Relevance().evaluate(X, y)
    assert scores[0] == scores[-1]
    product = (Relevance() * Variance()).evaluate(X, y)
    assert product[0] == product[-1]
    order = SpectralSelector(Relevance()).fit(X, y).order_.tolist()
    assert order.index(0) < order.index(m - 1)


@pytest.mark.parametrize("reads", ["classes", "target", "pairs"])
def test_a_problem_that_is_solved_again_gives_the_same_sets(reads, rng):
    X = rng.normal(size=(60, 40)) @ rng.normal(size=(40, 40))
    problem = Problem.of(X, reuse=True)
    for seed in range(3):
        labels = np.random.default_rng(seed).integers(3, size=60)
        known = {"y": labels}
        if reads == "target":
            known = {"y": labels + X[:, seed]}
        elif reads == "pairs":
            known = dict(zip(("must_link", "cannot_link"), pairs_from_labels(labels, 15, seed), strict=True))
        again = SpectralSelector("subset", n_features_to_select=9).fit(problem, **known)
        fresh = SpectralSelector("subset", n_features_to_select=9).fit(X, **known)
        np.testing.assert_array_equal(again.order_, fresh.order_)
        np.testing.assert_array_equal(again.scores_, fresh.scores_)


def test_distances_kernel_and_ranks_are_made_once(rng, monkeypatch):
    """All row distances once for the graph and the labels; with other labels nothing is made again."""
    made, keep = [], Problem.keep

    def kept(self, key, make, supervised=False):
        name = key if isinstance(key, str) else getattr(key[0], "__name__", key[0])
        return keep(self, key, lambda: made.append(name) or make(), supervised)

    monkeypatch.setattr(Problem, "keep", kept)
    monkeypatch.setattr("fiedler.graphs.supervised.row_distances", lambda *given: made.append("of the labelled rows"))
    X, y = rng.normal(size=(50, 30)), np.arange(50) % 3
    SpectralSelector("subset", n_features_to_select=5, screen=None).fit(X, y)
    assert sorted(made) == ["KNN", "distances", "kernel"]
    made.clear()
    problem = Problem.of(X, reuse=True)
    for labels in (y, y[::-1], np.roll(y, 1)):
        SpectralSelector("subset", n_features_to_select=5, screen=None).fit(problem, labels)
    assert sorted(made) == ["KNN", "distances", "kernel", "mid-ranks", "neighbour means"]


@pytest.mark.parametrize("kind", [np.asarray, sp.csc_array])
@pytest.mark.parametrize("factor", [1e-90, 1e78])
def test_columns_whose_fourth_powers_are_no_numbers_are_refused(factor, kind):
    X = data(30, 12) * factor
    with pytest.raises(ValueError, match=r"sets of features need columns .* between 1e-60 and 1e\+60.*divide X by"):
        SpectralSelector("subset").fit(kind(X))


@pytest.mark.parametrize("exponent", [-150, 150])
def test_a_power_of_two_changes_no_set(exponent):
    X = data(30, 12)
    usual = SpectralSelector("subset", n_features_to_select=6).fit(X)
    scaled = SpectralSelector("subset", n_features_to_select=6).fit(np.ldexp(X, exponent))
    np.testing.assert_array_equal(scaled.order_, usual.order_)
    np.testing.assert_array_equal(scaled.explained_, usual.explained_)


def test_a_path_ends_where_every_feature_lowers_what_is_explained(rng):
    """A kernel that is not positive: features beyond the path follow by what they take away, and a warning says so."""
    X = rng.normal(size=(24, 40))
    criterion = Explained(KNN(5), "walk", of="graph", power=1)
    graph = KNN(5).build(X)
    with pytest.warns(UserWarning, match=r"only the first \d+ of the 30 selected features add .*Lower n_features"):
        selector = SpectralSelector(criterion, n_features_to_select=30).fit(X)
    path = len(selector.explained_)
    assert 0 < path < 30
    d, W = graph.degree, graph.toarray()
    C = np.sqrt(d)[:, None] * (X - d @ X / d.sum())
    A = W / np.sqrt(np.outer(d, d))
    u = np.sqrt(d / d.sum())
    K = A - np.outer(u, u)
    chosen = selector.order_[:path].tolist()

    def explained(columns):
        return np.trace(np.linalg.pinv(C[:, columns].T @ C[:, columns]) @ C[:, columns].T @ K @ C[:, columns])

    losses = {j: explained([*chosen, j]) - explained(chosen) for j in selector.order_[path:].tolist()}
    live = [
        j
        for j in losses
        if np.abs(C[:, j] - C[:, chosen] @ np.linalg.lstsq(C[:, chosen], C[:, j], rcond=None)[0]).max() > 1e-6
    ]
    assert max(losses[j] for j in live) <= 1e-12
    assert [losses[j] for j in live] == sorted((losses[j] for j in live), reverse=True)
    few = SpectralSelector(criterion, n_features_to_select=path).fit(X)  # no warning
    np.testing.assert_array_equal(few.order_[:path], selector.order_[:path])


def test_the_filter_of_two_steps_is_the_mean_of_one_and_two_averages():
    X = np.random.default_rng(0).normal(size=(60, 8))
    graph = KNN(5).build(X)
    d = graph.degree
    A = graph.toarray() / np.sqrt(np.outer(d, d))
    u = np.sqrt(d) / np.linalg.norm(np.sqrt(d))
    F = A @ (np.eye(60) + A) / 2 - np.outer(u, u)
    np.testing.assert_allclose(smoothing.smoother(graph, "steps", 60).apply(np.eye(60)), F, atol=1e-12)
    C = X - X.mean(axis=0)
    K = F @ C @ C.T @ F
    scores = Explained(KNN(5), "steps").evaluate(X)
    np.testing.assert_allclose(scores, [c @ K @ c / np.sqrt(c @ c) for c in C.T], rtol=1e-9)
    forms = [chosen(Explained(KNN(5), "steps"), X, 8, form=form) for form in ("samples", "features")]
    assert forms[0].order.tolist() == forms[1].order.tolist()
    np.testing.assert_allclose(forms[0].explained, forms[1].explained, rtol=1e-8)
