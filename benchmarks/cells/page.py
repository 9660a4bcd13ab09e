"""docs/single-cells.md: how genes are chosen in an AnnData, and how that compares with scanpy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..papers.page import DOCS, Section


def markdown(sections: Sequence[Section]) -> str:
    """The whole page."""
    contents = "\n".join(f"- [{section.title}](#{section.key})" for section in sections)
    return "\n\n".join([_HEAD, contents, *(section.markdown().strip() for section in sections), _TAIL]) + "\n"


def write(sections: Sequence[Section], docs: Path = DOCS) -> Path:
    page = docs / "single-cells.md"
    partial = page.with_suffix(".part")
    partial.write_text(markdown(sections))
    partial.replace(page)
    return page


_HEAD = """# Single cells

`fiedler.anndata.select_genes` chooses genes of an AnnData in place: those whose expression changes little between
neighbouring cells. It writes `var["highly_variable"]`, so that scanpy's functions go on from there, and
`var["fiedler_rank"]`, `var["fiedler_score"]`. `python -m benchmarks.cells` wrote this page and computed every number in
it: clusters are k-means on 20 principal components with as many clusters as there are kinds, on the chosen genes of
80 % of the cells, several times; the kinds are what the authors of the data say."""

_TAIL = """## What else it does

```python
select_genes(adata, graph="connectivities")  # on the graph scanpy has built; any key of obsp
select_genes(adata, graph="spatial_connectivities", significance=True)  # spatially variable genes, p- and q-values
select_genes(adata, "sselect", target="cell_type")  # a few labelled cells; missing labels are unknown
select_genes(adata, batch_key="sample")  # in every batch by itself, then by the number of batches
select_genes(anndata.read_h5ad("cells.h5ad", backed="r"))  # read in blocks
```

Genes are taken in the scale they have. On raw counts the nearest cells are those of the same depth: normalise first. A
graph built from the same genes bends towards them, noise included, so p-values without `graph` are cross-fitted
([is it real?](is-it-real.md)); on `connectivities`, which scanpy computed from these genes, they are too small, and on
a graph of places they hold."""
