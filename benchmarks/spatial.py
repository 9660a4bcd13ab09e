"""Spatially variable genes on generated and real tissues: type I error, power, other methods -> docs/spatial.md.

Moran's I of squidpy and Hotspot take part where they are installed; SPARK-X is written after its paper.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import chi2, false_discovery_control, kendalltau
from sklearn.metrics import roc_auc_score

from fiedler import KNN, LaplacianScore, Moran, MultiScale, Problem
from fiedler.evaluate import significance

from . import data
from .runner import Found, Options, main

LEVELS = (0.05, 0.01, 0.001)
PATTERNS = ("length 2", "length 4", "length 6", "length 10", "stripes", "layers", "hotspot", "gradient")
FINE = "stripes of 2 to 3 spots"


def tissue(rng: np.random.Generator, n: int) -> np.ndarray:
    """Places of spots on a hexagonal lattice, one spot apart, in a square."""
    side = int(np.ceil(np.sqrt(n)))
    i, j = np.divmod(np.arange(side * side), side)
    return np.column_stack([j + 0.5 * (i % 2), i * np.sqrt(0.75)])[:n] + 1e-6 * rng.standard_normal((n, 2))


def pattern(kind: str, places: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The mean of a gene over the tissue; distances are in spots."""
    side, angle = np.ptp(places[:, 0]), rng.uniform(0, np.pi)
    along = places @ [np.cos(angle), np.sin(angle)]
    if kind.startswith("length"):  # a Gaussian process with this length, by random waves
        waves = rng.standard_normal((2, 200)) / float(kind.split()[1])
        return np.exp(np.cos(places @ waves + rng.uniform(0, 2 * np.pi, 200)).sum(axis=1) / 10.0)
    if kind.startswith("stripes"):
        width = rng.uniform(2, 3.5) if kind == FINE else rng.uniform(4, 7)
        return 1.0 * (along / width % 2 < 1)
    if kind == "layers":
        return rng.uniform(0, 1, 6)[np.clip((6 * (along - along.min()) / np.ptp(along)).astype(int), 0, 5)]
    if kind == "hotspot":
        centre = places[rng.integers(len(places))]
        return np.exp(-((places - centre) ** 2).sum(axis=1) / (2 * (side * rng.uniform(0.05, 0.12)) ** 2))
    return along - along.min()


def depths(rng: np.random.Generator, places: np.ndarray, spatial: bool = True) -> np.ndarray:
    """Depths of spots that vary twofold, half of it over the tissue."""
    wave = np.sin(places @ rng.standard_normal(2) / np.ptp(places[:, 0]) * 5.0) if spatial else 0.0
    return np.exp(0.35 * wave + 0.35 * rng.standard_normal(len(places)))


def genes(
    rng: np.random.Generator, places: np.ndarray, depth: np.ndarray, m: int, spatial: float, mean: float = 0.09
) -> tuple[sp.csc_array, np.ndarray, np.ndarray]:
    """Negative binomial counts, which genes are spatial, and the share of their pattern."""
    n, columns = len(places), []
    true = rng.random(m) < spatial
    share = np.where(true, rng.uniform(0.1, 1.0, size=m), 0.0)
    for j in range(m):
        rate = np.full(n, mean * rng.gamma(0.5, 2.0) + 0.005)
        if true[j]:
            m_j = pattern(PATTERNS[j % len(PATTERNS)], places, rng)
            m_j = m_j / m_j.mean()
            rate = rate * (share[j] * m_j + (1 - share[j]) * rng.permutation(m_j))
        columns.append(sp.csc_array(rng.poisson(depth * rate * rng.gamma(2.0, 0.5, size=n)).astype(float)[:, None]))
    return sp.csc_array(sp.hstack(columns)), true, share


# -------------------------------------------------------------------- methods


def normalised(X: sp.csc_array) -> sp.csc_array:
    """Logarithms of shares, as scanpy computes them."""
    totals = np.asarray(X.sum(axis=1)).ravel()
    return sp.csc_array(sp.diags_array(np.median(totals) / np.maximum(totals, 1.0)) @ X).log1p()


def ours(kind: Callable) -> Callable:
    return lambda X, places: significance(kind(KNN(6, "binary").build(places)), X, depth="pearson").pvalues


def sparkx(X: sp.csc_array, places: np.ndarray) -> np.ndarray:
    """SPARK-X after its paper: eleven projection kernels of transformed coordinates, combined by Cauchy."""
    centred, p = places - places.mean(axis=0), []
    quantiles = [np.quantile(np.abs(centred), q, axis=0) for q in (0.2, 0.4, 0.6, 0.8, 1.0)]
    transformed = [centred]
    transformed += [np.exp(-(centred**2) / (2 * q**2)) for q in quantiles]
    transformed += [np.cos(2 * np.pi * centred / q) for q in quantiles]
    n, mean = X.shape[0], np.asarray(X.mean(axis=0)).ravel()
    square = np.asarray(X.power(2).sum(axis=0)).ravel() - n * mean**2
    for T in transformed:
        basis = np.linalg.qr(T - T.mean(axis=0))[0]
        p.append(chi2.sf(n * ((X.T @ basis) ** 2).sum(axis=1) / square, basis.shape[1]))
    t = np.mean([np.where(each < 1e-15, 1 / (np.pi * each), np.tan((0.5 - each) * np.pi)) for each in p], axis=0)
    return np.where(t > 1e15, 1 / (np.pi * t), 0.5 - np.arctan(t) / np.pi)


def squidpy_moran(X: sp.csc_array, places: np.ndarray) -> np.ndarray:
    import anndata
    import squidpy

    adata = anndata.AnnData(sp.csr_matrix(normalised(X)), obsm={"spatial": places})
    squidpy.gr.spatial_neighbors(adata, n_neighs=6, coord_type="generic")
    squidpy.gr.spatial_autocorr(adata, mode="moran", n_perms=None, n_jobs=1, show_progress_bar=False)
    found = adata.uns["moranI"].loc[adata.var_names]
    folded = found["pval_norm"].to_numpy()  # one tail, whichever is smaller
    return np.where(found["I"] > -1.0 / (X.shape[0] - 1), folded, 1.0 - folded)


def hotspot(X: sp.csc_array, places: np.ndarray) -> np.ndarray:
    import anndata
    import hotspot as hs

    kept = np.flatnonzero(np.asarray(X.sum(axis=0)).ravel() > 0)
    adata = anndata.AnnData(sp.csc_matrix(X[:, kept]), obsm={"spatial": places})
    adata.obs["total"] = np.asarray(X.sum(axis=1)).ravel()
    adata.layers["counts"] = adata.X
    found = hs.Hotspot(adata, layer_key="counts", model="danb", latent_obsm_key="spatial", umi_counts_obs_key="total")
    found.create_knn_graph(weighted_graph=False, n_neighbors=6)
    p = np.ones(X.shape[1])
    p[kept] = found.compute_autocorrelations(jobs=1).loc[adata.var_names, "Pval"].to_numpy()
    return p


METHODS: dict[str, Callable[[sp.csc_array, np.ndarray], np.ndarray]] = {
    "multiscale": ours(MultiScale),
    "Moran, residuals": ours(Moran),
    "squidpy, Moran": squidpy_moran,
    "Hotspot": hotspot,
    "SPARK-X": sparkx,
}


def side_by_side(options: Options) -> Found:
    """All methods on one generated tissue: 3,000 spots, 15,000 genes of which a fifth are spatial."""

    def measure(method: str) -> list[list]:
        rng = np.random.default_rng(0)
        n, m = (400, 300) if options.quick else (3000, 15000)
        places = tissue(rng, n)
        X, true, _ = genes(rng, places, depths(rng, places), m, 0.2)
        run = METHODS[method]
        try:
            run(X[:, :200], places)  # compiles
        except ImportError:
            return []
        start = time.process_time()
        p = run(X, places)
        seconds = time.process_time() - start
        known = ~np.isnan(p)
        p, real = p[known], true[known]
        found = false_discovery_control(p) <= 0.05
        values = roc_auc_score(real, -p), np.mean(p[~real] <= 0.05), np.mean(~real[found]), np.mean(found[real])
        return [[*map(float, values), seconds]]

    rows = options.rows("spatial", "method;auc;type1;fdr;power;seconds", measure, [(name,) for name in METHODS])
    header = ["method", "AUC", "type I at .05", "FDR at .05", "power", "CPU seconds"]
    table = [
        [r["method"], *(f"{float(r[k]):.3f}" for k in ("auc", "type1", "fdr", "power")), f"{float(r['seconds']):.1f}"]
        for r in rows
    ]
    return {"side_by_side": (header, table)}


# -------------------------------------------------------------------- type I error


def noise(options: Options) -> Found:
    """Shares of noise genes below each level: blocks with shifts and units, unequal sizes, counts with depths."""
    kinds: dict[str, tuple[tuple[int, ...], str]] = {
        "one tissue, normal": ((500,), "normal"),
        "2 slides of 250, shifts and units": ((250,) * 2, "normal"),
        "5 slides of 100": ((100,) * 5, "normal"),
        "20 slides of 25": ((25,) * 20, "normal"),
        "40 slides of 8": ((8,) * 40, "normal"),
        "slides of 300, 120, 50 and 12": ((300, 120, 50, 12), "normal"),
        "counts, one tissue, depth over the tissue": ((500,), "counts"),
        "counts, 5 slides of 100, a depth for each": ((100,) * 5, "counts"),
        "counts, 20 slides of 25, a depth for each": ((25,) * 20, "counts"),
        "5 slides of 100, not told": ((100,) * 5, "untold"),
    }

    def measure(kind: str) -> list[list]:
        sizes, what = kinds[kind]
        rng, p = np.random.default_rng(len(kind)), []
        for _ in range(1 if options.quick else 4):
            slide = np.repeat(np.arange(len(sizes)), sizes)
            places = np.concatenate([tissue(rng, size) for size in sizes])
            places[:, 0] += 200.0 * slide
            graph = Problem(places).divided(slide if len(sizes) > 1 else None).graph(KNN(6, "binary"))
            blocks, depth = None if what == "untold" or len(sizes) == 1 else slide, None
            if what == "counts":
                t = depths(rng, places) * rng.uniform(0.3, 3.0, size=len(sizes))[slide]
                X: Any = genes(rng, places, t, 5000, 0.0, mean=0.5)[0]
                depth = "pearson"
            else:
                X = rng.standard_normal((len(places), 5000))
                X = X * rng.uniform(0.3, 3.0, size=(len(sizes), 5000))[slide]
                X += rng.standard_normal((len(sizes), 5000))[slide]
            kept = np.asarray(X.sum(axis=1)).ravel() > 0 if depth else np.ones(len(places), dtype=bool)
            blocks = None if blocks is None else blocks[kept]
            X = X[kept] if depth is None else sp.csc_array(X.tocsr()[kept])
            p.append(significance(MultiScale(graph[kept]), X, blocks=blocks, depth=depth).pvalues)
        every = np.concatenate(p)
        every = every[~np.isnan(every)]
        return [[float(np.mean(every <= level)) for level in LEVELS]]

    rows = options.rows("spatial_noise", "kind;a;b;c", measure, [(name,) for name in kinds])
    table = [[r["kind"], f"{float(r['a']):.3f}", f"{float(r['b']):.4f}", f"{float(r['c']):.4f}"] for r in rows]
    return {"noise": (["noise genes", "≤ .05", "≤ .01", "≤ .001"], table)}


# -------------------------------------------------------------------- by pattern


def patterns(options: Options) -> Found:
    """Kendall's tau of each method with the share of a gene that follows a pattern, and power, by pattern."""
    kinds: dict[str, Callable] = {"multiscale": MultiScale, "laplacian": LaplacianScore, "Moran": Moran}

    def measure(kind: str) -> list[list]:
        rng, found = np.random.default_rng(len(kind)), {name: ([], []) for name in (*kinds, "SPARK-X")}
        for _ in range(1 if options.quick else 3):
            places = tissue(rng, 900)
            graph, t = KNN(6, "binary").build(places), depths(rng, places)
            share = rng.uniform(0.0, 1.0, size=200)
            columns = []
            for one in share:
                m_j = pattern(kind, places, rng)
                m_j = m_j / m_j.mean()
                rate = (0.3 * rng.gamma(0.5, 2.0) + 0.05) * (one * m_j + (1 - one) * rng.permutation(m_j))
                columns.append(rng.poisson(t * rate * rng.gamma(2.0, 0.5, size=900)))
            X = sp.csc_array(np.column_stack(columns).astype(float))
            R = np.asarray(normalised(X).toarray())
            for name in found:
                if name == "SPARK-X":
                    p = sparkx(X, places)
                elif name == "laplacian":
                    p = significance(LaplacianScore(graph), R).pvalues
                else:
                    p = significance(kinds[name](graph), X, depth="pearson").pvalues
                found[name][0].append(kendalltau(-np.nan_to_num(p, nan=1.0), share).statistic)
                found[name][1].append(np.mean(p <= 0.01))
        return [[name, float(np.mean(tau)), float(np.mean(power))] for name, (tau, power) in found.items()]

    rows = options.rows("spatial_patterns", "kind;method;tau;power", measure, [(kind,) for kind in (*PATTERNS, FINE)])
    names, table = [*kinds, "SPARK-X"], []
    by = {(r["kind"], r["method"]): (float(r["tau"]), float(r["power"])) for r in rows}
    for kind in (*PATTERNS, FINE):
        if (kind, names[0]) in by:
            table.append([kind, *("{:.2f} / {:.2f}".format(*by[kind, name]) for name in names)])
    return {"patterns": (["pattern", *names], table)}


# -------------------------------------------------------------------- real tissues


def permuted(X: sp.csc_array, graph: Any, codes: np.ndarray, draws: int) -> str:
    """Shares of genes below each level if the rows of X are in random order inside blocks."""
    rng, p = np.random.default_rng(0), []
    for _ in range(draws):
        moved = np.lexsort((rng.random(len(codes)), codes))[np.argsort(np.argsort(codes, kind="stable"))]
        shuffled = sp.csc_array(X.tocsr()[moved])
        p.append(significance(MultiScale(graph), shuffled, blocks=codes, depth="pearson").pvalues)
    return " / ".join(f"{np.nanmean(np.concatenate(p) <= level):.4f}" for level in LEVELS)


def real(options: Options) -> Found:
    """Breast cancer on four sections, and seqFISH with the genes that two papers print."""
    rows, told = list[list[str]](), data.paper_set_info("spatial_bcl")
    X = sp.csc_array(data.load_paper_set("spatial_bcl")[0], dtype=np.float64)
    X = X[:, np.flatnonzero(np.diff(X.indptr) >= 50)]
    codes = np.unique(told["section"], return_inverse=True)[1]
    graph = Problem(np.asarray(told["xy"], dtype=float)).divided(codes).graph(KNN(6, "binary"))
    every = significance(MultiScale(graph), X, blocks=codes, depth="pearson")
    rows.append(["breast cancer, genes tested", f"{X.shape[1]:,}"])
    rows.append(["significant at q ≤ .05, four sections as blocks", f"{np.sum(every.qvalues <= 0.05):,}"])
    best = []
    for code in range(codes.max() + 1):
        inside = np.flatnonzero(codes == code)
        one = significance(MultiScale(graph[inside]), sp.csc_array(X.tocsr()[inside]), depth="pearson")
        rows.append([f"significant in section {code + 1} alone", f"{np.nansum(one.qvalues <= 0.05):,}"])
        best.append(set(np.argsort(np.nan_to_num(one.pvalues, nan=1.0), kind="stable")[:300].tolist()))
    shared = [len(a & b) / 300 for at, a in enumerate(best) for b in best[:at]]
    rows.append(["top 300 genes shared by two sections, mean share", f"{np.mean(shared):.2f}"])
    halves = [
        significance(MultiScale(graph[h]), sp.csc_array(X.tocsr()[h]), blocks=codes[h], depth="pearson").pvalues
        for h in (np.flatnonzero(codes < 2), np.flatnonzero(codes >= 2))
    ]
    top = [set(np.argsort(np.nan_to_num(p, nan=1.0), kind="stable")[:300].tolist()) for p in halves]
    rows.append(["top 300 genes shared by two halves of the sections", f"{len(top[0] & top[1]) / 300:.2f}"])
    rows.append(["breast cancer, spots permuted inside sections, at .05 / .01 / .001", permuted(X, graph, codes, 2)])

    seen = data.paper_set_info("spatial_seqfish")
    Y = sp.csc_array(data.load_paper_set("spatial_seqfish")[0], dtype=float)
    tissue_graph = KNN(6, "binary").build(np.asarray(seen["xy"], dtype=float))
    q = significance(MultiScale(tissue_graph), Y, depth="pearson").qvalues
    for name, key in (("SPARK", "spark_q"), ("SpatialDE", "spatialde_q")):
        printed = np.asarray(seen[key], dtype=float) <= 0.05
        what = f"seqFISH, genes of {name} that are significant at q ≤ .05"
        rows.append([what, f"{np.sum(q[printed] <= 0.05)} of {printed.sum()}"])
    rows.append(["seqFISH, significant at q ≤ .05", f"{np.sum(q <= 0.05)} of {len(q)}"])
    noise_p = permuted(Y, tissue_graph, np.zeros(Y.shape[0], dtype=int), 40)
    rows.append(["seqFISH, cells permuted, at .05 / .01 / .001", noise_p])
    return {"real": (["what", "found"], rows)}


# -------------------------------------------------------------------- growth


def growth(options: Options) -> Found:
    """CPU seconds and peak memory for more spots and genes, of which 5 % are stored, on four slides."""

    def measure(n: int, m: int) -> list[list]:
        rng, stored = np.random.default_rng(0), max(1, m // 20)
        parts = []
        for start in range(0, n, 10_000):
            rows = min(10_000, n - start)
            columns = np.sort(rng.integers(0, m, size=(rows, stored), dtype=np.int32), axis=1).ravel()
            values = 1.0 + rng.poisson(0.5, size=rows * stored).astype(np.float32)
            shape = (rows, m)
            part = sp.csr_array((values, columns, np.arange(0, rows * stored + 1, stored)), shape=shape)
            part.sum_duplicates()
            parts.append(part)
        X, slide = sp.csr_array(sp.vstack(parts)), np.arange(n) * 4 // n
        places = rng.uniform(size=(n, 2)) * np.sqrt(n)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        start = time.process_time()
        graph = Problem(places).divided(slide).graph(KNN(6, "binary"))
        significance(MultiScale(graph), X, blocks=slide, depth="pearson")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        return [[time.process_time() - start, before, peak]]

    sizes = [(3_000, 15_000), (10_000, 5_000), (50_000, 1_000), (50_000, 10_000), (100_000, 20_000)]
    rows = options.rows("spatial_growth", "n;m;seconds;before;peak", measure, sizes[: 1 if options.quick else None])
    table = [
        [f"{int(r['n']):,} × {int(r['m']):,}", f"{float(r['seconds']):.0f}", f"{float(r['peak']):.1f}"] for r in rows
    ]
    return {"growth": (["spots × genes", "CPU seconds", "peak, GiB"], table)}


EXPERIMENTS = (side_by_side, noise, patterns, real, growth)

if __name__ == "__main__":
    main("spatial", EXPERIMENTS)
