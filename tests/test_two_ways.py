"""A table in a file and the same table in a frame: the same features, kinds, scores and order."""

import datetime as dt
import io
import os
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import fiedler
from fiedler import Problem, SpectralSelector
from fiedler.cli import main
from fiedler.data.columns import read_column
from fiedler.io import read_table

pl = pytest.importorskip("polars")
N = 60
REAL = sorted(Path(os.environ.get("FIEDLER_DATA", "/nowhere")).glob("tables/*.csv"))


def columns():
    """One column of every kind, and numbers that share structure."""
    rng = np.random.default_rng(5)
    base = rng.normal(size=N)
    holes = np.where(rng.random(N) < 0.2, np.nan, base + rng.normal(size=N))
    zone = pd.date_range("2024-10-26 12:00", periods=N, freq="h", tz="Europe/Berlin")  # summer time ends
    return {
        "size (mm)": base,
        "weight, kg": 3 * base + rng.normal(size=N),
        "holes": holes,
        "count": pd.Series(rng.integers(0, 5, N)),
        "flag": base > 0.3,
        "rare flag": pd.array([None if i % 9 == 0 else bool(x > 0) for i, x in enumerate(base)], dtype="boolean"),
        "kind": np.where(base > 0, "u", rng.choice(["v", "w"], N)),
        "word": [None if i % 7 == 0 else "yes" if x > 0 else "no" for i, x in enumerate(base)],
        "day": pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, N), unit="D"),
        "instant": zone[rng.permutation(N)],
        "typo": [*map(str, base[1:].round(4)), "n.d."],
        "id": np.arange(N) + 100,
        "name": [f"plant {i}" for i in range(N)],
        "constant": 7.0,
        "empty": np.nan,
    }


TABLES = {
    "all": lambda c: c,
    "numbers": lambda c: {name: c[name] for name in ("size (mm)", "weight, kg", "holes", "count")},
    "truth values": lambda c: {name: c[name] for name in ("size (mm)", "weight, kg", "flag", "rare flag")},
    "truth values and a category": lambda c: {name: c[name] for name in ("size (mm)", "weight, kg", "flag", "kind")},
    "numbers and an id": lambda c: {name: c[name] for name in ("id", "size (mm)", "weight, kg", "holes", "count")},
    "numbers and dates": lambda c: {name: c[name] for name in ("size (mm)", "weight, kg", "day", "instant")},
}


def csv(frame, folder):
    frame.to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


def decimal_commas(frame, folder):
    frame.to_csv(folder / "c.csv", index=False, sep=";", decimal=",")
    text = (folder / "c.csv").read_text()
    if "typo" in frame:  # pandas leaves numbers that are text as they are
        lines = [line.split(";") for line in text.splitlines()]
        at = lines[0].index("typo")
        lines = [
            [*row[:at], row[at].replace(".", ",") if row[at] != "n.d." else row[at], *row[at + 1 :]] for row in lines
        ]
        (folder / "c.csv").write_text("\n".join(map(";".join, lines)))
    return folder / "c.csv"


def parquet(frame, folder):
    pytest.importorskip("pyarrow")
    frame.to_parquet(folder / "t.parquet", index=False)
    return folder / "t.parquet"


def excel(frame, folder):
    pytest.importorskip("openpyxl")
    if "instant" in frame:  # a cell of Excel has no time zone
        frame = frame.assign(instant=frame["instant"].astype(str))
    frame.to_excel(folder / "t.xlsx", index=False)
    return folder / "t.xlsx"


def found(fit, names):
    """The features that a method can use with their scores, and their order, for a ranking and a set."""
    answers = []
    for method in ("laplacian", "subset"):
        selector = fit(SpectralSelector(method, n_features_to_select=3, screen=None))
        scores = dict(zip(names, selector.scores_, strict=True))
        used = {name: score for name, score in scores.items() if not np.isnan(score)}
        answers.append((used, [names[j] for j in selector.order_ if names[j] in used]))
    return answers


def of_file(path, **options):
    table = read_table(path, **options)
    names = table.feature_names.tolist()
    return found(lambda selector: selector.fit(Problem.read(table.prepared, names)), names)


def of_frame(frame):
    return found(lambda selector: selector.fit(frame), list(frame.columns))


def assert_same(ours, theirs):
    for (scores, order), (expected, expected_order) in zip(ours, theirs, strict=True):
        assert scores.keys() == expected.keys()
        np.testing.assert_allclose([scores[name] for name in expected], list(expected.values()), rtol=1e-9, atol=1e-12)
        assert order == expected_order


def kinds(table):
    return {line.name: (line.kind, line.role, line.missing, line.levels) for line in fiedler.look(table).columns}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("write", [csv, decimal_commas, parquet, excel])
@pytest.mark.parametrize("table", TABLES)
def test_a_file_and_a_frame_give_the_same_answer(table, write, tmp_path):
    frame = pd.DataFrame(TABLES[table](columns()))
    path, expected = write(frame, tmp_path), of_frame(frame)
    assert_same(of_file(path), expected)
    assert_same(of_frame(pl.from_pandas(frame)), expected)
    assert kinds(path) == kinds(frame) == kinds(pl.from_pandas(frame))
    if write is csv:
        assert_same(of_frame(pd.read_csv(path)), expected)
        assert_same(of_frame(pl.read_csv(path, infer_schema_length=None)), expected)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("path", REAL, ids=[path.stem for path in REAL])
def test_real_tables_give_the_same_answer_both_ways(path):
    frame = pd.read_csv(path)
    expected = of_frame(frame)
    assert_same(of_file(path), expected)
    assert kinds(path) == kinds(frame)
    plain = pl.read_csv(path, infer_schema_length=None, null_values=["", "NA", "None"])
    assert_same(of_frame(plain), expected)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_categories_of_codes_stay_categories_in_parquet(tmp_path):
    codes = pd.Categorical(["3", "1", "2"] * 20)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"code": codes, "a": rng.normal(size=60), "b": rng.normal(size=60)})
    frame["level"] = pd.Categorical(["low", "high", None] * 20, ["low", "mid", "high"], ordered=True)
    expected = of_frame(frame)
    assert_same(of_file(parquet(frame, tmp_path)), expected)
    plain = frame[["code", "a", "b"]]
    assert_same(
        of_frame(pl.DataFrame({name: list(plain[name]) for name in plain}, schema_overrides={"code": pl.Categorical})),
        of_frame(plain),
    )


def test_a_column_that_numbers_the_rows_is_named_and_written_again(tmp_path):
    frame = pd.DataFrame(TABLES["numbers and an id"](columns()))
    path = csv(frame, tmp_path)
    with pytest.warns(UserWarning, match=r"Not used: 'id' \(numbers the rows\)"):
        table = read_table(path)
    assert table.feature_names.tolist() == ["size (mm)", "weight, kg", "holes", "count"]
    written = fiedler.io.write_table(tmp_path / "small.csv", table, [1])
    assert pd.read_csv(written).columns.tolist() == ["id", "weight, kg"]


# -------------------------------------------------------------------- single cells


def test_instants_are_as_far_apart_as_they_are_in_every_form():
    instants = pd.date_range("2024-10-26 20:00", periods=12, freq="h", tz="UTC")
    zones = ["Europe/Berlin", "America/New_York", "Asia/Kolkata"]
    stamps = [instant.tz_convert(zones[k % 3]) for k, instant in enumerate(instants)]
    berlin = [instant.tz_convert(ZoneInfo("Europe/Berlin")).to_pydatetime() for instant in instants]
    for cells in (
        stamps,
        [s.to_pydatetime() for s in stamps],
        berlin,
        [s.isoformat() for s in stamps],
        list(map(str, stamps)),
    ):
        column = read_column("when", cells)
        assert column.kind == "date"
        np.testing.assert_allclose(np.diff(column.values), 1 / 24, rtol=1e-9)
    fold = [dt.datetime(2024, 10, 27, 2, tzinfo=ZoneInfo("Europe/Berlin"), fold=k % 2) for k in range(12)]
    np.testing.assert_allclose(read_column("when", fold).values, [0, 1 / 24] * 6, atol=1e-12)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_numbers_with_a_typing_error_are_numbers_for_numeric_only(tmp_path):
    path = csv(pd.DataFrame(columns())[["size (mm)", "typo", "kind", "day"]], tmp_path)
    assert read_table(path, numeric_only=True).feature_names.tolist() == ["size (mm)", "typo"]


def test_words_among_numbers_that_repeat_are_missing():
    ages = [str(20 + i % 60) for i in range(600)]
    ages[3] = ages[300] = "k.A."
    column = read_column("age", ages)
    assert (column.kind, int(np.isnan(column.values).sum())) == ("number", 2)
    assert read_column("code", [str(i % 6) if i else "x" for i in range(600)]).kind == "category"


@pytest.mark.filterwarnings("ignore:.*decimal comma:UserWarning")
def test_one_unreadable_cell_is_the_same_with_points_and_with_commas(tmp_path):
    rng = np.random.default_rng(0)
    for mark in ".,":
        rows = [f"{x:.3f};{y:.3f}".replace(".", mark) for x, y in rng.normal(size=(40, 2))]
        rows[7] = "n.d.;" + rows[7].split(";")[1]
        (tmp_path / "t.csv").write_text("a;b\n" + "\n".join(rows))
        with pytest.warns(UserWarning, match=r"No numbers, read as missing: 'n\.d\.' in 'a'"):
            table = read_table(tmp_path / "t.csv")
        assert table.groups is None
        assert np.isnan(table.X).sum() == 1
        rows[7] = "<0;" + rows[7].split(";")[1]
        (tmp_path / "t.csv").write_text("a;b\n" + "\n".join(rows))
        with pytest.raises(ValueError, match="line 9, column 'a': '<0' is not a number"):
            read_table(tmp_path / "t.csv")


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_columns_of_objects_that_are_numbers_and_dates_are_single_columns(rng):
    y = np.repeat([0, 1], 30)
    frame = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd"))
    when = pd.date_range("2024-01-01", periods=60, freq="37h")[rng.permutation(60)]
    objects = frame.assign(when=when, no=np.arange(60), flag=y == 1).astype(object)
    order = SpectralSelector("sselect", n_features_to_select=2, screen=None).fit(objects, y).ranking_
    plain = frame.assign(when=(when - when.min()).total_seconds() / 86400, no=0, flag=y)
    expected = SpectralSelector("sselect", n_features_to_select=2, screen=None).fit(plain, y).ranking_
    np.testing.assert_array_equal(order, expected)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("table", TABLES)
def test_the_command_line_ranks_as_a_frame_is_ranked(table, tmp_path):
    frame = pd.DataFrame(TABLES[table](columns()))
    options = ["-m", "laplacian", "--screen", "none", "-q"]
    done = CliRunner().invoke(main, ["rank", str(csv(frame, tmp_path)), *options])
    ranked = pd.read_csv(io.StringIO(done.stdout)).dropna(subset="score")
    (scores, order), _ = of_frame(frame)
    assert ranked["feature"].tolist() == order
    np.testing.assert_allclose(ranked["score"], [scores[name] for name in order], rtol=1e-9)
