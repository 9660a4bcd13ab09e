"""Peers that live in packages of their own: scikit-matter's CUR and FPS, fastcan.

They pin other versions, so they run in the environment of ``make bench``, in a process that reads a job and writes its
answer; where that environment is missing the study runs without them and says so. Run as a file, this module does the
job; it imports nothing of the project.

    cur, fps           told nothing, X minus its column means
    fastcan            told nothing: canonical correlations with as many principal components as columns are asked for
    fastcan of a draw  told classes (as indicators) or targets of a few rows, given those rows alone
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

_ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = _ROOT / ".venv-bench" / "bin" / "python"
KEPT = _ROOT / "out" / "study" / "peers"  # answers, so that they are asked for once
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


def free(X: np.ndarray, n_features: int) -> dict[str, np.ndarray]:
    """Columns that each peer chooses without labels, best first; none where there are no peers."""
    return _answer({"X": X, "n_features": np.int64(n_features)}) if versions() else {}


def told(X: np.ndarray, n_features: int, draws: Sequence[tuple[np.ndarray, np.ndarray]]) -> list[np.ndarray | None]:
    """What fastcan chooses in each draw of (rows, their classes or targets), or None."""
    if not versions() or not draws:
        return [None] * len(draws)
    job = {"X": X, "n_features": np.int64(n_features)}
    for i, (rows, y) in enumerate(draws):
        job |= {f"rows {i}": rows, f"y {i}": y}
    found = _answer(job)
    return [found[f"told {i}"] for i in range(len(draws))]


def _answer(job: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    answer = KEPT / f"{_fingerprint(job)}.npz"
    if not answer.exists():
        _ask(job, answer)
    with np.load(answer) as found:
        return dict(found)


def _ask(job: dict[str, np.ndarray], answer: Path) -> None:
    answer.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=answer.parent) as folder:
        asked, partial = Path(folder) / "job.npz", Path(folder) / "answer.npz"
        np.savez(asked, **job)
        subprocess.run([ENVIRONMENT, "-W", "ignore", __file__, asked, partial], check=True)
        partial.replace(answer)


def _fingerprint(job: dict[str, np.ndarray]) -> str:
    """A hash of everything that an answer depends on."""
    digest = hashlib.sha256(Path(__file__).read_bytes() + json.dumps(versions()).encode())
    for name, values in job.items():
        digest.update(f"{name} {values.dtype} {values.shape}".encode())
        digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()[:16]


# -------------------------------------------------------------------- in the other environment


def _work(asked: str, answer: str) -> None:
    with np.load(asked) as job:
        X, n_features = job["X"], int(job["n_features"])
        draws = [(job[f"rows {i}"], job[f"y {i}"]) for i in range(sum(name.startswith("rows") for name in job))]
    found = {} if draws else _without_labels(X, n_features)
    for i, (rows, y) in enumerate(draws):
        target = np.equal.outer(y, np.unique(y)).astype(float) if y.dtype.kind == "i" else y
        found[f"told {i}"] = _fastcan(X[rows], target, n_features)
    np.savez(answer, **found)


def _without_labels(X: np.ndarray, n_features: int) -> dict[str, np.ndarray]:
    from sklearn.decomposition import PCA
    from skmatter.feature_selection import CUR, FPS

    centred = X - X.mean(axis=0)
    components = PCA(min(n_features, min(X.shape) - 1)).fit_transform(X)
    return {
        "cur": CUR(n_to_select=n_features).fit(centred).selected_idx_,
        "fps": FPS(n_to_select=n_features).fit(centred).selected_idx_,
        "fastcan": _fastcan(X, components, n_features),
    }


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
