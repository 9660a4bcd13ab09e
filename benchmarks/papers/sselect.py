"""[ZL] Zhao and Liu 2007, semi-supervised feature selection via spectral analysis, section 4: Table 2, Figs. 3 to 7.

A draw shows l/2 labels of each class. sSelect ranks with all rows and these labels, the Laplacian score with the other
rows alone, Fisher with the shown rows alone; 5-fold 1-NN on all rows judges each ranking. Only the labels shown depend
on l, and a larger l shows what a smaller one showed and more, so that differences are paired. The paper does not name
the graph of the cut: the kNN graph is read first, presence (count > 0) with the full RBF graph is the stated setting.
What the cut of the full RBF graph on counts chooses was asked once; its numbers are on record.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import spearmanr

import fiedler as fd
from fiedler.criteria.disagreement import best_cut, cut, cut_recipe
from fiedler.criteria.order import rank_features
from fiedler.evaluate.curves import spread

from ..data import paper_set
from ..pages import number, table
from ..runner import Found, Options
from .common import Curve, Finding, each, found, listed, nearest_neighbor_right, stratified_folds

SETS, PAPER_LABELS = ("PCMAC", "BASEHOCK", "MACBASE"), (2, 6, 10)
LAMBDA = 0.1  # [ZL] section 4.1
SSELECT, BY_CUT, BY_PRESENCE = "sSelect", "sSelect, λ by kNN cut", "sSelect, λ by presence cut"
FISHER, LAPLACIAN, VARIANCE, RANDOM = "Fisher", "Laplacian", "variance", "random"
METHODS = (SSELECT, BY_CUT, BY_PRESENCE, FISHER, LAPLACIAN, VARIANCE, RANDOM)
FEW, MANY = 10, 200  # numbers of features at which [ZL] Fig. 4 and Fig. 7 vary λ
CLOSE = 0.005  # accuracies nearer than this are not told apart
LOSSES = {2: [0.0, 1.0], 10: [0.6042, 0.7635, 0.8755, 0.8920, 0.9651, 1.0]}  # 1 - NMI whose terms are counted, by l
SWEPT = ("accuracy", "cut", "n_components", "smaller_side", "presence")  # what every λ gives on the first features
_ORDER, _LABELS, _FOLDS, _RANDOM = range(4)  # what a draw is seeded for


class Plan(NamedTuple):
    """How much of the experiment is run."""

    n_draws: int = 20
    labels: tuple[int, ...] = tuple(range(2, 21, 2))
    sizes: tuple[int, ...] = tuple(range(5, 51, 5))
    lambdas: tuple[float, ...] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


QUICK = Plan(2, PAPER_LABELS, (10, 30, 50), (0.1, 0.9))


class TextSet(NamedTuple):
    """A text set in random row order, with the graph over all rows and the first term of [ZL] eq. 3.8 on it."""

    X: Any
    y: np.ndarray
    graph: fd.Graph
    separability: np.ndarray


@cache
def text_set(name: str) -> TextSet:
    """A set by name. Files are sorted by class and counts tie, so rows are shuffled before anything else."""
    X, y, _ = paper_set(name)
    rows = np.random.default_rng([0, _ORDER]).permutation(len(y))
    X, y = X[rows], np.unique(y[rows], return_inverse=True)[1]
    graph = fd.KNN().build(X)
    return TextSet(X, y, graph, fd.Rayleigh(graph).evaluate(X))


class Results(NamedTuple):
    """The draws of all sets. A draw has, by (method, l), the accuracy over sizes for all rows and for hidden rows, with
    l = 0 for methods that read no label; by (number of features, l) the fields of SWEPT over λ; by l the losses 1 - NMI
    of all terms, sorted, the number of terms that Fisher scores, and the λ that the cut chooses."""

    plan: Plan
    draws: dict[str, list[dict[str, dict]]]

    def curves(self, name: str, method: str, l: int, what: str = "curves") -> np.ndarray:
        return np.array([draw[what][method, 0 if method in (VARIANCE, RANDOM) else l] for draw in self.draws[name]])

    def level(self, name: str, method: str, l: int, what: str = "curves") -> float:
        """Accuracy averaged over draws and numbers of features, as Table 2 averages it."""
        return float(self.curves(name, method, l, what).mean())

    def gain(self, name: str, over: str, l: int, what: str = "curves") -> tuple[float, float]:
        """sSelect less another method, averaged as in Table 2, and the half width of its 95 % band over the draws."""
        gains = (self.curves(name, SSELECT, l, what) - self.curves(name, over, l, what)).mean(axis=1)
        band = spread(gains[:, None])
        return float(band["mean"][0]), float(band["high"][0] - band["mean"][0])

    def sweep(self, name: str, size: int, what: str) -> np.ndarray:
        """Shape (draws, l of the paper, λ)."""
        at = SWEPT.index(what)
        return np.array(
            [[[lam[at] for lam in draw["sweeps"][size, l]] for l in PAPER_LABELS] for draw in self.draws[name]]
        )

    def best_lambda(self, name: str, size: int) -> np.ndarray:
        """The λ of highest accuracy for each l, the smallest of equals."""
        return np.array(self.plan.lambdas)[self.sweep(name, size, "accuracy").mean(axis=0).argmax(axis=1)]

    def having(self, name: str, l: int, loss: float) -> np.ndarray:
        """How many terms have that loss to four digits, per draw."""
        return np.array([np.sum(np.abs(draw["losses"][l] - loss) < 6e-5) for draw in self.draws[name]])


CELLS = [(name, l) for name in SETS for l in PAPER_LABELS]


def one_draw(text: TextSet, plan: Plan, draw: int) -> dict[str, dict]:
    folds = stratified_folds(text.y, 5, np.random.default_rng([0, draw, _FOLDS]))
    filler = np.random.default_rng([0, draw, _RANDOM]).permutation(text.X.shape[1])
    made: dict[str, dict] = {what: {} for what in ("curves", "hidden", "sweeps", "chosen", "losses", "scored")}

    def judge(method: str, shown: Sequence[int], order: np.ndarray) -> None:
        right = np.array([chance_right(text, order[:size], folds) for size in plan.sizes])
        made["curves"][method, len(shown)] = right.mean(axis=1)
        made["hidden"][method, len(shown)] = np.delete(right, shown, axis=1).mean(axis=1)

    judge(RANDOM, [], filler)
    judge(VARIANCE, [], ranking(fd.Variance(), text.X, None, filler)[0])
    for l in plan.labels:
        rows = np.random.default_rng([0, draw, _LABELS]).permutation(len(text.y))
        shown = np.concatenate([rows[text.y[rows] == c][: l // 2] for c in (0, 1)])
        y = np.full(len(text.y), -1)
        y[shown] = text.y[shown]
        loss = fd.Disagreement(text.graph).evaluate(text.X, y)
        orders = {lam: rank_features(lam * text.separability + (1 - lam) * loss, False) for lam in plan.lambdas}
        judge(SSELECT, shown, orders[LAMBDA])
        if l not in PAPER_LABELS:
            continue
        made["losses"][l] = np.sort(loss[~np.isnan(loss)])
        by_fisher, made["scored"][l] = ranking(fd.FisherScore(), text.X, y, filler)
        judge(FISHER, shown, by_fisher)
        judge(LAPLACIAN, shown, ranking(fd.LaplacianScore(), text.X[y < 0], None, filler)[0])
        for size in (FEW, MANY):
            made["sweeps"][size, l] = sweep(text, [orders[lam][:size] for lam in plan.lambdas], folds)
        for by, part in ((BY_CUT, slice(1, 4)), (BY_PRESENCE, 4)):
            cuts = [swept[part] for swept in made["sweeps"][FEW, l]]
            chosen = plan.lambdas[best_cut(cuts) if by == BY_CUT else int(np.argmin(np.round(cuts, 9)))]
            made["chosen"][by, l] = chosen
            judge(by, shown, orders[chosen])
    return made


def sweep(text: TextSet, selections: Sequence[np.ndarray], folds: np.ndarray) -> list[tuple]:
    """The fields of SWEPT for each selection; equal selections are computed once."""
    keys, known = [np.sort(columns).tobytes() for columns in selections], {}
    for key, columns in zip(keys, selections, strict=True):
        if key not in known:
            accuracy = chance_right(text, columns, folds).mean()
            by_presence = cut(text.X[:, columns], None)[0] if len(columns) == FEW else np.nan
            known[key] = (accuracy, *cut(text.X[:, columns], cut_recipe(None)), by_presence)
    return [known[key] for key in keys]


def chance_right(text: TextSet, columns: np.ndarray, folds: np.ndarray) -> np.ndarray:
    return nearest_neighbor_right(text.X[:, columns].toarray(), text.y, folds)


def ranking(criterion: Any, X: Any, y: np.ndarray | None, filler: np.ndarray) -> tuple[np.ndarray, int]:
    """Columns best first, those without a score (absent from the rows read) in random order, and how many have one."""
    selector = fd.SpectralSelector(criterion, n_features_to_select=1, screen=None).fit(X, y)
    scored = selector.order_[: np.count_nonzero(~np.isnan(selector.scores_))]
    return np.concatenate([scored, filler[~np.isin(filler, scored)]]), len(scored)


def sselect(options: Options) -> Found:
    plan = QUICK if options.quick else Plan()
    draws = {n: options.map(one_draw, [(text_set(n), plan, draw) for draw in range(plan.n_draws)]) for n in SETS}
    r = Results(plan, draws)
    answers, again = findings(r)
    return found("sselect", options, tables(r), answers, figures(r), again)


def tables(r: Results) -> Found:
    def by_cell(header: Sequence[str], row: Any, corner: str = "set, l", **more: Any) -> Any:
        return table(corner, header, {f"{n}, {l}": row(n, l) for n, l in CELLS}, **more)

    def gains(n: str, l: int, what: str = "curves") -> list[float]:
        return [r.gain(n, other, l, what)[0] for other in (FISHER, LAPLACIAN)]

    def hiding(n: str, l: int) -> list[str]:
        both = zip(*([r.level(n, SSELECT, l, h), *gains(n, l, h)] for h in ("curves", "hidden")), strict=True)
        return [f"{every:.4f} → {hidden:.4f}" for every, hidden in both]

    def pieces(n: str, l: int) -> list[str]:
        counts = r.sweep(n, FEW, "n_components")[:, PAPER_LABELS.index(l)].T
        return [f"{count.mean():.1f} ({np.mean(count == 1):.0%})" for count in counts]

    def by_cuts(n: str, l: int) -> list[str]:
        chosen = [np.mean([draw["chosen"][by, l] for draw in r.draws[n]]) for by in (BY_CUT, BY_PRESENCE)]
        gained = [-r.gain(n, by, l)[0] + 0.0 for by in (BY_CUT, BY_PRESENCE)]
        return [f"{chosen[0]:.2f}", f"{gained[0]:+.4f}", f"{chosen[1]:.2f}", f"{gained[1]:+.4f}"]

    average = np.mean([gains(*cell) for cell in CELLS], axis=0)
    header, rows = by_cell(["less Fisher", "less Laplacian"], gains, digits=4)
    counted = {
        f"losses-{l}": table(
            "set",
            [f"l = {l}: {loss:.4f}" for loss in of_l],
            {n: [r.having(n, l, x).mean() for x in of_l] for n in SETS},
            0,
        )
        for l, of_l in LOSSES.items()
    }
    return counted | {
        "facts": (["", *SETS], facts(r)),
        "accuracy": by_cell(METHODS, lambda n, l: [r.level(n, m, l) for m in METHODS]),
        "table-2": (header, [*rows, ["average", *(number(value, 4) for value in average)]]),
        "hidden": by_cell(["sSelect", "less Fisher", "less Laplacian"], hiding),
        "components": by_cell([f"λ = {lam}" for lam in r.plan.lambdas], pieces, "components, set, l"),
        "lambda": by_cell(["λ by kNN cut", "its gain", "λ by presence cut", "its gain "], by_cuts),
        "figure-7": table("set", [f"l = {l}" for l in PAPER_LABELS], {n: r.best_lambda(n, MANY) for n in SETS}, 1),
    }


def facts(r: Results) -> list[list[str]]:
    """What each set is, and how frequent the first terms of two rankings are."""
    texts = [text_set(name) for name in SETS]
    scored = [[draw["scored"][2] for draw in r.draws[name]] for name in SETS]
    orders = [[np.argsort(s)[:50] for s in (t.separability, -fd.Variance().evaluate(t.X))] for t in texts]
    often = [[int(np.median((t.X[:, o] > 0).sum(axis=0))) for o in both] for t, both in zip(texts, orders, strict=True)]
    band = np.array([[[r.gain(n, o, l)[1] for o in (FISHER, LAPLACIAN)] for l in PAPER_LABELS] for n in SETS])
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


def findings(r: Results) -> tuple[dict[str, Finding], dict[str, Finding]]:
    """Answers to the claims, and to some of them again under the setting that is stated for them."""
    lambdas, half, last = np.array(r.plan.lambdas), len(r.plan.sizes) // 2, len(r.plan.sizes) - 1
    curve = {cell: r.curves(cell[0], SSELECT, cell[1]).mean(axis=0) for cell in CELLS}
    made: dict[str, Finding] = {}
    again: dict[str, Finding] = {}
    gains = np.array([[r.gain(n, other, l)[0] for other in (FISHER, LAPLACIAN)] for n, l in CELLS])
    for at, other in enumerate((FISHER, LAPLACIAN)):
        above = np.array([curve[n, l] > r.curves(n, other, l).mean(axis=0) for n, l in CELLS])
        key = f"figure-3-{other.lower()}"
        made[key] = above.all(), f"above it at {above.sum()} of {above.size} points"
        high = np.array([spread(r.curves(n, SSELECT, l) - r.curves(n, other, l))["high"] for n, l in CELLS])
        again[key] = (
            bool(np.all(high[~above] > 0)),
            f"{made[key][1]}; the 95 % band of the difference reaches 0 elsewhere",
        )
        right, ends = gains[:, at] > 0, f"from {gains[:, at].min():+.4f} to {gains[:, at].max():+.4f}"
        made[f"table-2-{other.lower()}"] = right.all(), f"{right.sum()} of {right.size} signs as printed; {ends}"
    behind = {f"{n} {l}": r.level(n, FISHER, l) - r.level(n, LAPLACIAN, l) for n, l in CELLS}
    made["figure-3-order"] = min(behind.values()) > 0, listed(behind, "+.3f")
    rises = [values[-1] > values[0] for values in curve.values()]
    made["figure-3-more-features"] = all(rises), f"in {sum(rises)} of {len(rises)} panels"
    early, late = (np.mean([v[at] - v[at - half] for v in curve.values()]) for at in (half, last))
    made["figure-3-slows-down"] = early > late > 0, f"rise in the first half {early:.3f}, in the last {late:.3f}"
    for blind in (RANDOM, VARIANCE):
        over = {f"{n} {l}": r.gain(n, blind, l)[0] for n, l in CELLS}
        made[f"beats-{blind}"] = min(over.values()) > 0, listed(over, "+.3f")
    average = gains.mean(axis=0)
    made["table-2-average"] = average[1] > average[0] > 0, listed({FISHER: average[0], LAPLACIAN: average[1]}, "+.4f")
    rise = {name: [r.gain(name, LAPLACIAN, l)[0] for l in PAPER_LABELS] for name in SETS}
    made["table-2-growth"] = all(np.all(np.diff(values) > 0) for values in rise.values()), each(rise, "+.4f")
    moved = [abs(r.level(n, SSELECT, l) - r.level(n, SSELECT, l, "hidden")) for n, l in CELLS]
    moved += [abs(r.gain(n, o, l)[0] - r.gain(n, o, l, "hidden")[0]) for n, l in CELLS for o in (FISHER, LAPLACIAN)]
    made["shown-labels"] = max(moved) <= CLOSE, f"largest change {max(moved):.4f}"

    swept = {name: r.sweep(name, FEW, "accuracy").mean(axis=0) for name in SETS}
    rows = {f"{n} {l}": a for n in SETS for l, a in zip(PAPER_LABELS, swept[n], strict=True)}
    falls = {at: a[0] - a[-1] for at, a in rows.items()}
    made["figure-4-large-lambda"] = min(falls.values()) > 0.02, listed(falls)
    short = {at: a.max() - a[lambdas <= 0.3].max() for at, a in rows.items()}
    made["figure-4-region"] = max(short.values()) <= CLOSE, f"short of the best: {listed(short, '.4f')}"
    for to, field, by in ((made, "cut", BY_CUT), (again, "presence", BY_PRESENCE)):
        agree = {n: agreement(r.sweep(n, FEW, field).mean(axis=0).round(9), swept[n]) for n in SETS}
        to["figure-4-cut"] = all(v <= -0.7 for v in agree.values()), f"rank correlation {listed(agree, '+.2f')}"
        gained = {f"{n} {l}": -r.gain(n, by, l)[0] + 0.0 for n, l in CELLS}
        to["auto"] = min(gained.values()) >= -CLOSE, listed(gained, "+.4f")

    surfaces = {n: np.array([r.curves(n, SSELECT, l).mean(axis=0) for l in r.plan.labels]) for n in SETS}
    trend = {n: float(spearmanr(r.plan.labels, s.mean(axis=1)).statistic) for n, s in surfaces.items()}
    made["figure-5"] = min(trend.values()) >= 0.7, f"rank correlation {listed(trend, '+.2f')}"
    below = {name: surface.max() - surface[-1, -1] for name, surface in surfaces.items()}
    made["figure-6"] = max(below.values()) <= 0.02, f"below the highest point by {listed(below)}"
    few, many = (np.array([r.best_lambda(name, size) for name in SETS]) for size in (FEW, MANY))
    told = "; ".join(f"{n} {listed(a, '.1f')} to {listed(b, '.1f')}" for n, a, b in zip(SETS, few, many, strict=True))
    for to, rows in ((made, slice(None)), (again, slice(1))):  # all sets; the first, PCMAC, alone
        to["figure-7-shift"] = bool(np.all(many[rows] > few[rows])), told
        shrink = np.all(np.diff(many[rows]) <= 0) and np.all(many[rows, -1] < many[rows, 0])
        to["figure-7-labels"] = bool(shrink), told
    distinct = {n: np.mean([len(np.unique(d["losses"][2].round(9))) for d in r.draws[n]]) for n in SETS}
    smooth = {n: len(np.unique(text_set(n).separability.round(9))) for n in SETS}
    discrete = all(distinct[n] == 2 and smooth[n] > 1000 for n in SETS)
    made["figure-7-discrete"] = discrete, f"values of the unlabelled part: {listed(smooth, '')}"
    low = {n: sum(np.sum(draw["losses"][10] < 1 - 5e-5) for draw in r.draws[n]) for n in SETS}
    share = {n: sum(r.having(n, 10, loss).sum() for loss in LOSSES[10][:-1]) / low[n] for n in SETS}
    made["footnote-4"] = min(share.values()) >= 0.98, listed(share, ".2%")
    return made, again


def agreement(cuts: np.ndarray, accuracy: np.ndarray) -> float:
    """Rank correlation of cut value and accuracy over λ, mean over l; NaN where a cut does not vary at all."""
    if any(cut.max() == cut.min() for cut in cuts):
        return float("nan")
    return float(np.mean([spearmanr(*pair).statistic for pair in zip(cuts, accuracy, strict=True)]))


def figures(r: Results) -> dict[str, list[Curve]]:
    sizes, shown = r.plan.sizes, (SSELECT, FISHER, LAPLACIAN, VARIANCE, RANDOM)
    swept = {"cut": "cut, kNN graph", "presence": "cut, presence", "accuracy": "accuracy"}

    def sweeps(size: int, *wanted: str) -> list[Curve]:
        return [
            (f"{name}: {swept[what]}", f"l = {l}", r.plan.lambdas, mean)
            for what in wanted
            for name in SETS
            for l, mean in zip(PAPER_LABELS, r.sweep(name, size, what).mean(axis=0), strict=True)
        ]

    def sorted_parts(name: str) -> list[Curve]:
        smooth = np.sort(text_set(name).separability)
        parts = {"labelled part, 1 - NMI": r.draws[name][0]["losses"][2], "unlabelled part, Laplacian score": smooth}
        places = np.unique(np.geomspace(1, len(smooth), 100).astype(int))
        return [(part, name, places[places <= len(v)], v[places[places <= len(v)] - 1]) for part, v in parts.items()]

    level = {n: [r.curves(n, SSELECT, l).mean(axis=0) for l in r.plan.labels] for n in SETS}
    return {
        "accuracy": [(f"{n}, l = {l}", m, sizes, r.curves(n, m, l).mean(axis=0)) for n, l in CELLS for m in shown],
        "lambda": sweeps(FEW, "cut", "presence", "accuracy"),
        "many": sweeps(MANY, "accuracy", "cut"),
        "labels": [("all features of the curve", n, r.plan.labels, np.mean(level[n], axis=1)) for n in SETS],
        "surface": [(n, f"l = {l}", sizes, y) for n in SETS for l, y in zip(r.plan.labels, level[n], strict=True)],
        "scores": [curve for name in SETS for curve in sorted_parts(name)],
    }
