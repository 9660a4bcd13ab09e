"""What an expert says about the rows and the features: labels, pairs, pinned and banned features.

Answers are an ordered tuple of :class:`Answer`. A later answer replaces an earlier one about the same pair, row or
feature. :class:`Known` combines the answers with the labels and pairs of the data, finds contradictions among them,
and turns pairs into classes:

    must-link pairs -> groups (connected components);  groups that are known to differ from each other -> classes
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.labels import as_labels
from ..data.text import MISSING
from ..errors import ParameterError
from ..supervision import Supervision
from ..validation import check_choice

LINKS, ROLES = ("must", "cannot"), ("pinned", "banned")
LONGEST_LABEL = 200  # characters


@dataclass(frozen=True)
class Answer:
    """One answer of the expert."""

    kind: str  # "pair", "label" or "feature"
    subjects: tuple[int, ...]  # two rows, the labelled rows, or one feature; ascending
    value: str | None  # "must" or "cannot", the label (None removes a label), "pinned" or "banned"

    def to_json(self) -> dict[str, Any]:
        """The answer as plain data, for messages and files."""
        return {"kind": self.kind, "subjects": list(self.subjects), "value": self.value}


def parse_answer(given: Any, n_samples: int, n_features: int) -> Answer:
    """An answer from plain data; raises an error that names the wrong part."""
    if not isinstance(given, dict) or set(given) != {"kind", "subjects", "value"}:
        raise ParameterError("an answer has the fields kind, subjects and value.", parameter="answer", value=given)
    kind, subjects, value = given["kind"], given["subjects"], given["value"]
    check_choice("kind", kind, ("pair", "label", "feature"))
    limit, what = (n_features, "feature") if kind == "feature" else (n_samples, "row")
    if not isinstance(subjects, list) or not subjects:
        raise ParameterError(f"give a list of {what} numbers, got {subjects!r}.", parameter=what, value=subjects)
    for number in subjects:
        if not is_index(number, limit):
            message = f"{what} {number!r} does not exist; {what}s are numbered from 0 to {limit - 1}."
            raise ParameterError(message, parameter=what, value=number)
    numbers = tuple(sorted(set(subjects)))
    if kind == "pair" and len(numbers) != 2:
        raise ParameterError("a pair needs two different rows.", parameter="rows", value=subjects)
    if kind == "feature" and len(numbers) != 1:
        raise ParameterError("pin or ban one feature at a time.", parameter="feature", value=subjects)
    if kind != "label":
        check_choice("value", value, LINKS if kind == "pair" else ROLES)
    elif value is not None:
        text, wrong = value.strip() if isinstance(value, str) else "", ""
        if not text or len(text) > LONGEST_LABEL or not text.isprintable():
            wrong = f"a label is printable text of 1 to {LONGEST_LABEL} characters, or null to remove it."
        elif text in MISSING:
            unknown = f"the label {text!r} means an unknown label in files"
            wrong = f"{unknown}; choose another word, or null to remove a label."
        if wrong:
            raise ParameterError(wrong, parameter="label", value=value)
        value = text
    return Answer(kind, numbers, value)


def is_index(value: Any, length: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < length


def with_answer(answers: tuple[Answer, ...], new: Answer) -> tuple[Answer, ...]:
    """The answers followed by a new one; what it replaces is removed."""
    kept: list[Answer] = []
    for old in answers:
        if old.kind == new.kind == "label":
            rest = tuple(row for row in old.subjects if row not in set(new.subjects))
            kept += [Answer("label", rest, old.value)] * bool(rest)
        elif old.kind != new.kind or old.subjects != new.subjects:
            kept.append(old)
    return (*kept, new)


class Known:
    """Everything that is known about the rows: labels and pairs of the data, and the answers in their order."""

    def __init__(self, given: Supervision, answers: tuple[Answer, ...]):
        self.given, self._text = given, {}  # the labels of the data as text
        rows = np.flatnonzero(given.labelled)
        for row, value in zip(rows.tolist(), [] if given.y is None else given.y[rows].tolist(), strict=True):
            whole = isinstance(value, float) and value.is_integer()
            self._text[row] = str(int(value) if whole else value)
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

    def links(self) -> dict[str, np.ndarray]:
        """The pairs as arguments of ``SpectralSelector.fit``: arrays of row numbers of shape (p, 2)."""
        chosen = {link: [rows for rows, (kind, _) in self.pairs.items() if kind == link] for link in LINKS}
        return {f"{link}_link": np.array(sorted(chosen[link]), dtype=np.intp).reshape(-1, 2) for link in LINKS}

    def groups(self) -> tuple[list[list[int]], dict[int, int], set[frozenset[int]]]:
        """Groups of rows by must-link pairs, the number of the group of every row, and groups that a pair separates.

        The largest group is first; other rows of pairs are groups of one.
        """
        together = {row: [row] for rows in self.pairs for row in rows}
        for (i, j), (link, _) in self.pairs.items():
            if link == "must" and together[i] is not together[j]:
                few, many = sorted((together[i], together[j]), key=len)
                many += few
                together |= dict.fromkeys(few, many)
        different = {id(rows): sorted(rows) for rows in together.values()}
        groups = sorted(different.values(), key=lambda rows: (-len(rows), rows[0]))
        home = {row: at for at, rows in enumerate(groups) for row in rows}
        apart = {frozenset((home[i], home[j])) for (i, j), (link, _) in self.pairs.items() if link != "must"}
        return groups, home, apart

    def contradictions(self) -> list[dict[str, Any]]:
        """Cannot-link pairs inside a group or a class, and different labels inside a group.

        Two rows, a sentence about statements that cannot both be true, and the answers among these statements.
        """
        groups, home, _ = self.groups()
        found, labels = [], self.labels
        for rows in groups:
            named = [row for row in rows if row in labels]
            other = next((row for row in named if labels[row] != labels[named[0]]), None)
            if other is not None:
                i, j = sorted((named[0], other))
                text = f"belong together by their pairs, but have the labels {labels[i]!r} and {labels[j]!r}"
                found.append((i, j, text))
        for (i, j), (link, _) in sorted(self.pairs.items()):
            if link == "cannot" and home[i] == home[j]:
                found.append((i, j, "are marked as different, but other pairs link them"))
            elif link == "cannot" and i in labels and labels[i] == labels.get(j):
                found.append((i, j, f"are marked as different, but both have the label {labels[i]!r}"))
        contradictions = []
        for i, j, text in found:
            said = {self.pairs.get((i, j), ("", None))[1], self.labelled_by.get(i), self.labelled_by.get(j)}
            answers = tuple(sorted(number for number in said if number is not None))
            contradictions.append({"rows": (i, j), "text": text, "answers": answers})
        return contradictions

    def closure(self) -> list[tuple[str, list[int]]]:
        """Groups that are all known to differ from each other, with a label each; empty for fewer than two.

        Groups are taken largest first. A group is added if a cannot-link pair, or a label, separates it from every
        group that was added before.
        """
        if not self.pairs:
            return []
        groups, _, apart = self.groups()
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
