"""What chooses columns on this page: methods of the library with and without a screen, and four from elsewhere.

CUR takes, step by step, the column with the largest weight in the leading right singular vector of what the chosen
columns leave (Mahoney and Drineas 2009, in its deterministic form). FPS takes the column that is farthest from all
chosen ones (farthest point sampling). LLCFS and the gated Laplacian are in :mod:`benchmarks.noise.rivals`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

from fiedler import SpectralSelector

from .rivals import gated, llcfs

Order = Callable[[Any, int], np.ndarray]  # X and a number k -> the k best columns, best first


def by_selector(criterion: Any, **options: Any) -> Callable[..., np.ndarray]:
    """The first columns of a fitted selector; labels go to those that read them."""

    def order(X: Any, number: int, *known: Any) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            selector = SpectralSelector(criterion, n_features_to_select=number, **options)
            return selector.fit(X, *known).order_[:number]

    return order


def cur(X: Any, number: int) -> np.ndarray:
    """CUR: the gram matrix of what is left is kept up to date, so that no residual is formed."""
    C = centred(X)
    G, chosen, Q = C @ C.T, list[int](), np.empty((len(C), 0))
    for _ in range(number):
        u = eigh(G, subset_by_index=[len(G) - 1, len(G) - 1])[1][:, 0]
        weight = np.abs(u @ C)
        weight[chosen] = -1.0
        chosen.append(int(np.argmax(weight)))
        q = C[:, chosen[-1]] - Q @ (Q.T @ C[:, chosen[-1]])
        q = q / (np.linalg.norm(q) or 1.0)
        Q = np.column_stack([Q, q])
        G = G - np.outer(q, q @ G)
        G = G - np.outer(G @ q, q)
    return np.array(chosen)


def fps(X: Any, number: int) -> np.ndarray:
    """Farthest point sampling, from the longest column on."""
    C = centred(X)
    squares = np.einsum("ij,ij->j", C, C)
    chosen = [int(np.argmax(squares))]
    far = np.full(C.shape[1], np.inf)
    while len(chosen) < number:
        last = chosen[-1]
        far = np.minimum(far, squares + squares[last] - 2.0 * (C[:, last] @ C))
        far[chosen] = -1.0
        chosen.append(int(np.argmax(far)))
    return np.array(chosen)


def centred(X: Any) -> np.ndarray:
    X = X.toarray() if sp.issparse(X) else np.asarray(X, dtype=np.float64)
    return X - X.mean(axis=0)


FREE: dict[str, Order] = {
    "variance": by_selector("variance"),
    "EVSC": by_selector("evsc"),
    "FPS": fps,
    "CUR": cur,
    "LLCFS": llcfs,
    "gated Laplacian": gated,
    "SPEC": by_selector("spec"),
    "LS": by_selector("laplacian"),
    "subset": by_selector("subset"),
    "subset, fdr": by_selector("subset", screen="fdr"),
    "LS, agreement": by_selector("laplacian", screen="agreement"),
    "subset, agreement": by_selector("subset", screen="agreement"),
}
KNOWING: dict[str, Callable[..., np.ndarray]] = {
    f"{name}{', agreement' * bool(screen)}": by_selector(criterion, screen=screen)
    for name, criterion in {"sSelect": "sselect", "C4": "constraint[variant=4]", "SSLS": "ssls"}.items()
    for screen in (None, "agreement")
}
