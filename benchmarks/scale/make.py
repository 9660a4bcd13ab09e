"""Files for the measurements: standard normal noise with a few columns that follow three clusters of rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np

_BLOCK = 2**22  # values written together
N_CLUSTERS = 3


def clusters(n: int) -> np.ndarray:
    """The cluster of every row, the same in every file of so many rows."""
    return np.random.default_rng([7, n]).integers(N_CLUSTERS, size=n)


def block(rows: slice, columns: slice, n: int) -> np.ndarray:
    """Part of the matrix, the same however it is cut along its longer side; every tenth column is informative."""
    y = clusters(n)[rows]
    key = [rows.start, columns.start] if columns.start == 0 else [0, columns.start]
    X = np.random.default_rng([1, *key]).standard_normal((rows.stop - rows.start, columns.stop - columns.start))
    told = np.arange(columns.start, columns.stop) % 10 == 0
    X[:, told] += 2.0 * y[:, None]
    return X


def wide(folder: Path, n: int, m: int, dtype: str = "f8") -> Path:
    """A Zarr array chunked by columns."""
    width = max(1, _BLOCK // n)
    return _write(folder / f"wide-{n}-{m}.zarr", n, m, (n, width), dtype)


def tall(folder: Path, n: int, m: int, dtype: str = "f8") -> Path:
    """A Zarr array chunked by rows."""
    height = max(1, _BLOCK // m)
    return _write(folder / f"tall-{n}-{m}.zarr", n, m, (height, m), dtype)


def _write(path: Path, n: int, m: int, chunks: tuple[int, int], dtype: str) -> Path:
    import zarr

    if path.exists():
        return path
    array = zarr.create_array(str(path), shape=(n, m), chunks=chunks, dtype=dtype)
    for i in range(0, n, chunks[0]):
        for j in range(0, m, chunks[1]):
            rows, columns = slice(i, min(i + chunks[0], n)), slice(j, min(j + chunks[1], m))
            array[rows, columns] = block(rows, columns, n)
    return path
