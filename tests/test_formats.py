"""Every format gives the same table, is written back with fewer columns, and says what is wrong with a bad file."""

import gzip
import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from click.testing import CliRunner
from tables import NAMES, X, save_arff, save_h5ad

from fiedler.cli import main
from fiedler.io import FORMATS as KNOWN
from fiedler.io import Contents, Format, file_format, read_table, register_format, write_table
from fiedler.sources import open_source


def save_npz(path, matrix):
    np.savez(path, X=matrix, y=[1, 0, -1], feature_names=NAMES)


def save_sparse_npz(path, matrix):
    sp.save_npz(path, sp.csr_array(matrix))


def save_mat(path, matrix):
    from scipy.io import savemat

    savemat(path, {"X": matrix, "Y": [[1], [0], [-1]]})


def save_sparse_mat(path, matrix):
    save_mat(path, sp.csc_array(matrix))


def save_mat73(path, matrix):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w", userblock_size=512) as file:
        file["X"], file["Y"] = matrix.T, [[1.0, 0.0, -1.0]]
    with open(path, "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")


def save_svmlight(path, matrix):
    from sklearn.datasets import dump_svmlight_file

    dump_svmlight_file(matrix, [1, 0, -1], str(path), zero_based=False)


def save_mtx(path, matrix):
    from scipy.io import mmwrite

    mmwrite(str(path), sp.coo_array(matrix))


def save_parquet(path, matrix):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({n: matrix[:, j] for j, n in enumerate(NAMES)} | {"y": [1, 0, -1]})
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        pq.write_table(table, path)
    else:
        import pyarrow.feather as feather

        feather.write_feather(table, str(path))


def save_sparse_arff(path, matrix):
    pytest.importorskip("arff")
    lines = ["@relation r", *(f"@attribute {n} numeric" for n in NAMES), "@attribute y {-1,0,1}", "@data"]
    for row, y in zip(matrix.tolist(), [1, 0, -1], strict=True):
        cells = [f"{j} {v}" for j, v in enumerate(row) if v] + ([f"4 {y}"] if y != -1 else [])
        lines.append("{" + ",".join(cells) + "}")
    path.write_text("\n".join(lines) + "\n")


def save_zarr(path, matrix):
    zarr = pytest.importorskip("zarr")
    zarr.save_group(str(path), X=matrix, y=np.array([1, 0, -1]))


FORMATS = {
    "npz": (save_npz, "t.npz", None),
    "sparse npz": (save_sparse_npz, "t.npz", None),
    "mat": (save_mat, "t.mat", None),
    "sparse mat": (save_sparse_mat, "t.mat", None),
    "mat 7.3": (save_mat73, "t.mat", None),
    "svmlight": (save_svmlight, "t.svmlight", None),
    "mtx": (save_mtx, "t.mtx", None),
    "parquet": (save_parquet, "t.parquet", "y"),
    "feather": (save_parquet, "t.feather", "y"),
    "arff": (save_arff, "t.arff", "y"),
    "sparse arff": (save_sparse_arff, "t.arff", "y"),
    "h5ad": (save_h5ad, "t.h5ad", "y"),
    "anndata zarr": (save_h5ad, "t.zarr", "y"),
    "zarr": (save_zarr, "t.zarr", None),
}


@pytest.fixture(params=FORMATS)
def saved(request, tmp_path):
    save, name, target = FORMATS[request.param]
    save(tmp_path / name, X)
    return request.param, read_table(tmp_path / name, target=target)


def dense(matrix):
    return matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)


def test_every_format_gives_the_same_table(saved):
    name, table = saved
    np.testing.assert_array_equal(dense(table.X), X)
    assert sp.issparse(table.X) == (name.startswith("sparse") or name in ("svmlight", "mtx"))
    if name in ("h5ad", "anndata zarr"):
        assert table.y.tolist() == ["yes", "no", None]
        assert table.row_ids.tolist() == ["r0", "r1", "r2"]
    elif name not in ("sparse npz", "mtx"):
        assert table.y.tolist() == [1, 0, -1]
    named = name in ("npz", "h5ad", "anndata zarr", "parquet", "feather") or "arff" in name
    assert table.feature_names.tolist() == (NAMES if named else ["x0", "x1", "x2", "x3"])


def test_reduced_tables_keep_labels_and_format(saved, tmp_path):
    name, table = saved
    if "arff" in name:
        pytest.importorskip("arff")
    out = write_table(tmp_path / f"small{table.source.suffix}", table, np.array([0, 2]))
    small = read_table(out, target=FORMATS[name][2])
    np.testing.assert_array_equal(dense(small.X), X[:, [0, 2]])
    assert sp.issparse(small.X) == sp.issparse(table.X)
    assert (small.y is None) == (table.y is None)
    assert small.y is None or small.y.tolist() == table.y.tolist()
    with pytest.raises(FileExistsError, match="exists; use force=True"):
        write_table(out, table, [1])
    write_table(out, table, [True, False, False, True], force=True)
    np.testing.assert_array_equal(dense(read_table(out, target=FORMATS[name][2]).X), X[:, [0, 3]])
    assert not [p for p in tmp_path.iterdir() if ".part." in p.name]


def test_reduced_csv_keeps_the_text(write, tmp_path):
    path = write("id,a,b,c,y\nr1,1.50,2,3,x\nr2,NA,5,6,\n")
    table = read_table(path, target="y", id_column="id")
    assert write_table(tmp_path / "s.csv", table, [0, 2]).read_text() == "id,a,c,y\nr1,1.50,3,x\nr2,NA,6,\n"
    zipped = write_table(tmp_path / "s.csv.gz", table, [1])
    assert gzip.decompress(zipped.read_bytes()).decode() == "id,b,y\nr1,2,x\nr2,5,\n"
    with pytest.raises(ValueError, match=r"written in the format of .*data\.csv; use the suffix \.csv"):
        write_table(tmp_path / "s.npy", table, [1])


def test_reduced_matrices_keep_their_labels_as_they_are(write, tmp_path):
    np.save(tmp_path / "t.npy", X)
    table = read_table(tmp_path / "t.npy", target=1)
    np.testing.assert_array_equal(np.load(write_table(tmp_path / "s.npy", table, [1, 2])), X[:, 1:])
    save_mtx(tmp_path / "t.mtx", X)
    table = read_table(tmp_path / "t.mtx", target=0)
    np.testing.assert_array_equal(read_table(write_table(tmp_path / "s.mtx", table, [2])).X.toarray(), X[:, [0, 3]])
    table = read_table(write("1 1:2 2:1\n-1 1:3 2:5\n7 1:4\n", "t.svm"), unlabeled=7)
    np.testing.assert_array_equal(table.y, [1, -1, np.nan])
    assert read_table(write_table(tmp_path / "s.svm", table, [0])).y.tolist() == [1, -1, 7]


@pytest.mark.parametrize(
    "suffix", ["npy", "npz", "mat", "mtx", "svmlight", "arff", "parquet", "feather", "h5ad", "zarr"]
)
@pytest.mark.parametrize("content", [b"", b"not what the suffix says\n\x00\xff", b"PK\x03\x04 half a zip"])
def test_files_that_are_not_what_they_say(tmp_path, suffix, content):
    needs = {"parquet": "pyarrow", "feather": "pyarrow", "h5ad": "anndata", "zarr": "zarr"}
    if suffix in needs:
        pytest.importorskip(needs[suffix])
    path = tmp_path / f"t.{suffix}"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"t\.{suffix}"):
        read_table(path)


def test_a_missing_package_names_its_extra(tmp_path, monkeypatch):
    for module, name, extra in [
        ("pyarrow", "t.parquet", "io"),
        ("openpyxl", "t.xlsx", "io"),
        ("arff", "t.arff", "io"),
        ("anndata.io", "t.h5ad", "anndata"),
        ("zarr", "t.zarr", "zarr"),
    ]:
        (tmp_path / name).write_bytes(b"x")
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(
            ImportError, match=rf"{name} needs (liac-)?{module.split('.')[0]}; .*pip install 'fiedler\[{extra}\]'"
        ):
            read_table(tmp_path / name)


# ---------------------------------------------------------------- formats of others


def read_digits(request):
    rows = [[float(digit) for digit in line] for line in request.path.read_text().split()]
    return Contents(np.array(rows), layout={"features": list(range(len(rows[0])))})


def write_digits(path, table, selected):
    path.write_text("".join("".join(f"{value:.0f}" for value in row) + "\n" for row in table.X[:, selected]))


@pytest.fixture
def digits(tmp_path):
    register_format(Format("digits", read_digits, write_digits, aliases=("dgt",)))
    (tmp_path / "t.dgt").write_text("123\n405\n789\n")
    yield tmp_path / "t.dgt"
    del KNOWN["digits"]


def test_a_format_from_outside(digits, tmp_path):
    table = read_table(digits)
    np.testing.assert_array_equal(table.X, [[1, 2, 3], [4, 0, 5], [7, 8, 9]])
    assert (file_format(digits), table.format) == ("digits", "digits")
    assert write_table(tmp_path / "s.digits", table, [0, 2]).read_text() == "13\n45\n79\n"
    done = CliRunner().invoke(
        main, ["select", str(digits), "-m", "variance", "--top", "1", "--out", str(tmp_path / "o.dgt")]
    )
    assert done.exit_code == 0, done.output
    assert (tmp_path / "o.dgt").read_text() == "2\n0\n8\n"
    with pytest.raises(ValueError, match=r"t\.dgt: only \.parquet, .* can be read in blocks"):
        open_source(digits)


def test_a_format_that_cannot_be_added(digits, tmp_path):
    with pytest.raises(ValueError, match=r"format 'tables': the suffix \.csv already belongs to 'csv'"):
        register_format(Format("tables", read_digits, aliases=("csv",)))
    with pytest.raises(TypeError, match=r"format must be a fiedler\.io\.Format, got str"):
        register_format("digits")
    register_format(Format("once", read_digits))
    try:
        (tmp_path / "t.once").write_text("12\n34\n")
        with pytest.raises(ValueError, match=r"tables of the format 'once' can be read, but not written"):
            write_table(tmp_path / "s.once", read_table(tmp_path / "t.once"), [0])
    finally:
        del KNOWN["once"]


def test_an_installed_package_brings_its_format_to_the_command_line(tmp_path):
    """As pip lays it out: a module, and an entry point in the metadata beside it."""
    lines = [
        "import numpy as np",
        "from fiedler.io import Contents, Format",
        "def read(request):",
        "    return Contents(np.array([[float(d) for d in line] for line in request.path.read_text().split()]))",
        "FORMAT = Format('digits', read)",
    ]
    (tmp_path / "digits_format.py").write_text("\n".join(lines))
    (tmp_path / "digits_format-1.dist-info").mkdir()
    (tmp_path / "digits_format-1.dist-info" / "METADATA").write_text("Name: digits-format\nVersion: 1\n")
    entry = "[fiedler.formats]\ndigits = digits_format:FORMAT\n"
    (tmp_path / "digits_format-1.dist-info" / "entry_points.txt").write_text(entry)
    (tmp_path / "t.digits").write_text("123\n405\n789\n")
    found = os.pathsep.join([str(tmp_path), *sys.path])
    command = [sys.executable, "-m", "fiedler", "rank", str(tmp_path / "t.digits"), "-m", "variance"]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": found}, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1].startswith("x1,")
