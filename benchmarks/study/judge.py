"""How good a choice of columns is: every row predicted from all others, leave-one-out.

Classes by the nearest neighbour, real targets by the mean of the five nearest: what ``fiedler.evaluate.compare`` does
with as many folds as rows. One matrix of distances per choice of columns serves every draw, whose hidden rows are
counted afterwards, and a choice met again costs nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import normalized_mutual_info_score

from fiedler.selection.redundancy import prune

from .sets import DataSet

_NEIGHBORS = 5  # of a real target, as in [DV]


class Judge:
    """Predictions on chosen columns of one set, each choice computed once."""

    def __init__(self, data: DataSet):
        self.data, self._losses = data, {}
        self._scale = float(data.y.std()) if not data.has_classes else 1.0
        self.middle = data.sizes[len(data.sizes) // 2]
        self.few = min(10, self.middle)  # columns that tuning and redundancy look at

    def values(self, order: np.ndarray, shown: np.ndarray | None = None) -> list[float]:
        """Accuracy, or minus the RMSE in standard deviations of y, on the rows not shown, for each size."""
        return [self.value(order[:size], shown) for size in self.data.sizes]

    def curve(self, order: np.ndarray) -> list[float]:
        """The same on all rows over more sizes."""
        return [self.value(order[:size]) for size in self.data.curve]

    def value(self, columns: np.ndarray, shown: np.ndarray | None = None) -> float:
        """The same on exactly these columns."""
        loss = self._loss(columns)
        hidden = loss if shown is None else np.delete(loss, shown)
        return float(hidden.mean()) if self.data.has_classes else -float(np.sqrt(hidden.mean())) / self._scale

    def _loss(self, columns: np.ndarray) -> np.ndarray:
        """Per row whether its class was met, or its squared error."""
        columns = np.sort(columns)
        key = columns.tobytes()
        if key not in self._losses:
            found = _leave_one_out(self.columns(columns), self.data.y)
            self._losses[key] = found.astype(np.float32)
        return self._losses[key]

    def columns(self, columns: np.ndarray) -> np.ndarray:
        """A dense block of columns."""
        block = self.data.X[:, columns]
        return block.toarray() if sp.issparse(block) else block

    def pruned(self, order: np.ndarray, limit: float) -> np.ndarray:
        """An order without the columns whose |r| with a better one kept is above the limit, as far as sizes go.

        Where too few are left, the best of those passed over fill up.
        """
        most = self.data.sizes[-1]
        return prune(order, self.data.X, limit, most).order[:most]

    @cached_property
    def _unit(self) -> np.ndarray:
        """Columns as rows of mean 0 and length 1, so that products are correlations."""
        block = self.columns(np.arange(self.data.X.shape[1])).T
        block = block - block.mean(axis=1, keepdims=True)
        length = np.linalg.norm(block, axis=1, keepdims=True)
        return np.ascontiguousarray(block / np.where(length > 0, length, 1.0))

    def redundancy(self, order: np.ndarray) -> float:
        """Mean |r| between two of the first ten columns (of as many as the middle size has, in narrow tables)."""
        block = self._unit[order[: max(self.few, 2)]]
        return float(np.abs(block @ block.T)[np.triu_indices(len(block), 1)].mean())

    def clusters(self, order: np.ndarray) -> float:
        """NMI of the classes with k-means on the middle size, the start with the smallest inertia of ten."""
        block, y = self.columns(order[: self.middle]), self.data.y
        model = KMeans(int(y.max()) + 1, n_init=10, random_state=0)
        with warnings.catch_warnings():  # fewer distinct rows than clusters: the answer stands
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = model.fit(block).labels_
        return float(normalized_mutual_info_score(y, found, average_method="max"))


def _leave_one_out(block: np.ndarray, y: np.ndarray) -> np.ndarray:
    distances = _squared_distances(block)
    if y.dtype.kind == "i":
        return y[distances.argmin(axis=1)] == y
    near = np.argpartition(distances, _NEIGHBORS, axis=1)[:, :_NEIGHBORS]
    return (y[near].mean(axis=1) - y) ** 2


def _squared_distances(block: np.ndarray) -> np.ndarray:
    """Between all rows, infinite to itself; counts are whole numbers and give exact distances, ties included."""
    if not np.array_equal(block, np.round(block)):
        block = block - block.mean(axis=0)
    squares = np.einsum("ij,ij->i", block, block)
    distances = squares[:, None] + squares - 2.0 * (block @ block.T)
    np.fill_diagonal(distances, np.inf)
    return distances


def predict_shown(block: np.ndarray, y: np.ndarray, folds: Sequence[np.ndarray], fold: int) -> float:
    """Share of a fold's rows, or minus their squared error, that the other folds predict: what a user can see."""
    test = folds[fold]
    train = np.concatenate([rows for number, rows in enumerate(folds) if number != fold])
    distances = ((block[test, None, :] - block[None, train, :]) ** 2).sum(axis=2)
    if y.dtype.kind == "i":
        return float(np.sum(y[train[distances.argmin(axis=1)]] == y[test]))
    near = np.argsort(distances, axis=1, kind="stable")[:, :_NEIGHBORS]
    return -float(np.sum((y[train[near]].mean(axis=1) - y[test]) ** 2))
