"""[DV] Doquire and Verleysen 2011, Laplacian scores for regression: section 3.2 and Fig. 1.

Fig. 1 is the error of 5-NN on the first features of a ranking: five folds, ten times anew. In each fold the
features are ranked on the training rows, of which a few show their output, and every test row is predicted from the
training rows with all their outputs. The claims on Nitrogen are asked again of first differences of the spectra, with
exp(-d²/t) in LS (``SETTING``). What SSLS is made of, and other readings of the weights and of section 3.2, were asked
once; their tables are on record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.interpolate import make_lsq_spline
from sklearn.neighbors import KNeighborsRegressor, kneighbors_graph

import fiedler as fd
from fiedler import KNN, Correlation, Criterion, LaplacianScore, Precomputed, SemiTarget
from fiedler.datasets import make_target_problem
from fiedler.evaluate.held_out import folds, predicted, read_target, whole_seed
from fiedler.problem import Problem
from fiedler.selection.choice import rank

from .. import data
from ..pages import number, table
from ..runner import Found, Options
from .common import Curve, Finding, found, listed, printed

N_SETS = 1000  # artificial data sets of each problem, in the paper too
FIGURE_1, FURTHER = ("juice", "nitrogen", "census"), ("nitrogen-raw", "communities")
SETTING = "nitrogen-differences"  # the setting under which the claims on Nitrogen come out, found by search
PAPER, BASELINES, BY_X = ("LS", "SLS", "SSLS", "correlation"), ("variance", "random", "all"), "SSLS, close by x"
SIZES = (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 100)
_LABELS, _RANDOM, _FOLDS = range(3)  # what a draw is seeded for


class RegressionSet(NamedTuple):
    """A data set with a real target, and the two numbers of outputs that are shown."""

    title: str
    X: np.ndarray
    y: np.ndarray
    n_labels: tuple[int, int]
    unit: str  # of the output, or its name where the unit is not stored
    squared: bool = False  # whether the weights of LS are exp(-d²/t) instead of exp(-d/t)


def load_set(name: str) -> RegressionSet:
    """juice, nitrogen (splines), nitrogen-raw, nitrogen-differences, census or communities."""
    stored = {
        "nitrogen-raw": "nitrogen",
        SETTING: "nitrogen",
        "census": "census_house_36",
        "communities": "communities_house",
    }
    X, y, _ = data.paper_set(stored.get(name, name))
    y = np.asarray(y, dtype=np.float64)
    if name == "juice":
        return RegressionSet("Juice", X, y, (7, 10), "saccharose")
    if name == "nitrogen":
        return RegressionSet("Nitrogen, 105 B-splines", spline_coordinates(X), y, (7, 10), "nitrogen")
    if name == SETTING:
        splines = spline_coordinates(np.diff(X, axis=1))
        return RegressionSet("Nitrogen, first differences, exp(-d²/t)", splines, y, (7, 10), "nitrogen", True)
    if name == "nitrogen-raw":
        return RegressionSet("Nitrogen, 1050 wavelengths", X, y, (7, 10), "nitrogen")
    if name == "census":
        return RegressionSet("Census-house, 36 attributes", X[:2048], y[:2048] / 1000, (70, 100), "$1000")
    return RegressionSet("Communities, house value", X, y / 1000, (70, 100), "$1000")


def spline_coordinates(X: np.ndarray, n_coordinates: int = 105, degree: int = 3) -> np.ndarray:
    """Each row, read as a curve on a regular grid, in a B-spline basis with equal knots: least squares."""
    inner = np.linspace(0.0, 1.0, n_coordinates - degree + 1)
    knots = np.concatenate([np.zeros(degree), inner, np.ones(degree)])
    return make_lsq_spline(np.linspace(0.0, 1.0, X.shape[1]), X.T, knots, k=degree).c.T


def printed_graph(Z: np.ndarray, n_neighbors: int = 5) -> Precomputed:
    """[DV] eq. 1 to the letter: exp(-d) with t = 1, the distance not squared as it is in KNN()."""
    W = kneighbors_graph(Z, n_neighbors, mode="distance")
    W = W.maximum(W.T)  # an edge where either is a neighbour of the other; its length is the same both ways
    W.data = np.exp(-W.data)
    return Precomputed(W)


CRITERIA: dict[str, Callable[[np.ndarray], Criterion]] = {
    "LS": lambda Z: LaplacianScore(printed_graph(Z)),
    "SLS": lambda Z: fd.SupervisedLaplacianScore(),
    "SSLS": lambda Z: fd.SemiSupervisedLaplacianScore(),
    BY_X: lambda Z: fd.SemiSupervisedLaplacianScore(SemiTarget(close="x")),
    "correlation": lambda Z: Correlation(),
}


class Curves(NamedTuple):
    """RMSE per repeat and size of every method on one data set; methods that read no output stand under 0 labels."""

    data: RegressionSet
    sizes: np.ndarray
    rmse: dict[tuple[str, int], np.ndarray]
    copies: dict[tuple[str, int], float]  # mean |r| among the first ten features

    def values(self, method: str, n_labels: int) -> np.ndarray:
        return self.rmse.get((method, n_labels), self.rmse.get((method, 0)))

    def curve(self, method: str, n_labels: int) -> np.ndarray:
        return self.values(method, n_labels).mean(axis=0)

    def mean(self, method: str, n_labels: int = 0) -> float:
        """Over repeats and sizes."""
        return float(self.values(method, n_labels).mean())

    def better(self, first: str, second: str) -> bool:
        """Whether a method has the lower error on average and at most sizes, with both numbers of labels."""
        pairs = [(self.curve(first, n), self.curve(second, n)) for n in self.data.n_labels]
        return all(a.mean() < b.mean() and np.mean(a < b) > 0.5 for a, b in pairs)

    def versus(self, first: str, second: str, numbers: Sequence[int] | None = None) -> str:
        """Mean errors of a method and of another one, and at how many sizes and repeats the first is lower."""
        told = []
        for n in numbers or self.data.n_labels:
            a, b = self.values(first, n), self.values(second, n)
            sizes, repeats = (np.sum(a.mean(axis=axis) < b.mean(axis=axis)) for axis in (0, 1))
            means = f"{n} labels: {first} {short(a.mean())}, {second} {short(b.mean())}"
            told.append(f"{means}, lower at {sizes} of {a.shape[1]} sizes and in {repeats} of {len(a)} repeats")
        return "; ".join(told)


def curves_of(name: str, sizes: Sequence[int], n_repeats: int, options: Options) -> Curves:
    chosen = load_set(name)
    fitting = np.array([size for size in sizes if size <= chosen.X.shape[1]])
    repeats = options.map(one_repeat, [(chosen, fitting, repeat) for repeat in range(n_repeats)])
    rmse = {key: np.array([errors[key] for errors, _ in repeats]) for key in repeats[0][0]}
    copies = {key: float(np.mean([alike[key] for _, alike in repeats])) for key in repeats[0][1]}
    return Curves(chosen, fitting, rmse, copies)


def one_repeat(
    chosen: RegressionSet, sizes: np.ndarray, repeat: int
) -> tuple[dict[tuple[str, int], np.ndarray], dict[tuple[str, int], float]]:
    """One five-fold cross-validation of all methods: RMSE per size, and mean |r| among the first ten features."""
    Z = (chosen.X - chosen.X.mean(axis=0)) / chosen.X.std(axis=0)
    model = KNeighborsRegressor(5, algorithm="brute")  # trees are slower here from ten features on
    target = read_target(chosen.y, len(Z), model, None)
    splits = folds(target, 5, model, np.random.default_rng([0, repeat, _FOLDS]))
    each_fold = [rankings(chosen, Z, train, [0, repeat, fold]) for fold, (train, _) in enumerate(splits)]
    orders = {key: [fold[key] for fold in each_fold] for key in each_fold[0]}
    rmse = {key: predicted(Problem(Z), target, made, sizes, splits, model) for key, made in orders.items()}
    everything = np.arange(Z.shape[1])
    rmse["all", 0] = predicted(Problem(Z), target, [everything], [len(everything)], splits, model)
    return rmse, {key: float(np.mean([likeness(Z, order[:10]) for order in made])) for key, made in orders.items()}


def rankings(chosen: RegressionSet, Z: np.ndarray, train: np.ndarray, seed: list[int]) -> dict[tuple[str, int], Any]:
    """Columns, best first, by every method that sees the training rows and some of their outputs.

    The outputs shown have mean 0 and deviation 1, as in the paper; the graphs would scale them themselves.
    """
    rng = np.random.default_rng([*seed, _LABELS])
    shown = rng.permutation(len(train))  # the labels of the larger number include those of the smaller
    made = {
        ("random", 0): np.random.default_rng([*seed, _RANDOM]).permutation(Z.shape[1]),
        ("variance", 0): np.argsort(-chosen.X[train].var(axis=0), kind="stable"),  # before the features are scaled
    }
    ls = LaplacianScore(KNN(5, bandwidth=np.sqrt(0.5))) if chosen.squared else CRITERIA["LS"](Z[train])  # 2δ² = t = 1
    made["LS", 0] = rank(ls.resolved(), Problem.of(Z[train])).order
    for n_labels in chosen.n_labels:
        y, outputs = np.full(len(train), np.nan), chosen.y[train][shown[:n_labels]]
        y[shown[:n_labels]] = (outputs - outputs.mean()) / outputs.std()
        for method in (*PAPER[1:], BY_X):
            made[method, n_labels] = rank(CRITERIA[method](Z[train]).resolved(), Problem.of(Z[train], y)).order
    return made


def likeness(Z: np.ndarray, columns: np.ndarray) -> float:
    """Mean |r| between two of these columns."""
    return float(np.abs(np.corrcoef(Z[:, columns].T)[np.triu_indices(len(columns), 1)]).mean())


METHODS = {"SLS": fd.SupervisedLaplacianScore(), "correlation": Correlation()}  # with k = 5 and n = 1000


def hits(problem: int, method: str, numbers: Sequence[int]) -> int:
    """How many of these data sets have their informative features on top."""
    count = 0
    for number_of_set in numbers:
        X, y, informative = make_target_problem(problem, 1000, random_state=whole_seed([0, problem, number_of_set]))
        count += set(rank(METHODS[method].resolved(), Problem.of(X, y)).order[: len(informative)]) == set(informative)
    return count


def ssls(options: Options) -> Found:
    n_sets, repeats = (40, 2) if options.quick else (N_SETS, 10)
    names, sizes = (
        ((*FIGURE_1, SETTING), (1, 3, 10, 30, 60, 100)) if options.quick else ((*FIGURE_1, *FURTHER, SETTING), SIZES)
    )
    chunks, curves = np.array_split(np.arange(n_sets), 20), {n: curves_of(n, sizes, repeats, options) for n in names}
    counts = options.map(hits, [(problem, m, chunk) for m in METHODS for problem in (1, 2) for chunk in chunks])
    share = dict(zip(METHODS, 100 * np.reshape(counts, (len(METHODS), 2, 20)).sum(axis=2) / n_sets, strict=True))
    answers = on_section_3(share, n_sets) | on_figure_1(curves)
    again = {key.replace(SETTING, "nitrogen"): answers.pop(key) for key in list(answers) if key.startswith(SETTING)}
    return found("ssls", options, tables(share, curves), answers, figures(curves), again)


def tables(share: dict[str, np.ndarray], curves: dict[str, Curves]) -> Found:
    """Percentage of data sets of Y1 and Y2 whose informative features come out on top; mean errors; alike features."""
    shown, alike = (*PAPER, BY_X, *BASELINES), (*PAPER, "variance", "random")
    both = [(c, n) for c in curves.values() for n in c.data.n_labels]
    means = [[c.data.title, n, *(short(c.mean(method, n)) for method in shown)] for c, n in both]
    copies = {c.data.title: [c.copies.get((m, n), c.copies.get((m, 0))) for m in alike] for c, n in both[::2]}
    return {
        "artificial": table("% of data sets", ["Y1", "Y2"], share, 1),
        "means": (["data set", "labels", *shown], means),
        "alike": table("mean abs. correlation", alike, copies),
    }


def short(value: float) -> str:
    """Three decimals, two from 10 on."""
    return number(value, 3 if value < 10 else 2)


def on_section_3(share: dict[str, np.ndarray], n_sets: int) -> dict[str, Finding]:
    """Percentages agree if they differ by less than two standard errors, half a percent of rounding granted."""
    made: dict[str, Finding] = {}
    told = "; ".join(f"{method} {listed(values, '.1f')} %" for method, values in share.items())
    for method, theirs in printed("ssls-artificial").items():
        error = np.sqrt(theirs * (100 - theirs) * (1 / N_SETS + 1 / n_sets))
        made[f"artificial-{method}"] = bool(np.all(np.abs(theirs - share[method]) <= 2 * error + 0.5)), told
    return made | {"artificial-advantage": (bool(np.all(share["SLS"] > share["correlation"])), told)}


def on_figure_1(curves: dict[str, Curves]) -> dict[str, Finding]:
    """What section 5 says of Fig. 1, asked of both substitutes for census-house; with both numbers of labels."""
    made: dict[str, Finding] = {}
    for name, c in curves.items():
        best = {n: min(PAPER, key=lambda method, n=n, c=c: c.mean(method, n)) for n in c.data.n_labels}
        pairs = [(c.curve(method, n), c.curve("random", n)) for n, method in best.items()]
        holds = all(a.mean() < b.mean() and np.mean(a < b) > 0.5 for a, b in pairs)
        told = "; ".join(c.versus(method, "random", [n]) for n, method in best.items())
        made[f"{name}-ranking-beats-random"] = holds, told
        told = "; ".join(c.versus(BY_X, "SSLS", [n]) for n in c.data.n_labels)
        made[f"{name}-by-x"] = c.better(BY_X, "SSLS"), told
    for name in (name for name in (*FIGURE_1, "communities", SETTING) if name in curves):
        c, labels = curves[name], curves[name].data.n_labels
        worst = [np.mean(np.argmax([c.curve(m, n) for m in PAPER], axis=0) == 0) for n in labels]  # LS is the first
        last = all(c.better(method, "LS") for method in PAPER[1:]) and min(worst) > 0.5
        made[f"{name}-ls-worst"] = last, f"share of sizes at which LS is the worst: {listed(worst, '.2f')}"
        pairs = [("ssls-beats-ls", "SSLS", "LS"), ("ssls-beats-correlation", "SSLS", "correlation")]
        if not name.startswith("nitrogen"):
            above = [np.mean(c.curve("SSLS", n) > c.curve("correlation", n)) for n in labels]
            told = f"share of sizes at which it is larger: {listed(above, '.2f')}"
            made[f"{name}-never-above-correlation"] = max(above) == 0, told
        house = name in ("census", "communities")
        pairs.append(("sls-beats-ssls", "SLS", "SSLS") if house else ("ssls-beats-sls", "SSLS", "SLS"))
        for key, first, second in pairs:
            made[f"{name}-{key}"] = c.better(first, second), c.versus(first, second)
        if name.startswith("nitrogen"):
            lowest = [{m: c.curve(m, n).min() for m in PAPER} for n in labels]
            holds = all(min(values, key=values.get) == "SSLS" for values in lowest)
            made[f"{name}-lowest"] = holds, "; ".join(map(listed, lowest))
    return made


def figures(curves: dict[str, Curves]) -> dict[str, list[Curve]]:
    """A row of panels per data set, the smaller number of labels first."""
    return {
        figure: [
            (f"{c.data.title}: {n} labels, RMSE ({c.data.unit})", method, c.sizes, c.curve(method, n) + 0.0 * c.sizes)
            for c in (curves[name] for name in names if name in curves)
            for n in c.data.n_labels
            for method in (*PAPER, *BASELINES)
        ]
        for figure, names in (("fig1", FIGURE_1), ("further", (SETTING, *FURTHER)))
    }
