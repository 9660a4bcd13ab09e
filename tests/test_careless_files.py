"""Tables as people have them: no header, other marks and encodings, words for missing cells, columns of text."""

import gzip
import sys

import numpy as np
import pytest

from fiedler.data.text import guess_header
from fiedler.io import read_labels, read_table, write_ranking, write_table

DATA = "the first line looks like data, so columns are named x0, x1, .*; use header=True if it holds names"
NAMES = "the first line .* numbers and is used as names; if it is data, use header=False"

# ---------------------------------------------------------------- is there a header?


@pytest.mark.parametrize(
    "text",
    [
        "5.1,3.5,setosa\n4.9,3.0,rose\n",
        "1.2e+00,-3.5E-2,setosa\n4.9,3.0,rose\n",
        "5,3,setosa\n4,9,rose\n",
        "5.1,3.5,\n4.9,3.0,rose\n",
        "5.1,NA,setosa\n4.9,3.0,rose\n",
        "5.1,3.5,rose\n4.9,NA,setosa\n6,,lily\n",
    ],
)
def test_a_first_line_of_numbers_is_data(write, reader, text):
    with pytest.warns(UserWarning, match=r"data\.csv: " + DATA):
        table = read_table(write(text), target=-1)
    assert table.shape == (text.count("\n"), 2)
    assert table.feature_names.tolist() == ["x0", "x1"]
    again = read_table(table.source, target=-1, header=False)
    np.testing.assert_array_equal(again.X, table.X)
    assert read_table(table.source, target=-1, header=True).shape == (text.count("\n") - 1, 2)


@pytest.mark.parametrize("text", ["0,1,2\n5,3,1\n4,9,2\n", "id,1990,2000\nr1,5,3\nr2,4,9\n", '"7","3"\n5,3\n4,9\n'])
def test_whole_numbers_that_increase_and_quoted_ones_are_names(write, reader, text):
    with pytest.warns(UserWarning, match=NAMES):
        table = read_table(write(text), id_column=0 if "id" in text else None)
    assert table.shape[0] == 2
    assert read_table(table.source, id_column=0 if "id" in text else None, header=True).shape[0] == 2


@pytest.mark.parametrize(
    "text",
    [
        "a,b,y\n1,2,x\n3,4,z\n",
        ",0,1\n0,5,3\n1,4,9\n",
        "0\t1\nr1\t5\t3\nr2\t4\t9\n",
        "a,1,b\n5,3,1\n4,9,2\n",
        "a,b\nx,y\n",
    ],
)
def test_what_is_a_header_for_sure_is_taken_without_a_word(text):
    rows = [line.split("\t" if "\t" in text else ",") for line in text.splitlines()]
    assert guess_header(rows[0], rows[1:]) == (True, "")


def test_a_column_that_is_named_makes_a_header(write, reader):
    table = read_table(write("1.5,2.5,9.5\n5,3,1\n4,9,2\n"), target="9.5")
    assert (table.feature_names.tolist(), table.y.tolist()) == (["1.5", "2.5"], [1, 2])
    with pytest.warns(UserWarning, match=DATA):  # a number is one of the columns
        assert read_table(write("5.1,3.5,2\n4.9,3.0,1\n"), target="2").y.tolist() == [2, 1]


# ---------------------------------------------------------------- dialects


@pytest.mark.parametrize(
    "text",
    ["a;b;y\n1,5;2;x\n-0,25;1,0e1;z\n", "1,5;2;x\n-0,25;1,0e1;z\n", "a\tb\ty\n1,5\t2\tx\n-0,25\t1,0e1\tz\n"],
)
def test_a_decimal_comma_is_seen_and_said(write, reader, tmp_path, text):
    with pytest.warns(UserWarning, match=r"cells such as '(1,5|-0,25)' are read as numbers with a decimal comma"):
        table = read_table(write(text), target=-1, header=text[0] == "a")
    np.testing.assert_array_equal(table.X, [[1.5, 2], [-0.25, 10]])
    assert table.y.tolist() == ["x", "z"]
    with pytest.warns(UserWarning, match="decimal comma"):
        small = read_table(write_table(tmp_path / "s.csv", table, [0]), target=-1, header=text[0] == "a")
    np.testing.assert_array_equal(small.X, [[1.5], [-0.25]])


def test_a_target_may_have_decimal_commas(write, reader):
    with pytest.warns(UserWarning, match="decimal comma"):
        table = read_table(write("a;y\n1,5;0,5\n2,5;1,25\n3,5;\n"), target="y")
    np.testing.assert_array_equal(table.y, [0.5, 1.25, np.nan])


def test_a_decimal_comma_far_down(write, reader):
    with pytest.warns(UserWarning, match="decimal comma"):
        table = read_table(write("a;b\n" + "1;2\n" * 50 + "1,5;3\n"))
    np.testing.assert_array_equal(table.X[-1], [1.5, 3])
    with pytest.raises(
        ValueError, match=r"line 3, column 'b': '2\.5' is not a number .the decimal mark is a comma here"
    ):
        read_table(write("a;b\n1,5;2\n1;2.5\n"))


@pytest.mark.parametrize(
    "text", ["a|b\n1|2\n3|4\n", "a b\n1 2\n3 4\n", "  a   b \n 1  \t 2\n10     4  \n", "a  b\nr1 1 2\nr2 3 4\n"]
)
def test_bars_and_runs_of_blanks(write, reader, tmp_path, text):
    table = read_table(write(text, "d.txt"))
    assert table.feature_names.tolist() == ["a", "b"]
    assert table.X[:, 1].tolist() == [2, 4]
    assert read_table(write_table(tmp_path / "s.txt", table, [1])).X.ravel().tolist() == [2, 4]


def test_a_comma_inside_names_is_no_separator(write, reader):
    assert read_table(write("weight, kg;height, m\n1;2\n3;4\n")).feature_names.tolist() == ["weight, kg", "height, m"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16(write, reader, encoding):
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(encoding, b"")
    table = read_table(write(mark + "größe,b,y\n1,2,ä\n3,4,ß\n".encode(encoding)), target="y")
    assert (table.feature_names.tolist(), table.y.tolist()) == (["größe", "b"], ["ä", "ß"])
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])
    with pytest.raises(ValueError, match=r"data\.csv is not complete UTF-16 text: truncated data"):
        read_table(write((mark + "a,b\n1,2\n".encode(encoding))[:-1]))


def test_windows_1252_is_said(write, reader, tmp_path):
    path = write("größe,b,y\n1,2,ä\n3,4,€\n".encode("cp1252"))
    with pytest.warns(
        UserWarning, match=r"data\.csv is not UTF-8 text .byte 0xf6 at 2., so it is read as Windows-1252"
    ):
        table = read_table(path, target="y")
    assert (table.feature_names.tolist(), table.y.tolist()) == (["größe", "b"], ["ä", "€"])
    assert write_table(tmp_path / "s.csv", table, [1]).read_text(encoding="utf-8") == "b,y\n2,ä\n4,€\n"
    with pytest.warns(UserWarning, match="read as Latin-1"):
        read_table(write(b"a\x81,b\n1,2\n"))
    with pytest.raises(ValueError, match="is not text: it holds zero bytes"):
        read_table(write(b"a\xff\0\0,b\n1,2\n"))
    with pytest.warns(UserWarning, match="Windows-1252"):
        assert read_labels(write("ä\nb\n".encode("cp1252"), "l.txt"), None, 2) == ["ä", "b"]


def test_lines_that_end_with_cr_alone(write, reader):
    np.testing.assert_array_equal(read_table(write("a,b\r1,2\r3,4\r")).X, [[1, 2], [3, 4]])
    np.testing.assert_array_equal(read_table(write("a,b\r1,2\n3,4\n")).X, [[1, 2], [3, 4]])
    np.testing.assert_array_equal(read_table(write("1,2\r3,4\r"), header=False).X, [[1, 2], [3, 4]])


def test_a_name_of_two_lines(write, reader):
    table = read_table(write('"a\nb",c\n1,2\n3,4\n'))
    assert (table.feature_names.tolist(), table.shape) == (["a\nb", "c"], (2, 2))


# ---------------------------------------------------------------- cells


def test_words_for_missing_cells(write, reader):
    words = ["None", "n/a", "#N/A", "<NA>", "N/A", "NA", "nan", "NaN", "null", "NULL", "?", ""]
    table = read_table(write("a,b,y\n" + "".join(f"{word},1,{word}\n" for word in words) + "2,3,x\n"), target="y")
    np.testing.assert_array_equal(table.X, [*([np.nan, 1] for _ in words), [2, 3]])
    assert table.y.tolist() == [None] * len(words) + ["x"]
    with pytest.raises(ValueError, match="column 'a': '-' is not a number"):
        read_table(write("a,b\n-,1\n2,3\n"))


def test_truth_values_are_one_and_zero(write, reader):
    table = read_table(write("a,b,y\nTrue,1,True\nFALSE,2,False\ntrue,3,True\n"), target="y")
    np.testing.assert_array_equal(table.X, [[1, 1], [0, 2], [1, 3]])
    assert table.y.tolist() == ["True", "False", "True"]


TOWNS = "id,a,town,b,street,y\nr1,1,Paris,2,x,u\nr2,3,4,5,6,v\n"


def test_all_columns_without_numbers_are_named_at_once(write, reader):
    message = (
        r"line 2, column 'town': 'Paris' is not a number; line 2, column 'street': 'x' is not a number\. Correct the "
        r"cells, or, if these columns are no features, name them as the target or as an id column, or leave them out "
        r"with drop=\['town', 'street'\] or numeric_only=True"
    )
    with pytest.raises(ValueError, match=message):
        read_table(write(TOWNS), target="y", id_column="id")
    with pytest.raises(ValueError, match=r"column 'j': 'z' is not a number; and 2 more columns\. Correct"):
        read_table(write("a,b,c,d,e,f,g,h,i,j,k,l,m\n" + ",".join("z" * 12) + ",1\n" + ",".join("1" * 13)))


def test_columns_may_be_left_out(write, reader, tmp_path):
    table = read_table(write(TOWNS), target="y", id_column="id", drop=["town", -2])
    assert (table.feature_names.tolist(), table.X.tolist()) == (["a", "b"], [[1, 2], [3, 5]])
    with pytest.warns(UserWarning, match=r"data\.csv: 2 columns \('town', 'street'\) skipped: not numeric"):
        same = read_table(table.source, target="y", id_column="id", numeric_only=True)
    np.testing.assert_array_equal(same.X, table.X)
    for found in (table, same):
        assert write_table(tmp_path / "s.csv", found, [1], force=True).read_text() == "id,b,y\nr1,2,u\nr2,5,v\n"
    assert read_table(write("a,b\n1,2\n3,4\n"), drop="a").feature_names.tolist() == ["b"]
    with pytest.raises(ValueError, match="column 'y' is in drop, and named as target or id"):
        read_table(write(TOWNS), target="y", drop=["y"])
    with pytest.raises(ValueError, match=r"has no column 'twon'; did you mean 'town'\?"):
        read_table(write(TOWNS), drop="twon")
    with pytest.raises(ValueError, match="is not a number"):
        read_table(write("a,b\nx,y\n"), numeric_only=True)


@pytest.mark.parametrize("suffix", ["parquet", "feather", "arff", "sparse.arff"])
def test_columns_of_other_formats_may_be_left_out(tmp_path, suffix):
    path = tmp_path / f"t.{suffix}"
    if "arff" in suffix:
        pytest.importorskip("arff")
        rows = ["{0 1,1 x,2 u,3 2}", "{0 3,1 y,2 v,3 5}"] if "sparse" in suffix else ["1,x,u,2", "3,y,v,5"]
        kinds = ["a numeric", "town {w,x,y}", "y {w,u,v}", "b numeric"]
        path.write_text("\n".join(["@relation r", *(f"@attribute {k}" for k in kinds), "@data", *rows]) + "\n")
    else:
        pa = pytest.importorskip("pyarrow")
        table = pa.table({"a": [1.0, 3.0], "town": ["x", "y"], "y": ["u", "v"], "b": [2, 5]})
        if suffix == "parquet":
            pytest.importorskip("pyarrow.parquet").write_table(table, path)
        else:
            pytest.importorskip("pyarrow.feather").write_feather(table, str(path))
    if "sparse" in suffix:
        with pytest.raises(ValueError, match=r"column 'town'.*drop=\['town'\] or numeric_only=True"):
            read_table(path, target="y")
    else:
        with pytest.warns(UserWarning, match="Read as categories, each of them one feature: 'town'"):
            assert read_table(path, target="y").feature_names.tolist() == ["a", "town", "b"]
    with pytest.warns(UserWarning, match=r"1 column \('town'\) skipped"):
        one = read_table(path, target="y", numeric_only=True)
    for found in (one, read_table(path, target="y", drop="town")):
        X = found.X.toarray() if hasattr(found.X, "toarray") else found.X
        np.testing.assert_array_equal(X, [[1, 2], [3, 5]])
        small = read_table(write_table(tmp_path / f"s.{suffix}", found, [1], force=True), target="y")
        assert (small.feature_names.tolist(), small.y.tolist()) == (["b"], ["u", "v"])


@pytest.mark.parametrize("name", ["t.npy", "t.npz", "t.h5ad", "t.h5", "t.mtx", "t.zarr"])
@pytest.mark.parametrize("memory", [None, 1])
def test_columns_of_matrices_may_be_left_out(tmp_path, name, memory):
    X = np.arange(1.0, 13.0).reshape(3, 4)
    path = tmp_path / name
    if name == "t.npy":
        np.save(path, X)
    elif name == "t.npz":
        np.savez(path, X=X)
    elif name == "t.mtx":
        pytest.importorskip("scipy.io").mmwrite(path, X)
    elif name == "t.h5":
        with pytest.importorskip("h5py").File(path, "w") as file:
            file["X"] = X
    elif name == "t.zarr":
        pytest.importorskip("zarr").save_array(str(path), X)
    else:
        anndata, pd = pytest.importorskip("anndata"), pytest.importorskip("pandas")
        anndata.AnnData(X, pd.DataFrame(index=list("abc")), pd.DataFrame(index=["x0", "x1", "x2", "x3"])).write_h5ad(
            path
        )
    table = read_table(path, drop=["x1", 3], memory=memory)
    assert table.feature_names.tolist() == ["x0", "x2"]
    np.testing.assert_array_equal(table.X[:, :], X[:, [0, 2]])
    if memory is None:
        out = write_table(tmp_path / f"s{path.suffix}", table, [1])
        np.testing.assert_array_equal(read_table(out).X, X[:, [2]])
    if name == "t.npy":
        assert read_table(path, target=0, drop=1).feature_names.tolist() == ["x2", "x3"]
        with pytest.raises(ValueError, match="column 0 is in drop, and named as the target"):
            read_table(path, target=0, drop=0)
        with pytest.raises(ValueError, match="no feature columns except those in drop"):
            read_table(path, drop=range(4))


# ---------------------------------------------------------------- labels and names


def test_an_empty_line_is_a_missing_label(write):
    assert read_labels(write("x\n\nz\n", "l.txt"), None, 3) == ["x", "", "z"]
    assert read_labels(write("x\ny\nz\n\n\n", "l.txt"), None, 3) == ["x", "y", "z"]
    assert read_labels(write("\nx\n\n", "l.txt"), None, 3) == ["", "x", ""]
    with pytest.warns(UserWarning, match=r"one line more than there are rows, so 'label' is used as a header"):
        assert read_labels(write("label\nx\n\nz\n", "l.txt"), None, 3) == ["x", "", "z"]
    with pytest.raises(ValueError, match=r"l\.txt has 5 labels for 3 rows"):
        read_labels(write("label\nx\n\ny\nz\n", "l.txt"), None, 3)
    table = read_table(write("a,b\n1,2\n3,4\n5,6\n"), labels=write("x\n\nz\n", "l.txt"))
    assert table.y.tolist() == ["x", None, "z"]


def test_a_row_that_is_labelled_twice(write):
    with pytest.raises(ValueError, match=r"l\.csv: row '1' has a label in line 2 and again in line 4"):
        read_labels(write("row,label\n1,x\n0,y\n1,x\n", "l.csv"), None, 3)


def test_names_are_whole_lines(write):
    path = write("1,2,5\n3,4,6\n")
    names = read_table(
        path, header=False, names=write('weight, kg\n "height; m" \nsay "x", y\n', "n.txt")
    ).feature_names
    assert names.tolist() == ["weight, kg", "height; m", 'say "x", y']
    names = read_table(path, header=False, drop=1, names=write("a\nb\nc\n", "n.txt")).feature_names
    assert names.tolist() == ["a", "c"]
    names = read_table(path, header=False, drop=1, names=write("a\nc\n", "n.txt")).feature_names
    assert names.tolist() == ["a", "c"]


# ---------------------------------------------------------------- out


@pytest.mark.parametrize(
    ("source", "separator", "out", "expected"),
    [
        ("g.tsv", "\t", "s.csv", ","),
        ("g.csv", ",", "s.tsv", "\t"),
        ("g.csv", ",", "s.tab", "\t"),
        ("g.csv", ";", "s.csv", ";"),
        ("g.txt", ";", "s.csv", ","),
        ("g.txt", ";", "s.txt", ";"),
        ("G.TSV", "\t", "S.CSV.GZ", ","),
    ],
)
def test_the_suffix_decides_what_separates(write, tmp_path, source, separator, out, expected):
    table = read_table(write("a,b,c\n1,2,3\n4,5,6\n".replace(",", separator), source))
    path = write_table(tmp_path / out, table, [0, 2])
    text = gzip.decompress(path.read_bytes()).decode() if out.endswith("GZ") else path.read_text()
    assert text == "a,c\n1,3\n4,6\n".replace(",", expected)


def test_formulas_of_a_spreadsheet(tmp_path):
    columns = {"feature": ["=1+2", "+a", "-b", "@c", "\td", "\re", "f=1", "-1"], "score": [-1.0] * 8}
    kept = write_ranking(tmp_path / "k.csv", columns).read_bytes().decode()
    assert "\n=1+2,-1.0\n" in kept
    for suffix, mark in (("csv", ","), ("tsv", "\t")):
        text = write_ranking(tmp_path / f"e.{suffix}", columns, formulas="escape").read_bytes().decode()
        assert text.split("\n")[1:5] == [f"'{name}{mark}-1.0" for name in ("=1+2", "+a", "-b", "@c")]
        assert "'\td" in text
        assert "'\re" in text
        assert f"\nf=1{mark}-1.0\n'-1{mark}-1.0\n" in text
    with pytest.raises(ValueError, match="formulas must be one of 'keep', 'escape', got 'drop'"):
        write_ranking(tmp_path / "d.csv", columns, formulas="drop")


def test_a_missing_package_is_said_before_the_work(tmp_path, monkeypatch):
    from fiedler.data.formats import check_output

    for module, suffix, package in (("pyarrow", "PARQUET", "pyarrow"), ("arff", "arff", "liac-arff")):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(ImportError, match=rf"out\.{suffix} needs {package}; install it with"):
            check_output(tmp_path / f"out.{suffix}")
