"""Which row or pair to ask the expert about next: Σ-optimality on the neighbour graph.

    K = (L / mean degree + 0.01 I)⁻¹ on KNN(5);   ask argmax_i (1'Ke_i)² / (K_ii + 0.1)
    a label of row i:  K -= kk' / (K_ii + 0.1),  k = Ke_i

The rows that are suggested first represent many other rows. It is not shown that they are better than random rows.
"""

from __future__ import annotations

import numpy as np

from ..graphs import KNN
from ..problem import Problem
from .answers import Known

_NEIGHBORS, _PRIOR, _NOISE = 5, 0.01, 0.1
MOST_ROWS = 2000  # K is a dense matrix over these rows


class Asking:
    """The next row or pair to ask about.

    Parameters
    ----------
    problem : Problem
        The rows of the map.
    rows : ndarray of int
        Their numbers in the table.
    """

    def __init__(self, problem: Problem, rows: np.ndarray):
        n = problem.n_samples
        self._places = np.unique(np.linspace(0, n - 1, min(n, MOST_ROWS)).astype(np.intp))
        self.rows = rows[self._places]
        self._problem = problem
        self._K: np.ndarray | None = None

    @property
    def K(self) -> np.ndarray:
        """The covariance of the rows before any answer."""
        if self._K is None:
            some = len(self._places) < self._problem.n_samples
            part = self._problem.take_rows(self._places) if some else self._problem
            graph = part.graph(KNN(min(_NEIGHBORS, max(1, part.n_samples - 1))))
            L = np.diag(graph.degree) - graph.toarray()
            mean = float(graph.degree.mean())
            self._K = np.linalg.inv(L / (mean if mean > 0 else 1.0) + _PRIOR * np.eye(len(L)))
        return self._K

    def _after(self, told: np.ndarray) -> np.ndarray:
        """K after answers about some rows; one block update equals one update per row."""
        K = self.K
        if not len(told):
            return K
        some = K[:, told]
        return K - some @ np.linalg.solve(K[np.ix_(told, told)] + _NOISE * np.eye(len(told)), some.T)

    def next_row(self, told: set[int]) -> int | None:
        """The row that represents most of the others, given those that are known.

        Parameters
        ----------
        told : set of int
            Rows that are known.

        Returns
        -------
        row : int or None
            Its number in the table; None if every row is known.
        """
        known = np.isin(self.rows, sorted(told))
        if known.all():
            return None
        K = self._after(np.flatnonzero(known))
        value = K.sum(axis=0) ** 2 / (np.diag(K) + _NOISE)
        value[known] = -np.inf
        return int(self.rows[int(np.argmax(value))])

    def next_pair(self, known: Known) -> tuple[int, int] | None:
        """The next pair: one row against one member of every known group, the likeliest group first.

        A row that was compared with some groups only is finished before the next row is asked.

        Parameters
        ----------
        known : Known
            What is known about the rows.

        Returns
        -------
        pair : (int, int) or None
            Two row numbers; None if nothing is left to ask.
        """
        groups = known.groups()
        inside = {row for rows in groups for row in rows}
        home = {row: at for at, rows in enumerate(groups) for row in rows}
        apart = {frozenset((home[i], home[j])) for (i, j), (link, _) in known.pairs.items() if link == "cannot"}
        lately = [row for rows in known.pairs for row in rows][::-1]  # pairs keep the order in which they were given
        for row in dict.fromkeys(lately):
            if len(groups[home[row]]) == 1:
                others = [g for g in range(len(groups)) if g != home[row] and frozenset((g, home[row])) not in apart]
                if others:
                    return self._pair(row, [groups[g] for g in others])
        new = self.next_row(inside)
        if new is None:
            return None
        if groups:
            return self._pair(new, groups)
        other = self.next_row({new})
        return None if other is None else (min(new, other), max(new, other))

    def _pair(self, row: int, groups: list[list[int]]) -> tuple[int, int]:
        """The row and a member of the group that is nearest to it in K."""
        place = {int(number): at for at, number in enumerate(self.rows)}

        def nearness(other: int) -> float:
            return float(self.K[place[row], place[other]]) if row in place and other in place else -np.inf

        best = [max(group, key=nearness) for group in groups]
        other = max(best, key=nearness)
        return min(row, other), max(row, other)
