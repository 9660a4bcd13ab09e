"""Results out: rankings in every format."""

import os
import subprocess
import sys

import numpy as np
import pytest
from tables import X, save_h5ad

from fiedler.io import read_table, write_ranking


def test_layers_of_anndata(tmp_path):
    pytest.importorskip("anndata")
    save_h5ad(tmp_path / "t.h5ad", X)
    np.testing.assert_array_equal(read_table(tmp_path / "t.h5ad", layer="double").X, 2 * X)
    with pytest.raises(ValueError, match=r"has no layer 'duoble'; did you mean 'double'\?"):
        read_table(tmp_path / "t.h5ad", layer="duoble")
    with pytest.raises(ValueError, match="has no column 'cell'"):
        read_table(tmp_path / "t.h5ad", target="cell")


RANKING = {"feature": np.array(["a", "b, c"]), "score": np.array([0.1 + 0.2, np.nan]), "rank": np.array([1, 2])}


def test_rankings(tmp_path):
    csv = write_ranking(tmp_path / "r.csv", RANKING).read_text()
    assert csv == 'feature,score,rank\na,0.30000000000000004,1\n"b, c",,2\n'
    assert write_ranking(tmp_path / "r.tsv", RANKING).read_text().splitlines()[2] == "b, c\t\t2"
    import json

    found = json.loads(write_ranking(tmp_path / "r.json", RANKING, about={"method": "m"}).read_text())
    assert found["features"][1] == {"feature": "b, c", "score": None, "rank": 2}
    assert found["method"] == "m"
    with pytest.raises(ValueError, match=r"written as \.csv, \.tsv, \.json, \.xlsx, \.parquet, \.feather, not '\.xls'"):
        write_ranking(tmp_path / "r.xls", RANKING)


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_rankings_as_columns(tmp_path, suffix):
    pytest.importorskip("pyarrow")
    table = read_table(write_ranking(tmp_path / f"r.{suffix}", RANKING), id_column="feature")
    np.testing.assert_array_equal(table.X, [[0.30000000000000004, 1], [np.nan, 2]])


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


def test_an_excel_file_holds_text_as_text_and_numbers_as_numbers(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    names = ["=1+1", "a\x00b", "plain", "-2"]
    scores = np.array([0.1 + 0.2, np.nan, np.inf, -1e-300])
    path = write_ranking(tmp_path / "r.xlsx", {"feature": names, "score": scores, "rank": np.arange(1, 5)})
    book = openpyxl.load_workbook(path)
    rows = list(book.active.iter_rows())
    assert [cell.value for cell in rows[0]] == ["feature", "score", "rank"]
    assert [row[0].value for row in rows[1:]] == ["=1+1", "a\ufffdb", "plain", "-2"]
    assert {row[0].data_type for row in rows[1:]} == {"s"}  # no formula
    assert [row[1].value for row in rows[1:]] == [pytest.approx(0.3, rel=1e-15), None, "inf", -1e-300]
    assert [row[2].value for row in rows[1:]] == [1, 2, 3, 4]
    book.close()
    with pytest.raises(FileExistsError):
        write_ranking(path, {"feature": names})


@pytest.mark.skipif(os.name != "posix", reason="a limit of the size of files stands in for a full disk")
@pytest.mark.parametrize("limit", [5_000, 60_000])
def test_a_full_disk_is_one_line(tmp_path, limit):
    """Also in the temporary files of openpyxl, which fail once more when Python closes them."""
    pytest.importorskip("openpyxl")
    code = (
        "import resource, signal, sys; from fiedler.cli import main; from fiedler.io import write_ranking\n"
        "import openpyxl\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\n"
        "try: write_ranking(sys.argv[1], {'feature': [f'a long name {j}' for j in range(20000)]})\n"
        "except OSError as error: print(error, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "r.xlsx")], capture_output=True, text=True, timeout=120
    )
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert "r.xlsx cannot be written" in done.stderr
    assert not list(tmp_path.iterdir())
