"""Graphs people have: of networkx, igraph, libpysal and scikit-learn, handed over and sliced by cross-validation."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.neighbors import KNeighborsClassifier, KNeighborsTransformer, kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fiedler import (
    KNN,
    RBF,
    Anchors,
    ClassGraph,
    Energy,
    Graph,
    LaplacianScore,
    Precomputed,
    Rayleigh,
    ReliefGraph,
    SmoothSubset,
    SpectralSelector,
    Variance,
)

X, Y = load_iris(return_X_y=True)
WINE = load_wine().data
# Rows 0 ... 4: a path 0 - 1 - 2 with weights 2 and 3, the edge 3 - 0, and row 4 alone.
EDGES, WEIGHTS = [(3, 0), (0, 1), (1, 2)], [1.0, 2.0, 3.0]
PATH = np.zeros((5, 5))
for (_i, _j), _w in zip(EDGES, WEIGHTS, strict=True):
    PATH[_i, _j] = PATH[_j, _i] = _w


def same(graph, W):
    np.testing.assert_array_equal(graph.toarray(), W)


# ---------------------------------------------------------------- doubles: what each library offers, and no more


class Networkx:
    """What is asked of a networkx graph."""

    def __init__(self, nodes, edges, directed=False):
        self.nodes, self._edges, self._directed = nodes, edges, directed

    def __iter__(self):
        return iter(self.nodes)

    def is_directed(self):
        return self._directed

    def is_multigraph(self):
        return False

    def edges(self, data, default):
        return [(i, j, attributes.get(data, default)) for i, j, attributes in self._edges]


class EdgesOfIgraph(dict):
    def attributes(self):
        return list(self)


class Igraph:
    """What is asked of an igraph graph."""

    def __init__(self, n, edges, directed=False, **attributes):
        self.n, self.edges, self._directed, self.es = n, edges, directed, EdgesOfIgraph(attributes)

    def vcount(self):
        return self.n

    def ecount(self):
        return len(self.edges)

    def get_edgelist(self):
        return self.edges

    def is_directed(self):
        return self._directed


def weighted(edges=EDGES, weights=WEIGHTS):
    return [(i, j, {"weight": w}) for (i, j), w in zip(edges, weights, strict=True)]


def test_doubles_of_other_libraries_hand_over_their_weights():
    same(Graph.of(Networkx([3, 0, 1, 2, 4], weighted())), PATH)  # numbered nodes are rows, however they were added
    names = [(str(i), str(j), w) for i, j, w in weighted()]
    order = ["3", "0", "1", "2", "4"]
    same(Graph.of(Networkx(order, names)), PATH[np.ix_([3, 0, 1, 2, 4], [3, 0, 1, 2, 4])])
    same(Graph.of(Igraph(5, EDGES, weight=WEIGHTS)), PATH)
    same(Graph.of(Igraph(5, EDGES)), PATH > 0)
    same(Graph.of(SimpleNamespace(n=5, sparse=sp.csr_matrix(PATH))), PATH)


def test_directed_ones_are_refused_until_a_rule_is_named():
    one_way = Igraph(5, EDGES, directed=True, weight=WEIGHTS)
    with pytest.raises(ValueError, match=r"W is not symmetric.*symmetrize='max' \(keep an edge in either"):
        Graph.of(one_way)
    same(Graph.of(one_way, symmetrize="max"), PATH)
    same(Graph.of(one_way, symmetrize="mean"), PATH / 2)
    assert Graph.of(one_way, symmetrize="min").n_edges == 0
    dense = np.triu(PATH)
    for rule in ("max", "min", "mean"):
        same(Graph.of(dense, symmetrize=rule), Graph.of(sp.csr_array(dense), symmetrize=rule).toarray())
    same(Graph.of(PATH, symmetrize="min"), PATH)  # nothing to do
    with pytest.raises(ValueError, match="symmetrize must be one of 'max', 'min', 'mean', got 'or'"):
        Graph.of(PATH, symmetrize="or")


def test_loops_count_once_and_parallel_edges_add_up():
    edges = [(0, 0, {"weight": 5.0}), (0, 1, {}), (1, 0, {"weight": 2.0})]
    same(Graph.of(Networkx([0, 1], edges)), [[5, 3], [3, 0]])


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (np.ones((3, 2)), r"got shape \(3, 2\).*pass a fiedler\.Graph"),
        (np.empty((0, 0)), r"got shape \(0, 0\)"),
        (Networkx([0, 1], [(0, 1, {"weight": "near"})]), "attribute 'weight' .* must hold numbers"),
        (Networkx([0, 1], [(0, 1, {"weight": None})]), "W contains NaN"),
        (Igraph(2, [(0, 1)], weight=[-1.0]), "negative weights such as -1"),
    ],
)
def test_graphs_that_are_none(graph, message):
    with pytest.raises(ValueError, match=message):
        Graph.of(graph)


def test_a_graph_with_too_few_nodes_says_what_is_missing():
    with pytest.raises(ValueError, match=r"W is 2 x 2, but X has 5 rows.*networkx graph must have one node per row"):
        LaplacianScore(Networkx([0, 1], weighted([(0, 1)], [1.0]))).evaluate(X[:5])


# ---------------------------------------------------------------- the real ones, where they are installed


def test_networkx():
    nx = pytest.importorskip("networkx")
    graph = nx.Graph()
    graph.add_weighted_edges_from([(*edge, w) for edge, w in zip(EDGES, WEIGHTS, strict=True)])
    graph.add_node(4)
    same(Graph.of(graph), PATH)
    same(Graph.of(nx.DiGraph(graph)), PATH)
    same(Graph.of(nx.MultiGraph(graph)), PATH)
    named = nx.relabel_nodes(graph, dict(enumerate("abcde")))
    same(Graph.of(named), nx.to_numpy_array(named))
    karate = nx.karate_club_graph()
    F = np.random.default_rng(0).normal(size=(34, 3))
    expected = Rayleigh(Precomputed(nx.to_numpy_array(karate))).evaluate(F)
    np.testing.assert_allclose(LaplacianScore(karate).evaluate(F), expected)
    assert repr(clone(LaplacianScore(karate))) == "LaplacianScore(graph=<Graph>)"
    assert SpectralSelector(LaplacianScore(karate), n_features_to_select=1).fit(F).n_features_ == 1


def test_igraph():
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph(n=5, edges=EDGES, edge_attrs={"weight": WEIGHTS})
    same(Graph.of(graph), PATH)
    same(Graph.of(igraph.Graph(n=5, edges=EDGES)), PATH > 0)
    same(Graph.of(igraph.Graph(n=5, edges=EDGES, directed=True), symmetrize="max"), PATH > 0)
    assert LaplacianScore(graph).evaluate(X[:5]).shape == (4,)


@pytest.mark.filterwarnings("ignore")  # of libpysal's own, about islands and other packages
def test_libpysal():
    pytest.importorskip("libpysal")
    import libpysal.weights
    from libpysal.graph import Graph as Spatial

    places = np.random.default_rng(0).random((30, 2))
    ours = KNN(4, weight="binary").build(places)
    same(Graph.of(Spatial.build_knn(places, 4), symmetrize="max"), ours.toarray())
    weights = libpysal.weights.KNN.from_array(places, 4)
    same(Graph.of(weights, symmetrize="max"), ours.toarray())
    with pytest.raises(ValueError, match="W is not symmetric"):
        Graph.of(weights)
    alone = Spatial.from_arrays(np.array([0, 1, 2]), np.array([1, 0, 2]), np.array([1, 1, 0]))
    same(Graph.of(alone), [[0, 1, 0], [1, 0, 0], [0, 0, 0]])


def test_geary_c_of_a_spatial_graph():
    """On a graph of places the Laplacian score is Geary's c, degree-weighted: spatially variable features."""
    places = np.argwhere(np.ones((6, 6)))
    near = kneighbors_graph(places, 4)
    graph = Graph.of(near, symmetrize="max")
    F = np.column_stack([places[:, 0], np.random.default_rng(0).permutation(places[:, 0])]).astype(float)
    W, d = graph.toarray(), graph.degree
    for f, score in zip(F.T, LaplacianScore(graph).evaluate(F), strict=True):
        centred = f - f @ d / d.sum()
        assert score == pytest.approx(0.5 * np.sum(W * (f[:, None] - f) ** 2) / (d @ centred**2))
    assert SpectralSelector(LaplacianScore(graph), n_features_to_select=1).fit(F).order_[0] == 0


# ---------------------------------------------------------------- scikit-learn's neighbours


@pytest.mark.parametrize("rows", [WINE, np.repeat(WINE[:40], 2, axis=0)], ids=["rows", "copies"])
def test_distances_of_scikit_learns_transformer_are_our_own_neighbours(rows):
    """Its self entries are dropped, zeros between copies are kept, and directions are joined as KNN joins them."""
    ours = KNN(5).build(rows)
    for D in (KNeighborsTransformer(n_neighbors=5).fit_transform(rows), kneighbors_graph(rows, 5, mode="distance")):
        with pytest.raises(ValueError, match=r"not symmetric.*distances=True if it holds distances"):
            Precomputed(D).build(rows)
        given = Precomputed(D, distances=True, symmetrize="max").build(rows)
        np.testing.assert_allclose(given.toarray(), ours.toarray(), rtol=1e-9)
        assert given.bandwidth == pytest.approx(ours.bandwidth)


def test_connectivities_of_scikit_learn():
    W = kneighbors_graph(WINE, 5)
    np.testing.assert_array_equal(Graph.of(W, symmetrize="max").toarray(), KNN(5, "binary").build(WINE).toarray())
    mutual = Graph.of(W, symmetrize="min").toarray()
    assert mutual.sum() < KNN(5, "binary").build(WINE).toarray().sum()
    np.testing.assert_array_equal(mutual, W.toarray() * W.toarray().T)
    itself = KNeighborsTransformer(n_neighbors=6, mode="connectivity").fit_transform(WINE)
    loops = Graph.of(itself, symmetrize="max")
    assert (loops.toarray().diagonal() == 1).all()  # the diagonal is kept, and counts in the degrees alone
    plain = Graph.of(W, symmetrize="max")
    even = WINE / WINE.std(axis=0)
    np.testing.assert_allclose(Energy(loops).evaluate(even), Energy(plain).evaluate(even), rtol=1e-12)
    np.testing.assert_array_equal(loops.degree, plain.degree + 1)


def test_bad_distances():
    for bad in (np.nan, -1.0, np.inf):
        D = np.array([[0.0, bad], [bad, 0.0]])
        for kind in (np.asarray, sp.csr_array):
            with pytest.raises(ValueError, match="W holds negative, infinite or missing distances"):
                Graph.of(kind(D), distances=True)
    with pytest.raises(ValueError, match="a Graph holds weights already"):
        Graph.of(Graph.of(PATH), distances=True)
    with pytest.warns(UserWarning, match=r"bandwidth=0\.001 is so small that all weights between 2 rows"):
        Graph.of(sp.csr_array([[0.0, 4.0], [4.0, 0.0]]), distances=True, bandwidth=1e-3)


# ---------------------------------------------------------------- some rows of a graph


@pytest.mark.parametrize("recipe", [KNN(4), RBF(), Anchors(5), ClassGraph(), ReliefGraph(3)], ids=repr)
def test_rows_of_a_graph_are_the_induced_subgraph(recipe):
    graph = recipe.build(X, Y)
    W, rows = graph.toarray(), np.random.default_rng(0).permutation(len(X))[:60]
    mask = np.zeros(len(X), dtype=bool)
    mask[rows] = True
    for chosen in (rows, mask, slice(10, 90, 2), rows[[0, 0, 1]]):
        part = graph[chosen]
        places = np.arange(len(X))[chosen]
        assert part.storage == graph.storage
        assert part.shape == (len(part),) == (len(places),)
        np.testing.assert_allclose(part.toarray(), W[np.ix_(places, places)], atol=1e-15)
    set_by_hand = isinstance(recipe, (Anchors, ReliefGraph)) and np.allclose(graph.degree, 1)
    expected = np.ones(60) if set_by_hand else W[np.ix_(rows, rows)].sum(axis=1)
    np.testing.assert_allclose(graph[rows].degree, expected, atol=1e-12)


def test_a_graph_is_not_a_sequence():
    graph = Graph.of(PATH)
    with pytest.raises(TypeError):
        iter(graph)
    with pytest.raises(TypeError, match=r"use graph\.toarray\(\)"):
        np.asarray(graph)
    same(pickle.loads(pickle.dumps(graph))[[0, 1]], [[0, 2], [2, 0]])


# ---------------------------------------------------------------- cross-validation


GIVEN = LaplacianScore(Precomputed())


def test_a_graph_survives_cross_validation():
    graph = KNN(7).build(X)
    selector = SpectralSelector(GIVEN, n_features_to_select=2)
    with sklearn.config_context(enable_metadata_routing=True):
        pipe = make_pipeline(StandardScaler(), selector.set_fit_request(graph=True), KNeighborsClassifier())
        options = {"cv": KFold(4, shuffle=True, random_state=0), "params": {"graph": graph}, "error_score": "raise"}
        result = cross_validate(pipe, X, Y, return_estimator=True, return_indices=True, **options)
        assert cross_val_score(pipe, X, Y, **options).min() > 0.8
        grid = {"spectralselector__n_features_to_select": [1, 3]}
        search = GridSearchCV(pipe, grid, error_score="raise").fit(X, Y, graph=graph)
        assert search.best_score_ > 0.9
    for fitted, rows in zip(result["estimator"], result["indices"]["train"], strict=True):
        inside = Precomputed(graph.toarray()[np.ix_(rows, rows)])
        expected = LaplacianScore(inside).evaluate(StandardScaler().fit_transform(X[rows]))
        np.testing.assert_allclose(fitted[1].scores_, expected, rtol=1e-10)


def test_a_graph_goes_through_a_pipeline_without_routing_too():
    pipe = make_pipeline(SpectralSelector(GIVEN, n_features_to_select=2), KNeighborsClassifier())
    params = {"spectralselector__graph": KNN(7).build(X)}
    assert cross_val_score(pipe, X, Y, params=params, error_score="raise").mean() > 0.9


def test_a_matrix_is_sliced_by_rows_only_and_says_so():
    pipe = make_pipeline(SpectralSelector(GIVEN), KNeighborsClassifier())
    params = {"spectralselector__graph": KNN(7).build(X).toarray()}
    with pytest.raises(ValueError, match=r"got shape \(120, 150\).*pass a fiedler\.Graph"):
        cross_val_score(pipe, X, Y, params=params, error_score="raise")
    fixed = make_pipeline(SpectralSelector(LaplacianScore(KNN(7).build(X))), KNeighborsClassifier())
    with pytest.raises(ValueError, match=r"W is 150 x 150, but X has 120 rows.*Precomputed\(\) and pass graph=Graph"):
        cross_val_score(fixed, X, Y, error_score="raise")


@pytest.mark.filterwarnings("ignore:the graph falls into 2 large components")
@pytest.mark.parametrize("wanted", [2, "fdr"])
@pytest.mark.parametrize("criterion", [GIVEN, SmoothSubset(Precomputed())])
def test_what_is_passed_is_what_is_named(criterion, wanted):
    graph = KNN(7).build(X)
    one = SpectralSelector(criterion, n_features_to_select=wanted).fit(X, graph=graph)
    other = SpectralSelector(clone(criterion).set_params(graph=graph), n_features_to_select=wanted).fit(X)
    np.testing.assert_array_equal(one.scores_, other.scores_)
    np.testing.assert_array_equal(one.order_, other.order_)
    np.testing.assert_allclose(criterion.evaluate(X, graph=graph.toarray()), one.scores_, rtol=1e-12)


def test_a_graph_that_nobody_takes_and_one_that_is_missing():
    with pytest.raises(ValueError, match=r"graph= was passed, but subset does not use it; put"):
        SpectralSelector().fit(X, graph=KNN().build(X))
    with pytest.raises(ValueError, match=r"graph= was passed, but Variance\(\) does not use it"):
        Variance().evaluate(X, graph=KNN().build(X))
    with pytest.raises(ValueError, match=r"Precomputed\(\) needs graph=.*got none"):
        SpectralSelector(GIVEN).fit(X)
    assert Precomputed().build(X[:5], graph=PATH).n_edges == 3


@pytest.mark.parametrize("kind", [np.array, sp.csr_array])
def test_complex_weights_are_refused(kind):
    with pytest.raises(ValueError, match=r"W holds complex numbers, but weights must be real; use W.real or abs\(W\)"):
        Graph.of(kind([[0, 1 + 2j], [1 + 2j, 0]]))
