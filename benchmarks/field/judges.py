"""Two judges of a choice of columns: the nearest neighbour of every row, and k-means with the number of classes."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import normalized_mutual_info_score

from fiedler.evaluate import clustering_accuracy

MEASURES = ("1-NN", "k-means", "NMI")
_STARTS = 10


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


def standardised(block: np.ndarray) -> np.ndarray:
    """Columns of mean 0 and variance 1."""
    spread = block.std(axis=0)
    return (block - block.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
