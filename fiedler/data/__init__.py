"""Data in and out: arrays, files read whole or in blocks, Dask arrays; rankings and reduced tables back to files.

- ``arrays``    X, checked once, wherever it lives; blocks of its columns and rows
- ``source``    what does not live in memory, and views of it: ``files``, ``dask``
- ``memory``    how much a slab may take, and what a file declares
- ``formats``   every file format described once; ``columns`` ``matrices`` ``matlab`` ``stores``  read and write them
- ``tables``    what is asked of a file and what it holds; ``delimited`` text, ``label_files`` labels and pairs
- ``write``     rankings; ``atomic`` files appear whole, ``keep`` long work goes on
"""
