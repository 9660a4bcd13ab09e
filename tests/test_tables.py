"""Tables of files: missing, empty and infinite cells."""

import numpy as np
import pytest

from fiedler.io import fill_missing, read_table


def test_missing_cells(write, reader):
    table = read_table(write("a,b,y\n1,NA,x\n,2,?\n3,nan,z\n"), target="y")
    np.testing.assert_array_equal(table.X, [[1, np.nan], [np.nan, 2], [3, np.nan]])
    assert table.y.tolist() == ["x", None, "z"]
    with pytest.raises(ValueError, match=r"data\.csv: 3 missing cells in 2 columns \('a', 'b'\).*fill_missing"):
        fill_missing(table)
    np.testing.assert_array_equal(fill_missing(table, "median"), [[1, 2], [2, 2], [3, 2]])
    np.testing.assert_array_equal(fill_missing(table, "zero"), [[1, 0], [0, 2], [3, 0]])
    with pytest.raises(ValueError, match="how must be one of 'median', 'mean', 'zero', got 'mode'"):
        fill_missing(table, "mode")


def test_an_empty_column_is_filled_with_zero(write):
    table = read_table(write("a,b\n1,\n2,\n"))
    np.testing.assert_array_equal(fill_missing(table, "mean"), [[1, 0], [2, 0]])


def test_infinite_cells(write, reader):
    with pytest.raises(ValueError, match=r"infinite values in 1 column \('b'\)"):
        fill_missing(read_table(write("a,b\n1,inf\n2,3\n")), "median")
