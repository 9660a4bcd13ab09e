"""The data sets of all studies: real ones of several kinds, each scaled as its kind asks for.

| kind | scaling | why |
|---|---|---|
| text | counts as they are | as in [ZL] and [SPEC] |
| images | as they are | all pixels share one unit, so their variances can be compared |
| genes | log2, below a floor the floor | expression is multiplicative; all genes share one unit |
| tables | every column to [0, 1] | as in [KA]; columns have units of their own |
| real targets | columns and target z-scored | as in [DV], whose graphs compare the two |

Methods and defaults were chosen on the block "study". The held-out block had no part in any choice. Some of its data
sets share rows with one of the study (the same posts with another vocabulary, the same patients with coarser values,
the same spectra with another target): the column ``relative`` of sets.csv names it.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import datasets

from . import data
from .pages import HERE, records

MAX_ROWS = 1000  # leave-one-out distances and full kernels cost n²
LABELS_PER_CLASS = (1, 2, 3, 5, 10, 20)  # of two classes: 2, 4, 6, 10, 20, 40 labels
N_TARGETS = (4, 6, 10, 20, 40)  # with two known targets every feature has correlation 1
N_PAIRS = (4, 10, 20, 40, 100, 200)
KINDS = ("text", "images", "genes", "tables")


SOURCES = {row["set"]: row for row in records(HERE / "sets.csv")}
SMALL = ("RELATHE", "warpPIE10P", "colon_alon", "wine", "segment210", "nitrogen", "diabetes")  # of a quick run


def names(quick: bool = False, **wanted: str) -> list[str]:
    """The data sets whose columns of sets.csv (block, kind, target) are as asked for; the small ones of a quick run."""
    found = [name for name, row in SOURCES.items() if all(row[key] == value for key, value in wanted.items())]
    return [name for name in found if name in SMALL] if quick else found


def _newsgroups(*groups: str) -> tuple[Any, np.ndarray]:
    """Some groups of 20 Newsgroups, at most 250 posts of each, with the terms that occur in 5 posts or more."""
    X, y, _ = data.paper_set("NEWS20_18828")
    names = data.paper_set_info("NEWS20_18828")["groups"].tolist()
    X, y = _at_most(X, y, [names.index(group) + 1 for group in groups], 250)
    return X[:, np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]) >= 5)], y


def _at_most(X: Any, y: np.ndarray, classes: Sequence[int], rows: int) -> tuple[Any, np.ndarray]:
    order = np.random.default_rng(0).permutation(len(y))
    kept = np.concatenate([order[y[order] == label][:rows] for label in classes])
    return X[kept], y[kept]


def _fashion(part: str, classes: str, per_class: str) -> tuple[Any, np.ndarray]:
    X, y, _ = data.load_paper_set("fashion_mnist")
    rows = slice(60_000) if part == "train" else slice(60_000, None)
    X, y = _at_most(X[rows], y[rows], [int(digit) for digit in classes], int(per_class))
    return X.astype(np.float64), y


def _large_classes(name: str, rows: str) -> tuple[Any, np.ndarray]:
    """A limited number of rows from every class with 50 rows or more; repeated rows of kddcup are left out."""
    X, y, _ = data.load_paper_set(name) if name == "kddcup" else data.paper_set(name)
    if name == "kddcup":
        different = np.unique(np.column_stack([X, y]), axis=0, return_index=True)[1]
        X, y = X[different], y[different].astype(np.intp)
    return _at_most(X, y, np.flatnonzero(np.bincount(y) >= 50), int(rows))


def _thirds(name: str) -> tuple[Any, np.ndarray]:
    """Classes low, middle, high of a data set with a real target."""
    X, y, _ = data.paper_set(name)
    return X, np.searchsorted(np.quantile(y, (1 / 3, 2 / 3)), y)


def _photos(target: str) -> tuple[np.ndarray, np.ndarray]:
    """Pieces of 8 x 8 pixels of the two photographs of scikit-learn: which of them, or the pixel beside the piece."""
    rng, pieces = np.random.default_rng(0), []
    for photo in datasets.load_sample_images().images:
        at = rng.integers(0, (photo.shape[0] - 8, photo.shape[1] - 9), size=(400, 2))
        pieces += [photo[i : i + 8, j : j + 9].astype(np.float64) for i, j in at]
    beside, photos = np.array(pieces)[:, 4, 8].mean(axis=1), np.repeat([0, 1], 400)
    return np.array(pieces)[:, :, :8].reshape(len(pieces), -1), photos if target == "photo" else beside


READERS: dict[str, Callable[..., tuple[Any, np.ndarray]]] = {
    "stored": lambda name: data.paper_set(name)[:2],
    "sklearn": lambda name: getattr(datasets, f"load_{name}")(return_X_y=True),
    "relathe": lambda: (data.paper_set("RELATHE")[0], data.paper_set_info("RELATHE")["y_corrected"]),
    "newsgroups": _newsgroups,
    "fashion": _fashion,
    "large_classes": _large_classes,
    "thirds": _thirds,
    "grass": lambda column: (
        data.paper_set("nitrogen")[0],
        data.paper_set_info("nitrogen")["targets_C_N_S"][:, int(column)],
    ),
    "photos": _photos,
    # log2 of intensities, those below the floor (noise, negative ones too) set to it
    "expression": lambda name: (np.log2(np.maximum(data.paper_set(name)[0], 20.0)), data.paper_set(name)[1]),
    "single_cell": lambda: (np.log2(1.0 + data.paper_set("yan_sc")[0]), data.paper_set("yan_sc")[1]),
}


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
    kind, (X, y) = source["kind"], READERS[source["reader"]](*source["arguments"].split())
    order = np.random.default_rng(zlib.crc32(name.encode())).permutation(len(y))[:max_rows]
    X, y = X[order], y[order]
    if source["target"] == "real":
        y = np.asarray(y, dtype=np.float64)
        scaled, unscaled = standardised(X), X if kind == "spectra" else unit_range(X)
    else:
        y = np.unique(y, return_inverse=True)[1].astype(np.int64)
        scaled = unscaled = _SCALE[kind](X)
    return DataSet(name, kind, scaled, y, unscaled)


def unit_range(X: np.ndarray) -> np.ndarray:
    """Every column to [0, 1]; a constant one becomes 0."""
    span = np.ptp(X, axis=0)
    return (X - X.min(axis=0)) / np.where(span > 0, span, 1.0)


def standardised(X: np.ndarray) -> np.ndarray:
    """Columns of mean 0 and variance 1; constants are 0."""
    std = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(std > 0, std, 1.0)


def dense(X: Any) -> np.ndarray:
    return X.toarray() if sp.issparse(X) else np.asarray(X, dtype=np.float64)


_SCALE = {"text": sp.csc_array, "images": np.asarray, "genes": np.asarray, "tables": unit_range}


def drawn(name: str, rows: int = 400, columns: int = 1000, key: int = 7) -> DataSet:
    """A set with limited numbers of rows and of columns; the columns vary in these rows."""
    whole = load(name, rows)
    block = dense(whole.X)
    varying = np.flatnonzero(block.max(axis=0) > block.min(axis=0))
    X = whole.X[:, np.sort(whole.rng(key).permutation(varying)[:columns])]
    return DataSet(whole.name, whole.kind, X, whole.y, X)
