"""Reading and writing of data: arrays, files read as a whole or in blocks, Dask arrays, rankings and reduced tables.

This room may import ``validation``, ``errors``, ``words`` and other modules that import no room. A file
of named columns takes one way: file -> cells, read once -> columns -> matrix.

- ``arrays``     X out of its container and checked once, in any storage; columns brought to one scale on request
- ``columns``    named columns of any kind; ``encode``, which makes a matrix of them; groups; the one entrance for X
- ``memory``     limits for slabs and for sizes that files declare
- ``source``     matrices that are not in memory, and views of them; ``files`` and ``dask`` are the kinds of sources
- ``work``       counts of long loops, finished parts of interrupted work, files written whole or not at all
- ``text``       text files: encoding, delimiter, header, cells; ``labels`` files of labels, names and pairs; rankings
- ``tables``     what is asked of a file and what it holds; ``arrange`` gives columns their roles and makes a table;
  CSV, Excel, ARFF, Arrow
- ``matrices``   NPY, NPZ, MATLAB, svmlight, Matrix Market, Zarr, HDF5, h5ad
- ``formats``    the table of file formats, ``read_table`` and ``write_table``
"""
