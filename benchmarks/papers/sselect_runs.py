"""The computations behind sselect.py: one draw of [ZL] Algorithm 2 and its λ sweep (Algorithm 3) on one text set.

A draw shows l/2 labels of each class. sSelect ranks with all rows and these labels, the Laplacian score with the other
rows alone, Fisher with the shown rows alone; each ranking is judged by 5-fold 1-NN on all rows. Nothing but the labels
shown depends on l, and a larger l shows what a smaller one showed and more, so that differences are paired.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import joblib
import numpy as np
from scipy.linalg import eigh

from fiedler import KNN, Disagreement, FisherScore, Graph, LaplacianScore, Rayleigh, SpectralSelector, Variance
from fiedler.evaluate.curves import spread
from fiedler.selection.ranking import rank_features

from ..data import paper_set

SETS = ("PCMAC", "BASEHOCK", "MACBASE")
PAPER_LABELS = (2, 6, 10)
LAMBDA = 0.1  # [ZL] section 4.1
SSELECT, BY_CUT, BY_KERNEL = "sSelect", "sSelect, λ by kNN cut", "sSelect, λ by kernel cut"
FISHER, LAPLACIAN, VARIANCE, RANDOM = "Fisher", "Laplacian", "variance", "random"
BLIND = (VARIANCE, RANDOM)  # read neither labels nor the rows they are shown for
FEW, MANY = 10, 200  # numbers of features at which [ZL] Fig. 4 and Fig. 7 vary λ
N_FOLDS = 5
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


@dataclass(frozen=True, eq=False)
class TextSet:
    """A text set in random row order, with the graph over all rows and the first term of [ZL] eq. 3.8 on it."""

    X: Any
    y: np.ndarray
    graph: Graph
    separability: np.ndarray

    @property
    def n_terms(self) -> int:
        return self.X.shape[1]


@dataclass(frozen=True, eq=False)
class Sweep:
    """What every λ gives on the first features: one row per l of the paper, one column per λ."""

    accuracy: np.ndarray
    cut: np.ndarray  # of the kNN graph; 0 where it falls apart
    n_components: np.ndarray  # of the kNN graph
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
        text = text_set(name, plan.seed)
        with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
            work = (joblib.delayed(one_draw)(text, plan, number) for number in range(plan.n_draws))
            draws[name] = joblib.Parallel(n_jobs=n_jobs, batch_size=1)(work)
        print(f"sselect: {name}, {plan.n_draws} draws", file=sys.stderr, flush=True)
    return Results(plan, draws)


def one_draw(text: TextSet, plan: Plan, number: int) -> Draw:
    seed = [plan.seed, number]
    folds = stratified_folds(text.y, N_FOLDS, np.random.default_rng([*seed, _FOLDS]))
    filler = np.random.default_rng([*seed, _RANDOM]).permutation(text.n_terms)
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
        _, cut, pieces, kernel = np.transpose(rows[FEW][-1])
        for method, at in ((BY_CUT, smallest_cut(cut, pieces)), (BY_KERNEL, np.argmin(kernel.round(9)))):
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
            known[key] = (accuracy, *cut_and_components(text.X[:, columns]), kernel)
    return [known[key] for key in keys]


def cut_and_components(X: Any) -> tuple[float, int]:
    """[ZL] Algorithm 3, line 10, as ``fiedler.evaluate.cut_value``, with the number of components beside it."""
    graph = KNN(weight="binary").build(X)
    pieces = graph.n_components + graph.n_isolated
    return (max(float(graph.spectrum(2)[0][1]), 0.0), 1) if pieces == 1 else (0.0, pieces)


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


def smallest_cut(cut: Sequence[float], n_components: Sequence[int]) -> int:
    """The choice of ``fiedler.evaluate.tune``: the smallest cut among graphs in one piece, else the fewest pieces."""
    cut, pieces = np.asarray(cut), np.asarray(n_components)
    whole = (pieces == 1) & (cut > 1e-9)
    return int(np.argmin(np.where(whole, cut, np.inf)) if whole.any() else np.argmin(pieces))


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
