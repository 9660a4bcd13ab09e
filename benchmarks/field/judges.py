"""Three judges of a choice of columns: nearest neighbours, k-means with the number of classes, and a linear SVM."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import normalized_mutual_info_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from fiedler.evaluate import clustering_accuracy

MEASURES = ("1-NN", "k-means", "NMI")
LINEAR = "SVM"
_STARTS, _FOLDS = 10, 5


def judged(block: np.ndarray, y: np.ndarray) -> list[float]:
    """Accuracy of the nearest neighbour, then accuracy and NMI of k-means, means over starts that see no labels."""
    squares = np.einsum("ij,ij->i", block, block)
    distances = squares[:, None] + squares - 2.0 * (block @ block.T)
    np.fill_diagonal(distances, np.inf)
    found = [float(np.mean(y[distances.argmin(axis=1)] == y))]
    clusters = []
    for start in range(_STARTS):
        with warnings.catch_warnings():  # fewer distinct rows than clusters: the answer stands
            warnings.simplefilter("ignore", ConvergenceWarning)
            labels = KMeans(int(y.max()) + 1, n_init=1, random_state=start).fit(block).labels_
        nmi = normalized_mutual_info_score(y, labels, average_method="max")
        clusters.append([clustering_accuracy(y, labels), nmi])
    return found + np.mean(clusters, axis=0).tolist()


def linear(block: np.ndarray, y: np.ndarray) -> float:
    """Accuracy of a linear SVM in five folds, which are the same for every choice of columns of a set.

    The rows of the other four folds give the means and the variances by which columns are standardised.
    """
    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # noise that no plane separates: the answer stands
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)  # it is missing in some folds
        return float(np.mean(cross_val_predict(svm(), block, y, cv=folds) == y))


def svm() -> Pipeline:
    """A linear SVM on standardised columns, with scikit-learn's default C = 1."""
    return make_pipeline(StandardScaler(), LinearSVC(dual="auto", random_state=0))


def standardised(block: np.ndarray) -> np.ndarray:
    """Columns of mean 0 and variance 1."""
    spread = block.std(axis=0)
    return (block - block.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
