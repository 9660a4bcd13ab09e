"""The methods' rankings on one set. What does not depend on the labels is computed once and put together per draw:

    sSelect = λ LS + (1-λ) Disagreement      C1 = e_M / e_C      C2 = e_M - 0.1 e_C
    C3 = (γ e_M + near) / e_C                C4 = LS(RBF) C1

with e_M, e_C the energies on the must-link and cannot-link pairs and near the energy on the other kNN pairs. Labelled
rows alone decide Fisher, ReliefF, SLS, e_M and e_C, so only those rows are passed to the library.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.special import entr

from fiedler import (
    EVSC,
    KNN,
    RBF,
    SPEC,
    CannotLink,
    Correlation,
    Energy,
    FisherScore,
    Graph,
    LaplacianScore,
    MustLink,
    Precomputed,
    ReliefF,
    SemiSupervisedLaplacianScore,
    SemiTarget,
    SupervisedLaplacianScore,
    TargetKNN,
    Variance,
)
from fiedler.evaluate.ranking import fit_ranking
from fiedler.evaluate.tuning import LAMBDAS
from fiedler.selection.ranking import rank_features

from .judge import Judge, predict_shown
from .sets import DataSet

NEIGHBORS = (10, 5, 20)  # the library's default first, which also wins ties when one is tuned
WIDTHS = (1.0, 0.5, 2.0)  # of the mean edge distance
SCALES = (0.25, 0.5, 1.0)  # of the median distance: of C4
SHARES = (0.1, 0.01, 0.5, 0.9)  # λ of sSelect
GAMMA_MUST, LAM_CANNOT = 100.0, 0.1  # γ of C3 and λ of C2
_FEW = 250  # rows up to which EVSC is computed by its definition

Orders = dict[str, np.ndarray]


def variant(method: str, **changed: object) -> str:
    """The name of a method with parameters other than the library's."""
    return f"{method}[{','.join(f'{name}={value}' for name, value in changed.items())}]" if changed else method


class Rankings:
    """Rankings of one set by every method, best column first."""

    def __init__(self, data: DataSet, judge: Judge):
        self.data, self.judge, self.X = data, judge, data.X
        self.by_rows = sp.csr_array(data.X) if sp.issparse(data.X) else data.X
        self._cuts: dict[bytes, tuple[float, int]] = {}

    def order(self, scores: np.ndarray, rng: np.random.Generator, large_is_good: bool = False) -> np.ndarray:
        """Columns, best first; those without a score follow in random order, as ``compare(unscored="random")`` does."""
        return _shuffled_tail(rank_features(scores, large_is_good), scores, rng)

    # ---------------------------------------------------------------- graphs and scores without labels

    @cached_property
    def knn(self) -> dict[tuple[int, float], Precomputed]:
        """kNN graphs by number of neighbours and width; width 0 stands for binary weights."""
        graphs = {}
        for k in NEIGHBORS:
            if k >= len(self.data.y):
                continue
            usual = KNN(k).build(self.X)
            for width in WIDTHS:
                graphs[k, width] = usual if width == 1.0 else KNN(k, bandwidth=width * usual.bandwidth).build(self.X)
        graphs[10, 0.0] = KNN(10, "binary").build(self.X)
        return {key: Precomputed(graph) for key, graph in graphs.items()}

    @cached_property
    def laplacian(self) -> dict[tuple[int, float], np.ndarray]:
        return {key: LaplacianScore(graph).evaluate(self.X) for key, graph in self.knn.items()}

    @cached_property
    def kernels(self) -> dict[float, Precomputed]:
        return {scale: Precomputed(RBF(scale=scale).build(self.X)) for scale in SCALES}

    @cached_property
    def kernel_laplacian(self) -> dict[float, np.ndarray]:
        return {scale: LaplacianScore(graph).evaluate(self.X) for scale, graph in self.kernels.items()}

    def free(self, rng: np.random.Generator) -> Orders:
        """Methods that read no labels, with every parameter of the grid and tuned by the cut value."""
        found = {"variance": self.order(Variance().evaluate(self.data.unscaled), rng, large_is_good=True)}
        for method, phi, gamma in (("laplacian", 2, 1), ("spec φ1", 1, 1), ("spec φ2 γ=4", 2, 4), ("spec φ3", 3, 1)):
            orders = {}
            for key, graph in self.knn.items():
                is_laplacian = (phi, gamma) == (2, 1)
                scores = self.laplacian[key] if is_laplacian else SPEC(graph, phi, gamma).evaluate(self.X)
                orders[key] = self.order(scores, rng, large_is_good=phi == 3)
            found |= {_knn_name(method, *key): order for key, order in orders.items()}
            weighted = [order for (_, width), order in orders.items() if width]
            found[f"{method} tuned"] = weighted[self.best_cut(weighted)]
        scales = SCALES[::-1]  # the default of EVSC is 1
        orders = [self.order(self._evsc(scale), rng, large_is_good=True) for scale in scales]
        found |= {variant("evsc", **({"scale": s} if s != 1.0 else {})): o for s, o in zip(scales, orders, strict=True)}
        found["evsc tuned"] = orders[self.best_cut(orders)]
        found |= {variant("laplacian", rbf=s): self.order(scores, rng) for s, scores in self.kernel_laplacian.items()}
        return found

    def _evsc(self, scale: float) -> np.ndarray:
        graph = self.kernels[scale]
        return EVSC(graph).evaluate(self.X) if len(self.data.y) <= _FEW else trace_of_changes(graph.W, self.X)

    # ---------------------------------------------------------------- tuning without hidden labels

    def cut(self, columns: np.ndarray) -> tuple[float, int]:
        """Cut value and number of pieces of the binary kNN graph on these columns ([ZL] Algorithm 3)."""
        columns = np.sort(columns)
        key = columns.tobytes()
        if key not in self._cuts:
            graph = KNN(weight="binary").build(self.judge.columns(columns))
            pieces = graph.n_components + graph.n_isolated
            self._cuts[key] = (max(float(graph.spectrum(2)[0][1]), 0.0) if pieces == 1 else 0.0), pieces
        return self._cuts[key]

    def best_cut(self, orders: Sequence[np.ndarray], few: int | None = None) -> int:
        """The ranking :func:`fiedler.evaluate.tune` takes: the smallest cut in one piece, else the fewest pieces."""
        cuts = [self.cut(order[: few or self.judge.few]) for order in orders]
        value, pieces = (np.array(column) for column in zip(*cuts, strict=True))
        whole = (pieces == 1) & (value > 1e-9)
        return int(np.argmin(np.where(whole, value, np.inf)) if whole.any() else np.argmin(pieces))

    def best_fold(
        self,
        candidates: Callable[[np.ndarray], list[np.ndarray]],
        rows: np.ndarray,
        y: np.ndarray,
        rng: np.random.Generator,
    ) -> int:
        """The candidate whose first columns, ranked on four folds of the shown rows, best predict the fifth."""
        folds = _folds(y, rng)
        if len(folds) < 2:
            return 0
        block, gained = self._rows(rows), 0.0
        for fold in range(len(folds)):
            known = np.setdiff1d(np.arange(len(rows)), folds[fold])
            chosen = [order[: self.judge.few] for order in candidates(known)]
            gained = gained + np.array([predict_shown(block[:, c], y, folds, fold) for c in chosen])
        return int(np.argmax(gained))

    # ---------------------------------------------------------------- few class labels

    def with_labels(self, rows: np.ndarray, rng: np.random.Generator) -> Orders:
        """Methods that read class labels, told those of the given rows."""
        y, F = self.data.y[rows], self._rows(rows)
        found = {"fisher": self._fit(FisherScore(), F, y, rng)}
        relief = [self._fit(ReliefF(k), F, y, rng) for k in (10, 3, 1)]
        found |= {"relieff": relief[0], variant("relieff", k=3): relief[1], variant("relieff", k=1): relief[2]}

        def on_part(kept: np.ndarray) -> list[np.ndarray]:
            return [self._fit(ReliefF(k), F[kept], y[kept], rng) for k in (10, 3, 1)]

        found["relieff tuned"] = relief[self.best_fold(on_part, rows, y, rng)]
        found |= self._sselect(rows, y, rng)
        if np.bincount(y).max() > 1:  # else there is no must-link pair
            energies = [Energy(graph).evaluate(F, y) for graph in (MustLink(), CannotLink())]
            known = np.isin(self._near[0], rows) & np.isin(self._near[1], rows)
            found |= self._constraints(F, *energies, known, rng)
        return found

    def _sselect(self, rows: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> Orders:
        F, default = self._rows(rows), (10, 1.0)

        def mixed(key: tuple[int, float], lam: float, loss: np.ndarray) -> np.ndarray:
            return self.order(lam * self.laplacian[key] + (1.0 - lam) * loss, rng)

        losses = {key: disagreement(F, mean, y) for key, mean in self._means.items()}
        found = {
            variant("sselect", **({"lam": lam} if lam != 0.1 else {})): mixed(default, lam, losses[default])
            for lam in SHARES
        }
        found |= {_knn_name("sselect", *key): mixed(key, 0.1, losses[key]) for key in losses if key != default}
        by_lambda = [mixed(default, lam, losses[default]) for lam in LAMBDAS]
        found[variant("sselect", lam="auto")] = by_lambda[self.best_cut(by_lambda, 10)]  # as the library does
        choices = [(key, lam) for key in losses if key[1] == 1.0 for lam in SHARES]

        def candidates(kept: np.ndarray) -> list[np.ndarray]:
            loss = {key: disagreement(F[kept], self._means[key], y[kept]) for key, _ in choices}
            return [mixed(key, lam, loss[key]) for key, lam in choices]

        key, lam = choices[self.best_fold(candidates, rows, y, rng)]
        return found | {"sselect tuned": mixed(key, lam, losses[key])}

    @cached_property
    def _means(self) -> dict[tuple[int, float], np.ndarray]:
        """Degree-weighted means of the columns on the graphs that sSelect is tried with, one parameter off at most."""
        keys = [key for key in self.knn if key[0] == 10 or key[1] == 1.0]
        return {key: np.asarray(self.X.T @ self.knn[key].W.degree) / self.knn[key].W.volume for key in keys}

    # ---------------------------------------------------------------- pairs

    def with_pairs(self, must: np.ndarray, cannot: np.ndarray, rng: np.random.Generator) -> Orders:
        """The constraint scores on pairs, and what the labels of the same rows would give."""
        rows = np.unique(np.concatenate([must, cannot]))
        links = {"must_link": np.searchsorted(rows, must), "cannot_link": np.searchsorted(rows, cannot)}
        F, y, n = self._rows(rows), self.data.y[rows], len(self.data.y)
        energies = [Energy(graph).evaluate(F, **links) for graph in (MustLink(), CannotLink())]
        i, j, _ = self._near
        pairs = np.sort(np.concatenate([must, cannot]), axis=1)
        known = np.isin(i * n + j, pairs[:, 0] * n + pairs[:, 1])
        found = self._constraints(F, *energies, known, rng)
        loss = disagreement(F, self._means[10, 1.0], y)
        sselect = 0.1 * self.laplacian[10, 1.0] + 0.9 * loss
        labels = {"fisher, labels": self._fit(FisherScore(), F, y, rng), "sselect, labels": self.order(sselect, rng)}
        return found | labels

    def _constraints(
        self, F: np.ndarray, must: np.ndarray, cannot: np.ndarray, known: np.ndarray, rng: np.random.Generator
    ) -> Orders:
        """C1 to C4 from the rows of the pairs and their energies; ``known`` marks kNN edges that are pairs as well."""
        constant = F.max(axis=0) == F.min(axis=0)  # C3 and C4 still see the other rows
        must, cannot = np.nan_to_num(must), np.nan_to_num(cannot)
        i, j, everywhere = self._near
        difference = self._rows(i[known]) - self._rows(j[known])
        near = np.maximum(everywhere - np.einsum("ij,ij->j", difference, difference), 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            c1 = must / cannot
            c3 = np.where(np.isnan(self._unscored), np.nan, (GAMMA_MUST * must + near) / cannot)
            c4 = [self.kernel_laplacian[scale] * c1 for scale in SCALES]
        c2 = np.where(constant, np.nan, must - LAM_CANNOT * cannot)
        found = {f"c{number}": self.order(scores, rng) for number, scores in enumerate((c1, c2, c3, c4[0]), 1)}
        wider = [self.order(scores, rng) for scores in c4]
        found |= {variant("c4", scale=scale): order for scale, order in zip(SCALES[1:], wider[1:], strict=True)}
        found["c4 tuned"] = wider[self.best_cut(wider)]
        found[variant("c4", graph="knn")] = self.order(self.laplacian[10, 1.0] * c1, rng)
        return found

    @cached_property
    def _unscored(self) -> np.ndarray:
        return Variance().evaluate(self.X)

    @cached_property
    def _near(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Edges (i < j) of the graph of C3, and the energies of the columns on it."""
        graph = KNN(5, "binary").build(self.X)
        i, j, _ = graph.edges
        return i, j, np.nan_to_num(Energy(Precomputed(graph)).evaluate(self.X))

    # ---------------------------------------------------------------- few real targets

    def with_targets(self, rows: np.ndarray, rng: np.random.Generator) -> Orders:
        """Methods that read a real target, told that of the given rows, in their standard deviations."""
        y, F = self.data.y[rows], self._rows(rows)
        y = (y - y.mean()) / (y.std() or 1.0)
        found = {"correlation": self._fit(Correlation(), F, y, rng)}
        shapes = [{}, *({"t": t} for t in (0.25, 4.0)), *({"k": k} for k in (2, 10))]
        sls = [self._sls(F, y, rng, **shape) for shape in shapes]
        found |= {variant("sls", **shape): order for shape, order in zip(shapes, sls, strict=True)}
        chosen = self.best_fold(lambda kept: [self._sls(F[kept], y[kept], rng, **s) for s in shapes], rows, y, rng)
        found["sls tuned"] = sls[chosen]
        shapes = [{}, *({"t": t} for t in (0.25, 4.0)), *({"k": k} for k in (10, 60)), *({"C": C} for C in (1.0, 25.0))]
        ssls = [self._ssls(rows, y, rng, **shape) for shape in shapes]
        found |= {variant("ssls", **shape): order for shape, order in zip(shapes, ssls, strict=True)}
        tried = shapes[:3]  # the graph is built anew for each, so only t is tuned
        found["ssls tuned"] = ssls[
            self.best_fold(lambda kept: [self._ssls(rows[kept], y[kept], rng, **s) for s in tried], rows, y, rng)
        ]
        return found

    def _sls(self, F: np.ndarray, y: np.ndarray, rng: np.random.Generator, k: int = 5, t: float = 1.0) -> np.ndarray:
        return self._fit(SupervisedLaplacianScore(TargetKNN(k, t)), F, y, rng)

    def _ssls(
        self,
        rows: np.ndarray,
        y: np.ndarray,
        rng: np.random.Generator,
        k: int = 30,
        t: float = 1.0,
        C: float = 5.0,
    ) -> np.ndarray:
        target = np.full(len(self.data.y), np.nan)
        target[rows] = y
        return self._fit(SemiSupervisedLaplacianScore(SemiTarget(k, t, C)), self.X, target, rng)

    # ---------------------------------------------------------------- shared steps

    def _fit(self, criterion: object, X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        selector = fit_ranking(criterion, X, y, at_least=0)
        return _shuffled_tail(selector.order_, selector.scores_, rng)

    def _rows(self, rows: np.ndarray) -> np.ndarray:
        block = self.by_rows[rows]
        return block.toarray() if sp.issparse(block) else block


def disagreement(F: np.ndarray, mean: np.ndarray, y: np.ndarray) -> np.ndarray:
    """1 - NMI(sign(f - mean), y) per column, as :class:`fiedler.Disagreement` with the means of its graph at hand."""
    member = np.equal.outer(np.unique(y), y).astype(np.float64)
    positive = member @ (F >= mean)
    joint = np.stack([positive, member.sum(axis=1)[:, None] - positive]) / len(y)
    of_sign, of_class = entr(joint.sum(axis=1)).sum(axis=0), entr(joint.sum(axis=0)).sum(axis=0)
    information = np.maximum(of_sign + of_class - entr(joint).sum(axis=(0, 1)), 0.0)
    entropy = np.maximum(of_sign, of_class)
    return 1.0 - information / np.where(entropy > 0, entropy, 1.0)


def _shuffled_tail(order: np.ndarray, scores: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    scored = int(np.sum(~np.isnan(scores)))
    return np.concatenate([order[:scored], rng.permutation(order[scored:])]) if scored < len(order) else order


def trace_of_changes(graph: Graph, X: np.ndarray | sp.csc_array) -> np.ndarray:
    """-Σ_r dλ_r = δ^-2 Σ_i d_i^-2 Σ_j s_ij (f_i - f_j)²: orders features as EVSC does where few dλ_r are positive."""
    inverse = 1.0 / (graph.degree**2 * graph.bandwidth**2)
    return Energy(Graph.from_weights(graph.toarray() * (inverse[:, None] + inverse))).evaluate(X)


def _knn_name(method: str, k: int, width: float) -> str:
    changed = ({"k": k} if k != 10 else {}) | ({"width": width} if width not in (0.0, 1.0) else {})
    return variant(method, **(changed | ({"weight": "binary"} if width == 0.0 else {})))


def _folds(y: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """Up to five parts of the shown rows, classes spread evenly; too few rows give a single part."""
    if y.dtype.kind == "i":
        number = min(5, int(np.bincount(y)[np.unique(y)].max()))
        order = rng.permutation(len(y))
        place = np.empty(len(y), dtype=np.intp)
        for code in np.unique(y):
            mine = order[y[order] == code]
            place[mine] = np.arange(len(mine)) % number
    else:
        number = 5 if len(y) >= 10 else 1
        place = rng.permutation(len(y)) % number
    return [np.flatnonzero(place == fold) for fold in range(number)]
