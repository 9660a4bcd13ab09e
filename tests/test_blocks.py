"""Blocks of rows are folded in order, in memory and from files."""

import numpy as np
import pytest
from sklearn import config_context
from stored import MANY, ONE, array, problem

from fiedler.engine.blocks import fold_rows
from fiedler.sources import open_source


@pytest.mark.parametrize("kind", ["zarr by rows", "hdf5", "parquet", "hdf5 csr", "hdf5 csc", "npy"])
@pytest.mark.parametrize("memory", [MANY, ONE])
def test_folding_rows(saved, kind, memory):
    X = problem("variance", kind).X
    source = open_source(saved(kind, X))
    with config_context(working_memory=memory):
        for matrix, expected in ((source, X), (source.take_rows([7, 3, 3]), X[[7, 3, 3]])):
            rows = fold_rows(lambda part: [array(part)], lambda a, b: a + b, matrix)
            np.testing.assert_array_equal(np.vstack(rows), expected)
            assert all(part.dtype == np.float64 for part in rows)
