"""benchmarks.scale: the cost models and exponents of known costs come out."""

import numpy as np
import pytest

from benchmarks import data
from benchmarks.scale import cells, growth

TALL, WIDE = np.array([0.5, 4e-8, 2e-10]), np.array([0.7, 3e-8, 1e-11])


def row(axis, rows, columns, seconds, peak=0.5, anchors="–", workers="–"):
    told = {"axis": axis, "anchors": anchors, "workers": workers, "rows": rows, "columns": columns}
    return {name: str(value) for name, value in (told | {"seconds": seconds, "peak GiB": peak}).items()}


@pytest.fixture
def grown():
    tall = lambda n, s: float(TALL @ growth.tall_terms(n, 100, s))  # noqa: E731
    wide = lambda n, m: float(WIDE @ growth.wide_terms(n, m))  # noqa: E731
    s = growth.N_ANCHORS
    return growth.Growth(
        [row("rows", n, 100, tall(n, s), anchors=s) for n in growth.ROWS]
        + [row("anchors", n, 100, tall(n, k), anchors=k) for n, k in growth.OTHER_ANCHORS]
        + [row("columns", 200, m, wide(200, m)) for m in growth.COLUMNS]
        + [row("rows of wide files", n, m, wide(n, m)) for n, m in growth.MORE_ROWS]
        + [row("workers, by rows", 10**6, 100, 40 / w, workers=w, anchors=s) for w in (1, 2)]
    )


def test_the_cost_models_find_the_costs(grown):
    for (costs, errors), known in ((grown.tall_model(), TALL), (grown.wide_model(), WIDE)):
        np.testing.assert_allclose(costs, known, rtol=1e-6)
        assert np.abs(errors).max() < 1e-9
    found = {name: rows for name, (_, rows) in grown.tables().items()}
    assert found["costs"][0][1:4] == ["0.5", "40.00", "200.0"]
    work = float(TALL @ growth.tall_terms(1e7, 100, growth.N_ANCHORS)) / 60
    assert found["estimate"][0][1] == f"{work:.0f}"


def test_exponents_are_those_of_the_larger_half():
    points = [row("rows", n, 1, n**1.5, n**0.25, anchors=1) for n in (10, 100, 1000, 10**4)]
    np.testing.assert_allclose(growth.Growth(points).exponents("rows"), (1.5, 0.25))
    points[0]["seconds"] = "1e9"
    np.testing.assert_allclose(growth.Growth(points).exponents("rows"), (1.5, 0.25))


def test_made_cells_are_as_sparse_as_asked_for_and_the_same_every_time():
    X, y = data.cells(400, 1000, 0.1)
    again, _ = data.cells(400, 1000, 0.1)
    other, _ = data.cells(400, 1000, 0.1, seed=1)
    assert X.shape == (400, 1000)
    assert X.dtype == np.float32
    assert X.nnz / 400_000 == pytest.approx(0.1, rel=0.1)
    assert (X != again).nnz == 0
    assert (X != other).nnz > 0
    np.testing.assert_allclose(np.expm1(X.astype(np.float64)).sum(axis=1), 1e4, rtol=1e-3)  # equal totals
    assert set(y) == set(range(12))


def test_sets_of_very_many_cells_are_measured_on_request_only():
    assert max(n for n, graph in cells.wanted(None, list(cells.GRAPHS)) if graph == "set") == 20_000
    assert max(n for n, graph in cells.wanted(None, list(cells.GRAPHS)) if graph == "X") == 100_000
    assert cells.wanted([50_000], ["set"]) == [(50_000, "set")]


def test_a_set_of_cells_is_a_row_of_the_table(monkeypatch):
    monkeypatch.setattr(cells.isolated, "measure", lambda job, *options: cells.isolated.JOBS[job](*options))
    row = dict(zip(cells.HEADER, cells.measured("set", 200, 300), strict=True))
    assert row["graph"] == "`subset`, 200 features"
    assert (row["rows"], row["columns"], row["search"], row["recall"]) == ("200", "300", "exact", "–")
    assert (row["true neighbours"], row["same kind"]) == ("–", "–")
    assert float(row["seconds"]) > 0.0
    assert float(row["peak GiB"]) > 0.0


def test_new_rows_of_cells_replace_old_ones():
    ours, scanpy = cells.GRAPHS["X"], cells.GRAPHS["scanpy"]
    made = lambda graph, n, seconds: [graph, n, "20,000", seconds, *["–"] * (len(cells.HEADER) - 4)]  # noqa: E731
    old = [
        dict(zip(cells.HEADER, made(*about), strict=True)) for about in ((ours, "50,000", "9"), (scanpy, "1,000", "3"))
    ]
    found = cells.merged(old, [made(ours, "50,000", "8"), made(ours, "3,000", "1")])
    assert [row[:2] + row[3:4] for row in found] == [
        [ours, "3,000", "1"],
        [ours, "50,000", "8"],
        [scanpy, "1,000", "3"],
    ]
