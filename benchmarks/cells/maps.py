"""From genes to a map of the cells, as a user types it; drawn for our genes and for scanpy's."""

from __future__ import annotations

import warnings
from typing import Any

from fiedler.anndata import select_genes

from .sets import Cells

GENES = {"yan": 1000, "pbmc68k_reduced": 200}


def walk(adata: Any, n_top_genes: int) -> None:
    """Genes, components, neighbours, a map: the lines that the page shows."""
    import scanpy as sc

    select_genes(adata, n_top_genes=n_top_genes)
    sc.pp.pca(adata, n_comps=20, random_state=0)
    sc.pp.neighbors(adata, n_neighbors=10, random_state=0)
    sc.tl.umap(adata, random_state=0)


def compare(cells: Cells) -> tuple[Any, list[Any]]:
    """The two maps as a figure, and a row of the table: how many genes both chose, and our best ones."""
    import scanpy as sc

    n = GENES[cells.name]
    ours, theirs = cells.adata.copy(), cells.adata.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        walk(ours, n)
        sc.pp.highly_variable_genes(theirs, n_top_genes=n)
        sc.pp.pca(theirs, n_comps=20, random_state=0)
        sc.pp.neighbors(theirs, n_neighbors=10, random_state=0)
        sc.tl.umap(theirs, random_state=0)
    best = ours.var["fiedler_rank"].sort_values().index[:10].tolist()
    shared = int((ours.var["highly_variable"] & theirs.var["highly_variable"]).sum())
    return figure(cells, {"fiedler": ours, "scanpy, seurat": theirs}), [cells.name, n, shared, ", ".join(best)]


def figure(cells: Cells, chosen: dict[str, Any]) -> Any:
    """One panel per way to choose genes, cells coloured by their known kinds."""
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(9.6, 4.0), layout="constrained")
    both = drawn.subplots(1, 2)
    for axes, (title, adata) in zip(both, chosen.items(), strict=True):
        for kind, name in enumerate(cells.names):
            here = adata.obsm["X_umap"][cells.kinds == kind]
            axes.scatter(*here.T, color=f"C{kind}", label=name, s=12 if adata.n_obs < 200 else 5, linewidths=0)
        axes.set(xticks=[], yticks=[], title=f"{GENES[cells.name]} genes by {title}")
    drawn.legend(*both[0].get_legend_handles_labels(), loc="outside right center", fontsize=8, markerscale=2)
    return drawn
