"""Where the rows are drawn on the map: the layout of the report for every connected component of the neighbour graph.

Each component is placed by its first two non-trivial eigenvectors (:mod:`fiedler.plots.placing`) in a square of its
own. The side of a square is proportional to the root of the number of its rows, and squares are set in shelves.
"""

from __future__ import annotations

import numpy as np

from ..graphs import KNN, Graph
from ..plots.placing import placed_part, subgraph
from ..problem import Problem

_GAP = 0.06  # between two squares, as a share of the side
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
    return place_graph(problem.graph(KNN(min(n_neighbors, problem.n_samples - 1))))


def place_graph(graph: Graph) -> np.ndarray:
    """Coordinates of every node in [-1, 1]², component by component."""
    component = np.asarray(graph.components)
    parts = [np.flatnonzero(component == c) for c in range(graph.n_components)]
    parts += [np.array([row]) for row in np.flatnonzero(component < 0)]
    sides = np.sqrt([len(nodes) for nodes in parts])
    corners = _shelves(sides)
    places = np.zeros((graph.n_nodes, 2))
    for nodes, side, corner in zip(parts, sides, corners, strict=True):
        inside = placed_part(subgraph(graph, nodes)) if len(nodes) > 3 else _in_a_row(len(nodes))
        places[nodes] = corner + side / 2 + inside * side * (1 - _GAP) / 2
    low, high = places.min(axis=0), places.max(axis=0)
    span = max(float((high - low).max()), np.finfo(float).tiny)
    return 2 * (places - (low + high) / 2) / span


def _in_a_row(n: int) -> np.ndarray:
    return np.column_stack([np.linspace(-0.5, 0.5, n) if n > 1 else np.zeros(n), np.zeros(n)])


def _shelves(sides: np.ndarray) -> np.ndarray:
    """Lower left corners of squares, which come largest first, on shelves of about equal width."""
    width = max(float(sides[0]), float(np.sqrt((sides**2).sum() * 1.15)))
    corners, x, y, height = np.zeros((len(sides), 2)), 0.0, 0.0, 0.0
    for at, side in enumerate(sides):
        if x > 0 and x + side > width * 1.0001:
            x, y, height = 0.0, y - height, 0.0
        if x == 0:
            height = float(side)
        corners[at] = x, y - side
        x += float(side)
    return corners


def aligned(places: np.ndarray, to: np.ndarray) -> np.ndarray:
    """The places, mirrored and with axes exchanged if they then agree better with other places."""
    best, most = places, -np.inf
    for axes in ([0, 1], [1, 0]):
        for signs in ([1, 1], [1, -1], [-1, 1], [-1, -1]):
            turned = places[:, axes] * signs
            agreement = float((turned * to).sum())
            if agreement > most:
                best, most = turned, agreement
    return best
