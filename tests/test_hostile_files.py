"""Damaged and hostile files: no crash, no other file's content, no wrong numbers; one clear error each."""

import gzip
import io
import shutil
import subprocess
import sys
import warnings
import zipfile

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from stored import write_zarr
from tables import X, save_h5ad

from fiedler import LaplacianScore, Variance
from fiedler.io import read_table, write_table
from fiedler.sources import Run, open_source


def refused(path, message, error=ValueError, **options):
    """Reading a table raises one error that names the file, in one line."""
    with pytest.raises(error, match=message) as caught:
        read_table(path, **options)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


# ---------------------------------------------------------------- zarr


@pytest.mark.parametrize("shards", [None, (20, 20)])
def test_a_missing_zarr_chunk_is_missing_for_tables_too(tmp_path, rng, shards):
    write_zarr(tmp_path / "X.zarr", rng.normal(size=(30, 40)), chunks=(10, 10), shards=shards)
    (tmp_path / "X.zarr" / "c" / "1" / "1").unlink()
    refused(tmp_path / "X.zarr", r"X\.zarr: the chunk .* is missing; .*missing_chunks='fill'")
    refused(tmp_path / "X.zarr", "the chunk .* is missing", memory=1)


@pytest.mark.parametrize("matrix", [X, sp.csr_array(X)], ids=["dense", "sparse"])
def test_a_missing_chunk_of_anndata_in_zarr(tmp_path, matrix):
    pytest.importorskip("zarr")
    save_h5ad(tmp_path / "t.zarr", matrix)
    chunk = sorted(p for p in (tmp_path / "t.zarr" / "X").rglob("*") if p.name == "0" or p.name.startswith("0."))[-1]
    chunk.unlink() if chunk.is_file() else shutil.rmtree(chunk)
    refused(tmp_path / "t.zarr", "the chunk .* is missing")


def test_a_corrupt_zarr_chunk_of_a_table(tmp_path, rng):
    write_zarr(tmp_path / "X.zarr", rng.normal(size=(30, 40)), chunks=(30, 10))
    (tmp_path / "X.zarr" / "c" / "0" / "2").write_bytes(b"this is no chunk")
    refused(tmp_path / "X.zarr", r"X\.zarr: the block of columns 0 to 39 cannot be read: ")


# ---------------------------------------------------------------- npy, npz


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_every_layout_of_sparse_npz(tmp_path, layout, kind):
    for matrix in (np.kron(np.eye(3), X), np.diag([1.0, 2.0, 3.0], 2)):
        sp.save_npz(tmp_path / "t.npz", getattr(sp, f"{layout}_{kind}")(matrix))
        table = read_table(tmp_path / "t.npz")
        assert table.X.format in ("csr", "csc")
        np.testing.assert_array_equal(table.X.toarray(), matrix)


@pytest.mark.parametrize(
    "parts",
    [
        {"format": b"coo", "row": [0, 9], "col": [0, 1], "data": [1.0, 2.0]},
        {"format": b"coo", "row": [0, -1], "col": [0, 1], "data": [1.0, 2.0]},
        {"format": b"coo", "row": [0.5, 1], "col": [0, 1], "data": [1.0, 2.0]},
        {"format": b"dia", "offsets": [2**40], "data": [[1.0, 2.0, 3.0]]},
        {"format": b"dia", "offsets": [0, 1], "data": [[1.0, 2.0, 3.0]]},
        {"format": b"bsr", "indices": [7], "indptr": [0, 1], "data": [[[1.0, 2.0, 3.0]] * 3]},
        {"format": b"csr", "indices": [0, 1], "indptr": [0, 2**63 - 1, -2, 2], "data": [1.0, 2.0]},
        {"format": b"csr", "indices": [0, 1], "indptr": [0, 1, 1, 2**40], "data": [1.0, 2.0]},
        {"format": b"bsr", "indices": [0], "indptr": [0, 2**63 - 1, -2, 1], "data": [[[1.0]]]},
        {"format": b"lil", "data": [[1.0, 2.0, 3.0]]},
        {"format": b"csr", "data": [1.0]},
    ],
    ids=lambda parts: parts["format"].decode(),
)
def test_hostile_sparse_npz(tmp_path, parts):
    np.savez(tmp_path / "t.npz", shape=[3, 3], **parts)
    refused(tmp_path / "t.npz", r"t\.npz is not a NumPy file of numbers: ")


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_a_damaged_npz(tmp_path, save, rng):
    save(tmp_path / "t.npz", X=rng.normal(size=(40, 30)))
    whole = (tmp_path / "t.npz").read_bytes()
    for at in (30, 60, len(whole) // 3, len(whole) // 2):
        damaged = bytearray(whole)
        damaged[at] ^= 0xFF
        (tmp_path / "t.npz").write_bytes(damaged)
        refused(tmp_path / "t.npz", r"t\.npz is not a NumPy file of numbers: ")


def npy(header):
    text = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + b"\0" * 64


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (100000000000, 1000000000), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-4, 2), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': ('a', 2), }",
        "{'descr': 'nonsense', 'fortran_order': False, 'shape': (2, 2), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2",
        "[[[[",
    ],
)
def test_a_hostile_npy_header(tmp_path, header):
    (tmp_path / "t.npy").write_bytes(npy(header))
    refused(tmp_path / "t.npy", r"t\.npy is not a NumPy file of numbers: ")
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
        archive.writestr("X.npy", npy(header))
    refused(tmp_path / "t.npz", r"t\.npz is not a NumPy file of numbers: ")


# ---------------------------------------------------------------- gzip


@pytest.mark.parametrize("name", ["t.csv.gz", "t.mtx.gz", "t.svm.gz", "t.arff.gz"])
@pytest.mark.parametrize("damage", ["cut", "flipped"])
def test_damaged_gzip_files(tmp_path, reader, name, damage, rng):
    matrix, text = rng.normal(size=(90, 5)), io.BytesIO()
    if "mtx" in name:
        scipy.io.mmwrite(text, matrix)
    elif "svm" in name:
        from sklearn.datasets import dump_svmlight_file

        dump_svmlight_file(matrix, np.arange(90), text)
    else:
        head = "@relation r\n" + "@attribute a numeric\n" * 5 + "@data\n" if "arff" in name else "a,b,c,d,e\n"
        text.write(head.encode())
        np.savetxt(text, matrix, delimiter=",")
    whole = bytearray(gzip.compress(text.getvalue()))
    for at in (10, *range(len(whole) // 5, len(whole) - 20, len(whole) // 5)):
        broken = whole[:at] if damage == "cut" else whole[:at] + b"\xff" * 9 + whole[at + 9 :]
        (tmp_path / name).write_bytes(broken)
        refused(tmp_path / name, name.replace(".", r"\."))


# ---------------------------------------------------------------- matlab, matrix market, arff

READ = """
import sys, warnings
import scipy.sparse as sp
from fiedler.data.arrays import validate_X
from fiedler.io import read_table
for path in sys.argv[1:]:
    try:
        X = validate_X(read_table(path).X)
        (X.toarray() if sp.issparse(X) else X).sum()
    except (ValueError, MemoryError):
        pass
"""


def survive(*paths):
    """Reading these files, in a process of its own, neither ends it nor raises anything but one of our errors."""
    done = subprocess.run([sys.executable, "-c", READ, *map(str, paths)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


def test_one_flipped_bit_of_a_sparse_mat_file_crashes_nothing(tmp_path, rng):
    matrix = sp.csc_array(rng.random((5, 4)) * (rng.random((5, 4)) < 0.4))  # heads and indices, few values
    scipy.io.savemat(tmp_path / "t.mat", {"X": matrix, "Y": np.ones((5, 1))})
    whole, paths = (tmp_path / "t.mat").read_bytes(), []
    for at in range(129, len(whole), 37):  # each file is read by a process of its own
        damaged = bytearray(whole)
        damaged[at] ^= 1 << (at % 8)
        paths.append(tmp_path / f"{at}.mat")
        paths[-1].write_bytes(damaged)
    survive(*paths)


@pytest.mark.parametrize("change", ["index", "tag"])
def test_bad_indices_and_tags_of_a_mat_file(tmp_path, change):
    scipy.io.savemat(tmp_path / "t.mat", {"X": sp.csc_array(X)})
    whole = bytearray((tmp_path / "t.mat").read_bytes())
    at = whole.index((5).to_bytes(4, "little") + (24).to_bytes(4, "little"))  # six rows, four bytes each
    if change == "index":
        whole[at + 8 : at + 12] = (10**6).to_bytes(4, "little")
    else:
        whole[at : at + 4] = b"\x15\x00\x00\x00"
    (tmp_path / "t.mat").write_bytes(whole)
    refused(tmp_path / "t.mat", r"t\.mat is not a MATLAB file: \S+")


def test_a_mat_file_that_ends_its_reader_is_an_error(tmp_path):
    """One changed byte of the column starts leads scipy out of bounds; only the process that reads it may end."""
    scipy.io.savemat(tmp_path / "t.mat", {"X": sp.csc_array(X)})
    whole = bytearray((tmp_path / "t.mat").read_bytes())
    for at in range(len(whole) - 120, len(whole), 17):
        damaged = bytearray(whole)
        damaged[at] = 0xFF
        (tmp_path / "t.mat").write_bytes(damaged)
        text = error_of(tmp_path / "t.mat", bytes(damaged))
        assert text.startswith(str(tmp_path / "t.mat"))
        assert "\n" not in text


@pytest.mark.filterwarnings("ignore:The default value for `spmatrix`:DeprecationWarning")  # compared as dense
@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.uint8, np.int64, np.bool_, "sparse"])
def test_mat_files_are_read_as_scipy_reads_them(tmp_path, kind, compressed):
    matrix = sp.csc_array(X) if kind == "sparse" else np.round(X).astype(kind)
    names, labels = np.array(["a", "b c", "d\u00e9", "e"], dtype=object), np.array(["ab", "cd", "ef"])
    variables = {"X": matrix, "feature_names": names, "text": labels, "s": {"a": 1, "b": names}, "one": 3.5}
    variables |= {"empty": np.empty((0, 3)), "cube": np.arange(24.0).reshape(2, 3, 4), "flags": X > 0}
    variables["cells"] = labels.astype(object)
    scipy.io.savemat(tmp_path / "t.mat", variables, do_compression=compressed)
    wanted = scipy.io.loadmat(tmp_path / "t.mat")["X"]
    target = "cells" if compressed else "text"  # each reading is a process of its own
    table = read_table(tmp_path / "t.mat", target=target)
    assert table.feature_names.tolist() == names.tolist()
    assert table.y.tolist() == labels.tolist()
    assert table.X.dtype == wanted.dtype
    if kind == "sparse":
        np.testing.assert_array_equal(table.X.toarray(), X)
    else:
        np.testing.assert_array_equal(table.X, wanted)
    if kind is np.float64:
        with pytest.raises(ValueError, match=r"has no variable 'labls'; .*Its variables: X, feature_names, text, s"):
            read_table(tmp_path / "t.mat", target="labls")


def test_a_complex_mat_file_has_no_matrix(tmp_path):
    scipy.io.savemat(tmp_path / "t.mat", {"X": X + 1j * X[::-1]})
    refused(tmp_path / "t.mat", "needs one matrix named X; it holds X")


MARKET = "%%MatrixMarket matrix coordinate real general\n3 3 "
BAD_MARKET = {
    "": "it does not begin with a header",
    MARKET + "3\n1 1 1.5\n2 2 2.": "",
    MARKET + "2\n1 1 1.5\n2 2 2.5E-": "it is cut short",
    MARKET + "2\n1 1 1\0.5\n2 2 2.5\n": "is among its numbers",
    MARKET + "2\n1 1 1.5\n2 2 2y5\n": "b'y' is among its numbers",
    MARKET + "2\n1 1 1.5\n9 2 2.5\n": "",
    MARKET + "99999999999999\n1 1 1.5\n": "",
    "%%MatrixMarket matrix array real general\n99999999 99999999\n1\n": "",
}


def test_bad_matrix_market(tmp_path):
    paths = [tmp_path / f"{i}.{suffix}" for i in range(len(BAD_MARKET)) for suffix in ("mtx", "mm", "mtx.gz")]
    for path in paths:
        text = [*BAD_MARKET][int(path.name[0])].encode()
        path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    survive(*paths)  # an end of the file, or a zero byte, before the end of a line crashes scipy
    for path in paths:
        message = [*BAD_MARKET.values()][int(path.name[0])]
        if path.suffix != ".gz" or not message:  # what is damaged in an archive is found by its sums
            refused(path, rf"{path.name} (is not Matrix Market: |declares a matrix of \d+ x).*{message}")


def test_matrix_market_without_a_last_line_end(tmp_path):
    for suffix in ("mtx", "MTX", "mm"):
        path = tmp_path / f"t.{suffix}"
        path.write_bytes(b"%%MatrixMarket matrix coordinate real general\n3 2 2\n1 1 1.5\n3 2 2.5")
        np.testing.assert_array_equal(read_table(path).X.toarray(), [[1.5, 0], [0, 0], [0, 2.5]])


def test_an_arff_row_that_is_too_long(tmp_path):
    pytest.importorskip("arff")
    head = "@relation r\n@attribute a numeric\n@attribute b numeric\n@data\n"
    (tmp_path / "t.arff").write_text(head + "1,2\n3,4,5\n")
    refused(tmp_path / "t.arff", r"t\.arff: .*line 6")
    (tmp_path / "q.arff").write_text(head.replace("b numeric", "b {'x, y',z}") + "1,'x, y'\n3,z\n")
    assert read_table(tmp_path / "q.arff", target="b").y.tolist() == ["x, y", "z"]


# ---------------------------------------------------------------- hdf5


@pytest.fixture
def h5py():
    return pytest.importorskip("h5py")


@pytest.mark.parametrize("suffix", ["h5", "h5ad", "mat"])
def test_other_files_are_not_followed(tmp_path, h5py, suffix):
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["X"] = np.full((4, 3), 7.0)
    (tmp_path / "secret.bin").write_bytes(np.full((4, 3), 7.0).tobytes())
    ways = {
        "external link": lambda file: file.__setitem__("X", h5py.ExternalLink(str(tmp_path / "secret.h5"), "X")),
        "deep link": lambda file: file.__setitem__("a/b/X", h5py.ExternalLink(str(tmp_path / "secret.h5"), "X")),
        "storage": lambda file: file.create_dataset(
            "X", (4, 3), "f8", external=[(str(tmp_path / "secret.bin"), 0, h5py.h5f.UNLIMITED)]
        ),
        "virtual": lambda file: _virtual(h5py, file, tmp_path / "secret.h5"),
    }
    for way in ways.values():
        with h5py.File(tmp_path / f"t.{suffix}", "w", userblock_size=512) as file:
            way(file)
        if suffix == "mat":
            with open(tmp_path / "t.mat", "r+b") as raw:
                raw.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")
        refused(tmp_path / f"t.{suffix}", "another file")
        if suffix != "mat":
            with pytest.raises(ValueError, match="another file"):
                open_source(tmp_path / f"t.{suffix}", key="X")


def _virtual(h5py, file, other):
    layout = h5py.VirtualLayout((4, 3), "f8")
    layout[...] = h5py.VirtualSource(str(other), "X", (4, 3))
    file.create_virtual_dataset("X", layout)


def test_links_that_lead_nowhere(tmp_path, h5py):
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["a"], file["b"], file["gone"] = h5py.SoftLink("/b"), h5py.SoftLink("/a"), h5py.SoftLink("/nowhere")
        file["values"] = X
        file["here"] = h5py.SoftLink("/values")
        file["self"] = h5py.SoftLink("/")
    refused(tmp_path / "t.h5", "needs one matrix named X")
    np.testing.assert_array_equal(open_source(tmp_path / "t.h5", key="here")[:, :], X)
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["X"], file["b"] = h5py.SoftLink("/b"), h5py.SoftLink("/X")
    refused(tmp_path / "t.h5", r"t\.h5")
    with pytest.raises(ValueError, match=r"t\.h5 cannot be read: \S+"):
        open_source(tmp_path / "t.h5")
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["X"] = X
        file["loop"] = file["/"]  # a hard link to a group above
    np.testing.assert_array_equal(read_table(tmp_path / "t.h5").X, X)


@pytest.mark.parametrize("values", [[1, None, 2], [True, None, False]])
def test_labels_of_pandas_own_types(tmp_path, values):
    anndata, pd = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    kind = "boolean" if values[0] is True else "Int64"
    obs = pd.DataFrame({"y": pd.array(values, dtype=kind)}, index=list("abc"))
    anndata.AnnData(X, obs, pd.DataFrame(index=list("wxyz"))).write_h5ad(tmp_path / "t.h5ad")
    np.testing.assert_array_equal(read_table(tmp_path / "t.h5ad", target="y").y, np.array(values, dtype=np.float64))


@pytest.mark.parametrize("marked", [False, True], ids=["no X", "X marked as none"])
@pytest.mark.parametrize("name", ["t.h5ad", "t.zarr"])
def test_a_layer_of_a_file_without_x_is_written_back(tmp_path, name, marked):
    anndata, pd = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    if name == "t.zarr":
        pytest.importorskip("zarr")
    obs = pd.DataFrame({"y": ["u", "v", "w"]}, index=list("abc"))
    adata = anndata.AnnData(None, obs, pd.DataFrame(index=list("wxyz")), layers={"raw": X})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        adata.write_zarr(tmp_path / name) if name == "t.zarr" else adata.write_h5ad(tmp_path / name)
        without_x(tmp_path / name, marked)
    refused(tmp_path / name, "has no X; choose a layer: raw")
    with pytest.raises(ValueError, match=f"{name} needs one matrix named X; it holds .*layers.*Choose one with key"):
        open_source(tmp_path / name)
    table = read_table(tmp_path / name, layer="raw", target="y")
    small = read_table(write_table(tmp_path / f"small{name}", table, [1, 3]), layer="raw", target="y")
    np.testing.assert_array_equal(small.X, X[:, [1, 3]])
    assert (small.feature_names.tolist(), small.y.tolist()) == (["x", "z"], ["u", "v", "w"])


def without_x(path, marked):
    """Leave out X, or mark it as none; which of both anndata writes depends on its version."""
    if path.suffix == ".zarr":
        zarr = pytest.importorskip("zarr")
        store, nothing = zarr.open_group(path, use_consolidated=False), {"shape": (), "dtype": bool}
    else:
        h5py = pytest.importorskip("h5py")
        store, nothing = h5py.File(path, "r+"), {"data": h5py.Empty("f4")}
    if "X" in store:
        del store["X"]
    if marked:
        mark = store.create_array("X", **nothing) if path.suffix == ".zarr" else store.create_dataset("X", **nothing)
        mark.attrs.update({"encoding-type": "null", "encoding-version": "0.1.0"})
    zarr.consolidate_metadata(store.store) if path.suffix == ".zarr" else store.close()


# ---------------------------------------------------------------- parquet, suffixes, masks


@pytest.mark.parametrize("kind", ["uint64", "int64"])
def test_whole_numbers_that_floats_cannot_hold(tmp_path, kind):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table({"a": [1.0, 2.0], "big": pa.array([1, 2**53 + 1], kind)})
    pq.write_table(table, tmp_path / "t.parquet")
    refused(
        tmp_path / "t.parquet",
        r"column 'big' holds integers beyond 2\*\*53, .*id column, else store it as float64",
    )
    assert read_table(tmp_path / "t.parquet", id_column="big").row_ids.tolist() == ["1", str(2**53 + 1)]
    with pytest.raises(ValueError, match=r"column 'big' holds integers beyond 2\*\*53"):
        Variance().evaluate(open_source(tmp_path / "t.parquet"))


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_damaged_columns(tmp_path, suffix, rng):
    pa = pytest.importorskip("pyarrow")
    table, path = pa.table({f"x{j}": rng.normal(size=50) for j in range(4)}), tmp_path / f"t.{suffix}"
    if suffix == "parquet":
        pytest.importorskip("pyarrow.parquet").write_table(table, path)
    else:
        pytest.importorskip("pyarrow.feather").write_feather(table, str(path), compression="lz4")
    whole = path.read_bytes()
    said = [error_of(path, whole[:at] + b"\xff" * 40 + whole[at + 40 :]) for at in range(60, len(whole) - 60, 150)]
    assert all(text.startswith(str(path)) for text in said)
    assert len(set(said)) > 2


def error_of(path, content):
    """What is said about a file; its path alone where its values are damaged without a trace."""
    path.write_bytes(content)
    try:
        read_table(path)
    except (ValueError, MemoryError) as error:
        return str(error)
    return str(path)


@pytest.mark.parametrize(
    "name", ["T.PARQUET", "T.Feather", "T.NPY", "T.NPZ", "T.MTX", "T.CSV.GZ", "T.H5", "T.ZARR", "T.PQ"]
)
def test_suffixes_in_upper_case(tmp_path, name):
    path, suffix = tmp_path / name, name.lower().partition(".")[2]
    if suffix in ("parquet", "feather", "pq"):
        pa = pytest.importorskip("pyarrow")
        table = pa.table({f"x{j}": X[:, j] for j in range(4)})
        if suffix == "feather":
            pytest.importorskip("pyarrow.feather").write_feather(table, str(path))
        else:
            pytest.importorskip("pyarrow.parquet").write_table(table, path)
    elif suffix == "npy":
        with open(path, "wb") as file:
            np.save(file, X)
    elif suffix == "npz":
        with open(path, "wb") as file:
            np.savez(file, X=X)
    elif suffix == "mtx":
        with open(path, "wb") as file:
            scipy.io.mmwrite(file, X)
    elif suffix == "csv.gz":
        path.write_bytes(
            gzip.compress(b"x0,x1,x2,x3\n" + "\n".join(",".join(map(str, r)) for r in X.tolist()).encode())
        )
    elif suffix == "h5":
        with pytest.importorskip("h5py").File(path, "w") as file:
            file["X"] = X
    else:
        write_zarr(path, X)
    table = read_table(path)
    np.testing.assert_array_equal(np.asarray(table.X), X)
    out = write_table(tmp_path / f"SMALL.{name.partition('.')[2]}", table, [0, 2])
    np.testing.assert_array_equal(np.asarray(read_table(out).X), X[:, [0, 2]])
    if suffix in ("parquet", "npy", "h5", "zarr", "pq"):
        np.testing.assert_array_equal(open_source(path)[:, :], X)
        assert read_table(path, memory=1).shape == X.shape


def test_masked_cells_are_missing(rng):
    values = rng.normal(size=(20, 4))
    masked = np.ma.masked_array(values, mask=np.zeros((20, 4), dtype=bool))
    np.testing.assert_array_equal(LaplacianScore().evaluate(masked), LaplacianScore().evaluate(values))
    masked[3, 2] = masked[5, 2] = np.ma.masked
    holes = masked.filled(np.nan)
    np.testing.assert_array_equal(LaplacianScore().evaluate(masked), LaplacianScore().evaluate(holes))
    whole = np.ma.masked_equal(np.arange(30).reshape(10, 3), 7)
    assert Variance().evaluate(whole)[1] == pytest.approx(np.var(np.delete(np.arange(10) * 3.0 + 1, 2)))


# ---------------------------------------------------------------- kept blocks


@pytest.mark.parametrize(
    "names",
    [["001-0-5.npy"], ["manifest.json"], ["manifest.json", "notes.txt"], ["001-sum-000003.npz", "manifest.part"]],
)
def test_a_folder_without_our_manifest_is_not_touched(tmp_path, names):
    folder = tmp_path / "x.blocks"
    folder.mkdir()
    for name in names:
        (folder / name).write_text('{"name": "mine"}')
    with (
        pytest.raises(FileExistsError, match=r"x\.blocks is not a folder of an earlier run .*; use another folder"),
        Run(folder=folder),
    ):
        pass
    assert sorted(p.name for p in folder.iterdir()) == sorted(names)


def test_a_foreign_file_among_our_own_is_never_removed(tmp_path):
    folder = tmp_path / "x.blocks"
    with Run(folder=folder, fingerprint="a"):
        (folder / "notes.txt").write_text("mine")
    assert (folder / "notes.txt").read_text() == "mine"
    (folder / "manifest.json").write_text('{"fingerprint": "a"}')
    for mark in ("a", "b"):
        with pytest.raises(FileExistsError, match=r"notes\.txt is in it"), Run(folder=folder, fingerprint=mark):
            pass
    assert (folder / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize(
    "values", [np.zeros(4), np.zeros((5, 1)), np.zeros(5, dtype=np.float32), np.full(5, np.nan), np.zeros(5)]
)
def test_a_block_that_is_not_what_was_kept_is_computed_again(tmp_path, rng, values):
    from sklearn import config_context

    matrix = rng.normal(size=(26, 40))
    np.save(tmp_path / "X.npy", matrix)
    folder, calls = tmp_path / "blocks", []

    def sums(part):
        if len(calls) == 3:
            calls.append(None)
            raise KeyboardInterrupt
        calls.append(part)
        return part.sum(axis=0)

    with config_context(working_memory=0.004):
        source = open_source(tmp_path / "X.npy")
        with pytest.raises(KeyboardInterrupt), Run(folder=folder, fingerprint="a"):
            source.map(sums)
        np.save(folder / "001-5-10.npy", values)
        with Run(folder=folder, fingerprint="a") as run:
            found = np.concatenate(source.map(sums))
    assert run.n_reused == 2
    np.testing.assert_allclose(found, matrix.sum(axis=0))
