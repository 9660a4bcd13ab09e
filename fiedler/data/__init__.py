"""Reading and writing of data: arrays, files read as a whole or in blocks, Dask arrays, rankings and reduced tables.

This room may import ``validation``, ``errors``, ``words`` and other modules that import no room.

- ``arrays``    validation of X in any storage; blocks of its columns and rows
- ``source``    matrices that are not in memory, and views of them: ``files``, ``dask``
- ``memory``    memory limits for slabs and for sizes that files declare
- ``formats``   the table of file formats; ``columns`` ``matrices`` ``matlab`` ``stores``  read and write them
- ``tables``    requests to a file and its contents; ``delimited`` text, ``label_files`` labels and pairs
- ``write``     rankings; ``atomic`` complete files or none, ``keep`` stored results of interrupted work
"""
