"""Two checkouts side by side: are the scores the same to the last bit, and is anything slower?

    python -m benchmarks.checkouts PATH_OF_THE_OTHER            both tables
    python -m benchmarks.checkouts PATH_OF_THE_OTHER --bits     scores only

Scores come from fresh processes, one per checkout; the older code chose compiled kernels by what had run before, so
its scores are taken twice, before and after loading them. Times alternate in one process, old, new, old, new.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

HERE = Path(__file__).resolve().parents[1]


# -------------------------------------------------------------------- bits


def problems() -> dict[str, tuple[Any, np.ndarray, np.ndarray]]:
    """X, classes and a real target: below and above the sizes at which the code takes another path."""
    rng, found = np.random.default_rng(0), {}
    for name, n, m in (("tiny", 40, 7), ("small", 200, 60), ("middle", 500, 400), ("large", 1500, 900)):
        y = rng.integers(3, size=n)
        X = rng.standard_normal((n, m)) + np.outer(y, rng.standard_normal(m) * (rng.random(m) < 0.3))
        found[name] = X, y, X[:, 0] + rng.standard_normal(n)
        if name in ("small", "large"):
            found[f"{name}, float32"] = X.astype(np.float32), y, found[name][2]
            found[f"{name}, sparse"] = sp.csr_array(np.where(X > 0.8, np.round(4 * X), 0.0)), y, found[name][2]
    X, y = load_breast_cancer(return_X_y=True)
    found["breast cancer"] = X, y, X[:, 0]
    X, y = load_digits(return_X_y=True)
    found["digits"] = X, y, X[:, 20] + 0.1 * X[:, 30]
    X, y = load_diabetes(return_X_y=True)
    found["diabetes"] = X, (y > 140).astype(int), y
    # Small ones first: the older code loads its kernels at the first large one, for good.
    return dict(sorted(found.items(), key=lambda item: item[1][0].shape[0] ** 2 * item[1][0].shape[1]))


def criteria(fd: ModuleType) -> dict[str, Any]:
    """Every method with its defaults, and every other path worth a row."""
    made = {name: method() for name, method in fd.METHODS.items() if name != "evsc"}
    made |= {f"C{variant}": fd.ConstraintScore(variant) for variant in (1, 2, 3)}
    made |= {"phi1": fd.SPEC(phi=1), "phi2 of r^4": fd.SPEC(gamma=4), "phi3": fd.SPEC(phi=3, n_clusters=4)}
    made |= {"phi2 on RBF": fd.SPEC(fd.RBF(), gamma=0.5), "diffusion": fd.LaplacianScore(fd.Diffusion())}
    made |= {"binary": fd.LaplacianScore(fd.KNN(7, "binary")), "anchors": fd.SPEC(fd.Anchors(), gamma=4)}
    made |= {"cosine": fd.LaplacianScore(fd.KNN(5, metric="cosine")), "phi3 of classes": fd.SPEC(fd.ClassGraph(), 3)}
    made |= {"evsc": fd.EVSC(n_eigenvalues=8), "evsc trace": fd.EVSC(mode="trace"), "auto": fd.SSelect(lam="auto")}
    return made | {"formula": 0.5 * fd.LaplacianScore() + 2.0 * fd.SSelect() * fd.ConstraintScore(1)}


def scores() -> Iterator[tuple[str, np.ndarray]]:
    """Every criterion on every problem it is quick enough for, by the ``fiedler`` of this process."""
    import fiedler as fd
    from fiedler.sources import open_source

    X, y, _ = problems()["middle"]
    with tempfile.TemporaryDirectory() as folder:
        import zarr
        from sklearn import config_context

        for layout, chunks in (("rows", (50, 400)), ("columns", (500, 40))):
            zarr.create_array(f"{folder}/{layout}.zarr", data=X, chunks=chunks)
            with config_context(working_memory=1.5):
                for name, criterion in {"laplacian": fd.LaplacianScore(), "anchors": fd.SPEC(fd.Anchors(20))}.items():
                    yield f"{name} | file by {layout}", criterion.evaluate(open_source(f"{folder}/{layout}.zarr"), y)
    for problem, (X, y, target) in problems().items():
        few = np.where(np.arange(len(y)) % 4 == 0, y, -1)
        some = np.where(np.arange(len(y)) % 3 > 0, target, np.nan)
        for name, criterion in criteria(fd).items():
            if X.shape[0] > 1000 and name in ("evsc", "phi2 on RBF", "diffusion", "auto"):
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield f"{name} | {problem}", criterion.evaluate(X, some if "target" in criterion.reads else few)


def dump(path: str) -> None:
    """Write the scores, and those after compiled kernels were loaded."""
    first = dict(scores())
    try:
        from fiedler.engine import compiled as kernels
    except ImportError:  # older checkouts
        from fiedler.engine import kernels
    kernels.load()
    again = {f"{name} | again": values for name, values in scores()}
    np.savez(path, **first, **again)


def bits(other: Path) -> None:
    """A line per criterion: on how many problems the scores are those of the other checkout, and what differs."""
    with tempfile.TemporaryDirectory() as folder:
        for name, checkout in (("old", other), ("new", HERE)):
            work = [sys.executable, __file__, "--dump", f"{folder}/{name}.npz"]
            subprocess.run(work, check=True, cwd=checkout, env={**os.environ, "PYTHONPATH": str(checkout)})
        old, new = (dict(np.load(f"{folder}/{name}.npz")) for name in ("old", "new"))
    rows: dict[str, list[str]] = {}
    equal = path = 0
    for key in (key for key in new if key in old and not key.endswith("again")):
        name, problem = key.split(" | ")
        same = [new[key].tobytes() == values.tobytes() for values in (old[key], old[f"{key} | again"])]
        with np.errstate(all="ignore"):
            off = np.nanmax(np.abs(new[key] / old[key] - 1.0), initial=0.0)
        equal, path = equal + any(same), path + (any(same) and not all(same))
        changed = "" if new[key].tobytes() == new[f"{key} | again"].tobytes() else ", and by history"
        rows.setdefault(name, []).append("" if any(same) and not changed else f"{problem}: {off:.0e}{changed}")
    for name, found in rows.items():
        print(f"{name:18} {sum(not f for f in found):3} of {len(found)} equal  {'; '.join(filter(None, found))}")
    total = sum(map(len, rows.values()))
    print(
        f"{equal} of {total} bit-equal to the old code before or after its kernels were loaded, {path} to one of them"
    )


# -------------------------------------------------------------------- times


def package(checkout: Path, name: str) -> ModuleType:
    """The package of a checkout under a name of its own."""
    home = checkout / "fiedler"
    spec = importlib.util.spec_from_file_location(name, home / "__init__.py", submodule_search_locations=[str(home)])
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def cases(fd: ModuleType, evaluate: ModuleType) -> dict[str, Callable[[], Any]]:
    from benchmarks import data

    X, text = data.gaussian(2000, 5000), data.load("BASEHOCK")
    tox, pixels, made = data.load("TOX_171"), data.load("pixraw10P"), data.load("madelon")
    few = np.where(np.arange(len(text[1])) % 50 == 0, text[1], -1)
    graph = fd.KNN().build(X[:, :3])
    compared = {"n_labels": 10, "n_draws": 10, "n_jobs": 1, "n_features": [10]}
    return {
        "LS, 2,000 x 5,000": lambda: fd.LaplacianScore().evaluate(X),
        "LS, BASEHOCK": lambda: fd.LaplacianScore().evaluate(text[0]),
        "LS, PCMAC": lambda: fd.LaplacianScore().evaluate(data.load("PCMAC")[0]),
        "LS, TOX_171": lambda: fd.LaplacianScore().evaluate(tox[0]),
        "LS, pixraw10P": lambda: fd.LaplacianScore().evaluate(pixels[0]),
        "LS, madelon": lambda: fd.LaplacianScore().evaluate(made[0]),
        "LS, wine": lambda: fd.LaplacianScore().evaluate(data.load("wine")[0]),
        "LS, given graph": lambda: fd.LaplacianScore(graph).evaluate(X),
        "LS, anchors, madelon": lambda: fd.LaplacianScore(fd.Anchors()).evaluate(made[0]),
        "phi2 of r^4, BASEHOCK": lambda: fd.SPEC(gamma=4).evaluate(text[0][:, :1000]),
        "phi3, TOX_171": lambda: fd.SPEC(phi=3, n_clusters=4).evaluate(tox[0]),
        "sSelect, BASEHOCK": lambda: fd.SSelect().evaluate(text[0], few),
        "Fisher, madelon": lambda: fd.FisherScore().evaluate(*made),
        "ReliefF, TOX_171": lambda: fd.ReliefF().evaluate(*tox),
        "C3, madelon": lambda: fd.ConstraintScore(3).evaluate(*made),
        "EVSC, pixraw10P": lambda: fd.EVSC().evaluate(pixels[0]),
        "compare sSelect and LS, ten draws, BASEHOCK": lambda: evaluate.compare(
            ["sselect", "laplacian"], *text, **compared
        ),
    }


def times(other: Path, seconds: float) -> None:
    """A line per piece of work, old and new in turns."""
    os.environ["NUMBA_CACHE_DIR"] = tempfile.mkdtemp()  # kernels kept by other runs know the package by another name
    packages = {"old": package(other, "fiedler_old"), "new": package(HERE, "fiedler_new")}
    made = {side: cases(fd, importlib.import_module(f"{fd.__name__}.evaluate")) for side, fd in packages.items()}
    print(f"{'work':46} {'old':>9} {'new':>9}  ratio of medians, of bests")
    for name in made["new"]:
        taken: dict[str, list[float]] = {"old": [], "new": []}
        start = time.perf_counter()
        while len(taken["new"]) < 6 or (time.perf_counter() - start < seconds and len(taken["new"]) < 60):
            for side in ("old", "new") if len(taken["new"]) % 2 else ("new", "old"):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    before = time.perf_counter()
                    made[side][name]()
                    taken[side].append(time.perf_counter() - before)
        middle, best = ({side: f(found[1:]) for side, found in taken.items()} for f in (np.median, min))
        ratios = f"{middle['new'] / middle['old']:.2f}, {best['new'] / best['old']:.2f}"
        print(f"{name:46} {1e3 * middle['old']:6.1f} ms {1e3 * middle['new']:6.1f} ms  {ratios}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.checkouts", description=__doc__)
    parser.add_argument("other", nargs="?", type=Path, help="folder of the other checkout")
    parser.add_argument("--bits", action="store_true", help="compare scores only")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each row of times")
    parser.add_argument("--dump", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.dump:
        dump(options.dump)
        return
    bits(options.other.resolve())
    if not options.bits:
        times(options.other.resolve(), options.seconds)


if __name__ == "__main__":
    main()
