"""How well clusters on the chosen genes agree with the known kinds, for numbers of genes and draws of the cells."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from fiedler.anndata import select_genes

from ..pages import number
from .sets import Cells

SHARE, DRAWS = 0.8, 5  # of the cells in a draw, and how many
COMPONENTS, STARTS = 20, 10
FEW = 100  # genes up to which sets are tried: with as many as there are cells nothing is left to add
LEADING = "laplacian"  # the default of select_genes
RIVALS = ("scanpy, seurat", "scanpy, cell_ranger", "variance", "random")


def _ours(criterion: str) -> Callable[[Any, int, int], np.ndarray]:
    def choose(adata: Any, n: int, seed: int) -> np.ndarray:
        return select_genes(adata, criterion, n_top_genes=n, inplace=False)["highly_variable"].to_numpy()

    return choose


def _of_scanpy(flavor: str) -> Callable[[Any, int, int], np.ndarray]:
    def choose(adata: Any, n: int, seed: int) -> np.ndarray:
        import scanpy as sc

        found = sc.pp.highly_variable_genes(adata, flavor=flavor, n_top_genes=n, inplace=False)
        return found["highly_variable"].to_numpy()

    return choose


def _random(adata: Any, n: int, seed: int) -> np.ndarray:
    chosen = np.zeros(adata.n_vars, dtype=bool)
    chosen[np.random.default_rng(seed).permutation(adata.n_vars)[:n]] = True
    return chosen


WAYS: dict[str, Callable[[Any, int, int], np.ndarray]] = {
    "laplacian": _ours("laplacian"),
    "laplacian, cosine": _ours("laplacian[graph=knn[metric=cosine]]"),
    "subset": _ours("subset"),
    "variance": _ours("variance"),
    "scanpy, seurat": _of_scanpy("seurat"),
    "scanpy, cell_ranger": _of_scanpy("cell_ranger"),
    "random": _random,
}


def measure(cells: Cells, quick: bool) -> list[dict]:
    """One row per way, number of genes and draw."""
    rows = []
    for seed in range(1 if quick else DRAWS):
        drawn = np.random.default_rng(seed).permutation(cells.adata.n_obs)[: int(SHARE * cells.adata.n_obs)]
        part, kinds = cells.adata[drawn].copy(), cells.kinds[drawn]
        part = part[:, part.X.std(axis=0) > 0].copy()
        rows.append({"way": "all genes", "n": None, "seed": seed, **_agreement(part.X, kinds, seed)})
        for n in cells.sizes[:2] if quick else cells.sizes:
            for way, choose in WAYS.items():
                if way == "subset" and n > FEW:
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    chosen = choose(part, n, seed)
                rows.append({"way": way, "n": n, "seed": seed, **_agreement(part.X[:, chosen], kinds, seed)})
    return rows


def _agreement(X: np.ndarray, kinds: np.ndarray, seed: int) -> dict[str, float]:
    parts = PCA(min(COMPONENTS, *X.shape), random_state=seed).fit_transform(X)
    found = KMeans(len(np.unique(kinds)), n_init=STARTS, random_state=seed).fit_predict(parts)
    return {"ari": adjusted_rand_score(kinds, found), "nmi": normalized_mutual_info_score(kinds, found)}


def mean(rows: list[dict], way: str, what: str, n: int | None = None) -> float:
    """Over draws, and over all numbers of genes where none is named."""
    values = [r[what] for r in rows if r["way"] == way and (n is None or r["n"] == n)]
    return float(np.mean(values)) if values else np.nan


def tables(cells: Cells, rows: list[dict]) -> dict[str, tuple[list[str], list[list[str]]]]:
    """Agreement by number of genes, and whether the default of ``select_genes`` is ahead of its rivals."""
    sizes, seeds = sorted({row["n"] for row in rows if row["n"]}), sorted({row["seed"] for row in rows})
    table = []
    for way in ("all genes", *WAYS):
        ari = [number(mean(rows, way, "ari", n), 2) for n in sizes]
        whole = way != "subset" or max(sizes) <= FEW
        table.append([way, *ari, *(number(mean(rows, way, what), 2) if whole else "–" for what in ("ari", "nmi"))])
    findings = []
    for rival in RIVALS:
        drawn = [[row for row in rows if row["seed"] == seed] for seed in seeds]
        ahead = [mean(draw, LEADING, "ari") - mean(draw, rival, "ari") for draw in drawn]
        times = sum(gap > 0 for gap in ahead)
        holds = np.mean(ahead) > 0 and 2 * times > len(seeds)
        means = f"{number(mean(rows, LEADING, 'ari'))} and {number(mean(rows, rival, 'ari'))}"
        claim = f"`{LEADING}` agrees with the kinds better than `{rival}`, on average and in most draws"
        findings.append([claim, "yes" if holds else "no", f"{means}, ahead in {times} of {len(seeds)} draws"])
    return {
        cells.name: (["genes chosen by", *(f"{n} genes" for n in sizes), "mean", "NMI"], table),
        f"{cells.name}-findings": (["claim", "comes out", "evidence"], findings),
    }
