"""Named columns of Parquet and ARFF: which types are numbers, what text may stand where."""

import numpy as np
import pytest

from fiedler.io import read_table


def test_types_of_columns(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {"f": pa.array([1.5, None], pa.float32()), "b": [True, False], "i": pa.array([1, 2], pa.int8())}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    assert table.X.dtype == np.float32
    np.testing.assert_array_equal(table.X, [[1.5, 1, 1], [np.nan, 0, 2]])
    pq.write_table(pa.table(columns | {"town": ["a", "b"]}), tmp_path / "t.parquet")
    with pytest.warns(UserWarning, match=r"Read as categories, each of them one feature: 'town'"):
        table = read_table(tmp_path / "t.parquet")
    assert table.feature_names.tolist() == ["b", "i", "town"], "one known value is not enough"
    assert table.groups.owner.tolist() == [0, 1, 2, 2]
    with pytest.raises(ValueError, match=r"t\.parquet: column 'town' holds string, not numbers"):
        read_table(tmp_path / "t.parquet", memory=1)  # a file that is read in blocks has no categories
    assert read_table(tmp_path / "t.parquet", target="town").y.tolist() == ["a", "b"]


def test_whole_numbers_in_arff_are_not_cut(tmp_path):
    pytest.importorskip("arff")
    rows = "2.7,1\n9" + "9" * 400 + ",2\n"
    (tmp_path / "t.arff").write_text("@relation r\n@attribute 'a b' INTEGER\n@attribute b integer\n@data\n" + rows)
    np.testing.assert_array_equal(read_table(tmp_path / "t.arff").X, [[2.7, 1], [np.inf, 2]])


def test_text_in_arff(tmp_path):
    pytest.importorskip("arff")
    path = tmp_path / "t.arff"
    head = "@relation r\n@attribute a numeric\n@attribute town {Paris,Rome}\n@data\n"
    path.write_text(head + "1,Paris\n?,Rome\n")
    with pytest.warns(UserWarning, match=r"Read as categories, each of them one feature: 'town'"):
        assert read_table(path).groups is not None
    table = read_table(path, target="town")
    np.testing.assert_array_equal(table.X, [[1], [np.nan]])
    assert table.y.tolist() == ["Paris", "Rome"]
    path.write_text(head + "1,Paris\nx,Rome\n")
    with pytest.raises(ValueError, match=r"t\.arff: .*line 6"):
        read_table(path, target="town")
