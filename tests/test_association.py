"""Association of features with labels, targets and pairs: against scipy, against permutations, on noise, and in use."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

from fiedler import Pairs, Relevance, SmoothSubset, SpectralSelector, pairs_from_labels
from fiedler.evaluate import significance


@pytest.fixture
def classes(rng):
    return rng.integers(0, 3, size=90)


@pytest.fixture
def X(rng, classes):
    """Thirty noise columns, with ties in ten of them; the first four follow the classes less and less."""
    X = rng.normal(size=(90, 30))
    X[:, 10:20] = X[:, 10:20].round()
    X[:, :4] += np.outer(classes, [2.0, 1.0, 0.5, 0.25])
    return X


def test_classes_order_features_as_kruskal_and_wallis_do(X, classes):
    found = significance("subset", X, classes)
    theirs = np.array([stats.kruskal(*(column[classes == c] for c in range(3))) for column in X.T])
    np.testing.assert_array_equal(np.argsort(found.pvalues[:10]), np.argsort(-theirs[:10, 0]))  # columns without ties
    np.testing.assert_allclose(found.pvalues[4:], theirs[4:, 1], atol=0.03)
    assert found.test == "association with class labels"
    assert (found.n_folds, found.n_permutations) == (None, None)


def test_a_target_is_tested_as_spearman_does(X):
    y = X[:, 0] + X[:, 1] ** 3
    y[::7] = np.nan
    found, known = significance("subset", X, y), ~np.isnan(y)
    theirs = np.array([stats.spearmanr(column[known], y[known]) for column in X.T])
    np.testing.assert_allclose(found.pvalues, theirs[:, 1], rtol=1e-9)
    n = known.sum()
    np.testing.assert_allclose(1 - found.effect, (1 - theirs[:, 0] ** 2) * (n - 1) / (n - 2), rtol=1e-9)
    assert found.test == "association with a target"


@pytest.mark.parametrize("kind", ["classes", "target", "pairs"])
def test_closed_forms_are_those_of_many_permutations(X, classes, kind):
    y = {"classes": classes, "target": classes + X[:, 5], "pairs": None}[kind]
    pairs = {}
    if kind == "pairs":
        must, cannot = pairs_from_labels(classes, 60, random_state=0)
        pairs = {"must_link": must, "cannot_link": cannot}
    closed = significance("subset", X, y, **pairs)
    drawn = significance("subset", X, y, **pairs, n_permutations=1999)
    np.testing.assert_allclose(closed.pvalues, drawn.pvalues, atol=0.04)
    assert drawn.n_permutations == 1999
    np.testing.assert_allclose(closed.effect[:2], drawn.effect[:2], atol=0.05)


def test_a_feature_with_twice_the_class_is_found_and_noise_is_not(rng):
    y = rng.integers(0, 2, size=400)
    X = rng.normal(size=(400, 40))
    X[:, 0] += 2 * y
    found = significance("subset", X, y)
    assert found.pvalues[0] < 1e-30
    assert np.mean(found.pvalues[1:] < 0.1) < 0.3
    selector = SpectralSelector("subset", n_features_to_select="fdr").fit(X, y)
    assert selector.get_support(indices=True).tolist() == [0]
    np.testing.assert_allclose(selector.pvalues_, found.pvalues)


def test_noise_is_rejected_as_often_as_stated(rng):
    X, y = rng.normal(size=(60, 3000)), rng.integers(0, 3, size=60)
    for told in ({"y": y}, {"y": rng.normal(size=60)}):
        p = significance("subset", X, **told).pvalues
        for level in (0.01, 0.05, 0.2):
            assert abs(np.mean(p <= level) - level) < 4.0 * np.sqrt(level * (1 - level) / 3000)


def test_few_labels_are_permuted(X, classes):
    few = np.full(90, -1)
    few[:12] = classes[:12]
    found = significance("subset", X, few)
    assert found.n_permutations == 999
    assert np.nanmin(found.pvalues) >= 1 / 1000


def test_shift_scale_sparse_and_order_of_rows_change_nothing(X, classes):
    expected = significance("subset", X, classes).pvalues
    np.testing.assert_allclose(significance("subset", 7.0 * X - 100.0, classes).pvalues, expected, rtol=1e-9)
    order = np.random.default_rng(1).permutation(90)
    np.testing.assert_allclose(significance("subset", X[order], classes[order]).pvalues, expected, rtol=1e-9)
    thin = np.where(X > 0.5, X, 0.0)
    dense, sparse = (significance("subset", part, classes).pvalues for part in (thin, sp.csr_array(thin)))
    np.testing.assert_allclose(dense, sparse, rtol=1e-9)


def test_without_information_structure_is_tested(X):
    assert significance("subset", X).test == "score"
    with pytest.raises(ValueError, match="no null distribution"):
        significance(Relevance(), X)
    assert significance(Relevance(), X, np.repeat([0, 1, 2], 30)).test == "association with class labels"


def test_pairs_in_cross_validation(X, classes):
    must, cannot = pairs_from_labels(classes, 60, random_state=0)
    found = significance("subset", X, must_link=Pairs(must, 90), cannot_link=Pairs(cannot, 90))
    assert found.test == "association with pairs"
    assert np.argmin(found.pvalues) == 0


def test_a_relevance_twice_is_tested_once(X, classes):
    twice = Relevance() * SmoothSubset()
    np.testing.assert_allclose(significance(twice, X, classes).pvalues, significance("subset", X, classes).pvalues)
    np.testing.assert_allclose(significance(twice, X).pvalues, significance("subset", X).pvalues)
