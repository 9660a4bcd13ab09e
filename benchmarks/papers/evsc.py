"""[EV] Jiang and Ren 2011, eigenvalue sensitive feature selection: Tables 2 to 5, Figs. 1 to 5.

    EVSC(t) = Σ_r |dλ_r/dw_t|                                                             [EV] eq. 15
    ACC  k-means against the classes, the best of 10 starts under the best matching       [EV] section 4.2
    JAS  neighbours by inner product that survive the selection, as a Jaccard index       [EV] section 4.2

Every function takes names and numbers only, so that a worker process loads its own data and one thread does the work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from fiedler import EVSC, KNN, RBF, SPEC, Criterion, LaplacianScore, Variance
from fiedler.evaluate import clustering_curve, good_against_bad, jaccard_curve
from fiedler.evaluate.tuning import turning_point
from fiedler.problem import Problem
from fiedler.selection.ranking import rank

from ..data import paper_set
from ..pages import table
from .common import Curve, Finding, Report, in_parallel, listed, printed

SETS = {"PIX": "pixraw10P", "ORL": "orlraws10P", "TOX": "TOX_171", "nakayama": "nakayama"}
SHARED = ("PIX", "ORL", "TOX")  # the paper's own sets; nakayama stands in for GLA-BRA-180
METHODS = ("Laplacian score", "SPEC", "EVSC", "variance", "random")
READINGS = ("LS, 5-NN graph", "SPEC, γ = λ⁴")  # other graphs and functions that the rivals may have had
N_NEIGHBORS = 5  # m of the Jaccard score, which the paper does not print
LEADING = 2000  # features whose scores Fig. 4 shows
KEPT = 1000  # features whose share of Σ x² explains the Jaccard scores
NEAR = 0.05  # how close counts as the printed number, and as nearly the best
NEIGHBORS, QUICK_NEIGHBORS = (1, 2, 3, 5, 10, 20, 50), (2, 5, 20)
WIDTHS, QUICK_WIDTHS = (0.1, 0.25, 0.5, 1.0, 2.0), (0.25, 1.0)
TABLES = {("ACC", "good"): 2, ("JAS", "good"): 3, ("ACC", "bad"): 4, ("JAS", "bad"): 5}
SCALINGS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "raw": lambda X: X,
    "centred": lambda X: X - X.mean(axis=0),
    "z-scored": lambda X: (X - X.mean(axis=0)) / X.std(axis=0),
    "[0, 1]": lambda X: (X - X.min(axis=0)) / np.ptp(X, axis=0),
    "unit norm rows": lambda X: X / np.linalg.norm(X, axis=1, keepdims=True),
}


@cache
def data(name: str, scaling: str = "raw") -> tuple[np.ndarray, np.ndarray]:
    X, y, _ = paper_set(SETS[name])
    return SCALINGS[scaling](X), y


def criterion(method: str, width: float = 1.0) -> Criterion:
    """The method, on the full RBF graph of that many median distances; SPEC is φ1, as φ2 is the Laplacian score."""
    graph, mode = RBF(scale=width), "trace" if width >= 0.25 else "exact"  # where the trace form is known to be exact
    return {
        "Laplacian score": LaplacianScore(graph),
        "SPEC": SPEC(graph, phi=1),
        "EVSC": EVSC(graph, mode=mode),
        "variance": Variance(),
        READINGS[0]: LaplacianScore(KNN(5)),
        READINGS[1]: SPEC(graph, phi=1, gamma=4),
    }[method]


@cache
def ranking(
    name: str, method: str, seed: int, draw: int = 0, scaling: str = "raw", width: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Scores (NaN for random) and the order of the features, best first."""
    X, _ = data(name, scaling)
    if method == "random":
        return np.full(X.shape[1], np.nan), np.random.default_rng([seed, draw]).permutation(X.shape[1])
    return rank(criterion(method, width), Problem.of(X))[:2]


def good_and_bad(name: str, method: str, draw: int, sizes: np.ndarray, repeats: int, seed: int) -> np.ndarray:
    """ACC and JAS on the first and on the last features, shape (measures, sides, repeats, sizes)."""
    (X, y), (_, order) = data(name), ranking(name, method, seed, draw)
    kmeans = {"metric": "clustering_accuracy", "n_repeats": repeats, "random_state": seed}
    inner = {"metric": "jaccard", "n_neighbors": N_NEIGHBORS}
    pairs = [good_against_bad(X, y, order, n_features=sizes, **options) for options in (kmeans, inner)]
    shape = repeats, len(sizes)  # JAS has nothing to repeat
    return np.array([[np.broadcast_to(curve.values, shape) for curve in pair] for pair in pairs])


@dataclass(frozen=True)
class Curves:
    """The measures on good and bad features, per set and method (measures, sides, runs, sizes).

    The runs are repeats of k-means, or random rankings.
    """

    sizes: np.ndarray
    runs: Mapping[tuple[str, str], np.ndarray]

    def of_run(self, measure: str, side: str, run: int) -> np.ndarray:
        """Curves of the rankings in one run, (set, method, size), random left out."""
        i, j = _place(measure, side)
        return np.array([[self.runs[name, method][i, j, run] for method in METHODS[:-1]] for name in SETS])

    def values(self, measure: str, side: str) -> np.ndarray:
        """Curves averaged over the runs, (set, method, size)."""
        i, j = _place(measure, side)
        return np.array([[self.runs[name, method][i, j].mean(axis=0) for method in METHODS] for name in SETS])

    def mean(self, measure: str, side: str = "good") -> dict[str, np.ndarray]:
        """The averages over the sizes that the tables print, per set and method."""
        return dict(zip(SETS, self.values(measure, side).mean(axis=-1), strict=True))

    def at(self, measure: str, name: str, size: int) -> float:
        """EVSC's value on the first features of that number."""
        i, j = _place(measure, "good")
        return float(self.runs[name, "EVSC"][i, j, :, list(self.sizes).index(size)].mean())


def _place(measure: str, side: str) -> tuple[int, int]:
    return ("ACC", "JAS").index(measure), ("good", "bad").index(side)


def all_curves(sizes: np.ndarray, repeats: int, draws: int, n_jobs: int, seed: int) -> Curves:
    """The two measures on good and bad features, for every set and method."""
    cells = [
        (name, method, draw, sizes, repeats if method != "random" else 1, seed)
        for name in SETS
        for method in METHODS
        for draw in range(draws if method == "random" else 1)
    ]
    found: dict[tuple[str, str], list[np.ndarray]] = {(name, method): [] for name in SETS for method in METHODS}
    for cell, curves in zip(cells, in_parallel("evsc: Tables 2 to 5", n_jobs, good_and_bad, cells), strict=True):
        found[cell[:2]].append(curves)
    return Curves(sizes, {key: np.concatenate(curves, axis=2) for key, curves in found.items()})


def jaccard_by_neighbors(
    name: str, method: str, draw: int, neighbors: Sequence[int], sizes: np.ndarray, seed: int
) -> np.ndarray:
    """JAS averaged over the sizes, per number of neighbours."""
    (X, _), (_, order) = data(name), ranking(name, method, seed, draw)
    return np.array([jaccard_curve(X, order, n_features=sizes, n_neighbors=m).mean.mean() for m in neighbors])


def setting(
    name: str,
    scaling: str,
    width: float,
    neighbors: Sequence[int],
    sizes: np.ndarray,
    seed: int,
    with_accuracy: bool,
) -> dict[str, Any]:
    """One scaling and width: JAS of LS, SPEC, EVSC and random; EVSC's on good and bad features for any m; its ACC."""
    X, y = data(name, scaling)
    orders = [ranking(name, method, seed, 0, scaling, width)[1] for method in (*METHODS[:3], "random")]

    def kept(order: np.ndarray, m: int) -> float:
        return jaccard_curve(X, order, n_features=sizes, n_neighbors=m).mean.mean()

    evsc = orders[2]
    acc = clustering_curve(X, y, evsc, n_features=sizes, random_state=seed).mean.mean() if with_accuracy else np.nan
    return {
        "JAS": np.array([kept(order, N_NEIGHBORS) for order in orders]),
        "good and bad": np.array([[kept(evsc, m), kept(evsc[::-1], m)] for m in neighbors]),
        "ACC": acc,
    }


def about_evsc(name: str, repeats: int, seed: int) -> dict[str, Any]:
    """The sorted EVSC curve with its turning point, and how the trace form compares with eq. 15 and the variance."""
    (X, y), (scores, order) = data(name), ranking(name, "EVSC", seed)
    turn, among_leading = (turning_point(scores[part])[0] for part in (order, order[:LEADING]))
    exact = EVSC().evaluate(X)
    return {
        "sorted": scores[order[:LEADING]] / scores[order[0]],
        "turn": turn,
        "turn among leading": among_leading,
        "ACC": clustering_curve(X, y, order, n_features=[turn], n_repeats=repeats, random_state=seed).mean[0],
        "JAS": jaccard_curve(X, order, n_features=[turn], n_neighbors=N_NEIGHBORS).mean[0],
        "trace error": float(np.max(np.abs(scores - exact) / exact)),
        "spearman": float(spearmanr(scores, ranking(name, "variance", seed)[0]).statistic),
        "inner products": [inner_products_kept(X, ranking(name, method, seed)[1]) for method in ("EVSC", "random")],
    }


def inner_products_kept(X: np.ndarray, order: np.ndarray) -> tuple[float, float]:
    """Share of Σ x² in the first features, and how their inner products between rows correlate with those of all."""
    some = X[:, order[:KEPT]]
    pairs = np.triu_indices(len(X), 1)
    correlation = np.corrcoef((X @ X.T)[pairs], (some @ some.T)[pairs])[0, 1]
    return float(np.sum(some**2) / np.sum(X**2)), float(correlation)


def iris_eigenvectors(width: float = 1.0) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray], np.ndarray]:
    """F1 and F3, classes, the first three eigenvectors of D⁻¹L per subset, and the EVSC of F1 and F3 ([EV] Fig. 1).

    One bandwidth for the three graphs, as the derivative with respect to a weight has it.
    """
    X, y, _ = paper_set("iris")
    X = X[:, [0, 2]]
    bandwidth = RBF(scale=width).build(X).bandwidth
    vectors = {}
    for subset, columns in {"{F1, F3}": [0, 1], "{F3}": [1], "{F1}": [0]}.items():
        graph = RBF(bandwidth).build(X[:, columns])
        vectors[subset] = graph.inverse_root_degree[:, None] * graph.spectrum(3)[1]
    return X, y, vectors, EVSC(RBF(bandwidth)).evaluate(X)


def overlap(A: np.ndarray, B: np.ndarray) -> float:
    """Mean squared cosine of the principal angles between the column spaces: 1 when they are the same."""
    A, B = np.linalg.qr(A)[0], np.linalg.qr(B)[0]
    return float(np.sum((A.T @ B) ** 2) / A.shape[1])


def total_fall(curves: np.ndarray) -> np.ndarray:
    """How much the curves (last axis) go down on their way: 0 for one that only rises."""
    return np.maximum(-np.diff(curves, axis=-1), 0.0).sum(axis=-1)


# -------------------------------------------------------------------- tables, findings, figures


@dataclass(frozen=True)
class Results:
    """Everything computed."""

    curves: Curves
    about: dict[str, dict[str, Any]]  # of EVSC on each set
    neighbors: dict[str, np.ndarray]  # JAS on TOX by method, one value per number of neighbours
    numbers: tuple[int, ...]  # of neighbours
    iris: dict[float, list[float]]  # overlap without F1 and without F3, EVSC of both, by width
    settings: dict[tuple[str, str, float], dict[str, Any]]  # by set, scaling and width


def run(quick: bool = False, n_jobs: int = 2, seed: int = 0) -> Report:
    sizes = np.arange(100, 2000, 600 if quick else 100)
    repeats, draws = (1, 2) if quick else (3, 5)
    widths, numbers = (QUICK_WIDTHS, QUICK_NEIGHBORS) if quick else (WIDTHS, NEIGHBORS)
    curves = all_curves(sizes, repeats, draws, n_jobs, seed)
    about = in_parallel("evsc: Fig. 4", n_jobs, about_evsc, [(name, repeats, seed) for name in SETS])
    methods = [*METHODS[:2], *READINGS, *METHODS[2:]]
    cells = [("TOX", m, d, numbers, sizes, seed) for m in methods for d in range(draws if m == "random" else 1)]
    by_number = in_parallel("evsc: neighbours on TOX", n_jobs, jaccard_by_neighbors, cells)
    kept = {m: np.mean([f for f, c in zip(by_number, cells, strict=True) if c[1] == m], axis=0) for m in methods}
    scalings = list(SCALINGS)[: 3 if quick else None]
    # k-means does not see a shift, so that "centred" has no ACC of its own.
    cells = [
        (at, s, w, numbers, sizes, seed, not quick and s != "centred")
        for at in SHARED
        for s in scalings
        for w in widths
    ]
    settings = dict(zip((c[:3] for c in cells), in_parallel("evsc: settings", n_jobs, setting, cells), strict=True))
    results = Results(curves, dict(zip(SETS, about, strict=True)), kept, numbers, iris_overlaps(), settings)
    return Report(tables(results), findings(results), {} if quick else figures(results))


def iris_overlaps() -> dict[float, list[float]]:
    found = {}
    for width in WIDTHS:
        _, _, Q, scores = iris_eigenvectors(width)
        found[width] = [*(overlap(Q["{F1, F3}"], Q[kept]) for kept in ("{F3}", "{F1}")), *scores]
    return found


def tables(r: Results) -> dict[str, tuple]:
    widths = list(dict.fromkeys(width for _, _, width in r.settings))
    jas, best = r.curves.mean("JAS"), {m: r.curves.values(m, "good")[:, 2].max(axis=-1) for m in ("ACC", "JAS")}
    found = {}
    for (measure, side), number_of in TABLES.items():
        corner = f"{measure}, {'first' if side == 'good' else 'last'} features"
        found[f"table-{number_of}"] = table(corner, METHODS, beside(r.curves.mean(measure, side)))
    turning, inner = {}, {}
    for place, (name, about) in enumerate(r.about.items()):
        there = [value for m in ("ACC", "JAS") for value in (about[m], best[m][place])]
        turning[label(name)] = [about["turn"], about["turn among leading"], *there]
        inner[label(name)] = [*np.array(about["inner products"]).T.ravel(), jas[name][2], jas[name][4]]
    by_number = {f"m = {m}": [kept[i] for kept in r.neighbors.values()] for i, m in enumerate(r.numbers)}
    of_turning = ["turns after", f"among {LEADING}", "ACC there", "best ACC*", "JAS there", "best JAS*"]
    of_inner = ["share of Σ x², EVSC", "random", "correlation, EVSC", "random", "JAS, EVSC", "random"]
    of_iris = ["overlap without F1", "without F3", "EVSC of F1", "of F3"]
    found["iris"] = table("width, median distances", of_iris, {f"{width:g}": row for width, row in r.iris.items()})
    found["neighbors"] = table("JAS on TOX", r.neighbors, by_number)
    found["turning"] = table("set", of_turning, turning)
    found["inner-products"] = table("set", of_inner, inner)
    for measure in ("JAS", "ACC"):
        ends = ["best of LS, SPEC", "random"] if measure == "JAS" else []
        keys = dict.fromkeys((name, scaling) for name, scaling, _ in r.settings)
        rows = {f"{name}, {scaling}": setting_row(r, measure, name, scaling) for name, scaling in keys}
        columns = [*(f"{width:g}" for width in widths), *ends, "EVSC printed"]
        known = {at: row for at, row in rows.items() if not np.isnan(row).any()}
        found[f"settings-{measure.lower()}"] = table(f"{measure} of EVSC", columns, known)
    return found


def beside(means: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The rows of a table of the paper, its data sets that could not be had included."""
    rows = {name: means[name] for name in SHARED}
    rows["average of the three"] = np.mean(list(rows.values()), axis=0)
    rows |= dict.fromkeys(("GLA, not had", "CLL, not had"), np.full(len(METHODS), np.nan))
    return rows | {"nakayama, stand-in for GLA": means["nakayama"]}


def setting_row(r: Results, measure: str, name: str, scaling: str) -> list[float]:
    found = [entry for (at, s, _), entry in r.settings.items() if (at, s) == (name, scaling)]
    theirs = printed(f"evsc-table-{TABLES[measure, 'good']}")[name][2]
    if measure == "ACC":
        return [*(entry["ACC"] for entry in found), theirs]
    rivals = max(entry["JAS"][:2].max() for entry in found)
    return [*(entry["JAS"][2] for entry in found), rivals, found[0]["JAS"][3], theirs]


def label(name: str) -> str:
    return "nakayama (stand-in for GLA)" if name == "nakayama" else name


def of_methods(values: Sequence[float]) -> str:
    return listed(dict(zip(METHODS, values, strict=False)))


def findings(r: Results) -> dict[str, Finding]:
    """Places in a row of means: 0 is the Laplacian score, 1 SPEC, 2 EVSC, 3 the variance, 4 random features."""
    curves, means = r.curves, {m: r.curves.mean(m) for m in ("ACC", "JAS")}
    errors = [about["trace error"] for about in r.about.values()]
    rho = {name: about["spearman"] for name, about in r.about.items()}
    overlaps = [values[:2] for values in r.iris.values()]
    found: dict[str, Finding] = {
        "trace": (max(errors) < 1e-9, f"largest relative difference {max(errors):.0e}"),
        "variance": (min(rho.values()) > 0.99, listed(rho, ".4f")),
        "iris": (all(a > b for a, b in overlaps), "; ".join(map(listed, overlaps))),
    }
    for measure, of_set in means.items():
        for name, values in of_set.items():
            lead = leads(curves, measure, name)
            found[f"{measure.lower()}-{name}"] = lead.min() > 0, f"{of_methods(values)}; least lead {lead.min():.3f}"
    faces = {name: curves.at("ACC", name, 1300) for name in ("ORL", "PIX")}
    found["acc-faces"] = min(faces.values()) > 1 - NEAR, listed(faces)
    start = {name: curves.at("JAS", name, 100) for name in ("PIX", "TOX")}
    found["jas-100"] = min(start.values()) >= 0.75, listed(start)
    for measure, of_set in means.items():
        told = "; ".join(f"{name} {values[2]:.3f} against {values[4]:.3f}" for name, values in of_set.items())
        found[f"{measure.lower()}-random"] = all(values[2] > values[4] for values in of_set.values()), told
    rivals = np.max([r.neighbors[m] for m in (*METHODS[:2], *READINGS)], axis=0)
    by_number = {f"m = {m}": kept for m, kept in zip(r.numbers, r.neighbors["EVSC"], strict=True)}
    told = listed(dict(zip(by_number, r.neighbors["EVSC"] - rivals, strict=True)))
    found["tox-above"] = bool(np.all(r.neighbors["EVSC"] > rivals)), f"ahead by {told}"
    off = abs(by_number[f"m = {N_NEIGHBORS}"] - printed("evsc-table-3")["TOX"][2])
    found["tox-value"] = off <= NEAR, listed(by_number)
    for name in ("TOX", "nakayama"):  # the sets of the paper's figure
        about, place = r.about[name], list(SETS).index(name)
        best = {m: curves.values(m, "good")[place, 2].max() for m in ("ACC", "JAS")}
        told = "; ".join(f"{m} {about[m]:.3f} of {value:.3f}" for m, value in best.items())
        found[f"turning-{name}"] = all(about[m] >= value - NEAR for m, value in best.items()), told
    return found | _good_and_bad(r) | _printed_settings(r)


def leads(curves: Curves, measure: str, name: str) -> np.ndarray:
    """EVSC's average less that of the better of the Laplacian score and SPEC, per run."""
    i, j = _place(measure, "good")
    runs = [curves.runs[name, method][i, j].mean(axis=-1) for method in METHODS[:3]]
    return runs[2] - np.maximum(runs[0], runs[1])


def _good_and_bad(r: Results) -> dict[str, Finding]:
    found: dict[str, Finding] = {}
    worse: dict[str, str] = {}
    for measure, factor in (("ACC", 1.0), ("JAS", 2.3)):
        good, bad = (r.curves.mean(measure, side) for side in ("good", "bad"))
        gap = {name: good[name][:3] - bad[name][:3] for name in SETS}
        ours = np.mean([gap[name] for name in SHARED], axis=0)
        theirs = [printed(f"evsc-table-{TABLES[measure, side]}") for side in ("good", "bad")]
        rows = ("PIX", "ORL", "GLA, not had", "CLL, not had", "TOX")
        paper = np.mean([theirs[0][name][:3] - theirs[1][name][:3] for name in rows], axis=0)
        told = f"{of_methods(ours)}; printed {of_methods(paper)}"
        found[f"gap-{measure.lower()}"] = ours[2] > factor * ours[:2].max(), told
        own = gap["nakayama"]
        found[f"gap-{measure.lower()}-nakayama"] = own[2] > own[:2].max(), of_methods(own)
        runs = range(min(len(found[0, 0]) for found in r.curves.runs.values()))
        falls = np.array([total_fall(r.curves.of_run(measure, "good", run))[:, :3] for run in runs])
        told = "; ".join(f"{name} {listed(row)}" for name, row in zip(SETS, falls.mean(axis=0), strict=True))
        found[f"rising-{measure.lower()}"] = bool(np.all(falls[..., 2] <= falls[..., :2].min(axis=-1))), told
        rival = 1 if measure == "ACC" else 0
        pairs = {name: (good[name][rival], bad[name][rival]) for name in SETS}
        worse |= {f"{measure}, {name}": listed(pair) for name, pair in pairs.items() if pair[1] > pair[0]}
    both = all(any(where.startswith(measure) for where in worse) for measure in ("ACC", "JAS"))
    found["bad-better"] = both, "; ".join(f"{where}: {pair}" for where, pair in worse.items())
    kept = {name: np.array(about["inner products"])[:, 1] for name, about in r.about.items()}
    holds = all((k[0] > k[1]) == (name in ("TOX", "nakayama")) for name, k in kept.items())
    found["shares"] = holds, "; ".join(f"{name} {listed(k, '.4f')}" for name, k in kept.items())
    return found


def _printed_settings(r: Results) -> dict[str, Finding]:
    """Whether some setting gives the printed ACC, and the printed JAS of good and of bad features together."""
    found: dict[str, Finding] = {}
    theirs = {(measure, side): printed(f"evsc-table-{n}") for (measure, side), n in TABLES.items()}
    close = {}
    for name in SHARED:
        values = np.array([entry["ACC"] for (at, *_), entry in r.settings.items() if at == name])
        close[name] = int(np.sum(np.abs(values - theirs["ACC", "good"][name][2]) <= NEAR))
    found["printed-acc"] = min(close.values()) > 0, f"settings that do: {listed(close, '')}"
    for name in SHARED:
        wanted = np.array([theirs["JAS", side][name][2] for side in ("good", "bad")])
        pairs = np.array([entry["good and bad"] for (at, *_), entry in r.settings.items() if at == name]).reshape(-1, 2)
        distance = np.abs(pairs - wanted).max(axis=1)
        told = f"{np.sum(distance <= NEAR)} of {len(pairs)} settings; nearest {listed(pairs[distance.argmin()])}"
        found[f"printed-{name}"] = distance.min() <= NEAR, told
    return found


def figures(r: Results) -> dict[str, list[Curve]]:
    sizes, found = r.curves.sizes, {}
    for measure in ("ACC", "JAS"):
        good, bad = (dict(zip(SETS, r.curves.values(measure, side), strict=True)) for side in ("good", "bad"))
        found[measure.lower()] = [
            (label(name), method, sizes, y) for name in SETS for method, y in zip(METHODS, good[name], strict=True)
        ]
        found[f"bad-{measure.lower()}"] = [
            (f"{name}: {METHODS[place]}", side, sizes, values[name][place])
            for name in SETS
            for place in range(3)
            for side, values in (("first features", good), ("last features", bad))
        ]
    found["turning"] = []
    for place, (name, about) in enumerate(r.about.items()):
        panel = f"{label(name)}: turns after {about['turn']:,}"
        found["turning"].append(
            (panel, "EVSC, share of the largest", np.arange(1, LEADING + 1, 20), about["sorted"][::20])
        )
        for measure, line in (("JAS", "Jaccard score"), ("ACC", "clustering accuracy")):
            found["turning"].append((panel, line, sizes, r.curves.values(measure, "good")[place, 2]))
    return found
