"""The statistics of the study "which method when": average ranks and tests, against printed numbers and scipy."""

import itertools

import numpy as np
import pytest
from scipy.stats import friedmanchisquare

from benchmarks.study.ranks import critical_difference, duel, friedman, holm, rank_methods

# Demšar (2006), Table 6: AUC of C4.5, +m, +cf, +m+cf on 14 sets. Both .975 of the set "voting" are ranked by digits
# that are not printed (+cf second, +m+cf third), hence the one in the last place.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.97501, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)
NAMES = ("C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf")


def test_ranks_are_those_printed_by_demsar():
    ranking = rank_methods(dict(zip(NAMES, DEMSAR.T, strict=True)))
    assert ranking.methods == ("C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5")
    assert np.round(ranking.ranks, 3).tolist() == [1.964, 2.0, 2.893, 3.143]
    assert ranking.chi_square == pytest.approx(9.28, abs=0.005)
    statistic = 13 * ranking.chi_square / (14 * 3 - ranking.chi_square)
    assert statistic == pytest.approx(3.69, abs=0.005)  # F_F, "the critical value of F(3, 39) is 2.85"
    assert 0.01 < ranking.p_value < 0.05
    assert ranking.critical_difference == pytest.approx(1.25, abs=0.005)
    assert critical_difference(4, 14, alpha=0.1) == pytest.approx(1.12, abs=0.005)
    assert not ranking.differ("C4.5+m+cf", "C4.5")
    assert ranking.groups() == [(0, 3)]


@pytest.mark.parametrize(
    ("n_methods", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850), (8, 3.031), (10, 3.164)]
)
def test_critical_values_are_those_of_demsars_table_5(n_methods, q):
    scale = np.sqrt(n_methods * (n_methods + 1) / 6.0)
    assert critical_difference(n_methods, 1) / scale == pytest.approx(q, abs=1.5e-3)


def test_average_ranks_equal_a_plain_count(rng):
    values = rng.integers(0, 4, size=(9, 5)).astype(float)
    ranking = rank_methods({str(j): values[:, j] for j in range(5)})
    for j in range(5):
        plain = [1 + sum(v > row[j] for v in row) + (sum(v == row[j] for v in row) - 1) / 2 for row in values]
        assert ranking.rank(str(j)) == pytest.approx(np.mean(plain))


def test_friedman_equals_scipys_without_ties(rng):
    values = rng.normal(size=(12, 4))
    ranking = rank_methods({str(j): values[:, j] for j in range(4)})
    assert ranking.chi_square == pytest.approx(friedmanchisquare(*values.T).statistic)


def test_friedman_of_the_same_order_everywhere_is_certain():
    assert friedman([1.0, 2.0, 3.0], 6) == (12.0, 0.0)
    assert friedman([2.0, 2.0, 2.0], 6)[1] == pytest.approx(1.0)


def test_bars_join_exactly_the_methods_that_do_not_differ(rng):
    values = rng.normal(size=(30, 6)) + np.linspace(0, 2.5, 6)
    ranking = rank_methods({str(j): values[:, j] for j in range(6)})
    joined = {pair for first, last in ranking.groups() for pair in itertools.combinations(range(first, last + 1), 2)}
    for a, b in itertools.combinations(range(6), 2):
        assert ((a, b) in joined) == (not ranking.differ(ranking.methods[a], ranking.methods[b]))


def test_holms_correction_is_the_textbooks():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def test_a_duel_counts_sets_and_leaves_ties_out():
    found = duel([0.5, 0.6, 0.7, 0.8], [0.5, 0.5, 0.8, 0.6])
    assert (found.won, found.lost, found.n_sets) == (2, 1, 4)
    assert found.gain == pytest.approx(0.05)
    assert duel([0.5, 0.5], [0.5, 0.5]).p_value == 1.0
