"""A first look at a table, ``--auto``, titles above a table, files with one feature per row, and mixed files."""

import datetime
import re
import shlex

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import fiedler
from fiedler import Problem, SpectralSelector
from fiedler.cli import main
from fiedler.io import read_table, write_table

N = 40


def table(seed=0):
    """A messy table: an id, numbers with holes, categories, a date, a constant, a copy, free text and a target."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(["a", "b"], N)
    size = rng.normal(size=N) + (kind == "a")
    frame = pd.DataFrame({"no": np.arange(1, N + 1), "the size": size, "weight": rng.normal(size=N)})
    frame.loc[3:8, "weight"] = np.nan
    frame["colour"] = rng.choice(["red", "green", "blue"], N)
    frame["day"] = [str(datetime.date(2020, 1, 1) + datetime.timedelta(days=int(d))) for d in rng.integers(0, 99, N)]
    frame["unit"], frame["again"] = 3.0, size
    frame["remark"] = [f"text {i // 2 if i < 10 else i}" for i in range(N)]
    frame["class"] = kind
    return frame


ROLES = {
    "no": "id",
    "the size": "feature",
    "weight": "feature",
    "colour": "feature",
    "day": "feature",
    "unit": "constant",
    "again": "copy",
    "remark": "text",
    "class": "target candidate",
}


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture
def csv(tmp_path):
    table().to_csv(tmp_path / "a table.csv", index=False)
    return tmp_path / "a table.csv"


# ---------------------------------------------------------------- look


def test_roles_of_a_frame_and_of_its_file_are_the_same(csv):
    for found in (fiedler.look(table()), fiedler.look(csv), fiedler.look(str(csv))):
        assert {line.name: line.role for line in found.columns} == ROLES
        by_name = {line.name: line for line in found.columns}
        assert by_name["weight"].missing == 6
        assert by_name["colour"].levels == 3
        assert by_name["day"].kind == "date"
        assert by_name["again"].note == "the size"
        np.testing.assert_allclose(by_name["the size"].spread, table()["the size"].std(ddof=0))
        assert found.guesses["target"] == "class"
        assert found.guesses["id_columns"] == ("no",)
        assert found.guesses["drop"] == ("unit", "remark")
        assert (found.n_rows, found.n_columns) == (N, 9)


def test_a_polars_frame():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({name: list(values) for name, values in table().items()})
    assert {line.name: line.role for line in fiedler.look(frame).columns} == ROLES
    assert fiedler.look(frame.lazy()).guesses == fiedler.look(frame).guesses


def test_text_frame_and_html(csv):
    found = fiedler.look(csv)
    text = repr(found)
    assert "40 rows, 9 columns; UTF-8 text with commas, names in line 1" in text
    assert "1 id, 4 features, 1 constant, 1 copy, 1 text, 1 target candidate" in text
    assert "6 of 360 cells are missing (1.7%), in 1 column" in text
    assert "copy of the size" in text
    assert found.frame()["role"].tolist() == list(ROLES.values())
    page = found._repr_html_()
    assert "<td>target candidate</td>" in page
    assert found.command in page.replace("&#x27;", "'")
    with pytest.raises(AttributeError):
        found.source = "other"


def test_the_command_works_as_it_is_pasted(csv):
    found = fiedler.look(csv)
    assert found.command == f"fiedler rank '{csv}' --target class --id no --drop unit --drop remark"
    result = run(*shlex.split(found.command)[1:])
    assert result.exit_code == 0, result.output
    assert "the size" in result.output
    assert run("look", csv).output.rstrip().endswith(found.command)


def test_the_line_of_python_works():
    frame = table()
    command = fiedler.look(frame).command
    with pytest.warns(fiedler.TableWarning):
        selector = eval(command, {"SpectralSelector": SpectralSelector, "frame": frame})
    assert selector.feature_names_in_.tolist() == ["the size", "weight", "colour", "day", "again"]


def test_wrong_cells_are_shown_and_left_out(tmp_path):
    frame = table()[["the size", "weight", "again", "no"]].astype(object)
    frame.loc[4, "the size"] = "<0.1"
    frame.to_csv(tmp_path / "t.csv", index=False)
    found = fiedler.look(tmp_path / "t.csv")
    assert found.columns[0].role == "wrong cells"
    assert "line 6, column 'the size': '<0.1' is not a number" in repr(found)
    assert found.guesses["drop"] == ("the size",)
    failed = run("rank", tmp_path / "t.csv")
    assert failed.exit_code == 1
    assert "leave them out with --drop 'the size' or --numeric-only" in failed.output
    assert run("rank", tmp_path / "t.csv", "--auto").exit_code == 0


def test_uneven_columns_get_a_scale(tmp_path, rng):
    X = rng.normal(size=(60, 4)) * [1, 1, 1, 300]
    found = fiedler.look(pd.DataFrame(X, columns=list("abcd")))
    assert found.guesses["scale"] == "standard"
    assert "'d' spreads" in found.remarks[0]
    assert "scale='standard'" in found.command


def test_y_beside_x_and_z_is_a_coordinate(rng):
    frame = pd.DataFrame(rng.normal(size=(30, 3)), columns=list("xyz"))
    assert fiedler.look(frame).guesses["target"] is None
    assert fiedler.look(frame.rename(columns={"x": "a", "z": "b"})).guesses["target"] == "y"


def test_the_only_category_at_an_end_may_be_the_target(rng):
    frame = pd.DataFrame(rng.normal(size=(30, 3)), columns=list("abc")).assign(type=["u", "v"] * 15)
    assert fiedler.look(frame).guesses["target"] == "type"
    assert fiedler.look(frame[["a", "type", "b", "c"]]).guesses["target"] is None


def test_other_formats(tmp_path, rng):
    X = rng.normal(size=(20, 4))
    np.save(tmp_path / "X.npy", X)
    found = fiedler.look(tmp_path / "X.npy")
    assert (found.n_rows, found.n_columns) == (20, 4)
    assert [line.name for line in found.columns] == ["x0", "x1", "x2", "x3"]
    assert run(*shlex.split(found.command)[1:]).exit_code == 0


def test_what_cannot_be_looked_at(tmp_path):
    with pytest.raises(TypeError, match="look takes a path, or a pandas or polars frame, got ndarray"):
        fiedler.look(np.ones((3, 3)))
    with pytest.raises(FileNotFoundError, match="there is no file"):
        fiedler.look(tmp_path / "none.csv")


# ---------------------------------------------------------------- --auto


def test_auto_is_the_command(csv, tmp_path):
    explicit = run(*shlex.split(fiedler.look(csv).command)[1:], "-q").output
    result = run("rank", csv, "--auto")
    assert "note: --auto: --target class --id no --drop unit --drop remark" in result.output
    assert run("rank", csv, "--auto", "-q").output == explicit
    out = tmp_path / "small.csv"
    assert run("select", csv, "--auto", "--out", out).exit_code == 0
    small = pd.read_csv(out)
    assert {"no", "class"} < set(small.columns)
    assert "remark" not in small.columns
    compared = run("compare", csv, "--auto", "--draws", "2", "--features", "1,2", "--jobs", "1")
    assert compared.exit_code == 0, compared.output
    assert "note: comparing subset, laplacian, fisher; --method chooses others" in compared.output


def test_what_is_said_goes_before_what_is_guessed(csv):
    result = run("rank", csv, "--auto", "--target", "colour", "--id", "remark", "--include", "class")
    assert result.exit_code == 0, result.output
    assert "note: --auto: --drop unit\n" in result.output
    assert ",class," not in result.output.splitlines()[-1]
    assert "\nclass," in result.output


def test_select_keeps_as_many_as_a_set_needs(csv, tmp_path):
    result = run("select", csv, "--target", "class", "--out", tmp_path / "s.csv")
    assert result.exit_code == 0
    assert re.search(r"features, which explain \d+% of what all features explain, by subset", result.output)
    assert re.search(r"features: accuracy [.\d]+ on held-out rows, all features [.\d]+, \d+ random ones", result.output)


def test_report_with_auto(csv, tmp_path):
    pytest.importorskip("matplotlib")
    result = run("report", csv, "--auto", "--out", tmp_path / "r.html")
    assert result.exit_code == 0, result.output
    assert "colour" in (tmp_path / "r.html").read_text()


# ---------------------------------------------------------------- titles


TITLES = "Results of 2020\n\nMade by hand;;\n"


@pytest.mark.parametrize("title", [TITLES, "Results\n", "Results of 2020,,\n", "# a comment\n# another\n"])
def test_titles_above_a_csv_table(title, write):
    body = "a,b,c\n1,2,3\n4,5,6\n7,8,10\n"
    with pytest.warns(UserWarning, match=r"title and (is|are) skipped; use skip_rows=0 if this belongs"):
        found = read_table(write(title + body))
    assert found.feature_names.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(found.X, [[1, 2, 3], [4, 5, 6], [7, 8, 10]])
    lines = title.count("\n")
    said = read_table(found.source, skip_rows=lines)  # a warning would be an error here
    np.testing.assert_array_equal(said.X, found.X)
    small = write_table(found.source.with_name("s.csv"), found, [1])
    assert small.read_text() == "b\n2\n5\n8\n"


def test_lines_are_counted_from_the_top_of_the_file(write):
    text = "A title\na,b\n1,2\n3,4x\n5,6\n7,8\n"
    with pytest.raises(ValueError, match="line 4, column 'b': '4x' is not a number"):
        read_table(write(text), skip_rows=1)


def test_a_ragged_table_has_no_title(write):
    with pytest.raises(ValueError, match="line 3 has 3 cells, but the header has 2"):
        read_table(write("a,b\n1,2\n3,4,5\n6,7,8\n"))


def test_a_single_name_of_r_is_no_title(write):
    found = read_table(write("a\nr1,1\nr2,2\nr3,4\n"))
    assert found.feature_names.tolist() == ["a"]
    assert found.row_ids.tolist() == ["r1", "r2", "r3"]
    with pytest.warns(UserWarning, match="the first line is a title"):
        found = read_table(write("A title\nx,z\n1,2\n3,4\n"))
    assert found.feature_names.tolist() == ["x", "z"]


def test_titles_above_a_sheet(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["Results"], [], ["a", "b"], [1, 2], [3, 4], [5, 7]):
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    with pytest.warns(UserWarning, match="the first 2 lines are a title"):
        found = read_table(tmp_path / "t.xlsx")
    np.testing.assert_array_equal(found.X, [[1, 2], [3, 4], [5, 7]])
    np.testing.assert_array_equal(read_table(tmp_path / "t.xlsx", skip_rows=2).X, found.X)
    small = read_table(write_table(tmp_path / "s.xlsx", found, [1]))
    assert small.feature_names.tolist() == ["b"]


def test_skip_rows_on_the_command_line(write):
    path = write("A title\n1,2,3\na,b,c\n1,2,3\n4,5,6\n7,8,10\n")
    result = run("rank", path, "--skip-rows", "2", "-m", "variance", "-q")
    assert result.output.splitlines()[1].startswith("c,")


# ---------------------------------------------------------------- one feature per row


@pytest.fixture
def genes(tmp_path, rng):
    """Genes in rows, with correlated samples in columns."""
    X = rng.normal(size=(60, 10)) + 3 * rng.normal(size=(60, 1))
    frame = pd.DataFrame(X, index=[f"g{j}" for j in range(60)], columns=[f"s{i}" for i in range(10)])
    frame.rename_axis("gene").to_csv(tmp_path / "genes.csv")
    return frame, tmp_path / "genes.csv"


def test_a_file_with_one_feature_per_row(genes, tmp_path):
    frame, path = genes
    found = read_table(path, transpose=True)
    np.testing.assert_allclose(found.X, frame.to_numpy().T)
    assert found.feature_names.tolist() == frame.index.tolist()
    assert found.row_ids.tolist() == frame.columns.tolist()
    small = pd.read_csv(write_table(tmp_path / "s.csv", found, [4, 7]), index_col=0)
    pd.testing.assert_frame_equal(small, frame.iloc[[4, 7]], check_names=False)


def test_labels_in_a_row(tmp_path):
    (tmp_path / "t.csv").write_text("gene,s1,s2,s3,s4\nkind,a,b,a,b\ng1,1,2,1,2\ng2,5,1,4,8\n")
    found = read_table(tmp_path / "t.csv", transpose=True, target="kind")
    assert found.y.tolist() == ["a", "b", "a", "b"]
    np.testing.assert_array_equal(found.X, [[1, 5], [2, 1], [1, 4], [2, 8]])


def test_a_matrix_is_turned(tmp_path, rng):
    X = rng.normal(size=(30, 4))
    np.save(tmp_path / "X.npy", X)
    np.testing.assert_array_equal(read_table(tmp_path / "X.npy", transpose=True).X, X.T)


def test_rows_that_look_like_features_are_noticed(genes, tmp_path, rng):
    _, path = genes
    found = fiedler.look(path)
    assert found.rows_are == "features"
    assert "rows look like features and columns like samples" in repr(found)
    assert found.command == f"fiedler rank {path} --transpose"
    assert run("rank", path, "--auto", "-m", "laplacian", "-q").output.splitlines()[1].startswith("g")
    # Customers with unlike columns are no features.
    other = pd.DataFrame(rng.normal(size=(60, 10)), columns=[f"v{j}" for j in range(10)])
    other.insert(0, "name", [f"customer {i}" for i in range(60)])
    other.to_csv(tmp_path / "other.csv", index=False)
    assert fiedler.look(tmp_path / "other.csv").rows_are == "samples"


# ---------------------------------------------------------------- mixed files


def mixed_files(folder):
    """The same table in every format that has columns."""
    frame = table()[["the size", "weight", "colour", "day", "class"]]
    frame.to_csv(folder / "t.csv", index=False)
    yield folder / "t.csv"
    pytest.importorskip("pyarrow")
    frame.to_parquet(folder / "t.parquet", index=False)
    yield folder / "t.parquet"
    frame.to_feather(folder / "t.feather")
    yield folder / "t.feather"
    pytest.importorskip("openpyxl")
    frame.to_excel(folder / "t.xlsx", index=False)
    yield folder / "t.xlsx"
    pytest.importorskip("arff")
    kinds = ["'the size' numeric", "weight numeric", "colour {red,green,blue}", "day string", "class {a,b}"]
    rows = frame.to_csv(index=False, header=False, na_rep="?")
    (folder / "t.arff").write_text("\n".join(["@relation r", *(f"@attribute {k}" for k in kinds), "@data", rows]))
    yield folder / "t.arff"


def test_every_format_keeps_categories_dates_and_holes(tmp_path):
    with pytest.warns(fiedler.TableWarning):
        expected = Problem.of(table()[["the size", "weight", "colour", "day"]])
    for path in mixed_files(tmp_path):
        with pytest.warns(UserWarning, match="not purely numeric"):
            found = read_table(path, target="class")
        assert found.feature_names.tolist() == ["the size", "weight", "colour", "day"], path
        assert found.shape == (N, 4)
        assert found.groups.owner.tolist() == [0, 1, 2, 2, 2, 3]
        assert int(np.isnan(found.X).sum()) == 6
        problem = Problem.read(found.prepared, found.feature_names)
        np.testing.assert_allclose(problem.X, expected.X, atol=1e-12)
        assert found.y.tolist() == table()["class"].tolist()


def test_a_reduced_mixed_table_keeps_its_values(tmp_path):
    for path in mixed_files(tmp_path):
        with pytest.warns(UserWarning, match="not purely numeric"):
            found = read_table(path, target="class")
        written = write_table(path.with_stem("s"), found, [2, 3])
        with pytest.warns(UserWarning, match="not purely numeric"):
            small = read_table(written, target="class")
        assert small.feature_names.tolist() == ["colour", "day"]


def test_ordered_categories_of_parquet_are_numbers(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"a": np.arange(12.0) % 5, "size": pd.Categorical(["s", "m", "l"] * 4, ["s", "m", "l"], True)})
    frame.to_parquet(tmp_path / "t.parquet")
    found = read_table(tmp_path / "t.parquet")
    assert found.groups is None
    np.testing.assert_array_equal(found.X[:, 1], [0, 1, 2] * 4)


def test_impute_leaves_categories_alone(tmp_path):
    frame = table()[["the size", "weight", "colour"]]
    frame.loc[2, "colour"] = None
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert run("rank", tmp_path / "t.csv", "--impute", "median", "-q").exit_code == 0


def test_codes_are_declared_as_categories(tmp_path):
    frame = pd.DataFrame({"code": [0, 1, 2, 3] * 8, "size": np.random.default_rng(0).normal(size=32), "b": [1, 2] * 16})
    frame.loc[5, "code"] = np.nan
    frame.to_csv(tmp_path / "t.csv", index=False)
    found = fiedler.look(tmp_path / "t.csv")
    assert "few whole numbers in 1 column ('code'): if they are codes without an order, use --category COL" in repr(
        found
    )
    assert "astype('category')" in repr(fiedler.look(frame))
    for kind in ("csv", "parquet"):
        if kind == "parquet":
            pytest.importorskip("pyarrow")
            frame.to_parquet(tmp_path / "t.parquet")
        with pytest.warns(UserWarning, match="Read as categories, each of them one feature: 'code'"):
            table = read_table(tmp_path / f"t.{kind}", categories="code")
        assert table.groups.owner.tolist() == [0, 0, 0, 0, 1, 2]
        assert [len(levels) for levels in table.groups.levels.values()] == [4]
    result = run("rank", tmp_path / "t.csv", "--category", "code", "--category", "b")
    assert result.exit_code == 0
    assert "each of them one feature: 'code', 'b'" in result.output
    with pytest.raises(ValueError, match="column 'b' is named as a category, but is no feature"):
        read_table(tmp_path / "t.csv", categories=["b"], target="b")


def test_all_codes(tmp_path):
    pd.DataFrame({"a": [0, 1, 2] * 5, "b": [1, 2, 4] * 5, "y": list("uvw") * 5}).to_csv(tmp_path / "t.csv", index=False)
    with pytest.warns(UserWarning, match="not purely numeric"):
        table = read_table(tmp_path / "t.csv", target="y", categories="all")
    assert table.groups.levels == {0: ["0", "1", "2"], 1: ["1", "2", "4"]}


def test_errors_about_columns_can_be_pasted(tmp_path):
    frame = table()[["the size", "weight", "again"]].assign(**{"hardly known": [1.0, 2.0] + [np.nan] * (N - 2)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    noted = run("rank", tmp_path / "t.csv")
    assert noted.exit_code == 0
    assert "Not used: 'hardly known' (fewer than 5 known values)" in noted.output
    assert run("rank", tmp_path / "t.csv", "--auto").exit_code == 0
    failed = run("rank", tmp_path / "t.csv", "--auto", "-m", "evsc")
    assert "fill them first with --impute median, or use" in failed.output
    failed = run("rank", tmp_path / "t.csv", "--auto", "--significance")
    assert "fill them first with --impute median" in failed.output


def test_the_report_names_levels(tmp_path):
    pytest.importorskip("matplotlib")
    from fiedler.report import render_html, summarize

    X, y = table()[["the size", "colour"]], table()["class"]
    with pytest.warns(fiedler.TableWarning):
        selector = SpectralSelector("laplacian").fit(X)
    summary = summarize(selector, X, y)
    drawn = {about["feature"]: about for about in summary["distributions"]["features"]}
    assert drawn["colour"]["levels"] == ["blue", "green", "red"]
    assert "levels" not in drawn["the size"]
    page = render_html(summary)
    assert "3 levels" in page
    low, high = (f(X["the size"]) for f in (np.nanmin, np.nanmax))
    assert low - 1 <= drawn["the size"]["low"] <= drawn["the size"]["high"] <= high + 1  # in its own unit


def test_numbers_in_another_notation_are_no_ids(tmp_path, rng):
    frame = pd.DataFrame({"price": [f"${x:,.2f}" for x in rng.random(N) * 5000], "a": rng.normal(size=N)})
    frame["seen"] = [f"{1 + i % 12}/{1 + i % 28}/2024" for i in range(N)]
    frame["name"] = [f"Plant {i}" for i in range(N)]
    found = fiedler.look(frame)
    assert [line.role for line in found.columns] == ["text", "feature", "text", "id"]
    assert "no plain numbers or dates: 'price' ('$" in repr(found)
    assert found.guesses["drop"] == ("price", "seen")


def test_dates_with_dots(tmp_path):
    days = [f"{1 + i % 28}.{1 + i % 12}.2024" for i in range(N)]
    column = fiedler.look(pd.DataFrame({"a": np.arange(N) % 7, "day": days})).columns[1]
    assert (column.kind, column.role) == ("date", "feature")


def test_what_a_page_exports_reads_the_file_in_the_same_way(tmp_path, monkeypatch):
    from fiedler.explore import Origin, Session

    monkeypatch.chdir(tmp_path)
    frame = table()[["the size", "weight", "colour"]].assign(code=[0, 1, 2, 3] * 10)
    (tmp_path / "t.csv").write_text("A title\n" + frame.to_csv(index=False))
    with pytest.warns(UserWarning, match="each of them one feature: 'colour', 'code'"):
        read = read_table("t.csv", skip_rows=1, categories=["code"])
    problem = Problem.read(read.prepared, read.feature_names)
    origin = Origin("t.csv", {"skip_rows": 1, "category": ("code",)})
    session = Session(problem, feature_names=read.feature_names, n_features=2, origin=origin)
    command = session.handle({"type": "export", "what": "command"})["text"].splitlines()[-1]
    assert "--skip-rows 1" in command
    assert "--category code" in command
    assert run(*shlex.split(command)[1:]).exit_code == 0
    space = {}
    with pytest.warns(UserWarning, match="each of them one feature: 'colour', 'code'"):
        exec(session.handle({"type": "export", "what": "script"})["text"], space)
    ranked = pd.read_csv("ranking.csv")["feature"].tolist()
    assert space["selected"] == ranked[: len(space["selected"])]


@pytest.mark.parametrize("target", [[], ["--target", "weight"]])
def test_auto_reads_the_file_and_the_free_memory_once(csv, monkeypatch, target):
    """The look and the table share the cells; only a target or an id of numbers is fetched as text once more."""
    opened, usual = [], open

    def counting_open(file, *args, **options):
        opened.append(str(file))
        return usual(file, *args, **options)

    monkeypatch.setattr("builtins.open", counting_open)
    monkeypatch.setattr("io.open", counting_open)
    assert run("rank", csv, "--auto", *target).exit_code == 0
    assert 2 <= opened.count(str(csv)) <= 3
    assert opened.count("/proc/meminfo") <= 1
