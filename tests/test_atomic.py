"""Files appear whole or not at all, and nothing is replaced without force."""

import errno
import os

import numpy as np
import pytest
from click.testing import CliRunner

from fiedler.cli import main
from fiedler.data.work import replacing
from fiedler.io import read_table, write_ranking, write_table

RANKING = {"feature": np.array(["a", "b, c"]), "score": np.array([0.1 + 0.2, np.nan]), "rank": np.array([1, 2])}


def test_nothing_is_replaced_or_left_behind(tmp_path, monkeypatch):
    path = tmp_path / "r.csv"
    path.write_text("old")
    with pytest.raises(FileExistsError, match="exists; use force=True"):
        write_ranking(path, RANKING)
    for failure in (RuntimeError, KeyboardInterrupt):

        def fail(*_, failure=failure):
            raise failure

        monkeypatch.setattr("fiedler.data.labels.ranking_text", fail)
        with pytest.raises(failure):
            write_ranking(path, RANKING, force=True)
        assert [p.name for p in tmp_path.iterdir()] == ["r.csv"]
        assert path.read_text() == "old"


def test_a_full_disk_is_said_with_the_file(tmp_path, monkeypatch):
    for error in (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), ".part"), OSError("write failed: No space left")):

        def fail(*_, error=error):
            raise error

        monkeypatch.setattr("fiedler.data.labels.ranking_text", fail)
        with pytest.raises(
            OSError, match=r"r\.csv cannot be written: .*[Nn]o space left.*; free some space, or choose"
        ):
            write_ranking(tmp_path / "r.csv", RANKING)
    assert not list(tmp_path.iterdir())
    with pytest.raises(OSError, match="other"), replacing(tmp_path / "r.csv"):
        raise OSError("other")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_device_that_is_full(tmp_path):
    def write():
        with replacing(tmp_path / "r.txt") as temporary:
            temporary.symlink_to("/dev/full")
            temporary.write_text("x" * 10**6)

    with pytest.raises(OSError, match=r"r\.txt cannot be written: No space left on device; free some space"):
        write()


@pytest.mark.parametrize("letter", ["x", "ä"])
def test_the_longest_legal_name_can_be_written(tmp_path, letter):
    (tmp_path / "t.csv.gz").write_bytes(b"")
    (tmp_path / "t.csv").write_text("a,b\n1,5\n2,3\n4,4\n")
    name = letter * ((255 - len(".csv.gz")) // len(letter.encode())) + ".csv.gz"
    write_table(tmp_path / name, read_table(tmp_path / "t.csv"), [0])
    assert read_table(tmp_path / name).X.ravel().tolist() == [1, 2, 4]
    out = tmp_path / ("y" * 244 + ".csv")
    done = CliRunner().invoke(main, ["rank", str(tmp_path / "t.csv"), "-m", "variance", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert out.exists()
    assert not [path for path in tmp_path.iterdir() if ".part." in path.name]
