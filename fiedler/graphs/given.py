"""Graphs that are there already: weights or a :class:`Graph` of the caller's."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..problem import Problem
from ..validation import is_sparse
from .graph import Graph
from .recipe import Recipe


class Precomputed(Recipe):
    """A graph you already have: a symmetric non-negative matrix W (dense or sparse), or a :class:`Graph`.

    Parameters
    ----------
    W : array-like or sparse matrix of shape (n_samples, n_samples), or Graph

    Examples
    --------
    >>> from fiedler import Precomputed
    >>> Precomputed([[0, 1], [1, 0]]).build([[3.0], [4.0]]).n_edges
    1
    """

    def __init__(self, W: Any):
        self.W = W

    def _build(self, problem: Problem) -> Graph:
        W = self.W
        shape = (W.n_nodes, W.n_nodes) if isinstance(W, Graph) else np.shape(W)
        if len(shape) != 2 or shape[0] != shape[1]:
            raise ValueError(f"W must be a square matrix of similarities between rows, got shape {shape}.")
        if shape[0] != problem.n_samples:
            raise ValueError(
                f"W is {shape[0]} x {shape[0]}, but X has {problem.n_samples} rows; inside cross-validation rows are "
                "sliced, so use a recipe such as KNN() there."
            )
        if isinstance(W, Graph):
            return W
        W = W if is_sparse(W) else np.asarray(W, dtype=np.float64)
        if not np.isfinite(W.data if is_sparse(W) else W).all():
            raise ValueError("W contains NaN or inf; similarities must be finite.")
        if W.min() < 0:
            raise ValueError(f"W holds negative weights such as {W.min():.6g}; similarities must be non-negative.")
        asymmetry = float(abs(W - W.T).max())
        if asymmetry > 1e-10 * float(W.max()):
            raise ValueError(
                f"W is not symmetric (entries differ by up to {asymmetry:.6g}); pass W.maximum(W.T) or (W + W.T) / 2."
            )
        return Graph.from_weights(W)


def as_recipe(graph: Any) -> Recipe:
    """A recipe as it is; a Graph or a matrix of weights as Precomputed."""
    if isinstance(graph, Recipe):
        return graph
    if isinstance(graph, (Graph, np.ndarray)) or is_sparse(graph):
        return Precomputed(graph)
    raise TypeError(f"graph must be a recipe such as KNN(), a Graph or a matrix of weights, got {graph!r}.")
