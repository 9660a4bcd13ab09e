"""[SPEC] Zhao and Liu 2007, spectral feature selection: Tables 3 and 4, Fig. 2.

    unsupervised  φ1, φ2, φ3 with γ(r) = r and r⁴ on two graphs without labels: RBF weights, diffusion kernel
    supervised    φ1, φ2, φ3 on two graphs of the labels: R (eq. 12, ReliefF's) and C (eq. 2, the classes)

5-fold 1-NN on all rows judges every ranking, ``n_draws`` times with other folds. Worker processes get names and numbers
only and load their own data.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp

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
from ..pages import number, table
from .common import Curve, Finding, Report, in_parallel, listed, printed
from .sselect import nearest_neighbor_right, stratified_folds

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


UNIT_DIFFUSION, WIDE_DIFFUSION = ("diffusion", 1, True), ("diffusion", 10, False)
QUICK = Plan(
    sets=("RELATHE", *FACES),
    n_draws=3,
    sizes=(10, 40, MOST),
    folds=(4, N_FOLDS),
    face_settings=(UNIT_DIFFUSION, WIDE_DIFFUSION),
    text_settings=(),
)


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
    found = in_parallel("spec: rankings", n_jobs, _call, tasks)
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
    curves = dict(zip(keys, in_parallel("spec: Tables 3 and 4, Fig. 2", n_jobs, _call, tasks), strict=True))

    draws = [(name, draw) for name in names for draw in range(plan.n_draws)]
    found = in_parallel("spec: labels held out", n_jobs, held_out, [(name, plan.seed, draw) for name, draw in draws])
    values = {name: [right for key, right in zip(draws, found, strict=True) if key[0] == name] for name in names}
    held = {(name, method): np.array([r[method] for r in values[name]]) for name in names for method in SUPERVISED}

    wanted = dict.fromkeys(FACES, plan.face_settings) | dict.fromkeys(TEXTS, plan.text_settings)
    chosen = [(name, s) for name in names for s in wanted.get(name, ()) if s not in USUAL.values()]
    tried = in_parallel("spec: settings", n_jobs, with_setting, [(*key, plan) for key in chosen])
    counts = [(name, n_folds) for name in FACES for n_folds in plan.folds]
    by_folds = in_parallel("spec: folds", n_jobs, with_setting, [(name, USUAL["RBF"], plan, n) for name, n in counts])
    settings, folds = dict(zip(chosen, tried, strict=True)), dict(zip(counts, by_folds, strict=True))
    return Results(plan, curves, held, gaps, facts, settings, folds)


def _call(function: Callable, *arguments: Any) -> Any:
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
    for draw in range(plan.n_draws):
        y, folds = _folds(name, plan.seed, draw, n_folds)
        values[draw] = [nearest_neighbor_right(Z[:, :size], y, folds).mean() for size in plan.sizes]
    return values


def random_accuracies(name: str, plan: Plan) -> np.ndarray:
    """The same for random features, drawn anew in every draw."""
    X, y = data(name, plan.seed)
    values = []
    for draw in range(plan.random_draws):
        columns = np.random.default_rng([plan.seed, draw, _RANDOM]).permutation(X.shape[1])[:MOST]
        Z, (y, folds) = _columns(X, columns), _folds(name, plan.seed, draw)
        values.append([nearest_neighbor_right(Z[:, :size], y, folds).mean() for size in plan.sizes])
    return np.array(values)


def all_accuracies(name: str, plan: Plan) -> np.ndarray:
    """The same for all features, one column."""
    X, _ = data(name, plan.seed)
    Z = _columns(X, np.arange(X.shape[1]))
    draws = (_folds(name, plan.seed, draw) for draw in range(plan.n_draws))
    return np.array([[nearest_neighbor_right(Z, *told).mean()] for told in draws])


def held_out(name: str, seed: int, draw: int) -> dict[str, float]:
    """Accuracy with 100 features when a fold is predicted with features ranked on the labels of the other folds."""
    X, _ = data(name, seed)
    y, folds = _folds(name, seed, draw)
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
        warnings.filterwarnings("ignore", "n_clusters=.* splits a repeated eigenvalue")
        rows = _table_3_row(GRAPHS[graph](width).build(Z), Z, y).values()
    only = Plan(n_draws=plan.n_draws, sizes=(MOST,), seed=plan.seed)
    return np.array([accuracies(name, first_features(*found), only, n_folds).mean() for found in rows])


def _folds(name: str, seed: int, draw: int, n_folds: int = N_FOLDS) -> tuple[np.ndarray, np.ndarray]:
    """Class codes and the fold of every row."""
    y = data(name, seed)[1]
    return y, stratified_folds(y, n_folds, np.random.default_rng([seed, draw, _FOLDS]))


def _columns(X: Any, columns: np.ndarray) -> np.ndarray:
    block = X[:, columns]
    return block.toarray() if sp.issparse(block) else block


# -------------------------------------------------------------------- tables, findings, figures


def run(quick: bool, n_jobs: int, seed: int = 0) -> Report:
    results = run_all(replace(QUICK if quick else Plan(), seed=seed), n_jobs)
    return Report(tables(results), findings(results), {} if quick else figures(results))


def tables(r: Results) -> dict[str, tuple]:
    sets, own, (free, labels) = r.plan.sets, r.present((*TEXTS, *FACES)), averages(r)
    gaps = sorted({key for found in r.gaps.values() for key in found})
    settings = sorted({*USUAL.values(), *r.plan.face_settings, *r.plan.text_settings}, key=lambda s: (s[0], s[2], s[1]))
    baselines = (RANDOM, ALL, LS, RLF_AS_GIVEN, FISHER)
    table_3 = {
        f"{name}, {kernel}": [r.at_most(name, LS), *r.table_3_row(name, kernel)] for name in sets for kernel in KERNELS
    }
    best_of = {
        name: [*(r.at_most(name, m) for m in baselines), best(r, name, UNSUPERVISED), best(r, name, SUPERVISED)]
        for name in sets
    }
    held = {name: [f"{r.at_most(name, m):.2f} → {r.held_out[name, m].mean():.2f}" for m in SUPERVISED] for name in sets}
    off = {setting_name(s): [off_by(r, name, s) for name in own] for s in settings}
    return {
        "facts": (["", *own], facts(r)),
        "table-3": table("set, graph", [LS, *COLUMNS], table_3, 2),
        "averages": table("average", free, {"accuracy": free.values()}, 2),
        "averages-labels": table("average", labels, {"accuracy": labels.values()}, 2),
        "table-4": table("set", ON_LABELS, {name: [r.at_most(name, m) for m in ON_LABELS] for name in sets}, 2),
        "identities": table("set", gaps, {n: [small(found.get(gap)) for gap in gaps] for n, found in r.gaps.items()}),
        "baselines": table("set", [*baselines, "best without labels", "best with labels"], best_of),
        "held-out": table("set", SUPERVISED, held),
        "settings": table("setting: largest (mean) difference", own, off),
        "folds": table("PIE10P, RBF", COLUMNS, {f"{n} folds": r.folds["PIE10P", n] for n in r.plan.folds}, 2),
    }


def facts(r: Results) -> list[list[str]]:
    own = r.present((*TEXTS, *FACES))
    shapes = [data(name, r.plan.seed)[0].shape for name in own]
    empty = [
        [f"{r.facts[name][method]:.0%}" if name in TEXTS else "–" for name in own] for method in (RLF, RLF_AS_GIVEN)
    ]
    return [
        ["rows × features", *(f"{n} × {m}" for n, m in shapes)],
        ["width of the 10-NN graph", *(number(r.facts[name]["width"], 1) for name in own)],
        ["documents that hold none of the 100 terms of RLF", *empty[0]],
        ["the same for RLF, as given", *empty[1]],
    ]


def averages(r: Results) -> tuple[dict[str, float], dict[str, float]]:
    """Accuracy over sets, graphs and numbers of features: without labels, and on the graphs of labels."""
    own = r.present((*TEXTS, *FACES))

    def mean(methods: Sequence[str]) -> float:
        return float(np.mean([r.level(name, method) for name in own for method in methods]))

    free = {column: mean([f"{kernel} {column}" for kernel in KERNELS]) for column in COLUMNS}
    blind = {RANDOM: mean([RANDOM])}
    return free | {LS: mean([LS])} | blind, {method: mean([method]) for method in SUPERVISED} | blind


def best(r: Results, name: str, methods: Sequence[str]) -> str:
    values = {method: r.at_most(name, method) for method in methods}
    first = max(values, key=values.__getitem__)
    return f"{values[first]:.3f} ({first})"


def off_by(r: Results, name: str, setting: tuple) -> str:
    """Largest and mean difference from the printed row of Table 3."""
    off = difference(r, name, setting)
    return "–" if off is None else f"{off.max():.3f} ({off.mean():.3f})"


def difference(r: Results, name: str, setting: tuple) -> np.ndarray | None:
    values, kernel = r.with_setting(name, setting), "DIF" if setting[0] == "diffusion" else "RBF"
    return None if values is None else np.abs(values - printed("spec-table-3")[f"{name}, {kernel}"][1:])


def setting_name(setting: tuple) -> str:
    graph, width, unit = setting
    return f"{graph}, {'β' if graph == 'diffusion' else 'width'} {width:g}, {'unit norm' if unit else 'as given'}"


def small(gap: float | None) -> str:
    """A difference; what is left of rounding is not the same in every run."""
    return "–" if gap is None else "< 1e-12" if gap < 1e-12 else f"{gap:.0e}"


def findings(r: Results) -> dict[str, Finding]:
    return _on_table_3(r) | _on_figure_2(r) | _on_table_4(r) | _ours(r)


def _on_table_3(r: Results) -> dict[str, Finding]:
    found: dict[str, Finding] = {}
    own = r.present((*TEXTS, *FACES))
    at = {(name, kernel): r.table_3_row(name, kernel) for name in own for kernel in KERNELS}
    pie = dict(zip(COLUMNS, at["PIE10P", "RBF"] - printed("spec-table-3")["PIE10P, RBF"][1:], strict=True))
    for key, power in (("pie-rbf", "r"), ("pie-rbf-fourth-power", "r⁴")):
        off = {column: value for column, value in pie.items() if column.endswith(power)}
        found[key] = max(map(abs, off.values())) <= 0.04, f"computed less printed {listed(off, '+.3f')}"
    apart = {f"{name} {kernel}": row[1] - row[0] for (name, kernel), row in at.items()}
    found["phi1-gamma"] = max(map(abs, apart.values())) < 0.01, f"r⁴ less r {listed(apart, '+.3f')}"
    gains = {name: max(at[name, kernel].max() for kernel in KERNELS) - r.at_most(name, LS) for name in own}
    found["best-beats-ls"] = min(gains.values()) >= 0.05, f"best less LS {listed(gains, '+.3f')}"
    change = {f"{n} {k} φ{p}": row[2 * p - 1] - row[2 * p - 2] for (n, k), row in at.items() for p in (1, 2, 3)}
    ends = listed({name: change[name] for name in (min(change, key=change.get), max(change, key=change.get))}, "+.3f")
    found["fourth-power-costs-nothing"] = min(change.values()) >= -0.02, ends
    found["fourth-power-helps"] = max(change.values()) >= 0.05, ends
    by_phi = {name: [np.mean([at[name, k][2 * p : 2 * p + 2] for k in KERNELS]) for p in range(3)] for name in own}
    told = "φ1, φ2, φ3: " + "; ".join(f"{name} {listed(values)}" for name, values in by_phi.items())
    found["phi1-on-text"] = all(by_phi[name][0] > by_phi[name][2] for name in r.present(TEXTS)), told
    found["phi3-on-faces"] = all(by_phi[name][2] > by_phi[name][0] for name in FACES), told
    found["phi2-robust"] = all(values[1] > min(values) for values in by_phi.values()), told
    return found


def _on_figure_2(r: Results) -> dict[str, Finding]:
    found: dict[str, Finding] = {}
    own, (free, labels) = r.present((*TEXTS, *FACES)), averages(r)
    ranked = sorted((column for column in free if column != RANDOM), key=free.get, reverse=True)
    found["average-order"] = ranked[:2] == ["φ2, r⁴", "φ3, r⁴"], listed({column: free[column] for column in ranked})
    above = min(free[column] for column in ("φ2, r⁴", "φ3, r⁴")) - free[LS]
    found["average-beats-ls"] = above > 0, f"the worse of the two by {above:+.3f}"
    ranked = sorted(ON_LABELS, key=labels.get, reverse=True)
    found["class-phi2-best"] = ranked[:2] == ["C, φ2", RLF], listed({method: labels[method] for method in ranked})
    level = {(name, method): r.level(name, method) for name in own for method in (*UNSUPERVISED, *ON_LABELS)}
    panels = {}
    for name in own:
        for kernel in KERNELS:
            others = [f"{kernel} {column}" for column in COLUMNS if (kernel, column) != ("RBF", "φ2, r")]  # LS itself
            panels[f"{name} {kernel}"] = np.mean([level[name, m] > level[name, LS] for m in others])
    majority = sum(share > 0.5 for share in panels.values())
    found["majority-beats-ls"] = majority > len(panels) / 2, f"shares {listed(panels, '.2f')}"
    gain = [level[n, f"DIF {c}"] - level[n, f"RBF {c}"] for n in own for c in COLUMNS]
    wins = sum(value > 0 for value in gain)
    told = f"in {wins} of {len(gain)} cases, on average by {np.mean(gain):+.3f}"
    found["diffusion-beats-rbf"] = np.mean(gain) > 0 and wins > len(gain) / 2, told
    curves = [r.curves[n, method].mean(axis=0) for n in own for method in (*UNSUPERVISED, *ON_LABELS)]
    start, forty, end = np.array(curves).T[[0, list(r.plan.sizes).index(40), -1]]
    slower = np.mean(forty - start) / 30 > 2 * np.mean(end - forty) / 60 > 0
    told = f"10 features more bring {np.mean(forty - start) / 3:.3f} up to 40 and {np.mean(end - forty) / 6:.3f} beyond"
    found["more-features"] = np.mean(end > start) > 0.9 and slower, told
    blind, told_labels = ({n: np.mean([level[n, m] for m in ms]) for n in own} for ms in (UNSUPERVISED, ON_LABELS))
    told = f"without labels {listed(blind)}; with labels {listed(told_labels)}"
    found["labels-help"] = all(told_labels[n] > blind[n] for n in own), told
    return found


def _on_table_4(r: Results) -> dict[str, Finding]:
    found: dict[str, Finding] = {}
    row = {name: np.array([r.at_most(name, method) for method in ON_LABELS]) for name in r.plan.sets}
    off = dict(zip(ON_LABELS, row["PIE10P"] - printed("spec-table-4")["PIE10P"], strict=True))
    found["pie-supervised"] = max(map(abs, off.values())) <= 0.02, f"computed less printed {listed(off, '+.3f')}"
    own = r.present((*TEXTS, *FACES))
    behind = {f"{n} {g}": row[n].max() - r.at_most(n, f"{g}, φ2") for n in own for g in "RC"}
    found["phi2-robust-supervised"] = max(behind.values()) <= 0.05, f"below the best by {listed(behind)}"
    wanted = r.present((*TEXTS, "PIX10P"))
    fails = all(row[name].argmin() == ON_LABELS.index("R, φ3") for name in wanted)
    found["relief-phi3-fails"] = fails, listed({name: row[name][3] for name in row})
    same = {
        pair: all(np.array_equal(r.curves[n, pair[0]], r.curves[n, pair[1]]) for n in r.plan.sets)
        for pair in ((LS, "RBF φ2, r"), (RLF, "R, φ1"))
    }
    for key, wanted_gap, equal in (
        ("ls-is-phi2", "LS and φ2", same[LS, "RBF φ2, r"]),
        ("footnote-9", "r and r⁴", True),
        ("theorem-5", "RLF and", same[RLF, "R, φ1"]),
        ("fisher", "Fisher and", True),
    ):
        gap = max(value for gaps in r.gaps.values() for name, value in gaps.items() if wanted_gap in name)
        found[key] = gap <= 1e-9 and equal, f"relative difference {small(gap)}"
    return found


def _ours(r: Results) -> dict[str, Finding]:
    found: dict[str, Finding] = {}
    free = {n: {m: r.at_most(n, m) for m in UNSUPERVISED} for n in r.plan.sets}
    random = {n: r.at_most(n, RANDOM) for n in r.plan.sets}
    told = f"random {listed(random)}; best without labels {listed({n: max(free[n].values()) for n in free})}"
    found["random-pixels"] = random["PIE10P"] > max(free["PIE10P"].values()), told
    worse = sum(r.at_most(n, m) <= random[n] for n in FACES for m in ON_LABELS)
    found["labels-beat-random-pixels"] = not worse, f"{worse} of {len(FACES) * len(ON_LABELS)} do not"
    beaten = {n: np.mean([value > random[n] for value in free[n].values()]) for n in r.present(TEXTS)}
    found["unsupervised-beats-random-terms"] = min(beaten.values()) == 1, f"share that does: {listed(beaten, '.2f')}"
    if CORRECTED in r.plan.sets:
        moved = {m: r.at_most(CORRECTED, m) - r.at_most("RELATHE", m) for m in (*ON_LABELS, ALL)}
        found["right-labels"] = min(moved.values()) > 0, f"change {listed(moved, '+.3f')}"
    loss = {n: np.mean([r.at_most(n, m) - r.held_out[n, m].mean() for m in SUPERVISED]) for n in r.plan.sets}
    found["held-out"] = max(loss.values()) < 0.02, f"mean cost {listed(loss, '+.3f')}"
    gap = difference(r, "PIX10P", UNIT_DIFFUSION)
    found["pix-diffusion-unit-norm"] = gap.max() <= 0.04, f"differences {listed(gap)}"
    wide = {name: r.with_setting(name, WIDE_DIFFUSION) for name in r.present((*TEXTS, *FACES))}
    change = {n: max(abs(v[1] - v[0]), abs(v[3] - v[2])) for n, v in wide.items() if v is not None}
    found["wide-diffusion-gamma"] = max(change.values()) <= 0.01, f"largest difference {listed(change)}"
    return found


def figures(r: Results) -> dict[str, list[Curve]]:
    """One row of panels per set: RBF weights, diffusion kernel, graphs of the labels."""
    panels = {kernel: {column: f"{kernel} {column}" for column in COLUMNS} | {LS: LS} for kernel in KERNELS}
    panels["labels"] = {method: method for method in (*ON_LABELS, RLF_AS_GIVEN)}
    return {
        "accuracy": [
            (f"{name}, {panel}", line, r.plan.sizes, r.curves[name, method].mean(axis=0))
            for name in r.present((*TEXTS, *FACES))
            for panel, lines in panels.items()
            for line, method in (lines | {RANDOM: RANDOM}).items()
        ]
    }
