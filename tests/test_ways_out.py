"""Every way out that a message of the command line names is typed, and it works."""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from fiedler.cli import main, screen


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """Tables with labels: plain, with a category, with missing values, with both, of noise, with a wide column."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 30)
    noise = pd.DataFrame(rng.normal(size=(60, 6)), columns=list("abcdef"))
    plain = noise + 2 * np.outer(y == "a", [1, 1, 0, 0, 0, 0])
    kind = pd.Series(rng.choice(list("uvw"), 60))
    holes = plain.mask(rng.random(plain.shape) < 0.1)
    made = {
        "plain": plain,
        "noise": noise,
        "mixed": plain.assign(kind=kind),
        "holes": holes,
        "category with a hole": plain.assign(kind=kind.where(rng.random(60) > 0.1)),
        "both": holes.assign(kind=kind.where(rng.random(60) > 0.1)),
        "wide": plain * [1e6, 1, 1, 1, 1, 1],
        "rare": plain.assign(rare=np.arange(60) < 2),
        "wrong": plain.assign(a=["<0.1", *map(str, plain.a[1:])]),
    }
    for name, frame in made.items():
        frame.assign(y=y).to_csv(f"{name}.csv", index=False)
    Path("title.csv").write_text("Measured in May,,,\n" + plain.iloc[:, :3].assign(y=y).to_csv(index=False))
    plain.to_csv("numbers.csv", index=False, header=False)
    return made


# A command with a mistake, what is said about it, and the commands that these words lead to.
MISTAKES = [
    (
        "rank mixed.csv --target y -m sselect",
        "use 'subset', 'laplacian', 'fisher', 'relieff', 'constraint' or 'correlation', or use --numeric-only.",
        [f"rank mixed.csv --target y -m {name}" for name in ("subset", "laplacian", "fisher", "relieff", "constraint")]
        + ["rank mixed.csv --target y -m sselect --numeric-only"],
    ),
    (
        "rank holes.csv --target y -m evsc",
        "fill them first with --impute median, or use 'laplacian' or 'subset'.",
        [f"rank holes.csv --target y -m {end}" for end in ("evsc --impute median", "laplacian", "subset")],
    ),
    (
        "rank 'category with a hole.csv' --target y -m evsc --impute median",
        "or use --numeric-only.",
        ["rank 'category with a hole.csv' --target y -m evsc --impute median --numeric-only"],
    ),
    (
        "rank both.csv --target y -m evsc",
        "or use --numeric-only, with missing values filled by --impute median.",
        ["rank both.csv --target y -m evsc --numeric-only --impute median"],
    ),
    (
        "compare both.csv --target y -m evsc --draws 1 --features 2 --jobs 1",
        "or use --numeric-only, with missing values filled by --impute median.",
        ["compare both.csv --target y -m evsc --draws 1 --features 2 --jobs 1 --numeric-only --impute median"],
    ),
    (
        "rank mixed.csv --target y --significance",
        "(categories or groups); use --numeric-only.",
        ["rank mixed.csv --target y --significance --numeric-only"],
    ),
    (
        "rank holes.csv --target y --significance",
        "fill them first with --impute median.",
        ["rank holes.csv --target y --significance --impute median"],
    ),
    (
        "rank both.csv --target y --screen fdr",
        "use --numeric-only, with missing values filled by --impute median.",
        ["rank both.csv --target y --screen fdr --numeric-only --impute median"],
    ),
    (
        "rank 'category with a hole.csv' --target y --significance --impute median",
        "(categories or groups); use --numeric-only.",
        ["rank 'category with a hole.csv' --target y --significance --impute median --numeric-only"],
    ),
    (
        "rank plain.csv --target y -m variance --significance",
        "test -m laplacian instead.",
        ["rank plain.csv --target y -m laplacian --significance"],
    ),
    (
        "rank plain.csv --target y -m evsc --significance",
        "test -m laplacian instead.",
        ["rank plain.csv --target y -m laplacian --significance"],
    ),
    (
        "rank plain.csv --target y -m relieff --significance",
        "Instead, use --stability 50 without --significance.",
        ["rank plain.csv --target y -m relieff --stability 50"],
    ),
    (
        "rank rare.csv --target y -m laplacian --significance --screen none",
        "leave these columns out with --drop.",
        ["rank rare.csv --target y -m laplacian --significance --screen none --drop rare"],
    ),
    (
        "rank plain.csv --target y --top 6",
        "Lower --top, or use --screen none.",
        ["rank plain.csv --target y --top 4", "rank plain.csv --target y --top 6 --screen none"],
    ),
    (
        "select noise.csv --target y --top fdr --out s.csv",
        "at a false discovery rate of 0.01 (smallest q-value 0.31); set --top to a number.",
        ["select noise.csv --target y --top 3 --out s.csv --force"],
    ),
    (
        "select plain.csv --target y --redundancy 0.1 --top 5 --screen none --out s.csv",
        "lower --top or raise --redundancy.",
        [
            "select plain.csv --target y --redundancy 0.1 --top 3 --screen none --out s.csv --force",
            "select plain.csv --target y --redundancy 0.9 --top 5 --screen none --out s.csv --force",
        ],
    ),
    (
        "report noise.csv --target y --top fdr --out r.html",
        "set --top to a number.",
        ["report noise.csv --target y --top 3 --out r.html --force"],
    ),
    (
        "rank wide.csv --target y",
        "with --scale standard or --scale minmax, or keep them with --scale keep.",
        [f"rank wide.csv --target y --scale {scale}" for scale in ("standard", "minmax", "keep")],
    ),
    (
        "rank plain.csv -m fisher",
        "use --target y, or --drop y",
        ["rank plain.csv --target y -m fisher", "rank plain.csv --drop y"],
    ),
    (
        "rank plain.csv --target y -m correlation",
        "but --target or --labels holds 'a'; use a classification method (sselect, fisher, relieff)",
        [f"rank plain.csv --target y -m {name}" for name in ("sselect", "fisher", "relieff")],
    ),
    (
        "rank wrong.csv --target y",
        "leave them out with --drop a or --numeric-only.",
        ["rank wrong.csv --target y --drop a", "rank wrong.csv --target y --numeric-only"],
    ),
    (
        "rank plain.csv --target y --out plain.json --report s.csv",
        "s.csv: a report is an .html file.",
        [],
    ),
    ("rank plain.csv --target y --layer x", "has no layers; leave out --layer x.", ["rank plain.csv --target y"]),
    ("rank title.csv --target y", "use --skip-rows 0 if this belongs", ["rank title.csv --target 3 --skip-rows 0"]),
    (
        "rank numbers.csv",
        "use --header if it holds names",
        ["rank numbers.csv --header"],
    ),
]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("command", "words", "ways"), MISTAKES, ids=[command for command, *_ in MISTAKES])
def test_every_way_out_works(tables, command, words, ways):
    done = run(*shlex.split(command))
    assert "internal error" not in done.stderr
    assert words in done.stderr
    assert not re.search(r"\w+=(None|True|False|999)\b|Anchors\(\)|Score\(\) instead", done.stderr)
    for way in ways:
        fixed = run(*shlex.split(way))
        assert fixed.exit_code == 0, (way, fixed.stderr)
        assert words not in fixed.stderr, way


def test_advice_that_depends_on_the_size_of_the_data_can_be_typed(tables):
    for text in (
        "Use Anchors() to choose its parameters, or use algorithm='exact' or 'approximate'.",
        "because the rows are nearly equidistant. Use Anchors() or algorithm='exact'.",
        "use ranks, logarithms, KNN(metric='cosine') for counts, or n_permutations=999.",
    ):
        message = screen.in_flags(text)
        methods = re.findall(r"-m '([^']*)'", message)
        assert methods
        assert "()" not in message
        for method in methods:
            assert run("rank", "plain.csv", "--target", "y", "-m", method, "-q").exit_code == 0


def test_select_does_not_speak_of_an_option_that_it_lacks(tables):
    done = run("select", "noise.csv", "--target", "y", "--top", "fdr", "--out", "s.csv")
    assert "at a false discovery rate of 0.01" in done.stderr
    assert "alpha" not in done.stderr


def test_a_number_that_nobody_asked_for_is_not_warned_about(tables):
    assert "--top" not in run("rank", "noise.csv", "--target", "y").stderr
