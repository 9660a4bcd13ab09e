"""Squared distances between the rows of a source: every quantity is a sum over slabs of columns.

‖x_i - x_j‖² = Σ_slabs ‖x_i,s - x_j,s‖², and norms, Gram matrices and random projections are such sums too. A slab has
all rows, so it can be centred separately. Double precision is used, because reading takes longer than multiplying.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial, reduce

import numpy as np
import scipy.sparse as sp

from ..data.arrays import Matrix, as_csr
from ..data.source import Part, Source
from ..validation import is_sparse
from .compiled import kernels
from .dense import DenseDistances
from .distances import (
    EXACT_BELOW,
    EXACT_COSINE,
    Distances,
    add_squared_differences,
    budget,
    cosine_squared,
    is_integer,
    rounding_error,
    row_products,
    sparse_squared_differences,
)
from .sparse import SparseDistances

SKETCH = 256  # number of columns of the random projection in which candidates are searched


def row_distances(X: Matrix, metric: str = "euclidean") -> Distances:
    """The distances between the rows of an array, or of a source that is read block by block."""
    if isinstance(X, Source):
        return StreamedDistances(X, metric)
    return SparseDistances(X, metric) if is_sparse(X) else DenseDistances(X, metric)


class StreamedDistances(Distances):
    """Distances between the rows of a source; each block is one pass, so blocks are read one after the other.

    Parameters
    ----------
    X : Source
    metric : {"euclidean", "cosine"}
    """

    single = False
    _lengths: np.ndarray | None = None  # ‖x_i‖² of whole numbers under the cosine

    def __init__(self, X: Source, metric: str = "euclidean"):
        self.n, self.m = X.shape
        self._source, self._cosine = X, metric == "cosine"
        self._scale, self._empty = None, np.zeros(self.n)
        self._integer = not self._cosine and _is_integer(X)
        self._centred = not (self._integer or self._cosine or X.sparse)
        gram, norms = self._products()
        # Too large to be exact, so they are centred like other numbers.
        if self._integer and norms.max(initial=0.0) >= EXACT_BELOW:
            self._integer, self._centred = False, not X.sparse
            gram, norms = self._products()
        if self._cosine:
            if norms.max(initial=0.0) <= EXACT_COSINE and _is_integer(X):
                self._lengths = norms
            self._empty = (norms == 0).astype(np.float64)
            self._scale = 1.0 / np.sqrt(np.where(norms > 0, norms, 1.0))
            norms = 1.0 - self._empty
        self._norms = norms
        self._keys = None if gram is None else self._as_keys(np.arange(self.n), self._scaled(gram, slice(None)))

    def _products(self) -> tuple[np.ndarray | None, np.ndarray]:
        """The Gram matrix if it fits into memory, else None, and its diagonal."""
        if self.n**2 > 2 * budget():  # the sum and one part must fit into the working memory next to a slab
            return None, self._source.sum(partial(_norms, centred=self._centred))
        gram = self._source.sum(partial(_gram, rows=slice(0, self.n), centred=self._centred))
        return gram, gram.diagonal().copy()

    @property
    def exact(self) -> bool:
        return self._integer

    @property
    def relative_error(self) -> float:
        """As for arrays; the columns are summed slab by slab."""
        return 0.0 if self.exact else rounding_error(self.m)

    @property
    def n_passes(self) -> int:
        """Number of passes over the source for all distances."""
        return 0 if self._keys is not None else len(self.row_blocks())

    def block(self, rows: np.ndarray) -> np.ndarray:
        """As the base class; the rows need not be consecutive."""
        return self._keys[_span(rows)] if self._keys is not None else self._as_keys(rows, self._gram(rows))

    def row_blocks(self) -> list[np.ndarray]:
        """The smallest number of blocks of rows that the memory budget allows."""
        rows = max(1, min(budget() // max(self.n, 1), self.n))
        return [np.arange(start, min(start + rows, self.n)) for start in range(0, self.n, rows)]

    def between(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Squared distances of the pairs (i, j), from differences of values."""
        if not len(i):
            return np.zeros(0)  # not worth a pass
        if self._lengths is not None:
            products = self._source.sum(partial(_products, i=i, j=j))
            return cosine_squared(products, self._lengths[i] * self._lengths[j])
        return self._source.sum(partial(_between, i=i, j=j, scale=self._scale)) + self._empty[i] + self._empty[j]

    def by_products(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Squared distances of the pairs (i, j), from products, which is much faster for sparse rows; less accurate."""
        products = self._source.sum(partial(_products, i=i, j=j)) * (self.scale[i] * self.scale[j])
        return self.norms[i] + self.norms[j] - 2.0 * products

    @property
    def source(self) -> Source:
        """The rows as they are stored."""
        return self._source

    @property
    def scale(self) -> np.ndarray:
        """Numbers by which the rows are multiplied before they are compared."""
        return np.ones(self.n) if self._scale is None else self._scale

    @property
    def norms(self) -> np.ndarray:
        """‖x_j‖² for products with other rows; 1 for a row of zeros under the cosine, which is far from all."""
        return self._norms + self._empty

    def sketch(self) -> np.ndarray:
        """The centred and scaled rows in float32; long rows are reduced by a random projection."""
        if self.m <= SKETCH:
            rows = np.hstack(self._source.map(partial(_single, centred=self._centred)))
        else:
            rows = self._source.sum(partial(_project, centred=self._centred), positioned=True).astype(np.float32)
        return rows if self._scale is None else rows * self._scale[:, None].astype(np.float32)

    def _gram(self, rows: np.ndarray) -> np.ndarray:
        part = _span(rows)
        return self._scaled(self._source.sum(partial(_gram, rows=part, centred=self._centred)), part)

    def _scaled(self, gram: np.ndarray, rows: slice | np.ndarray) -> np.ndarray:
        if self._scale is not None:
            gram *= self._scale[rows, None] * self._scale
        return gram


def _is_integer(X: Source) -> bool:
    if X.dtype.kind in "iub":
        return True
    # The first slab nearly always decides.
    return is_integer(X[:, X.slabs()[0]]) and not X.sum(_not_integer).any()


def _not_integer(slab: Part) -> np.ndarray:
    return np.array([0.0 if is_integer(slab) else 1.0])


def centred_pieces(slab: np.ndarray, centred: bool = True) -> Iterator[np.ndarray]:
    """A slab in float64, a few columns at a time, because the stored type may need less memory; centred if asked."""
    width = max(1, budget() // (2 * max(slab.shape[0], 1)))
    for start in range(0, slab.shape[1], width):
        piece = np.array(slab[:, start : start + width], dtype=np.float64, order="C")
        if centred:
            piece -= piece.mean(axis=0)
        yield piece


def _span(rows: np.ndarray) -> slice | np.ndarray:
    """Consecutive rows as a slice, which needs no copy."""
    follow = len(rows) and rows[-1] - rows[0] == len(rows) - 1
    return slice(int(rows[0]), int(rows[-1]) + 1) if follow else rows


def _gram(slab: Part, rows: slice | np.ndarray, centred: bool) -> np.ndarray:
    if is_sparse(slab):
        X = as_csr(slab)
        return (X[rows] @ X.T).toarray()
    products = (piece[rows] @ piece.T for piece in centred_pieces(slab, centred))
    return reduce(lambda gram, product: np.add(gram, product, out=gram), products)


def _norms(slab: Part, centred: bool) -> np.ndarray:
    if is_sparse(slab):
        X = as_csr(slab)
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    norms = np.zeros(slab.shape[0])
    for piece in centred_pieces(slab, centred):
        norms += np.einsum("ij,ij->i", piece, piece)
    return norms


def _between(slab: Part, i: np.ndarray, j: np.ndarray, scale: np.ndarray | None) -> np.ndarray:
    if is_sparse(slab):
        return sparse_squared_differences(as_csr(slab) if scale is None else scaled_rows(slab, scale), i, j)
    squared, compiled = np.zeros(len(i)), kernels(float(len(i)) * slab.shape[1])
    for piece in centred_pieces(slab, centred=False):
        add_squared_differences(piece if scale is None else piece * scale[:, None], i, j, squared, compiled)
    return squared


def scaled_rows(slab: sp.csr_array | sp.csc_array, scale: np.ndarray) -> sp.csr_array:
    """A sparse slab by rows, in float64, each row multiplied by a number."""
    X = as_csr(slab)
    return sp.csr_array((X.data * np.repeat(scale, np.diff(X.indptr)), X.indices, X.indptr), shape=X.shape)


def times_mean(slab: sp.csr_array | sp.csc_array, scale: np.ndarray) -> np.ndarray:
    """x_i'mean of the scaled rows of a sparse slab."""
    X = scaled_rows(slab, scale)
    return X @ np.asarray(X.mean(axis=0)).ravel()


def _products(slab: Part, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    return row_products(as_csr(slab) if is_sparse(slab) else slab, i, j)


def _single(slab: Part, centred: bool) -> np.ndarray:
    if is_sparse(slab):
        return slab.toarray().astype(np.float32)
    return np.hstack([piece.astype(np.float32) for piece in centred_pieces(slab, centred)])


def _project(slab: Part, start: int, centred: bool) -> np.ndarray:
    """A slab times its rows of a random matrix, which depend only on the position of the slab."""
    total = np.zeros((slab.shape[0], SKETCH))
    pieces = [as_csr(slab)] if is_sparse(slab) else centred_pieces(slab, centred)
    for piece in pieces:
        directions = [np.random.default_rng([0, start + j]).standard_normal(SKETCH) for j in range(piece.shape[1])]
        total += piece @ (np.array(directions) / np.sqrt(SKETCH))
        start += piece.shape[1]
    return total
