"""How good a choice of columns is: nearest neighbours, k-means and a linear SVM, all of them in one place.

:class:`Judge` predicts every row from all others, leave-one-out: classes by the nearest neighbour, real targets by the
mean of the five nearest, which is what ``fiedler.evaluate.compare`` does with as many folds as rows. One matrix of
distances per choice of columns serves every draw, whose hidden rows are counted afterwards.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import normalized_mutual_info_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from fiedler.evaluate import clustering_accuracy
from fiedler.selection.redundancy import prune

from .sets import DataSet, dense

NEIGHBORS = 5  # of a real target, as in [DV]
MEASURES, LINEAR = ("1-NN", "k-means", "NMI"), "SVM"


class Judge:
    """Predictions on chosen columns of one set, each choice computed once."""

    def __init__(self, data: DataSet):
        self.data, self._losses = data, dict[bytes, np.ndarray]()

    def values(self, order: np.ndarray, shown: np.ndarray | None = None) -> list[float]:
        """Accuracy, or minus the RMSE in standard deviations of y, on the rows not shown, for each size."""
        return [self.value(order[:size], shown) for size in self.data.sizes]

    def value(self, columns: np.ndarray, shown: np.ndarray | None = None) -> float:
        """The same on exactly these columns."""
        columns = np.sort(columns)
        key = columns.tobytes()
        if key not in self._losses:
            self._losses[key] = left_out(dense(self.data.X[:, columns]), self.data.y).astype(np.float32)
        hidden = self._losses[key] if shown is None else np.delete(self._losses[key], shown)
        return float(hidden.mean()) if self.data.has_classes else -float(np.sqrt(hidden.mean())) / self.data.y.std()

    def pruned(self, order: np.ndarray, limit: float) -> np.ndarray:
        """An order without the columns whose |r| with a better one kept is above the limit, as far as sizes go."""
        most = self.data.sizes[-1]
        return prune(order, self.data.X, limit, most).order[:most]


def left_out(block: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Per row whether all other rows give its class, or the squared error of its target."""
    if not np.array_equal(block, np.round(block)):  # counts are whole numbers and give exact distances, ties included
        block = block - block.mean(axis=0)
    squares = np.einsum("ij,ij->i", block, block)
    distances = squares[:, None] + squares - 2.0 * (block @ block.T)
    np.fill_diagonal(distances, np.inf)
    if y.dtype.kind == "i":
        return y[distances.argmin(axis=1)] == y
    near = np.argpartition(distances, NEIGHBORS, axis=1)[:, :NEIGHBORS]
    return (y[near].mean(axis=1) - y) ** 2


def clusters(block: np.ndarray, y: np.ndarray, seed: int, starts: int = 1) -> np.ndarray:
    """Clusters by k-means, as many as there are classes."""
    with warnings.catch_warnings():  # fewer distinct rows than clusters: the answer stands
        warnings.simplefilter("ignore", ConvergenceWarning)
        return KMeans(int(y.max()) + 1, n_init=starts, random_state=seed).fit(block).labels_


def judged(block: np.ndarray, y: np.ndarray) -> list[float]:
    """Accuracy of the nearest neighbour, then accuracy and NMI of k-means, means over starts that see no labels."""
    found = [clusters(block, y, start) for start in range(10)]
    nmi = [normalized_mutual_info_score(y, labels, average_method="max") for labels in found]
    accuracy = [clustering_accuracy(y, labels) for labels in found]
    return [float(np.mean(values)) for values in (left_out(block, y), accuracy, nmi)]


def linear(block: np.ndarray, y: np.ndarray) -> float:
    """Accuracy of a linear SVM on standardised columns in five folds, the same for every choice of columns of a set."""
    model = make_pipeline(StandardScaler(), LinearSVC(dual="auto", random_state=0))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # noise that no plane separates: the answer stands
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)  # it is missing in some folds
        return float(np.mean(cross_val_predict(model, block, y, cv=folds) == y))
