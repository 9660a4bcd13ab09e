"""The state of a session: the table, the rows that are shown, the answers, the settings and the ranking.

:mod:`fiedler.explore.session` changes a state by messages. The modules ``looking`` and ``exports`` read it.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..data.arrays import check_scale
from ..data.source import Source
from ..errors import ParameterError
from ..graphs import KNN
from ..plots.placing import axis_of, centred, place_graph
from ..problem import Problem
from ..selector import SpectralSelector
from ..supervision import Pairs, Supervision
from ..syntax import as_criterion, parse, short_text
from ..validation import check_integer
from .answers import Answer, Known, parse_answer
from .live import Live, Ranked, Settings

_MOST_CELLS = 2e7  # values of the rows that are ranked live
_NEIGHBORS = 10  # of the graph that places the rows

Message = dict[str, Any]


@dataclass(frozen=True)
class Origin:
    """Where the data come from: a file with the options of ``fiedler explore``, or arrays in memory.

    Parameters
    ----------
    data : str, optional
        Path of the file; None for arrays.
    options : dict
        Options of the command line that change how the file is read.
    command : str, optional
        The command line that opens the page again.
    """

    data: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    command: str | None = None


def rounded(values: Any, digits: int) -> Any:
    """Numbers for a message, rounded to some decimals, None for NaN; nested for arrays of two dimensions."""
    values = np.asarray(values, dtype=float)
    if values.ndim > 1:
        return [rounded(row, digits) for row in values]
    return [round(v, digits) if math.isfinite(v) else None for v in values.tolist()]


def significant(values: Any, digits: int = 6) -> list[float | None]:
    """Numbers for a message with some significant digits, None for NaN."""
    return [float(f"{v:.{digits}g}") if math.isfinite(v) else None for v in np.asarray(values, dtype=float).tolist()]


def positions(problem: Problem) -> np.ndarray:
    """Coordinates of every row in [-1, 1]², from the neighbour graph, as in the report; shape (n_samples, 2)."""
    n = problem.n_samples
    return centred(place_graph(problem.graph(KNN(min(_NEIGHBORS, n - 1)))).places) if n > 1 else np.zeros((n, 2))


class State:
    """The table, the rows that are shown, the answers, the settings and the ranking.

    The parameters are those of :class:`fiedler.explore.Session`.
    """

    def __init__(
        self,
        X: Any,
        y: Any = None,
        *,
        must_link: Any = None,
        cannot_link: Any = None,
        feature_names: Any = None,
        row_ids: Any = None,
        method: Any = "subset",
        n_features: int | None = None,
        unlabeled: Any = -1,
        scale: str | None = None,
        image: tuple[int, int] | None = None,
        most_rows: int = 5000,
        origin: Origin | None = None,
    ):
        told = {"must_link": must_link, "cannot_link": cannot_link, "unlabeled": unlabeled}
        self.problem = Problem.of(X, y, reuse=True, **told)
        self.problem.reuse = True  # also if X is a problem
        if self.problem.settled()[0] is not self.problem:  # answers refer to rows by their numbers
            raise ParameterError("X has rows in which every value is missing; drop these rows.", parameter="X")
        measured = self.problem  # in the units of the table, for what the page shows
        if scale is not None:
            self.problem = measured.scaled(check_scale(scale))
        self.how, self.scale = scale, None if scale is None else "keep"  # X is scaled by now
        n, m = self.problem.n_samples, self.problem.n_features
        self.given = self.problem.supervision
        self.feature_names = _names("feature_names", feature_names, self.problem.feature_names, m)
        self.row_ids = None if row_ids is None else _names("row_ids", row_ids, None, n)
        self.has_unique_ids = self.row_ids is None or len(set(self.row_ids)) == n
        self.origin = origin or Origin(options={} if scale in (None, "keep") else {"scale": scale})
        self.image = None
        if image is not None:
            height, width = self.image = [check_integer("image", side, 1) for side in image]
            if height * width != m:
                pixels = f"image={height}x{width} has {height * width} pixels"
                raise ParameterError(f"{pixels}, but X has {m} features.", parameter="image", value=image)
        axis = None if self.image else axis_of(self.feature_names)
        self.axis = None if axis is None else axis[0].tolist()
        self.known = Known(self.given, ())
        self.rows = self._sample(check_integer("most_rows", most_rows, 2))
        self.sampled = len(self.rows) < n
        self.shown = self._rows_shown(measured)
        self.live = Live(self._rows_shown(self.problem), self.scale)
        text, number = short_text(as_criterion(method)), min(10, max(1, m // 2)) if n_features is None else n_features
        try:
            parse(text)
        except ValueError:
            why = "cannot be written as text, which a page needs; use a name or a formula of names."
            raise ParameterError(f"method={method!r} {why}", parameter="method", value=method) from None
        self.settings = Settings().changed({"method": text, "n_features": number}, len(self.rows), m)
        self.answers: tuple[Answer, ...] = ()
        self.classes: list[str] = []  # in the order in which they were first given, so that each keeps its colour
        self.kept_in: str | None = None  # the session file
        self.snapshots: dict[str, dict[str, Any]] = {}
        self.revision = 0  # of answers and settings together
        self.version = 0  # of everything that is saved
        self._past: list[tuple[Answer, ...]] = []
        self._future: list[tuple[Answer, ...]] = []
        self._before: np.ndarray | None = None  # order before the last change
        self.explanation: tuple[int, Any] | None = None
        self.draws: tuple[int, list[np.ndarray]] = (0, [])
        self.final: Any = None  # the ranking on all rows, and the revision that it belongs to
        self.ranked = self.rank()

    def _sample(self, most_rows: int) -> np.ndarray:
        """Rows to show: all, or those that are known and random others."""
        n, m = self.problem.n_samples, self.problem.n_features
        most = int(min(most_rows, max(200, _MOST_CELLS // m)))
        if n <= most:
            return np.arange(n)
        first = np.zeros(n)
        first[list(self.known.labels)] = 1.0
        for pairs in (self.given.must_link, self.given.cannot_link):
            if pairs is not None:
                first[np.asarray(pairs).ravel()] = 2.0
        return np.sort(np.argsort(-(first + np.random.default_rng(0).random(n)), kind="stable")[:most])

    def _rows_shown(self, problem: Problem) -> Problem:
        if isinstance(problem.X, Source):
            return Problem.of(problem.X[self.rows], reuse=True)
        return problem.take_rows(self.rows) if self.sampled else problem

    def supervision(self, rows: np.ndarray | None = None) -> dict[str, Any]:
        """What is known, as arguments of ``SpectralSelector.fit``, and the marker ``unlabeled``.

        Parameters
        ----------
        rows : ndarray of int, optional
            Some rows; by default all.

        Returns
        -------
        known : dict
            ``y``, ``unlabeled``, and ``must_link`` and ``cannot_link`` if there are pairs.
        """
        (y, unlabeled), links = self.known.y(), self.known.links()
        if rows is not None and len(rows) < self.given.n_samples:
            y = None if y is None else np.asarray(y)[rows]
            links = {kind: Pairs(pairs, self.given.n_samples)[rows].pairs for kind, pairs in links.items()}
        return {"y": y, "unlabeled": unlabeled, **(links if any(map(len, links.values())) else {})}

    def rank(self) -> Ranked:
        """The ranking for the current answers and settings.

        Returns
        -------
        ranked : Ranked
            The ranking of the rows that are shown.
        """
        return self.live.rank(self.settings, self.known, self.supervision(self.rows))

    @property
    def pairs(self) -> dict[str, np.ndarray]:
        """All known pairs: ``must_link`` and ``cannot_link``, arrays of row numbers of shape (p, 2)."""
        return self.known.links()

    @property
    def labels(self) -> dict[int, str]:
        """All known labels by row number."""
        return dict(sorted(self.known.labels.items()))

    @property
    def selector(self) -> SpectralSelector:
        """A selector fitted to all rows with the current answers; pinned features are first, banned ones last."""
        live = Live(self.problem, self.scale) if self.sampled else self.live
        return live.fit(self.settings, self.known, self.supervision())

    @cached_property
    def places(self) -> np.ndarray:
        """Where the shown rows are drawn, from all features; shape (n_shown, 2)."""
        return positions(self.live.problem)

    @property
    def fingerprint(self) -> str:
        """A hash of the shape, the feature names and the row ids."""
        about = [self.given.n_samples, self.feature_names, self.row_ids]
        return hashlib.blake2b(repr(about).encode("utf-8", "replace"), digest_size=12).hexdigest()

    def map_labels(self) -> Message:
        """What the rows of the map are known to be.

        Returns
        -------
        labels : dict
            ``kind`` ("classes", "target" or "none"), ``names`` of the classes, their ``colours``, ``values`` of the
            shown rows (codes, or targets), the number ``n_known``, and the rows ``own`` that the expert labelled.
        """
        y, unlabeled = self.known.y()
        told, labels = Supervision(self.given.n_samples, y, unlabeled=unlabeled), self.known.labels
        kind, names, values = told.task() if labels else "none", list[str](), list[Any]()
        if kind == "target":
            values = rounded(np.where(told.labelled, np.asarray(told.y, dtype=float), np.nan)[self.rows], 5)
        elif kind == "classes":
            self.classes += sorted({*labels.values()} - {*self.classes}, key=_natural)
            names = [name for name in self.classes if name in {*labels.values()}]
            code = {name: at for at, name in enumerate(names)}
            values = [code.get(labels.get(int(row), ""), -1) for row in self.rows]
        own = sorted(row for row in self.known.labelled_by if row in labels)
        colours = [self.classes.index(name) for name in names]
        return {"kind": kind, "names": names, "colours": colours, "values": values, "n_known": len(labels), "own": own}

    def parsed(self, given: Message) -> Answer:
        """An answer, after a check that its rows or its feature exist.

        Parameters
        ----------
        given : dict
            ``kind``, ``subjects`` and ``value``.

        Returns
        -------
        answer : Answer
            The answer.
        """
        return parse_answer(given, self.given.n_samples, self.problem.n_features)

    def row_name(self, row: int) -> str:
        """The id of a row, or its number if the rows have no ids, or ids that are not unique.

        Parameters
        ----------
        row : int
            Number of the row.

        Returns
        -------
        name : str
            As in exported files.
        """
        return self.row_ids[row] if self.row_ids is not None and self.has_unique_ids else str(row)


def _names(what: str, given: Any, found: Any, length: int) -> list[str]:
    names = found if given is None else given
    names = [f"x{j}" for j in range(length)] if names is None else names
    if len(names) != length:
        raise ParameterError(f"{what} has {len(names)} names, but X needs {length}.", parameter=what)
    return [str(name) for name in names]


def _natural(name: str) -> tuple[int, float, str]:
    """Numbers in their order, then words."""
    try:
        return 0, float(name), name
    except ValueError:
        return 1, 0.0, name
