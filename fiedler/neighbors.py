"""The k nearest neighbours of every row, exactly; nothing else in the package knows how neighbours are found.

Distances come in blocks of rows from one Gram product, ‖x_i - x_j‖² = ‖x_i‖² + ‖x_j‖² - 2 x_i'x_j on centred rows.
That form carries a rounding error; wherever the error could change who is a neighbour, the distances in question are
computed again from the differences. A row is never its own neighbour, a duplicate of it is; ties at the k-th neighbour
go to the smaller index.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from sklearn import get_config

_EPS = np.finfo(np.float64).eps
# Below this share of ‖x_i‖² + ‖x_j‖² a squared distance from the Gram product has fewer than ten good digits.
_ILL_CONDITIONED = 1e-5


def _budget() -> int:
    """Number of float64 values one temporary may hold."""
    return int(get_config()["working_memory"] * 2**20 / (4 * 8))


class RowDistances:
    """Squared distances between the rows of X.

    Parameters
    ----------
    X : ndarray or csc_array of shape (n, m)
    metric : {"euclidean", "cosine"}
        With "cosine" the rows are scaled to unit norm first, so that the squared distance is 2 (1 - cos);
        a row of zeros is at cosine 0 to every row.
    """

    def __init__(self, X: np.ndarray | sp.csc_array, metric: str = "euclidean"):
        self.n = X.shape[0]
        self._source = sp.csr_array(X, dtype=np.float64) if sp.issparse(X) else X
        self._scale = np.ones(self.n)
        norms = self._row_norms(np.zeros(X.shape[1]))
        self._empty = np.zeros(self.n)
        if metric == "cosine":
            self._empty = (norms == 0).astype(np.float64)
            self._scale = 1.0 / np.sqrt(np.where(norms > 0, norms, 1.0))
            norms = (norms > 0).astype(np.float64)
        # Integers small enough are exact in float64, and so are all their ties; centring would spoil that.
        self._exact = metric == "euclidean" and self._is_integer() and norms.max(initial=0.0) < 2**50
        self._mean = np.zeros(X.shape[1])
        if not (self._exact or sp.issparse(X) or metric == "cosine"):
            self._mean = X.mean(axis=0, dtype=np.float64)
            norms = self._row_norms(self._mean)
        self._norms = norms
        self._relative_error = 0.0 if self._exact else 8 * _EPS * max(16, X.shape[1])

    def blocks(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield ``(rows, squared distances to all rows, self at inf)``."""
        step = max(1, _budget() // max(self.n, 1))
        for start in range(0, self.n, step):
            rows = np.arange(start, min(start + step, self.n))
            distances = self._gram(rows)
            distances *= -2.0
            distances += self._norms[rows, None] + self._empty[rows, None]
            distances += self._norms + self._empty
            np.maximum(distances, 0.0, out=distances)
            distances[np.arange(len(rows)), rows] = np.inf
            yield rows, distances

    def margin(self, rows: np.ndarray) -> np.ndarray:
        """A bound on the rounding error of the distances in the blocks, one per row."""
        return self._relative_error * (self._norms[rows] + self._norms.max(initial=0.0))

    def between(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Squared distances of the pairs (i, j), from the differences themselves."""
        out = np.empty(len(i))
        step = max(1, _budget() // max(self._source.shape[1], 1))
        for start in range(0, len(i), step):
            part = slice(start, start + step)
            difference = self._rows(i[part]) - self._rows(j[part])
            if sp.issparse(difference):
                out[part] = difference.multiply(difference).sum(axis=1)
            else:
                out[part] = np.einsum("ij,ij->i", difference, difference)
            out[part] += self._empty[i[part]] + self._empty[j[part]]
        return out

    def refine(self, i: np.ndarray, j: np.ndarray, squared: np.ndarray) -> np.ndarray:
        """Squared distances with full precision: the doubtful ones are computed again."""
        doubtful = np.flatnonzero(squared < _ILL_CONDITIONED * (self._norms[i] + self._norms[j]))
        if not self._exact and len(doubtful):
            squared = squared.copy()
            squared[doubtful] = self.between(i[doubtful], j[doubtful])
        return squared

    def matrix(self) -> np.ndarray:
        """All n x n squared distances with full precision, exactly symmetric, diagonal 0."""
        squared = np.empty((self.n, self.n))
        for rows, block in self.blocks():
            doubtful = block < _ILL_CONDITIONED * (self._norms[rows, None] + self._norms)
            local, j = np.nonzero(doubtful & (np.arange(self.n) > rows[:, None]))
            if not self._exact:
                block[local, j] = self.between(rows[local], j)
            squared[rows] = block
        for i in range(self.n):
            squared[i, i] = 0.0
            squared[i + 1 :, i] = squared[i, i + 1 :]
        return squared

    def _rows(self, rows: np.ndarray) -> np.ndarray | sp.csr_array:
        picked = self._source[rows]
        if sp.issparse(picked):
            return picked if (self._scale == 1).all() else sp.csr_array(picked * self._scale[rows, None])
        return picked.astype(np.float64) * self._scale[rows, None]

    def _row_norms(self, mean: np.ndarray) -> np.ndarray:
        if sp.issparse(self._source):
            return np.asarray(self._source.multiply(self._source).sum(axis=1)).ravel()
        norms = np.zeros(self.n)
        for block in self._column_pieces(mean):
            norms += np.einsum("ij,ij->i", block, block)
        return norms

    def _column_pieces(self, mean: np.ndarray) -> Iterator[np.ndarray]:
        X = self._source
        step = max(1, _budget() // max(self.n, 1))
        for start in range(0, X.shape[1], step):
            part = slice(start, start + step)
            yield (X[:, part].astype(np.float64) - mean[part]) * self._scale[:, None]

    def _is_integer(self) -> bool:
        values = self._source.data if sp.issparse(self._source) else self._source
        if values.dtype.kind in "iub":
            return True
        # Row by row the answer is nearly always "no" after the first few values.
        return all(bool((piece == np.floor(piece)).all()) for piece in np.array_split(values, 16) if piece.size)

    def _gram(self, rows: np.ndarray) -> np.ndarray:
        if sp.issparse(self._source):
            return (self._rows(rows) @ self._rows(np.arange(self.n)).T).toarray()
        gram = np.zeros((len(rows), self.n))
        for block in self._column_pieces(self._mean):
            # The same array on both sides lets BLAS use its symmetric product.
            gram += block @ block.T if len(rows) == self.n else block[rows] @ block.T
        return gram


class TargetAwareDistances:
    """[DV] eq. 8: (y_i - y_j)² where both targets are known, the mean squared feature difference otherwise."""

    def __init__(self, X: np.ndarray | sp.csc_array, target: np.ndarray):
        self._features, self._n_features = RowDistances(X), X.shape[1]
        self.n = self._features.n
        self._target = target
        self._labeled = np.flatnonzero(~np.isnan(target))

    def blocks(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """As :meth:`RowDistances.blocks`."""
        y = self._target[self._labeled]
        for rows, distances in self._features.blocks():
            distances /= self._n_features
            known = np.flatnonzero(~np.isnan(self._target[rows]))
            distances[np.ix_(known, self._labeled)] = (self._target[rows[known], None] - y) ** 2
            distances[np.arange(len(rows)), rows] = np.inf
            yield rows, distances

    def margin(self, rows: np.ndarray) -> np.ndarray:
        """As :meth:`RowDistances.margin`."""
        return self._features.margin(rows) / self._n_features

    def between(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """As :meth:`RowDistances.between`."""
        by_target = (self._target[i] - self._target[j]) ** 2
        return np.where(np.isnan(by_target), self._features.between(i, j) / self._n_features, by_target)

    def refine(self, i: np.ndarray, j: np.ndarray, squared: np.ndarray) -> np.ndarray:
        """As :meth:`RowDistances.refine`."""
        by_target = (self._target[i] - self._target[j]) ** 2
        by_features = self._features.refine(i, j, squared * self._n_features) / self._n_features
        return np.where(np.isnan(by_target), by_features, by_target)


def nearest(distances: RowDistances | TargetAwareDistances, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices (n, k) of the k nearest neighbours of each row, unordered, and their squared distances."""
    indices, squared = np.empty((distances.n, k), dtype=np.intp), np.empty((distances.n, k))
    for rows, D2 in distances.blocks():
        chosen = _k_smallest(D2, k, distances, rows, np.arange(distances.n))
        indices[rows] = np.nonzero(chosen)[1].reshape(len(rows), k)
        squared[rows] = D2[chosen].reshape(len(rows), k)
    owner = np.repeat(np.arange(distances.n), k)
    return indices, distances.refine(owner, indices.ravel(), squared.ravel()).reshape(-1, k)


def nearest_in_groups(
    distances: RowDistances, groups: np.ndarray, k: int
) -> Iterator[tuple[np.ndarray, np.ndarray, int]]:
    """Yield ``(rows, neighbours, group)``: the k nearest members of every group, for rows in it and rows outside it.

    A group with fewer than k members (other than the row itself) gives all it has.
    """
    members = [np.flatnonzero(groups == g) for g in range(groups.max() + 1)]
    for rows, D2 in distances.blocks():
        for group, columns in enumerate(members):
            inside = groups[rows] == group
            for some, available in ((inside, len(columns) - 1), (~inside, len(columns))):
                picked, width = np.flatnonzero(some), min(k, available)
                if len(picked) and width:
                    chosen = _k_smallest(D2[np.ix_(picked, columns)], width, distances, rows[picked], columns)
                    yield rows[picked], columns[np.nonzero(chosen)[1]].reshape(-1, width), group


def _k_smallest(
    D2: np.ndarray,
    k: int,
    distances: RowDistances | TargetAwareDistances,
    rows: np.ndarray,
    columns: np.ndarray,
) -> np.ndarray:
    """Mask of the k smallest entries of each row, equal ones by index, as exact arithmetic would choose them."""
    margin = distances.margin(rows)[:, None]
    threshold = np.partition(D2, k - 1, axis=1)[:, k - 1 : k]
    lower, upper = threshold - margin, threshold + margin
    chosen = D2 < lower
    tied = (D2 <= upper) & ~chosen
    wanted = k - chosen.sum(axis=1)
    surplus = tied.sum(axis=1) > wanted
    # Where rounding may hide the true order, the tied distances are computed again and the cut made on those.
    uncertain = np.flatnonzero(surplus & (margin[:, 0] > 0))
    local, column = np.nonzero(tied[uncertain])
    if len(local):
        exact = distances.between(rows[uncertain[local]], columns[column])
        order = np.lexsort((column, exact, local))
        starts = np.searchsorted(local, np.arange(len(uncertain)))  # local is sorted, and so is local[order]
        keep = order[np.arange(len(order)) - starts[local] < wanted[uncertain[local]]]
        tied[uncertain] = False
        tied[uncertain[local[keep]], column[keep]] = True
    plain = surplus & (margin[:, 0] == 0)
    if plain.any():
        tied[plain] &= np.cumsum(tied[plain], axis=1) <= wanted[plain, None]
    return chosen | tied


def nearest_on_line(values: np.ndarray, k: int) -> np.ndarray:
    """Indices (n, k) of the k nearest numbers to each number, equal distances by index, in O(n k log n).

    Of a group of equal numbers only the k + 1 with the smallest indices can be anyone's neighbour, so a window of a
    few k positions around each number in the thinned sorted order holds all candidates.
    """
    n = len(values)
    order = np.lexsort((np.arange(n), values))
    in_order = values[order]
    new_group = np.r_[True, in_order[1:] != in_order[:-1]]
    position = np.arange(n) - np.flatnonzero(new_group)[np.cumsum(new_group) - 1]
    thin = order[position <= k]
    reach = 2 * (k + 1)
    centre = np.searchsorted(values[thin], values)
    window = centre[:, None] + np.arange(-reach, reach + k + 1)
    inside = (window >= 0) & (window < len(thin))
    candidates = np.where(inside, thin[np.clip(window, 0, len(thin) - 1)], n)
    distance = np.abs(values[np.minimum(candidates, n - 1)] - values[:, None])
    distance[~inside | (candidates == np.arange(n)[:, None])] = np.inf
    # Two stable sorts: by index, then by distance.
    by_index = np.argsort(candidates, axis=1, kind="stable")
    by_distance = np.argsort(np.take_along_axis(distance, by_index, axis=1), axis=1, kind="stable")
    return np.take_along_axis(candidates, np.take_along_axis(by_index, by_distance, axis=1)[:, :k], axis=1)
