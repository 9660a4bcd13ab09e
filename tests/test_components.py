"""Neighbours in the leading principal components: those of a full decomposition, wherever X is."""

import numpy as np
import pytest
import scipy.sparse as sp
from click.testing import CliRunner
from sklearn import config_context
from sklearn.decomposition import PCA
from stored import KINDS

from fiedler import EVSC, KNN, LaplacianScore, Problem
from fiedler.cli import main
from fiedler.engine import approximate
from fiedler.engine.approximate import leading_components
from fiedler.sources import open_source
from fiedler.syntax import as_criterion


def kinds(rng, n=200, m=60, offset=0.0):
    """Rows around six centres: five components stand out from the noise."""
    return 3.0 * rng.normal(size=(6, m))[rng.integers(6, size=n)] + rng.normal(size=(n, m)) + offset


def counts(rng, n=120, m=80):
    """The same as whole numbers, mostly zero."""
    return np.maximum(np.round(kinds(rng, n, m)) - 3.0, 0.0)


def products(P):
    """What does not depend on the signs of the components."""
    return P @ P.T


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("shape", [(200, 60), (60, 200)])
@pytest.mark.parametrize("number", [1, 5, 20])
def test_components_are_those_of_a_full_decomposition(rng, shape, number, offset):
    X = kinds(rng, *shape, offset)
    found, expected = leading_components(X, number), PCA(number, svd_solver="full").fit_transform(X)
    assert found.shape == expected.shape
    np.testing.assert_allclose((found**2).sum(axis=0), (expected**2).sum(axis=0), rtol=1e-4)
    exact = PCA(5, svd_solver="full").fit_transform(X)
    np.testing.assert_allclose(
        products(found[:, :5]), products(exact[:, :number]), atol=1e-4 * np.abs(exact).max() ** 2
    )


@pytest.mark.parametrize("weight", ["binary", "rbf"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_neighbours_are_those_in_the_components_of_scikit_learn(rng, weight, metric):
    X = kinds(rng)
    expected = KNN(7, weight, metric=metric).build(PCA(5, svd_solver="full").fit_transform(X))
    graph = KNN(7, weight, metric=metric, n_components=5).build(X)
    np.testing.assert_allclose(graph.toarray(), expected.toarray(), rtol=1e-4)
    assert graph.neighbors == "exact"
    others = KNN(7, weight, metric=metric).build(X).toarray()
    assert (others > 0).sum() != (graph.toarray() > 0).sum() or ((others > 0) != (graph.toarray() > 0)).any()


def test_all_components_keep_the_distances(rng):
    X = kinds(rng, 40, 25)
    expected = KNN(4).build(X).toarray()
    for number in (25, 26, 1000):
        np.testing.assert_allclose(KNN(4, n_components=number).build(X).toarray(), expected, rtol=1e-9)
    wide = kinds(rng, 20, 50)
    assert leading_components(wide, 50).shape == (20, 19)
    np.testing.assert_allclose(KNN(4, n_components=19).build(wide).toarray(), KNN(4).build(wide).toarray(), rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_sparse_rows_are_not_filled_in_and_give_the_same(rng, dtype, monkeypatch):
    X = counts(rng).astype(dtype)
    expected = leading_components(X, 4)
    monkeypatch.setattr(sp.csc_array, "toarray", None)
    monkeypatch.setattr(sp.csr_array, "toarray", None)
    for made in (sp.csc_array, sp.csr_array):
        found = leading_components(made(X), 4)
        scale = np.abs(products(expected)).max()
        np.testing.assert_allclose(
            products(found), products(expected), atol=(1e-4 if dtype == np.float32 else 1e-9) * scale
        )


@pytest.mark.parametrize("kind", ["npy", "zarr by columns", "zarr by rows", "hdf5 csr", "hdf5 csc"])
def test_files_give_the_same_as_memory(tmp_path, rng, kind):
    X = counts(rng, 120, 1200)
    expected = KNN(5, n_components=4).build(X).toarray()
    with config_context(working_memory=0.4):  # several blocks of columns, but the components fit
        source = open_source(KINDS[kind].save(tmp_path, X))
        assert len(source.slabs()) > 1
        found = KNN(5, n_components=4).build(source).toarray()
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_dask_arrays_give_the_same(rng):
    da = pytest.importorskip("dask.array")
    X = counts(rng)
    expected = KNN(5, n_components=4).build(X).toarray()
    for chunks in ((30, 80), (120, 16)):
        found = KNN(5, n_components=4).build(da.from_array(X, chunks=chunks)).toarray()
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_less_memory_takes_more_passes_but_gives_the_same(rng):
    X = kinds(rng, 400, 50)
    expected = leading_components(X, 5)
    with config_context(working_memory=0.1):
        found = leading_components(X, 5)
    np.testing.assert_allclose(products(found), products(expected), atol=1e-3 * np.abs(products(expected)).max())


def test_the_same_data_give_the_same_components(rng):
    X = sp.csc_array(counts(rng))
    np.testing.assert_array_equal(leading_components(X, 6), leading_components(X.copy(), 6))


def test_passes_are_limited_and_end_early(rng, monkeypatch):
    passes = []
    monkeypatch.setattr(approximate, "times_gram", lambda X, Y, scale: passes.append(0) or X @ (X.T @ Y))
    noise = rng.normal(size=(500, 400))
    leading_components(noise - noise.mean(axis=0), 3)
    assert len(passes) <= 16
    passes.clear()
    clear = np.outer(rng.normal(size=500), rng.normal(size=400))
    leading_components(clear - clear.mean(axis=0), 1)
    assert len(passes) <= 4


def test_degenerate_rows():
    assert not leading_components(np.ones((5, 3)), 2).any()
    line = np.outer(np.arange(9.0), [1.0, 2.0])
    found = leading_components(line, 2)
    np.testing.assert_allclose(np.abs(found[:, 0]), np.sqrt(5.0) * np.abs(np.arange(9.0) - 4.0), atol=1e-9)
    np.testing.assert_allclose(found[:, 1], 0.0, atol=1e-6)
    assert KNN(2, n_components=2).build(np.ones((5, 3))).n_nodes == 5


def test_missing_values_are_filled_first(rng):
    X = kinds(rng, 60, 10)
    X[3, 4] = np.nan
    problem = Problem.of(X)
    np.testing.assert_array_equal(
        problem.graph(KNN(3, n_components=3)).toarray(), KNN(3, n_components=3).build(problem.X).toarray()
    )


def test_a_problem_keeps_the_components(rng):
    problem = Problem.of(kinds(rng))
    problem.graph(KNN(3, n_components=4))
    (stored,) = problem.built(np.ndarray)
    problem.graph(KNN(5, n_components=4))
    assert [made is stored for made in problem.built(np.ndarray)] == [True]
    problem.graph(KNN(5, n_components=3))
    assert [made.shape for made in problem.built(np.ndarray)] == [(200, 4), (200, 3)]


@pytest.mark.parametrize("value", [0, -1, 2.5, "50", True])
def test_bad_numbers_are_refused(value):
    with pytest.raises(ValueError, match="n_components must be an integer of at least 1, got"):
        KNN(n_components=value).build(np.eye(5))


@pytest.mark.parametrize("made", [np.array, sp.csr_array])
def test_values_that_overflow_are_named(made):
    X = np.eye(6)
    X[2, 3] = 1e200
    with pytest.raises(ValueError, match="in column 3, whose squares overflow"):
        KNN(2, n_components=2).build(made(X))


def test_weights_are_not_made_of_distances_in_X(rng):
    X = kinds(rng)
    assert KNN(5, n_components=3).build(X).bandwidth is None
    with pytest.raises(ValueError, match="Sensitivity needs RBF weights"):
        EVSC(KNN(5, n_components=3)).evaluate(X)


def test_text_and_the_command_line(tmp_path, rng):
    X = kinds(rng, 50, 8)
    criterion = as_criterion("laplacian[graph=knn[n_components=3]]")
    assert repr(criterion) == repr(LaplacianScore(KNN(n_components=3)))
    path, out = tmp_path / "X.csv", tmp_path / "ranking.csv"
    np.savetxt(path, X, delimiter=",", header=",".join("abcdefgh"), comments="")
    arguments = ["rank", str(path), "--method", "laplacian[graph=knn[n_components=3]]", "--out", str(out)]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    best = "abcdefgh"[int(np.argmin(criterion.evaluate(X)))]
    assert out.read_text().splitlines()[1].split(",")[1] == best or best in out.read_text().splitlines()[1]
