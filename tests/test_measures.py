"""Measures of rankings and selections, each against a plain version written here."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from plain import plain_jaccard
from scipy import stats

from fiedler import evaluate
from fiedler.evaluate import (
    clustering_accuracy,
    kendall_coefficient,
    measures,
    neighborhood_jaccard,
    rank_sums,
    top_k_overlap,
)


def test_the_contract_is_found_in_one_module():
    names = "tune_lambda tune cut_value suggest_n_features stability compare label_budget".split()  # noqa: SIM905
    assert all(callable(getattr(evaluate, name)) for name in names)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = evaluate.nothing


def test_kendall_is_friedman(rng):
    scores = rng.integers(4, size=(9, 6))  # many ties
    ranks = stats.rankdata(scores, axis=1)
    friedman = stats.friedmanchisquare(*scores.T).statistic
    assert kendall_coefficient(ranks) == pytest.approx(friedman / (9 * 5), rel=1e-12)


def test_rank_sums_are_competition_ranks(rng):
    A = rng.integers(3, size=(20, 4)) / 2
    plain = [sum(1 + sum(other > row[j] for other in row) for row in A) for j in range(4)]
    assert rank_sums(A).tolist() == plain
    assert rank_sums([[0.9, 0.9, 0.8, 0.7]]).tolist() == [1, 1, 3, 4]


def test_top_k_overlap(rng):
    m, k = 12, 5
    orders = np.array([rng.permutation(m) for _ in range(6)])
    pairs = [(set(a[:k]), set(b[:k])) for a, b in itertools.combinations(orders.tolist(), 2)]
    jaccard = np.mean([len(a & b) / len(a | b) for a, b in pairs])
    kuncheva = np.mean([(len(a & b) - k * k / m) / (k - k * k / m) for a, b in pairs])
    assert top_k_overlap(orders, k, "jaccard") == pytest.approx(jaccard, rel=1e-12)
    assert top_k_overlap(orders, k) == pytest.approx(kuncheva, rel=1e-12)
    assert top_k_overlap(orders[:, :k], k, n_features=m) == pytest.approx(kuncheva, rel=1e-12)
    assert np.isnan(top_k_overlap(orders, m))
    many = np.array([rng.permutation(200) for _ in range(60)])
    assert abs(top_k_overlap(many, 20)) < 0.02, "chance is 0"


def test_clustering_accuracy_tries_every_matching(rng):
    for classes, clusters in ((3, 3), (3, 4), (4, 2)):
        y, found = rng.integers(classes, size=40), rng.integers(clusters, size=40)
        wide = max(classes, clusters)
        best = max(
            np.mean([p[c] == t for t, c in zip(y, found, strict=True)]) for p in itertools.permutations(range(wide))
        )
        assert clustering_accuracy(y, found) == pytest.approx(best)


def test_neighborhood_jaccard(rng, monkeypatch):
    X = rng.normal(size=(30, 7))
    counts = rng.poisson(0.6, size=(40, 9)).astype(np.uint8)  # inner products tie, uint8 would overflow
    for Z, features in ((X, [1, 4]), (counts, [0, 3, 8]), (200 * counts, [2, 5])):
        expected = plain_jaccard(Z, features, 4)
        assert neighborhood_jaccard(Z, features, 4) == pytest.approx(expected, rel=1e-12)
        assert neighborhood_jaccard(sp.csr_array(Z), features, 4) == pytest.approx(expected, rel=1e-12)
    monkeypatch.setattr(measures, "BLOCK_CELLS", 90)
    assert neighborhood_jaccard(counts, [0, 3, 8], 4) == pytest.approx(plain_jaccard(counts, [0, 3, 8], 4), rel=1e-12)
    assert neighborhood_jaccard(X, range(7), 4) == 1.0
