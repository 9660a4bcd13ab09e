"""Features of several columns: categories of frames, and groups that a user names."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.pipeline import make_pipeline

import fiedler
from fiedler import (
    KNN,
    ConstraintScore,
    Correlation,
    FisherScore,
    LaplacianScore,
    Precomputed,
    Problem,
    ReliefF,
    SmoothSubset,
    SpectralSelector,
    TableWarning,
    Variance,
)
from fiedler.criteria.criterion import effective_columns
from fiedler.criteria.energy import noise_value
from fiedler.data.columns import Groups, group_labels
from fiedler.evaluate import accuracy_curve, compare, stability
from fiedler.selection.redundancy import prune
from fiedler.sets.formula import forward

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 7)) + rng.integers(0, 3, size=(80, 1)) * np.array([2, 2, 1, 1, 0, 0, 0])
Y = np.arange(80) % 3
GROUPS = ["a", "a", "b", "c", "b", "d", "d"]
OWNER = np.array([0, 0, 1, 2, 1, 3, 3])
GRAPH = KNN(5).build(rng.normal(size=(80, 3)))


def mixed(n=60, seed=0):
    r = np.random.default_rng(seed)
    code = r.integers(0, 3, n)
    return pd.DataFrame(
        {
            "size": r.normal(size=n) + code,
            "kind": np.array(["red", "green", "blue"])[code],
            "noise": np.array(list("uvwx"))[r.integers(0, 4, n)],
            "flag": (code == 1) ^ (np.arange(n) % 7 == 0),
            "name": [f"item {i}" for i in range(n)],
        }
    ), code


def quietly(function):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        return function()


# -------------------------------------------------------------------- scores


def test_the_laplacian_score_of_a_group_by_its_equation():
    W = GRAPH.toarray()
    d = W.sum(axis=1)
    L = np.diag(d) - W
    noise = (W.sum() - np.trace(W)) / (d.sum() - d @ d / d.sum())
    assert noise_value(GRAPH) == pytest.approx(noise)
    expected = []
    for group in range(4):
        F = X[:, OWNER == group]
        centred = F - d @ F / d.sum()
        r = np.trace(F.T @ L @ F) / np.trace(centred.T @ np.diag(d) @ centred)
        C = F - F.mean(axis=0)
        G = C.T @ C
        p = np.trace(G) ** 2 / np.trace(G @ G)
        expected.append(noise - np.sqrt(p) * (noise - r))
    scores = LaplacianScore(Precomputed()).evaluate(X, graph=GRAPH, groups=GROUPS)
    np.testing.assert_allclose(scores, expected, rtol=1e-10)


def test_other_scores_add_over_the_columns():
    t = rng.normal(size=80)
    variance, fisher = Variance().evaluate(X, groups=GROUPS), FisherScore().evaluate(X, Y, groups=GROUPS)
    relief, correlation = ReliefF(4).evaluate(X, Y, groups=GROUPS), Correlation().evaluate(X, t, groups=GROUPS)
    pairs = {"must_link": [[0, 3], [1, 4]], "cannot_link": [[0, 1], [2, 4]]}
    c1, c2 = (ConstraintScore(v).evaluate(X, **pairs, groups=GROUPS) for v in (1, 2))
    single = ReliefF(4).evaluate(X, Y), ConstraintScore(2).evaluate(X, **pairs)
    for g in range(4):
        F = X[:, OWNER == g]
        C = F - F.mean(axis=0)
        assert variance[g] == pytest.approx(np.sum(C**2) / 80)
        between = sum((Y == c).sum() * np.sum((F[Y == c].mean(axis=0) - F.mean(axis=0)) ** 2) for c in range(3))
        assert fisher[g] == pytest.approx(between / (np.sum(C**2) - between))
        assert relief[g] == pytest.approx(single[0][OWNER == g].sum())
        u = t - t.mean()
        assert correlation[g] == pytest.approx(np.sqrt(np.sum((u @ C) ** 2) / (u @ u) / np.sum(C**2)))
        far = [np.sum((F[a] - F[b]) ** 2) for a, b in pairs["cannot_link"]]
        near = [np.sum((F[a] - F[b]) ** 2) for a, b in pairs["must_link"]]
        assert c1[g] == pytest.approx(sum(near) / sum(far))
        assert c2[g] == pytest.approx(single[1][OWNER == g].sum())


def test_products_use_the_plain_quotient():
    pairs = {"must_link": [[0, 3], [1, 4]], "cannot_link": [[0, 1], [2, 4]]}
    product = LaplacianScore(Precomputed()) * ConstraintScore(1)
    scores = product.evaluate(X, graph=GRAPH, groups=GROUPS, **pairs)
    d = GRAPH.degree
    plain = [GRAPH.energy(X[:, OWNER == g]).sum() / GRAPH.mass(X[:, OWNER == g]).sum() for g in range(4)]
    assert len(d) == 80
    np.testing.assert_allclose(scores, plain * ConstraintScore(1).evaluate(X, groups=GROUPS, **pairs), rtol=1e-10)


def test_single_columns_as_groups_change_nothing():
    for name in ("laplacian", "fisher", "relieff", "variance", "constraint", "subset"):
        plain = SpectralSelector(name).fit(X, Y)
        grouped = SpectralSelector(name).fit(X, Y, groups=np.arange(7))
        np.testing.assert_allclose(grouped.scores_, plain.scores_, rtol=1e-9)
        assert grouped.order_.tolist() == plain.order_.tolist()


def test_a_two_level_category_scores_as_its_column():
    code = rng.integers(0, 2, 80).astype(float)
    table = pd.DataFrame({"n": X[:, 0], "c": np.where(code == 1, "yes", "no"), "d": np.array(list("pqr"))[Y]})
    plain = np.column_stack([X[:, 0], code])
    t = rng.normal(size=80)
    for criterion, y in ((LaplacianScore(Precomputed()), None), (FisherScore(), Y), (Correlation(), t)):
        given = {"graph": GRAPH} if y is None else {}
        scores = quietly(lambda c=criterion, y=y, g=given: c.evaluate(table, y, **g))
        assert scores[1] == pytest.approx(criterion.evaluate(plain, y, **given)[1], rel=1e-9)


def test_splitting_a_column_into_copies_changes_no_order():
    copies = np.column_stack([X[:, :1] / np.sqrt(3)] * 3 + [X[:, 1:]])
    labels = [0, 0, 0, 1, 2, 3, 4, 5, 6]
    for name in ("laplacian", "fisher", "relieff", "variance", "constraint[graph=knn]", "subset"):
        plain = SpectralSelector(name).fit(X, Y)
        split = SpectralSelector(name).fit(copies, Y, groups=labels)
        assert [labels[j] for j in split.order_ if j > 1] == plain.order_.tolist(), name


def test_levels_rows_and_columns_may_be_permuted():
    table, y = mixed()
    new = {"red": "z", "green": "y", "blue": "x"}
    rows = np.random.default_rng(1).permutation(60)
    for name in ("laplacian", "subset", "fisher"):
        plain = quietly(lambda n=name: SpectralSelector(n).fit(table, y))
        renamed = quietly(lambda n=name: SpectralSelector(n).fit(table.assign(kind=table.kind.map(new)), y))
        np.testing.assert_allclose(renamed.scores_, plain.scores_, rtol=1e-9)
        other = quietly(lambda n=name: SpectralSelector(n).fit(table.iloc[rows][table.columns[::-1]], y[rows]))
        np.testing.assert_allclose(other.scores_[::-1], plain.scores_, rtol=1e-9)


@pytest.mark.slow
def test_noise_categories_of_any_number_of_levels_are_equally_often_on_top():
    """On a graph that does not read them: 600 draws of six noise categories, .8 to 1.25 and two standard errors."""
    r, levels, n, draws = np.random.default_rng(3), [2, 3, 5, 10, 20, 50], 200, 600
    graph = KNN().build(r.normal(size=(n, 2)) @ r.normal(size=(2, 8)))
    first = np.zeros(len(levels))
    owner = np.repeat(np.arange(6), levels)
    for _ in range(draws):
        codes = [r.integers(0, size, n) for size in levels]
        dummies = np.hstack([np.eye(size)[code] for size, code in zip(levels, codes, strict=True)])
        problem = Problem(dummies, given=graph, groups=Groups(owner, np.arange(6)))
        first[np.argmin(LaplacianScore(Precomputed()).score(problem))] += 1
    share = first / draws * 6
    error = 2 * 6 * np.sqrt(1 / 6 * 5 / 6 / draws)
    assert share.min() > 0.8 - error
    assert share.max() < 1.25 + error


# -------------------------------------------------------------------- sets


def set_by_loops(columns, K, owner, n_features, power=0.5):
    """Forward selection over groups by plain projections."""
    C = columns - columns.mean(axis=0)
    chosen, Q = [], np.zeros((len(C), 0))
    for _ in range(n_features):
        R = C - Q @ (Q.T @ C)
        best, score = -1, 0.0
        for g in np.unique(owner):
            part = R[:, owner == g]
            den = np.sum(part**2)
            gain = np.sum(part * (K @ part)) / den**power if g not in chosen and den > 1e-9 else 0.0
            if gain > score:
                best, score = g, gain
        chosen.append(int(best))
        U, s, _ = np.linalg.svd(R[:, owner == best], full_matrices=False)
        Q = np.hstack([Q, U[:, s > 1e-9 * max(s.max(), 1)]])
        J = np.trace(Q.T @ K @ Q)
    return chosen, J


def test_sets_take_all_columns_of_a_feature_at_once():
    problem = Problem.of(X, groups=GROUPS)
    sets = SmoothSubset(supervised=False).set_formula()
    path = forward(sets, problem, 4)
    graph = problem.graph(KNN(5))
    d = graph.degree
    A = graph.toarray() / np.sqrt(np.outer(d, d))
    values, vectors = np.linalg.eigh(A)
    values[-1] = 0.0
    F = (vectors * np.maximum(values, 0)) @ vectors.T
    C = X - X.mean(axis=0)
    order, _ = set_by_loops(X, F @ C @ C.T @ F, OWNER, 4)
    assert path.order.tolist() == order
    assert path.explained[-1] == pytest.approx(1.0)


def test_a_set_of_features_reports_what_it_explains():
    table, _ = mixed()
    selector = quietly(lambda: SpectralSelector("subset", n_features_to_select="auto").fit(table))
    assert (np.diff(selector.explained_) >= 0).all()
    assert selector.explained_[-1] >= 0.9
    assert np.isnan(selector.scores_[4])  # the names are not used
    assert selector.order_[-1] == 4


# -------------------------------------------------------------------- entrances


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_with_categories_go_in_as_they_are(library):
    table, y = mixed()
    frame = table if library == "pandas" else pl.from_pandas(table)
    with pytest.warns(
        TableWarning, match=r"Not used: 'name' \(too many different texts\)\. Read as categories.*standardised"
    ):
        selector = SpectralSelector("fisher", n_features_to_select=2).fit(frame, y)
    assert sorted(selector.get_feature_names_out()) == ["flag", "kind"]
    assert selector.scores_.shape == selector.support_.shape == (5,)
    out = selector.set_output(transform=library).transform(frame)
    assert list(out.columns) == ["kind", "flag"]
    assert out["kind"].to_list() == table.kind.tolist()


def test_a_pipeline_passes_text_on():
    table, y = mixed()
    pipe = make_pipeline(SpectralSelector("fisher", n_features_to_select=1)).set_output(transform="pandas")
    assert list(quietly(lambda: pipe.fit_transform(table, y)).columns) == ["kind"]
    plain = quietly(lambda: SpectralSelector("fisher", n_features_to_select=1).fit(table, y)).transform(table)
    assert plain.shape == (60, 1)
    assert plain[0, 0] == table.kind[0]


def test_named_groups_are_selected_together():
    frame = pd.DataFrame(X, columns=list("pqrstuv"))
    groups = {"first": ["p", "q"], "last": ["u", 6]}
    selector = SpectralSelector("laplacian", n_features_to_select=2, screen=None).fit(frame, groups=groups)
    assert selector.n_features_ == 2
    assert selector.groups_.tolist() == [0, 0, 1, 2, 3, 4, 4]
    for left, right in (("p", "q"), ("u", "v")):
        a, b = frame.columns.get_loc(left), frame.columns.get_loc(right)
        assert selector.scores_[a] == selector.scores_[b]
        assert selector.ranking_[a] == selector.ranking_[b]
        assert selector.support_[a] == selector.support_[b]
    assert selector.transform(frame).shape[1] == selector.support_.sum()
    assert (np.diff(selector.ranking_[selector.order_]) >= 0).all()
    again = SpectralSelector("laplacian").fit(frame)
    assert not hasattr(again, "groups_")


def test_groups_and_categories_together():
    table, y = mixed()
    groups = {"look": ["kind", "flag"]}
    selector = quietly(lambda: SpectralSelector("fisher", n_features_to_select=1).fit(table, y, groups=groups))
    assert selector.support_.tolist() == [False, True, False, True, False]


def test_group_labels_in_every_form():
    assert group_labels([1, 1, None, np.nan], 4)[0].tolist() == [0, 0, 1, 2]
    assert group_labels(pd.Series(["x", "y", "x", ""]), 4)[0].tolist() == [0, 1, 0, 2]
    assert group_labels({"g": "b"}, 2, ["a", "b"]) == (pytest.approx([0, 1]), ["a", "g"])


@pytest.mark.parametrize(
    ("groups", "match"),
    [
        (["a", "b"], "one label for each of the 7 columns"),
        ("abc", "one label for each of the 7 columns"),
        ({"a": [0, 1], "b": [1]}, "in the groups 'a' and 'b'; groups must not overlap"),
        ({"a": [9]}, "names the column 9, which X does not have"),
        ({"a": ["nowhere"]}, "names the column 'nowhere'"),
        (3, "one label for each"),
    ],
)
def test_wrong_groups_are_refused(groups, match):
    with pytest.raises(ValueError, match=match):
        SpectralSelector().fit(X, groups=groups)


def test_what_has_no_form_for_groups_refuses():
    table, y = mixed()
    for name in ("sselect", "evsc", "spec[gamma=4]", "spec[phi=1]"):
        with pytest.raises(ValueError, match="no form for features of several columns"), pytest.warns(TableWarning):
            SpectralSelector(name).fit(table, y)
    for options in ({"n_features_to_select": "fdr"}, {"screen": "fdr"}):
        with pytest.raises(ValueError, match="features of several columns"):
            SpectralSelector("laplacian", **options).fit(X, groups=GROUPS)
    import scipy.sparse as sp

    with pytest.raises(ValueError, match="dense X in memory"):
        SpectralSelector().fit(sp.csr_array(X), groups=GROUPS)
    with pytest.raises(ValueError, match=r"pass it to Problem\.of"):
        SpectralSelector().fit(Problem.of(X), groups=GROUPS)
    with pytest.raises(ValueError, match="no column that can be used"):
        SpectralSelector().fit(table[["name"]])


def test_holes_in_categories_are_filled_and_scored():
    table, y = mixed()
    table.loc[::7, "kind"] = None
    table.loc[3:9, "size"] = np.nan
    for name in ("laplacian", "subset", "fisher", "relieff", "constraint"):
        selector = quietly(lambda n=name: SpectralSelector(n, n_features_to_select=2, screen=None).fit(table, y))
        assert np.isfinite(selector.scores_[:4]).all()


def test_effective_numbers_of_columns():
    problem = Problem(
        np.hstack([X[:, :1]] * 2 + [np.eye(4)[np.arange(80) % 4]]),
        groups=Groups(np.array([0, 0, 1, 1, 1, 1]), np.arange(2)),
    )
    sizes = effective_columns(problem, np.ones(80, dtype=bool))
    assert sizes[0] == pytest.approx(1.0)
    assert sizes[1] == pytest.approx(3.0)


def test_redundancy_passes_over_copies_of_categories():
    table, y = mixed()
    table = table.assign(again=table.kind.map({"red": 1, "green": 2, "blue": 3}).astype("category"))
    selector = quietly(lambda: SpectralSelector("fisher", n_features_to_select=3, redundancy=0.9).fit(table, y))
    assert selector.stands_for_[5] == 1
    assert not selector.support_[5]
    single = prune(np.arange(7), X, 0.5, 5)
    grouped = prune(np.arange(7), X, 0.5, 5, groups=Groups(np.arange(7), np.arange(7)))
    assert single.order.tolist() == grouped.order.tolist()


def test_evaluation_speaks_of_features():
    table, y = mixed()
    curve = quietly(lambda: accuracy_curve(table, y, [1, 0], n_features=[1, 2], n_repeats=2))
    assert curve.mean[0] == 1.0
    result = quietly(
        lambda: compare(["fisher", "laplacian", "subset"], table, y, n_features=[1, 2], n_draws=2, n_jobs=1)
    )
    assert result.settings["n_columns"] == 5
    assert result.values("fisher").mean() > 0.9
    found = quietly(lambda: stability("fisher", table, y, k=1, n_draws=4))
    assert found.frequency[1] == 1.0


def test_the_report_of_a_mixed_table():
    table, y = mixed()
    selector = quietly(lambda: SpectralSelector("subset", n_features_to_select=2).fit(table, y))
    summary = fiedler.summarize(selector, table, y)
    assert summary["data"]["n_features"] == 5
    assert summary["data"]["n_categories"] == 2
    assert summary["data"]["n_unused"] == 1
    html = fiedler.report.render_html(summary)
    assert "each of them one feature" in html


def test_the_report_of_named_groups():
    frame = pd.DataFrame(X, columns=list("pqrstuv"))
    selector = SpectralSelector("laplacian", n_features_to_select=2).fit(frame, groups={"first": ["p", "q"]})
    summary = fiedler.summarize(selector, frame)
    assert sorted(summary["features"]["feature"]) == ["first", "r", "s", "t", "u", "v"]
    assert summary["data"]["n_features"] == 6
    assert "first" in fiedler.report.render_html(summary)


def test_real_tables_of_numbers_are_not_touched():
    frame = load_wine(as_frame=True).data
    np.testing.assert_array_equal(Problem.of(frame).X, frame.to_numpy())
    assert Problem.of(frame.assign(flag=frame.ash > 2)).groups is None
    assert Problem.of(load_iris().data).known is None


def test_values_for_pictures():
    table, _ = mixed()
    problem = quietly(lambda: Problem.of(table))
    values = problem.feature_values(np.array([1, 0, 4]))
    assert set(values[:, 0]) == {0.0, 1.0, 2.0}
    assert (values[:, 2] == 0).all()


def test_explanations_speak_of_features():
    frame = pd.DataFrame(X, columns=list("pqrstuv"))
    groups = {"first": ["p", "q"], "last": ["u", "v"]}
    for name in ("subset", "laplacian"):
        selector = SpectralSelector(name, n_features_to_select=2, redundancy=0.9).fit(frame, groups=groups)
        explanation = selector.explain(frame)
        assert sorted(explanation.feature_names) == ["first", "last", "r", "s", "t"]
        chosen = {explanation.feature_names[j] for j in explanation.chosen}
        assert ("first" in chosen) == bool(selector.support_[0])
        assert "first" in repr(explanation)
    table, y = mixed()
    fitted = quietly(lambda: SpectralSelector("subset", n_features_to_select=2).fit(table, y))
    assert fitted.explain(table, y).frame().feature.tolist()[-1] == "name"
