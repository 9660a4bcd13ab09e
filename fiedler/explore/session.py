"""A session: one table, the answers of an expert, and a ranking that follows them. No network, no files.

    session = Session(X, y)
    session.handle({"type": "pair", "rows": [3, 17], "link": "must"})  ->  {"type": "state", "ranking": ..., ...}

A host (:mod:`fiedler.explore.server`, :mod:`fiedler.explore.widget`) carries messages between a page and a session.
Messages are plain data. A wrong message changes nothing; the reply then has the type "error" and says why.
"""

from __future__ import annotations

import hashlib
import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..data.source import Source
from ..errors import ParameterError
from ..problem import Problem
from ..selector import SpectralSelector
from ..supervision import Pairs, Supervision
from ..syntax import as_criterion, parse, short_text
from ..validation import check_choice, check_integer
from ..version import __version__
from . import exports
from .answers import Answer, Given, Known, parse_answer, with_answer, without_feature
from .asking import Asking
from .final import Final
from .layout import aligned, positions
from .live import Live, Ranked, Settings, knobs, methods_for
from .plain import rounded, significant
from .views import copies, feature_values, histograms

FORMAT = 1  # of saved sessions
_VALUES, _MOST_DRAWS, _CURVE_SIZES = 8, 20, 12  # values shown of a row, draws of the stability, points of a curve
_MOST_CELLS = 2e7  # values of the rows that are ranked live
_LONGEST_AXIS = 20_000  # features of a row that is drawn as a spectrum or an image
_MOST_HISTORY = 1000

Message = dict[str, Any]


class Session:
    """One table, the answers of an expert, and a ranking that follows them.

    Parameters
    ----------
    X : array-like, frame, sparse matrix, source or AnnData of shape (n_samples, n_features)
        The data.
    y : array-like of shape (n_samples,), optional
        Labels or targets that are already known.
    must_link, cannot_link : array-like of shape (p, 2), optional
        Pairs that are already known.
    feature_names, row_ids : sequence of str, optional
        Names; by default those of a frame, or x0, x1, ... and row numbers.
    method : str or Criterion, default="subset"
        The method to start with.
    n_features : int, optional
        Number of features to select; by default 10, or half of them if there are fewer than 20.
    unlabeled : object, default=-1
        The class label that means "unknown".
    scale : {"standard", "minmax", "keep"}, optional
        The scale on which graphs and scores read the columns, as in :class:`fiedler.SpectralSelector`.
    image : (int, int), optional
        Height and width, if every row is an image.
    most_rows : int, default=5000
        With more rows, a sample of this size is shown and ranked live; labelled rows are taken first.
    origin : Origin, optional
        Where the data come from, for the exported command and script.

    Attributes
    ----------
    answers : tuple of Answer
        The answers in their order.
    settings : Settings
        Method, λ, number of neighbours and of features.
    rows : ndarray of int
        The rows that are shown and ranked live.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fiedler.explore import Session
    >>> session = Session(load_iris(as_frame=True).data, n_features=2)
    >>> state = session.handle({"type": "pair", "rows": [0, 60], "link": "cannot"})
    >>> state["answers"]
    [{'kind': 'pair', 'subjects': [0, 60], 'value': 'cannot'}]
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
        origin: exports.Origin | None = None,
    ):
        told = {"must_link": must_link, "cannot_link": cannot_link, "unlabeled": unlabeled}
        self.problem = Problem.of(X, y, reuse=True, **told)
        self.problem.reuse = True  # also if X is a problem
        if scale is not None:
            check_choice("scale", scale, ("standard", "minmax", "keep"))
            self.problem = self.problem.scaled(scale)
        self._scale = None if scale is None else "keep"  # X is scaled by now
        n, m = self.problem.n_samples, self.problem.n_features
        known = self.problem.supervision
        self.given = Given(n, known.y, known.must_link, known.cannot_link, unlabeled)
        self.feature_names = _names("feature_names", feature_names, self.problem.feature_names, m)
        self.row_ids = None if row_ids is None else _names("row_ids", row_ids, None, n)
        self.origin = origin or exports.Origin(options={} if scale in (None, "keep") else {"scale": scale})
        self.image = _checked_image(image, m)
        self.axis = None if self.image else _axis(self.feature_names)
        self.rows = self._sample(check_integer("most_rows", most_rows, 2))
        self.sampled = len(self.rows) < n
        shown = self.problem
        if isinstance(self.problem.X, Source):
            shown = Problem.of(self.problem.X[self.rows], reuse=True)
        elif self.sampled:
            shown = self.problem.take_rows(self.rows)
        self.live = Live(shown, self._scale)
        number = n_features if n_features is not None else min(10, max(1, m // 2))
        start = Settings(n_features=1)
        self.settings = start.changed({"method": _as_text(method), "n_features": number}, len(self.rows), m)
        self.answers: tuple[Answer, ...] = ()
        self.snapshots: dict[str, dict[str, Any]] = {}
        self.revision = 0  # of answers and settings together
        self.version = 0  # of everything that is saved
        self._past: list[tuple[Answer, ...]] = []
        self._future: list[tuple[Answer, ...]] = []
        self._before: np.ndarray | None = None  # order before the last change
        self._asking: Asking | None = None
        self._explained: tuple[int, Any] | None = None
        self._places: np.ndarray | None = None
        self._draws: tuple[int, list[np.ndarray]] = (0, [])
        self.final: tuple[int, Final] | None = None
        self.known = Known(self.given, ())
        self.ranked = self._rank()

    # ---------------------------------------------------------------- the state

    def _sample(self, most_rows: int) -> np.ndarray:
        """Rows to show: all, or those that are known and random others."""
        n, m = self.problem.n_samples, self.problem.n_features
        most = int(min(most_rows, max(200, _MOST_CELLS // m)))
        if n <= most:
            return np.arange(n)
        rng = np.random.default_rng(0)
        first = np.zeros(n)
        first[list(Known(self.given, ()).labels)] = 1.0
        for pairs in (self.given.must_link, self.given.cannot_link):
            if pairs is not None:
                first[np.asarray(pairs).ravel()] = 2.0
        return np.sort(np.argsort(-(first + rng.random(n)), kind="stable")[:most])

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
        y, unlabeled = self.known.y()
        links = self.known.links()
        if rows is not None and len(rows) < self.given.n_samples:
            y = None if y is None else np.asarray(y)[rows]
            links = {kind: Pairs(pairs, self.given.n_samples)[rows].pairs for kind, pairs in links.items()}
        if not any(len(pairs) for pairs in links.values() if pairs is not None):
            links = {}
        return {"y": y, "unlabeled": unlabeled, **links}

    def _rank(self) -> Ranked:
        return self.live.rank(self.settings, self.known, self.supervision(self.rows))

    @property
    def pairs(self) -> dict[str, np.ndarray]:
        """All known pairs: ``must_link`` and ``cannot_link``, arrays of row numbers of shape (p, 2)."""
        empty = {f"{link}_link": np.empty((0, 2), dtype=np.intp) for link in ("must", "cannot")}
        return {**empty, **self.known.links()}  # type: ignore[dict-item]

    @property
    def labels(self) -> dict[int, str]:
        """All known labels by row number."""
        return dict(sorted(self.known.labels.items()))

    @property
    def selector(self) -> SpectralSelector:
        """A selector fitted to all rows with the current answers; pinned features are first, banned ones last."""
        live = Live(self.problem, self._scale) if self.sampled else self.live
        return live.fit(self.settings, self.known, self.supervision())

    def _become(self, answers: tuple[Answer, ...], settings: Settings) -> None:
        """Other answers or settings, and their ranking."""
        self.answers, self.settings = answers, settings
        self.known = Known(self.given, answers)
        before = self.ranked
        self.ranked = self._rank()
        self._before = before.order if len(before.order) else self._before
        self.revision += 1
        self.version += 1

    def _say(self, answers: tuple[Answer, ...]) -> Message:
        """New answers, as a step that can be undone."""
        if answers != self.answers:
            self._past = [*self._past[-_MOST_HISTORY + 1 :], self.answers]
            self._future = []
            self._become(answers, self.settings)
        return self.state()

    # ---------------------------------------------------------------- messages

    def handle(self, message: Any) -> Message:
        """Answer a message.

        Parameters
        ----------
        message : dict
            Plain data with a ``type``; ``id`` is copied to the reply.

        Returns
        -------
        reply : dict
            Plain data. Its type is "error" if the message was wrong; the session is then unchanged.
        """
        asked = message if isinstance(message, dict) else {}
        kind = asked.get("type")
        try:
            if not isinstance(message, dict) or not isinstance(kind, str) or kind not in HANDLERS:
                raise ParameterError(f"a message has a type: {', '.join(HANDLERS)}; got {kind!r}.", parameter="type")
            fields, handler = HANDLERS[kind]
            given = {name: value for name, value in message.items() if name not in ("type", "id")}
            missing, unknown = [f for f in fields if f not in given], sorted(set(given) - set(fields))
            if (missing or unknown) and fields != ("*",):
                wanted = ", ".join(fields) or "no fields"
                raise ParameterError(f"the message {kind!r} has {wanted}; got {', '.join(given) or 'none'}.")
            reply = handler(self, **(given if fields != ("*",) else {"given": given}))
        except (ValueError, TypeError) as error:
            reply = {"type": "error", "of": kind if isinstance(kind, str) else None, "message": str(error)}
        return reply | {"id": asked["id"]} if isinstance(asked.get("id"), (int, str)) else reply

    def open(self) -> Message:
        """The table, where its rows are drawn, and the state.

        Returns
        -------
        reply : dict
            What a page needs once.
        """
        n, m = self.problem.n_samples, self.problem.n_features
        about = {
            "source": self.origin.data,
            "n_samples": n,
            "n_features": m,
            "sampled": self.sampled,
            "image": self.image,
            "axis": self.axis,
            "feature_names": self.feature_names,
            "rows": self.rows.tolist(),
            "row_ids": None if self.row_ids is None else [self.row_ids[i] for i in self.rows],
            "places": rounded(self.places, 4),
            "version": __version__,
        }
        return {"type": "open", "table": about, "state": self.state()}

    def state(self) -> Message:
        """Answers, settings, what follows from them, and the ranking.

        Returns
        -------
        reply : dict
            What a page shows after every step.
        """
        return {
            "type": "state",
            "revision": self.revision,
            "version": self.version,
            "answers": [answer.to_json() for answer in self.answers],
            "undo": len(self._past),
            "redo": len(self._future),
            "labels": self._labels(),
            "pairs": [[i, j, link, number] for (i, j), (link, number) in sorted(self.known.pairs.items())],
            "contradictions": [found._asdict() for found in self.known.contradictions()],
            "closure": [{"label": label, "rows": rows} for label, rows in self.known.closure()],
            "pinned": self.known.pinned,
            "banned": self.known.banned,
            "settings": self.settings.to_json(),
            "knobs": knobs(self.settings),
            "ranking": self._ranking(),
            "snapshots": self.snapshots,
        }

    def _labels(self) -> Message:
        """What the rows of the map are known to be: codes of classes, or targets."""
        y, unlabeled = self.known.y()
        own = sorted(row for row in self.known.labelled_by if row in self.known.labels)
        if y is None or not self.known.labels:
            return {"kind": "none", "names": [], "values": [], "n_known": 0, "own": own}
        known = Supervision(self.given.n_samples, y, unlabeled=unlabeled)
        if known.task() == "target":
            values = np.where(known.labelled, np.asarray(known.y, dtype=float), np.nan)[self.rows]
            about = {"kind": "target", "names": [], "values": rounded(values, 5)}
            return about | {"n_known": len(self.known.labels), "own": own}
        names = sorted(set(self.known.labels.values()), key=_natural)
        code = {name: at for at, name in enumerate(names)}
        codes = [code.get(self.known.labels.get(int(row), ""), -1) for row in self.rows]
        return {"kind": "classes", "names": names, "values": codes, "n_known": len(self.known.labels), "own": own}

    def _ranking(self) -> Message:
        ranked = self.ranked
        order = ranked.order
        places = np.full(self.problem.n_features, -1)
        moved = None
        if self._before is not None and len(self._before) and len(order):
            places[self._before] = np.arange(len(self._before))
            moved = (places[order] - np.arange(len(order))).tolist()
        return {
            "order": order.tolist(),
            "scores": significant(ranked.scores[order]),
            "bars": rounded(ranked.bars[order], 4),
            "gains": None if ranked.gains is None else rounded(ranked.gains[order], 5),
            "moved": moved,
            "n_selected": ranked.n_selected,
            "explained": None if ranked.explained is None else rounded(ranked.explained, 4),
            "greater_is_better": ranked.greater_is_better,
            "is_set": ranked.is_set,
            "formula": ranked.formula,
            "notes": list(ranked.notes),
            "trouble": ranked.trouble,
            "seconds": round(ranked.seconds, 4),
        }

    def _pair(self, rows: Any, link: Any) -> Message:
        return self._answer({"kind": "pair", "subjects": rows, "value": link})

    def _label(self, rows: Any, label: Any) -> Message:
        answer = self._parsed({"kind": "label", "subjects": rows, "value": label})
        if answer.value is not None and self._reads_target():
            try:
                finite = math.isfinite(float(answer.value))
            except ValueError:
                finite = False
            if not finite:
                message = f"y is a real target, so a label must be a number, got {answer.value!r}."
                raise ParameterError(message, parameter="label", value=answer.value)
        return self._say(with_answer(self.answers, answer))

    def _reads_target(self) -> bool:
        y = self.given.y
        return y is not None and Supervision(self.given.n_samples, y, unlabeled=self.given.unlabeled).task() == "target"

    def _parsed(self, given: Message) -> Answer:
        return parse_answer(given, self.given.n_samples, self.problem.n_features)

    def _answer(self, given: Message) -> Message:
        return self._say(with_answer(self.answers, self._parsed(given)))

    def _pin(self, feature: Any) -> Message:
        return self._answer({"kind": "feature", "subjects": [feature], "value": "pinned"})

    def _ban(self, feature: Any) -> Message:
        answer = self._parsed({"kind": "feature", "subjects": [feature], "value": "banned"})
        if len({*self.known.banned, feature}) == self.problem.n_features:
            raise ParameterError("this is the only feature that is not banned; allow another one first.")
        return self._say(with_answer(self.answers, answer))

    def _free(self, feature: Any) -> Message:
        self._parsed({"kind": "feature", "subjects": [feature], "value": "pinned"})
        return self._say(without_feature(self.answers, feature))

    def _remove(self, answer: Any) -> Message:
        if not _is_index(answer, len(self.answers)):
            raise ParameterError(f"there is no answer {answer!r}; there are {len(self.answers)}.", parameter="answer")
        return self._say((*self.answers[:answer], *self.answers[answer + 1 :]))

    def _clear(self) -> Message:
        return self._say(())

    def _undo(self) -> Message:
        return self._step(self._past, self._future, "undo")

    def _redo(self) -> Message:
        return self._step(self._future, self._past, "redo")

    def _step(self, taken: list[tuple[Answer, ...]], given: list[tuple[Answer, ...]], what: str) -> Message:
        if not taken:
            raise ParameterError(f"there is nothing to {what}.")
        given.append(self.answers)
        self._become(taken.pop(), self.settings)
        return self.state()

    def _set(self, given: Message) -> Message:
        settings = self.settings.changed(given, len(self.rows), self.problem.n_features)
        if settings != self.settings:
            self._become(self.answers, settings)
        return self.state()

    def _close(self) -> Message:
        classes = self.known.closure()
        if not classes:
            raise ParameterError("the pairs give no two groups that are known to differ.")
        answers = self.answers
        for label, rows in classes:
            answers = with_answer(answers, Answer("label", tuple(rows), label))
        return self._say(answers)

    # ---------------------------------------------------------------- looking at rows and features

    @property
    def places(self) -> np.ndarray:
        """Where the shown rows are drawn, from all features; shape (n_shown, 2)."""
        if self._places is None:
            self._places = positions(self.live.problem)
        return self._places

    def _layout(self, of: Any) -> Message:
        if of not in ("all", "chosen"):
            raise ParameterError(f"of must be all or chosen, got {of!r}.", parameter="of", value=of)
        places = self.places
        if of == "chosen":
            chosen = self.ranked.selected
            if not len(chosen):
                raise ParameterError("no feature is selected, so there is no layout of the chosen features.")
            kept = np.isin(np.arange(self.problem.n_features), chosen)
            places = aligned(positions(self.live.problem.take_columns(kept)), places)
        return {"type": "layout", "of": of, "places": rounded(places, 4)}

    def _feature(self, feature: Any) -> Message:
        self._parsed({"kind": "feature", "subjects": [feature], "value": "pinned"})
        values = feature_values(self.live.problem, [feature])[:, 0]
        return {
            "type": "feature",
            "feature": feature,
            "values": significant(values),
            "groups": histograms(values, self._labels()),
            "copies": copies(self.live.problem, feature),
            "why": self._why(feature),
        }

    def _why(self, feature: int) -> str | None:
        """Why a feature is selected, or what beats it, in words."""
        if self.live.fitted is None or feature in self.known.banned:
            return None
        selector, problem = self.live.fitted
        kept = [j for j in range(self.problem.n_features) if j not in set(self.known.banned)]
        if self._explained is None or self._explained[0] != self.revision:
            told = self.supervision(self.rows)
            told.pop("unlabeled")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the ranking has given them
                found = selector.explain(problem, **told)
            names = np.array([self.feature_names[j] for j in kept], dtype=object)
            self._explained = self.revision, replace(found, feature_names=names)
        return self._explained[1].why(kept.index(feature))

    def _row(self, row: Any) -> Message:
        self._parsed({"kind": "label", "subjects": [row], "value": None})
        place = int(np.searchsorted(self.rows, row))
        if place == len(self.rows) or self.rows[place] != row:
            raise ParameterError(f"row {row} is not in the sample that is shown.", parameter="row", value=row)
        part = self.live.problem.take_rows(np.array([place]))
        first = self.ranked.selected[:_VALUES] if len(self.ranked.order) else np.arange(min(_VALUES, part.n_features))
        drawn = (self.image is not None or self.axis is not None) and part.n_features <= _LONGEST_AXIS
        values = significant(feature_values(part, first.tolist())[0])
        whole = feature_values(part, range(part.n_features))[0] if drawn else np.empty(0)
        return {
            "type": "row",
            "row": row,
            "row_id": self._row_name(row),
            "label": self.known.labels.get(row),
            "values": [[self.feature_names[j], value] for j, value in zip(first.tolist(), values, strict=True)],
            "picture": significant(whole, 4) if drawn else None,
        }

    def _row_name(self, row: int) -> str:
        return str(row) if self.row_ids is None else self.row_ids[row]

    def _methods(self) -> Message:
        return {"type": "methods", "methods": methods_for(self.live.problem, self.supervision(self.rows))}

    def _ask(self, about: Any) -> Message:
        if about not in ("row", "pair"):
            raise ParameterError(f"about must be row or pair, got {about!r}.", parameter="about", value=about)
        if self._asking is None:
            self._asking = Asking(self.live.problem, self.rows)
        if about == "row":
            row = self._asking.next_row(set(self.known.labels) | set(self.known.labelled_by))
            rows = [] if row is None else [row]
        else:
            rows = list(self._asking.next_pair(self.known) or ())
        return {"type": "ask", "about": about, "rows": rows}

    # ---------------------------------------------------------------- how good the selection is

    def _curves(self) -> Message:
        """Accuracy by number of features where there are labels; the ranking has seen them."""
        from ..evaluate import accuracy_curve

        order, told = self.ranked.order, self.supervision(self.rows)
        if not len(order) or told["y"] is None:
            return {"type": "curves", "accuracy": None, "why_not": "There are no labels or no ranking."}
        if self.live.problem.groups is not None:
            return {"type": "curves", "accuracy": None, "why_not": "Accuracy is not shown for tables with categories."}
        last = min(len(order), max(2 * self.settings.n_features, 10))
        sizes = np.unique(np.geomspace(1, last, _CURVE_SIZES).astype(int)).tolist()
        try:
            curve = accuracy_curve(
                self.live.problem.X, told["y"], order, n_features=sizes, n_repeats=3, unlabeled=told["unlabeled"]
            )
        except (ValueError, TypeError) as error:
            return {"type": "curves", "accuracy": None, "why_not": str(error)}
        found = {"metric": curve.metric, "n_features": sizes, "mean": rounded(curve.mean, 4)}
        return {"type": "curves", "accuracy": found, "why_not": None}

    def _stability(self) -> Message:
        """Two more draws of 80 % of the rows: how often each feature is selected so far."""
        from ..evaluate import stability

        if not len(self.ranked.order):
            raise ParameterError("there is no ranking whose stability could be measured.")
        if self._draws[0] != self.revision:
            self._draws = self.revision, []
        draws, told = self._draws[1], self.supervision(self.rows)
        kept = np.setdiff1d(np.arange(self.problem.n_features), self.known.banned)
        if 2 * len(draws) < _MOST_DRAWS:
            k = min(self.settings.n_features, len(kept))
            problem = self.live.without(tuple(sorted(self.known.banned)))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the ranking on all rows has given them
                drawn = stability(self.settings.criterion(), problem, k=k, n_draws=2, random_state=len(draws), **told)
            frequency = np.zeros(self.problem.n_features)
            frequency[kept] = drawn.frequency
            draws.append(frequency)
        done = 2 * len(draws)
        return {
            "type": "stability",
            "revision": self.revision,
            "n_draws": done,
            "finished": done >= _MOST_DRAWS,
            "frequency": rounded(np.mean(draws, axis=0), 3),
        }

    def _snapshot(self, slot: Any) -> Message:
        if slot not in ("A", "B"):
            raise ParameterError(f"slot must be A or B, got {slot!r}.", parameter="slot", value=slot)
        if not len(self.ranked.order):
            raise ParameterError("there is no ranking to keep.")
        kept = {
            "selected": self.ranked.selected.tolist(),
            "formula": self.ranked.formula,
            "n_labels": len(self.known.labels),
            "n_pairs": len(self.known.pairs),
        }
        self.snapshots = {**self.snapshots, slot: kept}
        self.version += 1
        return self.state()

    # ---------------------------------------------------------------- all rows

    def _final(self) -> Message:
        if self.final is not None and self.final[1].running:
            raise ParameterError("a ranking on all rows is running; cancel it first.")
        live = Live(self.problem.with_supervision(), self._scale)
        work = Final(live, self.settings, self.known, self.supervision())
        self.final = self.revision, work.start()
        return self._final_status()

    def _final_status(self) -> Message:
        if self.final is None:
            raise ParameterError("no ranking on all rows was started.")
        revision, work = self.final
        reply = {"type": "final", "current": revision == self.revision, "ranking": None, **work.to_json()}
        if work.ranked is not None:
            order = work.ranked.order
            agreeing = len(set(work.ranked.selected.tolist()) & set(self.ranked.selected.tolist()))
            found = {"order": order.tolist(), "n_selected": work.ranked.n_selected, "n_shared": agreeing}
            reply["ranking"] = found | {"scores": significant(work.ranked.scores[order])}
        return reply

    def _final_cancel(self) -> Message:
        if self.final is None:
            raise ParameterError("no ranking on all rows was started.")
        self.final[1].cancel()
        return self._final_status()

    # ---------------------------------------------------------------- files

    def _export(self, what: Any) -> Message:
        if what not in exports.KINDS:
            raise ParameterError(f"what must be one of {', '.join(exports.KINDS)}, got {what!r}.", parameter="what")
        return {"type": "export", "what": what, "name": exports.file_name(what), "text": self._exported(what)}

    def _exported(self, what: str) -> str:
        if what == "pairs":
            return exports.pairs_text(self.known, self._row_name)
        if what == "labels":
            return exports.labels_text(self.known, self._row_name)
        if what == "command":
            return exports.command_text(self.origin, self.known, self.settings, self.feature_names)
        if what == "script":
            return exports.script_text(self.origin, self.known, self.settings, self.feature_names)
        final = None if self.final is None or self.final[0] != self.revision else self.final[1].ranked
        if self.ranked.trouble is not None:
            raise ParameterError(f"there is no ranking to export: {self.ranked.trouble}")
        if what == "ranking":
            return exports.ranking_csv(final or self.ranked, self.feature_names)
        return self._report()

    def _report(self) -> str:
        from ..report import render_html, summarize

        told = self.supervision(self.rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the page shows them
            selector, problem = self.live.fit_kept(self.settings, self.known, told)
        told.pop("unlabeled")
        names = [name for j, name in enumerate(self.feature_names) if j not in set(self.known.banned)]
        source = self.origin.data or "data in memory"
        summary = summarize(selector, problem, feature_names=names, source=source, **told)
        return render_html(summary)

    def saved(self) -> dict[str, Any]:
        """The session as plain data: answers, settings and snapshots.

        Returns
        -------
        saved : dict
            For :meth:`restore`.
        """
        return {
            "format": FORMAT,
            "fiedler": __version__,
            "source": self.origin.data,
            "table": self.fingerprint,
            "settings": self.settings.to_json(),
            "answers": [answer.to_json() for answer in self.answers],
            "snapshots": self.snapshots,
        }

    def restore(self, saved: Any) -> None:
        """Continue a saved session.

        Parameters
        ----------
        saved : dict
            From :meth:`saved`.
        """
        if not isinstance(saved, dict) or saved.get("format") != FORMAT:
            raise ParameterError(f"this is not a session of format {FORMAT}.", parameter="session")
        if saved.get("table") != self.fingerprint:
            raise ParameterError(
                "the session belongs to a table with other rows or features; use another session file.",
                parameter="session",
            )
        m, answers = self.problem.n_features, ()
        for answer in saved.get("answers", []):
            answers = with_answer(answers, self._parsed(answer))  # type: ignore[assignment]
        snapshots = {
            slot: _snapshot(kept, m) for slot, kept in dict(saved.get("snapshots", {})).items() if slot in ("A", "B")
        }
        settings = self.settings.changed(dict(saved.get("settings", {})), len(self.rows), m)
        self._become(answers, settings)
        self.snapshots, self._past, self._future, self._before = snapshots, [], [], None

    @property
    def fingerprint(self) -> str:
        """A hash of the shape, the feature names and the row ids."""
        about = [self.given.n_samples, self.feature_names, self.row_ids]
        return hashlib.blake2b(repr(about).encode("utf-8", "replace"), digest_size=12).hexdigest()


Handler = Callable[..., Message]
# For every type of message its fields and its method; "*" means settings.
HANDLERS: dict[str, tuple[tuple[str, ...], Handler]] = {
    "open": ((), Session.open),
    "state": ((), Session.state),
    "pair": (("rows", "link"), Session._pair),
    "label": (("rows", "label"), Session._label),
    "pin": (("feature",), Session._pin),
    "ban": (("feature",), Session._ban),
    "free": (("feature",), Session._free),
    "remove": (("answer",), Session._remove),
    "clear": ((), Session._clear),
    "undo": ((), Session._undo),
    "redo": ((), Session._redo),
    "set": (("*",), Session._set),
    "close": ((), Session._close),
    "methods": ((), Session._methods),
    "feature": (("feature",), Session._feature),
    "row": (("row",), Session._row),
    "layout": (("of",), Session._layout),
    "ask": (("about",), Session._ask),
    "curves": ((), Session._curves),
    "stability": ((), Session._stability),
    "snapshot": (("slot",), Session._snapshot),
    "export": (("what",), Session._export),
    "final": ((), Session._final),
    "final_status": ((), Session._final_status),
    "final_cancel": ((), Session._final_cancel),
}


# -------------------------------------------------------------------- small steps


def _as_text(method: Any) -> str:
    text = short_text(as_criterion(method))
    try:
        parse(text)
    except ValueError:
        raise ParameterError(
            f"method={method!r} cannot be written as text, which a page needs; use a name or a formula of names.",
            parameter="method",
            value=method,
        ) from None
    return text


def _names(what: str, given: Any, found: Any, length: int) -> list[str]:
    names = found if given is None else given
    names = [f"x{j}" for j in range(length)] if names is None else names
    if len(names) != length:
        raise ParameterError(f"{what} has {len(names)} names, but X needs {length}.", parameter=what)
    return [str(name) for name in names]


def _checked_image(image: Any, n_features: int) -> list[int] | None:
    if image is None:
        return None
    height, width = (check_integer("image", side, 1) for side in image)
    if height * width != n_features:
        raise ParameterError(
            f"image={height}x{width} has {height * width} pixels, but X has {n_features} features.",
            parameter="image",
            value=image,
        )
    return [height, width]


def _axis(names: list[str]) -> list[float] | None:
    """Feature names as an ascending or descending axis, such as wavelengths; None if they are no numbers."""
    try:
        axis = np.array([float(name) for name in names])
    except ValueError:
        return None
    steps = np.diff(axis)
    if len(axis) < 8 or not np.isfinite(axis).all() or not ((steps > 0).all() or (steps < 0).all()):
        return None
    return axis.tolist()


def _snapshot(kept: Any, n_features: int) -> dict[str, Any]:
    selected = kept.get("selected") if isinstance(kept, dict) else None
    if not isinstance(selected, list) or not all(_is_index(j, n_features) for j in selected):
        raise ParameterError("a snapshot names features that do not exist.", parameter="session")
    counts = {name: int(kept.get(name, 0)) for name in ("n_labels", "n_pairs")}
    return {"selected": selected, "formula": str(kept.get("formula", "")), **counts}


def _is_index(value: Any, length: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < length


def _natural(name: str) -> tuple[int, float, str]:
    """Numbers in their order, then words."""
    try:
        return 0, float(name), name
    except ValueError:
        return 1, 0.0, name
