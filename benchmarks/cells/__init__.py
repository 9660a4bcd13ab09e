"""Genes of real single cells, chosen here and by scanpy -> docs/single-cells.md."""
