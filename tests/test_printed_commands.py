"""Every command that ``look`` prints is run, on real tables and on thirty messy files."""

import os
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import fiedler
from fiedler import SpectralSelector
from fiedler.cli import main

REAL = sorted(Path(os.environ.get("FIEDLER_DATA", "/nowhere")).glob("tables/*.csv"))
N = 40


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def plants(units=False, seed=0):
    """A table of plants; the state is its target."""
    rng = np.random.default_rng(seed)
    ill = rng.random(N) < 0.4
    columns = {
        "plant": [f"p{i}" for i in range(N)],
        "height": (rng.normal(50, 10, N) - 15 * ill).round(2),
        "leaves": rng.poisson(12, N) - 4 * ill,
        "weight": (rng.normal(5, 1, N) - 2 * ill).round(3),
        "soil": rng.choice(["sand", "clay", "loam"], N),
        "state": np.where(ill, "ill", "well"),
    }
    names = {"height": "height (cm)", "weight": "weight, g", "leaves": "leaves [n]"} if units else {}
    return pd.DataFrame(columns).rename(columns=names)


def spectra(seed=0):
    rng = np.random.default_rng(seed)
    octane = rng.normal(87, 2, N)
    waves = np.arange(900, 1700, 20)
    X = rng.normal(size=(N, len(waves))) * 0.01 + np.outer(octane - 87, np.sin(waves / 100)) * 0.02
    return pd.DataFrame(X.round(5), columns=[f"{wave} nm" for wave in waves]).assign(Octane=octane.round(2))


def text(frame, sep=",", decimal=".", above="", below=""):
    return above + frame.to_csv(index=False, sep=sep, decimal=decimal) + below


def with_holes(frame, share=0.2):
    return frame.mask(np.random.default_rng(3).random(frame.shape) < share)


def empty_columns(frame, many=3):
    lines = frame.to_csv(index=False, sep=";").splitlines()
    return "\n".join(line + ";" * many for line in lines) + "\n"


def between(frame):
    """Columns without a name, some of them with values."""
    wide = frame.assign(u1="", u2=np.arange(N) % 7, u3="", u4=np.arange(N) % 5)[
        ["plant", "u1", "height", "u2", "leaves", "u3", "u4", "state"]
    ]
    lines = wide.to_csv(index=False).splitlines()
    return "\n".join(["plant,,height,,leaves,,,state", *lines[1:]]) + "\n"


def ids(frame):
    no = np.arange(N) + 61000
    no[::10] = no[1::10]
    return frame.assign(Id=no)


TEXTS = {
    "plain": lambda: text(plants()),
    "title": lambda: text(plants(), above="Plants of the garden\n\n"),
    "titles of several cells": lambda: text(plants(), above="Operator,Smith,,,,\nDate,2024-05-01,,,,\n"),
    "titles of their own width": lambda: text(plants(), ";", ",", above="Operator;Smith\nDate;2024-05-01\n\n"),
    "decimal commas": lambda: text(plants(), ";", ","),
    "decimal commas, tabs": lambda: text(plants(), "\t", ","),
    "units": lambda: text(plants(units=True)),
    "units, decimal commas": lambda: text(plants(units=True), ";", ","),
    "a row of units": lambda: text(plants()).replace("\n", "\n,cm,n,g,,\n", 1),
    "names of two lines": lambda: text(plants().rename(columns={"plant": "the\nplant", "height": "height\n(cm)"}), "|"),
    "ids that repeat": lambda: text(ids(plants())),
    "row numbers": lambda: text(plants().assign(no=np.arange(N) + 1)),
    "an index without a name": lambda: plants().to_csv(),
    "empty rows of another width": lambda: text(plants(), below=",,\n,,,,,,,,,,\n"),
    "empty rows": lambda: text(plants(), below=",,,,,\n" * 3),
    "a row without values": lambda: text(plants()).replace("\np7,", "\n,,,,,\np7,", 1),
    "empty columns": lambda: empty_columns(plants()),
    "400 empty columns": lambda: empty_columns(plants(), 400),
    "columns without names": lambda: between(plants()),
    "repeated names": lambda: text(plants()).replace("weight", "height", 1),
    "missing values": lambda: text(with_holes(plants())),
    "typing errors": lambda: text(plants().astype(object).where(lambda f: f != f.loc[3], "n.d.")),
    "other notations": lambda: text(plants().astype({"weight": object}).assign(weight=["<0.1", *plants().weight[1:]])),
    "a constant": lambda: text(plants().assign(unit="cm", batch=3)),
    "truth values": lambda: text(plants().assign(wet=plants().height > 50)),
    "dates": lambda: text(plants().assign(day=[f"{1 + i % 28}.{1 + i % 12}.2024" for i in range(N)])),
    "spectra": lambda: text(spectra()),
    "spectra, decimal commas": lambda: text(spectra(), ";", ","),
    "no header": lambda: "\n".join(text(plants()).splitlines()[1:]) + "\n",
    "names that are not printable": lambda: text(plants().assign(**{"remark\x07": [f"r{i}" for i in range(N)]})),
    "only an id and a class": lambda: text(plants()[["plant", "state"]]),
    "two rows": lambda: text(plants().head(2)),
    "one row": lambda: text(plants().head(1)),
}
ENCODED = {"utf-16": "utf-16", "windows": "cp1252", "mac line ends": "utf-8"}
NOTHING = {"two rows", "one row"}  # to run


@pytest.fixture
def made(request, tmp_path):
    path = tmp_path / "a table.csv"
    path.write_text(TEXTS[request.param](), encoding="utf-8")
    return path


def printed(path):
    """What ``look`` prints: the text, and the command."""
    looked = run("look", path)
    assert looked.exit_code == 0, looked.output
    return looked.stdout, shlex.split(looked.stdout.partition("Run this:")[2])


def assert_runs(path):
    shown, command = printed(path)
    assert len(shown.splitlines()) < 100
    assert command[:2] == ["fiedler", "rank"]
    done = run(*command[1:], "--screen", "none")
    assert done.exit_code == 0, (shown, done.output)
    rows = [line.split(",") for line in done.stdout.splitlines()[1:]]
    assert any(row[-2] == "1" or row[-3] == "1" for row in rows), done.stdout
    auto = run("rank", path, "--auto", "--screen", "none")
    assert (auto.exit_code, auto.stdout) == (0, done.stdout), auto.output
    assert max(map(len, auto.stderr.splitlines())) < 1000
    return shown, command


@pytest.mark.parametrize("path", REAL, ids=[path.stem for path in REAL])
def test_commands_for_real_tables(path):
    assert_runs(path)


@pytest.mark.parametrize("made", sorted(TEXTS.keys() - NOTHING), indirect=True)
def test_commands_for_messy_files(made):
    assert_runs(made)


@pytest.mark.parametrize("made", sorted(NOTHING), indirect=True)
def test_no_command_is_printed_if_none_can_work(made):
    shown, command = printed(made)
    assert command == []
    assert "No method can use this table as it is." in shown


@pytest.mark.parametrize("encoding", ENCODED)
def test_commands_for_other_encodings(tmp_path, encoding):
    frame = plants().rename(columns={"height": "größe", "soil": "böden"})
    content = text(frame, ";", ",").replace("\n", "\r" if encoding == "mac line ends" else "\r\n")
    (tmp_path / "t.csv").write_bytes(content.encode(ENCODED[encoding]))
    shown, _ = assert_runs(tmp_path / "t.csv")
    assert "größe" in shown


# -------------------------------------------------------------------- workbooks


def book(path, **sheets):
    openpyxl = pytest.importorskip("openpyxl")
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name.replace("_", " "))
        for row in rows:
            sheet.append(row)
    made.save(path)
    return path


def rows_of(frame):
    return [list(frame.columns), *frame.astype(object).where(frame.notna(), None).values.tolist()]


SPACE = [None] * 400
BOOKS = {
    "plain": {"plants": rows_of(plants())},
    "title": {"plants": [["Plants of the garden"], [], *rows_of(plants())]},
    "a wide row of facts": {"spectra": [["Instrument", "X 200", "Date", "May"], *rows_of(spectra())]},
    "notes first": {"read_me": [["Measured in May"], ["by Smith"], ["with care"]], "the_data": rows_of(plants())},
    "facts first": {"about": [["author", "Smith"], ["year", 2024], ["site", "A"]], "data": rows_of(spectra())},
    "an empty sheet first": {"Sheet1": [], "data": rows_of(plants())},
    "empty columns": {"data": [[*row, *SPACE, None] for row in rows_of(plants())]},
    "a note far to the right": {
        "data": [*rows_of(plants())[:1], [*rows_of(plants())[1], *SPACE, "check"], *rows_of(plants())[2:]]
    },
}


@pytest.mark.parametrize("name", BOOKS)
def test_commands_for_workbooks(tmp_path, name):
    shown, command = assert_runs(book(tmp_path / "t.xlsx", **BOOKS[name]))
    if len(BOOKS[name]) > 1:
        second = list(BOOKS[name])[1].replace("_", " ")
        assert command[command.index("--sheet") + 1] == second
        assert f"sheet {second!r} of" in shown


# -------------------------------------------------------------------- roles


def test_a_file_with_rows_of_delimiters_below_its_table_is_written_with_fewer_columns(tmp_path):
    (tmp_path / "t.csv").write_text(text(plants(), ";", ",", below=";;\n"))
    done = run("select", tmp_path / "t.csv", "--auto", "--top", "1", "--out", tmp_path / "s.csv")
    assert done.exit_code == 0, done.stderr
    assert pd.read_csv(tmp_path / "s.csv", sep=";").shape == (N, 2)


def roles(path_or_frame):
    return {line.name: line.role for line in fiedler.look(path_or_frame).columns}


def test_a_column_called_id_may_repeat_some_values():
    assert roles(ids(plants()))["Id"] == "id"
    assert roles(ids(plants()).rename(columns={"Id": "width"}))["width"] == "feature"
    assert roles(plants().assign(Id=np.arange(N) % 4))["Id"] == "feature"
    assert roles(plants().assign(household_id=500 + np.arange(N) // 3))["household_id"] == "id"
    assert roles(plants().assign(plant=[f"p{i}" if i else None for i in range(N)]))["plant"] == "id"


def test_the_only_number_among_wavelengths_is_the_target():
    assert roles(spectra())["Octane"] == "target candidate"
    plain = spectra().rename(columns=lambda name: name.replace(" nm", ""))
    assert roles(plain)["Octane"] == "target candidate"
    assert roles(plain.assign(batch=np.arange(N) % 4))["Octane"] == "target candidate"
    assert "target candidate" not in roles(plain.assign(density=plain["Octane"] ** 2)).values()
    assert "target candidate" not in roles(plants()[["height", "leaves", "weight"]]).values()


@pytest.mark.filterwarnings("ignore::fiedler.TableWarning")
@pytest.mark.parametrize(
    "make",
    [plants, spectra, lambda: waves(), lambda: ids(plants()), lambda: with_holes(plants()), lambda: empty_frame()],
)
def test_lines_of_python_work(make):
    command = fiedler.look(make()).command
    assert len(command) < 500
    assert eval(command, {"SpectralSelector": SpectralSelector, "frame": make()}).n_features_ > 0


def waves():
    """Wavelengths as pandas reads them from Excel: numbers as names, beside texts."""
    return spectra().rename(columns=lambda name: int(name[:-3]) if name.endswith(" nm") else name).assign(batch=3.5)


def empty_frame():
    return plants().assign(**{f"Unnamed: {j}": np.nan for j in range(40)})


def test_a_table_whose_cells_are_all_wrong_is_looked_at(tmp_path):
    rows = "\n".join(",".join(f"{i}.{j}.{i}" if (i + j) % 3 else str(i) for j in range(12)) for i in range(N))
    (tmp_path / "t.csv").write_text(",".join("abcdefghijkl") + "\n" + rows)
    shown, command = printed(tmp_path / "t.csv")
    assert f"{N} rows, 12 columns" in shown
    assert command == [] or run(*command[1:]).exit_code == 0


def test_labels_of_an_anndata_are_listed(tmp_path):
    anndata = pytest.importorskip("anndata")
    rng = np.random.default_rng(0)
    obs = pd.DataFrame({"cell_type": ["B", "T"] * 20, "depth": rng.normal(size=N)}, index=[f"c{i}" for i in range(N)])
    anndata.AnnData(rng.normal(size=(N, 12)), obs).write_h5ad(tmp_path / "t.h5ad")
    shown, command = printed(tmp_path / "t.h5ad")
    assert "obs holds 'cell_type' (2), 'depth' (number)" in shown
    assert command[-2:] == ["--target", "cell_type"]
    assert run(*command[1:]).exit_code == 0


def test_a_sheet_without_a_table_names_another(tmp_path):
    for notes in ([], [["a note"], ["another note"], *([f"line {i}"] for i in range(20))]):
        path = book(tmp_path / "t.xlsx", notes=notes, plants=rows_of(plants()))
        failed = run("rank", path)
        assert failed.exit_code == 1
        assert failed.stderr.rstrip().endswith("choose another sheet with --sheet plants.")
        assert run("rank", path, "--sheet", "plants").exit_code == 0
