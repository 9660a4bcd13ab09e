"""Null distributions by permutation of the feature values or of the labels, for scores without a closed form.

    p = (1 + number of permutations with a score at least as good) / (B + 1)        never below 1 / (B + 1)

Both are exact for any graph that was not built from the feature.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..criteria.closed_form import Verdict, rarer_value
from ..criteria.disagreement import disagreement
from ..data.arrays import Block
from ..engine.blocks import is_constant
from ..engine.permuted import standards
from ..graphs import Graph
from ..validation import is_sparse

_TIED = 1e-12  # scores with a smaller relative difference count as equal
_AT_ONCE = 64  # number of permutations of the labels in one matrix product


def permuted_features(
    rows: np.ndarray,
    score: Callable[[Block], np.ndarray],
    n_permutations: int,
    greater_is_better: bool,
    nonnegative: bool,
    seed: Any,
    blocks: Sequence[np.ndarray] = (),
) -> Callable[[Block], Verdict]:
    """The null distribution of any score, by permuting the values of a feature on the rows that the score reads.

    Values are permuted inside blocks of rows only, if there are blocks.
    The effect size is 1 - score / mean if small is good, and 1 - mean / score if large is good. It is NaN for scores
    that can be negative.
    """
    sign = -1.0 if greater_is_better else 1.0
    exchanged = [inside[rows[inside]] for inside in blocks or [np.arange(len(rows))]]

    def test(F: Block) -> Verdict:
        raw = np.where(is_constant(F, rows), np.nan, score(F))
        drawn = Draws(sign * raw)
        # The same permutations for every block of columns.
        rng, order = np.random.default_rng(seed), np.arange(F.shape[0])
        for _ in range(n_permutations):
            for nodes in exchanged:
                order[nodes] = rng.permutation(nodes)
            drawn.add(sign * score(reordered(F, order)))
        ratio = raw / (sign * drawn.mean) if nonnegative else np.full(len(raw), np.nan)
        return drawn.verdict(1.0 - (1.0 / ratio if greater_is_better else ratio), F, rows)

    return test


def permuted_labels(
    rows: np.ndarray,
    score: Callable[[Block], np.ndarray],
    weight: float,
    graph: Graph,
    codes: np.ndarray,
    n_permutations: int,
    seed: Any,
) -> Callable[[Block], Verdict]:
    """The null distribution of a score with a term ``weight`` (1 - NMI(sign(f̃), y)), by permuting the labels.

    Only the counts of positive signs per class change. A few products give them for all permutations and features.
    """
    labelled = np.flatnonzero(codes >= 0)
    known, classes = codes[labelled], np.arange(codes.max() + 1)[:, None]
    sizes = np.bincount(known).astype(np.float64)[:, None]

    def test(F: Block) -> Verdict:
        positive = (graph.centred_rows(F, labelled) >= 0).astype(np.float64)
        raw = np.where(is_constant(F, rows), np.nan, score(F))
        rest = raw - weight * disagreement((known == classes) @ positive, sizes)
        drawn, rng = Draws(raw), np.random.default_rng(seed)
        for start in range(0, n_permutations, _AT_ONCE):
            orders = rng.permuted(np.tile(known, (min(_AT_ONCE, n_permutations - start), 1)), axis=1)
            member = (orders[:, None, :] == classes).astype(np.float64)
            for counts in member @ positive:
                drawn.add(rest + weight * disagreement(counts, sizes))
        return drawn.verdict(1.0 - raw / drawn.mean, F, rows)

    return test


class Draws:
    """Comparison of a score, for which small is good, with the scores of permutations."""

    def __init__(self, score: np.ndarray):
        self._score = score
        self._limit = score + np.where(np.isfinite(score), _TIED * np.abs(score), 0.0)
        self._n, self._as_good = 0, np.zeros(len(score))
        self._sum, self._squares = np.zeros(len(score)), np.zeros(len(score))

    def add(self, drawn: np.ndarray) -> None:
        """Add one permutation; an undefined score counts as equally good."""
        away = drawn - self._score
        self._n += 1
        self._as_good += ~(drawn > self._limit)
        self._sum += away
        self._squares += away * away

    @property
    def mean(self) -> np.ndarray:
        return self._score + self._sum / self._n

    def verdict(self, effect: np.ndarray, F: Block, rows: np.ndarray) -> Verdict:
        """The test results for the columns of F."""
        away = self._sum / self._n
        spread = np.sqrt(np.maximum(self._squares / self._n - away**2, 0.0))
        z = np.divide(-away, spread, out=np.where(np.isnan(away), np.nan, 0.0), where=spread > 0)
        p = np.where(np.isnan(self._score), np.nan, (1.0 + self._as_good) / (1.0 + self._n))
        n = int(np.count_nonzero(rows))
        return Verdict(p, z, effect, rarer_value(*standards(F, rows)[3:5], n), np.zeros(len(p)))


def reordered(F: Block, order: np.ndarray) -> Block:
    """The rows of a block in another order: row i is the former row order[i]. A sparse block stays sparse."""
    if not is_sparse(F):
        return F[order]
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    moved = sp.csc_array((F.data.copy(), place[F.indices].astype(F.indices.dtype), F.indptr), shape=F.shape)
    moved.sort_indices()
    return moved
