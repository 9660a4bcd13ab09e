"""Careless hands on the command line: what is decided is said, nothing is lost, every refusal names the way out."""

import io
import os
import re
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from test_cli import SECONDS, data, fails, folder, rows, run  # noqa: F401

from fiedler.cli import SCALES, screen
from fiedler.data import arrays
from fiedler.errors import ParameterError


@pytest.fixture
def diabetes(folder):  # noqa: F811
    frame = load_diabetes(as_frame=True, scaled=False).frame
    frame["target"] = frame["target"].astype(int)
    frame.to_csv("diabetes.csv", index=False)
    return "diabetes.csv"


def test_a_target_of_whole_numbers_is_a_target_and_said_to_be(diabetes):
    code, _, err = run("rank", diabetes, "--target", "target")
    assert code == 0
    assert "the labels are taken as a real target with 214 values; --task changes this" in err
    assert "method subset, a set of features chosen with the target" in err
    code, _, err = run("rank", diabetes, "--target", "target", "--task", "classes", "-m", "fisher")
    assert code == 0
    code, _, err = run("rank", diabetes, "--target", "target", "--task", "classes")
    assert "method subset, a set of features chosen with class labels" in err
    assert "214 classes among 442 labelled rows: hardly any class has two" not in err
    code, out, err = run("compare", diabetes, "--target", "target", "-m", "correlation", "--draws", 1, "--features", 2)
    assert code == 0, err
    assert "best_rmse" in out


def test_nearly_as_many_classes_as_rows_is_said(folder):  # noqa: F811
    Path("t.csv").write_text("a,b,y\n" + "\n".join(f"{i % 7},{i % 5},k{min(i, 8)}" for i in range(11)))
    assert "9 classes among 11 labelled rows: hardly any class has two" in run("rank", "t.csv", "--target", "y")[2]


def test_uneven_columns_are_noted_and_scaled(diabetes):
    code, plain, err = run("rank", diabetes, "--target", "target", "-m", "laplacian")
    assert "differ in spread" not in err  # within a factor of 1,000
    X = np.random.default_rng(0).normal(size=(40, 4)) * [1, 1, 1e5, 1e5]
    np.savetxt("wide.csv", X, delimiter=",", header="a,b,c,d", comments="")
    code, plain, err = run("rank", "wide.csv")
    assert (
        code,
        "reads columns as they are, so the widest ones decide. Bring them to one scale with --scale standard" in err,
    ) == (0, True)
    code, scaled, err = run("rank", "wide.csv", "--scale", "standard")
    assert (code, "differ in spread" in err) == (0, False)
    assert rows(scaled) != rows(plain)
    assert "differ in spread" not in run("rank", "wide.csv", "--scale", "none")[2]
    assert "differ in spread" not in run("rank", "wide.csv", "-m", "spec[graph=knn[metric=cosine]]", "--quiet")[2]
    assert arrays.SCALES == SCALES


def test_results_never_replace_their_own_data(data):  # noqa: F811
    before = Path(data).read_bytes()
    os.link(data, "hard.csv")
    os.symlink(data, "soft.csv")
    for out in (data, "hard.csv", "soft.csv", f"../{Path.cwd().name}/{data}"):
        for command in (["rank"], ["select", "--top", "2"]):
            fails("results never replace their own data", *command, data, "--id", "id", "--out", out, "--force", code=2)
    assert Path(data).read_bytes() == before


def test_outputs_are_what_their_names_say(data):  # noqa: F811
    options = [data, "--id", "id", "--target", "kind"]
    fails("x.pdf: a report is an .html file", "rank", *options, "--report", "x.pdf", code=2)
    fails("x.pdf: a report is an .html file", "report", *options, "--out", "x.pdf", code=2)
    fails("--out - writes a ranking to standard output", "select", *options, "--top", "2", "--out", "-", code=2)
    code, out, _ = run("rank", *options, "--out", "-")
    assert code == 0
    assert rows(out)[0] == ["feature", "gain", "rank", "explained"]
    assert not Path("-").exists()


def test_names_that_a_spreadsheet_would_run_are_defused_on_request(folder):  # noqa: F811
    Path("t.csv").write_text("=1+1,b\n" + "\n".join(f"{i % 7},{i % 5}" for i in range(20)))
    assert run("rank", "t.csv", "--header", "--out", "kept.csv")[0] == 0
    assert run("rank", "t.csv", "--header", "--out", "safe.csv", "--escape-formulas")[0] == 0
    assert "\n=1+1," in Path("kept.csv").read_text()
    assert "\n'=1+1," in Path("safe.csv").read_text()


def test_columns_can_be_left_out(folder):  # noqa: F811
    Path("t.csv").write_text("a,b,note\n" + "\n".join(f"{i % 7},{i % 5},word{i}" for i in range(20)))
    code, out, err = run("rank", "t.csv", "--numeric-only")
    assert (code, sorted(row[0] for row in rows(out)[1:])) == (0, ["a", "b"])
    assert "note" in err
    code, out, _ = run("rank", "t.csv", "--drop", "note", "--drop", "a")
    assert (code, [row[0] for row in rows(out)[1:]]) == (0, ["b"])


@pytest.mark.parametrize(
    ("options", "module", "extra"),
    [
        (["--report", "r.html"], "matplotlib", "report"),
        (["--report", "r.html"], "jinja2", "report"),
        (["--out", "r.parquet"], "pyarrow", "io"),
    ],
)
def test_a_missing_extra_is_said_before_the_work(data, monkeypatch, options, module, extra):  # noqa: F811
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr("fiedler.cli.run.load", lambda *_: pytest.fail("the work began"))
    fails(f"needs {module}; install it with: pip install 'fiedler[{extra}]'", "rank", data, *options)


def test_a_closed_output_is_said(data):  # noqa: F811
    done = subprocess.run(
        f'"{sys.executable}" -m fiedler rank {data} --id id --target kind >&-',
        shell=True,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert (done.returncode, done.stderr) == (1, "fiedler: standard output is closed; use --out to name a file.\n")


@pytest.fixture
def clock(monkeypatch):
    """Seconds that pass only when a test says so."""
    now = [1000.0]
    monkeypatch.setattr(screen.time, "monotonic", lambda: now[0])
    return now


def test_progress_in_a_pipe_is_a_line_now_and_then(clock, capsys):
    with screen.Screen().progress("comparing") as move:
        for done in range(0, 101, 10):
            move(done, 100)
            clock[0] += 6.0
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "comparing, step 1: 20 %, about 50 s left in this step"
    assert len(lines) == 5  # every ten seconds at most
    with screen.Screen(quiet=True).progress("comparing") as move:
        assert move is None


def test_draws_of_a_ranking_show_their_progress(data, monkeypatch):  # noqa: F811
    moved, progress = [], screen.Screen.progress

    @contextmanager
    def watched(self, *arguments, **options):
        with progress(self, *arguments, **options) as move:
            yield move and (lambda *step: moved.append(step))

    monkeypatch.setattr(screen.Screen, "progress", watched)
    command = ("rank", data, "--id", "id", "--target", "kind", "-m", "fisher", "--stability", 5)
    assert run(*command)[0] == 0
    assert [step for step in moved if step[2] == "draws"][-1] == (5, 5, "draws")
    moved.clear()
    assert run(*command, "-q")[0] == 0
    assert not moved


def test_the_time_left_is_that_of_what_remains(clock, capsys):
    with screen.Screen().progress("comparing") as move:
        move(60, 100)  # kept by an earlier run
        clock[0] += 50.0
        move(70, 100)
    assert capsys.readouterr().err == "comparing, step 1: 70 %, about 2 min left in this step\n"


def test_progress_in_steps_says_which(clock, capsys):
    with screen.Screen().progress("ranking") as move:
        for total in (2, 4):
            for done in range(total + 1):
                move(done, total, "blocks")
                clock[0] += 60.0
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "ranking, step 1 (blocks): 50 %, about 60 s left in this step"
    assert lines[2:4] == [
        "ranking, step 2 (blocks): 0 %",
        "ranking, step 2 (blocks): 25 %, about 3 min left in this step",
    ]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "a few seconds"),
        (14, "a few seconds"),
        (29, "about 30 s"),
        (130, "about 2 min"),
        (3600, "about 60 min"),
        (9000, "about 2 h"),
    ],
)
def test_a_duration_in_words(seconds, words):
    assert screen.time_left(seconds) == f"{words} left"


class Terminal(io.StringIO):
    """A stream that is a terminal, and forgets what was read from it."""

    def isatty(self):
        return True

    def waits_for(self, wanted):
        """Whether something appears that was drawn from now on; the bar is drawn ten times a second."""
        self.seek(self.truncate(0))
        for _ in range(100):
            time.sleep(0.05)
            if wanted(re.sub(r"\x1b\[[\d;?]*\w", "", self.getvalue())):
                return True
        return False


def test_progress_in_a_terminal_has_a_percentage_and_the_time_left(clock, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with screen.Screen().progress("ranking [3] features") as move:
        move(0, 100, "neighbours")
        assert terminal.waits_for(lambda text: "ranking [3] features" in text and "%" not in text), "it has just begun"
        clock[0] += 74.0
        move(37, 100, "neighbours")
        assert terminal.waits_for(lambda text: "ranking [3] features, neighbours" in text)
        assert terminal.waits_for(lambda text: " 37% about 2 min left" in text)
        clock[0] += 66.0  # the time left falls while nothing moves
        assert terminal.waits_for(lambda text: " 37% about 60 s left" in text)
        move(100, 100, "neighbours")
        assert terminal.waits_for(lambda text: text and "neighbours" not in text), "what follows is not known"


def test_flags_stand_for_parameters_and_not_for_words():
    settings = {"more memory": ("memory", ...), "unlabeled=None": ("unlabeled", None)}
    text = (
        "scale='standard' needs all; scale it before, give more memory, unlabeled=None, or lower n_features_to_select."
    )
    message = ParameterError(text, parameter=("scale", "n_features_to_select", "y"), way_out=settings)
    assert screen.in_flags(message) == (
        "--scale='standard' needs all; scale it before, give --memory, --unlabeled none, or lower --top."
    )
    assert screen.in_flags(ValueError(text)) == text


def test_long_names_are_cut_in_a_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys, "stdout", terminal := Terminal())
    screen.Screen().table({"name": ["x" * 500, "short"]})
    text = re.sub(r"\x1b\[[\d;?]*\w", "", terminal.getvalue())
    assert [line.strip() for line in text.splitlines()[1:]] == ["x" * 79 + "…", "short"]


def test_what_a_user_would_type_is_answered_in_flags(tmp_path):
    from click.testing import CliRunner

    from fiedler.cli import main

    table = tmp_path / "t.csv"
    table.write_text("a,b,c\n" + "".join(f"{i},{i * i % 7},{i % 3}\n" for i in range(30)), encoding="utf-8")
    run = lambda *args: CliRunner().invoke(main, [*args])  # noqa: E731
    assert "'fdr' selects features: use 'fiedler select --top fdr'" in run("rank", str(table), "--top", "fdr").output
    assert "--method='laplace' is not a method; did you mean" in run("rank", str(table), "-m", "laplace").output
    about = run("methods", "subset").output
    assert ":class:" not in about
    assert "``" not in about
    assert "r is\nRelevance." in about
