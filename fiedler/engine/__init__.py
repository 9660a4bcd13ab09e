"""Computations on plain arrays: blocks, threads, distances, neighbours, moments, compiled loops.

This room may import ``data`` and ``validation``. It contains no graphs and no criteria.

- ``blocks``        functions over blocks of columns and of rows;  ``threads``  use of all allowed cores
- ``products``      Gram products, products and differences of pairs;  ``distances``  with an error bound, or exact
- ``neighbors``     the search for nearest rows;  ``smallest``  the k smallest keys and the rule for ties
- ``approximate``   fast search for most neighbours, principal components;  ``kmeans``  centres, rows to anchors
- ``moments``       means and scatters of columns, for all rows or by groups;  ``missing``  missing values filled
- ``permuted``      quadratic forms over all orders of a vector;  ``agreement``  columns that agree with others
- ``compiled``      compiled loops, the only module that imports the compiler
"""
