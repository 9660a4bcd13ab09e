"""The work on plain arrays: blocks, threads, distances, neighbours, moments, compiled loops. No graph, no criterion.

- ``blocks``        functions over blocks of columns and of rows;  ``threads``  all allowed cores
- ``distances``     between rows: keys with an error bound, exact for chosen pairs;  ``streamed``  of a source
- ``search``        the k nearest neighbours, exactly;  ``approximate``  most of them, fast;  ``assignment``  to anchors
- ``moments``       means and scatters of columns, whole or by groups
- ``kernels``       compiled loops, the only place that imports the compiler
"""
