"""Choices of columns beside the papers' rankings: the library's set methods and the peers.

``subset`` is told what a draw shows; what it chooses without being told comes from :meth:`Choices.free`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fiedler import KNN, Explained, Relevance, SmoothSubset
from fiedler.criteria import Criterion
from fiedler.criteria.relevance import Parts
from fiedler.problem import Problem
from fiedler.selection.ranking import rank

from . import outside, peers
from .rankings import Orders, Rankings, variant

POWERS = (1.0, 0.25)  # of the residual's norm, beside the library's
NEIGHBORS = (3, 10)
NARROW = 100  # columns up to which sequential selection is affordable
SAFER = "subset, safer floor"


class SaferRelevance(Relevance):
    """The relevance of classes with a floor that falls later, the deviation of F where there is no relation.

    floor = √(2 d1 (d1+d2-2) / ((d2-2)² (d2-4))),  r = 1 for all up to d2 = 4
    """

    def _parts_of(self, problem: Problem) -> Parts | None:
        known = problem.supervision.classes("SaferRelevance")[0]
        d1, d2 = int(known.max()), int(np.sum(known >= 0)) - int(known.max()) - 1
        parts = super()._parts_of(problem) if d2 > 4 else None
        if parts is not None:
            parts.floor = float(np.sqrt(2.0 * d1 * (d1 + d2 - 2) / ((d2 - 2) ** 2 * (d2 - 4))))
        return parts


_SAFER = SaferRelevance(KNN(5)) * Explained(KNN(5))


class Choices:
    """Columns chosen on one set, best first, as many as are judged."""

    def __init__(self, rankings: Rankings, draws: Sequence[np.ndarray]):
        self.rankings, self.data, self.most = rankings, rankings.data, rankings.data.sizes[-1]
        self._block = rankings.block(np.arange(len(self.data.y)))
        chosen = outside.told(self._block, self.most, [(rows, self._known(rows)) for rows in draws])
        self._fastcan = {rows.tobytes(): found for rows, found in zip(draws, chosen, strict=True)}

    def free(self) -> Orders:
        """Told nothing."""
        problem = self.rankings.problem
        found = {"subset": self._path(SmoothSubset(), problem)}
        if self.rankings.grids:
            others = {variant("subset", power=power): SmoothSubset(power=power) for power in POWERS}
            others |= {variant("subset", k=k): SmoothSubset(KNN(k)) for k in NEIGHBORS}
            found |= {name: self._path(criterion, problem) for name, criterion in others.items()}
        n_clusters = int(self.data.y.max()) + 1 if self.data.has_classes else 5
        found["mcfs"] = peers.mcfs(problem, self._block, n_clusters, self.most)
        return found | outside.free(self._block, self.most)

    def with_labels(self, rows: np.ndarray, rng: np.random.Generator) -> Orders:
        """Told the classes of the given rows; no peer can do anything with one row of each class."""
        told = self.rankings.whole_set(rows, self.data.y[rows])
        found = {"subset": self._path(SmoothSubset(), told), SAFER: self._path(_SAFER, told)}
        if np.bincount(self.data.y[rows]).max() < 2:
            return found
        narrow = {"sequential": peers.sequential} if self.data.X.shape[1] < NARROW else {}
        return found | self._peers(peers.WITH_CLASSES | narrow, rows, rng)

    def with_pairs(self, must: np.ndarray, cannot: np.ndarray) -> Orders:
        """Told pairs, and told the classes of the rows that they touch."""
        rows = np.unique(np.concatenate([must, cannot]))
        told = self.rankings.problem.with_supervision(must_link=must, cannot_link=cannot)
        labelled = self.rankings.whole_set(rows, self.data.y[rows])
        return {"subset": self._path(SmoothSubset(), told), "subset, labels": self._path(SmoothSubset(), labelled)}

    def with_targets(self, rows: np.ndarray, rng: np.random.Generator) -> Orders:
        """Told the real targets of the given rows."""
        found = {"subset": self._path(SmoothSubset(), self.rankings.whole_set(rows, self._known(rows)))}
        return found | self._peers(peers.WITH_TARGETS, rows, rng)

    def _known(self, rows: np.ndarray) -> np.ndarray:
        return self.data.y[rows] if self.data.has_classes else self.rankings.standard(rows)

    def _path(self, criterion: Criterion, problem: Problem) -> np.ndarray:
        return rank(criterion, problem, self.most).order[: self.most]

    def _peers(self, chosen: Mapping[str, peers.Peer], rows: np.ndarray, rng: np.random.Generator) -> Orders:
        block, y = self.rankings.block(rows), self._known(rows)
        found = {name: peer(block, y, self.most, rng) for name, peer in chosen.items()}
        chosen_outside = self._fastcan.get(rows.tobytes())
        if chosen_outside is not None:
            found["fastcan"] = peers.filled(chosen_outside, peers.f_statistic(block, y))
        return {name: order[: self.most] for name, order in found.items()}
