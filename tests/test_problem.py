"""A problem builds each graph once, whoever names it, and shares what does not depend on the labels."""

import pickle
from pathlib import Path

import numpy as np
import pytest

from fiedler import (
    KNN,
    ClassGraph,
    ConstraintScore,
    Diffusion,
    LaplacianScore,
    Precomputed,
    SpectralSelector,
    SSelect,
    summarize,
)
from fiedler.evaluate import compare, label_budget, stability, suggest_n_features, tune
from fiedler.problem import Problem


def test_a_graph_named_twice_is_built_once(rng, monkeypatch):
    built = []
    original = KNN.make
    monkeypatch.setattr(KNN, "make", lambda self, problem: built.append(self) or original(self, problem))
    from fiedler import SSelect

    X, y = rng.normal(size=(30, 4)), np.arange(30) % 2
    (SSelect() + SSelect(KNN(10), lam=0.5) + SSelect(KNN(4))).evaluate(X, y)
    assert [recipe.n_neighbors for recipe in built] == [10, 4]


class Counted(KNN):
    """A graph of neighbours that writes down, in a file, every time it is built: processes share no variable."""

    def __init__(self, log, n_neighbors=5):
        super().__init__(n_neighbors)
        self.log = log

    def make(self, problem):
        with open(self.log, "a") as file:
            file.write(f"{problem.X.shape}\n")
        return super().make(problem)

    def builds(self):
        return Path(self.log).read_text().splitlines() if Path(self.log).exists() else []


@pytest.fixture
def counted(tmp_path):
    return Counted(str(tmp_path / "builds"))


def test_other_labels_share_what_does_not_read_them(rng):
    X, y = rng.normal(size=(30, 4)), np.arange(30) % 3
    problem = Problem.of(X, y)
    twin = problem.with_supervision(y[::-1].copy())
    assert twin.graph(KNN(4)) is problem.graph(KNN(4))
    assert twin.graph(ClassGraph()) is not problem.graph(ClassGraph())
    inside = Diffusion(ClassGraph())  # reads labels through the graph inside it
    assert inside.supervised
    assert twin.graph(inside) is not problem.graph(inside)
    assert problem.graph(KNN(4)) is not problem.graph(KNN(5))
    assert Problem.of(problem, y).graph(KNN(4)) is problem.graph(KNN(4))


def test_nothing_changes_while_scores_are_computed(rng):
    X, y = rng.normal(size=(30, 4)), np.arange(30) % 3
    problem = Problem.of(X, y)
    formula = SSelect(KNN(4)) + 2.0 * ConstraintScore(1)
    first = formula.score(problem)
    scorers = [c.resolved().formula.scorer for c in (formula, ConstraintScore(1))]
    rows = [scorer(problem).rows.copy() for scorer in scorers]
    np.testing.assert_array_equal(formula.score(problem), first)
    np.testing.assert_array_equal(scorers[0](problem).rows, rows[0])
    np.testing.assert_array_equal(scorers[1](problem).rows, rows[1])


def test_whoever_asks_first_hears_the_warnings(rng):
    problem = Problem.of(rng.normal(size=(8, 3)))
    for asked in (problem, problem.with_supervision(np.arange(8) % 2)):
        with pytest.warns(UserWarning, match="the graph is complete"):
            asked.graph(KNN(9))
        asked.graph(KNN(9))  # heard already


def test_a_problem_travels_with_its_graphs(rng, counted):
    X, W = rng.normal(size=(20, 3)), np.ones((20, 20))
    problem, given = Problem.of(X), Precomputed(W)
    built = [problem.graph(counted), problem.graph(given)]
    there, recipe, other = pickle.loads(pickle.dumps((problem, counted, given)))
    for graph, asked in zip(built, (recipe, other), strict=True):
        np.testing.assert_array_equal(there.graph(asked).degree, graph.degree)
    assert len(counted.builds()) == 1
    assert there.graph(Precomputed(2.0 * W)).degree[0] == 40.0  # never taken for the one that lived where it lives now


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_comparison_builds_a_graph_once_for_all_methods_draws_and_folds(blobs, counted, n_jobs, few_random_draws):
    X, y = blobs
    methods = {
        "sselect": SSelect(counted),
        "laplacian": LaplacianScore(counted),
        "c4": ConstraintScore(4, graph=counted),
    }
    compare(methods, X, y, n_draws=4, n_features=[2], n_jobs=n_jobs)
    assert len(counted.builds()) == 1


def test_every_evaluation_builds_a_graph_once(blobs, counted, few_random_draws):
    X, y = blobs
    criterion = SSelect(counted)
    evaluations = [
        lambda: label_budget({"s": criterion}, X, y, [3, 6, 9], n_features=2, n_draws=2, n_jobs=1),
        lambda: stability(criterion, X, y, k=2, resample="labels", size=12, n_draws=3),
        lambda: tune(criterion, {"lam": [0.1, 0.5, 0.9]}, X, y, n_features=3),
        lambda: tune(criterion, {"lam": [0.1, 0.5, 0.9]}, X, y, n_features=3, by="cv", n_repeats=2),
        lambda: suggest_n_features(criterion, X, y, n_features=[2, 4]),
        lambda: summarize(fitted, X, y),
    ]
    fitted = SpectralSelector(criterion, n_features_to_select=2).fit(X, y)
    for evaluate in evaluations:
        Path(counted.log).unlink()
        evaluate()
        assert counted.builds().count(str(X.shape)) == 1  # other rows, of the report's stability, have other graphs
