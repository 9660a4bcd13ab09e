"""The benchmarks on tiny problems: every study runs from end to end, pages are filled from their committed tables."""

import inspect
import re

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import friedmanchisquare

from benchmarks import (
    cases,
    cells,
    field,
    holes,
    isolated,
    noise,
    pages,
    ranks,
    runner,
    scale,
    sets,
    significance,
    speed,
    study,
)
from benchmarks.papers import common, constraints, figures, spec, sselect, ssls

QUICK = runner.Options(quick=True, jobs=1)
STORED = pytest.mark.skipif(not pages.DOCS.is_dir(), reason="the pages are not installed")


def tables(found):
    """Tables as text; every row is as long as its header."""
    made = {
        name: [[str(cell) for cell in line] for line in (t[0], *t[1])] for name, t in found.items() if type(t) is tuple
    }
    assert all(len(line) == len(lines[0]) for lines in made.values() for line in lines)
    return made


# -------------------------------------------------------------------- pages and the runner


@STORED
@pytest.mark.parametrize("name", pages.PAGES)
def test_a_page_is_what_its_tables_fill_it_with(name):
    text = pages.PAGES[name].read_text(encoding="utf-8")
    assert pages.filled(name) == text
    study = name.partition("/")[0]
    parts = [path.read_text(encoding="utf-8") for page, path in pages.PAGES.items() if page.partition("/")[0] == study]
    shown = [table for part in parts for table in re.findall(r"<!-- table: (\S+) -->", part)]
    assert sorted(shown) == sorted(path.stem for path in pages.results(study, "").parent.glob("*.csv"))


def test_cells_survive_a_file_and_numbers_are_aligned(tmp_path):
    rows = [["a, b", "1.5", "x|y"], ['"quoted"', "–", "**"]]
    pages.save(tmp_path / "t.csv", ["", "n", "text"], rows)
    assert pages.load(tmp_path / "t.csv") == [["", "n", "text"], *rows]
    lines = pages.markdown(pages.load(tmp_path / "t.csv")).split("\n")
    assert lines[1:3] == ["| --- | --: | --- |", "| a, b | 1.5 | x\\|y |"]
    pages.save(tmp_path / "printed.csv", ["", "n", "text"], [["a", "2", "y"], ["b", "3", "z"]])
    assert pages.shown(tmp_path / "t.csv", tmp_path / "printed.csv")[1] == ["a", "2 → **1.5**", "y → **x|y**"]


def test_what_a_run_did_not_measure_stays_on_record():
    record = [["method", "x", "y"], ["a", "1", "2"], ["b", "3", "4"]]
    assert pages.joined(record, ["method", "x", "y"], [["b", 5, 6], ["c", 7, 8]])[1][1:] == [
        ["b", "5", "6"],
        ["c", "7", "8"],
    ]
    assert pages.joined(record, ["method", "y"], [["a", 9]]) == (record[0], [["a", "1", "9"], ["b", "3", "4"]])
    assert pages.joined(record, ["method", "z"], [["a", 9]]) == (["method", "z"], [["a", "9"]])


def test_a_run_goes_on_where_it_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "HERE", tmp_path)
    asked = []

    def measure(name, method):
        asked.append((name, method))
        return [[10, 0.25], [20, 0.5]]

    def run(names, **options):
        return runner.Options(jobs=1, **options).rows("t", "set;method;size;value", measure, [(n, "m") for n in names])

    run(["a"])
    rows = run(["a", "b"])
    assert asked == [("a", "m"), ("b", "m")]
    assert [list(row.values()) for row in rows[:2]] == [["a", "m", "10", "0.25"], ["a", "m", "20", "0.5"]]
    run(["a", "b"], again="b m")
    assert asked[2:] == [("b", "m")]


def test_average_ranks_and_their_tests():
    """Friedman's test as scipy has it, and Nemenyi's critical difference with q of Demšar (2006), Table 5."""
    values = {"a": [0.9, 0.8, 0.7, 0.6], "b": [0.8, 0.9, 0.6, 0.5], "c": [0.1, 0.2, 0.3, 0.4]}
    found = ranks.rank_methods(values)
    assert (found.methods, found.ranks) == (("a", "b", "c"), (1.25, 1.75, 3.0))
    assert found.critical_difference == pytest.approx(2.343 * np.sqrt(3 * 4 / (6 * 4)), abs=2e-3)
    chi = friedmanchisquare(*values.values()).statistic
    statistic = 3 * chi / (4 * 2 - chi)
    assert found.p_value == pytest.approx(float(ranks.f_distribution.sf(statistic, 2, 6)))
    assert found.groups() == [(0, 1), (1, 2)]
    assert ranks.duel([0.5, 0.6, 0.7, 0.8], [0.5, 0.5, 0.8, 0.6])[1:4] == (2, 1, 4)


# -------------------------------------------------------------------- speed


def test_every_case_can_be_prepared_and_its_promises_are_numbers():
    for case in cases.cases():
        assert callable(getattr(cases, case.name))
        assert not case._check or callable(getattr(cases, case._check))
        assert all(target >= 0 for target in case.targets.values())
        assert all(case.floor(against) >= 0 for against in case.targets)
    assert sum(len(case.targets) for case in cases.cases()) == 107


def test_a_case_is_a_row_of_the_table(monkeypatch):
    case = next(case for case in cases.cases() if case.work == "scores on a given kNN graph, 2,000 x 5,000")
    monkeypatch.setattr(case, "_arguments", ["60", "20"])
    monkeypatch.setattr(case, "seconds", 0.0)
    monkeypatch.setattr(case, "size", 1200)
    run = speed.Run()
    (row,) = run.measure(case)
    assert len(row.cells()) == len(speed.HEADERS["ratios"])
    assert row.cells()[:2] == [case.work, "scikit-learn + scipy"]
    assert [fact[0].rsplit(": ")[-1] for fact in run.facts] == ["fiedler", "scikit-learn + scipy"]


def test_files_and_what_is_told_of_their_rows(tmp_path):
    zarr = pytest.importorskip("zarr")
    array = zarr.open_array(str(scale.written(tmp_path, 60, 40, "f8", True)))
    means = np.array([array[:][scale.in_clusters(60) == kind].mean(axis=0) for kind in range(3)])
    assert np.flatnonzero(np.ptp(means, axis=0) > 2).tolist() == [0, 10, 20, 30]
    told = [set(scale.supervision(labels, 60)) for labels in ("none", "few", "target", "pairs")]
    assert told == [set(), {"y"}, {"y"}, {"must_link", "cannot_link"}]
    with isolated.PeakMemory() as peak:
        np.ones(2**22).sum()
    assert peak.facts()["wall"] > 0


@pytest.mark.slow
def test_a_job_in_a_process_of_its_own(tmp_path):
    pytest.importorskip("zarr")
    path = scale.written(tmp_path, 60, 40, "f8", True)
    row = scale.row_of(scale.MIB, 0, path, "laplacian", "none", 2**30)
    assert (row["rows"], row["columns"], row["informative"]) == ("60", "40", "1.000")
    assert float(row["peak MiB"]) > 0


# -------------------------------------------------------------------- studies


def test_every_set_has_a_reader_and_its_relative_is_in_the_study():
    assert {row["block"] for row in sets.SOURCES.values()} == {"study", "held-out"}
    for row in sets.SOURCES.values():
        assert row["reader"] in sets.READERS
        assert not row["relative"] or (row["block"], sets.SOURCES[row["relative"]]["block"]) == ("held-out", "study")


def small(monkeypatch, *modules, names=("breast_cancer",)):
    """Studies see 60 rows and 20 columns of sets that scikit-learn has."""
    load = sets.load
    monkeypatch.setattr(sets, "load", lambda name, rows=60: load(name, min(rows, 60)))

    def chosen(quick=False, **wanted):
        return [name for name in names if all(sets.SOURCES[name][key] == value for key, value in wanted.items())]

    for module in modules:
        monkeypatch.setattr(module, "names", chosen)
        if hasattr(module, "drawn"):
            monkeypatch.setattr(module, "drawn", lambda name, rows=60, columns=20, key=7: sets.drawn(name, 60, 20, key))
        if hasattr(module, "load"):
            monkeypatch.setattr(module, "load", sets.load)


def test_field(monkeypatch):
    small(monkeypatch, field)
    kept = {name: field.SELECTORS[name] for name in ("subset", "random", "all")}
    monkeypatch.setattr(field, "SELECTORS", kept)
    monkeypatch.setattr(field, "DRAWS", {})
    found = tables(field.judges(QUICK))
    assert [line[0] for line in found["study"][1:]] == list(kept)
    assert [line[0] for line in found["ranks"]][-1] == "critical difference"


def test_noise(monkeypatch):
    small(monkeypatch, noise, names=("breast_cancer", "diabetes"))
    monkeypatch.setattr(noise, "STRUCTURES", {"clusters": noise.STRUCTURES["clusters"]})
    monkeypatch.setattr(noise, "ABLE", ["variance", "subset", "subset, agreement"])
    found = tables(
        noise.planted_structures(QUICK) | noise.real_sets(QUICK) | noise.default(QUICK) | noise.knowing(QUICK)
    )
    assert {"planted", "planted-wide", "real", "sets", "graphs", "default", "clean", "knowing"} == set(found)
    assert noise._declared("normal", 40, 30, 0)[0] in (0.0, 1.0)


def test_holes(monkeypatch):
    small(monkeypatch, holes)
    monkeypatch.setattr(holes, "PATTERNS", {"blocks of rows": holes.PATTERNS["blocks of rows"]})
    monkeypatch.setattr(holes, "FILLS", ("fiedler", "mean"))
    found = tables(holes.agreement(QUICK))
    assert [line[0] for line in found["agreement"]] == ["method", *holes.METHODS]
    assert np.shape(holes.on_top("a path", 60, "in one block", 0)) == (4, 2)


def test_significance():
    found = tables(significance.planted(QUICK))
    assert [line[0] for line in found["planted"][1:]] == list(significance.WAYS)
    row = significance.of_noise("normal", 40, 20, 3)
    assert row["naive"] > row["ours"][0]


def test_study(monkeypatch):
    small(monkeypatch, study, names=("breast_cancer", "digits", "diabetes"))
    monkeypatch.setattr(study, "WITH_TARGETS", {"mrmr": study.other.mrmr, "l1": study.other.l1})
    monkeypatch.setattr(study, "WITH_CLASSES", {"mrmr": study.other.mrmr})
    monkeypatch.setattr(study, "N_PAIRS", (4,))
    found = tables(study.methods(QUICK))
    assert {"labels-values", "labels-gains", "pairs-values", "pairs-gains", "sets"} <= set(found)
    assert found["sets"][1][:6] == ["breast_cancer", "study", "tables", "60", "30", "2"]


def test_cells():
    anndata = pytest.importorskip("anndata")
    rng, kinds = np.random.default_rng(0), np.arange(60) % 3
    X = rng.normal(size=(60, 40))
    X[:, :6] += 6.0 * (kinds[:, None] == np.arange(6) % 3)
    made, rows = cells.Cells(anndata.AnnData(X), kinds, ["a", "b", "c"]), []
    for way in ("all genes", "laplacian", "variance", "random"):
        for row in cells.on_genes("made", way, 0, made, (5,)):
            rows.append(dict(zip(["way", "seed", "genes", "ari", "nmi"], map(str, (way, 0, *row)), strict=True)))
    found = tables(cells.tables("made", rows))
    value = {line[0]: line[1] for line in found["made"]}
    assert float(value["laplacian"]) > 0.9 > float(value["random"])
    answers = {line[0].split("`")[3]: line[1] for line in found["made-findings"][1:]}
    assert (answers["random"], answers["scanpy, seurat"]) == ("yes", "no")
    if pages.DOCS.is_dir():  # the page shows the code that is run
        body = inspect.getsource(cells.walk).partition("import scanpy as sc\n\n")[2]
        lines = [line.strip().replace("=n_top_genes", "=1000") for line in body.splitlines()]
        assert all(line in (pages.DOCS / "single-cells.md").read_text(encoding="utf-8") for line in lines)


def test_scale_derives_what_the_page_shows():
    pytest.importorskip("matplotlib")
    for name, made in tables(scale.derived(pages.records(pages.results("scale", "growth")))).items():
        assert made == pages.load(pages.results("scale", name))


# -------------------------------------------------------------------- papers


def test_printed_numbers_and_claims_are_read():
    for path in pages.PRINTED.glob("*.csv"):
        if path.stem != "constraints-table-1":
            assert any(np.isfinite(row).any() for row in common.printed(path.stem).values())
    claims = pages.records(pages.HERE / "papers" / "claims.csv")
    assert {row["paper"] for row in claims} == set(common.TITLES)
    assert len({(row["paper"], row["key"]) for row in claims}) == len(claims)


def test_findings_of_a_paper_are_those_of_its_claims():
    made, answers = constraints.on_toy()
    assert all(holds for holds, _ in answers.values())
    found = common.found(
        "constraints", runner.Options(), made, answers, {"figure-2": [("p", "C1", [1, 2], [0.5, 1.0])]}
    )
    assert tables(found)["answers/constraints"] == pages.load(pages.results("papers", "answers/constraints"))
    assert tables(found)["constraints-verdicts"] == pages.load(pages.results("papers", "constraints-verdicts"))
    assert tables(found)["overview"] == pages.load(pages.results("papers", "overview"))
    assert found["curves/constraints-figure-2"][1] == [("p", "C1", "1", "0.5"), ("p", "C1", "2", "1")]


def test_curves_are_drawn():
    pytest.importorskip("matplotlib")
    assert {path.stem for path in pages.results("papers", "curves/x").parent.glob("*.csv")} == set(figures.LAYOUT)
    assert len(figures.lines("sselect-labels").axes) == 1


def test_a_draw_of_the_papers(rng):
    y = np.arange(40) % 2
    X = sp.csr_array(rng.poisson(0.4 + np.outer(y, np.arange(30) < 6)).astype(float))
    graph = sselect.fd.KNN().build(X)
    text = sselect.TextSet(X, y, graph, sselect.fd.Rayleigh(graph).evaluate(X))
    draw = sselect.one_draw(text, sselect.Plan(1, (2, 6, 10), (5, 10), (0.1, 0.9)), 0)
    assert {l for _, l in draw["chosen"]} == {2, 6, 10}
    assert all(((0 <= curve) & (curve <= 1)).all() for curve in draw["curves"].values())
    assert set(spec.label_scores(X, y)) == set(spec.SUPERVISED)
    assert QUICK.map(ssls.hits, [(2, "SLS", [0])]) == [1]


@pytest.mark.parametrize("most", [2, 4, 1000])
def test_one_nearest_neighbour_with_ties_is_the_plain_loop(rng, most):
    y = np.arange(60) % 2
    Z, folds = rng.integers(most, size=(60, 3)) + y[:, None] * most // 4, common.stratified_folds(y, 5, rng)
    right = []
    for i in range(60):
        others = np.flatnonzero(folds != folds[i])
        distances = ((Z[others] - Z[i]) ** 2).sum(axis=1)
        right.append(np.mean(y[others[distances == distances.min()]] == y[i]))
    np.testing.assert_allclose(common.nearest_neighbor_right(Z, y, folds), right, atol=1e-6)
