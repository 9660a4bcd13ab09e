"""The study "which method when": its fast evaluation, rankings, sets and peers against plain ones, a small run."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_selection import SequentialFeatureSelector, mutual_info_classif
from sklearn.model_selection import LeaveOneOut
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.study import page, peers, rankings, run, tables
from benchmarks.study.judge import Judge
from benchmarks.study.methods import Choices, Rankings, TraceOfChanges
from benchmarks.study.ranks import Results, Slice
from benchmarks.study.sets import READERS, SOURCES, DataSet
from benchmarks.study.tables import CONSTRAINTS, FREE, LABELS, TARGETS, UNTOLD
from fiedler import (
    EVSC,
    KNN,
    RBF,
    ConstraintScore,
    FisherScore,
    LaplacianScore,
    ReliefF,
    SemiSupervisedLaplacianScore,
    SemiTarget,
    SmoothSubset,
    SpectralSelector,
    SSelect,
    SupervisedLaplacianScore,
    TargetKNN,
    Variance,
    pairs_from_labels,
)
from fiedler.evaluate import accuracy_curve, tune
from fiedler.problem import Problem
from fiedler.selection.ranking import rank
from fiedler.syntax import parse

# -------------------------------------------------------------------- evaluation and rankings against the library


@pytest.fixture
def made(rng):
    """60 rows, 3 classes, 12 columns of which some tell the classes apart."""
    y = np.repeat([0, 1, 2], 20)[rng.permutation(60)]
    X = rng.normal(size=(60, 12)) + np.outer(y, np.linspace(2, 0, 12))
    return DataSet("made", "tables", X, y, X)


@pytest.fixture
def counts(rng):
    """60 rows of sparse counts: many columns are constant on the labelled rows, some on all, scores tie and vanish."""
    y = np.repeat([0, 1, 2], 20)[rng.permutation(60)]
    X = rng.poisson(0.15 + 0.5 * np.equal.outer(y, np.arange(40) % 4)).astype(float)
    X[:, 7] = 2.0
    return DataSet("counts", "text", sp.csc_array(X), y, sp.csc_array(X))


def same_ranking(found, ranking):
    """Whether an order is the library's as far as features have a score; equal scores may be off by rounding."""
    ours, theirs = (ranking.scores[order[: ranking.n_scored]] for order in (found, ranking.order))
    return sorted(found) == sorted(ranking.order) and np.allclose(ours, theirs, rtol=1e-9)


def ranked(data):
    return Rankings(data, Judge(data))


def test_judge_equals_leave_one_out_of_the_library(made):
    order = np.arange(12)[::-1]
    curve = accuracy_curve(made.X, made.y, order, n_features=list(made.sizes), n_folds=60, n_repeats=1)
    assert Judge(made).values(order) == pytest.approx(curve.mean.tolist())


def test_judge_of_a_real_target_equals_leave_one_out_of_the_library(made, rng):
    target = made.X[:, 0] + rng.normal(size=60)
    data = DataSet("made", "tables", made.X, target, made.X)
    curve = accuracy_curve(made.X, target, np.arange(12), n_features=list(data.sizes), n_folds=60, n_repeats=1)
    assert Judge(data).values(np.arange(12)) == pytest.approx((-curve.mean / target.std()).tolist(), rel=1e-6)


def test_rows_shown_are_not_judged(made):
    judge, order = Judge(made), np.arange(12)
    shown = made.shown(2, draw=0)
    assert sorted(made.y[shown]) == [0, 0, 1, 1, 2, 2]
    hidden = np.setdiff1d(np.arange(60), shown)
    hits = judge._loss(order[: made.sizes[0]])
    assert judge.values(order, shown)[0] == pytest.approx(hits[hidden].mean())
    assert set(made.shown(1, draw=0)) <= set(shown)


def test_pruning_keeps_the_best_of_columns_that_are_alike(made):
    X = np.column_stack([made.X[:, :3], made.X[:, 0] * 2 + 1, -made.X[:, 1], made.X[:, 3:10]])
    judge = Judge(DataSet("made", "tables", X, made.y, X))
    order, most = np.array([3, 0, 4, 1, 2, 5, 6, 7, 8, 9, 10, 11]), max(judge.data.sizes)
    kept = judge.pruned(order, 0.99)
    assert kept.tolist() == [c for c in order if c not in (0, 1)][:most]
    plain = [order[0]]
    for column in order[1:]:
        if max(abs(np.corrcoef(X[:, column], X[:, better])[0, 1]) for better in plain) <= 0.3:
            plain.append(column)
    assert judge.pruned(order, 0.3)[: len(plain)].tolist() == plain[:most]
    assert len(judge.pruned(order, 0.3)) == most


def test_pruning_is_what_the_selector_does(made):
    fitted = SpectralSelector("variance", n_features_to_select=made.sizes[-1], redundancy=True).fit(made.X)
    judge, order = Judge(made), rank(Variance(), Problem.of(made.X)).order
    assert fitted.order_[: made.sizes[-1]].tolist() == judge.pruned(order, 0.7).tolist()


@pytest.mark.parametrize("name", ["made", "counts"])
@pytest.mark.parametrize("budget", [1, 3])
def test_rankings_from_labels_are_the_librarys(name, budget, rng, request):
    data = request.getfixturevalue(name)
    rows = data.shown(budget, draw=1)
    y = np.full(60, -1)
    y[rows] = data.y[rows]
    found = ranked(data).with_labels(rows, rng)
    wanted = {"fisher": FisherScore(), "relieff": ReliefF(), "sselect": SSelect(), "sselect[lam=0.5]": SSelect(lam=0.5)}
    if name == "made":  # on few columns of counts every cut falls apart, with a warning
        wanted |= {"sselect[lam=auto]": SSelect(lam="auto")}
    if budget > 1:
        wanted |= {f"c{variant}": ConstraintScore(variant) for variant in (1, 2, 3, 4)}
        wanted |= {"c4[scale=1.0]": ConstraintScore(4, graph=RBF()), "c4[graph=knn]": ConstraintScore(4, graph=KNN())}
    else:
        assert "c1" not in found
    for method, criterion in wanted.items():
        assert same_ranking(found[method], rank(criterion, Problem.of(data.X, y))), method


def test_scores_of_one_draw_are_not_those_of_another(made):
    rankings = ranked(made)
    draws = [made.shown(2, draw) for draw in range(3)]
    together = [rankings.with_labels(rows, np.random.default_rng(0)) for rows in draws]
    for rows, found in zip(draws, together, strict=True):
        alone = ranked(made).with_labels(rows, np.random.default_rng(0))
        assert all(found[method].tolist() == alone[method].tolist() for method in alone)


@pytest.mark.parametrize("name", ["made", "counts"])
def test_rankings_from_pairs_are_the_librarys(name, rng, request):
    data = request.getfixturevalue(name)
    must, cannot = pairs_from_labels(data.y, 12, 0)
    found = ranked(data).with_pairs(must, cannot, rng)
    problem = Problem.of(data.X, must_link=must, cannot_link=cannot)
    for variant in (1, 2, 3, 4):
        assert same_ranking(found[f"c{variant}"], rank(ConstraintScore(variant), problem)), variant


def test_rankings_from_targets_are_the_librarys(made, rng):
    data = DataSet("made", "tables", made.X, made.X[:, 0] + rng.normal(size=60), made.X)
    rows = data.shown(20, draw=0)
    y = np.full(60, np.nan)
    y[rows] = (data.y[rows] - data.y[rows].mean()) / data.y[rows].std()
    found = ranked(data).with_targets(rows, rng)
    wanted = {"sls[k=2]": SupervisedLaplacianScore(TargetKNN(2)), "ssls": SemiSupervisedLaplacianScore()}
    wanted |= {"ssls[C=25.0]": SemiSupervisedLaplacianScore(SemiTarget(weight_labeled=25.0))}
    for method, criterion in wanted.items():
        assert same_ranking(found[method], rank(criterion, Problem.of(data.X, y))), method


def test_width_of_c4_by_the_cut_value_is_the_librarys(made, rng):
    must, cannot = pairs_from_labels(made.y, 12, 0)
    rankings, pairs = ranked(made), {"must_link": must, "cannot_link": cannot}
    found, grid = rankings.with_pairs(must, cannot, rng), {"graph__scale": [0.25, 0.5, 1.0]}
    tuned = tune(ConstraintScore(), grid, made.X, n_features=rankings.judge.few, **pairs)
    assert same_ranking(found["c4 tuned"], rank(tuned.best, Problem.of(made.X, **pairs)))


def test_neighbours_by_the_cut_value_are_the_librarys(made, rng):
    rankings = ranked(made)
    orders = [rankings.order(LaplacianScore(KNN(k)), rankings.problem, rng) for k in (10, 5, 20)]
    tuned = tune("laplacian", {"graph__n_neighbors": [10, 5, 20]}, made.X, n_features=rankings.judge.few)
    assert rankings.smallest_cut(orders).tolist() == rank(tuned.best, rankings.problem).order.tolist()


def test_trace_orders_features_as_evsc_does(made):
    orders = [rank(criterion, Problem.of(made.X)).order for criterion in (EVSC(), TraceOfChanges(RBF()))]
    assert orders[0].tolist() == orders[1].tolist()


# -------------------------------------------------------------------- sets and peers


@pytest.fixture
def chosen(made, monkeypatch):
    """Choices on a small set, without other packages."""
    monkeypatch.setattr(peers, "versions", dict)
    return Choices(ranked(made), [])


def test_sets_are_the_librarys(chosen, made, rng):
    rows = made.shown(3, draw=0)
    y = np.full(60, -1)
    y[rows] = made.y[rows]
    must, cannot = pairs_from_labels(made.y, 12, 0)
    found = {
        "free": (chosen.free()["subset"], {}),
        "labels": (chosen.with_labels(rows, rng)["subset"], {"y": y}),
        "pairs": (chosen.with_pairs(must, cannot)["subset"], {"must_link": must, "cannot_link": cannot}),
    }
    for told, (order, known) in found.items():
        selector = SpectralSelector(SmoothSubset(), n_features_to_select=made.sizes[-1]).fit(made.X, **known)
        assert order.tolist() == selector.order_[: made.sizes[-1]].tolist(), told


def test_mutual_information_is_scikit_learns(made, counts):
    rng = np.random.default_rng(0)
    measured = mutual_info_classif(made.X, made.y, random_state=0)
    assert peers._measured(made.X, made.y) == pytest.approx(measured, abs=1e-6)
    counted = mutual_info_classif(counts.X, counts.y, discrete_features=True)
    assert peers._counted(counts.X.toarray(), counts.y) == pytest.approx(counted, abs=1e-9)
    assert peers.mutual_information(made.X, made.y, 3, rng)[0] == measured.argmax()


def test_mrmr_is_its_definition(made, rng):
    relevance, r = peers.f_statistic(made.X, made.y), np.abs(np.corrcoef(made.X.T))
    chosen = [int(relevance.argmax())]
    while len(chosen) < 6:
        left = [j for j in range(12) if j not in chosen]
        chosen.append(max(left, key=lambda j: relevance[j] / r[j, chosen].mean()))
    assert peers.mrmr(made.X, made.y, 6, rng).tolist() == chosen


def test_mcfs_finds_the_columns_that_separate_clusters(rng):
    centres = np.zeros((3, 12))
    centres[:, :2] = [[0, 0], [0, 9], [9, 0]]
    X = np.repeat(centres, 20, axis=0) + rng.normal(size=(60, 12))
    assert set(peers.mcfs(Problem.of(X), X, 3, 4)[:2]) == {0, 1}


@pytest.mark.parametrize("peer", peers.WITH_CLASSES.values())
def test_peers_name_each_column_once(peer, made, rng):
    rows = made.shown(2, draw=0)
    order = peer(made.X[rows], made.y[rows], 6, rng)
    assert len(set(order.tolist())) == len(order) >= 6


def test_sequential_selection_is_scikit_learns(made, rng):
    rows = made.shown(5, draw=0)
    X, y = made.X[rows], made.y[rows]
    order = peers.sequential(X, y, 4, rng)
    model = SequentialFeatureSelector(KNeighborsClassifier(1), n_features_to_select=4, cv=LeaveOneOut())
    assert sorted(order) == model.fit(X, y).get_support(indices=True).tolist()


def test_a_short_choice_is_filled_up_by_a_score():
    assert peers.filled(np.array([2]), np.array([0.1, 0.5, 0.9, 0.3])).tolist() == [2, 1, 3, 0]


def test_the_study_does_without_packages_that_are_not_there(made, monkeypatch):
    peers.versions.cache_clear()
    monkeypatch.setattr(peers, "ENVIRONMENT", Path("nowhere"))
    assert peers.chosen_free(made.X, 3) == {}
    assert peers.chosen_told(made.X, 3, [(np.arange(5), made.y[:5])]) == [None]
    peers.versions.cache_clear()


def test_relatives_of_held_out_data_sets_are_in_the_study():
    assert {source["block"] for source in SOURCES.values()} == {"study", "held-out"}
    assert all(source["reader"] in READERS for source in SOURCES.values())
    for source in SOURCES.values():
        assert not source["relative"] or SOURCES[source["relative"]]["block"] == "study"
        assert not source["relative"] or source["block"] == "held-out"


# -------------------------------------------------------------------- tables


def slice_of(**values):
    values = {"all": [1.0] * 3, "variance pruned": [0.3] * 3, "subset": [0.2] * 3, "random": [0.4] * 3} | values
    return Slice(("x", "y", "z"), ("tables",) * 3, {name: np.array(v) for name, v in values.items()})


def test_advice_is_measured_on_data_sets_that_had_no_say():
    part = slice_of(a=[0.9, 0.9, 0.45], b=[0.5, 0.5, 0.8], peer=[0.1, 0.2, 0.6])
    # On x and y one of each wins on the other two data sets: equal ranks go to the first candidate; on z, a is chosen.
    row = page._choice("nothing", part, ["b", "a", "random"], ["peer"])
    assert row[:3] == ["nothing", "`a` (1 of 3)", ".750 (.483)"]
    assert row[3].startswith("peer: +.450")
    assert row[5].startswith("+.350")


def test_a_kind_that_asks_for_another_method_is_named():
    (row,) = page._exceptions("nothing", slice_of(a=[0.9] * 3), ["a", "subset"])
    assert row[:3] == ["nothing", "tables", "`a`"]
    assert row[3].startswith("+.700, 3:0")
    assert page._exceptions("nothing", slice_of(a=[0.1] * 3), ["a", "subset"]) == []


@pytest.mark.parametrize("method", [*FREE, *LABELS, *CONSTRAINTS, *TARGETS, "subset", UNTOLD, "c4[graph=knn]"])
def test_advice_names_methods_as_the_library_takes_them(method):
    assert parse(tables.spelled(method).strip("`")) is not None
    assert tables.spelled(f"{method} pruned") == f"{tables.spelled(method)} with `redundancy=True`"


def test_numbers_are_written_without_a_leading_zero():
    assert (tables.number(0.8125), tables.number(1.5, 1)) == (".812", "1.5")
    assert (tables.signed(-0.0312), tables.signed(0.00001), tables.p_text(0.0004)) == ("−.031", "±.000", "< .001")


def results_of(default, other):
    """Results without labels of one method with two values of a parameter, one value per data set."""
    sets = zip("abcdefgh", default, other, strict=True)
    return Results(
        [
            {"name": name, "block": "study", "kind": "text", "task": "classes", "sizes": [1]}
            | {"free": {"values": {"m": [[first]], "m[k=2]": [[second]]}}}
            for name, first, second in sets
        ]
    )


@pytest.mark.parametrize(("gain", "word"), [(0.1, "change"), (0.001, "keep"), (-0.1, "keep")])
def test_a_default_changes_where_another_value_is_better_beyond_chance(gain, word):
    values = np.linspace(0.4, 0.6, 8)
    found = rankings.verdict(results_of(values, values + gain), "m", "k", "free", {"1": "m", "2": "m[k=2]"})
    assert found[-1] == word
    assert found[2] == ("1: 2.00, 2: 1.00" if gain > 0 else "1: 1.00, 2: 2.00")


# -------------------------------------------------------------------- a small run


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.usefixtures("paper_data")
def test_a_small_run_is_complete_repeatable_and_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture):
    settings, names = run.Settings(draws=2, random_draws=5, max_rows=120, most_labels=3), ["wine", "iris", "diabetes"]
    first = run.run(names, settings, n_jobs=1, cache=tmp_path)
    assert run.run(names, settings, n_jobs=1, cache=tmp_path) == first
    assert "3 of 3 sets" in capsys.readouterr().err
    assert run.run(names[:2], settings, n_jobs=2, cache=None) == first[:2]
    results = Results(first)
    assert results.budgets("labels") == [1, 2, 3]
    assert "fisher" in page.summary(results)
    header, rows = tables.by_kind(results.free([*FREE, "random", "all"]), ["all"])
    assert header[1:3] == ["average rank, 2 sets", "tables, 2"]
    assert rows[-1][0] == "all"
    assert page._sets(results)[1][0][:6] == ["wine", "study", "tables", 120, 13, 3]
