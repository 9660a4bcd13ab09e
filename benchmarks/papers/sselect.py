"""[ZL] Zhao and Liu 2007, semi-supervised feature selection via spectral analysis, section 4: Table 2, Figs. 3 to 7.

A draw shows l/2 labels of each class. sSelect ranks with all rows and these labels, the Laplacian score with the other
rows alone, Fisher with the shown rows alone; 5-fold 1-NN on all rows judges each ranking. Only the labels shown depend
on l, and a larger l shows what a smaller one showed and more, so that differences are paired.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.stats import spearmanr

from fiedler import KNN, Disagreement, FisherScore, Graph, LaplacianScore, Rayleigh, SpectralSelector, Variance
from fiedler.criteria.disagreement import best_cut, cut, cut_recipe
from fiedler.evaluate.curves import spread
from fiedler.selection.ranking import rank_features

from ..data import paper_set
from ..pages import number, table
from .common import Curve, Finding, Report, in_parallel, listed

SETS = ("PCMAC", "BASEHOCK", "MACBASE")
PAPER_LABELS = (2, 6, 10)
LAMBDA = 0.1  # [ZL] section 4.1
SSELECT, BY_CUT, BY_KERNEL = "sSelect", "sSelect, λ by kNN cut", "sSelect, λ by kernel cut"
FISHER, LAPLACIAN, VARIANCE, RANDOM = "Fisher", "Laplacian", "variance", "random"
METHODS = (SSELECT, BY_CUT, BY_KERNEL, FISHER, LAPLACIAN, VARIANCE, RANDOM)
BLIND = (VARIANCE, RANDOM)  # read neither labels nor the rows they are shown for
FEW, MANY = 10, 200  # numbers of features at which [ZL] Fig. 4 and Fig. 7 vary λ
N_FOLDS = 5
CLOSE = 0.005  # accuracies nearer than this are not told apart
_ORDER, _LABELS, _FOLDS, _RANDOM = range(4)  # what a draw is seeded for


@dataclass(frozen=True)
class Plan:
    """How much of the experiment is run."""

    sets: tuple[str, ...] = SETS
    n_draws: int = 20
    labels: tuple[int, ...] = tuple(range(2, 21, 2))
    sizes: tuple[int, ...] = tuple(range(5, 51, 5))
    lambdas: tuple[float, ...] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    seed: int = 0


QUICK = Plan(n_draws=2, labels=PAPER_LABELS, sizes=(10, 30, 50), lambdas=(0.1, 0.9))


@dataclass(frozen=True, eq=False)
class TextSet:
    """A text set in random row order, with the graph over all rows and the first term of [ZL] eq. 3.8 on it."""

    X: Any
    y: np.ndarray
    graph: Graph
    separability: np.ndarray


@dataclass(frozen=True, eq=False)
class Sweep:
    """What every λ gives on the first features: one row per l of the paper, one column per λ."""

    accuracy: np.ndarray
    cut: np.ndarray  # of the kNN graph; 0 where it falls apart
    n_components: np.ndarray  # of the kNN graph
    smaller_side: np.ndarray  # rows on the smaller side of the kNN graph's cut
    kernel_cut: np.ndarray  # of the full RBF graph; NaN where it is not computed


@dataclass(frozen=True, eq=False)
class Draw:
    """All numbers of one draw; curves have one value per size.

    ``curves[method, l]`` is the accuracy over all rows, ``hidden[method, l]`` over rows whose label was not shown; l is
    0 for methods that read no label. ``losses[l]`` are the values of 1 - NMI of all terms, sorted, and ``scored[l]`` is
    the number of terms that Fisher gives a score.
    """

    curves: dict[tuple[str, int], np.ndarray]
    hidden: dict[tuple[str, int], np.ndarray]
    sweeps: dict[int, Sweep]
    chosen: dict[tuple[str, int], float]
    losses: dict[int, np.ndarray]
    scored: dict[int, int]


@dataclass(frozen=True, eq=False)
class Results:
    """The draws of all sets, as arrays with one row per draw."""

    plan: Plan
    draws: dict[str, list[Draw]]

    def cells(self) -> list[tuple[str, int]]:
        return [(name, l) for name in self.plan.sets for l in PAPER_LABELS]

    def curves(self, name: str, method: str, l: int, hidden: bool = False) -> np.ndarray:
        key = (method, 0 if method in BLIND else l)
        return np.array([(draw.hidden if hidden else draw.curves)[key] for draw in self.draws[name]])

    def level(self, name: str, method: str, l: int, hidden: bool = False) -> float:
        """Accuracy averaged over draws and numbers of features, as Table 2 averages it."""
        return float(self.curves(name, method, l, hidden).mean())

    def gain(self, name: str, over: str, l: int, hidden: bool = False) -> tuple[float, float]:
        """sSelect less another method, averaged as in Table 2, and the half width of its 95 % band over the draws."""
        gains = (self.curves(name, SSELECT, l, hidden) - self.curves(name, over, l, hidden)).mean(axis=1)
        band = spread(gains[:, None])
        return float(band["mean"][0]), float(band["high"][0] - band["mean"][0])

    def sweep(self, name: str, size: int, what: str) -> np.ndarray:
        """Shape (draws, l of the paper, λ)."""
        return np.array([getattr(draw.sweeps[size], what) for draw in self.draws[name]])


@cache
def text_set(name: str, seed: int) -> TextSet:
    """A set by name. Files are sorted by class and counts tie, so rows are shuffled before anything else."""
    X, y, _ = paper_set(name)
    rows = np.random.default_rng([seed, _ORDER]).permutation(len(y))
    X, y = X[rows], np.unique(y[rows], return_inverse=True)[1]
    graph = KNN().build(X)
    return TextSet(X, y, graph, Rayleigh(graph).evaluate(X))


def run_draws(plan: Plan, n_jobs: int) -> Results:
    """Every draw of every set."""
    draws = {}
    for name in plan.sets:
        cells = [(text_set(name, plan.seed), plan, draw) for draw in range(plan.n_draws)]
        draws[name] = in_parallel(f"sselect: {name}", n_jobs, one_draw, cells)
    return Results(plan, draws)


def one_draw(text: TextSet, plan: Plan, number: int) -> Draw:
    seed = [plan.seed, number]
    folds = stratified_folds(text.y, N_FOLDS, np.random.default_rng([*seed, _FOLDS]))
    filler = np.random.default_rng([*seed, _RANDOM]).permutation(text.X.shape[1])
    draw = Draw({}, {}, {}, {}, {}, {})
    rows: dict[int, list[list]] = {FEW: [], MANY: []}

    def judge(method: str, shown: Sequence[int], order: np.ndarray) -> None:
        right = np.array([chance_right(text, order[:size], folds) for size in plan.sizes])
        key = (method, len(shown))
        draw.curves[key], draw.hidden[key] = right.mean(axis=1), np.delete(right, shown, axis=1).mean(axis=1)

    judge(RANDOM, [], filler)
    judge(VARIANCE, [], ranking(Variance(), text.X, None, filler)[0])
    for l in plan.labels:
        shown = shown_rows(text.y, l, np.random.default_rng([*seed, _LABELS]))
        y = np.full(len(text.y), -1)
        y[shown] = text.y[shown]
        loss = Disagreement(text.graph).evaluate(text.X, y)
        orders = {lam: rank_features(lam * text.separability + (1 - lam) * loss, False) for lam in plan.lambdas}
        judge(SSELECT, shown, orders[LAMBDA])
        if l not in PAPER_LABELS:
            continue
        draw.losses[l] = np.sort(loss[~np.isnan(loss)])
        by_fisher, draw.scored[l] = ranking(FisherScore(), text.X, y, filler)
        judge(FISHER, shown, by_fisher)
        judge(LAPLACIAN, shown, ranking(LaplacianScore(), text.X[y < 0], None, filler)[0])
        for size in rows:
            rows[size].append(sweep(text, [orders[lam][:size] for lam in plan.lambdas], folds))
        _, *cuts, kernel = np.transpose(rows[FEW][-1])
        by_cut = best_cut(list(zip(*cuts, strict=True)))
        for method, at in ((BY_CUT, by_cut), (BY_KERNEL, np.argmin(kernel.round(9)))):
            draw.chosen[method, l] = plan.lambdas[at]
            judge(method, shown, orders[plan.lambdas[at]])
    draw.sweeps.update({size: Sweep(*np.moveaxis(np.array(found), 2, 0)) for size, found in rows.items()})
    return draw


def sweep(text: TextSet, selections: Sequence[np.ndarray], folds: np.ndarray) -> list[tuple]:
    """The fields of Sweep for each selection; equal selections are computed once."""
    keys, known = [np.sort(columns).tobytes() for columns in selections], {}
    for key, columns in zip(keys, selections, strict=True):
        if key not in known:
            # On 200 columns of counts the kernel cut is about zero for every λ: a few rows are extreme.
            kernel = kernel_cut(text.X[:, columns].toarray(), text.graph.bandwidth) if len(columns) == FEW else np.nan
            accuracy = chance_right(text, columns, folds).mean()
            known[key] = (accuracy, *cut(text.X[:, columns], cut_recipe(None)), kernel)
    return [known[key] for key in keys]


def kernel_cut(Z: np.ndarray, bandwidth: float) -> float:
    """Second smallest eigenvalue of 𝓛 of the full RBF graph, as ``cut_value(Z, RBF(bandwidth))``.

    Equal rows have equal entries in every eigenvector that matters, so one of each is enough: with c copies each,
    I - 𝓛 becomes C^½ D^-½ W D^-½ C^½ over the distinct rows, D = diag(Wc).
    """
    distinct, copies = np.unique(Z, axis=0, return_counts=True)
    norms = np.einsum("ij,ij->i", distinct, distinct)
    squared = np.maximum(norms[:, None] + norms - 2.0 * (distinct @ distinct.T), 0.0)
    W = np.exp(squared / (-2.0 * bandwidth**2))
    root = np.sqrt(copies / (W @ copies))
    last = len(distinct) - 1
    if last == 0:
        return 1.0  # all rows are equal: a complete graph
    second = eigh(root[:, None] * W * root, eigvals_only=True, subset_by_index=[last - 1, last])[0]
    return float(np.clip(1.0 - second, 0.0, 1.0))  # 1 is what copies of a row add


def shown_rows(y: np.ndarray, n_labels: int, rng: np.random.Generator) -> np.ndarray:
    """The rows whose labels are shown: half of them from each class."""
    rows = rng.permutation(len(y))
    return np.concatenate([rows[y[rows] == c][: n_labels // 2] for c in (0, 1)])


def stratified_folds(y: np.ndarray, n_folds: int, rng: np.random.Generator) -> np.ndarray:
    """The fold of every row, each class spread evenly."""
    rows = rng.permutation(len(y))
    rows = rows[np.argsort(y[rows], kind="stable")]
    folds = np.empty(len(y), dtype=np.intp)
    folds[rows] = np.arange(len(y)) % n_folds
    return folds


def chance_right(text: TextSet, columns: np.ndarray, folds: np.ndarray) -> np.ndarray:
    return nearest_neighbor_right(text.X[:, columns].toarray(), text.y, folds)


def nearest_neighbor_right(Z: np.ndarray, y: np.ndarray, folds: np.ndarray) -> np.ndarray:
    """The probability that 1-NN on the other folds is right, per row, when a tie goes to any of the tied rows.

    On a few columns of counts hundreds of rows are equal. Taking the first of the nearest, as most programs do, lets
    the order of the file decide for all of them at once; this is the average over all orders. Rows that are equal share
    their distances, which makes it fast.
    """
    weights = np.random.default_rng(0).integers(2**63, size=Z.shape[1])
    _, first, which = np.unique(Z.astype(np.int64) @ weights, return_index=True, return_inverse=True)
    distinct = Z[first].astype(np.float32)  # whole numbers below 2^24, so that ties are exact
    norms = np.einsum("ij,ij->i", distinct, distinct)
    counts = np.zeros((folds.max() + 1, len(distinct), y.max() + 1), dtype=np.float32)
    np.add.at(counts, (folds, which, y), 1.0)
    right = np.empty(len(y))
    for fold, tested in enumerate(counts):
        trained = counts.sum(axis=0) - tested
        test, train = (np.flatnonzero(part.any(axis=1)) for part in (tested, trained))
        beyond = (-2.0 * distinct[test]) @ distinct[train].T + norms[train]  # squared distances, less one's own norm
        votes = np.zeros_like(trained)
        votes[test] = (beyond == beyond.min(axis=1, keepdims=True)).astype(np.float32) @ trained[train]
        rows = np.flatnonzero(folds == fold)
        own = votes[which[rows]]
        right[rows] = own[np.arange(len(rows)), y[rows]] / own.sum(axis=1)
    return right


def ranking(criterion: Any, X: Any, y: np.ndarray | None, filler: np.ndarray) -> tuple[np.ndarray, int]:
    """Columns best first, those without a score (absent from the rows read) in random order, and how many have one."""
    selector = SpectralSelector(criterion, n_features_to_select=1).fit(X, y)
    scored = selector.order_[: np.count_nonzero(~np.isnan(selector.scores_))]
    return np.concatenate([scored, filler[~np.isin(filler, scored)]]), len(scored)


# -------------------------------------------------------------------- tables, findings, figures


def run(quick: bool, n_jobs: int, seed: int = 0) -> Report:
    results = run_draws(replace(QUICK if quick else Plan(), seed=seed), n_jobs)
    return Report(tables(results), findings(results), {} if quick else figures(results))


def tables(r: Results) -> dict[str, tuple]:
    rows, sets, others = {f"{n}, {l}": (n, l) for n, l in r.cells()}, r.plan.sets, (FISHER, LAPLACIAN)

    def gains(n: str, l: int, hidden: bool = False) -> list[float]:
        return [r.gain(n, other, l, hidden)[0] for other in others]

    def hiding(n: str, l: int) -> list[str]:
        both = zip(*([r.level(n, SSELECT, l, h), *gains(n, l, h)] for h in (False, True)), strict=True)
        return [f"{every:.4f} → {hidden:.4f}" for every, hidden in both]

    def pieces(n: str, l: int) -> list[str]:
        counts = r.sweep(n, FEW, "n_components")[:, PAPER_LABELS.index(l)].T
        return [f"{count.mean():.1f} ({np.mean(count == 1):.0%})" for count in counts]

    def by_cuts(n: str, l: int) -> list[str]:
        chosen = {m: np.mean([draw.chosen[m, l] for draw in r.draws[n]]) for m in (BY_CUT, BY_KERNEL)}
        return [cell for m, lam in chosen.items() for cell in (f"{lam:.2f}", f"{by_cut(r, n, m, l):+.4f}")]

    gained = {at: gains(*cell) for at, cell in rows.items()}
    found = {
        "facts": (["", *sets], facts(r)),
        "accuracy": table("set, l", METHODS, {at: [r.level(n, m, l) for m in METHODS] for at, (n, l) in rows.items()}),
        "table-2": table(
            "set, l",
            ["less Fisher", "less Laplacian"],
            gained | {"average": np.mean(list(gained.values()), axis=0).tolist()},
            4,
        ),
        "hidden": table(
            "set, l", ["sSelect", "less Fisher", "less Laplacian"], {at: hiding(*c) for at, c in rows.items()}
        ),
        "components": table(
            "components, set, l", [f"λ = {lam}" for lam in r.plan.lambdas], {at: pieces(*c) for at, c in rows.items()}
        ),
        "lambda": table(
            "set, l", ["λ by kNN cut", "gain", "λ by kernel cut", "gain"], {at: by_cuts(*c) for at, c in rows.items()}
        ),
        "figure-7": table("set", [f"l = {l}" for l in PAPER_LABELS], {n: best_lambda(r, n, MANY) for n in sets}, 1),
    }
    for l in (2, 10):
        counts = {n: [having(r, n, l, loss).mean() for loss in losses_printed(l)] for n in sets}
        found[f"losses-{l}"] = table("set", [f"l = {l}: {loss:.4f}" for loss in losses_printed(l)], counts, 0)
    return found


def facts(r: Results) -> list[list[str]]:
    """What each set is, and how frequent the first terms of two rankings are."""
    texts = [text_set(name, r.plan.seed) for name in r.plan.sets]
    scored = [[draw.scored[2] for draw in r.draws[name]] for name in r.plan.sets]
    orders = [[np.argsort(s)[:50] for s in (t.separability, -Variance().evaluate(t.X))] for t in texts]
    often = [[int(np.median((t.X[:, o] > 0).sum(axis=0))) for o in both] for t, both in zip(texts, orders, strict=True)]
    band = np.array([[[r.gain(n, o, l)[1] for o in (FISHER, LAPLACIAN)] for l in PAPER_LABELS] for n in r.plan.sets])
    return [
        ["documents × terms", *(f"{t.X.shape[0]} × {t.X.shape[1]}" for t in texts)],
        ["terms in no document", *(str(int(np.isnan(t.separability).sum())) for t in texts)],
        ["width of the graph", *(number(t.graph.bandwidth, 1) for t in texts)],
        ["terms that Fisher scores with two labels: median draw", *(number(np.median(s), 0) for s in scored)],
        ["the same: poorest draw", *(str(min(s)) for s in scored)],
        ["documents that hold a term, median of the first 50 by Laplacian", *(str(low) for low, _ in often)],
        ["the same by variance", *(str(high) for _, high in often)],
        ["95 % band of the gain over Fisher, mean of l", *(f"±{b:.3f}" for b in band[:, :, 0].mean(axis=1))],
        ["the same over Laplacian", *(f"±{b:.3f}" for b in band[:, :, 1].mean(axis=1))],
    ]


def findings(r: Results) -> dict[str, Finding]:
    cells, sets, lambdas = r.cells(), r.plan.sets, np.array(r.plan.lambdas)
    level = {(n, l, m): r.level(n, m, l) for n, l in cells for m in METHODS}
    curve = {cell: r.curves(cell[0], SSELECT, cell[1]).mean(axis=0) for cell in cells}
    found: dict[str, Finding] = {}
    for other in (FISHER, LAPLACIAN):
        above = np.array([curve[n, l] > r.curves(n, other, l).mean(axis=0) for n, l in cells])
        found[f"figure-3-{other.lower()}"] = above.all(), f"above it at {above.sum()} of {above.size} points"
    behind = {f"{n} {l}": level[n, l, FISHER] - level[n, l, LAPLACIAN] for n, l in cells}
    found["figure-3-order"] = min(behind.values()) > 0, listed(behind, "+.3f")
    rises = [values[-1] > values[0] for values in curve.values()]
    found["figure-3-more-features"] = all(rises), f"in {sum(rises)} of {len(rises)} panels"
    half = len(r.plan.sizes) // 2
    early, late = (np.mean([v[at] - v[at - half] for v in curve.values()]) for at in (half, len(r.plan.sizes) - 1))
    found["figure-3-slows-down"] = early > late > 0, f"rise in the first half {early:.3f}, in the last {late:.3f}"
    for blind in (RANDOM, VARIANCE):
        gains = {f"{n} {l}": r.gain(n, blind, l)[0] for n, l in cells}
        found[f"beats-{blind}"] = min(gains.values()) > 0, listed(gains, "+.3f")
    gains = np.array([[r.gain(n, other, l)[0] for other in (FISHER, LAPLACIAN)] for n, l in cells])
    for at, other in enumerate((FISHER, LAPLACIAN)):
        right = gains[:, at] > 0
        ends = f"from {gains[:, at].min():+.4f} to {gains[:, at].max():+.4f}"
        found[f"table-2-{other.lower()}"] = right.all(), f"{right.sum()} of {right.size} signs as printed; {ends}"
    average = gains.mean(axis=0)
    found["table-2-average"] = average[1] > average[0] > 0, listed({FISHER: average[0], LAPLACIAN: average[1]}, "+.4f")
    growth = {name: [r.gain(name, LAPLACIAN, l)[0] for l in PAPER_LABELS] for name in sets}
    grows = all(np.all(np.diff(values) > 0) for values in growth.values())
    found["table-2-growth"] = grows, "; ".join(f"{n} {listed(values, '+.4f')}" for n, values in growth.items())
    moved = [abs(r.level(n, SSELECT, l) - r.level(n, SSELECT, l, True)) for n, l in cells] + [
        abs(r.gain(n, o, l)[0] - r.gain(n, o, l, True)[0]) for n, l in cells for o in (FISHER, LAPLACIAN)
    ]
    found["shown-labels"] = max(moved) <= CLOSE, f"largest change {max(moved):.4f}"

    swept = {name: r.sweep(name, FEW, "accuracy").mean(axis=0) for name in sets}
    rows = {f"{n} {l}": a for n in sets for l, a in zip(PAPER_LABELS, swept[n], strict=True)}
    falls = {at: a[0] - a[-1] for at, a in rows.items()}
    found["figure-4-large-lambda"] = min(falls.values()) > 0.02, listed(falls)
    short = {at: a.max() - a[lambdas <= 0.3].max() for at, a in rows.items()}
    found["figure-4-region"] = max(short.values()) <= CLOSE, f"short of the best: {listed(short, '.4f')}"
    for key, what in (("knn", "cut"), ("kernel", "kernel_cut")):
        agree = {n: agreement(r.sweep(n, FEW, what).mean(axis=0).round(9), swept[n]) for n in sets}
        found[f"figure-4-cut-{key}"] = (
            all(v <= -0.7 for v in agree.values()),
            f"rank correlation {listed(agree, '+.2f')}",
        )
    for key, method in (("auto-knn", BY_CUT), ("auto-kernel", BY_KERNEL)):
        gained = {f"{n} {l}": by_cut(r, n, method, l) for n, l in cells}
        found[key] = min(gained.values()) >= -CLOSE, listed(gained, "+.4f")

    levels = {name: np.array([r.level(name, SSELECT, l) for l in r.plan.labels]) for name in sets}
    trend = {name: float(spearmanr(r.plan.labels, values).statistic) for name, values in levels.items()}
    found["figure-5"] = min(trend.values()) >= 0.7, f"rank correlation {listed(trend, '+.2f')}"
    surfaces = {n: np.array([r.curves(n, SSELECT, l).mean(axis=0) for l in r.plan.labels]) for n in sets}
    below = {name: surface.max() - surface[-1, -1] for name, surface in surfaces.items()}
    found["figure-6"] = max(below.values()) <= 0.02, f"below the highest point by {listed(below)}"
    few, many = (np.array([best_lambda(r, name, size) for name in sets]) for size in (FEW, MANY))
    told = "; ".join(f"{n} {listed(a, '.1f')} to {listed(b, '.1f')}" for n, a, b in zip(sets, few, many, strict=True))
    found["figure-7-shift"] = np.all(many > few), told
    found["figure-7-labels"] = np.all(np.diff(many) <= 0) and np.all(many[:, -1] < many[:, 0]), told
    distinct = {
        (n, l): np.mean([len(np.unique(d.losses[l].round(9))) for d in r.draws[n]]) for n in sets for l in (2, 10)
    }
    smooth = {n: len(np.unique(text_set(n, r.plan.seed).separability.round(9))) for n in sets}
    discrete = all(distinct[n, 2] == 2 and smooth[n] > 1000 for n in sets)
    found["figure-7-discrete"] = discrete, f"values of the unlabelled part: {listed(smooth, '')}"
    low = {n: sum(np.sum(draw.losses[10] < 1 - 5e-5) for draw in r.draws[n]) for n in sets}
    near = [loss for loss in losses_printed(10) if loss < 1]
    share = {n: sum(having(r, n, 10, loss).sum() for loss in near) / low[n] for n in sets}
    found["footnote-4"] = min(share.values()) >= 0.98, listed(share, ".2%")
    return found


def figures(r: Results) -> dict[str, list[Curve]]:
    sizes, lambdas, shown = r.plan.sizes, r.plan.lambdas, (SSELECT, FISHER, LAPLACIAN, VARIANCE, RANDOM)
    swept = {"cut": "cut, kNN graph", "kernel_cut": "cut, full RBF graph", "accuracy": "accuracy"}

    def sweeps(size: int, *wanted: str) -> list[Curve]:
        return [
            (f"{name}: {swept[what]}", f"l = {l}", lambdas, mean)
            for what in wanted
            for name in r.plan.sets
            for l, mean in zip(PAPER_LABELS, r.sweep(name, size, what).mean(axis=0), strict=True)
        ]

    def levels(name: str) -> list[float]:
        return [r.level(name, SSELECT, l) for l in r.plan.labels]

    def sorted_parts(name: str) -> list[Curve]:
        smooth = np.sort(text_set(name, r.plan.seed).separability)
        parts = {"labelled part, 1 - NMI": r.draws[name][0].losses[2], "unlabelled part, Laplacian score": smooth}
        places = np.unique(np.geomspace(1, len(smooth), 100).astype(int))
        return [(part, name, places[places <= len(v)], v[places[places <= len(v)] - 1]) for part, v in parts.items()]

    return {
        "accuracy": [(f"{n}, l = {l}", m, sizes, r.curves(n, m, l).mean(axis=0)) for n, l in r.cells() for m in shown],
        "lambda": sweeps(FEW, "kernel_cut", "cut", "accuracy"),
        "many": sweeps(MANY, "accuracy", "cut"),
        "labels": [("all features of the curve", name, r.plan.labels, levels(name)) for name in r.plan.sets],
        "surface": [
            (name, f"l = {l}", sizes, r.curves(name, SSELECT, l).mean(axis=0))
            for name in r.plan.sets
            for l in r.plan.labels
        ],
        "scores": [curve for name in r.plan.sets for curve in sorted_parts(name)],
    }


def best_lambda(r: Results, name: str, size: int) -> np.ndarray:
    """The λ of highest accuracy for each l, the smallest of equals."""
    return np.array(r.plan.lambdas)[r.sweep(name, size, "accuracy").mean(axis=0).argmax(axis=1)]


def by_cut(r: Results, name: str, method: str, l: int) -> float:
    """What a λ chosen by a cut gains over λ = 0.1."""
    return 0.0 - r.gain(name, method, l)[0]


def losses_printed(l: int) -> list[float]:
    """The losses 1 - NMI that the paper counts the terms of ([ZL] section 4.4.3 and footnote 4)."""
    return [0.0, 1.0] if l == 2 else [0.6042, 0.7635, 0.8755, 0.8920, 0.9651, 1.0]


def having(r: Results, name: str, l: int, loss: float) -> np.ndarray:
    """How many terms have that loss to four digits, per draw."""
    return np.array([np.sum(np.abs(draw.losses[l] - loss) < 6e-5) for draw in r.draws[name]])


def agreement(cuts: np.ndarray, accuracy: np.ndarray) -> float:
    """Rank correlation of cut value and accuracy over λ, mean over l; NaN where a cut does not vary at all."""
    if any(cut.max() == cut.min() for cut in cuts):
        return float("nan")
    return float(np.mean([spearmanr(*pair).statistic for pair in zip(cuts, accuracy, strict=True)]))
