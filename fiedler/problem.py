"""A problem: X, its labels and pairs, and a cache of everything that is built from them.

    problem = Problem.of(X, y)
    problem.graph(KNN())                             built once, even if a formula uses it several times
    problem.with_supervision(z).graph(KNN())         the same graph, because it reads no labels
    problem.with_supervision(z).graph(ClassGraph())  another graph

Graphs, distances, kernels over the samples and mid-ranks are all stored in the same way. Each is described by an object
with a ``key`` that states how it is made, and whether it reads labels (:class:`Buildable`). Warnings during the
construction are repeated for every problem that uses the result, so that the order of the calls does not matter.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from .data.arrays import Matrix, dense, number_names, rows_of, scaled, take_columns
from .data.columns import Groups, prepare
from .data.source import Source, column_name
from .engine.distances import Distances, HeldRows, budget
from .engine.holes import check_known, filled, holes_of
from .engine.streamed import row_distances
from .errors import ParameterError
from .supervision import Supervision

IMPUTER = "sklearn.impute.KNNImputer in a Pipeline"
# What the command line says in place of a way out in Python.
FILL_HOLES: dict[str, tuple[str, Any]] = {IMPUTER: ("impute", "median")}
ONLY_NUMBERS: dict[str, tuple[str, Any]] = {"pass numeric columns only": ("numeric_only", True)}
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Buildable(Protocol[T_co]):
    """Description of something that a problem builds once: a graph, a kernel, or distances."""

    @property
    def key(self) -> Hashable:
        """A key that is equal for two descriptions if and only if they build the same thing."""

    @property
    def supervised(self) -> bool:
        """Whether labels or pairs are read."""

    def made_for(self, problem: Problem) -> T_co:
        """Build it."""


class Built(NamedTuple, Generic[T]):
    """A stored result, its description (which keeps the objects in its key alive), and the warnings."""

    what: Buildable[T]
    value: T
    warned: list[Warning]


class Problem:
    """X, its labels and pairs, and a cache of everything that is built from them.

    Use :meth:`of` to make a problem that is solved several times: graphs, distances and kernels that read no labels are
    kept. User-defined recipes and criteria get a problem as their argument.

    Parameters
    ----------
    X : ndarray, csc_array or Source
        Validated data; :meth:`of` accepts other types.
    supervision : Supervision, optional
        Labels, targets and pairs; by default none.
    by_rows : bool, default=False
        Whether graphs are summed over blocks of rows in one pass instead of being stored.
    distances : Distances, optional
        Euclidean distances between the rows of X, if they were computed before.
    given : Graph, matrix or graph of another library, optional
        A graph over the rows that was passed together with X; ``Precomputed()`` uses it.
    reuse : bool, default=False
        Whether the problem will be solved again with other labels. Then transformed copies of X, such as mid-ranks, are
        kept as well, if they fit into a quarter of scikit-learn's ``working_memory``.
    groups : Groups, optional
        The features, if some of them consist of several columns of X, such as the 0/1 columns of a category.
    known : ndarray of bool, shape of X, optional
        Which values of X were measured; the others were missing, and X holds what they were filled with.

    Attributes
    ----------
    n_samples, n_features : int
        Number of rows, and of features; a group of columns is one feature.
    feature_names : sequence or None
        Names of the features: column names of a frame, or names of groups.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fiedler import Problem, SpectralSelector
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> problem = Problem.of(X, reuse=True)
    >>> selector = SpectralSelector("subset", n_features_to_select=1)
    >>> selector.fit(problem).get_feature_names_out(), selector.fit(problem, y).get_feature_names_out()
    (array(['petal length (cm)'], dtype=object), array(['petal length (cm)'], dtype=object))
    """

    def __init__(
        self,
        X: Matrix,
        supervision: Supervision | None = None,
        *,
        by_rows: bool = False,
        distances: Distances | None = None,
        given: Any = None,
        reuse: bool = False,
        groups: Groups | None = None,
        known: np.ndarray | None = None,
    ):
        self.X, self.by_rows, self.given, self.reuse = X, by_rows, given, reuse
        self.groups, self.known = groups, known
        self.n_samples, self.n_features = X.shape
        if groups is not None:
            self.n_features = groups.n_features
        self.feature_names: Any = None
        self.n_wanted: int | None = None  # number of features that will be selected, if a criterion may depend on it
        self.supervision = Supervision(self.n_samples) if supervision is None else supervision
        self._shared: dict[
            Hashable, Built[Any]
        ] = {}  # results without labels: one dict for all problems over the same X
        self._own: dict[Hashable, Built[Any]] = {}
        self._warned: set[Hashable] = set()
        if distances is not None:
            stored = RowDistances("euclidean")
            self._shared[stored.key] = Built(stored, distances, [])

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
        reuse: bool = False,
        groups: Any = None,
    ) -> Problem:
        """Make a problem from data in any supported form.

        Parameters
        ----------
        X : array-like, frame, sparse matrix, source, AnnData, DataArray or Problem
            The data. Missing values of a dense X in memory are filled from the nearest rows with a known value, and
            categories and dates of a frame become numbers. A Problem keeps its stored results.
        y : array-like of shape (n_samples,), optional
            Classes or real targets, unknown ones included.
        must_link, cannot_link : array-like of shape (p, 2) or Pairs, optional
            Pairs of rows that belong together, and that do not.
        graph : Graph or what :meth:`Graph.of` takes, optional
            A graph over the rows, which ``Precomputed()`` uses.
        unlabeled : object, default=-1
            The class label that means "unknown".
        reuse : bool, default=False
            Whether the problem will be solved again with other labels.
        groups : sequence of labels or mapping, optional
            Columns that form one feature: one label per column, or names of features with their columns.

        Returns
        -------
        problem : Problem
            The validated problem.
        """
        told = {"must_link": must_link, "cannot_link": cannot_link, "unlabeled": unlabeled}
        if not isinstance(X, Problem):
            X = cls.read(X, groups=groups, given=graph, reuse=reuse)
        elif groups is not None:
            message = "groups= was passed with a Problem, which has its features already; pass it to Problem.of."
            raise ParameterError(message, parameter="groups")
        elif graph is not None:
            X = X._like(X.X, X.supervision, given=graph)  # a new graph may change the others
        return X.with_supervision(y, **told)

    @classmethod
    def read(
        cls, X: Any, column_names: Any = None, *, groups: Any = None, given: Any = None, reuse: bool = False
    ) -> Problem:
        """Make a problem without labels from data in any supported form.

        Parameters
        ----------
        X : array-like, frame, sparse matrix, source, AnnData or DataArray
            The data.
        column_names : array-like of str, optional
            Names of the columns for messages; frames have their own.
        groups : sequence of labels or mapping, optional
            Columns that form one feature.
        given : Graph or what :meth:`Graph.of` takes, optional
            A graph over the rows.
        reuse : bool, default=False
            Whether the problem will be solved again with other labels.

        Returns
        -------
        problem : Problem
            The problem, with holes filled.
        """
        names = (number_names(X) or getattr(X, "columns", None)) if column_names is None else column_names
        matrix, features = prepare(X, column_names, groups)
        known = holes_of(matrix) if isinstance(matrix, np.ndarray) else None
        if known is not None and isinstance(matrix, np.ndarray):
            owner = np.arange(matrix.shape[1]) if features is None else features.of_column
            check_known(known, [column_name(names, int(j)) for j in owner])
            matrix = filled(matrix, known, features)
        problem = cls(matrix, given=given, reuse=reuse, groups=features, known=known)
        problem.feature_names = names if features is None or features.names is None else features.names
        return problem

    def with_supervision(
        self, y: Any = None, *, must_link: Any = None, cannot_link: Any = None, unlabeled: Any = -1
    ) -> Problem:
        """The same X with other labels or pairs; stored results that read neither are shared.

        Parameters
        ----------
        y : array-like of shape (n_samples,), optional
            Classes or real targets, unknown ones included.
        must_link, cannot_link : array-like of shape (p, 2) or Pairs, optional
            Pairs of rows that belong together, and that do not.
        unlabeled : object, default=-1
            The class label that means "unknown".

        Returns
        -------
        problem : Problem
            A new problem over the same X.
        """
        known = Supervision(self.n_samples, y, must_link=must_link, cannot_link=cannot_link, unlabeled=unlabeled)
        twin = self._like(self.X, known)
        twin._shared = self._shared
        return twin

    def wanting(self, n_features: int | None) -> Problem:
        """The same problem, with everything that it has built, for a selection of a known size.

        Parameters
        ----------
        n_features : int or None
            Number of features that will be selected.

        Returns
        -------
        problem : Problem
            A problem whose ``n_wanted`` is this number.
        """
        twin = object.__new__(type(self))  # copy() would not share what was built
        vars(twin).update(vars(self), n_wanted=n_features)
        return twin

    def scaled(self, how: str) -> Problem:
        """The problem of scaled columns; it is stored, so that several fits share its graphs.

        Holes are filled again, because other rows may be the nearest ones. The 0/1 columns of categories stay as they
        are.

        Parameters
        ----------
        how : {"standard", "minmax", "keep"}
            Unit variance, the range from 0 to 1, or unchanged.

        Returns
        -------
        problem : Problem
            A problem over the scaled X, with the same labels and pairs; this one for "keep".
        """
        if how == "keep":
            return self
        other = self.build(ScaledColumns(how))
        twin = self._like(other.X, self.supervision)
        twin._shared = other._shared
        return twin

    def take_rows(self, rows: np.ndarray) -> Problem:
        """The problem of some rows, without labels, pairs and graph; holes stay filled as they are.

        Parameters
        ----------
        rows : ndarray of int
            Which rows.

        Returns
        -------
        problem : Problem
            A problem that has built nothing yet.
        """
        part = self._like(rows_of(self.X, rows), None, given=None)
        part.known = None if self.known is None else self.known[rows]
        return part

    def take_columns(self, kept: np.ndarray) -> Problem:
        """The problem of some features; rows, supervision and the graph that was passed along stay.

        Parameters
        ----------
        kept : ndarray of bool, shape (n_features,)
            Which features.

        Returns
        -------
        problem : Problem
            This one if every feature is kept, and otherwise one that has built nothing yet.
        """
        if kept.all():
            return self
        features = np.flatnonzero(kept)
        columns = self.columns_of(features)
        X = self.X.take_columns(columns) if isinstance(self.X, Source) else self.X[:, columns]
        part = self._like(X, self.supervision)
        part.known = None if self.known is None else self.known[:, columns]
        if self.groups is not None:
            part.groups = self.groups.take(features)
        part.n_features = len(features)
        if self.feature_names is not None:
            part.feature_names = np.asarray(self.feature_names, dtype=object)[features]
        return part

    def columns_of(self, features: np.ndarray) -> np.ndarray:
        """The columns of X that some features consist of, in the order of the features.

        Parameters
        ----------
        features : ndarray of int
            Numbers of features.

        Returns
        -------
        columns : ndarray of int
            Numbers of columns of X.
        """
        return np.asarray(features) if self.groups is None else self.groups.columns_of(features)

    def feature_values(self, features: np.ndarray) -> np.ndarray:
        """One column of numbers per feature, for pictures.

        Parameters
        ----------
        features : ndarray of int
            Numbers of features.

        Returns
        -------
        values : ndarray of shape (n_samples, number of features)
            The column of a feature; the position of the level of a category; the mean of the columns of a group.
        """
        if self.groups is None:
            return dense(take_columns(self.X, features))
        values = np.zeros((self.n_samples, len(features)))
        for place, feature in enumerate(features):
            columns = self.groups.columns(int(feature))
            if len(columns):
                block = dense(take_columns(self.X, columns))
                levels = len(columns) > 1 and block.min() >= 0.0 and np.allclose(block.sum(axis=1), 1.0)
                values[:, place] = block.argmax(axis=1) if levels else block.mean(axis=1)
        return values

    @property
    def column_names(self) -> Any:
        """For each column of X the name of its feature; None if features have no names."""
        if self.groups is None or self.feature_names is None:
            return self.feature_names
        return [self.feature_names[feature] for feature in self.groups.owner]

    def check_plain(self, what: str) -> None:
        """Raise an error if X has missing values or features of several columns.

        Parameters
        ----------
        what : str
            What cannot be computed then, as the subject of a sentence.
        """
        if self.known is not None:
            message = f"{what} cannot be computed with missing values (NaN) in X; fill them first with "
            raise ParameterError(f"{message}{IMPUTER}.", parameter="X", way_out=FILL_HOLES)
        if self.groups is not None:
            message = f"{what} cannot be computed for features of several columns (categories or groups); "
            raise ParameterError(f"{message}pass numeric columns only.", parameter="X", way_out=ONLY_NUMBERS)

    def without_pairs(self) -> Problem:
        """The same problem with labels only.

        Returns
        -------
        problem : Problem
            The problem without must-link and cannot-link pairs.
        """
        return self.with_supervision(self.supervision.y, unlabeled=self.supervision.unlabeled)

    def graph(self, recipe: Buildable[T]) -> T:
        """The graph of a recipe, built once.

        Parameters
        ----------
        recipe : Recipe
            How the graph is built.

        Returns
        -------
        graph : Graph
            The graph, with one node per row.
        """
        return self.build(recipe)

    def distances(self, metric: str = "euclidean") -> Distances:
        """Squared distances between all rows; they are stored if they fit into the memory budget.

        Parameters
        ----------
        metric : {"euclidean", "cosine"}, default="euclidean"
            The metric; "cosine" gives 2 (1 - cos).

        Returns
        -------
        distances : Distances
            The distances; ``matrix()`` gives all, and neighbour searches read them in blocks.
        """
        if isinstance(self.X, Source) or self.n_samples**2 > budget():
            return row_distances(self.X, metric)
        return self.build(RowDistances(metric))

    def take_products(self, gram: np.ndarray) -> None:
        """Use known products of all rows, centred in any way, for the Euclidean distances.

        Parameters
        ----------
        gram : ndarray of shape (n_samples, n_samples)
            The products x_i'x_j of the centred rows.
        """
        distances = self.distances()
        if isinstance(distances, HeldRows):
            distances.take_products(gram)

    @property
    def holds_distances(self) -> bool:
        """Whether the Euclidean distances between all rows are computed and stored."""
        found = self._shared.get(RowDistances("euclidean").key)
        return found is not None and found.value.held

    def build(self, what: Buildable[T]) -> T:
        """Build something once and store it.

        Parameters
        ----------
        what : object
            An object with ``key``, ``supervised`` and ``made_for(problem)``.

        Returns
        -------
        value : object
            The result of the first call of ``made_for``.
        """
        key, built = what.key, self._own if what.supervised else self._shared
        if key not in built:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                value = what.made_for(self)
            built[key] = Built(what, value, [w.message for w in caught if isinstance(w.message, Warning)])
        if key not in self._warned:
            self._warned.add(key)
            for warning in built[key].warned:
                warnings.warn(warning, stacklevel=3)
        return built[key].value

    def built(self, kind: type[T]) -> list[T]:
        """All stored results of one type.

        Parameters
        ----------
        kind : type
            The type, such as :class:`fiedler.Graph`.

        Returns
        -------
        values : list
            The results; those that read no labels come first.
        """
        return [made.value for made in (*self._shared.values(), *self._own.values()) if isinstance(made.value, kind)]

    def _like(self, X: Matrix, supervision: Supervision | None, **changes: Any) -> Problem:
        """A problem over another X with the features, names and settings of this one, which has built nothing yet."""
        settings = {"by_rows": self.by_rows, "given": self.given, "reuse": self.reuse, "groups": self.groups}
        twin = Problem(X, supervision, known=self.known, **(settings | changes))
        twin.feature_names = self.feature_names
        return twin

    def __getstate__(self) -> dict[str, Any]:
        # Distances are not pickled: they are large, and fast to compute again.
        shared = [made for made in self._shared.values() if not isinstance(made.what, RowDistances)]
        return {**vars(self), "_shared": shared, "_own": [*self._own.values()], "_warned": set()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Keys identify arrays by their address, which changes with pickling.
        tables = {name: {made.what.key: made for made in state[name]} for name in ("_shared", "_own")}
        vars(self).update(state | tables)


class _OneSetting:
    """Something that reads no labels, in the form in which a problem stores results: its kind and one setting."""

    supervised = False

    def __init__(self, setting: str):
        self.setting = setting

    @property
    def key(self) -> Hashable:
        return type(self).__name__, self.setting


class ScaledColumns(_OneSetting):
    """The problem of columns that are scaled in some way, without labels."""

    def made_for(self, problem: Problem) -> Problem:
        X, known, groups = problem.X, problem.known, problem.groups
        if not isinstance(X, np.ndarray):  # there are neither holes nor groups
            return problem._like(scaled(X, self.setting), None)
        X = X if known is None else np.where(known, X, np.nan)
        values = np.asarray(scaled(X, self.setting))
        if groups is not None:
            values = np.where(groups.indicators, X, values)
        return problem._like(values if known is None else filled(values, known, groups), None)


class RowDistances(_OneSetting):
    """The distances between all rows under one metric."""

    def made_for(self, problem: Problem) -> Distances:
        return row_distances(problem.X, self.setting)
