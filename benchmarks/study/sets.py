"""The data sets of the study: real ones of several kinds, each scaled as its kind asks for.

| kind | scaling | why |
|---|---|---|
| text | counts as they are | as in [ZL] and [SPEC] |
| images | as they are | all pixels share one unit, so their variances can be compared |
| genes | log2, below a floor the floor | expression is multiplicative; all genes share one unit |
| tables | every column to [0, 1] | as in [KA]; columns have units of their own |
| real targets | columns and target z-scored | as in [DV], whose graphs compare the two |

Methods and defaults were chosen on the block "study". The held-out block had no part in any choice. Some of its data
sets share rows with one of the study (the same posts with another vocabulary, the same patients with coarser values,
the same spectra with another target): ``relative`` names it.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from fiedler.datasets import load_paper_set

from .. import data

MAX_ROWS = 1000  # leave-one-out distances and full kernels cost n²
LABELS_PER_CLASS = (1, 2, 3, 5, 10, 20)  # of two classes: 2, 4, 6, 10, 20, 40 labels
N_TARGETS = (4, 6, 10, 20, 40)  # with two known targets every feature has correlation 1
N_PAIRS = (4, 10, 20, 40, 100, 200)
CURVE = (2, 5, 10, 20, 50)
KINDS = ("text", "images", "genes", "tables")


Read = Callable[[], tuple[Any, np.ndarray]]


@dataclass(frozen=True)
class Source:
    """Where a set comes from and what it is."""

    kind: str
    about: str
    read: Read
    real_target: bool = False
    relative: str | None = None  # the data set of the study that shares its rows


def _stored(name: str) -> Read:
    return lambda: data.paper_set(name)[:2]


def _relathe() -> tuple[Any, np.ndarray]:
    return data.paper_set("RELATHE")[0], data.paper_set_info("RELATHE")["y_corrected"]


def _newsgroups(*groups: str) -> Read:
    """Some groups of 20 Newsgroups, at most 250 posts of each, with the terms that occur in 5 posts or more."""

    def read() -> tuple[Any, np.ndarray]:
        X, y, _ = data.paper_set("NEWS20_18828")
        names = data.paper_set_info("NEWS20_18828")["groups"].tolist()
        X, y = _at_most(X, y, [names.index(group) + 1 for group in groups], 250)
        return X[:, np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]) >= 5)], y

    return read


def _shuttle() -> tuple[Any, np.ndarray]:
    """At most 200 rows of each class that has 50: four fifths of all rows are of one class."""
    X, y, _ = data.paper_set("shuttle")
    return _at_most(X, y, np.flatnonzero(np.bincount(y) >= 50), 200)


def _at_most(X: Any, y: np.ndarray, classes: Sequence[int], rows: int) -> tuple[Any, np.ndarray]:
    order = np.random.default_rng(0).permutation(len(y))
    kept = np.concatenate([order[y[order] == label][:rows] for label in classes])
    return X[kept], y[kept]


def _fashion(rows: slice, classes: Sequence[int], per_class: int) -> Read:
    def read() -> tuple[Any, np.ndarray]:
        X, y, _ = load_paper_set("fashion_mnist")
        X, y = _at_most(X[rows], y[rows], classes, per_class)
        return X.astype(np.float64), y

    return read


def _connections() -> tuple[Any, np.ndarray]:
    """At most 80 different rows of each class of kddcup that has 50: most of its rows are repeated."""
    X, y, _ = load_paper_set("kddcup")
    different = np.unique(np.column_stack([X, y]), axis=0, return_index=True)[1]
    X, y = X[different], y[different].astype(np.intp)
    return _at_most(X, y, np.flatnonzero(np.bincount(y) >= 50), 80)


def _thirds(name: str) -> Read:
    """Classes low, middle, high of a set with a real target."""

    def read() -> tuple[Any, np.ndarray]:
        X, y, _ = data.paper_set(name)
        return X, np.searchsorted(np.quantile(y, (1 / 3, 2 / 3)), y)

    return read


def _grass(element: int) -> Read:
    return lambda: (data.paper_set("nitrogen")[0], data.paper_set_info("nitrogen")["targets_C_N_S"][:, element])


def _patches(per_photo: int) -> tuple[np.ndarray, np.ndarray]:
    """Pieces of 8 x 9 pixels, cut at random from the two photographs that scikit-learn comes with."""
    from sklearn.datasets import load_sample_images

    rng, pieces = np.random.default_rng(0), []
    for photo in load_sample_images().images:
        at = rng.integers(0, (photo.shape[0] - 8, photo.shape[1] - 9), size=(per_photo, 2))
        pieces += [photo[i : i + 8, j : j + 9].astype(np.float64) for i, j in at]
    return np.array(pieces), np.repeat([0, 1], per_photo)


def _photos() -> tuple[Any, np.ndarray]:
    pieces, photo = _patches(400)
    return pieces[:, :, :8].reshape(len(pieces), -1), photo


def _next_pixel() -> tuple[Any, np.ndarray]:
    pieces, _ = _patches(400)
    return pieces[:, :, :8].reshape(len(pieces), -1), pieces[:, 4, 8].mean(axis=1)


def _from_sklearn(name: str) -> Read:
    def read() -> tuple[Any, np.ndarray]:
        from sklearn import datasets

        return getattr(datasets, f"load_{name}")(return_X_y=True)

    return read


def _expression(name: str, floor: float = 20.0) -> Read:
    """log2 of intensities, those below the floor (noise, negative ones too) set to it."""
    return lambda: (np.log2(np.maximum(data.paper_set(name)[0], floor)), data.paper_set(name)[1])


def _single_cell() -> tuple[Any, np.ndarray]:
    X, y, _ = data.paper_set("yan_sc")
    return np.log2(1.0 + X), y


STUDY: dict[str, Source] = {
    "PCMAC": Source("text", "newsgroups, PC or Mac", _stored("PCMAC")),
    "BASEHOCK": Source("text", "newsgroups, baseball or hockey", _stored("BASEHOCK")),
    "RELATHE": Source("text", "newsgroups, religion or atheism, labels corrected", _relathe),
    "NEWS_SCI": Source(
        "text", "newsgroups, four sciences", _newsgroups("sci.crypt", "sci.electronics", "sci.med", "sci.space")
    ),
    "NEWS_TALK": Source(
        "text",
        "newsgroups, three political",
        _newsgroups("talk.politics.guns", "talk.politics.mideast", "talk.politics.misc"),
    ),
    "ORL": Source("images", "faces of 40 people", _stored("ORL")),
    "orlraws10P": Source("images", "ten of ORL's people, larger", _stored("orlraws10P")),
    "pixraw10P": Source("images", "faces of 10 people", _stored("pixraw10P")),
    "warpPIE10P": Source("images", "faces of 10 people, varied light", _stored("warpPIE10P")),
    "digits": Source("images", "handwritten digits", _from_sklearn("digits")),
    "TOX_171": Source("genes", "toxicology, four treatments", _expression("TOX_171")),
    "colon_alon": Source("genes", "colon, tumour or normal", _expression("colon_alon")),
    "leukemia_5147": Source("genes", "leukemia, ALL or AML", _expression("leukemia_5147")),
    "nakayama": Source("genes", "ten kinds of sarcoma", _expression("nakayama")),
    "yan_sc": Source("genes", "single cells, six stages of the embryo", _single_cell),
    "iris": Source("tables", "three flowers", _stored("iris")),
    "wine": Source("tables", "chemistry of three wines", _stored("wine")),
    "segment210": Source("tables", "seven textures", _stored("segment210")),
    "vehicle": Source("tables", "silhouettes of four vehicles", _stored("vehicle")),
    "breast_cancer": Source("tables", "cell nuclei, benign or malignant", _from_sklearn("breast_cancer")),
    "shuttle": Source("tables", "sensors, five states", _shuttle),
    "madelon": Source("tables", "made: a parity problem among noise", _stored("madelon")),
    "juice": Source("spectra", "orange juice, its sugar", _stored("juice"), real_target=True),
    "nitrogen": Source("spectra", "grass, its nitrogen", _stored("nitrogen"), real_target=True),
    "census_house_36": Source("tables", "US census, house prices", _stored("census_house_36"), real_target=True),
    "communities_house": Source(
        "tables", "US communities, house values", _stored("communities_house"), real_target=True
    ),
    "diabetes": Source("tables", "patients, progress of disease", _from_sklearn("diabetes"), real_target=True),
}
HELD_OUT: dict[str, Source] = {
    "PCMAC_18828": Source("text", "newsgroups, PC or Mac, more terms", _stored("PCMAC_18828"), relative="PCMAC"),
    "HOCKBASE_18828": Source(
        "text", "newsgroups, hockey or baseball, more terms", _stored("HOCKBASE_18828"), relative="BASEHOCK"
    ),
    "RELATHE_18828": Source(
        "text", "newsgroups, religion or atheism, other terms", _stored("RELATHE_18828"), relative="RELATHE"
    ),
    "MACBASE": Source("text", "newsgroups, Mac or baseball", _stored("MACBASE"), relative="PCMAC"),
    "NEWS_COMP": Source(
        "text",
        "newsgroups, three on computing",
        _newsgroups("comp.graphics", "comp.os.ms-windows.misc", "comp.windows.x"),
    ),
    "NEWS_REC": Source("text", "newsgroups, cars or motorcycles", _newsgroups("rec.autos", "rec.motorcycles")),
    "FASHION": Source("images", "ten kinds of clothes", _fashion(slice(60_000), range(10), 100)),
    "FASHION_TOPS": Source(
        "images", "shirt, t-shirt, pullover or coat", _fashion(slice(60_000, None), (0, 2, 4, 6), 250)
    ),
    "FASHION_SHOES": Source("images", "three kinds of shoes", _fashion(slice(60_000, None), (5, 7, 9), 300)),
    "PHOTOS": Source("images", "pieces of two photographs", _photos),
    "colon_disc": Source(
        "genes", "colon, tumour or normal, three levels", _stored("colon_disc"), relative="colon_alon"
    ),
    "leukemia_disc": Source(
        "genes", "leukemia, ALL or AML, three levels", _stored("leukemia_disc"), relative="leukemia_5147"
    ),
    "KDD": Source("tables", "network connections, twelve kinds", _connections),
    "CENSUS_THIRDS": Source(
        "tables", "US census, house prices in three classes", _thirds("census_house_36"), relative="census_house_36"
    ),
    "COMMUNITIES_THIRDS": Source(
        "tables",
        "US communities, house values in three classes",
        _thirds("communities_house"),
        relative="communities_house",
    ),
    "GRASS_CARBON": Source("spectra", "grass, its carbon", _grass(0), real_target=True, relative="nitrogen"),
    "GRASS_SULPHUR": Source("spectra", "grass, its sulphur", _grass(2), real_target=True, relative="nitrogen"),
    "NEXT_PIXEL": Source("images", "pieces of photographs, the pixel beside", _next_pixel, real_target=True),
}
SOURCES = STUDY | HELD_OUT
SMALL = ("RELATHE", "warpPIE10P", "colon_alon", "wine", "segment210", "nitrogen", "diabetes")  # of a quick run


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
