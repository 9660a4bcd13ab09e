"""Why a feature was chosen, and what beats a feature that was not: the facts of one choice, feature by feature.

A set states what every feature adds to J given the features before it. A ranking states how far the score of a feature
is from the scores of the features that were not chosen:

    lead = (score - mean of the rest) / standard deviation of the rest,      positive if the feature is better

Both list near-duplicates. A feature that was not chosen is a near-duplicate of the chosen feature with the largest |r|
if this |r| exceeds a limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..criteria import Criterion, Relevance
from ..criteria.order import ranks_of
from ..errors import ParameterError
from ..problem import Problem
from ..words import direction, html_table, printable, to_frame
from .choice import Choice
from .redundancy import resemblance

_SHOWN, _OTHERS, _COPIES = 10, 5, 3  # chosen features, other features and near-duplicates in a repr
_LONGEST = 28  # characters of a name in a repr


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """What is known about every feature of a choice.

    Arrays have one value per column of X. ``frame`` lists them best first.

    Parameters
    ----------
    criterion : str
        The criterion as text.
    greater_is_better : bool
        Direction of the scores.
    feature_names : ndarray of shape (n_features,)
        Names of the columns.
    order : ndarray of shape (n_features,)
        Column numbers, best first.
    n_chosen : int
        Number of chosen features; they are the first of ``order``.
    scores : ndarray of shape (n_features,)
        Raw scores. Those of a set are the values of its first step.
    gains : ndarray of shape (n_features,) or None
        Sets only: what a feature adds given the features before it, as a share of what all features explain. For a
        feature that was not chosen: what it would add to the chosen features.
    explained : ndarray of shape (n_features,) or None
        Sets only: the share that a feature and all features before it explain; NaN for features that were not chosen.
    lead : ndarray of shape (n_features,) or None
        Rankings only: how much better the score is than the mean score of the features that were not chosen, in
        standard deviations of their scores. Near-duplicates that ``redundancy`` skipped are not counted.
    relevance : ndarray of shape (n_features,) or None
        How closely a feature follows the labels, the target or the pairs (:class:`fiedler.Relevance`); None if none of
        these are known, or carry no information.
    qvalues : ndarray of shape (n_features,) or None
        With "fdr": the false discovery rate at which a feature is significant.
    alpha : float
        The largest q-value of a significant feature.
    kept : ndarray of bool, shape (n_features,), or None
        With a screen: the columns that it keeps.
    resembles : ndarray of int, shape (n_features,)
        For a feature that was not chosen, the chosen feature with the largest absolute correlation. -1 for chosen
        features, and for all features if X is not known.
    correlation : ndarray of shape (n_features,)
        The correlation with this chosen feature.
    limit : float
        A feature that was not chosen is a near-duplicate if this absolute correlation exceeds this limit.

    See Also
    --------
    fiedler.SpectralSelector.explain : Explains the choice of a selector.
    fiedler.evaluate.diff : Compares two choices.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fiedler import SpectralSelector
    >>> X = load_iris(as_frame=True).data
    >>> explanation = SpectralSelector("subset", n_features_to_select=2).fit(X).explain(X)
    >>> [(name, round(r, 2)) for name, r in explanation.copies("petal length (cm)")]
    [('petal width (cm)', 0.96)]
    >>> explanation.beaten_by("petal width (cm)")
    'petal length (cm)'
    """

    criterion: str
    greater_is_better: bool
    feature_names: np.ndarray
    order: np.ndarray
    n_chosen: int
    scores: np.ndarray
    gains: np.ndarray | None
    explained: np.ndarray | None
    lead: np.ndarray | None
    relevance: np.ndarray | None
    qvalues: np.ndarray | None
    alpha: float
    kept: np.ndarray | None
    resembles: np.ndarray
    correlation: np.ndarray
    limit: float

    @property
    def chosen(self) -> np.ndarray:
        """Column numbers of the chosen features, best first."""
        return self.order[: self.n_chosen]

    def copies(self, feature: Any) -> list[tuple[str, float]]:
        """The near-duplicates that a chosen feature stands for.

        Parameters
        ----------
        feature : str or int
            Name of a feature, or its column number.

        Returns
        -------
        copies : list of (str, float)
            Name and correlation of each near-duplicate, the closest first.
        """
        found = self._copies_of.get(self._column(feature), [])
        return [(str(self.feature_names[j]), float(self.correlation[j])) for j in found]

    def beaten_by(self, feature: Any) -> str | None:
        """The chosen feature that is the reason why a feature was not chosen.

        Parameters
        ----------
        feature : str or int
            As in :meth:`copies`.

        Returns
        -------
        name : str or None
            For a near-duplicate, the chosen feature that it resembles. Otherwise, the last chosen feature that is
            better. None for a chosen feature, and for a feature without a score, dropped by the screen, or not
            significant.
        """
        better = self._beaten_by(self._column(feature))
        return None if better < 0 else str(self.feature_names[better])

    def why(self, feature: Any) -> str:
        """One sentence on why a feature was chosen, or not.

        Parameters
        ----------
        feature : str or int
            Name of a feature, or its column number.

        Returns
        -------
        reason : str
            The sentence.
        """
        j = self._column(feature)
        place = int(self._ranks[j])
        if place > self.n_chosen:
            return f"not chosen: {self._obstacle(j)}."
        facts = [f"chosen as number {place} of {self.n_chosen}"]
        if self.gains is not None and self.explained is not None:
            after = "" if place == 1 else " to those before it"
            facts.append(f"adds {self._gain(j)}{after}")
            facts += [f"{_percent(self.explained[j])} explained so far"] * bool(np.isfinite(self.explained[j]))
        else:
            facts.append(f"score {_number(self.scores[j])}")
            if self.lead is not None and np.isfinite(self.lead[j]):
                facts.append(f"{self.lead[j]:.1f} standard deviations better than the mean of the rest")
        facts += [f"{name} {_number(values[j])}" for name, values in self._measures()]
        stands = _listed(self.copies(j))
        return "; ".join([*facts, *([f"stands for {stands}"] if stands else [])]) + "."

    def frame(self) -> Any:
        """All features as a pandas DataFrame, best first.

        Returns
        -------
        frame : DataFrame
            One row per feature. Rankings have the columns ``score`` and ``lead``, sets have ``gain`` and ``explained``.
            ``relevance`` and ``q`` are there if they are known. ``stands_for`` lists the near-duplicates of a chosen
            feature. ``beaten_by``, ``resembles`` and ``r`` tell about a feature that was not chosen.
        """
        order, names = self.order, np.asarray(self.feature_names, dtype=object)
        table: dict[str, Any] = {
            "feature": names[order],
            "rank": np.arange(1, len(order) + 1),
            "chosen": np.arange(len(order)) < self.n_chosen,
        }
        if self.gains is not None:
            table |= {"gain": self.gains[order], "explained": np.asarray(self.explained)[order]}
        else:
            table |= {"score": self.scores[order], "lead": np.asarray(self.lead)[order]}
        table |= {name: values[order] for name, values in self._measures()}
        copies, beaten = self._copies_of, [self._beaten_by(j) for j in order.tolist()]
        table["stands_for"] = [
            _listed([(str(names[i]), float(self.correlation[i])) for i in copies.get(j, [])], len(order))
            for j in order.tolist()
        ]
        for name, at in (("beaten_by", np.array(beaten, dtype=np.intp)), ("resembles", self.resembles[order])):
            table[name] = [None if j < 0 else names[j] for j in at.tolist()]
        return to_frame(table | {"r": self.correlation[order]})

    def __repr__(self) -> str:
        header, rows = self._table(_SHOWN)
        widths = [max(len(row[at]) for row in [header, *rows]) for at in range(len(header) - 1)]
        lines = [self._title()]
        for row in [header, *rows]:
            cells = [row[0].rjust(widths[0]), row[1].ljust(widths[1])]
            cells += [cell.rjust(width) for cell, width in zip(row[2:-1], widths[2:], strict=True)]
            lines.append("  ".join([*cells, row[-1]]).rstrip())
        if self.n_chosen > _SHOWN:
            lines.append(f"... {self.n_chosen - _SHOWN} more")
        others = self.order[self.n_chosen :]
        if len(others):
            lines.append("not chosen:")
            lines += [f"  {self._name(j)}: {self._obstacle(j)}" for j in others[:_OTHERS].tolist()]
        if len(others) > _OTHERS:
            lines.append(f"  ... {len(others) - _OTHERS} more; why(name) tells about each")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        header, rows = self._table(_SHOWN)
        table = html_table(self._title(), rows, header)
        others = self.order[self.n_chosen :][:_OTHERS].tolist()
        if not others:
            return table
        left = len(self.order) - self.n_chosen
        title = f"not chosen: {left}" + (f", of which the first {_OTHERS}" if left > _OTHERS else "")
        return table + html_table(title, [[self._name(j), self._obstacle(j)] for j in others], ["feature", "why not"])

    # ---------------------------------------------------------------- parts

    def _column(self, feature: Any) -> int:
        if isinstance(feature, (int, np.integer)) and not isinstance(feature, (bool, np.bool_)):
            if 0 <= feature < len(self.order):
                return int(feature)
        else:
            found = np.flatnonzero(np.asarray(self.feature_names, dtype=object) == feature)
            if len(found):
                return int(found[0])
        raise ParameterError(
            f"feature={feature!r} is none of the {len(self.order)} features; give the name of a feature, or a column "
            f"number from 0 to {len(self.order) - 1}.",
            parameter="feature",
            value=feature,
        )

    @cached_property
    def _ranks(self) -> np.ndarray:
        return ranks_of(self.order)

    @cached_property
    def _copies_of(self) -> dict[int, list[int]]:
        """The near-duplicates of every chosen feature that has some, the closest first."""
        near = np.flatnonzero((self.resembles >= 0) & ~(np.abs(self.correlation) <= self.limit))
        copies: dict[int, list[int]] = {}
        for j in near[np.argsort(-np.nan_to_num(np.abs(self.correlation[near])), kind="stable")].tolist():
            copies.setdefault(int(self.resembles[j]), []).append(j)
        return copies

    def _beaten_by(self, j: int) -> int:
        """Column number of the feature that beats feature j, or -1."""
        chosen, screened = self.chosen, self.kept is not None and not self.kept[j]
        unreal = self.qvalues is not None and not self.qvalues[j] <= self.alpha
        if not len(chosen) or screened or unreal or np.isnan(self.scores[j]) or self._ranks[j] <= self.n_chosen:
            return -1
        if self.resembles[j] >= 0 and not abs(self.correlation[j]) <= self.limit:
            return int(self.resembles[j])
        if self.gains is not None:
            return int(chosen[-1])
        sign = 1.0 if self.greater_is_better else -1.0
        better = chosen[sign * self.scores[chosen] >= sign * self.scores[j]]
        return int(better[-1]) if len(better) else -1

    def _obstacle(self, j: int) -> str:
        """Why a feature was not chosen, as part of a sentence."""
        if self.kept is not None and not self.kept[j]:
            return "the screen dropped it as noise"
        if np.isnan(self.scores[j]):
            return "it has no score (constant on the rows that were read, or 0/0)"
        if self.qvalues is not None and not self.qvalues[j] <= self.alpha:
            return f"not significant (q = {_number(self.qvalues[j])}, above {self.alpha:g})"
        left = "" if self.gains is None else f"it would still add {self._gain(j)}"
        by = self._beaten_by(j)
        if by < 0:
            return left or f"score {_number(self.scores[j])}"
        if by == self.resembles[j] and not abs(self.correlation[j]) <= self.limit:
            r = "" if np.isnan(self.correlation[j]) else f" (r = {self.correlation[j]:.2f})"
            return f"a near-duplicate of {self._name(by)!r}{r}, which was chosen" + (f"; {left}" if left else "")
        if left:
            return f"{left}; {self._name(by)!r} was better at the last step"
        scores = f"{_number(self.scores[j])} is not better than {_number(self.scores[by])}"
        return f"its score {scores} of {self._name(by)!r}, which was chosen"

    def _measures(self) -> list[tuple[str, np.ndarray]]:
        """Optional columns by name."""
        optional = (("relevance", self.relevance), ("q", self.qvalues))
        return [(name, values) for name, values in optional if values is not None]

    def _title(self) -> str:
        title = f"{self.n_chosen} of {len(self.order)} features chosen by {self.criterion}"
        if self.explained is None:
            return f"{title}; {direction(self.greater_is_better)}"
        reached = self.explained[self.chosen]
        reached = reached[np.isfinite(reached)]
        return f"{title}, which explain {_percent(reached[-1])}" if len(reached) else title

    def _table(self, most: int) -> tuple[list[str], list[list[str]]]:
        """Header and rows of the chosen features as text."""
        values: list[tuple[str, np.ndarray, Any]] = []
        if self.gains is not None and self.explained is not None:
            values += [("gain", self.gains, self._gain_text), ("explained", self.explained, _percent)]
        else:
            values += [("score", self.scores, _number), ("lead", np.asarray(self.lead), _number)]
        values += [(name, column, _number) for name, column in self._measures()]
        header = ["rank", "feature", *(name for name, _, _ in values), "stands for"]
        rows = []
        for place, j in enumerate(self.chosen[:most].tolist(), 1):
            cells = [text(column[j]) for _, column, text in values]
            rows.append([str(place), self._name(j), *cells, _listed(self.copies(j))])
        return header, rows

    def _gain(self, j: int) -> str:
        return "" if self.gains is None else self._gain_text(self.gains[j])

    def _gain_text(self, gain: float) -> str:
        """A gain as a share, or as a number if there is no total that it is a share of."""
        shares = self.explained is not None and np.isfinite(self.explained[self.chosen]).any()
        return _percent(gain) if shares else _number(gain)

    def _name(self, j: int) -> str:
        return printable(self.feature_names[j], _LONGEST)


def _percent(share: float) -> str:
    """A share as text with two digits or more; small shares keep their first digit."""
    if not np.isfinite(share):
        return ""
    return f"{100 * share:.1f} %" if abs(share) >= 0.01 else f"{100 * share:.2g} %"


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.3g}"


def _listed(copies: list[tuple[str, float]], most: int = _COPIES) -> str:
    """Near-duplicates as text."""
    shown = [printable(name, _LONGEST) + ("" if np.isnan(r) else f" ({r:.2f})") for name, r in copies[:most]]
    more = f" and {len(copies) - most} more" if len(copies) > most else ""
    return ", ".join(shown) + more


def explained(
    choice: Choice, criterion: Criterion, names: list[str], problem: Problem | None, alpha: float, limit: float
) -> Explanation:
    """The explanation of a choice; near-duplicates and the relevance of a ranking are read from a problem."""
    scores, order, n, relevance = choice.scores, choice.order, choice.n_chosen, choice.relevance
    m, others, r = len(scores), order[n:], np.full(len(scores), np.nan)
    resembles = np.full(m, -1, dtype=np.intp) if choice.stands_for is None else choice.stands_for.copy()
    resembles[order[:n]] = -1
    beaten = others[resembles[others] < 0]  # near-duplicates that were passed over did not lose by their score
    if problem is not None:
        resembles[others], r[others] = resemblance(problem, order[:n], others)
        if relevance is None:
            relevance = Relevance().resolved().weights(problem)
    reached = np.full(m, np.nan)
    if choice.explained is not None:
        path = order[: min(n, len(choice.explained))]
        reached[path] = choice.explained[: len(path)]
    is_set = choice.shares is not None
    return Explanation(
        criterion=repr(criterion),
        greater_is_better=criterion.greater_is_better,
        feature_names=np.array(names, dtype=object),
        order=order,
        n_chosen=n,
        scores=scores,
        gains=choice.gains,
        explained=reached if is_set else None,
        lead=None if is_set else lead_over(beaten, scores, criterion.greater_is_better),
        relevance=relevance,
        qvalues=choice.qvalues,
        alpha=alpha,
        kept=choice.kept,
        resembles=resembles,
        correlation=r,
        limit=limit,
    )


def lead_over(rest: np.ndarray, scores: np.ndarray, greater_is_better: bool) -> np.ndarray:
    """How much better each score is than the mean score of some features, in standard deviations of their scores.

    Examples
    --------
    >>> import numpy as np
    >>> lead_over(np.array([1, 2, 3]), np.array([9.0, 1.0, 3.0, np.nan]), greater_is_better=True)
    array([ 7., -1.,  1., nan])
    """
    known = scores[rest][np.isfinite(scores[rest])]
    spread = float(known.std()) if len(known) else 0.0
    if not spread > 0.0:
        return np.full(len(scores), np.nan)
    return (1.0 if greater_is_better else -1.0) * (scores - known.mean()) / spread
