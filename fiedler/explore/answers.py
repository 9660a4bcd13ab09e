"""What an expert says about the rows and the features: labels, pairs, pinned and banned features.

Answers are an ordered tuple of :class:`Answer`. A later answer replaces an earlier one about the same pair, row or
feature. :class:`Known` combines the answers with the labels and pairs of the data, finds contradictions among them,
and turns pairs into classes:

    must-link pairs -> groups (connected components);  groups that are known to differ from each other -> classes
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..data.labels import as_labels
from ..data.text import MISSING
from ..errors import ParameterError
from ..supervision import Supervision

LINKS, ROLES = ("must", "cannot"), ("pinned", "banned")
LONGEST_LABEL = 200  # characters


@dataclass(frozen=True)
class Answer:
    """One answer of the expert.

    Parameters
    ----------
    kind : {"pair", "label", "feature"}
        What the answer is about.
    subjects : tuple of int
        Two rows, the labelled rows, or one feature; ascending.
    value : str or None
        "must" or "cannot", the label (None removes a label), "pinned" or "banned".
    """

    kind: str
    subjects: tuple[int, ...]
    value: str | None

    def to_json(self) -> dict[str, Any]:
        """The answer as plain data, for messages and files."""
        return {"kind": self.kind, "subjects": list(self.subjects), "value": self.value}


def parse_answer(given: Any, n_samples: int, n_features: int) -> Answer:
    """An answer from plain data; raises an error that names the wrong part."""
    if not isinstance(given, dict) or set(given) != {"kind", "subjects", "value"}:
        raise ParameterError("an answer has the fields kind, subjects and value.", parameter="answer", value=given)
    kind, subjects, value = given["kind"], given["subjects"], given["value"]
    if kind not in ("pair", "label", "feature"):
        raise ParameterError(f"kind must be pair, label or feature, got {kind!r}.", parameter="kind", value=kind)
    limit, what = (n_features, "feature") if kind == "feature" else (n_samples, "row")
    numbers = _numbers(subjects, limit, what)
    if kind == "pair" and len(numbers) != 2:
        raise ParameterError("a pair needs two different rows.", parameter="rows", value=subjects)
    if kind == "feature" and len(numbers) != 1:
        raise ParameterError("pin or ban one feature at a time.", parameter="feature", value=subjects)
    allowed: tuple[str, ...] = LINKS if kind == "pair" else ROLES
    if kind == "label":
        value = _label(value)
    elif value not in allowed:
        raise ParameterError(f"value must be {' or '.join(allowed)}, got {value!r}.", parameter="value", value=value)
    return Answer(kind, numbers, value)


def _numbers(given: Any, limit: int, what: str) -> tuple[int, ...]:
    if not isinstance(given, list) or not given:
        raise ParameterError(f"give a list of {what} numbers, got {given!r}.", parameter=what, value=given)
    for number in given:
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < limit:
            message = f"{what} {number!r} does not exist; {what}s are numbered from 0 to {limit - 1}."
            raise ParameterError(message, parameter=what, value=number)
    return tuple(sorted(set(given)))


def _label(value: Any) -> str | None:
    if value is None:
        return None
    text = value.strip() if isinstance(value, str) else ""
    message = ""
    if not text or len(text) > LONGEST_LABEL or not text.isprintable():
        message = f"a label is printable text of 1 to {LONGEST_LABEL} characters, or null to remove it."
    elif text in MISSING:
        message = f"the label {text!r} means an unknown label in files; choose another word, or null to remove a label."
    if message:
        raise ParameterError(message, parameter="label", value=value)
    return text


def with_answer(answers: tuple[Answer, ...], new: Answer) -> tuple[Answer, ...]:
    """The answers followed by a new one; what it replaces is removed."""
    kept: list[Answer] = []
    for old in answers:
        if old.kind != new.kind:
            kept.append(old)
        elif new.kind == "label":
            rest = tuple(row for row in old.subjects if row not in set(new.subjects))
            if rest:
                kept.append(Answer("label", rest, old.value))
        elif old.subjects != new.subjects:
            kept.append(old)
    return (*kept, new)


class Contradiction(NamedTuple):
    """Two statements that cannot both be true: the rows, a sentence, and the answers among them."""

    rows: tuple[int, int]
    text: str
    answers: tuple[int, ...]


class Given(NamedTuple):
    """Labels and pairs that came with the data; ``unlabeled`` is as in :class:`fiedler.Supervision`."""

    n_samples: int
    y: Any = None
    must_link: Any = None
    cannot_link: Any = None
    unlabeled: Any = -1


class Known:
    """Everything that is known about the rows: labels and pairs of the data, and the answers.

    Parameters
    ----------
    given : Given
        Labels and pairs of the data.
    answers : tuple of Answer
        The answers in their order.
    """

    def __init__(self, given: Given, answers: tuple[Answer, ...]):
        self.given, self.answers = given, answers
        self._text = text_labels(given)
        self.labels = dict(self._text)  # row -> label as text
        self.pairs: dict[tuple[int, int], tuple[str, int | None]] = {}  # rows -> link, number of the answer
        self.labelled_by: dict[int, int] = {}  # row -> number of the answer
        self.pinned: list[int] = []
        self.banned: list[int] = []
        for link, pairs in (("must", given.must_link), ("cannot", given.cannot_link)):
            for i, j in np.asarray([] if pairs is None else pairs, dtype=int).reshape(-1, 2).tolist():
                self.pairs[min(i, j), max(i, j)] = link, None
        for number, answer in enumerate(answers):
            if answer.kind == "pair":
                self.pairs[answer.subjects] = str(answer.value), number  # type: ignore[index]
            elif answer.kind == "feature":
                (self.pinned if answer.value == "pinned" else self.banned).append(answer.subjects[0])
            else:
                for row in answer.subjects:
                    self.labelled_by[row] = number
                    if answer.value is None:
                        self.labels.pop(row, None)
                    else:
                        self.labels[row] = answer.value

    def y(self) -> tuple[Any, Any]:
        """All known labels and the marker for unknown ones; those of the data as they are if no answer changes them."""
        if self.labels == self._text:
            return self.given.y, self.given.unlabeled
        if not self.labels:
            return None, -1
        cells: list[str | None] = [None] * self.given.n_samples
        for row, label in self.labels.items():
            cells[row] = label
        return as_labels(cells), None

    def links(self) -> dict[str, np.ndarray | None]:
        """The pairs as arguments of ``SpectralSelector.fit``; empty without pairs."""
        if not self.pairs:
            return {}
        chosen = {link: [rows for rows, (kind, _) in self.pairs.items() if kind == link] for link in LINKS}
        return {f"{link}_link": np.array(sorted(chosen[link]), dtype=np.intp).reshape(-1, 2) for link in LINKS}

    def groups(self) -> list[list[int]]:
        """Rows that belong together by must-link pairs, largest group first; other rows of pairs are groups of one."""
        parent = {row: row for rows in self.pairs for row in rows}

        def root(row: int) -> int:
            while parent[row] != row:
                parent[row] = parent[parent[row]]
                row = parent[row]
            return row

        for (i, j), (link, _) in self.pairs.items():
            if link == "must":
                parent[root(i)] = root(j)
        members = defaultdict(list)
        for row in sorted(parent):
            members[root(row)].append(row)
        return sorted(members.values(), key=lambda rows: (-len(rows), rows[0]))

    def contradictions(self) -> list[Contradiction]:
        """Cannot-link pairs inside a group or a class, and different labels inside a group."""
        groups = self.groups()
        home = {row: at for at, rows in enumerate(groups) for row in rows}
        found = []
        for rows in groups:
            named = [row for row in rows if row in self.labels]
            other = next((row for row in named if self.labels[row] != self.labels[named[0]]), None)
            if other is not None:
                i, j = sorted((named[0], other))
                text = f"belong together by their pairs, but have the labels {self.labels[i]!r} and {self.labels[j]!r}"
                found.append(self._contradiction(i, j, text))
        for (i, j), (link, _) in sorted(self.pairs.items()):
            if link == "must":
                continue
            if home[i] == home[j]:
                found.append(self._contradiction(i, j, "are marked as different, but other pairs link them"))
            elif i in self.labels and self.labels[i] == self.labels.get(j):
                text = f"are marked as different, but both have the label {self.labels[i]!r}"
                found.append(self._contradiction(i, j, text))
        return found

    def _contradiction(self, i: int, j: int, text: str) -> Contradiction:
        said = {self.pairs.get((i, j), ("", None))[1], self.labelled_by.get(i), self.labelled_by.get(j)}
        return Contradiction((i, j), text, tuple(sorted(number for number in said if number is not None)))

    def closure(self) -> list[tuple[str, list[int]]]:
        """Groups that are all known to differ from each other, with a label each; empty for fewer than two.

        Groups are taken largest first. A group is added if a cannot-link pair, or a label, separates it from every
        group that was added before.
        """
        if not self.pairs:
            return []
        groups = self.groups()
        home = {row: at for at, rows in enumerate(groups) for row in rows}
        apart = {frozenset((home[i], home[j])) for (i, j), (link, _) in self.pairs.items() if link == "cannot"}
        names = [{self.labels[row] for row in rows if row in self.labels} for rows in groups]
        chosen: list[int] = []
        for at, own in enumerate(names):
            differ = (frozenset((at, o)) in apart or (own and names[o] and own != names[o]) for o in chosen)
            if len(own) < 2 and all(differ):
                chosen.append(at)
        if len(chosen) < 2:
            return []
        taken, classes, number = set(self.labels.values()), [], 0
        for at in chosen:
            label = next(iter(names[at]), None)
            while label is None:
                number += 1
                label = None if f"group {number}" in taken else f"group {number}"
            classes.append((label, groups[at]))
        return classes if any(row not in self.labels for _, rows in classes for row in rows) else []


def text_labels(given: Given) -> dict[int, str]:
    """The known labels of the data as text."""
    if given.y is None:
        return {}
    told = Supervision(given.n_samples, given.y, unlabeled=given.unlabeled)
    values = np.asarray(told.y).tolist()
    whole = {row: isinstance(values[row], float) and values[row].is_integer() for row in np.flatnonzero(told.labelled)}
    return {int(row): str(int(values[row]) if is_whole else values[row]) for row, is_whole in whole.items()}
