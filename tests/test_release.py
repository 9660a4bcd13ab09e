"""The files of a release say what the package says: conda recipe, software paper, changelog and install page."""

import re
import tomllib
from pathlib import Path

import pytest

import fiedler

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.skipif(not (ROOT / "paper").is_dir(), reason="the files of a release are not installed")


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


def plain(path):
    return " ".join(text(path).split())


@pytest.fixture(scope="module")
def project():
    return tomllib.loads(text("pyproject.toml"))["project"]


@pytest.fixture(scope="module")
def recipe():
    yaml, jinja2 = pytest.importorskip("yaml"), pytest.importorskip("jinja2")
    made = jinja2.Template(text("conda/meta.yaml")).render(environ={"FIEDLER_SDIST": "/x/f.tar.gz"}, PYTHON="python")
    return yaml.safe_load(made)


def test_the_conda_recipe_is_of_this_version_and_needs_what_the_package_needs(recipe, project):
    assert str(recipe["package"]["version"]) == fiedler.__version__
    assert recipe["source"]["url"] == "file:///x/f.tar.gz"
    needed = {
        f"python {project['requires-python']}",
        *(re.sub(r"(?=>=)", " ", line) for line in project["dependencies"]),
    }
    assert set(recipe["requirements"]["run"]) == needed
    assert recipe["build"]["entry_points"] == [f"{name} = {where}" for name, where in project["scripts"].items()]
    assert recipe["about"]["license"] == project["license"]


def test_the_conda_recipe_limits_the_extras_as_the_package_does(recipe, project):
    other_names = {"dask[array]": "dask-core", "matplotlib": "matplotlib-base"}
    extras = project["optional-dependencies"]
    named = re.fullmatch(r"fiedler\[(.*)\]", extras["all"][0])[1].split(",")
    wanted = {tuple(line.split(">=")) for extra in named for line in extras[extra]}
    assert set(recipe["requirements"]["run_constrained"]) == {
        f"{other_names.get(name, name)} >={least}" for name, least in wanted
    }


def test_the_changelog_starts_with_this_version():
    headings = re.findall(r"^## (.*)$", text("CHANGELOG.md"), flags=re.MULTILINE)
    released = [heading for heading in headings if heading != "Unreleased"]
    assert re.fullmatch(rf"{re.escape(fiedler.__version__)} \(\d{{4}}-\d\d-\d\d\)", released[0])
    day = released[0].split("(")[1].rstrip(")")
    assert f'date-released: "{day}"' in text("CITATION.cff")


def test_the_install_page_names_the_file_of_this_version():
    assert f"dist/fiedler-{fiedler.__version__}.tar.gz" in text("docs/install.md")
    assert f"dist/fiedler-{fiedler.__version__}.tar.gz" in text("conda/meta.yaml")


def test_the_paper_cites_what_its_bibliography_holds():
    cited = set(re.findall(r"@([a-z]+\d{4}[a-z]+)", text("paper/paper.md")))
    assert cited == set(re.findall(r"^@\w+\{(\w+),", text("paper/paper.bib"), flags=re.MULTILINE))


# A number of the paper, and the page that has it; tests/test_benchmark_pages.py compares the pages with their tables.
QUOTED = [
    ("docs/which-method.md", "best average rank of 18 selectors"),
    ("docs/which-method.md", "4.90; CUR has 4.43"),
    ("docs/which-method.md", "by .052 on average"),
    ("docs/is-it-real.md", "4.5 to 5.3 %"),
    ("docs/is-it-real.md", "49 to 100 %"),
    ("docs/noise.md", "falls from .831 to .647"),
    ("docs/reproductions.md", "82 of 106 claims are confirmed, 28 of them with a setting that the papers do not print"),
    ("docs/scaling.md", "rank files of 2.46 GiB within"),
]


@pytest.mark.parametrize(("page", "words"), QUOTED)
def test_the_paper_quotes_the_pages(page, words):
    assert words in plain("paper/paper.md")
    assert words in plain(page)
    assert f"`{page}`" in text("paper/paper.md")


def test_the_paper_names_the_methods_that_exist():
    from fiedler import METHODS, registry

    paper = plain("paper/paper.md")
    counts = {15: "Fifteen named methods", 12: "twelve kinds of graphs"}
    assert counts[len(METHODS)] in paper
    assert counts.get(len(registry.RECIPES), "") in paper
