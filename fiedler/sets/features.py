"""The kernel K between the features, m x m, and forward selection on it without further access to the samples.

    G = C'C,   B = C'FC,   C'KC = B² or B

With q = C w, a = C'q = G w is a row of the Cholesky factor of G, and C'Kq = (C'KC) w. Each step costs two products with
an m x m matrix; w has entries for chosen features only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigh, solve_triangular

from ..data.memory import working_bytes
from ..data.progress import Counting, counting
from ..data.source import Source
from ..engine.blocks import fold_rows
from ..engine.threads import one_blas_thread
from ..graphs import Graph
from ..graphs.factored import SummedColumns
from ..graphs.smoothing import Smoother
from ..problem import Problem
from ..validation import is_sparse
from .centred import CentredColumns
from .kernel import NEGLIGIBLE, Kernel, Search, Steps, Term, best

MOST_FEATURES = 12_000  # largest number of features for which K is formed


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


def from_columns(X: Any, columns: CentredColumns, terms: list[tuple[Term, Smoother]]) -> FeatureKernel:
    m = columns.shape[1]
    gram, forms = np.empty((m, m)), [np.empty((m, m)) for _ in terms]
    for slab in slabs(X):
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


def slabs(X: Any) -> list[slice]:
    n, m = X.shape
    if isinstance(X, Source):
        return X.slabs()
    width = int(max(1, min(m, working_bytes() / (8 * 8 * n))))
    return [slice(start, min(start + width, m)) for start in range(0, m, width)]


def fits_one_pass(terms: tuple[Term, ...], problem: Problem) -> bool:
    """Whether all graphs are sums over the rows, as for anchors, and these sums fit into memory."""
    m, sums = problem.n_features, [None if term.graph is None else term.graph.sums(problem) for term in terms]
    known = all(isinstance(term.filter, str) and term.filter != "identity" for term in terms)
    if not known or None in sums or m > MOST_FEATURES:
        return False
    return sum(filter(None, sums)) * 8.0 * m <= working_bytes() and (1 + len(terms)) * 8.0 * m * m <= working_bytes()


def from_rows(terms: tuple[Term, ...], problem: Problem) -> FeatureKernel:
    """The kernel from sums over rows: W = Z Λ⁻¹ Z' has D = I and no negative part, so B = E'E with E = Λ^-½ Z'C."""
    summed = Problem(problem.X, problem.supervision, by_rows=True)
    forms = []
    for term in terms:
        assert term.graph is not None
        between = summed.graph(term.graph).weights.within_and_between(SummedColumns())[1]
        forms.append((term.factor, term.of, between.T @ between))
    graph = summed.built(Graph)[0]
    mean, constant = graph.weights.moments(SummedColumns())[0], graph.constant

    def rows_gram(rows: Any) -> tuple[np.ndarray, np.ndarray]:
        C = (rows.toarray() if is_sparse(rows) else rows) - mean
        return C.T @ C, C.sum(axis=0)

    gram, left = fold_rows(rows_gram, lambda a, b: (a[0] + b[0], a[1] + b[1]), problem.X)
    gram -= np.outer(left, left) / problem.n_samples  # corrects the rounding of the means
    gram[constant] = gram[:, constant] = 0.0
    return FeatureKernel(gram, forms)


def _explained_by_features(gram: np.ndarray, forms: list[tuple[float, str, np.ndarray]]) -> float:
    """tr(G⁺ C'KC)."""
    live = gram.diagonal() > 0.0
    root = np.sqrt(gram.diagonal()[live])
    if not live.any():
        return 0.0
    unit = gram[np.ix_(live, live)] / root / root[:, None]
    try:
        lower = cholesky(unit, lower=True)
        if lower.diagonal().min() ** 2 <= NEGLIGIBLE:
            raise LinAlgError
        half = lambda B: solve_triangular(lower, B, lower=True)  # noqa: E731
    except LinAlgError:
        values, vectors = eigh(unit)
        kept = values > NEGLIGIBLE * values[-1]
        basis = vectors[:, kept] / np.sqrt(values[kept])
        half = lambda B: basis.T @ B  # noqa: E731
    total = 0.0
    for factor, of, B in forms:
        left = half(B[live] / root[:, None])
        total += factor * float(np.sum(left**2) if of == "features" else half(left[:, live].T / root[:, None]).trace())
    return total


def choose_between_features(kernel: FeatureKernel, search: Search, n_features: int, enough: float) -> Steps:
    """The path of chosen features, up to n_features or until J reaches ``enough``."""
    with one_blas_thread(float(len(kernel.num)) ** 2), counting("features chosen", n_features) as count:
        return _chosen(kernel, search, n_features, enough, count)


def _chosen(kernel: FeatureKernel, search: Search, n_features: int, enough: float, count: Counting) -> Steps:
    path = _Path(kernel, search, n_features)
    picked, gained = list[int](), list[float]()
    while len(picked) < n_features and (len(picked) < len(search.first) or sum(gained) < enough):
        fixed = len(picked) < len(search.first)
        feature = search.first[len(picked)] if fixed else best(search.scores(path.num, path.den))
        if feature < 0:
            break
        gain = [path.add(column) for column in search.columns(feature)]
        if all(part is None for part in gain) and not fixed:
            continue  # no column of the feature has a residual: its den is now 0
        picked.append(feature)
        gained.append(sum(part for part in gain if part is not None))
        count()
    return Steps(picked, gained, path.num, path.den)


class _Path:
    """The columns chosen so far, as an orthonormal basis q = C w, and num and den of all columns given them."""

    def __init__(self, kernel: FeatureKernel, search: Search, n_features: int):
        self.kernel, self.search = kernel, search
        self.num, self.den = kernel.num.copy(), kernel.den.copy()
        m = len(self.num)
        size = n_features if search.groups is None else int(np.sort(search.groups.sizes)[-n_features:].sum())
        size = min(size, m)
        self.A, self.W = np.empty((size, m)), np.zeros((size, m))  # rows C'q and the coefficients of q
        self.columns = list[int]()

    def add(self, p: int) -> float | None:
        """Add a column; its gain of J, or None if it has no residual."""
        k, G, A, W = len(self.columns), self.kernel.gram, self.A, self.W
        if not self.den[p] > self.search.floor[p]:
            self.den[p] = 0.0
            return None
        w = np.zeros(len(self.num))
        w[p] = 1.0
        for _ in range(2):
            w -= (A[:k] @ w) @ W[:k]
        among = [*self.columns, p]
        square = float(w[among] @ G[np.ix_(among, among)] @ w[among])
        if not square > self.search.floor[p]:
            self.den[p] = 0.0  # its residual is exactly 0; the updated difference may not be
            return None
        w /= np.sqrt(square)
        a, image = G[:, among] @ w[among], self.kernel.product(w)
        e = float(w @ image)
        # C'v for v = (I - QQ')Kq: the part of K q along the directions chosen so far is removed.
        b = image - (W[:k] @ image) @ A[:k]
        A[k], W[k] = a, w
        self.num += a * (a * e - 2.0 * b)
        self.den -= a * a
        self.den[p] = 0.0
        self.columns.append(p)
        return e
