"""A problem: X, what is known about its rows, and graphs that are built once however often a formula names them.

    Problem.of(X, y).graph(KNN())                    built
    problem.with_supervision(z).graph(KNN())         the same graph: it reads no labels
    problem.with_supervision(z).graph(ClassGraph())  another one

Nothing else changes while scores are computed. What building a graph warns of is said again to everyone who asks for
it first, so that it makes no difference who built it.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from .data.arrays import Matrix, validate_X
from .engine.dense import DenseDistances
from .supervision import Supervision

G = TypeVar("G")
G_co = TypeVar("G_co", covariant=True)


class Builds(Protocol[G_co]):
    """What a problem asks of a recipe."""

    @property
    def key(self) -> Hashable: ...  # equal for two recipes exactly where they build the same graph
    @property
    def supervised(self) -> bool: ...  # whether labels or pairs are read, by the recipe or by one inside it
    def made_for(self, problem: Problem) -> G_co: ...


class Built(NamedTuple, Generic[G]):
    """A graph with the recipe that made it, which keeps the key alive, and what was said on the way."""

    recipe: Builds[G]
    graph: G
    said: list[tuple[str, type[Warning]]]


class Problem:
    """One validated (X, supervision).

    Parameters
    ----------
    X : ndarray, csc_array or Source
    supervision : Supervision, optional
        By default nothing is known.
    by_rows : bool, default=False
        Whether graphs are summed over blocks of rows in one pass instead of being held.
    distances : DenseDistances, optional
        Between the rows of X, where someone has them.
    given : Graph, matrix or graph of another library, optional
        A graph over the rows that came along with X; ``Precomputed()`` takes it.
    """

    def __init__(
        self,
        X: Matrix,
        supervision: Supervision | None = None,
        *,
        by_rows: bool = False,
        distances: DenseDistances | None = None,
        given: Any = None,
    ):
        self.X, self.by_rows, self.distances, self.given = X, by_rows, distances, given
        self.n_samples, self.n_features = X.shape
        self.supervision = Supervision(self.n_samples) if supervision is None else supervision
        self._free: dict[Hashable, Built[Any]] = {}  # graphs that read no supervision, shared with all relatives
        self._told: dict[Hashable, Built[Any]] = {}
        self._asked: set[Hashable] = set()

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any = None,
        *,
        must_link: Any = None,
        cannot_link: Any = None,
        graph: Any = None,
        unlabeled: Any = -1,
    ) -> Problem:
        """A problem of whatever a caller has; one that is a problem already keeps its graphs."""
        told = {"must_link": must_link, "cannot_link": cannot_link, "unlabeled": unlabeled}
        if not isinstance(X, Problem):
            X = cls(validate_X(X), given=graph)
        elif graph is not None:
            X = cls(X.X, by_rows=X.by_rows, distances=X.distances, given=graph)
        return X.with_supervision(y, **told)

    def with_supervision(
        self, y: Any = None, *, must_link: Any = None, cannot_link: Any = None, unlabeled: Any = -1
    ) -> Problem:
        """The same X with other labels or pairs; graphs that do not read them are shared, whoever builds them."""
        known = Supervision(self.n_samples, y, must_link=must_link, cannot_link=cannot_link, unlabeled=unlabeled)
        twin = Problem(self.X, known, by_rows=self.by_rows, distances=self.distances, given=self.given)
        twin._free = self._free
        return twin

    def without_pairs(self) -> Problem:
        """The same problem with its labels alone."""
        return self.with_supervision(self.supervision.y, unlabeled=self.supervision.unlabeled)

    def graph(self, recipe: Builds[G]) -> G:
        """The graph of a recipe."""
        key, built = recipe.key, self._told if recipe.supervised else self._free
        if key not in built:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                graph = recipe.made_for(self)
            built[key] = Built(recipe, graph, [(str(w.message), w.category) for w in caught])
        if key not in self._asked:
            self._asked.add(key)
            for message, category in built[key].said:
                warnings.warn(message, category, stacklevel=2)
        return built[key].graph

    def graphs(self) -> list[Any]:
        """The graphs built so far."""
        return [made.graph for made in (*self._free.values(), *self._told.values())]

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_free": [*self._free.values()], "_told": [*self._told.values()], "_asked": set()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Keys name arrays by where they live, which is elsewhere now.
        tables = {name: {made.recipe.key: made for made in state[name]} for name in ("_free", "_told")}
        vars(self).update(state | tables)
