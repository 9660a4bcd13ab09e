"""Features that are selected in any case: ``include`` of the selector, and ``--include``."""

import numpy as np
import pandas as pd
import pytest
import reference_sets as ref
import scipy.sparse as sp
from click.testing import CliRunner
from inside import turn
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from test_sets import DEPENDENT, SHAPES, data

from fiedler import KNN, Explained, LaplacianScore, Precomputed, Problem, SpectralSelector
from fiedler.cli import main
from fiedler.errors import ParameterError, ParameterTypeError
from fiedler.sets.formula import forward
from fiedler.sources import open_source


@pytest.mark.parametrize("first", [[8, 2], [3, 0, 1], [5, 6], [1, 7]], ids=str)  # 3 is 0, 5 is constant, 7 follows 1
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("form", ["features", "samples"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_set_is_chosen_given_the_included_ones_as_in_the_plain_loop(shape, form, kind, first):
    X = data(*shape)
    graph = Precomputed(KNN(5).build(X).toarray())
    K, C = ref.kernel_of_features(ref.smoothing(graph.W), X), ref.centred(X)
    order, gains, scores = ref.greedy(K, C, 8, fixed=first)
    every = [j for j in range(shape[1]) if j not in DEPENDENT]
    path = forward(Explained(graph).set_formula(), Problem.of(kind(X)), 8, form=form, first=first)
    assert path.order[: len(path.explained)].tolist() == order
    assert order[: len(first)] == first
    np.testing.assert_allclose(path.explained, np.cumsum(gains) / ref.explained(K, C, every), rtol=1e-9)
    np.testing.assert_allclose(path.scores, scores, rtol=1e-9)
    assert sorted(path.order.tolist()) == list(range(shape[1]))


def test_a_file_gives_the_same_set(tmp_path, monkeypatch):
    X, first = data(26, 120, 4), list(range(60, 100, 2))
    np.save(tmp_path / "X.npy", np.asfortranarray(X))
    expected = SpectralSelector("subset", n_features_to_select=30, include=first).fit(X)
    turn(monkeypatch, "rounds: pool of files", 20)
    with config_context(working_memory=0.02):
        found = SpectralSelector("subset", n_features_to_select=30, include=first).fit(open_source(tmp_path / "X.npy"))
    assert found.order_.tolist() == expected.order_.tolist()
    assert found.order_[:20].tolist() == first
    np.testing.assert_allclose(found.explained_, expected.explained_, rtol=1e-9)


def test_including_what_would_be_chosen_first_changes_nothing():
    X = data(40, 20)
    plain = SpectralSelector("subset", n_features_to_select=8).fit(X)
    same = SpectralSelector("subset", n_features_to_select=8, include=plain.order_[:3]).fit(X)
    np.testing.assert_array_equal(same.order_, plain.order_)
    np.testing.assert_array_equal(same.explained_, plain.explained_)


@pytest.mark.parametrize("criterion", ["laplacian", "variance"])
def test_a_ranking_goes_on_after_the_included_ones(criterion, blobs):
    X, _ = blobs
    plain = SpectralSelector(criterion).fit(X)
    selector = SpectralSelector(criterion, n_features_to_select=4, include=[-1, 2]).fit(X)
    assert selector.order_[:2].tolist() == [7, 2]
    assert selector.order_[2:].tolist() == [j for j in plain.order_ if j not in (7, 2)]
    assert selector.support_[[7, 2]].all()
    assert selector.n_features_ == 4
    np.testing.assert_array_equal(selector.scores_, plain.scores_)


def test_names_of_a_frame_in_a_pipeline(blobs):
    X, y = blobs
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    pipeline = make_pipeline(StandardScaler(), SpectralSelector("subset", n_features_to_select=3, include=["h", "b"]))
    out = pipeline.set_output(transform="pandas").fit(frame, y).transform(frame)
    assert {"h", "b"} < set(out.columns)
    assert len(out.columns) == 3
    assert SpectralSelector(n_features_to_select=1, include="c").fit(frame).get_feature_names_out() == ["c"]


def test_near_copies_of_included_ones_are_passed_over(rng):
    X = rng.normal(size=(60, 6))
    X[:, 1] *= 3.0
    X[:, 4] = X[:, 1] + 0.01 * rng.normal(size=60)
    selector = SpectralSelector("variance", n_features_to_select=5, redundancy=True, include=[1]).fit(X)
    assert not selector.support_[4]
    assert selector.stands_for_[4] == 1
    both = SpectralSelector("variance", n_features_to_select=5, redundancy=True, include=[1, 4]).fit(X)
    assert both.support_[[1, 4]].all(), "included ones are kept, although they are near copies"


@pytest.mark.parametrize("screen", ["agreement", "fdr"])
@pytest.mark.parametrize("criterion", ["laplacian", "subset"])
def test_a_screen_keeps_the_included_ones(screen, criterion, rng):
    X = rng.normal(size=(80, 30))
    X[:, :6] = X[:, [0]] + 0.3 * rng.normal(size=(80, 6))
    plain = SpectralSelector(criterion, n_features_to_select=3, screen=screen).fit(X)
    noise = int(np.flatnonzero(~plain.kept_)[-1])
    selector = SpectralSelector(criterion, n_features_to_select=3, screen=screen, include=[noise]).fit(X)
    assert selector.order_[0] == noise
    assert selector.support_[noise]
    assert selector.kept_[noise]
    assert selector.kept_.sum() == plain.kept_.sum() + 1
    assert sorted(selector.order_.tolist()) == list(range(30))
    assert set(selector.order_[1:3]) <= set(range(6))


def test_included_ones_stay_under_threshold_fdr_and_auto(rng):
    X = rng.normal(size=(80, 30))
    X[:, :6] = X[:, [0]] + 0.3 * rng.normal(size=(80, 6))
    by_score = SpectralSelector("variance", threshold="mean").fit(X)
    worst = int(by_score.order_[-1])
    with_worst = SpectralSelector("variance", threshold="mean", include=[worst]).fit(X)
    assert set(np.flatnonzero(with_worst.support_)) == {worst, *np.flatnonzero(by_score.support_)}
    for criterion in ("laplacian", "subset"):
        real = SpectralSelector(criterion, n_features_to_select="fdr").fit(X)
        noise = int(np.argmax(real.pvalues_))
        fixed = SpectralSelector(criterion, n_features_to_select="fdr", include=[noise]).fit(X)
        assert fixed.support_[noise]
        assert fixed.order_[0] == noise
        if criterion == "laplacian":
            assert set(np.flatnonzero(fixed.support_)) == {noise, *np.flatnonzero(real.support_)}
    auto = SpectralSelector("subset", n_features_to_select="auto", include=list(range(29))).fit(X)
    assert auto.order_[:29].tolist() == list(range(29))
    assert auto.n_features_ == 29, "nine tenths are reached before"


def test_a_constant_that_is_included_is_no_mishap(blobs):
    X, _ = blobs
    X = np.column_stack([X, np.ones(len(X))])
    for criterion in ("laplacian", "subset"):  # a warning would be an error here
        selector = SpectralSelector(criterion, n_features_to_select=3, include=[8]).fit(X)
        assert selector.order_[0] == 8
        assert selector.n_features_ == 3


def test_what_is_included_is_known_and_reported(blobs):
    from fiedler.report import summarize

    X, y = blobs
    selector = SpectralSelector("subset", n_features_to_select=3, include=[6]).fit(X)
    assert np.flatnonzero(selector.included_).tolist() == [6]
    assert summarize(selector, X, y)["features"]["note"][0].startswith("included in any case")
    assert not hasattr(selector.set_params(include=None).fit(X), "included_")


def test_half_is_at_least_the_included_ones(blobs):
    assert SpectralSelector(include=range(6)).fit(blobs[0]).n_features_ == 6


@pytest.mark.parametrize(
    ("include", "kind", "message"),
    [
        ([0, 1, 2], ParameterError, "include names 3 features, but n_features_to_select=2 selects only 2"),
        (["z"], ParameterError, "include='z', but X has no feature of that name"),
        (["aa"], ParameterError, "did you mean 'a'"),
        ([8], ParameterError, "include=8, but the 8 features of X are numbered from 0"),
        ([1, -7], ParameterError, "include names the feature 'b' twice"),
        ([True], ParameterTypeError, "include must hold names or column numbers, got True of type bool"),
        (1.5, ParameterTypeError, "include must be names or column numbers of features, got 1.5"),
    ],
)
def test_what_cannot_be_included(include, kind, message, blobs):
    frame = pd.DataFrame(blobs[0], columns=list("abcdefgh"))
    with pytest.raises(kind, match=message):
        SpectralSelector(LaplacianScore(), n_features_to_select=2, include=include).fit(frame)


def test_a_name_needs_a_frame(blobs):
    with pytest.raises(ParameterError, match="X has no column names"):
        SpectralSelector(include="a").fit(blobs[0])


def test_genes_are_included_by_name(rng):
    anndata = pytest.importorskip("anndata")
    from fiedler.anndata import select_genes

    adata = anndata.AnnData(rng.normal(size=(40, 6)))
    adata.var_names = list("uvwxyz")
    select_genes(adata, SpectralSelector("laplacian", include=["y"]), n_top_genes=2)
    assert adata.var.loc["y", "highly_variable"]
    assert adata.var["highly_variable"].sum() == 2


def test_on_the_command_line(blobs, tmp_path):
    frame = pd.DataFrame(blobs[0], columns=[*list("abcdefg"), "a name"])
    frame.to_csv(tmp_path / "t.csv", index=False)
    for method in ("laplacian", "subset"):
        arguments = ["rank", str(tmp_path / "t.csv"), "-m", method, "--include", "a name", "--include", "c", "-q"]
        lines = CliRunner().invoke(main, arguments).output.splitlines()
        assert [line.split(",")[0] for line in lines[1:3]] == ["a name", "c"]
    out = tmp_path / "small.csv"
    arguments = ["select", str(tmp_path / "t.csv"), "--top", "2", "--include", "7", "--out", str(out), "-q"]
    assert CliRunner().invoke(main, arguments).exit_code == 0
    assert "a name" in pd.read_csv(out).columns
    too_many = ["rank", str(tmp_path / "t.csv"), "--top", "1", "--include", "a", "--include", "b"]
    failed = CliRunner().invoke(main, too_many)
    assert failed.exit_code == 1
    assert "include names 2 features, but --top=1 selects only 1" in failed.output
    failed = CliRunner().invoke(main, ["rank", str(tmp_path / "t.csv"), "--include", "A"])
    assert failed.exit_code == 1
    assert "did you mean 'a'" in failed.output


def mixed(rng, n=60):
    """Two numbers, a category that follows the first one, and a category of noise."""
    a = rng.normal(size=n)
    frame = pd.DataFrame({"a": a, "b": rng.normal(size=n), "kind": pd.Categorical(np.where(a > 0, "x", "y"))})
    return frame.assign(noise=pd.Categorical(rng.choice(list("pqrs"), n)))


@pytest.mark.filterwarnings("ignore::fiedler.TableWarning")
@pytest.mark.parametrize("criterion", ["laplacian", "subset"])
def test_a_category_is_included_as_one_feature(criterion, rng):
    frame = mixed(rng)
    selector = SpectralSelector(criterion, n_features_to_select=2, include="noise").fit(frame)
    assert selector.order_[0] == 3
    assert selector.n_features_ == 2
    assert sorted(selector.order_.tolist()) == [0, 1, 2, 3]


def test_a_group_is_included_by_its_name_or_by_a_column(rng):
    frame = pd.DataFrame(rng.normal(size=(40, 5)), columns=list("abcde"))
    for include in ("band", "d", 3):
        selector = SpectralSelector(n_features_to_select=2, include=include).fit(frame, groups={"band": ["b", "d"]})
        assert selector.support_[[1, 3]].all()
        assert selector.order_[:2].tolist() == [1, 3]
