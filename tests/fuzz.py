"""Random containers, methods and damaged files: every answer is scores or one clear error, never a crash.

python tests/fuzz.py 120        for so many seconds; `make fuzz`
"""

from __future__ import annotations

import gzip
import itertools
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

HERE = Path(__file__).resolve().parent
EXPECTED = (ValueError, TypeError, OSError, ImportError)


# -------------------------------------------------------------------- containers x methods x metrics


def random_table(rng: np.random.Generator) -> np.ndarray:
    """Counts or measurements, with copies, constants, zeros, offsets and very different scales now and then."""
    n, m = int(rng.integers(2, 40)), int(rng.integers(1, 12))
    X = rng.poisson(0.7, size=(n, m)).astype(float) if rng.random() < 0.5 else rng.normal(size=(n, m))
    for change in rng.permutation(6)[: rng.integers(0, 4)]:
        j = rng.integers(m)
        if change == 0:
            X[:, j] = X[0, j]
        elif change == 1:
            X[:, rng.integers(m)] = X[:, j]
        elif change == 2:
            X[:, j] *= 10.0 ** rng.integers(-12, 12)
        elif change == 3:
            X[:, j] += 10.0 ** rng.integers(0, 9)
        elif change == 4:
            X[rng.integers(n)] = X[rng.integers(n)]
        else:
            X[rng.integers(n)] = 0.0
    return X


CONTAINERS = {
    "array": np.asarray,
    "Fortran": np.asfortranarray,
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "coo": sp.coo_array,
    "csr matrix": sp.csr_matrix,
    "list": lambda X: X.tolist(),
    "view": lambda X: np.repeat(X, 2, axis=0)[::2],
}


def one_method(seed: int) -> str | None:
    """What is wrong with one method on one table, or None."""
    from fiedler import KNN, METHODS, RBF, SPEC, Anchors, ConstraintScore, LaplacianScore

    rng = np.random.default_rng(seed)
    X = random_table(rng)
    n, m = X.shape
    graphs = [KNN(int(rng.integers(1, 8)), metric=str(rng.choice(["euclidean", "cosine"]))), RBF(), Anchors(), None]
    graph = graphs[rng.integers(len(graphs))]
    methods = [method() for method in METHODS.values()]
    methods += [LaplacianScore(graph), SPEC(graph, int(rng.integers(1, 4))), ConstraintScore(int(rng.integers(1, 5)))]
    method = methods[rng.integers(len(methods))]
    y: object = rng.integers(3, size=n)
    y = rng.normal(size=n) if "target" in method.reads else np.where(rng.random(n) < 0.3, -1, y)
    found = {}
    for name in ("array", str(rng.choice(list(CONTAINERS)))):
        given = CONTAINERS[name](X.copy())
        before = given.copy() if hasattr(given, "copy") else given
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                warnings.simplefilter("ignore", UserWarning)
                found[name] = method.evaluate(given, y if method.reads else None)
        except EXPECTED as error:
            if len(str(error)) < 20:
                return f"{method!r} on {name} {X.shape}: {error!r} says too little"
            found[name] = None
        except Exception as error:
            return f"{method!r} on {name} {X.shape}: {error!r}"
        same = (abs(before - given)).max() == 0 if sp.issparse(given) else np.array_equal(before, given)
        if not same:
            return f"{method!r} changed its input, {name} {X.shape}"
    first, *_, second = [*found.values()] * 2
    if (first is None) != (second is None):
        return f"{method!r}: only one of {list(found)} has scores"
    if first is None or second is None:
        return None
    if first.shape != (m,):
        return f"{method!r}: {first.shape} scores for {m} features"
    for a in range(m):
        for b in range(a):
            if X[:, a].tobytes() == X[:, b].tobytes() and first[a].tobytes() != first[b].tobytes():
                return f"{method!r}: the same column twice, {first[a]!r} and {first[b]!r}"
    scale = np.nanmax(np.abs(first), initial=1e-300, where=np.isfinite(first))
    if getattr(method, "phi", 0) == 3:
        return None  # the basis of a repeated eigenvalue is arbitrary, as a warning says
    if not np.allclose(first, second, rtol=1e-6, atol=1e-7 * scale, equal_nan=True):
        return f"{method!r} {X.shape}: {list(found)} differ by {np.nanmax(np.abs(first - second)):.3g} of {scale:.3g}"
    return None


# -------------------------------------------------------------------- damaged files


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """Some bits flipped, a piece cut out, doubled, or the end missing."""
    kind, at = rng.integers(5), int(rng.integers(len(data)))
    if kind == 0:
        return data[:at]
    if kind == 1:
        return data[:at] + data[at + int(rng.integers(1, 40)) :]
    if kind == 2:
        return data[:at] + data[at : at + int(rng.integers(1, 40))] + data[at:]
    changed = bytearray(data)
    for place in rng.integers(len(data), size=int(rng.integers(1, 4))):
        changed[place] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def inflated(data: bytes, rng: np.random.Generator) -> bytes:
    """A whole number somewhere made very large, as text or in four or eight bytes: sizes are not to be believed."""
    at = int(rng.integers(len(data)))
    if rng.random() < 0.5 and (digits := [i for i in range(len(data)) if data[i : i + 1].isdigit()]):
        at = digits[rng.integers(len(digits))]
        return data[:at] + b"9" * int(rng.choice([3, 9, 18, 400])) + data[at:]
    size = int(rng.choice([4, 8]))
    value = int(rng.choice([2**31 - 1, 2**30, 2**20, -1, -(2**31)]))
    return data[:at] + value.to_bytes(size, "little", signed=True) + data[at + size :]


def save_csv(path: Path, matrix: np.ndarray) -> None:
    np.savetxt(path, matrix, delimiter=",", header="a,b,c,d", comments="")


def save_xlsx(path: Path, matrix: np.ndarray) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for row in [["a", "b", "c", "d"], *matrix.tolist()]:
        book.active.append(row)
    book.save(path)


def save_npy(path: Path, matrix: np.ndarray) -> None:
    np.save(path, matrix)


def save_mat4(path: Path, matrix: np.ndarray) -> None:
    from scipy.io import savemat

    savemat(path, {"X": sp.csc_array(matrix), "Y": [[1.0], [0.0], [2.0]]}, format="4")


def save_zipped_mat(path: Path, matrix: np.ndarray) -> None:
    from scipy.io import savemat

    savemat(path, {"X": sp.csc_array(matrix), "names": np.array(["a", "b"], dtype=object)}, do_compression=True)


def save_hdf5(path: Path, matrix: np.ndarray) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        file.create_dataset("X", data=matrix, chunks=(2, 2), compression="gzip")
        file["y"] = [1, 0, 2]


MORE = [
    (save_csv, "t.csv", None),
    (save_xlsx, "t.xlsx", None),
    (save_npy, "t.npy", None),
    (save_mat4, "t.mat", None),
    (save_zipped_mat, "t.mat", None),
    (save_hdf5, "t.h5", None),
]
ZIPPED = ("csv", "mtx", "svmlight", "arff")
READ = """
import resource, sys, warnings
warnings.simplefilter("ignore")
from fiedler import LaplacianScore
from fiedler.io import fill_missing, read_table
from fiedler.data.memory import memory_limit
import anndata, h5py, openpyxl, polars, pyarrow.parquet, sklearn.datasets, zarr
start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for path in sys.argv[1:]:
    try:
        with memory_limit(2**27):
            table = read_table(path)
        X = fill_missing(table, "zero")
        if min(X.shape) > 1 and X.shape[0] * X.shape[1] < 10**4:
            LaplacianScore().evaluate(X)
        print("read", path)
    except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
        print("error" if len(str(error)) > 15 else "unclear", path, str(error)[:200].replace(chr(10), " "))
    except BaseException as error:
        print("unexpected", path, repr(error)[:300].replace(chr(10), " "))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if peak > start + 2**19:  # kilobytes: four times the limit
        print("unexpected", path, "took", peak - start, "kB")
        start = peak
    sys.stdout.flush()
"""


def damaged_files(*seeds: int, number: int = 40) -> list[str]:
    """What is wrong with the answers to some damaged files for each seed, read in a process of their own."""
    sys.path.insert(0, str(HERE))
    from tables import X as TABLE
    from test_formats import FORMATS

    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for seed, at in itertools.product(seeds, range(number)):
            if at == 0:
                rng = np.random.default_rng(seed)
            save, name, _ = (*FORMATS.values(), *MORE)[rng.integers(len(FORMATS) + len(MORE))]
            path = Path(folder) / f"{seed}-{at}{Path(name).suffix}"
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                save(path, TABLE)
            inside = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
            hurt = inside[rng.integers(len(inside))]
            harm = damaged if rng.random() < 0.6 else inflated
            content = harm(hurt.read_bytes() or b"0", rng)
            hurt.write_bytes(content)
            if name.endswith(ZIPPED) and rng.random() < 0.3:
                path = path.with_name(f"{path.name}.gz")
                path.write_bytes(gzip.compress(content))
            paths.append(str(path))
        with (Path(folder) / "answers").open("w+") as answers:
            work = subprocess.Popen([sys.executable, "-c", READ, *paths], stdout=answers, stderr=subprocess.DEVNULL)
            try:
                code = work.wait(timeout=90 * len(seeds))
            except subprocess.TimeoutExpired:
                work.kill()
                code = work.wait()
            answers.seek(0)
            lines = answers.read().splitlines()
        wrong = [line for line in lines if line.startswith(("unexpected", "unclear"))]
        # A damaged attribute can make the HDF5 library itself go round in circles; nothing else may.
        done = sum(line.split()[2:3] != ["took"] for line in lines)
        if code and not (code == -9 and Path(paths[done]).suffix in (".h5", ".h5ad", ".mat")):
            wrong.append(f"exit {code} at {Path(paths[done]).name}")
        return [f"seed of {seeds}: {line}" for line in wrong]


def main(seconds: float) -> int:
    start, seed, problems = time.monotonic(), int(time.time()) % 10**6, []
    counts = {"methods": 0, "files": 0}
    while time.monotonic() - start < seconds:
        for number in range(seed, seed + 200):
            wrong = one_method(number)
            counts["methods"] += 1
            if wrong:
                problems.append(f"seed {number}: {wrong}")
        problems += damaged_files(seed)
        counts["files"] += 40
        seed += 200
    print(f"{counts['methods']} tables, {counts['files']} damaged files, {len(problems)} problems")
    print("\n".join(problems[:40]))
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 120.0))
