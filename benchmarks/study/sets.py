"""The data sets of the study: real ones of several kinds, each scaled as its kind asks for.

| kind | scaling | why |
|---|---|---|
| text | counts as they are | as in [ZL] and [SPEC] |
| images | as they are | all pixels share one unit, so their variances can be compared |
| genes | log2, below a floor the floor | expression is multiplicative; all genes share one unit |
| tables | every column to [0, 1] | as in [KA]; columns have units of their own |
| real targets | columns and target z-scored | as in [DV], whose graphs compare the two |
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .sources import SOURCES

MAX_ROWS = 1000  # leave-one-out distances and full kernels cost n²
LABELS_PER_CLASS = (1, 2, 3, 5, 10, 20)  # of two classes: 2, 4, 6, 10, 20, 40 labels
N_TARGETS = (4, 6, 10, 20, 40)  # with two known targets every feature has correlation 1
N_PAIRS = (4, 10, 20, 40, 100, 200)
CURVE = (2, 5, 10, 20, 50)
KINDS = ("text", "images", "genes", "tables")


@dataclass(frozen=True, eq=False)
class DataSet:
    """One set, ready to be ranked: rows shuffled, at most MAX_ROWS of them, columns scaled."""

    name: str
    kind: str
    X: Any  # ndarray or csc_array
    y: np.ndarray  # class codes 0, 1, ..., or real values
    unscaled: Any  # what the variance reads: z-scored columns all have variance 1

    @property
    def has_classes(self) -> bool:
        return self.y.dtype.kind == "i"

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of features judged: 10, 20 and 50, of narrow tables an eighth, a quarter and a half."""
        m = self.X.shape[1]
        return (
            (10, 20, 50) if m >= 200 else tuple(sorted({max(1, round(m * share)) for share in (1 / 8, 1 / 4, 1 / 2)}))
        )

    @property
    def curve(self) -> tuple[int, ...]:
        """More numbers of features than sizes has, for figures; none in narrow tables."""
        return CURVE if self.X.shape[1] >= 200 else ()

    def rng(self, *key: int) -> np.random.Generator:
        """A generator of this set's own, the same in every run."""
        return np.random.default_rng([zlib.crc32(self.name.encode()), *key])

    def budgets(self) -> tuple[int, ...]:
        """Labels per class that at least half of the classes can show while half of their rows stay hidden."""
        if not self.has_classes:
            return tuple(number for number in N_TARGETS if number <= len(self.y) // 2)
        half = np.bincount(self.y) // 2
        return tuple(number for number in LABELS_PER_CLASS if np.mean(half >= number) >= 0.5)

    def shown(self, budget: int, draw: int) -> np.ndarray:
        """Rows whose labels a draw shows; a larger budget shows those of a smaller one too."""
        rows = self.rng(draw).permutation(len(self.y))
        if not self.has_classes:
            return rows[:budget]
        most = np.minimum(np.maximum(np.bincount(self.y) // 2, 1), budget)
        return np.concatenate([rows[self.y[rows] == code][:number] for code, number in enumerate(most)])


def load(name: str, max_rows: int = MAX_ROWS) -> DataSet:
    """A set of the study by name."""
    source = SOURCES[name]
    X, y = source.read()
    order = np.random.default_rng(zlib.crc32(name.encode())).permutation(len(y))[:max_rows]
    X, y = X[order], y[order]
    if source.real_target:
        y = np.asarray(y, dtype=np.float64)
        scaled, unscaled = _standard(X), X if source.kind == "spectra" else _unit_range(X)
    else:
        y = np.unique(y, return_inverse=True)[1].astype(np.int64)
        scaled = unscaled = _SCALE[source.kind](X)
    return DataSet(name, source.kind, scaled, y, unscaled)


def tf_idf(X: Any) -> sp.csc_array:
    """Counts times log(n / number of rows with the term), rows of length 1: the usual variant for text."""
    X = sp.csr_array(X)
    present = np.bincount(X.indices, minlength=X.shape[1])
    weighted = X @ sp.diags_array(np.log(X.shape[0] / np.maximum(present, 1)))
    length = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
    return sp.csc_array(sp.diags_array(1.0 / np.where(length > 0, length, 1.0)) @ weighted)


def _unit_range(X: np.ndarray) -> np.ndarray:
    low, high = X.min(axis=0), X.max(axis=0)
    return (X - low) / np.where(high > low, high - low, 1.0)


def _standard(X: np.ndarray) -> np.ndarray:
    std = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(std > 0, std, 1.0)


_SCALE = {"text": sp.csc_array, "images": np.asarray, "genes": np.asarray, "tables": _unit_range}
