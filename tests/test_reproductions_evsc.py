"""[EV] rerun in little: the findings that a quick run bears out for any seed, and the helpers behind them."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")
evsc = pytest.importorskip("benchmarks.papers.evsc")
from benchmarks.papers.common import in_parallel  # noqa: E402

COME_OUT = [
    "trace",
    "variance",
    "iris",
    "acc-ORL",
    "acc-nakayama",
    "jas-PIX",
    "jas-TOX",
    "jas-nakayama",
    "tox-above",
    "gap-acc-nakayama",
    "gap-jas-nakayama",
    "bad-better",
    "shares",
    "printed-TOX",
]
DO_NOT = ["jas-ORL", "acc-faces", "jas-100", "acc-random", "jas-random", "turning-TOX", "printed-PIX", "printed-ORL"]


@pytest.fixture(scope="module")
def findings(paper_data):
    return evsc.run(quick=True, n_jobs=1).findings


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("key", COME_OUT)
def test_comes_out(findings, key):
    holds, evidence = findings[key]
    assert holds, evidence


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("key", DO_NOT)
def test_known_not_to_come_out(findings, key):
    """A change here is news: the page explains why these fail."""
    holds, evidence = findings[key]
    assert not holds, evidence


def test_overlap_of_column_spaces(rng):
    A = rng.normal(size=(9, 3))
    assert evsc.overlap(A, A @ rng.normal(size=(3, 3))) == pytest.approx(1.0)
    basis = np.eye(6)
    assert evsc.overlap(basis[:, :2], basis[:, 1:3]) == pytest.approx(0.5)
    assert evsc.overlap(basis[:, :2], 7 * basis[:, 4:]) == pytest.approx(0.0)


def test_total_fall_counts_only_the_way_down():
    assert evsc.total_fall(np.array([[1.0, 2.0, 5.0], [3.0, 1.0, 2.0], [4.0, 3.5, 1.0]])).tolist() == [0.0, 2.0, 3.0]


def test_inner_products_kept(rng, monkeypatch):
    monkeypatch.setattr(evsc, "KEPT", 2)
    X, order = rng.normal(size=(7, 5)), [3, 0, 4, 1, 2]
    share, correlation = evsc.inner_products_kept(X, np.array(order))
    pairs = [(i, j) for i in range(7) for j in range(i)]
    whole = [sum(X[i, t] * X[j, t] for t in range(5)) for i, j in pairs]
    part = [sum(X[i, t] * X[j, t] for t in order[:2]) for i, j in pairs]
    assert share == pytest.approx(sum(X[i, t] ** 2 for i in range(7) for t in order[:2]) / (X**2).sum())
    assert correlation == pytest.approx(np.corrcoef(whole, part)[0, 1])


def test_cells_come_back_in_order(capsys):
    assert in_parallel("powers", 1, pow, [(2, 3), (5, 2), (7, 0)]) == [8, 25, 1]
    assert "powers: 3 cells" in capsys.readouterr().err
