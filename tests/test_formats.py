"""Matrices in files: every format gives the same table, none runs code, and output appears whole or not at all."""

import csv
import gzip
import os
import pickle
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from tables import NAMES, X

from fiedler import SpectralSelector
from fiedler.io import annotate, read_table, write_ranking, write_table


class Bomb:
    """Leaves a mark when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


# ---------------------------------------------------------------- the other formats


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


def save_arff(path, matrix):
    lines = ["@relation r", *(f"@attribute {n} numeric" for n in NAMES), "@attribute y {-1,0,1}", "@data"]
    lines += [",".join(map(str, [*row, y])) for row, y in zip(matrix.tolist(), [1, 0, -1], strict=True)]
    path.write_text("% a comment\n" + "\n".join(lines) + "\n")


def save_sparse_arff(path, matrix):
    pytest.importorskip("arff")
    lines = ["@relation r", *(f"@attribute {n} numeric" for n in NAMES), "@attribute y {-1,0,1}", "@data"]
    for row, y in zip(matrix.tolist(), [1, 0, -1], strict=True):
        cells = [f"{j} {v}" for j, v in enumerate(row) if v] + ([f"4 {y}"] if y != -1 else [])
        lines.append("{" + ",".join(cells) + "}")
    path.write_text("\n".join(lines) + "\n")


def save_h5ad(path, matrix):
    anndata = pytest.importorskip("anndata")
    pd = pytest.importorskip("pandas")
    obs = pd.DataFrame({"y": pd.Categorical(["yes", "no", None])}, index=["r0", "r1", "r2"])
    adata = anndata.AnnData(matrix, obs, pd.DataFrame(index=NAMES), layers={"double": 2 * matrix})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about Zarr's versions
        adata.write_zarr(path) if path.suffix == ".zarr" else adata.write_h5ad(path)


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


def test_npy_is_mapped_not_read(tmp_path):
    np.save(tmp_path / "t.npy", X)
    table = read_table(tmp_path / "t.npy")
    assert isinstance(table.X, np.memmap)
    last = read_table(tmp_path / "t.npy", target=-1)
    assert np.shares_memory(last.X, last.X.base)
    np.testing.assert_array_equal(last.y, X[:, 3])
    middle = read_table(tmp_path / "t.npy", target="1")
    assert middle.feature_names.tolist() == ["x0", "x2", "x3"]
    np.testing.assert_array_equal(middle.X, X[:, [0, 2, 3]])
    np.save(tmp_path / "y.npy", [1, 0, 1])
    assert read_table(tmp_path / "t.npy", labels=tmp_path / "y.npy").y.tolist() == [1, 0, 1]


def test_npz_is_mapped_where_it_is_not_compressed(tmp_path):
    for matrix in (X, np.asfortranarray(X)):
        save_npz(tmp_path / "t.npz", matrix)
        table = read_table(tmp_path / "t.npz")
        assert isinstance(table.X, np.memmap)
        np.testing.assert_array_equal(table.X, X)
    np.savez_compressed(tmp_path / "c.npz", data=X)
    np.testing.assert_array_equal(read_table(tmp_path / "c.npz").X, X)


def test_anndata_layers_and_results(tmp_path):
    anndata = pytest.importorskip("anndata")
    save_h5ad(tmp_path / "t.h5ad", X)
    np.testing.assert_array_equal(read_table(tmp_path / "t.h5ad", layer="double").X, 2 * X)
    with pytest.raises(ValueError, match=r"has no layer 'duoble'; did you mean 'double'\?"):
        read_table(tmp_path / "t.h5ad", layer="duoble")
    with pytest.raises(ValueError, match="has no column 'cell'"):
        read_table(tmp_path / "t.h5ad", target="cell")
    adata = anndata.read_h5ad(tmp_path / "t.h5ad")
    selector = SpectralSelector("variance", n_features_to_select=2).fit(adata.X)
    copy = annotate(adata, selector, key_added="var", inplace=False, subset=True)
    assert "var_rank" not in adata.var
    assert copy.var["var_rank"].tolist() == selector.ranking_[selector.support_].tolist()
    annotate(adata, selector)
    np.testing.assert_array_equal(adata.var["fiedler_score"], selector.scores_)
    assert adata.uns["fiedler"] == {"criterion": "Variance()", "greater_is_better": True}
    adata.write_h5ad(tmp_path / "back.h5ad")
    with pytest.raises(ValueError, match="adata has 2 features, but the selector was fitted on 4"):
        annotate(copy, selector)


def test_types_of_columns(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {"f": pa.array([1.5, None], pa.float32()), "b": [True, False], "i": pa.array([1, 2], pa.int8())}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    assert table.X.dtype == np.float32
    np.testing.assert_array_equal(table.X, [[1.5, 1, 1], [np.nan, 0, 2]])
    pq.write_table(pa.table(columns | {"town": ["a", "b"]}), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"t\.parquet: column 'town' holds string, not numbers"):
        read_table(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet", target="town").y.tolist() == ["a", "b"]


def test_arff_leaves_no_trace(tmp_path):
    """scipy lets every CSV field of the process be as long as it likes."""
    before = csv.field_size_limit()
    save_arff(tmp_path / "x.arff", X)
    read_table(tmp_path / "x.arff")
    assert csv.field_size_limit() == before


def test_text_in_arff(tmp_path):
    path = tmp_path / "t.arff"
    head = "@relation r\n@attribute a numeric\n@attribute town {Paris,Rome}\n@data\n"
    path.write_text(head + "1,Paris\n?,Rome\n")
    with pytest.raises(ValueError, match=r"t\.arff: row 0, column 'town': 'Paris' is not a number"):
        read_table(path)
    table = read_table(path, target="town")
    np.testing.assert_array_equal(table.X, [[1], [np.nan]])
    assert table.y.tolist() == ["Paris", "Rome"]
    pytest.importorskip("arff")
    path.write_text(head + "1,Paris\nx,Rome\n")
    with pytest.raises(ValueError, match=r"t\.arff: .*line 6"):
        read_table(path, target="town")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 1:2 2:x\n", "line 1: '2:x' is not index:value"),
        ("1 1:2\n0 3:1 2:5\n", "line 2: index 2 comes after 3; indices must increase"),
        ("1 1:2\ncat 1:1\n", "line 2: label 'cat' is not one number"),
    ],
)
def test_bad_svmlight(write, text, message):
    with pytest.raises(ValueError, match=message):
        read_table(write(text, "t.svm"))


def test_svmlight_has_its_own_target(write):
    with pytest.raises(ValueError, match="carries its labels in front of each row"):
        read_table(write("1 1:2\n0 1:3\n", "t.libsvm.gz"), target="y")


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


# ---------------------------------------------------------------- files never run code


def test_pickles_are_never_loaded(tmp_path):
    mark = tmp_path / "mark"
    (tmp_path / "disguised.npy").write_bytes(pickle.dumps(Bomb(mark)))
    np.save(tmp_path / "objects.npy", np.array([[Bomb(mark)]], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "stored.npz", X=np.array([[Bomb(mark)]], dtype=object))
    np.savez_compressed(tmp_path / "packed.npz", X=X, y=np.array([Bomb(mark)], dtype=object))
    for name in ("disguised.npy", "objects.npy", "stored.npz", "packed.npz"):
        with pytest.raises(ValueError, match="Python objects or a pickle, which are never loaded"):
            read_table(tmp_path / name)
    assert not mark.exists()


def test_zarr_pickle_codec_is_refused(tmp_path):
    pytest.importorskip("zarr")
    mark, store = tmp_path / "mark", tmp_path / "t.zarr"
    store.mkdir()
    (store / ".zarray").write_text(
        '{"zarr_format": 2, "shape": [1, 1], "chunks": [1, 1], "dtype": "|O", "compressor": null, "fill_value": null, '
        '"order": "C", "filters": [{"id": "pickle", "protocol": 5}]}'
    )
    (store / "0.0").write_bytes(pickle.dumps(Bomb(mark)))
    with pytest.raises(ValueError, match=r"t\.zarr"):
        read_table(store)
    assert not mark.exists()


def test_hostile_sparse_indices(tmp_path):
    np.savez(
        tmp_path / "t.npz",
        data=np.ones(2),
        indices=np.array([0, 10**6]),
        indptr=np.array([0, 1, 2]),
        shape=np.array([2, 3]),
    )
    with pytest.raises(ValueError, match=r"t\.npz"):
        read_table(tmp_path / "t.npz")


def test_a_missing_package_names_its_extra(tmp_path, monkeypatch):
    for module, name, extra in [
        ("pyarrow", "t.parquet", "io"),
        ("anndata.io", "t.h5ad", "anndata"),
        ("zarr", "t.zarr", "zarr"),
    ]:
        (tmp_path / name).write_bytes(b"x")
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(
            ImportError, match=rf"{name} needs {module.split('.')[0]}; .*pip install 'fiedler\[{extra}\]'"
        ):
            read_table(tmp_path / name)


# ---------------------------------------------------------------- rankings


RANKING = {"feature": np.array(["a", "b, c"]), "score": np.array([0.1 + 0.2, np.nan]), "rank": np.array([1, 2])}


def test_rankings(tmp_path):
    csv = write_ranking(tmp_path / "r.csv", RANKING).read_text()
    assert csv == 'feature,score,rank\na,0.30000000000000004,1\n"b, c",,2\n'
    assert write_ranking(tmp_path / "r.tsv", RANKING).read_text().splitlines()[2] == "b, c\t\t2"
    import json

    found = json.loads(write_ranking(tmp_path / "r.json", RANKING, about={"method": "m"}).read_text())
    assert found["features"][1] == {"feature": "b, c", "score": None, "rank": 2}
    assert found["method"] == "m"
    with pytest.raises(ValueError, match=r"written as \.csv, \.tsv, \.json, \.parquet, \.feather, not '\.xls'"):
        write_ranking(tmp_path / "r.xls", RANKING)


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_rankings_as_columns(tmp_path, suffix):
    pytest.importorskip("pyarrow")
    table = read_table(write_ranking(tmp_path / f"r.{suffix}", RANKING), id_column="feature")
    np.testing.assert_array_equal(table.X, [[0.30000000000000004, 1], [np.nan, 2]])


def test_nothing_is_replaced_or_left_behind(tmp_path, monkeypatch):
    path = tmp_path / "r.csv"
    path.write_text("old")
    with pytest.raises(FileExistsError, match="exists; use force=True"):
        write_ranking(path, RANKING)
    for failure in (RuntimeError, KeyboardInterrupt):

        def fail(*_, failure=failure):
            raise failure

        monkeypatch.setattr("fiedler.data.write.ranking_text", fail)
        with pytest.raises(failure):
            write_ranking(path, RANKING, force=True)
        assert [p.name for p in tmp_path.iterdir()] == ["r.csv"]
        assert path.read_text() == "old"


def test_what_cannot_be_written(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        write_ranking(tmp_path / "no" / "r.csv", RANKING)
    (tmp_path / "r.csv").mkdir()
    with pytest.raises(ValueError, match="exists and is not a file"):
        write_ranking(tmp_path / "r.csv", RANKING, force=True)
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    write_ranking(tmp_path / "link.csv", RANKING)
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").exists()
    if os.geteuid():
        (tmp_path / "closed").mkdir(mode=0o500)
        with pytest.raises(PermissionError, match="not writable"):
            write_ranking(tmp_path / "closed" / "r.csv", RANKING)
