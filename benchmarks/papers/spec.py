"""[SPEC] Zhao and Liu 2007, spectral feature selection: Tables 3 and 4, Fig. 2.

    unsupervised  φ1, φ2, φ3 with γ(r) = r and r⁴ on two graphs without labels: RBF weights, diffusion kernel
    supervised    φ1, φ2, φ3 on two graphs of the labels: R (eq. 12, ReliefF's) and C (eq. 2, the classes)

5-fold 1-NN on all rows judges every ranking, ``n_draws`` times with other folds. Worker processes get names and numbers
only and load their own data. Everything is asked again under a stated setting: features of unit norm, as Theorem 5
assumes, for the rankings, and β = 20 for the diffusion kernel. Which graph, width, scaling and number of folds give the
printed numbers was asked once; its tables are on record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

import fiedler as fd
from fiedler import SPEC, ClassGraph
from fiedler.criteria.order import rank_features

from ..data import paper_set, paper_set_info
from ..pages import number, table
from ..runner import Found, Options
from ..sets import dense
from .common import Curve, Finding, each, found, listed, nearest_neighbor_right, printed, stratified_folds

TEXTS, FACES, CORRECTED = ("HOCKBASE", "RELATHE"), ("PIE10P", "PIX10P"), "RELATHE, corrected"  # the right labels
FILES = {"HOCKBASE": "BASEHOCK", "PIE10P": "warpPIE10P", "PIX10P": "pixraw10P", CORRECTED: "RELATHE"}
UNIT, BETA = ", unit norm", 20.0  # the end of the name of a set under the stated setting, and its diffusion time
KERNELS = ("RBF", "DIF")
COLUMNS = {f"φ{phi}, {power}": (phi, gamma) for phi in (1, 2, 3) for power, gamma in (("r", 1), ("r⁴", 4))}
LS, RANDOM, ALL = "LS", "random", "all features"
RLF, RLF_AS_GIVEN, FISHER = "RLF", "RLF, as given", "Fisher"
FREE, NEAREST = "R, φ3, smallest λ", "R, φ3, λ nearest 0"  # other readings of the k leading eigenvectors
ON_LABELS = (RLF, *(f"{graph}, φ{phi}" for graph in "RC" for phi in (1, 2, 3)))  # the columns of Table 4
UNSUPERVISED = (LS, *(f"{kernel} {column}" for kernel in KERNELS for column in COLUMNS))
SUPERVISED = (*ON_LABELS, RLF_AS_GIVEN, FISHER, FREE, NEAREST)
N_NEIGHBORS = 10  # [SPEC] 4.2, of the graph; for ReliefF the paper prints no number
N_FOLDS, MOST = 5, 100  # folds, and features of Tables 3 and 4
_ORDER, _FOLDS, _RANDOM = range(3)  # what is seeded

Scores = tuple[np.ndarray, bool]  # one per feature, and whether large is good


class Plan(NamedTuple):
    """How much of the experiment is run."""

    sets: tuple[str, ...] = (*TEXTS, CORRECTED, *FACES, *(name + UNIT for name in (*TEXTS, *FACES)))
    n_draws: int = 10  # "averaging the accuracy from 10 trials"
    random_draws: int = 20
    sizes: tuple[int, ...] = tuple(range(10, MOST + 1, 10))


QUICK = Plan(("RELATHE", *FACES, "PIX10P" + UNIT), 3, 20, (10, 40, MOST))


class Results(NamedTuple):
    """Accuracies of every set and method; how far the paper's identities are from equality; facts about a set.

    ``curves[set, method]`` has one row per draw and one column per size (one in all for all features);
    """

    plan: Plan
    curves: Mapping[tuple[str, str], np.ndarray]
    gaps: Mapping[str, Mapping[str, float]]
    facts: Mapping[str, Mapping[str, float]]

    def at_most(self, name: str, method: str) -> float:
        """Mean accuracy with 100 features (or with all)."""
        return float(self.curves[name, method][:, -1].mean())

    def level(self, name: str, method: str) -> float:
        """Mean accuracy over draws and numbers of features."""
        return float(self.curves[name, method].mean())

    def table_3_row(self, name: str, kernel: str) -> np.ndarray:
        return np.array([self.at_most(name, f"{kernel} {column}") for column in COLUMNS])

    @property
    def own(self) -> list[str]:
        """The paper's sets that were run."""
        return [name for name in (*TEXTS, *FACES) if name in self.plan.sets]

    def of(self, end: str) -> Results:
        """As the library ranks (""), or features of unit norm and β = 20 (UNIT), under the names of the sets."""
        ends = [name.endswith(UNIT) for name in self.plan.sets]
        sets = tuple(n.removesuffix(UNIT) for n, unit in zip(self.plan.sets, ends, strict=True) if unit == bool(end))
        curves = {(name, method): self.curves.get((name + end, method), values)
                  for (name, method), values in self.curves.items() if name in sets}  # fmt: skip
        gaps, facts = ({name: made[name + end] for name in sets} for made in (self.gaps, self.facts))
        return Results(self.plan._replace(sets=sets), curves, gaps, facts)


def run_all(plan: Plan, options: Options) -> Results:
    names, (orders, gaps, facts) = plan.sets, ({name: {} for name in plan.sets} for _ in range(3))
    tasks = [(unsupervised, name) for name in names if name != CORRECTED]  # graphs without labels are the same
    tasks += [(supervised, name) for name in names]
    for (_, name), made in zip(tasks, options.map(_call, tasks), strict=True):
        for of_set, result in zip((orders, gaps, facts), made, strict=True):
            of_set[name] |= result
    if CORRECTED in names:
        orders[CORRECTED] = orders["RELATHE"] | orders[CORRECTED]
    work = {(name, method): (accuracies, name, plan, order) for name in names for method, order in orders[name].items()}
    given = [name for name in names if not name.endswith(UNIT)]
    work |= {(name, RANDOM): (accuracies, name, plan) for name in given}
    work |= {(name, ALL): (all_accuracies, name, plan) for name in given}
    curves = dict(zip(work, options.map(_call, list(work.values())), strict=True))
    return Results(plan, curves, gaps, facts)


def _call(function: Callable, *arguments: Any) -> Any:
    return function(*arguments)


@cache
def data(name: str) -> tuple[Any, np.ndarray]:
    """X and class codes. Files are sorted by class and counts tie, so rows are shuffled before anything else.

    Under the stated setting features are scaled for the rankings only: the judge sees them as given.
    """
    name = name.removesuffix(UNIT)
    file = FILES.get(name, name)
    X, y, _ = paper_set(file)
    y = paper_set_info(file)["y_corrected"] if name == CORRECTED else y
    rows = np.random.default_rng([0, _ORDER]).permutation(len(y))
    return X[rows], np.unique(y[rows], return_inverse=True)[1]


def ranked_data(name: str) -> tuple[Any, np.ndarray]:
    """What a ranking sees: under the stated setting features of unit norm."""
    X, y = data(name)
    return (unit_norm(X, y >= 0), y) if name.endswith(UNIT) else (X, y)


def first_features(scores: np.ndarray, greater_is_better: bool) -> np.ndarray:
    """The best features; scores equal to twelve digits keep column order, so that rounding decides nothing."""
    largest = np.max(np.abs(scores[np.isfinite(scores)]))
    return rank_features(np.round(scores / largest, 12), greater_is_better)[:MOST]


def unsupervised(name: str) -> tuple[dict[str, np.ndarray], dict[str, float], dict[str, float]]:
    """The rankings of Table 3, how far LS and φ2 are apart, and the width of the graph."""
    X, y = ranked_data(name)
    diffusion = fd.Diffusion(fd.KNN(N_NEIGHBORS, "binary"), BETA if name.endswith(UNIT) else 1.0)
    graphs = {"RBF": fd.KNN(N_NEIGHBORS).build(X), "DIF": diffusion.build(X)}
    scores = {LS: _evaluated(fd.LaplacianScore(graphs["RBF"]), X)}
    for kernel, graph in graphs.items():
        scores |= {f"{kernel} {column}": made for column, made in _table_3_row(graph, X, y).items()}
    gaps = {"LS and φ2": _gap(scores[LS][0], scores["RBF φ2, r"][0])}
    if not sp.issparse(X):  # a function of the eigenvalues goes through all eigenpairs, as eq. 10 is printed
        gaps["LS and φ2 from eigenpairs"] = _gap(scores[LS][0], SPEC(graphs["RBF"], phi=2, gamma=np.array).evaluate(X))
    return {method: first_features(*made) for method, made in scores.items()}, gaps, {"width": graphs["RBF"].bandwidth}


def _table_3_row(graph: fd.Graph, X: Any, y: np.ndarray) -> dict[str, Scores]:
    """φ3 gets the number of classes as its k, nothing else of y."""
    k = int(y.max()) + 1
    return {c: _evaluated(SPEC(graph, phi, gamma, n_clusters=k), X) for c, (phi, gamma) in COLUMNS.items()}


def supervised(name: str) -> tuple[dict[str, np.ndarray], dict[str, float], dict[str, float]]:
    """The rankings of Table 4 with the labels of all rows, how far Theorem 5 and footnote 9 are from equality, and the
    share of rows that are zero in all of ReliefF's features."""
    X, y = ranked_data(name)
    scores = label_scores(X, y)
    relief = np.abs(scores[RLF][0] + 2.0 * scores["R, φ1"][0])
    gaps = {
        "RLF and R, φ1": float(np.nanmax(relief) / np.nanmax(np.abs(scores[RLF][0]))),
        "Fisher and C, φ2": _gap(scores["C, φ2"][0], 1.0 / (1.0 + scores[FISHER][0])),
    }
    for phi in (1, 2):
        fourth = SPEC(ClassGraph(), phi, gamma=4).evaluate(X, y)
        gaps[f"C, φ{phi}, r and r⁴"] = _gap(scores[f"C, φ{phi}"][0], fourth)
    orders = {method: first_features(*made) for method, made in scores.items()}
    empty = {method: float(np.mean(~dense(X[:, orders[method]]).any(axis=1))) for method in (RLF, RLF_AS_GIVEN)}
    return orders, gaps, empty


def label_scores(X: Any, y: np.ndarray) -> dict[str, Scores]:
    """The columns of Table 4, ReliefF on the features as given and Fisher's score; -1 in y is a hidden label.

    With c classes λ_0 .. λ_{c-1} of the class graph are 0 and all others 1 (footnote 9), so φ1 sums α² over the others,
    φ1/φ2 is 1 - α_0², and what φ3 sums is the difference: no eigenvectors of repeated eigenvalues are needed.
    """
    k = int(y.max()) + 1
    relief = fd.ReliefGraph(N_NEIGHBORS).build(X, y)
    weight = -2.0 * fd.Energy(relief)  # ReliefF on a graph that is built once
    scores = {RLF: _evaluated(weight, unit_norm(X, y >= 0)), RLF_AS_GIVEN: _evaluated(weight, X)}
    scores |= {f"R, φ{phi}": _evaluated(SPEC(relief, phi, n_clusters=k), X) for phi in (1, 2, 3)}
    scores |= {f"C, φ{phi}": _evaluated(SPEC(ClassGraph(), phi), X, y) for phi in (1, 2)}
    phi1, phi2 = scores["C, φ1"][0], scores["C, φ2"][0]
    scores |= {"C, φ3": (2.0 * (phi1 / phi2 - phi1), True), FISHER: _evaluated(fd.FisherScore(), X, y)}
    scores |= {name: (made, True) for name, made in free_phi3(relief, X, k).items()}
    return {method: scores[method] for method in SUPERVISED}


def free_phi3(graph: fd.Graph, X: Any, k: int) -> dict[str, np.ndarray]:
    """φ3 of eq. 11 with k eigenvectors of a solver instead of the fixed ξ0 = D^½1 of SPEC().

    R has negative weights, and I - R has eigenvalues far below 0: the k smallest are not the k of smallest magnitude,
    which solvers for a few eigenvectors of a positive matrix give.
    """
    values, vectors = eigh(np.eye(graph.n_nodes) - graph.toarray())
    squares, made = np.asarray((X.multiply(X) if sp.issparse(X) else X * X).sum(axis=0)).ravel(), {}
    for name, order in ((FREE, np.arange(k)), (NEAREST, np.argsort(np.abs(values), kind="stable")[:k])):
        used = order[1:]  # without ξ0
        energy = ((2.0 - values[used]) * (X.T @ vectors[:, used]) ** 2).sum(axis=1)
        made[name] = energy / np.where(squares > 0, squares, np.nan)
    return made


def unit_norm(X: Any, rows: np.ndarray) -> Any:
    """Features of unit norm on some rows, as Theorem 5 assumes."""
    part = X[np.flatnonzero(rows)]
    norms = np.sqrt(np.asarray((part * part).sum(axis=0)).ravel())
    scale = 1.0 / np.where(norms > 0, norms, 1.0)
    return sp.csr_array(X @ sp.diags_array(scale)) if sp.issparse(X) else X * scale


def _evaluated(criterion: fd.Criterion, X: Any, y: np.ndarray | None = None) -> Scores:
    return criterion.evaluate(X, y), criterion.greater_is_better


def _gap(a: np.ndarray, b: np.ndarray) -> float:
    """Largest relative difference."""
    return float(np.nanmax(np.abs(a - b) / np.abs(a)))


def accuracies(name: str, plan: Plan, order: np.ndarray | None = None) -> np.ndarray:
    """1-NN accuracy on the first features of an order, or on random ones, shape (draws, sizes); folds depend on the
    draw alone."""
    X, values = data(name)[0], []
    for draw in range(plan.random_draws if order is None else plan.n_draws):
        drawn = np.random.default_rng([0, draw, _RANDOM]).permutation(X.shape[1])[:MOST] if order is None else order
        Z, told = dense(X[:, drawn]), _folds(name, draw)
        values.append([nearest_neighbor_right(Z[:, :size], *told).mean() for size in plan.sizes])
    return np.array(values)


def all_accuracies(name: str, plan: Plan) -> np.ndarray:
    """The same for all features, one column."""
    Z = dense(data(name)[0])
    return np.array([[nearest_neighbor_right(Z, *_folds(name, draw)).mean()] for draw in range(plan.n_draws)])


def _folds(name: str, draw: int) -> tuple[np.ndarray, np.ndarray]:
    """Class codes and the fold of every row."""
    y = data(name)[1]
    return y, stratified_folds(y, N_FOLDS, np.random.default_rng([0, draw, _FOLDS]))


def spec(options: Options) -> Found:
    both = run_all(QUICK if options.quick else Plan(), options)
    r, s = both.of(""), both.of(UNIT)
    again = {} if options.quick else _on_table_3(s) | _on_figure_2(s) | _on_table_4(s)
    again |= {"relief-phi3-fails": _nearest(r), "class-phi2-best": _as_given(r)}
    made = _on_table_3(r) | _on_figure_2(r) | _on_table_4(r) | _ours(r)
    return found("spec", options, tables(r, s), made, figures(r), again)


def tables(r: Results, s: Results) -> Found:
    """``s`` are the results under the stated setting."""
    sets, (free, labels) = r.plan.sets, averages(r)
    gaps = sorted({key for made in r.gaps.values() for key in made})
    baselines = (RANDOM, ALL, LS, RLF_AS_GIVEN, FISHER)
    table_3 = {f"{n}, {k}": [r.at_most(n, LS), *r.table_3_row(n, k)] for n in sets for k in KERNELS}
    best_of = {
        name: [*(r.at_most(name, m) for m in baselines), best(r, name, UNSUPERVISED), best(r, name, SUPERVISED[:-2])]
        for name in sets
    }
    shapes = [data(name)[0].shape for name in r.own]
    empty = [[f"{r.facts[n][m]:.0%}" if n in TEXTS else "–" for n in r.own] for m in (RLF, RLF_AS_GIVEN)]
    facts = [
        ["rows × features", *(f"{n} × {m}" for n, m in shapes)],
        ["width of the 10-NN graph", *(number(r.facts[name]["width"], 1) for name in r.own)],
        ["documents that hold none of the 100 terms of RLF", *empty[0]],
        ["the same for RLF, as given", *empty[1]],
    ]
    return {
        "facts": (["", *r.own], facts),
        "table-3": table("set, graph", [LS, *COLUMNS], table_3, 2),
        "setting": table(
            "set, graph",
            [LS, *COLUMNS],
            {f"{n}, {k}": [s.at_most(n, LS), *s.table_3_row(n, k)] for n in s.plan.sets for k in KERNELS},
            2,
        ),
        "relief-phi3": table(
            "set",
            ["ξ0 fixed", "smallest λ", "λ nearest 0"],
            {n: [r.at_most(n, m) for m in (ON_LABELS[3], FREE, NEAREST)] for n in r.own},
            2,
        ),
        "averages": table("average", free, {"accuracy": free.values()}, 2),
        "averages-labels": table("average", labels, {"accuracy": labels.values()}, 2),
        "table-4": table("set", ON_LABELS, {name: [r.at_most(name, m) for m in ON_LABELS] for name in sets}, 2),
        "identities": table("set", gaps, {n: [small(made.get(gap)) for gap in gaps] for n, made in r.gaps.items()}),
        "baselines": table("set", [*baselines, "best without labels", "best with labels"], best_of),
    }


def averages(r: Results) -> tuple[dict[str, float], dict[str, float]]:
    """Accuracy over sets, graphs and numbers of features: without labels, and on the graphs of labels."""

    def mean(*methods: str) -> float:
        return float(np.mean([r.level(name, method) for name in r.own for method in methods]))

    free = {column: mean(*(f"{kernel} {column}" for kernel in KERNELS)) for column in COLUMNS}
    blind = {RANDOM: mean(RANDOM)}
    return free | {LS: mean(LS)} | blind, {method: mean(method) for method in SUPERVISED[:-2]} | blind


def best(r: Results, name: str, methods: Sequence[str]) -> str:
    first = max(methods, key=lambda method: r.at_most(name, method))
    return f"{r.at_most(name, first):.3f} ({first})"


def small(gap: float | None) -> str:
    """A difference; what is left of rounding is not the same in every run."""
    return "–" if gap is None else "< 1e-12" if gap < 1e-12 else f"{gap:.0e}"


def _on_table_3(r: Results) -> dict[str, Finding]:
    made: dict[str, Finding] = {}
    at = {(name, kernel): r.table_3_row(name, kernel) for name in r.own for kernel in KERNELS}
    pie = dict(zip(COLUMNS, at["PIE10P", "RBF"] - printed("spec-table-3")["PIE10P, RBF"][1:], strict=True))
    for key, power in (("pie-rbf", "r"), ("pie-rbf-fourth-power", "r⁴")):
        off = {column: value for column, value in pie.items() if column.endswith(power)}
        made[key] = max(map(abs, off.values())) <= 0.04, f"computed less printed {listed(off, '+.3f')}"
    apart = {f"{name} {kernel}": row[1] - row[0] for (name, kernel), row in at.items()}
    for name in (name for name in r.own if name in FACES):
        off = dict(zip(COLUMNS, at[name, "DIF"] - printed("spec-table-3")[f"{name}, DIF"][1:], strict=True))
        told = f"computed less printed {listed(off, '+.3f')}"
        made[f"{name[:3].lower()}-dif"] = max(map(abs, off.values())) <= 0.04, told
    same = {name: np.abs(np.diff(at[name, "DIF"])[[0, 2]]).max() for name in r.own}
    made["dif-gamma"] = max(same.values()) <= 0.01, f"largest difference {listed(same)}"
    made["phi1-gamma"] = max(map(abs, apart.values())) < 0.01, f"r⁴ less r {listed(apart, '+.3f')}"
    gains = {name: max(at[name, kernel].max() for kernel in KERNELS) - r.at_most(name, LS) for name in r.own}
    made["best-beats-ls"] = min(gains.values()) >= 0.05, f"best less LS {listed(gains, '+.3f')}"
    change = {f"{n} {k} φ{p}": row[2 * p - 1] - row[2 * p - 2] for (n, k), row in at.items() for p in (1, 2, 3)}
    ends = listed({name: change[name] for name in (min(change, key=change.get), max(change, key=change.get))}, "+.3f")
    made["fourth-power-costs-nothing"] = min(change.values()) >= -0.02, ends
    made["fourth-power-helps"] = max(change.values()) >= 0.05, ends
    by_phi = {name: [np.mean([at[name, k][2 * p : 2 * p + 2] for k in KERNELS]) for p in range(3)] for name in r.own}
    told = f"φ1, φ2, φ3: {each(by_phi)}"
    made["phi1-on-text"] = all(by_phi[name][0] > by_phi[name][2] for name in r.own if name in TEXTS), told
    made["phi3-on-faces"] = all(by_phi[name][2] > by_phi[name][0] for name in FACES), told
    made["phi2-robust"] = all(values[1] > min(values) for values in by_phi.values()), told
    return made


def _on_figure_2(r: Results) -> dict[str, Finding]:
    made: dict[str, Finding] = {}
    own, (free, labels) = r.own, averages(r)
    ranked = sorted((column for column in free if column != RANDOM), key=free.get, reverse=True)
    made["average-order"] = ranked[:2] == ["φ2, r⁴", "φ3, r⁴"], listed({column: free[column] for column in ranked})
    above = min(free[column] for column in ("φ2, r⁴", "φ3, r⁴")) - free[LS]
    made["average-beats-ls"] = above > 0, f"the worse of the two by {above:+.3f}"
    ranked = sorted(ON_LABELS, key=labels.get, reverse=True)
    made["class-phi2-best"] = ranked[:2] == ["C, φ2", RLF], listed({method: labels[method] for method in ranked})
    level = {(name, method): r.level(name, method) for name in own for method in (*UNSUPERVISED, *ON_LABELS)}
    panels = {}
    for name in own:
        for kernel in KERNELS:
            others = [f"{kernel} {column}" for column in COLUMNS if (kernel, column) != ("RBF", "φ2, r")]  # LS itself
            panels[f"{name} {kernel}"] = np.mean([level[name, m] > level[name, LS] for m in others])
    majority = sum(share > 0.5 for share in panels.values())
    made["majority-beats-ls"] = majority > len(panels) / 2, f"shares {listed(panels, '.2f')}"
    gain = [level[n, f"DIF {c}"] - level[n, f"RBF {c}"] for n in own for c in COLUMNS]
    wins = sum(value > 0 for value in gain)
    told = f"in {wins} of {len(gain)} cases, on average by {np.mean(gain):+.3f}"
    made["diffusion-beats-rbf"] = np.mean(gain) > 0 and wins > len(gain) / 2, told
    curves = [r.curves[n, method].mean(axis=0) for n in own for method in (*UNSUPERVISED, *ON_LABELS)]
    start, forty, end = np.array(curves).T[[0, list(r.plan.sizes).index(40), -1]]
    slower = np.mean(forty - start) / 30 > 2 * np.mean(end - forty) / 60 > 0
    told = f"10 features more bring {np.mean(forty - start) / 3:.3f} up to 40 and {np.mean(end - forty) / 6:.3f} beyond"
    made["more-features"] = np.mean(end > start) > 0.9 and slower, told
    blind, told_labels = ({n: np.mean([level[n, m] for m in ms]) for n in own} for ms in (UNSUPERVISED, ON_LABELS))
    told = f"without labels {listed(blind)}; with labels {listed(told_labels)}"
    made["labels-help"] = all(told_labels[n] > blind[n] for n in own), told
    return made


def _on_table_4(r: Results) -> dict[str, Finding]:
    made: dict[str, Finding] = {}
    row = {name: np.array([r.at_most(name, method) for method in ON_LABELS]) for name in r.plan.sets}
    off = dict(zip(ON_LABELS, row["PIE10P"] - printed("spec-table-4")["PIE10P"], strict=True))
    made["pie-supervised"] = max(map(abs, off.values())) <= 0.02, f"computed less printed {listed(off, '+.3f')}"
    behind = {f"{n} {g}": row[n].max() - r.at_most(n, f"{g}, φ2") for n in r.own for g in "RC"}
    made["phi2-robust-supervised"] = max(behind.values()) <= 0.05, f"below the best by {listed(behind)}"
    fails = all(row[name].argmin() == ON_LABELS.index("R, φ3") for name in r.own if name != "PIE10P")
    made["relief-phi3-fails"] = fails, listed({name: row[name][3] for name in row})
    for key, wanted_gap, *pair in (
        ("ls-is-phi2", "LS and φ2", LS, "RBF φ2, r"),
        ("footnote-9", "r and r⁴"),
        ("theorem-5", "RLF and", RLF, "R, φ1"),
        ("fisher", "Fisher and"),
    ):
        gap = max(value for gaps in r.gaps.values() for name, value in gaps.items() if wanted_gap in name)
        equal = not pair or all(np.array_equal(r.curves[n, pair[0]], r.curves[n, pair[1]]) for n in r.plan.sets)
        made[key] = gap <= 1e-9 and equal, f"relative difference {small(gap)}"
    return made


def _nearest(r: Results) -> Finding:
    """Section 3.3 again, with the eigenvectors of R whose eigenvalues are nearest 0."""
    others = [method for method in ON_LABELS if method != "R, φ3"]
    fails = [r.at_most(n, NEAREST) < min(r.at_most(n, m) for m in others) for n in r.own if n != "PIE10P"]
    return all(fails), listed({name: r.at_most(name, NEAREST) for name in r.own})


def _as_given(r: Results) -> Finding:
    """Section 4.2 again, with ReliefF on features as given."""
    labels = averages(r)[1]
    ranked = sorted((RLF_AS_GIVEN, *ON_LABELS[1:]), key=labels.get, reverse=True)
    return ranked[:2] == ["C, φ2", RLF_AS_GIVEN], listed({method: labels[method] for method in ranked})


def _ours(r: Results) -> dict[str, Finding]:
    made: dict[str, Finding] = {}
    free = {n: {m: r.at_most(n, m) for m in UNSUPERVISED} for n in r.plan.sets}
    random = {n: r.at_most(n, RANDOM) for n in r.plan.sets}
    told = f"random {listed(random)}; best without labels {listed({n: max(free[n].values()) for n in free})}"
    made["random-pixels"] = random["PIE10P"] > max(free["PIE10P"].values()), told
    worse = sum(r.at_most(n, m) <= random[n] for n in FACES for m in ON_LABELS)
    made["labels-beat-random-pixels"] = not worse, f"{worse} of {len(FACES) * len(ON_LABELS)} do not"
    beaten = {n: np.mean([value > random[n] for value in free[n].values()]) for n in r.own if n in TEXTS}
    made["unsupervised-beats-random-terms"] = min(beaten.values()) == 1, f"share that does: {listed(beaten, '.2f')}"
    if CORRECTED in r.plan.sets:
        moved = {m: r.at_most(CORRECTED, m) - r.at_most("RELATHE", m) for m in (*ON_LABELS, ALL)}
        made["right-labels"] = min(moved.values()) > 0, f"change {listed(moved, '+.3f')}"
    return made


def figures(r: Results) -> dict[str, list[Curve]]:
    """One row of panels per set: RBF weights, diffusion kernel, graphs of the labels."""
    panels = {kernel: {column: f"{kernel} {column}" for column in COLUMNS} | {LS: LS} for kernel in KERNELS}
    panels["labels"] = {method: method for method in (*ON_LABELS, RLF_AS_GIVEN)}
    return {
        "accuracy": [
            (f"{name}, {panel}", line, r.plan.sizes, r.curves[name, method].mean(axis=0))
            for name in r.own
            for panel, lines in panels.items()
            for line, method in (lines | {RANDOM: RANDOM}).items()
        ]
    }
