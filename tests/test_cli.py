"""The command line, in-process and as a subprocess, with good and with bad input."""

import json
import os
import pickle
import re
import shlex
import signal
import subprocess
import sys
import time
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from fiedler import METHODS, SpectralSelector
from fiedler.cli import METHOD_NAMES, main
from fiedler.evaluate import cells
from fiedler.io import read_table

SECONDS = 300  # that a process may take


def said(err):
    """What a command said on stderr, without progress: only a slow machine shows it."""
    return "".join(line for line in err.splitlines(keepends=True) if not re.search(r": \d+ %(, .* left.*)?$", line))


def run(*arguments):
    """A command in-process: exit code, stdout, stderr."""
    result = CliRunner().invoke(main, list(map(str, arguments)), prog_name="fiedler")
    return result.exit_code, result.stdout, said(result.stderr)


def spawn(*arguments, **options):
    """The same as a process of its own."""
    command = [sys.executable, "-m", "fiedler", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, **options)
    return done.returncode, done.stdout, said(done.stderr)


def fails(message, *arguments, code=1):
    """A command that must fail with one line that holds the message."""
    found, out, err = run(*arguments)
    lines = [line for line in err.splitlines() if not line.startswith("note:")]
    assert (found, out, len(lines)) == (code, "", 1), (found, out, err)
    assert lines[0].startswith("fiedler: ")
    assert message in lines[0]


def rows(text):
    return [line.split(",") for line in text.splitlines()]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def data(folder, blobs):
    """A CSV with ids, eight features and a class that is known for twelve rows."""
    X, y = blobs
    lines = ["id," + ",".join(f"f{j}" for j in range(8)) + ",kind"]
    for i, (x, label) in enumerate(zip(X.tolist(), y, strict=True)):
        lines.append(",".join([f"r{i}", *map(repr, x), "abc"[label] if i % 15 < 4 else ""]))
    Path("data.csv").write_text("\n".join(lines) + "\n")
    return "data.csv"


def common(*extra):
    return ("--target", "kind", "--id", "id", *extra)


# ---------------------------------------------------------------- rank


def test_rank_is_the_library_s_ranking(data):
    method = "sselect[lam=0.3,graph=knn[n_neighbors=4]]"
    code, out, err = run("rank", data, *common("-m", method))
    assert (code, err) == (0, "")
    table = read_table(data, target="kind", id_column="id")
    selector = SpectralSelector(method).fit(table.X, table.y)
    header, *body = rows(out)
    assert header == ["feature", "score", "rank"]
    assert [row[0] for row in body] == table.feature_names[selector.order_].tolist()
    assert [float(row[1]) for row in body] == selector.scores_[selector.order_].tolist()
    assert [int(row[2]) for row in body] == list(range(1, 9))


def test_rank_writes_files(data, folder):
    code, out, err = run("rank", data, *common("-m", "fisher", "--top", 3, "--out", "r.json"))
    assert (code, out, err) == (0, "", "wrote r.json\n")
    found = json.loads(Path("r.json").read_text())
    assert len(found["features"]) == 3
    assert (found["method"], found["direction"], found["n_samples"]) == ("fisher", "large is good", 45)
    fails("exists; use --force", "rank", data, *common("-m", "fisher", "--out", "r.json"))
    assert run("rank", data, *common("-m", "fisher", "--out", "r.json", "--force", "-q")) == (0, "", "")
    assert sorted(p.name for p in folder.iterdir()) == ["data.csv", "r.json"]


def test_rank_with_stability(data):
    arguments = ("rank", data, *common("-m", "fisher", "--top", 3, "--stability", 5))
    code, out, err = run(*arguments, "--seed", 1)
    assert code == 0
    assert "note: 5 draws of 80 % of the rows" in err
    header, *body = rows(out)
    assert header == ["feature", "score", "rank", "frequency"]
    assert all(0 <= float(row[3]) <= 1 for row in body)
    assert run(*arguments, "--seed", 1, "--jobs", 1)[1] == out


@pytest.mark.parametrize(("method", "number"), [("fisher", 4), ("subset", None)])
def test_stability_without_a_number_never_compares_all_features(data, method, number):
    code, out, err = run("rank", data, *common("-m", method, "--stability", 5))
    assert code == 0
    found = re.search(r"5 draws of 80 % of the rows: the first (\d+) features \(--top sets this number\) overlap", err)
    k, frequency = int(found[1]), [float(row[-1]) for row in rows(out)[1:]]
    assert k < len(frequency) == 8
    assert sum(frequency) == pytest.approx(k)
    if number is None:  # as many as explain nine tenths
        explained = [float(row[3]) for row in rows(out)[1:]]
        number = next(place for place, share in enumerate(explained, 1) if share >= 0.9)
    assert k == number


def test_near_copies_are_passed_over_in_a_whole_ranking(folder, rng):
    X = rng.normal(size=(40, 3)) * [3, 2, 1]
    np.savetxt("t.csv", np.c_[X, 2.9 * X[:, 0]], delimiter=",", header="a,b,c,copy", comments="")
    code, out, _ = run("rank", "t.csv", "-m", "variance", "--redundancy", "0.9")
    assert code == 0
    assert [(row[0], row[3]) for row in rows(out)[1:]] == [("copy", "a"), ("b", ""), ("c", ""), ("a", "")]


@pytest.mark.parametrize(("carrying", "words"), [(29, "nearly all"), (18, "more than half")])
def test_significance_speaks_of_the_alpha_that_was_asked_for(folder, rng, carrying, words):
    X = rng.normal(size=(80, 30)) + np.outer(np.repeat([0.0, 3.0], 40), np.arange(30) < carrying)
    np.savetxt("t.csv", X, delimiter=",", header=",".join(f"f{j}" for j in range(30)), comments="")
    code, out, err = run("rank", "t.csv", "-m", "laplacian", "--significance", "--alpha", "0.01")
    assert code == 0
    found = sum(float(row[4]) <= 0.01 for row in rows(out)[1:])
    assert f"{found} of 30 features are significant (q <= 0.01)" in err
    assert f"and {words} of them follow it" in err
    assert f"{found} of 30 features are more than noise at a false discovery rate of 0.01" in err


KNOWN = {
    "no labels": (("--id", "id", "--id", "kind"), "laplacian"),
    "class labels": (common(), "sselect"),
    "the target": (("--id", "id", "--id", "kind", "--target", "f0"), "ssls"),
    "pairs": (("--id", "id", "--id", "kind", "--pairs", "pairs.txt"), "constraint"),
}


@pytest.mark.parametrize("known", KNOWN)
def test_the_method_reads_what_is_known(data, known, monkeypatch):
    options, ranking = KNOWN[known]
    Path("pairs.txt").write_text("r0 r1 must\nr0 r20 cannot\n")
    code, out, err = run("rank", data, *options)
    assert code == 0
    assert f"note: method subset, a set of features chosen with {known};" in err
    assert rows(out)[0] == ["feature", "gain", "rank", "explained"]
    assert len(rows(out)) > 7
    monkeypatch.setattr("fiedler.cli.run.can_be_formed", lambda X: False)  # a ranking where a set would be too large
    assert f"note: method {ranking}, chosen by what is known" in run("rank", data, *options)[2]


def test_near_copies_are_passed_over(data):
    code, out, _ = run("rank", data, *common("-m", "variance", "--top", 3, "--redundancy", "0.2"))
    assert code == 0
    header, *body = rows(out)
    assert header == ["feature", "score", "rank", "stands_for"]
    assert any(row[3] for row in body)
    assert run("rank", data, *common("-m", "variance", "--top", 3, "--redundancy"))[0] == 0
    fails("--redundancy", "rank", data, *common("--redundancy", "2"), code=2)


def test_as_many_as_a_set_says(data):
    assert run("select", data, *common("--top", "auto", "--out", "small.csv"))[0] == 0
    fails(
        "--top='auto' needs a criterion that chooses sets",
        "select",
        data,
        *common("-m", "variance", "--top", "auto", "--out", "s.csv"),
    )
    code, _, err = run("report", data, *common("-m", "subset", "--out", "sets.html"))
    assert code == 0, err
    page = Path("sets.html").read_text(encoding="utf-8")
    assert "Explained by the first features" in page
    assert "90 % of what all features explain" in page


def test_pairs_and_label_files(data):
    Path("must.csv").write_text("r0,r1\n")
    Path("cannot.csv").write_text("r0,r20\n")
    Path("labels.csv").write_text("row,kind\nr0,a\nr20,b\nr1,a\n")
    base = ("rank", data, "--id", "id", "--id", "kind", "-m", "constraint[variant=1]")
    by_files = run(*base, "--must-link", "must.csv", "--cannot-link", "cannot.csv")
    Path("both.csv").write_text("r0,r1,must\nr0,r20,cannot\n")
    assert by_files == run(*base, "--pairs", "both.csv")
    assert by_files[0] == 0
    assert run(*base, "--labels", "labels.csv")[0] == 0


def test_formulas_of_methods(data):
    code, out, err = run("rank", data, *common("-m", "laplacian * constraint[variant=1]"))
    assert (code, err, len(rows(out))) == (0, "", 9)


def test_notes_are_single_lines_and_can_be_silenced(data):
    arguments = ("rank", data, *common("-m", "laplacian[graph=knn[n_neighbors=100]]", "--top", 99))
    code, out, err = run(*arguments)
    notes = err.splitlines()
    assert code == 0
    assert all(line.startswith("note: ") for line in notes)
    assert any("the graph is complete" in line for line in notes)
    assert any("--top 99, but data.csv has only 8 features" in line for line in notes)
    assert any("laplacian[graph=knn[n_neighbors=100]] reads no labels" in line for line in notes)
    assert run(*arguments, "--quiet") == (0, out, "")


def test_unknown_labels_by_another_name(folder):
    rng = np.random.default_rng(0)
    lines = [",".join([*map(str, rng.normal(size=3)), label]) for label in ["-1", "1", "7"] * 8]
    Path("t.csv").write_text("a,b,c,y\n" + "\n".join(lines))
    assert run("rank", "t.csv", "--target", "y", "-m", "fisher", "--unlabeled", 7)[0] == 0
    Path("t.csv").write_text("a,b,c,y\n" + "\n".join(lines).replace(",7", ",1"))
    fails("Pass --unlabeled none if both are classes", "rank", "t.csv", "--target", "y", "-m", "fisher")
    assert run("rank", "t.csv", "--target", "y", "-m", "fisher", "--unlabeled", "none")[0] == 0


def test_a_terminal_gets_a_table(data, monkeypatch):
    from fiedler.cli.screen import Screen

    monkeypatch.setenv("COLUMNS", "100")
    with CliRunner().isolation() as streams:
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
        Screen().table({"feature": np.array(["[red]x", "y\x1b[31m"]), "score": np.array([0.5, np.nan])}, "t", top=1)
        Screen().table({"feature": np.array(["y\x1b[31m"])})
        text = streams[0].getvalue().decode()
    assert "[red]x" in text
    assert "... 1 more" in text
    assert "y?[31m" in text


# ---------------------------------------------------------------- the other commands


def test_select(data):
    code, out, err = run("select", data, *common("-m", "fisher", "--top", 2, "--out", "small.csv"))
    assert (code, out) == (0, "")
    assert err == "wrote small.csv: 2 of 8 features by fisher\n"
    whole, small = (read_table(path, target="kind", id_column="id") for path in (data, "small.csv"))
    best = SpectralSelector("fisher", n_features_to_select=2).fit(whole.X, whole.y).support_
    np.testing.assert_array_equal(small.X, whole.X[:, best])
    assert small.y.tolist() == whole.y.tolist()
    assert run("select", data, *common("-m", "fisher", "--top", "0.5", "--out", "half.csv"))[0] == 0
    assert read_table("half.csv", target="kind", id_column="id").shape == (45, 4)


def test_compare(data):
    arguments = (
        "compare",
        data,
        *common("-m", "laplacian", "-m", "sselect[lam=0.3]", "--features", "2,4", "--draws", 2),
    )
    code, out, err = run(*arguments, "--jobs", 1, "--out", "values.csv")
    assert (code, err) == (0, "wrote values.csv\n")
    header, *body = rows(out)
    assert header[:4] == ["method", "mean_rank", "best_accuracy", "n_features"]
    assert {row[0] for row in body} >= {"laplacian", "sselect[lam=0.3]", "random", "variance", "all"}
    assert rows(Path("values.csv").read_text())[0] == ["method", "n_features", "draw", "metric", "value", "seconds"]
    assert run(*arguments, "--jobs", 1, "--out", "summary.json", "-q")[0] == 0
    assert json.loads(Path("summary.json").read_text())["settings"]["n_draws"] == 2


def test_compare_says_that_it_uses_a_sample_of_the_rows(data, few_random_draws):
    options = common("-m", "laplacian", "--features", "2,4", "--draws", 2, "--jobs", 1, "--rows", 30)
    code, _, err = run("compare", data, *options, "--out", "sample.json")
    assert code == 0, err
    assert "note: methods are compared on a random sample of 30 of 45 rows (--seed); --rows 45 uses all" in err
    settings = json.loads(Path("sample.json").read_text())["settings"]
    assert (settings["n_samples"], settings["sampled_from"]) == (30, 45)
    fails("--rows", "compare", data, *common("-m", "fisher", "--rows", 3), code=2)


def test_compare_by_both_judges(data, few_random_draws):
    options = common("-m", "laplacian", "--features", "2,4", "--draws", 2, "--shown", 0, "--jobs", 1)
    code, out, err = run("compare", data, *options, "--judge", "both", "--standardize", "--out", "both.json")
    assert code == 0, err
    settings = json.loads(Path("both.json").read_text())["settings"]
    assert settings["metrics"] == ["accuracy", "kmeans_accuracy", "kmeans_nmi"]
    assert (settings["standardize"], settings["n_labels"]) == (True, 0)
    assert rows(out)[0][2] == "best_accuracy"
    code, _, err = run("compare", data, *options, "--judge", "both", "--metric", "nmi")
    assert code != 0
    assert "--judge" in err
    assert "omit one" in err


def test_compare_without_labels_judges_neighbourhoods(data):
    options = ("--id", "id", "--id", "kind", "--features", "2,4", "--jobs", 1)
    code, out, err = run("compare", data, *options, "-m", "subset", "-m", "laplacian")
    assert (code, err) == (0, "")
    assert rows(out)[0][2] == "best_jaccard"
    message = "method 'fisher' requires --target or --labels: it reads class labels; otherwise leave it out."
    fails(message, "compare", data, *options, "-m", "fisher")
    Path("pairs.txt").write_text("r0 r1 must\nr0 r20 cannot\nr4 r7 must\nr3 r40 cannot\n")
    code, out, err = run("compare", data, *options, "-m", "constraint[variant=1]", "--pairs", "pairs.txt")
    assert (code, rows(out)[0][2]) == (0, "best_jaccard"), err


@pytest.fixture
def few_cells(monkeypatch, few_random_draws):
    """Cells computed so far, and after how many of them Ctrl-C is pressed."""
    cell, count = cells.run_cell, {"done": 0, "allowed": None}

    def counted(*arguments):
        if count["done"] == count["allowed"]:
            raise KeyboardInterrupt
        count["done"] += 1
        return cell(*arguments)

    monkeypatch.setattr(cells, "run_cell", counted)
    return count


def test_an_interrupted_comparison_goes_on(data, folder, few_cells):
    arguments = ("compare", data, *common("-m", "fisher", "--features", "2,4", "--draws", 2, "--jobs", 1))
    code, expected, _ = run(*arguments)
    total, few_cells["allowed"] = few_cells["done"], few_cells["done"] + 5
    code, out, err = run(*arguments, "--out", "x.csv")
    assert (code, out) == (130, "")
    assert "note: finished cells are kept in x.csv.cells; the same command continues from there" in err
    assert sorted(path.name for path in folder.iterdir()) == [data, "x.csv.cells"]
    few_cells |= {"done": 0, "allowed": None}
    code, out, err = run(*arguments, "--out", "x.csv")
    assert code == 0
    assert err == (
        "note: x.csv.cells has 5 finished cells of an earlier run; those of the same job are used again\nwrote x.csv\n"
    )
    assert few_cells["done"] == total - 5
    assert [row[:4] for row in rows(out)] == [row[:4] for row in rows(expected)]
    assert sorted(path.name for path in folder.iterdir()) == [data, "x.csv"]


def test_cells_of_another_comparison_are_not_used(data, folder, few_cells):
    arguments = ("compare", data, *common("-m", "fisher", "--features", "2,4", "--draws", 2, "--jobs", 1))
    assert run(*arguments)[0] == 0
    total, few_cells["allowed"] = few_cells["done"], few_cells["done"] + 5
    assert run(*arguments, "--seed", 1, "--out", "x.csv")[0] == 130
    few_cells |= {"done": 0, "allowed": None}
    assert run(*arguments, "--out", "x.csv")[0] == 0
    assert few_cells["done"] == total
    assert sorted(path.name for path in folder.iterdir()) == [data, "x.csv"]


def test_a_comparison_that_cannot_start_leaves_nothing(data, folder):
    fails(
        "--features must be integers between 1 and",
        "compare",
        data,
        *common("-m", "fisher", "--features", 99, "--out", "x.csv"),
    )
    assert [path.name for path in folder.iterdir()] == [data]


def test_a_folder_in_the_place_of_the_cells(data, folder):
    Path("x.csv.cells").mkdir()
    Path("x.csv.cells/thesis.tex").write_text("mine")
    fails(
        "x.csv.cells is not a folder of an earlier run (thesis.tex is in it)",
        "compare",
        data,
        *common("-m", "fisher", "--out", "x.csv"),
    )
    assert Path("x.csv.cells/thesis.tex").read_text() == "mine"


def commands_of(page):
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    return [line for line in "".join(blocks).splitlines() if line.startswith("fiedler ")]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["README.md", "docs/quickstart.md"])
def test_the_lines_of_a_page_run_in_order_in_one_folder(folder, rng, name, few_random_draws):
    page = Path(__file__).resolve().parent.parent / name
    if not page.exists():
        pytest.skip("the pages are not installed")
    pd, anndata, zarr = map(pytest.importorskip, ("pandas", "anndata", "zarr"))
    pytest.importorskip("distributed")
    kind, names = np.repeat(["a", "b", "c"], 30), [f"gene{j}" for j in range(60)]
    X = rng.normal(size=(90, 60)) + np.outer(np.repeat([0, 1, 2], 30), np.linspace(1, 0, 60))
    pd.DataFrame(X, columns=names).assign(label=kind).to_csv("genes.csv", index=False)
    pd.DataFrame(X, columns=names).assign(diagnosis=kind).to_csv("cells.csv", index=False)
    rows_of, columns = pd.DataFrame({"kind": kind}, index=[f"s{i}" for i in range(90)]), pd.DataFrame(index=names)
    anndata.AnnData(X, rows_of, columns).write_h5ad("cells.h5ad")
    zarr.create_array("big.zarr", data=X, chunks=(90, 15))
    commands = commands_of(page)
    assert len(commands) >= 2
    for line in commands:
        words = shlex.split(line, comments=True)[1:]
        code, _, err = (spawn if "--workers" in words else run)(*words)  # workers are started by a main module
        assert code == 0, f"{line}: {err}"


def test_methods():
    code, out, err = run("methods")
    assert (code, err) == (0, "")
    assert rows(out)[0] == ["method", "score", "formula", "needs", "direction", "paper"]
    assert [line.split(",")[0] for line in out.splitlines()[1:]] == list(METHODS)
    assert "[ZL] eq. 3.8" in out
    assert "sSelect" in run("methods", "sselect")[1]
    fails("'sselekt' is not a method; did you mean 'sselect'?", "methods", "sselekt")


def test_demo():
    code, out, _ = run("demo")
    assert code == 0
    assert out


def test_the_command_alone_shows_its_help():
    code, out, err = run()
    assert (code, out) == (2, "")  # as click does
    assert err == run("--help")[1]
    assert len(err.splitlines()) > 15


def test_help_has_examples_and_completion_knows_the_methods():
    for command in ("rank", "select", "compare", "report"):
        code, out, _ = run(command, "--help")
        assert code == 0
        assert f"fiedler {command} " in out.partition("Examples:")[2]
    assert set(METHOD_NAMES) == set(METHODS)
    assert "_FIEDLER_COMPLETE" in run("completion", "zsh")[1]
    asked = {"_FIEDLER_COMPLETE": "bash_complete", "COMP_WORDS": "fiedler rank -m ss", "COMP_CWORD": "3"}
    found = CliRunner().invoke(main, [], prog_name="fiedler", env=asked).stdout
    assert found.split() == ["plain,sselect", "plain,ssls"]


def test_report_is_another_module_s(data, monkeypatch):
    pytest.importorskip("fiedler.report")
    code, _, err = run("report", data, *common("-m", "fisher", "--out", "r.html"))
    assert (code, err) == (0, "wrote r.html\n")
    assert "<html" in Path("r.html").read_text()
    assert run("rank", data, *common("-m", "fisher", "--report", "r2.html"))[0] == 0


def test_the_report_holds_the_command_that_made_it(data):
    pytest.importorskip("fiedler.report")
    Path("my table.csv").write_bytes(Path(data).read_bytes())
    method = "laplacian[graph=knn[n_neighbors=4]]"
    words = ["report", "my table.csv", *common("-m", method, "--scale", "standard", "--out", "a.html")]
    assert run(*words)[0] == 0
    page = Path("a.html").read_text()
    shown = unescape(re.search(r"<dt>Command</dt><dd><pre><code>(.*?)</code>", page, re.DOTALL)[1])
    assert shlex.split(shown) == ["fiedler", *map(str, words)]
    Path("a.html").unlink()
    assert run(*shlex.split(shown)[1:])[0] == 0  # the command, as it is shown, writes the report again
    again = unescape(Path("a.html").read_text())
    assert re.findall(r'class="name">(\w+)<', again) == re.findall(r'class="name">(\w+)<', unescape(page))
    assert "scale='standard'" in again  # and the line of Python scales as well


# ---------------------------------------------------------------- bad input


def test_bad_files(data, folder):
    fails("there is no file dta.csv; did you mean 'data.csv'?", "rank", "dta.csv")
    Path("empty.csv").write_text("")
    fails("empty.csv is empty", "rank", "empty.csv")
    Path("ragged.csv").write_text("a,b\n1,2\n3\n")
    fails("ragged.csv: line 3 has 1 cells, but the header has 2", "rank", "ragged.csv")
    Path("typo.csv").write_text("a,b\n1,2\n3,4O\n5,6\n7,8O\n9,1\n")
    fails("typo.csv: line 3, column 'b': '4O' is not a number. Correct the cells", "rank", "typo.csv")
    fails("leave them out with --drop b or --numeric-only", "rank", "typo.csv")
    fails("data.csv has no column 'knd'; did you mean 'kind'?", "rank", data, "--target", "knd")
    Path("x.npy").write_bytes(pickle.dumps([1, 2]))
    fails("pickles are never loaded", "rank", "x.npy")
    Path("data.xyz").touch()
    fails("the format '.xyz' is unknown", "rank", "data.xyz")


def test_missing_cells(folder):
    Path("t.csv").write_text("a,b\n1,NA\n2,3\n5,7\n,1\n")
    fails(
        "X has too few known values. Not used: 'a' (fewer than 5 known values), 'b' (fewer than 5 known values).",
        "rank",
        "t.csv",
    )
    code, out, _ = run("rank", "t.csv", "--impute", "median", "-m", "variance")
    assert code == 0
    assert [row[0] for row in rows(out)[1:]] == ["b", "a"]
    Path("t.csv").write_text("a,b\n1,NA\n2,3\n5,7\n,1\n3,3\n4,4\n5,8\n")
    assert run("rank", "t.csv", "-m", "laplacian")[0] == 0


def test_repeated_names(folder):
    Path("t.csv").write_text("a,a\n1,5\n2,3\n5,7\n")
    code, out, err = run("rank", "t.csv", "-m", "variance")
    assert code == 0
    assert "note: t.csv repeats 1 feature name; the second 'a' is now 'a.1'" in err
    assert {row[0] for row in rows(out)[1:]} == {"a", "a.1"}


def test_bad_labels(folder):
    for labels, message in [("aaaa", "needs at least two classes"), ("????", "all 4 labels in y are unknown")]:
        Path("t.csv").write_text("a,b,y\n" + "".join(f"{i},{i * i % 3},{c}\n" for i, c in enumerate(labels)))
        fails(message, "rank", "t.csv", "--target", "y", "-m", "fisher")
    fails(
        "fisher requires --target or --labels: it reads class labels.",
        "rank",
        "t.csv",
        "--id",
        "y",
        "-m",
        "fisher",
    )


def test_too_many_features(data):
    fails("--top=99 must be between 1 and the 8 features", "select", data, *common("--top", 99, "--out", "s.csv"))
    assert not Path("s.csv").exists()


def test_bad_usage(data):
    assert run("rank")[0] == 2
    fails("No such option", "rank", data, "--tpo", 3, code=2)
    fails("choose one", "rank", data, "--target", "kind", "--labels", "x", code=2)
    fails("results are written as .csv", "rank", data, "--out", "r.xls", code=2)
    fails("must have the format of data.csv", "select", data, "--top", 2, "--out", "s.npy", code=2)
    fails("neither a number of features, nor a share", "select", data, "--top", "1.5", "--out", "s.csv", code=2)
    fails("not a list of whole numbers", "compare", data, "-m", "fisher", "--features", "2;3", code=2)
    fails("did you mean 'sselect'", "rank", "no such file", "-m", "sselekt")
    fails("--shown=99 needs 33 labels per class", "compare", data, *common("-m", "fisher", "--shown", 99))
    fails(
        "--metric=('rmse',) is not possible with classes", "compare", data, *common("-m", "fisher", "--metric", "rmse")
    )
    fails("lam must be a number between 0 and 1", "rank", "no such file", "-m", "sselect[lam=7]")


def test_unwritable_output(data):
    fails("there is no folder", "rank", data, *common("--out", "no/r.csv"))
    Path("r.csv").mkdir()
    fails("is a directory", "rank", data, *common("--out", "r.csv", "--force"), code=2)
    if os.geteuid():
        Path("closed").mkdir(mode=0o500)
        fails("not writable", "rank", data, *common("--out", "closed/r.csv"))


def test_an_internal_error_is_one_line_too(data, monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(SpectralSelector, "fit", broken)
    fails("internal error, ZeroDivisionError: oh; FIEDLER_TRACEBACK=1 shows where", "rank", data, *common())
    monkeypatch.setenv("FIEDLER_TRACEBACK", "1")
    assert isinstance(CliRunner().invoke(main, ["rank", data, *common()]).exception, ZeroDivisionError)


def test_interrupted_while_writing(data, folder, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("fiedler.data.labels.ranking_text", interrupted)
    code, out, err = run("rank", data, *common("-m", "fisher", "--out", "r.csv"))
    assert (code, out, err.strip()) == (130, "", "fiedler: interrupted")
    assert [p.name for p in folder.iterdir()] == ["data.csv"]


# ---------------------------------------------------------------- as processes


def test_commands_as_processes(data):
    code, out, err = spawn("rank", data, *common("-m", "fisher", "--top", 2))
    assert (code, err) == (0, "")
    assert (code, out) == run("rank", data, *common("-m", "fisher", "--top", 2))[:2]
    assert run("select", data, *common("-m", "fisher", "--top", 2, "--out", "s.csv"))[0] == 0
    code, out, err = spawn("rank", "missing.csv")
    assert (code, out) == (1, "")
    assert err == "fiedler: there is no file missing.csv.\n"
    assert run("rank", "--top")[0] == 2


@pytest.mark.slow
def test_the_other_commands_as_processes(data):
    """One process for all that need no process of their own: what it prints is what is printed here."""
    words = ["methods"], ["demo"], ["compare", "--help"]
    each = (
        "for words in {!r}:\n  try: main(words, prog_name='fiedler')\n  except SystemExit as end: assert end.code == 0"
    )
    code = "from fiedler.cli import main\n" + each.format(words)
    out = subprocess.check_output([sys.executable, "-c", code], text=True, timeout=SECONDS)
    assert out.startswith(run("methods")[1])
    assert f"\n{rows(run('demo')[1])[1][0]},0." in out  # the best feature; the last digits depend on the threads
    assert "Examples:" in out
    arguments = ("compare", data, *common("-m", "fisher", "--features", "2,4", "--draws", 2, "--jobs", 1, "-q"))
    code, out, err = spawn(*arguments)
    assert (code, err) == (0, "")
    assert out.startswith("method,mean_rank")


@pytest.mark.slow
def test_ctrl_c_in_a_comparison_of_several_processes(data, folder):
    arguments = ["compare", data, *common("-m", "fisher", "--features", "2,4", "--draws", "3000", "--jobs", "2")]
    command = [sys.executable, "-m", "fiedler", *arguments, "--out", "x.csv"]
    deadline, cells_folder = time.monotonic() + SECONDS, Path("x.csv.cells")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and len(list(cells_folder.glob("[!.]*.json"))) < 5:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, out) == (130, ""), err
    assert "finished cells are kept in x.csv.cells; the same command continues from there" in err
    assert said(err).splitlines()[-1] == "fiedler: interrupted"
    assert len(list(cells_folder.glob("[!.]*.json"))) >= 5


def test_ctrl_c(data, folder):
    command = [sys.executable, "-m", "fiedler", "rank", data, *common("--stability", "100000", "--out", "r.csv")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr.readline().startswith("note: method subset")  # now it is at work
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, out, said(err).strip()) == (130, "", "fiedler: interrupted")
    assert [p.name for p in folder.iterdir()] == ["data.csv"]


def test_the_command_line_imports_nothing_heavy_before_it_must():
    code = "import sys, fiedler.cli; print(sorted({'numpy', 'scipy', 'sklearn', 'pandas', 'rich'} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True, timeout=SECONDS) == "[]\n"


def test_a_small_table_is_ranked_without_the_compiler(data):
    command = [sys.executable, "-X", "importtime", "-m", "fiedler", "rank", data, *common("-m", "laplacian", "-q")]
    imported = subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS).stderr
    assert "| sklearn" in imported.replace("  ", "")
    assert "llvmlite" not in imported
    assert "fiedler.evaluate" not in imported


def test_a_score_loads_no_models():
    score = "fiedler.LaplacianScore().evaluate(numpy.random.default_rng(0).normal(size=(50, 5)))"
    code = f"import sys, numpy, fiedler; {score}; print('sklearn.linear_model' in sys.modules, 'numba' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True, timeout=SECONDS) == "False False\n"
