"""The graph of the columns that agree with others: noise columns are not used for the distances between rows."""

from __future__ import annotations

from collections.abc import Hashable

from ..engine.agreement import Agreed, agreeing
from ..problem import Problem
from .given import as_recipe
from .graph import Graph
from .neighbors import KNN
from .recipe import Recipe


class Agreeing(Recipe):
    """The graph of another recipe, built from the columns that agree with others.

    A column is kept if its squared correlations with the other kept columns are larger than expected by chance
    (:func:`fiedler.evaluate.agreement`). If no column agrees with another, all columns are kept. All features are
    scored on the graph, including those that the graph does not use.

    Parameters
    ----------
    graph : Recipe, optional
        The recipe that builds the graph from the kept columns; by default ``KNN(5)``. Its docstring states the
        diagonal.

    See Also
    --------
    fiedler.SpectralSelector : ``screen="agreement"`` also excludes the other columns from the selection.

    Examples
    --------
    >>> import numpy as np
    >>> from fiedler import KNN, Agreeing
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 170))
    >>> X[:, :10] += np.repeat([0.0, 3.0], 30)[:, None]
    >>> Agreeing(KNN(5)).build(X).n_components, KNN(5).build(X).n_components
    (2, 1)
    """

    def __init__(self, graph: Recipe | None = None):
        self.graph = graph

    @property
    def reads_X(self) -> bool:
        return self.graph is None or as_recipe(self.graph).reads_X

    def make(self, problem: Problem) -> Graph:
        inside = problem.take_columns(problem.build(ColumnAgreement()).kept)
        return inside.graph(KNN(5) if self.graph is None else as_recipe(self.graph))


class ColumnAgreement:
    """The agreement of columns, in the form in which a problem stores results."""

    supervised = False

    @property
    def key(self) -> Hashable:
        return "agreement"

    def made_for(self, problem: Problem) -> Agreed:
        problem.check_plain("the agreement of columns")
        return agreeing(problem.X)
