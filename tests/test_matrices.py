"""Matrices in files: mapped where they can be, and no file runs code or leads out of bounds."""

import pickle

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from tables import NAMES, X

from fiedler.io import read_table


class Bomb:
    """Leaves a mark when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def save_npz(path, matrix):
    np.savez(path, X=matrix, y=[1, 0, -1], feature_names=NAMES)


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


def test_npz(tmp_path):
    for matrix in (X, np.asfortranarray(X)):
        save_npz(tmp_path / "t.npz", matrix)
        np.testing.assert_array_equal(read_table(tmp_path / "t.npz").X, X)
    np.savez_compressed(tmp_path / "c.npz", data=X)
    np.testing.assert_array_equal(read_table(tmp_path / "c.npz").X, X)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 1:2 2:x\n", "lines of 'label index:value ...' with increasing indices: could not convert .* b'x'"),
        ("1 1:2\n0 3:1 2:5\n", r"t\.svm is not svmlight, .* with increasing indices: Feature indices .* sorted"),
        ("1 1:2\ncat 1:1\n", "lines of 'label index:value ...' .*: could not convert .* b'cat'"),
    ],
)
def test_bad_svmlight(write, text, message):
    with pytest.raises(ValueError, match=message):
        read_table(write(text, "t.svm"))


def test_svmlight_has_its_own_target(write):
    with pytest.raises(ValueError, match="contains the labels at the start of each row"):
        read_table(write("1 1:2\n0 1:3\n", "t.libsvm.gz"), target="y")


def test_pickles_are_never_loaded(tmp_path):
    mark = tmp_path / "mark"
    (tmp_path / "disguised.npy").write_bytes(pickle.dumps(Bomb(mark)))
    np.save(tmp_path / "objects.npy", np.array([[Bomb(mark)]], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "stored.npz", X=np.array([[Bomb(mark)]], dtype=object))
    np.savez_compressed(tmp_path / "packed.npz", X=X, y=np.array([Bomb(mark)], dtype=object))
    for name in ("disguised.npy", "objects.npy", "stored.npz", "packed.npz"):
        with pytest.raises(ValueError, match="Python objects and pickles are never loaded"):
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


@pytest.mark.parametrize("hold", [np.asarray, sp.csc_array], ids=["dense", "sparse"])
def test_the_oldest_mat_files_are_read(tmp_path, hold):
    scipy.io.savemat(tmp_path / "t.mat", {"X": hold(X), "Y": np.arange(3.0)[:, None]}, format="4")
    table = read_table(tmp_path / "t.mat", target="Y")
    assert sp.issparse(table.X) == (hold is sp.csc_array)
    np.testing.assert_array_equal(table.X.toarray() if sp.issparse(table.X) else table.X, X)
    assert table.y.tolist() == [0, 1, 2]
