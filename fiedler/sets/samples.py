"""The kernel K over the samples: n x n, or products with F and C if n x n would be too large.

With very many samples, K = F C C' F is applied to vectors only. Its quadratic forms c_j'Kc_j come from blocks of
B = C'FC. If X has few stored values, they come from sparse products, and no dense matrix is formed:

    F = A - uu',   C = X - sμ'   (s = √w)
    F C = AX - (As)μ' - u g',   g = C'u        sparse minus rank two
    c_j'Kc_j = ‖(FC)'c_j‖² = ‖P_j‖² - 2 w_j'(Z'P_j) + w_j'Z'Z w_j
    P = X'AX,   Z = [(AX)'s, μ, g],   w_j = (μ_j, (As)'c_j, g_j)
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cholesky, eigh
from scipy.linalg.blas import dsymv
from scipy.linalg.lapack import dpotri

from ..data.memory import working_bytes
from ..data.work import counting
from ..engine.blocks import map_columns
from ..engine.compiled import kernels
from ..engine.threads import batches, for_each, n_threads, one_blas_thread
from ..graphs.smoothing import Smoother
from .centred import CentredColumns, column_squares, without
from .kernel import FACTORED, NEGLIGIBLE, Kernel, Term

MOST_SAMPLES = 12_000  # largest number of samples for which K is formed
_TILES = 8  # least number of tiles of K in each direction
_FEW_ROWS = 500  # largest number of rows for which the rank of C is computed
_COLUMNS_AT_ONCE = 512  # number of columns of a sparse product in memory at a time


class RowKernel(Kernel):
    """K over the samples: ``apply(q)`` = K q, for q orthogonal to √w, as all columns of C are.

    ``gram`` is C C', if it is known and K is formed.
    """

    def __init__(
        self,
        columns: CentredColumns,
        terms: list[tuple[Term, Smoother]],
        formed: bool,
        gram: np.ndarray | None = None,
    ):
        self.columns = columns
        self._unit = columns.root / (np.linalg.norm(columns.root) or 1.0)
        self._K: np.ndarray | None = None
        if formed:
            self._form(terms, columns.gram() if gram is None else gram)
        else:
            self._walk(terms)

    def _form(self, terms: list[tuple[Term, Smoother]], gram: np.ndarray) -> None:
        n = self.columns.shape[0]
        K = np.zeros((n, n))
        with one_blas_thread(float(n) ** 3):
            for term, F in terms:
                K += term.factor * (F.around(gram) if term.of == "features" else F.apply(np.eye(n)))
            self._K = K = without(self._unit, (K + K.T) / 2.0)
        sparse = self.columns.sparse
        if self.columns.by_blocks:
            self.den = self.columns.squares()
            self.num = quadratic_forms(self.columns, K)
        elif sparse is None:
            both = self.columns.map(lambda C: np.array([np.einsum("ij,ij->j", C, K @ C), column_squares(C)]))
            self.num, self.den = both
        else:
            self.den = self.columns.squares()
            self.num = map_columns(lambda C: np.asarray(C.multiply((C.T @ K).T).sum(axis=0)).ravel(), sparse)
        with one_blas_thread(FACTORED * float(n) ** 3):
            self.total = _explained_by_rows(gram, K, self._unit)

    def _walk(self, terms: list[tuple[Term, Smoother]]) -> None:
        columns = self.columns
        self._walks = terms
        self.num, self.den, self.total = np.zeros(columns.shape[1]), columns.squares(), 0.0
        for term, F in terms:
            stored = term.of == "features" and F.adjacency is not None and not columns.by_blocks
            energies, trace = (sparse_energies if stored else energies_by_blocks)(columns, F, term.of)
            self.num += term.factor * energies
            self.total += term.factor * trace

    def apply(self, q: np.ndarray) -> np.ndarray:
        """K q."""
        if self._K is not None:
            return dsymv(1.0, self._K.T, q, lower=1)  # reads only half of K
        result = np.zeros(len(q))
        for term, F in self._walks:
            product = F.apply(q[:, None])
            if term.of == "features":  # F C C' F q
                product = F.apply(self.columns.mix(self.columns.project(product).T))
            result += term.factor * product[:, 0]
        return result - (self._unit @ result) * self._unit


def quadratic_forms(columns: CentredColumns, K: np.ndarray) -> np.ndarray:
    """c'Kc of all columns, from one triangle of K in tiles."""
    n, m = columns.shape
    forms, tiles = np.zeros(m), batches(n, -(-n // _TILES))

    def work(part: slice) -> None:
        C = np.ascontiguousarray(columns.take(part))
        for rows in tiles:
            image = K[rows, rows.stop :] @ C[rows.stop :]
            image *= 2.0
            image += K[rows, rows] @ C[rows]
            image *= C[rows]
            forms[part] += image.sum(axis=0)

    for_each(work, columns.blocks(), float(n) * n * m)
    return forms


def _inverse_roots(squares: np.ndarray) -> np.ndarray:
    return np.divide(1.0, np.sqrt(squares), out=np.zeros(len(squares)), where=squares > 0.0)


def energies_by_blocks(columns: CentredColumns, F: Smoother, of: str) -> tuple[np.ndarray, float]:
    """c_j'Kc_j of every feature, and tr K.

    The energies are row sums of the squares of B = C'FC, which is symmetric and never stored. Its factors are columns
    of unit length. A slab of F C is as wide as memory allows, because all blocks of C up to it are read once per slab.
    """
    n, m = columns.shape
    blocks, den = columns.blocks(), columns.squares()
    energies, squares, unit = np.zeros(m), np.zeros(m), _inverse_roots(den)  # squares: ‖F c_j‖²
    if of == "graph":
        for part in blocks:
            energies[part] = np.einsum("ij,ij->j", C := columns.take(part), F.apply(C))
        return energies, F.trace()
    step = max(1, int(working_bytes() / (2 * 8 * n * blocks[0].stop)))  # blocks in a slab
    with counting("pairs of features", len(blocks) ** 2) as count:
        for first in range(0, len(blocks), step):
            last = min(first + step, len(blocks))
            slab = slice(blocks[first].start, blocks[last - 1].stop)
            FC = np.empty((n, slab.stop - slab.start))
            for part in blocks[first:last]:
                image = F.apply(columns.take(part))
                squares[part] = column_squares(image)
                FC[:, part.start - slab.start : part.stop - slab.start] = image * _inverse_roots(squares[part])
            sums = np.empty((last, FC.shape[1]))

            def work(place: int, FC: np.ndarray = FC, sums: np.ndarray = sums, slab: slice = slab) -> None:
                part = blocks[place]
                B = FC.T @ np.ascontiguousarray(columns.take(part) * unit[part])
                np.square(B, out=B)
                sums[place] = B @ den[part]
                if part.stop <= slab.start:
                    energies[part] += (squares[slab] @ B) * den[part]

            for_each(work, range(last), float(n) * m * FC.shape[1])
            energies[slab] += sums.sum(axis=0) * squares[slab]
            count.reach(last**2)
    return energies, float(squares.sum())


def sparse_energies(columns: CentredColumns, F: Smoother, of: str) -> tuple[np.ndarray, float]:
    """The same for F = A - uu' and columns with few stored values, from sparse products."""
    A, u, X, s, mean = F.adjacency, F.trivial, columns.sparse, columns.root, columns.mean
    assert A is not None
    assert X is not None
    assert of == "features"
    AX, low = sp.csr_array(A @ X), A @ s
    g = columns.project(u[:, None])[0]
    Z = np.column_stack([AX.T @ s, mean, g])
    W = np.column_stack([mean, columns.project(low[:, None])[0], g])
    inner = X.T @ (A @ (X @ Z))
    energies = _squared_products(AX, X) - 2.0 * np.einsum("ij,ij->i", W, inner)
    energies += np.einsum("ij,jk,ik->i", W, Z.T @ Z, W)
    # ‖AX - (As)μ' - ug'‖², product by product.
    trace = AX.power(2).sum() + (low @ low) * (mean @ mean) + (u @ u) * (g @ g)
    trace -= 2.0 * (low @ (AX @ mean) + u @ (AX @ g) - (low @ u) * (mean @ g))
    return energies, float(trace)


def _squared_products(T: sp.csr_array, X: sp.csc_array) -> np.ndarray:
    """‖T'x_j‖² for every column of X."""
    m = X.shape[1]
    squares, work = np.zeros(m), float(T.nnz) / max(T.shape[0], 1) * X.nnz
    compiled = kernels(work)
    if compiled is None:
        for start in range(0, m, _COLUMNS_AT_ONCE):
            part = slice(start, start + _COLUMNS_AT_ONCE)
            product = sp.csc_array(T.T @ X[:, part])
            squares[part] = np.asarray(product.multiply(product).sum(axis=0)).ravel()
        return squares

    def columns(span: slice) -> None:
        indptr = X.indptr[span.start : span.stop + 1]
        compiled.squared_products(
            indptr, X.indices, X.data, T.indptr, T.indices, T.data, np.zeros(T.shape[1]), squares[span]
        )

    for_each(columns, batches(m, max(1, -(-m // (8 * n_threads())))), work)
    return squares


def _explained_by_rows(gram: np.ndarray, K: np.ndarray, unit: np.ndarray) -> float:
    """tr(P K) with the projection P on the columns of C; equals tr K if these span everything orthogonal to u."""
    scale = gram.trace() / max(len(gram) - 1, 1)
    try:
        pivots = cholesky(gram + scale * np.outer(unit, unit), lower=True).diagonal()
        if pivots.min() ** 2 > NEGLIGIBLE * pivots.max() ** 2:
            return float(K.trace())
    except LinAlgError:
        pass
    if len(gram) <= _FEW_ROWS:
        values, vectors = eigh(gram)
        basis = vectors[:, values > NEGLIGIBLE * values[-1]]
        return float(np.einsum("ij,ij->", basis, K @ basis))
    # tr(K) minus the part outside the span of C, by a ridge; eigenvectors of that many rows would take too long.
    ridge = NEGLIGIBLE * scale
    inverse = dpotri(cholesky(gram + ridge * np.eye(len(gram)), lower=True), lower=1)[0]  # its lower triangle
    inverse[np.diag_indices(len(gram))] /= 2.0
    return float(K.trace() - 2.0 * ridge * np.vdot(inverse.T, K))
