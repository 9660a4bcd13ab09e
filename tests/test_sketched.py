"""Most neighbours of many sparse rows: candidates by a sketch, chosen by true distances, with their recall."""

import numpy as np
import pytest
import scipy.sparse as sp
from inside import sketch_limits, turn
from sklearn import config_context
from stored import KINDS

from fiedler import KNN
from fiedler.data.arrays import as_source
from fiedler.engine import approximate, neighbors, products
from fiedler.engine.distances import SourceDistances, SparseDistances
from fiedler.engine.neighbors import find_neighbors
from fiedler.sources import open_source

ALL_CORES = True  # in processes of pytest-xdist too: see conftest.py

pytest.importorskip("numba")


def cells(rng, n=1500, m=300, kinds=5):
    """Logarithms of counts of some kinds of rows, mostly zero."""
    rate = rng.gamma(0.3, size=m) * np.exp(0.8 * rng.normal(size=(kinds, m)))
    return sp.csc_array(np.log1p(rng.poisson(rate[rng.integers(kinds, size=n)]).astype(float)))


def recall(found, exact):
    return np.mean([len(set(a) & set(b)) / len(b) for a, b in zip(found, exact, strict=True)])


@pytest.mark.parametrize(("k", "metric"), [(1, "cosine"), (5, "euclidean"), (5, "cosine"), (10, "euclidean")])
def test_sparse_rows_tell_their_recall(rng, metric, k):
    X = cells(rng)
    exact, _, _ = find_neighbors(X, k, metric, "exact")
    found, squared, reported = find_neighbors(X, k, metric, "approximate")
    assert reported >= 0.95
    assert recall(found, exact) == pytest.approx(reported, abs=0.03)
    assert not (found == np.arange(X.shape[0])[:, None]).any()
    i, j = np.repeat(np.arange(X.shape[0]), k), found.ravel()
    true = SparseDistances(X, metric).between(i, j)
    np.testing.assert_array_equal(squared.ravel(), true)
    graph = KNN(k, metric=metric, algorithm="approximate").build(X)
    assert graph.recall == reported
    assert graph.neighbors == "approximate"


def test_neighbours_come_in_the_order_of_true_distances(rng):
    X = cells(rng, 400)
    found, squared, _ = find_neighbors(X, 6, "euclidean", "approximate")
    assert (np.diff(squared, axis=1) >= -1e-9).all()
    assert all(len(set(row)) == 6 for row in found)


def test_norms_are_needed_to_find_neighbours_in_noise(rng):
    X = cells(rng, 2000)
    exact, _, _ = find_neighbors(X, 10, "euclidean", "exact")
    P = approximate.leading_components(X, 32)
    alone, _, _ = find_neighbors(P, 100, "euclidean", "exact")
    with_norms = approximate.sketch_of(SparseDistances(X)).keys(np.arange(2000))
    with_norms = np.argsort(with_norms, axis=1)[:, :100]
    assert 1.0 - recall(with_norms, exact) < 0.7 * (1.0 - recall(alone, exact))


def test_auto_chooses_by_cost(rng, monkeypatch):
    X = cells(rng)
    assert KNN(5).build(X).recall is None
    turn(monkeypatch, "neighbors: exact sparse", 1000)
    assert KNN(5).build(X).recall is None  # few products
    turn(monkeypatch, "neighbors: products", 0.0)
    turn(monkeypatch, "approximate: as fast", np.inf)
    assert KNN(5).build(X).recall >= 0.95
    assert KNN(5, algorithm="exact").build(X).recall is None
    turn(monkeypatch, "approximate: as fast", 0.0)  # the exact search is always faster
    assert KNN(5).build(X).recall is None
    np.testing.assert_array_equal(KNN(5).build(X).toarray(), KNN(5, algorithm="exact").build(X).toarray())
    assert KNN(5, algorithm="approximate").build(X).recall is not None


@pytest.mark.parametrize(
    ("rows", "products", "many"), [(12_000, 1e12, False), (12_001, 2e10, False), (12_001, 2.1e10, True)]
)
def test_auto_is_exact_up_to_the_documented_limits(monkeypatch, rows, products, many):
    monkeypatch.setattr(SparseDistances, "cost", products)
    distances = SparseDistances.__new__(SparseDistances)
    distances.n = rows
    assert neighbors.takes_long(distances) == many
    said = " ".join(KNN.__doc__.split())
    assert "exact up to 12,000 rows. With more rows it is exact if all distances need at most 2·10¹⁰ products" in said


def test_a_search_ends_and_says_what_it_missed(rng, monkeypatch):
    X = sp.random_array(
        (1500, 4000), density=0.02, random_state=np.random.default_rng(0), format="csc"
    )  # nothing but noise
    turn(monkeypatch, "approximate: sparse work", 20.0 * X.nnz)
    with pytest.warns(UserWarning, match=r"only \d\d% of the 5 nearest neighbours of 1500 rows"):
        graph = KNN(5, "binary", metric="cosine", algorithm="approximate").build(X)
    exact = KNN(5, "binary", metric="cosine", algorithm="exact").build(X)
    shared = (graph.toarray() * exact.toarray()).sum() / exact.toarray().sum()
    assert 0.0 < graph.recall < 0.9
    assert shared == pytest.approx(graph.recall, abs=0.15)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_few_rows_empty_rows_and_copies(rng, metric):
    X = cells(rng, 40, 30).toarray()
    X[3] = 0.0
    X[5] = X[6]
    for k in (1, 20, 39):
        found, squared, _ = find_neighbors(sp.csc_array(X), k, metric, "approximate")
        assert all(len(set(row)) == k and i not in row for i, row in enumerate(found))
        assert np.isfinite(squared).all()
    assert find_neighbors(sp.csc_array(X), 1, metric, "approximate")[0][5, 0] == 6


def test_large_and_small_numbers_fit_into_single_precision(rng):
    X = cells(rng, 300)
    expected = find_neighbors(X, 5, "euclidean", "approximate")[0]
    for scale in (2.0**200, 2.0**-200):
        np.testing.assert_array_equal(find_neighbors(X * scale, 5, "euclidean", "approximate")[0], expected)


def test_results_do_not_depend_on_threads(rng, monkeypatch):
    X = cells(rng)
    expected = find_neighbors(X, 5, "euclidean", "approximate")
    for module in ("approximate", "threads"):
        monkeypatch.setattr(f"fiedler.engine.{module}.n_threads", lambda operations=0.0: 1)
    found = find_neighbors(X, 5, "euclidean", "approximate")
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_limits_never_leave_too_few_candidates(rng):
    key = rng.normal(size=(20, 4000)).astype(np.float32)
    key[:, ::8] -= 100.0  # the keys that are looked at are the smallest ones
    for number, k in ((300, 5), (256, 32), (256, 200), (3999, 10)):
        counts = (key <= sketch_limits(key, number, k)[:, None]).sum(axis=1)
        assert counts.min() >= k
    plain = rng.normal(size=(20, 4000)).astype(np.float32)
    counts = (plain <= sketch_limits(plain, 800, 5)[:, None]).sum(axis=1)
    assert (abs(counts - 800) < 300).all()


def test_distances_of_pairs_are_the_same_with_and_without_the_compiler(rng, monkeypatch):
    X = cells(rng, 60, 50).tocsr()
    X.data[::7] *= -1.0
    i, j = rng.integers(60, size=(2, 500))
    expected = ((X.toarray()[i] - X.toarray()[j]) ** 2).sum(axis=1)
    from fiedler.engine.compiled import load

    for loaded in (load, lambda: None):
        monkeypatch.setattr(products, "kernels", lambda operations, loaded=loaded: loaded())
        np.testing.assert_allclose(products.squares_by_group(X, i, j)[:, 0], expected, rtol=1e-13)
    shuffled = sp.csr_array((X.data.copy(), X.indices.copy(), X.indptr), shape=X.shape)
    first, last = shuffled.indptr[0], shuffled.indptr[1]
    shuffled.indices[first:last] = shuffled.indices[first:last][::-1].copy()
    shuffled.data[first:last] = shuffled.data[first:last][::-1].copy()
    shuffled.has_sorted_indices = False
    monkeypatch.setattr(products, "kernels", lambda operations: load())
    np.testing.assert_allclose(products.squares_by_group(shuffled, i, j)[:, 0], expected, rtol=1e-13)


@pytest.mark.parametrize(
    ("kind", "metric"),
    [("hdf5 csr", "euclidean"), ("hdf5 csr", "cosine"), ("hdf5 csc", "cosine"), ("h5ad csr", "euclidean")],
)
def test_sparse_files_beyond_memory_are_sketched_in_passes(tmp_path, rng, kind, metric):
    X = cells(rng, 800).toarray()
    X[3] = 0.0
    exact, _, _ = find_neighbors(sp.csc_array(X), 5, metric, "exact")
    source = KINDS[kind].open(KINDS[kind].save(tmp_path, X))
    with config_context(working_memory=0.5):
        assert not source.small
        assert len(source.slabs()) > 1
        found, squared, reported = find_neighbors(source, 5, metric, "approximate")
        assert KNN(5, metric=metric, algorithm="approximate").build(source).neighbors == "approximate"
    assert reported >= 0.95
    assert recall(found, exact) == pytest.approx(reported, abs=0.05)
    assert all(len(set(row)) == 5 and i not in row for i, row in enumerate(found))
    true = SparseDistances(sp.csc_array(X), metric).between(np.repeat(np.arange(len(X)), 5), found.ravel())
    np.testing.assert_allclose(squared.ravel(), true, rtol=1e-12)


def test_sparse_blocks_of_dask_are_sketched_where_they_are(rng):
    da = pytest.importorskip("dask.array")
    X = cells(rng, 500)
    blocks = da.from_array(X.toarray(), chunks=(500, 60)).map_blocks(sp.csc_array)
    found, _, reported = find_neighbors(as_source(blocks), 5, "cosine", "approximate")
    assert recall(found, find_neighbors(X, 5, "cosine", "exact")[0]) == pytest.approx(reported, abs=0.05)
    assert reported >= 0.95


def test_the_sketch_of_a_file_is_that_of_the_rows(tmp_path, rng):
    X = cells(rng, 400)
    source = open_source(KINDS["hdf5 csr"].save(tmp_path, X.toarray()))
    rows = np.arange(400)
    for metric in ("euclidean", "cosine"):
        in_memory = approximate.sketch_of(SparseDistances(X, metric)).keys(rows)
        with config_context(working_memory=0.2):
            assert len(source.slabs()) > 1
            streamed = approximate.sketch_of(SourceDistances(source, metric)).keys(rows)
        np.testing.assert_allclose(streamed, in_memory, atol=1e-5)


def test_a_sparse_file_that_fits_into_memory_is_searched_like_an_array(tmp_path, rng, monkeypatch):
    X = cells(rng, 600)
    source = open_source(KINDS["hdf5 csr"].save(tmp_path, X.toarray()))
    monkeypatch.setattr("fiedler.engine.neighbors.SourceDistances", None)  # no pass over the file
    assert source.small
    assert source.take_rows(np.arange(100)).small
    for algorithm in ("exact", "approximate"):
        found, expected = (find_neighbors(rows, 5, "cosine", algorithm) for rows in (source, X))
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_array_equal(a, b)


def test_candidates_are_compared_in_several_passes_and_few_ones_say_what_they_missed(tmp_path, rng, monkeypatch):
    X = cells(rng, 600)
    source = open_source(KINDS["hdf5 csr"].save(tmp_path, X.toarray()))
    with config_context(working_memory=0.5):
        one, passes = find_neighbors(source, 5, "euclidean", "approximate"), []
        by_products = SourceDistances.by_products
        monkeypatch.setattr(
            SourceDistances, "by_products", lambda self, i, j: passes.append(len(i)) or by_products(self, i, j)
        )
        monkeypatch.setattr(approximate, "budget", lambda: 4 * 20_000)
        several = find_neighbors(source, 5, "euclidean", "approximate")
        assert len(passes) > 1
        assert max(passes) <= 20_000
        for a, b in zip(one, several, strict=True):
            np.testing.assert_array_equal(a, b)
        turn(monkeypatch, "approximate: choosing", 0)
        assert find_neighbors(source, 5, "euclidean", "approximate")[2] < 0.9 * one[2]


def test_products_of_pairs_are_the_same_with_and_without_the_compiler(rng, monkeypatch):
    X = cells(rng, 60, 50).tocsr()
    i, j = rng.integers(60, size=(2, 500))
    expected = (X.toarray()[i] * X.toarray()[j]).sum(axis=1)
    from fiedler.engine.compiled import load

    for loaded in (load, lambda: None):
        monkeypatch.setattr(products, "kernels", lambda operations, loaded=loaded: loaded())
        np.testing.assert_allclose(products.row_products(X, i, j), expected, rtol=1e-13)
