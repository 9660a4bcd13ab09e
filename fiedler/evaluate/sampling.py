"""A random sample of the rows for evaluations whose time grows with the square of the number of rows."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .curves import Target


def sampled_rows(n: int, most: int, target: Target | None, pairs: Iterable[np.ndarray], seed: int) -> np.ndarray:
    """``most`` of n rows, sorted.

    Rows of pairs, and rows of every class (or rows with a known target), are taken first, up to half of the sample. So
    rare classes and few known labels stay in the sample. All other rows are equally likely.

    Examples
    --------
    >>> import numpy as np
    >>> from fiedler.evaluate.curves import Target
    >>> from fiedler.evaluate.sampling import sampled_rows
    >>> classes = np.repeat([0, 1], [997, 3])
    >>> rows = sampled_rows(1000, 50, Target(classes, np.arange(1000), "accuracy"), [], 0)
    >>> len(rows), np.bincount(classes[rows]).tolist()
    (50, [47, 3])
    """
    order = np.random.default_rng(seed).permutation(n)
    place = np.empty(n, dtype=np.intp)
    place[order] = np.arange(n)
    needed = [np.asarray(given).reshape(-1, 2) for given in pairs]
    groups = [_by_pairs(np.concatenate(needed), place)] if needed else []
    if target is not None:
        known = order[np.isin(order, target.known)]
        codes = target.values[known] if target.metric == "accuracy" else np.zeros(len(known))
        groups += [known[codes == code] for code in np.unique(codes)]
    each = max(2, most // (2 * max(len(groups), 1)))
    chosen = np.concatenate([*(group[:each] for group in groups), order])
    first = np.sort(np.unique(chosen, return_index=True)[1])[:most]
    return np.sort(chosen[first])


def _by_pairs(pairs: np.ndarray, place: np.ndarray) -> np.ndarray:
    """The rows of pairs in random order of the pairs, each once, so that most of the pairs that are cut are whole."""
    rows = pairs[np.argsort(place[pairs[:, 0]], kind="stable")].ravel()
    return rows[np.sort(np.unique(rows, return_index=True)[1])]
