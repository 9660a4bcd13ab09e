"""Bad labels, targets, pairs and parameters: one clear message each, naming the value and the way out."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from fiedler import (
    EVSC,
    KNN,
    SPEC,
    ClassGraph,
    ConstraintScore,
    Correlation,
    Energy,
    FisherScore,
    LaplacianScore,
    MustLink,
    Pairs,
    Precomputed,
    Rayleigh,
    ReliefF,
    ReliefGraph,
    SemiSupervisedLaplacianScore,
    SpectralSelector,
    SSelect,
    SupervisedLaplacianScore,
    Variance,
    pairs_from_labels,
)
from fiedler.errors import ParameterWarning
from fiedler.evaluate import kendall_coefficient

X = np.random.default_rng(0).normal(size=(30, 5))
Y = np.arange(30) % 3


# ---------------------------------------------------------------- labels and targets


def test_wrong_kind_of_y():
    words = np.array(["a", "b", "c"])[Y]
    for method in (SupervisedLaplacianScore(), SemiSupervisedLaplacianScore(), Correlation()):
        with pytest.raises(ValueError, match=r"reads a real-valued target, but y holds 'a'; use a classification"):
            method.evaluate(X, words)
    for method in (FisherScore(), SSelect(), ReliefF(), SPEC(ClassGraph())):
        with pytest.raises(ValueError, match=r"reads class labels, but y holds real values such as 0\.5"):
            method.evaluate(X, Y + 0.5)


def test_missing_y():
    for method in (FisherScore(), SSelect(), ReliefF(), SupervisedLaplacianScore(), Correlation()):
        with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
            method.evaluate(X)


def test_unlabelled_rows_only():
    for y in (np.full(30, -1), np.full(30, np.nan), np.array([""] * 30), np.array([None] * 30)):
        with pytest.raises(ValueError, match="all 30 labels in y are unknown"):
            FisherScore().evaluate(X, y)
    with pytest.raises(ValueError, match="at least two known targets, but y holds 0 among 30 rows"):
        SupervisedLaplacianScore().evaluate(X, np.full(30, np.nan))


def test_one_class_only():
    for y in (np.zeros(30, dtype=int), np.array(["a"] * 29 + [""])):
        for method in (FisherScore(), SSelect(), ReliefF(), ConstraintScore()):
            with pytest.raises(ValueError, match=r"at least two classes, but the (29|30) labelled rows"):
                method.evaluate(X, y)


def test_a_class_with_one_member():
    y = Y.copy()
    y[y == 2] = 1
    y[5] = 2
    for method in (FisherScore(), SSelect(), ReliefF(4), SPEC(ClassGraph()), ConstraintScore(1)):
        assert np.isfinite(method.evaluate(X, y)).all()
    with pytest.raises(ValueError, match="two labelled rows of the same class, but y has one row of each"):
        ConstraintScore(1).evaluate(X, np.arange(30))


def test_minus_one_and_one_is_ambiguous():
    y = np.where(Y > 0, 1, -1)
    with pytest.raises(ValueError, match=r"only -1 and 1.*unlabeled=None.*recode"):
        SpectralSelector("fisher").fit(X, y)
    both = SpectralSelector("fisher", unlabeled=None).fit(X, y).scores_
    np.testing.assert_allclose(both, FisherScore().evaluate(X, (y > 0).astype(int)))


@pytest.mark.parametrize(
    "y",
    [
        [0, 1, -1] * 10,
        [0.0, 1.0, np.nan] * 10,
        ["no", "yes", ""] * 10,
        ["no", "yes", None] * 10,
        np.array(["no", "yes", np.nan] * 10, dtype=object),
        pd.Series(["no", "yes", pd.NA] * 10),
        pd.Series(["no", "yes", None] * 10, dtype="category"),
        pd.array([0, 1, None] * 10, dtype="Int64"),
        pl.Series(["no", "yes", None] * 10),
        np.array(["no", "yes", ""] * 10),
    ],
)
def test_every_spelling_of_unknown_classes(y):
    expected = FisherScore().evaluate(X[np.arange(30) % 3 < 2], np.arange(20) % 2)
    np.testing.assert_allclose(FisherScore().evaluate(X, y), expected, rtol=1e-12)


def test_another_marker_for_unknown():
    y = ["?" if c == 2 else "ab"[c] for c in Y]
    marked = SpectralSelector("fisher", unlabeled="?").fit(X, y).scores_
    np.testing.assert_allclose(marked, FisherScore().evaluate(X, np.where(Y == 2, -1, Y)))


def test_malformed_y():
    with pytest.raises(ValueError, match="y has 29 entries but X has 30 rows"):
        FisherScore().evaluate(X, Y[:-1])
    with pytest.raises(TypeError, match="y mixes labels of types int, str"):
        FisherScore().evaluate(X, np.array([0, "a"] * 15, dtype=object))
    with pytest.raises(ValueError, match="inf in row 4"):
        SupervisedLaplacianScore().evaluate(X, np.where(np.arange(30) == 4, np.inf, 0.5))
    with pytest.raises(ValueError, match="real values such as inf"):
        FisherScore().evaluate(X, np.where(np.arange(30) == 4, np.inf, 1.0))
    with pytest.raises(ValueError, match="Complex data not supported"):
        FisherScore().evaluate(X, Y + 1j)


def test_a_constant_target_correlates_with_nothing():
    assert np.isnan(Correlation().evaluate(X, np.full(30, 2.0))).all()


# ---------------------------------------------------------------- pairs


@pytest.mark.parametrize(
    ("must", "cannot", "error", "message"),
    [
        ([[0, 1]], [[1, 0]], ValueError, r"rows 0 and 1 are both in must_link and in cannot_link \(1 such pairs\)"),
        ([[0, 1], [5, 5]], [[1, 2]], ValueError, r"must_link\[1\] = \(5, 5\) pairs a row with itself"),
        ([[0, 30]], [[1, 2]], ValueError, r"must_link\[0\] = \(0, 30\) is out of range: X has 30 rows.*Pairs"),
        ([[0, 1]], [[1, -2]], ValueError, r"cannot_link\[0\] = \(1, -2\) is out of range"),
        ([0, 1], [[1, 2]], ValueError, r"must_link must have shape \(n_pairs, 2\).*got \(2,\)"),
        ([[0.5, 1.0]], [[1, 2]], TypeError, "must_link must hold integer row numbers, got dtype float64"),
        ([["a", "b"]], [[1, 2]], TypeError, "must_link must hold integer row numbers"),
        ([[0, 1]], None, ValueError, "CannotLink needs at least one pair of its kind, but got none"),
        ([], [[0, 1]], ValueError, "MustLink needs at least one pair of its kind"),
        (Pairs([[0, 1]], 12), [[1, 2]], ValueError, r"must_link is made for n_samples=12, but X has 30 rows"),
    ],
)
def test_bad_pairs(must, cannot, error, message):
    with pytest.raises(error, match=message):
        ConstraintScore(1).evaluate(X, must_link=must, cannot_link=cannot)


def test_pairs_for_a_method_that_needs_labels_and_the_reverse():
    links = {"must_link": [[0, 1]], "cannot_link": [[1, 2]]}
    for method in (FisherScore(), SSelect(), SupervisedLaplacianScore()):
        needs = rf"^{type(method).__name__}\(\) requires y .*target y is None.*pairs cannot replace it, use the method"
        with pytest.raises(ValueError, match=needs):
            method.evaluate(X, **links)
    with pytest.raises(ValueError, match=r"^ConstraintScore\(variant=1\) reads class labels, but y holds real"):
        ConstraintScore(1).evaluate(X, Y + 0.5)
    needs = r"^ConstraintScore\(variant=1\) requires y .* pairs or class labels; pass must_link and cannot_link"
    with pytest.raises(ValueError, match=needs):
        ConstraintScore(1).evaluate(X)
    with pytest.warns(UserWarning, match=r"LaplacianScore\(\) reads no pairs: must_link and cannot_link are ignored"):
        LaplacianScore().evaluate(X, **links)


def test_labels_that_a_method_does_not_read_are_mentioned_once():
    said = r"^laplacian reads no labels, so y is not used\.$"
    with pytest.warns(ParameterWarning, match=said) as caught:
        SpectralSelector("laplacian").fit(X, Y)
    assert [each.filename for each in caught] == [__file__]
    with pytest.warns(ParameterWarning, match=said):
        SpectralSelector("laplacian").fit_transform(X, Y)
    with warnings.catch_warnings(action="error"):  # a pipeline passes y to every step
        make_pipeline(SpectralSelector("laplacian"), KNeighborsClassifier()).fit(X, Y)
        SpectralSelector("subset").fit(X, Y)
        SpectralSelector("laplacian").fit(X)


def test_drawing_pairs():
    y = np.array([0] * 10 + [1] * 10 + [-1] * 10)
    must, cannot = pairs_from_labels(y, 21, random_state=0)
    assert (len(must), len(cannot)) == (11, 10)
    assert (y[must[:, 0]] == y[must[:, 1]]).all()
    assert (y[cannot[:, 0]] != y[cannot[:, 1]]).all()
    assert (y[np.r_[must, cannot]] >= 0).all()
    assert len(np.unique(np.r_[must, cannot], axis=0)) == 21
    again = pairs_from_labels(y, 21, random_state=0)
    np.testing.assert_array_equal(again[0], must)
    assert not np.array_equal(pairs_from_labels(y, 21, random_state=1)[0], must)
    everything = pairs_from_labels(y, 180, random_state=0)
    assert len(everything[0]) == 90
    with pytest.raises(ValueError, match="n_pairs=200 needs 100 must-link and 100 cannot-link pairs, but the 20"):
        pairs_from_labels(y, 200)
    with pytest.raises(ValueError, match="n_pairs must be an integer of at least 2, got 0"):
        pairs_from_labels(y, 0)


def test_drawing_pairs_from_many_rows():
    y = np.arange(5000) % 50
    must, cannot = pairs_from_labels(y, 100, random_state=3)
    assert (len(must), len(cannot)) == (50, 50)
    assert (y[must[:, 0]] == y[must[:, 1]]).all()
    assert (y[cannot[:, 0]] != y[cannot[:, 1]]).all()


# ---------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    ("wanted", "error", "message"),
    [
        (0, ValueError, "n_features_to_select=0 must be between 1 and the 5 features"),
        (6, ValueError, "n_features_to_select=6 must be between 1 and the 5 features"),
        (-1, ValueError, "n_features_to_select=-1"),
        (0.0, ValueError, r"as a share must be in \(0, 1\]"),
        (1.5, ValueError, r"as a share must be in \(0, 1\]; use an int"),
        ("half", TypeError, "n_features_to_select must be an integer, a share .* got 'half' of type str"),
        (True, TypeError, "got True of type bool"),
    ],
)
def test_wrong_n_features_to_select(wanted, error, message):
    with pytest.raises(error, match=message):
        SpectralSelector("variance", n_features_to_select=wanted).fit(X)


@pytest.mark.parametrize(
    ("wanted", "kept"), [(None, 2), (1, 1), (5, 5), (0.4, 2), (1.0, 5), (0.01, 1), (np.int64(3), 3)]
)
def test_n_features_to_select(wanted, kept):
    assert SpectralSelector("variance", n_features_to_select=wanted).fit(X).support_.sum() == kept


def test_unknown_methods():
    with pytest.raises(ValueError, match="criterion='laplacain' is not a method; did you mean 'laplacian'"):
        SpectralSelector("laplacain").fit(X)
    with pytest.raises(ValueError, match="did you mean 'sselect'"):
        SpectralSelector("sSelekt").fit(X)
    with pytest.raises(ValueError, match="is not a method; Known: variance, correlation"):
        SpectralSelector("???").fit(X)
    with pytest.raises(TypeError, match="criterion must be a Criterion or one of"):
        SpectralSelector(3).fit(X)


@pytest.mark.parametrize(
    ("criterion", "message"),
    [
        (SSelect(lam=1.5), "lam must be a number between 0 and 1, got 1.5"),
        (SSelect(lam=None), "lam must be a number between 0 and 1, got None"),
        (ConstraintScore(5), "variant must be one of 1, 2, 3, 4, got 5"),
        (ConstraintScore(2, lam=-1), "lam must be a positive number"),
        (ConstraintScore(3, gamma=0), "gamma must be a positive number"),
        (SPEC(phi=4), "phi must be one of 1, 2, 3, got 4"),
        (SPEC(gamma=0), "gamma must be a positive number, got 0"),
        (SPEC(gamma=lambda v: v[:2]), "gamma must map eigenvalues to finite values of the same shape"),
        (SPEC(gamma=lambda v: v / 0.0), "gamma must map eigenvalues to finite values"),
        (SPEC(phi=3, n_clusters=1), "n_clusters must be an integer of at least 2, got 1"),
        (EVSC(n_eigenvalues=0), "n_eigenvalues must be an integer of at least 1"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*divide")
def test_wrong_parameters_of_methods(criterion, message):
    with pytest.raises(ValueError, match=message):
        criterion.evaluate(X, Y)


def test_algebra_refuses_what_would_not_order_features():
    with pytest.raises(ValueError, match=r"cannot add Variance\(\) and LaplacianScore\(\): large is good"):
        Variance() + LaplacianScore()
    with pytest.raises(ValueError, match="cannot multiply"):
        FisherScore() * LaplacianScore()
    with pytest.raises(ValueError, match="it may be negative"):
        LaplacianScore() * ConstraintScore(2)
    with pytest.raises(ValueError, match="it may be negative"):
        Rayleigh(ReliefGraph()) * LaplacianScore()
    with pytest.raises(TypeError):
        LaplacianScore() + 1
    with pytest.raises(TypeError):
        LaplacianScore() * "2"
    assert (LaplacianScore() - 2.0 * Variance()).greater_is_better is False
    assert (Variance() - LaplacianScore()).greater_is_better is True
    late = LaplacianScore() + LaplacianScore()
    late.set_params(right=Variance())
    with pytest.raises(ValueError, match="cannot add"):
        late.evaluate(X)


def test_formulas_read_as_formulas():
    own = LaplacianScore() * ConstraintScore(1)
    assert repr(own) == "LaplacianScore() * ConstraintScore(variant=1)"
    assert repr((own + own) * LaplacianScore(KNN(3))) == f"({own} + {own}) * LaplacianScore(graph=KNN(n_neighbors=3))"
    assert repr(2 * (own + own)) == f"2 * ({own} + {own})"
    assert repr(Energy(MustLink()) - 0.5 * (0.2 * Variance())) == "Energy(MustLink()) - 0.1 * Variance()"
    assert repr(SPEC(gamma=np.expm1)) == "SPEC(gamma=expm1)"
    assert repr(LaplacianScore(np.ones((3, 3)))) == "LaplacianScore(graph=<3 x 3 array>)"
    assert repr(Rayleigh(Precomputed(np.ones((3, 3))))) == "Rayleigh(Precomputed(W=<3 x 3 array>))"


@pytest.mark.parametrize("ranks", [[1, 2, 3], [[1], [1]], [[1, 2, np.nan]], [[3, 3, 3]], [[10, 20, 30]]])
def test_kendall_wants_ranks(ranks):
    with pytest.raises(ValueError, match="ranks must"):
        kendall_coefficient(ranks)
