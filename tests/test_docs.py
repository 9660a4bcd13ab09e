"""The pages for people: links lead somewhere, their code runs, and the map of the house is the house."""

import ast
import contextlib
import doctest
import importlib
import io
import re
import shlex
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

import fiedler
from fiedler.cli import main

ROOT = Path(__file__).resolve().parents[1]
WRITTEN = [page for page in sorted(ROOT.glob("docs/**/*.md")) if not {"_made", "gallery"} & set(page.parts)]
PAGES = [*ROOT.glob("*.md"), *WRITTEN, *ROOT.glob("benchmarks/*.md")]
MADE = ("_made/", "../_made/", "gallery/", "../gallery/")  # when the site is built
pytestmark = pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="the pages are not installed")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    text = re.sub(r"<!--.*?-->", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    links = re.findall(r"\]\((?!https?://|#)([^)#\s]+)", text)
    missing = [link for link in links if not link.startswith(MADE) and not (page.parent / link).exists()]
    assert not missing


def python_of(page):
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("page", [ROOT / "README.md", *WRITTEN], ids=lambda page: page.relative_to(ROOT).as_posix())
def test_python_in_pages_is_python(page):
    for block in python_of(page):
        if not block.startswith(">>>"):
            ast.parse(block)


SESSIONS = [page for page in WRITTEN if any(block.startswith(">>>") for block in python_of(page))]


@pytest.mark.parametrize("page", SESSIONS, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_sessions_in_pages_say_what_they_show(page, tmp_path, monkeypatch):
    """The sessions of a page are one program; what they write, they write where nothing else lies."""
    for package in ("pandas", "anndata", "zarr", "dask", "distributed"):
        if f"import {package}" in page.read_text(encoding="utf-8") or package == "pandas":
            pytest.importorskip(package)
    if "ExcelWriter" in page.read_text(encoding="utf-8"):
        pytest.importorskip("openpyxl")
    monkeypatch.chdir(tmp_path)
    text = "\n".join(block for block in python_of(page) if block.startswith(">>>"))
    name = page.relative_to(ROOT).as_posix()
    test = doctest.DocTestParser().get_doctest(text, {"__name__": "page"}, name, name, 0)
    said = []
    failed, _ = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=said.append)
    assert not failed, "".join(said)


def test_the_commands_of_the_excel_page_run(tmp_path, monkeypatch):
    """The commands of the page, on the workbook that its first session writes; the first one prints what is shown."""
    pytest.importorskip("pandas")
    pytest.importorskip("openpyxl")
    pytest.importorskip("jinja2")
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs/howto/excel.md"
    text = page.read_text(encoding="utf-8")
    made = re.sub(r"^(>>>|\.\.\.) ?", "", python_of(page)[0], flags=re.MULTILINE)
    exec(compile(made, page.name, "exec"), {})
    commands = [
        shlex.split(line)[1:]
        for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
        for line in block.replace("\\\n", "").splitlines()
    ]
    printed = []
    for words in commands:
        result = CliRunner().invoke(main, words, prog_name="fiedler")
        assert result.exit_code == 0, (words, result.stderr)
        printed.append([line.rstrip() for line in result.stdout.splitlines()])
    shown = re.search(r"```text\n(.*?)```", text, re.DOTALL)[1]
    assert printed[0] == shown.rstrip().splitlines()
    assert {"small.xlsx", "ranking.xlsx", "garden.html"} <= {path.name for path in tmp_path.iterdir()}


def test_the_readme_shows_what_its_lines_print(tmp_path, monkeypatch):
    """The Python of the README prints the text below it, and writes the file that its first command ranks."""
    monkeypatch.chdir(tmp_path)
    page = ROOT / "README.md"
    printed, ranked = re.findall(r"```text\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(python_of(page)[0], {})
    assert out.getvalue() == printed
    command = re.search(r"```sh\nfiedler (rank .*)\n", page.read_text(encoding="utf-8"))[1]
    result = CliRunner().invoke(main, shlex.split(command))
    rows = [line.split(",") for line in result.stdout.splitlines()]
    shown = [re.split(r" {2,}", line) for line in ranked.splitlines()[1:]]
    assert shown[0] == rows[0]
    assert [[name, *(f"{float(cell):g}" for cell in cells)] for name, *cells in rows[1:]] == shown[1:]


def test_the_reference_lists_all_that_is_public():
    text = (ROOT / "docs" / "api" / "index.rst").read_text(encoding="utf-8")
    listed = set(re.findall(r"^ {3}([\w.]+)$", text, re.MULTILINE))
    public = set(fiedler.__all__)
    for room in ("evaluate", "explore", "report"):
        public |= set(importlib.import_module(f"fiedler.{room}").__all__)
    for room in ("io", "sources", "plots", "graphs", "criteria"):
        module = importlib.import_module(f"fiedler.{room}")
        public |= {name for name, value in vars(module).items() if name[0].isupper() and isinstance(value, type)}
    missing = public - {name.split(".")[-1] for name in listed}
    assert missing == {"METHODS", "SECTIONS", "Sum", "Product", "Scaled"}  # tables, and what is written with + and *


def test_the_gallery_has_a_place_for_every_example():
    order = (ROOT / "docs" / "_ext" / "gallery.py").read_text(encoding="utf-8")
    assert set(re.findall(r'"(plot_\w+)"', order)) == {path.stem for path in ROOT.glob("examples/plot_*.py")}


def test_the_map_of_the_house_is_the_house():
    """Every file of the package stands in the map of CONTRIBUTING.md, and nothing else does; * stands for many."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    block = text.partition("    fiedler/\n")[2].partition("    tests/\n")[0]
    listed, folder = set(), ""
    for line in block.splitlines():
        room = re.match(r" {6}(\w+)/", line)
        folder = f"{room[1]}/" if room else folder if line.startswith(" " * 17) else ""  # a room may take several lines
        listed |= {f"{folder}{name}" for name in re.findall(r"([\w*]+\.py)\b", line)}
    package = ROOT / "fiedler"
    listed = {path.relative_to(package).as_posix() for name in listed for path in package.glob(name)} | {
        name for name in listed if "*" not in name
    }
    there = {path.relative_to(package).as_posix() for path in package.rglob("*.py")}
    assert listed == {name for name in there if not name.endswith("/__init__.py")}


def test_the_page_about_extras_names_what_they_bring():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    table = dict(
        re.findall(r"^\| `(\w+)` \| ([^|]+) \|", (ROOT / "docs/install.md").read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert table.keys() == extras.keys() - {"bench", "test", "dev"}
    for name in table.keys() - {"all", "docs"}:
        assert table[name].split(", ") == [re.split(r"[\[>]", needed)[0] for needed in extras[name]]
