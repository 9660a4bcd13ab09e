"""The selectors of this page; each is ``select(X, k, random_state) -> order``, the k chosen columns, best first.

A selector of your own: add a line to ``SELECTORS``, and run ``python -m benchmarks.field --methods NAME``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from fiedler import KNN, Explained, SpectralSelector

from ..contenders import missing
from ..noise.contenders import centred, cur, fps
from ..study.peers import fastcan_components, filled, skmatter_cur, skmatter_fps
from .rivals import ndfs, pfa, udfs

Select = Callable[[Any, int, int], np.ndarray]


def by_selector(criterion: Any, **options: Any) -> Select:
    """The columns that a fitted selector chooses."""

    def select(X: Any, k: int, random_state: int) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return SpectralSelector(criterion, n_features_to_select=k, **options).fit(X).order_[:k]

    return select


def at_random(X: Any, k: int, random_state: int) -> np.ndarray:
    return np.random.default_rng(random_state).permutation(X.shape[1])[:k]


def by_package(peer: Callable[[np.ndarray, int], np.ndarray]) -> Select:
    """The columns that another package chooses. If it finds fewer than k, those of the largest variance follow."""

    def select(X: Any, k: int, random_state: int) -> np.ndarray:
        C = centred(X)
        return filled(peer(C, k), np.einsum("ij,ij->j", C, C))[:k]

    return select


SELECTORS: dict[str, Select] = {
    "subset": by_selector("subset"),
    "Explained(KNN(5), of='graph', power=1)": by_selector(Explained(KNN(5), of="graph", power=1)),
    "mcfs": by_selector("mcfs"),
    "mrsf": by_selector("mrsf"),
    "trace_ratio": by_selector("trace_ratio"),
    "laplacian": by_selector("laplacian"),
    "laplacian, redundancy=True": by_selector("laplacian", redundancy=True),
    "spec[gamma=4]": by_selector("spec[gamma=4]"),
    "evsc": by_selector("evsc"),
    "variance": by_selector("variance"),
    "variance, redundancy=True": by_selector("variance", redundancy=True),
    "CUR": lambda X, k, random_state: cur(X, k),
    "FPS": lambda X, k, random_state: fps(X, k),
    "scikit-matter CUR": by_package(skmatter_cur),
    "scikit-matter FPS": by_package(skmatter_fps),
    "fastcan": by_package(fastcan_components),
    "PFA": pfa,
    "UDFS": udfs,
    "NDFS": ndfs,
    "random": at_random,
}


def installed(methods: Iterable[str]) -> tuple[list[str], list[str]]:
    """The selectors that can run here, and why the others cannot."""
    reasons = {method: missing(method) for method in methods}
    return [method for method, why in reasons.items() if why is None], [why for why in reasons.values() if why]


# Four settings of each, the default first: what choosing among them by the labels brings.
GRIDS: dict[str, list[Select]] = {
    "subset": [by_selector(f"subset[graph=knn[n_neighbors={k}]]") for k in (5, 3, 10, 20)],
    "mcfs": [by_selector("mcfs"), *(by_selector(f"mcfs[n_clusters={c}]") for c in (3, 5, 10))],
    "mrsf": [by_selector("mrsf"), *(by_selector(f"mrsf[n_clusters={c}]") for c in (3, 5, 10))],
    "trace_ratio": [by_selector(f"trace_ratio[graph=knn[n_neighbors={k}]]") for k in (10, 3, 5, 20)],
    "laplacian": [by_selector(f"laplacian[graph=knn[n_neighbors={k}]]") for k in (10, 3, 5, 20)],
    "UDFS": [partial(udfs, gamma=gamma) for gamma in (0.1, 0.001, 10.0, 1000.0)],
    "NDFS": [partial(ndfs, beta=beta) for beta in (1.0, 0.01, 100.0, 10_000.0)],
    "random": [lambda X, k, random_state, first=first: at_random(X, k, 100 * first) for first in range(4)],
}
DRAWS = {"random": 10}  # how often a selector with chance in it is run
