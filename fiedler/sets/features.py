"""The kernel K between the features, m x m, and forward selection on it, which needs no access to the samples.

G = C'C,   B = C'FC,   C'KC = B² or B
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dpotrf, dpstrf

from ..data.memory import working_bytes
from ..data.source import Source
from ..data.work import counting
from ..engine.blocks import fold_rows
from ..engine.threads import batches, for_each, n_threads, one_blas_thread
from ..graphs import Graph
from ..graphs.anchors import SUMMED
from ..graphs.smoothing import Smoother
from ..problem import Problem
from ..validation import is_sparse
from .centred import CentredColumns
from .kernel import FACTORED, NEGLIGIBLE, Kernel, Search, Steps, Term, best

MOST_FEATURES = 12_000  # largest number of features for which K is formed
_CANDIDATES = 32  # number of candidates whose rows of C'KC are computed together
_SLAB = 256  # least number of columns of a slab; wide products are faster


class FeatureKernel(Kernel):
    """K between the features: G = C'C, and C'KC as products of B = C'FC, which is squared for a few columns only."""

    def __init__(self, gram: np.ndarray, forms: list[tuple[float, str, np.ndarray]]):
        self.gram, self._forms = gram, forms
        self.den, self.num = gram.diagonal().copy(), np.zeros(len(gram))
        for factor, of, B in forms:
            self.num += factor * (np.einsum("ij,ij->j", B, B) if of == "features" else B.diagonal())
        self.bytes_for_total = gram.nbytes + sum(B.nbytes for _, _, B in forms)

    @cached_property
    def total(self) -> float:  # type: ignore[override]
        with one_blas_thread(FACTORED * float(len(self.gram)) ** 3):
            return _explained_by_features(self.gram, self._forms)

    def rows(self, some: np.ndarray) -> np.ndarray:
        """Some rows of C'KC."""
        m = len(self.gram)
        result = np.zeros((len(some), m))

        def work(part: slice) -> None:
            for factor, of, B in self._forms:
                result[:, part] += factor * (B[some] @ B[part].T if of == "features" else B[some][:, part])

        for_each(work, batches(m, max(1, -(-m // (4 * n_threads())))), float(len(some)) * m * len(self.gram))
        return result


def from_columns(X: Any, columns: CentredColumns, terms: list[tuple[Term, Smoother]]) -> FeatureKernel:
    """The kernel from slabs of columns: G and B are symmetric, so the columns up to the slab are enough."""
    m = columns.shape[1]
    gram, forms = columns.feature_gram(), [np.empty((m, m)) for _ in terms]
    matrices = forms if gram is not None else [np.empty((m, m)), *forms]
    for slab in slabs(X):
        C = columns.take(slab if columns.in_memory else np.arange(slab.start, slab.stop))
        images = [F.apply(C) for _, F in terms] if gram is not None else [C, *(F.apply(C) for _, F in terms)]
        together = columns.project(np.hstack(images) if len(images) > 1 else images[0], slab.stop)
        width = slab.stop - slab.start
        for place, matrix in enumerate(matrices):
            matrix[slab, : slab.stop] = together[place * width : (place + 1) * width]
            square = matrix[slab, slab]
            square += square.T.copy()
            square /= 2.0
            matrix[: slab.start, slab] = matrix[slab, : slab.start].T
    gram = matrices[0] if gram is None else gram
    gram[np.diag_indices(m)] = columns.squares()
    return FeatureKernel(gram, [(term.factor, term.of, B) for (term, _), B in zip(terms, forms, strict=True)])


def slabs(X: Any) -> list[slice]:
    n, m = X.shape
    if isinstance(X, Source):
        return X.slabs()
    width = int(max(1, min(max(_SLAB, m // 8), working_bytes() / (8 * 8 * n))))
    return batches(m, width)


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
        between = summed.graph(term.graph).within_and_between(SUMMED)[1]
        forms.append((term.factor, term.of, between.T @ between))
    graph = summed.built(Graph)[0]
    mean, constant = graph.moments(SUMMED)[0], graph.constant

    def rows_gram(rows: Any) -> tuple[np.ndarray, np.ndarray]:
        C = (rows.toarray() if is_sparse(rows) else rows) - mean
        return C.T @ C, C.sum(axis=0)

    gram, left = fold_rows(rows_gram, lambda a, b: (a[0] + b[0], a[1] + b[1]), problem.X)
    gram -= np.outer(left, left) / problem.n_samples  # corrects the rounding of the means
    gram[constant] = gram[:, constant] = 0.0
    return FeatureKernel(gram, forms)


def _explained_by_features(gram: np.ndarray, forms: list[tuple[float, str, np.ndarray]]) -> float:
    """tr(G⁺ C'KC), on columns that span all others: the pivots of a Cholesky factor of G."""
    span: Any = np.flatnonzero(gram.diagonal() > 0.0)  # no constant column
    if not len(span):
        return 0.0
    if len(span) == len(gram):
        span = slice(None)  # copies nothing
    varying = gram[span][:, span]
    root = np.sqrt(varying.diagonal())
    lower, rest = dpotrf(varying.T, lower=1)
    if rest or (lower.diagonal() <= np.sqrt(NEGLIGIBLE) * root).any():  # some columns depend on others
        unit = varying / root / root[:, None]
        lower, pivots, rank, _ = dpstrf(unit.T, tol=NEGLIGIBLE, lower=1, overwrite_a=1)
        first = pivots[:rank] - 1
        lower = np.asfortranarray(lower[:rank, :rank] * root[first, None])
        span = np.arange(len(gram))[span][first]
    # L⁻¹ B, as the transpose of B' L⁻ᵀ
    half = lambda B: dtrsm(1.0, lower, B.T, side=1, lower=1, trans_a=1).T  # noqa: E731
    total = 0.0
    for factor, of, B in forms:
        if of == "features":
            left = half(B[span])
        else:
            left = half(np.ascontiguousarray(half(np.ascontiguousarray(B[span][:, span])).T))
        total += factor * float(np.vdot(left, left) if of == "features" else left.trace())
    return total


# -------------------------------------------------------------------- forward selection


def choose_between_features(kernel: FeatureKernel, search: Search, n_features: int, enough: float) -> Steps:
    """The path of chosen features, up to n_features or until J reaches ``enough``."""
    path, picked, gained = _Path(kernel, search, n_features), list[int](), list[float]()
    included = search.first[:n_features]
    with one_blas_thread(float(len(kernel.num)) ** 2), counting("features chosen", n_features) as count:
        while len(picked) < len(included) or (len(picked) < n_features and sum(gained) < enough):
            fixed = len(picked) < len(included)
            feature = included[len(picked)] if fixed else best(search.scores(path.num, path.den))
            if feature < 0:
                break
            gains = [path.add(column) for column in search.columns(feature)]
            if fixed or any(gain is not None for gain in gains):  # otherwise it has no residual, and its den is now 0
                picked.append(feature)
                gained.append(sum(gain for gain in gains if gain is not None))
                count.reach(len(picked))
    return Steps(picked, gained, path.num, path.den)


class _Path:
    """The columns chosen so far, as an orthonormal basis q = C w, and num and den of all columns given them.

    A chosen direction q = C w is a combination of the chosen columns, so the samples are not needed:

        a = C'q = G w          a row of the Cholesky factor of G
        C'Kq = (C'KC) w        from the rows of C'KC of the chosen columns

    A new w is a column minus a combination of the earlier ones. C'q and C'Kq of all columns therefore follow from rows
    of G and C'KC and the same combination.
    """

    def __init__(self, kernel: FeatureKernel, search: Search, n_features: int):
        self.kernel, self.search = kernel, search
        self.num, self.den = kernel.num.copy(), kernel.den.copy()
        m = len(self.num)
        size = n_features if search.groups is None else int(np.sort(search.groups.sizes)[-n_features:].sum())
        size = min(size, m)
        self.A, self.images = np.empty((size, m)), np.empty((size, m))  # rows C'q and C'Kq
        # Between the chosen columns: the coefficients of q on them, C'q and G.
        self.W, self.R, self.G = (np.zeros((size, size)) for _ in range(3))
        self.chosen = list[int]()
        self._ready: dict[int, np.ndarray] = {}  # rows of C'KC of columns that may be chosen next

    def add(self, p: int) -> float | None:
        """Add a column; its gain of J, or None if it has no residual."""
        k, A, W, floor = len(self.chosen), self.A, self.W, self.search.floor[p]
        if not self.den[p] > floor:
            self.den[p] = 0.0
            return None
        chosen = [*self.chosen, p]
        self.R[:k, k] = A[:k, p]
        self.G[k, : k + 1] = self.G[: k + 1, k] = self.kernel.gram[p, chosen]
        w, along = np.r_[np.zeros(k), 1.0], np.zeros(k)
        for _ in range(2):
            part = self.R[:k, : k + 1] @ w
            along += part
            w[:k] -= part @ W[:k, :k]
        square = float(w @ self.G[: k + 1, : k + 1] @ w)
        if not square > floor:
            self.den[p] = 0.0  # its residual is exactly 0; the updated difference may not be
            return None
        norm = float(np.sqrt(square))
        w /= norm
        self.images[k] = image = (self._row(p) - along @ self.images[:k]) / norm
        e = float(w @ image[chosen])
        # C'q, and the part of K q along the directions chosen so far, from one pass over A.
        parts = np.array([along, W[:k, :k] @ image[self.chosen]]) @ A[:k]
        A[k] = a = (self.kernel.gram[p] - parts[0]) / norm
        b = image - parts[1]  # C'v for v = (I - QQ')Kq
        W[k, : k + 1] = w
        self.R[k, k] = a[p]
        self.num += a * (a * e - 2.0 * b)
        self.den -= a * a
        self.den[p] = 0.0
        self.chosen.append(p)
        return e

    def _row(self, p: int) -> np.ndarray:
        """Row p of C'KC; the rows of the best candidates are computed with it, because one product is faster."""
        if p not in self._ready:
            some = np.array([p])
            if self.search.groups is None:
                scores = self.search.scores(self.num, self.den)
                most = min(_CANDIDATES, len(scores))
                some = np.union1d(some, np.argpartition(-scores, most - 1)[:most])
            self._ready = dict(zip(some.tolist(), self.kernel.rows(some), strict=True))
        return self._ready[p]
