"""The page on the field: its rivals do what their papers say, its judges and its tables what the page says."""

import sys

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

from benchmarks.field import __main__ as field
from benchmarks.field import literature, rivals
from benchmarks.field.__main__ import means, standings, summary
from benchmarks.field.judges import judged, linear, standardised
from benchmarks.field.selectors import DRAWS, SELECTORS, at_random, by_package, installed
from benchmarks.noise.planted import REAL, STRUCTURES, planted


@pytest.fixture
def C(rng):
    X = rng.normal(size=(40, 12)) + np.outer(np.repeat([0.0, 3.0], 20), rng.normal(size=12))
    return X - X.mean(axis=0)


def test_udfs_falls_and_keeps_its_constraint(C, monkeypatch):
    scatter = rivals.local_scatter(C)
    np.testing.assert_allclose(scatter, scatter.T, atol=1e-12)
    assert np.linalg.eigvalsh(scatter).min() > -1e-12
    np.testing.assert_allclose(scatter @ np.ones(40), 0.0, atol=1e-12)  # neighbourhoods are centred
    values = []
    for turns in (1, 2, 4, 20):
        monkeypatch.setattr(rivals, "_TURNS", turns)
        W = rivals.udfs_weights(C, scatter)
        np.testing.assert_allclose(W.T @ W, np.eye(5), atol=1e-10)
        values.append(rivals.udfs_objective(C, scatter, W))
    assert (np.diff(values) <= 1e-9).all()
    assert values[-1] < values[0]


def test_ndfs_solves_its_regression(C, monkeypatch):
    """W = (X'X + βD)⁻¹X'F for the F and the D of its turn; the first turn has D = I."""
    clusters = np.repeat([0, 1, 2, 3, 4], 8)
    monkeypatch.setattr(rivals, "_TURNS", 1)
    W = rivals.ndfs_weights(C, np.eye(40), clusters)
    F = np.eye(5)[clusters] + 0.2
    F /= np.linalg.norm(F, axis=0)
    np.testing.assert_allclose(W, np.linalg.solve(C.T @ C + np.eye(12), C.T @ F), atol=1e-10)


@pytest.mark.parametrize("name", ["PFA", "UDFS", "NDFS", "mcfs", "random"])
def test_a_selector_returns_different_columns_best_first(name):
    X = planted(STRUCTURES["clusters"], 1, 1.0, "field", 0)
    found = SELECTORS[name](X, REAL, 0)
    assert len(set(found.tolist())) == len(found) == REAL
    np.testing.assert_array_equal(SELECTORS[name](X, REAL, 0), found)


def test_random_features_differ_from_draw_to_draw(C):
    assert DRAWS["random"] == 10
    assert at_random(C, 5, 0).tolist() != at_random(C, 5, 1).tolist()


def test_judges(rng):
    y = np.repeat([0, 1], 20)
    apart = np.where(y, 10.0, 0.0)[:, None] + rng.normal(size=(40, 2))
    assert judged(apart, y) == pytest.approx([1.0, 1.0, 1.0])
    noise = judged(rng.normal(size=(40, 2)), y)
    assert all(0.0 <= value < 0.8 for value in noise)
    np.testing.assert_allclose(standardised(apart * [1.0, 1e6]), standardised(apart), atol=1e-12)
    assert not standardised(np.ones((5, 1))).any()


@pytest.mark.parametrize("sizes", [(20, 20), (30, 3)], ids=["equal classes", "a class smaller than the folds"])
def test_the_linear_judge_learns_from_four_folds(rng, sizes):
    y = np.repeat([0, 1], sizes)
    apart = np.where(y, 10.0, 0.0)[:, None] + rng.normal(size=(len(y), 2))
    assert linear(apart, y) == 1.0
    assert linear(apart * [1.0, 1e6], y) == 1.0  # columns are standardised
    assert linear(np.ones((len(y), 1)), y) < 1.0


def test_the_linear_judge_equals_a_plain_loop_over_folds(rng):
    y = np.repeat([0, 1, 2], 15)
    block = rng.normal(size=(45, 4)) + y[:, None]
    right = 0
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(block, y):
        centre, spread = block[train].mean(axis=0), block[train].std(axis=0)
        model = LinearSVC(dual=False, random_state=0).fit((block[train] - centre) / spread, y[train])
        right += np.sum(model.predict((block[test] - centre) / spread) == y[test])
    assert linear(block, y) == pytest.approx(right / 45)


def test_a_package_that_finds_too_few_columns_is_filled_by_variance():
    X = np.array([[0.0, 0.0, 0.0, 0.0], [1.0, 4.0, 2.0, 3.0]])
    assert by_package(lambda X, k: np.array([2]))(X, 3, 0).tolist() == [2, 1, 3]


def test_selectors_of_packages_that_are_missing_are_left_out(monkeypatch):
    monkeypatch.setitem(sys.modules, "fastcan", None)
    able, reasons = installed(["subset", "fastcan", "all"])
    assert able == ["subset", "all"]
    assert len(reasons) == 1
    assert reasons[0].startswith("fastcan left out")


@pytest.mark.parametrize(("name", "package"), [("CUR", "skmatter"), ("FPS", "skmatter"), ("fastcan", "fastcan")])
def test_selectors_of_packages(C, name, package):
    pytest.importorskip(package)
    found = SELECTORS[f"scikit-matter {name}" if package == "skmatter" else name](C, 6, 0)
    assert len(set(found.tolist())) == len(found) == 6
    if name == "CUR":
        np.testing.assert_array_equal(found, SELECTORS["CUR"](C, 6, 0))


# -------------------------------------------------------------------- tables


def rows_of(values):
    """Raw rows of both tables: values by selector and set."""
    about = {"block": "study", "kind": "genes"}
    cells = [(method, name, value) for method, by in values.items() for name, value in by.items()]
    raw = [
        about | {"method": method, "set": name, "standardised": scaled, "features": size}
        | dict.fromkeys(("1-NN", "k-means", "NMI"), str(value + shift))
        for method, name, value in cells for scaled in ("no", "yes") for size, shift in (("10", -0.1), ("20", 0.1))
    ]  # fmt: skip
    return raw, [about | {"method": method, "set": name, "features": "10", "SVM": str(v)} for method, name, v in cells]


def test_means_duels_and_ranks():
    values = {
        "subset": {"a": 0.5, "b": 0.6, "c": 0.7},
        "mcfs": {"a": 0.4, "b": 0.7, "c": 0.6},
        "random": {"a": 0.3, "b": 0.3, "c": 0.3},
        "all": {"a": 0.9, "b": 0.9, "c": 0.9},
    }
    raw, straight = rows_of(values)
    found = means(raw, straight, ("study",), text=False)
    assert found["SVM"] == values
    assert found["1-NN, standardised"]["mcfs"] == pytest.approx(values["mcfs"])
    assert means(raw, straight, ("study",), text=True) == means(raw, straight, ("held-out",), text=False) == {}
    header, rows = summary(found)
    cells = {row[0]: dict(zip(header, row, strict=True)) for row in rows}
    assert list(cells) == list(values)
    assert cells["mcfs"]["SVM"] == ".567"
    assert cells["mcfs"]["SVM: sets better than subset : worse (p)"].startswith("1 : 2 (")
    header, rows = standings({"genes": (found, ("1-NN", "SVM"))})
    assert header == ["selector", "1-NN, genes", "SVM, genes"]
    assert [row[0] for row in rows] == ["subset", "mcfs", "random", "critical difference"]
    assert [row[2] for row in rows] == ["1.3", "1.7", "3.0", "1.9"]  # 2.343 sqrt(3 · 4 / 6 · 3) = 1.913


def test_a_run_goes_on_where_it_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(field, "__file__", str(tmp_path / "__main__.py"))
    asked = []

    def measure(name, method):
        asked.append((name, method))
        return [[name, "study", "genes", method, "10", str(len(asked))]]

    table = field.Raw(measure, field.LINEAR_HEADER, "raw.csv")
    field.measure_all(table, ["a"], ["x", "y"], 1, again=False, keep=True)
    rows = field.measure_all(table, ["a", "b"], ["x", "y"], 1, again=False, keep=True)
    assert asked == [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
    assert [(row["set"], row["method"]) for row in rows] == asked
    rows = field.measure_all(table, ["a"], ["x"], 1, again=True, keep=True)
    assert asked[4:] == [("a", "x")]
    assert [row["SVM"] for row in rows] == ["5", "2", "3", "4"]


def test_printed_numbers_recompute_within_two_hundredths():
    ours = [("LassoNet", "fashion_mnist", "PFA", "50", 0.79), ("LassoNet", "fashion_mnist", "all features", "784", 0.9)]
    ours += [("LassoNet", "fashion_mnist", literature.FEW, "50", 0.8)]
    for name in ("orlraws10P", "pixraw10P", "warpAR10P", "TOX_171"):
        for method in literature.COMPARED["ASU"]:
            ours += [("ASU", name, method, size, 0.85 if method.startswith("Rel") else 0.1) for size in ("20", "100")]
    raw = [
        dict(zip(literature.HEADER, (source, name, method, "0", size, str(value)), strict=True))
        for source, name, method, size, value in ours
    ]
    tables = literature.tables(raw)
    verdicts = {row[0]: row[-1] for row in tables["printed-lassonet"][1]}
    assert verdicts["PFA"] == "yes"
    assert verdicts["all features"] == "no"
    assert verdicts["LassoNet, with labels"] == "not computed"
    assert verdicts[literature.FEW] == "not printed"
    reached = {(row[0], row[1]): row[-1] for row in tables["printed-asu"][1]}
    assert reached["orlraws10P", "20"] == "yes"
    assert reached["pixraw10P", "20"] == "no"
