"""What the report draws and says twice: values, the picture of the graph, stability, clusters, cards and tables."""

import inspect
import json
import re
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from inside import turn
from rendering import only, page_of

from fiedler import EVSC, KNN, RBF, SPEC, Graph, LaplacianScore, Precomputed, SpectralSelector, Supervision
from fiedler.criteria.phi import number_of_clusters
from fiedler.evaluate import compare, significance, stability, suggest_n_features
from fiedler.report import SECTIONS, render_html, render_json, summarize
from fiedler.report.case import Case
from fiedler.report.features import COLUMNS, RankingColumn, features_section


def blobs_with(outliers=(), n=60, m=12):
    """Three classes, and rows far away from all of them."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], n)
    X = rng.normal(size=(3 * n, m)) + np.outer(y, np.linspace(3, 0, m))
    for row, shift in outliers:
        X[row] += shift
    return X, y


def summary_of(criterion, X, y=None, k=4, **options):
    return summarize(SpectralSelector(criterion, n_features_to_select=k, screen=None).fit(X, y), X, y, **options)


def text_of(part):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", part)).strip()


def cards(page):
    """Label to (value, detail) of every card."""
    found = re.findall(r'<div class="tile"[^>]*><dt>(.*?)</dt><dd[^>]*>(.*?)</dd></div>', page)
    return {label: [text_of(part) for part in [*value.split("<small>"), ""][:2]] for label, value in found}


def section(page, key):
    return re.search(rf'<section class="card[^"]*" id="{key}".*?</section>', page, re.DOTALL)[0]


def table_rows(part):
    body = re.search(r"<tbody>(.*?)</tbody>", part, re.DOTALL)[1]
    return [[text_of(c) for c in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in body.split("</tr>")[:-1]]


# ---------------------------------------------------------------- cards and tables


@pytest.fixture(scope="module")
def compared():
    X, y = blobs_with(n=20)
    sizes = {"n_features": [1, 3], "n_labels": 9, "n_draws": 3, "n_jobs": 1}
    with pytest.MonkeyPatch.context() as patch:
        turn(patch, "cells: random draws", 4)
        summary = summary_of("fisher", X, y, comparison=compare(["fisher", "laplacian"], X, y, **sizes))
    return summary, page_of(summary, "comparison", "stability")


def test_cards_show_what_the_tables_show(compared):
    summary, page = compared
    shown = cards(page)
    facts = text_of(section(page, "data"))
    assert f"{shown['Rows'][0]} rows × {shown['Features'][0]} features" in facts
    assert shown["Labelled rows"] == ["60", "3 classes"]
    assert sum(count for _, count in summary["data"]["labels"]["classes"]) == 60
    ranking = table_rows(section(page, "features"))
    assert shown["Selected"] == [str(summary["run"]["n_selected"]), f"best: {ranking[0][1]}"]
    assert f"overlap by {shown['Stability'][0]}" in text_of(section(page, "stability"))
    first = table_rows(section(page, "comparison"))[0]
    assert shown["Best method"][0] == first[0]
    assert f"mean rank {first[1]} by" in shown["Best method"][1]


def test_the_card_names_a_leading_baseline_and_the_place_of_the_best_method(compared):
    summary = json.loads(json.dumps(compared[0]))
    ranks = {"random": 1.0, "all": 2.0, "laplacian": 3.0, "variance": 4.0, "fisher": 5.0}
    for name, rank in ranks.items():
        summary["comparison"]["methods"][name]["average_rank"]["accuracy"] = rank
    page = page_of(summary, "comparison")
    value, detail = cards(page)["Best method"]
    assert value == "random features (baseline)" == table_rows(section(page, "comparison"))[0][0]
    assert "best method: laplacian, 3rd of 5" in detail
    for name, rank in {"fisher": 0.5}.items():
        summary["comparison"]["methods"][name]["average_rank"]["accuracy"] = rank
    value, detail = cards(page_of(summary, "comparison"))["Best method"]
    assert value == "fisher"
    assert "best method" not in detail


def test_the_figure_of_scores_reaches_all_suggestions(compared):
    summary = json.loads(json.dumps(compared[0]))
    summary["suggestions"] = [{"rule": rule, "n_features": n, "reason": ""} for rule, n in (("near", 3), ("far", 40))]
    (figure,) = re.findall(r"<svg.*?</svg>", section(page_of(summary, "suggestions"), "suggestions"), re.DOTALL)
    assert "3, near" in figure
    assert "40, far" in figure
    assert figure.count('class="mark"') == 12


def test_significance_is_p_values_and_effects():
    X, y = blobs_with(n=20)
    summary = summary_of("fisher", X, y, significance=significance("fisher", X, y))
    part = section(page_of(summary, "significance"), "significance")
    pvalues, effects = re.findall(r"<svg.*?</svg>", part, re.DOTALL)
    assert pvalues.count('class="mark"') == 20
    assert "noise alone" in pvalues
    assert effects.count('class="mark"') == 12
    found = max(summary["features"]["effect"])
    assert f"<title>rank 1, {summary['features']['feature'][summary['features']['effect'].index(found)]}" in effects


# ---------------------------------------------------------------- distributions


def test_distributions_by_class():
    X, y = blobs_with(n=200)
    few = np.where(np.arange(600) % 3 == 0, y, -1)
    summary = summary_of("fisher", X, few)
    about = summary["distributions"]
    assert (about["kind"], about["n_rows"], about["n_known"]) == ("classes", 200, 200)
    assert about["groups"] == [["0", 0], ["1", 1], ["2", 2]]
    assert [f["feature"] for f in about["features"]] == summary["features"]["feature"][:12]
    column = X[:, summary["features"]["column"][0]]
    group = about["features"][0]["groups"][2]
    np.testing.assert_allclose(group["quartiles"], np.quantile(column[few == 2], [0.25, 0.5, 0.75]), rtol=1e-5)
    assert sum(group["counts"]) == group["n"] == (few == 2).sum()
    assert json.loads(render_json(summary)) == summary
    page = page_of(summary, "distributions")
    assert section(page, "distributions").count("<svg") == 12
    assert 'href="#distributions"' in page


def test_distributions_show_few_rows_and_at_most_eight_classes():
    rng = np.random.default_rng(0)
    y = np.concatenate([np.arange(11).repeat(80), [0] * 20])
    X = rng.normal(size=(900, 20)) + y[:, None]
    summary = summary_of("fisher", X, y)
    about = summary["distributions"]
    assert (about["n_rows"], about["n_known"], len(about["features"])) == (400, 900, 12)
    assert [name for name, _ in about["groups"]] == [*"01234567", "3 others"]
    assert sum(group["n"] for group in about["features"][0]["groups"]) == 400
    assert min(group["n"] for group in about["features"][0]["groups"]) >= 30  # each class its share
    page = page_of(summary, "distributions")
    assert "400 of the 900 labelled rows" in page
    assert sum(len(svg) for svg in re.findall(r"<svg.*?</svg>", section(page, "distributions"), re.DOTALL)) < 150_000


def test_distributions_against_a_target_and_alone():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 5))
    y = X[:, 2] + 0.1 * rng.normal(size=700)
    target = summary_of("sls", X, y)["distributions"]
    assert (target["kind"], target["n_rows"]) == ("target", 400)
    assert target["features"][0]["correlation"] == pytest.approx(np.corrcoef(X[:, 2], y)[0, 1], abs=0.01)
    assert len(target["features"][0]["x"]) == len(target["target"]) == 400
    alone = summary_of("variance", X)["distributions"]
    assert alone["kind"] == "none"
    assert [sum(f["counts"]) for f in alone["features"]] == [400] * 5


@pytest.mark.filterwarnings("ignore::fiedler.errors.ScaleWarning")
def test_distributions_hold_one_far_value_and_whole_numbers():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=100), rng.integers(0, 5, 100), rng.normal(size=100)])
    X[3, 0] = 1e6
    summary = summary_of("variance", X, k=2)
    about = {f["feature"]: f for f in summary["distributions"]["features"]}
    assert "Values far outside are drawn at the border of the figure." in page_of(summary, "distributions")
    assert about["x0"]["high"] < 100
    assert about["x0"]["n_outside"] == 1
    assert (about["x1"]["low"], about["x1"]["high"], about["x1"]["bins"]) == (-0.5, 4.5, 5)
    assert about["x1"]["counts"] == np.bincount(X[:, 1].astype(int)).tolist()


def test_distributions_read_only_their_columns_of_sparse_data():
    X = sp.random_array((60, 20_000), density=0.01, random_state=np.random.default_rng(0), format="csr")
    section = next(section for section in SECTIONS if section.name == "distributions")
    selector = SpectralSelector("variance", n_features_to_select=12).fit(X)
    case = Case(selector, X)
    tracemalloc.start()
    sparse = section.compute(case)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.shape[0] * X.shape[1] * 8 / 4  # a quarter of X as an array
    few = X[:, selector.order_[:12]].toarray()
    dense = section.compute(Case(SpectralSelector("variance").fit(few), few))
    for a, b in zip(sparse["features"], dense["features"], strict=True):
        np.testing.assert_array_equal(a["counts"], b["counts"])


def test_a_summary_of_before_still_renders(compared):
    summary = json.loads(json.dumps(compared[0]))
    for key in ("distributions", "missing"):
        del summary[key]
    for key in ("clusters", "loose", "n_pieces", "stretched"):
        del summary["graph"][key]
    del summary["graph"]["embedding"]["n_loose"], summary["stability"]["given"]
    page = render_html(summary)
    assert 'id="distributions"' not in page
    assert 'href="#distributions"' not in page


# ---------------------------------------------------------------- the picture of the graph


@pytest.mark.parametrize("graph", [RBF(), KNN(5), KNN(5, weight="binary")], ids=repr)
@pytest.mark.parametrize("shifts", [(50, 50), (50, -50)])
def test_the_picture_survives_outliers(graph, shifts):
    X, y = blobs_with([(17, shifts[0]), (93, shifts[1])])
    about = summary_of(LaplacianScore(graph), X)["graph"]
    rows, x = np.array(about["embedding"]["row"]), np.array([about["embedding"]["x"], about["embedding"]["y"]]).T
    usual = ~np.isin(rows, [17, 93])
    middle = [x[usual & (y[rows] == c)].mean(axis=0) for c in range(3)]
    within = np.mean([x[usual & (y[rows] == c)].std(axis=0).max() for c in range(3)])
    apart = min(np.linalg.norm(middle[a] - middle[b]) for a in range(3) for b in range(a))
    assert apart > 3 * within  # three classes, not one point
    assert set(rows) == set(range(180))


def test_loose_rows_are_named_and_stand_at_the_border():
    X, _ = blobs_with([(17, 50), (93, 50)])
    summary = summary_of(LaplacianScore(RBF()), X)
    about = summary["graph"]
    assert about["loose"] == {"n": 2, "rows": [17, 93]}
    picture = about["embedding"]
    assert (picture["n_loose"], picture["row"][-2:]) == (2, [17, 93])
    ends = np.array([picture["x"][-2:], picture["y"][-2:]])
    assert (np.abs(ends).max(axis=0) > 1.1).all()
    assert np.abs(picture["x"][:-2]).max() <= 1
    page = page_of(summary, "graph")
    assert "2 rows have almost no weight to the others (rows 17 and 93)" in page
    assert page.count("row 17; almost no weight to other rows") == 1  # a loose row of the first picture only
    assert summary_of(LaplacianScore(RBF()), blobs_with()[0])["graph"]["loose"]["n"] == 0


def test_rows_that_hang_on_by_one_thread_are_loose_together():
    ring = np.arange(40)
    i, j = np.concatenate([ring, [0, 40]]), np.concatenate([(ring + 1) % 40, [40, 41]])
    graph = Graph.from_edges(i, j, np.concatenate([np.ones(40), [1e-9, 1.0]]), 42)
    X = np.random.default_rng(0).normal(size=(42, 4))
    about = summary_of(LaplacianScore(Precomputed(graph)), X, k=2)["graph"]
    assert about["loose"] == {"n": 2, "rows": [40, 41]}
    picture = about["embedding"]
    assert picture["row"] == list(range(42))
    angles = np.sort(np.arctan2(picture["y"][:40], picture["x"][:40]))
    assert np.diff(angles).max() < 0.5  # the others are a ring again, not one point


def test_edges_are_drawn_all_or_the_strongest():
    X, _ = blobs_with()
    few = summary_of(LaplacianScore(KNN(5)), X, sections=only("graph"))
    graph = KNN(5).build(X)
    assert len(few["graph"]["embedding"]["edges"]) == graph.n_edges
    many = summary_of(LaplacianScore(RBF()), X, sections=only("graph"))
    edges = np.array(many["graph"]["embedding"]["edges"])
    assert 180 <= len(edges) <= 2500
    assert "strongest edges of each row" in " ".join(many["notes"])
    W, rows = RBF().build(X).toarray(), np.array(many["graph"]["embedding"]["row"])
    np.fill_diagonal(W, 0)
    drawn = {frozenset(rows[list(edge)].tolist()) for edge in edges}
    assert all(frozenset((i, int(W[i].argmax()))) in drawn for i in range(180))
    again = summary_of(LaplacianScore(RBF()), X, sections=only("graph"))
    assert again["graph"]["embedding"] == many["graph"]["embedding"]


def test_a_graph_of_the_target_alone_is_no_picture_of_the_samples():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    about = summary_of("sls", X, np.round(X[:, 0], 1) + 0.5, k=2)["graph"]
    assert not about["used"]
    assert about["shown"] == "KNN()"


def groups_far_apart(sizes=(60, 40, 20)):
    """Rows in groups that no neighbour graph connects, and their groups."""
    rng, member = np.random.default_rng(0), np.repeat(np.arange(len(sizes)), sizes)
    X = rng.normal(size=(len(member), 12))
    X[:, : len(sizes)] += 60.0 * np.eye(len(sizes))[member]
    return X, member


def test_every_component_of_the_graph_is_on_the_picture():
    X, member = groups_far_apart()
    summary = summary_of("laplacian", X, member)
    about = summary["graph"]
    assert about["n_pieces"] == 3
    picture = about["embedding"]
    assert sorted(picture["row"]) == list(range(120))
    places, of = np.array([picture["x"], picture["y"]]).T, member[picture["row"]]
    for a, b in ((0, 1), (0, 2), (1, 2)):  # no two components overlap
        one, other = places[of == a], places[of == b]
        assert ((one.max(axis=0) < other.min(axis=0)) | (other.max(axis=0) < one.min(axis=0))).any()
        assert len(np.unique(one.round(3), axis=0)) > 10
    part = section(page_of(summary, "graph"), "graph")
    assert "each of the 3 components in its own square" in part
    assert "first eigenvector</text>" not in part  # each component has eigenvectors of its own


def test_a_component_of_one_row_is_drawn_although_most_rows_are_not():
    n = 1800
    ring = np.arange(n - 4)
    ends = np.array([n - 4, n - 3]), np.array([n - 3, n - 2])  # a path of three rows; the last row is isolated
    i, j = np.r_[ring, ends[0]], np.r_[(ring + 1) % (n - 4), ends[1]]
    graph = Graph.from_edges(i, j, np.ones(len(i)), n)
    X = np.random.default_rng(0).normal(size=(n, 3))
    summary = summary_of(LaplacianScore(Precomputed(graph)), X, k=2, sections=only("graph"))
    rows = summary["graph"]["embedding"]["row"]
    assert n - 1 in rows
    assert set(range(n - 4, n - 1)) & set(rows)
    assert 1500 <= len(rows) < 1510
    assert summary["graph"]["chosen"] is None  # a graph that was given is not computed from features


def test_the_second_picture_is_the_graph_of_the_selected_features():
    X, member = groups_far_apart((50, 50))
    selector = SpectralSelector(LaplacianScore(KNN(5)), n_features_to_select=4, screen=None).fit(X)
    summary = summarize(selector, X, member)
    about = summary["graph"]
    few, graph = about["chosen"], KNN(5).build(X[:, np.sort(selector.order_[:4])])
    assert few["n_features"] == 4
    assert len(few["x"]) == len(about["embedding"]["x"])
    assert len(few["edges"]) == graph.n_edges
    pairs = [{frozenset(pair) for pair in zip(*g.edges[:2], strict=True)} for g in (KNN(5).build(X), graph)]
    assert few["common"] == pytest.approx(len(pairs[0] & pairs[1]) / len(pairs[0]))
    part = section(page_of(summary, "graph"), "graph")
    assert "Rows by the selected features only" in part
    assert f"{round(100 * few['common'])} % of the edges are the same" in part
    both = [re.findall(r"fill:var\(--(C\d)\)", svg) for svg in re.findall(r"<svg.*?</svg>", part, re.DOTALL)[:2]]
    assert both[0] == both[1]  # the same colours, row by row
    everything = summarize(SpectralSelector("laplacian", n_features_to_select=12, screen=None).fit(X), X)
    assert everything["graph"]["chosen"] is None


# ---------------------------------------------------------------- the map of correlations


@pytest.mark.parametrize(("k", "written"), [(4, True), (14, True), (15, False)])
def test_numbers_stand_on_the_cells_where_they_fit(k, written):
    X = np.random.default_rng(0).normal(size=(50, 20))
    X[:, 1] = -X[:, 0]
    summary = summary_of("variance", X, k=k)
    shown = re.findall(r">(−?\.\d\d|−?1\.00)</text>", section(page_of(summary, "redundancy"), "redundancy"))
    assert len(shown) == (k * (k - 1) if written else 0)
    if written:
        r = np.array(summary["redundancy"]["correlation"])
        assert float(shown[0].replace("−", "-")) == pytest.approx(r[0, 1], abs=0.0051)


# ---------------------------------------------------------------- features along an axis


def spectra(names, k=6, criterion="fisher", scale=None):
    rng, y = np.random.default_rng(0), np.repeat([0, 1], 30)
    X = 5.0 + rng.normal(size=(60, len(names)))
    X[:, 4:8] += 3.0 * y[:, None]
    selector = SpectralSelector(criterion, n_features_to_select=k, scale=scale).fit(X, y)
    return X, y, summarize(selector, X, y, feature_names=names)


def test_features_whose_names_are_numbers_are_drawn_over_their_axis():
    names = [f"{1000 + 2.5 * j:g}" for j in range(30)]
    X, y, summary = spectra(names, k=4, scale="standard")
    about = summary["axis"]
    assert about["axis"] == [float(name) for name in names]
    np.testing.assert_allclose(about["profiles"], [X[y == 0].mean(axis=0), X[y == 1].mean(axis=0)])  # not scaled
    assert sorted(about["chosen"]) == [4, 5, 6, 7]
    part = section(page_of(summary, "axis"), "axis")
    assert "The 4 selected features form 1 region" in part
    assert "1010 to 1017.5" in part
    assert part.count('class="mark"') == 4
    assert "mean of each class" in part


def test_a_set_over_an_axis_shows_gains_and_single_features():
    _, _, summary = spectra([str(900 - 3 * j) for j in range(30)], k=3, criterion="subset")
    about = summary["axis"]
    assert about["value"] == "gain"
    part = section(page_of(summary, "axis"), "axis")
    best = summary["features"]["feature"][0]
    assert f'>{best}</th><td class="right">1</td>' in part or "regions of neighbouring" in part


@pytest.mark.parametrize(
    "names", [[f"x{j}" for j in range(30)], ["1", *map(str, range(29))], [*map(str, range(29)), "nan"]]
)
def test_other_names_are_no_axis(names):
    _, _, summary = spectra(names)
    assert summary["axis"] is None
    assert 'id="axis"' not in page_of(summary, "axis")


# ---------------------------------------------------------------- stability


def test_stability_is_measured_where_it_is_quick(blobs):
    X, y = blobs
    summary = summary_of("fisher", X, y, k=3)
    drawn = stability("fisher", X, y, k=3, n_draws=20)
    assert summary["stability"]["jaccard"] == pytest.approx(drawn.jaccard)
    assert summary["stability"]["given"] is False
    order = summary["features"]["column"]
    assert summary["features"]["frequency"] == drawn.frequency[order].tolist()
    assert summary["run"]["seed"] == 0
    assert summary["missing"] == {}
    given = summary_of("fisher", X, y, k=3, stability=stability("fisher", X, y, k=3, n_draws=5))
    assert (given["stability"]["n_draws"], given["stability"]["given"]) == (5, True)


def test_stability_is_left_out_with_a_reason(blobs):
    X, _ = blobs
    rng = np.random.default_rng(0)
    slow = summary_of(EVSC(), rng.normal(size=(300, 40)))
    assert slow["stability"] is None
    assert "on 300 rows would take long" in slow["missing"]["stability"]
    assert slow["missing"]["stability"] in slow["notes"]
    page = page_of(slow, "stability")
    assert "on 300 rows would take long" in text_of(section(page, "stability"))
    assert page.count("on 300 rows would take long") == 1
    many, classes = rng.normal(size=(1501, 4)), np.arange(1501) % 3
    assert (
        "ranking 1,501 rows and 4 features 20 times would be slow"
        in (summary_of("fisher", many, classes)["missing"]["stability"])
    )
    few = np.full(45, -1)
    few[[0, 15]] = [0, 1]
    lost = summary_of("sselect", X, few)  # a draw may hold neither label
    assert lost["stability"] is not None or lost["missing"]["stability"].startswith("Stability is not measured: ")


# ---------------------------------------------------------------- one number of clusters


def after(summary):
    reason = next(s["reason"] for s in summary["suggestions"] if s["rule"] == "gap")
    return int(re.search(r"after (\d+) clusters", reason)[1])


def test_one_number_of_clusters_with_classes():
    X, y = blobs_with()
    summary = summary_of("laplacian", X, y)
    assert summary["graph"]["clusters"] == {"n": 3, "by": "classes", "graph": "KNN()"}
    assert after(summary) == 3
    page = text_of(section(page_of(summary, "graph"), "graph"))
    assert "shaded: the gap after 3 clusters, the number of classes" in page
    assert not re.search(r"suggests \d+ clusters", page)


def test_one_number_of_clusters_without_classes():
    X, _ = blobs_with()
    summary = summary_of(LaplacianScore(KNN(7)), X)
    about = summary["graph"]["clusters"]
    assert about["by"] == "gap"
    assert about["n"] == summary["graph"]["largest_gap_after"]
    assert about["n"] == number_of_clusters(KNN(7).build(X), Supervision(180))
    assert f"the gap after {about['n']} clusters, by the largest gap among the first 20" in page_of(summary, "graph")
    if "n_clusters" in inspect.signature(suggest_n_features).parameters:
        assert after(summary) == about["n"]


def test_the_number_of_phi3_is_the_number_of_the_report():
    X, y = blobs_with()
    stated = summary_of(SPEC(phi=3, n_clusters=5), X, y, sections=only("graph"))["graph"]["clusters"]
    assert (stated["n"], stated["by"]) == (5, "stated")
    assert summary_of(SPEC(phi=3), X, y, sections=only("graph"))["graph"]["clusters"]["by"] == "classes"
    alone = summary_of(SPEC(phi=3), X, sections=only("graph"))["graph"]["clusters"]
    assert alone["by"] == "gap"


# ---------------------------------------------------------------- what y is, further columns, long names


def test_task_says_what_y_is():
    X, y = blobs_with()
    kinds = {task: summary_of("laplacian", X, y, task=task)["data"]["labels"]["kind"] for task in ("auto", "classes")}
    assert kinds == {"auto": "classes", "classes": "classes"}
    real = summary_of("laplacian", X, y, task="target")
    assert real["data"]["labels"]["kind"] == "target"
    assert real["graph"]["embedding"]["kind"] == "target"
    assert real["distributions"]["kind"] == "target"
    assert real["graph"]["clusters"]["by"] == "gap"
    assert summary_of("sls", X, y)["data"]["labels"]["kind"] == "target"  # what the criterion reads comes first
    assert summary_of("fisher", X, np.arange(180) // 2)["data"]["labels"]["kind"] == "classes"
    with pytest.raises(ValueError, match="task='classes' reads class labels, but y holds real values"):
        summary_of("laplacian", X, y + 0.5, task="classes")
    with pytest.raises(ValueError, match="task must be one of 'auto', 'classes', 'target', got 'regression'"):
        summary_of("laplacian", X, y, task="regression")


def test_a_further_column_is_one_line(blobs):
    X, y = blobs
    summary = summary_of("fisher", X, y)
    summary["features"]["p_value"] = [0.001 * k for k in range(8)]
    ranking = features_section((*COLUMNS, RankingColumn("p_value", "p", "p-value")))
    page = render_html(summary, [ranking if section.name == "features" else section for section in only()])
    assert [row[5] for row in table_rows(section(page, "features"))][:3] == ["0", "0.001", "0.002"]
    assert 'data-key="p"' in page
    data = json.loads(re.search(r'id="ranking-data">(.*?)</script>', page)[1])
    assert [column["name"] for column in data["columns"]] == ["often", "p"]
    assert data["rows"][1][5] == 0.001


def test_long_names_are_cut_and_whole_on_hover(blobs):
    X, y = blobs
    names = ["a very long name " * 6 + str(j) for j in range(8)]
    page = page_of(summary_of("fisher", X, y, feature_names=names))
    row = re.search(r'<th scope="row" class="name" dir="auto" title="([^"]*)">([^<]*)</th>', page)
    assert row[1] in names
    assert len(row[2]) == 60
    assert row[2].endswith("…")


def test_sections_and_navigation_go_together(blobs):
    X, y = blobs
    for summary in (summary_of("fisher", X, y), summary_of("variance", X[:, :2], k=1), summary_of("variance", X, k=8)):
        page = render_html(summary)
        entries = re.findall(r'<li><a href="#(\w+)">', page)
        assert sorted(entries) == sorted(re.findall(r'<section class="card[^"]*" id="(\w+)"', page))
        for key in entries:
            part = section(page, key)
            assert "<svg" in part or "<td" in part or "<dd" in part or "<li" in part or '<p class="muted">' in part
