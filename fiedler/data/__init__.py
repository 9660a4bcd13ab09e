"""Data in and out: arrays, files read whole or in blocks, Dask arrays; rankings and reduced tables back to files.

- ``arrays``    X, checked once, wherever it lives; blocks of its columns and rows
- ``source``    what does not live in memory, and views of it: ``files``, ``dask``; ``memory`` bounds a slab
- ``formats``   every file format described once: read whole, opened in blocks, written
- ``stores`` ``columns`` ``delimited`` ``matrices``  how files are opened and read;  ``tables`` ``labels``  what is in
- ``write``     rankings, reduced tables, AnnData; ``atomic`` files appear whole, ``keep`` long work goes on
"""
