"""The label term of sSelect: disagreement between the sign of a feature and the classes ([ZL] eq. 3.8)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import entr

from ..graphs import Recipe, as_recipe
from ..problem import Problem
from .criterion import Criterion, Scorer
from .nulls import LabelOrders


class Disagreement(Criterion):
    """1 - NMI(sign(f̃), y) on the labelled rows, the second term of [ZL] eq. 3.8.

    f̃ is centred by the degrees of the graph over **all** rows; sign(0) = 1. NMI is the mutual information divided by
    the larger of the two entropies; it is 0 if both are 0. y may hold any number of classes.

    Parameters
    ----------
    graph : Recipe
        The graph whose degrees centre the features.

    Examples
    --------
    >>> from fiedler import KNN, Disagreement
    >>> X = [[0.0, 2.0], [1.0, 0.0], [4.0, 1.0], [5.0, 3.0]]
    >>> Disagreement(KNN(1)).evaluate(X, [0, -1, -1, 2]).round(9)
    array([0., 1.])
    """

    needs = "classes"

    def __init__(self, graph: Recipe):
        self.graph = graph

    def null(self) -> LabelOrders:
        return LabelOrders(as_recipe(self.graph))

    def scorer(self, problem: Problem) -> Scorer:
        graph = problem.graph(as_recipe(self.graph))
        codes, names = problem.supervision.classes("Disagreement")
        rows = np.flatnonzero(codes >= 0)
        member = np.equal.outer(np.arange(len(names)), codes[rows]).astype(np.float64)

        def score(F: Any) -> np.ndarray:
            centred = graph.centred_rows(F, rows)
            return disagreement(member @ (centred >= 0), member.sum(axis=1)[:, None])  # counts for all features at once

        return Scorer(graph.rows, score)


def disagreement(positive: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """1 - NMI from the counts of positive signs per class and feature (c, b), and the class sizes (c, 1)."""
    joint = np.stack([positive, sizes - positive]) / sizes.sum()
    of_sign, of_class = entr(joint.sum(axis=1)).sum(axis=0), entr(joint.sum(axis=0)).sum(axis=0)
    information = np.maximum(of_sign + of_class - entr(joint).sum(axis=(0, 1)), 0.0)
    entropy = np.maximum(of_sign, of_class)
    return 1.0 - information / np.where(entropy > 0, entropy, 1.0)
