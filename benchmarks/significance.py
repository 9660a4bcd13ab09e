"""How often noise is taken for real, what is found among noise, and what breaks it -> docs/is-it-real.md.

The seconds on the page are on record; ``make bench`` measures what the tests cost.
"""

from __future__ import annotations

import itertools
import warnings
import zlib
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import false_discovery_control, norm, rankdata

import fiedler as fd
from fiedler import KNN, Rayleigh
from fiedler.evaluate import significance

from . import data
from .pages import share
from .runner import Found, Options, main
from .sets import dense, load

LEVELS, CLAIMS = [".05", ".01", ".001"], ["claim", "comes out", "evidence"]
Draw = Callable[[np.random.Generator, int, int], np.ndarray]
KINDS: dict[str, Draw] = {
    "normal": lambda rng, n, m: rng.standard_normal((n, m)),
    "uniform": lambda rng, n, m: rng.random((n, m)),
    "binary, 30 %": lambda rng, n, m: (rng.random((n, m)) < 0.3).astype(float),
    "Poisson, mean 1": lambda rng, n, m: rng.poisson(1.0, size=(n, m)).astype(float),
}
HEAVY: dict[str, Draw] = {
    "Student t, 3 d.f.": lambda rng, n, m: rng.standard_t(3, size=(n, m)),
    "lognormal": lambda rng, n, m: rng.lognormal(size=(n, m)),
    "lognormal as normal scores": lambda rng, n, m: norm.ppf((rankdata(rng.lognormal(size=(n, m)), axis=0) - 0.5) / n),
}


def generator(*key: Any) -> np.random.Generator:
    """A generator of an experiment's own, the same in every run."""
    return np.random.default_rng(zlib.crc32(repr(key).encode()))


def pvalues(criterion: Any, X: Any, y: Any = None, **options: Any) -> np.ndarray:
    """The library's p-values, warnings aside: what they warn of is what is measured here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return significance(criterion, X, y, **options).pvalues


def rejected(p: np.ndarray) -> list[float]:
    """Share of the p-values at most each level."""
    p = p[~np.isnan(p)]
    return [float(np.mean(p <= float(level))) for level in LEVELS]


def shares(values: Sequence[float]) -> list[str]:
    """Four digits for the last level."""
    return [share(value, digits) for value, digits in zip(values, (3, 3, 4), strict=True)]


def finding(claim: str, holds: bool, evidence: str) -> list[str]:
    return [claim, "yes" if holds else "no", evidence]


# -------------------------------------------------------------------- noise

# rows, features, draws
SIZES = ((50, 20, 500), (50, 200, 100), (200, 200, 100), (200, 1000, 20), (1000, 1000, 16), (1000, 5000, 4))
HEAVY_SIZES = ((50, 200, 50), (200, 1000, 10))
MEDIAN_SIZES = ((50, 200, 40), (200, 200, 40), (200, 1000, 8))


def of_noise(kind: str, n: int, m: int, draws: int, n_repeats: int = 1) -> dict[str, Any]:
    """Shares of noise rejected, on the graphs of other features and on the graph of all."""
    ours, naive = [], []
    for number in range(draws):
        X = (KINDS | HEAVY)[kind](generator(kind, n, m, number), n, m)
        ours.append(pvalues("laplacian", X, n_repeats=n_repeats))
        if n_repeats == 1:
            naive.append(pvalues(Rayleigh(KNN().build(X)), X))
    told = shares(rejected(np.concatenate(naive))) if naive else ["–"] * 3
    p = np.concatenate(ours)
    row = [kind, f"{n} × {m}", *told, *shares(rejected(p)), f"{len(p):,}"]
    return {"row": row, "ours": rejected(p), "naive": rejected(np.concatenate(naive))[0] if naive else None}


def noise(options: Options) -> Found:
    """Type I error on pure noise, by kind of noise and size."""
    small = ((50, 20, 5), (100, 100, 3))
    plain, heavy, median = (small,) * 3 if options.quick else (SIZES, HEAVY_SIZES, MEDIAN_SIZES)
    work = {
        "noise": [(kind, *size, 1) for size in plain for kind in KINDS],
        "noise-median": [("normal", *size, 5) for size in median],
        "noise-heavy": [(kind, *size, 1) for size in heavy for kind in HEAVY],
    }
    longest = sorted((one for part in work.values() for one in part), key=lambda one: -np.prod(one[1:]))
    found = dict(zip(longest, options.map(of_noise, longest), strict=True))
    header = ["noise", "rows × features", "naive .05", ".01", ".001", "ours .05", ".01", ".001", "features tested"]
    tables: Found = {name: (header, [found[one]["row"] for one in part]) for name, part in work.items()}
    rows, naive = [], [found[one]["naive"] for one in work["noise"]]
    for place, level, low, high in ((0, 0.05, 0.8, 1.2), (1, 0.01, 0.6, 1.4)):
        times = [found[one]["ours"][place] / level for one in work["noise"]]
        claim = (
            f"On noise, the share rejected at {LEVELS[place]} is between {low} and {high} of {LEVELS[place]} in every"
        )
        holds = low <= min(times) and max(times) <= high
        rows.append(finding(f"{claim} cell", holds, f"{min(times):.2f} to {max(times):.2f}"))
    told = f"{min(naive):.0%} to {max(naive):.0%} of noise at .05"
    rows.append(finding("Naive p-values reject much more noise than they should", min(naive) > 0.1, told))
    return tables | {"findings": (CLAIMS, rows)}


def labels(options: Options) -> Found:
    """Fisher, C1, SLS and sSelect on noise, told labels that mean nothing."""
    m, rows = (500, (40,)) if options.quick else (20_000, (20, 40, 200))
    found: list[tuple[str, str, int, np.ndarray]] = []
    for kind, n in itertools.product(("normal", "binary, 30 %", "lognormal"), rows):
        rng = generator("labels", kind, n)
        X, y = (KINDS | HEAVY)[kind](rng, n, m), rng.permutation(np.arange(n) % 2)
        target = rng.standard_normal(n)
        must, cannot = fd.pairs_from_labels(y, min(2 * n, 40), 0)
        found.append(("Fisher", kind, n, pvalues(fd.FisherScore(), X, y)))
        found.append(("C1", kind, n, pvalues(fd.ConstraintScore(1), X, must_link=must, cannot_link=cannot)))
        found.append(("SLS", kind, n, pvalues(fd.SupervisedLaplacianScore(), X, target)))
        for shown in (number for number in (20, 100) if number < n):
            few = np.where(np.arange(n) < shown, y, -1)
            found.append((f"sSelect, {shown} labels", kind, n, pvalues(fd.SSelect(), X[:, : m // 4], few, n_repeats=1)))
    order = ["Fisher", "C1", "SLS", "sSelect, 20 labels", "sSelect, 100 labels"]
    found.sort(key=lambda one: (order.index(one[0]), one[2]))
    table = [[method, kind, n, *shares(rejected(p)), f"{len(p):,}"] for method, kind, n, p in found]
    worst = max(rejected(p)[0] for *_, p in found)
    told = finding("With labels, no method rejects more than 1.2 times .05", worst <= 0.06, f"at most {worst:.3f}")
    return {"labels": (["method", "noise", "rows", *LEVELS, "features tested"], table), "findings": (CLAIMS, [told])}


ROWS, REAL, APART, CLUSTERS = (100, 200, 500), (20, 100), (0.75, 1.0, 1.5), (2, 5)
Q, DEFAULT = 0.1, "median of 5, BH (the default)"
WAYS: dict[str, tuple[dict[str, int], str]] = {  # options, correction
    "one dealing, BH": ({"n_repeats": 1}, "bh"),
    "one dealing, BY": ({"n_repeats": 1}, "by"),
    "one dealing of 2 folds, BH": ({"n_repeats": 1, "n_folds": 2}, "bh"),
    DEFAULT: ({"n_repeats": 5}, "bh"),
}


def with_clusters(n: int, real: int, apart: float, clusters: int, number: int) -> np.ndarray:
    """Normal noise; in the first ``real`` columns clusters of rows have means of standard deviation ``apart``."""
    rng = generator("planted", n, real, apart, clusters, number)
    X = rng.standard_normal((n, 500))
    means = rng.standard_normal((clusters, real))
    means = (means - means.mean(axis=0)) / means.std(axis=0)
    X[:, :real] += apart * means[rng.permutation(np.arange(n) % clusters)]
    return X


def discoveries(n: int, real: int, apart: float, clusters: int, number: int) -> list[tuple[str, int, float, float]]:
    """For each way to test: the share of false discoveries, and the share of planted features found."""
    X, known, found = with_clusters(n, real, apart, clusters, number), dict[str, np.ndarray](), []
    for way, (options, correction) in WAYS.items():
        key = repr(options)
        known[key] = known[key] if key in known else pvalues("laplacian", X, **options)
        chosen = false_discovery_control(known[key], method=correction) <= Q
        false, true = int(chosen[real:].sum()), int(chosen[:real].sum())
        found.append((way, n, false / max(false + true, 1), true / real))
    return found


def planted(options: Options) -> Found:
    """False and true discoveries among planted clusters, and the library's own display of one setting."""
    settings = [(100, 100, 1.5, 2)] if options.quick else sorted(itertools.product(ROWS, REAL, APART, CLUSTERS))[::-1]
    cells = [(*setting, number) for setting in settings for number in range(1 if options.quick else 2)]
    rows = [row for part in options.map(discoveries, cells) for row in part]
    table, rate = [], {}
    for way in WAYS:
        mine = [row for row in rows if row[0] == way]
        rate[way] = float(np.mean([false for _, _, false, _ in mine]))
        power = [np.mean([p for _, n, _, p in mine if size in (None, n)] or [np.nan]) for size in (None, *ROWS)]
        table.append([way, f"{rate[way]:.3f}", *(f"{share:.2f}" for share in power)])
    header = ["how", "false share of what is found", "planted found", *(f"{n} rows" for n in ROWS)]
    first, default = rate["one dealing, BH"], rate[DEFAULT]
    claim = f"On average at most .12 of the features found at q ≤ {Q} are noise"
    told = f"{first:.3f} with one dealing, {default:.3f} with the median of five"
    found: Found = {
        "planted": (header, table),
        "findings": (CLAIMS, [finding(claim, max(first, default) <= 0.12, told)]),
    }
    if not options.quick:  # the library's own display of one setting
        from matplotlib.figure import Figure

        found["planted-display"] = drawn = Figure(figsize=(9.6, 3.6), layout="constrained")
        result = significance("laplacian", with_clusters(200, 100, 0.75, 2, 0))
        fd.SignificanceDisplay.from_significance(result, ax=drawn.subplots(1, 2))
    return found


CASES = [(name, "knn") for name in ("wine", "colon_alon", "juice", "TOX_171")]
CASES += [("PCMAC", "knn[metric=cosine]"), ("PCMAC", "knn")]  # text by the angles between its rows, and as it is
COPIES = 1000  # at most, of each data set
# Guyon's list: five features, five combinations of them and ten copies; numbered from 0.
MADELON = (28, 48, 64, 105, 128, 153, 241, 281, 318, 336, 338, 378, 433, 442, 451, 453, 455, 472, 475, 493)


def beside_copies(name: str, graph: str) -> tuple[list[Any], float]:
    """A row of the table, and the share of shuffled copies of features rejected at .05."""
    X, rng = load(name).X, generator("copies", name)
    m = X.shape[1]
    wanted = min(m if m > 100 else 300, COPIES)  # of a narrow table several copies of each
    chosen = rng.permutation(np.arange(wanted) % m) if m <= COPIES else rng.choice(m, COPIES, replace=False)
    copies = rng.permuted(dense(X[:, chosen]), axis=0)
    X = sp.csc_array(sp.hstack([X, sp.csc_array(copies)])) if sp.issparse(X) else np.hstack([X, copies])
    once, often = (significance(f"laplacian[graph={graph}]", X, n_repeats=repeats) for repeats in (1, 3))
    found, tested = np.sum(often.qvalues[:m] <= 0.1), np.sum(~np.isnan(often.pvalues[:m]))
    rate = rejected(once.pvalues[m:])
    about = [name, f"`{graph}`", f"{X.shape[0]} × {m}", len(chosen), *shares(rate)]
    return [*about, f"{found} of {tested}", int(np.sum(often.qvalues[m:] <= 0.1))], rate[0]


def real(options: Options) -> Found:
    """Real data sets beside shuffled copies of their own features, and madelon."""
    cases = CASES[:2] if options.quick else CASES
    rows, rates = zip(*options.map(beside_copies, cases[::-1])[::-1], strict=True)
    header = ["set", "graph", "rows × features", "copies", *LEVELS, "features found", "copies found"]
    claim = "Known noise beside real data is rejected at most 1.2 times .05"
    findings = [finding(claim, max(rates) <= 0.06, f"{max(rates):.3f}")]
    if not options.quick:
        result = significance("laplacian", data.paper_set("madelon")[0])
        found, noise = set(np.flatnonzero(result.qvalues <= 0.1)), np.setdiff1d(np.arange(500), MADELON)
        true = len(found & set(MADELON))
        effects = f"smallest effect of the 20 {result.effect[list(MADELON)].min():.2f}, largest of the others "
        told = f"{true} of 20, {len(found) - true} more; {effects}{result.effect[noise].max():.2f}"
        claim = "The 20 features of madelon that mean something are found, with at most 2 more"
        findings.append(finding(claim, true == 20 and len(found) <= 22, told))
    return {"real": (header, list(rows)), "findings": (CLAIMS, findings)}


N, M, BLOCK = 200, 500, 10
WARNINGS = {"share structure": "shared structure", "successive rows": "order of rows", "row totals": "row totals"}


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


def counts(rng: np.random.Generator, shares: bool = False) -> np.ndarray:
    """Poisson counts of independent features in rows of unequal size, or the logarithms of their shares."""
    X = rng.poisson(rng.lognormal(0.0, 0.5, size=(N, 1)) * rng.uniform(0.5, 3.0, size=M)).astype(float)
    totals = X.sum(axis=1, keepdims=True)
    return np.log1p(X / totals * np.median(totals)) if shares else X


def breaks(options: Options) -> Found:
    """Noise that is not exchangeable, and what repairs it."""
    blocks = {"groups": np.arange(M) // BLOCK}
    cases: list[tuple[str, Callable, dict]] = [
        ("blocks of 10 columns, correlation .3", lambda rng: correlated(rng, 0.3), {}),
        ("the same, blocks as `groups`", lambda rng: correlated(rng, 0.3), blocks),
        ("blocks of 10 columns, correlation .8", lambda rng: correlated(rng, 0.8), {}),
        ("the same, blocks as `groups`", lambda rng: correlated(rng, 0.8), blocks),
        ("rows in time, AR(1) .3", lambda rng: autoregressive(rng, 0.3), {}),
        ("rows in time, AR(1) .9", lambda rng: autoregressive(rng, 0.9), {}),
        ("the same, every 40th row of a longer series", lambda rng: autoregressive(rng, 0.9, 40), {}),
        ("counts, row totals spread .5", counts, {}),
        ("the same, log of shares of the total", lambda rng: counts(rng, True), {}),
    ]
    table, rates = [], []
    for name, draw, known in cases:
        p, said = [], set()
        for number in range(1 if options.quick else 4):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                p.append(significance("laplacian", draw(generator("breaks", number)), n_repeats=1, **known).pvalues)
            said |= {word for part, word in WARNINGS.items() if any(part in str(w.message) for w in caught)}
        rates.append((name, rejected(np.concatenate(p))))
        table.append([name, *shares(rates[-1][1]), ", ".join(sorted(said)) or "–"])
    repaired = [(before[0], after[0]) for (_, before), (name, after) in pairwise(rates) if "same" in name]
    claim = "Groups, thinned rows and shares of the total bring the share at .05 to at most .08"
    told = "; ".join(f"{before:.2f} to {after:.3f}" for before, after in repaired)
    found = finding(claim, all(after <= 0.08 for _, after in repaired), told)
    return {"breaks": (["noise", *LEVELS, "warns of"], table), "findings": (CLAIMS, [found])}


EXPERIMENTS = (noise, labels, planted, real, breaks)

if __name__ == "__main__":
    main("significance", EXPERIMENTS)
