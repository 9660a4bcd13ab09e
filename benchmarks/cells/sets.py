"""Two sets of cells whose kinds are known: embryos by stage, and blood by the sorting of its cells."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import data

_SEEN_IN = 3  # cells that must express a gene


class Cells(NamedTuple):
    """Logarithms of normalised expression, the kind of every cell, and how many genes are tried."""

    name: str
    about: str
    adata: Any
    kinds: np.ndarray
    names: list[str]  # of the kinds, by number
    sizes: tuple[int, ...]


def yan() -> Cells | None:
    """90 cells of human embryos, from the egg to the blastocyst; RPKM."""
    if data.folder() is None:
        return None
    import anndata
    import pandas as pd

    X, y, genes = data.paper_set("yan_sc")
    adata = anndata.AnnData(np.log1p(X), var=pd.DataFrame(index=[str(gene) for gene in genes]))
    adata.var_names_make_unique()
    adata = adata[:, (adata.X > 0).sum(axis=0) >= _SEEN_IN].copy()
    stages = data.paper_set_info("yan_sc")["classes"][y.astype(int) - 1]
    return Cells("yan", "embryos", adata, *_kinds(stages), (50, 200, 500, 1000, 2000))


def pbmc() -> Cells:
    """700 blood cells with 765 genes that scanpy ships; its authors chose those genes by their dispersion already."""
    import scanpy as sc

    small = sc.datasets.pbmc68k_reduced()
    adata = small.raw.to_adata()
    adata.X = adata.X.toarray()
    for old in (adata.uns, adata.obsp, adata.obsm):
        old.clear()  # what was computed on other genes
    kinds = _kinds(small.obs["bulk_labels"].astype(str))
    return Cells("pbmc68k_reduced", "blood", adata, *kinds, (20, 50, 100, 200, 400))


def _kinds(labels: Any) -> tuple[np.ndarray, list[str]]:
    """A number per cell, and what the numbers stand for."""
    names, codes = np.unique(np.asarray(labels), return_inverse=True)
    return codes, names.tolist()
