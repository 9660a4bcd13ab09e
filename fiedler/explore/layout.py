"""Where the rows are drawn on the map: the layout of the neighbour graph that the report has (``plots.placing``)."""

from __future__ import annotations

import numpy as np

from ..graphs import KNN
from ..plots.placing import centred, place_graph
from ..problem import Problem

N_NEIGHBORS = 10


def positions(problem: Problem, n_neighbors: int = N_NEIGHBORS) -> np.ndarray:
    """Coordinates of every row in [-1, 1]², from the neighbour graph of a problem.

    Parameters
    ----------
    problem : Problem
        The rows; the graph is stored in it.
    n_neighbors : int, default=10
        Neighbours in the graph.

    Returns
    -------
    places : ndarray of shape (n_samples, 2)
        The coordinates.
    """
    if problem.n_samples < 2:
        return np.zeros((problem.n_samples, 2))
    return centred(place_graph(problem.graph(KNN(min(n_neighbors, problem.n_samples - 1)))).places)
