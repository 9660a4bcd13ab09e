"""Missing values: distances over common columns, holes filled from the nearest rows, and penalties that keep columns
from gaining by their holes."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from inside import turn
from rendering import page_of
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fiedler
from fiedler import (
    KNN,
    RBF,
    ConstraintScore,
    Correlation,
    Energy,
    FisherScore,
    LaplacianScore,
    MustLink,
    Precomputed,
    Problem,
    ReliefF,
    SmoothSubset,
    SpectralSelector,
    SSelect,
    TableWarning,
    Variance,
    summarize,
)
from fiedler.criteria.missing import difference_penalty, fair_share, quotient_penalty
from fiedler.data.arrays import holes_of
from fiedler.data.columns import Groups
from fiedler.engine.missing import filled, known_neighbors
from fiedler.evaluate import (
    accuracy_curve,
    compare,
    missing_values,
    neighborhood_jaccard,
    significance,
    stability,
    suggest_n_features,
    tune,
)
from fiedler.syntax import as_criterion

METHODS = [name for name in fiedler.METHODS if name != "evsc"]


def with_holes(n=60, m=6, share=0.2, seed=0, offset=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m)) + offset
    X[:, : m // 2] += rng.integers(0, 3, size=(n, 1))
    X[rng.random(X.shape) < share] = np.nan
    X[np.isnan(X).all(axis=1), 0] = 0.5 + offset
    return X


def filled_by_loops(X, owner=None):
    """Section by section: distances over common features, then the mean of the five nearest rows that know j."""
    n, m = X.shape
    owner = np.arange(m) if owner is None else owner
    known, result = ~np.isnan(X), X.copy()
    for a in range(n):
        distance = np.full(n, np.inf)
        for b in range(n):
            common = known[a] & known[b]
            features = [f for f in np.unique(owner) if common[owner == f].all()]
            if a != b and features:
                distance[b] = sum((X[a, j] - X[b, j]) ** 2 for j in range(m) if common[j]) / len(features)
        order = np.argsort(distance, kind="stable")
        for j in np.flatnonzero(~known[a]):
            near = [b for b in order if known[b, j] and np.isfinite(distance[b])][:5]
            result[a, j] = np.mean(X[near, j])
    return result


# -------------------------------------------------------------------- filling


@pytest.mark.parametrize(("n", "m", "share"), [(40, 5, 0.1), (60, 7, 0.3), (90, 4, 0.6), (7, 3, 0.2)])
def test_holes_are_filled_as_by_plain_loops(n, m, share):
    X = with_holes(n, m, share)
    np.testing.assert_allclose(filled(X, ~np.isnan(X)), filled_by_loops(X), rtol=1e-12)


def test_a_large_offset_costs_no_digits():
    X = with_holes(50, 5, 0.2)
    np.testing.assert_allclose(filled(X + 1e8, ~np.isnan(X)) - 1e8, filled_by_loops(X), atol=1e-6)


@pytest.mark.parametrize("limit", [0.0, np.inf])
def test_single_and_double_precision_find_the_same_neighbours(monkeypatch, limit):
    X = with_holes(150, 8, 0.2)
    expected = filled_by_loops(X)
    turn(monkeypatch, "missing: single pays", limit)
    np.testing.assert_allclose(filled(X, ~np.isnan(X)), expected, rtol=1e-12)


def test_rare_and_common_columns_are_filled_alike(monkeypatch):
    X = with_holes(120, 5, 0.3)
    expected = filled(X, ~np.isnan(X))
    for rare in (0, 10**9):
        turn(monkeypatch, "missing: rare", rare)
        np.testing.assert_allclose(filled(X, ~np.isnan(X)), expected, rtol=1e-12)


def test_few_candidates_fall_back_to_all_rows(monkeypatch):
    X = with_holes(300, 6, 0.2)
    X[:280, 0] = np.nan
    expected = filled(X, ~np.isnan(X))
    turn(monkeypatch, "missing: rare", 0)
    turn(monkeypatch, "missing: spare", 6 - 10 * 300 / np.sum(~np.isnan(X[:, 0])))  # six candidates for each row
    np.testing.assert_allclose(filled(X, ~np.isnan(X)), expected, rtol=1e-12)


def test_a_feature_of_several_columns_counts_once_in_a_distance():
    X = with_holes(50, 5, 0.0)
    X[::3, 3:] = np.nan  # columns 3 and 4 are one feature
    X[1::4, 0] = np.nan
    owner = np.array([0, 1, 2, 3, 3])
    result = filled(X, ~np.isnan(X), Groups(owner, np.arange(4)))
    np.testing.assert_allclose(result, filled_by_loops(X, owner), rtol=1e-12)


def test_equal_values_stay_exactly_equal_and_known_values_are_kept():
    X = with_holes(50, 4, 0.2)
    X[:, 3] = np.where(np.isnan(X[:, 3]), np.nan, 0.1 + 0.2)
    result = filled(X, ~np.isnan(X))
    assert (result[:, 3] == 0.1 + 0.2).all()
    known = ~np.isnan(X)
    assert (result[known] == X[known]).all()


def test_permuting_rows_and_columns_permutes_the_result():
    X = with_holes(70, 6, 0.25)
    expected = filled(X, ~np.isnan(X))
    rng = np.random.default_rng(1)
    rows, columns = rng.permutation(70), rng.permutation(6)
    Y = X[rows][:, columns]
    np.testing.assert_allclose(filled(Y, ~np.isnan(Y)), expected[rows][:, columns], rtol=1e-12)


def test_known_neighbors_are_the_nearest_by_common_columns():
    X = with_holes(40, 5, 0.3)
    known = ~np.isnan(X)
    i, j, squared = known_neighbors(X, known, 4)
    for a in range(40):
        distance = np.full(40, np.inf)
        for b in range(40):
            common = known[a] & known[b]
            if a != b and common.any():
                distance[b] = 5 * np.mean((X[a, common] - X[b, common]) ** 2)
        assert set(j[i == a]) == set(np.argsort(distance, kind="stable")[:4])
        np.testing.assert_allclose(np.sort(squared[i == a]), np.sort(distance)[:4], rtol=1e-9)


def test_float32_stays_float32_and_X_is_not_modified():
    X = with_holes().astype(np.float32)
    before = X.copy()
    assert filled(X, ~np.isnan(X)).dtype == np.float32
    LaplacianScore().evaluate(X)
    np.testing.assert_array_equal(X, before)


# -------------------------------------------------------------------- penalties


def test_complete_columns_have_no_penalty_and_holes_cost_something():
    X = with_holes(60, 6, 0.3)
    X[:, 2] = np.arange(60.0)
    problem = Problem.read(X)
    graph = problem.graph(KNN())
    penalty = quotient_penalty(problem, graph)
    W, K = graph.toarray(), ~np.isnan(X)
    sigma = np.sqrt(2 * (W**2).sum()) / W.sum()
    for j in range(6):
        Wj = W * np.outer(K[:, j], K[:, j])
        assert penalty[j] == pytest.approx(0.85 * (np.sqrt(2 * (Wj**2).sum()) / Wj.sum() - sigma), abs=1e-15)
    assert penalty[2] == 0.0
    assert (np.delete(penalty, 2) > 0).all()


def test_the_penalty_of_a_difference_is_the_deviation_of_a_quadratic_form():
    rng = np.random.default_rng(0)
    X = with_holes(30, 4, 0.2)
    problem = Problem.read(X)
    near, far = ((np.triu(rng.random((30, 30)) < 0.2, 1)).astype(float) for _ in range(2))
    near, far = near + near.T, far + far.T
    K = ~np.isnan(X)

    def deviation(k):
        A = 0.0
        for sign, W in ((1, near), (-1, far)):
            Wj = W * np.outer(k, k)
            L = np.diag(Wj.sum(axis=1)) - Wj
            A = A + sign * L / np.trace(L)
        return np.sqrt(2 * np.trace(A @ A))

    expected = [deviation(K[:, j]) - deviation(np.ones(30)) for j in range(4)]
    np.testing.assert_allclose(difference_penalty(problem, near, far), expected, rtol=1e-9, atol=1e-14)


def test_a_laplacian_score_reads_edges_of_known_rows_and_adds_the_penalty():
    X = with_holes(60, 5, 0.2)
    X[:, 4] = np.arange(60.0) % 7
    problem = Problem.read(X)
    graph = problem.graph(KNN())
    W, K = graph.toarray(), ~np.isnan(X)

    def parts(f, k):
        """Energy, mass and the mean of their quotient under noise, over the edges between known rows."""
        Wk = W * np.outer(k, k)
        d = Wk.sum(axis=1)
        f = np.where(k, f, 0.0) - (d @ np.where(k, f, 0.0)) / d.sum()
        energy = 0.5 * sum(Wk[a, b] * (f[a] - f[b]) ** 2 for a in range(60) for b in range(60))
        return energy, d @ f**2, d.sum() / (d.sum() - d @ d / d.sum())

    expected, usual = [], parts(X[:, 4], K[:, 4])[2]
    for j in range(5):
        energy, mass, noise = parts(X[:, j], K[:, j])
        expected.append(energy / mass * usual / noise)
    expected = np.array(expected) + quotient_penalty(problem, graph)
    np.testing.assert_allclose(LaplacianScore().evaluate(X), expected, rtol=1e-12)
    complete = LaplacianScore(Precomputed(graph)).evaluate(problem.X)
    assert LaplacianScore().evaluate(X)[4] == complete[4]  # to the last bit
    # φ2 with γ = 1 is the same score, and a factor multiplies all of it.
    np.testing.assert_allclose(fiedler.SPEC().evaluate(X), expected, rtol=1e-12)
    np.testing.assert_allclose((2 * LaplacianScore()).evaluate(X), 2 * expected, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["laplacian", "sls"])
def test_noise_columns_with_holes_are_fair_beside_clusters(method):
    """Four rates of missing values in noise beside columns that form clusters: each fills its share of the top tenth.

    Filled values repeat the means of the clusters, so a score that reads them favours the columns with most missing
    values. Mean shares are within .5 and 1.5.
    """
    criterion, rates, share = as_criterion(method), [0.0, 0.3, 0.6, 0.9], np.zeros(4)
    for draw in range(24):
        rng = np.random.default_rng(draw)
        classes = rng.integers(3, size=120)
        noise = rng.normal(size=(120, 60))
        for j in range(60):
            noise[rng.permutation(120)[: int(120 * rates[j % 4])], j] = np.nan
        X = np.hstack([2.0 * rng.normal(size=(3, 20))[classes] + rng.normal(size=(120, 20)), noise])
        scores = criterion.evaluate(X, classes + rng.normal(size=120))[20:]
        share += np.bincount(np.argsort(scores, kind="stable")[:6] % 4, minlength=4) / 6 * 4 / 24
    assert (share > 0.5).all(), share
    assert (share < 1.5).all(), share


def test_sets_read_the_filled_table_as_it_is():
    X = with_holes(60, 6, 0.2)
    chosen = SpectralSelector("subset", n_features_to_select=3).fit(X)
    assert (
        chosen.order_.tolist()
        == SpectralSelector("subset", n_features_to_select=3).fit(Problem.read(X).X).order_.tolist()
    )


def test_fisher_and_correlation_read_known_values_only():
    X = with_holes(80, 5, 0.3)
    y = np.arange(80) % 3
    t = np.random.default_rng(0).normal(size=80)
    fisher, correlation = FisherScore().evaluate(X, y), Correlation().evaluate(X, t)
    for j in range(5):
        k = ~np.isnan(X[:, j])
        plain = FisherScore().evaluate(X[k, j : j + 1], y[k])[0]
        assert fisher[j] == pytest.approx(
            1 / fair_share(np.array([1 / (1 + plain)]), np.array([k.sum()]), 80, 3)[0] - 1
        )
        r = np.corrcoef(X[k, j], t[k])[0, 1]
        share = 1 - fair_share(np.array([1 - r**2]), np.array([k.sum()]), 80, 2)[0]
        assert correlation[j] == pytest.approx(np.sqrt(max(share, 0)), abs=1e-12)
        assert Variance().evaluate(X)[j] == pytest.approx(np.var(X[k, j]))


def test_a_column_that_knows_no_pair_of_one_kind_ranks_last():
    X = with_holes(40, 4, 0.0)
    must, cannot = [[0, 1], [2, 3], [4, 5]], [[0, 10], [2, 12], [4, 14]]
    X[[10, 12, 14], 1] = np.nan
    scores = ConstraintScore(1).evaluate(X, must_link=must, cannot_link=cannot)
    assert np.isinf(scores[1])
    assert np.isfinite(np.delete(scores, 1)).all()


HOLES = {
    "at random": lambda rng, n, rate: rng.random(n) < rate,
    "by block": lambda rng, n, rate: (np.arange(n) + rng.integers(n)) % n < rate * n,
    "by class": lambda rng, n, rate: rng.random(n) < np.where(np.arange(n) % 3, 0.75 * rate, min(1.5 * rate, 0.95)),
}
RATES = [0.1, 0.3, 0.5, 0.7, 0.9]
FAIR = ["laplacian", "fisher", "sls", "correlation", "constraint[variant=1]", "constraint[variant=2]", "relieff"]


@pytest.mark.slow
@pytest.mark.parametrize("pattern", HOLES)
def test_noise_columns_with_holes_are_not_favoured(pattern):
    """Three complete columns of noise and three with holes, beside columns with structure, in 200 draws.

    The share of draws in which a column with holes is the best of the noise, divided by 1/2, is at most 1.1, plus two
    standard errors of 200 draws. All methods score the same tables, whose holes are filled once.
    """
    rng, n, draws = np.random.default_rng(7), 120, 200
    structure = rng.normal(size=(n, 6)) + 3.0 * (np.arange(n) % 3)[:, None]
    y = np.arange(n) % 3
    target = y + np.random.default_rng(8).normal(size=n)
    criteria, best = {name: as_criterion(name) for name in FAIR}, dict.fromkeys(FAIR, 0)
    for draw in range(draws):
        noise = rng.normal(size=(n, 6))
        for j in (3, 4, 5):
            noise[HOLES[pattern](rng, n, RATES[draw % len(RATES)]), j] = np.nan
        table = Problem.of(np.hstack([structure, noise]))
        for name, criterion in criteria.items():
            scores = criterion.evaluate(table, target if name in ("sls", "correlation") else y)[6:]
            best[name] += np.nanargmax(scores if criterion.greater_is_better else -scores) >= 3
    assert max(best.values()) / draws * 2 <= 1.1 + 2 * 2 * np.sqrt(0.25 / draws), best


# -------------------------------------------------------------------- entrances


@pytest.fixture
def iris_with_holes():
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.copy()
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    return X, y.to_numpy()


@pytest.mark.parametrize("name", METHODS)
def test_every_method_but_evsc_takes_holes(iris_with_holes, name):
    X, y = iris_with_holes
    target = np.where(y == 0, 0.5, y * 1.7) if name in ("correlation", "sls", "ssls") else y
    selector = SpectralSelector(name, n_features_to_select=2).fit(X.to_numpy(), target)
    assert selector.transform(X.to_numpy()).shape == (150, 2)
    assert np.isnan(selector.transform(X.to_numpy())).any()  # holes are left as they are


def test_containers_of_holes_give_the_same_scores(iris_with_holes):
    X, _ = iris_with_holes
    expected = LaplacianScore().evaluate(X.to_numpy())
    nulls = pl.DataFrame(
        {name: pl.Series(X[name].to_list(), dtype=pl.Float64, strict=False).fill_nan(None) for name in X}
    )
    same = [X, X.astype("Float64"), np.ma.masked_invalid(X.to_numpy()), nulls, X.to_numpy().tolist()]
    same.append(np.where(X.isna(), None, X.astype(object)))
    xr = pytest.importorskip("xarray")
    same.append(xr.DataArray(X.to_numpy(), dims=("row", "feature")))
    for table in same:
        np.testing.assert_allclose(LaplacianScore().evaluate(table), expected, rtol=1e-12)


def test_no_hole_changes_no_bit():
    X, y = load_wine(return_X_y=True)
    X = X / X.std(axis=0)
    for name in ("laplacian", "fisher", "subset", "relieff"):
        plain = SpectralSelector(name).fit(Problem(X), y).scores_
        np.testing.assert_array_equal(SpectralSelector(name).fit(X, y).scores_, plain)
    assert holes_of(X) is None
    assert holes_of(np.full((5, 3), 1e308)) is None  # an overflowing sum is no hole
    with pytest.raises(ValueError, match="inf"):
        LaplacianScore().evaluate(np.where(X > X.mean(), np.inf, X))


def test_a_pipeline_and_its_output_keep_holes(iris_with_holes):
    X, y = iris_with_holes
    pipe = make_pipeline(StandardScaler(), SpectralSelector("fisher", n_features_to_select=2)).set_output(
        transform="pandas"
    )
    out = pipe.fit(X, y).transform(X)
    assert list(out.columns) == ["petal length (cm)", "petal width (cm)"]
    assert out.isna().any().any()


def test_evaluation_takes_holes(iris_with_holes):
    X, y = iris_with_holes
    assert accuracy_curve(X, y, [2, 3], n_features=[2], n_repeats=2).mean[0] > 0.85
    assert 0 < neighborhood_jaccard(X, [2, 3]) <= 1
    result = compare(["laplacian", "fisher"], X, y, n_features=[2], n_draws=2, n_jobs=1)
    assert result.values("fisher").mean() > 0.85
    assert stability("laplacian", X, k=2, n_draws=5).frequency.sum() == pytest.approx(2.0)


def test_a_product_penalises_each_factor():
    X = with_holes(60, 5, 0.2)
    pairs = {"must_link": [[0, 1], [2, 3], [4, 9]], "cannot_link": [[0, 20], [2, 30], [5, 41]]}
    c4 = ConstraintScore(4, graph=KNN()).evaluate(X, **pairs)
    np.testing.assert_allclose(
        c4, LaplacianScore(KNN()).evaluate(X) * ConstraintScore(1).evaluate(X, **pairs), rtol=1e-12
    )


@pytest.mark.parametrize(
    "criterion", [LaplacianScore(RBF()), SSelect(), ReliefF(3), SmoothSubset(), Energy(MustLink())]
)
def test_other_graphs_and_formulas_take_holes(criterion):
    X, y = with_holes(60, 5, 0.2), np.arange(60) % 3
    assert np.isfinite(criterion.evaluate(X, y)).all()


# -------------------------------------------------------------------- refusals


def refused(match, function):
    with pytest.raises(ValueError, match=match) as error:
        function()
    assert str(error.value).count(". ") <= 1  # one sentence
    assert any(way in str(error.value) for way in ("drop", "use", "fill", "impute"))


def test_what_cannot_be_computed_is_refused_with_a_way_out():
    X = with_holes(40, 5, 0.2)
    refused("missing values", lambda: SpectralSelector("evsc").fit(X))
    refused("p-values", lambda: SpectralSelector("laplacian", n_features_to_select="fdr").fit(X))
    refused("p-values", lambda: SpectralSelector("laplacian", screen="fdr").fit(X))
    with pytest.raises(ValueError, match=r"too few known values\. Not used: 0 \(fewer than 5 known values\), 1 \("):
        LaplacianScore().evaluate(np.r_[X[:3, :2].round() * 0, np.full((20, 2), np.nan)])
    import scipy.sparse as sp

    refused("NaN", lambda: LaplacianScore().evaluate(sp.csr_array(np.nan_to_num(X) + np.where(np.isnan(X), np.nan, 0))))


def test_a_graph_in_factors_over_many_rows_is_refused(monkeypatch):

    turn(monkeypatch, "corrections: most rows", 10)
    refused("not sparse", lambda: LaplacianScore(RBF()).evaluate(with_holes(40, 5, 0.2)))


# -------------------------------------------------------------------- rows and columns that are (nearly) empty


KINDS = {"array": np.asarray, "pandas": lambda X: pd.DataFrame(X, columns=list("abcdefg")[: X.shape[1]])}


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_with_few_known_values_is_left_out(kind):
    X = with_holes(40, 6, 0.2)
    few = np.column_stack([X, np.r_[X[:4, 0], np.full(36, np.nan)]])
    few[:4, 6] = [1.0, 2.0, 3.0, 4.0]
    name = "'g'" if kind == "pandas" else "6"
    with pytest.warns(TableWarning, match=rf"Not used: {name} \(fewer than 5 known values\)"):
        selector = SpectralSelector("laplacian", screen=None).fit(KINDS[kind](few))
    np.testing.assert_array_equal(selector.scores_[:6], LaplacianScore().evaluate(X))
    assert np.isnan(selector.scores_[6])
    assert np.isnan(few).sum() == np.isnan(X).sum() + 36  # the input is as it was


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["laplacian", "subset", "fisher", "constraint", LaplacianScore(Precomputed())])
def test_a_row_without_known_values_is_left_out(kind, name):
    """As if the row were not there: for labels, pairs and a graph, too; transform keeps it."""
    X, y = with_holes(40, 6, 0.1), np.arange(40) % 2
    gone = np.array([3, 17])
    X[gone], left = np.nan, np.delete(np.arange(40), gone)
    place = dict(zip(left.tolist(), range(38), strict=True))
    pairs = {"must_link": [[0, 4], [5, 9], [3, 6]], "cannot_link": [[18, 30]]}
    inside = {k: [[place[a], place[b]] for a, b in v if a in place and b in place] for k, v in pairs.items()}
    W = KNN(4).build(np.random.default_rng(0).normal(size=(40, 2))).toarray()
    known, of_left = {}, {}
    if name == "constraint":
        known, of_left = pairs, inside
    elif not isinstance(name, str):
        known, of_left = {"graph": W}, {"graph": W[np.ix_(left, left)]}
    else:
        known, of_left = {"y": y}, {"y": y[left]}
    make = lambda: SpectralSelector(name, n_features_to_select=3, screen=None)  # noqa: E731
    with pytest.warns(TableWarning, match=r"Rows without any known value are left out: 3, 17\."):
        found = make().fit(KINDS[kind](X), **known)
    expected = make().fit(KINDS[kind](X[left]), **of_left)
    np.testing.assert_array_equal(found.scores_, expected.scores_)
    np.testing.assert_array_equal(found.order_, expected.order_)
    assert found.transform(KINDS[kind](X)).shape == (40, 3)
    with pytest.warns(TableWarning):
        problem = Problem.of(KINDS[kind](X), reuse=True)
    for _ in range(2):  # labels of the given rows
        np.testing.assert_array_equal(make().fit(problem, **known).scores_, expected.scores_)


@pytest.mark.filterwarnings("ignore::fiedler.TableWarning")
def test_evaluations_leave_out_empty_rows_and_columns(rng):
    y = np.arange(50) % 2
    frame = pd.DataFrame(rng.normal(size=(50, 5)) + y[:, None], columns=list("abcde"))
    table = frame.assign(empty=np.nan, no=range(50), one=1.0)
    table.iloc[[2, 9]] = np.nan
    left = table.index.delete([2, 9])
    alone, of_alone = frame.loc[left].assign(empty=0.0, no=0.0, one=0.0), y[left]
    for function in (
        lambda X, y: significance("fisher", X, y).pvalues,
        lambda X, y: stability("fisher", X, y, k=2, n_draws=3).frequency,
        lambda X, y: compare(["fisher", "subset"], X, y, n_features=[2, 3], n_draws=2, n_jobs=1).table["value"],
        lambda X, y: tune(LaplacianScore(), {"graph__n_neighbors": [3, 5]}, X, y, n_features=2).table["cut"],
        lambda X, y: suggest_n_features("fisher", X, y, n_features=[2, 3]).n_features,
        lambda X, y: accuracy_curve(X, y, [0, 1, 2], n_features=[1, 2], n_repeats=1).values,
        lambda X, y: summarize(SpectralSelector("fisher").fit(X, y), X, y)["features"]["score"],
    ):
        np.testing.assert_array_equal(function(table, y), function(alone, of_alone))


def test_frames_name_what_they_leave_out(rng):
    """By reason, in one warning: empty, constant, row numbers and texts; a typing error is a missing value."""
    base = pd.DataFrame(rng.normal(size=(30, 4)) + np.repeat([0.0, 3.0], 15)[:, None], columns=list("abcd"))
    plain = base.assign(empty=np.nan, one=1.0, no=np.arange(30) + 7)
    with pytest.warns(TableWarning) as caught:
        selector = SpectralSelector("variance").fit(plain)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    message = "Not used: 'empty' (fewer than 5 known values), 'one' (constant), 'no' (numbers the rows)."
    assert str(caught[0].message) == f"how the table is read: {message}"
    assert np.isnan(selector.scores_[4:]).all()
    mixed = plain.assign(
        kind=["u", "v"] * 15, note=[f"n{i}" for i in range(30)], typo=[*base["a"].astype(str)[1:], "1,5 mm"]
    )
    with pytest.warns(TableWarning) as caught:
        selector = SpectralSelector("variance").fit(mixed)
    said = str(caught[0].message)
    assert len(caught) == 1
    assert "No numbers, read as missing: '1,5 mm' in 'typo'." in said
    assert "'empty' (fewer than 5 known values), 'one' (constant), 'no' (numbers the rows), 'note' (too many" in said
    assert np.isfinite(selector.scores_[[0, 1, 2, 3, 7, 9]]).all()
    dates = base.assign(day=pd.date_range("2026-01-01", periods=30))
    with pytest.warns(TableWarning, match="days"):
        selector = SpectralSelector("variance", n_features_to_select=5).fit(dates)
    assert selector.transform(dates).shape == (30, 5)
    assert selector.set_output(transform="pandas").transform(dates)["day"].dtype.kind == "M"


def test_a_grid_search_warns_once_about_its_table(rng):
    y = np.arange(60) % 2
    frame = pd.DataFrame(rng.normal(size=(60, 4)) + y[:, None], columns=list("abcd")).assign(empty=np.nan)
    search = GridSearchCV(
        make_pipeline(SpectralSelector("fisher"), KNeighborsClassifier()), {"spectralselector__redundancy": [0.8, 0.9]}
    )
    with warnings.catch_warnings(record=True, action="default") as caught:
        search.fit(frame, y)
    assert [str(w.message).partition(":")[0] for w in caught] == ["how the table is read"]
    assert caught[0].filename == __file__


# -------------------------------------------------------------------- the pattern of the holes


def test_patterns_with_structure_are_found_and_noise_is_not():
    rng = np.random.default_rng(3)
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    X[y == 0, 0] = np.nan
    for j in range(1, 8):
        X[rng.random(len(X)) < 0.2, j] = np.nan
    result = missing_values(X)
    assert result.structured().tolist() == [0]
    assert result.n_missing[0] == 59
    assert np.isnan(result.qvalues[8:]).all()
    assert "1 patterns" in repr(result)
    assert "<table>" in result._repr_html_()
    assert list(result.frame().columns) == ["feature", "missing", "share", "p", "q"]


def test_a_complete_table_has_no_patterns():
    result = missing_values(load_iris().data)
    assert result.n_complete == 150
    assert len(result.structured()) == 0


@pytest.mark.slow
def test_patterns_of_noise_are_significant_as_often_as_they_should():
    rng, found = np.random.default_rng(0), []
    for _ in range(10):
        X = rng.normal(size=(100, 60))
        X[rng.random(X.shape) < 0.2] = np.nan
        found.append(missing_values(X).pvalues)
    assert np.mean(np.concatenate(found) < 0.05) < 0.08  # with few columns it is far less: the test is cautious


def test_the_report_has_a_section_on_missing_values(iris_with_holes):
    X, y = iris_with_holes
    selector = SpectralSelector("laplacian", n_features_to_select=2).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        summary = fiedler.summarize(selector, X, y)
    section = summary["missing_values"]
    assert section["n_values"] == int(X.isna().sum().sum())
    assert "Where values are missing" in page_of(summary, "missing_values")
    complete = fiedler.summarize(SpectralSelector().fit(load_iris().data), load_iris().data)
    assert complete["missing_values"] is None
    assert "Where values are missing" not in page_of(complete, "missing_values")


def test_a_given_graph_is_used_with_holes():
    X = with_holes(40, 5, 0.2)
    graph = KNN(4).build(np.arange(40.0)[:, None])
    assert np.isfinite(LaplacianScore(Precomputed()).evaluate(X, graph=graph)).all()
