"""Columns of frames: what they hold, how they become numbers, and what is left out."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest

from fiedler.data.columns import (
    encode,
    frame_columns,
    is_missing,
    is_mixed_frame,
    notes_on,
    read_column,
    standardised,
)

N = 12


def kinds(frame):
    return [column.kind for column in frame_columns(frame)]


def test_kinds_of_pandas_columns():
    frame = pd.DataFrame(
        {
            "number": np.arange(N, dtype=float),
            "nullable": pd.array([1, None] * 6, dtype="Int64"),
            "truth": [True, False] * 6,
            "ordered": pd.Categorical(["low", "high"] * 6, categories=["low", "mid", "high"], ordered=True),
            "category": pd.Categorical(["a", "b", None] * 4),
            "text": ["x", "y"] * 6,
            "string": pd.array(["x", None] * 6, dtype="string"),
            "date": pd.date_range("2020-01-01", periods=N),
            "zone": pd.date_range("2020-01-01", periods=N, tz="UTC"),
            "period": pd.to_timedelta(np.arange(N), unit="D"),
            "iso": [f"2020-01-{day:02d}" for day in range(1, N + 1)],
            "digits": [str(i) for i in range(N)],
            "name": [f"row {i}" for i in range(N)],
            "empty": [None] * 10 + [1.0, 2.0],
        }
    )
    expected = "number number number ordered category category category date date date date number text empty"
    assert kinds(frame) == expected.split()


def test_kinds_of_polars_columns():
    frame = pl.DataFrame(
        {
            "number": [1.0, None] * 6,
            "truth": [True, None] * 6,
            "text": ["x", "y"] * 6,
            "category": pl.Series(["x", None] * 6, dtype=pl.Categorical),
            "date": [dt.date(2020, 1, day) for day in range(1, N + 1)],
            "stamp": [dt.datetime(2020, 1, day, 12) for day in range(1, N + 1)],
            "span": [dt.timedelta(hours=h) for h in range(N)],
            "name": [f"row {i}" for i in range(N)],
        }
    )
    assert kinds(frame) == ["number", "number", "category", "category", "date", "date", "date", "text"]
    assert np.isnan(frame_columns(frame)[0].values[1])


def test_only_frames_with_other_columns_are_mixed():
    assert not is_mixed_frame(pd.DataFrame({"a": [1.0], "b": [True], "c": pd.array([None], dtype="Int64")}))
    assert not is_mixed_frame(pl.DataFrame({"a": [1.0], "b": [True]}))
    assert is_mixed_frame(pd.DataFrame({"a": ["x"]}))
    assert is_mixed_frame(pl.DataFrame({"a": ["x"]}))
    assert not is_mixed_frame(np.array([["x"]], dtype=object))


@pytest.mark.parametrize("value", [None, np.nan, "", "  ", pd.NA, pd.NaT, float("nan")])
def test_empty_cells_are_missing(value):
    assert is_missing(value)
    assert not is_missing("NA is a text")
    assert not is_missing(0)


def test_dates_become_days_since_the_earliest():
    days = read_column("d", ["2020-03-01", "2020-02-28", None, "2020-02-28 12:00"] * 3).values
    np.testing.assert_allclose(days[:4], [2.0, 0.0, np.nan, 0.5])
    assert read_column("d", ["2020-13-01", "2020-02-28"] * 6).kind == "category"  # month 13 is no date
    stamps = pd.DataFrame({"d": pd.to_datetime(["2020-01-03", None, "2020-01-01"] * 4)})
    np.testing.assert_allclose(frame_columns(stamps)[0].values[:3], [2.0, np.nan, 0.0])


def test_ordered_levels_keep_their_distance():
    frame = pd.DataFrame({"o": pd.Categorical(["lo", "hi"] * 5, categories=["lo", "mid", "hi"], ordered=True)})
    assert sorted(set(frame_columns(frame)[0].values)) == [0.0, 2.0]


def test_a_category_has_one_column_per_level_and_a_hole_in_all_of_them():
    frame = pd.DataFrame({"c": ["x", "z", None, "y", "x", "x"]})
    encoded, groups = encode(frame_columns(frame))
    np.testing.assert_array_equal(encoded[:4], [[1, 0, 0], [0, 0, 1], [np.nan] * 3, [0, 1, 0]])
    assert groups.owner.tolist() == [0, 0, 0]
    assert groups.levels == {0: ["x", "y", "z"]}


def test_levels_that_do_not_occur_have_no_column():
    frame = pd.DataFrame({"c": pd.Categorical(["b", "a"] * 5, categories=["z", "b", "a", "unused"])})
    column = frame_columns(frame)[0]
    assert column.levels == ["a", "b"]
    assert encode([column])[0].shape == (10, 2)


def test_numbers_are_standardised_in_mixed_tables_only():
    numbers = pd.DataFrame({"a": np.arange(10.0), "t": [True, False] * 5})
    np.testing.assert_array_equal(encode(frame_columns(numbers))[0], numbers.to_numpy(dtype=float))
    mixed, _ = encode(frame_columns(numbers.assign(c=["x", "y"] * 5)))
    assert mixed.shape == (10, 4)  # the number, the truth value, two columns of the category
    np.testing.assert_allclose(mixed[:, :2].mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(mixed[:, :2].std(axis=0), 1.0)
    assert set(mixed[:, 2:].ravel()) == {0.0, 1.0}


def test_standardising_is_exact_at_large_offsets_and_for_constants():
    x = np.array([1.0, 2.0, np.nan, 4.0])
    np.testing.assert_allclose(standardised(x + 1e10), standardised(x), atol=1e-5)
    np.testing.assert_array_equal(standardised(np.array([3.0, np.nan, 3.0])), [0.0, np.nan, 0.0])


def test_many_levels_are_left_out_and_said():
    names = [f"row {i}" for i in range(N)]
    columns = frame_columns(pd.DataFrame({"name": names, "c": ["x", "y"] * 6, "n": np.arange(N) ** 2.0}))
    assert encode(columns)[1].owner.tolist() == [1, 1, 2]
    assert "not used: 'name' (too many different texts)" in notes_on(columns)
    assert read_column("c", [f"level {i % 51}" for i in range(1000)]).kind == "text"
    assert read_column("c", [f"level {i % 50}" for i in range(1000)]).kind == "category"


def test_a_column_that_numbers_the_rows_is_noticed():
    counting = read_column("id", list(range(1, 31)))
    assert counting.counts_rows
    assert read_column("part of an id", [*range(1, 30), 40]).counts_rows
    assert not read_column("x", [*range(1, 30), 400]).counts_rows
    assert not read_column("x", [*range(1, 30), 29]).counts_rows
    assert not read_column("x", [0.5 + i for i in range(30)]).counts_rows


def test_strange_cells_do_not_break_a_column():
    assert read_column("x", [{"a": 1}, [1, 2]] * 6).kind in ("category", "text")
    assert read_column("x", []).kind == "category"
    assert read_column("x", [float("inf"), 1.0, 2.0, 3.0, 4.0]).kind == "number"
    assert read_column("x", [None] * 9).kind == "empty"
    first = dt.datetime(1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=5)))  # in UTC it has no date
    assert read_column("x", [first, None, first + dt.timedelta(days=1)] * 5).kind == "date"
