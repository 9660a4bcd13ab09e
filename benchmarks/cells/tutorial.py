"""The walk from genes to a map of the cells, as a user types it; drawn for our genes and for scanpy's."""

from __future__ import annotations

import inspect
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from fiedler.anndata import select_genes

from ..papers.page import Section
from .sets import Cells

GENES = {"yan": 1000, "pbmc68k_reduced": 200}


def walk(adata: Any, n_top_genes: int) -> None:
    """Genes, components, neighbours, a map: what the page prints is this function."""
    import scanpy as sc

    select_genes(adata, n_top_genes=n_top_genes)  # writes var["highly_variable"], which the next line reads
    sc.pp.pca(adata, n_comps=20, random_state=0)
    sc.pp.neighbors(adata, n_neighbors=10, random_state=0)
    sc.tl.umap(adata, random_state=0)


def maps(cells: Cells) -> tuple[np.ndarray, np.ndarray, list[str], int]:
    """Places of the cells by our genes and by scanpy's, the best genes, and how many both chose."""
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
    return ours.obsm["X_umap"], theirs.obsm["X_umap"], best, shared


def code() -> str:
    """The body of :func:`walk`, as it is printed: with the imports in front, and a number of genes."""
    body = inspect.cleandoc(inspect.getsource(walk).partition("import scanpy as sc\n")[2])
    lines = "\n".join(line.strip() for line in body.splitlines()).replace("=n_top_genes)", f"={GENES['yan']})")
    return f"import scanpy as sc\nfrom fiedler.anndata import select_genes\n\n{lines}"


def figure(cells: Cells, ours: np.ndarray, theirs: np.ndarray) -> Any:
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(9.6, 4.0), layout="constrained")
    both = drawn.subplots(1, 2)
    for axes, places, title in zip(both, (ours, theirs), ("fiedler", "scanpy, seurat"), strict=True):
        for kind, name in enumerate(cells.names):
            here = places[cells.kinds == kind]
            axes.scatter(*here.T, color=f"C{kind}", label=name, s=12 if len(places) < 200 else 5, linewidths=0)
        axes.set(xticks=[], yticks=[], title=f"{GENES[cells.name]} genes by {title}")
    drawn.legend(*both[0].get_legend_handles_labels(), loc="outside right center", fontsize=8, markerscale=2)
    return drawn


def section(sets: list[Cells], folder: Path | None) -> Section:
    made = Section("walk", "1. From genes to a map", folder)
    made.text(
        "`adata.X` holds logarithms of normalised counts (`sc.pp.normalize_total`, `sc.pp.log1p`). One line takes the "
        "place of `sc.pp.highly_variable_genes`; the rest of a scanpy workflow stays as it is:"
    )
    made.text(f"```python\n{code()}\n```")
    for cells in sets:
        ours, theirs, best, shared = maps(cells)
        n = GENES[cells.name]
        made.figure(
            figure(cells, ours, theirs),
            cells.name,
            f"{cells.name}: maps of the cells by {n} genes chosen in two ways, coloured by the known kinds",
        )
        made.text(f"{shared} of the {n} genes of {cells.name} are the same. The ten best here: {', '.join(best)}.")
    return made
