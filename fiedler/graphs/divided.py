"""Graphs on blocks of rows, such as slides, batches or donors: no edge joins two blocks.

    energy(f) = Σ_b f_b'L_b f_b,   mass(f) = Σ_b f̃_b'D_b f̃_b        f_b: f in block b, scaled to Σ(f_b - mean)² = n_b

So a shift or another unit in one block changes no score.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..data.arrays import Block
from ..engine.permuted import standards
from ..validation import is_sparse
from .graph import CsrGraph, Graph


class DividedGraph(CsrGraph):
    """A graph that consists of one graph per block of rows.

    Parameters
    ----------
    parts : list of (ndarray of int, Graph)
        The rows of every block, and the graph on them.
    n_nodes : int
        Number of rows of all blocks.
    """

    _parts: list[tuple[np.ndarray | None, Graph]]

    def __init__(self, parts: list[tuple[np.ndarray, Graph]], n_nodes: int):
        degree = np.zeros(n_nodes)
        entries = list[tuple[np.ndarray, np.ndarray, np.ndarray]]()
        for rows, graph in parts:
            W = sp.coo_array(graph.toarray() if graph.csr is None else graph.csr)
            entries.append((W.data, rows[W.row], rows[W.col]))
            degree[rows] = graph.degree
        data, i, j = (np.concatenate(each) for each in zip(*entries, strict=True))
        vars(self).update(_parts=list(parts))
        super().__init__(sp.csr_array((data, (i, j)), shape=(n_nodes, n_nodes)), degree)

    @property
    def parts(self) -> list[tuple[np.ndarray | None, Graph]]:
        return self._parts

    def for_columns(self, n_columns: int) -> Graph:
        twin = super().for_columns(n_columns)
        vars(twin).update(_parts=[(rows, graph.for_columns(n_columns)) for rows, graph in self._parts])
        return twin

    def energy(self, F: Block) -> np.ndarray:
        """The sum of the energies of the standardised blocks."""
        return self._summed(F)[0]

    def moments(self, F: Block) -> tuple[np.ndarray, np.ndarray]:
        """The mean over all rows, and the sum of the masses of the standardised blocks."""
        return super().moments(F)[0], self._summed(F)[1]

    def _summed(self, F: Block) -> np.ndarray:
        total, by_row = np.zeros((2, F.shape[1])), F.tocsr() if is_sparse(F) else F
        rows: Any
        for rows, graph in self._parts:
            here = sp.csc_array(by_row[rows]) if is_sparse(F) else F[rows]
            scale = standards(here, graph.active).scale
            found = np.array([graph.energy(here), graph.mass(here)])
            total += np.divide(found, scale**2, out=np.zeros_like(found), where=scale > 0)
        return total
