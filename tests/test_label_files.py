"""Labels and pairs in files of their own: what is read, what is unknown, and one clear message for a bad file."""

import numpy as np
import pytest

from fiedler.io import as_labels, read_labels, read_pairs, read_table


@pytest.mark.parametrize(
    ("values", "unlabeled", "expected"),
    [
        (["1", "2", "2"], None, [1, 2, 2]),
        (["1", "", "2"], None, [1.0, None, 2.0]),
        (["0.5", "NA", "2"], None, [0.5, None, 2.0]),
        (["1", "0", "2"], "0", [1.0, None, 2.0]),
        ([1.0, -1.0], -1, [1.0, None]),
        (["a", "unknown", None], "unknown", ["a", None, None]),
        (np.array([[3], [4]], dtype=np.uint8), None, [3, 4]),
        ([True, False], None, [1, 0]),
        ([1, 10**400], None, ["1", "1" + "0" * 400]),
    ],
)
def test_labels(values, unlabeled, expected):
    found = as_labels(values, unlabeled).tolist()
    assert [None if v != v else v for v in found] == expected


def test_label_files(write):
    ids, samples = (np.array([f"{name}{i}" for i in range(3)], dtype=object) for name in ("r", "sample"))
    assert read_labels(write("x\ny\nz\n", "l.txt"), None, 3) == ["x", "y", "z"]
    with pytest.warns(UserWarning, match="'label' is used as a header"):
        assert read_labels(write("label\nlung cancer\ny\nz\n", "l.txt"), None, 3) == ["lung cancer", "y", "z"]
    assert read_labels(write("row,label\n2,x\n0,y\n", "l.csv"), None, 3) == ["y", None, "x"]
    assert read_labels(write("r1\tx\n", "l.tsv"), ids, 3) == [None, "x", None]
    with pytest.raises(ValueError, match=r"l\.csv: line 2: 'sample9' is not a row id; did you mean 'sample"):
        read_labels(write("sample1,x\nsample9,y\n", "l.csv"), samples, 3)
    with pytest.raises(
        ValueError, match=r"l\.csv: line 2: '7' is not a row number from 0 to 2; to use row ids, name an id column"
    ):
        read_labels(write("0,x\n7,y\n", "l.csv"), None, 3)
    with pytest.raises(ValueError, match="has 2 labels for 9 rows; use lines 'row,label' to label only some rows"):
        read_labels(write("x\ny\n", "l.txt"), None, 9)
    table = read_table(write("id,a\nr0,1\nr1,2\nr2,3\n"), id_column="id", labels=write("r2,5\n", "l.csv"))
    np.testing.assert_array_equal(table.y, [np.nan, np.nan, 5])


@pytest.mark.parametrize(
    "text",
    [
        "0,2,must\n1,2,cannot\n",
        "i\tj\tlink\n0\t2\tML\n1\t2\tCL\n",
        "0 2 1\n1 2 -1\n",
        "r0;r2;Must-Link\nr1;r2;cannot_link",
    ],
)
def test_pairs(write, text):
    ids = np.array(["r0", "r1", "r2"], dtype=object) if "r0" in text else None
    must, cannot = read_pairs(write(text), ids, 3)
    assert (must.tolist(), cannot.tolist()) == ([[0, 2]], [[1, 2]])


def test_pairs_of_one_kind(write):
    must, cannot = read_pairs(write("0,2\n1,2\n"), None, 3, "cannot")
    assert (must.shape, cannot.tolist()) == ((0, 2), [[0, 2], [1, 2]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0,2\n", r"data\.csv: line 1: the third column must say must or cannot, got None"),
        ("0,2,perhaps\n", "must say must or cannot, got 'perhaps'"),
        ("0,2,must\n0,9,must\n", r"line 2: '9' is not a row number from 0 to 2"),
        ("0,2,must\n\n0,x,must\n", r"line 3: 'x' is not a row number"),
        ("0\n", "line 1 has 1 cells; a pair has two"),
    ],
)
def test_bad_pairs(write, text, message):
    with pytest.raises(ValueError, match=message):
        read_pairs(write(text), None, 3)


def test_repeated_row_ids_cannot_make_pairs(write):
    with pytest.raises(ValueError, match="row id 'r' occurs 2 times"):
        read_pairs(write("r,s,must\n"), np.array(["r", "r", "s"], dtype=object), 3)
