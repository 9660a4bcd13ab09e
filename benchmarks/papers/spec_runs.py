"""The computations behind spec.py: the rankings of [SPEC] Tables 3 and 4 and their 1-NN accuracy.

    unsupervised  φ1, φ2, φ3 with γ(r) = r and r⁴ on two graphs without labels: RBF weights, diffusion kernel
    supervised    φ1, φ2, φ3 on two graphs of the labels: R (eq. 12, ReliefF's) and C (eq. 2, the classes)

Every ranking is judged by 5-fold 1-NN on all rows, ``n_draws`` times with other folds. Worker processes get names and
numbers only and load their own data.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import joblib
import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from fiedler import (
    KNN,
    RBF,
    SPEC,
    ClassGraph,
    Criterion,
    Diffusion,
    Energy,
    FisherScore,
    Graph,
    LaplacianScore,
    Recipe,
    ReliefGraph,
)
from fiedler.selection.ranking import rank_features

from ..data import paper_set, paper_set_info
from .sselect_runs import nearest_neighbor_right, stratified_folds

TEXTS, FACES = ("HOCKBASE", "RELATHE"), ("PIE10P", "PIX10P")
CORRECTED = "RELATHE, corrected"  # the same documents with the right labels
FILES = {
    "HOCKBASE": "BASEHOCK",
    "RELATHE": "RELATHE",
    CORRECTED: "RELATHE",
    "PIE10P": "warpPIE10P",
    "PIX10P": "pixraw10P",
}
KERNELS = ("RBF", "DIF")
COLUMNS = {f"φ{phi}, {power}": (phi, gamma) for phi in (1, 2, 3) for power, gamma in (("r", 1), ("r⁴", 4))}
LS, RANDOM, ALL = "LS", "random", "all features"
RLF, RLF_AS_GIVEN, FISHER = "RLF", "RLF, as given", "Fisher"
ON_LABELS = (RLF, *(f"{graph}, φ{phi}" for graph in "RC" for phi in (1, 2, 3)))  # the columns of Table 4
UNSUPERVISED = (LS, *(f"{kernel} {column}" for kernel in KERNELS for column in COLUMNS))
SUPERVISED = (*ON_LABELS, RLF_AS_GIVEN, FISHER)
N_NEIGHBORS = 10  # [SPEC] 4.2, of the graph; for ReliefF the paper prints no number
N_FOLDS = 5
MOST = 100  # features of Tables 3 and 4
GRAPHS: dict[str, Callable[[float], Recipe]] = {  # of a width in units of the usual one, or β
    "10-NN": lambda width: KNN(N_NEIGHBORS, bandwidth=width),
    "full": lambda scale: RBF(scale=scale),
    "diffusion": lambda beta: Diffusion(beta=beta),
}
USUAL = {"RBF": ("10-NN", 1, False), "DIF": ("diffusion", 1, False)}  # the settings of Table 3: see ``with_setting``
_ORDER, _FOLDS, _RANDOM = range(3)  # what is seeded

Scores = tuple[np.ndarray, bool]  # one per feature, and whether large is good
Rankings = tuple[dict[str, np.ndarray], dict[str, float], dict[str, float]]  # first features, gaps, facts


@dataclass(frozen=True)
class Plan:
    """How much of the experiment is run."""

    sets: tuple[str, ...] = ("HOCKBASE", "RELATHE", CORRECTED, "PIE10P", "PIX10P")
    n_draws: int = 10  # "averaging the accuracy from 10 trials"
    random_draws: int = 20
    sizes: tuple[int, ...] = tuple(range(10, MOST + 1, 10))
    folds: tuple[int, ...] = (2, 3, 4, 5, 10)
    face_settings: tuple[tuple, ...] = tuple(
        (graph, width, unit)
        for graph, widths in (("10-NN", (0.5, 1, 2)), ("full", (0.5, 1)), ("diffusion", (0.1, 1, 10)))
        for unit in (False, True)
        for width in widths
    )
    text_settings: tuple[tuple, ...] = (("10-NN", 1, True), ("diffusion", 1, True), ("diffusion", 10, False))
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Results:
    """Accuracies of every set and method; how far the paper's identities are from equality; facts about a set.

    ``curves[set, method]`` has one row per draw and one column per size (one in all for all features);
    ``held_out[set, method]`` has one value per draw at 100 features; ``settings[set, setting]`` and ``folds[set, n]``
    have one value per column of Table 3.
    """

    plan: Plan
    curves: Mapping[tuple[str, str], np.ndarray]
    held_out: Mapping[tuple[str, str], np.ndarray]
    gaps: Mapping[str, Mapping[str, float]]
    facts: Mapping[str, Mapping[str, float]]
    settings: Mapping[tuple[str, tuple], np.ndarray]
    folds: Mapping[tuple[str, int], np.ndarray]

    def at_most(self, name: str, method: str) -> float:
        """Mean accuracy with 100 features (or with all)."""
        return float(self.curves[name, method][:, -1].mean())

    def level(self, name: str, method: str) -> float:
        """Mean accuracy over draws and numbers of features."""
        return float(self.curves[name, method].mean())

    def table_3_row(self, name: str, kernel: str) -> np.ndarray:
        return np.array([self.at_most(name, f"{kernel} {column}") for column in COLUMNS])

    def with_setting(self, name: str, setting: tuple) -> np.ndarray | None:
        """The same row for another graph or scaling; None if it was not run."""
        usual = {value: kernel for kernel, value in USUAL.items()}
        return self.table_3_row(name, usual[setting]) if setting in usual else self.settings.get((name, setting))

    def present(self, names: Sequence[str]) -> list[str]:
        return [name for name in names if name in self.plan.sets]


def run_all(plan: Plan, n_jobs: int) -> Results:
    names = plan.sets
    own_rows = [name for name in names if name != CORRECTED]  # graphs without labels are the same
    tasks = [(unsupervised, name, plan.seed) for name in own_rows] + [(supervised, name, plan.seed) for name in names]
    found = _in_parallel("rankings", n_jobs, tasks)
    orders, gaps, facts = ({name: {} for name in names} for _ in range(3))
    for (_, name, _), results in zip(tasks, found, strict=True):
        for of_set, result in zip((orders, gaps, facts), results, strict=True):
            of_set[name] |= result
    if CORRECTED in names:
        orders[CORRECTED] = orders["RELATHE"] | orders[CORRECTED]

    tasks = [(accuracies, name, order, plan) for name in names for order in orders[name].values()]
    tasks += [(random_accuracies, name, plan) for name in names] + [(all_accuracies, name, plan) for name in names]
    keys = [(name, method) for name in names for method in orders[name]]
    keys += [(name, RANDOM) for name in names] + [(name, ALL) for name in names]
    curves = dict(zip(keys, _in_parallel("Tables 3 and 4, Fig. 2", n_jobs, tasks), strict=True))

    draws = [(name, number) for name in names for number in range(plan.n_draws)]
    found = _in_parallel("labels held out", n_jobs, [(held_out, name, plan.seed, number) for name, number in draws])
    values = {name: [right for key, right in zip(draws, found, strict=True) if key[0] == name] for name in names}
    held = {(name, method): np.array([r[method] for r in values[name]]) for name in names for method in SUPERVISED}

    wanted = dict.fromkeys(FACES, plan.face_settings) | dict.fromkeys(TEXTS, plan.text_settings)
    chosen = [(name, s) for name in names for s in wanted.get(name, ()) if s not in USUAL.values()]
    tried = _in_parallel("settings", n_jobs, [(with_setting, *key, plan) for key in chosen])
    counts = [(name, n_folds) for name in FACES for n_folds in plan.folds]
    by_folds = _in_parallel("folds", n_jobs, [(with_setting, name, USUAL["RBF"], plan, n) for name, n in counts])
    settings, folds = dict(zip(chosen, tried, strict=True)), dict(zip(counts, by_folds, strict=True))
    return Results(plan, curves, held, gaps, facts, settings, folds)


def _in_parallel(what: str, n_jobs: int, tasks: Sequence[tuple]) -> list[Any]:
    with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
        results = joblib.Parallel(n_jobs=n_jobs, batch_size=1)(joblib.delayed(_alone)(*task) for task in tasks)
    print(f"spec: {what}, {len(tasks)} cells", file=sys.stderr, flush=True)
    return results


def _alone(function: Callable, *arguments: Any) -> Any:
    with threadpool_limits(1):  # also without worker processes: the same sums in the same order for any n_jobs
        return function(*arguments)


@cache
def data(name: str, seed: int) -> tuple[Any, np.ndarray]:
    """X and class codes. Files are sorted by class and counts tie, so rows are shuffled before anything else."""
    X, y, _ = paper_set(FILES[name])
    if name == CORRECTED:
        y = paper_set_info(FILES[name])["y_corrected"]
    rows = np.random.default_rng([seed, _ORDER]).permutation(len(y))
    return X[rows], np.unique(y[rows], return_inverse=True)[1]


# ------------------------------------------------------------------------------------------------------- rankings


def first_features(scores: np.ndarray, greater_is_better: bool) -> np.ndarray:
    """The best features; scores equal to twelve digits keep column order, so that rounding decides nothing."""
    largest = np.max(np.abs(scores[np.isfinite(scores)]))
    return rank_features(np.round(scores / largest, 12), greater_is_better)[:MOST]


def unsupervised(name: str, seed: int) -> Rankings:
    """The rankings of Table 3, how far LS and φ2 are apart, and the width of the graph."""
    X, y = data(name, seed)
    graphs = {"RBF": KNN(N_NEIGHBORS).build(X), "DIF": Diffusion(KNN(N_NEIGHBORS, "binary")).build(X)}
    scores = {LS: _evaluated(LaplacianScore(graphs["RBF"]), X)}
    for kernel, graph in graphs.items():
        scores |= {f"{kernel} {column}": found for column, found in _table_3_row(graph, X, y).items()}
    gaps = {"LS and φ2": _gap(scores[LS][0], scores["RBF φ2, r"][0])}
    if not sp.issparse(X):  # a function of the eigenvalues goes through all eigenpairs, as eq. 10 is printed
        by_pairs = SPEC(graphs["RBF"], phi=2, gamma=_identity).evaluate(X)
        gaps["LS and φ2 from eigenpairs"] = _gap(scores[LS][0], by_pairs)
    orders = {method: first_features(*found) for method, found in scores.items()}
    return orders, gaps, {"width": graphs["RBF"].bandwidth}


def _table_3_row(graph: Graph, X: Any, y: np.ndarray) -> dict[str, Scores]:
    """φ3 gets the number of classes as its k, nothing else of y."""
    k = int(y.max()) + 1
    return {c: _evaluated(SPEC(graph, phi, gamma, n_clusters=k), X) for c, (phi, gamma) in COLUMNS.items()}


def supervised(name: str, seed: int) -> Rankings:
    """The rankings of Table 4 with the labels of all rows, how far Theorem 5 and footnote 9 are from equality, and the
    share of rows that are zero in all of ReliefF's features."""
    X, y = data(name, seed)
    scores = label_scores(X, y)
    relief = np.abs(scores[RLF][0] + 2.0 * scores["R, φ1"][0])
    gaps = {
        "RLF and R, φ1": float(np.nanmax(relief) / np.nanmax(np.abs(scores[RLF][0]))),
        "Fisher and C, φ2": _gap(scores["C, φ2"][0], 1.0 / (1.0 + scores[FISHER][0])),
    }
    for phi in (1, 2):
        fourth = SPEC(ClassGraph(), phi, gamma=4).evaluate(X, y)
        gaps[f"C, φ{phi}, r and r⁴"] = _gap(scores[f"C, φ{phi}"][0], fourth)
    orders = {method: first_features(*found) for method, found in scores.items()}
    empty = {method: float(np.mean(~_columns(X, orders[method]).any(axis=1))) for method in (RLF, RLF_AS_GIVEN)}
    return orders, gaps, empty


def label_scores(X: Any, y: np.ndarray) -> dict[str, Scores]:
    """The columns of Table 4, ReliefF on the features as given and Fisher's score; -1 in y is a hidden label."""
    k = int(y.max()) + 1
    relief = ReliefGraph(N_NEIGHBORS).build(X, y)
    weight = -2.0 * Energy(relief)  # ReliefF on a graph that is built once
    scores = {RLF: _evaluated(weight, unit_norm(X, y >= 0)), RLF_AS_GIVEN: _evaluated(weight, X)}
    scores |= {f"R, φ{phi}": _evaluated(SPEC(relief, phi, n_clusters=k), X) for phi in (1, 2, 3)}
    scores |= {f"C, φ{phi}": _evaluated(SPEC(ClassGraph(), phi), X, y) for phi in (1, 2)}
    scores["C, φ3"] = class_phi3(scores["C, φ1"][0], scores["C, φ2"][0]), True
    scores[FISHER] = _evaluated(FisherScore(), X, y)
    return {method: scores[method] for method in SUPERVISED}


def class_phi3(phi1: np.ndarray, phi2: np.ndarray) -> np.ndarray:
    """φ3 on the class graph with γ(r) = r, from φ1 and φ2.

    With c classes λ_0 .. λ_{c-1} are 0 and all others 1 (footnote 9), so φ1 sums α² over the others, φ1/φ2 is
    1 - α_0², and what φ3 sums is the difference; no eigenvectors of c-fold and (n-c)-fold eigenvalues are needed.
    """
    return 2.0 * (phi1 / phi2 - phi1)


def unit_norm(X: Any, rows: np.ndarray) -> Any:
    """Features of unit norm on some rows, as Theorem 5 assumes."""
    part = X[np.flatnonzero(rows)]
    norms = np.sqrt(np.asarray((part * part).sum(axis=0)).ravel())
    scale = 1.0 / np.where(norms > 0, norms, 1.0)
    return sp.csr_array(X @ sp.diags_array(scale)) if sp.issparse(X) else X * scale


def _evaluated(criterion: Criterion, X: Any, y: np.ndarray | None = None) -> Scores:
    return criterion.evaluate(X, y), criterion.greater_is_better


def _identity(values: np.ndarray) -> np.ndarray:
    return values


def _gap(a: np.ndarray, b: np.ndarray) -> float:
    """Largest relative difference."""
    return float(np.nanmax(np.abs(a - b) / np.abs(a)))


# ----------------------------------------------------------------------------------------------------- accuracies


def accuracies(name: str, order: np.ndarray, plan: Plan, n_folds: int = N_FOLDS) -> np.ndarray:
    """1-NN accuracy on the first features, shape (draws, sizes); folds depend on the draw alone."""
    Z = _columns(data(name, plan.seed)[0], order)
    values = np.empty((plan.n_draws, len(plan.sizes)))
    for number in range(plan.n_draws):
        y, folds = _folds(name, plan.seed, number, n_folds)
        values[number] = [nearest_neighbor_right(Z[:, :size], y, folds).mean() for size in plan.sizes]
    return values


def random_accuracies(name: str, plan: Plan) -> np.ndarray:
    """The same for random features, drawn anew in every draw."""
    X, y = data(name, plan.seed)
    values = []
    for number in range(plan.random_draws):
        columns = np.random.default_rng([plan.seed, number, _RANDOM]).permutation(X.shape[1])[:MOST]
        Z, (y, folds) = _columns(X, columns), _folds(name, plan.seed, number)
        values.append([nearest_neighbor_right(Z[:, :size], y, folds).mean() for size in plan.sizes])
    return np.array(values)


def all_accuracies(name: str, plan: Plan) -> np.ndarray:
    """The same for all features, one column."""
    X, _ = data(name, plan.seed)
    Z = _columns(X, np.arange(X.shape[1]))
    draws = (_folds(name, plan.seed, number) for number in range(plan.n_draws))
    return np.array([[nearest_neighbor_right(Z, *draw).mean()] for draw in draws])


def held_out(name: str, seed: int, number: int) -> dict[str, float]:
    """Accuracy with 100 features when a fold is predicted with features ranked on the labels of the other folds."""
    X, _ = data(name, seed)
    y, folds = _folds(name, seed, number)
    right = {method: np.empty(len(y)) for method in SUPERVISED}
    for fold in range(N_FOLDS):
        hidden = folds == fold
        for method, found in label_scores(X, np.where(hidden, -1, y)).items():
            Z = _columns(X, first_features(*found))
            right[method][hidden] = nearest_neighbor_right(Z, y, (~hidden).astype(np.intp))[hidden]
    return {method: float(values.mean()) for method, values in right.items()}


def with_setting(name: str, setting: tuple, plan: Plan, n_folds: int = N_FOLDS) -> np.ndarray:
    """A row of Table 3 for (graph, width or β, unit norm): the graph and the scores see the scaled features."""
    X, y = data(name, plan.seed)
    graph, width, unit = setting
    Z = unit_norm(X, np.ones(len(y), dtype=bool)) if unit else X
    if graph == "10-NN":
        width = width * KNN(N_NEIGHBORS).build(Z).bandwidth
    with warnings.catch_warnings():  # wide kernels: λ_k-1 = λ_k = 1, where φ3 depends on the basis, as the page says
        warnings.filterwarnings("ignore", "n_clusters=.* cuts through a repeated eigenvalue")
        rows = _table_3_row(GRAPHS[graph](width).build(Z), Z, y).values()
    only = Plan(n_draws=plan.n_draws, sizes=(MOST,), seed=plan.seed)
    return np.array([accuracies(name, first_features(*found), only, n_folds).mean() for found in rows])


def _folds(name: str, seed: int, number: int, n_folds: int = N_FOLDS) -> tuple[np.ndarray, np.ndarray]:
    """Class codes and the fold of every row."""
    y = data(name, seed)[1]
    return y, stratified_folds(y, n_folds, np.random.default_rng([seed, number, _FOLDS]))


def _columns(X: Any, columns: np.ndarray) -> np.ndarray:
    block = X[:, columns]
    return block.toarray() if sp.issparse(block) else block
