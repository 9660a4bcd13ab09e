"""A session: one table, the answers of an expert, and a ranking that follows them. It knows no network.

    session = Session(X, y)
    session.handle({"type": "pair", "rows": [3, 17], "link": "must"})  ->  {"type": "state", "ranking": ..., ...}

A host (:mod:`fiedler.explore.server`, :mod:`fiedler.explore.widget`) carries messages between a page and a session.
Messages are plain data. A wrong message changes nothing; the reply then has the type "error" and says why. A host keeps
a session in a :class:`SessionFile`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..data.work import check_writable, whole
from ..errors import ParameterError
from ..validation import check_choice
from ..version import __version__
from . import exports, looking
from .answers import Answer, Known, is_index, with_answer
from .live import Settings
from .state import Message, State, rounded, significant

FORMAT = 1  # of saved sessions
LARGEST = 50 * 2**20  # bytes of a session file
_MOST_HISTORY, _KEPT_HISTORY = 1000, 100  # steps that can be undone, and of these in the session file
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
            if not isinstance(kind, str) or kind not in HANDLERS:
                raise ParameterError(f"a message has a type: {', '.join(HANDLERS)}; got {kind!r}.", parameter="type")
            fields, handler = HANDLERS[kind]
            given = {name: value for name, value in asked.items() if name not in ("type", "id")}
            if set(given) != set(fields) and fields != ("*",):
                wanted = ", ".join(fields) or "no fields"
                raise ParameterError(f"the message {kind!r} has {wanted}; got {', '.join(given) or 'none'}.")
            reply = handler(self, *([given] if fields == ("*",) else map(given.get, fields)))
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
        about |= {
            "source": self.origin.data,
            "command": self.origin.command,
            "kept_in": self.kept_in,
            "n_samples": n,
            "n_features": m,
            "version": __version__,
        }
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
        ranked, order, known, moved = self.ranked, self.ranked.order, self.known, None
        if self._before is not None and len(order):
            moved = (np.argsort(self._before)[order] - np.arange(len(order))).tolist()
        same = ("n_selected", "greater_is_better", "is_set", "formula", "trouble")
        ranking = {name: getattr(ranked, name) for name in same} | {
            "order": order.tolist(),
            "scores": significant(ranked.scores[order]),
            "bars": rounded(ranked.bars[order], 4),
            "gains": None if ranked.gains is None else rounded(ranked.gains[order], 5),
            "moved": moved,
            "explained": None if ranked.explained is None else rounded(ranked.explained, 4),
            "notes": list(ranked.notes),
            "seconds": round(ranked.seconds, 4),
        }
        return {name: getattr(self, name) for name in ("revision", "version", "snapshots")} | {
            "type": "state",
            "answers": [answer.to_json() for answer in self.answers],
            "undo": len(self._past),
            "redo": len(self._future),
            "labels": self.map_labels(),
            "pairs": [[i, j, link, number] for (i, j), (link, number) in sorted(known.pairs.items())],
            "contradictions": known.contradictions(),
            "closure": [{"label": label, "rows": rows} for label, rows in known.closure()],
            "pinned": known.pinned,
            "banned": known.banned,
            "settings": asdict(self.settings),
            "knobs": self.settings.knobs(),
            "ranking": ranking,
        }

    def _tell(self, rows: Any, value: Any, kind: str) -> Message:
        """A label of some rows, or the link of a pair."""
        answer = self.parsed({"kind": kind, "subjects": rows, "value": value})
        if kind == "label" and answer.value is not None and self.given.task() == "target":
            try:
                finite = math.isfinite(float(answer.value))
            except ValueError:
                finite = False
            if not finite:
                message = f"y is a real target, so a label must be a number, got {answer.value!r}."
                raise ParameterError(message, parameter="label", value=answer.value)
        return self._say(with_answer(self.answers, answer))

    def _mark(self, feature: Any, value: str | None) -> Message:
        """Pin or ban a feature; with None neither."""
        answer = self.parsed({"kind": "feature", "subjects": [feature], "value": value or "pinned"})
        if value == "banned" and len({*self.known.banned, feature}) == self.problem.n_features:
            raise ParameterError("this is the only feature that is not banned; allow another one first.")
        kept = tuple(a for a in self.answers if a.kind != "feature" or a.subjects != (feature,))
        return self._say(kept if value is None else with_answer(self.answers, answer))

    def _remove(self, answer: Any) -> Message:
        if not is_index(answer, len(self.answers)):
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
        check_choice("slot", slot, ("A", "B"))
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
            "settings": asdict(self.settings),
            "answers": [answer.to_json() for answer in self.answers],
            "snapshots": self.snapshots,
            "classes": self.classes,
            "steps": self._steps(),
        }

    def _steps(self) -> dict[str, Any]:
        """The steps that can be undone or made again, as numbers of the answers in them."""
        steps = {"past": self._past[-_KEPT_HISTORY:], "future": self._future[-_KEPT_HISTORY:]}
        place = {
            answer: at for at, answer in enumerate(dict.fromkeys(a for step in steps.values() for s in step for a in s))
        }
        numbers = {name: [[place[answer] for answer in step] for step in kept] for name, kept in steps.items()}
        return numbers | {"answers": [answer.to_json() for answer in place]}

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
            if slot not in ("A", "B"):
                continue
            selected = kept.get("selected") if isinstance(kept, dict) else None
            if not isinstance(selected, list) or not all(is_index(j, m) for j in selected):
                raise ParameterError("a snapshot names features that do not exist.", parameter="session")
            counts = {name: int(kept.get(name, 0)) for name in ("n_labels", "n_pairs")}
            snapshots[slot] = {"selected": selected, "formula": str(kept.get("formula", "")), **counts}
        settings = self.settings.changed(dict(saved.get("settings", {})), len(self.rows), m)
        steps, classes = dict(saved.get("steps", {})), saved.get("classes", [])
        if not isinstance(classes, list) or not all(isinstance(name, str) for name in classes):
            raise ParameterError("classes must be a list of labels.", parameter="session")
        told = [self.parsed(answer) for answer in steps.get("answers", [])]
        past, future = ([tuple(told[at] for at in step) for step in steps.get(name, [])] for name in ("past", "future"))
        self.classes = list(dict.fromkeys(classes))
        self._become(answers, settings)
        self.snapshots, self._past, self._future, self._before = snapshots, past, future, None


# For every type of message its fields and its method; "*" means settings.
HANDLERS: dict[str, tuple[tuple[str, ...], Callable[..., Message]]] = {
    "open": ((), Session.open),
    "state": ((), Session.state),
    "pair": (("rows", "link"), partial(Session._tell, kind="pair")),
    "label": (("rows", "label"), partial(Session._tell, kind="label")),
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
    "final": ((), partial(looking.final, what="start")),
    "final_status": ((), partial(looking.final, what="status")),
    "final_cancel": ((), partial(looking.final, what="cancel")),
}


def reply_to(message: Any, session: Session, save: Callable[[Session], None] | None) -> Message:
    """The reply to a message of the page; answers are saved before it is sent."""
    try:
        reply = session.handle(message)
        if save is not None:
            save(session)
    except Exception as error:  # a defect, or a full disk: the page shows it and goes on
        reply = {"type": "error", "of": None, "message": f"{type(error).__name__}: {error}"}
        reply |= {"id": message["id"]} if isinstance(message, dict) and "id" in message else {}
    return reply


class SessionFile:
    """The file in which a session is kept, written whole after every change; it need not exist."""

    def __init__(self, path: str | Path):
        self.path = check_writable(path, force=True)
        self._version, self._written = -1, self._last_change()

    def _last_change(self) -> int | None:
        return self.path.stat().st_mtime_ns if self.path.exists() else None

    def load(self, session: Session) -> bool:
        """Continue the session of the file."""
        session.kept_in = str(self.path)
        if not self.path.exists():
            return False
        try:
            if self.path.stat().st_size > LARGEST:
                raise ParameterError(f"it has more than {LARGEST // 2**20} MB")
            session.restore(json.loads(self.path.read_text(encoding="utf-8")))
        except (ValueError, TypeError, IndexError, RecursionError, OverflowError) as error:
            message = f"{self.path} cannot be used: {error} Choose another file with session=, or remove it."
            about: dict[str, Any] = {"value": str(self.path), "way_out": {"session=": ("session", ...)}}
            raise ParameterError(message, parameter="session", **about) from None
        self._version = session.version
        return True

    def save(self, session: Session) -> None:
        """Write the session if it has changed since it was written last."""
        if session.version == self._version:
            return
        if self._last_change() != self._written:  # two pages on one file would lose the answers of one of them
            message = f"{self.path} was changed by another page: this answer is not saved. Start again with session=..."
            raise ParameterError(message, parameter="session", way_out={"session=...": ("session", ...)})
        text = json.dumps(session.saved(), indent=1, allow_nan=False, ensure_ascii=False)
        with whole(self.path) as temporary:
            temporary.write_text(text + "\n", encoding="utf-8")
        self._version, self._written = session.version, self._last_change()


def default_file(data: str | Path) -> Path:
    """The session file of a table, beside it: DATA.fiedler.json.

    Examples
    --------
    >>> default_file("genes.csv").name
    'genes.csv.fiedler.json'
    """
    return Path(f"{Path(data)}.fiedler.json")
