"""A problem: X, its labels and pairs, and a cache of everything that is built from them.

    problem = Problem.of(X, y)
    problem.graph(KNN())                             built once, even if a formula uses it several times
    problem.with_supervision(z).graph(KNN())         the same graph, because it reads no labels
    problem.with_supervision(z).graph(ClassGraph())  another graph

Graphs, distances, kernels over the samples and mid-ranks are all kept in the same way (:meth:`Problem.keep`), under a
key that states how they are made. Warnings during the construction are repeated for every problem that uses the result,
so that the order of the calls does not matter.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import numpy as np

from .data.arrays import Matrix, dense, holes_of, number_names, row_totals, rows_of, scaled, take_columns
from .data.columns import FEW_KNOWN, Distinct, Groups, listed, prepare, sentences, warn_of_table
from .data.source import Source, column_name
from .engine.counts import is_counts
from .engine.distances import Distances, row_distances
from .engine.missing import filled, usable
from .engine.products import budget
from .errors import ParameterError
from .supervision import Supervision

IMPUTER = "sklearn.impute.KNNImputer in a Pipeline"
# What the command line says in place of a way out in Python.
FILL_HOLES: dict[str, tuple[str, Any]] = {IMPUTER: ("impute", "median")}
ONLY_NUMBERS: dict[str, tuple[str, Any]] = {"pass numeric columns only": ("numeric_only", True)}
T = TypeVar("T")


_SEEN = 100  # number of columns of a source that are checked for counts


class Same:
    """A value in a key that equals only itself; the key keeps it alive, so that no other value takes its address."""

    def __init__(self, value: Any):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


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
        self.given_rows: np.ndarray | None = None  # mask of the rows of the given table that are rows of X
        self.n_samples, self.n_features = X.shape
        if groups is not None:
            self.n_features = groups.n_features
        self.blocks: np.ndarray | None = None  # block of each row, if rows are compared inside blocks only
        self.depth: np.ndarray | None = None  # depth of each row, if X holds counts that are read as residuals
        self.places: np.ndarray | None = None  # coordinates of each row, for pictures
        self.undivided: Problem = self  # the problem before its values were standardised inside blocks
        self.feature_names: Any = None
        self.n_wanted: int | None = None  # number of features that will be selected, if a criterion may depend on it
        self.supervision = Supervision(self.n_samples) if supervision is None else supervision
        # Results and their warnings; those without labels are in one dict for all problems over the same X.
        self._shared: dict[Hashable, tuple[Any, list[Warning]]] = {}
        self._own: dict[Hashable, tuple[Any, list[Warning]]] = {}
        self._warned: set[Hashable] = set()
        if distances is not None:
            self._shared["distances", "euclidean"] = distances, []

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
            return cls.read(X, groups=groups, given=graph, reuse=reuse, y=y, **told)
        if groups is not None:
            message = "groups= was passed with a Problem, which has its features already; pass it to Problem.of."
            raise ParameterError(message, parameter="groups")
        if graph is not None:
            X = X._over(X.X, given=graph)  # a new graph may change the others
        return X.with_supervision(y, **told)

    @classmethod
    def read(
        cls, X: Any, column_names: Any = None, *, groups: Any = None, given: Any = None, reuse: Any = False, **told: Any
    ) -> Problem:
        """Make a problem from data in any supported form, whose columns may have names of their own.

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
        **told : object
            ``y``, ``must_link``, ``cannot_link`` and ``unlabeled``, as of :meth:`of`.

        Returns
        -------
        problem : Problem
            The problem, with missing values filled.
        """
        names = (number_names(X) or getattr(X, "columns", None)) if column_names is None else column_names
        matrix, features, notes = prepare(X, column_names, groups)
        known = holes_of(matrix) if isinstance(matrix, np.ndarray) else None
        told_of, kept = Supervision(matrix.shape[0], **told), None
        if known is not None and isinstance(matrix, np.ndarray):
            rows, columns = usable(matrix, known)
            owner = np.arange(matrix.shape[1]) if features is None else features.of_column
            if not columns.all():
                few = [f"{column_name(names, int(owner[j]))} ({FEW_KNOWN})" for j in np.flatnonzero(~columns)]
                notes = [*notes, f"not used: {listed(few)}"]
                matrix = np.where(columns, matrix, 0.0)  # a constant has no score
                known |= ~columns
            if not rows.all():
                gone = listed(list(map(str, np.flatnonzero(~rows))))
                notes = [*notes, f"rows without any known value are left out: {gone}"]
                matrix, known, kept, told_of = matrix[rows], known[rows], rows, told_of.take_rows(np.flatnonzero(rows))
            if len(matrix) < 2 or not columns.any():
                raise ParameterError(f"X has too few known values. {sentences(notes)}", parameter="X")
            if known.all():
                known = None
            else:
                matrix = filled(matrix, known, features)
        if notes:
            warn_of_table(notes)
        problem = cls(matrix, told_of, given=given, reuse=reuse, groups=features, known=known)
        problem.given_rows, spatial = kept, getattr(X, "obsm", {}).get("spatial")  # of an AnnData
        problem.places = None if spatial is None else np.asarray(spatial, dtype=np.float64)[:, :2]
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
        rows, n = self.given_rows, self.n_samples
        if rows is not None and (y is None or np.shape(y)[:1] == rows.shape):  # told of the table that was given
            n = len(rows)
        known = Supervision(n, y, must_link=must_link, cannot_link=cannot_link, unlabeled=unlabeled)
        known = known if rows is None or n == self.n_samples else known.take_rows(np.flatnonzero(rows))
        return self._over(self.X, supervision=known, _shared=self._shared)

    def settled(self, y: Any = None) -> tuple[Problem, Any]:
        """The problem to which labels and pairs refer by the rows of X from now on, and y of these rows.

        They differ from the rows of the table that was given if some of those have no known value.

        Parameters
        ----------
        y : array-like, optional
            Labels or targets of the given rows, or of those of X.

        Returns
        -------
        problem, y : Problem, array-like
            The same problem, and the labels of its rows.
        """
        rows = self.given_rows
        if rows is not None and y is not None and np.shape(y)[:1] == rows.shape:
            y = Supervision(len(rows), y).y[rows]  # type: ignore[index]  # y is not None
        return self if rows is None else self._over(self.X, _shared=self._shared, _own=self._own, given_rows=None), y

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
        return self._over(self.X, _shared=self._shared, _own=self._own, _warned=self._warned, n_wanted=n_features)

    def _over(self, X: Matrix, **changes: Any) -> Problem:
        """A problem over another X with the features, labels, names and settings of this one; nothing is built."""
        new: dict[str, Any] = {"_shared": {}, "_own": {}, "_warned": set(), "n_wanted": None}
        twin = object.__new__(type(self))
        vars(twin).update(vars(self) | new | changes, X=X, n_samples=X.shape[0])
        if twin.blocks is None:
            twin.undivided = twin
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

        def make() -> Problem:
            X, known, groups = self.X, self.known, self.groups
            if not isinstance(X, np.ndarray):  # there are neither holes nor groups
                return self._over(scaled(X, how))
            X = X if known is None else np.where(known, X, np.nan)
            values = np.asarray(scaled(X, how))
            if groups is not None:
                values = np.where(groups.indicators, X, values)
            return self._over(values if known is None else filled(values, known, groups))

        other = self.keep(("scaled", how), make)
        return self._over(other.X, _shared=other._shared)

    def counted(self, depth: Any) -> Problem:
        """The problem of counts that are read as Pearson residuals.

        Parameters
        ----------
        depth : {"pearson"}, array-like of shape (n_samples,) or None
            The depth of each row; "pearson" takes the totals of the rows.

        Returns
        -------
        problem : Problem
            A new problem; this one for None.
        """
        if depth is None:
            return self
        if isinstance(depth, str) and depth != "pearson":
            message = f"depth={depth!r} is not known; use 'pearson', the depth of each row, or None"
            raise ParameterError(f"{message}.", parameter="depth", value=depth)
        t = row_totals(self.X) if isinstance(depth, str) else np.asarray(depth, dtype=np.float64)
        if t.shape != (self.n_samples,) or not (np.isfinite(t).all() and (t > 0).all()):
            what = f"{np.sum(~(t > 0))} rows without counts" if t.shape == (self.n_samples,) else f"the shape {t.shape}"
            raise ParameterError(
                f"depth has {what}; it needs one positive number for each of the {self.n_samples} rows. Remove empty "
                "rows first, or use depth=None.",
                parameter="depth",
            )
        if not is_counts(take_columns(self.X, slice(0, _SEEN)) if isinstance(self.X, Source) else self.X):
            message = "depth needs counts, but X holds negative values or fractions; use depth=None"
            raise ParameterError(f"{message}, or a layer with counts.", parameter="depth")
        return self._over(self.X, depth=t)

    def divided(self, blocks: Any) -> Problem:
        """The problem of rows that fall into blocks, such as slides, batches or donors, and are compared inside them.

        Graphs are built inside each block. Dense values are standardised inside each block: mean 0, variance 1.

        Parameters
        ----------
        blocks : array-like of shape (n_samples,) or None
            The block of each row.

        Returns
        -------
        problem : Problem
            A new problem; this one for None.
        """
        if blocks is None:
            return self
        labels, rows, n = np.asarray(blocks, dtype=object), self.given_rows, self.n_samples
        if rows is not None and labels.shape == rows.shape:
            labels = labels[rows]
        if labels.shape != (n,):
            raise ParameterError(
                f"blocks has shape {labels.shape}, but X has {n} rows; give one block per row.", parameter="blocks"
            )
        missing = sum(label is None or label != label for label in labels)
        if missing:
            raise ParameterError(f"blocks has {missing} missing values; every row needs a block.", parameter="blocks")
        if self.known is not None or self.groups is not None:
            self.check_plain("blocks of rows")
        codes = Distinct(labels.tolist()).codes
        if np.bincount(codes).max() < 2:
            raise ParameterError(
                "blocks has a block for every row; rows are compared inside blocks only.", parameter="blocks"
            )
        X: Any = self.X
        if isinstance(X, np.ndarray) and self.depth is None:
            X = np.empty(X.shape)
            for code in range(codes.max() + 1):
                inside = codes == code
                X[inside] = scaled(np.asarray(self.X)[inside].astype(np.float64), "standard")
        return self._over(X, blocks=codes, undivided=self)

    @property
    def block_rows(self) -> list[np.ndarray]:
        """The rows of each block; one array with all rows if there are no blocks."""
        codes = np.zeros(self.n_samples, dtype=np.intp) if self.blocks is None else self.blocks
        return [np.flatnonzero(codes == code) for code in range(int(codes.max()) + 1)]

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
        X, known = rows_of(self.X, rows), None if self.known is None else self.known[rows]
        new: dict[str, Any] = {
            "supervision": Supervision(X.shape[0]),
            "given": None,
            "known": known,
            "given_rows": None,
            "places": None if self.places is None else self.places[rows],
        }
        if self.blocks is not None:
            new |= {"blocks": self.blocks[rows], "undivided": self.undivided.take_rows(rows)}
        return self._over(X, **new)

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
        names = self.feature_names
        whole = {} if self.blocks is None else {"undivided": self.undivided.take_columns(kept)}
        return self._over(
            X,
            **whole,
            n_features=len(features),
            known=None if self.known is None else self.known[:, columns],
            groups=None if self.groups is None else self.groups.take(features),
            feature_names=None if names is None else np.asarray(names, dtype=object)[features],
        )

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
            The column of a feature, in the unit of the table; dates are days since 1970. The position of the level of a
            category; the mean of the columns of a group.
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
            if (unit := self.groups.units.get(int(feature))) is not None:
                values[:, place] = unit.measured(values[:, place])
        return values

    def value_words(self, feature: int) -> dict[str, Any]:
        """How the values of a feature are written, as arguments of :func:`fiedler.words.value_text`.

        Parameters
        ----------
        feature : int
            Number of the feature.

        Returns
        -------
        words : dict
            ``levels`` of a category, ``dates`` if the values are dates; empty for plain numbers.
        """
        groups = self.groups
        if groups is not None and feature in groups.levels:
            return {"levels": groups.levels[feature]}
        return {"dates": True} if groups is not None and feature in groups.units and groups.units[feature].dates else {}

    @property
    def column_names(self) -> Any:
        """For each column of X the name of its feature; None if features have no names."""
        if self.groups is None or self.feature_names is None:
            return self.feature_names
        return [self.feature_names[feature] for feature in self.groups.owner]

    def only_numbers(self) -> str:
        """What to do if a method takes neither features of several columns nor missing values.

        Returns
        -------
        words : str
            The way out; it speaks of missing values if there are some among numbers.
        """
        holed = self.known is not None and self.groups and not self.known[:, ~self.groups.indicators].all()
        return "pass numeric columns only" + f", with missing values filled by {IMPUTER}" * bool(holed)

    def check_plain(self, what: str) -> None:
        """Raise an error if X has missing values or features of several columns.

        Parameters
        ----------
        what : str
            What cannot be computed then, as the subject of a sentence.
        """
        if self.groups is not None:
            message = f"{what} cannot be computed for features of several columns (categories or groups); "
            raise ParameterError(f"{message}{self.only_numbers()}.", parameter="X", way_out=ONLY_NUMBERS | FILL_HOLES)
        if self.known is not None:
            message = f"{what} cannot be computed with missing values (NaN) in X; fill them first with "
            raise ParameterError(f"{message}{IMPUTER}.", parameter="X", way_out=FILL_HOLES)

    def without_pairs(self) -> Problem:
        """The same problem with labels only.

        Returns
        -------
        problem : Problem
            The problem without must-link and cannot-link pairs.
        """
        return self.with_supervision(self.supervision.y, unlabeled=self.supervision.unlabeled)

    def graph(self, recipe: Any) -> Any:
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
        make = recipe.make if self.blocks is None else recipe.make_in_blocks
        return self.keep(recipe.key, lambda: make(self).for_columns(self.X.shape[1]), recipe.supervised)

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
        return self.keep(("distances", metric), lambda: row_distances(self.X, metric))

    @property
    def holds_distances(self) -> bool:
        """Whether the Euclidean distances between all rows are computed and stored."""
        found = self._shared.get(("distances", "euclidean"))
        return found is not None and found[0].held

    def keep(self, key: Hashable, make: Callable[[], T], supervised: bool = False) -> T:
        """Make something once and keep it.

        Parameters
        ----------
        key : hashable
            A key that is equal for two results if and only if they are the same.
        make : callable
            Makes the result.
        supervised : bool, default=False
            Whether labels or pairs are read; other results are shared by all problems over the same X.

        Returns
        -------
        value : object
            The result of the first call of ``make``.
        """
        kept = self._own if supervised else self._shared
        if key not in kept:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                value = make()
            kept[key] = value, [w.message for w in caught if isinstance(w.message, Warning)]
        value, warned = kept[key]
        if warned and key not in self._warned:
            self._warned.add(key)
            for warning in warned:
                warnings.warn(warning, stacklevel=3)
        return value

    def kept(self, key: Hashable) -> Any:
        """What was made and kept under a key before.

        Parameters
        ----------
        key : hashable
            As in :meth:`keep`.

        Returns
        -------
        value : object
            None if nothing was.
        """
        return (self._own.get(key) or self._shared.get(key) or (None,))[0]

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
        return [value for value, _ in (*self._shared.values(), *self._own.values()) if isinstance(value, kind)]

    def __getstate__(self) -> dict[str, Any]:
        # Distances are not pickled: they are large, and fast to compute again.
        shared = {key: made for key, made in self._shared.items() if not isinstance(made[0], Distances)}
        return {**vars(self), "_shared": shared, "_warned": set()}
