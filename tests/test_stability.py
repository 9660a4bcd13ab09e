"""Stability: what the draws say, over rows, labels and pairs."""

import itertools

import numpy as np
import pytest
from scipy import stats

from fiedler import (
    ConstraintScore,
    FisherScore,
    SpectralSelector,
    pairs_from_labels,
)
from fiedler.evaluate import stability
from fiedler.evaluate.held_out import whole_seed


class Spy(FisherScore):
    """Fisher's score that remembers what it was shown."""

    shown: list = []  # noqa: RUF012

    def scorer(self, problem):
        Spy.shown.append((np.array(problem.X), problem.supervision.y.copy()))
        return super().scorer(problem)


def test_stability_is_what_the_draws_say(few):
    X, y = few
    for resample, size, n_rows in (("rows", 30, 30), ("labels", 6, 45)):
        Spy.shown.clear()
        result = stability(Spy(), X, y, k=3, resample=resample, size=size, n_draws=8, random_state=5)
        orders, ranks = [], []
        for rows, labels in Spy.shown:
            assert len(rows) == n_rows
            assert np.sum(labels >= 0) == 6
            selector = SpectralSelector(FisherScore()).fit(rows, labels)
            orders.append(selector.order_)
            ranks.append(stats.rankdata(-selector.scores_))
        assert len(orders) == 8
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
    Spy.shown.clear()
    stability(Spy(), X, y, k=2, size=0.6, n_draws=5)
    assert [np.bincount(labels).tolist() for _, labels in Spy.shown] == [[18, 6, 3]] * 5
    assert len({rows.tobytes() for rows, _ in Spy.shown}) == 5
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
        ({"criterion": "constraint", "resample": "pairs", "size": 400}, "n_pairs=400 needs"),
        (
            {"criterion": "constraint", "resample": "pairs", "y": None},
            r"constraint requires y .* pass must_link",
        ),
        ({"criterion": "subset", "resample": "pairs", "y": None}, "needs must_link and cannot_link, or classes"),
        ({"n_draws": 1}, "n_draws must be an integer of at least 2"),
    ],
)
def test_stability_errors(few, change, message):
    X, y = few
    given = {"criterion": "sselect", "X": X, "y": y, "k": 2} | change
    with pytest.raises(ValueError, match=message):
        stability(**given)


def test_progress_counts_the_draws(few):
    ticks = []
    stability("laplacian", few[0], k=2, n_draws=3, progress=lambda *tick: ticks.append(tick))
    assert ticks == [(1, 3), (2, 3), (3, 3)]
