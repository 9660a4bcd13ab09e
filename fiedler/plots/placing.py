"""Where the samples of a graph are drawn: by eigenvectors of 𝓛, with loose rows at the border; features along an axis.

Sample i is placed at (ξ_1(i), ξ_2(i)) / √d_i, the first non-trivial eigenvectors of 𝓛 = D^-½ L D^-½ (Laplacian
eigenmaps). A few rows may have almost no weight to the others; these are called loose. They would dominate the first
eigenvectors, so that all other rows coincide. Therefore they are left out of the embedding and drawn at the border.

Features whose names are numbers in order, such as wavelengths or times, are drawn along this axis::

    names as numbers -> axis;   (X, classes) -> one mean profile per class;   chosen features -> regions of the axis
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import rankdata

from ..graphs import Graph
from ..problem import Problem
from ..validation import is_sparse

_MOST_LOOSE, _ROUNDS = 0.1, 12  # largest share of loose rows, and number of searches for them
_CROWDED = 0.125  # an axis is crowded if the middle half of the rows covers a smaller share
_BORDER, _APART, _AT_ONCE = 1.12, 0.09, 60
_WITH_UNIT = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\W\d_][^\s\d]*(?:-1)?|)")
_LARGEST, _SMALLEST_STEP = 1e100, 1e-10  # of an axis, and in relation to its largest number
FEWEST = 8  # fewer numbers are no axis
MOST_CLASSES = 8  # more classes have one mean profile together
_GAP = 0.06  # between the squares of two components, as a share of the side


@dataclass(frozen=True)
class Layout:
    """Where all rows of a graph are drawn, which of them are loose, and whether crowded parts were stretched."""

    places: np.ndarray
    loose: np.ndarray
    stretched: bool


def _coordinates(graph: Graph, vectors: np.ndarray | None = None) -> np.ndarray:
    vectors = graph.spectrum(3)[1] if vectors is None else vectors
    return graph.inverse_root_degree[:, None] * vectors[:, 1:3]


def _fence(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The range of the middle 90 % of each axis, extended by its length on either side."""
    low, high = np.quantile(places, [0.05, 0.95], axis=0)
    return 2 * low - high, 2 * high - low


def subgraph(graph: Graph, nodes: np.ndarray) -> Graph:
    """The subgraph of some nodes, in their order."""
    if np.array_equal(nodes, np.arange(graph.n_nodes)):
        return graph
    if graph.storage == "dense":
        return Graph.from_weights(graph.toarray()[np.ix_(nodes, nodes)])
    place = np.full(graph.n_nodes, -1)
    place[nodes] = np.arange(len(nodes))
    i, j, w = graph.edges
    inside = (place[i] >= 0) & (place[j] >= 0)
    return Graph.from_edges(place[i[inside]], place[j[inside]], w[inside], len(nodes))


def at_border(graph: Graph, loose: np.ndarray, nodes: np.ndarray, placed: np.ndarray) -> np.ndarray:
    """Positions of the loose rows on a square around the picture, each in the direction of its neighbours."""
    where = np.zeros((graph.n_nodes, 2))
    where[nodes] = placed
    chosen = np.zeros((graph.n_nodes, len(loose)))
    chosen[loose, np.arange(len(loose))] = 1.0
    ties = graph.dot(chosen)
    ties /= np.maximum(np.abs(ties).max(axis=0), np.finfo(float).tiny)  # some weights are as small as 1e-170
    direction = ties.T @ where
    angle = np.arctan2(direction[:, 1], direction[:, 0])
    order = np.argsort(angle, kind="stable")
    for before, at in pairwise(order):
        angle[at] = max(angle[at], angle[before] + _APART)
    ends = np.column_stack([np.cos(angle), np.sin(angle)])
    return _BORDER * ends / np.abs(ends).max(axis=1, keepdims=True)


def placed_part(graph: Graph, vectors: np.ndarray | None = None) -> Layout:
    """Places of all rows of a connected graph in [-1, 1]²; loose rows, the loosest first, are on a square around it."""
    nodes, loose, everywhere = np.arange(graph.n_nodes), np.empty(0, dtype=np.intp), np.zeros((graph.n_nodes, 2))
    most, places = _MOST_LOOSE * len(nodes), _coordinates(graph, vectors)
    for _ in range(_ROUNDS):
        (low, high), slack = _fence(places), 1e-9 * np.abs(places).max(axis=0)
        far = (places < low - slack) | (places > high + slack)
        out = next((column for column in far.T if column.any()), None)
        if out is None or len(loose) + out.sum() > most or len(nodes) - out.sum() < 4:
            break
        # Rows that were connected to the largest part only through loose rows are loose as well.
        kept = nodes[~out]
        kept = kept[subgraph(graph, kept).components == 0]
        if graph.n_nodes - len(kept) > most or len(kept) < 4:
            break
        nodes, loose = kept, np.concatenate([loose, np.setdiff1d(nodes, kept)])
        places = _coordinates(subgraph(graph, kept))
    places = places.clip(*_fence(places))  # rows that are too many to be left out move to the border
    if places.shape[1] < 2:
        return Layout(everywhere, loose, False)
    scale = np.abs(places).max(axis=0)
    places = places / np.where(scale > 0, scale, 1.0)
    low, q1, q3, high = np.quantile(places, [0.0, 0.25, 0.75, 1.0], axis=0)
    crowded = np.flatnonzero(q3 - q1 < _CROWDED * (high - low))  # half of the rows lie in a small part of the axis
    for at in crowded:  # moved half-way to ranks
        places[:, at] = (places[:, at] + 2 * (rankdata(places[:, at]) - 0.5) / len(places) - 1) / 2
    everywhere[nodes] = places
    for start in range(0, len(loose), _AT_ONCE):
        some = loose[start : start + _AT_ONCE]
        everywhere[some] = at_border(graph, some, nodes, places)
    return Layout(everywhere, loose, len(crowded) > 0)


# -------------------------------------------------------------------- graphs of several components


def place_graph(graph: Graph, vectors: np.ndarray | None = None) -> Layout:
    """Places of all rows of a graph, each connected component in a square of its own.

    The side of a square is proportional to the root of the number of its rows, and squares are set in shelves. An
    isolated row is a component of one row.
    """
    component = np.asarray(graph.components)
    parts = [np.flatnonzero(component == c) for c in range(graph.n_components)]
    parts += [np.array([row]) for row in np.flatnonzero(component < 0)]
    if len(parts) == 1 and graph.n_nodes > 3:
        return placed_part(graph, vectors)
    sides = np.sqrt([len(nodes) for nodes in parts])
    places, loose, crowded = np.zeros((graph.n_nodes, 2)), [], False
    for nodes, side, corner in zip(parts, sides, _shelves(sides), strict=True):
        inside = np.zeros((len(nodes), 2))  # a few rows in a line
        inside[:, 0] = np.linspace(-0.5, 0.5, len(nodes)) if len(nodes) > 1 else 0.0
        if len(nodes) > 3:
            part = placed_part(subgraph(graph, nodes))
            inside, crowded = part.places / _BORDER, crowded or part.stretched
            loose.append(nodes[part.loose])
        places[nodes] = corner + side / 2 + inside * side * (1 - _GAP) / 2
    return Layout(centred(places), np.concatenate([*loose, np.empty(0, dtype=np.intp)]).astype(np.intp), crowded)


def centred(places: np.ndarray) -> np.ndarray:
    """Places moved and scaled into [-1, 1]², with equal scales of both axes."""
    low, high = places.min(axis=0), places.max(axis=0)
    span = max(float((high - low).max()), np.finfo(float).tiny)
    return 2 * (places - (low + high) / 2) / span


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
    turns = product(([0, 1], [1, 0]), ([1, 1], [1, -1], [-1, 1], [-1, -1]))
    return max((places[:, axes] * signs for axes, signs in turns), key=lambda turned: float((turned * to).sum()))


# -------------------------------------------------------------------- features along an axis


def side_by_side(places: np.ndarray, blocks: np.ndarray | None) -> np.ndarray:
    """Places of rows with the blocks, such as slides, next to each other, in their own units."""
    placed, left = np.array(places, dtype=np.float64), 0.0
    for code in range(1 + (0 if blocks is None else int(blocks.max()))):
        rows = slice(None) if blocks is None else blocks == code
        placed[rows] -= placed[rows].min(axis=0)
        width = placed[rows, 0].max()
        placed[rows, 0] += left
        left += 1.1 * (width or 1.0)
    return placed


def axis_of(names: Sequence[str]) -> tuple[np.ndarray, str] | None:
    """Feature names as an ascending or descending axis, and its unit, which all names have; None if they are no axis.

    Examples
    --------
    >>> axis_of(["400", "402.5", "405", "407.5", "410", "412.5", "415", "417.5"])
    (array([400. , 402.5, 405. , 407.5, 410. , 412.5, 415. , 417.5]), '')
    >>> axis_of([f"{length} nm" for length in range(900, 908)])
    (array([900., 901., 902., 903., 904., 905., 906., 907.]), 'nm')
    >>> axis_of(["height", "weight"])
    """
    found = [_WITH_UNIT.fullmatch(str(name).strip()) for name in names]
    units = {match[2] if match else None for match in found}
    if len(found) < FEWEST or len(units) != 1 or None in units:
        return None
    axis = np.array([float(match[1]) for match in found if match])
    steps, largest = np.diff(axis), np.abs(axis).max()
    # Larger numbers, and steps that are small beside them, cannot be drawn.
    drawable = largest < _LARGEST and np.abs(steps).min() > _SMALLEST_STEP * largest
    return (axis, str(units.pop())) if drawable and (np.sign(steps) == np.sign(steps[0])).all() else None


def mean_profiles(problem: Problem, codes: Any, classes: Any) -> tuple[np.ndarray, list[str] | None]:
    """The mean of each column in each class, and their names; over all rows if there are no classes, or many."""
    names = None if classes is None or not 1 < len(classes) <= MOST_CLASSES else list(map(str, classes))
    n_profiles, codes = (1, np.zeros(problem.n_samples, dtype=np.intp)) if names is None else (len(names), codes)
    rows = np.flatnonzero(codes >= 0)
    member = sp.csr_array((np.ones(len(rows)), (codes[rows], rows)), shape=(n_profiles, problem.n_samples))
    sums: Any = member @ problem.X  # X is neither copied nor made dense
    means = (sums.toarray() if is_sparse(sums) else sums) / np.bincount(codes[rows], minlength=n_profiles)[:, None]
    return means, names


def regions(chosen: np.ndarray) -> list[np.ndarray]:
    """Chosen features that are next to each other, as one region; regions in the order of the axis.

    Examples
    --------
    >>> import numpy as np
    >>> regions(np.array([7, 2, 3, 1]))
    [array([1, 2, 3]), array([7])]
    """
    chosen = np.sort(chosen)
    return np.split(chosen, np.flatnonzero(np.diff(chosen) > 1) + 1) if len(chosen) else []
