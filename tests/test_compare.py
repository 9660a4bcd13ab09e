"""fiedler.evaluate.compare: cells against a plain version, determinism, resuming, Ctrl-C, and one clear error each."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import ExtraTreeClassifier

from fiedler import (
    KNN,
    SPEC,
    ConstraintScore,
    FisherScore,
    LaplacianScore,
    SpectralSelector,
    SSelect,
    Variance,
    pairs_from_labels,
)
from fiedler.data.arrays import validate_X
from fiedler.evaluate import (
    cells as module,
)
from fiedler.evaluate import (
    clustering_curve,
    compare,
    jaccard_curve,
    label_budget,
    neighborhood_jaccard,
    top_k_overlap,
)
from fiedler.evaluate.held_out import folds, read_target, sampled_rows, whole_seed

SMALL = {"n_features": [2, 5], "n_draws": 3, "n_jobs": 1}


def run(methods, X, y=None, **options):
    return compare(methods, X, y, **{**SMALL, **options})


class Spy(FisherScore):
    """Fisher's score that remembers the labels it was shown."""

    shown: list = []  # noqa: RUF012

    def scorer(self, problem):
        Spy.shown.append(problem.supervision.y.copy())
        return super().scorer(problem)


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Few random draws, and a spy that has seen nothing."""
    Spy.shown.clear()
    monkeypatch.setattr(module, "RANDOM_DRAWS", 3)


@pytest.fixture
def cells(monkeypatch):
    """The cells computed, as (method or baseline, draw)."""
    computed, cell = [], module.run_cell

    def counted(plan, criterion, number, order):
        computed.append((repr(criterion), number))
        return cell(plan, criterion, number, order)

    monkeypatch.setattr(module, "run_cell", counted)
    return computed


def plain_accuracy(X, y, orders, k, seed, draw, counted=None):
    """1-NN over the folds of a draw; one ranking for all folds, or one each."""
    splits = folds(read_target(y, len(y), None, -1), 5, KNeighborsClassifier(1), np.random.default_rng([seed, draw, 0]))
    answers = np.empty(len(y))
    for fold, (train, test) in enumerate(splits):
        Z = X[:, orders[fold % len(orders)][:k]]
        distances = ((Z[test][:, None] - Z[train][None]) ** 2).sum(axis=2)
        answers[test] = y[train][np.argmin(distances, axis=1)]
    rows = np.arange(len(y)) if counted is None else counted
    return np.mean(answers[rows] == y[rows])


# -------------------------------------------------------------------- what a cell is


def test_a_draw_shows_a_few_labels_and_predicts_all_rows(blobs):
    X, y = blobs
    result = run({"spy": Spy()}, X, y, n_labels=7, random_state=11)
    assert len(Spy.shown) == 3
    for draw, shown in enumerate(Spy.shown):
        assert sorted(np.bincount(shown[shown >= 0])) == [2, 2, 3]
        np.testing.assert_array_equal(shown[shown >= 0], y[shown >= 0])
        order = SpectralSelector("fisher").fit(X, shown).order_
        for at, k in enumerate((2, 5)):
            assert result.values("spy")[draw, at] == pytest.approx(plain_accuracy(X, y, [order], k, 11, draw))
    hidden = run({"spy": Spy()}, X, y, n_labels=7, random_state=11, scored_rows="hidden")
    for draw, shown in enumerate(Spy.shown[:3]):
        order = SpectralSelector("fisher").fit(X, shown).order_
        rows = np.flatnonzero(shown < 0)
        assert hidden.values("spy")[draw, 1] == pytest.approx(plain_accuracy(X, y, [order], 5, 11, draw, rows))


def test_without_n_labels_the_fold_to_be_predicted_is_hidden(blobs):
    X, y = blobs
    result = run({"spy": Spy()}, X, y, n_draws=1)
    assert [np.sum(shown < 0) for shown in Spy.shown] == [9] * 5
    orders = [SpectralSelector("fisher").fit(X, shown).order_ for shown in Spy.shown]
    assert result.values("spy")[0, 0] == pytest.approx(plain_accuracy(X, y, orders, 2, 0, 0))


def test_noise_stays_at_chance_where_seen_rows_do_not_count(rng):
    X, y = rng.normal(size=(60, 1000)), np.arange(60) % 2
    seen = run(["fisher"], X, y, n_labels=50, n_features=[10], n_draws=4).values("fisher").mean()
    assert seen > 0.6, "the paper's protocol flatters a method that has seen most labels"
    for options in ({"n_labels": 50, "scored_rows": "hidden"}, {}):
        honest = run(["fisher"], X, y, n_features=[10], n_draws=4, **options).values("fisher").mean()
        assert abs(honest - 0.5) < 0.13


def test_methods_without_labels_rank_once_and_never_see_y(blobs, cells):
    X, y = blobs
    methods = {"ls": LaplacianScore(), "phi3": SPEC(phi=3)}  # φ3 would take the number of classes from y
    result = run(methods, X, y, n_labels=6)
    assert cells.count(("LaplacianScore()", None)) == 1
    for name, method in methods.items():
        order = SpectralSelector(method).fit(X).order_
        plain = [[plain_accuracy(X, y, [order], k, 0, draw) for k in (2, 5)] for draw in range(3)]
        np.testing.assert_allclose(result.values(name), plain)
        assert result.summary()["methods"][name]["stability"] is None, "nothing was redrawn"


def test_constraint_methods_get_pairs_from_the_labels_shown(blobs):
    X, y = blobs
    result = run({"C1": ConstraintScore(1)}, X, y, n_labels=9, n_pairs=6, random_state=2)
    plan = module.Plan(
        X,
        read_target(y, 45, None, -1),
        np.array([2, 5]),
        ("accuracy",),
        None,
        9,
        6,
        {},
        5,
        "all",
        "raise",
        None,
        False,
        2,
    )
    for draw in range(3):
        shown = plan.target.shown(module.labels_shown(plan, draw))
        must, cannot = pairs_from_labels(shown, 6, whole_seed([2, draw, 2]))
        assert len(must) == len(cannot) == 3
        order = SpectralSelector(ConstraintScore(1)).fit(X, must_link=must, cannot_link=cannot).order_
        assert result.values("C1")[draw, 0] == pytest.approx(plain_accuracy(X, y, [order], 2, 2, draw))
    implied = run({"C1": ConstraintScore(1)}, X, y, n_labels=9)
    shown = plan.target.shown(module.labels_shown(module.Plan(**{**vars(plan), "random_state": 0}), 0))
    order = SpectralSelector(ConstraintScore(1)).fit(X, shown).order_
    assert implied.values("C1")[0, 0] == pytest.approx(plain_accuracy(X, y, [order], 2, 0, 0))


def test_regression(blobs, rng):
    X, _ = blobs
    y = X[:, 0] + 0.1 * rng.normal(size=45)
    y[:4] = np.nan
    result = run(["correlation", "sls"], X, y, n_labels=10)
    assert result.settings["task"] == "regression"
    assert result.summary()["settings"]["estimator"] == "KNeighborsRegressor()"
    plan = module.Plan(
        X,
        read_target(y, 45, None, -1),
        np.array([2, 5]),
        ("rmse",),
        None,
        10,
        None,
        {},
        5,
        "all",
        "raise",
        None,
        False,
        0,
    )
    shown = plan.target.shown(module.labels_shown(plan, 1))
    assert np.sum(~np.isnan(shown)) == 10
    top, answers = SpectralSelector("correlation").fit(X, shown).order_[:2], np.full(45, np.nan)
    for train, test in folds(plan.target, 5, KNeighborsRegressor(5), np.random.default_rng([0, 1, 0])):
        distances = ((X[test][:, None, top] - X[train][None][:, :, top]) ** 2).sum(axis=2)
        answers[test] = y[train][np.argsort(distances, axis=1)[:, :5]].mean(axis=1)
    assert result.values("correlation")[1, 0] == pytest.approx(np.sqrt(np.nanmean((answers - y) ** 2)))
    ranks = result.summary()["methods"]
    assert ranks["correlation"]["average_rank"]["rmse"] < ranks["random"]["average_rank"]["rmse"], "small is good"
    whole = np.round(10 * X[:, 0])  # whole numbers are a target when a regressor says so
    assert run(["sls"], X, whole, estimator=KNeighborsRegressor(3)).settings["task"] == "regression"


def test_no_labels_at_all(blobs):
    X, _ = blobs
    result = run(["laplacian"], X)
    order = SpectralSelector("laplacian").fit(X).order_
    assert result.values("laplacian").tolist() == [[neighborhood_jaccard(X, order[:k]) for k in (2, 5)]]
    assert result.values("random").shape == (3, 2)
    assert result.values("all").tolist() == [[1.0]]
    assert result.summary()["methods"]["laplacian"]["curves"]["jaccard"]["low"] == [None, None]


def test_further_metrics(blobs):
    X, y = blobs
    result = run(
        ["laplacian", "fisher"], X, y, n_draws=1, metrics=["accuracy", "nmi", "clustering_accuracy", "jaccard"]
    )
    for name in ("laplacian", "fisher"):
        order = SpectralSelector(name).fit(X, y).order_
        kept = jaccard_curve(X, order, n_features=[2, 5]).mean
        np.testing.assert_allclose(result.values(name, "jaccard")[0], kept)
        for metric in ("nmi", "clustering_accuracy"):
            assert (
                np.abs(
                    result.values(name, metric)[0]
                    - clustering_curve(X, y, order, metric=metric, n_features=[2, 5]).mean
                ).max()
                < 0.15
            )
    assert set(result.table["metric"]) == {"accuracy", "nmi", "clustering_accuracy", "jaccard"}


def test_sparse_stays_sparse_and_changes_nothing(blobs, monkeypatch):
    X, y = blobs
    X = np.where(np.abs(X) < 0.7, 0, X)
    dense = run(["laplacian", "sselect"], X, y, n_labels=6)
    kinds = []
    ranking = module.checked_ranking

    def spied(criterion, problem, *rest):
        kinds.append(sp.issparse(problem.X))
        return ranking(criterion, problem, *rest)

    monkeypatch.setattr(module, "checked_ranking", spied)
    sparse = run(["laplacian", "sselect"], sp.csr_matrix(X), y, n_labels=6)
    assert kinds
    assert all(kinds)
    np.testing.assert_allclose(sparse.table["value"], dense.table["value"])


def test_unscored_features_stop_or_are_filled_at_random(rng):
    X, y = rng.poisson(0.1, size=(40, 60)), np.arange(40) % 2
    with pytest.raises(
        ValueError, match=r"50 features are requested, but FisherScore\(\) scores only \d+ of 60 in draw 0"
    ):
        run(["fisher"], X, y, n_labels=2, n_features=[50])
    filled = run(["fisher"], X, y, n_labels=2, n_features=[50], unscored="random")
    for orders in filled.orders["fisher"]:
        assert len(set(orders)) == 50
    scored = np.sum(~np.isnan(SpectralSelector("fisher", n_features_to_select=1).fit(X, y).scores_))
    assert scored >= 50, "it is the few labels that leave features without a score"
    tails = [tuple(orders[-10:]) for orders in filled.orders["fisher"]]
    assert all(list(tail) != sorted(tail) for tail in tails), "not in column order"


# -------------------------------------------------------------------- table and summary


def test_the_table_is_tidy_and_the_baselines_are_in_it(blobs, monkeypatch):
    X, y = blobs
    monkeypatch.undo()
    result = run(["fisher", SSelect(lam=0.2)], X, y, n_labels=6)
    assert list(result.table) == ["method", "n_features", "draw", "metric", "value", "seconds"]
    frame = result.frame()
    counts = frame.groupby("method").size().to_dict()
    assert counts == {"fisher": 6, "SSelect(lam=0.2)": 6, "variance": 6, "random": 40, "all": 3}
    assert set(frame.n_features[frame.method == "all"]) == {8}
    assert frame.draw[frame.method == "random"].max() == 19
    assert (frame.seconds[frame.method == "fisher"] > 0).all()
    assert "fisher" in repr(result)
    assert repr(result).startswith("Comparison(5 methods, 3 draws, accuracy)")


def test_the_summary_is_plain_and_right(blobs):
    X, y = blobs
    result = run(["fisher", "laplacian"], X, y, n_labels=6, n_draws=5)
    summary = result.summary()
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    fisher = summary["methods"]["fisher"]
    values = result.values("fisher")
    curve = fisher["curves"]["accuracy"]
    assert curve["n_features"] == [2, 5]
    np.testing.assert_allclose(curve["mean"], values.mean(axis=0))
    np.testing.assert_allclose(curve["std"], values.std(axis=0, ddof=1))
    low, high = stats.t.interval(0.95, 4, loc=values.mean(axis=0), scale=stats.sem(values))
    np.testing.assert_allclose([curve["low"], curve["high"]], [low, high])
    names = list(summary["methods"])
    ranks = []
    for draw in range(5):
        for at in range(2):
            row = [result.values(n)[draw, 0 if n == "all" else at] for n in names]
            ranks.append([1 + sum(o > v for o in row) + (sum(o == v for o in row) - 1) / 2 for v in row])
    average = dict(zip(names, np.mean(ranks, axis=0), strict=True))
    assert {n: summary["methods"][n]["average_rank"]["accuracy"] for n in names} == pytest.approx(average)
    assert summary["best"] == {"accuracy": min(average, key=average.get)}
    assert summary["baselines"] == ["random", "variance", "all"]
    assert fisher["stability"]["jaccard"] == [top_k_overlap(result.orders["fisher"], k, "jaccard") for k in (2, 5)]
    assert fisher["stability"]["kuncheva"][1] == top_k_overlap(result.orders["fisher"], 5, n_features=8)
    assert fisher["criterion"] == "FisherScore()"
    assert [summary["methods"][n]["baseline"] for n in names] == [False, False, True, True, True]


def test_random_features_are_chance_on_noise(rng):
    X, y = rng.normal(size=(50, 40)), np.arange(50) % 2
    assert abs(run([], X, y, n_draws=10).values("random").mean() - 0.5) < 0.1


# -------------------------------------------------------------------- determinism


def test_the_seed_decides_whatever_the_order_and_the_number_of_processes(blobs):
    X, y = blobs
    options = {"n_labels": 6, "estimator": ExtraTreeClassifier(), "random_state": 4}
    one = run(["sselect", "fisher", "laplacian"], X, y, **options)
    two = run(["laplacian", "fisher", "sselect"], X, y, **options, n_jobs=2)
    for name in ("sselect", "fisher", "laplacian", "random", "all"):
        np.testing.assert_array_equal(one.values(name), two.values(name))
    other = run(["fisher"], X, y, **{**options, "random_state": 5})
    assert (other.values("fisher") != one.values("fisher")).any()


def test_warnings_come_once_per_method(blobs):
    X, y = blobs
    methods = {"ls": LaplacianScore(KNN(20)), "mine": SSelect(KNN(30))}
    with pytest.warns(UserWarning, match="the graph is complete") as caught:
        run(methods, X[::4], y[::4], n_labels=6)
    starts = ["ls, 3 of 3 draws: n_neighbors=20", "mine, 3 of 3 draws: n_neighbors=30"]
    assert [str(w.message)[: len(start)] for w, start in zip(caught, starts, strict=True)] == starts


# -------------------------------------------------------------------- resuming


def test_a_second_run_computes_nothing(blobs, cells, tmp_path):
    X, y = blobs
    options = {"n_labels": 6, "resume_from": tmp_path / "kept"}
    first = run(["fisher", "laplacian"], X, y, **options)
    computed, ticks = len(cells), []
    # Two rankings without labels; three draws of three methods, of random features and of all features.
    assert computed == 2 + 3 * 5 == len(os.listdir(tmp_path / "kept"))
    second = run(["laplacian", "fisher"], X, y, progress=lambda *tick: ticks.append(tick), **options)
    assert len(cells) == computed
    assert ticks[-1] == (computed, computed)
    for column in ("value", "seconds"):
        assert sorted(first.table[column]) == sorted(second.table[column])
    run(["laplacian", "fisher"], sp.csr_array(X), y, **options)
    assert len(cells) == 2 * computed, "another container is other data"
    assert not [name for name in os.listdir(tmp_path / "kept") if not name.endswith(".json")]


@pytest.mark.parametrize(
    "change",
    [
        {"n_labels": 9},
        {"n_features": [2, 4]},
        {"random_state": 1},
        {"n_folds": 4},
        {"estimator": KNeighborsClassifier(3)},
        {"metrics": ["jaccard"]},
        {"n_pairs": 4},
        {"scored_rows": "hidden"},
        {"X": 1e-9},
        {"y": True},
    ],
)
def test_changed_data_or_parameters_are_computed_anew(blobs, cells, tmp_path, monkeypatch, change):
    X, y = blobs
    monkeypatch.setattr(module, "RANDOM_DRAWS", 1)
    options = {"n_labels": 6, "resume_from": tmp_path, "n_draws": 1}
    run(["fisher"], X, y, **options)
    computed = len(cells)
    X = X + change.pop("X", 0.0)
    y = (y + 1) % 3 if change.pop("y", False) else y
    run(["fisher"], X, y, **{**options, **change})
    assert len(cells) == 2 * computed


def test_changed_methods_and_more_draws_compute_only_what_is_new(blobs, cells, tmp_path):
    X, y = blobs
    options = {"n_labels": 6, "resume_from": tmp_path}
    run([SSelect(lam=0.1)], X, y, **options)
    before = len(cells)
    run({"mine": SSelect(lam=0.1), "other": SSelect(lam=0.2)}, X, y, **options)
    assert cells[before:] == [("SSelect(lam=0.2)", draw) for draw in range(3)]
    before = len(cells)
    run([SSelect(lam=0.1)], X, y, **{**options, "n_draws": 4})
    assert sorted(cells[before:]) == sorted([("SSelect()", 3), ("Variance()", 3), ("'all'", 3), ("'random'", 3)])


def test_a_broken_file_is_computed_again(blobs, cells, tmp_path):
    X, y = blobs
    options = {"n_labels": 6, "resume_from": tmp_path}
    first = run(["fisher"], X, y, **options)
    before = len(cells)
    sorted(tmp_path.glob("*.json"))[0].write_text('{"values": [')
    second = run(["fisher"], X, y, **options)
    assert len(cells) == before + 1
    np.testing.assert_array_equal(first.table["value"], second.table["value"])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interruption_keeps_the_finished_cells(blobs, tmp_path, n_jobs):
    X, y = blobs

    def stop(done, total):
        if done == 6:
            raise KeyboardInterrupt

    options = {"n_labels": 6, "resume_from": tmp_path, "n_jobs": n_jobs}
    with pytest.raises(KeyboardInterrupt):
        run(["fisher", "sselect"], X, y, progress=stop, **options)
    cells = "[!.]*.json"  # a worker that was stopped while it wrote leaves a hidden part
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob(cells)}
    assert 6 <= len(kept) < 16
    ticks = []
    resumed = run(["fisher", "sselect"], X, y, progress=lambda *tick: ticks.append(tick), **options)
    assert all(path.stat().st_mtime_ns == changed for path, changed in kept.items())
    assert ticks[-1][0] == ticks[-1][1] == len(list(tmp_path.glob(cells))) == 1 + 3 * 5
    fresh = run(["fisher", "sselect"], X, y, n_labels=6)
    np.testing.assert_array_equal(resumed.table["value"], fresh.table["value"])


SCRIPT = """
import sys, numpy as np
from fiedler.evaluate import compare
rng = np.random.default_rng(0)
y = np.arange(90) % 3
X = rng.normal(size=(90, 400)) + np.outer(y, np.arange(400) < 5)
compare(["fisher", "sselect", "relieff"], X, y, n_labels=30, n_draws=300, n_jobs=2, resume_from=sys.argv[1])
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_stops_the_workers_and_leaves_whole_cells(tmp_path):
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 240  # on a busy machine the workers take long to start
    try:
        while len(list(tmp_path.glob("[!.]*.json"))) < 20:
            assert process.poll() is None, process.communicate()[1]
            assert time.monotonic() < deadline
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the workers get it too
        errors = process.communicate(timeout=300)[1]
    finally:
        if process.poll() is None:  # it must not outlive the test and slow the others down
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    assert process.returncode != 0
    assert "KeyboardInterrupt" in errors
    finished = _when_no_worker_goes_on(tmp_path)
    assert 20 <= len(finished) < 900
    assert all(json.loads(path.read_text())["method"] for path in finished)


def _when_no_worker_goes_on(folder):
    """The cells once a second has passed without another: a worker may still write the one it had begun."""
    before, finished = None, sorted(folder.glob("[!.]*.json"))
    while finished != before:
        time.sleep(1.0)
        before, finished = finished, sorted(folder.glob("[!.]*.json"))
    return finished


# -------------------------------------------------------------------- budgets


def test_label_budget(blobs):
    X, y = blobs
    ticks = []
    budgets = [9, 3, 30]
    result = label_budget(
        {"spy": Spy()}, X, y, budgets, n_features=2, n_draws=2, n_jobs=1, progress=lambda *t: ticks.append(t)
    )
    assert list(result.comparisons) == [3, 9, 30]
    assert [np.sum(shown >= 0) for shown in Spy.shown] == [3, 3, 9, 9, 30, 30]
    assert set(np.flatnonzero(Spy.shown[0] >= 0)) < set(np.flatnonzero(Spy.shown[2] >= 0)), "nested"
    assert len(ticks) == ticks[-1][0] == ticks[-1][1] == 3 * (1 + 2 * 3 + 3)
    assert [done for done, _ in ticks] == list(range(1, len(ticks) + 1))
    single = compare({"spy": Spy()}, X, y, n_features=[2], n_draws=2, n_jobs=1, n_labels=9)
    np.testing.assert_array_equal(result.comparisons[9].values("spy"), single.values("spy"))
    summary = result.summary()
    assert json.loads(json.dumps(summary)) == summary
    means = summary["methods"]["spy"]["accuracy"]["mean"]
    assert means == [pytest.approx(result.comparisons[b].values("spy").mean()) for b in (3, 9, 30)]
    assert set(result.table["budget"]) == {3, 9, 30}
    assert len(result.frame()) == 3 * (2 * 3 + 3)
    assert "by number of labels" in repr(result)


def test_pair_budget(blobs):
    X, y = blobs
    result = label_budget([ConstraintScore(1)], X, y, [4, 40], of="pairs", n_features=2, n_draws=3, n_jobs=1)
    few, many = (result.comparisons[b].values("ConstraintScore(variant=1)").mean() for b in (4, 40))
    assert many > few - 0.05
    assert result.summary()["of"] == "pairs"
    assert result.comparisons[40].settings["n_pairs"] == 40


# -------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_labels": 2}, "n_labels=2 is less than one label for each of the 3 classes; use a multiple of 3"),
        ({"n_labels": 48}, "n_labels=48 needs 16 labels per class, but the smallest .* has 15 .* use n_labels=45"),
        ({"n_labels": 2.5}, "n_labels must be an integer"),
        ({"n_features": [9]}, r"between 1 and the 8 features, got \[9\]"),
        ({"n_folds": 50}, "n_folds=50 is more than the 45 labelled rows"),
        ({"estimator": KNeighborsClassifier(37)}, "n_folds=5 leaves 36 .* fewer than the n_neighbors=37"),
        ({"methods": ["sls"]}, "method 'sls' reads a real target, but y holds classes"),
        ({"methods": ["fisher"], "y": None}, "method 'fisher' requires y .* it reads class labels"),
        (
            {"methods": ["fisher"], "y": np.linspace(0, 1, 45)},
            "method 'fisher' reads class labels, but y holds a real target",
        ),
        ({"y": np.linspace(0, 1, 45), "n_labels": 46}, "n_labels=46 is more than the 45 known targets"),
        ({"methods": ["fishr"]}, "did you mean 'fisher'"),
        ({"methods": {"random": "fisher"}}, "uses 'random', the name of a baseline"),
        ({"methods": ["fisher", "fisher"]}, "methods contains 'fisher' twice"),
        ({"metrics": ["rmse"]}, "is not possible with classes in y"),
        ({"metrics": "accuracy", "y": None}, "is not possible with no y; use 'jaccard'"),
        ({"n_draws": 0}, "n_draws must be an integer of at least 1"),
        ({"unscored": "drop"}, "unscored must be one of 'raise', 'random'"),
        ({"scored_rows": "some"}, "scored_rows must be one of"),
        ({"n_pairs": 100, "n_labels": 6, "methods": ["constraint"]}, "n_pairs=100 needs 50 must-link"),
    ],
)
def test_one_clear_error_each(blobs, change, message):
    X, y = blobs
    given = {"methods": ["laplacian"], "X": X, "y": y, **SMALL} | change
    with pytest.raises(ValueError, match=message):
        compare(**given)


def test_errors_say_which_method_and_draw(blobs, tmp_path):
    X, y = blobs
    with pytest.raises(ValueError, match="n_pairs=100") as caught:
        run(["constraint"], X, y, n_pairs=100, n_labels=6)
    assert caught.value.__notes__ == ["method 'constraint', draw 0"]
    with pytest.raises(ValueError, match="no values for method='fischer'"):
        run(["fisher"], X, y, n_labels=6, n_draws=1).values("fischer")
    with pytest.raises(ValueError, match="resume_from needs every method to be picklable"):
        run([SPEC(phi=1, gamma=lambda v: v)], X, y, resume_from=tmp_path, n_draws=1)


def test_x_is_never_changed(blobs):
    X, y = blobs
    before = X.copy()
    run(["sselect"], X, y, n_labels=6)
    np.testing.assert_array_equal(X, before)
    assert validate_X(X) is X


# ---------------------------------------------------------------- judges


def test_a_judge_is_a_choice_of_metrics(blobs):
    X, y = blobs
    options = {"n_features": [2, 4], "n_draws": 2, "n_labels": 6, "n_jobs": 1}
    both = compare(["laplacian"], X, y, judge="both", **options)
    named = compare(["laplacian"], X, y, metrics=["accuracy", "kmeans_accuracy", "kmeans_nmi"], **options)
    assert both.settings["metrics"] == named.settings["metrics"]
    np.testing.assert_array_equal(both.table["value"], named.table["value"])
    assert compare(["laplacian"], X, y, judge="clusters", **options).settings["metrics"] == [
        "kmeans_accuracy",
        "kmeans_nmi",
    ]
    assert compare(["laplacian"], X, y, judge="neighbors", **options).settings["metrics"] == ["accuracy"]
    assert compare(["laplacian"], X, judge="neighbors", n_features=[2], n_jobs=1).settings["metrics"] == ["jaccard"]
    target = compare(["laplacian"], X, X[:, 0], judge="neighbors", n_features=[2], n_draws=1, n_jobs=1)
    assert target.settings["metrics"] == ["rmse"]


def test_means_over_starts_are_below_the_best_start(blobs):
    X, y = blobs
    metrics = ["clustering_accuracy", "kmeans_accuracy", "nmi", "kmeans_nmi"]
    found = compare(["variance"], X, y, metrics=metrics, n_features=[2, 4], n_draws=3, n_labels=6, n_jobs=1)
    for best, mean in (metrics[:2], metrics[2:]):
        assert (found.values("variance", best) >= found.values("variance", mean)).all()
        assert (found.values("variance", best) > found.values("variance", mean)).any()


def test_standardised_columns_are_judged_but_not_ranked(blobs):
    """Fisher's ranking has no scale, so that its values are those on standardised columns; the variance's has one."""
    X, y = blobs
    X = X * np.geomspace(1, 1000, X.shape[1])
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    options = {"n_features": [2, 4], "n_draws": 2, "n_labels": 6, "n_jobs": 1, "judge": "both"}
    judged = compare(["fisher"], X, y, standardize=True, **options)
    scaled = compare(["fisher"], Z, y, **options)
    plain = compare(["fisher"], X, y, **options)
    for metric in ("accuracy", "kmeans_accuracy"):
        for name in ("fisher", "random", "all"):
            np.testing.assert_allclose(judged.values(name, metric), scaled.values(name, metric), atol=1e-12)
        assert not np.array_equal(judged.values("fisher", metric), plain.values("fisher", metric))
    assert judged.settings["standardize"] is True
    np.testing.assert_array_equal(judged.orders["variance"], plain.orders["variance"])


def test_standardised_cells_are_not_those_of_other_runs(blobs, tmp_path):
    X, y = blobs
    X = X * np.geomspace(1, 1000, X.shape[1])
    options = {"n_features": [3], "n_draws": 1, "n_labels": 6, "n_jobs": 1, "resume_from": tmp_path / "cells"}
    found = [compare(["fisher"], X, y, standardize=how, **options).values("fisher") for how in (False, True, False)]
    np.testing.assert_array_equal(found[0], found[2])
    assert not np.array_equal(found[0], found[1])


def test_no_labels_are_needed_for_the_choice(blobs):
    X, y = blobs
    options = {"n_features": [2, 4], "n_draws": 2, "n_jobs": 1}
    judged = compare(["subset", "laplacian"], X, y, n_labels=0, judge="both", **options)
    free = SpectralSelector("subset", n_features_to_select=4).fit(X)
    assert all(order == free.order_[:4].tolist() for order in judged.orders["subset"])
    with pytest.raises(ValueError, match="n_labels=0 shows no labels, but 'fisher' requires classes"):
        compare(["fisher"], X, y, n_labels=0, **options)


def test_wrong_judges(blobs):
    X, y = blobs
    with pytest.raises(ValueError, match="judge"):
        compare(["variance"], X, y, judge="svm")
    with pytest.raises(ValueError, match="judge='clusters' compares clusters with classes, but there is no y"):
        compare(["variance"], X, judge="clusters")
    with pytest.raises(ValueError, match="a real target in y; use judge='neighbors'"):
        compare(["variance"], X, X[:, 0], judge="both")
    with pytest.raises(ValueError, match="omit one"):
        compare(["variance"], X, y, judge="both", metrics=["nmi"])


def test_the_report_shows_both_judges(blobs):
    pytest.importorskip("jinja2")
    from fiedler.report import render_html, summarize

    X, y = blobs
    options = {"n_features": [2, 4], "n_draws": 2, "n_jobs": 1}
    comparison = compare(["laplacian"], X, y, judge="both", n_labels=0, standardize=True, most_rows=30, **options)
    selector = SpectralSelector("laplacian", n_features_to_select=2).fit(X)
    page = render_html(summarize(selector, X, y, comparison=comparison))
    assert "Accuracy by number of features" in page
    assert "Accuracy of k-means by number of features" in page
    assert "NMI of k-means by number of features" in page
    assert "no labels shown to the methods; predicted by KNeighborsClassifier" in page
    assert "chosen columns standardised" in page
    assert f"a random sample of 30 of {len(X)} rows" in page


# -------------------------------------------------------------------- a sample of the rows


@pytest.fixture
def many(rng):
    y = np.repeat([0, 1, 2], [250, 140, 10])
    return rng.normal(size=(400, 6)) + 2.0 * y[:, None] * (np.arange(6) < 3), y


def test_many_rows_are_compared_on_a_sample_that_is_stated(many):
    X, y = many
    result = run(["laplacian"], X, y, most_rows=100)
    rows = sampled_rows(400, 100, read_target(y, 400, None, -1), [], 0)
    direct = run(["laplacian"], X[rows], y[rows])
    np.testing.assert_array_equal(result.table["value"], direct.table["value"])
    assert (result.settings["n_samples"], result.settings["sampled_from"]) == (100, 400)
    assert "a random sample of 100 of 400 rows" in repr(result)
    assert (direct.settings["n_samples"], direct.settings["sampled_from"]) == (100, None)
    assert "sample" not in repr(direct)


def test_all_rows_are_compared_on_request(many):
    X, y = many
    every, enough = run(["laplacian"], X, y, most_rows=None), run(["laplacian"], X, y, most_rows=400)
    np.testing.assert_array_equal(every.table["value"], enough.table["value"])
    assert every.settings["n_samples"] == 400
    assert every.settings["sampled_from"] is enough.settings["sampled_from"] is None


def test_a_sample_is_seeded_and_keeps_what_is_rare(many):
    _, y = many
    target = read_target(y, 400, None, -1)
    rows = sampled_rows(400, 60, target, [], 0)
    assert len(np.unique(rows)) == 60
    assert (y[rows] == 2).sum() == 10  # all rows of the rare class
    np.testing.assert_array_equal(rows, sampled_rows(400, 60, target, [], 0))
    assert rows.tolist() != sampled_rows(400, 60, target, [], 1).tolist()
    few = np.where(np.arange(400) % 50 == 0, y, -1)
    assert set(np.flatnonzero(few >= 0)) <= set(sampled_rows(400, 60, read_target(few, 400, None, -1), [], 0))
    assert len(sampled_rows(400, 60, None, [], 0)) == 60


def test_pairs_and_targets_follow_the_sample(many):
    X, _ = many
    pairs = np.array([[0, 5], [7, 399], [100, 300]])
    rows = sampled_rows(400, 60, None, [pairs], 0)
    assert set(pairs.ravel()) <= set(rows)
    options = {"n_features": [2], "n_jobs": 1, "most_rows": 60}
    given = {"must_link": pairs[:1], "cannot_link": pairs[1:]}
    result = compare(["constraint[variant=1]"], X, **given, **options)
    assert (result.settings["n_samples"], result.settings["n_pairs"]) == (60, 3)
    target = X[:, 0] + 0.5
    assert compare(["correlation"], X, target, n_draws=2, **options).settings["task"] == "regression"


def test_the_sample_has_a_smallest_size(many):
    X, y = many
    with pytest.raises(ValueError, match="most_rows"):
        run(["laplacian"], X, y, most_rows=3)


class Rows(Variance):
    """The variance; it remembers the rows that it saw."""

    seen: list = []  # noqa: RUF012

    def scorer(self, problem):
        Rows.seen.append(problem.X.copy())
        return super().scorer(problem)


@pytest.mark.parametrize("protocol", ["ZL", "DV"])
def test_the_protocols_of_the_papers(rng, protocol):
    """[ZL] Algorithm 2: without labels the rows that show none; [DV] section 5: the rows of the other folds."""
    X, y = rng.normal(size=(40, 6)), rng.permutation(np.repeat([0, 1], 20))
    X[:, 0] = np.arange(40)  # names the row
    Rows.seen.clear(), Spy.shown.clear()
    result = run({"blind": Rows(), "told": Spy()}, X, y, n_features=[2, 6], n_labels=6, n_draws=3, protocol=protocol)
    assert result.settings["protocol"] == protocol
    seen = [set(part[:, 0].astype(int)) for part in Rows.seen]
    if protocol == "ZL":
        assert len(seen) == 3
        for rows, labels in zip(seen, Spy.shown, strict=True):
            assert rows == set(np.flatnonzero(labels < 0)), "the same draw of labels for both"
    else:
        assert len(seen) == len(Spy.shown) == 15
        assert all(len(rows) == 32 for rows in seen)
        assert set().union(*(set(range(40)) - rows for rows in seen[:5])) == set(range(40)), "each row is held out once"
        assert all(len(labels) == 32 and np.sum(labels >= 0) == 6 for labels in Spy.shown)
        orders = [np.argsort(-part.var(axis=0), kind="stable").tolist() for part in Rows.seen]
        assert result.orders["blind"] == orders
    with pytest.raises(ValueError, match="protocol='ZL' shows labels and predicts them: it needs y"):
        run(["variance"], X, protocol="ZL")


@pytest.mark.parametrize("real", [False, True])
def test_rank_sums_count_competition_ranks_over_draws(blobs, rng, real):
    X, y = blobs
    y = X[:, 0] + rng.normal(size=len(y)) if real else y
    result = run(["correlation" if real else "fisher", "laplacian"], X, y, n_labels=9)
    names = ["laplacian", "variance", "all", "random"]
    values = [np.broadcast_to(result.values(name)[:3], (3, 2)) for name in names]
    better = np.less if real else np.greater
    for name, mine in zip(names, values, strict=True):
        plain = sum(1 + np.sum([better(other, mine) for other in values], axis=0))
        np.testing.assert_array_equal(result.rank_sums(methods=names)[name], plain)
    assert list(result.rank_sums()) == list(result.criteria)
    with pytest.raises(ValueError, match="no values for method='spec'"):
        result.rank_sums(methods=["spec"])
