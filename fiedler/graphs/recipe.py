"""The base class of recipes, which build a graph from X, labels and pairs.

A recipe is a small scikit-learn object with parameters and one public method, ``build(X, y, ...) -> Graph``. Its
docstring states the weights and the diagonal; class attributes state what it reads. Only recipes read whole rows of X.

To write a recipe, derive from :class:`Recipe` and define :meth:`Recipe.make`. Set the class attributes that differ from
the defaults. The rest of the package uses only these attributes and names no recipe.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterator
from numbers import Real
from typing import Any

from sklearn.base import BaseEstimator

from ..problem import Problem
from ..validation import call_repr, check_integer, parameters
from .graph import Graph

_DENSE_LIMIT = 16_384  # rows of the largest n x n matrix allowed: 2 GiB in float64


class Recipe(BaseEstimator):
    """Base of all recipes.

    Attributes
    ----------
    attracts : bool, default=True
        True if an edge means "similar", so that a small energy is good. False if it means "different", as in
        CannotLink, so that a large energy is good.
    signed : bool, default=False
        Whether weights, and therefore energies, may be negative.
    reads : {"nothing", "classes", "target", "pairs"}, default="nothing"
        The supervision that the recipe reads.
    reads_X : bool, default=True
        Whether the graph depends on the values of X. If so, features are tested on graphs built from other features,
        and the scale of the features matters.
    """

    attracts: bool = True
    signed: bool = False
    reads: str = "nothing"
    reads_X: Any = True  # a bool, or a property if the recipe contains another recipe

    def build(
        self,
        X: Any,
        y: Any = None,
        *,
        must_link: Any = None,
        cannot_link: Any = None,
        graph: Any = None,
        unlabeled: Any = -1,
    ) -> Graph:
        """Build the graph over the rows of X.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            The data.
        y : array-like of shape (n_samples,), optional
            Classes or real targets; some may be unknown.
        must_link, cannot_link : array-like of shape (p, 2) or Pairs, optional
            Pairs of rows that belong together, and pairs that do not.
        graph : Graph or what :meth:`Graph.of` takes, optional
            The graph that ``Precomputed()`` uses.
        unlabeled : object, default=-1
            The class label that means "unknown".

        Returns
        -------
        graph : Graph
            The graph, with one node per row.
        """
        told = {"must_link": must_link, "cannot_link": cannot_link, "graph": graph, "unlabeled": unlabeled}
        return Problem.of(X, y, **told).graph(self)

    def make(self, problem: Problem) -> Graph:
        """Make the graph of a problem; every recipe defines this method.

        Parameters
        ----------
        problem : Problem
            ``problem.X`` is the data, ``problem.supervision`` holds labels and pairs, ``problem.graph(recipe)`` gives
            other graphs and ``problem.distances(metric)`` the distances between the rows.

        Returns
        -------
        graph : Graph
            The graph, with one node per row of X.
        """
        raise TypeError(f"{type(self).__name__} is not a recipe that can be built: it does not define make().")

    def made_for(self, problem: Problem) -> Graph:
        """The graph of :meth:`make`, prepared for the number of columns in the problem.

        Parameters
        ----------
        problem : Problem
            X and what is known about its rows.

        Returns
        -------
        graph : Graph
            The graph that :meth:`Problem.graph` stores.
        """
        return self.make(problem).for_columns(problem.X.shape[1])

    def sums(self, problem: Problem) -> int | None:
        """Number of sums per feature that the graph needs in one pass over the rows.

        Parameters
        ----------
        problem : Problem
            X and what is known about its rows.

        Returns
        -------
        sums : int or None
            None if sums are not enough and the graph needs the rows.
        """
        return None

    def walk(self) -> Iterator[Recipe]:
        """This recipe, followed by the recipes inside it.

        Yields
        ------
        recipe : Recipe
            The recipes in the order of the parameters.
        """
        yield self
        for value in parameters(self).values():
            if isinstance(value, Recipe):
                yield from value.walk()

    @property
    def supervised(self) -> bool:
        """Whether this recipe, or one inside it, reads labels or pairs."""
        return any(recipe.reads != "nothing" for recipe in self.walk())

    @property
    def key(self) -> Hashable:
        """A key that is equal for recipes that build the same graph; arrays and functions compare by identity."""
        return (type(self), *((name, _key(value)) for name, value in sorted(parameters(self).items())))

    def __repr__(self) -> str:
        return call_repr(self)


def _key(value: Any) -> Hashable:
    if isinstance(value, Recipe):
        return value.key
    plain = isinstance(value, (Real, str, type(None)))
    return value if plain else id(value)


def check_neighbors(k: Any, n_samples: int) -> int:
    """The number of neighbours, limited to the number of other rows, with a warning."""
    check_integer("n_neighbors", k, 1)
    if n_samples <= k:
        warnings.warn(
            f"n_neighbors={k}, but each of the {n_samples} rows has only {n_samples - 1} others: the graph is "
            "complete. Use a smaller n_neighbors.",
            UserWarning,
            stacklevel=2,
        )
    return min(int(k), n_samples - 1)


def check_dense(reader: str, n_samples: int) -> None:
    if n_samples > _DENSE_LIMIT:
        raise ValueError(
            f"{reader} needs a full {n_samples} x {n_samples} matrix ({n_samples**2 * 8 / 2**30:.0f} GiB), more than "
            f"the limit of {_DENSE_LIMIT} rows; use the sparse KNN() instead."
        )
