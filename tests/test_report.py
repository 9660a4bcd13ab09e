"""The report: one plain dict for every method, and renderers that hold whatever the data are called."""

import json
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
import scipy.sparse as sp
from inside import turn
from problems import CRITERIA, make
from rendering import only, page_of

from fiedler import EVSC, KNN, METHODS, RBF, Graph, LaplacianScore, SpectralSelector, SSelect
from fiedler.evaluate import compare, stability
from fiedler.report import (
    SECTIONS,
    Section,
    SvgFigure,
    printable,
    render_html,
    render_json,
    summarize,
    write_html,
)

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "\"><img src=x onerror='alert(3)'>",
    "$\\frac{1}{0}$ &amp; ]]> {{ 7*7 }}",
    "nul \x00 line\nbreak \u202e reversed \udc80",
    "日本語 " + "long " * 60,
]
KEYS = {"data", "run", "features", "suggestions", "comparison", "agreement", "stability", "graph", "redundancy", "maps"}
KEYS |= {"missing_values", "axis", "prediction"}
KEYS |= {"significance", "distributions", "missing", "warnings", "notes", "report", "version", "created"}


def summary_of(name, **options):
    """A summary for a criterion of problems.CRITERIA on its own problem."""
    data = make(name)
    selector = SpectralSelector(CRITERIA[name], n_features_to_select=3).fit(data.X, data.y, **data.pairs)
    return summarize(selector, data.X, data.y, **data.pairs, **options)


def kinds(summary):
    return {warning["kind"] for warning in summary["warnings"]}


@pytest.fixture(scope="module")
def full():
    """A summary with everything in it, hostile names included."""
    rng = np.random.default_rng(7)
    y = np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 10)) + np.outer(y, np.linspace(1.5, 0, 10))
    X[:, 4] = X[:, 0] + 0.01 * rng.normal(size=60)
    names = [*HOSTILE, "plain", "f7", "f8", "f9"]
    classes = np.array([HOSTILE[0], "b & c", "d"], dtype=object)[y]
    selector = SpectralSelector("fisher", n_features_to_select=6).fit(X, classes)
    drawn = stability("fisher", X, classes, k=6, n_draws=5)
    sizes = {"n_features": [2, 5, 8], "n_draws": 3, "n_labels": 9, "metrics": ["accuracy", "jaccard"]}
    with pytest.MonkeyPatch.context() as patch:
        turn(patch, "cells: random draws", 4)
        compared = compare({HOSTILE[1]: "fisher", "laplacian": "laplacian"}, X, classes, n_jobs=1, **sizes)
    given = {"feature_names": names, "source": HOSTILE[2], "stability": drawn, "comparison": compared}
    return summarize(selector, X, classes, **given)


@pytest.fixture(scope="module")
def page(full):
    return render_html(full)


# ---------------------------------------------------------------- the dict


@pytest.mark.parametrize("name", CRITERIA)
def test_every_method_has_a_report(name):
    summary, data = summary_of(name), make(name)
    assert json.loads(render_json(summary)) == summary
    assert set(summary) == KEYS
    selector = SpectralSelector(CRITERIA[name], n_features_to_select=3).fit(data.X, data.y, **data.pairs)
    assert summary["features"]["column"] == selector.order_.tolist()
    assert summary["graph"]["graphs"]


WHOLE = ("subset", "fisher", "ssls", "constraint")  # without labels, with classes, a real target, pairs


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_a_page(name):
    """A whole page for every kind of supervision; else the sections that read the method, its graph and its scores."""
    summary = summary_of(name)
    text = render_html(summary) if name in WHOLE else page_of(summary, "suggestions", "graph", "redundancy")
    assert text.startswith("<!doctype html>")
    assert Page(text).tables >= 2


def test_summary_says_what_was_given_and_run(full):
    data, run = full["data"], full["run"]
    assert (data["n_samples"], data["n_features"], data["source"]) == (60, 10, HOSTILE[2])
    assert dict(data["labels"]["classes"]) == {HOSTILE[0]: 20, "b & c": 20, "d": 20}
    assert (run["method"], run["formula"], run["direction"]) == ("fisher", "FisherScore()", "large is good")
    assert (run["n_selected"], run["seed"]) == (6, 0)
    assert {"fiedler", "numpy", "scikit-learn"} < set(run["versions"])
    assert run["papers"] == ["[KA] Kalakech et al. 2011 (constraint scores)", "[FISHER] Fisher 1936 (his criterion)"]
    assert {s["rule"] for s in full["suggestions"]} == {"turning", "gap", "cv"}
    assert full["comparison"]["settings"]["n_features"] == [2, 5, 8]
    assert full["stability"]["n_draws"] == 5


def test_agreement_is_spearman_and_overlap(full):
    from scipy.stats import spearmanr

    agreement = full["agreement"]
    # fisher itself is in the comparison too, under another name, and comes once
    assert agreement["methods"] == ["fisher", "laplacian", "variance"]
    R, k = np.array(agreement["spearman"]), agreement["k"]
    np.testing.assert_allclose(np.diag(R), 1.0)
    np.testing.assert_allclose(R, R.T)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 12)) * rng.uniform(1, 3, 12)
    selector = SpectralSelector("laplacian", n_features_to_select=4).fit(X)
    summary = summarize(selector, X)
    expected = spearmanr(selector.scores_, -X.var(axis=0)).statistic
    assert summary["agreement"]["spearman"][0][1] == pytest.approx(expected)
    both = set(selector.order_[:4]) & set(np.argsort(-X.var(axis=0))[:4])
    assert summary["agreement"]["overlap"][0][1] == len(both) / 4
    assert k == 6


def test_redundancy_names_the_better_copy(full):
    (found,) = full["redundancy"]["repeats"]
    names, notes = full["features"]["feature"], full["features"]["note"]
    assert {names[found["rank"] - 1], names[found["of"] - 1]} == {HOSTILE[0], HOSTILE[4]}
    assert found["of"] < found["rank"]
    assert f"rank {found['of']}" in notes[found["rank"] - 1]
    assert found["correlation"] > 0.99


def test_the_embedding_is_the_graph_s_eigenvectors(blobs):
    X, y = blobs
    summary = summarize(SpectralSelector("laplacian").fit(X), X, y)
    graph, picture = KNN().build(X), summary["graph"]["embedding"]
    values, vectors = graph.spectrum(21)
    np.testing.assert_allclose(summary["graph"]["eigenvalues"], np.maximum(values, 0), atol=1e-9)
    x = vectors[:, 1] / np.sqrt(graph.degree)
    np.testing.assert_allclose(picture["x"], x / np.abs(x).max(), atol=1e-4)
    assert picture["label"] == y.tolist()
    assert summary["graph"]["used"]


def test_sparse_input_and_numbers_without_names():
    X = sp.random_array((60, 30), density=0.2, random_state=np.random.default_rng(0), format="csr")
    summary = summarize(SpectralSelector("variance", n_features_to_select=4).fit(X), X)
    assert summary["data"]["sparse"]
    assert summary["data"]["nonzero"] == pytest.approx(0.2)
    assert summary["features"]["feature"][0] == f"x{summary['features']['column'][0]}"


def test_infinite_and_missing_scores_stay_json():
    X = np.array([[0.0, 1.0, 5.0, 1.0], [0.0, 2.0, 5.0, 4.0], [1.0, 3.0, 5.0, 2.0], [1.0, 9.0, 5.0, 8.0]])
    summary = summarize(SpectralSelector("fisher", n_features_to_select=2).fit(X, [0, 0, 1, 1]), X, [0, 0, 1, 1])
    assert summary["features"]["score"][0] == "inf"
    assert summary["features"]["score"][-1] is None
    assert json.loads(render_json(summary)) == summary
    assert page_of(summary, "suggestions", "prediction", "graph", "agreement", "redundancy")


# ---------------------------------------------------------------- warnings in words


def test_warnings_in_words():
    rng = np.random.default_rng(0)
    far = np.concatenate([rng.normal(size=(20, 6)), rng.normal(size=(20, 6)) + 100])
    assert "disconnected" in kinds(summarize(SpectralSelector("laplacian").fit(far), far))

    X = np.column_stack([rng.normal(size=(30, 6)) * [1, 2, 3, 4, 5, 6], np.ones(30)])
    evsc = summarize(SpectralSelector(EVSC(), n_features_to_select=2).fit(X), X)
    assert {"nearly variance", "constant"} <= kinds(evsc)

    tied = np.column_stack([X[:, 0]] * 4)
    assert "ties" in kinds(summarize(SpectralSelector("variance").fit(tied), tied))

    few = np.full(30, -1)
    few[:3] = [0, 1, 1]
    assert "few labels" in kinds(summarize(SpectralSelector(SSelect()).fit(X, few), X, few))


def test_underflow_is_a_warning_of_the_report():
    X = np.random.default_rng(0).normal(size=(30, 4))
    selector = SpectralSelector(LaplacianScore(RBF(bandwidth=1e-3)))
    with pytest.warns(UserWarning, match="underflow"):
        selector.fit(X)
    assert "underflow" in kinds(summarize(selector, X))


def test_nothing_is_warned_of_where_nothing_is_wrong(blobs):
    X, y = blobs
    X = X / X.std(axis=0)
    assert summarize(SpectralSelector("fisher", n_features_to_select=3).fit(X, y), X, y)["warnings"] == []


def test_what_would_be_slow_is_left_out_with_a_note():
    X, y = np.random.default_rng(0).normal(size=(5001, 2)), np.arange(5001) % 2
    summary = summarize(SpectralSelector("fisher").fit(X, y), X, y)
    assert "X has 5,001" in summary["graph"]["note"]
    assert [s["rule"] for s in summary["suggestions"]] == ["turning"]
    assert "turning point" in " ".join(summary["notes"])
    assert "not drawn for more than 5,000 rows" in render_html(summary)


def test_bad_arguments_name_the_way_out(blobs):
    X, y = blobs
    selector = SpectralSelector("fisher").fit(X, y)
    with pytest.raises(ValueError, match="X has 7 features, but the selector was fitted on 8"):
        summarize(selector, X[:, :7], y)
    with pytest.raises(ValueError, match="feature_names has 2 names"):
        summarize(selector, X, y, feature_names=["a", "b"])
    with pytest.raises(ValueError, match="stability has 3 features"):
        summarize(selector, X, y, stability=stability("fisher", X[:, :3], y, k=2, n_draws=2))


def test_y_that_cannot_be_read_does_not_stop_an_unsupervised_report(blobs):
    X, _ = blobs
    summary = summarize(SpectralSelector("laplacian").fit(X), X, np.full(45, -1))
    assert summary["data"]["labels"]["n_known"] == 0 or summary["data"]["labels"]["kind"] == "target"
    assert page_of(summary, "distributions", "graph")


# ---------------------------------------------------------------- the page


class Page(HTMLParser):
    """What a page is made of."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.ids, self.tables, self.text = [], [], [], 0, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attributes]
        self.ids += [value for name, value in attributes if name == "id"]
        self.tables += tag == "table"

    def handle_data(self, data):
        self.text.append(data)


def test_the_page_asks_for_nothing(page):
    parsed = Page(page)
    names = {name for _, name, _ in parsed.attributes}
    assert not names & {"src", "srcset", "action", "poster", "background", "data", "ping", "onerror", "onload"}
    links = {value for tag, name, value in parsed.attributes if name == "href" and value != "data:,"}
    assert all(link.startswith("#") for link in links)
    assert "@import" not in page
    assert "url(" not in page.replace("url(#", "")
    assert not re.search(r"https?://", page)
    assert parsed.tags.count("script") == 2
    assert not {"iframe", "img", "object", "embed", "base", "form"} & set(parsed.tags)


def test_hostile_names_are_text(page):
    parsed = Page(page)
    shown = "".join(parsed.text)
    for name in HOSTILE[:4]:
        assert name in shown
    for name in HOSTILE[:5]:
        assert name not in page  # not once as it came
    assert "\x00" not in page
    assert page.encode("utf-8")  # no lone surrogate
    assert "\u202e" not in page
    assert not any(name.startswith("on") for _, name, _ in parsed.attributes)


def test_the_policy_names_the_only_script(page):
    import base64
    import hashlib

    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy


def test_structure_for_screen_readers(page):
    parsed = Page(page)
    assert parsed.tags.count("h1") == 1
    assert parsed.tags.count("main") == 1
    assert len(parsed.ids) == len(set(parsed.ids))
    assert parsed.tags.count("caption") == parsed.tables
    targets = {value[1:] for _, name, value in parsed.attributes if name == "href" and value.startswith("#")}
    labels = {i for _, n, v in parsed.attributes if n in ("aria-labelledby", "for") for i in v.split()}
    assert targets | labels <= set(parsed.ids)
    figures = [a for a in parsed.attributes if a[0] == "svg" and a[1] == "role"]
    assert len(figures) == parsed.tags.count("svg") == 21  # ten of them the values of a feature
    assert all(value == "img" for _, _, value in figures)
    headers = [value for tag, name, value in parsed.attributes if tag == "th" and name == "scope"]
    assert len(headers) == parsed.tags.count("th")
    sortable = [value for tag, name, value in parsed.attributes if tag == "th" and name == "aria-sort"]
    assert sortable == ["ascending", "none", "none", "none"]


def test_figures_follow_the_theme(page):
    figures = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    for figure in figures:
        assert not re.search(r"#[0-9a-f]{6}\b", figure), figure[:200]
        assert "font-family" not in figure
    assert "prefers-color-scheme: dark" in page
    assert 'data-theme="dark"' in page


def test_twenty_thousand_features_fit_into_two_megabytes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 20_000)).astype(np.float32)
    selector = SpectralSelector("variance", n_features_to_select=100).fit(X)
    names = [f"ENSG{j:011d}" for j in range(20_000)]
    summary = summarize(selector, X, feature_names=names)
    page = render_html(summary)
    assert len(page.encode()) < 2_000_000
    assert Page(page).tags.count("tr") < 450
    assert "300 rows" in page
    summary["features"]["feature"] = ["<&\"'é" * 60] * 20_000
    page = render_html(summary)
    assert len(page.encode()) < 2_000_000
    assert re.search(r"contains only the best [\d,]+ of 20,000 features", page)


def test_write_html_is_atomic_and_careful(tmp_path, full, page):
    path = tmp_path / "report.html"
    assert write_html(path, full) == path
    assert path.read_text(encoding="utf-8") == page
    assert page.endswith("</html>\n")
    with pytest.raises(FileExistsError, match="force"):
        write_html(path, full)
    broken = Section("broken", "Cannot be encoded", "\udc80", applies=lambda summary: True)
    with pytest.raises(UnicodeEncodeError):
        write_html(path, full, force=True, sections=[*only(), broken])
    assert path.read_text(encoding="utf-8") == page
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize("missing", ["jinja2", "matplotlib"])
def test_a_missing_extra_is_named(missing, full, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=re.escape("pip install 'fiedler[report]'")):
        render_html(full)


def test_printable_keeps_scripts_and_joiners():
    assert printable("क्‍ष\u00a0é") == "क्‍ष é"
    assert printable("a\x07b\ud800") == "a�b�"


# ---------------------------------------------------------------- a section from outside the package


def spread(case):
    """The range of the first features, as plain values."""
    best = case.selector.order_[:3]
    return {"features": [case.names[j] for j in best], "range": np.ptp(case.problem.X[:, best], axis=0)}


def bars_of(summary):
    about = summary["spread"]
    with SvgFigure("spread", "Ranges", "Ranges of the first features") as figure:
        for bar, width in zip(figure.ax.bar(about["features"], about["range"]), about["range"], strict=True):
            figure.tell(bar, [f"range {width:.3g}"])
    return {"bars": figure, "rows": list(zip(about["features"], [[f"{r:.3g}"] for r in about["range"]], strict=True))}


SPREAD = Section(
    "spread",
    "Range of the first features",
    """<p>Of {{ s.data.n_samples }} rows.</p>{{ figure(bars, "Ranges") }}
    {{ table("Ranges", ["Feature", "Range"], rows) }}""",
    label="Spread",
    compute=spread,
    view=bars_of,
    tiles=lambda summary: [{"label": "Widest", "value": f"{max(summary['spread']['range']):.3g}"}],
)


def test_a_section_of_one_s_own(blobs, tmp_path):
    X, y = blobs
    names, sections = [HOSTILE[0], *"bcdefgh"], [*only("stability"), SPREAD]
    selector = SpectralSelector("fisher", n_features_to_select=3).fit(X, y)
    summary = summarize(selector, X, y, feature_names=names, sections=sections)
    assert json.loads(render_json(summary)) == summary
    np.testing.assert_allclose(summary["spread"]["range"], np.ptp(X[:, selector.order_[:3]], axis=0))
    text = write_html(tmp_path / "report.html", summary, sections=sections).read_text(encoding="utf-8")
    section = re.search(r'<section class="card" id="spread".*?</section>', text, re.DOTALL)[0]
    assert "Of 45 rows." in section
    assert section.count('class="mark"') == 3
    assert "<td" in section
    assert HOSTILE[0] not in text
    assert '<a href="#spread">Spread</a>' in text
    widest = f"{max(summary['spread']['range']):.3g}"
    assert f"<dt>Widest</dt><dd>{widest}</dd>" in text
    assert 'id="spread"' not in page_of(summary)  # not in the table of the library
    assert "spread" not in {section.name for section in SECTIONS}
    plain = summarize(selector, X, y, feature_names=names)
    assert 'id="spread"' not in render_html(plain, sections)  # no numbers, no section


def test_a_report_of_few_sections(blobs):
    X, y = blobs
    few = [section for section in SECTIONS if section.name in ("data", "run", "features", "agreement")]
    summary = summarize(SpectralSelector("fisher").fit(X, y), X, y, sections=few)
    assert "graph" not in summary
    for sections in (few, SECTIONS):
        found = re.findall(r'<section class="card" id="(\w+)"', render_html(summary, sections))
        assert set(found) - {"warnings", "notes"} == {"data", "run", "features", "agreement"}


def test_the_table_of_sections_is_checked(full):
    with pytest.raises(ValueError, match="sections has two sections named 'graph'; give each its own name"):
        render_html(full, [*SECTIONS, Section("graph", "Another graph")])
    with pytest.raises(ValueError, match=r"sections has no 'run', .* start from fiedler.report.SECTIONS"):
        render_html(full, [section for section in SECTIONS if section.name != "run"])


# ---------------------------------------------------------------- notebooks


def test_notebook_shows_graph_and_selector(blobs):
    X, y = blobs
    html = Graph.from_edges([0, 2], [1, 3], [1.0, 2.0], n_nodes=5)._repr_html_()
    assert "2 (2, 2 rows)" in html
    assert "isolated rows" in html
    import pandas as pd

    frame = pd.DataFrame(X, columns=[HOSTILE[0], *"bcdefgh"])
    selector = SpectralSelector("fisher", n_features_to_select=3)
    assert "features selected" not in selector._repr_html_()
    selector.fit(frame, y)
    for html in (selector._repr_html_(), selector._repr_mimebundle_()["text/html"]):
        assert "3 of 8 features selected by FisherScore()" in html
        assert HOSTILE[0] not in html
        assert "&lt;script&gt;" in html
