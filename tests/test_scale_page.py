"""benchmarks.scale: the cost model finds known costs, and the page says what the numbers say."""

import numpy as np
import pytest

from benchmarks.scale import growth, limits, page

TALL, WIDE = np.array([0.5, 4e-8, 2e-10]), np.array([0.7, 3e-8, 1e-11])


def row(axis, size, shape, seconds, **about):
    told = {"method": "laplacian", "peak": 2**29, "bytes": 8.0 * shape[0] * shape[1], "informative": 1.0}
    return {"axis": axis, "size": size, "shape": shape, "seconds": float(seconds), **told, **about}


@pytest.fixture
def grown():
    tall = lambda n, s: float(TALL @ growth.tall_terms(n, 100, s))  # noqa: E731
    wide = lambda n, m: float(WIDE @ growth.wide_terms(n, m))  # noqa: E731
    s = growth.N_ANCHORS
    return growth.Growth(
        [row("rows", n, (n, 100), tall(n, s), anchors=s) for n in growth.ROWS]
        + [row("anchors", k, (n, 100), tall(n, k), anchors=k) for n, k in growth.OTHER_ANCHORS]
        + [row("rows, kNN", n, (n, 100), 1.0) for n in growth.KNN_ROWS]
        + [row("columns", m, (200, m), wide(200, m)) for m in growth.COLUMNS]
        + [row("rows of wide files", n, (n, m), wide(n, m)) for n, m in growth.MORE_ROWS]
        + [row("workers, by rows", w, (10**6, 100), 40 / w, workers=w, anchors=s) for w in growth.WORKERS]
        + [row("workers, by columns", w, (200, 10**6), 40 / w, workers=w) for w in growth.WORKERS]
    )


def test_the_cost_models_find_the_costs(grown):
    for model, costs in ((grown.tall_model(), TALL), (grown.wide_model(), WIDE)):
        np.testing.assert_allclose(model.costs, costs, rtol=1e-6)
        assert np.abs(model.errors).max() < 1e-9


def test_exponents_are_those_of_the_larger_half():
    curve = growth.Growth(
        [row("rows", n, (n, 1), n**1.5, anchors=1) | {"peak": n**0.25} for n in (10, 100, 1000, 10**4)]
    )
    np.testing.assert_allclose(curve.exponents("rows"), (1.5, 0.25))
    curve.rows[0]["seconds"] = 1e9
    np.testing.assert_allclose(curve.exponents("rows"), (1.5, 0.25))


@pytest.mark.parametrize(("peak", "verdict"), [(2**28, "All of them keep to it."), (2**30, "Over the limit: `evsc`.")])
def test_the_page_says_what_was_measured(grown, tmp_path, monkeypatch, peak, verdict):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(page, "DOCS", tmp_path)
    (tmp_path / "figures").mkdir()
    limited = [row("", 0, (800, 412_500), 3.0) | {"method": "evsc", "peak": peak}]
    names = ("KNN(weight='binary', algorithm='exact')", "KNN(algorithm='exact')", "Anchors(n_anchors=1000)")
    measures = ("seconds", "LS: ρ to binary kNN", "1-NN", "features")
    compared = [{"data": "shuttle, 58,000 x 9", "graph": name} | dict.fromkeys(measures, 0.5) for name in names]
    page.write(limited, grown, compared)
    text = (tmp_path / "scaling.md").read_text()
    assert verdict in text
    assert f"{limits.LIMIT / 2**20:.0f} MiB" in text
    assert "t = 0.5 s + 40.00 ns · n m + 200.0 ps · n m s; off by 0 %" in text
    assert "t = 0.7 s + 30.00 ns · n m + 10.0 ps · n² m; off by 0 %" in text
    work = float(TALL @ growth.tall_terms(1e7, 100, growth.N_ANCHORS)) / 60
    assert f"{work:.0f} minutes of work per worker" in text
    assert "shuttle: Anchors(n_anchors=1000) agrees with the exact binary kNN graph at ρ = 0.50" in text
    assert (tmp_path / "figures" / "scaling-growth.svg").exists()
    assert not list(tmp_path.glob("*.part"))
