"""Extensions from outside the package, through public names only: a recipe, a criterion, its test and its set form."""

import numpy as np
import pytest
from sklearn.neighbors import kneighbors_graph

from fiedler import KNN, Criterion, Graph, LaplacianScore, Problem, Rayleigh, Recipe, SpectralSelector
from fiedler.criteria import NoTest, Quotient, Scorer, SetFormula, Term, Traits
from fiedler.evaluate import compare, significance, stability


class Mutual(Recipe):
    """Edges between rows that are among the k nearest of each other."""

    def __init__(self, n_neighbors=10):
        self.n_neighbors = n_neighbors

    def make(self, problem):
        near = kneighbors_graph(problem.X, self.n_neighbors)
        return Graph.from_weights(near.minimum(near.T))


class SameParity(Recipe):
    """Edges between rows whose labels are both even or both odd; it does not look at X."""

    reads, reads_X = "classes", False

    def make(self, problem):
        codes, names = problem.supervision.classes("SameParity")
        odd = np.asarray(names, dtype=int)[codes] % 2
        return Graph.from_weights((odd[:, None] == odd).astype(float) - np.eye(len(odd)))


class Roughness(Criterion):
    """The square root of the Laplacian score: another score with the same order, so with the same test."""

    def __init__(self, graph):
        self.graph = graph

    def scorer(self, problem):
        graph = problem.graph(self.graph)

        def parts(F, columns):
            return np.array([graph.energy(F), graph.mass(F)])

        return Scorer(graph.rows, parts, lambda values, among: np.sqrt(values[0] / values[1]), n=2)

    def null(self):
        return Quotient(self.graph)


class Walks(Criterion):
    """A set criterion: what a set explains of one step of a random walk."""

    traits = Traits(greater_is_better=True)

    def __init__(self, graph):
        self.graph = graph

    def set_formula(self):
        return SetFormula((Term(self.graph, "walk", "features"),), (), 0.5)

    def null(self):
        return Quotient(self.graph)


@pytest.fixture
def planted(rng):
    y = np.arange(80) % 2
    X = rng.normal(size=(80, 12))
    X[:, :4] += 3 * y[:, None]
    return X, y


def test_a_recipe_works_wherever_a_recipe_does(planted):
    X, y = planted
    selector = SpectralSelector(LaplacianScore(Mutual()), n_features_to_select=4)
    assert set(selector.fit(X).order_[:4]) == {0, 1, 2, 3}
    assert selector.set_params(criterion__graph__n_neighbors=5).fit(X).criterion_.graph.n_neighbors == 5
    assert significance(LaplacianScore(Mutual()), X).n_folds == 10, "it reads X, so features are tested in folds"
    assert stability(LaplacianScore(Mutual()), X, k=4, n_draws=3).n_draws == 3
    assert compare({"mine": LaplacianScore(Mutual())}, X, y, n_features=[2], n_draws=2, n_jobs=1).criteria["mine"]


def test_a_recipe_that_does_not_read_X_is_tested_as_it_is(planted):
    X, y = planted
    found = significance(Rayleigh(SameParity()), X, y)
    assert found.n_folds is None
    assert set(np.flatnonzero(found.qvalues < 0.1)) == {0, 1, 2, 3}
    assert not Rayleigh(SameParity()).depends_on_scale
    assert Rayleigh(Mutual()).depends_on_scale
    problem = Problem.of(X, y)
    assert problem.graph(SameParity()) is problem.graph(SameParity())
    assert problem.with_supervision(1 - y).graph(SameParity()) is not problem.graph(SameParity())
    assert problem.with_supervision(1 - y).graph(Mutual()) is problem.graph(Mutual())


def test_a_criterion_says_how_it_is_tested(planted):
    X, _ = planted
    mine, same = significance(Roughness(KNN(5)), X), significance(LaplacianScore(KNN(5)), X)
    np.testing.assert_array_equal(mine.pvalues, same.pvalues)
    np.testing.assert_allclose(Roughness(KNN(5)).evaluate(X) ** 2, LaplacianScore(KNN(5)).evaluate(X), rtol=1e-12)
    both = 2 * Roughness(KNN(5)) * LaplacianScore(KNN(5))
    with pytest.raises(ValueError, match="has no null distribution in closed form"):
        significance(both, X)
    assert significance(both, X, n_permutations=19, n_repeats=1, n_folds=2).n_permutations == 19


def test_a_criterion_may_say_that_there_is_no_test(planted):
    class Untestable(Roughness):
        def null(self):
            return NoTest("cannot be tested; test something else.")

    with pytest.raises(ValueError, match=r"^Untestable\(KNN\(\)\) cannot be tested"):
        significance(Untestable(KNN()), planted[0])
    with pytest.raises(ValueError, match="cannot be tested"):
        significance(Untestable(KNN()) + LaplacianScore(), planted[0], n_permutations=19)


def test_a_criterion_with_a_set_form_chooses_sets(planted):
    X, _ = planted
    X[:, 3] = X[:, 0]
    selector = SpectralSelector(Walks(KNN(5)), n_features_to_select=5, screen=None).fit(X)
    assert len(selector.explained_) == 5
    assert not {0, 3} <= set(selector.order_[:5].tolist()), "a copy of a chosen feature adds nothing"
    assert SpectralSelector(Walks(KNN(5)), n_features_to_select="fdr").fit(X).pvalues_.shape == (12,)
