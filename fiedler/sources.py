"""Matrices larger than memory: files read in blocks and Dask arrays, all through one small interface.

    from fiedler.sources import open_source
    SpectralSelector("laplacian").fit(open_source("big.zarr"))

Zarr arrays, HDF5 datasets, backed AnnData matrices and Dask arrays may also be passed to ``fit`` directly.
"""

from .data.arrays import as_source
from .data.formats import open_source
from .data.source import Source
from .data.work import Run
