"""K = F C C' F over very many samples, by products with a sparse A and a sparse X: nothing is filled in or formed.

F = A - uu',   C = X - sμ'   (s = √w)
F C = AX - (As)μ' - u g',   g = C'u        sparse minus rank two
c_j'Kc_j = ‖(FC)'c_j‖² = ‖P_j‖² - 2 w_j'(Z'P_j) + w_j'Z'Z w_j
P = X'AX,   Z = [(AX)'s, μ, g],   w_j = (μ_j, (As)'c_j, g_j)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from ..engine.centred import CentredColumns
from ..engine.kernels import kernels
from ..engine.threads import for_each, n_threads
from ..graphs.smoothing import Smoother

_COLUMNS_AT_ONCE = 512  # of a sparse product


def walk_product(columns: CentredColumns, F: Smoother) -> Callable[[np.ndarray], np.ndarray]:
    """V -> F C C' F V."""
    return lambda V: F.apply(columns.mix(columns.project(F.apply(V)).T))


def walk_energies(columns: CentredColumns, F: Smoother, of: str) -> tuple[np.ndarray, float]:
    """c_j'Kc_j of every feature, and tr K: ‖F C‖², or tr F."""
    A, u, X, s, mean = F.adjacency, F.trivial, columns.sparse, columns.root, columns.mean
    assert A is not None
    assert X is not None
    if of == "graph":
        return columns.map(lambda C: np.einsum("ij,ij->j", C, F.apply(C))), float(A.diagonal().sum() - 1.0)
    AX, low = sp.csr_array(A @ X), A @ s
    g = columns.project(u[:, None])[0]
    Z = np.column_stack([AX.T @ s, mean, g])
    W = np.column_stack([mean, columns.project(low[:, None])[0], g])
    inner = X.T @ (A @ (X @ Z))
    energies = _squared_products(AX, X) - 2.0 * np.einsum("ij,ij->i", W, inner)
    energies += np.einsum("ij,jk,ik->i", W, Z.T @ Z, W)
    # ‖AX - (As)μ' - ug'‖², product by product.
    trace = AX.power(2).sum() + (low @ low) * (mean @ mean) + (u @ u) * (g @ g)
    return energies, float(trace - 2.0 * (low @ (AX @ mean) + u @ (AX @ g) - (low @ u) * (mean @ g)))


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

    width = max(1, -(-m // (8 * n_threads())))
    for_each(columns, [slice(start, min(start + width, m)) for start in range(0, m, width)], work)
    return squares
