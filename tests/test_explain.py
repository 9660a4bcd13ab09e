"""Why a feature was chosen, what beats the others, and what changed between two selections."""

import html

import numpy as np
import pytest
import reference_sets as ref
import scipy.sparse as sp

from fiedler import KNN, Explained, Problem, Relevance, SpectralSelector
from fiedler.errors import ParameterError
from fiedler.evaluate import diff

pd = pytest.importorskip("pandas", reason="frames need pandas")


@pytest.fixture
def X(rng):
    """Four features, a near copy of the first, the negative of the second, and a constant."""
    free = rng.normal(size=(60, 4)) + np.repeat([0.0, 3.0, 6.0], 20)[:, None] * [1.0, 0.0, 1.0, 0.0]
    free[:, 1] += np.tile([0.0, 4.0], 30)
    copies = np.column_stack([free[:, 0] + 0.05 * rng.normal(size=60), -2.0 * free[:, 1], np.full(60, 7.0)])
    return pd.DataFrame(np.hstack([free, copies]), columns=["a", "b", "c", "d", "copy of a", "minus b", "still"])


def fitted(X, criterion="subset", k=3, y=None, **options):
    return SpectralSelector(criterion, n_features_to_select=k, **options).fit(X, y)


def correlation(x, y):
    return float(np.corrcoef(x, y)[0, 1])


# ------------------------------------------------------------------------------------------------------ sets


@pytest.mark.parametrize("shape", [(40, 12), (30, 70)])
@pytest.mark.parametrize("power", [0.5, 1.0])
def test_gains_are_those_of_the_plain_loop(rng, shape, power):
    """Of chosen features given those before; of the others given all chosen ones."""
    X = rng.normal(size=shape) + np.repeat([0.0, 2.0], shape[0] // 2)[:, None]
    told = fitted(X, Explained(KNN(5), power=power), 4).explain()
    W, C = KNN(5).build(X).toarray(), ref.centred(X)
    K = ref.kernel_of_features(ref.smoothing(W), X)
    total = ref.explained(K, C, _independent(C))
    for place, j in enumerate(told.chosen):
        before = told.chosen[:place].tolist()
        gain = ref.explained(K, C, [*before, j]) - (ref.explained(K, C, before) if before else 0.0)
        assert told.gains[j] == pytest.approx(gain / total, rel=1e-7)
        assert told.explained[j] == pytest.approx(ref.explained(K, C, [*before, j]) / total, rel=1e-7)
    everyone = told.chosen.tolist()
    for j in told.order[4:9].tolist():
        gain = ref.explained(K, C, [*everyone, j]) - ref.explained(K, C, everyone)
        assert told.gains[j] == pytest.approx(gain / total, rel=1e-6)
        assert np.isnan(told.explained[j])


def _independent(C):
    """As many columns as the rank."""
    return np.arange(min(C.shape[1], C.shape[0] - 1)).tolist()


def test_a_set_stands_for_its_near_copies(X):
    told = fitted(X).explain(X)
    assert {str(told.feature_names[j]) for j in told.chosen} & {"a", "copy of a"}
    assert told.resembles[told.chosen].tolist() == [-1, -1, -1]
    for name, other in (("a", "copy of a"), ("b", "minus b")):
        chosen, copy = (name, other) if name in told.feature_names[told.chosen] else (other, name)
        ((found, r),) = told.copies(chosen)
        assert found == copy
        assert r == pytest.approx(correlation(X[name], X[other]))
        assert told.beaten_by(copy) == chosen
        assert told.copies(copy) == []
        assert f"{chosen!r} (r = {r:.2f})" in told.why(copy)
    assert told.beaten_by("still") is None
    assert "the screen dropped it as noise" in told.why("still")
    assert "no score" in fitted(X, screen=None).explain(X).why("still")


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, lambda X: X.astype(np.float32), Problem.of])
def test_near_copies_of_any_kind_of_data(X, kind):
    data = X.to_numpy()
    told = fitted(data).explain(kind(data))
    plain = np.corrcoef(data[:, :-1].T)
    for j in told.order[3:].tolist():
        if j == 6:
            assert told.resembles[j] == -1
            assert np.isnan(told.correlation[j])
            continue
        best = told.chosen[np.argmax(np.abs(plain[j, told.chosen]))]
        assert told.resembles[j] == best
        assert told.correlation[j] == pytest.approx(plain[j, best], rel=1e-4 if kind(data).__class__ else 1e-9)


def test_many_features_are_compared_in_blocks(rng):
    X = rng.normal(size=(20, 700))
    told = fitted(X, "variance", 300).explain(X)
    plain = np.corrcoef(X.T)
    others = told.order[300:]
    nearest = told.chosen[np.argmax(np.abs(plain[np.ix_(others, told.chosen)]), axis=1)]
    np.testing.assert_array_equal(told.resembles[others], nearest)
    np.testing.assert_allclose(told.correlation[others], plain[others, nearest], rtol=1e-9)


def test_without_x_near_copies_are_unknown(X):
    told = fitted(X).explain()
    assert (told.resembles == -1).all()
    assert np.isnan(told.correlation).all()
    assert all(told.copies(name) == [] for name in X)
    assert told.gains is not None
    pruned = fitted(X, "laplacian", redundancy=0.9).explain()  # known from the fit
    passed = np.flatnonzero(pruned.resembles >= 0)
    assert len(passed)
    assert np.isnan(pruned.correlation).all()
    assert pruned.beaten_by(int(passed[0])) == pruned.feature_names[pruned.resembles[passed[0]]]


def test_features_that_are_not_chosen_in_a_set_by_fdr(rng):
    """Their gain is what they add to the chosen ones, although the path was longer."""
    X = rng.normal(size=(80, 12))
    X[:, :8] += np.repeat([0.0, 2.0, 4.0, 8.0], 20)[:, None] * rng.uniform(0.5, 1.0, size=8)
    with pytest.warns(UserWarning, match=r"similar|significant"):
        by_fdr = fitted(X[rng.permutation(80)], "subset", "fdr")
    assert len(by_fdr.explained_) > by_fdr.n_features_
    told = by_fdr.explain()
    assert told.qvalues is by_fdr.qvalues_
    noise = np.flatnonzero(~(by_fdr.qvalues_ <= 0.01))
    assert len(noise)
    assert all(told.beaten_by(int(j)) is None and "not significant" in told.why(int(j)) for j in noise)
    path = by_fdr.order_[by_fdr.n_features_ : len(by_fdr.explained_)]
    late = np.diff(by_fdr.explained_)[by_fdr.n_features_ - 1 :]
    assert (told.gains[path] >= late - 1e-12).any()
    assert told.gains[path[0]] == pytest.approx(late[0])  # this one was next


def test_relevance_is_the_factor_of_the_set(blobs):
    X, y = blobs
    selector = fitted(X, "subset", 3, y)
    np.testing.assert_array_equal(selector.explain().relevance, Relevance(KNN(5)).evaluate(X, y))
    assert fitted(X, "subset", 3).explain(X).relevance is None
    np.testing.assert_array_equal(fitted(X).explain(X, y).relevance, Relevance().evaluate(X, y))
    pairs = {"must_link": [[0, 1], [20, 21], [30, 31]], "cannot_link": [[0, 20], [1, 40], [21, 40]]}
    found = fitted(X, "laplacian").explain(X, **pairs).relevance
    np.testing.assert_array_equal(found, Relevance().evaluate(X, **pairs))


def test_gains_behind_a_screen(rng):
    X = rng.normal(size=(80, 60))
    X[:, 20:30] += np.repeat([0.0, 2.5], 40)[rng.permutation(80), None]
    selector = fitted(X, "subset", 3, screen="agreement")
    plain = fitted(X[:, selector.kept_])
    assert not selector.kept_.all()
    np.testing.assert_array_equal(selector.gains_[selector.kept_], plain.gains_)
    assert np.isnan(selector.gains_[~selector.kept_]).all()
    told = selector.explain(X)
    dropped = int(np.flatnonzero(~selector.kept_)[0])
    assert told.why(dropped) == "not chosen: the screen dropped it as noise."
    assert told.beaten_by(dropped) is None


def test_pruning_a_set_cuts_what_is_known_of_its_path(blobs):
    """Where features are passed over, the order is no longer the path, and shares are known up to there only."""
    X = blobs[0]
    plain = fitted(X, "subset", 8)
    with pytest.warns(UserWarning, match="near-duplicates"):
        pruned = fitted(X, "subset", 8, redundancy=0.3)
    same = int(np.argmax(plain.order_ != pruned.order_))
    assert 0 < same < 8
    np.testing.assert_array_equal(pruned.explained_, plain.explained_[:same])


# ------------------------------------------------------------------------------------------------------ rankings


@pytest.mark.parametrize("name", ["fisher", "laplacian"])
def test_scores_against_the_rest(blobs, name):
    X, y = blobs
    selector = fitted(X, name, 3, y)
    told = selector.explain(X)
    rest = selector.scores_[selector.order_[3:]]
    sign = 1 if selector.criterion_.greater_is_better else -1
    np.testing.assert_allclose(told.lead, sign * (selector.scores_ - rest.mean()) / rest.std())
    assert told.gains is None
    assert told.explained is None
    last = told.chosen[-1]
    for j in told.order[3:].tolist():
        if abs(told.correlation[j]) <= told.limit:
            assert told.beaten_by(j) == f"x{last}"
            assert "is not better than" in told.why(j)


def test_near_copies_that_were_passed_over_are_not_the_rest(X):
    selector = fitted(X, "laplacian", redundancy=0.9)
    rest = [j for j in selector.order_[3:-1] if selector.stands_for_[j] < 0]
    scores = selector.scores_
    assert 0 < len(rest) < 3
    found = selector.explain().lead
    if len(rest) > 1:
        np.testing.assert_allclose(found, (scores[rest].mean() - scores) / scores[rest].std())
    else:
        assert np.isnan(found).all()


def test_all_features_chosen(blobs):
    X, y = blobs
    told = fitted(X, "fisher", 8, y).explain(X)
    assert np.isnan(told.lead).all()
    assert "not chosen" not in repr(told)
    assert "not chosen" not in told._repr_html_()


def test_the_limit_is_that_of_redundancy(X):
    assert fitted(X).explain(X).limit == 0.7
    assert fitted(X, "laplacian", redundancy=0.95).explain(X).limit == 0.95
    told = fitted(X).explain(X, limit=0.999999)
    assert {name for j in told.chosen for name, _ in told.copies(int(j))} & {"b", "minus b"}
    assert not {name for j in told.chosen for name, _ in told.copies(int(j))} & {"a", "copy of a"}
    for wrong in (0.0, 1.5, "a"):
        with pytest.raises(ParameterError, match="limit must be"):
            fitted(X).explain(X, limit=wrong)


# ------------------------------------------------------------------------------------------------------ as text


def test_frame(X):
    told = fitted(X).explain(X)
    frame = told.frame()
    assert frame.columns.tolist() == [
        *("feature", "rank", "chosen", "gain", "explained"),
        *("stands_for", "beaten_by", "resembles", "r"),
    ]
    assert frame.feature.tolist() == told.feature_names[told.order].tolist()
    assert frame.chosen.tolist() == [True] * 3 + [False] * 4
    np.testing.assert_allclose(frame.gain[:3].cumsum(), frame.explained[:3])
    assert frame.beaten_by[:3].isna().all()
    ranked = fitted(X, "laplacian").explain(X).frame()
    assert {"score", "lead"} <= set(ranked)
    assert not {"gain", "explained"} & set(ranked)


def test_repr_and_html(X):
    told = fitted(X).explain(X)
    text = repr(told)
    assert text.startswith("3 of 7 features chosen by SmoothSubset(), which explain ")
    for word in ("gain", "explained", "stands for", "not chosen:", "near-duplicate of"):
        assert word in text
    page = html.unescape(told._repr_html_())
    assert "near-duplicate of" in page
    many = fitted(np.random.default_rng(0).normal(size=(30, 60)), "variance", 30).explain()
    assert "... 20 more" in repr(many)
    assert "25 more" in repr(many)


def test_hostile_names_are_text(X):
    bad = X.rename(columns={"a": "<script>alert(1)</script>", "b": "two\nlines"})
    told = fitted(bad).explain(bad)
    assert "<script>" not in told._repr_html_()
    assert "two lines" in repr(told)


def test_unknown_features_and_other_columns(X):
    selector = fitted(X)
    told = selector.explain()
    assert told.why("a") == told.why(0)
    for wrong in ("z", 7, -1, None):
        with pytest.raises(ParameterError, match="is none of the 7 features"):
            told.why(wrong)
    with pytest.raises(ValueError, match="feature names"):
        selector.explain(X.rename(columns={"a": "z"}))
    with pytest.raises(ValueError, match="6 features"):
        fitted(X.to_numpy()).explain(X.to_numpy()[:, :6])
    with pytest.raises(ParameterError, match="6 features"):
        selector.explain(Problem.of(X.to_numpy()[:, :6]))


def test_an_explanation_cannot_be_changed(X):
    told = fitted(X).explain()
    with pytest.raises(AttributeError):
        told.limit = 0.5


# ------------------------------------------------------------------------------------------------------ two selections


def test_diff(X):
    before, after = fitted(X, "variance", 3), fitted(X, "laplacian", 3)
    found = diff(before, after)
    chosen = [set(selector.get_feature_names_out()) for selector in (before, after)]
    assert set(found.shared) == chosen[0] & chosen[1]
    assert set(found.lost) == chosen[0] - chosen[1]
    assert set(found.gained) == chosen[1] - chosen[0]
    assert found.jaccard == len(chosen[0] & chosen[1]) / len(chosen[0] | chosen[1])
    columns = X.columns.tolist()
    for name, a, b in found.moved:
        assert (a, b) == (before.ranking_[columns.index(name)], after.ranking_[columns.index(name)])
    moves = [abs(a - b) for _, a, b in found.moved]
    assert moves == sorted(moves, reverse=True)
    frame = found.frame()
    assert set(frame.feature) == chosen[0] | chosen[1]
    np.testing.assert_array_equal(frame.moved, frame.rank_a - frame.rank_b)
    assert frame.change.tolist() == sorted(frame.change, key=["shared", "lost", "gained"].index)
    for word in ("shared", "lost", "gained"):
        assert word in repr(found)
        assert word in found._repr_html_()


def test_diff_of_equal_selections(X):
    found = diff(fitted(X), fitted(X))
    assert (found.lost, found.gained, found.moved, found.jaccard) == ([], [], [], 1.0)


def test_diff_matches_features_by_name(X):
    """On other columns too; where only one selector knows names, by column."""
    turned = X[X.columns[::-1]].assign(new=X["b"] * 3)
    found = diff(fitted(X, "variance"), fitted(turned, "variance"))
    assert "new" in found.gained
    assert np.isnan(found.rank_a[found.feature_names == "new"]).all()
    same = diff(fitted(X, "variance"), fitted(X.to_numpy(), "variance"))
    assert same.shared == diff(fitted(X, "variance"), fitted(X, "variance")).shared
    with pytest.raises(ParameterError, match="without names"):
        diff(fitted(X), fitted(X.to_numpy()[:, :5]))
    twice = Problem.of(X.to_numpy())
    twice.feature_names = list("aabcdef")
    with pytest.raises(ParameterError, match="same name"):
        diff(fitted(twice), fitted(X))


# ------------------------------------------------------------------------------------------------ features of columns


def test_groups_are_explained_as_features(rng):
    """Three columns of a group count once, and groups resemble each other by the RV coefficient."""
    base = np.repeat([0.0, 4.0], 30)[:, None] + rng.normal(size=(60, 3))
    X = np.hstack([base, base + 0.01 * rng.normal(size=(60, 3)), rng.normal(size=(60, 2))])
    labels = ["a", "a", "a", "b", "b", "b", "c", "d"]
    selector = SpectralSelector("subset", n_features_to_select=2, screen=None).fit(X, groups=labels)
    told = selector.explain(X)
    assert len(told.order) == 4
    assert {"a", "b", "c", "d"} == set(told.feature_names)
    chosen, copy = [name for name in told.feature_names[told.order] if name in "ab"]
    assert told.copies(chosen)[0][0] == copy
    assert told.beaten_by(copy) == chosen
    assert told.correlation[told.feature_names == copy] > 0.99
    np.testing.assert_allclose(np.cumsum(told.gains[told.chosen]), told.explained[told.chosen])
    assert selector.gains_.shape == (8,)
    assert len(set(selector.gains_[:3])) == 1
    assert selector.explain().frame().shape[0] == 4
    problem = Problem.of(X, groups=labels)
    np.testing.assert_array_equal(selector.explain(problem).resembles, told.resembles)


def test_categories_and_missing_values(rng):
    """A category is one feature, and X is filled as in the fit."""
    X = pd.DataFrame(rng.normal(size=(60, 3)) + np.repeat([0.0, 3.0], 30)[:, None], columns=list("abc"))
    X["kind"] = np.where(X["a"] > 1.5, "high", "low")
    X.loc[3, "b"] = np.nan
    with pytest.warns(UserWarning, match="how the table is read"):
        selector = SpectralSelector("subset", n_features_to_select=2).fit(X)
    told = selector.explain(X)
    assert sorted(told.feature_names) == ["a", "b", "c", "kind"]
    assert np.isfinite(told.gains).all()
    assert np.isfinite(told.correlation[told.order[2:]]).all()


def test_included_features_are_chosen_and_the_rest_is_explained_given_them(X):
    selector = fitted(X, "subset", 2, include=["d"])
    told = selector.explain(X)
    assert told.feature_names[told.chosen[0]] == "d"
    assert "chosen as number 1 of 2" in told.why("d")
    ranked = fitted(X, "laplacian", 2, include=["d"]).explain(X)
    best = str(ranked.feature_names[ranked.order[2]])
    assert ranked.beaten_by(best) != "d"


def test_the_scale_of_the_fit_counts(X, rng):
    wide = X.drop(columns="still") * np.r_[1e4, np.ones(5)]
    selector = fitted(wide, "subset", 3, scale="standard")
    y = np.repeat([0, 1, 2], 20)
    z = (wide - wide.mean()) / wide.std(ddof=0)
    np.testing.assert_allclose(selector.explain(wide, y).relevance, Relevance().evaluate(z, y), rtol=1e-9)
