"""A session: one table, the answers of an expert, and a ranking that follows them. No network, no files.

    session = Session(X, y)
    session.handle({"type": "pair", "rows": [3, 17], "link": "must"})  ->  {"type": "state", "ranking": ..., ...}

A host (:mod:`fiedler.explore.server`, :mod:`fiedler.explore.widget`) carries messages between a page and a session.
Messages are plain data. A wrong message changes nothing; the reply then has the type "error" and says why.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..errors import ParameterError
from ..version import __version__
from . import exports, final, looking
from .answers import Answer, Known, with_answer
from .live import Settings, knobs
from .state import Message, State, rounded, significant

FORMAT = 1  # of saved sessions
_MOST_HISTORY = 1000
_LARGE = 1e6  # values, above which a draw of the stability takes seconds


class Session(State):
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

    def _become(self, answers: tuple[Answer, ...], settings: Settings) -> None:
        """Other answers or settings, and their ranking."""
        self.answers, self.settings = answers, settings
        self.known = Known(self.given, answers)
        before = self.ranked
        self.ranked = self.rank()
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
        about = {name: getattr(self, name) for name in ("sampled", "image", "axis", "feature_names")}
        about |= {"source": self.origin.data, "n_samples": n, "n_features": m, "version": __version__}
        about |= {"large": len(self.rows) * m > _LARGE, "rows": self.rows.tolist(), "places": rounded(self.places, 4)}
        about["row_ids"] = None if self.row_ids is None else [self.row_ids[i] for i in self.rows]
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
            "labels": self.map_labels(),
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

    def _ranking(self) -> Message:
        ranked, order = self.ranked, self.ranked.order
        moved, places = None, np.full(self.problem.n_features, -1)
        if self._before is not None and len(self._before) and len(order):
            places[self._before] = np.arange(len(self._before))
            moved = (places[order] - np.arange(len(order))).tolist()
        about = {
            name: getattr(ranked, name) for name in ("n_selected", "greater_is_better", "is_set", "formula", "trouble")
        }
        return about | {
            "order": order.tolist(),
            "scores": significant(ranked.scores[order]),
            "bars": rounded(ranked.bars[order], 4),
            "gains": None if ranked.gains is None else rounded(ranked.gains[order], 5),
            "moved": moved,
            "explained": None if ranked.explained is None else rounded(ranked.explained, 4),
            "notes": list(ranked.notes),
            "seconds": round(ranked.seconds, 4),
        }

    def _label(self, rows: Any, label: Any) -> Message:
        answer = self.parsed({"kind": "label", "subjects": rows, "value": label})
        if answer.value is not None and self.reads_target:
            try:
                finite = math.isfinite(float(answer.value))
            except ValueError:
                finite = False
            if not finite:
                message = f"y is a real target, so a label must be a number, got {answer.value!r}."
                raise ParameterError(message, parameter="label", value=answer.value)
        return self._say(with_answer(self.answers, answer))

    def _pair(self, rows: Any, link: Any) -> Message:
        answer = self.parsed({"kind": "pair", "subjects": rows, "value": link})
        return self._say(with_answer(self.answers, answer))

    def _mark(self, feature: Any, value: str | None) -> Message:
        """Pin or ban a feature; with None neither."""
        answer = self.parsed({"kind": "feature", "subjects": [feature], "value": value or "pinned"})
        if value == "banned" and len({*self.known.banned, feature}) == self.problem.n_features:
            raise ParameterError("this is the only feature that is not banned; allow another one first.")
        kept = tuple(a for a in self.answers if a.kind != "feature" or a.subjects != (feature,))
        return self._say(kept if value is None else with_answer(self.answers, answer))

    def _remove(self, answer: Any) -> Message:
        if not _is_index(answer, len(self.answers)):
            raise ParameterError(f"there is no answer {answer!r}; there are {len(self.answers)}.", parameter="answer")
        return self._say((*self.answers[:answer], *self.answers[answer + 1 :]))

    def _step(self, what: str) -> Message:
        """Undo or redo."""
        taken, given = (self._past, self._future) if what == "undo" else (self._future, self._past)
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

    def _snapshot(self, slot: Any) -> Message:
        if slot not in ("A", "B"):
            raise ParameterError(f"slot must be A or B, got {slot!r}.", parameter="slot", value=slot)
        if not len(self.ranked.order):
            raise ParameterError("there is no ranking to keep.")
        kept = {"selected": self.ranked.selected.tolist(), "formula": self.ranked.formula}
        kept |= {"n_labels": len(self.known.labels), "n_pairs": len(self.known.pairs)}
        self.snapshots = {**self.snapshots, slot: kept}
        self.version += 1
        return self.state()

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
            message = "the session belongs to a table with other rows or features; use another session file."
            raise ParameterError(message, parameter="session")
        m, snapshots = self.problem.n_features, {}
        answers: tuple[Answer, ...] = ()
        for answer in saved.get("answers", []):
            answers = with_answer(answers, self.parsed(answer))
        for slot, kept in dict(saved.get("snapshots", {})).items():
            if slot in ("A", "B"):
                snapshots[slot] = _snapshot(kept, m)
        settings = self.settings.changed(dict(saved.get("settings", {})), len(self.rows), m)
        self._become(answers, settings)
        self.snapshots, self._past, self._future, self._before = snapshots, [], [], None


Handler = Callable[..., Message]
# For every type of message its fields and its method; "*" means settings.
HANDLERS: dict[str, tuple[tuple[str, ...], Handler]] = {
    "open": ((), Session.open),
    "state": ((), Session.state),
    "pair": (("rows", "link"), Session._pair),
    "label": (("rows", "label"), Session._label),
    "pin": (("feature",), partial(Session._mark, value="pinned")),
    "ban": (("feature",), partial(Session._mark, value="banned")),
    "free": (("feature",), partial(Session._mark, value=None)),
    "remove": (("answer",), Session._remove),
    "clear": ((), partial(Session._say, answers=())),
    "undo": ((), partial(Session._step, what="undo")),
    "redo": ((), partial(Session._step, what="redo")),
    "set": (("*",), Session._set),
    "close": ((), Session._close),
    "methods": ((), looking.methods),
    "feature": (("feature",), looking.feature_reply),
    "row": (("row",), looking.row_reply),
    "layout": (("of",), looking.layout),
    "ask": (("about",), looking.ask),
    "curves": ((), looking.curves),
    "stability": ((), looking.stability),
    "snapshot": (("slot",), Session._snapshot),
    "export": (("what",), exports.export),
    "final": ((), final.start),
    "final_status": ((), final.status),
    "final_cancel": ((), final.cancel),
}


def _snapshot(kept: Any, n_features: int) -> dict[str, Any]:
    selected = kept.get("selected") if isinstance(kept, dict) else None
    if not isinstance(selected, list) or not all(_is_index(j, n_features) for j in selected):
        raise ParameterError("a snapshot names features that do not exist.", parameter="session")
    counts = {name: int(kept.get(name, 0)) for name in ("n_labels", "n_pairs")}
    return {"selected": selected, "formula": str(kept.get("formula", "")), **counts}


def _is_index(value: Any, length: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < length
