"""Columns of noise beside real ones: what selection among them costs, and what a screen gives back -> docs/noise.md.

LLCFS and the gated Laplacian were written after their papers for this page; their numbers are on record
only. ``make bench`` measures what the screen costs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from fiedler import KNN, Agreeing, Rayleigh
from fiedler.evaluate import agreement

from .contenders import missing
from .judges import Judge
from .pages import share
from .runner import Found, Options, main
from .selectors import Select, by_selector, cur, fps
from .sets import SOURCES, DataSet, dense, drawn, names
from .significance import HEAVY, KINDS, generator, pvalues

TIMES, PLANTED_TIMES = (0, 1, 4, 16), (0, 1, 4, 16, 64)
ROWS, REAL = 200, 10  # of made data: rows, and columns that carry a structure
Draw = Callable[[np.random.Generator], np.ndarray]

FREE: dict[str, Select | None] = {
    "variance": by_selector("variance"),
    "EVSC": by_selector("evsc"),
    "FPS": fps,
    "CUR": cur,
    **dict.fromkeys(("LLCFS", "gated Laplacian")),  # on record
    "SPEC": by_selector("spec"),
    "LS": by_selector("laplacian"),
    "subset": by_selector("subset"),
    "subset, fdr": by_selector("subset", screen="fdr"),
    "LS, agreement": by_selector("laplacian", screen="agreement"),
    "subset, agreement": by_selector("subset", screen="agreement"),
}
ABLE = [method for method, select in FREE.items() if select and missing(method) is None]
KNOWING: dict[str, Select] = {
    f"{name}{', agreement' * bool(screen)}": by_selector(criterion, screen=screen)
    for name, criterion in {"sSelect": "sselect", "C4": "constraint[variant=4]", "SSLS": "ssls"}.items()
    for screen in (None, "agreement")
}


def _clusters(rng: np.random.Generator, apart: float = 2.0) -> np.ndarray:
    """Three groups, whose centres differ in every column."""
    group = rng.integers(3, size=ROWS)
    return apart * rng.standard_normal((3, REAL))[group] + rng.standard_normal((ROWS, REAL))


def _moons(rng: np.random.Generator) -> np.ndarray:
    """Two half circles in a plane, seen from ten directions."""
    angle, side = np.pi * rng.random(ROWS), rng.integers(2, size=ROWS)
    plane = np.column_stack([np.cos(angle) + side, np.where(side, -np.sin(angle) + 0.5, np.sin(angle))])
    seen = plane @ rng.standard_normal((2, REAL))
    return seen / seen.std(axis=0) + 0.4 * rng.standard_normal((ROWS, REAL))


def _path(rng: np.random.Generator) -> np.ndarray:
    """Waves along a line on which the rows lie."""
    place = rng.random(ROWS)[:, None]
    waves = np.sin(2 * np.pi * (place * rng.uniform(0.3, 1.2, REAL) + rng.random(REAL)))
    return waves / waves.std(axis=0) + 0.5 * rng.standard_normal((ROWS, REAL))


STRUCTURES: dict[str, Draw] = {
    "clusters": _clusters,
    "moons": _moons,
    "path": _path,
    "two structures": lambda rng: np.hstack([_clusters(rng)[:, : REAL // 2], _clusters(rng)[:, : REAL // 2]]),
    "weak clusters": lambda rng: _clusters(rng, 1.0),
}


def _square(rng: np.random.Generator) -> np.ndarray:
    """Two columns and their squares, which depend on them without correlating, beside six columns of clusters."""
    two = rng.standard_normal((ROWS, 2))
    return np.hstack([two, two**2 - 1.0, _clusters(rng)[:, : REAL - 4]])


def _alone(rng: np.random.Generator) -> np.ndarray:
    """One column that splits the rows in two, beside nine columns of clusters that are independent of it."""
    lone = 6.0 * rng.integers(2, size=(ROWS, 1)) + rng.standard_normal((ROWS, 1))
    return np.hstack([lone, _clusters(rng)[:, : REAL - 1]])


def planted(structure: Draw, times: int, spread: float, *key: object) -> np.ndarray:
    """Ten columns with a structure and ``times`` as many normal ones, ``spread`` times as wide as the ten are."""
    rng = generator("planted", times, spread, *key)
    real = structure(rng)
    noise = spread * real.std(axis=0).mean() * rng.standard_normal((ROWS, times * REAL))
    return np.hstack([real, noise])


def first_ten(structure: str, times: int, spread: float, draw: int, method: str) -> list[list[float]]:
    """Share of columns with structure among the first ten of a method; of the screen its recall and precision."""
    X = planted(STRUCTURES[structure], times, spread, structure, draw)
    if method != "kept":
        return [[float(np.mean(FREE[method](X, REAL) < REAL)), np.nan]]
    kept = agreement(X).kept
    return [[float(kept[:REAL].mean()), float(kept[:REAL].sum() / kept.sum())]]


def planted_structures(options: Options) -> Found:
    """Structures among 0 to 64 columns of noise for each of theirs."""
    draws, times, methods = *((1, (1, 4)) if options.quick else (10, PLANTED_TIMES)), ABLE
    problems = [(name, more, wide) for wide in (1.0, 2.0) for name in STRUCTURES for more in times if more or wide == 1]
    cells = [(*at, draw, method) for at in problems for draw in range(draws) for method in (*methods, "kept")]
    values: dict[tuple, list[list[float]]] = {}
    columns = "structure;times;spread;draw;method;value;precision"
    for row in options.rows("noise-planted", columns, first_ten, cells):
        at = row["structure"], int(row["times"]), float(row["spread"])
        values.setdefault((*at, row["method"]), []).append([float(row["value"]), float(row["precision"])])
    mean = {key: np.mean(found, axis=0) for key, found in values.items()}
    header = ["structure", "noise columns for each", *methods, "kept: recall", "kept: precision"]
    return {
        name: (header, [
            [at[0], str(at[1]), *(share(mean[*at, m][0]) for m in methods), *map(share, mean[*at, "kept"])]
            for at in problems if at[2] == wide
        ])
        for name, wide in (("planted", 1.0), ("planted-wide", 2.0))
    }  # fmt: skip


def with_noise(X: Any, times: int, rng: np.random.Generator) -> Any:
    """X and ``times`` copies of its columns, each of them in an order of its own."""
    copies = [rng.permuted(dense(X), axis=0) for _ in range(times)]
    return sp.csc_array(sp.hstack([X, *map(sp.csc_array, copies)])) if sp.issparse(X) else np.hstack([X, *copies])


def noisy(name: str, times: int) -> tuple[DataSet, Judge]:
    """A set with its permuted copies, and what judges choices there."""
    real = drawn(name)
    X = with_noise(real.X, times, real.rng(8, times))
    among = DataSet(real.name, real.kind, X, real.y, X)
    return real, Judge(among)


def beside_copies(name: str, times: int, method: str) -> list[list[float]]:
    """Accuracy, mean over sizes, and share of real columns of a method; of the screen its recall and precision, and the
    share of edges inside a class on the graph of all columns and of those that agree."""
    real, judge = noisy(name, times)
    X, m = judge.data.X, real.X.shape[1]
    if method == "kept":
        kept = agreement(X).kept
        return [[float(kept[:m].mean()), float(kept[:m].sum() / kept.sum())]]
    if method == "graph":
        edges = [recipe.build(X).edges for recipe in (KNN(5), Agreeing(KNN(5)))]
        return [[float(np.mean(real.y[i] == real.y[j])) for i, j, _ in edges]]
    columns = FREE[method](X, real.sizes[-1])
    accuracy = np.mean([judge.value(columns[:size]) for size in real.sizes])
    return [[float(accuracy), float(np.mean([np.mean(columns[:size] < m) for size in real.sizes]))]]


def real_sets(options: Options) -> Found:
    """Real sets beside permuted copies of their columns."""
    times, methods = (0, 4) if options.quick else TIMES, ABLE
    sets = names(options.quick, target="classes")
    cells = [(name, more, method) for name in sets for more in times for method in (*methods, "kept", "graph")]
    found = options.rows("noise-real", "set;times;method;value;second", beside_copies, cells)
    value = {(r["set"], int(r["times"]), r["method"]): [float(r["value"]), float(r["second"])] for r in found}
    tables: Found = {}
    header = ["method", *(f"accuracy, {more} times" for more in times), *(f"real, {more} times" for more in times)]
    for block in ("study", "held-out"):
        for text in (False, True):
            some = [n for n in sets if SOURCES[n]["block"] == block and (SOURCES[n]["kind"] == "text") == text]
            title = f"{'real' if block == 'study' else block}{'-text' * text}"
            mean = {m: np.mean([[value[n, more, m] for more in times] for n in some], axis=0) for m in methods if some}
            if some:
                tables[title] = header, [[m, *(share(v) for v in mean[m].T.ravel())] for m in methods]
    most = times[-1]
    pairs = [(more, method) for more in (0, most) for method in ("subset", "subset, agreement")]
    by_set = [
        [n, SOURCES[n]["block"], SOURCES[n]["kind"], *(share(value[n, *at][0]) for at in pairs)]
        + [share(v) for v in value[n, most, "kept"]]
        for n in sets
    ]
    header = ["set", "block", "kind", "subset, no noise", "with screen", f"subset, {most} times", "with screen"]
    tables["sets"] = [*header, "kept of the real", "real among the kept"], by_set
    plain = [n for n in sets if SOURCES[n]["kind"] != "text"]
    graphs = [[str(t), *map(share, np.mean([value[n, t, "graph"] for n in plain], axis=0))] for t in times]
    return tables | {"graphs": (["noise columns for each", "KNN(5)", "Agreeing(KNN(5))"], graphs)}


DEFAULT: dict[str, Select] = {
    "subset, auto (the default)": by_selector("subset", "auto"),
    "subset": by_selector("subset"),
    "LS, redundancy, auto": by_selector("laplacian", "auto", redundancy=True),
    "LS, redundancy": by_selector("laplacian", redundancy=True),
    "variance, redundancy": by_selector("variance", redundancy=True),
}


def few_columns(name: str, times: int) -> list[list]:
    """Accuracy of 20 columns, or a quarter of the real ones if these are fewer, and the share of real ones; in the last
    row whether the default chooses what it chooses without a screen."""
    real, judge = noisy(name, times)
    X, m = judge.data.X, real.X.shape[1]
    k = min(20, max(1, m // 4))
    chosen = {method: select(X, k) for method, select in DEFAULT.items()}
    rows: list[list] = [[method, float(judge.value(c)), float(np.mean(c < m))] for method, c in chosen.items()]
    return [*rows, ["same", float(np.array_equal(*list(chosen.values())[:2])), 0.0]]


def default(options: Options) -> Found:
    """What the default chooses, with and without noise."""
    sets, times = names(options.quick, target="classes"), (0, 4) if options.quick else TIMES
    cells = [(name, more) for name in sets for more in times]
    found = options.rows("noise-default", "set;times;method;value;real", few_columns, cells)
    value = {(r["set"], int(r["times"]), r["method"]): [float(r["value"]), float(r["real"])] for r in found}
    kind = {name: "text" if SOURCES[name]["kind"] == "text" else SOURCES[name]["block"] for name in sets}
    rows = []
    for block in sorted(set(kind.values())):
        some = [name for name in sets if kind[name] == block]
        for method in DEFAULT:
            mean = np.mean([[value[n, t, method] for t in times] for n in some], axis=0)
            rows.append([f"{block}, {len(some)}", method, *map(share, mean.T.ravel())])
    header = ["sets", "method", *(f"{t} times" for t in times), *(f"real, {t} times" for t in times)]
    auto, plain = list(DEFAULT)[:2]
    changed = [name for name in sets if not value[name, 0, "same"][0]]
    other = [
        f"{name}: {share(value[name, 0, auto][0])} instead of {share(value[name, 0, plain][0])}" for name in changed
    ]
    clean = [[str(len(sets)), str(len(sets) - len(changed)), "; ".join(other) or "–"]]
    return {"default": (header, rows), "clean": (["sets without noise", "equal to screen=None", "others"], clean)}


def told(name: str, draw: int, times: int) -> list[list]:
    """Of methods that read labels the mean over sizes of accuracy on hidden rows, or minus the RMSE of y."""
    real, judge = noisy(name, times)
    shown = real.shown(5 if real.has_classes else 20, draw)
    y = np.full(len(real.y), -1 if real.has_classes else np.nan, dtype=real.y.dtype)
    y[shown] = real.y[shown]
    found = []
    for method in (method for method in KNOWING if method.startswith("SSLS") != real.has_classes):
        columns = KNOWING[method](judge.data.X, real.sizes[-1], 0, y)
        found.append([method, float(np.mean([judge.value(columns[:size], shown) for size in real.sizes]))])
    return found


def knowing(options: Options) -> Found:
    """The same at 16 times for methods that read labels or targets."""
    draws, times = (1, (0, 4)) if options.quick else (3, (0, 16))
    sets = [name for name in names(options.quick, block="study") if SOURCES[name]["kind"] != "text"]
    cells = [(name, draw, more) for name in sets for draw in range(draws) for more in times]
    values: dict[str, dict[tuple[int, str], list[float]]] = {method: {} for method in KNOWING}
    for row in options.rows("noise-told", "set;draw;times;method;value", told, cells):
        values[row["method"]].setdefault((int(row["times"]), row["set"]), []).append(float(row["value"]))
    mean = {
        method: {t: np.array([np.mean(v) for (more, _), v in found.items() if more == t]) for t in times}
        for method, found in values.items()
    }
    rows = []
    for method, found in mean.items():
        plain = method.removesuffix(", agreement")
        better = f"{np.sum(found[times[-1]] > mean[plain][times[-1]])} of {len(found[0])}"
        measure = "minus RMSE / sd of y" if plain == "SSLS" else "accuracy"
        rows.append([method, measure, *(f"{found[t].mean():.3f}" for t in times), "–" if plain == method else better])
    header = ["method", "measure", *(f"{more} times" for more in times), f"sets better at {times[-1]} times"]
    return {"knowing": (header, rows)}


def _declared(kind: str, n: int, m: int, draw: int) -> list[float]:
    found = agreement((KINDS | HEAVY)[kind](generator("nothing", kind, n, m, draw), n, m))
    alone = found.n_rounds == 1
    return [float(not alone), float(np.nanmean(found.pvalues <= 0.05)) if alone else np.nan]


def nothing(options: Options) -> Found:
    """Pure noise: how often something is declared."""
    draws, rows = 5 if options.quick else 100, []
    for kind in (*KINDS, *HEAVY):
        for n, m in ((50, 200), (200, 200), (200, 1000)):
            found = np.array(options.map(_declared, [(kind, n, m, draw) for draw in range(draws)]))
            rows.append([kind, f"{n} × {m}", share(found[:, 0].mean()), share(np.nanmean(found[:, 1]))])
    return {"nothing": (["noise", "rows × columns", "something declared", "p ≤ .05 where nothing is"], rows)}


def _with_tails(rng: np.random.Generator, times: int) -> np.ndarray:
    """Clusters whose errors, and noise whose values, follow Student's t with 2.5 degrees of freedom."""
    centres = 2.0 * rng.standard_normal((3, REAL))[rng.integers(3, size=ROWS)]
    return np.hstack([centres, np.zeros((ROWS, times * REAL))]) + rng.standard_t(2.5, (ROWS, (times + 1) * REAL))


def failing(options: Options) -> Found:
    """Where agreement does not help."""
    draws, rows = range(2 if options.quick else 20), []
    for name, structure, unseen in (  # how they are drawn, and how many columns come first that it cannot see
        ("columns and their squares, beside clusters", _square, 4),
        ("a lone column of two groups, beside clusters", _alone, 1),
    ):
        found = [agreement(planted(structure, 16, 1.0, name, draw)).kept[:unseen] for draw in draws]
        rows.append([f"{name}, 16 times noise", "those that are dropped", share(1.0 - float(np.mean(found)))])
    blocks, tails = "20 blocks of five noise columns with r = .5, beside 1,000 others", "clusters among tails of t2.5"
    kept = []
    for draw in draws:
        rng = generator(blocks, draw)
        common = np.repeat(rng.standard_normal((ROWS, 20)), 5, axis=1)
        made = np.sqrt(0.5) * (common + rng.standard_normal((ROWS, 100)))
        kept.append(agreement(np.hstack([made, rng.standard_normal((ROWS, 1000))])).kept[:100])
    rows.append([blocks, "noise of the blocks that is kept", share(float(np.mean(kept)))])
    for times in (16, 64):
        found = [agreement(_with_tails(generator(tails, times, draw), times)) for draw in draws]
        both = np.mean([[a.kept[:REAL].mean(), a.kept[REAL:].sum() / a.n_kept] for a in found], axis=0)
        rows.append([f"{tails}, {times} times", "clusters that are dropped", share(1.0 - float(both[0]))])
        rows.append([f"{tails}, {times} times", "noise among the kept", share(float(both[1]))])
    return {"failing": (["data", "measure", "share"], rows)}


def _power(structure: str, times: int, recipe: Any, draw: int) -> list[float]:
    X = planted(STRUCTURES[structure], times, 1.0, structure, "refined", draw)
    p = pvalues(Rayleigh(recipe), X, n_repeats=1)
    return [float(np.mean(p[:REAL] <= 0.05)), float(np.mean(p[REAL:] <= 0.05))]


def refined(options: Options) -> Found:
    """p-values on graphs of the columns that agree."""
    draws, rows = (1 if options.quick else 10), []
    for structure in ("clusters", "path"):
        for times in (4,) if options.quick else (16, 64):
            for name, recipe in {"KNN(5)": KNN(5), "Agreeing(KNN(5))": Agreeing(KNN(5))}.items():
                found = options.map(_power, [(structure, times, recipe, draw) for draw in range(draws)])
                rows.append([structure, str(times), name, *map(share, np.mean(found, axis=0))])
    header = ["structure", "noise columns for each", "graph", "power at .05", "type I error at .05"]
    return {"refined": (header, rows)}


EXPERIMENTS = (planted_structures, real_sets, default, knowing, nothing, failing, refined)

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main("noise", EXPERIMENTS)
