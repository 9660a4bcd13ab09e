"""The sizes a file declares are checked before anything is allocated: against the file, and against memory."""

import gzip
import struct
import tracemalloc
import warnings
import zipfile
import zlib

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from click.testing import CliRunner
from inside import turn
from tables import SHEET, rewrite_book

from fiedler import Variance
from fiedler.cli import main
from fiedler.data.memory import allocation_limit, check_size, memory_limit
from fiedler.io import read_labels, read_table
from fiedler.sources import as_source, open_source

LIMIT = 2**23


def refused(path, message, limit=LIMIT, read=read_table, **options):
    """Reading raises one error that names the file and the size, and takes no more than about the limit."""
    warnings.simplefilter("ignore")
    tracemalloc.start()
    try:
        with memory_limit(limit), pytest.raises(ValueError, match=message) as caught:
            read(path, **options)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert peak < 2 * limit + 2**23
    return str(caught.value)


def test_the_limit_is_what_is_stated_or_half_of_what_is_free():
    assert allocation_limit() > 2**20
    with memory_limit(1000), memory_limit(None):
        assert allocation_limit() == 1000
    check_size("f", "nothing much", 10)
    with (
        pytest.raises(
            ValueError,
            match=r"f\.csv declares a lot, which takes 2\.0 MB; the limit is 1\.0 kB\. .*memory=.*Zarr or HDF5",
        ),
        memory_limit(1024),
    ):
        check_size("f.csv", "a lot", 2**21)
    with pytest.raises(
        ValueError, match="f declares a lot, but 10 compressed bytes cannot hold it; the file is damaged"
    ):
        check_size("f", "a lot", 2**21, 10)


def test_memory_given_by_the_caller_raises_the_limit(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.ones((1000, 200)))
    refused(tmp_path / "t.npz", r"X of shape \(1000, 200\), which takes 1\.5 MB; the limit is 1\.0 MB", 2**20)
    with memory_limit(2**20):
        assert read_table(tmp_path / "t.npz", memory=2**22).shape == (1000, 200)


# ---------------------------------------------------------------- archives


def mat_bomb(path, size, declared=None):
    """A MATLAB file whose one variable is many zeros."""
    element = struct.pack("<II", 14, size if declared is None else declared) + bytes(size)
    packed = zlib.compress(element, 9)
    head = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x0100) + b"IM"
    path.write_bytes(head + struct.pack("<II", 15, len(packed)) + packed)


def test_a_mat_file_that_unpacks_to_much_more(tmp_path):
    mat_bomb(tmp_path / "t.mat", 2**26)
    assert (tmp_path / "t.mat").stat().st_size < 2**17
    refused(tmp_path / "t.mat", "declares variables of this size or more, which takes 24.0 MB; the limit is 8.0 MB")
    mat_bomb(tmp_path / "t.mat", 2**26, declared=1000)  # it is unpacked by a process with a limit
    refused(tmp_path / "t.mat", "declares variables of this size or more, which takes 24.0 MB; the limit is 8.0 MB")
    mat_bomb(tmp_path / "t.mat", 1000, declared=2**31)
    refused(tmp_path / "t.mat", "is not a MATLAB file", 2**40)


def test_arrays_of_npz_that_are_not_asked_for_are_not_loaded(tmp_path):
    np.savez_compressed(tmp_path / "t.npz", X=np.ones((3, 4)), junk=np.zeros(2**23))
    tracemalloc.start()
    with memory_limit(LIMIT):
        assert read_table(tmp_path / "t.npz").shape == (3, 4)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**22
    refused(tmp_path / "t.npz", r"declares junk of shape \(8388608,\)", target="junk")


def test_a_head_of_npz_without_an_end(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**26) + b" " * 2**26)
    refused(tmp_path / "t.npz", "is not a NumPy file of numbers")


def test_a_mat_file_of_many_empty_cells(tmp_path):
    whole = []
    for number in range(1, 4):
        cells = np.full((1, number), "", dtype=object)
        scipy.io.savemat(tmp_path / "t.mat", {"X": np.ones((3, 2)), "names": cells})
        whole.append((tmp_path / "t.mat").read_bytes())
    cell, start = len(whole[1]) - len(whole[0]), whole[0].index(b"names") - 48  # after tag, flags and dimensions

    def with_cells(number):  # made by hand, because scipy would need seconds to write this number of cells
        names = bytearray(whole[0][start:] + whole[0][-cell:] * (number - 1))
        names[4:8], names[36:40] = struct.pack("<I", len(names) - 8), struct.pack("<i", number)
        return bytes(names)

    assert with_cells(3) == whole[2][start:]
    packed = zlib.compress(with_cells(2**17))
    (tmp_path / "t.mat").write_bytes(whole[0][:start] + struct.pack("<II", 15, len(packed)) + packed)
    refused(tmp_path / "t.mat", "declares variables of this size or more, which takes 48.0 MB", 2**24)


def test_a_sparse_npz_of_many_columns(tmp_path):
    sp.save_npz(tmp_path / "t.npz", sp.csr_array(([1.0], ([0], [5])), shape=(2, 10**9)))
    refused(tmp_path / "t.npz", "a sparse matrix of shape .* takes 7.5 GB", 2**24)


def test_an_excel_file_of_many_empty_strings(tmp_path):
    namespace = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    rewrite_book(tmp_path / "t.xlsx", "xl/sharedStrings.xml", f'<sst xmlns="{namespace}">{"<si/>" * 10**6}</sst>')
    assert (tmp_path / "t.xlsx").stat().st_size < 2**15
    refused(tmp_path / "t.xlsx", r"declares xl/sharedStrings\.xml of \d+ bytes, which takes 119\.2 MB")


def test_an_excel_file_of_cells_far_out(tmp_path, monkeypatch):
    rows = "".join(f'<row r="{i}"><c r="XFD{i}"><v>1</v></c></row>' for i in range(1, 400))
    rewrite_book(tmp_path / "t.xlsx", "xl/worksheets/sheet1.xml", SHEET.format(rows))
    refused(tmp_path / "t.xlsx", r"declares more than 13 rows with 212992 cells, which takes 8\.1 MB")
    turn(monkeypatch, "rows of a sheet", 1000)  # of 1048576, to be quick
    far = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1000000000000"><c r="A2"><v>1</v></c></row>'
    rewrite_book(tmp_path / "t.xlsx", "xl/worksheets/sheet1.xml", SHEET.format(far))
    refused(tmp_path / "t.xlsx", "the sheet has a row beyond 1000, the largest row number in Excel")


def test_an_excel_file_of_one_endless_row(tmp_path):
    rewrite_book(tmp_path / "t.xlsx", "xl/worksheets/sheet1.xml", SHEET.format(f'<row r="1">{"<c/>" * 10**6}</row>'))
    refused(tmp_path / "t.xlsx", r"declares a row of \d+ bytes in xl/worksheets/sheet1\.xml, which takes 95\.4 MB")


@pytest.mark.parametrize("suffix", ["csv.gz", "svm.gz", "arff.gz", "mtx.gz"])
def test_an_endless_cell(tmp_path, reader, suffix):
    heads = {"csv.gz": b"a,b\n1,", "arff.gz": b"@relation r\n@attribute a numeric\n@data\n", "svm.gz": b"1 1:"}
    path = tmp_path / f"t.{suffix}"
    path.write_bytes(gzip.compress(heads.get(suffix, b"%%MatrixMarket ") + b"2" * 2**26, 1))
    refused(
        path,
        r"declares (a line of )?more than \d+ (characters|bytes of text), which takes .*; the limit is 8\.0 MB",
    )


def test_endless_rows(tmp_path, reader, monkeypatch):
    turn(monkeypatch, "bytes of a piece", 2**18)
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"id,a\n" + b"x,2\n" * 2**18))
    refused(path, r"declares more than \d+ rows of 1 features", 2**18, drop="id")
    refused(path, r"declares more than \d+ rows of 1 features", 2**20, id_column="id")
    labels = tmp_path / "l.txt.gz"
    labels.write_bytes(gzip.compress(b"x\n" * 2**20))
    refused(labels, "more than .* characters of text", read=lambda path: read_labels(path, None, 3))
    pytest.importorskip("arff")
    path = tmp_path / "t.arff.gz"
    path.write_bytes(gzip.compress(b"@relation r\n@attribute a numeric\n@data\n" + b"2\n" * 2**18))
    refused(path, "declares more than .* rows of 1 features", 2**17)


# ---------------------------------------------------------------- heads


@pytest.mark.parametrize("suffix", ["mtx", "mtx.gz"])
def test_a_matrix_market_head(tmp_path, suffix):
    path = tmp_path / f"t.{suffix}"
    write = (lambda text: path.write_bytes(gzip.compress(text))) if suffix == "mtx.gz" else path.write_bytes
    write(b"%%MatrixMarket matrix coordinate real general\n1000000000 1000000000 1\n1 1 1.5\n")
    refused(path, r"declares a matrix of 1000000000 x 1000000000, which takes 14\.9 GB; the limit is")
    write(b"%%MatrixMarket matrix coordinate real general\n3 3 1000000\n1 1 1.5\n")
    refused(path, "declares a matrix of 3 x 3, which takes 45.8 MB")
    write(b"%%MatrixMarket matrix array real general\n100000 100000\n1.5\n")
    refused(path, "declares a matrix of 100000 x 100000, which takes 74.5 GB")


def test_an_svmlight_index_far_out(tmp_path):
    (tmp_path / "t.svm").write_text("1 1:2\n0 2000000000:1\n")
    refused(tmp_path / "t.svm", "declares 2 rows and 2000000000 columns, which takes 238.4 GB")


def test_a_parquet_file_of_equal_values(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"a": np.zeros(2**19), "b": np.ones(2**19)}), tmp_path / "t.parquet")
    assert (tmp_path / "t.parquet").stat().st_size < 2**16
    refused(tmp_path / "t.parquet", "declares 524288 rows of 2 features, which takes 8.0 MB", LIMIT - 1)
    with memory_limit(LIMIT - 1):
        assert read_table(tmp_path / "t.parquet", memory=2**20).shape == (2**19, 2)  # left in the file


def test_an_empty_hdf5_dataset(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "t.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("X", (10**9, 10**6), "f8", chunks=(1000, 1000))
    message = "none of its 1000000000000000 values is stored; .*missing_chunks='fill'"
    refused(path, message)
    refused(path, message, memory=1)
    refused(path, message, read=open_source)
    with h5py.File(path, "r+") as file:
        file["X"][:10, :10] = 1.0
    refused(path, r"declares 1000000000 rows and 1000000 columns, .* takes 7450580\.6 GB")
    refused(path, "declares 1000000000 rows", read=lambda path: Variance().evaluate(open_source(path)))
    with memory_limit(2**32), pytest.raises(ValueError, match=r"declares 1000000000 rows .* takes 7\.5 GB"):
        open_source(path)[:, :1]


@pytest.mark.parametrize("name", ["t.zarr", "t.h5"])
def test_a_chunk_that_is_larger_than_its_array(tmp_path, name):
    if name == "t.zarr":
        zarr = pytest.importorskip("zarr")
        zarr.create_array(str(tmp_path / name), shape=(3, 3), chunks=(10**5, 10**5), dtype="f8")
        (tmp_path / name / "c" / "0").mkdir(parents=True)
        (tmp_path / name / "c" / "0" / "0").write_bytes(b"")
    else:
        with pytest.importorskip("h5py").File(tmp_path / name, "w") as file:
            file.create_dataset("X", (3, 3), "f8", chunks=(2**12, 2**12), maxshape=(None, None), compression="gzip")
    refused(tmp_path / name, r"declares chunks of shape \(\d+, \d+\), which takes")
    refused(tmp_path / name, r"declares chunks of shape \(\d+, \d+\), which takes", read=open_source)


def test_labels_in_a_file_full_of_holes(tmp_path):
    np.lib.format.open_memmap(tmp_path / "y.npy", "w+", np.int8, (2**24,)).flush()
    refused(tmp_path / "y.npy", "declares 16777216 labels", read=lambda path: read_labels(path, None, 3))


def test_columns_of_anndata_that_are_not_there(tmp_path):
    anndata, h5py = pytest.importorskip("anndata"), pytest.importorskip("h5py")
    anndata.AnnData(np.ones((3, 2))).write_h5ad(tmp_path / "t.h5ad")
    with h5py.File(tmp_path / "t.h5ad", "r+") as file:
        column = file["obs"].create_dataset("y", (10**9,), "f8", chunks=(1000,))
        column.attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})
        file["obs"].attrs["column-order"] = ["y"]
    refused(tmp_path / "t.h5ad", r"declares \d arrays in obs, which takes 7\.5 GB")


@pytest.mark.parametrize("stored", ["folder", "memory"])
def test_an_empty_zarr_array_of_many_chunks_is_refused_at_once(tmp_path, stored):
    zarr = pytest.importorskip("zarr")
    store = str(tmp_path / "t.zarr") if stored == "folder" else zarr.storage.MemoryStore()
    array = zarr.create_array(store, shape=(10**6, 10**3), chunks=(1, 1), dtype="f8")
    messages = {"folder": "the chunk c/0/0 is missing", "memory": "declares 1000000000 chunks"}
    message = messages[stored]
    with pytest.raises(ValueError, match=message):
        as_source(array)
    if stored == "folder":
        refused(tmp_path / "t.zarr", message)
        refused(tmp_path / "t.zarr", message, memory=1)


def test_the_command_line_states_the_limit(tmp_path):
    path = tmp_path / "t.mtx"
    path.write_bytes(b"%%MatrixMarket matrix coordinate real general\n400000000 400000000 1\n1 1 1.5\n")
    done = CliRunner().invoke(main, ["rank", str(path), "--memory", "2GB"])
    assert done.exit_code == 1
    assert "declares a matrix of 400000000 x 400000000, which takes 6.0 GB; the limit is 2.0 GB." in done.output
    assert "allow more with --memory, or store it as Zarr or HDF5" in done.output


# ---------------------------------------------------------------- indices


@pytest.mark.parametrize("change", ["no row", "columns that wrap around", "columns beyond", "a row beyond"])
def test_hostile_indices_of_a_sparse_mat_file(tmp_path, change):
    rows, starts = np.array([0, 2, 1], dtype="<i4"), np.array([0, 1, 2, 3], dtype="<i4")
    if change == "no row":
        rows, message = np.array([0.0, np.nan, 1.0]), r"\S"
    elif change == "columns that wrap around":
        starts, message = np.array([0, 2**63 - 1, -2, 3], dtype="<i8"), "decreases, or leads beyond its values"
    elif change == "columns beyond":
        starts, message = np.array([0, 1, 2, 2**62], dtype="<i8"), r"\S"
    else:
        rows, message = np.array([0, 3, 1], dtype="<i4"), r"\S"
    write_sparse_mat(tmp_path / "t.mat", rows, starts)
    refused(tmp_path / "t.mat", rf"t\.mat is not a MATLAB file: .*{message}")


def write_sparse_mat(path, rows, starts):
    """A MATLAB file with a sparse X of 3 x 3 and these index arrays, in whatever types they have."""
    kinds = {"<i4": 5, "<i8": 12, "<f8": 9}

    def element(kind, data):
        return struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8)

    parts = [element(6, struct.pack("<II", 5, 3)), element(5, struct.pack("<ii", 3, 3)), element(1, b"X")]
    parts += [element(kinds[a.dtype.str], a.tobytes()) for a in (rows, starts, np.array([1.0, 2.0, 3.0]))]
    head = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x0100) + b"IM"
    path.write_bytes(head + element(14, b"".join(parts)))


def test_a_sparse_mat_file_made_by_hand_is_read(tmp_path):
    write_sparse_mat(tmp_path / "t.mat", np.array([0, 2, 1], dtype="<i4"), np.array([0, 1, 2, 3], dtype="<i4"))
    np.testing.assert_array_equal(read_table(tmp_path / "t.mat").X.toarray(), [[1, 0, 0], [0, 0, 3], [0, 2, 0]])


@pytest.mark.parametrize("row", [np.nan, np.inf, 0.0, 9.0])
def test_hostile_indices_of_the_oldest_sparse_mat_files(tmp_path, row):
    scipy.io.savemat(tmp_path / "t.mat", {"X": sp.csc_array(np.diag([1.5, 2.5, 3.5]))}, format="4")
    whole = bytearray((tmp_path / "t.mat").read_bytes())
    at = whole.index(struct.pack("<4d", 1.0, 2.0, 3.0, 3.0))  # the row numbers, and the number of rows
    whole[at + 8 : at + 16] = struct.pack("<d", row)
    (tmp_path / "t.mat").write_bytes(whole)
    refused(tmp_path / "t.mat", r"t\.mat is not a MATLAB file: \S")
