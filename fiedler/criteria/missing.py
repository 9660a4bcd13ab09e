"""Missing values: scores that read known values only, and penalties so that a column does not gain from few of them.

Filled values leak structure: if other columns form clusters, a noise column is filled with means of clusters and looks
smooth. A quotient on a graph therefore reads only edges whose two rows have a known value, with the degrees, the mean,
the energy and the mass of these edges. Its mean under noise, r₀_j, is replaced by that of a complete column, r₀:

    score_j = (r₀ / r₀_j) energy_j / mass_j + .85 (σ_j - σ),      r₀_j = (vol_j - Σ w_ii k_i) / (vol_j - Σ d² / vol_j)
    σ_j = √(2 Σ w_ab² k_a k_b) / Σ w_ab k_a k_b

k_a is 1 if column j is known in row a and 0 otherwise. A mean over fewer edges varies more, so among many noise columns
the best score would often belong to a column with many missing values. The penalty is the excess of the standard
deviation under noise; σ is that of a complete column, which has no penalty. It is subtracted if large is good.

For the quotient of two mean energies, as in constraint scores, the deviation is that of f'Af with A = L / tr L - L' /
tr L', both Laplacians restricted to the known rows: σ_j = √(2 tr A²). Given pairs are few, so filled values are read
there, with ½ (σ_j - σ): this is as fair and closer to the scores of the complete table. The energies of ReliefF read
the filled values without penalty: filled values vary less, which lowers the weights. Fisher score and correlation read
known values only, and correct the unexplained share U of the variance (U = 1 / (1 + F), or 1 - r²) from n_j known rows
to the n rows of a complete column:

    U' = U r₀(n) / r₀(n_j) + 2 (s₀(n_j) - s₀(n)),   r₀(n) = (n - c) / (n - 1)

with c classes (2 for a real target) and the standard deviation s₀ of R² under noise. Introduced in this library.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..errors import ParameterError
from ..graphs import Graph
from ..problem import Problem
from ..validation import is_sparse

SHARE = 0.85  # of the excess deviation that is added: columns with few and with many known values are then on a par
SHARE_OF_PAIRS = 0.5  # the same for given pairs, where filled values are read
_MOST_ROWS = 12_000  # a graph stored in factors is written out up to this number of rows
_AT_ONCE = 256  # columns whose deviations are computed at a time


def quotient_penalty(problem: Problem, graph: Graph) -> np.ndarray:
    """.85 (σ_j - σ) for a quotient on a graph, one value per column of X; 0 for a complete column."""
    W = graph_weights(graph)
    squares = _product(W, W)

    def deviation(K: np.ndarray) -> np.ndarray:
        above, below = _sums(squares, K), _sums(W, K)
        return np.sqrt(2.0 * above) / below

    return SHARE * _excess(problem, deviation)


def difference_penalty(problem: Problem, near: Any, far: Any) -> np.ndarray:
    """σ_j - σ for the difference of the mean energies on two graphs; inf if a graph has no edge of known values."""
    (A, A2), (B, B2) = ((W, _product(W, W)) for W in (near, far))
    both = _product(A, B)

    def deviation(K: np.ndarray) -> np.ndarray:
        a, b = K * (A @ K), K * (B @ K)  # degrees among known rows
        tr_a, tr_b = a.sum(axis=0), b.sum(axis=0)
        # tr L² = Σ d² + Σ w²: a Laplacian without loops has the degrees on its diagonal.
        aa = np.einsum("ij,ij->j", a, a) + _sums(A2, K)
        bb = np.einsum("ij,ij->j", b, b) + _sums(B2, K)
        ab = np.einsum("ij,ij->j", a, b) + _sums(both, K)
        with np.errstate(divide="ignore", invalid="ignore"):
            square = aa / tr_a**2 + bb / tr_b**2 - 2.0 * ab / (tr_a * tr_b)
        return np.where((tr_a > 0) & (tr_b > 0), np.sqrt(2.0 * np.maximum(square, 0.0)), np.inf)

    return _excess(problem, deviation)


def fair_share(unexplained: np.ndarray, n_known: np.ndarray, n: int, n_classes: int) -> np.ndarray:
    """The unexplained share of the variance, corrected from n_known to n rows; NaN if n_known is too small."""
    enough = n_known > n_classes
    n_known = np.where(enough, n_known, n_classes + 1)
    usual = (n - n_classes) / (n - 1)
    ratio = usual / ((n_known - n_classes) / (n_known - 1))
    excess = r2_deviation(n_classes - 1, n_known - n_classes) - r2_deviation(n_classes - 1, n - n_classes)
    return np.where(enough, unexplained * ratio + 2.0 * excess, np.nan)


def r2_deviation(d1: Any, d2: Any) -> Any:
    """s₀ = √(2 d1 d2 / ((d1 + d2)² (d1 + d2 + 2))), the standard deviation of R² if there is no relation."""
    return np.sqrt(2.0 * d1 * d2 / ((d1 + d2) ** 2 * (d1 + d2 + 2.0)))


def weights_without_loops(graph: Graph) -> Any:
    """W of a graph with 0 on its diagonal, sparse or dense."""
    W = graph_weights(graph)
    loops = W.diagonal()
    return sp.csr_array(W - sp.diags_array(loops)) if is_sparse(W) else W - np.diag(loops)


class KnownPairs(NamedTuple):
    """Sums over the edges of a graph whose two rows have a known value, one of each per column.

    Attributes
    ----------
    energy, mass : ndarray of shape (b,)
        ½ Σ w_ab (f_a - f_b)², and Σ d_a f̃_a² with the degrees d and the mean of these edges.
    volume, noise : ndarray of shape (b,)
        Σ w_ab, and the mean r₀ of energy / mass under noise.
    """

    energy: np.ndarray
    mass: np.ndarray
    volume: np.ndarray
    noise: np.ndarray

    @classmethod
    def of(cls, W: Any, F: np.ndarray, known: np.ndarray) -> KnownPairs:
        """The sums of a block of columns, of which a mask tells the known values."""
        K = known.astype(np.float64)
        D, loops = K * (W @ K), W.diagonal() @ K
        volume = D.sum(axis=0)
        C = np.where(known, F - F[np.argmax(known, axis=0), np.arange(F.shape[1])], 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):  # no edge between known rows: 0 / 0
            C -= K * (np.einsum("ij,ij->j", D, C) / volume)
            mass = np.einsum("ij,ij->j", D, C * C)
            noise = (volume - loops) / (volume - np.einsum("ij,ij->j", D, D) / volume)
        return cls(np.maximum(mass - np.einsum("ij,ij->j", C, W @ C), 0.0), mass, volume, noise)


def known_variance(problem: Problem, F: np.ndarray, columns: slice, rows: np.ndarray) -> np.ndarray:
    """Variance of the known values of a block on some rows."""
    K = np.ones(F.shape, dtype=bool) if problem.known is None else problem.known[:, columns]
    K = K & rows[:, None]
    centred = F - F[0]
    count = np.maximum(K.sum(axis=0), 1)
    centred = np.where(K, centred - np.where(K, centred, 0.0).sum(axis=0) / count, 0.0)
    return np.einsum("ij,ij->j", centred, centred) / count


def _excess(problem: Problem, deviation: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    known = problem.known
    assert known is not None
    penalty = np.zeros(known.shape[1])
    holed = np.flatnonzero(~known.all(axis=0))
    usual = deviation(np.ones((len(known), 1)))[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        for start in range(0, len(holed), _AT_ONCE):
            some = holed[start : start + _AT_ONCE]
            found = deviation(known[:, some].astype(np.float64)) - usual
            penalty[some] = np.where(np.isnan(found), np.inf, found)
    return penalty


def graph_weights(graph: Graph) -> Any:
    """W of a graph, sparse or dense."""
    W = graph.csr
    if W is not None:
        return W
    if graph.n_nodes > _MOST_ROWS:
        raise ParameterError(
            f"missing values cannot be used with a graph of {graph.n_nodes} rows that is not sparse (limit "
            f"{_MOST_ROWS}); use KNN(), or fill the missing values first.",
            parameter="graph",
        )
    return graph.toarray()


def _sums(W: Any, K: np.ndarray) -> np.ndarray:
    """Σ_ab w_ab k_a k_b for every column of K."""
    return np.einsum("ij,ij->j", K, W @ K)


def _product(A: Any, B: Any) -> Any:
    """The elementwise product of two matrices of weights."""
    return A.multiply(B) if is_sparse(A) else B.multiply(A) if is_sparse(B) else A * B
