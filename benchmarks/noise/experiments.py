"""The experiments behind docs/noise.md; each gives tables by name, as a header and rows.

planted     structures among 0 to 64 columns of noise for each of theirs
real        real sets beside permuted copies of their columns
knowing     the same at 16 times for methods that read labels or targets
nothing     pure noise: how often something is declared
failing     where agreement does not help
refined     p-values on graphs of the columns that agree
cost        seconds of agreement, beside one Laplacian score
seconds     seconds of every method on one set
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Memory, Parallel, delayed

from fiedler import KNN, Agreeing, LaplacianScore, Rayleigh
from fiedler.evaluate import agreement

from .. import data
from ..significance.noise import HEAVY, KINDS, generator, pvalues
from ..study.judge import Judge
from ..study.sets import KINDS as SET_KINDS
from ..study.sets import SMALL, SOURCES, DataSet, load
from .contenders import FREE, KNOWING
from .planted import FAILING, REAL, ROWS, STRUCTURES, planted

Tables = dict[str, tuple[list[str], list[list[Any]]]]
TIMES, PLANTED_TIMES = (0, 1, 4, 16), (0, 1, 4, 16, 64)
MAX_ROWS, MAX_COLUMNS = 400, 1000
BLOCKS = ("study", "held-out")
SUBSET, SCREENED = "subset", "subset, agreement"


def kept_results(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose results are kept in the folder ``NOISE_CELLS``, if this variable is set, and read from there."""
    folder = os.environ.get("NOISE_CELLS")
    return Memory(folder, verbose=0).cache(function) if folder else function


def share(value: float) -> str:
    """.95 rather than 0.95; a dash where there is none."""
    return f"{value:.3f}".lstrip("0") if 0 <= value < 1 else f"{value:.3f}" if value == value else "–"


# -------------------------------------------------------------------- planted


def _first_ten(structure: str, times: int, spread: float, draw: int, methods: tuple[str, ...]) -> list[float]:
    """Share of columns with structure among the first ten of each method, then recall and precision of the kept."""
    X = planted(STRUCTURES[structure], times, spread, structure, draw)
    kept = agreement(X).kept
    found = [float(np.mean(FREE[method](X, REAL) < REAL)) for method in methods]
    return [*found, float(kept[:REAL].mean()), float(kept[:REAL].sum() / kept.sum())]


def planted_structures(quick: bool, jobs: int, methods: tuple[str, ...] = tuple(FREE)) -> Tables:
    draws, times = (1, (1, 4)) if quick else (10, PLANTED_TIMES)
    cells = [(name, more, wide) for wide in (1.0, 2.0) for name in STRUCTURES for more in times if more or wide == 1.0]
    once = kept_results(_first_ten)
    found = Parallel(jobs)(delayed(once)(*cell, draw, methods) for cell in cells for draw in range(draws))
    means = np.reshape(found, (len(cells), draws, -1)).mean(axis=1)
    header = ["structure", "noise columns for each", *methods, "kept: recall", "kept: precision"]
    tables: Tables = {}
    for table, wide in (("planted", 1.0), ("planted-wide", 2.0)):
        here = [place for place, cell in enumerate(cells) if cell[2] == wide]
        tables[table] = header, [[*map(str, cells[at][:2]), *map(share, means[at])] for at in here]
    return tables


# -------------------------------------------------------------------- real sets


def with_noise(X: Any, times: int, rng: np.random.Generator) -> Any:
    """X and ``times`` copies of its columns, each of them in an order of its own."""
    if not sp.issparse(X):
        return np.hstack([X, *(rng.permuted(X, axis=0) for _ in range(times))])
    copies = [sp.csc_array(rng.permuted(X.toarray(), axis=0)) for _ in range(times)]
    return sp.csc_array(sp.hstack([X, *copies]))


def drawn(name: str) -> DataSet:
    """A set of at most 400 rows and 1,000 columns that vary there."""
    whole = load(name, MAX_ROWS)
    dense = whole.X.toarray() if sp.issparse(whole.X) else np.asarray(whole.X, dtype=np.float64)
    varying = np.flatnonzero(dense.max(axis=0) > dense.min(axis=0))
    columns = np.sort(whole.rng(7).permutation(varying)[:MAX_COLUMNS])
    return DataSet(whole.name, whole.kind, whole.X[:, columns], whole.y, whole.X[:, columns])


def noisy(real: DataSet, times: int) -> DataSet:
    X = with_noise(real.X, times, real.rng(8, times))
    return DataSet(real.name, real.kind, X, real.y, X)


def _purity(X: Any, y: np.ndarray, recipe: Any) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        i, j, _ = recipe.build(X).edges
    return float(np.mean(y[i] == y[j]))


def _chosen(name: str, times: int, methods: tuple[str, ...]) -> dict[str, list[float]]:
    """Accuracy, mean over sizes, and share of real columns of every method; of graphs the share of edges in a class."""
    real = drawn(name)
    among = noisy(real, times)
    judge, m, sizes = Judge(among), real.X.shape[1], real.sizes
    found = {}
    for method in methods:
        columns = FREE[method](among.X, sizes[-1])
        accuracy = np.mean([judge.value(columns[:size]) for size in sizes])
        found[method] = [float(accuracy), float(np.mean([np.mean(columns[:size] < m) for size in sizes]))]
    kept = agreement(among.X).kept
    found["graph"] = [_purity(among.X, real.y, recipe) for recipe in (KNN(5), Agreeing(KNN(5)))]
    found["kept"] = [float(kept[:m].mean()), float(kept[:m].sum() / kept.sum())]
    return found


def _names(block: str, target: str, quick: bool) -> list[str]:
    names = [name for name, row in SOURCES.items() if row["block"] == block and row["target"] == target]
    return [name for name in names if name in SMALL] if quick else names


def real_sets(quick: bool, jobs: int, methods: tuple[str, ...] = tuple(FREE)) -> Tables:
    tables: Tables = {}
    times = (0, 4) if quick else TIMES
    by_set, graphs = [], []
    for block in BLOCKS:
        names = _names(block, "classes", quick)
        once = kept_results(_chosen)
        found = Parallel(jobs)(delayed(once)(name, more, methods) for name in names for more in times)
        values = {(name, more): found.pop(0) for name in names for more in times}
        kinds = {"no text": [kind for kind in SET_KINDS if kind != "text"], "text": ["text"]}
        for title, wanted in kinds.items():
            some = [name for name in names if SOURCES[name]["kind"] in wanted]
            if not some:
                continue
            table = f"{'real' if block == 'study' else block}{'-text' * (title == 'text')}"
            tables[table] = _means(values, some, times, methods)
        graphs += [[values[n, more]["graph"] for more in times] for n in names if SOURCES[n]["kind"] != "text"]
        if {SUBSET, SCREENED} <= set(methods):
            by_set += [_of_set(values, name, block, times[-1]) for name in names]
    header = ["set", "block", "kind", "subset, no noise", "with screen", f"subset, {times[-1]} times", "with screen"]
    if by_set:
        tables["sets"] = [*header, "kept of the real", "real among the kept"], by_set
    rows = [[str(more), *map(share, both)] for more, both in zip(times, np.mean(graphs, axis=0), strict=True)]
    tables["graphs"] = ["noise columns for each", "KNN(5)", "Agreeing(KNN(5))"], rows
    return tables


def _means(
    values: dict[Any, dict[str, list[float]]], names: list[str], times: Iterable[int], methods: Iterable[str]
) -> Any:
    header = ["method", *(f"accuracy, {more} times" for more in times), *(f"real, {more} times" for more in times)]
    rows = []
    for method in methods:
        cells = [[np.mean([values[name, more][method][k] for name in names]) for more in times] for k in (0, 1)]
        rows.append([method, *(share(float(value)) for value in (*cells[0], *cells[1]))])
    return header, rows


def _of_set(values: dict[Any, dict[str, list[float]]], name: str, block: str, most: int) -> list[str]:
    pairs = [values[name, more][method][0] for more in (0, most) for method in (SUBSET, SCREENED)]
    return [name, block, SOURCES[name]["kind"], *map(share, (*pairs, *values[name, most]["kept"]))]


# -------------------------------------------------------------------- labels and targets


def _told(name: str, draw: int, times: int) -> dict[str, float]:
    """Of methods that read labels the mean over sizes of accuracy on hidden rows, or minus the RMSE of y."""
    real = drawn(name)
    among, shown = noisy(real, times), real.shown(5 if real.has_classes else 20, draw)
    y = np.full(len(real.y), -1 if real.has_classes else np.nan, dtype=real.y.dtype)
    y[shown] = real.y[shown]
    judge, sizes = Judge(among), real.sizes
    wanted = [method for method in KNOWING if method.startswith("SSLS") != real.has_classes]
    found = {}
    for method in wanted:
        columns = KNOWING[method](among.X, sizes[-1], y)
        found[method] = float(np.mean([judge.value(columns[:size], shown) for size in sizes]))
    return found


def knowing(quick: bool, jobs: int) -> Tables:
    draws, times = (1, (0, 4)) if quick else (3, (0, 16))
    rows = []
    for target in ("classes", "real"):
        names = [name for name in _names("study", target, quick) if SOURCES[name]["kind"] != "text"]
        cells = [(name, draw, more) for name in names for draw in range(draws) for more in times]
        values = dict(zip(cells, Parallel(jobs)(delayed(_told)(*cell) for cell in cells), strict=True))
        for method in values[cells[0]]:
            means = [
                np.mean([[values[name, draw, more][method] for draw in range(draws)] for name in names], axis=1)
                for more in times
            ]
            plain = method.removesuffix(", agreement")
            before = np.mean([[values[n, d, times[-1]][plain] for d in range(draws)] for n in names], axis=1)
            better = "–" if plain == method else f"{np.sum(means[-1] > before)} of {len(names)}"
            numbers = [f"{float(part.mean()):.3f}" for part in means]
            rows.append([method, "accuracy" if target == "classes" else "minus RMSE / sd of y", *numbers, better])
    header = ["method", "measure", *(f"{more} times" for more in times), f"sets better at {times[-1]} times"]
    return {"knowing": (header, rows)}


# -------------------------------------------------------------------- noise alone, failures, p-values, cost


def _declared(kind: str, n: int, m: int, draw: int) -> list[float]:
    found = agreement((KINDS | HEAVY)[kind](generator("nothing", kind, n, m, draw), n, m))
    first = found.pvalues if found.n_rounds == 1 else np.full(m, np.nan)
    return [float(found.n_rounds > 1), float(np.nanmean(first <= 0.05)) if found.n_rounds == 1 else np.nan]


def nothing(quick: bool, jobs: int) -> Tables:
    draws = 5 if quick else 100
    cells = [(kind, n, m) for kind in (*KINDS, *HEAVY) for n, m in ((50, 200), (200, 200), (200, 1000))]
    rows = []
    for cell in cells:
        found = np.array(Parallel(jobs)(delayed(_declared)(*cell, draw) for draw in range(draws)))
        rows.append([cell[0], f"{cell[1]} × {cell[2]}", share(found[:, 0].mean()), share(np.nanmean(found[:, 1]))])
    return {"nothing": (["noise", "rows × columns", "something declared", "p ≤ .05 where nothing is"], rows)}


def _blocks_and_noise(rng: np.random.Generator) -> np.ndarray:
    """Twenty blocks of five noise columns with correlations of .5, then independent columns."""
    common = np.repeat(rng.standard_normal((ROWS, 20)), 5, axis=1)
    blocks = np.sqrt(0.5) * (common + rng.standard_normal((ROWS, 100)))
    return np.hstack([blocks, rng.standard_normal((ROWS, 1000))])


def failing(quick: bool, jobs: int) -> Tables:
    draws, rows = range(2 if quick else 20), []
    for name, (structure, unseen) in FAILING.items():
        found = [agreement(planted(structure, 16, 1.0, name, draw)).kept[:unseen] for draw in draws]
        rows.append([f"{name}, 16 times noise", "those that are dropped", share(1.0 - float(np.mean(found)))])
    blocks, tails = "20 blocks of five noise columns with r = .5, beside 1,000 others", "clusters among tails of t2.5"
    found = [agreement(_blocks_and_noise(generator(blocks, draw))) for draw in draws]
    rows.append([blocks, "noise of the blocks that is kept", share(float(np.mean([a.kept[:100] for a in found])))])
    for times in (16, 64):
        found = [agreement(_with_tails(generator(tails, times, draw), times)) for draw in draws]
        kept = np.mean([[a.kept[:REAL].mean(), a.kept[REAL:].sum() / a.n_kept] for a in found], axis=0)
        rows.append([f"{tails}, {times} times", "clusters that are dropped", share(1.0 - float(kept[0]))])
        rows.append([f"{tails}, {times} times", "noise among the kept", share(float(kept[1]))])
    return {"failing": (["data", "measure", "share"], rows)}


def _with_tails(rng: np.random.Generator, times: int) -> np.ndarray:
    """Clusters whose errors, and noise whose values, follow Student's t with 2.5 degrees of freedom."""
    centres = 2.0 * rng.standard_normal((3, REAL))[rng.integers(3, size=ROWS)]
    return np.hstack([centres, np.zeros((ROWS, times * REAL))]) + rng.standard_t(2.5, (ROWS, (times + 1) * REAL))


def _power(structure: str, times: int, recipe: Any, draw: int) -> list[float]:
    X = planted(STRUCTURES[structure], times, 1.0, structure, "refined", draw)
    p = pvalues(Rayleigh(recipe), X, n_repeats=1)
    return [float(np.mean(p[:REAL] <= 0.05)), float(np.mean(p[REAL:] <= 0.05))]


def refined(quick: bool, jobs: int) -> Tables:
    draws, rows = (1 if quick else 10), []
    for structure in ("clusters", "path"):
        for times in (4,) if quick else (16, 64):
            for name, recipe in {"KNN(5)": KNN(5), "Agreeing(KNN(5))": Agreeing(KNN(5))}.items():
                found = Parallel(jobs)(delayed(_power)(structure, times, recipe, draw) for draw in range(draws))
                rows.append([structure, str(times), name, *map(share, np.mean(found, axis=0))])
    header = ["structure", "noise columns for each", "graph", "power at .05", "type I error at .05"]
    return {"refined": (header, rows)}


def _best(function: Callable[[], Any], repeats: int) -> float:
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def cost(quick: bool, jobs: int) -> Tables:
    shapes: dict[str, Callable[[], np.ndarray]] = {
        "TOX": lambda: data.load("TOX_171")[0],
        "TOX, 16 times noise": lambda: with_noise(data.load("TOX_171")[0], 16, generator("cost")),
        "madelon": lambda: data.load("madelon")[0],
        "normal": lambda: data.gaussian(2000, 20_000),
    }
    rows = []
    for name, make in list(shapes.items())[: 1 if quick else None]:
        X = make()
        repeats = 7 if X.size < 1e7 else 3
        score = LaplacianScore()
        alone, found = _best(lambda: score.evaluate(X), repeats), agreement(X)  # noqa: B023
        ours = _best(lambda: agreement(X), repeats)  # noqa: B023
        shape = f"{X.shape[0]:,} × {X.shape[1]:,}"
        rows.append([name, shape, str(found.n_rounds), f"{alone:.3f}", f"{ours:.3f}", f"{ours / alone:.1f}"])
    header = ["data", "rows × columns", "rounds", "Laplacian score, s", "agreement, s", "ratio"]
    return {"cost": (header, rows)}


def seconds(quick: bool, jobs: int) -> Tables:
    """Seconds of every method for 50 columns of TOX, beside the Laplacian score."""
    X = data.load("TOX_171")[0]
    found = {method: _best(lambda: order(X, 50), 1 if quick else 3) for method, order in FREE.items()}  # noqa: B023
    rows = [[method, f"{best:.3g}", f"{best / found['LS']:.3g}"] for method, best in found.items()]
    return {"seconds": (["method", "seconds", "times LS"], rows)}


EXPERIMENTS = (cost, seconds, planted_structures, real_sets, knowing, nothing, failing, refined)
