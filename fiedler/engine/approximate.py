"""Approximate neighbours for many rows: an inverted file searched until its recall, measured on a sample, is enough.

The index comes from faiss (extra ``fast``). How many of its cells are searched is not guessed: the exact neighbours of
a sample of rows are found first, and the search widens until it finds at least 97 % of them. Where rows are nearly
equidistant, as in noise, that comes to a search through everything, which the exact one does faster; where that too
would take long, the search ends after some minutes of work, and the recall tells how far it came.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec

import numpy as np

from .trees import without_self

_WANTED_RECALL = 0.97  # on the sample, so that 0.95 holds on the rest
_SAMPLE = 256
_OPERATIONS = 1e12  # multiplications at most, however low the recall: some minutes on two cores
_BRUTE_FORCE = 0.2  # share of the cells from which an exact search, by products of matrices, is faster


@cache
def available() -> bool:
    """Whether faiss is installed."""
    return find_spec("faiss") is not None


def search(X: np.ndarray, k: int, n_threads: int, or_exact: bool = False) -> tuple[np.ndarray, float] | None:
    """Indices (n, k) of approximate nearest neighbours of the rows of a float32 X, self excluded, and their recall.

    With ``or_exact`` None where an exact search is faster.
    """
    import faiss

    faiss.omp_set_num_threads(n_threads)
    n, m = X.shape
    n_cells = max(1, int(2 * np.sqrt(n)))
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(m), m, n_cells)
    index.cp.seed = 0
    rng = np.random.default_rng(0)
    index.train(X[np.sort(rng.choice(n, min(n, 50 * n_cells), replace=False))])
    index.add(X)

    sample = np.sort(rng.choice(n, min(n, _SAMPLE), replace=False))
    flat = faiss.IndexFlatL2(m)
    flat.add(X)
    exact = without_self(flat.search(X[sample], k + 1)[1], sample)
    most = min(n_cells, max(4, int(n_cells * _OPERATIONS / (float(n) * n * m))))
    index.nprobe, recall = 2, 0.0
    while recall < _WANTED_RECALL and index.nprobe < most:
        index.nprobe = min(2 * index.nprobe, most)
        found = without_self(index.search(X[sample], k + 1)[1], sample)
        recall = float(np.mean([len(np.intersect1d(a, b)) / k for a, b in zip(found, exact, strict=True)]))
    if or_exact and index.nprobe > _BRUTE_FORCE * n_cells:
        return None
    return without_self(index.search(X, k + 1)[1], np.arange(n)), recall
