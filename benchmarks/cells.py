"""Genes of real single cells, chosen here and by scanpy -> docs/single-cells.md."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from fiedler.anndata import select_genes

from . import data
from .judges import clusters
from .pages import number
from .runner import Found, Options, main
from .selectors import at_random

SHARE, DRAWS = 0.8, 5  # of the cells in a draw, and how many
FEW = 100  # genes up to which sets are tried: with as many as there are cells nothing is left to add
LEADING, RIVALS = "laplacian", ("scanpy, seurat", "scanpy, cell_ranger", "variance", "random")
GENES = {"yan": 1000, "pbmc68k_reduced": 200}  # of the maps
SIZES = {"yan": (50, 200, 500, 1000, 2000), "pbmc68k_reduced": (20, 50, 100, 200, 400)}


class Cells(NamedTuple):
    """Logarithms of normalised expression, and the kind of every cell."""

    adata: Any
    kinds: np.ndarray
    names: Sequence[str]  # of the kinds, by number


def read(name: str) -> Cells:
    """90 cells of human embryos, or 700 blood cells with 765 genes that scanpy ships."""
    if name == "yan":
        import anndata
        import pandas as pd

        X, y, genes = data.paper_set("yan_sc")
        adata = anndata.AnnData(np.log1p(X), var=pd.DataFrame(index=[str(gene) for gene in genes]))
        adata.var_names_make_unique()
        adata = adata[:, (adata.X > 0).sum(axis=0) >= 3].copy()
        labels = data.paper_set_info("yan_sc")["classes"][y.astype(int) - 1]
    else:
        import scanpy as sc

        small = sc.datasets.pbmc68k_reduced()
        adata, labels = small.raw.to_adata(), small.obs["bulk_labels"].astype(str)
        adata.X = adata.X.toarray()
        for old in (adata.uns, adata.obsp, adata.obsm):
            old.clear()  # what was computed on other genes
    names, kinds = np.unique(np.asarray(labels), return_inverse=True)
    return Cells(adata, kinds, names.tolist())


def _ours(criterion: str) -> Callable[[Any, int, int], np.ndarray]:
    return lambda adata, n, seed: select_genes(adata, criterion, n_top_genes=n, inplace=False)["highly_variable"]


def _of_scanpy(flavor: str) -> Callable[[Any, int, int], np.ndarray]:
    def choose(adata: Any, n: int, seed: int) -> np.ndarray:
        import scanpy as sc

        return sc.pp.highly_variable_genes(adata, flavor=flavor, n_top_genes=n, inplace=False)["highly_variable"]

    return choose


WAYS: dict[str, Callable[[Any, int, int], np.ndarray]] = {
    "laplacian": _ours("laplacian"),
    "laplacian, cosine": _ours("laplacian[graph=knn[metric=cosine]]"),
    "subset": _ours("subset"),
    "variance": _ours("variance"),
    "scanpy, seurat": _of_scanpy("seurat"),
    "scanpy, cell_ranger": _of_scanpy("cell_ranger"),
    "random": lambda adata, n, seed: np.isin(range(adata.n_vars), at_random(adata, n, seed)),
}


def on_genes(
    name: str, way: str, seed: int, cells: Cells | None = None, sizes: Sequence[int] | None = None
) -> list[list]:
    """Agreement of clusters with the known kinds, on the genes that a way chooses among the cells of a draw."""
    cells, sizes = cells or read(name), sizes or SIZES[name]
    drawn = np.random.default_rng(seed).permutation(cells.adata.n_obs)[: int(SHARE * cells.adata.n_obs)]
    part, kinds, rows = cells.adata[drawn].copy(), cells.kinds[drawn], []
    part = part[:, part.X.std(axis=0) > 0].copy()
    for n in (0,) if way == "all genes" else [n for n in sizes if way != "subset" or n <= FEW]:
        X = part.X[:, np.asarray(WAYS[way](part, n, seed))] if n else part.X
        components = PCA(min(20, *X.shape), random_state=seed).fit_transform(X)
        found = clusters(components, np.unique(kinds, return_inverse=True)[1], seed, 10)
        rows.append([n, adjusted_rand_score(kinds, found), normalized_mutual_info_score(kinds, found)])
    return rows


def tables(name: str, rows: list[dict[str, str]]) -> Found:
    """Agreement by number of genes, and whether the default of ``select_genes`` is ahead of its rivals."""
    sizes, seeds = sorted({int(r["genes"]) for r in rows} - {0}), sorted({r["seed"] for r in rows})

    def mean(way: str, what: str = "ari", n: int | None = None, seed: str | None = None) -> float:
        kept = [r for r in rows if r["way"] == way and n in (None, int(r["genes"])) and seed in (None, r["seed"])]
        return float(np.mean([float(r[what]) for r in kept])) if kept else np.nan

    table, findings = [], []
    for way in ("all genes", *WAYS):
        by_size = [mean(way, n=n) for n in sizes]
        both = [np.nan] * 2 if way == "subset" and max(sizes) > FEW else [mean(way, what) for what in ("ari", "nmi")]
        table.append([way, *(number(value, 2) for value in (*by_size, *both))])
    for rival in RIVALS:
        ahead = [mean(LEADING, seed=seed) - mean(rival, seed=seed) for seed in seeds]
        times = sum(gap > 0 for gap in ahead)
        holds = np.mean(ahead) > 0 and 2 * times > len(seeds)
        claim = f"`{LEADING}` agrees with the kinds better than `{rival}`, on average and in most draws"
        told = f"{number(mean(LEADING))} and {number(mean(rival))}, ahead in {times} of {len(seeds)} draws"
        findings.append([claim, "yes" if holds else "no", told])
    return {
        name: (["genes chosen by", *(f"{n} genes" for n in sizes), "mean", "NMI"], table),
        f"{name}-findings": (["claim", "comes out", "evidence"], findings),
    }


def agreement(options: Options) -> Found:
    """How well clusters on the chosen genes agree with the known kinds, for numbers of genes and draws of the cells."""
    draws, found = range(1 if options.quick else DRAWS), {}
    for name in SIZES:
        cells = [(name, way, seed) for way in ("all genes", *WAYS) for seed in draws]
        found |= tables(name, options.rows("cells", "set;way;seed;genes;ari;nmi", on_genes, cells))
    return found


def walk(adata: Any, n_top_genes: int) -> None:
    """Genes, components, neighbours, a map: the lines that the page shows."""
    import scanpy as sc

    select_genes(adata, n_top_genes=n_top_genes)
    sc.pp.pca(adata, n_comps=20, random_state=0)
    sc.pp.neighbors(adata, n_neighbors=10, random_state=0)
    sc.tl.umap(adata, random_state=0)


def maps(options: Options) -> Found:
    """From genes to a map of the cells, as a user types it; drawn for our genes and for scanpy's."""
    import scanpy as sc
    from matplotlib.figure import Figure

    rows, found = [], {}
    for name, n in GENES.items():
        cells = read(name)
        ours, theirs = cells.adata.copy(), cells.adata.copy()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            walk(ours, n)
            sc.pp.highly_variable_genes(theirs, n_top_genes=n)
            sc.pp.pca(theirs, n_comps=20, random_state=0)
            sc.pp.neighbors(theirs, n_neighbors=10, random_state=0)
            sc.tl.umap(theirs, random_state=0)
        best = ours.var["fiedler_rank"].sort_values().index[:10].tolist()
        both = int((ours.var["highly_variable"] & theirs.var["highly_variable"]).sum())
        rows.append([name, n, both, ", ".join(best)])
        found[f"walk-{name}"] = drawn = Figure(figsize=(9.6, 4.0), layout="constrained")
        panels = drawn.subplots(1, 2)
        for axes, (title, adata) in zip(panels, {"fiedler": ours, "scanpy, seurat": theirs}.items(), strict=True):
            for kind, label in enumerate(cells.names):
                here = adata.obsm["X_umap"][cells.kinds == kind]
                axes.scatter(*here.T, color=f"C{kind}", label=label, s=12 if adata.n_obs < 200 else 5, linewidths=0)
            axes.set(xticks=[], yticks=[], title=f"{n} genes by {title}")
        drawn.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", fontsize=8, markerscale=2)
    return found | {"maps": (["cells", "genes chosen", "of them chosen by scanpy too", "the ten best"], rows)}


EXPERIMENTS = (agreement, maps)

if __name__ == "__main__":
    main("cells", EXPERIMENTS)
