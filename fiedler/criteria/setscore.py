"""What a set of features explains of a kernel K over the samples, and the first step of building such a set.

    J(S) = tr[(C_S' C_S)⁻¹ C_S' K C_S]        C: X centred (and weighted, where the graph sets the measure M = D)
    K = Σ_t κ_t F_t C C' F_t                  of features: everyone's neighbour averages, predicted by those in S
    K = Σ_t κ_t F_t                           of a graph: the samples' own coordinates on it

J is a sum of gains, one per feature added, each the quotient num / den = c̃'K c̃ / c̃'c̃ of the residual c̃ of its column
on those before it; |S| = 1 is the quotient of the feature itself. The same K is held in two ways, whichever is smaller:
over the samples (n x n, or products with a sparse A and X), or between the features (m x m).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigh, solve_triangular
from scipy.linalg.blas import dsymv
from scipy.linalg.lapack import dpotri

from ..data.memory import working_bytes
from ..data.source import Source
from ..engine.blocks import fold_rows, map_columns
from ..engine.centred import CentredColumns, column_squares, without
from ..engine.threads import one_blas_thread
from ..graphs import Graph, Recipe
from ..graphs.smoothing import Smoother, smoother
from ..problem import Problem
from ..validation import is_sparse
from .walks import walk_energies, walk_product

_ROWS, _FEATURES = 12_000, 12_000  # up to which K is formed over the samples, between the features
_PASSES = 16  # over a file, for K between the features
_FEW_ROWS = 500  # up to which the rank of C is counted
_RANK = 1e-10  # a direction with less than this share of the largest is rounding


class Term(NamedTuple):
    """One part of K: a recipe and a filter give F; ``of`` says what is explained; ``factor`` is κ."""

    graph: Recipe | None
    filter: Any
    of: str  # "features" or "graph"
    factor: float = 1.0

    @property
    def key(self) -> Hashable:
        plain = isinstance(self.filter, (str, int, float))
        graph = None if self.graph is None else self.graph.key
        return graph, self.filter if plain else id(self.filter), self.of, self.factor


class Scores(Protocol):
    """What a factor is: a criterion."""

    def score(self, problem: Problem) -> np.ndarray: ...
    def _says_nothing(self, problem: Problem) -> bool: ...


class SetFormula(NamedTuple):
    """A set criterion: the terms of K, criteria whose scores multiply every gain, and the power of den."""

    terms: tuple[Term, ...]
    factors: tuple[Scores, ...]
    power: float

    @property
    def supervised(self) -> bool:
        """Whether K reads labels or pairs, beside the factors that may."""
        return any(term.graph is not None and term.graph.supervised for term in self.terms)

    def kernel(self, problem: Problem) -> Kernel:
        """K on a problem, built once."""
        return problem.graph(_Building(self.terms, self.supervised))

    def relevance(self, problem: Problem) -> np.ndarray | None:
        """The product of the factors' scores; what has none counts as 0, inf as twice the largest finite one."""
        total = None
        for factor in (factor for factor in self.factors if not factor._says_nothing(problem)):
            scores = factor.score(problem)
            finite = scores[np.isfinite(scores)]
            most = 2.0 * finite.max(initial=0.0) or 1.0
            scores = np.nan_to_num(scores, nan=0.0, posinf=most)
            total = scores if total is None else total * scores
        return total

    def first_scores(self, problem: Problem) -> np.ndarray:
        """r · num / den^power of every feature by itself; NaN where it is constant."""
        kernel, weights = self.kernel(problem), self.relevance(problem)
        return gains(kernel.num, kernel.den, self.power, weights)


def gains(num: np.ndarray, den: np.ndarray, power: float, relevance: np.ndarray | None) -> np.ndarray:
    """r · num / den^power, NaN where den is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = np.maximum(num, 0.0) / (np.sqrt(den) if power == 0.5 else den**power)
    if relevance is not None:
        scores *= relevance
    scores[den <= 0.0] = np.nan
    return scores


class Kernel:
    """K with the first step: num = c'Kc and den = c'c of every feature, and J of all features together.

    Attributes
    ----------
    num, den : ndarray of shape (m,)
    total : float
        J(all features); where that would cost n³ at tens of thousands of rows its bound tr K.
    """

    num: np.ndarray
    den: np.ndarray
    total: float


class RowKernel(Kernel):
    """K over the samples: ``apply(q)`` = K q, for q orthogonal to √w as all columns of C are."""

    def __init__(self, columns: CentredColumns, terms: list[tuple[Term, Smoother]]):
        self.columns = columns
        self._unit = columns.root / (np.linalg.norm(columns.root) or 1.0)
        self._K: np.ndarray | None = None
        if columns.shape[0] <= _ROWS:
            self._form(terms)
        else:
            self._walk(terms)

    def _form(self, terms: list[tuple[Term, Smoother]]) -> None:
        n = self.columns.shape[0]
        gram, K = self.columns.gram(), np.zeros((n, n))
        with one_blas_thread(float(n) ** 3):
            for term, F in terms:
                K += term.factor * (F.around(gram) if term.of == "features" else F.apply(np.eye(n)))
            self._K = K = without(self._unit, (K + K.T) / 2.0)
        sparse = self.columns.sparse
        if sparse is None:
            both = self.columns.map(lambda C: np.array([np.einsum("ij,ij->j", C, K @ C), column_squares(C)]))
            self.num, self.den = both
        else:
            self.den = self.columns.squares()
            self.num = map_columns(lambda C: np.asarray(C.multiply((C.T @ K).T).sum(axis=0)).ravel(), sparse)
        with one_blas_thread(float(n) ** 3):
            self.total = _explained_by_rows(gram, K, self._unit)

    def _walk(self, terms: list[tuple[Term, Smoother]]) -> None:
        columns = self.columns
        unformed = [term for term, F in terms if term.of == "features" and F.adjacency is None]
        if columns.sparse is None or unformed:
            n, m = columns.shape
            raise ValueError(
                f"sets of features from X of {n} x {m} need K over {n} rows or between {m} features, more than the "
                f"{_ROWS} and {_FEATURES} that are formed; use graph=Anchors() with fewer features, keep features by a "
                "ranking such as laplacian first, or take a sample of the rows."
            )
        self._walks = [
            (term.factor, walk_product(columns, F) if term.of == "features" else F.apply) for term, F in terms
        ]
        self.num, self.den, self.total = np.zeros(columns.shape[1]), columns.squares(), 0.0
        for term, F in terms:
            energies, trace = walk_energies(columns, F, term.of)
            self.num += term.factor * energies
            self.total += term.factor * trace

    def apply(self, q: np.ndarray) -> np.ndarray:
        """K q."""
        if self._K is not None:
            return dsymv(1.0, self._K.T, q, lower=1)  # reads half of K
        result: np.ndarray = sum(factor * product(q[:, None])[:, 0] for factor, product in self._walks)  # type: ignore[assignment]
        return result - (self._unit @ result) * self._unit


class FeatureKernel(Kernel):
    """K between the features: G = C'C, and C'KC as products of B = C'FC, which is never squared."""

    def __init__(self, gram: np.ndarray, forms: list[tuple[float, str, np.ndarray]], total: float | None = None):
        self.gram, self._forms = gram, forms
        self.den, self.num = gram.diagonal().copy(), np.zeros(len(gram))
        for factor, of, B in forms:
            self.num += factor * (np.einsum("ij,ij->j", B, B) if of == "features" else B.diagonal())
        self.total = _explained_by_features(gram, forms) if total is None else total

    def product(self, w: np.ndarray) -> np.ndarray:
        """C'KC w."""
        result = np.zeros(len(w))
        for factor, of, B in self._forms:
            result += factor * (B @ (B @ w) if of == "features" else B @ w)
        return result


class _Building:
    """The kernel as something a problem builds once, as it does graphs."""

    def __init__(self, terms: tuple[Term, ...], supervised: bool):
        self.terms, self.supervised = terms, supervised

    @property
    def key(self) -> Hashable:
        return ("kernel", *(term.key for term in self.terms))

    def made_for(self, problem: Problem) -> Kernel:
        n, m = problem.X.shape
        if isinstance(problem.X, Source) and problem.X.by_rows and _in_one_pass(self.terms, problem):
            return _by_rows(self.terms, problem)
        graphs = [None if term.graph is None else problem.graph(term.graph) for term in self.terms]
        weights = _measure(self.terms, graphs, n)
        terms = [(term, smoother(graph, term.filter, n)) for term, graph in zip(self.terms, graphs, strict=True)]
        columns = CentredColumns(problem.X, weights)
        if _few_features(n, m, columns.in_memory) and len(_slabs(problem.X)) <= _PASSES:
            return _between_features(problem.X, columns, terms)
        return RowKernel(columns, terms)


def can_be_formed(X: Any) -> bool:
    """Whether K of a matrix can be held over its samples or between its features, or be left to sparse products."""
    n, m = X.shape
    in_memory = not isinstance(X, Source)
    return n <= _ROWS or (in_memory and (m <= _FEATURES or is_sparse(X)))


def _few_features(n: int, m: int, in_memory: bool) -> bool:
    """Whether K is held between the features; a file whose rows fit K is read fewer times without."""
    return m <= 1.5 * n and m <= _FEATURES and (in_memory or n > _ROWS)


def _measure(terms: tuple[Term, ...], graphs: list[Graph | None], n: int) -> np.ndarray | None:
    """The weights of M: the degrees for what is explained of a graph, ones for features; the same for all terms."""
    found: list[np.ndarray] = []
    for term, graph in zip(terms, graphs, strict=True):
        found.append(np.ones(n) if term.of == "features" or graph is None else graph.degree)
    if any(not np.allclose(weights, found[0]) for weights in found[1:]):
        raise ValueError(
            "these kernels cannot be added: they weigh the samples differently, by the degrees of different graphs or "
            "not at all; add kernels of features (of='features'), or of graphs with equal degrees."
        )
    return found[0]


# -------------------------------------------------------------------- between the features


def _between_features(X: Any, columns: CentredColumns, terms: list[tuple[Term, Smoother]]) -> FeatureKernel:
    m = columns.shape[1]
    gram, forms = np.empty((m, m)), [np.empty((m, m)) for _ in terms]
    for slab in _slabs(X):
        C = columns.take(np.arange(slab.start, slab.stop))
        width = slab.stop - slab.start
        together = columns.project(np.hstack([C, *(F.apply(C) for _, F in terms)]))
        gram[:, slab] = together[:width].T
        for place, B in enumerate(forms, 1):
            B[:, slab] = together[place * width : (place + 1) * width].T
    for matrix in (gram, *forms):
        matrix += matrix.T
        matrix /= 2.0
    gram[np.diag_indices(m)] = columns.squares()
    return FeatureKernel(gram, [(term.factor, term.of, B) for (term, _), B in zip(terms, forms, strict=True)])


def _slabs(X: Any) -> list[slice]:
    n, m = X.shape
    if isinstance(X, Source):
        return X.slabs()
    width = int(max(1, min(m, working_bytes() / (8 * 8 * n))))
    return [slice(start, min(start + width, m)) for start in range(0, m, width)]


# -------------------------------------------------------------------- one pass over the rows


def _in_one_pass(terms: tuple[Term, ...], problem: Problem) -> bool:
    """Whether all graphs are sums over the rows, as those of anchors, and what they hold fits the memory."""
    m, sums = problem.n_features, [None if term.graph is None else term.graph.sums(problem) for term in terms]
    known = all(isinstance(term.filter, str) and term.filter != "identity" for term in terms)
    if not known or None in sums or m > _FEATURES:
        return False
    return sum(filter(None, sums)) * 8.0 * m <= working_bytes() and (1 + len(terms)) * 8.0 * m * m <= working_bytes()


def _by_rows(terms: tuple[Term, ...], problem: Problem) -> FeatureKernel:
    """W = Z Λ⁻¹ Z' has D = I and no negative part, so B = C'FC = E'E with E = Λ^-½ Z'C, which are sums over rows."""
    summed = Problem(problem.X, problem.supervision, by_rows=True)
    forms = []
    for term in terms:
        assert term.graph is not None
        between = summed.graph(term.graph).weights.within_and_between(slice(None))[1]
        forms.append((term.factor, term.of, between.T @ between))
    graph = summed.graphs()[0]
    mean, constant = graph.moments(slice(None))[0], graph.constant

    def rows_gram(rows: Any) -> tuple[np.ndarray, np.ndarray]:
        C = (rows.toarray() if is_sparse(rows) else rows) - mean
        return C.T @ C, C.sum(axis=0)

    gram, left = fold_rows(rows_gram, lambda a, b: (a[0] + b[0], a[1] + b[1]), problem.X)
    gram -= np.outer(left, left) / problem.n_samples  # what the rounded means left
    gram[constant] = gram[:, constant] = 0.0
    return FeatureKernel(gram, forms)


# -------------------------------------------------------------------- J of all features


def _explained_by_rows(gram: np.ndarray, K: np.ndarray, unit: np.ndarray) -> float:
    """tr(P K), P the projection on the columns of C; all of tr K where they span everything orthogonal to u."""
    scale = gram.trace() / max(len(gram) - 1, 1)
    try:
        pivots = cholesky(gram + scale * np.outer(unit, unit), lower=True).diagonal()
        if pivots.min() ** 2 > _RANK * pivots.max() ** 2:
            return float(K.trace())
    except LinAlgError:
        pass
    if len(gram) <= _FEW_ROWS:
        values, vectors = eigh(gram)
        basis = vectors[:, values > _RANK * values[-1]]
        return float(np.einsum("ij,ij->", basis, K @ basis))
    # tr(K) less what lies where C has nothing, by a ridge: eigenvectors of so many rows would take too long.
    ridge = _RANK * scale
    inverse = dpotri(cholesky(gram + ridge * np.eye(len(gram)), lower=True), lower=1)[0]  # its lower triangle
    inverse[np.diag_indices(len(gram))] /= 2.0
    return float(K.trace() - 2.0 * ridge * np.vdot(inverse.T, K))


def _explained_by_features(gram: np.ndarray, forms: list[tuple[float, str, np.ndarray]]) -> float:
    """tr(G⁺ C'KC)."""
    live = gram.diagonal() > 0.0
    root = np.sqrt(gram.diagonal()[live])
    if not live.any():
        return 0.0
    unit = gram[np.ix_(live, live)] / root / root[:, None]
    try:
        lower = cholesky(unit, lower=True)
        if lower.diagonal().min() ** 2 <= _RANK:
            raise LinAlgError
        half = lambda B: solve_triangular(lower, B, lower=True)  # noqa: E731
    except LinAlgError:
        values, vectors = eigh(unit)
        kept = values > _RANK * values[-1]
        basis = vectors[:, kept] / np.sqrt(values[kept])
        half = lambda B: basis.T @ B  # noqa: E731
    total = 0.0
    for factor, of, B in forms:
        left = half(B[live] / root[:, None])
        total += factor * float(np.sum(left**2) if of == "features" else half(left[:, live].T / root[:, None]).trace())
    return total
