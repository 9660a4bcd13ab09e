"""The kernel K between the features, m x m.

    G = C'C,   B = C'FC,   C'KC = B² or B

Forward selection on it (:mod:`fiedler.sets.between`) needs no further access to the samples.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dpotrf, dpstrf

from ..data.memory import working_bytes
from ..data.source import Source
from ..engine.blocks import fold_rows
from ..engine.threads import for_each, n_threads, one_blas_thread
from ..graphs import Graph
from ..graphs.factored import SummedColumns
from ..graphs.smoothing import Smoother
from ..problem import Problem
from ..validation import is_sparse
from .centred import CentredColumns
from .kernel import FACTORED, NEGLIGIBLE, Kernel, Term

MOST_FEATURES = 12_000  # largest number of features for which K is formed
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

    def rows(self, some: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        """Some rows of C'KC, in all or in some columns."""
        m = len(self.gram) if columns is None else len(columns)
        result = np.zeros((len(some), m))

        def work(part: slice) -> None:
            there: Any = part if columns is None else columns[part]
            for factor, of, B in self._forms:
                result[:, part] += factor * (B[some] @ B[there].T if of == "features" else B[some][:, there])

        step = max(1, -(-m // (4 * n_threads())))
        spans = [slice(start, min(start + step, m)) for start in range(0, m, step)]
        for_each(work, spans, float(len(some)) * m * len(self.gram))
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
