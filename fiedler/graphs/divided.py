"""Graphs on blocks of rows, such as slides, batches or donors: no edge joins two blocks.

    energy(f) = Σ_b f_b'L_b f_b,   mass(f) = Σ_b f̃_b'D_b f̃_b        f_b: f in block b, scaled to Σ(f_b - mean)² = n_b

So a shift or another unit in one block changes no score.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..data.arrays import Block
from ..engine.permuted import standards
from ..validation import is_sparse
from .graph import CsrGraph, Graph


class DividedGraph(Graph):
    """A graph that consists of one graph per block of rows, which keep their storage.

    Parameters
    ----------
    parts : list of (ndarray of int, Graph)
        The rows of every block, and the graph on them.
    n_nodes : int
        Number of rows of all blocks.
    """

    storage = "csr"
    _parts: list[tuple[Any, Graph]]

    def __init__(self, parts: list[tuple[np.ndarray, Graph]], n_nodes: int):
        degree = np.zeros(n_nodes)
        for rows, graph in parts:
            degree[rows] = graph.degree
        vars(self).update(_parts=list(parts))
        super().__init__(n_nodes, degree)

    @property
    def parts(self) -> list[tuple[np.ndarray | None, Graph]]:
        return self._parts

    def for_columns(self, n_columns: int) -> Graph:
        twin = super().for_columns(n_columns)
        vars(twin).update(_parts=[(rows, graph.for_columns(n_columns)) for rows, graph in self._parts])
        return twin

    # ---------------------------------------------------------------- the matrix

    def dot(self, V: np.ndarray) -> np.ndarray:
        product = np.zeros_like(V, dtype=np.float64)
        for rows, graph in self._parts:
            product[rows] = graph.dot(V[rows])
        return product

    @cached_property
    def csr(self) -> sp.csr_array:
        """The whole matrix W, formed when it is first asked for."""
        entries = list[tuple[np.ndarray, np.ndarray, np.ndarray]]()
        for rows, graph in self._parts:
            W = sp.coo_array(graph.toarray() if graph.csr is None else graph.csr)
            entries.append((W.data, rows[W.row], rows[W.col]))
        data, i, j = (np.concatenate(each) for each in zip(*entries, strict=True))
        return sp.csr_array((data, (i, j)), shape=(self.n_nodes, self.n_nodes))

    def upper(self) -> sp.csr_array:
        return sp.csr_array(sp.triu(self.csr, 1, format="csr"))

    def _pattern(self) -> sp.csr_array:
        return self.csr

    def trace(self) -> float:
        return sum(graph.trace() for _, graph in self._parts)

    def submatrix(self, nodes: np.ndarray) -> np.ndarray:
        return self.csr[nodes][:, nodes].toarray()

    def _induced(self, nodes: np.ndarray, degree: np.ndarray | None) -> Graph:
        own = next((graph for rows, graph in self._parts if np.array_equal(rows, nodes)), None)
        return CsrGraph(self.csr[nodes][:, nodes], degree) if own is None else own

    @property
    def n_edges(self) -> int:
        return sum(graph.n_edges for _, graph in self._parts)

    # ---------------------------------------------------------------- column-wise forms

    def energy(self, F: Block) -> np.ndarray:
        """The sum of the energies of the standardised blocks."""
        return self._summed(F, lambda graph, here: graph.energy(here))

    def moments(self, F: Block) -> tuple[np.ndarray, np.ndarray]:
        """The mean over all rows, and the sum of the masses of the standardised blocks."""
        return super().moments(F)[0], self._summed(F, lambda graph, here: graph.mass(here))

    def _summed(self, F: Block, form: Callable[[Graph, Block], np.ndarray]) -> np.ndarray:
        total, by_row = np.zeros(F.shape[1]), F.tocsr() if is_sparse(F) else F
        for rows, graph in self._parts:
            here = sp.csc_array(by_row[rows]) if is_sparse(F) else F[rows]
            square = standards(here, graph.active).scale ** 2
            total += np.divide(form(graph, here), square, out=np.zeros_like(total), where=square > 0)
        return total
