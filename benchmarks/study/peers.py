"""What a user could pick instead of the library: each peer gives columns, best first.

Told classes or real targets of a few rows, a peer is given those rows alone, as its users do. What it gives no weight
follows by the F statistic.

    MCFS     Cai, Zhang & He (KDD 2010): least-angle regression of each of the first eigenvectors of Ly = λDy on X with
             as many columns as are asked for; a column counts by its largest |coefficient|; told nothing
    MI       Ross (PLoS ONE 2014), what ``mutual_info_classif`` computes, for all columns at once
    mRMR     Ding & Peng (2005) as F statistic / mean |r| with the columns chosen
    forest   importances of a random forest          L1   coefficients of a penalised regression
    CUR, FPS scikit-matter's, on X minus its column means; told nothing
    fastcan  canonical correlations with the classes (as indicators) or targets; told nothing, with as many principal
             components as columns are asked for

The packages of the last two lines pin other versions. They run in the environment of ``make bench``, in a process that
runs this file, reads a job and writes its answer; where that environment is missing the study does without them.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from scipy.special import digamma
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import f_classif, f_regression
from sklearn.linear_model import LogisticRegression, lars_path
from sklearn.multiclass import OneVsRestClassifier

from fiedler import KNN
from fiedler.problem import Problem

_TREES = 100  # scikit-learn's default
_BLOCK = 2**24  # numbers in a block of distances of the mutual information
_L1 = {"penalty": "l1"} if LogisticRegression().l1_ratio is None else {"l1_ratio": 1.0}  # as before, as since 1.8


def mcfs(problem: Problem, block: np.ndarray, n_clusters: int, n_features: int) -> np.ndarray:
    """Multi-cluster feature selection on the library's graph with the five neighbours of its paper."""
    graph = problem.graph(KNN(5))
    n_clusters = min(n_clusters, len(block) - 2)
    embedding = graph.inverse_root_degree[:, None] * graph.spectrum(n_clusters + 1)[1][:, 1:]
    centred, scores = block - block.mean(axis=0), np.zeros(block.shape[1])
    for target in embedding.T:
        *_, path = lars_path(centred, target - target.mean(), method="lar", max_iter=n_features)
        scores = np.maximum(scores, np.abs(path[:, -1]))
    return _best_first(scores)


# -------------------------------------------------------------------- told classes


def mutual_information(block: np.ndarray, y: np.ndarray, n_features: int, rng: np.random.Generator) -> np.ndarray:
    """Columns by mutual information with the classes: whole numbers are counted, others measured by neighbours."""
    whole = np.array_equal(block, np.round(block))
    return _best_first(_counted(block, y) if whole else _measured(block, y), f_statistic(block, y))


def _counted(block: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Σ p(v, c) log(p(v, c) / p(v) p(c)) of columns of whole numbers."""
    n, found = len(y), np.zeros(block.shape[1])
    for value in np.unique(block):
        equal = block == value
        overall = equal.sum(axis=0)
        for code in np.unique(y):
            both = equal[y == code].sum(axis=0)
            with np.errstate(divide="ignore", invalid="ignore"):
                found += np.where(both > 0, both / n * np.log(both * n / (overall * np.sum(y == code))), 0.0)
    return found


def _measured(block: np.ndarray, y: np.ndarray, n_neighbors: int = 3) -> np.ndarray:
    """ψ(n) + ⟨ψ(k)⟩ - ⟨ψ(n_c)⟩ - ⟨ψ(m)⟩, m the rows not farther than the k-th neighbour of the same class."""
    sizes = np.bincount(y)[y]
    kept = sizes > 1
    block, y, sizes = block[kept], y[kept], sizes[kept]
    k, n = np.minimum(n_neighbors, sizes - 1), len(y)
    same, found = y[:, None] == y, np.empty(block.shape[1])
    for start in range(0, block.shape[1], max(1, _BLOCK // n**2)):
        part = block[:, start : start + max(1, _BLOCK // n**2)].T
        distances = np.abs(part[:, :, None] - part[:, None, :])
        inside = np.sort(np.where(same, distances, np.inf), axis=2)  # the first is the row itself
        radius = np.nextafter(np.take_along_axis(inside, k[None, :, None], axis=2), 0.0)
        around = (distances <= radius).sum(axis=2)
        found[start : start + len(part)] = digamma(n) + digamma(k).mean() - digamma(sizes).mean()
        found[start : start + len(part)] -= digamma(around).mean(axis=1)
    return np.maximum(found, 0.0)


def mrmr(block: np.ndarray, y: np.ndarray, n_features: int, rng: np.random.Generator) -> np.ndarray:
    """Columns one by one by F statistic over mean |r| with those chosen."""
    relevance = f_statistic(block, y)
    unit = block - block.mean(axis=0)
    length = np.linalg.norm(unit, axis=0)
    unit = unit / np.where(length > 0, length, 1.0)
    chosen, alike, left = [int(relevance.argmax())], np.zeros(block.shape[1]), relevance.copy()
    while len(chosen) < min(n_features, block.shape[1]):
        left[chosen[-1]] = -1.0
        alike += np.abs(unit.T @ unit[:, chosen[-1]])
        chosen.append(int(np.argmax(np.where(left < 0, -1.0, left / np.maximum(alike / len(chosen), 1e-3)))))
    return np.array(chosen)


def forest(block: np.ndarray, y: np.ndarray, n_features: int, rng: np.random.Generator) -> np.ndarray:
    """Columns by the importance that a random forest gives them."""
    kind = RandomForestClassifier if y.dtype.kind == "i" else RandomForestRegressor
    model = kind(_TREES, max_features="sqrt", random_state=int(rng.integers(2**31)))
    return _best_first(model.fit(block, y).feature_importances_, f_statistic(block, y))


def l1(block: np.ndarray, y: np.ndarray, n_features: int, rng: np.random.Generator) -> np.ndarray:
    """Standardised columns by their largest |coefficient| in L1 logistic regression, or as the lasso takes them in."""
    spread = block.std(axis=0)
    scaled = (block - block.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    if y.dtype.kind == "i":
        model = OneVsRestClassifier(LogisticRegression(C=1.0, solver="liblinear", random_state=0, **_L1))
        weights = np.max([np.abs(one.coef_[0]) for one in model.fit(scaled, y).estimators_], axis=0)
    else:
        *_, path = lars_path(scaled, y - y.mean(), method="lasso", max_iter=n_features)
        weights = (path != 0).sum(axis=1)
    return _best_first(weights, f_statistic(block, y))


def sequential(block: np.ndarray, y: np.ndarray, n_features: int, rng: np.random.Generator) -> np.ndarray:
    """Columns added one by one, each the one with which 1-NN errs least, leave-one-out; ties to the first column.

    What ``SequentialFeatureSelector(KNeighborsClassifier(1), cv=LeaveOneOut())`` chooses, for few columns.
    """
    alone = (block.T[:, :, None] - block.T[:, None, :]) ** 2  # squared distances by each column
    alone[:, np.arange(len(y)), np.arange(len(y))] = np.inf
    chosen: list[int] = []
    while len(chosen) < n_features:
        nearest = (alone + alone[chosen].sum(axis=0)).argmin(axis=2)
        hits = (y[nearest] == y).sum(axis=1)
        hits[chosen] = -1
        chosen.append(int(hits.argmax()))
    return np.array(chosen)


def f_statistic(block: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Of an analysis of variance of the classes, or of a regression on the target; 0 where it is undefined."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = f_classif(block, y)[0] if y.dtype.kind == "i" else f_regression(block, y)[0]
    return np.nan_to_num(found, posinf=np.finfo(float).max)


def _best_first(scores: np.ndarray, then: np.ndarray | None = None) -> np.ndarray:
    """Large scores first, equal ones by a second score, then by column."""
    return np.lexsort((-then if then is not None else np.zeros(len(scores)), -scores))


def filled(chosen: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """A choice, then the other columns by their score."""
    order = _best_first(scores)
    return np.concatenate([chosen, order[~np.isin(order, chosen)]])


Peer = Callable[[np.ndarray, np.ndarray, int, np.random.Generator], np.ndarray]
WITH_CLASSES: dict[str, Peer] = {"mutual information": mutual_information, "mrmr": mrmr, "forest": forest, "l1": l1}
WITH_TARGETS: dict[str, Peer] = {"mrmr": mrmr, "forest": forest, "l1": l1}

# -------------------------------------------------------------------- peers of other packages

ENVIRONMENT = Path(__file__).resolve().parents[2] / ".venv-bench" / "bin" / "python"
PACKAGES = ("skmatter", "fastcan")


@cache
def versions() -> dict[str, str]:
    """Versions of the packages in the environment of the peers; none where it, or one of them, is missing."""
    ask = f"import json, importlib.metadata as m; print(json.dumps({{p: m.version(p) for p in {PACKAGES}}}))"
    try:
        done = subprocess.run([ENVIRONMENT, "-c", ask], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return {}
    return json.loads(done.stdout)


def chosen_free(X: np.ndarray, n_features: int) -> dict[str, np.ndarray]:
    """Columns that each peer chooses without labels, best first; none where there are no peers."""
    return _answer({"X": X, "n_features": np.int64(n_features)}) if versions() else {}


def chosen_told(
    X: np.ndarray, n_features: int, draws: Sequence[tuple[np.ndarray, np.ndarray]]
) -> list[np.ndarray | None]:
    """What fastcan chooses in each draw of (rows, their classes or targets), or None."""
    if not versions() or not draws:
        return [None] * len(draws)
    job = {"X": X, "n_features": np.int64(n_features)}
    for i, (rows, y) in enumerate(draws):
        job |= {f"rows {i}": rows, f"y {i}": y}
    found = _answer(job)
    return [found[f"told {i}"] for i in range(len(draws))]


def _answer(job: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What a process in the other environment makes of a job."""
    with tempfile.TemporaryDirectory() as folder:
        asked, answer = Path(folder) / "job.npz", Path(folder) / "answer.npz"
        np.savez(asked, **job)
        subprocess.run([ENVIRONMENT, "-W", "ignore", __file__, asked, answer], check=True)
        with np.load(answer) as found:
            return dict(found)


# -------------------------------------------------------------------- in the other environment


def _work(asked: str, answer: str) -> None:
    with np.load(asked) as job:
        X, n_features = job["X"], int(job["n_features"])
        draws = [(job[f"rows {i}"], job[f"y {i}"]) for i in range(sum(name.startswith("rows") for name in job))]
    found = {} if draws else {name: peer(X, n_features) for name, peer in WITHOUT_LABELS.items()}
    for i, (rows, y) in enumerate(draws):
        target = np.equal.outer(y, np.unique(y)).astype(float) if y.dtype.kind == "i" else y
        found[f"told {i}"] = _fastcan(X[rows], target, n_features)
    np.savez(answer, **found)


def skmatter_cur(X: np.ndarray, n_features: int) -> np.ndarray:
    from skmatter.feature_selection import CUR

    return CUR(n_to_select=n_features).fit(X - X.mean(axis=0)).selected_idx_


def skmatter_fps(X: np.ndarray, n_features: int) -> np.ndarray:
    from skmatter.feature_selection import FPS

    return FPS(n_to_select=n_features).fit(X - X.mean(axis=0)).selected_idx_


def fastcan_components(X: np.ndarray, n_features: int) -> np.ndarray:
    """What fastcan finds for the principal components; fewer columns where those left add nothing."""
    from sklearn.decomposition import PCA

    components = PCA(min(n_features, min(X.shape) - 1)).fit_transform(X)
    return _fastcan(X, components, n_features)


WITHOUT_LABELS = {"cur": skmatter_cur, "fps": skmatter_fps, "fastcan": fastcan_components}


def _fastcan(X: np.ndarray, target: np.ndarray, n_features: int) -> np.ndarray:
    """As many columns as fastcan finds: it stops with an error where those left add nothing."""
    from fastcan import FastCan

    varied = np.flatnonzero(X.max(axis=0) > X.min(axis=0))
    wanted = min(n_features, len(varied))
    while wanted:
        try:
            return varied[FastCan(wanted, verbose=0).fit(X[:, varied], target).indices_]
        except RuntimeError as error:  # "No improvement can be found when selecting the 5th feature."
            wanted = int(re.search(r"\d+", str(error)).group()) - 1
    return varied[:0]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    _work(*sys.argv[1:])
