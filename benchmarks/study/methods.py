"""The choices of every method on one data set, best column first, over many draws of labels and pairs.

``Rankings`` has the papers' methods, ``Choices`` the library's sets of features and the peers. Graphs that read no
labels are built once per data set, and the parts of a formula that read none are scored once:

    sSelect = λ LS + (1-λ) Disagreement      C4 = LS C1

Labelled rows alone decide Fisher, ReliefF, SLS, C1 and C2, so only those rows are passed to the library.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp

from fiedler import (
    EVSC,
    KNN,
    RBF,
    SPEC,
    ConstraintScore,
    Correlation,
    FisherScore,
    Graph,
    LaplacianScore,
    ReliefF,
    SemiSupervisedLaplacianScore,
    SemiTarget,
    SmoothSubset,
    SSelect,
    SupervisedLaplacianScore,
    TargetKNN,
    Variance,
)
from fiedler.criteria import Criterion, Product, Scaled, Scorer, Sum, Traits
from fiedler.criteria.disagreement import LAMBDAS, best_cut, cut, cut_recipe
from fiedler.graphs import Recipe
from fiedler.methods import Method
from fiedler.problem import Problem
from fiedler.selection.ranking import Ranking, rank, rank_features

from . import peers
from .judge import Judge, predict_shown
from .sets import DataSet

NEIGHBORS = (10, 5, 20)  # the library's default first, which also wins ties when one is tuned
WIDTHS = (1.0, 0.5, 2.0)  # of the mean edge distance
SCALES = (0.25, 0.5, 1.0)  # of the median distance: of C4
SHARES = (0.1, 0.01, 0.5, 0.9)  # λ of sSelect
NARROW = 100  # columns up to which sequential selection is affordable
_FEW = 250  # rows up to which EVSC is computed by its definition

Orders = dict[str, np.ndarray]
Criteria = Mapping[str, Criterion]


def variant(method: str, **changed: object) -> str:
    """The name of a method with parameters other than the library's."""
    return f"{method}[{','.join(f'{name}={value}' for name, value in changed.items())}]" if changed else method


_RELIEF = {"relieff": ReliefF()} | {variant("relieff", k=k): ReliefF(k) for k in (3, 1)}
_SLS_GRAPHS = {"sls": TargetKNN()}
_SLS_GRAPHS |= {variant("sls", t=t): TargetKNN(t=t) for t in (0.25, 4.0)}
_SLS_GRAPHS |= {variant("sls", k=k): TargetKNN(k) for k in (2, 10)}
_SLS = {name: SupervisedLaplacianScore(graph) for name, graph in _SLS_GRAPHS.items()}
_SSLS_GRAPHS = {"ssls": SemiTarget()}
_SSLS_GRAPHS |= {variant("ssls", t=t): SemiTarget(t=t) for t in (0.25, 4.0)}
_SSLS_GRAPHS |= {variant("ssls", k=k): SemiTarget(k) for k in (10, 60)}
_SSLS_GRAPHS |= {variant("ssls", C=C): SemiTarget(weight_labeled=C) for C in (1.0, 25.0)}
_SSLS = {name: SemiSupervisedLaplacianScore(graph) for name, graph in _SSLS_GRAPHS.items()}
_SSLS_TUNED = dict(list(_SSLS.items())[:3])  # the graph is built anew for each choice, so only t is tuned


class Rankings:
    """Rankings of one set by every method, best column first; ``grids`` adds every value of every parameter."""

    def __init__(self, data: DataSet, judge: Judge, grids: bool = True):
        self.data, self.judge, self.problem, self.grids = data, judge, Problem.of(data.X), grids
        self._by_rows = sp.csr_array(data.X) if sp.issparse(data.X) else data.X
        self._cuts: dict[bytes, tuple[float, int, int]] = {}
        self._scores: WeakKeyDictionary[Problem, dict[Hashable, np.ndarray]] = WeakKeyDictionary()

    def order(self, criterion: Criterion, problem: Problem, rng: np.random.Generator) -> np.ndarray:
        """Columns, best first; those without a score follow in random order, as ``compare(unscored="random")`` does."""
        ranking = self._rank(criterion, problem)
        scored, unscored = np.split(ranking.order, [ranking.n_scored])
        return np.concatenate([scored, rng.permutation(unscored)]) if len(unscored) else scored

    def _orders(self, criteria: Criteria, problem: Problem, rng: np.random.Generator) -> Orders:
        return {name: self.order(criterion, problem, rng) for name, criterion in criteria.items()}

    def _rank(self, criterion: Criterion, problem: Problem) -> Ranking:
        """The library's ranking, of formulas that may share parts with others from the scores of those."""
        formula = criterion.formula() if isinstance(criterion, Method) else criterion
        if not isinstance(formula, (Sum, Product)):
            return rank(criterion, problem)
        scores = self._score(formula, problem)
        return Ranking(scores, rank_features(scores, formula.greater_is_better))

    def _score(self, formula: Criterion, problem: Problem) -> np.ndarray:
        """Scores by a formula, each part scored once: one that reads no labels on the whole set and for all draws."""
        if isinstance(formula, Scaled):
            return formula.factor * self._score(formula.criterion, problem)
        if isinstance(formula, (Sum, Product)) and not formula.left.reads:
            left, right = self._score(formula.left, self.problem), self._score(formula.right, problem)
            return left + right if isinstance(formula, Sum) else left * right
        known, key = self._scores.setdefault(problem, {}), _key(formula)
        if key not in known:
            known[key] = formula.score(problem)
        return known[key]

    # ---------------------------------------------------------------- without labels

    @cached_property
    def knn(self) -> dict[tuple[int, float], KNN]:
        """kNN graphs by number of neighbours and width; width 0 stands for binary weights."""
        graphs = {}
        for k in NEIGHBORS if self.grids else NEIGHBORS[:1]:
            if k >= len(self.data.y):
                continue
            usual = self.problem.graph(KNN(k)).bandwidth
            for width in WIDTHS if self.grids else (WIDTHS[0], WIDTHS[-1]):
                graphs[k, width] = KNN(k) if width == 1.0 else KNN(k, bandwidth=width * usual)
        return graphs | ({(10, 0.0): KNN(10, "binary")} if self.grids else {})

    def free(self, rng: np.random.Generator) -> Orders:
        """Methods that read no labels, with every parameter of the grid and tuned by the cut value."""
        found = {"variance": self.order(Variance(), Problem.of(self.data.unscaled), rng)}
        on_graph = {
            "laplacian": LaplacianScore,
            "spec φ1": partial(SPEC, phi=1),
            "spec φ2 γ=4": partial(SPEC, gamma=4),
            "spec φ3": partial(SPEC, phi=3),
        }
        for method, criterion in on_graph.items():
            orders = {key: self.order(criterion(graph), self.problem, rng) for key, graph in self.knn.items()}
            found |= {_knn_name(method, *key): order for key, order in orders.items()}
            if self.grids:
                found[f"{method} tuned"] = self.smallest_cut(o for (_, width), o in orders.items() if width)
        evsc = EVSC if len(self.data.y) <= _FEW else TraceOfChanges
        widths = {variant("evsc", **({"scale": s} if s != 1.0 else {})): evsc(RBF(scale=s)) for s in SCALES[::-1]}
        if not self.grids:
            return found | {"evsc": self.order(widths["evsc"], self.problem, rng)}
        orders = self._orders(widths, self.problem, rng)
        found |= orders | {"evsc tuned": self.smallest_cut(orders.values())}
        kernels = {variant("laplacian", rbf=s): LaplacianScore(RBF(scale=s)) for s in SCALES}
        return found | self._orders(kernels, self.problem, rng)

    # ---------------------------------------------------------------- tuning without hidden labels

    def smallest_cut(self, orders: Iterable[np.ndarray], few: int | None = None) -> np.ndarray:
        """The order that :func:`fiedler.evaluate.tune` takes, by the cut on its first columns."""
        orders = list(orders)
        return orders[best_cut([self._cut(order[: few or self.judge.few]) for order in orders])]

    def _cut(self, columns: np.ndarray) -> tuple[float, int, int]:
        """The library's cut, once for each choice of columns."""
        columns = np.sort(columns)
        key = columns.tobytes()
        if key not in self._cuts:
            self._cuts[key] = cut(self.judge.columns(columns), cut_recipe(None))
        return self._cuts[key]

    def best_fold(
        self,
        criteria: Criteria,
        told: Callable[[np.ndarray, np.ndarray], Problem],
        rows: np.ndarray,
        y: np.ndarray,
        rng: np.random.Generator,
    ) -> str:
        """The criterion whose first columns, ranked on four folds of the shown rows, best predict the fifth."""
        folds, names = _folds(y, rng), list(criteria)
        if len(folds) < 2:
            return names[0]
        block, gained = self.block(rows), 0.0
        for fold in range(len(folds)):
            known = np.setdiff1d(np.arange(len(rows)), folds[fold])
            orders = self._orders(criteria, told(rows[known], y[known]), rng).values()
            gained += np.array([predict_shown(block[:, o[: self.judge.few]], y, folds, fold) for o in orders])
        return names[int(np.argmax(gained))]

    # ---------------------------------------------------------------- few class labels

    def with_labels(self, rows: np.ndarray, rng: np.random.Generator) -> Orders:
        """Methods that read class labels, told those of the given rows."""
        y = self.data.y[rows]
        shown, told = self._rows_alone(rows, y), self.whole_set(rows, y)
        found = {"fisher": self.order(FisherScore(), shown, rng)}
        if np.bincount(y).max() > 1:  # else there is no must-link pair
            found |= self._constraints(shown, told, rng)
        if not self.grids:
            defaults = {"relieff": self.order(ReliefF(), shown, rng), "sselect": self.order(SSelect(), told, rng)}
            return found | defaults
        found |= self._orders(_RELIEF, shown, rng)
        found["relieff tuned"] = found[self.best_fold(_RELIEF, self._rows_alone, rows, y, rng)]
        found |= self._sselect(told, rng)
        shares = {f"{k}, {lam}": SSelect(KNN(k), lam) for k, width in self.knn if width == 1.0 for lam in SHARES}
        found["sselect tuned"] = self.order(shares[self.best_fold(shares, self.whole_set, rows, y, rng)], told, rng)
        return found

    def _sselect(self, told: Problem, rng: np.random.Generator) -> Orders:
        """sSelect with one parameter off at most, and with λ by the cut value as the library chooses it."""
        criteria = {variant("sselect", **({"lam": lam} if lam != 0.1 else {})): SSelect(lam=lam) for lam in SHARES}
        for (k, width), graph in self.knn.items():
            if (k == 10) != (width == 1.0):
                criteria[_knn_name("sselect", k, width)] = SSelect(graph)
        found = self._orders(criteria, told, rng)
        by_lambda = [self.order(SSelect(lam=lam), told, rng) for lam in LAMBDAS]
        return found | {variant("sselect", lam="auto"): self.smallest_cut(by_lambda, 10)}

    # ---------------------------------------------------------------- pairs

    def with_pairs(self, must: np.ndarray, cannot: np.ndarray, rng: np.random.Generator) -> Orders:
        """The constraint scores on pairs, and what the labels of the same rows would give."""
        rows = np.unique(np.concatenate([must, cannot]))
        among = {"must_link": np.searchsorted(rows, must), "cannot_link": np.searchsorted(rows, cannot)}
        told = self.problem.with_supervision(must_link=must, cannot_link=cannot)
        found = self._constraints(Problem.of(self.block(rows), **among), told, rng)
        y = self.data.y[rows]
        found["fisher, labels"] = self.order(FisherScore(), self._rows_alone(rows, y), rng)
        found["sselect, labels"] = self.order(SSelect(), self.whole_set(rows, y), rng)
        return found

    def _constraints(self, shown: Problem, told: Problem, rng: np.random.Generator) -> Orders:
        """C1 to C4 from the linked rows alone and from the whole set, whose neighbours C3 reads."""
        numbers = {number: told if number == 3 else shown for number in (1, 2, 3, 4)}
        found = {f"c{number}": self.order(ConstraintScore(number), by, rng) for number, by in numbers.items()}
        found[variant("c4", graph="knn")] = self.order(ConstraintScore(graph=KNN()), shown, rng)
        if not self.grids:
            return found
        wider = {scale: self.order(ConstraintScore(graph=RBF(scale=scale)), shown, rng) for scale in SCALES}
        found |= {variant("c4", scale=scale): wider[scale] for scale in SCALES[1:]}
        return found | {"c4 tuned": self.smallest_cut(wider.values())}

    # ---------------------------------------------------------------- few real targets

    def with_targets(self, rows: np.ndarray, rng: np.random.Generator) -> Orders:
        """Methods that read a real target, told that of the given rows, in their standard deviations."""
        y = self.standard(rows)
        shown, told = self._rows_alone(rows, y), self.whole_set(rows, y)
        found = {"correlation": self.order(Correlation(), shown, rng)}
        if not self.grids:
            defaults = {"sls": self.order(_SLS["sls"], shown, rng), "ssls": self.order(_SSLS["ssls"], told, rng)}
            return found | defaults
        found |= self._orders(_SLS, shown, rng)
        found["sls tuned"] = found[self.best_fold(_SLS, self._rows_alone, rows, y, rng)]
        found |= self._orders(_SSLS, told, rng)
        found["ssls tuned"] = found[self.best_fold(_SSLS_TUNED, self.whole_set, rows, y, rng)]
        return found

    # ---------------------------------------------------------------- what is shown of a set

    def standard(self, rows: np.ndarray) -> np.ndarray:
        """The targets of rows, in their own standard deviations."""
        y = self.data.y[rows]
        return (y - y.mean()) / (y.std() or 1.0)

    def _rows_alone(self, rows: np.ndarray, y: np.ndarray) -> Problem:
        return Problem.of(self.block(rows), y)

    def whole_set(self, rows: np.ndarray, y: np.ndarray) -> Problem:
        known = np.full(len(self.data.y), -1 if self.data.has_classes else np.nan)
        known[rows] = y
        return self.problem.with_supervision(known)

    def block(self, rows: np.ndarray) -> np.ndarray:
        block = self._by_rows[rows]
        return block.toarray() if sp.issparse(block) else block


class TraceOfChanges(Criterion):
    """-Σ_r dλ_r = δ^-2 Σ_i d_i^-2 Σ_j s_ij (f_i - f_j)²: orders features as EVSC does where few dλ_r are positive."""

    traits = Traits(greater_is_better=True)

    def __init__(self, graph: RBF):
        self.graph = graph

    def scorer(self, problem: Problem) -> Scorer:
        graph = problem.graph(self.graph)
        inverse = 1.0 / (graph.degree**2 * graph.bandwidth**2)
        changes = Graph.from_weights(graph.toarray() * (inverse[:, None] + inverse))
        return Scorer(changes.rows, lambda F, columns: changes.energy(F))


def _key(part: object) -> Hashable:
    """Equal for formulas that are written alike."""
    return (type(part), *map(_key, vars(part).values())) if isinstance(part, (Criterion, Recipe)) else part


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


# -------------------------------------------------------------------- sets of features, and peers


class Choices:
    """Columns chosen on one set, best first, as many as are judged."""

    def __init__(self, rankings: Rankings, draws: Sequence[np.ndarray]):
        self.rankings, self.data, self.most = rankings, rankings.data, rankings.data.sizes[-1]
        self._block = rankings.block(np.arange(len(self.data.y)))
        chosen = peers.chosen_told(self._block, self.most, [(rows, self._known(rows)) for rows in draws])
        self._fastcan = {rows.tobytes(): found for rows, found in zip(draws, chosen, strict=True)}

    def free(self) -> Orders:
        """Told nothing."""
        problem = self.rankings.problem
        found = {"subset": self._path(SmoothSubset(), problem)}
        if self.rankings.grids:
            others = {variant("subset", power=power): SmoothSubset(power=power) for power in (1.0, 0.25)}
            others |= {variant("subset", k=k): SmoothSubset(KNN(k)) for k in (3, 10)}
            found |= {name: self._path(criterion, problem) for name, criterion in others.items()}
        n_clusters = int(self.data.y.max()) + 1 if self.data.has_classes else 5
        found["mcfs"] = peers.mcfs(problem, self._block, n_clusters, self.most)
        return found | peers.chosen_free(self._block, self.most)

    def with_labels(self, rows: np.ndarray, rng: np.random.Generator) -> Orders:
        """Told the classes of the given rows; no peer can do anything with one row of each class."""
        told = self.rankings.whole_set(rows, self.data.y[rows])
        found = {"subset": self._path(SmoothSubset(), told)}
        if np.bincount(self.data.y[rows]).max() < 2:
            return found
        narrow = {"sequential": peers.sequential} if self.data.X.shape[1] < NARROW else {}
        return found | self._peers(peers.WITH_CLASSES | narrow, rows, rng)

    def with_pairs(self, must: np.ndarray, cannot: np.ndarray) -> Orders:
        """Told pairs, and told the classes of the rows that they touch."""
        rows = np.unique(np.concatenate([must, cannot]))
        told = self.rankings.problem.with_supervision(must_link=must, cannot_link=cannot)
        labelled = self.rankings.whole_set(rows, self.data.y[rows])
        return {"subset": self._path(SmoothSubset(), told), "subset, labels": self._path(SmoothSubset(), labelled)}

    def with_targets(self, rows: np.ndarray, rng: np.random.Generator) -> Orders:
        """Told the real targets of the given rows."""
        found = {"subset": self._path(SmoothSubset(), self.rankings.whole_set(rows, self._known(rows)))}
        return found | self._peers(peers.WITH_TARGETS, rows, rng)

    def _known(self, rows: np.ndarray) -> np.ndarray:
        return self.data.y[rows] if self.data.has_classes else self.rankings.standard(rows)

    def _path(self, criterion: Criterion, problem: Problem) -> np.ndarray:
        return rank(criterion, problem, self.most).order[: self.most]

    def _peers(self, chosen: Mapping[str, peers.Peer], rows: np.ndarray, rng: np.random.Generator) -> Orders:
        block, y = self.rankings.block(rows), self._known(rows)
        found = {name: peer(block, y, self.most, rng) for name, peer in chosen.items()}
        chosen_outside = self._fastcan.get(rows.tobytes())
        if chosen_outside is not None:
            found["fastcan"] = peers.filled(chosen_outside, peers.f_statistic(block, y))
        return {name: order[: self.most] for name, order in found.items()}
