"""The experiments behind docs/is-it-real.md; each gives tables by name, as a header and rows, and findings.

noise     type I error on pure noise, by kind of noise and size
labels    the same for methods that read labels, targets or pairs
planted   false and true discoveries among planted clusters
real      real data sets beside shuffled copies of their own features
breaks    noise that is not exchangeable, and what repairs it
speed     seconds, beside permutations and beside one Laplacian score
"""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from scipy.stats import false_discovery_control

from fiedler import (
    KNN,
    ConstraintScore,
    FisherScore,
    LaplacianScore,
    Rayleigh,
    SignificanceDisplay,
    SSelect,
    SupervisedLaplacianScore,
    pairs_from_labels,
)
from fiedler.evaluate import significance

from .. import data
from ..study.sets import load
from .noise import HEAVY, KINDS, generator, pvalues, rejected, shares

Tables = dict[str, tuple[list[str], list[list[Any]]]]
Findings = list[tuple[str, bool, str]]  # claim, whether it comes out, evidence
LEVELS = [".05", ".01", ".001"]

# -------------------------------------------------------------------- noise

# rows, features, draws
SIZES = ((50, 20, 500), (50, 200, 100), (200, 200, 100), (200, 1000, 20), (1000, 1000, 16), (1000, 5000, 4))
HEAVY_SIZES = ((50, 200, 50), (200, 1000, 10))
MEDIAN_SIZES = ((50, 200, 40), (200, 200, 40), (200, 1000, 8))
QUICK_SIZES = ((50, 20, 5), (100, 100, 3))


def cell(kind: str, n: int, m: int, draws: int, n_repeats: int = 1) -> dict[str, Any]:
    """Shares of noise rejected, on the graphs of other features and on the graph of all."""
    ours, naive = [], []
    for number in range(draws):
        X = (KINDS | HEAVY)[kind](generator(kind, n, m, number), n, m)
        ours.append(pvalues("laplacian", X, n_repeats=n_repeats))
        if n_repeats == 1:
            naive.append(pvalues(Rayleigh(KNN().build(X)), X))
    found = {"kind": kind, "n": n, "m": m, "ours": rejected(np.concatenate(ours)), "tested": sum(map(len, ours))}
    return found | {"naive": rejected(np.concatenate(naive)) if naive else None}


def noise(quick: bool, jobs: int) -> tuple[Tables, Findings]:
    plain, heavy, median = (QUICK_SIZES,) * 3 if quick else (SIZES, HEAVY_SIZES, MEDIAN_SIZES)
    work = {
        "noise": [(kind, *size, 1) for size in plain for kind in KINDS],
        "noise-median": [("normal", *size, 5) for size in median],
        "noise-heavy": [(kind, *size, 1) for size in heavy for kind in HEAVY],
    }
    longest = sorted((one for part in work.values() for one in part), key=lambda one: -np.prod(one[1:]))
    found = dict(zip(longest, Parallel(n_jobs=jobs)(delayed(cell)(*one) for one in longest), strict=True))
    header = ["noise", "rows × features", "naive .05", ".01", ".001", "ours .05", ".01", ".001", "features tested"]
    tables = {name: (header, [_noise_row(found[one]) for one in part]) for name, part in work.items()}
    cells = [found[one] for one in work["noise"]]
    at05, at01 = ([c["ours"][place] / level for c in cells] for place, level in ((0, 0.05), (1, 0.01)))
    naive = [c["naive"][0] for c in cells]
    return tables, [
        (
            "On noise, the share rejected at .05 is between 0.8 and 1.2 of .05 in every cell",
            0.8 <= min(at05) and max(at05) <= 1.2,
            f"{min(at05):.2f} to {max(at05):.2f}",
        ),
        (
            "On noise, the share rejected at .01 is between 0.6 and 1.4 of .01 in every cell",
            0.6 <= min(at01) and max(at01) <= 1.4,
            f"{min(at01):.2f} to {max(at01):.2f}",
        ),
        (
            "Naive p-values reject much more noise than they should",
            min(naive) > 0.1,
            f"{min(naive):.0%} to {max(naive):.0%} of noise at .05",
        ),
    ]


def _noise_row(c: dict[str, Any]) -> list[str]:
    naive = shares(c["naive"]) if c["naive"] else ["–"] * 3
    return [c["kind"], f"{c['n']} × {c['m']}", *naive, *shares(c["ours"]), f"{c['tested']:,}"]


# -------------------------------------------------------------------- labels


def labels(quick: bool, jobs: int) -> tuple[Tables, Findings]:
    """Fisher, C1, SLS and sSelect on noise, told labels that mean nothing."""
    m, rows = (500, (40,)) if quick else (20_000, (20, 40, 200))
    found: list[tuple[str, str, int, np.ndarray]] = []
    for kind, n in itertools.product(("normal", "binary, 30 %", "lognormal"), rows):
        rng = generator("labels", kind, n)
        X, y = (KINDS | HEAVY)[kind](rng, n, m), rng.permutation(np.arange(n) % 2)
        target = rng.standard_normal(n)
        must, cannot = pairs_from_labels(y, min(2 * n, 40), 0)
        found.append(("Fisher", kind, n, pvalues(FisherScore(), X, y)))
        found.append(("C1", kind, n, pvalues(ConstraintScore(1), X, must_link=must, cannot_link=cannot)))
        found.append(("SLS", kind, n, pvalues(SupervisedLaplacianScore(), X, target)))
        for shown in (number for number in (20, 100) if number < n):
            few = np.where(np.arange(n) < shown, y, -1)
            found.append((f"sSelect, {shown} labels", kind, n, pvalues(SSelect(), X[:, : m // 4], few, n_repeats=1)))
    order = ["Fisher", "C1", "SLS", "sSelect, 20 labels", "sSelect, 100 labels"]
    found.sort(key=lambda one: (order.index(one[0]), one[2]))
    table = [[method, kind, n, *shares(rejected(p)), f"{len(p):,}"] for method, kind, n, p in found]
    worst = max(rejected(p)[0] for *_, p in found)
    claim = "With labels, no method rejects more than 1.2 times .05"
    header = ["method", "noise", "rows", *LEVELS, "features tested"]
    return {"labels": (header, table)}, [(claim, worst <= 0.06, f"at most {worst:.3f}")]


# -------------------------------------------------------------------- planted clusters

ROWS, REAL, APART, CLUSTERS = (100, 200, 500), (20, 100), (0.75, 1.0, 1.5), (2, 5)
FEATURES, Q = 500, 0.1
WAYS = {  # options, correction
    "one dealing, BH": ({"n_repeats": 1}, "bh"),
    "one dealing, BY": ({"n_repeats": 1}, "by"),
    "one dealing of 2 folds, BH": ({"n_repeats": 1, "n_folds": 2}, "bh"),
    "median of 5, BH (the default)": ({"n_repeats": 5}, "bh"),
}


def with_clusters(n: int, real: int, apart: float, clusters: int, number: int) -> np.ndarray:
    """Normal noise; in the first ``real`` columns clusters of rows have means of standard deviation ``apart``."""
    rng = generator("planted", n, real, apart, clusters, number)
    X = rng.standard_normal((n, FEATURES))
    means = rng.standard_normal((clusters, real))
    means = (means - means.mean(axis=0)) / means.std(axis=0)
    X[:, :real] += apart * means[rng.permutation(np.arange(n) % clusters)]
    return X


def discoveries(n: int, real: int, apart: float, clusters: int, number: int) -> list[tuple[str, int, float, float]]:
    """For each way to test: the share of false discoveries, and the share of planted features found."""
    X, known, found = with_clusters(n, real, apart, clusters, number), {}, []
    for way, (options, correction) in WAYS.items():
        key = repr(options)
        known[key] = known[key] if key in known else pvalues("laplacian", X, **options)
        chosen = false_discovery_control(known[key], method=correction) <= Q
        false, true = int(chosen[real:].sum()), int(chosen[:real].sum())
        found.append((way, n, false / max(false + true, 1), true / real))
    return found


def planted(quick: bool, jobs: int) -> tuple[Tables, Findings]:
    settings = [(100, 100, 1.5, 2)] if quick else sorted(itertools.product(ROWS, REAL, APART, CLUSTERS), reverse=True)
    cells = [(*setting, number) for setting in settings for number in range(1 if quick else 2)]
    rows = [row for part in Parallel(n_jobs=jobs)(delayed(discoveries)(*one) for one in cells) for row in part]
    table, rate = [], {}
    for way in WAYS:
        mine = [row for row in rows if row[0] == way]
        rate[way] = float(np.mean([false for _, _, false, _ in mine]))
        power = [np.mean([p for _, n, _, p in mine if size in (None, n)] or [np.nan]) for size in (None, *ROWS)]
        table.append([way, f"{rate[way]:.3f}", *(f"{share:.2f}" for share in power)])
    header = ["how", "false share of what is found", "planted found", *(f"{n} rows" for n in ROWS)]
    first, default = rate["one dealing, BH"], rate["median of 5, BH (the default)"]
    claim = f"On average at most .12 of the features found at q ≤ {Q} are noise"
    told = f"{first:.3f} with one dealing, {default:.3f} with the median of five"
    return {"planted": (header, table)}, [(claim, max(first, default) <= 0.12, told)]


def planted_figure() -> Any:
    """The library's own display of one setting."""
    from matplotlib.figure import Figure

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        result = significance("laplacian", with_clusters(200, 100, 0.75, 2, 0))
    drawn = Figure(figsize=(9.6, 3.6), layout="constrained")
    SignificanceDisplay.from_significance(result, axes=drawn.subplots(1, 2))
    return drawn


# -------------------------------------------------------------------- real data

CASES = (  # text by the angles between its rows, and as it is
    ("wine", "knn"),
    ("colon_alon", "knn"),
    ("juice", "knn"),
    ("TOX_171", "knn"),
    ("PCMAC", "knn[metric=cosine]"),
    ("PCMAC", "knn"),
)
COPIES = 1000  # at most, of each data set
# Guyon's list: five features, five combinations of them and ten copies; numbered from 0.
MADELON = (28, 48, 64, 105, 128, 153, 241, 281, 318, 336, 338, 378, 433, 442, 451, 453, 455, 472, 475, 493)


def with_copies(name: str) -> tuple[Any, int]:
    """X of a data set as the study scales it, shuffled copies of some features to its right, and how many."""
    X, rng = load(name).X, generator("copies", name)
    m = X.shape[1]
    wanted = m if m > 100 else 300  # of a narrow table several copies of each
    few = m <= COPIES
    chosen = rng.permutation(np.arange(min(wanted, COPIES)) % m) if few else rng.choice(m, COPIES, replace=False)
    source = X[:, chosen].toarray() if sp.issparse(X) else X[:, chosen]
    copies = rng.permuted(source, axis=0)
    return (sp.csc_array(sp.hstack([X, sp.csc_array(copies)])) if sp.issparse(X) else np.hstack([X, copies])), len(
        chosen
    )


def beside_copies(name: str, graph: str) -> tuple[list[Any], float]:
    """A row of the table, and the share of copies rejected at .05."""
    X, n_copies = with_copies(name)
    m = X.shape[1] - n_copies
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        once, often = (significance(f"laplacian[graph={graph}]", X, n_repeats=repeats) for repeats in (1, 3))
    found, tested = np.sum(often.qvalues[:m] <= 0.1), np.sum(~np.isnan(often.pvalues[:m]))
    rate = rejected(once.pvalues[m:])
    about = [name, f"`{graph}`", f"{X.shape[0]} × {m}", n_copies, *shares(rate)]
    return [*about, f"{found} of {tested}", int(np.sum(often.qvalues[m:] <= 0.1))], rate[0]


def real(quick: bool, jobs: int) -> tuple[Tables, Findings]:
    if data.folder() is None:
        return {}, []
    cases = CASES[:2] if quick else CASES
    rows, rates = zip(*Parallel(n_jobs=jobs)(delayed(beside_copies)(*case) for case in cases[::-1])[::-1], strict=True)
    header = ["set", "graph", "rows × features", "copies", *LEVELS, "features found", "copies found"]
    claim = "Known noise beside real data is rejected at most 1.2 times .05"
    tables, findings = {"real": (header, list(rows))}, [(claim, max(rates) <= 0.06, f"{max(rates):.3f}")]
    return (tables, findings) if quick else (tables, [*findings, madelon()])


def madelon() -> tuple[str, bool, str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        result = significance("laplacian", data.paper_set("madelon")[0])
    found = set(np.flatnonzero(result.qvalues <= 0.1))
    true, noise = found & set(MADELON), np.setdiff1d(np.arange(len(result.qvalues)), MADELON)
    effects = f"smallest effect of the 20 {result.effect[list(MADELON)].min():.2f}, largest of the others "
    told = f"{len(true)} of 20, {len(found - true)} more; {effects}{result.effect[noise].max():.2f}"
    return (
        "The 20 features of madelon that mean something are found, with at most 2 more",
        len(true) == 20 and len(found) <= 22,
        told,
    )


# -------------------------------------------------------------------- what breaks it

N, M, BLOCK = 200, 500, 10


def correlated(rng: np.random.Generator, rho: float) -> np.ndarray:
    """Blocks of ten noise columns that share a share rho of their variance."""
    shared = np.repeat(rng.standard_normal((N, M // BLOCK)), BLOCK, axis=1)
    return np.sqrt(rho) * shared + np.sqrt(1 - rho) * rng.standard_normal((N, M))


def autoregressive(rng: np.random.Generator, phi: float, every: int = 1) -> np.ndarray:
    """Noise whose rows follow each other in time, AR(1); of a longer series one row in ``every``."""
    X = rng.standard_normal((N * every, M))
    for i in range(1, len(X)):
        X[i] = phi * X[i - 1] + np.sqrt(1 - phi**2) * X[i]
    return X[::every]


def counts(rng: np.random.Generator, spread: float) -> np.ndarray:
    """Poisson counts of independent features in rows of unequal size."""
    return rng.poisson(rng.lognormal(0.0, spread, size=(N, 1)) * rng.uniform(0.5, 3.0, size=M)).astype(float)


def shares_of_total(X: np.ndarray) -> np.ndarray:
    totals = X.sum(axis=1, keepdims=True)
    return np.log1p(X / totals * np.median(totals))


WARNINGS = {"share structure": "shared structure", "successive rows": "order of rows", "row totals": "row totals"}


def breaks(quick: bool, jobs: int) -> tuple[Tables, Findings]:
    blocks = {"groups": np.arange(M) // BLOCK}
    cases: list[tuple[str, Callable, dict]] = [
        ("blocks of 10 columns, correlation .3", lambda rng: correlated(rng, 0.3), {}),
        ("the same, blocks as `groups`", lambda rng: correlated(rng, 0.3), blocks),
        ("blocks of 10 columns, correlation .8", lambda rng: correlated(rng, 0.8), {}),
        ("the same, blocks as `groups`", lambda rng: correlated(rng, 0.8), blocks),
        ("rows in time, AR(1) .3", lambda rng: autoregressive(rng, 0.3), {}),
        ("rows in time, AR(1) .9", lambda rng: autoregressive(rng, 0.9), {}),
        ("the same, every 40th row of a longer series", lambda rng: autoregressive(rng, 0.9, 40), {}),
        ("counts, row totals spread .5", lambda rng: counts(rng, 0.5), {}),
        ("the same, log of shares of the total", lambda rng: shares_of_total(counts(rng, 0.5)), {}),
    ]
    table, rates = [], []
    for name, draw, options in cases:
        p, said = [], set()
        for number in range(1 if quick else 4):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                p.append(significance("laplacian", draw(generator("breaks", number)), n_repeats=1, **options).pvalues)
            said |= {word for part, word in WARNINGS.items() if any(part in str(w.message) for w in caught)}
        rates.append((name, rejected(np.concatenate(p))))
        table.append([name, *shares(rates[-1][1]), ", ".join(sorted(said)) or "–"])
    repaired = [(before[0], after[0]) for (_, before), (name, after) in pairwise(rates) if "same" in name]
    claim = "Groups, thinned rows and shares of the total bring the share at .05 to at most .08"
    told = "; ".join(f"{before:.2f} to {after:.3f}" for before, after in repaired)
    return {"breaks": (["noise", *LEVELS, "warns of"], table)}, [(claim, all(b <= 0.08 for _, b in repaired), told)]


# -------------------------------------------------------------------- what it costs

ORDERS = 999


def seconds(work: Callable[[], object], times: int = 3) -> float:
    """The best of a few runs."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken)


def speed(quick: bool, jobs: int) -> tuple[Tables, Findings]:
    n, m, some = (100, 200, 50) if quick else (1000, 5000, 2500)
    X = generator("speed").standard_normal((n, m))
    F = np.ascontiguousarray(X[:, :some])
    graph = Rayleigh(KNN().build(X[:, some:]))  # of the other half
    closed, drawn = significance(graph, F).pvalues, significance(graph, F, n_permutations=ORDERS).pvalues
    near = float(np.mean(np.abs(closed - drawn) <= 3 * np.sqrt(closed * (1 - closed) / ORDERS) + 0.02))
    work = {
        f"{ORDERS} permutations of {some} features on one graph of {n} rows": seconds(
            lambda: significance(graph, F, n_permutations=ORDERS), 1
        ),
        "the closed form for the same": seconds(lambda: significance(graph, F)),
        f"Laplacian score of {n} × {m}, with its graph": seconds(lambda: LaplacianScore().evaluate(X)),
        "`significance`, one dealing of ten folds": seconds(lambda: significance("laplacian", X, n_repeats=1), 2),
        "`significance`, five dealings": seconds(lambda: significance("laplacian", X), 2),
    }
    permuted, form, score, _, five = work.values()
    ratio, gain = five / 50 / score, permuted / form
    told = f"{gain:.0f} times; {near:.1%} of the p-values within 3 standard errors of the drawn ones and .02"
    return {"speed": (["what", "seconds"], [[name, f"{taken:.3g}"] for name, taken in work.items()])}, [
        (f"At least 100 times faster than {ORDERS} permutations, at equal answers", gain >= 100 and near >= 0.99, told),
        ("At most 4 times one Laplacian score with its graph, per graph built", ratio <= 4, f"{ratio:.2f} times"),
    ]


EXPERIMENTS = (noise, labels, planted, real, breaks, speed)
