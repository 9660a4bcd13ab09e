"""Computations on plain arrays: blocks, threads, distances, neighbours, moments, compiled loops.

This room may import ``data`` and ``validation``. It contains no graphs and no criteria.

- ``blocks``        functions over blocks of columns and of rows;  ``threads``  use of all allowed cores
- ``distances``     distances between rows, with an error bound or exact;  ``streamed``  distances of a source
- ``search``        exact nearest neighbours;  ``approximate``  fast search for most of them;  ``assignment``  anchors
- ``moments``       means and scatters of columns, for all rows or by groups
- ``compiled``      compiled loops, the only module that imports the compiler
"""
